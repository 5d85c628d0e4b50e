//! Tests of command lines as people write them: where the server's command begins, and what the arguments mean.

use crate::common::{BINARY, Live, Stage, until};
use serde_json::{Value, json};

/// What an error says, without mcpreel's name and colours.
fn said(stage: &Stage, words: &[&str]) -> String {
    let output = stage.run(words, "");
    assert_eq!(output.code(), 2, "{words:?}: {output:?}");
    assert!(output.out().is_empty(), "{output:?}");
    output.err()
}

#[test]
fn record_takes_everything_from_the_first_word_that_is_not_its_own() {
    let stage = Stage::new();
    for (own, command) in [
        (&["-o", "plain.reel"][..], &["cat", "-u"][..]),
        (&["-v", "--label", "x", "--note=a=b", "-o", "options.reel", "--check"], &["sh", "-c", "cat; exit 3"]),
        (&["-o", "separated.reel", "--"], &["cat", "-u"]),
        // A second `--` belongs to the command.
        (&["-o", "inner.reel"], &["env", "--", "cat"]),
        (&["-o", "ours.reel"], &[BINARY, "record", "-o", "theirs.reel", "--", "cat"]),
    ] {
        let words = [&["record"], own, command].concat();
        let output = stage.run(&words, "{\"id\":1}\n");
        assert_eq!(output.out(), "{\"id\":1}\n", "{words:?}: {output:?}");
        assert_eq!(output.code(), if command[0] == "sh" { 3 } else { 0 }, "{output:?}");
        let reel = own.iter().find(|word| word.ends_with(".reel")).expect("a reel");
        let opened = stage.events(reel)[1].clone();
        assert_eq!(opened["data"]["command"], json!(command), "{words:?}: {opened}");
    }
    assert_eq!(stage.events("options.reel")[0]["reel"]["label"], "x");
    stage.ok(&["reel", "verify", "theirs.reel"]);
}

#[test]
fn every_other_command_prints_the_line_with_its_separator() {
    let stage = Stage::new();
    stage.write("f.yaml", "hooks: []\n");
    stage.write("a.jsonl", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}\n");
    for (words, first, corrected) in [
        ("call tools/list mcp-server-time", "mcp-server-time", "call tools/list -- mcp-server-time"),
        ("call tools/list npx -y x", "npx", "call tools/list -- npx -y x"),
        (
            "call tools/call name=add arguments.a:=1 npx -y x",
            "npx",
            "call tools/call name=add arguments.a:=1 -- npx -y x",
        ),
        ("fire user-message hi my-server", "my-server", "fire user-message hi -- my-server"),
        ("fire hook session_start npx -y x", "npx", "fire hook session_start -- npx -y x"),
        ("fire raw {} my-server", "my-server", "fire raw '{}' -- my-server"),
        ("fire rollback c my-server --x", "my-server", "fire rollback c -- my-server --x"),
        ("fire channel publish c text my-server", "my-server", "fire channel publish c text -- my-server"),
        ("host --say hi npx -y x", "npx", "host --say hi -- npx -y x"),
        ("overlay f.yaml npx -y x", "npx", "overlay f.yaml -- npx -y x"),
        ("survive --wait 1s my-client", "my-client", "survive --wait 1s -- my-client"),
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let error = said(&stage, &words);
        let expected =
            format!("mcpreel: error: \"--\" is missing before the command {first:?}\n  hint: mcpreel {corrected}\n");
        assert!(error.starts_with(&expected), "{error}");
    }
    // These could also be arguments, so the error stays and the hint is conditional.
    for (words, corrected) in [
        ("replay a.jsonl sh -c x", "replay a.jsonl -- sh -c x"),
        ("mock a.jsonl --on-miss forward sh", "mock a.jsonl --on-miss forward -- sh"),
        ("events watch build.* sh", "events watch 'build.*' -- sh"),
        ("fire before-inference sh", "fire before-inference -- sh"),
        ("diff --surface a.jsonl sh -c x", "diff --surface a.jsonl -- sh -c x"),
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let error = said(&stage, &words);
        let expected = format!("  hint: if \"sh\" is the server's program: mcpreel {corrected}\n");
        assert!(error.contains(&expected), "{words:?}: {error}");
    }
}

