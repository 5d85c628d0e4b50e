//! Lines of input: from an editor with history and completion on a thread of its own if there is a terminal, else
//! from a pipe.
//!
//! While the user types, all output goes through the editor, which prints it above the line that is being typed.

use super::lines::COMMANDS;
use crate::error::{CommandError, ErrorKind};
use crate::files::reels;
use crate::process::threads;
use parking_lot::Mutex;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::Validator;
use rustyline::{Editor, ExternalPrinter, Helper};
use std::io::{BufRead, IsTerminal, Read};
use std::sync::{Arc, mpsc as std_mpsc};
use std::thread::JoinHandle;
use tokio::sync::mpsc;

/// The maximum length of a line from a pipe, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// The number of lines that are read before the conversation gets to them.
const READ_AHEAD: usize = 16;

/// Words for completion: the names of servers and tools.
pub(crate) type Words = Arc<Mutex<Vec<String>>>;

/// What was read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    /// A line.
    Line(String),
    /// A line from a pipe that was too long. It is skipped as a whole.
    TooLong,
    /// Ctrl-C.
    Interrupt,
}

/// The source of lines.
pub(crate) struct Lines {
    lines: mpsc::Receiver<Typed>,
    terminal: Option<Terminal>,
    /// The words for completion.
    pub words: Words,
}

/// A terminal with a line editor.
struct Terminal {
    /// Asks for the next line; only then does the editor show its prompt.
    ask: Option<std_mpsc::Sender<()>>,
    /// Output for a separate thread, because printing may have to wait for the editor.
    printer: Option<std_mpsc::Sender<String>>,
    prints: Option<JoinHandle<()>>,
    /// The original settings of the terminal, because the editor may be stopped in the middle of a line.
    before: Option<Termios>,
}

fn no_thread(error: std::io::Error) -> CommandError {
    CommandError::new(ErrorKind::Internal, error.to_string())
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // The editor goes first: the printer may be waiting for it to show a text, and it shows none between two lines.
        self.ask = None;
        self.printer = None;
        let _ = self.prints.take().map(JoinHandle::join);
        if let Some(before) = &self.before {
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Drain, before);
        }
    }
}

impl Lines {
    /// Reads stdin, with an editor if it is a terminal.
    ///
    /// # Errors
    ///
    /// The editor cannot be started.
    pub(crate) fn open() -> Result<Self, CommandError> {
        let words = Words::default();
        let (sender, lines) = mpsc::channel(READ_AHEAD);
        if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
            let read = move || read_pipe(std::io::stdin().lock(), |typed| sender.blocking_send(typed).is_ok());
            threads::start("stdin", read).map_err(no_thread)?;
            return Ok(Self { lines, terminal: None, words });
        }
        let failed = |error: ReadlineError| CommandError::new(ErrorKind::Internal, format!("no line editor: {error}"));
        let before = tcgetattr(std::io::stdin()).ok();
        let mut editor: Editor<Completion, FileHistory> = Editor::new().map_err(failed)?;
        editor.set_helper(Some(Completion { words: Arc::clone(&words) }));
        let history = reels::folder().ok().map(|folder| folder.join("host-history"));
        if let Some(history) = &history {
            // The file does not exist at first.
            let _ = editor.load_history(history);
        }
        let mut beside = editor.create_external_printer().map_err(failed)?;
        let (printer, texts) = std_mpsc::channel::<String>();
        let print = move || texts.iter().for_each(|text| drop(beside.print(text)));
        let prints = threads::start("printer", print).map_err(no_thread)?;
        let (ask, asked) = std_mpsc::channel();
        let edit = move || {
            while asked.recv().is_ok() {
                let typed = match editor.readline("you> ") {
                    Ok(line) => {
                        let _ = editor.add_history_entry(&line);
                        Typed::Line(line)
                    }
                    Err(ReadlineError::Interrupted) => Typed::Interrupt,
                    Err(_) => break,
                };
                if sender.blocking_send(typed).is_err() {
                    break;
                }
            }
            if let Some(history) = &history {
                let _ = editor.save_history(history);
            }
        };
        threads::start("editor", edit).map_err(no_thread)?;
        Ok(Self {
            lines,
            terminal: Some(Terminal { ask: Some(ask), printer: Some(printer), prints: Some(prints), before }),
            words,
        })
    }

    /// Whether the lines are typed at a terminal.
    pub(crate) fn is_interactive(&self) -> bool {
        self.terminal.is_some()
    }

    /// Lets the user type the next line.
    pub(crate) fn ask(&self) {
        if let Some(ask) = self.terminal.as_ref().and_then(|terminal| terminal.ask.as_ref()) {
            let _ = ask.send(());
        }
    }

    /// The next line; `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<Typed> {
        self.lines.recv().await
    }

    /// Prints above the line that is being typed. Returns false if there is no terminal.
    pub(crate) fn print(&self, text: &str) -> bool {
        let printer = self.terminal.as_ref().and_then(|terminal| terminal.printer.as_ref());
        printer.is_some_and(|printer| printer.send(text.to_owned()).is_ok())
    }
}

/// Reads lines until the end of the input, or until `take` returns false.
fn read_pipe(mut input: impl BufRead, mut take: impl FnMut(Typed) -> bool) {
    let mut part = |line: &mut Vec<u8>| input.by_ref().take(MAX_BYTES).read_until(b'\n', line);
    let mut line = Vec::new();
    while let Ok(1..) = part(&mut line) {
        let mut is_too_long = false;
        while !line.ends_with(b"\n") && line.len() as u64 >= MAX_BYTES {
            is_too_long = true;
            line.clear();
            if !matches!(part(&mut line), Ok(1..)) {
                break;
            }
        }
        let typed = if is_too_long { Typed::TooLong } else { Typed::Line(String::from_utf8_lossy(&line).into_owned()) };
        if !take(typed) {
            return;
        }
        line.clear();
    }
}

/// Completes commands, and the names of servers and tools after them.
struct Completion {
    words: Words,
}

impl Completer for Completion {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &rustyline::Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let line = &line[..at];
        let start = line.rfind(char::is_whitespace).map_or(0, |space| space + 1);
        let word = &line[start..];
        let mut found: Vec<String> = match line.strip_prefix('/') {
            None => Vec::new(),
            Some(_) if start == 0 => COMMANDS.iter().map(|command| format!("/{}", command.0)).collect(),
            Some(_) => self.words.lock().clone(),
        };
        found.retain(|candidate| candidate.starts_with(word));
        Ok((start, found))
    }
}

impl Hinter for Completion {
    type Hint = String;
}

impl Highlighter for Completion {}

impl Validator for Completion {}

impl Helper for Completion {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_too_long_is_left_out_whole() {
        let long = usize::try_from(MAX_BYTES).expect("a small number");
        let text =
            [&b"one\n"[..], &vec![b'x'; 2 * long + 7], b"\ntwo\n", &vec![b'y'; long - 1], b"\n", b"last"].concat();
        let mut all = Vec::new();
        read_pipe(&text[..], |typed| {
            all.push(typed);
            true
        });
        let line = |text: &str| Typed::Line(text.to_owned());
        let fits = format!("{}\n", "y".repeat(long - 1));
        assert!(all == [line("one\n"), Typed::TooLong, line("two\n"), line(&fits), line("last")], "{}", all.len());
    }
}
