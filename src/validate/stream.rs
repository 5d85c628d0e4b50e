//! Gets the text of a message from an event, and checks the stream itself: framing, noise and empty lines.

use super::classify::Text;
use super::rules;
use crate::proposals::{Findings, Rule, clip};
use crate::trace::Event;
use crate::wire::{Framing, MessageKind, json};

/// The rules that almost every message keeps.
static FRAMING: [&Rule; 4] = [&rules::NOT_CHECKED, &rules::CRLF, &rules::HEADER_BLOCKS, &rules::UNTERMINATED];
static IS_MESSAGE: [&Rule; 3] = [&rules::NOISE, &rules::BLANK_LINE, &rules::NO_MESSAGE];

/// Checks how a whole message is delimited in its stream.
pub(super) fn check_framing(event: &Event<'_>, findings: &mut Findings) {
    let (seq, framing) = (event.header.seq, event.header.framing);
    if !matches!(framing, Framing::CrLf | Framing::ContentLength | Framing::Unterminated) {
        return findings.hold_all(&FRAMING);
    }
    findings.hold(&rules::NOT_CHECKED);
    findings.check(&rules::CRLF, seq, framing != Framing::CrLf, || "the line ends with CR LF".to_owned());
    findings.check(&rules::HEADER_BLOCKS, seq, framing != Framing::ContentLength, || {
        "the message is in a Content-Length block".to_owned()
    });
    findings.check(&rules::UNTERMINATED, seq, framing != Framing::Unterminated, || {
        "the stream ended in the middle of a line".to_owned()
    });
}

/// Returns whether the text is a message that can be checked further.
pub(super) fn can_be_checked(text: &Text<'_>) -> bool {
    let kind = text.envelope.kind;
    kind.is_response() || matches!(kind, MessageKind::Request | MessageKind::Notification)
}

/// Returns whether the text is a message that can be checked further. If it is not, reports what it is.
pub(super) fn is_message(seq: u64, text: &Text<'_>, findings: &mut Findings) -> bool {
    if can_be_checked(text) {
        findings.hold_all(&IS_MESSAGE);
        return true;
    }
    let Text { bytes: text, envelope, .. } = text;
    match envelope.kind {
        MessageKind::Noise => findings.note(&rules::NOISE, seq, format!("not JSON: {}", quote(text))),
        MessageKind::Blank => findings.note(&rules::BLANK_LINE, seq, "the line is empty"),
        MessageKind::Malformed => malformed(seq, text, findings),
        _ => findings.note(&rules::NO_MESSAGE, seq, format!("not a JSON-RPC message: {}", quote(text))),
    }
    false
}

fn malformed(seq: u64, text: &[u8], findings: &mut Findings) {
    let reason = json::check(text).err().unwrap_or_default();
    let rule = if std::str::from_utf8(text).is_err() { &rules::ENCODING } else { &rules::MALFORMED };
    findings.note(rule, seq, format!("{reason}: {}", quote(text)));
}

/// Quotes the beginning of a text that cannot be parsed.
fn quote(text: &[u8]) -> String {
    format!("{:?}", clip(&String::from_utf8_lossy(&text[..text.len().min(400)]), 80))
}

/// Reports how many texts of a batch are no messages, in addition to the first one.
pub(super) fn note_more(seq: u64, more: u64, findings: &mut Findings) {
    findings.note(&rules::NO_MESSAGE, seq, format!("{more} more items of the batch are no JSON-RPC messages"));
}
