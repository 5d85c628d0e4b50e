//! Files of other tools become reels: each file in `imports/` has the same session, in the form of one tool. It was
//! written by hand after what the tool writes, or documents.

use crate::common::{Output, Stage, binary};
use serde_json::Value;

/// What a format has of the session.
#[derive(Clone, Copy, PartialEq)]
enum Has {
    /// Every message, byte for byte.
    Bytes,
    /// Every message, as JSON.
    Json,
    /// As JSON, without the notifications of these sides.
    Without(&'static [&'static str]),
}

/// A file, the name of its format, and what it has.
const FILES: &[(&str, &str, Has)] = &[
    ("transcript.ndjson", "transcript", Has::Bytes),
    ("mcpsnoop.jsonl", "mcpsnoop", Has::Bytes),
    ("mcp-rec.jsonl", "mcp-rec", Has::Json),
    ("mcp-cassette.json", "mcp-cassette", Has::Json),
    ("mcp-recorder.json", "mcp-recorder", Has::Without(&["s2c"])),
    ("agent-vcr.vcr", "agent-vcr", Has::Without(&["c2s"])),
    ("mcp-vcr.yaml", "mcp-vcr", Has::Json),
    ("mcp-vcr.ndjson", "mcp-vcr-ndjson", Has::Json),
    ("mcp-snoop.log", "mcp-snoop", Has::Json),
    ("claude-desktop.log", "claude-desktop", Has::Bytes),
    ("vscode.log", "vscode", Has::Bytes),
    ("inspector.json", "inspector", Has::Json),
    ("inspector-network.json", "inspector", Has::Bytes),
    ("session.har", "har", Has::Bytes),
];

fn folder() -> String {
    format!("{}/tests/it/imports", env!("CARGO_MANIFEST_DIR"))
}

fn file(name: &str) -> String {
    format!("{}/{name}", folder())
}

/// The lines of the session that a side sent.
fn sent(side: &str) -> Vec<String> {
    let name = if side == "c2s" { "client.txt" } else { "server.txt" };
    std::fs::read_to_string(file(name)).expect("a file").lines().map(str::to_owned).collect()
}

/// The messages of a side, as `show --raw` prints them.
fn got(stage: &Stage, reel: &str, side: &str) -> Vec<String> {
    let shown = stage.ok(&["show", "--raw", reel, &format!("dir:{side} event:message")]).out();
    // Over HTTP, events have lines around the message.
    let lines = shown.lines().map(|line| line.strip_prefix("data: ").unwrap_or(line));
    lines.filter(|line| line.starts_with('{')).map(str::to_owned).collect()
}

