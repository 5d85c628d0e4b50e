//! Attempts to get a secret back out of a redacted reel.

use crate::common::{Stage, message, time};
use crate::redact::contents;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use serde_json::{Value, json};

const TOKEN: &str = "ghp_Zk4mQ9rT2vX7bN1cL8sD5fG3hJ6wP0yA";
const PASSWORD: &str = "q9w8e7r6t5y4u3i2";

/// Redacts a reel in which one message names both secrets. Returns the reel's other messages as they are afterwards.
fn redacted(stage: &Stage, others: &[Value]) -> Vec<Value> {
    let named = json!({"jsonrpc": "2.0", "method": "x", "params": {"api_key": PASSWORD, "token": TOKEN}});
    let messages = std::iter::once(&named).chain(others).zip(1..);
    stage.reel("a.reel", &messages.map(|(content, at)| message(at, "c2s", content.clone())).collect::<Vec<_>>());
    stage.ok(&["redact", "a.reel", "-o", "r.reel", "--force"]);
    let again = stage.ok(&["redact", "r.reel", "--dry-run", "-f", "json"]);
    assert_eq!(again.json()["places"], json!([]), "nothing is left to redact");
    let differences = stage.run(&["diff", "a.reel", "r.reel"], "");
    assert_eq!(differences.code(), 0, "{differences:?}");
    let lines = stage.ok(&["export", "r.reel"]).out();
    let messages = lines.lines().filter_map(|line| Some(serde_json::from_str::<Value>(line).ok()?["message"].take()));
    messages.filter(|message| message.is_object()).skip(1).collect()
}

/// Decodes base64 as far as possible, whatever stands between its lines.
fn lenient(text: &str) -> Vec<u8> {
    let run: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=').collect();
    STANDARD_NO_PAD.decode(&run[..run.len() / 4 * 4]).expect("base64")
}

#[test]
fn no_form_of_base64_hides_a_secret() {
    let utf_16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let mut forms: Vec<(String, Vec<u8>)> = Vec::new();
    for alignment in 0..3 {
        let text = format!("{}login api_key={PASSWORD} {TOKEN} end", "x".repeat(alignment));
        forms.push((STANDARD.encode(&text), text.clone().into_bytes()));
        forms.push((STANDARD_NO_PAD.encode(utf_16(&text)), utf_16(&text)));
        // An image, in which only known secrets can be found.
        let image = [&b"\x89PNG\r\n\x1a\n\xff"[..], &[0xfe; 2][..alignment]].concat();
        let data = [&image[..], format!(" {PASSWORD} {TOKEN} ").as_bytes(), &[0xff, 0xfe]].concat();
        forms.push((STANDARD.encode(&data), data));
        // The end is missing.
        let run = STANDARD.encode(&text);
        forms.push((run[..run.len() - 9 - alignment].to_owned(), text.clone().into_bytes()));
        // A secret that begins on one line and ends on the next, for both usual lengths and line ends.
        for (length, end) in [(76, "\r\n"), (64, "\n"), (76, "\n")] {
            let text = format!("{}{text}", "lorem ipsum ".repeat(3));
            let run = STANDARD.encode(text.repeat(2));
            let lines: Vec<&str> =
                (0..run.len()).step_by(length).map(|at| &run[at..run.len().min(at + length)]).collect();
            forms.push((lines.join(end), text.repeat(2).into_bytes()));
        }
    }
    let stage = Stage::new();
    let others: Vec<Value> =
        forms.iter().map(|(form, _)| json!({"jsonrpc": "2.0", "method": "x", "params": {"a": form}})).collect();
    let after = redacted(&stage, &others);
    assert_eq!(after.len(), forms.len());
    for ((form, original), message) in forms.iter().zip(after) {
        let kept = message["params"]["a"].as_str().expect("a string");
        assert_eq!(kept.len(), form.len(), "{form} {kept}");
        let decoded: Vec<u8> = lenient(kept).into_iter().filter(|byte| *byte != 0).collect();
        let text = String::from_utf8_lossy(&decoded).into_owned();
        assert!(!text.contains(&PASSWORD[..8]) && !text.contains(&TOKEN[4..12]), "{form}: {text}");
        let whole = original.len() < 24 || text.contains("redacted");
        assert!(whole, "{form}: {text}");
    }
}

