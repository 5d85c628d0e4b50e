use super::parse::MAX_DEPTH;
use super::terms::kinds;
use super::*;
use crate::trace::MessageHeader;
use crate::wire::Framing;
use proptest::prelude::*;
use serde_json::Value;

fn header(kind: MessageKind, direction: Direction, id: i64, len: u32) -> EventHeader {
    EventHeader {
        seq: 0,
        time: 0,
        stream: 0,
        exchange: 0,
        kind: EventKind::Message,
        flags: Flags::toward(direction),
        framing: Framing::Lf,
        len,
        offset: 0,
        message: Some(MessageHeader { kind, method: None, id: Some(RecordedId::Integer(id)) }),
    }
}

fn passes(filter: &str) -> Option<bool> {
    let header = header(MessageKind::Request, Direction::ClientToServer, 7, 12_000);
    let body = br#"{"method":"tools/call","params":{"name":"Bash","arguments":{"c":"git Commit"}}}"#;
    let input = FilterInput { method: Some("tools/call"), body: Some(body), ..FilterInput::of(&header) };
    let parsed = Filter::parse(filter).expect(filter);
    let with = parsed.decide(&input);
    let without = parsed.decide(&FilterInput { body: None, ..input });
    assert!(without.is_none() || without == with, "{filter}");
    with
}

#[test]
fn a_batch_matches_if_one_of_its_messages_does() {
    let header = header(MessageKind::Batch, Direction::ServerToClient, 0, 100);
    let body = br#"[{"id":1,"result":{"isError":true,"content":[]}},{"id":"x","error":{"code":1,"message":"m"}},
        {"id":3,"method":"tools/call","params":{"name":"b"}},{"method":"push/event"}]"#;
    let input = FilterInput { body: Some(body), ..FilterInput::of(&header) };
    for (filter, passes) in [
        ("error", true),
        ("kind:error", true),
        ("kind:batch", true),
        ("kind:blank", false),
        ("id:x", true),
        ("id:3", true),
        ("id:4", false),
        ("tool:b", true),
        ("tool:c", false),
        ("method:push/*", true),
        ("ext:mcpl", true),
        ("ext:mcpe", false),
        ("not error", false),
    ] {
        let parsed = Filter::parse(filter).expect(filter);
        assert_eq!(parsed.decide(&input), Some(passes), "{filter}");
        let without = parsed.decide(&FilterInput { body: None, ..input });
        assert_eq!(without, (filter == "kind:batch").then_some(true), "{filter}");
    }
}

#[test]
fn responses_in_a_batch_match_by_their_requests() {
    let header = header(MessageKind::Batch, Direction::ServerToClient, 0, 100);
    let body = br#"[{"id":1,"result":{}},{"id":2,"result":{}},{"id":3,"method":"ping"}]"#;
    let answered =
        |method: &str, tool: Option<&str>| Some(AnsweredRequest { method: method.into(), tool: tool.map(Into::into) });
    let answered = [None, answered("tools/call", Some("events_subscribe")), None];
    let input = FilterInput { body: Some(body), answered: &answered, ..FilterInput::of(&header) };
    for (filter, passes) in [
        ("method:tools/call", true),
        ("tool:events_*", true),
        ("ext:mcpe", true),
        ("tool:echo", false),
        ("method:ping", true),
        ("method:tools/list", false),
    ] {
        assert_eq!(Filter::parse(filter).expect(filter).decide(&input), Some(passes), "{filter}");
    }
}

#[test]
fn terms_and_their_combinations() {
    for yes in [
        "",
        "method:tools/*",
        "method:* dir:c2s",
        "tool:Ba*",
        "kind:request id:7",
        "size:>10k size:<=12k",
        "text:commit",
        "text:\"git commit\"",
        "not error",
        "dir:s2c or tool:Bash",
        "not (dir:s2c or error) and (text:git)",
        "stream:0 event:message",
    ] {
        assert_eq!(passes(yes), Some(true), "{yes}");
    }
    for no in ["method:resources/*", "dir:s2c", "ext:mcpl", "slow:>1ms", "kind:response", "not text:git", "injected"] {
        assert_eq!(passes(no), Some(false), "{no}");
    }
}

#[test]
fn a_handshake_belongs_to_the_proposals_it_declares() {
    let header = header(MessageKind::Result, Direction::ServerToClient, 0, 100);
    let body = br#"{"id":0,"result":{"capabilities":{"hooks":{"declarations":[]},"experimental":{"mcpl":{}}}}}"#;
    let input = FilterInput { method: Some("initialize"), body: Some(body), ..FilterInput::of(&header) };
    let decide = |filter: &str| Filter::parse(filter).expect(filter).decide(&input);
    assert_eq!((decide("ext:hooks"), decide("ext:mcpl"), decide("ext:mcpe")), (Some(true), Some(true), Some(false)));
}

#[test]
fn a_filter_reports_what_it_looks_at() {
    let asks = |text: &str| {
        let filter = Filter::parse(text).expect(text);
        (filter.needs_calls(), filter.names_events())
    };
    assert_eq!(asks("dir:s2c not (error or tool:Bash)"), (true, false));
    assert_eq!(asks("ext:mcpe"), (true, false));
    assert_eq!(asks("method:x or event:note"), (false, true));
    assert_eq!(asks(""), (false, false));
}

