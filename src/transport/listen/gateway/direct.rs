//! Sessions with one connection each: WebSockets, lines over sockets, and HTTP+SSE (2024-11-05). Everything that one
//! side sends goes to the other.

use super::session::DRAIN_TIMEOUT;
use super::{Backend, Gateway, MAX_SESSIONS, Opened, Refusal, SERVER_ENDED, full_up, plain};
use crate::process::supervisor::NO_HANDLERS;
use crate::process::supervisor::is_supervised;
use crate::transport::budget::{Receiver, Sender, WeakSender};
use crate::transport::client::http::{Body, BodyError};
use crate::transport::client::websocket;
use crate::transport::link::{Incoming, Link, Served};
use crate::transport::listen::accept::accept;
use crate::transport::local::lines;
use crate::wire::Direction;
use bytes::Bytes;
use futures_util::StreamExt;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Frame;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::upgrade::OnUpgrade;
use hyper::{Response, StatusCode};
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixListener};
use tokio::sync::oneshot;

/// The path for messages of HTTP+SSE.
pub(super) const MESSAGES: &str = "/messages";
/// The path of the stream of HTTP+SSE.
pub(super) const SSE: &str = "/sse";

/// The live sessions of this kind.
#[derive(Default)]
pub(super) struct Directs {
    open: Mutex<BTreeMap<u32, Direct>>,
    /// The streams of HTTP+SSE by their session ids.
    streams: Mutex<HashMap<String, Sse>>,
}

/// A stream of HTTP+SSE.
struct Sse {
    /// Where its client's messages go; closed once the client has disconnected.
    to: WeakSender<Incoming>,
    /// The client's end, until its first message. Any web page can request the stream, but only a reader of the stream
    /// can send a message, so the server starts only then.
    waiting: Option<Link>,
    since: Instant,
}

/// The handle of such a session.
struct Direct {
    to_server: WeakSender<Vec<u8>>,
    to_client: WeakSender<Vec<u8>>,
    /// Dropping it ends the session.
    _keep: oneshot::Sender<()>,
    /// Completes when the session has ended.
    ended: oneshot::Receiver<()>,
}

impl Directs {
    /// The session numbers.
    pub(super) fn numbers(&self) -> Vec<u32> {
        self.open.lock().keys().copied().collect()
    }

    /// Injects a message; `None` if there is no session with this number.
    ///
    /// # Errors
    /// The peer cannot take a message now.
    pub(super) fn put(
        &self,
        stream: u32,
        toward: Direction,
        message: Vec<u8>,
        see: impl FnOnce(&[u8]),
    ) -> Option<Result<(), String>> {
        let open = self.open.lock();
        let direct = open.get(&stream)?;
        let (sender, peer) = match toward {
            Direction::ClientToServer => (&direct.to_server, "server"),
            Direction::ServerToClient => (&direct.to_client, "client"),
        };
        let sender = sender.upgrade();
        let slot = sender.as_ref().and_then(|sender| sender.try_reserve(message.len()));
        Some(slot.ok_or_else(|| format!("the {peer} cannot take another message now")).map(|slot| {
            see(&message);
            slot.send(message);
        }))
    }

    /// Ends all sessions and waits for their backends.
    pub(super) async fn finish(&self) {
        self.streams.lock().clear();
        let all = std::mem::take(&mut *self.open.lock());
        let ends: Vec<_> = all.into_values().map(|direct| direct.ended).collect();
        futures_util::future::join_all(ends).await;
    }
}

impl Gateway {
    /// Serves clients that send lines over TCP, forever.
    pub(super) async fn serve_tcp(self: Arc<Self>, listener: TcpListener) {
        let next = async || listener.accept().await.map(|(stream, _)| stream);
        accept(next, move |stream: TcpStream, _| {
            let gateway = Arc::clone(&self);
            async move {
                let _ = stream.set_nodelay(true);
                // A web page can connect here, but its data begins with an HTTP head, never with JSON.
                let mut first = [0];
                if stream.peek(&mut first).await.is_ok() && matches!(first[0], b'{' | b'[') {
                    gateway.carry_lines(stream.into_split()).await;
                }
            }
        })
        .await;
    }

