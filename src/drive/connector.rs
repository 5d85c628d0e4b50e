//! A channel over a Unix socket: a line that comes in is a message of the channel's, what the host publishes is written out
//! to all who are connected.

use super::webhook::Order;
use crate::server::{Fired, Report};
use serde_json::{Map, Value, json};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

/// How long a line may be.
const LONGEST: u64 = 1 << 20;
/// How many may be connected at once.
const MOST_CLIENTS: usize = 16;
/// How long a server may take to say that it has sent a message.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long somebody may take to read what is written.
const WRITE_TIMEOUT: Duration = Duration::from_secs(2);

/// Somebody who is connected.
struct Client {
    number: u64,
    stream: UnixStream,
    /// Writes no more, and may read still.
    has_ended: bool,
}

type Clients = Arc<Mutex<Vec<Client>>>;

/// A channel at work. Its threads end with the process.
pub struct Connector {
    channel: String,
    clients: Clients,
}

impl Connector {
    /// Listens for who uses the channel of this id.
    ///
    /// # Errors
    /// There is no thread for it.
    pub fn start(channel: String, listener: UnixListener, order: Order) -> io::Result<Self> {
        let clients = Clients::default();
        let (known, id) = (Arc::clone(&clients), channel.clone());
        std::thread::Builder::new().name("channel".into()).spawn(move || {
            for (number, client) in (1..).zip(listener.incoming().filter_map(Result::ok)) {
                let _ = client.set_write_timeout(Some(WRITE_TIMEOUT));
                if !admit(&known, number, &client) {
                    let _ = say(&client, &json!({"error": "too many are connected"}));
                    continue;
                }
                let (known, id, order) = (Arc::clone(&known), id.clone(), Arc::clone(&order));
                let reader = std::thread::Builder::new().name("channel-client".into());
                let _ = reader.spawn(move || {
                    read(&client, &id, &order);
                    let mut all = lock(&known);
                    all.iter_mut().filter(|client| client.number == number).for_each(|it| it.has_ended = true);
                });
            }
        })?;
        Ok(Self { channel, clients })
    }

    /// Hears a fact of the server's: what was published into this channel goes out.
    pub fn hear(&self, fact: &Report) {
        let Report::Room(fact) = fact else { return };
        if fact["report"] == "channel_published" && fact["channel_id"] == self.channel.as_str() {
            lock(&self.clients).retain(|client| {
                let is_heard = say(&client.stream, fact).is_ok();
                if !is_heard {
                    // Whoever does not read is not read either, so that no more are served than may be.
                    let _ = client.stream.shutdown(Shutdown::Both);
                }
                is_heard
            });
        }
    }
}

fn lock(clients: &Mutex<Vec<Client>>) -> MutexGuard<'_, Vec<Client>> {
    clients.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lets one more in, in place of one that writes no more where there is no room.
fn admit(clients: &Mutex<Vec<Client>>, number: u64, client: &UnixStream) -> bool {
    let mut all = lock(clients);
    if all.len() >= MOST_CLIENTS
        && let Some(ended) = all.iter().position(|client| client.has_ended)
    {
        all.remove(ended);
    }
    let Some(stream) = client.try_clone().ok().filter(|_| all.len() < MOST_CLIENTS) else { return false };
    all.push(Client { number, stream, has_ended: false });
    true
}

/// Writes one line.
fn say(mut client: &UnixStream, line: &Value) -> io::Result<()> {
    client.write_all(format!("{line}\n").as_bytes())
}

/// Reads lines to their end; each is brought in, and what comes of it is told to who wrote it.
fn read(client: &UnixStream, channel: &str, order: &Order) {
    let mut lines = BufReader::new(client);
    loop {
        let mut line = Vec::new();
        match lines.by_ref().take(LONGEST).read_until(b'\n', &mut line) {
            Ok(1..) if line.len() as u64 >= LONGEST && !line.ends_with(b"\n") => {
                let _ = say(client, &json!({"error": format!("a line is longer than {LONGEST} B")}));
                return;
            }
            Ok(1..) => {}
            Ok(0) | Err(_) => return,
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim();
        if text.is_empty() {
            continue;
        }
        let told = match message(text, channel) {
            Err(why) => Some(json!({"error": why})),
            Ok(fired) => {
                let (back, (told, heard)) = (client.try_clone().ok(), mpsc::channel());
                let hears = move |fact: &Report| {
                    let _ = told.send(());
                    let is_end = !matches!(fact, Report::Sent { .. });
                    if let Some(back) = back.as_ref().filter(|_| is_end) {
                        let _ = say(back, &serde_json::to_value(fact).unwrap_or_default());
                    }
                };
                let ordered = order(&fired, Arc::new(hears));
                // Nobody is read faster than hosts are sent to.
                for _ in 0..ordered {
                    let _ = heard.recv_timeout(PATIENCE);
                }
                (ordered == 0).then(|| json!({"error": "no host is connected"}))
            }
        };
        if told.is_some_and(|told| say(client, &told).is_err()) {
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

    #[test]
    fn who_does_not_read_is_let_go() {
        let (ours, mut theirs) = UnixStream::pair().expect("a pair");
        ours.set_write_timeout(Some(Duration::from_millis(1))).expect("set");
        // As its reader's thread holds it.
        let _reading = ours.try_clone().expect("a copy");
        let connector = Connector { channel: "c".to_owned(), clients: Clients::default() };
        assert!(admit(&connector.clients, 1, &ours));
        let large = json!({"report": "channel_published", "channel_id": "c", "text": "x".repeat(8 << 20)});
        connector.hear(&Report::Room(large));
        assert!(lock(&connector.clients).is_empty());
        assert!(theirs.read_to_end(&mut Vec::new()).is_ok_and(|read| read > 0), "it comes to an end");
    }
}
