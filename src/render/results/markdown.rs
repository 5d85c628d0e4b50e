//! A summary in Markdown, for a pull request or the summary of a job.

use super::{Case, Problem, Results, Suite};
use crate::render::text::{markdown_fence, markdown_text as escaped, visible_text};
use crate::wire::text::counted;
use std::fmt::{self, Write};

/// The maximum number of problems that are listed for one case; code hosts limit the length of a summary.
const MAX_PROBLEMS: usize = 20;

/// The maximum length of all lines of differences: a comment may have at most 65,536 characters.
const MAX_CHARACTERS: usize = 50_000;

/// Writes a heading, a table of problems per suite, and the counts.
pub(super) fn write(results: &Results, out: &mut impl Write) -> fmt::Result {
    let failed = results.suites.iter().any(|suite| suite.failed() + suite.broken_cases() > 0);
    writeln!(out, "## {}: {}\n", escaped(&results.title), if failed { "failed" } else { "passed" })?;
    results.suites.iter().try_for_each(|one| suite(one, out))?;
    blocks(results, out)?;
    results.notes.iter().try_for_each(|note| writeln!(out, "- {}", escaped(note)))
}

fn suite(suite: &Suite, out: &mut impl Write) -> fmt::Result {
    writeln!(out, "### {}\n", escaped(&suite.name))?;
    let (failed, not_checked) = (suite.failed(), suite.skipped() + suite.broken_cases());
    let passed = suite.cases.len() - failed - not_checked;
    writeln!(out, "{passed} passed, {failed} failed, {not_checked} not checked\n")?;
    if suite.cases.iter().all(|case| case.problems.is_empty()) {
        return Ok(());
    }
    writeln!(out, "| | Check | Where | What |")?;
    writeln!(out, "|---|---|---|---|")?;
    let (failed, others): (Vec<&Case>, Vec<&Case>) = suite.cases.iter().partition(|case| case.verdict.is_bad());
    failed.into_iter().try_for_each(|one| case("❌ ", one, out))?;
    others.into_iter().try_for_each(|one| case("", one, out))?;
    writeln!(out)
}

/// Writes the lines of differences, as many as fit.
fn blocks(results: &Results, out: &mut impl Write) -> fmt::Result {
    let mut left = MAX_CHARACTERS;
    let blocks: Vec<String> = results.problems().filter_map(|(case, problem)| block(case, problem)).collect();
    for (at, block) in blocks.iter().enumerate() {
        let Some(rest) = left.checked_sub(block.chars().count()) else {
            return writeln!(out, "… and {}.\n", counted((blocks.len() - at) as u64, "more difference"));
        };
        left = rest;
        out.write_str(block)?;
    }
    Ok(())
}

fn block(case: &Case, problem: &Problem) -> Option<String> {
    let lines = problem.lines()?;
    let place = problem.location.as_ref().map(|location| format!(" at {}", location.path)).unwrap_or_default();
    let (title, fence) = (escaped(&format!("{}{place}", case.name)), markdown_fence(lines));
    Some(format!("<details><summary>{title}</summary>\n\n{fence}diff\n{lines}\n{fence}\n\n</details>\n\n"))
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
