//! `call --file`: several requests on one connection, with captures and expectations, and results for build servers.

use super::{CallArgs, Format};
use crate::cli::client_session;
use crate::cli::jq::{Jq, Program};
use crate::cli::secret_warning::Shared;
use crate::cli::{Context, Outcome};
use crate::error::{CommandError, ErrorKind};
use crate::files::text::{LARGE, read_text, text_of};
use crate::host::client::{Answer, Params};
use crate::proposals::clip;
use crate::render::line;
use crate::render::results::{self, Case, CaseVerdict, Level, Location, Problem, Results, Suite};
use crate::runtime::client::{Connection, Failure};
use crate::scenario::ScenarioError;
use crate::wire::Envelope;
use crate::wire::text::counted;
use crate::wire::units::millis;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// The maximum number of bytes of an unexpected result that are shown.
const MAX_SEEN: usize = 2000;

/// A file with checks.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CheckFile {
    name: Option<String>,
    checks: Vec<CheckEntry>,
}

/// A check as it stands in the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CheckEntry {
    name: Option<String>,
    call: String,
    params: Option<Value>,
    #[serde(default)]
    expect: Expressions,
    #[serde(default)]
    capture: BTreeMap<String, String>,
    /// Whether an error, or a result with `isError`, is expected.
    #[serde(default)]
    fails: bool,
}

/// One jq expression, or several.
#[derive(Debug, Default, Deserialize)]
#[serde(untagged)]
enum Expressions {
    #[default]
    None,
    One(String),
    Many(Vec<String>),
}

impl Expressions {
    fn list(self) -> Vec<String> {
        match self {
            Self::None => Vec::new(),
            Self::One(code) => vec![code],
            Self::Many(codes) => codes,
        }
    }
}

/// A check that can be run.
struct Check {
    /// Its number in the file, from 0.
    place: usize,
    name: String,
    method: String,
    params: Option<Value>,
    fails: bool,
    expect: Vec<String>,
    capture: Vec<(String, String)>,
}

/// The compiled programs of all checks.
pub(super) struct Programs {
    jq: Jq,
    /// For each check, those of its expectations and then those of its captures.
    of_checks: Vec<Vec<Program>>,
}

impl Programs {
    /// Fails if a program exceeded its limits.
    ///
    /// # Errors
    ///
    /// One did.
    pub(super) fn check(&self) -> Result<(), CommandError> {
        self.jq.check()
    }
}

/// The checks of a file.
pub struct Checks {
    name: String,
    file: String,
    checks: Vec<Check>,
}

