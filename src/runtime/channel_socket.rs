//! A channel over a Unix socket: a line that comes in is a message of the channel's, what the host publishes is written
//! out to all who are connected.

use super::webhook::Order;
use crate::server::{Fired, Report};
use serde_json::{Map, Value, json};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a line may be.
const LONGEST: u64 = 1 << 20;
/// How many may be connected at once.
const MAX_CLIENTS: usize = 16;
/// How many lines may wait for somebody to read them.
const MAX_WAITING: usize = 64;
/// How long a server may take to say that it has sent a message.
const GRACE_PERIOD: Duration = Duration::from_secs(5);
/// How long somebody may take to read what is written.
const WRITE_TIMEOUT: Duration = Duration::from_secs(2);
/// How long nobody is let in after it went wrong: out of descriptors, most often, where waiting helps.
const BACK_OFF: Duration = Duration::from_millis(50);

/// What waits for somebody.
enum Waiting {
    Line(Arc<str>),
    /// No more is to be written; dropped once all before it is.
    End(#[expect(dead_code, reason = "its end tells")] Sender<()>),
}

/// The way to somebody.
struct OutgoingConnection {
    stream: UnixStream,
    lines: SyncSender<Waiting>,
}

impl OutgoingConnection {
    /// Has a line written, without waiting for anybody: who does not read is hung up on. Then it is not read either, so
    /// that no more are served than may be.
    fn say(&self, line: Arc<str>) -> bool {
        let is_said = self.lines.try_send(Waiting::Line(line)).is_ok();
        if !is_said {
            let _ = self.stream.shutdown(Shutdown::Both);
        }
        is_said
    }
}

/// Somebody who is connected.
struct Client {
    number: u64,
    way: Arc<OutgoingConnection>,
    /// Writes no more, and may read still.
    has_ended: bool,
}

type Clients = Arc<Mutex<Vec<Client>>>;

/// A channel at work. Its threads end with the process; what was published is written before this is dropped, to
/// whoever reads it.
pub struct ChannelSocket {
    channel: String,
    clients: Clients,
}

impl ChannelSocket {
    /// Listens for who uses the channel of this id.
    ///
    /// # Errors
    /// There is no thread for it.
    pub fn start(channel: String, listener: UnixListener, order: Order) -> io::Result<Self> {
        let clients = Clients::default();
        let (known, id) = (Arc::clone(&clients), channel.clone());
        std::thread::Builder::new().name("channel".into()).spawn(move || {
            for (number, client) in (1..).zip(connections(&listener)) {
                let Some(way) = admit(&known, number, &client) else {
                    // There is room for this much before anybody reads.
                    let _ = (&client).write_all(line(&json!({"error": "too many are connected"})).as_bytes());
                    continue;
                };
                let (known, id, order) = (Arc::clone(&known), id.clone(), Arc::clone(&order));
                let reader = std::thread::Builder::new().name("channel-client".into());
                let _ = reader.spawn(move || {
                    read(&client, &way, &id, &order);
                    let mut all = lock(&known);
                    all.iter_mut().filter(|client| client.number == number).for_each(|it| it.has_ended = true);
                });
            }
        })?;
        Ok(Self { channel, clients })
    }

