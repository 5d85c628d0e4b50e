//! Replays of small sessions, in virtual time.

use super::engine::{End, Note};
use super::*;
use crate::session::filter::Filter;
use crate::trace::{EventKind, Flags, Item, NewEvent, ReelReader, ReelWriter, WriterOptions};
use crate::wire::{Direction, Framing};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::io::Cursor;
use std::time::Duration;

const CLIENT: Direction = Direction::ClientToServer;
const SERVER: Direction = Direction::ServerToClient;

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// A session of these messages, one every 10 ms. Their event numbers count from 0.
fn session(messages: &[(Direction, Value)]) -> Conversation {
    let mut writer = ReelWriter::create(Vec::new(), &Default::default(), WriterOptions::default()).expect("begins");
    for (number, (direction, message)) in messages.iter().enumerate() {
        let payload = message.as_str().map_or_else(|| message.to_string(), str::to_owned);
        let event = NewEvent {
            time: number as i64 * 10_000_000,
            stream: 0,
            exchange: 0,
            kind: EventKind::Message,
            flags: Flags::toward(*direction),
            framing: Framing::Lf,
            payload: payload.as_bytes(),
        };
        writer.append(event).expect("taken");
    }
    let (reel, _) = writer.finish().expect("finished");
    let mut reader = ReelReader::from_stream(Box::new(Cursor::new(reel))).expect("a reel").with_payloads();
    let mut found = Conversations::default();
    while let Some(item) = reader.next().expect("readable") {
        let Item::Block(block) = item else { panic!("damage") };
        block.events().for_each(|event| found.take(&event));
    }
    found.finish().into_iter().next().expect("a client")
}

