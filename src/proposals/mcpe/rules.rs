//! Rules that this proposal lays on a session, and the observer that checks them: what is declared and offered here,
//! subscriptions and their deliveries in [`subscriptions`], matching in [`filter`].

mod filter;
mod subscriptions;

use super::{DESCRIPTOR, EVENT, patterns};
use crate::proposals::findings::rules;
use crate::proposals::{Declared, Findings, Observed, Observer, Side};
use crate::wire::MessageKind;
use serde_json::Value;

rules! {
    CAPABILITY_MISSING = Error "mcpe/capability-missing",
        "A server with events_subscribe declares capabilities.events.",
        "seed 004 §1, E1";
    TOOLS_MISSING = Error "mcpe/tools-missing",
        "A server that declares events offers the tool events_subscribe.",
        "seed 004 §2, E1";
    TOOL_SET = Warning "mcpe/tool-set",
        "All six tools are there; events_pause and events_resume where features.pause says so.",
        "seed 004 §2, E3";
    CHANNELS_FEATURES = Warning "mcpe/channels-features",
        "deliveryChannels and features agree on cron and scheduled.",
        "seed 004 §1, E4";
    FEATURE_UNSTATED = Warning "mcpe/feature-unstated",
        "features states all four, true or false.",
        "seed 004 §1 and Server SDK Changes, E4";
    UNSUPPORTED = Error "mcpe/unsupported-subscribe",
        "A client subscribes only where the capability or the tool is there.",
        "seed 004, Backwards Compatibility, E2";
    UNDECLARED_CHANNEL = Error "mcpe/undeclared-channel",
        "A server grants only the delivery channels that it declared.",
        "seed 004 §1, E8";
    TOO_MANY = Error "mcpe/too-many-subscriptions",
        "A server grants at most maxSubscriptions.",
        "seed 004 §1, E9";
    SCHEDULE_MISSING = Warning "mcpe/schedule-missing",
        "The cron channel comes with cronSchedule, the scheduled channel with scheduledDelivery.",
        "seed 004 §2, E10";
    WILDCARDS = Error "mcpe/wildcards-unsupported",
        "A server without features.wildcards grants no wildcard filter.",
        "seed 004 §1, E32";
    ODD_GLOB = Warning "mcpe/odd-wildcard",
        "A wildcard stands alone or at the end, after a dot; servers read other ones differently.",
        "seed 004 §5, E32";
    NESTED_UPDATE = Warning "mcpe/nested-update",
        "The members of events_update stand beside subscriptionId.",
        "seed 004 §2, AMB-E12";
    WEBHOOK = Warning "mcpe/webhook-http",
        "A webhook is called by HTTPS, but on this machine.",
        "seed 004, Security Considerations 4, E34";
    NO_EXPIRY = Info "mcpe/no-expiry",
        "A subscription ends some day: it has expiresAt.",
        "seed 004, Security Considerations 5, E40";
    NOT_UUID = Warning "mcpe/not-uuid",
        "Ids of subscriptions and events are UUIDs.",
        "seed 004 §3 and §4, E7 and E19";
    TIMESTAMP = Warning "mcpe/timestamp",
        "A timestamp is ISO 8601 with date, time and zone.",
        "seed 004 §4, E19; X14";
    TIMESTAMP_UNREADABLE = Error "mcpe/timestamp-unreadable",
        "A timestamp is ISO 8601.",
        "seed 004 §4, E19; X14";
    UNKNOWN_ACCEPTED = Warning "mcpe/unknown-accepted",
        "What is asked of a subscription that is not there, or over, is refused.",
        "seed 004 §2, E15";
    UNKNOWN_SUBSCRIPTION = Error "mcpe/unknown-subscription",
        "A delivery names a subscription that was granted.",
        "seed 004 §3, E10 and E21";
    INACTIVE = Error "mcpe/delivery-inactive",
        "Nothing is delivered to a subscription that is paused, expired or removed.",
        "seed 004 §2 and §3, E21";
    DELIVERY_KIND = Error "mcpe/delivery-kind",
        "The realtime channel delivers by events/event, cron and scheduled by events/batch.",
        "seed 004 §3, E22";
    FILTER = Error "mcpe/filter-mismatch",
        "A delivered event matches the subscription's filter.",
        "seed 004 §5, E20 and E28 to E31";
    WILDCARD_READING = Warning "mcpe/wildcard-reading",
        "A delivered event matches by every common reading of wildcards: after a dot, at least one more segment.",
        "seed 004 §5, E32";
    BATCH_SIZE = Error "mcpe/batch-size",
        "A batch holds at most maxEventsPerDelivery events.",
        "seed 004, appendix A, E23";
    EMPTY_BATCH = Info "mcpe/empty-batch",
        "A batch holds at least one event.",
        "seed 004 §3, E23";
    OLD_EVENT = Warning "mcpe/old-event",
        "Delivered events happened after the subscription was created.",
        "seed 004 §3, E23";
    EVENT_TWICE = Warning "mcpe/event-twice",
        "An event is delivered once to a subscription with one channel.",
        "seed 004 §4, E22 and E27";
    PAST_EXPIRY = Error "mcpe/delivery-past-expiry",
        "Nothing is delivered after a subscription's expiresAt.",
        "seed 004 §3, E26";
    EXPIRY_UNTOLD = Warning "mcpe/expiry-untold",
        "When a subscription's expiresAt passes, the server tells by events/subscription_expired.",
        "seed 004 §3, E26";
    EXPIRED_FIRST = Warning "mcpe/expired-before-grant",
        "A subscription is granted before it is told to have expired.",
        "seed 004 §2 and §3, E10";
    GRANTED_EXPIRED = Warning "mcpe/granted-expired",
        "A subscription whose expiresAt has passed is not granted as active.",
        "seed 004 §2, E7 and E26";
    CRON_INSTANT = Warning "mcpe/cron-instant",
        "A cron subscription's batch comes within two seconds of a time at which its expression fires in its zone.",
        "seed 004, Cron-Based Batching, E24";
    SCHEDULED_INSTANT = Warning "mcpe/scheduled-instant",
        "A scheduled subscription's batch comes within two seconds of deliverAt, or at once where that has passed.",
        "seed 004, Scheduled Delivery, E25";
    ORDER = Info "mcpe/order",
        "Events reach a subscription in the order of their timestamps.",
        "seed 004, Open Questions 3, E41";
    LIST_STATUS = Warning "mcpe/list-status",
        "events_list gives each subscription the status that it has by what was said before.",
        "seed 004 §2, E12 and E15";
    PASSED_OVER = Warning "mcpe/event-passed-over",
        "A batch passes over no event that matched before those it holds: a maximum delays, it does not drop.",
        "seed 004, appendix A and §3, E23";
    EXPIRED_COUNTED = Warning "mcpe/expired-counted",
        "A subscription that is over does not count against the maximum.",
        "seed 004 §1 and §2, E9 and E26";
    CRON_FIELDS = Info "mcpe/cron-fields",
        "A cron expression has five fields; engines differ about six and about names like @daily.",
        "seed 004 §2 and Cron-Based Batching, E24";
    OTHER_DIALECT = Info "mcpe/other-dialect",
        "Other sketches use the same names with other methods; this looks like one of them.",
        "AMB-E6 and AMB-E11";
}

