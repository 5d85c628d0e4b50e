//! Tests `call`, `fire` and `serve` with each other and with small scripted peers, in which the test decides every
//! answer.

use crate::common::{BINARY, Live, Output, Stage, lives, until};
use serde_json::{Value, json};

/// Shared by the scripted servers: reads messages, writes answers.
const PRELUDE: &str = r#"
import json, os, sys, time
def say(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
def heard():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    with open("heard", "a") as log:
        log.write(line)
    return json.loads(line)
def result(request, **content):
    say(id=request["id"], result=content)
def error(request, code, message):
    say(id=request["id"], error={"code": code, "message": message})
def handshake(**capabilities):
    while True:
        request = heard()
        if request["method"] == "initialize":
            result(request, protocolVersion="2025-06-18", capabilities=capabilities,
                serverInfo={"name": "scripted", "version": "1"})
        elif request["method"] == "notifications/initialized":
            return
        else:
            error(request, -32601, "Method not found")
"#;

/// A server in Python, as the command after `--`.
fn script(stage: &Stage, body: &str) {
    stage.write("server.py", format!("{PRELUDE}{body}"));
}

const SCRIPTED: [&str; 3] = ["--", "python3", "server.py"];
const SERVE: [&str; 3] = ["--", BINARY, "serve"];
const SERVE_LEGACY: [&str; 5] = ["--", BINARY, "serve", "--era", "legacy"];

fn run(stage: &Stage, words: &[&str], server: &[&str]) -> Output {
    stage.run(&[words, server].concat(), "")
}

/// What the scripted server received.
fn received(stage: &Stage) -> Vec<Value> {
    let text = String::from_utf8(stage.read("heard")).expect("text");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn methods(messages: &[Value]) -> Vec<&str> {
    messages.iter().filter_map(|message| message["method"].as_str()).collect()
}

#[test]
fn a_call_gets_its_result() {
    let stage = Stage::new();
    let words = ["call", "tools/call", "name=echo", "arguments:={\"message\":\"hi\"}"];
    let human = run(&stage, &words, &SERVE);
    assert_eq!(human.code(), 0, "{human:?}");
    assert_eq!(human.json()["content"][0]["text"], "hi");
    assert!(human.stderr.is_empty(), "{human:?}");
    let json = run(&stage, &[&words[..], &["--format", "json"]].concat(), &SERVE);
    assert_eq!(json.out().lines().count(), 1);
    for (server, era, version) in [(&SERVE[..], "modern", "2026-07-28"), (&SERVE_LEGACY, "legacy", "2025-11-25")] {
        let envelope = run(&stage, &[&words[..], &["--format", "envelope"]].concat(), server).json();
        assert_eq!((&envelope["era"], &envelope["version"]), (&json!(era), &json!(version)));
        assert_eq!(envelope["message"]["result"]["content"][0]["text"], "hi");
        assert!(envelope["latency_ms"].as_f64().is_some_and(|latency| latency > 0.0));
    }
}

#[test]
fn params_come_in_every_form() {
    let stage = Stage::new();
    stage.write("params.json", "{\"name\": \"add\", \"arguments\": {\"a\": 2, \"b\": 3}}\n");
    let sums: [&[&str]; 4] = [
        &["@params.json"],
        &["name=add", "arguments.a:=2", "arguments.b:=3"],
        &["{\"name\":\"add\",\"arguments\":{\"a\":2,\"b\":3}}"],
        &["name=add", "{\"arguments\":{\"a\":2,\"b\":3}}"],
    ];
    for words in sums {
        let output = run(&stage, &[&["call", "tools/call"], words].concat(), &SERVE);
        assert_eq!(output.json()["structuredContent"]["sum"], 5, "{words:?}: {output:?}");
    }
    let piped = stage.run(&[&["call", "tools/call", "-"][..], &SERVE].concat(), stage.read("params.json"));
    assert_eq!(piped.json()["structuredContent"]["sum"], 5, "{piped:?}");
    for (words, code) in [(["a"], 2), (["a:=x"], 2), (["{\"a\":"], 2), (["@missing.json"], 3)] {
        let output = run(&stage, &[&["call", "tools/call"], &words[..]].concat(), &SERVE);
        assert_eq!(output.code(), code, "{words:?}: {output:?}");
    }
}

#[test]
fn an_error_and_a_tools_own_failure_are_findings() {
    let stage = Stage::new();
    let unknown = run(&stage, &["call", "no/such"], &SERVE);
    assert_eq!(unknown.code(), 1);
    assert_eq!(unknown.json()["code"], -32601);
    assert!(unknown.err().contains("returned an error"));
    let failed = run(&stage, &["call", "tools/call", "name=fail"], &SERVE);
    assert_eq!((failed.code(), &failed.json()["isError"]), (1, &json!(true)));
}

#[test]
fn the_legacy_era_is_found_or_chosen() {
    let stage = Stage::new();
    script(&stage, "handshake()\nresult(heard(), tools=[])");
    let found = run(&stage, &["call", "tools/list", "-v"], &SCRIPTED);
    assert_eq!(found.code(), 0, "{found:?}");
    assert!(found.err().contains("connected to scripted, legacy era, revision 2025-06-18"), "{found:?}");
    let said = received(&stage);
    assert_eq!(methods(&said), ["server/discover", "initialize", "notifications/initialized", "tools/list"]);
    assert_eq!(said[1]["params"]["protocolVersion"], "2025-11-25");
    assert_eq!(said[1]["params"]["clientInfo"]["name"], "mcpreel");
    stage.write("heard", "");
    let chosen = run(&stage, &["call", "tools/list", "--era", "legacy", "--protocol-version", "2024-11-05"], &SCRIPTED);
    assert_eq!(chosen.code(), 0, "{chosen:?}");
    let said = received(&stage);
    assert_eq!(methods(&said), ["initialize", "notifications/initialized", "tools/list"]);
    assert_eq!(said[0]["params"]["protocolVersion"], "2024-11-05");
}

const MODERN: &str = r#"
while True:
    request = heard()
    if request["method"] == "server/discover":
        result(request, supportedVersions=["2026-07-28"], capabilities={"tools": {}},
            _meta={"io.modelcontextprotocol/serverInfo": {"name": "modern", "version": "1"}})
    elif request["method"] == "tools/list":
        result(request, tools=[])
    else:
        error(request, -32601, "Method not found")
"#;

#[test]
fn the_modern_era_is_found_or_chosen() {
    let stage = Stage::new();
    script(&stage, MODERN);
    for era in ["auto", "modern"] {
        stage.write("heard", "");
        let output = run(&stage, &["call", "tools/list", "--era", era, "--format", "envelope"], &SCRIPTED);
        assert_eq!(output.code(), 0, "{output:?}");
        assert_eq!((&output.json()["era"], &output.json()["version"]), (&json!("modern"), &json!("2026-07-28")));
        let mut said = received(&stage);
        // On a busy machine, the first answer may take so long that the other era is tried meanwhile.
        said.retain(|request| request["method"] != "initialize");
        assert_eq!(methods(&said), ["server/discover", "tools/list"]);
        for request in &said {
            let meta = &request["params"]["_meta"];
            assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28", "{request}");
        }
    }
}

#[test]
fn no_answer_in_time_is_a_timeout() {
    let stage = Stage::new();
    let call = ["call", "tools/call", "name=count_slowly", "arguments.to:=1000", "arguments.interval_ms:=60000"];
    let options = ["--timeout", "1500ms", "--era", "legacy", "--record", "s.reel"];
    let output = run(&stage, &[&call[..], &options].concat(), &SERVE);
    assert_eq!(output.code(), 5, "{output:?}");
    assert!(output.err().contains("--timeout"), "{output:?}");
    let sent = String::from_utf8(stage.cat("s.reel", "c2s")).expect("text");
    assert!(sent.lines().last().expect("lines").contains("notifications/cancelled"), "{sent}");
    script(&stage, "while True: heard()");
    let output = run(&stage, &["call", "tools/list", "--timeout", "300ms", "--era", "legacy"], &SCRIPTED);
    assert_eq!(output.code(), 5, "no handshake: {output:?}");
}

#[test]
fn a_server_that_dies_is_reported_with_its_last_words() {
    let stage = Stage::new();
    let bodies = [
        "sys.stderr.write('first\\nno database: \\x1b[31mconnection refused\\n'); sys.exit(3)",
        "handshake()\nheard()\nsys.stderr.write('no database: connection refused'); sys.stderr.flush(); os._exit(3)",
    ];
    for body in bodies {
        script(&stage, body);
        let output = run(&stage, &["call", "tools/list"], &SCRIPTED);
        assert_eq!(output.code(), 4, "{output:?}");
        assert!(output.err().contains("server's stderr:") && output.err().contains("no database"), "{output:?}");
        assert!(!output.err().contains('\u{1b}'), "{output:?}");
    }
    let missing = run(&stage, &["call", "tools/list"], &["--", "no-such-program-anywhere"]);
    assert_eq!(missing.code(), 4, "{missing:?}");
    assert!(missing.err().contains("hint:"), "{missing:?}");
    let nothing = run(&stage, &["call", "tools/list"], &[]);
    assert_eq!(nothing.code(), 2, "{nothing:?}");
    assert!(nothing.err().contains("after --"), "{nothing:?}");
}

#[test]
fn what_a_server_asks_meanwhile_is_answered() {
    let stage = Stage::new();
    script(
        &stage,
        r#"
handshake()
call = heard()
say(id="p", method="ping")
say(id="r", method="roots/list")
say(id="s", method="sampling/createMessage", params={"messages": [], "maxTokens": 1})
say(method="notifications/message", params={"level": "info", "data": "working"})
print("just noise", flush=True)
answers = [heard(), heard(), heard()]
result(call, answers=answers)
"#,
    );
    let words = ["call", "tools/list", "--root", "/somewhere", "--root", "demo://x", "-v"];
    let output = run(&stage, &words, &SCRIPTED);
    assert_eq!(output.code(), 0, "{output:?}");
    let answers = output.json()["answers"].clone();
    let answer = |id: &str| {
        let found = answers.as_array().into_iter().flatten().find(|answer| answer["id"] == id);
        found.unwrap_or_else(|| panic!("no answer to {id}: {answers}")).clone()
    };
    assert_eq!(answer("p")["result"], json!({}));
    assert_eq!(answer("r")["result"]["roots"][0]["uri"], "file:///somewhere");
    assert_eq!(answer("r")["result"]["roots"][1]["uri"], "demo://x");
    assert_eq!(answer("s")["error"]["code"], -32601);
    let reported = output.err();
    for part in [
        "the server sent the request ping; answered",
        "sent the request sampling/createMessage; refused",
        "working",
        "just noise",
    ] {
        assert!(reported.contains(part), "{part}: {reported}");
    }
    let initialize = received(&stage).into_iter().find(|message| message["method"] == "initialize").expect("sent");
    assert!(initialize["params"]["capabilities"].get("roots").is_some(), "{initialize}");
}

#[test]
fn a_session_is_kept_in_a_reel() {
    let stage = Stage::new();
    let words = ["call", "tools/call", "name=echo", "arguments.message=hi", "--record", "s.reel"];
    assert_eq!(run(&stage, &words, &SERVE_LEGACY).code(), 0);
    stage.ok(&["reel", "verify", "s.reel"]);
    let sent = String::from_utf8(stage.cat("s.reel", "c2s")).expect("text");
    let sent: Vec<Value> = sent.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(methods(&sent), ["server/discover", "initialize", "notifications/initialized", "tools/call"]);
    let events = stage.events("s.reel");
    assert_eq!(
        (&events[1]["event"], &events.last().expect("events")["event"]),
        (&json!("stream-opened"), &json!("stream-closed"))
    );
    assert_eq!(events[1]["data"]["command"][1], "serve");
    let shown = stage.ok(&["show", "s.reel", "tool:echo", "dir:s2c", "--jq", ".outcome"]);
    assert_eq!(shown.out(), "ok\n");
    script(&stage, "handshake()\nsys.stderr.write('last words'); sys.stderr.flush(); sys.exit(7)");
    assert_eq!(run(&stage, &["call", "tools/list", "--record", "dead.reel"], &SCRIPTED).code(), 4);
    stage.ok(&["reel", "verify", "dead.reel"]);
    assert_eq!(stage.cat("dead.reel", "stderr"), b"last words");
    assert_eq!(stage.events("dead.reel").last().expect("events")["data"]["exit_code"], 7);
}

#[test]
fn a_server_deaf_to_the_end_of_input_is_ended() {
    let stage = Stage::new();
    script(&stage, "handshake()\nresult(heard(), pid=os.getpid())\nwhile True: time.sleep(0.05)\n");
    let output = run(&stage, &["call", "tools/list"], &SCRIPTED);
    assert_eq!(output.code(), 0, "{output:?}");
    let pid = i32::try_from(output.json()["pid"].as_i64().expect("a number")).expect("a process id");
    until("its end", || (!lives(pid)).then_some(()));
}

#[test]
fn a_user_message_brings_context_by_every_carrier() {
    let stage = Stage::new();
    for carrier in ["auto", "request", "notification"] {
        let words =
            ["fire", "user-message", "what about the database schema?", "--carrier", carrier, "--deadline", "20s"];
        let human = run(&stage, &words, &SERVE);
        assert_eq!(human.code(), 0, "{carrier}: {human:?}");
        assert!(human.out().contains("one table per tenant"), "{carrier}: {human:?}");
        let reported = run(&stage, &[&words[..], &["--format", "json", "--message-id", "m1"]].concat(), &SERVE).json();
        let outcome = &reported["outcome"];
        assert_eq!((&reported["subscription"], &outcome["message_id"]), (&json!("subscribed"), &json!("m1")));
        assert_eq!(outcome["carrier"], if carrier == "notification" { "notification" } else { "request" });
        assert_eq!(outcome["context"]["memories"][0]["source"], "design review", "{reported}");
        assert_eq!(
            (&outcome["late"], &outcome["timed_out"], &reported["late"]),
            (&json!(false), &json!(false), &Value::Null)
        );
    }
    let nothing = run(&stage, &["fire", "user-message", "a joke, please", "--deadline", "20s"], &SERVE);
    assert_eq!(nothing.code(), 0, "{nothing:?}");
    assert!(nothing.out().contains("has no context for this message"), "{nothing:?}");
}

#[test]
fn the_automatic_carrier_falls_back_to_a_notification() {
    let stage = Stage::new();
    script(
        &stage,
        r#"
handshake(conversationEvents={"onUserMessage": True})
error(heard(), -32601, "Method not found")
message = heard()
assert "id" not in message, message
say(method="conversation/context", params={"messageId": message["params"]["messageId"], "context": "as asked"})
heard()
"#,
    );
    let words =
        ["fire", "user-message", "hello", "--deadline", "20s", "--history", "user=hi", "--history", "assistant=ho"];
    let output = run(&stage, &[&words[..], &["--format", "json"]].concat(), &SCRIPTED);
    assert_eq!(output.code(), 0, "{output:?}");
    assert_eq!(output.json()["outcome"]["carrier"], "notification", "{output:?}");
    let said = received(&stage);
    let params = &said.last().expect("messages")["params"];
    let history = json!([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]);
    assert_eq!((&params["content"], &params["recentHistory"]), (&json!("hello"), &history));
}

#[test]
fn a_late_answer_is_named_and_not_used() {
    let stage = Stage::new();
    // The host cancels its request after the deadline; then the answer arrives.
    script(
        &stage,
        r#"
handshake(conversationEvents={"onUserMessage": True})
request = heard()
assert heard()["method"] == "notifications/cancelled"
say(id=request["id"], result={"context": "too late"})
heard()
"#,
    );
    let words = ["fire", "user-message", "hello", "--carrier", "request", "--deadline", "100ms", "--linger", "20s"];
    let output = run(&stage, &words, &SCRIPTED);
    assert_eq!(output.code(), 5, "{output:?}");
    assert!(output.out().contains("a late response arrived after"), "{output:?}");
    assert!(!output.out().contains("too late"), "{output:?}");
    let reported = run(&stage, &[&words[..], &["--format", "json"]].concat(), &SCRIPTED).json();
    assert_eq!(
        (&reported["outcome"]["timed_out"], &reported["late"]["late"]),
        (&json!(true), &json!(true)),
        "{reported}"
    );
}

#[test]
fn a_message_without_an_answer_is_a_timeout() {
    let stage = Stage::new();
    script(&stage, "handshake(conversationEvents={\"onUserMessage\": True})\nwhile True: heard()");
    let words = ["fire", "user-message", "hello", "--deadline", "50ms", "--linger", "50ms"];
    let asked = run(&stage, &[&words[..], &["--carrier", "request"]].concat(), &SCRIPTED);
    assert_eq!(asked.code(), 5, "{asked:?}");
    assert!(asked.err().contains("--deadline"), "{asked:?}");
    let reported = run(&stage, &[&words[..], &["--carrier", "notification"]].concat(), &SCRIPTED);
    assert_eq!(reported.code(), 0, "silence is an answer: {reported:?}");
    assert!(reported.out().contains("no context within 50.0 ms"), "{reported:?}");
}

#[test]
fn a_late_context_for_a_notification_is_a_timeout_too() {
    let stage = Stage::new();
    script(
        &stage,
        r#"
handshake(conversationEvents={"onUserMessage": True})
message = heard()
time.sleep(0.3)
say(method="conversation/context", params={"messageId": message["params"]["messageId"], "context": "too late"})
heard()
"#,
    );
    let words = ["fire", "user-message", "hello", "--carrier", "notification", "--deadline", "50ms", "--linger", "20s"];
    let output = run(&stage, &words, &SCRIPTED);
    assert_eq!(output.code(), 5, "{output:?}");
    assert!(output.out().contains("a late response arrived after"), "{output:?}");
}

#[test]
fn a_notification_is_sent_and_nothing_is_waited_for() {
    let stage = Stage::new();
    script(&stage, "handshake()\nwhile True: heard()");
    for words in [&["call", "notifications/foo", "n:=1"][..], &["call", "foo", "n:=1", "--notify"]] {
        stage.write("heard", "");
        let output = run(&stage, words, &SCRIPTED);
        assert_eq!((output.code(), output.out(), output.err()), (0, String::new(), String::new()), "{output:?}");
        let last = received(&stage).pop().expect("messages");
        assert!(last["method"].as_str().is_some_and(|method| method.ends_with("foo")), "{last}");
        assert_eq!((last.get("id"), &last["params"]), (None, &json!({"n": 1})));
    }
}

#[test]
fn the_reel_cannot_go_where_the_result_goes() {
    let stage = Stage::new();
    for words in [&["call", "ping", "--record", "-"][..], &["fire", "hook", "session_start", "--record", "-"]] {
        let output = run(&stage, words, &SERVE);
        assert_eq!((output.code(), output.out()), (2, String::new()), "{output:?}");
        assert!(output.err().contains("/dev/fd/3"), "{output:?}");
    }
}

#[test]
fn what_a_peer_says_cannot_steer_the_terminal() {
    let stage = Stage::new();
    let hostile = r#"
evil = "e\x1b[31m\x9b\u202evil\nmcpreel: forged"
while True:
    request = heard()
    if request["method"] == "initialize":
        result(request, protocolVersion="2025-06-18", serverInfo={"name": evil, "version": evil},
            capabilities={"conversationEvents": {"onUserMessage": True}, "hooks": {"declarations": [
                {"event": "session_start", "context_tool": evil, "context_tool_args": {evil: evil}},
                {"event": "session_start", "context": evil}, {"event": evil, "context": evil}]}})
    elif "id" in request:
        error(request, -32000, evil)
"#;
    script(&stage, hostile);
    for words in [
        &["call", "ping", "-v"][..],
        &["fire", "hook", "session_start", "-v"],
        &["fire", "user-message", "hello", "-v", "--carrier", "request", "--deadline", "20s"],
        &["fire", "user-message", "hello", "--deadline", "20s"],
    ] {
        let output = run(&stage, words, &SCRIPTED);
        let reported = format!("{}{}", output.out(), output.err());
        assert!(reported.contains("vil"), "{words:?}: {output:?}");
        assert!(!reported.contains(['\u{1b}', '\u{9b}', '\u{202e}']), "{words:?}: {output:?}");
        assert!(!reported.lines().any(|line| line.starts_with("mcpreel: forged")), "{words:?}: {output:?}");
    }
    script(
        &stage,
        "evil = '\\x1b[31m\\u202e'\nrequest = heard()\nwhile True:\n    error(request, -32000, evil)\n    request = heard()",
    );
    let refused = run(&stage, &["call", "ping"], &SCRIPTED);
    assert_eq!(refused.code(), 4, "{refused:?}");
    assert!(!refused.err().contains(['\u{1b}', '\u{202e}']), "{refused:?}");
}

#[test]
fn what_was_not_agreed_as_asked_is_reported() {
    let stage = Stage::new();
    script(&stage, "request = heard()\nerror(request, -32601, 'Method not found')\nresult(heard(), tools=[])\nheard()");
    let modern = run(&stage, &["call", "tools/list", "--era", "modern"], &SCRIPTED);
    assert_eq!((modern.code(), modern.err().lines().count()), (0, 1), "{modern:?}");
    assert!(modern.err().contains("continued in the modern era, as requested"), "{modern:?}");
    script(&stage, "handshake()\nresult(heard(), tools=[])");
    let other = run(&stage, &["call", "tools/list", "--protocol-version", "2024-11-05"], &SCRIPTED);
    assert_eq!((other.code(), other.err().lines().count()), (0, 1), "{other:?}");
    assert!(other.err().contains("requested revision 2024-11-05") && other.err().contains("2025-06-18"), "{other:?}");
}

#[test]
fn a_start_that_fails_is_reported_with_its_end() {
    let stage = Stage::new();
    let lines = "for n in range(20): sys.stderr.write('line %d\\n' % n)\nsys.stderr.flush()\n";
    script(&stage, &format!("{lines}os._exit(3)"));
    let output = run(&stage, &["call", "tools/list"], &SCRIPTED);
    assert_eq!(output.code(), 4, "{output:?}");
    let err = output.err();
    assert!(err.contains("the server ended with exit code 3 during the handshake"), "{err}");
    assert!(err.contains("line 8\n") && err.contains("line 19\n") && !err.contains("line 7\n"), "{err}");
    script(&stage, "os.kill(os.getpid(), 9)");
    for words in [&["call", "tools/list"][..], &["fire", "hook", "session_start"], &["fire", "user-message", "x"]] {
        let output = run(&stage, words, &SCRIPTED);
        assert!(output.err().contains("the server ended by signal 9 during the handshake"), "{output:?}");
    }
}

#[test]
fn a_push_without_a_host_says_so() {
    let stage = Stage::new();
    let output = stage.run(&["fire", "push", "--text", "x"], "");
    assert_eq!(output.code(), 1, "{output:?}");
    assert!(output.err().contains("not sent: no host completed the handshake"), "{output:?}");
}

#[test]
fn a_server_that_did_not_subscribe_gets_nothing() {
    let stage = Stage::new();
    for (capability, why) in [("", "does not declare"), ("conversationEvents={}", "without onUserMessage")] {
        stage.write("heard", "");
        script(&stage, &format!("handshake({capability})\nerror(heard(), -32601, 'no')\nheard()\n"));
        let output = run(&stage, &["fire", "user-message", "hello"], &SCRIPTED);
        assert_eq!(output.code(), 1, "{output:?}");
        assert!(output.err().contains("did not subscribe") && output.err().contains(why), "{output:?}");
        assert!(output.err().contains("--force"), "{output:?}");
        assert_eq!(methods(&received(&stage)).last(), Some(&"notifications/initialized"));
        let forced = run(&stage, &["fire", "user-message", "hello", "--force", "--carrier", "request"], &SCRIPTED);
        assert_eq!(forced.code(), 1, "refused: {forced:?}");
        assert_eq!(methods(&received(&stage)).last(), Some(&"conversation/userMessage"));
    }
    let dead = run(&stage, &["fire", "user-message", "hello"], &["--", "sh", "-c", "echo sorry >&2; exit 1"]);
    assert_eq!(dead.code(), 4, "{dead:?}");
    assert!(dead.err().contains("server's stderr: sorry"), "{dead:?}");
}

#[test]
fn hooks_fire_or_say_why_not() {
    let stage = Stage::new();
    let matched = run(&stage, &["fire", "hook", "post_tool_use", "--tool", "add_note", "--format", "json"], &SERVE);
    assert_eq!(matched.code(), 0, "{matched:?}");
    let reported = matched.json();
    let injected =
        reported["hooks"].as_array().expect("hooks").iter().find(|hook| hook["fires"] == true).expect("one fires");
    let text = injected["inject"].as_str().expect("text");
    assert!(text.contains("saved with add_note"), "the template is filled in: {text}");
    let skipped = reported["hooks"].as_array().expect("hooks").iter().filter(|hook| hook["fires"] == false);
    assert!(skipped.clone().count() > 0 && skipped.clone().all(|hook| hook["reason"].is_string()), "{reported}");
    let other = run(&stage, &["fire", "hook", "post_tool_use", "--tool", "Bash"], &SERVE);
    assert_eq!(other.code(), 1, "{other:?}");
    assert!(other.out().contains("skipped"), "{other:?}");
    for words in [&["fire", "hook", "post_tool_use"][..], &["fire", "hook", "session_start", "--tool", "x"]] {
        let output = run(&stage, words, &SERVE);
        assert_eq!(output.code(), 2, "{output:?}");
    }
}

#[test]
fn a_hooks_context_tool_is_called() {
    let stage = Stage::new();
    let words = ["fire", "hook", "session_start", "--project", "mannequin", "--format", "json"];
    let called = run(&stage, &words, &SERVE);
    assert_eq!(called.code(), 0, "{called:?}");
    let reported = called.json();
    let fired = &reported["hooks"][0];
    assert_eq!((&fired["context_tool"], &fired["arguments"]["limit"]), (&json!("search_memories"), &json!(3)));
    assert_eq!(fired["arguments"]["query"], "mannequin decisions, schema and preferences");
    assert!(fired["inject"].as_str().expect("text").contains("mannequin"), "{reported}");
    let named = run(&stage, &[&words[..], &["--no-call"]].concat(), &SERVE).json();
    assert_eq!((&named["hooks"][0]["fires"], &named["hooks"][0]["inject"]), (&json!(true), &Value::Null));
}

#[test]
fn a_failing_context_tool_and_odd_declarations_are_reported() {
    let stage = Stage::new();
    script(
        &stage,
        r#"
handshake(hooks={"declarations": [
    {"event": "session_start", "context_tool": "broken", "context_tool_args": {"x": "{session_id}"},
        "priority": "important"},
    {"event": "session_start", "context": "in {project_name}, {unknown}", "priority": "suggestion"},
    {"event": "no_such_event", "context": "x"}, 7]})
request = heard()
assert request["params"] == {"name": "broken", "arguments": {"x": "s-1"}}, request
error(request, -32602, "it is broken")
heard()
"#,
    );
    let words = ["fire", "hook", "session_start", "--project", "demo", "--session-id", "s-1"];
    let output = run(&stage, &words, &SCRIPTED);
    assert_eq!(output.code(), 1, "{output:?}");
    assert!(output.out().contains("it is broken") && output.out().contains("in demo"), "{output:?}");
    assert!(output.out().contains("invalid"), "{output:?}");
    script(&stage, "handshake()\nheard()");
    let none = run(&stage, &words, &SCRIPTED);
    assert_eq!((none.code(), none.out().contains("declares no hooks")), (1, true), "{none:?}");
}

/// A host that declares everything MCPL needs, after the handshake.
fn host(stage: &Stage, words: &[&str]) -> (Live, Value) {
    let mut server = stage.start(words);
    let mcpl = json!({"version": "0.4", "pushEvents": true, "featureSets": true});
    server.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "clientInfo": {"name": "scripted host", "version": "1"},
        "capabilities": {"experimental": {"mcpl": mcpl}}}}));
    let answer = server.message(|message| message["id"] == 1);
    server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    (server, answer["result"].clone())
}

