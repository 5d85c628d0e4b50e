//! What strangers wrote does nothing where it is displayed: no output steers a terminal, and no line of text is a command
//! to a build server, which reads the logs of its steps.

use crate::common::{CREATED, Output, Stage, message, time};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mcpreel::testing::formats::{Content, EXPORT};
use mcpreel::testing::render::text::visible;
use serde_json::{Value, json};

/// Commands of GitHub Actions and Azure Pipelines at the beginnings of lines, after blanks and after what is not seen;
/// control characters and direction marks.
const HOSTILE: &str = "x\n::error::a\r\n \t::set-output name=b::c\n\u{200b}\u{feff}::add-mask::d\r\u{9b}2J::e\u{202e}\n\
    ##[add-path]f ##vso[task.complete]g\n\u{a0}:\u{ad}:warning::h\u{2028}\u{7f}\u{1b}[31m=1+1";

/// A reel with such text in every place.
fn hostile_lines() -> String {
    let described = |event: &str, reported: Value| {
        let mut payload = Vec::new();
        ciborium::into_writer(&reported, &mut payload).expect("a Vec takes all");
        json!({"time": time(1), "stream": 1, "dir": "s2c", "event": event, "framing": "whole",
            "base64": STANDARD.encode(payload)})
    };
    let raw = |at: u64, event: &str, bytes: &[u8]| json!({"time": time(at), "dir": "s2c", "event": event, "framing": "whole", "base64": STANDARD.encode(bytes)});
    let opened = json!({"transport": "stdio", "server": HOSTILE, "command": [HOSTILE, HOSTILE]});
    let error = json!({"code": -32601, "message": HOSTILE, "data": HOSTILE});
    let content = json!([{"type": "text", "text": HOSTILE}]);
    let events = [
        described("stream-opened", opened),
        described(
            "transport",
            json!({"what": "request", "method": HOSTILE, "target": HOSTILE, "headers": [[HOSTILE, HOSTILE]]}),
        ),
        described("transport", json!({"what": "body", "bytes": 3, "text": HOSTILE})),
        described("gap", json!({"reason": HOSTILE, "lane": HOSTILE, "bytes": 1})),
        described("note", json!({"mark": HOSTILE, HOSTILE: HOSTILE})),
        message(
            10,
            "c2s",
            json!({"jsonrpc": "2.0", "id": HOSTILE, "method": "initialize", "params": {"protocolVersion": "2025-11-25",
                "capabilities": {}, "clientInfo": {"name": HOSTILE, "version": HOSTILE}}}),
        ),
        message(
            20,
            "s2c",
            json!({"jsonrpc": "2.0", "id": HOSTILE, "result": {"protocolVersion": "2025-11-25", "capabilities": {},
                "serverInfo": {"name": HOSTILE, "version": HOSTILE}, "instructions": HOSTILE}}),
        ),
        message(
            30,
            "c2s",
            json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": HOSTILE,
                "arguments": {HOSTILE: HOSTILE, "a": HOSTILE}}}),
        ),
        message(40, "s2c", json!({"jsonrpc": "2.0", "id": 2, "result": {"isError": true, "content": content}})),
        message(50, "c2s", json!({"jsonrpc": "2.0", "id": 3, "method": HOSTILE, "params": {HOSTILE: HOSTILE}})),
        message(60, "s2c", json!({"jsonrpc": "2.0", "id": 3, "error": error})),
        message(70, "s2c", json!([{"jsonrpc": "2.0", "method": HOSTILE, "params": [HOSTILE]}])),
        raw(100, "message", HOSTILE.as_bytes()),
        raw(110, "message", b"::error::noise"),
        raw(120, "message", b"[1,::error::a,\n ::set-output name=b::c]"),
        raw(130, "message", b"{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":NaN}"),
        raw(140, "message", br#"{"jsonrpc":"2.0","method":"half\ud83d","params":["\udc00 ##[error]"]}"#),
        raw(150, "message", b"{\"jsonrpc\":\"2.0\",\"method\":\"\xff\xfe\",\"params\":[\"\xe2\x80\"]}"),
        raw(160, "message", b"{\"jsonrpc\":\"2.0\",\r\n\"id\":5,\"error\":{\"code\":1,\"message\":\"::error::z\"}}"),
        raw(170, "stderr", format!("{HOSTILE}\n::error::s\n").as_bytes()),
    ];
    let head =
        json!({"version": 1, "created": CREATED, "tool": HOSTILE, "label": HOSTILE, "notes": {HOSTILE: HOSTILE}});
    let mut lines = json!({"reel": head}).to_string();
    events.iter().for_each(|event| lines.push_str(&format!("\n{event}")));
    lines
}

