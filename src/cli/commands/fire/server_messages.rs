//! Messages of an MCPL 0.4 server to its host: a table of messages, each with the name of its kind in the built-in
//! server, and one way to send them all.

use super::emit::{Emission, PreparedMessage};
use crate::error::CommandError;
use crate::proposals::mcpl::server::Settings;
use crate::proposals::{Declared, Side, mcpl};
use crate::server::Fired;
use serde_json::{Map, Value, json};

/// A message that a server can send of its own accord.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Message {
    /// Its kind in the built-in server, and the name of the live session if a server is started for it.
    kind: &'static str,
    /// Its method.
    method: &'static str,
    /// What its feature set must support; nothing if the message names no feature set.
    takes: Takes,
    /// The member with the id of one occurrence.
    occurrence: Option<&'static str>,
}

/// What a feature set must support.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Takes {
    /// The message names no feature set.
    Nothing,
    /// A capability listed in its `uses`.
    Use(&'static str),
    /// Scopes.
    Scopes,
}

const fn message(kind: &'static str, method: &'static str, takes: Takes) -> Message {
    Message { kind, method, takes, occurrence: None }
}

/// A push event (MCPL 0.4 §9).
pub(super) static PUSH: Message =
    Message { occurrence: Some("eventId"), ..message("push", mcpl::PUSH_EVENT, Takes::Use("pushEvents")) };
/// A request for an inference (MCPL 0.4 §11).
pub(super) static INFERENCE: Message = message("inference", "inference/request", Takes::Use("inferenceRequest"));
/// A question about the host's model (MCPL 0.4 §12).
pub(super) static MODEL_INFO: Message = message("model-info", "model/info", Takes::Nothing);
/// Feature sets that were added or removed (MCPL 0.4 §6.7).
pub(super) static SETS_CHANGED: Message = message("feature-sets", "featureSets/changed", Takes::Nothing);
/// A request for a scope (MCPL 0.4 §7.4).
pub(super) static SCOPE: Message = message("scope", "scope/elevate", Takes::Scopes);
/// The registration of channels (MCPL 0.4 §14.3).
pub(super) static REGISTER: Message = message("channel-register", "channels/register", Takes::Nothing);
/// Channels that were added, removed or changed (MCPL 0.4 §14).
pub(super) static CHANGED: Message = message("channel-changed", "channels/changed", Takes::Nothing);
/// Messages from a channel (MCPL 0.4 §14).
pub(super) static INCOMING: Message =
    Message { occurrence: Some("messageId"), ..message("channel-incoming", "channels/incoming", Takes::Nothing) };
/// A request for the host's channels (MCPL 0.4 §14).
pub(super) static LIST: Message = message("channel-list", "channels/list", Takes::Nothing);

/// One of these messages with its params.
pub(super) struct ServerMessageRequest {
    message: &'static Message,
    params: Map<String, Value>,
    settings: Settings,
}

impl ServerMessageRequest {
    /// A message with these members, except those that are `null`.
    pub(super) fn new(message: &'static Message, params: Value) -> Self {
        let params = match params {
            Value::Object(params) => params.into_iter().filter(|(_, value)| !value.is_null()).collect(),
            _ => Map::new(),
        };
        Self { message, params, settings: Settings::default() }
    }

    /// The message, sent by a server that has these channels.
    pub(super) fn with_channels(mut self, channels: Vec<Value>) -> Self {
        self.settings.channels = Some(channels);
        self
    }

    /// The message, sent by a server that has these feature sets.
    pub(super) fn with_sets(mut self, sets: Vec<String>) -> Self {
        self.settings.push_sets = sets;
        self
    }

    /// The settings of a server that declares this feature set.
    fn settings_with(&self, set: Option<&str>) -> Option<(&'static str, Value)> {
        let mut settings = self.settings.clone();
        if let Some(set) = set {
            let (uses, scoped) = match self.message.takes {
                Takes::Nothing => (vec![], false),
                Takes::Use(used) => (vec![used], false),
                Takes::Scopes => (vec!["tools"], true),
            };
            let declared =
                json!({"description": "Sends messages that are fired by hand", "uses": uses, "scoped": scoped});
            settings.sets.insert(set.to_owned(), declared);
        }
        (settings != Settings::default()).then(|| (mcpl::DESCRIPTOR.name, json!(settings)))
    }

    fn given_set(&self) -> Option<&str> {
        self.params.get("featureSet").and_then(Value::as_str)
    }
}

