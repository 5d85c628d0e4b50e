//! A listener that offers Streamable HTTP (2025-03-26 to 2026-07-28) for servers without it. Each session has a
//! [`Link`] of its own. Requests of the modern era share links as long as their answers and notifications cannot be
//! confused. WebSockets, HTTP+SSE and lines over sockets are sessions, too.

mod direct;
mod refusal;
mod response;
mod session;
mod streams;

use super::accept::{accept_http, serve_connection};
use super::cors::Cors;
use super::origin_check::{Access, is_json};
use super::proxy;
use super::refusals::Refusals;
use super::request_body;
use crate::protocol::errors;
use crate::protocol::http::{self, Delivery, ToolMarks};
use crate::protocol::revision::{Era, Revision};
use crate::transport::budget::{Budget, IntakeLimits};
use crate::transport::client::http::Body;
use crate::transport::link::Link;
use crate::wire::text::BYTE_ORDER_MARK;
use crate::wire::{Direction, Envelope, MessageKind};
use crate::wire::{MessageLimit, json};
use direct::{Directs, MESSAGES, SSE};
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::http::request::Parts;
use hyper::service::service_fn;
use hyper::upgrade::OnUpgrade;
use hyper::{Method, Request, Response, StatusCode};
use parking_lot::Mutex;
use refusal::{Refusal, accepted, plain, rpc_error};
use response::{Answer, Stream, answers, cut_off, form};
use session::{Posted, Session};
use std::collections::HashMap;
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::net::{TcpListener, UnixListener};

const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";
const LAST_EVENT: &str = "last-event-id";
/// The maximum number of links per era: each server takes four descriptors, and most systems allow 1024.
const MAX_SESSIONS: usize = 100;

/// The maximum bytes stored for, and waiting for, the clients of all sessions (32 MiB).
const MAX_BACKLOG: usize = 32 << 20;

/// How long to wait for an answer before beginning a resumable stream for it.
const PROMPT: Duration = Duration::from_millis(200);

/// Why a session ended whose server exited by itself.
pub(crate) const SERVER_ENDED: &str = "the server ended";

/// Why a session ended whose client left without closing it.
const LEFT: &str = "left by its client";

/// A link that was opened for a session, and a future to await after closing it.
pub(crate) struct Opened {
    /// The connection to the server.
    pub link: Link,
    /// Ends what is behind the link.
    pub end: Pin<Box<dyn Future<Output = ()> + Send>>,
}

/// What is behind a gateway.
pub(crate) trait Backend: Send + Sync {
    /// Opens a link for the session with this number, from 1.
    ///
    /// # Errors
    /// The reason, which is sent to the client.
    fn open(&self, stream: u32) -> Result<Opened, String>;
    /// How the server would answer this message.
    fn delivery(&self, message: &[u8]) -> Delivery {
        let _ = message;
        Delivery::default()
    }
    /// What is known of the tools' headers, if the gateway refuses requests of the modern era whose headers contradict
    /// the body (MCP 2026-07-28, Streamable HTTP). Otherwise, they are passed on.
    fn checked_headers(&self) -> Option<&ToolMarks> {
        None
    }
    /// Passes a message of a session. Returns the part to send on.
    fn pass(&self, stream: u32, direction: Direction, message: Vec<u8>) -> Option<Vec<u8>>;
    /// A message to a session's client that the gateway made in place of its server.
    fn made(&self, stream: u32, message: &[u8]) {
        let _ = (stream, message);
    }
    /// A description of what was lost on the way to a session's client.
    fn lost(&self, stream: u32, reported: &str) {
        let _ = (stream, reported);
    }
    /// The gateway answered with this status, for this reason, what came from no client that may use it.
    fn refused(&self, status: u16, reason: &str) {
        let _ = (status, reason);
    }
    /// A session's connection failed for this reason.
    fn failed(&self, stream: u32, why: &str) {
        let _ = (stream, why);
    }
    /// What a session's server wrote to standard error.
    fn see_stderr(&self, stream: u32, bytes: &[u8]);
    /// A session ended.
    fn closed(&self, stream: u32, by: &str);
}

/// Where clients connect.
#[derive(Debug)]
pub(crate) enum Listener {
    /// HTTP: Streamable HTTP and WebSockets on any path, HTTP+SSE at `/sse`.
    Http(TcpListener),
    /// Lines over TCP.
    Tcp(TcpListener),
    /// Lines over a Unix socket.
    Unix(UnixListener),
}

