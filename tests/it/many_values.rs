//! Messages of many small values: as a tree, each takes many times its text. Commands say what they leave out, and handle
//! everything else of such a session. `benches/memory_attacks.py` measures what they take.

use crate::common::{Output, Stage};

/// More values of a kind than are read into memory.
fn many(piece: &str) -> String {
    format!("[{}{piece}]", format!("{piece},").repeat((3 << 20) / (piece.len() + 1)))
}

/// A text that is as long as it is: one value.
fn image(last: char) -> String {
    format!("\"{}{last}\"", "QUJD".repeat(10 << 18))
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const WELCOME: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#;

fn call(arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"t","arguments":{{"v":{arguments}}}}}}}"#
    )
}

fn answer(value: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":2,"result":{{"content":[],"structuredContent":{{"v":{value}}}}}}}"#)
}

/// Makes a reel of a call and its answer.
fn session(stage: &Stage, name: &str, call: &str, answer: &str) {
    let mut lines = r#"{"reel":{"version":1,"created":"2026-01-02T03:04:05Z"}}"#.to_owned() + "\n";
    for (dir, message) in [("c2s", INITIALIZE), ("s2c", WELCOME), ("c2s", INITIALIZED), ("c2s", call), ("s2c", answer)]
    {
        lines += &format!("{{\"time\":\"2026-01-02T03:04:05Z\",\"dir\":\"{dir}\",\"message\":{message}}}\n");
    }
    stage.import(name, lines);
}

/// A server that answers every call with the same message, and the words of its command.
fn server(stage: &Stage, answer: &str) -> Vec<String> {
    stage.write("answer", format!("{answer}\n"));
    stage.write(
        "server.py",
        "import re, sys\n\
         for line in sys.stdin.buffer:\n    \
             found = re.search(rb'\"id\":(\"[^\"]*\"|[0-9]+)', line)\n    \
             if b'\"initialize\"' in line:\n        out = open('welcome', 'rb').read().replace(b'\"id\":1', b'\"id\":' + found[1])\n    \
             elif found:\n        out = open('answer', 'rb').read().replace(b'\"id\":2', b'\"id\":' + found[1], 1)\n    \
             else:\n        continue\n    \
             sys.stdout.buffer.write(out)\n    sys.stdout.buffer.flush()\n",
    );
    stage.write("welcome", format!("{WELCOME}\n"));
    ["python3", "server.py"].map(str::to_owned).to_vec()
}

fn with_server(stage: &Stage, words: &[&str], answer: &str, input: &str) -> Output {
    let server = server(stage, answer);
    let words: Vec<&str> = words.iter().copied().chain(["--"]).chain(server.iter().map(String::as_str)).collect();
    stage.run(&words, input)
}

const REASON: &str = "too many values to be read into memory";

#[test]
fn validate_says_that_it_checked_only_the_envelope() {
    let stage = Stage::new();
    for piece in ["0", "[]", "{\"a\":0}", "\"x\""] {
        session(&stage, "t.reel", &call("0"), &answer(&many(piece)));
        let found = stage.run(&["validate", "t.reel"], "");
        assert_eq!(found.code(), 0, "{piece}: {}", found.out());
        assert!(found.out().contains("stream/not-checked") && found.out().contains(REASON), "{}", found.out());
        std::fs::remove_file(stage.path("t.reel")).expect("removed");
    }
    // In the arguments; and its envelope is checked.
    session(&stage, "a.reel", &call(&many("0")).replace("2.0", "1.0"), &answer("0"));
    let found = stage.run(&["validate", "a.reel"], "");
    let out = found.out();
    assert!(found.code() == 1 && out.contains("stream/not-checked") && out.contains("envelope/version"), "{out}");
    // Broken JSON is still that.
    let broken = r#"{"jsonrpc":"2.0","id":2,"result":"#.to_owned() + &many("0,,0") + "}";
    let recorded = with_server(&stage, &["record", "--check", "-o", "b.reel"], &broken, &lines(&call("0")));
    assert!(recorded.err().contains("envelope/malformed") || recorded.err().contains("1 error"), "{}", recorded.err());
    // A long text is one value.
    session(&stage, "i.reel", &call("0"), &answer(&image('A')));
    let found = stage.ok(&["validate", "i.reel"]).out();
    assert!(!found.contains(REASON), "{found}");
}

/// What a client sends.
fn lines(call: &str) -> String {
    format!("{INITIALIZE}\n{INITIALIZED}\n{call}\n")
}

