//! The subcommands, one file each: arguments, help and implementation.

pub(super) mod call;
mod completions;
mod demo;
mod diff;
mod events;
mod explain;
mod export;
mod fire;
mod host;
mod import;
mod login;
mod logins;
mod logout;
mod man;
mod mcp;
mod mock;
mod overlay;
pub(super) mod record;
mod redact;
mod reel;
mod replay;
mod serve;
mod sessions;
mod show;
mod stats;
mod survive;
pub(super) mod tui;
mod unwrap;
mod validate;
mod wrap;

use super::{Context, Outcome};
use crate::error::CommandError;
use clap::Subcommand;

/// The subcommands.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(super) enum Command {
    Demo(demo::DemoArgs),
    Record(record::RecordArgs),
    Call(call::CallArgs),
    #[command(subcommand)]
    Fire(fire::FireCommand),
    #[command(subcommand)]
    Events(events::EventsCommand),
    Show(show::ShowArgs),
    Tui(tui::TuiArgs),
    Stats(stats::StatsArgs),
    Validate(validate::ValidateArgs),
    Explain(explain::ExplainArgs),
    Diff(diff::DiffArgs),
    Replay(replay::ReplayArgs),
    Serve(serve::ServeArgs),
    Mock(mock::MockArgs),
    Mcp(mcp::McpArgs),
    Host(host::HostArgs),
    Overlay(overlay::OverlayArgs),
    Survive(survive::SurviveArgs),
    Sessions(sessions::SessionsArgs),
    #[command(subcommand)]
    Reel(reel::ReelCommand),
    Redact(redact::RedactArgs),
    Export(export::ExportArgs),
    Import(import::ImportArgs),
    Wrap(wrap::WrapArgs),
    Unwrap(unwrap::UnwrapArgs),
    Login(login::LoginArgs),
    Logout(logout::LogoutArgs),
    Logins(logins::LoginsArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
}

impl Command {
    /// Runs the command.
    ///
    /// # Errors
    ///
    /// The command failed; the error's kind decides the exit code.
    pub(super) fn run(&self, context: &Context) -> Result<Outcome, CommandError> {
        match self {
            Self::Demo(args) => demo::run(args, context),
            Self::Record(args) => record::run(args, context),
            Self::Call(args) => call::run(args, context),
            Self::Fire(command) => fire::run(command, context),
            Self::Events(command) => events::run(command, context),
            Self::Show(args) => show::run(args, context),
            Self::Tui(args) => tui::run(args, context),
            Self::Stats(args) => stats::run(args, context),
            Self::Validate(args) => validate::run(args, context),
            Self::Explain(args) => explain::run(args, context),
            Self::Diff(args) => diff::run(args, context),
            Self::Replay(args) => replay::run(args, context),
            Self::Serve(args) => serve::run(args, context),
            Self::Mock(args) => mock::run(args, context),
            Self::Mcp(args) => mcp::run(args, context),
            Self::Host(args) => host::run(args, context),
            Self::Overlay(args) => overlay::run(args, context),
            Self::Survive(args) => survive::run(args, context),
            Self::Sessions(args) => sessions::run(args, context),
            Self::Reel(command) => reel::run(command, context),
            Self::Redact(args) => redact::run(args, context),
            Self::Export(args) => export::run(args, context),
            Self::Import(args) => import::run(args, context),
            Self::Wrap(args) => wrap::run(args, context),
            Self::Unwrap(args) => unwrap::run(args, context),
            Self::Login(args) => login::run(args, context),
            Self::Logout(args) => logout::run(args, context),
            Self::Logins(args) => logins::run(args, context),
            Self::Completions(args) => completions::run(args, context),
            Self::Man(args) => man::run(args, context),
        }
    }
}
