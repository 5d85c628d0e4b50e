//! Tests of the redaction of single events.

use super::*;
use crate::redact::Kind;
use crate::redact::detectors::{DETECTORS, Detector, sample};
use base64::Engine;

fn header(seq: usize, kind: EventKind) -> EventHeader {
    EventHeader { kind, ..line_header(seq as u64) }
}

fn redacted(kind: EventKind, payloads: &[Vec<u8>]) -> Vec<Vec<u8>> {
    redacted_by(learner(), kind, payloads)
}

fn redacted_again(kind: EventKind, payloads: &[Vec<u8>]) -> Vec<Vec<u8>> {
    redacted_by(learner().keeping_pseudonyms(), kind, payloads)
}

fn learner() -> Learner {
    Learner::new(&Settings::default(), b"a key of 16 bytes").expect("no settings")
}

fn redacted_by(mut learner: Learner, kind: EventKind, payloads: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let header = |seq: usize| header(seq, kind);
    for (seq, payload) in payloads.iter().enumerate() {
        learner.learn(&Event { header: &header(seq), payload });
    }
    let mut redaction = learner.finish();
    let redact = |(seq, payload): (usize, &Vec<u8>)| redaction.payload(&header(seq), payload).into_owned();
    payloads.iter().enumerate().map(redact).collect()
}

#[test]
fn a_secret_and_its_pseudonym_become_comparable_whatever_the_key_was() {
    let compare = |recorded: &[Vec<u8>], live: &[Vec<u8>]| {
        let mut comparing = Learner::comparing(&Settings::default()).expect("no settings").finish().live();
        recorded.iter().for_each(|message| drop(comparing.comparable(message)));
        for (recorded, live) in recorded.iter().zip(live) {
            let [one, other] = [recorded, live].map(|text| comparing.comparable(text));
            let [one, other] = [one, other].map(|text| String::from_utf8_lossy(&text).into_owned());
            assert_eq!(one, other, "{}", String::from_utf8_lossy(recorded));
            assert!(json::check(one.as_bytes()).is_ok(), "{one}");
        }
    };
    // What replaces numbers, addresses and names is not always recognised as one.
    let is_token = |detector: &&Detector| detector.kind == Kind::Token && detector.severity > Severity::Low;
    for detector in DETECTORS.iter().take_while(|detector| detector.name != "card-number").filter(is_token) {
        for seed in 0..2 {
            let mut random = fastrand::Rng::with_seed(seed);
            let secret = sample(detector.example, |below| random.usize(..below));
            let message = serde_json::json!({"id": 1, "params": {"text": format!("see {secret} here")}}).to_string();
            let live = vec![message.into_bytes()];
            compare(&redacted(EventKind::Message, &live), &live);
        }
    }
    for password in ["hunter2-is-long", "abc", "1234567", "correct horse battery"] {
        let text = format!("with {password}.");
        let message = serde_json::json!({"params": {"password": password, "note": text, "pin": 123_456}}).to_string();
        let live = vec![message.into_bytes()];
        compare(&redacted(EventKind::Message, &live), &live);
    }
}

/// The beginning of a token may look random by itself. What precedes the secret in it is no secret.
#[test]
fn the_prefix_of_a_divided_token_stays() {
    for prefix in ["1//0", "sk.eyJ", "ntn_"] {
        let texts = [
            format!("delta {prefix}abXkQ9rT2vX7bN1cL8sD5fG3hJ6q"),
            "wP0yAzk4mQ9rT2vX7bN1c.L8sD5fG3hJ6wP0yAzk4mQ end".to_owned(),
        ];
        let texts = texts.map(|text| if prefix == "sk.eyJ" { text } else { text.replace('.', "") });
        let message = |text: &String| serde_json::json!({"method": "x", "params": {"text": text}}).to_string();
        let messages: Vec<Vec<u8>> = texts.iter().map(|text| message(text).into_bytes()).collect();
        let made = redacted(EventKind::Message, &messages);
        let [first, rest] = [0, 1].map(|number| String::from_utf8_lossy(&made[number]).into_owned());
        assert!(first.contains(&format!("\"delta {prefix}redacted")), "{first}");
        assert!(rest.contains(" end\"") && !rest.contains("wP0yAzk4"), "{rest}");
    }
}

