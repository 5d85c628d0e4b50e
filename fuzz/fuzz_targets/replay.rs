//! Replaying a session, whatever was recorded and whatever the live server sends: it ends, and does the same again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpreel::testing::replay::{Conversation, Conversations, Output, Plan, ReplayEngine, Selection, Settings};
use mcpreel_fuzz::{events, steps};
use std::time::Duration;

fuzz_target!(|data: &[u8]| {
    let middle = data.windows(3).position(|three| three == b"\n=\n");
    let (recorded, live) = middle.map_or((data, data), |at| (&data[..at], &data[at + 3..]));
    for session in sessions(recorded) {
        for is_for_modern in [false, true] {
            let selection = Selection { is_for_modern, ..Selection::default() };
            assert_eq!(talk(session.clone(), &selection, live), talk(session.clone(), &selection, live));
        }
    }
});

fn sessions(recorded: &[u8]) -> Vec<Conversation> {
    let mut found = Conversations::default();
    events(recorded, |event| found.take(event));
    found.finish()
}

fn talk(session: Conversation, selection: &Selection, live: &[u8]) -> Vec<Output> {
    let mut engine = ReplayEngine::new(Plan::new(session, selection), Settings::default());
    let mut all = engine.start(Duration::ZERO);
    let mut now = Duration::ZERO;
    for step in steps(live) {
        now = step.now;
        all.extend(engine.handle_timeout(now));
        all.extend(engine.receive(now, step.message));
    }
    // A server that says nothing more is given up, one message after another.
    for _ in 0..=2 * recorded_steps(&all) + 100_000 {
        let Some(at) = engine.next_timeout() else { break };
        now = now.max(at);
        all.extend(engine.handle_timeout(now));
    }
    assert!(engine.next_timeout().is_none(), "it never ends");
    assert_eq!(all.iter().filter(|output| **output == Output::Finished).count(), 1);
    all
}

fn recorded_steps(outputs: &[Output]) -> usize {
    outputs.iter().filter(|output| matches!(output, Output::Send(_))).count()
}
