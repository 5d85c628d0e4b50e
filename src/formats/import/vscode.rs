//! Imports the output of VS Code about an MCP server (`MCP: List Servers`, `Show Output`, at the log level Debug or
//! Trace), also in the form of its first versions.

use super::reading::{Events, Format, Lines, Place, Reader, Unit, without_zone};
use super::{ImportFormat, Opened};
use crate::trace::{EventKind, Flags};
use crate::wire::{Direction, Framing};
use std::io::BufRead;

/// See the module.
pub(super) const IMPORT: ImportFormat = ImportFormat {
    name: "vscode",
    about: "Output of VS Code about an MCP server, with [editor -> server] and [server -> editor]",
    lacks: "exact bytes, the time zone (times are shown as UTC), HTTP heads, and the messages themselves above the \
            log level Debug",
    detect: |start| start.split(|byte| *byte == b'\n').take(50).any(|line| Entry::parse(line).is_some()),
    open,
};

fn open(input: Box<dyn BufRead + Send>) -> Opened {
    Ok(Box::new(Reader::open(Lines::new(input), Log::default(), IMPORT.name)?))
}

const LEVELS: [&str; 5] = ["trace", "debug", "info", "warning", "error"];

/// A line with a time and a level.
struct Entry<'a> {
    time: i64,
    text: &'a str,
}

impl<'a> Entry<'a> {
    fn parse(line: &'a [u8]) -> Option<Self> {
        let line = std::str::from_utf8(line).ok()?;
        let (time, rest) = line.split_once(" [")?;
        if time.len() != "2026-01-02 03:04:05.678".len() || time.as_bytes().get(10) != Some(&b' ') {
            return None;
        }
        let (level, text) = rest.split_once("] ")?;
        LEVELS.contains(&level).then_some(())?;
        Some(Self { time: without_zone(time).ok()?, text })
    }
}

/// What text begins with if it is not a remark of VS Code, and who sent it.
const MESSAGES: [(&str, Direction); 4] = [
    ("[editor -> server] ", Direction::ClientToServer),
    ("[server -> editor] ", Direction::ServerToClient),
    ("[Client Says] ", Direction::ClientToServer),
    ("[Server Says] ", Direction::ServerToClient),
];

/// What VS Code writes before what the server wrote to its standard error.
const STDERR: &str = "[server stderr] ";

#[derive(Default)]
struct Log {
    /// How many sessions have begun.
    sessions: u32,
    /// The line before was standard error, which may go on.
    is_stderr: bool,
}

impl Format for Log {
    fn take(&mut self, unit: Unit<'_>, out: &mut Events) -> Result<(), String> {
        let Some(entry) = Entry::parse(unit.text) else {
            self.go_on(unit.text, out);
            return Ok(());
        };
        out.at(entry.time);
        self.is_stderr = false;
        let message =
            MESSAGES.iter().find_map(|(prefix, direction)| Some((entry.text.strip_prefix(prefix)?, *direction)));
        if let Some((text, direction)) = message {
            out.message(self.place(), direction, Framing::Lf, text.as_bytes().to_vec());
        } else if let Some(text) = entry.text.strip_prefix(STDERR) {
            out.stderr(self.place(), text.as_bytes());
            self.is_stderr = true;
        } else {
            self.remark(entry.text, out);
        }
        Ok(())
    }
}

impl Log {
    fn place(&self) -> Place {
        Place { stream: self.sessions.saturating_sub(1), exchange: 0 }
    }

    /// Takes what VS Code says itself.
    fn remark(&mut self, text: &str, out: &mut Events) {
        if let Some(server) = text.strip_prefix("Starting server ").filter(|rest| !rest.starts_with("from ")) {
            self.sessions = self.sessions.saturating_add(1);
            let opened = serde_json::json!({"server": server});
            return out.describe(self.place(), EventKind::StreamOpened, Flags::default(), &opened);
        }
        out.describe(self.place(), EventKind::Note, Flags::default(), &serde_json::json!({"text": text}));
    }

    /// Takes a line without a time, which continues the line before.
    fn go_on(&mut self, line: &[u8], out: &mut Events) {
        match self.is_stderr {
            true => out.stderr(self.place(), line),
            false => {
                let noted = serde_json::json!({"text": String::from_utf8_lossy(line)});
                out.describe(self.place(), EventKind::Note, Flags::default(), &noted);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::reading::tests::{read_as, texts};

    #[test]
    fn messages_stderr_and_remarks_are_told_apart() {
        let text = "2026-01-02 03:04:05.500 [info] Starting server time\n\
                    2026-01-02 03:04:05.500 [info] Starting server from LocalProcess extension host\n\
                    2026-01-02 03:04:05.600 [debug] [editor -> server] {\"id\":1.0,\"method\":\"ping\"}\n\
                    2026-01-02 03:04:05.700 [warning] [server stderr] Traceback\n  line 1\n\
                    2026-01-02 03:04:05.800 [trace] [server -> editor] {\"id\":1,\"result\":{}}\n\
                    2026-01-02 03:04:06.000 [info] Starting server time\r\n\
                    2026-01-02 03:04:06.100 [info] [Client Says] {\"id\":2,\"method\":\"ping\"}\n\
                    2026-01-02 03:04:06.200 [error] Error: no\n    at x\n";
        let (header, events) = read_as("vscode", text);
        assert_eq!(header.created, 1_767_323_045_500_000_000);
        let expected = [
            ("opened", "{\"server\":\"time\"}"),
            ("note", "{\"text\":\"Starting server from LocalProcess extension host\"}"),
            ("message", "{\"id\":1.0,\"method\":\"ping\"}"),
            ("stderr", "Traceback\n"),
            ("stderr", "  line 1\n"),
            ("message", "{\"id\":1,\"result\":{}}"),
            ("opened", "{\"server\":\"time\"}"),
            ("message", "{\"id\":2,\"method\":\"ping\"}"),
            ("note", "{\"text\":\"Error: no\"}"),
            ("note", "{\"text\":\"    at x\"}"),
        ];
        assert_eq!(texts(&events), expected);
        assert_eq!(events.iter().map(|event| event.1).collect::<Vec<_>>(), [0, 0, 0, 0, 0, 0, 1, 1, 1, 1]);
        assert_eq!(events[2].0, 100_000_000);
    }
}
