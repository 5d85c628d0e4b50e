//! A WebSocket as a [`Link`]: one message per frame, with sub-protocol `mcp`. No revision of MCP describes this
//! transport; existing servers use it this way.

use super::error_response::Refusal;
use super::http::{Body, HttpClient, HttpError, empty};
use super::http_endpoint::shared_headers;
use super::remote::{NoticeCallback, Remote, TransportNotice};
use crate::transport::budget::{BudgetPermit, IntakeLimits, Receiver, Sender};
use crate::transport::link::{Incoming, Link, Served};
use crate::wire::Direction;
use crate::wire::MessageLimit;
use crate::wire::text::error_chain;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use hyper::header::{
    CONNECTION, HeaderMap, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL,
    SEC_WEBSOCKET_VERSION, UPGRADE,
};
use hyper::upgrade::OnUpgrade;
use hyper::{Response, StatusCode};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex as StdMutex;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Mutex;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::error::{CapacityError, Error, ProtocolError, SubProtocolError};
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

/// Observes every message; `None` means that the direction ended.
pub(crate) type MessageObserver = Arc<dyn Fn(Direction, Option<&[u8]>) + Send + Sync>;

/// A stream that carries frames.
trait Bytes: AsyncRead + AsyncWrite + Unpin + Send + 'static {}
impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> Bytes for S {}

type Socket<S> = WebSocketStream<S>;

/// The sub-protocol.
const PROTOCOL: &str = "mcp";

/// The maximum bytes of unsent pongs before the peer must read them, and the time limit for that.
const MAX_PONGS: usize = 64 << 10;
const PONGS_TAKEN: Duration = Duration::from_secs(5);

/// The time limits for opening and for closing a connection.
const OPENING: Duration = Duration::from_secs(10);
const CLOSING: Duration = Duration::from_secs(1);

/// Connects to a server at a `ws(s)` URL.
///
/// # Errors
/// The server cannot be reached, or does not accept a WebSocket.
pub(crate) async fn connect(
    remote: &Remote,
    report: NoticeCallback,
    observer: Option<MessageObserver>,
) -> Result<Link, HttpError> {
    let socket = match open(remote, true).await? {
        Some(socket) => socket,
        None => {
            report(TransportNotice::Step("the server does not support the sub-protocol mcp; connecting without it"));
            open(remote, false)
                .await?
                .ok_or_else(|| HttpError::Exchange("the server requires a sub-protocol".into()))?
        }
    };
    let bounds = Bounds { why: IntakeLimits::of_server(remote.limit).exceeded(), meter: Meter::default() };
    Ok(carry(socket, bounds, report, observer.unwrap_or_else(|| Arc::new(|_, _| {}))))
}

fn carry(socket: Socket<impl Bytes>, bounds: Bounds, report: NoticeCallback, observer: MessageObserver) -> Link {
    let (link, Served { outgoing, incoming }) = Link::served();
    let (sink, stream) = socket.split();
    let sink = Arc::new(Mutex::new(sink));
    let reader = Reader { stream, sink: Arc::clone(&sink), owed: 0, bounds, report, observer: Arc::clone(&observer) };
    tokio::spawn(async move {
        let reading = reader.read(incoming);
        tokio::pin!(reading);
        let writing = write(&sink, outgoing, observer);
        tokio::pin!(writing);
        let is_usable = tokio::select! {
            () = writing.as_mut() => {
                let _ = timeout(CLOSING, reading).await;
                return;
            }
            is_usable = reading.as_mut() => is_usable,
        };
        if is_usable {
            writing.await;
        }
    });
    link
}

/// The response that accepts a client's WebSocket.
///
/// # Errors
/// Why the request is rejected.
pub(crate) fn accept(headers: &HeaderMap) -> Result<Response<Body>, &'static str> {
    let key = headers.get(SEC_WEBSOCKET_KEY).ok_or("the request has no Sec-WebSocket-Key")?;
    if headers.get(SEC_WEBSOCKET_VERSION).is_none_or(|version| version != "13") {
        return Err("Sec-WebSocket-Version must be 13");
    }
    let accepted = derive_accept_key(key.as_bytes());
    let accepted = HeaderValue::try_from(accepted).map_err(|_| "invalid Sec-WebSocket-Key")?;
    let mut response = Response::new(empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let answered = response.headers_mut();
    answered.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    answered.insert(UPGRADE, HeaderValue::from_static("websocket"));
    answered.insert(SEC_WEBSOCKET_ACCEPT, accepted);
    let offered = headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter().filter_map(|value| value.to_str().ok());
    if offered.flat_map(|value| value.split(',')).any(|name| name.trim() == PROTOCOL) {
        answered.insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(PROTOCOL));
    }
    Ok(response)
}

