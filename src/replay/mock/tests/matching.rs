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
    assert_eq!(
        client.report()["unused"],
        json!([{"reel": 2, "seq": 0, "method": "tools/call", "message": "tools/call a"}])
    );
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

/// The event with which a session with a server in this folder begins.
fn opened(builder: &mut LibraryBuilder, folder: &str) {
    let mut payload = Vec::new();
    ciborium::into_writer(&json!({"transport": "stdio", "command": ["s"], "cwd": folder}), &mut payload).expect("CBOR");
    let mut writer = ReelWriter::create(Vec::new(), &Default::default(), WriterOptions::default()).expect("begins");
    let (kind, flags, framing) = (EventKind::StreamOpened, Flags::default(), Framing::Whole);
    let event = NewEvent { time: 0, stream: 0, exchange: 0, kind, flags, framing, payload: &payload };
    writer.append(event).expect("taken");
    let (reel, _) = writer.finish().expect("finished");
    let mut reader = ReelReader::from_stream(Box::new(Cursor::new(reel))).expect("a reel").with_payloads();
    while let Some(item) = reader.next().expect("readable") {
        let Item::Block(block) = item else { panic!("damage") };
        block.events().for_each(|event| builder.take(&event));
    }
}

fn read(id: u64, path: &str) -> (Direction, Value) {
    call(id, "read", json!({"path": path}))
}

#[test]
fn the_working_folder_may_be_another_one_if_values_are_normalised() {
    let recorded = [
        read(1, "/srv/recorded/a.txt"),
        answer(1, json!({"r": "a of /srv/recorded"})),
        read(2, "/srv/other/b.txt"),
        answer(2, json!({"r": "b"})),
        read(3, "/srv/recorded/c.txt"),
        answer(3, json!({"r": "c"})),
    ];
    let serve = |matching: Matching, folder: &str| {
        let mut builder = LibraryBuilder::new(matching, &[]);
        opened(&mut builder, "/srv/recorded");
        let messages: Vec<_> = recorded.iter().map(|message| (0, message)).collect();
        let library = library_of(builder, &messages);
        Client::new(&library, Settings { folder: Some(folder.to_owned()), ..Settings::default() })
    };
    let text = |client: &mut Client, path: &str| text_of(&client.send(&read(9, path)));
    let is_miss = |text: Value| text.as_str().is_some_and(|text| text.contains("never recorded"));
    let mut client = serve(Matching::Normalised, "/builds/live");
    // Answers stay as they are.
    assert_eq!(text(&mut client, "/builds/live/a.txt"), "a of /srv/recorded");
    assert_eq!(text(&mut client, "/srv/other/b.txt"), "b", "what is in no folder is compared by value");
    assert!(is_miss(text(&mut client, "/builds/elsewhere/c.txt")));
    assert!(is_miss(text(&mut client, "/srv/recorded/c.txt")), "the recorded folder has another partner");
    assert_eq!(text(&mut client, "/builds/live/c.txt"), "c");
    // A client that works where the recorded one did, wherever the mock runs.
    let mut client = serve(Matching::Normalised, "/srv/other");
    assert_eq!(text(&mut client, "/srv/recorded/a.txt"), "a of /srv/recorded");
    assert_eq!(text(&mut client, "/srv/other/b.txt"), "b");
    assert!(is_miss(text(&mut serve(Matching::Exact, "/builds/live"), "/builds/live/a.txt")));
}

#[test]
fn the_roots_of_the_client_may_be_others_if_values_are_normalised() {
    let roots = |id: &str, folder: &str| {
        (CLIENT, json!({"jsonrpc": "2.0", "id": id, "result": {"roots": [{"uri": format!("file://{folder}")}]}}))
    };
    let recorded = [
        note(CLIENT, "notifications/initialized", json!({})),
        (SERVER, json!({"jsonrpc": "2.0", "id": "r", "method": "roots/list"})),
        roots("r", "/home/ada/project"),
        read(1, "/home/ada/project/a.txt"),
        answer(1, json!({"r": "a"})),
    ];
    let mut client = Client::new(&library(Matching::Normalised, &recorded), Settings::default());
    let asked = client.send(&recorded[0]);
    assert_eq!(asked[0]["method"], "roots/list");
    client.send(&roots("r", "/home/bob/copy"));
    assert_eq!(text_of(&client.send(&read(7, "/home/bob/copy/a.txt"))), "a");
}

#[test]
fn texts_are_replaced_in_requests_and_answers() {
    let recorded =
        [read(1, "/srv/recorded/a.txt"), answer(1, json!({"r": "a of /srv/recorded, not of /srv/recorded-2"}))];
    let mut maps = crate::replay::Substitutions::default();
    maps.add("/srv/recorded", "/builds/live");
    let messages: Vec<_> = recorded.iter().map(|message| (0, message)).collect();
    let library = library_of(LibraryBuilder::new(Matching::Exact, &[]).mapped(maps), &messages);
    let mut client = Client::new(&library, Settings::default());
    let missed = text_of(&client.send(&read(7, "/srv/recorded/a.txt")));
    assert!(missed.as_str().is_some_and(|text| text.contains("\"/builds/live/a.txt\" was recorded")), "{missed}");
    let found = text_of(&client.send(&read(7, "/builds/live/a.txt")));
    assert_eq!(found, "a of /builds/live, not of /srv/recorded-2");
}
