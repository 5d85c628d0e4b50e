//! What the user decides about a replay and a mock: what is ignored, which reel is kept, which session is served, and
//! where the reports go.

use crate::common::{Output, Stage, message};
use crate::replaying::{lines, reel, replay, request, result, server};
use serde_json::{Value, json};
use std::path::Path;

/// A server whose tools all say its argument.
const SAYER: &str = r#"
import json, sys
for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m:
        continue
    content = [{"type": "text", "text": sys.argv[1]}]
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": {"content": content}}), flush=True)
"#;

fn call(id: u64, tool: &str) -> (char, Value) {
    ('>', request(id, "tools/call", json!({"name": tool, "arguments": {"n": id}})))
}

fn said(id: u64, text: &str) -> (char, Value) {
    ('<', result(id, json!({"content": [{"type": "text", "text": text}]})))
}

/// A recording of two calls, and a server that says something.
fn two_calls(stage: &Stage, says: &'static str) -> [&'static str; 4] {
    reel(stage, "t.reel", &[call(1, "a"), said(1, "old"), call(2, "b"), said(2, "old")]);
    let [dashes, python, file] = server(stage, SAYER);
    [dashes, python, file, says]
}

/// The reels below a folder.
fn reels(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path());
    entries
        .map(
            |path| {
                if path.is_dir() { reels(&path) } else { usize::from(path.extension().is_some_and(|it| it == "reel")) }
            },
        )
        .sum()
}

#[test]
fn what_is_ignored_may_be_of_one_tool_and_must_exist() {
    let stage = Stage::new();
    let command = two_calls(&stage, "new");
    let changed = |options: &[&str]| {
        let output = replay(&stage, &[options, &["--format", "json"]].concat(), &command);
        (output.json()["diff"]["changed"].clone(), output.err())
    };
    let (count, notes) = changed(&["--ignore", "tools/call:a=/result/content/0/text"]);
    assert!(count == 1 && !notes.contains("matches nothing"), "{count} {notes}");
    let (count, _) = changed(&["--ignore", "tools/call:*=/result/content/*/text"]);
    assert_eq!(count, 0);
    let (count, notes) = changed(&["--ignore", "tools/list=/result/content", "--unordered", "/result/none"]);
    assert_eq!(count, 2);
    let all = ["--ignore tools/list=/result/content matches nothing", "--unordered /result/none matches nothing"];
    assert!(all.iter().all(|note| notes.contains(note)), "{notes}");
    stage.write(".mcpreel.toml", "[diff]\nignore = [\"/result/gone\", \"tools/call:b=/result/content\"]\n");
    let (count, notes) = changed(&[]);
    assert!(count == 1 && notes.contains("--ignore /result/gone matches nothing"), "{count} {notes}");
    assert!(!notes.contains("tools/call:b"), "{notes}");
    reel(&stage, "u.reel", &[call(1, "a"), said(1, "new")]);
    let output = stage.run(&["diff", "t.reel", "u.reel", "--unordered", "tools/call:a=/result/content=type"], "");
    assert!(!output.err().contains("--unordered") && output.err().contains("/result/gone matches"), "{output:?}");
}

#[test]
fn a_mock_ignores_what_some_requests_have_and_says_what_none_has() {
    let stage = Stage::new();
    two_calls(&stage, "x");
    let options = ["mock", "t.reel", "--ignore", "tools/call:a=/params/arguments/n", "--ignore", "/params/arguments/z"];
    let asked: String = [("a", 1), ("b", 2)]
        .map(|(tool, id)| format!("{}\n", request(id, "tools/call", json!({"name": tool, "arguments": {"n": 9}}))))
        .concat();
    let output = stage.run(&options, asked);
    let answers = lines(&output);
    assert_eq!((&answers[0]["result"]["content"][0]["text"], &answers[1]["result"]), (&json!("old"), &Value::Null));
    assert!(output.err().contains("--ignore /params/arguments/z matches nothing"), "{output:?}");
    assert!(!output.err().contains("arguments/n matches"), "{output:?}");
}

