//! What differs between two recordings of a conversation, told by what was said and not by when or under which id.
//!
//! Four steps: [`exchange`] collects a reel's events into units (a call with its answer, a notification), [`normalise`]
//! reads payloads and masks what every run chooses anew, [`align`] decides which unit of one side is which of the
//! other, [`mod@compare`] tells what changed inside a pair. The outcome is a [`Report`].
//!
//! Never: tokio, files, clocks, printing.

pub mod align;
pub mod compare;
pub mod exchange;
pub mod node;
pub mod normalise;
mod print;
pub mod report;
mod sequence;
mod volatile;

pub use compare::{Missing, compare};
pub use exchange::{Collector, Recording, Unit, UnitKind};
pub use report::{Change, ChangeKind, Report, Status, UnitDiff, UnitSide};

/// What counts as a difference.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Members in another order, numbers spelt another way (`1` and `1.0`) and JSON inside `text` written another way
    /// count too.
    pub exact: bool,
    /// Units in another order count too, and so does the order of lists whose items go by `name` or `uri`.
    pub order: bool,
    /// Timestamps are compared by value. Without it, any time equals any other written the same way.
    pub keep_times: bool,
    /// Ids are compared by value: JSON-RPC ids, progress tokens, references to them, UUIDs. Without it, an id may have
    /// any value, but the same id on one side must be the same id on the other.
    pub keep_ids: bool,
    /// Places that never count, with everything below them: JSON pointers from the message's root, `*` standing for any
    /// one member or index: `/result/tools/*/description`, `/params/_meta`.
    pub ignore: Vec<String>,
}

#[cfg(test)]
mod tests;
