//! Secrets that a stranger found in redacted reels, and what commands say about what they cannot replace.

use crate::common::{Stage, message, time};
use crate::redact::contents;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;

/// A key file that only its user can read.
fn key(stage: &Stage, name: &str, bytes: &[u8]) {
    stage.write(name, bytes);
    std::fs::set_permissions(stage.path(name), std::fs::Permissions::from_mode(0o600)).expect("its mode is set");
}

fn notification(at: u64, params: Value) -> Value {
    message(at, "s2c", json!({"jsonrpc": "2.0", "method": "x", "params": params}))
}

/// What is left of a reel with these params after redaction.
fn left(stage: &Stage, all: &[Value]) -> String {
    let events: Vec<Value> = all.iter().zip(1..).map(|(params, at)| notification(at, params.clone())).collect();
    let _ = std::fs::remove_file(stage.path("a.reel"));
    stage.reel("a.reel", &events);
    stage.ok(&["redact", "a.reel", "-o", "r.reel", "--force"]);
    assert_eq!(
        stage.run(&["redact", "--check", "r.reel"], "").code(),
        0,
        "{:?}",
        stage.run(&["redact", "--dry-run", "r.reel"], "").out()
    );
    String::from_utf8_lossy(&contents(&stage.path("r.reel"))).into_owned()
}

#[test]
fn a_short_secret_that_one_member_gives_away_is_replaced_in_prose() {
    let stage = Stage::new();
    for secret in ["hunter2", "swordfish", "a1b2c", "letmein", "483920"] {
        let prose = format!("log in with {secret}, then ({secret}) again: \"{secret}\"");
        let all = [json!({"password": secret}), json!({"text": prose, "path": format!("/x/{secret}/y")})];
        let text = left(&stage, &all);
        assert!(!text.contains(secret), "{secret}: {text}");
    }
    let text =
        left(&stage, &[json!({"password": "hunter2"}), json!({"text": "hunter22 and xhunter2 are other words"})]);
    assert!(text.contains("hunter22") && text.contains("xhunter2"), "{text}");
}

#[test]
fn what_stays_because_it_is_ordinary_is_counted() {
    let stage = Stage::new();
    let events = [
        notification(1, json!({"password": "production", "pin": "4711"})),
        notification(2, json!({"text": "production 4711"})),
    ];
    stage.reel("a.reel", &events);
    let report = stage.run(&["redact", "a.reel", "--check"], "");
    assert_eq!(report.code(), 1);
    assert!(
        report.out().contains("2 secrets are short or ordinary: they stay where no name says what they are"),
        "{}",
        report.out()
    );
    for line in ["event 0 /params/password (named-value)", "event 0 /params/pin (named-value)", ".mcpreel.toml"] {
        assert!(report.out().contains(line), "{}", report.out());
    }
    let report = stage.ok(&["redact", "a.reel", "--dry-run", "-f", "json"]).json();
    let places = [("password", 1), ("pin", 1)].map(
        |(name, count)| json!({"seq": 0, "place": format!("/params/{name}"), "rule": "named-value", "count": count}),
    );
    assert_eq!((&report["ordinary"], &report["ordinary_places"]), (&json!(2), &json!(places)), "{report}");
    stage.ok(&["redact", "a.reel", "-o", "r.reel"]);
    let clean = stage.ok(&["redact", "r.reel", "--check"]).out();
    assert!(
        clean.contains("no secrets found") && clean.contains("cannot be found: read it before you share it"),
        "{clean}"
    );
}

/// What gives a password away; `#` stands for it.
const TEXTS: [&str; 25] = [
    "<password>#</password>",
    "<db:Password type=\"plain\">\n  #\n</db:Password>",
    "<password><![CDATA[#]]></password>",
    "&lt;api_key&gt;#&lt;/api_key&gt;",
    "<add key=\"ApiKey\" value=\"#\"/>",
    "<input type='password' name='password' value='#'>",
    "<key>password</key>\n<string>#</string>",
    "CREATE USER app IDENTIFIED BY '#';",
    "ALTER USER app IDENTIFIED WITH mysql_native_password BY \"#\"",
    "create user app identified by #",
    "CREATE ROLE app LOGIN PASSWORD '#'",
    "SET PASSWORD FOR 'app'@'%' = PASSWORD('#')",
    "mysql -u root -p# shop",
    "mysqldump --all -p'#'",
    "sshpass -p # ssh host",
    "sshpass -p# ssh host",
    "docker login -u me -p # registry",
    "redis-cli -h host -a # ping",
    "the password is #.",
    "Passwort: #",
    "**Password:** #",
    "Password: `#`",
    "contraseña=#",
    "пароль: #",
    "密码=#",
];
/// Names of members with a password.
const MEMBERS: [&str; 10] = [
    "pass_phrase",
    "auth",
    "Passwort",
    "mot de passe",
    "contraseña",
    "senha",
    "wachtwoord",
    "пароль",
    "密码",
    "dbpassword",
];
/// Passwords that are words.
const WORDS: [&str; 10] = [
    "swordfish",
    "lionheart",
    "moonlight",
    "blackbird",
    "waterfall",
    "goldfinch",
    "nightfall",
    "sandstorm",
    "riverside",
    "starlight",
];

