//! Reminder RFC, `notifications/reminder`: a server sends text for the model's next turn, without starting a turn.

pub(crate) mod host;
mod pending;
mod read;
mod rules;
pub(crate) mod server;

use super::host::{HostSide, Slot};
use super::policy::{Policies, Setting};
use super::samples::Samples;
use super::server::ServerSide;
use super::{CapabilityPlace, Carried, Descriptor, Observed, Observer, Proposal, Rule, Side, SummarizedMessage};
use crate::protocol::schema::SchemaSet;
use crate::protocol::{MethodKind, MethodSpec, Sender};
use crate::wire::json;
use std::fmt::Write;

/// The method that sends a reminder.
pub(crate) const REMINDER: &str = "notifications/reminder";

const SOURCE: &str = "Reminder RFC";

/// The proposal.
pub(crate) struct Reminder;

/// What the proposal adds to MCP.
pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    name: "reminder",
    title: "notifications/reminder",
    source: SOURCE,
    glossary: "A reminder is a short note for the model, which a server sends as `notifications/reminder`. The host shows it in `ttlTurns` turns; a turn ends with the model's answer, after all tool calls on the way to it. A newer reminder with the same `dedupeKey` replaces one that waits. The older form is `_meta.harn.reminder` in `notifications/message`.",
    about: "The server sends reminders.",
    methods: &[MethodSpec::proposed(
        REMINDER,
        MethodKind::Notification,
        Sender::Server,
        &["reminder", "dedupeKey"],
        SOURCE,
    )],
    texts: &[("notifications/reminder", "Gives the host text for the model's next turn, without beginning a turn.")],
    errors: &[],
    dialects: &[],
    tools: &[],
    places: &[
        CapabilityPlace::new(Side::Server, &["reminders"], true),
        CapabilityPlace::new(Side::Server, &["_meta", "harn", "reminders"], false),
        CapabilityPlace::new(Side::Server, &["experimental", "reminders"], false),
    ],
    schemas: &SCHEMAS,
};

static SCHEMAS: SchemaSet = SchemaSet::new(include_str!("reminder/schema.json"));

impl Proposal for Reminder {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn summarize(&self, spoken: &SummarizedMessage<'_>, out: &mut String) {
        let Some(reminder) = spoken.envelope.params.and_then(|params| json::first_member(params, "reminder")) else {
            return;
        };
        let body = json::str_member(reminder, "body").unwrap_or_default();
        let _ = write!(out, "{:?}", super::clip(&body, 56));
        if let Some(turns) = json::first_member(reminder, "ttlTurns") {
            let _ = write!(out, " ttl {}", String::from_utf8_lossy(turns));
        }
        if let Some(key) = json::str_member(reminder, "dedupeKey") {
            let _ = write!(out, " key {key}");
        }
    }

    fn settings(&self) -> &'static [Setting] {
        host::SETTINGS
    }

    fn slots(&self) -> &'static [Slot] {
        host::SLOTS
    }

    fn host_side(&self, policies: &Policies) -> Option<Box<dyn HostSide>> {
        Some(Box::new(host::ReminderHostSide::new(policies)))
    }

    fn rules(&self) -> &'static [Rule] {
        rules::RULES
    }

    fn observer(&self) -> Box<dyn Observer> {
        Box::<rules::ReminderObserver>::default()
    }

    fn carries(&self, message: &Observed<'_>) -> Vec<Carried> {
        let reminder = &message.content["reminder"];
        if message.method != Some(REMINDER) {
            return Vec::new();
        }
        let text = reminder["body"].as_str().map(|body| Carried::WaitingText(body.to_owned()));
        let report = reminder["dedupeKey"].as_str().map(|key| Carried::Event(key.to_owned()));
        text.into_iter().chain(report).collect()
    }

    fn samples(&self) -> Samples {
        Samples::read(include_str!("reminder/samples.json"))
    }

    fn server_side(&self) -> Option<Box<dyn ServerSide>> {
        Some(Box::<server::ReminderServerSide>::default())
    }
}
