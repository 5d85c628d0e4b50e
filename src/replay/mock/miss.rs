//! Why a request has no recorded answer: it was never recorded, it was and is used up, or it got no answer.

use super::library::{Exchange, Library};
use crate::protocol::methods;
use crate::wire::Envelope;
use crate::wire::text::{counted, excerpt};
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
    /// The number of the most similar recorded request.
    closest: Option<u32>,
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
        let of_method = || library.exchanges.iter().filter(|one| one.method == number);
        let kindred = of_method().filter(|one| one.kin == kin).take(MAX_COMPARED);
        let compared = kindred.map(|one| (one.request, differences(library, one, message)));
        match compared.min_by_key(|(_, found)| found.len()) {
            Some((seq, found)) => {
                let shown: Vec<&str> = found.iter().take(MAX_NAMED).map(String::as_str).collect();
                let more = found.len().checked_sub(MAX_NAMED).filter(|more| *more > 0);
                let more =
                    more.map(|more| format!(", and at {}", counted(more as u64, "other place"))).unwrap_or_default();
                miss(Some(seq), format!("the closest is seq {seq}, which differs at {}{more}", shown.join(", ")))
            }
            None => {
                let mut labels: Vec<String> = of_method().take(MAX_COMPARED).map(|one| one.label(library)).collect();
                labels.sort_unstable();
                labels.dedup();
                let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
                miss(of_method().next().map(|one| one.request), format!("the recording contains {}", listed(&labels)))
            }
        }
    }

    /// A request that was recorded with other values: the one at this place stands for another recorded one.
    pub(super) fn other_value(library: &Library, exchange: &Exchange, message: &[u8], place: usize) -> Self {
        let envelope = Envelope::scan(message);
        let method = envelope.method.as_deref().unwrap_or_default();
        let (label, seq) = (label(method, envelope.params), exchange.request);
        let text = |request: &[u8]| excerpt(&library.keys.value_text(request, place), WIDEST);
        let (asked, recorded) = (text(message), text(&library.request(exchange)));
        let message = format!(
            "never recorded: {label}; the closest is seq {seq}, with {recorded} in the place of {asked}, but one of them has \
             another partner in this session"
        );
        Self { kind: MissKind::NeverRecorded, message, method: method.to_owned(), closest: Some(seq) }
    }

    /// A request that was recorded, and served as often as it was.
    pub(super) fn used_up(library: &Library, exchanges: &[u32], message: &[u8]) -> Self {
        let envelope = Envelope::scan(message);
        let method = envelope.method.as_deref().unwrap_or_default();
        let first = exchanges.first().map(|first| library.exchanges[*first as usize].request);
        let (asked, times) = (label(method, envelope.params), counted(exchanges.len() as u64, "time"));
        let message = format!(
            "used up: {asked} was recorded {times} (first at seq {}), and served as often",
            first.unwrap_or_default()
        );
        Self { kind: MissKind::UsedUp, message, method: method.to_owned(), closest: first }
    }

    /// A request that came out of order.
    pub(super) fn out_of_order(library: &Library, next: Option<&Exchange>, message: &[u8]) -> Self {
        let envelope = Envelope::scan(message);
        let method = envelope.method.as_deref().unwrap_or_default();
        let asked = label(method, envelope.params);
        let (kind, text) = match next {
            None => (MissKind::UsedUp, format!("used up: {asked} comes after the end of the recording")),
            Some(next) => {
                let (expected, seq) = (next.label(library), next.request);
                let text = format!(
                    "never recorded: {asked} at this position; the next recorded request is {expected} (seq {seq})"
                );
                (MissKind::NeverRecorded, text)
            }
        };
        Self { kind, message: text, method: method.to_owned(), closest: next.map(|next| next.request) }
    }

    /// A request that the recorded server did not answer.
    pub(super) fn unanswered(exchange: &Exchange, message: &[u8]) -> Self {
        let envelope = Envelope::scan(message);
        let method = envelope.method.as_deref().unwrap_or_default();
        let asked = label(method, envelope.params);
        let message = format!("recorded without an answer: {asked} (seq {})", exchange.request);
        Self { kind: MissKind::Unanswered, message, method: method.to_owned(), closest: Some(exchange.request) }
    }

    /// Returns the miss as a JSON object, which is also the data of the error that the client gets.
    pub(crate) fn to_json(&self) -> Value {
        json!({"kind": self.kind.name(), "method": self.method, "closest_seq": self.closest, "message": self.message})
    }
}

impl Exchange {
    /// Returns the method and subject of its request.
    fn label(&self, library: &Library) -> String {
        let text = library.request(self);
        let envelope = Envelope::scan(&text);
        label(envelope.method.as_deref().unwrap_or_default(), envelope.params)
    }
}

fn label(method: &str, params: Option<&[u8]>) -> String {
    let spec = crate::proposals::method_spec(method);
    match params.and_then(|params| methods::subject(spec?, params)) {
        Some(subject) => format!("{method} {}", excerpt(&subject, WIDEST)),
        None => method.to_owned(),
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