    /// As `serve_tcp`, over a Unix socket.
    pub(super) async fn serve_unix(self: Arc<Self>, listener: UnixListener) {
        let next = async || listener.accept().await.map(|(stream, _)| stream);
        accept(next, move |stream, _| {
            let gateway = Arc::clone(&self);
            async move {
                let peer = stream.peer_cred().ok().and_then(|peer| peer.pid());
                if peer.is_some_and(|peer| is_supervised(peer) != Some(false)) {
                    let refusal = plain(StatusCode::FORBIDDEN, NO_HANDLERS).as_error();
                    let _ = stream.into_split().1.write_all(format!("{refusal}\n").as_bytes()).await;
                } else {
                    gateway.carry_lines(stream.into_split()).await;
                }
            }
        })
        .await;
    }

    async fn carry_lines(
        self: Arc<Self>,
        (from, mut to): (impl AsyncRead + Unpin + Send + 'static, impl AsyncWrite + Unpin + Send + 'static),
    ) {
        match self.open_direct() {
            Ok((stream, opened)) => {
                let client = lines::carry((from, to), self.intake(), None);
                self.carry(stream, client, opened).await;
            }
            Err(refusal) => {
                let _ = to.write_all(format!("{}\n", refusal.as_error()).as_bytes()).await;
            }
        }
    }

    /// Accepts a client's WebSocket.
    ///
    /// # Errors
    ///
    /// The response that refuses the WebSocket.
    pub(super) fn upgrade(
        self: &Arc<Self>,
        headers: &HeaderMap,
        upgrade: Option<OnUpgrade>,
    ) -> Result<Response<Body>, Refusal> {
        let refused = |why: &str| plain(StatusCode::BAD_REQUEST, why);
        let upgrade = upgrade.ok_or_else(|| refused("this connection cannot become a WebSocket"))?;
        let response = websocket::accept(headers).map_err(refused)?;
        let (stream, opened) = self.open_direct()?;
        let gateway = Arc::clone(self);
        tokio::spawn(async move {
            let client = websocket::served(upgrade, gateway.intake()).await;
            gateway.carry(stream, client, opened).await;
        });
        Ok(response)
    }

    /// Begins HTTP+SSE: a stream of all server messages, which announces where to post messages. The server starts with
    /// the first of these.
    ///
    /// # Errors
    ///
    /// The response that refuses the stream.
    pub(super) fn begin_sse(&self) -> Result<Response<Body>, Refusal> {
        let (client, Served { outgoing, incoming }) = Link::served();
        let id = uuid::Uuid::new_v4().to_string();
        let mut streams = self.directs.streams.lock();
        streams.retain(|_, stream| stream.to.strong_count() > 0);
        if streams.len() >= MAX_SESSIONS {
            // Clients send a message at once, so the longest silent one is probably not a client.
            let silent = streams.iter().filter(|(_, stream)| stream.waiting.is_some());
            let oldest = silent.min_by_key(|(_, stream)| stream.since).map(|(id, _)| id.clone());
            streams.remove(&oldest.ok_or_else(full_up)?);
        }
        streams.insert(id.clone(), Sse { to: incoming.downgrade(), waiting: Some(client), since: Instant::now() });
        drop(streams);
        let first = Bytes::from(format!("event: endpoint\ndata: {MESSAGES}?session={id}\n\n"));
        // The stream holds the client's end, so the session ends with it.
        let said = futures_util::stream::unfold((outgoing, incoming), |(mut outgoing, incoming)| async move {
            let message = outgoing.recv().await?;
            let block = [b"event: message\ndata: ", &message[..], b"\n\n"].concat().into();
            Some((block, (outgoing, incoming)))
        });
        let blocks = futures_util::stream::once(async { first }).chain(said);
        let frames = blocks.map(|block: Bytes| Ok::<_, BodyError>(Frame::data(block)));
        let mut response = Response::new(StreamBody::new(frames).boxed_unsync());
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
        Ok(response)
    }