    /// Hears a fact of the server's: what was published into this channel goes out.
    pub fn receive(&self, fact: &Report) {
        let Report::Room(fact) = fact else { return };
        if fact["report"] == "channel_published" && fact["channel_id"] == self.channel.as_str() {
            let line = line(fact);
            lock(&self.clients).retain(|client| client.way.say(Arc::clone(&line)));
        }
    }
}

impl Drop for ChannelSocket {
    fn drop(&mut self) {
        let (end, ended) = mpsc::channel();
        for client in lock(&self.clients).drain(..) {
            let _ = client.way.lines.try_send(Waiting::End(end.clone()));
        }
        drop(end);
        let _ = ended.recv_timeout(WRITE_TIMEOUT);
    }
}

fn lock(clients: &Mutex<Vec<Client>>) -> MutexGuard<'_, Vec<Client>> {
    clients.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whoever connects, for ever.
pub(super) fn connections(listener: &UnixListener) -> impl Iterator<Item = UnixStream> {
    listener.incoming().filter_map(|client| client.map_err(|_| std::thread::sleep(BACK_OFF)).ok())
}

/// Lets one more in, in place of one that writes no more where there is no room; gives back the way to it.
fn admit(clients: &Mutex<Vec<Client>>, number: u64, client: &UnixStream) -> Option<Arc<OutgoingConnection>> {
    let mut all = lock(clients);
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

/// Writes lines out for as long as they are read.
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

/// Reads lines to their end; each is brought in, and what comes of it is told to who wrote it.
fn read(client: &UnixStream, way: &Arc<OutgoingConnection>, channel: &str, order: &Order) {
    let mut lines = BufReader::new(client);
    loop {
        let mut read = Vec::new();
        match lines.by_ref().take(LONGEST).read_until(b'\n', &mut read) {
            Ok(1..) if read.len() as u64 >= LONGEST && !read.ends_with(b"\n") => {
                way.say(line(&json!({"error": format!("a line is longer than {LONGEST} B")})));
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
                let receives = move |fact: &Report| {
                    let _ = reported.send(());
                    if !matches!(fact, Report::Sent { .. }) {
                        way.say(line(&serde_json::to_value(fact).unwrap_or_default()));
                    }
                };
                let ordered = order(&fired, Arc::new(receives));
                // Nobody is read faster than hosts are sent to.
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

/// What a line says: an object with the message's members, or else a text.
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
        Report::Room(json!({"report": "channel_published", "channel_id": "c", "text": text}))
    }

    #[test]
    fn who_does_not_read_holds_nobody_up_and_is_let_go() {
        let connector = ChannelSocket { channel: "c".to_owned(), clients: Clients::default() };
        let (idle, mut idles) = UnixStream::pair().expect("a pair");
        let (reading, readers) = UnixStream::pair().expect("a pair");
        // As their readers' threads hold them.
        let _held = [(1, &idle), (2, &reading)].map(|(number, stream)| {
            (admit(&connector.clients, number, stream).expect("there is room"), stream.try_clone().expect("a copy"))
        });
        let mut lines = BufReader::new(readers).lines();
        let mut next = || lines.next().expect("a line").expect("read");
        let began = std::time::Instant::now();
        // More than a socket holds.
        connector.receive(&published(&"x".repeat(8 << 20)));
        connector.receive(&published("second"));
        assert!(next().len() > 8 << 20 && next().contains("second"));
        assert!(began.elapsed() < WRITE_TIMEOUT, "at once");
        for _ in 0..MAX_WAITING {
            connector.receive(&published("more"));
            next();
        }
        assert_eq!(lock(&connector.clients).iter().map(|client| client.number).collect::<Vec<_>>(), [2]);
        assert!(idles.read_to_end(&mut Vec::new()).is_ok_and(|read| read > 0), "it comes to an end");
    }

    #[test]
    fn who_stays_away_for_long_is_let_go_with_what_waits() {
        let (ours, mut theirs) = UnixStream::pair().expect("a pair");
        ours.set_write_timeout(Some(Duration::from_millis(1))).expect("set");
        let (lines, waiting) = mpsc::sync_channel(1);
        lines.send(Waiting::Line("x".repeat(8 << 20).into())).expect("room");
        write(&ours, &waiting);
        assert!(theirs.read_to_end(&mut Vec::new()).is_ok_and(|read| read > 0), "it comes to an end");
    }

    #[test]
    fn what_was_published_last_is_written_before_the_end() {
        let connector = ChannelSocket { channel: "c".to_owned(), clients: Clients::default() };
        let (ours, mut theirs) = UnixStream::pair().expect("a pair");
        let _held = admit(&connector.clients, 1, &ours).expect("there is room");
        (0..MAX_WAITING / 2).for_each(|_| connector.receive(&published("bye")));
        drop(connector);
        theirs.set_nonblocking(true).expect("set");
        let mut said = Vec::new();
        let _ = theirs.read_to_end(&mut said);
        assert_eq!(String::from_utf8_lossy(&said).matches("bye").count(), MAX_WAITING / 2);
    }
}
