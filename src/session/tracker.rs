//! Tracks the state of a connection, message by message: era, revision, capabilities, handshake and pending requests.

use super::reading::{Reading, Role, Said};
use crate::proposals::{Declared, PendingRequest, Registry};
use crate::protocol::revision::meta;
use crate::protocol::{Era, Revision};
use crate::trace::Event;
use crate::wire::{Direction, Envelope, MessageKind, json};
use serde_json::Value;

/// What the tracker found out about one message.
#[derive(Debug)]
pub(crate) struct Step {
    /// The era of the message. Each request decides that for itself; a response has the era of its request.
    pub era: Era,
    /// For a response: its request.
    pub request: Option<PendingRequest>,
    /// For a request: an earlier pending one with the same id.
    pub reused: Option<PendingRequest>,
}

/// Params of more bytes than this are remembered only in outline.
const MAX_PARAMS_BYTES: usize = 16 * 1024;
/// Texts of more bytes than this are left out of an outline.
const MAX_TEXT_BYTES: usize = 256;

/// Tracks one connection.
#[derive(Debug)]
pub(crate) struct Tracker {
    /// What both sides declared.
    pub declared: Declared,
    /// The revision that was agreed on, or named by the last request of the modern era.
    pub revision: Option<Revision>,
    /// The text of the revision on the wire, known or not.
    pub version_text: Option<String>,
    /// The era of the connection, once it is known: legacy after an answered `initialize`, else modern from the first
    /// request that says so. A server that answers `server/discover` may still get an `initialize`.
    pub era: Option<Era>,
    /// The client sent `initialize`.
    pub initialize_asked: bool,
    open: Reading<Box<(PendingRequest, Era)>>,
    exchange: u32,
    registry: &'static Registry,
    /// The head of the exchange names a revision of the modern era.
    names_modern: bool,
}

/// A connection remembers at least this many pending requests.
const MAX_OPEN: usize = 4096;

impl Default for Tracker {
    fn default() -> Self {
        Self::knowing(Registry::built_in())
    }
}

impl Tracker {
    /// Creates a tracker that remembers what these proposals need.
    pub(crate) fn knowing(registry: &'static Registry) -> Self {
        Self {
            declared: Declared::default(),
            revision: None,
            version_text: None,
            era: None,
            initialize_asked: false,
            names_modern: false,
            open: Reading::of(MAX_OPEN),
            exchange: 0,
            registry,
        }
    }

    /// Returns how many requests were forgotten that may still be pending.
    pub(crate) fn forgotten(&self) -> usize {
        self.open.forgotten()
    }

    /// Sets the HTTP exchange that carries the next message.
    pub(crate) fn carried_by(&mut self, exchange: u32) {
        (self.exchange, self.names_modern) = (exchange, false);
    }

    /// Notes that the head of that exchange's request names a revision of the modern era.
    pub(crate) fn headed_modern(&mut self) {
        self.names_modern = true;
    }

    /// Processes an event that is no message: an HTTP exchange may have failed, and its request gets a response in this
    /// exchange or never.
    pub(crate) fn event(&mut self, event: &Event<'_>) {
        self.open.event(event, |_, _| {});
    }

    /// Processes one message. `content` is its params, result or error as a value.
    pub(crate) fn take(
        &mut self,
        seq: u64,
        time: i64,
        direction: Direction,
        envelope: &Envelope<'_>,
        content: &Value,
    ) -> Step {
        let mut step = Step { era: self.era_of(direction, envelope, content), request: None, reused: None };
        if envelope.kind == MessageKind::Request {
            self.note_request(envelope.method.as_deref().unwrap_or_default(), direction, step.era, content);
        }
        if envelope.method.as_deref() == Some("notifications/initialized") && envelope.kind == MessageKind::Notification
        {
            self.declared.ready = true;
        }
        let said = Said { seq, time, exchange: self.exchange, ..Said::on_connection(0, direction, envelope) };
        let (registry, era) = (self.registry, step.era);
        let remember = || {
            let method = envelope.method.as_deref().unwrap_or_default().to_owned();
            let params = remembered(registry, &method, era, content);
            Box::new((PendingRequest { seq, time, direction, method, params }, era))
        };
        match self.open.message(&said, remember) {
            Role::Request { reused, .. } => step.reused = reused.map(|request| request.memory.0),
            Role::Response(response) => {
                if let Some((asked, era)) = response.request.map(|request| *request.memory) {
                    if envelope.kind == MessageKind::Result {
                        self.note_result(&asked.method, &asked.params, content);
                    }
                    step = Step { era, request: Some(asked), ..step };
                }
            }
            Role::Notification { .. } | Role::Other => {}
        }
        step
    }

