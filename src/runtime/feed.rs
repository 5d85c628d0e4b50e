//! Reads messages to send from a file, a FIFO, standard input or the clients of a Unix socket, one per line.
//!
//! Lines wait until the first host is ready. An invalid line is reported with its number, and reading continues.

use super::channel_socket::connections;
use super::webhook::{Order, Outcome};
use crate::server::{Fired, Report};
use parking_lot::{Condvar, Mutex};
use serde_json::json;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixListener;
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// Maximum length of a line, in bytes.
const MAX_LINE_BYTES: u64 = 1 << 20;
/// Maximum number of connected clients.
const MAX_CLIENTS: usize = 16;
/// How long to wait for a server to report that it has sent something.
const GRACE_PERIOD: Duration = Duration::from_secs(5);

/// A source of lines.
pub(crate) enum Source {
    /// A single stream.
    Stream(Box<dyn Read + Send>),
    /// All clients of a socket.
    Socket(UnixListener),
}

/// Called with what is wrong with a line, in words.
pub(crate) type LineErrorCallback = Arc<dyn Fn(&str) + Send + Sync>;

/// A running feed. Its threads end with the process.
pub(crate) struct Feed {
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
        *self.is_open.lock() = true;
        self.opened.notify_all();
    }

    fn pass(&self) {
        self.opened.wait_while(&mut self.is_open.lock(), |is_open| !*is_open);
    }
}

impl Feed {
    /// Begins to read.
    ///
    /// # Errors
    ///
    /// The thread could not be started.
    pub(crate) fn start(source: Source, order: Order, report: LineErrorCallback) -> io::Result<Self> {
        let gate = Arc::<Gate>::default();
        let reader = Lines { gate: Arc::clone(&gate), order };
        let thread = || std::thread::Builder::new().name("feed".into());
        match source {
            Source::Stream(stream) => thread().spawn(move || reader.read(stream, &*report))?,
            Source::Socket(listener) => thread().spawn(move || reader.listen(&listener, &report))?,
        };
        Ok(Self { gate })
    }

    /// Handles a report of the server: reading begins once the first host is ready.
    pub(crate) fn receive(&self, report: &Report) {
        if matches!(report, Report::Ready) {
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
            // Each connected client holds one reference.
            if Arc::strong_count(&connected) > MAX_CLIENTS {
                let _ = writeln!(&client, "{}", json!({"error": "too many clients are connected"}));
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

    /// Reads a stream to its end.
    fn read(&self, stream: impl Read, report: &dyn Fn(&str)) {
        self.gate.pass();
        let mut stream = BufReader::new(stream);
        for number in 1_u64.. {
            let mut line = Vec::new();
            match stream.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line) {
                Ok(0) => return,
                Ok(_) if line.len() as u64 >= MAX_LINE_BYTES && !line.ends_with(b"\n") => {
                    report(&format!("skipped line {number}: it is longer than {MAX_LINE_BYTES} bytes"));
                    if skip_line(&mut stream).is_err() {
                        return;
                    }
                }
                Ok(_) => {
                    if let Err(why) = self.send(&line) {
                        report(&format!("line {number}: {why}"));
                    }
                }
                Err(error) => return report(&format!("cannot read further: {error}")),
            }
        }
    }

    /// Sends one line to all hosts, and waits until it has been sent, so that reading is no faster than sending.
    fn send(&self, line: &[u8]) -> Result<(), String> {
        let line = line.trim_ascii();
        if line.is_empty() {
            return Ok(());
        }
        let fired: Fired = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        fired.check()?;
        let (reported, received) = mpsc::channel();
        let receives =
            move |report: &Report, is_first: bool| drop(is_first.then(|| reported.send(Outcome::of(report))));
        let hosts = (self.order)(&fired, Arc::new(receives));
        if hosts == 0 {
            return Err("not sent: no host is connected".to_owned());
        }
        let mut refused = Vec::new();
        for _ in 0..hosts {
            refused.extend(match received.recv_timeout(GRACE_PERIOD) {
                Ok(Outcome::NotSent(reason)) => Some(format!("not sent: {reason}")),
                Ok(Outcome::Unsubscribed) => Some("not sent: no host has a subscription to this event".to_owned()),
                Ok(Outcome::Sent) | Err(_) => None,
            });
        }
        // One host that accepted it is enough.
        match refused.pop().filter(|_| refused.len() + 1 == hosts) {
            Some(why) => Err(why),
            None => Ok(()),
        }
    }
}

/// Skips the rest of a line.
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

    /// The lines that are sent, and what is reported about the others.
    fn fed(text: Vec<u8>) -> (Vec<String>, Vec<String>) {
        let ((sends, sent), (reports, reported)) = (channel(), channel());
        let order: Order = Arc::new(move |fired, receives| {
            let _ = sends.send(fired.kind().to_owned());
            receives(&Report::Ready, true);
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
        let long = "x".repeat(usize::try_from(MAX_LINE_BYTES).expect("fits") + 5);
        let text = format!("{good}\nno JSON\n\n{{\"kind\":\"none\"}}\n{long}\n{good}");
        let (sent, reported) = fed(text.into_bytes());
        assert_eq!(sent, ["reminder", "reminder"]);
        let begins = ["line 2: ", "line 4: unknown kind \"none\"", "skipped line 5: it is longer than 1048576 bytes"];
        assert_eq!(reported.len(), 3, "{reported:?}");
        assert!(reported.iter().zip(begins).all(|(reported, begin)| reported.starts_with(begin)), "{reported:?}");
    }

    fn reported(order: Order) -> Vec<String> {
        let gate = Arc::<Gate>::default();
        gate.open();
        let (reports, reported) = channel();
        let line = &br#"{"kind":"reminder","body":"b"}"#[..];
        Lines { gate, order }.read(line, &|why: &str| drop(reports.send(why.to_owned())));
        reported.try_iter().collect()
    }

    #[test]
    fn what_nobody_can_be_sent_is_reported() {
        assert_eq!(reported(Arc::new(|_, _| 0)), ["line 1: not sent: no host is connected"]);
        // One report by each of two hosts, with the subscriptions that get the event, and what became of it later.
        let order = |hosts: [serde_json::Value; 2]| -> Order {
            Arc::new(move |_, receives| {
                for ids in &hosts {
                    let report = json!({"report": "published", "subscriptions": ids, "held": []});
                    receives(&Report::Proposal(report), true);
                    receives(&Report::Sent { method: "m".to_owned(), id: None }, false);
                }
                hosts.len()
            })
        };
        assert_eq!(
            reported(order([json!([]), json!([])])),
            ["line 1: not sent: no host has a subscription to this event"]
        );
        assert!(reported(order([json!([]), json!(["s"])])).is_empty(), "one host that has a subscription is enough");
    }
}
