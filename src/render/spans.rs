//! A line of parts in different styles, cut to a width.

use super::text::visible_text;
use anstyle::Style;
use std::fmt::Write;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The parts of a line. Text of strangers is safe in it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spans(Vec<(Style, String)>);

impl Spans {
    /// Appends a part. Control characters become visible.
    pub(crate) fn push(&mut self, style: Style, text: &str) {
        if !text.is_empty() {
            self.0.push((style, visible_text(text)));
        }
    }

    /// Returns the number of columns.
    pub(crate) fn width(&self) -> usize {
        self.0.iter().map(|(_, text)| text.width()).sum()
    }

    /// Appends the line to `out`, at most `width` columns wide, without an end. A line that does not fit ends with an
    /// ellipsis.
    pub(crate) fn write(&self, width: Option<usize>, out: &mut String) {
        let mut left = width.filter(|width| self.width() > *width).map(|width| width.saturating_sub(1));
        for (style, text) in &self.0 {
            let _ = write!(out, "{style}");
            let is_all = pass(text, &mut left, out);
            let _ = write!(out, "{}{style:#}", if is_all { "" } else { "…" });
            if !is_all {
                return;
            }
        }
    }
}

/// Appends what fits in the columns that are left. Returns whether that is all.
fn pass(text: &str, left: &mut Option<usize>, out: &mut String) -> bool {
    let Some(left) = left else {
        out.push_str(text);
        return true;
    };
    for found in text.chars() {
        let width = found.width().unwrap_or(0);
        if width > *left {
            return false;
        }
        *left -= width;
        out.push(found);
    }
    true
}

/// Appends a text in a number of columns: cut, or filled with spaces on the right.
pub(crate) fn padded(text: &str, columns: usize, out: &mut String) {
    let shown = super::table::cut(&visible_text(text), columns);
    out.push_str(&shown);
    out.extend(std::iter::repeat_n(' ', columns.saturating_sub(shown.width())));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(parts: &[&str], width: Option<usize>) -> String {
        let mut spans = Spans::default();
        parts.iter().for_each(|part| spans.push(Style::new(), part));
        let mut out = String::new();
        spans.write(width, &mut out);
        out
    }

    #[test]
    fn lines_are_cut_between_characters_and_in_any_part() {
        for (parts, width, expected) in [
            (&["ab", "cd"][..], None, "abcd"),
            (&["ab", "cd"], Some(4), "abcd"),
            (&["ab", "cd"], Some(3), "ab…"),
            (&["ab", "cd"], Some(2), "a…"),
            (&["日本", "語"], Some(4), "日…"),
            (&["日本", "語"], Some(5), "日本…"),
            (&["e\u{301}e\u{301}e\u{301}"], Some(2), "e\u{301}…"),
            (&["a\u{1b}[2J\n", "\u{202e}b"], None, "a␛[2J␊\u{fffd}b"),
            (&["abc"], Some(0), "…"),
        ] {
            assert_eq!(written(parts, width), expected, "{parts:?} {width:?}");
        }
    }

    #[test]
    fn a_part_that_is_cut_keeps_its_style() {
        let mut spans = Spans::default();
        spans.push(Style::new().bold(), "bold");
        spans.push(Style::new(), " rest");
        let mut out = String::new();
        spans.write(Some(3), &mut out);
        assert_eq!(out, "\u{1b}[1mbo…\u{1b}[0m");
    }

    #[test]
    fn padding_counts_columns() {
        let shown = |text: &str| {
            let mut out = String::new();
            padded(text, 4, &mut out);
            out
        };
        assert_eq!([shown("日"), shown("日本語"), shown("e\u{301}")], ["日  ", "日… ", "e\u{301}   "]);
    }
}
