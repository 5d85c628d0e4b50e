//! Tests of the engine with a scripted client and server, in virtual time.

use super::*;
use proptest::prelude::*;

const PREFIX: &str = "mcpreel-0123abcd-";

/// An overlay and the current time.
struct Stage {
    overlay: Overlay,
    now: Duration,
}

/// The outputs as text: messages as JSON after `put ` or `pass ` and the like, notes as they are.
fn words(outputs: Vec<Output>) -> Vec<String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let word = |output| match output {
        Output::Forward(way, message) => Some(format!("pass {} {}", way.short(), text(&message))),
        Output::Consume(way, message) => Some(format!("take {} {}", way.short(), text(&message))),
        Output::Send(way, message) => Some(format!("put {} {}", way.short(), text(&message))),
        Output::Replace(_, message) => Some(format!("change {}", text(&message))),
        Output::Drop(message) => Some(format!("keep {}", text(&message))),
        Output::Notice(text) => Some(format!("notice: {text}")),
        Output::Report(_) => None,
    };
    outputs.into_iter().filter_map(word).collect()
}

impl Stage {
    fn new(yaml: &str) -> Self {
        let plan = Plan::read(yaml, &[]).unwrap_or_else(|error| panic!("{error}"));
        let setting = Setting { id_prefix: PREFIX.to_owned(), seed: 1, wall_base_ns: 1_700_000_000_000_000_000 };
        Self { overlay: Overlay::new(plan, setting), now: Duration::ZERO }
    }

    fn client(&mut self, message: impl ToString) -> Vec<String> {
        words(self.overlay.from_client(self.now, message.to_string().into_bytes()))
    }

    fn server(&mut self, message: impl ToString) -> Vec<String> {
        words(self.overlay.from_server(self.now, message.to_string().into_bytes()))
    }

    fn file(&mut self, path: &str) -> Vec<String> {
        words(self.overlay.file_changed(self.now, path, &format!("/here/{path}")))
    }

    fn wait(&mut self, ms: u64) -> Vec<String> {
        self.now += Duration::from_millis(ms);
        words(self.overlay.handle_timeout(self.now))
    }

    /// Performs the handshake with a client that knows all proposals; returns the response to `initialize` as the
    /// client sees it.
    fn meet(&mut self, servers: &Value) -> Value {
        self.client(initialize());
        let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": "2025-06-18",
            "capabilities": servers, "serverInfo": {"name": "plain", "version": "1"}}});
        let said = self.server(answer);
        let seen = said.iter().find_map(|said| said.strip_prefix("change ").or(said.strip_prefix("pass s2c ")));
        let seen = serde_json::from_str(seen.expect("an answer")).expect("JSON");
        let begun = self.client(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        assert!(begun[0].starts_with("pass c2s"), "{begun:?}");
        for asked in begun.iter().filter_map(|said| said.strip_prefix("put c2s ")) {
            let asked: Value = serde_json::from_str(asked).expect("JSON");
            self.server(json!({"jsonrpc": "2.0", "id": asked["id"], "result": {}}));
        }
        seen
    }

    /// Performs the handshake with a server that has tools and resources.
    fn ready(yaml: &str) -> Self {
        let mut stage = Self::new(yaml);
        stage.meet(&json!({"tools": {}, "resources": {"subscribe": true}}));
        stage
    }
}

fn initialize() -> Value {
    let events = ["session_start", "post_tool_use", "session_end"];
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18",
        "clientInfo": {"name": "c", "version": "1"}, "capabilities": {"hooks": {"supported_events": events},
        "experimental": {"mcpl": {"version": "0.4", "pushEvents": true}}}}})
}

