//! Statistics of recorded sessions: counts, sizes and latencies by method, tool, proposal, session and direction.
//!
//! Memory does not depend on the length of a recording: tables have a limit, and latencies become a histogram.

pub(crate) mod activity;
pub(crate) mod context;
pub(crate) mod counter;
pub(crate) mod latencies;
pub(crate) mod report;
pub(crate) mod tally;

pub(crate) use context::ContextReport;
pub(crate) use counter::Counter;
pub(crate) use report::{ErrorKey, Report};
pub(crate) use tally::{Slowest, Tally};

/// What a row of statistics is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Grouping {
    /// A method; responses belong to the method of their request.
    Method,
    /// A tool that was called.
    Tool,
    /// A proposal or pack, or MCP itself.
    Proposal,
    /// A stream: one connection, or one session over HTTP.
    Session,
    /// Who sent the request or notification.
    Direction,
    /// A code of error responses, with the method of the request.
    Error,
    /// A reel.
    Reel,
}

impl Grouping {
    /// Its name in the singular, as in headings.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Method => "method",
            Self::Tool => "tool",
            Self::Proposal => "proposal",
            Self::Session => "session",
            Self::Direction => "direction",
            Self::Error => "error",
            Self::Reel => "reel",
        }
    }

    /// Whether only payloads say which row a message belongs to.
    pub(crate) fn needs_payloads(self) -> bool {
        matches!(self, Self::Tool | Self::Proposal | Self::Error)
    }
}
