//! The server's side of MCPE: the six tools for a table of subscriptions, and deliveries in real time, on schedules
//! and at one time.
//!
//! It must never silently drop a handler that the user does not allow: it refuses the subscription. Times are
//! nanoseconds of the Unix clock, and are arguments.

pub(crate) mod delivery;
pub(crate) mod event;
pub(crate) mod filter;
pub(crate) mod handlers;
pub(crate) mod settings;
pub(crate) mod subscription;
pub(crate) mod subscriptions;

use super::{DESCRIPTOR, EVENT, SCHEMAS};
use crate::proposals::server::handler_job::{HandlerPolicy, JobOutcome};
use crate::proposals::server::{Answer, Declaration, Firing, ServerCx, ServerSide, ToolCall, Unsent, failure, success};
use event::Draft;
use handlers::{Handlers, handler};
use serde::Deserialize;
use serde_json::{Value, json};
use settings::Settings;
use std::time::Duration;
use subscriptions::{Call, SubscriptionAction, Subscriptions};

/// The server's side on one connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct McpeServerSide {
    subscriptions: Subscriptions,
    handlers: Handlers,
}

impl ServerSide for McpeServerSide {
    fn configure(&mut self, settings: &Value) -> Result<(), String> {
        let settings = Settings::deserialize(settings).map_err(|error| error.to_string())?;
        settings.check()?;
        self.subscriptions.settings = settings;
        Ok(())
    }

    fn permit(&mut self, handler_policy: &HandlerPolicy) {
        self.subscriptions.handler_policy = handler_policy.clone();
    }

    fn declare(&mut self, _client: &Value) -> Vec<Declaration> {
        vec![Declaration { path: &["events"], value: capability(&self.subscriptions.settings) }]
    }

    fn fires(&self) -> &'static [Firing] {
        &[Firing { kind: "event", method: EVENT, occurrence: Some("id"), time: Some("timestamp") }]
    }

    fn fire(&mut self, _kind: &str, params: &Value, cx: &mut dyn ServerCx) -> Result<String, Unsent> {
        let draft = Draft::deserialize(params).map_err(Unsent::invalid)?;
        let event = draft.event(cx.uuid_v4(), &cx.stamp()).map_err(Unsent::invalid)?;
        let acts = self.subscriptions.publish(&event, cx.wall_ns(), cx.now());
        let sent = acts.iter().filter(|act| matches!(act, SubscriptionAction::Notify(..))).count();
        self.act(acts, cx);
        let plural = if sent == 1 { "" } else { "s" };
        Ok(format!("event {} went to {sent} subscription{plural}", event.id))
    }

    fn list_tools(&self, tools: &mut Vec<Value>) {
        tools.extend(self::tools(&self.subscriptions.handler_policy));
    }

    /// Runs one of the six tools. The result contains MCPE's object as text, as in existing implementations, and as
    /// structured content.
    fn call(&mut self, call: &ToolCall<'_>, cx: &mut dyn ServerCx) -> Option<Answer> {
        if !DESCRIPTOR.tools.contains(&call.tool) {
            return None;
        }
        let id = cx.uuid_v4();
        let (tool, arguments, no_model) = (call.tool, call.arguments, call.no_model);
        let (now, since) = (cx.wall_ns(), cx.now());
        let call = Call { tool, arguments, now, since, client: cx.client(), no_model };
        let result = match self.subscriptions.call(&call, || id) {
            Err(refusal) => failure(&refusal),
            Ok(done) => {
                self.act(done.acts, cx);
                let mut result = success(&done.result.to_string());
                result["structuredContent"] = done.result;
                result
            }
        };
        Some(Ok(result))
    }

    fn next_timeout(&self, _cx: &dyn ServerCx) -> Option<Duration> {
        self.handlers.next_timeout()
    }

    fn next_date(&self) -> Option<i64> {
        self.subscriptions.next_due()
    }

    fn clock_stepped(&mut self, cx: &mut dyn ServerCx) {
        self.subscriptions.clock_stepped(cx.wall_ns());
    }

    /// Delivers what is due, and ends what has expired. What became due before a response was sent comes after the
    /// response.
    fn handle_timeout(&mut self, cx: &mut dyn ServerCx) {
        let acts = self.subscriptions.handle_timeout(cx.wall_ns());
        self.act(acts, cx);
        self.handlers.handle_timeout(&self.subscriptions.settings, cx);
    }

    fn completed(&mut self, ticket: u64, outcome: &JobOutcome, cx: &mut dyn ServerCx) -> bool {
        self.handlers.completed(ticket, outcome, &self.subscriptions.settings, cx)
    }

    fn end(&mut self, cx: &mut dyn ServerCx) {
        self.handlers.end(cx);
    }
}

impl McpeServerSide {
    fn act(&mut self, acts: Vec<SubscriptionAction>, cx: &mut dyn ServerCx) {
        for act in acts {
            match act {
                SubscriptionAction::Notify(method, params) => cx.notify(method, &params),
                SubscriptionAction::Handle(id, handler, delivered) => {
                    self.handlers.take(&id, &handler, delivered, &self.subscriptions.settings, cx);
                }
                SubscriptionAction::Forget(id) => self.handlers.forget(&id, cx),
                SubscriptionAction::Report(report) => cx.report(report),
            }
        }
    }
}

/// The value of `capabilities.events` (MCPE 2025-01-01 §1).
fn capability(settings: &Settings) -> Value {
    json!({
        "maxSubscriptions": settings.max_subscriptions,
        "deliveryChannels": ["realtime", "cron", "scheduled"],
        "features": {"pause": true, "wildcards": true, "cronSchedule": true, "scheduledDelivery": true},
    })
}

/// The six tools for `tools/list` (MCPE 2025-01-01 §2 and Appendix A), with the permitted handlers.
fn tools(handler_policy: &HandlerPolicy) -> Vec<Value> {
    let mut tools: Vec<Value> = serde_json::from_str(include_str!("server/tools.json")).unwrap_or_default();
    if let (Some(schema), Some(subscribe)) = (handler::schema(handler_policy), tools.first_mut()) {
        subscribe["inputSchema"]["properties"]["handler"] = schema;
    }
    tools
}

/// A time in RFC 3339, in UTC with milliseconds, the precision of JavaScript's dates.
fn stamp(ns: i64) -> String {
    jiff::Timestamp::from_nanosecond(i128::from(ns)).map(|time| format!("{time:.3}")).unwrap_or_default()
}

/// Checks a value against a definition of MCPE's schema.
fn fits(name: &str, value: &Value) -> Result<(), String> {
    match SCHEMAS.check(name, value).unwrap_or_default().first() {
        Some(violation) => Err(violation.to_string()),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
