//! Compares two recordings of a conversation by what was said, not by when or with which id.
//!
//! There are four steps. [`exchange`] collects the events of a reel into units (a request with its response, a
//! notification). [`normalise`] parses payloads and masks what differs between any two runs. [`align`] decides which
//! unit of one side corresponds to which unit of the other. [`mod@compare`] finds the changes within each pair. The
//! result is a [`Report`]. [`complete`] adds what readers need, [`narrowed`] keeps a part of it, [`summary()`] counts, and
//! [`latency`] compares times. [`surface`] compares what servers offer.
//!
//! This module must never use tokio, open a file, read a clock or print.

pub(crate) mod align;
pub mod compare;
mod document;
pub(crate) mod exchange;
pub(crate) mod latency;
pub(crate) mod node;
pub(crate) mod normalise;
mod order;
mod print;
pub(crate) mod rename;
pub(crate) mod report;
mod scope;
mod sequence;
mod summary;
pub(crate) mod surface;
#[cfg(test)]
pub(crate) mod testing;
mod volatile;

pub use compare::compare;
pub(crate) use document::complete;
pub(crate) use exchange::UnitKind;
pub use exchange::{Collector, Recording};
pub use report::Report;
pub(crate) use report::{Change, ChangeKind, Status, UnitDiff};
pub(crate) use scope::{Scope, narrowed};
pub(crate) use summary::{SummaryRow, summary};

/// Options of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The order of members, the spelling of numbers (`1` and `1.0`) and the spelling of JSON inside `text` count as
    /// differences.
    pub exact: bool,
    /// The order of units counts as a difference, and so does the order of lists whose items have a `name` or `uri`.
    pub order: bool,
    /// Timestamps are compared by value. Otherwise, a time equals any other one in the same notation.
    pub keep_times: bool,
    /// Ids are compared by value: JSON-RPC ids, progress tokens, references to them, UUIDs. Otherwise an id may have
    /// any value, but must correspond to the same id everywhere.
    pub keep_ids: bool,
    /// Places that are ignored, with everything below them: JSON pointers from the root of the message, where `*`
    /// stands for any one member or index, such as `/result/tools/*/description` or `/params/_meta`.
    pub ignore: Vec<String>,
}

#[cfg(test)]
mod tests;
