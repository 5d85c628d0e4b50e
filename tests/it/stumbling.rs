//! What a developer of a server and a writer of shell scripts stumbled over: crashes that passed, advice that led nowhere,
//! reels that could not be overwritten, hints in words of the implementation.

use crate::common::{BINARY, Output, Stage, finish};
use serde_json::{Value, json};

/// A server with one tool. `MODE` says what it does besides.
const SERVER: &str = r#"
import json, sys
def say(message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
schema = {"type": "object", "properties": {"celsius": {"type": "number"}}, "required": ["celsius"]}
if MODE == "chatty": print("listening on stdio", flush=True)
for line in sys.stdin:
    message = json.loads(line)
    method, number, params = message.get("method"), message.get("id"), message.get("params", {})
    if method == "initialize":
        if MODE == "crash": params["no such key"]
        say({"id": number, "result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
            "serverInfo": {"name": "weather", "version": ""}}})
    elif method == "tools/list": say({"id": number, "result": {"tools": [{"name": "convert", "inputSchema": schema}]}})
    elif method == "tools/call" and MODE == "exit": sys.exit(3)
    elif method == "tools/call" and params["name"] != "convert":
        say({"id": number, "error": {"code": -32602, "message": "Unknown tool: " + params["name"]}})
    elif method == "tools/call" and "celsius" not in list(params.get("arguments") or {}):
        say({"id": number, "error": {"code": -32602, "message": "missing argument"}})
    elif method == "tools/call" and isinstance(params["arguments"]["celsius"], str):
        say({"id": number, "result": {"isError": True, "content": [{"type": "text", "text": "validation: expected number"}]}})
    elif method == "tools/call":
        say({"id": number, "result": {"structuredContent": {"f": 50}, "content": [{"type": "text", "text": '{"f": 50}'}]}})
    elif number is not None: say({"id": number, "error": {"code": -32601, "message": "no such method"}})
"#;

fn stage(mode: &str) -> Stage {
    let stage = Stage::new();
    stage.write("server.py", format!("MODE = {mode:?}\n{SERVER}"));
    stage
}

/// Runs mcpreel with the server as its command.
fn with_server(stage: &Stage, words: &[&str]) -> Output {
    stage.run(&[words, &["--", "python3", "server.py"]].concat(), "")
}

fn initialize() -> String {
    let params =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
    format!("{}\n", json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}))
}

#[test]
fn a_server_that_exits_before_it_answers_has_crashed() {
    let stage = stage("crash");
    stage.run(&["record", "-o", "a.reel", "--", "python3", "server.py"], initialize());
    let checked = stage.run(&["validate", "a.reel"], "");
    assert_eq!(checked.code(), 1, "{checked:?}");
    assert!(checked.out().contains("the server exited with code 1 before it answered seq 1"), "{checked:?}");
    assert!(!checked.out().contains("pairing/open-at-end"), "{checked:?}");
    let shown = stage.ok(&["show", "a.reel", "error", "--format", "json"]).out();
    assert!(shown.contains("stream-closed"), "{shown}");
    let stage = self::stage("exit");
    let call = with_server(&stage, &["call", "tools/call", "name=convert", "--era", "legacy", "--record", "em.reel"]);
    assert_eq!(call.code(), 4, "{call:?}");
    let checked = stage.run(&["validate", "em.reel", "--only", "lifecycle/server-crashed"], "");
    assert!(checked.code() == 1 && checked.out().contains("exited with code 3"), "{checked:?}");
}

#[test]
fn a_server_of_a_host_that_exits_has_crashed() {
    let stage = stage("crash");
    with_server(&stage, &["host", "--era", "legacy", "--record", "a.reel"]);
    let checked = stage.run(&["validate", "a.reel", "--only", "lifecycle/server-crashed"], "");
    assert!(checked.code() == 1 && checked.out().contains("exited with code 1"), "{checked:?}");
}

#[test]
fn a_server_that_ends_with_its_input_has_not_failed() {
    let stage = stage("good");
    stage.run(&["record", "-o", "a.reel", "--", "python3", "server.py"], initialize());
    assert_eq!(stage.run(&["show", "a.reel", "error"], "").out(), "");
}