/// A text of secrets, words, and both in other forms, with spaces between them.
fn text(random: &mut fastrand::Rng, depth: usize) -> String {
    let words = ["the", "token", "=", "x:", "\"", "/", "key", "a.b", "-", "%20", "é", "\n", "password"];
    let piece = |random: &mut fastrand::Rng| match random.usize(..10) {
        0..3 => sample(random.choice(DETECTORS).expect("detectors").example, |below| random.usize(..below)),
        3 if depth > 0 => serde_json::json!({"password": text(random, depth - 1)}).to_string(),
        4 if depth > 0 => base64::engine::general_purpose::STANDARD.encode(text(random, depth - 1)),
        _ => (*random.choice(words).expect("words")).to_owned(),
    };
    (0..random.usize(1..7)).map(|_| format!("{} ", piece(random))).collect()
}

#[test]
fn redacting_twice_changes_nothing_and_keeps_lengths_and_json() {
    for seed in 0..80 {
        let mut random = fastrand::Rng::with_seed(seed);
        let (is_message, count) = (random.bool(), random.usize(1..4));
        let kind = if is_message { EventKind::Message } else { EventKind::Stderr };
        let payloads: Vec<Vec<u8>> = (0..count)
            .map(|_| match is_message {
                true => {
                    let (name, value) = (text(&mut random, 1), text(&mut random, 2));
                    serde_json::json!({"method": "x", "params": {"a": value, name: 1, "token": text(&mut random, 1)}})
                        .to_string()
                        .into_bytes()
                }
                false => text(&mut random, 2).into_bytes(),
            })
            .collect();
        let once = redacted(kind, &payloads);
        let show =
            |all: &[Vec<u8>]| all.iter().map(|one| String::from_utf8_lossy(one).into_owned()).collect::<Vec<_>>();
        assert_eq!(show(&redacted_again(kind, &once)), show(&once), "seed {seed}: {:?}", show(&payloads));
        for (before, after) in payloads.iter().zip(&once).filter(|_| is_message) {
            assert!(json::check(after).is_ok(), "seed {seed}: {:?} {:?}", String::from_utf8_lossy(before), show(&once));
        }
    }
}

/// Texts at the same place of consecutive messages, of which the second one continues the first.
fn divided(random: &mut fastrand::Rng) -> Vec<Vec<u8>> {
    let whole = text(random, 0);
    let half = random.usize(..=whole.len());
    let half = (half..=whole.len()).find(|at| whole.is_char_boundary(*at)).expect("the end");
    let said = |text: &str| serde_json::json!({"method": "x", "params": {"text": text}}).to_string().into_bytes();
    vec![said(&whole[..half]), said(&whole[half..])]
}

/// The events of a server-sent event, whose JSON has several lines.
fn in_lines(random: &mut fastrand::Rng) -> Vec<Vec<u8>> {
    let block = format!("id: 7\ndata: {{\"a\": 1,\ndata: \"x\": {}}}\n\n", serde_json::json!(text(random, 1)));
    let mut payload = Vec::new();
    let about = serde_json::json!({"what": "sse", "joined": true, "block": block});
    ciborium::into_writer(&about, &mut payload).expect("a Vec");
    vec![payload]
}

