//! The subscriptions of one client: the six tools, where events go, and what is due.
//!
//! It does no I/O: times are arguments in Unix nanoseconds, and notifications and reports are returned as
//! [`SubscriptionAction`]s. A subscription receives events in the order in which they were published.

use super::delivery::{Delivery, TIME};
use super::event::Event;
use super::filter::Filter;
use super::handlers::Delivered;
use super::handlers::handler::{Handler, check_shape};
use super::settings::Settings;
use super::subscription::{Due, Expiry, Minute, Status, Subscription};
use super::{fits, stamp};
use crate::proposals::mcpe::{BATCH, EVENT, EXPIRED, unknown_member};
use crate::proposals::server::handler_job::HandlerPolicy;
use crate::proposals::timestamp::{instant, unix_ns};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// How many expired subscriptions are kept for `events_list`.
const MAX_EXPIRED: usize = 32;
const SECOND: i64 = 1_000_000_000;

/// A tool call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call<'a> {
    /// The name of the tool.
    pub tool: &'a str,
    /// The arguments.
    pub arguments: &'a Value,
    /// The current time in Unix nanoseconds.
    pub now: i64,
    /// The time since the connection began.
    pub since: Duration,
    /// The name of the client.
    pub client: &'a str,
    /// Why the client offers no model for agents; `None` if it offers one.
    pub no_model: Option<&'a str>,
}

/// Something that the caller has to do.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SubscriptionAction {
    /// Send a notification.
    Notify(&'static str, Value),
    /// Run the handler of this subscription.
    Handle(String, Arc<Handler>, Delivered),
    /// Drop what waits for the handler of this subscription.
    Forget(String),
    /// Report something.
    Report(Value),
}

/// The result of a tool, and what to do besides.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ToolOutcome {
    /// The structured result.
    pub result: Value,
    /// What to do.
    pub acts: Vec<SubscriptionAction>,
}

/// The subscriptions of one client.
#[derive(Clone, Debug, Default)]
pub(crate) struct Subscriptions {
    /// The limits and permissions.
    pub settings: Settings,
    /// The permitted handlers.
    pub handler_policy: HandlerPolicy,
    table: Vec<Subscription>,
    made: Minute,
}

/// The report that a subscription is now `active`, `paused`, `expired` or `removed`, with the number of undelivered
/// events.
fn became(id: &str, status: &str, undelivered: usize) -> SubscriptionAction {
    let mut report = json!({"report": "subscription", "id": id, "became": status});
    if undelivered > 0 {
        report["undelivered"] = json!(undelivered);
    }
    SubscriptionAction::Report(report)
}

impl Subscription {
    /// The handler to run for a delivery, if there is one.
    fn handled(&self, delivered: impl FnOnce() -> Delivered) -> Option<SubscriptionAction> {
        let handler = self.handler.as_ref()?;
        Some(SubscriptionAction::Handle(self.id.clone(), Arc::clone(handler), delivered()))
    }
}

/// The report that an event does not reach a subscription that it matched.
fn dropped(id: &str, event: &Event, why: &str) -> SubscriptionAction {
    SubscriptionAction::Report(json!({"report": "dropped", "id": id, "event_id": event.id, "why": why}))
}

impl Subscriptions {
    /// Runs one of the six tools. `new_id` provides the id of a new subscription.
    ///
    /// # Errors
    /// What is refused and why, as a sentence for the model.
    pub(crate) fn call(&mut self, call: &Call<'_>, new_id: impl FnOnce() -> String) -> Result<ToolOutcome, String> {
        let flat = flat(call);
        let call = &Call { arguments: flat.as_ref().unwrap_or(call.arguments), ..*call };
        // The check of the handler's own type gives a clearer error than the check of all three types.
        call.arguments.get("handler").map(check_shape).transpose()?;
        fits(&format!("tool:{}:arguments", call.tool), call.arguments)?;
        if call.tool == "events_update" {
            check_update(call.arguments)?;
        }
        check_members(call.tool, call.arguments)?;
        match call.tool {
            "events_subscribe" => self.subscribe(call, new_id()),
            "events_list" => Ok(self.list(call)),
            "events_unsubscribe" => Ok(self.unsubscribe(call)),
            "events_pause" => self.switch(call, Status::Paused),
            "events_resume" => self.switch(call, Status::Active),
            "events_update" => self.update(call),
            other => Err(format!("unknown tool {other}")),
        }
    }

