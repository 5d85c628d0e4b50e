use super::*;
use crate::diff::recording::Unit;
use crate::diff::report::UnitSide;
use crate::trace::{Event, EventHeader, EventKind, Flags};
use crate::wire::{Direction, Framing};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Creates units from lines that begin with `>` (to the server), `<` (to the client) or `!` (standard error).
fn units(lines: &[impl AsRef<str>]) -> Vec<Unit> {
    recorded(lines, 0, &Options::default()).units
}

fn recorded(lines: &[impl AsRef<str>], start: i64, options: &Options) -> Recording {
    collected(lines, start, Collector::new(options).with_stderr(true))
}

fn collected(lines: &[impl AsRef<str>], start: i64, mut collector: Collector<'_>) -> Recording {
    for (seq, line) in lines.iter().enumerate() {
        let (mark, text) = line.as_ref().split_at(1);
        feed(&mut collector, seq as u64, start + 1000 * seq as i64, mark, text.as_bytes(), Framing::Lf);
    }
    collector.finish()
}

fn feed_kind(collector: &mut Collector<'_>, seq: u64, kind: EventKind, payload: &[u8]) {
    let header = EventHeader {
        seq,
        time: 0,
        stream: 0,
        exchange: 0,
        kind,
        flags: Flags::default(),
        framing: Framing::Whole,
        len: payload.len() as u32,
        offset: 0,
        message: None,
    };
    collector.take(&Event { header: &header, payload });
}

fn feed(collector: &mut Collector<'_>, seq: u64, time: i64, mark: &str, payload: &[u8], framing: Framing) {
    let direction = if mark == ">" { Direction::ClientToServer } else { Direction::ServerToClient };
    let kind = if mark == "!" { EventKind::Stderr } else { EventKind::Message };
    let header = EventHeader {
        seq,
        time,
        stream: 0,
        exchange: 0,
        kind,
        flags: Flags::toward(direction),
        framing,
        len: payload.len() as u32,
        offset: 0,
        message: None,
    };
    collector.take(&Event { header: &header, payload });
}

fn diff(left: &[impl AsRef<str>], right: &[impl AsRef<str>]) -> Report {
    diff_with(left, right, &Options::default())
}

fn diff_with(left: &[impl AsRef<str>], right: &[impl AsRef<str>], options: &Options) -> Report {
    compare(&recorded(left, 0, options), &recorded(right, 0, options), options).expect("all texts")
}

fn ask(id: impl Into<Value>, tool: &str, arguments: Value) -> String {
    let params = json!({"name": tool, "arguments": arguments});
    format!(">{}", json!({"jsonrpc": "2.0", "id": id.into(), "method": "tools/call", "params": params}))
}

fn answer(id: impl Into<Value>, result: Value) -> String {
    format!("<{}", json!({"jsonrpc": "2.0", "id": id.into(), "result": result}))
}

fn text_result(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

fn note(params: Value) -> String {
    format!("<{}", json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params}))
}

