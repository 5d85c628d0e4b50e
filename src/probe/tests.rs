//! Tests with scripted clients, in virtual time.

use super::{ClientEnd, ClientFailure, Output, Plan, ProbeReport, ProbeRun, Settings, TrialOutcome};
use crate::proposals::server::Declaration;
use crate::wire::Direction::{ClientToServer, ServerToClient};
use serde_json::{Value, json};
use std::time::Duration;

const SETTINGS: Settings = Settings {
    wait: Duration::from_secs(2),
    settle: Duration::from_millis(100),
    connect: Duration::from_secs(60),
    restarts: 20,
};

/// A client's reaction to a message.
#[derive(Clone, Copy, PartialEq)]
enum Does {
    Answer(&'static str),
    Refuse(i64),
    Nothing,
    /// Exits with this code.
    Die(i32),
    /// Closes the connection, but keeps running.
    Close,
    /// Reads nothing any more.
    Freeze,
}

/// A scripted client.
struct Client<F> {
    /// Its reaction to a message of this method.
    does: F,
    /// Whether it completes the handshake with these declarations.
    takes: fn(&[Declaration]) -> bool,
    /// The time after the handshake at which it exits by itself, with code 0.
    life: Option<Duration>,
    pongs: bool,
    /// Whether it exits with code 1 at the first message after the handshake, with these declarations.
    crashes: fn(&[Declaration]) -> bool,
    /// After this many messages, it exits with code 0.
    reads: usize,
    /// Whether the news of that exit comes too late every other time.
    is_late: bool,
}

impl<F: FnMut(&str, bool) -> Does> Client<F> {
    fn new(does: F) -> Self {
        Self { does, takes: |_| true, life: None, pongs: true, crashes: |_| false, reads: usize::MAX, is_late: false }
    }

    fn probe_report(mut self, plan: Plan, settings: Settings) -> (ProbeRun, Vec<String>) {
        let (mut probe_run, mut now, mut log) = (ProbeRun::new(plan, settings), Duration::ZERO, Vec::new());
        let mut orders: std::collections::VecDeque<Output> = probe_run.begin(now).into();
        let (mut stream, mut id, mut dies, mut is_frozen) = (0, 0, None, false);
        let (mut read, mut crashes) = (0, false);
        for _ in 0..10_000 {
            let Some(order) = orders.pop_front() else {
                let due = probe_run.next_timeout().expect("there is a deadline");
                now = now.max(dies.filter(|at| *at < due).unwrap_or(due));
                let is_dead = dies.take_if(|at| *at <= now).is_some();
                orders.extend(if is_dead { probe_run.ended(now, code(0)) } else { probe_run.handle_timeout(now) });
                continue;
            };
            match order {
                Output::Over => return (probe_run, log),
                Output::Finish => dies = None,
                Output::Start(declared, _) => {
                    (stream, is_frozen) = (stream + 1, false);
                    (read, crashes) = (0, (self.crashes)(&declared));
                    log.push(format!("start {}", declared.len()));
                    now += Duration::from_millis(10);
                    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
                        "protocolVersion": "2025-11-25", "clientInfo": {"name": "scripted", "version": "1"},
                        "capabilities": {"experimental": {"mcpl": {"version": "0.4"}}}}});
                    probe_run.pass(now, stream, ClientToServer, hello.to_string().as_bytes());
                    let hi = json!({"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": "2025-11-25"}});
                    probe_run.pass(now, stream, ServerToClient, hi.to_string().as_bytes());
                    if (self.takes)(&declared) {
                        dies = self.life.map(|life| now + life);
                        orders.extend(probe_run.ready(now, stream));
                    } else {
                        orders.extend(probe_run.ended(now, code(1)));
                    }
                }
                Output::Send(stream, fired) => {
                    let fired = json!(fired);
                    let (method, is_request) =
                        (fired["method"].as_str().expect("a method"), fired["kind"] == "request");
                    let mut message = json!({"jsonrpc": "2.0", "method": method, "params": fired["params"]});
                    if is_request {
                        id += 1;
                        message["id"] = id.into();
                    }
                    orders.extend(probe_run.pass(now, stream, ServerToClient, message.to_string().as_bytes()));
                    if is_frozen {
                        continue;
                    }
                    now += Duration::from_millis(1);
                    read += 1;
                    let does = match method {
                        _ if crashes => Does::Die(1),
                        _ if read == self.reads && self.is_late && stream % 2 == 0 => Does::Close,
                        _ if read == self.reads => Does::Die(0),
                        "ping" if self.pongs => Does::Answer("{}"),
                        "ping" => Does::Nothing,
                        _ => (self.does)(method, is_request),
                    };
                    let mut say = |member: &str, value: Value| {
                        let id = if is_request { json!(id) } else { Value::Null };
                        let answer = json!({"jsonrpc": "2.0", "id": id, member: value});
                        probe_run.pass(now, stream, ClientToServer, answer.to_string().as_bytes())
                    };
                    orders.extend(match does {
                        Does::Answer(result) => say("result", serde_json::from_str(result).expect("JSON")),
                        Does::Refuse(code) => say("error", json!({"code": code, "message": "no"})),
                        Does::Nothing => Vec::new(),
                        Does::Die(with) => {
                            let closed = probe_run.closed(now, stream);
                            closed.into_iter().chain(probe_run.ended(now, code(with))).collect()
                        }
                        Does::Close => probe_run.closed(now, stream),
                        Does::Freeze => {
                            is_frozen = true;
                            Vec::new()
                        }
                    });
                }
            }
        }
        panic!("the probe does not end: {log:?}");
    }

    fn report(self, names: &[&str]) -> ProbeReport {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        self.probe_report(Plan::of(&names), SETTINGS).0.probe_report().expect("a survey")
    }
}