/// Waits until the server has received everything sent so far, because a signal could overtake it. The server must send
/// nothing itself.
fn settle(server: &mut Live) {
    server.send(&json!({"jsonrpc": "2.0", "id": "settled", "method": "ping"}));
    assert_eq!(server.message(|_| true)["id"], "settled", "nothing comes of itself");
}

fn reports_in(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

#[test]
fn a_push_is_accepted() {
    let stage = Stage::new();
    let words = [
        "fire",
        "push",
        "--text",
        "deploy finished",
        "--event-id",
        "evt_7",
        "--feature-set",
        "deploys.done",
        "--origin",
        "source=ci",
        "--report",
        "facts.jsonl",
    ];
    let (mut server, reported) = host(&stage, &words);
    let sets = &reported["capabilities"]["experimental"]["mcpl"]["featureSets"];
    assert!(sets.to_string().contains("deploys.done"), "{sets}");
    let push = server.message(|message| message["method"] == "push/event");
    let params = &push["params"];
    assert_eq!((&params["featureSet"], &params["eventId"]), (&json!("deploys.done"), &json!("evt_7")));
    assert_eq!(params["origin"]["source"], "ci");
    assert!(params["payload"].to_string().contains("deploy finished"), "{params}");
    let result = json!({"accepted": true, "inferenceId": "inf_9"});
    server.send(&json!({"jsonrpc": "2.0", "id": push["id"], "result": result}));
    let output = server.end();
    assert_eq!(output.code(), 0, "{output:?}");
    assert_eq!(output.stdout, b"");
    let reports = reports_in(&String::from_utf8(stage.read("facts.jsonl")).expect("text"));
    let answered = reports.iter().find(|report| report["report"] == "push_answered").expect("reported");
    assert_eq!(
        (&answered["accepted"], &answered["inference_id"], &answered["event_id"]),
        (&json!(true), &json!("inf_9"), &json!("evt_7"))
    );
    assert_eq!(reports_in(&output.err()).last(), Some(answered), "also on standard error");
}

#[test]
fn a_push_that_is_refused_or_not_answered_is_a_finding() {
    let stage = Stage::new();
    let answers = [
        json!({"result": {"accepted": false, "reason": "busy"}}),
        json!({"error": {"code": -32001, "message": "Feature set not enabled"}}),
    ];
    for mut answer in answers {
        let (mut server, _) = host(&stage, &["fire", "push", "--text", "x"]);
        let push = server.message(|message| message["method"] == "push/event");
        answer["jsonrpc"] = json!("2.0");
        answer["id"] = push["id"].clone();
        server.send(&answer);
        assert_eq!(server.end().code(), 1, "{answer}");
    }
    let (mut server, _) = host(&stage, &["fire", "push", "--text", "x", "--answer-timeout", "50ms", "--report", "r"]);
    server.message(|message| message["method"] == "push/event");
    until("the report", || String::from_utf8_lossy(&stage.read("r")).contains("unanswered").then_some(()));
    assert_eq!(server.end().code(), 1);
    // A host without MCPL receives no pushes.
    let mut server = stage.start(&["fire", "push", "--text", "x"]);
    server.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25",
        "capabilities": {}, "clientInfo": {"name": "plain", "version": "1"}}}));
    server.line();
    server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    server.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "ping"}));
    server.line();
    let output = server.end();
    assert_eq!(output.code(), 1);
    assert!(output.err().contains("not_sent"), "{output:?}");
}

