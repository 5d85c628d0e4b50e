//! The index of one or more recordings: the exchanges, and what the server sent by itself. The messages stay where they
//! are; an exchange takes a few dozen bytes here.

mod builder;
mod delivery;

pub use builder::LibraryBuilder;

use super::matching::RequestKeys;
use crate::protocol::http::{Delivery, ToolMarks};
use crate::replay::Substitutions;
use crate::wire::Envelope;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Reads recorded messages.
pub(crate) trait Payloads: Send + Sync {
    /// Returns the text of the event with this number, or this part of it: a batch may have very many messages.
    fn read(&self, number: u32, part: Option<Range<usize>>) -> Option<Vec<u8>>;
}

/// Messages that are all in memory, by their numbers.
impl Payloads for HashMap<u32, Vec<u8>> {
    fn read(&self, number: u32, part: Option<Range<usize>>) -> Option<Vec<u8>> {
        copied(self.get(&number)?, part)
    }
}

/// Returns a copy of a part of a text.
pub(crate) fn copied(text: &[u8], part: Option<Range<usize>>) -> Option<Vec<u8>> {
    match part {
        Some(part) => text.get(part).map(<[u8]>::to_vec),
        None => Some(text.to_vec()),
    }
}

/// Returns a library of these messages, for tests.
pub fn in_memory(builder: LibraryBuilder, messages: HashMap<u32, Vec<u8>>) -> Arc<Library> {
    Arc::new(builder.finish(Arc::new(messages)))
}

/// No message.
const NONE: u32 = u32::MAX;

/// A message in a batch. Its number is one that no event has: they count down from [`LAST_ITEM`].
#[derive(Clone, Copy, Debug)]
struct BatchItem {
    /// The number of the event.
    event: u32,
    /// Where it is in the text of the event.
    start: usize,
    end: usize,
}

/// The number of the first message in a batch.
const LAST_ITEM: u32 = NONE - 1;

/// Returns the number of the message at this place in the list of those in batches.
fn number_of_item(place: usize) -> Option<u32> {
    LAST_ITEM.checked_sub(u32::try_from(place).ok()?)
}

/// Where a recorded message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The number of its event.
    pub seq: u32,
    /// The number of its reel, from 1, if several are served.
    pub reel: Option<usize>,
}

impl std::fmt::Display for Place {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "seq {}", self.seq)?;
        self.reel.map_or(Ok(()), |reel| write!(out, " of reel {reel}"))
    }
}

/// A request of the recorded client, with the response.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exchange {
    /// What requests that repeat it have in common.
    pub key: u64,
    /// What requests of the same method for the same subject have in common.
    pub kin: u32,
    /// The message of the request.
    pub request: u32,
    answer: u32,
    /// The microseconds from the request, or from the last of `replies`, to the response.
    pub delay_us: u32,
    /// The number of the method.
    pub method: u16,
    /// How many requests of the server the client answered before the response came, at most 255.
    pub replies: u8,
    /// What else there is to say.
    pub traits: Traits,
    /// The number of the recorded session.
    pub session: u16,
    /// The number of the way in which the server answered over HTTP.
    pub delivery: u16,
}

/// Statements about an exchange, each true or false.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Traits(u8);

impl Traits {
    /// The response is an error.
    pub(super) const IS_REFUSED: Self = Self(1);
    /// The request has a progress token, or an id that the client made.
    pub(super) const HAS_OWN_IDS: Self = Self(2);
    /// The client gave the request up, or it stays open by its nature.
    pub(super) const MAY_STAY_OPEN: Self = Self(4);
    /// The server refused the HTTP headers of the request, not the message.
    pub(super) const IS_OF_HEADERS: Self = Self(8);

    /// Returns this one if it is true.
    pub(super) fn when(self, is_true: bool) -> Self {
        if is_true { self } else { Self::default() }
    }

    /// Returns these and those.
    pub(super) fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl Exchange {
    /// Returns the message of the response.
    pub(super) fn answer(&self) -> Option<u32> {
        (self.answer != NONE).then_some(self.answer)
    }

    /// Returns whether this is true of the exchange.
    pub(super) fn has(&self, one: Traits) -> bool {
        self.traits.0 & one.0 != 0
    }
}

/// What a message of the server followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Anchor {
    /// The beginning of this recorded session.
    Start(u16),
    /// This request of the client.
    Asked(u32),
    /// The response to this request.
    Answered(u32),
    /// The client's notification in this recorded session with the method of this number: the first, the second, and so
    /// on.
    Notified(u16, u16, u32),
    /// The client's response to this message of the server.
    Replied(u32),
}