#[test]
fn results_that_no_list_describes_are_said_to_be_unchecked() {
    let stage = stage("good");
    let words = ["call", "tools/call", "name=convert", "arguments.celsius:=10", "--record", "a.reel"];
    assert_eq!(with_server(&stage, &words).code(), 0);
    let checked = stage.run(&["validate", "a.reel"], "");
    let told = "structuredContent of 1 result was not checked: the session does not list the tools";
    let words: Vec<String> = checked.out().split_whitespace().map(str::to_owned).collect();
    assert!(words.join(" ").contains(told), "{checked:?}");
    // Again, over the same reel, as a Makefile does.
    let again = with_server(&stage, &["call", "tools/list", "--record", "a.reel"]);
    assert!(again.code() == 2 && again.err().contains("overwrite it with --force"), "{again:?}");
    assert_eq!(with_server(&stage, &["call", "tools/list", "--record", "a.reel", "--force"]).code(), 0);
    assert!(stage.ok(&["show", "a.reel"]).out().contains("tools/list"));
}

#[test]
fn all_commands_that_record_can_overwrite() {
    let stage = Stage::new();
    for words in
        [&["call"][..], &["fire", "user-message"], &["serve"], &["host"], &["overlay"], &["survive"], &["record"]]
    {
        let help = stage.ok(&[words, &["--help"]].concat()).out();
        assert!(help.contains("--force"), "{words:?}");
    }
}

#[test]
fn what_the_server_prints_besides_messages_is_told_once() {
    let stage = stage("chatty");
    let listed = with_server(&stage, &["call", "tools/list"]);
    let told = "the server printed something that is not a message: listening on stdio";
    assert_eq!((listed.code(), listed.err().matches(told).count()), (0, 1), "{listed:?}");
}

#[test]
fn misspelt_names_and_texts_for_json_have_advice() {
    let stage = stage("good");
    for (words, advice) in [
        (&["name=convrt"][..], "did you mean convert?"),
        (&["name=convert", "arguments.celcius:=1"], "did you mean celsius?"),
        (&["name=convert", "arguments={\"celsius\": 10}"], "arguments was sent as text; for JSON, write arguments:="),
        (&["name=convert", "{\"celsius\": 10}"], "'arguments:={\"celsius\": 10}'"),
        (&["convert", "celsius=10"], "tools/call name=convert arguments.celsius=10 -- python3 server.py"),
        // A tool whose name is also a program.
        (&["true", "celsius=10"], "tools/call name=true arguments.celsius=10 -- python3 server.py"),
    ] {
        let output = with_server(&stage, &[&["call", "tools/call"], words].concat());
        let said = output.err().split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(output.code() != 0 && said.contains(advice), "{words:?}: {output:?}");
        assert!(!said.contains("is missing before the command"), "{output:?}");
    }
}

#[test]
fn what_is_no_json_is_named_for_what_it_is() {
    let stage = stage("good");
    stage.write("x.yaml", "name: convert\n");
    for (word, expected) in [
        ("@x.yaml", "x.yaml: the file is not JSON"),
        ("-", "stdin is empty"),
        ("arguments.days:=three", "text is written with =: arguments.days=three"),
    ] {
        let output = with_server(&stage, &["call", "tools/call", word]);
        assert!(output.code() == 2 && output.err().contains(expected), "{output:?}");
        assert!(!output.err().contains("expected ident") && !output.err().contains("single quotes"), "{output:?}");
    }
}

#[test]
fn a_server_that_cannot_start_says_how_it_could() {
    let stage = stage("good");
    for (words, expected) in [
        (&["--", "server.py"][..], "it is a file here: python server.py or ./server.py"),
        (&["--", "./server.py"], "chmod +x ./server.py"),
        (&["--", "WEATHER_KEY=1", "python3", "x"], "use -e WEATHER_KEY=1"),
        (&["-e", "WEATHER_KEY", "--", "true"], "the server gets mcpreel's own environment anyway"),
    ] {
        let output = stage.run(&[&["call", "tools/list"], words].concat(), "");
        assert!(output.code() != 0 && output.err().contains(expected), "{words:?}: {output:?}");
    }
}