#[test]
fn pushes_repeat_as_often_as_reported() {
    let stage = Stage::new();
    let words = ["fire", "push", "--text", "tick", "--event-id", "e", "--interval", "10ms", "--repeat", "3"];
    let (mut server, _) = host(&stage, &words);
    let mut ids = Vec::new();
    for _ in 0..3 {
        let push = server.message(|message| message["method"] == "push/event");
        ids.push(push["params"]["eventId"].as_str().expect("an id").to_owned());
        server.send(&json!({"jsonrpc": "2.0", "id": push["id"], "result": {"accepted": true}}));
    }
    assert_eq!(ids, ["e", "e-2", "e-3"]);
    assert_eq!(server.end().code(), 0);
}

#[test]
fn a_push_waits_for_its_signal() {
    let stage = Stage::new();
    let (mut server, _) = host(&stage, &["fire", "push", "--text", "now", "--on-signal"]);
    settle(&mut server);
    for _ in 0..2 {
        server.signal("USR1");
        let push = server.message(|message| message["method"] == "push/event");
        server.send(&json!({"jsonrpc": "2.0", "id": push["id"], "result": {"accepted": true}}));
    }
    assert_eq!(server.end().code(), 0);
}

#[test]
fn a_server_follows_its_plan() {
    let stage = Stage::new();
    let reminder = r#"{"after_ms":1,"every_ms":5,"times":2,"fire":{"kind":"reminder","body":"look at lib.rs"}}"#;
    let log = r#"{"after_ms":1,"fire":{"kind":"log","level":"warning","data":"planned"}}"#;
    let (mut server, reported) = host(&stage, &["serve", "--plan", reminder, "--plan", log, "--report", "facts"]);
    assert_eq!(reported["serverInfo"]["name"], "mcpreel-live");
    let sent = [server.message(|_| true), server.message(|_| true), server.message(|_| true)];
    let mut found = methods(&sent);
    found.sort_unstable();
    assert_eq!(found, ["notifications/message", "notifications/reminder", "notifications/reminder"]);
    let reminder = sent.iter().find(|message| message["method"] == "notifications/reminder").expect("one");
    assert_eq!(reminder["params"]["reminder"]["body"], "look at lib.rs");
    let output = server.end();
    assert_eq!((output.code(), output.err()), (0, String::new()));
    let reports = reports_in(&String::from_utf8(stage.read("facts")).expect("text"));
    assert_eq!(reports.iter().filter(|report| report["report"] == "sent").count(), 3, "{reports:?}");
}

