//! Redaction: any payload of any kind is redacted without a crash, and redacting it again changes nothing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpreel::testing::redact::Settings;
use mcpreel::testing::share::Learner;
use mcpreel::testing::trace::{Event, EventHeader, EventKind};
use mcpreel::testing::wire::Framing;
use mcpreel_fuzz::event_header;

fuzz_target!(|input: &[u8]| {
    let Some((kinds, rest)) = input.split_first() else { return };
    // Several events, so that secrets can be divided.
    let kind = EventKind::from_number(kinds & 7);
    let framing = [Framing::Lf, Framing::ContentLength, Framing::Sse, Framing::Whole][usize::from(kinds >> 6)];
    let payloads: Vec<&[u8]> = rest.split(|byte| *byte == 0).collect();
    let redaction = || Learner::new(&Settings::default(), b"a key of 16 bytes").expect("no settings");
    let once = redact(redaction(), kind, framing, &payloads);
    // Only of a redacted session is it known that pseudonyms are some.
    let redacted: Vec<&[u8]> = once.iter().map(Vec::as_slice).collect();
    let again = redact(redaction().keeping_pseudonyms(), kind, framing, &redacted);
    assert_eq!(once, again);
});

fn redact(mut learner: Learner, kind: EventKind, framing: Framing, payloads: &[&[u8]]) -> Vec<Vec<u8>> {
    let header = |seq: usize, payload: &[u8]| EventHeader { seq: seq as u64, ..event_header(kind, framing, payload) };
    for (seq, payload) in payloads.iter().enumerate() {
        learner.learn(&Event { header: &header(seq, payload), payload });
    }
    let mut redaction = learner.finish();
    payloads
        .iter()
        .enumerate()
        .map(|(seq, payload)| redaction.payload(&header(seq, payload), payload).into_owned())
        .collect()
}
