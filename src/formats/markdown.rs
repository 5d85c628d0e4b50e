//! Markdown documents, an export format for people: a table with a row for each message, and below it the text of each
//! error.

use super::jsonl::rfc3339;
use super::messages::{ByMessage, Message, MessageExporter};
use super::{Content, ExportFormat};
use crate::session::Outcome;
use crate::session::participants::Participants;
use crate::trace::{Event, EventKind, FileHeader};
use crate::wire::text::{counted, excerpt, visible_lines};
use crate::wire::units::millis_of;
use crate::wire::{Envelope, MessageKind, json};
use std::fmt::Write as _;
use std::io::{self, Write};

/// Markdown documents, for `export`.
pub(crate) const EXPORT: ExportFormat = ExportFormat {
    name: "markdown",
    about: "A Markdown document for people: a table of messages, and the errors",
    content: Content::Text,
    make: |_| Box::new(ByMessage::<Document>::default()),
};

/// The headings of the columns, and how their cells stand.
const COLUMNS: [&str; 9] = ["Event", "Time (s)", "From", "Kind", "Method", "Outcome", "Latency (ms)", "Bytes", "Marks"];
const ALIGNMENT: [&str; 9] = ["---:", "---:", "---", "---", "---", "---", "---:", "---:", "---"];

/// Of a label or a method, at most this many characters are shown.
const NAME_CHARS: usize = 100;

/// Of an error, at most this many characters are shown.
const ERROR_CHARS: usize = 2000;

/// At most this many errors are shown. They are remembered until the table ends.
const MAX_ERRORS: usize = 1000;

/// Characters that mean something even at a code span: a `|` ends a cell, a backtick the span, and a backslash is an escape
/// for some readers.
const SYNTAX: [char; 3] = ['|', '`', '\\'];

/// Writes a reel as a document.
#[derive(Default)]
struct Document {
    participants: Participants,
    /// The time of the first message.
    start: Option<i64>,
    /// The sections about errors, as they will be written.
    errors: Vec<String>,
    /// The number of further errors.
    more: u64,
}

impl MessageExporter for Document {
    const NEEDS_ENDINGS: bool = true;

    fn begin(&mut self, header: &FileHeader, out: &mut dyn Write) -> io::Result<()> {
        let label = header.label.as_ref().map(|label| format!(" {}", code(label))).unwrap_or_default();
        writeln!(out, "# Session{label}, started {}\n", start(header.created))?;
        row(COLUMNS, out)?;
        row(ALIGNMENT, out)
    }

    fn message(&mut self, message: &Message<'_>, out: &mut dyn Write) -> io::Result<()> {
        let start = *self.start.get_or_insert(message.time);
        row(
            [
                &message.seq.to_string(),
                &seconds(message.time.saturating_sub(start)),
                &self.participants.sender(message.stream, message.direction),
                message.envelope.kind.name(),
                &message.method.as_deref().map(code).unwrap_or_default(),
                message.outcome.map_or("", Outcome::name),
                &message.latency.map(|time| millis_of(time).to_string()).unwrap_or_default(),
                &message.len.to_string(),
                &marks(message),
            ],
            out,
        )?;
        if let Some(text) = error_text(&message.envelope) {
            self.remember(message, &text);
        }
        Ok(())
    }

    fn other(&mut self, event: &Event<'_>, out: &mut dyn Write) -> io::Result<()> {
        if event.header.kind != EventKind::Gap {
            return Ok(());
        }
        row([&event.header.seq.to_string(), "", "", "*traffic is missing here*", "", "", "", "", ""], out)
    }

    fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if !self.errors.is_empty() {
            writeln!(out, "\n## Errors")?;
        }
        self.errors.iter().try_for_each(|section| write!(out, "\n{section}"))?;
        if self.more > 0 {
            writeln!(out, "\nNot shown: {}.", counted(self.more, "more error"))?;
        }
        Ok(())
    }
}

impl Document {
    /// Remembers an answer that is an error with this text.
    fn remember(&mut self, message: &Message<'_>, text: &str) {
        if self.errors.len() >= MAX_ERRORS {
            self.more += 1;
            return;
        }
        let tool = if message.envelope.tool_error { "tool " } else { "" };
        let request = message.method.as_deref().map_or_else(|| "an unknown request".to_owned(), code);
        self.errors.push(format!("### Event {}: {tool}error of {request}\n\n{}", message.seq, fenced(&block(text))));
    }
}

