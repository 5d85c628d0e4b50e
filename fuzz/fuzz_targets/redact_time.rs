//! Redaction takes time in proportion to the text: a text of any unit repeated, alone or in another one, takes no longer for
//! each byte when it is eight times as long.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpreel::testing::redact::Settings;
use mcpreel::testing::share::Learner;
use mcpreel::testing::trace::{Event, EventKind};
use mcpreel::testing::wire::Framing;
use mcpreel_fuzz::event_header;
use std::time::{Duration, Instant};

/// The length of the shorter text. Unit: bytes.
const LENGTH: usize = 64 << 10;
/// How many times as long the longer one is.
const FACTOR: usize = 8;
/// Less says nothing: other programs run, too.
const NOISE: Duration = Duration::from_millis(200);
/// The maximum time with debug assertions and sanitizers. Unit: nanoseconds for each byte.
const MOST: u128 = 20_000;

fuzz_target!(|input: &[u8]| {
    let Some((kind, unit)) = input.split_first().filter(|(_, unit)| (1..=4096).contains(&unit.len())) else { return };
    let kind = if kind & 1 == 0 { EventKind::Message } else { EventKind::Stderr };
    let [short, long] = [LENGTH, LENGTH * FACTOR].map(|length| unit.repeat(length.div_ceil(unit.len())));
    let (once, again) = (took(kind, &short), took(kind, &long));
    assert!(again < NOISE || again < 2 * FACTOR as u32 * once, "{once:?} and, {FACTOR} times as long, {again:?}");
    assert!(again.as_nanos() / (long.len() as u128) < MOST, "{again:?}");
});

/// Returns how long it takes to learn the secrets of an event, and to replace them.
fn took(kind: EventKind, payload: &[u8]) -> Duration {
    let header = event_header(kind, Framing::Whole, payload);
    let mut learner = Learner::new(&Settings::default(), b"a key of 16 bytes").expect("no settings");
    let began = Instant::now();
    learner.learn(&Event { header: &header, payload });
    learner.finish().payload(&header, payload);
    began.elapsed()
}