    fn subscribe(&mut self, call: &Call<'_>, id: String) -> Result<ToolOutcome, String> {
        let read = |given: &Value| Handler::read(given, &self.handler_policy, call.no_model);
        let handler = call.arguments.get("handler").map(read).transpose()?;
        let delivery = Delivery::read(call.arguments.get("delivery"), call.now)?;
        let filter = read_filter(call.arguments)?.unwrap_or_default();
        self.settings.authorize(&filter)?;
        let expires = match call.arguments.get("expiresAt") {
            Some(value) => expiry(value, call.now)?,
            None => self.default_end(&delivery, call.now),
        };
        check_end(&delivery, expires.as_ref(), call)?;
        let most = self.settings.max_subscriptions;
        if self.table.iter().filter(|known| known.status != Status::Expired).count() >= most {
            return Err(format!("too many subscriptions (at most {most}): unsubscribe from one first"));
        }
        let rate = self.settings.subscriptions_per_minute;
        if !self.made.admits(rate, call.since) {
            return Err(format!("too many subscriptions in a minute (at most {rate}): try again later"));
        }
        let mut made = Subscription::new(id, filter, delivery, expires, call.now);
        made.handler = handler.map(Arc::new);
        let mut result = json!({"subscriptionId": made.id, "status": "active"});
        made.describe(&mut result);
        let mut acts = reported(&made);
        acts.extend(made.handler.iter().filter_map(|handler| without_tools(&made.id, handler, &self.handler_policy)));
        self.table.push(made);
        Ok(ToolOutcome { result, acts })
    }

    fn list(&self, call: &Call<'_>) -> ToolOutcome {
        let wanted = call.arguments.get("status").and_then(Value::as_str);
        let listed: Vec<Value> = self
            .table
            .iter()
            .filter(|known| wanted.is_none_or(|status| status == known.status.name()))
            .map(|known| {
                let mut entry = json!({"id": known.id, "clientId": call.client, "status": known.status});
                known.describe(&mut entry);
                if let Some(handler) = &known.handler {
                    entry["handler"] = handler.given().clone();
                }
                entry["updatedAt"] = json!(stamp(known.updated));
                entry
            })
            .collect();
        ToolOutcome { result: json!({"subscriptions": listed}), acts: Vec::new() }
    }

    /// Removing an unknown subscription is not an error: the result says that nothing was removed.
    fn unsubscribe(&mut self, call: &Call<'_>) -> ToolOutcome {
        let id = subscription_id(call.arguments);
        let removed = self.table.iter().position(|known| known.id == id).map(|at| self.table.remove(at));
        let ends =
            |known: &Subscription| [became(id, "removed", known.held.len()), SubscriptionAction::Forget(id.to_owned())];
        let acts = removed.iter().flat_map(ends).collect();
        ToolOutcome { result: json!({"subscriptionId": id, "success": removed.is_some()}), acts }
    }

    fn switch(&mut self, call: &Call<'_>, status: Status) -> Result<ToolOutcome, String> {
        let known = self.usable(call.arguments)?;
        known.status = status;
        known.updated = call.now;
        known.set_fires(call.now);
        let result = json!({"subscriptionId": known.id, "status": status, "success": true});
        Ok(ToolOutcome { result, acts: vec![became(&known.id, status.name(), 0)] })
    }

    /// Replaces each top-level member that is given. Waiting events that no longer match are dropped and reported.
    fn update(&mut self, call: &Call<'_>) -> Result<ToolOutcome, String> {
        let given = call.arguments.get("delivery");
        let delivery = given.map(|_| Delivery::read(given, call.now)).transpose()?;
        let filter = read_filter(call.arguments)?;
        filter.iter().try_for_each(|filter| self.settings.authorize(filter))?;
        let expires = call.arguments.get("expiresAt").map(|value| expiry(value, call.now)).transpose()?;
        let known = self.usable(call.arguments)?;
        let expires = expires.unwrap_or_else(|| known.expires.clone());
        check_end(delivery.as_ref().unwrap_or(&known.delivery), expires.as_ref(), call)?;
        if let Some(filter) = filter {
            known.filter = filter;
        }
        if let Some(delivery) = delivery {
            known.set_delivery(delivery, call.now);
        }
        known.expires = expires;
        known.updated = call.now;
        let why = if known.gathers() { "filter_changed" } else { "delivery_changed" };
        let (stay, gone) =
            std::mem::take(&mut known.held).into_iter().partition(|event| known.gathers() && known.passes(event));
        known.held = stay;
        known.set_fires(call.now);
        let mut result = json!({"subscriptionId": known.id, "status": known.status});
        known.describe(&mut result);
        result["updatedAt"] = json!(stamp(known.updated));
        let mut acts = reported(known);
        acts.extend(Vec::from(gone).iter().map(|event| dropped(&known.id, event, why)));
        Ok(ToolOutcome { result, acts })
    }

