//! A pager for long output on a terminal.

use clap::Args;
use std::io::{self, IsTerminal, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;

/// Whether to use a pager.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct PagerOptions {
    /// Show the output in a pager even if it is short (the program in PAGER, or less).
    #[arg(long, overrides_with = "no_pager", conflicts_with = "follow")]
    pager: bool,
    /// Never show the output in a pager. By default, output on a terminal is paged if it is longer than the screen.
    #[arg(long)]
    no_pager: bool,
}

/// When the pager is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Paging {
    /// With the first output.
    Always,
    /// When the output is longer than the screen.
    IfLong,
}

impl PagerOptions {
    /// When the pager is started; `None` for never.
    pub(super) fn paging(self) -> Option<Paging> {
        match self {
            Self { no_pager: true, .. } => None,
            Self { pager: true, .. } => Some(Paging::Always),
            _ => Some(Paging::IfLong),
        }
    }
}

/// The size of a terminal: columns and rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Screen {
    pub columns: usize,
    pub rows: usize,
}

/// The words of the pager's command line: what PAGER says, or less. `None` if output is to be printed as it is.
fn command_words(pager: Option<&str>) -> Option<Vec<String>> {
    let text = pager.unwrap_or("less");
    let mut words = shlex::split(text).unwrap_or_else(|| vec![text.to_owned()]);
    let program = words.first()?.rsplit('/').next().unwrap_or_default();
    match program {
        "" | "cat" => None,
        "less" => {
            // Without -R, less shows colours as text.
            words.push("-R".to_owned());
            Some(words)
        }
        _ => Some(words),
    }
}

/// The number of rows that a text takes up: long lines are wrapped, and escape sequences take no space.
fn rows(text: &[u8], columns: usize) -> usize {
    text.split_inclusive(|byte| *byte == b'\n').map(|line| width(line).div_ceil(columns.max(1)).max(1)).sum()
}

/// About the width of a line, in columns: one per character.
fn width(line: &[u8]) -> usize {
    let mut in_escape = false;
    let takes_space = |byte: &&u8| {
        let was_escape = in_escape || **byte == 0x1b;
        in_escape = was_escape && !byte.is_ascii_alphabetic();
        !was_escape && **byte != b'\n' && **byte & 0xc0 != 0x80
    };
    line.iter().filter(takes_space).count()
}

/// Output that goes to a pager as soon as it is longer than the screen.
pub(super) struct PagedOutput {
    words: Vec<String>,
    screen: Screen,
    paging: Paging,
    held: Vec<u8>,
    running: Option<Running>,
}

/// A pager that has been started, and standard error as it was before.
struct Running {
    child: Child,
    input: ChildStdin,
    stderr: Option<OwnedFd>,
}

impl PagedOutput {
    /// Output to the user's pager; `None` if there is none.
    pub(super) fn new(paging: Paging, screen: Screen) -> Option<Self> {
        let pager = std::env::var("PAGER").ok();
        let words = command_words(pager.as_deref())?;
        Some(Self { words, screen, paging, held: Vec::new(), running: None })
    }

    /// Takes output. Returns it if it is to be printed without a pager from now on.
    ///
    /// # Errors
    ///
    /// The pager does not read any more.
    pub(super) fn take(&mut self, bytes: &[u8]) -> io::Result<Option<Vec<u8>>> {
        if let Some(running) = &mut self.running {
            return running.input.write_all(bytes).map(|()| None);
        }
        self.held.extend_from_slice(bytes);
        // The prompt of the shell takes one row.
        let is_long = || rows(&self.held, self.screen.columns) >= self.screen.rows;
        if self.paging == Paging::IfLong && !is_long() {
            return Ok(None);
        }
        let held = std::mem::take(&mut self.held);
        match Running::start(&self.words, self.paging) {
            Ok(running) => self.running.insert(running).input.write_all(&held).map(|()| None),
            Err(error) => {
                super::printer::note(&format!("cannot start the pager {}: {error}", self.words[0]));
                Ok(Some(held))
            }
        }
    }

    /// Waits until the user has left the pager. Returns what was too short for one.
    pub(super) fn finish(self) -> Vec<u8> {
        if let Some(running) = self.running {
            running.finish();
        }
        self.held
    }
}

impl Running {
    fn start(words: &[String], paging: Paging) -> io::Result<Self> {
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).stdin(Stdio::piped());
        // The output is UTF-8, whatever the locale says.
        command.env("LESSCHARSET", "utf-8");
        if std::env::var_os("LESS").is_none() {
            // F: exit at once if everything fits on the screen. X: leave the text on the screen.
            command.env("LESS", if paging == Paging::Always { "RX" } else { "FRX" });
        }
        let mut child = command.spawn()?;
        // Ctrl-C is for the pager, which stays until the user leaves it.
        let _ = signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::default());
        let input = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
        // Notes would garble the pager's screen, so they become part of what it shows.
        let stderr = io::stderr().is_terminal().then(|| io::stderr().as_fd().try_clone_to_owned().ok()).flatten();
        if stderr.is_some() {
            let _ = rustix::stdio::dup2_stderr(&input);
        }
        Ok(Self { child, input, stderr })
    }

    fn finish(mut self) {
        if let Some(stderr) = &self.stderr {
            let _ = rustix::stdio::dup2_stderr(stderr);
        }
        drop(self.input);
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pager_is_what_the_environment_says() {
        let words = |pager: Option<&str>| command_words(pager).unwrap_or_default().join(" ");
        assert_eq!(words(None), "less -R");
        assert_eq!(words(Some("/usr/bin/less -S")), "/usr/bin/less -S -R");
        assert_eq!(words(Some("most 'a b'")), "most a b");
        assert_eq!([words(Some("")), words(Some("cat")), words(Some(" "))], [""; 3]);
    }

    #[test]
    fn wrapped_lines_count_as_several_rows_and_colours_as_none() {
        assert_eq!(rows(b"", 80), 0);
        assert_eq!(rows(b"a\nb\n\n", 80), 3);
        assert_eq!(rows("é".repeat(160).as_bytes(), 80), 2);
        assert_eq!(rows(&b"x".repeat(161), 80), 3);
        assert_eq!(rows(format!("\x1b[1;31m{}\x1b[0m\n", "x".repeat(80)).as_bytes(), 80), 1);
        assert_eq!(rows(b"abc", 0), 3);
    }

    #[test]
    fn short_output_waits_until_its_end() {
        let screen = Screen { columns: 80, rows: 5 };
        let held = || PagedOutput {
            words: vec!["/no/such/pager".to_owned()],
            screen,
            paging: Paging::IfLong,
            held: Vec::new(),
            running: None,
        };
        let mut short = held();
        assert!(matches!(short.take(b"1\n2\n"), Ok(None)) && matches!(short.take(b"3\n4\n"), Ok(None)));
        assert_eq!(short.finish(), b"1\n2\n3\n4\n");
        // A pager that cannot be started is no obstacle.
        let mut long = held();
        assert!(matches!(long.take(b"1\n2\n"), Ok(None)));
        assert_eq!(long.take(b"3\n4\n5\n").expect("no pager").expect("all of it"), b"1\n2\n3\n4\n5\n");
        let mut always = PagedOutput { paging: Paging::Always, ..held() };
        assert_eq!(always.take(b"1\n").expect("no pager").expect("all of it"), b"1\n");
    }
}