/// Writes one row. The cells are safe text.
fn row(cells: [&str; COLUMNS.len()], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "| {} |", cells.join(" | "))
}

/// Formats Unix nanoseconds for people, to the second.
fn start(time: i64) -> String {
    let text = rfc3339(time);
    let second = text.split_once('.').map_or(text.as_str(), |(second, _)| second);
    format!("{} UTC", second.replace('T', " "))
}

/// Formats a number of nanoseconds as seconds with three digits after the point. It is negative if a clock was set back.
fn seconds(nanoseconds: i64) -> String {
    let sign = if nanoseconds < 0 { "-" } else { "" };
    let millis = nanoseconds.unsigned_abs() / 1_000_000;
    format!("{sign}{}.{:03}", millis / 1000, millis % 1000)
}

/// Returns the marks of a message: its flags, and whether it is no message.
fn marks(message: &Message<'_>) -> String {
    let no_message = (!is_message(message.envelope.kind)).then_some("no message");
    message.flags.names().chain(no_message).collect::<Vec<_>>().join(", ")
}

/// Returns whether a line of this kind is a message.
fn is_message(kind: MessageKind) -> bool {
    match kind {
        MessageKind::Request
        | MessageKind::Notification
        | MessageKind::Result
        | MessageKind::Error
        | MessageKind::Batch => true,
        MessageKind::Unclassified | MessageKind::Malformed | MessageKind::Noise | MessageKind::Blank => false,
    }
}

/// Returns what an answer says about its error, if it is one: any text, a stranger wrote it.
fn error_text(envelope: &Envelope<'_>) -> Option<String> {
    match envelope.kind {
        MessageKind::Error => envelope.error.map(protocol_error),
        MessageKind::Result if envelope.tool_error => envelope.result.map(tool_error),
        _ => None,
    }
}

/// Returns the text of a JSON-RPC error: its code, message and data, or its JSON text if it has no message.
fn protocol_error(error: &[u8]) -> String {
    let Some(message) = json::member(error, "message").and_then(json::as_str) else { return lossy(error) };
    let code = json::member(error, "code").map(|code| lossy(code) + ": ").unwrap_or_default();
    let data = json::member(error, "data").map(|data| format!("\ndata: {}", lossy(data))).unwrap_or_default();
    code + &message + &data
}

/// Returns the text of a failed tool's result: its texts, or its JSON text if it has none.
fn tool_error(result: &[u8]) -> String {
    let content = json::member(result, "content").unwrap_or_default();
    let texts = json::items(content).filter_map(|item| json::as_str(json::member(item, "text")?));
    let texts: Vec<_> = texts.collect();
    if texts.is_empty() { lossy(result) } else { texts.join("\n") }
}

/// Returns bytes as text.
fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns the beginning of a stranger's text on one line, in code spans: nothing there is Markdown or HTML. What would be
/// syntax nevertheless stands between the spans, as character references.
fn code(text: &str) -> String {
    let (mut shown, mut in_span) = (String::new(), false);
    for found in excerpt(text, NAME_CHARS).chars() {
        let is_syntax = SYNTAX.contains(&found);
        // A span that begins and ends with a space would lose both.
        let is_code = !is_syntax && (in_span || found != ' ');
        if in_span != is_code {
            shown.push('`');
            in_span = is_code;
        }
        let _ = if is_syntax { write!(shown, "&#{};", u32::from(found)) } else { write!(shown, "{found}") };
    }
    if in_span {
        shown.push('`');
    }
    if shown.is_empty() { "(empty)".to_owned() } else { shown }
}

/// Returns the beginning of a stranger's text on visible lines.
fn block(text: &str) -> String {
    let text = text.trim_end();
    let start: String = text.chars().take(ERROR_CHARS).collect();
    let more = if start.len() < text.len() { "…" } else { "" };
    visible_lines(&start).into_owned() + more
}

/// Returns lines as a fenced code block. The fence is longer than every row of backticks in them, so that none ends it.
fn fenced(lines: &str) -> String {
    let longest = lines.split(|found| found != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}text\n{lines}\n{fence}\n")
}

