//! The server's side: its block and feature sets, what the host lets it send, and the params and results it words.
//!
//! Channels and scopes are not offered, so nothing of them is declared.

pub mod notes;

use super::{DESCRIPTOR, PUSH_EVENT};
use crate::extension::{Declared, Side};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Finds memories before an inference.
pub const RETRIEVAL: &str = "memory.retrieval";
/// Learns from what was said.
pub const EXTRACTION: &str = "memory.extraction";
/// Tells the host of events.
pub const PROACTIVE: &str = "memory.proactive";
/// Has the host summarize memories.
pub const CONSOLIDATION: &str = "memory.consolidation";
/// Notes, with checkpoints.
pub const NOTES: &str = "notes.edit";

/// Asks the host for an inference (§11).
pub const INFERENCE: &str = "inference/request";
/// Asks the host which model it runs (§12).
pub const MODEL_INFO: &str = "model/info";

/// The message used a disabled feature set (Appendix A).
pub const NOT_ENABLED: i64 = -32001;
/// The message used a feature set that was never declared (Appendix A).
pub const UNKNOWN_SET: i64 = -32003;

struct FeatureSet {
    name: &'static str,
    description: &'static str,
    uses: &'static str,
    rollback: bool,
}

const fn set(name: &'static str, uses: &'static str, description: &'static str) -> FeatureSet {
    FeatureSet { name, description, uses, rollback: false }
}

const SETS: &[FeatureSet] = &[
    set(RETRIEVAL, "contextHooks.beforeInference", "Finds memories that fit the user's message before an inference"),
    set(EXTRACTION, "contextHooks.afterInference", "Remembers what was asked and answered"),
    set(PROACTIVE, "pushEvents", "Tells of events as they happen"),
    set(CONSOLIDATION, "inferenceRequest", "Has the host's model summarize the memories"),
    FeatureSet { name: NOTES, description: "Edits notes", uses: "tools", rollback: true },
];

/// Why a message must not be sent now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Withheld {
    /// The host's block lacks what the method needs.
    HostLacks(&'static str),
    /// Not among the declared feature sets.
    UnknownSet(String),
    /// The feature set does not use what the method needs.
    NotUsed(String, &'static str),
    /// The host disabled the feature set.
    Disabled(String),
}

/// An error that the proposal names.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// Its number.
    pub code: i64,
    /// Its text (Appendix A).
    pub message: &'static str,
    /// What it is about.
    pub data: Value,
}

impl Refusal {
    fn unknown(set: &str) -> Self {
        Self { code: UNKNOWN_SET, message: "Unknown feature set", data: json!({"featureSet": set}) }
    }

    fn disabled(set: &str) -> Self {
        let data = json!({"featureSet": set, "canEnable": true});
        Self { code: NOT_ENABLED, message: "Feature set not enabled", data }
    }
}

/// What a `featureSets/update` changed. Names that are nobody's are listed, not refused: it is a notification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Update {
    /// Sets that are on now and were off.
    pub enabled: Vec<String>,
    /// Sets that are off now and were on.
    pub disabled: Vec<String>,
    /// Names that fit no set.
    pub unknown: Vec<String>,
}

/// The negotiated proposal on one connection.
#[derive(Clone, Debug)]
pub struct Mcpl {
    host: Value,
    disabled: BTreeSet<String>,
    /// Sets beside [`SETS`] that only push, by name.
    push_sets: Vec<String>,
}

impl Mcpl {
    /// Reads the host's block. `None` where it has none: then nothing of the proposal may be used (§3.2).
    ///
    /// `push_sets` names feature sets that are declared beside the server's own and that only push.
    pub fn negotiate(client_capabilities: &Value, push_sets: &[String]) -> Option<Self> {
        let declared = Declared { client: client_capabilities.clone(), ..Declared::default() };
        let (_, host) = declared.find(&DESCRIPTOR, Side::Client)?;
        let others = push_sets.iter().filter(|name| SETS.iter().all(|set| set.name != **name)).cloned().collect();
        host.is_object().then(|| Self { host: host.clone(), disabled: BTreeSet::new(), push_sets: others })
    }

