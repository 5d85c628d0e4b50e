//! Comma-separated values (RFC 4180), an export format for spreadsheets: a row for each message.

use super::ExportFormat;
use super::jsonl::rfc3339;
use super::messages::{ByMessage, Message, MessageExporter};
use crate::trace::FileHeader;
use crate::wire::text::visible;
use crate::wire::units::millis_of;
use std::borrow::Cow;
use std::io::{self, Write};

/// Comma-separated values, for `export`.
pub(crate) const EXPORT: ExportFormat = ExportFormat {
    name: "csv",
    about: "A table for spreadsheets, one message per row",
    exporter: |_| Box::new(ByMessage::<Rows>::default()),
};

/// The headings of the columns.
const COLUMNS: [&str; 12] =
    ["seq", "time", "stream", "exchange", "dir", "kind", "method", "id", "latency_ms", "bytes", "flags", "message"];

/// Spreadsheets take a cell that begins with one of these for a formula.
const FORMULA: &[u8] = b"=+-@\t\r";

#[derive(Default)]
struct Rows;

impl MessageExporter for Rows {
    fn begin(&mut self, _header: &FileHeader, out: &mut dyn Write) -> io::Result<()> {
        row(COLUMNS.map(|name| name.as_bytes().into()), out)
    }

    fn message(&mut self, message: &Message<'_>, out: &mut dyn Write) -> io::Result<()> {
        let envelope = &message.envelope;
        let number = |number: u64| Cow::from(number.to_string().into_bytes());
        row(
            [
                number(message.seq),
                rfc3339(message.time).into_bytes().into(),
                number(message.stream.into()),
                number(message.exchange.into()),
                message.direction.short().as_bytes().into(),
                envelope.kind.name().as_bytes().into(),
                cell(message.method.as_deref().unwrap_or_default().as_bytes()),
                text(envelope.id.map_or(&b""[..], |id| id.0)),
                message.latency.map(|time| millis_of(time).to_string()).unwrap_or_default().into_bytes().into(),
                number(message.len),
                message.flags.names().collect::<Vec<_>>().join(" ").into_bytes().into(),
                cell(message.body.unwrap_or_default()),
            ],
            out,
        )
    }
}

/// Writes one row.
fn row(cells: [Cow<'_, [u8]>; COLUMNS.len()], out: &mut dyn Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(cells).map_err(io::Error::other)?;
    writer.flush()
}

/// Returns a stranger's text as a cell. An apostrophe before a formula makes it text.
fn cell(given: &[u8]) -> Cow<'_, [u8]> {
    match given.first() {
        Some(first) if FORMULA.contains(first) => [b"'", &text(given)[..]].concat().into(),
        _ => text(given),
    }
}

/// Returns what programs that read tables accept: UTF-8 without control characters, except for tabs and line ends.
fn text(given: &[u8]) -> Cow<'_, [u8]> {
    let is_unreadable = |found: char| found.is_control() && !matches!(found, '\n' | '\r' | '\t');
    match String::from_utf8_lossy(given) {
        Cow::Borrowed(text) if !text.contains(is_unreadable) => given.into(),
        text => {
            let shown = text.chars().map(|found| if is_unreadable(found) { visible(found) } else { found });
            shown.collect::<String>().into_bytes().into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_formula_becomes_text_and_nothing_else_changes() {
        for (text, written) in [("=1+1", "'=1+1"), ("@SUM(A1)", "'@SUM(A1)"), ("{\"a\":1}", "{\"a\":1}"), ("", "")] {
            assert_eq!(&*cell(text.as_bytes()), written.as_bytes());
        }
    }

    #[test]
    fn what_is_not_text_is_replaced() {
        let cells = [
            (&b"=\xff\x00"[..], "'=\u{fffd}\u{2400}"),
            (b"\xc2\x9b\x1b[1m", "\u{fffd}\u{241b}[1m"),
            (b"a\n\tb\r", "a\n\tb\r"),
        ];
        for (given, written) in cells {
            assert_eq!(&*cell(given), written.as_bytes());
        }
    }
}