/// A request or notification of the server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Initiated {
    /// What it followed.
    pub anchor: Anchor,
    /// The message.
    pub message: u32,
    /// The microseconds since what it followed.
    pub delay_us: u32,
    /// The exchange whose response waits for the client's answer to it.
    owner: u32,
    /// Whether it is a request.
    pub is_request: bool,
}

impl Initiated {
    /// Returns the exchange whose response waits for the client's answer to this request.
    pub(super) fn owner(&self) -> Option<u32> {
        (self.owner != NONE).then_some(self.owner)
    }
}

/// The index; see the module.
pub struct Library {
    pub(super) exchanges: Vec<Exchange>,
    /// The messages in batches.
    items: Vec<BatchItem>,
    /// The exchanges in the order of their keys.
    by_key: Vec<u32>,
    pub(super) initiated: Vec<Initiated>,
    /// The messages of the server in the order of their anchors.
    by_anchor: Vec<u32>,
    pub(super) methods: Vec<Box<str>>,
    numbers: HashMap<Box<str>, u16>,
    pub(super) keys: RequestKeys,
    maps: Substitutions,
    payloads: Arc<dyn Payloads>,
    /// The number of the first message of each reel.
    firsts: Vec<u32>,
    sessions: u16,
    /// In which ways the server answered over HTTP.
    deliveries: Vec<Delivery>,
    marks: ToolMarks,
    /// For each place to ignore, whether a request had something there.
    used: Vec<bool>,
}

impl std::fmt::Debug for Library {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} exchanges, {} messages of the server", self.exchanges.len(), self.initiated.len())
    }
}

impl Library {
    /// Returns for each place to ignore whether a recorded request had something there.
    pub(crate) fn used(&self) -> &[bool] {
        &self.used
    }

    /// Returns the number of exchanges.
    pub(crate) fn len(&self) -> usize {
        self.exchanges.len()
    }

    /// Returns the number of the recorded session whose part the live session with this number plays: the first one
    /// plays the first one, and so on, and then again.
    pub(super) fn session_for(&self, live: u32) -> u16 {
        u16::try_from(live % u32::from(self.sessions.max(1))).unwrap_or_default()
    }

    /// Returns how the recorded server answered the first request that this one repeats.
    pub(crate) fn delivery(&self, request: &[u8]) -> Delivery {
        if self.deliveries.len() <= 1 {
            return Delivery::default();
        }
        let comparable = self.keys.comparable(request);
        let group = self.repeated(&Envelope::scan(comparable.as_deref().unwrap_or(request)), &self.keys);
        let delivery = group.first().map(|number| self.exchanges[*number as usize].delivery);
        delivery.and_then(|number| self.deliveries.get(usize::from(number))).copied().unwrap_or_default()
    }

    /// Returns which headers the recorded tools require over HTTP.
    pub(crate) fn marks(&self) -> &ToolMarks {
        &self.marks
    }

    /// Returns the exchanges whose requests a comparable request repeats, in the order of the recording: those that lack the
    /// same of what the modern era requires, if there are any. `keys` knows where the live client works.
    pub(super) fn repeated(&self, request: &Envelope<'_>, keys: &RequestKeys) -> &[u32] {
        let group = self.with_key(keys.of(request).0);
        match keys.without_fault(request) {
            Some(key) if group.is_empty() => self.with_key(key),
            _ => group,
        }
    }

    /// Returns the first exchange whose request lacks the same as this one of what the modern era requires.
    pub(super) fn with_fault(&self, request: &Envelope<'_>) -> Option<u32> {
        self.keys.without_fault(request)?;
        self.with_key(self.keys.of(request).0).first().copied()
    }

    /// Returns the event of a message, and the item in it if that is a batch.
    fn event_of(&self, message: u32) -> (u32, Option<&BatchItem>) {
        let item = usize::try_from(LAST_ITEM - message.min(LAST_ITEM)).ok().and_then(|place| self.items.get(place));
        (item.map_or(message, |item| item.event), item)
    }

