//! A WebSocket as a [`Link`]: one message a frame, sub-protocol `mcp`. No revision of MCP describes it; servers that
//! speak it do so like this (behaviour X9).

use super::exchange::{MESSAGE_LIMIT, shared_headers};
use super::http::{Body, HttpClient, HttpError, empty, whole};
use super::link::{Incoming, Link, Served};
use super::refusal::Refusal;
use super::remote::{Remote, Tell, Told};
use crate::wire::Direction;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use hyper::header::{
    CONNECTION, HeaderMap, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL,
    SEC_WEBSOCKET_VERSION, UPGRADE,
};
use hyper::upgrade::OnUpgrade;
use hyper::{Response, StatusCode};
use hyper_util::rt::TokioIo;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::error::{CapacityError, Error, ProtocolError, SubProtocolError};
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

/// Sees every message that passes; `None` tells that the direction ended.
pub type Onlooker = Arc<dyn Fn(Direction, Option<&[u8]>) + Send + Sync>;

/// What carries frames.
trait Bytes: AsyncRead + AsyncWrite + Unpin + Send + 'static {}
impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> Bytes for S {}

type Socket<S> = WebSocketStream<S>;

/// The sub-protocol.
const PROTOCOL: &str = "mcp";

/// How long the opening of a connection may take, and its closing.
const OPENING: Duration = Duration::from_secs(10);
const CLOSING: Duration = Duration::from_secs(1);

/// Connects to a server at a `ws(s)` URL.
pub async fn connect(remote: &Remote, tell: Tell, onlooker: Option<Onlooker>) -> Result<Link, HttpError> {
    let socket = match open(remote, true).await? {
        Some(socket) => socket,
        None => {
            tell(Told::Step("the server does not know the sub-protocol mcp; connecting without one"));
            open(remote, false).await?.ok_or_else(|| HttpError::Exchange("the server wants a sub-protocol".into()))?
        }
    };
    Ok(carry(socket, tell, onlooker.unwrap_or_else(|| Arc::new(|_, _| {}))))
}

fn carry(socket: Socket<impl Bytes>, tell: Tell, onlooker: Onlooker) -> Link {
    let (link, Served { outgoing, incoming }) = Link::served();
    let (sink, stream) = socket.split();
    let reading = tokio::spawn(read(stream, incoming, tell, Arc::clone(&onlooker)));
    tokio::spawn(async move {
        write(sink, outgoing, onlooker).await;
        let stop = reading.abort_handle();
        if timeout(CLOSING, reading).await.is_err() {
            stop.abort();
        }
    });
    link
}

/// The answer to a client that wants a WebSocket; in words why there is none.
pub(super) fn accept(headers: &HeaderMap) -> Result<Response<Body>, &'static str> {
    let key = headers.get(SEC_WEBSOCKET_KEY).ok_or("the request has no Sec-WebSocket-Key")?;
    if headers.get(SEC_WEBSOCKET_VERSION).is_none_or(|version| version != "13") {
        return Err("Sec-WebSocket-Version must be 13");
    }
    let accepted = derive_accept_key(key.as_bytes());
    let accepted = HeaderValue::try_from(accepted).map_err(|_| "Sec-WebSocket-Key cannot be used")?;
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

/// The link to a client whose WebSocket was accepted; a closed one where the connection did not become one.
pub(super) async fn served(upgrade: OnUpgrade) -> Link {
    let Ok(Ok(upgraded)) = timeout(OPENING, upgrade).await else { return Link::served().0 };
    let socket = WebSocketStream::from_raw_socket(TokioIo::new(upgraded), Role::Server, Some(limits())).await;
    carry(socket, Arc::new(|_| {}), Arc::new(|_, _| {}))
}

fn limits() -> WebSocketConfig {
    WebSocketConfig::default().max_message_size(Some(MESSAGE_LIMIT)).max_frame_size(Some(MESSAGE_LIMIT))
}

/// Opens the socket; `None` where the server does not take the sub-protocol.
async fn open(remote: &Remote, with_protocol: bool) -> Result<Option<Socket<TokioIo<super::http::Stream>>>, HttpError> {
    let failed = |error: &dyn std::fmt::Display| HttpError::Url(remote.url.clone(), error.to_string());
    // ws://host becomes http://host: the same ways lead there.
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
    let opening = client_async_with_config(request, TokioIo::new(stream), Some(limits()));
    match timeout(OPENING, opening).await {
        Ok(Ok((socket, _))) => Ok(Some(socket)),
        Ok(Err(Error::Protocol(ProtocolError::SecWebSocketSubProtocolError(SubProtocolError::NoSubProtocol)))) => {
            Ok(None)
        }
        Ok(Err(Error::Http(response))) => Err(refused(&response)),
        Ok(Err(error)) => Err(HttpError::NoWebSocket(format!("no WebSocket came about: {}", whole(&error)))),
        Err(_) => Err(HttpError::NoWebSocket(format!("no WebSocket came about within {OPENING:?}"))),
    }
}

fn refused(response: &Response<Option<Vec<u8>>>) -> HttpError {
    let body = response.body().as_deref().unwrap_or_default();
    let refusal = Refusal::read(response.status(), response.headers(), body);
    let told = format!("the server answered the WebSocket's opening with {refusal}");
    match response.status() {
        StatusCode::UNAUTHORIZED => HttpError::Token(told),
        _ => HttpError::NoWebSocket(told),
    }
}

async fn write(
    mut sink: SplitSink<Socket<impl Bytes>, Message>,
    mut outgoing: mpsc::Receiver<Vec<u8>>,
    onlooker: Onlooker,
) {
    while let Some(message) = outgoing.recv().await {
        onlooker(Direction::ClientToServer, Some(&message));
        let frame = match String::from_utf8(message) {
            Ok(text) => Message::text(text),
            Err(error) => Message::binary(error.into_bytes()),
        };
        if sink.send(frame).await.is_err() {
            break;
        }
    }
    onlooker(Direction::ClientToServer, None);
    let _ = timeout(CLOSING, sink.close()).await;
}

async fn read(
    mut stream: SplitStream<Socket<impl Bytes>>,
    incoming: mpsc::Sender<Incoming>,
    tell: Tell,
    onlooker: Onlooker,
) {
    let ended = loop {
        let message: bytes::Bytes = match stream.next().await {
            Some(Ok(Message::Text(text))) => text.into(),
            Some(Ok(Message::Binary(bytes))) => bytes,
            Some(Ok(Message::Close(frame))) => {
                break frame.map(|frame| format!("the server closed the WebSocket: {} {}", frame.code, frame.reason));
            }
            Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => continue,
            Some(Err(Error::Capacity(CapacityError::MessageTooLong { .. }))) => {
                break Some(format!("the server sent a message of more than {} MiB", MESSAGE_LIMIT >> 20));
            }
            Some(Err(Error::ConnectionClosed)) | None => break None,
            Some(Err(error)) => break Some(format!("the WebSocket broke: {}", whole(&error))),
        };
        onlooker(Direction::ServerToClient, Some(&message));
        if incoming.send(Incoming::Message(message.to_vec())).await.is_err() {
            return;
        }
    };
    if let Some(ended) = ended {
        tell(Told::Advice(&ended));
    }
    onlooker(Direction::ServerToClient, None);
    let _ = incoming.send(Incoming::Closed).await;
}