#[test]
fn a_check_finds_nothing_in_what_was_redacted_with_any_key() {
    for seed in 0..160 {
        let mut random = fastrand::Rng::with_seed(seed);
        let key: Vec<u8> = (0..32).map(|_| random.u8(..)).collect();
        let (kind, payloads) = match seed % 4 {
            0 => (EventKind::Message, divided(&mut random)),
            1 => (EventKind::Transport, in_lines(&mut random)),
            2 => (EventKind::Stderr, (0..2).map(|_| text(&mut random, 2).into_bytes()).collect()),
            _ => (EventKind::Message, (0..2).flat_map(|_| divided(&mut random)).collect()),
        };
        let once = redacted_by(Learner::new(&Settings::default(), &key).expect("no settings"), kind, &payloads);
        let mut check = Learner::new(&Settings::default(), b"another").expect("no settings").keeping_pseudonyms();
        let header = |seq: usize| header(seq, kind);
        for (seq, payload) in once.iter().enumerate() {
            check.learn(&Event { header: &header(seq), payload });
        }
        let mut check = check.finish();
        for (seq, payload) in once.iter().enumerate() {
            check.payload(&header(seq), payload);
        }
        let shown =
            |all: &[Vec<u8>]| all.iter().map(|one| String::from_utf8_lossy(one).into_owned()).collect::<Vec<_>>();
        let found = check.report().to_json("");
        assert_eq!(check.report().count(), 0, "seed {seed}: {:?}\n{:?}\n{found}", shown(&payloads), shown(&once));
    }
}

/// Returns what is found in a payload that is a message, and one in a server-sent event.
fn counted(redaction: &mut Redactor, payload: &[u8]) -> u64 {
    redaction.report = Report::default();
    let mut header = header(0, EventKind::Message);
    redaction.count(&header, payload);
    header.framing = Framing::Sse;
    redaction.count(&header, payload);
    redaction.report().count()
}

/// Forms of a text as they stand in a payload.
fn forms(text: &str) -> Vec<String> {
    let json = |value: &str| serde_json::json!({"jsonrpc": "2.0", "params": {"a": value, "b": [value, 1]}}).to_string();
    let escaped = |by: fn(char) -> String| format!("{{\"a\":\"{}\"}}", text.chars().map(by).collect::<String>());
    let percent: String = text.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let references = |form: fn(u32) -> String| text.chars().map(|found| form(u32::from(found))).collect::<String>();
    let base64 = base64::engine::general_purpose::STANDARD.encode(text);
    let mut all = vec![
        text.to_owned(),
        json(text),
        json(&json(text)),
        json(&json(&json(text))),
        json(&base64),
        json(&format!("see\n{base64}\nthere")),
        json(&percent),
        json(&references(|number| format!("&#{number};"))),
        json(&references(|number| format!("&#x{number:x};"))),
        json(&format!("\u{e9}{text}")),
        format!("data: {}\n\n", json(text)),
        serde_json::json!({text: 1, "x": {text: [text]}}).to_string(),
        escaped(|found| format!("\\u{:04x}", u32::from(found))),
        escaped(|found| if found == '/' { "\\/".to_owned() } else { json_text(found) }),
    ];
    for before in ["\\n", "\\t", "\\u2019", "\\u00e9", "\\\\", "\\\"", "%C3%A9", ".", "/", "?x=1&", "-"] {
        let inner = escaped(json_text);
        all.push(inner.replacen(":\"", &format!(":\"{before}"), 1));
    }
    all
}

fn json_text(found: char) -> String {
    let text = serde_json::to_string(&found.to_string()).expect("JSON");
    text[1..text.len() - 1].to_owned()
}

#[test]
fn every_detector_finds_its_example_in_any_form() {
    let mut redaction = learner().finish();
    for detector in DETECTORS {
        let mut random = fastrand::Rng::with_seed(1);
        let example = sample(detector.example, |below| random.usize(..below));
        for text in [format!("see {example} here"), format!("({example})")] {
            // Beside what the last ones add, a table is none.
            for form in forms(&text).iter().take(14) {
                assert!(counted(&mut redaction, form.as_bytes()) > 0, "{}: {form}", detector.name);
            }
        }
    }
}

