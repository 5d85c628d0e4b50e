//! The two sides of each stream, as pictures and documents name them.

use crate::trace::{Event, EventKind, Opened};
use crate::wire::{Direction, Envelope, MessageKind, json};
use std::collections::BTreeMap;

/// At most this many streams have names of their own.
const MAX_NAMED: usize = 1000;

/// A client and a server for each stream. Those of the first stream have no number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Participants {
    first: Option<u32>,
    /// The names that clients and servers give themselves, or that a host gives its servers.
    names: BTreeMap<u32, [Option<String>; 2]>,
}

impl Participants {
    /// Returns whether this is the first stream that anything was asked about.
    pub(crate) fn is_first(&mut self, stream: u32) -> bool {
        *self.first.get_or_insert(stream) == stream
    }

    /// Returns `client` and `server`, with the number of the stream unless it is the first one.
    pub(crate) fn of(&mut self, stream: u32) -> [String; 2] {
        let is_first = self.is_first(stream);
        ["client", "server"].map(|side| if is_first { side.to_owned() } else { format!("{side} {stream}") })
    }

    /// Returns the one of them that sends messages in this direction.
    pub(crate) fn sender(&mut self, stream: u32, direction: Direction) -> String {
        let [client, server] = self.of(stream);
        match direction {
            Direction::ClientToServer => client,
            Direction::ServerToClient => server,
        }
    }

    /// Learns names from an event: the host's name for a server, and those of the handshake. `method` is the method of the
    /// message, or of the request that it answers.
    pub(crate) fn learn(&mut self, event: &Event<'_>, method: Option<&str>) {
        let stream = event.header.stream;
        if self.names.len() >= MAX_NAMED && !self.names.contains_key(&stream) {
            return;
        }
        if event.header.kind == EventKind::StreamOpened {
            self.name(stream, 1, Opened::read(event.payload).server);
        } else if matches!(method, Some("initialize" | "server/discover")) {
            let (side, name) = introduced(event.body());
            self.name(stream, side, name);
        }
    }

    /// The host's own name for its server comes first, and is kept.
    fn name(&mut self, stream: u32, side: usize, name: Option<String>) {
        let Some(name) = name else { return };
        self.names.entry(stream).or_default()[side].get_or_insert(name);
    }

    /// Returns the names of a stream's client and server, as far as they are known. Strangers chose them.
    pub(crate) fn names(&self, stream: u32) -> [Option<&str>; 2] {
        self.names.get(&stream).map(|names| names.each_ref().map(Option::as_deref)).unwrap_or_default()
    }
}

/// Returns which side introduces itself in a message of the handshake (0 is the client), and its name.
fn introduced(body: &[u8]) -> (usize, Option<String>) {
    let (side, info) = introduction(&Envelope::scan(body));
    (side, info.and_then(|info| json::str_member(info, "name")).map(|name| name.into_owned()))
}

/// Returns which side introduces itself in a message of the handshake (0 is the client), and the object with its name and
/// version.
pub(crate) fn introduction<'a>(envelope: &Envelope<'a>) -> (usize, Option<&'a [u8]>) {
    let (side, content, paths): (_, _, [&[&str]; 2]) = match envelope.kind {
        MessageKind::Result => {
            (1, envelope.result, [&["serverInfo"], &["_meta", "io.modelcontextprotocol/serverInfo"]])
        }
        _ => (0, envelope.params, [&["clientInfo"], &["_meta", "io.modelcontextprotocol/clientInfo"]]),
    };
    (side, content.and_then(|content| paths.into_iter().find_map(|path| json::at_path(content, path))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_streams_after_the_first_have_numbers() {
        let mut participants = Participants::default();
        assert_eq!(participants.of(7), ["client", "server"]);
        assert_eq!(participants.sender(3, Direction::ServerToClient), "server 3");
        assert_eq!(participants.sender(7, Direction::ClientToServer), "client");
        assert!(participants.is_first(7) && !participants.is_first(3));
    }

    #[test]
    fn both_sides_introduce_themselves_in_the_handshake() {
        for (message, expected) in [
            (r#"{"id":1,"method":"initialize","params":{"clientInfo":{"name":"ide"}}}"#, (0, Some("ide"))),
            (r#"{"id":1,"result":{"serverInfo":{"name":"db"}}}"#, (1, Some("db"))),
            (
                r#"{"id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/clientInfo":{"name":"x"}}}}"#,
                (0, Some("x")),
            ),
            (r#"{"id":1,"result":{"serverInfo":7}}"#, (1, None)),
            (r#"{"id":1,"error":{}}"#, (0, None)),
        ] {
            let (side, name) = introduced(message.as_bytes());
            assert_eq!((side, name.as_deref()), expected, "{message}");
        }
    }

    #[test]
    fn the_name_that_came_first_stays() {
        let mut participants = Participants::default();
        participants.name(1, 1, Some("files".into()));
        participants.name(1, 1, Some("filesystem-server".into()));
        participants.name(1, 0, None);
        assert_eq!(participants.names(1), [None, Some("files")]);
        assert_eq!(participants.names(2), [None, None]);
    }
}