#[test]
fn the_user_decides_which_reel_is_kept() {
    let stage = Stage::new();
    let command = two_calls(&stage, "old");
    let count = || reels(&stage.path(""));
    let before = count();
    let output = replay(&stage, &["--no-record", "--format", "json"], &command);
    assert_eq!((output.code(), &output.json()["session"], &output.json()["diff"]["same"]), (0, &json!(""), &json!(2)));
    let output = replay(&stage, &["--no-record"], &command);
    assert!(output.err().contains("2 requests sent, 2 answers; A is the recording, B is not kept"), "{output:?}");
    assert_eq!(count(), before);
    assert_eq!(replay(&stage, &[], &command).code(), 0);
    assert_eq!(count(), before + 1);
    assert_eq!(replay(&stage, &["-o", "new.reel"], &command).code(), 0);
    let refused = replay(&stage, &["--record", "new.reel"], &command);
    assert!(refused.code() == 2 && refused.err().contains("new.reel already exists"), "{refused:?}");
    let other = two_calls(&stage, "new");
    let output = replay(&stage, &["-o", "new.reel", "--force"], &other);
    assert!(output.code() == 1 && output.err().contains("B is new.reel"), "{output:?}");
    assert!(stage.ok(&["show", "new.reel", "--raw"]).out().contains("new"));
    let updated = replay(&stage, &["--no-record", "--update"], &other);
    assert!(updated.err().contains("t.reel now contains the new session"), "{updated:?}");
    assert_eq!(replay(&stage, &["--no-record"], &other).code(), 0);
    // The recording itself is never replaced.
    let before = stage.read("t.reel");
    let refused = replay(&stage, &["-o", "t.reel", "--force"], &other);
    assert!(refused.code() == 2 && refused.err().contains("t.reel is the input itself"), "{refused:?}");
    assert_eq!(stage.read("t.reel"), before);
    for options in [&["--no-record", "-o", "x.reel"][..], &["--force"]] {
        assert_eq!(replay(&stage, options, &other).code(), 2, "{options:?}");
    }
}

#[test]
fn a_junit_file_is_written_beside_any_output() {
    let stage = Stage::new();
    let command = two_calls(&stage, "new");
    let junit = || String::from_utf8(stage.read("report.xml")).expect("text");
    for format in ["human", "json", "github"] {
        let output = replay(&stage, &["--junit", "report.xml", "--format", format], &command);
        assert_eq!(output.code(), 1, "{output:?}");
        assert!(!output.out().is_empty() && !output.out().contains("<testsuite"), "{output:?}");
        assert!(junit().contains(r#"tests="2" failures="2""#), "{}", junit());
        std::fs::remove_file(stage.path("report.xml")).expect("a report");
    }
    reel(&stage, "u.reel", &[call(1, "a"), said(1, "new")]);
    let output = stage.run(&[&["replay", "t.reel", "u.reel", "--junit=report.xml"][..], &command].concat(), "");
    assert!(output.code() == 1 && output.out().contains("different t.reel\n          - A t.reel\n"), "{output:?}");
    assert!(output.out().ends_with("ok        u.reel\n") && !output.out().contains("{\"recording\""), "{output:?}");
    assert_eq!((junit().matches("<testsuite ").count(), junit().matches("<failure").count()), (2, 2), "{}", junit());
    let output = replay(&stage, &["--junit", "no/such/report.xml"], &command);
    assert!(output.code() == 2 && output.err().contains("--junit: "), "{output:?}");
    let output = stage.run(&["replay", "none.reel", "--junit", "report.xml", "--", "true"], "");
    assert!(output.code() == 3 && junit().contains(r#"tests="1" failures="0" errors="1""#), "{output:?}");
}

#[test]
fn a_suite_notes_what_no_recording_has() {
    let stage = Stage::new();
    let command = two_calls(&stage, "old");
    reel(&stage, "u.reel", &[('>', request(1, "x/y", json!({}))), said(1, "old")]);
    let options = ["--no-record", "--ignore", "x/y=/result", "--ignore", "/result/gone"];
    let output = stage.run(&[&["replay", "t.reel", "u.reel"][..], &options, &command].concat(), "");
    assert_eq!(output.code(), 0, "{output:?}");
    assert_eq!(output.err().matches("--ignore /result/gone matches nothing").count(), 1, "{output:?}");
    assert!(!output.err().contains("x/y=/result matches nothing"), "{output:?}");
}

#[test]
fn a_replay_ends_at_the_first_answer_that_does_not_come_if_the_user_wants_that() {
    let stage = Stage::new();
    let messages = [call(1, "a"), said(1, "old"), call(2, "b"), said(2, "old"), call(3, "a"), said(3, "old")];
    reel(&stage, "t.reel", &messages);
    let [first, third] = [1, 3].map(|id| said(id, "old").1);
    let script = format!("read a; echo '{first}'; read b; read c && echo '{third}'; cat >/dev/null");
    for (options, sent, answered) in [(&["--fail-fast"][..], 2, 1), (&[], 3, 2)] {
        let options = [options, &["--timeout", "2s", "--format", "json"]].concat();
        let output = replay(&stage, &options, &["--", "sh", "-c", &script]);
        assert_eq!(output.code(), 5, "{output:?}");
        let report = output.json();
        assert_eq!((&report["sent"], &report["answered"]), (&json!(sent), &json!(answered)), "{report}");
        assert_eq!(report["failure"], "no answer to tools/call b (seq 2) within 2s");
    }
}

/// Writes a recording whose file ends in the middle: the answer to the second call is lost.
fn cut_short(stage: &Stage) {
    // Text that cannot be compressed, so that each message has its own part of the file.
    let mut state = 1u64;
    let mut noise = || -> String {
        let letter = |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            char::from(b'!' + 1 + (state >> 58) as u8)
        };
        (0..300_000).map(letter).collect()
    };
    let mut note = || ('>', json!({"jsonrpc": "2.0", "method": "notifications/x", "params": {"text": noise()}}));
    let notes = [note(), note(), note(), note()];
    let calls = [call(1, "a"), said(1, "old"), call(2, "b")];
    reel(stage, "cut.reel", &[&calls[..], &notes, &[said(2, "old")]].concat());
    let whole = stage.read("cut.reel");
    stage.write("cut.reel", &whole[..whole.len() - 100_000]);
}

#[test]
fn a_recording_that_ends_too_early_is_told_from_a_changed_server() {
    let stage = Stage::new();
    let command = two_calls(&stage, "old");
    cut_short(&stage);
    let run = |format: &str, says: &str| {
        stage.run(&["replay", "cut.reel", "--no-record", "--format", format, "--", "python3", "server.py", says], "")
    };
    let output = run("json", command[3]);
    assert_eq!(output.code(), 3, "{output:?}");
    let report = output.json();
    assert_eq!((&report["verdict"], &report["diff"]["changed"]), (&json!("failed"), &json!(0)), "{report}");
    assert!(report["failure"].as_str().is_some_and(|why| why.starts_with("the recording is incomplete: ")), "{report}");
    assert_eq!(report["sent_requests"], 2, "what it contains is sent");
    let output = run("human", "new");
    assert!(output.code() == 3 && output.out().contains("- \"old\"\n  + \"new\""), "{output:?}");
    assert!(output.err().contains("error: the recording is incomplete: "), "{output:?}");
    // Without its index, a reel may have lost its end. That matters if there is a difference.
    let whole = stage.read("t.reel");
    stage.write("cut.reel", &whole[..whole.len() - 4]);
    assert_eq!([run("human", "old").code(), run("human", "new").code()], [0, 3]);
}

fn handshake(id: u64) -> [Value; 2] {
    let about =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}});
    [request(id, "initialize", json!({"protocolVersion": "2025-11-25"})), result(id, about)]
}

