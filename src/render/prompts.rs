//! Prints what the model would have seen at each turn: a table of the sources and their bytes, with the beginnings of the
//! texts.

use super::line::bytes;
use super::sequence::seconds;
use super::spans::{Spans, padded};
use super::style::Palette;
use crate::session::prompts::{PromptPart, TurnParts};
use anstyle::Style;
use serde_json::{Value, json};
use std::fmt::Write;

/// The widths of the columns: where a text comes from, which server sent it, its bytes and its event.
const SOURCE: usize = 22;
const SERVER: usize = 16;
const BYTES: usize = 9;
const SEQ: usize = 6;

/// Appends a turn.
pub(crate) fn text(turn: &TurnParts, palette: &Palette, width: Option<usize>, out: &mut String) {
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
    turn.parts.iter().for_each(|part| row(part, palette, width, out));
    for (seq, text) in &turn.left_out {
        let mut line = Spans::default();
        line.push(*warning, &format!("  not used, event {seq}: {text}"));
        line.write(width, out);
        out.push('\n');
    }
}

/// Narrow terminals have no space for the server.
fn row(part: &PromptPart, palette: &Palette, width: Option<usize>, out: &mut String) {
    let faint = palette.faint;
    let has_server = width.is_none_or(|width| width >= 76);
    let source = if part.name.is_empty() { part.source.clone() } else { format!("{} {}", part.source, part.name) };
    out.push_str("  ");
    padded(&source, SOURCE, out);
    if has_server {
        let _ = write!(out, " {faint}");
        padded(&part.server, SERVER, out);
        let _ = write!(out, "{faint:#}");
    }
    let _ = write!(out, "{:>BYTES$} {faint}{:>SEQ$}{faint:#}  ", bytes(part.bytes), part.seq);
    let taken = 2 + SOURCE + if has_server { SERVER + 1 } else { 0 } + BYTES + 1 + SEQ + 2;
    let mut text = Spans::default();
    text.push(Style::new(), &part.excerpt.split_whitespace().collect::<Vec<_>>().join(" "));
    text.write(Some(width.map_or(100, |width| width.saturating_sub(taken)).max(8)), out);
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
    use unicode_width::UnicodeWidthStr;

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
            text(&turn(), &Palette::plain(), Some(width), &mut out);
            assert!(out.lines().all(|line| line.width() <= width), "{width}\n{out}");
            assert!(out.chars().all(|found| found == '\n' || super::super::line::visible(found) == found));
            out
        };
        insta::assert_snapshot!("prompts", [60, 80, 120, 200].map(drawn).join("\n"));
    }
}
