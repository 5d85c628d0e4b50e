//! Messages as lines over two byte streams: pipes of a child, a Unix socket, TCP.

use super::http::HttpError;
use super::link::{Incoming, Link, Served};
use super::stdio::{Onlooker, Pipe};
use crate::wire::LineFramer;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// How long the end of standard error is waited for once standard output has ended, so that a server's last words come
/// before the news of its end.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// How long a connection may take to come about.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Connects to a Unix socket.
pub async fn connect_unix(path: &Path, onlooker: Option<Onlooker>) -> Result<Link, HttpError> {
    let place = format!("unix:{}", path.display());
    let stream = connected(&place, UnixStream::connect(path)).await?;
    Ok(carry(stream.into_split(), onlooker))
}

/// Connects to `HOST:PORT`.
pub async fn connect_tcp(address: &str, onlooker: Option<Onlooker>) -> Result<Link, HttpError> {
    let place = format!("tcp:{address}");
    let stream = connected(&place, TcpStream::connect(address)).await?;
    let _ = stream.set_nodelay(true);
    Ok(carry(stream.into_split(), onlooker))
}

async fn connected<S>(place: &str, connecting: impl Future<Output = io::Result<S>>) -> Result<S, HttpError> {
    match timeout(CONNECT_TIMEOUT, connecting).await {
        Ok(Ok(stream)) => Ok(stream),
        Ok(Err(error)) if error.kind() == io::ErrorKind::NotFound => {
            Err(HttpError::Refused(format!("cannot reach {place}: there is no such socket")))
        }
        Ok(Err(error)) => Err(HttpError::unreachable(place, &error)),
        Err(_) => Err(HttpError::Exchange(format!("cannot reach {place}: no connection within {CONNECT_TIMEOUT:?}"))),
    }
}

/// A link over two byte streams.
pub(super) fn carry(
    (from, to): (impl AsyncRead + Unpin + Send + 'static, impl AsyncWrite + Unpin + Send + 'static),
    onlooker: Option<Onlooker>,
) -> Link {
    let onlooker = onlooker.unwrap_or_else(|| Arc::new(|_, _| {}));
    let (link, Served { outgoing, incoming }) = Link::served();
    tokio::spawn(write_lines(to, outgoing, Arc::clone(&onlooker)));
    tokio::spawn(read_lines(from, incoming, onlooker, None));
    link
}

/// Writes each message as a line; closes the stream after the last.
pub(super) async fn write_lines(
    mut to: impl AsyncWrite + Unpin,
    mut outgoing: mpsc::Receiver<Vec<u8>>,
    onlooker: Onlooker,
) {
    while let Some(mut message) = outgoing.recv().await {
        message.push(b'\n');
        onlooker(Pipe::Stdin, Some(&message));
        if to.write_all(&message).await.is_err() {
            break;
        }
    }
    let _ = to.shutdown().await;
    onlooker(Pipe::Stdin, None);
}

/// Passes each line that comes in on as a message; at the end, waits a while for `said`.
pub(super) async fn read_lines(
    mut from: impl AsyncRead + Unpin,
    incoming: mpsc::Sender<Incoming>,
    onlooker: Onlooker,
    said: Option<JoinHandle<()>>,
) {
    let mut framer = LineFramer::default();
    let mut chunk = vec![0u8; 64 << 10];
    let mut messages = Vec::new();
    loop {
        let got = tokio::select! {
            got = from.read(&mut chunk) => got.unwrap_or(0),
            // Nobody hears what is still to come.
            () = incoming.closed() => return,
        };
        let mut keep = |frame: crate::wire::Frame<'_>| {
            let body = frame.framing.body(frame.payload);
            if !body.trim_ascii().is_empty() {
                messages.push(body.to_vec());
            }
        };
        if got == 0 {
            framer.finish(&mut keep);
            onlooker(Pipe::Stdout, None);
        } else {
            onlooker(Pipe::Stdout, Some(&chunk[..got]));
            framer.push(&chunk[..got], &mut keep);
        }
        for message in messages.drain(..) {
            if incoming.send(Incoming::Message(message)).await.is_err() {
                return;
            }
        }
        if got == 0 {
            if let Some(said) = said {
                let _ = timeout(LAST_WORDS, said).await;
            }
            let _ = incoming.send(Incoming::Closed).await;
            return;
        }
    }
}