impl Checks {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// It cannot be read, or is not a file with checks.
    pub(super) fn read(path: &Path) -> Result<Self, CommandError> {
        let text = match path == Path::new("-") {
            true => text_of(std::io::stdin(), LARGE),
            false => read_text(path, LARGE),
        };
        let text = text.map_err(|error| CommandError::reading(path, &error))?;
        Self::parse(&text, path)
            .map_err(|error| error.hint("`mcpreel call --help` shows such a file; docs/guide/ci.md describes it"))
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    ///
    /// It is not a file with checks.
    pub fn parse(text: &str, path: &Path) -> Result<Self, CommandError> {
        match Self::document(text) {
            Ok(document) => Self::of(document, path)
                .map_err(|reason| CommandError::new(ErrorKind::Input, format!("{}: {reason}", path.display()))),
            Err(error) => Err(CommandError::document(path, &error)
                .hint("put a value that contains `: `, ` #` or begins with `{` or `[` in single quotes")),
        }
    }

    fn document(text: &str) -> Result<CheckFile, ScenarioError> {
        let options = serde_saphyr::options! { strict_booleans: true };
        serde_saphyr::from_str_with_options(text, options).map_err(|error| ScenarioError::from_yaml(text, &error))
    }

    fn of(found: CheckFile, path: &Path) -> Result<Self, String> {
        let mut known: Vec<String> = Vec::new();
        let mut checks = Vec::new();
        for entry in found.checks {
            let check = Check::new(entry, checks.len())?;
            let unknown = check.params.iter().flat_map(references).find(|name| !known.contains(name));
            if let Some(name) = unknown {
                return Err(format!("{:?} uses ${{{name}}}, which no earlier check captures", check.name));
            }
            known.extend(check.capture.iter().map(|(name, _)| name.clone()));
            checks.push(check);
        }
        if checks.is_empty() {
            return Err("no checks".to_owned());
        }
        let file = path.display().to_string();
        Ok(Self { name: found.name.unwrap_or_else(|| file.clone()), file, checks })
    }

    /// Compiles the programs of all checks.
    ///
    /// # Errors
    ///
    /// One is invalid.
    pub(super) fn compile(&self) -> Result<Programs, CommandError> {
        let mut jq = Jq::new(false);
        let mut compile = |check: &Check| -> Result<Vec<Program>, CommandError> {
            // A captured value comes as JSON text, so that it keeps its type.
            let captures = check.capture.iter().map(|(_, code)| format!("({code}) | tojson"));
            let option = format!("{}: check {:?}", self.file, check.name);
            check.expect.iter().cloned().chain(captures).map(|code| jq.compile(&option, &code)).collect()
        };
        let of_checks = self.checks.iter().map(&mut compile).collect::<Result<_, _>>();
        let of_checks = of_checks.map_err(|error: CommandError| match error.kind {
            ErrorKind::Usage if !jq.is_broken() => CommandError { kind: ErrorKind::Input, ..error },
            _ => error,
        })?;
        Ok(Programs { jq, of_checks })
    }

    /// Runs all checks on a connection. After a failure of the connection, the others are skipped. Returns the results,
    /// and the failure.
    pub(super) async fn run(
        &self,
        connection: &mut Connection,
        programs: &mut Programs,
        shared: &mut Shared,
        context: &Context,
    ) -> (Results, Option<Failure>) {
        let (mut cases, mut captured, mut failure) = (Vec::new(), BTreeMap::new(), None);
        let began = jiff::Timestamp::now();
        let mut took = Duration::ZERO;
        for check in &self.checks {
            let (case, failed) = match &failure {
                Some(_) => (check.case(CaseVerdict::Skipped("the connection failed before".to_owned()), self), None),
                None => check.run(self, programs, (&mut captured, shared), connection, context).await,
            };
            took += case.took;
            cases.push(case);
            failure = failure.or(failed);
        }
        let began = i64::try_from(began.as_nanosecond()).unwrap_or_default();
        let suite = Suite { name: self.name.clone(), began, took, cases };
        (Results { title: self.name.clone(), suites: vec![suite], ..Results::default() }, failure)
    }
}

impl Check {
    fn new(entry: CheckEntry, place: usize) -> Result<Self, String> {
        let name = entry.name.unwrap_or_else(|| entry.call.clone());
        let (expect, capture) = (entry.expect.list(), entry.capture.into_iter().collect());
        if entry.params.as_ref().is_some_and(|params| !params.is_object()) {
            return Err(format!("the params of {name:?} are not an object"));
        }
        Ok(Self { place, name, method: entry.call, params: entry.params, fails: entry.fails, expect, capture })
    }

    /// Sends the request and judges the response.
    async fn run(
        &self,
        of: &Checks,
        programs: &mut Programs,
        (captured, shared): (&mut BTreeMap<String, Value>, &mut Shared),
        connection: &mut Connection,
        context: &Context,
    ) -> (Case, Option<Failure>) {
        let missing = self.params.iter().flat_map(references).find(|name| !captured.contains_key(name));
        if let Some(name) = missing {
            return (self.case(CaseVerdict::Skipped(format!("an earlier check did not capture {name}")), of), None);
        }
        let params = match &self.params {
            None => Params::Absent,
            Some(params) => Params::Raw(filled(params, captured).to_string().into_bytes()),
        };
        let asked = connection.request(&self.method, params, |output| client_session::report(output, context)).await;
        match asked {
            Ok(answer) => {
                shared.learn_message(&answer.message);
                (self.judge(&answer, captured, programs, of), None)
            }
            Err(failure) => (self.failed(vec![failure.to_string()], Duration::ZERO, of), Some(failure)),
        }
    }

    fn judge(
        &self,
        answer: &Answer,
        captured: &mut BTreeMap<String, Value>,
        Programs { jq, of_checks }: &mut Programs,
        of: &Checks,
    ) -> Case {
        let envelope = Envelope::scan(&answer.message);
        let content = envelope.result.or(envelope.error).unwrap_or(&answer.message);
        let mut problems = Vec::new();
        let has_failed = envelope.error.is_some() || envelope.tool_error;
        if has_failed != self.fails {
            let what = if has_failed { "the server returned an error" } else { "the server returned no error" };
            problems.push(format!("{what}: {}", clip(&String::from_utf8_lossy(content), MAX_SEEN)));
        }
        let own = of_checks.get(self.place).map(Vec::as_slice).unwrap_or_default();
        let (expect, capture) = own.split_at(self.expect.len().min(own.len()));
        problems
            .extend(expect.iter().filter_map(|it| jq.unmet(*it, content).unwrap_or_else(|error| Some(error.message))));
        for ((name, _), program) in self.capture.iter().zip(capture) {
            match captured_value(jq, *program, content) {
                Ok(value) => drop(captured.insert(name.clone(), value)),
                Err(reason) => problems.push(format!("cannot capture {name}: {reason}")),
            }
        }
        match problems.is_empty() {
            true => Case { took: answer.latency, ..self.case(CaseVerdict::Passed, of) },
            false => self.failed(problems, answer.latency, of),
        }
    }

