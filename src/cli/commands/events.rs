//! `events`: subscriptions to a server's events, from the shell (MCPE 2025-01-01).

mod watch;

use crate::cli::{Context, Outcome};
use crate::error::CommandError;
use clap::{Subcommand, ValueEnum};

/// Subscribe to a server's events (MCPE proposal).
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  mcpreel events watch 'github.*' -- my-server
  mcpreel events watch --expect 1 --for 30s --url https://host/mcp")]
#[command(defer = true)]
pub(crate) enum EventsCommand {
    Watch(watch::WatchArgs),
}

/// Runs the command.
///
/// # Errors
///
/// The command failed; the error's kind decides the exit code.
pub(super) fn run(command: &EventsCommand, context: &Context) -> Result<Outcome, CommandError> {
    match command {
        EventsCommand::Watch(args) => watch::run(args, context),
    }
}

/// How urgent an event is (MCPE 2025-01-01).
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Priority {
    /// Not urgent.
    Low,
    /// The usual priority.
    Normal,
    /// Urgent.
    High,
    /// Most urgent.
    Critical,
}

impl Priority {
    /// The priority's name on the wire.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Normal => "normal",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
}
