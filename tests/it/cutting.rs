//! Whatever is cut out of a session without findings, nothing is found in the part: random sessions, filters and times.

use crate::common::{Stage, message};
use fastrand::Rng;
use serde_json::{Value, json};

/// A session that keeps all rules, with everything that has to stay together: requests in both directions, progress,
/// cancellations, subscriptions, pages, tasks of one tool within another.
struct Session<'a> {
    random: &'a mut Rng,
    at: u64,
    id: u64,
    events: Vec<Value>,
}

impl Session<'_> {
    fn push(&mut self, direction: &str, text: Value) {
        self.at += self.random.u64(1..40);
        self.events.push(message(self.at, direction, text));
    }

    fn notify(&mut self, direction: &str, method: &str, params: Value) {
        self.push(direction, json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    fn ask(&mut self, direction: &str, method: &str, params: Value) -> u64 {
        self.id += 1;
        self.push(direction, json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params}));
        self.id
    }

    fn answer(&mut self, direction: &str, id: u64, result: Value) {
        self.push(direction, json!({"jsonrpc": "2.0", "id": id, "result": result}));
    }

    fn exchange(&mut self, method: &str, params: Value, result: Value) {
        let id = self.ask("c2s", method, params);
        self.answer("s2c", id, result);
    }

    fn begin(&mut self) {
        let client = json!({"roots": {"listChanged": true}, "sampling": {}, "elicitation": {}});
        let server = json!({"tools": {"listChanged": true}, "resources": {"subscribe": true, "listChanged": true},
            "prompts": {}, "logging": {}, "completions": {}});
        self.exchange(
            "initialize",
            json!({"protocolVersion": "2025-11-25", "capabilities": client, "clientInfo": {"name": "c", "version": "1"}}),
            json!({"protocolVersion": "2025-11-25", "capabilities": server, "serverInfo": {"name": "s", "version": "1"}}),
        );
        self.notify("c2s", "notifications/initialized", json!({}));
        let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
        self.exchange("tools/list", json!({}), json!({"tools": [tool("a"), tool("b")], "nextCursor": "2"}));
        self.exchange("tools/list", json!({"cursor": "2"}), json!({"tools": [tool("c")]}));
    }

    fn call(&mut self) {
        let tool = *self.random.choice(&["a", "b", "c"]).expect("tools");
        let token = self.id + 1000;
        let call =
            self.ask("c2s", "tools/call", json!({"name": tool, "arguments": {}, "_meta": {"progressToken": token}}));
        for step in 1..self.random.u64(1..4) {
            self.notify("s2c", "notifications/progress", json!({"progressToken": token, "progress": step}));
        }
        match self.random.u64(..5) {
            0 => {
                let params =
                    json!({"messages": [{"role": "user", "content": {"type": "text", "text": "q"}}], "maxTokens": 5});
                let asked = self.ask("s2c", "sampling/createMessage", params);
                let result = json!({"role": "assistant", "content": {"type": "text", "text": "a"}, "model": "m", "stopReason": "endTurn"});
                self.answer("c2s", asked, result);
            }
            1 => {
                let asked = self.ask("s2c", "roots/list", json!({}));
                self.answer("c2s", asked, json!({"roots": [{"uri": "file:///x"}]}));
            }
            2 => {
                self.notify("c2s", "notifications/cancelled", json!({"requestId": call, "reason": "no"}));
                return;
            }
            _ => {}
        }
        self.answer("s2c", call, json!({"content": [{"type": "text", "text": "done"}], "isError": false}));
    }

    fn step(&mut self) {
        let uri = json!({"uri": "file:///x/a"});
        match self.random.u64(..8) {
            0..4 => self.call(),
            4 => {
                self.exchange("resources/subscribe", uri.clone(), json!({}));
                self.notify("s2c", "notifications/resources/updated", uri.clone());
                self.exchange(
                    "resources/read",
                    uri.clone(),
                    json!({"contents": [{"uri": "file:///x/a", "text": "x"}]}),
                );
                self.exchange("resources/unsubscribe", uri, json!({}));
            }
            5 => {
                self.exchange("logging/setLevel", json!({"level": "info"}), json!({}));
                self.notify("s2c", "notifications/message", json!({"level": "info", "data": "x"}));
            }
            6 => {
                self.notify("s2c", "notifications/tools/list_changed", json!({}));
                let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
                self.exchange("tools/list", json!({}), json!({"tools": [tool("a"), tool("b"), tool("c")]}));
            }
            _ => self.exchange("ping", json!({}), json!({})),
        }
    }
}

