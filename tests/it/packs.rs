//! Packs with the real binary: each command that takes `--pack`, the shipped packs, and secrets that are never shown.

use crate::common::{Output, Stage, message};
use serde_json::{Value, json};
use std::path::Path;

/// A pack with one method of each side, and a rule.
const BELLS: &str = r#"
pack: bells
title: Bells
source: the bell draft
capabilities:
  bells: {side: server, at: [experimental, bells]}
methods:
  bell/ring:
    from: client
    kind: request
    summary: tone {tone}
    result-summary: "{bells#bell}"
    params: {type: object, required: [tone], properties: {tone: {type: string}}}
    example: {tone: high}
  notifications/bell/rang: {from: server, kind: notification, summary: "at {tower}"}
errors: {"-32050": no such bell}
rules:
  rung:
    severity: error
    text: The server says that a bell rang only after the client rang it.
    only-after: {message: notifications/bell/rang, after: bell/ring}
"#;

const SECRET: &str = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz";

fn handshake(capabilities: &Value) -> Vec<Value> {
    let about = json!({"name": "c", "version": "1"});
    let asked = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about});
    let answer = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": about});
    vec![
        message(0, "c2s", request(0, "initialize", asked)),
        message(1, "s2c", json!({"jsonrpc": "2.0", "id": 0, "result": answer})),
        message(2, "c2s", notification("notifications/initialized", json!({}))),
    ]
}

