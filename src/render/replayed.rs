//! The report of replayed sessions: as JSON, and as results for other programs, with one suite for each session and one
//! case for each request.

use super::results::{Case, CaseVerdict, Level, Location, Problem, Results, Suite};
use crate::diff::report::UnitSide;
use crate::diff::{Change, ChangeKind};
use crate::render::diff::{change_lines, first_difference};
use crate::render::volatile::unused_place;
use crate::wire::text::excerpt;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// The maximum length of a value in a problem, in characters.
const WIDEST: usize = 120;

/// The maximum length of a line in the details of a problem, in characters.
const WIDEST_LINE: usize = 4000;

/// A replay of one session, as `replay --format json` prints it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct SessionReport {
    /// The path of the recording.
    pub recording: String,
    /// The path of the new session's reel; empty if it was not kept.
    pub session: String,
    /// The number of the session in the recording.
    pub stream: u32,
    /// The number of the repetition, from 1.
    pub run: u32,
    /// When it began, in Unix nanoseconds.
    pub began_ns: i64,
    /// How long it took.
    pub took_ms: f64,
    /// The verdict.
    pub verdict: Verdict,
    /// The number of messages sent.
    pub sent: usize,
    /// How many of them are requests.
    pub sent_requests: usize,
    /// The number of requests answered.
    pub answered: usize,
    /// The requests that were to be sent.
    pub requests: Vec<Request>,
    /// What was left out, and why.
    pub omitted: Vec<Omitted>,
    /// What there is to report besides.
    pub notes: Vec<String>,
    /// The comparison, as `diff --format json` prints it; null if there is none.
    pub diff: Value,
    /// Why the session did not reach its end, or an answer did not come.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Whether it ended at the first difference.
    #[serde(rename = "stopped")]
    pub is_stopped: bool,
    /// The exit code for this session alone.
    pub exit_code: u8,
}

/// A request of the recording.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Request {
    /// The number of its event.
    pub seq: u64,
    /// Its method, and the tool that it calls.
    pub message: String,
    /// When the live server answered, if it did.
    pub latency_ms: Option<f64>,
}

/// A recorded message that was not sent.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Omitted {
    /// The number of its event.
    pub seq: u64,
    /// Its method, and the tool that it calls.
    pub message: String,
    /// Why.
    pub reason: String,
}

/// The verdict on a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verdict {
    /// The live session is like the recording.
    #[default]
    Alike,
    /// It differs.
    Different,
    /// It did not reach its end, or an answer did not come.
    Failed,
}

impl SessionReport {
    /// The texts in which there may be something that the client or a server said, but for the comparison.
    pub(crate) fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let messages = self.requests.iter_mut().map(|request| &mut request.message);
        let omitted = self.omitted.iter_mut().flat_map(|one| [&mut one.message, &mut one.reason]);
        messages.chain(omitted).chain(&mut self.notes).chain(&mut self.failure)
    }

    /// Returns the name of its suite.
    fn name(&self) -> String {
        let run = if self.run > 1 { format!(", run {}", self.run) } else { String::new() };
        let stream = if self.stream > 0 { format!(" #{}", self.stream) } else { String::new() };
        format!("{}{stream}{run}", self.recording)
    }
}

/// Returns the results of replays.
pub(crate) fn results(sessions: &[&SessionReport]) -> Results {
    let notes = sessions.iter().flat_map(|one| one.notes.iter().map(|note| format!("{}: {note}", one.name())));
    let notes = notes.chain(unused_places(sessions));
    Results {
        title: "mcpreel replay".to_owned(),
        suites: sessions.iter().map(|one| suite(one)).collect(),
        rules: Vec::new(),
        notes: notes.collect(),
    }
}

/// Returns a note for each place of `--ignore` and `--unordered` at which no message of any session had anything. There is
/// none if a session did not reach its end.
pub(crate) fn unused_places(sessions: &[&SessionReport]) -> Vec<String> {
    if sessions.iter().any(|session| session.is_stopped || session.diff.is_null()) {
        return Vec::new();
    }
    let mut found: BTreeMap<(&str, &str), bool> = BTreeMap::new();
    for place in sessions.iter().flat_map(|session| session.diff["places"].as_array().into_iter().flatten()) {
        let name = |member: &str| place[member].as_str().unwrap_or_default();
        *found.entry((name("option"), name("place"))).or_default() |= place["used"] == true;
    }
    found.into_iter().filter(|(_, is_used)| !is_used).map(|((option, place), _)| unused_place(option, place)).collect()
}

