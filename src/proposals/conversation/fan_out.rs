//! The rule that a user's message goes to all subscribed servers, over every connection of a reel.
//!
//! Which connections are one host's is not written anywhere. They are taken for it where their clients name themselves
//! alike, and either their servers are different programs or the same message went to both. What is judged is lenient
//! where the proposal is: a server that was never sent a message may lack the user's consent, and one that did not
//! answer its last message may be left out.

use super::rules::{NOT_FANNED_OUT, is_subscribed};
use super::{CONTEXT, USER_MESSAGE};
use crate::proposals::recent::{Digest, digest};
use crate::proposals::{Findings, Observed, Overview};
use crate::wire::MessageKind;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// How many messages are remembered.
const MAX_MESSAGES: usize = 256;
/// How many connections are; those that come later are not judged.
const MAX_CONNECTIONS: usize = 1024;
/// How long a fan-out may take from its first message to its last, in nanoseconds.
const FAN_OUT: i64 = 1_000_000_000;

/// One connection.
#[derive(Debug, Default)]
struct Connection {
    client: Digest,
    server: Digest,
    /// It was sent a message: the number of the first message that it is not judged by yet.
    next: Option<u64>,
    /// Its last message was answered, and not by an error.
    answers: bool,
    /// From when on nothing is known of it.
    left: Option<i64>,
    /// Connections that were sent a message which this one was sent too.
    companions: BTreeSet<u32>,
}

/// One user message.
#[derive(Debug)]
struct Message {
    number: u64,
    seq: u64,
    id: String,
    content: Digest,
    client: Digest,
    time: i64,
    to: BTreeSet<u32>,
}

/// Follows the user messages of every connection.
#[derive(Debug, Default)]
pub struct FanOut {
    connections: BTreeMap<u32, Connection>,
    messages: VecDeque<Message>,
    next: u64,
    now: i64,
}

impl Overview for FanOut {
    fn observe(&mut self, stream: u32, message: &Observed<'_>, findings: &mut Findings) {
        self.now = self.now.max(message.time);
        let known = self.connections.contains_key(&stream);
        match (message.method, message.envelope.kind) {
            (Some("initialize"), MessageKind::Request) if known || self.connections.len() < MAX_CONNECTIONS => {
                let client = digest(&message.content["clientInfo"]);
                self.connections.insert(stream, Connection { client, ..Connection::default() });
            }
            (Some("initialize"), MessageKind::Result) => {
                if let Some(connection) = self.connections.get_mut(&stream) {
                    connection.server = digest(&message.content["serverInfo"]);
                }
            }
            (Some(USER_MESSAGE), MessageKind::Request | MessageKind::Notification)
                if known && is_subscribed(message.declared) =>
            {
                self.judge(stream, self.now, findings);
                self.note_sent(stream, message);
            }
            (Some(USER_MESSAGE), MessageKind::Result)
            | (Some(CONTEXT), MessageKind::Notification | MessageKind::Request) => {
                if let Some(connection) = self.connections.get_mut(&stream) {
                    connection.answers = true;
                }
            }
            _ => {}
        }
    }

    fn leave(&mut self, stream: u32, time: i64) {
        if let Some(connection) = self.connections.get_mut(&stream) {
            connection.left = connection.left.or(Some(time));
        }
    }

    fn finish(&mut self, stream: u32, findings: &mut Findings) {
        self.judge(stream, self.now, findings);
    }
}

impl FanOut {
    fn note_sent(&mut self, stream: u32, message: &Observed<'_>) {
        let Some(connection) = self.connections.get_mut(&stream) else { return };
        let Some(id) = message.content["messageId"].as_str() else { return };
        let (client, content) = (connection.client, digest(&message.content["content"]));
        connection.answers = false;
        let same = |other: &&mut Message| other.id == id && other.content == content && other.client == client;
        if let Some(found) = self.messages.iter_mut().rev().find(same) {
            found.to.insert(stream);
            let number = found.number;
            for &other in found.to.iter().filter(|other| **other != stream) {
                connection.companions.insert(other);
            }
            connection.next.get_or_insert(number + 1);
            let to = found.to.clone();
            for other in to {
                if let Some(connection) = self.connections.get_mut(&other).filter(|_| other != stream) {
                    connection.companions.insert(stream);
                }
            }
            return;
        }
        let number = self.next;
        self.next += 1;
        connection.next.get_or_insert(number + 1);
        let (seq, id, time, to) = (message.seq, id.to_owned(), message.time, BTreeSet::from([stream]));
        self.messages.push_back(Message { number, seq, id, content, client, time, to });
        if self.messages.len() > MAX_MESSAGES {
            self.messages.pop_front();
        }
    }

    /// Judges the messages that are over and that the connection was not judged by yet.
    fn judge(&mut self, stream: u32, now: i64, findings: &mut Findings) {
        let Some(connection) = self.connections.get(&stream) else { return };
        let Some(from) = connection.next else { return };
        let end = connection.left.unwrap_or(i64::MAX).min(now);
        let over = |message: &&Message| message.number >= from && message.time.saturating_add(FAN_OUT) < end;
        let of_host = |other: &u32| {
            self.connections.get(other).is_some_and(|other| other.server != connection.server)
                || connection.companions.contains(other)
        };
        let mut judged = from;
        for message in self.messages.iter().filter(over).filter(|message| message.client == connection.client) {
            judged = message.number + 1;
            let reached = message.to.contains(&stream);
            let others = message.to.iter().filter(|other| **other != stream && of_host(other)).count();
            if others > 0 && (reached || connection.answers) {
                findings.check(&NOT_FANNED_OUT, message.seq, reached, || {
                    format!("message {:?} went to {others} servers of this host and not to this one", message.id)
                });
            }
        }
        if let Some(connection) = self.connections.get_mut(&stream) {
            connection.next = Some(judged);
        }
    }
}
