//! Imports logs of mcpsnoop (Go): JSON lines with a session, a number, a time, a direction and the raw message.

use super::reading::{Events, Format, Lines, Members, Place, Reader, Unit, object, rfc3339};
use super::{ImportFormat, Opened};
use crate::trace::{EventKind, Flags, Gap};
use crate::wire::{Direction, Framing, json};
use serde_json::{Map, Value};
use std::io::BufRead;

/// See the module.
pub(super) const IMPORT: ImportFormat = ImportFormat {
    name: "mcpsnoop",
    about: "JSON lines of mcpsnoop, with `session_id`, `seq` and `direction`",
    lacks: "HTTP heads (a few headers become notes), how events of a stream were framed",
    detect: |start| {
        let first = json::members(start).take(16).filter(|member| member.is("session_id") || member.is("direction"));
        first.count() == 2
    },
    open,
};

fn open(input: Box<dyn BufRead + Send>) -> Opened {
    Ok(Box::new(Reader::open(Lines::new(input), Log::default(), IMPORT.name)?))
}

/// The members of a line that stand for parts of an HTTP head.
const HEADERS: [&str; 6] =
    ["mcp_method", "mcp_name", "mcp_protocol_version", "mcp_param_headers", "status", "auth_challenge"];

/// The maximum number of sessions in a log.
const MAX_SESSIONS: usize = 10_000;

/// The sessions so far, each with the number of its last line.
#[derive(Default)]
struct Log {
    sessions: Vec<(String, u64)>,
}

impl Format for Log {
    fn take(&mut self, unit: Unit<'_>, out: &mut Events) -> Result<(), String> {
        let line = object(unit.text)?;
        let direction = line.required("direction")?;
        let time = line.text("ts").map(|time| rfc3339(&time)).transpose()?;
        let place = self.place(line)?;
        time.into_iter().for_each(|time| out.at(time));
        self.count(place, line, out);
        match &*direction {
            "c2s" => message(place, Direction::ClientToServer, line, out),
            "s2c" => message(place, Direction::ServerToClient, line, out),
            "stderr" => {
                out.stderr(place, line.text("text").unwrap_or_default().as_bytes());
                Ok(())
            }
            "meta" => {
                let about = json::parsed(line.get("raw").unwrap_or(b"{}")).unwrap_or_default();
                out.describe(place, EventKind::StreamOpened, Flags::default(), &about);
                Ok(())
            }
            other => Err(format!("unknown direction {other:?}")),
        }
    }
}

impl Log {
    fn place(&mut self, line: Members<'_>) -> Result<Place, String> {
        let session = line.text("session_id").unwrap_or_default();
        let known = self.sessions.iter().position(|(name, _)| *name == session);
        let stream = known.unwrap_or(self.sessions.len());
        if known.is_none() {
            if self.sessions.len() == MAX_SESSIONS {
                return Err("more than 10,000 sessions".to_owned());
            }
            self.sessions.push((session.into_owned(), 0));
        }
        Ok(Place { stream: u32::try_from(stream).unwrap_or(u32::MAX), exchange: 0 })
    }

    /// Adds a gap where numbers are missing: mcpsnoop drops frames when it cannot keep up.
    fn count(&mut self, place: Place, line: Members<'_>, out: &mut Events) {
        let number = line.get("seq").and_then(|text| std::str::from_utf8(text).ok()?.parse::<u64>().ok());
        let (Some(number), Some((_, last))) = (number, self.sessions.get_mut(place.stream as usize)) else { return };
        let missing = number.saturating_sub(last.saturating_add(1));
        if *last > 0 && missing > 0 {
            let described = Gap { events: Some(missing), ..Gap::because("mcpsnoop dropped frames") };
            out.describe(place, EventKind::Gap, Flags::default(), &described);
        }
        *last = number;
    }
}

fn message(place: Place, direction: Direction, line: Members<'_>, out: &mut Events) -> Result<(), String> {
    let members =
        HEADERS.iter().filter_map(|name| Some(((*name).to_owned(), serde_json::from_slice(line.get(name)?).ok()?)));
    let headers: Map<String, Value> = members.collect();
    if !headers.is_empty() {
        out.describe(place, EventKind::Note, Flags::default(), &Value::Object(headers));
    }
    let payload = match (line.get("raw"), line.text("text")) {
        (Some(raw), _) => raw.to_vec(),
        // A line that is not JSON.
        (None, Some(text)) => text.into_owned().into_bytes(),
        // A response without a body.
        (None, None) => return Ok(()),
    };
    let marks = [("truncated", Flags::TRUNCATED), ("redacted", Flags::REDACTED)];
    let flags = marks
        .iter()
        .filter(|(name, _)| line.is_true(name))
        .fold(Flags::toward(direction), |flags, mark| flags.with(mark.1));
    let is_http = line.text("transport").is_some_and(|transport| transport == "http");
    let framing = if is_http { Framing::Whole } else { Framing::Lf };
    out.push(place, EventKind::Message, flags, framing, payload);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::reading::tests::{read_as, texts};

    fn line(session: &str, seq: u64, direction: &str, rest: &str) -> String {
        format!(
            "{{\"session_id\":\"{session}\",\"server_label\":\"x\",\"seq\":{seq},\"ts\":\"2026-01-02T03:04:05.5Z\",\
             \"direction\":\"{direction}\",\"transport\":\"stdio\"{rest}}}\n"
        )
    }

    #[test]
    fn sessions_are_streams_and_what_was_dropped_is_a_gap() {
        let text = [
            line("a", 1, "meta", ",\"raw\":{\"command\":[\"node\",\"x.js\"],\"cwd\":\"/x\"}"),
            line("a", 2, "c2s", ",\"raw\":{\"id\":1.0,\"method\":\"ping\"}"),
            line("b", 1, "c2s", ",\"raw\":{\"id\":1,\"method\":\"ping\"},\"mcp_method\":\"ping\""),
            line("a", 5, "s2c", ",\"text\":\"oh no\",\"truncated\":true"),
            line("a", 6, "stderr", ",\"text\":\"warning\""),
            line("b", 2, "s2c", ",\"status\":202"),
            line("b", 3, "sideways", ""),
        ]
        .concat();
        let (header, events) = read_as("mcpsnoop", &text);
        assert_eq!(header.created, 1_767_323_045_500_000_000);
        let expected = [
            ("opened", "{\"command\":[\"node\",\"x.js\"],\"cwd\":\"/x\"}"),
            ("message", "{\"id\":1.0,\"method\":\"ping\"}"),
            ("note", "{\"mcp_method\":\"ping\"}"),
            ("message", "{\"id\":1,\"method\":\"ping\"}"),
            ("gap", "{\"reason\":\"mcpsnoop dropped frames\",\"events\":2}"),
            ("message", "oh no"),
            ("stderr", "warning\n"),
            ("note", "{\"status\":202}"),
            ("gap", "{\"line\":7,\"reason\":\"unknown direction \\\"sideways\\\"\"}"),
        ];
        assert_eq!(texts(&events), expected);
        let streams: Vec<u32> = events.iter().map(|event| event.1).collect();
        assert_eq!(streams, [0, 0, 1, 1, 0, 0, 0, 1, 0]);
    }
}
