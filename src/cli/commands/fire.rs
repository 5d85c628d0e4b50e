//! `fire`: one message of a proposal, sent by hand.

mod channel;
mod emit;
mod event;
mod hook;
mod host_messages;
mod host_request;
mod message;
mod push;
mod raw;
mod reminder;
mod server_messages;
mod server_request_args;
mod user_message;

use crate::cli::client_session::ClientOptions;
use crate::cli::printer::Format;
use crate::cli::repeat::Repeating;
use crate::cli::target::Target;
use crate::cli::{Context, Outcome};
use crate::error::CommandError;
use clap::{Args, Subcommand};

/// The options of messages to a server: how often to send them, to which server, and how to print the responses.
#[derive(Clone, Debug, Args)]
struct ServerOptions {
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Format::Human)]
    format: Format,
    #[command(flatten)]
    repeating: Repeating,
    #[command(flatten)]
    client: ClientOptions,
    #[command(flatten)]
    target: Target,
}

/// Send one message that a draft proposal or a pack defines, or any raw message.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  mcpreel fire user-message 'which database schema?' -- my-memory-server
  mcpreel fire hook post_tool_use --tool Bash --input command=ls -- my-server
  mcpreel fire push --text 'new commit'            # as a host's server
  mcpreel fire push --text 'new commit' --session everything
  mcpreel fire reminder 'src/lib.rs changed' --session serve
  mcpreel fire event build.failed --data build=7 --session serve
  mcpreel fire user-message hi --repeat 20 --expect .outcome -- my-server
  mcpreel fire before-inference 'which schema?' -- my-memory-server
  mcpreel fire scope /etc/hosts --session everything
  mcpreel fire channel publish discord:#general 'Hello' --session connector
  mcpreel fire message events/poll name=built --pack mcp-events -- my-server
  mcpreel fire raw '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}' --session every

Terms of the proposals: a feature set is a group of a server's features that the host enables or disables as a whole; \
a scope is what a feature set may access, such as a path; a checkpoint is a state that the server saved, to which the \
host can roll back; an inference is one run of the host's model; a channel is a place for messages outside the host, \
such as a chat. docs/proposals.md explains the five proposals.")]
#[command(defer = true)]
pub(crate) enum FireCommand {
    UserMessage(user_message::UserMessageArgs),
    Hook(hook::HookArgs),
    Push(push::PushArgs),
    Reminder(reminder::ReminderArgs),
    Event(event::EventArgs),
    BeforeInference(host_messages::BeforeArgs),
    AfterInference(host_messages::AfterArgs),
    Inference(server_request_args::InferenceArgs),
    ModelInfo(server_request_args::ModelInfoArgs),
    #[command(subcommand)]
    FeatureSets(FeatureSetsCommand),
    Scope(server_request_args::ScopeArgs),
    Rollback(host_messages::RollbackArgs),
    #[command(subcommand)]
    Channel(channel::ChannelCommand),
    Message(message::MessageArgs),
    Raw(raw::RawArgs),
}

/// Send a message about feature sets: which are enabled, or which exist.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  mcpreel fire feature-sets update --disable memory.proactive --session memory
  mcpreel fire feature-sets changed --remove memory.proactive --session serve")]
#[command(defer = true)]
pub(crate) enum FeatureSetsCommand {
    Update(Box<host_messages::UpdateArgs>),
    Changed(Box<server_request_args::ChangedArgs>),
}

/// Runs the command.
///
/// # Errors
///
/// The command failed; the error's kind decides the exit code.
pub(super) fn run(command: &FireCommand, context: &Context) -> Result<Outcome, CommandError> {
    match command {
        FireCommand::UserMessage(args) => user_message::run(args, context),
        FireCommand::Hook(args) => hook::run(args, context),
        FireCommand::Push(args) => push::run(args, context),
        FireCommand::Reminder(args) => reminder::run(args, context),
        FireCommand::Event(args) => event::run(args, context),
        FireCommand::BeforeInference(args) => args.run(context),
        FireCommand::AfterInference(args) => args.run(context),
        FireCommand::Inference(args) => args.run(context),
        FireCommand::ModelInfo(args) => args.run(context),
        FireCommand::FeatureSets(FeatureSetsCommand::Update(args)) => args.run(context),
        FireCommand::FeatureSets(FeatureSetsCommand::Changed(args)) => args.run(context),
        FireCommand::Scope(args) => args.run(context),
        FireCommand::Rollback(args) => args.run(context),
        FireCommand::Channel(command) => command.run(context),
        FireCommand::Message(args) => message::run(args, context),
        FireCommand::Raw(args) => raw::run(args, context),
    }
}
