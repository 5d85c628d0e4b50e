//! What the server sends of its own will: when told, when a plan says so, when a tool asks for it.

use super::proposals::ServerProposals;
use super::{Config, Phase, Report, Server};
use crate::proposals::REGISTRY;
use crate::proposals::server::{ServerCx, Unsent};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Log levels, lowest first.
const LEVELS: &[&str] = &["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
/// The level until the host sets one: `info`.
pub const DEFAULT_LEVEL: usize = 1;

/// A resource has changed (MCP).
const UPDATED: &str = "notifications/resources/updated";

/// A level's place; `None` for what is no level.
pub fn level_rank(level: &str) -> Option<usize> {
    LEVELS.iter().position(|known| *known == level)
}

/// Something to send. As JSON, an object whose `kind` says what; the other members are the kind's own. The rooms have
/// kinds of their own; MCP's are `log`, `changed`, `notification` and `request`.
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
        /// Its level.
        #[serde(default = "info")]
        level: String,
        /// What it says.
        data: Value,
    },
    /// A resource has changed; told to a host that watches it or a folder that it is in.
    Changed {
        /// Which.
        uri: String,
    },
    /// Any notification, as it is, whatever was declared.
    Notification {
        /// Its method.
        method: String,
        /// Its params.
        #[serde(default = "empty")]
        params: Value,
    },
    /// Any request, as it is, whatever was declared; its answer is reported.
    Request {
        /// Its method.
        method: String,
        /// Its params.
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

    /// What may stand beside a kind of MCP's; nothing for another's.
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
    /// Something of this kind; what is no object has no members.
    pub fn new(kind: &str, params: impl Serialize) -> Self {
        let params = match serde_json::to_value(params) {
            Ok(Value::Object(params)) => params,
            _ => Map::new(),
        };
        Self { kind: kind.to_owned(), params }
    }

    /// What it is.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// Whether it can be sent at all: a known kind with what belongs to it.
    ///
    /// # Errors
    /// What is wrong, as a sentence.
    pub fn check(&self) -> Result<(), String> {
        self.check_in(&ServerProposals::new(REGISTRY, &Config::default()))
    }

    fn check_in(&self, proposals: &ServerProposals) -> Result<(), String> {
        let known: Vec<&str> = proposals.fires().map(|firing| firing.kind).chain(Plain::KINDS).collect();
        if !known.contains(&self.kind.as_str()) {
            return Err(format!("there is no kind {:?}: the kinds are {}", self.kind, known.join(", ")));
        }
        self.check_members(proposals)?;
        if Plain::KINDS.contains(&self.kind.as_str()) {
            return self.plain().map(drop);
        }
        proposals.check_fire(&self.kind, &self.params()).map_err(|violation| format!("{}: {violation}", self.kind))
    }

    /// A member that nobody reads is a slip of the pen.
    fn check_members(&self, proposals: &ServerProposals) -> Result<(), String> {
        let schema = proposals.fire_schema(&self.kind);
        let known: Vec<&str> = match Plain::members(&self.kind) {
            [] => schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect(),
            plain => plain.to_vec(),
        };
        let Some(unknown) = self.params.keys().find(|name| !known.contains(&name.as_str())) else { return Ok(()) };
        let there_is = if known.is_empty() { "nothing".to_owned() } else { known.join(", ") };
        Err(format!("{}: there is no member {unknown:?}; beside kind it may have {there_is}", self.kind))
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
    /// The same for a plan's later turn: another occurrence is another event, so a given name of one gets a number.
    pub(super) fn occurrence(&self, mut fired: Fired, done: u64) -> Fired {
        let firing = self.proposals.fires().find(|firing| firing.kind == fired.kind);
        let named = firing.and_then(|firing| fired.params.get_mut(firing.occurrence?));
        if let Some(Value::String(name)) = named.filter(|_| done > 0) {
            *name = format!("{name}-{}", done + 1);
        }
        fired
    }

    /// The method that it goes out by; the kind itself where that is unknown.
    fn method_of(&self, fired: &Fired) -> String {
        let firing = self.proposals.fires().find(|firing| firing.kind == fired.kind);
        let plain = || fired.plain().map_or_else(|_| fired.kind.clone(), |plain| plain.method().to_owned());
        firing.map_or_else(plain, |firing| firing.method.to_owned())
    }

    /// Sends what it is told to, if it may. Answers with what was done, or why not; both are reported too.
    pub(super) fn act(&mut self, fired: &Fired) -> Result<String, Unsent> {
        let done = match self.session.phase {
            Phase::Ready => self.act_now(fired),
            _ if self.session.is_modern => {
                Err(Unsent::new("no_carrier", "the host works in an era in which a server sends nothing unasked"))
            }
            _ => Err(Unsent::new("not_ready", "the handshake is not over")),
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
                Err(Unsent::new("not_watched", format!("the host does not watch {uri}")).with("uri", uri))
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
            let said = format!("the host wants log messages from {wanted} on");
            return Err(Unsent::new("below_level", said).with("level", wanted));
        }
        let params = json!({"level": level, "logger": self.config.name, "data": data});
        Ok(self.cx.send("notifications/message", &params))
    }

    /// What the tool `emit` takes: the kinds that stay within what was declared, and their members.
    pub(super) fn emit_schema(&self) -> Value {
        let log = json!({"properties": {
            "level": {"enum": LEVELS, "description": "Its level"},
            "data": {"description": "What it says, any value"},
        }});
        let kinds: Vec<&str> = self.proposals.fires().map(|firing| firing.kind).chain(["log"]).collect();
        let mut members = Map::new();
        for kind in &kinds {
            let schema = if *kind == "log" { log.clone() } else { self.proposals.fire_schema(kind) };
            for (name, member) in schema["properties"].as_object().cloned().unwrap_or_default() {
                let said = format!("{kind}: {}", member["description"].as_str().unwrap_or_default());
                match members.get_mut(&name) {
                    // Of what several kinds have only the words stay, for each its own.
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
        json!({"type": "object", "description": "Members beside kind belong to one kind, named in their descriptions.",
            "properties": properties, "required": ["kind"]})
    }
}