#[test]
fn a_batch_of_very_many_messages_is_not_checked_and_one_of_many_is() {
    let stage = Stage::new();
    let ping = r#"{"jsonrpc":"2.0","method":"notifications/x"}"#;
    for (count, is_checked) in [(200_000, false), (2_000, true)] {
        session(&stage, "t.reel", &call("0"), &format!("[{}{ping}]", format!("{ping},").repeat(count)));
        let found = stage.run(&["validate", "t.reel", "--format", "json"], "").json();
        let messages = found["messages"].as_u64().expect("a number");
        assert_eq!(messages > 1_000, is_checked, "{messages}");
        assert_eq!(
            found.to_string().contains("the messages of a batch were not checked"),
            !is_checked,
            "{found:.2000}"
        );
        std::fs::remove_file(stage.path("t.reel")).expect("removed");
    }
}

#[test]
fn record_relays_and_its_check_says_what_it_left_out() {
    let stage = Stage::new();
    let answer = answer(&many("0"));
    let out = with_server(&stage, &["record", "--check", "-o", "t.reel"], &answer, &lines(&call("0")));
    assert_eq!(out.code(), 0, "{}", out.err());
    assert!(out.out().ends_with(&format!("{answer}\n")), "every byte arrives");
    assert!(out.err().contains(REASON), "{}", out.err());
}

#[test]
fn call_prints_the_result_as_it_came() {
    let stage = Stage::new();
    let value = many("0");
    let out = with_server(&stage, &["call", "tools/call", "name=t", "--format", "json"], &answer(&value), "");
    assert_eq!(out.code(), 0, "{}", out.err());
    assert_eq!(out.out(), format!("{{\"content\":[],\"structuredContent\":{{\"v\":{value}}}}}\n"));
    for (more, said) in [
        (["--expect", ".content"], "cannot evaluate"),
        (["--jq", ".content"], "--jq: "),
        (["--save", "f"], "nothing was saved"),
    ] {
        let out = with_server(&stage, &[&["call", "tools/call", "name=t"][..], &more].concat(), &answer(&value), "");
        assert!(out.err().contains(said) && out.err().contains(REASON), "{more:?}: {}", out.err());
    }
    let listed = with_server(&stage, &["call"], &answer(&value), "");
    assert!(listed.code() == 4 && listed.err().contains(REASON), "{}", listed.err());
    let out = with_server(
        &stage,
        &["call", "tools/call", "name=t", "--jq", ".structuredContent.v | length"],
        &answer(&image('A')),
        "",
    );
    assert_eq!(out.out().trim(), (10 << 20 | 1).to_string(), "{}", out.err());
}

#[test]
fn diff_compares_them_as_bytes() {
    let stage = Stage::new();
    let other = many("0").replacen('0', "1", 1);
    for (name, call, answer) in [
        ("a.reel", call("0"), answer(&many("0"))),
        ("b.reel", call("0"), answer(&other)),
        ("c.reel", call(&many("0")), answer("0")),
        ("i.reel", call("0"), answer(&image('A'))),
        ("j.reel", call("0"), answer(&image('B'))),
    ] {
        session(&stage, name, &call, &answer);
    }
    let same = stage.run(&["diff", "a.reel", "a.reel"], "");
    assert!(same.code() == 0 && same.out().contains("0 changed"), "{}", same.out());
    for (one, other) in [("a.reel", "b.reel"), ("a.reel", "c.reel")] {
        let differs = stage.run(&["diff", one, other], "");
        assert_eq!(differs.code(), 1, "{}", differs.err());
        assert!(differs.out().contains("too many values to compare in detail"), "{:.3000}", differs.out());
    }
    let json = stage.run(&["diff", "a.reel", "b.reel", "--format", "json"], "").json();
    assert!(json.to_string().contains("\"too_large\":true"), "{json:.2000}");
    let differs = stage.run(&["diff", "i.reel", "j.reel"], "");
    assert!(differs.code() == 1 && !differs.out().contains("too many values"), "a long text is compared");
    assert!(differs.out().contains("/structuredContent/v"), "{:.500}", differs.out());
}

