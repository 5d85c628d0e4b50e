//! What is removed before anything is stored: secrets in command lines, URLs and HTTP heads.

use super::encoding::percent_decoded;
use super::finder::Finder;
use super::names::{is_reporting, is_secret_parameter};
use super::{REDACTED, has_mark};
use std::borrow::Cow;

/// Programs whose `-p` is a package, a port or a folder.
const PLAIN_P: [&str; 20] = [
    "npx",
    "npm",
    "pnpm",
    "yarn",
    "bunx",
    "bun",
    "uvx",
    "uv",
    "pipx",
    "mkdir",
    "docker",
    "podman",
    "ssh",
    "scp",
    "tsx",
    "cargo",
    "nix",
    "nix-shell",
    "python",
    "deno",
];

/// Programs whose `-pVALUE` is a password.
const ATTACHED_P: [&str; 5] = ["mysql", "mysqldump", "mysqladmin", "mariadb", "sshpass"];

/// Replaces the secrets in arguments.
pub fn redact_arguments(arguments: &[String]) -> Vec<String> {
    let mut kept = Vec::with_capacity(arguments.len());
    for (at, argument) in arguments.iter().enumerate() {
        let before = &arguments[..at];
        kept.push(after_flag(before, argument).unwrap_or_else(|| redact_argument(before, argument)));
    }
    kept
}

/// Redacts the value of the flag before it; `None` if that flag has no secret.
fn after_flag(before: &[String], value: &str) -> Option<String> {
    let flag = before.last().filter(|flag| flag.starts_with('-') && !flag.contains('='))?;
    if value.starts_with('-') {
        return None;
    }
    match flag.as_str() {
        "-p" => is_password(before, value).then(|| REDACTED.to_owned()),
        "--user" | "-u" | "--proxy-user" | "-U" => {
            let (user, _) = value.split_once(':').filter(|(user, rest)| is_user_and_password(user, rest))?;
            Some(format!("{user}:{REDACTED}"))
        }
        "--cookie" | "-b" if value.contains('=') => Some(REDACTED.to_owned()),
        "-H" | "--header" | "--headers" => header_argument(value),
        name if is_reporting(name) => Some(REDACTED.to_owned()),
        _ => None,
    }
}

/// Whether the value of `-p` is a password: it is neither a number, a path, a package nor a mapping of ports, and the
/// program has no other `-p`.
fn is_password(before: &[String], value: &str) -> bool {
    let program = |word: &String| word.rsplit('/').next().is_some_and(|name| PLAIN_P.contains(&name));
    let is_plain = value.starts_with(['@', '.', '~']) || value.contains('/');
    let is_number = value.chars().all(|found| found.is_ascii_digit() || matches!(found, '.' | ':' | ','));
    !before.iter().any(program) && !is_plain && !is_number
}

fn is_user_and_password(user: &str, rest: &str) -> bool {
    let is_number = rest.chars().all(|found| found.is_ascii_digit());
    !user.is_empty() && !user.contains('/') && !rest.is_empty() && !is_number
}

/// Redacts `Name: value`.
fn header_argument(argument: &str) -> Option<String> {
    let (name, value) = argument.split_once(':')?;
    let plain = value.trim_start();
    let space = &value[..value.len() - plain.len()];
    Some(format!("{name}:{space}{}", redact_header(&name.to_ascii_lowercase(), plain)))
}

fn redact_argument(before: &[String], argument: &str) -> String {
    if argument.contains("://") && !argument.split_once("://").is_some_and(|(start, _)| start.contains(['=', ' '])) {
        return redact_url(argument);
    }
    if let Some(value) = argument.strip_prefix("-p").filter(|value| !value.is_empty())
        && before.iter().any(|word| word.rsplit('/').next().is_some_and(|name| ATTACHED_P.contains(&name)))
    {
        return format!("-p{}", without_secrets(value).replacen(value, REDACTED, 1));
    }
    for separator in ['=', ':'] {
        let Some((name, value)) = argument.split_once(separator).filter(|(name, value)| is_assignment(name, value))
        else {
            continue;
        };
        if name == "--user" || name == "--proxy-user" {
            let redacted = after_flag(&[name.to_owned()], value);
            return redacted.map_or_else(|| argument.to_owned(), |value| format!("{name}={value}"));
        }
        if is_reporting(name) || name == "-p" || name == "--p" {
            return format!("{name}{separator}{REDACTED}");
        }
        if value.contains("://") && !value.contains(char::is_whitespace) {
            return format!("{name}{separator}{}", redact_url(value));
        }
    }
    without_secrets(argument)
}

fn is_assignment(name: &str, value: &str) -> bool {
    !value.is_empty() && !name.is_empty() && !name.contains(|found: char| found.is_whitespace() || found == '"')
}

