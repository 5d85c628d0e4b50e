//! What others get to see: differences from a redacted reel, other formats, compressed bodies, long messages, cuts.

use crate::common::socket::{Tap, post, say, serve};
use crate::common::{BINARY, Stage, message, time};
use crate::memory::{watched, within};
use crate::redact::{contents, planted_reel, survivors};
use mcpreel::testing::trace::{EventKind, FileHeader, Flags, NewEvent, ReelWriter, WriterOptions};
use mcpreel::testing::wire::Framing;
use serde_json::json;
use std::io::Write;

const TOKEN: &str = "ghp_Zk4mQ9rT2vX7bN1cL8sD5fG3hJ6wP0yA";
const PASSWORD: &str = "q9w8e7r6t5y4u3i2";

/// A call with two secrets, and its answer.
fn small(stage: &Stage, name: &str) {
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "fetch",
        "arguments": {"api_key": PASSWORD, "token": TOKEN, "city": "Bonn"}}});
    let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {"content": [
        {"type": "text", "text": format!("used {PASSWORD} and {TOKEN}")}]}});
    stage.reel(name, &[message(1, "c2s", call), message(2, "s2c", answer)]);
}

#[test]
fn a_reel_and_its_redacted_copies_have_no_differences() {
    let stage = Stage::new();
    let all = planted_reel(&stage);
    stage.ok(&["redact", "planted.reel", "-o", "one.reel"]);
    stage.ok(&["redact", "planted.reel", "-o", "other.reel"]);
    stage.ok(&["redact", "planted.reel", "-o", "keyed.reel", "--key-file", "key"]);
    let exported = stage.ok(&["export", "one.reel"]);
    stage.write("one.jsonl", &exported.stdout);
    assert!(stage.read("one.reel") != stage.read("other.reel"), "each run has a key of its own");
    for pair in [
        &["planted.reel", "one.reel"][..],
        &["one.reel", "planted.reel"],
        &["one.reel", "other.reel"],
        &["planted.reel", "one.jsonl"],
        &["planted.reel", "keyed.reel"],
        &["planted.reel", "keyed.reel", "--key-file", "key"],
        &["planted.reel", "one.reel", "--exact", "--ids", "--times", "--order"],
    ] {
        let output = stage.run(&[&["diff", "--stderr"], pair].concat(), "");
        assert_eq!(output.code(), 0, "{pair:?} {output:?}");
        assert_eq!(survivors(&all, &output.stdout), [""; 0]);
    }
}

#[test]
fn a_difference_from_a_redacted_copy_is_shown_without_secrets() {
    let stage = Stage::new();
    small(&stage, "a.reel");
    stage.ok(&["redact", "a.reel", "-o", "r.reel"]);
    let lines = stage.ok(&["export", "r.reel"]).out();
    assert!(lines.contains("Bonn") && !lines.contains(PASSWORD), "{lines}");
    stage.import("changed.reel", lines.replace("Bonn", "Rome"));
    let output = stage.run(&["diff", "a.reel", "changed.reel"], "");
    assert_eq!(output.code(), 1, "{output:?}");
    let report = output.out();
    assert!(report.contains("\"Bonn\"") && report.contains("\"Rome\""), "{report}");
    assert!(!report.contains("redacted"), "only the city changed: {report}");
    assert!(!report.contains(PASSWORD) && !report.contains(&TOKEN[4..]), "{report}");
    // One of two places gets another pseudonym, as if there had been another secret.
    let key = lines.split("\"api_key\":\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a pseudonym");
    let other = format!("redacted{}", key[8..].chars().rev().collect::<String>());
    stage.import("swapped.reel", lines.replacen(key, &other, 1));
    let output = stage.run(&["diff", "a.reel", "swapped.reel", "--exact"], "");
    assert_eq!(output.code(), 1, "a pseudonym stands for one secret: {output:?}");
    assert!(!output.out().contains(PASSWORD));
}

#[test]
fn a_recording_redacted_by_other_rules_is_reported() {
    let stage = Stage::new();
    small(&stage, "a.reel");
    stage.ok(&["redact", "a.reel", "-o", "r.reel"]);
    stage.write(".mcpreel.toml", "[redact]\nmembers = ['city']\n");
    let output = stage.run(&["diff", "a.reel", "r.reel"], "");
    assert!(output.err().contains("r.reel was redacted by other rules or settings"), "{}", output.err());
    assert!(!output.out().contains(PASSWORD));
}

#[test]
fn json_lines_and_pipes_are_redacted_too() {
    let stage = Stage::new();
    small(&stage, "a.reel");
    let lines = stage.run(&["export", "a.reel"], "").out();
    stage.write("a.jsonl", &lines);
    stage.write("b.jsonl", lines.replace(PASSWORD, "z9w8e7r6t5y4u3i2").replace("Bonn", "Rome"));
    for (command, input) in [
        (&["diff", "--redact", "a.jsonl", "b.jsonl"][..], ""),
        (&["diff", "--redact", "-", "b.jsonl"], &lines),
        (&["validate", "--redact", "--fail-on", "never", "a.jsonl", "-f", "json"], ""),
        (&["validate", "--redact", "--fail-on", "never", "-", "-f", "sarif"], &lines),
        (&["show", "--redact", "--full", "--no-fold", "a.reel"], ""),
        (&["redact", "a.jsonl", "-o", "-"], ""),
        (&["redact", "-", "-o", "-"], &lines),
    ] {
        let output = stage.run(command, input);
        assert!(output.code() <= 1 && !output.stdout.is_empty(), "{command:?} {output:?}");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(!text.contains(PASSWORD) && !text.contains(&TOKEN[4..]), "{command:?} {text}");
    }
}

