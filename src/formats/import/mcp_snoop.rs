//! Imports the logs of mcp-snoop (PyPI; it calls itself mcp-trace): a line for each message, and with `--verbose` the
//! message below it as indented JSON.

use super::reading::{Events, Format, Lines, Place, Reader, Unit, on_one_line};
use super::{ImportFormat, Opened};
use crate::trace::{EventKind, Flags, Gap};
use crate::wire::{Direction, Framing, json};
use std::io::BufRead;

/// See the module.
pub(super) const IMPORT: ImportFormat = ImportFormat {
    name: "mcp-snoop",
    about: "Logs of mcp-snoop --verbose: [HH:MM:SS.mmm] →SERVER …, and the message below",
    lacks: "exact bytes, the date (times begin on 1970-01-01), standard error, and the messages themselves without \
            --verbose",
    detect: |start| {
        let line = String::from_utf8_lossy(&start[..start.len().min(64)]);
        Heading::parse(&line).is_some()
    },
    open,
};

fn open(input: Box<dyn BufRead + Send>) -> Opened {
    Ok(Box::new(Reader::open(Lines::new(input), Log::default(), IMPORT.name)?))
}

/// The line above a message.
struct Heading {
    /// The nanosecond of the day.
    time: i64,
    direction: Direction,
    /// The text of a line that is not JSON.
    raw: Option<String>,
}

impl Heading {
    fn parse(line: &str) -> Option<Self> {
        let (time, rest) = line.strip_prefix('[')?.split_once("] ")?;
        let time: jiff::civil::Time = time.parse().ok()?;
        let (direction, rest) = match (rest.strip_prefix("→SERVER "), rest.strip_prefix("←CLIENT ")) {
            (Some(rest), _) => (Direction::ClientToServer, rest),
            (_, Some(rest)) => (Direction::ServerToClient, rest),
            _ => return None,
        };
        let time = time.duration_since(jiff::civil::Time::midnight()).as_nanos();
        let raw = rest.strip_prefix("(raw) ").map(str::to_owned);
        Some(Self { time: i64::try_from(time).ok()?, direction, raw })
    }
}

/// What was read of a message.
#[derive(Default)]
struct Log {
    direction: Option<Direction>,
    heading: String,
    /// The lines of the message so far.
    message: Vec<u8>,
    /// The beginning of the current day, in nanoseconds.
    day: i64,
    last: i64,
}

/// The nanoseconds of a day.
const DAY: i64 = 86_400 * super::reading::SECOND;

impl Format for Log {
    fn take(&mut self, unit: Unit<'_>, out: &mut Events) -> Result<(), String> {
        let line = String::from_utf8_lossy(unit.text);
        let Some(heading) = Heading::parse(&line) else { return self.go_on(unit.text, out) };
        let finished = self.finish(out);
        // The clock went back by more than half a day: it was midnight.
        if heading.time + DAY / 2 < self.last {
            self.day = self.day.saturating_add(DAY);
        }
        self.last = heading.time;
        out.at(self.day.saturating_add(heading.time));
        match heading.raw {
            Some(text) => out.message(Place::default(), heading.direction, Framing::Lf, text.into_bytes()),
            None => {
                self.direction = Some(heading.direction);
                self.heading = line.into_owned();
            }
        }
        finished
    }

    fn end(&mut self, out: &mut Events) {
        if let Err(reason) = self.finish(out) {
            let noted = Gap::because(&reason);
            out.describe(Place::default(), EventKind::Gap, Flags::default(), &noted);
        }
    }
}

impl Log {
    fn go_on(&mut self, line: &[u8], out: &mut Events) -> Result<(), String> {
        if self.direction.is_none() {
            return Err("expected a line with a time and a direction".to_owned());
        }
        self.message.extend_from_slice(line);
        self.message.push(b'\n');
        // The message is complete with the bracket that begins a line.
        match line.first() {
            Some(b'}' | b']') => self.finish(out),
            _ => Ok(()),
        }
    }

    /// Adds the message whose lines were read; without any, a note with the summary.
    fn finish(&mut self, out: &mut Events) -> Result<(), String> {
        let Some(direction) = self.direction.take() else { return Ok(()) };
        let message = std::mem::take(&mut self.message);
        let message = message.trim_ascii();
        if message.is_empty() {
            let noted = serde_json::json!({"summary": self.heading});
            out.describe(Place::default(), EventKind::Note, Flags::default(), &noted);
            return Ok(());
        }
        json::check(message).map_err(|reason| format!("the message above is not JSON: {reason}"))?;
        out.message(Place::default(), direction, Framing::Lf, on_one_line(message));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::reading::tests::{read_as, read_with, texts};
    use super::*;

    #[test]
    fn messages_stand_below_their_headings() {
        let text = "[23:59:59.900] →SERVER #1 ping\n{\n  \"id\": 1,\n  \"method\": \"ping\"\n}\n\
                    [00:00:00.100] ←CLIENT (raw) starting {\n\
                    [00:00:00.200] ←CLIENT #1 → ok\n{\n  \"id\": 1,\n  \"result\": {}\n}\nstray\n\
                    [00:00:00.300] ←CLIENT x\n{\n  \"a\"\n}\n[00:00:00.400] →SERVER y\n{\n  \"b\": [\n";
        let (header, events) = read_as("mcp-snoop", text);
        let found = texts(&events);
        assert_eq!(
            found[..3],
            [
                ("message", "{\"id\":1,\"method\":\"ping\"}"),
                ("message", "starting {"),
                ("message", "{\"id\":1,\"result\":{}}"),
            ]
        );
        assert_eq!(found[3], ("gap", "{\"line\":12,\"reason\":\"expected a line with a time and a direction\"}"));
        assert!(found[4].1.starts_with("{\"line\":16,\"reason\":\"the message above is not JSON"), "{:?}", found[4]);
        assert!(found[5].0 == "gap" && found.len() == 6);
        assert_eq!(header.created, DAY - 100_000_000);
        assert_eq!((events[1].0, events[2].0), (200_000_000, 300_000_000));
    }

    #[test]
    fn without_messages_only_summaries_are_there() {
        let text = "[18:46:08.762] →SERVER #1 initialize driver v1\n[18:46:09.028] →SERVER initialized\n";
        let (_, events) = read_with(IMPORT.open, text).expect("a log");
        assert_eq!(events.len(), 2);
        assert_eq!(texts(&events)[0].0, "note");
    }
}
