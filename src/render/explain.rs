//! Formats explanations as text.

use super::findings::wrapped;
use super::output_buffer::OutputBuffer;
use super::pretty::{Layout, pretty};
use super::style::Palette;
use super::table::{BLANK, fitted};
use crate::explain::schemas::OutlineLine;
use crate::explain::{Part, Subject};
use crate::protocol::Revision;
use anstyle::Style;
use std::fmt::{self, Write};
use unicode_width::UnicodeWidthStr;

/// Writes everything about an entry.
///
/// # Errors
///
/// If writing fails.
pub(crate) fn whole(
    subject: &Subject,
    revision: Option<Revision>,
    width: usize,
    palette: &Palette,
    out: &mut impl Write,
) -> fmt::Result {
    let (bold, faint) = (palette.bold, palette.faint);
    writeln!(out, "{bold}{}{bold:#}  {faint}{}{faint:#}", subject.name(), subject.kind())?;
    wrapped(&subject.about(), "  ", width, Style::new(), out)?;
    writeln!(out)?;
    let mut facts = subject.facts();
    facts.push(("source", subject.source()));
    for (label, text) in facts {
        fact(label, &text, width, palette, out)?;
    }
    for part in subject.parts(revision) {
        outline(&part, width, palette, out)?;
    }
    if let Some(example) = subject.example(revision) {
        writeln!(out, "\n{bold}example{bold:#}")?;
        let text = serde_json::to_vec(&example).unwrap_or_default();
        writeln!(out, "{}", indented(&text, palette))?;
    }
    let related = subject.related();
    if !related.is_empty() {
        writeln!(out, "\n{bold}related{bold:#}")?;
        wrapped(&related.join(", "), "  ", width, Style::new(), out)?;
    }
    Ok(())
}

fn fact(label: &str, text: &str, width: usize, palette: &Palette, out: &mut impl Write) -> fmt::Result {
    const LABEL: usize = 14;
    let faint = palette.faint;
    let mut lines = String::new();
    wrapped(text, "", width.saturating_sub(LABEL + 4), Style::new(), &mut lines)?;
    for (number, line) in lines.lines().enumerate() {
        let label = if number == 0 { label } else { "" };
        writeln!(out, "  {faint}{label:LABEL$}{faint:#}{}", line.trim_start())?;
    }
    Ok(())
}

fn outline(part: &Part, width: usize, palette: &Palette, out: &mut impl Write) -> fmt::Result {
    let bold = palette.bold;
    writeln!(out, "\n{bold}{}{bold:#}", part.name)?;
    if part.outline.is_empty() {
        return writeln!(out, "  no members of its own");
    }
    let name = |line: &OutlineLine| line.name.width() + 2 * line.depth;
    let column = part.outline.iter().map(name).max().unwrap_or(0).min(width / 2);
    for line in &part.outline {
        let (indent, key) = (2 * line.depth, palette.key);
        let space = column.saturating_sub(name(line));
        let required = if line.is_required { ", required" } else { "" };
        let taken = 2 + column.max(name(line)) + 2;
        let what = super::table::cut(&line.what, width.saturating_sub(taken + required.len()).max(8));
        writeln!(out, "  {:indent$}{key}{}{key:#}{:space$}  {what}{required}", "", line.name, "")?;
    }
    Ok(())
}

fn indented(json: &[u8], palette: &Palette) -> String {
    let layout = Layout { palette: *palette, margin: 2, ..Layout::default() };
    let mut text = OutputBuffer::new(Vec::new());
    pretty(json, &layout, &mut text);
    String::from_utf8_lossy(text.gathered()).trim_end().to_owned()
}

/// Writes all entries, one line each, grouped by kind.
///
/// # Errors
///
/// If writing fails.
pub(crate) fn list(subjects: &[Subject], width: Option<usize>, palette: &Palette, out: &mut impl Write) -> fmt::Result {
    let mut kinds: Vec<&str> = subjects.iter().map(Subject::kind).collect();
    kinds.dedup();
    let bold = palette.bold;
    for kind in kinds {
        let rows = subjects.iter().filter(|subject| subject.kind() == kind);
        let rows = rows.map(|subject| vec![subject.name(), subject.about()]).collect();
        writeln!(out, "{bold}{kind}{bold:#}")?;
        let table = fitted(rows, BLANK, &[1, 0], width).with(tabled::settings::Style::empty()).to_string();
        table.lines().try_for_each(|line| writeln!(out, "{}", line.trim_end()))?;
        writeln!(out)?;
    }
    Ok(())
}
