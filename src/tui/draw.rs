//! Draws the state of the interface.

use super::ansi;
use super::app::{App, Focus, View};
use super::effect::{DetailForm, PageKind, Progress};
use super::prompt::Prompt;
use super::text::Text;
use crate::render::style::Palette;
use crate::render::table::cut;
use crate::wire::text::{counted, visible_text};
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Draws everything.
pub(crate) fn draw(app: &App, palette: &Palette, frame: &mut Frame<'_>) {
    let area = frame.area();
    let mut screen = Screen { app, palette, area, buffer: frame.buffer_mut() };
    screen.row(0, &screen.title(), false);
    match app.view {
        View::Picker => screen.picker(),
        View::Messages => screen.messages(),
        View::Page(kind) => screen.page(kind),
    }
    screen.highlight();
    let last = area.height.saturating_sub(1);
    let Some(prompt) = &app.prompt else { return screen.footer(last) };
    if app.status.is_some() {
        screen.footer(last.saturating_sub(1));
    }
    let column = screen.prompt(prompt, last);
    frame.set_cursor_position(Position::new(column, last));
}

/// A message for the user takes at most this many rows.
const MAX_MESSAGE_ROWS: usize = 4;

/// What to do if there is nothing to open.
const WHERE_TO_BEGIN: [&str; 6] = [
    "Put `mcpreel record --` in front of a server's command, in a shell or in your client's configuration:",
    "  mcpreel record -- my-server",
    "Or record a session with the built-in server:",
    "  mcpreel demo",
    "",
    "Then press o to look again.",
];

/// What is drawn on, and with what.
struct Screen<'a, 'b> {
    app: &'a App,
    palette: &'a Palette,
    area: Rect,
    buffer: &'b mut Buffer,
}

impl Screen<'_, '_> {
    /// Draws a line with colours on a row, over its whole width.
    fn row(&mut self, row: u16, line: &str, is_selected: bool) {
        self.line_at(0, row, line, self.area.width);
        if is_selected {
            self.select(row, 0, self.area.width);
        }
    }

    fn line_at(&mut self, column: u16, row: u16, line: &str, width: u16) {
        if row < self.area.height && column < self.area.width {
            let line: Line<'_> = ansi::styled(line);
            self.buffer.set_line(column, row, &line, width.min(self.area.width - column));
        }
    }

    fn clear(&mut self, row: u16) {
        self.line_at(0, row, &" ".repeat(self.area.width.into()), self.area.width);
    }

    fn select(&mut self, row: u16, column: u16, width: u16) {
        let area = Rect::new(column, row, width, 1).intersection(self.area);
        self.buffer.set_style(area, Style::new().add_modifier(Modifier::REVERSED));
    }

    /// The first line: what is open, how much of it is listed, the filter.
    fn title(&self) -> String {
        let Palette { bold, faint, warning, error, .. } = self.palette;
        let app = self.app;
        let Some(source) = &app.source else {
            return format!("{bold}mcpreel{bold:#} {faint}sessions and reels{faint:#}");
        };
        let (shown, read) = (app.list.len() as u64, app.list.read);
        let amount = match app.filter.is_empty() {
            true => counted(shown, "event"),
            false => format!("{shown} of {}", counted(read, "event")),
        };
        let state = match (app.list.progress, source.is_live) {
            (Progress::Reading, _) => ", reading…",
            (Progress::Waiting, _) if app.list.follows => ", live, following",
            (Progress::Waiting, _) => ", live",
            (Progress::Ended, true) => ", ended",
            (Progress::Ended, false) => "",
        };
        let damaged = if app.list.damage.is_some() { format!(" {error}damaged{error:#}") } else { String::new() };
        let view = match app.view {
            View::Messages => String::new(),
            View::Picker => "open another · ".to_owned(),
            View::Page(kind) => format!("{} · ", kind.name()),
        };
        let filter = match app.filter.is_empty() {
            true => String::new(),
            false => format!(" {warning}filter: {}{warning:#}", visible_text(&app.filter)),
        };
        let view = if view.is_empty() { view } else { format!("{bold}{view}{bold:#}") };
        format!("{view}{bold}{}{bold:#} {faint}{amount}{state}{faint:#}{damaged}{filter}", visible_text(&source.title))
    }

    fn picker(&mut self) {
        let app = self.app;
        let picker = &app.picker;
        if !picker.is_ready() {
            return self.notice(1, "looking for sessions and reels…");
        }
        let Palette { bold, .. } = self.palette;
        let mut next = 1;
        for (row, (line, can_open, is_selected)) in (1..).zip(picker.visible()) {
            let line = if can_open { format!(" {line}") } else { format!(" {bold}{line}{bold:#}") };
            self.row(row, &line, is_selected);
            next = row + 1;
        }
        if picker.is_empty() {
            let advice = WHERE_TO_BEGIN.iter().flat_map(|line| ansi::wrapped(line, app.columns()));
            for (row, line) in (next + 1..self.area.height.saturating_sub(1)).zip(advice) {
                self.line_at(1, row, &line, self.area.width);
            }
        }
    }

