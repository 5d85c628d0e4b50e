//! Which recorded exchange answers a request: values that differ, several sessions, ids of the client, retries.

use super::*;

fn text_of(answers: &[Value]) -> Value {
    let answer = answers.last().expect("an answer");
    if answer["result"].is_object() { answer["result"]["r"].clone() } else { answer["error"]["message"].clone() }
}

const ONE: &str = "123e4567-e89b-12d3-a456-426614174000";
const TWO: &str = "00000000-aaaa-4bbb-8ccc-000000000002";

/// Reads two notes, each twice.
fn notes() -> Vec<(Direction, Value)> {
    let read =
        |id: u64, note: &str, result: &str| [call(id, "read", json!({"note": note})), answer(id, json!({"r": result}))];
    [read(1, ONE, "one"), read(2, TWO, "two"), read(3, ONE, "one again"), read(4, TWO, "two again")].concat()
}

#[test]
fn normalised_values_stand_for_the_same_ones_in_the_whole_session() {
    let library = library(Matching::Normalised, &notes());
    let mut client = Client::new(&library, Settings::default());
    let mut read = |note: &str| text_of(&client.send(&call(1, "read", json!({"note": note}))));
    let (mine, yours) = ("11111111-e89b-12d3-a456-426614174000", "22222222-e89b-12d3-a456-426614174000");
    assert_eq!(read(mine), "one");
    assert_eq!(read(mine), "one again");
    assert_eq!(read(yours), "two");
    let third = read(mine);
    let expected = format!("seq 6, with {TWO} in the place of {mine}, but one of them has another partner");
    assert!(third.as_str().is_some_and(|text| text.contains(&expected)), "{third}");
    assert_eq!(read(yours), "two again");
    // The recorded values themselves come first, in any order.
    let mut client = Client::new(&library, Settings::default());
    let mut read = |note: &str| text_of(&client.send(&call(1, "read", json!({"note": note}))));
    assert_eq!([read(TWO), read(ONE), read(TWO), read(ONE)], ["two", "one", "two again", "one again"]);
}

#[test]
fn reuse_repeats_the_answer_for_the_same_values() {
    let library = library(Matching::Normalised, &notes());
    let mut client = Client::new(&library, Settings { reuse: true, ..Settings::default() });
    let mut read = |note: &str| text_of(&client.send(&call(1, "read", json!({"note": note}))));
    for expected in [["one", "two"], ["one again", "two again"], ["one again", "two again"]] {
        assert_eq!([read(ONE), read(TWO)], expected);
    }
}

#[test]
fn a_miss_names_only_what_counts() {
    let at = |time: &str, n: u64| call(1, "log", json!({"at": time, "n": n}));
    let recorded = [at("2026-01-01T00:00:00Z", 1), answer(1, json!({}))];
    let mut client = Client::new(&library(Matching::Normalised, &recorded), Settings::default());
    let missed = text_of(&client.send(&at("2026-05-05T10:00:00Z", 2)));
    assert_eq!(
        missed,
        "mcpreel mock: never recorded: tools/call log; the closest is seq 0, which differs at /params/arguments/n: 1 was \
         recorded, not 2"
    );
}

#[test]
fn each_live_session_plays_one_of_the_recorded_sessions() {
    let session = |name: &str| {
        [
            ask(0, "initialize", json!({"protocolVersion": "2025-11-25"})),
            answer(0, json!({"protocolVersion": "2025-11-25", "r": name})),
            note(CLIENT, "notifications/initialized", json!({})),
            note(SERVER, "notifications/message", json!({"data": name})),
            call(1, "who", json!({})),
            answer(1, json!({"r": name})),
            call(2, format!("only {name}").as_str(), json!({})),
            answer(2, json!({"r": name})),
        ]
    };
    let both = [session("first"), session("second")];
    let messages: Vec<_> =
        both.iter().zip(0..).flat_map(|(all, stream)| all.iter().map(move |one| (stream, one))).collect();
    let library = library_of(LibraryBuilder::new(Matching::Exact, &[]), &messages);
    let mut reports = Report::default();
    for (number, name) in [(0, "first"), (1, "second"), (2, "first")] {
        let mut client = Client::new(&library, Settings { session: number, ..Settings::default() });
        let hello = client.send(&ask(0, "initialize", json!({"protocolVersion": "2025-11-25"})));
        assert_eq!(text_of(&hello), name);
        let noted = client.send(&note(CLIENT, "notifications/initialized", json!({})));
        assert_eq!(noted.iter().map(|note| &note["params"]["data"]).collect::<Vec<_>>(), [name]);
        assert_eq!(text_of(&client.send(&call(7, "who", json!({})))), name);
        // What only the other session contains is served all the same.
        assert_eq!(text_of(&client.send(&call(8, "only first", json!({})))), "first");
        assert_eq!(text_of(&client.send(&call(9, "only second", json!({})))), "second");
        reports.add(client.session.into_report());
    }
    assert!(!reports.has_findings(&library), "{}", reports.to_text(&library));
}