#[test]
fn every_export_and_report_warns_of_the_secrets_in_it() {
    let stage = Stage::new();
    small(&stage, "a.reel");
    let unknown = stage.run(&["export", "--format", "none", "a.reel"], "").err();
    let named = unknown.split("[possible values: ").nth(1).and_then(|rest| rest.split(']').next()).expect("a list");
    assert!(named.contains("jsonl, commands"), "{named}");
    for format in named.split(", ") {
        // A page is made to be shared.
        let as_it_is: &[&str] = if format == "html" { &["--no-redact"] } else { &[] };
        let output = stage.ok(&[&["export", "--format", format, "a.reel"], as_it_is].concat());
        assert!(output.err().contains("2 possible secrets found in a.reel"), "{format}: {}", output.err());
        let output = stage.ok(&["export", "--format", format, "--redact", "a.reel"]);
        let written = String::from_utf8_lossy(&output.stdout);
        assert!(!written.contains(PASSWORD) && !written.contains(&TOKEN[4..]), "{format}");
        assert_eq!(output.err(), "", "{format}");
    }
    let piped = stage.run(&["export", "-"], stage.read("a.reel"));
    assert!(piped.err().contains("2 possible secrets found in"), "{}", piped.err());
    let lines = stage.run(&["export", "a.reel"], "").out();
    stage.import("b.reel", lines.replace(TOKEN, "ghp_Ak4mQ9rT2vX7bN1cL8sD5fG3hJ6wP0yB"));
    for format in ["json", "markdown"] {
        let output = stage.run(&["diff", "a.reel", "b.reel", "-f", format], "");
        assert!(output.err().contains("the report contains"), "{format}: {}", output.err());
        let output = stage.run(&["diff", "a.reel", "b.reel", "-f", format, "--redact"], "");
        assert!(!output.err().contains("the report contains"), "{format}: {}", output.err());
        assert!(!output.out().contains(&TOKEN[4..]), "{format}");
    }
}

/// A word that only its name makes a secret.
const WORD: &str = "swordfish";

/// A session with secrets in an argument, and in JSON in a string.
fn named(stage: &Stage) {
    let inner = json!({"password": WORD, "quote": "\"<&"}).to_string();
    let arguments = json!({"api_key": PASSWORD, "note": inner});
    let call =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "f", "arguments": arguments}});
    let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {"content": [], "structuredContent": arguments}});
    stage.reel("a.reel", &[message(1, "c2s", call), message(2, "s2c", answer)]);
}

#[test]
fn every_export_with_secrets_is_found_by_a_check_and_every_redacted_one_is_clean() {
    let stage = Stage::new();
    named(&stage);
    let binary = ["otlp-proto", "otlp-proto-metrics", "parquet"];
    let without_payloads = ["markdown", "mermaid", "otlp"];
    let unknown = stage.run(&["export", "--format", "none", "a.reel"], "").err();
    let all = unknown.split("[possible values: ").nth(1).and_then(|rest| rest.split(']').next()).expect("a list");
    for format in all.split(", ").filter(|format| !binary.contains(format)) {
        let as_it_is: &[&str] = if format == "html" { &["--no-redact"] } else { &[] };
        let open = format!("open.{format}");
        stage.ok(&[&["export", "-f", format, "a.reel", "-o", &open], as_it_is].concat());
        let output = stage.run(&["redact", &open, "--check", "-f", "json"], "");
        let report: serde_json::Value = serde_json::from_str(&output.out()).expect("JSON");
        if !without_payloads.contains(&format) {
            assert_eq!(output.code(), 1, "{format}: {output:?}");
            assert!(report["different"].as_u64() >= Some(2), "{format}: both are found: {report}");
        }
        let shared = format!("shared.{format}");
        stage.ok(&["export", "--redact", "-f", format, "a.reel", "-o", &shared]);
        let output = stage.run(&["redact", &shared, "--check"], "");
        assert_eq!(output.code(), 0, "{format}: {output:?}");
    }
}

#[test]
fn paths_of_a_commands_own_files_are_no_secrets() {
    let stage = Stage::new();
    let folder = "tmp/Zk4mQ9rT2vX7bN1cL8sD5fG3hJ6wP0yA";
    std::fs::create_dir_all(stage.path(folder)).expect("a folder");
    let reel = stage.path(folder).join("a.reel").to_string_lossy().into_owned();
    for words in
        [&["demo", "-o", &reel][..], &["validate", &reel], &["validate", &reel, "-f", "json"], &["stats", &reel]]
    {
        let output = stage.ok(words);
        assert!(output.out().contains(&reel) || words[0] != "demo", "{words:?}: {output:?}");
        assert!(!output.err().contains("possible secret"), "{words:?}: {output:?}");
    }
}

#[test]
fn a_page_of_the_newest_reel_says_which_that_is() {
    let stage = Stage::new();
    stage.ok(&["demo"]);
    let output = stage.ok(&["export", "-f", "html", "-o", "page.html"]);
    assert!(output.err().contains(" events of ") && output.err().contains(".reel in page.html"), "{output:?}");
    let output = stage.ok(&["export", "-f", "csv", "-o", "page.csv"]);
    assert!(output.err().contains(".reel in page.csv"), "{output:?}");
}

#[test]
fn compressed_data_in_a_text_that_cannot_be_read_is_an_error() {
    let stage = Stage::new();
    named(&stage);
    stage.ok(&["export", "-f", "html", "a.reel", "-o", "a.html"]);
    let page = String::from_utf8(stage.read("a.html")).expect("text");
    let data = page.find("id=\"block-0\">").expect("a block") + 14;
    stage.write("broken.html", [&page[..data + 60], "AAAA", &page[data + 64..]].concat());
    let output = stage.run(&["redact", "broken.html", "--check"], "");
    assert_eq!(output.code(), 3, "{output:?}");
    assert!(output.err().contains("broken.html: the compressed data in line "), "{output:?}");
}