#[test]
fn a_surface_that_cannot_be_read_is_an_error() {
    let stage = Stage::new();
    let request = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
    let tool = r#"{"name":"t","inputSchema":{"type":"object"}}"#;
    for (name, schema) in [("a.reel", many("0")), ("b.reel", "[0]".to_owned())] {
        let tools = tool.replace("\"object\"", &format!("\"object\",\"x\":{schema}"));
        session(&stage, name, request, &format!(r#"{{"jsonrpc":"2.0","id":2,"result":{{"tools":[{tools}]}}}}"#));
    }
    let out = stage.run(&["diff", "--surface", "a.reel", "a.reel"], "");
    assert!(out.code() == 3 && out.err().contains("tools/list") && out.err().contains(REASON), "{}", out.err());
    let out = stage.run(&["diff", "--surface", "b.reel", "b.reel"], "");
    assert_eq!(out.code(), 0, "{}", out.err());
}

#[test]
fn views_say_that_they_did_not_look_into_them() {
    let stage = Stage::new();
    session(&stage, "t.reel", &call("0"), &answer(&many("0")));
    session(&stage, "i.reel", &call("0"), &answer(&image('A')));
    for words in [
        &["show", "REEL", "--view", "tree"][..],
        &["show", "REEL", "--view", "prompt"],
        &["stats", "REEL", "--audit"],
        &["stats", "REEL", "--context"],
        &["export", "REEL", "-f", "html", "-o", "page.html", "--force"],
    ] {
        let run = |reel: &str| {
            let words: Vec<&str> = words.iter().map(|word| if *word == "REEL" { reel } else { word }).collect();
            stage.ok(&words).err()
        };
        let said = run("t.reel");
        assert!(said.contains("did not look into 1 message with too many values"), "{words:?}: {said}");
        let said = run("i.reel");
        assert!(!said.contains("too many values"), "{words:?}: {said}");
    }
    assert!(std::fs::metadata(stage.path("page.html")).is_ok());
}

#[test]
fn jq_skips_them_with_a_note() {
    let stage = Stage::new();
    session(&stage, "t.reel", &call(&many("[]")), &answer(&many("0")));
    let out = stage.run(&["show", "t.reel", "--jq", ".seq", "event:message"], "");
    assert_eq!((out.code(), out.out().lines().count()), (1, 3), "{}", out.err());
    assert_eq!(out.err().matches(REASON).count(), 2, "{}", out.err());
    // All other forms show them.
    for form in ["list", "full", "json", "table"] {
        stage.ok(&["show", "t.reel", "-f", form]);
    }
    assert!(stage.ok(&["show", "t.reel", "--raw", "dir:s2c"]).out().contains("[0,0,0"));
}

#[test]
fn mcp_answers_about_them() {
    let stage = Stage::new();
    session(&stage, "t.reel", &call("0"), &answer(&many("0")));
    let ask = |id: u32, tool: &str, arguments: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
        )
    };
    let reel = stage.path("t.reel");
    let reel = reel.display();
    let input = [
        INITIALIZE.to_owned(),
        INITIALIZED.to_owned(),
        ask(2, "get_message", &format!(r#"{{"recording":"{reel}","seq":4}}"#)),
        ask(3, "show_messages", &format!(r#"{{"recording":"{reel}"}}"#)),
    ];
    let out = stage.run(&["mcp"], input.join("\n") + "\n");
    let answer = |id: u32| {
        let begin = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},");
        out.out().lines().find(|line| line.starts_with(&begin)).unwrap_or_default().to_owned()
    };
    assert!(answer(2).contains("[0,0,0,0"), "{}", answer(2));
    assert!(answer(3).contains("tools/call") && !answer(3).contains("cannot be read"), "{}", answer(3));
}

#[test]
fn mock_serves_and_matches_them_as_bytes() {
    let stage = Stage::new();
    let arguments = many("0");
    session(&stage, "t.reel", &call(&arguments), &answer(&many("[]")));
    let out = stage.run(&["mock", "t.reel"], lines(&call(&arguments)));
    assert!(out.out().contains(r#""structuredContent":{"v":[[],[],"#), "{}", out.err());
    let out = stage.run(&["mock", "t.reel"], lines(&call(&arguments.replacen('0', "1", 1))));
    assert!(out.out().contains("never recorded"), "{:.2000}", out.out());
    assert!(out.out().contains("too many values to compare in detail"), "{:.2000}", out.out());
}

#[test]
fn replay_sends_and_compares_them() {
    let stage = Stage::new();
    let (arguments, result) = (call(&many("0")), answer(&many("[]")));
    session(&stage, "t.reel", &arguments, &result);
    let out = with_server(&stage, &["replay", "t.reel", "--allow-destructive"], &result, "");
    assert!(out.code() <= 1, "{}", out.err());
    let out = with_server(&stage, &["replay", "t.reel", "--allow-destructive"], &answer(&many("{}")), "");
    assert!(out.out().contains("too many values to compare in detail") || out.code() == 1, "{}", out.err());
}

#[test]
fn host_and_serve_refuse_them() {
    let stage = Stage::new();
    let tools = format!(r#"{{"jsonrpc":"2.0","id":2,"result":{{"tools":{}}}}}"#, many("{}"));
    let out = with_server(&stage, &["host", "--say", "hi"], &tools, "");
    assert!((out.out() + &out.err()).contains(REASON), "{} {}", out.out(), out.err());
    let out = stage.run(&["serve"], lines(&call(&many("0"))));
    assert!(out.out().contains(REASON), "{:.2000}", out.out());
}