    /// Passes a message of HTTP+SSE to its session, which begins with the first message.
    ///
    /// # Errors
    ///
    /// The response that refuses the message.
    pub(super) async fn post_sse(self: &Arc<Self>, query: &str, line: Vec<u8>) -> Result<(), Refusal> {
        let unknown = || plain(StatusCode::NOT_FOUND, "this session does not exist or has ended");
        let session = {
            let mut streams = self.directs.streams.lock();
            let found = query.strip_prefix("session=").and_then(|id| streams.get_mut(id)).ok_or_else(unknown)?;
            let session = found.to.upgrade().ok_or_else(unknown)?;
            if let Some(client) = found.waiting.take() {
                match self.open_direct() {
                    Ok((stream, opened)) => drop(tokio::spawn(Arc::clone(self).carry(stream, client, opened))),
                    // The client may try again.
                    Err(refusal) => {
                        found.waiting = Some(client);
                        return Err(refusal);
                    }
                }
            }
            session
        };
        session.send(Incoming::Message(line)).await.map_err(|_| unknown())
    }

    fn open_direct(&self) -> Result<(u32, Opened), Refusal> {
        if self.directs.open.lock().len() >= MAX_SESSIONS {
            return Err(full_up());
        }
        let stream = self.streams.fetch_add(1, Ordering::Relaxed) + 1;
        let opened = self.backend.open(stream).map_err(|reason| plain(StatusCode::BAD_GATEWAY, &reason))?;
        Ok((stream, opened))
    }

    /// Carries messages between a client and its server until either ends.
    async fn carry(self: Arc<Self>, stream: u32, client: Link, opened: Opened) {
        let Opened { link, end } = opened;
        let ((Some(to_server), from_server), (Some(to_client), from_client)) = (link.split(), client.split()) else {
            return;
        };
        let ((keep, kept), (over, ended)) = (oneshot::channel(), oneshot::channel());
        let direct = Direct { to_server: to_server.downgrade(), to_client: to_client.downgrade(), _keep: keep, ended };
        self.directs.open.lock().insert(stream, direct);
        let is_left = AtomicBool::new(false);
        let backend = &*self.backend;
        let inward = async {
            let failed = pump(backend, stream, Direction::ClientToServer, from_client, to_server).await;
            is_left.store(true, Ordering::Relaxed);
            // Still deliver pending answers: the client may have closed only its sending direction.
            if failed.is_none() {
                tokio::time::sleep(DRAIN_TIMEOUT).await;
            }
            failed
        };
        let (by, failed) = tokio::select! {
            failed = inward => ("its client hung up", failed),
            failed = pump(backend, stream, Direction::ServerToClient, from_server, to_client) => {
                (if is_left.load(Ordering::Relaxed) { "its client hung up" } else { SERVER_ENDED }, failed)
            }
            _ = kept => ("the gateway ended", None),
        };
        if let Some(why) = &failed {
            self.backend.failed(stream, why);
        }
        let by = failed.as_deref().unwrap_or(by);
        self.directs.open.lock().remove(&stream);
        end.await;
        self.backend.closed(stream, by);
        drop(over);
    }
}

/// Passes one direction's messages through the backend until either end closes. Returns why the connection failed, if
/// it did.
async fn pump(
    backend: &dyn Backend,
    stream: u32,
    direction: Direction,
    mut from: Receiver<Incoming>,
    to: Sender<Vec<u8>>,
) -> Option<String> {
    while let Some(incoming) = from.recv().await {
        match incoming {
            Incoming::Message(message) => {
                if let Some(message) = backend.pass(stream, direction, message)
                    && to.send(message).await.is_err()
                {
                    return None;
                }
            }
            Incoming::Stderr(bytes) => backend.see_stderr(stream, &bytes),
            Incoming::Undelivered(_) => {}
            Incoming::Closed => return None,
            Incoming::Failed(why) => return Some(why),
        }
    }
    None
}
