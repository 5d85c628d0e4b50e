//! What the server sends by itself: on orders, on timers, or when a tool asks for it.

use super::proposals::ServerProposals;
use super::{Config, Phase, Report, Server};
use crate::proposals::REGISTRY;
use crate::proposals::server::{ServerCx, Unsent};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// MCP's log levels, lowest first.
const LEVELS: &[&str] = &["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
/// The index of the level that applies until the host sets one: `info`.
pub(super) const DEFAULT_LEVEL: usize = 1;

/// The method of MCP that reports a changed resource.
const UPDATED: &str = "notifications/resources/updated";

/// The index of a level; `None` if it is unknown.
pub(super) fn level_rank(level: &str) -> Option<usize> {
    LEVELS.iter().position(|known| *known == level)
}

/// Something to send. In JSON, an object whose `kind` selects the message, and further members that depend on the kind.
/// Proposals define kinds of their own; MCP's are `log`, `changed`, `notification` and `request`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fired {
    kind: String,
    #[serde(flatten)]
    params: Map<String, Value>,
}

/// The kinds of MCP itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Plain {
    /// A log message.
    Log {
        /// The level.
        #[serde(default = "info")]
        level: String,
        /// The content.
        data: Value,
    },
    /// A resource has changed; sent to hosts that have subscribed to it or to a folder that contains it.
    Changed {
        /// The resource's URI.
        uri: String,
    },
    /// Any notification, sent as it is, whatever was declared.
    Notification {
        /// The method.
        method: String,
        /// The params.
        #[serde(default = "empty")]
        params: Value,
    },
    /// Any request, sent as it is, whatever was declared; the response is reported.
    Request {
        /// The method.
        method: String,
        /// The params.
        #[serde(default = "empty")]
        params: Value,
    },
}

fn info() -> String {
    "info".to_owned()
}

fn empty() -> Value {
    json!({})
}

impl Plain {
    const KINDS: [&str; 4] = ["log", "changed", "notification", "request"];

    /// The members allowed beside one of MCP's kinds; empty for other kinds.
    const fn members(kind: &str) -> &'static [&'static str] {
        match kind.as_bytes() {
            b"log" => &["level", "data"],
            b"changed" => &["uri"],
            b"notification" | b"request" => &["method", "params"],
            _ => &[],
        }
    }

    fn method(&self) -> &str {
        match self {
            Self::Log { .. } => "notifications/message",
            Self::Changed { .. } => UPDATED,
            Self::Notification { method, .. } | Self::Request { method, .. } => method,
        }
    }
}

impl Fired {
    /// A message of this kind; the members of `params` become its members.
    pub fn new(kind: &str, params: impl Serialize) -> Self {
        let params = match serde_json::to_value(params) {
            Ok(Value::Object(params)) => params,
            _ => Map::new(),
        };
        Self { kind: kind.to_owned(), params }
    }

    /// The kind.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// Checks the kind and its members.
    ///
    /// # Errors
    ///
    /// What is wrong, as a sentence.
    pub fn check(&self) -> Result<(), String> {
        self.check_in(&ServerProposals::new(REGISTRY, &Config::default()))
    }

    /// Checks it like [`Self::check`], and against the settings of the server that will send it.
    ///
    /// # Errors
    ///
    /// What is wrong, as a sentence.
    pub fn check_for(&self, config: &Config) -> Result<(), String> {
        let proposals = ServerProposals::new(REGISTRY, config);
        self.check_in(&proposals)?;
        let checked = proposals.check_settings(&self.kind, &self.params());
        checked.map_err(|violation| format!("{}: {violation}", self.kind))
    }

    /// The same with this id and this time, in ISO 8601, where it has none: something that happened once is sent to all
    /// hosts with the same ones.
    pub fn happened(mut self, id: &str, time: &str) -> Self {
        let proposals = ServerProposals::new(REGISTRY, &Config::default());
        if let Some(firing) = proposals.fires().find(|firing| firing.kind == self.kind) {
            for (name, value) in [(firing.occurrence, id), (firing.time, time)] {
                if let Some(name) = name {
                    self.params.entry(name).or_insert_with(|| value.into());
                }
            }
        }
        self
    }

    fn check_in(&self, proposals: &ServerProposals) -> Result<(), String> {
        let known: Vec<&str> = proposals.fires().map(|firing| firing.kind).chain(Plain::KINDS).collect();
        if !known.contains(&self.kind.as_str()) {
            return Err(format!("unknown kind {:?}; known kinds: {}", self.kind, known.join(", ")));
        }
        self.check_members(proposals)?;
        if Plain::KINDS.contains(&self.kind.as_str()) {
            return self.plain().map(drop);
        }
        proposals.check_fire(&self.kind, &self.params()).map_err(|violation| format!("{}: {violation}", self.kind))
    }

    /// Refuses unknown members, because they must be typing errors.
    fn check_members(&self, proposals: &ServerProposals) -> Result<(), String> {
        let schema = proposals.fire_schema(&self.kind);
        let known: Vec<&str> = match Plain::members(&self.kind) {
            [] => schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect(),
            plain => plain.to_vec(),
        };
        let Some(unknown) = self.params.keys().find(|name| !known.contains(&name.as_str())) else { return Ok(()) };
        let there_is = if known.is_empty() { "nothing".to_owned() } else { known.join(", ") };
        Err(format!("{}: unknown member {unknown:?}; allowed beside kind: {there_is}", self.kind))
    }

