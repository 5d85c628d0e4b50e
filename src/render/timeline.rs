//! Draws who waited for what, and when: a row for each thing that was called, with a bar where somebody waited for it.

use super::line::duration;
use super::spans::{Spans, padded};
use super::style::Palette;
use crate::session::waits::{Lane, Waits};
use crate::wire::Direction;
use crate::wire::text::counted;
use crate::wire::units::millis_of;
use anstyle::Style;
use serde_json::{Value, json};
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

/// The width if there is no terminal, in columns.
const WIDTH: usize = 100;
/// The least width of the bars, in columns.
const LEAST_BARS: usize = 12;
/// The widths of the columns right of the bars: the calls, the time together, the longest and its event.
const COUNT_COLUMNS: usize = 6;
const TIME_COLUMNS: usize = 9;
const SEQ_COLUMNS: usize = 7;
/// At most this many rows are drawn.
const MAX_ROWS: usize = 200;
/// How much of a column's time was waited.
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The number of lines above the rows: the sentence, and the times.
pub(crate) const HEADINGS: usize = 2;

/// Appends the picture.
pub(crate) fn text(waits: &Waits, palette: &Palette, width: Option<usize>, out: &mut String) {
    lines(waits, palette, width).iter().for_each(|(line, _)| out.push_str(line));
}

/// Returns the lines of the picture, each with the event of the row's longest request, or of its first one if none was
/// answered.
pub(crate) fn lines(waits: &Waits, palette: &Palette, width: Option<usize>) -> Vec<(String, Option<u64>)> {
    if waits.lanes().is_empty() {
        return Vec::new();
    }
    let layout = Layout::of(waits, width.unwrap_or(WIDTH));
    let mut lines = Vec::new();
    let mut add = |seq: Option<u64>, write: &dyn Fn(&mut String)| {
        let mut line = String::new();
        write(&mut line);
        lines.push((line, seq));
    };
    add(None, &|line| summary(waits, width, palette, line));
    add(None, &|line| layout.axis(waits, palette, line));
    let mut shown: Option<(u32, Direction)> = None;
    for lane in waits.lanes().iter().take(MAX_ROWS) {
        if shown.replace((lane.stream, lane.direction)) != Some((lane.stream, lane.direction)) {
            add(None, &|line| heading(lane, waits, layout.width, palette, line));
        }
        let seq = lane.longest.map(|(_, seq)| seq).or(lane.waits.first().map(|wait| wait.seq));
        add(seq, &|line| layout.row(lane, waits, palette, line));
    }
    let more = waits.lanes().len().saturating_sub(MAX_ROWS) as u64 + waits.left_out();
    if more > 0 {
        let (faint, more) = (palette.faint, counted(more, "more row"));
        add(None, &|line| {
            let _ = writeln!(line, "{faint}{more} not drawn; use a filter{faint:#}");
        });
    }
    lines
}

/// Returns a row as an object.
pub(crate) fn value(lane: &Lane) -> Value {
    let waits = lane.waits.iter().map(|wait| {
        json!({"seq": wait.seq, "start": wait.start as f64 / 1e9, "end": wait.end.map(|end| end as f64 / 1e9),
            "failed": wait.failed})
    });
    json!({
        "stream": lane.stream, "dir": lane.direction.short(), "method": lane.method, "name": lane.name,
        "calls": lane.count, "open": lane.open, "waited_ms": millis_of(lane.total),
        "longest_ms": lane.longest.map(|(time, _)| millis_of(time)), "longest_seq": lane.longest.map(|(_, seq)| seq),
        "waits": waits.collect::<Vec<_>>(),
    })
}

/// How long each side waited, in one sentence.
fn summary(waits: &Waits, width: Option<usize>, palette: &Palette, out: &mut String) {
    let span = waits.end() - waits.start();
    let is_narrow = width.is_some_and(|width| width < 90);
    let share = |time: i64| {
        let percent = if span > 0 { time.saturating_mul(100) / span } else { 0 };
        if is_narrow || time == 0 { format!("{percent} %") } else { format!("{} ({percent} %)", duration(time)) }
    };
    let mut line = Spans::default();
    line.push(palette.bold, &duration(span));
    line.push(Style::new(), ": clients waited ");
    line.push(palette.bold, &share(waits.waited(Direction::ClientToServer)));
    line.push(Style::new(), ", servers ");
    line.push(palette.bold, &share(waits.waited(Direction::ServerToClient)));
    line.push(Style::new(), ", nobody ");
    line.push(palette.bold, &share(waits.idle()));
    line.write(width, out);
    out.push('\n');
}

