//! The rules of MCPE and the observer that checks them. This file checks what is declared and offered,
//! [`subscriptions`] checks subscriptions and deliveries, and [`filter`] matches events.

mod filter;
mod grants;
mod subscriptions;

use super::{DESCRIPTOR, EVENT, patterns};
use crate::proposals::findings::rules;
use crate::proposals::server::handler_job::is_loopback;
use crate::proposals::{Declared, Findings, Observed, Observer, Side};
use crate::wire::MessageKind;
use serde_json::Value;
use url::Url;

rules! {
    CAPABILITY_MISSING = Error "mcpe/capability-missing",
        "A server that offers the tool `events_subscribe`, or sends events, declares the capability `events`.",
        "MCPE 2025-01-01 §1";
    TOOLS_MISSING = Error "mcpe/tools-missing",
        "A server that declares the capability `events` offers the tool `events_subscribe`.",
        "MCPE 2025-01-01 §2";
    TOOL_SET = Warning "mcpe/tool-set",
        "A server offers MCPE's six tools; `events_pause` and `events_resume` only if `features.pause` is not false.",
        "MCPE 2025-01-01 §2";
    CHANNELS_FEATURES = Warning "mcpe/channels-features",
        "In the capability `events`, `deliveryChannels` and `features` agree about cron and scheduled delivery.",
        "MCPE 2025-01-01 §1";
    FEATURE_UNSTATED = Warning "mcpe/feature-unstated",
        "In the capability `events`, `features` contains all four features, each as true or false.",
        "MCPE 2025-01-01 §1 and Server SDK Changes";
    UNSUPPORTED = Error "mcpe/unsupported-subscribe",
        "A client calls `events_subscribe` only if the server declares the capability `events` or offers the tool.",
        "MCPE 2025-01-01, Backwards Compatibility";
    UNDECLARED_CHANNEL = Error "mcpe/undeclared-channel",
        "A server grants only delivery channels that it declared in `deliveryChannels`.",
        "MCPE 2025-01-01 §1";
    TOO_MANY = Error "mcpe/too-many-subscriptions",
        "A server grants no more subscriptions at a time than its `maxSubscriptions`.",
        "MCPE 2025-01-01 §1";
    SCHEDULE_MISSING = Warning "mcpe/schedule-missing",
        "A subscription to the cron channel has a `cronSchedule`, one to the scheduled channel a `scheduledDelivery`.",
        "MCPE 2025-01-01 §2";
    WILDCARDS = Error "mcpe/wildcards-unsupported",
        "A server that declares `features.wildcards` as false grants no event types with wildcards.",
        "MCPE 2025-01-01 §1";
    ID_REUSED = Error "mcpe/subscription-id-reused",
        "Each subscription has a `subscriptionId` of its own.",
        "MCPE 2025-01-01 §2";
    GRANTED_OTHERWISE = Warning "mcpe/granted-otherwise",
        "A server grants the filter, the delivery and the `expiresAt` that the client asked for.",
        "MCPE 2025-01-01 §2";
    SCHEDULE_INVALID = Warning "mcpe/schedule-invalid",
        "A server grants only schedules whose cron expression and time zone exist.",
        "MCPE 2025-01-01 §2";
    UPDATE_HANDLER = Warning "mcpe/update-handler",
        "The arguments of `events_update` contain no `handler`: a handler cannot be changed.",
        "MCPE 2025-01-01 §2";
    ODD_GLOB = Warning "mcpe/odd-wildcard",
        "A wildcard is the whole event type (`*`) or its last segment (`github.*`): servers treat other wildcards differently.",
        "MCPE 2025-01-01 §5";
    NESTED_UPDATE = Warning "mcpe/nested-update",
        "In the arguments of `events_update`, the changes are next to `subscriptionId`, not in an object of their own.",
        "MCPE 2025-01-01 §2, AMB-E12",
        assumes "The proposal shows both forms. mcpreel accepts both, with this warning.";
    WEBHOOK = Warning "mcpe/webhook-http",
        "The URL of a webhook uses HTTPS, unless it is on the local machine.",
        "MCPE 2025-01-01, Security Considerations 4";
    NO_EXPIRY = Info "mcpe/no-expiry",
        "A server grants subscriptions with an `expiresAt`, so that they do not last forever.",
        "MCPE 2025-01-01, Security Considerations 5";
    NOT_UUID = Warning "mcpe/not-uuid",
        "The ids of subscriptions and events are UUIDs.",
        "MCPE 2025-01-01 §3 and §4";
    TIMESTAMP = Warning "mcpe/timestamp",
        "A timestamp is complete: it has a date, a time and a time zone, as in `2026-07-28T09:00:00Z`.",
        "MCPE 2025-01-01 §4";
    TIMESTAMP_UNREADABLE = Error "mcpe/timestamp-unreadable",
        "A timestamp is in a form of ISO 8601; other texts mean no point in time.",
        "MCPE 2025-01-01 §4";
    UNKNOWN_ACCEPTED = Warning "mcpe/unknown-accepted",
        "A server refuses tool calls about a subscription that does not exist or has expired.",
        "MCPE 2025-01-01 §2";
    UNKNOWN_SUBSCRIPTION = Error "mcpe/unknown-subscription",
        "A delivery names a subscription that the server granted.",
        "MCPE 2025-01-01 §3";
    INACTIVE = Error "mcpe/delivery-inactive",
        "A server delivers nothing to a subscription that it paused, removed or reported as expired.",
        "MCPE 2025-01-01 §2 and §3";
    DELIVERY_KIND = Error "mcpe/delivery-kind",
        "The realtime channel delivers `events/event`; the cron and scheduled channels deliver `events/batch`.",
        "MCPE 2025-01-01 §3";
    FILTER = Error "mcpe/filter-mismatch",
        "A delivered event matches the filter of its subscription.",
        "MCPE 2025-01-01 §5";
    WILDCARD_READING = Warning "mcpe/wildcard-reading",
        "A delivered event matches its filter whichever way wildcards are read: for some, `a.*` also matches `a`, for others only `a.b`.",
        "MCPE 2025-01-01 §5";
    BATCH_SIZE = Error "mcpe/batch-size",
        "A batch contains no more events than `maxEventsPerDelivery`.",
        "MCPE 2025-01-01, Appendix A";
    NOT_AGGREGATED = Warning "mcpe/not-aggregated",
        "If a subscription has `aggregateEvents: false`, each batch contains one event.",
        "MCPE 2025-01-01 §2 and Cron-Based Batching";
    EMPTY_BATCH = Info "mcpe/empty-batch",
        "A batch contains at least one event.",
        "MCPE 2025-01-01 §3";
    OLD_EVENT = Warning "mcpe/old-event",
        "A delivered event happened after its subscription was created.",
        "MCPE 2025-01-01 §3";
    EVENT_TWICE = Warning "mcpe/event-twice",
        "A server delivers an event once to a subscription, unless the subscription has both a realtime and a batched channel.",
        "MCPE 2025-01-01 §4";
    PAST_EXPIRY = Error "mcpe/delivery-past-expiry",
        "A server delivers nothing to a subscription after its `expiresAt`, even if it has not reported its expiry.",
        "MCPE 2025-01-01 §3";
    EXPIRY_UNTOLD = Warning "mcpe/expiry-untold",
        "When the `expiresAt` of a subscription passes, or its scheduled delivery expires it, the server sends `events/subscription_expired`.",
        "MCPE 2025-01-01 §3 and Scheduled Delivery";
    EXPIRED_TWICE = Warning "mcpe/expired-twice",
        "A server reports only once that a subscription has expired.",
        "MCPE 2025-01-01 §3";
    EXPIRED_EARLY = Warning "mcpe/expired-early",
        "A server reports a subscription as expired only when its `expiresAt` or its scheduled delivery has come.",
        "MCPE 2025-01-01 §3 and Scheduled Delivery";
    EXPIRED_FIRST = Warning "mcpe/expired-before-grant",
        "A server does not report a subscription as expired before it has granted it.",
        "MCPE 2025-01-01 §2 and §3";
    GRANTED_EXPIRED = Warning "mcpe/granted-expired",
        "A server does not grant a subscription as active if its `expiresAt` has passed.",
        "MCPE 2025-01-01 §2";
    CRON_INSTANT = Warning "mcpe/cron-instant",
        "A batch of a cron subscription comes within 2 s of a time of its `cronSchedule`.",
        "MCPE 2025-01-01, Cron-Based Batching";
    SCHEDULED_INSTANT = Warning "mcpe/scheduled-instant",
        "A batch of a scheduled subscription comes within 2 s of its `deliverAt`, or at once if that has passed.",
        "MCPE 2025-01-01, Scheduled Delivery";
    ORDER = Info "mcpe/order",
        "A subscription receives its events in the order of their timestamps.",
        "MCPE 2025-01-01, Open Questions 3";
    LIST_STATUS = Warning "mcpe/list-status",
        "`events_list` shows each subscription with the status that results from the earlier messages.",
        "MCPE 2025-01-01 §2";
    LIST_INCOMPLETE = Warning "mcpe/list-incomplete",
        "`events_list` shows all live subscriptions with the status that the client asked for, and no others.",
        "MCPE 2025-01-01 §2";
    PASSED_OVER = Warning "mcpe/event-passed-over",
        "A batch skips no earlier event of its subscription: `maxEventsPerDelivery` delays events, but drops none.",
        "MCPE 2025-01-01 §3 and Appendix A";
    EXPIRED_COUNTED = Warning "mcpe/expired-counted",
        "A server does not count expired and removed subscriptions towards `maxSubscriptions`.",
        "MCPE 2025-01-01 §1 and §2";
    CRON_FIELDS = Info "mcpe/cron-fields",
        "A cron expression has five fields: schedulers treat six fields, and names like `@daily`, differently.",
        "MCPE 2025-01-01 §2 and Cron-Based Batching";
    OTHER_DIALECT = Info "mcpe/other-dialect",
        "The messages follow MCPE, not an older version or another draft for events that uses the same names.",
        "MCPE 2025-01-01, AMB-E6 and AMB-E11",
        assumes "Other drafts use the same capability, and older packages use other methods. mcpreel recognises and reports them.";
}

