//! Tests live sessions: they can be listed and attached to, injected messages are answered and marked, the peers do not
//! see the answers, and no attached process can block the traffic.

use crate::common::{BINARY, Live, Output, Stage, until};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixStream};

/// A server that answers each request with the request itself; requests that contain "slow" only before the next one.
const ECHO: &str = r#"
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\("[^"]*"\|[0-9]*\).*/\1/p')
  [ -n "$id" ] || continue
  case "$line" in *slow*) held=$id; continue;; esac
  [ -n "$held" ] && printf '{"jsonrpc":"2.0","id":%s,"result":{}}\n' "$held"
  held=
  printf '{"jsonrpc":"2.0","id":%s,"result":{"seen":%s}}\n' "$id" "$line"
done"#;

fn initialize() -> Value {
    let capabilities = json!({"experimental": {"mcpl": {"version": "0.4", "pushEvents": true, "featureSets": true}}});
    let params = json!({
        "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": {"name": "tester", "version": "1"},
    });
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
}

fn ping(id: i64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "ping"})
}

/// The output of `sessions --format json`.
fn sessions(stage: &Stage) -> Vec<Value> {
    let output = stage.ok(&["sessions", "--format", "json"]);
    output.out().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// Waits until this many messages of the session `t` are in its reel.
fn recorded(stage: &Stage, messages: u64) {
    until("messages in the reel", || {
        let sessions = sessions(stage);
        sessions.iter().find(|session| session["messages"].as_u64() >= Some(messages)).map(drop)
    });
}

/// A recorded session of the built-in server, after the handshake and with that in the reel; the test is the client.
fn tapped(stage: &Stage) -> Live {
    let mut client = stage.start(&["record", "-o", "t.reel", "--", BINARY, "serve"]);
    client.send(&initialize());
    assert_eq!(client.message(|_| true)["id"], 0);
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    recorded(stage, 3);
    client
}

/// A recorded session of the echo server, after one answered request.
fn echoing(stage: &Stage) -> Live {
    let mut client = stage.start(&["record", "-o", "t.reel", "--", "sh", "-c", ECHO]);
    client.send(&modern(1, "tools/list"));
    assert_eq!(client.message(|_| true)["id"], 1);
    recorded(stage, 2);
    client
}

fn modern(id: i64, method: &str) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "tester", "version": "1"},
    });
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {"_meta": meta}})
}

