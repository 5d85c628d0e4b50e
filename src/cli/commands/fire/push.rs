//! `fire push`: a push event, as a server that a host has started (seed 002 §9).

use crate::cli::commands::serve::{ServeCommon, run_server};
use crate::cli::error::CommandError;
use crate::cli::target::span;
use crate::cli::{Context, Outcome, values};
use crate::extension::mcpl::server::Draft;
use crate::server::{Fired, Plan, Report};
use clap::Args;
use serde_json::Value;
use std::cell::Cell;
use std::time::Duration;

/// Push an event to the host that started this command as its server.
///
/// Put this command where a host's configuration names a server. It is the built-in server; once the handshake is
/// over it sends `push/event`, on a timer or when the process gets SIGUSR1, and tells the host's answer on standard
/// error (one JSON object a line) or in --report.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples, as a host's server command:
  mcpreel fire push --feature-set memory.proactive --text 'deploy finished' --report /tmp/push.jsonl
  mcpreel fire push --text tick --after 2s --every 10s --times 3
  mcpreel fire push --text now --on-signal          then: pkill -USR1 -f 'fire push'

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
    /// How long after the handshake.
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = span)]
    after: Duration,
    /// Again and again, so far apart.
    #[arg(long, value_name = "TIME", value_parser = span)]
    every: Option<Duration>,
    /// How often at most.
    #[arg(long, value_name = "COUNT", requires = "every")]
    times: Option<u64>,
    /// Only when the process gets SIGUSR1.
    #[arg(long, conflicts_with_all = ["every", "times"])]
    on_signal: bool,
    #[command(flatten)]
    common: ServeCommon,
}

pub fn run(args: &PushArgs, context: &Context) -> Result<Outcome, CommandError> {
    let push = Fired::Push(draft(args)?);
    let mut config = args.common.config();
    if let Some(name) = &args.feature_set {
        config.push_sets = vec![name.clone()];
    }
    let mut on_signal = Vec::new();
    if args.on_signal {
        on_signal.push(push);
    } else {
        let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        config.plans.push(Plan {
            after_ms: milliseconds(args.after),
            every_ms: args.every.map(milliseconds),
            times: args.times,
            fire: push,
        });
    }
    let (sent, accepted, is_ready) = (Cell::new(0u64), Cell::new(0u64), Cell::new(false));
    run_server(config, on_signal, &args.common, context, |fact| {
        match fact {
            Report::Ready => is_ready.set(true),
            Report::Sent { .. } => sent.set(sent.get() + 1),
            Report::PushAnswered { accepted: Some(true), late: false, .. } => accepted.set(accepted.get() + 1),
            _ => {}
        }
        matches!(
            fact,
            Report::PushAnswered { .. } | Report::Refused { .. } | Report::Unanswered { .. } | Report::NotSent { .. }
        )
    })?;
    if !is_ready.get() {
        context.printer.note("not sent: no host completed the handshake");
    }
    let all = sent.get() > 0 && sent.get() == accepted.get();
    Ok(if all { Outcome::Clean } else { Outcome::Findings })
}

fn draft(args: &PushArgs) -> Result<Draft, CommandError> {
    let origin = if args.origin.is_empty() { None } else { Some(Value::Object(values::object(&args.origin)?)) };
    Ok(Draft {
        text: args.text.clone(),
        event_id: args.event_id.clone(),
        feature_set: args.feature_set.clone(),
        origin,
    })
}
