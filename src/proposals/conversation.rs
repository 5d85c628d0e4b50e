//! SEP-1975, Conversation Event Subscriptions: servers see each user message and respond with context.

mod correlation;
mod fan_out;
pub(crate) mod host;
mod rules;
pub(crate) mod server;
mod subscription;

use super::host::{HostSide, Slot};
use super::policy::{Policies, Policy, Setting};
use super::samples::Samples;
use super::server::ServerSide;
use super::{
    CapabilityPlace, Carried, ConversationEvent, Descriptor, Exemption, ModelText, Observed, Observer, Overview,
    Proposal, Rule, Side, SummarizedMessage,
};
use crate::protocol::schema::{SchemaSet, SchemaViolation};
use crate::protocol::{MethodKind, MethodSpec, Sender};
use crate::wire::text::counted_as;
use crate::wire::{MessageKind, json};
use serde_json::Value;
use std::fmt::Write;
use std::time::Duration;

/// The method that sends a user's message to the servers.
pub(crate) const USER_MESSAGE: &str = "conversation/userMessage";
/// The method by which a server responds if the message was a notification.
pub(crate) const CONTEXT: &str = "conversation/context";

const SOURCE: &str = "SEP-1975";

/// The proposal.
pub(crate) struct Conversation;

static DESCRIPTOR: Descriptor = Descriptor {
    name: "conversation",
    title: "Conversation Event Subscriptions",
    source: SOURCE,
    glossary: "A server subscribes to the user's messages. The host sends each of them as `conversation/userMessage`, a user message, before it asks the model, and adds the context (text or memories) that the server returns to the prompt.",
    about: "The server wants to see the user's messages, and may add context to them.",
    methods: &[
        // The proposal calls it a notification, but it gets a response. Both forms are accepted (AMB-A1).
        MethodSpec::proposed(USER_MESSAGE, MethodKind::Either, Sender::Client, &["messageId"], SOURCE),
        MethodSpec::proposed(CONTEXT, MethodKind::Either, Sender::Server, &["messageId"], SOURCE),
    ],
    texts: &[
        ("conversation/userMessage", "Tells a subscribed server what the user wrote, before the model sees it."),
        ("conversation/context", "Gives the host context for a user's message, if the message was a notification."),
    ],
    errors: &[],
    dialects: &[],
    tools: &[],
    places: &[
        CapabilityPlace::new(Side::Server, &["conversationEvents"], true),
        CapabilityPlace::new(Side::Server, &["experimental", "conversationEvents"], false),
    ],
    schemas: &SCHEMAS,
};

static SCHEMAS: SchemaSet = SchemaSet::new(include_str!("conversation/schema.json"));

impl Proposal for Conversation {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn summarize(&self, spoken: &SummarizedMessage<'_>, out: &mut String) {
        let Some(content) = spoken.envelope.content() else { return };
        if spoken.method == USER_MESSAGE && !spoken.envelope.kind.is_response() {
            let id = json::str_member(content, "messageId").unwrap_or_default();
            let text = json::str_member(content, "content").unwrap_or_default();
            let _ = write!(out, "{id} {:?}", super::clip(&text, 48));
        } else if spoken.method == CONTEXT || spoken.envelope.kind == MessageKind::Result {
            summarize_context(content, out);
        }
    }

    fn rules(&self) -> &'static [Rule] {
        rules::RULES
    }

    fn observer(&self) -> Box<dyn Observer> {
        Box::<rules::ConversationObserver>::default()
    }

    fn response_limit(&self, method: &str) -> Option<Duration> {
        (method == USER_MESSAGE).then_some(rules::RESPONSE_LIMIT)
    }

    fn settings(&self) -> &'static [Setting] {
        host::side::SETTINGS
    }

    fn check_policy(&self, policy: &Policy) -> Result<(), (&'static str, String)> {
        host::side::check_policy(policy)
    }

    fn slots(&self) -> &'static [Slot] {
        host::side::SLOTS
    }

    fn host_side(&self, policies: &Policies) -> Option<Box<dyn HostSide>> {
        Some(Box::new(host::side::ConversationHostSide::new(policies)))
    }

    fn overview(&self) -> Option<Box<dyn Overview>> {
        Some(Box::<fan_out::FanOut>::default())
    }

    fn conversation_event(&self, message: &Observed<'_>) -> Option<ConversationEvent> {
        (message.method == Some(USER_MESSAGE) && !message.envelope.kind.is_response())
            .then_some(ConversationEvent::UserMessage)
    }

    fn carries(&self, message: &Observed<'_>) -> Vec<Carried> {
        let is_context = match message.method {
            Some(USER_MESSAGE) => message.envelope.kind == MessageKind::Result,
            Some(CONTEXT) => !message.envelope.kind.is_response(),
            _ => false,
        };
        if is_context {
            rules::texts(message.content).map(|text| Carried::Text(text.to_owned())).collect()
        } else {
            Vec::new()
        }
    }

    fn model_texts(&self, message: &Observed<'_>) -> Vec<ModelText> {
        if self.conversation_event(message).is_some() {
            let content = &message.content["content"];
            let text = content.as_str().map_or_else(|| content.to_string(), str::to_owned);
            return vec![ModelText { seq: message.seq, source: "user", text }];
        }
        let texts = self.carries(message).into_iter().filter_map(|carried| match carried {
            Carried::Text(text) => Some(ModelText { seq: message.seq, source: "conversation context", text }),
            Carried::WaitingText(_) | Carried::Event(_) => None,
        });
        texts.collect()
    }

    fn samples(&self) -> Samples {
        Samples::read(include_str!("conversation/samples.json"))
    }

    fn server_side(&self) -> Option<Box<dyn ServerSide>> {
        Some(Box::<server::ConversationServerSide>::default())
    }

    fn exemption(&self, definition: &str, value: &Value, violation: &SchemaViolation) -> Exemption {
        // The user's message was more than text, and the host sent its parts (AMB-A5).
        let parts = violation.place == "/content" && value["content"].is_array();
        match definition {
            "conversation/userMessage:params" if parts => Exemption::Instead(&rules::NOT_TEXT),
            _ => Exemption::None,
        }
    }
}

fn summarize_context(content: &[u8], out: &mut String) {
    let memories = json::at_path(content, &["structuredContext", "memories"]).map(|list| json::items(list).count());
    let text = json::str_member(content, "context");
    match (text, memories) {
        (None, None) => out.push_str("nothing to inject"),
        (Some(text), None) => {
            let _ = write!(out, "context {:?}", super::clip(&text, 48));
        }
        (None, Some(count)) => {
            out.push_str(&counted_as(count, "memory", "memories"));
        }
        (Some(text), Some(count)) => {
            let memories = counted_as(count, "memory", "memories");
            let _ = write!(out, "context {:?} and {memories}", super::clip(&text, 32));
        }
    }
}