#[test]
fn a_command_quoted_as_one_word_is_separated() {
    let stage = Stage::new();
    for (words, corrected) in [
        (&["call", "tools/list", "--", "npx -y x"][..], "call tools/list -- npx -y x"),
        (&["call", "tools/list", "npx -y x"], "call tools/list -- npx -y x"),
        (&["record", "npx -y 'a b'"], "record -- npx -y 'a b'"),
        (&["record", "-o", "r.reel", "--", "/usr/bin/nothing -y", "x"], "record -o r.reel -- /usr/bin/nothing -y x"),
        (&["survive", "--", "my-client {}"], "survive -- my-client '{}'"),
        (&["fire", "user-message", "hi there", "--", "npx x"], "fire user-message 'hi there' -- npx x"),
    ] {
        let error = said(&stage, words);
        assert!(error.contains(&format!("  hint: mcpreel {corrected}\n")), "{words:?}: {error}");
    }
    assert!(
        said(&stage, &["record", "npx -y x"])
            .contains("there is no program \"npx -y x\": it is several words quoted as one")
    );
    // A program may have a space in its name.
    stage.write("my server", "#!/bin/sh\nexec cat\n");
    std::fs::set_permissions(stage.path("my server"), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("mode");
    assert_eq!(stage.run(&["record", "-o", "s.reel", "./my server"], "{\"id\":1}\n").out(), "{\"id\":1}\n");
}

#[test]
fn a_client_learns_that_the_separator_was_removed() {
    let stage = Stage::new();
    stage.write("f.yaml", "hooks: []\n");
    let request = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize"});
    // An MCP Inspector removes the `--` of its command line.
    let output = stage.run(&["overlay", "f.yaml", BINARY, "serve", "--listen", "0"], format!("{request}\n"));
    assert_eq!(output.code(), 2, "{output:?}");
    assert!(output.err().contains("as the MCP Inspector does"), "{output:?}");
    let refused: Value = output.json();
    let expected = format!("mcpreel: \"--\" is missing before the command {BINARY:?}");
    assert_eq!(refused["error"]["message"], json!(expected), "{output:?}");
    // Options of the server are not options of `record`.
    let output = stage.run(&["record", "-o", "r.reel", "no-such-program", "--listen", "0"], format!("{request}\n"));
    assert_eq!(output.json()["id"], 0, "{output:?}");
}

/// The params of the message with this method in a reel.
fn params(stage: &Stage, reel: &str, method: &str) -> Value {
    let events = stage.events(reel);
    let found = events.iter().find(|event| event["message"]["method"] == method);
    found.unwrap_or_else(|| panic!("no {method}: {events:?}"))["message"]["params"].clone()
}

#[test]
fn a_text_comes_from_the_command_line_a_file_or_stdin() {
    let stage = Stage::new();
    stage.write("text.txt", "from the\nfile\n");
    for (number, (word, expected)) in [
        ("-", "from\nstdin"),
        ("@-", "from\nstdin"),
        ("@text.txt", "from the\nfile"),
        ("@@text.txt", "@text.txt"),
        ("a@b", "a@b"),
    ]
    .into_iter()
    .enumerate()
    {
        let reel = |name: &str| format!("{name}-{number}.reel");
        for (fire, method, member) in [
            ("user-message", "conversation/userMessage", "/message/content/text"),
            ("before-inference", "context/beforeInference", "/userMessage"),
            ("after-inference", "context/afterInference", "/assistantMessage"),
        ] {
            let reel = reel(fire);
            let output = stage.run(&["fire", fire, word, "--record", &reel, "--", BINARY, "serve"], "from\nstdin\n");
            assert_eq!(output.code(), 0, "{fire} {word}: {output:?}");
            let sent = params(&stage, &reel, method);
            let text = sent.pointer(member).or_else(|| sent.pointer("/content")).and_then(Value::as_str);
            assert_eq!(text, Some(expected), "{fire} {word}: {sent}");
        }
        let reel = reel("host");
        let words = ["host", "--builtin", "memory", "--consent", "--say", word, "--system", word, "--record", &reel];
        let output = stage.run(&words, "from\nstdin\n");
        assert_eq!(output.code(), 0, "{word}: {output:?}");
        assert!(
            output.out().contains(&format!("you> {}", expected.replace('\n', "␊"))) || output.out().contains(expected),
            "{word}: {output:?}"
        );
    }
}

#[test]
fn the_value_of_a_parameter_comes_from_a_file_or_stdin_unchanged() {
    let stage = Stage::new();
    stage.write("text.txt", "from the\nfile\n");
    stage.write("number.json", " 7 ");
    let words = ["a=@text.txt", "b=@-", "c=@@me", "d=-", "e:=@number.json", "f:=@-"];
    let command =
        [&["call", "ping"], &words[..], &["--record", "t.reel", "--", BINARY, "serve", "--era", "legacy"]].concat();
    let output = stage.run(&command, "\"from stdin\"\n");
    assert_eq!(output.code(), 0, "{output:?}");
    let expected =
        json!({"a": "from the\nfile\n", "b": "\"from stdin\"\n", "c": "@me", "d": "-", "e": 7, "f": "from stdin"});
    assert_eq!(params(&stage, "t.reel", "ping"), expected);
    let missing = stage.run(&["call", "ping", "a=@nothing", "--", BINARY, "serve"], "");
    assert_eq!(missing.code(), 3, "{missing:?}");
    assert!(missing.err().contains("@@ stands for a literal @"), "{missing:?}");
}

#[test]
fn the_stdin_of_a_host_is_not_read_as_a_text() {
    let stage = Stage::new();
    for words in [
        &["fire", "push", "--text", "-"][..],
        &["fire", "reminder", "@-"],
        &["fire", "event", "a.b", "--data", "x=@-"],
        &["fire", "channel", "incoming", "-", "--channel", "c"],
        &["host", "--builtin", "memory", "--system", "-"],
        &["serve", "--set", "conversation.carrier=@-"],
    ] {
        let error = said(&stage, words);
        assert!(error.contains("stdin cannot be read as an argument, because") && error.contains("@FILE"), "{error}");
    }
}

#[test]
fn a_program_that_prints_text_is_recognised() {
    let stage = Stage::new();
    let output = stage.run(&["call", "tools/list", "--", "sh", "-c", "echo bin; echo boot"], "");
    assert_eq!(output.code(), 4, "{output:?}");
    let expected = "the program printed text instead of JSON-RPC messages; its first line: bin\n";
    assert!(output.err().contains(expected) && !output.err().contains("boot"), "{output:?}");
    let silent = stage.run(&["call", "tools/list", "--", "true"], "");
    assert!(!silent.err().contains("instead of JSON"), "{silent:?}");
    let waiting = stage.run(
        &["call", "ping", "--timeout", "1s", "--era", "legacy", "--", "sh", "-c", "echo hello; cat >/dev/null"],
        "",
    );
    assert_eq!(waiting.code(), 5, "{waiting:?}");
    assert!(waiting.err().contains("its first line: hello"), "{waiting:?}");
}

/// A recorded session whose client has not said anything yet.
fn tapped(stage: &Stage) -> Live {
    let live = stage.start(&["record", "--label", "tapped", "-o", "tapped.reel", "--", BINARY, "serve"]);
    until("the session", || stage.run(&["sessions"], "").out().contains("tapped").then_some(()));
    live
}

const HELLO: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"experimental":{"mcpl":{"version":"0.4","pushEvents":true}}},"clientInfo":{"name":"c","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
"#;

#[test]
fn a_push_before_the_handshake_says_what_it_waits_for() {
    let stage = Stage::new();
    let mut client = tapped(&stage);
    let push = ["fire", "push", "--text", "x", "--session", "tapped", "--answer-timeout"];
    let early = stage.run(&[&push[..], &["700ms"]].concat(), "");
    let waits = "tapped: waiting up to 700ms for the handshake of client and server, after which the message is sent";
    assert!(early.err().contains(waits), "{early:?}");
    assert_eq!((early.code(), early.err().contains("did not complete their handshake")), (5, true), "{early:?}");

    let pushing = stage.start(&[&push[..], &["30s"]].concat());
    until("the note", || pushing.stderr_so_far().contains("waiting up to 30s").then_some(()));
    client.write(HELLO);
    let pushed = client.message(|message| message["method"] == "push/event");
    client.send(&json!({"jsonrpc": "2.0", "id": pushed["id"], "result": {"accepted": true}}));
    assert_eq!(pushing.end().code(), 0);
}

#[test]
fn a_push_of_a_server_before_the_handshake_says_what_it_waits_for() {
    let stage = Stage::new();
    let mut client = stage.start(&["serve"]);
    let push = ["fire", "push", "--text", "x", "--session", "serve"];
    let pushing = until("the session", || {
        stage.run(&["sessions"], "").out().contains("mcpreel serve").then(|| stage.start(&push))
    });
    until("the note", || pushing.stderr_so_far().contains("for a host's handshake with the server").then_some(()));
    client.write(HELLO);
    let pushed = client.message(|message| message["method"] == "push/event");
    client.send(&json!({"jsonrpc": "2.0", "id": pushed["id"], "result": {"accepted": true}}));
    assert_eq!(pushing.end().code(), 0);
}

#[test]
fn an_event_names_the_session_that_has_subscriptions() {
    let stage = Stage::new();
    let _tapped = tapped(&stage);
    let fire = ["fire", "event", "a.b", "--session", "tapped"];
    // The recorded server is itself a session of `mcpreel serve`.
    until("its own session", || said(&stage, &fire).contains("--session serve").then_some(()));
}

#[test]
fn a_push_in_a_terminal_says_how_to_send_it() {
    let stage = Stage::new();
    let script = "import pty, sys; pty.spawn(sys.argv[1:])";
    let mut live = Live::start(stage.command(&["python3", "-c", script, BINARY, "fire", "push", "--text", "x"]));
    let mut said = String::new();
    while !said.contains("--listen PORT") {
        said.push_str(&live.line());
    }
    assert!(said.contains("--session NAME"), "{said}");
}

#[test]
fn a_slow_server_is_waited_for() {
    let stage = Stage::new();
    // The server starts when mcpreel has said that it waits.
    let script = format!("while ! [ -e go ]; do sleep 0.05; done; exec {BINARY} serve");
    let live = stage.start(&["call", "tools/list", "-v", "--", "sh", "-c", &script]);
    until("the note", || live.stderr_so_far().contains("waiting for it up to 20s").then_some(()));
    stage.write("go", "");
    let output = live.end();
    assert_eq!(output.code(), 0, "{output:?}");
    assert!(output.err().contains("modern era"), "{output:?}");
    // Only a terminal is told before five seconds have passed.
    let silent = ["call", "ping", "--timeout", "3s", "--", "sh", "-c", "cat >/dev/null"];
    let output = stage.run(&silent, "");
    assert_eq!(output.code(), 5, "{output:?}");
    assert!(output.err().contains("no response to initialize within 3s"), "{output:?}");
    assert!(!output.err().contains("waiting for it"), "{output:?}");
}

#[test]
fn a_corrected_line_of_call_is_complete() {
    let stage = Stage::new();
    let error = said(&stage, &["call", "sh"]);
    assert!(error.contains("mcpreel call tools/list -- sh\n"), "{error}");
    let error = said(&stage, &["call", "tools/call", "get-sum", "--", "my-server"]);
    assert!(error.contains("invalid parameter \"get-sum\""), "{error}");
    assert!(error.contains("  hint: did you mean: mcpreel call tools/call name=get-sum -- my-server\n"), "{error}");
    assert!(!error.contains("is missing"), "{error}");
}

#[test]
fn a_failed_call_says_what_was_probably_meant() {
    let stage = Stage::new();
    for (words, meant) in [
        (&["tool/list"][..], "call tools/list"),
        (&["add", "a:=1", "b:=2"], "call tools/call name=add arguments.a:=1 arguments.b:=2"),
        (&["tools/call", "name=add", "a:=1", "b:=2"], "call tools/call name=add arguments.a:=1 arguments.b:=2"),
    ] {
        let words = [&["call"], words, &["--", BINARY, "serve"]].concat();
        let output = stage.run(&words, "");
        assert_eq!(output.code(), 1, "{output:?}");
        let expected = format!("mcpreel: did you mean: mcpreel {meant} -- {BINARY} serve\n");
        assert!(output.err().contains(&expected), "{words:?}: {output:?}");
    }
    let failed = stage.run(&["call", "tools/call", "name=add", "--", BINARY, "serve", "--era", "legacy"], "");
    let expected = ["mcpreel: the tool reported an error\n", "mcpreel: the server returned an error\n"];
    assert!(failed.code() == 1 && expected.iter().any(|text| failed.err() == *text), "{failed:?}");
}

#[test]
fn a_text_may_begin_with_a_hyphen() {
    let stage = Stage::new();
    for word in ["-n hello", "- item", "-"] {
        let reel = format!("{}.reel", word.len());
        let words = ["fire", "user-message", word, "--record", &reel, "--", BINARY, "serve"];
        let output = stage.run(&words, "from stdin");
        assert_eq!(output.code(), 0, "{output:?}");
        let expected = if word == "-" { "from stdin" } else { word };
        let sent = params(&stage, &reel, "conversation/userMessage");
        let text = sent.pointer("/message/content/text").or_else(|| sent.pointer("/content"));
        assert_eq!(text, Some(&json!(expected)), "{sent}");
    }
    let error = said(&stage, &["fire", "user-message", "-item", "--", "my-server"]);
    assert!(
        error.contains("unexpected argument '-item' found") && error.contains("write - and the text on stdin"),
        "{error}"
    );
    let error = said(&stage, &["fire", "push", "--text", "-item", "--session", "none"]);
    assert!(error.contains("write --text='-item'"), "{error}");
    // After `=`, any text is one; the session is what is missing then.
    for text in ["--text=-item", "--text=- item"] {
        let output = stage.run(&["fire", "push", text, "--session", "none"], "");
        assert!(output.err().contains("no live sessions"), "{output:?}");
    }
    let output = stage.run(&["fire", "push", "--text", "- item", "--session", "none"], "");
    assert!(!output.err().contains("unexpected argument"), "{output:?}");
}

#[test]
fn no_tip_uses_the_separator_for_values() {
    let stage = Stage::new();
    for words in [&["call", "tools/list", "--foo"][..], &["show", "--foo"], &["nonsense"], &["fire", "nonsense"]] {
        let error = said(&stage, words);
        assert!(!error.contains("as a value"), "{error}");
    }
    assert!(said(&stage, &["show", "--formt", "json"]).contains("--format"), "similar options are still named");
}

#[test]
fn a_message_to_a_host_takes_no_server() {
    let stage = Stage::new();
    for words in [&["fire", "push", "--text", "x"][..], &["fire", "reminder", "x"], &["fire", "event", "x"]] {
        let error = said(&stage, &[words, &["--", "my-server"]].concat());
        assert!(error.contains("this message goes to a host") && error.contains("--session NAME"), "{error}");
    }
}

#[test]
fn a_reel_is_found_without_its_ending() {
    let stage = Stage::new();
    stage.reel("first.reel", &[crate::common::message(0, "c2s", json!({"jsonrpc": "2.0", "method": "x/y"}))]);
    assert!(stage.ok(&["show", "first"]).out().contains("x/y"));
    assert!(stage.ok(&["show", "first", "seq:0..9"]).out().contains("x/y"));
    assert!(stage.ok(&["stats", "first"]).out().contains("x/y"));
    let error = said(&stage, &["show", "12"]);
    assert!(error.contains("use seq:12") && error.contains("`mcpreel reel list`"), "{error}");
    let missing = stage.run(&["validate", "none.reel"], "");
    assert!(missing.code() == 3 && missing.err().contains("`mcpreel reel list`"), "{missing:?}");
}

/// A server of the legacy era whose only tool returns an image.
const IMAGE_SERVER: &str = r#"while read -r line; do
    id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
    case "$line" in
        *'"initialize"'*) result='{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"i","version":"1"}}' ;;
        *'"tools/call"'*) result='{"content":[{"type":"image","mimeType":"image/png","data":"iVBORw0KGgo="}]}' ;;
        *) continue ;;
    esac
    printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done"#;

