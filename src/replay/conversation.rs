//! The messages of each session in a reel, with the response to each request.

use super::substitute::Substitutions;
use crate::session::reading::{Reading, Response, Role, Said};
use crate::trace::{Event, EventHeader, EventKind};
use crate::wire::{Direction, Envelope, Framing, IdKey, MessageKind, json};
use std::collections::BTreeMap;

/// One message, or one line that is not a message.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// The header of its event.
    pub(crate) header: EventHeader,
    /// The bytes that crossed the wire.
    pub(crate) payload: Box<[u8]>,
    /// What it is.
    pub(crate) kind: MessageKind,
    /// Its method.
    pub(crate) method: Option<Box<str>>,
    /// The requests in it: one, or those of a batch.
    pub(crate) requests: Vec<Request>,
    /// The entries whose requests it answers, and which of their requests.
    pub(crate) answers: Vec<(usize, usize)>,
}

/// A request in an entry.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// Its id.
    pub id: IdKey,
    /// The entry of its response.
    pub answer: Option<usize>,
}

impl Entry {
    /// Returns the text of the message.
    pub(crate) fn body(&self) -> &[u8] {
        self.header.framing.body(&self.payload)
    }

    /// Returns the number of the event in its reel.
    pub(crate) fn seq(&self) -> u64 {
        self.header.seq
    }

    /// Returns its direction.
    pub(crate) fn direction(&self) -> Direction {
        self.header.direction()
    }

    /// Returns whether the client sent it.
    pub(crate) fn is_clients(&self) -> bool {
        self.direction() == Direction::ClientToServer
    }

    /// Returns whether it has this method.
    pub(crate) fn is(&self, method: &str) -> bool {
        self.method.as_deref() == Some(method)
    }

    /// Returns whether the side that sent it began: it is a request or a notification, not a response.
    pub(crate) fn is_initiated(&self) -> bool {
        matches!(self.kind, MessageKind::Request | MessageKind::Notification)
    }

    /// Returns its params, result or error.
    pub(crate) fn content(&self) -> Option<&[u8]> {
        let envelope = Envelope::scan(self.body());
        envelope.params.or(envelope.result).or(envelope.error)
    }

    /// Returns the entry as an event.
    pub(crate) fn event(&self) -> Event<'_> {
        Event { header: &self.header, payload: &self.payload }
    }
}

/// What a recording lost: because its file is damaged or ends too early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Loss {
    /// Whether it certainly lost something.
    pub is_certain: bool,
    /// What is wrong with it.
    pub why: String,
}

/// The messages of one session, in order.
#[derive(Clone, Debug, Default)]
pub struct Conversation {
    /// The number of its stream.
    stream: u32,
    /// Its messages.
    pub(crate) entries: Vec<Entry>,
    /// What the server wrote to its standard error: events with their bytes.
    stderr: Vec<(EventHeader, Box<[u8]>)>,
    /// What the recording lost, if it did.
    loss: Option<Loss>,
}

impl Conversation {
    /// Returns the number of its stream.
    pub(crate) fn stream(&self) -> u32 {
        self.stream
    }

    /// Returns what the recording lost, if it did.
    pub(crate) fn loss(&self) -> Option<&Loss> {
        self.loss.as_ref()
    }

    /// Notes what the recording lost.
    pub(crate) fn note_loss(&mut self, loss: Option<Loss>) {
        self.loss = loss;
    }

    /// Iterates over what the server wrote to its standard error.
    pub(crate) fn stderr(&self) -> impl Iterator<Item = Event<'_>> {
        self.stderr.iter().map(|(header, payload)| Event { header, payload })
    }

    /// Replaces values in all messages.
    pub(crate) fn substitute(&mut self, substitutions: &Substitutions) {
        for entry in &mut self.entries {
            if let Some(changed) = substitutions.apply(entry.body()) {
                entry.header.framing = Framing::Lf;
                entry.payload = changed.into();
            }
        }
    }

    /// Iterates over the client's messages.
    pub(crate) fn of_client(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.is_clients())
    }

    /// Returns the response to the only request of an entry.
    pub(crate) fn answer_of(&self, entry: &Entry) -> Option<&Entry> {
        match &entry.requests[..] {
            [request] => self.entries.get(request.answer?),
            _ => None,
        }
    }
}

/// Collects the sessions of a reel.
#[derive(Debug, Default)]
pub struct Conversations {
    sessions: BTreeMap<u32, Conversation>,
    /// The requests: each is one of an entry.
    reading: Reading<(usize, usize)>,
}

impl Conversations {
    /// Processes the next event.
    pub fn take(&mut self, event: &Event<'_>) {
        match event.header.kind {
            EventKind::Message => {}
            EventKind::Stderr => {
                let session = self.sessions.entry(event.header.stream).or_default();
                return session.stderr.push((event.header.clone(), event.payload.into()));
            }
            _ => return self.reading.event(event, |_, _| {}),
        }
        let envelope = Envelope::scan(event.body());
        if envelope.kind == MessageKind::Blank {
            return;
        }
        let stream = event.header.stream;
        let session = self.sessions.entry(stream).or_default();
        session.stream = stream;
        let mut entry = Entry {
            header: event.header.clone(),
            payload: event.payload.into(),
            kind: envelope.kind,
            method: envelope.method.as_deref().map(Into::into),
            requests: Vec::new(),
            answers: Vec::new(),
        };
        let place = session.entries.len();
        let mut pair = |envelope: &Envelope<'_>, text: &[u8]| {
            let number = entry.requests.len();
            match self.reading.message(&Said::of_envelope(event.header, envelope, Some(text)), || (place, number)) {
                Role::Request { .. } => {
                    entry.requests.extend(envelope.id.map(|id| Request { id: id.key(), answer: None }));
                }
                Role::Response(Response { request: Some(request), .. }) => entry.answers.push(request.memory),
                _ => {}
            }
        };
        match envelope.kind {
            MessageKind::Batch => json::items(event.body()).for_each(|item| pair(&Envelope::scan(item), item)),
            _ => pair(&envelope, event.body()),
        }
        for (asked, number) in &entry.answers {
            let request = session.entries.get_mut(*asked).and_then(|asked| asked.requests.get_mut(*number));
            if let Some(request) = request {
                request.answer = Some(place);
            }
        }
        session.entries.push(entry);
    }

    /// Returns the sessions in which the client sent something.
    pub fn finish(self) -> Vec<Conversation> {
        self.sessions.into_values().filter(|session| session.of_client().next().is_some()).collect()
    }
}
