//! Mocks of small recordings, in virtual time.

mod matching;
mod proposals;

use super::*;
use crate::trace::{Event, EventKind, Flags, Item, NewEvent, ReelReader, ReelWriter, WriterOptions};
use crate::wire::{Direction, Framing};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::Cursor;
use std::sync::Arc;
use std::time::Duration;

const CLIENT: Direction = Direction::ClientToServer;
const SERVER: Direction = Direction::ServerToClient;

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// Passes on messages of several sessions as events, one every 10 ms. Their numbers count from 0.
fn each_event(messages: &[(u32, &(Direction, Value))], mut take: impl FnMut(&Event<'_>)) {
    let mut writer = ReelWriter::create(Vec::new(), &Default::default(), WriterOptions::default()).expect("begins");
    for (number, (stream, (direction, message))) in messages.iter().enumerate() {
        let payload = message.to_string().into_bytes();
        let (flags, stream) = (Flags::toward(*direction), *stream);
        let (time, kind, framing) = (number as i64 * 10_000_000, EventKind::Message, Framing::Lf);
        let event = NewEvent { time, stream, exchange: 0, kind, flags, framing, payload: &payload };
        writer.append(event).expect("taken");
    }
    let (reel, _) = writer.finish().expect("finished");
    let mut reader = ReelReader::from_stream(Box::new(Cursor::new(reel))).expect("a reel").with_payloads();
    while let Some(item) = reader.next().expect("readable") {
        let Item::Block(block) = item else { panic!("damage") };
        block.events().for_each(|event| take(&event));
    }
}

/// The library of these messages.
fn library(matching: Matching, messages: &[(Direction, Value)]) -> Arc<Library> {
    let messages: Vec<_> = messages.iter().map(|message| (0, message)).collect();
    library_of(LibraryBuilder::new(matching, &[]), &messages)
}

/// The library of the messages of several sessions.
fn library_of(mut builder: LibraryBuilder, messages: &[(u32, &(Direction, Value))]) -> Arc<Library> {
    let mut texts = HashMap::new();
    builder.begin(0);
    each_event(messages, |event| {
        builder.take(event);
        texts.insert(event.header.seq as u32, event.body().to_vec());
    });
    in_memory(builder, texts)
}

fn ask(id: impl Into<Value>, method: &str, params: Value) -> (Direction, Value) {
    (CLIENT, json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params}))
}

fn call(id: impl Into<Value>, tool: &str, arguments: Value) -> (Direction, Value) {
    ask(id, "tools/call", json!({"name": tool, "arguments": arguments}))
}

fn answer(id: impl Into<Value>, result: Value) -> (Direction, Value) {
    (SERVER, json!({"jsonrpc": "2.0", "id": id.into(), "result": result}))
}

fn note(direction: Direction, method: &str, params: Value) -> (Direction, Value) {
    (direction, json!({"jsonrpc": "2.0", "method": method, "params": params}))
}

/// A session, and what it sent so far.
struct Client {
    session: MockSession,
    library: Arc<Library>,
    now: Duration,
}

impl Client {
    fn new(library: &Arc<Library>, settings: Settings) -> Self {
        let session = MockSession::new(Arc::clone(library), settings);
        Self { session, library: Arc::clone(library), now: ms(0) }
    }

    /// Sends a message, and returns the messages that come at once.
    fn send(&mut self, message: &(Direction, Value)) -> Vec<Value> {
        values(self.session.receive(self.now, message.1.to_string().as_bytes()))
    }

    /// Waits until the next timeout, and returns what comes then.
    fn wait(&mut self) -> (Duration, Vec<Value>) {
        self.now = self.session.next_timeout().expect("something is due");
        (self.now, values(self.session.handle_timeout(self.now)))
    }

    fn report(self) -> Value {
        self.session.into_report().to_json(&self.library)
    }
}

