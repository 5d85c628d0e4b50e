//! Tests of packs: each kind of rule with a session that breaks it and one that does not, mistakes in files, dialects.

use super::*;
use crate::proposals::Registry;
use crate::trace::{Event, EventHeader, EventKind, Flags, MessageHeader};
use crate::validate::{Report, Reporter};
use crate::wire::{Direction, Envelope, Framing};

/// The beginning of every pack here.
const HEAD: &str = "
pack: bells
title: Bells
source: the bell draft
capabilities:
  bell: {side: server, at: [experimental, bell], schema: {type: object}}
  loud: {side: client, at: [loud.er]}
methods:
  bell/ring:
    from: client
    kind: request
    params: {type: object, required: [tone], properties: {tone: {type: string}}}
  bell/rang: {from: server, kind: notification}
  bell/list: {from: client, kind: request}
";

/// A pack with these rules, each of which has its severity, text and check on a line.
fn pack(rules: &str) -> Pack {
    let text = format!("{HEAD}rules:\n{rules}");
    Pack::read(&text).unwrap_or_else(|error| panic!("{error}"))
}

/// One rule named `it`.
fn rule(check: &str) -> Pack {
    pack(&format!("  it: {{severity: error, text: A sentence., {check}}}"))
}

/// Checks messages, each with its seconds and its direction (`>` to the server), after a handshake in which the server
/// declares these capabilities.
fn checked(pack: Pack, server: &str, messages: &[(i64, &str)]) -> Report {
    let initialize = r#">{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
    let answer = format!(
        r#"<{{"jsonrpc":"2.0","id":0,"result":{{"protocolVersion":"2025-11-25","capabilities":{server},"serverInfo":{{"name":"s","version":"1"}}}}}}"#
    );
    let ready = r#">{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let handshake = [(0, initialize), (0, &*answer), (0, ready)];
    let registry = Registry::with([pack.into_proposal()]);
    let mut reporter = Reporter::new(registry);
    for (at, (time, message)) in handshake.iter().chain(messages).enumerate() {
        observe(&mut reporter, at as u64, *time, message);
    }
    reporter.finish()
}

fn observe(reporter: &mut Reporter, seq: u64, time: i64, message: &str) {
    let (mark, body) = message.split_at(1);
    let direction = if mark == ">" { Direction::ClientToServer } else { Direction::ServerToClient };
    let envelope = Envelope::scan(body.as_bytes());
    let header = EventHeader {
        seq,
        time: time * 1_000_000_000,
        stream: 0,
        exchange: 0,
        kind: EventKind::Message,
        flags: Flags::toward(direction),
        framing: Framing::Lf,
        len: u32::try_from(body.len()).expect("short"),
        offset: 0,
        message: Some(MessageHeader { kind: envelope.kind, method: None, id: None }),
    };
    reporter.observe(&Event { header: &header, payload: body.as_bytes() });
}

/// What a pack's rules found: the rule and what was seen.
fn found(pack: Pack, server: &str, messages: &[(i64, &str)]) -> Vec<String> {
    let report = checked(pack, server, messages);
    let ours = report.findings.iter().filter(|finding| finding.rule.id.starts_with("bells/"));
    ours.map(|finding| format!("{}: {}", finding.rule.id, finding.seen)).collect()
}

const RING: &str = r#">{"jsonrpc":"2.0","id":1,"method":"bell/ring","params":{"tone":"a"}}"#;
const RUNG: &str = r#"<{"jsonrpc":"2.0","id":1,"result":{}}"#;
const RANG: &str = r#"<{"jsonrpc":"2.0","method":"bell/rang","params":{"tone":"a"}}"#;
const RANG_B: &str = r#"<{"jsonrpc":"2.0","method":"bell/rang","params":{"tone":"b"}}"#;
const BELL: &str = r#"{"experimental":{"bell":{"ringing":true}}}"#;