#[test]
fn requests_of_two_recorded_sessions_with_the_same_id_are_told_apart() {
    let session = |tool: &str| {
        [
            call(1, tool, json!({})),
            (SERVER, json!({"jsonrpc": "2.0", "id": 0, "method": "roots/list"})),
            (CLIENT, json!({"jsonrpc": "2.0", "id": 0, "result": {"roots": []}})),
            answer(1, json!({"r": tool})),
        ]
    };
    let both = [session("a"), session("b")];
    let messages: Vec<_> =
        both.iter().zip(0..).flat_map(|(all, stream)| all.iter().map(move |one| (stream, one))).collect();
    let library = library_of(LibraryBuilder::new(Matching::Exact, &[]), &messages);
    let mut client = Client::new(&library, Settings::default());
    let ids = [call(5, "a", json!({})), call(6, "b", json!({}))].map(|one| client.send(&one)[0]["id"].clone());
    assert!(ids[0] == 0 && ids[1].is_string(), "{ids:?}");
    let mut reply = |id: &Value| client.send(&(CLIENT, json!({"jsonrpc": "2.0", "id": id, "result": {"roots": []}})));
    assert_eq!(text_of(&reply(&ids[1])), "b");
    assert_eq!(text_of(&reply(&ids[0])), "a");
}

#[test]
fn several_reels_are_served_together_and_named_in_messages() {
    let recorded = [call(1, "a", json!({"x": 1})), answer(1, json!({"r": "one"}))];
    let (mut builder, mut texts) = (LibraryBuilder::new(Matching::Exact, &[]), HashMap::new());
    for first in [0, 2] {
        builder.begin(first);
        each_event(&[(0, &recorded[0]), (0, &recorded[1])], |event| {
            builder.take(event);
            texts.insert(first + event.header.seq as u32, event.body().to_vec());
        });
    }
    let mut client = Client::new(&in_memory(builder, texts), Settings::default());
    assert_eq!(text_of(&client.send(&call(7, "a", json!({"x": 1})))), "one");
    let missed = client.send(&call(7, "a", json!({"x": 2})));
    assert!(missed[0]["error"]["message"].as_str().is_some_and(|text| text.contains("the closest is seq 0 of reel 1")));
    assert_eq!(missed[0]["error"]["data"]["closest_reel"], 1);
    assert_eq!(client.report()["unused"], json!([{"reel": 2, "seq": 0, "method": "tools/call"}]));
}

#[test]
fn a_retry_with_the_clients_input_gets_the_answer_to_that_input() {
    let retry = |id: u64, state: &str, name: &str| {
        let input = json!({"who": {"action": "accept", "content": {"name": name}}});
        ask(id, "tools/call", json!({"name": "greet", "arguments": {}, "requestState": state, "inputResponses": input}))
    };
    let first = call(1, "greet", json!({}));
    let recorded = [
        first.clone(),
        answer(1, json!({"resultType": "input_required", "requestState": "s1", "r": "who?"})),
        retry(2, "s1", "Ada"),
        answer(2, json!({"r": "hello Ada"})),
        retry(3, "s1", "Bob"),
        answer(3, json!({"r": "hello Bob"})),
    ];
    for matching in [Matching::Exact, Matching::Normalised, Matching::Method] {
        let mut client = Client::new(&library(matching, &recorded), Settings::default());
        assert_eq!(text_of(&client.send(&first)), "who?");
        assert_eq!(text_of(&client.send(&retry(8, "s1", "Bob"))), "hello Bob", "{matching:?}");
        assert_eq!(text_of(&client.send(&retry(9, "s1", "Ada"))), "hello Ada", "{matching:?}");
        let other = text_of(&client.send(&retry(10, "s2", "Ada")));
        assert!(other.as_str().is_some_and(|text| text.contains("never recorded")), "{matching:?}: {other}");
    }
}

#[test]
fn a_disguise_makes_a_secret_and_what_stands_for_it_equal() {
    let hide = |text: &[u8]| String::from_utf8_lossy(text).replace("secret", "x").replace("stand-in", "x").into_bytes();
    let builder = LibraryBuilder::new(Matching::Exact, &[]).disguised(Arc::new(hide));
    let recorded = [call(1, "login", json!({"key": "stand-in"})), answer(1, json!({"r": "welcome"}))];
    let messages: Vec<_> = recorded.iter().map(|message| (0, message)).collect();
    let mut client = Client::new(&library_of(builder, &messages), Settings::default());
    assert_eq!(text_of(&client.send(&call(1, "login", json!({"key": "secret"})))), "welcome");
    let missed = text_of(&client.send(&call(1, "login", json!({"key": "secret", "n": 1}))));
    assert!(
        missed.as_str().is_some_and(|text| text.contains("1 was not recorded") && !text.contains("secret")),
        "{missed}"
    );
}