/// Whether a character takes no space, or only space.
fn is_blank(found: char) -> bool {
    found.is_whitespace()
        || found.is_control()
        || matches!(found, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// The first line that a build server takes for a command.
fn command_of(text: &str) -> Option<&str> {
    text.split(['\n', '\r']).find(|line| {
        let seen: String = line.trim_start_matches(is_blank).chars().filter(|found| !is_blank(*found)).collect();
        let shown: String = line.chars().filter(|found| !is_blank(*found) || *found == ' ').collect();
        seen.starts_with("::") || ["##[", "##vso["].iter().any(|start| shown.to_lowercase().contains(start))
    })
}

#[track_caller]
fn assert_harmless(what: &str, bytes: &[u8]) {
    let text = std::str::from_utf8(bytes).unwrap_or_else(|error| panic!("{what}: {error}"));
    if let Some(line) = command_of(text) {
        panic!("{what}: the line {line:?} is a command");
    }
    let odd = text.char_indices().find(|(_, found)| !matches!(found, '\n' | '\t') && visible(*found) != *found);
    if let Some((at, odd)) = odd {
        let around: String = text[..at].chars().rev().take(60).collect::<Vec<_>>().into_iter().rev().collect();
        panic!("{what}: {odd:?} after {around:?}");
    }
}

#[track_caller]
fn assert_harmless_output(what: &str, output: &Output) {
    assert_harmless(&format!("{what} on standard output"), &output.stdout);
    assert_harmless(&format!("{what} on standard error"), &output.stderr);
}

#[test]
fn no_format_of_export_acts_when_it_is_displayed() {
    let stage = Stage::new();
    stage.import("hostile.reel", hostile_lines());
    let formats = EXPORT.iter().map(|format| (format.name, format.content)).chain([("html", Content::Text)]);
    for (format, content) in formats.filter(|(_, content)| *content != Content::Binary) {
        let output = stage.ok(&["export", "--format", format, "hostile.reel"]);
        assert!(output.stdout.len() > 1000, "{format} has the messages");
        assert_harmless_output(format, &output);
        if content == Content::Json {
            let values = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<serde::de::IgnoredAny>();
            assert!(!values.map(|value| value.expect(format)).collect::<Vec<_>>().is_empty(), "{format}");
        }
    }
}

#[test]
fn json_lines_keep_every_byte_although_they_are_escaped() {
    let stage = Stage::new();
    stage.import("hostile.reel", hostile_lines());
    let exported = stage.ok(&["export", "hostile.reel"]).stdout;
    stage.write("exported.jsonl", &exported);
    stage.ok(&["import", "exported.jsonl", "-o", "again.reel"]);
    for stream in ["c2s", "s2c", "stderr"] {
        assert_eq!(stage.cat("again.reel", stream), stage.cat("hostile.reel", stream), "{stream}");
    }
    assert_eq!(stage.info("again.reel")["label"], HOSTILE);
    assert_eq!(stage.ok(&["export", "again.reel"]).stdout, exported);
    // Who reads the lines finds the message in its place.
    let lines: Vec<&[u8]> = exported.split(|byte| *byte == b'\n').collect();
    let called = lines.iter().filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    let called = called.into_iter().find(|line| line["message"]["method"] == "tools/call").expect("the call");
    assert_eq!(called["message"]["params"]["name"], HOSTILE);
    assert!(called["base64"].is_string());
    // What needs no escape stands there as it was sent, and only once.
    let plain = r#"{"jsonrpc":"2.0", "method":"größe ## [x] ::y","params":[1.0,"a::b"]}"#;
    let line = format!("{{\"time\":\"{}\",\"message\":{plain}}}", time(1));
    stage.import("plain.reel", format!("{{\"reel\":{{\"version\":1,\"created\":\"{CREATED}\"}}}}\n{line}\n"));
    let plain_export = stage.ok(&["export", "plain.reel"]).out();
    assert!(plain_export.ends_with(&format!("\"message\":{plain}}}\n")), "{plain_export}");
}

#[test]
fn no_text_of_a_reel_acts_when_it_is_displayed() {
    let stage = Stage::new();
    stage.import("hostile.reel", hostile_lines());
    let harmless = json!({"jsonrpc": "2.0", "id": 3, "method": "ping", "params": {"a": 1}});
    stage.reel("other.reel", &[message(1, "c2s", harmless)]);
    stage.write("broken.yaml", format!("- {HOSTILE}: ["));
    stage.write("noise.log", format!("{HOSTILE}\n"));
    let (reel, other) = ("hostile.reel", "other.reel");
    let commands: Vec<Vec<&str>> = vec![
        vec!["show", reel],
        vec!["show", reel, "--details"],
        vec!["show", reel, "--details", "--color", "always", "-n", "0"],
        vec!["show", reel, "--full"],
        vec!["show", reel, "--full", "--no-fold"],
        vec!["show", reel, "--full", "--limit", "99"],
        vec!["show", reel, "--format", "table", "--details"],
        vec!["show", reel, "--format", "json"],
        vec!["show", reel, "--check"],
        vec!["show", reel, "--as-call"],
        vec!["show", reel, "--view", "sequence"],
        vec!["show", reel, "--view", "sequence", "--format", "json"],
        vec!["show", reel, "--view", "timeline"],
        vec!["show", reel, "--view", "timeline", "--format", "json"],
        vec!["show", reel, "--view", "prompt"],
        vec!["show", reel, "--view", "prompt", "--format", "json"],
        vec!["show", reel, "--view", "tree"],
        vec!["show", reel, "--jq", ".message // {}"],
        vec!["show", reel, "--jq", HOSTILE],
        vec!["show", reel, HOSTILE],
        vec!["show", HOSTILE],
        vec!["validate", reel],
        vec!["validate", reel, "--format", "json"],
        vec!["validate", reel, "--format", "junit"],
        vec!["validate", reel, "--format", "sarif"],
        vec!["validate", reel, "--format", "markdown"],
        vec!["validate", "noise.log"],
        vec!["stats", reel],
        vec!["stats", reel, "--format", "json"],
        vec!["stats", reel, "--audit"],
        vec!["diff", reel, other],
        vec!["diff", other, reel, "--format", "json"],
        vec!["diff", other, reel, "--format", "markdown"],
        vec!["diff", other, reel, "--format", "html"],
        vec!["reel", "info", reel],
        vec!["reel", "info", reel, "--format", "json"],
        vec!["reel", "list", "--folder", "."],
        vec!["reel", "list", "--folder", ".", "--format", "json"],
        vec!["redact", reel, "--dry-run"],
        vec!["overlay", "broken.yaml", "--", "true"],
        vec!["call", HOSTILE, "--url", HOSTILE],
        vec!["call", "tools/list", "--", "sh", "-c", "printf '::error::a\\n ::b::c\\n\\n::d::e\\n' >&2; exit 1"],
        vec!["call", "tools/list", "--", HOSTILE],
        vec!["wrap", HOSTILE, "--config", "broken.yaml"],
        vec![HOSTILE],
    ];
    for words in commands {
        assert_harmless_output(&format!("{words:?}"), &stage.run(&words, ""));
    }
}

#[test]
fn annotations_are_commands_but_their_texts_are_not() {
    let stage = Stage::new();
    stage.import("hostile.reel", hostile_lines());
    let output = stage.run(&["validate", "hostile.reel", "--format", "github"], "").out();
    assert!(output.lines().count() > 2, "{output}");
    for line in output.lines() {
        let name = line.strip_prefix("::").and_then(|line| line.split([' ', ':']).next());
        assert!(matches!(name, Some("error" | "warning" | "notice")), "{line}");
    }
}

#[test]
fn text_that_is_no_command_is_shown_as_it_is() {
    let stage = Stage::new();
    let text = "std::vec a ::b\n## [c](d) #[e]\n: :f";
    let error = json!({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": text}});
    stage.reel("plain.reel", &[message(1, "s2c", error)]);
    for words in [
        &["export", "--format", "markdown", "plain.reel"][..],
        &["show", "plain.reel", "--jq", ".message.error.message"],
    ] {
        let output = stage.ok(words).out();
        assert!(output.contains(text), "{words:?}: {output}");
    }
    // Scripts that ask for a string get that string.
    let command = json!({"jsonrpc": "2.0", "method": "::1"});
    stage.reel("command.reel", &[message(1, "c2s", command)]);
    assert_eq!(stage.ok(&["show", "command.reel", "--jq", ".message.method"]).out(), "::1\n");
    let raw = stage.ok(&["show", "command.reel", "--raw"]).out();
    assert!(raw.contains("\"::1\""), "{raw}");
}

/// A server of the legacy era whose result is the text in a file.
const SERVER: &str = r#"
import json, sys
result = open(sys.argv[1], "rb").read()
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    about = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    answer = json.dumps(about).encode() if asked["method"] == "initialize" else result
    sys.stdout.buffer.write(b'{"jsonrpc":"2.0","id":%s,"result":%s}\n' % (json.dumps(asked["id"]).encode(), answer))
    sys.stdout.flush()
"#;

#[test]
fn call_prints_json_or_nothing() {
    let stage = Stage::new();
    stage.write("server.py", SERVER);
    let call = |format: &str, result: &[u8]| {
        stage.write("result", result);
        stage.run(&["call", "x/y", "--era", "legacy", "-f", format, "--", "python3", "server.py", "result"], "")
    };
    let broken: [&[u8]; 4] = [b"{\"a\":NaN}", b"[Infinity]", b"{\"a\":\"\xff\"}", b"{\"a\":\"::error::\xe2\x80\"}"];
    for format in ["human", "json", "envelope"] {
        for result in broken {
            let output = call(format, result);
            let said = output.err();
            assert_eq!((output.code(), output.out()), (4, String::new()), "{format}: {said}");
            assert!(said.contains("not JSON"), "{format}: {said}");
            assert_harmless_output(format, &output);
        }
        for result in [r#"{"a":1e400,"b":"\ud83d"}"#, "{\"a\":\"\u{9b}2J\u{202e}\",\"b\":\"##[error]x\"}"] {
            let output = call(format, result.as_bytes());
            assert_eq!(output.code(), 0, "{format}: {output:?}");
            assert_harmless_output(format, &output);
            let printed = output.out();
            serde_json::from_str::<serde::de::IgnoredAny>(&printed)
                .unwrap_or_else(|error| panic!("{printed}: {error}"));
        }
        let shown = call(format, "{\"a\":\"\u{9b}2J\u{202e} ##[error]\"}".as_bytes()).json();
        let result = if format == "envelope" { &shown["message"]["result"] } else { &shown };
        assert_eq!(result["a"], "\u{9b}2J\u{202e} ##[error]");
    }
    assert_eq!(call("json", b"{\"a\":1.50}").out(), "{\"a\":1.50}\n");
}