/// The tool that makes a subscription.
pub(super) const SUBSCRIBE: &str = "events_subscribe";

/// Checks one connection.
#[derive(Debug, Default)]
pub(super) struct McpeObserver {
    capability_reported: bool,
    dialect_reported: bool,
    tools_complete: bool,
    /// The time of the last message, in nanoseconds.
    seen: i64,
    subscriptions: subscriptions::Subscriptions,
}

impl Observer for McpeObserver {
    fn observe(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        self.seen = message.time;
        let Some(method) = message.method else { return };
        let kind = message.envelope.kind;
        match (method, kind) {
            ("initialize", MessageKind::Result) => {
                self.initialized(message, findings);
                self.check_declared_dialect(message, findings);
            }
            ("server/discover", MessageKind::Result) => self.check_declared_dialect(message, findings),
            ("tools/list", MessageKind::Result) => self.tools(message, findings),
            ("tools/call", MessageKind::Request) => self.call(message, findings),
            ("tools/call", MessageKind::Result) => self.answer(message, findings),
            ("tools/call", MessageKind::Error) => self.subscriptions.refused(message, findings),
            (EVENT | super::BATCH | super::EXPIRED, MessageKind::Notification | MessageKind::Request) => {
                if method != super::EXPIRED {
                    self.check_capability(message, findings);
                }
                self.subscriptions.delivery(method, message, findings);
            }
            (_, MessageKind::Request | MessageKind::Notification) => self.check_dialect(method, message, findings),
            _ => {}
        }
    }

