//! `replay` and `mock`: a recorded session as a test of its server, and in place of it.

use crate::common::{Live, Output, Stage, message, until};
use serde_json::{Value, json};

/// A server in Python that answers `tools/call` with what `ANSWER` makes of the arguments.
const SERVER: &str = r#"
import json, sys, os, uuid
answer = sys.argv[1]
for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m or "method" not in m:
        continue
    name = (m.get("params") or {}).get("name")
    args = (m.get("params") or {}).get("arguments") or {}
    if m["method"] == "initialize":
        r = {"protocolVersion": m["params"]["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    elif m["method"] == "tools/list":
        r = {"tools": [{"name": "open", "annotations": {"readOnlyHint": True}}, {"name": "wipe", "annotations": {"destructiveHint": True}}]}
    elif name == "open":
        session = "sess_" + uuid.uuid4().hex
        r = {"content": [{"type": "text", "text": "opened " + session}]}
    elif name == "use":
        r = {"content": [{"type": "text", "text": answer + (" ok" if args["session"] == session else " unknown session")}]}
    elif name == "ask":
        print(json.dumps({"jsonrpc": "2.0", "id": 77, "method": "roots/list"}), flush=True)
        r = json.loads(sys.stdin.readline()).get("result", {"content": []})
    elif name == "die":
        os._exit(3)
    else:
        r = {"content": []}
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
"#;

fn request(id: u64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn call(id: u64, tool: &str, arguments: Value) -> Value {
    request(id, "tools/call", json!({"name": tool, "arguments": arguments}))
}

fn initialize() -> Value {
    let client = json!({"name": "c", "version": "1"});
    request(0, "initialize", json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}))
}

/// Talks to a server through the tap, one request after another, and returns nothing but the reel.
fn record(stage: &Stage, reel: &str, requests: &[Value]) {
    stage.write("server.py", SERVER);
    let mut live = stage.start(&["record", "-o", reel, "--", "python3", "server.py", "fine"]);
    live.send(&initialize());
    live.message(|message| message["id"] == 0);
    live.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    for request in requests {
        let mut request = request.clone();
        if let Some(session) = request.pointer_mut("/params/arguments/session") {
            *session = session_of(&mut live);
        }
        live.send(&request);
        live.message(|message| message["id"] == request["id"]);
    }
    live.end();
}

/// The session that the server has opened: only it knows the name.
fn session_of(live: &mut Live) -> Value {
    live.send(&call(90, "open", json!({})));
    let opened = live.message(|message| message["id"] == 90);
    let text = opened["result"]["content"][0]["text"].as_str().expect("a text").to_owned();
    json!(text.strip_prefix("opened ").expect("its form"))
}

fn replay(stage: &Stage, reel: &str, options: &[&str], answer: &str) -> Output {
    let server = ["--", "python3", "server.py", answer];
    stage.run(&[&["replay", reel][..], options, &server].concat(), "")
}

#[test]
fn the_same_server_gives_the_same_answers_although_it_names_its_sessions_anew() {
    let stage = Stage::new();
    record(&stage, "t.reel", &[request(1, "tools/list", json!({})), call(2, "use", json!({"session": ""}))]);
    for _ in 0..3 {
        let output = replay(&stage, "t.reel", &["--format", "json"], "fine");
        assert_eq!(output.code(), 0, "{output:?}");
        let report = output.json();
        assert_eq!((&report["sent"], &report["answered"]), (&json!(5), &json!(4)));
        assert_eq!((&report["notes"], &report["diff"]["same"]), (&json!([]), &json!(5)));
        stage.ok(&["reel", "verify", report["session"].as_str().expect("a path")]);
    }
}

#[test]
fn a_changed_server_differs_exactly_where_it_changed_and_can_be_accepted() {
    let stage = Stage::new();
    record(&stage, "t.reel", &[request(1, "tools/list", json!({})), call(2, "use", json!({"session": ""}))]);
    let output = replay(&stage, "t.reel", &["--record", "new.reel"], "changed");
    assert_eq!(output.code(), 1, "{output:?}");
    assert!(output.out().contains("- \"fine ok\"\n  + \"changed ok\""), "{output:?}");
    assert!(output.out().contains("\n1 changed, 0 only in A, 0 only in B, 4 same\n"), "{output:?}");
    assert_eq!(replay(&stage, "t.reel", &["--fail-fast"], "changed").code(), 1);
    let updated = replay(&stage, "t.reel", &["--update"], "changed");
    assert!(updated.code() == 1 && updated.err().contains("t.reel now contains the new session"), "{updated:?}");
    assert_eq!(replay(&stage, "t.reel", &[], "changed").code(), 0);
    assert_eq!(replay(&stage, "t.reel", &[], "fine").code(), 1);
}

#[test]
fn an_update_keeps_the_format_of_the_recording_and_its_redaction() {
    let stage = Stage::new();
    let token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    record(&stage, "t.reel", &[call(1, "say", json!({"token": token})), request(2, "tools/list", json!({}))]);
    stage.ok(&["export", "t.reel", "-o", "t.jsonl"]);
    stage.ok(&["redact", "t.reel", "-o", "safe.reel"]);
    let renamed = ["sh", "-c", "python3 server.py fine | sed -u s/wipe/erase/g"];
    for recording in ["t.jsonl", "safe.reel"] {
        let output = stage.run(&[&["replay", recording, "--update", "--map", "a=a", "--"][..], &renamed].concat(), "");
        assert!(output.code() == 2 && output.err().contains("without --map"), "{output:?}");
        let output = stage.run(&[&["replay", recording, "--update", "--"][..], &renamed].concat(), "");
        assert!(output.err().contains(&format!("{recording} now contains the new session")), "{output:?}");
        assert_eq!(stage.run(&[&["replay", recording, "--"][..], &renamed].concat(), "").code(), 0, "{recording}");
    }
    let lines = String::from_utf8(stage.read("t.jsonl")).expect("text");
    assert!(lines.starts_with("{\"reel\":") && lines.contains("erase"), "{lines}");
    let shown = stage.ok(&["export", "safe.reel"]).out();
    assert!(shown.contains("erase") && !shown.contains(token), "{shown}");
}

/// The recorded server sent two messages because of the handshake, one after a request that the filter leaves out.
#[test]
fn a_part_of_a_recording_may_contain_what_the_server_sends_by_itself() {
    let stage = Stage::new();
    let script = "import json, sys\nfor line in sys.stdin:\n    m = json.loads(line)\n    if 'id' in m:\n        \
                  print(json.dumps({'jsonrpc': '2.0', 'id': m['id'], 'result': {}}), flush=True)\n    else:\n        \
                  print(json.dumps({'jsonrpc': '2.0', 'method': 'notifications/tools/list_changed'}), flush=True)\n";
    stage.write("greeting.py", script);
    let changed = || json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
    let answer = |id: u64| json!({"jsonrpc": "2.0", "id": id, "result": {}});
    let events = [
        message(0, "c2s", initialize()),
        message(1, "s2c", answer(0)),
        message(2, "c2s", json!({"jsonrpc": "2.0", "method": "notifications/initialized"})),
        message(3, "c2s", request(1, "tools/list", json!({}))),
        message(4, "s2c", changed()),
        message(5, "s2c", answer(1)),
        message(6, "c2s", request(2, "prompts/list", json!({}))),
        message(7, "s2c", answer(2)),
    ];
    stage.reel("t.reel", &events);
    for filter in ["method:tools/list", "method:prompts/list"] {
        let output = stage.run(&["replay", "t.reel", filter, "--", "python3", "greeting.py"], "");
        assert_eq!(output.code(), 0, "{filter}: {output:?}");
    }
    // A message that it never sent when it was recorded is a difference all the same.
    let noisy = ["sh", "-c", "python3 greeting.py | sed -u s,tools/list_changed,prompts/list_changed,"];
    let output = stage.run(&[&["replay", "t.reel", "method:prompts/list", "--"][..], &noisy].concat(), "");
    assert!(output.code() == 1 && output.out().contains("+ notifications/prompts/list_changed"), "{output:?}");
}

/// A server at a URL that cannot be reached, and one that is gone after its first answer.
#[test]
fn a_server_at_a_url_that_is_gone_ends_the_replay() {
    let stage = Stage::new();
    let answer = |id: u64| message(id + 1, "s2c", json!({"jsonrpc": "2.0", "id": id, "result": {"content": []}}));
    let events =
        [message(0, "c2s", call(1, "x", json!({}))), answer(1), message(5, "c2s", call(2, "x", json!({}))), answer(2)];
    stage.reel("t.reel", &events);
    let dying = "import http.server, os\nclass Handler(http.server.BaseHTTPRequestHandler):\n    def do_POST(self):\n        \
                 self.rfile.read(int(self.headers['Content-Length']))\n        \
                 body = b'{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[]}}'\n        \
                 self.send_response(200)\n        self.send_header('Content-Type', 'application/json')\n        \
                 self.send_header('Content-Length', str(len(body)))\n        self.end_headers()\n        \
                 self.wfile.write(body)\n        self.wfile.flush()\n        os._exit(0)\n\
                 server = http.server.HTTPServer(('127.0.0.1', 0), Handler)\nprint(server.server_port, flush=True)\n\
                 server.serve_forever()\n";
    stage.write("dying.py", dying);
    let mut live = Live::start(stage.command(&["python3", "dying.py"]));
    let url = format!("http://127.0.0.1:{}/mcp", live.line());
    for answered in [1, 0] {
        let output = stage.run(&["replay", "t.reel", "--url", &url], "");
        assert_eq!(output.code(), 4, "{output:?}");
        let expected = format!("error: cannot reach {}", url.trim_end_matches("/mcp"));
        let said = output.err();
        assert!(answered == 1 || said.contains(&expected), "{output:?}");
        assert!(said.contains(&format!(", after {answered} of 2 answers")) && output.out().is_empty(), "{output:?}");
    }
}

#[test]
fn json_lines_are_as_good_as_a_reel() {
    let stage = Stage::new();
    record(&stage, "t.reel", &[request(1, "tools/list", json!({}))]);
    stage.ok(&["export", "t.reel", "-o", "t.jsonl"]);
    assert_eq!(replay(&stage, "t.jsonl", &[], "fine").code(), 0);
    let output =
        stage.run(&["call", "tools/list", "--format", "json", "--", crate::common::BINARY, "mock", "t.jsonl"], "");
    assert_eq!(output.json()["tools"][1]["name"], "wipe", "{output:?}");
}

#[test]
fn nothing_is_destroyed_unless_the_user_says_so() {
    let stage = Stage::new();
    record(
        &stage,
        "t.reel",
        &[request(1, "tools/list", json!({})), call(2, "wipe", json!({})), call(3, "x", json!({}))],
    );
    let refused = replay(&stage, "t.reel", &[], "fine");
    assert!(refused.code() == 2 && refused.err().contains("the first is wipe (seq 6)"), "{refused:?}");
    assert_eq!(replay(&stage, "t.reel", &["--allow-destructive"], "fine").code(), 0);
    for (options, sent) in [(&["--read-only"][..], 3), (&["not", "tool:wipe"], 4)] {
        let output = replay(&stage, "t.reel", &[options, &["--format", "json"]].concat(), "fine");
        assert_eq!((output.code(), &output.json()["sent"]), (0, &json!(sent)), "{output:?}");
    }
    let plan = stage.ok(&["replay", "t.reel", "--dry-run"]).out();
    assert!(plan.contains("    6  tools/call wipe  may destroy data\n"), "{plan}");
    let plan = stage.ok(&["replay", "t.reel", "--dry-run", "--read-only"]).out();
    assert!(plan.contains("tools/call wipe is left out: it is not annotated as read-only"), "{plan}");
    record(&stage, "u.reel", &[call(2, "wipe", json!({}))]);
    let warning = "sending 1 call of a tool that the recording does not list; it may destroy data (it is wipe, seq";
    for (options, is_warned) in [(&[][..], true), (&["--allow-destructive"], false), (&["--read-only"], false)] {
        let output = replay(&stage, "u.reel", options, "fine");
        assert_eq!(output.err().replace('\n', " ").contains(warning), is_warned, "{output:?}");
    }
}

#[test]
fn failures_have_their_own_messages_and_exit_codes() {
    let stage = Stage::new();
    let quiet = stage.reel("quiet.reel", &[message(0, "s2c", json!({"jsonrpc": "2.0", "method": "notifications/x"}))]);
    let output = stage.run(&["replay", &quiet.to_string_lossy(), "--", "true"], "");
    assert!(output.code() == 3 && output.err().contains("no messages of a client"), "{output:?}");
    let output = stage.run(&["host", "--reel", "quiet.reel", "--", "true"], "");
    assert!(output.code() == 3 && output.err().contains("no messages of a client"), "{output:?}");
    let output = stage.run(&["mock", "quiet.reel"], "");
    assert!(output.code() == 3 && output.err().contains("no messages of a client"), "{output:?}");
    let answers = |id: u64| message(id + 1, "s2c", json!({"jsonrpc": "2.0", "id": id, "result": {"content": []}}));
    let events = [
        message(0, "c2s", call(1, "x", json!({}))),
        answers(1),
        message(5, "c2s", call(2, "die", json!({}))),
        answers(2),
    ];
    stage.reel("dies.reel", &events);
    stage.write("server.py", SERVER);
    let output = replay(&stage, "dies.reel", &[], "fine");
    assert_eq!(output.code(), 4, "{output:?}");
    assert!(output.err().contains("the server ended with exit code 3 after 1 of 2 answers"), "{output:?}");
    let output = stage.run(&["replay", "dies.reel", "--timeout", "300ms", "--", "sh", "-c", "cat >/dev/null"], "");
    assert_eq!(output.code(), 5, "{output:?}");
    assert!(output.err().contains("error: no answer to tools/call x (seq 0) within 300ms"), "{output:?}");
    let output = stage.run(&["replay", "dies.reel", "--dry-run", "method:nothing"], "");
    assert!(output.out().contains("the filter does not select it"), "{output:?}");
    let output = replay(&stage, "dies.reel", &["method:nothing"], "fine");
    assert!(output.code() == 2 && output.err().contains("nothing to send"), "{output:?}");
}

#[test]
fn a_server_request_without_a_recorded_answer_is_reported_or_answered_from_a_file() {
    let stage = Stage::new();
    stage.write("server.py", SERVER);
    let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {"roots": []}});
    stage.reel("t.reel", &[message(0, "c2s", call(1, "ask", json!({}))), message(5, "s2c", answer)]);
    let output = replay(&stage, "t.reel", &[], "fine");
    assert_eq!(output.code(), 1, "{output:?}");
    assert!(
        output.err().contains("the server sent the request roots/list, which the recording does not answer"),
        "{output:?}"
    );
    stage.write("answers.json", r#"{"roots/list": {"roots": []}}"#);
    let output = replay(&stage, "t.reel", &["--answer", "answers.json"], "fine");
    assert!(output.out().contains("0 changed, 0 only in A, 1 only in B"), "{output:?}");
    assert!(!output.err().contains("refused"), "{output:?}");
}

