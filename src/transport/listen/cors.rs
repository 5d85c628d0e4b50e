//! Lets web pages of allowed origins use a listener: answers their preflight requests, and permits them to read the
//! responses that mcpreel makes (Fetch Standard, CORS protocol). Access itself is decided by
//! [`Access`](super::origin_check::Access).

use crate::protocol::http::{METHOD, NAME, PROTOCOL_VERSION, SESSION_ID};
use crate::transport::client::http::{Body, empty};
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Response, StatusCode};

const PRIVATE_NETWORK_ASKED: HeaderName = HeaderName::from_static("access-control-request-private-network");
const PRIVATE_NETWORK_ALLOWED: HeaderName = HeaderName::from_static("access-control-allow-private-network");

/// The methods of Streamable HTTP and HTTP+SSE.
const METHODS: HeaderValue = HeaderValue::from_static("GET, POST, DELETE");
/// How long browsers may remember the answer to a preflight request (10 minutes).
const MAX_AGE_SECONDS: HeaderValue = HeaderValue::from_static("600");
/// Request headers of MCP that a page must ask for.
const REQUEST_HEADERS: [&str; 8] =
    ["Content-Type", "Accept", "Authorization", "Last-Event-ID", PROTOCOL_VERSION, SESSION_ID, METHOD, NAME];
/// The beginning of MCP's other request headers, such as those of tool parameters.
const MCP_PREFIX: &str = "mcp-";
/// Response headers that pages may read in addition to those that they always may.
const EXPOSED: HeaderValue =
    HeaderValue::from_static("Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, Retry-After");

/// What a page may learn of the response to one request.
#[derive(Clone, Debug, Default)]
pub(super) struct Cors {
    /// The page's origin, if it is allowed.
    origin: Option<HeaderValue>,
}

impl Cors {
    /// For a request with these headers, which has access or not.
    pub(super) fn of(headers: &HeaderMap, has_access: bool) -> Self {
        Self { origin: headers.get(header::ORIGIN).filter(|_| has_access).cloned() }
    }

    /// The answer to a preflight request of an allowed origin; `None` for other requests.
    pub(super) fn preflight(&self, head: &Parts) -> Option<Response<Body>> {
        let is_preflight = head.method == Method::OPTIONS
            && self.origin.is_some()
            && head.headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
        if !is_preflight {
            return None;
        }
        let mut response = Response::new(empty());
        *response.status_mut() = StatusCode::NO_CONTENT;
        let headers = response.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
        headers.insert(header::ACCESS_CONTROL_MAX_AGE, MAX_AGE_SECONDS);
        if let Ok(allowed) = HeaderValue::try_from(allowed_headers(&head.headers)) {
            headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, allowed);
        }
        if head.headers.get(PRIVATE_NETWORK_ASKED).is_some_and(|asked| asked == "true") {
            headers.insert(PRIVATE_NETWORK_ALLOWED, HeaderValue::from_static("true"));
        }
        for asked in
            [header::ACCESS_CONTROL_REQUEST_METHOD, header::ACCESS_CONTROL_REQUEST_HEADERS, PRIVATE_NETWORK_ASKED]
        {
            headers.append(header::VARY, asked.into());
        }
        Some(response)
    }

    /// Adds what the page may learn to a response of mcpreel's own. Without access, it is only said that another origin
    /// might get another response, so that no cache gives one page the response for another.
    pub(super) fn apply<B>(&self, response: &mut Response<B>) {
        let headers = response.headers_mut();
        headers.append(header::VARY, HeaderValue::from_static("Origin"));
        if let Some(origin) = &self.origin {
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
            headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
        }
    }
}

/// The request headers that a page may send: those of MCP, with those of tool parameters that it asks for.
fn allowed_headers(asked: &HeaderMap) -> String {
    let asked = asked.get_all(header::ACCESS_CONTROL_REQUEST_HEADERS).iter().filter_map(|value| value.to_str().ok());
    let names = asked.flat_map(|value| value.split(',')).filter_map(|name| name.trim().parse::<HeaderName>().ok());
    let is_known = |name: &str| REQUEST_HEADERS.iter().any(|known| known.eq_ignore_ascii_case(name));
    let of_tools = names.filter(|name| name.as_str().starts_with(MCP_PREFIX) && !is_known(name.as_str()));
    let all = REQUEST_HEADERS.iter().map(|name| (*name).to_owned()).chain(of_tools.map(|name| name.to_string()));
    all.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: (&str, &str) = ("origin", "https://app.example");
    const ASKS: (&str, &str) = ("access-control-request-method", "POST");

    fn head(method: &str, headers: &[(&str, &str)]) -> Parts {
        let mut request = hyper::Request::builder().method(method).uri("/mcp");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(()).expect("a request").into_parts().0
    }

    fn text(headers: &HeaderMap, name: &str) -> String {
        let values = headers.get_all(name).iter().map(|value| value.to_str().expect("text"));
        values.collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn a_preflight_of_an_allowed_page_is_answered_with_what_mcp_needs() {
        let asks_more = ("access-control-request-headers", "content-type,mcp-param-region, X-Other ,mcp-session-id");
        let head = head("OPTIONS", &[PAGE, ASKS, asks_more, ("access-control-request-private-network", "true")]);
        let cors = Cors::of(&head.headers, true);
        let mut response = cors.preflight(&head).expect("an answer");
        cors.apply(&mut response);
        assert_eq!(response.status(), 204);
        let headers = response.headers();
        assert_eq!(text(headers, "access-control-allow-origin"), PAGE.1);
        assert_eq!(text(headers, "access-control-allow-methods"), "GET, POST, DELETE");
        let allowed = text(headers, "access-control-allow-headers").to_ascii_lowercase();
        let allowed: Vec<&str> = allowed.split(", ").collect();
        for name in ["content-type", "accept", "authorization", "last-event-id", "mcp-protocol-version", "mcp-method"] {
            assert!(allowed.contains(&name), "{name}: {allowed:?}");
        }
        let times = |name: &str| allowed.iter().filter(|allowed| **allowed == name).count();
        assert_eq!((times("mcp-session-id"), times("mcp-param-region"), times("x-other")), (1, 1, 0), "{allowed:?}");
        assert_eq!(text(headers, "access-control-allow-private-network"), "true");
        assert!(text(headers, "access-control-max-age").parse::<u32>().is_ok());
        let vary = text(headers, "vary").to_ascii_lowercase();
        assert!(vary.contains("access-control-request-headers") && vary.ends_with("origin"), "{vary}");
    }

    #[test]
    fn no_other_request_is_a_preflight_and_nobody_else_learns_anything() {
        let preflight = |method: &str, headers: &[(&str, &str)], has_access| {
            let head = head(method, headers);
            let cors = Cors::of(&head.headers, has_access);
            let mut response = Response::new(empty());
            cors.apply(&mut response);
            let learns = text(response.headers(), "access-control-allow-origin");
            assert_eq!(text(response.headers(), "vary"), "Origin");
            (cors.preflight(&head).is_some(), learns)
        };
        let named = PAGE.1.to_owned();
        assert_eq!(preflight("POST", &[PAGE, ASKS], true), (false, named.clone()));
        assert_eq!(preflight("OPTIONS", &[PAGE], true), (false, named));
        assert_eq!(preflight("OPTIONS", &[ASKS], true), (false, String::new()));
        assert_eq!(preflight("OPTIONS", &[PAGE, ASKS], false), (false, String::new()));
    }
}
