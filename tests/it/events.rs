//! Tests `events watch` with the built-in server: what it prints, when it ends, and how.

use crate::common::{BINARY, Live, Output, Stage, until};
use serde_json::{Value, json};

/// Runs `events watch` on the built-in server, which publishes repeatedly.
fn watch(stage: &Stage, words: &[&str], settings: &[&str]) -> Output {
    let plan =
        r#"{"after_ms":20,"every_ms":20,"fire":{"kind":"event","type":"build.done","priority":"high","tags":["ci"]}}"#;
    let server = [&["--", BINARY, "serve", "--era", "legacy", "--plan", plan], settings].concat();
    stage.run(&[&["events", "watch"], words, &server].concat(), "")
}

fn types(output: &Output) -> Vec<Value> {
    let event = |line: &str| serde_json::from_str::<Value>(line).expect("JSON")["type"].clone();
    output.out().lines().map(event).collect()
}

#[test]
fn e16_events_are_printed_one_a_line_until_enough_came() {
    let stage = Stage::new();
    let watched = watch(&stage, &["build.*", "--tag", "ci", "--expect", "2"], &[]);
    assert_eq!((watched.code(), types(&watched)), (0, vec!["build.done".into(), "build.done".into()]));
}

#[test]
fn e17_batches_are_opened_and_an_expired_subscription_ends_or_is_made_again() {
    let stage = Stage::new();
    let batches = watch(&stage, &["--cron", "* * * * * *", "--expect", "3"], &[]);
    assert_eq!((batches.code(), types(&batches).len()), (0, 3));
    let ended = watch(&stage, &["other", "--expect", "1"], &["--set", "mcpe.life_seconds:=1"]);
    assert_eq!((ended.code(), types(&ended).len()), (1, 0));
    assert!(ended.err().contains("expired"), "{ended:?}");
    let renewed = watch(&stage, &["other", "--renew", "--for", "1500ms"], &["--set", "mcpe.life_seconds:=1"]);
    assert_eq!(renewed.code(), 0);
    assert!(renewed.err().contains("subscribing again"), "{renewed:?}");
}