/// Who waits for whom in the rows below.
fn heading(lane: &Lane, waits: &Waits, width: usize, palette: &Palette, out: &mut String) {
    let [client, server] = waits.participants.names(lane.stream);
    let (client, server) = (client.unwrap_or("client"), server.unwrap_or("server"));
    let (waiter, other) = match lane.direction {
        Direction::ClientToServer => (client, server),
        Direction::ServerToClient => (server, client),
    };
    let mut line = Spans::default();
    line.push(palette.bold, waiter);
    line.push(Style::new(), " waits for ");
    line.push(palette.bold, other);
    let is_one_of_several = waits.lanes().iter().any(|other| other.stream != lane.stream);
    line.push(palette.faint, &if is_one_of_several { format!(" #{}", lane.stream) } else { String::new() });
    line.write(Some(width), out);
    out.push('\n');
}

/// Where everything stands, in columns.
struct Layout {
    width: usize,
    label: usize,
    bars: usize,
    has_longest: bool,
}

impl Layout {
    fn of(waits: &Waits, width: usize) -> Self {
        let has_longest = width >= 76;
        let right = COUNT_COLUMNS + TIME_COLUMNS + if has_longest { TIME_COLUMNS + SEQ_COLUMNS } else { 0 };
        let left = width.saturating_sub(right + 1);
        let longest = waits.lanes().iter().map(|lane| 2 + lane.label_width()).max().unwrap_or(0);
        let label = longest.min(left / 2).min(left.saturating_sub(LEAST_BARS)).max(8);
        Self { width, label, bars: left.saturating_sub(label + 1).max(LEAST_BARS), has_longest }
    }

    /// The times at which bars stand, and what the numbers mean.
    fn axis(&self, waits: &Waits, palette: &Palette, out: &mut String) {
        let faint = palette.faint;
        let bars = ticks(waits.start(), waits.end(), self.bars);
        let _ = write!(out, "{faint}{:1$} {bars}", "", self.label);
        let _ = write!(out, "{:>COUNT_COLUMNS$}{:>TIME_COLUMNS$}", "calls", "waited");
        if self.has_longest {
            let _ = write!(out, "{:>TIME_COLUMNS$}{:>SEQ_COLUMNS$}", "longest", "seq");
        }
        let _ = writeln!(out, "{faint:#}");
    }

    fn row(&self, lane: &Lane, waits: &Waits, palette: &Palette, out: &mut String) {
        let Palette { faint, error, .. } = palette;
        out.push_str("  ");
        let mut name = String::new();
        padded(lane.label(), self.label.saturating_sub(2), &mut name);
        let _ = write!(out, "{name} ");
        let (bars, has_failed) = self.bars(lane, waits);
        let colour = match lane.direction {
            Direction::ClientToServer => palette.to_server,
            Direction::ServerToClient => palette.to_client,
        };
        let style = if has_failed { *error } else { colour };
        let _ = write!(out, "{style}{bars}{style:#}{:>COUNT_COLUMNS$}", lane.count);
        let waited = if lane.open == lane.count { "open".to_owned() } else { duration(lane.total) };
        let _ = write!(out, "{waited:>TIME_COLUMNS$}");
        if self.has_longest {
            let (time, seq) = lane.longest.map(|(time, seq)| (duration(time), seq.to_string())).unwrap_or_default();
            let _ = write!(out, "{faint}{time:>TIME_COLUMNS$}{seq:>SEQ_COLUMNS$}{faint:#}");
        }
        out.truncate(out.trim_end().len());
        out.push('\n');
    }

    /// The bars: higher where more of a column's time was waited, `✗` where something failed, `┄` while there is no
    /// response.
    fn bars(&self, lane: &Lane, waits: &Waits) -> (String, bool) {
        let mut cells = vec![Cell::default(); self.bars];
        let (start, end) = (waits.start(), waits.end());
        let column = |time: i64| column(time, (start, end), self.bars);
        for wait in &lane.waits {
            let (from, to) = (column(wait.start), column(wait.end.unwrap_or(end)));
            let last = (to as usize).min(self.bars - 1);
            for (at, cell) in cells.iter_mut().enumerate().take(last + 1).skip((from as usize).min(last)) {
                let covered = (to.min(at as f64 + 1.0) - from.max(at as f64)).max(0.0);
                cell.covered = (cell.covered + covered).min(1.0);
                cell.is_touched = true;
                cell.is_open |= wait.end.is_none();
            }
            cells[last].has_failed |= wait.failed;
        }
        (cells.iter().map(Cell::shown).collect(), cells.iter().any(|cell| cell.has_failed))
    }
}

/// The column of a time between `start` and `end`, of so many.
fn column(time: i64, (start, end): (i64, i64), columns: usize) -> f64 {
    (time - start) as f64 / (end - start).max(1) as f64 * columns as f64
}

