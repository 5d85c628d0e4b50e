//! Tests of whole scenarios in virtual time.

use super::*;
use crate::scenario::Verdict;
use crate::wire::Envelope;

struct Played {
    report: Report,
    prompts: Vec<String>,
    messages: Vec<(Duration, String)>,
}

fn play(text: &str) -> Played {
    let scenario = Scenario::read(text).unwrap_or_else(|error| panic!("{error}"));
    let (mut prompts, mut messages) = (Vec::new(), Vec::new());
    let mut observe = |now: Duration, seen: &Observation<'_>| match seen {
        Observation::Prompt(prompt) => prompts.push(prompt.to_value().to_string()),
        Observation::Message { bytes, .. } => messages.push((now, String::from_utf8_lossy(bytes).into_owned())),
        _ => {}
    };
    let around =
        SimulationContext { wall_base_ns: 0, model: &mut |prompt| Ok(ModelReply::echo(prompt)), observe: &mut observe };
    let report = simulate(&scenario, around).unwrap_or_else(|error| panic!("{error}"));
    Played { report, prompts, messages }
}

/// The verdicts on the expectations, in order.
fn verdicts(report: &Report) -> Vec<Verdict> {
    report.expectations.iter().map(crate::scenario::Judged::verdict).collect()
}

fn whys(report: &Report) -> Vec<String> {
    let of = |one: &crate::scenario::Judged| one.failure.as_ref().map(|failure| failure.why.clone());
    report.expectations.iter().filter_map(of).collect()
}

use Verdict::{Failed, NotReached, Passed};

const ONE: &str = "
name: one server
servers:
  memory: {builtin: {}}
";

/// A server without hooks, which would use its tools.
const PLAIN: &str = "
name: one server
servers:
  memory: {builtin: {declare: [conversation]}}
";

#[test]
fn a_turn_asks_the_server_and_its_answer_stands_in_the_prompt() {
    let played = play(&format!(
        "{ONE}
steps:
  - user: what about the database schema?
    model: [{{calls: [{{tool: add_note, arguments: {{text: seen}}}}]}}, done]
    expect:
      - message: {{server: memory, direction: c2s, method: conversation/userMessage, content: {{content: what about the database schema?}}}}
        times: 1
        id: asked
      - message: {{direction: s2c, method: 'conversation/*'}}
        after: asked
      - message: {{filter: 'tool:add_note dir:s2c', pointer: {{/content/0/type: text}}}}
      - prompt: {{round: 1, server: memory, slot: conversation.context, contains: one table per tenant}}
      - prompt: {{lacks: no such words}}
      - fact: {{proposal: host, what: prompt, data: {{turn: 1}}}}
        times: 2
"
    ));
    assert_eq!(verdicts(&played.report), [Passed; 6], "{:?}", played.report);
    assert!(played.report.is_passed());
    assert_eq!(played.prompts.len(), 3);
}

