//! The server's side: the subscription table behind the six tools, and which subscriptions an event goes to.
//!
//! Delivers in real time only; cron, scheduled delivery and handlers are refused, not silently dropped. Times are
//! nanoseconds of the Unix clock and come in as arguments.

pub mod filter;

use super::{DESCRIPTOR, EVENT, EXPIRED, SCHEMAS};
use crate::extension::server::{Answer, Declaration, Firing, ServerCx, ServerSide, ToolCall, Unsent, failure, success};
use filter::Filter;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::time::Duration;

/// How many subscriptions that have not expired a client may hold.
pub const MOST: usize = 16;
/// How many expired ones are kept for `events_list`.
const MOST_EXPIRED: usize = 32;
/// How long a subscription lives that names no end (Security Considerations, 5): a day.
const DEFAULT_LIFE_NS: i64 = 24 * 3600 * 1_000_000_000;

/// Its side on one connection.
#[derive(Clone, Debug, Default)]
pub struct McpeSide {
    events: Events,
}

impl ServerSide for McpeSide {
    fn declare(&mut self, _client: &Value) -> Vec<Declaration> {
        vec![Declaration { path: &["events"], value: capability() }]
    }

    fn fires(&self) -> &'static [Firing] {
        &[Firing { kind: "event", method: EVENT, occurrence: None }]
    }

    fn fire(&mut self, _kind: &str, params: &Value, cx: &mut dyn ServerCx) -> Result<String, Unsent> {
        let draft = Draft::deserialize(params).map_err(Unsent::invalid)?;
        let event_id = cx.uuid_v4();
        let event = draft.event(&event_id, &cx.stamp()).map_err(Unsent::invalid)?;
        let (subscriptions, messages): (Vec<String>, Vec<Value>) =
            self.events.deliveries(&draft, &event).into_iter().unzip();
        messages.iter().for_each(|params| cx.notify(EVENT, params));
        let told = format!("event {event_id} went to {} subscriptions", subscriptions.len());
        cx.report(json!({"report": "published", "event_id": event_id, "event_type": draft.event_type,
            "subscriptions": subscriptions}));
        Ok(told)
    }

    fn list_tools(&self, tools: &mut Vec<Value>) {
        tools.extend(self::tools());
    }

    /// The six tools answer with text, as implementations do, and with the proposal's object as structured content.
    fn call(&mut self, call: &ToolCall<'_>, cx: &mut dyn ServerCx) -> Option<Answer> {
        if !DESCRIPTOR.tools.contains(&call.tool) {
            return None;
        }
        let id = cx.uuid_v4();
        let call = Call { tool: call.tool, arguments: call.arguments, now: cx.wall_ns(), client: cx.client() };
        let result = match self.events.call(&call, || id) {
            Err(refusal) => failure(&refusal),
            Ok(done) => {
                if let Some((id, became)) = done.became {
                    cx.report(subscription(&id, became));
                }
                let mut result = success(&done.result.to_string());
                result["structuredContent"] = done.result;
                result
            }
        };
        Some(Ok(result))
    }

    fn next_wake(&self, cx: &dyn ServerCx) -> Option<Duration> {
        self.events.next_expiry().map(|at| cx.when(at))
    }

    /// Ends the subscriptions that are due and tells the host.
    fn wake(&mut self, cx: &mut dyn ServerCx) {
        for id in self.events.expire(cx.wall_ns()) {
            cx.notify(EXPIRED, &json!({"subscriptionId": id}));
            cx.report(subscription(&id, "expired"));
        }
    }
}

/// The fact that a subscription is now `active`, `paused`, `expired` or `removed`.
fn subscription(id: &str, became: &str) -> Value {
    json!({"report": "subscription", "id": id, "became": became})
}

/// What stands at `capabilities.events` (§1).
fn capability() -> Value {
    json!({
        "maxSubscriptions": MOST,
        "deliveryChannels": ["realtime"],
        "features": {"pause": true, "wildcards": true, "cronSchedule": false, "scheduledDelivery": false},
    })
}

/// The six tools as `tools/list` shows them (§2).
fn tools() -> Vec<Value> {
    serde_json::from_str(include_str!("server/tools.json")).unwrap_or_default()
}

/// Where a subscription stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Gets events.
    Active,
    /// Gets none until it is resumed.
    Paused,
    /// Its time is over.
    Expired,
}

impl Status {
    /// `active`, `paused` or `expired`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Paused => "paused",
            Self::Expired => "expired",
        }
    }
}

#[derive(Clone, Debug)]
struct Subscription {
    id: String,
    filter: Filter,
    status: Status,
    created: i64,
    updated: i64,
    expires: Option<i64>,
}

/// Who calls a tool, and when.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The tool.
    pub tool: &'a str,
    /// Its arguments.
    pub arguments: &'a Value,
    /// Now.
    pub now: i64,
    /// The client's name.
    pub client: &'a str,
}

