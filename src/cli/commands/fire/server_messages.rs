//! What an MCPL server fires at its host (seed 002): one table of messages, each with the kind that the built-in server
//! knows it by, and one way to send them all.

use super::emit::{Emission, PreparedMessage};
use crate::error::CommandError;
use crate::proposals::mcpl::server::Settings;
use crate::proposals::{Declared, Side, mcpl};
use crate::server::Fired;
use serde_json::{Map, Value, json};

/// A message that a server fires.
#[derive(Debug, PartialEq, Eq)]
pub struct Message {
    /// What the built-in server calls it, and the live session of a server that is started for it.
    kind: &'static str,
    /// The method that carries it.
    method: &'static str,
    /// What its feature set must be good for; nothing where it names none.
    takes: Takes,
    /// The member that names the one occurrence.
    occurrence: Option<&'static str>,
}

/// What a feature set is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Takes {
    /// The message names no set.
    Nothing,
    /// A capability that its `uses` lists.
    Use(&'static str),
    /// Scopes.
    Scopes,
}

const fn message(kind: &'static str, method: &'static str, takes: Takes) -> Message {
    Message { kind, method, takes, occurrence: None }
}

/// An event (§9).
pub static PUSH: Message =
    Message { occurrence: Some("eventId"), ..message("push", mcpl::PUSH_EVENT, Takes::Use("pushEvents")) };
/// An inference asked for (§11).
pub static INFERENCE: Message = message("inference", "inference/request", Takes::Use("inferenceRequest"));
/// The question which model there is (§12).
pub static MODEL_INFO: Message = message("model-info", "model/info", Takes::Nothing);
/// Feature sets that come and go (§6.7).
pub static SETS_CHANGED: Message = message("feature-sets", "featureSets/changed", Takes::Nothing);
/// A scope asked for (§7.4).
pub static SCOPE: Message = message("scope", "scope/elevate", Takes::Scopes);
/// Channels registered (§14.3).
pub static REGISTER: Message = message("channel-register", "channels/register", Takes::Nothing);
/// Channels that come, go or change.
pub static CHANGED: Message = message("channel-changed", "channels/changed", Takes::Nothing);
/// Messages from a channel.
pub static INCOMING: Message =
    Message { occurrence: Some("messageId"), ..message("channel-incoming", "channels/incoming", Takes::Nothing) };
/// The question for the host's channels.
pub static LIST: Message = message("channel-list", "channels/list", Takes::Nothing);

/// One of these messages with what it says.
pub struct Shot {
    message: &'static Message,
    params: Map<String, Value>,
    settings: Settings,
}

impl Shot {
    /// With these members; what is `null` is left out.
    pub fn new(message: &'static Message, params: Value) -> Self {
        let params = match params {
            Value::Object(params) => params.into_iter().filter(|(_, value)| !value.is_null()).collect(),
            _ => Map::new(),
        };
        Self { message, params, settings: Settings::default() }
    }

    /// The same from a server that has these channels.
    pub fn with_channels(mut self, channels: Vec<Value>) -> Self {
        self.settings.channels = Some(channels);
        self
    }

    /// The same from a server that has these feature sets.
    pub fn with_sets(mut self, sets: Vec<String>) -> Self {
        self.settings.push_sets = sets;
        self
    }

    /// The settings of a server in whose name this set speaks.
    fn settings_with(&self, set: Option<&str>) -> Option<(&'static str, Value)> {
        let mut settings = self.settings.clone();
        if let Some(set) = set {
            let (uses, scoped) = match self.message.takes {
                Takes::Nothing => (vec![], false),
                Takes::Use(used) => (vec![used], false),
                Takes::Scopes => (vec!["tools"], true),
            };
            let declared = json!({"description": "Speaks when fired by hand", "uses": uses, "scoped": scoped});
            settings.sets.insert(set.to_owned(), declared);
        }
        (settings != Settings::default()).then(|| (mcpl::DESCRIPTOR.name, json!(settings)))
    }

    fn given_set(&self) -> Option<&str> {
        self.params.get("featureSet").and_then(Value::as_str)
    }
}

impl Emission for Shot {
    fn name(&self) -> &'static str {
        self.message.kind
    }

    /// Another occurrence is another event: a given name of one gets a number then.
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

    /// In the name of the tapped server's own set for such.
    fn beside(&self, declared: &Declared, done: u64) -> Result<PreparedMessage, CommandError> {
        let set = self.given_set().map(str::to_owned).or_else(|| declared_set(declared, self.message.takes));
        let settings = self.settings_with(set.as_deref());
        let mut params = self.params.clone();
        params.extend(set.map(|set| ("featureSet".to_owned(), set.into())));
        Ok((Shot { message: self.message, params, settings: Settings::default() }.fired(done)?, settings))
    }

    fn caution(&self, declared: &Declared) -> Option<String> {
        let is_known = declared.find(&mcpl::DESCRIPTOR, Side::Client).is_some();
        let method = self.message.method;
        let unasked =
            || format!("sent, though the client did not declare experimental.mcpl and so need not know {method}");
        (!is_known).then(unasked)
    }

    /// The host granted it, in time and in the proposal's form.
    fn is_good(&self, fact: &Value) -> bool {
        let has = |name: &str| fact[name].as_array().is_some_and(|list| !list.is_empty());
        let is_granted = match fact["report"].as_str().unwrap_or_default() {
            "sent" | "answered" | "channels_listed" => true,
            "push_answered" => fact["accepted"] == true,
            "scope_answered" => fact["approved"] == true,
            "inference_answered" => fact["chunks_agree"] != false,
            "incoming_answered" => !["refused", "undecided", "missing", "twice", "unasked"].into_iter().any(has),
            _ => false,
        };
        is_granted && fact["late"] != true && !has("deviations")
    }
}

/// The first feature set of the server's that is good for this.
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
            assert!(!unknown.contains("unknown kind"), "{unknown}");
        }
    }

    #[test]
    fn a_set_of_the_tapped_servers_own_speaks() {
        let block = json!({"experimental": {"mcpl": {"featureSets": [
            {"name": "a", "uses": ["tools"]}, {"name": "b", "uses": ["pushEvents"]}, {"name": "c", "scoped": true}]}}});
        let declared = Declared { server: block, ..Declared::default() };
        let spoken = |message, params: Value| {
            let (fired, settings) = Shot::new(message, params).beside(&declared, 0)?;
            Ok::<_, CommandError>((json!(fired)["featureSet"].clone(), settings.map(|(_, it)| it["sets"].clone())))
        };
        let (set, sets) = spoken(&PUSH, json!({"text": "y"})).expect("fits");
        assert_eq!((&set, &sets.expect("set")["b"]["uses"]), (&json!("b"), &json!(["pushEvents"])));
        assert_eq!(spoken(&SCOPE, json!({"label": "x"})).expect("fits").0, "c");
        assert_eq!(spoken(&MODEL_INFO, json!({})).expect("fits"), (Value::Null, None));
    }
}