fn values(outputs: Vec<Output>) -> Vec<Value> {
    let value = |output| match output {
        Output::Send(text) => {
            serde_json::from_slice(&text).unwrap_or_else(|_| Value::from(String::from_utf8_lossy(&text).into_owned()))
        }
        Output::Forward { ticket, .. } => json!({"forward": ticket}),
        Output::Disconnect => json!("disconnect"),
    };
    outputs.into_iter().map(value).collect()
}

#[test]
fn an_index_entry_is_small() {
    assert!(size_of::<library::Exchange>() <= 32 && size_of::<library::Initiated>() <= 28);
}

#[test]
fn requests_are_answered_in_any_order_with_the_live_ids() {
    let recorded = [
        call(1, "a", json!({"n": 1})),
        answer(1, json!({"r": "first"})),
        call(2, "b", json!({})),
        answer(2, json!({"r": "other"})),
        call(3, "a", json!({"n": 1})),
        answer(3, json!({"r": "second"})),
    ];
    let mut client = Client::new(&library(Matching::Exact, &recorded), Settings::default());
    let mut result = |id: Value, tool: &str, arguments: Value| {
        let found = client.send(&call(id.clone(), tool, arguments)).remove(0);
        assert_eq!(found["id"], id);
        found["result"]["r"].clone()
    };
    assert_eq!(result(json!("x"), "b", json!({})), "other");
    assert_eq!(result(json!(7), "a", json!({"n": 1.0})), "first");
    assert_eq!(result(json!(7), "a", json!({"n": 1})), "second");
    assert_eq!(client.report()["unused"], json!([]));
}

#[test]
fn messages_in_batches_are_served_by_themselves() {
    let recorded = [
        (CLIENT, json!([call(1, "a", json!({})).1, call(2, "b", json!({})).1])),
        (
            SERVER,
            json!([note(SERVER, "notifications/message", json!({"data": "x"})).1, answer(2, json!({"r": "b"})).1]),
        ),
        answer(1, json!({"r": "a"})),
        call(3, "c", json!({})),
    ];
    let mut client = Client::new(&library(Matching::Exact, &recorded), Settings::default());
    let mut result = |id: Value, tool: &str| {
        let found = client.send(&call(id.clone(), tool, json!({}))).into_iter().find(|one| one["id"] == id);
        found.map(|one| one["result"]["r"].clone())
    };
    assert_eq!((result(json!(7), "b"), result(json!("x"), "a")), (Some(json!("b")), Some(json!("a"))));
    let missed = client.send(&call(8, "b", json!({}))).remove(0);
    assert!(missed["error"]["message"].as_str().is_some_and(|text| text.contains("first at seq 0")), "{missed}");
    assert_eq!(client.report()["unused"], json!([{"seq": 3, "method": "tools/call", "message": "tools/call c"}]));
    let mut batching = Client::new(&library(Matching::Exact, &recorded), Settings::default());
    let answered = batching.send(&recorded[0]);
    assert_eq!(answered.iter().filter(|one| one["result"].is_object()).count(), 2, "{answered:?}");
}