/// Returns the changes between two responses to one call, as `kind place left right`.
fn changes_with(left: &str, right: &str, options: &Options) -> Vec<String> {
    let answered = |result: &str| [ask(1, "t", json!({})), format!(r#"<{{"jsonrpc":"2.0","id":1,"result":{result}}}"#)];
    let report = diff_with(&answered(left), &answered(right), options);
    assert_eq!((report.only_left, report.only_right), (0, 0));
    let changes = report.units.iter().flat_map(|unit| &unit.changes);
    changes
        .map(|change| {
            assert_eq!(change.side, UnitSide::Result);
            let (left, right) = (change.left.as_deref().unwrap_or("-"), change.right.as_deref().unwrap_or("-"));
            format!("{} {} {left} {right}", change.kind.name(), change.place)
        })
        .collect()
}

fn changes(left: &str, right: &str) -> Vec<String> {
    changes_with(left, right, &Options::default())
}

fn strict(change: impl FnOnce(&mut Options)) -> Options {
    let mut options = Options::default();
    change(&mut options);
    options
}

static OPTIONS: std::sync::LazyLock<Options> = std::sync::LazyLock::new(Options::default);

const ONE: &str = "11111111-1111-4111-8111-111111111111";
const TWO: &str = "22222222-2222-4222-8222-222222222222";

#[test]
fn what_is_unusual_about_an_envelope_is_compared() {
    let usual = [ask(1, "t", json!({})), answer(1, json!({"a": 1}))];
    let changed = |right: &str, options: &Options| {
        let report = diff_with(&usual, &[usual[0].as_str(), right], options);
        let shown = |change: &Change| (change.pointer(), change.left.clone(), change.right.clone());
        report.units.iter().flat_map(|unit| unit.changes.iter().map(shown)).collect::<Vec<_>>()
    };
    for (answered, unusual) in [
        (r#"<{"id":1,"result":{"a":1}}"#, r#"the member "jsonrpc" is missing"#),
        (
            r#"<{"jsonrpc":"2.0","id":1,"result":{"a":1},"took":7,"by":"x"}"#,
            r#"it has the member "by"; it has the member "took""#,
        ),
        (r#"<[{"jsonrpc":"2.0","id":1,"result":{"a":1}}]"#, "it is in a batch, but its request is not"),
    ] {
        let added = ("/response".to_owned(), None, Some(Value::from(unusual).to_string()));
        assert_eq!(changed(answered, &OPTIONS), [added], "{answered}");
        let ignoring = strict(|options| options.ignore.push("/response".to_owned()));
        assert_eq!(changed(answered, &ignoring), [], "{answered}");
        let elsewhere = strict(|options| options.ignore.push("tools/call:other=/response".to_owned()));
        assert_eq!(changed(answered, &elsewhere).len(), 1, "{answered}");
        let twice = [usual[0].as_str(), answered];
        assert!(diff_with(&twice, &twice, &OPTIONS).units.is_empty(), "{answered}");
    }
    let batched = [format!(">[{}]", &usual[0][1..]), r#"<[{"jsonrpc":"2.0","id":1,"result":{"a":1}}]"#.to_owned()];
    assert!(diff(&usual, &batched).units.is_empty(), "batches are a matter of transport");
}

#[test]
fn events_become_units() {
    let lines = [
        ask(1, "echo", json!({})),
        ask(2, "echo", json!({})),
        answer(2, json!({})),
        note(json!({"level": "info", "data": "x"})),
        answer(9, json!({})),
        "<starting up".to_owned(),
        "!first ".to_owned(),
        "<   ".to_owned(),
        "!second".to_owned(),
        r#"<[{"jsonrpc":"2.0","id":1,"error":{"code":1}},{"jsonrpc":"2.0","method":"x"},[[1]]]"#.to_owned(),
    ];
    let units = units(&lines);
    let kinds: Vec<_> = units.iter().map(|unit| unit.kind).collect();
    use UnitKind::*;
    assert_eq!(kinds, [Request, Request, Notification, Orphan, Line, Notification, Line, Stderr]);
    assert_eq!(units[0].subject.as_deref(), Some("echo"));
    assert_eq!(units[0].answer.as_ref().map(|answer| (answer.seq, answer.is_error)), Some((9, true)));
    assert_eq!(units[1].latency(), Some(1000));
    assert_eq!(units[7].line.as_deref(), Some(&b"first second"[..]));
}

#[test]
fn framings_carry_the_same_message() {
    let body = ask(1, "echo", json!({}))[1..].to_owned();
    let collect = |payload: String, framing| {
        let mut collector = Collector::new(&OPTIONS);
        feed(&mut collector, 0, 0, ">", payload.as_bytes(), framing);
        collector.finish()
    };
    let plain = collect(body.clone(), Framing::Lf);
    let length = collect(format!("Content-Length: {}\r\n\r\n{body}", body.len()), Framing::ContentLength);
    let sse = collect(format!("event: message\ndata: {body}\n\n"), Framing::Sse);
    assert_eq!(plain, length);
    assert_eq!(plain, sse);
}

#[test]
fn units_meet_by_what_they_are() {
    let left = [ask(1, "echo", json!({"m": "a"})), ask(2, "add", json!({"x": 1})), ask(3, "echo", json!({"m": "b"}))];
    let right = [ask(7, "echo", json!({"m": "b"})), ask(8, "echo", json!({"m": "a"})), ask(9, "add", json!({"x": 1}))];
    let report = diff(&left, &right);
    assert!(report.is_empty() && report.same == 3);
    let ordered = diff_with(&left, &right, &strict(|options| options.order = true));
    assert_eq!((ordered.moved, ordered.same, ordered.units.len()), (1, 2, 1));
    assert_eq!(ordered.units[0].status, Status::Moved);
}

#[test]
fn another_tool_or_direction_is_another_unit() {
    let report = diff(&[ask(1, "echo", json!({}))], &[ask(1, "add", json!({}))]);
    assert_eq!((report.only_left, report.only_right, report.changed), (1, 1, 0));
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let report = diff(&[format!(">{ping}")], &[format!("<{ping}")]);
    assert_eq!((report.only_left, report.only_right), (1, 1));
}

#[test]
fn a_call_that_changes_places_with_its_neighbour_is_the_same_call() {
    let session = |words: &str| -> Vec<String> {
        let calls = words
            .split(' ')
            .enumerate()
            .flat_map(|(id, word)| [ask(id, "echo", json!({"message": word})), answer(id, text_result(word))]);
        calls.collect()
    };
    let report = diff(&session("env hi sum image bye env"), &session("env sum hi image bye hi env"));
    assert_eq!((report.only_left, report.only_right, report.changed, report.same), (0, 1, 0, 6), "{report:?}");
    // A distant equal call is a different one.
    let report = diff(&session("hi a b c d e f hi g"), &session("a b c d e hi f hi g"));
    assert_eq!((report.only_left, report.only_right), (1, 1), "{report:?}");
}

#[test]
fn a_failing_call_among_equal_ones_is_reported_where_it_is() {
    let session = |failing: u64| -> Vec<String> {
        let calls = (0..20u64).flat_map(|id| {
            let text = if id == failing { "no" } else { "yes" };
            [ask(id, "poll", json!({})), answer(id, text_result(text))]
        });
        calls.collect()
    };
    let report = diff(&session(99), &session(3));
    let places: Vec<_> = report.units.iter().map(|unit| unit.left.as_ref().zip(unit.right.as_ref())).collect();
    assert!(matches!(&places[..], [Some((left, right))] if (left.seq, right.seq) == (6, 6)), "{report:?}");
}

#[test]
fn leftovers_meet_by_likeness_in_order() {
    let call = |id: u64, city: &str| ask(id, "t", json!({"city": city, "days": 3, "unit": "C"}));
    let left = [ask(1, "t", json!({"q": "nothing alike"})), call(2, "Rome"), call(3, "Oslo")];
    let right = [call(1, "Roma"), call(2, "Oslo"), ask(3, "t", json!({"z": false}))];
    let report = diff(&left, &right);
    let changed: Vec<_> = report.units.iter().filter(|unit| unit.status == Status::Changed).collect();
    assert_eq!((report.only_left, report.only_right, report.same, changed.len()), (1, 1, 1, 1));
    assert_eq!(changed[0].changes[0].place, "/arguments/city");
}

#[test]
fn the_window_keeps_large_groups_cheap_and_complete() {
    let call = |id: usize, salt: &str| ask(id, "t", json!({"n": format!("{salt}{id}")}));
    let left: Vec<_> = (0..700).map(|id| call(id, "left")).collect();
    let right: Vec<_> = (0..600).map(|id| call(id, "right")).collect();
    let report = diff(&left, &right);
    assert_eq!((report.changed, report.only_left, report.only_right), (600, 100, 0));
}

#[test]
fn ids_and_tokens_of_requests_may_differ() {
    let session = |id: Value, token: Value| {
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": "slow", "arguments": {}, "_meta": {"progressToken": token}}});
        let progress = json!({"jsonrpc": "2.0", "method": "notifications/progress",
            "params": {"progressToken": token, "progress": 1}});
        let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
        [format!(">{call}"), format!("<{progress}"), format!(">{cancel}")]
    };
    let (left, right) = (session(json!(1), json!(1)), session(json!("x-9"), json!("tok")));
    let report = diff(&left, &right);
    assert!(report.is_empty(), "{report:?}");
    let kept = diff_with(&left, &right, &strict(|options| options.keep_ids = true));
    let places: Vec<_> = kept.units.iter().flat_map(|unit| &unit.changes).map(|change| change.place.as_str()).collect();
    assert_eq!(places, ["/id", "/_meta/progressToken", "/progressToken", "/requestId"]);
    assert_eq!(units(&left)[1].subject.as_deref(), Some("tools/call slow"));
}

#[test]
fn a_cancellation_of_another_request_is_a_difference() {
    let cancel =
        |id: u64| format!(r#">{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#);
    let calls = [ask(1, "t", json!({"n": 1})), ask(2, "t", json!({"n": 2}))];
    let session = |id| [calls[0].clone(), calls[1].clone(), cancel(id)];
    assert!(diff(&session(1), &session(1)).is_empty());
    let report = diff(&session(1), &session(2));
    assert_eq!((report.changed, report.units[0].changes[0].place.as_str()), (1, "/requestId"));
}

#[test]
fn uuids_must_correspond() {
    let said = |ids: &[&str]| -> Vec<_> {
        ids.iter().enumerate().map(|(n, id)| note(json!({"level": "info", "data": {"n": n, "id": id}}))).collect()
    };
    assert!(diff(&said(&[ONE, TWO, ONE]), &said(&[TWO, ONE, TWO])).is_empty());
    let report = diff(&said(&[ONE, TWO, ONE]), &said(&[ONE, TWO, TWO]));
    assert_eq!(report.changed, 1);
    assert_eq!(report.units[0].left.as_ref().map(|place| place.seq), Some(2));
    assert_eq!(report.units[0].changes[0].place, "/data/id");
    let kept = diff_with(&said(&[ONE]), &said(&[TWO]), &strict(|options| options.keep_ids = true));
    assert_eq!(kept.changed, 1);
}

#[test]
fn ids_that_the_protocol_makes_up_may_differ_but_a_tools_own_may_not() {
    let task = |id: &str| {
        let made = json!({"jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": {"taskId": id}});
        [format!(">{made}"), answer(1, json!({"taskId": id, "status": "working"}))]
    };
    assert!(diff(&task("t-1"), &task("t-2")).is_empty());
    let report = diff(&[ask(1, "t", json!({"taskId": "t-1"}))], &[ask(1, "t", json!({"taskId": "t-2"}))]);
    assert_eq!(report.changed, 1);
}

#[test]
fn times_may_differ_but_not_their_form() {
    let (early, late) = (r#"{"at":"2025-01-01T00:00:00Z"}"#, r#"{"at":"2026-02-02T10:00:00.5+01:00"}"#);
    assert!(changes(early, late).is_empty());
    assert_eq!(changes_with(early, late, &strict(|options| options.keep_times = true)).len(), 1);
    assert!(changes(r#"{"createdAt":1718700000}"#, r#"{"createdAt":1718799999}"#).is_empty());
    assert_eq!(changes(r#"{"createdAt":1718700000}"#, r#"{"createdAt":1718700000000}"#).len(), 1);
    assert_eq!(changes(r#"{"count":1718700000}"#, r#"{"count":1718799999}"#).len(), 1);
    assert_eq!(changes(r#"{"time":250}"#, r#"{"time":251}"#), ["changed /time 250 251"]);
    assert_eq!(changes(r#"{"v":"2025-06-18"}"#, r#"{"v":"2025-03-26"}"#).len(), 1);
}

#[test]
fn spelling_counts_only_when_exact() {
    let exact = strict(|options| options.exact = true);
    for (left, right) in [
        (r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1}"#),
        (r#"{"a":1}"#, r#"{"a":1.0}"#),
        (r#"{"a":100}"#, r#"{"a":1e2}"#),
        (r#"{"a":0}"#, r#"{"a":-0.00}"#),
        (r#"{"content":[{"text":"{\"a\":1}"}]}"#, r#"{"content":[{"text":"{ \"a\": 1 }"}]}"#),
    ] {
        assert!(changes(left, right).is_empty(), "{left} {right}");
        assert_eq!(changes_with(left, right, &exact).len(), 1, "{left} {right}");
    }
    assert!(changes_with(r#"{"a": "A"}"#, r#"{"a":"\u0041"}"#, &exact).is_empty());
    let huge = changes(r#"{"a":12345678901234567890123}"#, r#"{"a":12345678901234567890124}"#);
    assert_eq!(huge, ["changed /a 12345678901234567890123 12345678901234567890124"]);
    assert_eq!(changes_with(r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1}"#, &exact), [r#"reordered  ["a","b"] ["b","a"]"#]);
}

#[test]
fn what_parsers_drop_counts_only_when_exact() {
    let exact = strict(|options| options.exact = true);
    for (left, right) in [
        (r#"{"a":"\ud800"}"#, r#"{"a":"\udfff"}"#),
        (r#"{"a":"\ud800"}"#, r#"{"a":"\ufffd"}"#),
        (r#"{"a":"x\udc00\ud800"}"#, r#"{"a":"x\ud800\ud800"}"#),
        (r#"{"\ud800":1}"#, r#"{"\udfff":1}"#),
        (r#"{"a":1,"a":2}"#, r#"{"a":2}"#),
        (r#"{"a":2}"#, r#"{"a":1,"a":2}"#),
        (r#"{"a":1,"a":2}"#, r#"{"a":3,"a":2}"#),
        (r#"{"b":{"c":[{"a":1,"\u0061":2}]}}"#, r#"{"b":{"c":[{"a":2}]}}"#),
    ] {
        assert!(changes(left, right).is_empty(), "{left} {right}");
        assert!(!changes_with(left, right, &exact).is_empty(), "{left} {right}");
        assert!(changes_with(left, left, &exact).is_empty(), "{left}");
    }
    // Near it: another notation of the same text, and whole surrogate pairs.
    for (left, right) in [
        (r#"{"a":"\ud800"}"#, r#"{"\u0061":"\uD800"}"#),
        (r#"{"a":"\ud83d\ude00"}"#, r#"{"a":"\uD83D\uDE00"}"#),
        (r#"{"a":1,"a":2}"#, r#"{"a":1,"\u0061":2}"#),
    ] {
        assert_eq!(changes_with(left, right, &exact), [""; 0], "{left} {right}");
    }
    assert_eq!(changes_with(r#"{"a":1,"a":2}"#, r#"{"a":2}"#, &exact), ["removed /a 1 -"]);
}

#[test]
fn batches_count_only_when_exact() {
    let one = r#"{"jsonrpc":"2.0","method":"notifications/x","params":{"a":1}}"#;
    let other = r#"{"jsonrpc":"2.0","method":"notifications/x","params":{"a":2}}"#;
    let single = [format!(">{one}"), format!(">{other}")];
    let alone = [format!(">[{one}]"), format!(">[{other}]")];
    let together = [format!(">[{one},{other}]")];
    let exact = strict(|options| options.exact = true);
    for (left, right) in [(&single[..], &alone[..]), (&alone, &together), (&together, &single)] {
        assert!(diff(left, right).is_empty(), "{left:?} {right:?}");
        assert!(!diff_with(left, right, &exact).is_empty(), "{left:?} {right:?}");
        assert!(diff_with(left, left, &exact).is_empty(), "{left:?}");
    }
    let asked = |text: &str| [text.to_owned(), r#"<{"jsonrpc":"2.0","id":1,"result":{}}"#.to_owned()];
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let (left, right) = (asked(&format!(">{request}")), asked(&format!(">[{request}]")));
    assert_eq!(diff_with(&left, &right, &exact).changed, 1);
}

#[test]
fn ignored_places_never_count() {
    let ignoring = |pattern: &str| strict(|options| options.ignore.push(pattern.to_owned()));
    let (left, right) = (r#"{"tools":[{"name":"a","d":{"x":1}}],"k/k":1}"#, r#"{"tools":[{"name":"a"}],"k/k":2}"#);
    assert_eq!(changes(left, right).len(), 2);
    assert_eq!(changes_with(left, right, &ignoring("/result/tools/*/d")), ["changed /k~1k 1 2"]);
    assert_eq!(changes_with(left, right, &ignoring("result/k~1k")), [r#"removed /tools/0/d {"x":1} -"#]);
    assert!(changes_with(left, right, &ignoring("/result/*")).is_empty());
    assert!(changes_with(left, right, &ignoring("/result")).is_empty());
    assert_eq!(changes_with(left, right, &ignoring("/params/k~1k")).len(), 2);
    assert_eq!(changes_with(left, right, &ignoring("")).len(), 2);
    let inside = (r#"{"content":[{"text":"{\"v\":1}"}]}"#, r#"{"content":[{"text":"{\"v\":2}"}]}"#);
    assert_eq!(changes(inside.0, inside.1), ["changed /content/0/text/v 1 2"]);
    assert!(changes_with(inside.0, inside.1, &ignoring("/result/content/*/text/v")).is_empty());
}

#[test]
fn json_in_text_is_json_only_on_both_sides() {
    let of = |text: &str| text_result(text).to_string();
    assert_eq!(changes(&of("[1,2]"), &of("[1, 3]")), ["changed /content/0/text/1 2 3"]);
    assert_eq!(changes(&of("[1]"), &of("one")), [r#"changed /content/0/text "[1]" "one""#]);
    assert_eq!(changes(&of("1"), &of("1.0")).len(), 1);
    assert_eq!(changes(r#"{"text":"[1]"}"#, r#"{"text":"[ 1 ]"}"#).len(), 1);
    assert!(changes(&of(&format!(r#"{{"id":"{ONE}"}}"#)), &of(&format!(r#"{{"id":"{TWO}"}}"#))).is_empty());
}

#[test]
fn one_added_tool_is_one_change() {
    let left = r#"{"tools":[{"name":"a","d":1},{"name":"c","d":1}]}"#;
    let right = r#"{"tools":[{"name":"c","d":2},{"name":"b","d":1},{"name":"a","d":1}]}"#;
    assert_eq!(changes(left, right), [r#"changed /tools/1/d 1 2"#, r#"added /tools/1 - {"name":"b","d":1}"#]);
    let ordered = changes_with(left, right, &strict(|options| options.order = true));
    assert_eq!(ordered.last().map(String::as_str), Some(r#"reordered /tools ["a","c"] ["c","a"]"#));
    let messages = (r#"[{"id":1},{"id":2}]"#, r#"[{"id":2},{"id":1}]"#);
    assert_eq!(changes(messages.0, messages.1), [r#"reordered  ["1","2"] ["2","1"]"#]);
}

#[test]
fn only_what_a_server_lists_may_come_in_any_order() {
    for list in ["tools", "prompts", "resources", "resourceTemplates"] {
        let of = |items: &str| format!(r#"{{"{list}":[{items}]}}"#);
        assert_eq!(changes(&of(r#"{"name":"a"},{"name":"b"}"#), &of(r#"{"name":"b"},{"name":"a"}"#)), [""; 0]);
    }
    for place in ["/structuredContent", "/structuredContent/tools", "/content"] {
        let of = |items: &str| {
            let (outer, inner) = place[1..].split_once('/').unwrap_or((&place[1..], ""));
            if inner.is_empty() {
                format!(r#"{{"{outer}":[{items}]}}"#)
            } else {
                format!(r#"{{"{outer}":{{"{inner}":[{items}]}}}}"#)
            }
        };
        let (left, right) = (of(r#"{"name":"ann"},{"name":"bob"}"#), of(r#"{"name":"bob"},{"name":"ann"}"#));
        assert_eq!(changes(&left, &right), [format!(r#"reordered {place} ["ann","bob"] ["bob","ann"]"#)]);
    }
}

#[test]
fn lists_are_aligned_around_what_they_share() {
    assert_eq!(changes("[1,2,3,4]", "[0,1,2,3,4]"), ["added /0 - 0"]);
    assert_eq!(changes("[1,2,3,4]", "[1,3,4,5]"), ["removed /1 2 -", "added /3 - 5"]);
    assert_eq!(changes("[1,2,3]", "[1,9,3]"), ["changed /1 2 9"]);
    assert_eq!(changes("[1]", "[]"), ["removed /0 1 -"]);
    let list = |salt: usize| json!((0..5000).map(|n| json!([n, salt])).collect::<Vec<_>>()).to_string();
    assert_eq!(changes(&list(1), &list(2)).len(), 5000);
}

#[test]
fn long_texts_are_compared_line_by_line() {
    let lines = |changed: &str| {
        (1..20).map(|n| if n == 9 { format!("{changed}\n") } else { format!("l{n}\n") }).collect::<String>()
    };
    let session = |changed| [ask(1, "t", json!({})), answer(1, text_result(&lines(changed)))];
    let report = diff(&session("old"), &session("new"));
    let change = &report.units[0].changes[0];
    assert_eq!((change.place.as_str(), change.hunks.len()), ("/content/0/text", 1));
    let hunk = &change.hunks[0];
    assert_eq!((hunk.left_line, hunk.right_line, hunk.lines.len()), (7, 7, 6));
    use report::LineTag::*;
    let tags: Vec<_> = hunk.lines.iter().map(|line| line.tag).collect();
    assert_eq!(tags, [Both, Both, Removed, Added, Both, Both]);
    let endings = changes(r#"{"t":"a\nb\n"}"#, r#"{"t":"a\r\nb\r\n"}"#);
    assert_eq!(endings, [r#"changed /t "a\nb\n" "a\r\nb\r\n""#]);
}

#[test]
fn results_errors_and_silence_differ() {
    let error = r#"<{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}"#.to_owned();
    let asked = ask(1, "t", json!({}));
    let kinds = |right: &[String]| -> Vec<_> {
        let report = diff(&[asked.clone(), answer(1, json!({}))], right);
        report.units[0].changes.iter().map(|change| (change.side, change.kind)).collect()
    };
    assert_eq!(
        kinds(&[asked.clone(), error]),
        [(UnitSide::Result, ChangeKind::Removed), (UnitSide::Error, ChangeKind::Added)]
    );
    assert_eq!(kinds(std::slice::from_ref(&asked)), [(UnitSide::Result, ChangeKind::Removed)]);
    let bare = r#">{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let full = r#">{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}"#;
    assert_eq!(diff(&[bare], &[full]).units[0].changes[0].kind, ChangeKind::Added);
}

#[test]
fn what_is_no_json_is_compared_as_bytes() {
    let report = diff(&["<{\"a\":"], &["<{\"b\":"]);
    let change = &report.units[0].changes[0];
    assert_eq!((change.side, change.left.as_deref()), (UnitSide::Line, Some(r#""{\"a\":""#)));
    let broken = |byte: u8| {
        let mut collector = Collector::new(&OPTIONS);
        feed(&mut collector, 0, 0, "<", &[b'{', byte], Framing::Lf);
        collector.finish()
    };
    let report = compare(&broken(0xfe), &broken(0xff), &Options::default()).expect("all texts");
    let change = &report.units[0].changes[0];
    assert_eq!((change.left.as_deref(), change.right.as_deref()), (Some(r#""{\\xfe""#), Some(r#""{\\xff""#)));
    assert!(diff(&["<{\"a\":"], &["<{\"a\":"]).is_empty());
}

#[test]
fn the_report_has_a_stable_shape() {
    let left = [ask(1, "t", json!({"a": 1})), answer(1, json!({"n": 1.0})), ask(2, "gone", json!({}))];
    let right = [ask(5, "t", json!({"a": 1})), answer(5, json!({"n": 2})), note(json!({"level": "info"}))];
    let expected = json!({
        "only_left": 1, "only_right": 1, "changed": 1, "moved": 0, "same": 0, "learned": 0,
        "volatile": {"mapped": 0, "kinds": {}, "values": []},
        "units": [
            {"status": "changed", "kind": "request", "direction": "c2s", "method": "tools/call", "subject": "t",
             "moved": false, "left": {"seq": 0, "answer_seq": 1, "time_ns": 0, "latency_ns": 1000},
             "right": {"seq": 0, "answer_seq": 1, "time_ns": 0, "latency_ns": 1000},
             "changes": [{"side": "result", "place": "/n", "pointer": "/result/n", "kind": "changed", "left": 1.0, "right": 2}]},
            {"status": "only_right", "kind": "notification", "direction": "s2c", "method": "notifications/message",
             "subject": "info", "moved": false, "left": null,
             "right": {"seq": 2, "answer_seq": null, "time_ns": 2000, "latency_ns": null}, "changes": []},
            {"status": "only_left", "kind": "request", "direction": "c2s", "method": "tools/call", "subject": "gone",
             "moved": false, "left": {"seq": 2, "answer_seq": null, "time_ns": 2000, "latency_ns": null},
             "right": null, "changes": []},
        ],
    });
    assert_eq!(diff(&left, &right).to_json(), expected);
}

#[test]
fn values_that_the_run_made_may_differ_but_not_those_that_the_client_chose() {
    let session = |made: &str, chosen: &str| {
        [
            ask(1, "create", json!({})),
            answer(1, text_result(&format!("created {made}"))),
            ask(2, "use", json!({"id": made, "key": chosen})),
            answer(2, text_result(&format!("used {made} with {chosen}"))),
        ]
    };
    let same = diff(&session(ONE, "k"), &session(TWO, "k"));
    assert!(same.is_empty(), "{same:?}");
    assert_eq!(same.mapped.kinds, [(volatile::Kind::Uuid, 1)]);
    let other = "33333333-3333-4333-8333-333333333333";
    let report = diff(&session(ONE, TWO), &session(ONE, other));
    let places: Vec<_> = report.units.iter().flat_map(|unit| &unit.changes).map(Change::pointer).collect();
    assert_eq!(places, ["/params/arguments/key", "/result/content/0/text"]);
}

#[test]
fn settings_are_compared_as_they_are_wherever_they_stand() {
    let call = |timeout: &str| [ask(1, "t", json!({"timeout": timeout})), answer(1, json!({}))];
    assert_eq!(diff(&call("30s"), &call("60s")).changed, 1);
    let list = |about: &str| {
        let schema = json!({"type": "object", "properties": {"timeout": {"default": about, "description": about}}});
        let tools = json!({"tools": [{"name": "t", "description": "id 8f3kd92mxk2", "inputSchema": schema}]});
        [r#">{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#.to_owned(), answer(1, tools)]
    };
    let report = diff(&list("30s"), &list("60s"));
    assert_eq!(report.units[0].changes.len(), 2, "{report:?}");
    assert_eq!(diff(&list("2025-01-01T00:00:00Z"), &list("2026-01-01T00:00:00Z")).changed, 1);
    let said = |text: &str| [ask(1, "t", json!({})), answer(1, text_result(text))];
    assert_eq!(diff(&said("stopped: timeout 30s"), &said("stopped: timeout 60s")).changed, 1);
    assert!(diff(&said("done in 30s"), &said("done in 60s")).is_empty());
}

#[test]
fn equal_values_stand_for_equal_values() {
    let said = |texts: [&str; 3]| texts.map(|text| note(json!({"level": "info", "data": format!("job {text} runs")})));
    let (one, two) = ("8f3kd92mxk2", "q7xk2m91zpa");
    assert!(diff(&said([one, two, one]), &said([two, one, two])).is_empty());
    assert_eq!(diff(&said([one, two, one]), &said([two, "zz8f3kd92m", "zz8f3kd92m"])).changed, 1);
}

#[test]
fn exact_compares_all_values() {
    let said = |id: &str, time: &str| [note(json!({"level": "info", "data": format!("{id} at {time}")}))];
    let (left, right) = (said(ONE, "2025-01-01T00:00:00Z"), said(TWO, "2026-01-01T00:00:00Z"));
    assert!(diff(&left, &right).is_empty());
    assert_eq!(diff_with(&left, &right, &strict(|options| options.exact = true)).changed, 1);
    assert_eq!(diff_with(&left, &right, &strict(|options| options.keep_ids = true)).changed, 1);
    assert_eq!(diff_with(&left, &right, &strict(|options| options.keep_times = true)).changed, 1);
}

#[test]
fn volatile_values_are_counted_and_listed() {
    let said = |id: &str, took: &str| {
        [note(json!({"data": format!("{id} took {took}")})), note(json!({"data": {"id": id, "duration_ms": 5}}))]
    };
    let options = strict(|options| options.lists_volatile = true);
    let report = diff_with(&said(ONE, "5 ms"), &said(TWO, "7 ms"), &options);
    assert_eq!(report.mapped.kinds, [(volatile::Kind::Uuid, 1), (volatile::Kind::Duration, 1)]);
    let listed: Vec<_> =
        report.mapped.values.iter().map(|value| (value.left.as_str(), value.right.as_str(), value.count)).collect();
    assert_eq!(listed, [(ONE, TWO, 2), ("5 ms", "7 ms", 1)]);
}

#[test]
fn lines_of_which_only_volatile_parts_differ_are_no_changed_lines() {
    let log = |second: u32, word: &str| {
        [ask(1, "t", json!({})), answer(1, text_result(&format!("10:00:{second:02} up\n10:01:{second:02} {word}\n")))]
    };
    let report = diff(&log(1, "ready"), &log(2, "broken"));
    let lines: Vec<_> = report.units[0].changes[0].hunks[0].lines.iter().map(|line| line.tag).collect();
    use report::LineTag::*;
    assert_eq!(lines, [Both, Removed, Added]);
}

#[test]
fn the_folder_of_the_server_may_differ() {
    let session = |folder: &str| {
        let mut collector = Collector::new(&OPTIONS);
        let mut opened = Vec::new();
        ciborium::into_writer(&json!({"command": ["node", "index.js", folder]}), &mut opened).expect("CBOR");
        feed_kind(&mut collector, 0, EventKind::StreamOpened, &opened);
        let lines = [
            ask(1, "read", json!({"path": format!("{folder}/a.txt")})),
            answer(1, text_result(&format!("no such file: {folder}/a.txt, nor {folder}x"))),
        ];
        for (seq, line) in (1..).zip(lines) {
            let (mark, text) = line.split_at(1);
            feed(&mut collector, seq, 0, mark, text.as_bytes(), Framing::Lf);
        }
        collector.finish()
    };
    let compared = |left: &str, right: &str| compare(&session(left), &session(right), &OPTIONS).expect("all texts");
    let report = compared("/srv/one", "/srv/two");
    let places: Vec<_> = report.units.iter().flat_map(|unit| &unit.changes).map(Change::pointer).collect();
    assert_eq!(places, ["/result/content/0/text"], "/srv/onex is another folder");
    assert_eq!(report.mapped.kinds, [(volatile::Kind::Folder, 1)]);
}

#[test]
fn the_folder_in_which_the_server_runs_may_differ() {
    let session = |folder: &str| {
        let mut collector = Collector::new(&OPTIONS);
        let mut opened = Vec::new();
        ciborium::into_writer(&json!({"command": ["server"], "cwd": folder}), &mut opened).expect("CBOR");
        feed_kind(&mut collector, 0, EventKind::StreamOpened, &opened);
        let tools =
            json!({"tools": [{"name": "build", "description": format!("builds in {folder}, for 30s at most")}]});
        let lines = [
            ask(1, "build", json!({})),
            answer(1, text_result(&format!("wrote {folder}/out.txt"))),
            format!(">{}", json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})),
            answer(2, tools),
        ];
        for (seq, line) in (1..).zip(lines) {
            let (mark, text) = line.split_at(1);
            feed(&mut collector, seq, 0, mark, text.as_bytes(), Framing::Lf);
        }
        collector.finish()
    };
    let report = compare(&session("/srv/a/b"), &session("/home/u/c"), &OPTIONS).expect("all texts");
    assert!(report.is_empty(), "{report:?}");
    assert_eq!(report.mapped.kinds, [(volatile::Kind::Folder, 1)]);
}

#[test]
fn a_unit_elsewhere_is_another_one_unless_nearly_all_of_it_is_equal() {
    let call = |id: u32, path: &str, limit: u32| ask(id, "list", json!({"path": path, "limit": limit}));
    let reply = |id: u32, rows: &str| answer(id, text_result(rows));
    // Both are concurrent with the calls between their places, and similar, as all calls of the tool are.
    let others: Vec<_> = (10..16).map(|id| call(id, &format!("/p/{id}"), id)).collect();
    let replies: Vec<_> = (10..16).map(|id| reply(id, &format!("{id} of {id}"))).collect();
    let left = [vec![call(1, "/srv/2", 2)], others.clone(), vec![reply(1, "2 rows of 14")], replies.clone()].concat();
    let other = [others.clone(), vec![call(1, "/srv/14", 23), reply(1, "14 rows of 98")], replies.clone()].concat();
    let report = diff(&left, &other);
    assert_eq!((report.changed, report.only_left, report.only_right), (0, 1, 1));
    let same = [others, vec![call(1, "/srv/2", 3), reply(1, "2 rows of 14")], replies].concat();
    let report = diff(&left, &same);
    assert_eq!((report.changed, report.only_left, report.only_right), (1, 0, 0));
}

#[test]
fn a_pointer_from_the_report_can_be_ignored() {
    let (left, right) = (
        r#"{"tools":[{"name":"a","d":1},{"name":"b","d":1}]}"#,
        r#"{"tools":[{"name":"b","d":2},{"name":"a","d":2}]}"#,
    );
    assert_eq!(changes(left, right), ["changed /tools/0/d 1 2", "changed /tools/1/d 1 2"]);
    let ignoring = strict(|options| options.ignore.push("/result/tools/0/d".to_owned()));
    assert_eq!(changes_with(left, right, &ignoring), ["changed /tools/1/d 1 2"], "the index is that of the left side");
}

#[test]
fn unordered_lists_are_compared_as_sets() {
    let (left, right) =
        (r#"{"rows":[{"k":"a","v":1},{"k":"b","v":2}]}"#, r#"{"rows":[{"k":"b","v":3},{"k":"a","v":1}]}"#);
    let by = |place: &str| strict(|options| options.unordered.push(place.to_owned()));
    assert_eq!(changes(left, right).len(), 2);
    assert_eq!(changes_with(left, right, &by("/result/rows=k")), ["changed /rows/1/v 2 3"]);
    let shuffled = (r#"{"rows":[1,2,2,3]}"#, r#"{"rows":[2,3,1,2,4]}"#);
    assert_eq!(changes_with(shuffled.0, shuffled.1, &by("/result/*")), ["added /rows/4 - 4"]);
    assert!(changes_with(r#"{"rows":[1,2]}"#, r#"{"rows":[2,1]}"#, &by("/result/rows")).is_empty());
}

#[test]
fn numbers_may_differ_within_a_tolerance() {
    let within = |text: &str| strict(|options| options.tolerance.push(text.parse().expect("valid")));
    assert!(changes_with(r#"{"a":1.0,"b":10}"#, r#"{"a":1.05,"b":10.1}"#, &within("0.2")).is_empty());
    assert_eq!(
        changes_with(r#"{"a":1.0,"b":10}"#, r#"{"a":1.05,"b":10.1}"#, &within("/result/b=2%")),
        ["changed /a 1.0 1.05"]
    );
}

#[test]
fn what_varies_between_runs_of_one_version_is_learned() {
    let session = |mood: &str, state: &str, size: u32| {
        let result = json!({"content": [{"type": "text", "text": format!("mood {mood} state {state}")}], "size": size});
        [ask(1, "t", json!({})), answer(1, result)]
    };
    let learned = Learned::of(&diff(&session("happy", "up", 1), &session("sad", "up", 2)));
    let mut same = diff(&session("happy", "up", 1), &session("angry", "up", 3));
    assert_eq!(same.changed, 1);
    same.leave_out(&learned);
    assert!(same.is_empty() && (same.same, same.learned) == (1, 2), "{same:?}");
    let mut other = diff(&session("happy", "up", 1), &session("angry", "down", 3));
    other.leave_out(&learned);
    assert_eq!((other.changed, other.units[0].changes.len(), other.learned), (1, 1, 1));
}

/// A call with its outcome, before ids and times are assigned.
#[derive(Clone, Debug)]
struct Exchange {
    tool: &'static str,
    arguments: Value,
    answer: Option<Result<Value, i64>>,
    progress: u8,
    has_uuid: bool,
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0..4i64).prop_map(Value::from),
        "[a-c\n]{0,4}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-e]", inner, 0..4).prop_map(|map| json!(map)),
        ]
    })
}

fn any_exchange() -> impl Strategy<Value = Exchange> {
    let answer = prop_oneof![
        Just(None),
        (0..2i64).prop_map(|code| Some(Err(code))),
        any_json().prop_map(|value| Some(Ok(json!({"structuredContent": value})))),
    ];
    (prop::sample::select(vec!["echo", "add"]), any_json(), answer, 0..3u8, any::<bool>()).prop_map(
        |(tool, value, answer, progress, has_uuid)| Exchange {
            tool,
            arguments: json!({"value": value}),
            answer,
            progress,
            has_uuid,
        },
    )
}

fn any_session() -> impl Strategy<Value = Vec<Exchange>> {
    prop::collection::vec(any_exchange(), 0..8)
}

/// How a run writes ids and times.
struct Run {
    id: fn(usize) -> Value,
    uuid: fn(usize) -> String,
    second: usize,
}

const FIRST: Run = Run { id: |n| json!(n), uuid: |n| format!("aaaaaaaa-0000-4000-8000-{n:012}"), second: 0 };

const SECOND: Run = Run {
    id: |n| json!(format!("req-{}", 99 - n)),
    uuid: |n| format!("bbbbbbbb-0000-4000-8000-{:012}", 77 - n),
    second: 31,
};

fn lines<'e>(session: impl IntoIterator<Item = &'e (usize, Exchange)>, run: &Run) -> Vec<String> {
    let mut lines = Vec::new();
    for (n, exchange) in session {
        let (id, stamp) = ((run.id)(*n), format!("2025-01-01T00:00:{:02}Z", (run.second + n) % 60));
        let mut params = json!({"name": exchange.tool, "arguments": exchange.arguments,
            "_meta": {"progressToken": id, "sentAt": 1_700_000_000 + run.second}});
        if exchange.has_uuid {
            params["_meta"]["trace"] = json!((run.uuid)(*n));
        }
        lines.push(format!(">{}", json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})));
        for progress in 0..exchange.progress {
            let params = json!({"progressToken": id, "progress": progress});
            lines.push(format!("<{}", json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})));
        }
        match &exchange.answer {
            None => {}
            Some(Ok(result)) => {
                let mut result = result.clone();
                result["when"] = json!(stamp);
                result["key"] = json!((run.uuid)(*n));
                lines.push(answer(id, result));
            }
            Some(Err(code)) => {
                lines.push(format!("<{}", json!({"jsonrpc": "2.0", "id": id, "error": {"code": code}})));
            }
        }
    }
    lines
}

/// Returns the exchanges of a session, each with its own arguments: an equal one that moved far would be a different
/// one.
fn distinct(session: Vec<Exchange>) -> Vec<(usize, Exchange)> {
    let mut session = numbered(session);
    session.iter_mut().for_each(|(n, exchange)| exchange.arguments["n"] = json!(*n));
    session
}

fn numbered(session: Vec<Exchange>) -> Vec<(usize, Exchange)> {
    session.into_iter().enumerate().collect()
}

fn leaf_places(value: &Value, place: String, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| leaf_places(item, format!("{place}/{at}"), found));
        }
        Value::Object(members) => {
            members.iter().for_each(|(name, item)| leaf_places(item, format!("{place}/{name}"), found));
        }
        _ => found.push(place),
    }
}

proptest! {
    #[test]
    fn nothing_differs_from_itself(
        session in any_session(),
        noise in prop::collection::vec("[<>!][ -~]{0,12}", 0..6),
        flags in any::<[bool; 4]>(),
    ) {
        let mut lines = lines(&numbered(session), &FIRST);
        lines.extend(noise);
        let [exact, order, keep_times, keep_ids] = flags;
        let options = Options { exact, order, keep_times, keep_ids, ..Options::default() };
        let report = diff_with(&lines, &lines, &options);
        prop_assert!(report.is_empty(), "{:?}", report);
    }

    #[test]
    fn new_ids_times_and_order_are_no_difference(
        (session, shuffled) in any_session().prop_map(distinct).prop_flat_map(|session| {
            (Just(session.clone()), Just(session).prop_shuffle())
        }),
        renames in any::<bool>(),
    ) {
        let run = if renames { &SECOND } else { &FIRST };
        let options = strict(|options| options.order = true);
        let left = recorded(&lines(&session, &FIRST), 0, &options);
        let right = recorded(&lines(&session, run), 1 << 40, &options);
        let report = compare(&left, &right, &options).expect("all texts");
        prop_assert!(report.is_empty(), "{:?}", report);
        let right = recorded(&lines(&shuffled, run), 1 << 40, &options);
        let report = compare(&left, &right, &Options::default()).expect("all texts");
        prop_assert!(report.is_empty(), "{:?}", report);
    }

    #[test]
    fn one_changed_leaf_is_reported_once(
        session in any_session(),
        at in any::<prop::sample::Index>(),
        leaf in any::<prop::sample::Index>(),
        in_answer in any::<bool>(),
    ) {
        prop_assume!(!session.is_empty());
        let mut changed = session.clone();
        let exchange = at.get_mut(&mut changed);
        let (prefix, side, target) = match &mut exchange.answer {
            Some(Ok(result)) if in_answer => ("", UnitSide::Result, result),
            _ => ("/arguments", UnitSide::Params, &mut exchange.arguments),
        };
        let mut places = Vec::new();
        leaf_places(target, String::new(), &mut places);
        prop_assume!(!places.is_empty());
        let place = leaf.get(&places);
        *target.pointer_mut(place).expect("there") = json!("quite another value");
        let report = diff(&lines(&numbered(session), &FIRST), &lines(&numbered(changed), &SECOND));
        let changes: Vec<_> = report.units.iter().flat_map(|unit| &unit.changes).collect();
        prop_assert_eq!(changes.len(), 1, "{:?}", report);
        prop_assert_eq!(&changes[0].place, &format!("{prefix}{place}"));
        prop_assert_eq!((changes[0].side, report.only_left, report.only_right), (side, 0, 0));
    }

    #[test]
    fn swapping_the_sides_swaps_the_report(one in any_session(), other in any_session()) {
        let options = Options::default();
        let one = recorded(&lines(&numbered(one), &FIRST), 0, &options);
        let other = recorded(&lines(&numbered(other), &SECOND), 0, &options);
        let there = compare(&one, &other, &options).expect("all texts");
        let back = compare(&other, &one, &options).expect("all texts");
        prop_assert_eq!((there.only_left, there.only_right), (back.only_right, back.only_left));
        prop_assert_eq!(there.only_left + there.changed + there.same, one.units.len());
        prop_assert_eq!(there.only_right + there.changed + there.same, other.units.len());
        let _ = there.to_json();
    }

    #[test]
    fn texts_that_are_missing_are_asked_for(one in any_session(), other in any_session(), keep_ids in any::<bool>()) {
        let options = strict(|options| options.keep_ids = keep_ids);
        let sides = [lines(&numbered(one), &FIRST), lines(&numbered(other), &SECOND)];
        let whole = sides.each_ref().map(|side| recorded(side, 0, &options));
        let [mut left, mut right] =
            sides.each_ref().map(|side| collected(side, 0, Collector::new(&options).with_stderr(true).without_texts()));
        let mut passes = 0;
        let report = loop {
            match compare(&left, &right, &options) {
                Ok(report) => break report,
                Err(missing) => {
                    passes += 1;
                    prop_assert!(passes <= 3);
                    for (recording, seqs, side) in
                        [(&mut left, missing.left, &sides[0]), (&mut right, missing.right, &sides[1])]
                    {
                        let wanted = recording.wanted(&seqs);
                        let collector = Collector::new(&options).with_stderr(true).only_texts_of(wanted);
                        recording.fill(collected(side, 0, collector));
                    }
                }
            }
        };
        prop_assert_eq!(report, compare(&whole[0], &whole[1], &options).expect("all texts"));
    }

    #[test]
    fn any_text_is_taken(left in prop::collection::vec("[<>!]\\PC{0,40}", 0..5), right in ".{0,60}") {
        let right = [format!("<{right}")];
        let report = diff(&left, &right);
        prop_assert_eq!(report.only_right + report.changed + report.same, units(&right).len());
    }
}

/// A result with a text in base64, in a member of this name.
fn encoded(name: &str, text: &str) -> Vec<String> {
    use base64::Engine;
    let blob = base64::engine::general_purpose::STANDARD.encode(text);
    let contents = json!({"contents": [{"uri": "demo://resource/dynamic/blob/1", name: blob}]});
    vec![ask(1, "t", json!({})), answer(1, contents)]
}

#[test]
fn times_in_base64_are_volatile_and_the_rest_is_not() {
    let noon = "Resource 1: This is a base64 blob created at 12:00:01 PM";
    let later = noon.replace("12:00:01 PM", "1:30:59 PM");
    let other = later.replace("Resource 1", "Resource 2");
    for name in ["blob", "data"] {
        let changed = |one: &str, other: &str, options: &Options| {
            diff_with(&encoded(name, one), &encoded(name, other), options).changed
        };
        let exact = Options { exact: true, ..Options::default() };
        assert_eq!(changed(noon, &later, &Options::default()), 0, "{name}");
        assert_eq!(changed(noon, &later, &exact), 1, "{name}");
        assert_eq!(changed(noon, &other, &Options::default()), 1, "{name}");
        assert_eq!(changed("no time at all", "no time in here", &Options::default()), 1, "{name}");
    }
    // The report has what is on the wire, so that a patch can be applied.
    let report = diff(&encoded("blob", noon), &encoded("blob", &other));
    let change = &report.units[0].changes[0];
    assert_eq!(change.place, "/contents/0/blob");
    assert!(change.right.as_deref().is_some_and(|right| right.starts_with("\"UmVzb3VyY2UgMjog")), "{change:?}");
}

#[test]
fn base64_of_bytes_is_compared_as_it_is() {
    use base64::Engine;
    let engine = base64::engine::general_purpose::STANDARD;
    let picture = |last: u8| {
        engine.encode([&b"\x89PNG\r\n\x1a\n at 12:00:01 PM and some more bytes of a picture"[..], &[last]].concat())
    };
    let of =
        |blob: String| vec![ask(1, "t", json!({})), answer(1, json!({"contents": [{"uri": "a://b", "blob": blob}]}))];
    assert_eq!(diff(&of(picture(1)), &of(picture(1))).changed, 0);
    assert_eq!(diff(&of(picture(1)), &of(picture(2))).changed, 1);
}
