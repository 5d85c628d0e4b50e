//! Names that suggest a secret: of members, variables, flags, headers and query parameters.

use super::pseudonym::has_mark;

/// Words that suggest a secret wherever they stand in a name.
const TELLING: [&str; 22] = [
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "pwd",
    "secret",
    "secrets",
    "credential",
    "credentials",
    "apikey",
    "jwt",
    "bearer",
    "authorization",
    "dpop",
    "otp",
    "totp",
    "cvv",
    "cvc",
    "authtoken",
    "accesstoken",
    "privatekey",
    "passe",
];

/// The same in other languages, also as parts of words (`Hauptpasswort`) and divided (`mot de passe`). Lower case.
pub(super) const FOREIGN: [&str; 44] = [
    "parola d'ordine",
    "mật khẩu",
    "clé api",
    "api-schlüssel",
    "密钥",
    "passwort",
    "kennwort",
    "zugangsdaten",
    "geheimnis",
    "motdepasse",
    "contraseña",
    "contrasena",
    "contrasenya",
    "palavrapasse",
    "senha",
    "wachtwoord",
    "lösenord",
    "losenord",
    "adgangskode",
    "passord",
    "salasana",
    "hasło",
    "haslo",
    "heslo",
    "jelszó",
    "jelszo",
    "lozinka",
    "zaporka",
    "parool",
    "slaptažodis",
    "şifre",
    "parolă",
    "пароль",
    "парола",
    "лозинка",
    "κωδικός",
    "סיסמה",
    "كلمة المرور",
    "كلمة السر",
    "密码",
    "密碼",
    "口令",
    "パスワード",
    "비밀번호",
];

/// Words of secrets that are also recognised as parts of words (`dbpassword`), or divided (`pass_phrase`).
const ANYWHERE: [&str; 8] =
    ["password", "passwd", "passphrase", "passcode", "passwrd", "clientkeydata", "devicecode", "codeverifier"];

/// Words before `key` that make it a secret.
const OF_KEY: [&str; 16] = [
    "api",
    "access",
    "private",
    "secret",
    "encryption",
    "signing",
    "account",
    "master",
    "auth",
    "license",
    "app",
    "storage",
    "subscription",
    "consumer",
    "shared",
    "deploy",
];

/// Words before `token` that make it no secret.
const NOT_OF_TOKEN: [&str; 14] = [
    "progress",
    "page",
    "next",
    "previous",
    "prev",
    "continuation",
    "cursor",
    "resume",
    "max",
    "min",
    "start",
    "end",
    "stop",
    "eos",
];

/// Parts of the name of a flag, variable or header that suggest a secret.
const REPORTING: [&str; 17] = [
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "apikey",
    "api-key",
    "api_key",
    "credential",
    "bearer",
    "private-key",
    "auth",
    "jwt",
    "dpop",
    "signature",
    "cookie",
];

/// Whole names of flags, variables and parameters that suggest a secret.
const WHOLE: [&str; 11] = ["key", "pat", "pw", "pwd", "pass", "pin", "otp", "sig", "session-key", "passkey", "psk"];

/// Names of query parameters that carry a secret, in addition to those of flags.
const PARAMETERS: [&str; 10] =
    ["code", "sig", "jwt", "state", "sign", "assertion", "client_assertion", "code_verifier", "saml", "hmac"];

/// Texts of which every telling name contains one, in lower case; beside them, the words of [`FOREIGN`].
pub(super) const VOCABULARY: [&str; 26] = [
    "pass",
    "pwd",
    "secret",
    "token",
    "key",
    "credential",
    "jwt",
    "bearer",
    "auth",
    "dpop",
    "otp",
    "cvv",
    "cvc",
    "pw",
    "pin",
    "pat",
    "psk",
    "cookie",
    "code",
    "verifier",
    "sig",
    "mdp",
    "state",
    "assertion",
    "saml",
    "hmac",
];

/// Those that tell nothing alone, but perhaps with the words beside them.
pub(super) const IN_PHRASES: [&str; 3] = ["key", "code", "verifier"];

