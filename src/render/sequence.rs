//! Draws the steps of a session as a sequence diagram: a lifeline for the client and one for each server, an arrow for
//! each message, and what it says on the right. Everything fits the width.

use super::line::{duration, visible_text};
use super::spans::{Spans, padded};
use super::style::Palette;
use crate::session::Outcome;
use crate::session::steps::{Mark, Step, StepKind, Steps};
use crate::wire::Direction;
use crate::wire::text::counted;
use crate::wire::units::millis_of;
use anstyle::Style;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

/// The largest and the smallest number of columns between two lifelines.
const WIDEST: usize = 16;
/// The same for a single server and a client with a long name, if the terminal has this width.
const WIDEST_FOR_NAME: usize = 28;
const WIDE: usize = 100;
const NARROWEST: usize = 4;
/// The largest number of lifelines beside the client's: nobody reads more, and each row draws all of them.
const MOST_LANES: usize = 64;
/// The smallest number of columns for what a message says.
const LEAST_LABEL: usize = 16;

/// Appends the diagram. Without a width, labels are not cut.
pub(crate) fn text(steps: &Steps, palette: &Palette, width: Option<usize>, out: &mut String) {
    let Some(layout) = Layout::of(steps, width) else { return };
    layout.headings(steps, palette, out);
    let mut open = OpenCalls::default();
    let mut before: Option<&Step> = None;
    for step in steps.all() {
        layout.row(step, before, &open, palette, out);
        open.take(step, &layout);
        before = Some(step);
    }
    if steps.left_out() > 0 {
        let Palette { faint, .. } = palette;
        let _ = writeln!(out, "{faint}{} not drawn; use a filter{faint:#}", counted(steps.left_out(), "more event"));
    }
}

/// Returns a step as an object.
pub(crate) fn value(step: &Step) -> Value {
    let names: Vec<&str> = step.marks.iter().map(|mark| mark.name()).collect();
    json!({
        "seq": step.seq, "last_seq": step.last, "seconds": step.time as f64 / 1e9, "stream": step.stream,
        "dir": step.direction.map(Direction::short), "step": kind_name(step.kind), "method": step.title,
        "about": step.about, "outcome": step.outcome.map(Outcome::name), "summary": step.summary, "latency_ms": step.latency.map(millis_of),
        "request_seq": step.asked, "depth": step.depth, "count": step.count, "failed": step.failed, "marks": names,
        "rules": step.rules,
    })
}

fn kind_name(kind: StepKind) -> &'static str {
    match kind {
        StepKind::Request => "request",
        StepKind::Notification => "notification",
        StepKind::Response => "response",
        StepKind::Broken => "no message",
        StepKind::Event => "event",
        StepKind::Gap => "gap",
    }
}

/// Where everything stands.
struct Layout {
    /// The lifeline of each stream: 1 is the first right of the client.
    lanes: BTreeMap<u32, usize>,
    /// The number of lifelines beside the client's. The last one stands for all further streams.
    count: usize,
    /// Columns from one lifeline to the next.
    gap: usize,
    seq_width: usize,
    time_width: usize,
    /// Columns for what a message says.
    label: Option<usize>,
}

