//! Comma-separated values (RFC 4180), an export format for spreadsheets: a row for each message.

use super::jsonl::rfc3339;
use super::messages::{ByMessage, Message, MessageExporter};
use super::{Content, ExportFormat};
use crate::session::Outcome;
use crate::trace::FileHeader;
use crate::wire::json;
use crate::wire::text::visible_lines;
use crate::wire::units::millis_of;
use std::borrow::Cow;
use std::io::{self, Write};

/// Comma-separated values, for `export`.
pub(crate) const EXPORT: ExportFormat = ExportFormat {
    name: "csv",
    about: "A table for spreadsheets, one message per row",
    content: Content::Text,
    make: |_| Box::new(ByMessage::<Rows>::default()),
};

/// The headings of the columns.
const COLUMNS: [&str; 14] = [
    "seq",
    "time",
    "stream",
    "exchange",
    "dir",
    "kind",
    "method",
    "id",
    "latency_ms",
    "bytes",
    "flags",
    "request_seq",
    "outcome",
    "message",
];

/// Spreadsheets take a cell that begins with one of these for a formula, some also in the width of Chinese characters.
const FORMULA: [char; 10] = ['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠'];

#[derive(Default)]
struct Rows;

impl MessageExporter for Rows {
    const NEEDS_ENDINGS: bool = true;

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
                cell(envelope.id.map_or(&b""[..], |id| id.0)),
                message.latency.map(|time| millis_of(time).to_string()).unwrap_or_default().into_bytes().into(),
                number(message.len),
                message.flags.names().collect::<Vec<_>>().join(" ").into_bytes().into(),
                message.request.map(|(seq, _)| seq.to_string()).unwrap_or_default().into_bytes().into(),
                message.outcome.map_or("", Outcome::name).as_bytes().into(),
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

/// Returns a stranger's text as a cell: UTF-8 on visible lines. An apostrophe before a formula makes it text; a number is
/// no formula.
fn cell(given: &[u8]) -> Cow<'_, [u8]> {
    let text = String::from_utf8_lossy(given);
    let is_formula = text.starts_with(FORMULA) && json::check(given).is_err();
    match (is_formula, visible_lines(&text)) {
        (true, shown) => format!("'{shown}").into_bytes().into(),
        (false, shown) if shown.as_bytes() == given => given.into(),
        (false, shown) => shown.into_owned().into_bytes().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_formula_becomes_text_and_nothing_else_changes() {
        for (text, written) in [
            ("=1+1", "'=1+1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("＝1", "'＝1"),
            ("-1+cmd|' /C calc'!A0", "'-1+cmd|' /C calc'!A0"),
            ("-1", "-1"),
            ("{\"a\":1}", "{\"a\":1}"),
            ("", ""),
        ] {
            assert_eq!(&*cell(text.as_bytes()), written.as_bytes());
        }
    }

    #[test]
    fn what_is_not_text_is_replaced() {
        let cells = [
            (&b"=\xff\x00"[..], "'=\u{fffd}\u{2400}"),
            (b"\xc2\x9b\x1b[1m\xe2\x80\xae", "\u{fffd}\u{241b}[1m\u{fffd}"),
            (b"a\r\n\tb\r", "a\n\tb\u{240d}"),
            (b"\r=1", "'\u{240d}=1"),
        ];
        for (given, written) in cells {
            assert_eq!(&*cell(given), written.as_bytes());
        }
    }
}