    fn messages(&mut self) {
        let layout = self.app.layout();
        let mut row = 1;
        if layout.headings {
            let headings = self.app.list.headings.clone().unwrap_or_default();
            self.line_at(1, row, &headings, self.area.width);
            row += 1;
        }
        if layout.list > 0 {
            self.list(row, layout.list);
            row += row_number(layout.list);
        }
        // Of a message on a tiny screen, there is only its title.
        if let Some(detail) = self.app.detail.as_ref().filter(|_| layout.detail > 0 || layout.list == 0) {
            let Palette { bold, faint, .. } = self.palette;
            let form = match detail.form {
                DetailForm::Json => "",
                DetailForm::WholeJson => ", with whole strings",
                DetailForm::Text => ", as text",
                DetailForm::Hex => ", in hexadecimal",
            };
            let other = self.app.list.counterpart(detail.seq);
            let other = other.map(|other| match other < detail.seq {
                true => format!(", response to {other}"),
                false => format!(", answered by {other}"),
            });
            let text = format!("event {}{}{form} ", detail.seq, other.unwrap_or_default());
            let rest = "─".repeat(usize::from(self.area.width).saturating_sub(text.width() + 3));
            self.row(row, &format!("{faint}──{faint:#} {bold}{text}{bold:#}{faint}{rest}{faint:#}"), false);
            self.text(&detail.text, row + 1, self.app.focus == Focus::Detail);
        }
    }

    fn list(&mut self, first: u16, height: usize) {
        let app = self.app;
        if app.list.len() == 0 {
            return match (app.list.progress, app.filter.is_empty()) {
                (Progress::Reading, _) => self.notice(first, "reading…"),
                (Progress::Waiting, _) => self.notice(first, "waiting for messages…"),
                (Progress::Ended, true) => self.notice(first, "the reel is empty: nothing was recorded"),
                (Progress::Ended, false) => self.notice(first, "no event matches the filter; f changes it"),
            };
        }
        let (width, has_focus) = (self.area.width.saturating_sub(3), app.focus == Focus::List);
        for (row, (event, line, is_selected)) in (first..).zip(app.list.visible()) {
            let pending;
            let line = match line {
                Some(line) => line,
                None => {
                    pending = format!("{:>5} …", event.seq);
                    &pending
                }
            };
            self.line_at(1, row, line, width);
            if is_selected {
                self.line_at(0, row, ">", 1);
                if has_focus {
                    self.select(row, 0, width + 1);
                }
            }
        }
        let Palette { error, faint, .. } = self.palette;
        for (row, (fails, is_on_screen)) in (first..).zip(app.list.map(height)) {
            let mark = match (fails, is_on_screen) {
                (true, _) => format!("{error}▐{error:#}"),
                (false, true) => format!("{faint}│{faint:#}"),
                (false, false) => continue,
            };
            self.line_at(self.area.width.saturating_sub(1), row, &mark, 1);
        }
    }

    fn text(&mut self, text: &Text, first: u16, has_focus: bool) {
        let width = self.area.width.saturating_sub(3);
        for (row, shown) in (first..).zip(text.visible()) {
            self.line_at(1, row, &shown.text, width);
        }
        if has_focus && !text.visible().is_empty() {
            let row = first.saturating_add(row_number(text.cursor_on_screen()));
            self.line_at(0, row, ">", 1);
            self.select(row, 0, width + 1);
        }
    }

    fn page(&mut self, kind: PageKind) {
        let app = self.app;
        let (text, height, first) = (&app.page.text, app.page_rows(), row_number(app.headings().len() + 1));
        for (row, line) in (1..).zip(app.headings()) {
            self.line_at(1, row, line, self.area.width);
        }
        self.text(text, first, true);
        let (top, count) = text.extent();
        if count == 0 {
            let what = match (app.page.is_ready, kind) {
                (true, _) => "nothing to show",
                (false, PageKind::Sent) => "sending…",
                (false, _) => "reading the reel…",
            };
            return self.notice(first, what);
        }
        if count > height {
            let (start, end) = (top * height / count, ((top + height) * height).div_ceil(count));
            let Palette { faint, .. } = self.palette;
            for row in start..end.min(height) {
                let row = first.saturating_add(row_number(row));
                self.line_at(self.area.width.saturating_sub(1), row, &format!("{faint}│{faint:#}"), 1);
            }
        }
    }

    fn notice(&mut self, row: u16, text: &str) {
        let faint = self.palette.faint;
        self.line_at(1, row, &format!("{faint}{text}{faint:#}"), self.area.width);
    }