/// Sends lines to a mock and returns the answers.
fn ask_mock(stage: &Stage, options: &[&str], requests: &[Value]) -> (Vec<Value>, Output) {
    let input: String = requests.iter().map(|request| format!("{request}\n")).collect();
    let output = stage.run(&[&["mock"][..], options].concat(), input);
    let answers = output.out().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    (answers, output)
}

#[test]
fn a_mock_answers_as_recorded_and_reports_what_it_could_not() {
    let stage = Stage::new();
    record(&stage, "t.reel", &[request(1, "tools/list", json!({})), call(2, "x", json!({"a": 1}))]);
    let asked = [call(8, "x", json!({"a": 1})), request(9, "tools/list", json!({})), call(10, "x", json!({"a": 2}))];
    let (answers, output) = ask_mock(&stage, &["t.reel"], &asked);
    assert_eq!(answers.iter().map(|answer| &answer["id"]).collect::<Vec<_>>(), [8, 9, 10]);
    assert_eq!(answers[1]["result"]["tools"][0]["name"], "open");
    let missed = "never recorded: tools/call x; the closest is seq 6, which differs at /params/arguments/a: 1 was \
                  recorded, not 2";
    assert_eq!(answers[2]["error"]["message"], format!("mcpreel mock: {missed}"));
    assert!(output.code() == 0 && output.err().contains(missed), "{output:?}");
    assert!(output.err().contains("1 recorded request never asked for:\n  seq 1  initialize c\n"), "{output:?}");
    let (_, output) = ask_mock(&stage, &["t.reel", "--strict", "--report", "report.json"], &asked);
    assert_eq!(output.code(), 1, "{output:?}");
    let report: Value = serde_json::from_slice(&stage.read("report.json")).expect("JSON");
    assert_eq!((&report["misses"][0]["kind"], &report["answered"]), (&json!("never-recorded"), &json!(2)));
    let (_, output) = ask_mock(&stage, &["t.reel", "--strict"], &[initialize(), asked[0].clone(), asked[1].clone()]);
    assert_eq!(output.code(), 0, "{output:?}");
}

