//! Formats what a comparison did not compare: values that differ in every run.

use crate::diff::Report;
use crate::wire::text::{counted, visible_text};
use std::fmt::Write;

/// The most characters of a value in the list.
const WIDEST: usize = 60;

/// Appends how many values were mapped, and the list of them if the report has it.
pub(crate) fn text(report: &Report, out: &mut String) {
    let mapped = &report.mapped;
    let kinds: Vec<_> = mapped.kinds.iter().map(|(kind, count)| counted(*count as u64, kind.label())).collect();
    let _ = write!(out, "{} mapped", counted(mapped.total() as u64, "volatile value"));
    if !kinds.is_empty() {
        let _ = write!(out, ": {}", kinds.join(", "));
        out.push_str(if mapped.values.is_empty() { " (--volatile lists them)" } else { "" });
    }
    out.push('\n');
    for value in &mapped.values {
        let short = |text: &str| crate::proposals::clip(&visible_text(text), WIDEST).into_owned();
        let times = if value.count > 1 { format!("  ({}×)", value.count) } else { String::new() };
        let _ = writeln!(out, "  {:<14} {} ↔ {}{times}", value.kind.label(), short(&value.left), short(&value.right));
    }
    if report.learned > 0 {
        let _ = writeln!(out, "{} left out, as between A and C", counted(report.learned as u64, "difference"));
    }
}
