//! The control socket's access to a recorded HTTP session. A message to the server becomes a request of mcpreel's own
//! with the session's headers; a message to the client is inserted between the events of an open stream.

use super::Exchanges;
use super::body::{BodyPiece, Reading};
use super::injection_route::InjectionRoute;
use crate::process::threads;
use crate::protocol::http::{ToolMarks, modern_headers, modern_version};
use crate::record::injectable_writer::peer;
use crate::sessions::control::{InjectionProgress, Session};
use crate::transport::client::http::{HttpClient, HttpError};
use crate::transport::client::login::{self, Login};
use crate::transport::client::plain_body::PlainBody;
use crate::wire::{Direction, Envelope, Framing, MessageKind};
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::http::uri::InvalidUri;
use hyper::{Request, Response, Uri};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::time::timeout;

/// Headers of a client's request that describe only its own body or connection.
const OWN_HEADERS: [HeaderName; 9] = [
    header::HOST,
    header::CONTENT_LENGTH,
    header::CONNECTION,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    header::EXPECT,
    header::ACCEPT_ENCODING,
    header::TE,
    HeaderName::from_static("last-event-id"),
];
/// The maximum length of a refusal's text in an error, in characters.
const MAX_REPORTED_CHARS: usize = 400;

/// The code of the error that answers a server's request if no client can be asked.
const NO_CLIENT_CODE: i64 = -32000;
/// The message of that error.
const NO_CLIENT_MESSAGE: &str = "mcpreel: the server sent this request in response to an injected message, but the client \
    has no open stream on which it could be asked";
/// How long the server may take to begin its response to an injected message.
const MAX_WAIT: Duration = Duration::from_secs(3600);
/// How long a server's request may wait to be inserted into its client's stream, and how long its refusal may take.
const GRACE_PERIOD: Duration = Duration::from_secs(5);

/// See the module.
#[derive(Clone)]
pub(crate) struct HttpSession {
    /// The recorder, which knows the sessions.
    pub exchanges: Arc<Exchanges>,
    /// The HTTP client for the server.
    pub client: HttpClient,
    /// The MCP endpoint.
    pub url: Uri,
    /// The user's own headers.
    pub headers: HeaderMap,
    /// The user's login, if the server requires one.
    pub login: Option<Login>,
    /// The runtime for requests.
    pub runtime: Handle,
}

impl Session for HttpSession {
    fn put(
        &self,
        toward: Direction,
        stream: u32,
        message: &[u8],
        deadline: Instant,
    ) -> Result<InjectionProgress, String> {
        let put = match self.exchanges.way(stream, toward)? {
            (_, InjectionRoute::Into(injection_queue)) => {
                let put = injection_queue.put(message, deadline);
                put.map_err(|why| format!("the stream toward the {} {why}", peer(toward)))
            }
            (stream, InjectionRoute::Post(headers, target)) => {
                let post = Post { stream, headers, place: self.place(target)? };
                let request = self.request(&post, message)?;
                let (taken, reported) = channel();
                let session = self.clone();
                self.runtime.spawn(async move { session.ask(&post, request, &taken).await });
                // Some servers send the response head together with the answer; on a timeout the message counts as
                // delivered.
                reported.recv_timeout(deadline.saturating_duration_since(Instant::now())).unwrap_or(Ok(()))
            }
        };
        put.map(|()| InjectionProgress::Written)
    }

    fn details(&self) -> Map<String, Value> {
        [("streams".to_owned(), self.exchanges.sessions().into())].into_iter().collect()
    }
}

impl HttpSession {
    /// The URL to post messages to.
    fn place(&self, target: Option<String>) -> Result<Uri, String> {
        let Some(target) = target else { return Ok(self.url.clone()) };
        let mut parts = self.url.clone().into_parts();
        let wrong = |error: &dyn std::fmt::Display| format!("cannot post to the server's endpoint: {error}");
        parts.path_and_query = Some(target.parse().map_err(|error| wrong(&error as &InvalidUri))?);
        Uri::from_parts(parts).map_err(|error| wrong(&error))
    }

    /// Builds and records a separate request with this message.
    fn request(&self, post: &Post, message: &[u8]) -> Result<Request<Bytes>, String> {
        let mut headers = post.headers.clone();
        let envelope = Envelope::scan(message);
        OWN_HEADERS.iter().for_each(|name| drop(headers.remove(name)));
        if modern_version(&envelope).is_some() {
            let others: Vec<HeaderName> =
                headers.keys().filter(|name| name.as_str().starts_with("mcp-")).cloned().collect();
            let version = headers.get("mcp-protocol-version").cloned();
            others.iter().for_each(|name| drop(headers.remove(name)));
            if let Some(version) = version {
                headers.insert("mcp-protocol-version", version);
            }
            for (name, value) in modern_headers(&envelope, &ToolMarks::default()) {
                if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
                    headers.insert(name, value);
                }
            }
        }
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(header::ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        let authority = self.url.authority().map_or("", |authority| authority.as_str());
        let host = authority.rsplit('@').next().unwrap_or_default();
        headers.insert(header::HOST, HeaderValue::from_str(host).map_err(|error| error.to_string())?);
        headers.extend(self.headers.iter().map(|(name, value)| (name.clone(), value.clone())));
        let mut request = Request::post(post.place.clone());
        if let Some(own) = request.headers_mut() {
            *own = headers;
        }
        let request = request.body(Bytes::copy_from_slice(message)).map_err(|error| error.to_string())?;
        self.exchanges.record_injected(post.stream, Direction::ClientToServer, Framing::Whole, message);
        Ok(request)
    }