#[test]
fn the_three_kinds_of_miss_have_their_own_messages() {
    let recorded = [
        call(1, "a", json!({"text": "hi"})),
        answer(1, json!({})),
        call(2, "slow", json!({})),
        call(3, "c", json!({})),
        answer(3, json!({})),
    ];
    let mut client = Client::new(&library(Matching::Exact, &recorded), Settings::default());
    let mut error = |message: (Direction, Value)| client.send(&message).remove(0)["error"].clone();
    let never = error(call(1, "a", json!({"text": "ho"})));
    assert_eq!(never["data"]["kind"], "never-recorded");
    assert_eq!(
        never["message"],
        "mcpreel mock: never recorded: tools/call a; the closest is seq 0, which differs at /params/arguments/text: \
         \"hi\" was recorded, not \"ho\""
    );
    let other_tool = error(call(1, "z", json!({})));
    assert_eq!(
        other_tool["message"],
        "mcpreel mock: never recorded: tools/call z; the recording contains tools/call a, tools/call c, tools/call slow"
    );
    let other_method = error(ask(1, "resources/list", json!({})));
    assert_eq!(
        other_method["message"],
        "mcpreel mock: never recorded: resources/list; the recording contains tools/call"
    );
    let unanswered = error(call(1, "slow", json!({})));
    assert_eq!(unanswered["message"], "mcpreel mock: recorded without an answer: tools/call slow (seq 2)");
    assert_eq!(error(call(1, "a", json!({"text": "hi"}))), Value::Null);
    let used_up = error(call(1, "a", json!({"text": "hi"})));
    assert_eq!(used_up["data"]["kind"], "used-up");
    assert_eq!(
        used_up["message"],
        "mcpreel mock: used up: tools/call a was recorded 1 time (first at seq 0), and all of that was served"
    );
    let report = client.report();
    assert_eq!(report["misses"].as_array().map(Vec::len), Some(5));
    assert_eq!(
        report["unused"],
        json!([
            {"seq": 2, "method": "tools/call", "message": "tools/call slow"},
            {"seq": 3, "method": "tools/call", "message": "tools/call c"},
        ])
    );
}

#[test]
fn reuse_repeats_the_last_answer_and_polls_of_tasks_always_do() {
    let poll = |id: u64| ask(id, "tasks/get", json!({"taskId": "t-1"}));
    let recorded = [
        call(1, "a", json!({})),
        answer(1, json!({"n": 1})),
        call(2, "a", json!({})),
        answer(2, json!({"n": 2})),
        poll(3),
        answer(3, json!({"status": "working"})),
        poll(4),
        answer(4, json!({"status": "completed"})),
    ];
    let library = library(Matching::Exact, &recorded);
    let mut client = Client::new(&library, Settings { reuse: true, ..Settings::default() });
    let mut results = |message: (Direction, Value), member: &str| -> Vec<Value> {
        (0..3).map(|_| client.send(&message).remove(0)["result"][member].clone()).collect()
    };
    assert_eq!(results(call(1, "a", json!({})), "n"), [1, 2, 2]);
    let mut strict = Client::new(&library, Settings::default());
    let polls: Vec<Value> = (0..3).map(|_| strict.send(&poll(9)).remove(0)["result"]["status"].clone()).collect();
    assert_eq!(polls, ["working", "completed", "completed"]);
    assert_eq!(strict.report()["misses"], json!([]));
}

#[test]
fn a_sequence_is_served_in_its_order_only() {
    let recorded = [
        ask(0, "initialize", json!({})),
        answer(0, json!({"protocolVersion": "2025-11-25"})),
        call(1, "a", json!({"x": 1})),
        answer(1, json!({"r": "a"})),
        call(2, "b", json!({})),
        answer(2, json!({"r": "b"})),
    ];
    let mut client = Client::new(&library(Matching::Sequence, &recorded), Settings::default());
    let early = client.send(&call(5, "b", json!({}))).remove(0);
    assert_eq!(
        early["error"]["message"],
        "mcpreel mock: never recorded: tools/call b at this position; the next recorded request is tools/call a (seq 2)"
    );
    assert_eq!(client.send(&call(5, "a", json!({"x": 2}))).remove(0)["result"]["r"], "a");
    assert_eq!(client.send(&call(5, "b", json!({}))).remove(0)["result"]["r"], "b");
    let late = client.send(&call(5, "b", json!({}))).remove(0);
    assert_eq!(late["error"]["data"]["kind"], "used-up");
}