#[test]
fn a_mock_that_listens_says_where_and_ends_with_its_report() {
    let stage = Stage::new();
    record(&stage, "t.reel", &[request(1, "tools/list", json!({}))]);
    for words in [&["mock", "t.reel"][..], &["serve", "--reel", "t.reel"]] {
        let ready = stage.path("ready.json");
        let _ = std::fs::remove_file(&ready);
        let mut live = stage.start(&[words, &["--listen", "0", "--ready-file", "ready.json"]].concat());
        let line: Value = serde_json::from_str(&live.line()).expect("JSON");
        let written = until("the file is there", || std::fs::read(&ready).ok());
        assert_eq!(serde_json::from_slice::<Value>(&written).expect("JSON"), line);
        let url = line["url"].as_str().expect("a URL");
        for _ in 0..2 {
            // Each session begins with the whole recording.
            let output = stage.run(&["call", "tools/list", "--url", url, "--era", "legacy", "--format", "json"], "");
            assert_eq!(output.json()["tools"][0]["name"], "open", "{output:?}");
        }
        live.signal("TERM");
        let output = live.end();
        assert_eq!(output.code(), 0, "{output:?}");
        assert!(output.err().contains("2 sessions, 4 answers from the recording"), "{output:?}");
    }
}

#[test]
fn what_was_not_recorded_can_be_asked_of_the_server_and_appended() {
    let stage = Stage::new();
    record(&stage, "t.reel", &[request(1, "tools/list", json!({}))]);
    let asked = [call(8, "x", json!({"a": 1}))];
    let server = ["--", "python3", "server.py", "fine"];
    let (answers, output) = ask_mock(&stage, &[&["t.reel", "--on-miss", "forward"][..], &server].concat(), &asked);
    assert_eq!(answers[0]["result"], json!({"content": []}), "{output:?}");
    let (answers, _) = ask_mock(&stage, &["t.reel"], &asked);
    assert_eq!(answers[0]["error"]["data"]["kind"], "never-recorded");
    let (_, output) = ask_mock(&stage, &[&["t.reel", "--on-miss", "record"][..], &server].concat(), &asked);
    assert!(output.err().contains("1 exchange appended to t.reel"), "{output:?}");
    stage.ok(&["reel", "verify", "t.reel"]);
    // What was appended is a part of a session, whose handshake nobody misses, and has its latency.
    let report = stage.run(&["validate", "t.reel", "-f", "json"], "").json();
    let found: Vec<_> = report["findings"].as_array().expect("a list").iter().collect();
    let appended: Vec<_> = found.iter().filter(|finding| finding["stream"] == 1).map(|it| &it["rule"]).collect();
    assert_eq!(appended, ["stream/not-checked"], "{report}");
    let times: Vec<String> = stage
        .events("t.reel")
        .iter()
        .filter(|event| event["event"] == "message")
        .map(|event| event["time"].to_string())
        .collect();
    assert_ne!(times[times.len() - 2], times[times.len() - 1]);
    let (answers, output) = ask_mock(&stage, &["t.reel"], &asked);
    assert_eq!((&answers[0]["id"], &answers[0]["result"]), (&json!(8), &json!({"content": []})), "{output:?}");
}

