//! Tests that drive the engine line by line in virtual time. Every message it sends is checked against its schema.

mod all_proposals;
mod catalogue;
mod clocks;
mod core;
mod handlers;
mod io_requests;
mod mcpl_session;
mod modern;
mod odd;
mod sixth;
mod timers;

use super::{Config, Fired, IoRequest, Output, Plan, Report, Server};
use crate::proposals;
use crate::protocol::schema;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// The host side: counts its ids, keeps the time, and checks what arrives.
struct Host {
    server: Server,
    now: Duration,
    asked: i64,
    open: BTreeMap<String, String>,
    /// As JSON, because users rely on that form.
    reports: Vec<Value>,
    bytes: Vec<Vec<u8>>,
    io_requests: Vec<IoRequest>,
}

const FULL: &str = r#"{"experimental": {"mcpl": {"version": "0.4", "pushEvents": true,
    "contextHooks": {"beforeInference": true, "afterInference": {"blocking": true}},
    "inferenceRequest": {"streaming": true}, "featureSets": true}},
    "hooks": {"supported_events": ["session_start", "session_end"]}}"#;

impl Host {
    /// A connection before the handshake.
    fn raw(config: Config) -> Self {
        Self::with(Server::new(config))
    }

    fn with(server: Server) -> Self {
        Self {
            server,
            now: Duration::ZERO,
            asked: 0,
            open: BTreeMap::new(),
            reports: Vec::new(),
            bytes: Vec::new(),
            io_requests: Vec::new(),
        }
    }

    /// A connection after the handshake, with these client capabilities.
    fn ready(config: Config, revision: &str, capabilities: &Value) -> (Self, Value) {
        let mut host = Self::raw(config);
        let result = host.shake_hands(revision, capabilities);
        (host, result)
    }

    fn shake_hands(&mut self, revision: &str, capabilities: &Value) -> Value {
        let params = json!({"protocolVersion": revision, "capabilities": capabilities,
            "clientInfo": {"name": "test", "version": "1"}});
        let answer = self.request("initialize", &params);
        self.notify("notifications/initialized", &json!({}));
        answer["result"].clone()
    }

    /// A host that declares everything.
    fn full() -> Self {
        Self::ready(Config::default(), "2025-11-25", &serde_json::from_str(FULL).expect("JSON")).0
    }

    /// A host that declares nothing.
    fn plain() -> Self {
        Self::ready(Config::default(), "2025-11-25", &json!({})).0
    }

    fn line(&mut self, line: &str) -> Vec<Value> {
        let outputs = self.server.receive(self.now, line.as_bytes());
        self.sort(outputs)
    }

    fn sort(&mut self, outputs: Vec<Output>) -> Vec<Value> {
        let mut messages = Vec::new();
        for output in outputs {
            match output {
                Output::Report(report) => {
                    let report = serde_json::to_value(&report).expect("serializable");
                    assert!(report["report"].is_string());
                    self.reports.push(report);
                }
                Output::IoRequest(io_request) => self.io_requests.push(io_request),
                Output::Send(bytes) => {
                    assert!(!bytes.contains(&b'\n'));
                    let message: Value = serde_json::from_slice(&bytes).expect("JSON");
                    self.bytes.push(bytes);
                    messages.push(message);
                }
            }
        }
        for message in &messages {
            match message {
                Value::Array(all) => all.iter().for_each(|one| self.verify(one)),
                one => self.verify(one),
            }
        }
        messages
    }

    fn verify(&mut self, message: &Value) {
        assert_eq!(message["jsonrpc"], "2.0");
        if let Some(method) = message["method"].as_str() {
            fits(method, "params", &message["params"]);
        } else if let Some(method) = self.open.remove(&message["id"].to_string())
            && let Some(result) = message.get("result")
        {
            fits(&method, "result", result);
        }
    }

    /// Sends a request and returns its response, which must be the last message that arrives.
    fn request(&mut self, method: &str, params: &Value) -> Value {
        let mut messages = self.ask(method, params);
        let answer = messages.pop().expect("an answer");
        assert_eq!(answer["id"], json!(self.asked), "{answer}");
        answer
    }

    fn ask(&mut self, method: &str, params: &Value) -> Vec<Value> {
        self.asked += 1;
        self.open.insert(self.asked.to_string(), method.to_owned());
        let message = json!({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params});
        self.line(&message.to_string())
    }

    fn notify(&mut self, method: &str, params: &Value) -> Vec<Value> {
        self.line(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string())
    }

    fn answer(&mut self, id: &Value, result: &Value) {
        assert_eq!(self.line(&json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string()), [] as [Value; 0]);
    }

    fn tool(&mut self, name: &str, arguments: &Value) -> Value {
        let answer = self.request("tools/call", &json!({"name": name, "arguments": arguments}));
        answer["result"].clone()
    }

    fn fire(&mut self, fired: &Value) -> Vec<Value> {
        let fired: Fired = serde_json::from_value(fired.clone()).expect("something to fire");
        let outputs = self.server.fire(self.now, &fired);
        self.sort(outputs)
    }

    /// Lets time pass, waking the server whenever it asks for it.
    fn pass(&mut self, time: Duration) -> Vec<Value> {
        let end = self.now + time;
        let mut messages = Vec::new();
        while let Some(at) = self.server.next_timeout().filter(|at| *at <= end) {
            self.now = self.now.max(at);
            let outputs = self.server.handle_timeout(self.now);
            messages.extend(self.sort(outputs));
        }
        self.now = end;
        messages
    }

    /// The last report.
    fn reported(&self) -> &Value {
        self.reports.last().expect("a report")
    }

    /// Whether there was a report of this kind.
    fn has_reported(&self, kind: &str) -> bool {
        self.reports.iter().any(|report| report["report"] == kind)
    }

    /// Why the last message was not sent.
    fn unsent(&self) -> &Value {
        assert_eq!(self.reported()["report"], "not_sent");
        &self.reported()["reason"]
    }
}

fn fits(method: &str, part: &str, value: &Value) {
    let schemas = proposals::of_method(method).map_or(&schema::LEGACY, |proposal| proposal.descriptor().schemas);
    let violations = schemas.check(&format!("{method}:{part}"), value);
    assert_eq!(violations, Some(vec![]), "{method} {part}: {value}");
}

fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().expect("text")
}

#[test]
fn the_same_seed_and_input_give_the_same_bytes() {
    let run = |seed: u64| {
        let config = Config { seed, wall_base_ns: 1_760_000_000_000_000_000, ..Config::default() };
        let (mut host, _) = Host::ready(config, "2025-06-18", &serde_json::from_str(FULL).expect("JSON"));
        host.tool("events_subscribe", &json!({}));
        host.tool("add_note", &json!({"text": "one"}));
        host.fire(&json!({"kind": "push", "text": "a"}));
        host.fire(&json!({"kind": "reminder", "body": "b", "ttlTurns": 1}));
        host.fire(&json!({"kind": "event", "type": "a.b"}));
        host.pass(seconds(100_000));
        host.bytes
    };
    assert_eq!(run(7), run(7));
    assert_ne!(run(7), run(8));
}
