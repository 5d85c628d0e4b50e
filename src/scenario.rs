//! Scenarios: a written conversation with one or more servers, and the expectations about it. A scenario is read from
//! YAML, played sans-IO by a [`Player`] that a runner drives, and judged in a [`Report`].
//!
//! Never: tokio, files, clocks, printing. Times are relative to a start that the caller chooses.

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