fn suite(session: &SessionReport) -> Suite {
    let units = session.diff["units"].as_array().map(Vec::as_slice).unwrap_or_default();
    let of_request = |request: &Request| units.iter().filter(|unit| is_of(unit, request)).collect::<Vec<_>>();
    let requests = session.requests.iter().map(|request| {
        let name = format!("{} (seq {})", request.message, request.seq);
        let took = milliseconds(request.latency_ms.unwrap_or_default());
        case(session, name, took, &of_request(request), request.latency_ms.is_some())
    });
    let is_other = |unit: &&Value| !session.requests.iter().any(|request| is_of(unit, request));
    let others =
        units.iter().filter(is_other).map(|unit| case(session, unit_name(unit), Duration::ZERO, &[unit], true));
    let failure = session.failure.iter().map(|why| failed(session, why));
    Suite {
        name: session.name(),
        began: session.began_ns,
        took: milliseconds(session.took_ms),
        cases: requests.chain(others).chain(failure).collect(),
    }
}

fn milliseconds(time: f64) -> Duration {
    Duration::try_from_secs_f64(time / 1e3).unwrap_or_default()
}

/// Returns whether a difference is one of this request or its answer.
fn is_of(unit: &Value, request: &Request) -> bool {
    unit["kind"] == "request" && unit["left"]["seq"] == request.seq
}

fn unit_name(unit: &Value) -> String {
    let words = [&unit["method"], &unit["subject"]].into_iter().filter_map(Value::as_str);
    let name = words.collect::<Vec<_>>().join(" ");
    let kind = unit["kind"].as_str().unwrap_or_default();
    if name.is_empty() { kind.to_owned() } else { name }
}

/// A case without an answer was not checked, unless it differs.
fn case(session: &SessionReport, name: String, took: Duration, units: &[&Value], is_answered: bool) -> Case {
    let problems: Vec<Problem> = units.iter().flat_map(|unit| problems(session, unit)).collect();
    let verdict = match (problems.is_empty(), is_answered) {
        (false, _) => CaseVerdict::Failed,
        (true, true) => CaseVerdict::Passed,
        (true, false) => CaseVerdict::Skipped("not answered".to_owned()),
    };
    Case { name, class: session.recording.clone(), verdict, took, problems }
}

fn failed(session: &SessionReport, why: &str) -> Case {
    let problems = vec![problem(session, why.to_owned(), None, String::new())];
    let (name, class) = ("the whole session".to_owned(), session.recording.clone());
    Case { name, class, verdict: CaseVerdict::Broken, took: Duration::ZERO, problems }
}

/// One problem for each change of a message.
fn problems(session: &SessionReport, unit: &Value) -> Vec<Problem> {
    let seq = unit["left"]["seq"].as_u64();
    let whole = |text: &str| vec![problem(session, text.to_owned(), seq, String::new())];
    match unit["status"].as_str() {
        Some("only_left") => return whole("only in the recording"),
        Some("only_right") => return whole("only in the new session"),
        Some("moved") => return whole("at another place than in the recording"),
        _ => {}
    }
    let changes = unit["changes"].as_array().map(Vec::as_slice).unwrap_or_default();
    let described = changes.iter().filter_map(Change::from_json).map(|change| {
        let at = if change.side == UnitSide::Params { seq } else { unit["left"]["answer_seq"].as_u64().or(seq) };
        Problem { details: details(&change), ..problem(session, description(&change), at, change.pointer()) }
    });
    described.collect()
}

fn description(change: &Change) -> String {
    let value = |side: &Option<String>| excerpt(side.as_deref().unwrap_or_default(), WIDEST);
    match change.kind {
        ChangeKind::Added => format!("new: {}", value(&change.right)),
        ChangeKind::Removed => format!("missing: {}", value(&change.left)),
        ChangeKind::Reordered => "in another order".to_owned(),
        ChangeKind::Changed => {
            let Some((line, sides)) = first_difference(change, WIDEST) else { return "differs".to_owned() };
            let quoted = |text: String| if line.is_some() { format!("\"{text}\"") } else { text };
            let place = line.map(|line| format!("line {line}: ")).unwrap_or_default();
            let what = match sides.map(|side| side.map(quoted)) {
                [Some(left), Some(right)] => format!("{left} was recorded, not {right}"),
                [Some(left), None] => format!("missing: {left}"),
                [None, right] => format!("new: {}", right.unwrap_or_default()),
            };
            format!("{place}{what}")
        }
    }
}

