//! Formats the report of a scenario: as text, and as cases for other programs.

use super::line::{duration, visible_text};
use super::results::{Case, CaseVerdict, Form, Level, Location, Problem as CaseProblem, Results, Suite};
use super::style::Palette;
use crate::scenario::{Failure, Judged, Problem, Report, Verdict};
use crate::wire::text::counted;
use std::fmt::{self, Write};
use std::time::Duration;

/// Writes the report: expectations that did not pass, problems, then a summary line. With `all`, expectations that
/// passed, too. `file` is the scenario's file name.
///
/// # Errors
///
/// If writing fails.
pub fn text(report: &Report, file: &str, all: bool, palette: &Palette, out: &mut impl Write) -> fmt::Result {
    for one in report.expectations.iter().filter(|one| all || one.verdict() != Verdict::Passed) {
        judged(one, file, palette, out)?;
    }
    for problem in &report.problems {
        let style = palette.error;
        write!(out, "{style}problem{style:#} {}", place(file, problem.place.line))?;
        writeln!(out, "  at {:?}: {}", problem.at, visible_text(&problem.why))?;
    }
    for fault in report.faults.iter().filter(|fault| fault.hits == 0) {
        let style = palette.warning;
        write!(out, "{style}not used{style:#} {}", place(file, fault.place.line))?;
        writeln!(out, "  no message matched this fault")?;
    }
    summary(report, palette, out)
}

fn place(file: &str, line: u64) -> String {
    if line == 0 { visible_text(file) } else { format!("{}:{line}", visible_text(file)) }
}

fn judged(one: &Judged, file: &str, palette: &Palette, out: &mut impl Write) -> fmt::Result {
    let style = match one.verdict() {
        Verdict::Passed => palette.good,
        Verdict::Failed => palette.error,
        Verdict::NotReached => palette.warning,
    };
    write!(
        out,
        "{style}{}{style:#} {}  {}",
        one.verdict().name(),
        place(file, one.place.line),
        visible_text(&one.what)
    )?;
    if one.judged > 1 && one.failed > 0 {
        write!(out, " ({} of {} times)", one.failed, one.judged)?;
    }
    writeln!(out)?;
    let Some(failure) = &one.failure else { return Ok(()) };
    writeln!(out, "  {}", visible_text(&why(failure)))?;
    match &failure.nearest {
        Some(nearest) => writeln!(out, "  {}nearest: {}{:#}", palette.faint, visible_text(nearest), palette.faint),
        None => Ok(()),
    }
}

fn why(failure: &Failure) -> String {
    let repeat = failure.repeat.map_or_else(String::new, |n| format!(" in repetition {n}"));
    format!("at {:?}{repeat}: {}", failure.at, failure.why)
}

fn summary(report: &Report, palette: &Palette, out: &mut impl Write) -> fmt::Result {
    let style = if report.is_passed() { palette.good } else { palette.error };
    let word = if report.is_passed() { "passed" } else { "failed" };
    let count = |verdict| report.count(verdict);
    writeln!(
        out,
        "{style}{word}{style:#} {}: {} of {} held, {} not reached, {}; {} in {}",
        visible_text(&report.name),
        count(Verdict::Passed),
        counted(report.expectations.len() as u64, "expectation"),
        count(Verdict::NotReached),
        counted(report.problems.len() as u64, "problem"),
        counted(report.steps, "step"),
        duration(i64::try_from(report.took.as_nanos()).unwrap_or(i64::MAX)),
    )
}

/// Writes the report as JUnit XML: one case for each expectation, and one for each problem.
///
/// # Errors
///
/// If writing fails.
pub fn junit(report: &Report, file: &str, out: &mut impl Write) -> fmt::Result {
    Form::Junit.write(&results(report, file), out)
}

/// Returns the report as results for other programs: one case for each expectation, and one for each problem.
pub(crate) fn results(report: &Report, file: &str) -> Results {
    let expectations = report.expectations.iter().map(|one| expectation(one, file));
    let problems = report.problems.iter().map(|one| problem(one, file));
    let cases = expectations.chain(problems).collect();
    let suite = Suite { name: report.name.clone(), began: 0, took: report.took, cases };
    Results { title: report.name.clone(), suites: vec![suite], ..Results::default() }
}