/// Replaces everything that looks like a secret; its whole word, so that nothing of it stays.
fn without_secrets(text: &str) -> String {
    let Some(finder) = Finder::at_capture() else { return REDACTED.to_owned() };
    let mut out = text.to_owned();
    for found in finder.find(text.as_bytes()).into_iter().rev().filter(|found| !found.stays) {
        let is_end = |found: char| found.is_whitespace() || "\"'=,;&@:/?<>(){}[]".contains(found);
        let Some(before) = text.get(..found.range.start) else { return REDACTED.to_owned() };
        let start = before.rfind(is_end).map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
        if out.get(start..found.range.end).is_none() {
            return REDACTED.to_owned();
        }
        out.replace_range(start..found.range.end, REDACTED);
    }
    out
}

/// Removes user information and the values of secret query parameters from a URL.
pub(crate) fn redact_url(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return without_secrets(url) };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    // A password may contain these characters, although it should not.
    let end = match rest.rfind('@') {
        Some(at) if at > end && rest[..end].contains(':') && !rest[end..at].contains(['?', '=']) => {
            rest[at..].find(['/', '?', '#']).map_or(rest.len(), |next| at + next)
        }
        _ => end,
    };
    let (authority, tail) = rest.split_at(end);
    let host = match authority.rsplit_once('@') {
        Some((_, host)) => format!("{REDACTED}@{host}"),
        None => authority.to_owned(),
    };
    let path_start = scheme.len() + 3 + authority.len();
    format!("{scheme}://{host}{}", redact_path(&url[..path_start], &redact_target(tail)))
}

/// Replaces secrets in a path, which some need the host to be recognised (webhooks).
fn redact_path(before: &str, tail: &str) -> String {
    let Some(finder) = Finder::at_capture() else { return REDACTED.to_owned() };
    let whole = format!("{before}{tail}");
    let mut out = tail.to_owned();
    for found in finder.find(whole.as_bytes()).into_iter().rev().filter(|found| !found.stays) {
        let start = found.range.start.saturating_sub(before.len());
        let end = found.range.end.saturating_sub(before.len());
        if start < end && out.get(start..end).is_some() && found.range.start >= before.len() {
            out.replace_range(start..end, REDACTED);
        }
    }
    out
}

/// Removes the values of secret query parameters from a request target: path, query and fragment.
pub(crate) fn redact_target(target: &str) -> String {
    let Some(start) = target.find(['?', '#']) else { return target.to_owned() };
    let (path, query) = target.split_at(start);
    let pairs = query.split_inclusive(['?', '&', '#', ';']).map(|pair| {
        let (body, end) = match pair.char_indices().next_back() {
            Some((at, '?' | '&' | '#' | ';')) => pair.split_at(at),
            _ => (pair, ""),
        };
        match body.split_once('=') {
            Some((name, _)) if is_secret_name(name) => format!("{name}={REDACTED}{end}"),
            Some((name, value)) => format!("{name}={}{end}", without_secrets(value)),
            None => format!("{}{end}", without_secrets(body)),
        }
    });
    format!("{path}{}", pairs.collect::<String>())
}

/// Whether the name of a query parameter, which may be percent-encoded, suggests a secret.
fn is_secret_name(name: &str) -> bool {
    is_secret_parameter(&String::from_utf8_lossy(&percent_decoded(name.as_bytes())))
}

/// Redacts a header value; `name` must be in lower case. Of a credential, only the scheme remains. A server's challenge
/// is not secret.
pub fn redact_header<'a>(name: &str, value: &'a str) -> Cow<'a, str> {
    redact_header_keeping(name, value, false)
}

/// Does the same; with `keeps_pseudonyms`, a value other than a credential stays if it contains one.
pub(crate) fn redact_header_keeping<'a>(name: &str, value: &'a str, keeps_pseudonyms: bool) -> Cow<'a, str> {
    if name.ends_with("-authenticate") || name == "authentication-info" || name.starts_with("sec-websocket-") {
        return value.into();
    }
    // The session tells streams apart, and opens nothing by itself.
    if name == "mcp-session-id" || name.starts_with("access-control-") {
        return value.into();
    }
    if let Some((scheme, rest)) = value.trim_start().split_once(' ')
        && ["bearer", "basic", "dpop", "digest", "negotiate", "token", "hmac", "aws4-hmac-sha256", "signature"]
            .iter()
            .any(|known| known.eq_ignore_ascii_case(scheme))
        && !rest.trim().is_empty()
    {
        return format!("{scheme} {REDACTED}").into();
    }
    if is_secret_header(name) {
        return REDACTED.into();
    }
    // A URL or a relative reference (Location, Referer, Link).
    let redacted = match value {
        value if keeps_pseudonyms && has_mark(value.as_bytes()) => value.to_owned(),
        value if value.contains("://") => redact_url(value),
        value if value.contains('?') => redact_target(value),
        value => without_secrets(value),
    };
    if redacted == value { value.into() } else { redacted.into() }
}