/// What a call did.
#[derive(Clone, Debug, PartialEq)]
pub struct Done {
    /// The tool's structured result.
    pub result: Value,
    /// The subscription it was about and what became of it: a status, or `removed`.
    pub became: Option<(String, &'static str)>,
}

/// An event before it has its id and time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Draft {
    /// Its hierarchical type.
    #[serde(rename = "type")]
    pub event_type: String,
    /// Its payload, an object.
    #[serde(default)]
    pub data: serde_json::Map<String, Value>,
    /// `low`, `normal`, `high` or `critical`.
    #[serde(default = "normal")]
    pub priority: String,
    /// Labels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// What its source calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_event_id: Option<String>,
}

fn normal() -> String {
    "normal".to_owned()
}

impl Draft {
    /// The event (§4).
    ///
    /// # Errors
    /// What is against the proposal, as a sentence fragment.
    pub fn event(&self, id: &str, timestamp: &str) -> Result<Value, String> {
        let mut metadata = json!({"timestamp": timestamp, "priority": self.priority});
        if let Some(source) = &self.source_event_id {
            metadata["sourceEventId"] = json!(source);
        }
        if !self.tags.is_empty() {
            metadata["tags"] = json!(self.tags);
        }
        let event = json!({"id": id, "type": self.event_type, "data": self.data, "metadata": metadata});
        fits("Event", &event)?;
        if self.event_type.is_empty() { Err("an event needs a type".to_owned()) } else { Ok(event) }
    }
}

/// The subscriptions of one client.
#[derive(Clone, Debug, Default)]
pub struct Events {
    table: Vec<Subscription>,
}

impl Events {
    /// Runs one of the six tools. `new_id` is used where a subscription is made.
    ///
    /// # Errors
    /// What is refused and why, as a sentence for the model.
    pub fn call(&mut self, call: &Call<'_>, new_id: impl FnOnce() -> String) -> Result<Done, String> {
        fits(&format!("tool:{}:arguments", call.tool), call.arguments)?;
        match call.tool {
            "events_subscribe" => self.subscribe(call, new_id()),
            "events_list" => Ok(self.list(call)),
            "events_unsubscribe" => Ok(self.unsubscribe(call)),
            "events_pause" => self.switch(call, Status::Paused),
            "events_resume" => self.switch(call, Status::Active),
            "events_update" => self.update(call),
            other => Err(format!("there is no tool {other}")),
        }
    }

    fn subscribe(&mut self, call: &Call<'_>, id: String) -> Result<Done, String> {
        if call.arguments.get("handler").is_some() {
            return Err("this server runs no handlers: leave `handler` out and take the notifications".to_owned());
        }
        check_delivery(call.arguments)?;
        if self.table.iter().filter(|known| known.status != Status::Expired).count() >= MOST {
            return Err(format!("at most {MOST} subscriptions: unsubscribe from one first"));
        }
        let expires = match call.arguments.get("expiresAt") {
            Some(value) => expiry(value, call.now)?,
            None => Some(call.now.saturating_add(DEFAULT_LIFE_NS)),
        };
        let filter = read_filter(call.arguments)?.unwrap_or_default();
        let made = Subscription { id, filter, status: Status::Active, created: call.now, updated: call.now, expires };
        let mut result = json!({"subscriptionId": made.id, "status": "active"});
        made.describe(&mut result);
        let became = Some((made.id.clone(), "active"));
        self.table.push(made);
        Ok(Done { result, became })
    }

    fn list(&self, call: &Call<'_>) -> Done {
        let wanted = call.arguments.get("status").and_then(Value::as_str);
        let listed: Vec<Value> = self
            .table
            .iter()
            .filter(|known| wanted.is_none_or(|status| status == known.status.name()))
            .map(|known| {
                let mut entry = json!({"id": known.id, "clientId": call.client, "status": known.status});
                known.describe(&mut entry);
                entry["updatedAt"] = json!(stamp(known.updated));
                entry
            })
            .collect();
        Done { result: json!({"subscriptions": listed}), became: None }
    }

    /// Removing what is not there is no error: the result says that nothing was removed.
    fn unsubscribe(&mut self, call: &Call<'_>) -> Done {
        let id = subscription_id(call.arguments);
        let before = self.table.len();
        self.table.retain(|known| known.id != id);
        let success = self.table.len() < before;
        let became = success.then(|| (id.to_owned(), "removed"));
        Done { result: json!({"subscriptionId": id, "success": success}), became }
    }

    fn switch(&mut self, call: &Call<'_>, status: Status) -> Result<Done, String> {
        let known = self.usable(call.arguments)?;
        known.status = status;
        known.updated = call.now;
        let result = json!({"subscriptionId": known.id, "status": status, "success": true});
        Ok(Done { result, became: Some((known.id.clone(), status.name())) })
    }

    /// Replaces each top-level member that is given (AMB-E12).
    fn update(&mut self, call: &Call<'_>) -> Result<Done, String> {
        check_delivery(call.arguments)?;
        let filter = read_filter(call.arguments)?;
        let expires = call.arguments.get("expiresAt").map(|value| expiry(value, call.now)).transpose()?;
        let known = self.usable(call.arguments)?;
        if let Some(filter) = filter {
            known.filter = filter;
        }
        if let Some(expires) = expires {
            known.expires = expires;
        }
        known.updated = call.now;
        let mut result = json!({"subscriptionId": known.id, "status": known.status});
        known.describe(&mut result);
        result["updatedAt"] = json!(stamp(known.updated));
        Ok(Done { result, became: Some((known.id.clone(), known.status.name())) })
    }

