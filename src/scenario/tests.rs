//! What is wrong with a scenario is told with its place.

use super::*;

fn complaint(text: &str) -> (u64, u64, String) {
    let error = Scenario::read(text).expect_err("something is wrong");
    (error.place.line, error.place.column, error.why)
}

const SERVERS: &str = "name: x\nservers:\n  memory: {builtin: {}}\n  other: {command: [cat]}\n";

#[test]
fn errors_point_at_their_line_and_show_it() {
    let text = format!("{SERVERS}steps:\n  - user: hello\n  - tool: {{server: memry, name: echo}}\n");
    let error = Scenario::read(&text).expect_err("no such server");
    insta::assert_snapshot!(error, @r#"
    line 7, column 20: there is no server "memry"; there are: memory, other
      7 |   - tool: {server: memry, name: echo}
        |                    ^
    "#);
}

#[test]
fn every_complaint_has_its_place() {
    let cases: &[(&str, u64, u64, &str)] = &[
        ("steps:\n  - wait: soon\n", 6, 11, "\"soon\" is no time"),
        ("steps:\n  - user: [a]\n", 6, 5, "a text or a mapping"),
        ("steps:\n  - usr: hello\n", 6, 5, "`usr` is not known here; there are: user, model"),
        ("steps:\n  - {}\n", 6, 5, "a step is one of user"),
        ("steps:\n  - user: a\n    wait: 1s\n", 6, 5, "not user and wait"),
        ("steps:\n  - wait: 1s\n    model: a\n", 6, 5, "model belongs to a step with user"),
        ("steps:\n  - fire: {kind: log, data: x}\n", 6, 11, "fire needs server"),
        ("steps:\n  - {server: other, fire: {kind: log, data: x}}\n", 6, 14, "\"other\" is not a built-in server"),
        ("steps:\n  - {server: memory, fire: {kind: nothing}}\n", 6, 28, "nothing to fire"),
        ("steps:\n  - allow: {server: memory, proposal: conversatoin}\n", 6, 39, "there is no proposal"),
        ("steps:\n  - user: a\n    model: {calls: [{tool: t, server: nobody}]}\n", 7, 39, "there is no server"),
        ("steps:\n  - repeat: {times: 2, steps: [{disconnect: nobody}]}\n", 6, 45, "there is no server"),
        ("host: {policy: {all: {conversation: {dedline: 1s}}}}\n", 5, 47, "unknown option \"conversation.dedline\""),
        ("host: {policy: {servers: {nobody: {hooks: {trusted: true}}}}}\n", 5, 27, "there is no server"),
        (
            "host: {policy: {all: {hooks: {trusted: maybe}}}}\n",
            5,
            40,
            "invalid value \"maybe\" for hooks.trusted: expected true or false",
        ),
        ("host:\n  layout: {nowhere: []}\n", 6, 11, "there is no place"),
        ("events:\n  - {at: 1s, times: 2, server: memory, fire: {kind: log, data: x}}\n", 6, 5, "needs every"),
        ("faults:\n  - {drop: true, duplicate: true}\n", 6, 5, "a fault is one of"),
        ("faults:\n  - {method: '[', drop: true}\n", 6, 14, "a method's pattern"),
        ("expect:\n  - {}\n", 6, 5, "an expectation is one of"),
        ("expect:\n  - {message: {}, times: 1, never: true}\n", 6, 5, "only one of"),
        ("expect:\n  - {message: {}, at_least: 0}\n", 6, 5, "always holds"),
        ("expect:\n  - {message: {pointer: {a: 1}}}\n", 6, 26, "no JSON Pointer"),
        ("expect:\n  - {message: {filter: 'dir:up'}}\n", 6, 24, "in the filter"),
        ("expect:\n  - {message: {}, after: nothing}\n", 6, 26, "there is no expectation \"nothing\""),
        ("expect:\n  - {message: {}, id: a}\n  - {message: {}, id: a}\n", 7, 23, "is called \"a\" already"),
        ("expect:\n  - {message: {}, id: a, after: a}\n", 6, 33, "after itself"),
        ("expect:\n  - {message: {}, id: a, never: true}\n  - {message: {}, after: a}\n", 7, 26, "is never met"),
        ("expect:\n  - {validates: true, within: 1s}\n", 6, 5, "takes nothing else"),
        ("expect:\n  - {prompt: {slot: nothing}}\n", 6, 21, "there is no slot"),
        ("expect:\n  - {fact: {room: nothing}}\n", 6, 19, "there is no proposal"),
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
        ("{}", "one of builtin, command and url"),
        ("{builtin: {}, url: 'http://x'}", "one of builtin, command and url"),
        ("{command: []}", "a program and its arguments"),
        ("{builtin: {}, cwd: x}", "belong to a server with a command"),
        ("{command: [a], headers: {a: b}}", "belong to a server with a url"),
        ("{builtin: {declare: [nothing]}}", "there is no proposal"),
        ("{builtin: {plans: [{after_ms: 1}]}}", "a plan: missing field `fire`"),
    ] {
        let (line, _, reported) = complaint(&format!("name: x\nservers:\n  a: {server}\n"));
        assert!(line == 3 && reported.contains(why), "{server}: {line}: {reported}");
    }
}

#[test]
fn a_server_has_its_name_for_itself() {
    let (line, _, why) = complaint("name: x\nservers:\n  a: {builtin: {}}\n  a: {builtin: {}}\n");
    assert!(line == 4 && why.contains("twice"), "{line}: {why}");
}

#[test]
fn what_is_no_yaml_is_reported() {
    let (line, _, why) = complaint("name: x\nsteps: [\n");
    assert!(line >= 2 && !why.contains("line"), "{line}: {why}");
    assert_eq!(complaint("seed: 1\n").2, "`name` is missing here");
}

#[test]
fn what_the_reader_of_yaml_cannot_take_is_reported_in_plain_words() {
    let cases: &[(&str, u64, u64, &str)] = &[
        ("name: [", 1, 7, "`name` takes a text"),
        ("name:\n  - a\n", 2, 3, "`name` takes a text"),
        ("name: x\nclock: fast\n", 2, 8, "`clock` takes one of real, virtual, not \"fast\""),
        ("name: x\nseed: many\n", 2, 7, "`seed` takes a whole number, from 0"),
        ("name: x\nsteps: {user: hi}\n", 2, 8, "`steps` takes a list: items that begin with `- `, or [one, another]"),
        ("name: x\nsteps:\n  - user: [a]\n", 3, 5, "`user` takes a text or a mapping, not a list"),
        ("name: x\nsteps:\n  - user: a\n    user: b\n", 4, 5, "`user` stands here twice"),
        ("name: x\nsteps:\n  - repeat: {steps: []}\n", 3, 14, "`times` is missing here"),
        ("name: x\nexpect:\n  - {message: {method: a}, never: y}\n", 3, 35, "`never` takes true or false"),
        (
            "name: x\nservers:\n  a: builtin\n",
            3,
            6,
            "`a` takes members: `name: value` on lines of their own, or {name: value}",
        ),
        ("hello", 1, 1, "here belongs members: `name: value` on lines of their own, or {name: value}"),
        ("name: x\n---\nname: y\n", 3, 1, "a second document begins here; only one is read"),
        ("", 1, 1, "the text ends too early: something is missing"),
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
    let reported = (4, 5, "more than 1000000 steps are done by here; repeat less".to_owned());
    assert_eq!(complaint(&text(1000)), reported);
    assert_eq!(complaint(&text(u64::MAX)), reported);
}
