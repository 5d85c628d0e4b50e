//! One subscription: where it stands, what waits for it, and when it wants to be looked at.

use super::delivery::Delivery;
use super::event::Event;
use super::filter::Filter;
use super::handlers::handler::Handler;
use super::stamp;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::Arc;

/// How many bytes of events wait for one subscription (64 KiB), as JSON text.
const MAX_HELD_BYTES: usize = 64 << 10;

/// Where a subscription stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Gets events.
    Active,
    /// Gets none until it is resumed; what waited before waits on.
    Paused,
    /// Its time is over.
    Expired,
}

impl Status {
    /// `active`, `paused` or `expired`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Paused => "paused",
            Self::Expired => "expired",
        }
    }
}

/// What is due. Of what is due at the same time, deliveries come before the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Due {
    /// The schedule fires.
    Cron,
    /// The one time has come.
    Scheduled,
    /// Its lifetime is over.
    Expiry,
}

/// Times of the last minute, to hold a rate.
#[derive(Clone, Debug, Default)]
pub struct Minute(VecDeque<i64>);

impl Minute {
    const LENGTH: i64 = 60 * 1_000_000_000;

    /// Counts one more, where fewer than `most` were counted within the minute before.
    pub fn admits(&mut self, most: usize, now: i64) -> bool {
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

/// A subscription. All times are Unix nanoseconds.
#[derive(Clone, Debug)]
pub struct Subscription {
    /// Its id.
    pub id: String,
    /// What it is for.
    pub filter: Filter,
    /// How it wants its events.
    pub delivery: Delivery,
    /// What is done with its events beside.
    pub handler: Option<Arc<Handler>>,
    /// Where it stands.
    pub status: Status,
    /// When it was made.
    pub created: i64,
    /// When it was last changed.
    pub updated: i64,
    /// When it ends.
    pub expires: Option<i64>,
    /// Events that wait, oldest first.
    pub held: VecDeque<Event>,
    /// When the schedule fires next; `None` while nothing waits for it.
    pub fires: Option<i64>,
    /// When the one time is; `None` once it was.
    pub at: Option<i64>,
    /// When it got events.
    pub rate: Minute,
}

impl Subscription {
    /// A fresh one.
    pub fn new(id: String, filter: Filter, delivery: Delivery, expires: Option<i64>, now: i64) -> Self {
        let at = delivery.scheduled.as_ref().map(|scheduled| scheduled.at);
        let (status, held, fires, rate) = (Status::Active, VecDeque::new(), None, Minute::default());
        Self { id, filter, delivery, handler: None, status, created: now, updated: now, expires, held, fires, at, rate }
    }

    /// Whether an event is for it now.
    pub fn wants(&self, event: &Event) -> bool {
        self.status == Status::Active && self.passes(event)
    }

    /// Whether an event passes its filter.
    pub fn passes(&self, event: &Event) -> bool {
        self.filter.matches(&event.draft.event_type, &event.draft.tags, &event.draft.priority)
    }

    /// Whether an event would wait, and something will come for it.
    pub fn gathers(&self) -> bool {
        self.delivery.cron.is_some() || self.at.is_some()
    }

    /// Keeps an event until its delivery. Answers with those that had to make room: the oldest, or the event itself if
    /// it is longer than all that is kept.
    pub fn hold(&mut self, event: Event, most: usize, now: i64) -> Vec<Event> {
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

    /// Finds when the schedule fires next, if anything waits for it.
    pub fn set_fires(&mut self, now: i64) {
        let cron = self.delivery.cron.as_ref().filter(|_| !self.held.is_empty());
        self.fires = cron.and_then(|cron| cron.schedule.next(now));
    }

    /// Whether it asks for another way of delivery from now on; what waits goes that way.
    pub fn set_delivery(&mut self, delivery: Delivery, now: i64) {
        self.at = delivery.scheduled.as_ref().map(|scheduled| scheduled.at);
        self.delivery = delivery;
        self.set_fires(now);
    }

    /// What is due next, and when. Nothing is delivered to a subscription that is paused.
    pub fn next_due(&self) -> Option<(i64, Due)> {
        let is_active = self.status == Status::Active;
        [
            self.fires.filter(|_| is_active).map(|at| (at, Due::Cron)),
            self.at.filter(|_| is_active).map(|at| (at, Due::Scheduled)),
            self.expires.filter(|_| self.status != Status::Expired).map(|at| (at, Due::Expiry)),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// Takes the events of a delivery out, batch by batch.
    pub fn take(&mut self, most: usize, batch: usize) -> Vec<Vec<Value>> {
        let going: Vec<Value> = self.held.drain(..most.min(self.held.len())).map(|event| event.value).collect();
        going.chunks(batch.clamp(1, going.len().max(1))).map(<[Value]>::to_vec).collect()
    }

    /// Members that all answers about it have.
    pub fn describe(&self, out: &mut Value) {
        out["filter"] = json!(self.filter);
        out["delivery"] = self.delivery.given.clone();
        out["createdAt"] = json!(stamp(self.created));
        if let Some(expires) = self.expires {
            out["expiresAt"] = json!(stamp(expires));
        }
    }
}