    fn plain(&self) -> Result<Plain, String> {
        let whole = serde_json::to_value(self).unwrap_or_default();
        Plain::deserialize(whole).map_err(|error| format!("{}: {error}", self.kind))
    }

    fn params(&self) -> Value {
        Value::Object(self.params.clone())
    }
}

impl Server {
    /// Adapts a repetition of a plan: it is a new event, so an id that the plan gives gets a number.
    pub(super) fn occurrence(&self, mut fired: Fired, done: u64) -> Fired {
        let firing = self.proposals.fires().find(|firing| firing.kind == fired.kind);
        let named = firing.and_then(|firing| fired.params.get_mut(firing.occurrence?));
        if let Some(Value::String(name)) = named.filter(|_| done > 0) {
            *name = format!("{name}-{}", done + 1);
        }
        fired
    }

    /// The method that carries it; the kind itself if that is unknown.
    fn method_of(&self, fired: &Fired) -> String {
        let firing = self.proposals.fires().find(|firing| firing.kind == fired.kind);
        let plain = || fired.plain().map_or_else(|_| fired.kind.clone(), |plain| plain.method().to_owned());
        firing.map_or_else(plain, |firing| firing.method.to_owned())
    }

    /// Sends something, if allowed. Returns what was done, or why not; both are also reported.
    ///
    /// # Errors
    ///
    /// Why nothing was sent.
    pub(super) fn act(&mut self, fired: &Fired) -> Result<String, Unsent> {
        let done = match self.session.phase {
            Phase::Ready => self.act_now(fired),
            _ if self.session.is_modern => {
                Err(Unsent::new("no_carrier", "the host uses the modern era, in which servers send nothing unasked"))
            }
            _ => Err(Unsent::new("not_ready", "the handshake is not complete")),
        };
        if let Err(reason) = &done {
            let method = self.method_of(fired);
            self.report(Report::NotSent { method, reason: reason.clone() });
        }
        done
    }

    fn act_now(&mut self, fired: &Fired) -> Result<String, Unsent> {
        fired.check_in(&self.proposals).map_err(Unsent::invalid)?;
        match fired.plain() {
            Ok(Plain::Log { level, data }) => self.log(&level, &data),
            Ok(Plain::Changed { uri }) if !self.cx.is_watched(&uri) => {
                Err(Unsent::new("not_watched", format!("the host has not subscribed to {uri}")).with("uri", uri))
            }
            Ok(Plain::Changed { uri }) => Ok(self.cx.send(UPDATED, &json!({"uri": uri}))),
            Ok(Plain::Notification { method, params }) => Ok(self.cx.send(&method, &params)),
            Ok(Plain::Request { method, params }) => Ok(self.cx.ask(&method, &params, Value::Null)),
            Err(_) => self.proposals.fire(&fired.kind, &fired.params(), &mut self.cx),
        }
    }

    fn log(&mut self, level: &str, data: &Value) -> Result<String, Unsent> {
        let rank = level_rank(level).ok_or_else(|| Unsent::invalid(format!("unknown log level {level:?}")))?;
        if rank < self.session.log_level {
            let wanted = LEVELS.get(self.session.log_level).copied().unwrap_or_default();
            let said = format!("the host only wants log messages of level {wanted} and above");
            return Err(Unsent::new("below_level", said).with("level", wanted));
        }
        let params = json!({"level": level, "logger": self.config.name, "data": data});
        Ok(self.cx.send("notifications/message", &params))
    }

    /// The input schema of the tool `emit`: the kinds that respect what was declared, and their members.
    pub(super) fn emit_schema(&self) -> Value {
        let log = json!({"properties": {
            "level": {"enum": LEVELS, "description": "The level"},
            "data": {"description": "The content, any value"},
        }});
        let kinds: Vec<&str> = self.proposals.fires().map(|firing| firing.kind).chain(["log"]).collect();
        let mut members = Map::new();
        for kind in &kinds {
            let schema = if *kind == "log" { log.clone() } else { self.proposals.fire_schema(kind) };
            for (name, member) in schema["properties"].as_object().cloned().unwrap_or_default() {
                let said = format!("{kind}: {}", member["description"].as_str().unwrap_or_default());
                match members.get_mut(&name) {
                    // For a member of several kinds, keep only the descriptions, one for each kind.
                    Some(known) => {
                        let before = known["description"].as_str().unwrap_or_default();
                        *known = json!({"description": format!("{before}; {said}")});
                    }
                    None => {
                        let mut member = member;
                        member["description"] = json!(said);
                        members.insert(name, member);
                    }
                }
            }
        }
        let mut properties = Map::from_iter([("kind".to_owned(), json!({"enum": kinds}))]);
        properties.extend(members);
        json!({"type": "object", "description": "Each member other than kind belongs to one kind, which its description names.",
            "properties": properties, "required": ["kind"]})
    }
}
