//! The rule that the host sends each user message to all subscribed servers, for all connections of a reel.
//!
//! A reel does not say which connections belong to the same host. They are assumed to do so if their clients have the
//! same name, and if either their servers are different programs or both received the same message. The rule is as
//! lenient as the proposal: the user may not have given consent for a server that never received a message, or may have
//! revoked it, and the host may skip a server that did not respond to its last message.

use super::rules::{NOT_FANNED_OUT, is_subscribed};
use super::{CONTEXT, USER_MESSAGE};
use crate::proposals::recent::{Digest, digest};
use crate::proposals::{ConversationEvent, Findings, Observed, Overview};
use crate::wire::MessageKind;
use crate::wire::text::counted;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The maximum number of messages that are remembered.
const MAX_MESSAGES: usize = 256;
/// The maximum number of connections. Later ones are not checked.
const MAX_CONNECTIONS: usize = 1024;
/// The time between the first and the last copy of a message, in nanoseconds.
const FAN_OUT_NS: i64 = 1_000_000_000;

/// One connection.
#[derive(Debug, Default)]
struct Connection {
    client: Digest,
    server: Digest,
    /// The number of the first message that has not been checked yet; `None` if the connection has received no message
    /// so far.
    next: Option<u64>,
    /// Whether its last message had a response other than an error.
    answers: bool,
    /// The time after which nothing is known about it.
    left: Option<i64>,
    /// Since when the user's permission has been revoked.
    revoked: Option<i64>,
    /// Connections that received a message which this one received, too; this one may be among them.
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

/// Tracks the user messages of all connections.
#[derive(Debug, Default)]
pub(super) struct FanOut {
    connections: BTreeMap<u32, Connection>,
    messages: VecDeque<Message>,
    next: u64,
    now: i64,
}

impl Overview for FanOut {
    fn observe(&mut self, stream: u32, message: &Observed<'_>, findings: &mut Findings) {
        self.now = self.now.max(message.time);
        match (message.method, message.envelope.kind) {
            (Some("initialize"), MessageKind::Request)
                if self.connections.contains_key(&stream) || self.connections.len() < MAX_CONNECTIONS =>
            {
                let client = digest(&message.content["clientInfo"]);
                self.connections.insert(stream, Connection { client, ..Connection::default() });
            }
            (Some("initialize"), MessageKind::Result) => {
                if let Some(connection) = self.connections.get_mut(&stream) {
                    connection.server = digest(&message.content["serverInfo"]);
                }
            }
            (Some(USER_MESSAGE), MessageKind::Request | MessageKind::Notification)
                if is_subscribed(message.declared) =>
            {
                self.judge(stream, self.now, findings);
                self.note_sent(stream, message);
                // What the host skipped before this message, by what the server did until now.
                self.judge(stream, self.now, findings);
                if let Some(connection) = self.connections.get_mut(&stream) {
                    connection.answers = false;
                }
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

    fn reach(&mut self, stream: u32, moment: ConversationEvent, time: i64, findings: &mut Findings) {
        self.now = self.now.max(time);
        match moment {
            ConversationEvent::Revoked => {
                if let Some(connection) = self.connections.get_mut(&stream) {
                    connection.revoked.get_or_insert(time);
                }
            }
            ConversationEvent::Granted => {
                self.judge(stream, self.now, findings);
                let next = self.next;
                if let Some(connection) = self.connections.get_mut(&stream).filter(|it| it.revoked.is_some()) {
                    connection.revoked = None;
                    // The messages in between were none of its business.
                    connection.next = connection.next.map(|_| next);
                }
            }
            _ => {}
        }
    }

    fn leave(&mut self, stream: u32, time: i64) {
        self.now = self.now.max(time);
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
        let same = |other: &&mut Message| other.id == id && other.content == content && other.client == client;
        if let Some(found) = self.messages.iter_mut().rev().find(same) {
            found.to.insert(stream);
            connection.next.get_or_insert(found.number + 1);
            connection.companions.extend(&found.to);
            for other in &found.to {
                if let Some(connection) = self.connections.get_mut(other) {
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

    /// Checks the messages that are complete and were not checked for this connection yet.
    fn judge(&mut self, stream: u32, now: i64, findings: &mut Findings) {
        let Some(connection) = self.connections.get(&stream) else { return };
        let Some(from) = connection.next else { return };
        let end = [connection.left, connection.revoked].into_iter().flatten().fold(now, i64::min);
        // A server that already has a later message was skipped.
        let latest = self.messages.iter().rev().find(|message| message.to.contains(&stream)).map(|it| it.number);
        let over = |message: &&Message| {
            let is_old = message.time.saturating_add(FAN_OUT_NS) < end;
            let was_skipped = message.time < end && latest.is_some_and(|latest| message.number < latest);
            message.number >= from && (is_old || was_skipped)
        };
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
                    let others = counted(others, "other server");
                    format!("the host sent message {:?} to {others}, but not to this one", message.id)
                });
            }
        }
        if let Some(connection) = self.connections.get_mut(&stream) {
            connection.next = Some(judged);
        }
    }
}
