//! Scenarios: a conversation over servers, written down with what is expected of it. Read from YAML, played sans-IO by
//! a [`Player`] that a runner asks and tells, and judged to a [`Report`].
//!
//! Never: tokio, files, clocks, printing. Time comes in as the time since a start of the caller's choosing.

mod error;
mod expect;
mod format;
mod judge;
mod pairs;
mod plan;
mod player;
mod report;
mod resolve;
#[cfg(test)]
mod tests;

pub use error::ScenarioError;
pub use format::{Clock, Placed, Span, TextPosition, schema};
pub use plan::{Scenario, ServerKind, ServerPlan};
pub use player::{MessageFate, Observation, Player, PlayerAction};
pub use report::{Failure, FaultHits, Judged, Problem, Report, Verdict};
