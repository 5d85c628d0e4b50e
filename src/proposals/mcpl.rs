//! MCP Live (MCPL 0.4): push events, context hooks, inferences requested by servers, feature sets, scopes, state and
//! channels.

mod audit;
mod blocks;
mod checkpoint_tree;
pub(crate) mod host;
mod label;
mod patch;
pub(crate) mod push;
mod rules;
mod scope_lists;
pub(crate) mod server;
mod switches;

use super::audit::{Auditor, CheckpointStep};
use super::host::{HostSide, Slot};
use super::policy::{Policies, Policy, Setting};
use super::samples::Samples;
use super::server::ServerSide;
use super::{
    CapabilityPlace, Carried, ConversationEvent, Descriptor, Exemption, ModelText, Observed, Observer, Proposal, Rule,
    Side, SummarizedMessage,
};
use crate::protocol::schema::{SchemaSet, SchemaViolation};
use crate::protocol::{MethodKind, MethodSpec, Sender};
use crate::wire::text::counted;
use crate::wire::{MessageKind, json};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

/// A server pushes an event that may start an inference (MCPL 0.4 §9).
pub(crate) const PUSH_EVENT: &str = "push/event";

const BEFORE_INFERENCE: &str = "context/beforeInference";
const AFTER_INFERENCE: &str = "context/afterInference";

/// How long a host should wait for a hook (MCPL 0.4 §10.6).
fn response_limit(method: &str) -> Option<Duration> {
    match method {
        BEFORE_INFERENCE => Some(Duration::from_secs(5)),
        AFTER_INFERENCE => Some(Duration::from_secs(10)),
        _ => None,
    }
}

const SOURCE: &str = "MCPL 0.4";

/// The proposal MCPL.
pub(crate) struct Mcpl;

