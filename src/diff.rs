//! Compares two recordings of a conversation by what was said, not by when or with which id.
//!
//! There are four steps. [`pairs`] collects the events of a reel into units (a request with its response, a
//! notification). [`normalise`] parses payloads and masks what differs between any two runs. [`align`] decides which
//! unit of one side corresponds to which unit of the other. [`mod@compare`] finds the changes within each pair. The
//! result is a [`Report`]. [`complete`] adds what readers need, [`narrowed`] keeps a part of it, [`summary()`] counts, and
//! [`latency`] compares times. [`surface`] compares what servers offer.
//!
//! This module must never use tokio, open a file, read a clock or print.

pub(crate) mod align;
pub(crate) mod build;
pub mod compare;
mod correspondence;
mod document;
pub(crate) mod latency;
mod learned;
pub(crate) mod node;
pub(crate) mod normalise;
mod order;
pub(crate) mod pairs;
mod places;
mod print;
pub(crate) mod recording;
pub(crate) mod rename;
pub(crate) mod report;
mod scope;
mod sequence;
mod summary;
pub(crate) mod surface;
#[cfg(test)]
pub(crate) mod testing;
mod text;
mod tolerance;
pub(crate) mod volatile;

pub use compare::compare;
pub(crate) use document::complete;
pub(crate) use learned::Learned;
pub use pairs::Collector;
pub(crate) use places::divided;
pub use recording::Recording;
pub(crate) use recording::UnitKind;
pub use report::Report;
pub(crate) use report::{Change, ChangeKind, Mapped, Status, UnitDiff};
pub(crate) use scope::{Narrowed, Scope, narrowed};
pub(crate) use summary::{SummaryRow, summary};
pub(crate) use tolerance::Tolerance;

/// Options of a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// All values are compared as they are. The order of members, the spelling of numbers (`1` and `1.0`) and the
    /// spelling of JSON inside `text` count as differences, and so do batches and what JSON parsers drop.
    pub exact: bool,
    /// The order of units counts as a difference, and so does the order of lists whose items have a `name` or `uri`.
    pub order: bool,
    /// Times and durations are compared by value. Otherwise, one that the run made equals any other one in the same
    /// notation.
    pub keep_times: bool,
    /// Ids are compared by value: JSON-RPC ids, progress tokens, references to them, and all ids, tokens, ports,
    /// processes and folders in messages. Otherwise one that the run made may have any value, but must correspond to
    /// the same one everywhere.
    pub keep_ids: bool,
    /// Places that are ignored, with everything below them: JSON pointers from the root of the message, where `*`
    /// stands for any one member or index and `**` for any number of them, such as `/result/tools/*/description`. A
    /// method and a subject may come first: `tools/call:echo=/result/content/0/text`. An index means the item of the
    /// left side.
    pub ignore: Vec<String>,
    /// An index in `ignore` means the item of each side.
    pub ignores_own_items: bool,
    /// Arrays whose order does not count: pointers as in `ignore`, each with `=` and the member that identifies an item
    /// (`/result/items=id`), or without.
    pub unordered: Vec<String>,
    /// How much numbers may differ.
    pub tolerance: Vec<Tolerance>,
    /// The report lists the volatile values that differ.
    pub lists_volatile: bool,
}

#[cfg(test)]
mod tests;