/// A secret that detectors find by its form, and one that only its name gives away.
fn secrets() -> [String; 2] {
    [["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat(), "hunter2-is-long".to_owned()]
}

#[test]
fn a_redacted_reel_answers_the_original_requests_and_shows_no_secret() {
    let stage = Stage::new();
    let [token, password] = secrets();
    let login = |id: u64, token: &str, user: &str| call(id, "x", json!({"auth": {"token": token}, "user": user}));
    let enter =
        |id: u64, password: &str| call(id, "x", json!({"password": password, "note": format!("with {password}.")}));
    record(&stage, "t.reel", &[login(1, &token, "ada"), enter(2, &password), login(3, &token, "bob")]);
    stage.write(".mcpreel.toml", "[redact]\npointers = [\"/params/arguments/user\"]\n");
    stage.ok(&["redact", "t.reel", "-o", "r.reel"]);
    std::fs::remove_file(stage.path(".mcpreel.toml")).expect("removed");
    let bytes = stage.ok(&["export", "r.reel"]).out();
    assert!(!bytes.contains(&token) && !bytes.contains(&password) && !bytes.contains("\"ada\""), "{bytes}");
    // The names have equally many letters, so they are equal once they are redacted.
    let asked = [login(7, &token, "ada"), enter(8, &password), login(9, &token, "eve"), enter(10, "hunter2-was-short")];
    let (answers, output) = ask_mock(&stage, &["r.reel", "--report", "report.json"], &asked);
    let found: Vec<bool> = answers.iter().map(|answer| answer["result"].is_object()).collect();
    assert_eq!(found, [true, true, true, false], "{output:?}");
    let report = String::from_utf8(stage.read("report.json")).expect("UTF-8");
    let shown = [report, answers[3].to_string(), output.err()].concat();
    assert!(shown.contains("never recorded: tools/call x") && !shown.contains("hunter2"), "{shown}");
    // What is recorded into it is redacted, too.
    let server = ["r.reel", "--on-miss", "record", "--", "python3", "server.py", "fine"];
    ask_mock(&stage, &server, &[enter(10, "hunter2-was-short")]);
    let bytes = stage.ok(&["export", "r.reel"]).out();
    assert!(bytes.lines().count() > 10 && !bytes.contains("hunter2"), "{bytes}");
    let (answers, output) = ask_mock(&stage, &["r.reel"], &[enter(10, "hunter2-was-short")]);
    assert!(answers[0]["result"].is_object(), "{output:?}");
}

#[test]
fn a_truncated_reel_serves_what_it_holds() {
    let stage = Stage::new();
    record(&stage, "t.reel", &[request(1, "tools/list", json!({}))]);
    let whole = stage.read("t.reel");
    stage.write("cut.reel", &whole[..whole.len() - 40]);
    let (answers, output) = ask_mock(&stage, &["cut.reel"], &[request(4, "tools/list", json!({}))]);
    assert_eq!(answers[0]["result"]["tools"][0]["name"], "open", "{output:?}");
    assert!(output.err().contains("the last events may be missing"), "{output:?}");
    let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {"content": []}});
    let events = [
        message(0, "c2s", call(1, "x", json!({}))),
        message(5, "s2c", answer),
        message(9, "c2s", call(2, "y", json!({}))),
    ];
    let reel = stage.reel("lost.reel", &events);
    let whole = std::fs::read(&reel).expect("the reel");
    stage.write("lost.reel", &whole[..whole.len() - 4]);
    let (answers, output) = ask_mock(&stage, &["lost.reel"], &[call(7, "x", json!({})), call(8, "y", json!({}))]);
    assert!(answers[0]["result"].is_object(), "{output:?}");
    assert_eq!(answers[1]["error"]["message"], "mcpreel mock: recorded without an answer: tools/call y (seq 2)");
    let missing = "1 recorded request without an answer in what can be read; the first is seq 2, tools/call";
    assert!(output.err().contains(missing), "{output:?}");
}

