//! Tests of errors in scenarios, and of their positions.

use super::*;

fn complaint(text: &str) -> (u64, u64, String) {
    let error = Scenario::read(text).expect_err("something is wrong");
    (error.place.line, error.place.column, error.why)
}

const SERVERS: &str = "name: x\nservers:\n  memory: {builtin: {}}\n  other: {command: [cat]}\n";

#[test]
fn a_line_may_end_with_a_carriage_return_alone() {
    let error = ScenarioError::new("one: 1\rtwo: [\r\nthree", TextPosition { line: 2, column: 6 }, "not closed");
    assert_eq!(error.line, "two: [");
}

#[test]
fn errors_point_at_their_line_and_show_it() {
    let text = format!("{SERVERS}steps:\n  - user: hello\n  - tool: {{server: memry, name: echo}}\n");
    let error = Scenario::read(&text).expect_err("no such server");
    insta::assert_snapshot!(error, @r#"
    line 7, column 20: unknown server "memry"; known: memory, other
      7 |   - tool: {server: memry, name: echo}
        |                    ^
    "#);
}

#[test]
fn every_complaint_has_its_place() {
    let cases: &[(&str, u64, u64, &str)] = &[
        ("steps:\n  - wait: soon\n", 6, 11, "invalid time \"soon\""),
        ("steps:\n  - user: [a]\n", 6, 5, "a string or a mapping"),
        ("steps:\n  - usr: hello\n", 6, 5, "unknown member `usr`; known members: user, model"),
        ("steps:\n  - {}\n", 6, 5, "a step needs exactly one of user"),
        ("steps:\n  - user: a\n    wait: 1s\n", 6, 5, "not user and wait"),
        ("steps:\n  - wait: 1s\n    model: a\n", 6, 5, "model is only allowed in a step with user"),
        ("steps:\n  - fire: {kind: log, data: x}\n", 6, 11, "fire needs server"),
        ("steps:\n  - {server: other, fire: {kind: log, data: x}}\n", 6, 14, "\"other\" is not a built-in server"),
        ("steps:\n  - {server: memory, fire: {kind: nothing}}\n", 6, 28, "invalid `fire`"),
        ("steps:\n  - allow: {server: memory, proposal: conversatoin}\n", 6, 39, "unknown proposal"),
        ("steps:\n  - user: a\n    model: {calls: [{tool: t, server: nobody}]}\n", 7, 39, "unknown server"),
        ("steps:\n  - repeat: {times: 2, steps: [{disconnect: nobody}]}\n", 6, 45, "unknown server"),
        ("host: {policy: {all: {conversation: {dedline: 1s}}}}\n", 5, 47, "unknown option \"conversation.dedline\""),
        ("host: {policy: {servers: {nobody: {hooks: {trusted: true}}}}}\n", 5, 27, "unknown server"),
        ("host: {policy: {all: {hooks: {trusted: maybe}}}}\n", 5, 40, "invalid value \"maybe\" for hooks.trusted"),
        ("host:\n  layout: {nowhere: []}\n", 6, 11, "unknown position"),
        ("events:\n  - {at: 1s, times: 2, server: memory, fire: {kind: log, data: x}}\n", 6, 5, "needs every"),
        ("faults:\n  - {drop: true, duplicate: true}\n", 6, 5, "a fault needs exactly one of"),
        ("faults:\n  - {method: '[', drop: true}\n", 6, 14, "invalid pattern of a method"),
        ("expect:\n  - {}\n", 6, 5, "an expectation needs exactly one of"),
        ("expect:\n  - {message: {}, times: 1, never: true}\n", 6, 5, "only one of"),
        ("expect:\n  - {message: {}, at_least: 0}\n", 6, 5, "always met"),
        ("expect:\n  - {message: {pointer: {a: 1}}}\n", 6, 26, "invalid JSON Pointer"),
        ("expect:\n  - {message: {filter: 'dir:up'}}\n", 6, 24, "in the filter"),
        ("expect:\n  - {message: {}, after: nothing}\n", 6, 26, "unknown expectation \"nothing\""),
        ("expect:\n  - {message: {}, id: a}\n  - {message: {}, id: a}\n", 7, 23, "already has the id \"a\""),
        ("expect:\n  - {message: {}, id: a, after: a}\n", 6, 33, "after itself"),
        ("expect:\n  - {message: {}, id: a, never: true}\n  - {message: {}, after: a}\n", 7, 26, "is never met"),
        ("expect:\n  - {validates: true, within: 1s}\n", 6, 5, "cannot be combined"),
        ("expect:\n  - {prompt: {slot: nothing}}\n", 6, 21, "unknown slot"),
        ("expect:\n  - {fact: {proposal: nothing}}\n", 6, 23, "unknown proposal"),
    ];
    let mut faults = String::new();
    for (rest, line, column, why) in cases {
        let (at_line, at_column, reported) = complaint(&format!("{SERVERS}{rest}"));
        if !reported.contains(why) || (at_line, at_column) != (*line, *column) {
            faults += &format!("{rest}{at_line}:{at_column} {reported}\n\n");
        }
    }
    assert_eq!(faults, "");
}

#[test]
fn a_server_is_one_thing() {
    for (server, why) in [
        ("{}", "exactly one of builtin, command and url"),
        ("{builtin: {}, url: 'http://x'}", "exactly one of builtin, command and url"),
        ("{command: []}", "a command needs a program"),
        ("{builtin: {}, cwd: x}", "require a server with a command"),
        ("{command: [a], headers: {a: b}}", "require a server with a url"),
        ("{builtin: {declare: [nothing]}}", "unknown proposal"),
        ("{builtin: {plans: [{after_ms: 1}]}}", "invalid plan: missing field `fire`"),
    ] {
        let (line, _, reported) = complaint(&format!("name: x\nservers:\n  a: {server}\n"));
        assert!(line == 3 && reported.contains(why), "{server}: {line}: {reported}");
    }
}

#[test]
fn a_server_has_its_name_for_itself() {
    let (line, _, why) = complaint("name: x\nservers:\n  a: {builtin: {}}\n  a: {builtin: {}}\n");
    assert!(line == 4 && why.contains("duplicate"), "{line}: {why}");
}

#[test]
fn what_is_no_yaml_is_reported() {
    let (line, _, why) = complaint("name: x\nsteps: [\n");
    assert!(line >= 2 && !why.contains("line"), "{line}: {why}");
    assert_eq!(complaint("seed: 1\n").2, "`name` is missing");
}

#[test]
fn what_the_reader_of_yaml_cannot_take_is_reported_in_plain_words() {
    let cases: &[(&str, u64, u64, &str)] = &[
        ("name: [", 1, 7, "`name` must be a string"),
        ("name:\n  - a\n", 2, 3, "`name` must be a string"),
        ("name: x\nclock: fast\n", 2, 8, "`clock` must be one of real, virtual, not \"fast\""),
        ("name: x\nseed: many\n", 2, 7, "`seed` must be a whole number, 0 or more"),
        ("name: x\nsteps: {user: hi}\n", 2, 8, "`steps` must be a list: lines that begin with `- `, or [one, another]"),
        ("name: x\nsteps:\n  - user: [a]\n", 3, 5, "`user` must be a string or a mapping, not a list"),
        ("name: x\nsteps:\n  - user: a\n    user: b\n", 4, 5, "duplicate member `user`"),
        ("name: x\nsteps:\n  - repeat: {steps: []}\n", 3, 14, "`times` is missing"),
        ("name: x\nexpect:\n  - {message: {method: a}, never: y}\n", 3, 35, "`never` must be true or false"),
        (
            "name: x\nservers:\n  a: builtin\n",
            3,
            6,
            "`a` must be a mapping: lines such as `name: value`, or {name: value}",
        ),
        ("hello", 1, 1, "expected a mapping: lines such as `name: value`, or {name: value}"),
        ("name: x\n---\nname: y\n", 3, 1, "a second document begins here, but a file can only have one"),
        ("", 1, 1, "unexpected end of the file"),
    ];
    for (text, line, column, why) in cases {
        assert_eq!(complaint(text), (*line, *column, (*why).to_owned()), "{text}");
    }
    for parser_word in ["untagged", "scalar", "u64", "sequence", "serde"] {
        let all: String = cases.iter().map(|case| complaint(case.0).2).collect();
        assert!(!all.contains(parser_word), "{parser_word} in {all}");
    }
}

#[test]
fn more_steps_than_anybody_means_are_refused() {
    let text = |times: u64| {
        let inner = "steps: [{wait: 1s}, {repeat: {times: 1000, steps: []}}]";
        format!("name: x\nsteps:\n  - wait: 1s\n  - repeat: {{times: {times}, {inner}}}\n")
    };
    assert!(Scenario::read(&text(900)).is_ok());
    let reported = (4, 5, "there are more than 1000000 steps up to here; use fewer repetitions".to_owned());
    assert_eq!(complaint(&text(1000)), reported);
    assert_eq!(complaint(&text(u64::MAX)), reported);
}
