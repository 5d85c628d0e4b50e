//! HTTP as it is used here: one client with one way to connect, and what can be seen of an exchange as it passes.
//!
//! Header names keep their spelling on both sides, since what passes is recorded as it was.

use super::remote::Remote;
use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Empty, Full};
use hyper::body::Incoming;
use hyper::{Request, Response, http};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Why a body broke off.
pub type BodyError = Box<dyn Error + Send + Sync>;
/// A body that is sent.
pub type Body = UnsyncBoxBody<Bytes, BodyError>;

/// A body of these bytes.
pub fn full(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into()).map_err(|never| match never {}).boxed_unsync()
}

/// No body.
pub fn empty() -> Body {
    Empty::new().map_err(|never| match never {}).boxed_unsync()
}

/// Why an exchange did not come about.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// The URL is none, or of a kind that is not spoken.
    #[error("{0:?} is no URL to attach to: {1}")]
    Url(String, String),
    /// A header cannot be sent.
    #[error("the header {0:?} cannot be sent: {1}")]
    Header(String, String),
    /// The certificates cannot be read.
    #[error("cannot read certificates from {0:?}: {1}")]
    Certificates(PathBuf, String),
    /// A body that is to be sent has more bytes than these.
    #[error("the body is longer than {0} bytes")]
    TooLong(u64),
    /// There is no connection, or it broke before the response.
    #[error("{0}")]
    Exchange(String),
}

/// What is seen of one exchange after the request's head, in order. `None` as a reason means that it came to its end as it should.
#[derive(Debug)]
pub enum Seen<'a> {
    /// Some bytes of the request's body.
    RequestBody(&'a [u8]),
    /// Its body is over; or it broke off, with the reason.
    RequestEnd(Option<&'a str>),
    /// The response's head.
    Response(&'a http::response::Parts),
    /// Some bytes of its body.
    ResponseBody(&'a [u8]),
    /// Its body is over; or the exchange broke off, with the reason.
    ResponseEnd(Option<&'a str>),
}

/// Sees every exchange, each by a number of its own.
pub trait Watch: Send + Sync {
    /// A new exchange on a connection of the client's (numbered by the caller, from 1), with the request's head.
    /// Answers the exchange's number.
    fn begin(&self, connection: u32, head: &http::request::Parts) -> u32;
    /// Something passed.
    fn see(&self, exchange: u32, seen: Seen<'_>);
    /// A client's connection is over.
    fn hung_up(&self, connection: u32);
}

/// Speaks HTTP/1.1 to one server, over as many connections as there are exchanges at once.
#[derive(Clone)]
pub struct HttpClient {
    client: Client<HttpsConnector<HttpConnector>, Body>,
}

/// How long a connection may take to come about.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long an idle connection is kept.
const IDLE: Duration = Duration::from_secs(30);

impl HttpClient {
    /// A client for this server; nothing is connected yet.
    pub fn new(remote: &Remote) -> Result<Self, HttpError> {
        let mut connector = HttpConnector::new();
        connector.enforce_http(false);
        connector.set_nodelay(true);
        connector.set_connect_timeout(Some(CONNECT_TIMEOUT));
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(super::tls::config(remote)?)
            .https_or_http()
            .enable_http1()
            .wrap_connector(connector);
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .http1_preserve_header_case(true)
            .http1_max_headers(512)
            .set_host(false)
            .build(connector);
        Ok(Self { client })
    }

    /// Sends a request, waits for the response's head.
    pub async fn send(&self, request: Request<Body>) -> Result<Response<Incoming>, HttpError> {
        self.client.request(request).await.map_err(|error| {
            let mut causes = std::iter::successors(error.source(), |cause| (*cause).source());
            match causes.find_map(|cause| cause.downcast_ref()) {
                Some(HttpError::TooLong(limit)) => HttpError::TooLong(*limit),
                _ => HttpError::Exchange(whole(&error)),
            }
        })
    }
}

/// An error with all that caused it.
pub fn whole(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(found) = cause {
        let said = found.to_string();
        if !text.contains(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        cause = found.source();
    }
    text
}

/// A watch that looks away.
pub struct Unwatched;

impl Watch for Unwatched {
    fn begin(&self, _connection: u32, _head: &http::request::Parts) -> u32 {
        0
    }

    fn see(&self, _exchange: u32, _seen: Seen<'_>) {}

    fn hung_up(&self, _connection: u32) {}
}

/// How a watch is shared.
pub type SharedWatch = Arc<dyn Watch>;
