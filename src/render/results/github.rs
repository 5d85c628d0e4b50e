//! Workflow commands of GitHub Actions: one line per problem, shown next to the line of the file.

use super::{Level, Problem, Results};
use crate::render::text::visible;
use crate::wire::log_lines;
use crate::wire::text::counted;
use std::fmt::{self, Write};

/// Writes a command for every problem that counts, and one notice about the rest.
pub(super) fn write(results: &Results, out: &mut impl Write) -> fmt::Result {
    for (case, problem) in results.problems().filter(|(_, problem)| problem.excused.is_none()) {
        command(&case.name, problem, out)?;
    }
    results.notes.iter().try_for_each(|note| writeln!(out, "::notice::{}", message(note)))
}

fn command(title: &str, problem: &Problem, out: &mut impl Write) -> fmt::Result {
    let name = match problem.level {
        Level::Note => "notice",
        Level::Warning => "warning",
        Level::Error => "error",
    };
    write!(out, "::{name} ")?;
    if let Some(location) = &problem.location {
        write!(out, "file={},", property(&location.file))?;
        if location.line > 0 {
            write!(out, "line={},", location.line)?;
        }
    }
    write!(out, "title={}::", property(title))?;
    let path = problem.location.as_ref().map(|location| location.path.as_str()).filter(|path| !path.is_empty());
    let text = path.map_or_else(|| problem.message.clone(), |path| format!("{} (at {path})", problem.message));
    let lines = problem.lines().map(shortened).unwrap_or_default();
    writeln!(out, "{}", message(&format!("{text}{lines}")))
}

/// The maximum number of lines of a difference in an annotation.
const MAX_LINES: usize = 40;

fn shortened(lines: &str) -> String {
    let mut found: String = lines.lines().take(MAX_LINES).flat_map(|line| ["\n", line]).collect();
    if let Some(more @ 1..) = lines.lines().count().checked_sub(MAX_LINES) {
        let _ = write!(found, "\n… {}", counted(more as u64, "more line"));
    }
    found
}

/// Escapes the text after `::`.
fn message(text: &str) -> String {
    let safe = text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let safe: String = safe.chars().map(visible).collect();
    // To Azure Pipelines, `##vso[` is a command within a line, too.
    String::from_utf8_lossy(&log_lines::within_line().guarded(safe.as_bytes())).into_owned()
}

/// Escapes the value of a property.
fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}
