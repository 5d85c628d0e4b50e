//! The host between two servers that send anything: it sends JSON-RPC, becomes idle, and does the same again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpreel::testing::host::client::{ClientConfig, EraChoice};
use mcpreel::testing::host::engine::{Host, HostConfig, ModelReply, Order, Output, ServerConfig, ToolCall, policies};
use mcpreel::testing::proposals::host::{Agent, Inferred, ServerId};
use mcpreel::testing::wire::Direction;
use mcpreel_fuzz::{Step, assert_rests, assert_sendable, steps};
use std::collections::VecDeque;
use std::time::Duration;

/// This many prompts at one time mean an endless loop.
const MAX_AT_ONCE: usize = 10_000;

fuzz_target!(|data: &[u8]| assert_eq!(talk(data), talk(data)));

fn talk(data: &[u8]) -> Vec<Output> {
    let (settings, data) = split_settings(data);
    let mut host = host(settings);
    let mut all = Vec::new();
    let outputs = host.start(Duration::ZERO);
    play(&mut host, Duration::ZERO, outputs, &mut all);
    for step in steps(data) {
        let outputs = host.handle_timeout(step.now);
        play(&mut host, step.now, outputs, &mut all);
        assert_rests(host.next_timeout(), step.now);
        let outputs = take(&mut host, &step);
        play(&mut host, step.now, outputs, &mut all);
    }
    let _ = host.state();
    all
}

/// A first line in braces is a policy.
fn split_settings(data: &[u8]) -> (Option<&[u8]>, &[u8]) {
    let end = data.iter().position(|byte| *byte == b'\n').filter(|_| data.first() == Some(&b'{'));
    end.map_or((None, data), |end| (Some(&data[..end]), &data[end + 1..]))
}

fn host(settings: Option<&[u8]>) -> Host {
    let mut policies = policies();
    if let Some(settings) = settings.and_then(|settings| serde_json::from_slice(settings).ok()) {
        let _ = policies.read(&settings);
    }
    let server = |(name, era): (&str, EraChoice)| {
        let client = ClientConfig { era, ..ClientConfig::new("fuzz", "1") };
        ServerConfig { name: name.to_owned(), client, is_own: name == "one" }
    };
    let servers = [("one", EraChoice::Legacy), ("two", EraChoice::Auto)].into_iter().map(server).collect();
    Host::new(HostConfig { servers, policies, ..HostConfig::default() })
}

/// A message to the client is a server's message; a message to the server is an order of the user: a turn with this
/// text or, after `!`, `?`, `-` and `=`, a tool, a proposal's order, a server's end and an approval.
fn take(host: &mut Host, step: &Step<'_>) -> Vec<Output> {
    let server = ServerId(step.stream as usize);
    if step.direction == Direction::ServerToClient {
        return host.receive(step.now, server, step.message);
    }
    let text = String::from_utf8_lossy(step.message).into_owned();
    let (word, rest) = text.get(1..).and_then(|text| text.split_once(' ')).unwrap_or_default();
    let value = || serde_json::from_str(rest).unwrap_or_default();
    let order = match text.as_bytes().first() {
        Some(b'!') => Order::Tool(ToolCall { server: None, tool: word.to_owned(), arguments: value() }),
        Some(b'?') => Order::Proposal { order: word.to_owned(), params: value() },
        Some(b'-') => return host.closed(step.now, server, (!rest.is_empty()).then_some(rest)),
        Some(b'=') => Order::Allow { server: "one".to_owned(), proposal: None, is_allowed: rest != "no" },
        Some(b'~') => Order::Turn { text, agent: Agent::Sub },
        _ => Order::Turn { text, agent: Agent::Main },
    };
    host.order(step.now, order)
}

/// Answers what the host asks its model.
fn play(host: &mut Host, now: Duration, outputs: Vec<Output>, all: &mut Vec<Output>) {
    let mut outputs = VecDeque::from(outputs);
    let mut prompts = 0;
    while let Some(output) = outputs.pop_front() {
        match &output {
            Output::Send { message, .. } => assert_sendable(message),
            Output::Prompt(prompt) => {
                prompts += 1;
                outputs.extend(host.model(now, Ok(ModelReply::echo(prompt))));
            }
            Output::Infer(asked) => {
                prompts += 1;
                outputs.extend(host.inferred_piece(now, asked.token, "said"));
                outputs.extend(host.inferred(
                    now,
                    asked.token,
                    Ok(Inferred { text: "said".to_owned(), ..Inferred::default() }),
                ));
            }
            _ => {}
        }
        assert!(prompts < MAX_AT_ONCE, "a circle");
        all.push(output);
    }
}
