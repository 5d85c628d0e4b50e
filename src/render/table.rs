//! Tables that fit a terminal: where there is no room, the columns that matter least are cut, with an ellipsis.

use tabled::Table;
use tabled::builder::Builder;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A table without lines (`Style::empty`).
pub const BLANK: Frame = Frame { between: 2, edges: 2 };
/// A table with lines around every cell (`Style::rounded`).
pub const LINES: Frame = Frame { between: 3, edges: 4 };

/// What a table takes up beside its cells' contents, in columns of the terminal.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// Between the contents of two cells.
    between: usize,
    /// At both ends of a row together.
    edges: usize,
}

/// A column that is cut keeps so many columns of the terminal.
const LEAST: usize = 8;

/// A table of rows, the first one its heading. Where `width` is given and too small, the columns of `expendable` are
/// cut, one after another; the others never are.
pub fn fitted(mut rows: Vec<Vec<String>>, frame: Frame, expendable: &[usize], width: Option<usize>) -> Table {
    if let Some(width) = width {
        fit(&mut rows, frame, expendable, width);
    }
    let mut builder = Builder::default();
    rows.into_iter().for_each(|row| builder.push_record(row));
    builder.build()
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

/// A text of at most so many columns, its end replaced by an ellipsis where it is wider.
pub fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut proposal = width.saturating_sub(1);
    let mut kept: String = text
        .chars()
        .take_while(|found| {
            let wide = found.width().unwrap_or(0);
            let fits = wide <= proposal;
            proposal = proposal.saturating_sub(wide);
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
    fn wide_characters_count_twice() {
        assert_eq!([cut("日本語", 6), cut("日本語", 5), cut("abc", 2)], ["日本語", "日本…", "a…"]);
    }
}
