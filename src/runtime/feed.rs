//! Events from lines: a file, a FIFO, standard input or whoever connects to a Unix socket; each line is something to
//! send.
//!
//! Lines wait until a first host is ready. A wrong one is told, with its number, and ends nothing.

use super::channel_socket::connections;
use super::webhook::Order;
use crate::server::{Fired, Report};
use serde_json::json;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixListener;
use std::sync::{Arc, Condvar, Mutex, PoisonError, mpsc};
use std::time::Duration;

/// How long a line may be.
const LONGEST: u64 = 1 << 20;
/// How many may be connected at once.
const MAX_CLIENTS: usize = 16;
/// How long a server may take to say that it has sent something.
const GRACE_PERIOD: Duration = Duration::from_secs(5);

/// Where lines come from.
pub enum Source {
    /// One stream of them.
    Stream(Box<dyn Read + Send>),
    /// Whoever connects.
    Socket(UnixListener),
}

/// Tells what is wrong with a line, in words.
pub type LineErrorCallback = Arc<dyn Fn(&str) + Send + Sync>;

/// A feed at work. Its threads end with the process.
pub struct Feed {
    gate: Arc<Gate>,
}

/// Holds lines back until a host is ready.
#[derive(Default)]
struct Gate {
    is_open: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    fn open(&self) {
        *self.is_open.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.opened.notify_all();
    }

    fn pass(&self) {
        let is_open = self.is_open.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.opened.wait_while(is_open, |is_open| !*is_open));
    }
}

impl Feed {
    /// Begins to read.
    ///
    /// # Errors
    /// There is no thread for it.
    pub fn start(source: Source, order: Order, report: LineErrorCallback) -> io::Result<Self> {
        let gate = Arc::<Gate>::default();
        let reader = Lines { gate: Arc::clone(&gate), order };
        let thread = || std::thread::Builder::new().name("feed".into());
        match source {
            Source::Stream(stream) => thread().spawn(move || reader.read(stream, &*report))?,
            Source::Socket(listener) => thread().spawn(move || reader.listen(&listener, &report))?,
        };
        Ok(Self { gate })
    }

    /// Hears a fact of the server's: with the first host that is ready, lines are read.
    pub fn receive(&self, fact: &Report) {
        if matches!(fact, Report::Ready) {
            self.gate.open();
        }
    }
}

/// Reads lines and has them sent.
#[derive(Clone)]
struct Lines {
    gate: Arc<Gate>,
    order: Order,
}

impl Lines {
    fn listen(&self, listener: &UnixListener, report: &LineErrorCallback) {
        let connected = Arc::new(());
        for client in connections(listener) {
            // Each that is connected holds one.
            if Arc::strong_count(&connected) > MAX_CLIENTS {
                let _ = writeln!(&client, "{}", json!({"error": "too many are connected"}));
                continue;
            }
            let (lines, report, one) = (self.clone(), Arc::clone(report), Arc::clone(&connected));
            let thread = std::thread::Builder::new().name("feed-client".into());
            let _ = thread.spawn(move || {
                let Ok(back) = client.try_clone() else { return };
                let _ = back.set_write_timeout(Some(GRACE_PERIOD));
                lines.read(client, &|why: &str| {
                    report(why);
                    let _ = writeln!(&back, "{}", json!({"error": why}));
                });
                drop(one);
            });
        }
    }

    /// Reads to the end.
    fn read(&self, stream: impl Read, report: &dyn Fn(&str)) {
        self.gate.pass();
        let mut stream = BufReader::new(stream);
        for number in 1_u64.. {
            let mut line = Vec::new();
            match stream.by_ref().take(LONGEST).read_until(b'\n', &mut line) {
                Ok(0) => return,
                Ok(_) if line.len() as u64 >= LONGEST && !line.ends_with(b"\n") => {
                    report(&format!("line {number} is longer than {LONGEST} bytes and is left out"));
                    if skip_line(&mut stream).is_err() {
                        return;
                    }
                }
                Ok(_) => {
                    if let Err(why) = self.send(&line) {
                        report(&format!("line {number}: {why}"));
                    }
                }
                Err(error) => return report(&format!("nothing more can be read: {error}")),
            }
        }
    }

    /// Has one line sent, to all hosts; waits until it has gone out, so that nobody is read faster than that.
    fn send(&self, line: &[u8]) -> Result<(), String> {
        let line = line.trim_ascii();
        if line.is_empty() {
            return Ok(());
        }
        let fired: Fired = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        fired.check()?;
        let (reported, received) = mpsc::channel();
        let receives = move |fact: &Report| {
            let refusal = match fact {
                Report::NotSent { reason, .. } => Some(format!("not sent: {reason}")),
                _ => None,
            };
            let _ = reported.send(refusal);
        };
        let hosts = (self.order)(&fired, Arc::new(receives));
        if hosts == 0 {
            return Err("not sent: no host is connected".to_owned());
        }
        let mut refused = Vec::new();
        for _ in 0..hosts {
            refused.extend(received.recv_timeout(GRACE_PERIOD).ok().flatten());
        }
        // Where one host took it, it was sent.
        match refused.pop().filter(|_| refused.len() + 1 == hosts) {
            Some(why) => Err(why),
            None => Ok(()),
        }
    }
}

/// Reads the rest of a line.
fn skip_line(stream: &mut impl BufRead) -> io::Result<()> {
    loop {
        let piece = stream.fill_buf()?;
        let (skipped, is_over) = match piece.iter().position(|byte| *byte == b'\n') {
            Some(at) => (at + 1, true),
            None => (piece.len(), piece.is_empty()),
        };
        stream.consume(skipped);
        if is_over {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    /// What is sent of these lines, and what is told of the others.
    fn fed(text: Vec<u8>) -> (Vec<String>, Vec<String>) {
        let ((sends, sent), (reports, reported)) = (channel(), channel());
        let order: Order = Arc::new(move |fired, receives| {
            let _ = sends.send(fired.kind().to_owned());
            receives(&Report::Ready);
            1
        });
        let gate = Arc::<Gate>::default();
        gate.open();
        Lines { gate, order }.read(&text[..], &|why: &str| drop(reports.send(why.to_owned())));
        (sent.try_iter().collect(), reported.try_iter().collect())
    }

    #[test]
    fn wrong_lines_are_reported_by_their_numbers_and_end_nothing() {
        let good = r#"{"kind":"reminder","body":"b"}"#;
        let long = "x".repeat(usize::try_from(LONGEST).expect("fits") + 5);
        let text = format!("{good}\nno JSON\n\n{{\"kind\":\"none\"}}\n{long}\n{good}");
        let (sent, reported) = fed(text.into_bytes());
        assert_eq!(sent, ["reminder", "reminder"]);
        let begins = ["line 2: ", "line 4: there is no kind \"none\"", "line 5 is longer than 1048576 bytes"];
        assert_eq!(reported.len(), 3, "{reported:?}");
        assert!(reported.iter().zip(begins).all(|(reported, begin)| reported.starts_with(begin)), "{reported:?}");
    }

    #[test]
    fn what_nobody_can_be_sent_is_reported() {
        let gate = Arc::<Gate>::default();
        gate.open();
        let lines = Lines { gate, order: Arc::new(|_, _| 0) };
        let (reports, reported) = channel();
        lines.read(&br#"{"kind":"reminder","body":"b"}"#[..], &|why: &str| drop(reports.send(why.to_owned())));
        assert_eq!(reported.try_iter().collect::<Vec<_>>(), ["line 1: not sent: no host is connected"]);
    }
}