    /// Every set's name and what it uses.
    fn sets(&self) -> impl Iterator<Item = (&str, &'static str)> {
        let own = SETS.iter().map(|set| (set.name, set.uses));
        own.chain(self.push_sets.iter().map(|name| (name.as_str(), "pushEvents")))
    }

    /// What stands at `capabilities.experimental.mcpl` (§5.1, §6.1).
    pub fn block(&self) -> Value {
        let mut sets: serde_json::Map<String, Value> = SETS
            .iter()
            .map(|set| {
                let mut declared = json!({"description": set.description, "uses": [set.uses]});
                if set.rollback {
                    declared["rollback"] = json!(true);
                }
                (set.name.to_owned(), declared)
            })
            .collect();
        for name in &self.push_sets {
            sets.insert(name.clone(), json!({"description": "Pushes events fired by hand", "uses": ["pushEvents"]}));
        }
        json!({
            "version": "0.4",
            "pushEvents": true,
            "contextHooks": {"beforeInference": true, "afterInference": {"blocking": false}},
            "inferenceRequest": {"streaming": true},
            "modelInfo": true,
            "featureSets": sets,
        })
    }

    /// Takes a `featureSets/update` in: a change to what held before (AMB-C3); where a set is named by both lists,
    /// it is off. `memory.*` names all sets below `memory.` (§6.3).
    pub fn update(&mut self, params: &Value) -> Update {
        let mut update = Update::default();
        let before = self.disabled.clone();
        for (list, off) in [("enabled", false), ("disabled", true)] {
            for name in params.get(list).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
                let named: Vec<String> =
                    self.sets().filter(|(set, _)| names(name, set)).map(|(set, _)| set.to_owned()).collect();
                if named.is_empty() {
                    update.unknown.push(name.to_owned());
                }
                for set in named {
                    if off {
                        self.disabled.insert(set);
                    } else {
                        self.disabled.remove(&set);
                    }
                }
            }
        }
        let listed =
            |sets: &BTreeSet<String>, but: &BTreeSet<String>| sets.difference(but).cloned().collect::<Vec<_>>();
        update.enabled = listed(&before, &self.disabled);
        update.disabled = listed(&self.disabled, &before);
        update
    }

    /// Whether the host lets a set work. What it never named counts as on.
    pub fn is_on(&self, set: &str) -> bool {
        !self.disabled.contains(set)
    }

    /// Refuses what a disabled or unknown set would do on the host's behalf (§6.6).
    ///
    /// # Errors
    /// -32003 for an unknown set, -32001 for a disabled one.
    pub fn gate(&self, set: &str) -> Result<(), Refusal> {
        match () {
            () if self.sets().all(|(known, _)| known != set) => Err(Refusal::unknown(set)),
            () if !self.is_on(set) => Err(Refusal::disabled(set)),
            () => Ok(()),
        }
    }

    /// Whether a message of the server's own may go out in the name of a set (§5, §6).
    ///
    /// # Errors
    /// Why not.
    pub fn may_send(&self, method: &str, set: &str) -> Result<(), Withheld> {
        let uses = if method == PUSH_EVENT { "pushEvents" } else { "inferenceRequest" };
        if !says_yes(self.host.get(uses)) {
            return Err(Withheld::HostLacks(uses));
        }
        match self.sets().find(|(known, _)| *known == set) {
            None => Err(Withheld::UnknownSet(set.to_owned())),
            Some((_, used)) if used != uses => Err(Withheld::NotUsed(set.to_owned(), uses)),
            Some(_) if !self.is_on(set) => Err(Withheld::Disabled(set.to_owned())),
            Some(_) => Ok(()),
        }
    }

    /// Whether `model/info` may be asked. The example of a host's block has no `modelInfo` (§5.2), so only an
    /// explicit no counts.
    ///
    /// # Errors
    /// Why not.
    pub fn may_ask_model(&self) -> Result<(), Withheld> {
        if self.host.get("modelInfo") == Some(&Value::Bool(false)) {
            return Err(Withheld::HostLacks("modelInfo"));
        }
        Ok(())
    }

    /// The params of `inference/request` in the name of [`CONSOLIDATION`]. Streams only where the host can.
    pub fn inference(&self, ask: &Ask, memories: &[&str]) -> Value {
        let prompt = match &ask.prompt {
            Some(prompt) => prompt.clone(),
            None => format!("Summarize these memories in one sentence each:\n- {}", memories.join("\n- ")),
        };
        let mut params = json!({"featureSet": CONSOLIDATION});
        if let Some(conversation) = &ask.conversation_id {
            params["conversationId"] = json!(conversation);
        }
        let can_stream = self.host.pointer("/inferenceRequest/streaming") == Some(&Value::Bool(true));
        params["stream"] = json!(ask.stream && can_stream);
        params["messages"] = json!([{"role": "user", "content": prompt}]);
        params["preferences"] = json!({"maxTokens": 500, "temperature": 0.2});
        params
    }
}

