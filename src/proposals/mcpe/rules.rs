//! The rules of MCPE and the observer that checks them. This file checks what is declared and offered,
//! [`subscriptions`] checks subscriptions and deliveries, and [`filter`] matches events.

mod filter;
mod grants;
mod subscriptions;

use super::{DESCRIPTOR, EVENT, lists, patterns};
use crate::proposals::findings::rules;
use crate::proposals::server::handler_job::is_loopback;
use crate::proposals::timestamp::{self, Reading};
use crate::proposals::{Declared, Findings, Observed, Observer, Side};
use crate::wire::MessageKind;
use serde_json::Value;
use url::Url;

/// The questions that the proposal leaves open (`AMB-…`), and what mcpreel assumes.
mod open_questions {
    pub(super) const E6_E11: &str = "Other drafts use the same capability, and older packages use other methods. mcpreel recognises and reports them.";
    pub(super) const E12: &str = "The proposal shows both forms. mcpreel accepts both, with this warning.";
}

rules! {
    CAPABILITY_MISSING = Error "mcpe/capability-missing",
        "A server that offers or answers the tool `events_subscribe`, or sends `events/event` or `events/batch`, must declare the capability `events`.",
        "MCPE 2025-01-01 §1",
        fix "Declare `events` in your result of `initialize`, with the channels and features that you support.";
    TOOLS_MISSING = Error "mcpe/tools-missing",
        "A server that declares the capability `events` must offer the tool `events_subscribe` in `tools/list`.",
        "MCPE 2025-01-01 §2",
        fix "List `events_subscribe` and the other tools of MCPE in your result of `tools/list`.";
    TOOL_SET = Warning "mcpe/tool-set",
        "A server that declares the capability `events` offers all six tools of MCPE in `tools/list`; but if it declares `features.pause: false`, neither `events_pause` nor `events_resume`.",
        "MCPE 2025-01-01 §2",
        fix "List all six tools, and declare `features.pause: false` if you have no way to pause.";
    CHANNELS_FEATURES = Warning "mcpe/channels-features",
        "In the capability `events`, the server lists `cron` in `deliveryChannels` exactly if `features.cronSchedule` is true, and `scheduled` exactly if `features.scheduledDelivery` is true.",
        "MCPE 2025-01-01 §1",
        fix "Derive `deliveryChannels` and `features` from the same settings.";
    FEATURE_UNSTATED = Warning "mcpe/feature-unstated",
        "In `features` of the capability `events`, the server states all four features (`wildcards`, `pause`, `cronSchedule`, `scheduledDelivery`) as true or false.",
        "MCPE 2025-01-01 §1 and Server SDK Changes",
        fix "Write each of the four features as true or false.";
    UNSUPPORTED = Error "mcpe/unsupported-subscribe",
        "The client calls `events_subscribe` only if the server declared the capability `events` or offers that tool.",
        "MCPE 2025-01-01, Backwards Compatibility",
        fix "Look for the capability `events` in the server's result of `initialize` first.";
    UNDECLARED_CHANNEL = Error "mcpe/undeclared-channel",
        "The server grants a subscription only delivery channels that it declared in `deliveryChannels`.",
        "MCPE 2025-01-01 §1",
        fix "Refuse channels that you did not declare, or add them to `deliveryChannels`.";
    TOO_MANY = Error "mcpe/too-many-subscriptions",
        "The server must not have more subscriptions at a time than the `maxSubscriptions` that it declared. Removed and expired ones do not count.",
        "MCPE 2025-01-01 §1",
        fix "Count the subscriptions in use, and refuse a new one when the limit is reached.";
    SCHEDULE_MISSING = Warning "mcpe/schedule-missing",
        "A client that subscribes to the channel `cron` sends a `cronSchedule`; one that subscribes to the channel `scheduled` sends a `scheduledDelivery`.",
        "MCPE 2025-01-01 §2",
        fix "Send the schedule of each channel that you ask for.";
    WILDCARDS = Error "mcpe/wildcards-unsupported",
        "A server that declares `features.wildcards: false` grants no subscription whose `eventTypes` contain `*`.",
        "MCPE 2025-01-01 §1",
        fix "Refuse event types with `*`, or declare `features.wildcards: true`.";
    ID_REUSED = Error "mcpe/subscription-id-reused",
        "The server gives each subscription a `subscriptionId` of its own.",
        "MCPE 2025-01-01 §2",
        fix "Make a new random UUID for each subscription.";
    GRANTED_OTHERWISE = Warning "mcpe/granted-otherwise",
        "The server's response to `events_subscribe` repeats the `filter`, the `delivery` and the `expiresAt` that the client asked for.",
        "MCPE 2025-01-01 §2",
        fix "Copy these members from the request, and refuse what you cannot grant.";
    SCHEDULE_INVALID = Warning "mcpe/schedule-invalid",
        "The server grants a subscription with a `cronSchedule` only if its `expression` is valid and its `timezone` exists.",
        "MCPE 2025-01-01 §2",
        fix "Parse the expression and look up the time zone before you grant the subscription.";
    UPDATE_HANDLER = Warning "mcpe/update-handler",
        "The client does not send a `handler` with `events_update`: a handler cannot be changed.",
        "MCPE 2025-01-01 §2",
        fix "Unsubscribe, and subscribe again with the new handler.";
    ODD_GLOB = Warning "mcpe/odd-wildcard",
        "In a filter, the client uses `*` only as the whole event type or as its last segment (`github.*`); servers disagree on what other wildcards match.",
        "MCPE 2025-01-01 §5",
        fix "List the event types one by one, or put `*` at the end after a dot.";
    NESTED_UPDATE = Warning "mcpe/nested-update",
        "When the client calls `events_update`, it puts the changes next to `subscriptionId`, not into a member `updates`.",
        "MCPE 2025-01-01 §2, AMB-E12",
        assumes open_questions::E12,
        fix "Move the members of `updates` up, next to `subscriptionId`.";
    WEBHOOK = Warning "mcpe/webhook-http",
        "A client that subscribes with a webhook gives a complete `https://` URL; `http://` only for localhost.",
        "MCPE 2025-01-01, Security Considerations 4",
        fix "Serve the webhook over TLS, and give its `https://` URL.";
    NO_EXPIRY = Info "mcpe/no-expiry",
        "The client calls `events_subscribe` with an `expiresAt`, so that the subscription does not last forever, unless the server limits it by itself: with an `expiresAt` in its response, or because a scheduled delivery expires it.",
        "MCPE 2025-01-01, Security Considerations 5",
        fix "Send an `expiresAt`, and subscribe again before it has passed.";
    NOT_UUID = Warning "mcpe/not-uuid",
        "The server uses UUIDs as the ids of subscriptions and events.",
        "MCPE 2025-01-01 §3 and §4",
        fix "Make ids with a UUID library.";
    TIMESTAMP = Warning "mcpe/timestamp",
        "The sender writes a timestamp (`createdAt`, `expiresAt`, `deliverAt`, an event's `metadata.timestamp`) with date, time and time zone, as in `2026-07-28T09:00:00Z`.",
        "MCPE 2025-01-01 §4",
        fix "Write timestamps in RFC 3339, with seconds and `Z` or an offset.";
    TIMESTAMP_UNREADABLE = Error "mcpe/timestamp-unreadable",
        "The sender writes a timestamp (`createdAt`, `expiresAt`, `deliverAt`, an event's `metadata.timestamp`) in a form of ISO 8601, not as another text.",
        "MCPE 2025-01-01 §4",
        fix "Write timestamps in RFC 3339, such as `2026-07-28T09:00:00Z`.";
    UNKNOWN_ACCEPTED = Warning "mcpe/unknown-accepted",
        "The server must refuse `events_update`, `events_pause`, `events_resume` and `events_unsubscribe` for a subscription that it did not grant or that is removed or expired. It refuses with a JSON-RPC error, `isError: true` or `success: false`. (An expired one may be removed.)",
        "MCPE 2025-01-01 §2",
        fix "Look the subscription up first, and refuse the call if it is not in use.";
    UNKNOWN_SUBSCRIPTION = Error "mcpe/unknown-subscription",
        "The server names in `subscriptionId` of `events/event`, `events/batch` and `events/subscription_expired` only subscriptions that it granted.",
        "MCPE 2025-01-01 §3",
        fix "Copy `subscriptionId` from the result of `events_subscribe`.";
    INACTIVE = Error "mcpe/delivery-inactive",
        "The server must not send `events/event` or `events/batch` for a subscription more than 250 ms after it paused or removed the subscription or reported it as expired.",
        "MCPE 2025-01-01 §2 and §3",
        fix "Look at the subscription's status again right before you send each delivery.";
    DELIVERY_KIND = Error "mcpe/delivery-kind",
        "The server sends `events/event` for a subscription to the channel `realtime`, and `events/batch` for one to `cron` or `scheduled`.",
        "MCPE 2025-01-01 §3",
        fix "Choose the notification by the subscription's channels.";
    FILTER = Error "mcpe/filter-mismatch",
        "The server delivers an event for a subscription only if the event's type, tags and priority match the subscription's `filter`.",
        "MCPE 2025-01-01 §5",
        fix "Compare the type, the tags and the priority of each event with the filter before you send it.";
    WILDCARD_READING = Warning "mcpe/wildcard-reading",
        "The server delivers only events that match the `filter` whichever way wildcards are read: for some servers `a.*` matches `a` as well as `a.b`, for others only `a.b`.",
        "MCPE 2025-01-01 §5",
        fix "Document which types `a.*` matches, and deliver those on which both readings agree.";
    BATCH_SIZE = Error "mcpe/batch-size",
        "The server puts at most as many events into one `events/batch` as the subscription's `cronSchedule.maxEventsPerDelivery` says.",
        "MCPE 2025-01-01, Appendix A",
        fix "Split the events into batches of at most `maxEventsPerDelivery`.";
    NOT_AGGREGATED = Warning "mcpe/not-aggregated",
        "If a subscription has `aggregateEvents: false`, the server puts one event into each `events/batch`.",
        "MCPE 2025-01-01 §2 and Cron-Based Batching",
        fix "Send a batch for each event if `aggregateEvents` is false.";
    EMPTY_BATCH = Info "mcpe/empty-batch",
        "The server sends `events/batch` only with at least one event.",
        "MCPE 2025-01-01 §3",
        fix "Send nothing when no events are waiting.";
    OLD_EVENT = Warning "mcpe/old-event",
        "The server delivers for a subscription only events whose `metadata.timestamp` is not before the subscription's `createdAt`.",
        "MCPE 2025-01-01 §3",
        fix "Begin with events that happen after the subscription.";
    EVENT_TWICE = Warning "mcpe/event-twice",
        "The server delivers an event (one `id`) only once for a subscription. It may come twice if the subscription has the channel `realtime` and also `cron` or `scheduled`.",
        "MCPE 2025-01-01 §4",
        fix "Remember up to which event each subscription was served.";
    PAST_EXPIRY = Error "mcpe/delivery-past-expiry",
        "The server must not deliver events for a subscription whose `expiresAt` has passed, even if it has not yet sent `events/subscription_expired`.",
        "MCPE 2025-01-01 §3",
        fix "Compare `expiresAt` with the clock before each delivery, and send `events/subscription_expired`.";
    EXPIRY_UNTOLD = Warning "mcpe/expiry-untold",
        "The server must send `events/subscription_expired` when the `expiresAt` of a subscription has passed, or when its scheduled delivery expires it. Checked at the end of the session.",
        "MCPE 2025-01-01 §3 and Scheduled Delivery",
        fix "Start a timer for each `expiresAt`, and send `events/subscription_expired` when it fires.";
    EXPIRED_TWICE = Warning "mcpe/expired-twice",
        "The server sends `events/subscription_expired` only once for a subscription.",
        "MCPE 2025-01-01 §3",
        fix "Set the subscription's status when you send the notification, and check it before.";
    EXPIRED_EARLY = Warning "mcpe/expired-early",
        "The server sends `events/subscription_expired` only when the subscription's `expiresAt` or its scheduled delivery has come.",
        "MCPE 2025-01-01 §3 and Scheduled Delivery",
        fix "Compare `expiresAt` with the clock, in UTC, before you send the notification.";
    EXPIRED_FIRST = Warning "mcpe/expired-before-grant",
        "The server sends `events/subscription_expired` for a subscription only after its response to the `events_subscribe` that created the subscription.",
        "MCPE 2025-01-01 §2 and §3",
        fix "Send the response to `events_subscribe` first.";
    GRANTED_EXPIRED = Warning "mcpe/granted-expired",
        "In its response to `events_subscribe`, the server gives the `status` `active` only to a subscription whose `expiresAt` is later than its `createdAt`.",
        "MCPE 2025-01-01 §2",
        fix "Refuse an `expiresAt` that has passed already.";
    CRON_INSTANT = Warning "mcpe/cron-instant",
        "The server sends the `events/batch` of a subscription to the channel `cron` at most 2 s before or after a time that its `cronSchedule` names; without a `timezone`, that may be a time of any zone.",
        "MCPE 2025-01-01, Cron-Based Batching",
        fix "Compute the next time of the schedule in its time zone, and wait for it.";
    SCHEDULED_INSTANT = Warning "mcpe/scheduled-instant",
        "The server sends the `events/batch` of a subscription to the channel `scheduled` at most 2 s before or after its `deliverAt`, or at most 2 s after the subscription if `deliverAt` had already passed.",
        "MCPE 2025-01-01, Scheduled Delivery",
        fix "Start a timer for `deliverAt`; send at once if it has passed.";
    ORDER = Info "mcpe/order",
        "The server delivers the events of a subscription in the order of their `metadata.timestamp`.",
        "MCPE 2025-01-01, Open Questions 3",
        fix "Sort the waiting events by `metadata.timestamp` before you send them.";
    LIST_STATUS = Warning "mcpe/list-status",
        "In its response to `events_list`, the server shows each subscription with the `status` (`active`, `paused`, `expired`) that the earlier calls and notifications gave it.",
        "MCPE 2025-01-01 §2",
        fix "Answer `events_list` from the state that the other tools change.";
    LIST_INCOMPLETE = Warning "mcpe/list-incomplete",
        "In its response to `events_list`, the server lists all subscriptions in use that have the status that the client asked for, and no others.",
        "MCPE 2025-01-01 §2",
        fix "Filter all subscriptions in use by the requested status, and return every match.";
    PASSED_OVER = Warning "mcpe/event-passed-over",
        "For a subscription that gets each event both singly and in a batch, the server puts the events into `events/batch` in the order in which it sent them as `events/event`, and skips none: `maxEventsPerDelivery` delays events, but drops none.",
        "MCPE 2025-01-01 §3 and Appendix A",
        fix "Keep events that do not fit into a batch for the next one.";
    EXPIRED_COUNTED = Warning "mcpe/expired-counted",
        "The server does not refuse `events_subscribe` because of `maxSubscriptions` while fewer subscriptions than that are in use. Expired and removed ones are not in use.",
        "MCPE 2025-01-01 §1 and §2",
        fix "Count only active and paused subscriptions against `maxSubscriptions`.";
    CRON_FIELDS = Info "mcpe/cron-fields",
        "The client writes `cronSchedule.expression` with five fields: schedulers treat six fields, and names like `@daily`, differently.",
        "MCPE 2025-01-01 §2 and Cron-Based Batching",
        fix "Write five fields: minute, hour, day of the month, month, day of the week.";
    TOOL_SCHEMA = Warning "mcpe/tool-schema",
        "In the `inputSchema` of `events_update`, `events_pause`, `events_resume` and `events_unsubscribe`, the server lists `subscriptionId` in `required`.",
        "MCPE 2025-01-01 §2",
        fix "Add subscriptionId to required.";
    WILDCARDS_ASKED = Warning "mcpe/wildcards-asked",
        "The client asks for `eventTypes` with `*` in `events_subscribe` and `events_update` only if the server declared `features.wildcards: true`.",
        "MCPE 2025-01-01 §1",
        fix "List the event types one by one if the server declared no wildcards.";
    METHOD = Warning "mcpe/method",
        "The client subscribes with `tools/call` to a server that declared MCPE, not with the methods of another draft for events, such as `events/subscribe`.",
        "MCPE 2025-01-01, Overview",
        fix "Call the tool `events_subscribe`.";
    OTHER_DIALECT = Info "mcpe/other-dialect",
        "A note, no fault: the server declares `events` without any member of MCPE's (`maxSubscriptions`, `deliveryChannels`, `features`), or declares `extensions[\"io.modelcontextprotocol/events\"]`, or a side uses a method of another draft for events, such as `events/subscribe`. The rules of MCPE do not apply to it; the pack `mcp-events` has others (`--pack mcp-events`). Reported once per session.",
        "MCPE 2025-01-01, AMB-E6 and AMB-E11",
        assumes open_questions::E6_E11,
        fix "Check the session with `--pack mcp-events`.";
}

