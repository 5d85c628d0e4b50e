//! Gets the text of a message from an event, and checks the stream itself: framing, noise and empty lines.

use super::rules;
use crate::proposals::{Findings, clip};
use crate::trace::{Event, Flags};
use crate::wire::{Envelope, Fault, Framing, MessageKind, json};

/// Returns the text to check; `None` if the event does not contain a whole message.
pub(super) fn text<'a>(event: &Event<'a>, findings: &mut Findings) -> Option<&'a [u8]> {
    let header = event.header;
    let seq = header.seq;
    let whole = header.framing != Framing::Fragment && !header.flags.has(Flags::TRUNCATED);
    findings.check(&rules::NOT_CHECKED, seq, whole, || "the reel contains only a part of this message".to_owned());
    if !whole {
        return None;
    }
    findings.check(&rules::CRLF, seq, header.framing != Framing::CrLf, || "the line ends with CR LF".to_owned());
    findings.check(&rules::HEADER_BLOCKS, seq, header.framing != Framing::ContentLength, || {
        "the message is in a Content-Length block".to_owned()
    });
    findings.check(&rules::UNTERMINATED, seq, header.framing != Framing::Unterminated, || {
        "the stream ended in the middle of a line".to_owned()
    });
    Some(event.body())
}

/// Returns whether the text is a message that can be checked further. If it is not, reports what it is.
pub(super) fn is_message(
    seq: u64,
    kind: MessageKind,
    text: &[u8],
    envelope: &Envelope<'_>,
    findings: &mut Findings,
) -> bool {
    let is_noise = kind == MessageKind::Noise;
    findings.check(&rules::NOISE, seq, !is_noise, || quote(text));
    findings.check(&rules::BLANK_LINE, seq, kind != MessageKind::Blank, || "the line is empty".to_owned());
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

/// Quotes the beginning of a text that cannot be parsed.
fn quote(text: &[u8]) -> String {
    format!("{:?}", clip(&String::from_utf8_lossy(&text[..text.len().min(400)]), 80))
}