#[test]
fn the_ending_of_an_export_names_its_format() {
    let stage = stage("good");
    with_server(&stage, &["call", "tools/list", "--record", "a.reel"]);
    for (file, beginning) in [("b.html", "<!"), ("b.csv", "seq,"), ("b.mmd", "sequenceDiagram"), ("b.jsonl", "{\"")] {
        stage.ok(&["export", "a.reel", "-o", file]);
        let text = String::from_utf8(stage.read(file)).expect("text");
        assert!(text.contains(beginning) && text.starts_with(&beginning[..1]), "{file}: {}", &text[..80]);
    }
    serde_json::from_slice::<Value>(&stage.read("b.jsonl")).expect_err("several lines");
    stage.ok(&["export", "a.reel", "--format", "jsonl", "-o", "c.html"]);
    assert!(stage.read("c.html").starts_with(b"{"), "--format decides");
}

#[test]
fn messages_that_are_not_sent_say_what_to_do() {
    let stage = Stage::new();
    let refused = stage.run(&["fire", "push", "--text", "x", "--url", "http://127.0.0.1:1/"], "");
    assert!(refused.code() == 2 && refused.err().contains("--session NAME"), "{refused:?}");
}

#[test]
fn a_reel_without_a_folder_can_be_named() {
    let stage = Stage::new();
    stage.write("file", "");
    let (mut command, home) = (stage.mcpreel(&["demo"]), stage.path("file"));
    command.env("MCPREEL_HOME", &home).env("HOME", &home).env("XDG_STATE_HOME", &home);
    let output = finish(command, Vec::new());
    assert!(output.code() != 0 && output.err().contains("-o FILE"), "{output:?}");
}

#[test]
fn lines_that_are_no_messages_are_counted_apart() {
    let stage = stage("chatty");
    with_server(&stage, &["call", "tools/list", "--record", "a.reel"]);
    let checked = stage.run(&["validate", "a.reel"], "");
    let words: Vec<String> = checked.out().split_whitespace().map(str::to_owned).collect();
    assert!(words.join(" ").contains("and 1 line that is no message over 1 connection"), "{checked:?}");
}

#[test]
fn a_recording_without_traffic_lacks_none() {
    let stage = Stage::new();
    let output = stage.run(&["record", "-o", "/proc/no/such.reel", "--", BINARY, "serve"], "");
    assert!(!output.err().contains("bytes of traffic"), "{output:?}");
}

#[test]
fn texts_for_numbers_and_options_of_the_server_have_advice() {
    let stage = stage("");
    let call = with_server(&stage, &["call", "tools/call", "name=convert", "arguments.celsius=10"]);
    assert_eq!(call.code(), 1, "{call:?}");
    let meant = "celsius is of type number, but = sends text; did you mean: mcpreel call tools/call name=convert \
        arguments.celsius:=10 -- python3 server.py\n";
    assert!(call.err().contains(meant), "{call:?}");
    let call = with_server(&stage, &["call", "tools/call", "name=convert", "arguments.celsius=cold"]);
    assert!(call.code() == 1 && !call.err().contains("did you mean"), "{call:?}");
    let given = with_server(&stage, &["call", "tools/call", "name=convert", "name=x"]);
    let twice = "the parameter name is given twice: \"name=convert\" and \"name=x\"";
    assert!(given.code() == 2 && given.err().contains(twice), "{given:?}");
    let got = "the server got --timeout; mcpreel's own options stand before the `--`";
    for (server, has_advice) in [("echo ready --timeout 5s", true), ("echo ready --port 5", false)] {
        let words: Vec<&str> = ["call", "tools/list", "--"].into_iter().chain(server.split(' ')).collect();
        let call = stage.run(&words, "");
        assert!(call.code() == 4 && call.err().contains(got) == has_advice, "{server}: {call:?}");
    }
    let ping = stage.run(&["call", "ping", "--", BINARY, "serve"], "");
    assert!(ping.code() == 1 && ping.err().contains("--era legacy speaks an earlier one"), "{ping:?}");
}

