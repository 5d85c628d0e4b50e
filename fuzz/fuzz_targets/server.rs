//! The built-in server, whatever its host sends: it sends JSON-RPC, is idle after its timers, and does the same again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpreel::testing::server::{Config, Output, Server};
use mcpreel_fuzz::{assert_rests, assert_sendable, steps};
use std::time::Duration;

fuzz_target!(|data: &[u8]| assert_eq!(talk(data), talk(data)));

fn talk(data: &[u8]) -> Vec<Output> {
    let mut server = Server::new(Config::default());
    let mut all = Vec::new();
    for step in steps(data) {
        all.extend(server.handle_timeout(step.now));
        assert_rests(server.next_timeout(), step.now);
        let outputs = server.receive(step.now, step.message);
        run(&mut server, step.now, &outputs, &mut all);
        all.extend(outputs);
    }
    all.extend(server.end(steps(data).last().map(|step| step.now).unwrap_or_default()));
    for output in &all {
        if let Output::Send(message) = output {
            assert_sendable(message);
        }
    }
    all
}

/// Runs every I/O request; every second one fails.
fn run(server: &mut Server, now: Duration, outputs: &[Output], all: &mut Vec<Output>) {
    for output in outputs {
        let Output::IoRequest(io_request) = output else { continue };
        let completed = (io_request.ticket % 2 == 0).then(|| serde_json::json!({"exit_code": 0, "output": "done"}));
        all.extend(server.complete_io(now, io_request.ticket, completed));
    }
}
