//! Formats the report of a scenario: as text, and as the cases of a JUnit suite.

use super::junit::{self, Case, CaseOutcome};
use super::line::{duration, visible_text};
use super::style::Palette;
use crate::scenario::{Failure, Judged, Problem, Report, Verdict};
use crate::wire::text::counted;
use std::fmt::{self, Write};

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
    let expectation = |one: &Judged| {
        let outcome = match (one.verdict(), &one.failure) {
            (Verdict::Passed, _) => CaseOutcome::Passed,
            (Verdict::NotReached, _) => CaseOutcome::Skipped("not reached".to_owned()),
            (Verdict::Failed, failure) => {
                let line = failure.as_ref().map(why).unwrap_or_default();
                let nearest = failure.as_ref().and_then(|failure| failure.nearest.clone());
                let all = nearest.map_or_else(|| line.clone(), |nearest| format!("{line}\nnearest: {nearest}"));
                CaseOutcome::Failed(line, all)
            }
        };
        Case { name: one.what.clone(), class: place(file, one.place.line), outcome }
    };
    let problem = |problem: &Problem| {
        let outcome = CaseOutcome::Failed(problem.why.clone(), format!("at {:?}: {}", problem.at, problem.why));
        Case { name: "nothing goes wrong".to_owned(), class: place(file, problem.place.line), outcome }
    };
    let cases: Vec<Case> =
        report.expectations.iter().map(expectation).chain(report.problems.iter().map(problem)).collect();
    junit::suite(&report.name, report.took, &cases, out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Observation, Player, Scenario};
    use std::time::Duration;

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
        assert!(out.contains(r#"<failure message="at 2s: not seen">at 2s: not seen</failure>"#), "{out}");
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