impl Layout {
    fn of(steps: &Steps, width: Option<usize>) -> Option<Self> {
        let last = steps.all().last()?;
        let seq_width = last.last.to_string().len().max(3);
        let time_width = steps.all().iter().map(|step| seconds(step.time).len()).max().unwrap_or(0);
        let streams: BTreeSet<u32> = steps.all().iter().map(|step| step.stream).collect();
        let streams: Vec<u32> = match streams.len() {
            1 => streams.into_iter().collect(),
            // Events of no single stream stand across all lifelines.
            _ => streams.into_iter().filter(|stream| *stream != 0).collect(),
        };
        let space = width.map_or(usize::MAX, |width| width.saturating_sub(seq_width + time_width + 3) * 2 / 5);
        let count = streams.len().min(space / NARROWEST).clamp(1, MOST_LANES);
        let client = streams.first().and_then(|stream| steps.participants.names(*stream)[0]);
        let widest = match (client, count) {
            (Some(client), 1) if width.is_none_or(|width| width >= WIDE) => {
                (visible_text(client).width() + 2).clamp(WIDEST, WIDEST_FOR_NAME)
            }
            _ => WIDEST,
        };
        let gap = (space / count).clamp(NARROWEST, widest);
        let lanes =
            streams.into_iter().zip(1..).map(|(stream, lane): (u32, usize)| (stream, lane.min(count))).collect();
        let taken = seq_width + 1 + time_width + 2 + gap * count + 1 + 2;
        let label = width.map(|width| width.saturating_sub(taken).max(LEAST_LABEL));
        Some(Self { lanes, count, gap, seq_width, time_width, label })
    }

    /// The names of the lifelines: above them if there are two, else in a list.
    fn headings(&self, steps: &Steps, palette: &Palette, out: &mut String) {
        let Palette { bold, faint, .. } = palette;
        let indent = " ".repeat(self.seq_width + 1 + self.time_width + 1);
        if let (1, Some(stream)) = (self.lanes.len(), self.lanes.keys().next()) {
            let [client, server] = steps.participants.names(*stream);
            let _ = write!(out, "{indent}{bold}");
            padded(client.unwrap_or("client"), self.gap - 1, out);
            out.push_str("  ");
            let mut name = Spans::default();
            name.push(Style::new(), server.unwrap_or("server"));
            name.write(self.label.map(|label| label + 2), out);
            let _ = writeln!(out, "{bold:#}");
            return;
        }
        for (stream, lane) in &self.lanes {
            let [client, server] = steps.participants.names(*stream);
            let mut line = Spans::default();
            line.push(*bold, &format!("#{stream} "));
            line.push(Style::new(), server.unwrap_or("server"));
            line.push(*faint, &client.map(|name| format!(" (client {name})")).unwrap_or_default());
            let is_shared = *lane == self.count && self.lanes.len() > self.count;
            line.push(*faint, if is_shared { " (on the last line)" } else { "" });
            line.write(self.label.map(|label| label + self.gap * self.count), out);
            out.push('\n');
        }
        let _ = write!(out, "{indent}{bold}");
        padded("client", self.gap.max(7), out);
        for (stream, lane) in self.lanes.iter().take(self.count) {
            let name = if self.gap < 7 && *lane == 1 { " ".to_owned() } else { format!("#{stream}") };
            padded(&name, self.gap, out);
        }
        out.truncate(out.trim_end().len());
        let _ = writeln!(out, "{bold:#}");
    }

    fn row(&self, step: &Step, before: Option<&Step>, open: &OpenCalls, palette: &Palette, out: &mut String) {
        let faint = palette.faint;
        let (seq, time) = (step.seq, seconds(step.time));
        let _ = write!(out, "{faint}{seq:>0$} {time:>1$}{faint:#}  ", self.seq_width, self.time_width);
        let has_latency = self.lines(step, open, palette, out);
        let mut spans = Spans::default();
        label(step, before, has_latency, palette, &mut spans);
        if spans.width() > 0 {
            out.push_str("  ");
            spans.write(self.label, out);
        }
        out.push('\n');
    }

    /// Draws the lifelines and the arrow. Returns whether the arrow names the latency.
    fn lines(&self, step: &Step, open: &OpenCalls, palette: &Palette, out: &mut String) -> bool {
        let mut cells: Vec<char> = vec![' '; self.gap * self.count + 1];
        for lane in 0..=self.count {
            cells[lane * self.gap] = if open.busy.contains_key(&lane) { '┃' } else { '│' };
        }
        let (arrow, has_latency) = self.arrow(step, &mut cells);
        let style = style(step, palette);
        let faint = palette.faint;
        let part = |cells: &[char]| cells.iter().collect::<String>();
        let (start, end) = (arrow.start, arrow.end);
        let _ = write!(
            out,
            "{faint}{}{faint:#}{style}{}{style:#}{faint}{}{faint:#}",
            part(&cells[..start]),
            part(&cells[start..end]),
            part(&cells[end..])
        );
        has_latency
    }