#[test]
fn saved_content_never_meets_an_older_file() {
    let stage = Stage::new();
    let call = ["call", "tools/call", "name=draw", "--save", "img", "--era", "legacy", "--", "sh", "-c", IMAGE_SERVER];
    for number in 1..=2 {
        let output = stage.ok(&call);
        assert!(output.err().contains(&format!("saved img/{number}.png")), "{output:?}");
    }
    stage.write("file", "");
    let output = stage.run(&[&call[..4], &["file"], &call[5..]].concat(), "");
    assert!(output.code() != 0 && output.json()["content"][0]["type"] == "image", "the result is printed: {output:?}");
}

#[test]
fn half_of_an_emoji_hides_no_tool_of_a_server() {
    let stage = Stage::new();
    let script = IMAGE_SERVER
        .replace("tools/call", "tools/list")
        .replace(
            r#""content":["#,
            r#""tools":[{"name":"draw","description":"\ud83d","inputSchema":{"type":"object"}}],"x":["#,
        )
        .replace("printf '{", "printf '%s\\n' '{")
        .replace(r#""id":%s,"result":%s}\n' "$id" "$result""#, r#""id":'"$id"',"result":'"$result"'}'"#);
    let offers = stage.ok(&["call", "--era", "legacy", "--", "sh", "-c", &script]).json();
    assert!(offers.to_string().contains(r#""name":"draw""#), "{offers}");
}

#[test]
fn checks_come_from_stdin_and_their_format_is_in_the_help() {
    let stage = Stage::new();
    let help = stage.ok(&["call", "--help"]).out();
    let (_, shown) = help.split_once("A file with checks:\n").expect("the format");
    let lines: Vec<&str> = shown.lines().take_while(|line| !line.is_empty()).collect();
    let words = ["call", "--file", "-", "--", BINARY, "serve"];
    let output = stage.run(&words, lines.join("\n"));
    assert_eq!(output.code(), 0, "{output:?}");
    let output = stage.run(&words, "checks:\n- call: tools/list\n  expect: a: b\n");
    assert!(output.code() == 3 && output.err().contains("single quotes"), "{output:?}");
}
