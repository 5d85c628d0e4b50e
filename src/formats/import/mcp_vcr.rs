//! Imports transcripts of mcp-vcr (PyPI; version 1): one item per message, in YAML or in JSON lines.

use super::reading::{
    Events, Format, Lines, MAX_UNIT_BYTES, MILLISECOND, Members, Next, Place, Reader, Unit, Units, object, rfc3339,
    scaled,
};
use super::{ImportError, ImportFormat};
use crate::trace::{EventKind, Flags};
use crate::wire::{Direction, Framing, json};
use serde_json::Value;
use std::collections::VecDeque;
use std::io::{BufRead, Read};

/// What neither form has.
const LACKS: &str = "exact bytes, HTTP heads, standard error";

/// The form in YAML.
pub(super) const YAML: ImportFormat = ImportFormat {
    name: "mcp-vcr",
    about: "Transcripts of mcp-vcr in YAML, with `meta` and `messages`",
    lacks: LACKS,
    detect: is_yaml,
    open: |input| {
        let units = YamlItems::read(input)?;
        Ok(Box::new(Reader::open(units, Transcript::default(), YAML.name)?))
    },
};

/// The form in JSON lines.
pub(super) const NDJSON: ImportFormat = ImportFormat {
    name: "mcp-vcr-ndjson",
    about: "Transcripts of mcp-vcr as JSON lines, the first with `_type` meta",
    lacks: LACKS,
    detect: |start| json::members(start).next().is_some_and(|member| member.is("_type") && member.value == b"\"meta\""),
    open: |input| Ok(Box::new(Reader::open(Lines::new(input), Transcript::default(), NDJSON.name)?)),
};

/// Whether the first line opens one of the two parts, and what follows is such a part.
fn is_yaml(start: &[u8]) -> bool {
    let start = String::from_utf8_lossy(&start[..start.len().min(4096)]);
    let mut lines = start.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#') && *line != "---");
    let (first, second) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    match first.trim_end() {
        "messages:" => second.trim_start().starts_with("- "),
        "meta:" => second.starts_with(' ') && start.contains("session_id:"),
        _ => false,
    }
}

/// The last time, which a message must have.
#[derive(Default)]
struct Transcript {
    is_open: bool,
}

impl Format for Transcript {
    fn take(&mut self, unit: Unit<'_>, out: &mut Events) -> Result<(), String> {
        let found = object(unit.text)?;
        match unit.key == "meta" || found.text("_type").is_some_and(|kind| kind == "meta") {
            true => self.meta(found, out),
            false => message(found, out),
        }
    }
}

impl Transcript {
    fn meta(&mut self, meta: Members<'_>, out: &mut Events) -> Result<(), String> {
        if let Some(time) = meta.text("recorded_at") {
            out.begin(rfc3339(&time)?);
        }
        for name in ["session_id", "protocol_version", "client_hint", "incomplete_reason"] {
            if let Some(text) = meta.text(name) {
                out.note(name, text);
            }
        }
        let command: Vec<Value> = meta.items("server_command").filter_map(json::as_str).map(Value::from).collect();
        if !command.is_empty() && !std::mem::replace(&mut self.is_open, true) {
            let opened = serde_json::json!({"command": command});
            out.describe(Place::default(), EventKind::StreamOpened, Flags::default(), &opened);
        }
        Ok(())
    }
}

fn message(found: Members<'_>, out: &mut Events) -> Result<(), String> {
    let direction = Direction::from_short(&found.required("dir")?).ok_or("unknown direction")?;
    let payload = found.get("payload").ok_or("no `payload`")?;
    if let Some(time) = found.get("t") {
        out.at(out.begun().saturating_add(scaled(time, MILLISECOND)?));
    }
    out.message(Place::default(), direction, Framing::Lf, payload.to_vec());
    Ok(())
}

/// The items of `messages` in a YAML document, each as JSON, after `meta`, wherever that is. The recorder puts `meta`,
/// and so the time of the beginning, at the end; therefore the whole text is in memory, but only one parsed item.
struct YamlItems {
    items: VecDeque<(u64, String)>,
    meta: Option<(u64, String)>,
    json: Vec<u8>,
}

impl YamlItems {
    fn read(input: impl BufRead) -> Result<Self, ImportError> {
        let mut text = String::new();
        let length = input.take(MAX_UNIT_BYTES).read_to_string(&mut text)?;
        if length as u64 >= MAX_UNIT_BYTES {
            return Err(ImportError::Line { line: 1, reason: "longer than 1 GiB".to_owned() });
        }
        let mut found = Self { items: VecDeque::new(), meta: None, json: Vec::new() };
        let mut part = "";
        for (line, number) in text.split_inclusive('\n').zip(1..) {
            let is_top = !line.starts_with([' ', '-', '#', '\n', '\r']);
            match line.trim_end() {
                "meta:" => {
                    part = "meta";
                    found.meta = Some((number, String::new()));
                }
                "messages:" => part = "messages",
                _ if is_top => part = "",
                _ => found.add(part, number, line),
            }
        }
        Ok(found)
    }

