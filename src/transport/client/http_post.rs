//! A single HTTP POST of JSON that follows no redirects and reads the response up to a limit.

use super::http::{HttpClient, HttpError, full};
use super::proxy_connector::AddressFilter;
use super::remote::Remote;
use http_body_util::BodyExt;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Uri, http};

/// The maximum bytes to read of a response; then the connection is closed.
const MAX_READ: u64 = 1 << 20;

/// The response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Posted {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The beginning of the body.
    pub body: Vec<u8>,
    /// The length of the body, as far as it was read.
    pub bytes: u64,
}

/// Posts JSON with these headers and keeps up to `kept` bytes of the response's body. With `permits`, the host's name
/// must lead to permitted addresses only; an address in the URL itself is not checked.
///
/// # Errors
/// The URL or a header is invalid, the server cannot be reached, or the exchange broke off.
pub(crate) async fn post(
    url: &str,
    headers: &[(String, String)],
    body: &str,
    kept: usize,
    permits: Option<AddressFilter>,
) -> Result<Posted, HttpError> {
    let failed = |why: &dyn std::fmt::Display| HttpError::Url(url.to_owned(), why.to_string());
    let uri: Uri = url.parse().map_err(|error: http::uri::InvalidUri| failed(&error))?;
    let is_plain = uri.scheme_str() == Some("http");
    let host = uri.authority().ok_or_else(|| failed(&"it has no host"))?.to_string();
    let mut request = Request::builder().method(Method::POST).uri(uri).body(full(body.to_owned()));
    if let Ok(request) = &mut request {
        let all = request.headers_mut();
        all.insert(header::HOST, HeaderValue::from_str(&host).map_err(|error| failed(&error))?);
        all.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        all.insert(header::USER_AGENT, HeaderValue::from_static(concat!("mcpreel/", env!("CARGO_PKG_VERSION"))));
        for (name, value) in headers {
            let failed = |why: &dyn std::fmt::Display| HttpError::Header(name.clone(), why.to_string());
            let key: HeaderName = name.parse().map_err(|error: header::InvalidHeaderName| failed(&error))?;
            let mut value = HeaderValue::from_bytes(value.as_bytes()).map_err(|error| failed(&error))?;
            value.set_sensitive(true);
            all.insert(key, value);
        }
    }
    let request = request.map_err(|error| failed(&error))?;
    let remote = Remote { url: url.to_owned(), ..Remote::default() };
    // An unencrypted request does not go to a proxy, which could read it.
    let client = match permits {
        Some(permits) => HttpClient::only_to(&remote, permits)?,
        None if is_plain => HttpClient::straight(&remote)?,
        None => HttpClient::new(&remote)?,
    };
    let (head, mut answered) = client.send(request).await?.into_parts();
    let mut posted = Posted { status: head.status.as_u16(), headers: head.headers, body: Vec::new(), bytes: 0 };
    while posted.bytes < MAX_READ
        && let Some(frame) = answered.frame().await
    {
        // The status is known, so a body that breaks off is accepted as it is.
        let Ok(frame) = frame else { break };
        let Ok(bytes) = frame.into_data() else { continue };
        let space = kept.saturating_sub(posted.body.len()).min(bytes.len());
        posted.body.extend_from_slice(&bytes[..space]);
        posted.bytes += bytes.len() as u64;
    }
    Ok(posted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn e34_a_name_must_lead_to_permitted_addresses() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("https://localhost:{}/", listener.local_addr().expect("an address").port());
        let refused = post(&url, &[], "{}", 9, Some(|_| false)).await;
        assert!(
            matches!(&refused, Err(HttpError::Address(name, at)) if name == "localhost" && at.is_loopback()),
            "{refused:?}"
        );
        listener.set_nonblocking(true).expect("set");
        assert!(listener.accept().is_err(), "nobody connected");
    }
}
