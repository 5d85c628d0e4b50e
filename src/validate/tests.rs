//! Tests of the rules: for each rule, one script breaks it, and another one exercises it without breaking it.

mod base;
mod conversation;
mod cuts;
mod era;
mod good;
mod hooks;
mod mcpe;
mod mcpl;
mod near;
mod overlap;
mod reminder;
mod transcripts;

use super::*;
use crate::proposals::Severity;
use crate::trace::{EventHeader, Flags};
use crate::wire::{Direction, Framing};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A rule's id, and a script that breaks it.
type Case = (&'static str, &'static str);

/// Feeds events to a validator, one millisecond apart unless a script says otherwise.
struct Feed {
    reporter: Reporter,
    seq: u64,
    time: i64,
    stream: u32,
    /// The HTTP exchange that carries the next events; 0 for none.
    exchange: u32,
    /// All events so far.
    tape: Vec<(EventHeader, Vec<u8>)>,
}

impl Feed {
    fn new() -> Self {
        let reporter = Reporter::new(Registry::built_in());
        Self { reporter, seq: 0, time: 0, stream: 0, exchange: 0, tape: Vec::new() }
    }

    /// Begins an HTTP exchange with this header in its request.
    fn exchange(&mut self, header: Option<(&str, &str)>) {
        self.exchange += 1;
        let reported = serde_json::json!({"what": "request", "method": "POST", "headers": header.as_slice()});
        self.transport(Direction::ClientToServer, Flags::default(), &reported);
    }

    fn event(&mut self, kind: EventKind, flags: Flags, framing: Framing, payload: &[u8]) {
        let header = EventHeader {
            seq: self.seq,
            time: self.time,
            stream: self.stream,
            exchange: self.exchange,
            kind,
            flags,
            framing,
            len: payload.len() as u32,
            offset: 0,
            message: None,
        };
        self.reporter.observe(&Event { header: &header, payload });
        self.tape.push((header, payload.to_vec()));
        self.seq += 1;
        self.time += 1_000_000;
    }

    /// Records a part of an HTTP exchange.
    fn transport(&mut self, direction: Direction, flags: Flags, reported: &Value) {
        let mut payload = Vec::new();
        ciborium::into_writer(reported, &mut payload).expect("CBOR");
        self.event(EventKind::Transport, Flags::toward(direction).with(flags), Framing::Whole, &payload);
    }

    /// Runs a line about HTTP; returns whether it is one.
    fn http_line(&mut self, line: &str) -> bool {
        let Some((word, rest)) = line.split_once(' ') else { return false };
        let with_headers = |head: Value, headers: &str| {
            let headers: Value = serde_json::from_str(headers).expect("headers");
            let pairs: Vec<_> = headers.as_object().expect("an object").clone().into_iter().collect();
            let mut head = head;
            head["headers"] = serde_json::json!(pairs);
            head
        };
        match word {
            ">" => {
                self.exchange += 1;
                let (method, headers) = rest.split_once(' ').unwrap_or((rest, "{}"));
                let head = serde_json::json!({"what": "request", "method": method});
                self.transport(Direction::ClientToServer, Flags::default(), &with_headers(head, headers));
            }
            "<" => {
                let (status, headers) = rest.split_once(' ').unwrap_or((rest, "{}"));
                let status: u16 = status.parse().expect("a status");
                let failed = if status >= 400 { Flags::FAILED } else { Flags::default() };
                let head = serde_json::json!({"what": "response", "status": status});
                self.transport(Direction::ServerToClient, failed, &with_headers(head, headers));
            }
            "exchange" => self.exchange = rest.parse().expect("a number"),
            "priming" => {
                let (id, retry) = rest.split_once(' ').unwrap_or((rest, ""));
                let retry = if retry.is_empty() { String::new() } else { format!("retry: {retry}\n") };
                let block = serde_json::json!({"what": "sse", "block": format!("id: {id}\n{retry}data:\n\n")});
                self.transport(Direction::ServerToClient, Flags::default(), &block);
            }
            "endpoint" => {
                let block = serde_json::json!({"what": "sse", "block": format!("event: endpoint\ndata: {rest}\n\n")});
                self.transport(Direction::ServerToClient, Flags::default(), &block);
            }
            "body" => {
                let bytes: u64 = rest.parse().expect("a number");
                let body = serde_json::json!({"what": "body", "bytes": bytes});
                self.transport(Direction::ServerToClient, Flags::default(), &body);
            }
            _ => return false,
        }
        true
    }

