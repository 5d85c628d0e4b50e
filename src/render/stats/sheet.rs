//! A table that becomes text, Markdown or CSV.

use crate::render::table::{BLANK, fitted, naming, narrowed};
use crate::render::text::markdown_text;
use tabled::settings::object::Columns;
use tabled::settings::{Alignment, Style};

/// Rows below a heading.
#[derive(Clone, Debug)]
pub(crate) struct Sheet {
    heading: Vec<String>,
    rows: Vec<Vec<String>>,
    /// The columns that a narrow terminal does without, in this order.
    removable: Vec<String>,
    /// A removable column is removed with the one behind it.
    has_pairs: bool,
    /// The columns with names, which may be shortened; all others are numbers.
    names: Vec<usize>,
}

impl Sheet {
    /// Creates a table whose first column contains names.
    pub(super) fn new(heading: &[&str], rows: Vec<Vec<String>>) -> Self {
        let heading = heading.iter().map(|name| (*name).to_owned()).collect();
        Self { heading, rows, removable: Vec::new(), has_pairs: false, names: vec![0] }
    }

    /// Removes these columns if all their cells are empty.
    pub(super) fn without(mut self, columns: &[&str]) -> Self {
        for column in columns {
            let Some(at) = self.heading.iter().position(|name| name == column) else { continue };
            if self.rows.iter().all(|row| row[at].is_empty()) {
                self.heading.remove(at);
                self.rows.iter_mut().for_each(|row| drop(row.remove(at)));
            }
        }
        self
    }

    /// Names the columns that a narrow terminal does without.
    pub(super) fn removing(mut self, columns: &[&str]) -> Self {
        self.removable = columns.iter().map(|name| (*name).to_owned()).collect();
        self
    }

    /// Names the first columns of the pairs that a narrow terminal does without. Their headings end in ` A`.
    pub(super) fn removing_pairs(self, columns: &[&str]) -> Self {
        Self { has_pairs: true, ..self.removing(columns) }
    }

    /// Says which columns contain names.
    pub(super) fn shortening(self, names: &[usize]) -> Self {
        Self { names: names.to_vec(), ..self }
    }

    /// Whether there is no row.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table as text. Nothing is wider than `width`.
    pub(crate) fn text(&self, width: Option<usize>) -> String {
        let mut rows: Vec<Vec<String>> = std::iter::once(&self.heading).chain(&self.rows).cloned().collect();
        let place = |name: &String| self.heading.iter().position(|known| known == name);
        let group = |at: usize| (at..=at + usize::from(self.has_pairs)).collect();
        let removable: Vec<Vec<usize>> = self.removable.iter().filter_map(place).map(group).collect();
        let mut removed = width.map(|width| narrowed(&mut rows, BLANK, &removable, 0, width)).unwrap_or_default();
        if self.has_pairs {
            removed = removed.iter().filter_map(|name| name.strip_suffix(" A").map(str::to_owned)).collect();
        }
        let numbers = self.names.len()..;
        let mut table = fitted(rows, BLANK, &self.names, width);
        table.with(Style::empty()).modify(Columns::new(numbers), Alignment::right());
        naming(&removed, table.to_string())
    }

    /// The table in Markdown.
    pub(crate) fn markdown(&self) -> String {
        let row = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| markdown_text(cell)).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let lines = (0..self.heading.len()).map(|at| if self.names.contains(&at) { "---|" } else { "---:|" });
        let rows: String = self.rows.iter().map(|cells| row(cells)).collect();
        format!("{}|{}\n{rows}", row(&self.heading), lines.collect::<String>())
    }

    /// The table as comma-separated values (RFC 4180).
    pub(crate) fn csv(&self) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        for row in std::iter::once(&self.heading).chain(&self.rows) {
            // Writing to memory does not fail, and all rows are of one length.
            let _ = writer.write_record(row.iter().map(|cell| cell_text(cell)));
        }
        String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
    }
}

/// Spreadsheets take a cell that begins with one of these for a formula. An apostrophe makes it text.
fn cell_text(cell: &str) -> String {
    let is_number = cell.parse::<f64>().is_ok();
    match cell.starts_with(['=', '+', '-', '@', '\t', '\r']) && !is_number {
        true => format!("'{cell}"),
        false => cell.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet() -> Sheet {
        let rows = [["a|b<", "1", ""], ["=1+1", "-2", ""]];
        let rows = rows.iter().map(|row| row.map(str::to_owned).to_vec()).collect();
        Sheet::new(&["name", "calls", "late"], rows).without(&["late", "calls"])
    }

    #[test]
    fn what_others_wrote_stays_in_its_cell() {
        assert_eq!(sheet().csv(), "name,calls\na|b<,1\n'=1+1,-2\n");
        let markdown = sheet().markdown();
        assert!(markdown.starts_with("| name | calls |\n|---|---:|\n"), "{markdown}");
        assert_eq!(markdown.lines().nth(2).map(|line| line.matches(" | ").count()), Some(1), "{markdown}");
        assert!(!markdown.contains("b<"), "{markdown}");
    }
}