    fn usable(&mut self, arguments: &Value) -> Result<&mut Subscription, String> {
        let id = subscription_id(arguments);
        match self.table.iter_mut().find(|known| known.id == id) {
            None => Err(format!("there is no subscription {id}")),
            Some(known) if known.status == Status::Expired => Err(format!("subscription {id} has expired")),
            Some(known) => Ok(known),
        }
    }

    /// The params of an `events/event` for each active subscription that the event is for, in their order.
    pub fn deliveries(&self, draft: &Draft, event: &Value) -> Vec<(String, Value)> {
        let wants = |known: &&Subscription| {
            known.status == Status::Active && known.filter.matches(&draft.event_type, &draft.tags, &draft.priority)
        };
        let params = |known: &Subscription| json!({"subscriptionId": known.id, "event": event});
        self.table.iter().filter(wants).map(|known| (known.id.clone(), params(known))).collect()
    }

    /// Ends what is due, and answers with their names in the order of their ends; each asks for an
    /// `events/subscription_expired`.
    pub fn expire(&mut self, now: i64) -> Vec<String> {
        let mut due: Vec<(i64, String)> = Vec::new();
        for known in &mut self.table {
            let Some(expires) = known.expires.filter(|at| known.status != Status::Expired && *at <= now) else {
                continue;
            };
            known.status = Status::Expired;
            known.updated = expires;
            due.push((expires, known.id.clone()));
        }
        due.sort();
        self.forget();
        due.into_iter().map(|(_, id)| id).collect()
    }

    fn forget(&mut self) {
        let expired = self.table.iter().filter(|known| known.status == Status::Expired).count();
        let mut surplus = expired.saturating_sub(MOST_EXPIRED);
        self.table.retain(|known| {
            let goes = surplus > 0 && known.status == Status::Expired;
            surplus -= usize::from(goes);
            !goes
        });
    }

    /// When the next subscription ends.
    pub fn next_expiry(&self) -> Option<i64> {
        self.table.iter().filter(|known| known.status != Status::Expired).filter_map(|known| known.expires).min()
    }
}

impl Subscription {
    fn describe(&self, out: &mut Value) {
        out["filter"] = json!(self.filter);
        out["delivery"] = json!({"channels": ["realtime"]});
        out["createdAt"] = json!(stamp(self.created));
        if let Some(expires) = self.expires {
            out["expiresAt"] = json!(stamp(expires));
        }
    }
}

/// A time as RFC 3339 in UTC, in milliseconds: what JavaScript's dates hold.
fn stamp(ns: i64) -> String {
    jiff::Timestamp::from_nanosecond(i128::from(ns)).map(|time| format!("{time:.3}")).unwrap_or_default()
}

fn subscription_id(arguments: &Value) -> &str {
    arguments.get("subscriptionId").and_then(Value::as_str).unwrap_or_default()
}

fn fits(name: &str, value: &Value) -> Result<(), String> {
    match SCHEMAS.check(name, value).unwrap_or_default().first() {
        Some(misfit) => Err(misfit.to_string()),
        None => Ok(()),
    }
}

fn read_filter(arguments: &Value) -> Result<Option<Filter>, String> {
    let Some(given) = arguments.get("filter") else { return Ok(None) };
    let filter: Filter = serde_json::from_value(given.clone()).map_err(|error| format!("filter: {error}"))?;
    match filter.odd_pattern() {
        Some(pattern) => Err(format!("type pattern {pattern:?}: only `*` and a trailing `.*` are wildcards")),
        None => Ok(Some(filter)),
    }
}

fn check_delivery(arguments: &Value) -> Result<(), String> {
    let Some(delivery) = arguments.get("delivery") else { return Ok(()) };
    let channels = delivery["channels"].as_array().map(Vec::as_slice).unwrap_or_default();
    if let Some(other) = channels.iter().find(|channel| channel.as_str() != Some("realtime")) {
        return Err(format!("delivery channel {other} is not offered: only realtime is"));
    }
    match ["cronSchedule", "scheduledDelivery"].into_iter().find(|name| delivery.get(name).is_some()) {
        Some(name) => Err(format!("`{name}` is not offered: only realtime delivery is")),
        None if channels.is_empty() => Err("`channels` names no channel: nothing could be delivered".to_owned()),
        None => Ok(()),
    }
}

/// Reads `expiresAt`; null is no end.
fn expiry(value: &Value, now: i64) -> Result<Option<i64>, String> {
    let Some(text) = value.as_str() else { return Ok(None) };
    let time: jiff::Timestamp = text.parse().map_err(|error| format!("`expiresAt` {text:?}: {error}"))?;
    let ns = i64::try_from(time.as_nanosecond()).map_err(|_| format!("`expiresAt` {text:?} is out of range"))?;
    if ns <= now { Err(format!("`expiresAt` {text} has passed")) } else { Ok(Some(ns)) }
}

#[cfg(test)]
mod tests;