#[test]
fn what_a_plan_cannot_send_is_said_once() {
    let stage = Stage::new();
    let plan = r#"{"after_ms":1,"every_ms":1,"times":3,"fire":{"kind":"push","text":"x"}}"#;
    let refused = stage.run(&["serve", "--declare", "hooks", "--plan", plan], "");
    assert_eq!(refused.code(), 2);
    assert!(refused.err().contains("--plan: push: the server does not declare mcpl"), "{refused:?}");
    // A host without MCPL receives no pushes.
    let mut server = stage.start(&["serve", "--plan", plan, "--report", "r"]);
    server.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25",
        "capabilities": {}, "clientInfo": {"name": "plain", "version": "1"}}}));
    server.line();
    server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let unsent = || String::from_utf8_lossy(&stage.read("r")).matches("not_sent").count();
    until("the reports", || (unsent() == 3).then_some(()));
    let output = server.end();
    assert_eq!((output.code(), output.err().matches("push/event was not sent: ").count()), (0, 1), "{output:?}");
}

#[test]
fn a_server_fires_on_a_signal() {
    let stage = Stage::new();
    let push = r#"{"kind":"push","text":"deploy done"}"#;
    let note = r#"{"kind":"notification","method":"x/y","params":{"n":1}}"#;
    let (mut server, _) = host(&stage, &["serve", "--on-signal", push, "--on-signal", note]);
    settle(&mut server);
    for _ in 0..2 {
        server.signal("USR1");
        assert_eq!(server.message(|_| true)["method"], "push/event");
        assert_eq!(server.message(|_| true)["params"], json!({"n": 1}));
    }
    assert_eq!(server.end().code(), 0);
}