#[test]
fn faults_are_announced_if_they_cannot_happen() {
    let stage = Stage::new();
    record(&stage, "t.reel", &[request(1, "tools/list", json!({}))]);
    let faults = ["t.reel", "--fault", "tools/list: error -5", "--fault", "resources/read: drop"];
    let (answers, output) = ask_mock(&stage, &faults, &[request(4, "tools/list", json!({}))]);
    assert_eq!(answers[0]["error"]["code"], -5);
    assert!(output.err().contains("the fault \"resources/read: drop\" cannot happen"), "{output:?}");
    let output = stage.run(&["mock", "t.reel", "--fault", "x"], "");
    assert!(output.code() == 2 && output.err().contains("expected METHOD: ACTION"), "{output:?}");
    let output = stage.run(&["serve", "--strict"], "");
    assert!(output.code() == 2 && output.err().contains("--strict applies only to recordings"), "{output:?}");
}

#[test]
fn requests_can_be_repeated_by_hand() {
    let stage = Stage::new();
    record(&stage, "t.reel", &[request(1, "tools/list", json!({})), call(2, "x", json!({"a": "it's"}))]);
    let script = stage.ok(&["export", "--format", "commands", "t.reel"]).out();
    let expected = "#!/bin/sh\nmcpreel call tools/list --era legacy -- python3 server.py fine\n\
                    mcpreel call tools/call \"{\\\"name\\\":\\\"x\\\",\\\"arguments\\\":{\\\"a\\\":\\\"it's\\\"}}\" --era legacy -- python3 server.py fine\n";
    assert_eq!(script, expected);
    let one = stage.ok(&["show", "t.reel", "--as-call", "tool:x"]).out();
    assert_eq!(one.lines().next(), expected.lines().nth(2));
    let word = one.trim().replacen("mcpreel", crate::common::BINARY, 1);
    let word = word.replacen(" call ", " call --format json ", 1);
    let output = crate::common::finish(stage.command(&["sh", "-c", &word]), Vec::new());
    assert_eq!(output.json(), json!({"content": []}), "{output:?}");
}

