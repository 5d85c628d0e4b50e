//! Places where a text can be, and the events that carry it.

use super::Reel;
use crate::trace::EventKind;
use crate::wire::Framing;
use ciborium::Value;

/// What carries a text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Carrier {
    /// A text in a tool's result.
    Result,
    /// A text in a tool's arguments.
    Argument,
    /// Standard error.
    Stderr,
    /// The text is a value of JSON: arguments of a tool.
    Json,
    /// The same, in the data of a server-sent event.
    Sse,
    /// The name and the value of a header.
    Header,
    /// The target of an HTTP request.
    Target,
    /// The words of a command line, with a bar between them.
    Command,
    /// A user's note.
    Note,
}
impl Carrier {
    fn named(name: &str) -> Self {
        match name {
            "result" => Self::Result,
            "argument" => Self::Argument,
            "stderr" => Self::Stderr,
            "json" => Self::Json,
            "sse" => Self::Sse,
            "header" => Self::Header,
            "target" => Self::Target,
            "command" => Self::Command,
            "note" => Self::Note,
            other => panic!("no carrier: {other}"),
        }
    }

    /// Whether the text may be in any encoding.
    pub(super) fn is_text(self) -> bool {
        matches!(self, Self::Result | Self::Argument | Self::Stderr)
    }

    /// Makes an event of a text.
    pub(super) fn reel(self, text: &str) -> Reel {
        let json = |value: &serde_json::Value| value.to_string();
        let call = |arguments: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"run","arguments":{arguments}}}}}"#
            )
        };
        let message =
            |text: String| Reel { kind: EventKind::Message, framing: Framing::Whole, payload: text.into_bytes() };
        let map = |kind, members: Vec<(&str, Value)>| {
            let members = members.into_iter().map(|(name, value)| (Value::from(name), value)).collect();
            let mut payload = Vec::new();
            ciborium::into_writer(&Value::Map(members), &mut payload).expect("a Vec");
            Reel { kind, framing: Framing::Whole, payload }
        };
        let request = |target: &str, headers: Vec<Value>| {
            let members: Vec<(&str, Value)> = vec![
                ("what", "request".into()),
                ("method", "POST".into()),
                ("target", target.into()),
                ("headers", Value::Array(headers)),
            ];
            map(EventKind::Transport, members)
        };
        let words = |text: &str| Value::Array(text.split('|').map(Value::from).collect());
        match self {
            Self::Result => message(json(
                &serde_json::json!({"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": text}]}}),
            )),
            Self::Argument => message(call(&json(&serde_json::json!({ "text": text })))),
            Self::Json => message(call(text)),
            Self::Sse => {
                let block = format!("event: message\ndata: {}\n\n", call(text));
                Reel { framing: Framing::Sse, ..message(block) }
            }
            Self::Stderr => Reel { kind: EventKind::Stderr, ..message(text.to_owned()) },
            Self::Header => request("/mcp", vec![Value::Array(text.splitn(2, ": ").map(Value::from).collect())]),
            Self::Target => request(text, Vec::new()),
            Self::Command => {
                map(EventKind::StreamOpened, vec![("transport", "stdio".into()), ("command", words(text))])
            }
            Self::Note => map(EventKind::Note, vec![("text", text.into())]),
        }
    }
}

/// A text at a place.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// What the place is called, or what the text is.
    pub(super) name: &'static str,
    pub(super) carrier: Carrier,
    template: &'static str,
}

impl Place {
    /// The text, with its holes.
    pub(super) fn text(&self) -> String {
        self.template.replace("\\n", "\n")
    }

    /// The words that must stay: those around the hole, but not in the same value of JSON or header, all of which may be
    /// the secret.
    pub(super) fn words(&self) -> Vec<String> {
        let text = self.text();
        let (before, after) = text.split_once('{').unwrap_or((&text, ""));
        let (before, after) = match (self.carrier, text.split_once("{}")) {
            (Carrier::Json | Carrier::Sse, Some((before, after))) => {
                (&before[..before.rfind('"').unwrap_or(0)], &after[after.find('"').unwrap_or(0)..])
            }
            (Carrier::Header, _) => (before.split(": ").next().unwrap_or(before), ""),
            (_, Some(parts)) => parts,
            _ => (before, after),
        };
        let words = [before, after].into_iter().flat_map(|text| text.split(|letter: char| !letter.is_alphanumeric()));
        words.filter(|word| word.len() > 2).map(str::to_owned).collect()
    }
}

/// Reads a list: `# name`, and below it lines of a carrier and a text, in which `\n` ends a line.
pub(super) fn listed(list: &'static str) -> Vec<Place> {
    let (mut name, mut all) = ("", Vec::new());
    for line in list.lines().skip_while(|line| !line.starts_with('#')).filter(|line| !line.is_empty()) {
        match line.split_once(' ').expect("two words") {
            ("#", heading) => name = heading,
            (carrier, template) => all.push(Place { name, carrier: Carrier::named(carrier), template }),
        }
    }
    all
}
