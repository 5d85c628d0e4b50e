//! A tapped HTTP session for its control socket: a message to the server is a request of our own with the session's
//! headers; one to the client is put between the events of a stream that is open.

use super::Exchanges;
use super::body::{Piece, Reading};
use crate::protocol::http::{ToolMarks, modern_headers, modern_version};
use crate::tap::answers::Answers;
use crate::tap::control::Session;
use crate::transport::http::{HttpClient, full};
use crate::wire::{Direction, Envelope, Framing};
use http_body_util::BodyExt;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Request, Uri};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::Instant;
use tokio::runtime::Handle;

/// Headers of a client's request that say something of its own body or connection.
const OF_ITS_OWN: [HeaderName; 8] = [
    header::HOST,
    header::CONTENT_LENGTH,
    header::CONNECTION,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    header::EXPECT,
    header::ACCEPT_ENCODING,
    header::TE,
];
/// So much of a refusal's text is told.
const TOLD: usize = 400;

/// See the module.
pub struct HttpSession {
    /// What is recorded, and what is known of the sessions.
    pub exchanges: Arc<Exchanges>,
    /// Who waits for answers.
    pub answers: Arc<Answers>,
    /// Reaches the server.
    pub client: HttpClient,
    /// The MCP endpoint.
    pub url: Uri,
    /// The user's own headers.
    pub headers: HeaderMap,
    /// Where requests are made.
    pub runtime: Handle,
}

impl Session for HttpSession {
    fn put(&self, toward: Direction, stream: u32, message: &[u8], deadline: Instant) -> Result<(), String> {
        let stream = self.exchanges.choose(stream, toward)?;
        match toward {
            Direction::ServerToClient => self.exchanges.insert(stream, message),
            Direction::ClientToServer => self.post(stream, message, deadline),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        [("streams".to_owned(), self.exchanges.sessions().into())].into_iter().collect()
    }
}

impl HttpSession {
    /// Posts a message and waits until the server has taken it.
    fn post(&self, stream: u32, message: &[u8], deadline: Instant) -> Result<(), String> {
        let envelope = Envelope::scan(message);
        let mut headers = self.exchanges.headers_of(stream).unwrap_or_default();
        OF_ITS_OWN.iter().for_each(|name| drop(headers.remove(name)));
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
        let mut request = Request::post(self.url.clone());
        if let Some(own) = request.headers_mut() {
            *own = headers;
        }
        let request = request.body(full(message.to_vec())).map_err(|error| error.to_string())?;
        self.exchanges.record_injected(stream, Direction::ClientToServer, Framing::Whole, message);
        let (taken, told) = channel();
        let (exchanges, answers, client) =
            (Arc::clone(&self.exchanges), Arc::clone(&self.answers), self.client.clone());
        self.runtime.spawn(async move {
            match client.send(request).await {
                Ok(response) => read(response, stream, &exchanges, &answers, &taken).await,
                Err(error) => drop(taken.send(Err(error.to_string()))),
            }
        });
        // A server may send its head with the answer only: then it has the message, and the answer is waited for.
        told.recv_timeout(deadline.saturating_duration_since(Instant::now())).unwrap_or(Ok(()))
    }
}

/// Reads what a request of ours brings: the answer goes to who waits for it, all of it into the reel.
async fn read(
    response: hyper::Response<hyper::body::Incoming>,
    stream: u32,
    exchanges: &Exchanges,
    answers: &Answers,
    taken: &Sender<Result<(), String>>,
) {
    let (head, mut body) = response.into_parts();
    let kind = head.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let mut reading = Reading::of(Some(kind), true);
    let failed = !head.status.is_success();
    if !failed {
        let _ = taken.send(Ok(()));
    }
    let mut said = String::new();
    let mut see = |piece: Piece<'_>| {
        let (framing, payload) = match &piece {
            Piece::Whole(bytes) => (Framing::Whole, &bytes[..]),
            Piece::Event(block) => (Framing::Sse, *block),
            Piece::Block { joined: Some(message), .. } => (Framing::Whole, &message[..]),
            Piece::Other(_, kept) => {
                said = String::from_utf8_lossy(kept).into_owned();
                return;
            }
            _ => return,
        };
        let message = framing.body(payload);
        if failed {
            said = String::from_utf8_lossy(message).into_owned();
        }
        exchanges.record_injected(stream, Direction::ServerToClient, framing, payload);
        let _ = answers.keep(stream, Direction::ServerToClient, message.to_vec());
    };
    while let Some(Ok(frame)) = body.frame().await {
        if let Some(bytes) = frame.data_ref() {
            reading.push(bytes, &mut see);
        }
    }
    reading.finish(&mut see);
    if failed {
        let said: String = said.trim().chars().take(TOLD).collect();
        let _ = taken.send(Err(format!("the server refused it with status {}: {said}", head.status.as_u16())));
    }
}
