//! `fire reminder`: a note for the model's next turn, sent as a server (Reminder RFC).

use super::emit::{self, DeliveryOptions, Emission};
use crate::cli::text::TextParser;
use crate::cli::{Context, Outcome};
use crate::error::CommandError;
use crate::proposals::reminder::{DESCRIPTOR, REMINDER, server};
use crate::proposals::{Declared, Side};
use crate::render::fired;
use crate::render::line::visible_text;
use crate::runtime::parameters::TextArgument;
use crate::server::Fired;
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

/// Act as a server and send a reminder (`notifications/reminder`) to the host.
///
/// The host must start this command: put it where the host's configuration expects a server's command. It is the
/// built-in server. After the handshake, it sends the reminder, on a timer or when the process receives SIGUSR1,
/// and reports that to stderr (one JSON object per line) or to --report. A notification has no response, so only
/// the host knows what it did with the reminder.
///
/// With --listen, it waits for a host to connect over HTTP instead, and exits when all reminders are sent.
///
/// With --session, it sends the reminder in a running session: next to the server's own messages if the session is
/// being recorded, or by the server itself if that is `mcpreel serve`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples, as a host's server command:
  mcpreel fire reminder 'src/lib.rs changed; read it again'
  mcpreel fire reminder 'tests fail' --tag tests --dedupe-key ci --ttl 3
  mcpreel fire reminder tick --after 2s --repeat 3 --interval 10s
  mcpreel fire reminder 'look here' --legacy     # in the older envelope

Waiting for a host to connect to http://127.0.0.1:8080/mcp:
  mcpreel fire reminder 'tests fail' --listen 8080

In a live session:
  mcpreel fire reminder 'tests fail' --dedupe-key ci --session everything

Exit codes: 0 all were sent; 1 one was not sent.")]
pub(crate) struct ReminderArgs {
    /// What the model should know: a text, @file, or - for stdin.
    #[arg(value_parser = TextParser, allow_hyphen_values = true)]
    body: TextArgument,
    /// A tag (repeatable).
    #[arg(long = "tag", value_name = "LABEL")]
    tags: Vec<String>,
    /// A newer reminder with the same key replaces an older one that is still waiting.
    #[arg(long, value_name = "KEY")]
    dedupe_key: Option<String>,
    /// The number of turns for which the reminder is valid.
    #[arg(long, value_name = "TURNS", value_parser = clap::value_parser!(u64).range(1..))]
    ttl: Option<u64>,
    /// Keep the reminder when the conversation is compacted.
    #[arg(long)]
    preserve: bool,
    /// Which agents see the reminder.
    #[arg(long, value_enum)]
    propagate: Option<Propagate>,
    /// The role in which the host should show it to the model.
    #[arg(long, value_enum)]
    role: Option<Role>,
    /// Use the older envelope: a log message with `_meta.harn.reminder`.
    #[arg(long)]
    legacy: bool,
    #[command(flatten)]
    ways: DeliveryOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
enum Propagate {
    /// All agents, including sub-agents.
    All,
    /// The agents of this session.
    Session,
    /// Only this agent.
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
enum Role {
    /// As a system message.
    System,
    /// As a developer message.
    Developer,
    /// As a block of the user's message.
    UserBlock,
    /// Where it does not invalidate the provider's cache.
    EphemeralCache,
}

/// Runs the command.
///
/// # Errors
///
/// The command failed; the error's kind decides the exit code.
pub(super) fn run(args: &ReminderArgs, context: &Context) -> Result<Outcome, CommandError> {
    emit::run(args, &args.ways, context)
}

/// The name of a value on the command line, which is also its name on the wire.
fn name(value: impl ValueEnum) -> Option<String> {
    value.to_possible_value().map(|value| value.get_name().to_owned())
}

impl Emission for ReminderArgs {
    fn name(&self) -> &'static str {
        "reminder"
    }

    fn fired(&self, _done: u64) -> Result<Fired, CommandError> {
        let members = [
            ("body", Some(json!(self.body.read()?))),
            ("tags", (!self.tags.is_empty()).then(|| json!(self.tags))),
            ("dedupeKey", self.dedupe_key.as_ref().map(|key| json!(key))),
            ("ttlTurns", self.ttl.map(Value::from)),
            ("preserveOnCompact", self.preserve.then_some(Value::Bool(true))),
            ("propagate", self.propagate.and_then(name).map(Value::from)),
            ("roleHint", self.role.and_then(name).map(Value::from)),
            ("legacy", self.legacy.then_some(Value::Bool(true))),
        ];
        let given = members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        let fired = Fired::new("reminder", given.collect::<Map<_, _>>());
        fired.check().map_err(CommandError::usage).map(|()| fired)
    }

    fn method(&self) -> &'static str {
        if self.legacy { server::LEGACY } else { REMINDER }
    }

    /// The built-in server declares what it is about to send.
    fn settings(&self) -> Option<(&'static str, Value)> {
        let mut settings = server::Settings::default();
        settings.propagate.extend(self.propagate.and_then(name));
        settings.role_hints.extend(self.role.and_then(name));
        [&mut settings.propagate, &mut settings.role_hints].into_iter().for_each(|values| {
            values.sort_unstable();
            values.dedup();
        });
        Some((DESCRIPTOR.name, json!(settings)))
    }

    fn caution(&self, declared: &Declared) -> Option<String> {
        let emits = declared.find(&DESCRIPTOR, Side::Server).is_some_and(|(_, block)| block["emit"] == true);
        let undeclared = "sent, but the client may drop it, because the server does not declare reminders.emit";
        (!emits).then(|| undeclared.to_owned())
    }

    fn is_good(&self, report: &Value) -> bool {
        report["report"] == "sent"
    }

    fn for_people(&self, report: &Value) -> String {
        let reported = if report["report"] == "sent" {
            format!("sent    ← {} {}", self.method(), report["reminder"])
        } else {
            fired::not_sent(&report["reason"])
        };
        visible_text(&reported)
    }
}