/// The proposal's tool that everything begins with.
pub(super) const SUBSCRIBE: &str = "events_subscribe";

/// Checks one connection.
#[derive(Debug, Default)]
pub struct McpeObserver {
    capability_reported: bool,
    dialect_reported: bool,
    tools_complete: bool,
    /// When the last message was.
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
                format!("deliveryChannels {} {channel}, features.{feature} is {offered}", has(listed))
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
        findings.check(&TOOLS_MISSING, message.seq, offers(SUBSCRIBE), || "no tool events_subscribe".to_owned());
        if !offers(SUBSCRIBE) {
            return;
        }
        let pauses = events["features"]["pause"] != false;
        for tool in DESCRIPTOR.tools {
            let wanted = pauses || !matches!(*tool, "events_pause" | "events_resume");
            findings.check(&TOOL_SET, message.seq, offers(tool) == wanted, || match wanted {
                true => format!("no tool {tool}"),
                false => format!("{tool}, and features.pause is false"),
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
            Some(other) => format!("capabilities.events is {}", super::super::clip(&other.to_string(), 80)),
            None => "capabilities.events is not there".to_owned(),
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
                findings.check(&UNSUPPORTED, message.seq, supported, || "neither capability nor tool".to_owned());
                check_subscribe(message.seq, arguments, findings);
                self.subscriptions.asked(message.seq);
            }
            Some("events_update") => {
                findings.check(&NESTED_UPDATE, message.seq, arguments.get("updates").is_none(), || {
                    "the members are under \"updates\"".to_owned()
                });
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

    /// A server of the other protocol need not be asked anything.
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
            findings.note(&OTHER_DIALECT, seq, seen);
        }
    }
}

/// The server's block, where it declared one.
fn capability(declared: &Declared) -> Option<&Value> {
    declared.find(&DESCRIPTOR, Side::Server).map(|(_, value)| value)
}

/// Whether a list names something.
fn lists(list: &Value, name: &str) -> bool {
    list.as_array().is_some_and(|items| items.iter().any(|item| item == name))
}

fn has(listed: bool) -> &'static str {
    if listed { "has" } else { "lacks" }
}

/// What a client asks for when it subscribes.
fn check_subscribe(seq: u64, arguments: &Value, findings: &mut Findings) {
    let delivery = &arguments["delivery"];
    for (channel, member) in [("cron", "cronSchedule"), ("scheduled", "scheduledDelivery")] {
        if lists(&delivery["channels"], channel) {
            findings.check(&SCHEDULE_MISSING, seq, delivery.get(member).is_some(), || {
                format!("{channel} without {member}")
            });
        }
    }
    if let Some(expression) = delivery["cronSchedule"]["expression"].as_str() {
        let usual = expression.split_ascii_whitespace().count() == 5;
        findings.check(&CRON_FIELDS, seq, usual, || format!("{expression:?}"));
    }
    check_filter(seq, &arguments["filter"], findings);
    findings.check(&NO_EXPIRY, seq, !arguments["expiresAt"].is_null(), || "no expiresAt".to_owned());
    if let Some(url) = arguments["handler"]["url"].as_str() {
        findings.check(&WEBHOOK, seq, !url.starts_with("http://") || is_loopback(url), || url.to_owned());
    }
}

fn check_filter(seq: u64, filter: &Value, findings: &mut Findings) {
    for pattern in filter["eventTypes"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        findings.check(&ODD_GLOB, seq, !patterns::is_odd(pattern), || format!("{pattern:?}"));
    }
}

fn is_loopback(url: &str) -> bool {
    let rest = url.strip_prefix("http://").unwrap_or(url);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let name = if host.starts_with('[') { host } else { host.split(':').next().unwrap_or_default() };
    name == "localhost" || name.starts_with("127.") || name.starts_with("[::1]")
}
