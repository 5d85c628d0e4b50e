//! Formats the difference of two texts as a unified diff.

use super::diff::DiffStyle;
use super::line::visible;
use anstyle::Style;
use similar::{ChangeTag, TextDiff};
use std::fmt::Write;

/// Appends the differences with three lines of context, below a heading; nothing if the texts are equal. Control
/// characters are made visible.
pub(crate) fn unified(before: &str, after: &str, name: &str, style: &DiffStyle, out: &mut String) {
    let diff = TextDiff::from_lines(before, after);
    let bold = style.bold;
    for (number, hunk) in diff.unified_diff().context_radius(3).iter_hunks().enumerate() {
        if number == 0 {
            let name: String = name.chars().map(visible).collect();
            let _ = writeln!(out, "{bold}--- {name}{bold:#}\n{bold}+++ {name}{bold:#}");
        }
        let _ = writeln!(out, "{}{}{:#}", style.faint, hunk.header(), style.faint);
        for change in hunk.iter_changes() {
            let (sign, look) = match change.tag() {
                ChangeTag::Equal => (' ', Style::new()),
                ChangeTag::Delete => ('-', style.removed),
                ChangeTag::Insert => ('+', style.added),
            };
            let line = change.value().trim_end_matches(['\r', '\n']);
            let line: String = line.chars().map(|found| if found == '\t' { found } else { visible(found) }).collect();
            let _ = writeln!(out, "{look}{sign}{line}{look:#}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_shown_with_what_is_around() {
        let lines = |changed: &str| format!("1\n2\n3\n4\n{changed}\r\n\t6\n7\n8\n9");
        let mut out = String::new();
        unified(&lines("5"), &lines("\u{1b}five"), "f", &DiffStyle::default(), &mut out);
        assert_eq!(out, "--- f\n+++ f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+␛five\n \t6\n 7\n 8\n");
        out.clear();
        unified("a\n", "a\n", "f", &DiffStyle::default(), &mut out);
        assert_eq!(out, "");
    }
}