/// Whether a declared capability is a yes: `true` or an object.
fn says_yes(value: Option<&Value>) -> bool {
    matches!(value, Some(Value::Bool(true) | Value::Object(_)))
}

fn names(pattern: &str, set: &str) -> bool {
    match pattern.strip_suffix(".*") {
        Some(above) => set.strip_prefix(above).is_some_and(|rest| rest.starts_with('.')),
        None => pattern == set,
    }
}

/// A push event before it has its id and time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Draft {
    /// What happened, for the model.
    pub text: String,
    /// The event's stable id; made up where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_id: Option<String>,
    /// In whose name; [`PROACTIVE`] where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feature_set: Option<String>,
    /// Where it is from; only the server's name where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Value>,
}

impl Draft {
    /// The feature set it goes out under.
    pub fn set(&self) -> &str {
        self.feature_set.as_deref().unwrap_or(PROACTIVE)
    }

    /// The params of `push/event` (§9.2).
    pub fn params(&self, event_id: &str, timestamp: &str, server: &str) -> Value {
        json!({
            "featureSet": self.set(),
            "eventId": event_id,
            "timestamp": timestamp,
            "origin": self.origin.clone().unwrap_or_else(|| json!({"server": server})),
            "payload": {"content": [{"type": "text", "text": self.text}]},
        })
    }
}

/// What to ask the host's model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ask {
    /// The prompt; a summary of the memories where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The conversation it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<String>,
    /// Whether to stream.
    #[serde(default)]
    pub stream: bool,
}

/// Something remembered that fits a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory<'a> {
    /// Its name.
    pub id: &'a str,
    /// What is remembered.
    pub content: &'a str,
}

/// The answer to `context/beforeInference` (§10.2). It names the one set it comes from (§6.5).
pub fn injections(memories: &[Memory<'_>]) -> Value {
    let mut list = Vec::new();
    if !memories.is_empty() {
        let lines: Vec<&str> = memories.iter().map(|memory| memory.content).collect();
        let ids: Vec<&str> = memories.iter().map(|memory| memory.id).collect();
        list.push(json!({
            "namespace": "memory",
            "position": "system",
            "content": [{"type": "text", "text": format!("<memories>\n{}\n</memories>", lines.join("\n"))}],
            "metadata": {"memoryIds": ids},
        }));
    }
    json!({"featureSet": RETRIEVAL, "contextInjections": list})
}

/// The answer to a `context/afterInference` that came as a request although a notification was declared.
pub fn unmodified() -> Value {
    json!({"featureSet": EXTRACTION})
}

/// What there is to learn from a `context/afterInference`, and where it comes from.
pub fn lesson(params: &Value) -> Option<(String, String)> {
    const MOST: usize = 240;
    let text = |name: &str| params.get(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let answered = crate::extension::clip(text("assistantMessage")?, MOST);
    let content = match text("userMessage") {
        Some(asked) => format!("Asked: {} Answered: {answered}", crate::extension::clip(asked, MOST)),
        None => answered.into_owned(),
    };
    Some((content, format!("conversation {}", text("conversationId").unwrap_or("unnamed"))))
}

#[cfg(test)]
mod tests;
