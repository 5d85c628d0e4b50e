//! Reads what the user types, in a thread of its own.
//!
//! Once crossterm has read a part of a key, it waits for the rest; and after a hangup it reads the end of the terminal again
//! and again. Neither may stop the interface.

use ratatui::crossterm::event::{self, Event};
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

/// How long to wait for what crossterm has read: usually microseconds.
const PATIENCE: Duration = Duration::from_millis(50);

/// What reads the terminal, whenever it is asked to.
pub(super) struct Keyboard {
    ask: SyncSender<()>,
    answers: Receiver<io::Result<Vec<Event>>>,
    is_asked: bool,
}

impl Keyboard {
    /// Begins a thread that reads nothing yet.
    pub(super) fn begin() -> Self {
        Self::reading(typed)
    }

    fn reading(mut read: impl FnMut() -> io::Result<Vec<Event>> + Send + 'static) -> Self {
        let (ask, asked) = sync_channel(1);
        let (answer, answers) = sync_channel(1);
        std::thread::spawn(move || while asked.recv().is_ok() && answer.send(read()).is_ok() {});
        Self { ask, answers, is_asked: false }
    }

    /// Returns what the user typed since the last call; nothing while a part of a key is missing.
    ///
    /// # Errors
    ///
    /// The terminal cannot be used.
    pub(super) fn typed(&mut self) -> io::Result<Vec<Event>> {
        let patience = if self.is_asked { Duration::ZERO } else { PATIENCE };
        if !self.is_asked {
            self.ask.send(()).map_err(|_| ended())?;
            self.is_asked = true;
        }
        match self.answers.recv_timeout(patience) {
            Ok(events) => {
                self.is_asked = false;
                events
            }
            Err(RecvTimeoutError::Timeout) => Ok(Vec::new()),
            Err(RecvTimeoutError::Disconnected) => Err(ended()),
        }
    }
}

fn ended() -> io::Error {
    io::Error::other("the keyboard is not read any more")
}

fn typed() -> io::Result<Vec<Event>> {
    let mut events = Vec::new();
    while event::poll(Duration::ZERO)? {
        events.push(event::read()?);
    }
    Ok(events)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_is_not_complete_stops_nothing_and_comes_later() {
        let (complete, rest) = sync_channel::<Vec<Event>>(1);
        let mut keyboard = Keyboard::reading(move || rest.recv().map_err(|_| ended()));
        assert_eq!(keyboard.typed().expect("a terminal"), []);
        assert_eq!(keyboard.typed().expect("a terminal"), []);
        complete.send(vec![Event::FocusGained]).expect("a reader");
        let mut typed = Vec::new();
        while typed.is_empty() {
            typed = keyboard.typed().expect("a terminal");
        }
        assert_eq!(typed, [Event::FocusGained]);
        drop(complete);
        while keyboard.typed().is_ok() {}
    }
}