#[test]
fn words_that_a_command_does_not_know_have_advice() {
    let stage = Stage::new();
    for (words, advice) in [
        (&["fire", "user-message", "which", "schema", "--", BINARY, "serve"][..], "several words in quotes"),
        (&["fire", "user-message", "hi", "--jq", ".x", "--", BINARY, "serve"], "--format json prints JSON"),
        (&["show", "--tail", "2"], "--last COUNT"),
        (&["show", "--head", "2"], "--limit COUNT"),
    ] {
        let output = stage.run(words, "");
        assert!(output.code() == 2 && output.err().contains(advice), "{words:?}: {output:?}");
    }
}

#[test]
fn a_raw_message_without_a_version_gets_the_handshake() {
    let stage = Stage::new();
    let params = json!({"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "c", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}}});
    for (message, first) in [
        (json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}), "initialize"),
        (json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params}), "server/discover"),
    ] {
        let reel = format!("{first}.reel").replace('/', "-");
        let words = ["fire", "raw", &message.to_string(), "--format", "json", "--record", &reel, "--", BINARY, "serve"];
        let fired = stage.run(&words, "");
        assert!(fired.code() == 0 && fired.json()["answer"]["result"].is_object(), "{fired:?}");
        let sent = stage.ok(&["show", &reel, "kind:request dir:c2s", "--jq", ".message.method"]).out();
        let methods = [first, message["method"].as_str().expect("a method")];
        assert_eq!(sent.lines().collect::<Vec<_>>(), methods);
        let checked = stage.run(&["validate", &reel, "--only", "pairing/id-reused"], "");
        assert_eq!(checked.code(), 0, "{checked:?}");
    }
}

#[test]
fn an_overview_does_not_wait_for_the_servers_end() {
    let stage = stage("");
    // It ends 60 s after its input.
    let server = "python3 server.py; sleep 60";
    let mut call = stage.start(&["call", "--jq", ".server.name", "--", "sh", "-c", server]);
    assert_eq!(call.line(), "weather");
    call.end();
}

#[test]
fn requests_that_cannot_be_repeated_become_comments() {
    let stage = stage("");
    let messages = [&initialize()[..], "{\"id\":2,\"method\":\"ping\",\"params\":[]}\n"].concat();
    stage.run(&["record", "-o", "a.reel", "--", "python3", "server.py"], messages);
    let shown = stage.ok(&["show", "a.reel", "--as-call"]);
    assert!(
        shown.out().starts_with("# event ") && shown.out().contains(" has params that are not an object; "),
        "{shown:?}"
    );
    let shown = stage.ok(&["show", "a.reel", "--as-call", "tool:nope"]);
    assert_eq!((shown.out().as_str(), shown.err().matches("can repeat").count()), ("", 1), "{shown:?}");
}

#[test]
fn messages_that_do_not_say_who_sent_them_can_be_imported() {
    let stage = stage("");
    stage.write("sent.jsonl", initialize());
    let shown = stage.run(&["show", "sent.jsonl"], "");
    assert!(
        shown.code() == 3 && shown.err().contains("mcpreel import --client sent.jsonl -o session.reel"),
        "{shown:?}"
    );
    stage.ok(&["import", "--client", "sent.jsonl", "-o", "session.reel"]);
    assert!(stage.ok(&["show", "session.reel"]).out().contains("initialize"));
}

#[test]
fn inputs_that_cannot_be_meant_are_named() {
    let stage = stage("");
    stage.write("sent.jsonl", initialize());
    stage.ok(&["import", "--client", "sent.jsonl", "-o", "session.reel"]);
    let imported = stage.run(&["import", "session.reel", "-o", "again.reel"], "");
    assert!(imported.code() == 3 && imported.err().contains("session.reel is a reel already"), "{imported:?}");
    let compared = stage.run(&["diff", "-", "-"], stage.read("session.reel"));
    assert!(compared.code() == 2 && compared.err().contains("only one recording can come from stdin"), "{compared:?}");
}
