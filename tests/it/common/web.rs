//! An HTTP server in this process, in which the test decides every response and sees every request.
//!
//! Implements no rule of MCP that the test does not spell out, and shares nothing between tests.

use bytes::Bytes;
use futures_util::stream;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use parking_lot::Mutex;
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio_rustls::TlsAcceptor;

/// A request as the server received it.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub verb: String,
    /// The target: a path, or a complete URL if the client uses this server as a proxy.
    pub target: String,
    headers: Vec<(String, String)>,
    /// The JSON in the body; null if there is none.
    pub body: Value,
    /// The body as text.
    pub text: String,
    /// The body.
    pub bytes: Bytes,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    pub(crate) fn method(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }

    /// The request in a word: the message's method, or the HTTP method.
    pub(crate) fn what(&self) -> String {
        match self.body["method"].as_str() {
            Some(method) => method.to_owned(),
            None if self.body.is_null() => self.verb.clone(),
            None => "answer".to_owned(),
        }
    }
}

/// What a body does next.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Say(Bytes),
    /// Repeats these bytes endlessly.
    Flood(Bytes),
    /// Sends what is put into the channel, until it is closed.
    Fed(Arc<tokio::sync::Mutex<UnboundedReceiver<Bytes>>>),
    /// Sends nothing more, forever.
    Hold,
    /// Breaks the connection.
    Break,
}

/// A response.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub steps: Vec<Step>,
    /// Not even a head is sent.
    pub is_silent: bool,
}

impl Reply {
    pub(crate) fn empty(status: u16) -> Self {
        Self { status, headers: Vec::new(), steps: Vec::new(), is_silent: false }
    }

    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self::text(status, "application/json", body.to_string())
    }

    pub(crate) fn text(status: u16, kind: &str, body: impl Into<Bytes>) -> Self {
        Self { steps: vec![Step::Say(body.into())], ..Self::empty(status) }.with("Content-Type", kind)
    }

    /// An event stream.
    pub(crate) fn events(steps: impl Into<Vec<Step>>) -> Self {
        Self { steps: steps.into(), ..Self::empty(200) }.with("Content-Type", "text/event-stream")
    }

    pub(crate) fn silent() -> Self {
        Self { is_silent: true, ..Self::empty(200) }
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The result of this request, as JSON.
    pub(crate) fn result(asked: &Asked, result: Value) -> Self {
        Self::json(200, &answer(asked, result))
    }

    /// An error for this request.
    pub(crate) fn error(status: u16, asked: &Asked, code: i64) -> Self {
        let id = asked.body["id"].clone();
        Self::json(status, &json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": "scripted"}}))
    }
}

/// The result of a request as a message.
pub(crate) fn answer(asked: &Asked, result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": asked.body["id"], "result": result})
}

/// An event with this message.
pub(crate) fn event(message: &Value) -> Step {
    say(format!("event: message\ndata: {message}\n\n"))
}

pub(crate) fn say(text: impl Into<String>) -> Step {
    Step::Say(text.into().into())
}

/// A legacy server: the handshake, no GET stream, and `rest` for everything else.
pub(crate) fn legacy(
    version: &'static str,
    session: Option<&'static str>,
    rest: impl Fn(&Asked) -> Reply + Send + Sync + 'static,
) -> impl Fn(&Asked) -> Reply + Send + Sync + 'static {
    move |asked| match asked.what().as_str() {
        "server/discover" => Reply::error(400, asked, -32601),
        "initialize" => {
            let server = json!({"name": "scripted", "version": "1"});
            let result = json!({"protocolVersion": version, "capabilities": {}, "serverInfo": server});
            let reply = Reply::result(asked, result);
            session.map_or(reply.clone(), |session| reply.with("Mcp-Session-Id", session))
        }
        "notifications/initialized" | "answer" => Reply::empty(202),
        _ => rest(asked),
    }
}

/// A server of 2026-07-28: discovery, and `rest` for everything else.
pub(crate) fn modern(
    rest: impl Fn(&Asked) -> Reply + Send + Sync + 'static,
) -> impl Fn(&Asked) -> Reply + Send + Sync + 'static {
    move |asked| match asked.what().as_str() {
        "server/discover" => {
            Reply::result(asked, json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}))
        }
        _ => rest(asked),
    }
}

type Handler = dyn Fn(&Asked) -> Reply + Send + Sync;

/// A running server.
pub(crate) struct Web {
    pub port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
    given_up: Arc<AtomicUsize>,
    /// The server ends when this is dropped.
    _stop: tokio::sync::oneshot::Sender<()>,
}

impl Web {
    pub(crate) fn start(handler: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        Self::serve(handler, None)
    }

