//! Secrets of handlers: a variable of the environment, and the host to which its value may be sent.

use crate::error::CommandError;
use crate::proposals::server::handler_job::Secret;

/// Parses `NAME@HOST` or `NAME@HOST:PORT`. Returns the variable's value, too.
///
/// # Errors
///
/// The word is malformed, or the variable is not set.
pub(crate) fn secret(word: &str) -> Result<(Secret, String), CommandError> {
    let parts = word.split_once('@').filter(|(name, _)| !name.is_empty());
    let parts = parts.and_then(|(name, place)| Some((name, place_of(place)?)));
    let (name, (host, port)) = parts.ok_or_else(|| {
        CommandError::usage(format!("invalid secret {word:?}: expected NAME@HOST or NAME@HOST:PORT"))
            .hint("for example: --handler-secret WEBHOOK_TOKEN@api.example.com:8443")
    })?;
    let value = std::env::var(name).map_err(|_| {
        CommandError::usage(format!("the environment variable {name} is not set"))
            .hint("set it, or omit --handler-secret")
    })?;
    Ok((Secret { name: name.to_owned(), host, port }, value))
}

/// A host, normalised as in parsed URLs, and its port.
fn place_of(text: &str) -> Option<(String, Option<u16>)> {
    let is_bare_address = text.parse::<std::net::Ipv6Addr>().is_ok();
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !is_bare_address && !text.ends_with(']') => {
            let is_number = port.bytes().all(|digit| digit.is_ascii_digit());
            (host.to_owned(), Some(port.parse().ok().filter(|port| is_number && *port != 0)?))
        }
        _ if is_bare_address => (format!("[{text}]"), None),
        _ => (text.to_owned(), None),
    };
    let host = url::Host::parse(&host).ok()?.to_string();
    (!host.contains('*')).then_some((host, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secrets_host_is_found_however_it_is_spelled() {
        let (secret, value) = secret("PATH@API.Example.com").expect("a secret");
        assert_eq!((secret.host.as_str(), Ok(value)), ("api.example.com", std::env::var("PATH")));
    }

    #[test]
    fn a_secrets_place_is_a_host_and_a_port() {
        for (text, host, port) in [
            ("h", "h", None),
            ("h:8443", "h", Some(8443)),
            ("127.0.0.1:1", "127.0.0.1", Some(1)),
            ("[::1]", "[::1]", None),
            ("[0:0::1]:8443", "[::1]", Some(8443)),
            ("::1", "[::1]", None),
        ] {
            assert_eq!(place_of(text), Some((host.to_owned(), port)), "{text}");
        }
        for none in ["", ":80", "h:", "h:x", "h:0", "h:65536", "h:+1", "[::1", "::1]:80", "h/x", "a b", "u@h", "h:1:2"]
        {
            assert_eq!(place_of(none), None, "{none}");
        }
    }

    #[test]
    fn a_secret_is_for_its_port_alone() {
        let is_for = |place: &str, url: &str| {
            let (secret, _) = secret(&format!("PATH@{place}")).expect("a secret");
            secret.is_for(&url::Url::parse(url).expect("a URL"))
        };
        for (place, url) in [
            ("h", "https://h/x"),
            ("h", "https://h:443/"),
            ("h", "http://h/"),
            ("h:8443", "https://h:8443/"),
            ("h:443", "https://h/"),
            ("::1", "http://[::1]/"),
            ("[::1]:81", "http://[0:0:0:0:0:0:0:1]:81/"),
        ] {
            assert!(is_for(place, url), "{place} {url}");
        }
        for (place, url) in [
            ("h", "https://h:8443/"),
            ("h", "http://h:443/"),
            ("h", "https://h:80/"),
            ("h:8443", "https://h/"),
            ("h:443", "http://h/"),
            ("h:81", "http://h:82/"),
            ("[::1]:81", "http://[::1]/"),
            ("h", "https://x.h/"),
        ] {
            assert!(!is_for(place, url), "{place} {url}");
        }
    }
}