fn code(code: i32) -> ClientEnd {
    ClientEnd { code: Some(code), ..ClientEnd::default() }
}

/// The outcome of a method: its name and words.
fn of(probe_report: &ProbeReport, method: &str) -> (&'static str, String) {
    let sent = probe_report.messages.iter().rfind(|sent| sent.method == method).expect("was planned");
    (sent.outcome.name(), sent.outcome.words())
}

#[test]
fn x5_x6_each_message_is_answered_refused_ignored_or_taken() {
    let probe_report = Client::new(|method, is_request| match method {
        "push/event" => Does::Answer(r#"{"accepted":true}"#),
        "model/info" => Does::Answer(r#"{"modell":1}"#),
        "scope/elevate" => Does::Nothing,
        "mcpreel/unknown" => Does::Answer("{}"),
        "events/batch" => Does::Refuse(-32600),
        _ if is_request => Does::Refuse(-32601),
        _ => Does::Nothing,
    })
    .report(&[]);
    assert_eq!(of(&probe_report, "push/event"), ("answered", String::new()));
    let (name, words) = of(&probe_report, "model/info");
    assert!(name == "answered" && words.starts_with("differs from the proposal: "), "{words}");
    assert_eq!(of(&probe_report, "scope/elevate").0, "ignored");
    assert_eq!(of(&probe_report, "inference/request"), ("refused", "-32601 method not found".to_owned()));
    assert_eq!(of(&probe_report, "notifications/reminder").0, "taken");
    assert_eq!(of(&probe_report, "events/batch"), ("objected", "-32600 no, in response to a notification".to_owned()));
    assert!(of(&probe_report, "mcpreel/unknown").1.contains("a method that does not exist"));
    assert_eq!((probe_report.starts, probe_report.broken(), probe_report.client.answers_ping), (1, 0, true));
    assert_eq!(probe_report.client.name.as_deref(), Some("scripted"));
}

#[test]
fn x12_f9_every_place_is_declared_and_reported_with_what_sdks_keep() {
    let probe_report = Client::new(|_, _| Does::Nothing).report(&[]);
    let places: Vec<_> = probe_report.declarations.iter().map(|one| (one.place.as_str(), one.stock_sdks)).collect();
    let dropped = "dropped by TypeScript 1.x and Python 2.x";
    for (place, sdks) in [("_meta.harn.reminders", dropped), ("experimental.mcpl", "kept"), ("hooks", dropped)] {
        assert!(places.contains(&(place, sdks)), "{places:?}");
    }
    assert_eq!(places.len(), 10);
    let mcpl = probe_report.declarations.iter().find(|one| one.proposal == "mcpl").expect("declared");
    assert_eq!(mcpl.client_place.as_deref(), Some("experimental.mcpl"));
}

#[test]
fn what_breaks_it_is_found_and_the_rest_is_tried_after_it() {
    let does = |method: &str, _: bool| match method {
        "push/event" => Does::Die(1),
        "channels/list" => Does::Close,
        "events/event" => Does::Freeze,
        _ => Does::Nothing,
    };
    let (probe_run, log) = Client::new(does).probe_report(Plan::of(&[]), SETTINGS);
    let probe_report = probe_run.probe_report().expect("a survey");
    assert_eq!(of(&probe_report, "push/event"), ("broke", "the client exited with code 1".to_owned()));
    assert_eq!(of(&probe_report, "channels/list"), ("broke", "the client closed the connection".to_owned()));
    assert_eq!(of(&probe_report, "events/event"), ("broke", "the client stopped answering ping".to_owned()));
    assert_eq!(of(&probe_report, "events/batch").0, "taken");
    assert_eq!(
        (probe_report.broken(), probe_report.messages.iter().filter(|it| it.outcome.name() == "untried").count()),
        (3, 0)
    );
    // Each break, and one or two quiet runs.
    assert!((5..=6).contains(&log.len()), "{log:?}");
}

#[test]
fn a_client_that_ends_by_itself_is_not_called_broken() {
    let does = |_: &str, is_request: bool| if is_request { Does::Refuse(-32601) } else { Does::Nothing };
    let client = Client { life: Some(Duration::from_millis(450)), ..Client::new(does) };
    let probe_report = client.report(&[]);
    assert_eq!(probe_report.broken(), 0, "{:?}", probe_report.messages);
    assert_eq!(of(&probe_report, "notifications/mcpreel/unknown").0, "taken");
    // Too short for any message's timeout.
    let client = Client { life: Some(Duration::from_millis(50)), ..Client::new(|_, _| Does::Nothing) };
    let probe_report = client.report(&["reminder"]);
    assert_eq!(
        of(&probe_report, "notifications/reminder"),
        ("unclear", "the client exited with code 0, as it also does if only pings are sent".into())
    );
}

#[test]
fn a_client_without_ping_is_known_by_its_end_alone() {
    let does = |method: &str, _: bool| if method == "events/batch" { Does::Die(3) } else { Does::Nothing };
    let probe_report = Client { pongs: false, ..Client::new(does) }.report(&["mcpe"]);
    assert!(!probe_report.client.answers_ping);
    assert_eq!(of(&probe_report, "events/event").0, "taken");
    assert_eq!(of(&probe_report, "events/batch").0, "broke");
}

#[test]
fn a_declaration_that_breaks_the_handshake_is_found_and_left_out() {
    let takes = |declared: &[Declaration]| declared.iter().all(|one| one.path != ["events"]);
    let (probe_run, log) = Client { takes, ..Client::new(|_, _| Does::Nothing) }.probe_report(Plan::of(&[]), SETTINGS);
    let probe_report = probe_run.probe_report().expect("a survey");
    let broken: Vec<_> = probe_report.declarations.iter().filter(|one| one.outcome.is_broken()).collect();
    assert_eq!(broken.iter().map(|one| one.place.as_str()).collect::<Vec<_>>(), ["events"]);
    assert_eq!((log.first().map(String::as_str), log.last().map(String::as_str)), (Some("start 10"), Some("start 9")));
    assert_eq!(of(&probe_report, "events/event").0, "taken");
}

#[test]
fn a_client_that_crashes_on_a_declaration_after_the_handshake_is_broken() {
    let crashes = |declared: &[Declaration]| declared.iter().any(|one| one.path == ["experimental", "mcpl"]);
    let report = Client { crashes, ..Client::new(|_, _| Does::Nothing) }.report(&[]);
    let broken: Vec<_> = report.declarations.iter().filter(|one| one.outcome.is_broken()).collect();
    assert_eq!(broken.iter().map(|one| one.place.as_str()).collect::<Vec<_>>(), ["experimental.mcpl"]);
    assert_eq!((broken[0].outcome.words().as_str(), broken[0].only_with.len()), ("the client exited with code 1", 0));
    assert_eq!(of(&report, "push/event").0, "ignored", "the messages are tried without it");
    // One that always exits is not broken by what is declared.
    let report = Client { crashes: |_| true, ..Client::new(|_, _| Does::Nothing) }.report(&["mcpl"]);
    assert_eq!((report.broken(), report.declarations[0].outcome.name()), (0, "untried"));
}

#[test]
fn declarations_that_break_a_client_only_together_are_found() {
    fn both(declared: &[Declaration]) -> bool {
        let has = |path: &[&str]| declared.iter().any(|one| one.path == path);
        has(&["hooks"]) && has(&["events"])
    }
    let nothing = |_: &str, _: bool| Does::Nothing;
    let in_handshake = Client { takes: |declared| !both(declared), ..Client::new(nothing) };
    let later = Client { crashes: both, ..Client::new(nothing) };
    for client in [in_handshake, later] {
        let report = client.report(&[]);
        let broken: Vec<_> = report.declarations.iter().filter(|one| one.outcome.is_broken()).collect();
        let found: Vec<_> = broken.iter().map(|one| (one.place.as_str(), one.only_with.join(" "))).collect();
        assert_eq!(found, [("hooks", "events".to_owned()), ("events", "hooks".to_owned())]);
        assert_eq!(of(&report, "push/event").0, "ignored");
    }
}

#[test]
fn a_client_that_exits_after_a_few_messages_of_any_kind_is_not_broken() {
    for reads in 2..7 {
        let report = Client { reads, ..Client::new(|_, _| Does::Nothing) }.report(&["mcpe"]);
        assert_eq!(report.broken(), 0, "after {reads}: {:?}", report.messages);
        let report = Client { reads, is_late: true, ..Client::new(|_, _| Does::Nothing) }.report(&["mcpe"]);
        assert_eq!(report.broken(), 0, "after {reads}, without the exit code: {:?}", report.messages);
    }
    // Its own end does not hide that one of the messages breaks it.
    let does = |method: &str, _: bool| if method == "events/batch" { Does::Die(1) } else { Does::Nothing };
    let report = Client { reads: 6, ..Client::new(does) }.report(&["mcpe"]);
    assert_eq!((of(&report, "events/batch").0, report.broken()), ("broke", 1), "{:?}", report.messages);
}

#[test]
fn starts_are_bounded_and_what_was_not_tried_says_so() {
    let settings = Settings { restarts: 2, ..SETTINGS };
    let (probe_run, log) = Client::new(|_, _| Does::Die(1)).probe_report(Plan::of(&[]), settings);
    let probe_report = probe_run.probe_report().expect("a survey");
    assert_eq!(log.len(), 3);
    assert_eq!(probe_report.messages[0].outcome, TrialOutcome::Broke(code(1)));
    let untried =
        probe_report.messages.iter().filter(|sent| sent.outcome.words() == "the client was started too often");
    assert!(untried.count() > 10);
}

#[test]
fn a_client_that_never_comes_or_never_ends_its_handshake_is_a_failure() {
    let never = Client { takes: |_| false, ..Client::new(|_, _| Does::Nothing) };
    let probe_run = never.probe_report(Plan::of(&[]), SETTINGS).0;
    assert_eq!(probe_run.probe_report(), Err(ClientFailure::NoHandshake(Some(code(1)))));
    let mut probe_run = ProbeRun::new(Plan::of(&[]), SETTINGS);
    probe_run.begin(Duration::ZERO);
    probe_run.ended(Duration::from_secs(1), code(2));
    assert_eq!(probe_run.probe_report(), Err(ClientFailure::NeverCame(Some(code(2)))));
    let mut probe_run = ProbeRun::new(Plan::of(&[]), SETTINGS);
    probe_run.begin(Duration::ZERO);
    probe_run.pass(Duration::ZERO, 1, ClientToServer, br#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#);
    probe_run.handle_timeout(SETTINGS.connect);
    assert_eq!(probe_run.probe_report(), Err(ClientFailure::OnlyModern));
    // It need not discover the server first.
    let mut probe_run = ProbeRun::new(Plan::of(&[]), SETTINGS);
    probe_run.begin(Duration::ZERO);
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list",
        "params": {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}});
    probe_run.pass(Duration::ZERO, 1, ClientToServer, list.to_string().as_bytes());
    probe_run.ended(Duration::from_secs(1), code(1));
    assert_eq!(probe_run.probe_report(), Err(ClientFailure::OnlyModern));
}

#[test]
fn a_client_with_one_thread_that_is_busy_with_a_message_is_late_and_not_broken() {
    let mut probe_run = ProbeRun::new(Plan::of(&["mcpl".to_owned()]), SETTINGS);
    probe_run.begin(Duration::ZERO);
    let say = |probe_run: &mut ProbeRun, at, way, text: &str| {
        probe_run.pass(Duration::from_millis(at), 1, way, text.as_bytes())
    };
    let sends = |orders: &[Output], method: &str| match orders {
        [Output::Send(_, fired)] => json!(fired)["method"] == method,
        _ => false,
    };
    assert!(sends(&probe_run.ready(Duration::ZERO, 1), "ping"));
    say(&mut probe_run, 0, ServerToClient, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    assert!(sends(&say(&mut probe_run, 1, ClientToServer, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#), "push/event"));
    say(&mut probe_run, 1, ServerToClient, r#"{"jsonrpc":"2.0","id":2,"method":"push/event"}"#);
    assert!(sends(&probe_run.handle_timeout(Duration::from_millis(2001)), "ping"));
    say(&mut probe_run, 2001, ServerToClient, r#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#);
    assert!(probe_run.handle_timeout(Duration::from_millis(9000)).is_empty(), "it may be busy for a while");
    let answer = r#"{"jsonrpc":"2.0","id":2,"result":{"accepted":true}}"#;
    assert!(say(&mut probe_run, 9001, ClientToServer, answer).is_empty());
    let next = say(&mut probe_run, 9002, ClientToServer, r#"{"jsonrpc":"2.0","id":3,"result":{}}"#);
    assert!(matches!(&next[..], [Output::Send(..)]) && !sends(&next, "ping"), "it goes on: {next:?}");
    let report = probe_run.probe_report().expect("a survey");
    assert_eq!((of(&report, "push/event"), report.broken()), (("answered", "late".to_owned()), 0));
}

#[test]
fn a_late_answer_counts_and_says_that_it_was_late() {
    let mut probe_run = ProbeRun::new(Plan::of(&["mcpl".to_owned()]), SETTINGS);
    probe_run.begin(Duration::ZERO);
    let send = |orders: Vec<Output>| match orders.into_iter().next() {
        Some(Output::Send(_, fired)) => json!(fired)["method"].as_str().unwrap_or_default().to_owned(),
        other => panic!("{other:?}"),
    };
    let say = |probe_run: &mut ProbeRun, at, way, text: &str| {
        probe_run.pass(Duration::from_millis(at), 1, way, text.as_bytes())
    };
    assert_eq!(send(probe_run.ready(Duration::ZERO, 1)), "ping");
    say(&mut probe_run, 0, ServerToClient, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    assert_eq!(send(say(&mut probe_run, 1, ClientToServer, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#)), "push/event");
    say(&mut probe_run, 1, ServerToClient, r#"{"jsonrpc":"2.0","id":2,"method":"push/event"}"#);
    assert_eq!(send(probe_run.handle_timeout(Duration::from_millis(2001))), "ping");
    say(&mut probe_run, 2002, ClientToServer, r#"{"jsonrpc":"2.0","id":2,"result":{"accepted":true}}"#);
    let probe_report = probe_run.probe_report().expect("a survey");
    assert_eq!(of(&probe_report, "push/event"), ("answered", "late".to_owned()));
    assert_eq!(of(&probe_report, "model/info").0, "untried");
}