    fn case(&self, verdict: CaseVerdict, of: &Checks) -> Case {
        Case { name: self.name.clone(), class: of.file.clone(), verdict, took: Duration::ZERO, problems: Vec::new() }
    }

    fn failed(&self, messages: Vec<String>, took: Duration, of: &Checks) -> Case {
        let location = Location { file: of.file.clone(), line: 0, columns: None, path: String::new(), snippet: None };
        let problem = |message| Problem {
            level: Level::Error,
            message,
            details: None,
            location: Some(location.clone()),
            excused: None,
            fingerprint: None,
        };
        let problems = messages.into_iter().map(problem).collect();
        Case { took, problems, ..self.case(CaseVerdict::Failed, of) }
    }
}

/// The first output of a program that ends in `tojson`.
fn captured_value(jq: &mut Jq, program: Program, content: &[u8]) -> Result<Value, String> {
    let first = jq.first(program, content).map_err(|error| error.message)??;
    match serde_json::from_slice(&first) {
        Ok(Value::Null) | Err(_) => Err("it is not in the result".to_owned()),
        Ok(value) => Ok(value),
    }
}

/// The names that a value refers to as `${name}`.
fn references(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => parts(text).into_iter().filter_map(Result::err).map(str::to_owned).collect(),
        Value::Array(items) => items.iter().flat_map(references).collect(),
        Value::Object(members) => members.values().flat_map(references).collect(),
        _ => Vec::new(),
    }
}

/// The pieces of a text: other text, or as an error the name of a reference.
fn parts(mut text: &str) -> Vec<Result<&str, &str>> {
    let mut found = Vec::new();
    while let Some(start) = text.find("${") {
        let Some(end) = text[start..].find('}') else { break };
        found.extend((start > 0).then(|| Ok(&text[..start])));
        found.push(Err(&text[start + 2..start + end]));
        text = &text[start + end + 1..];
    }
    found.extend((!text.is_empty()).then_some(Ok(text)));
    found
}

/// A value with its references replaced. A text that is nothing but a reference becomes the captured value.
fn filled(value: &Value, captured: &BTreeMap<String, Value>) -> Value {
    let text_of = |name: &str| match captured.get(name) {
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => String::new(),
    };
    match value {
        Value::String(text) => match parts(text)[..] {
            [Err(name)] => captured.get(name).cloned().unwrap_or_default(),
            ref parts => parts.iter().map(|part| part.map_or_else(&text_of, str::to_owned)).collect::<String>().into(),
        },
        Value::Array(items) => items.iter().map(|item| filled(item, captured)).collect(),
        Value::Object(members) => members.iter().map(|(name, value)| (name.clone(), filled(value, captured))).collect(),
        other => other.clone(),
    }
}

/// Prints that the checks of a file could not be run, and why, for programs: their report exists in any case. Returns the
/// error.
pub(super) fn report_broken(
    (path, checks): (&Path, Option<&Checks>),
    error: CommandError,
    args: &CallArgs,
    context: &Context,
) -> CommandError {
    if args.format == Format::Human || matches!(error.kind, ErrorKind::Quiet | ErrorKind::Interrupted) {
        return error;
    }
    let (file, name) = (path.display().to_string(), checks.map(|checks| checks.name.clone()));
    let name = name.unwrap_or_else(|| file.clone());
    let mut suite = Suite::broken(&name, &error.message, &error.hints);
    let skipped = || CaseVerdict::Skipped("the connection failed before".to_owned());
    suite.cases.extend(checks.into_iter().flat_map(|of| of.checks.iter().map(move |it| it.case(skipped(), of))));
    let results = Results { title: name, suites: vec![suite], ..Results::default() };
    let printed = Shared::new(&args.redact, false).and_then(|mut shared| print(&results, args, &mut shared, context));
    printed.err().unwrap_or(error)
}

