//! MCP Events (MCPE 2025-01-01): subscriptions made with tools, and events delivered by notifications.

pub(crate) mod client;
pub(crate) mod cron;
mod host;
pub(crate) mod patterns;
mod rules;
pub(crate) mod server;

use super::host::{HostSide, Slot};
use super::policy::{Policies, Policy, Setting};
use super::samples::Samples;
use super::server::ServerSide;
use super::{
    CapabilityPlace, Carried, Descriptor, Exemption, ModelText, Observed, Observer, Proposal, Rule, Shape, Side,
    SummarizedMessage,
};
use crate::protocol::schema::{SchemaSet, SchemaViolation};
use crate::protocol::{MethodKind, MethodSpec, Sender};
use crate::wire::json;
use serde_json::Value;
use std::fmt::Write;

/// Delivers one event to one subscription.
pub(crate) const EVENT: &str = "events/event";
/// Delivers the events that a subscription gathered until its schedule fired.
pub(crate) const BATCH: &str = "events/batch";
/// Reports that a subscription expired.
pub(crate) const EXPIRED: &str = "events/subscription_expired";

const SOURCE: &str = "MCPE 2025-01-01";

/// The proposal MCPE.
pub(crate) struct Mcpe;

const fn notification(name: &'static str, about: &'static [&'static str]) -> MethodSpec {
    MethodSpec::proposed(name, MethodKind::Notification, Sender::Server, about, SOURCE)
}

static DESCRIPTOR: Descriptor = Descriptor {
    name: "mcpe",
    title: "MCP Events",
    source: SOURCE,
    glossary: "With the tool `events_subscribe`, a client subscribes to events of the outside world. Its filter says which events; its delivery channels say how they come: `realtime` (each at once, as `events/event`), `cron` (batches at repeated times, as `events/batch`) or `scheduled` (one batch at `deliverAt`). A webhook is a URL that the subscription's events trigger. To grant a subscription is to answer the call without an error.",
    about: "The server has subscriptions to events, which the model manages by tools.",
    methods: &[
        notification(EVENT, &["event", "type"]),
        notification(BATCH, &["subscriptionId"]),
        notification(EXPIRED, &["subscriptionId"]),
    ],
    texts: &[
        ("events/event", "Carries one event of a subscription."),
        ("events/batch", "Carries several events of a subscription at once."),
        ("events/subscription_expired", "Says that a subscription has ended."),
    ],
    errors: &[],
    dialects: &[],
    tools: &["events_subscribe", "events_unsubscribe", "events_list", "events_pause", "events_resume", "events_update"],
    places: &[
        CapabilityPlace { shape: MCPE, ..CapabilityPlace::new(Side::Server, &["events"], true) },
        CapabilityPlace { shape: MCPE, ..CapabilityPlace::new(Side::Server, &["experimental", "events"], false) },
    ],
    schemas: &SCHEMAS,
};

static SCHEMAS: SchemaSet = SchemaSet::new(include_str!("mcpe/schema.json"));

/// What a capability `events` of MCPE looks like. The events working group's protocol uses the same name, with an empty
/// object or `listChanged`, so the members decide (AMB-E6).
const MCPE: Shape = Shape::HasOneOf(&["maxSubscriptions", "deliveryChannels", "features"]);

/// Whether a capability `events` is MCPE's.
pub(crate) fn is_mcpe(value: &Value) -> bool {
    MCPE.fits(value)
}

/// The methods of that protocol, in any of its dialects.
const NEIGHBOURS: &[&str] = &[
    "events/list",
    "events/poll",
    "events/stream",
    "events/subscribe",
    "events/unsubscribe",
    "notifications/events/active",
    "notifications/events/event",
    "notifications/events/heartbeat",
    "notifications/events/error",
    "notifications/events/terminated",
    "notifications/events/list_changed",
];

impl Proposal for Mcpe {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn summarize(&self, spoken: &SummarizedMessage<'_>, out: &mut String) {
        let Some(content) = spoken.envelope.content() else { return };
        match spoken.method {
            EVENT => {
                let Some(event) = json::first_member(content, "event") else { return };
                let kind = json::str_member(event, "type").unwrap_or_default();
                let _ = write!(out, "{kind}");
                if let Some(priority) = json::at_path(event, &["metadata", "priority"]).and_then(json::as_str) {
                    let _ = write!(out, " {priority}");
                }
                subscription(content, out);
            }
            BATCH => {
                let events = json::first_member(content, "events").map_or(0, |list| json::items(list).count());
                let _ = write!(out, "{events} event{}", if events == 1 { "" } else { "s" });
                subscription(content, out);
            }
            EXPIRED => {
                out.push_str("expired");
                subscription(content, out);
            }
            "tools/call" => summarize_tool(spoken, content, out),
            _ => {}
        }
    }

    fn rules(&self) -> &'static [Rule] {
        rules::RULES
    }

    fn observer(&self) -> Box<dyn Observer> {
        Box::<rules::McpeObserver>::default()
    }

    fn carries(&self, message: &Observed<'_>) -> Vec<Carried> {
        let sources = events_in(message).iter().filter_map(|event| event["metadata"]["sourceEventId"].as_str());
        sources.map(|source| Carried::Event(source.to_owned())).collect()
    }

    fn model_texts(&self, message: &Observed<'_>) -> Vec<ModelText> {
        events_in(message)
            .iter()
            .filter(|event| !event.is_null())
            .map(|event| ModelText { seq: message.seq, source: "mcpe event", text: event.to_string() })
            .collect()
    }

    fn is_neighbours(&self, method: &str) -> bool {
        NEIGHBOURS.contains(&method)
    }

    fn samples(&self) -> Samples {
        Samples::read(include_str!("mcpe/samples.json"))
    }

    fn server_side(&self) -> Option<Box<dyn ServerSide>> {
        Some(Box::<server::McpeServerSide>::default())
    }

    fn settings(&self) -> &'static [Setting] {
        host::SETTINGS
    }

    fn slots(&self) -> &'static [Slot] {
        host::SLOTS
    }

    fn check_policy(&self, policy: &Policy) -> Result<(), (&'static str, String)> {
        host::check_policy(policy)
    }

    fn host_side(&self, policies: &Policies) -> Option<Box<dyn HostSide>> {
        Some(Box::new(host::McpeHostSide::new(policies)))
    }

    fn exemption(&self, definition: &str, value: &Value, violation: &SchemaViolation) -> Exemption {
        // The proposal's own example leaves out one of the four features.
        let stated = value["features"].as_object().is_some_and(|all| all.values().all(Value::is_boolean));
        match (definition, violation.place.as_str()) {
            ("capability:server", "/features") if stated => Exemption::Instead(&rules::FEATURE_UNSTATED),
            _ => Exemption::None,
        }
    }
}