#[test]
fn tables_lists_and_commands_give_away_secrets_in_json_too() {
    let mut redaction = learner().finish();
    for text in [
        "| user | password |\n| --- | --- |\n| me | q9w8e7r6 |",
        "user,api key\nme,q9w8e7r6\n",
        "\"user\";\"Passwort\"\n\"me\";\"q9w8e7r6\"",
        "token\tuser\nq9w8e7r6\tme",
        "<tr><th>user</th><th>Password</th></tr><tr><td>me</td><td>q9w8e7r6</td></tr>",
        "user  password  role (x)\n----  --------  --------\nme    q9w8e7r6  a",
        "INSERT INTO u (name, \"Password\")\nVALUES\n('me', 'q9w8e7r6')",
        "insert into u (pin) values (q('q9w8e7r6'))",
        "define('DB_PASSWORD', 'q9w8e7r6')",
        "x.setPassword(\"q9w8e7r6\")",
        "setenv( 'API_KEY','q9w8e7r6' )",
        "- name: 'DB_PASSWORD'\n  value: \"q9w8e7r6\"",
        "variable \"token\" {\n  default = \"q9w8e7r6\"\n}",
        "machine h\n  login u\n  password q9w8e7r6",
        "h:5432:db:u:q9w8e7r6",
        "curl -sSujane:q9w8e7r6 https://h.example",
        "echo root:q9w8e7r6 | chpasswd",
        "echo q9w8e7r6 | docker login --password-stdin",
        "FROM x\nENV API_TOKEN q9w8e7r6",
        "see:\n```\n[\"mysql\",\"-pq9w8e7r6\"]\n```\nthere",
        "see:\n```json\n{\n  \"columns\": [\"user\", \"pin\"],\n  \"rows\": [[\"me\", \"q9w8e7r6\"]]\n}\n```\n",
        "{\"a\":1}\n{\"args\":[\"sshpass\",\"-p\",\"q9w8e7r6\"]}\n",
        "sqlplus u/q9w8e7r6@h",
        "snmpwalk -v2c -c q9w8e7r6 h",
        "Your verification code is 483920",
        "password was changed to q9w8e7r6",
        "https://h.example/?api%5Fkey=q9w8e7r6",
        r#"["mysql","-pq9w8e7r6"]"#,
        r#"["sshpass","-p","q9w8e7r6","ssh"]"#,
        r#"{"command":"redis-cli","args":["-a","q9w8e7r6"]}"#,
        r#"["curl", "-u", "jane:q9w8e7r6"]"#,
        r#"[["X-Api-Key","q9w8e7r6"]]"#,
        r#"["a", "password" , "q9w8e7r6"]"#,
        r#"{"columns":["user","password"],"rows":[["me","q9w8e7r6"]]}"#,
        r#"{"fields":["user", "token" ],"data":[["me","q9w8e7r6"]]}"#,
    ] {
        for form in forms(text).iter().take(5) {
            assert!(counted(&mut redaction, form.as_bytes()) > 0, "{form}");
        }
    }
}

#[test]
fn what_settings_add_is_found() {
    let settings = Settings {
        own_user: Some("zoe1".into()),
        own_host: Some("h-12".into()),
        own_home: Some("/srv/zoe1".into()),
        env: vec!["CITY".into()],
        members: vec!["town".into()],
        ..Settings::default()
    };
    let mut redaction = Learner::new(&settings, b"a key of 16 bytes").expect("settings").finish();
    for text in [
        r#"{"user":"zoe1"}"#,
        r#"{"a":"on h-12"}"#,
        r#"{"a":"city CITY=Bonn"}"#,
        r#"{"town":"Bonn"}"#,
        "user=zoe1",
        "see /srv/zoe1/a",
    ] {
        assert_eq!(counted(&mut redaction, text.as_bytes()), 2, "{text}");
    }
}
