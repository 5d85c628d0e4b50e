//! Lines typed at a terminal: an editor with history and completion, on a thread of its own; lines of a pipe otherwise.

use super::super::error::{CommandError, ErrorKind};
use super::super::reels;
use super::lines::COMMANDS;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::Validator;
use rustyline::{Editor, ExternalPrinter, Helper};
use std::io::{BufRead, IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError, mpsc as std_mpsc};
use tokio::sync::mpsc;

/// The longest line that is taken from a pipe.
const MOST_BYTES: u64 = 1 << 20;

/// Words that stand behind commands: servers, tools.
pub type Words = Arc<Mutex<Vec<String>>>;

/// Where lines come from.
pub struct Lines {
    lines: mpsc::UnboundedReceiver<String>,
    /// Asks for the next line; the editor shows its prompt only then.
    ask: Option<std_mpsc::Sender<()>>,
    /// To who prints beside the line that is typed: a thread of its own, for that may have to wait for the editor.
    printer: Option<std_mpsc::Sender<String>>,
    /// A line is being typed.
    is_asking: bool,
    /// What can be completed.
    pub words: Words,
}

impl Lines {
    /// Standard input: an editor where it is a terminal.
    pub fn open() -> Result<Self, CommandError> {
        let words = Words::default();
        let (sender, lines) = mpsc::unbounded_channel();
        if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
            std::thread::spawn(move || read_pipe(&sender));
            return Ok(Self { lines, ask: None, printer: None, is_asking: false, words });
        }
        let failed = |error: ReadlineError| CommandError::new(ErrorKind::Internal, format!("no line editor: {error}"));
        let mut editor: Editor<Completion, FileHistory> = Editor::new().map_err(failed)?;
        editor.set_helper(Some(Completion { words: Arc::clone(&words) }));
        let history = reels::folder().ok().map(|folder| folder.join("host-history"));
        if let Some(history) = &history {
            // There is none yet the first time.
            let _ = editor.load_history(history);
        }
        let mut beside = editor.create_external_printer().map_err(failed)?;
        let (printer, texts) = std_mpsc::channel::<String>();
        std::thread::spawn(move || texts.iter().for_each(|text| drop(beside.print(text))));
        let (ask, asked) = std_mpsc::channel();
        std::thread::spawn(move || {
            while asked.recv().is_ok() {
                match editor.readline("you> ") {
                    Ok(line) => {
                        let _ = editor.add_history_entry(&line);
                        if sender.send(line).is_err() {
                            break;
                        }
                    }
                    Err(ReadlineError::Interrupted) => {
                        let _ = sender.send(String::new());
                    }
                    Err(_) => break,
                }
            }
            if let Some(history) = &history {
                let _ = editor.save_history(history);
            }
        });
        Ok(Self { lines, ask: Some(ask), printer: Some(printer), is_asking: false, words })
    }

    /// Whether somebody types.
    pub fn is_interactive(&self) -> bool {
        self.ask.is_some()
    }

    /// Lets the next line be typed.
    pub fn ask(&mut self) {
        if let Some(ask) = &self.ask {
            let _ = ask.send(());
            self.is_asking = true;
        }
    }

    /// The next line; `None` at the end.
    pub async fn next(&mut self) -> Option<String> {
        let line = self.lines.recv().await;
        self.is_asking = false;
        line
    }

    /// Prints beside the line that is being typed; false where nobody types.
    pub fn print(&self, text: &str) -> bool {
        match &self.printer {
            Some(printer) if self.is_asking => printer.send(text.to_owned()).is_ok(),
            _ => false,
        }
    }
}

fn read_pipe(sender: &mpsc::UnboundedSender<String>) {
    let mut input = std::io::stdin().lock();
    loop {
        let mut line = Vec::new();
        match std::io::Read::take(&mut input, MOST_BYTES).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
            return;
        }
    }
}

/// Completes commands, and names of servers, tools and events behind them.
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
            Some(_) => self.words.lock().unwrap_or_else(PoisonError::into_inner).clone(),
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

/// Flushes what was written, so that it stands before the prompt.
pub fn flush() {
    let _ = std::io::stdout().flush();
}
