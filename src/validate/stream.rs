//! Gets the text of a message from an event, and checks the stream itself: framing, noise and empty lines.

use super::classify::Text;
use super::rules;
use crate::proposals::{Findings, clip};
use crate::trace::Event;
use crate::wire::{Envelope, Fault, Framing, MessageKind, json};

/// Checks how a whole message is delimited in its stream.
pub(super) fn check_framing(event: &Event<'_>, findings: &mut Findings) {
    let (seq, framing) = (event.header.seq, event.header.framing);
    findings.hold(&rules::NOT_CHECKED);
    findings.check(&rules::CRLF, seq, framing != Framing::CrLf, || "the line ends with CR LF".to_owned());
    findings.check(&rules::HEADER_BLOCKS, seq, framing != Framing::ContentLength, || {
        "the message is in a Content-Length block".to_owned()
    });
    findings.check(&rules::UNTERMINATED, seq, framing != Framing::Unterminated, || {
        "the stream ended in the middle of a line".to_owned()
    });
}

/// Returns whether the text is a message that can be checked further. If it is not, reports what it is.
pub(super) fn is_message(seq: u64, text: &Text<'_>, findings: &mut Findings) -> bool {
    let Text { bytes: text, envelope } = text;
    let kind = envelope.kind;
    let is_noise = kind == MessageKind::Noise;
    findings.check(&rules::NOISE, seq, !is_noise, || format!("not JSON: {}", quote(text)));
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
    findings.check(&rules::NO_MESSAGE, seq, known, || format!("not a JSON-RPC message: {}", quote(text)));
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
