//! The five proposals: what a recorded server sent comes at its moment, and a recorded host is a partner with its own
//! timing. Everything in virtual time.

use super::*;
use crate::replay;

/// When a message came, in milliseconds, and what it was.
type Moment = (u128, Direction, Value);

/// Plays the recorded client against the recorded server, both with their timing, and returns what they sent.
fn play(messages: &[(Direction, Value)]) -> Vec<Moment> {
    let events: Vec<_> = messages.iter().map(|message| (0, message)).collect();
    let mut conversations = replay::Conversations::default();
    each_event(&events, |event| conversations.take(event));
    let conversation = conversations.finish().remove(0);
    let plan = replay::Plan::new(conversation, &replay::Selection::default());
    let mut host = replay::ReplayEngine::new(plan, replay::Settings { speed: Some(1.0), ..Default::default() });
    let library = library(Matching::Exact, messages);
    let mut server = MockSession::new(Arc::clone(&library), Settings { speed: Some(1.0), ..Settings::default() });
    let (mut now, mut moments) = (ms(0), Vec::new());
    let (mut from_host, mut from_server) = (host.start(now), server.start(now));
    loop {
        let sent = |output: &replay::Output| match output {
            replay::Output::Send(text) => Some(text.clone()),
            _ => None,
        };
        let asked: Vec<Vec<u8>> = from_host.iter().filter_map(sent).collect();
        let is_over = from_host.contains(&replay::Output::Finished);
        let said: Vec<Vec<u8>> = from_server
            .into_iter()
            .map(|output| match output {
                Output::Send(text) => text,
                other => panic!("{other:?}"),
            })
            .collect();
        let moment =
            |direction| move |text: &Vec<u8>| (now.as_millis(), direction, serde_json::from_slice(text).expect("JSON"));
        moments.extend(asked.iter().map(moment(CLIENT)));
        moments.extend(said.iter().map(moment(SERVER)));
        if is_over {
            return moments;
        }
        from_host = said.iter().flat_map(|text| host.receive(now, text)).collect();
        from_server = asked.iter().flat_map(|text| server.receive(now, text)).collect();
        if from_host.is_empty() && from_server.is_empty() {
            let next = [host.next_timeout(), server.next_timeout()];
            now = next.into_iter().flatten().min().expect("something is due");
            (from_host, from_server) = (host.handle_timeout(now), server.handle_timeout(now));
        }
    }
}

/// What was recorded, with its times.
fn recorded(messages: &[(Direction, Value)]) -> Vec<Moment> {
    messages.iter().zip(0..).map(|((direction, message), at)| (at * 10, *direction, message.clone())).collect()
}