fn request(id: u64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// The only message sent towards a side, as JSON.
fn put(said: &[String], way: &str) -> Value {
    let found: Vec<&str> = said.iter().filter_map(|said| said.strip_prefix(&format!("put {way} "))).collect();
    assert_eq!(found.len(), 1, "{said:?}");
    serde_json::from_str(found[0]).expect("JSON")
}

const ALL: &str = r#"
hooks:
  - {event: session_start, priority: important, context_tool: recall, context_tool_args: {project: "{project_name}"}}
  - event: session_end
    priority: suggestion
    answer: {tool: recall, arguments: {query: "{project_name}"}, text: "Known: {text}", unless: {regex: nothing}}
conversation:
  - {tool: recall, arguments: {query: "{content}", most: 3}, unless: {pointer: /content/0/text, equals: nothing}}
  - {tool: rules, text: "Rules of {messageId}: {text}"}
rules:
  - when: {message: {method: tools/call, tool: "write_*"}}
    fire: {kind: reminder, body: "{tool} wrote {params/arguments/path}", dedupeKey: w}
  - when: {result: {tool: build, matches: {pointer: /content/0/text, glob: "*failed*"}}}
    times: 2
    fire: {kind: push, text: "the build failed: {text}"}
  - when: {resource: "file:///notes"}
    fire: {kind: event, type: notes.changed, data: {uri: "{uri}", count: "{n}"}}
  - when: {file: "docs/**/*.md"}
    cooldown: 10s
    fire: {kind: reminder, body: "{path} changed"}
  - when: {every: 1m}
    times: 2
    fire: {kind: reminder, body: "minute {n}"}
"#;

#[test]
fn declarations_are_added_and_every_other_byte_stays() {
    let mut stage = Stage::new(ALL);
    assert_eq!(stage.client(initialize()), [format!("pass c2s {}", initialize())]);
    let original = r#"{"id" : 1, "jsonrpc":"2.0","result":{"capabilities":{"tools":{ }},"n":1.0} }"#;
    let said = stage.server(original);
    let changed = said[0].strip_prefix("change ").expect("changed");
    let (before, after) = original.split_once("{ }").expect("its end");
    assert!(changed.starts_with(before) && changed.ends_with(after), "{changed}");
    let changed: Value = serde_json::from_str(changed).expect("JSON");
    let declared = &changed["result"]["capabilities"];
    assert_eq!(declared["conversationEvents"], json!({"onUserMessage": true}));
    assert_eq!(declared["reminders"]["emit"], true);
    assert_eq!(declared["hooks"]["declarations"][0]["context_tool"], "recall");
    assert_eq!(declared["hooks"]["declarations"][1]["context_tool"], "hook_1");
    let sets = &declared["experimental"]["mcpl"]["featureSets"];
    assert_eq!(
        sets.as_object().map(|sets| sets.keys().map(String::as_str).collect::<Vec<_>>()),
        Some(vec!["overlay.push"])
    );
    assert!(declared["experimental"]["mcpl"].get("contextHooks").is_none(), "{declared}");
    assert_eq!(declared["events"]["maxSubscriptions"], 16);
}

#[test]
fn nothing_is_added_where_nothing_is_written_or_the_client_knows_nothing() {
    let mut stage = Stage::new("{}");
    let seen = stage.meet(&json!({"tools": {}}));
    assert_eq!(seen["result"]["capabilities"], json!({"tools": {}}));
    let mut stage = Stage::new("hooks: [{event: session_end, priority: suggestion, context: bye}]");
    let mut plain = initialize();
    plain["params"]["capabilities"] = json!({});
    stage.client(plain);
    let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {"capabilities": {}}});
    assert_eq!(stage.server(&answer), [format!("pass s2c {answer}")]);
    let list = request(2, "tools/list", json!({}));
    assert_eq!(stage.client(&list), [format!("pass c2s {list}")]);
}

