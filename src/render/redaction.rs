//! The report of a redaction as text.

use super::style::Palette;
use crate::redact::detectors::Severity;
use crate::share::{Place, Report};
use crate::wire::text::{counted, excerpt};
use std::fmt::Write;

/// The number of places that are listed for each rule.
const MAX_PLACES: usize = 5;

/// Returns the report of a reel: each rule with its first places, never a secret.
pub(crate) fn text(report: &Report, reel: &str, width: usize, palette: &Palette) -> String {
    let mut out = String::new();
    if report.count() == 0 {
        let _ = writeln!(out, "{reel}: no secrets found");
        let line = "names, and passwords that are ordinary words, cannot be found: read it before you share it";
        let _ = writeln!(out, "{}", excerpt(line, width));
        unread(report, width, &mut out);
        return out;
    }
    let _ = writeln!(out, "{reel}: {}", found(report));
    let (bold, faint) = (palette.bold, palette.faint);
    let mut rules: Vec<_> = report.rules().collect();
    rules.sort_by_key(|(name, tally)| (std::cmp::Reverse(tally.severity), *name));
    for (name, tally) in rules {
        let colour = if tally.severity == Severity::High { palette.error } else { bold };
        let _ = writeln!(out, "  {colour}{:<6}{colour:#} {bold}{name}{bold:#} ×{}", tally.severity.name(), tally.count);
        let places: Vec<&Place> = report.places_of(name).collect();
        for place in places.iter().take(MAX_PLACES) {
            let times = if place.count > 1 { format!(" ×{}", place.count) } else { String::new() };
            let line = format!("{}{times}", shown(place, report));
            let _ = writeln!(out, "         {faint}{}{faint:#}", excerpt(&line, width.saturating_sub(10)));
        }
        if places.len() > MAX_PLACES {
            let more = counted((places.len() - MAX_PLACES) as u64, "more place");
            let _ = writeln!(out, "         {faint}and {more}{faint:#}");
        }
    }
    ordinary(report, width, palette, &mut out);
    unread(report, width, &mut out);
    out
}

/// Says where a secret is.
fn shown(place: &Place, report: &Report) -> String {
    match (report.is_text(), place.seq) {
        (true, Some(number)) => format!("line {number}"),
        (_, Some(seq)) => format!("event {seq}  {}", place.place),
        (_, None) => format!("header  {}", place.place),
    }
}

/// Says how many secrets there are, and in how many places.
fn found(report: &Report) -> String {
    match (report.count(), report.different()) {
        (1, _) => "1 secret".to_owned(),
        (places, 1) => format!("1 secret in {}", counted(places, "place")),
        (places, different) => format!("{different} different secrets in {}", counted(places, "place")),
    }
}

/// Says which secrets stay where nothing tells what they are, where something does, and what to do about it.
fn ordinary(report: &Report, width: usize, palette: &Palette, out: &mut String) {
    let count = report.ordinary() as u64;
    if count == 0 {
        return;
    }
    let (secrets, faint) = (counted(count, "secret"), palette.faint);
    let (is, rest) = match count {
        1 => ("is", "it stays where no name says what it is"),
        _ => ("are", "they stay where no name says what they are"),
    };
    let _ = writeln!(out, "{}", excerpt(&format!("{secrets} {is} short or ordinary: {rest}"), width));
    for place in report.ordinary_places().iter().take(MAX_PLACES) {
        let line = format!("{} ({})", shown(place, report), place.rule);
        let _ = writeln!(out, "         {faint}{}{faint:#}", excerpt(&line, width.saturating_sub(10)));
    }
    let more = count.saturating_sub(MAX_PLACES as u64);
    if more > 0 {
        let _ = writeln!(out, "         {faint}and {}{faint:#}", counted(more, "more secret"));
    }
    let next = match report.is_text() {
        true => "look for the same words in the other lines",
        false => "look for the same words in other messages; rules in .mcpreel.toml replace them everywhere",
    };
    let _ = writeln!(out, "  {}", excerpt(next, width.saturating_sub(2)));
}

/// Adds a line about events with binary data.
fn unread(report: &Report, width: usize, out: &mut String) {
    let events = report.unread();
    if events.is_empty() {
        return;
    }
    let were = if events.len() == 1 { "was" } else { "were" };
    let numbers: Vec<String> = events.iter().take(MAX_PLACES).map(u64::to_string).collect();
    let more = if events.len() > MAX_PLACES { ", …" } else { "" };
    let count = counted(events.len() as u64, "event");
    let line = format!("{count} with binary data {were} not looked into: {}{more}", numbers.join(", "));
    let _ = writeln!(out, "{}", excerpt(&line, width));
}
