//! All output goes through here: data to standard output, everything else to standard error.

use super::ColorChoice;
use crate::error::CommandError;
use crate::render::output_buffer::OutputBuffer;
use crate::render::progress::Progress;
use crate::render::style::Palette;
use crate::render::text::{self, visible_text};
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;

/// Standard output, its colours and its width.
pub struct Printer {
    out: RefCell<OutputBuffer<OwnOutput>>,
    /// Colours of standard output.
    pub palette: Palette,
    complaint_palette: Palette,
    /// Standard output's columns, where it is a terminal.
    pub width: Option<usize>,
    /// Whether standard output is a terminal.
    pub is_terminal: bool,
}

/// Standard output without the line buffer of the library's. It is another hold on it, so there is none before
/// something is to be written: a tap closes its output when its server does, and that must end it.
#[derive(Default)]
pub struct OwnOutput(Option<File>);

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

/// [`Printer::note`], for those that outlive the printer's borrow.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr(), "mcpreel: {}", visible_text(text));
}

impl Printer {
    pub fn new(choice: ColorChoice) -> Self {
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

    /// Writes bytes to standard output as they are: what a user asks for to the byte. Text goes through
    /// [`Printer::text`], values through [`Printer::json`].
    pub fn write(&self, bytes: &[u8]) -> Result<(), CommandError> {
        self.append(|out| out.append(bytes))
    }

    /// Standard output for a writer of its own: what waits here is written first.
    pub fn file(&self) -> io::Result<File> {
        self.flush()?;
        own_output()
    }

    /// Writes what `write` appends to standard output.
    pub fn append(&self, write: impl FnOnce(&mut OutputBuffer<OwnOutput>)) -> Result<(), CommandError> {
        let mut out = self.out.borrow_mut();
        write(&mut out);
        out.relieve();
        out.failure().map_err(CommandError::output)
    }

    /// Writes text for people to standard output. Nothing in it but our colours steers the terminal.
    pub fn text(&self, text: &str) -> Result<(), CommandError> {
        self.write(text::printable(text, !self.palette.is_plain()).as_bytes())
    }

    /// The same, and a line end.
    pub fn line(&self, text: &str) -> Result<(), CommandError> {
        self.text(text)?;
        self.write(b"\n")
    }

    /// Writes a value to standard output as a line of JSON. Characters that steer a terminal are escaped.
    pub fn json(&self, value: &impl serde::Serialize) -> Result<(), CommandError> {
        self.line(&text::json(value))
    }

    /// Passes on what is buffered.
    pub fn flush(&self) -> io::Result<()> {
        self.out.borrow_mut().flush()
    }

    /// Tells something on standard error, on one line. What a peer put into the text cannot steer the terminal.
    pub fn note(&self, text: &str) {
        note(text);
    }

    /// Tells a report of several lines on standard error, where standard output carries something else. `text` gets the
    /// colours.
    pub fn report(&self, text: impl FnOnce(&Palette) -> String) {
        let _ = self.flush();
        let text = text(&self.complaint_palette);
        let shown = text::printable(&text, !self.complaint_palette.is_plain());
        let _ = io::stderr().write_all(shown.as_bytes());
    }

    /// Tells what failed on standard error, with what to do next. No text of a peer's steers the terminal.
    pub fn complain(&self, error: &CommandError) {
        let _ = self.flush();
        let Palette { error: red, faint, .. } = self.complaint_palette;
        let mut text = format!("mcpreel: {red}error{red:#}: {}\n", visible_text(&error.message));
        for hint in &error.hints {
            text.push_str(&format!("  {faint}hint:{faint:#} {}\n", visible_text(hint)));
        }
        let _ = io::stderr().write_all(text.as_bytes());
    }

    /// A progress bar, shown on a terminal only and only when the work takes long.
    pub fn progress(&self, what: &'static str, total: u64) -> Progress {
        Progress::bytes(what, total, io::stderr().is_terminal())
    }
}