#[test]
fn latency_is_compared_in_its_unit() {
    let header = header(MessageKind::Result, Direction::ServerToClient, 7, 10);
    let input = FilterInput { latency: Some(600_000_000), ..FilterInput::of(&header) };
    assert_eq!(Filter::parse("slow:>500ms").expect("parses").decide(&input), Some(true));
    assert_eq!(Filter::parse("slow:>0.7s").expect("parses").decide(&input), Some(false));
}

#[test]
fn what_is_nested_too_deep_for_the_stack_is_refused() {
    let nested = |levels: usize| format!("{}error{}", "(".repeat(levels), ")".repeat(levels));
    assert!(Filter::parse(&format!("{0} {0}", nested(MAX_DEPTH))).is_ok(), "closed parentheses no longer count");
    for deep in [nested(MAX_DEPTH + 1), "(".repeat(100_000), "not ".repeat(100_000)] {
        assert!(Filter::parse(&deep).expect_err("too deep").to_string().contains("100 levels"));
    }
}

#[test]
fn mistakes_are_named() {
    let reason = |text: &str| Filter::parse(text).expect_err(text).to_string();
    assert!(reason("foo").contains("text:foo"));
    assert!(reason("colour:red").contains("method"));
    assert!(reason("ext:nope").contains("mcpl"));
    assert!(reason("(error").contains("missing closing parenthesis"));
    assert!(reason("error and").contains("missing"));
    assert!(reason("text:\"a").contains("quote"));
    assert!(reason("error )").contains("unexpected"));
    assert!(reason("errors").contains("did you mean error?"));
    assert!(reason("erorr").contains("did you mean error?"));
    assert!(reason("metod:tools/*").contains("did you mean method:tools/*?"));
    assert!(reason("errors:all").contains("did you mean error?"));
    assert!(reason("seq:5..2").contains("did you mean seq:2..5?"));
    for (slip, meant) in
        [("error && slow:>1s", "and"), ("error OR id:1", "or"), ("NOT error", "not"), ("!error", "not error")]
    {
        assert!(reason(slip).contains(&format!("did you mean {meant}?")), "{}", reason(slip));
    }
    assert!(reason("method=tools/call").contains("did you mean method:tools/call?"));
    assert!(reason("tools/call").contains("did you mean method:tools/call?"));
    assert!(reason("slow>300ms").contains("did you mean slow:>300ms?"));
    assert!(reason("slow:>300 ms").contains("without a space"));
    assert!(reason("tool echo").contains("as in tool:…"));
    assert!(reason("forecast").contains("tool:forecast") && reason("forecast").contains("text:forecast"));
    assert!(reason("latency").contains("did you mean slow:>500ms?"));
    assert!(!reason("schema").contains("did you mean"));
    let meant = ["slow", "err", "big", "request", "response", "notification", "stderr", "client", "server", "tools"];
    assert!(meant.iter().all(|word| Filter::parse(mistakes::meant(word).unwrap_or("(")).is_ok()));
    assert!(reason("slow:fast").contains("500ms"));
    assert!(reason("method:").contains("missing"));
    assert!(reason("kind:foo").contains("request, notification, result"));
    assert!(reason("event:foo").contains("stderr, stream-opened"));
}

/// The row of a test case that the page's filter shares.
fn decided(filter: &Filter, row: &Value) -> bool {
    let text = |name: &str| row[name].as_str();
    let is = |name: &str| row[name] == true;
    let named = [("injected", Flags::INJECTED), ("toolError", Flags::TOOL_ERROR), ("failed", Flags::FAILED)];
    let set = named.iter().filter(|(name, _)| is(name)).fold(Flags::default(), |all, (_, flag)| all.with(*flag));
    let direction = text("dir").and_then(Direction::from_short).unwrap_or(Direction::ClientToServer);
    let kind = text("kind").and_then(kinds).map(|kinds| kinds[0]);
    let id = text("id").map(|id| match id.parse() {
        Ok(number) => RecordedId::Integer(number),
        Err(_) => RecordedId::Text(id.as_bytes().into()),
    });
    let number = |name: &str| u32::try_from(row[name].as_u64().expect(name)).expect(name);
    let header = EventHeader {
        kind: text("event").and_then(EventKind::from_name).expect("a kind of event"),
        stream: number("stream"),
        exchange: u32::from(text("event") == Some("transport")),
        flags: Flags::toward(direction).with(set),
        len: number("size"),
        seq: row["seq"].as_u64().expect("seq"),
        message: kind.map(|kind| MessageHeader { kind, method: None, id }),
        ..header(MessageKind::Request, direction, 0, 0)
    };
    let (method, tool, latency) = (text("method"), text("tool"), row["latency"].as_i64());
    let body = text("text").map(str::as_bytes);
    filter.decide(&FilterInput { method, latency, tool, body, ..FilterInput::of(&header) }).expect("the text is there")
}

#[test]
fn the_page_decides_alike() {
    let shared: Value = serde_json::from_str(include_str!("../../../tests/page/filters.json")).expect("JSON");
    let rows = shared["rows"].as_array().expect("a list");
    for case in shared["cases"].as_array().expect("a list") {
        let filter = case["filter"].as_str().expect("a text");
        let found = Filter::parse(filter).map(|parsed| {
            let places = rows.iter().enumerate().filter(|(_, row)| decided(&parsed, row));
            Value::from(places.map(|(at, _)| at).collect::<Vec<_>>())
        });
        assert_eq!(found.ok().as_ref(), case.get("matches"), "{filter}");
    }
}

proptest! {
    #[test]
    fn any_text_is_parsed_or_refused(text in ".{0,60}") {
        let _ = Filter::parse(&text);
    }
}
