//! Attempts to get a secret back out of a redacted reel.

use crate::common::{Stage, message};
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
