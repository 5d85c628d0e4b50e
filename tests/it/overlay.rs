//! Tests `overlay` with a small server of plain MCP, a scripted client, `host` and `serve`: what it adds, what stays
//! unchanged, what the reel contains, and that files and help are right.

use crate::common::{BINARY, Live, Stage, lives, until};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Plain MCP: three tools and a resource with subscriptions. Formats JSON differently than a library would.
const PLAIN: &str = r#"
import json, sys
def say(text):
    print(text, flush=True)
def result(request, text):
    say('{"id" :%s, "result": %s ,"jsonrpc":"2.0"}' % (json.dumps(request["id"]), text))
def words(text, more=""):
    return '{"content":[{"type":"text","text":%s}]%s}' % (json.dumps(text), more)
notes = []
for line in sys.stdin:
    with open("heard", "a") as log:
        log.write(line)
    request = json.loads(line)
    method, params = request.get("method"), request.get("params", {})
    if method == "initialize":
        result(request, '{"protocolVersion":"2025-06-18", "capabilities":{"tools":{ },"resources":{"subscribe":true}}, '
            '"serverInfo":{"name":"plain","version":"1.0"}}')
    elif method == "tools/list":
        tools = [{"name": name, "inputSchema": {"type": "object"}} for name in ["recall", "note", "touch"]]
        result(request, '{ "tools" : %s }' % json.dumps(tools))
    elif method == "tools/call":
        arguments = params.get("arguments", {})
        if params["name"] == "recall":
            found = [note for note in notes if set(note.split()) & set(arguments.get("query", "").split())]
            result(request, words("; ".join(found) or "nothing"))
        elif params["name"] == "note":
            notes.append(arguments["text"])
            result(request, words("noted"))
        else:
            say('{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"notes://all"}}')
            result(request, words("touched"))
    elif method == "resources/list":
        result(request, '{ "resources":[ ] }')
    elif method == "exit":
        sys.exit(7)
    elif "id" in request:
        result(request, "{}")
"#;

const OVERLAY: &str = r#"
hooks:
  - event: session_start
    priority: important
    answer: {tool: recall, arguments: {query: "{project_name}"}, text: "Known: {text}", unless: {pointer: /content/0/text, equals: nothing}}
conversation:
  - {tool: recall, arguments: {query: "{content}"}, unless: {pointer: /content/0/text, equals: nothing}}
rules:
  - when: {result: {tool: note}}
    fire: {kind: reminder, body: "noted: {params/arguments/text}"}
  - when: {message: {method: tools/call, tool: touch}}
    fire: {kind: push, text: "touched"}
  - when: {resource: "notes://all"}
    fire: {kind: event, type: notes.touched, data: {uri: "{uri}"}}
  - when: {file: "docs/*.md"}
    fire: {kind: reminder, body: "{path} changed"}
"#;

fn stage() -> Stage {
    let stage = Stage::new();
    stage.write("plain.py", PLAIN);
    stage.write("overlay.yaml", OVERLAY);
    std::fs::create_dir(stage.path("docs")).expect("a folder");
    stage
}

const COMMAND: [&str; 6] = ["overlay", "overlay.yaml", "-o", "o.reel", "--", "python3"];

fn start(stage: &Stage) -> Live {
    stage.start(&[&COMMAND[..], &["plain.py"]].concat())
}