/// A line of this many columns with marks at round times, at equal distances. Each mark has its time if there is space before
/// the next one.
fn ticks(start: i64, end: i64, columns: usize) -> String {
    let place = |time: i64| column(time, (start, end), columns).round();
    let label = |time: i64, step: i64| format!("│{} s", rounded_seconds(time, step));
    let steps = (0..19).flat_map(|power| [1, 2, 5].map(|factor: i64| factor.saturating_mul(10i64.pow(power))));
    let fits = |step: &i64| {
        let longest = label(start, *step).width().max(label(end, *step).width());
        column(start.saturating_add(*step), (start, end), columns) >= (longest + 1).max(columns / 8) as f64
    };
    let step = steps.into_iter().find(fits).unwrap_or(i64::MAX);
    let mut out = String::new();
    // Where no mark is near the beginning, its time stands there.
    let beginning = label(start, 1_000_000);
    let first = start.div_euclid(step).saturating_add(1).saturating_mul(step);
    if place(start - start.rem_euclid(step)) < 0.0 && beginning.width() < place(first) as usize {
        out.push_str(&beginning);
    }
    let times = (0..=columns as i64).map_while(|number| (start.div_euclid(step) + number).checked_mul(step));
    for time in times.skip_while(|time| place(*time) < 0.0) {
        // A mark right of the last column would be beyond the bars.
        let at = place(time) as usize;
        if at >= columns {
            break;
        }
        padded("", at - out.width().min(at), &mut out);
        let text = label(time, step);
        out.push_str(if at + text.width() < columns { &text } else { "│" });
    }
    padded("", columns - out.width().min(columns), &mut out);
    out
}

/// A time in seconds, with the decimals that multiples of a step have.
fn rounded_seconds(time: i64, step: i64) -> String {
    if time == 0 {
        return "0".to_owned();
    }
    let decimals = (0..9).find(|decimals| step % 10i64.pow(9 - decimals) == 0).unwrap_or(9);
    format!("{:.*}", decimals as usize, time as f64 / 1e9)
}

/// One column of a bar.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    /// The part of its time that was waited, from 0 to 1.
    covered: f64,
    is_touched: bool,
    is_open: bool,
    has_failed: bool,
}

impl Cell {
    fn shown(&self) -> char {
        match self {
            Self { has_failed: true, .. } => '✗',
            Self { is_open: true, .. } => '┄',
            Self { is_touched: false, .. } => ' ',
            Self { covered, .. } => LEVELS[((covered * 8.0).ceil() as usize).clamp(1, 8) - 1],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::steps::tests::{conversation, hostile};

    fn drawn(waits: &Waits, width: usize) -> String {
        let mut out = String::new();
        text(waits, &Palette::plain(), Some(width), &mut out);
        out
    }

    #[test]
    fn who_waited_for_what_in_four_widths() {
        let waits = Waits::of(&conversation());
        insta::assert_snapshot!("timeline", [60, 80, 120, 200].map(|width| drawn(&waits, width)).join("\n"));
    }

    #[test]
    fn several_servers_with_hostile_texts_in_four_widths() {
        let waits = Waits::of(&hostile());
        insta::assert_snapshot!("timeline_hostile", [60, 80, 120, 200].map(|width| drawn(&waits, width)).join("\n"));
    }

    #[test]
    fn nothing_is_wider_than_the_terminal_and_nothing_controls_it() {
        for waits in [conversation(), hostile()].map(|steps| Waits::of(&steps)) {
            for width in [50, 60, 80, 120, 200] {
                let text = drawn(&waits, width);
                assert!(text.lines().all(|line| line.width() <= width), "{width}\n{text}");
                assert!(text.chars().all(|found| found == '\n' || super::super::line::visible(found) == found));
            }
        }
    }

    #[test]
    fn marks_stand_at_round_times_and_at_the_column_of_their_time() {
        let seconds = |time: f64| (time * 1e9) as i64;
        for (start, end, columns, expected) in [
            (0.0, 3.1, 21, "│0 s   │1 s   │2 s  │"),
            (0.001, 3.1, 21, "│0 s   │1 s   │2 s  │"),
            (0.0, 0.11, 32, "│0 s           │0.05 s       │  "),
            (0.4, 1.1, 12, "  │0.5 s  │ "),
            (100.0, 4000.0, 30, "│100.000 s     │2000 s        "),
            (0.0, 0.0, 12, "│0 s        "),
            (0.0, 9.0, 3, "│  "),
        ] {
            assert_eq!(ticks(seconds(start), seconds(end), columns), expected, "{start} {end}");
        }
        for (start, end) in [(i64::MIN / 4, i64::MAX / 4), (-5, 0), (i64::MAX / 2, i64::MAX / 2)] {
            assert_eq!(ticks(start, end, 20).width(), 20, "{start} {end}");
        }
    }

    #[test]
    fn a_bar_is_as_high_as_the_part_of_its_time() {
        let cell = |covered: f64| Cell { covered, is_touched: true, ..Cell::default() }.shown();
        assert_eq!([cell(0.0), cell(0.126), cell(0.5), cell(1.0)], ['▁', '▂', '▄', '█']);
        assert_eq!(Cell::default().shown(), ' ');
    }
}