/// Prints the results in the form that the user wants.
///
/// # Errors
///
/// The output cannot be written.
pub(super) fn print(
    results: &Results,
    args: &CallArgs,
    shared: &mut Shared,
    context: &Context,
) -> Result<Outcome, CommandError> {
    let form = match args.format {
        Format::Junit => Some(results::Form::Junit),
        Format::Github => Some(results::Form::Github),
        Format::Markdown => Some(results::Form::Markdown),
        Format::Human | Format::Json | Format::Envelope => None,
    };
    match form {
        Some(form) => {
            let mut text = String::new();
            // Writing to a string cannot fail.
            let _ = form.write(results, &mut text);
            context.printer.results(form, &format!("{}\n", shared.text(text).trim_end_matches('\n')))?;
        }
        None if args.format == Format::Human => human(results, shared, context)?,
        None => context.printer.json(&shared.json(to_json(results)))?,
    }
    shared.print();
    let is_passed = cases(results).all(|case| case.verdict == CaseVerdict::Passed);
    Ok(if is_passed { Outcome::Clean } else { Outcome::Findings })
}

fn cases(results: &Results) -> impl Iterator<Item = &Case> {
    results.suites.iter().flat_map(|suite| &suite.cases)
}

/// The name of a verdict.
fn verdict(case: &Case) -> &'static str {
    match case.verdict {
        CaseVerdict::Passed => "passed",
        CaseVerdict::Failed | CaseVerdict::Broken => "failed",
        CaseVerdict::Skipped(_) => "skipped",
    }
}

fn human(results: &Results, shared: &mut Shared, context: &Context) -> Result<(), CommandError> {
    let mut counts = BTreeMap::new();
    for case in cases(results) {
        *counts.entry(verdict(case)).or_insert(0u64) += 1;
        let took = line::duration(i64::try_from(case.took.as_nanos()).unwrap_or(i64::MAX));
        let more = match &case.verdict {
            CaseVerdict::Passed => format!("  {took}"),
            CaseVerdict::Failed | CaseVerdict::Broken => String::new(),
            CaseVerdict::Skipped(why) => format!(": {why}"),
        };
        context.printer.line(&format!("{:7} {}{more}", verdict(case), visible(&case.name)))?;
        for problem in &case.problems {
            context.printer.line(&format!("        {}", visible(&shared.text(problem.message.clone()))))?;
        }
    }
    let count = |name| counts.get(name).copied().unwrap_or(0);
    let total: u64 = counts.values().sum();
    let (passed, failed, skipped) = (count("passed"), count("failed"), count("skipped"));
    context.printer.line(&format!("{}: {passed} passed, {failed} failed, {skipped} skipped", counted(total, "check")))
}

fn visible(text: &str) -> String {
    text.chars().map(line::visible).collect()
}

fn to_json(results: &Results) -> Value {
    let checks: Vec<Value> = cases(results)
        .map(|case| {
            let problems: Vec<&str> = case.problems.iter().map(|problem| problem.message.as_str()).collect();
            let reason = match &case.verdict {
                CaseVerdict::Skipped(why) => Some(why),
                _ => None,
            };
            json!({"name": case.name, "verdict": verdict(case), "latency_ms": millis(case.took), "problems": problems,
                "reason": reason})
        })
        .collect();
    json!({"name": results.title, "passed": cases(results).all(|case| case.verdict == CaseVerdict::Passed), "checks": checks})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Checks, String> {
        let document = Checks::document(text).map_err(|error| error.why)?;
        Checks::of(document, Path::new("checks.yaml"))
    }

    #[test]
    fn references_keep_the_type_of_what_was_captured() {
        let captured = BTreeMap::from([("n".to_owned(), json!(4.5)), ("t".to_owned(), json!("x"))]);
        let params = json!({"a": "${n}", "b": ["${t}-${n}", "$ {n}", "${", 1], "c": {"d": "é${t}"}});
        let expected = json!({"a": 4.5, "b": ["x-4.5", "$ {n}", "${", 1], "c": {"d": "éx"}});
        assert_eq!(filled(&params, &captured), expected);
        assert_eq!(references(&params), ["n", "t", "n", "t"]);
    }

    #[test]
    fn what_is_wrong_with_a_file_is_said() {
        let reason = |text: &str| parse(text).err().expect("refused");
        assert_eq!(reason("checks: []"), "no checks");
        assert!(reason("checks: [{call: x, expects: .a}]").contains("expects"));
        assert!(reason("checks: [{call: x, params: [1]}]").contains("are not an object"));
        let unknown = "checks: [{call: x, params: {a: '${id}'}, capture: {id: .id}}]";
        assert_eq!(reason(unknown), "\"x\" uses ${id}, which no earlier check captures");
    }
}