#[test]
fn the_handshake_and_pings_work_without_having_been_recorded() {
    let recorded = [
        ask(0, "initialize", json!({"protocolVersion": "2025-11-25"})),
        answer(0, json!({"protocolVersion": "2025-11-25", "serverInfo": {"name": "s"}})),
        ask(1, "tools/list", json!({})),
        answer(1, json!({"tools": []})),
    ];
    let mut client = Client::new(&library(Matching::Exact, &recorded), Settings::default());
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {"roots": {}}});
    let hello = client.send(&ask("i", "initialize", params)).remove(0);
    assert_eq!(
        hello,
        json!({"jsonrpc": "2.0", "id": "i", "result": {"protocolVersion": "2025-06-18", "serverInfo": {"name": "s"}}})
    );
    assert_eq!(client.send(&ask(3, "ping", json!({}))), [json!({"jsonrpc": "2.0", "id": 3, "result": {}})]);
    assert_eq!(client.send(&ask(4, "server/discover", json!({}))).remove(0)["error"]["code"], -32601);
    let discover = |id: u64| ask(id, "server/discover", json!({}));
    let refused = (SERVER, json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "no version"}}));
    let probed = [discover(1), refused, discover(2), answer(2, json!({"supportedVersions": ["2026-07-28"]}))];
    let mut client = Client::new(&library(Matching::Exact, &probed), Settings::default());
    assert_eq!(client.send(&discover(5))[0]["result"]["supportedVersions"][0], "2026-07-28");
    let bare = [ask(1, "tools/list", json!({})), answer(1, json!({"tools": []}))];
    let mut client = Client::new(&library(Matching::Exact, &bare), Settings::default());
    let hello = client.send(&ask(0, "initialize", json!({"protocolVersion": "2025-03-26"}))).remove(0);
    assert_eq!(
        (&hello["result"]["protocolVersion"], &hello["result"]["capabilities"]),
        (&json!("2025-03-26"), &json!({"tools": {}}))
    );
}

#[test]
fn the_servers_messages_come_at_their_moments_with_the_live_token() {
    let progress =
        |token: Value, n: u64| note(SERVER, "notifications/progress", json!({"progressToken": token, "progress": n}));
    let mut long = call(1, "long", json!({}));
    long.1["params"]["_meta"] = json!({"progressToken": "p"});
    let recorded = [
        note(CLIENT, "notifications/initialized", json!({})),
        note(SERVER, "notifications/message", json!({"data": "ready"})),
        long,
        call(2, "other", json!({})),
        progress(json!("p"), 1),
        answer(2, json!({})),
        note(SERVER, "notifications/tools/list_changed", json!({})),
        answer(1, json!({})),
    ];
    let library = library(Matching::Exact, &recorded);
    let mut client = Client::new(&library, Settings::default());
    assert_eq!(client.send(&recorded[0])[0]["params"]["data"], "ready");
    let other = client.send(&call(9, "other", json!({})));
    assert_eq!((&other[0]["id"], &other[1]["method"]), (&json!(9), &json!("notifications/tools/list_changed")));
    let mut live = call("l", "long", json!({}));
    live.1["params"]["_meta"] = json!({"progressToken": 44});
    let long = client.send(&live);
    assert_eq!((&long[0]["params"]["progressToken"], &long[1]["id"]), (&json!(44), &json!("l")));
    // Without a token, no progress.
    let mut client = Client::new(&library, Settings::default());
    assert_eq!(client.send(&call("l", "long", json!({}))).len(), 1);
    let report = client.report();
    let never =
        json!([{"seq": 1, "method": "notifications/message", "follows": "the client's notifications/initialized"}]);
    assert_eq!(report["unreached"], never, "what followed the request that never came is explained by it");
}

