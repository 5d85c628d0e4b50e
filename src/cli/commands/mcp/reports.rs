//! The tools `statistics`, `findings`, `diff` and `explain`.

use super::answer::{Answer, Problem, Rows, named, visible};
use super::child;
use super::cursor;
use super::library::Opened;
use super::tools::{Cx, text_of};
use crate::explain::{self, Subject};
use crate::proposals::Rule;
use crate::render::explain as render;
use crate::render::style::Palette;
use crate::validate::all_rules;
use crate::wire::json;
use crate::wire::text::counted;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::ffi::OsString;

/// The maximum length of a report of mcpreel that is read. Unit: bytes.
const MAX_REPORT_BYTES: usize = 64 << 20;
/// The maximum length of a text in a row, in characters.
const MAX_TEXT_CHARS: usize = 600;
/// The width of explanations, in columns.
const WIDTH: usize = 100;
/// Ends an explanation that is too long.
const CUT: &str = "\n(cut at the size limit)";
/// The groups of counts, and what one is called.
const GROUPS: [(&str, &str); 5] = [
    ("methods", "method"),
    ("tools", "tool"),
    ("proposals", "proposal"),
    ("sessions", "session"),
    ("directions", "direction"),
];

/// A number of a report with its noun.
fn number(count: &Value, noun: &str) -> String {
    counted(count.as_u64().unwrap_or_default(), noun)
}

/// Runs a command that prints one JSON object.
pub(super) fn report(words: &[OsString], paths: &[&Opened], cx: &Cx<'_>) -> Result<Value, Problem> {
    let (text, is_all, ran) = child::run_for_output(words, cx.bounds, MAX_REPORT_BYTES)?;
    let ran = child::Ran { report: without_paths(&ran.report, paths), ..ran };
    if !is_all {
        return Err(Problem::new("the report is too long").hint("ask for less, for instance with a filter"));
    }
    ran.check()?;
    match json::value_of(&text) {
        Value::Null => Err(Problem::new("there is nothing to report").quoting(&ran.report)),
        report => Ok(report),
    }
}

/// A report without the paths of this process.
pub(super) fn without_paths(text: &str, paths: &[&Opened]) -> String {
    let mut text = text.to_owned();
    for opened in paths {
        text = text.replace(&*opened.readable().to_string_lossy(), "the recording");
    }
    text
}

/// Answers a call of `statistics`.
///
/// # Errors
///
/// The recording cannot be read, or the filter is not valid.
pub(super) fn statistics(arguments: &Value, cx: &Cx<'_>) -> Result<Answer, Problem> {
    let opened = cx.open(text_of(arguments, "recording").unwrap_or_default())?;
    let by = text_of(arguments, "by").unwrap_or("method");
    counts(&opened, by, text_of(arguments, "filter").unwrap_or_default(), cx)
}

