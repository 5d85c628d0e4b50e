//! Access checks for listeners: examines Host, Origin and Sec-Fetch-Site to prevent DNS rebinding and access by other
//! sites' web pages (MCP, Transports, Security), and rejects requests that two readers could interpret differently.
//!
//! A web page can make any name resolve to this machine, but it cannot keep the browser from sending that name in
//! `Host` and `Origin`. So names other than this machine's are refused unless the user allows them. For images and
//! links, browsers send no `Origin`, but `Sec-Fetch-Site` says whether another site is the cause.

use super::watched::AmbiguousLength;
use hyper::StatusCode;
use hyper::header::{CONTENT_TYPE, HOST, HeaderMap, HeaderName, ORIGIN};
use hyper::http::request::Parts;
use std::borrow::Cow;
use std::net::{IpAddr, Ipv6Addr};
use url::Url;

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// What is allowed in addition to this machine's own names.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// Additional names for `Host`.
    pub hosts: Vec<String>,
    /// Additional origins, such as `https://example.org`.
    pub origins: Vec<String>,
}

/// The status and reason of a refusal.
type Refused = (StatusCode, String);

impl Access {
    /// Checks a request's head.
    ///
    /// # Errors
    /// Status and reason: 400 if the head is ambiguous, 403 if its sender has no access.
    pub fn check(&self, head: &Parts) -> Result<(), Refused> {
        let host = host(head, |target| self.check_name(target, "the target's host"))?;
        self.check_name(&host, "Host")?;
        match only(&head.headers, ORIGIN)? {
            Some(origin) => self.check_origin(&origin, &host),
            None => check_site(&head.headers),
        }
    }

    /// Whether a page may read why its request is refused. What the request says about its own host does not count.
    pub(super) fn admits_page(&self, headers: &HeaderMap) -> bool {
        let Ok(Some(origin)) = only(headers, ORIGIN) else { return false };
        Authority::of_origin(&origin).is_some_and(|from| from.is_local()) || self.lists(&origin)
    }

    fn lists(&self, origin: &str) -> bool {
        self.origins.iter().any(|allowed| allowed.eq_ignore_ascii_case(origin))
    }

    fn check_name(&self, host: &Authority, what: &str) -> Result<(), Refused> {
        let name = &host.name;
        // Browsers connect 0.0.0.0 to this machine, but do not send Sec-Fetch-Site for it.
        let is_address = name.parse::<IpAddr>().is_ok_and(|address| !address.is_unspecified());
        if is_address || host.is_local() || self.hosts.iter().any(|allowed| allowed.eq_ignore_ascii_case(name)) {
            return Ok(());
        }
        Err((StatusCode::FORBIDDEN, format!("{what} {name:?} is not this machine; allow it with --allow-host {name}")))
    }

    fn check_origin(&self, origin: &str, host: &Authority) -> Result<(), Refused> {
        let is_from_here = Authority::of_origin(origin).is_some_and(|from| from.is_local() || from.is_same(host));
        if is_from_here || self.lists(origin) {
            return Ok(());
        }
        let reason = format!("Origin {origin:?} is not this machine; allow it with --allow-origin {origin}");
        Err((StatusCode::FORBIDDEN, reason))
    }
}

/// The host that a request is for.
///
/// # Errors
/// Status and reason: the head is ambiguous, or its target is refused by `check_target`.
fn host(head: &Parts, check_target: impl Fn(&Authority) -> Result<(), Refused>) -> Result<Authority, Refused> {
    let malformed = |reason: String| Err((StatusCode::BAD_REQUEST, reason));
    if let Some(AmbiguousLength(reason)) = head.extensions.get() {
        return malformed((*reason).to_owned());
    }
    let Some(given) = only(&head.headers, HOST)? else { return malformed("the request has no Host".into()) };
    let Some(host) = Authority::read(&given) else { return malformed(format!("invalid Host {given:?}")) };
    if let Some(target) = head.uri.authority() {
        let Some(target) = Authority::read(target.as_str()) else {
            return malformed(format!("the request's target has an invalid host: {target:?}"));
        };
        check_target(&target)?;
        if !target.is_same(&host) {
            return malformed(format!("the request's target and its Host {given:?} name different hosts"));
        }
    }
    Ok(host)
}

/// Whether a request is for this port of this machine, whatever page it comes from. Only the listener for logins, which
/// has a check of its own, accepts requests of other sites.
pub(super) fn is_for_loopback(head: &Parts, port: u16) -> bool {
    host(head, |_| Ok(())).is_ok_and(|host| host.is_local() && host.port == Some(port))
}

