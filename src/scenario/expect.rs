//! Expectations: whether something observed matches, and if not, how close it comes and what differs.
//!
//! Never: when an expectation is decided (see `judge`).

use super::format::TextPosition;
use super::pairs::About;
use super::plan::{fill, fill_value};
use crate::host::engine::OrderResult;
use crate::host::prompt::{Prompt, PromptPart};
use crate::proposals::clip;
use crate::proposals::host::{HostEvent, ServerId};
use crate::session::filter::{Filter, FilterInput};
use crate::trace::{EventHeader, EventKind, Flags, MessageHeader, RecordedId};
use crate::wire::{Direction, Envelope, Framing, MessageKind, json, tree};
use globset::GlobMatcher;
use serde_json::Value;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::time::Duration;

/// How much of an observation a report shows, in bytes.
const SHOWN: usize = 240;

/// One expectation.
#[derive(Clone, Debug)]
pub(super) struct Expectation {
    pub place: TextPosition,
    pub id: Option<String>,
    /// A description in words.
    pub what: String,
    pub want: Want,
    pub bound: Bound,
    pub within: Option<Duration>,
    /// The index of the expectation that must be met first.
    pub after: Option<usize>,
}

/// The required count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    AtLeast(u64),
    Exactly(u64),
    Never,
}

#[derive(Clone, Debug)]
pub(super) enum Want {
    Message(Box<WantMessage>),
    Prompt(WantPrompt),
    HostEvent(WantHostEvent),
    Result(WantResult),
    /// Whether no rule may be broken; decided by the runner at the end.
    Validates(bool),
}

