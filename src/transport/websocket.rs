//! A WebSocket as a [`Link`]: one message a frame, sub-protocol `mcp`. No revision of MCP describes it; servers that
//! speak it do so like this (behaviour X9).

use super::exchange::{MESSAGE_LIMIT, shared_headers};
use super::http::{HttpClient, HttpError, whole};
use super::link::{Incoming, Link, Served};
use super::remote::{Remote, Tell, Told};
use crate::wire::Direction;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use hyper::header::{HeaderValue, SEC_WEBSOCKET_PROTOCOL};
use hyper_util::rt::TokioIo;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::error::{CapacityError, Error, ProtocolError, SubProtocolError};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

/// Sees every message that passes; `None` tells that the direction ended.
pub type Onlooker = Arc<dyn Fn(Direction, Option<&[u8]>) + Send + Sync>;

type Socket = WebSocketStream<TokioIo<super::http::Stream>>;

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
    let onlooker = onlooker.unwrap_or_else(|| Arc::new(|_, _| {}));
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
    Ok(link)
}

/// Opens the socket; `None` where the server does not take the sub-protocol.
async fn open(remote: &Remote, with_protocol: bool) -> Result<Option<Socket>, HttpError> {
    let failed = |error: &dyn std::fmt::Display| HttpError::Url(remote.url.clone(), error.to_string());
    // ws://host becomes http://host: the same ways lead there.
    let plain = format!("http{}", remote.url.get(2..).unwrap_or_default());
    let mut request = remote.url.as_str().into_client_request().map_err(|error| failed(&error))?;
    for (name, value) in &shared_headers(remote)? {
        request.headers_mut().append(name, value.clone());
    }
    if with_protocol {
        request.headers_mut().insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static("mcp"));
    }
    let uri = plain.parse().map_err(|error: hyper::http::uri::InvalidUri| failed(&error))?;
    let stream = HttpClient::new(remote)?.connect(uri).await?;
    let limits = WebSocketConfig::default().max_message_size(Some(MESSAGE_LIMIT)).max_frame_size(Some(MESSAGE_LIMIT));
    let opening = client_async_with_config(request, TokioIo::new(stream), Some(limits));
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

fn refused<B>(response: &hyper::Response<B>) -> HttpError {
    let status = response.status();
    let told = format!("the server answered the WebSocket's opening with HTTP {status}");
    match status.as_u16() {
        401 => HttpError::Token(told),
        _ => HttpError::NoWebSocket(told),
    }
}

async fn write(mut sink: SplitSink<Socket, Message>, mut outgoing: mpsc::Receiver<Vec<u8>>, onlooker: Onlooker) {
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

async fn read(mut stream: SplitStream<Socket>, incoming: mpsc::Sender<Incoming>, tell: Tell, onlooker: Onlooker) {
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
