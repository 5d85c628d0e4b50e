//! JUnit XML, as the schema of Apache Ant describes it and build servers read it.

use super::{Case, CaseVerdict, Level, Problem, Results, Suite};
use crate::render::text::visible;
use std::fmt::{self, Write};

/// Writes every suite with its cases.
pub(super) fn write(results: &Results, out: &mut impl Write) -> fmt::Result {
    writeln!(out, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    writeln!(out, "<testsuites>")?;
    results.suites.iter().enumerate().try_for_each(|(number, one)| suite(number, one, results, out))?;
    writeln!(out, "</testsuites>")
}

fn suite(number: usize, suite: &Suite, results: &Results, out: &mut impl Write) -> fmt::Result {
    let name = escaped(if suite.name.is_empty() { "mcpreel" } else { &suite.name });
    writeln!(
        out,
        r#"  <testsuite name="{name}" package="{name}" id="{number}" tests="{}" failures="{}" errors="{}" skipped="{}" time="{:.6}" timestamp="{}" hostname="localhost">"#,
        suite.cases.len(),
        suite.failed(),
        suite.broken_cases(),
        suite.skipped(),
        suite.took.as_secs_f64(),
        timestamp(suite.began),
    )?;
    writeln!(out, "    <properties/>")?;
    suite.cases.iter().try_for_each(|one| case(one, out))?;
    let notes = if number == 0 { &results.notes[..] } else { &[] };
    writeln!(out, "    <system-out>{}</system-out>", escaped(&remarks(suite, notes)))?;
    writeln!(out, "    <system-err/>")?;
    writeln!(out, "  </testsuite>")
}

fn case(case: &Case, out: &mut impl Write) -> fmt::Result {
    let (name, class) = (escaped(&case.name), escaped(&case.class));
    write!(out, r#"    <testcase name="{name}" classname="{class}" time="{:.6}""#, case.took.as_secs_f64())?;
    match &case.verdict {
        CaseVerdict::Passed => return writeln!(out, "/>"),
        CaseVerdict::Failed | CaseVerdict::Broken => {
            let element = if case.verdict == CaseVerdict::Failed { "failure" } else { "error" };
            let level = case.problems.iter().map(|problem| problem.level).max().unwrap_or(Level::Error);
            let first = case.problems.first().map(|problem| problem.message.as_str()).unwrap_or_default();
            let all: Vec<String> = case.problems.iter().map(lines).collect();
            writeln!(out, ">")?;
            let (first, all) = (escaped(first), escaped(&all.join("\n")));
            writeln!(out, r#"      <{element} message="{first}" type="{}">{all}</{element}>"#, level.name())?;
        }
        CaseVerdict::Skipped(why) => {
            writeln!(out, ">")?;
            writeln!(out, r#"      <skipped message="{}"/>"#, escaped(why))?;
        }
    }
    writeln!(out, "    </testcase>")
}

/// Describes a problem in one or more lines.
fn lines(problem: &Problem) -> String {
    let mut text = match &problem.location {
        Some(location) => format!("{}: {}", location.text(), problem.message),
        None => problem.message.clone(),
    };
    if let Some(why) = &problem.excused {
        let _ = write!(text, " ({why})");
    }
    if let Some(details) = &problem.details {
        let _ = write!(text, "\n{details}");
    }
    text
}

/// Describes the problems of cases that passed, which have no place of their own in the format.
fn remarks(suite: &Suite, notes: &[String]) -> String {
    let passed = suite.cases.iter().filter(|case| case.verdict == CaseVerdict::Passed);
    let problems = passed.flat_map(|case| case.problems.iter().map(move |problem| (case, problem)));
    let described =
        problems.map(|(case, problem)| format!("{} {}: {}", problem.level.name(), case.name, lines(problem)));
    notes.iter().cloned().chain(described).collect::<Vec<_>>().join("\n")
}

/// Formats a time as the schema wants it: without a zone and without fractions.
fn timestamp(nanoseconds: i64) -> String {
    let time = jiff::Timestamp::from_second(nanoseconds.div_euclid(1_000_000_000)).unwrap_or_default();
    time.strftime("%Y-%m-%dT%H:%M:%S").to_string()
}

/// Escapes a text for XML. Characters that XML 1.0 does not allow become the replacement character.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for found in text.chars() {
        match found {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            other if other.is_control() => out.push('\u{fffd}'),
            // Escape characters that change the text direction, so that they do not affect the file.
            other if visible(other) != other => {
                let _ = write!(out, "&#{};", u32::from(other));
            }
            other => out.push(other),
        }
    }
    out
}
