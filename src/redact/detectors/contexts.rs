//! Secrets that are recognised by what surrounds them, or by a check.

use super::{ASSIGNMENT, COOKIE, Detector, HIGH_ENTROPY, NameOf, Near, Run, Severity, TABLE, checked};
use crate::redact::checks;
use crate::redact::pseudonym::Kind;

/// Programs in a printed list, with the options that take a password.
const PRINTED_COMMAND: &str = concat!(
    r#"(?i)["'](?:"#,
    r#"(?:sshpass|mongo(?:sh|dump|restore|export|import)?|(?:docker|podman|registry|az)\\*["'],?\s+\\*["']login)\\*["'][^\n\]]{0,200}?["']-p"#,
    r#"|redis-cli\\*["'][^\n\]]{0,200}?["']-a|ldap[a-z]{3,12}\\*["'][^\n\]]{0,200}?["']-w"#,
    r#"|(?:zip|unzip|sqlcmd|bcp)\\*["'][^\n\]]{0,200}?["'](?-i:-P)"#,
    r#"|curl\\*["'][^\n\]]{0,300}?["'](?:-u|--user)\\*["'],?\s+\\*["'][^\s:"'/\\]{1,60}:()"#,
    r#")(?:\\*["'],?\s+\\*["'])?([^\s"'\\-][^"'\\\n]{2,256})"#,
);

/// The options of programs that take a password, and that have another meaning elsewhere.
const PROGRAM_OPTION: &str = concat!(
    r"(?i)\b(?:",
    r"(?:mysql(?:dump|admin|import|show|check|slap|pump)?|mariadb(?:-[a-z]{1,12})?|7z[ar]?)\b[^\n|;&]{0,200}?\s-p",
    r"|sshpass\s(?:[^\n|;&]{0,60}?\s)?-p\s?",
    r"|(?:mongo(?:sh|dump|restore|export|import)?|(?:docker|podman|registry|az)\s+login)\b[^\n|;&]{0,200}?\s-p[\s=]",
    r"|redis-cli\b[^\n|;&]{0,200}?\s-a[\s=]",
    r"|ldap[a-z]{3,12}\b[^\n|;&]{0,200}?\s-w\s",
    r"|(?:zip|unzip|sqlcmd|bcp)\b[^\n|;&]{0,200}?\s(?-i:-P)\s?",
    r#")\\*["']?([^\s"'\\-][^\s"'\\]{2,256})"#,
);

/// Passwords in statements of SQL. A quote before `password` ends a word of another language, and none begins after it.
const SQL_PASSWORD: &str = concat!(
    r"(?i)(?:",
    r"\bIDENTIFIED\s+(?:(?:WITH|VIA)\s+\S{1,60}\s+)?(?:BY|AS|USING)\s+(?:PASSWORD\s*\(?\s*|VALUES\s+)?",
    r"|\bSET\s+PASSWORD\s+FOR\s+\S{1,80}\s*=\s*(?:PASSWORD\s*\(\s*)?",
    r#"|(?:^|[^a-z0-9_"'`$.-])PASSWORD(?:\s*=?\s*\(\s*|\s*=\s*|\s+)"#,
    r#")\\*(?:N?'([^'\\]{2,200})|"([^"\\]{2,200}))|\bIDENTIFIED\s+BY\s+([A-Z0-9_$\#]{3,256})"#,
);

/// Passwords among the arguments of programs, or on their standard input.
const PROGRAM_ARGUMENT: &str = concat!(
    r"(?i)(?:",
    r"\bsqlplus\b[^\n|;&]{0,100}?\s[a-z0-9_$#]{1,40}/",
    r"|\b(?:smbclient|rpcclient|smbget)\b[^\n|;&]{0,200}?\s(?-i:-U)\s?[^\s%]{1,60}%",
    r"|\bhtpasswd\s(?:[^\n|;&]{0,100}?\s)?-[a-z]{0,6}b[a-z]{0,6}\s+\S{1,200}\s+\S{1,60}\s+",
    r"|\bngrok\b[^\n|;&]{0,100}?\s(?:add-)?authtoken\s+",
    r"|\bsnmp[a-z]{2,12}\b[^\n|;&]{0,200}?\s-c\s+",
    r#"|\bcurl\b[^\n|;&]{0,300}?\s-[a-z]{0,6}u\s?\\*["']?[^\s:"'/=-][^\s:"'/=]{0,60}:"#,
    r#"|\bsecurestring\s+(?:-string\s+)?\\*["']"#,
    r#")\\*["']?([^\s"'\\@-][^\s"'\\@]{2,256})"#,
    r#"|(?i)\b(?:echo|printf)\s+(?:-[a-z]{1,3}\s+)?\\*["']?(?:[^\s:"'|\\]{1,40}:)?([^\s:"'|\\]{3,256})\\*["']?\s*\|\s*"#,
    r"(?:sudo\s+-S|(?:sudo\s+)?chpasswd|[^\n|;&]{1,80}?\s--(?:stdin|password-stdin|with-token))",
);