#[test]
fn what_the_server_declares_itself_stays_and_is_reported() {
    let mut stage = Stage::new(ALL);
    stage.client(initialize());
    let own = json!({"tools": {}, "conversationEvents": {"onUserMessage": true}, "reminders": {"emit": true}});
    let said = stage.server(json!({"jsonrpc": "2.0", "id": 1, "result": {"capabilities": own}}));
    let reported: Vec<&String> = said.iter().filter(|said| said.starts_with("notice: ")).collect();
    assert!(
        reported.len() == 2 && reported[0].contains("conversation") && reported[1].contains("reminder"),
        "{said:?}"
    );
    stage.client(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let message = request(2, "conversation/userMessage", json!({"messageId": "m", "content": "hi"}));
    assert_eq!(stage.client(&message), [format!("pass c2s {message}")]);
    let said = stage.client(request(3, "tools/call", json!({"name": "write_x"})));
    assert_eq!(said.len(), 1, "the overlay leaves the server's own reminders alone: {said:?}");
}

#[test]
fn no_capability_is_declared_twice() {
    let mut stage = Stage::new("rules:\n  - when: {after: 1s}\n    fire: {kind: event, type: a.b}");
    stage.client(initialize());
    let others = r#"{"jsonrpc":"2.0","id":1,"result":{"capabilities":{"events":{"listChanged":true}}}}"#;
    let said = stage.server(others);
    assert!(said[0].contains("notice: the server already declares mcpe"), "{said:?}");
    // With null, the server declares nothing.
    let mut silent = Stage::new("rules:\n  - when: {after: 1s}\n    fire: {kind: event, type: a.b}");
    silent.client(initialize());
    let added = silent.server(r#"{"jsonrpc":"2.0","id":1,"result":{"capabilities":{"events":null}}}"#);
    assert!(added.iter().any(|line| line.contains(r#""events":{"#)), "{added:?}");
    assert_eq!(said[1], format!("pass s2c {others}"));
    let mut stage = Stage::new("rules:\n  - when: {after: 1s}\n    fire: {kind: event, type: a.b}");
    stage.client(initialize());
    let said = stage.server(r#"{"jsonrpc":"2.0","id":1,"result":{"capabilities":{"tools":null}}}"#);
    assert!(said[0].contains(r#""tools":{}"#) && !said[0].contains("null"), "{said:?}");
}

#[test]
fn tools_are_added_on_the_last_page_and_the_servers_own_stay() {
    let mut stage = Stage::ready(ALL);
    let page = |id: u64, tools: Value, next: Value| json!({"jsonrpc": "2.0", "id": id, "result": {"tools": tools, "nextCursor": next}});
    stage.client(request(2, "tools/list", json!({})));
    let first = page(2, json!([{"name": "recall"}, {"name": "events_list"}]), json!("more"));
    let said = stage.server(&first);
    assert_eq!(said[0], "notice: the server already has a tool events_list; the overlay does not add its own");
    assert_eq!(said[1], format!("pass s2c {first}"));
    stage.client(request(3, "tools/list", json!({"cursor": "more"})));
    let said = stage.server(page(3, json!([{"name": "rule"}]), Value::Null));
    assert_eq!(
        said[0],
        "notice: the server has no tool \"rules\", which the overlay names in line 9; did you mean rule?"
    );
    let listed: Value = serde_json::from_str(said[1].strip_prefix("change ").expect("changed")).expect("JSON");
    let names: Vec<_> = listed["result"]["tools"].as_array().expect("tools").iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names.len(), 1 + 5 + 1, "{names:?}");
    assert_eq!((names[0], names[6]), (&json!("rule"), &json!("hook_1")));
    let call = request(4, "tools/call", json!({"name": "events_list"}));
    assert_eq!(stage.client(&call), [format!("pass c2s {call}")]);
}

#[test]
fn a_server_without_tools_gets_a_list_of_the_added_ones() {
    let mut stage = Stage::new(ALL);
    let seen = stage.meet(&json!({}));
    assert_eq!(seen["result"]["capabilities"]["tools"], json!({}));
    let said = stage.client(request(2, "tools/list", json!({})));
    assert_eq!(put(&said, "s2c")["result"]["tools"].as_array().map(Vec::len), Some(7));
}

#[test]
fn a_user_message_is_answered_by_all_tools_in_order_and_their_answers_stay_here() {
    let mut stage = Stage::ready(ALL);
    let message = request(7, "conversation/userMessage", json!({"messageId": "m1", "content": "the schema?"}));
    let said = stage.client(&message);
    assert_eq!(said[0], format!("take c2s {message}"));
    let asked: Vec<Value> = said[1..]
        .iter()
        .map(|said| serde_json::from_str(said.strip_prefix("put c2s ").expect("asked")).expect("JSON"))
        .collect();
    assert_eq!(asked[0]["params"], json!({"name": "recall", "arguments": {"query": "the schema?", "most": 3}}));
    let reply = |asked: &Value, text: &str| json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"content": [{"type": "text", "text": text}]}});
    let late = stage.server(reply(&asked[1], "be kind"));
    assert_eq!(late.len(), 1, "the other one is still pending: {late:?}");
    let said = stage.server(reply(&asked[0], "uuid keys"));
    assert!(said[0].starts_with("take s2c"), "{said:?}");
    let context = json!({"context": "uuid keys\n\nRules of m1: be kind"});
    assert_eq!(put(&said, "s2c"), json!({"jsonrpc": "2.0", "id": 7, "result": context}));
    // Again as a notification; the first tool finds nothing, and the second fails.
    let said = stage.client(json!({"jsonrpc": "2.0", "method": "conversation/userMessage",
        "params": {"messageId": "m2", "content": "?"}}));
    let id = |said: &str| {
        serde_json::from_str::<Value>(said.strip_prefix("put c2s ").expect("asked")).expect("JSON")["id"].clone()
    };
    let (first, second) = (id(&said[1]), id(&said[2]));
    stage.server(json!({"jsonrpc": "2.0", "id": first, "result": {"content": [{"type": "text", "text": "nothing"}]}}));
    let said = stage.server(json!({"jsonrpc": "2.0", "id": second, "error": {"code": 1, "message": "broken"}}));
    assert_eq!(said[1], "notice: the tool rules, called for a user message, failed: broken");
    assert_eq!(
        put(&said, "s2c"),
        json!({"jsonrpc": "2.0", "method": "conversation/context", "params": {"messageId": "m2"}})
    );
}

#[test]
fn a_tool_that_does_not_answer_is_given_up_and_its_late_answer_kept_from_the_client() {
    let mut stage = Stage::ready("conversation: [{tool: slow}]");
    stage.client(request(7, "conversation/userMessage", json!({"messageId": "m", "content": "x"})));
    assert_eq!(stage.overlay.next_timeout(), Some(own_requests::GRACE_PERIOD));
    let said = stage.wait(30_000);
    assert_eq!(put(&said, "s2c"), json!({"jsonrpc": "2.0", "id": 7, "result": {}}));
    let taken_back = |said: &[String], number: u64| {
        let reported = put(said, "c2s");
        let id = format!("{PREFIX}{number}");
        assert_eq!(
            (&reported["method"], &reported["params"]["requestId"]),
            (&json!("notifications/cancelled"), &json!(id))
        );
    };
    taken_back(&said, 1);
    let late = json!({"jsonrpc": "2.0", "id": format!("{PREFIX}1"), "result": {}});
    assert_eq!(stage.server(&late), [format!("take s2c {late}")]);
    // A cancelled message is not answered.
    stage.client(request(8, "conversation/userMessage", json!({"messageId": "m", "content": "x"})));
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 8}});
    let said = stage.client(&cancel);
    assert_eq!(said[0], format!("take c2s {cancel}"));
    taken_back(&said, 2);
    assert_eq!(stage.wait(30_000), [] as [&str; 0]);
}

#[test]
fn a_call_of_a_hooks_tool_that_is_taken_back_is_taken_back_at_the_server() {
    let mut stage = Stage::ready(ALL);
    let said = stage.client(request(5, "tools/call", json!({"name": "hook_1", "arguments": {"query": "demo"}})));
    let asked = put(&said, "c2s");
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}});
    let reported = put(&stage.client(&cancel), "c2s");
    assert_eq!(
        (&reported["method"], &reported["params"]["requestId"]),
        (&json!("notifications/cancelled"), &asked["id"])
    );
    assert_eq!(stage.wait(30_000), [] as [&str; 0]);
}

