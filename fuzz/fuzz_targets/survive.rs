//! A survey of a client that says anything and ends whenever it likes: it comes to an end, and to a report or a reason.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpreel::probe::{ProbeRun, ClientEnd, Order, Plan, Settings};
use mcpreel_fuzz::{assert_rests, steps};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);
const SETTINGS: Settings = Settings { wait: SECOND, settle: SECOND, connect: SECOND, restarts: 5 };

fuzz_target!(|data: &[u8]| {
    let mut course = ProbeRun::new(Plan::of(&[]), SETTINGS);
    let mut orders = course.begin(Duration::ZERO);
    let mut over = false;
    for step in steps(data) {
        orders.extend(course.wake(step.now));
        assert_rests(course.next_wake(), step.now);
        let (stream, code) = (u32::from(step.message.first().copied().unwrap_or_default() % 8), Some(0));
        orders.extend(match step.message.split_first() {
            Some((b'0'..=b'7', b"+")) => course.ready(step.now, stream),
            Some((b'0'..=b'7', b"-")) => course.closed(step.now, stream),
            Some((b'0'..=b'7', b"!")) => course.ended(step.now, ClientEnd { code, ..ClientEnd::default() }),
            Some((_, message)) => course.pass(step.now, stream, step.direction, message),
            None => Vec::new(),
        });
        assert!(!over || orders.is_empty(), "it goes on after its end: {orders:?}");
        over |= orders.drain(..).any(|order| order == Order::Over);
    }
    assert_eq!(over, over && (course.survey().is_ok() || course.survey().is_err()));
});