/// Expects that the first session breaks the rule once, with this text, and that the second does not, but exercises it.
fn judged(pack: impl Fn() -> Pack, bad: (&str, &[(i64, &str)], &str), good: (&str, &[(i64, &str)])) {
    let (server, messages, seen) = bad;
    assert_eq!(found(pack(), server, messages), [format!("bells/it: {seen}")]);
    let (server, messages) = good;
    assert_eq!(found(pack(), server, messages), [""; 0]);
    let report = checked(pack(), server, messages);
    assert!(report.connections[0].verdicts.exercised().any(|id| id == "bells/it"), "not exercised");
}

#[test]
fn requires_capability() {
    let pack = || rule("requires-capability: {message: bell/ring, capability: bell}");
    let seen = "the client sent bell/ring, but the server did not declare experimental.bell";
    judged(pack, ("{}", &[(1, RING)], seen), (BELL, &[(1, RING)]));
    let pack = || rule("requires-capability: {message: bell/rang, capability: bell, member: ringing}");
    let seen = "the server sent bell/rang, but the server did not declare experimental.bell.ringing";
    judged(pack, (r#"{"experimental":{"bell":{}}}"#, &[(1, RANG)], seen), (BELL, &[(1, RANG)]));
}

#[test]
fn answered_within() {
    let pack = || rule("answered-within: {message: bell/ring, time: 5s}");
    let late = "bell/ring (event 3) was answered after 6s, not within 5s";
    judged(pack, (BELL, &[(1, RING), (7, RUNG)], late), (BELL, &[(1, RING), (6, RUNG)]));
    assert_eq!(
        found(pack(), BELL, &[(1, RING), (7, RANG)]),
        ["bells/it: bell/ring was not answered within 5s"],
        "never answered"
    );
    assert_eq!(found(pack(), BELL, &[(1, RING), (5, RANG)]), [""; 0], "the time is not over");
    let pack = || rule("answered-within: {message: bell/ring, time: 5s, key: /params/tone, by: bell/rang}");
    let never = "bell/ring was not answered within 5s";
    judged(pack, (BELL, &[(1, RING), (2, RANG_B), (9, RANG_B)], never), (BELL, &[(1, RING), (2, RANG), (9, RANG_B)]));
    assert_eq!(found(pack(), BELL, &[(1, RING), (2, RUNG), (9, RANG_B)]), [""; 0], "its response answers it, too");
}

#[test]
fn unique_by() {
    let pack = || rule("unique-by: {message: bell/rang, key: /params/tone}");
    let seen = r#"the server sent bell/rang with the tone "a", as in event 3"#;
    judged(pack, (BELL, &[(1, RANG), (2, RANG)], seen), (BELL, &[(1, RANG), (2, RANG_B)]));
    let pack = || rule("unique-by: {message: bell/ring result, each: /result/bells/*, key: /id, per: /room}");
    let rung = |bells: &str| format!(r#"<{{"jsonrpc":"2.0","id":1,"result":{{"bells":[{bells}]}}}}"#);
    let (twice, once) =
        (rung(r#"{"id":1,"room":"x"},{"id":1,"room":"x"}"#), rung(r#"{"id":1,"room":"x"},{"id":1,"room":"y"}"#));
    let seen = "the server sent a result of bell/ring with the id 1, as in event 4";
    judged(pack, (BELL, &[(1, RING), (2, &twice)], seen), (BELL, &[(1, RING), (2, &once)]));
}

#[test]
fn only_after() {
    let pack = || rule("only-after: {message: bell/rang, after: bell/ring result}");
    let seen = "the server sent bell/rang, but no result of bell/ring came before it";
    judged(pack, (BELL, &[(1, RING), (2, RANG)], seen), (BELL, &[(1, RING), (2, RUNG), (3, RANG)]));
    let pack = || rule("only-after: {message: bell/rang, key: /params/tone, after: bell/ring, once: true}");
    let seen = r#"the server sent bell/rang with the tone "a" again after one bell/ring"#;
    judged(pack, (BELL, &[(1, RING), (2, RANG), (3, RANG)], seen), (BELL, &[(1, RING), (2, RANG)]));
    let seen = r#"bells/it: the server sent bell/rang with the tone "b", but no bell/ring came before it"#;
    assert_eq!(found(pack(), BELL, &[(1, RING), (2, RANG_B)]), [seen]);
    let pack = || rule("only-after: {message: bell/rang, after: bell/ring, until: bell/ring result}");
    let seen = "the server sent bell/rang, but no bell/ring came before it, or result of bell/ring ended it";
    judged(pack, (BELL, &[(1, RING), (2, RUNG), (3, RANG)], seen), (BELL, &[(1, RING), (2, RANG), (3, RUNG)]));
    let keyed = || rule("only-after: {message: bell/rang, key: /params/id, after: {message: bell/ring, key: /id}}");
    let rang = |id: &str| format!(r#"<{{"jsonrpc":"2.0","method":"bell/rang","params":{{"id":{id}}}}}"#);
    let seen = r#"the server sent bell/rang with the id "1", but no bell/ring came before it"#;
    judged(keyed, (BELL, &[(1, RING), (2, &rang("\"1\""))], seen), (BELL, &[(1, RING), (2, &rang("1"))]));
}

#[test]
fn a_method_for_the_modern_era_is_carried_there() {
    let (_, text) = SHIPPED.iter().find(|(name, _)| *name == "mcp-events").expect("a shipped pack");
    let list = r#">{"jsonrpc":"2.0","id":1,"method":"events/list","params":{"_meta":{
        "io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let registry = Registry::with([Pack::read(text).expect("complete").into_proposal()]);
    let mut reporter = Reporter::new(registry);
    observe(&mut reporter, 0, 0, list);
    let all = reporter.finish();
    let verdict =
        |rule: &str| all.connections[0].verdicts.all().find(|(id, _)| *id == rule).map(|(_, verdict)| verdict);
    assert_eq!(verdict("method/not-in-revision"), Some(crate::proposals::findings::Verdict::Passed));
}

#[test]
fn a_pack_defines_error_codes_of_its_own_methods() {
    let bells =
        || Pack::read(&format!("{HEAD}errors: {{\"-32050\": no clapper}}")).unwrap_or_else(|error| panic!("{error}"));
    let refused = |code: i64| {
        let answer = format!(r#"<{{"jsonrpc":"2.0","id":1,"error":{{"code":{code},"message":"no"}}}}"#);
        let report = checked(bells(), r#"{"experimental":{"bell":{}}}"#, &[(1, RING), (1, &answer)]);
        report.findings.iter().map(|finding| finding.rule.id).collect::<Vec<_>>()
    };
    assert_eq!(refused(-32050), [""; 0]);
    assert_eq!(refused(-32051), ["method/reserved-code"]);
}

#[test]
fn matches_schema() {
    let pack = || rule(r#"matches-schema: {message: bell/ring, value: /params/tone, schema: {pattern: "^[b-z]"}}"#);
    let seen = r#"the client sent bell/ring, at /params/tone: "a" does not match "^[b-z]""#;
    let other = RING.replace("\"a\"", "\"c\"");
    judged(pack, (BELL, &[(1, RING)], seen), (BELL, &[(1, &other)]));
    // A result is seen together with its request.
    let whole = "{if: {properties: {request: {properties: {params: {properties: {tone: {const: a}}}}}}}, then: {properties: {result: {required: [ok]}}}}";
    let pack = || rule(&format!("matches-schema: {{message: bell/ring result, schema: {whole}}}"));
    let seen = r#"the server sent a result of bell/ring, at /result: "ok" is a required property"#;
    judged(pack, (BELL, &[(1, RING), (2, RUNG)], seen), (BELL, &[(1, &other), (2, RUNG)]));
}

#[test]
fn matches_schema_of() {
    let check = "matches-schema-of: {message: bell/rang, value: /params/data, key: /params/tone, from: {message: bell/list result, each: /result/bells/*, key: /tone, schema: /schema}}";
    let pack = || rule(check);
    let list = r#">{"jsonrpc":"2.0","id":2,"method":"bell/list"}"#;
    let listed = r#"<{"jsonrpc":"2.0","id":2,"result":{"bells":[{"tone":"a","schema":{"type":"integer"}},{"tone":"b","schema":{"type":"nothing"}}]}}"#;
    let rang = |data: &str| RANG.replace("\"a\"", &format!("\"a\",\"data\":{data}"));
    let seen = r#"the server sent bell/rang that is not as the schema of "a" says: "x" is not of type "integer""#;
    judged(
        pack,
        (BELL, &[(1, list), (2, listed), (3, &rang("\"x\""))], seen),
        (BELL, &[(1, list), (2, listed), (3, &rang("7"))]),
    );
    let unusable = RANG_B.replace("\"b\"", "\"b\",\"data\":7");
    assert_eq!(found(pack(), BELL, &[(1, list), (2, listed), (3, &unusable)]), [""; 0], "a wrong schema says nothing");
    assert_eq!(found(pack(), BELL, &[(1, &rang("\"x\""))]), [""; 0], "no schema is known");
}

/// Two dialects, and a rule for one of them.
fn dialects() -> Pack {
    let text = format!(
        "{HEAD}dialects:
  old: {{about: Old., signs: [{{message: bell/ring result, matches: {{properties: {{result: {{required: [old]}}}}}}}}]}}
  new: {{about: New., signs: [{{message: initialize result, declares: [bell]}}]}}
rules:
  it: {{severity: error, text: A sentence., one-dialect: {{}}}}
  new-only: {{severity: error, text: A sentence., dialects: [new], matches-schema: {{message: bell/rang, value: /params, schema: {{required: [x]}}}}}}
"
    );
    Pack::read(&text).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn dialects_are_recognised() {
    let old = RUNG.replace("{}", r#"{"old":1}"#);
    let seen = "the server sent a result of bell/ring in the dialect old, but the session uses new";
    judged(dialects, (BELL, &[(1, RING), (2, &old)], seen), (BELL, &[(1, RING), (2, RUNG)]));
    assert_eq!(found(dialects(), BELL, &[(1, RANG)]).len(), 1, "a rule of the session's dialect");
    assert_eq!(found(dialects(), "{}", &[(1, RING), (2, &old), (3, RANG)]), [""; 0], "a rule of another dialect");
    let declared = &checked(dialects(), BELL, &[]).connections[0].declared;
    assert_eq!((declared[0].proposal, declared[0].dialect), ("bells", Some("new")));
}

#[test]
fn missing_messages_cause_no_finding() {
    let rules = "
  after: {severity: error, text: A sentence., only-after: {message: bell/rang, after: bell/ring}}
  soon: {severity: error, text: A sentence., answered-within: {message: bell/ring, time: 1s}}
";
    let registry = Registry::with([pack(rules).into_proposal()]);
    let mut reporter = Reporter::new(registry);
    observe(&mut reporter, 0, 0, RING);
    reporter.validator.lose_track();
    observe(&mut reporter, 2, 5, RANG);
    let report = reporter.finish();
    assert!(report.findings.iter().all(|finding| !finding.rule.id.starts_with("bells/")), "{:?}", report.findings);
}

#[test]
fn a_full_table_says_that_it_was_not_observed() {
    let pack = rule("unique-by: {message: bell/rang, key: /params/tone}");
    let many: Vec<String> = (0..5000).map(|at| RANG.replace("\"a\"", &at.to_string())).collect();
    let messages: Vec<(i64, &str)> = many.iter().map(|message| (1, &**message)).collect();
    let report = checked(pack, BELL, &messages);
    assert!(report.connections[0].verdicts.not_observed().any(|id| id == "bells/it"));
}

#[test]
fn mistakes_have_places() {
    let wrong = |from: &str, to: &str, rules: &str| {
        let rules = if rules.is_empty() { " {}" } else { rules };
        let text = format!("{HEAD}rules:{rules}").replace(from, to);
        let error = Pack::read(&text).expect_err(to);
        (error.place.line, error.why)
    };
    let line_of = |part: &str| HEAD.lines().position(|line| line.contains(part)).expect(part) as u64 + 1;
    for (from, to, part, why) in [
        ("pack: bells", "pack: Bells!", "pack:", "is no name"),
        ("pack: bells", "pack: mcpl", "pack:", "choose another"),
        ("from: client", "from: nobody", "from: client", "must be one of client, server, either, not \"nobody\""),
        ("bell/list:", "tools/list:", "bell/list", "a method of MCP itself"),
        ("bell/list:", "push/event:", "bell/list", "of the proposal mcpl"),
        ("bell/list: {", "bell/list: {summary: '{x', ", "bell/list", "invalid summary: a brace { is not closed"),
        ("bell/list: {", "bell/list: {since: 2025-01-01, ", "bell/list", "is not a revision of MCP"),
        ("type: string", "type: sting", "params:", "invalid schema, at /properties/tone/type"),
        ("type: string", "$ref: '#/$defs/None'", "params:", "unusable schema"),
        ("title: Bells", "titel: Bells", "title:", "unknown member `titel`; known members: pack, title"),
        ("schema: {type: object}}", "has-only: [], has-one-of: []}", "bell:", "both has-one-of and has-only"),
        ("[loud.er]", "[]", "loud:", "names no member"),
    ] {
        let (line, seen) = wrong(from, to, "");
        assert!(seen.contains(why), "{to}: {seen}");
        assert_eq!(line, line_of(part), "{to}: {seen}");
    }
    let last = HEAD.lines().count() as u64 + 2;
    for (check, why) in [
        ("severity: error, text: x", "exactly one of requires-capability"),
        ("severity: error, text: x, one-dialect: {}, unique-by: {message: bell/ring, key: /id}", "exactly one of"),
        ("severity: error, text: x, dialects: [x], one-dialect: {}", "no dialect is named \"x\"; the pack has none"),
        ("severity: error, text: x, unique-by: {message: bell/rung, key: /id}", "bell/rung is no method of the pack"),
        ("severity: error, text: x, unique-by: {message: bell/ring later, key: /id}", "expected result or error"),
        ("severity: error, text: x, unique-by: {message: bell/ring, key: id}", "begins with a slash"),
        ("severity: error, text: x, unique-by: {message: bell/ring, key: /a/*}", "only be in `each`"),
        ("severity: error, text: x, unique-by: {message: [], key: /a}", "names no method"),
        (
            "severity: error, text: x, requires-capability: {message: bell/ring, capability: x}",
            "the pack has bell, loud",
        ),
        ("severity: error, text: x, answered-within: {message: bell/ring, time: 1s, key: /id}", "only with `by`"),
        (
            "severity: error, text: x, only-after: {message: bell/ring, after: {message: bell/rang, key: /id}}",
            "the rule has none",
        ),
    ] {
        let (line, seen) = wrong("no such text", "", &format!("\n  it: {{{check}}}\n"));
        assert!(seen.contains(why), "{check}: {seen}");
        assert_eq!(line, last, "{check}: {seen}");
    }
}

#[test]
fn the_shipped_packs_are_complete() {
    for (name, text) in SHIPPED {
        let pack = Pack::read(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(pack.name(), *name);
        let proposal = pack.into_proposal();
        let descriptor = proposal.descriptor();
        for (method, text) in descriptor.texts {
            assert!(text.ends_with('.') && !text.starts_with("A method of"), "{method}");
            let examples = proposal.samples().messages;
            let example = examples.iter().find(|one| one.method == *method).unwrap_or_else(|| panic!("{method}"));
            let violations = descriptor.schemas.check(&format!("{method}:params"), &example.params);
            assert_eq!(violations, Some(Vec::new()), "{method}");
        }
        assert!(proposal.rules().iter().all(|rule| rule.text.ends_with(['.', ')']) && !rule.source.is_empty()));
    }
}

#[test]
fn packs_and_proposals_make_one_registry() {
    let registry = Registry::with([rule("one-dialect: {}").into_proposal()]);
    assert_eq!(registry.packs().count(), 1);
    assert!(registry.names().ends_with("mcpe, bells"));
    assert_eq!(registry.of_method("bell/ring").map(|it| it.descriptor().name), Some("bells"));
    assert_eq!(registry.of_method("push/event").map(|it| it.descriptor().name), Some("mcpl"));
    assert!(registry.method_spec("bell/rang").is_some() && registry.method_spec("tools/call").is_some());
    assert!(Registry::built_in().of_method("bell/ring").is_none());
    assert!(std::ptr::eq(Registry::with([]), Registry::built_in()));
}
