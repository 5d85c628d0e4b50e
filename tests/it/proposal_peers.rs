//! Servers in Python, written from the texts of SEP-1975, the Reminder RFC and SEP-2282, against `mcpreel host`. None of
//! them uses mcpreel's code.

use crate::common::{Output, Stage};
use serde_json::{Value, json};

/// Reads and writes messages; logs what it receives in the file `heard`, or in the one that its first argument names.
const PRELUDE: &str = r#"
import json, sys, time
log = open(sys.argv[1] if len(sys.argv) > 1 else "heard", "a")
def write(line):
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
def say(**message):
    write(json.dumps({"jsonrpc": "2.0", **message}))
def hear():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    log.write(line)
    log.flush()
    return json.loads(line)
def result(request, content):
    say(id=request["id"], result=content)
def open_session(tools=(), **capabilities):
    if tools:
        capabilities["tools"] = {}
    while True:
        request = hear()
        if request["method"] == "initialize":
            result(request, {"protocolVersion": "2025-06-18", "capabilities": capabilities,
                "serverInfo": {"name": "peer", "version": "1"}})
        elif request["method"] == "tools/list":
            result(request, {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in tools]})
            return
        elif request["method"] == "notifications/initialized":
            if not tools:
                return
        else:
            say(id=request["id"], error={"code": -32601, "message": "Method not found"})
"#;

const PEER: [&str; 3] = ["--", "python3", "peer.py"];

/// Runs a host with the peer and returns its JSON lines. The host must exit with 0.
fn host(stage: &Stage, body: &str, words: &[&str]) -> Vec<Value> {
    let output = run(stage, body, words);
    assert_eq!(output.code(), 0, "{output:?}");
    output.out().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn run(stage: &Stage, body: &str, words: &[&str]) -> Output {
    stage.write("peer.py", format!("{PRELUDE}{body}"));
    stage.run(&[&["host"], words, &["--format", "json"], &PEER].concat(), "")
}

/// What the host reports under this name.
fn reported<'a>(events: &'a [Value], what: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["what"] == what).collect()
}

fn texts(events: &[Value], what: &str) -> Vec<String> {
    reported(events, what).iter().map(|event| event["text"].as_str().expect("text").to_owned()).collect()
}

/// The messages of each prompt, joined.
fn prompts(events: &[Value]) -> Vec<String> {
    let prompt = |event: &Value| {
        let messages = event["prompt"]["messages"].as_array()?.iter();
        Some(messages.map(|message| message["content"].as_str().expect("content")).collect::<Vec<_>>().join("\n"))
    };
    events.iter().filter(|event| event["event"] == "prompt").filter_map(prompt).collect()
}

fn heard(stage: &Stage, file: &str, method: &str) -> Vec<Value> {
    let text = String::from_utf8(stage.read(file)).expect("text");
    let messages = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    messages.filter(|message| message["method"] == method).collect()
}

/// Answers every user message with this Python expression.
fn answering(answer: &str) -> String {
    format!(
        "open_session(conversationEvents={{\"onUserMessage\": True}})\nwhile True:\n    asked = hear()\n    if \
         asked[\"method\"] == \"conversation/userMessage\":\n        {answer}\n"
    )
}

#[test]
fn a6_every_run_of_a_host_has_ids_of_its_own() {
    let stage = Stage::new();
    let body = answering("result(asked, {})");
    for words in
        [&["--say", "hi"][..], &["--say", "hi"], &["--say", "hi", "--seed", "3"], &["--say", "hi", "--seed", "3"]]
    {
        host(&stage, &body, words);
    }
    let ids: Vec<Value> = heard(&stage, "heard", "conversation/userMessage")
        .iter()
        .map(|message| message["params"]["messageId"].clone())
        .collect();
    assert_eq!(ids.len(), 4, "{ids:?}");
    assert!(ids[0] != ids[1] && ids[1] != ids[2], "without a seed, ids are new: {ids:?}");
    assert_eq!(ids[2], ids[3], "a seed gives the same ids");
}

#[test]
fn d_a_session_has_an_id_of_its_own() {
    let stage = Stage::new();
    let body = r#"
declared = [{"event": "pre_request", "context": "in {session_id}", "priority": "suggestion"}]
open_session(hooks={"declarations": declared})
while True:
    hear()
"#;
    let ids: Vec<String> = (0..2).map(|_| prompts(&host(&stage, body, &["--say", "hi"])).remove(0)).collect();
    assert!(ids[0].contains("in session-") && ids[0] != ids[1], "{ids:?}");
}

#[test]
fn amb_a9_the_top_level_decides_for_host_and_validator() {
    let stage = Stage::new();
    for (top, experimental, is_sent) in [("False", "True", false), ("True", "False", true)] {
        let body = format!(
            "open_session(conversationEvents={{\"onUserMessage\": {top}}}, experimental={{\"conversationEvents\": \
             {{\"onUserMessage\": {experimental}}}}})\nwhile True:\n    asked = hear()\n    if asked[\"method\"] == \
             \"conversation/userMessage\":\n        result(asked, {{}})\n"
        );
        stage.write("heard", "");
        let events = host(&stage, &body, &["--say", "hi"]);
        assert_eq!(heard(&stage, "heard", "conversation/userMessage").len(), usize::from(is_sent), "{top}: {events:?}");
        assert_eq!(reported(&events, "subscribed").len(), usize::from(is_sent), "{top}");
        let reel = events.last().expect("the reel")["path"].as_str().expect("a path").to_owned();
        let verdict = stage.run(&["validate", &reel], "");
        assert_eq!(verdict.code(), 0, "{top}: {verdict:?}");
    }
}

