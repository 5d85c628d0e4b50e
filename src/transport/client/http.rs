//! The HTTP client, and the interface for observing exchanges.
//!
//! Header names keep their spelling in both directions, because exchanges are recorded as they are.

use super::error_response::TOKEN_ADVICE;
use super::proxy_connector::{AddressFilter, ProxyConnector, UnknownName};
use super::remote::Remote;
use crate::transport::coding::ACCEPTED;
use crate::wire::Direction;
use crate::wire::text::error_chain;
use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Empty, Full};
use hyper::body::Incoming;
use hyper::{Request, Response, Uri, http};
use hyper_rustls::{HttpsConnector, MaybeHttpsStream};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use std::error::Error;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tower_service::Service;

/// Why a body broke off.
pub(crate) type BodyError = Box<dyn Error + Send + Sync>;
/// A body to send.
pub(crate) type Body = UnsyncBoxBody<Bytes, BodyError>;

/// A body with these bytes.
pub(crate) fn full(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into()).map_err(|never| match never {}).boxed_unsync()
}

/// An empty body.
pub(crate) fn empty() -> Body {
    Empty::new().map_err(|never| match never {}).boxed_unsync()
}

/// Why an exchange failed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum HttpError {
    /// The URL is invalid, or its scheme is not supported.
    #[error("invalid URL {0:?}: {1}")]
    Url(String, String),
    /// A header cannot be sent.
    #[error("cannot send the header {0:?}: {1}")]
    Header(String, String),
    /// The certificates cannot be read.
    #[error("cannot read certificates from {0:?}: {1}")]
    Certificates(PathBuf, String),
    /// The body to send is longer than this limit, in bytes.
    #[error("the body is longer than {0} bytes")]
    TooLong(u64),
    /// No connection, or it broke before the response.
    #[error("{0}")]
    Exchange(String),
    /// The connection was refused.
    #[error("{0}")]
    Refused(String),
    /// The host name is unknown.
    #[error("{0}")]
    UnknownHost(String),
    /// The server's certificate is not trusted.
    #[error("{0}")]
    Certificate(String),
    /// The server uses a certificate authority's certificate as its own.
    #[error("{0}")]
    Authority(String),
    /// TLS was used on a port that does not support it.
    #[error("{0}")]
    NoTls(String),
    /// A plain HTTP request got no answer, or one that is not HTTP; the port may require TLS.
    #[error("{0}")]
    NoHttp(String),
    /// The server does not accept a WebSocket.
    #[error("{0}")]
    NoWebSocket(String),
    /// The server requires authentication.
    #[error("{0}")]
    Token(String),
    /// The server redirects to a place that mcpreel does not follow.
    #[error("{0}")]
    Redirect(String),
    /// The user's login failed; the second text says what to do next, if known.
    #[error("{0}")]
    Login(String, Option<&'static str>),
    /// A proxy from the environment failed.
    #[error("{0}")]
    Proxy(String),
    /// The host has an address that the caller does not permit.
    #[error("{0} is at {1}, which is not a public address")]
    Address(String, IpAddr),
}