#[test]
fn secrets_in_quoted_forms_of_text_are_found_and_replaced() {
    let stage = Stage::new();
    for (name, text) in [
        ("csv", r#"1,"{""api_key"": ""q9w8e7r6t5y4u3i2"", ""password"":""swordfish""}""#.to_owned()),
        ("xml", r#"<a b="{&quot;api_key&quot;:&#34;q9w8e7r6t5y4u3i2&#x22;}">{&quot;password&quot;: &quot;swordfish&quot;}</a>"#.to_owned()),
        ("json in xml", r#"<f m="was {\&quot;api_key\&quot;: \&quot;q9w8e7r6t5y4u3i2\&quot;, \&quot;password\&quot;: \&quot;swordfish\&quot;}"/>"#.to_owned()),
        ("markdown", r#"| \{"api\_key": "q9w8e7r6t5y4u3i2", "password": "swordfish"\} |"#.to_owned()),
        ("log", r#"sent {"api_key":"q9w8e7r6t5y4u3i2","password":"swordfish"} to it"#.to_owned()),
        ("xml in xml", r#"<f m="&amp;quot;api_key&amp;quot;: &amp;quot;q9w8e7r6t5y4u3i2&amp;quot; {&amp;quot;password&amp;quot;:&amp;quot;swordfish&amp;quot;}"/>"#.to_owned()),
    ] {
        stage.write("text", &text);
        let output = stage.run(&["redact", "text", "--check", "-f", "json"], "");
        let report: serde_json::Value = serde_json::from_str(&output.out()).expect("JSON");
        assert_eq!((output.code(), report["different"].as_u64()), (1, Some(2)), "{name}: {report}");
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "x", "params": {"text": text}});
        let _ = std::fs::remove_file(stage.path("q.reel"));
        stage.reel("q.reel", &[message(1, "c2s", call)]);
        let shown = stage.ok(&["export", "--redact", "q.reel"]).out();
        assert!(!shown.contains(PASSWORD) && !shown.contains(WORD), "{name}: {shown}");
        // Nothing but the secrets changes.
        let line: serde_json::Value = serde_json::from_str(shown.lines().nth(1).expect("a line")).expect("JSON");
        assert_eq!(line["message"]["params"]["text"].as_str().map(str::len), Some(text.len()), "{name}: {shown}");
    }
    for text in ["a = \"\", b: \"\", password: \"\"", "<a b=\"x &amp; y\">token: &quot;&quot;</a>", "{\"a\": {\"b\""] {
        stage.write("text", text);
        assert_eq!(stage.run(&["redact", "text", "--check"], "").code(), 0, "{text}");
    }
}

#[test]
fn reports_of_a_replay_note_secrets_in_them() {
    let stage = Stage::new();
    let echo = "import json, sys\nfor line in sys.stdin:\n    m = json.loads(line)\n    \
        print(json.dumps({'jsonrpc': '2.0', 'id': m['id'], 'result': {'api_key': sys.argv[1]}}), flush=True)\n";
    stage.write("server.py", echo);
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "x", "params": {}});
    let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {"api_key": PASSWORD}});
    stage.reel("a.reel", &[message(1, "c2s", call), message(2, "s2c", answer)]);
    let words = ["replay", "a.reel", "--no-record", "-f", "junit", "--", "python3", "server.py", "other-k3y-4711"];
    let output = stage.run(&words, "");
    assert!(output.code() == 1 && output.out().contains(PASSWORD), "{output:?}");
    assert!(output.err().contains("the report contains "), "{output:?}");
    // With the key that ends in 13, both pseudonyms once looked like values that differ in every run.
    for key in ["a key of at least sixteen bytes 13", "a key of at least sixteen bytes 14"] {
        stage.write("key", key);
        let output = stage.run(&[&["replay", "--redact", "--key-file", "key"], &words[1..]].concat(), "");
        assert!(output.code() == 1 && !output.out().contains(PASSWORD), "{output:?}");
        assert!(!output.err().contains("possible secret"), "{output:?}");
    }
}

/// What is written to a pipe or a file may be shared. All reports say the same of it.
#[test]
fn a_redacted_recording_is_replayed_without_comparing_what_was_replaced() {
    let stage = Stage::new();
    let server = "import json, sys\nfor line in sys.stdin:\n    m = json.loads(line)\n    \
        print(json.dumps({'jsonrpc': '2.0', 'id': m['id'], 'result': {'api_key': sys.argv[1], 'n': int(sys.argv[2]), \
        'text': 'cookie: sid=' + sys.argv[1]}}), flush=True)\n";
    stage.write("server.py", server);
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "x", "params": {}});
    let text = format!("cookie: sid={PASSWORD}");
    let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {"api_key": PASSWORD, "n": 1, "text": text}});
    stage.reel("a.reel", &[message(1, "c2s", call), message(2, "s2c", answer)]);
    stage.ok(&["redact", "a.reel", "-o", "r.reel"]);
    for options in [&[][..], &["--redact"]] {
        let replay = |number: &str| {
            let words = ["--no-record", "--", "python3", "server.py", PASSWORD, number];
            stage.run(&[&["replay", "r.reel"], options, &words[..]].concat(), "")
        };
        let same = replay("1");
        assert_eq!(same.code(), 0, "{same:?}");
        assert_eq!(same.err().matches("r.reel was redacted; replaced values are not compared").count(), 1, "{same:?}");
        let other = replay("2");
        assert!(other.code() == 1 && other.out().contains("1 changed"), "{other:?}");
    }
}

#[test]
fn text_that_does_not_go_to_a_terminal_is_checked_too() {
    let stage = Stage::new();
    small(&stage, "a.reel");
    let lines = stage.run(&["export", "a.reel"], "").out();
    stage.import(
        "b.reel",
        lines.replace(PASSWORD, "z9w8e7r6t5y4u3i2").replace(TOKEN, "ghp_Ak4mQ9rT2vX7bN1cL8sD5fG3hJ6wP0yB"),
    );
    for command in [
        &["show", "a.reel"][..],
        &["show", "--full", "a.reel"],
        &["show", "--raw", "a.reel"],
        &["show", "-f", "json", "a.reel", "method:tools/call"],
        &["show", "--as-call", "a.reel"],
        &["diff", "a.reel", "b.reel"],
        &["diff", "--exact", "--full", "a.reel", "b.reel"],
    ] {
        let output = stage.run(command, "");
        assert!(output.err().contains("possible secret"), "{command:?}: {}", output.err());
        let output = stage.run(&[command, &["--redact"]].concat(), "");
        assert!(!output.err().contains("possible secret"), "{command:?}: {}", output.err());
        assert!(!output.out().contains(PASSWORD) && !output.out().contains(&TOKEN[4..]), "{command:?}");
    }
    let none = stage.run(&["show", "a.reel", "method:ping"], "");
    assert!(!none.err().contains("possible secret"), "what is not shown does not count: {}", none.err());
    let mut device = stage.mcpreel(&["show", "a.reel"]);
    device.stdout(std::process::Stdio::null());
    let output = device.output().expect("it starts");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "nobody gets what goes to /dev/null");
}

