//! Servers in Python, written from the texts of SEP-1975, the Reminder RFC and SEP-2282, against `mcpreel host`. None of
//! them uses mcpreel's code.

use crate::common::{Output, Stage, binary, finish};
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
    // The host has received all of them when it gets the list of tools, and has a turn only then.
    let body = r#"
answer = result
def result(request, content):
    for number in range(3000) if "tools" in content else ():
        spec = {"id": f"r{number}", "body": f"body {number}.", "tags": [f"t{number}", number]}
        say(method="notifications/reminder", params={"reminder": spec})
    answer(request, content)
open_session(tools=["tool"], reminders={"emit": True})
while True:
    hear()
"#;
    stage.write("peer.py", format!("{PRELUDE}{body}"));
    for format in ["human", "json"] {
        let words = ["host", "--do", "/turn hi", "--format", format];
        let output = stage.run(&[&words[..], &PEER].concat(), "");
        assert_eq!(output.code(), 0, "{output:?}");
        let lines = output.out().lines().filter(|line| line.contains("malformed")).count();
        assert!((2..100).contains(&lines), "{format}: {lines} lines");
        assert!(output.out().contains("2936 more reminders like these"), "{format}: {output:?}");
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
            "memory 0 has no content that is a string, and is ignored",
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
    // On a busy machine, the server needs some time to refuse the request.
    let words = ["--set", "conversation.deadline=500ms"];
    let events = host(&stage, &answering(refuse), &[&words[..], &said].concat());
    assert_eq!((reported(&events, "timed out").len(), reported(&events, "disabled").len()), (3, 1), "{events:?}");
}

#[test]
fn amb_a1_one_missed_answer_costs_only_the_next_message() {
    let stage = Stage::new();
    let body = answering(
        "asked[\"params\"][\"content\"] != \"one\" and say(method=\"conversation/context\", params={\"context\": \"for \" + asked[\"params\"][\"content\"]})",
    );
    let words = ["--set", "conversation.carrier=notification", "--set", "conversation.deadline=300ms"];
    let said = ["--say", "one", "--say", "two", "--say", "three", "--say", "four"];
    let events = host(&stage, &body, &[&words[..], &said].concat());
    let shown: Vec<bool> = prompts(&events).iter().map(|prompt| prompt.contains("> for ")).collect();
    assert_eq!(shown, [false, false, true, true], "{events:?}");
    assert_eq!(reported(&events, "stray").len(), 1, "{events:?}");
}

#[test]
fn with_strict_a_host_also_counts_what_is_no_message_and_responses_to_no_request() {
    for (fault, words) in [
        ("write(\"no message\")", "printed something that is not a message: no message"),
        ("result({\"id\": 77}, {})", "sent a response without a request"),
    ] {
        let stage = Stage::new();
        let body = answering(&format!("result(asked, {{}}); {fault}"));
        let output = run(&stage, &body, &["--say", "hi", "--do", "/wait 300ms"]);
        assert!(output.code() == 0 && !output.err().contains(words), "{output:?}");
        let output = run(&stage, &body, &["--say", "hi", "--do", "/wait 300ms", "--strict"]);
        assert!(output.code() == 1 && output.err().contains(words), "{output:?}");
    }
}

#[test]
fn a12_a_host_has_a_deadline() {
    let stage = Stage::new();
    let output = run(&stage, &answering("pass"), &["--say", "hi", "--set", "conversation.deadline=none"]);
    assert_eq!(output.code(), 2, "{output:?}");
    assert!(output.err().contains("Clients MUST enforce a timeout") && output.err().contains("SEP-1975, Timeouts"));
}

/// A server that declares these hooks (Python), and has a tool `recall` whose result is `answer`, and a tool `note`.
fn hooking(declarations: &str, answer: &str) -> String {
    format!(
        "open_session([\"recall\", \"note\"], hooks={{\"declarations\": {declarations}}})\nwhile True:\n    asked = \
         hear()\n    if asked[\"method\"] == \"tools/call\":\n        recalls = asked[\"params\"][\"name\"] == \
         \"recall\"\n        result(asked, {answer} if recalls else {{\"content\": [{{\"type\": \"text\", \"text\": \
         \"the note is kept\"}}]}})\n"
    )
}

const AT_BOTH_ENDS: &str = r#"[{"event": "session_start", "context": "it begins", "priority": "suggestion"},
    {"event": "pre_request", "context": "a request comes", "priority": "suggestion"},
    {"event": "session_end", "context": "store what you learned", "priority": "suggestion"}]"#;

