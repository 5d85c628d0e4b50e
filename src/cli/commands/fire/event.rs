//! `fire event`: an event for the subscriptions that match it (MCPE 2025-01-01).

use super::emit::{self, DeliveryOptions, Emission};
use crate::cli::commands::events::Priority;
use crate::cli::{Context, Outcome};
use crate::error::CommandError;
use crate::proposals::Declared;
use crate::proposals::mcpe::EVENT;
use crate::render::fired;
use crate::runtime::parameters;
use crate::server::Fired;
use crate::sessions::live;
use clap::Args;
use serde_json::{Map, Value, json};

/// Publish an event (MCPE): the server sends it (`events/event`, `events/batch`) to the subscriptions that match.
///
/// With --session, a running `mcpreel serve` publishes the event at once. As a host's server command, this command is
/// the built-in server and publishes the event after the handshake; give the host time to subscribe, with --after or
/// --on-signal. Other servers do not share their subscriptions, so the event cannot be injected there.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel fire event build.failed --data build=7 --tag ci --session serve
  mcpreel fire event mail.came --priority high --after 5s   # as a host's server

Exit codes: 0 the event matched a subscription, which was sent it or keeps it for its delivery time; 1 it matched none.")]
pub(crate) struct EventArgs {
    /// The event's type: words separated by dots.
    #[arg(value_name = "TYPE")]
    event_type: String,
    /// The event's data (repeatable): name=text, name:=JSON, a JSON object, @file, or - for stdin.
    #[arg(long, value_name = "VALUE")]
    data: Vec<String>,
    /// A tag (repeatable).
    #[arg(long = "tag", value_name = "LABEL")]
    tags: Vec<String>,
    /// How urgent the event is.
    #[arg(long, value_enum)]
    priority: Option<Priority>,
    /// The event's id at its source.
    #[arg(long, value_name = "ID")]
    source_event_id: Option<String>,
    #[command(flatten)]
    ways: DeliveryOptions,
}

/// Runs the command.
///
/// # Errors
///
/// The command failed; the error's kind decides the exit code.
pub(super) fn run(args: &EventArgs, context: &Context) -> Result<Outcome, CommandError> {
    emit::run(args, &args.ways, context)
}

impl Emission for EventArgs {
    fn name(&self) -> &'static str {
        "event"
    }

    fn fired(&self, _done: u64) -> Result<Fired, CommandError> {
        let data = Value::Object(parameters::object(&self.data)?);
        let members = [
            ("type", Some(json!(self.event_type))),
            ("data", (!self.data.is_empty()).then_some(data)),
            ("tags", (!self.tags.is_empty()).then(|| json!(self.tags))),
            ("priority", self.priority.map(|priority| json!(priority.name()))),
            ("sourceEventId", self.source_event_id.as_ref().map(|id| json!(id))),
        ];
        let given = members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        let fired = Fired::new("event", given.collect::<Map<_, _>>());
        fired.check().map_err(CommandError::usage).map(|()| fired)
    }

    fn method(&self) -> &'static str {
        EVENT
    }

    fn settings(&self) -> Option<(&'static str, Value)> {
        None
    }

    fn check_beside(&self) -> Result<(), CommandError> {
        let error = CommandError::usage("events need subscriptions, and this session's server does not share them");
        Err(match &live::names_of("serve")[..] {
            [] => error
                .hint("publish in a session of `mcpreel serve`, of which none is running")
                .hint("or inject a single message with `mcpreel fire raw MESSAGE --as server`"),
            names => names.iter().fold(error, |error, name| {
                error.hint(format!("the subscriptions of `mcpreel serve` are in another session: --session {name}"))
            }),
        })
    }

    fn caution(&self, _declared: &Declared) -> Option<String> {
        None
    }

    fn is_good(&self, report: &Value) -> bool {
        let some = |name: &str| report[name].as_array().is_some_and(|ids| !ids.is_empty());
        some("subscriptions") || some("held")
    }

    fn for_people(&self, report: &Value) -> String {
        let count = |name: &str| report[name].as_array().map_or(0, Vec::len);
        match (report["report"].as_str(), count("subscriptions"), count("held")) {
            (Some("published"), sent, held) => {
                let id = report["event_id"].as_str().unwrap_or_default();
                let noun = if sent == 1 { "subscription" } else { "subscriptions" };
                format!("published {id}: sent to {sent} {noun}, kept for {held}")
            }
            _ => fired::not_sent(&report["reason"]),
        }
    }
}
