//! Formats what a comparison did not compare: values that differ in every run.

use crate::diff::{Mapped, Report};
use crate::wire::text::{counted, visible_text};
use std::fmt::Write;

/// The most characters of a value in the list.
const WIDEST: usize = 60;

/// Appends how many values were mapped, and the list of them if the report has it.
pub(crate) fn text(report: &Report, out: &mut String) {
    let mapped = &report.mapped;
    if mapped.total() > 0 || !mapped.values.is_empty() {
        counts(mapped, out);
    }
    for value in &mapped.values {
        let short = |text: &str| crate::proposals::clip(&visible_text(text), WIDEST).into_owned();
        let times = if value.count > 1 { format!("  ({}×)", value.count) } else { String::new() };
        let _ = writeln!(out, "  {:<14} {} ↔ {}{times}", value.kind.label(), short(&value.left), short(&value.right));
    }
    if report.learned > 0 {
        let _ = writeln!(out, "{} left out, as between A and C", counted(report.learned as u64, "difference"));
    }
}

/// Returns a note for each place of `--ignore` and `--unordered` at which no message had anything.
pub(crate) fn unused(report: &Report) -> Vec<String> {
    report.places.iter().filter(|place| !place.is_used).map(|one| unused_place(one.option, &one.place)).collect()
}

/// Says that no message had anything at a place.
pub(crate) fn unused_place(option: &str, place: &str) -> String {
    format!("--{option} {} matches nothing", visible_text(place))
}

fn counts(mapped: &Mapped, out: &mut String) {
    let kinds: Vec<_> = mapped.kinds.iter().map(|(kind, count)| counted(*count as u64, kind.label())).collect();
    let _ = write!(out, "{} mapped", counted(mapped.total() as u64, "volatile value"));
    if !kinds.is_empty() {
        let _ = write!(out, ": {}", kinds.join(", "));
        out.push_str(if mapped.values.is_empty() { " (--volatile lists them)" } else { "" });
    }
    out.push('\n');
}
