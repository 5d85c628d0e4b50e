//! What can be set of the server's side: limits, lifetimes, rates, and who may hear what (Security Considerations).

use super::filter::Filter;
use crate::proposals::mcpe::patterns::{covers, is_odd};
use serde::{Deserialize, Serialize};

/// The settings, by `serve --set mcpe.NAME:=VALUE`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// How many subscriptions that have not expired a client may hold.
    pub max_subscriptions: usize,
    /// How long a subscription lives that names no end, in seconds; 0: without end (E40).
    pub life_seconds: u64,
    /// How many events are kept for a subscription until their delivery; the oldest make room.
    pub most_kept: usize,
    /// How many subscriptions may be made in a minute (E38).
    pub subscriptions_per_minute: usize,
    /// How many events a subscription may get in a minute (E38).
    pub events_per_minute: usize,
    /// How many handlers may be under way at once.
    pub most_handlers: usize,
    /// How many deliveries may wait for their handlers; what comes then is dropped.
    pub most_handlers_waiting: usize,
    /// How often a webhook is tried that cannot be reached or fails (5xx, 429).
    pub webhook_attempts: u32,
    /// Patterns of the event types that may be subscribed to (E37).
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
    /// Whether the settings make sense.
    ///
    /// # Errors
    /// What does not, as a sentence fragment.
    pub fn check(&self) -> Result<(), String> {
        match self.allow.iter().find(|pattern| is_odd(pattern)) {
            Some(pattern) => Err(format!("allow: {pattern:?} is no type pattern: only `*` and a trailing `.*` are")),
            None => Ok(()),
        }
    }

    /// Whether a filter asks for no more than what is allowed.
    ///
    /// # Errors
    /// The pattern that goes beyond, in a sentence for the model.
    pub fn authorize(&self, filter: &Filter) -> Result<(), String> {
        let all = ["*".to_owned()];
        let asked = if filter.event_types.is_empty() { &all[..] } else { &filter.event_types };
        match asked.iter().find(|asked| !self.allow.iter().any(|allowed| covers(allowed, asked))) {
            Some(asked) => Err(format!("not allowed to subscribe to {asked:?}: allowed are {}", self.allow.join(", "))),
            None => Ok(()),
        }
    }
}