    /// The lifeline of one side of a stream.
    fn lane(&self, stream: u32, side: Direction) -> usize {
        match side {
            Direction::ClientToServer => 0,
            Direction::ServerToClient => self.lanes.get(&stream).copied().unwrap_or(self.count),
        }
    }

    /// Draws what happens between the lifelines, or at one of them. Returns its columns.
    fn arrow(&self, step: &Step, cells: &mut [char]) -> (std::ops::Range<usize>, bool) {
        let far = self.lane(step.stream, Direction::ServerToClient) * self.gap;
        let is_arrow = !matches!(step.kind, StepKind::Event | StepKind::Gap);
        let Some(direction) = step.direction.filter(|_| is_arrow) else {
            if step.kind == StepKind::Gap {
                cells[1..far].fill('╳');
                return (1..far, false);
            }
            cells[far] = '•';
            return (far..far + 1, false);
        };
        let is_answer = step.kind == StepKind::Response;
        cells[1..far].fill(if is_answer { '┄' } else { '─' });
        let text = step.latency.map(|latency| format!(" {} ", duration(latency))).unwrap_or_default();
        let text: Vec<char> = text.chars().collect();
        let has_latency = !text.is_empty() && text.len() + 4 < far;
        if has_latency {
            let start = 1 + (far - 1 - text.len()) / 2;
            cells[start..start + text.len()].copy_from_slice(&text);
        }
        let is_right = direction == Direction::ClientToServer;
        let head = match (step.kind, is_right) {
            (StepKind::Notification, true) => '>',
            (StepKind::Notification, false) => '<',
            (StepKind::Broken, _) => '✗',
            (_, true) => '▶',
            (_, false) => '◀',
        };
        cells[if is_right { far - 1 } else { 1 }] = head;
        (1..far, has_latency)
    }
}

/// The sides that work on a request of the other one.
#[derive(Default)]
struct OpenCalls {
    /// How many requests the sides at each lifeline work on.
    busy: BTreeMap<usize, u64>,
    /// The requests that are answered later.
    asked: BTreeSet<u64>,
}

impl OpenCalls {
    fn take(&mut self, step: &Step, layout: &Layout) {
        let Some(direction) = step.direction else { return };
        if step.kind == StepKind::Request && !step.marks.contains(&Mark::Unanswered) {
            self.asked.insert(step.seq);
            *self.busy.entry(layout.lane(step.stream, direction.reversed())).or_default() += 1;
        }
        let lane = layout.lane(step.stream, direction);
        if let Some(asked) = step.asked
            && self.asked.remove(&asked)
            && let Some(count) = self.busy.get_mut(&lane)
        {
            *count -= 1;
            if *count == 0 {
                self.busy.remove(&lane);
            }
        }
    }
}

fn style(step: &Step, palette: &Palette) -> Style {
    match step.direction {
        _ if step.failed => palette.error,
        _ if !step.marks.is_empty() => palette.warning,
        Some(Direction::ClientToServer) => palette.to_server,
        Some(Direction::ServerToClient) => palette.to_client,
        None => palette.faint,
    }
}

/// What a message says: its marks, how often it came, what was called or what came of it.
fn label(step: &Step, before: Option<&Step>, has_latency: bool, palette: &Palette, out: &mut Spans) {
    let Palette { faint, error, warning, .. } = palette;
    out.push(Style::new(), &"  ".repeat(step.depth));
    for mark in &step.marks {
        let name = match (mark, step.outcome) {
            (Mark::Unanswered, Some(outcome)) if outcome != Outcome::Unanswered => outcome.name(),
            _ => mark.name(),
        };
        out.push(*warning, &format!("[{name}] "));
    }
    for rule in &step.rules {
        out.push(*warning, &format!("[{rule}] "));
    }
    match step.kind {
        StepKind::Gap => out.push(*error, "traffic is missing here: "),
        StepKind::Response => answer(step, before, palette, out),
        StepKind::Event => out.push(*faint, &format!("{}{} ", times(step), step.title)),
        _ => call(step, palette, out),
    }
    if matches!(step.kind, StepKind::Gap | StepKind::Event) {
        out.push(if step.failed { *error } else { *faint }, &step.about);
    }
    if let Some(latency) = step.latency.filter(|_| !has_latency) {
        out.push(*faint, &format!(" ({})", duration(latency)));
    }
}