impl HttpError {
    /// What to do next, if known.
    pub fn advice(&self) -> Option<&'static str> {
        Some(match self {
            Self::Url(..) => "a URL is like https://host/mcp, wss://host/path, unix:/path/to/socket or tcp:host:port",
            Self::Refused(_) => "is the server running, and is the port right?",
            Self::UnknownHost(_) => "is the host name right?",
            Self::Certificate(_) => "trust its certificate with --cacert FILE, or skip the check with --insecure",
            Self::Authority(_) => {
                "the server uses the certificate of a certificate authority as its own, which is refused even if it is \
                 trusted: give the server one made with CA:FALSE and pass that with --cacert FILE, or skip the \
                 check with --insecure"
            }
            Self::NoTls(_) => "this port does not use TLS: try http:// (or ws://)",
            Self::NoHttp(_) => "if this port uses TLS, try https://",
            Self::NoWebSocket(_) => {
                "if the server uses Streamable HTTP, try http:// or https://; for a WebSocket over TLS, try \
                 wss://"
            }
            Self::Token(_) => TOKEN_ADVICE,
            Self::Login(_, advice) => return *advice,
            Self::Proxy(_) => "the proxy is set by HTTP_PROXY, HTTPS_PROXY or ALL_PROXY; NO_PROXY excludes hosts",
            Self::Redirect(_) => "if you trust the target, pass its URL with --url",
            Self::Header(..) | Self::Certificates(..) | Self::TooLong(_) | Self::Exchange(_) | Self::Address(..) => {
                return None;
            }
        })
    }

    /// Determines from an error and its causes why `place` cannot be reached.
    pub(crate) fn unreachable(place: &str, error: &(dyn Error + 'static)) -> Self {
        Self::read(place, format!("cannot reach {place}: {}", error_chain(error)), error)
    }

    /// The error of an exchange that broke off before its response.
    pub(crate) fn of_exchange(place: &str, error: &(dyn Error + 'static)) -> Self {
        let mut causes = std::iter::successors(Some(error), |cause| (*cause).source());
        if let Some(Self::TooLong(limit)) = causes.find_map(|cause| cause.downcast_ref()) {
            return Self::TooLong(*limit);
        }
        Self::read(place, format!("the exchange with {place} broke off: {}", error_chain(error)), error)
    }

    fn read(place: &str, reported: String, error: &(dyn Error + 'static)) -> Self {
        let mut cause = Some(error);
        while let Some(found) = cause {
            if let Some(known) = found.downcast_ref::<Self>() {
                return known.clone();
            }
            if found.downcast_ref().is_some_and(hyper::Error::is_parse_too_large) {
                return Self::Exchange(format!(
                    "{place} answered with headers of more than {} KiB",
                    MAX_HEAD_BYTES >> 10
                ));
            }
            if found.is::<UnknownName>() {
                return Self::UnknownHost(reported);
            }
            match found.downcast_ref() {
                // The library has no type for this case, only this name.
                Some(rustls::Error::InvalidCertificate(why)) if format!("{why:?}").contains("CaUsedAsEndEntity") => {
                    return Self::Authority(reported);
                }
                Some(rustls::Error::InvalidCertificate(_)) => return Self::Certificate(reported),
                Some(rustls::Error::InvalidMessage(rustls::InvalidMessage::InvalidContentType)) => {
                    return Self::NoTls(reported);
                }
                _ => {}
            }
            let answers_oddly = |error: &hyper::Error| error.is_incomplete_message() || error.is_parse();
            if place.starts_with("http://") && found.downcast_ref().is_some_and(answers_oddly) {
                return Self::NoHttp(reported);
            }
            let system = found.downcast_ref::<io::Error>();
            if system.is_some_and(|error| error.kind() == io::ErrorKind::ConnectionRefused) {
                return Self::Refused(reported);
            }
            // `source` does not return an error wrapped in an I/O error.
            let wrapped = system.and_then(io::Error::get_ref).map(|inner| inner as &(dyn Error + 'static));
            cause = wrapped.or_else(|| found.source());
        }
        Self::Exchange(reported)
    }
}

/// An event of one exchange after the request's head, in order. A reason of `None` means a regular end.
#[derive(Debug)]
pub enum ExchangeEvent<'a> {
    /// Bytes of the request's body.
    RequestBody(&'a [u8]),
    /// The request's body ended, or broke off for this reason.
    RequestEnd(Option<&'a str>),
    /// The response's head.
    Response(&'a http::response::Parts),
    /// Bytes of the response's body.
    ResponseBody(&'a [u8]),
    /// The response's body ended, or the exchange broke off for this reason.
    ResponseEnd(Option<&'a str>),
    /// The client hung up before the response ended, with the reason in words.
    ClientGone(&'a str),
    /// The server answered with this status, and mcpreel has sent the request again with another token.
    SentAgain(http::StatusCode),
    /// mcpreel has sent the request only now, because it had to wait for a token.
    SentLater,
    /// mcpreel answered in place of the server, with this status, for this reason.
    Refused(http::StatusCode, &'a str),
    /// A message toward this side went on in another form than it came, as the text says.
    Repaired(Direction, &'a str),
    /// The server sent an informational response; the last says whether it went on.
    Informational(http::StatusCode, &'a http::HeaderMap, bool),
    /// The trailers of a body toward this side; the last says whether they went on.
    Trailers(Direction, &'a http::HeaderMap, bool),
}

/// The reason of [`ExchangeEvent::ClientGone`] before the response's head.
pub(crate) const GONE_BEFORE_RESPONSE: &str = "the client hung up before the response";
/// The reason of [`ExchangeEvent::ClientGone`] behind the response's head.
pub(crate) const GONE_WITHIN_RESPONSE: &str = "the client hung up";

/// A client's connection.
#[derive(Clone, Copy, Debug)]
pub struct ClientConnection {
    /// Its number, from 1.
    pub number: u32,
    /// The client's address, if it is known.
    pub address: Option<SocketAddr>,
}

/// Observes every exchange by its number.
pub trait ExchangeObserver: Send + Sync {
    /// A new exchange with this head on a client's connection. Returns the exchange's number.
    fn begin(&self, connection: ClientConnection, head: &http::request::Parts) -> u32;
    /// An event of an exchange.
    fn see(&self, exchange: u32, seen: ExchangeEvent<'_>);
    /// The client of an exchange closed its side of the connection. Whether it is gone, the server decides.
    fn client_ended(&self, exchange: u32) {
        let _ = exchange;
    }
    /// A client's connection with this number ended.
    fn client_closed(&self, connection: u32);
    /// mcpreel answered with this status, for this reason, what it could not read as a request. A connection that was not
    /// served has no number.
    fn refused_unread(&self, connection: Option<u32>, status: http::StatusCode, reason: &str) {
        let _ = (connection, status, reason);
    }
    /// Whether to hold back request bodies and pass them to [`ExchangeObserver::filter`] first.
    fn sifts(&self) -> bool {
        false
    }
    /// The part of a request's complete body to send on; `None` if nothing is left, which is answered with 202.
    fn filter(&self, exchange: u32, body: Bytes) -> Option<Bytes> {
        let _ = exchange;
        Some(body)
    }
    /// The filter for one direction of this exchange, if its body is a stream of messages. Bytes are observed before
    /// they reach the filter.
    fn body_filter(&self, exchange: u32, direction: Direction) -> Option<Box<dyn BodyFilter>> {
        let _ = (exchange, direction);
        None
    }
}

/// Inserts messages into one direction of an exchange, and removes some.
pub trait BodyFilter: Send {
    /// Takes bytes and returns those that pass now.
    fn pass(&mut self, bytes: Bytes) -> Bytes;
    /// Ends the stream; returns what was held back.
    fn finish(&mut self) -> Bytes;
    /// Bytes to insert here; pending if there are none, or in the middle of a message.
    fn poll_insert(&mut self, context: &mut Context<'_>) -> Poll<Bytes>;
}

/// An HTTP/1.1 client for one server, with a connection for each simultaneous exchange.
#[derive(Clone)]
pub(crate) struct HttpClient {
    client: Client<HttpsConnector<ProxyConnector>, Body>,
    reach: ProxyConnector,
    tls: Arc<rustls::ClientConfig>,
}

/// A connection to a server, with or without TLS.
pub(crate) type Stream = MaybeHttpsStream<super::proxy_connector::ProxiedConnection>;

/// The time limit for connecting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The maximum size of a head. Bodies are read in pieces of this size, too, and a proxy holds several of them.
pub(crate) const MAX_HEAD_BYTES: usize = 128 << 10;
/// How long an idle connection is kept. Common servers close it after 5 s, and a request must not be sent while that
/// happens.
const IDLE: Duration = Duration::from_secs(4);

impl HttpClient {
    /// A client for this server; it connects later. Uses the proxies of the environment.
    ///
    /// # Errors
    /// TLS cannot be set up.
    pub(crate) fn new(remote: &Remote) -> Result<Self, HttpError> {
        Self::by(ProxyConnector::new, remote)
    }

    /// As [`HttpClient::new`], without proxies.
    ///
    /// # Errors
    /// TLS cannot be set up.
    pub(crate) fn straight(remote: &Remote) -> Result<Self, HttpError> {
        Self::by(ProxyConnector::straight, remote)
    }

    /// As [`HttpClient::new`], but it connects only to permitted addresses.
    ///
    /// # Errors
    /// TLS cannot be set up.
    pub(crate) fn only_to(remote: &Remote, permits: AddressFilter) -> Result<Self, HttpError> {
        Self::by(|limit, tls| ProxyConnector::new(limit, tls).only_to(permits, limit), remote)
    }

    fn by(
        reach: impl FnOnce(Duration, Arc<rustls::ClientConfig>) -> ProxyConnector,
        remote: &Remote,
    ) -> Result<Self, HttpError> {
        let tls = Arc::new(super::tls::config(remote)?);
        let reach = reach(CONNECT_TIMEOUT, Arc::clone(&tls));
        let connector = HttpsConnector::from((reach.clone(), Arc::clone(&tls)));
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .http1_preserve_header_case(true)
            .http1_max_buf_size(MAX_HEAD_BYTES)
            .set_host(false)
            .build(connector);
        Ok(Self { client, reach, tls })
    }

    /// Sends a request and waits for the response's head.
    ///
    /// # Errors
    /// The exchange failed before that.
    pub(crate) async fn send(&self, mut request: Request<Body>) -> Result<Response<Incoming>, HttpError> {
        if let Some(pass) = self.reach.plain_proxy_pass(request.uri()) {
            request.headers_mut().insert(http::header::PROXY_AUTHORIZATION, pass);
        }
        request.headers_mut().entry(http::header::ACCEPT_ENCODING).or_insert(ACCEPTED);
        let place = place(request.uri());
        self.client.request(request).await.map_err(|error| {
            let cause = error.source().unwrap_or(&error);
            match error.is_connect() {
                true => HttpError::unreachable(&place, cause),
                false => HttpError::of_exchange(&place, cause),
            }
        })
    }

    /// Connects without sending anything, for another protocol over the same route.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub(crate) async fn connect(&self, uri: Uri) -> Result<Stream, HttpError> {
        let place = place(&uri);
        let mut connector = HttpsConnector::from((self.reach.tunnelling(), Arc::clone(&self.tls)));
        std::future::poll_fn(|context| connector.poll_ready(context))
            .await
            .map_err(|error| HttpError::unreachable(&place, &*error))?;
        connector.call(uri).await.map_err(|error| HttpError::unreachable(&place, &*error))
    }
}

/// Scheme, host and port of a URL, without secrets.
pub(crate) fn place(uri: &Uri) -> String {
    let host = uri.authority().map_or("", |authority| authority.as_str());
    let host = host.rsplit('@').next().unwrap_or(host);
    format!("{}://{host}", uri.scheme_str().unwrap_or("http"))
}

/// An observer that ignores everything.
pub(crate) struct NoObserver;

impl ExchangeObserver for NoObserver {
    fn begin(&self, _connection: ClientConnection, _head: &http::request::Parts) -> u32 {
        0
    }

    fn see(&self, _exchange: u32, _seen: ExchangeEvent<'_>) {}

    fn client_closed(&self, _connection: u32) {}
}

/// A shared observer.
pub(crate) type SharedObserver = Arc<dyn ExchangeObserver>;
