//! Laying JSON out on a thread of its own while the events after it are looked at: half the work of the full form.

use crate::render::pretty::{Layout, pretty};
use std::fs::File;
use std::io::{self, Write};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

/// So much is handed over at once: waking a thread costs more than laying out a small message.
const HANDED_OVER: usize = 128 << 10;
/// A buffer is made smaller where one message made it larger than this, and what comes next waits until that is
/// printed.
const LARGEST_KEPT: usize = 256 << 10;

/// What is to be printed: text as it is, and messages that are to be laid out, in order.
#[derive(Debug, Default)]
pub struct Sheet {
    /// Text and messages, one after the other.
    pub text: Vec<u8>,
    /// Where pieces end, and whether each is a message.
    ends: Vec<(usize, bool)>,
}

impl Sheet {
    /// Adds a message that is to be laid out.
    pub fn message(&mut self, body: &[u8]) {
        self.ends.push((self.text.len(), false));
        if body.len() > LARGEST_KEPT {
            // No more than it takes: a buffer that doubles would end up with twice as much.
            self.text.reserve_exact(body.len() + 1);
        }
        self.text.extend_from_slice(body);
        self.ends.push((self.text.len(), true));
    }

    /// Appends everything, the messages laid out.
    pub fn lay_out(&self, layout: &Layout, out: &mut Vec<u8>) {
        let mut start = 0;
        for (end, is_message) in self.ends.iter().copied().chain([(self.text.len(), false)]) {
            let piece = &self.text[start..end];
            if is_message {
                pretty(piece, layout, out)
            } else {
                out.extend_from_slice(piece)
            }
            start = end;
        }
    }

    fn clear(&mut self) {
        self.text.clear();
        self.text.shrink_to(LARGEST_KEPT);
        self.ends.clear();
    }
}

/// The thread, and what it is to get next.
pub struct Press {
    sheet: Sheet,
    ready: Option<SyncSender<Sheet>>,
    spent: Receiver<Sheet>,
    /// How many sheets were handed over and have not come back.
    away: usize,
    worker: Option<JoinHandle<io::Result<()>>>,
}

impl Press {
    /// Begins to print to `out`.
    pub fn start(layout: Layout, out: File) -> io::Result<Self> {
        // One may wait, so that neither thread has to be woken in time for the other.
        let (ready, sheets) = sync_channel(1);
        let (back, spent) = channel();
        let work = move || work(layout, out, &sheets, &back);
        let worker = std::thread::Builder::new().name("press".into()).spawn(work)?;
        Ok(Self { sheet: Sheet::default(), ready: Some(ready), spent, away: 0, worker: Some(worker) })
    }

    /// Prints what `write` puts on the sheet.
    ///
    /// # Errors
    /// What was printed before could not be written.
    pub fn write(&mut self, write: impl FnOnce(&mut Sheet)) -> io::Result<()> {
        write(&mut self.sheet);
        if self.sheet.text.len() < HANDED_OVER { Ok(()) } else { self.hand_over() }
    }

    fn hand_over(&mut self) -> io::Result<()> {
        let is_large = self.sheet.text.len() > LARGEST_KEPT;
        let next = self.spent.try_recv().inspect(|_| self.away -= 1).unwrap_or_default();
        let sheet = std::mem::replace(&mut self.sheet, next);
        let Some(Ok(())) = self.ready.as_ref().map(|ready| ready.send(sheet)) else { return self.end() };
        self.away += 1;
        while is_large && self.away > 0 {
            let Ok(sheet) = self.spent.recv() else { return self.end() };
            self.away -= 1;
            self.sheet = sheet;
        }
        Ok(())
    }

    /// Prints what is left, and waits until all is written.
    ///
    /// # Errors
    /// Something could not be written.
    pub fn finish(&mut self) -> io::Result<()> {
        if self.ready.is_some() {
            self.hand_over()?;
        }
        self.end()
    }

    fn end(&mut self) -> io::Result<()> {
        self.ready = None;
        let ended = self.worker.take().map(JoinHandle::join);
        ended.unwrap_or(Ok(Ok(()))).unwrap_or_else(|_| Err(io::Error::other("the printing thread failed")))
    }
}

impl Drop for Press {
    fn drop(&mut self) {
        // What was shown before something failed is printed.
        let _ = self.finish();
    }
}

fn work(layout: Layout, mut file: File, sheets: &Receiver<Sheet>, back: &Sender<Sheet>) -> io::Result<()> {
    let mut out = Vec::new();
    for mut sheet in sheets {
        sheet.lay_out(&layout, &mut out);
        file.write_all(&out)?;
        out.clear();
        out.shrink_to(LARGEST_KEPT);
        sheet.clear();
        // Nobody takes it back at the end.
        let _ = back.send(sheet);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_is_printed_is_what_was_put_on_the_sheets() {
        let home = tempfile::tempdir().expect("a folder");
        let path = home.path().join("out");
        let layout = Layout::default();
        let mut press = Press::start(layout, File::create(&path).expect("a file")).expect("a thread");
        let mut wanted = Vec::new();
        for number in 0..5000 {
            // Some are larger than what is kept.
            let length = if number % 1000 == 700 { LARGEST_KEPT + number } else { number % 90 };
            let body = format!("{{\"n\":{number},\"text\":\"{}\"}}", "x".repeat(length));
            let line = format!("{number}\n");
            press
                .write(|sheet| {
                    sheet.text.extend_from_slice(line.as_bytes());
                    sheet.message(body.as_bytes());
                    sheet.text.push(b'\n');
                })
                .expect("written");
            wanted.extend_from_slice(line.as_bytes());
            pretty(body.as_bytes(), &layout, &mut wanted);
            wanted.push(b'\n');
        }
        press.finish().expect("written");
        assert!(fs::read(&path).expect("a file") == wanted);
    }

    #[test]
    fn what_cannot_be_written_is_told() {
        let home = tempfile::tempdir().expect("a folder");
        let path = home.path().join("out");
        fs::write(&path, "").expect("a file");
        let mut press = Press::start(Layout::default(), File::open(&path).expect("a file")).expect("a thread");
        let outcome = (0..9).try_for_each(|_| press.write(|sheet| sheet.text.resize(HANDED_OVER, b'x')));
        assert!(outcome.and_then(|()| press.finish()).is_err());
    }
}