/// Counts what is in a recording.
pub(super) fn counts(opened: &Opened, by: &str, terms: &str, cx: &Cx<'_>) -> Result<Answer, Problem> {
    let mut filter = if terms.is_empty() { String::new() } else { format!("({terms})") };
    if opened.stream != 0 {
        filter.push_str(&format!(" stream:{}", opened.stream));
    }
    let mut words = child::words(&["stats", "--format", "json", "--by", by, "--"]);
    words.push(opened.readable().into());
    if !filter.is_empty() {
        words.push(filter.into());
    }
    let counted_all = report(&words, &[opened], cx)?;
    let mut rows = Rows::within(cx.settings.max_bytes);
    let group = GROUPS.iter().find(|(_, name)| *name == by).map_or("errors", |(group, _)| *group);
    let list = group_rows(&counted_all[group]);
    for row in &list {
        let row = visible(row, MAX_TEXT_CHARS);
        if !rows.take(&row_text(&row), row) {
            break;
        }
    }
    let mut answer = Answer { what: "counts", ..Answer::default() };
    for name in [
        "events",
        "messages",
        "bytes",
        "message_bytes",
        "seconds",
        "unanswered",
        "orphan_answers",
        "late_answers",
        "failed_exchanges",
        "stderr_bytes",
        "gaps",
    ] {
        answer = answer.fact(name, counted_all[name].clone());
    }
    let said = |name: &str, noun: &str| number(&counted_all[name], noun);
    answer = answer.fact("kinds", counted_all["kinds"].clone()).say(&format!(
        "{} with {} and {} in {} seconds; {} without a response.",
        said("events", "event"),
        said("messages", "message"),
        said("bytes", "byte"),
        counted_all["seconds"],
        said("unanswered", "request")
    ));
    answer = answer.say(&format!("The rows are counts by {by}, most calls first."));
    let slowest = &counted_all["slowest"];
    if slowest["seq"].is_u64() {
        let (seq, latency) = (&slowest["seq"], &slowest["latency_ms"]);
        answer = answer.say(&format!("The slowest request has seq {seq} ({latency} ms)."));
        answer = answer.fact("slowest", json!({"seq": seq, "latency_ms": latency}));
    }
    let left = list.len() - rows.values.len();
    if left > 0 {
        answer = answer
            .say(&format!("{} left out for the size limit; narrow them with a filter.", counted(left as u64, "row")));
    }
    let answer = answer.fact("rows_left_out", left);
    let damages = visible(&counted_all["damages"], MAX_TEXT_CHARS);
    Ok(Answer { recorded: rows.text, data: json!({"by": by, "rows": rows.values, "damages": damages}), ..answer })
}

/// The rows of a group, those with the most calls first.
fn group_rows(group: &Value) -> Vec<Value> {
    let mut rows: Vec<Value> = match group {
        Value::Array(rows) => rows.clone(),
        _ => {
            let named = |(name, row): (&String, &Value)| {
                let mut named = json!({"name": name});
                row.as_object().into_iter().flatten().for_each(|(member, value)| named[member] = value.clone());
                named
            };
            group.as_object().into_iter().flatten().map(named).collect()
        }
    };
    let calls = |row: &Value| row["calls"].as_u64().or(row["count"].as_u64()).unwrap_or_default();
    rows.sort_by_key(|row| std::cmp::Reverse(calls(row)));
    rows
}

/// A row of counts as a line, without zeros.
fn row_text(row: &Value) -> String {
    let mut parts = Vec::new();
    for (name, value) in row.as_object().into_iter().flatten() {
        match value {
            Value::Null if name == "code" => parts.push("a result with isError".to_owned()),
            Value::Null => {}
            Value::Number(number) if number.as_f64() == Some(0.0) => {}
            Value::String(text) if name == "name" => parts.push(text.clone()),
            Value::String(text) => parts.push(format!("{name} {text}")),
            Value::Object(times) => {
                let times = times.iter().map(|(name, time)| format!("{name} {time}"));
                parts.push(format!("latency in ms: {}", times.collect::<Vec<_>>().join(" ")));
            }
            other => parts.push(format!("{name} {other}")),
        }
    }
    parts.join(", ")
}