#[test]
fn what_does_not_hold_is_reported_with_what_came_nearest() {
    let played = play(&format!(
        "{ONE}
steps:
  - user: hello
    model: ok
    expect:
      - message: {{direction: c2s, method: conversation/userMessage, content: {{content: goodbye}}}}
      - message: {{direction: c2s, method: conversation/userMessage}}
        never: true
      - prompt: {{lacks: hello}}
      - message: {{method: nothing/at/all}}
        within: 3s
      - message: {{method: conversation/userMessage, direction: s2c}}
        after: last
      - message: {{method: tools/list}}
        id: last
  - tool: {{server: memory, name: add, arguments: {{a: 1, b: 2}}}}
    expect:
      - result: {{pointer: /content/0/text, equals: '{{\"sum\":4}}'}}
      - result: {{contains: '3'}}
expect:
  - validates: true
"
    ));
    let mut report = played.report;
    assert_eq!(
        verdicts(&report),
        [Failed, Failed, Failed, Failed, Failed, Failed, Failed, Passed, NotReached],
        "{report:?}"
    );
    let whys = whys(&report);
    assert_eq!(whys[0], r#"not seen; the closest candidate does not match: /content is "hello", not "goodbye""#);
    assert_eq!(whys[1], "seen once, expected never");
    assert_eq!(whys[2], r#"it contains "hello""#);
    assert_eq!(whys[3], "not seen");
    assert_eq!(whys[4], r#"not seen; the closest candidate does not match: it arrived before "last" was met"#);
    assert_eq!(
        whys[6],
        r#"not seen; the closest candidate does not match: /content/0/text is "{\"sum\":3}", not "{\"sum\":4}""#
    );
    let nearest = report.expectations[0].failure.as_ref().and_then(|failure| failure.nearest.as_deref());
    assert!(nearest.is_some_and(|nearest| nearest.starts_with("c2s {")), "{nearest:?}");
    assert_eq!(report.expectations[3].failure.as_ref().map(|failure| failure.at.as_secs()), Some(3));
    report.validated(&["proposal/rule: broken".to_owned()]);
    assert_eq!(verdicts(&report).last(), Some(&Failed));
    assert!(!report.is_passed());
}

#[test]
fn faults_happen_to_the_messages_they_name() {
    let played = play(&format!(
        "{PLAIN}
host: {{policy: {{all: {{conversation: {{deadline: 250ms}}}}}}}}
steps:
  - user: the database schema
    model: ok
    expect: [prompt: {{slot: conversation.context, contains: tenant}}]
  - user: the database schema
    model: ok
    expect:
      - prompt: {{lacks: tenant}}
      - fact: {{proposal: conversation, what: late, server: memory}}
        within: 1s
  - tool: {{name: echo, arguments: {{message: x}}}}
    expect:
      - message: {{method: tools/call, direction: c2s}}
        times: 2
  - tool: {{name: echo, arguments: {{message: y}}}}
    expect: [fact: {{what: gone}}, result: {{pointer: /error, contains: cut}}]
faults:
  - {{server: memory, direction: s2c, method: 'conversation/*', nth: 2, delay: 300ms}}
  - {{direction: c2s, method: tools/call, nth: 1, duplicate: true}}
  - {{direction: c2s, method: tools/call, nth: 2, disconnect: true}}
  - {{method: never/sent, drop: true}}
"
    ));
    assert!(played.report.is_passed(), "{:?}", played.report);
    assert_eq!(played.report.faults.iter().map(|fault| fault.hits).collect::<Vec<_>>(), [1, 1, 1, 0]);
}

#[test]
fn what_was_sent_before_a_cut_at_the_same_time_arrives() {
    let played = play(&format!(
        "{PLAIN}
steps: [user: hello]
faults: [{{direction: c2s, method: tools/list, disconnect: true}}]
"
    ));
    let arrived: Vec<&str> = played.messages.iter().map(|(_, text)| text.as_str()).collect();
    assert!(arrived.last().is_some_and(|text| text.contains("notifications/initialized")), "{arrived:?}");
    assert_eq!(played.report.faults[0].hits, 1);
}

#[test]
fn dropped_and_garbled_messages_do_not_arrive() {
    let played = play(&format!(
        "{PLAIN}
steps:
  - tool: {{name: echo, arguments: {{message: x}}}}
    expect: [result: {{pointer: /error, contains: no response in time}}]
  - tool: {{name: echo, arguments: {{message: y}}}}
    expect: [result: {{pointer: /error}}]
faults:
  - {{direction: s2c, method: tools/call, nth: 1, drop: true}}
  - {{direction: s2c, method: tools/call, nth: 2, malformed: '{{\"jsonrpc\": '}}
"
    ));
    assert!(played.report.is_passed(), "{:?}", played.report);
    assert_eq!(played.report.took, Duration::from_secs(60));
}

#[test]
fn where_nothing_more_happens_the_scenario_ends_and_says_where() {
    let played = play(&format!(
        "{PLAIN}
host: {{policy: {{all: {{host: {{tool_timeout: none}}}}}}}}
steps:
  - tool: {{name: echo, arguments: {{message: x}}}}
    expect: [message: {{method: tools/call, direction: s2c}}]
  - user: never said
    expect: [prompt: {{contains: never said}}]
faults: [{{direction: s2c, method: tools/call, drop: true}}]
"
    ));
    let report = played.report;
    assert_eq!(verdicts(&report), [Failed, NotReached], "{report:?}");
    assert_eq!(report.problems.len(), 1);
    assert_eq!((report.problems[0].place.line, report.steps), (8, 1));
}

#[test]
fn events_come_at_their_times_beside_the_steps() {
    let played = play(&format!(
        "{ONE}
events:
  - {{at: 5s, every: 10s, times: 3, server: memory, fire: {{kind: reminder, body: look}}}}
steps:
  - wait: 3600
expect:
  - message: {{method: notifications/reminder}}
    times: 3
  - message: {{method: notifications/reminder}}
    within: 5s
  - message: {{method: notifications/reminder}}
    within: 4999ms
"
    ));
    assert_eq!(verdicts(&played.report), [Passed, Passed, Failed], "{:?}", played.report);
    assert_eq!(whys(&played.report), ["seen only after 5s"]);
    let times: Vec<u64> = played
        .messages
        .iter()
        .filter(|(_, text)| text.contains("notifications/reminder"))
        .map(|(at, _)| at.as_secs())
        .collect();
    assert_eq!(times, [5, 15, 25]);
    assert_eq!(played.report.took.as_secs(), 3601);
}

#[test]
fn repeated_steps_count_in_their_texts() {
    let played = play(&format!(
        "{ONE}
steps:
  - repeat:
      times: 3
      steps:
        - user: message {{n}}
          model: answer {{n}}
          expect:
            - message: {{method: conversation/userMessage, content: {{content: 'message {{n}}'}}}}
            - prompt: {{contains: message 2}}
        - server: memory
          fire: {{kind: reminder, body: 'reminder {{n}}', ttlTurns: 1}}
"
    ));
    let report = &played.report;
    assert_eq!(verdicts(report), [Passed, Failed], "{report:?}");
    assert_eq!((report.expectations[0].judged, report.expectations[1].failed), (3, 1));
    assert_eq!(report.expectations[1].failure.as_ref().and_then(|failure| failure.repeat), Some(1));
    assert!(played.prompts[2].contains("reminder 2") && !played.prompts[2].contains("reminder 1"));
    assert_eq!(report.steps, 6);
}

#[test]
fn each_repetition_begins_anew() {
    let played = play(&format!(
        "{PLAIN}
steps:
  - repeat:
      times: 2
      steps:
        - user: message {{n}}
          expect:
            - message: {{method: conversation/userMessage, content: {{content: message 1}}}}
              id: first
            - message: {{method: conversation/userMessage, direction: s2c}}
              after: first
"
    ));
    let failed: Vec<u64> = played.report.expectations.iter().map(|one| one.failed).collect();
    assert_eq!(failed, [1, 1], "{:?}", played.report);
}

#[test]
fn too_few_is_not_exactly_and_a_part_of_a_list_is_not_the_list() {
    let played = play(&format!(
        "{PLAIN}
steps:
  - tool: {{name: echo, arguments: {{message: x}}}}
    expect:
      - message: {{method: tools/call, direction: c2s}}
        times: 2
      - message: {{method: tools/call, direction: s2c, content: {{content: []}}}}
      - message: {{method: tools/call, direction: s2c, content: {{content: [{{type: text}}]}}}}
"
    ));
    assert_eq!(verdicts(&played.report), [Failed, Failed, Passed], "{:?}", played.report);
    assert_eq!(whys(&played.report)[0], "seen once, expected exactly 2 times");
}

#[test]
fn the_other_steps_do_what_they_say() {
    let steps = "
host: {project: demo}
steps:
  - revoke: {server: memory, proposal: conversation}
  - user: the database schema
    expect: [{prompt: {slot: conversation.context, lacks: tenant}}]
  - allow: {server: memory}
  - user: {text: the database schema, agent: sub}
    expect: [{message: {method: conversation/userMessage}, never: true}]
  - request: {server: memory, method: tools/list}
    expect: [{result: {pointer: /tools/0/name, equals: echo}}]
  - hook: {event: post_tool_use, tool_name: add_note, tool_input: {}}
  - compact: {summary: it was about the schema}
  - user: go on
    expect:
      - prompt: {contains: it was about the schema}
      - prompt: {slot: hooks.tool_use, contains: add_note}
  - disconnect: memory
    expect: [{fact: {what: gone}}]
  - server: memory
    fire: {kind: log, data: x}
  - hook: {event: nothing}
  - tool: {server: memory, name: echo}
";
    let played = play(&(ONE.to_owned() + steps));
    let report = played.report;
    assert_eq!(verdicts(&report), [Passed; 6], "{report:?}");
    let problems: Vec<&str> = report.problems.iter().map(|problem| problem.why.as_str()).collect();
    assert_eq!(problems.len(), 3, "{problems:?}");
    assert!(problems[0].contains("disconnected") && problems[1].contains("session_start"), "{problems:?}");
}

#[test]
fn servers_with_a_time_of_their_own_are_refused() {
    let scenario = Scenario::read("name: x\nservers:\n  a: {command: [cat]}\n").expect("reads");
    let (mut model, mut observe) =
        (|prompt: &Prompt| Ok(ModelReply::echo(prompt)), |_: Duration, _: &Observation<'_>| {});
    let around = SimulationContext { wall_base_ns: 0, model: &mut model, observe: &mut observe };
    let error = simulate(&scenario, around).expect_err("refused");
    assert!(error.to_string().starts_with("the server \"a\" (line 3) is not built in"), "{error}");
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let text =
        format!("{ONE}steps: [{{user: the database schema}}, {{tool: {{name: echo, arguments: {{message: x}}}}}}]");
    let (one, other) = (play(&text), play(&text));
    assert_eq!(one.messages, other.messages);
    assert_eq!(one.prompts, other.prompts);
    // Messages of the same time arrive in order.
    let methods = one.messages[..4].iter().map(|(_, text)| Envelope::scan(text.as_bytes()).method.map(String::from));
    let methods: Vec<String> = methods.flatten().collect();
    assert_eq!(methods, ["initialize", "notifications/initialized", "tools/list"]);
    let reseeded = play(&format!("seed: 8\n{text}"));
    assert_ne!(one.messages, reseeded.messages);
}
