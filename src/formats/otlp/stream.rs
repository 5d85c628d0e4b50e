//! What is known of a stream of messages: its transport, its server, its session.

use super::attributes::{Attribute, Simple, optional, text};
use super::context::Place;
use crate::trace::Opened;
use crate::trace::described::{Header, header};
use crate::wire::text::excerpt;

/// The first revision of MCP without sessions.
const WITHOUT_SESSIONS: &str = "2026-07-28";

/// How messages are carried, and where the server is.
#[derive(Clone, Debug, Default)]
pub(super) struct Carrier {
    transport: Option<&'static str>,
    protocol: Option<&'static str>,
    protocol_version: Option<&'static str>,
    server: Option<(String, Option<u16>)>,
    client: Option<(String, Option<u16>)>,
}

impl Carrier {
    /// Reads the event that describes a stream. `is_own` if mcpreel recorded it, which uses HTTP/1.1 only.
    pub(super) fn of(opened: &Opened, is_own: bool) -> Self {
        let (transport, protocol) = match opened.transport.as_deref() {
            Some("stdio") => (Some("pipe"), None),
            Some("http") => (Some("tcp"), Some("http")),
            Some("websocket") => (Some("tcp"), Some("websocket")),
            Some("tcp") => (Some("tcp"), None),
            Some("unix") => (Some("unix"), None),
            _ => (None, None),
        };
        Self {
            transport,
            protocol,
            protocol_version: (is_own && protocol == Some("http")).then_some("1.1"),
            server: opened.url.as_deref().and_then(address),
            client: opened.client.as_deref().map(host_and_port),
        }
    }

    /// What this does not know, from the listener or connection to which the stream belongs. A server on stdio that is
    /// behind a listener is reached as that listener is.
    pub(super) fn within(mut self, outer: &Self) -> Self {
        if outer.transport.is_some() && matches!(self.transport, None | Some("pipe")) {
            self.transport = outer.transport;
            self.protocol = outer.protocol;
            self.protocol_version = outer.protocol_version;
        }
        self.server = self.server.or_else(|| outer.server.clone());
        self
    }

    /// The messages of an exchange are carried by HTTP.
    fn over_http(mut self) -> Self {
        self.transport.get_or_insert("tcp");
        self.protocol.get_or_insert("http");
        self
    }

    /// The attributes of a span of this kind.
    pub(super) fn attributes(&self, is_client: bool, is_exchange: bool) -> Vec<Attribute> {
        let here = if is_exchange { self.clone().over_http() } else { self.clone() };
        let (place, names) = match is_client {
            true => (here.server, ("server.address", "server.port")),
            false => (here.client, ("client.address", "client.port")),
        };
        let (address, port) = place.map_or((None, None), |(address, port)| (Some(address), port));
        let port = port.map(|port| (names.1, Simple::Number(port.into())));
        [
            optional("network.transport", here.transport),
            optional("network.protocol.name", here.protocol),
            optional("network.protocol.version", here.protocol_version),
            optional(names.0, address),
            port,
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// The host and port of a URL, or the path of a socket.
fn address(url: &str) -> Option<(String, Option<u16>)> {
    if let Some(path) = url.strip_prefix("unix:") {
        return Some((path.strip_prefix("//").unwrap_or(path).to_owned(), None));
    }
    if let Some(place) = url.strip_prefix("tcp:") {
        return Some(host_and_port(place.strip_prefix("//").unwrap_or(place)));
    }
    let url = url::Url::parse(url).ok()?;
    let host = url.host_str()?.trim_matches(['[', ']']).to_owned();
    Some((host, url.port_or_known_default()))
}

fn host_and_port(place: &str) -> (String, Option<u16>) {
    match place.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse().ok()?))) {
        Some((host, port)) => (host.trim_matches(['[', ']']).to_owned(), Some(port)),
        None => (place.to_owned(), None),
    }
}

/// A stream.
#[derive(Clone, Debug, Default)]
pub(super) struct Stream {
    pub carrier: Carrier,
    /// The revision of MCP that was agreed on.
    pub revision: Option<String>,
    /// The value of `Mcp-Session-Id`.
    pub session: Option<String>,
    /// The times of the first and the last message, in Unix nanoseconds.
    pub began: i64,
    pub ended: i64,
    /// Its first span.
    pub first: Option<Place>,
    /// Its duration is in the metrics.
    pub is_counted: bool,
    /// How it failed.
    pub failure: Option<&'static str>,
}

impl Stream {
    /// Notes that there was a message at this time.
    pub(super) fn pass(&mut self, time: i64) {
        self.began = if self.began == 0 { time } else { self.began.min(time) };
        self.ended = self.ended.max(time);
    }

    /// Learns from the headers of a request or a response.
    pub(super) fn learn_headers(&mut self, headers: &[Header]) {
        let session = header(headers, "mcp-session-id").map(|session| excerpt(session, 200));
        self.session = session.or(self.session.take());
    }

    /// The attributes of a session with this revision.
    pub(super) fn session_attributes(&self, own: Option<&str>) -> impl Iterator<Item = Attribute> {
        let revision = own.or(self.revision.as_deref());
        let has_session = revision.is_none_or(|revision| revision < WITHOUT_SESSIONS);
        let session = self.session.as_deref().filter(|_| has_session);
        [revision.map(|revision| text("mcp.protocol.version", revision)), optional("mcp.session.id", session)]
            .into_iter()
            .flatten()
    }
}