/// The tool that makes a subscription.
pub(super) const SUBSCRIBE: &str = "events_subscribe";

/// Checks one connection.
#[derive(Debug, Default)]
pub(super) struct McpeObserver {
    capability_reported: bool,
    dialect_reported: bool,
    tools_complete: bool,
    subscriptions: subscriptions::Subscriptions,
}

impl Observer for McpeObserver {
    fn observe(&mut self, message: &Observed<'_>, findings: &mut Findings) {
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

    fn finish(&mut self, _declared: &Declared, time: i64, findings: &mut Findings) {
        self.subscriptions.settle(findings);
        self.subscriptions.finish(time, findings);
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
        check_tool_schemas(message, findings);
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
                check_wildcards(message, arguments, findings);
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
                check_wildcards(message, arguments, findings);
                timestamp::check(&arguments["expiresAt"], &TIMESTAMP, &TIMESTAMP_UNREADABLE, message.seq, findings);
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
        let outcome = super::outcome(message.content).unwrap_or(Value::Null);
        self.subscriptions.granted(tool, arguments, &outcome, message, findings);
    }

    fn check_dialect(&mut self, method: &str, message: &Observed<'_>, findings: &mut Findings) {
        let other = super::NEIGHBOURS.contains(&method)
            || matches!(method, "mcpe/capabilities" | "mcpe/schema" | "subscriptions/create");
        let declares_other = message.declared.server["extensions"].get("io.modelcontextprotocol/events").is_some();
        if capability(message.declared).is_some() && message.envelope.kind == MessageKind::Request && !declares_other {
            findings.check(&METHOD, message.seq, !other, || format!("the client sent {method}"));
        }
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
    let scheduled = &delivery["scheduledDelivery"];
    let at = scheduled["deliverAt"].as_str().map(timestamp::read);
    // Its time zone may stand next to it (AMB-E10).
    let is_local = matches!(at, Some(Reading::Loose(_))) && scheduled["timezone"].is_string();
    if !is_local {
        timestamp::check(&scheduled["deliverAt"], &TIMESTAMP, &TIMESTAMP_UNREADABLE, seq, findings);
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
    timestamp::check(&arguments["expiresAt"], &TIMESTAMP, &TIMESTAMP_UNREADABLE, seq, findings);
    // What a variable stands for is unknown here.
    if let Some(text) = arguments["handler"]["url"].as_str().filter(|text| !text.contains("${")) {
        let is_usual = |url: Url| url.scheme() == "https" || url.scheme() == "http" && is_loopback(&url);
        findings.check(&WEBHOOK, seq, Url::parse(text).is_ok_and(is_usual), || {
            format!("the client asked for a webhook at {text:?}")
        });
    }
}

fn check_wildcards(message: &Observed<'_>, arguments: &Value, findings: &mut Findings) {
    let Some(events) = capability(message.declared) else { return };
    let patterns = arguments["filter"]["eventTypes"].as_array().into_iter().flatten().filter_map(Value::as_str);
    for pattern in patterns.filter(|pattern| pattern.contains('*')) {
        findings.check(&WILDCARDS_ASKED, message.seq, events["features"]["wildcards"] != false, || {
            format!("the client asked for {pattern:?}, but the server declared features.wildcards: false")
        });
    }
}

fn check_tool_schemas(message: &Observed<'_>, findings: &mut Findings) {
    for tool in message.content["tools"].as_array().into_iter().flatten() {
        let (name, schema) = (tool["name"].as_str().unwrap_or_default(), &tool["inputSchema"]);
        let names_one = matches!(name, "events_update" | "events_pause" | "events_resume" | "events_unsubscribe");
        if names_one && schema["properties"].get("subscriptionId").is_some() {
            findings.check(&TOOL_SCHEMA, message.seq, lists(&schema["required"], "subscriptionId"), || {
                format!("the inputSchema of {name} does not require subscriptionId")
            });
        }
    }
}

fn check_filter(seq: u64, filter: &Value, findings: &mut Findings) {
    for pattern in filter["eventTypes"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        findings.check(&ODD_GLOB, seq, !patterns::is_odd(pattern), || format!("the client asked for {pattern:?}"));
    }
}