fn request(direction: Direction, id: Value, method: &str, params: Value) -> (Direction, Value) {
    (direction, json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
}

fn result(direction: Direction, id: impl Into<Value>, result: Value) -> (Direction, Value) {
    (direction, json!({"jsonrpc": "2.0", "id": id.into(), "result": result}))
}

fn hello() -> [(Direction, Value); 3] {
    [
        ask(0, "initialize", json!({"protocolVersion": "2025-11-25", "capabilities": {}})),
        answer(0, json!({"protocolVersion": "2025-11-25", "capabilities": {}})),
        note(CLIENT, "notifications/initialized", json!({})),
    ]
}

fn assert_played(rest: &[(Direction, Value)]) {
    let messages = [&hello(), rest].concat();
    let (played, recorded) = (play(&messages), recorded(&messages));
    for (played, recorded) in played.iter().zip(&recorded) {
        assert_eq!(played, recorded);
    }
    assert_eq!(played.len(), recorded.len());
}

#[test]
fn reminders_come_at_their_moments() {
    let reminder =
        |id: &str| note(SERVER, "notifications/reminder", json!({"reminder": {"id": id, "body": "checked"}}));
    assert_played(&[
        reminder("r-1"),
        call(1, "build", json!({})),
        reminder("r-2"),
        answer(1, json!({"content": []})),
        reminder("r-3"),
        call(2, "test", json!({})),
        answer(2, json!({"content": []})),
    ]);
}

#[test]
fn context_for_a_users_message_comes_as_a_response_or_as_a_notification() {
    let says = |id: u64, message: &str, text: &str| {
        ask(id, "conversation/userMessage", json!({"messageId": message, "content": text}))
    };
    let context = |message: &str| json!({"messageId": message, "context": "One table."});
    assert_played(&[
        says(1, "m-1", "which tables?"),
        answer(1, context("m-1")),
        says(2, "m-2", "and views?"),
        answer(2, json!({})),
        note(SERVER, "conversation/context", context("m-2")),
        call(3, "tables", json!({})),
        answer(3, json!({"content": []})),
    ]);
}

#[test]
fn context_is_matched_by_the_users_message_and_carries_the_live_id() {
    let says = |id: u64, message: &str, text: &str| {
        ask(id, "conversation/userMessage", json!({"messageId": message, "content": text}))
    };
    let recorded = [
        says(1, "m-1", "which tables?"),
        answer(1, json!({"messageId": "m-1", "context": "One."})),
        says(2, "m-2", "and views?"),
        answer(2, json!({})),
        note(
            SERVER,
            "conversation/context",
            json!({"messageId": "m-2", "context": "Two.", "structuredContext": {"seen": "m-2"}}),
        ),
    ];
    let mut client = Client::new(&library(Matching::Exact, &recorded), Settings::default());
    let views = client.send(&says(7, "live-b", "and views?"));
    let expected = json!({"messageId": "live-b", "context": "Two.", "structuredContext": {"seen": "m-2"}});
    assert_eq!((&views[0]["result"], &views[1]["params"]), (&json!({}), &expected));
    let tables = client.send(&says(8, "live-a", "which tables?"));
    assert_eq!(tables[0]["result"], json!({"messageId": "live-a", "context": "One."}));
    let other = client.send(&says(9, "live-c", "which indexes?"));
    assert_eq!(other[0]["error"]["data"]["kind"], "never-recorded");
}

#[test]
fn hooks_call_tools_whose_answers_are_found_by_their_arguments() {
    let hook = |id: u64, tool: &str| call(id, "on_event", json!({"event": "pre_tool_use", "tool_name": tool}));
    let recorded = [
        hook(1, "Bash"),
        answer(1, json!({"structuredContent": {"context": "Look."}})),
        hook(2, "Edit"),
        answer(2, json!({"structuredContent": {"context": "Save."}})),
    ];
    assert_played(&recorded);
    let mut client = Client::new(&library(Matching::Exact, &recorded), Settings::default());
    let context = |answers: Vec<Value>| answers[0]["result"]["structuredContent"]["context"].clone();
    assert_eq!([context(client.send(&hook(8, "Edit"))), context(client.send(&hook(9, "Bash")))], ["Save.", "Look."]);
}

/// The hook before an inference.
fn before(id: u64, inference: &str, conversation: &str, text: &str) -> (Direction, Value) {
    let params = json!({"inferenceId": inference, "conversationId": conversation, "turnIndex": 0, "userMessage": text});
    ask(id, "context/beforeInference", params)
}

fn injections(text: &str) -> Value {
    json!({"featureSet": "memory", "contextInjections": [{"namespace": "memory", "content": text, "position": "system"}]})
}

#[test]
fn pushes_inferences_and_chunks_of_mcpl_keep_their_timing_in_both_directions() {
    let chunk =
        |n: u64, text: &str| note(CLIENT, "inference/chunk", json!({"requestId": "s-2", "index": n, "delta": text}));
    let push = json!({"featureSet": "memory", "eventId": "e-1", "payload": {"content": []}});
    let infer = json!({"featureSet": "memory", "messages": [{"role": "user", "content": "Hello?"}], "stream": true});
    assert_played(&[
        request(SERVER, json!("s-1"), "push/event", push),
        result(CLIENT, "s-1", json!({"accepted": true, "inferenceId": "i-0"})),
        before(1, "i-1", "c-1", "what now?"),
        answer(1, injections("Tuesday")),
        call(2, "consolidate", json!({})),
        request(SERVER, json!("s-2"), "inference/request", infer),
        chunk(0, "Hel"),
        chunk(1, "lo."),
        result(CLIENT, "s-2", json!({"content": "Hello.", "model": "m"})),
        answer(2, json!({"content": []})),
    ]);
}

#[test]
fn messages_of_channels_and_the_pieces_of_their_answers_keep_their_timing_in_both_directions() {
    let post = |id: &str| json!({"channelId": "room", "messageId": id, "author": {"id": "u"}, "content": []});
    let delivered = |id: &str| json!({"results": [{"messageId": id, "accepted": true}]});
    let piece = |n: u64, text: &str| {
        let params = json!({"inferenceId": "i-1", "channelId": "room", "index": n, "delta": text});
        note(CLIENT, "channels/outgoing/chunk", params)
    };
    let whole = json!({"inferenceId": "i-1", "channelId": "room", "content": [{"type": "text", "text": "Hello."}]});
    assert_played(&[
        request(SERVER, json!("s-1"), "channels/register", json!({"channels": [{"id": "room", "type": "chat"}]})),
        result(CLIENT, "s-1", json!({})),
        request(SERVER, json!("s-2"), "channels/incoming", json!({"messages": [post("m-1")]})),
        result(CLIENT, "s-2", delivered("m-1")),
        before(1, "i-1", "c-1", "hello?"),
        answer(1, injections("Tuesday")),
        piece(0, "Hel"),
        piece(1, "lo."),
        note(CLIENT, "channels/outgoing/complete", whole),
        ask(2, "context/afterInference", json!({"inferenceId": "i-1", "conversationId": "c-1", "turnIndex": 0})),
        request(SERVER, json!("s-3"), "channels/incoming", json!({"messages": [post("m-2")]})),
        answer(2, json!({})),
        result(CLIENT, "s-3", delivered("m-2")),
    ]);
}

#[test]
fn hooks_of_mcpl_are_matched_by_the_message_and_not_by_the_hosts_ids() {
    let recorded = [
        before(1, "i-1", "c-1", "what now?"),
        answer(1, injections("Tuesday")),
        before(2, "i-2", "c-1", "and then?"),
        answer(2, injections("Wednesday")),
    ];
    let mut client = Client::new(&library(Matching::Exact, &recorded), Settings::default());
    let asked = client.send(&before(5, "live-1", "live", "and then?"));
    assert_eq!(asked[0]["result"], injections("Wednesday"));
    let asked = client.send(&before(6, "live-2", "live", "what now?"));
    assert_eq!(asked[0]["result"], injections("Tuesday"));
}

#[test]
fn a_live_host_may_stream_in_more_pieces_than_the_recorded_one() {
    let chunk = |n: u64| note(CLIENT, "inference/chunk", json!({"requestId": "s-2", "index": n, "delta": "x"}));
    let recorded = [
        call(2, "consolidate", json!({})),
        request(SERVER, json!("s-2"), "inference/request", json!({"stream": true})),
        chunk(0),
        note(SERVER, "notifications/message", json!({"data": "reading"})),
        result(CLIENT, "s-2", json!({"content": "x"})),
        answer(2, json!({"content": []})),
    ];
    let mut client = Client::new(&library(Matching::Exact, &recorded), Settings::default());
    let methods = |all: Vec<Value>| {
        all.iter().map(|one| one["method"].as_str().unwrap_or("result").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(methods(client.send(&recorded[0])), ["inference/request", "notifications/message"]);
    for n in 0..3 {
        assert_eq!(methods(client.send(&chunk(n))), [""; 0]);
    }
    assert_eq!(methods(client.send(&recorded[4])), ["result"]);
}

#[test]
fn events_of_mcpe_come_at_their_moments() {
    let event = |id: &str| {
        note(SERVER, "events/event", json!({"subscriptionId": "sub-1", "event": {"id": id, "type": "github.push"}}))
    };
    assert_played(&[
        ask(1, "events/subscribe", json!({"filter": {"eventTypes": ["github.*"]}})),
        answer(1, json!({"subscriptionId": "sub-1"})),
        event("e-1"),
        event("e-2"),
        ask(2, "events/unsubscribe", json!({"subscriptionId": "sub-1"})),
        answer(2, json!({"success": true})),
    ]);
}