/// Sends these reminders (Python expressions of a member each, added to an id and a body), and answers nothing.
fn reminding(reminders: &str) -> String {
    format!(
        "open_session(reminders={{\"emit\": True}})\nfor number, more in enumerate({reminders}):\n    spec = {{\"id\": \
         f\"r{{number}}\", \"body\": f\"body {{number}}.\", **more}}\n    say(method=\"notifications/reminder\", \
         params={{\"reminder\": spec}})\nwhile True:\n    hear()\n"
    )
}

#[test]
fn b2_b6_b27_host_and_validator_agree_on_what_a_reminder_is() {
    let stage = Stage::new();
    // The first five are valid by the proposal's JSON Schema, the others are not.
    let body = reminding(
        r#"[{"ttl_turns": 5}, {"ttlTurns": 2.0}, {"ttlTurns": 10**25}, {"colour": 1}, {"firedAtTurn": 3},
        {"tags": [1]}, {"tags": "a"}, {"firedAtTurn": "x"}, {"dedupeKey": 5}, {"roleHint": "loud"}, {"ttlTurns": 0},
        {"ttlTurns": 1.5}, {"propagate": "some"}, {"preserveOnCompact": 1}, {"body": ""}]"#,
    );
    let events = host(&stage, &body, &["--do", "/wait 300ms", "--do", "/turn hi"]);
    let prompt = &prompts(&events)[0];
    let shown: Vec<usize> = (0..15).filter(|number| prompt.contains(&format!("body {number}."))).collect();
    assert_eq!(shown, [0, 1, 2, 3, 4], "{events:?}");
    let malformed = texts(&events, "malformed");
    assert_eq!(malformed.len(), 10, "{malformed:?}");
    let odd = texts(&events, "odd").join("\n");
    assert!(odd.contains("ttl_turns") && odd.contains("firedAtTurn to 3"), "{odd}");
    // The validator finds the same places.
    let reel = events.last().expect("the reel")["path"].as_str().expect("a path").to_owned();
    let verdict = stage.run(&["validate", &reel, "--format", "json"], "");
    assert_eq!(verdict.code(), 1, "{verdict:?}");
    for text in &malformed {
        let place = text.split("dropped: ").nth(1).and_then(|rest| rest.split(": ").next()).expect("a place");
        assert!(verdict.out().contains(place), "{place} in {verdict:?}");
    }
}

#[test]
fn b2_b28_a_flood_of_bad_reminders_is_summarised() {
    let stage = Stage::new();
    let body = reminding(r#"[{"tags": [f"t{at}", at]} for at in range(3000)]"#);
    stage.write("peer.py", format!("{PRELUDE}{body}"));
    for format in ["human", "json"] {
        let words = ["host", "--do", "/wait 500ms", "--do", "/turn hi", "--format", format];
        let output = stage.run(&[&words[..], &PEER].concat(), "");
        assert_eq!(output.code(), 0, "{output:?}");
        let lines = output.out().lines().filter(|line| line.contains("malformed")).count();
        assert!((2..40).contains(&lines), "{format}: {lines} lines");
        assert!(output.out().contains("2984 more reminders like these"), "{format}: {output:?}");
    }
}

#[test]
fn a8_malformed_answers_to_user_messages_are_reported() {
    let stage = Stage::new();
    for (answer, why, context) in [
        ("result(asked, \"a text\")", "the context is not an object", ""),
        ("result(asked, [1, 2])", "the context is not an object", ""),
        ("result(asked, {\"context\": 7})", "context is not a string", ""),
        (
            "result(asked, {\"structuredContext\": {\"memories\": [float(\"nan\")]}})",
            "the context is not valid JSON",
            "",
        ),
        (
            "result(asked, {\"structuredContext\": {\"memories\": [{\"relevance\": 1}, {\"content\": \"good one\", \
             \"relevance\": 1}, 5]}})",
            "memory 0 has no content and is ignored",
            "good one",
        ),
    ] {
        let events = host(&stage, &answering(answer), &["--say", "hi"]);
        let malformed = texts(&events, "malformed");
        assert!(malformed.iter().any(|text| text.starts_with(why)), "{answer}: {events:?}");
        assert!(prompts(&events)[0].contains(context), "{answer}");
        let fired = stage.run(&[&["fire", "user-message", "hi", "--format", "json"][..], &PEER].concat(), "");
        let remarks = fired.json()["outcome"]["remarks"].clone();
        assert_eq!(remarks, json!(malformed), "`fire` says the same: {fired:?}");
    }
}

#[test]
fn a20_a_server_that_never_answers_a_notification_is_disabled() {
    let stage = Stage::new();
    let words = ["--set", "conversation.carrier=notification", "--set", "conversation.deadline=20ms"];
    let said = ["--say", "1", "--say", "2", "--say", "3", "--say", "4"];
    let events = host(&stage, &answering("pass"), &[&words[..], &said].concat());
    assert_eq!((reported(&events, "timed out").len(), reported(&events, "disabled").len()), (3, 1), "{events:?}");
    assert_eq!(heard(&stage, "heard", "conversation/userMessage").len(), 3);
    // The same where the host has learnt that requests are not known.
    stage.write("heard", "");
    let refuse =
        "\"id\" in asked and say(id=asked[\"id\"], error={\"code\": -32601, \"message\": \"Method not found\"})";
    let words = ["--set", "conversation.deadline=20ms"];
    let events = host(&stage, &answering(refuse), &[&words[..], &said].concat());
    assert_eq!((reported(&events, "timed out").len(), reported(&events, "disabled").len()), (3, 1), "{events:?}");
}