/// Returns the lines of a change, if its description may not show all of them.
fn details(change: &Change) -> Option<String> {
    let is_long = |side: &Option<String>| side.as_ref().is_some_and(|text| text.chars().count() > WIDEST);
    let is_cut = !change.hunks.is_empty() || is_long(&change.left) || is_long(&change.right);
    is_cut.then(|| change_lines(change, WIDEST_LINE))
}

fn problem(session: &SessionReport, message: String, seq: Option<u64>, path: String) -> Problem {
    // In JSON lines, the header is the first line.
    let line = seq.filter(|_| session.recording.ends_with(".jsonl")).map_or(0, |seq| seq + 2);
    let location = Location { file: session.recording.clone(), line, path, columns: None, snippet: None };
    Problem { level: Level::Error, message, details: None, location: Some(location), excused: None, fingerprint: None }
}

#[cfg(test)]
mod tests {
    use super::super::results::Form;
    use super::*;
    use serde_json::json;

    fn session() -> SessionReport {
        let change =
            json!({"side": "result", "place": "/x", "pointer": "/result/x", "kind": "changed", "left": 1, "right": 2});
        let units = json!([
            {"kind": "request", "status": "changed", "method": "tools/call", "left": {"seq": 4, "answer_seq": 5},
                "changes": [change]},
            {"kind": "notification", "status": "only_right", "method": "notifications/message", "subject": "info",
                "left": null, "changes": []},
        ]);
        let request = |seq, message: &str, latency_ms| Request { seq, message: message.to_owned(), latency_ms };
        SessionReport {
            recording: "a.jsonl".to_owned(),
            stream: 2,
            took_ms: 1500.0,
            requests: vec![
                request(1, "tools/list", Some(2.0)),
                request(4, "tools/call add", Some(250.0)),
                request(6, "ping", None),
            ],
            notes: vec!["ambiguous".to_owned()],
            diff: json!({"units": units}),
            ..SessionReport::default()
        }
    }

    #[test]
    fn each_request_is_a_case_and_so_is_what_belongs_to_none() {
        let results = results(&[&session()]);
        let suite = &results.suites[0];
        assert_eq!((suite.name.as_str(), suite.took), ("a.jsonl #2", Duration::from_millis(1500)));
        let cases: Vec<_> = suite.cases.iter().map(|case| (case.name.as_str(), &case.verdict)).collect();
        let not_answered = CaseVerdict::Skipped("not answered".to_owned());
        let expected = [
            ("tools/list (seq 1)", &CaseVerdict::Passed),
            ("tools/call add (seq 4)", &CaseVerdict::Failed),
            ("ping (seq 6)", &not_answered),
            ("notifications/message info", &CaseVerdict::Failed),
        ];
        assert_eq!(cases, expected);
        assert_eq!(suite.cases[1].took, Duration::from_millis(250));
        assert_eq!(results.notes, ["a.jsonl #2: ambiguous"]);
    }

    #[test]
    fn a_difference_points_at_the_line_of_the_answer() {
        let mut out = String::new();
        Form::Github.write(&results(&[&session()]), &mut out).expect("written");
        let first = "::error file=a.jsonl,line=7,title=tools/call add (seq 4)::1 was recorded, not 2 (at /result/x)\n";
        assert!(out.starts_with(first), "{out}");
        assert!(out.contains("title=notifications/message info::only in the new session\n"), "{out}");
    }

    fn changed(change: Value) -> String {
        changed_as(Form::Junit, change)
    }

    fn changed_as(form: Form, mut change: Value) -> String {
        let mut session = session();
        change["side"] = "result".into();
        change["place"] = "/x".into();
        change["kind"] = "changed".into();
        session.diff["units"][0]["changes"] = json!([change]);
        let mut out = String::new();
        form.write(&results(&[&session]), &mut out).expect("written");
        out
    }