/// The injected messages of the reel, as printed by `show --format json`.
fn injected(stage: &Stage) -> Vec<Value> {
    let output = stage.ok(&["show", "t.reel", "--format", "json", "injected"]);
    output.out().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn methods(events: &[Value]) -> Vec<(&str, &str)> {
    events.iter().map(|event| (event["dir"].as_str().unwrap_or(""), event["method"].as_str().unwrap_or(""))).collect()
}

fn failed(output: &Output, code: i32, words: &[&str]) {
    assert_eq!(output.code(), code, "{output:?}");
    for word in words {
        assert!(output.err().contains(word), "{word} in {output:?}");
    }
}

#[test]
fn what_runs_is_listed_and_then_no_more() {
    let stage = Stage::new();
    failed(&stage.run(&["sessions"], ""), 0, &["no live sessions", "mcpreel record --"]);
    let client = tapped(&stage);
    let listed = sessions(&stage);
    let names: Vec<_> = listed.iter().map(|session| session["name"].as_str().expect("a name")).collect();
    assert_eq!(names, ["mcpreel", "serve"]);
    let (tap, server) = (&listed[0], &listed[1]);
    assert_eq!((&tap["role"], &tap["client"], &tap["waiting"]), (&json!("record"), &json!("tester"), &json!(0)));
    assert_eq!((&tap["messages"], &tap["errors"], &tap["version"]), (&json!(3), &json!(0), &json!("2025-11-25")));
    assert_eq!(tap["reel"], stage.path("t.reel").canonicalize().expect("there").to_str().expect("text"));
    assert_eq!(
        (&server["role"], &server["client"], &server["reel"]),
        (&json!("serve"), &json!("tester"), &Value::Null)
    );
    let table = stage.ok(&["sessions"]).out();
    assert!(table.contains("waiting") && table.contains("tester"), "{table}");
    client.end();
    assert!(sessions(&stage).is_empty());
    assert_eq!(std::fs::read_dir(stage.path("mcpreel/run")).expect("there").count(), 1, "only the lock is left");
}

#[test]
fn a_call_goes_in_beside_the_client_and_the_client_does_not_see_it() {
    let stage = Stage::new();
    let mut client = tapped(&stage);
    let mut calls: Vec<Live> = (0..4)
        .map(|number| {
            let number = format!("arguments.a:={number}");
            let words = ["call", "tools/call", "name=add", &number, "arguments.b:=40", "--session", "mcpreel"];
            stage.start(&[&words[..], &["--format", "json"]].concat())
        })
        .collect();
    // The client continues meanwhile, with ids that a careless injector would use, too.
    for id in 1..200 {
        client.send(&ping(id));
        assert_eq!(client.message(|_| true), json!({"jsonrpc": "2.0", "id": id, "result": {}}));
    }
    for (number, call) in calls.drain(..).enumerate() {
        let output = call.end_with_open_stdin();
        assert_eq!(output.json()["structuredContent"]["sum"], 40 + number, "{output:?}");
    }
    client.send(&ping(1000));
    assert_eq!(client.message(|_| true)["id"], 1000, "nothing else came in between");
    assert_eq!(client.end().code(), 0);
    let marked = injected(&stage);
    assert_eq!(marked.len(), 8, "{marked:?}");
    assert!(marked.iter().all(|event| event["injected"] == true && event["method"] == "tools/call"));
    let ids: Vec<_> = marked.iter().map(|event| event["message"]["id"].as_str().expect("a string")).collect();
    assert!(ids.iter().all(|id| id.starts_with("mcpreel-")), "{ids:?}");
    let list = stage.ok(&["show", "t.reel", "injected"]).out();
    assert!(list.lines().all(|line| line.contains("[injected] tools/call add")), "{list}");
    stage.ok(&["reel", "verify", "t.reel"]);
    stage.ok(&["validate", "t.reel"]);
}

#[test]
fn stats_and_show_read_a_live_session() {
    let stage = Stage::new();
    let client = tapped(&stage);
    let stats = stage.ok(&["stats", "--session", "mcp", "--format", "json"]).json();
    assert_eq!((&stats["messages"], &stats["damages"]), (&json!(3), &json!([])));
    assert_eq!(stage.ok(&["show", "--session", "mcp", "--raw", "kind:notification"]).out().lines().count(), 1);
    let mut follower = stage.start(&["show", "--follow", "--session", "mcpreel", "method:initialize"]);
    let mut reader = stage.start(&["show", "--follow", "t.reel", "method:initialize"]);
    let checker = stage.start(&["validate", "--follow", "t.reel"]);
    assert!(follower.line().contains("initialize"));
    assert!(reader.line().contains("initialize"));
    // A killed session writes no end: `show --follow` sees that the session is gone, or that the lock is free.
    client.signal("KILL");
    assert_eq!(follower.end_with_open_stdin().code(), 0);
    for ended in [reader.end_with_open_stdin(), checker.end_with_open_stdin()] {
        assert_eq!(ended.code(), 0, "{ended:?}");
        assert!(ended.err().contains("the last events may be missing"), "{ended:?}");
    }
}

#[test]
fn user_messages_and_hooks_are_fired_into_a_live_session() {
    let stage = Stage::new();
    let client = tapped(&stage);
    let output = stage.ok(&["fire", "user-message", "what about the schema?", "--session", "mcpreel"]);
    assert!(output.out().contains("database schema"), "{output:?}");
    let words = ["fire", "hook", "session_start", "--project", "demo", "--session", "mcpreel", "--format", "json"];
    let hooks = stage.run(&words, "").json();
    assert_eq!(hooks["server"], "mcpreel-live", "the declarations come from the reel's handshake");
    assert_eq!(client.end().stdout, b"", "the client saw nothing of it");
    assert_eq!(methods(&injected(&stage))[0], ("c2s", "conversation/userMessage"));
}

#[test]
fn raw_messages_go_either_way() {
    let stage = Stage::new();
    let mut client = tapped(&stage);
    let sent = stage.ok(&["fire", "raw", r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "--session", "m"]);
    assert!(sent.err().contains("the session may use the id 1 itself"), "{sent:?}");
    assert!(sent.out().contains(r#""result":{}"#), "{sent:?}");
    let refused = stage.run(
        &["fire", "raw", "-", "--session", "m", "--format", "json"],
        "{\"jsonrpc\":\"2.0\", \"id\":\"mcpreel-00000000-7\", \"method\":\"no/such\"}\n",
    );
    assert_eq!((refused.code(), refused.err().as_str()), (1, ""), "an id that fits stays: {refused:?}");
    assert_eq!(refused.json()["answer"]["error"]["code"], -32601);
    // As the server: a notification, and a request that the client answers.
    let note = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    stage.ok(&["fire", "raw", note, "--as", "server", "--session", "m"]);
    assert_eq!(client.line(), note, "byte for byte");
    let asks = ["fire", "raw", r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#, "--as", "server", "--session", "m"];
    let asking = stage.start(&[&asks[..], &["--format", "json"]].concat());
    let request = client.message(|message| message["method"] == "roots/list");
    client.send(&json!({"jsonrpc": "2.0", "id": request["id"], "result": {"roots": []}}));
    assert_eq!(asking.end_with_open_stdin().json()["answer"]["result"]["roots"], json!([]));
    client.end();
    let answered = ("c2s", "roots/list");
    assert_eq!(methods(&injected(&stage)).last(), Some(&answered));
    let report = stage.run(&["validate", "t.reel"], "").out();
    assert!(!report.contains("orphan"), "the server did not see the answer, the reel knows both: {report}");
}

#[test]
fn raw_messages_go_to_a_server_that_is_started_for_them() {
    let stage = Stage::new();
    let serve = ["--", BINARY, "serve"];
    let run = |words: &[&str]| stage.run(&[words, &serve].concat(), "");
    let broken = run(&["fire", "raw", "{broken", "--format", "json"]);
    assert_eq!((broken.code(), &broken.json()["answer"]["error"]["code"]), (1, &json!(-32700)));
    let pong = run(&["fire", "raw", r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#]);
    assert!(pong.code() == 0 && pong.out().contains(r#""id":"p","result":{}"#), "{pong:?}");
    let first = ["fire", "raw", r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#, "--no-handshake"];
    let early = run(&first);
    assert!(early.code() == 1 && early.out().contains("the first request must be initialize"), "{early:?}");
    failed(&run(&["fire", "raw", "{\n}"]), 2, &["line break", "jq -c"]);
    failed(&run(&["fire", "raw", "{}", "--as", "server"]), 2, &["requires a live session"]);
}

#[test]
fn a_push_goes_into_a_tapped_session_and_into_a_server() {
    let stage = Stage::new();
    let mut client = tapped(&stage);
    for (session, is_injected) in [("mcpreel", true), ("serve", false)] {
        let push = ["fire", "push", "--text", "deployed", "--event-id", session, "--session", session];
        let pushing = stage.start(&[&push[..], &["--format", "json"]].concat());
        let request = client.message(|message| message["method"] == "push/event");
        assert_eq!(request["params"]["eventId"], session);
        assert_eq!(request["params"]["featureSet"], "memory.proactive", "the set that pushes");
        assert_eq!(request["id"].is_string(), is_injected, "a server of ours uses its own ids");
        client.send(&json!({"jsonrpc": "2.0", "id": request["id"], "result": {"accepted": true}}));
        let output = pushing.end_with_open_stdin();
        let report = output.json();
        assert_eq!((output.code(), &report["report"], &report["accepted"]), (0, &json!("push_answered"), &json!(true)));
    }
    let unanswered =
        stage.run(&["fire", "push", "--text", "x", "--answer-timeout", "20ms", "--session", "mcpreel"], "");
    assert_eq!(unanswered.code(), 1);
    let lines: Vec<String> = unanswered.out().lines().map(str::to_owned).collect();
    assert_eq!((&*lines[1], &*lines[2]), ("answer  → none", "time    20.0 ms"), "{lines:?}");
    let words = ["fire", "push", "--text", "x", "--answer-timeout", "300ms", "--session", "serve"];
    let unanswered = stage.run(&words, "");
    assert_eq!((unanswered.code(), unanswered.out().lines().nth(1)), (1, Some("answer  → none")), "{unanswered:?}");
    assert!(!unanswered.err().contains("os error"), "{unanswered:?}");
    client.end();
    assert_eq!(methods(&injected(&stage)), [("s2c", "push/event"), ("c2s", "push/event"), ("s2c", "push/event")]);
}

#[test]
fn a_reminder_goes_into_a_tapped_session_and_into_a_server() {
    let stage = Stage::new();
    let mut client = tapped(&stage);
    for session in ["mcpreel", "serve"] {
        let words = ["fire", "reminder", "look", "--dedupe-key", session, "--repeat", "2", "--session", session];
        let reminding = stage.start(&[&words[..], &["--format", "json"]].concat());
        for _ in 0..2 {
            let message = client.message(|message| message["method"] == "notifications/reminder");
            assert_eq!(message["params"]["reminder"]["dedupeKey"], session);
        }
        let output = reminding.end_with_open_stdin();
        let reports: Vec<Value> = output.out().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert_eq!((output.code(), reports.len(), &reports[1]["report"]), (0, 2, &json!("sent")), "{output:?}");
        assert_ne!(reports[0]["reminder"]["id"], reports[1]["reminder"]["id"]);
        assert!(output.err().contains("2 sent, 0 failed"), "{output:?}");
    }
    // The running server keeps to what it declared.
    let all = ["fire", "reminder", "x", "--propagate", "all", "--session"];
    let refused = stage.run(&[&all[..], &["serve"]].concat(), "");
    assert_eq!(
        (refused.code(), refused.out().contains("not sent: `propagate` \"all\" is not one of")),
        (1, true),
        "{refused:?}"
    );
    let legacy = stage.start(&["fire", "reminder", "old way", "--legacy", "--session", "mcpreel"]);
    let message = client.message(|message| message["method"] == "notifications/message");
    assert_eq!(message["params"]["_meta"]["harn"]["reminder"]["body"], "old way");
    let output = legacy.end_with_open_stdin();
    assert_eq!((output.code(), output.err()), (0, String::new()), "{output:?}");
    assert!(output.out().starts_with("sent    ← notifications/message {"), "{output:?}");
    client.send(&ping(1));
    client.message(|message| message["id"] == 1);
    client.end();
    let put = injected(&stage);
    assert_eq!(
        methods(&put),
        [("s2c", "notifications/reminder"), ("s2c", "notifications/reminder"), ("s2c", "notifications/message")]
    );
}

#[test]
fn a_reminder_beside_a_server_that_declares_none_says_so() {
    let stage = Stage::new();
    let client = echoing(&stage);
    let output = stage.run(&["fire", "reminder", "x", "--session", "sh"], "");
    assert_eq!((output.code(), output.err().contains("does not declare reminders.emit")), (0, true), "{output:?}");
    drop(client);
}

#[test]
fn a_client_that_does_not_know_pushes_is_pushed_to_with_a_word() {
    let stage = Stage::new();
    let mut client = echoing(&stage);
    let pushing = stage.start(&["fire", "push", "--text", "x", "--session", "sh", "--format", "json"]);
    let request = client.message(|message| message["method"] == "push/event");
    client.send(&json!({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32601, "message": "what?"}}));
    let output = pushing.end_with_open_stdin();
    failed(&output, 1, &["does not declare experimental.mcpl"]);
    assert_eq!(output.json()["means"], "method not found");
}

#[test]
fn a_session_of_the_modern_era_is_joined_in_it() {
    let stage = Stage::new();
    let client = echoing(&stage);
    let answer = stage.ok(&["call", "tools/list", "--session", "sh", "--format", "envelope"]).json();
    assert_eq!((&answer["era"], &answer["version"]), (&json!("modern"), &json!("2026-07-28")));
    let meta = &answer["message"]["result"]["seen"]["params"]["_meta"];
    assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "mcpreel", "{answer}");
    client.end();
}

#[test]
fn an_answer_that_comes_too_late_is_taken_out_all_the_same() {
    let stage = Stage::new();
    let mut client = echoing(&stage);
    let slow = r#"{"jsonrpc":"2.0","id":1,"method":"slow"}"#;
    let output = stage.run(&["fire", "raw", slow, "--session", "sh", "--timeout", "20ms"], "");
    failed(&output, 5, &["no response within 20ms"]);
    // Nobody waits for it any more.
    let session = stage.ok(&["sessions", "--format", "json"]).json();
    assert_eq!(session["waiting"], 0, "{session}");
    client.send(&modern(2, "tools/list"));
    assert_eq!(client.message(|_| true)["id"], 2, "the late answer came first, and not to the client");
    client.end();
    let marked = injected(&stage);
    assert_eq!(methods(&marked), [("c2s", "slow"), ("s2c", "slow")]);
}

#[test]
fn a_line_that_is_held_back_is_not_lost_where_the_server_ends_and_its_child_does_not() {
    let stage = Stage::new();
    let orphan = "read -r one; read -r two; read -r three; (printf 'no end'; sleep 5) & exit 0";
    let mut client = stage.start(&["record", "-o", "t.reel", "--", "sh", "-c", orphan]);
    client.send(&modern(1, "tools/list"));
    recorded(&stage, 1);
    // From here on an answer is expected, so lines pass only when they are complete.
    let asked = ["fire", "raw", r#"{"jsonrpc":"2.0","id":1,"method":"m"}"#, "--session", "sh", "--timeout", "20ms"];
    assert_eq!(stage.run(&asked, "").code(), 5);
    client.send(&ping(2));
    assert_eq!(client.end_with_open_stdin().out(), "no end");
    assert_eq!(stage.cat("t.reel", "s2c"), b"no end");
}

#[test]
fn a_stream_framed_by_length_takes_nothing() {
    let stage = Stage::new();
    let mut client = stage.start(&["record", "-o", "t.reel", "--", "cat"]);
    let body = initialize().to_string();
    client.write(format!("Content-Length: {}\r\n\r\n{body}", body.len()));
    recorded(&stage, 1);
    let output = stage.run(&["fire", "raw", r#"{"jsonrpc":"2.0","method":"n"}"#, "--session", "cat"], "");
    failed(&output, 4, &["Content-Length"]);
    failed(&stage.run(&["call", "tools/list", "--session", "cat"], ""), 1, &["have not completed their handshake"]);
}

#[test]
fn a_killed_tap_leaves_a_socket_that_the_next_look_removes() {
    let stage = Stage::new();
    let client = tapped(&stage);
    let socket = stage.path("mcpreel/run/mcpreel.sock");
    assert_eq!(std::fs::metadata(&socket).expect("there").permissions().mode() & 0o777, 0o600);
    client.signal("KILL");
    client.end_unread();
    assert!(socket.exists());
    until("nothing lives", || sessions(&stage).is_empty().then_some(()));
    assert!(!socket.exists());
}

#[test]
fn a_folder_that_others_may_enter_is_refused_and_the_session_goes_on() {
    let stage = Stage::new();
    std::fs::create_dir_all(stage.path("mcpreel/run")).expect("made");
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(stage.path("mcpreel/run"), open).expect("set");
    let tapped = stage.run(&["record", "-o", "t.reel", "--", "cat"], "{}\n");
    assert_eq!((tapped.code(), tapped.out().as_str()), (0, "{}\n"));
    failed(&tapped, 0, &["no control socket", "its mode must be 0700", "MCPREEL_HOME"]);
    assert_eq!(tapped.err().lines().count(), 1);
    failed(&stage.run(&["sessions"], ""), 2, &["its mode must be 0700"]);
}

#[test]
fn names_are_unique_and_may_be_shortened() {
    let stage = Stage::new();
    let first = tapped(&stage);
    let mut second = stage.start(&["record", "-o", "second.reel", "--", BINARY, "serve"]);
    second.send(&initialize());
    second.message(|_| true);
    let names: Vec<Value> = sessions(&stage).iter().map(|session| session["name"].clone()).collect();
    assert_eq!(names, ["mcpreel", "mcpreel-2", "serve", "serve-2"]);
    stage.ok(&["call", "tools/list", "--session", "mcpreel"]);
    failed(
        &stage.run(&["call", "tools/list", "--session", "mcp"], ""),
        2,
        &["is a prefix of several sessions' names", "mcpreel-2"],
    );
    failed(&stage.run(&["call", "tools/list", "--session", "mcprel"], ""), 4, &["did you mean --session mcpreel?"]);
    failed(&stage.run(&["call", "tools/list", "--session", "serve"], ""), 2, &["is a server", "fire push"]);
    drop((first, second));
    until("nothing lives", || sessions(&stage).is_empty().then_some(()));
    failed(&stage.run(&["call", "tools/list", "--session", "x"], ""), 4, &["no live sessions", "mcpreel record --"]);
}

#[test]
fn options_that_start_or_reach_a_server_make_no_sense_with_a_session() {
    let stage = Stage::new();
    for option in [["-e", "A=b"], ["--cwd", "."], ["-H", "A: b"], ["--record", "x.reel"], ["--era", "modern"]] {
        let output = stage.run(&[&["call", "ping", "--session", "x"][..], &option].concat(), "");
        failed(&output, 2, &["cannot be used with --session"]);
    }
}

#[test]
fn who_attaches_and_does_not_read_is_let_go_and_the_traffic_goes_on() {
    let stage = Stage::new();
    let mut client = tapped(&stage);
    let mut idle: Vec<UnixStream> = (0..15).map(|_| connect(&stage)).collect();
    let mut careless = connect(&stage);
    let long = format!("{}\n", json!({"op": "info", "tag": "x".repeat(1 << 20)}));
    for id in 1..64 {
        let _ = careless.write_all(long.as_bytes());
        client.send(&ping(id));
        assert_eq!(client.message(|_| true)["id"], id);
    }
    // The end of the connection, or a reset if something was unread.
    let mut rest = Vec::new();
    let _ = careless.read_to_end(&mut rest);
    assert!(rest.len() < 40 << 20, "{} bytes were kept for one who does not read", rest.len());
    // Once it is disconnected, another can connect; more than sixteen are refused.
    idle.push(until("space for another", || {
        let mut stream = connect(&stage);
        writeln!(stream, "{}", json!({"op": "info"})).ok()?;
        line_of(&mut stream)?["info"].is_object().then_some(stream)
    }));
    let reported = line_of(&mut connect(&stage)).expect("a line");
    assert!(reported["failed"].as_str().is_some_and(|why| why.contains("16 connections")), "{reported}");
    drop(idle);
    assert_eq!(client.end().code(), 0);
}

/// Connects to the session through the socket in the folder.
fn connect(stage: &Stage) -> UnixStream {
    let mut door = UnixStream::connect(stage.path("mcpreel/run/mcpreel.sock")).expect("it listens");
    let greeting = line_of(&mut door).expect("a greeting");
    let name = greeting["abstract"].as_str().expect("an address");
    let address = if cfg!(on_linux) { SocketAddr::from_abstract_name(name) } else { SocketAddr::from_pathname(name) };
    UnixStream::connect_addr(&address.expect("an address")).expect("it listens there too")
}

#[test]
fn the_socket_in_the_folder_only_says_where_to_go_on() {
    let stage = Stage::new();
    let client = tapped(&stage);
    let mut door = UnixStream::connect(stage.path("mcpreel/run/mcpreel.sock")).expect("it listens");
    let _ = writeln!(door, "{}", json!({"op": "info", "tag": 1}));
    let reported = line_of(&mut door).expect("a line");
    assert_eq!(reported["version"], 2);
    assert!(
        reported["failed"].as_str().is_some_and(|why| why.contains("version 2")),
        "for callers of version 1: {reported}"
    );
    assert_eq!((reported["info"].is_null(), line_of(&mut door)), (true, None));
    // Connections that are closed without a request make space for others.
    for _ in 0..50 {
        drop(UnixStream::connect(stage.path("mcpreel/run/mcpreel.sock")).expect("it listens"));
    }
    let mut stream = connect(&stage);
    writeln!(stream, "{}", json!({"op": "info", "tag": 1})).expect("sent");
    let reported = line_of(&mut stream).expect("a line");
    assert_eq!((&reported["tag"], &reported["info"]["version"]), (&json!(1), &json!(2)));
    client.end();
}

fn line_of(stream: &mut UnixStream) -> Option<Value> {
    let mut line = Vec::new();
    let mut byte = [0];
    while stream.read(&mut byte).ok()? == 1 && byte[0] != b'\n' {
        line.push(byte[0]);
    }
    serde_json::from_slice(&line).ok()
}