fn session(random: &mut Rng) -> Vec<Value> {
    let mut session = Session { random, at: 0, id: 0, events: Vec::new() };
    session.begin();
    for _ in 0..25 {
        session.step();
    }
    session.events
}

/// A random selection: a filter, a time, or both.
fn selection(random: &mut Rng, end: u64) -> Vec<String> {
    const TERMS: [&str; 14] = [
        "method:tools/call",
        "tool:a",
        "tool:b",
        "method:notifications/*",
        "dir:c2s",
        "dir:s2c",
        "not method:ping",
        "method:sampling/createMessage",
        "method:tools/list",
        "text:done",
        "method:resources/*",
        "method:ping",
        "slow:>20ms",
        "method:notifications/cancelled",
    ];
    let mut words = Vec::new();
    let time = |at: u64| format!("{}.{:03}", at / 1000, at % 1000);
    let (one, other) = (random.u64(..end), random.u64(..end));
    match random.u64(..4) {
        0 => words.extend(["--from".to_owned(), time(one)]),
        1 => words.extend(["--to".to_owned(), time(one)]),
        2 => words.extend(["--from".to_owned(), time(one.min(other)), "--to".to_owned(), time(one.max(other))]),
        _ => {}
    }
    let term = |random: &mut Rng| (*random.choice(&TERMS).expect("terms")).to_owned();
    if words.is_empty() || random.bool() {
        words.push(term(random));
        if random.bool() {
            let joint = if random.bool() { "or" } else { "and" };
            words.extend([joint.to_owned(), term(random)]);
        }
    }
    words
}

/// What `validate` finds in reels, each by itself.
fn findings(stage: &Stage, reels: &[String]) -> Vec<Value> {
    let reels: Vec<&str> = reels.iter().map(String::as_str).collect();
    let report = stage.run(&[&["validate", "--fail-on", "never", "-f", "json"], &reels[..]].concat(), "").json();
    assert_eq!(report["connections"].as_array().map(Vec::len), Some(reels.len()), "{report}");
    report["findings"].as_array().expect("findings").clone()
}

#[test]
fn no_part_of_a_session_without_findings_has_any() {
    let stage = Stage::new();
    let (mut cuts, mut messages) = (0, 0);
    for seed in 0..3 {
        let mut random = Rng::with_seed(seed);
        let events = session(&mut random);
        let whole = format!("{seed}.reel");
        stage.reel(&whole, &events);
        let (mut reels, mut selections) = (vec![whole.clone()], Vec::new());
        for number in 0..30 {
            let selection = selection(&mut random, 20 * events.len() as u64);
            let words: Vec<&str> = selection.iter().map(String::as_str).collect();
            let reel = format!("cut-{seed}-{number}.reel");
            let command = [&["reel", "cut", &whole, "-o", &reel], &words[..]].concat();
            let cut = stage.run(&command, "");
            if cut.code() == 1 {
                continue;
            }
            assert_eq!(cut.code(), 0, "{selection:?}: {}", cut.err());
            // "8 of 26 events in …"
            let count = cut.err().split_whitespace().nth(1).and_then(|count| count.parse::<usize>().ok());
            (cuts, messages) = (cuts + 1, messages + count.expect("a count"));
            selections.push(format!("{reel}: {selection:?}"));
            reels.push(reel);
        }
        assert_eq!(findings(&stage, &reels), [""; 0], "{selections:#?}");
    }
    assert!(cuts > 60 && messages > 10 * cuts, "{cuts} cuts with {messages} messages");
}