    async fn send(&self, request: Request<Bytes>) -> Result<Response<Incoming>, HttpError> {
        login::send(&self.client, self.login.as_ref(), request, MAX_WAIT).await
    }

    /// Sends such a request, and passes the server's requests in its response on to the client.
    async fn ask(&self, post: &Post, request: Request<Bytes>, taken: &Sender<Result<(), String>>) {
        let response = match self.send(request).await {
            Ok(response) => PlainBody::of(response),
            Err(error) => return drop(taken.send(Err(error.to_string()))),
        };
        let (head, mut body) = response.into_parts();
        let kind = head.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let mut received =
            ResponseProgress { reading: Reading::of(Some(kind), true, None), said: String::new(), asked: Vec::new() };
        let failed = !head.status.is_success();
        if !failed {
            let _ = taken.send(Ok(()));
        }
        loop {
            let bytes = match body.frame().await {
                Some(Ok(frame)) => frame.into_data().ok(),
                Some(Err(_)) | None => None,
            };
            self.receive(post.stream, &mut received, bytes.as_deref());
            for request in received.asked.drain(..) {
                self.pass_on(post, request).await;
            }
            if bytes.is_none() {
                break;
            }
        }
        if failed {
            let said: String = received.said.trim().chars().take(MAX_REPORTED_CHARS).collect();
            let _ = taken
                .send(Err(format!("the server rejected the message with status {}: {said}", head.status.as_u16())));
        }
    }

    /// Takes bytes of a response, or its end if there are none. Answers go to their waiting requests; everything except
    /// the server's requests is recorded.
    fn receive(&self, stream: u32, received: &mut ResponseProgress, bytes: Option<&[u8]>) {
        let ResponseProgress { reading, said, asked } = received;
        let mut see = |piece: BodyPiece<'_>| {
            let (framing, payload) = match &piece {
                BodyPiece::Whole(bytes) => (Framing::Whole, &bytes[..]),
                BodyPiece::Event(block) => (Framing::Sse, &**block),
                BodyPiece::Block { joined: Some(message), .. } => (Framing::Whole, &message[..]),
                BodyPiece::Other(_, kept) => {
                    *said = String::from_utf8_lossy(kept).into_owned();
                    return;
                }
                _ => return,
            };
            let message = framing.body(payload);
            *said = String::from_utf8_lossy(&message[..message.len().min(MAX_REPORTED_CHARS * 4)]).into_owned();
            if Envelope::scan(message).kind == MessageKind::Request {
                return asked.push(message.iter().copied().filter(|byte| !matches!(byte, b'\n' | b'\r')).collect());
            }
            self.exchanges.record_injected(stream, Direction::ServerToClient, framing, payload);
            let _ = self.exchanges.answers().keep(stream, Direction::ServerToClient, message.to_vec());
        };
        match bytes {
            Some(bytes) => reading.push(bytes, &mut see),
            None => reading.finish(&mut see),
        }
    }

    /// Passes on a server's request that an injected message caused. Only the client can answer it, so it is inserted
    /// into the stream that the client opened with GET. If there is none, the server gets an error.
    async fn pass_on(&self, post: &Post, request: Vec<u8>) {
        let listener = self.exchanges.listener(post.stream);
        let (message, until) = (request.clone(), Instant::now() + GRACE_PERIOD);
        let put = move || listener.is_some_and(|injection_queue| injection_queue.put(&message, until).is_ok());
        if threads::finish("injector", put).await.unwrap_or(false) {
            return;
        }
        self.exchanges.record_injected(post.stream, Direction::ServerToClient, Framing::Whole, &request);
        let Some(id) = Envelope::scan(&request).id else { return };
        let error = json!({"code": NO_CLIENT_CODE, "message": NO_CLIENT_MESSAGE}).to_string();
        let answer = [br#"{"jsonrpc":"2.0","id":"#, id.0, br#","error":"#, error.as_bytes(), b"}"].concat();
        if let Ok(refusal) = self.request(post, &answer) {
            let _ = timeout(GRACE_PERIOD, self.send(refusal)).await;
        }
    }
}

/// How injected messages reach one session's server.
struct Post {
    stream: u32,
    /// The client's headers.
    headers: HeaderMap,
    place: Uri,
}

/// A response that is being read.
struct ResponseProgress {
    reading: Reading,
    /// Its last text, for an error.
    said: String,
    /// Requests of the server.
    asked: Vec<Vec<u8>>,
}
