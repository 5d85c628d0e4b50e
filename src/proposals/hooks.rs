//! SEP-2282, Server-Declared Behavioural Hooks: a server declares texts in its capabilities, which the client injects
//! at certain events of the agent's life cycle.

pub(crate) mod engine;
pub(crate) mod host;
mod rules;
pub(crate) mod server;

use super::host::{HostSide, Slot};
use super::policy::{Policies, Setting};
use super::samples::Samples;
use super::server::ServerSide;
use super::{CapabilityPlace, Descriptor, Exemption, Observer, Proposal, Rule, Side, SummarizedMessage};
use crate::protocol::schema::{SchemaSet, SchemaViolation};
use serde_json::Value;

const SOURCE: &str = "SEP-2282";

/// The proposal.
pub(crate) struct Hooks;

static DESCRIPTOR: Descriptor = Descriptor {
    name: "hooks",
    title: "Server-Declared Behavioural Hooks",
    source: SOURCE,
    glossary: "In `initialize`, a server declares hooks: text for the model, given as `context` or as the result of one of its tools (`context_tool` with `context_tool_args`), which the client adds at an event such as `pre_tool_use` (before a tool call). A matcher limits a hook to some tools. A variable such as `{tool_name}` in the text is replaced by its value.",
    about: "The server declares tools for the host to call at events of the agent.",
    methods: &[],
    texts: &[],
    errors: &[],
    dialects: &[],
    tools: &[],
    places: &[
        CapabilityPlace::new(Side::Server, &["hooks"], true),
        CapabilityPlace::new(Side::Server, &["experimental", "hooks"], false),
        CapabilityPlace::new(Side::Client, &["hooks"], true),
        CapabilityPlace::new(Side::Client, &["experimental", "hooks"], false),
    ],
    schemas: &SCHEMAS,
};

static SCHEMAS: SchemaSet = SchemaSet::new(include_str!("hooks/schema.json"));

impl Proposal for Hooks {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    /// Hooks have no messages of their own. They only consist of declarations and the tool calls that they cause.
    fn summarize(&self, _spoken: &SummarizedMessage<'_>, _out: &mut String) {}

    fn settings(&self) -> &'static [Setting] {
        host::SETTINGS
    }

    fn slots(&self) -> &'static [Slot] {
        host::SLOTS
    }

    fn host_side(&self, policies: &Policies) -> Option<Box<dyn HostSide>> {
        Some(Box::new(host::HooksHostSide::new(policies)))
    }

    fn rules(&self) -> &'static [Rule] {
        rules::RULES
    }

    fn observer(&self) -> Box<dyn Observer> {
        Box::<rules::HooksObserver>::default()
    }

    fn samples(&self) -> Samples {
        Samples::read(include_str!("hooks/samples.json"))
    }

    fn server_side(&self) -> Option<Box<dyn ServerSide>> {
        Some(Box::<server::HooksServerSide>::default())
    }

    fn exemption(&self, _definition: &str, value: &Value, violation: &SchemaViolation) -> Exemption {
        // A newer implementation may know more events; such an entry is skipped (AMB-D11).
        let listed = violation.place.starts_with("/supported_events/") || violation.place.ends_with("/event");
        match value.pointer(&violation.place) {
            Some(Value::String(_)) if listed => Exemption::Instead(&rules::UNKNOWN_EVENT),
            _ => Exemption::None,
        }
    }
}