    fn message(&mut self, direction: Direction, payload: &[u8]) {
        self.event(EventKind::Message, Flags::toward(direction), Framing::Lf, payload);
    }

    /// Sends the messages of the handshake: `REVISION CLIENT_CAPABILITIES | SERVER_CAPABILITIES`.
    fn hello(&mut self, rest: &str) {
        let (revision, rest) = rest.split_once(' ').expect("a revision");
        let (client, server) = rest.split_once(" | ").expect("two capabilities");
        let params = |info: &str| format!(r#""protocolVersion":"{revision}",{info}"#);
        let asks = params(&format!(r#""capabilities":{client},"clientInfo":{{"name":"c","version":"1"}}"#));
        let says = params(&format!(r#""capabilities":{server},"serverInfo":{{"name":"s","version":"1"}}"#));
        let client = format!(r#"{{"jsonrpc":"2.0","id":"h","method":"initialize","params":{{{asks}}}}}"#);
        let server = format!(r#"{{"jsonrpc":"2.0","id":"h","result":{{{says}}}}}"#);
        self.message(Direction::ClientToServer, client.as_bytes());
        self.message(Direction::ServerToClient, server.as_bytes());
        self.message(Direction::ClientToServer, br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    }

    /// Runs one line of a script: `c>s TEXT` or `s>c TEXT` (after `@MS` at that time), `hello …`, `gap`, `close`, or a
    /// framing before the text (`c>s crlf TEXT`). `stream N` switches to that connection, `note MARK` adds a note. `xN
    /// LINE` repeats a line N times, with `$N` as the number; `$LARGE` stands for a long text, `$FF` for a byte that is
    /// not UTF-8.
    ///
    /// Over HTTP, `> METHOD {HEADERS}` begins an exchange and `< STATUS {HEADERS}` answers it; both take a JSON object.
    /// `exchange N` goes back to an earlier one. `s>c sse ID TEXT` is an event with an id, `priming ID RETRY` one
    /// without a message (`RETRY` may be left out), and `body N` a body that is no message.
    fn line(&mut self, line: &str) {
        let mut line = line.trim_start();
        if let Some((count, rest)) = line.strip_prefix('x').and_then(|rest| rest.split_once(' ')) {
            let count: usize = count.parse().expect("a count");
            return (0..count).for_each(|number| self.line(&rest.replace("$N", &number.to_string())));
        }
        match line {
            "$HELLO" => return self.line(good::HELLO),
            "$EVENTS" => return self.line(good::EVENTS),
            "$SESSION" => return lines(http::cases::SESSION).iter().for_each(|line| self.line(line)),
            "$UPDATED" => return [good::HELLO, good::UPDATE].iter().for_each(|line| self.line(line)),
            _ => {}
        }
        let large = line.replace("$LARGE", &"x".repeat(20_000));
        line = &large;
        if let Some(rest) = line.strip_prefix('@') {
            let (at, rest) = rest.split_once(' ').expect("a time");
            self.time = at.parse::<i64>().expect("milliseconds") * 1_000_000;
            line = rest;
        }
        if let Some(rest) = line.strip_prefix("hello ") {
            return self.hello(rest);
        }
        if let Some(stream) = line.strip_prefix("stream ") {
            self.stream = stream.parse().expect("a number");
            return;
        }
        if self.http_line(line) {
            return;
        }
        if let Some(mark) = line.strip_prefix("note ") {
            let mut note = Vec::new();
            ciborium::into_writer(&serde_json::json!({"mark": mark}), &mut note).expect("written");
            return self.event(EventKind::Note, Flags::default(), Framing::Lf, &note);
        }
        match line {
            "" => return,
            "damage" => return self.reporter.validator.lose_track(),
            "gap" => return self.event(EventKind::Gap, Flags::default(), Framing::Lf, b""),
            "crash" => {
                let mut end = Vec::new();
                let about = serde_json::json!({"exit_code": null, "signal": 11});
                ciborium::into_writer(&about, &mut end).expect("written");
                return self.event(EventKind::StreamClosed, Flags::default(), Framing::Lf, &end);
            }
            "exit" => {
                let mut end = Vec::new();
                ciborium::into_writer(&serde_json::json!({"exit_code": 1, "signal": null}), &mut end).expect("written");
                return self.event(EventKind::StreamClosed, Flags::FAILED, Framing::Lf, &end);
            }
            "close" => return self.event(EventKind::StreamClosed, Flags::default(), Framing::Lf, b""),
            _ => {}
        }
        match line.split_at(4) {
            ("c>s ", text) => self.message_line(Direction::ClientToServer, text),
            ("s>c ", text) => self.message_line(Direction::ServerToClient, text),
            _ => panic!("not a line of a script: {line}"),
        }
    }

    /// Records a message, after its framing if it is not a line.
    fn message_line(&mut self, direction: Direction, mut text: &str) {
        if let Some((id, text)) = text.strip_prefix("sse ").and_then(|rest| rest.split_once(' ')) {
            let text = text.replacen('{', r#"{"jsonrpc":"2.0","#, 1);
            let block = format!("id: {id}\ndata: {text}\n\n");
            return self.event(EventKind::Message, Flags::toward(direction), Framing::Sse, block.as_bytes());
        }
        let mut framing = Framing::Lf;
        for (name, other) in [
            ("crlf ", Framing::CrLf),
            ("whole ", Framing::ContentLength),
            ("open ", Framing::Unterminated),
            ("piece ", Framing::Fragment),
        ] {
            if let Some(rest) = text.strip_prefix(name) {
                (framing, text) = (other, rest);
            }
        }
        // Scripts leave out what every message has.
        let full = match text.strip_prefix('{') {
            Some(rest) if !text.contains("jsonrpc") && !text.contains("no-version") => {
                format!(r#"{{"jsonrpc":"2.0",{rest}"#)
            }
            _ => text.to_owned(),
        };
        let payload = if framing == Framing::ContentLength {
            format!("Content-Length: {}\r\n\r\n{full}", full.len())
        } else {
            full
        };
        let mut payload = payload.into_bytes();
        if let Some(at) = memchr::memmem::find(&payload, b"$FF") {
            payload.splice(at..at + 3, [0xff]);
        }
        self.event(EventKind::Message, Flags::toward(direction), framing, &payload);
    }
}

/// Splits a script into lines; a line that does not begin with a word of the script language continues the one before.
fn lines(script: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in script.lines().map(str::trim_start) {
        let begins = [
            "c>s ",
            "s>c ",
            "hello ",
            "@",
            "$",
            "x",
            "gap",
            "damage",
            "close",
            "crash",
            "exit",
            "stream ",
            "note ",
            "> ",
            "< ",
            "exchange ",
            "priming ",
            "endpoint ",
            "body ",
        ];
        match lines.last_mut() {
            Some(before) if !begins.iter().any(|word| line.starts_with(word)) => before.push_str(line),
            _ => lines.push(line.to_owned()),
        }
    }
    lines
}

fn run(script: &str) -> Report {
    let mut feed = Feed::new();
    lines(script).iter().for_each(|line| feed.line(line));
    feed.reporter.finish()
}

fn ids(report: &Report) -> BTreeSet<&'static str> {
    report.findings.iter().map(|finding| finding.rule.id).collect()
}

fn cases() -> impl Iterator<Item = &'static Case> {
    let others =
        [base::CASES, conversation::CASES, reminder::CASES, mcpl::CASES, hooks::CASES, mcpe::CASES, overlap::CASES];
    others.into_iter().chain(subjects::CASES.iter().copied()).chain([http::cases::CASES]).flatten()
}

/// Scripts that exercise rules without breaking them.
fn quiet_scripts() -> impl Iterator<Item = &'static str> {
    let others = [good::QUIET, conversation::QUIET, reminder::QUIET, mcpl::QUIET, hooks::QUIET, mcpe::QUIET];
    others.into_iter().chain(subjects::QUIET.iter().copied()).chain([http::cases::QUIET]).flatten().copied()
}

/// Returns the ids of the rules that a script breaks.
pub(super) fn found(script: &str) -> BTreeSet<&'static str> {
    ids(&run(script))
}

/// Returns the findings of a script above this severity, as text.
pub(super) fn findings_above(severity: Severity, script: &str) -> Vec<String> {
    let findings = run(script).findings.into_iter().filter(|finding| finding.rule.severity > severity);
    findings.map(|finding| format!("{}: {}", finding.rule.id, finding.seen)).collect()
}

/// A quiet script shows how it is done right.
#[test]
fn each_rule_is_below_one_heading() {
    let mut listed: Vec<_> =
        rule_groups(Registry::built_in()).iter().flat_map(|group| group.rules.iter().map(|rule| rule.id)).collect();
    let mut all: Vec<_> = all_rules(Registry::built_in()).map(|rule| rule.id).collect();
    listed.sort_unstable();
    all.sort_unstable();
    assert_eq!(listed, all);
}

#[test]
fn quiet_scripts_of_subjects_break_no_requirement() {
    for script in subjects::QUIET.iter().copied().chain([http::cases::QUIET]).flatten() {
        assert_eq!(findings_above(Severity::Warning, script), Vec::<String>::new(), "{script}");
    }
}

#[test]
fn every_case_breaks_its_rule() {
    for (rule, script) in cases() {
        let report = run(script);
        assert!(ids(&report).contains(rule), "{rule} is not found in\n{script}\nbut {:#?}", report.findings);
        let known: BTreeSet<_> = all_rules(Registry::built_in()).map(|rule| rule.id).collect();
        assert!(ids(&report).is_subset(&known));
    }
}

#[test]
fn every_rule_has_a_case_and_every_case_a_rule() {
    let rules: BTreeSet<_> = all_rules(Registry::built_in()).map(|rule| rule.id).collect();
    let killed: BTreeSet<_> = cases().map(|(rule, _)| *rule).collect();
    assert_eq!(rules.difference(&killed).collect::<Vec<_>>(), Vec::<&&str>::new(), "without a case");
    assert_eq!(killed.difference(&rules).collect::<Vec<_>>(), Vec::<&&str>::new(), "without a rule");
    assert_eq!(rules.len(), all_rules(Registry::built_in()).count(), "ids are unique");
}

#[test]
fn every_rule_says_what_to_do_in_a_short_sentence() {
    for rule in all_rules(Registry::built_in()) {
        let fix = rule.fix.unwrap_or_default();
        let is_sentence = fix.starts_with(char::is_uppercase) && fix.ends_with('.') && !fix.contains("  ");
        assert!(is_sentence && fix.split(' ').count() <= 30, "{}: {fix:?}", rule.id);
        assert_ne!(fix, rule.text, "{}", rule.id);
    }
}

#[test]
fn every_rule_is_kept_quiet_by_something_that_exercises_it() {
    // These only report summary; without one there is nothing to check.
    const NOTES: [&str; 6] = [
        "pairing/open-at-end",
        "pairing/unattributed-error",
        "conversation/carrier",
        "conversation/history-shared",
        "reminder/legacy-envelope",
        "mcpe/other-dialect",
    ];
    let mut quiet = BTreeSet::from(NOTES);
    for script in cases().map(|case| case.1).chain([good::SESSION]).chain(quiet_scripts()) {
        let report = run(script);
        let found = ids(&report);
        quiet.extend(exercised(&report).filter(|id| !found.contains(id)));
    }
    let never: Vec<_> = all_rules(Registry::built_in()).map(|rule| rule.id).filter(|id| !quiet.contains(id)).collect();
    assert_eq!(never, Vec::<&str>::new(), "never quiet while exercised");
}

#[test]
fn cases_break_little_else() {
    // A case is about one rule. The snapshot lists other rules of severity error that it breaks, so that surprises are
    // seen.
    let mut others: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (rule, script) in cases() {
        for finding in run(script).findings {
            if finding.rule.severity == Severity::Error && finding.rule.id != *rule {
                others.entry(rule).or_default().insert(finding.rule.id);
            }
        }
    }
    insta::assert_debug_snapshot!(others);
}

/// What comes of all sessions: where each one breaks rules, and how many others exercise each rule and keep it.
#[test]
fn all_sessions_have_their_verdicts() {
    let quiet = quiet_scripts().chain([good::SESSION]).map(|script| ("quiet", script));
    let mut lines = Vec::new();
    let mut kept: BTreeMap<&str, usize> = BTreeMap::new();
    for (name, script) in cases().copied().chain(quiet) {
        let report = run(script);
        let broken = ids(&report);
        let places = |rule: &&str| {
            let found = report.findings.iter().filter(|finding| finding.rule.id == *rule);
            let events: Vec<_> = found.map(|it| it.seq.map_or("end".to_owned(), |seq| seq.to_string())).collect();
            format!("{rule} at {}", events.join(", "))
        };
        lines.push(format!("{name}: {}", broken.iter().map(places).collect::<Vec<_>>().join("; ")));
        for rule in exercised(&report).filter(|id| !broken.contains(id)).collect::<BTreeSet<_>>() {
            *kept.entry(rule).or_default() += 1;
        }
    }
    lines.extend(kept.iter().map(|(rule, count)| format!("{rule} is kept {count} times")));
    insta::assert_snapshot!(lines.join("\n"));
}

fn exercised(report: &Report) -> impl Iterator<Item = &'static str> {
    report.connections.iter().flat_map(|connection| connection.verdicts.exercised())
}

#[test]
fn findings_of_a_rule_are_capped_and_the_rest_counted() {
    let mut feed = Feed::new();
    feed.reporter = feed.reporter.keeping(3);
    (0..10).for_each(|_| feed.line("s>c started"));
    let report = feed.reporter.finish();
    assert_eq!((report.findings.len(), report.errors), (3, 10));
    assert_eq!(report.not_kept.get("stream/noise"), Some(&7));
    assert_eq!(report.to_json()["notKept"]["stream/noise"], 7);
}

#[test]
fn items_of_a_batch_that_are_no_messages_are_one_thing_to_mend() {
    let seen = |batch: &str| {
        let mut feed = Feed::new();
        feed.line(batch);
        let report = feed.reporter.finish();
        let no_message = |found: &&Finding| found.rule.id == rules::NO_MESSAGE.id;
        report.findings.iter().filter(no_message).map(|found| found.seen.clone()).collect::<Vec<_>>()
    };
    let first = "not a JSON-RPC message: \"0\"".to_owned();
    assert_eq!(seen("s>c [0]"), std::slice::from_ref(&first));
    let others = "3 more items of the batch are no JSON-RPC messages".to_owned();
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    assert_eq!(seen(&format!("s>c [0,{ping},[],{{}},1]")), [first, others]);
    assert!(seen(&format!("s>c [{ping}]")).is_empty());
}

#[test]
fn connections_are_reported_apart_by_their_stream() {
    let mut feed = Feed::new();
    for stream in [0, 7] {
        let text = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let header = EventHeader {
            seq: feed.seq,
            time: 0,
            stream,
            exchange: 0,
            kind: EventKind::Message,
            flags: Flags::default(),
            framing: Framing::Lf,
            len: text.len() as u32,
            offset: 0,
            message: None,
        };
        feed.reporter.observe(&Event { header: &header, payload: text });
        feed.seq += 1;
    }
    let report = feed.reporter.finish();
    assert_eq!(report.connections.iter().map(|it| (it.stream, it.messages)).collect::<Vec<_>>(), [(0, 1), (7, 1)]);
    assert_eq!(ids(&report), BTreeSet::from(["pairing/open-at-end"]));
}

#[test]
fn a_connection_of_others_that_is_joined_begins_in_the_middle() {
    let begins = |described: Value| {
        let mut feed = Feed::new();
        let mut payload = Vec::new();
        ciborium::into_writer(&described, &mut payload).expect("CBOR");
        feed.event(EventKind::StreamOpened, Flags::default(), Framing::Whole, &payload);
        feed.line(r#"c>s {"id":"mcpreel-0123abcd-1","method":"tools/list"}"#);
        feed.line(r#"s>c {"id":"mcpreel-0123abcd-1","result":{"tools":[]}}"#);
        ids(&feed.reporter.finish()).contains("lifecycle/not-initialized")
    };
    assert!(!begins(serde_json::json!({"transport": "session", "session": "s"})));
    assert!(begins(serde_json::json!({"transport": "memory"})));
}

#[test]
fn clients_that_share_a_server_of_the_modern_era_have_ids_of_their_own() {
    let reused = |described: Value, params: &str| {
        let mut feed = Feed::new();
        let mut payload = Vec::new();
        ciborium::into_writer(&described, &mut payload).expect("CBOR");
        feed.event(EventKind::StreamOpened, Flags::default(), Framing::Whole, &payload);
        for _client in 0..2 {
            feed.line(&format!(r#"c>s {{"id":1,"method":"tools/list","params":{params}}}"#));
            feed.line(r#"s>c {"id":1,"result":{"tools":[]}}"#);
        }
        ids(&feed.reporter.finish()).contains("pairing/id-reused")
    };
    let gateway = || serde_json::json!({"transport": "stdio", "behind": "http"});
    let modern = r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
        "io.modelcontextprotocol/clientCapabilities":{}}}"#;
    assert!(!reused(gateway(), modern));
    assert!(reused(gateway(), "{}"), "a session belongs to one client");
    assert!(reused(serde_json::json!({"transport": "stdio"}), modern), "standard input is one client's");
}

#[test]
fn server_sent_events_are_read_for_their_data() {
    let mut feed = Feed::new();
    let ping = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    for block in [format!("event: message\nid: 1\ndata: {ping}\n\n"), "data: {\"jsonrpc\":\"2.0\",\n\n".to_owned()] {
        feed.event(EventKind::Message, Flags::SERVER_TO_CLIENT, Framing::Sse, block.as_bytes());
    }
    let report = feed.reporter.finish();
    let malformed = report.findings.iter().filter(|found| found.rule.id == "envelope/malformed");
    assert_eq!(malformed.map(|found| found.seq).collect::<Vec<_>>(), [Some(1)]);
}

#[test]
fn closed_connections_make_space_for_others() {
    let mut feed = Feed::new();
    let many = u32::try_from(MAX_CONNECTIONS).expect("few") + 200;
    for stream in 1..=many {
        feed.line(&format!("stream {stream}"));
        feed.line("$HELLO");
        feed.line(r#"c>s {"id":1,"method":"ping"}"#);
        feed.line("close");
    }
    // A late message on a retired connection is not checked against what came before.
    feed.line("stream 1");
    feed.line(r#"s>c {"id":1,"result":{}}"#);
    let report = feed.reporter.finish();
    assert_eq!((report.connections.len(), report.more.connections), (1000, 201));
    let found = ids(&report);
    assert!(!found.contains("stream/not-checked") && !found.contains("pairing/orphan-response"), "{found:?}");
    let open = report.findings.iter().filter(|found| found.rule.id == "pairing/open-at-end").count();
    let open = open as u64 + report.not_kept.get("pairing/open-at-end").copied().unwrap_or_default();
    assert_eq!(open, u64::from(many), "all of them are judged");
}

#[test]
fn only_the_latest_closed_connections_are_remembered() {
    let of_stream = |report: &Report, stream: u32| -> BTreeSet<&'static str> {
        report.findings.iter().filter(|found| found.stream == stream).map(|found| found.rule.id).collect()
    };
    let unannounced = |feed: &mut Feed| {
        feed.line("stream 1000");
        feed.line(r#"c>s {"id":1,"method":"tools/list"}"#);
    };
    let mut alone = Feed::new();
    unannounced(&mut alone);

    let mut feed = Feed::new();
    for stream in 0..=MAX_CLOSED {
        feed.line(&format!("stream {stream}"));
        feed.line("$HELLO");
        feed.line("close");
    }
    for stream in [0, 1] {
        feed.line(&format!("stream {stream}"));
        feed.line(r#"s>c {"id":99,"result":{}}"#);
    }
    unannounced(&mut feed);
    let report = feed.reporter.finish();
    assert!(!of_stream(&report, 0).contains("pairing/orphan-response"), "{:?}", of_stream(&report, 0));
    assert!(of_stream(&report, 1).contains("pairing/orphan-response"), "{:?}", of_stream(&report, 1));
    let missing = of_stream(&report, 1000);
    assert!(!missing.is_empty() && missing == of_stream(&alone.reporter.finish(), 1000), "{missing:?}");
}

#[test]
fn streams_beyond_those_that_are_followed_are_reported_once() {
    let mut feed = Feed::new();
    for stream in 0..MAX_CONNECTIONS + 2 {
        feed.line(&format!("stream {stream}"));
        feed.line(r#"c>s {"id":1,"method":"ping"}"#);
    }
    let report = feed.reporter.finish();
    let reported: Vec<_> = report.findings.iter().filter(|found| found.rule.id == "stream/not-checked").collect();
    assert_eq!((reported.len(), report.connections.len()), (1, MAX_CONNECTIONS));
    assert!(reported[0].seen.contains("at most 1000 open streams"), "{}", reported[0].seen);
}

#[test]
fn a_connection_with_too_many_open_requests_is_not_judged_by_them() {
    let mut feed = Feed::new();
    feed.line("$HELLO");
    feed.line(r#"x9000 c>s {"id":$N,"method":"ping"}"#);
    feed.line(r#"x9000 s>c {"id":$N,"result":{}}"#);
    let found = ids(&feed.reporter.finish());
    assert!(found.contains("stream/not-checked"), "{found:?}");
    assert!(!found.contains("pairing/orphan-response") && !found.contains("pairing/unanswered"), "{found:?}");
}

#[test]
fn the_json_shape_is_stable() {
    let report = run(r#"s>c crlf {"id":9,"result":{}}"#);
    let mut json = report.to_json();
    for list in ["exercised", "notObserved"] {
        let count = json["connections"][0][list].as_array().map_or(0, Vec::len);
        assert!(count > 5, "{list}");
        json["connections"][0][list] = Value::Null;
    }
    assert_eq!(json["connections"][0]["failed"]["pairing/orphan-response"], 1);
    for list in ["notApplicable", "checked", "failed"] {
        assert!(json["connections"][0].as_object_mut().is_some_and(|facts| facts.shift_remove(list).is_some()));
    }
    insta::assert_snapshot!(serde_json::to_string_pretty(&json).expect("json"), @r##"
    {
      "counts": {
        "error": 1,
        "warning": 0,
        "info": 1
      },
      "messages": 1,
      "findings": [
        {
          "rule": "stream/crlf",
          "severity": "info",
          "text": "Client and server end each line with LF, not with CR LF.",
          "source": "MCP transports, stdio",
          "stream": 0,
          "seq": 0,
          "direction": "s2c",
          "method": null,
          "path": null,
          "seen": "the line ends with CR LF"
        },
        {
          "rule": "pairing/orphan-response",
          "severity": "error",
          "text": "Client and server send a response only to a request that the other side sent before.",
          "source": "JSON-RPC 2.0 §5",
          "stream": 0,
          "seq": 0,
          "direction": "s2c",
          "method": null,
          "path": null,
          "seen": "the server answered request 9, but no such request is pending"
        }
      ],
      "notKept": {},
      "connections": [
        {
          "stream": 0,
          "era": null,
          "revision": null,
          "messages": 1,
          "client": null,
          "server": null,
          "declared": [],
          "exercised": null,
          "notObserved": null
        }
      ],
      "moreConnections": 0
    }
    "##);
}

/// The table of requirements names only rules that exist, and all rules of MCP's subjects.
#[test]
fn the_table_of_requirements_agrees_with_the_rules() {
    let table = include_str!("../../docs/mcp-rules.md");
    let rows: Vec<_> = table.lines().filter(|line| line.starts_with("| ") && !line.contains("| Section |")).collect();
    assert!(rows.len() >= 150, "{} rows", rows.len());
    let known: BTreeSet<_> = all_rules(Registry::built_in()).map(|rule| rule.id).collect();
    for row in &rows {
        let named: Vec<_> = row.split('|').nth(3).expect("a rule").split('`').skip(1).step_by(2).collect();
        assert!(named.iter().all(|id| known.contains(id)), "{row}");
        assert!(!named.is_empty() || row.contains("| none: "), "{row}");
    }
    // The other rules about the base protocol are those of JSON-RPC and of the proposals.
    let base = rules::RULES.iter().filter(|rule| rule.source.starts_with("MCP "));
    let required = http::rules().chain(subject::SUBJECTS.iter().flat_map(|entry| entry.rules)).chain(base);
    let absent: Vec<_> = required
        .filter(|rule| rule.severity == Severity::Error)
        .filter(|rule| !table.contains(&format!("`{}`", rule.id)))
        .map(|rule| rule.id)
        .collect();
    assert_eq!(absent, Vec::<&str>::new(), "errors without a requirement");
}
