//! `fire push`: a push event, sent as a server that a host has started (MCPL 0.4 §9).

use super::emit::{self, DeliveryOptions};
use super::server_messages::{PUSH, ServerMessageRequest};
use crate::cli::text::TextParser;
use crate::cli::{Context, Outcome};
use crate::error::CommandError;
use crate::runtime::parameters::{self, TextArgument};
use clap::Args;
use serde_json::json;

/// Act as a server and send a push event (MCPL) to the host.
///
/// The host must start this command: put it where the host's configuration expects a server's command. It is the
/// built-in server. After the handshake, it sends `push/event`, on a timer or when the process receives SIGUSR1,
/// and reports the host's response to stderr (one JSON object per line) or to --report.
///
/// With --listen, it waits for a host to connect over HTTP instead, and exits when all pushes have a response.
///
/// With --session, it sends one push in a running session: next to the server's own messages if the session is being
/// recorded, or by the server itself if that is `mcpreel serve`. The host's response is printed, and the session's
/// server does not see it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples, as a host's server command:
  mcpreel fire push --text 'deploy finished' --report /tmp/push.jsonl
  mcpreel fire push --text tick --feature-set memory.proactive
  mcpreel fire push --text tick --after 2s --repeat 3 --interval 10s
  mcpreel fire push --text now --on-signal      # pkill -USR1 -f 'fire push'

Waiting for a host to connect to http://127.0.0.1:8080/mcp:
  mcpreel fire push --text 'deploy finished' --listen 8080

In a live session:
  mcpreel fire push --text 'deploy finished' --session everything

Exit codes: 0 every push was accepted; 1 one was refused, had no response, or was not sent.")]
pub(crate) struct PushArgs {
    /// What happened, in words: a text, @file, or - for stdin.
    #[arg(long, value_parser = TextParser, allow_hyphen_values = true)]
    text: TextArgument,
    /// The push's feature set (default: the server's own one that declares pushEvents).
    #[arg(long, value_name = "NAME")]
    feature_set: Option<String>,
    /// The event's id (default: a new one).
    #[arg(long, value_name = "ID")]
    event_id: Option<String>,
    /// The event's origin (repeatable): name=text, name:=JSON, a JSON object, @file, or - for stdin.
    #[arg(long = "origin", value_name = "VALUE")]
    origin: Vec<String>,
    #[command(flatten)]
    ways: DeliveryOptions,
}

/// Runs the command.
///
/// # Errors
///
/// The command failed; the error's kind decides the exit code.
pub(super) fn run(args: &PushArgs, context: &Context) -> Result<Outcome, CommandError> {
    args.ways.keep_stdin();
    let origin = if args.origin.is_empty() { None } else { Some(parameters::object(&args.origin)?) };
    let params = json!({
        "text": args.text.read()?, "eventId": args.event_id, "featureSet": args.feature_set, "origin": origin,
    });
    emit::run(&ServerMessageRequest::new(&PUSH, params), &args.ways, context)
}