    /// Returns the era of a message: what it says itself, else what was agreed on.
    fn era_of(&self, direction: Direction, envelope: &Envelope<'_>, content: &Value) -> Era {
        let agreed = self.era.unwrap_or(Era::Legacy);
        if direction == Direction::ServerToClient || envelope.kind.is_response() {
            return agreed;
        }
        match envelope.method.as_deref() {
            Some("initialize") => Era::Legacy,
            Some("server/discover") => Era::Modern,
            _ if self.names_modern || named_version(content).is_some() => Era::Modern,
            _ => agreed,
        }
    }

    /// Notes that messages are missing: the known list of tools may be outdated.
    pub(crate) fn lose_track(&mut self) {
        self.declared.tools = None;
    }

    /// Returns the requests without a response, oldest first.
    pub(crate) fn unanswered(&self) -> Vec<&PendingRequest> {
        let mut open: Vec<_> = self.open.pending().map(|request| &request.memory.0).collect();
        open.sort_by_key(|asked| asked.seq);
        open
    }

    fn note_request(&mut self, method: &str, direction: Direction, era: Era, params: &Value) {
        if direction != Direction::ClientToServer {
            return;
        }
        if method == "initialize" {
            self.initialize_asked = true;
            self.declared.client = json::trimmed(&params["capabilities"]);
        } else if era == Era::Modern && method != "server/discover" && self.era != Some(Era::Legacy) {
            self.enter_modern(named_version(params));
            self.declared.client = json::trimmed(&params["_meta"][meta::CLIENT_CAPABILITIES]);
        }
    }

    fn enter_modern(&mut self, version: Option<&str>) {
        if let Some(version) = version {
            self.version_text = Some(version.to_owned());
            self.revision = Revision::parse(version);
        }
        self.era = Some(Era::Modern);
        self.declared.ready = true;
    }

    fn note_result(&mut self, method: &str, params: &Value, result: &Value) {
        match method {
            "initialize" => {
                let version = result["protocolVersion"].as_str().unwrap_or_default();
                self.version_text = Some(version.to_owned());
                self.revision = Revision::parse(version);
                self.era = Some(Era::Legacy);
                self.declared.server = json::trimmed(&result["capabilities"]);
            }
            // In an agreed session of the legacy era, a response to `server/discover` does not change what was
            // declared.
            "server/discover" if self.era != Some(Era::Legacy) => {
                self.declared.server = json::trimmed(&result["capabilities"]);
                let versions =
                    || result["supportedVersions"].as_array().into_iter().flatten().filter_map(Value::as_str);
                let may_initialize = versions().any(|version| Era::of_version(version) == Era::Legacy);
                if let Some(modern) = versions().next().filter(|_| !may_initialize && !self.initialize_asked) {
                    self.enter_modern(Some(modern));
                }
            }
            "tools/list" => self.note_tools(params, result),
            _ => {}
        }
    }

    /// A listing without a cursor starts a new list. A page is ignored if the pages before it are unknown.
    fn note_tools(&mut self, params: &Value, result: &Value) {
        let names = result["tools"].as_array().into_iter().flatten().filter_map(|tool| tool["name"].as_str());
        let names = names.map(str::to_owned);
        if params["cursor"].is_null() {
            self.declared.tools = Some(names.collect());
        } else if let Some(tools) = &mut self.declared.tools {
            tools.extend(names);
        }
    }
}

