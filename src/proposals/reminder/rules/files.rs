//! Checks that a reminder about a changed file comes with `notifications/resources/updated` (Reminder RFC, Positioning
//! vs file-watcher / build-watcher use cases).
//!
//! A server sends that notification only to clients that subscribed. So this applies only if the server supports
//! subscriptions, and the client subscribed to a resource whose URI ends with the path after the first colon of the
//! reminder's key.

use super::NO_UPDATE;
use crate::proposals::recent::Recent;
use crate::proposals::{Findings, Observed};
use std::collections::VecDeque;

/// The maximum time between the two messages, in nanoseconds.
const MAX_DISTANCE_NS: i64 = 2_000_000_000;
/// The maximum number of entries of each kind.
const MAX: usize = 256;

/// A reminder about a file without an update so far.
#[derive(Debug)]
struct Awaited {
    seq: u64,
    time: i64,
    uri: String,
}

/// The subscriptions, updates and reminders about files of one session.
#[derive(Debug)]
pub(super) struct Files {
    subscribed: Recent<String>,
    /// When each resource was updated, if that may matter for a reminder.
    updated: Recent<String, i64>,
    awaited: VecDeque<Awaited>,
}

impl Default for Files {
    fn default() -> Self {
        Self { subscribed: Recent::new(MAX), updated: Recent::new(MAX), awaited: VecDeque::new() }
    }
}

impl Files {
    pub(super) fn subscribed(&mut self, message: &Observed<'_>) {
        if let Some(uri) = message.content["uri"].as_str() {
            self.subscribed.insert(uri.to_owned(), ());
        }
    }

    pub(super) fn updated(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        let Some(uri) = message.content["uri"].as_str() else { return };
        let is_old = |time: &i64| message.time.saturating_sub(*time) > MAX_DISTANCE_NS;
        while self.updated.values().next().is_some_and(is_old) {
            self.updated.pop_oldest();
        }
        self.updated.insert(uri.to_owned(), message.time);
        let before = self.awaited.len();
        self.awaited.retain(|awaited| awaited.uri != uri);
        if self.awaited.len() < before {
            findings.hold(&NO_UPDATE);
        }
    }

    /// Handles a reminder with this key.
    pub(super) fn reminded(&mut self, message: &Observed<'_>, key: &str, findings: &mut Findings) {
        let Some((_, path)) = key.split_once(':').filter(|(_, path)| !path.is_empty()) else { return };
        if message.declared.server["resources"]["subscribe"] != true {
            return;
        }
        let names = |uri: &&String| {
            uri.strip_suffix(path)
                .is_some_and(|before| before.is_empty() || before.ends_with(['/', ':']) || path.starts_with('/'))
        };
        let Some(uri) = self.subscribed.keys().find(names) else { return };
        let is_recent = |time: &i64| message.time.saturating_sub(*time) <= MAX_DISTANCE_NS;
        if self.updated.get(uri).is_some_and(is_recent) {
            findings.hold(&NO_UPDATE);
        } else if self.awaited.len() < MAX {
            self.awaited.push_back(Awaited { seq: message.seq, time: message.time, uri: uri.clone() });
        }
    }

    /// Handles the passing of time.
    pub(super) fn pass(&mut self, now: i64, findings: &mut Findings) {
        while let Some(awaited) = self.awaited.front()
            && now.saturating_sub(awaited.time) > MAX_DISTANCE_NS
        {
            findings.note(
                &NO_UPDATE,
                awaited.seq,
                format!(
                    "the server sent no notifications/resources/updated for {} within 2 s of the reminder",
                    awaited.uri
                ),
            );
            self.awaited.pop_front();
        }
    }

    pub(super) fn lose_track(&mut self) {
        self.awaited.clear();
    }
}