    fn lose_track(&mut self) {
        self.tools_complete = false;
        self.subscriptions.lose_track();
    }

    fn finish(&mut self, _declared: &Declared, findings: &mut Findings) {
        self.subscriptions.settle(findings);
        self.subscriptions.finish(self.seen, findings);
    }
}

impl McpeObserver {
    fn initialized(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        let Some(events) = capability(message.declared) else { return };
        findings.hold(&FEATURE_UNSTATED);
        for (channel, feature) in [("cron", "cronSchedule"), ("scheduled", "scheduledDelivery")] {
            let Some(offered) = events["features"][feature].as_bool() else { continue };
            let listed = lists(&events["deliveryChannels"], channel);
            findings.check(&CHANNELS_FEATURES, message.seq, listed == offered, || {
                format!("deliveryChannels {} {channel}, but features.{feature} is {offered}", contains(listed))
            });
        }
    }

    fn tools(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        let Some(tools) = message.declared.tools.as_deref() else { return };
        let offers = |name: &str| tools.iter().any(|tool| tool == name);
        if offers(SUBSCRIBE) {
            self.check_capability(message, findings);
        }
        self.tools_complete = message.content["nextCursor"].is_null();
        if !self.tools_complete {
            return;
        }
        let Some(events) = capability(message.declared) else { return };
        findings.check(&TOOLS_MISSING, message.seq, offers(SUBSCRIBE), || {
            "the server does not offer events_subscribe".to_owned()
        });
        if !offers(SUBSCRIBE) {
            return;
        }
        let pauses = events["features"]["pause"] != false;
        for tool in DESCRIPTOR.tools {
            let wanted = pauses || !matches!(*tool, "events_pause" | "events_resume");
            findings.check(&TOOL_SET, message.seq, offers(tool) == wanted, || match wanted {
                true => format!("the server does not offer {tool}"),
                false => format!("the server offers {tool}, but features.pause is false"),
            });
        }
    }