fn in_stream(stream: u64, at: u64, direction: &str, content: Value) -> Value {
    let mut event = message(at, direction, content);
    event["stream"] = stream.into();
    event
}

fn ask_mock(stage: &Stage, options: &[&str], asked: &[Value]) -> Output {
    let text: String = asked.iter().map(|message| format!("{message}\n")).collect();
    stage.run(&[&["mock", "both.reel"], options].concat(), text)
}

#[test]
fn a_mock_serves_one_of_several_sessions() {
    let stage = Stage::new();
    let mut events = Vec::new();
    for stream in [1, 2] {
        let [asks, answers] = handshake(0);
        let calls = [call(1, "a").1, said(1, &format!("of {stream}")).1];
        for (at, content) in [asks, answers].into_iter().chain(calls).enumerate() {
            let direction = if at % 2 == 0 { "c2s" } else { "s2c" };
            events.push(in_stream(stream, stream * 10 + at as u64, direction, content));
        }
    }
    stage.reel("both.reel", &events);
    let asked = [handshake(0)[0].clone(), call(1, "a").1];
    let output = ask_mock(&stage, &["--stream", "2", "--strict"], &asked);
    assert_eq!((output.code(), &lines(&output)[1]["result"]["content"][0]["text"]), (0, &json!("of 2")), "{output:?}");
    let output = ask_mock(&stage, &["--stream", "7"], &asked);
    assert!(output.code() == 2 && output.err().contains("has no session 7\n  hint: it has 1, 2"), "{output:?}");
    let again = request(2, "tools/call", json!({"name": "a", "arguments": {"n": 1}}));
    let twice = [asked.clone().to_vec(), vec![again]].concat();
    let output = ask_mock(&stage, &["--strict"], &twice);
    assert_eq!((output.code(), lines(&output).len()), (0, 3), "the handshake of one session is enough: {output:?}");
    let output = ask_mock(&stage, &[], &[call(1, "a").1]);
    assert!(output.err().contains("3 recorded requests never asked for"), "{output:?}");
}

#[test]
fn the_help_of_replay_shows_a_suite_file() {
    let help = Stage::new().ok(&["replay", "--help"]).out();
    assert!(help.contains("  - reel: login.reel\n    command: [node, server.js]\n"), "{help}");
}
