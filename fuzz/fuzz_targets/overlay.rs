//! The overlay between a client and a server that send anything: each message is passed on, answered, kept or changed
//! exactly once; the overlay's own messages are JSON-RPC; and a second run gives the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpreel::testing::overlay::{Output, Overlay, Plan, Setting};
use mcpreel::testing::wire::Direction;
use mcpreel_fuzz::{Step, assert_rests, assert_sendable, steps};
use std::sync::LazyLock;

static PLAN: LazyLock<Plan> = LazyLock::new(|| {
    let text = include_str!("../../examples/overlays/annal.yaml");
    Plan::read(text, &[]).expect("an example")
});

fuzz_target!(|data: &[u8]| assert_eq!(talk(data), talk(data)));

fn talk(data: &[u8]) -> Vec<Output> {
    let setting = Setting { id_prefix: "mcpreel-0123abcd-".to_owned(), seed: 1, wall_base_ns: 0 };
    let mut overlay = Overlay::new(PLAN.clone(), setting);
    let mut all = Vec::new();
    for step in steps(data) {
        all.extend(overlay.handle_timeout(step.now));
        assert_rests(overlay.next_timeout(), step.now);
        let outputs = match step.direction {
            Direction::ClientToServer => overlay.from_client(step.now, step.message.to_vec()),
            Direction::ServerToClient => overlay.from_server(step.now, step.message.to_vec()),
        };
        assert_eq!(outputs.iter().filter(|output| is_fate(output, &step)).count(), 1, "{outputs:?}");
        all.extend(outputs);
    }
    for output in &all {
        if let Output::Send(_, message) = output {
            assert_sendable(message);
        }
    }
    all
}

/// Whether this output decides what happens to the message.
fn is_fate(output: &Output, step: &Step<'_>) -> bool {
    match output {
        Output::Forward(way, message) | Output::Consume(way, message) => {
            assert_eq!((*way, &message[..]), (step.direction, step.message));
            true
        }
        Output::Replace(message, _) | Output::Drop(message) => {
            assert_eq!((Direction::ServerToClient, &message[..]), (step.direction, step.message));
            true
        }
        Output::Send(..) | Output::Notice(_) | Output::Report(_) => false,
    }
}
