//! The test of a client that sends anything and exits at any time: it ends with a report or a reason.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpreel::testing::probe::{ClientEnd, Output, Plan, ProbeRun, Settings};
use mcpreel_fuzz::{assert_rests, steps};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);
const SETTINGS: Settings = Settings { wait: SECOND, settle: SECOND, connect: SECOND, restarts: 5 };

fuzz_target!(|data: &[u8]| {
    let mut probe_run = ProbeRun::new(Plan::of(&[]), SETTINGS);
    let mut outputs = probe_run.begin(Duration::ZERO);
    let mut over = false;
    for step in steps(data) {
        outputs.extend(probe_run.handle_timeout(step.now));
        assert_rests(probe_run.next_timeout(), step.now);
        let (stream, code) = (u32::from(step.message.first().copied().unwrap_or_default() % 8), Some(0));
        outputs.extend(match step.message.split_first() {
            Some((b'0'..=b'7', b"+")) => probe_run.ready(step.now, stream),
            Some((b'0'..=b'7', b"-")) => probe_run.closed(step.now, stream),
            Some((b'0'..=b'7', b"!")) => probe_run.ended(step.now, ClientEnd { code, ..ClientEnd::default() }),
            Some((_, message)) => probe_run.pass(step.now, stream, step.direction, message),
            None => Vec::new(),
        });
        assert!(!over || outputs.is_empty(), "it goes on after its end: {outputs:?}");
        over |= outputs.drain(..).any(|output| output == Output::Over);
    }
    assert_eq!(over, over && (probe_run.probe_report().is_ok() || probe_run.probe_report().is_err()));
});