    fn check_capability(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        if !message.declared.server.is_object() || self.capability_reported {
            return;
        }
        let declared = capability(message.declared).is_some();
        self.capability_reported = !declared;
        findings.check(&CAPABILITY_MISSING, message.seq, declared, || match message.declared.server.get("events") {
            Some(other) => format!("the server declared events as {}", super::super::clip(&other.to_string(), 80)),
            None => "the server did not declare events".to_owned(),
        });
    }

    fn call(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        let arguments = &message.content["arguments"];
        if let Some(tool @ ("events_update" | "events_pause" | "events_resume" | "events_unsubscribe")) =
            message.content["name"].as_str()
        {
            self.subscriptions.changing(message.seq, tool, arguments);
        }
        match message.content["name"].as_str() {
            Some(SUBSCRIBE) => {
                let tools = message.declared.tools.as_ref().filter(|_| self.tools_complete);
                let offered = tools.is_none_or(|tools| tools.iter().any(|tool| tool == SUBSCRIBE));
                let supported = offered || capability(message.declared).is_some();
                findings.check(&UNSUPPORTED, message.seq, supported, || {
                    "the client called events_subscribe, but the server has neither capability nor tool".to_owned()
                });
                check_subscribe(message.seq, arguments, findings);
                self.subscriptions.asked(message.seq);
            }
            Some("events_update") => {
                findings.check(&NESTED_UPDATE, message.seq, arguments.get("updates").is_none(), || {
                    "the client nested the changes in updates".to_owned()
                });
                findings.check(&UPDATE_HANDLER, message.seq, arguments.get("handler").is_none(), || {
                    "the client asked for another handler".to_owned()
                });
                check_schedules(message.seq, &arguments["delivery"], findings);
                check_filter(message.seq, &arguments["filter"], findings);
            }
            _ => {}
        }
    }