    /// With TLS; also returns the certificate in PEM.
    pub(crate) fn start_tls(handler: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> (Self, String) {
        Self::start_tls_as(rcgen::IsCa::NoCa, handler)
    }

    /// As `start_tls`, with a certificate that is or is not a certificate authority's.
    pub(crate) fn start_tls_as(
        is_ca: rcgen::IsCa,
        handler: impl Fn(&Asked) -> Reply + Send + Sync + 'static,
    ) -> (Self, String) {
        let mut params =
            rcgen::CertificateParams::new(["localhost".to_owned(), "127.0.0.1".to_owned()]).expect("names");
        params.is_ca = is_ca;
        let signing_key = rcgen::KeyPair::generate().expect("a key");
        let cert = params.self_signed(&signing_key).expect("a certificate");
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(signing_key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions of TLS")
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key)
            .expect("the certificate fits its key");
        (Self::serve(handler, Some(TlsAcceptor::from(Arc::new(config)))), cert.pem())
    }

    fn serve(handler: impl Fn(&Asked) -> Reply + Send + Sync + 'static, tls: Option<TlsAcceptor>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        listener.set_nonblocking(true).expect("a listener that does not block");
        let server = Server { handler: Arc::new(handler), asked: Arc::default(), given_up: Arc::default() };
        let (asked, given_up) = (Arc::clone(&server.asked), Arc::clone(&server.given_up));
        let (stop, stopped) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async {
                let _ = futures_util::future::select(Box::pin(server.accept(listener, tls)), stopped).await;
            });
        });
        Self { port, asked, given_up, _stop: stop }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().clone()
    }

    /// The requests, each in a word.
    pub(crate) fn story(&self) -> Vec<String> {
        self.asked().iter().map(Asked::what).collect()
    }

    /// The first request of this kind.
    pub(crate) fn first(&self, what: &str) -> Asked {
        self.asked().into_iter().find(|asked| asked.what() == what).unwrap_or_else(|| panic!("{what} was not asked"))
    }

    /// The number of responses that the client closed before their end.
    pub(crate) fn given_up(&self) -> usize {
        self.given_up.load(Ordering::SeqCst)
    }
}

#[derive(Clone)]
struct Server {
    handler: Arc<Handler>,
    asked: Arc<Mutex<Vec<Asked>>>,
    given_up: Arc<AtomicUsize>,
}

/// Counts a response that is dropped before its end.
struct Counted {
    given_up: Arc<AtomicUsize>,
    is_over: bool,
}

impl Drop for Counted {
    fn drop(&mut self) {
        if !self.is_over {
            self.given_up.fetch_add(1, Ordering::SeqCst);
        }
    }
}

impl Server {
    async fn accept(self, listener: TcpListener, tls: Option<TlsAcceptor>) {
        let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
        while let Ok((stream, _)) = listener.accept().await {
            let (server, tls) = (self.clone(), tls.clone());
            tokio::spawn(async move {
                match tls {
                    None => server.converse(stream).await,
                    Some(tls) => {
                        if let Ok(stream) = tls.accept(stream).await {
                            server.converse(stream).await;
                        }
                    }
                }
            });
        }
    }

    async fn converse(self, stream: impl tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static) {
        let service = service_fn(move |request| {
            let server = self.clone();
            async move { Ok::<_, Infallible>(server.reply(request).await) }
        });
        let _ =
            auto::Builder::new(TokioExecutor::new()).http1_only().serve_connection(TokioIo::new(stream), service).await;
    }

    async fn reply(
        self,
        request: Request<Incoming>,
    ) -> Response<http_body_util::combinators::UnsyncBoxBody<Bytes, String>> {
        let (head, body) = request.into_parts();
        let bytes = body.collect().await.map(|all| all.to_bytes()).unwrap_or_default();
        let text = |value: &hyper::header::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let asked = Asked {
            verb: head.method.to_string(),
            target: head.uri.to_string(),
            headers: head.headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect(),
            body: serde_json::from_slice(&bytes).unwrap_or_default(),
            text: String::from_utf8_lossy(&bytes).into_owned(),
            bytes,
        };
        self.asked.lock().push(asked.clone());
        let reply = (self.handler)(&asked);
        let counted = Counted { given_up: Arc::clone(&self.given_up), is_over: false };
        if reply.is_silent {
            std::future::pending::<()>().await;
        }
        let mut response = Response::builder().status(reply.status);
        for (name, value) in &reply.headers {
            response = response.header(name, value);
        }
        let steps = Steps { rest: reply.steps.into_iter(), current: None, counted };
        let body = stream::unfold(steps, |mut steps| async {
            let bytes = steps.next().await?;
            Some((bytes.map(Frame::data), steps))
        });
        response.body(StreamBody::new(body).boxed_unsync()).expect("a response")
    }
}

/// A body that is being sent.
struct Steps {
    rest: std::vec::IntoIter<Step>,
    current: Option<Step>,
    counted: Counted,
}

impl Steps {
    async fn next(&mut self) -> Option<Result<Bytes, String>> {
        loop {
            match self.current.take().or_else(|| self.rest.next()) {
                None => {
                    self.counted.is_over = true;
                    return None;
                }
                Some(Step::Say(bytes)) => return Some(Ok(bytes)),
                Some(Step::Flood(bytes)) => {
                    tokio::task::yield_now().await;
                    self.current = Some(Step::Flood(bytes.clone()));
                    return Some(Ok(bytes));
                }
                Some(Step::Fed(source)) => {
                    if let Some(bytes) = source.lock().await.recv().await {
                        self.current = Some(Step::Fed(Arc::clone(&source)));
                        return Some(Ok(bytes));
                    }
                }
                Some(Step::Hold) => std::future::pending().await,
                Some(Step::Break) => {
                    // Send earlier bytes first.
                    tokio::task::yield_now().await;
                    return Some(Err("scripted".to_owned()));
                }
            }
        }
    }
}
