//! Tests `mcpreel host` with other people's servers: their tools in a conversation, their instructions in the prompt,
//! over stdio and HTTP, and a memory server's own search as a hook's tool.

use super::{Finished, Scenario, Stage, describe, free_port, listens};
use crate::common::{BINARY, Live, until};
use serde_json::Value;
use std::ffi::OsString;

/// Runs a host with these servers, each a name and a command or URL, and checks its reel.
fn host(stage: &Stage, servers: &[(&str, String)], words: &[&str]) -> Vec<Value> {
    let reel = stage.path("host.reel");
    let mut all: Vec<OsString> = vec![BINARY.into(), "host".into()];
    for (name, spec) in servers {
        all.extend(["-s".into(), format!("{name}={spec}").into()]);
    }
    all.extend(["--format", "json", "--project", "demo", "--record"].map(OsString::from));
    all.push(reel.clone().into());
    all.extend(words.iter().map(OsString::from));
    let reported = stage.run(&all);
    assert_eq!(reported.code(), 0, "{}\n{}\n{}", describe(&all), text(&reported), reported.errors());
    let verdict = stage.mcpreel(&["validate"], &reel);
    assert_eq!(verdict.code(), 0, "the reel of a host breaks no rule\n{}", text(&verdict));
    let event = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    text(&reported).lines().map(event).collect()
}

fn text(finished: &Finished) -> String {
    String::from_utf8_lossy(&finished.stdout).into_owned()
}

/// A command as one word for the host, which splits it like a shell.
fn word(command: &[OsString]) -> String {
    let quoted = |word: &OsString| format!("'{}'", word.to_string_lossy());
    command.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// The events of this kind.
fn all<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["event"] == kind).collect()
}

/// What servers injected into the last prompt in this slot.
fn injected(events: &[Value], slot: &str) -> Vec<String> {
    injected_into(all(events, "prompt").last().expect("a prompt"), slot)
}

fn injected_into(prompt: &Value, slot: &str) -> Vec<String> {
    let messages = prompt["prompt"]["messages"].as_array().expect("messages");
    let fits = |message: &&Value| message["external"]["slot"] == slot;
    messages.iter().filter(fits).filter_map(|message| message["content"].as_str()).map(str::to_owned).collect()
}

/// Tool calls and a turn, with their results.
const TALK: [&str; 4] = ["--do", "/tool echo message='hello there'", "--do", "/turn what did it say?"];

fn check_everything(events: &[Value]) {
    let tool = all(events, "tool").last().expect("a tool was used").to_string();
    assert!(tool.contains("hello there"), "{tool}");
    let turn = all(events, "turn")[0];
    assert!(turn["answer"].as_str().is_some_and(|answer| answer.starts_with("echo: what did it say?")), "{turn}");
    let instructions = injected(events, "instructions");
    assert!(instructions.iter().any(|text| text.contains("external server \"everything\"")), "{instructions:?}");
}

/// A conversation with the everything server's tools.
pub(super) fn over_stdio() {
    let stage = Stage::new();
    let server = word(&stage.peers.server(Scenario::Everything));
    check_everything(&host(&stage, &[("everything", server)], &TALK));
}

/// The everything server over HTTP, and its URL.
fn listening(stage: &Stage) -> (Live, String) {
    let port = free_port();
    let mut command = stage.command(&["node".into(), stage.peers.everything().into(), "streamableHttp".into()]);
    command.env("PORT", port.to_string());
    let mut server = Live::start(command);
    until("the server listens", || {
        assert!(server.is_running(), "the server ended");
        listens(port).then_some(())
    });
    (server, format!("http://127.0.0.1:{port}/mcp"))
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn the_everything_server_over_http_beside_the_memory_server() {
    let stage = Stage::new();
    let (_server, url) = listening(&stage);
    let memory = word(&["node".into(), stage.peers.memory().into()]);
    let create =
        r#"/tool create_entities entities:='[{"name":"s","entityType":"decision","observations":["a table"]}]'"#;
    let words = [&["--do", create, "--do", "/tool memory:search_nodes query=table"], &TALK[..]].concat();
    let events = host(&stage, &[("everything", url), ("memory", memory)], &words);
    let found = all(&events, "tool")[1].to_string();
    assert!(found.contains("a table"), "{found}");
    check_everything(&events);
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn the_memory_servers_own_search_is_the_tool_of_a_hook() {
    let stage = Stage::new();
    let annal = stage.peers.annal();
    let fire = |words: &[&str]| {
        let own = [BINARY, "fire", "hook", "session_start", "--project", "demo"];
        let words = own.iter().chain(words).map(OsString::from).chain(["--".into()]).chain(annal.iter().cloned());
        stage.run(&words.collect::<Vec<_>>())
    };
    let fired =
        fire(&["--expect", ".hooks[0].context_tool == \"search_memories\" and (.hooks[0].inject | length > 10)"]);
    assert_eq!(fired.code(), 0, "{}\n{}", text(&fired), fired.errors());

    let store = "/tool store_memory project=demo content='the schema uses uuid keys' tags=decision";
    let turns = ["/turn hello", store, "/hook session_start", "/turn what about the keys?"];
    let words: Vec<&str> = turns.iter().flat_map(|turn| ["--do", turn]).collect();
    let events = host(&stage, &[("annal", word(&annal))], &words);
    let [first, last] = all(&events, "prompt")[..] else { panic!("a prompt for each turn") };
    let found = |prompt| injected_into(prompt, "hooks.session_start").concat();
    assert!(found(first).contains("No matching memories"), "{first}");
    assert!(found(last).contains("the schema uses uuid keys") && !found(last).contains("No matching"), "{last}");
    assert!(injected(&events, "instructions")[0].contains("external server \"annal\""));
}
