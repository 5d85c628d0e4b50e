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

pub(crate) use error::ScenarioError;
pub use format::schema;
pub(crate) use format::{Clock, TextPosition};
pub(crate) use format::{OrderedMap, Placed, Span, TextOr};
pub use plan::Scenario;
pub(crate) use plan::{ServerKind, ServerPlan};
pub(crate) use player::{MessageFate, PlayerStep};
pub use player::{Observation, Player};
pub use report::Report;
pub(crate) use report::{Failure, Judged, Problem, Verdict};