/// Returns what is kept of a request's params until its response comes, possibly forever: everything if a
/// proposal's rules need it and it is not too long, else an outline. In the modern era, `_meta` names the revision.
fn remembered(registry: &Registry, method: &str, era: Era, params: &Value) -> Value {
    let looked_at = match method {
        "tools/call" => params["name"].as_str().is_some_and(|tool| registry.of_tool(tool).is_some()),
        _ => registry.of_method(method).is_some(),
    };
    match looked_at {
        true if fits(params, MAX_PARAMS_BYTES).is_some() => json::trimmed(params),
        true => outline(params, &["_meta", "arguments"]),
        false if era == Era::Modern => outline(params, &["_meta"]),
        false => outline(params, &[]),
    }
}

/// Returns the revision that a request's params name in the way of the modern era, unless it is one with a handshake.
fn named_version(params: &Value) -> Option<&str> {
    let version = params["_meta"][meta::PROTOCOL_VERSION].as_str()?;
    Revision::parse(version).is_none_or(|revision| revision.era() == Era::Modern).then_some(version)
}

/// Subtracts the length of a value from the remaining length; `None` if the value is longer.
fn fits(value: &Value, left: usize) -> Option<usize> {
    let left = left.checked_sub(2)?;
    match value {
        Value::String(text) => left.checked_sub(text.len()),
        Value::Array(items) => items.iter().try_fold(left, |left, item| fits(item, left)),
        Value::Object(members) => {
            members.iter().try_fold(left, |left, (name, item)| fits(item, left.checked_sub(name.len())?))
        }
        _ => Some(left),
    }
}

/// Returns the short values of an object, and of these objects in it. What is left out must not look like known data: a
/// long text becomes `true` (it is there), an array or object `null`.
fn outline(value: &Value, inner: &[&str]) -> Value {
    match value {
        Value::Object(members) if members.len() <= MAX_TEXT_BYTES => {
            let short = |(name, item): (&String, &Value)| {
                let item = match (name.as_str(), item) {
                    (name, Value::Object(_)) if inner.contains(&name) => outline(item, &[]),
                    // No rule asks whether these are there.
                    ("_meta" | "arguments", _) => return None,
                    _ => outline_of_item(item),
                };
                (name.len() <= MAX_TEXT_BYTES).then(|| (name.clone(), item))
            };
            json::exact_object(members.iter().filter_map(short).collect())
        }
        other => outline_of_item(other),
    }
}

fn outline_of_item(value: &Value) -> Value {
    match value {
        Value::String(text) if text.len() > MAX_TEXT_BYTES => Value::Bool(true),
        Value::Array(_) | Value::Object(_) => Value::Null,
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn long_params_are_remembered_in_outline() {
        let remembered = |method: &str, params: &Value| remembered(Registry::built_in(), method, Era::Modern, params);
        let filter = json!({"eventTypes": ["x".repeat(MAX_PARAMS_BYTES)]});
        let arguments = json!({"subscriptionId": "s", "filter": filter, "note": "x".repeat(300)});
        let params = json!({"name": "events_update", "arguments": arguments, "_meta": {"a": 1}});
        let outlined = json!({"subscriptionId": "s", "filter": null, "note": true});
        assert_eq!(
            remembered("tools/call", &params),
            json!({"name": "events_update", "arguments": outlined, "_meta": {"a": 1}})
        );
        let other = json!({"name": "echo", "arguments": {"a": 1}, "_meta": {"progressToken": 1, "b": {}}});
        assert_eq!(remembered("tools/call", &other), json!({"name": "echo", "_meta": {"progressToken": 1, "b": null}}));
        let short = json!({"name": "events_update", "arguments": {"filter": {"tags": ["a"]}}});
        assert_eq!(remembered("tools/call", &short), short);
        assert_eq!(
            remembered("sampling/createMessage", &json!({"messages": [1], "n": 1})),
            json!({"messages": null, "n": 1})
        );
    }
}