/// The gateway. See the module.
pub(crate) struct Gateway {
    backend: Arc<dyn Backend>,
    access: Access,
    refusals: Arc<Refusals>,
    limit: MessageLimit,
    /// The memory for unfinished messages of all clients.
    budget: Arc<Budget>,
    /// The memory for stored and waiting messages of all sessions.
    backlog: Arc<Budget>,
    streams: AtomicU32,
    sessions: Mutex<HashMap<String, Arc<Session>>>,
    /// The links that requests of the modern era share.
    shared: Mutex<Vec<Arc<Session>>>,
    directs: Directs,
}

impl Gateway {
    /// A gateway in front of `backend` with this message limit.
    pub(crate) fn new(backend: Arc<dyn Backend>, access: Access, limit: MessageLimit) -> Arc<Self> {
        let reporter = Arc::clone(&backend);
        let refusals =
            Refusals::new(access.clone(), move |_, status, reason| reporter.refused(status.as_u16(), reason));
        Arc::new(Self {
            backend,
            access,
            refusals,
            limit,
            budget: Budget::new(limit),
            backlog: Budget::of_bytes(MAX_BACKLOG),
            streams: AtomicU32::new(0),
            sessions: Mutex::default(),
            shared: Mutex::default(),
            directs: Directs::default(),
        })
    }

    /// The limits for one more client.
    fn intake(&self) -> IntakeLimits {
        IntakeLimits::of_client(self.limit, &self.budget)
    }

    /// Serves connections forever.
    pub(crate) async fn serve(self: Arc<Self>, listener: Listener) {
        match listener {
            Listener::Http(listener) => self.serve_http(listener).await,
            Listener::Tcp(listener) => self.serve_tcp(listener).await,
            Listener::Unix(listener) => self.serve_unix(listener).await,
        }
    }

    async fn serve_http(self: Arc<Self>, listener: TcpListener) {
        let refusals = Arc::clone(&self.refusals);
        let at_the_door = Arc::clone(&refusals);
        accept_http(
            async || listener.accept().await.map(|(stream, _)| stream),
            move |stream, _| {
                let gateway = Arc::clone(&self);
                let service = service_fn(move |request| {
                    let gateway = Arc::clone(&gateway);
                    async move { Ok::<_, Infallible>(gateway.answer(request).await) }
                });
                let refusals = Arc::clone(&refusals);
                async move { serve_connection(stream, service, std::future::pending(), (None, &refusals)).await }
            },
            &at_the_door,
        )
        .await;
    }

    /// The numbers of the live sessions.
    pub(crate) fn streams(&self) -> Vec<u32> {
        let mut streams: Vec<u32> = self.alive().iter().map(|session| session.stream).collect();
        streams.extend(self.directs.numbers());
        streams.sort_unstable();
        streams
    }

    /// Injects a message into a session, bypassing [`Backend::pass`]; `see` is called before the message is sent.
    ///
    /// # Errors
    /// The reason, as a sentence; `see` was not called.
    pub(crate) fn put(
        &self,
        stream: u32,
        toward: Direction,
        message: Vec<u8>,
        see: impl FnOnce(&[u8]),
    ) -> Result<(), String> {
        let alive = self.alive();
        let Some(session) = alive.iter().find(|session| session.stream == stream) else {
            let put = self.directs.put(stream, toward, message, see);
            return put.unwrap_or_else(|| Err(format!("there is no session {stream}")));
        };
        match toward {
            Direction::ClientToServer => session.put(message, see),
            Direction::ServerToClient => {
                see(&message);
                session.hand_on(message).map_err(str::to_owned)
            }
        }
    }

    fn alive(&self) -> Vec<Arc<Session>> {
        let named: Vec<_> = self.sessions.lock().values().cloned().collect();
        let shared = self.shared.lock().clone();
        named.into_iter().chain(shared).filter(|session| !session.is_closed()).collect()
    }

    /// Ends a session whose client has left: one that neither sends nor reads anything for this long, because few
    /// clients end their sessions. A session that is a connection of its own ends with it and is ignored here.
    pub(crate) async fn close_left(&self, stream: u32, span: Duration) {
        if let Some(session) = self.alive().into_iter().find(|session| session.stream == stream) {
            session.left(span).await;
            session.close(LEFT).await;
        }
    }