#[test]
fn forms_of_text_and_names_in_other_languages_are_found() {
    let params = [
        json!({"credentials": {"value": "#"}}),
        json!({"Key": "password", "Value": "#"}),
        json!({"value": "#", "name": "api_key"}),
        json!({"properties": {"token": {"type": "string", "default": "#"}}}),
        json!({"command": "server", "args": ["-y", "--api-key", "#"]}),
    ];
    let texts = TEXTS.iter().flat_map(|text| {
        let in_json = json!({"a": text}).to_string();
        [json!({"text": text}), json!({"text": in_json})]
    });
    let named = MEMBERS.iter().map(|member| json!({*member: "#"}));
    // Each has a secret of its own, because one that is recognised is replaced everywhere.
    let with_secret = |(number, form): (usize, Value)| {
        let secret = format!("q7Rt2v{number:02}X9b");
        (secret.clone(), form.to_string().replace('#', &secret))
    };
    let mut all: Vec<(String, String)> = texts.chain(named).chain(params).enumerate().map(with_secret).collect();
    let words = MEMBERS.iter().zip(WORDS).map(|(member, word)| (word.to_owned(), json!({*member: word}).to_string()));
    all.extend(words);
    let forms: Vec<Value> = all.iter().map(|(_, form)| serde_json::from_str(form).expect("JSON")).collect();
    let left = left(&Stage::new(), &forms);
    let found: Vec<_> = all.iter().filter(|(secret, _)| left.contains(secret)).collect();
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn only_a_redacted_reel_has_pseudonyms() {
    let stage = Stage::new();
    for secret in ["redactedHorse1", "xxxx123", "99991234", "redacted-by-me-7"] {
        let text = left(&stage, &[json!({"password": secret}), json!({"text": format!("use {secret} now")})]);
        assert!(!text.contains(secret), "{secret}: {text}");
        assert_eq!(stage.run(&["redact", "--check", "a.reel"], "").code(), 1, "{secret}");
        let kept = contents(&stage.path("r.reel"));
        stage.ok(&["redact", "r.reel", "-o", "again.reel", "--force"]);
        assert!(kept == contents(&stage.path("again.reel")), "redacting twice changes nothing");
    }
    // Reels that were all redacted stay so when they are merged.
    stage.ok(&["reel", "merge", "r.reel", "again.reel", "-o", "both.reel"]);
    assert_eq!(stage.run(&["redact", "--check", "both.reel"], "").code(), 0);
    stage.ok(&["reel", "merge", "r.reel", "a.reel", "-o", "mixed.reel"]);
    assert_eq!(stage.run(&["redact", "--check", "mixed.reel"], "").code(), 1);
}

#[test]
fn diff_says_how_many_values_it_did_not_compare() {
    let stage = Stage::new();
    let reel = |name: &str, secret: &str| stage.reel(name, &[notification(1, json!({"password": secret, "b": "c"}))]);
    reel("a.reel", "q9w8e7r6t5y4u3i2");
    reel("b.reel", "z9w8e7r6t5y4u3i2");
    key(&stage, "key", b"0123456789abcdef");
    stage.ok(&["redact", "b.reel", "-o", "r.reel", "--key-file", "key"]);
    let output = stage.ok(&["diff", "a.reel", "r.reel"]);
    assert!(output.out().contains("1 replaced value was not compared; --key-file compares them"), "{}", output.out());
    assert_eq!(stage.ok(&["diff", "a.reel", "r.reel", "-f", "json"]).json()["not_compared"], 1);
    assert!(
        stage.ok(&["diff", "a.reel", "r.reel", "-f", "markdown"]).out().contains("1 replaced value was not compared")
    );
    assert_eq!(stage.run(&["diff", "a.reel", "a.reel", "-f", "json"], "").json()["not_compared"], 0);
    let same = stage.ok(&["diff", "b.reel", "r.reel", "--key-file", "key"]);
    assert!(!same.out().contains("not compared"), "{}", same.out());
}

#[test]
fn the_input_is_never_the_output() {
    let stage = Stage::new();
    stage.reel("a.reel", &[notification(1, json!({"password": "hunter2"}))]);
    let before = stage.read("a.reel");
    std::os::unix::fs::symlink(stage.path("a.reel"), stage.path("soft.reel")).expect("a link");
    std::fs::hard_link(stage.path("a.reel"), stage.path("hard.reel")).expect("a link");
    for output in ["a.reel", "./a.reel", "soft.reel", "hard.reel"] {
        for command in [
            &["redact", "a.reel", "--force", "-o", output][..],
            &["reel", "cut", "a.reel", "--force", "-o", output],
            &["reel", "merge", "a.reel", "a.reel", "--force", "-o", output],
            &["export", "a.reel", "--force", "-o", output],
        ] {
            let refused = stage.run(command, "");
            assert_eq!(refused.code(), 2, "{command:?} {}", refused.err());
            assert!(refused.err().contains(&format!("{output} is the input itself")), "{}", refused.err());
        }
    }
    assert!(before == stage.read("a.reel") && before == stage.read("hard.reel"));
}

#[test]
fn a_weak_key_is_refused_and_one_that_others_can_read_is_reported() {
    let stage = Stage::new();
    stage.reel("a.reel", &[notification(1, json!({"password": "hunter2"}))]);
    key(&stage, "weak", &[b'k'; 64]);
    let refused = stage.run(&["redact", "a.reel", "-o", "r.reel", "--key-file", "weak"], "");
    assert_eq!(refused.code(), 2);
    assert!(refused.err().contains("the key in weak is not random: it has only 1 different byte"), "{}", refused.err());
    assert!(refused.err().contains("umask 077"), "{}", refused.err());
    key(&stage, "key", b"0123456789abcdef");
    assert!(!stage.ok(&["redact", "a.reel", "-o", "r.reel", "--key-file", "key"]).err().contains("key"));
    std::fs::set_permissions(stage.path("key"), std::fs::Permissions::from_mode(0o644)).expect("its mode is set");
    let open = stage.ok(&["redact", "a.reel", "-o", "s.reel", "--key-file", "key"]).err();
    assert_eq!(open.matches("other users can read the key in key; `chmod 600 key` prevents that").count(), 1, "{open}");
    let again = stage.ok(&["redact", "r.reel", "-o", "t.reel", "--key-file", "key"]).err();
    assert!(again.contains("r.reel is redacted already: its pseudonyms stay"), "{again}");
}

#[test]
fn any_text_can_be_checked() {
    let stage = Stage::new();
    stage.write("notes.md", "# Notes\n\nlog in with api_key=q9w8e7r6t5y4u3i2\nand q9w8e7r6t5y4u3i2 again\n");
    let found = stage.run(&["redact", "notes.md", "--check"], "");
    assert_eq!(found.code(), 1, "{found:?}");
    assert!(found.out().starts_with("notes.md: 1 secret in 2 places\n"), "{}", found.out());
    assert!(found.out().contains("line 3\n") && found.out().contains("line 4\n"), "{}", found.out());
    assert!(!found.out().contains("q9w8"), "{}", found.out());
    let report = stage.ok(&["redact", "notes.md", "--dry-run", "-f", "json"]).json();
    assert_eq!(
        (&report["places"][0]["line"], &report["different"], &report["secrets"]),
        (&json!(3), &json!(1), &json!(2))
    );
    let refused = stage.run(&["redact", "notes.md", "-o", "x.md"], "");
    assert_eq!(refused.code(), 2);
    assert!(
        refused.err().contains("notes.md is a text, not a recording") && !stage.path("x.md").exists(),
        "{}",
        refused.err()
    );
    stage.write("clean.md", "# Nothing\n");
    assert_eq!(stage.run(&["redact", "clean.md", "--check"], "").code(), 0);
    // What an export of a redacted reel has is clean.
    stage.reel("a.reel", &[notification(1, json!({"password": "q9w8e7r6t5y4u3i2", "to": "jane@acme-corp.com"}))]);
    stage.ok(&["export", "--redact", "--format", "markdown", "a.reel", "-o", "a.md"]);
    let clean = stage.run(&["redact", "a.md", "--check"], "");
    assert_eq!(clean.code(), 0, "{}", clean.out());
}

#[test]
fn all_rules_are_listed() {
    let stage = Stage::new();
    let listed = stage.ok(&["redact", "--rules"]).out();
    let rules = stage.ok(&["redact", "--rules", "-f", "json"]).json();
    for name in ["named-value", "pointer", "env", "own-user", "own-host", "xml-element", "sql-password"] {
        assert!(listed.contains(name), "{name}: {listed}");
        assert!(rules.as_array().expect("rules").iter().any(|rule| rule["rule"] == name), "{name}");
    }
}

#[test]
fn a_cut_says_that_it_left_out_stderr() {
    let stage = Stage::new();
    let line = json!({"time": time(2), "event": "stderr", "dir": "s2c", "text": "a line\n"});
    stage.reel("a.reel", &[notification(1, json!({"a": 1})), line]);
    let cut = stage.ok(&["reel", "cut", "a.reel", "-o", "b.reel", "method:x"]);
    assert!(cut.err().contains("the filter left out 1 event of stderr; `or event:stderr` keeps them"), "{}", cut.err());
    let kept = stage.ok(&["reel", "cut", "a.reel", "-o", "c.reel", "method:x or event:stderr"]);
    assert!(!kept.err().contains("stderr"), "{}", kept.err());
    let early = stage.ok(&["reel", "cut", "a.reel", "-o", "d.reel", "--to", "0.001"]);
    assert!(early.err().contains("left out 1 event of stderr: another time or session"), "{}", early.err());
    let late = stage.ok(&["reel", "cut", "a.reel", "-o", "e.reel", "--from", "0.002"]);
    assert!(!late.err().contains("stderr"), "{}", late.err());
}