fn parsed(lines: &[String]) -> Vec<Value> {
    lines.iter().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn assert_intact(stage: &Stage, reel: &str, what: &str, has: Has) {
    for side in ["c2s", "s2c"] {
        let (got, mut expected) = (got(stage, reel, side), sent(side));
        match has {
            Has::Bytes => assert_eq!(got, expected, "{what} {side}"),
            Has::Json | Has::Without(_) => {
                if matches!(has, Has::Without(sides) if sides.contains(&side)) {
                    expected.retain(|line| line.contains("\"id\""));
                }
                assert_eq!(parsed(&got), parsed(&expected), "{what} {side}");
            }
        }
    }
}

#[test]
fn every_message_that_a_format_has_is_in_the_reel() {
    for (name, format, has) in FILES {
        let stage = Stage::new();
        let output = stage.ok(&["import", &file(name), "-o", "it.reel"]);
        assert!(output.err().contains("this format cannot express: "), "{name}: {output:?}");
        stage.ok(&["reel", "verify", "it.reel"]);
        let notes = &stage.info("it.reel")["notes"];
        assert_eq!(notes["imported from"], *format, "{name}: {notes}");
        assert_intact(&stage, "it.reel", name, *has);
        // The format can be named, too, and every command reads the file as it is.
        stage.ok(&["import", &file(name), "-o", "named.reel", "--format", format]);
        assert_eq!(stage.read("named.reel"), stage.read("it.reel"), "{name}");
        assert_eq!(stage.ok(&["show", &file(name)]).out(), stage.ok(&["show", "it.reel"]).out(), "{name}");
    }
}

#[test]
fn an_imported_reel_is_validated_compared_and_replayed() {
    for (name, _, has) in FILES {
        let stage = Stage::new();
        stage.ok(&["import", &file(name), "-o", "it.reel"]);
        stage.ok(&["validate", "it.reel", "--fail-on", "warning"]);
        stage.ok(&["diff", "it.reel", &file(name)]);
        if !matches!(has, Has::Without(_)) {
            stage.ok(&["import", "--client", &file("client.txt"), "--server", &file("server.txt"), "-o", "plain.reel"]);
            stage.ok(&["diff", "plain.reel", "it.reel"]);
        }
        let replayed = stage.run(&["replay", "it.reel", "--", &binary(), "mock", "it.reel"], "");
        assert_eq!(replayed.code(), 0, "{name}: {replayed:?}");
    }
}

#[test]
fn files_with_the_lines_of_one_side_each_become_a_reel_without_times() {
    let stage = Stage::new();
    let (client, server) = (file("client.txt"), file("server.txt"));
    let output = stage.ok(&["import", "--client", &client, "--server", &server, "-o", "it.reel"]);
    assert!(output.err().contains("this format cannot express: times, the order between the two sides"), "{output:?}");
    for (side, path) in [("c2s", &client), ("s2c", &server)] {
        assert_eq!(stage.cat("it.reel", side), std::fs::read(path).expect("a file"), "{side}");
    }
    let shown = stage.ok(&["show", "it.reel"]).out();
    let arrows: String = shown.lines().filter_map(|line| line.chars().find(|it| "→←".contains(*it))).collect();
    assert_eq!(arrows, "→←→→←→←←", "{shown}");
    assert!(shown.lines().all(|line| line.contains(" – ")), "no times: {shown}");
    let json = stage.ok(&["show", "--format", "json", "it.reel"]).out();
    assert!(!json.contains("latency_ms"), "{json}");
    stage.ok(&["replay", "it.reel", "--", &binary(), "mock", "it.reel"]);
    // One side alone is enough for a replay, and stdin may be a side.
    let lines = std::fs::read(&client).expect("a file");
    let output = stage.run(&["import", "--client", "-", "-o", "client.reel"], &lines);
    assert_eq!(output.code(), 0, "{output:?}");
    assert_eq!(stage.cat("client.reel", "c2s"), lines);
}

#[test]
fn what_cannot_be_read_is_a_gap_and_the_rest_is_imported() {
    let stage = Stage::new();
    let cassette = std::fs::read_to_string(file("mcp-cassette.json")).expect("a file");
    stage.write("broken.json", cassette.replacen("\"sender\": \"server\"", "\"sender\": \"both\"", 1));
    let output = stage.run(&["import", "broken.json", "-o", "it.reel"], "");
    assert_eq!(output.code(), 1, "{output:?}");
    assert!(output.err().contains("broken.json: line 38: unknown sender \"both\""), "{output:?}");
    let events = stage.events("it.reel");
    let gap = events.iter().find(|event| event["event"] == "gap").expect("a gap");
    assert_eq!((&gap["data"]["line"], events.len()), (&Value::from(38), 10));
    // A file that ends in the middle.
    stage.write("cut.json", &cassette[..cassette.len() - 100]);
    let output = stage.run(&["import", "cut.json", "-o", "cut.reel"], "");
    assert_eq!(output.code(), 1, "{output:?}");
    assert!(output.err().contains("the file ends in the middle"), "{output:?}");
    assert_eq!(stage.ok(&["show", "cut.json"]).out().lines().count(), 9, "a stream, seven messages, a gap");
}

fn refused(output: &Output) -> String {
    assert_eq!(output.code(), 3, "{output:?}");
    output.err()
}

#[test]
fn the_error_of_an_unknown_file_lists_what_can_be_read() {
    let stage = Stage::new();
    stage.write("unknown.json", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
    let error = refused(&stage.run(&["import", "unknown.json", "-o", "it.reel"], ""));
    assert!(error.contains("unknown.json: unknown format"), "{error}");
    for (_, format, _) in FILES {
        assert!(error.contains(&format!("{format}: ")), "{format}: {error}");
    }
    assert!(error.contains("jsonl: ") && error.contains("--client FILE --server FILE"), "{error}");
    let error = refused(&stage.run(&["show", "unknown.json"], ""));
    assert!(error.contains("unknown format") && error.contains("mcpreel import --client unknown.json"), "{error}");
    stage.write("other.json", "{\"a\":1}\n");
    let error = refused(&stage.run(&["show", "other.json"], ""));
    assert!(error.contains("unknown format") && error.contains("`mcpreel import --help` lists"), "{error}");
    let error = refused(&stage.run(&["import", "--format", "har", "unknown.json", "-o", "it.reel"], ""));
    assert!(error.contains("unknown.json: line 1: "), "{error}");
}

/// The HAR that `export` writes of a reel, after it was checked against HAR 1.2.
fn exported(stage: &Stage, reel: &str) -> Value {
    let har = stage.ok(&["export", "--format", "har", reel]).out();
    let har: Value = serde_json::from_str(&har).expect("JSON");
    let schema: Value = serde_json::from_slice(&std::fs::read(file("har.schema.json")).expect("a file")).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let problems: Vec<String> =
        validator.iter_errors(&har).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(problems.is_empty(), "{problems:?}");
    har
}

/// The members of an entry that HTTP has.
fn of_http(entry: &Value) -> Value {
    let (request, response) = (&entry["request"], &entry["response"]);
    serde_json::json!([
        entry["time"].as_f64(),
        request["method"],
        request["url"],
        request["headers"],
        request["postData"]["text"],
        response["status"],
        response["headers"],
        response["content"]["text"],
        response["content"]["size"],
    ])
}

#[test]
fn a_har_file_survives_the_way_through_a_reel() {
    let stage = Stage::new();
    stage.ok(&["import", &file("session.har"), "-o", "it.reel"]);
    let first = exported(&stage, "it.reel");
    let original: Value = serde_json::from_slice(&std::fs::read(file("session.har")).expect("a file")).expect("JSON");
    let entries =
        |har: &Value| har["log"]["entries"].as_array().expect("entries").iter().map(of_http).collect::<Vec<_>>();
    assert_eq!(entries(&first), entries(&original));
    let listed = &first["log"]["entries"][3]["_eventSourceMessages"];
    assert_eq!(listed.as_array().map(Vec::len), Some(2), "{listed}");
    assert_eq!(listed[0]["eventName"], "message");
    // What mcpreel exports, it reads as it was.
    stage.write("again.har", first.to_string());
    stage.ok(&["import", "again.har", "-o", "again.reel"]);
    assert_eq!(exported(&stage, "again.reel"), first);
    let lines = |reel: &str| stage.ok(&["export", reel]).out().lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(lines("again.reel"), lines("it.reel"));
}

#[test]
fn a_har_file_keeps_the_label_and_how_a_stream_ended() {
    let stage = Stage::new();
    let server = "read line; echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}'; exit 3";
    let ping = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
    stage.run(&["record", "--label", "ci", "-o", "it.reel", "--", "sh", "-c", server], ping);
    stage.write("it.har", exported(&stage, "it.reel").to_string());
    stage.ok(&["import", "it.har", "-o", "again.reel"]);
    let said = |reel: &str| {
        let lines = stage.ok(&["export", reel]).out();
        let label = lines.lines().next().expect("a header").contains("\"label\":\"ci\"");
        let end: Value = serde_json::from_str(lines.lines().last().expect("an end")).expect("JSON");
        assert_eq!((&end["event"], &end["data"]["exit_code"]), (&"stream-closed".into(), &3.into()), "{lines}");
        (label, end)
    };
    let original = said("it.reel");
    assert!(original.0 && original.1["failed"] == true, "{original:?}");
    assert_eq!(said("again.reel"), original);
}

#[test]
fn streams_without_http_are_listed_as_those_of_a_web_socket() {
    let stage = Stage::new();
    stage.ok(&["import", &file("claude-desktop.log"), "-o", "it.reel"]);
    let har = exported(&stage, "it.reel");
    let entries = har["log"]["entries"].as_array().expect("entries");
    assert_eq!((entries.len(), &entries[0]["request"]["url"]), (1, &Value::from("stdio:notes")));
    let messages = entries[0]["_webSocketMessages"].as_array().expect("messages");
    assert_eq!(messages.len(), sent("c2s").len() + sent("s2c").len());
    assert_eq!((&messages[0]["type"], &messages[0]["data"]), (&"send".into(), &sent("c2s")[0].clone().into()));
    assert_eq!(entries[0]["_stderr"][0]["data"], "notes-server is ready\n");
    stage.write("it.har", har.to_string());
    stage.ok(&["import", "it.har", "-o", "again.reel"]);
    assert_intact(&stage, "again.reel", "again", Has::Bytes);
    assert_eq!(stage.cat("again.reel", "stderr"), b"notes-server is ready\n");
    assert_eq!(exported(&stage, "again.reel"), har);
}
