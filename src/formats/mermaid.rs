//! Sequence diagrams in the syntax of Mermaid, an export format: an arrow for each message.

use super::messages::{ByMessage, Message, MessageExporter};
use super::{Content, ExportFormat};
use crate::session::Outcome;
use crate::session::participants::Participants;
use crate::trace::{Event, EventKind, FileHeader, Flags};
use crate::wire::text::excerpt;
use crate::wire::{Direction, MessageKind};
use std::collections::BTreeSet;
use std::io::{self, Write};

/// Sequence diagrams, for `export`.
pub(crate) const EXPORT: ExportFormat = ExportFormat {
    name: "mermaid",
    about: "A Mermaid sequence diagram, one arrow per message",
    content: Content::Text,
    make: |_| Box::new(ByMessage::<Diagram>::default()),
};

/// Messages of this length, in bytes, are shown with it.
const LONG: u64 = 1000;

/// Of a method, at most this many characters are shown.
const METHOD_CHARS: usize = 100;

/// Of a line that is no message, at most this many characters are shown. They are in this many bytes at its beginning.
const LINE_CHARS: usize = 60;
const LINE_BYTES: usize = 400;

/// At most this many pairs of participants are declared. The order of further ones is that of their first message.
const MAX_PAIRS: usize = 1000;

/// Stands before what mcpreel injected.
const INJECTED: &str = "[injected] ";

/// Writes a reel as a diagram.
#[derive(Default)]
struct Diagram {
    participants: Participants,
    /// The streams after the first one whose participants are declared.
    declared: BTreeSet<u32>,
    /// The notification that came last, which is not written yet.
    last: Option<Repeated>,
}

/// A notification and how often it came in a row.
struct Repeated {
    route: Route,
    method: String,
    count: u64,
    bytes: u64,
}

/// Who sent a message, where, and whether mcpreel did so in the sender's name.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Route {
    stream: u32,
    direction: Direction,
    injected: bool,
}

impl MessageExporter for Diagram {
    fn begin(&mut self, _header: &FileHeader, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "sequenceDiagram")?;
        declare(["client", "server"], out)
    }

    fn message(&mut self, message: &Message<'_>, out: &mut dyn Write) -> io::Result<()> {
        let route = Route::of(message);
        if let (MessageKind::Notification, Some(method)) = (message.envelope.kind, &message.envelope.method) {
            return self.notification(route, method, message.len, out);
        }
        self.write_last(out)?;
        let label = label(message) + &size(message.len, 1);
        self.arrow(route, message.envelope.kind, &label, out)
    }

    fn other(&mut self, event: &Event<'_>, out: &mut dyn Write) -> io::Result<()> {
        if event.header.kind != EventKind::Gap {
            return Ok(());
        }
        self.write_last(out)?;
        let [client, server] = self.known(event.header.stream);
        writeln!(out, "    Note over {client},{server}: traffic is missing here")
    }

    fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.write_last(out)
    }
}

impl Diagram {
    /// Counts a notification that equals the last one, or writes the last one and keeps this one.
    fn notification(&mut self, route: Route, method: &str, len: u64, out: &mut dyn Write) -> io::Result<()> {
        if let Some(last) = self.last.as_mut().filter(|last| last.route == route && last.method == method) {
            last.count += 1;
            last.bytes = last.bytes.saturating_add(len);
            return Ok(());
        }
        self.write_last(out)?;
        self.last = Some(Repeated { route, method: method.to_owned(), count: 1, bytes: len });
        Ok(())
    }

    /// Writes the last notification, if it is not written yet.
    fn write_last(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let Some(Repeated { route, method, count, bytes }) = self.last.take() else { return Ok(()) };
        let times = if count > 1 { format!(" × {count}") } else { String::new() };
        let label = escaped(&method, METHOD_CHARS) + &times + &size(bytes, count);
        self.arrow(route, MessageKind::Notification, &label, out)
    }

    /// Returns the client and the server of a stream with a message, and declares them before their first message.
    fn declared(&mut self, stream: u32, out: &mut dyn Write) -> io::Result<[String; 2]> {
        let names = self.participants.of(stream);
        if !self.participants.is_first(stream) && self.declared.len() < MAX_PAIRS && self.declared.insert(stream) {
            declare(names.each_ref().map(String::as_str), out)?;
        }
        Ok(names)
    }

