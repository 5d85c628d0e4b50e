//! Programs of `--jq`, `--expect` and files with checks run in a process of their own: whatever they do, mcpreel reports it.

use crate::common::{BINARY, Stage, message};
use serde_json::json;
use std::process::Stdio;

/// A reel with this many messages.
fn stage(messages: u64) -> Stage {
    let stage = Stage::new();
    let events: Vec<_> =
        (0..messages).map(|at| message(at, "c2s", json!({"jsonrpc": "2.0", "id": at, "method": "ping"}))).collect();
    stage.reel("a.reel", &events);
    stage
}

#[test]
fn a_program_that_cannot_be_run_ends_with_an_error() {
    let stage = stage(3);
    let brackets = format!("{}1{}", "(".repeat(60_000), ")".repeat(60_000));
    for (program, why) in [
        ("import \"a\" as $d; $d", "`import`"),
        ("def f: 1+f; f", "stack"),
        ("def f(g): g | f(g | g); f(.)", "stack"),
        ("reduce range(1000000) as $i (null; [.])", "stack"),
        ("last(range(1000000) as $i | null) | reduce range(3000000) as $i (.; {a: .})", "stack"),
        ("\"[\" * 3000000 | fromjson", "stack"),
        ("\"a\" * 100000000000", "memory"),
        ("[limit(100; repeat(\"a\" * 100000000))] | add", "memory"),
        (&brackets, ""),
    ] {
        let output = stage.run(&["show", "a.reel", "--jq", program], "");
        let said = output.err();
        assert_eq!((output.code(), output.out()), (2, String::new()), "{program:.60}: {said:.500}");
        assert!(said.starts_with("mcpreel: error: --jq: ") && said.contains(why), "{program:.60}: {said:.500}");
        assert!(said.contains("hint: ") && !said.contains("panicked") && !said.contains("RUST"), "{said:.500}");
    }
}

#[test]
fn a_program_that_never_ends_is_stopped() {
    let stage = stage(1);
    let output = stage.run(&["show", "a.reel", "--jq", "last(range(infinite))"], "");
    assert_eq!((output.code(), output.out()), (2, String::new()), "{output:?}");
    assert!(output.err().contains("was stopped at event 0: it gave no result for 10 seconds"), "{output:?}");
}

#[test]
fn the_outputs_before_it_are_printed_and_the_event_is_named() {
    let output = stage(9).run(&["show", "a.reel", "--jq", "if .seq == 5 then def f: 1+f; f else .seq, \"x\" end"], "");
    assert_eq!((output.code(), output.out().as_str()), (2, "0\nx\n1\nx\n2\nx\n3\nx\n4\nx\n"), "{output:?}");
    assert!(output.err().contains("at event 5"), "{output:?}");
}

#[test]
fn large_programs_work() {
    let stage = stage(1);
    for (program, printed) in [
        ("reduce range(1000000) as $i (0; .+$i)", "499999500000\n"),
        ("[range(300000)] | length", "300000\n"),
        ("def f: if . > 5000 then . else (.+1 | f) + 1 end; 0 | f", "10002\n"),
        ("def r: if . < 100000 then . + 1 | r else . end; 0 | r", "100000\n"),
        ("[limit(3; repeat(1))] , first(range(infinite))", "[1,1,1]\n0\n"),
        ("\"a\" * 10000000 | length", "10000000\n"),
        (".seq, halt, 7", "0\n"),
        ("\"\\u001b[1m\", [\"\\u009b\", nan]", "\u{1b}[1m\n[\"\\u009b\",null]\n"),
    ] {
        assert_eq!(stage.ok(&["show", "a.reel", "--jq", program]).out(), printed, "{program}");
    }
}

#[test]
fn results_keep_the_order_of_the_events() {
    let stage = stage(20_000);
    let output = stage.ok(&["show", "a.reel", "--jq", "if .seq % 3 == 0 then empty else .seq, -.seq end"]).out();
    let expected: String = (0..20_000).filter(|at| at % 3 != 0).map(|at| format!("{at}\n-{at}\n")).collect();
    assert!(output == expected);
    let failing = stage.run(&["show", "a.reel", "--jq", "if .seq > 19980 then error(\"no\") else empty end"], "");
    assert_eq!((failing.code(), failing.out()), (1, String::new()));
    let said = failing.err();
    assert!(said.contains("--jq at event 19981: \"no\"") && said.contains("… and 9 more"), "{said}");
}

#[test]
fn an_endless_program_ends_with_its_reader() {
    let stage = stage(3);
    let mut command = stage.mcpreel(&["show", "a.reel", "--jq", "repeat(1)"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    let mut first = [0; 4];
    std::io::Read::read_exact(child.stdout.as_mut().expect("a pipe"), &mut first).expect("output");
    assert_eq!(&first, b"1\n1\n");
    drop(child.stdout.take());
    assert!(child.wait().expect("ends").success());
}

#[test]
fn calls_and_checks_report_it_too() {
    let stage = Stage::new();
    let run = |words: &[&str]| stage.run(&[words, &["--era", "legacy", "--", BINARY, "serve"]].concat(), "");
    let endless = "def f: 1+f; f";
    for words in [
        &["call", "tools/list", "--jq", endless][..],
        &["call", "tools/list", "--expect", endless],
        &["call", "--jq", endless],
        &["call", "tools/list", "--repeat", "3", "--expect", endless],
    ] {
        let output = run(words);
        assert!(output.code() == 2 && output.err().contains("stack"), "{words:?}: {output:?}");
    }
    stage.write(
        "checks.yaml",
        format!("checks:\n  - {{call: tools/list, expect: ['.tools != []', '{endless}']}}\n  - call: ping\n"),
    );
    let output = run(&["call", "--file", "checks.yaml", "-f", "json"]);
    assert!(output.code() == 2 && output.err().contains("stack"), "{output:?}");
    assert_eq!(output.json()["checks"][0]["verdict"], "failed");
    assert_eq!(output.json()["checks"][1]["verdict"], "passed");
    stage.write("wrong.yaml", "checks: [{call: ping, expect: '.['}]\n");
    let output = run(&["call", "--file", "wrong.yaml"]);
    assert!(output.code() == 3 && output.err().contains("a syntax error"), "{output:?}");
    let good = run(&[
        "call",
        "tools/list",
        "--repeat",
        "3",
        "--expect",
        "(.tools | length) > 0",
        "--jq",
        ".tools[0].name | length > 0",
    ]);
    assert_eq!((good.code(), good.out().as_str()), (0, "true\ntrue\ntrue\n"), "{good:?}");
}
