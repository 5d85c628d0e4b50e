//! Secrets in the formats that their issuers publish (`issued.txt`), a list that nobody derived from our detectors: in
//! every place and encoding, none of them survives in a redacted reel or export.

use crate::common::{CREATED, Stage, message, time};
use crate::redact::{about, contents, percent};
use aho_corasick::{AhoCorasick, MatchKind};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use fastrand::Rng;
use regex::Regex;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::sync::LazyLock;

const LIST: &str = include_str!("issued.txt");
/// What begins the second part of the list.
const TEXTS: &str = "# Texts that";
/// A secret survives if as many of its characters do.
const PART: usize = 8;

/// What is in addresses of which only the host says that their path is secret.
const NEEDS_HOST: [&str; 3] = ["hook", "/bot", "maker.ifttt.com"];
/// What is known to survive: a token that is divided where no character of tokens stands.
const SURVIVES: [(&str, &str); 1] = [("PayPal Braintree token", "two messages")];

/// A kind of secret.
struct Kind {
    name: &'static str,
    template: String,
    /// Whether the text is a token, which tells by itself what it is.
    is_token: bool,
}

fn kinds() -> Vec<Kind> {
    let (tokens, texts) = LIST.split_once(TEXTS).expect("two parts");
    let parts = [(tokens, true), (texts, false)];
    let lines = parts.into_iter().flat_map(|(part, is_token)| part.lines().map(move |line| (line, is_token)));
    let rows = lines.filter(|(line, _)| !line.starts_with('#') && line.contains('\t'));
    let kind = |(line, is_token): (&'static str, bool)| {
        let (name, text) = line.split_once('\t').expect("a kind and its text");
        let escaped = text.split("\\\\n").map(|part| part.replace("\\n", "\n").replace("\\t", "\t"));
        Kind { name, template: escaped.collect::<Vec<_>>().join("\\n"), is_token }
    };
    rows.map(kind).collect()
}

/// Fills in a template. Returns the text, and the secrets in it.
fn filled(template: &str, random: &mut Rng) -> (String, Vec<String>) {
    static HOLE: LazyLock<Regex> = LazyLock::new(|| Regex::new("<([a-zA-Z0-9]+):([0-9]+)>").expect("a pattern"));
    let (mut text, mut secrets, mut at) = (String::new(), Vec::new(), 0);
    for found in HOLE.captures_iter(template) {
        let place = found.get(0).expect("the whole hole");
        text.push_str(&template[at..place.start()]);
        let secret = secret(&found[1], found[2].parse().expect("a length"), &text, random);
        text.push_str(&secret);
        secrets.push(secret);
        at = place.end();
    }
    (text + &template[at..], secrets)
}

/// Random characters of a class; `before` is what the digits of a card begin with.
fn secret(class: &str, length: usize, before: &str, random: &mut Rng) -> String {
    const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
    const DIGITS: &str = "0123456789";
    let letters = match class {
        "b62" => [UPPER, LOWER, DIGITS].concat(),
        "b64u" => [UPPER, LOWER, DIGITS, "-_"].concat(),
        "b64" => [UPPER, LOWER, DIGITS, "+/"].concat(),
        "b58" => "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz".to_owned(),
        "b32" => [UPPER, "234567"].concat(),
        "bech" => "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L".to_owned(),
        "hex" => "0123456789abcdef".to_owned(),
        "HEX" => "0123456789ABCDEF".to_owned(),
        "dec" => DIGITS.to_owned(),
        "az" => LOWER.to_owned(),
        "up" => [UPPER, DIGITS].concat(),
        "low32" => [LOWER, "234567"].concat(),
        "low36" => [LOWER, DIGITS].concat(),
        "word" => return ["Q7", &secret("b62", length - 2, "", random)].concat(),
        "uuid" => return [8, 4, 4, 4, 12].map(|length| secret("hex", length, "", random)).join("-"),
        "card" => return card(before, length, "", random),
        "cardspaced" => return card(before, length, " ", random),
        "carddashed" => return card(before, length, "-", random),
        _ => panic!("no class {class}"),
    };
    let letters: Vec<char> = letters.chars().collect();
    (0..length).map(|_| *random.choice(&letters).expect("letters")).collect()
}

/// The rest of a card's number: random digits and the check digit (ISO/IEC 7812-1), in groups of four.
fn card(before: &str, length: usize, divider: &str, random: &mut Rng) -> String {
    let start: String = before.chars().rev().take_while(char::is_ascii_digit).collect();
    let mut digits: Vec<u32> = start.chars().rev().filter_map(|digit| digit.to_digit(10)).collect();
    let first = digits.len();
    digits.push(random.u32(1..6));
    digits.extend((2..length).map(|_| random.u32(0..10)));
    let doubled = |(at, digit): (usize, &u32)| if at % 2 == 0 { digit * 2 / 10 + digit * 2 % 10 } else { *digit };
    let sum: u32 = digits.iter().rev().enumerate().map(doubled).sum();
    digits.push((10 - sum % 10) % 10);
    let shown = |(at, digit): (usize, &u32)| match at % 4 {
        0 if at > 0 => format!("{divider}{digit}"),
        _ => digit.to_string(),
    };
    digits.iter().enumerate().skip(first).map(shown).collect()
}