    /// Underlines what was searched for.
    fn highlight(&mut self) {
        let needle = &self.app.needle;
        if needle.is_empty() {
            return;
        }
        for row in 1..self.area.height.saturating_sub(1) {
            let (mut text, mut columns) = (String::new(), Vec::new());
            for column in 0..self.area.width {
                let symbol = self.buffer[(column, row)].symbol().to_lowercase();
                columns.extend(std::iter::repeat_n(column, symbol.len()));
                text.push_str(&symbol);
            }
            for (at, found) in text.match_indices(needle.as_str()) {
                let (start, end) = (columns[at], columns[at + found.len() - 1]);
                let style = Style::new().add_modifier(Modifier::UNDERLINED | Modifier::BOLD);
                self.buffer.set_style(Rect::new(start, row, end - start + 1, 1), style);
            }
        }
    }

    /// Draws the input. Returns the column of the cursor.
    fn prompt(&mut self, prompt: &Prompt, row: u16) -> u16 {
        let (width, bold) = (usize::from(self.area.width), self.palette.bold);
        let label = visible_text(&prompt.question.label(self.app.sends_to()));
        // What was typed last is seen, even if there is little space.
        let space = width.saturating_sub(label.width() + 1).max(1);
        let (before, after) = prompt.text.split_at(prompt.cursor);
        let before = tail(before, space);
        let rest = cut(&visible_text(&prompt.question.rest()), space.saturating_sub(prompt.text.width()));
        self.row(row, &format!("{bold}{label}{bold:#}{before}{after}{rest}"), false);
        let column = label.width() + before.width();
        u16::try_from(column.min(width.saturating_sub(1))).unwrap_or(0)
    }

    /// Draws a message for the user, or the most important keys. Its last line is on this row; a long message covers rows above it.
    fn footer(&mut self, last: u16) {
        let is_message = self.app.status.as_ref().is_some_and(|status| !status.text.is_empty());
        let most = if is_message { MAX_MESSAGE_ROWS.min(self.app.body() / 2).max(1) } else { 1 };
        let lines = ansi::wrapped(&self.message(), self.area.width.into());
        let lines = &lines[..lines.len().min(most)];
        let first = (last + 1).saturating_sub(row_number(lines.len()));
        for (row, line) in (first..).zip(lines) {
            self.clear(row);
            self.row(row, line, false);
        }
    }

    fn message(&self) -> String {
        let Palette { faint, error, .. } = self.palette;
        if let Some(status) = self.app.status.as_ref().filter(|status| !status.text.is_empty()) {
            let text = visible_text(&status.text);
            return if status.failed { format!("{error}{text}{error:#}") } else { text };
        }
        if self.app.is_busy() {
            return format!("{faint}working…  Esc stop{faint:#}");
        }
        let keys = match (self.app.view, self.app.focus) {
            (View::Picker, _) if self.app.picker.is_empty() => "o look again  ? keys  q quit",
            (View::Picker, _) => "↑↓ choose  Enter open  ? keys  q quit",
            (View::Page(PageKind::Help | PageKind::Sent), _) => "↑↓ scroll  / search  q back",
            (View::Page(_), _) => "↑↓ scroll  Enter go to message  / search  q back  ? keys",
            (_, Focus::Detail) => {
                "Space fold  b bytes  p pair  y copy  r send again  z zoom  Tab list  Esc close  ? keys"
            }
            (_, Focus::List) => {
                "Enter open  f filter  / search  p pair  e failure  2 sequence  4 statistics  5 findings  ? keys  q quit"
            }
        };
        format!("{faint}{}{faint:#}", fitting(keys, usize::from(self.area.width)))
    }
}

/// A number of rows as the screen counts them.
fn row_number(row: usize) -> u16 {
    u16::try_from(row).unwrap_or(u16::MAX)
}

/// The last characters of a text that fit in some columns.
fn tail(text: &str, columns: usize) -> &str {
    let (mut left, mut start) = (columns, text.len());
    for (at, letter) in text.char_indices().rev() {
        let width = letter.width().unwrap_or(0);
        if width > left {
            break;
        }
        (left, start) = (left - width, at);
    }
    &text[start..]
}

/// The keys that fit; the last two are always there.
fn fitting(keys: &str, width: usize) -> String {
    let mut keys: Vec<&str> = keys.split("  ").collect();
    while keys.len() > 2 && keys.join("  ").width() > width {
        keys.remove(keys.len() - 3);
    }
    keys.join("  ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_do_not_fit_are_left_out_before_the_last_two() {
        assert_eq!(fitting("a one  b two  c three  ? keys  q quit", 40), "a one  b two  c three  ? keys  q quit");
        assert_eq!(fitting("a one  b two  c three  ? keys  q quit", 25), "a one  ? keys  q quit");
        assert_eq!(fitting("a one  ? keys  q quit", 3), "? keys  q quit");
    }

    #[test]
    fn the_end_of_a_long_input_is_shown() {
        assert_eq!([tail("abc", 5), tail("abcdef", 3), tail("日本語", 5), tail("abc", 0)], ["abc", "def", "本語", ""]);
    }
}