#[test]
fn a_signal_through_the_tap_fires_too() {
    let stage = Stage::new();
    let note = r#"{"kind":"notification","method":"x/y"}"#;
    let words = ["record", "-o", "t.reel", "--", BINARY, "serve", "--on-signal", note];
    let (mut tap, _) = host(&stage, &words);
    settle(&mut tap);
    tap.signal("USR1");
    assert_eq!(tap.message(|_| true)["method"], "x/y");
    assert_eq!(tap.end().code(), 0);
    let shown = stage.ok(&["show", "t.reel", "method:x/y", "--jq", ".dir"]);
    assert_eq!(shown.out(), "s2c\n");
}

#[test]
fn a_server_declares_only_what_it_is_reported() {
    let stage = Stage::new();
    let (server, reported) = host(&stage, &["serve", "--declare", "reminder"]);
    let capabilities = &reported["capabilities"];
    assert!(capabilities.get("reminders").is_some(), "{capabilities}");
    assert!(
        ["conversationEvents", "events", "hooks", "experimental"].iter().all(|name| capabilities.get(name).is_none())
    );
    assert_eq!(server.end().code(), 0);
    let wrong = stage.run(&["serve", "--declare", "nonsense"], "");
    assert_eq!(wrong.code(), 2, "{wrong:?}");
    assert!(wrong.err().contains("conversation, reminder, mcpl, hooks, mcpe"), "{wrong:?}");
    for words in [
        ["serve", "--plan", "{}"],
        ["serve", "--on-signal", "{\"kind\":\"x\"}"],
        ["serve", "--on-signal", "{\"kind\":\"reminder\",\"body\":\"\"}"],
        ["serve", "--set", "conversation.carrier=pigeon"],
        ["serve", "--set", "nonsense.x=1"],
        ["serve", "--era", "stone"],
    ] {
        assert_eq!(stage.run(&words, "").code(), 2, "{words:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_ids() {
    let stage = Stage::new();
    let note = || {
        let (mut server, _) = host(&stage, &["serve", "--seed", "7"]);
        let call = json!({"name": "add_note", "arguments": {"text": "x"}});
        server.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}));
        server.message(|message| message["id"] == 2)["result"].clone()
    };
    let first = note();
    assert!(first["state"]["checkpoint"].is_string(), "{first}");
    assert_eq!(first, note());
}