#[test]
fn no_odd_place_or_escape_hides_a_secret() {
    let escaped: String = TOKEN.bytes().map(|byte| format!("\\u{byte:04x}")).collect();
    let percent = |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
    let stage = Stage::new();
    let method = json!({"jsonrpc": "2.0", "id": TOKEN, "method": TOKEN, "params": {}});
    let keys = json!({"jsonrpc": "2.0", "method": "x", "params": {TOKEN: {PASSWORD: 1}, "list": [[{TOKEN: []}]]}});
    let nested = json!({"jsonrpc": "2.0", "method": "x", "params": {"a": format!("{{\"b\":\"{escaped}\"}}")}});
    let encoded = json!({"jsonrpc": "2.0", "method": "x", "params": {"a": percent(TOKEN), "b": percent(&percent(TOKEN)),
        "uri": format!("file:///{}/{PASSWORD}", percent(PASSWORD))}});
    let after = redacted(&stage, &[method, keys, nested, encoded]);
    let text = serde_json::to_string(&after).expect("JSON");
    let plain = percent_decoded(&percent_decoded(&text));
    assert_eq!(after[0]["id"], after[0]["method"], "the same secret has the same pseudonym");
    let inner: Value = serde_json::from_str(after[2]["params"]["a"].as_str().expect("a string")).expect("JSON");
    let everything = format!("{text} {plain} {inner} {}", String::from_utf8_lossy(&contents(&stage.path("r.reel"))));
    for secret in [&TOKEN[4..], PASSWORD] {
        assert!(!everything.contains(secret), "{secret}: {everything}");
    }
    assert_eq!(stage.run(&["stats", "r.reel"], "").out().matches(&TOKEN[4..]).count(), 0, "methods are in the records");
}