/// Answers a call of `findings`.
///
/// # Errors
///
/// The recording cannot be read, or the rule or the cursor is unknown.
pub(super) fn findings(arguments: &Value, cx: &Cx<'_>) -> Result<Answer, Problem> {
    let recording = text_of(arguments, "recording").unwrap_or_default();
    let (least, only) = (text_of(arguments, "severity").unwrap_or("info"), text_of(arguments, "rule"));
    let request = ("findings", recording, least, only);
    let from = cursor::number(&request, text_of(arguments, "cursor"))?;
    let opened = cx.open(recording)?;
    let (all, summary) = found(&opened, least, only, cx)?;
    let (mut rows, mut next) = (Rows::within(cx.settings.max_bytes * 2 / 3), None);
    let mut rules: BTreeSet<&str> = BTreeSet::new();
    for (at, finding) in all.iter().enumerate().skip(usize::try_from(from).unwrap_or(usize::MAX)) {
        let row = finding_row(finding);
        if !rows.take(&finding_text(&row), row) {
            next = Some(at);
            break;
        }
        if let Some(rule) = known_rule(finding, cx) {
            rules.insert(rule.id);
        }
    }
    let mut answer = Answer { what: "findings", ..Answer::default() };
    let counts = &summary["counts"];
    answer = answer.fact("counts", counts.clone()).fact("total", all.len()).say(&format!(
        "mcpreel checked {}: {}, {} and {} count.",
        number(&summary["messages"], "message"),
        number(&counts["error"], "error"),
        number(&counts["warning"], "warning"),
        number(&counts["info"], "info")
    ));
    answer = match all.len() {
        0 => answer.say("No findings are listed for these arguments."),
        total => answer.say(&format!("Listed: {} of {total}.", rows.values.len())),
    };
    if let Some(next) = next {
        let next = cursor::make(&request, &next.to_string());
        answer = answer.say(&format!("There are more: pass cursor \"{next}\".")).fact("next_cursor", next);
    }
    let listed = all_rules(cx.settings.registry).filter(|rule| rules.contains(rule.id));
    let (mut explained, mut left) = (Vec::new(), cx.settings.max_bytes / 3);
    for rule in listed {
        let value = rule_json(rule);
        let size = value.to_string().len();
        if size > left {
            answer.said.push_str("\nMore rules are violated; the tool explain says what each requires.");
            break;
        }
        left -= size;
        answer.said.push_str(&format!("\n{}", rule_text(rule)));
        explained.push(value);
    }
    let answer = answer.fact("rules", explained);
    Ok(Answer { recorded: rows.text, data: json!({"findings": rows.values}), ..answer })
}

/// The findings of a recording that are at least this severe, and the report that they are from.
pub(super) fn found(
    opened: &Opened,
    least: &str,
    only: Option<&str>,
    cx: &Cx<'_>,
) -> Result<(Vec<Value>, Value), Problem> {
    let mut words = child::words(&["validate", "--format", "json"]);
    if let Some(only) = only {
        words.push(format!("--only={only}").into());
    }
    words.push("--".into());
    words.push(opened.readable().into());
    let mut summary = report(&words, &[opened], cx)?;
    let rank = |severity: &str| ["info", "warning", "error"].iter().position(|known| *known == severity);
    let is_wanted = |finding: &Value| {
        let is_of_stream = opened.stream == 0 || finding["stream"] == opened.stream;
        is_of_stream && rank(finding["severity"].as_str().unwrap_or_default()) >= rank(least)
    };
    let mut all = match summary["findings"].take() {
        Value::Array(all) => all,
        _ => Vec::new(),
    };
    all.retain(is_wanted);
    // The worst first; findings of one severity stay in the order of their messages.
    all.sort_by_key(|finding| std::cmp::Reverse(rank(finding["severity"].as_str().unwrap_or_default())));
    Ok((all, summary))
}