#[test]
fn d21_the_text_of_a_session_end_hook_gets_a_last_turn() {
    let stage = Stage::new();
    let body = hooking(AT_BOTH_ENDS, "{}");
    let events = host(&stage, &body, &["--say", "hi"]);
    let shown = prompts(&events);
    assert_eq!(shown.len(), 2, "{events:?}");
    assert!(!shown[0].contains("store what you learned") && shown[1].contains("> store what you learned"), "{shown:?}");
    assert_eq!(reported(&events, "final turn").len(), 1);
    assert!(reported(&events, "unprompted").is_empty(), "{events:?}");
    let kinds: Vec<_> = events.iter().filter_map(|event| event["event"].as_str()).filter(|it| *it != "fact").collect();
    assert_eq!(kinds, ["connected", "prompt", "turn", "prompt", "turn", "ended", "reel"]);
    // Without it, the text is reported as lost.
    let events = host(&stage, &body, &["--say", "hi", "--set", "host.final_turn=false"]);
    assert_eq!((prompts(&events).len(), reported(&events, "unprompted").len()), (1, 1), "{events:?}");
    // A model that uses a tool in the last turn gets its result.
    stage.write(
        "model.py",
        "import json, sys\nprompt = json.load(sys.stdin)\nend = 'store what' in prompt['messages'][-1]['content'] or \
         any('store what' in message['content'] for message in prompt['messages'])\nprint(json.dumps({'text': 'ok', \
         'tool_calls': [{'tool': 'note', 'arguments': {}}] if end and prompt['round'] == 1 else []}))\n",
    );
    stage.write("heard", "");
    host(&stage, &body, &["--say", "hi", "--model-command", "python3 model.py"]);
    assert_eq!(heard(&stage, "heard", "tools/call").len(), 1);
}

#[test]
fn d21_what_a_session_start_hook_injects_stays_for_the_session() {
    let stage = Stage::new();
    let body = hooking(AT_BOTH_ENDS, "{}");
    let begins = |words: &[&str]| -> Vec<bool> {
        let said = ["--say", "one", "--say", "two", "--set", "host.final_turn=false"];
        prompts(&host(&stage, &body, &[&said, words].concat())).iter().map(|it| it.contains("> it begins")).collect()
    };
    assert_eq!(begins(&[]), [true, true]);
    assert_eq!(begins(&["--set", "hooks.session_start_lasts=turn"]), [true, false]);
    let events = host(&stage, &body, &["--say", "one", "--do", "/compact", "--do", "/turn two"]);
    assert!(prompts(&events)[1].contains("> it begins"), "a compaction does not remove it: {events:?}");
}

#[test]
fn d21_sub_agents_have_a_session_and_a_request() {
    let stage = Stage::new();
    let body = hooking(AT_BOTH_ENDS, "{}");
    for agent in ["/agent look around", "/detached look around"] {
        let events = host(&stage, &body, &["--do", "/turn hi", "--do", agent, "--do", "/turn bye"]);
        let shown = prompts(&events);
        for (at, prompt) in shown[..3].iter().enumerate() {
            let counts = (prompt.matches("> it begins").count(), prompt.matches("> a request comes").count());
            assert_eq!(counts, (1, 1), "{agent}, prompt {at}: {prompt}");
        }
    }
}

#[test]
fn d7_a_host_that_supports_no_hooks_fires_none() {
    let stage = Stage::new();
    let events = host(&stage, &hooking(AT_BOTH_ENDS, "{}"), &["--say", "hi", "--set", "hooks.place=none"]);
    assert!(reported(&events, "fires").is_empty(), "{events:?}");
    assert_eq!(reported(&events, "unsupported").len(), 1, "{events:?}");
    assert_eq!(prompts(&events).len(), 1);
}

#[test]
fn d29_a_context_tools_resources_and_structured_content_are_injected() {
    let stage = Stage::new();
    let declared = r#"[{"event": "session_start", "context_tool": "recall", "priority": "suggestion"}]"#;
    let answer = r#"{"content": [{"type": "text", "text": "two things"}, {"type": "resource", "resource": {"uri":
        "note://1", "text": "inside the note"}}, {"type": "resource_link", "uri": "note://2", "name": "second"}],
        "structuredContent": {"count": 2}}"#;
    let events = host(&stage, &hooking(declared, &answer.replace('\n', " ")), &["--say", "hi"]);
    let prompt = &prompts(&events)[0];
    for text in ["> two things", "> [resource note://1]\n> inside the note", "note://2: second", "> {\"count\":2}"] {
        assert!(prompt.contains(text), "{text} in {prompt}");
    }
}