#[test]
fn an_interrupted_call_says_so_and_leaves_no_server() {
    let stage = Stage::new();
    script(
        &stage,
        "handshake()\nopen('pid.part', 'w').write(str(os.getpid()))\nos.rename('pid.part', 'pid')\nwhile True: heard()",
    );
    let call = stage.start(&["call", "tools/list", "--timeout", "1h", "--", "python3", "server.py"]);
    let pid: i32 =
        until("the server", || std::fs::read_to_string(stage.path("pid")).ok()).parse().expect("a process id");
    call.signal("INT");
    let output = call.end();
    assert_eq!(output.code(), 130, "{output:?}");
    assert!(output.err().contains("interrupted"), "{output:?}");
    until("the server's end", || (!lives(pid)).then_some(()));
}

/// The handshake of a plain host.
fn plain_host(stage: &Stage, words: &[&str]) -> (Live, Value) {
    let mut server = stage.start(words);
    server.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25",
        "capabilities": {}, "clientInfo": {"name": "plain", "version": "1"}}}));
    let reported = server.message(|message| message["id"] == 1);
    server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    (server, reported["result"].clone())
}

#[test]
fn a_reminder_goes_out_as_it_was_asked_for() {
    let stage = Stage::new();
    let words = "fire reminder tests-fail --tag ci --tag tests --dedupe-key ci --ttl 3 --preserve --propagate all \
        --role user_block --report facts";
    let (mut server, reported) = plain_host(&stage, &words.split_whitespace().collect::<Vec<_>>());
    let declared = &reported["capabilities"]["reminders"];
    assert_eq!(declared["emit"], true);
    assert!(declared["propagate"].to_string().contains("all") && declared["roleHints"].to_string().contains("user_"));
    let message = server.message(|message| message["method"] == "notifications/reminder");
    let reminder = &message["params"]["reminder"];
    let wanted = json!({"body": "tests-fail", "tags": ["ci", "tests"], "dedupeKey": "ci", "ttlTurns": 3,
        "preserveOnCompact": true, "propagate": "all", "roleHint": "user_block", "id": reminder["id"]});
    assert_eq!(reminder, &wanted);
    let output = server.end();
    assert_eq!((output.code(), output.out()), (0, String::new()), "{output:?}");
    let reported = reports_in(&output.err());
    assert_eq!((&reported[0]["report"], &reported[0]["reminder"]), (&json!("sent"), reminder));
    let kept = reports_in(&String::from_utf8(stage.read("facts")).expect("text"));
    assert!(kept.contains(&reported[0]), "{kept:?}");
}