/// Returns the events with a text at one of the places; none if such a text cannot be there.
fn events(place: &str, kind: &Kind, text: &str, at: u64) -> Vec<Value> {
    let half = text.len() / 2;
    let half = (half..text.len()).find(|at| text.is_char_boundary(*at)).expect("a boundary");
    let call = |value: Value| {
        let params = json!({"name": "t", "arguments": {"x": value}});
        vec![message(at, "c2s", json!({"jsonrpc": "2.0", "id": at, "method": "tools/call", "params": params}))]
    };
    let said = |at: u64, text: &str| {
        message(at, "s2c", json!({"jsonrpc": "2.0", "method": "notifications/x", "params": {"at": 1, "text": text}}))
    };
    let stderr = |at: u64, text: &str| json!({"time": time(at), "event": "stderr", "dir": "s2c", "text": text});
    let transport = |described: Value| vec![about(at, "transport", at as u32, &described)];
    let request = |target: &str, headers: Value| {
        transport(json!({"what": "request", "method": "POST", "target": target, "headers": headers}))
    };
    match place {
        "a string" => call(json!(text)),
        "prose" if kind.is_token => call(json!(format!("please use {text} now"))),
        "prose" => call(json!(format!("This is the file:\n\n```\n{text}\n```\n\nIs it right?"))),
        "JSON in a string" => call(json!(json!({"a": [text]}).to_string())),
        "JSON in JSON in a string" => call(json!(json!({"a": json!({"b": text}).to_string()}).to_string())),
        "base64" => call(json!(STANDARD.encode(format!("the configuration:\n{text}\n")))),
        "base64url of JSON" => call(json!(URL_SAFE_NO_PAD.encode(json!({"config": text}).to_string()))),
        "percent-encoded" => call(json!(format!("https://h.example/?q={}", percent(text)))),
        "standard error" => vec![stderr(at, &format!("{text}\n"))],
        "two reads of standard error" if kind.is_token => {
            vec![stderr(at, &format!("found {}", &text[..half])), stderr(at, &format!("{} there\n", &text[half..]))]
        }
        "two messages" if kind.is_token => {
            vec![said(at, &format!("found {}", &text[..half])), said(at, &format!("{} there", &text[half..]))]
        }
        "an event of a stream" => {
            let data = json!({"jsonrpc": "2.0", "method": "notifications/x", "params": {"x": text}});
            vec![json!({"time": time(at), "event": "message", "dir": "s2c", "framing": "sse", "exchange": at,
                "text": format!("event: message\nid: 7\ndata: {data}\n\n")})]
        }
        "an event of a stream in two lines" => transport(json!({"what": "sse", "joined": true,
            "block": format!("data: {{\"a\": 1,\ndata: \"x\": {}}}\n\n", json!(text))})),
        "a compressed message" => {
            let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            out.write_all(json!({"method": "x", "params": {"x": text}}).to_string().as_bytes()).expect("a Vec");
            let gzip = STANDARD.encode(out.finish().expect("a Vec"));
            vec![json!({"time": time(at), "event": "message", "dir": "s2c", "framing": "whole", "base64": gzip})]
        }
        "a header" => match text.split_once(": ").filter(|(name, _)| !name.contains(|one: char| !is_of_name(one))) {
            Some((name, value)) => request("/mcp", json!([[name, value]])),
            None if kind.is_token => request("/mcp", json!([["x-note", format!("see {text} here")]])),
            None => Vec::new(),
        },
        "a target" if text.starts_with("https://") => {
            let path = text[8..].find('/').map_or("/", |at| &text[8 + at..]);
            let is_all = path.len() * 2 > text.len() && !NEEDS_HOST.iter().any(|part| text.contains(part));
            if is_all { request(path, json!([])) } else { Vec::new() }
        }
        "a body" => transport(json!({"what": "body", "bytes": 9, "text": format!("{text}\n")})),
        "a command" => {
            vec![about(at, "stream-opened", 0, &json!({"transport": "stdio", "command": ["sh", "-c", text]}))]
        }
        "a note" => vec![about(at, "note", 0, &json!({"text": text}))],
        "the name of a member" if kind.is_token => call(json!({text: 1})),
        _ => Vec::new(),
    }
}

fn is_of_name(found: char) -> bool {
    found.is_ascii_alphanumeric() || found == '-'
}