#[test]
fn surfaces_are_redacted() {
    let stage = Stage::new();
    let session = |description: &str| {
        let tools =
            json!({"tools": [{"name": "fetch", "description": description, "inputSchema": {"type": "object"}}]});
        [
            message(1, "c2s", json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})),
            message(2, "s2c", json!({"jsonrpc": "2.0", "id": 1, "result": tools})),
        ]
    };
    stage.reel("a.reel", &session(&format!("uses {TOKEN}")));
    stage.reel("b.reel", &session("uses nothing"));
    for format in ["human", "json", "markdown"] {
        let plain = stage.run(&["diff", "--surface", "a.reel", "b.reel", "-f", format, "--fail-on", "any"], "");
        assert_eq!(plain.code(), 1, "{format}: {plain:?}");
        let redacted =
            stage.run(&["diff", "--surface", "a.reel", "b.reel", "-f", format, "--fail-on", "any", "--redact"], "");
        assert_eq!(redacted.code(), 1, "{format}: {redacted:?}");
        assert!(!redacted.out().contains(&TOKEN[4..]), "{format}: {}", redacted.out());
        assert_eq!(plain.out().contains(&TOKEN[4..]), plain.err().contains("the report contains"), "{format}");
    }
    let json = stage.run(&["diff", "--surface", "a.reel", "b.reel", "-f", "json"], "");
    assert!(json.out().contains(&TOKEN[4..]) && json.err().contains("the report contains"), "{json:?}");
    stage.ok(&["diff", "--surface", "server.lock.json", "a.reel", "--update"]);
    let lock = stage.run(&["diff", "--surface", "server.lock.json", "b.reel", "--redact"], "");
    assert!(lock.code() == 2 && lock.err().contains("lock file"), "{lock:?}");
    stage.ok(&["diff", "--surface", "redacted.lock.json", "a.reel", "--update", "--redact"]);
    assert!(!String::from_utf8_lossy(&stage.read("redacted.lock.json")).contains(&TOKEN[4..]));
}

/// Nobody knows what the damage hides, so `redact` copies nothing of it, nor does it write a file.
#[test]
fn damaged_regions_are_not_copied() {
    let stage = Stage::new();
    small(&stage, "a.reel");
    let mut bytes = stage.read("a.reel");
    let at = memchr::memmem::find(&bytes, PASSWORD.as_bytes()).unwrap_or(bytes.len() / 2);
    bytes[at] ^= 0xff;
    stage.write("damaged.reel", &bytes);
    for command in [
        &["redact", "damaged.reel", "-o", "r.reel"][..],
        &["redact", "damaged.reel", "--check"],
        &["reel", "cut", "damaged.reel", "-o", "r.reel", "tool:fetch"],
        &["export", "--redact", "damaged.reel", "-o", "r.reel"],
    ] {
        let output = stage.run(command, "");
        assert_eq!(output.code(), 3, "{command:?} {output:?}");
        assert!(output.err().contains("reel repair"), "{command:?} {}", output.err());
        assert!(!stage.path("r.reel").exists(), "{command:?}");
    }
}

/// A reel may end in the middle of a segment. What can be read is shared, and nobody takes it for the whole.
#[test]
fn a_reel_that_is_cut_off_is_shared_with_a_gap_and_a_warning() {
    let stage = Stage::new();
    small(&stage, "a.reel");
    let whole = stage.read("a.reel");
    stage.write("cut.reel", &whole[..whole.len() - 40]);
    for command in [
        &["show", "cut.reel"][..],
        &["redact", "cut.reel", "--check"],
        &["redact", "cut.reel", "--dry-run"],
        &["redact", "cut.reel", "-o", "r.reel"],
        &["show", "--redact", "cut.reel"],
        &["validate", "--redact", "cut.reel", "--fail-on", "never"],
        &["stats", "--redact", "cut.reel"],
        &["export", "--redact", "cut.reel"],
        &["export", "-f", "html", "cut.reel"],
        &["reel", "cut", "cut.reel", "-o", "p.reel", "dir:c2s"],
        &["reel", "merge", "cut.reel", "a.reel", "-o", "m.reel"],
        &["diff", "cut.reel", "cut.reel"],
    ] {
        let output = stage.run(command, "");
        assert_eq!(output.code(), 1, "{command:?} {output:?}");
        assert!(output.err().contains("damage at byte"), "{command:?} {}", output.err());
    }
    for reel in ["r.reel", "p.reel"] {
        let verified = stage.run(&["reel", "verify", reel], "");
        assert!((verified.out() + &verified.err()).contains("1 gap"), "{reel}: {verified:?}");
    }
}

/// Times stay: they are the same in the redacted reel, and tell as much as before.
#[test]
fn times_stay() {
    let stage = Stage::new();
    small(&stage, "a.reel");
    stage.ok(&["redact", "a.reel", "-o", "r.reel"]);
    let times = |reel: &str| -> Vec<_> { stage.events(reel).iter().map(|event| event["time"].clone()).collect() };
    assert_eq!(times("a.reel"), times("r.reel"));
    assert!(times("a.reel").len() > 2);
}

/// A brotli stream has no signature: a message in it is only known to be binary.
#[test]
fn brotli_that_is_stored_as_it_came_is_reported() {
    use base64::Engine;
    let stage = Stage::new();
    // The beginning of a compressed stream; its bytes are no text.
    let body = [&[0x1b, 0xff, 0x00, 0xf8, 0x25][..], &[0x9c; 20], &[0x03]].concat();
    let encoded = base64::engine::general_purpose::STANDARD.encode(body);
    stage.reel(
        "a.reel",
        &[json!({"time": time(1), "event": "message", "dir": "c2s", "framing": "whole", "base64": encoded})],
    );
    let report = stage.ok(&["redact", "a.reel", "--dry-run", "-f", "json"]).json();
    assert_eq!(report["unread"], json!([0]), "{report}");
}

/// A text in a content coding; `None` if we can only decode it.
fn coded(coding: &str, text: &str) -> Vec<u8> {
    match coding {
        "gzip" => {
            let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            out.write_all(text.as_bytes()).expect("a Vec takes all");
            out.finish().expect("a Vec takes all")
        }
        "deflate" => {
            let mut out = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
            out.write_all(text.as_bytes()).expect("a Vec takes all");
            out.finish().expect("a Vec takes all")
        }
        "zstd" => zstd::encode_all(text.as_bytes(), 3).expect("a Vec takes all"),
        // Brotli (RFC 7932, 9.2): a window of 16 bits, one uncompressed block, and an empty last block.
        "br" => {
            let length = text.len() - 1;
            assert!(length < 1 << 16, "two bytes of length");
            // Bits: WBITS 0; ISLAST 0; MNIBBLES 00 (four); MLEN - 1 in 16 bits; ISUNCOMPRESSED 1.
            let bits = (length as u32) << 4 | 1 << 20;
            let mut out = bits.to_le_bytes()[..3].to_vec();
            out.extend_from_slice(text.as_bytes());
            out.push(3);
            out
        }
        _ => unreachable!("{coding}"),
    }
}