    fn usable(&mut self, arguments: &Value) -> Result<&mut Subscription, String> {
        let id = subscription_id(arguments);
        match self.table.iter_mut().find(|known| known.id == id) {
            None => Err(format!("unknown subscription {id}")),
            Some(known) if known.status == Status::Expired => Err(format!("subscription {id} has expired")),
            Some(known) => Ok(known),
        }
    }

    /// The end of a subscription that names none: its lifetime is counted from its delivery, and from the first time of a
    /// schedule that it would not reach otherwise.
    fn default_end(&self, delivery: &Delivery, now: i64) -> Option<Expiry> {
        let life = i64::try_from(self.settings.life_seconds).unwrap_or(i64::MAX).saturating_mul(SECOND);
        let first = delivery.cron.as_ref().filter(|_| !delivery.realtime).and_then(|cron| cron.schedule.next(now));
        let late = first.filter(|first| *first > now.saturating_add(life));
        let from = delivery.scheduled.as_ref().map(|scheduled| scheduled.at).or(late).map_or(now, |from| from.max(now));
        // From the year 2262 on, there is no later time.
        (life > 0 && from < i64::MAX).then(|| Expiry::at(from.saturating_add(life)))
    }

    /// Publishes an event: sends it, keeps it for later, or reports why a subscription does not get it.
    pub(crate) fn publish(&mut self, event: &Event, now: i64, since: Duration) -> Vec<SubscriptionAction> {
        let (mut acts, mut sent, mut held) = (Vec::new(), Vec::new(), Vec::new());
        let draft = &event.draft;
        for known in self.table.iter_mut().filter(|known| known.status == Status::Active) {
            if !known.wants(event) {
                if let Some(pattern) = known.filter.near_miss(&draft.event_type, &draft.tags, &draft.priority) {
                    acts.push(SubscriptionAction::Report(
                        json!({"report": "read_otherwise", "id": known.id, "pattern": pattern,
                        "event_id": event.id, "event_type": draft.event_type,
                        "text": "some servers would deliver this event, because they treat the wildcard differently"}),
                    ));
                }
                continue;
            }
            if !known.rate.admits(self.settings.events_per_minute, since) {
                acts.push(dropped(&known.id, event, "rate"));
                continue;
            }
            if known.delivery.realtime {
                acts.push(SubscriptionAction::Notify(EVENT, json!({"subscriptionId": known.id, "event": event.value})));
                acts.extend(known.handled(|| Delivered::Event(event.value.clone())));
                sent.push(known.id.clone());
            }
            if known.gathers() {
                held.push(known.id.clone());
                let gone = known.hold(event.clone(), self.settings.most_kept, now);
                acts.extend(gone.iter().map(|event| dropped(&known.id, event, "full")));
            }
        }
        acts.push(SubscriptionAction::Report(
            json!({"report": "published", "event_id": event.id, "event_type": draft.event_type,
            "subscriptions": sent, "held": held}),
        ));
        acts
    }

    /// The wall clock was set.
    pub(crate) fn clock_stepped(&mut self, now: i64) {
        self.table.iter_mut().for_each(|known| known.clock_stepped(now));
    }

    /// When something is due next, in Unix nanoseconds.
    pub(crate) fn next_due(&self) -> Option<i64> {
        self.table.iter().filter_map(Subscription::next_due).map(|(at, _)| at).min()
    }