#[cfg(test)]
mod tests {
    use super::super::Exporter as _;
    use super::super::messages::tests::header;
    use super::*;
    use crate::trace::Flags;
    use crate::wire::Framing;

    /// The document of these messages of a server, without its first four lines.
    fn document(messages: &[String]) -> String {
        let (mut exporter, mut out) = (ByMessage::<Document>::default(), Vec::new());
        exporter.begin(&FileHeader::default(), &mut out).expect("written");
        for (seq, text) in (0..).zip(messages) {
            let header = header(seq, Framing::Lf, Flags::SERVER_TO_CLIENT, text.len());
            exporter.event(&Event { header: &header, payload: text.as_bytes() }, &mut out).expect("written");
        }
        exporter.end(&mut out).expect("written");
        let text = String::from_utf8(out).expect("text");
        text.lines().skip(4).map(|line| format!("{line}\n")).collect()
    }

    #[test]
    fn nothing_in_a_strangers_name_is_markdown_or_html() {
        for (text, written) in [
            ("tools/call", "`tools/call`"),
            ("a|b", "`a`&#124;`b`"),
            ("``<b>`", "&#96;&#96;`<b>`&#96;"),
            ("a\\|", "`a`&#92;&#124;"),
            ("x\n# y\r\n| z |", "`x # y `&#124; `z `&#124;"),
            ("[a](http://b) @c &lt; **d**\u{202e}", "`[a](http://b) @c &lt; **d**\u{fffd}`"),
            (" \n", "(empty)"),
        ] {
            assert_eq!(code(text), written);
        }
        assert_eq!(code(&"é".repeat(NAME_CHARS + 1)), format!("`{}…`", "é".repeat(NAME_CHARS)));
    }

    #[test]
    fn no_line_of_an_error_ends_its_block() {
        assert_eq!(fenced("a\n```\nb"), "````text\na\n```\nb\n````\n");
        assert_eq!(fenced("`a` ~~~"), "```text\n`a` ~~~\n```\n");
        assert_eq!(block("a\r\n\tb\r\u{1b}[31m\n"), "a\n\tb␍␛[31m");
        assert_eq!(block(&"é".repeat(ERROR_CHARS + 1)), "é".repeat(ERROR_CHARS) + "…");
    }

    #[test]
    fn an_error_has_its_code_message_and_data_or_its_json_text() {
        for (message, text) in [
            (
                r#"{"id":1,"error":{"code":-32602,"message":"a\nb","data":{"c":[1]}}}"#,
                "-32602: a\nb\ndata: {\"c\":[1]}",
            ),
            (r#"{"id":1,"error":{"message":"a"}}"#, "a"),
            (r#"{"id":1,"error":"odd"}"#, "\"odd\""),
            (r#"{"id":1,"result":{"isError":true,"content":[{"text":"a"},{},{"text":"b"}]}}"#, "a\nb"),
            (r#"{"id":1,"result":{"isError":true}}"#, "{\"isError\":true}"),
        ] {
            assert_eq!(error_text(&Envelope::scan(message.as_bytes())).as_deref(), Some(text));
        }
        assert_eq!(error_text(&Envelope::scan(br#"{"id":1,"result":{}}"#)), None);
    }

    #[test]
    fn times_are_in_seconds_even_if_a_clock_was_set_back() {
        assert_eq!([0, 1_234_567_890, -500_000_000].map(seconds), ["0.000", "1.234", "-0.500"]);
        assert_eq!(start(0), "1970-01-01 00:00:00 UTC");
    }

    #[test]
    fn errors_stand_below_the_table_and_only_some_are_remembered() {
        let error = r#"{"id":1,"error":{"code":1,"message":"m"}}"#;
        let got = document(&[error.to_owned(), r#"{"id":2,"result":{}}"#.to_owned()]);
        let expected = "| 0 | 0.000 | server | error |  | error |  | 41 |  |
| 1 | 0.000 | server | result |  | ok |  | 20 |  |

## Errors

### Event 0: error of an unknown request

```text
1: m
```
";
        assert_eq!(got, expected);
        let many = document(&vec![error.to_owned(); MAX_ERRORS + 2]);
        assert_eq!(many.matches("### Event").count(), MAX_ERRORS);
        assert!(many.ends_with("\nNot shown: 2 more errors.\n"), "{many}");
    }
}