fn times(step: &Step) -> String {
    if step.count > 1 { format!("× {} ", step.count) } else { String::new() }
}

/// What is called stands out from the method that calls it.
fn call(step: &Step, palette: &Palette, out: &mut Spans) {
    let (named, rest) = step.about.split_at_checked(step.subject).unwrap_or(("", &step.about));
    let style = style(step, palette);
    out.push(palette.bold, &times(step));
    out.push(if named.is_empty() { style } else { palette.faint }, &step.title);
    out.push(Style::new(), if step.about.is_empty() { "" } else { " " });
    out.push(if palette.is_plain() { style } else { style.bold() }, named);
    out.push(Style::new(), rest);
}

/// An answer repeats its request unless that is the line above.
fn answer(step: &Step, before: Option<&Step>, palette: &Palette, out: &mut Spans) {
    let is_next = step.asked.is_some() && before.is_some_and(|before| Some(before.seq) == step.asked);
    if !is_next {
        let named = step.about.get(..step.subject).filter(|named| !named.is_empty());
        out.push(palette.faint, named.unwrap_or(&step.title));
        out.push(palette.faint, " → ");
    }
    let summary = if step.summary.is_empty() { "answered" } else { &step.summary };
    out.push(if step.failed { palette.error } else { Style::new() }, summary);
}

/// Formats nanoseconds as seconds with three decimals.
pub(super) fn seconds(time: i64) -> String {
    let sign = if time < 0 { "-" } else { "" };
    let millis = time.unsigned_abs() / 1_000_000;
    format!("{sign}{}.{:03}", millis / 1000, millis % 1000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::steps::tests::{conversation, hostile, pings};

    fn drawn(steps: &Steps, width: Option<usize>) -> String {
        let mut out = String::new();
        text(steps, &Palette::plain(), width, &mut out);
        out
    }

    #[test]
    fn a_session_in_four_widths() {
        let all = [60, 80, 120, 200].map(|width| drawn(&conversation(), Some(width)));
        insta::assert_snapshot!("sequence", all.join("\n"));
    }

    #[test]
    fn several_servers_with_hostile_texts_in_four_widths() {
        let all = [60, 80, 120, 200].map(|width| drawn(&hostile(), Some(width)));
        insta::assert_snapshot!("sequence_hostile", all.join("\n"));
    }

    #[test]
    fn many_sessions_share_the_last_line() {
        let sessions = u32::try_from(MOST_LANES).expect("few") + 2;
        let drawn = drawn(&pings(sessions), None);
        let widest = drawn.lines().map(UnicodeWidthStr::width).max();
        assert!(widest < Some(MOST_LANES * WIDEST + 80), "{widest:?}");
        assert_eq!(drawn.matches(" (on the last line)").count(), 3);
    }

    #[test]
    fn nothing_is_wider_than_the_terminal_and_nothing_controls_it() {
        for steps in [conversation(), hostile()] {
            for width in [50, 60, 80, 120, 200] {
                let text = drawn(&steps, Some(width));
                assert!(text.lines().all(|line| line.width() <= width), "{width}\n{text}");
                assert!(text.chars().all(|found| found == '\n' || super::super::line::visible(found) == found));
            }
        }
    }

    #[test]
    fn no_step_draws_nothing() {
        assert_eq!(drawn(&Steps::default(), Some(80)), "");
    }
}