fn request(id: u32, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn notification(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

/// A stage with the pack `bells.yaml` and the reel `bells.reel`, in which a bell rings before it is rung.
fn stage() -> Stage {
    let stage = Stage::new();
    stage.write("bells.yaml", BELLS);
    let mut events = handshake(&json!({"experimental": {"bells": {}}}));
    events.extend([
        message(3, "s2c", notification("notifications/bell/rang", json!({"tower": "north"}))),
        message(4, "c2s", request(1, "bell/ring", json!({"tone": "low"}))),
        message(5, "s2c", json!({"jsonrpc": "2.0", "id": 1, "result": {"bells": [1, 2]}})),
        message(6, "c2s", request(2, "bell/ring", json!({"tone": 7}))),
        message(70, "s2c", json!({"jsonrpc": "2.0", "id": 2, "error": {"code": -32050, "message": ""}})),
    ]);
    stage.reel("bells.reel", &events);
    stage
}

#[track_caller]
fn shows(output: &Output, wanted: &[&str]) {
    let text = output.out() + &output.err();
    for part in wanted {
        assert!(text.contains(part), "{part:?} is missing:\n{text}");
    }
}

#[test]
fn show_and_filters_know_a_pack() {
    let stage = stage();
    let shown = stage.ok(&["show", "bells.reel", "--pack", "bells.yaml", "ext:bells"]);
    shows(&shown, &["rang at north", "bell/ring tone low → 2 bells", "tone 7 → error -32050", "initialize"]);
    assert!(!shown.out().contains("initialized"), "{}", shown.out());
    let unknown = stage.run(&["show", "bells.reel", "ext:bells"], "");
    assert_eq!(unknown.code(), 2);
    shows(&unknown, &["unknown proposal or pack; expected one of conversation, reminder, mcpl, hooks, mcpe"]);
    stage.ok(&["reel", "cut", "bells.reel", "--pack", "bells.yaml", "ext:bells", "-o", "cut.reel"]);
    assert_eq!(stage.ok(&["show", "cut.reel", "method:*bell*"]).out().lines().count(), 5);
    let slowest = stage.ok(&["stats", "bells.reel", "--pack", "bells.yaml", "--format", "json"]).json();
    assert_eq!(slowest["slowest"]["about"], "tone 7", "{slowest}");
}

#[test]
fn validate_checks_the_schemas_and_rules_of_a_pack() {
    let stage = stage();
    let checked = stage.run(&["validate", "bells.reel", "--pack", "bells.yaml"], "");
    assert_eq!(checked.code(), 1);
    shows(&checked, &["error bells/rung", "but no bell/ring came before it", "at /tone: 7 is not of type \"string\""]);
    assert!(!checked.out().contains("method/unknown"), "{}", checked.out());
    let skipped = ["validate", "bells.reel", "--pack", "bells.yaml", "--skip", "bells/*,schema/params"];
    assert_eq!(stage.run(&skipped, "").code(), 0);
    shows(&stage.ok(&["validate", "--rules", "--pack", "bells.yaml"]), &["bells/rung", "the bell draft: Bells"]);
    let sarif = stage.run(&["validate", "bells.reel", "--pack", "bells.yaml", "--format", "sarif"], "");
    shows(&sarif, &["\"bells/rung\""]);
    let shown = stage.run(&["show", "bells.reel", "--check", "--pack", "bells.yaml"], "");
    assert_eq!(shown.code(), 1);
    shows(&shown, &["bells/rung"]);
    let plain = stage.run(&["validate", "bells.reel"], "");
    shows(&plain, &["method/unknown-request", "method/unknown-notification"]);
}

#[test]
fn the_project_names_packs_and_settings_for_their_rules() {
    let stage = stage();
    std::fs::create_dir(stage.path("packs")).expect("a folder");
    std::fs::rename(stage.path("bells.yaml"), stage.path("packs/bells.yaml")).expect("renamed");
    let settings = "packs = ['packs/bells.yaml', 'claude-channels']\n[validate]\nfail-on = 'error'\n\
        [validate.severity]\n'bells/rung' = 'warning'\n'schema/params' = 'off'\n";
    stage.write(".mcpreel.toml", settings);
    let checked = stage.ok(&["validate", "bells.reel"]);
    shows(&checked, &["warning bells/rung"]);
    shows(&stage.ok(&["explain", "bell/ring"]), &["A method of Bells.", "tone  string, required"]);
    shows(&stage.ok(&["explain", "notifications/claude/channel"]), &["the server"]);
    stage.write(".mcpreel.toml", "packs = ['gone.yaml']\n");
    let missing = stage.run(&["validate", "bells.reel"], "");
    assert_eq!(missing.code(), 3);
    shows(&missing, &["gone.yaml", "(`packs` in .mcpreel.toml names it)"]);
    stage.write(".mcpreel.toml", "packs = 'bells.yaml'\n");
    let wrong = stage.run(&["validate", "bells.reel"], "");
    assert_eq!(wrong.code(), 2);
    shows(&wrong, &[".mcpreel.toml:1:9: expected a list of files or names of packs"]);
}

#[test]
fn explain_says_what_a_pack_defines() {
    let stage = stage();
    let with = |name: &str| stage.ok(&["explain", name, "--pack", "bells.yaml"]);
    shows(&with("bell/ring"), &["experimental.bells of the server", "\"tone\": \"high\"", "bells (Bells)"]);
    shows(&with("bells/rung"), &["only after the client rang it", "mcpreel validate --only bells/rung"]);
    shows(&with("bells"), &["experimental.bells  capability"]);
    shows(&stage.ok(&["explain", "--pack", "bells.yaml", "--", "-32050"]), &["No such bell", "methods of bells"]);
    let schema = stage.ok(&["explain", "--schema", "bell/ring", "--pack", "bells.yaml"]).json();
    assert_eq!(schema["required"], json!(["tone"]));
    assert_eq!(stage.run(&["explain", "bell/ring"], "").code(), 2);
}

#[test]
fn mistakes_in_packs_are_usage_errors_with_places() {
    let stage = stage();
    let with = |pack: &str, more: &[&str]| {
        let output = stage.run(&[&["show", "bells.reel", "--pack", pack], more].concat(), "");
        assert!(output.code() > 1, "{output:?}");
        output
    };
    stage.write("wrong.yaml", BELLS.replace("kind: request", "kind: reqest"));
    shows(&with("wrong.yaml", &[]), &["wrong.yaml:10:11: `kind` must be one of request, notification, either"]);
    shows(&with("none.yaml", &[]), &["cannot read none.yaml", "claude-channels, mcp-events"]);
    stage.write("same.yaml", BELLS);
    let both = with("same.yaml", &["--pack", "bells.yaml"]);
    shows(&both, &["both same.yaml and bells.yaml define the pack bells"]);
    stage.write("other.yaml", BELLS.replace("pack: bells", "pack: other"));
    let both = with("other.yaml", &["--pack", "bells.yaml"]);
    shows(&both, &["both other.yaml and bells.yaml define the method bell/ring"]);
}

#[test]
fn fire_message_builds_checks_and_sends() {
    let stage = stage();
    let fire = |words: &[&str]| stage.run(&[&["fire", "message"], words].concat(), "");
    let server = ["--", env!("CARGO_BIN_EXE_mcpreel"), "serve"];
    let sent = fire(&[&["bell/ring", "tone=low", "--pack", "bells.yaml"], &server[..]].concat());
    assert_eq!(sent.code(), 1, "the built-in server knows no bells: {sent:?}");
    shows(&sent, &[r#"sent    → {"jsonrpc":"2.0","id":1,"method":"bell/ring","params":{"tone":"low"}}"#, "-32601"]);
    let example = fire(&[&["bell/ring", "--example", "--pack", "bells.yaml"], &server[..]].concat());
    shows(&example, &[r#""params":{"tone":"high"}"#]);
    let wrong = fire(&[&["bell/ring", "tone:=7", "--pack", "bells.yaml"], &server[..]].concat());
    assert_eq!(wrong.code(), 2);
    shows(&wrong, &["violate the pack's schema: /tone: 7 is not of type \"string\"", "--unchecked sends them anyway"]);
    let anyway = fire(&[&["bell/ring", "tone:=7", "--unchecked", "--pack", "bells.yaml"], &server[..]].concat());
    shows(&anyway, &[r#""params":{"tone":7}"#]);
    let unknown = fire(&[&["bell/x", "--pack", "bells.yaml"], &server[..]].concat());
    shows(&unknown, &["no pack has the method bell/x", "bell/ring, notifications/bell/rang"]);
    shows(&fire(&[&["bell/ring"], &server[..]].concat()), &["no pack is known", "--pack mcp-events"]);
    let side = fire(&[&["notifications/bell/rang", "--as", "host", "--pack", "bells.yaml"], &server[..]].concat());
    shows(&side, &["only the server sends notifications/bell/rang"]);
}

#[test]
fn fire_message_sends_what_servers_send_to_a_host() {
    let stage = stage();
    let words = ["fire", "message", "notifications/bell/rang", "tower=east", "--pack", "bells.yaml", "--listen", "0"];
    let waits = stage.start(&words);
    let url = crate::common::until("the address", || {
        let said = waits.stderr_so_far();
        said.split_whitespace()
            .find(|word| word.starts_with("http://"))
            .map(|word| word.trim_end_matches(';').to_owned())
    });
    // The host may lose its server before it gets an answer.
    let host = stage.run(&["call", "tools/list", "--url", &url], "");
    let fired = waits.end_with_open_stdin();
    shows(&fired, &[r#"sent    ← {"jsonrpc":"2.0","method":"notifications/bell/rang","params":{"tower":"east"}}"#]);
    assert_eq!(fired.code(), 0, "{fired:?} {host:?}");
}

#[test]
fn record_checks_the_rules_of_a_pack() {
    let stage = stage();
    let server = r#"read -r _; echo '{"jsonrpc":"2.0","method":"notifications/bell/rang","params":{}}'; sleep 0.2"#;
    let words = ["record", "-o", "live.reel", "--check", "--pack", "bells.yaml", "--", "sh", "-c", server];
    let recorded = stage.run(&words, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"bell/list\"}\n");
    assert!(recorded.err().contains("bells/rung"), "{recorded:?}");
}

/// A session of each dialect of MCP Events, as far as the handshake shows it.
#[test]
fn the_dialects_of_mcp_events_are_named() {
    let stage = Stage::new();
    let (extension, events) = (json!({"io.modelcontextprotocol/events": {}}), json!({}));
    let (sep, sketch) = (json!({"extensions": extension}), json!({"events": events}));
    for (at, (capabilities, dialect)) in
        [(&sep, "sep"), (&sketch, "sketch"), (&json!({"extensions": extension, "events": events}), "openai")]
            .into_iter()
            .enumerate()
    {
        let reel = format!("{at}.reel");
        stage.reel(&reel, &handshake(capabilities));
        let report = stage.run(&["validate", &reel, "--pack", "mcp-events", "--format", "json"], "").json();
        let declared = &report["connections"][0]["declared"];
        assert!(declared.as_array().expect("a list").iter().all(|it| it["dialect"] == dialect), "{declared}");
    }
    let mcpe = json!({"events": {"maxSubscriptions": 7}});
    stage.reel("mcpe.reel", &handshake(&mcpe));
    let report = stage.run(&["validate", "mcpe.reel", "--pack", "mcp-events", "--format", "json"], "").json();
    assert_eq!(report["connections"][0]["declared"][0]["proposal"], "mcpe");
    assert_eq!(report["connections"][0]["declared"][1], Value::Null);
}

#[test]
fn a_clean_session_of_each_shipped_pack_has_no_finding_of_it() {
    let stage = Stage::new();
    let sub = "io.modelcontextprotocol/subscriptionId";
    let occurrence =
        |id: &str| json!({"eventId": id, "name": "build", "timestamp": "2026-10-05T12:00:00Z", "data": {}});
    let mut event = occurrence("e2");
    event["_meta"] = json!({sub: 3});
    let mut events = handshake(&json!({"extensions": {"io.modelcontextprotocol/events": {}}}));
    let result = |id: u32, mut result: Value| {
        result["resultType"] = "complete".into();
        json!({"jsonrpc": "2.0", "id": id, "result": result})
    };
    let offered = json!([{"name": "build", "delivery": ["poll", "push"], "payloadSchema": {"type": "object"}}]);
    let polled =
        json!({"events": [occurrence("e1")], "cursor": "1", "truncated": false, "hasMore": false, "nextPollMs": 9});
    events.extend([
        message(3, "c2s", request(1, "events/list", json!({}))),
        message(4, "s2c", result(1, json!({"events": offered}))),
        message(5, "c2s", request(2, "events/poll", json!({"name": "build", "arguments": {}, "cursor": null}))),
        message(6, "s2c", result(2, polled)),
        message(7, "c2s", request(3, "events/stream", json!({"name": "build", "arguments": {}, "cursor": "1"}))),
        message(8, "s2c", notification("notifications/events/active", json!({"cursor": "1", "_meta": {sub: 3}}))),
        message(9, "s2c", notification("notifications/events/event", event)),
        message(10, "s2c", result(3, json!({"_meta": {sub: 3}}))),
    ]);
    stage.reel("events.reel", &events);
    let channels = json!({"experimental": {"claude/channel": {}, "claude/channel/permission": {}}});
    let mut events = handshake(&channels);
    let asked = json!({"request_id": "abcde", "tool_name": "Bash", "description": "x", "input_preview": "{}"});
    let (channel, ask) = ("notifications/claude/channel", "notifications/claude/channel/permission_request");
    events.extend([
        message(3, "s2c", notification(channel, json!({"content": "hi", "meta": {"chat_id": "1"}}))),
        message(4, "c2s", notification(ask, asked)),
        message(
            5,
            "s2c",
            notification("notifications/claude/channel/permission", json!({"request_id": "abcde", "behavior": "deny"})),
        ),
    ]);
    stage.reel("channels.reel", &events);
    for (reel, pack) in [("events.reel", "mcp-events"), ("channels.reel", "claude-channels")] {
        let report = stage.run(&["validate", reel, "--pack", pack, "--format", "json"], "").json();
        let findings = report["findings"].as_array().expect("a list");
        let ours = findings.iter().filter(|one| one["rule"].as_str().is_some_and(|rule| rule.starts_with(pack)));
        assert_eq!(ours.collect::<Vec<_>>(), Vec::<&Value>::new(), "{report}");
        assert_eq!(report["counts"]["error"], 0, "{report}");
    }
}

#[test]
fn webhook_secrets_are_never_shown() {
    let stage = Stage::new();
    let subscribe = |secret: &str| {
        // The mode is wrong, so that a finding quotes what stands around it.
        let delivery = json!({"mode": "web", "url": "https://h/x", "secret": format!("whsec_{secret}")});
        let mut events = handshake(&json!({"events": {}}));
        events.push(message(3, "c2s", request(1, "events/subscribe", json!({"name": "a", "delivery": delivery}))));
        events
    };
    stage.reel("a.reel", &subscribe(SECRET));
    let other = SECRET.replace("MDEy", "MDEz");
    stage.reel("b.reel", &subscribe(&other));
    let pack = ["--pack", "mcp-events"];
    let commands: &[&[&str]] = &[
        &["show", "a.reel"],
        &["show", "a.reel", "--full"],
        &["show", "a.reel", "--full", "--no-fold", "--color", "always"],
        &["show", "a.reel", "--format", "json"],
        &["show", "a.reel", "--format", "table"],
        &["show", "a.reel", "--as-call"],
        &["show", "a.reel", "--jq", ".message.params.delivery.secret // empty"],
        &["show", "a.reel", "--jq", ".message.params.delivery.secret // empty | .[6:]"],
        &["show", "a.reel", "--check"],
        &["validate", "a.reel"],
        &["validate", "a.reel", "--format", "json"],
        &["validate", "a.reel", "--format", "sarif"],
        &["validate", "a.reel", "--format", "markdown"],
        &["stats", "a.reel"],
    ];
    let hidden = |words: &[&str]| {
        let output = stage.run(words, "");
        let text = output.out() + &output.err();
        // No four letters of it in a row, wherever it is cut.
        let shown = (0..SECRET.len() - 4).map(|at| &SECRET[at..at + 5]).find(|part| text.contains(part));
        assert_eq!(shown, None, "{words:?}:\n{text}");
        text
    };
    for words in commands {
        hidden(&[words, &pack[..]].concat());
    }
    assert!(hidden(&["show", "a.reel", "--full"]).contains(&format!("whsec_{}", "*".repeat(SECRET.len()))));
    for words in [
        &["diff", "a.reel", "b.reel"][..],
        &["diff", "a.reel", "b.reel", "--color", "always"],
        &["diff", "a.reel", "b.reel", "--view", "side-by-side"],
        &["diff", "a.reel", "b.reel", "--format", "json"],
        &["diff", "a.reel", "b.reel", "--format", "markdown"],
        &["export", "a.reel"],
        &["export", "a.reel", "--format", "commands"],
        &["export", "a.reel", "-o", "a.jsonl"],
        &["redact", "a.reel", "--check"],
    ] {
        hidden(words);
    }
    assert!(!String::from_utf8_lossy(&stage.read("a.jsonl")).contains(SECRET));
    for words in [&["show", "a.reel", "--raw"][..], &["reel", "cat", "--stream", "c2s", "a.reel"]] {
        assert!(stage.ok(words).out().contains(SECRET), "{words:?} prints bytes");
    }
}

#[test]
fn the_published_schema_is_that_of_the_types_and_the_shipped_packs_fit_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("docs/pack.schema.json");
    let mut fresh = serde_json::to_string_pretty(&mcpreel::testing::pack::schema()).expect("JSON");
    fresh.push('\n');
    if std::env::var_os("REGENERATE").is_some() {
        std::fs::write(&path, &fresh).expect("writable");
    }
    let published = std::fs::read_to_string(&path).unwrap_or_default();
    let remedy = "make it anew: REGENERATE=1 cargo test --test it packs::";
    assert!(published == fresh, "docs/pack.schema.json is not the types' schema; {remedy}");
    let schema = jsonschema::validator_for(&mcpreel::testing::pack::schema()).expect("a schema");
    let shipped = std::fs::read_dir(root.join("src/pack/shipped")).expect("a folder");
    let texts = shipped.map(|file| std::fs::read_to_string(file.expect("a file").path()).expect("readable"));
    for text in texts.chain([BELLS.to_owned()]) {
        let value: Value = serde_saphyr::from_str(&text).expect("YAML");
        let violations: Vec<String> = schema.iter_errors(&value).map(|error| error.to_string()).collect();
        assert_eq!(violations, [""; 0], "{text}");
    }
    let wrong: Value = serde_saphyr::from_str(&BELLS.replace("kind: request", "kind: reqest")).expect("YAML");
    assert!(!schema.is_valid(&wrong));
}