#[test]
fn requests_that_nobody_answers_are_remembered_up_to_a_limit() {
    let forgotten = |outputs: Vec<Output>| {
        outputs
            .into_iter()
            .filter(|output| matches!(output, Output::Report(report) if report["report"] == "forgotten"))
            .count()
    };
    // A server that does not answer the client.
    let mut stage = Stage::ready("{}");
    let mut list = |id: usize| {
        let message = request(100 + id as u64, "tools/list", json!({})).to_string();
        forgotten(stage.overlay.from_client(stage.now, message.into_bytes()))
    };
    assert_eq!((0..MAX_OPEN).map(&mut list).sum::<usize>(), 0);
    assert_eq!((list(0), list(MAX_OPEN), list(MAX_OPEN + 1)), (0, 1, 1), "a repeated id takes no more space");
    // A client that does not answer the overlay.
    let mut stage = Stage::ready("rules: [{when: {file: '*'}, fire: {kind: push, text: '{path}'}}]");
    let mut fire = |number: usize| {
        let outputs = stage.overlay.file_changed(stage.now, &number.to_string(), "/x");
        let sent = outputs.iter().filter(|output| matches!(output, Output::Send(Direction::ServerToClient, _))).count();
        (sent, forgotten(outputs))
    };
    assert!((0..MAX_OPEN).all(|number| fire(number) == (1, 0)));
    assert_eq!(fire(MAX_OPEN), (1, 1));
    let answer = |id: usize| json!({"jsonrpc": "2.0", "id": format!("{PREFIX}{id}"), "result": {"accepted": true}});
    let mut reports = |id: usize| {
        let outputs = stage.overlay.from_client(stage.now, answer(id).to_string().into_bytes());
        assert!(
            matches!(outputs[0], Output::Consume(Direction::ClientToServer, _)),
            "never forwarded to the server: {outputs:?}"
        );
        outputs.len() - 1
    };
    assert_eq!((reports(1), reports(2)), (0, 1), "the oldest is forgotten");
}

