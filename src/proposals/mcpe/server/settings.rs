//! The settings of the server's side: limits, lifetimes, rates, and which events may be subscribed to
//! (MCPE 2025-01-01, Security Considerations).

use super::filter::Filter;
use crate::proposals::mcpe::patterns::{covers, is_odd};
use serde::{Deserialize, Serialize};

/// The settings, by `serve --set mcpe.NAME:=VALUE`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Settings {
    /// How many subscriptions a client may have at a time, not counting expired ones.
    pub max_subscriptions: usize,
    /// The lifetime of a subscription without an expiry, in seconds; 0 means no limit.
    pub life_seconds: u64,
    /// How many events are kept for a subscription until their delivery. The oldest are dropped first.
    pub most_kept: usize,
    /// How many subscriptions a client may make per minute.
    pub subscriptions_per_minute: usize,
    /// How many events a subscription may receive per minute.
    pub events_per_minute: usize,
    /// How many handlers may run at once.
    pub most_handlers: usize,
    /// How many deliveries may wait for their handlers. Further ones are dropped.
    pub most_handlers_waiting: usize,
    /// How often a webhook is tried if it cannot be reached or fails (status 5xx or 429).
    pub webhook_attempts: u32,
    /// Patterns of the event types that clients may subscribe to.
    pub allow: Vec<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            max_subscriptions: 16,
            life_seconds: 24 * 3600,
            most_kept: 256,
            subscriptions_per_minute: 60,
            events_per_minute: 6000,
            most_handlers: 4,
            most_handlers_waiting: 64,
            webhook_attempts: 4,
            allow: vec!["*".to_owned()],
        }
    }
}

impl Settings {
    /// Checks the settings.
    ///
    /// # Errors
    /// What is wrong, as a phrase.
    pub(crate) fn check(&self) -> Result<(), String> {
        match self.allow.iter().find(|pattern| is_odd(pattern)) {
            Some(pattern) => {
                Err(format!("allow: invalid type pattern {pattern:?}: only `*` and a trailing `.*` are wildcards"))
            }
            None => Ok(()),
        }
    }

    /// Checks that a filter asks only for permitted event types.
    ///
    /// # Errors
    /// The pattern that is not permitted, in a sentence for the model.
    pub(crate) fn authorize(&self, filter: &Filter) -> Result<(), String> {
        let all = ["*".to_owned()];
        let asked = if filter.event_types.is_empty() { &all[..] } else { &filter.event_types };
        match asked.iter().find(|asked| !self.allow.iter().any(|allowed| covers(allowed, asked))) {
            Some(asked) => Err(format!("not allowed to subscribe to {asked:?}; allowed: {}", self.allow.join(", "))),
            None => Ok(()),
        }
    }
}
