//! Tests `overlay` and its examples with other people's servers, which know none of the proposals: a host uses what the
//! examples add, and the reels violate no rule.

use super::{ClientKind, Scenario, Stage, assert_reel_is_sound, assert_same_lines, describe};
use crate::common::BINARY;
use serde_json::Value;
use std::ffi::OsString;
use std::path::Path;

/// Runs a host with a server behind an example, expecting exit code 0 or, if a tool is to fail, 1; returns the host's
/// events.
fn host(stage: &Stage, example: &str, options: &str, server: &[OsString], words: &[&str]) -> Vec<Value> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/overlays").join(example);
    let quoted: Vec<String> = server.iter().map(|word| format!("'{}'", word.to_string_lossy())).collect();
    let overlay = format!(
        "it='{}' overlay '{}' {options} -o '{}' -- {}",
        BINARY,
        file.display(),
        stage.path("overlay.reel").display(),
        quoted.join(" ")
    );
    let own = [BINARY, "host", "-s", &overlay, "--project", "demo", "--format", "json"];
    let all: Vec<OsString> = own.iter().chain(&["--record", "host.reel"]).chain(words).map(OsString::from).collect();
    let reported = stage.run(&all);
    let out = String::from_utf8_lossy(&reported.stdout).into_owned();
    let code = i32::from(words.iter().any(|word| word.contains("gone")));
    assert_eq!(reported.code(), code, "{}\n{out}\n{}", describe(&all), reported.errors());
    for reel in ["host.reel", "overlay.reel"] {
        assert_reel_is_sound(stage, &stage.path(reel));
        let verdict = stage.mcpreel(&["validate"], &stage.path(reel));
        assert_eq!(verdict.code(), 0, "{reel}: {}", String::from_utf8_lossy(&verdict.stdout));
    }
    let event = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    out.lines().map(event).collect()
}

/// What was injected into the prompts in this slot. A push may begin a turn of its own, before or after the requested
/// one, and the first turn takes everything that waits.
fn injected(events: &[Value], slot: &str) -> String {
    let prompts: Vec<&Value> = events.iter().filter(|event| event["event"] == "prompt").collect();
    assert!(!prompts.is_empty(), "no prompt in {events:?}");
    let messages = prompts.iter().flat_map(|event| event["prompt"]["messages"].as_array().expect("messages"));
    let fits = |message: &&Value| message["external"]["slot"] == slot;
    messages.filter(fits).filter_map(|message| message["content"].as_str()).collect::<Vec<_>>().join("\n")
}

/// The messages of a reel that match a filter.
fn show(stage: &Stage, reel: &str, filter: &str) -> String {
    let words = [BINARY, "show", "--raw", reel, filter].map(OsString::from);
    String::from_utf8_lossy(&stage.run(&words).stdout).into_owned()
}

/// The memory server's example turns its graph into context.
pub(super) fn the_memory_servers_graph() {
    let stage = Stage::new();
    let graph = format!("MEMORY_FILE_PATH={}", stage.path("memory.jsonl").display());
    let server: Vec<OsString> = vec!["node".into(), stage.peers.memory().into()];
    let create =
        r#"/tool create_entities entities:='[{"name":"schema","entityType":"decision","observations":["uuid keys"]}]'"#;
    let words = [
        "--do",
        create,
        "--do",
        "/tool delete_entities entityNames:='[\"other\"]'",
        "--do",
        "/hook session_start",
        "--do",
        "/turn schema",
    ];
    let events = host(&stage, "server-memory.yaml", &format!("-e '{graph}'"), &server, &words);
    assert!(injected(&events, "conversation.context").contains("uuid keys"));
    assert!(injected(&events, "hooks.session_start").contains("What the memory holds"));
    assert!(injected(&events, "reminder.system").contains("delete_entities has changed the memory"));
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn the_filesystem_servers_writes_and_failures_are_reported() {
    let stage = Stage::new();
    let server: Vec<OsString> = vec!["node".into(), stage.peers.filesystem().into(), ".".into()];
    let words = [
        "--do",
        "/tool write_file path=notes.md content=hello",
        "--do",
        "/tool read_text_file path=gone.md",
        "--do",
        "/turn next",
    ];
    let events = host(&stage, "server-filesystem.yaml", "", &server, &words);
    assert!(injected(&events, "hooks.session_start").contains("Allowed directories"));
    assert!(injected(&events, "hooks.tool_use").contains("write_file overwrites whole files"));
    let reel = show(&stage, "overlay.reel", "method:push/event");
    assert!(reel.contains("read_text_file failed: ENOENT"));
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn annals_search_answers_user_messages() {
    let stage = Stage::new();
    let server = [&stage.peers.annal()[..], &["--plain".into()]].concat();
    let store = "/tool store_memory project=demo content='the schema uses uuid keys' tags=decision";
    let words = ["--do", store, "--do", "/hook session_start", "--do", "/turn which keys does the schema use?"];
    let events = host(&stage, "annal.yaml", "--value project=demo", &server, &words);
    let context = injected(&events, "conversation.context");
    assert!(context.contains("Memories of demo") && context.contains("the schema uses uuid keys"), "{context}");
    assert!(injected(&events, "hooks.session_start").contains("uuid keys"));
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn a_server_that_declares_hooks_itself_keeps_its_own() {
    let stage = Stage::new();
    let events = host(&stage, "annal.yaml", "", &stage.peers.annal(), &["--do", "/turn hello"]);
    let said = show(&stage, "host.reel", "event:stderr");
    assert!(said.contains("the server already declares hooks"), "{said}");
    assert!(injected(&events, "instructions").contains("external server \"it\""));
}

/// The TypeScript client counts all notifications, including reminders.
fn without_count(lines: &str) -> String {
    match lines.split_once("\"notifications/reminder\":") {
        Some((before, after)) => {
            before.to_owned() + after.trim_start_matches(|found: char| found != ',').trim_start_matches(',')
        }
        None => lines.to_owned(),
    }
}

/// Other people's clients see the same with and without an overlay, although it declares and sends what they do not
/// know.
#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn clients_that_know_no_proposal_see_no_difference() {
    let stage = Stage::new();
    let rules = "rules: [{when: {message: {method: tools/call}}, fire: {kind: reminder, body: '{tool} was called'}}]\n\
        conversation: [{tool: echo, arguments: {message: '{content}'}}]";
    std::fs::write(stage.path("overlay.yaml"), rules).expect("written");
    let server = stage.peers.server(Scenario::Everything);
    let own = [BINARY, "overlay", "overlay.yaml", "-o", "overlay.reel", "--force", "--"];
    let overlaid: Vec<OsString> = own.iter().map(OsString::from).chain(server.iter().cloned()).collect();
    for client in [ClientKind::TypeScript, ClientKind::PythonOne, ClientKind::PythonTwo] {
        let direct = stage.converse(client, Scenario::Everything, &server);
        let through = stage.converse(client, Scenario::Everything, &overlaid);
        // The first operation is the handshake, which contains the additions if the client shows them.
        let rest = |lines: &str| lines.split_once('\n').map(|(_, rest)| without_count(rest)).expect("lines");
        assert_same_lines("through an overlay", &rest(&through), &rest(&direct));
        assert!(show(&stage, "overlay.reel", "method:notifications/reminder").contains("was called"));
    }
}