/// The first member of an object that neither a definition of the schema nor `others` names, and all those that they do.
fn unknown_member(value: &Value, definition: &str, others: &[&str]) -> Option<(String, String)> {
    let known = DESCRIPTOR.schemas.document()["$defs"][definition]["properties"].as_object();
    let known: Vec<&str> = known.into_iter().flatten().map(|(name, _)| name.as_str()).chain(others.to_vec()).collect();
    let unknown = value.as_object()?.keys().find(|name| !known.contains(&name.as_str()))?;
    Some((unknown.clone(), known.join(", ")))
}

/// Whether a list contains a name.
fn lists(list: &Value, name: &str) -> bool {
    list.as_array().is_some_and(|items| items.iter().any(|item| item == name))
}

/// Whether a subscription with this `delivery` gets events in batches, or one by one (MCPE 2025-01-01, Delivery Modes).
pub(crate) fn delivers(delivery: &Value, in_batches: bool) -> bool {
    let channels = &delivery["channels"];
    let has_batches = lists(channels, "cron") || lists(channels, "scheduled");
    if in_batches { has_batches } else { lists(channels, "realtime") || !has_batches }
}

/// Returns what a tool of MCPE returned, as an object. The proposal's client library returns a truth value for
/// `events_unsubscribe`, so a result that is only `false` is a refusal. A list is that of `events_list` (AMB-E3).
fn outcome(result: &Value) -> Option<Value> {
    super::tool_outcome(result).or_else(|| {
        let text = result["content"].as_array()?.iter().find_map(|block| block["text"].as_str())?;
        match json::parsed(text.as_bytes()) {
            Some(Value::Bool(false)) => Some(serde_json::json!({"success": false})),
            Some(list @ Value::Array(_)) => Some(serde_json::json!({"subscriptions": list})),
            _ => None,
        }
    })
}

/// Returns the events in a message.
fn events_in<'a>(message: &Observed<'a>) -> &'a [Value] {
    match message.method {
        Some(EVENT) => std::slice::from_ref(&message.content["event"]),
        Some(BATCH) => message.content["events"].as_array().map_or(&[][..], Vec::as_slice),
        _ => &[],
    }
}

fn subscription(content: &[u8], out: &mut String) {
    if let Some(id) = json::str_member(content, "subscriptionId") {
        let _ = write!(out, " for {}", super::clip(&id, 13));
    }
}

fn summarize_tool(spoken: &SummarizedMessage<'_>, content: &[u8], out: &mut String) {
    if spoken.envelope.kind.is_response() {
        return;
    }
    let tool = json::str_member(content, "name").unwrap_or_default();
    out.push_str(&tool);
    let Some(arguments) = json::first_member(content, "arguments") else { return };
    if let Some(types) = json::at_path(arguments, &["filter", "eventTypes"]) {
        let names: Vec<_> = json::items(types).filter_map(json::as_str).collect();
        let _ = write!(out, " {}", super::clip(&names.join(","), 40));
    }
    subscription(arguments, out);
}
