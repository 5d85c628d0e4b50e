//! Imports the MCP logs of Claude Desktop: `mcp-server-NAME.log` of one server, and `mcp.log` of all.

use super::reading::{Events, Format, Lines, Place, Reader, Unit, rfc3339};
use super::{ImportFormat, Opened};
use crate::trace::{EventKind, Flags};
use crate::wire::{Direction, Envelope, Framing, json};
use std::io::BufRead;

/// See the module.
pub(super) const IMPORT: ImportFormat = ImportFormat {
    name: "claude-desktop",
    about: "MCP logs of Claude Desktop (mcp-server-NAME.log, mcp.log)",
    lacks: "exact bytes, HTTP heads, the commands of servers",
    detect: |start| start.split(|byte| *byte == b'\n').take(200).any(|line| Entry::parse(line).is_some()),
    open,
};

fn open(input: Box<dyn BufRead + Send>) -> Opened {
    Ok(Box::new(Reader::open(Lines::new(input), Log::default(), IMPORT.name)?))
}

const LEVELS: [&str; 5] = ["debug", "info", "warn", "warning", "error"];

/// A line with a time.
struct Entry<'a> {
    time: i64,
    server: &'a str,
    text: &'a str,
}

impl<'a> Entry<'a> {
    /// `TIME [server] [level] TEXT`, `TIME [level] [server] TEXT`, or `TIME [level] TEXT`.
    fn parse(line: &'a [u8]) -> Option<Self> {
        let line = std::str::from_utf8(line).ok()?;
        let (time, rest) = line.split_once(" [")?;
        if time.len() != "2026-01-02T03:04:05.678Z".len() || !time.ends_with('Z') {
            return None;
        }
        let time = rfc3339(time).ok()?;
        if let Some((_, rest)) = rest.split_once(']').filter(|(level, _)| LEVELS.contains(level)) {
            let named = rest.strip_prefix(" [").and_then(|rest| rest.split_once("] "));
            let (server, text) = named.unwrap_or(("", rest.trim_start()));
            return Some(Self { time, server, text });
        }
        let (server, text) = LEVELS.iter().find_map(|level| rest.split_once(&format!("] [{level}]")))?;
        Some(Self { time, server, text: text.trim_start() })
    }
}

/// The current session of a server.
struct Session {
    server: String,
    stream: u32,
    is_initialized: bool,
}

/// The maximum number of servers in a log.
const MAX_SERVERS: usize = 1000;

/// The maximum length of a note, in bytes.
const MAX_NOTE_BYTES: usize = 1 << 20;

#[derive(Default)]
struct Log {
    sessions: Vec<Session>,
    streams: u32,
    /// The session of the last line with a time.
    current: Place,
    /// The host's remark whose details follow on further lines.
    remark: Option<String>,
}

impl Format for Log {
    fn take(&mut self, unit: Unit<'_>, out: &mut Events) -> Result<(), String> {
        match Entry::parse(unit.text) {
            Some(entry) => {
                self.finish_remark(out);
                self.entry(&entry, out)
            }
            None => {
                self.go_on(unit.text, out);
                Ok(())
            }
        }
    }

    fn end(&mut self, out: &mut Events) {
        self.finish_remark(out);
    }
}

impl Log {
    fn entry(&mut self, entry: &Entry<'_>, out: &mut Events) -> Result<(), String> {
        out.at(entry.time);
        for (prefix, direction) in
            [("Message from client: ", Direction::ClientToServer), ("Message from server: ", Direction::ServerToClient)]
        {
            if let Some(message) = entry.text.strip_prefix(prefix) {
                return self.message(entry.server, direction, message, out);
            }
        }
        let begins = entry.text.starts_with("Initializing server...");
        self.current = self.place(entry.server, begins, out)?;
        self.remark = Some(entry.text.to_owned());
        if !entry.text.ends_with('{') {
            self.finish_remark(out);
        }
        Ok(())
    }

    fn message(&mut self, server: &str, direction: Direction, text: &str, out: &mut Events) -> Result<(), String> {
        let whole = json::skip_value(text.as_bytes(), 0).filter(|_| text.starts_with(['{', '[']));
        let end = whole.unwrap_or_else(|| text.find(METADATA).unwrap_or(text.len()));
        let payload = &text.as_bytes()[..end];
        let initializes = Envelope::scan(payload).method.as_deref() == Some("initialize");
        self.current = self.place(server, initializes && self.is_initialized(server), out)?;
        if initializes && let Some(session) = self.sessions.iter_mut().find(|session| session.server == server) {
            session.is_initialized = true;
        }
        let flags = if whole.is_none() { Flags::TRUNCATED } else { Flags::default() };
        let flags = Flags::toward(direction).with(flags);
        out.push(self.current, EventKind::Message, flags, Framing::Lf, payload.to_vec());
        Ok(())
    }

    fn is_initialized(&self, server: &str) -> bool {
        self.sessions.iter().any(|session| session.server == server && session.is_initialized)
    }

