//! `redact`, `record --redact`, `--redact` of exports, `reel cut` and `reel merge`.

use crate::common::{Stage, message, time};
use aho_corasick::{AhoCorasick, MatchKind};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use mcpreel::testing::redact::{DETECTORS, sample};
use mcpreel::testing::trace::{EventKind, Item, ReelReader};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

/// The key of tests.
const KEY: &str = "a key of at least sixteen bytes";

/// One planted secret: what must not be found any more, and the text with what makes it recognisable.
pub(crate) struct Planted {
    kind: &'static str,
    secret: String,
    text: String,
}

/// Some secrets of each kind that has a shape or a context of its own.
fn planted(samples: usize) -> Vec<Planted> {
    let mut random = fastrand::Rng::with_seed(20);
    let mut all = Vec::new();
    for detector in DETECTORS {
        for _ in 0..samples {
            let text = sample(detector.example, |below| random.usize(..below));
            // The longest hole of the example is the secret; an example without holes is one as a whole.
            let secret = holes(detector.example, &text).into_iter().max_by_key(String::len);
            let Some(secret) = secret.filter(|secret| secret.len() >= 8) else { continue };
            all.push(Planted { kind: detector.name, secret, text });
        }
    }
    all
}

/// The texts that fill the holes of an example.
fn holes(example: &str, text: &str) -> Vec<String> {
    let (mut found, mut at, mut rest) = (Vec::new(), 0, example);
    while let Some((before, after)) = rest.split_once('<') {
        let (hole, tail) = after.split_once('>').expect("a hole ends");
        let length: usize = hole.trim_end_matches(char::is_alphabetic).parse().expect("a length");
        at += before.len();
        found.push(text[at..at + length].to_owned());
        (at, rest) = (at + length, tail);
    }
    found
}

/// CBOR of a JSON value.
fn cbor(value: &Value) -> String {
    let mut out = Vec::new();
    ciborium::into_writer(value, &mut out).expect("CBOR");
    STANDARD.encode(out)
}

/// A line of an event that is described by a map.
pub(crate) fn about(milliseconds: u64, kind: &str, exchange: u32, described: &Value) -> Value {
    json!({"time": time(milliseconds), "event": kind, "framing": "whole", "exchange": exchange, "base64": cbor(described)})
}

/// The number of places and encodings.
const PLACES: usize = 16;

