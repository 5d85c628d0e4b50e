//! Prints what the model would have seen at each turn: a table of the sources and their bytes, with the beginnings of the
//! texts.

use super::line::{bytes, visible_text};
use super::sequence::seconds;
use super::spans::{Spans, padded};
use super::style::Palette;
use crate::session::prompts::{PromptPart, TurnParts};
use anstyle::Style;
use serde_json::{Value, json};
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

/// The widths of the columns: the bytes of a text, and its event.
const BYTES: usize = 9;
const SEQ: usize = 6;
/// Without a terminal: the width that names are made for, and the columns for the beginning of a text.
const WIDTH: usize = 160;
const EXCERPT: usize = 100;

/// Where everything stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    width: Option<usize>,
    /// Columns for where a text comes from, and for the server that sent it; narrow terminals have no space for that.
    source: usize,
    server: usize,
}

impl Layout {
    /// The layout for these turns: names get the space that they need, if the texts keep most of it.
    pub(crate) fn of(turns: &[TurnParts], width: Option<usize>) -> Self {
        let all = width.unwrap_or(WIDTH);
        let parts = || turns.iter().flat_map(|turn| &turn.parts);
        let longest = |name: fn(&PromptPart) -> String, most: usize| {
            parts().map(|part| visible_text(&name(part)).width()).max().unwrap_or(0).clamp(8, most)
        };
        let server = if all < 76 { 0 } else { longest(|part| part.server.clone(), (all / 5).max(16)) };
        Self { width, source: longest(source, (all / 4).max(20)), server }
    }
}

/// Appends a turn.
pub(crate) fn text(turn: &TurnParts, palette: &Palette, layout: Layout, out: &mut String) {
    let width = layout.width;
    let Palette { bold, faint, warning, .. } = palette;
    let mut heading = Spans::default();
    match turn.number {
        0 => heading.push(*bold, "in every prompt"),
        number => heading.push(*bold, &format!("turn {number}")),
    }
    let began = turn.began.map(|(seq, time)| format!(", from event {seq} at {} s on", seconds(time)));
    heading.push(*faint, &began.unwrap_or_default());
    heading.push(Style::new(), &format!(": {}", bytes(turn.bytes())));
    let shares: Vec<_> = turn.by_source().into_iter().map(|(source, sum)| format!("{source} {}", bytes(sum))).collect();
    if shares.len() > 1 {
        heading.push(*faint, &format!(" ({})", shares.join(", ")));
    }
    heading.write(width, out);
    out.push('\n');
    turn.parts.iter().for_each(|part| row(part, palette, layout, out));
    for (seq, text) in &turn.left_out {
        let mut line = Spans::default();
        line.push(*warning, &format!("  not used, event {seq}: {text}"));
        line.write(width, out);
        out.push('\n');
    }
}

/// Where a text comes from.
fn source(part: &PromptPart) -> String {
    if part.name.is_empty() { part.source.clone() } else { format!("{} {}", part.source, part.name) }
}

fn row(part: &PromptPart, palette: &Palette, layout: Layout, out: &mut String) {
    let faint = palette.faint;
    out.push_str("  ");
    padded(&source(part), layout.source, out);
    if layout.server > 0 {
        let _ = write!(out, "  {faint}");
        padded(&part.server, layout.server, out);
        let _ = write!(out, "{faint:#}");
    }
    let _ = write!(out, "{:>BYTES$} {faint}{:>SEQ$}{faint:#}  ", bytes(part.bytes), part.seq);
    let taken = 2 + layout.source + if layout.server > 0 { layout.server + 2 } else { 0 } + BYTES + 1 + SEQ + 2;
    let mut text = Spans::default();
    text.push(Style::new(), &part.excerpt.split_whitespace().collect::<Vec<_>>().join(" "));
    text.write(Some(layout.width.map_or(EXCERPT, |width| width.saturating_sub(taken)).max(8)), out);
    out.push('\n');
}

/// Returns a turn as an object.
pub(crate) fn value(turn: &TurnParts) -> Value {
    let parts = turn.parts.iter().map(|part| {
        json!({"seq": part.seq, "stream": part.stream, "server": part.server, "source": part.source, "name": part.name,
            "bytes": part.bytes, "text": part.excerpt})
    });
    let left_out = turn.left_out.iter().map(|(seq, text)| json!({"seq": seq, "text": text}));
    json!({
        "turn": turn.number, "seq": turn.began.map(|began| began.0),
        "seconds": turn.began.map(|began| began.1 as f64 / 1e9), "bytes": turn.bytes(), "by_source": turn.by_source(),
        "parts": parts.collect::<Vec<_>>(), "left_out": left_out.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn() -> TurnParts {
        let part = |source: &str, name: &str, excerpt: &str, bytes| PromptPart {
            seq: 12,
            stream: 1,
            server: "serveur d'été 日本語のサーバー".to_owned(),
            source: source.to_owned(),
            name: name.to_owned(),
            excerpt: excerpt.to_owned(),
            bytes,
        };
        let mut turn = TurnParts::default();
        (turn.number, turn.began) = (1, Some((12, 1_500_000_000)));
        turn.parts = vec![
            part("user", "", "What did we decide\nabout \u{1b}[31mthe schema?", 40),
            part("tool result", "検索する", "שלום עולם e\u{301}e\u{301} 👩‍👩‍👧 \u{202e}abc", 1234),
        ];
        turn.left_out = vec![(14, "over budget: left out 9 B\u{7}".to_owned())];
        turn
    }

    #[test]
    fn a_turn_in_four_widths() {
        let drawn = |width| {
            let mut out = String::new();
            let turn = turn();
            text(&turn, &Palette::plain(), Layout::of(std::slice::from_ref(&turn), Some(width)), &mut out);
            assert!(out.lines().all(|line| line.width() <= width), "{width}\n{out}");
            assert!(out.chars().all(|found| found == '\n' || super::super::line::visible(found) == found));
            out
        };
        insta::assert_snapshot!("prompts", [60, 80, 120, 200].map(drawn).join("\n"));
    }
}