const PLACES: [&str; 20] = [
    "a string",
    "prose",
    "JSON in a string",
    "JSON in JSON in a string",
    "base64",
    "base64url of JSON",
    "percent-encoded",
    "standard error",
    "two reads of standard error",
    "two messages",
    "an event of a stream",
    "an event of a stream in two lines",
    "a compressed message",
    "a header",
    "a target",
    "a body",
    "a command",
    "a note",
    "the name of a member",
    "the label",
];

/// What was planted.
#[derive(Default)]
struct Planted {
    /// Each secret's kind and place.
    about: Vec<(&'static str, &'static str)>,
    /// The parts that must not survive, and whose they are.
    parts: Vec<Vec<u8>>,
    owners: Vec<usize>,
}

impl Planted {
    fn add(&mut self, about: (&'static str, &'static str), secrets: &[String]) {
        for secret in secrets {
            let owner = self.about.len();
            self.about.push(about);
            let mut parts: BTreeSet<Vec<u8>> =
                secret.as_bytes().windows(PART.min(secret.len())).map(<[u8]>::to_vec).collect();
            for offset in 0..3 {
                let text = STANDARD.encode([&b"\0\0\0"[..offset], secret.as_bytes()].concat());
                let inner = text.get(4..text.len().saturating_sub(4)).unwrap_or_default();
                parts.extend((inner.len() >= 12).then(|| inner.as_bytes().to_vec()));
            }
            self.owners.extend(parts.iter().map(|_| owner));
            self.parts.extend(parts);
        }
    }

    /// Returns what finds all parts at once.
    fn search(&self) -> AhoCorasick {
        AhoCorasick::builder().match_kind(MatchKind::Standard).build(&self.parts).expect("parts")
    }

    /// Returns the kinds of which something is in a text, with the places where it was planted.
    fn survivors(&self, search: &AhoCorasick, text: &[u8]) -> BTreeMap<&'static str, BTreeSet<&'static str>> {
        let mut found = BTreeMap::<_, BTreeSet<_>>::new();
        for hit in search.find_overlapping_iter(text) {
            let (kind, place) = self.about[self.owners[hit.pattern().as_usize()]];
            found.entry(kind).or_default().insert(place);
        }
        found
    }
}

/// A reel with each kind of secret at each place; each secret is at one place only.
fn planted(stage: &Stage) -> Planted {
    let mut planted = Planted::default();
    let mut random = Rng::with_seed(2026);
    let (label, secrets) = filled("glpat-<b64u:20>", &mut random);
    planted.add(("GitLab personal token", "the label"), &secrets);
    let mut lines = json!({"reel": {"version": 1, "created": CREATED, "label": label}}).to_string();
    let mut at = 0;
    let kinds = kinds();
    for place in PLACES {
        for kind in &kinds {
            let (text, secrets) = filled(&kind.template, &mut random);
            at += 1;
            let events = events(place, kind, &text, at);
            if !events.is_empty() && !SURVIVES.contains(&(kind.name, place)) {
                planted.add((kind.name, place), &secrets);
            }
            events.iter().for_each(|event| lines.extend(["\n", &event.to_string()]));
        }
    }
    stage.import("a.reel", lines);
    planted
}

#[test]
fn no_secret_in_a_published_format_survives_anywhere() {
    let stage = Stage::new();
    let planted = planted(&stage);
    let kinds = kinds();
    assert!(kinds.len() >= 300 && planted.about.len() >= 4000, "{} of {}", planted.about.len(), kinds.len());
    let search = planted.search();
    let survivors = |text: &[u8]| planted.survivors(&search, text);
    let before = survivors(&contents(&stage.path("a.reel")));
    assert!(before.len() == kinds.len(), "the search finds {} of {} kinds", before.len(), kinds.len());

    // With a random key, eight digits of a pseudonym would sometimes be those of another secret.
    stage.write("key", "a key of at least sixteen bytes");
    let report = stage.ok(&["redact", "a.reel", "-o", "r.reel", "-f", "json", "--key-file", "key"]);
    let redacted = contents(&stage.path("r.reel"));
    assert_eq!(survivors(&redacted), BTreeMap::new());
    assert_eq!(survivors(&report.stdout), BTreeMap::new(), "in the report");
    for export in ["jsonl", "html"] {
        let exported = stage.ok(&["export", "--redact", "--key-file", "key", "--format", export, "a.reel"]);
        assert_eq!(survivors(&exported.stdout), BTreeMap::new(), "{export}");
    }
    // No pseudonym looks like a secret, whichever key made it: with the key that ends in 2, one contains `jwt`; with that
    // in 63, the first part of a divided one ends within its mark.
    for number in ["", " 2", " 63"] {
        stage.write("key", format!("a key of at least sixteen bytes{number}"));
        stage.ok(&["redact", "a.reel", "-o", "r.reel", "--force", "--key-file", "key"]);
        let again = stage.run(&["redact", "--check", "r.reel"], "");
        assert!(again.code() == 0 && again.out().starts_with("r.reel: no secrets found\n"), "{again:?}");
    }
}