/// Rejects a request without an Origin (as browsers send for images and links) if it comes from another site's page.
fn check_site(headers: &HeaderMap) -> Result<(), Refused> {
    let is_own = |site: &[u8]| site.eq_ignore_ascii_case(b"same-origin") || site.eq_ignore_ascii_case(b"none");
    match headers.get_all(FETCH_SITE).iter().find(|site| !is_own(site.as_bytes())) {
        None => Ok(()),
        Some(site) => {
            let site = String::from_utf8_lossy(site.as_bytes());
            let reason =
                format!("a page of another site sent this request (Sec-Fetch-Site {site:?}) without an Origin");
            Err((StatusCode::FORBIDDEN, reason))
        }
    }
}

/// Whether a body is declared as JSON. Web pages can send other types to any site without a preflight request.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let Ok(Some(kind)) = only(headers, CONTENT_TYPE) else { return false };
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    kind == "application/json" || (kind.starts_with("application/") && kind.ends_with("+json"))
}

/// The only value of a header; an error if there are several, because readers may choose differently.
fn only(headers: &HeaderMap, name: HeaderName) -> Result<Option<Cow<'_, str>>, Refused> {
    let mut values = headers.get_all(&name).iter();
    let value = values.next().map(|value| String::from_utf8_lossy(value.as_bytes()));
    match values.next() {
        None => Ok(value),
        Some(_) => Err((StatusCode::BAD_REQUEST, format!("the request has more than one {name}"))),
    }
}

/// A host as in `Host`, in an origin, or in a request's target.
struct Authority {
    /// A name in lower case without a final dot, or an address.
    name: String,
    port: Option<u16>,
}

