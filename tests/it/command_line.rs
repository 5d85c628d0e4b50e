//! Tests of command lines as people write them: where the server's command begins, and what the arguments mean.

use crate::common::{BINARY, Stage};
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
    assert_eq!(stage.info("options.reel")["header"]["label"], "x");
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