    /// Ends all sessions and waits for their backends.
    pub(crate) async fn finish(&self) {
        let mut all: Vec<_> = self.sessions.lock().drain().map(|(_, session)| session).collect();
        all.append(&mut self.shared.lock());
        let ends = futures_util::future::join_all(all.iter().map(|session| session.close("the gateway ended")));
        tokio::join!(ends, self.directs.finish());
    }

    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Response<Body> {
        let (head, body) = request.into_parts();
        let access = self.access.check(&head);
        let cors = Cors::of(&head.headers, access.is_ok() || self.access.admits_page(&head.headers));
        if let Err((status, reason)) = &access {
            self.refusals.report(None, *status, reason);
        }
        let answered = match (access, cors.preflight(&head)) {
            (Err((status, reason)), _) => Err(plain(status, &reason)),
            (Ok(()), Some(preflight)) => Ok(preflight),
            (Ok(()), None) => self.respond(head, body).await,
        };
        let mut response = answered.unwrap_or_else(Refusal::answer);
        cors.apply(&mut response);
        response
    }

    /// Answers a request that has access.
    async fn respond(self: &Arc<Self>, mut head: Parts, body: Incoming) -> Result<Response<Body>, Refusal> {
        // The body of a POST may say the same, so that the server can answer.
        if head.method != Method::POST {
            check_version(&head.headers)?;
        }
        if head.method == Method::GET && head.headers.get(header::UPGRADE).is_some_and(proxy::is_websocket) {
            return self.upgrade(&head.headers, head.extensions.remove::<OnUpgrade>());
        }
        let is_sse = head.uri.path() == SSE;
        match head.method {
            Method::GET if is_sse && head.headers.contains_key(header::ACCEPT) && !accepts_events(&head.headers) => {
                Err(plain(StatusCode::NOT_ACCEPTABLE, "a GET must accept text/event-stream"))
            }
            Method::GET if is_sse => self.begin_sse(),
            _ if is_sse => Err(plain(StatusCode::METHOD_NOT_ALLOWED, "HTTP+SSE begins with a GET")),
            Method::POST if !is_json(&head.headers) => {
                Err(plain(StatusCode::UNSUPPORTED_MEDIA_TYPE, "a POST must have the Content-Type application/json"))
            }
            Method::POST => {
                // The client's share of the budget is held until the message has been sent to the server.
                let mut intake = self.intake();
                let _arriving = self.session(&head.headers).ok().map(|session| session.awaits_body());
                let body = request_body::read(body, &mut intake).await;
                let mut message = body.map_err(|fault| plain(fault.status(), &fault.reported(&intake)))?;
                // It belongs to the body, and would be a part of the line.
                if message.starts_with(BYTE_ORDER_MARK) {
                    message.drain(..BYTE_ORDER_MARK.len());
                }
                // The server reads lines.
                message.retain(|byte| !matches!(byte, b'\n' | b'\r'));
                if head.uri.path() == MESSAGES {
                    self.post_sse(head.uri.query().unwrap_or_default(), message).await?;
                    return Ok(accepted());
                }
                self.post(&head.headers, message, intake).await
            }
            Method::GET => {
                let session = self.session(&head.headers)?;
                if !accepts_events(&head.headers) {
                    return Err(plain(StatusCode::NOT_ACCEPTABLE, "a GET must accept text/event-stream"));
                }
                let said = match text(&head.headers, LAST_EVENT) {
                    Some(last) => session.resume(&last).ok_or_else(|| {
                        plain(StatusCode::BAD_REQUEST, "the event in Last-Event-ID is unknown or no longer stored")
                    })?,
                    None => session.listen().ok_or_else(|| {
                        plain(StatusCode::CONFLICT, "this session has a GET stream already; only one is allowed")
                    })?,
                };
                let form = form(Delivery::Json, true, &head.headers);
                Ok(Stream { form, said, guard: None }.begin(None))
            }
            Method::DELETE => {
                let session = self.session(&head.headers)?;
                self.sessions.lock().remove(&session.id);
                session.close("DELETE").await;
                Ok(plain(StatusCode::OK, "the session has ended").answer())
            }
            _ => Err(plain(StatusCode::METHOD_NOT_ALLOWED, "only POST, GET and DELETE are supported")),
        }
    }

