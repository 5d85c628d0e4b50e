//! HTTP POSTs that follow no redirects and read the response up to a limit.

use super::http::{HttpClient, HttpError, full};
use super::plain_body::PlainBody;
use super::proxy_connector::AddressFilter;
use super::remote::Remote;
use bytes::Bytes;
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

/// Posts bodies to one URL.
pub(crate) struct Poster {
    client: HttpClient,
    uri: Uri,
    headers: HeaderMap,
}

impl Poster {
    /// Prepares posts of this media type with the remote's headers, which are secrets. With `permits`, the host's name
    /// must lead to permitted addresses only; an address in the URL itself is not checked.
    ///
    /// # Errors
    /// The URL or a header is invalid.
    pub(crate) fn new(remote: &Remote, media_type: &str, permits: Option<AddressFilter>) -> Result<Self, HttpError> {
        let failed = |why: &dyn std::fmt::Display| HttpError::Url(remote.url.clone(), why.to_string());
        let uri: Uri = remote.url.parse().map_err(|error: http::uri::InvalidUri| failed(&error))?;
        let host = uri.authority().ok_or_else(|| failed(&"it has no host"))?.as_str();
        let value = |text: &str| HeaderValue::from_str(text).map_err(|error| failed(&error));
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, value(host)?);
        headers.insert(header::CONTENT_TYPE, value(media_type)?);
        headers.insert(header::USER_AGENT, HeaderValue::from_static(concat!("mcpreel/", env!("CARGO_PKG_VERSION"))));
        for (name, value) in &remote.headers {
            let failed = |why: &dyn std::fmt::Display| HttpError::Header(name.clone(), why.to_string());
            let key: HeaderName = name.parse().map_err(|error: header::InvalidHeaderName| failed(&error))?;
            let mut value = HeaderValue::from_bytes(value.as_bytes()).map_err(|error| failed(&error))?;
            value.set_sensitive(true);
            headers.insert(key, value);
        }
        // An unencrypted request does not go to a proxy, which could read it.
        let client = match permits {
            Some(permits) => HttpClient::only_to(remote, permits)?,
            None if uri.scheme_str() == Some("http") => HttpClient::straight(remote)?,
            None => HttpClient::new(remote)?,
        };
        Ok(Self { client, uri, headers })
    }

    /// Posts a body and keeps up to `kept` bytes of the response's body.
    ///
    /// # Errors
    /// The server cannot be reached, or the exchange broke off.
    pub(crate) async fn post(&self, body: impl Into<Bytes>, kept: usize) -> Result<Posted, HttpError> {
        let mut request = Request::new(full(body));
        (*request.method_mut(), *request.uri_mut()) = (Method::POST, self.uri.clone());
        *request.headers_mut() = self.headers.clone();
        let (head, mut answered) = PlainBody::of(self.client.send(request).await?).into_parts();
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
}

/// Posts JSON once: see [`Poster`].
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
    let remote = Remote { url: url.to_owned(), headers: headers.to_vec(), ..Remote::default() };
    Poster::new(&remote, "application/json", permits)?.post(body.to_owned(), kept).await
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