fn percent_decoded(text: &str) -> String {
    let mut out = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.filter(|_| *first == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                rest = &after[2..];
            }
            None => {
                out.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Forms that a program could use for a text that it stores in a message: each hides a secret from a plain search.
#[test]
fn no_form_within_a_form_hides_a_secret() {
    let text = format!("login api_key={PASSWORD} {TOKEN} end");
    let percent = |text: &str| text.bytes().map(|byte| format!("%{byte:02x}")).collect::<String>();
    let unicode = |text: &str| text.bytes().map(|byte| format!("\\u{byte:04X}")).collect::<String>();
    let nested = json!({"a": [{"b": text}]}).to_string();
    let url_safe = base64::engine::general_purpose::URL_SAFE_NO_PAD;
    let forms = [
        url_safe.encode(&nested),
        json!({"c": url_safe.encode(&nested)}).to_string(),
        STANDARD.encode(STANDARD.encode(&nested)),
        STANDARD.encode(percent(&text)),
        percent(&STANDARD.encode(&text)),
        percent(&percent(&nested)),
        format!("{{\"d\":\"{}\"}}", unicode(&text)),
        STANDARD.encode(format!("{{\"d\":\"{}\"}}", unicode(&text))),
        format!("data:application/json;base64,{}", STANDARD.encode(&nested)),
        format!("\u{1b}[31m{TOKEN}\u{1b}[0m and api_key=\u{1b}[1m{PASSWORD}\u{1b}[0m"),
    ];
    let stage = Stage::new();
    let others: Vec<Value> =
        forms.iter().map(|form| json!({"jsonrpc": "2.0", "method": "x", "params": {"a": form}})).collect();
    for (form, message) in forms.iter().zip(redacted(&stage, &others)) {
        let kept = message["params"]["a"].as_str().expect("a string");
        let all = opened(kept.as_bytes(), 0);
        assert!(!all.contains(&PASSWORD[..8]) && !all.contains(&TOKEN[4..12]), "{form}: {all}");
    }
}

/// A text, and everything that it may be a form of.
fn opened(text: &[u8], depth: usize) -> String {
    let shown = String::from_utf8_lossy(text).into_owned();
    if depth == 4 {
        return shown;
    }
    let mut all = shown.clone();
    let mut add = |inner: &[u8]| all.push_str(&opened(inner, depth + 1));
    let run = |byte: char| byte.is_ascii_alphanumeric() || "+/_-".contains(byte);
    for piece in shown.split(|found| !run(found)).filter(|piece| piece.len() >= 16) {
        let plain = piece.replace('-', "+").replace('_', "/");
        STANDARD_NO_PAD.decode(&plain[..plain.len() / 4 * 4]).iter().for_each(|inner| add(inner));
    }
    if shown.contains('%') {
        add(percent_decoded(&shown).as_bytes());
    }
    if let Ok(value) = serde_json::from_str::<Value>(&shown) {
        strings(&value).iter().filter(|inner| inner.len() < shown.len()).for_each(|inner| add(inner.as_bytes()));
    }
    all
}

fn strings(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(strings).collect(),
        Value::Object(members) => {
            members.values().flat_map(strings).chain(members.keys().map(String::as_str)).collect()
        }
        _ => Vec::new(),
    }
}

/// Secrets in the places of a reel that are no values of messages.
#[test]
fn no_part_of_a_reel_hides_a_secret() {
    let stage = Stage::new();
    let (begin, middle, end) = (&TOKEN[..10], &TOKEN[10..21], &TOKEN[21..]);
    let stderr = |at: u64, text: &str| json!({"time": time(at), "event": "stderr", "dir": "s2c", "text": text});
    let block = |at: u64, text: &str| {
        let data =
            json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": text}});
        json!({"time": time(at), "event": "message", "dir": "s2c", "framing": "sse", "exchange": 1,
            "text": format!("id: {PASSWORD}-{at}\nevent: message\ndata: {data}\n\n")})
    };
    // A single word on stdout looks like a value of JSON.
    let noise = |at: u64, text: &str| json!({"time": time(at), "event": "message", "dir": "s2c", "framing": "lf", "text": format!("{text}\n")});
    let named = json!({"jsonrpc": "2.0", "id": TOKEN, "method": format!("x/{TOKEN}"), "params": {"api_key": PASSWORD, TOKEN: {}}});
    let header = json!({"reel": {"version": 1, "created": crate::common::CREATED, "tool": "test", "label": format!("for {PASSWORD}"),
        "notes": {TOKEN: "a", "why": format!("see {TOKEN}")}}});
    let lines: Vec<String> = [
        header,
        message(1, "c2s", named),
        stderr(2, &format!("token {begin}")),
        stderr(3, middle),
        stderr(4, &format!("{end}\n")),
        stderr(5, &format!("\u{1b}[1m{TOKEN}\u{1b}[0m\n")),
        block(6, &format!("see {begin}")),
        block(7, middle),
        block(8, &format!("{end} there")),
        noise(9, TOKEN),
        noise(10, &format!("api_key={PASSWORD}")),
        noise(11, &format!("[{TOKEN}]")),
    ]
    .iter()
    .map(Value::to_string)
    .collect();
    stage.import("a.reel", lines.join("\n"));
    stage.ok(&["redact", "a.reel", "-o", "r.reel"]);
    let left = String::from_utf8_lossy(&contents(&stage.path("r.reel"))).into_owned();
    let raw = String::from_utf8_lossy(&stage.read("r.reel")).into_owned();
    for part in [&begin[4..], middle, end, PASSWORD, &PASSWORD[..8]] {
        assert!(!left.contains(part) && !raw.contains(part), "{part}: {left}");
    }
    for command in [&["stats", "r.reel"][..], &["reel", "info", "r.reel"], &["show", "--full", "r.reel"]] {
        let out = stage.run(command, "").out();
        assert!(!out.contains(middle) && !out.contains(PASSWORD), "{command:?}: {out}");
    }
}

/// Without the key, neither the pseudonyms nor the digest of the settings tell whether a guess is right.
#[test]
fn the_digest_says_nothing_about_this_machine_and_pseudonyms_nothing_about_secrets() {
    let stage = Stage::new();
    stage.reel(
        "a.reel",
        &[message(1, "c2s", json!({"jsonrpc": "2.0", "method": "x", "params": {"pin": "4711", "token": TOKEN}}))],
    );
    let digest = |user: &str, out: &str| {
        let mut command = stage.mcpreel(&["redact", "a.reel", "-o", out, "-f", "json"]);
        let output = command.env("USER", user).env("LOGNAME", user).output().expect("it starts");
        serde_json::from_slice::<Value>(&output.stdout).expect("JSON")["digest"].clone()
    };
    let (one, other) = (digest("johanna", "one.reel"), digest("someone", "other.reel"));
    assert!(one.as_str().is_some_and(|text| text.starts_with("sha256:")), "{one}");
    assert_eq!(one, other);
    let (one, other) = (contents(&stage.path("one.reel")), contents(&stage.path("other.reel")));
    assert_ne!(one, other, "another key gives another pseudonym of the token");
    for left in [one, other] {
        let text = String::from_utf8_lossy(&left).into_owned();
        assert!(!text.contains("4711") && !text.contains("johanna"), "{text}");
    }
}