#[test]
fn compressed_bodies_and_streams_are_redacted_and_stay_readable() {
    let codings = ["gzip", "deflate", "zstd", "br"];
    for (coding, is_stream) in codings.iter().flat_map(|coding| [(*coding, false), (*coding, true)]) {
        let stage = Stage::new();
        let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {"token": TOKEN, "api_key": PASSWORD}}).to_string();
        let (kind, answer) = match is_stream {
            true => ("text/event-stream", format!("id: 7\nevent: message\ndata: {answer}\n\n")),
            false => ("application/json", answer),
        };
        let body = coded(coding, &answer);
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Encoding: {coding}\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        let server = serve(move |_, wire| {
            say(wire, head.clone());
            say(wire, &body);
            false
        });
        let tap = Tap::start(&stage, server, &[]);
        post(tap.address, "", r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
        let events = tap.end();
        let has_secret = |event: &serde_json::Value| match is_stream {
            true => event["text"].as_str().is_some_and(|text| text.contains(PASSWORD)),
            false => event["message"]["result"]["api_key"] == PASSWORD,
        };
        assert!(events.iter().any(has_secret), "{coding}: {events:?}");
        stage.ok(&["redact", "t.reel", "-o", "r.reel"]);
        let left = String::from_utf8_lossy(&contents(&stage.path("r.reel"))).into_owned();
        assert!(!left.contains(PASSWORD) && !left.contains(&TOKEN[4..]), "{coding}: {left}");
        assert!(left.contains("ghp_redacted"), "{coding}: {left}");
        assert_eq!(stage.run(&["diff", "t.reel", "r.reel"], "").code(), 0, "{coding}");
        let shown = stage.ok(&["show", "--full", "--no-fold", "r.reel", "kind:result"]).out();
        assert!(shown.contains(r#""token": "ghp_redacted"#), "{coding}: {shown}");
        assert_eq!(stage.ok(&["reel", "verify", "r.reel"]).code(), 0, "{coding}");
    }
}

/// The bytes of a compressed request body are stored as they crossed the wire.
#[test]
fn compressed_messages_are_redacted_in_their_coding() {
    for coding in ["gzip", "deflate", "zstd"] {
        use base64::Engine;
        let stage = Stage::new();
        let body = coded(
            coding,
            &json!({"jsonrpc": "2.0", "id": 1, "method": "x", "params": {"password": PASSWORD}}).to_string(),
        );
        let encoded = base64::engine::general_purpose::STANDARD.encode(body);
        stage.reel(
            "a.reel",
            &[json!({"time": time(1), "event": "message", "dir": "c2s", "framing": "whole", "base64": encoded})],
        );
        assert_eq!(stage.run(&["redact", "--check", "a.reel"], "").code(), 1, "{coding}");
        stage.ok(&["redact", "a.reel", "-o", "r.reel"]);
        assert_eq!(stage.run(&["redact", "--check", "r.reel"], "").code(), 0, "{coding}");
        stage.ok(&["redact", "r.reel", "-o", "twice.reel"]);
        assert!(contents(&stage.path("r.reel")) == contents(&stage.path("twice.reel")), "{coding}");
        let event = &stage.events("r.reel")[1];
        let bytes =
            base64::engine::general_purpose::STANDARD.decode(event["base64"].as_str().expect("bytes")).expect("base64");
        let mut decoder = mcpreel::testing::transport::coding::Decoder::of(coding).expect("known").expect("a coding");
        let text = String::from_utf8(decoder.push(&bytes).expect("it is compressed")).expect("text");
        assert!(text.contains("\"password\":\"redacted") && !text.contains(PASSWORD), "{coding}: {text}");
    }
}

#[test]
fn what_could_not_be_looked_into_is_reported() {
    let stage = Stage::new();
    stage.reel("a.reel", &[
        json!({"time": time(1), "event": "message", "dir": "c2s", "framing": "whole", "base64": "/wD+AAECAwQFBgcICQ=="}),
        message(2, "c2s", json!({"jsonrpc": "2.0", "method": "notifications/x"})),
    ]);
    let report = stage.ok(&["redact", "a.reel", "--dry-run", "-f", "json"]).json();
    assert_eq!(report["unread"], json!([0]), "{report}");
    let text = stage.ok(&["redact", "a.reel", "--dry-run"]).out();
    assert!(text.contains("1 event with binary data was not looked into: 0"), "{text}");
}

/// Messages that are too long to be joined are redacted in pieces, also where a secret is divided between them.
#[test]
#[ignore = "takes a minute without optimisation; run tests/full.sh"]
fn a_message_of_more_than_64_mib_is_redacted() {
    let stage = Stage::new();
    // The server writes one line of 66 MiB with a secret in every MiB.
    let script = format!(
        "import sys\nout = sys.stdout\nout.write('{{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{{\"a\":\"')\n\
         for at in range(66):\n    out.write('. ' * (1 << 19) + 'token {TOKEN} ' + 'api_key={PASSWORD} ')\n\
         out.write('\"}}}}\\n')\n"
    );
    stage.write("server.py", script);
    let mut command = stage.command(&[
        "sh",
        "-c",
        "exec \"$@\" </dev/null >/dev/null",
        "sh",
        BINARY,
        "record",
        "-o",
        "a.reel",
        "--",
        "python3",
        "server.py",
    ]);
    assert!(command.status().expect("it starts").success());
    let (redacted, peak) = watched(stage.mcpreel(&["redact", "a.reel", "-o", "r.reel"]), "");
    assert_eq!(redacted.code(), 0, "{redacted:?}");
    within("redact", peak, 128 << 20);
    let text = stage.cat("r.reel", "s2c");
    assert!(text.len() > 66 << 20, "{} bytes", text.len());
    for secret in [&TOKEN[4..], PASSWORD] {
        let left = memchr::memmem::find_iter(&text, secret.as_bytes()).count();
        let whole = memchr::memmem::find_iter(&stage.cat("a.reel", "s2c"), secret.as_bytes()).count();
        assert_eq!((left, whole), (0, 66), "{secret}");
    }
    assert!(text.len() == stage.cat("a.reel", "s2c").len());
}

/// Earlier versions stored any message as one event. One that is too long for the memory is redacted in pieces.
#[test]
fn an_event_of_more_than_65_mib_is_redacted_in_pieces() {
    let stage = Stage::new();
    let header = FileHeader { created: 0, tool: "test".into(), label: None, notes: std::collections::BTreeMap::new() };
    let file = std::fs::File::create(stage.path("a.reel")).expect("a file");
    let mut writer = ReelWriter::create(file, &header, WriterOptions::default()).expect("it is written");
    let mut append = |flags, payload: &[u8]| {
        let (kind, framing) = (EventKind::Message, Framing::Lf);
        let event = NewEvent { time: 0, stream: 0, exchange: 0, kind, flags, framing, payload };
        writer.append(event).expect("it is written");
    };
    let part = format!("{}token {TOKEN} api_key={PASSWORD} ", " ".repeat((1 << 20) - 1));
    let long = format!("{{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{{\"a\":\"{}\"}}}}", part.repeat(66));
    append(Flags::SERVER_TO_CLIENT, long.as_bytes());
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "x", "params": {"password": PASSWORD}});
    append(Flags::default(), call.to_string().as_bytes());
    writer.finish().expect("it is written");
    let (redacted, peak) = watched(stage.mcpreel(&["redact", "a.reel", "-o", "r.reel"]), "");
    assert_eq!(redacted.code(), 0, "{redacted:?}");
    within("redact", peak, 32 << 20);
    let (before, after) = (stage.cat("a.reel", "s2c"), stage.cat("r.reel", "s2c"));
    assert_eq!(before.len(), after.len());
    for secret in [&TOKEN[4..], PASSWORD] {
        let count = |text: &[u8]| memchr::memmem::find_iter(text, secret.as_bytes()).count();
        assert_eq!((count(&before), count(&after)), (66, 0), "{secret}");
    }
    assert!(!String::from_utf8_lossy(&stage.cat("r.reel", "c2s")).contains(PASSWORD));
    let check = stage.run(&["redact", "--check", "r.reel"], "");
    assert_eq!(check.code(), 0, "{check:?}");
}

