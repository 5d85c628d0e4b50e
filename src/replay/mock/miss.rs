//! Why a request has no recorded answer: it was never recorded, it was and is used up, or it got no answer.

use super::library::{Exchange, Library, Place, Traits};
use super::matching::RequestKeys;
use crate::protocol::methods;
use crate::wire::Envelope;
use crate::wire::text::{counted, excerpt, visible_text};
use serde_json::{Value, json};
use std::fmt::Write;

/// The kind of a miss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MissKind {
    /// No such request was recorded.
    NeverRecorded,
    /// All such requests were served already.
    UsedUp,
    /// The recorded server did not answer it.
    Unanswered,
}

impl MissKind {
    /// Returns its name in JSON.
    fn name(self) -> &'static str {
        match self {
            Self::NeverRecorded => "never-recorded",
            Self::UsedUp => "used-up",
            Self::Unanswered => "unanswered",
        }
    }
}

/// A request without a recorded answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Miss {
    /// Why.
    pub kind: MissKind,
    /// What was asked for and why there is no answer, in one sentence.
    pub message: String,
    /// Its method.
    method: String,
    /// The most similar recorded request.
    closest: Option<Place>,
}

/// At most this many recorded requests are compared with one that was not recorded.
const MAX_COMPARED: usize = 32;
/// At most this many differences are named.
const MAX_NAMED: usize = 3;
/// The maximum length of a value in a message, in characters.
const WIDEST: usize = 60;

impl Miss {
    /// A request that was never recorded; names the closest one and the difference.
    pub(super) fn never_recorded(library: &Library, message: &[u8]) -> Self {
        let envelope = Envelope::scan(message);
        let method = envelope.method.as_deref().unwrap_or_default();
        let asked = label(method, envelope.params);
        let (_, kin) = library.keys.of(&envelope);
        let miss = |closest, why: String| Self {
            kind: MissKind::NeverRecorded,
            message: format!("never recorded: {asked}; {why}"),
            method: method.to_owned(),
            closest,
        };
        let Some(number) = library.method(method) else {
            return miss(None, format!("the recording contains {}", listed(&library.called())));
        };
        let of_method =
            || library.exchanges.iter().filter(|one| one.method == number && !one.has(Traits::IS_OF_HEADERS));
        let kindred = || of_method().filter(|one| one.kin == kin);
        let of = match kindred().nth(MAX_COMPARED) {
            Some(_) => format!(" of the first {MAX_COMPARED}"),
            None => String::new(),
        };
        let compared =
            kindred().take(MAX_COMPARED).map(|one| (library.place(one.request), differences(library, one, message)));
        match compared.min_by_key(|(_, found)| found.len()) {
            Some((place, found)) => {
                let shown: Vec<&str> = found.iter().take(MAX_NAMED).map(String::as_str).collect();
                let more = found.len().checked_sub(MAX_NAMED).filter(|more| *more > 0);
                let more =
                    more.map(|more| format!(", and at {}", counted(more as u64, "other place"))).unwrap_or_default();
                miss(Some(place), format!("the closest{of} is {place}, which differs at {}{more}", shown.join(", ")))
            }
            None => {
                let mut labels: Vec<String> = of_method().take(MAX_COMPARED).map(|one| one.label(library)).collect();
                labels.sort_unstable();
                labels.dedup();
                let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
                miss(
                    of_method().next().map(|one| library.place(one.request)),
                    format!("the recording contains {}", listed(&labels)),
                )
            }
        }
    }

    /// A request that was recorded with other values: the one at this place stands for another recorded one.
    pub(super) fn other_value(
        library: &Library,
        exchange: &Exchange,
        (message, keys): (&[u8], &RequestKeys),
        place: usize,
    ) -> Self {
        let envelope = Envelope::scan(message);
        let method = envelope.method.as_deref().unwrap_or_default();
        let (label, closest) = (label(method, envelope.params), library.place(exchange.request));
        let recorded = library.keys.value_text(&library.request(exchange), place);
        let (asked, recorded) = (excerpt(&keys.value_text(message, place), WIDEST), excerpt(&recorded, WIDEST));
        let message = format!(
            "never recorded: {label}; the closest is {closest}, with {recorded} in the place of {asked}, but one of them has \
             another partner in this session"
        );
        Self { kind: MissKind::NeverRecorded, message, method: method.to_owned(), closest: Some(closest) }
    }