    fn answer(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        let Some(asked) = message.request else { return };
        let Some(tool) = asked.params["name"].as_str().filter(|tool| DESCRIPTOR.tools.contains(tool)) else { return };
        if message.envelope.tool_error {
            return self.subscriptions.refused(message, findings);
        }
        self.check_capability(message, findings);
        let arguments = &asked.params["arguments"];
        let outcome = crate::proposals::tool_outcome(message.content).unwrap_or(Value::Null);
        self.subscriptions.granted(tool, arguments, &outcome, message, findings);
    }

    fn check_dialect(&mut self, method: &str, message: &Observed<'_>, findings: &mut Findings) {
        let other = super::NEIGHBOURS.contains(&method)
            || matches!(method, "mcpe/capabilities" | "mcpe/schema" | "subscriptions/create");
        self.note_dialect(other, message.seq, method, findings);
    }

    /// The declaration alone shows another dialect, even if the server is never asked for events.
    fn check_declared_dialect(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        let declared = &message.content["capabilities"];
        let top = declared["events"].as_object().is_some_and(|_| !super::is_mcpe(&declared["events"]));
        self.note_dialect(top, message.seq, "capabilities.events", findings);
        let other = declared["extensions"].get("io.modelcontextprotocol/events").is_some();
        self.note_dialect(other, message.seq, "capabilities.extensions[\"io.modelcontextprotocol/events\"]", findings);
    }

    fn note_dialect(&mut self, is_other: bool, seq: u64, seen: &str, findings: &mut Findings) {
        if is_other && !self.dialect_reported {
            self.dialect_reported = true;
            findings.note(&OTHER_DIALECT, seq, format!("{seen} belongs to another draft for events"));
        }
    }
}

/// The server's capability, if it declared one.
fn capability(declared: &Declared) -> Option<&Value> {
    declared.find(&DESCRIPTOR, Side::Server).map(|(_, value)| value)
}

/// Whether a list contains a name.
fn lists(list: &Value, name: &str) -> bool {
    list.as_array().is_some_and(|items| items.iter().any(|item| item == name))
}

fn contains(listed: bool) -> &'static str {
    if listed { "contains" } else { "lacks" }
}

/// Checks that the channels that a client asks for have their schedules.
fn check_schedules(seq: u64, delivery: &Value, findings: &mut Findings) {
    for (channel, member) in [("cron", "cronSchedule"), ("scheduled", "scheduledDelivery")] {
        if lists(&delivery["channels"], channel) {
            findings.check(&SCHEDULE_MISSING, seq, delivery.get(member).is_some(), || {
                format!("the client asked for the channel {channel} without {member}")
            });
        }
    }
}

/// Checks the arguments of `events_subscribe`.
fn check_subscribe(seq: u64, arguments: &Value, findings: &mut Findings) {
    let delivery = &arguments["delivery"];
    check_schedules(seq, delivery, findings);
    if let Some(expression) = delivery["cronSchedule"]["expression"].as_str() {
        let usual = expression.split_ascii_whitespace().count() == 5;
        findings.check(&CRON_FIELDS, seq, usual, || format!("the client asked for {expression:?}"));
    }
    check_filter(seq, &arguments["filter"], findings);
    findings.check(&NO_EXPIRY, seq, !arguments["expiresAt"].is_null(), || {
        "the client asked for a subscription without expiresAt".to_owned()
    });
    let url = arguments["handler"]["url"].as_str().and_then(|url| Url::parse(url).ok());
    if let Some(url) = url {
        findings.check(&WEBHOOK, seq, url.scheme() != "http" || is_loopback(&url), || {
            format!("the client asked for a webhook at {url}")
        });
    }
}

fn check_filter(seq: u64, filter: &Value, findings: &mut Findings) {
    for pattern in filter["eventTypes"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        findings.check(&ODD_GLOB, seq, !patterns::is_odd(pattern), || format!("the client asked for {pattern:?}"));
    }
}
