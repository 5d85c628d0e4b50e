//! Tables that fit a terminal: if there is not enough space, the least important columns are shortened with an
//! ellipsis.

use tabled::Table;
use tabled::builder::Builder;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A table without lines (`Style::empty`).
pub(crate) const BLANK: Frame = Frame { between: 2, edges: 2 };
/// A table with lines around every cell (`Style::rounded`).
pub(crate) const LINES: Frame = Frame { between: 3, edges: 4 };

/// The space that a table takes up besides the contents of its cells, in columns of the terminal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    /// Between the contents of two cells.
    between: usize,
    /// At both ends of a row together.
    edges: usize,
}

/// The minimum width of a shortened column.
const LEAST: usize = 8;

/// Builds a table of rows, the first of which is its heading. If the table is wider than `width`, the columns in
/// `expendable` are shortened, one after another.
pub(crate) fn fitted(mut rows: Vec<Vec<String>>, frame: Frame, expendable: &[usize], width: Option<usize>) -> Table {
    if let Some(width) = width {
        fit(&mut rows, frame, expendable, width);
    }
    let mut builder = Builder::default();
    rows.into_iter().for_each(|row| builder.push_record(row));
    builder.build()
}

/// Removes columns, in this order and those of a group together, until the table is not wider than `width` when `shortened` has its minimum width. Returns
/// the headings of the removed columns.
pub(crate) fn narrowed(
    rows: &mut [Vec<String>],
    frame: Frame,
    removable: &[Vec<usize>],
    shortened: usize,
    width: usize,
) -> Vec<String> {
    let mut removed: Vec<usize> = Vec::new();
    let taken = |rows: &[Vec<String>], removed: &[usize]| {
        let count = rows.first().map_or(0, Vec::len);
        let cells = |column: usize| rows.iter().map(move |row| row[column].width()).max().unwrap_or(0);
        let kept = (0..count).filter(|column| !removed.contains(column));
        let widths = kept.map(|column| if column == shortened { cells(column).min(2 * LEAST) } else { cells(column) });
        widths.sum::<usize>() + frame.between * (count - removed.len()).saturating_sub(1) + frame.edges
    };
    for columns in removable {
        if taken(rows, &removed) <= width {
            break;
        }
        removed.extend(columns);
    }
    removed.sort_unstable();
    let headings = rows.first().map(|row| removed.iter().map(|column| row[*column].clone()).collect());
    for row in rows {
        removed.iter().rev().for_each(|column| drop(row.remove(*column)));
    }
    headings.unwrap_or_default()
}

/// Adds a line to a table that names the columns for which there was no space.
pub(crate) fn naming(removed: &[String], table: String) -> String {
    match removed.is_empty() {
        true => table,
        false => format!("{table}\n\nno space for: {}", removed.join(", ")),
    }
}

fn fit(rows: &mut [Vec<String>], frame: Frame, expendable: &[usize], width: usize) {
    let count = rows.first().map_or(0, Vec::len);
    let mut widths: Vec<usize> =
        (0..count).map(|column| rows.iter().map(|row| row[column].width()).max().unwrap_or(0)).collect();
    for &column in expendable.iter().filter(|column| **column < count) {
        let taken = widths.iter().sum::<usize>() + frame.between * count.saturating_sub(1) + frame.edges;
        let Some(excess) = taken.checked_sub(width).filter(|excess| *excess > 0) else { return };
        let left = widths[column].saturating_sub(excess).max(LEAST.min(widths[column]));
        widths[column] = left;
        rows.iter_mut().for_each(|row| row[column] = cut(&row[column], left));
    }
}

/// Shortens a text to at most `width` columns, with an ellipsis.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut space = width.saturating_sub(1);
    let mut kept: String = text
        .chars()
        .take_while(|found| {
            let wide = found.width().unwrap_or(0);
            let fits = wide <= space;
            space = space.saturating_sub(wide);
            fits
        })
        .collect();
    kept.push('…');
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use tabled::settings::Style;

    fn rows() -> Vec<Vec<String>> {
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        vec![
            row(["name", "what it is", "reel"]),
            row(["everything#2", "a long story about it", "20261122-everything.reel"]),
        ]
    }

    #[test]
    fn only_expendable_columns_are_cut_and_in_their_order() {
        let text = |width| fitted(rows(), BLANK, &[1, 2], width).with(Style::empty()).to_string();
        for (width, expected) in
            [(None, "a long story about it"), (Some(60), "a long story abou…"), (Some(40), "a long …")]
        {
            let shown = text(width);
            assert!(shown.contains("everything#2") && shown.contains(expected), "{width:?}\n{shown}");
            assert!(shown.lines().all(|line| line.width() <= width.unwrap_or(usize::MAX)), "{width:?}\n{shown}");
        }
        assert!(text(Some(60)).contains("20261122-everything.reel"), "it comes second");
        let lined = fitted(rows(), LINES, &[1], Some(60)).with(Style::rounded()).to_string();
        assert!(lined.lines().all(|line| line.width() == 60), "{lined}");
    }

    #[test]
    fn columns_are_removed_in_order_and_named() {
        let narrowed = |width| {
            let mut rows = rows();
            let removed = narrowed(&mut rows, BLANK, &[vec![2], vec![0]], 1, width);
            (removed, rows[0].len())
        };
        assert_eq!(narrowed(80), (vec![], 3));
        // 12 and 16 columns, two between and two at the edges.
        assert_eq!(narrowed(32), (vec!["reel".to_owned()], 2));
        assert_eq!(narrowed(31), (vec!["name".to_owned(), "reel".to_owned()], 1));
        let together = super::narrowed(&mut rows(), BLANK, &[vec![2, 0]], 1, 32);
        assert_eq!(together, ["name", "reel"]);
    }

    #[test]
    fn wide_characters_count_twice() {
        assert_eq!([cut("日本語", 6), cut("日本語", 5), cut("abc", 2)], ["日本語", "日本…", "a…"]);
    }
}
