//! Removes secrets from command lines, URLs and headers before they are stored.

use std::borrow::Cow;

/// The replacement for a secret.
pub(crate) const REDACTED: &str = "[redacted]";

/// Parts of a flag's or variable's name that suggest a secret.
const REPORTING: [&str; 11] = [
    "token",
    "secret",
    "password",
    "passwd",
    "apikey",
    "api-key",
    "api_key",
    "credential",
    "bearer",
    "private-key",
    "auth",
];

/// Prefixes of well-known tokens.
const PREFIXES: [&str; 14] = [
    "sk-",
    "sk_live_",
    "sk_test_",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xoxa-",
    "AKIA",
    "eyJhbGci",
    "npm_",
];

/// Returns whether a name suggests that its value is a secret.
pub(crate) fn is_reporting(name: &str) -> bool {
    reports(&name.to_ascii_lowercase())
}

/// Does the same for a name in lower case.
fn reports(name: &str) -> bool {
    let name = name.trim_start_matches('-');
    REPORTING.iter().any(|part| name.contains(part)) && name != "author" && name != "authors"
        || name == "key"
        || name.ends_with("-key")
        || name.ends_with("_key")
        || name == "pat"
}

/// Replaces the secrets in arguments.
pub fn redact_arguments(arguments: &[String]) -> Vec<String> {
    let mut value_is_secret = false;
    arguments
        .iter()
        .map(|argument| {
            let after_reporting_flag = std::mem::replace(&mut value_is_secret, false);
            if after_reporting_flag && !argument.starts_with('-') {
                return REDACTED.to_owned();
            }
            value_is_secret = argument.starts_with('-') && !argument.contains('=') && is_reporting(argument);
            redact_argument(argument)
        })
        .collect()
}

fn redact_argument(argument: &str) -> String {
    if PREFIXES.iter().any(|prefix| argument.starts_with(prefix)) && argument.len() >= 12 {
        return REDACTED.to_owned();
    }
    if argument.contains("://") {
        return redact_url(argument);
    }
    for separator in ['=', ':'] {
        if let Some((name, value)) = argument.split_once(separator)
            && !value.is_empty()
            && !name.contains(char::is_whitespace)
        {
            if is_reporting(name) || PREFIXES.iter().any(|prefix| value.trim_start().starts_with(prefix)) {
                return format!("{name}{separator}{REDACTED}");
            }
            if value.contains("://") {
                return format!("{name}{separator}{}", redact_url(value));
            }
        }
    }
    argument.to_owned()
}

/// Removes user information and the values of secret query parameters from a URL.
pub(crate) fn redact_url(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at(end);
    let host = match authority.rsplit_once('@') {
        Some((_, host)) => format!("{REDACTED}@{host}"),
        None => authority.to_owned(),
    };
    format!("{scheme}://{host}{}", redact_target(tail))
}

/// Removes the values of secret query parameters from a request target (path and query).
pub(crate) fn redact_target(target: &str) -> String {
    let Some((path, query)) = target.split_once('?') else { return target.to_owned() };
    let query: Vec<String> = query
        .split('&')
        .map(|pair| match pair.split_once('=') {
            Some((name, _)) if is_reporting(name) => format!("{name}={REDACTED}"),
            _ => pair.to_owned(),
        })
        .collect();
    format!("{path}?{}", query.join("&"))
}

/// Redacts a header value; `name` must be in lower case. Of a credential, only the scheme remains. A server's challenge
/// is not secret.
pub fn redact_header<'a>(name: &str, value: &'a str) -> Cow<'a, str> {
    let asks = name.ends_with("-authenticate") || name.starts_with("sec-websocket-");
    if asks || !reports(name) && name != "cookie" && name != "set-cookie" {
        // A URL or a relative reference (Location, Referer, Link).
        return match value.contains("://") {
            true => redact_url(value).into(),
            false if value.contains('?') => redact_target(value).into(),
            false => value.into(),
        };
    }
    match value.split_once(' ') {
        Some((scheme, _)) if name.ends_with("authorization") => format!("{scheme} {REDACTED}").into(),
        _ => REDACTED.into(),
    }
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
    fn headers_keep_the_scheme_of_their_credentials() {
        assert_eq!(redact_header("authorization", "Bearer abc"), "Bearer [redacted]");
        assert_eq!(redact_header("x-api-key", "abc"), "[redacted]");
        assert_eq!(redact_header("set-cookie", "a=b; Path=/"), "[redacted]");
        assert_eq!(redact_header("www-authenticate", "Bearer realm=x"), "Bearer realm=x");
        assert_eq!(redact_header("content-type", "application/json"), "application/json");
        assert_eq!(redact_header("location", "/back?token=abc&x=1"), "/back?token=[redacted]&x=1");
        assert_eq!(redact_target("/sse?token=abc&x=1"), "/sse?token=[redacted]&x=1");
    }
}