const fn request(name: &'static str, sender: Sender, about: &'static [&'static str]) -> MethodSpec {
    MethodSpec::proposed(name, MethodKind::Request, sender, about, SOURCE)
}

const fn notification(name: &'static str, sender: Sender, about: &'static [&'static str]) -> MethodSpec {
    MethodSpec::proposed(name, MethodKind::Notification, sender, about, SOURCE)
}

const fn either(name: &'static str, sender: Sender, about: &'static [&'static str]) -> MethodSpec {
    MethodSpec::proposed(name, MethodKind::Either, sender, about, SOURCE)
}

/// The methods, capability places and schemas of MCPL.
pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    name: "mcpl",
    title: "MCP Live",
    source: SOURCE,
    glossary: "A feature set is a named part of a server that the host can enable and disable (`featureSets/update`); a scope limits what one may do. A push event (`push/event`) asks the host to start a turn. Context hooks (`context/beforeInference`, `context/afterInference`) are what the host sends around each inference, a run of the model, so that the server can add text (an injection) or change the answer. With `inference/request`, a server runs the host's model. A state is data that a tool returns and gets back; a checkpoint names one. A channel is a place for messages outside of MCP, such as a chat room.",
    about: "The side speaks MCPL: feature sets, pushed events, hooks around inference, channels.",
    methods: &[
        request(PUSH_EVENT, Sender::Server, &["eventId"]),
        request(BEFORE_INFERENCE, Sender::Client, &["inferenceId"]),
        either(AFTER_INFERENCE, Sender::Client, &["inferenceId"]),
        request("inference/request", Sender::Server, &["featureSet"]),
        notification("inference/chunk", Sender::Client, &["requestId"]),
        request("model/info", Sender::Server, &[]),
        notification("featureSets/update", Sender::Client, &[]),
        notification("featureSets/changed", Sender::Server, &[]),
        request("scope/elevate", Sender::Server, &["scope", "label"]),
        request("state/rollback", Sender::Client, &["checkpoint"]),
        request("channels/register", Sender::Server, &[]),
        notification("channels/changed", Sender::Server, &[]),
        request("channels/list", Sender::Either, &[]),
        request("channels/open", Sender::Client, &["type"]),
        request("channels/close", Sender::Client, &["channelId"]),
        notification("channels/outgoing/chunk", Sender::Client, &["channelId"]),
        notification("channels/outgoing/complete", Sender::Client, &["channelId"]),
        either("channels/publish", Sender::Client, &["channelId"]),
        request("channels/incoming", Sender::Server, &[]),
    ],
    texts: &[
        ("push/event", "Tells the host about an event, which may begin a turn of the model."),
        ("context/beforeInference", "Asks the server for context before the host asks its model."),
        ("context/afterInference", "Tells the server what the model answered; a blocking hook may change it."),
        ("inference/request", "Asks the host to have its model answer, with or without streaming."),
        ("inference/chunk", "Carries a part of an answer that the server asked to be streamed."),
        ("model/info", "Asks the host which model it uses."),
        ("featureSets/update", "Tells the server which of its feature sets are enabled, and their scopes."),
        ("featureSets/changed", "Tells the host that the server's feature sets have changed."),
        ("scope/elevate", "Asks the user to allow something beyond the scopes of a feature set."),
        ("state/rollback", "Returns the state of a feature set to a checkpoint."),
        ("channels/register", "Offers the host channels that messages come from and go to."),
        ("channels/changed", "Says which channels were added, removed or changed."),
        ("channels/list", "Lists the channels that are registered or open."),
        ("channels/open", "Opens a channel."),
        ("channels/close", "Closes a channel."),
        ("channels/outgoing/chunk", "Carries a part of a message to a channel while the model writes it."),
        ("channels/outgoing/complete", "Carries the complete message to a channel."),
        ("channels/publish", "Publishes a message to a channel."),
        ("channels/incoming", "Gives the host messages that arrived on a channel."),
    ],
    errors: &[
        (-32001, "feature set not enabled"),
        (-32002, "capability denied (0.5)"),
        (-32003, "unknown feature set"),
        (-32005, "checkpoint not found"),
        (-32017, "channel not permitted"),
        (-32023, "unknown channel"),
        (-32024, "channel open failed"),
    ],
    dialects: &[],
    tools: &[],
    places: &[
        CapabilityPlace::new(Side::Server, &["experimental", "mcpl"], true),
        CapabilityPlace::new(Side::Client, &["experimental", "mcpl"], true),
    ],
    schemas: &SCHEMAS,
};

static SCHEMAS: SchemaSet = SchemaSet::new(include_str!("mcpl/schema.json"));

impl Proposal for Mcpl {
    fn check_policy(&self, policy: &Policy) -> Result<(), (&'static str, String)> {
        host::check_policy(policy)
    }

    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn summarize(&self, spoken: &SummarizedMessage<'_>, out: &mut String) {
        let Some(content) = spoken.envelope.content() else { return };
        if spoken.envelope.kind.is_response() {
            summarize_answer(spoken.method, content, out);
        } else {
            summarize_call(spoken.method, content, out);
        }
    }

    fn settings(&self) -> &'static [Setting] {
        host::SETTINGS
    }

    fn slots(&self) -> &'static [Slot] {
        host::SLOTS
    }

    fn host_side(&self, policies: &Policies) -> Option<Box<dyn HostSide>> {
        Some(Box::new(host::McplHostSide::new(policies)))
    }

    fn rules(&self) -> &'static [Rule] {
        rules::RULES
    }

    fn observer(&self) -> Box<dyn Observer> {
        Box::<rules::McplObserver>::default()
    }

    fn response_limit(&self, method: &str) -> Option<Duration> {
        response_limit(method)
    }

    fn conversation_event(&self, message: &Observed<'_>) -> Option<ConversationEvent> {
        match (message.method?, message.envelope.kind) {
            (BEFORE_INFERENCE, MessageKind::Request) => Some(ConversationEvent::Inference),
            (AFTER_INFERENCE, MessageKind::Request | MessageKind::Notification) => Some(ConversationEvent::Inferred),
            _ => None,
        }
    }

    fn carries(&self, message: &Observed<'_>) -> Vec<Carried> {
        match (message.method, message.envelope.kind) {
            (Some(BEFORE_INFERENCE), MessageKind::Result) => {
                let injections = message.content["contextInjections"].as_array().into_iter().flatten();
                injections.filter_map(injected_text).map(Carried::Text).collect()
            }
            (Some(PUSH_EVENT), MessageKind::Request) => {
                let id = message.content["eventId"].as_str();
                id.map(|id| Carried::Event(id.to_owned())).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    fn model_texts(&self, message: &Observed<'_>) -> Vec<ModelText> {
        let own = |source, text| ModelText { seq: message.seq, source, text };
        let asked = message.request.map_or(&Value::Null, |asked| &asked.params);
        // What a server pushes is given to the model once the host accepts it.
        let pushed = |source, content: &Value| ModelText {
            seq: message.request.map_or(message.seq, |asked| asked.seq),
            source,
            text: blocks::text(content, usize::MAX),
        };
        match (message.method, message.envelope.kind) {
            (Some(BEFORE_INFERENCE), MessageKind::Request) => {
                let text = message.content["userMessage"].as_str();
                text.map(|text| own("user", text.to_owned())).into_iter().collect()
            }
            (Some(BEFORE_INFERENCE), MessageKind::Result) => {
                let injections = message.content["contextInjections"].as_array().into_iter().flatten();
                injections.filter_map(injected_text).map(|text| own("mcpl context", text)).collect()
            }
            (Some(PUSH_EVENT), MessageKind::Result) if message.content["accepted"] == true => {
                vec![pushed("mcpl push", &asked["payload"]["content"])]
            }
            (Some("channels/incoming"), MessageKind::Result) => {
                let results = message.content["results"].as_array().map_or(&[][..], Vec::as_slice);
                let is_accepted = |incoming: &Value| {
                    results.iter().any(|it| it["messageId"] == incoming["messageId"] && it["accepted"] == true)
                };
                let messages = asked["messages"].as_array().into_iter().flatten();
                messages.filter(|it| is_accepted(it)).map(|it| pushed("mcpl channel", &it["content"])).collect()
            }
            _ => Vec::new(),
        }
    }

    fn auditor(&self) -> Option<Box<dyn Auditor>> {
        Some(Box::new(audit::McplAuditor::default()))
    }

    fn checkpoint_tree(&self, message: &Observed<'_>) -> Option<CheckpointStep> {
        checkpoint_tree::step(message)
    }

    fn samples(&self) -> Samples {
        Samples::read(include_str!("mcpl/samples.json"))
    }

    fn server_side(&self) -> Option<Box<dyn ServerSide>> {
        Some(Box::<server::McplServerSide>::default())
    }

    fn exemption(&self, definition: &str, value: &Value, violation: &SchemaViolation) -> Exemption {
        rules::exemption(definition, value, violation)
    }

    fn odd_refusal(&self, error: &Value) -> Vec<String> {
        let data = &error["data"];
        let lacks = error["code"] == -32001 && !(data["featureSet"].is_string() && data["canEnable"].is_boolean());
        lacks.then(|| "the error's data lacks featureSet or canEnable".to_owned()).into_iter().collect()
    }
}

/// Appends the members with these names that are present, separated by spaces.
fn members(content: &[u8], names: &[&str], out: &mut String) {
    let mut space = "";
    for name in names {
        let Some(value) = json::first_member(content, name) else { continue };
        let text = json::as_str(value).unwrap_or_else(|| String::from_utf8_lossy(value));
        let _ = write!(out, "{space}{}", super::clip(&text, 48));
        space = " ";
    }
}

fn count(content: &[u8], name: &str) -> usize {
    json::first_member(content, name).map_or(0, |list| json::items(list).count())
}

fn summarize_call(method: &str, content: &[u8], out: &mut String) {
    match method {
        PUSH_EVENT => members(content, &["featureSet", "eventId"], out),
        BEFORE_INFERENCE | AFTER_INFERENCE => {
            members(content, &["inferenceId", "conversationId"], out);
            if let Some(turn) = json::first_member(content, "turnIndex") {
                let _ = write!(out, " turn {}", String::from_utf8_lossy(turn));
            }
        }
        "inference/request" => {
            members(content, &["featureSet"], out);
            out.push_str(", ");
            out.push_str(&counted(count(content, "messages"), "message"));
        }
        "inference/chunk" => members(content, &["requestId", "index", "delta"], out),
        "featureSets/update" => {
            let _ = write!(out, "{} enabled, {} disabled", count(content, "enabled"), count(content, "disabled"));
        }
        "featureSets/changed" => {
            let added = json::first_member(content, "added").map_or(0, |map| json::members(map).count());
            let _ = write!(out, "{added} added, {} removed", count(content, "removed"));
        }
        "scope/elevate" => {
            members(content, &["featureSet"], out);
            let label = json::at_path(content, &["scope", "label"]).and_then(json::as_str).unwrap_or_default();
            let _ = write!(out, " {label}");
        }
        "state/rollback" => members(content, &["featureSet", "checkpoint"], out),
        "channels/register" => out.push_str(&counted(count(content, "channels"), "channel")),
        "channels/changed" => {
            let (added, removed) = (count(content, "added"), count(content, "removed"));
            let _ = write!(out, "{added} added, {removed} removed, {} updated", count(content, "updated"));
        }
        "channels/incoming" => out.push_str(&counted(count(content, "messages"), "message")),
        "channels/open" => members(content, &["type"], out),
        _ => members(content, &["channelId", "index", "delta"], out),
    }
}

/// Whether a side's capability block declares a capability, given by its path. `true` on the way to it stands for
/// everything below, because some libraries flatten the block like this (MCPL 0.4 §14.1).
pub(crate) fn has(block: &Value, capability: &str) -> bool {
    let mut value = Some(block);
    for name in capability.split('.') {
        value = value.and_then(|value| if *value == Value::Bool(true) { Some(value) } else { value.get(name) });
    }
    matches!(value, Some(Value::Bool(true) | Value::Object(_) | Value::Array(_)))
}

/// The feature sets of a declaration by name. It should be an object, but some libraries make an array of it.
pub(crate) fn feature_sets(sets: &Value) -> BTreeMap<String, Value> {
    match sets {
        Value::Object(members) => members.iter().map(|(name, set)| (name.clone(), set.clone())).collect(),
        Value::Array(items) => {
            let name = |set: &Value| set["name"].as_str().map(str::to_owned);
            items.iter().filter_map(|set| Some((name(set)?, set.clone()))).collect()
        }
        _ => BTreeMap::new(),
    }
}

/// Whether a feature set matches a pattern: `*` on its own stands for everything, a final `.*` for everything below
/// (MCPL 0.4 §6.3), and any other `*` for one segment.
pub(crate) fn matches_set(pattern: &str, set: &str) -> bool {
    if pattern == "*" {
        return true;
    }
    let (above, reaches_all) = pattern.strip_suffix(".*").map_or((pattern, false), |above| (above, true));
    let (mut patterns, mut segments) = (above.split('.'), set.split('.'));
    loop {
        match (patterns.next(), segments.next()) {
            (None, rest) => return rest.is_some() == reaches_all,
            (Some(pattern), Some(segment)) if pattern == "*" || pattern == segment => {}
            _ => return false,
        }
    }
}

/// What is wrong with the params of a method by their schema, unless a rule of the proposal is about it.
fn malformed(method: &str, params: &Value) -> Option<String> {
    Mcpl.violation(&format!("{method}:params"), params)
}

/// The text of an injection, which is a string or a list of blocks.
fn injected_text(injection: &Value) -> Option<String> {
    let blocks = || injection["content"].as_array().into_iter().flatten().filter_map(|block| block["text"].as_str());
    match injection["content"].as_str() {
        Some(text) => Some(text.to_owned()),
        None => Some(blocks().collect::<Vec<_>>().join("\n")).filter(|text| !text.is_empty()),
    }
}

fn summarize_answer(method: &str, content: &[u8], out: &mut String) {
    let says = |name: &str| json::first_member(content, name) == Some(b"true");
    let reason = |out: &mut String| {
        if let Some(reason) = json::str_member(content, "reason") {
            let _ = write!(out, ": {}", super::clip(&reason, 48));
        }
    };
    match method {
        PUSH_EVENT if says("accepted") => {
            out.push_str("accepted");
            if let Some(inference) = json::str_member(content, "inferenceId") {
                let _ = write!(out, ", inference {inference}");
            }
        }
        PUSH_EVENT => {
            out.push_str("refused");
            reason(out);
        }
        BEFORE_INFERENCE => {
            members(content, &["featureSet"], out);
            out.push_str(", ");
            out.push_str(&counted(count(content, "contextInjections"), "injection"));
        }
        AFTER_INFERENCE => {
            members(content, &["featureSet"], out);
            if json::first_member(content, "modifiedResponse").is_some() {
                out.push_str(", response modified");
            }
        }
        "inference/request" => members(content, &["model", "finishReason", "content"], out),
        "model/info" => members(content, &["vendor", "id"], out),
        "scope/elevate" => {
            out.push_str(if says("approved") { "approved" } else { "denied" });
            reason(out);
        }
        "state/rollback" => {
            out.push_str(if says("success") { "rolled back to " } else { "not rolled back to " });
            members(content, &["checkpoint"], out);
            reason(out);
        }
        "channels/incoming" => out.push_str(&counted(count(content, "results"), "result")),
        "channels/list" => out.push_str(&counted(count(content, "channels"), "channel")),
        "channels/open" => {
            if let Some(channel) = json::first_member(content, "channel") {
                members(channel, &["id"], out);
            }
        }
        "channels/close" => out.push_str(if says("closed") { "closed" } else { "not closed" }),
        "channels/publish" => out.push_str(if says("delivered") { "delivered" } else { "not delivered" }),
        _ => {}
    }
}