/// What a program reads its passwords from: `.netrc` and `.pgpass`.
const LOGIN_FILE: &str = concat!(
    r"(?i)\b(?:(?:machine\s+\S{1,200}|default)\s+)?login\s+\S{1,200}\s+(?:account\s+\S{1,200}\s+)?password\s+",
    r#"([^\s"'\\]{3,256})|(?m:^)(?:[^\s:#/]{1,200}):(?:5432|5433|6432|\*):[^\s:]{1,60}:[^\s:]{1,60}:([^\s:]{3,256})(?m:$)"#,
);

/// A name and its value in YAML or a Dockerfile, or a variable and its default in HCL.
const CONFIG_ENTRY: &str = concat!(
    r#"(?i)(?:\b(?:name|key):\s*["']?([a-z0-9_.-]{1,60})["']?\s*\n\s*value:\s*["']?"#,
    r#"|\b(?:(?-i:ENV|ARG|setenv)|setx)\s+([a-z0-9_]{1,60})\s+\\*["']?"#,
    r#"|\bvariable\s+["']([a-z0-9_.-]{1,60})["']\s*\{[^{}]{0,300}?\bdefault\s*=\s*["'])([^\s"'{}]{4,256})"#,
);

/// A name, what divides it from its value, and the value. In code, a type may follow the name; in YAML, the value may be a
/// block in the next line; in Python, a letter may precede the quote.
const ASSIGNED: &str = concat!(
    r"(?:^|\\[nrt]|[^A-Za-z0-9_.\\\x80-\xff])",
    r"((?:(?i:api|access|secret|private|encryption|signing|master|license) )?[A-Za-z_\x80-\xff][A-Za-z0-9_.\x80-\xff-]{0,40})",
    r#"(?:\\*["']\]?|\*\*)?[ \t]*"#,
    r"(?:\xef\xbc\x9a|(?i::[ \t]*(?:&[ \t]*)?(?:'static[ \t]+)?(?:str|string|text|bytes|any)[ \t]*=)|:=|=>|=|:)",
    r"(?:\*\*|__)?(?:[ \t]*(?:[|>][+-]?[ \t]*)?\r?\n[ \t]+|[ \t]*)",
    r#"(?:[bfruBFRU]{0,2}\\*["'`])?([^\s"'\\,;&<>(){}\[\]|]{4,256})"#,
);

/// A row that has a name and its value, in Markdown and in what `psql` prints, or in HTML.
const ROW: &str = concat!(
    r"(?m:^)[ \t]*\|?[ \t*`]*([A-Za-z_][A-Za-z0-9_ -]{0,40}?)[ \t*`]*\|[ \t`]*([^\s|`]{4,200})[ \t`]*\|?[ \t]*\r?(?m:$)",
    r"|(?i:<(?:td|th|dt)(?:\s[^<>]{0,100})?>\s*([^<>&]{1,60}?)\s*</(?:td|th|dt)>\s*<(?:td|dd)(?:\s[^<>]{0,100})?>\s*)",
    r"(?i:(?:<code>)?([^<>\s]{4,200})\s*<)",
);

