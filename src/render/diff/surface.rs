//! Formats the comparison of two surfaces, and the rules.

use super::rows::{Span, marked};
use crate::diff::surface::rules::{Effect, SurfaceRule};
use crate::diff::surface::{SurfaceChange, SurfaceReport, in_words};
use crate::render::findings::wrapped;
use crate::render::results::{Case, CaseVerdict, Level, Problem, Results, Suite};
use crate::render::style::Palette;
use crate::render::text::{markdown_text as escaped, visible_text};
use anstyle::Style;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::time::Duration;

/// The width if there is no terminal, in columns.
const WIDTH: usize = 100;

/// Texts that are longer than this are shown word by word, in characters.
const SHORT: usize = 40;

/// Appends the report: the changes of each item, those with the worst changes first, and a summary line.
pub(crate) fn text(report: &SurfaceReport, width: Option<usize>, palette: &Palette, out: &mut String) {
    let width = width.unwrap_or(WIDTH).max(40);
    let mut explained = HashSet::new();
    for (item, changes) in by_item(report) {
        let bold = palette.bold;
        let _ = writeln!(out, "{bold}{}{bold:#}", visible_text(&item));
        for change in changes {
            let is_new = explained.insert(change.rule.id);
            one(change, is_new, width, palette, out);
        }
        out.push('\n');
    }
    for what in &report.not_compared {
        let _ = wrapped(&format!("not compared: {}", visible_text(what)), "", width, palette.faint, out);
    }
    let _ = writeln!(out, "{}", in_words(report));
}

/// Returns the changes of each item, in the order of the items' first changes.
fn by_item(report: &SurfaceReport) -> Vec<(String, Vec<&SurfaceChange>)> {
    let mut items: Vec<(String, Vec<&SurfaceChange>)> = Vec::new();
    let mut places: HashMap<(&str, &str), usize> = HashMap::new();
    for change in &report.changes {
        let place = *places.entry((change.kind, &change.name)).or_insert_with(|| {
            items.push((format!("{} {}", change.kind, change.name), Vec::new()));
            items.len() - 1
        });
        items[place].1.push(change);
    }
    items
}

fn style_of(effect: Effect, palette: &Palette) -> Style {
    match effect {
        Effect::Breaking => palette.error,
        Effect::Risk => palette.warning,
        Effect::Harmless => palette.good,
    }
}

fn one(change: &SurfaceChange, is_new: bool, width: usize, palette: &Palette, out: &mut String) {
    let (look, faint) = (style_of(change.rule.effect, palette), palette.faint);
    let _ = writeln!(out, "  {look}{:8}{look:#}  {}", change.rule.effect.name(), change.rule.id);
    if is_new {
        let _ = wrapped(change.rule.text, "            ", width, faint, out);
    }
    if !change.place.is_empty() {
        let _ = writeln!(out, "            {faint}{}{faint:#}", visible_text(&change.place));
    }
    match long_texts(change) {
        Some((left, right)) => {
            let (old, new) = marked(left, right);
            let _ =
                wrapped(&format!("- {}", with_looks(&old, palette.error)), "            ", width, Style::new(), out);
            let _ = wrapped(&format!("+ {}", with_looks(&new, palette.good)), "            ", width, Style::new(), out);
        }
        None => drop(wrapped(&visible_text(&change.seen), "            ", width, Style::new(), out)),
    }
}

/// Returns both texts, if they are too long for what was seen to show them.
fn long_texts(change: &SurfaceChange) -> Option<(&str, &str)> {
    let (left, right) = (change.left.as_ref()?.as_str()?, change.right.as_ref()?.as_str()?);
    let is_long = left.chars().count().max(right.chars().count()) > SHORT;
    (is_long && change.seen.contains(" became ")).then_some((left, right))
}

fn with_looks(line: &[Span], look: Style) -> String {
    let mut out = String::new();
    for span in line {
        let look = if span.differs { look } else { Style::new() };
        let _ = write!(out, "{look}{}{look:#}", span.text);
    }
    out
}

/// Appends the report as Markdown.
pub(crate) fn markdown(report: &SurfaceReport, out: &mut String) {
    let _ = writeln!(out, "### Server surface\n\n**{}**", in_words(report));
    if !report.changes.is_empty() {
        out.push_str("\n| severity | rule | where | what |\n|---|---|---|---|\n");
    }
    for change in &report.changes {
        let SurfaceChange { rule, kind, name, place, seen, .. } = change;
        let _ = writeln!(
            out,
            "| {} | {} | {kind} {}<br>{} | {} |",
            rule.effect.name(),
            rule.id,
            escaped(name),
            escaped(place),
            escaped(seen)
        );
    }
    for what in &report.not_compared {
        let _ = writeln!(out, "\nNot compared: {}", escaped(what));
    }
}

/// Returns the report as results: a case for each item that changed. A case fails if `fails` says so of the effect of one of
/// its changes.
pub(crate) fn results(report: &SurfaceReport, fails: impl Fn(Effect) -> bool) -> Results {
    let cases = by_item(report).into_iter().map(|(item, changes)| {
        let is_failed = changes.iter().any(|change| fails(change.rule.effect));
        let verdict = if is_failed { CaseVerdict::Failed } else { CaseVerdict::Passed };
        let class = changes.first().map_or("server", |change| change.kind).to_owned();
        Case { name: item, class, verdict, took: Duration::ZERO, problems: changes.into_iter().map(problem).collect() }
    });
    let mut cases: Vec<Case> = cases.collect();
    if cases.is_empty() {
        let (name, class) = ("nothing changed".to_owned(), "server".to_owned());
        cases.push(Case { name, class, verdict: CaseVerdict::Passed, took: Duration::ZERO, problems: Vec::new() });
    }
    let suite = Suite { name: "server surface".to_owned(), cases, ..Suite::default() };
    let not_compared = report.not_compared.iter().map(|what| format!("not compared: {what}"));
    let notes = std::iter::once(in_words(report)).chain(not_compared).collect();
    Results { title: "mcpreel diff --surface".to_owned(), suites: vec![suite], notes, ..Results::default() }
}

fn problem(change: &SurfaceChange) -> Problem {
    let level = match change.rule.effect {
        Effect::Breaking => Level::Error,
        Effect::Risk => Level::Warning,
        Effect::Harmless => Level::Note,
    };
    let place = if change.place.is_empty() { String::new() } else { format!(" at {}", change.place) };
    let message = format!("{}{place}: {}", change.rule.id, change.seen);
    let details = Some(change.rule.text.to_owned());
    Problem { level, message, details, location: None, excused: None, fingerprint: None }
}

/// Appends the rules, each with its severity, its source and its text.
pub(crate) fn rules(rules: &[&SurfaceRule], width: Option<usize>, palette: &Palette, out: &mut String) {
    let (bold, faint) = (palette.bold, palette.faint);
    for rule in rules {
        let _ = writeln!(out, "{bold}{}{bold:#}  {}  {faint}{}{faint:#}", rule.id, rule.effect.name(), rule.source);
        let _ = wrapped(rule.text, "    ", width.unwrap_or(usize::MAX), Style::new(), out);
    }
}