    /// Returns the client and the server of a stream, or of the first one if this stream has none.
    fn known(&mut self, stream: u32) -> [String; 2] {
        if self.declared.contains(&stream) {
            self.participants.of(stream)
        } else {
            ["client", "server"].map(str::to_owned)
        }
    }

    /// Writes an arrow. The label is safe text.
    fn arrow(&mut self, route: Route, kind: MessageKind, label: &str, out: &mut dyn Write) -> io::Result<()> {
        let [client, server] = self.declared(route.stream, out)?;
        let (from, to) = match route.direction {
            Direction::ClientToServer => (client, server),
            Direction::ServerToClient => (server, client),
        };
        let mark = if route.injected { INJECTED } else { "" };
        writeln!(out, "    {from}{}{to}: {mark}{label}", shape(kind))
    }
}

/// Returns what stands at the arrow of a message.
fn label(message: &Message<'_>) -> String {
    let method = message.method.as_deref().map(|method| escaped(method, METHOD_CHARS));
    match message.envelope.kind {
        MessageKind::Request | MessageKind::Notification => method.unwrap_or_default(),
        kind @ (MessageKind::Result | MessageKind::Error) => {
            let says = message.outcome.filter(|outcome| *outcome != Outcome::Ok).map_or(kind.name(), Outcome::name);
            format!("{says} of {}", method.as_deref().unwrap_or("an unknown request"))
        }
        MessageKind::Batch => "batch".to_owned(),
        kind => no_message(kind, message.body.unwrap_or_default()),
    }
}

impl Route {
    /// Returns the route of a message.
    fn of(message: &Message<'_>) -> Self {
        let injected = message.flags.has(Flags::INJECTED);
        Self { stream: message.stream, direction: message.direction, injected }
    }
}

/// Writes the declaration of participants, which stand in this order.
fn declare(names: [&str; 2], out: &mut dyn Write) -> io::Result<()> {
    names.iter().try_for_each(|name| writeln!(out, "    participant {name}"))
}

/// Returns the arrow for a kind of message. An arrow with a cross is a line that is no message.
fn shape(kind: MessageKind) -> &'static str {
    match kind {
        MessageKind::Request | MessageKind::Batch => "->>",
        MessageKind::Notification => "-)",
        MessageKind::Result | MessageKind::Error => "-->>",
        MessageKind::Unclassified | MessageKind::Malformed | MessageKind::Noise | MessageKind::Blank => "-x",
    }
}

/// Returns what stands at the arrow of a line that is no message: its kind and its beginning.
fn no_message(kind: MessageKind, body: &[u8]) -> String {
    let start = String::from_utf8_lossy(&body[..body.len().min(LINE_BYTES)]);
    let text = if body.trim_ascii().is_empty() { String::new() } else { format!(" {}", escaped(&start, LINE_CHARS)) };
    format!("[no message] {}{text}", kind.name())
}

/// Returns the size of a long message, or of several together.
fn size(bytes: u64, count: u64) -> String {
    let together = if count > 1 { " together" } else { "" };
    if bytes < LONG { String::new() } else { format!(" ({bytes} bytes{together})") }
}

/// Returns the beginning of a stranger's text so that Mermaid shows it and finds no syntax in it: a character that could be
/// syntax is written as its code. These are not only `;`, `#` and line ends: Mermaid also looks for `%%`, `<br>`, `$$` and
/// `wrap:` in a label. A text with such characters is in quotes, so that it does not look like a mark of this diagram.
fn escaped(text: &str, max: usize) -> String {
    let start = excerpt(text, max);
    if start.is_empty() {
        return "(empty)".to_owned();
    }
    let is_plain = |found: char| found.is_alphanumeric() || matches!(found, ' ' | '/' | '_' | '-' | '.' | '…');
    let code = |found: char| if is_plain(found) { found.to_string() } else { format!("#{};", u32::from(found)) };
    let shown: String = start.chars().map(code).collect();
    if start.chars().all(is_plain) { shown } else { format!("#34;{shown}#34;") }
}

