//! A channel on a Unix socket: each incoming line becomes a message of the channel, and what the host publishes is
//! written to all connected clients.

use super::webhook::Order;
use crate::server::{Fired, Report};
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::time::Duration;

/// Maximum length of a line, in bytes.
const MAX_LINE_BYTES: u64 = 1 << 20;
/// Maximum number of clients.
const MAX_CLIENTS: usize = 16;
/// Maximum number of lines waiting to be written to one client.
const MAX_WAITING: usize = 64;
/// How long to wait for a server to report that it has sent a message.
const GRACE_PERIOD: Duration = Duration::from_secs(5);
/// Timeout of a write to a client.
const WRITE_TIMEOUT: Duration = Duration::from_secs(2);
/// How long to wait after a failed accept. Usually file descriptors have run out, and waiting helps.
const BACK_OFF: Duration = Duration::from_millis(50);

/// An entry in a client's queue.
enum Waiting {
    Line(Arc<str>),
    /// Nothing follows; dropped once everything before it has been written.
    End(#[expect(dead_code, reason = "dropping it is the signal")] Sender<()>),
}

/// The write side of a client's connection.
struct OutgoingConnection {
    stream: UnixStream,
    lines: SyncSender<Waiting>,
}

impl OutgoingConnection {
    /// Queues a line without blocking. A client whose queue is full is disconnected, which also ends its reader, so
    /// that the limit on clients holds.
    fn say(&self, line: Arc<str>) -> bool {
        let is_said = self.lines.try_send(Waiting::Line(line)).is_ok();
        if !is_said {
            let _ = self.stream.shutdown(Shutdown::Both);
        }
        is_said
    }
}

/// A connected client.
struct Client {
    number: u64,
    way: Arc<OutgoingConnection>,
    /// Nothing is written any more, but it may still be read.
    has_ended: bool,
}

type Clients = Arc<Mutex<Vec<Client>>>;

/// A running channel. Its threads end with the process. When this is dropped, what was published has been written to
/// every client that reads.
pub(crate) struct ChannelSocket {
    channel: String,
    clients: Clients,
}

impl ChannelSocket {
    /// Listens for clients of the channel with this id.
    ///
    /// # Errors
    ///
    /// The thread could not be started.
    pub(crate) fn start(channel: String, listener: UnixListener, order: Order) -> io::Result<Self> {
        let clients = Clients::default();
        let (known, id) = (Arc::clone(&clients), channel.clone());
        std::thread::Builder::new().name("channel".into()).spawn(move || {
            for (number, client) in (1..).zip(connections(&listener)) {
                let Some(way) = admit(&known, number, &client) else {
                    // This little always fits into the socket's buffer.
                    let _ = (&client).write_all(line(&json!({"error": "too many clients are connected"})).as_bytes());
                    continue;
                };
                let (known, id, order) = (Arc::clone(&known), id.clone(), Arc::clone(&order));
                let reader = std::thread::Builder::new().name("channel-client".into());
                let _ = reader.spawn(move || {
                    read(&client, &way, &id, &order);
                    let mut all = known.lock();
                    all.iter_mut().filter(|client| client.number == number).for_each(|it| it.has_ended = true);
                });
            }
        })?;
        Ok(Self { channel, clients })
    }

    /// Handles a report of the server: what it published to this channel is written out.
    pub(crate) fn receive(&self, report: &Report) {
        let Report::Proposal(report) = report else { return };
        if report["report"] == "channel_published" && report["channel_id"] == self.channel.as_str() {
            let line = line(report);
            self.clients.lock().retain(|client| client.way.say(Arc::clone(&line)));
        }
    }
}

impl Drop for ChannelSocket {
    fn drop(&mut self) {
        let (end, ended) = mpsc::channel();
        for client in self.clients.lock().drain(..) {
            let _ = client.way.lines.try_send(Waiting::End(end.clone()));
        }
        drop(end);
        let _ = ended.recv_timeout(WRITE_TIMEOUT);
    }
}

/// Accepts connections forever.
pub(super) fn connections(listener: &UnixListener) -> impl Iterator<Item = UnixStream> {
    listener.incoming().filter_map(|client| client.map_err(|_| std::thread::sleep(BACK_OFF)).ok())
}

/// Adds a client, if necessary in place of one that is not written to any more. Returns its write side, or `None` if
/// there are too many.
fn admit(clients: &Mutex<Vec<Client>>, number: u64, client: &UnixStream) -> Option<Arc<OutgoingConnection>> {
    let mut all = clients.lock();
    if all.len() >= MAX_CLIENTS
        && let Some(ended) = all.iter().position(|client| client.has_ended)
    {
        all.remove(ended);
    }
    if all.len() >= MAX_CLIENTS {
        return None;
    }
    let (stream, out) = (client.try_clone().ok()?, client.try_clone().ok()?);
    out.set_write_timeout(Some(WRITE_TIMEOUT)).ok()?;
    let (lines, waiting) = mpsc::sync_channel(MAX_WAITING);
    std::thread::Builder::new().name("channel-out".into()).spawn(move || write(&out, &waiting)).ok()?;
    let way = Arc::new(OutgoingConnection { stream, lines });
    all.push(Client { number, way: Arc::clone(&way), has_ended: false });
    Some(way)
}

/// Writes queued lines until the client stops reading.
fn write(mut client: &UnixStream, waiting: &Receiver<Waiting>) {
    while let Ok(Waiting::Line(line)) = waiting.recv() {
        if client.write_all(line.as_bytes()).is_err() {
            let _ = client.shutdown(Shutdown::Both);
            return;
        }
    }
}

fn line(value: &Value) -> Arc<str> {
    format!("{value}\n").into()
}

/// Reads lines until the end, orders a message for each, and reports the result to the client.
fn read(client: &UnixStream, way: &Arc<OutgoingConnection>, channel: &str, order: &Order) {
    let mut lines = BufReader::new(client);
    loop {
        let mut read = Vec::new();
        match lines.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut read) {
            Ok(1..) if read.len() as u64 >= MAX_LINE_BYTES && !read.ends_with(b"\n") => {
                way.say(line(&json!({"error": format!("the line is longer than {MAX_LINE_BYTES} bytes")})));
                return;
            }
            Ok(1..) => {}
            Ok(0) | Err(_) => return,
        }
        let text = String::from_utf8_lossy(&read);
        let text = text.trim();
        if text.is_empty() {
            continue;
        }
        let reported = match message(text, channel) {
            Err(why) => Some(json!({"error": why})),
            Ok(fired) => {
                let (way, (reported, received)) = (Arc::clone(way), mpsc::channel());
                let receives = move |report: &Report, is_first| {
                    if is_first {
                        let _ = reported.send(());
                    }
                    if !matches!(report, Report::Sent { .. }) {
                        way.say(line(&serde_json::to_value(report).unwrap_or_default()));
                    }
                };
                let ordered = order(&fired, Arc::new(receives));
                // Read no faster than the server sends to hosts.
                for _ in 0..ordered {
                    let _ = received.recv_timeout(GRACE_PERIOD);
                }
                (ordered == 0).then(|| json!({"error": "no host is connected"}))
            }
        };
        if reported.is_some_and(|reported| !way.say(line(&reported))) {
            return;
        }
    }
}

