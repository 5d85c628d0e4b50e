use super::*;
use crate::protocol::Revision;

fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

fn client(era: EraChoice) -> ClientEngine {
    ClientEngine::new(config(era))
}

fn config(era: EraChoice) -> ClientConfig {
    ClientConfig {
        era,
        roots: vec![Root { uri: "file:///work".to_owned(), name: Some("work".to_owned()) }],
        ..ClientConfig::new("mcpreel", "0")
    }
}

fn sent(outputs: &[Output]) -> Vec<String> {
    let sent = outputs.iter().filter_map(|output| match output {
        Output::Send(bytes) => Some(String::from_utf8(bytes.clone()).expect("UTF-8")),
        _ => None,
    });
    sent.collect()
}

fn sent_value(outputs: &[Output]) -> Value {
    let sent = sent(outputs);
    assert_eq!(sent.len(), 1, "{outputs:?}");
    serde_json::from_str(&sent[0]).expect("JSON")
}

fn handshake(outputs: &[Output]) -> &Handshake {
    let found = outputs.iter().find_map(|output| match output {
        Output::Ready(handshake) => Some(handshake),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("not ready: {outputs:?}"))
}

fn failure(outputs: &[Output]) -> (Option<RequestHandle>, String) {
    let found = outputs.iter().rev().find_map(|output| match output {
        Output::Failed { handle, reason } => Some((*handle, reason.to_string())),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("no failure: {outputs:?}"))
}

#[test]
fn a_response_may_write_the_id_as_another_form_of_the_same_number() {
    let mut client = legacy();
    let (handle, _) = client.request(ms(2), "ping", Value::Null);
    let outputs = client.receive(ms(3), br#"{"jsonrpc":"2.0","id":2.0,"result":{}}"#);
    assert!(matches!(&outputs[..], [Output::Answered { handle: answered, .. }] if *answered == handle), "{outputs:?}");
}

const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

fn initialize_answer(id: u32, version: &str) -> String {
    let result = serde_json::json!({
        "protocolVersion": version,
        "capabilities": {"hooks": {"x": 1}},
        "serverInfo": {"name": "s", "version": "1"},
        "instructions": "be kind",
    });
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

const DISCOVERED: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"#,
    r#""capabilities":{"tools":{}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"m","version":"2"}}}}"#
);

fn legacy() -> ClientEngine {
    let mut client = client(EraChoice::Legacy);
    client.start(ms(0));
    handshake(&client.receive(ms(1), initialize_answer(1, "2025-06-18").as_bytes()));
    client
}

fn modern() -> ClientEngine {
    let mut client = client(EraChoice::Auto);
    client.start(ms(0));
    handshake(&client.receive(ms(1), DISCOVERED.as_bytes()));
    client
}

#[test]
fn x10_initialize_then_initialized_then_the_rest() {
    let mut client = client(EraChoice::Legacy);
    let (early, out) = client.request(ms(0), "tools/list", Params::Absent);
    assert!(out.is_empty() && client.notify(ms(0), "n/x", Params::Absent).is_empty());
    let asked = sent_value(&client.start(ms(0)));
    assert_eq!(asked["method"], "initialize");
    assert_eq!(asked["id"], 1);
    assert_eq!(asked["params"]["protocolVersion"], Revision::NEWEST_LEGACY.as_str());
    assert_eq!(asked["params"]["capabilities"], serde_json::json!({"roots": {}}));
    assert_eq!(asked["params"]["clientInfo"], serde_json::json!({"name": "mcpreel", "version": "0"}));
    let opened = client.receive(ms(5), initialize_answer(1, "2025-06-18").as_bytes());
    assert_eq!(
        sent(&opened),
        [INITIALIZED, r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#, r#"{"jsonrpc":"2.0","method":"n/x"}"#]
    );
    let agreed = handshake(&opened);
    assert_eq!((agreed.era, agreed.revision), (Era::Legacy, Some(Revision::V2025_06_18)));
    assert_eq!(agreed.server_capabilities["hooks"]["x"], 1);
    assert_eq!(agreed.server_info["name"], "s");
    assert_eq!(agreed.instructions.as_deref(), Some("be kind"));
    let answer = br#"{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}"#;
    let expected = Output::Answered {
        handle: early,
        method: "tools/list".to_owned(),
        message: answer.to_vec(),
        latency: ms(7),
        late: false,
    };
    assert_eq!(client.receive(ms(12), answer), [expected]);
}

#[test]
fn x11_any_other_error_or_answer_leads_to_initialize() {
    for answer in [
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid request parameters","data":""}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"not initialized"}}"#,
    ] {
        let mut client = client(EraChoice::Auto);
        let probe = sent_value(&client.start(ms(0)));
        assert_eq!(probe["method"], "server/discover");
        assert_eq!(probe["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
        let asked = sent_value(&client.receive(ms(1), answer.as_bytes()));
        assert_eq!((asked["method"].as_str(), asked["id"].as_i64()), (Some("initialize"), Some(2)));
        assert_eq!(asked["params"]["protocolVersion"], "2025-11-25");
        assert!(asked["params"].get("_meta").is_none());
        let opened = client.receive(ms(2), initialize_answer(2, "2024-11-05").as_bytes());
        assert_eq!(handshake(&opened).version_text, "2024-11-05");
    }
}

#[test]
fn x11_a_silent_server_is_asked_with_initialize_and_its_late_answer_is_not_mixed_up() {
    let mut client = client(EraChoice::Auto);
    client.start(ms(0));
    assert_eq!(client.next_timeout(), Some(ms(2000)));
    assert!(client.handle_timeout(ms(1999)).is_empty());
    client.handle_timeout(ms(2000));
    let asked = client.handle_timeout(ms(20_000));
    assert_eq!(sent_value(&asked)["method"], "initialize");
    let late = client.receive(ms(20_100), br#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}"#);
    assert!(matches!(&late[..], [Output::Answered { method, late: true, .. }] if method == "server/discover"));
    handshake(&client.receive(ms(20_200), initialize_answer(2, "2025-11-25").as_bytes()));
}

#[test]
fn x11_a_slow_modern_server_is_still_found() {
    let mut slow = client(EraChoice::Auto);
    slow.start(ms(0));
    slow.handle_timeout(ms(2000));
    slow.handle_timeout(ms(20_000));
    slow.receive(ms(20_100), DISCOVERED.as_bytes());
    let refusal = br#"{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"Method not found"}}"#;
    assert_eq!(handshake(&slow.receive(ms(20_200), refusal)).era, Era::Modern);

    let mut mute = client(EraChoice::Auto);
    mute.start(ms(0));
    mute.handle_timeout(ms(2000));
    mute.handle_timeout(ms(20_000));
    let refusal = br#"{"jsonrpc":"2.0","id":2,"error":{"code":-32022,"message":"v",
        "data":{"supported":["2026-07-28"],"requested":"2025-11-25"}}}"#;
    let again = sent_value(&mute.receive(ms(20_200), refusal));
    assert_eq!((again["method"].as_str(), again["id"].as_i64()), (Some("server/discover"), Some(3)));
    assert_eq!(handshake(&mute.receive(ms(20_300), DISCOVERED.replace(":1,", ":3,").as_bytes())).era, Era::Modern);
}

#[test]
fn x11_with_the_handshake_first_a_server_that_refuses_it_is_asked_for_the_modern_era() {
    let refusals = [
        r#"{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28"]}}"#,
        r#"{"code":-32601,"message":"Method not found"}"#,
        r#"{"code":-32602,"message":"_meta is missing"}"#,
    ];
    for refusal in refusals {
        let mut client = client(EraChoice::Handshake);
        assert_eq!(sent_value(&client.start(ms(0)))["method"], "initialize");
        let probed = client.receive(ms(1), format!(r#"{{"jsonrpc":"2.0","id":1,"error":{refusal}}}"#).as_bytes());
        assert_eq!(sent_value(&probed)["method"], "server/discover", "{refusal}");
        let opened = client.receive(ms(2), DISCOVERED.replace(r#""id":1"#, r#""id":2"#).as_bytes());
        assert_eq!((handshake(&opened).era, handshake(&opened).notes.len()), (Era::Modern, 1));
    }
    let mut lost = client(EraChoice::Handshake);
    lost.start(ms(0));
    assert_eq!(sent_value(&lost.undelivered(ms(1), b"1", "HTTP 400", None))["method"], "server/discover");
    let opened = lost.receive(ms(2), DISCOVERED.replace(r#""id":1"#, r#""id":2"#).as_bytes());
    assert_eq!(handshake(&opened).era, Era::Modern);
}

#[test]
fn x11_with_the_handshake_first_a_legacy_server_gets_no_other_message() {
    let mut accepted = client(EraChoice::Handshake);
    assert_eq!(sent_value(&accepted.start(ms(0)))["method"], "initialize");
    let opened = accepted.receive(ms(1), initialize_answer(1, "2025-11-25").as_bytes());
    assert_eq!((handshake(&opened).era, sent(&opened)), (Era::Legacy, vec![INITIALIZED.to_owned()]));
    // The first failure is reported, however the probe ends.
    let refused = || {
        let mut client = client(EraChoice::Handshake);
        client.start(ms(0));
        client.receive(ms(1), br#"{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"who are you?"}}"#);
        client
    };
    let ends: [fn(&mut ClientEngine) -> Vec<Output>; 4] = [
        |it| it.receive(ms(2), br#"{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"no"}}"#),
        |it| it.undelivered(ms(2), b"2", "HTTP 500", None),
        |it| it.handle_timeout(ms(60_000)),
        |it| it.closed(ms(2)),
    ];
    for end in ends {
        let out = end(&mut refused());
        assert!(failure(&out).1.contains("who are you?"), "{out:?}");
        assert!(sent(&out).is_empty(), "{out:?}");
    }
    let wanted = Some("2026-07-28".to_owned());
    let config = ClientConfig { protocol_version: wanted, ..config(EraChoice::Handshake) };
    assert_eq!(sent_value(&ClientEngine::new(config).start(ms(0)))["method"], "server/discover");
}

#[test]
fn x11_a_modern_error_names_the_version_to_use() {
    let mut client = ClientEngine::new(ClientConfig {
        protocol_version: Some("1900-01-01".to_owned()),
        ..config(EraChoice::Modern)
    });
    assert!(sent(&client.start(ms(0)))[0].contains("1900-01-01"));
    let refusal = br#"{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"Unsupported protocol version",
        "data":{"supported":["2026-07-28"],"requested":"1900-01-01"}}}"#;
    let again = client.receive(ms(1), refusal);
    assert!(sent(&again)[0].contains(r#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#));
    let opened = client.receive(ms(2), DISCOVERED.replace(r#""id":1"#, r#""id":2"#).as_bytes());
    assert_eq!(handshake(&opened).version_text, "2026-07-28");
    assert_eq!(handshake(&opened).server_info["name"], "m");
}

#[test]
fn x11_an_unknown_version_is_refused_unless_it_was_asked_for() {
    let mut strict = client(EraChoice::Legacy);
    strict.start(ms(0));
    let (handle, reason) = failure(&strict.receive(ms(1), initialize_answer(1, "2031-01-01").as_bytes()));
    assert_eq!(handle, None);
    assert!(reason.contains("2031-01-01"), "{reason}");
    let (refused, out) = strict.request(ms(2), "ping", Params::Absent);
    assert_eq!(failure(&out).0, Some(refused));

    let wanted = Some("2031-01-01".to_owned());
    let mut poke = ClientEngine::new(ClientConfig { protocol_version: wanted, ..config(EraChoice::Legacy) });
    poke.start(ms(0));
    assert_eq!(handshake(&poke.receive(ms(1), initialize_answer(1, "2031-01-01").as_bytes())).revision, None);
}

#[test]
fn x3_initialize_without_answer_fails_and_is_not_cancelled() {
    let mut client = client(EraChoice::Legacy);
    client.start(ms(0));
    let over = client.handle_timeout(ms(30_000));
    assert!(sent(&over).is_empty());
    assert!(failure(&over).1.contains("initialize"));
}

#[test]
fn x7_raw_params_cross_byte_for_byte_in_the_legacy_era() {
    let mut client = legacy();
    let raw = br#"{ "n":1.000e400, "t":"\u0041", "t":2 }"#;
    let (_, out) = client.request(ms(2), "odd\"method", Params::Raw(raw.to_vec()));
    let expected = r#"{"jsonrpc":"2.0","id":2,"method":"odd\"method","params":{ "n":1.000e400, "t":"\u0041", "t":2 }}"#;
    assert_eq!(sent(&out), [expected]);
}

#[test]
fn x3_a_timeout_cancels_and_the_late_answer_is_named() {
    let mut client = legacy();
    let (slow, _) = client.request_with_deadline(ms(10), "a", Params::Absent, ms(50));
    let (other, _) = client.request_with_deadline(ms(20), "b", Params::Absent, ms(500));
    assert_eq!(client.next_timeout(), Some(ms(60)));
    let over = client.handle_timeout(ms(60));
    let cancelled = sent_value(&over);
    assert_eq!(cancelled["method"], "notifications/cancelled");
    assert_eq!(cancelled["params"]["requestId"], 2);
    assert_eq!(over[1], Output::TimedOut { handle: slow, method: "a".to_owned(), after: ms(50) });
    assert_eq!(client.next_timeout(), Some(ms(520)));
    let late = client.receive(ms(90), br#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
    assert!(matches!(&late[..], [Output::Answered { handle, late: true, latency, .. }]
            if *handle == slow && *latency == ms(80)));
    let timely = client.receive(ms(91), br#"{"jsonrpc":"2.0","id":3,"result":{}}"#);
    assert!(matches!(&timely[..], [Output::Answered { handle, late: false, .. }] if *handle == other));
    let again = client.receive(ms(92), br#"{"jsonrpc":"2.0","id":3,"result":{}}"#);
    assert!(matches!(&again[..], [Output::Stray { .. }]));
    let text_id = client.receive(ms(93), br#"{"jsonrpc":"2.0","id":"3","result":{}}"#);
    assert!(matches!(&text_id[..], [Output::Stray { .. }]));
}

#[test]
fn x1_requests_of_the_server_are_answered_in_their_own_id_space() {
    let mut client = legacy();
    client.request(ms(2), "tools/list", Params::Absent);
    let answer = |client: &mut ClientEngine, text: &str| sent(&client.receive(ms(3), text.as_bytes()))[0].clone();
    assert_eq!(
        answer(&mut client, r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#),
        r#"{"jsonrpc":"2.0","id":2,"result":{}}"#
    );
    assert_eq!(
        answer(&mut client, r#"{"jsonrpc":"2.0","id":"r\u0031","method":"roots/list"}"#),
        r#"{"jsonrpc":"2.0","id":"r\u0031","result":{"roots":[{"uri":"file:///work","name":"work"}]}}"#
    );
    for method in ["sampling/createMessage", "elicitation/create", "push/event"] {
        let refused = answer(&mut client, &format!(r#"{{"jsonrpc":"2.0","id":0,"method":"{method}"}}"#));
        assert!(refused.starts_with(r#"{"jsonrpc":"2.0","id":0,"error":{"code":-32601,"message":""#), "{refused}");
    }
    for id in ["null", "{}", "true", "1.5"] {
        let refused = answer(&mut client, &format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
        assert!(refused.starts_with(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"#), "{refused}");
    }
}

#[test]
fn a_batch_of_very_many_messages_is_passed_over() {
    let mut client = legacy();
    let outputs = |client: &mut ClientEngine, text: &str| client.receive(ms(3), text.as_bytes());
    let batch = |count: usize| format!("[{}]", vec!["0"; count].join(","));
    assert_eq!(outputs(&mut client, &batch(MAX_BATCH + 1)).len(), 1);
    assert_eq!(outputs(&mut client, &batch(3)).len(), 3);
}

#[test]
fn x6_x8_x9_other_traffic_is_reported_and_harms_nothing() {
    let mut client = legacy();
    let outputs = |client: &mut ClientEngine, text: &str| client.receive(ms(3), text.as_bytes());
    assert!(matches!(&outputs(&mut client, r#"{"method":"notifications/odd"}"#)[..], [Output::Notification { .. }]));
    for noise in ["[EventScheduler] Started", "{\"jsonrpc\":", "17"] {
        assert!(matches!(&outputs(&mut client, noise)[..], [Output::Noise { .. }]), "{noise}");
    }
    assert!(outputs(&mut client, " \r").is_empty());
    let batch = r#"[{"jsonrpc":"2.0","method":"n"},{"jsonrpc":"2.0","id":7,"method":"ping"}]"#;
    assert_eq!(outputs(&mut client, batch).len(), 3);
}

#[test]
fn requests_left_to_the_caller_are_not_answered() {
    let mut client = legacy();
    client.leave("x/own");
    let out = client.receive(ms(1), br#"{"jsonrpc":"2.0","id":"q","method":"x/own"}"#);
    assert!(matches!(&out[..], [Output::ServerRequest { answered_with: None, .. }]));
    assert_eq!(
        sent(&client.respond(br#""q""#, &Ok(Value::Bool(true)))),
        [r#"{"jsonrpc":"2.0","id":"q","result":true}"#]
    );
}

#[test]
fn x11_every_modern_request_carries_version_and_capabilities() {
    let mut client = modern();
    let (_, out) = client.request(ms(2), "tools/call", serde_json::json!({"name": "echo"}));
    assert_eq!(
        sent(&out),
        [concat!(
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"_meta":{"#,
            r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
            r#""io.modelcontextprotocol/clientInfo":{"name":"mcpreel","version":"0"},"#,
            r#""io.modelcontextprotocol/clientCapabilities":{"roots":{}}},"name":"echo"}}"#
        )]
    );
    let out = client.receive(ms(3), br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    assert!(matches!(&out[..], [Output::ServerRequest { answered_with: None, .. }]));
}

#[test]
fn x11_input_required_for_roots_is_given_by_asking_again() {
    let mut client = modern();
    let (handle, _) = client.request(ms(2), "tools/call", Params::Raw(br#"{"name":"ask","n":1.0}"#.to_vec()));
    let wanted = br#"{"jsonrpc":"2.0","id":2,"result":{"resultType":"input_required",
        "inputRequests":{"k":{"method":"roots/list"}},"requestState":"opaque"}}"#;
    let out = client.receive(ms(3), wanted);
    assert!(
        matches!(&out[0], Output::ServerRequest { method, answered_with: Some(Ok(_)), .. } if method == "roots/list")
    );
    let again = sent_value(&out);
    assert_eq!((again["id"].as_i64(), again["method"].as_str()), (Some(3), Some("tools/call")));
    assert_eq!(again["params"]["inputResponses"]["k"]["roots"][0]["uri"], "file:///work");
    assert_eq!(again["params"]["requestState"], "opaque");
    assert!(sent(&out)[0].contains(r#""name":"ask","n":1.0}"#));
    let done = client.receive(ms(9), br#"{"jsonrpc":"2.0","id":3,"result":{"resultType":"complete","content":[]}}"#);
    assert!(matches!(&done[..], [Output::Answered { handle: answered, latency, .. }]
            if *answered == handle && *latency == ms(7)));
}

#[test]
fn x11_other_input_ends_the_request_and_is_named() {
    let mut client = modern();
    let (handle, _) = client.request(ms(2), "tools/call", Params::Absent);
    let wanted = br#"{"jsonrpc":"2.0","id":2,"result":{"resultType":"input_required",
        "inputRequests":{"a":{"method":"roots/list"},"b":{"method":"elicitation/create","params":{}}}}}"#;
    let (failed, reason) = failure(&client.receive(ms(3), wanted));
    assert_eq!(failed, Some(handle));
    assert!(reason.contains("elicitation/create") && reason.contains("tools/call"), "{reason}");
    assert!(client.is_ready());
}

#[test]
fn x11_a_server_that_asks_forever_is_given_up() {
    let mut client = modern();
    let (handle, _) = client.request(ms(2), "tools/call", Params::Absent);
    for id in 2..20 {
        let wanted = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"input_required","requestState":"{id}"}}}}"#
        );
        let out = client.receive(ms(3), wanted.as_bytes());
        if sent(&out).is_empty() {
            assert_eq!(failure(&out).0, Some(handle));
            assert_eq!(id, 2 + i64::from(MAX_ROUNDS));
            return;
        }
    }
    panic!("never given up");
}

#[test]
fn a_closed_connection_fails_what_waits() {
    let mut client = legacy();
    let (handle, _) = client.request(ms(2), "tools/list", Params::Absent);
    let out = client.closed(ms(3));
    assert!(matches!(&out[..], [Output::Failed { handle: Some(failed), .. }] if *failed == handle));
    assert_eq!(client.next_timeout(), None);
    let mut opening = ClientEngine::new(config(EraChoice::Auto));
    opening.start(ms(0));
    assert_eq!(failure(&opening.closed(ms(1))).0, None);
}

fn joined(era: Era, version: &str) -> ClientEngine {
    let handshake = Handshake::read(era, version.to_owned(), &Value::Null, Vec::new());
    let id_prefix = "mcpreel-0123abcd-".to_owned();
    let join = Some(Joined { handshake, client_capabilities: Value::Null, id_prefix });
    ClientEngine::new(ClientConfig { join, ..config(EraChoice::Auto) })
}

#[test]
fn a_connection_that_is_joined_is_open_at_once_and_its_ids_are_its_own() {
    let mut client = joined(Era::Legacy, "2025-06-18");
    let (asked, held) = client.request_with_deadline(ms(0), "a", Params::Absent, ms(50));
    assert!(held.is_empty(), "not before the start");
    let started = client.start(ms(0));
    assert_eq!(handshake(&started).version_text, "2025-06-18");
    assert_eq!(sent(&started), [r#"{"jsonrpc":"2.0","id":"mcpreel-0123abcd-1","method":"a"}"#]);
    // Responses to others are ignored: the same number, another prefix.
    for id in ["1", r#""1""#, r#""mcpreel-ffffffff-1""#] {
        let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
        assert!(matches!(&client.receive(ms(1), answer.as_bytes())[..], [Output::Stray { .. }]), "{id}");
    }
    let over = client.handle_timeout(ms(50));
    assert_eq!(sent_value(&over)["params"]["requestId"], "mcpreel-0123abcd-1");
    let late = client.receive(ms(51), br#"{"jsonrpc":"2.0","id":"mcpreel-0123abcd-1","result":{}}"#);
    assert!(matches!(&late[..], [Output::Answered { handle, late: true, .. }] if *handle == asked));
    let (refused, _) = client.request(ms(60), "b", Params::Absent);
    let lost = client.undelivered(ms(61), br#""mcpreel-0123abcd-2""#, "full", None);
    assert_eq!(failure(&lost).0, Some(refused), "the one that was rejected");
}

#[test]
fn a_joined_connection_of_the_modern_era_says_who_asks() {
    let mut client = joined(Era::Modern, "2026-07-28");
    client.start(ms(0));
    let (_, asked) = client.request(ms(0), "tools/list", Params::Absent);
    let carried = &sent_value(&asked)["params"]["_meta"];
    assert_eq!(carried[meta::PROTOCOL_VERSION], "2026-07-28");
    assert_eq!(carried[meta::CLIENT_INFO]["name"], "mcpreel");
}

#[test]
fn a_connection_that_fails_says_why() {
    let mut client = joined(Era::Legacy, "2025-06-18");
    client.start(ms(0));
    client.request(ms(0), "a", Params::Absent);
    assert_eq!(failure(&client.lost(ms(1), "the server does not read")), (None, "the server does not read".to_owned()));
    let (handle, later) = client.request(ms(2), "b", Params::Absent);
    assert_eq!(failure(&later), (Some(handle), "the server does not read".to_owned()));
}

#[test]
fn x11_a_probe_waits_as_long_as_the_server_starts() {
    let waiting = Output::Waiting { method: "server/discover".to_owned(), at_most: ms(20_000) };
    let starting = || {
        let mut client = client(EraChoice::Auto);
        client.start(ms(0));
        assert_eq!(client.next_timeout(), Some(ms(2000)));
        assert_eq!(client.handle_timeout(ms(2000)), std::slice::from_ref(&waiting));
        assert_eq!((client.next_timeout(), client.handle_timeout(ms(19_999))), (Some(ms(20_000)), Vec::new()));
        client
    };
    // The answer of a slow server counts.
    assert_eq!(handshake(&starting().receive(ms(15_000), DISCOVERED.as_bytes())).era, Era::Modern);
    // A server that stays silent is asked with `initialize`.
    let mut silent = starting();
    assert_eq!(sent_value(&silent.handle_timeout(ms(20_000)))["method"], "initialize");
    let opened = silent.receive(ms(20_001), initialize_answer(2, "2025-11-25").as_bytes());
    assert!(handshake(&opened).notes[0].contains("within 20s"), "{opened:?}");
    // One that sends anything else has started, and has the usual time from then on.
    let mut noisy = starting();
    noisy.receive(ms(5000), b"listening");
    assert_eq!(noisy.next_timeout(), Some(ms(7000)));
    assert_eq!(sent_value(&noisy.handle_timeout(ms(7000)))["method"], "initialize");
    // It never waits longer than for any other response.
    let mut hasty = ClientEngine::new(ClientConfig { request_timeout: ms(1500), ..config(EraChoice::Auto) });
    hasty.start(ms(0));
    assert_eq!(sent_value(&hasty.handle_timeout(ms(2000)))["method"], "initialize");
    // A timer that comes late (the machine has slept) has nothing left to wait for.
    let mut asleep = client(EraChoice::Auto);
    asleep.start(ms(0));
    assert_eq!(sent_value(&asleep.handle_timeout(ms(20_000)))["method"], "initialize");
    assert!(asleep.next_timeout().is_some_and(|at| at > ms(20_000)));
}

#[test]
fn who_does_not_want_to_hear_of_a_start_at_once_hears_later_if_the_server_is_still_silent() {
    let quiet = || {
        let mut client = ClientEngine::new(ClientConfig { quiet_for: ms(5000), ..config(EraChoice::Auto) });
        client.start(ms(0));
        assert_eq!((client.handle_timeout(ms(2000)), client.next_timeout()), (Vec::new(), Some(ms(7000))));
        client
    };
    let mut silent = quiet();
    assert!(matches!(silent.handle_timeout(ms(7000))[..], [Output::Waiting { .. }]));
    assert_eq!((silent.next_timeout(), silent.handle_timeout(ms(8000))), (Some(ms(20_000)), Vec::new()));
    let mut started = quiet();
    started.receive(ms(3000), DISCOVERED.as_bytes());
    assert_eq!(started.handle_timeout(ms(7000)), []);
    let mut noisy = quiet();
    assert_eq!(noisy.receive(ms(6000), b"listening").first(), noisy.first_noise());
    assert_eq!(noisy.handle_timeout(ms(7000)), []);
}

#[test]
fn x11_a_probe_that_does_not_get_through_is_followed_by_initialize() {
    let mut client = client(EraChoice::Auto);
    client.start(ms(0));
    assert_eq!(sent_value(&client.undelivered(ms(1), b"1", "HTTP 404", None))["method"], "initialize");
    let failed = client.undelivered(ms(2), b"2", "HTTP 405", None);
    assert_eq!(failure(&failed), (None, "HTTP 405".to_owned()));
    let mut insisting = self::client(EraChoice::Modern);
    insisting.start(ms(0));
    assert_eq!(failure(&insisting.undelivered(ms(1), b"1", "HTTP 404", None)).0, None);
}

#[test]
fn a_request_that_does_not_get_through_fails_once() {
    let mut client = legacy();
    let (handle, _) = client.request(ms(2), "a/b", Params::Absent);
    assert_eq!(failure(&client.undelivered(ms(3), b"2", "HTTP 500", None)), (Some(handle), "HTTP 500".to_owned()));
    for id in [&b"2"[..], b"7", b"\"x\"", b""] {
        let not_ours = Output::Undelivered { id: id.to_vec(), reason: "again".to_owned() };
        assert_eq!(client.undelivered(ms(4), id, "again", None), [not_ours]);
    }
    let (_, _) = client.request(ms(5), "a/b", Params::Absent);
    client.handle_timeout(ms(60_000));
    assert!(client.undelivered(ms(60_001), b"3", "too late to matter", None).is_empty());
}

#[test]
fn a_refusal_that_names_no_request_answers_the_one_it_refused() {
    let mut client = modern();
    let (asked, _) = client.request(ms(2), "a/b", Params::Absent);
    let refusal = br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"no"}}"#;
    let out = client.undelivered(ms(3), b"2", "HTTP 400", Some(refusal));
    assert!(
        matches!(&out[..], [Output::Answered { handle, message, .. }] if *handle == asked && message == refusal),
        "{out:?}"
    );
    let mut probing = self::client(EraChoice::Auto);
    probing.start(ms(0));
    let refusal = br#"{"jsonrpc":"2.0","id":"server-error","error":{"code":-32020,"message":"no"}}"#;
    assert_eq!(handshake(&probing.undelivered(ms(1), b"1", "HTTP 400", Some(refusal))).era, Era::Modern);
}

#[test]
fn a_session_that_is_over_is_opened_anew_once_for_a_request() {
    let mut client = legacy();
    let (first, _) = client.request(ms(2), "a/b", Params::Absent);
    let (second, _) = client.request(ms(2), "c/d", Params::Absent);
    let out = client.session_over(ms(3), b"2", "HTTP 404");
    assert_eq!(sent_value(&out)["method"], "initialize");
    assert!(matches!(&out[0], Output::Renewing { reason } if reason == "HTTP 404"), "{out:?}");
    assert!(client.session_over(ms(3), b"3", "HTTP 404").is_empty(), "it waits for the same new session");
    let out = client.receive(ms(4), initialize_answer(4, "2025-11-25").as_bytes());
    let methods = sent(&out);
    assert!(methods[0].contains("notifications/initialized"), "{methods:?}");
    assert!(methods[1].contains(r#""id":5,"method":"a/b""#) && methods[2].contains(r#""id":6,"method":"c/d""#));
    assert!(!out.iter().any(|output| matches!(output, Output::Ready(_))), "Ready is emitted once: {out:?}");
    assert!(out.iter().any(|output| matches!(output, Output::Renewed(new) if new.era == Era::Legacy)), "{out:?}");
    assert_eq!(failure(&client.session_over(ms(5), b"5", "again")), (Some(first), "again".to_owned()));
    let answered = client.receive(ms(6), br#"{"jsonrpc":"2.0","id":6,"result":{}}"#);
    assert!(matches!(&answered[..], [Output::Answered { handle, .. }] if *handle == second));
}

#[test]
fn a_session_that_cannot_be_opened_anew_fails_what_waits() {
    let mut client = legacy();
    let (waiting, _) = client.request(ms(2), "a/b", Params::Absent);
    client.session_over(ms(3), b"2", "HTTP 404");
    let out = client.undelivered(ms(4), b"3", "HTTP 500", None);
    assert!(out.contains(&Output::Failed { handle: Some(waiting), reason: "HTTP 500".to_owned().into() }), "{out:?}");
    let mut client = legacy();
    assert_eq!(failure(&client.session_over(ms(1), b"\"x\"", "HTTP 404")), (None, "HTTP 404".to_owned()));
}

#[test]
fn an_answer_with_too_many_values_fails_its_request_and_other_messages_are_passed_over() {
    let mut client = ClientEngine::new(ClientConfig { max_tree: 800, ..config(EraChoice::Legacy) });
    client.start(ms(0));
    let long = r#"{"jsonrpc":"2.0","method":"x","params":[0,0,0,0,0,0,0,0,0]}"#;
    assert!(matches!(&client.receive(ms(1), long.as_bytes())[..], [Output::Noise { .. }]));
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"x":[{},{},{},{},{},{},{},{},{}]}}"#;
    let out = client.receive(ms(2), answer.as_bytes());
    assert!(failure(&out).1.contains("too many values"), "{out:?}");
}