#[test]
fn an_answer_waits_for_the_clients_answers_to_the_servers_requests() {
    let recorded = [
        call(1, "t", json!({})),
        (SERVER, json!({"jsonrpc": "2.0", "id": 0, "method": "sampling/createMessage", "params": {}})),
        (CLIENT, json!({"jsonrpc": "2.0", "id": 0, "result": {"model": "m"}})),
        note(SERVER, "notifications/message", json!({"data": "thanks"})),
        answer(1, json!({"done": true})),
    ];
    let mut client = Client::new(&library(Matching::Exact, &recorded), Settings::default());
    let first = client.send(&call(5, "t", json!({})));
    assert_eq!((first.len(), &first[0]["method"]), (1, &json!("sampling/createMessage")));
    let then = client.send(&(CLIENT, json!({"jsonrpc": "2.0", "id": 0, "error": {"code": 1, "message": "no"}})));
    assert_eq!((&then[0]["params"]["data"], &then[1]["result"]["done"]), (&json!("thanks"), &json!(true)));
    let unasked = Client::new(&library(Matching::Exact, &recorded), Settings::default()).report();
    assert_eq!((unasked["unused"].as_array().map(Vec::len), &unasked["unreached"]), (Some(1), &json!([])));
    let mut silent = Client::new(&library(Matching::Exact, &recorded), Settings::default());
    silent.send(&call(5, "t", json!({})));
    let follows = "the client's response to sampling/createMessage";
    let expected = json!([{"seq": 3, "method": "notifications/message", "follows": follows}]);
    assert_eq!(silent.report()["unreached"], expected);
}

#[test]
fn the_report_in_words_names_tools_and_counts_what_is_repeated() {
    let recorded = [
        note(CLIENT, "notifications/initialized", json!({})),
        note(SERVER, "notifications/message", json!({})),
        call(1, "a", json!({})),
        answer(1, json!({})),
    ];
    let library = library(Matching::Exact, &recorded);
    let faults = vec!["ping: drop".parse().expect("a fault"), "tools/call: duplicate".parse().expect("a fault")];
    let mut client = Client::new(&library, Settings { faults, ..Settings::default() });
    for _ in 0..2 {
        client.send(&call(2, "b", json!({})));
    }
    let expected = "\
2 requests without a recorded answer:
  never recorded: tools/call b; the recording contains tools/call a (2 times)
1 recorded request never asked for:
  seq 2  tools/call a
1 message of the server never sent:
  seq 1  notifications/message, which follows the client's notifications/initialized
faults:
  ping: drop  never
  tools/call: duplicate  never
1 session, 0 answers from the recording
";
    assert_eq!(client.session.into_report().to_text(&library), expected);
}

/// The recorded client took 20 ms for its answer to the server's request; the live one takes none.
#[test]
fn a_faster_client_gets_the_last_progress_before_the_answer_all_the_same() {
    let progress = |n: u64| note(SERVER, "notifications/progress", json!({"progressToken": "p", "progress": n}));
    let mut long = call(1, "long", json!({}));
    long.1["params"]["_meta"] = json!({"progressToken": "p"});
    let reply = (CLIENT, json!({"jsonrpc": "2.0", "id": 0, "result": {"roots": []}}));
    let recorded = [
        long.clone(),
        (SERVER, json!({"jsonrpc": "2.0", "id": 0, "method": "roots/list"})),
        progress(1),
        reply.clone(),
        progress(2),
        answer(1, json!({"done": true})),
        progress(3),
    ];
    let mut client =
        Client::new(&library(Matching::Exact, &recorded), Settings { speed: Some(1.0), ..Settings::default() });
    client.send(&long);
    assert_eq!(client.wait().1[0]["method"], "roots/list");
    client.send(&reply);
    assert_eq!(client.wait().1[0]["params"]["progress"], 1);
    let (at, last) = client.wait();
    assert_eq!((at, &last[0]["params"]["progress"], &last[1]["result"]["done"]), (ms(40), &json!(2), &json!(true)));
}

#[test]
fn subscriptions_stay_open_with_the_live_id() {
    let key = "io.modelcontextprotocol/subscriptionId";
    let recorded = [
        ask("s1", "subscriptions/listen", json!({"notifications": {}})),
        note(SERVER, "notifications/subscriptions/acknowledged", json!({"_meta": {key: "s1"}})),
    ];
    let mut client = Client::new(&library(Matching::Exact, &recorded), Settings::default());
    let sent = client.send(&ask(31, "subscriptions/listen", json!({"notifications": {}})));
    assert_eq!(sent.len(), 1, "{sent:?}");
    assert_eq!(sent[0]["params"]["_meta"][key], "31");
}