#[test]
fn a_folder_or_a_suite_file_is_replayed_as_a_whole() {
    let stage = Stage::new();
    std::fs::create_dir(stage.path("all")).expect("a folder");
    let tools = request(1, "tools/list", json!({}));
    record(&stage, "all/a.reel", &[tools.clone(), call(2, "use", json!({"session": ""}))]);
    record(&stage, "all/b.reel", &[tools]);
    let output = replay(&stage, "all", &["-j", "2"], "fine");
    assert_eq!(
        (output.code(), output.out().as_str()),
        (0, "ok        all/a.reel\nok        all/b.reel\n"),
        "{output:?}"
    );
    assert!(output.err().contains("2 recordings: 2 alike, 0 different, 0 failed"), "{output:?}");
    let output = replay(&stage, "all", &[], "changed");
    assert!(
        output.code() == 1 && output.out().starts_with("different all/a.reel\n          - A all/a.reel\n"),
        "{output:?}"
    );
    let parts: Vec<String> = ["1/2", "2/2"].map(|part| replay(&stage, "all", &["--shard", part], "fine").out()).into();
    assert_eq!(parts, ["ok        all/a.reel\n", "ok        all/b.reel\n"]);
    let suite = "- reel: all/a.reel\n  options: [--ignore, /result/content]\n  command: [python3, server.py, changed]\n\
                 - reel: all/b.reel\n  command: [sh, -c, exit 0]\n";
    stage.write("suite.yaml", suite);
    let output = stage.run(&["replay", "suite.yaml"], "");
    assert_eq!(output.code(), 4, "{output:?}");
    assert!(output.out().starts_with("ok        all/a.reel\nfailed    all/b.reel\n"), "{output:?}");
    assert!(output.err().contains("1 recording could not be replayed"), "{output:?}");
}