fn request(id: u64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// The handshake of a client that supports the proposals; returns the response line.
fn meet(client: &mut Live) -> String {
    let capabilities = json!({"hooks": {"supported_events": ["session_start"]},
        "experimental": {"mcpl": {"version": "0.4", "pushEvents": true}}});
    client.send(&request(
        1,
        "initialize",
        json!({"protocolVersion": "2025-06-18", "capabilities": capabilities,
        "clientInfo": {"name": "c", "version": "1"}}),
    ));
    let answer = client.line();
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    answer
}

fn call(client: &mut Live, id: u64, tool: &str, arguments: Value) {
    client.send(&request(id, "tools/call", json!({"name": tool, "arguments": arguments})));
}

#[test]
fn a_plain_server_gets_what_the_file_says_and_the_rest_passes_byte_for_byte() {
    let stage = stage();
    let mut client = start(&stage);
    let answer = meet(&mut client);
    assert!(
        answer.starts_with(r#"{"id" :1, "result": {"protocolVersion":"2025-06-18", "capabilities":{"tools":{ },"#),
        "{answer}"
    );
    assert!(answer.ends_with(r#"}}, "serverInfo":{"name":"plain","version":"1.0"}} ,"jsonrpc":"2.0"}"#), "{answer}");
    let declared = serde_json::from_str::<Value>(&answer).expect("JSON")["result"]["capabilities"].clone();
    for place in ["/hooks", "/conversationEvents", "/reminders", "/events", "/experimental/mcpl"] {
        assert!(declared.pointer(place).is_some(), "{place}: {declared}");
    }
    client.send(&json!({"jsonrpc": "2.0", "method": "featureSets/update", "params": {"enabled": ["overlay.*"]}}));
    client.send(&request(2, "tools/list", json!({})));
    let list = client.line();
    assert!(list.starts_with(r#"{"id" :2, "result": { "tools" : [{"name": "recall", "inputSchema""#), "{list}");
    assert_eq!(list.matches("\"name\":\"events_").count(), 6, "{list}");
    // Messages that do not concern the overlay pass byte for byte.
    client.send(&request(3, "resources/list", json!({})));
    assert_eq!(client.line(), r#"{"id" :3, "result": { "resources":[ ] } ,"jsonrpc":"2.0"}"#);
    // A tool of the server's own, and the reminder that a rule makes of its result.
    call(&mut client, 4, "note", json!({"text": "uuid keys"}));
    assert_eq!(client.line(), r#"{"id" :4, "result": {"content":[{"type":"text","text":"noted"}]} ,"jsonrpc":"2.0"}"#);
    let reminder: Value = serde_json::from_str(&client.line()).expect("JSON");
    assert_eq!(reminder["params"]["reminder"]["body"], "noted: uuid keys");
    // A user message: the server's tool answers it, and the client does not see the tool's result.
    client.send(&request(5, "conversation/userMessage", json!({"messageId": "m", "content": "which keys ?"})));
    let context: Value = serde_json::from_str(&client.line()).expect("JSON");
    assert_eq!(context, json!({"jsonrpc": "2.0", "id": 5, "result": {"context": "uuid keys"}}));
    call(&mut client, 6, "hook_1", json!({"query": "keys"}));
    let known: Value = serde_json::from_str(&client.line()).expect("JSON");
    assert_eq!((&known["id"], &known["result"]["content"][0]["text"]), (&json!(6), &json!("Known: uuid keys")));
    // An event for a subscriber, caused by the change of a resource to which the client did not subscribe; and a push.
    call(
        &mut client,
        7,
        "events_subscribe",
        json!({"filter": {"eventTypes": ["notes.*"]}, "delivery": {"channels": ["realtime"]}}),
    );
    let subscribed = client.message(|message| message["id"] == 7);
    assert_eq!(subscribed["result"]["structuredContent"]["status"], "active", "{subscribed}");
    call(&mut client, 8, "touch", json!({}));
    let push = client.message(|message| message["method"] == "push/event");
    client.send(&json!({"jsonrpc": "2.0", "id": push["id"], "result": {"accepted": true}}));
    let event: Value = serde_json::from_str(&client.line()).expect("JSON");
    assert_eq!(event["params"]["event"]["data"], json!({"uri": "notes://all"}), "{event}");
    assert_eq!(
        client.line(),
        r#"{"id" :8, "result": {"content":[{"type":"text","text":"touched"}]} ,"jsonrpc":"2.0"}"#
    );
    // A changed file.
    stage.write("docs/a.md", "new");
    let reminder = client.message(|message| message["method"] == "notifications/reminder");
    assert_eq!(reminder["params"]["reminder"]["body"], "docs/a.md changed");
    let ended = client.end();
    assert_eq!((ended.code(), ended.err().as_str()), (0, ""), "{ended:?}");
    // The server did not receive what was not for it.
    let received = String::from_utf8(stage.read("heard")).expect("text");
    for word in ["featureSets", "userMessage", "hook_1", "events_", "accepted"] {
        assert!(!received.contains(word), "{word}: {received}");
    }
    check_reel(&stage);
}

/// The reel distinguishes added messages from original ones.
fn check_reel(stage: &Stage) {
    let events = stage.events("o.reel");
    let changed: Vec<&Value> = events.iter().filter(|event| event["data"]["what"] == "changed").collect();
    assert_eq!(changed.len(), 2, "{events:#?}");
    let original = changed[0]["data"]["original"].as_str().expect("the original");
    assert!(original.starts_with(r#"{"id" :1, "#) && !original.contains("hooks"), "{original}");
    assert_eq!(events.iter().filter(|event| event["data"]["what"] == "kept").count(), 1);
    let is_injected = |event: &&Value| event["injected"] == true;
    let injected: Vec<&Value> = events.iter().filter(is_injected).collect();
    let has = |text: &str| injected.iter().any(|event| event.to_string().contains(text));
    assert!(has("resources/subscribe") && has("push/event") && has("accepted") && has("notifications/reminder"));
    assert!(!has("resources/list"));
    let verdict = stage.run(&["validate", "o.reel"], "");
    assert_eq!(verdict.code(), 0, "{}", verdict.out());
    let shown = stage.ok(&["show", "o.reel"]).out();
    assert!(shown.contains("changed on the way: {\"id\" :1"), "{shown}");
}

#[test]
fn a_host_works_with_what_was_added() {
    let stage = stage();
    let server = format!("memory={BINARY} overlay overlay.yaml -o o.reel -- python3 plain.py");
    let reported = stage.run(
        &[
            "host",
            "-s",
            &server,
            "--project",
            "demo",
            "--format",
            "json",
            "--record",
            "h.reel",
            "--do",
            "/tool note text='the demo uses uuid keys'",
            "--do",
            "/hook session_start",
            "--do",
            "/turn which keys do we use?",
        ],
        "",
    );
    assert_eq!(reported.code(), 0, "{reported:?}");
    let prompt =
        reported.out().lines().rfind(|line| line.contains("\"event\":\"prompt\"")).expect("a prompt").to_owned();
    for said in ["Known: the demo uses uuid keys", "noted: the demo uses uuid keys", "conversation.context"] {
        assert!(prompt.contains(said), "{said}: {prompt}");
    }
    for reel in ["o.reel", "h.reel"] {
        let verdict = stage.run(&["validate", reel], "");
        assert_eq!(verdict.code(), 0, "{reel}: {}", verdict.out());
    }
}

#[test]
fn what_a_server_declares_itself_stays_over_http_too() {
    let stage = stage();
    stage.write(
        "hooks.yaml",
        "hooks: [{event: session_start, priority: important, context: ours}]\n\
        rules: [{when: {message: {method: tools/call}}, fire: {kind: reminder, body: '{tool} was called'}}]",
    );
    let mut server = stage.start(&["serve", "--listen", "0", "--declare", "hooks"]);
    let url = until("the server listens", || {
        assert!(server.is_running(), "{}", server.stderr_so_far());
        let said = server.stderr_so_far();
        let (_, url) = said.split_once("http://")?;
        Some(format!("http://{}", url.split_whitespace().next()?.trim_end_matches(['.', ',', ';'])))
    });
    let mut client = stage.start(&["overlay", "hooks.yaml", "-o", "o.reel", "--url", &url]);
    let capabilities = json!({"hooks": {"supported_events": ["session_start"]}});
    client.send(&request(
        1,
        "initialize",
        json!({"protocolVersion": "2025-06-18", "capabilities": capabilities,
        "clientInfo": {"name": "c", "version": "1"}}),
    ));
    let declared = client.message(|message| message["id"] == 1)["result"]["capabilities"].clone();
    assert_eq!(declared["hooks"]["declarations"][0]["context_tool"], "search_memories", "{declared}");
    assert_eq!(declared["reminders"]["emit"], true);
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    call(&mut client, 2, "echo", json!({"message": "hi"}));
    let reminder = client.message(|message| message["method"] == "notifications/reminder");
    assert_eq!(reminder["params"]["reminder"]["body"], "echo was called");
    client.message(|message| message["id"] == 2);
    let ended = client.end();
    assert_eq!(ended.code(), 0, "{ended:?}");
    assert!(ended.err().contains("the server already declares hooks"), "{ended:?}");
    server.signal("INT");
}

#[test]
fn the_session_can_be_attached_to_and_the_servers_exit_code_is_passed_on() {
    let stage = stage();
    let mut client = start(&stage);
    meet(&mut client);
    let name = until("the session is there", || {
        let reported = stage.run(&["sessions", "--format", "json"], "");
        reported
            .out()
            .lines()
            .find_map(|line| serde_json::from_str::<Value>(line).ok())
            .filter(|live| live["role"] == "overlay")
    })["name"]
        .as_str()
        .expect("a name")
        .to_owned();
    call(&mut client, 2, "note", json!({"text": "uuid keys"}));
    client.message(|message| message["method"] == "notifications/reminder");
    let context = stage.run(&["fire", "user-message", "which keys", "--session", &name, "--format", "json"], "");
    assert!(context.code() == 0 && context.out().contains("uuid keys"), "{context:?}");
    client.send(&json!({"jsonrpc": "2.0", "method": "exit"}));
    assert_eq!(client.end_with_open_stdin().code(), 7);
}

#[test]
fn a_signal_ends_the_overlay_and_its_server_and_the_reel_is_whole() {
    let stage = stage();
    stage.write("plain.py", format!("import os\nopen('pid', 'w').write(str(os.getpid()))\n{PLAIN}"));
    let mut client = start(&stage);
    meet(&mut client);
    let pid = String::from_utf8(stage.read("pid")).expect("text").parse().expect("a number");
    assert!(lives(pid));
    client.signal("TERM");
    assert_eq!(client.end_with_open_stdin().code(), 0);
    assert!(!lives(pid));
    assert_eq!(stage.events("o.reel").last().expect("an event")["event"], "stream-closed");
}

#[test]
fn a_server_that_dies_of_a_signal_is_mirrored() {
    let stage = stage();
    stage.write("plain.py", format!("import os\nopen('pid', 'w').write(str(os.getpid()))\n{PLAIN}"));
    for (name, number) in [("KILL", 9), ("TERM", 15)] {
        let mut client = start(&stage);
        meet(&mut client);
        let pid = String::from_utf8(stage.read("pid")).expect("text");
        let killed = std::process::Command::new("kill").args(["-s", name, pid.trim()]).status().expect("kill runs");
        assert!(killed.success());
        // In a shell, that is 128 plus the number.
        assert_eq!(client.end_with_open_stdin().code(), -number, "{name}");
        std::fs::remove_file(stage.path("o.reel")).expect("removed");
    }
}

#[test]
fn a_tool_that_the_server_lacks_is_reported_and_so_is_a_folder_that_is_not_there() {
    let stage = stage();
    stage.write("overlay.yaml", "conversation:\n  - {tool: recal}\n");
    let mut client = start(&stage);
    meet(&mut client);
    client.send(&request(2, "tools/list", json!({})));
    client.message(|message| message["id"] == 2);
    let ended = client.end();
    assert!(
        ended
            .err()
            .contains("the server has no tool \"recal\", which the overlay names in line 2; did you mean recall?"),
        "{ended:?}"
    );
    stage.write("overlay.yaml", "rules: [{when: {file: 'gone/*'}, fire: {kind: reminder, body: x}}]");
    let reported = stage.run(&["overlay", "overlay.yaml", "--", "python3", "plain.py"], "");
    assert!(reported.code() == 3 && reported.err().contains("gone"), "{reported:?}");
}

#[test]
fn a_wrong_file_is_reported_with_its_line_and_nothing_starts() {
    let stage = stage();
    stage.write("overlay.yaml", "name: x\nrules:\n  - when: {every: 1s}\n    fire: {kind: remind}\n");
    let reported = stage.run(&[&COMMAND[..], &["plain.py"]].concat(), "");
    assert_eq!(reported.code(), 3, "{reported:?}");
    let words = reported.err();
    assert!(words.contains("overlay.yaml:4:11: ") && words.contains("unknown kind \"remind\""), "{words}");
    assert!(!stage.path("o.reel").exists() && !stage.path("heard").exists());
    stage.write("overlay.yaml", "rules:\n  - when: {every: 1s}\n    fire: {kind: reminder, body: x, bodi: y}\n");
    let reported = stage.run(&["overlay", "--check", "overlay.yaml"], "");
    let words = reported.err();
    assert!(
        reported.code() == 3 && words.contains("overlay.yaml:3:11: ") && words.contains("unknown member \"bodi\""),
        "{words}"
    );
    let reported = stage.run(&["overlay", "--check", "gone.yaml"], "");
    assert_eq!(reported.code(), 3, "{reported:?}");
    stage.write("overlay.yaml", "conversation: [{tool: '{tool}'}]");
    let reported = stage.ok(&["overlay", "--check", "overlay.yaml", "--value", "tool=x"]);
    assert!(reported.err().contains("adds conversation"), "{reported:?}");
    let refused = stage.run(&["overlay", "overlay.yaml", "--session", "x"], "");
    assert_eq!(refused.code(), 2, "{refused:?}");
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn examples() -> Vec<(PathBuf, String)> {
    let folder = std::fs::read_dir(root().join("examples/overlays")).expect("a folder");
    let paths = folder.map(|entry| entry.expect("an entry").path());
    paths.map(|path| (path.clone(), std::fs::read_to_string(path).expect("readable"))).collect()
}

#[test]
fn the_published_schema_is_that_of_the_types() {
    let path = root().join("docs/overlay.schema.json");
    let mut fresh = serde_json::to_string_pretty(&mcpreel::testing::overlay::schema()).expect("JSON");
    fresh.push('\n');
    if std::env::var_os("REGENERATE").is_some() {
        std::fs::write(&path, &fresh).expect("writable");
    }
    let published = std::fs::read_to_string(&path).unwrap_or_default();
    let remedy = "make it anew: REGENERATE=1 cargo test --test it overlay::";
    assert!(published == fresh, "docs/overlay.schema.json is not the types' schema; {remedy}");
    assert_eq!(Stage::new().ok(&["overlay", "--schema"]).out(), fresh);
}

#[test]
fn every_example_is_right_and_fits_the_schema() {
    let schema = jsonschema::validator_for(&mcpreel::testing::overlay::schema()).expect("a schema");
    let examples = examples();
    assert!(examples.len() >= 3, "{}", examples.len());
    for (path, text) in examples {
        let value: Value = serde_saphyr::from_str(&text).expect("YAML");
        let violations: Vec<String> = schema.iter_errors(&value).map(|error| error.to_string()).collect();
        assert!(violations.is_empty(), "{}: {violations:#?}", path.display());
        mcpreel::testing::overlay::Plan::read(&text, &[]).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}

#[test]
fn the_schema_refuses_what_the_reader_refuses() {
    let schema = jsonschema::validator_for(&mcpreel::testing::overlay::schema()).expect("a schema");
    for text in [
        "{hook: []}",
        "{hooks: [{event: session_start}]}",
        "{conversation: [{arguments: {}}]}",
        "{rules: [{when: {every: soon}, fire: {kind: reminder, body: x}}]}",
        "{rules: [{when: {every: 1s}}]}",
        "{rules: [{when: {message: {direction: c2s}}, fire: {kind: reminder, body: x}}]}",
    ] {
        let value: Value = serde_saphyr::from_str(text).expect("YAML");
        assert!(!schema.is_valid(&value), "the schema lets {text} through");
        assert!(mcpreel::testing::overlay::Plan::read(text, &[]).is_err(), "the reader lets {text} through");
    }
}