#[test]
fn d28_a_hook_after_a_tool_stands_after_its_result() {
    let stage = Stage::new();
    let declared = r#"[{"event": "post_tool_use", "context": "after {tool_name}", "priority": "suggestion"}]"#;
    stage.write(
        "model.py",
        "import json, sys\nprompt = json.load(sys.stdin)\nprint(json.dumps({'text': 'ok', 'tool_calls': [{'tool': \
         'note', 'arguments': {}}, {'tool': 'recall', 'arguments': {}}] if prompt['round'] == 1 else []}))\n",
    );
    let answer = r#"{"content": [{"type": "text", "text": "recalled"}]}"#;
    let words = ["--say", "use them", "--model-command", "python3 model.py"];
    let events = host(&stage, &hooking(declared, answer), &words);
    let prompt = &prompts(&events)[1];
    let order = ["use them", "note: the note is kept", "> after note", "recall: recalled", "> after recall"];
    let places = order.map(|text| prompt.find(text).unwrap_or_else(|| panic!("{text} in {prompt}")));
    assert!(places.is_sorted(), "{places:?} in {prompt}");
    let label = events.iter().filter(|event| event["event"] == "prompt").nth(1).expect("two")["external"][0].clone();
    assert_eq!((&label["slot"], &label["place"]), (&json!("hooks.tool_use"), &json!("after_tool")));
    // The layout can move it; a tool that the user called has no result in the prompt.
    stage.write("policy.yaml", "layout: {before_user: [hooks.tool_use]}\n");
    let events = host(&stage, &hooking(declared, answer), &[&words[..], &["--policy", "policy.yaml"]].concat());
    let prompt = &prompts(&events)[1];
    assert!(prompt.find("> after note") < prompt.find("use them"), "{prompt}");
    let events = host(&stage, &hooking(declared, answer), &["--do", "/tool note", "--do", "/turn go on"]);
    let prompt = &prompts(&events)[0];
    assert!(prompt.find("> after note") > prompt.find("go on"), "{prompt}");
}

#[test]
fn d30_a_limit_holds_for_all_servers_together() {
    let stage = Stage::new();
    let declared = r#"[{"event": "pre_request", "context": f"{sys.argv[1]} suggests", "priority": "suggestion"},
        {"event": "pre_request", "context": f"{sys.argv[1]} insists", "priority": "important"}]"#;
    stage.write("peer.py", format!("{PRELUDE}{}", hooking(&declared.replace('\n', " "), "{}")));
    let words = ["host", "-s", "a=python3 peer.py a", "-s", "b=python3 peer.py b", "--say", "hi", "--format", "json"];
    let output = stage.run(&[&words[..], &["--set", "host.hooks_per_event=3"]].concat(), "");
    let events: Vec<Value> = output.out().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let prompt = &prompts(&events)[0];
    let shown = ["a suggests", "a insists", "b suggests", "b insists"].map(|text| prompt.contains(text));
    assert_eq!(shown, [true, true, false, true], "{output:?}");
    let capped = reported(&events, "capped");
    assert_eq!((capped.len(), &capped[0]["server"], &capped[0]["data"]["left_out"]), (1, &json!("b"), &json!([0])));
}

#[test]
fn d14_d31_what_the_host_takes_differently_is_reported() {
    let stage = Stage::new();
    let declared =
        r#"[{"event": "pre_request", "context": "x", "priority": "required", "matcher": {"tool_name": "a"}}]"#;
    let events = host(&stage, &hooking(declared, "{}"), &["--say", "hi"]);
    assert!(texts(&events, "odd")[0].contains("matchers do not apply to pre_request events"), "{events:?}");
    assert!(texts(&events, "downgraded")[0].contains("required"), "{events:?}");
    let events = host(&stage, &hooking(declared, "{}"), &["--say", "hi", "--set", "hooks.trusted=true"]);
    assert!(reported(&events, "downgraded").is_empty(), "{events:?}");
}

