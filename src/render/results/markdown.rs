//! A summary in Markdown, for a pull request or the summary of a job.

use super::{Case, CaseVerdict, Problem, Results, Suite};
use crate::render::text::{markdown_text as escaped, visible_text};
use crate::wire::text::counted;
use std::fmt::{self, Write};

/// The maximum number of problems that are listed for one case; code hosts limit the length of a summary.
const MAX_PROBLEMS: usize = 20;

/// Writes a heading, a table of problems per suite, and the counts.
pub(super) fn write(results: &Results, out: &mut impl Write) -> fmt::Result {
    let failed = results.suites.iter().any(|suite| suite.failed() > 0);
    writeln!(out, "## {}: {}\n", escaped(&results.title), if failed { "failed" } else { "passed" })?;
    results.suites.iter().try_for_each(|one| suite(one, out))?;
    results.notes.iter().try_for_each(|note| writeln!(out, "- {}", escaped(note)))
}

fn suite(suite: &Suite, out: &mut impl Write) -> fmt::Result {
    writeln!(out, "### {}\n", escaped(&suite.name))?;
    let passed = suite.cases.len() - suite.failed() - suite.skipped();
    writeln!(out, "{} passed, {} failed, {} not checked\n", passed, suite.failed(), suite.skipped())?;
    if suite.cases.iter().all(|case| case.problems.is_empty()) {
        return Ok(());
    }
    writeln!(out, "| | Check | Where | What |")?;
    writeln!(out, "|---|---|---|---|")?;
    let (failed, others): (Vec<&Case>, Vec<&Case>) =
        suite.cases.iter().partition(|case| case.verdict == CaseVerdict::Failed);
    failed.into_iter().try_for_each(|one| case("❌ ", one, out))?;
    others.into_iter().try_for_each(|one| case("", one, out))?;
    writeln!(out)
}

fn case(mark: &str, case: &Case, out: &mut impl Write) -> fmt::Result {
    for problem in case.problems.iter().take(MAX_PROBLEMS) {
        row(if problem.excused.is_none() { mark } else { "" }, &case.name, problem, out)?;
    }
    match case.problems.len().saturating_sub(MAX_PROBLEMS) {
        0 => Ok(()),
        more => writeln!(out, "| {mark}| {} | | and {} |", code(&case.name), counted(more as u64, "more problem")),
    }
}

fn row(mark: &str, name: &str, problem: &Problem, out: &mut impl Write) -> fmt::Result {
    let place = problem.location.as_ref().map(|location| code(&location.text())).unwrap_or_default();
    let excused = problem.excused.as_ref().map(|why| format!(" ({})", escaped(why))).unwrap_or_default();
    let level = problem.level.name();
    writeln!(out, "| {mark}{level} | {} | {place} | {}{excused} |", code(name), escaped(&problem.message))
}

/// A text as code. A backtick would end it, and a bar would end the cell.
fn code(text: &str) -> String {
    match text {
        "" => String::new(),
        _ => format!("`{}`", visible_text(text).replace('`', "'").replace('|', "\\|")),
    }
}