/// The minimum length of a name whose pseudonym is likely to contain a short word.
const LONG: usize = 32;
/// The minimum length of a word that random letters hardly ever contain.
const UNLIKELY: usize = 6;

/// Returns the spellings of the words in other languages that differ in more than the case of ASCII letters.
pub(super) fn foreign_spellings() -> Vec<String> {
    let capitalised = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>()).unwrap_or_default()
    };
    FOREIGN.iter().flat_map(|word| [(*word).to_owned(), capitalised(word), word.to_uppercase()]).collect()
}

/// Returns the words of a name in lower case: `X-Api-Key`, `apiKey` and `API_KEY` consist of the same words.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = '_';
    for found in name.chars() {
        let begins = found.is_ascii_uppercase() && !before.is_ascii_uppercase();
        if begins || !found.is_alphanumeric() {
            words.push(String::new());
        }
        if let (true, Some(word)) = (found.is_alphanumeric(), words.last_mut()) {
            word.extend(found.to_lowercase());
        }
        before = found;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Returns whether the name of a member suggests that its value is a secret. MCP's own names (`progressToken`,
/// `nextCursor`) do not. In a long name with a pseudonym, only long words count: the random letters may contain short
/// ones, and then a redacted reel would show another value than its original.
pub(crate) fn is_secret(name: &str) -> bool {
    let mut words = words(name);
    if is_random(name) {
        words.retain(|word| word.len() >= UNLIKELY);
    }
    let Some((last, before)) = words.split_last() else { return false };
    let previous = before.last().map(String::as_str);
    let is_about =
        matches!(last.as_str(), "id" | "name" | "type" | "url" | "uri" | "file" | "path" | "length" | "policy")
            || matches!(
                last.as_str(),
                "endpoint" | "expires" | "count" | "limit" | "supported" | "required" | "methods" | "ttl" | "timeout"
            );
    // A shell's variables for its folders.
    if is_about || matches!(name, "PWD" | "OLDPWD") {
        return false;
    }
    match last.as_str() {
        "auth" => true,
        "token" => previous.is_none_or(|word| !NOT_OF_TOKEN.contains(&word)),
        "key" => previous.is_some_and(|word| OF_KEY.contains(&word)),
        "pass" | "pw" | "pin" | "pat" | "psk" => true,
        "cookie" | "cookies" => true,
        _ => words.iter().any(|word| TELLING.contains(&word.as_str())) || has_anywhere(&words.concat()),
    }
}

/// Whether the words of a name, without what divides them, contain that of a secret.
fn has_anywhere(joined: &str) -> bool {
    ANYWHERE.iter().any(|word| joined.contains(word)) || joined == "mdp" || has_foreign(joined)
}

fn has_foreign(joined: &str) -> bool {
    let is_in = |word: &&str| match word.contains([' ', '-', '\'']) {
        true => joined.contains(&word.replace([' ', '-', '\''], "")),
        false => joined.contains(*word),
    };
    let is_ascii = joined.is_ascii();
    FOREIGN.iter().any(|word| (!is_ascii || word.is_ascii()) && is_in(word))
}

/// Returns whether a label in another language suggests a secret.
pub(super) fn is_foreign(name: &str) -> bool {
    let joined = words(name).concat();
    has_foreign(&joined) || ["motdepasse", "motpasse"].contains(&joined.as_str())
}

/// Returns whether the name of a variable or header, as it stands in settings, is that of a key: `DIFY_KEY`.
pub(crate) fn is_key_of_settings(name: &str) -> bool {
    const OTHER: [&str; 9] =
        ["primary", "foreign", "public", "sort", "cache", "partition", "row", "hot", "idempotency"];
    let words = words(name);
    matches!(&words[..], [.., before, last] if last == "key" && !OTHER.contains(&before.as_str()))
}

/// Returns whether a value with this name is public, however random it looks.
pub(super) fn is_public(name: &str) -> bool {
    const WORDS: [&str; 13] = [
        "challenge",
        "public",
        "publickey",
        "digest",
        "integrity",
        "checksum",
        "hash",
        "fingerprint",
        "etag",
        "sha",
        "sha256",
        "sha512",
        "thumbprint",
    ];
    words(name).iter().any(|word| WORDS.contains(&word.as_str())) || ["x", "y", "n", "kid"].contains(&name)
}

/// Returns whether the random letters of a name's pseudonym are likely to contain a short word.
fn is_random(name: &str) -> bool {
    name.len() >= LONG && has_mark(name.as_bytes())
}

/// Returns whether the name of a flag, variable or header suggests that its value is a secret. As in [`is_secret`], only
/// long words count in a long name with a pseudonym.
pub(crate) fn is_reporting(name: &str) -> bool {
    let shortest = if is_random(name) { UNLIKELY } else { 0 };
    let name = name.trim_start_matches('-').to_ascii_lowercase();
    (REPORTING.iter().any(|part| part.len() >= shortest && name.contains(part))
        || has_anywhere(&name.replace(['-', '_'], "")))
        && !is_plain(&name)
        || WHOLE.contains(&name.as_str())
        || [
            ("-", "key"),
            ("_", "key"),
            ("-", "pass"),
            ("_", "pass"),
            ("-", "pw"),
            ("_", "pw"),
            ("-", "pwd"),
            ("_", "pwd"),
        ]
        .iter()
        .any(|(separator, end)| name.strip_suffix(end).is_some_and(|rest| rest.ends_with(separator)))
}

/// Names that contain such a part and mean something else.
fn is_plain(name: &str) -> bool {
    const ENDS: [&str; 8] = ["-file", "_file", "-path", "_path", "-ttl", "_ttl", "-timeout", "_timeout"];
    ENDS.iter().any(|end| name.ends_with(end))
        || name.ends_with("tokens")
        || name == "author"
        || name == "authors"
        || name.starts_with("author-")
        || name.ends_with("-author")
}

/// Returns whether the value of a query parameter is a secret.
pub(crate) fn is_secret_parameter(name: &str) -> bool {
    let plain = name.to_ascii_lowercase();
    let is_signature =
        plain.ends_with("-signature") || plain.ends_with("-credential") || plain.ends_with("-security-token");
    is_reporting(&plain) || PARAMETERS.contains(&plain.as_str()) || is_signature
}

/// Returns whether a value under a telling name says that there is no secret, or which kind it is.
pub(crate) fn is_placeholder(value: &[u8]) -> bool {
    const WORDS: [&str; 32] = [
        "true",
        "false",
        "null",
        "none",
        "undefined",
        "required",
        "optional",
        "string",
        "number",
        "boolean",
        "object",
        "array",
        "integer",
        "bearer",
        "basic",
        "digest",
        "oauth",
        "oauth2",
        "apikey",
        "api_key",
        "header",
        "query",
        "cookie",
        "password",
        "token",
        "secret",
        "dpop",
        "jwt",
        "yes",
        "no",
        "include",
        "omit",
    ];
    let text = String::from_utf8_lossy(value);
    let text = text.trim().trim_matches(['"', '\'', '`']);
    text.is_empty()
        || WORDS.iter().any(|word| word.eq_ignore_ascii_case(text))
        || ["${", "{{", "<", "$", "%("].iter().any(|start| text.starts_with(start))
        || ["process.env", "import.meta.env", "os.environ", "os.getenv"].iter().any(|start| text.starts_with(start))
        || text.len() > 2 && text.starts_with('%') && text.ends_with('%')
        || is_reference(text)
        || is_for_readers(text)
        || is_blank(text.rsplit(['-', '_']).next().unwrap_or_default())
        || is_blank(text)
}

/// Whether nothing but dots, asterisks and crosses is left of a value.
fn is_blank(text: &str) -> bool {
    text.len() > 2 && text.chars().all(|found| matches!(found, '*' | '.' | '…' | '•' | 'x' | 'X'))
}

/// Whether a value is a tag or an alias of YAML, behind which the value stands elsewhere: `!vault`, `*password`.
fn is_reference(text: &str) -> bool {
    let is_word = |word: &str| word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    text.strip_prefix('!').is_some_and(|tag| is_word(&tag.to_ascii_lowercase()))
        || text.strip_prefix('*').is_some_and(is_word)
}

/// Whether a value asks its readers to put in their own: `your-api-key-here`, `CHANGE_ME`.
fn is_for_readers(text: &str) -> bool {
    const STARTS: [&str; 8] = ["your", "changeme", "change", "replace", "insert", "enter", "put", "placeholder"];
    let is_word = |found: char| found.is_ascii_alphabetic() || matches!(found, '-' | '_' | ' ' | '[' | ']');
    if !text.chars().all(is_word) {
        return false;
    }
    let lower = text.to_ascii_lowercase();
    let mut words = lower.split(|found: char| !found.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    let first = words.next().unwrap_or_default();
    let others = words.count();
    first == "changeme"
        || text == "[REDACTED]"
        || others > 0 && (STARTS.contains(&first) || ["-here", "_here"].iter().any(|end| lower.ends_with(end)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_members_tell_secrets_from_mcps_own_names() {
        for name in [
            "password",
            "apiKey",
            "API_KEY",
            "x-api-key",
            "accessToken",
            "client_secret",
            "Authorization",
            "token",
            "DB_PASSWORD",
            "refresh_token",
            "privateKey",
            "passphrase",
            "secret",
            "jwt",
            "pin",
            "pass_phrase",
            "pass-word",
            "dbpassword",
            "auth",
            "proxyAuth",
            "Passwort",
            "Hauptpasswort",
            "mot de passe",
            "mot_de_passe",
            "contraseña",
            "CONTRASEÑA",
            "senha",
            "Wachtwoord",
            "пароль",
            "密码",
            "パスワード",
            "비밀번호",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in [
            "progressToken",
            "nextCursor",
            "maxTokens",
            "tokens",
            "nextPageToken",
            "key",
            "name",
            "author",
            "tokenType",
            "token_endpoint",
            "secretName",
            "passed",
            "password_policy",
            "session",
            "compass",
            "monkey",
            "PWD",
            "OLDPWD",
            "auth_methods",
            "authType",
            "passwort_policy",
            "passenger",
            "bypass",
        ] {
            assert!(!is_secret(name), "{name}");
        }
        for name in ["redactedToken", "redacted_otp", "redactedqPKd8Otp5tZkXo2MwzL0rYb_password"] {
            assert!(is_secret(name), "{name}");
        }
        assert!(!is_secret("redactedqPKd8Otp5tZkXo2MwzL0rYb-pw"), "the letters of a pseudonym mean nothing");
    }

    #[test]
    fn names_of_flags_and_parameters_are_judged_more_strictly() {
        for name in ["--passphrase", "--pw", "--api-key", "GITHUB_TOKEN", "--auth", "DB_PASS", "key", "--jwt", "cookie"]
        {
            assert!(is_reporting(name), "{name}");
        }
        for name in ["--author", "--port", "--compass", "PATH", "--verbose", "--password-file", "API_TOKEN_PATH"] {
            assert!(!is_reporting(name), "{name}");
        }
        let random = "redactedbew9fXT5-z57PhD4mfYJwtqOAo7BKjObB7ucKqhYk";
        assert!(!is_reporting(random) && is_reporting(&format!("{random}_PASSWORD")));
        for name in ["code", "sig", "jwt", "X-Amz-Signature", "access_token"] {
            assert!(is_secret_parameter(name), "{name}");
        }
        assert!(!is_secret_parameter("page") && !is_secret_parameter("sessionId"));
    }

    #[test]
    fn placeholders_are_no_secrets() {
        for value in ["", "required", "${TOKEN}", "<your key>", "***", "Bearer", "{{ token }}"] {
            assert!(is_placeholder(value.as_bytes()), "{value}");
        }
        assert!(!is_placeholder(b"hunter2"));
    }
}
