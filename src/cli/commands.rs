//! The subcommands, one file each: its arguments, its help, its run.

mod completions;
mod export;
mod import;
mod man;
mod record;
mod reel;
mod show;
mod stats;

use super::error::CommandError;
use super::{Context, Outcome};
use clap::Subcommand;

/// What can be done.
#[derive(Debug, Subcommand)]
pub enum Command {
    Record(record::RecordArgs),
    Show(show::ShowArgs),
    Stats(stats::StatsArgs),
    #[command(subcommand)]
    Reel(reel::ReelCommand),
    Export(export::ExportArgs),
    Import(import::ImportArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
}

impl Command {
    pub(super) fn run(&self, context: &Context) -> Result<Outcome, CommandError> {
        match self {
            Self::Record(args) => record::run(args, context),
            Self::Show(args) => show::run(args, context),
            Self::Stats(args) => stats::run(args, context),
            Self::Reel(command) => reel::run(command, context),
            Self::Export(args) => export::run(args, context),
            Self::Import(args) => import::run(args, context),
            Self::Completions(args) => completions::run(args, context),
            Self::Man(args) => man::run(args, context),
        }
    }
}