#[cfg(test)]
mod tests {
    use super::super::Exporter as _;
    use super::super::messages::tests::header;
    use super::*;
    use crate::trace::EventHeader;
    use crate::wire::Framing;

    const CLIENT: Direction = Direction::ClientToServer;
    const SERVER: Direction = Direction::ServerToClient;

    /// The arrows for these messages: the stream, the sender and the text of each.
    fn arrows(messages: &[(u32, Direction, &str)]) -> String {
        let (mut diagram, mut out) = (ByMessage::<Diagram>::default(), Vec::new());
        for (seq, (stream, direction, text)) in (0..).zip(messages) {
            let header =
                EventHeader { stream: *stream, ..header(seq, Framing::Lf, Flags::toward(*direction), text.len()) };
            diagram.event(&Event { header: &header, payload: text.as_bytes() }, &mut out).expect("written");
        }
        diagram.end(&mut out).expect("written");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn nothing_in_a_strangers_text_is_syntax() {
        for (text, written) in [
            ("tools/call", "tools/call"),
            ("a\nclient->>server: b", "#34;a client-#62;#62;server#58; b#34;"),
            ("a;b#35;%%{init}%%", "#34;a#59;b#35;35#59;#37;#37;#123;init#125;#37;#37;#34;"),
            ("wrap:<br/>$$x$$", "#34;wrap#58;#60;br/#62;#36;#36;x#36;#36;#34;"),
            ("größe\u{202e}", "#34;größe#65533;#34;"),
            ("[injected] ping × 2", "#34;#91;injected#93; ping #215; 2#34;"),
            (" \n", "(empty)"),
        ] {
            assert_eq!(escaped(text, 99), written);
        }
        assert_eq!(escaped(&"é".repeat(9), 3), "ééé…");
    }

    #[test]
    fn the_same_notification_in_a_row_is_one_arrow() {
        let (a, b) = (r#"{"method":"n/a"}"#, r#"{"method":"n/b"}"#);
        let long = format!(r#"{{"method":"n/a","params":["{}"]}}"#, "x".repeat(1000));
        let got = arrows(&[
            (1, SERVER, a),
            (1, SERVER, a),
            (1, SERVER, a),
            (1, CLIENT, a),
            (1, SERVER, b),
            (1, SERVER, a),
            (1, SERVER, &long),
        ]);
        let both = a.len() + long.len();
        let expected = format!(
            "    server-)client: n/a × 3\n    client-)server: n/a\n    server-)client: n/b\n    server-)client: n/a × 2 ({both} bytes together)\n"
        );
        assert_eq!(got, expected);
    }

    #[test]
    fn answers_name_their_requests_in_batches_too() {
        let batch = r#"[{"id":1,"method":"a"},{"method":"b"},{"id":2,"method":"c"},[[]],4]"#;
        let got = arrows(&[
            (1, CLIENT, batch),
            (2, SERVER, r#"{"id":2,"result":{}}"#),
            (1, SERVER, r#"[{"id":2,"result":{}}]"#),
            (1, SERVER, r#"{"id":1,"error":{}}"#),
            (1, SERVER, r#"{"id":1,"error":{}}"#),
        ]);
        let expected = [
            "client->>server: a",
            "client-)server: b",
            "client->>server: c",
            "client->>server: batch",
            "client-xserver: [no message] unclassified 4",
            "participant client 2",
            "participant server 2",
            "server 2-->>client 2: result of an unknown request",
            "server-->>client: result of c",
            "server-->>client: error of a",
            "server-->>client: error of an unknown request",
        ];
        assert_eq!(got, expected.map(|line| format!("    {line}\n")).concat());
    }

    #[test]
    fn lines_that_are_no_messages_are_marked() {
        let got = arrows(&[(1, SERVER, "ready; go"), (1, SERVER, " "), (1, CLIENT, "{\"id\":"), (1, CLIENT, "7")]);
        let expected = [
            "server-xclient: [no message] noise #34;ready#59; go#34;",
            "server-xclient: [no message] blank",
            "client-xserver: [no message] malformed #34;#123;#34;id#34;#58;#34;",
            "client-xserver: [no message] unclassified 7",
        ];
        assert_eq!(got, expected.map(|line| format!("    {line}\n")).concat());
    }
}
