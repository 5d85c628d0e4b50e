//! The engine of `mcp`, whatever its client sends and whatever the requests come to: it sends JSON-RPC, is idle after its
//! timers, answers no request twice, and does the same again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpreel::testing::server::{Catalogue, Config, Output, Server, Task};
use mcpreel::testing::wire::{Direction, Envelope, MessageKind, json};
use mcpreel_fuzz::{assert_rests, assert_sendable, steps};
use serde_json::{Value, json};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

static CATALOGUE: LazyLock<Arc<Catalogue>> = LazyLock::new(|| {
    let tools: Value = serde_json::from_str(include_str!("../../src/cli/commands/mcp/tools.json")).expect("JSON");
    let fault = |tool: &str, arguments: &Value| (tool == "explain" && arguments.is_null()).then(|| "none".to_owned());
    let prompts = vec![json!({"name": "debug"})];
    let tools = tools["tools"].as_array().cloned().expect("a list");
    Arc::new(Catalogue { instructions: "Read".to_owned(), tools, fault, prompts, templates: Vec::new() })
});

fuzz_target!(|data: &[u8]| assert_eq!(talk(data), talk(data)));

/// A message to the client is the outcome of the oldest request that waits.
fn talk(data: &[u8]) -> Vec<Output> {
    let config = Config { catalogue: Some(Arc::clone(&CATALOGUE)), memory: false, ..Config::default() };
    let (mut server, mut all, mut waiting, mut requests) = (Server::new(config), Vec::new(), Vec::new(), 0);
    for step in steps(data) {
        let mut outputs = server.handle_timeout(step.now);
        assert_rests(server.next_timeout(), step.now);
        outputs.extend(match step.direction {
            Direction::ClientToServer => {
                requests += count(step.message);
                server.receive(step.now, step.message)
            }
            Direction::ServerToClient if waiting.is_empty() => continue,
            Direction::ServerToClient => {
                server.complete_io(step.now, waiting.remove(0), serde_json::from_slice(step.message).ok())
            }
        });
        for output in &outputs {
            let Output::IoRequest(request) = output else { continue };
            match &request.task {
                Task::Cancel(ticket) => waiting.retain(|waits| waits != ticket),
                _ => waiting.push(request.ticket),
            }
        }
        all.extend(outputs);
    }
    all.extend(server.end(steps(data).last().map(|step| step.now).unwrap_or(Duration::ZERO)));
    let sent = all.iter().filter_map(|output| if let Output::Send(message) = output { Some(message) } else { None });
    let mut responses = 0;
    for message in sent {
        assert_sendable(message);
        responses += answers(message);
    }
    assert!(responses <= requests, "{responses} responses to {requests} messages");
    all
}

/// The number of messages that may be answered.
fn count(message: &[u8]) -> usize {
    match Envelope::scan(message).kind {
        MessageKind::Batch => json::items(message).count().max(1),
        _ => 1,
    }
}

fn answers(message: &[u8]) -> usize {
    match Envelope::scan(message).kind {
        MessageKind::Batch => json::items(message).filter(|item| Envelope::scan(item).kind.is_response()).count(),
        kind => usize::from(kind.is_response()),
    }
}
