//! `events`: subscriptions to a server's events, for the shell (seed 004).

mod watch;

use crate::cli::error::CommandError;
use crate::cli::{Context, Outcome};
use clap::Subcommand;

/// Subscribe to a server's events (MCPE).
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  mcpreel events watch 'github.*' -- my-server
  mcpreel events watch --expect 1 --for 30s --url https://host/mcp")]
pub enum EventsCommand {
    Watch(watch::WatchArgs),
}

pub fn run(command: &EventsCommand, context: &Context) -> Result<Outcome, CommandError> {
    match command {
        EventsCommand::Watch(args) => watch::run(args, context),
    }
}