#[test]
fn a_secret_may_be_divided_between_events_of_a_stream() {
    let stage = Stage::new();
    let block = |at: u64, text: &str| {
        let data = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": {"delta": text}}});
        json!({"time": time(at), "event": "message", "dir": "s2c", "framing": "sse", "exchange": 1,
            "text": format!("event: message\ndata: {data}\n\n")})
    };
    let (begin, middle, end) = (&TOKEN[..9], &TOKEN[9..20], &TOKEN[20..]);
    stage.reel("a.reel", &[block(1, &format!("see {begin}")), block(2, middle), block(3, &format!("{end} there"))]);
    stage.ok(&["redact", "a.reel", "-o", "r.reel"]);
    let left = String::from_utf8_lossy(&contents(&stage.path("r.reel"))).into_owned();
    for part in [&begin[4..], middle, end] {
        assert!(!left.contains(part), "{part}: {left}");
    }
    assert_eq!(stage.run(&["diff", "a.reel", "r.reel"], "").code(), 0);
}

#[test]
fn the_reels_own_header_is_redacted() {
    let stage = Stage::new();
    let header = json!({"reel": {"version": 1, "created": crate::common::CREATED, "tool": "test",
        "label": format!("run with {TOKEN}"), "notes": {"user": "janedoe", "cwd": "/home/janedoe/work",
        "env": format!("API_KEY={PASSWORD}"), "url": format!("https://u:{PASSWORD}@h.example/?token={TOKEN}")}}});
    let call = message(1, "c2s", json!({"jsonrpc": "2.0", "method": "notifications/x"}));
    stage.import("a.reel", format!("{header}\n{call}"));
    let redact = |name: &str| {
        let mut command = stage.mcpreel(&["redact", "a.reel", "-o", name]);
        command.env("USER", "janedoe");
        crate::common::finish(command, Vec::new())
    };
    assert_eq!(redact("r.reel").code(), 0);
    let left = String::from_utf8_lossy(&contents(&stage.path("r.reel"))).into_owned();
    for secret in ["janedoe", PASSWORD, &TOKEN[4..]] {
        assert!(!left.contains(secret), "{secret}: {left}");
    }
    let raw = stage.read("r.reel");
    assert!(memchr::memmem::find(&raw, PASSWORD.as_bytes()).is_none(), "nor in the file as it is");
}

/// A label, a note or a command line need not say that a name is one; elsewhere, the path of the home folder does.
#[test]
fn the_users_own_name_is_replaced() {
    let stage = Stage::new();
    let line = |user: &str| {
        let header = json!({"reel": {"version": 1, "created": crate::common::CREATED, "tool": "test",
            "label": format!("a trial of {user}'s server"), "notes": {"why": format!("{user} asked, not {user}22")}}});
        let opened = json!({"transport": "stdio",
            "command": [format!("/opt/{user}/serve"), "--port", "1"]});
        format!("{header}\n{}\n", crate::redact::about(1, "stream-opened", 0, &opened))
    };
    let path =
        |path: &str| message(2, "s2c", json!({"jsonrpc": "2.0", "method": "notifications/x", "params": {"p": path}}));
    let left = |user: &str, home: &str, lines: String| {
        let _ = std::fs::remove_file(stage.path("a.reel"));
        stage.import("a.reel", lines);
        let redact = |words: &[&str]| {
            let mut command = stage.mcpreel(words);
            command.env("USER", user).env("HOME", home);
            crate::common::finish(command, Vec::new())
        };
        assert_eq!(redact(&["redact", "a.reel", "-o", "r.reel", "--force"]).code(), 0);
        let check = redact(&["redact", "--check", "r.reel"]);
        assert_eq!(check.code(), 0, "{}", check.out());
        String::from_utf8_lossy(&contents(&stage.path("r.reel"))).into_owned()
    };
    let text =
        left("janet", "/srv/people/jt-4/", format!("{}{}", line("janet"), path("see /srv/people/jt-4/x.md, jt-4")));
    assert!(!text.replace("janet22", "").contains("janet") && text.contains("janet22"), "{text}");
    assert!(text.contains("/srv/people/") && !text.contains("/jt-4/") && text.contains("/x.md, jt-4"), "{text}");
    let text = left("ubuntu", "/alone", format!("{}{}", line("ubuntu"), path("/alone/x.md")));
    assert!(
        text.contains("ubuntu's server") && text.contains("/opt/ubuntu/") && text.contains("/alone/x.md"),
        "{text}"
    );
}