    /// Does what is due, in chronological order. Afterwards [`Self::next_due`] is in the future.
    pub(crate) fn handle_timeout(&mut self, now: i64) -> Vec<SubscriptionAction> {
        let mut acts = Vec::new();
        loop {
            let all = self.table.iter().enumerate().filter_map(|(index, known)| Some((known.next_due()?, index)));
            let Some(((at, due), index)) = all.min().filter(|((at, _), _)| *at <= now) else { break };
            let Some(known) = self.table.get_mut(index) else { break };
            match due {
                Due::Cron => fire(known, at, now, &mut acts),
                Due::Scheduled => deliver_once(known, at, &mut acts),
                Due::Expiry => expire(known, at, &mut acts),
            }
        }
        self.forget();
        acts
    }

    fn forget(&mut self) {
        let expired = self.table.iter().filter(|known| known.status == Status::Expired).count();
        let mut surplus = expired.saturating_sub(MAX_EXPIRED);
        self.table.retain(|known| {
            let goes = surplus > 0 && known.status == Status::Expired;
            surplus -= usize::from(goes);
            !goes
        });
    }
}

/// The schedule fired: delivers as many events as permitted; the rest waits for the next time.
fn fire(known: &mut Subscription, at: i64, now: i64, acts: &mut Vec<SubscriptionAction>) {
    let Some((most, batch)) = known.delivery.cron.as_ref().map(|cron| (cron.most, cron.batch)) else { return };
    deliver(known, "cron", most, batch, acts);
    known.fired = Some(at);
    known.set_fires(at.max(now));
}

fn deliver_once(known: &mut Subscription, at: i64, acts: &mut Vec<SubscriptionAction>) {
    known.at = None;
    let Some((batch, auto_expire)) = known.delivery.scheduled.as_ref().map(|one| (one.batch, one.auto_expire)) else {
        return;
    };
    deliver(known, "scheduled", usize::MAX, batch, acts);
    known.fires = None;
    if auto_expire {
        expire(known, at.max(known.updated), acts);
    }
}

/// Sends the waiting events in batches. Without events, it sends nothing (MCPE 2025-01-01 §3).
fn deliver(known: &mut Subscription, by: &str, most: usize, batch: usize, acts: &mut Vec<SubscriptionAction>) {
    let batches = known.take(most, batch);
    let events: usize = batches.iter().map(Vec::len).sum();
    if events == 0 {
        return;
    }
    for batch in batches {
        acts.push(SubscriptionAction::Notify(BATCH, json!({"subscriptionId": known.id, "events": batch})));
        acts.extend(known.handled(|| Delivered::Batch(batch)));
    }
    acts.push(SubscriptionAction::Report(json!({"report": "delivered", "id": known.id, "by": by, "events": events,
        "left": known.held.len()})));
}

fn expire(known: &mut Subscription, at: i64, acts: &mut Vec<SubscriptionAction>) {
    let undelivered = std::mem::take(&mut known.held).len();
    (known.status, known.updated, known.fires, known.at) = (Status::Expired, at, None, None);
    acts.push(SubscriptionAction::Notify(EXPIRED, json!({"subscriptionId": known.id})));
    acts.push(became(&known.id, "expired", undelivered));
}

/// The reports about a subscription that was made or changed: its status, and a wildcard that some servers treat
/// differently.
fn reported(known: &Subscription) -> Vec<SubscriptionAction> {
    let mut acts = vec![became(&known.id, known.status.name(), 0)];
    if known.filter.event_types.iter().any(|pattern| pattern == "*") {
        acts.push(SubscriptionAction::Report(json!({"report": "read_otherwise", "id": known.id, "pattern": "*",
            "text": "some servers treat a lone * as an exact name and deliver nothing"})));
    }
    acts
}

/// Returns the arguments of an update whose changes are in a member `updates`, as some clients write them (AMB-E12), in
/// the proposal's form.
fn flat(call: &Call<'_>) -> Option<Value> {
    let nested = call.arguments["updates"].as_object().filter(|_| call.tool == "events_update")?;
    let mut arguments = call.arguments.clone();
    let members = arguments.as_object_mut()?;
    members.remove("updates");
    for (name, value) in nested {
        members.entry(name).or_insert_with(|| value.clone());
    }
    Some(arguments)
}

/// Refuses an update of a handler, and says what to do instead.
fn check_update(arguments: &Value) -> Result<(), String> {
    match arguments.get("handler") {
        None => Ok(()),
        Some(_) => Err("a handler cannot be changed: unsubscribe, and subscribe with another handler".to_owned()),
    }
}

