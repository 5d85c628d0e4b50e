//! All output passes through here: data goes to stdout, everything else to stderr.

use super::ColorChoice;
use super::pager::{PagedOutput, Paging, Screen};
use super::progress::Progress;
use crate::error::{CommandError, OF_STDERR};
use crate::render::findings::wrapped;
use crate::render::output_buffer::OutputBuffer;
use crate::render::results;
use crate::render::style::Palette;
use crate::render::text::{self, visible_text};
use anstyle::Style;
use clap::ValueEnum;
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::path::Path;
use unicode_width::UnicodeWidthStr;

/// The output format of commands that print one result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Text.
    Human,
    /// JSON: one object, or one per line.
    Json,
}

/// Stdout with its colours and width.
pub(super) struct Printer {
    out: RefCell<OutputBuffer<OwnOutput>>,
    /// The colours of stdout.
    pub palette: Palette,
    complaint_palette: Palette,
    /// The number of columns, if stdout is a terminal.
    pub width: Option<usize>,
    screen: Option<Screen>,
    /// Whether stdout is a terminal.
    pub is_terminal: bool,
}

/// Stdout without the line buffer of the standard library. The descriptor is duplicated only when something is
/// written: when a recorded server closes its output, ours must be closed, too, without another descriptor that keeps
/// it open.
#[derive(Default)]
pub(super) enum OwnOutput {
    /// Nothing was written.
    #[default]
    Unused,
    /// Stdout itself.
    Direct(File),
    /// To a pager, if it becomes long.
    Paged(Box<PagedOutput>),
}

impl OwnOutput {
    fn direct(&mut self) -> io::Result<&mut File> {
        if !matches!(self, Self::Direct(_)) {
            *self = Self::Direct(own_output()?);
        }
        match self {
            Self::Direct(file) => Ok(file),
            _ => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Prints what was held back for a pager, or waits until the user has left it.
    fn close(&mut self) -> io::Result<()> {
        match std::mem::take(self) {
            Self::Paged(paged) => {
                let held = paged.finish();
                if held.is_empty() { Ok(()) } else { self.direct()?.write_all(&held) }
            }
            other => {
                *self = other;
                Ok(())
            }
        }
    }
}

impl Write for OwnOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Self::Paged(paged) = self else { return self.direct()?.write(bytes) };
        if let Some(held) = paged.take(bytes)? {
            self.direct()?.write_all(&held)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn own_output() -> io::Result<File> {
    io::stdout().as_fd().try_clone_to_owned().map(File::from)
}

impl Drop for Printer {
    fn drop(&mut self) {
        let _ = self.close();
    }
}

/// Whether the environment allows colours on a terminal.
pub(super) fn allows_colours() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) && !is_dumb()
}

/// Whether the terminal understands no escape sequences.
fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Whether stderr can show a progress bar.
fn shows_progress() -> bool {
    io::stderr().is_terminal() && !is_dumb()
}

/// [`Printer::note`], for code that cannot borrow the printer.
pub(super) fn note(text: &str) {
    write_lines(&(on_stderr(&format!("mcpreel: {}", visible_text(text))) + "\n"));
}

/// Writes whole lines of safe text to stderr. None of them is a command to a build server.
pub(super) fn write_lines(lines: &str) {
    let _ = io::stderr().write_all(text::guarded(lines).as_bytes());
}

/// A line for stderr, with line breaks between words if stderr is a narrower terminal. A command that the user may copy is
/// left as it is.
fn on_stderr(line: &str) -> String {
    let size = io::stderr().is_terminal().then(|| terminal_size::terminal_size_of(io::stderr())).flatten();
    let is_command = line.contains(": mcpreel ") || line.starts_with("  hint: mcpreel ");
    match size {
        Some((columns, _)) if !is_command => words_within(line, columns.0.into()),
        _ => line.to_owned(),
    }
}

/// Breaks a line between words. Further lines are indented like a hint.
fn words_within(line: &str, width: usize) -> String {
    if line.width() <= width {
        return line.to_owned();
    }
    let (mut out, text) = (String::new(), line.trim_start_matches(' '));
    let indent = &line[..line.len() - text.len()];
    // Writing to a string does not fail.
    let _ = wrapped(text, indent, width, Style::new(), &mut out);
    out.trim_end_matches('\n').to_owned()
}

impl Printer {
    pub(super) fn new(choice: ColorChoice) -> Self {
        let palette = |is_terminal: bool| {
            let wanted = match choice {
                ColorChoice::Always => true,
                ColorChoice::Never => false,
                ColorChoice::Auto => is_terminal && allows_colours(),
            };
            if wanted { Palette::coloured() } else { Palette::plain() }
        };
        let is_terminal = io::stdout().is_terminal();
        let size = is_terminal.then(terminal_size::terminal_size).flatten();
        let screen = size.map(|(columns, rows)| Screen { columns: columns.0.into(), rows: rows.0.into() });
        Self {
            out: RefCell::new(OutputBuffer::new(OwnOutput::default())),
            palette: palette(is_terminal),
            complaint_palette: palette(io::stderr().is_terminal()),
            width: screen.map(|screen| screen.columns),
            screen,
            is_terminal,
        }
    }