/// The link to a client whose WebSocket was accepted; a closed link if the upgrade failed.
pub(crate) async fn served(upgrade: OnUpgrade, intake: IntakeLimits) -> Link {
    let Ok(Ok(upgraded)) = timeout(OPENING, upgrade).await else { return Link::served().0 };
    let (limits, why) = (limits(intake.limit), intake.exceeded());
    let meter = Meter(Some(Arc::new(StdMutex::new((intake.share, 0)))));
    let metered = Metered { stream: TokioIo::new(upgraded), meter: meter.clone() };
    let socket = WebSocketStream::from_raw_socket(metered, Role::Server, Some(limits)).await;
    carry(socket, Bounds { why, meter }, Arc::new(|_| {}), Arc::new(|_, _| {}))
}

fn limits(limit: MessageLimit) -> WebSocketConfig {
    // The buffer lives as long as the connection. A smaller one is just as fast for messages in pieces.
    let config = WebSocketConfig::default().read_buffer_size(32 << 10);
    config.max_message_size(Some(limit.bytes())).max_frame_size(Some(limit.bytes()))
}

/// Counts what a listener's client has sent since its last complete message.
#[derive(Clone, Default)]
struct Meter(Option<Arc<StdMutex<(BudgetPermit, usize)>>>);

impl Meter {
    /// Adds bytes; false if all clients of the listener together hold too many.
    fn add(&self, bytes: usize) -> bool {
        let Some(meter) = &self.0 else { return true };
        let (share, held) = &mut *meter.lock();
        *held += bytes;
        share.hold(*held)
    }

    /// Subtracts a frame of this many bytes that was not part of a message.
    fn forget(&self, bytes: usize) {
        const HEAD: usize = 6;
        let Some(meter) = &self.0 else { return };
        let (share, held) = &mut *meter.lock();
        *held = held.saturating_sub(bytes + HEAD);
        let _ = share.hold(*held);
    }

    /// Resets the count after a complete message.
    fn clear(&self) {
        let Some(meter) = &self.0 else { return };
        let (share, held) = &mut *meter.lock();
        *held = 0;
        let _ = share.hold(0);
    }
}

/// A stream that fails when too much was read since the last complete message.
struct Metered<S> {
    stream: S,
    meter: Meter,
}

impl<S: AsyncRead + Unpin> AsyncRead for Metered<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        let is_taken = self.meter.add(buffer.filled().len() - before);
        Poll::Ready(if is_taken { Ok(()) } else { Err(io::Error::other(BudgetPermit::SPENT)) })
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Metered<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// Opens the socket; `None` if the server does not accept the sub-protocol.
async fn open(remote: &Remote, with_protocol: bool) -> Result<Option<Socket<TokioIo<super::http::Stream>>>, HttpError> {
    let failed = |error: &dyn std::fmt::Display| HttpError::Url(remote.url.clone(), error.to_string());
    // The HTTP client connects to http(s) instead of ws(s).
    let plain = format!("http{}", remote.url.get(2..).unwrap_or_default());
    let mut request = remote.url.as_str().into_client_request().map_err(|error| failed(&error))?;
    for (name, value) in &shared_headers(remote)? {
        request.headers_mut().append(name, value.clone());
    }
    if with_protocol {
        request.headers_mut().insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(PROTOCOL));
    }
    let uri = plain.parse().map_err(|error: hyper::http::uri::InvalidUri| failed(&error))?;
    let stream = HttpClient::new(remote)?.connect(uri).await?;
    let opening = client_async_with_config(request, TokioIo::new(stream), Some(limits(remote.limit)));
    match timeout(OPENING, opening).await {
        Ok(Ok((socket, _))) => Ok(Some(socket)),
        Ok(Err(Error::Protocol(ProtocolError::SecWebSocketSubProtocolError(SubProtocolError::NoSubProtocol)))) => {
            Ok(None)
        }
        Ok(Err(Error::Http(response))) => Err(refused(&response)),
        Ok(Err(error)) => Err(HttpError::NoWebSocket(format!("cannot open the WebSocket: {}", error_chain(&error)))),
        Err(_) => Err(HttpError::NoWebSocket(format!("the WebSocket did not open within {OPENING:?}"))),
    }
}