    /// Returns where a message is.
    pub(super) fn place(&self, message: u32) -> Place {
        let (message, _) = self.event_of(message);
        let reel = self.firsts.partition_point(|first| *first <= message);
        let first = self.firsts.get(reel.saturating_sub(1)).copied().unwrap_or_default();
        Place { seq: message.saturating_sub(first), reel: (self.firsts.len() > 1).then_some(reel) }
    }

    /// Returns a recorded message.
    pub(super) fn text(&self, message: u32) -> Vec<u8> {
        let (event, item) = self.event_of(message);
        let text = self.payloads.read(event, item.map(|item| item.start..item.end)).unwrap_or_default();
        self.maps.apply(&text).unwrap_or(text)
    }

    /// Returns the request of an exchange as it is compared.
    pub(super) fn request(&self, exchange: &Exchange) -> Vec<u8> {
        let text = self.text(exchange.request);
        self.keys.comparable(&text).unwrap_or(text)
    }

    /// Returns the exchanges with this key, in the order of the recording.
    pub(super) fn with_key(&self, key: u64) -> &[u32] {
        let of = |number: &u32| self.exchanges[*number as usize].key;
        let start = self.by_key.partition_point(|number| of(number) < key);
        let length = self.by_key[start..].partition_point(|number| of(number) == key);
        &self.by_key[start..start + length]
    }

    /// Returns what the server sent after an anchor, in the order of the recording.
    pub(super) fn after(&self, anchor: Anchor) -> &[u32] {
        let of = |number: &u32| self.initiated[*number as usize].anchor;
        let start = self.by_anchor.partition_point(|number| of(number) < anchor);
        let length = self.by_anchor[start..].partition_point(|number| of(number) == anchor);
        &self.by_anchor[start..start + length]
    }

    /// Returns the method of an exchange.
    pub(super) fn called_by(&self, exchange: &Exchange) -> &str {
        &self.methods[usize::from(exchange.method)]
    }

    /// Returns the method of a message of the server.
    pub(super) fn sent_as(&self, initiated: &Initiated) -> String {
        Envelope::scan(&self.text(initiated.message)).method.unwrap_or_default().into_owned()
    }

    /// Returns whether the server sent this message of its own for a request, before it answered that.
    pub(super) fn precedes_answer(&self, initiated: u32) -> bool {
        let one = &self.initiated[initiated as usize];
        let answer = one.owner().and_then(|owner| self.exchanges[owner as usize].answer());
        let place = |message| match self.event_of(message) {
            (event, Some(item)) => (event, item.start),
            (event, None) => (event, 0),
        };
        answer.is_some_and(|answer| place(one.message) < place(answer))
    }

    /// Returns the number of a method, if it was recorded.
    pub(super) fn method(&self, name: &str) -> Option<u16> {
        self.numbers.get(name).copied()
    }

    /// Returns the first answered exchange of a method: preferably one with a result, and one of this recorded session.
    pub(super) fn first_of(&self, method: &str, session: u16) -> Option<u32> {
        let number = self.method(method)?;
        let answered = self.exchanges.iter().enumerate();
        let answered = answered
            .filter(|(_, one)| one.method == number && one.answer().is_some() && !one.has(Traits::IS_OF_HEADERS));
        let best = answered.min_by_key(|(_, one)| (one.has(Traits::IS_REFUSED), one.session != session))?;
        u32::try_from(best.0).ok()
    }

    /// Returns the requests without an answer, except for those that may stay open, with their methods.
    pub(crate) fn unanswered(&self) -> impl Iterator<Item = (Place, &str)> {
        let open = self.exchanges.iter().filter(|one| one.answer().is_none() && !one.has(Traits::MAY_STAY_OPEN));
        open.map(|one| (self.place(one.request), self.called_by(one)))
    }

    /// Returns the names of the methods that the client called.
    pub(crate) fn called(&self) -> Vec<&str> {
        let is_called = |number: usize| self.exchanges.iter().any(|one| usize::from(one.method) == number);
        let called = self.methods.iter().enumerate().filter(|(number, _)| is_called(*number));
        called.map(|(_, method)| &**method).collect()
    }
}
