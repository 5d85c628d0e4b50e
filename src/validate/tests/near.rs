//! Near misses: for conditions of rules, sessions on both sides of the line that they draw. The files in `near` hold a
//! session after each line `== RULE: VERDICT`, which says what becomes of this one rule, whatever else the session does.
//! `failed once`, `failed twice` and `failed 3 times` also say how many findings there are; `not applicable` is not
//! `not observed`.

mod computed;
mod limits;

use super::{BTreeSet, Report, http, run};
use crate::proposals::findings::Verdict::{self, Failed, NotApplicable, NotObserved, Passed};

/// What scripts abbreviate.
const ABBREVIATIONS: &[(&str, &str)] = &[
    (
        "$POST",
        r#"> POST {"accept":"application/json, text/event-stream","mcp-session-id":"s1","mcp-protocol-version":"2025-11-25"}"#,
    ),
    ("$JSON", r#"< 200 {"content-type":"application/json"}"#),
    ("$STREAM", r#"< 200 {"content-type":"text/event-stream"}"#),
    ("$MODERN", r#""accept":"application/json, text/event-stream","mcp-protocol-version":"2026-07-28""#),
    ("$META", r#""_meta":{$MEMBERS,"io.modelcontextprotocol/clientCapabilities":{}}"#),
    (
        "$MEMBERS",
        r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"}"#,
    ),
    ("$DONE", r#""resultType":"complete""#),
    ("$SUBSCRIPTION", r#""_meta":{"io.modelcontextprotocol/subscriptionId":1}"#),
    ("$TASK", TASK),
    ("$ONE", "11111111-1111-4111-8111-111111111111"),
];

/// A session of a server that works on tasks, with a task.
const TASK: &str = r#"hello 2025-11-25 {} | {"tools":{},"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}}
    c>s {"id":1,"method":"tools/call","params":{"name":"t","task":{}}}
    @1000 s>c {"id":1,"result":{"task":{"taskId":"a","status":"working","createdAt":"2025-11-25T10:00:00Z","lastUpdatedAt":"2025-11-25T10:00:00Z","ttl":0,"pollInterval":1000}}}"#;
/// A notification about it, `$IS(status)`; `STATUS` stands for its status.
const STATUS: &str = r#"s>c {"method":"notifications/tasks/status","params":{"taskId":"a","status":"STATUS","createdAt":"2025-11-25T10:00:00Z","lastUpdatedAt":"2025-11-25T10:00:00Z","ttl":0}}"#;
/// Its state as a result, `$STATE(status)`.
const STATE: &str = r#""result":{"taskId":"a","status":"STATUS","createdAt":"2025-11-25T10:00:00Z","lastUpdatedAt":"2025-11-25T10:00:00Z","ttl":0}"#;

/// A session over HTTP in an earlier revision, as far as the handshake.
fn session_of(revision: &str) -> String {
    http::cases::SESSION.replace("2025-11-25", revision)
}

fn expand(script: &str) -> String {
    let mut text = script.to_owned();
    for (name, meaning) in ABBREVIATIONS {
        text = text.replace(name, meaning);
    }
    for status in ["working", "completed", "failed", "cancelled"] {
        text = text.replace(&format!("$IS({status})"), &STATUS.replace("STATUS", status));
        text = text.replace(&format!("$STATE({status})"), &STATE.replace("STATUS", status));
    }
    text.replace("$IN_2025_06", &session_of("2025-06-18")).replace("$IN_2025_03", &session_of("2025-03-26"))
}

/// A verdict, and the number of findings if it matters.
type Outcome = (Verdict, Option<usize>);

/// What becomes of a rule in all sessions of a script, and how many findings there are.
fn outcome(rule: &str, script: &str) -> (Verdict, usize) {
    outcome_in(rule, &run(&expand(script)))
}

/// What becomes of a rule in all sessions of a report, and how many findings there are.
fn outcome_in(rule: &str, report: &Report) -> (Verdict, usize) {
    let count = report.findings.iter().filter(|finding| finding.rule.id == rule).count();
    let all: Vec<_> = report.connections.iter().flat_map(|connection| connection.verdicts.all()).collect();
    let is = |wanted| all.iter().any(|(id, verdict)| *id == rule && *verdict == wanted);
    let verdict = [Failed, Passed, NotObserved, NotApplicable].into_iter().find(|wanted| is(*wanted));
    (verdict.unwrap_or(NotObserved), count)
}

/// What becomes of a rule in all sessions of a script.
fn verdict(rule: &str, script: &str) -> Verdict {
    outcome(rule, script).0
}

/// Reads the words for a verdict.
fn expected(words: &str) -> Option<Outcome> {
    let count = |words: &str| words.strip_prefix("failed ")?.strip_suffix(" times")?.parse().ok();
    Some(match words {
        "failed" => (Failed, None),
        "passed" => (Passed, None),
        "not observed" => (NotObserved, None),
        "not applicable" => (NotApplicable, None),
        "failed once" => (Failed, Some(1)),
        "failed twice" => (Failed, Some(2)),
        _ => (Failed, Some(count(words)?)),
    })
}

/// Reads a file of near misses: each rule, its expected verdict, and the session.
fn rows(file: &str) -> impl Iterator<Item = (&str, Outcome, String)> {
    file.split("== ").skip(1).map(|row| {
        let (heading, session) = row.split_once('\n').expect("a session");
        let (rule, words) = heading.split_once(": ").expect("a verdict");
        let expected = expected(words).unwrap_or_else(|| panic!("{rule}: {words} is not a verdict"));
        let lines: Vec<_> = session.lines().filter(|line| !line.starts_with('#')).collect();
        (rule, expected, lines.join("\n"))
    })
}

fn check(file: &str) {
    let known: BTreeSet<_> =
        crate::validate::all_rules(crate::proposals::Registry::built_in()).map(|rule| rule.id).collect();
    let wrong: Vec<_> = rows(file)
        .inspect(|(rule, ..)| assert!(known.contains(rule), "there is no rule {rule}"))
        .map(|(rule, expected, script)| (rule, expected, outcome(rule, &script), script))
        .filter(|(_, (verdict, count), got, _)| *verdict != got.0 || count.is_some_and(|count| count != got.1))
        .map(|(rule, expected, got, script)| format!("{rule} is {got:?}, expected {expected:?}:\n{script}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(rows(file).count() > 0);
}

/// A test for each file.
macro_rules! near {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                check(include_str!(concat!("near/", stringify!($name), ".txt")));
            }
        )*
    };
}

near! {
    requests_over_http
    responses_over_http
    sessions_over_http
    more_about_http
    requests_and_their_responses
    progress_and_cancellation
    log_messages_and_pages
    sampling_messages
    capabilities_and_content
    the_modern_era
    subscriptions
    elicitation
    rounds_of_input
    tasks
    tools_and_their_lists
    messages_that_are_hard_to_place
    conversation
    reminder
    mcpl
    hooks
    mcpe
}
