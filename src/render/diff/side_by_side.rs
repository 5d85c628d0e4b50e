//! The side-by-side view: A on the left, B on the right, wrapped instead of shortened.

use super::rows::{Line, Row, SEE_ALL, Space, Span, rows};
use super::{DiffStyle, heading, place_line};
use crate::diff::{Change, Report, Status};
use anstyle::Style;
use std::fmt::Write;
use unicode_width::UnicodeWidthChar;

/// The width if there is no terminal, in columns.
const WIDTH: usize = 120;

/// The narrowest column.
const MIN_COLUMN: usize = 16;

/// What is between the columns.
const BETWEEN: &str = " │ ";

/// Appends all differences.
pub(super) fn text(report: &Report, style: &DiffStyle, width: Option<usize>, is_full: bool, out: &mut String) {
    let width = width.unwrap_or(WIDTH);
    let column = (width.saturating_sub(BETWEEN.chars().count() + 2) / 2).max(MIN_COLUMN);
    let space = Space { widest: if is_full { usize::MAX } else { column * 4 }, is_full, hint: SEE_ALL };
    for unit in &report.units {
        heading(unit, style, width, out);
        for change in &unit.changes {
            place_line(change, style, out);
            rows_of(change, style, space, column, out);
        }
        if matches!(unit.status, Status::Changed) {
            out.push('\n');
        }
    }
}

fn rows_of(change: &Change, style: &DiffStyle, space: Space, column: usize, out: &mut String) {
    for row in rows(change, space) {
        match row {
            Row::Fold(text) => {
                let _ = writeln!(out, "  {}{text}{:#}", style.faint, style.faint);
            }
            Row::Both(text) => {
                let line = vec![Span { text, differs: false }];
                both(Some((&line, Style::new())), Some((&line, Style::new())), column, out);
            }
            Row::Sides(left, right) => {
                let left = left.as_ref().map(|line| (line, style.removed));
                both(left, right.as_ref().map(|line| (line, style.added)), column, out);
            }
        }
    }
}

fn both(left: Option<(&Line, Style)>, right: Option<(&Line, Style)>, column: usize, out: &mut String) {
    let wrapped =
        |side: Option<(&Line, Style)>| side.map(|(line, style)| wrap(line, style, column)).unwrap_or_default();
    let (left, right) = (wrapped(left), wrapped(right));
    for at in 0..left.len().max(right.len()) {
        let empty = (String::new(), 0);
        let (one, wide) = left.get(at).unwrap_or(&empty);
        let other = right.get(at).map_or("", |line| &line.0);
        let line = format!("  {one}{}{BETWEEN}{other}", " ".repeat(column - wide));
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

/// Returns the lines of a column, each with its width. The parts that differ are underlined, if there are colours.
fn wrap(line: &Line, style: Style, column: usize) -> Vec<(String, usize)> {
    let (mut lines, mut shown, mut wide) = (Vec::new(), String::new(), 0);
    for span in line {
        let look = super::emphasised(style, span.differs);
        let _ = write!(shown, "{look}");
        for found in span.text.chars() {
            let found = if found == '\t' { ' ' } else { found };
            let width = found.width().unwrap_or(0);
            if wide + width > column {
                let _ = write!(shown, "{look:#}");
                lines.push((std::mem::take(&mut shown), wide));
                let _ = write!(shown, "{look}");
                wide = 0;
            }
            shown.push(found);
            wide += width;
        }
        let _ = write!(shown, "{look:#}");
    }
    lines.push((shown, wide));
    lines
}