/// Plants each secret in one of the places, in turn, so that all places and encodings are covered.
fn events(all: &[Planted]) -> Vec<Value> {
    let mut events = Vec::new();
    for (number, planted) in all.iter().enumerate() {
        let (at, id, text) = (number as u64 * 10 + 1, number as u64 + 1, planted.text.as_str());
        let call = |arguments: Value| {
            message(
                at,
                "c2s",
                json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "t", "arguments": arguments}}),
            )
        };
        let said = |text: String| {
            message(
                at,
                "s2c",
                json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": {"text": text}}}),
            )
        };
        let half = text.len() / 2;
        let half = (half..text.len()).find(|at| text.is_char_boundary(*at)).expect("a boundary");
        events.extend(match number % PLACES {
            0 => vec![call(json!({"text": format!("use {text} now")}))],
            1 => vec![call(json!({"list": [{"deep": text}]}))],
            2 => vec![call(json!({"json": json!({"inner": {"text": text}}).to_string()}))],
            3 => vec![call(json!({"twice": json!({"again": json!({"text": text}).to_string()}).to_string()}))],
            4 => vec![call(json!({"blob": STANDARD.encode(format!("config: {text}\nend of file"))}))],
            5 => vec![call(json!({"blob": URL_SAFE_NO_PAD.encode(json!({"config": text}).to_string())}))],
            6 => vec![call(json!({"url": format!("https://h.example/?q={}", percent(&format!("see {text} here")))}))],
            7 => vec![json!({"time": time(at), "event": "stderr", "dir": "s2c", "text": format!("debug: {text}\nnext line\n")})],
            // Divided between two reads of standard error.
            8 => vec![
                json!({"time": time(at), "event": "stderr", "dir": "s2c", "text": format!("debug: {}", &text[..half])}),
                json!({"time": time(at + 1), "event": "stderr", "dir": "s2c", "text": format!("{} end\n", &text[half..])}),
            ],
            9 => vec![json!({"time": time(at), "event": "message", "dir": "s2c", "framing": "sse", "exchange": number,
                "text": format!("event: message\nid: 7\ndata: {}\n\n", json!({"jsonrpc": "2.0", "method": "notifications/x", "params": {"text": text}}))})],
            10 => vec![about(at, "transport", number as u32, &json!({"what": "request", "method": "POST", "target": "/mcp",
                "headers": [["x-note", format!("see {text} here")]]}))],
            11 => vec![about(at, "transport", number as u32, &json!({"what": "body", "bytes": 9, "text": format!("<p>{text}</p>")}))],
            12 => vec![about(at, "stream-opened", 0, &json!({"transport": "stdio", "command": ["sh", "-c", format!("run {text} &")]}))],
            13 => vec![about(at, "note", 0, &json!({"text": format!("remember {text}")}))],
            14 => vec![about(at, "transport", number as u32, &json!({"what": "sse", "joined": true,
                "block": format!("data: {{\"a\": 1,\ndata: \"text\": {}}}\n\n", json!(text))}))],
            _ => vec![message(at, "s2c", json!({"jsonrpc": "2.0", "id": id, "result": {"content": [], text: "as a name"}}))],
        });
        // Tokens with a shape of their own are also divided between messages.
        if planted.kind.ends_with("-token") && !planted.kind.starts_with(['b', 'u']) {
            events.push(said(format!("delta {}", &text[..half])));
            events.push(said(format!("{} end", &text[half..])));
        }
    }
    events
}