fn known_rule(finding: &Value, cx: &Cx<'_>) -> Option<&'static Rule> {
    all_rules(cx.settings.registry).find(|rule| finding["rule"] == rule.id)
}

/// What is shown of a finding.
pub(super) fn finding_row(finding: &Value) -> Value {
    let names = ["rule", "severity", "seq", "stream", "direction", "method", "path", "seen", "excerpt"];
    let mut row: serde_json::Map<String, Value> =
        names.iter().map(|name| ((*name).to_owned(), visible(&finding[*name], MAX_TEXT_CHARS))).collect();
    if finding["standing"] != "counted" {
        row.insert("not_counted".to_owned(), visible(&finding["standing"], MAX_TEXT_CHARS));
    }
    row.into()
}

pub(super) fn finding_text(row: &Value) -> String {
    let text = |name: &str| row[name].as_str().unwrap_or_default();
    let mut out = format!("{} {}", text("severity"), text("rule"));
    if row["seq"].is_u64() {
        out.push_str(&format!(" at seq {}", row["seq"]));
    }
    for name in ["method", "path"].iter().filter(|name| !text(name).is_empty()) {
        out.push_str(&format!(" {name} {}", text(name)));
    }
    out.push_str(&format!(": {}", text("seen")));
    if !text("excerpt").is_empty() {
        out.push_str(&format!(" | {}", text("excerpt")));
    }
    if row["not_counted"].is_string() {
        out.push_str(&format!(" (does not count: {})", text("not_counted")));
    }
    out
}

fn rule_json(rule: &Rule) -> Value {
    json!({"rule": rule.id, "severity": rule.severity.name(), "text": rule.text, "source": rule.source, "fix": rule.fix})
}

/// What a rule requires, from where, and what to do.
fn rule_text(rule: &Rule) -> String {
    let fix = rule.fix.map(|fix| format!(" Fix: {fix}")).unwrap_or_default();
    format!("Rule {}: {} Source: {}.{fix}", rule.id, rule.text, rule.source)
}

/// Answers a call of `diff`.
///
/// # Errors
///
/// A recording cannot be read, or the cursor is unknown.
pub(super) fn diff(arguments: &Value, cx: &Cx<'_>) -> Result<Answer, Problem> {
    let (before, after) = (text_of(arguments, "a").unwrap_or_default(), text_of(arguments, "b").unwrap_or_default());
    let (only, is_exact) = (text_of(arguments, "only"), arguments["exact"] == true);
    let request = ("diff", before, after, only, is_exact);
    let from = cursor::number(&request, text_of(arguments, "cursor"))?;
    let (before, after) = (cx.open(before)?, cx.open(after)?);
    let mut words = child::words(&["diff", "--format", "json"]);
    if let Some(only) = only {
        words.push(format!("--only={only}").into());
    }
    if is_exact {
        words.push("--exact".into());
    }
    words.push(before.readable().into());
    words.push(after.readable().into());
    let compared = report(&words, &[&before, &after], cx)?;
    differences(&compared, &request, from, cx)
}

/// The differences in a report of `diff`.
pub(super) fn differences(
    compared: &Value,
    request: &impl std::hash::Hash,
    from: u64,
    cx: &Cx<'_>,
) -> Result<Answer, Problem> {
    let units = compared["units"].as_array().map(Vec::as_slice).unwrap_or_default();
    let (mut rows, mut next) = (Rows::within(cx.settings.max_bytes), None);
    for (at, unit) in units.iter().enumerate().skip(usize::try_from(from).unwrap_or(usize::MAX)) {
        let row = unit_row(unit);
        if !rows.take(&unit_text(&row), row) {
            next = Some(at);
            break;
        }
    }
    let mut answer = Answer { what: "differences", ..Answer::default() };
    for name in ["same", "changed", "only_left", "only_right", "moved", "not_compared"] {
        answer = answer.fact(name, compared[name].clone());
    }
    let volatile = &compared["volatile"]["mapped"];
    answer = answer.fact("volatile", volatile.clone()).say(&format!(
        "Requests and notifications: {} the same, {} changed, {} only in A, {} only in B, {} moved.",
        compared["same"], compared["changed"], compared["only_left"], compared["only_right"], compared["moved"]
    ));
    if volatile.as_u64().is_some_and(|count| count > 0) {
        answer = answer.say(&format!("{volatile} values that each run makes anew (times, ids) were not compared."));
    }
    if !rows.values.is_empty() {
        answer = answer.say("Each change is A → B at a JSON Pointer.");
    }
    if let Some(next) = next {
        let next = cursor::make(request, &next.to_string());
        answer = answer.say(&format!("There are more: pass cursor \"{next}\".")).fact("next_cursor", next);
    }
    let renamed = visible(&compared["renamed"], MAX_TEXT_CHARS);
    let mut text = String::new();
    for tool in compared["renamed"].as_array().into_iter().flatten().take(20) {
        let name = |member: &str| visible(&tool[member], 100).as_str().unwrap_or_default().to_owned();
        text.push_str(&format!("tool {} is probably {} in B\n", name("from"), name("to")));
    }
    Ok(Answer { recorded: text + &rows.text, data: json!({"units": rows.values, "renamed": renamed}), ..answer })
}

/// The maximum number of changes of a message that are listed.
const MAX_CHANGES: usize = 20;

fn unit_row(unit: &Value) -> Value {
    let changes = unit["changes"].as_array().map(Vec::as_slice).unwrap_or_default();
    let change = |change: &Value| {
        let short = |name: &str| {
            let value = change.get(name).map(Value::to_string);
            value.map_or(Value::Null, |text| crate::render::quotation::beginning(&text, 300).into())
        };
        let (pointer, kind) = (visible(&change["pointer"], 300), &change["kind"]);
        json!({"pointer": pointer, "kind": kind, "a": short("left"), "b": short("right")})
    };
    json!({
        "status": unit["status"], "kind": unit["kind"], "direction": unit["direction"],
        "method": visible(&unit["method"], MAX_TEXT_CHARS), "subject": visible(&unit["subject"], MAX_TEXT_CHARS),
        "a_seq": unit["left"]["seq"], "b_seq": unit["right"]["seq"],
        "changes": changes.iter().take(MAX_CHANGES).map(change).collect::<Vec<_>>(),
        "more_changes": changes.len().saturating_sub(MAX_CHANGES),
    })
}

fn unit_text(row: &Value) -> String {
    let text = |name: &str| row[name].as_str().unwrap_or_default();
    let place = |name: &str| row[name].as_u64().map_or_else(|| "–".to_owned(), |seq| seq.to_string());
    let mut out = format!("{} {} {} {}", text("status"), text("kind"), text("method"), text("subject"));
    out = format!("{} (seq {} in A, {} in B)", out.trim_end(), place("a_seq"), place("b_seq"));
    for change in row["changes"].as_array().into_iter().flatten() {
        let text = |name: &str| change[name].as_str().unwrap_or("nothing");
        out.push_str(&format!("\n  {} {}: {} → {}", text("kind"), text("pointer"), text("a"), text("b")));
    }
    if let Some(more) = row["more_changes"].as_u64().filter(|more| *more > 0) {
        out.push_str(&format!("\n  and {}", counted(more, "more change")));
    }
    out
}

/// Answers a call of `explain`.
///
/// # Errors
///
/// Nothing has that name.
pub(super) fn explain(arguments: &Value, cx: &Cx<'_>) -> Result<Answer, Problem> {
    let name = text_of(arguments, "name").unwrap_or_default();
    let subjects = explain::find(name, cx.settings.registry);
    if subjects.is_empty() {
        let similar = explain::similar(name, cx.settings.registry);
        let problem = Problem::new(format!("mcpreel knows nothing named {}", named(name)));
        return Err(match &similar[..] {
            [] => problem.hint("pass a method, a capability, an error code, or a rule that findings names"),
            names => problem.hint(format!("similar: {}", names.join(", "))),
        });
    }
    let mut text = explained(&subjects);
    let entries = subjects.iter().map(|subject| {
        let mut entry = subject.to_json(true, None);
        // Schemas are long, and the text has an outline of them.
        if let Some(members) = entry.as_object_mut() {
            members.shift_remove("schemas");
        }
        entry
    });
    let mut entries: Vec<Value> = entries.collect();
    while entries.len() > 1 && Value::from(entries.clone()).to_string().len() > cx.settings.max_bytes {
        entries.pop();
    }
    if text.len() > cx.settings.max_bytes {
        let most = cx.settings.max_bytes - CUT.len();
        let end = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
        text.truncate(end);
        text.push_str(CUT);
    }
    Ok(Answer { said: text, ..Answer::default() }.fact("entries", entries))
}

/// Explanations as text.
pub(super) fn explained(subjects: &[Subject]) -> String {
    let mut text = String::new();
    for subject in subjects {
        // Writing to a string does not fail.
        let _ = render::whole(subject, None, WIDTH, &Palette::default(), &mut text);
        text.push('\n');
    }
    text
}