/// Whether a header's value is a credential, a cookie or a signature as a whole.
fn is_secret_header(name: &str) -> bool {
    const NAMES: [&str; 7] = [
        "signature",
        "signature-input",
        "client-cert",
        "x-amz-signature",
        "x-goog-signature",
        "x-forwarded-client-cert",
        "x-csrf",
    ];
    NAMES.contains(&name) || name.ends_with("-signature") || name.contains("hmac") || is_reporting(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redacted(line: &str) -> String {
        redact_arguments(&line.split(' ').map(str::to_owned).collect::<Vec<_>>()).join(" ")
    }

    #[test]
    fn secrets_go_and_the_rest_stays() {
        assert_eq!(redacted("npx server --api-key abc /data"), "npx server --api-key [redacted] /data");
        assert_eq!(redacted("server --token=abc --verbose"), "server --token=[redacted] --verbose");
        assert_eq!(redacted("env GITHUB_TOKEN=abc HOME=/h server"), "env GITHUB_TOKEN=[redacted] HOME=/h server");
        assert_eq!(redacted("server ghp_0123456789abcdef"), "server [redacted]");
        assert_eq!(redacted("server -H Authorization:abc"), "server -H Authorization:[redacted]");
        assert_eq!(
            redacted("server postgres://me:pw@db:5432/x?api_key=1&a=2"),
            "server postgres://[redacted]@db:5432/x?api_key=[redacted]&a=2"
        );
        assert_eq!(redacted("server --db=postgres://me:pw@db/x"), "server --db=postgres://[redacted]@db/x");
        assert_eq!(redacted("python -m server --author me --port 80"), "python -m server --author me --port 80");
        assert_eq!(redacted("server --token --verbose"), "server --token --verbose");
    }

    #[test]
    fn flags_that_earlier_versions_missed() {
        for (line, expected) in [
            ("server --passphrase abc", "server --passphrase [redacted]"),
            ("server --pw abc", "server --pw [redacted]"),
            ("server --pw=abc", "server --pw=[redacted]"),
            ("server -p hunter2", "server -p [redacted]"),
            ("server -p 8080", "server -p 8080"),
            ("npx -y -p @scope/pkg cmd", "npx -y -p @scope/pkg cmd"),
            ("docker run -p 80:80 image", "docker run -p 80:80 image"),
            ("mysql -phunter2 db", "mysql -p[redacted] db"),
            ("curl --user jane:pw https://h", "curl --user jane:[redacted] https://h"),
            ("curl -u jane:pw https://h", "curl -u jane:[redacted] https://h"),
            ("curl --user=jane:pw", "curl --user=jane:[redacted]"),
            ("docker run -u 1000:1000 image", "docker run -u 1000:1000 image"),
            ("server DB_PASS=abc", "server DB_PASS=[redacted]"),
            ("server https://h/cb?code=abc&state=x", "server https://h/cb?code=[redacted]&state=[redacted]"),
            ("server https://h/#access_token=abc", "server https://h/#access_token=[redacted]"),
            ("server redis://:p/w@h:1/0", "server redis://[redacted]@h:1/0"),
        ] {
            assert_eq!(redacted(line), expected);
        }
        let header = vec!["-H".to_owned(), "X-Other: Bearer abc".to_owned()];
        assert_eq!(redact_arguments(&header)[1], "X-Other: Bearer [redacted]");
        let inline = vec![
            "sh".to_owned(),
            "-c".to_owned(),
            "TOKEN=hunter2x server sk-ant-api03-AbCdEfGhIjKlMnOpQrSt1".to_owned(),
        ];
        assert_eq!(redact_arguments(&inline)[2], "TOKEN=[redacted]", "a value may contain spaces");
        assert_eq!(
            redacted("https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXX1234"),
            "https://hooks.slack.com/services/[redacted]"
        );
    }

    #[test]
    fn headers_keep_the_scheme_of_their_credentials() {
        for (name, value, expected) in [
            ("authorization", "Bearer abc", "Bearer [redacted]"),
            ("x-upstream", "Bearer abc", "Bearer [redacted]"),
            ("x-api-key", "abc", "[redacted]"),
            ("cookie", "a=b", "[redacted]"),
            ("set-cookie", "a=b; Path=/", "[redacted]"),
            ("dpop", "eyJ0eXAi", "[redacted]"),
            ("signature", "sig1=:abc:", "[redacted]"),
            ("x-hub-signature-256", "sha256=abc", "[redacted]"),
            ("x-slack-signature", "v0=abc", "[redacted]"),
            ("www-authenticate", "Bearer realm=x", "Bearer realm=x"),
            ("content-type", "application/json", "application/json"),
            ("mcp-session-id", "AbCdEf0123456789AbCdEf0123456789", "AbCdEf0123456789AbCdEf0123456789"),
            ("location", "/back?token=abc&x=1", "/back?token=[redacted]&x=1"),
            ("location", "/cb?code=abc&jwt=d&sig=e", "/cb?code=[redacted]&jwt=[redacted]&sig=[redacted]"),
            ("referer", "https://u:p@h/x", "https://[redacted]@h/x"),
            ("user-agent", "node", "node"),
        ] {
            assert_eq!(redact_header(name, value), expected, "{name}");
        }
        assert_eq!(redact_target("/sse?token=abc&x=1"), "/sse?token=[redacted]&x=1");
    }
}