#[test]
fn a19_the_host_marks_its_reel_and_the_rules_use_the_marks() {
    let stage = Stage::new();
    let body = answering(
        "result(asked, {\"context\": \"c\"}) if asked[\"params\"][\"content\"] != \"late\" else time.sleep(0.1)",
    );
    let words =
        ["--say", "one", "--do", "/revoke peer conversation", "--say", "two", "--do", "/approve peer conversation"];
    let more = ["--say", "late", "--do", "/compact", "--record", "m.reel", "--set", "conversation.deadline=50ms"];
    stage.write("peer.py", format!("{PRELUDE}{body}"));
    let host = [&["host"][..], &words, &more, &["-s", "peer=python3 peer.py"]].concat();
    let output = stage.run(&host, "");
    assert_eq!(output.code(), 0, "{output:?}");
    assert_eq!(heard(&stage, "heard", "conversation/userMessage").len(), 2, "none after the revocation");
    let events = stage.events("m.reel");
    let notes: Vec<&Value> = events.iter().filter(|event| event["event"] == "note").collect();
    let marks: Vec<String> = notes.iter().filter_map(|note| mark(note)).collect();
    let wanted = "turn inferred revoked turn inferred granted turn inferred compacted";
    assert_eq!(marks.join(" "), wanted, "{notes:?}");
    assert!(notes.iter().any(|note| note.to_string().contains("timed out")), "{notes:?}");
    let verdict = stage.run(&["validate", "m.reel"], "");
    assert!(!verdict.out().contains("conversation/revoked"), "{verdict:?}");
    // A host that sends messages after a revocation is found: the same reel, without the mark that granted access again.
    let lines = stage.ok(&["export", "m.reel"]).out();
    let kept: Vec<&str> = lines.lines().filter(|line| !line.contains("granted")).collect();
    stage.import("bent.reel", kept.join("\n"));
    let verdict = stage.run(&["validate", "bent.reel"], "");
    assert!(verdict.code() == 1 && verdict.out().contains("conversation/revoked"), "{verdict:?}");
}

/// The mark that an exported note contains.
fn mark(note: &Value) -> Option<String> {
    let text = note.to_string();
    let rest = text.split("\"mark\":\"").nth(1)?;
    Some(rest.split('"').next()?.to_owned())
}

#[test]
fn a22_memories_are_left_out_by_relevance() {
    let stage = Stage::new();
    let answer = "result(asked, {\"structuredContext\": {\"memories\": [{\"content\": \"barely related\", \"relevance\": \
                  0.1}, {\"content\": \"to the point\", \"relevance\": 0.9}]}})";
    let events = host(&stage, &answering(answer), &["--say", "hi", "--set", "conversation.most_bytes=40"]);
    let prompt = &prompts(&events)[0];
    assert!(prompt.contains("to the point") && !prompt.contains("barely related"), "{prompt}");
    assert_eq!(reported(&events, "context")[0]["data"]["left_out"], 1);
}

#[test]
fn lines_of_the_command_line_keep_their_order_and_do_lists_orders() {
    let stage = Stage::new();
    let words = ["--do", "/do", "--say", "first", "--do", "/turn second", "--say", "third"];
    let events = host(&stage, "open_session()\nwhile True:\n    hear()\n", &words);
    let answers = events.iter().filter(|event| event["event"] == "turn");
    let turns: Vec<&str> = answers.filter_map(|turn| turn["answer"].as_str()).collect();
    let order = ["first", "second", "third"].map(|text| turns.iter().position(|turn| turn.contains(text)));
    assert_eq!(order, [Some(0), Some(1), Some(2)], "{turns:?}");
    let orders = events.iter().find(|event| event["event"] == "orders").expect("a list");
    assert!(orders["orders"].as_array().is_some_and(|orders| orders.contains(&json!("hook"))), "{orders}");
}

