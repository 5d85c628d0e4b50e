//! The server's own requests: their ids, deadlines and responses.

use super::connection::Connection;
use super::timers::Timer;
use super::{Report, Server};
use crate::proposals;
use crate::proposals::server::Granted;
use crate::wire::units::micros;
use crate::wire::{Envelope, Id, IdKey, MessageKind, json};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// Maximum number of overdue requests to remember for a late response.
const MAX_OVERDUE: usize = 256;

struct Waiting {
    method: String,
    /// Data of the proposal that sent it.
    about: Value,
    sent: Duration,
    late: bool,
}

/// The pending requests.
pub(super) struct PendingRequests {
    deadline: Duration,
    asked: i64,
    open: BTreeMap<i64, Waiting>,
}

impl PendingRequests {
    /// No requests yet; each has this deadline.
    pub(super) fn new(deadline: Duration) -> Self {
        Self { deadline, asked: 0, open: BTreeMap::new() }
    }

    /// The number of pending requests.
    pub(super) fn unanswered(&self) -> usize {
        self.open.len()
    }

    /// The data kept with a pending request.
    pub(super) fn about(&mut self, id: i64) -> Option<&mut Value> {
        self.open.get_mut(&id).map(|waiting| &mut waiting.about)
    }

    /// The data kept with all pending requests.
    pub(super) fn all_data(&self) -> impl Iterator<Item = &Value> {
        self.open.values().map(|waiting| &waiting.about)
    }

    /// Forgets the oldest overdue requests if there are too many.
    fn forget(&mut self) {
        let overdue: Vec<i64> = self.open.iter().filter(|(_, waiting)| waiting.late).map(|(id, _)| *id).collect();
        for id in overdue.iter().take(overdue.len().saturating_sub(MAX_OVERDUE)) {
            self.open.remove(id);
        }
    }
}

impl Connection {
    /// Adds a request and returns its id. The ids count from 1, separately from the host's.
    pub(super) fn open(&mut self, method: &str, about: Value) -> i64 {
        self.pending.asked += 1;
        let id = self.pending.asked;
        self.pending.open.insert(id, Waiting { method: method.to_owned(), about, sent: self.now, late: false });
        self.timers.set(self.now + self.pending.deadline, Timer::Deadline(id));
        id
    }

    /// Marks a request as overdue; a later response counts as late. Returns its method and data.
    fn miss(&mut self, id: i64) -> Option<(String, Value)> {
        let waiting = self.pending.open.get_mut(&id)?;
        waiting.late = true;
        let (method, about) = (waiting.method.clone(), waiting.about.clone());
        let after_us = micros(self.now.saturating_sub(waiting.sent));
        self.pending.forget();
        self.report(Report::Unanswered { id, method: method.clone(), after_us });
        Some((method, about))
    }
}

impl Server {
    /// Handles a missed deadline.
    pub(super) fn missed(&mut self, id: i64) {
        if let Some((method, about)) = self.cx.miss(id)
            && !self.inferred(&about, None)
        {
            self.proposals.denied(&method, &about, None, &mut self.cx);
        }
    }

    /// Handles a response.
    pub(super) fn answered(&mut self, envelope: &Envelope<'_>) {
        let open = match envelope.id.map(Id::key) {
            Some(IdKey::Integer(id)) => self.cx.pending.open.remove(&id).map(|waiting| (id, waiting)),
            _ => None,
        };
        let Some((id, waiting)) = open else {
            let id = envelope.id.map_or("none".to_owned(), |id| id.key().to_string());
            return self.report(Report::Orphan { id });
        };
        self.cx.timers.clear(Timer::Deadline(id));
        let content: Value = envelope.content().map(json::value_of).unwrap_or_default();
        let Waiting { method, about, sent, late } = waiting;
        let latency_us = micros(self.cx.now.saturating_sub(sent));
        if envelope.kind == MessageKind::Error {
            let message = content["message"].as_str().unwrap_or_default().to_owned();
            if self.inferred(&about, Some(Err(&message))) {
                return;
            }
            let code = content["code"].as_i64().unwrap_or_default();
            let (means, deviations) =
                (proposals::error_name(&method, code), proposals::deviations(&method, true, &content));
            let refused =
                Report::Refused { id, method: method.clone(), code, means, message, latency_us, late, deviations };
            self.report(refused);
            return self.proposals.denied(&method, &about, Some(&content), &mut self.cx);
        }
        let deviations = proposals::deviations(&method, false, &content);
        if !deviations.is_empty() {
            self.report(Report::SchemaViolation { method: method.clone(), violations: deviations.clone() });
        }
        if self.inferred(&about, Some(Ok(&content))) {
            return;
        }
        let granted = Granted { id, method: &method, about: &about, result: &content, latency_us, late };
        if self.proposals.granted(&granted, &mut self.cx) {
            self.cx.amend(id, &deviations);
        } else {
            self.report(Report::Answered { id, method, result: content, latency_us, late, deviations });
        }
    }
}
