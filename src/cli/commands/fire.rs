//! `fire`: one event by hand, with what its proposal says around it.

mod emit;
mod hook;
mod push;
mod raw;
mod reminder;
mod repeat;
mod user_message;

use crate::cli::error::CommandError;
use crate::cli::{Context, Outcome};
use clap::{Subcommand, ValueEnum};

/// Fire one event by hand: a user message, a hook event, a push event, a reminder, or any message as it is.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  mcpreel fire user-message 'what did we decide?' -- my-memory-server
  mcpreel fire hook post_tool_use --tool Bash --input command=ls -- my-server
  mcpreel fire push --text 'new commit'            as a host's server command
  mcpreel fire push --text 'new commit' --session everything
  mcpreel fire reminder 'src/lib.rs changed' --session serve
  mcpreel fire user-message hi --repeat 20 --expect .outcome -- my-server
  mcpreel fire raw '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}' --session every")]
pub enum FireCommand {
    UserMessage(user_message::UserMessageArgs),
    Hook(hook::HookArgs),
    Push(push::PushArgs),
    Reminder(reminder::ReminderArgs),
    Raw(raw::RawArgs),
}

/// How to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Text.
    Human,
    /// One JSON object.
    Json,
}

pub fn run(command: &FireCommand, context: &Context) -> Result<Outcome, CommandError> {
    match command {
        FireCommand::UserMessage(args) => user_message::run(args, context),
        FireCommand::Hook(args) => hook::run(args, context),
        FireCommand::Push(args) => push::run(args, context),
        FireCommand::Reminder(args) => reminder::run(args, context),
        FireCommand::Raw(args) => raw::run(args, context),
    }
}