#[test]
fn a_reminder_in_the_older_envelope_is_a_log_message() {
    let stage = Stage::new();
    let words = ["fire", "reminder", "look", "--legacy", "--dedupe-key", "k", "--expect", ".reminder.dedupe_key"];
    let (mut server, _) = plain_host(&stage, &words);
    let message = server.message(|message| message["method"] == "notifications/message");
    let reminder = &message["params"]["_meta"]["harn"]["reminder"];
    assert_eq!((&reminder["body"], &reminder["dedupe_key"]), (&json!("look"), &json!("k")));
    assert_eq!(server.end().code(), 0);
}

#[test]
fn reminders_repeat_with_ids_of_their_own_and_a_host_that_never_comes_is_a_finding() {
    let stage = Stage::new();
    let (mut server, _) = plain_host(&stage, &["fire", "reminder", "tick", "--repeat", "3", "--interval", "5ms"]);
    let mut ids = std::collections::HashSet::new();
    for _ in 0..3 {
        let message = server.message(|message| message["method"] == "notifications/reminder");
        ids.insert(message["params"]["reminder"]["id"].to_string());
    }
    let output = server.end();
    assert_eq!((output.code(), ids.len()), (0, 3), "{output:?}");
    assert!(output.err().contains("3 sent, 0 failed"), "{output:?}");
    let alone = stage.run(&["fire", "reminder", "x"], "");
    assert_eq!((alone.code(), alone.err().contains("no host completed")), (1, true), "{alone:?}");
    let empty = stage.run(&["fire", "reminder", ""], "");
    assert_eq!((empty.code(), empty.err().contains("body")), (2, true), "{empty:?}");
}