    async fn post(
        self: &Arc<Self>,
        headers: &HeaderMap,
        message: Vec<u8>,
        intake: IntakeLimits,
    ) -> Result<Response<Body>, Refusal> {
        let envelope = Envelope::scan(&message);
        if matches!(envelope.kind, MessageKind::Malformed | MessageKind::Noise | MessageKind::Blank) {
            return Err(rpc_error(StatusCode::BAD_REQUEST, -32700, "the body is not valid JSON"));
        }
        let is_message = |kind: MessageKind| !matches!(kind, MessageKind::Unclassified | MessageKind::Batch);
        let is_any = match envelope.kind {
            MessageKind::Batch => json::items(&message).any(|item| is_message(Envelope::scan(item).kind)),
            kind => is_message(kind),
        };
        if !is_any {
            return Err(rpc_error(
                StatusCode::BAD_REQUEST,
                errors::INVALID_REQUEST,
                "the body has no JSON-RPC message",
            ));
        }
        let version = http::modern_version(&envelope).map(|version| Era::of_version(&version));
        if version == Some(Era::Modern) {
            self.check_headers(&envelope, headers)?;
            let session = self.shared_for(&message)?;
            let is_probe = envelope.method.as_deref() == Some("server/discover");
            let answered = self.pass(&session, message, headers, intake).await;
            let is_unknown = answered.as_ref().is_ok_and(|answer| answer.status() == StatusCode::NOT_FOUND);
            if is_unknown && is_probe {
                // A server of the legacy era, whose sessions have links of their own; this one is not shared.
                self.shared.lock().retain(|shared| !Arc::ptr_eq(shared, &session));
                session.close("no server of this era").await;
            }
            return answered;
        }
        check_version(headers)?;
        if envelope.kind == MessageKind::Request && envelope.method.as_deref() == Some("initialize") {
            let session = self.open(uuid::Uuid::new_v4().to_string())?;
            self.sessions.lock().insert(session.id.clone(), Arc::clone(&session));
            let mut newborn = Newborn { gateway: self, session: Some(&session) };
            let mut response = self.pass(&session, message, headers, intake).await?;
            if let Ok(id) = HeaderValue::from_str(&session.id)
                && response.status().is_success()
            {
                newborn.session = None;
                response.headers_mut().insert(SESSION, id);
            }
            return Ok(response);
        }
        let names_modern = text(headers, VERSION).is_some_and(|version| Era::of_version(&version) == Era::Modern);
        if (names_modern || envelope.method.as_deref() == Some("server/discover")) && !headers.contains_key(SESSION) {
            // A request without the members that the modern era requires.
            let reason = "the request has no protocol version in its _meta";
            return Err(rpc_error(StatusCode::BAD_REQUEST, errors::INVALID_PARAMS, reason).of(&envelope));
        }
        let session = self.session(headers)?;
        self.pass(&session, message, headers, intake).await
    }

    /// Refuses a request of the modern era whose headers contradict its body, if the backend wants that.
    fn check_headers(&self, envelope: &Envelope<'_>, headers: &HeaderMap) -> Result<(), Refusal> {
        let marks = self.backend.checked_headers().filter(|_| envelope.kind == MessageKind::Request);
        let found = marks.and_then(|marks| http::contradiction(envelope, marks, |name| text(headers, name)));
        match found {
            None => Ok(()),
            Some(why) => Err(rpc_error(StatusCode::BAD_REQUEST, errors::HEADER_MISMATCH, &why).of(envelope)),
        }
    }