#[derive(Clone, Debug, Default)]
pub(super) struct WantMessage {
    pub server: Option<ServerId>,
    pub direction: Option<Direction>,
    pub method: Option<GlobMatcher>,
    pub kind: Option<MessageKind>,
    pub content: Option<Value>,
    pub pointer: Vec<(String, Value)>,
    pub filter: Option<Filter>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct WantPrompt {
    pub turn: Option<u64>,
    pub round: Option<u64>,
    pub server: Option<String>,
    pub slot: Option<String>,
    pub contains: Option<String>,
    pub lacks: Option<String>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct WantHostEvent {
    pub proposal: Option<String>,
    pub what: Option<String>,
    pub server: Option<ServerId>,
    pub contains: Option<String>,
    pub data: Option<Value>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct WantResult {
    pub pointer: String,
    pub equals: Option<Value>,
    pub contains: Option<String>,
    pub lacks: Option<String>,
}

/// Something observed, ready to be compared.
pub(super) enum Sight<'a> {
    Message(Message<'a>),
    Prompt(&'a Prompt),
    HostEvent(&'a HostEvent),
    Result(&'a Value),
}

/// A message with its context.
pub(super) struct Message<'a> {
    pub at: Duration,
    pub server: ServerId,
    pub direction: Direction,
    pub bytes: &'a [u8],
    pub envelope: &'a Envelope<'a>,
    pub about: &'a About,
    pub content: OnceCell<Value>,
}

/// Why an observation does not match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Miss {
    /// How close it comes; higher is closer, and 0 is something entirely different.
    pub near: u32,
    pub why: String,
    /// It must not occur, so the expectation fails.
    pub breaks: bool,
}

fn miss(near: u32, why: impl Into<String>) -> Result<(), Miss> {
    Err(Miss { near, why: why.into(), breaks: false })
}

impl Expectation {
    /// Whether the messages of this server's connection are enough to decide it.
    pub(super) fn is_about_messages_of(&self, server: ServerId) -> bool {
        matches!(&self.want, Want::Message(want) if want.server.is_none_or(|of| of == server))
    }
}

impl Want {
    /// The expectation with the count of the repetition filled in.
    pub(super) fn filled(&self, n: u64) -> Self {
        let text = |text: &Option<String>| text.as_ref().map(|text| fill(text, n));
        let value = |value: &Option<Value>| value.as_ref().map(|value| fill_value(value, n));
        match self {
            Self::Message(want) => {
                let pointer = want.pointer.iter().map(|(at, value)| (at.clone(), fill_value(value, n))).collect();
                let filled = WantMessage { content: value(&want.content), pointer, ..(**want).clone() };
                Self::Message(Box::new(filled))
            }
            Self::Prompt(want) => {
                let (contains, lacks) = (text(&want.contains), text(&want.lacks));
                Self::Prompt(WantPrompt { contains, lacks, ..want.clone() })
            }
            Self::HostEvent(want) => {
                let (contains, data) = (text(&want.contains), value(&want.data));
                Self::HostEvent(WantHostEvent { contains, data, ..want.clone() })
            }
            Self::Result(want) => {
                let (contains, lacks) = (text(&want.contains), text(&want.lacks));
                Self::Result(WantResult { equals: value(&want.equals), contains, lacks, ..want.clone() })
            }
            Self::Validates(is_clean) => Self::Validates(*is_clean),
        }
    }

    /// Whether this kind of observation concerns it.
    pub(super) fn is_about(&self, sight: &Sight<'_>) -> bool {
        matches!(
            (self, sight),
            (Self::Message(_), Sight::Message(_))
                | (Self::Prompt(_), Sight::Prompt(_))
                | (Self::HostEvent(_), Sight::HostEvent(_))
                | (Self::Result(_), Sight::Result(_))
        )
    }

    /// Compares it with an observation.
    ///
    /// # Errors
    ///
    /// The first difference.
    pub(super) fn fits(&self, sight: &Sight<'_>) -> Result<(), Miss> {
        match (self, sight) {
            (Self::Message(want), Sight::Message(message)) => want.fits(message),
            (Self::Prompt(want), Sight::Prompt(prompt)) => want.fits(prompt),
            (Self::HostEvent(want), Sight::HostEvent(event)) => want.fits(event),
            (Self::Result(want), Sight::Result(value)) => want.fits(value),
            _ => miss(0, ""),
        }
    }

    /// Whether a match may still arrive after the action is over.
    pub(super) fn may_follow(&self) -> bool {
        matches!(self, Self::Message(_) | Self::HostEvent(_))
    }
}

impl WantMessage {
    fn fits(&self, message: &Message<'_>) -> Result<(), Miss> {
        let method = message.about.method.as_deref();
        if let Some(glob) = self.method.as_ref().filter(|glob| !method.is_some_and(|method| glob.is_match(method))) {
            return miss(0, format!("its method is {}, not {}", method.unwrap_or("none"), glob.glob()));
        }
        if self.server.is_some_and(|server| server != message.server) {
            return miss(1, "it is on another server's connection");
        }
        if let Some(wanted) = self.direction.filter(|direction| *direction != message.direction) {
            return miss(2, format!("its direction is {}, not {}", message.direction.short(), wanted.short()));
        }
        if let Some(wanted) = self.kind.filter(|kind| *kind != message.envelope.kind) {
            return miss(3, format!("it is a {}, not a {}", message.envelope.kind.name(), wanted.name()));
        }
        if self.filter.as_ref().is_some_and(|filter| !message.passes(filter)) {
            return miss(4, "it does not match the filter");
        }
        let looks_inside = self.content.is_some() || !self.pointer.is_empty();
        if let Some(Err(too_large)) = message.envelope.content().filter(|_| looks_inside).map(tree::fits) {
            return miss(5, too_large.to_string());
        }
        for (pointer, wanted) in &self.pointer {
            match message.content().pointer(pointer) {
                None => return miss(5, format!("there is nothing at {pointer}")),
                Some(found) => same(wanted, found, pointer).or_else(|why| miss(6, why))?,
            }
        }
        match &self.content {
            Some(wanted) => part_of(wanted, message.content(), &mut String::new()).or_else(|why| miss(7, why)),
            None => Ok(()),
        }
    }
}

impl Message<'_> {
    fn content(&self) -> &Value {
        self.content.get_or_init(|| self.envelope.content().map(json::value_of).unwrap_or_default())
    }

    fn passes(&self, filter: &Filter) -> bool {
        let id = self.envelope.id.map(|id| match id.as_integer() {
            Some(number) => RecordedId::Integer(number),
            None => RecordedId::Text(id.0.into()),
        });
        let flags = Flags::toward(self.direction);
        let header = EventHeader {
            seq: 0,
            time: nanos(self.at),
            stream: u32::try_from(self.server.0).unwrap_or(u32::MAX),
            exchange: 0,
            kind: EventKind::Message,
            flags: if self.envelope.tool_error { flags.with(Flags::TOOL_ERROR) } else { flags },
            framing: Framing::Lf,
            len: u32::try_from(self.bytes.len()).unwrap_or(u32::MAX),
            offset: 0,
            message: Some(MessageHeader { kind: self.envelope.kind, method: None, id }),
        };
        let input = FilterInput {
            method: self.about.method.as_deref(),
            latency: self.about.latency.map(nanos),
            tool: self.about.tool.as_deref(),
            body: Some(self.bytes),
            ..FilterInput::of(&header)
        };
        filter.decide(&input) == Some(true)
    }
}

fn nanos(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}

impl WantPrompt {
    fn fits(&self, prompt: &Prompt) -> Result<(), Miss> {
        if let Some(turn) = self.turn.filter(|turn| *turn != prompt.turn) {
            return miss(0, format!("it belongs to turn {}, not {turn}", prompt.turn));
        }
        if let Some(round) = self.round.filter(|round| *round != prompt.round) {
            return miss(1, format!("it is prompt {} of its turn, not {round}", prompt.round));
        }
        let has = |text: &str| self.parts(prompt).any(|part| part.text.contains(text));
        if let Some(text) = self.lacks.as_ref().filter(|text| has(text)) {
            return Err(Miss { near: 4, why: format!("it contains {text:?}"), breaks: true });
        }
        if (self.server.is_some() || self.slot.is_some()) && self.lacks.is_none() && self.parts(prompt).next().is_none()
        {
            return miss(2, "nothing in it is from that server or slot");
        }
        match self.contains.as_ref().filter(|text| !has(text)) {
            Some(text) => miss(3, format!("it does not contain {text:?}")),
            None => Ok(()),
        }
    }

    /// The parts of the prompt to compare.
    fn parts<'a>(&'a self, prompt: &'a Prompt) -> impl Iterator<Item = &'a PromptPart> {
        prompt.parts.iter().filter(|part| {
            let origin = part.origin.as_ref();
            let is_from =
                self.server.as_ref().is_none_or(|server| origin.is_some_and(|origin| origin.server == *server));
            is_from && self.slot.as_ref().is_none_or(|slot| origin.is_some_and(|origin| origin.slot == *slot))
        })
    }
}

impl WantHostEvent {
    fn fits(&self, event: &HostEvent) -> Result<(), Miss> {
        if let Some(what) = self.what.as_ref().filter(|what| **what != event.what) {
            return miss(0, format!("it reports {:?}, not {what:?}", event.what));
        }
        if let Some(proposal) = self.proposal.as_ref().filter(|proposal| **proposal != event.proposal) {
            return miss(0, format!("it is reported by {}, not {proposal}", event.proposal));
        }
        if self.server.is_some() && self.server != event.server {
            return miss(1, "it concerns another server");
        }
        if let Some(text) = self.contains.as_ref().filter(|text| !event.text.contains(*text)) {
            return miss(2, format!("its text does not contain {text:?}"));
        }
        match &self.data {
            Some(wanted) => part_of(wanted, &event.data, &mut String::new()).or_else(|why| miss(3, why)),
            None => Ok(()),
        }
    }
}

impl WantResult {
    fn fits(&self, value: &Value) -> Result<(), Miss> {
        let Some(found) = value.pointer(&self.pointer) else {
            return miss(1, format!("there is nothing at {}", self.pointer));
        };
        if let Some(wanted) = &self.equals {
            same(wanted, found, &self.pointer).or_else(|why| miss(2, why))?;
        }
        let text: Cow<'_, str> = match found {
            Value::String(text) => text.into(),
            other => other.to_string().into(),
        };
        if let Some(wanted) = self.contains.as_ref().filter(|wanted| !text.contains(*wanted)) {
            return miss(2, format!("it does not contain {wanted:?}"));
        }
        match self.lacks.as_ref().filter(|wanted| text.contains(*wanted)) {
            Some(wanted) => Err(Miss { near: 3, why: format!("it contains {wanted:?}"), breaks: true }),
            None => Ok(()),
        }
    }
}

impl Want {
    /// The observation for a report: its beginning, or the place with what it must not contain.
    pub(super) fn shown(&self, sight: &Sight<'_>) -> String {
        if let (Self::Prompt(want), Sight::Prompt(prompt)) = (self, sight) {
            let texts: Vec<&str> = want.parts(prompt).map(|part| part.text.as_str()).collect();
            let text = texts.join("\n");
            let found = want.lacks.as_ref().and_then(|lacked| text.find(lacked.as_str())).unwrap_or(0);
            return clip(&text[found..], SHOWN).into_owned();
        }
        sight.shown()
    }
}

impl Sight<'_> {
    fn shown(&self) -> String {
        match self {
            Self::Message(message) => {
                let text = String::from_utf8_lossy(message.bytes);
                format!("{} {}", message.direction.short(), clip(&text, SHOWN))
            }
            Self::Prompt(prompt) => clip(&prompt.to_text(), SHOWN).into_owned(),
            Self::HostEvent(event) => {
                clip(&format!("{} {}: {} {}", event.proposal, event.what, event.text, event.data), SHOWN).into_owned()
            }
            Self::Result(value) => clip(&value.to_string(), SHOWN).into_owned(),
        }
    }
}

/// The result of an order as a value; `None` if it has none.
pub(super) fn outcome(done: &OrderResult) -> Option<Value> {
    let failed = |why: &str| serde_json::json!({"error": why});
    match done {
        OrderResult::Tool(Ok(result)) => Some(result.clone()),
        OrderResult::Tool(Err(why)) | OrderResult::Failed(why) => Some(failed(why)),
        OrderResult::Answer(message) => {
            let envelope = Envelope::scan(message);
            Some(match envelope.result {
                Some(result) if tree::fits(result).is_err() => {
                    failed("the result has too many values to be read into memory")
                }
                Some(result) => json::value_of(result),
                None => serde_json::json!({"error": envelope.error.map(json::value_of)}),
            })
        }
        OrderResult::Turn { .. }
        | OrderResult::Woken { .. }
        | OrderResult::Connected
        | OrderResult::Ok
        | OrderResult::Ended => None,
    }
}

/// Compares values; numbers are compared by value.
fn same(wanted: &Value, found: &Value, place: &str) -> Result<(), String> {
    if json::same(wanted, found) {
        return Ok(());
    }
    let place = if place.is_empty() { "it" } else { place };
    Err(format!("{place} is {}, not {wanted}", clip(&found.to_string(), SHOWN)))
}

/// Checks that everything in `wanted` is in `found`: members of objects one by one, lists item by item, other values as
/// a whole.
fn part_of(wanted: &Value, found: &Value, place: &mut String) -> Result<(), String> {
    let below = |place: &mut String, name: &str, wanted: &Value, found: Option<&Value>| {
        let length = place.len();
        place.push('/');
        place.push_str(&name.replace('~', "~0").replace('/', "~1"));
        let result = match found {
            Some(found) => part_of(wanted, found, place),
            None => Err(format!("there is nothing at {place}")),
        };
        place.truncate(length);
        result
    };
    match (wanted, found) {
        (Value::Object(wanted), Value::Object(found)) => {
            wanted.iter().try_for_each(|(name, wanted)| below(place, name, wanted, found.get(name)))
        }
        (Value::Array(wanted), Value::Array(found)) if wanted.len() == found.len() => {
            let mut pairs = wanted.iter().zip(found).enumerate();
            pairs.try_for_each(|(at, (wanted, found))| below(place, &at.to_string(), wanted, Some(found)))
        }
        _ => same(wanted, found, place),
    }
}