    /// Adds a line to the part that it belongs to.
    fn add(&mut self, part: &str, number: u64, line: &str) {
        let indent = |line: &str| line.len() - line.trim_start().len();
        match part {
            "meta" => self.meta.iter_mut().for_each(|(_, text)| text.push_str(line)),
            "messages" => {
                let depth = self.items.front().map(|(_, first)| indent(first));
                let begins = line.trim_start().starts_with("- ") && depth.is_none_or(|depth| depth == indent(line));
                match self.items.back_mut() {
                    Some((_, item)) if !begins => item.push_str(line),
                    _ => self.items.push_back((number, line.to_owned())),
                }
            }
            _ => {}
        }
    }

    /// Converts a part to JSON.
    fn convert(&mut self, text: &str) -> Result<(), String> {
        let options = serde_saphyr::options! { strict_booleans: true };
        let value: Value = serde_saphyr::from_str_with_options(text, options)
            .map_err(|error| format!("not YAML: {}", error.to_string().lines().next().unwrap_or_default()))?;
        // An item is a list with one entry.
        let value = match value {
            Value::Array(mut items) if items.len() == 1 => items.swap_remove(0),
            value => value,
        };
        self.json = serde_json::to_vec(&value).map_err(|error| error.to_string())?;
        Ok(())
    }
}

impl Units for YamlItems {
    fn next(&mut self) -> Result<(u64, Next<'_>), ImportError> {
        let meta = self.meta.take().map(|meta| ("meta", meta));
        let Some((key, (line, text))) = meta.or_else(|| Some(("", self.items.pop_front()?))) else {
            return Ok((1, Next::End));
        };
        Ok(match self.convert(&text) {
            Ok(()) => (line, Next::Unit(Unit { key, text: &self.json })),
            Err(reason) => (line, Next::Malformed(reason)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::reading::tests::{read_as, texts};
    use super::*;

    #[test]
    fn yaml_becomes_the_same_json_and_meta_at_the_end_counts() {
        let text = "messages:
- dir: c2s
  payload:
    id: 1
    jsonrpc: '2.0'
    method: ping
    params:
      f: 1.0
      n: 12345678901234567890
      no: 'no'
      t: \"a\\n\\
        \\ b \\u2013\"
      y: y
  t: 6
- dir: s2c
  payload: {id: 1, jsonrpc: '2.0', result: {}}
  t: 19
- dir: [
- dir: s2c
  t: 20
meta:
  recorded_at: '2026-01-02T03:04:05.500000Z'
  server_command:
  - node
  - index.js
  session_id: 558ff4a0
  version: 1
";
        let (header, events) = read_as("mcp-vcr", text);
        assert_eq!((header.created, &*header.notes["session_id"]), (1_767_323_045_500_000_000, "558ff4a0"));
        let found = texts(&events);
        assert_eq!(found[0], ("opened", "{\"command\":[\"node\",\"index.js\"]}"));
        let sent: Value = serde_json::from_str(found[1].1).expect("JSON");
        let expected = serde_json::json!({"id": 1, "jsonrpc": "2.0", "method": "ping", "params": {
            "f": 1.0, "n": 12_345_678_901_234_567_890u64, "no": "no", "t": "a\n b –", "y": "y"}});
        assert_eq!(sent, expected);
        assert_eq!(found[2], ("message", r#"{"id":1,"jsonrpc":"2.0","result":{}}"#));
        assert!(found[3].1.starts_with("{\"line\":18,\"reason\":\"not YAML"), "{}", found[3].1);
        assert_eq!(found[4], ("gap", "{\"line\":19,\"reason\":\"no `payload`\"}"));
        assert_eq!((events[1].0 / MILLISECOND, events[2].0 / MILLISECOND, events.len()), (6, 19, 5));
    }

    #[test]
    fn json_lines_keep_the_text_of_messages() {
        let text = concat!(
            "{\"_type\": \"meta\", \"version\": 1, \"recorded_at\": \"2026-01-02T03:04:05.5Z\", \"server_command\": [\"x\"]}\n",
            "{\"t\": 1, \"dir\": \"c2s\", \"payload\": {\"id\": 1.0, \"method\": \"ping\"}}\n",
            "{\"t\": 3, \"dir\": \"up\", \"payload\": {}}\n",
        );
        let (header, events) = read_as("mcp-vcr-ndjson", text);
        assert_eq!(header.created, 1_767_323_045_500_000_000);
        let expected = [
            ("opened", "{\"command\":[\"x\"]}"),
            ("message", "{\"id\": 1.0, \"method\": \"ping\"}"),
            ("gap", "{\"line\":3,\"reason\":\"unknown direction\"}"),
        ];
        assert_eq!(texts(&events), expected);
        assert_eq!(events[1].0, MILLISECOND);
    }
}