/// Turns a line into an order: an object has the message's members, anything else is text.
fn message(line: &str, channel: &str) -> Result<Fired, String> {
    let mut params: Map<String, Value> = match line.starts_with('{') {
        true => serde_json::from_str(line).map_err(|error| format!("not JSON: {error}"))?,
        false => Map::from_iter([("text".to_owned(), line.into())]),
    };
    params.insert("channelId".to_owned(), channel.into());
    params.remove("kind");
    let fired = Fired::new("channel-incoming", params);
    fired.check().map(|()| fired)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_text_or_a_message() {
        let plain = json!(message("hi there", "socket:a").expect("a message"));
        assert_eq!((&plain["text"], &plain["channelId"]), (&json!("hi there"), &json!("socket:a")));
        let whole = r#"{"text":"hi","author":{"id":"u","name":"U"},"channelId":"other"}"#;
        let whole = json!(message(whole, "socket:a").expect("a message"));
        assert_eq!((&whole["author"]["name"], &whole["channelId"]), (&json!("U"), &json!("socket:a")));
        assert!(message("{broken", "c").is_err() && message(r#"{"x":1}"#, "c").is_err());
    }

    fn published(text: &str) -> Report {
        Report::Proposal(json!({"report": "channel_published", "channel_id": "c", "text": text}))
    }

    #[test]
    fn who_does_not_read_holds_nobody_up_and_is_let_go() {
        let connector = ChannelSocket { channel: "c".to_owned(), clients: Clients::default() };
        let (idle, mut idles) = UnixStream::pair().expect("a pair");
        let (reading, readers) = UnixStream::pair().expect("a pair");
        // Held, as by the threads that read from them.
        let _held = [(1, &idle), (2, &reading)].map(|(number, stream)| {
            (admit(&connector.clients, number, stream).expect("there is space"), stream.try_clone().expect("a copy"))
        });
        let mut lines = BufReader::new(readers).lines();
        let mut next = || lines.next().expect("a line").expect("read");
        let began = std::time::Instant::now();
        // More than a socket's buffer holds.
        connector.receive(&published(&"x".repeat(8 << 20)));
        connector.receive(&published("second"));
        assert!(next().len() > 8 << 20 && next().contains("second"));
        assert!(began.elapsed() < WRITE_TIMEOUT, "at once");
        for _ in 0..MAX_WAITING {
            connector.receive(&published("more"));
            next();
        }
        assert_eq!(connector.clients.lock().iter().map(|client| client.number).collect::<Vec<_>>(), [2]);
        assert!(idles.read_to_end(&mut Vec::new()).is_ok_and(|read| read > 0), "it ends");
    }

    #[test]
    fn who_stays_away_for_long_is_let_go_with_what_waits() {
        let (ours, mut theirs) = UnixStream::pair().expect("a pair");
        ours.set_write_timeout(Some(Duration::from_millis(1))).expect("set");
        let (lines, waiting) = mpsc::sync_channel(1);
        lines.send(Waiting::Line("x".repeat(8 << 20).into())).expect("space");
        write(&ours, &waiting);
        assert!(theirs.read_to_end(&mut Vec::new()).is_ok_and(|read| read > 0), "it ends");
    }

    #[test]
    fn what_was_published_last_is_written_before_the_end() {
        let connector = ChannelSocket { channel: "c".to_owned(), clients: Clients::default() };
        let (ours, mut theirs) = UnixStream::pair().expect("a pair");
        let _held = admit(&connector.clients, 1, &ours).expect("there is space");
        (0..MAX_WAITING / 2).for_each(|_| connector.receive(&published("bye")));
        drop(connector);
        theirs.set_nonblocking(true).expect("set");
        let mut said = Vec::new();
        let _ = theirs.read_to_end(&mut said);
        assert_eq!(String::from_utf8_lossy(&said).matches("bye").count(), MAX_WAITING / 2);
    }
}