#[test]
fn one_handshake_serves_all_repetitions() {
    let stage = Stage::new();
    script(
        &stage,
        r#"
handshake(conversationEvents={"onUserMessage": True}, hooks={"declarations": [
    {"event": "session_start", "priority": "important", "context_tool": "t", "context_tool_args": {}}]})
count = 0
while True:
    request = heard()
    count += 1
    if request["method"] == "tools/call":
        result(request, content=[{"type": "text", "text": "text %d" % count}])
    else:
        result(request, **({} if count == 2 else {"context": "context %d" % count}))
"#,
    );
    let message = ["fire", "user-message", "hi", "--message-id", "m", "--repeat", "3", "--deadline", "20s"];
    let json = ["--format", "json", "--expect", ".outcome.context.text == \"context \\(1,3)\" or .late"];
    let expected = ["--format", "json", "--expect", ".outcome.context.text"];
    let output = run(&stage, &[&message[..], &expected].concat(), &SCRIPTED);
    let reported = reports_in(&output.out());
    let ids: Vec<&Value> = reported.iter().map(|one| &one["outcome"]["message_id"]).collect();
    assert_eq!(ids, ["m", "m-2", "m-3"]);
    assert_eq!(output.code(), 1, "{output:?}");
    let said = output.err();
    assert!(said.contains("3 sent, 1 failed; latency min "), "{said}");
    assert_eq!(said.matches("expected .outcome.context.text, but got null from {").count(), 1, "{said}");
    assert_eq!(methods(&received(&stage)).iter().filter(|method| **method == "initialize").count(), 1);
    assert_eq!(run(&stage, &[&message[..], &json].concat(), &SCRIPTED).code(), 1, "each output must be true");

    let hook = ["fire", "hook", "session_start", "--repeat", "2", "--expect", ".hooks[0].inject == \"text 1\""];
    let output = run(&stage, &hook, &SCRIPTED);
    assert_eq!((output.code(), output.out().matches("text ").count()), (1, 2), "{output:?}");
    assert!(output.err().contains("2 sent, 1 failed"), "{output:?}");

    let ping = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;
    let raw =
        ["fire", "raw", ping, "--repeat", "3", "--interval", "1ms", "--format", "json", "--expect", ".answer.result"];
    let output = run(&stage, &raw, &SCRIPTED);
    let ids: std::collections::HashSet<String> =
        reports_in(&output.out()).iter().map(|one| one["answer"]["id"].to_string()).collect();
    assert_eq!((output.code(), ids.len(), ids.contains("7")), (0, 3, true), "{output:?}");
}

#[test]
fn what_is_expected_decides_and_a_mistake_in_it_is_reported_before_anything_runs() {
    let stage = Stage::new();
    let refused = r#"{"jsonrpc":"2.0","id":1,"method":"nothing"}"#;
    let words = ["fire", "raw", refused, "--expect", ".answer.error.code == -32601"];
    assert_eq!(run(&stage, &words, &SERVE).code(), 0);
    assert_eq!(run(&stage, &words[..3], &SERVE).code(), 1);
    let wrong = run(&stage, &["fire", "hook", "session_start", "--expect", ".a |"], &["--", "no-such-program"]);
    assert_eq!((wrong.code(), wrong.err().contains("--expect: a syntax error")), (2, true), "{wrong:?}");
    let alone = run(&stage, &["fire", "raw", refused, "--interval", "1s"], &SERVE);
    assert_eq!(alone.code(), 2, "an interval of one is none: {alone:?}");
    let nobody = ["fire", "raw", refused, "--timeout", "30ms", "--no-handshake", "--repeat", "2"];
    let deaf = ["--", "sh", "-c", "cat > /dev/null"];
    let output = run(&stage, &nobody, &deaf);
    assert_eq!((output.code(), output.err().contains("2 sent, 2 failed")), (5, true), "{output:?}");
    assert_eq!(run(&stage, &[&nobody[..], &["--expect", ".answer == null"]].concat(), &deaf).code(), 0);
    // Silence past the deadline is a timeout; with `--expect` for it, it is a success.
    script(&stage, "handshake(conversationEvents={\"onUserMessage\": True})\nwhile True: heard()\n");
    let silent = ["fire", "user-message", "x", "--carrier", "request", "--deadline", "30ms", "--linger", "10ms"];
    assert_eq!(run(&stage, &[&silent[..], &["--repeat", "2"]].concat(), &SCRIPTED).code(), 5);
    assert_eq!(run(&stage, &[&silent[..], &["--expect", ".outcome.timed_out"]].concat(), &SCRIPTED).code(), 0);
}
