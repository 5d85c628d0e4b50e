//! `fire push`: a push event, as a server that a host has started (seed 002 §9).

use super::emit::{self, DeliveryOptions};
use super::server_messages::{PUSH, Shot};
use crate::cli::{Context, Outcome, values};
use crate::error::CommandError;
use clap::Args;
use serde_json::json;

/// Push an event to the host that started this command as its server.
///
/// Put this command where a host's configuration names a server. It is the built-in server; once the handshake is
/// over it sends `push/event`, on a timer or when the process gets SIGUSR1, and tells the host's answer on standard
/// error (one JSON object a line) or in --report.
///
/// With --listen it waits for a host to connect over HTTP instead, and ends when its pushes are answered.
///
/// With --session it is one push into a session that runs already: beside the server's own messages where the session
/// is tapped, by the server itself where it is `mcpreel serve`. The host's answer is printed, and its server does not
/// see it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples, as a host's server command:
  mcpreel fire push --text 'deploy finished' --report /tmp/push.jsonl
  mcpreel fire push --text tick --feature-set memory.proactive
  mcpreel fire push --text tick --after 2s --repeat 3 --interval 10s
  mcpreel fire push --text now --on-signal      then: pkill -USR1 -f 'fire push'

Waiting for a host to connect to http://127.0.0.1:8080/mcp:
  mcpreel fire push --text 'deploy finished' --listen 8080

Into a live session:
  mcpreel fire push --text 'deploy finished' --session everything

Exit codes: 0 every push was accepted; 1 one was refused, not answered, or not sent.")]
pub struct PushArgs {
    /// What happened, in words.
    #[arg(long)]
    text: String,
    /// The feature set that it belongs to; the server's own that declares pushEvents where none is named.
    #[arg(long, value_name = "NAME")]
    feature_set: Option<String>,
    /// The event's id; a new one where none is given.
    #[arg(long, value_name = "ID")]
    event_id: Option<String>,
    /// Where it is from (repeatable): name=text, name:=JSON, a JSON object.
    #[arg(long = "origin", value_name = "VALUE")]
    origin: Vec<String>,
    #[command(flatten)]
    ways: DeliveryOptions,
}

pub fn run(args: &PushArgs, context: &Context) -> Result<Outcome, CommandError> {
    let origin = if args.origin.is_empty() { None } else { Some(values::object(&args.origin)?) };
    let params = json!({
        "text": args.text, "eventId": args.event_id, "featureSet": args.feature_set, "origin": origin,
    });
    emit::run(&Shot::new(&PUSH, params), &args.ways, context)
}