/// A host with a peer from a configuration, which the user did not name as a command.
fn configured(stage: &Stage, words: &[&str]) -> Vec<Value> {
    stage.write("peer.py", format!("{PRELUDE}{}", answering("result(asked, {\"context\": \"remember\"})")));
    let servers = json!({"mcpServers": {"memo": {"command": "python3", "args": ["peer.py"]}}});
    stage.write("servers.json", servers.to_string());
    let output = stage.run(
        &[&["host", "--config", "servers.json", "--server", "memo", "--format", "json", "--say", "hi"], words].concat(),
        "",
    );
    assert_eq!(output.code(), 0, "{output:?}");
    output.out().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// How many user messages the peer got in a run, and how many servers the host reported as left out.
fn sent(words: &[&str]) -> (usize, usize) {
    let stage = Stage::new();
    let events = configured(&stage, words);
    (heard(&stage, "heard", "conversation/userMessage").len(), reported(&events, "left out").len())
}

#[test]
fn a17_a_script_sends_user_messages_only_with_consent() {
    assert_eq!(sent(&["--say", "again"]), (0, 1), "a server that is left out is reported once");
    assert_eq!(sent(&["--consent"]), (1, 0));
    assert_eq!(sent(&["--set", "memo:conversation.consent=true"]), (1, 0));
    assert_eq!(sent(&["--consent", "--set", "memo:conversation.consent=false"]), (0, 0));
    assert_eq!(sent(&["--do", "/approve memo", "--say", "now"]), (1, 1), "approval counts from then on");
    let stage = Stage::new();
    stage.write("policy.yaml", "servers: {memo: {conversation: {consent: true}}}");
    configured(&stage, &["--policy", "policy.yaml"]);
    assert_eq!(heard(&stage, "heard", "conversation/userMessage").len(), 1);
}

#[test]
fn a17_a_server_whose_command_is_given_needs_no_further_consent() {
    let stage = Stage::new();
    let body = answering("result(asked, {})");
    host(&stage, &body, &["--say", "hi"]);
    assert_eq!(heard(&stage, "heard", "conversation/userMessage").len(), 1);
    let asked =
        stage.run(&["host", "-s", "memo=python3 peer.py", "--set", "conversation.consent=false", "--say", "hi"], "");
    assert!(asked.out().contains("you have refused"), "{asked:?}");
    assert_eq!(heard(&stage, "heard", "conversation/userMessage").len(), 1, "a policy can refuse it");
}

/// Runs the command under a terminal, types a line after each prompt for one, and writes what the terminal shows.
const TERMINAL: &str = r#"
import os, pty, re, select, signal, sys, time
lines = sys.argv[2].split("|")
pid, fd = pty.fork()
if pid == 0:
    os.execvp("sh", ["sh", "-c", sys.argv[1]])
seen, end, waits = b"", time.time() + 30, [line.split("@", 1) for line in lines]
while time.time() < end:
    if waits and re.search(waits[0][0].encode(), seen):
        os.write(fd, waits.pop(0)[1].encode() + b"\r")
        seen = seen[-1:]
    if select.select([fd], [], [], 0.1)[0]:
        try:
            data = os.read(fd, 65536)
        except OSError:
            break
        if not data:
            break
        sys.stdout.buffer.write(data)
        seen += data
else:
    print("waited in vain for", waits[:1])
    os.kill(pid, signal.SIGKILL)
sys.stdout.flush()
os.waitpid(pid, 0)
"#;

/// A conversation at a terminal: each line is typed when the pattern before its `@` is on the screen.
fn typed(stage: &Stage, lines: &str) -> String {
    stage.write("terminal.py", TERMINAL);
    let words = format!("{} host --config servers.json --server memo", binary());
    let mut command = stage.command(&["python3", "terminal.py", &words, lines]);
    command.env("TERM", "xterm");
    let screen = finish(command, Vec::new()).out();
    assert!(!screen.contains("waited in vain"), "{screen}");
    screen
}

#[test]
fn a17_the_user_of_a_terminal_is_asked_once_and_the_answer_is_remembered() {
    let stage = Stage::new();
    configured(&stage, &[]);
    let count = || heard(&stage, "heard", "conversation/userMessage").len();
    let screen = typed(&stage, "receive your messages@hello|y or n@n|echo: hello@/quit");
    assert!(screen.contains("may memo receive your messages? (python3 peer.py)"), "{screen}");
    assert_eq!(count(), 0, "{screen}");
    let screen = typed(&stage, "you have refused@hello|echo: hello@/approve memo|from now on@again|echo: again@/quit");
    assert!(!screen.contains("may memo receive"), "it is not asked again: {screen}");
    assert_eq!(count(), 1, "{screen}");
    let screen = typed(&stage, "receives the user@hello|echo: hello@/quit");
    assert!(!screen.contains("may memo receive"), "{screen}");
    assert_eq!(count(), 2, "{screen}");
    configured(&stage, &[]);
    assert_eq!(count(), 2, "a script does not use the remembered answer");
}