#[test]
fn e1_e8_what_cannot_be_subscribed_to_is_reported() {
    let stage = Stage::new();
    let refused = watch(&stage, &["slack.*"], &["--set", r#"mcpe.allow:=["build.*"]"#]);
    assert!(refused.code() == 4 && refused.err().contains("not allowed"), "{refused:?}");
    let server = ["--", BINARY, "serve", "--era", "legacy", "--declare", "hooks"];
    let none = stage.run(&[&["events", "watch"], &server[..]].concat(), "");
    assert!(none.code() == 4 && none.err().contains("no events"), "{none:?}");
    assert_eq!(watch(&stage, &["--timezone", "UTC"], &[]).code(), 2);
}

#[test]
fn an_interruption_takes_the_subscription_back() {
    let stage = Stage::new();
    let plan = r#"{"after_ms":20,"every_ms":20,"fire":{"kind":"event","type":"tick"}}"#;
    let server = ["--", BINARY, "serve", "--era", "legacy", "--plan", plan, "--report", "facts"];
    let mut live = stage.start(&[&["events", "watch", "tick"], &server[..]].concat());
    assert!(live.line().contains("tick"), "the first event");
    live.signal("INT");
    let ended = live.end_with_open_stdin();
    let events = String::from_utf8(stage.read("facts")).expect("text");
    assert!(ended.code() == 130 && events.contains(r#""became":"removed""#), "{ended:?} {events}");
}

/// A built-in server that listens and publishes repeatedly.
fn listen(stage: &Stage, at: &str) -> Live {
    let plan = r#"{"after_ms":50,"every_ms":100,"fire":{"kind":"event","type":"tick"}}"#;
    let server = stage.start(&["serve", "--listen", at, "--plan", plan]);
    until("the server to listen", || server.stderr_so_far().contains("listening on").then_some(()));
    server
}

#[test]
fn a_server_that_comes_back_is_subscribed_to_anew() {
    let stage = Stage::new();
    let port = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
    let socket = format!("unix:{}", stage.path("mcp.sock").display());
    let tcp = format!("tcp:{port}");
    // Over HTTP, only a request shows that a server has gone.
    for (at, url) in [(socket.as_str(), socket.clone()), (&port.to_string(), format!("http://127.0.0.1:{port}/mcp"))] {
        let server = listen(&stage, at);
        let mut watch = stage.start(&["events", "watch", "tick", "--url", &url]);
        assert!(watch.line().contains("tick"), "{at}");
        server.signal("KILL");
        drop(server);
        until("the loss is reported", || watch.stderr_so_far().contains("retrying in").then_some(()));
        let server = listen(&stage, at);
        until("it to be found", || watch.stderr_so_far().contains("subscribed again").then_some(()));
        assert!(watch.line().contains("tick"), "{at}");
        watch.signal("INT");
        let ended = watch.end();
        assert_eq!(ended.code(), 130, "{at}: {ended:?}");
        drop(server);
        let _ = std::fs::remove_file(stage.path("mcp.sock"));
    }
    let server = listen(&stage, &tcp);
    let mut watch =
        stage.start(&["events", "watch", "tick", "--no-reconnect", "--url", &format!("tcp:127.0.0.1:{port}")]);
    assert!(watch.line().contains("tick"));
    drop(server);
    let ended = watch.end();
    assert!(ended.code() == 4 && !ended.err().contains("trying again"), "{ended:?}");
}

#[test]
fn the_time_to_watch_includes_what_comes_before_the_subscription() {
    let stage = Stage::new();
    let silent = r#"
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("method") == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"#;
    stage.write("silent.py", silent);
    let output = stage.run(&["events", "watch", "--for", "2s", "--", "python3", "silent.py"], "");
    assert_eq!(output.code(), 5, "{output:?}");
    assert!(output.err().contains("the time of --for was over before there was a subscription"), "{output:?}");
}

#[test]
fn a_session_is_watched_and_found_again() {
    let stage = Stage::new();
    let plan = r#"{"after_ms":50,"every_ms":100,"fire":{"kind":"event","type":"tick"}}"#;
    let words = ["record", "--label", "work", "-o"];
    let record = |reel: &str| {
        let server = ["--", BINARY, "serve", "--era", "legacy", "--plan", plan];
        let mut live = stage.start(&[&words[..], &[reel], &server].concat());
        let params = serde_json::json!({"protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"}});
        live.send(&serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}));
        live.message(|message| message["id"] == 1);
        live.send(&serde_json::json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        live
    };
    let first = record("one.reel");
    let is_live = || (stage.run(&["call", "ping", "--session", "work"], "").code() == 0).then_some(());
    until("the session to be agreed on", is_live);
    let mut watch = stage.start(&["events", "watch", "tick", "--session", "work", "--expect", "1000", "--for", "20s"]);
    assert!(watch.next_line().is_some_and(|line| line.contains("tick")), "{}", watch.stderr_so_far());
    first.end();
    until("the loss is reported", || watch.stderr_so_far().contains("retrying in").then_some(()));
    let second = record("two.reel");
    until("it to be found", || watch.stderr_so_far().contains("subscribed again").then_some(()));
    assert!(watch.line().contains("tick"));
    watch.signal("INT");
    assert_eq!(watch.end().code(), 130);
    second.end();
}

/// A server that was written from the proposal's text.
const PEER: &str = include_str!("mcpe_server.py");

fn uuid(id: &str) -> String {
    format!("00000000-0000-4000-8000-00000000000{id}")
}

fn event(id: &str, kind: &str, priority: &str) -> Value {
    json!({"id": uuid(id), "type": kind, "data": {},
        "metadata": {"timestamp": "2026-01-01T00:00:00Z", "priority": priority, "tags": ["ci"]}})
}

/// Events as they should be, none at all, outside the filter `build.*` with priority high, and twice.
fn good_and_bad() -> Value {
    let one = |event: Value| json!(["events/event", {"subscriptionId": "ID", "event": event}]);
    json!([
        one(event("1", "build.done", "high")),
        one(json!(null)),
        one(json!("x")),
        one(json!({"id": "2", "type": "build.done", "data": {}})),
        ["events/batch", {"subscriptionId": "ID", "events": [event("3", "mail.came", "high"), 7]}],
        ["events/batch", {"subscriptionId": "ID", "events": "none"}],
        one(event("4", "build.done", "low")),
        one(event("1", "build.done", "high")),
        ["events/event", {"subscriptionId": "another", "event": event("5", "build.done", "high")}],
        ["events/event", ["x"]],
        one(event("6", "build.failed", "high")),
    ])
}

fn peer(plan: &Value) -> [String; 3] {
    ["python3".to_owned(), "mcpe_server.py".to_owned(), plan.to_string()]
}

/// Runs `mcpreel` with this server behind `--`.
fn with_peer(stage: &Stage, words: &[&str], plan: &Value) -> Output {
    stage.write("mcpe_server.py", PEER);
    let server = peer(plan);
    stage.run(&[words, &["--"], &server.each_ref().map(String::as_str)].concat(), "")
}

#[test]
fn e16_e19_e20_e27_what_is_no_event_or_unasked_for_or_a_duplicate_is_reported_and_does_not_count() {
    let stage = Stage::new();
    let plan = json!({"send": good_and_bad()});
    let words = ["events", "watch", "build.*", "--priority", "high", "--expect", "2"];
    let watched = with_peer(&stage, &words, &plan);
    assert_eq!((watched.code(), types(&watched)), (0, vec!["build.done".into(), "build.failed".into()]), "{watched:?}");
    for (reported, times) in
        [("malformed", 5), ("outside the filter", 2), ("duplicate of the event", 1), ("unknown subscription", 2)]
    {
        assert_eq!(watched.err().matches(reported).count(), times, "{reported}: {watched:?}");
    }
    let strict = with_peer(&stage, &[&words[..], &["--strict"]].concat(), &plan);
    assert_eq!((strict.code(), types(&strict).len()), (1, 2), "{strict:?}");
    let good = json!({"publish": [event("1", "build.done", "high"), event("2", "build.done", "high")]});
    assert_eq!(with_peer(&stage, &[&words[..], &["--strict"]].concat(), &good).code(), 0);
}

#[test]
fn e16_an_event_with_half_of_an_emoji_is_one() {
    let stage = Stage::new();
    stage.write("mcpe_server.py", PEER);
    let plan = json!({"send": [["events/event", {"subscriptionId": "ID", "event": event("1", "HALF", "high")}]]});
    let plan = plan.to_string().replace("HALF", "a\\ud83d");
    let words = ["events", "watch", "--expect", "1", "--for", "10s", "--", "python3", "mcpe_server.py", &plan];
    let watched = stage.run(&words, "");
    assert_eq!((watched.code(), types(&watched)), (0, vec!["a\u{fffd}".into()]), "{watched:?}");
}

#[test]
fn e16_a_flood_of_malformed_events_is_summarised() {
    let stage = Stage::new();
    let bad: Vec<Value> = vec![json!(["events/event", {"subscriptionId": "ID", "event": 7}]); 500];
    let watched = with_peer(&stage, &["events", "watch", "--for", "2s"], &json!({"send": bad}));
    assert_eq!(watched.err().matches("malformed").count(), 20, "{watched:?}");
    assert!(watched.err().contains("ignored 480 events more"), "{watched:?}");
}

#[test]
fn f3_the_host_injects_only_events_that_it_asked_for_and_with_strict_it_fails() {
    let stage = Stage::new();
    let plan = json!({"send": good_and_bad()});
    let set = r#"mcpe.subscribe={"eventTypes":["build.*"],"priority":["high"]}"#;
    let words = ["host", "--set", set, "--do", "/wait 1s", "--do", "/turn what is new?", "--prompts"];
    let talked = with_peer(&stage, &words, &plan);
    assert_eq!(talked.code(), 0, "{talked:?}");
    let text = talked.out();
    for (what, times) in [("mcpe event:", 2), ("mcpe malformed", 5), ("mcpe unwanted", 2), ("mcpe duplicate", 1)] {
        assert_eq!(text.matches(what).count(), times, "{what}: {text}");
    }
    let prompt = text.split("prompt of turn 1").nth(1).expect("a prompt");
    assert!(
        prompt.contains("build.done") && prompt.contains("build.failed") && !prompt.contains("mail.came"),
        "{text}"
    );
    assert_eq!(with_peer(&stage, &[&words[..], &["--strict"]].concat(), &plan).code(), 1);
    let good = json!({"publish": [event("1", "build.done", "high")]});
    assert_eq!(with_peer(&stage, &[&words[..], &["--strict"]].concat(), &good).code(), 0);
}

#[test]
fn e5_a_turn_waits_until_the_subscriptions_are_granted() {
    let stage = Stage::new();
    let plan = json!({"wait": 0.4, "publish": [event("1", "build.done", "high")]});
    let talked = with_peer(&stage, &["host", "--set", "mcpe.subscribe=build.*", "--say", "hello", "--prompts"], &plan);
    let text = talked.out();
    let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what}: {text}"));
    assert!(at("mcpe subscribed") < at("prompt of turn 1"), "{text}");
}

#[test]
fn e32_a_lone_wildcard_is_not_sent_and_no_other_to_a_server_without_wildcards() {
    let stage = Stage::new();
    let publish = json!([event("1", "build.done", "high")]);
    let watched = with_peer(&stage, &["events", "watch", "*", "--expect", "1"], &json!({"publish": publish}));
    assert_eq!((watched.code(), types(&watched)), (0, vec!["build.done".into()]), "{watched:?}");
    let talked = with_peer(
        &stage,
        &["host", "--set", "mcpe.subscribe=*", "--say", "x", "--do", "/wait 300ms"],
        &json!({"publish": publish}),
    );
    assert!(talked.out().contains("mcpe event: build.done"), "{talked:?}");
    let asked = String::from_utf8(stage.read("asked")).expect("text");
    assert!(!asked.contains('*') && asked.lines().count() == 2, "{asked}");
    let none = json!({"features": {"wildcards": false}, "publish": publish});
    let refused = with_peer(&stage, &["events", "watch", "build.*"], &none);
    assert!(refused.code() == 4 && refused.err().contains("no wildcards"), "{refused:?}");
    let talked = with_peer(&stage, &["host", "--set", "mcpe.subscribe=build.*,build.done", "--say", "x"], &none);
    assert!(talked.out().contains("mcpe unsupported: not subscribed to \"build.*\""), "{talked:?}");
    let asked = String::from_utf8(stage.read("asked")).expect("text");
    assert!(!asked.contains('*') && asked.lines().count() == 3, "{asked}");
}

#[test]
fn e19_an_id_or_timestamp_of_another_form_is_reported_and_fails_a_strict_run() {
    let stage = Stage::new();
    let with = |id: &str, time: &str| {
        let mut event = event("1", "build.done", "high");
        (event["id"], event["metadata"]["timestamp"]) = (json!(id), json!(time));
        json!({"send": [["events/event", {"subscriptionId": "ID", "event": event}]]})
    };
    let good = "2026-01-01T00:00:00Z";
    for (plan, printed, word) in [
        (with("not-uuid", good), 1, "not-uuid"),
        (with(&uuid("1"), "2026-01-01"), 1, "a date without a time"),
        (with(&uuid("1"), "never"), 0, "never"),
    ] {
        for (command, seen) in [
            (&["events", "watch", "build.*", "--for", "1500ms"][..], "build.done"),
            (&["host", "--set", "mcpe.subscribe=build.*", "--do", "/wait 1s"], "mcpe event:"),
        ] {
            let lax = with_peer(&stage, command, &plan);
            assert_eq!((lax.code(), lax.out().matches(seen).count()), (0, printed), "{lax:?}");
            assert!(lax.out().contains(word) || lax.err().contains(word), "{word}: {lax:?}");
            assert_eq!(with_peer(&stage, &[command, &["--strict"]].concat(), &plan).code(), 1, "{word}");
        }
    }
}

#[test]
fn amb_e2_e8_a_subscription_names_its_delivery_and_none_that_the_server_does_not_declare() {
    let stage = Stage::new();
    let plan = json!({"needs_delivery": true, "publish": [event("1", "build.done", "high")]});
    let set = r#"mcpe.subscribe={"eventTypes":["build.*"],"tags":[]}"#;
    let talked = with_peer(&stage, &["host", "--set", set, "--say", "hello", "--do", "/wait 300ms"], &plan);
    assert!(talked.out().contains("mcpe event: build.done"), "{talked:?}");
    let asked: Value = serde_json::from_slice(&stage.read("asked")).expect("one subscription");
    let wanted = json!({"filter": {"eventTypes": ["build.*"]}, "delivery": {"channels": ["realtime"]}});
    assert_eq!(asked, wanted);
    for (words, features, channel) in [
        (["--cron", "0 9 * * *"], json!({"cronSchedule": true}), "cron"),
        (["--at", "2999-01-01T00:00:00Z"], json!({"scheduledDelivery": true}), "scheduled"),
        (["--cron", "0 9 * * *"], json!({"cronSchedule": false}), "cron"),
    ] {
        let channels =
            if features["cronSchedule"] == false { json!(["realtime", "cron"]) } else { json!(["realtime"]) };
        let plan = json!({"features": features, "channels": channels});
        let refused = with_peer(&stage, &[&["events", "watch"], &words[..]].concat(), &plan);
        assert!(refused.code() == 4 && refused.err().contains(&format!("{channel:?}")), "{refused:?}");
    }
    let order =
        "/do subscribe types=a.* 'delivery:={\"channels\":[\"cron\"],\"cronSchedule\":{\"expression\":\"0 9 * * *\"}}'";
    let talked = with_peer(&stage, &["host", "--do", order], &json!({}));
    assert!(talked.out().contains("does not declare the delivery channel"), "{talked:?}");
    assert_eq!(String::from_utf8(stage.read("asked")).expect("text").lines().count(), 1, "nothing else was sent");
}

#[test]
fn f3_a_route_or_filter_that_cannot_be_is_a_usage_error() {
    let stage = Stage::new();
    for set in ["mcpe.route=mail.*=ring", "mcpe.route=a*b=note", "mcpe.route=wake", r#"mcpe.subscribe={"types":["a"]}"#]
    {
        let refused = with_peer(&stage, &["host", "--set", set, "--say", "x"], &json!({}));
        assert!(refused.code() == 2 && refused.err().contains("mcpe."), "{set}: {refused:?}");
    }
}
