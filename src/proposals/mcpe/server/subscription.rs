//! A subscription: its status, the events that wait for it, and when something is due.

use super::delivery::Delivery;
use super::event::Event;
use super::filter::Filter;
use super::handlers::handler::Handler;
use super::stamp;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// How many bytes of events may wait for one subscription (64 KiB), counted as JSON.
const MAX_HELD_BYTES: usize = 64 << 10;

/// The status of a subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    /// It receives events.
    Active,
    /// It receives none until it is resumed; events that already waited keep waiting.
    Paused,
    /// It expired.
    Expired,
}

impl Status {
    /// `active`, `paused` or `expired`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Paused => "paused",
            Self::Expired => "expired",
        }
    }
}

/// What is due. Deliveries come before an expiry at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Due {
    /// The schedule fires.
    Cron,
    /// The scheduled time has come.
    Scheduled,
    /// The subscription expires.
    Expiry,
}

/// The times within the last minute, to limit a rate. They are times since the beginning: a clock that is set makes no
/// minute longer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Minute(VecDeque<Duration>);

impl Minute {
    const LENGTH: Duration = Duration::from_secs(60);

    /// Counts one more if fewer than `most` were counted in the last minute. Returns whether it did.
    pub(crate) fn admits(&mut self, most: usize, now: Duration) -> bool {
        while self.0.front().is_some_and(|at| now.saturating_sub(*at) >= Self::LENGTH) {
            self.0.pop_front();
        }
        let admits = self.0.len() < most;
        if admits {
            self.0.push_back(now);
        }
        admits
    }
}

/// When a subscription expires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Expiry {
    /// In Unix nanoseconds; `i64::MAX` from the year 2262 on.
    pub at: i64,
    /// As the subscriber gave it, or in UTC.
    pub text: String,
}

impl Expiry {
    /// At a time that the subscriber gave.
    pub(crate) fn given(at: i64, text: &str) -> Self {
        Self { at, text: text.to_owned() }
    }

    /// At a time that the server chose.
    pub(crate) fn at(at: i64) -> Self {
        Self { at, text: stamp(at) }
    }
}

/// If the clock is set back by no more than this, a schedule does not fire at the same time again (a minute, in
/// nanoseconds).
const NOT_AGAIN_WITHIN: i64 = 60 * 1_000_000_000;

/// A subscription. All times are in Unix nanoseconds.
#[derive(Clone, Debug)]
pub(crate) struct Subscription {
    /// The id.
    pub id: String,
    /// The events that it is for.
    pub filter: Filter,
    /// How its events are delivered.
    pub delivery: Delivery,
    /// What else to do with its events.
    pub handler: Option<Arc<Handler>>,
    /// The status.
    pub status: Status,
    /// When it was made.
    pub created: i64,
    /// When it was last changed.
    pub updated: i64,
    /// When it expires.
    pub expires: Option<Expiry>,
    /// Waiting events, oldest first.
    pub held: VecDeque<Event>,
    /// When the schedule fires next; `None` if nothing waits for it.
    pub fires: Option<i64>,
    /// The time of day at which the schedule fired last.
    pub fired: Option<i64>,
    /// When the scheduled delivery is due; `None` if there is none or it is over.
    pub at: Option<i64>,
    /// When it received events.
    pub rate: Minute,
}

impl Subscription {
    /// A new subscription.
    pub(crate) fn new(id: String, filter: Filter, delivery: Delivery, expires: Option<Expiry>, now: i64) -> Self {
        let at = delivery.scheduled.as_ref().map(|scheduled| scheduled.at);
        Self {
            id,
            filter,
            delivery,
            handler: None,
            status: Status::Active,
            created: now,
            updated: now,
            expires,
            held: VecDeque::new(),
            fires: None,
            fired: None,
            at,
            rate: Minute::default(),
        }
    }

    /// Whether it receives an event now.
    pub(crate) fn wants(&self, event: &Event) -> bool {
        self.status == Status::Active && self.passes(event)
    }

    /// Whether an event matches its filter.
    pub(crate) fn passes(&self, event: &Event) -> bool {
        self.filter.matches(&event.draft.event_type, &event.draft.tags, &event.draft.priority)
    }

    /// Whether events wait for a later delivery.
    pub(crate) fn gathers(&self) -> bool {
        self.delivery.cron.is_some() || self.at.is_some()
    }

    /// Keeps an event until its delivery. Returns the events that are dropped for it: the oldest, or the event itself
    /// if it is too long.
    pub(crate) fn hold(&mut self, event: Event, most: usize, now: i64) -> Vec<Event> {
        let mut gone = Vec::new();
        self.held.push_back(event);
        let mut bytes: usize = self.held.iter().map(|event| event.bytes).sum();
        while self.held.len() > most || bytes > MAX_HELD_BYTES {
            let Some(oldest) = self.held.pop_front() else { break };
            bytes -= oldest.bytes;
            gone.push(oldest);
        }
        if self.fires.is_none() {
            self.set_fires(now);
        }
        gone
    }

    /// Computes when the schedule fires next, if an event waits for it.
    pub(crate) fn set_fires(&mut self, now: i64) {
        let cron = self.delivery.cron.as_ref().filter(|_| !self.held.is_empty());
        self.fires = cron.and_then(|cron| cron.schedule.next(now));
    }

    /// Computes anew when the schedule fires next, because the clock was set back. A time that is past is due.
    pub(crate) fn clock_stepped(&mut self, now: i64) {
        if self.fires.is_some_and(|at| at > now) {
            let fired = self.fired.filter(|at| *at > now && at.saturating_sub(now) <= NOT_AGAIN_WITHIN);
            self.set_fires(fired.unwrap_or(now));
        }
    }

    /// Changes how events are delivered, including those that already wait.
    pub(crate) fn set_delivery(&mut self, delivery: Delivery, now: i64) {
        self.at = delivery.scheduled.as_ref().map(|scheduled| scheduled.at);
        self.delivery = delivery;
        self.set_fires(now);
    }

    /// What is due next, and when. Nothing is delivered while it is paused.
    pub(crate) fn next_due(&self) -> Option<(i64, Due)> {
        let is_active = self.status == Status::Active;
        [
            self.fires.filter(|_| is_active).map(|at| (at, Due::Cron)),
            self.at.filter(|_| is_active).map(|at| (at, Due::Scheduled)),
            self.expires.as_ref().filter(|_| self.status != Status::Expired).map(|end| (end.at, Due::Expiry)),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// Removes and returns the events of a delivery, in batches. `most` limits their number, `batch` the size of a
    /// batch.
    pub(crate) fn take(&mut self, most: usize, batch: usize) -> Vec<Vec<Value>> {
        let going: Vec<Value> = self.held.drain(..most.min(self.held.len())).map(|event| event.value).collect();
        going.chunks(batch.clamp(1, going.len().max(1))).map(<[Value]>::to_vec).collect()
    }

    /// Adds the members that all results about a subscription have.
    pub(crate) fn describe(&self, out: &mut Value) {
        out["filter"] = json!(self.filter);
        out["delivery"] = self.delivery.given.clone();
        out["createdAt"] = json!(stamp(self.created));
        if let Some(expires) = &self.expires {
            out["expiresAt"] = json!(expires.text);
        }
    }
}