#[test]
fn the_recorded_pace_is_kept_and_a_cancelled_request_is_not_answered() {
    let recorded = [call(1, "a", json!({})), note(SERVER, "notifications/message", json!({})), answer(1, json!({}))];
    let library = library(Matching::Exact, &recorded);
    let mut client = Client::new(&library, Settings { speed: Some(2.0), ..Settings::default() });
    assert_eq!(client.send(&call(5, "a", json!({}))).len(), 0);
    assert_eq!(client.wait().0, ms(5));
    assert_eq!(client.wait().0, ms(10));
    let mut client = Client::new(&library, Settings { speed: Some(1.0), ..Settings::default() });
    client.send(&call(5, "a", json!({})));
    client.send(&note(CLIENT, "notifications/cancelled", json!({"requestId": 5})));
    assert_eq!((client.wait().1.len(), client.wait().1.len()), (1, 0));
}

#[test]
fn each_fault_does_what_it_says_and_the_seed_decides() {
    let recorded: Vec<_> = (0..20).flat_map(|id| [call(id, "a", json!({})), answer(id, json!({"n": id}))]).collect();
    let library = library(Matching::Exact, &recorded);
    let client = |fault: &str, seed| {
        let faults = vec![fault.parse().expect("a fault")];
        Client::new(&library, Settings { faults, seed, ..Settings::default() })
    };
    let first = |fault: &str| client(fault, 1).send(&call(5, "a", json!({})));
    assert_eq!(first("tools/call: drop").len(), 0);
    assert_eq!(first("tools/call: duplicate").len(), 2);
    assert_eq!(first("tools/call: error -7")[0]["error"]["code"], -7);
    assert_eq!(first("tools/call: disconnect"), ["disconnect"]);
    assert!(first("tools/call: truncate")[0].is_string() && first("tools/call: malformed")[0].is_string());
    assert_eq!(first("ping: drop").len(), 1);
    let mut delayed = client("tools/call: delay 2s", 1);
    assert_eq!((delayed.send(&call(5, "a", json!({}))).len(), delayed.wait().0), (0, ms(2000)));
    let mut reordered = client("tools/call: reorder", 1);
    assert_eq!(reordered.send(&call(5, "a", json!({}))).len(), 0);
    assert_eq!(reordered.wait().1[0]["id"], 5, "alone, it comes late");
    let hits = |seed| {
        let mut client = client("tools/call: drop 50%", seed);
        (0..20).map(|_| client.send(&call(5, "a", json!({}))).len()).collect::<Vec<_>>()
    };
    assert_eq!(hits(3), hits(3));
    assert_ne!(hits(3), hits(4));
    assert!((4..16).contains(&hits(3).iter().sum::<usize>()));
}

#[test]
fn a_miss_can_be_forwarded() {
    let recorded = [call(1, "a", json!({})), answer(1, json!({}))];
    let mut client =
        Client::new(&library(Matching::Exact, &recorded), Settings { forwards: true, ..Settings::default() });
    let ticket = client.send(&call("q", "b", json!({}))).remove(0)["forward"].as_u64().expect("a ticket");
    let live = br#"{"jsonrpc":"2.0","id":1,"result":{"live":true}}"#.to_vec();
    let sent = values(client.session.forwarded(client.now, ticket, Ok(live)));
    assert_eq!(sent, [json!({"jsonrpc": "2.0", "id": "q", "result": {"live": true}})]);
    let ticket = client.send(&call("r", "c", json!({}))).remove(0)["forward"].as_u64().expect("a ticket");
    let refused = values(client.session.forwarded(client.now, ticket, Err("it is gone".into()))).remove(0);
    assert_eq!(refused["error"]["message"], "the server behind the mock: it is gone");
}