impl Emission for ServerMessageRequest {
    fn name(&self) -> &'static str {
        self.message.kind
    }

    /// Each repetition is a new occurrence, so an id that the user gave gets a number.
    fn fired(&self, done: u64) -> Result<Fired, CommandError> {
        let mut params = self.params.clone();
        if let Some(Value::String(name)) = self.message.occurrence.and_then(|member| params.get_mut(member))
            && done > 0
        {
            *name = format!("{name}-{}", done + 1);
        }
        let fired = Fired::new(self.message.kind, params);
        fired.check().map_err(CommandError::usage).map(|()| fired)
    }

    fn method(&self) -> &'static str {
        self.message.method
    }

    fn settings(&self) -> Option<(&'static str, Value)> {
        self.settings_with(self.given_set())
    }

    /// Uses the recorded server's own feature set for such messages.
    fn beside(&self, declared: &Declared, done: u64) -> Result<PreparedMessage, CommandError> {
        let set = self.given_set().map(str::to_owned).or_else(|| declared_set(declared, self.message.takes));
        let settings = self.settings_with(set.as_deref());
        let mut params = self.params.clone();
        params.extend(set.map(|set| ("featureSet".to_owned(), set.into())));
        Ok((
            ServerMessageRequest { message: self.message, params, settings: Settings::default() }.fired(done)?,
            settings,
        ))
    }

    fn caution(&self, declared: &Declared) -> Option<String> {
        let is_known = declared.find(&mcpl::DESCRIPTOR, Side::Client).is_some();
        let method = self.message.method;
        let unasked =
            || format!("sent, but the client may not know {method}, because it does not declare experimental.mcpl");
        (!is_known).then(unasked)
    }

    /// Whether the host accepted the message, in time and with a valid response.
    fn is_good(&self, report: &Value) -> bool {
        let has = |name: &str| report[name].as_array().is_some_and(|list| !list.is_empty());
        let is_granted = match report["report"].as_str().unwrap_or_default() {
            "sent" | "answered" | "channels_listed" => true,
            "push_answered" => report["accepted"] == true,
            "scope_answered" => report["approved"] == true,
            "inference_answered" => report["chunks_agree"] != false,
            "incoming_answered" => !["refused", "undecided", "missing", "twice", "unasked"].into_iter().any(has),
            _ => false,
        };
        is_granted && report["late"] != true && !has("deviations")
    }
}

/// The server's first feature set that supports this.
fn declared_set(declared: &Declared, takes: Takes) -> Option<String> {
    let (_, block) = declared.find(&mcpl::DESCRIPTOR, Side::Server)?;
    let fits = |set: &Value| match takes {
        Takes::Nothing => false,
        Takes::Use(used) => set["uses"].as_array().is_some_and(|uses| uses.contains(&used.into())),
        Takes::Scopes => set["scoped"] == true,
    };
    mcpl::feature_sets(&block["featureSets"]).into_iter().find(|(_, set)| fits(set)).map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proposals::method_spec;
    use crate::protocol::Sender;

    #[test]
    fn each_message_is_a_servers_and_its_kind_is_known() {
        let all = [&PUSH, &INFERENCE, &MODEL_INFO, &SETS_CHANGED, &SCOPE, &REGISTER, &CHANGED, &INCOMING, &LIST];
        for message in all {
            let spec = method_spec(message.method).expect(message.method);
            assert_ne!(spec.sender, Sender::Client, "{}", message.method);
            let unknown = Fired::new(message.kind, json!({})).check().err().unwrap_or_default();
            assert!(!unknown.contains(" kind"), "{unknown}");
        }
    }

    #[test]
    fn a_set_of_the_tapped_servers_own_speaks() {
        let block = json!({"experimental": {"mcpl": {"featureSets": [
            {"name": "a", "uses": ["tools"]}, {"name": "b", "uses": ["pushEvents"]}, {"name": "c", "scoped": true}]}}});
        let declared = Declared { server: block, ..Declared::default() };
        let spoken = |message, params: Value| {
            let (fired, settings) = ServerMessageRequest::new(message, params).beside(&declared, 0)?;
            Ok::<_, CommandError>((json!(fired)["featureSet"].clone(), settings.map(|(_, it)| it["sets"].clone())))
        };
        let (set, sets) = spoken(&PUSH, json!({"text": "y"})).expect("fits");
        assert_eq!((&set, &sets.expect("set")["b"]["uses"]), (&json!("b"), &json!(["pushEvents"])));
        assert_eq!(spoken(&SCOPE, json!({"label": "x"})).expect("fits").0, "c");
        assert_eq!(spoken(&MODEL_INFO, json!({})).expect("fits"), (Value::Null, None));
    }
}