impl Authority {
    /// `None` unless the text is a name or address with an optional port, because two readers could interpret it
    /// differently.
    fn read(text: &str) -> Option<Self> {
        let (name, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (address, port) = rest.split_once(']')?;
                address.parse::<Ipv6Addr>().ok()?;
                (address, port)
            }
            None => {
                let (name, port) = text.split_at(text.find(':').unwrap_or(text.len()));
                let name = name.strip_suffix('.').unwrap_or(name);
                let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
                let is_label = |label: &[u8]| !label.is_empty() && label.iter().all(is_plain);
                name.as_bytes().split(|byte| *byte == b'.').all(is_label).then_some((name, port))?
            }
        };
        let port = match port.strip_prefix(':') {
            // An empty port means the default (RFC 3986 §3.2.3).
            Some("") => None,
            Some(digits) => Some(digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())??),
            None => port.is_empty().then_some(None)?,
        };
        Some(Self { name: name.to_ascii_lowercase(), port })
    }

    /// `None` unless the origin is a URL of a scheme that has hosts: not `file://localhost`, and not `http:/a://localhost`,
    /// in which browsers read the host `a`.
    fn of_origin(origin: &str) -> Option<Self> {
        let (scheme, authority) = origin.split_once("://")?;
        let is_scheme = !scheme.contains([':', '/', '\\']) && Url::parse(origin).is_ok_and(|url| url.has_host());
        is_scheme.then(|| Self::read(authority))?
    }

    fn is_local(&self) -> bool {
        let name = &self.name;
        name == "localhost" || name.ends_with(".localhost") || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
    }

    fn is_same(&self, other: &Self) -> bool {
        const HTTP: u16 = 80;
        self.name == other.name && self.port.unwrap_or(HTTP) == other.port.unwrap_or(HTTP)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The status of a refusal; 200 if the request is allowed.
    fn status(access: &Access, target: &str, headers: &[(&str, &str)]) -> u16 {
        let mut request = hyper::Request::builder().uri(target);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (head, ()) = request.body(()).expect("a request").into_parts();
        access.check(&head).err().map_or(200, |(status, _)| status.as_u16())
    }

    fn check(access: &Access, host: &str, origin: Option<&str>) -> u16 {
        let headers: Vec<_> = [("host", host)].into_iter().chain(origin.map(|origin| ("origin", origin))).collect();
        status(access, "/mcp", &headers)
    }

    #[test]
    fn names_of_this_machine_pass_and_others_do_not() {
        let access = Access::default();
        for host in [
            "localhost",
            "LOCALHOST:8080",
            "localhost.",
            "localhost.:80",
            "localhost:",
            "127.0.0.1:1",
            "[::1]:9",
            "[::1]",
            "192.168.0.4:80",
            "app.localhost",
        ] {
            assert_eq!(check(&access, host, None), 200, "{host}");
        }
        for host in ["evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example"] {
            assert_eq!(check(&access, host, None), 403, "{host}");
        }
        assert_eq!(status(&access, "/mcp", &[]), 400);
    }

    #[test]
    fn what_could_be_read_in_two_ways_is_refused() {
        let access = Access::default();
        for host in [
            "",
            ".",
            "localhost..",
            "localhost:abc",
            "localhost:99999",
            "localhost:+80",
            "localhost:80:80",
            "localhost:-1",
            "user@localhost",
            "localhost/evil.example",
            "local host",
            "localhost, evil.example",
            "::1",
            "[::1",
            "[::1]x",
            "[evil.example]",
            "[127.0.0.1]",
        ] {
            assert_eq!(check(&access, host, None), 400, "{host}");
        }
        let twice = |name, one, two| status(&access, "/mcp", &[("host", "localhost"), (name, one), (name, two)]);
        assert_eq!(twice("host", "localhost", "localhost"), 400);
        assert_eq!(twice("origin", "http://localhost", "http://localhost"), 400);
        assert_eq!(twice("origin", "http://localhost", "https://evil.example"), 400);
    }

    #[test]
    fn a_target_with_a_host_names_the_same_one() {
        let access = Access::default();
        let target = |target, host| status(&access, target, &[("host", host)]);
        assert_eq!(target("http://localhost:3000/mcp", "localhost:3000"), 200);
        assert_eq!(target("http://LOCALHOST./mcp", "localhost:80"), 200);
        assert_eq!(target("http://evil.example/mcp", "localhost"), 403);
        assert_eq!(target("http://evil.example/mcp", "evil.example"), 403);
        assert_eq!(target("http://localhost:3000/mcp", "localhost:3001"), 400);
        assert_eq!(target("http://127.0.0.1/mcp", "localhost"), 400);
        assert_eq!(target("http://evil.example@localhost/mcp", "localhost"), 400);
    }

    #[test]
    fn an_origin_is_of_this_machine_or_the_same() {
        let access = Access::default();
        let here = ["http://localhost:6274", "https://127.0.0.1", "http://[::1]:3", "http://192.168.0.4:80"];
        for origin in here.into_iter().chain(["tauri://localhost", "HTTP://LocalHost", "app://LocalHost"]) {
            assert_eq!(check(&access, "192.168.0.4:80", Some(origin)), 200, "{origin}");
        }
        for origin in [
            "null",
            "https://evil.example",
            "http://6.6.6.6",
            "http://localhost.evil.example",
            "http://localhost..",
            "http://localhost:abc",
            "http://localhost:99999",
            "http://localhost@evil.example",
            "ht%p://localhost",
            "://localhost",
            "file://localhost",
            "http:/a://localhost",
            "http:+/a http://localhost",
            "http:a\\://localhost",
        ] {
            assert_eq!(check(&access, "127.0.0.1:80", Some(origin)), 403, "{origin}");
        }
    }

    #[test]
    fn a_page_of_another_site_is_let_in_by_its_origin_only() {
        let mine = Access { origins: vec!["https://app.example".into()], ..Access::default() };
        let from = |site, origin: Option<&'static str>| {
            let headers = [("host", "localhost:3000"), ("sec-fetch-site", site)];
            let headers: Vec<_> = headers.into_iter().chain(origin.map(|origin| ("origin", origin))).collect();
            status(&mine, "/sse", &headers)
        };
        // An image, a link, a form's GET; an unknown value.
        for site in ["cross-site", "same-site", "Cross-Site", "other"] {
            assert_eq!(from(site, None), 403, "{site}");
        }
        assert_eq!((from("none", None), from("same-origin", None)), (200, 200), "the user, or a page of our own");
        assert_eq!(from("same-site", Some("http://localhost:6274")), 200, "a client in a browser");
        assert_eq!(from("cross-site", Some("https://app.example")), 200, "the user allows it");
        assert_eq!(from("cross-site", Some("https://evil.example")), 403);
    }

    #[test]
    fn the_user_may_allow_more() {
        let access = Access { hosts: vec!["dev.example".into()], origins: vec!["https://app.example".into()] };
        assert_eq!(check(&access, "dev.example:80", Some("https://app.example")), 200);
        assert_eq!(check(&access, "dev.example:80", Some("https://other.example")), 403);
    }
}