    /// Writes exact bytes to stdout, as requested by the user. For text use [`Printer::text`], for values
    /// [`Printer::json`].
    ///
    /// # Errors
    ///
    /// The output cannot be written.
    pub(super) fn write(&self, bytes: &[u8]) -> Result<(), CommandError> {
        self.append(|out| out.append(bytes))
    }

    /// Shows webhook secrets from now on: the user asked for the exact bytes.
    pub(super) fn be_exact(&self) {
        self.out.borrow_mut().be_exact();
    }

    /// Writes lines as they are from now on, also those that are commands to a build server: the user asked for such
    /// commands, or for exact texts.
    pub(super) fn allow_commands(&self) {
        self.out.borrow_mut().allow_commands();
    }

    /// Writes results in a form for programs.
    ///
    /// # Errors
    ///
    /// The output cannot be written.
    pub(super) fn results(&self, form: results::Form, text: &str) -> Result<(), CommandError> {
        if form == results::Form::Github {
            self.allow_commands();
        }
        self.text(text)
    }

    /// Stdout for another writer. Flushes the buffer first.
    ///
    /// # Errors
    ///
    /// The output cannot be written.
    pub(super) fn file(&self) -> io::Result<File> {
        self.flush()?;
        own_output()
    }

    /// Writes what `write` appends to stdout.
    ///
    /// # Errors
    ///
    /// The output cannot be written.
    pub(super) fn append(&self, write: impl FnOnce(&mut OutputBuffer<OwnOutput>)) -> Result<(), CommandError> {
        let mut out = self.out.borrow_mut();
        write(&mut out);
        if matches!(out.writer(), OwnOutput::Paged(_)) {
            // Notes in between keep their places.
            out.flush().map_err(CommandError::output)?;
        }
        out.relieve();
        out.failure().map_err(CommandError::output)
    }

    /// Writes text to stdout. Control characters other than our colours are escaped.
    ///
    /// # Errors
    ///
    /// The output cannot be written.
    pub(super) fn text(&self, text: &str) -> Result<(), CommandError> {
        self.write(text::printable(text, !self.palette.is_plain()).as_bytes())
    }

    /// Writes text and a line break to stdout.
    ///
    /// # Errors
    ///
    /// The output cannot be written.
    pub(super) fn line(&self, text: &str) -> Result<(), CommandError> {
        self.text(text)?;
        self.write(b"\n")
    }

    /// Writes a value to stdout as one line of JSON. Control characters are escaped.
    ///
    /// # Errors
    ///
    /// The output cannot be written.
    pub(super) fn json(&self, value: &impl serde::Serialize) -> Result<(), CommandError> {
        self.line(&text::json(value))
    }

    /// Writes what is buffered.
    ///
    /// # Errors
    ///
    /// The output cannot be written.
    pub(super) fn flush(&self) -> io::Result<()> {
        self.out.borrow_mut().flush()
    }

    /// Shows the output from now on in a pager, if stdout is a terminal that can show one.
    pub(super) fn page(&self, paging: Option<Paging>) {
        let paged = paging
            .zip(self.screen.filter(|_| !is_dumb()))
            .and_then(|(paging, screen)| PagedOutput::new(paging, screen));
        if let Some(paged) = paged {
            *self.out.borrow_mut().writer() = OwnOutput::Paged(Box::new(paged));
        }
    }

    /// Whether the output may be shown in a pager, so that [`Printer::file`] is not all of it.
    pub(super) fn is_paged(&self) -> bool {
        matches!(self.out.borrow_mut().writer(), OwnOutput::Paged(_))
    }

