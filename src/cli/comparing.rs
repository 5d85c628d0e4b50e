//! The options of all commands that compare sessions.

use crate::diff::Options;
use clap::Args;

/// What counts as a difference.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct CompareOptions {
    /// Also compare the order of members, the notation of numbers, and (byte for byte) JSON embedded in strings.
    #[arg(long)]
    exact: bool,
    /// Also compare the order of requests, and of lists such as tools.
    #[arg(long)]
    order: bool,
    /// Also compare ids.
    #[arg(long)]
    ids: bool,
    /// Also compare timestamps in messages.
    #[arg(long)]
    times: bool,
    /// Also compare what the servers wrote to stderr.
    #[arg(long)]
    pub stderr: bool,
    /// Ignore the value at this JSON Pointer, relative to the message; `*` matches any one member (repeatable).
    #[arg(long, value_name = "POINTER")]
    ignore: Vec<String>,
}

impl CompareOptions {
    /// The options of a comparison.
    pub(super) fn options(&self) -> Options {
        Options {
            exact: self.exact,
            order: self.order,
            keep_times: self.times,
            keep_ids: self.ids,
            ignore: self.ignore.clone(),
        }
    }
}