pub(crate) fn percent(text: &str) -> String {
    text.bytes()
        .map(|byte| if byte.is_ascii_alphanumeric() { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

/// Every byte of a reel's payloads and header, decompressed.
pub(crate) fn contents(path: &Path) -> Vec<u8> {
    let mut reader = ReelReader::open(path).expect("a reel").with_payloads();
    let header = reader.header();
    let mut all = format!("{:?} {:?} {}", header.label, header.notes, header.tool).into_bytes();
    while let Some(item) = reader.next().expect("readable") {
        let Item::Block(block) = item else { panic!("{item:?}") };
        for event in block.events() {
            all.push(b'\n');
            all.extend_from_slice(event.payload);
        }
    }
    all
}

/// The secrets of which a part is still in a text, in any of the encodings.
pub(crate) fn survivors(all: &[Planted], text: &[u8]) -> Vec<String> {
    let (mut parts, mut owners) = (Vec::<Vec<u8>>::new(), Vec::new());
    for (owner, planted) in all.iter().enumerate() {
        let secret = planted.secret.as_bytes();
        let windows = secret.windows(8.min(secret.len())).filter(|part| !part.starts_with(b"redacted"));
        parts.extend(windows.map(<[u8]>::to_vec));
        // A part in the middle is in base64 at one of three offsets.
        parts.extend((0..3).filter_map(|offset| {
            let text = STANDARD.encode([&b"\0\0\0"[..offset], secret].concat());
            text.get(4..text.len() - 4).filter(|inner| inner.len() >= 12).map(|inner| inner.as_bytes().to_vec())
        }));
        owners.resize(parts.len(), owner);
    }
    let search = AhoCorasick::builder().match_kind(MatchKind::Standard).build(&parts).expect("parts");
    let left: BTreeSet<usize> =
        search.find_overlapping_iter(text).map(|hit| owners[hit.pattern().as_usize()]).collect();
    let shown = |number: &usize| format!("place {}, {}: {}", number % PLACES, all[*number].kind, all[*number].text);
    left.iter().map(shown).collect()
}

pub(crate) fn planted_reel(stage: &Stage) -> Vec<Planted> {
    stage.write("key", KEY);
    reel_of(stage, "planted.reel", planted(3))
}

fn reel_of(stage: &Stage, name: &str, all: Vec<Planted>) -> Vec<Planted> {
    let label = &all[0];
    let mut lines = json!({"reel": {"version": 1, "created": crate::common::CREATED, "tool": "test",
        "label": label.text, "notes": {"why": format!("about {}", all[1].text), "folder": "/home/janedoe/x"}}})
    .to_string();
    for event in events(&all) {
        lines.push('\n');
        lines.push_str(&event.to_string());
    }
    stage.import(name, lines);
    all
}

/// Everything that writes something of a reel, each in all of its formats: some for all secrets, the others, above all
/// comparisons, which take long if everything differs, for one secret of each kind.
const WRITES: [&str; 31] = [
    "export --format jsonl planted.reel",
    "show --full --no-fold planted.reel",
    "validate --fail-on never -f json planted.reel",
    "export --format commands few.reel",
    "show --view sequence few.reel",
    "show --view timeline few.reel",
    "show --view sequence -f json few.reel",
    "show few.reel",
    "show -f table few.reel",
    "show -f json few.reel",
    "show --raw few.reel",
    "show --as-call few.reel",
    "show --jq . few.reel",
    "show --check -f json few.reel",
    "validate --fail-on never few.reel",
    "validate --fail-on never -f junit few.reel",
    "validate --fail-on never -f sarif few.reel",
    "validate --fail-on never -f github few.reel",
    "validate --fail-on never -f markdown few.reel",
    "stats few.reel",
    "stats --format json few.reel",
    "diff few.reel other.reel",
    "diff --full --stderr few.reel other.reel",
    "diff --view side-by-side few.reel other.reel",
    "diff --view summary few.reel other.reel",
    "diff -f json few.reel other.reel",
    "diff -f markdown few.reel other.reel",
    "diff -f html few.reel other.reel",
    "diff -f json --order --ids --times few.reel other.reel",
    "diff --exact -f json few.reel other.reel",
    "diff --exact --full few.reel other.reel",
];

#[test]
fn no_planted_secret_survives_in_the_reel_or_in_an_export() {
    let stage = Stage::new();
    let all = planted_reel(&stage);
    let kinds: BTreeSet<&str> = all.iter().map(|planted| planted.kind).collect();
    assert!(all.len() >= 200 && kinds.len() >= 60, "{} secrets of {} kinds", all.len(), kinds.len());
    let before = contents(&stage.path("planted.reel"));
    assert!(survivors(&all, &before).len() > all.len() / 2, "the search finds what is there");

    let report = stage.ok(&["redact", "planted.reel", "-o", "redacted.reel", "--key-file", "key", "-f", "json"]);
    let redacted = contents(&stage.path("redacted.reel"));
    assert_eq!(survivors(&all, &redacted), [""; 0]);
    assert!(!String::from_utf8_lossy(&redacted).contains("janedoe"));
    assert_eq!(survivors(&all, &report.stdout), [""; 0], "nor in the report");
    assert!(report.json()["secrets"].as_u64().is_some_and(|count| count >= 200));
    // Another recording with other values, so that `diff` has much to show.
    let few = reel_of(&stage, "few.reel", planted(1));
    let lines = stage.run(&["export", "few.reel"], "").out();
    stage.import("other.reel", lines.replace("\"name\":\"t\"", "\"name\":\"u\"").replace("info", "debug"));
    for export in WRITES {
        let all = if export.contains("few.reel") { &few } else { &all };
        // With a random key, eight characters of a pseudonym could be those of a secret.
        let words: Vec<&str> = export.split(' ').chain(["--redact", "--key-file", "key"]).collect();
        let output = stage.run(&words, "");
        let finds = export.starts_with("diff") || export.contains("--check");
        assert_eq!(output.code(), i32::from(finds), "{export:?} {}", output.err());
        assert!(output.stdout.len() > 20, "{export}: {}", output.out());
        assert_eq!(survivors(all, &output.stdout), [""; 0], "{export:?}");
        assert!(!output.err().contains("possible secret"), "{export}: {}", output.err());
    }
    // Twice changes nothing, and a check is clean.
    stage.ok(&["redact", "redacted.reel", "-o", "twice.reel"]);
    for (once, twice) in stage.events("redacted.reel").iter().zip(stage.events("twice.reel")) {
        assert_eq!(*once, twice, "redacting twice changes nothing");
    }
    assert!(stage.read("redacted.reel") == stage.read("twice.reel"), "redacting twice changes nothing");
    assert_eq!(stage.run(&["redact", "--check", "redacted.reel"], "").code(), 0);
    assert_eq!(stage.run(&["redact", "--check", "planted.reel"], "").code(), 1);
    assert_eq!(stage.run(&["redact", "--dry-run", "planted.reel"], "").code(), 0);
}

#[test]
fn the_same_key_gives_the_same_pseudonyms_and_another_key_does_not() {
    let stage = Stage::new();
    planted_reel(&stage);
    stage.write("other", "another key of sixteen bytes or more");
    for (key, output) in [("key", "a.reel"), ("key", "b.reel"), ("other", "c.reel")] {
        stage.ok(&["redact", "planted.reel", "-o", output, "--key-file", key]);
    }
    assert!(stage.read("a.reel") == stage.read("b.reel"));
    assert!(contents(&stage.path("a.reel")) != contents(&stage.path("c.reel")));
    assert_eq!(stage.run(&["diff", "a.reel", "b.reel"], "").code(), 0);
    assert_eq!(stage.run(&["diff", "a.reel", "a.reel"], "").code(), 0);
    stage.write("short", "short");
    let output = stage.run(&["redact", "planted.reel", "-o", "d.reel", "--key-file", "short"], "");
    assert_eq!(output.code(), 2);
    assert!(output.err().contains("the key in short is too short: 5 bytes"), "{}", output.err());
}

#[test]
fn a_redacted_reel_has_the_same_messages_and_findings() {
    let stage = Stage::new();
    planted_reel(&stage);
    stage.ok(&["redact", "planted.reel", "-o", "redacted.reel"]);
    let outline = |reel: &str| -> Vec<Value> {
        let mut events = stage.events(reel);
        events.remove(0);
        let kept = ["seq", "time", "stream", "dir", "event", "framing", "exchange"];
        events.iter().map(|event| kept.iter().map(|name| event[*name].clone()).collect()).collect()
    };
    assert_eq!(outline("planted.reel"), outline("redacted.reel"));
    let findings = |reel: &str| -> Vec<Value> {
        let report = stage.run(&["validate", reel, "--format", "json", "--fail-on", "never"], "").json();
        let found = report["findings"].as_array().expect("findings").clone();
        found.iter().map(|finding| json!([finding["rule"], finding["seq"]])).collect()
    };
    assert_eq!(findings("planted.reel"), findings("redacted.reel"));
}

#[test]
fn an_export_warns_of_secrets_and_says_what_to_do() {
    let stage = Stage::new();
    planted_reel(&stage);
    let output = stage.run(&["export", "planted.reel", "-o", "plain.jsonl"], "");
    assert!(
        output.err().contains("possible secrets found in planted.reel; --redact replaces secrets"),
        "{}",
        output.err()
    );
    stage.ok(&["redact", "planted.reel", "-o", "redacted.reel"]);
    assert_eq!(stage.ok(&["export", "redacted.reel", "-o", "redacted.jsonl"]).err(), "");
}

#[test]
fn a_project_names_places_and_exempts_texts() {
    let stage = Stage::new();
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "t",
        "arguments": {"city": "Bonn", "badge": "EMP-123456", "password": "known-to-all-1"}}});
    stage.reel("a.reel", &[message(1, "c2s", call)]);
    stage.write(
        ".mcpreel.toml",
        "[redact]\npointers = ['/params/arguments/city']\nallow = ['known-to-all-1']\n\
         [[redact.rules]]\nname = 'badge'\npattern = 'EMP-([0-9]{6})'\nseverity = 'low'\n",
    );
    stage.ok(&["redact", "a.reel", "-o", "b.reel"]);
    let arguments = stage.events("b.reel")[1]["message"]["params"]["arguments"].clone();
    assert_eq!(arguments["password"], "known-to-all-1");
    assert_eq!(arguments["city"], "xxxx");
    assert!(arguments["badge"].as_str().is_some_and(|badge| badge.starts_with("EMP-9999") && badge != "EMP-123456"));
    stage.write(".mcpreel.toml", "[redact]\ndisable = ['nope']\n");
    let output = stage.run(&["redact", "a.reel", "--check"], "");
    assert_eq!(output.code(), 2);
    assert!(output.err().contains("no detector is named `nope`"), "{}", output.err());
}

