//! Replays every message of a reel as observers see it: in order for each connection, responses with their requests.
//! Never judges whether a message is correct.

use super::Tracker;
use crate::proposals::{Observed, PendingRequest};
use crate::trace::{Event, EventHeader, EventKind, Opened};
use crate::wire::{Envelope, MessageKind, json, tree};
use serde_json::Value;
use std::collections::BTreeMap;

/// One connection.
#[derive(Debug, Default)]
struct Connection {
    tracker: Tracker,
    /// The name that the host gives the server.
    named: Option<String>,
    /// The name that the server gives itself.
    own_name: Option<String>,
}

/// Follows all connections of a reel. Memory is bounded by the number of open requests.
#[derive(Debug, Default)]
pub(crate) struct MessageReplay {
    connections: BTreeMap<u32, Connection>,
    left_out: LeftOut,
}

/// How much of a reel was not followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// The number of events on connections that are not followed because there are too many.
    pub events: u64,
    /// The number of messages of which only the envelope was read because they have too many values.
    pub messages: u64,
}

/// The maximum number of connections that are followed.
pub(crate) const MAX_CONNECTIONS: usize = 1000;

impl MessageReplay {
    /// Returns what was ignored because there was too much of it.
    pub(crate) fn left_out(&self) -> LeftOut {
        self.left_out
    }

    /// Processes the next event. Each message in it is passed to `see`, with the number of its stream.
    pub(crate) fn take(&mut self, event: &Event<'_>, mut see: impl FnMut(u32, &Observed<'_>)) {
        let stream = event.header.stream;
        if self.connections.len() >= MAX_CONNECTIONS && !self.connections.contains_key(&stream) {
            self.left_out.events += 1;
            return;
        }
        match event.header.kind {
            EventKind::StreamOpened => {
                if let Some(name) = Opened::read(event.payload).server {
                    self.connections.entry(stream).or_default().named = Some(name);
                }
            }
            EventKind::Message => {
                let connection = self.connections.entry(stream).or_default();
                let (body, header) = (event.body(), event.header);
                let mut take = |text: &[u8]| {
                    self.left_out.messages += u64::from(tree::fits(text).is_err());
                    connection.take(header, text, |it| see(stream, it));
                };
                match Envelope::scan(body).kind {
                    MessageKind::Batch => json::items(body).for_each(take),
                    _ => take(body),
                }
            }
            EventKind::Transport | EventKind::Gap => {
                self.connections.get_mut(&stream).into_iter().for_each(|connection| connection.tracker.event(event));
            }
            _ => {}
        }
    }

    /// Returns the name of a connection's server: the host's name for it, else its own, else its stream number.
    pub(crate) fn server(&self, stream: u32) -> String {
        let connection = self.connections.get(&stream);
        let name = connection.and_then(|it| it.named.as_ref().or(it.own_name.as_ref())).cloned();
        name.unwrap_or_else(|| format!("stream {stream}"))
    }

    /// Returns the requests without a response, each with its stream, oldest first.
    pub(crate) fn unanswered(&self) -> Vec<(u32, &PendingRequest)> {
        let mut open: Vec<(u32, &PendingRequest)> = Vec::new();
        for (stream, asked) in self.connections.iter().map(|(stream, it)| (*stream, it.tracker.unanswered())) {
            open.extend(asked.into_iter().map(|asked| (stream, asked)));
        }
        open.sort_by_key(|(_, asked)| asked.seq);
        open
    }
}

impl Connection {
    fn take(&mut self, header: &EventHeader, text: &[u8], see: impl FnOnce(&Observed<'_>)) {
        let EventHeader { seq, time, exchange, .. } = *header;
        let direction = header.direction();
        let envelope = Envelope::scan(text);
        let whole = json::value_of(text);
        let content = ["params", "result", "error"].iter().find_map(|name| whole.get(name)).unwrap_or(&Value::Null);
        self.tracker.carried_by(exchange);
        let step = self.tracker.take(seq, time, direction, &envelope, content);
        let request = step.request.as_ref();
        let method = request.map(|asked| asked.method.as_str()).or(envelope.method.as_deref());
        if method == Some("initialize") && envelope.kind == MessageKind::Result {
            self.own_name = content["serverInfo"]["name"].as_str().map(str::to_owned);
        }
        let declared = &self.tracker.declared;
        let (envelope, whole) = (&envelope, &whole);
        see(&Observed { seq, time, direction, envelope, method, content, request, declared, whole, exchange });
    }
}