    #[test]
    fn a_text_of_several_lines_begins_at_its_first_compared_change() {
        let lines = json!([["both", "time 10:00"], ["removed", "old <1>"], ["added", "new <2>"], ["both", "end"]]);
        let text = "time 10:00\n".repeat(30);
        let hunk = json!({"left_line": 31, "right_line": 31, "lines": lines});
        let out = changed(json!({"left": format!("{text}old"), "right": format!("{text}new"), "hunks": [hunk]}));
        let message = r#"message="line 32: &quot;old &lt;1&gt;&quot; was recorded, not &quot;new &lt;2&gt;&quot;""#;
        assert!(out.contains(message), "{out}");
        assert!(
            out.contains("@@ -31 +31 @@&#10;  time 10:00&#10;- old &lt;1&gt;&#10;+ new &lt;2&gt;&#10;  end<"),
            "{out}"
        );
    }

    #[test]
    fn a_long_line_begins_shortly_before_its_difference_and_is_whole_below() {
        let same = "x".repeat(500);
        let out = changed(json!({"left": format!("{same} one"), "right": format!("{same} two")}));
        assert!(out.contains("x one&quot; was recorded, not …xxx"), "{out}");
        assert!(out.contains(&format!("&#10;- &quot;{same} one&quot;&#10;+ &quot;{same} two&quot;<")), "{out}");
    }

    #[test]
    fn github_and_markdown_show_the_lines_of_a_difference() {
        let lines = json!([["both", "a"], ["removed", "old ``` <1>"], ["added", "new"]]);
        let hunk = json!({"left_line": 1, "right_line": 1, "lines": lines});
        let changed = json!({"left": "a\nold", "right": "a\nnew", "hunks": [hunk]});
        let github = changed_as(Form::Github, changed.clone());
        assert!(github.contains("(at /result/x)%0A@@ -1 +1 @@%0A  a%0A- old ``` <1>%0A+ new\n"), "{github}");
        let markdown = changed_as(Form::Markdown, changed);
        let block = "<details><summary>tools/call add (seq 4) at /result/x</summary>\n\n````diff\n@@ -1 +1 @@\n  a\n- old \
                     ``` <1>\n+ new\n````\n\n</details>\n";
        assert!(markdown.contains(block), "{markdown}");
    }

    #[test]
    fn a_volatile_value_before_the_difference_does_not_hide_it() {
        let text = |time: &str, end: &str| format!("at {time} {} {end}", "same ".repeat(60));
        let change = json!({"left": text("10:00", "one"), "right": text("12:00", "two"), "alike": [9, 9]});
        let out = changed_as(Form::Github, change);
        assert!(out.contains("same  one\" was recorded, not …"), "{out}");
        assert!(out.contains("same  two\" (at /result/x)%0A- \"at 10:00 same"), "{out}");
    }

    #[test]
    fn a_place_to_ignore_is_noted_if_no_session_has_it() {
        let with = |places: Value| SessionReport { diff: json!({"places": places}), ..SessionReport::default() };
        let place = |place: &str, used: bool| json!({"option": "ignore", "place": place, "used": used});
        let one = with(json!([place("/a", false), place("/b", false)]));
        let other = with(json!([place("/a", true), place("/b", false)]));
        let stopped = SessionReport { is_stopped: true, ..one.clone() };
        assert_eq!(unused_places(&[&one, &other]), ["--ignore /b matches nothing"]);
        assert_eq!(unused_places(&[&one, &stopped]), [""; 0]);
        assert_eq!(results(&[&one, &other]).notes, ["--ignore /b matches nothing"]);
    }

    #[test]
    fn a_session_that_failed_is_a_broken_case() {
        let failed = SessionReport { failure: Some("the server ended".to_owned()), ..session() };
        let results = results(&[&failed]);
        let last = results.suites[0].cases.last().expect("a case");
        assert_eq!((last.name.as_str(), &last.verdict), ("the whole session", &CaseVerdict::Broken));
        assert_eq!(last.problems[0].message, "the server ended");
    }

    #[test]
    fn the_report_is_read_back_from_its_json() {
        let text = serde_json::to_string(&session()).expect("JSON");
        let again: SessionReport = serde_json::from_str(&text).expect("the same form");
        assert_eq!(serde_json::to_string(&again).expect("JSON"), text);
    }
}