    /// Writes what is buffered, and waits until the user has left the pager, if there is one.
    ///
    /// # Errors
    ///
    /// The output cannot be written.
    pub(super) fn close(&self) -> io::Result<()> {
        let mut out = self.out.borrow_mut();
        let written = out.flush();
        out.writer().close().and(written)
    }

    /// Prints a note to stderr, on one line. Control characters are escaped.
    pub(super) fn note(&self, text: &str) {
        note(text);
    }

    /// Prints a report of several lines to stderr, when stdout has another use. `text` receives the colours.
    pub(super) fn report(&self, text: impl FnOnce(&Palette) -> String) {
        let _ = self.flush();
        let text = text(&self.complaint_palette);
        write_lines(&text::printable(&text, !self.complaint_palette.is_plain()));
    }

    /// The colours of stderr.
    pub(super) fn complaint_palette(&self) -> Palette {
        self.complaint_palette
    }

    /// Prints an error with its hints to stderr. Control characters are escaped.
    pub(super) fn complain(&self, error: &CommandError) {
        let _ = self.close();
        let Palette { error: red, faint, .. } = self.complaint_palette;
        let line = |plain: String, label: &str, styled: String| on_stderr(&plain).replacen(label, &styled, 1) + "\n";
        let message = format!("mcpreel: error: {}", visible_text(&error.message));
        let mut text = line(message, "error:", format!("{red}error{red:#}:"));
        // Several lines of the server stand below one heading.
        let has_lines = error.hints.iter().filter(|hint| hint.starts_with(OF_STDERR)).count() > 1;
        let mut is_first = true;
        for hint in &error.hints {
            let below = hint.strip_prefix(OF_STDERR).filter(|_| has_lines);
            if below.is_none() || std::mem::take(&mut is_first) {
                let shown = if below.is_some() { OF_STDERR.trim_end() } else { hint };
                let hint = format!("  hint: {}", visible_text(shown));
                text.push_str(&line(hint, "hint:", format!("{faint}hint:{faint:#}")));
            }
            if let Some(below) = below {
                text.push_str(&line(format!("    {}", visible_text(below)), "", String::new()));
            }
        }
        write_lines(&text);
    }

    /// Asks on the terminal. `done` and `does` say what a yes means: "removed", "removes".
    ///
    /// # Errors
    ///
    /// There is no terminal to ask on.
    pub(super) fn confirmed(&self, question: &str, done: &str, does: &str) -> Result<bool, CommandError> {
        self.flush().map_err(CommandError::output)?;
        if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
            let error = CommandError::usage(format!("nothing was {done}, because there is no terminal to ask on"));
            return Err(error.hint(format!("--yes {does} without asking, --dry-run only shows the change")));
        }
        let _ = write!(io::stderr(), "mcpreel: {question} [y/N] ");
        let mut answer = String::new();
        io::stdin().read_line(&mut answer).map_err(|error| CommandError::reading(Path::new("the terminal"), &error))?;
        Ok(["y", "yes"].contains(&answer.trim().to_ascii_lowercase().as_str()))
    }

    /// A progress bar. It is shown only on a terminal, and only if the work takes long.
    pub(super) fn progress(&self, what: &'static str, total: u64) -> Progress {
        Progress::bytes(what, total, shows_progress())
    }

    /// The same for reading a file; nothing is shown for a pipe, whose length is unknown.
    pub(super) fn progress_through(&self, what: &'static str, path: &Path) -> Progress {
        let total = std::fs::metadata(path).map_or(0, |about| about.len());
        Progress::bytes(what, total, total > 0 && shows_progress())
    }

    /// The same while output is written: nothing is shown if that appears on a terminal, too.
    pub(super) fn progress_beside_output(&self, what: &'static str, path: &Path) -> Progress {
        if self.is_terminal { Progress::none() } else { self.progress_through(what, path) }
    }

    /// The same for pieces of work.
    pub(super) fn progress_of(&self, what: &'static str, total: u64) -> Progress {
        Progress::count(what, total, shows_progress())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_and_further_ones_are_indented() {
        assert_eq!(words_within("mcpreel: one two three", 22), "mcpreel: one two three");
        assert_eq!(words_within("mcpreel: one two three", 16), "mcpreel: one two\n  three");
        assert_eq!(words_within("  hint: one two three", 16), "  hint: one two\n    three");
    }
}