    /// A request that was recorded, and served as often as it was.
    pub(super) fn used_up(library: &Library, exchanges: &[u32], message: &[u8]) -> Self {
        let envelope = Envelope::scan(message);
        let method = envelope.method.as_deref().unwrap_or_default();
        let first = library.place(exchanges.first().map_or(0, |first| library.exchanges[*first as usize].request));
        let (asked, times) = (label(method, envelope.params), counted(exchanges.len() as u64, "time"));
        let message = format!("used up: {asked} was recorded {times} (first at {first}), and all of that was served");
        Self { kind: MissKind::UsedUp, message, method: method.to_owned(), closest: Some(first) }
    }

    /// A request that came out of order.
    pub(super) fn out_of_order(library: &Library, next: Option<&Exchange>, message: &[u8]) -> Self {
        let envelope = Envelope::scan(message);
        let method = envelope.method.as_deref().unwrap_or_default();
        let asked = label(method, envelope.params);
        let (kind, text) = match next {
            None => (MissKind::UsedUp, format!("used up: {asked} comes after the end of the recording")),
            Some(next) => {
                let (expected, place) = (next.label(library), library.place(next.request));
                let text = format!(
                    "never recorded: {asked} at this position; the next recorded request is {expected} ({place})"
                );
                (MissKind::NeverRecorded, text)
            }
        };
        Self { kind, message: text, method: method.to_owned(), closest: next.map(|next| library.place(next.request)) }
    }

    /// A request that the recorded server did not answer.
    pub(super) fn unanswered(library: &Library, exchange: &Exchange, message: &[u8]) -> Self {
        let envelope = Envelope::scan(message);
        let method = envelope.method.as_deref().unwrap_or_default();
        let asked = label(method, envelope.params);
        let place = library.place(exchange.request);
        let message = format!("recorded without an answer: {asked} ({place})");
        Self { kind: MissKind::Unanswered, message, method: method.to_owned(), closest: Some(place) }
    }

    /// Returns the miss as a JSON object, which is also the data of the error that the client gets.
    pub(crate) fn to_json(&self) -> Value {
        let (seq, message) = (self.closest.map(|place| place.seq), &self.message);
        let mut miss = json!({"kind": self.kind.name(), "method": self.method, "closest_seq": seq, "message": message});
        if let Some(reel) = self.closest.and_then(|place| place.reel) {
            miss["closest_reel"] = reel.into();
        }
        miss
    }
}

impl Exchange {
    /// Returns the method and subject of its request.
    pub(super) fn label(&self, library: &Library) -> String {
        let text = library.request(self);
        let envelope = Envelope::scan(&text);
        label(envelope.method.as_deref().unwrap_or_default(), envelope.params)
    }
}

fn label(method: &str, params: Option<&[u8]>) -> String {
    let spec = crate::proposals::method_spec(method);
    let method = visible_text(method);
    match params.and_then(|params| methods::subject(spec?, params)) {
        Some(subject) => format!("{method} {}", excerpt(&subject, WIDEST)),
        None => method,
    }
}

fn listed(names: &[&str]) -> String {
    match names {
        [] => "no requests".to_owned(),
        names if names.len() > 8 => format!("{} and {} more", names[..8].join(", "), names.len() - 8),
        names => names.join(", "),
    }
}

/// Returns the places at which a request differs from a recorded one, with both values.
fn differences(library: &Library, exchange: &Exchange, message: &[u8]) -> Vec<String> {
    let recorded = library.request(exchange);
    let found = library.keys.changes(&Envelope::scan(&recorded), &Envelope::scan(message));
    let changes = found.iter().map(|change| {
        let mut text = format!("/{}{}", change.side.name(), change.place);
        let short = |value: &Option<String>| value.as_deref().map(|value| excerpt(value, WIDEST));
        let _ = match (short(&change.left), short(&change.right)) {
            (Some(recorded), Some(asked)) => write!(text, ": {recorded} was recorded, not {asked}"),
            (Some(recorded), None) => write!(text, ": {recorded} is missing"),
            (None, Some(asked)) => write!(text, ": {asked} was not recorded"),
            (None, None) => Ok(()),
        };
        text
    });
    changes.collect()
}