    /// Sends a message to a session's server and returns the response.
    async fn pass(
        &self,
        session: &Arc<Session>,
        message: Vec<u8>,
        headers: &HeaderMap,
        intake: IntakeLimits,
    ) -> Result<Response<Body>, Refusal> {
        let gone = || plain(StatusCode::BAD_GATEWAY, "the server behind this gateway has ended");
        let is_batch = Envelope::scan(&message).kind == MessageKind::Batch;
        let delivery = self.backend.delivery(&message);
        let posted = session.post(message).await;
        drop(intake);
        let Some(Posted { mut said, guard }) = posted.ok_or_else(gone)? else {
            return Ok(accepted());
        };
        let is_resumable = session.is_resumable();
        if !accepts_events(headers) {
            return match answers(&mut said, is_batch).await {
                Some(answer) => {
                    session.forget(said.stream);
                    Ok(answer.response(is_resumable))
                }
                None if said.is_cut() => Ok(cut_off()),
                None => Err(gone()),
            };
        }
        let form = form(delivery, is_resumable, headers);
        let first = match form.is_primed {
            _ if form.ends_early => None,
            true => tokio::time::timeout(PROMPT, said.recv()).await.ok().flatten(),
            false => said.recv().await,
        };
        match first {
            Some(event) if event.is_answer() && said.is_over() => {
                let answer = Answer { message: event.message.clone(), is_made: event.is_made };
                if delivery != Delivery::Json && answer.status(is_resumable) == StatusCode::OK {
                    return Ok(Stream { form, said, guard: Some(guard) }.begin(Some(event)));
                }
                session.forget(said.stream);
                Ok(answer.response(is_resumable))
            }
            first => Ok(Stream { form, said, guard: Some(guard) }.begin(first)),
        }
    }

    /// A link of the modern era on which answers and notifications for this message cannot be confused with others.
    fn shared_for(self: &Arc<Self>, message: &[u8]) -> Result<Arc<Session>, Refusal> {
        let mut shared = self.shared.lock();
        shared.retain(|session| !session.is_closed());
        if let Some(free) = shared.iter().find(|session| session.has_space_for(message)) {
            return Ok(Arc::clone(free));
        }
        if shared.len() >= MAX_SESSIONS {
            return Err(full_up());
        }
        let session = self.open(String::new())?;
        shared.push(Arc::clone(&session));
        Ok(session)
    }

    fn open(self: &Arc<Self>, id: String) -> Result<Arc<Session>, Refusal> {
        let mut sessions = self.sessions.lock();
        sessions.retain(|_, session| !session.is_closed());
        if !id.is_empty() && sessions.len() >= MAX_SESSIONS {
            // Few clients end their sessions. One that waits for something, or listens, still needs its session.
            let idle = sessions.values().filter_map(|session| Some((session.idle_since()?, session.id.clone())));
            let (_, longest) = idle.min().ok_or_else(full_up)?;
            if let Some(left) = sessions.remove(&longest) {
                tokio::spawn(async move { left.close(LEFT).await });
            }
        }
        drop(sessions);
        let stream = self.streams.fetch_add(1, Ordering::Relaxed) + 1;
        let opened = self.backend.open(stream).map_err(|reason| plain(StatusCode::BAD_GATEWAY, &reason))?;
        Ok(Session::start(id, stream, opened, Arc::clone(&self.backend), &self.backlog))
    }

    /// The session that a request names.
    fn session(&self, headers: &HeaderMap) -> Result<Arc<Session>, Refusal> {
        let Some(id) = text(headers, SESSION) else {
            return Err(plain(StatusCode::BAD_REQUEST, "the request has no Mcp-Session-Id and is not initialize"));
        };
        let found = self.sessions.lock().get(&id).filter(|session| !session.is_closed()).cloned();
        found.ok_or_else(|| plain(StatusCode::NOT_FOUND, "this session does not exist or has ended"))
    }
}

/// A session whose client does not know its id yet. If the client disconnects before, the session is unreachable and
/// ends.
struct Newborn<'a> {
    gateway: &'a Gateway,
    session: Option<&'a Arc<Session>>,
}

impl Drop for Newborn<'_> {
    fn drop(&mut self) {
        if let Some(session) = self.session.map(Arc::clone) {
            self.gateway.sessions.lock().remove(&session.id);
            tokio::spawn(async move { session.close("the client hung up").await });
        }
    }
}

fn full_up() -> Refusal {
    let reason = format!("{MAX_SESSIONS} sessions are in use, the maximum; try again once one of them has ended");
    plain(StatusCode::SERVICE_UNAVAILABLE, &reason)
}

fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
}

fn check_version(headers: &HeaderMap) -> Result<(), Refusal> {
    match text(headers, VERSION).filter(|version| Revision::parse(version).is_none()) {
        None => Ok(()),
        Some(version) => Err(plain(StatusCode::BAD_REQUEST, &format!("unknown MCP-Protocol-Version {version:?}"))),
    }
}

fn accepts_events(headers: &HeaderMap) -> bool {
    let accept = text(headers, "accept").unwrap_or_default();
    accept.contains("text/event-stream") || accept.contains("text/*") || accept.contains("*/*")
}