#[test]
fn a_recorded_host_is_played_with_its_timing_and_without_a_verdict() {
    let stage = Stage::new();
    record(&stage, "t.reel", &[request(1, "tools/list", json!({})), call(2, "use", json!({"session": ""}))]);
    let words = ["host", "--reel", "t.reel", "--record", "new.reel", "--", "python3", "server.py", "changed"];
    let output = stage.run(&words, "");
    assert!(output.code() == 0 && output.err().contains("5 messages sent, 4 answers"), "{output:?}");
    let counts = |reel: &str| stage.run(&["stats", reel, "--format", "json"], "").json()["messages"].clone();
    assert_eq!(counts("new.reel"), counts("t.reel"));
    for words in [&["host", "--reel", "t.reel", "--session", "x"][..], &["replay", "t.reel", "--session", "x"]] {
        let output = stage.run(words, "");
        assert!(
            output.code() == 2 && output.err().contains("the live session \"x\" cannot be the target"),
            "{output:?}"
        );
    }
}

#[test]
fn a_mock_serves_the_proposals_both_ways() {
    let stage = Stage::new();
    let turn = ["host", "--builtin", "memory", "--say", "what did we decide?", "--say", "and why?", "--record"];
    stage.ok(&[&turn[..], &["host.reel"]].concat());
    let server = format!("memory={} mock host.reel", crate::common::BINARY);
    let turn = ["host", "-s", &server, "--say", "what did we decide?", "--say", "and why?", "--record", "mocked.reel"];
    let output = stage.ok(&[&turn[..], &["--format", "json"]].concat());
    assert!(!output.err().contains("never recorded"), "{output:?}");
    let injected =
        |reel: &str| stage.run(&["show", reel, "--format", "json", "method:conversation/*"], "").out().lines().count();
    assert!(injected("host.reel") > 0);
    assert_eq!(injected("mocked.reel"), injected("host.reel"));
}