fn refused(response: &Response<Option<Vec<u8>>>) -> HttpError {
    let body = response.body().as_deref().unwrap_or_default();
    let refusal = Refusal::read(response.status(), response.headers(), body);
    let reported = format!("the server answered the WebSocket handshake with {refusal}");
    match response.status() {
        StatusCode::UNAUTHORIZED => HttpError::Token(reported),
        _ => HttpError::NoWebSocket(reported),
    }
}

type Sink<S> = Arc<Mutex<SplitSink<Socket<S>, Message>>>;

async fn write(sink: &Sink<impl Bytes>, mut outgoing: Receiver<Vec<u8>>, observer: MessageObserver) {
    while let Some(message) = outgoing.recv().await {
        observer(Direction::ClientToServer, Some(&message));
        let frame = match String::from_utf8(message) {
            Ok(text) => Message::text(text),
            Err(error) => Message::binary(error.into_bytes()),
        };
        if sink.lock().await.send(frame).await.is_err() {
            break;
        }
    }
    observer(Direction::ClientToServer, None);
    let _ = timeout(CLOSING, async { sink.lock().await.close().await }).await;
}

/// The error for a message that is too long, and the count of unfinished ones.
struct Bounds {
    why: String,
    meter: Meter,
}

/// The reading half of a socket.
struct Reader<S> {
    stream: SplitStream<Socket<S>>,
    /// The writing half, on which pongs are sent.
    sink: Sink<S>,
    /// The bytes of pongs that may still be unsent.
    owed: usize,
    bounds: Bounds,
    report: NoticeCallback,
    observer: MessageObserver,
}

impl<S: Bytes> Reader<S> {
    /// Passes messages on until the end. Returns whether the socket can still be written to.
    async fn read(mut self, incoming: Sender<Incoming>) -> bool {
        let mut failed = None;
        let ended = loop {
            let message: bytes::Bytes = match self.stream.next().await {
                Some(Ok(Message::Text(text))) => text.into(),
                Some(Ok(Message::Binary(bytes))) => bytes,
                Some(Ok(Message::Close(frame))) => {
                    break frame
                        .map(|frame| format!("the server closed the WebSocket: {} {}", frame.code, frame.reason));
                }
                Some(Ok(Message::Ping(asked))) => {
                    self.bounds.meter.forget(asked.len());
                    if self.owe(asked.len()).await {
                        continue;
                    }
                    failed = Some(format!("the peer sends pings but has not read any pong for {PONGS_TAKEN:?}"));
                    break None;
                }
                Some(Ok(Message::Pong(reported))) => {
                    self.bounds.meter.forget(reported.len());
                    continue;
                }
                Some(Ok(Message::Frame(_))) => continue,
                Some(Err(Error::Capacity(CapacityError::MessageTooLong { .. }))) => {
                    failed = Some(self.bounds.why.clone());
                    break None;
                }
                Some(Err(Error::ConnectionClosed)) | None => break None,
                Some(Err(error)) => break Some(format!("the WebSocket connection broke: {}", error_chain(&error))),
            };
            self.bounds.meter.clear();
            (self.observer)(Direction::ServerToClient, Some(&message));
            if incoming.send(Incoming::Message(message.into())).await.is_err() {
                return true;
            }
        };
        if let Some(ended) = ended {
            (self.report)(TransportNotice::Advice(&ended));
        }
        (self.observer)(Direction::ServerToClient, None);
        let is_usable = failed.is_none();
        let _ = incoming.send(failed.map_or(Incoming::Closed, Incoming::Failed)).await;
        is_usable
    }

    /// Counts a pong. Pongs wait in memory until the peer reads them, so when there are many, nothing more is read
    /// until they are sent. False if the peer does not read them.
    async fn owe(&mut self, bytes: usize) -> bool {
        const HEAD: usize = 14;
        self.owed += bytes + HEAD;
        if self.owed <= MAX_PONGS {
            return true;
        }
        self.owed = 0;
        let taken = timeout(PONGS_TAKEN, async { self.sink.lock().await.flush().await }).await;
        // The next read reports a broken connection.
        taken.is_ok()
    }
}