/// The report that an agent may have no tools: only a program of the user's is sure to get their names.
fn without_tools(id: &str, handler: &Handler, handler_policy: &HandlerPolicy) -> Option<SubscriptionAction> {
    let tools = handler.tools().filter(|tools| !tools.is_empty() && !handler_policy.has_program)?;
    Some(SubscriptionAction::Report(json!({"report": "agent_without_tools", "id": id, "tools": tools,
        "text": "the host decides which tools its model has: an inference request (MCPL) names these as a hint, sampling \
                 cannot; the program of --agent-command gets their names"})))
}

/// Refuses members that the proposal does not define: a misspelt filter would subscribe to everything.
fn check_members(tool: &str, arguments: &Value) -> Result<(), String> {
    let (filter, delivery) = (&arguments["filter"], &arguments["delivery"]);
    let handler = &arguments["handler"];
    let kind = match handler["type"].as_str() {
        Some("bash") => "BashHandler",
        Some("agent") => "AgentHandler",
        _ => "WebhookHandler",
    };
    let own = match tool {
        "events_unsubscribe" | "events_pause" | "events_resume" => "SubscriptionId".to_owned(),
        _ => format!("tool:{tool}:arguments"),
    };
    for (place, value, definition) in [
        ("the arguments", arguments, own.as_str()),
        ("`filter`", filter, "Filter"),
        ("`delivery`", delivery, "Delivery"),
        ("`cronSchedule`", &delivery["cronSchedule"], "CronSchedule"),
        ("`scheduledDelivery`", &delivery["scheduledDelivery"], "ScheduledDelivery"),
        ("`handler`", handler, kind),
    ] {
        if let Some((unknown, known)) = unknown_member(value, definition, &[]) {
            return Err(format!("{place}: unknown member {unknown:?}; permitted: {known}"));
        }
    }
    Ok(())
}

fn subscription_id(arguments: &Value) -> &str {
    arguments.get("subscriptionId").and_then(Value::as_str).unwrap_or_default()
}

/// The maximum length of a filter as JSON, in bytes.
const MAX_FILTER_BYTES: usize = 16 << 10;

fn read_filter(arguments: &Value) -> Result<Option<Filter>, String> {
    let Some(given) = arguments.get("filter") else { return Ok(None) };
    if given.to_string().len() > MAX_FILTER_BYTES {
        return Err(format!("the filter is too long: it may have at most {MAX_FILTER_BYTES} bytes"));
    }
    let filter: Filter = serde_json::from_value(given.clone()).map_err(|error| format!("filter: {error}"))?;
    match filter.odd_pattern() {
        Some(pattern) => Err(format!("invalid type pattern {pattern:?}: only `*` and a trailing `.*` are wildcards")),
        None => Ok(Some(filter)),
    }
}

/// Reads `expiresAt`; null means no expiry.
fn expiry(value: &Value, now: i64) -> Result<Option<Expiry>, String> {
    let Some(text) = value.as_str() else { return Ok(None) };
    let at = instant(text).map(unix_ns).ok_or_else(|| format!("invalid `expiresAt` {text:?}: expected {TIME}"))?;
    if at <= now { Err(format!("`expiresAt` {text} has passed")) } else { Ok(Some(Expiry::given(at, text))) }
}

/// Refuses a subscription that would expire before its scheduled delivery; also one for which the call itself gives an end
/// before its schedule first fires, if it has no other delivery.
fn check_end(delivery: &Delivery, expires: Option<&Expiry>, call: &Call<'_>) -> Result<(), String> {
    let Some(expires) = expires else { return Ok(()) };
    let at = delivery.scheduled.as_ref().map(|scheduled| scheduled.at).filter(|at| *at > call.now);
    if at.is_some_and(|at| expires.at < at) {
        return Err("`expiresAt` is before `deliverAt`: nothing would be delivered".to_owned());
    }
    let only_cron = delivery.cron.as_ref().filter(|_| !delivery.realtime && delivery.scheduled.is_none());
    let first = only_cron.and_then(|cron| cron.schedule.next(call.now));
    if call.arguments["expiresAt"].is_string() && first.is_some_and(|first| expires.at < first) {
        return Err("`expiresAt` is before the first time of the schedule: nothing would be delivered".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests;
