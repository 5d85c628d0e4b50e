//! From an event to the text of its message, and what the stream itself shows: framing, noise, lines that are empty.

use super::rules;
use crate::proposals::{Findings, clip};
use crate::trace::{Event, Flags};
use crate::wire::{Envelope, Fault, Framing, MessageKind, json};

/// The text to check; `None` where the event holds no whole message.
pub(super) fn text<'a>(event: &Event<'a>, findings: &mut Findings) -> Option<&'a [u8]> {
    let header = event.header;
    let seq = header.seq;
    let whole = header.framing != Framing::Fragment && !header.flags.has(Flags::TRUNCATED);
    findings.check(&rules::NOT_CHECKED, seq, whole, || "a message that was cut".to_owned());
    if !whole {
        return None;
    }
    findings.check(&rules::CRLF, seq, header.framing != Framing::CrLf, || "a line ended by CR LF".to_owned());
    findings.check(&rules::HEADER_BLOCKS, seq, header.framing != Framing::ContentLength, || {
        "a Content-Length block".to_owned()
    });
    findings.check(&rules::UNTERMINATED, seq, header.framing != Framing::Unterminated, || {
        "the stream ended inside a line".to_owned()
    });
    Some(event.body())
}

/// Whether the text is a message to go on with; notes what it is where it is none.
pub(super) fn is_message(
    seq: u64,
    kind: MessageKind,
    text: &[u8],
    envelope: &Envelope<'_>,
    findings: &mut Findings,
) -> bool {
    let is_noise = kind == MessageKind::Noise;
    findings.check(&rules::NOISE, seq, !is_noise, || quote(text));
    findings.check(&rules::BLANK_LINE, seq, kind != MessageKind::Blank, || "an empty line".to_owned());
    if is_noise || kind == MessageKind::Blank {
        return false;
    }
    if kind == MessageKind::Malformed {
        malformed(seq, text, envelope, findings);
        return false;
    }
    let is_batch_inside = kind == MessageKind::Batch;
    let known = kind != MessageKind::Unclassified && !is_batch_inside;
    findings.check(&rules::NO_MESSAGE, seq, known, || quote(text));
    known
}

fn malformed(seq: u64, text: &[u8], envelope: &Envelope<'_>, findings: &mut Findings) {
    let broken = || {
        let fault = if envelope.faults.contains(Fault::TrailingBytes) { Fault::TrailingBytes } else { Fault::Broken };
        fault.phrase().to_owned()
    };
    let reason = json::check(text).err().unwrap_or_else(broken);
    let rule = if std::str::from_utf8(text).is_err() { &rules::ENCODING } else { &rules::MALFORMED };
    findings.note(rule, seq, format!("{reason}: {}", quote(text)));
}

/// The beginning of a text that is not understood.
fn quote(text: &[u8]) -> String {
    format!("{:?}", clip(&String::from_utf8_lossy(&text[..text.len().min(400)]), 80))
}