#[test]
fn a_hooks_own_tool_calls_the_servers_and_words_its_result() {
    let mut stage = Stage::ready(ALL);
    let call = request(5, "tools/call", json!({"name": "hook_1", "arguments": {"query": "demo"}}));
    let said = stage.client(&call);
    let asked = put(&said, "c2s");
    assert_eq!(asked["params"], json!({"name": "recall", "arguments": {"query": "demo"}}));
    let result = json!({"content": [{"type": "text", "text": "uuid keys"}]});
    let said = stage.server(json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}));
    let worded = json!({"content": [{"type": "text", "text": "Known: uuid keys"}]});
    assert_eq!(put(&said, "s2c"), json!({"jsonrpc": "2.0", "id": 5, "result": worded}));
    // Without arguments, the server gets none.
    let asked = put(&stage.client(request(9, "tools/call", json!({"name": "hook_1"}))), "c2s");
    assert_eq!(asked["params"], json!({"name": "recall"}));
    // The server's own tool can still be called.
    let call = request(6, "tools/call", json!({"name": "recall"}));
    assert_eq!(stage.client(&call), [format!("pass c2s {call}")]);
}

#[test]
fn rules_fire_on_messages_and_results_as_often_as_they_may() {
    let mut stage = Stage::ready(ALL);
    let said = stage.client(request(2, "tools/call", json!({"name": "write_file", "arguments": {"path": "a.rs"}})));
    assert!(said[0].starts_with("pass c2s"), "{said:?}");
    let reminder = put(&said, "s2c");
    assert_eq!(reminder["params"]["reminder"]["body"], "write_file wrote a.rs");
    assert_eq!(reminder["params"]["reminder"]["dedupeKey"], "w");
    let pushed = |stage: &mut Stage, id: u64, text: &str| {
        stage.client(request(id, "tools/call", json!({"name": "build"})));
        let result = json!({"content": [{"type": "text", "text": text}]});
        let said = stage.server(json!({"jsonrpc": "2.0", "id": id, "result": result}));
        assert!(said[0].starts_with("pass s2c"), "{said:?}");
        said.get(1).map(|_| put(&said, "s2c"))
    };
    assert_eq!(pushed(&mut stage, 3, "all fine"), None);
    let push = pushed(&mut stage, 4, "2 failed").expect("pushed");
    assert_eq!((&push["method"], &push["params"]["featureSet"]), (&json!("push/event"), &json!("overlay.push")));
    assert_eq!(push["params"]["payload"]["content"][0]["text"], "the build failed: 2 failed");
    // Its response goes to the overlay, but a server's request with the same number is a different one.
    let answer = json!({"jsonrpc": "2.0", "id": push["id"], "result": {"accepted": true}});
    assert_eq!(stage.client(&answer), [format!("take c2s {answer}")]);
    let other = json!({"jsonrpc": "2.0", "id": 1, "result": {}});
    assert_eq!(stage.client(&other), [format!("pass c2s {other}")]);
    assert!(pushed(&mut stage, 5, "3 failed").is_some() && pushed(&mut stage, 6, "4 failed").is_none());
}

