//! Turns an HTTP request and its response into the events that a recording would have of them.

use super::http::{Head, Sessions};
use super::reading::{Events, Place};
use crate::trace::{Closed, EventKind, Flags, TransportEvent};
use crate::wire::sse::{self, Carried, SseEvent, SseFramer};
use crate::wire::{Direction, Envelope, Framing};
use serde_json::{Value, json};

/// A request, and its response if there was one. Times are Unix nanoseconds.
pub(super) struct Exchange {
    pub started: i64,
    /// When the body of the request was sent.
    pub sent: i64,
    /// When the head of the response came.
    pub answered: i64,
    pub ended: i64,
    /// What identifies the server, for requests without a session.
    pub server: String,
    /// `{method, path, headers}` and `{status, headers}`, as [`Head`] reads them.
    pub request: Value,
    pub request_body: Vec<u8>,
    pub response: Option<Value>,
    pub response_body: Vec<u8>,
    /// The times of the events of an event stream, if they are known.
    pub event_times: EventTimes,
    /// Where the exchange belongs and how its stream began, if the file says so.
    pub own: Option<Own>,
}

/// The times of the events of a stream, in Unix nanoseconds.
pub(super) enum EventTimes {
    Unknown,
    /// Of the events that have data.
    OfData(Vec<i64>),
    /// Of all blocks.
    OfBlocks(Vec<i64>),
}

/// What mcpreel's own export says about an exchange.
pub(super) struct Own {
    pub place: Place,
    /// The stream begins with this exchange, in this way.
    pub opened: Option<Value>,
    /// The heads are in an earlier part of the exchange.
    pub is_continued: bool,
}

impl Exchange {
    /// Adds the events of the exchange.
    pub(super) fn add(&self, sessions: &mut Sessions, out: &mut Events) -> Result<(), String> {
        let head = Head::of(&self.request).ok_or("no request")?;
        out.at(self.started);
        let place = match &self.own {
            Some(own) => {
                self.open(own.place, own.opened.as_ref(), out);
                own.place
            }
            None => self.begin(&head, sessions, out),
        };
        if !self.is_continued() {
            let to_server = Flags::toward(Direction::ClientToServer);
            out.describe(place, EventKind::Transport, to_server, &head.reported());
        }
        out.at(self.sent);
        body(place, Direction::ClientToServer, &self.request_body, out);
        let answer = self.response.as_ref().and_then(Head::of);
        match answer {
            Some(head) => self.answer(place, &head, sessions, out),
            None if self.is_continued() => self.content(place, sessions, out),
            None => {}
        }
        Ok(())
    }

    fn is_continued(&self) -> bool {
        self.own.as_ref().is_some_and(|own| own.is_continued)
    }

    /// Finds the stream of a request, which it may begin.
    fn begin(&self, head: &Head, sessions: &mut Sessions, out: &mut Events) -> Place {
        let initializes = Envelope::scan(&self.request_body).method.as_deref() == Some("initialize");
        let begun = sessions.place(self.server.as_bytes(), Some(head), initializes);
        let place = Place { stream: begun.stream, exchange: begun.exchange };
        let opened = json!({"transport": "http", "url": self.server});
        self.open(place, begun.opens.then_some(&opened), out);
        place
    }

    fn open(&self, place: Place, opened: Option<&Value>, out: &mut Events) {
        if let Some(opened) = opened {
            out.describe(place, EventKind::StreamOpened, Flags::default(), opened);
        }
    }

    fn answer(&self, asked: Place, head: &Head, sessions: &mut Sessions, out: &mut Events) {
        let (mut place, mut closes) = (asked, false);
        if self.own.is_none() {
            let found = sessions.place(self.server.as_bytes(), Some(head), false);
            (place.stream, closes) = (found.stream, found.closes);
        }
        out.at(self.answered);
        let failed = if head.has_failed() { Flags::FAILED } else { Flags::default() };
        let flags = Flags::toward(Direction::ServerToClient).with(failed);
        out.describe(place, EventKind::Transport, flags, &head.reported());
        match head.is_event_stream() {
            true => self.events(place, sessions, out),
            false => self.content(place, sessions, out),
        }
        if closes {
            out.describe(place, EventKind::StreamClosed, Flags::default(), &Closed::by("DELETE"));
        }
    }

    /// Adds the body of a response.
    fn content(&self, place: Place, sessions: &mut Sessions, out: &mut Events) {
        if matches!(self.event_times, EventTimes::OfBlocks(_)) {
            return self.events(place, sessions, out);
        }
        out.at(self.ended);
        body(place, Direction::ServerToClient, &self.response_body, out);
    }

    fn events(&self, place: Place, sessions: &mut Sessions, out: &mut Events) {
        let mut framer = SseFramer::default();
        let mut blocks = Vec::new();
        framer.push(&self.response_body, |block| blocks.push(block.into_owned()));
        framer.finish(|block| blocks.push(block.into_owned()));
        let (times, of_all) = match &self.event_times {
            EventTimes::Unknown => (&[][..], false),
            EventTimes::OfData(times) => (&times[..], false),
            EventTimes::OfBlocks(times) => (&times[..], true),
        };
        let mut times = times.iter();
        for block in blocks {
            let has_time = of_all || sse::data_lines(&block).next().is_some();
            let time = if has_time { times.next() } else { None };
            out.at(time.copied().unwrap_or(self.ended));
            event(place, block, |endpoint| sessions.hand_out(self.server.as_bytes(), endpoint), out);
        }
    }
}

/// Adds the block of an event stream: a message, or an event of the transport. `endpoint` gets what HTTP+SSE announces.
pub(super) fn event(place: Place, block: Vec<u8>, endpoint: impl FnOnce(&str), out: &mut Events) {
    let joined = match sse::carried(&block) {
        Carried::Message(_) => return out.message(place, Direction::ServerToClient, Framing::Sse, block),
        Carried::Joined(message) => Some(message),
        Carried::Nothing => None,
    };
    let parsed = SseEvent::parse(&block);
    if parsed.event.as_deref() == Some("endpoint")
        && let Some(data) = &parsed.data
    {
        endpoint(&String::from_utf8_lossy(data));
    }
    let text = String::from_utf8_lossy(&block).into_owned();
    let described = TransportEvent::Sse { block: text, joined: joined.is_some() };
    out.describe(place, EventKind::Transport, Flags::toward(Direction::ServerToClient), &described);
    if let Some(message) = joined {
        out.message(place, Direction::ServerToClient, Framing::Whole, message);
    }
}

/// Adds a body: a message, or an event of the transport if it is not one.
fn body(place: Place, direction: Direction, body: &[u8], out: &mut Events) {
    if body.is_empty() {
        return;
    }
    if matches!(body.trim_ascii_start().first(), Some(b'{' | b'[')) {
        return out.message(place, direction, Framing::Whole, body.to_vec());
    }
    other_body(place, direction, body, out);
}

/// Adds a body that is not a message.
pub(super) fn other_body(place: Place, direction: Direction, body: &[u8], out: &mut Events) {
    let text = String::from_utf8_lossy(body).into_owned();
    let described = TransportEvent::Body { bytes: body.len() as u64, text };
    out.describe(place, EventKind::Transport, Flags::toward(direction), &described);
}