fn expectation(one: &Judged, file: &str) -> Case {
    let verdict = match one.verdict() {
        Verdict::Passed => CaseVerdict::Passed,
        Verdict::NotReached => CaseVerdict::Skipped("not reached".to_owned()),
        Verdict::Failed => CaseVerdict::Failed,
    };
    let failures = one.failure.iter().filter(|_| verdict == CaseVerdict::Failed).map(|failure| {
        let details = failure.nearest.as_ref().map(|nearest| format!("nearest: {nearest}"));
        case_problem(why(failure), details, file, one.place.line)
    });
    let problems = failures.collect();
    Case { name: one.what.clone(), class: place(file, one.place.line), verdict, took: Duration::ZERO, problems }
}

fn problem(problem: &Problem, file: &str) -> Case {
    let line = problem.place.line;
    let what = case_problem(format!("at {:?}: {}", problem.at, problem.why), None, file, line);
    Case {
        name: "nothing goes wrong".to_owned(),
        class: place(file, line),
        verdict: CaseVerdict::Failed,
        took: Duration::ZERO,
        problems: vec![what],
    }
}

fn case_problem(message: String, details: Option<String>, file: &str, line: u64) -> CaseProblem {
    let location = Location { file: file.to_owned(), line, columns: None, path: String::new(), snippet: None };
    CaseProblem { level: Level::Error, message, details, location: Some(location), excused: None, fingerprint: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Observation, Player, Scenario};

    /// Returns the report of a scenario in which nothing ever happens.
    fn report() -> Report {
        let text = "name: \"nothing \\u001b happens\"
expect:
  - message: {method: a/b}
  - {message: {method: c}, never: true}
  - validates: true
faults:
  - {method: a, drop: true}
";
        let mut player = Player::new(&Scenario::read(text).expect("a scenario"));
        player.see(Duration::ZERO, &Observation::NotFired("bell \u{7}"));
        let mut report = player.finish(Duration::from_secs(2));
        report.validated(&[]);
        report
    }

    #[test]
    fn what_did_not_pass_is_reported_and_control_characters_are_made_visible() {
        let mut out = String::new();
        text(&report(), "a.yaml", false, &Palette::plain(), &mut out).expect("written");
        insta::assert_snapshot!(out, @r"
        failed a.yaml:3  message method a/b
          at 2s: not seen
        problem a.yaml  at 0ns: it was not sent: bell ␇
        problem a.yaml  at 2s: the scenario ended before all servers had connected or failed
        not used a.yaml:7  no message matched this fault
        failed nothing ␛ happens: 2 of 3 expectations held, 0 not reached, 2 problems; 0 steps in 2.00 s
        ");
        let mut all = String::new();
        text(&report(), "a.yaml", true, &Palette::plain(), &mut all).expect("written");
        assert!(all.contains("passed a.yaml:5  no rule is broken\n"), "{all}");
    }

    #[test]
    fn a_build_server_sees_each_expectation_and_each_problem() {
        let mut out = String::new();
        junit(&report(), "a.yaml", &mut out).expect("written");
        assert!(out.contains(r#"tests="5" failures="3""#), "{out}");
        let failure = r#"<failure message="at 2s: not seen" type="error">a.yaml:3: at 2s: not seen</failure>"#;
        assert!(out.contains(failure), "{out}");
    }

    #[test]
    fn the_json_form_is_stable() {
        let json = report().to_json();
        let failure = serde_json::json!({"at_us": 2_000_000, "repeat": null, "why": "not seen", "nearest": null});
        let first = serde_json::json!({"line": 3, "column": 5, "id": null, "what": "message method a/b",
            "verdict": "failed", "judged": 1, "failed": 1, "failure": failure});
        assert_eq!(json["expectations"][0], first);
        assert_eq!(json["counts"].to_string(), r#"{"passed":2,"failed":1,"not_reached":0}"#);
        assert_eq!((&json["passed"], &json["faults"][0]["hits"]), (&false.into(), &0.into()));
    }
}