#[test]
fn files_and_times_set_rules_off() {
    let mut stage = Stage::ready(ALL);
    assert_eq!(stage.overlay.folders().into_iter().collect::<Vec<_>>(), ["docs/"]);
    assert_eq!(stage.file("src/a.md"), [] as [&str; 0]);
    assert_eq!(put(&stage.file("docs/a/b.md"), "s2c")["params"]["reminder"]["body"], "docs/a/b.md changed");
    assert_eq!(stage.file("docs/a.md"), [] as [&str; 0], "it is cooling down");
    stage.wait(10_000);
    assert_eq!(stage.file("docs/a.md").len(), 1);
    assert_eq!(stage.overlay.next_timeout(), Some(Duration::from_secs(60)));
    assert_eq!(put(&stage.wait(50_000), "s2c")["params"]["reminder"]["body"], "minute 1");
    assert_eq!(put(&stage.wait(60_000), "s2c")["params"]["reminder"]["body"], "minute 2");
    assert_eq!(stage.overlay.next_timeout(), None);
}

#[test]
fn changed_resources_become_events_and_are_kept_from_a_client_that_did_not_ask() {
    let mut stage = Stage::new(ALL);
    stage.client(initialize());
    stage.server(json!({"jsonrpc": "2.0", "id": 1, "result": {"capabilities": {"tools": {}}}}));
    let begun = stage.client(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let subscribe = put(&begun, "c2s");
    assert_eq!(
        (&subscribe["method"], &subscribe["params"]["uri"]),
        (&json!("resources/subscribe"), &json!("file:///notes"))
    );
    stage.server(json!({"jsonrpc": "2.0", "id": subscribe["id"], "result": {}}));
    let arguments = json!({"filter": {"eventTypes": ["notes.*"]}, "delivery": {"channels": ["realtime"]}});
    let said = stage.client(request(2, "tools/call", json!({"name": "events_subscribe", "arguments": arguments})));
    assert!(said[0].starts_with("take c2s"), "{said:?}");
    assert!(put(&said, "s2c")["result"]["isError"].is_null(), "{said:?}");
    let updated =
        |uri: &str| json!({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}});
    let said = stage.server(updated("file:///notes/a"));
    assert_eq!(said[0], format!("keep {}", updated("file:///notes/a")));
    let event = put(&said, "s2c");
    assert_eq!(event["params"]["event"]["data"], json!({"uri": "file:///notes/a", "count": 1}), "{event}");
    // The client subscribes as well and gets updates; when it unsubscribes, the overlay subscribes again.
    stage.client(request(3, "resources/subscribe", json!({"uri": "file:///notes"})));
    assert_eq!(stage.server(updated("file:///notes"))[0], format!("pass s2c {}", updated("file:///notes")));
    stage.client(request(4, "resources/unsubscribe", json!({"uri": "file:///notes"})));
    let said = stage.server(json!({"jsonrpc": "2.0", "id": 4, "result": {}}));
    assert_eq!(put(&said, "c2s")["method"], "resources/subscribe");
    assert!(stage.server(updated("file:///notes"))[0].starts_with("keep "));
    assert!(stage.server(updated("file:///other"))[0].starts_with("pass "));
}

#[test]
fn a_client_without_a_handshake_is_reported_once_and_nothing_is_added() {
    let mut stage = Stage::new(ALL);
    let meta = json!({"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}});
    let list = |id| request(id, "prompts/list", meta.clone());
    assert_eq!(stage.client(request(1, "server/discover", meta.clone())).len(), 1);
    let said = stage.client(list(2));
    assert!(said.len() == 2 && said[0].contains("without a handshake"), "{said:?}");
    assert_eq!(stage.client(list(3)).len(), 1);
}

#[test]
fn a_handshake_that_fails_adds_nothing_and_one_that_comes_again_begins_anew() {
    let mut stage = Stage::new(ALL);
    stage.client(initialize());
    let refused = json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "no"}});
    assert_eq!(stage.server(&refused), [format!("pass s2c {refused}")]);
    let message = request(2, "conversation/userMessage", json!({"messageId": "m", "content": "x"}));
    assert_eq!(stage.client(&message), [format!("pass c2s {message}")]);
    for _ in 0..2 {
        let seen = stage.meet(&json!({"tools": {}}));
        assert!(seen["result"]["capabilities"]["hooks"].is_object(), "{seen}");
    }
}