/// All of them, the most specific first.
pub(super) const CONTEXTS: &[Detector] = &[
    checked(
        "basic-credentials",
        Severity::High,
        Kind::Token,
        (Near::Text(&["basic"]), r"(?i)\bbasic\s+([A-Za-z0-9+/]{8,256}={0,2})"),
        checks::basic,
        "Basic dXNlcjpodW50ZXIyLXM=",
    )
    .reaching(0),
    checked(
        "bearer-token",
        Severity::High,
        Kind::Token,
        (Near::Text(&["bearer", "dpop"]), r#"(?i)\b(?:bearer|dpop)[\s:]{1,4}["']?([A-Za-z0-9_.~+/=-]{8,256})"#),
        checks::random,
        "Bearer <32>",
    )
    .reaching(0),
    checked(
        "authorization",
        Severity::High,
        Kind::Token,
        (
            Near::Text(&["authorization"]),
            r#"(?i)\bauthorization\\*["']?\s*[:=]\s*\\*["']?(?:[a-z][a-z0-9-]{1,20}[ \t]+)?([A-Za-z0-9_.~+/=:-]{8,256})"#,
        ),
        checks::credentials,
        "Authorization: Token <40>",
    )
    .reaching(0),
    checked(
        "signature",
        Severity::Medium,
        Kind::Token,
        (Near::Text(&["signature", "response", "mac"]), r#"(?i)\b(?:signature|response|mac)\s*=\s*\\*"?([A-Za-z0-9+/=%_-]{20,256})"#),
        checks::random,
        "Digest username=\"me\", response=\"<32h>\"",
    )
    .reaching(0),
    checked(
        COOKIE,
        Severity::High,
        Kind::Token,
        (Near::Text(&["cookie:"]), r"(?i)cookie:[ \t]*([^\r\n]{4,256})"),
        checks::any,
        "Cookie: sid=<24>; theme=dark",
    ),
    checked(
        "url-password",
        Severity::High,
        Kind::Password,
        (Near::Text(&["@"]), r#"(?i)[a-z][a-z0-9+.-]{1,20}://[^\s/?#:@"'<>]{0,256}:([^\s/@"'<>]{1,1024})@"#),
        checks::not_placeholder,
        "postgres://app:<12>@db.example.com:5432/app",
    )
    .reaching(1310),
    checked(
        "url-user-token",
        Severity::High,
        Kind::Token,
        (Near::Text(&["@"]), r#"(?i)(?:[a-z][a-z0-9+.-]{1,20}://([^\s/?#:@"'<>]{16,1024})|\bhttps?://([^\s/?#:@"'<>]{8,15}))@"#),
        checks::random,
        "https://<32h>@o1.ingest.example.com/1",
    )
    .reaching(1050),
    checked(
        "query-parameter",
        Severity::Medium,
        Kind::Password,
        (
            Near::Name(NameOf::Parameter, b"="),
            r#"(?:[?&]([A-Za-z0-9_.~%-]{1,60})|\b(code_verifier|client_assertion))=([^\s&#"'<>\\]{4,256})"#,
        ),
        checks::parameter,
        "https://example.com/cb?access_token=<20>",
    ),
    checked(
        "user-flag",
        Severity::High,
        Kind::Password,
        (Near::Text(&["--user", "-u"]), r#"(?:--user|(?:^|\s)-u)[ =]["']?[^\s:"'/]+:([^\s"'/]{3,256})"#),
        checks::not_number,
        "curl --user jane:<12> https://example.com",
    )
    .reaching(2),
    checked(
        "flag",
        Severity::High,
        Kind::Password,
        (Near::Name(NameOf::Flag, b"-"), r#"(?:^|[\s"'])--?([A-Za-z][A-Za-z0-9-]{1,40})[ =]["']?([^\s"'\\-][^\s"'\\]{2,256})"#),
        checks::flag,
        "server --passphrase <10>",
    ),
    checked(
        "quoted-flag",
        Severity::High,
        Kind::Password,
        (
            Near::Name(NameOf::Flag, b"\"'"),
            r#"["']--?([A-Za-z][A-Za-z0-9-]{1,40})\\*["'],?\s+\\*["']([^\s"'\\-][^"'\\\r\n]{2,256})"#,
        ),
        checks::flag,
        "[ 'npx', '--api-key', '<12>' ]",
    ),
    checked(
        "listed-flag",
        Severity::High,
        Kind::Password,
        (
            Near::Name(NameOf::Flag, b",\n\0"),
            r#"(?:^|[\s\[,\x00])--?([A-Za-z][A-Za-z0-9-]{1,40})(?:,\s{1,4}|\x00|\r?\n[ \t]{0,20}-[ \t])([^\s"'\\,\[\]\x00-][^\s"'\\,\[\]\x00]{3,256})"#,
        ),
        checks::listed_flag,
        "[java, -jar, x.jar, --password, 7<12>]",
    ),
    checked(
        "printed-command",
        Severity::High,
        Kind::Password,
        (Near::Text(&["sshpass", "mongo", "docker", "podman", "registry", "\"az", "'az", "redis-cli", "ldap", "zip", "sqlcmd", "bcp", "curl"]), PRINTED_COMMAND),
        checks::last_not_placeholder,
        "['curl', '-u', 'jane:<12>']",
    )
    .reaching(3),
    checked(
        "cookie-option",
        Severity::High,
        Kind::Token,
        (
            Near::Text(&["-b", "--cookie"]),
            r#"(?:^|[\s"'])(?:-b|--cookie)[ =]\\*["']?(?:[^\s=;"'\\]{1,60}=[^\s;"'\\]{0,200};\s?){0,8}?[^\s=;"'\\]{1,60}=([^\s;"'\\]{6,256})"#,
        ),
        checks::random,
        "curl -b 'theme=dark; sid=3<16>' https://example.com",
    )
    .reaching(1),
    checked(
        "basic-pair",
        Severity::High,
        Kind::Password,
        (
            Near::Text(&["auth=", "auth =", "basicauth(", "digestauth("]),
            r#"(?i)\b(?:auth\s?=\s?|HTTP)(?:[A-Za-z.]{1,30})?\(\s{0,8}\\*["'][^"'\\]{1,100}\\*["']\s{0,8},\s{0,8}\\*["']([^"'\\\n]{3,256})"#,
        ),
        checks::not_placeholder,
        "requests.get(url, auth=('jane', '<12>'))",
    )
    .reaching(16),
    checked(
        "connection-text",
        Severity::High,
        Kind::Password,
        (Near::Text(&["pwd=", "pwd ="]), r#"(?i)[;{"'`]\s?pwd\s?=\s?([^;\s"'\\{}/][^;\s"'\\{}]{2,256})"#),
        checks::not_placeholder,
        "Server=db.example.com;UID=sa;PWD=<12>;",
    )
    .reaching(2),
    checked(
        "text-box",
        Severity::Medium,
        Kind::Password,
        (
            Near::Text(&["textbox"]),
            r#"(?i)\btextbox\s+\\*"([^"\\\n]{1,60})\\*"(?:\s\[[^\]\n]{1,40}\]){0,6}(?::[ \t]+|[ \t][^\n]{0,60}?value=)\\*"?([^\s"\\][^\n"\\]{2,200})"#,
        ),
        checks::labelled,
        "- textbox \"Password\" [ref=e12]: <12>",
    )
    .reaching(0),
    checked(
        "foreign-label",
        Severity::Medium,
        Kind::Password,
        (
            Near::Name(NameOf::Value, b":=\xef"),
            r#"([A-Za-z\x80-\xff-]{2,40}(?:[ '][A-Za-z\x80-\xff]{1,24}){1,3})[ \t]*(?::|=|\xef\xbc\x9a)[ \t]*\\*["']?([^\s"'\\,;&<>(){}\[\]|]{4,256})"#,
        ),
        checks::foreign,
        "Mot de passe : <12>9",
    )
    .reaching(64),
    checked(
        "program-option",
        Severity::High,
        Kind::Password,
        (
            Near::Text(&["mysql", "mariadb", "sshpass", "mongo", " login", "redis-cli", "ldap", "zip", "sqlcmd", "bcp", "7z"]),
            PROGRAM_OPTION,
        ),
        checks::last_not_placeholder,
        "mysql -u app -p<12> shop",
    ),
    checked(
        "program-argument",
        Severity::High,
        Kind::Password,
        (Near::Text(&["sqlplus",
                "smbclient",
                "rpcclient",
                "htpasswd",
                "snmp",
                "passwd",
                "--stdin",
                "sudo",
                "-stdin",
                "--with-token", "ngrok",
                "curl",
                "securestring"]),
            PROGRAM_ARGUMENT,
        ),
        checks::last_not_placeholder,
        "curl -ujane:<12> https://example.com",
    )
    .reaching(480),
    checked(
        "login-file",
        Severity::High,
        Kind::Password,
        (Near::Text(&["login", "machine", ":5432:", ":5433:", ":6432:", ":*:"]), LOGIN_FILE),
        checks::login,
        "machine api.example.com login me password <14>",
    )
    .reaching(210),
    checked(
        "sql-password",
        Severity::High,
        Kind::Password,
        (Near::Text(&["identified", "password"]), SQL_PASSWORD),
        checks::sql,
        "CREATE USER app IDENTIFIED BY '<12>'",
    ),
    checked(
        "xml-property",
        Severity::Medium,
        Kind::Password,
        (
            Near::Name(NameOf::Value, b">;"),
            r#"(?i)\b(?:name|key|id)\s{0,3}=\s{0,3}\\*["']([a-z][a-z0-9_.:-]{0,60})\\*["'][^<>]{0,100}?(?:>|&gt;)\s*([^<>&"'\s\\][^<>&"'\\]{2,200})(?:<|&lt;)/"#,
        ),
        checks::labelled,
        "name=\"password\"&gt;7<12>&lt;/property",
    )
    .reaching(72),
    checked(
        "wrapped-value",
        Severity::Medium,
        Kind::Password,
        (
            Near::Name(NameOf::Value, b">("),
            r#"(?i)([a-z][a-z0-9_.-]{0,60})\\*["']?(?:\]\s*=>\s*(?:string\([0-9]{1,5}\)\s*)?|\s*->\s*|\s*[:=]\s*Some\(\s*)\\*["']?([^\s"'\\,;()<>\[\]{}]{4,256})"#,
        ),
        checks::wrapped,
        "[password] => 7<12>",
    )
    .reaching(64),
    checked(
        "xml-element",
        Severity::Medium,
        Kind::Password,
        (
            Near::Name(NameOf::Value, b"<;"),
            r"(?i)(?:<|&lt;)([a-z][a-z0-9_.:-]{0,60})(?:\s[^<>]{0,200})?(?:>|&gt;)\s*(?:<!\[CDATA\[)?([^<>\s][^<>]{0,200}?)\s*(?:\]\]>)?(?:<|&lt;)/",
        ),
        checks::labelled,
        "&lt;password&gt;<12>&lt;/password&gt;",
    ),
    checked(
        "xml-attribute",
        Severity::Medium,
        Kind::Password,
        (
            Near::Name(NameOf::Value, b"="),
            r#"(?i)\b(?:name|key|id|property|type)\s*=\s*\\*["']([^"'\\<>]{1,60})\\*["'][^<>]{0,200}?\b(?:value|content)\s*=\s*\\*["']([^"'\\<>]{1,200})"#,
        ),
        checks::labelled,
        "key=\"ApiKey\" value=\"<12>\"",
    ),
    checked(
        "xml-entry",
        Severity::Medium,
        Kind::Password,
        (
            Near::Name(NameOf::Value, b"<;"),
            r"(?i)(?:<|&lt;)(?:key|name|property|member)(?:>|&gt;)\s*([^<>&]{1,60}?)\s*(?:<|&lt;)/[a-z]{1,20}(?:>|&gt;)\s*(?:<|&lt;)(?:string|value|data)(?:>|&gt;)\s*([^<>]{1,200}?)\s*(?:<|&lt;)/",
        ),
        checks::labelled,
        "&lt;key&gt;password&lt;/key&gt;&lt;string&gt;<12>&lt;/string&gt;",
    ),
    checked(
        "config-entry",
        Severity::Medium,
        Kind::Password,
        (Near::Name(NameOf::Value, b":= \t"), CONFIG_ENTRY),
        checks::labelled,
        "- name: API_KEY\n  value: <24>",
    ),
    checked(
        "call-argument",
        Severity::Medium,
        Kind::Password,
        (
            Near::Name(NameOf::Value, b"(,"),
            r#"(?:\b([A-Za-z_][A-Za-z0-9_.]{0,60})\(|["']([#.]?[A-Za-z_][A-Za-z0-9_. -]{0,60})\\*["']\s*(?:\)?\s*,|\}?\s*\)\s*\.[A-Za-z_]{2,30}\())\s*\\*["']([^"'\\\r\n]{4,200})\\*["']"#,
        ),
        checks::argument,
        "define('DB_PASSWORD', '4<14>')",
    ),
    checked(
        TABLE,
        Severity::Medium,
        Kind::Password,
        (Near::Name(NameOf::Value, b"|,;\t\n<("), r#"(?:[|,;\t\r\n]|</[Tt][HhDd])[\s\S]*[|,;\t\r\n>]|\)\s*(?i:values)\s*\("#),
        checks::any,
        "| user | password |\n| --- | --- |\n| me | 7<14> |",
    ),
    checked(
        "table-row",
        Severity::Medium,
        Kind::Password,
        (Near::Name(NameOf::Value, b"|<"), ROW),
        checks::argument,
        "| host | db |\n| password | 7<14> |\n| port | 80 |",
    )
    .reaching(180),
    checked(
        "told-password",
        Severity::Medium,
        Kind::Password,
        (
            Near::Text(&["pass", "pin", "kennwort", "contrase", "senha", "wachtwoord", " code"]),
            r#"(?i)\b((?:pass(?:word|phrase|code|wort|e)|pin(?:[ -]code)?|kennwort|senha|wachtwoord)|contrase\S{1,2}a|(?:verification|security|one-time|confirmation|login|authentication|2fa)[ -]code)[ \t]+(?:(?:has been |was )?(?:changed|set|reset)[ \t]+to|is|was|ist|lautet|est|es|to)[ \t]*:?[ \t]+\\*["'`]?([^\s"'`\\,;<>]{3,256}[^\s"'`\\,;<>.!?:)])"#,
        ),
        checks::told,
        "the password is <12>",
    )
    .reaching(16),
    checked(
        "password-in-prose",
        Severity::Medium,
        Kind::Password,
        (
            Near::Text(&["pass"]),
            r#"(?i)\bpass(?:word|phrase|code|wort)[ \t]+\\*["'`]?([^\s"'`\\,;<>(){}]{7,256}[^\s"'`\\,;<>(){}.!?:])"#,
        ),
        checks::mixed,
        "connecting with password a7A<12>",
    )
    .reaching(0),
    checked(ASSIGNMENT, Severity::Medium, Kind::Password, (Near::Name(NameOf::Value, b"=:\xef"), ASSIGNED), checks::assignment, "DB_PASSWORD=<12>"),
    checked(
        "card-number",
        Severity::Medium,
        Kind::Digits,
        (Near::Run(Run::Digits), r"\b([2-6](?:[ -]?[0-9]){12,18})\b"),
        checks::card,
        "4111 1111 1111 1111",
    ),
    checked(
        "iban",
        Severity::Medium,
        Kind::Token,
        (Near::Run(Run::Account), r"\b([A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?)\b"),
        checks::iban,
        "DE89 3704 0044 0532 0130 00",
    ),
    checked(
        "email-address",
        Severity::Low,
        Kind::Email,
        (Near::Text(&["@"]), r"(?i)\b([a-z0-9][a-z0-9._%+-]{0,63}@(?:[a-z0-9-]{1,63}\.){1,6}[a-z]{2,24})\b"),
        checks::email,
        "jane.doe@acme-corp.com",
    )
    .reaching(64),
    checked(
        "home-folder",
        Severity::Low,
        Kind::Password,
        (Near::Text(&["/home/", "/users/", r"\users\"]), r#"(?:(?:^|[^A-Za-z0-9_.~-]|/(?:var|usr|export|mnt|nfs|data))/home/|/Users/|\\+Users\\+)([^/\s"'\\:;,<>|*?$]{2,64})"#),
        checks::user,
        "/home/janedoe/projects",
    )
    .reaching(16),
    checked(HIGH_ENTROPY, Severity::Low, Kind::Token, (Near::Run(Run::Token), r"([A-Za-z0-9+/_-]{24,256}={0,2})"), checks::entropy, "<40>"),
];