/// Whatever is cut out of a valid session, nothing new is found in it.
#[test]
fn cuts_of_a_session_have_no_new_findings() {
    let stage = Stage::new();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/session.jsonl");
    stage.ok(&["import", example, "-o", "a.reel"]);
    let found = |reels: &[String]| -> Vec<(String, String)> {
        let reels: Vec<&str> = reels.iter().map(String::as_str).collect();
        let report = stage.run(&[&["validate", "--fail-on", "never", "-f", "json"], &reels[..]].concat(), "").json();
        let findings = report["findings"].as_array().expect("findings").clone();
        findings.iter().map(|finding| (finding["rule"].to_string(), finding["reel"].to_string())).collect()
    };
    let known: Vec<String> = found(&["a.reel".to_owned()]).into_iter().map(|finding| finding.0).collect();
    let mut cuts = Vec::new();
    let events = stage.events("a.reel");
    let methods = events.iter().filter_map(|event| event["message"]["method"].as_str());
    let mut filters: Vec<Vec<String>> = methods.map(|method| vec![format!("method:{method}")]).collect();
    filters.sort();
    filters.dedup();
    let last = events.last().and_then(|event| event["time"].as_str()).expect("a time").to_owned();
    filters.extend((0..6).map(|half| vec!["--from".into(), format!("{}.{}", half / 2, half % 2 * 5)]));
    filters.extend((0..6).map(|half| vec!["--to".into(), format!("{}.{}", half / 2, half % 2 * 5 + 4)]));
    filters.push(vec!["--to".into(), last]);
    assert!(filters.len() > 15, "{filters:?}");
    for (number, filter) in filters.iter().enumerate() {
        let words: Vec<&str> = filter.iter().map(String::as_str).collect();
        let reel = format!("{number}.reel");
        let cut = stage.run(&[&["reel", "cut", "a.reel", "-o", &reel], &words[..]].concat(), "");
        if cut.code() == 1 {
            continue;
        }
        assert_eq!(cut.code(), 0, "{filter:?} {cut:?}");
        cuts.push(reel);
    }
    assert!(cuts.len() > 15, "{cuts:?}");
    let new: Vec<_> = found(&cuts).into_iter().filter(|(rule, _)| !known.contains(rule)).collect();
    assert!(new.is_empty(), "{new:?} {filters:?}");
}

/// Without the key, a guess at a secret cannot be tested: neither by redacting it, nor by comparing.
#[test]
fn a_guess_cannot_be_tested() {
    let stage = Stage::new();
    small(&stage, "a.reel");
    stage.ok(&["redact", "a.reel", "-o", "r.reel"]);
    let pseudonym = |reel: &str| stage.events(reel)[1]["message"]["params"]["arguments"]["api_key"].clone();
    // The attacker plants guesses in a copy, redacts it, and compares.
    for guess in [PASSWORD, "a9w8e7r6t5y4u3i2"] {
        let lines = stage.run(&["export", "a.reel"], "").out().replace(PASSWORD, guess);
        stage.ok(&["redact", "r.reel", "-o", "g.reel", "--force"]);
        assert_eq!(pseudonym("g.reel"), pseudonym("r.reel"), "what is redacted stays");
        let _ = std::fs::remove_file(stage.path("guess.reel"));
        stage.import("guess.reel", lines);
        stage.ok(&["redact", "guess.reel", "-o", "g.reel", "--force"]);
        assert_ne!(pseudonym("g.reel"), pseudonym("r.reel"), "{guess}");
        assert_eq!(stage.run(&["diff", "guess.reel", "r.reel"], "").code(), 0, "right and wrong guesses look the same");
    }
}

/// A cut leaves nothing of the rest in the file: no index entry, no compression context, no slack.
#[test]
fn a_cut_or_redacted_file_has_no_remains() {
    let stage = Stage::new();
    small(&stage, "a.reel");
    let long =
        message(3, "s2c", json!({"jsonrpc": "2.0", "method": "notifications/gone", "params": {"x": "remains-of-it"}}));
    let lines = stage.run(&["export", "a.reel"], "").out();
    stage.import("b.reel", format!("{lines}{long}\n"));
    stage.ok(&["reel", "cut", "b.reel", "-o", "cut.reel", "tool:fetch"]);
    stage.ok(&["redact", "cut.reel", "-o", "r.reel"]);
    // Over a longer file that had more in it.
    stage.write("old.reel", [stage.read("b.reel"), b"remains-of-it".repeat(1000)].concat());
    stage.ok(&["redact", "cut.reel", "-o", "old.reel", "--force"]);
    for reel in ["cut.reel", "r.reel", "old.reel"] {
        let raw = stage.read(reel);
        assert!(memchr::memmem::find(&raw, b"remains-of-it").is_none(), "{reel}");
        let info = stage.info(reel).to_string();
        assert!(!info.contains("notifications/gone"), "{reel}: {info}");
    }
    let lengths = ["old.reel", "r.reel"].map(|reel| stage.read(reel).len());
    assert!(lengths[0].abs_diff(lengths[1]) < 100, "nothing is left at the end: {lengths:?}");
}

/// A server that answers every call with a secret of its own.
const TELLER: &str = r#"
import json, sys
for line in sys.stdin:
    m = json.loads(line)
    if "id" in m:
        text = "used z9w8e7r6t5y4u3i2 and ghp_Ak4mQ9rT2vX7bN1cL8sD5fG3hJ6wP0yB for api_key=z9w8e7r6t5y4u3i2"
        print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": {"content": [{"type": "text", "text": text}]}}), flush=True)
"#;

#[test]
fn every_report_of_a_replay_warns_of_the_secrets_in_it_or_has_none() {
    let stage = Stage::new();
    small(&stage, "a.reel");
    stage.write("server.py", TELLER);
    let secrets = [PASSWORD, &TOKEN[4..], "z9w8e7r6t5y4u3i2", "Ak4mQ9rT2vX7bN1cL8sD5fG3hJ6wP0yB"];
    let left = |text: &str| secrets.into_iter().filter(|secret| text.contains(secret)).count();
    let replay = |options: &[&str]| {
        stage.run(&[&["replay", "a.reel"][..], options, &["--", "python3", "server.py"]].concat(), "")
    };
    for format in ["human", "json", "junit", "github", "markdown"] {
        let plain = replay(&["-f", format]);
        assert_eq!(plain.code(), 1, "{format}: {plain:?}");
        assert!(left(&plain.out()) > 0, "{format}: the test would find nothing: {}", plain.out());
        let notes = plain.err().matches("possible secret").count();
        assert_eq!(notes, 1, "{format}: {}", plain.err());
        let redacted = replay(&["-f", format, "--redact"]);
        assert_eq!((redacted.code(), left(&redacted.out())), (1, 0), "{format}: {redacted:?}");
        assert!(!redacted.err().contains("possible secret"), "{format}: {}", redacted.err());
    }
    let stopped = replay(&["-f", "json", "--redact", "--fail-fast"]);
    assert_eq!((stopped.code(), left(&stopped.out())), (1, 0), "{stopped:?}");
    stage.write("suite.yaml", "- reel: a.reel\n  command: [python3, server.py]\n");
    for (options, expected) in [(&["--redact"][..], 0), (&[], 1)] {
        let suite = stage.run(&[&["replay", "suite.yaml"], options].concat(), "");
        assert_eq!(left(&suite.out()) > 0, expected == 1, "{suite:?}");
        assert_eq!(suite.err().matches("possible secret").count(), expected, "{suite:?}");
    }
}

