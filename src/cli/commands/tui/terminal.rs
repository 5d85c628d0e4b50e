//! The user's terminal: /dev/tty, since stdin and stdout may have another use.

use crate::error::{CommandError, ErrorKind};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use ratatui::crossterm::{cursor, execute};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::mem::ManuallyDrop;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Whether the terminal shows the interface, so that it must be restored.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);
/// Whether any thread panicked.
static HAS_PANICKED: AtomicBool = AtomicBool::new(false);

/// Returns whether any thread panicked since the interface began.
pub(super) fn has_panicked() -> bool {
    HAS_PANICKED.load(Ordering::Acquire)
}

/// Opens the terminal.
///
/// # Errors
///
/// There is none.
pub(super) fn open() -> io::Result<File> {
    File::options().read(true).write(true).open("/dev/tty")
}

/// The terminal while it shows the interface. It is restored when this is dropped, and when anything panics.
pub(super) struct Screen {
    /// Never dropped: that would print an error if the terminal is gone, and [`restore`] shows the cursor.
    pub(super) terminal: ManuallyDrop<Terminal<CrosstermBackend<BufWriter<File>>>>,
    tty: File,
}

impl Screen {
    /// Takes the terminal.
    ///
    /// # Errors
    ///
    /// There is none, or it cannot move its cursor.
    pub(super) fn take() -> Result<Self, CommandError> {
        const HINT: &str = "`mcpreel show` prints a reel without a terminal";
        if std::env::var_os("TERM").is_none_or(|term| term == "dumb" || term.is_empty()) {
            return Err(
                CommandError::usage("this terminal cannot show the interface: TERM is dumb or missing").hint(HINT)
            );
        }
        let none = |error: io::Error| {
            let why = format!("there is no terminal for the interface: /dev/tty cannot be used ({error})");
            CommandError::new(ErrorKind::Usage, why).hint(HINT)
        };
        restore_after_panic();
        let tty = open().map_err(none)?;
        let backend = CrosstermBackend::new(BufWriter::with_capacity(64 << 10, tty.try_clone().map_err(none)?));
        let mut screen = Self { terminal: ManuallyDrop::new(Terminal::new(backend).map_err(none)?), tty };
        screen.show().map_err(none)?;
        Ok(screen)
    }

    /// Shows the interface, at first or again.
    ///
    /// # Errors
    ///
    /// The terminal cannot be used.
    pub(super) fn show(&mut self) -> io::Result<()> {
        enable_raw_mode()?;
        IS_TAKEN.store(true, Ordering::Release);
        execute!(self.tty, EnterAlternateScreen, EnableBracketedPaste, cursor::Hide)?;
        // `Terminal::clear` would ask the terminal where its cursor is, and wait for the answer.
        let size = self.terminal.size()?;
        self.terminal.resize(size.into())
    }

    /// Gives the terminal back, for another program or for good.
    pub(super) fn hide(&mut self) {
        restore();
    }

    /// Waits for input, at most for some time. Returns whether the terminal is still there.
    ///
    /// # Errors
    ///
    /// The terminal cannot be used.
    pub(super) fn wait(&self, pause: Duration) -> io::Result<bool> {
        let mut ends = [PollFd::new(&self.tty, PollFlags::IN)];
        let pause = Timespec { tv_sec: 0, tv_nsec: pause.subsec_nanos().into() };
        match poll(&mut ends, Some(&pause)) {
            // A signal: the size may have changed.
            Ok(_) | Err(Errno::INTR) => Ok(!ends[0].revents().intersects(PollFlags::HUP | PollFlags::ERR)),
            Err(error) => Err(error.into()),
        }
    }

    /// Puts a text into the clipboard of the terminal (OSC 52).
    ///
    /// # Errors
    ///
    /// The terminal cannot be used.
    pub(super) fn copy(&mut self, text: &[u8]) -> io::Result<()> {
        use base64::Engine;
        let encoded = base64::engine::general_purpose::STANDARD.encode(text);
        self.tty.write_all(format!("\u{1b}]52;c;{encoded}\u{7}").as_bytes())
    }
}

/// Runs something while the interface has the terminal. For tests.
pub fn with_screen(run: impl FnOnce()) {
    let screen = Screen::take();
    run();
    drop(screen);
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

/// Restores the terminal, if it shows the interface.
fn restore() {
    if !IS_TAKEN.swap(false, Ordering::AcqRel) {
        return;
    }
    if let Ok(mut tty) = open() {
        let _ = execute!(tty, DisableBracketedPaste, LeaveAlternateScreen, cursor::Show);
    }
    let _ = disable_raw_mode();
}

/// Restores the terminal before the message of a panic is printed.
fn restore_after_panic() {
    static SET: Once = Once::new();
    SET.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |about| {
            HAS_PANICKED.store(true, Ordering::Release);
            restore();
            before(about);
        }));
    });
}