    /// The stream of a server. If a session begins, it is a new one.
    fn place(&mut self, server: &str, begins: bool, out: &mut Events) -> Result<Place, String> {
        let known = self.sessions.iter().position(|session| session.server == server);
        if let (Some(known), false) = (known, begins) {
            return Ok(Place { stream: self.sessions[known].stream, exchange: 0 });
        }
        let session = Session { server: server.to_owned(), stream: self.streams, is_initialized: false };
        let place = Place { stream: session.stream, exchange: 0 };
        match known {
            Some(known) => self.sessions[known] = session,
            None if self.sessions.len() == MAX_SERVERS => return Err("more than 1,000 servers".to_owned()),
            None => self.sessions.push(session),
        }
        self.streams = self.streams.saturating_add(1);
        if !server.is_empty() {
            let opened = serde_json::json!({"server": server});
            out.describe(place, EventKind::StreamOpened, Flags::default(), &opened);
        }
        Ok(place)
    }

    /// Takes a line without a time: a detail of a remark, or what the server wrote to its standard error.
    fn go_on(&mut self, line: &[u8], out: &mut Events) {
        let Some(remark) = &mut self.remark else { return out.stderr(self.current, line) };
        if remark.len() < MAX_NOTE_BYTES {
            remark.push('\n');
            remark.push_str(&String::from_utf8_lossy(line));
        }
        if line.starts_with(b"}") {
            self.finish_remark(out);
        }
    }

    fn finish_remark(&mut self, out: &mut Events) {
        if let Some(remark) = self.remark.take() {
            let noted = serde_json::json!({"text": remark.strip_suffix(METADATA).unwrap_or(&remark)});
            out.describe(self.current, EventKind::Note, Flags::default(), &noted);
        }
    }
}

/// What the logger adds to a line without details.
const METADATA: &str = " { metadata: undefined }";

#[cfg(test)]
mod tests {
    use super::super::reading::tests::{read_as, texts};
    use super::*;

    #[test]
    fn a_log_of_one_server_has_a_stream_per_session() {
        let text = "2026-01-02T03:04:05.500Z [time [x]] [info] Initializing server... { metadata: undefined }\n\
                    2026-01-02T03:04:05.600Z [time [x]] [info] Using MCP server command: node {\n  metadata: {\n    args: []\n  }\n} %o\n\
                    warning: old\n\
                    2026-01-02T03:04:05.700Z [time [x]] [info] Message from client: {\"id\":1.0,\"method\":\"initialize\"} { metadata: undefined }\n\
                    2026-01-02T03:04:05.800Z [time [x]] [info] Message from server: {\"id\":1,\"result\":{\"t\":\"} { metadata: undefined }\"}}\n\
                    2026-01-02T03:04:06.000Z [time [x]] [info] Message from client: {\"id\":1,\"method\":\"initialize\"}\n\
                    2026-01-02T03:04:06.100Z [time [x]] [info] Message from server: {\"id\":1,\"resu... { metadata: undefined }\n";
        let (header, events) = read_as("claude-desktop", text);
        assert_eq!(header.created, 1_767_323_045_500_000_000);
        let expected = [
            ("opened", "{\"server\":\"time [x]\"}"),
            ("note", "{\"text\":\"Initializing server...\"}"),
            ("note", "{\"text\":\"Using MCP server command: node {\\n  metadata: {\\n    args: []\\n  }\\n} %o\"}"),
            ("stderr", "warning: old\n"),
            ("message", "{\"id\":1.0,\"method\":\"initialize\"}"),
            ("message", "{\"id\":1,\"result\":{\"t\":\"} { metadata: undefined }\"}}"),
            ("opened", "{\"server\":\"time [x]\"}"),
            ("message", "{\"id\":1,\"method\":\"initialize\"}"),
            ("message", "{\"id\":1,\"resu..."),
        ];
        assert_eq!(texts(&events), expected);
        assert_eq!(events.iter().map(|event| event.1).collect::<Vec<_>>(), [0, 0, 0, 0, 0, 0, 1, 1, 1]);
        assert_eq!((events[4].0, events[5].4), (200_000_000, Direction::ServerToClient));
    }

    #[test]
    fn a_log_of_all_servers_has_a_stream_each() {
        let text = "2026-01-02T03:04:05.500Z [info] Attempting to connect to MCP server a...\n\
                    2026-01-02T03:04:05.600Z [info] [a] Message from client: {\"id\":1,\"method\":\"ping\"}\n\
                    2026-01-02T03:04:05.700Z [info] [b] Message from client: {\"id\":1,\"method\":\"ping\"}\n\
                    2026-01-02T03:04:05.800Z [info] [a] Message from server: {\"id\":1,\"result\":{}}\n";
        let (_, events) = read_as("claude-desktop", text);
        let found: Vec<_> = events.iter().map(|event| (event.1, event.3)).collect();
        assert_eq!(found, [(0, "note"), (1, "opened"), (1, "message"), (2, "opened"), (2, "message"), (1, "message")]);
    }
}