#[test]
fn record_redacts_before_it_writes() {
    let stage = Stage::new();
    // What gives a secret away also does for what comes later, and before it in the same message.
    let script = r#"echo "password=hunter2-secret" >&2; read line; echo "$line"; sleep 0.3
        rest=${line##*api_key\":\"}; echo "retry with ${rest%%\"*}" >&2"#;
    let request =
        r#"{"jsonrpc":"2.0","id":1,"method":"x","params":{"note":"use q9w8e7r6t5y4u3","api_key":"q9w8e7r6t5y4u3"}}"#;
    let record = ["record", "-o", "r.reel", "--redact", "--label", "jane@acme-corp.com", "--", "sh", "-c", script];
    let output = stage.run(&record, format!("{request}\n"));
    assert_eq!(output.out(), format!("{request}\n"), "the traffic stays as it is");
    let stored = String::from_utf8_lossy(&contents(&stage.path("r.reel"))).into_owned();
    for secret in ["q9w8e7r6t5y4u3", "hunter2-secret", "jane@"] {
        assert!(!stored.contains(secret), "{secret}: {stored}");
    }
    assert!(stored.contains("\"api_key\":\"redacted") && stored.contains("retry with redacted"), "{stored}");
}

/// A session with a handshake and three calls.
fn session(stage: &Stage, name: &str, stream: u32) {
    let mut events = vec![
        message(
            1,
            "c2s",
            json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25",
            "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}}),
        ),
        message(
            2,
            "s2c",
            json!({"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}}),
        ),
        message(3, "c2s", json!({"jsonrpc": "2.0", "method": "notifications/initialized"})),
    ];
    for (id, tool) in [(1, "add"), (2, "echo"), (3, "add")] {
        let at = 10 * id;
        events.push(message(
            at,
            "c2s",
            json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": tool, "arguments": {}, "_meta": {"progressToken": id}}}),
        ));
        events.push(message(
            at + 1,
            "s2c",
            json!({"jsonrpc": "2.0", "method": "notifications/progress",
            "params": {"progressToken": id, "progress": 1}}),
        ));
        events.push(message(at + 2, "s2c", json!({"jsonrpc": "2.0", "id": id, "result": {"content": []}})));
    }
    for event in &mut events {
        event["stream"] = stream.into();
    }
    stage.reel(name, &events);
}

/// The original numbers of the events that a reel has, by their times in milliseconds.
fn times(stage: &Stage, reel: &str) -> Vec<u64> {
    let events = stage.events(reel);
    let of = |event: &Value| {
        let text = event["time"].as_str().expect("a time");
        (0..100).find(|milliseconds| text.starts_with(time(*milliseconds).trim_end_matches('Z'))).expect("a time")
    };
    events[1..].iter().map(of).collect()
}

#[test]
fn a_cut_keeps_the_handshake_and_whole_pairs() {
    let stage = Stage::new();
    session(&stage, "a.reel", 0);
    let cut = |output: &str, more: &[&str]| {
        stage.ok(&[&["reel", "cut", "a.reel", "-o", output][..], more].concat());
        times(&stage, output)
    };
    assert_eq!(cut("echo.reel", &["tool:echo"]), [1, 2, 3, 20, 22]);
    assert_eq!(cut("late.reel", &["--from", "0.0315"]), [1, 2, 3, 30, 32]);
    assert_eq!(cut("bare.reel", &["--from", "0.0315", "--no-handshake", "--no-pairs"]), [32]);
    assert_eq!(cut("progress.reel", &["method:notifications/progress", "--to", "0.015"]), [1, 2, 3, 10, 11, 12]);
    for reel in ["echo.reel", "late.reel", "progress.reel"] {
        assert_eq!(stage.run(&["validate", reel], "").code(), 0, "{reel}");
    }
    let nothing = stage.run(&["reel", "cut", "a.reel", "-o", "none.reel", "tool:none"], "");
    assert_eq!(nothing.code(), 1);
    assert!(nothing.err().contains("nothing in a.reel is selected") && !stage.path("none.reel").exists());
}

#[test]
fn merged_sessions_stay_apart_and_can_be_cut_out_again() {
    let stage = Stage::new();
    session(&stage, "a.reel", 0);
    session(&stage, "b.reel", 0);
    stage.ok(&["reel", "merge", "a.reel", "b.reel", "-o", "both.reel"]);
    assert_eq!(times(&stage, "both.reel")[..6], [1, 1, 2, 2, 3, 3]);
    assert_eq!(stage.run(&["validate", "both.reel"], "").code(), 0);
    let streams: Vec<Value> = stage.events("both.reel")[1..].iter().map(|event| event["stream"].clone()).collect();
    assert_eq!(streams[..4], [json!(0), json!(1), json!(0), json!(1)]);
    stage.ok(&["reel", "cut", "both.reel", "-o", "one.reel", "--stream", "1"]);
    assert_eq!(times(&stage, "one.reel"), times(&stage, "a.reel"));
    assert_eq!(stage.run(&["diff", "a.reel", "one.reel"], "").code(), 0);
}

/// At most one string of a thousand is taken for a secret in real transcripts (`MCPREEL_TRANSCRIPTS`: their folder).
#[test]
#[ignore = "needs a folder with transcripts of real servers in MCPREEL_TRANSCRIPTS"]
fn real_transcripts_give_hardly_any_false_alarm() {
    let folder = std::env::var("MCPREEL_TRANSCRIPTS").expect("MCPREEL_TRANSCRIPTS is set");
    let stage = Stage::new();
    let (mut strings, mut alarms, mut reels) = (0usize, Vec::new(), 0);
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if stage.run(&["import", path.to_str().expect("a name"), "-o", "t.reel", "--force"], "").code() != 0 {
            continue;
        }
        reels += 1;
        let mut reader = ReelReader::open(&stage.path("t.reel")).expect("a reel").with_payloads();
        while let Some(Item::Block(block)) = reader.next().expect("readable") {
            for event in block.events().filter(|event| event.header.kind == EventKind::Message) {
                strings += count_strings(&serde_json::from_slice(event.body()).unwrap_or_default());
            }
        }
        let report = stage.ok(&["redact", "t.reel", "--dry-run", "-f", "json"]).json();
        let found = report["places"].as_array().expect("places").clone();
        alarms.extend(found.into_iter().map(|place| format!("{}: {place}", path.display())));
        stage.ok(&["redact", "t.reel", "-o", "r.reel", "--force"]);
        let findings = |reel: &str| -> Vec<Value> {
            let report = stage.run(&["validate", reel, "--format", "json"], "").json();
            // Their texts quote values.
            let place = |finding: &Value| json!([finding["rule"], finding["seq"]]);
            report["findings"].as_array().expect("findings").iter().map(place).collect()
        };
        assert_eq!(findings("t.reel"), findings("r.reel"), "{}", path.display());
    }
    assert!(reels >= 10 && strings > 1000, "{reels} transcripts, {strings} strings");
    assert!(alarms.len() * 1000 <= strings, "{alarms:#?}");
}

fn count_strings(value: &Value) -> usize {
    match value {
        Value::String(_) => 1,
        Value::Array(items) => items.iter().map(count_strings).sum(),
        Value::Object(members) => members.values().map(|value| 1 + count_strings(value)).sum(),
        _ => 0,
    }
}