fn ask(id: u64, method: &str, params: Value) -> (Direction, Value) {
    (CLIENT, json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
}

fn answer(id: u64, result: Value) -> (Direction, Value) {
    (SERVER, json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

fn text(message: &(Direction, Value)) -> Vec<u8> {
    message.1.to_string().into_bytes()
}

/// What outputs send, as values.
fn sent(outputs: &[Output]) -> Vec<Value> {
    let sent = outputs.iter().filter_map(|output| match output {
        Output::Send(message) => Some(serde_json::from_slice(message).expect("JSON")),
        _ => None,
    });
    sent.collect()
}

fn engine(messages: &[(Direction, Value)], settings: Settings) -> ReplayEngine {
    ReplayEngine::new(Plan::new(session(messages), &Selection::default()), settings)
}

#[test]
fn a_message_waits_for_every_answer_that_preceded_it() {
    let recorded = [
        ask(1, "a", json!({})),
        ask(2, "b", json!({})),
        answer(2, json!({})),
        answer(1, json!({})),
        ask(3, "c", json!({})),
        answer(3, json!({})),
    ];
    let mut engine = engine(&recorded, Settings::default());
    let methods = |outputs: &[Output]| -> Vec<Value> { sent(outputs).iter().map(|it| it["method"].clone()).collect() };
    assert_eq!(methods(&engine.start(ms(0))), ["a", "b"]);
    assert_eq!(methods(&engine.receive(ms(1), &text(&recorded[3]))), [""; 0]);
    assert_eq!(methods(&engine.receive(ms(2), &text(&recorded[2]))), ["c"]);
    let last = engine.receive(ms(3), &text(&recorded[5]));
    assert_eq!(last.last(), Some(&Output::Finished));
    assert_eq!((engine.outcome().sent, engine.outcome().answered), (3, 3));
}

#[test]
fn generated_values_follow_the_live_server_byte_for_byte_elsewhere() {
    let recorded = [
        ask(1, "tools/call", json!({"name": "open"})),
        answer(1, json!({"content": [{"type": "text", "text": "opened sess_8Kx2mQ9z for you"}]})),
        (CLIENT, json!(r#"{"id":2, "params":{"uri":"note://sess_8Kx2mQ9z/1","n":1.0},"method":"x","jsonrpc":"2.0"}"#)),
        answer(2, json!({})),
    ];
    let mut engine = engine(&recorded, Settings::default());
    engine.start(ms(0));
    let live = answer(1, json!({"content": [{"type": "text", "text": "opened sess_7Hj3pW1q for you"}]}));
    let outputs = engine.receive(ms(1), &text(&live));
    let expected = r#"{"id":2, "params":{"uri":"note://sess_7Hj3pW1q/1","n":1.0},"method":"x","jsonrpc":"2.0"}"#;
    assert!(outputs.contains(&Output::Send(expected.as_bytes().to_vec())), "{outputs:?}");
    let same = engine.sent().substitutions.apply(br#"["sess_8Kx2mQ9z"]"#);
    assert_eq!(same.as_deref(), Some(&br#"["sess_7Hj3pW1q"]"#[..]));
}

/// What the server returned follows the live server also if one of the values looks less random than the other.
#[test]
fn a_value_that_looks_like_a_word_follows_the_live_server() {
    for (recorded_id, live_id) in [
        ("task_1922995d8401", "task_abcdefabcdef"),
        ("qwertzuiopasdfg7", "yxcvbnmlkjhgfdsa"),
        ("aGVsbG8/d29ybGQ+Zm9v1A==", "c29tZSBvdGhlciBieXRlcw=="),
    ] {
        let recorded = [
            ask(1, "tools/call", json!({"name": "open"})),
            answer(1, json!({"structuredContent": {"id": recorded_id}})),
            ask(2, "tools/call", json!({"name": "get", "arguments": {"id": recorded_id}})),
            answer(2, json!({})),
        ];
        let mut engine = engine(&recorded, Settings::default());
        engine.start(ms(0));
        let live = answer(1, json!({"structuredContent": {"id": live_id}}));
        assert_eq!(sent(&engine.receive(ms(1), &text(&live)))[0]["params"]["arguments"]["id"], live_id);
    }
    let recorded = [
        ask(1, "tools/call", json!({"name": "open"})),
        answer(1, json!({"content": [{"type": "text", "text": "opened sess_8Kx2mQ9z for you"}]})),
        ask(2, "tools/call", json!({"name": "get", "arguments": {"id": "sess_8Kx2mQ9z"}})),
    ];
    let mut engine = engine(&recorded, Settings::default());
    engine.start(ms(0));
    let live = answer(1, json!({"content": [{"type": "text", "text": "opened sess_abcdefgh for you"}]}));
    assert_eq!(sent(&engine.receive(ms(1), &text(&live)))[0]["params"]["arguments"]["id"], "sess_abcdefgh");
}

#[test]
fn a_cursor_is_bound_by_its_name_and_a_short_value_elsewhere_is_not() {
    let recorded = [
        ask(1, "tools/list", json!({})),
        answer(1, json!({"tools": [], "nextCursor": "2", "note": "ok"})),
        ask(2, "tools/list", json!({"cursor": "2", "other": "2", "note": "ok"})),
        answer(2, json!({"tools": []})),
    ];
    let mut engine = engine(&recorded, Settings::default());
    engine.start(ms(0));
    let live = answer(1, json!({"tools": [], "nextCursor": "p-7", "note": "fine"}));
    let outputs = engine.receive(ms(1), &text(&live));
    assert_eq!(sent(&outputs)[0]["params"], json!({"cursor": "p-7", "other": "2", "note": "ok"}));
    assert_eq!(engine.sent().rewritten.keys().collect::<Vec<_>>(), [&2], "it is no difference of the client");
}

#[test]
fn a_value_that_the_client_used_first_is_its_own() {
    let id = "123e4567-e89b-12d3-a456-426614174000";
    let recorded = [
        ask(1, "tools/call", json!({"name": "put", "arguments": {"key": id}})),
        answer(1, json!({"structuredContent": {"key": id}})),
        ask(2, "tools/call", json!({"name": "get", "arguments": {"key": id}})),
        answer(2, json!({})),
    ];
    let mut engine = engine(&recorded, Settings::default());
    engine.start(ms(0));
    let live = answer(1, json!({"structuredContent": {"key": "00000000-e89b-12d3-a456-426614174000"}}));
    assert_eq!(sent(&engine.receive(ms(1), &text(&live)))[0]["params"]["arguments"]["key"], id);
}

#[test]
fn a_renamed_tool_is_not_called_in_place_of_the_recorded_one() {
    let recorded = [
        ask(1, "tools/list", json!({})),
        answer(1, json!({"tools": [{"name": "tool_a1b2c3d4"}]})),
        ask(2, "tools/call", json!({"name": "tool_a1b2c3d4"})),
        answer(2, json!({})),
    ];
    let mut engine = engine(&recorded, Settings::default());
    engine.start(ms(0));
    let outputs = engine.receive(ms(1), &text(&answer(1, json!({"tools": [{"name": "tool_e5f6a7b8"}]}))));
    assert_eq!(sent(&outputs)[0]["params"]["name"], "tool_a1b2c3d4");
}

#[test]
fn contradicting_sources_are_reported_and_the_latest_counts() {
    let id = "5f3a9c1d22";
    let recorded = [
        ask(1, "a", json!({})),
        answer(1, json!({"id": id})),
        ask(2, "b", json!({})),
        answer(2, json!({"id": id})),
        ask(3, "c", json!({"id": id})),
        answer(3, json!({})),
    ];
    let mut engine = engine(&recorded, Settings::default());
    engine.start(ms(0));
    engine.receive(ms(1), &text(&answer(1, json!({"id": "aaaa111122"}))));
    let outputs = engine.receive(ms(2), &text(&answer(2, json!({"id": "bbbb333344"}))));
    assert_eq!(sent(&outputs)[0]["params"]["id"], "bbbb333344");
    assert!(
        matches!(&engine.outcome().notes[..], [Note::Ambiguous { seq: 4, candidates, .. }] if candidates.len() == 2)
    );
}

#[test]
fn a_value_that_no_longer_comes_is_sent_as_recorded_and_reported() {
    let recorded = [
        ask(1, "a", json!({})),
        answer(1, json!({"id": "5f3a9c1d22"})),
        ask(2, "b", json!({"id": "5f3a9c1d22"})),
        answer(2, json!({})),
    ];
    let mut engine = engine(&recorded, Settings::default());
    engine.start(ms(0));
    let outputs = engine.receive(ms(1), &text(&answer(1, json!({"error": true}))));
    assert_eq!(sent(&outputs)[0]["params"]["id"], "5f3a9c1d22");
    assert!(matches!(&engine.outcome().notes[..], [Note::Unbound { seq: 2, from: 1, .. }]));
}

#[test]
fn requests_of_the_server_are_answered_as_recorded_or_by_the_user_or_refused() {
    let roots = (SERVER, json!({"jsonrpc": "2.0", "id": 0, "method": "roots/list"}));
    let recorded = [
        ask(1, "tools/call", json!({"name": "t"})),
        roots,
        (CLIENT, json!({"jsonrpc": "2.0", "id": 0, "result": {"roots": []}})),
        answer(1, json!({})),
    ];
    let answers = Answers::parse(br#"{"sampling/createMessage":[{"model":"m"},{"error":{"code":-1,"message":"no"}}]}"#);
    let mut engine = engine(&recorded, Settings { answers: answers.expect("valid"), ..Settings::default() });
    engine.start(ms(0));
    let mut asked = |id: Value, method: &str| {
        let live = (SERVER, json!({"jsonrpc": "2.0", "id": id, "method": method}));
        sent(&engine.receive(ms(1), &text(&live))).remove(0)
    };
    assert_eq!(asked(json!("r"), "roots/list"), json!({"jsonrpc": "2.0", "id": "r", "result": {"roots": []}}));
    assert_eq!(asked(json!(7), "sampling/createMessage")["result"], json!({"model": "m"}));
    assert_eq!(asked(json!(8), "sampling/createMessage")["error"]["code"], -1);
    assert_eq!(asked(json!(9), "ping")["result"], json!({}));
    assert_eq!(asked(json!(10), "elicitation/create")["error"]["code"], -32601);
    assert_eq!(engine.outcome().notes, [Note::Unanswerable { method: "elicitation/create".into() }]);
}

#[test]
fn a_notification_is_awaited_but_not_forever_and_never_again() {
    let log =
        |text: &str| (SERVER, json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": text}}));
    let recorded = [log("1"), ask(1, "a", json!({})), answer(1, json!({})), log("2"), ask(2, "b", json!({}))];
    let mut engine = engine(&recorded, Settings::default());
    assert_eq!(engine.start(ms(0)), []);
    assert_eq!(sent(&engine.receive(ms(5), &text(&recorded[0]))).len(), 1);
    assert_eq!(sent(&engine.receive(ms(6), &text(&recorded[2]))).len(), 0);
    let due = engine.next_timeout().expect("a limit");
    assert!(due > ms(1000) && due < ms(1100), "{due:?}");
    assert_eq!(sent(&engine.handle_timeout(due)).len(), 1);
}

#[test]
fn the_recorded_pace_is_kept_or_scaled() {
    let recorded = [ask(1, "a", json!({})), answer(1, json!({})), ask(2, "b", json!({}))];
    for (speed, expected) in [(1.0, ms(110)), (2.0, ms(105))] {
        let mut engine = engine(&recorded, Settings { speed: Some(speed), ..Settings::default() });
        assert_eq!(sent(&engine.start(ms(0))).len(), 1);
        assert_eq!(sent(&engine.receive(ms(100), &text(&recorded[1]))).len(), 0);
        assert_eq!(engine.next_timeout(), Some(expected));
        assert_eq!(sent(&engine.handle_timeout(expected)).len(), 1);
    }
}

#[test]
fn an_answer_that_never_comes_is_given_up_unless_it_never_came() {
    let recorded = [ask(1, "a", json!({})), ask(2, "b", json!({})), answer(2, json!({})), ask(3, "c", json!({}))];
    let mut engine = engine(&recorded, Settings { timeout: ms(100), ..Settings::default() });
    assert_eq!(sent(&engine.start(ms(0))).len(), 2);
    assert_eq!(engine.next_timeout(), Some(ms(100)));
    let outputs = engine.handle_timeout(ms(100));
    assert_eq!(sent(&outputs).len(), 1, "the next message is sent all the same");
    let expected = Note::TimedOut { seq: 1, message: "b".into(), after: ms(100) };
    assert_eq!(engine.outcome().notes, [expected]);
    assert_eq!(outputs.last(), Some(&Output::Finished), "the recording ends without an answer to c");
}

#[test]
fn an_unanswered_handshake_ends_the_replay_at_its_limit() {
    let recorded =
        [ask(1, "initialize", json!({})), answer(1, json!({})), ask(2, "a", json!({})), answer(2, json!({}))];
    let mut engine = engine(&recorded, Settings { timeout: ms(100), ..Settings::default() });
    engine.start(ms(0));
    assert_eq!(engine.handle_timeout(ms(100)), [Output::Finished], "a is not sent");
    assert_eq!((engine.outcome().sent, engine.outcome().end.clone()), (1, Some(End::Unanswered)));
    assert!(engine.outcome().timed_out().is_some());
}

#[test]
fn a_server_that_ends_early_ends_the_replay() {
    let recorded = [ask(1, "a", json!({})), answer(1, json!({}))];
    let mut early = engine(&recorded, Settings::default());
    early.start(ms(0));
    assert_eq!((early.closed(ms(1)), early.outcome().end.clone()), (vec![Output::Finished], Some(End::Closed)));
    assert_eq!(early.next_timeout(), None);
}

#[test]
fn the_handshake_is_awaited_and_so_is_room_for_another_request() {
    let recorded = [
        ask(0, "initialize", json!({})),
        (CLIENT, json!({"jsonrpc": "2.0", "method": "notifications/initialized"})),
        ask(1, "a", json!({})),
        ask(2, "b", json!({})),
        answer(0, json!({})),
        answer(1, json!({})),
        answer(2, json!({})),
    ];
    let mut engine = engine(&recorded, Settings { max_in_flight: 1, ..Settings::default() });
    assert_eq!(sent(&engine.start(ms(0))).len(), 1);
    assert_eq!(sent(&engine.receive(ms(1), &text(&recorded[4]))).len(), 2);
    assert_eq!(engine.next_timeout(), Some(Duration::from_secs(30) + ms(1)), "only the time limit is due");
    assert_eq!(sent(&engine.receive(ms(2), &text(&recorded[5]))).len(), 1);
}

#[test]
fn what_is_left_out_is_not_compared_either() {
    let tools = json!({"tools": [
        {"name": "look", "annotations": {"readOnlyHint": true}},
        {"name": "wipe", "annotations": {"destructiveHint": true}},
    ]});
    let recorded = [
        ask(0, "initialize", json!({})),
        answer(0, json!({})),
        ask(1, "tools/list", json!({})),
        answer(1, tools),
        ask(2, "tools/call", json!({"name": "wipe"})),
        (SERVER, json!({"jsonrpc": "2.0", "method": "notifications/message"})),
        answer(2, json!({})),
        ask(3, "tools/call", json!({"name": "look"})),
        answer(3, json!({})),
    ];
    let seqs = |plan: &Plan| plan.compared().map(|entry| entry.seq()).collect::<Vec<_>>();
    let all = Plan::new(session(&recorded), &Selection::default());
    assert_eq!(all.destructive().iter().map(|call| (call.seq, call.tool.as_str())).collect::<Vec<_>>(), [(4, "wipe")]);
    assert_eq!(seqs(&all).len(), 9);
    let reading = Plan::new(session(&recorded), &Selection { read_only: true, ..Selection::default() });
    assert_eq!((seqs(&reading), reading.destructive().len()), (vec![0, 1, 2, 3, 5, 7, 8], 0));
    assert_eq!(reading.optional(), HashSet::from([5]), "the server may send it nevertheless");
    let filter = Some(Filter::parse("tool:look").expect("a filter"));
    let filtered = Plan::new(session(&recorded), &Selection { filter, ..Selection::default() });
    assert_eq!((seqs(&filtered), filtered.optional()), (vec![0, 1, 5, 7, 8], HashSet::from([5])));
    let part = Plan::new(session(&recorded), &Selection { from: Some(4), to: Some(6), ..Selection::default() });
    assert_eq!(seqs(&part), [0, 1, 4, 5, 6]);
}

#[test]
fn what_belongs_to_a_request_that_is_left_out_is_too() {
    let recorded = [
        ask(0, "initialize", json!({})),
        answer(0, json!({})),
        ask(1, "tools/call", json!({"name": "slow", "_meta": {"progressToken": "p"}})),
        ask(2, "tools/call", json!({"name": "add", "_meta": {"progressToken": "q"}})),
        (SERVER, json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": "p"}})),
        (SERVER, json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": "q"}})),
        (CLIENT, json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})),
        (CLIENT, json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}})),
        answer(2, json!({})),
    ];
    let without = |term: &str| Some(Filter::parse(&format!("not tool:{term}")).expect("a filter"));
    let plan = Plan::new(session(&recorded), &Selection { filter: without("slow"), ..Selection::default() });
    let seqs: Vec<u64> = plan.compared().map(|entry| entry.seq()).collect();
    assert_eq!((seqs, plan.optional()), (vec![0, 1, 3, 4, 5, 7, 8], HashSet::from([4])));
}

#[test]
fn batches_wait_for_all_their_answers() {
    let recorded = [
        (CLIENT, json!([ask(1, "a", json!({})).1, ask(2, "b", json!({})).1])),
        (SERVER, json!([answer(1, json!({})).1, answer(2, json!({})).1])),
        ask(3, "c", json!({})),
    ];
    let mut engine = engine(&recorded, Settings::default());
    engine.start(ms(0));
    assert_eq!(sent(&engine.receive(ms(1), &text(&answer(1, json!({}))))).len(), 0);
    assert_eq!(sent(&engine.receive(ms(2), &text(&answer(2, json!({}))))).len(), 1);
}

fn for_modern(messages: &[(Direction, Value)]) -> Plan {
    Plan::new(session(messages), &Selection { is_for_modern: true, ..Selection::default() })
}

/// The session of a legacy client: the handshake, then these messages.
fn legacy(messages: &[(Direction, Value)]) -> Vec<(Direction, Value)> {
    let client = json!({"name": "c", "version": "1"});
    let capabilities = json!({"elicitation": {}});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": client});
    let mut all = vec![
        ask(0, "initialize", params),
        answer(0, json!({"protocolVersion": "2025-11-25", "capabilities": {}})),
        (CLIENT, json!({"jsonrpc": "2.0", "method": "notifications/initialized"})),
    ];
    all.extend_from_slice(messages);
    all
}

const META: &str = "_meta";
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

#[test]
fn a_refusal_is_noted_unless_the_recorded_server_refused_too() {
    let refused = (SERVER, json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32600, "message": "no"}}));
    // Over HTTP, a refusal may have no id.
    let without_id = (SERVER, json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": "no"}}));
    let cases = [
        (refused.clone(), vec![]),
        (without_id, vec![]),
        (answer(1, json!({})), vec!["the server refused seq 0: HTTP 400"]),
    ];
    for (recorded, expected) in cases {
        let mut engine = engine(&[ask(1, "a", json!({})), recorded], Settings::default());
        engine.start(ms(0));
        engine.undelivered(ms(1), b"1", "HTTP 400", Some(&text(&refused)));
        let notes: Vec<String> = engine.outcome().notes.iter().map(ToString::to_string).collect();
        assert_eq!(notes, expected);
        assert_eq!((engine.outcome().answered, &engine.outcome().end), (1, &None));
    }
}

#[test]
fn without_an_answer_to_the_discovery_nothing_more_is_sent() {
    let discovery = [ask(1, "server/discover", json!({})), answer(1, json!({}))];
    let handshake = [ask(2, "initialize", json!({})), answer(2, json!({}))];
    let settings = Settings { timeout: ms(100), ..Settings::default() };
    let mut engine = engine(&[discovery, handshake].concat(), settings);
    engine.start(ms(0));
    assert_eq!(engine.handle_timeout(ms(100)), [Output::Finished]);
    let outcome = engine.outcome();
    assert_eq!((outcome.sent, &outcome.end), (1, &Some(End::Unanswered)));
    assert_eq!(
        outcome.timed_out().map(ToString::to_string).as_deref(),
        Some("no answer to server/discover (seq 0) within 100ms")
    );
}

#[test]
fn an_early_end_comes_before_the_next_message() {
    let messages = [ask(1, "a", json!({})), answer(1, json!({})), ask(2, "b", json!({})), answer(2, json!({}))];
    let settings = || Settings { stops_early: true, timeout: ms(100), ..Settings::default() };
    let answered = |engine: &mut ReplayEngine| {
        engine.start(ms(0));
        assert_eq!(sent(&engine.receive(ms(1), &text(&answer(1, json!({}))))).len(), 0);
        assert_eq!(engine.next_timeout(), Some(ms(0)));
    };
    let mut stopped = engine(&messages, settings());
    answered(&mut stopped);
    assert_eq!((stopped.stop(), stopped.next_timeout()), (vec![Output::Finished], None));
    let mut late = engine(&messages, settings());
    answered(&mut late);
    assert_eq!(sent(&late.handle_timeout(ms(1)))[0]["method"], "b");
    assert_eq!(late.handle_timeout(ms(101)), [Output::Finished]);
    assert_eq!(late.outcome().end, Some(End::Unanswered));
}

#[test]
fn a_modern_server_gets_a_discovery_and_requests_that_say_who_asks() {
    let modern = [ask(1, "server/discover", json!({"_meta": {VERSION: "2026-07-28"}})), answer(1, json!({}))];
    assert!(!for_modern(&modern).is_for_modern(), "a modern recording is replayed as it is");
    let recorded = legacy(&[
        ask(1, "logging/setLevel", json!({"level": "info"})),
        answer(1, json!({})),
        (
            CLIENT,
            json!(r#"{"jsonrpc":"2.0", "id":2,"method":"tools/call","params":{"name":"t","arguments":{"n":1.0}}}"#),
        ),
        answer(2, json!({"content": []})),
        ask(3, "ping", json!({})),
        answer(3, json!({})),
        ask(4, "x/own", json!({})),
        answer(4, json!({})),
    ]);
    let plan = for_modern(&recorded);
    let omitted: Vec<_> = plan.omissions().iter().map(|one| (one.seq, one.label.as_str())).collect();
    assert_eq!(omitted, [(2, "notifications/initialized"), (3, "logging/setLevel"), (7, "ping")]);
    let compared: Vec<u64> = plan.compared().map(|entry| entry.seq()).collect();
    assert_eq!(compared, [5, 6, 9, 10], "the answers to initialize and server/discover are not comparable");
    let mut engine = ReplayEngine::new(plan, Settings::default());
    let first = sent(&engine.start(ms(0)));
    assert_eq!((first.len(), &first[0]["id"], &first[0]["method"]), (1, &json!(0), &json!("server/discover")));
    assert_eq!(first[0]["params"][META][VERSION], "2026-07-28");
    assert_eq!(first[0]["params"][META]["io.modelcontextprotocol/clientInfo"]["name"], "c");
    assert_eq!(first[0]["params"][META]["io.modelcontextprotocol/clientCapabilities"], json!({"elicitation": {}}));
    let outputs = engine.receive(ms(1), &text(&answer(0, json!({"supportedVersions": ["2026-07-28"]}))));
    let [Output::Send(call)] = outputs.iter().filter(|it| matches!(it, Output::Send(_))).collect::<Vec<_>>()[..] else {
        panic!("{outputs:?}")
    };
    let call = String::from_utf8(call.clone()).expect("text");
    assert!(call.contains(r#""arguments":{"n":1.0}"#), "every other byte stays: {call}");
    let call: Value = serde_json::from_str(&call).expect("JSON");
    assert_eq!(
        (&call["params"][META][VERSION], &call["params"][META][LOG_LEVEL]),
        (&json!("2026-07-28"), &json!("info"))
    );
}

#[test]
fn a_modern_server_that_asks_for_input_gets_the_recorded_answer() {
    let ask_user = json!({"message": "sure?", "requestedSchema": {"type": "object"}});
    let accepted = json!({"action": "accept", "content": {"ok": true}});
    let recorded = legacy(&[
        ask(1, "tools/call", json!({"name": "t"})),
        (SERVER, json!({"jsonrpc": "2.0", "id": 9, "method": "elicitation/create", "params": ask_user})),
        (CLIENT, json!({"jsonrpc": "2.0", "id": 9, "result": accepted})),
        answer(1, json!({"content": []})),
    ]);
    let mut engine = ReplayEngine::new(for_modern(&recorded), Settings::default());
    engine.start(ms(0));
    engine.receive(ms(1), &text(&answer(0, json!({}))));
    let input = json!({"resultType": "input_required", "requestState": "sealed",
        "inputRequests": {"k": {"method": "elicitation/create", "params": ask_user}}});
    let again = sent(&engine.receive(ms(2), &text(&answer(1, input.clone())))).remove(0);
    assert_eq!((&again["method"], &again["params"]["name"]), (&json!("tools/call"), &json!("t")));
    assert_eq!(again["params"]["inputResponses"], json!({"k": accepted}));
    assert_eq!(again["params"]["requestState"], "sealed");
    assert_ne!(again["id"], 1);
    let about = json!({"io.modelcontextprotocol/serverInfo": {"name": "s", "version": "1"}});
    let last = json!({"resultType": "complete", "content": [], "_meta": about});
    let last = json!({"jsonrpc": "2.0", "id": again["id"], "result": last});
    let outputs = engine.receive(ms(3), last.to_string().as_bytes());
    assert_eq!(outputs.last(), Some(&Output::Finished));
    assert_eq!((engine.outcome().answered, engine.outcome().notes.len()), (2, 0));

    let mut folded = modern::Folded::default();
    let mut fold = |direction, message: &Value| {
        let text = message.to_string();
        folded.take(direction, text.as_bytes()).map(|kept| serde_json::from_slice::<Value>(&kept).expect("JSON"))
    };
    assert_eq!(fold(CLIENT, &ask(0, "server/discover", json!({})).1), None);
    assert_eq!(fold(SERVER, &answer(0, json!({})).1), None);
    assert_eq!(fold(CLIENT, &ask(1, "tools/call", json!({})).1), Some(ask(1, "tools/call", json!({})).1));
    assert_eq!(fold(SERVER, &answer(1, input).1), None);
    assert_eq!(fold(CLIENT, &again), None);
    assert_eq!(fold(SERVER, &last), Some(answer(1, json!({"content": []})).1));
    assert_eq!(fold(SERVER, &answer(0, json!({})).1), Some(answer(0, json!({})).1));
}

#[test]
fn input_that_was_not_recorded_or_is_asked_for_again_and_again_ends_the_request() {
    let recorded = legacy(&[ask(1, "tools/call", json!({"name": "t"})), answer(1, json!({"content": []}))]);
    let input = json!({"resultType": "input_required", "inputRequests": {"k": {"method": "roots/list"}}});
    let mut engine = ReplayEngine::new(for_modern(&recorded), Settings::default());
    engine.start(ms(0));
    engine.receive(ms(1), &text(&answer(0, json!({}))));
    let outputs = engine.receive(ms(2), &text(&answer(1, input)));
    assert_eq!(engine.outcome().notes, [Note::Unanswerable { method: "roots/list".into() }]);
    assert_eq!(outputs.last(), Some(&Output::Finished));

    let empty = json!({"resultType": "input_required", "requestState": "again"});
    let mut engine = ReplayEngine::new(for_modern(&recorded), Settings::default());
    engine.start(ms(0));
    let mut next = sent(&engine.receive(ms(1), &text(&answer(0, json!({})))));
    let mut rounds = 0;
    while let Some(request) = next.pop() {
        rounds += 1;
        let asked = json!({"jsonrpc": "2.0", "id": request["id"], "result": empty});
        next = sent(&engine.receive(ms(1 + rounds), asked.to_string().as_bytes()));
    }
    assert_eq!(rounds, 11, "the request and ten rounds");
}
