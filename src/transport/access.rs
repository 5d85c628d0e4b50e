//! Who may talk to a listener: a check of Host and Origin against DNS rebinding (MCP, transports, security).
//!
//! A page in a browser can make any name resolve to this machine; it cannot make the browser leave that name out of
//! `Host` and `Origin`. So names other than those of this machine are refused, unless the user allows them.

use hyper::header::{HOST, HeaderMap, ORIGIN};
use std::net::IpAddr;

/// What is allowed beyond this machine's own names.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// More names that `Host` may have.
    pub hosts: Vec<String>,
    /// More origins, as in `https://example.org`.
    pub origins: Vec<String>,
}

impl Access {
    /// Why a request with these headers is refused; `Ok` where it is not.
    pub fn check(&self, headers: &HeaderMap) -> Result<(), String> {
        let text = |value: &hyper::header::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let Some(host) = headers.get(HOST).map(text) else {
            return Err("the request has no Host".into());
        };
        let name = host_name(&host);
        let is_address = name.parse::<IpAddr>().is_ok();
        if !is_address && !is_local(name) && !self.hosts.iter().any(|allowed| allowed.eq_ignore_ascii_case(name)) {
            return Err(format!("Host {host:?} is not this machine; --allow-host {name} lets it in"));
        }
        let Some(origin) = headers.get(ORIGIN).map(text) else { return Ok(()) };
        let authority = origin.split_once("://").map_or("", |(_, authority)| authority);
        let from_here = is_local(host_name(authority)) || authority.eq_ignore_ascii_case(&host);
        if from_here || self.origins.iter().any(|allowed| allowed.eq_ignore_ascii_case(&origin)) {
            return Ok(());
        }
        Err(format!("Origin {origin:?} is not this machine; --allow-origin {origin} lets it in"))
    }
}

/// An authority without its port, an IPv6 address without its brackets.
fn host_name(authority: &str) -> &str {
    if let Some(rest) = authority.strip_prefix('[') {
        return rest.split(']').next().unwrap_or(rest);
    }
    authority.rsplit_once(':').map_or(authority, |(name, _)| name)
}

fn is_local(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost") || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(access: &Access, host: &str, origin: Option<&str>) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, host.parse().expect("a value"));
        if let Some(origin) = origin {
            headers.insert(ORIGIN, origin.parse().expect("a value"));
        }
        access.check(&headers).is_ok()
    }

    #[test]
    fn names_of_this_machine_pass_and_others_do_not() {
        let access = Access::default();
        for host in ["localhost", "localhost:8080", "127.0.0.1:1", "[::1]:9", "192.168.0.4:80", "app.localhost"] {
            assert!(check(&access, host, None), "{host}");
        }
        for host in ["evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example"] {
            assert!(!check(&access, host, None), "{host}");
        }
        assert!(access.check(&HeaderMap::new()).is_err());
    }

    #[test]
    fn an_origin_is_of_this_machine_or_the_same() {
        let access = Access::default();
        for origin in ["http://localhost:6274", "https://127.0.0.1", "http://[::1]:3", "http://192.168.0.4:80"] {
            assert!(check(&access, "192.168.0.4:80", Some(origin)), "{origin}");
        }
        for origin in ["null", "https://evil.example", "http://6.6.6.6", "http://localhost.evil.example"] {
            assert!(!check(&access, "127.0.0.1:80", Some(origin)), "{origin}");
        }
    }

    #[test]
    fn the_user_may_allow_more() {
        let access = Access { hosts: vec!["dev.example".into()], origins: vec!["https://app.example".into()] };
        assert!(check(&access, "dev.example:80", Some("https://app.example")));
        assert!(!check(&access, "dev.example:80", Some("https://other.example")));
    }
}
