//! All output passes through here: data goes to stdout, everything else to stderr.

use super::ColorChoice;
use super::progress::Progress;
use crate::error::CommandError;
use crate::render::output_buffer::OutputBuffer;
use crate::render::style::Palette;
use crate::render::text::{self, visible_text};
use clap::ValueEnum;
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;

/// The output format of commands that print one result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Text.
    Human,
    /// One JSON object.
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
    /// Whether stdout is a terminal.
    pub is_terminal: bool,
}

/// Stdout without the line buffer of the standard library. The descriptor is duplicated only when something is
/// written: when a recorded server closes its output, ours must be closed, too, without another descriptor that keeps
/// it open.
#[derive(Default)]
pub(super) struct OwnOutput(Option<File>);

impl Write for OwnOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Some(file) => file.write(bytes),
            none => own_output().and_then(|file| none.insert(file).write(bytes)),
        }
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
        let _ = self.flush();
    }
}

/// [`Printer::note`], for code that cannot borrow the printer.
pub(super) fn note(text: &str) {
    let _ = writeln!(io::stderr(), "mcpreel: {}", visible_text(text));
}

impl Printer {
    pub(super) fn new(choice: ColorChoice) -> Self {
        let palette = |is_terminal: bool| {
            let wanted = match choice {
                ColorChoice::Always => true,
                ColorChoice::Never => false,
                ColorChoice::Auto => is_terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
            };
            if wanted { Palette::coloured() } else { Palette::plain() }
        };
        let is_terminal = io::stdout().is_terminal();
        let width = is_terminal.then(terminal_size::terminal_size).flatten();
        Self {
            out: RefCell::new(OutputBuffer::new(OwnOutput::default())),
            palette: palette(is_terminal),
            complaint_palette: palette(io::stderr().is_terminal()),
            width: width.map(|(width, _)| usize::from(width.0)),
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

    /// Prints a note to stderr, on one line. Control characters are escaped.
    pub(super) fn note(&self, text: &str) {
        note(text);
    }

    /// Prints a report of several lines to stderr, when stdout has another use. `text` receives the colours.
    pub(super) fn report(&self, text: impl FnOnce(&Palette) -> String) {
        let _ = self.flush();
        let text = text(&self.complaint_palette);
        let shown = text::printable(&text, !self.complaint_palette.is_plain());
        let _ = io::stderr().write_all(shown.as_bytes());
    }

    /// The colours of stderr.
    pub(super) fn complaint_palette(&self) -> Palette {
        self.complaint_palette
    }

    /// Prints an error with its hints to stderr. Control characters are escaped.
    pub(super) fn complain(&self, error: &CommandError) {
        let _ = self.flush();
        let Palette { error: red, faint, .. } = self.complaint_palette;
        let mut text = format!("mcpreel: {red}error{red:#}: {}\n", visible_text(&error.message));
        for hint in &error.hints {
            text.push_str(&format!("  {faint}hint:{faint:#} {}\n", visible_text(hint)));
        }
        let _ = io::stderr().write_all(text.as_bytes());
    }

    /// A progress bar. It is shown only on a terminal, and only if the work takes long.
    pub(super) fn progress(&self, what: &'static str, total: u64) -> Progress {
        Progress::bytes(what, total, io::stderr().is_terminal())
    }

    /// The same for pieces of work.
    pub(super) fn progress_of(&self, what: &'static str, total: u64) -> Progress {
        Progress::count(what, total, io::stderr().is_terminal())
    }
}