#[test]
fn the_report_of_a_scenario_warns_of_the_secrets_in_it_or_has_none() {
    let stage = Stage::new();
    let said = format!("use api_key={PASSWORD} {} {TOKEN}", "or ".repeat(20));
    let scenario = format!(
        "name: s\nclock: virtual\nservers:\n  memory: {{builtin: {{declare: [conversation]}}}}\nsteps:\n  - user: \"{said}\"\n    \
         model: well\n    expect:\n      - message: {{server: memory, direction: c2s, method: conversation/userMessage, content: {{nope: 1}}}}\n"
    );
    stage.write("s.yaml", scenario);
    let play = |options: &[&str]| {
        let words = ["host", "--scenario", "s.yaml", "--junit", "r.xml", "--trace", "--prompts"];
        let played = stage.run(&[&words[..], options].concat(), "");
        assert_eq!(played.code(), 1, "{played:?}");
        (played.out(), played.err(), String::from_utf8(stage.read("r.xml")).expect("text"))
    };
    // A report shows the beginning of what came closest, which may end in the middle of a secret.
    let is_left = |text: &str| text.contains(&PASSWORD[..8]) || text.contains(&TOKEN[4..12]);
    for format in ["human", "json"] {
        let (report, notes, junit) = play(&["--format", format]);
        assert!(is_left(&report) && is_left(&junit), "{report} {junit}");
        assert_eq!(notes.matches("possible secret").count(), 1, "{format}: {notes}");
        let (report, notes, junit) = play(&["--format", format, "--redact"]);
        assert!(
            !is_left(&report) && !is_left(&junit) && !notes.contains("possible secret"),
            "{report} {junit} {notes}"
        );
    }
    let refused = stage.run(&["host", "--redact", "--builtin", "m=conversation"], "");
    assert_eq!(refused.code(), 2, "without a scenario, there is no report: {refused:?}");
}

#[test]
fn parts_of_reels_warn_of_the_secrets_in_them_or_have_none() {
    let stage = Stage::new();
    small(&stage, "a.reel");
    small(&stage, "b.reel");
    for command in
        [&["reel", "cut", "a.reel", "method:tools/call", "-o"][..], &["reel", "merge", "a.reel", "b.reel", "-o"]]
    {
        let plain = stage.ok(&[command, &["plain.reel", "--force"]].concat());
        assert!(plain.err().contains("possible secrets found in plain.reel"), "{}", plain.err());
        let redacted = stage.ok(&[command, &["redacted.reel", "--force", "--redact"]].concat());
        assert!(!redacted.err().contains("possible secret"), "{}", redacted.err());
        let text = String::from_utf8_lossy(&contents(&stage.path("redacted.reel"))).into_owned();
        assert!(text.contains("Bonn") && !text.contains(PASSWORD) && !text.contains(&TOKEN[4..]), "{text}");
        assert_eq!(stage.run(&["redact", "--check", "redacted.reel"], "").code(), 0);
    }
    let bytes = stage.ok(&["reel", "cat", "a.reel", "--stream", "c2s"]);
    assert!(bytes.out().contains(PASSWORD) && bytes.err().contains("2 possible secrets found in a.reel"), "{bytes:?}");
    let bytes = stage.ok(&["reel", "cat", "a.reel", "--stream", "c2s", "--redact"]);
    assert!(bytes.out().contains("Bonn") && !bytes.out().contains(PASSWORD) && bytes.err().is_empty(), "{bytes:?}");
}

#[test]
fn every_command_that_reads_reels_reads_json_lines_too() {
    let stage = Stage::new();
    small(&stage, "a.reel");
    let lines = stage.ok(&["export", "--redact", "a.reel"]).out();
    stage.write("a.jsonl", &lines);
    stage.import("same.reel", lines.clone());
    let wanted = stage.ok(&["show", "--full", "same.reel"]).out();
    assert_eq!(stage.ok(&["show", "--full", "a.jsonl"]).out(), wanted);
    assert_eq!(stage.run(&["show", "--full", "-"], &lines).out(), wanted);
    assert_eq!(stage.ok(&["export", "a.jsonl"]).out(), lines, "what an export writes, it reads");
    assert_eq!(stage.run(&["stats", "--format", "json", "-"], &lines).code(), 0);
    assert_eq!(stage.ok(&["reel", "cat", "a.jsonl"]).out(), stage.ok(&["reel", "cat", "same.reel"]).out());
    assert_eq!(stage.ok(&["diff", "a.jsonl", "same.reel"]).code(), 0);
    stage.write("broken.jsonl", format!("{lines}nonsense\n"));
    for command in [&["show"][..], &["export"], &["validate"], &["stats"], &["redact", "--check"]] {
        let broken = stage.run(&[command, &["broken.jsonl"]].concat(), "");
        assert_eq!(broken.code(), 3, "{command:?} {broken:?}");
        assert!(broken.err().contains("error: broken.jsonl: line 4: "), "{command:?} {}", broken.err());
    }
    // What a line of another format hides, nobody can say.
    let of_others =
        ["{\"ts\":1,\"dir\":\"c2s\",\"msg\":{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}}", "{\"ts\": ghp_", ""];
    stage.write("other.jsonl", of_others.join("\n"));
    let checked = stage.run(&["redact", "--check", "other.jsonl"], "");
    assert!(
        checked.code() == 1 && checked.err().contains("line 2 cannot be read; nobody looked into it"),
        "{checked:?}"
    );
    let written = stage.run(&["redact", "other.jsonl", "-o", "other.reel"], "");
    assert_eq!(written.code(), 0, "a gap hides nothing: {written:?}");
    assert_eq!(stage.run(&["redact", "--check", "other.reel"], "").code(), 0);
}