#[test]
fn values_stand_for_their_names_and_can_be_given() {
    let yaml = "values: {who: you, most: 3}\nconversation: [{tool: recall, arguments: {who: '{who}', most: '{most}', \
        query: '{content}'}, text: '{who}: {text}'}]";
    for (values, who) in [(vec![], "you"), (vec![("who".to_owned(), "me".to_owned())], "me")] {
        let plan = Plan::read(yaml, &values).expect("readable");
        let answering = &plan.conversation[0];
        assert_eq!(answering.arguments, json!({"who": who, "most": 3, "query": "{content}"}));
        let result = json!({"content": [{"type": "text", "text": "hi"}]});
        assert_eq!(answering.word(&result, &json!({})), Some(format!("{who}: hi")));
    }
}

#[test]
fn what_is_wrong_with_a_file_is_reported_with_its_line() {
    for (yaml, line, words) in [
        ("hooks:\n  - {event: session_strat, priority: important, context: x}", 2, "invalid hook"),
        ("hooks:\n  - {event: session_start, priority: important}", 2, "exactly one of context"),
        (
            "rules:\n  - when: {every: 1s, file: x}\n    fire: {kind: reminder, body: x}",
            2,
            "expected exactly one of message",
        ),
        ("rules:\n  - when: {every: 1s}\n    fire: {kind: remember, body: x}", 3, "unknown kind"),
        ("rules:\n  - when: {every: 1s}\n    fire: {kind: log, data: x}", 3, "an overlay can send reminder"),
        ("rules:\n  - when: {every: 1s}\n    fire: {kind: reminder}", 3, "body"),
        ("rules:\n  - when: {every: 1s}\n    fire: {kind: reminder, body: x, propagate: all}", 3, "propagate"),
        ("rules:\n  - when: {every: 0s}\n    fire: {kind: reminder, body: x}", 2, "above zero"),
        ("rules:\n  - when: {result: {matches: {regex: '('}}}\n    fire: {kind: reminder, body: x}", 2, "regex"),
        (
            "rules:\n  - when: {result: {matches: {glob: a, regex: b}}}\n    fire: {kind: reminder, body: x}",
            2,
            "equals",
        ),
        (
            "rules:\n  - when: {result: {matches: {pointer: a, glob: b}}}\n    fire: {kind: reminder, body: x}",
            2,
            "slash",
        ),
        ("rules:\n  - when: {message: {method: '[a'}}\n    fire: {kind: reminder, body: x}", 2, "invalid pattern"),
        ("name: x\nsettings: {mcpr: {}}", 2, "unknown proposal \"mcpr\""),
        ("name: x\nsettings: {mcpe: {maximum: 1}}", 2, "maximum"),
        ("rules:\n  - when: {every: 1s}\n    fire: {kind: push, text: x}\nsettings: {mcpl: 5}", 4, "settings: mcpl"),
        ("name: x\nhook: []", 2, "hook"),
        ("conversation:\n  - {arguments: {}}", 2, "tool"),
    ] {
        let error = Plan::read(yaml, &[]).expect_err(yaml);
        assert_eq!(error.place.line, line, "{yaml}: {error}");
        assert!(error.to_string().contains(words), "{yaml}: {error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Every message that does not concern the overlay is forwarded byte for byte, once, and in order.
    #[test]
    fn all_else_goes_on_byte_for_byte(
        said in prop::collection::vec((any::<bool>(), prop_oneof![
            "[ -~]{0,60}",
            (2u64..9).prop_map(|id| format!(r#"{{"id": {id},"jsonrpc":"2.0","method":"x/y","params":{{ "a" :1}} }}"#)),
            (2u64..9).prop_map(|id| format!(r#"{{"jsonrpc":"2.0","result":{{"tools" : []}},"id":{id}}}"#)),
            Just(r#"[{"jsonrpc":"2.0","id":5,"method":"tools/list"}]"#.to_owned()),
            Just(r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"\u00e9"}}"#.to_owned()),
            Just(r#"{"jsonrpc":"2.0","id":"mcpreel-00000000-1","result":{}}"#.to_owned()),
        ]), 0..20),
    ) {
        let mut stage = Stage::ready(ALL);
        for (is_client, message) in said {
            let (now, bytes) = (stage.now, message.clone().into_bytes());
            let (outputs, way) = match is_client {
                true => (stage.overlay.from_client(now, bytes), TO_SERVER),
                false => (stage.overlay.from_server(now, bytes), TO_CLIENT),
            };
            prop_assert_eq!(outputs, vec![Output::Forward(way, message.into_bytes())]);
        }
    }
}
