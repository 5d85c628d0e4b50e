//! Subscriptions that clients make with the tools, and whether deliveries respect them.

use super::filter::{self, Verdict};
use super::grants::{check_as_asked, check_schedule};
use super::*;
use crate::proposals::ON_ITS_WAY_NS;
use crate::proposals::mcpe::cron::{Schedule, zone};
use crate::proposals::mcpe::{BATCH, EXPIRED, delivers};
use crate::proposals::recent::Recent;
use crate::proposals::timestamp;
use std::collections::{BTreeSet, VecDeque};

/// How far from its scheduled time a delivery may be, in nanoseconds.
const SLACK_NS: i64 = 2_000_000_000;
/// How far from a change of the clock a schedule is not judged (in nanoseconds): 3 hours.
const CLOCK_CHANGE_NS: i64 = 3 * 3_600_000_000_000;
/// The offsets of the world's time zones from UTC, from -12 to +14 hours, in steps of 15 minutes (in nanoseconds).
const OFFSETS: std::ops::RangeInclusive<i64> = -48..=56;
const OFFSET_STEP_NS: i64 = 15 * 60_000_000_000;
/// How many deliveries wait for the response that makes their subscription known.
const MAX_PARKED: usize = 256;
/// How many single events are remembered that should also come in a batch.
const MAX_UNBATCHED: usize = 256;
/// How many open calls about one subscription are remembered.
const MAX_CHANGES: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Active,
    Paused,
    Expired,
    Removed,
}

impl State {
    fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Paused => "paused",
            Self::Expired => "expired",
            Self::Removed => "removed",
        }
    }
}

/// A granted subscription.
#[derive(Debug)]
struct Subscription {
    filter: Value,
    delivery: Value,
    created: Option<jiff::Timestamp>,
    state: State,
    since: i64,
    /// When it expires, and when it was granted (nanoseconds of the reel's clock).
    expires: Option<jiff::Timestamp>,
    granted: i64,
    /// Open calls about it. Until they are answered, the old and the new state are both valid.
    changing: Vec<Change>,
    /// It was stopped or changed, so its scheduled delivery may come later.
    changed: bool,
    /// The number of the message that last changed its state.
    touched: u64,
    /// When its scheduled delivery came, after which it expires (nanoseconds of the reel's clock).
    used_up: Option<i64>,
    /// The latest timestamps of its events: of those that came singly, and of those in batches.
    latest: [Option<jiff::Timestamp>; 2],
    /// Events that came singly and should also come in a batch, in order.
    unbatched: VecDeque<String>,
}

/// An open call that may change a subscription.
#[derive(Debug)]
struct Change {
    seq: u64,
    resumes: bool,
    /// For an update: the requested filter.
    update: Option<Value>,
}

/// The subscriptions of a connection.
#[derive(Debug)]
pub(super) struct Subscriptions {
    known: Recent<String, Subscription>,
    /// Subscriptions and events, and whether they came in a batch.
    delivered: Recent<(String, String, bool)>,
    /// A subscription may have been granted in a form that cannot be read.
    is_unsure: bool,
    /// Open calls of `events_subscribe`.
    pending: BTreeSet<u64>,
    /// Deliveries for subscriptions that are not known yet: the event's number, the subscription, and whether it
    /// expired.
    parked: Vec<(u64, String, bool)>,
    lost: bool,
}

impl Default for Subscriptions {
    fn default() -> Self {
        Self {
            known: Recent::new(4096),
            delivered: Recent::new(4096),
            is_unsure: false,
            pending: BTreeSet::new(),
            parked: Vec::new(),
            lost: false,
        }
    }
}

impl Subscriptions {
    pub(super) fn lose_track(&mut self) {
        *self = Self { lost: true, ..Self::default() };
    }

    /// Handles a call of `events_subscribe`.
    pub(super) fn asked(&mut self, seq: u64) {
        self.pending.insert(seq);
    }

    /// Handles a call about a subscription.
    pub(super) fn changing(&mut self, seq: u64, tool: &str, arguments: &Value) {
        let id = arguments["subscriptionId"].as_str().unwrap_or_default();
        let Some(subscription) = self.known.get_mut(&id.to_owned()) else { return };
        if subscription.changing.len() >= MAX_CHANGES {
            subscription.changing.remove(0);
        }
        let update = (tool == "events_update").then(|| arguments.get("filter").unwrap_or(&subscription.filter).clone());
        subscription.changing.push(Change { seq, resumes: tool == "events_resume", update });
    }

    /// Handles the response to a call about a subscription.
    fn changed(&mut self, asked: &crate::proposals::PendingRequest) {
        let id = asked.params["arguments"]["subscriptionId"].as_str().unwrap_or_default();
        if let Some(subscription) = self.known.get_mut(&id.to_owned()) {
            subscription.changing.retain(|change| change.seq != asked.seq);
        }
    }

    /// Handles a failed tool call.
    pub(super) fn refused(&mut self, message: &Observed<'_>, findings: &mut Findings) {
        let Some(asked) = message.request else { return };
        self.changed(asked);
        if asked.params["name"] == SUBSCRIBE {
            self.pending.remove(&asked.seq);
            self.check_refusal(message, findings);
            self.settle_if_none_pends(findings);
        } else if asked.params["name"].as_str().is_some_and(|tool| DESCRIPTOR.tools.contains(&tool)) {
            findings.hold(&UNKNOWN_ACCEPTED);
        }
    }

    /// Checks whether a server refused a subscription although one had expired.
    fn check_refusal(&self, message: &Observed<'_>, findings: &mut Findings) {
        // Only the texts: an error's code also contains digits.
        let content = message.content;
        let words = content["content"].as_array().into_iter().flatten().map(|block| &block["text"]);
        let words = words.chain([&content["message"]]).filter_map(Value::as_str);
        let reported = words.collect::<Vec<_>>().join(" ").to_ascii_lowercase();
        if self.lost
            || self.pending.iter().next().is_some()
            || !reported.contains("max")
            || !reported.contains("subscription")
        {
            return;
        }
        let declared = capability(message.declared).and_then(|events| events["maxSubscriptions"].as_u64());
        // A limit that is not declared is often named in the refusal.
        let named =
            || reported.split(|found: char| !found.is_ascii_digit()).rev().find_map(|digits| digits.parse().ok());
        let Some(most) = declared.or_else(named) else { return };
        let now = self.known.values().filter_map(|it| it.own_time(message.time)).max();
        let live = self.known.values().filter(|it| it.is_live(now, message.time)).count() as u64;
        findings.check(&EXPIRED_COUNTED, message.seq, live >= most, || {
            format!("the server refused a subscription with {live} of {most} in use")
        });
    }

    /// Handles a successful tool call.
    pub(super) fn granted(
        &mut self,
        tool: &str,
        arguments: &Value,
        outcome: &Value,
        message: &Observed<'_>,
        findings: &mut Findings,
    ) {
        if tool == SUBSCRIBE {
            return self.subscribed(arguments, outcome, message, findings);
        }
        if let Some(asked) = message.request {
            self.changed(asked);
        }
        if tool == "events_list" {
            return self.listed(arguments, outcome, message, findings);
        }
        let Some(id) = arguments["subscriptionId"].as_str() else { return };
        let success = outcome["success"] != false;
        let there = self.known.get_mut(&id.to_owned());
        let usable = there.as_ref().is_some_and(|it| !matches!(it.state, State::Removed | State::Expired));
        // An expired subscription may still be removed.
        let removable = tool == "events_unsubscribe" && there.as_ref().is_some_and(|it| it.state != State::Removed);
        let hidden = self.lost && there.is_none();
        findings.check(&UNKNOWN_ACCEPTED, message.seq, !success || usable || removable || hidden, || {
            format!("the server accepted {tool} of {id}")
        });
        let (Some(subscription), true) = (there, success) else { return };
        subscription.touched = message.seq;
        match tool {
            "events_unsubscribe" => subscription.enter(State::Removed, message.time),
            "events_pause" => subscription.enter(State::Paused, message.time),
            "events_resume" => subscription.enter(State::Active, message.time),
            "events_update" => {
                subscription.changed = true;
                let source = if outcome["filter"].is_object() { outcome } else { arguments };
                for (member, slot) in [("filter", &mut subscription.filter), ("delivery", &mut subscription.delivery)] {
                    if let Some(value) = source.get(member) {
                        *slot = value.clone();
                    }
                }
                if let Some(value) = outcome.get("expiresAt").or_else(|| arguments.get("expiresAt")) {
                    subscription.expires = value.as_str().and_then(timestamp::instant);
                }
                check_as_asked(message.seq, arguments, outcome, findings);
                check_grant(message.seq, message.declared, subscription, findings);
            }
            _ => {}
        }
    }

    fn subscribed(&mut self, arguments: &Value, outcome: &Value, message: &Observed<'_>, findings: &mut Findings) {
        let seq = message.seq;
        if let Some(asked) = message.request {
            self.pending.remove(&asked.seq);
        }
        let part = |name: &str| outcome.get(name).or_else(|| arguments.get(name)).cloned().unwrap_or(Value::Null);
        let subscription = Subscription {
            filter: part("filter"),
            delivery: part("delivery"),
            created: outcome["createdAt"].as_str().and_then(timestamp::instant),
            state: State::Active,
            since: message.time,
            expires: part("expiresAt").as_str().and_then(timestamp::instant),
            granted: message.time,
            changing: Vec::new(),
            changed: false,
            touched: seq,
            used_up: None,
            latest: [None; 2],
            unbatched: VecDeque::new(),
        };
        let now = subscription.created;
        check_grant(seq, message.declared, &subscription, findings);
        check_as_asked(seq, arguments, outcome, findings);
        let (asked, granted) = (&arguments["expiresAt"], &outcome["expiresAt"]);
        let is_left_out = outcome.is_object() && outcome.get("expiresAt").is_none();
        findings.check(&GRANTED_OTHERWISE, seq, asked.is_null() || !is_left_out, || {
            format!("the client asked for the expiresAt {asked}, and the server granted none")
        });
        let called = message.request.map_or(seq, |asked| asked.seq);
        let is_limited = !asked.is_null() || !granted.is_null() || subscription.expires_itself();
        findings.check(&NO_EXPIRY, called, is_limited, || {
            "the client asked for a subscription without expiresAt, and the server does not limit it".to_owned()
        });
        for member in ["createdAt", "expiresAt"] {
            timestamp::check(&outcome[member], &TIMESTAMP, &TIMESTAMP_UNREADABLE, seq, findings);
        }
        // AMB-E7.
        let id = outcome["subscriptionId"].as_str().or_else(|| outcome["id"].as_str());
        self.is_unsure |= id.is_none();
        if let Some(id) = id {
            check_uuid(id, seq, findings);
            findings.check(&ID_REUSED, seq, self.known.get(&id.to_owned()).is_none(), || {
                format!("the server had granted another subscription as {id}")
            });
            if let (Some(created), Some(expires)) = (subscription.created, subscription.expires) {
                let over = outcome["status"] == "active" && expires <= created;
                findings.check(&GRANTED_EXPIRED, seq, !over, || {
                    format!("the server granted {id} at {created}, but it expired at {expires}")
                });
            }
            self.known.insert(id.to_owned(), subscription);
            self.unpark(id, message, findings);
        }
        if let Some(most) = capability(message.declared).and_then(|events| events["maxSubscriptions"].as_f64()) {
            let live = self.known.values().filter(|it| it.is_live(now, message.time)).count();
            findings.check(&TOO_MANY, seq, live as f64 <= most, || {
                format!("the number of subscriptions is {live}, but maxSubscriptions is {most}")
            });
        }
        self.settle_if_none_pends(findings);
    }

    /// Handles the deliveries that waited for this subscription to become known.
    fn unpark(&mut self, id: &str, message: &Observed<'_>, findings: &mut Findings) {
        let (mine, others): (Vec<_>, Vec<_>) = self.parked.drain(..).partition(|(_, parked, _)| parked == id);
        self.parked = others;
        if !mine.is_empty() {
            findings.hold(&UNKNOWN_SUBSCRIPTION);
        }
        let is_over = mine.iter().any(|(_, _, expired)| *expired);
        findings.check(&EXPIRED_FIRST, message.seq, !is_over, || {
            format!("the server reported that {id} expired before it granted it")
        });
        if is_over && let Some(subscription) = self.known.get_mut(&id.to_owned()) {
            subscription.enter(State::Expired, message.time);
        }
    }

    fn settle_if_none_pends(&mut self, findings: &mut Findings) {
        if self.pending.is_empty() {
            self.settle(findings);
        }
    }

    /// Reports the deliveries whose subscription was never granted.
    pub(super) fn settle(&mut self, findings: &mut Findings) {
        for (seq, id, _) in self.parked.drain(..) {
            findings.note(&UNKNOWN_SUBSCRIPTION, seq, format!("the server never granted {id}"));
        }
    }

    /// At the end of the connection, reports subscriptions whose expiry passed without a notification. `time` is the
    /// end in nanoseconds.
    pub(super) fn finish(&mut self, time: i64, findings: &mut Findings) {
        if self.lost {
            return;
        }
        for subscription in self.known.values() {
            let is_open = matches!(subscription.state, State::Active | State::Paused);
            if is_open && subscription.used_up.is_some_and(|at| time.saturating_sub(at) > SLACK_NS) {
                findings.check_overall(&EXPIRY_UNTOLD, false, || {
                    "a subscription had its scheduled delivery, and no notification that it expired".to_owned()
                });
            }
            let now = subscription.own_time(time.saturating_sub(SLACK_NS));
            let Some((now, expires)) = now.zip(subscription.expires) else { continue };
            if now > expires && is_open {
                findings.check_overall(&EXPIRY_UNTOLD, false, || {
                    format!("a subscription expired at {expires} without a notification")
                });
            }
        }
    }

    /// Checks the result of `events_list` against the known subscriptions.
    fn listed(&self, arguments: &Value, outcome: &Value, message: &Observed<'_>, findings: &mut Findings) {
        let (seq, wanted) = (message.seq, arguments["status"].as_str());
        let mut ids = BTreeSet::new();
        for entry in outcome["subscriptions"].as_array().into_iter().flatten() {
            let id = entry["id"].as_str().or_else(|| entry["subscriptionId"].as_str()).unwrap_or_default();
            ids.insert(id);
            let Some(status) = entry["status"].as_str() else { continue };
            findings.check(&LIST_INCOMPLETE, seq, wanted.is_none_or(|wanted| wanted == status), || {
                format!("the client asked for those that are {}, and {id} is {status}", wanted.unwrap_or_default())
            });
            let Some(known) = self.known.get(&id.to_owned()) else { continue };
            let fits = known.state.name() == status || !known.changing.is_empty();
            findings.check(&LIST_STATUS, seq, fits, || {
                format!("{id} is {}, but the server lists it as {status}", known.state.name())
            });
        }
        let Some(asked) = message.request.filter(|_| outcome["subscriptions"].is_array()) else { return };
        // Only those that nothing has changed since the client asked.
        let sure = |known: &Subscription| known.touched < asked.seq && known.changing.is_empty();
        for id in self.known.keys() {
            let Some(known) = self.known.get(id) else { continue };
            let listed = known.is_live(None, message.time) && wanted.is_none_or(|wanted| wanted == known.state.name());
            if listed && sure(known) {
                findings.check(&LIST_INCOMPLETE, seq, ids.contains(id.as_str()), || {
                    format!("{id} is {}, but the server does not list it", known.state.name())
                });
            }
        }
    }

    /// Handles a delivery, or the notification that a subscription expired.
    pub(super) fn delivery(&mut self, method: &str, message: &Observed<'_>, findings: &mut Findings) {
        let (seq, params) = (message.seq, message.content);
        let events: &[Value] = match method {
            EVENT => std::slice::from_ref(&params["event"]),
            BATCH => params["events"].as_array().map_or(&[][..], Vec::as_slice),
            _ => &[],
        };
        if method == BATCH {
            findings.check(&EMPTY_BATCH, seq, !events.is_empty(), || "the batch contains no events".to_owned());
        }
        for event in events {
            check_event(seq, event, findings);
        }
        let Some(id) = params["subscriptionId"].as_str() else { return };
        check_uuid(id, seq, findings);
        let Some(subscription) = self.known.get_mut(&id.to_owned()) else {
            return self.park(seq, id, method == EXPIRED, findings);
        };
        findings.hold(&UNKNOWN_SUBSCRIPTION);
        if method == EXPIRED {
            findings.hold(&EXPIRY_UNTOLD);
            subscription.check_expired(message, findings);
            subscription.touched = seq;
            return subscription.enter(State::Expired, message.time);
        }
        let late = message.time.saturating_sub(subscription.since) > ON_ITS_WAY_NS;
        let resumes = subscription.changing.iter().any(|change| change.resumes);
        findings.check(&INACTIVE, seq, subscription.state == State::Active || !late || resumes, || {
            format!("the server delivered to {id}, which is {}", subscription.state.name())
        });
        subscription.check_delivery(method, events, seq, findings);
        subscription.check_times(method, events, message, findings);
        subscription.check_passed_over(method, events, seq, findings);
        let both = subscription.has_both_ways();
        for event in events.iter().filter_map(|event| event["id"].as_str()) {
            let delivered = |in_batch: bool| (id.to_owned(), event.to_owned(), in_batch);
            let is_other = self.delivered.contains(&delivered(method != BATCH));
            let again = self.delivered.insert(delivered(method == BATCH), ()).is_some();
            findings.check(&EVENT_TWICE, seq, !again && (both || !is_other), || {
                format!("the server had already delivered the event {event}")
            });
        }
    }

    fn park(&mut self, seq: u64, id: &str, expired: bool, findings: &mut Findings) {
        if self.known.has_forgotten() || self.lost || self.is_unsure {
            return;
        }
        if self.pending.is_empty() || self.parked.len() >= MAX_PARKED {
            findings.note(&UNKNOWN_SUBSCRIPTION, seq, format!("the server did not grant {id}"));
        } else {
            self.parked.push((seq, id.to_owned(), expired));
        }
    }
}

impl Subscription {
    fn enter(&mut self, state: State, time: i64) {
        self.changed = true;
        self.state = state;
        self.since = time;
    }

    /// The time on the server's clock, estimated from the response that granted the subscription. `time` is in
    /// nanoseconds of the reel's clock.
    fn own_time(&self, time: i64) -> Option<jiff::Timestamp> {
        let passed = jiff::SignedDuration::from_nanos(time.saturating_sub(self.granted));
        self.created?.checked_add(passed).ok()
    }

    /// Checks whether a delivery comes before the expiry, in order, and on schedule.
    fn check_times(&mut self, method: &str, events: &[Value], message: &Observed<'_>, findings: &mut Findings) {
        let seq = message.seq;
        let latest = &mut self.latest[usize::from(method == BATCH)];
        for event in events {
            let Some(at) = event["metadata"]["timestamp"].as_str().and_then(timestamp::instant) else { continue };
            let before = latest.filter(|before| at < *before);
            findings.check(&ORDER, seq, before.is_none(), || format!("an event of {at} came after a later one"));
            *latest = (*latest).max(Some(at));
        }
        let Some(now) = self.own_time(message.time) else { return };
        if let Some(expires) = self.expires {
            let over = now.duration_since(expires).as_nanos() > i128::from(ON_ITS_WAY_NS);
            findings.check(&PAST_EXPIRY, seq, !over, || {
                format!("the delivery came at {now}, the subscription expired at {expires}")
            });
        }
        let channels = &self.delivery["channels"];
        match (method == BATCH, lists(channels, "cron"), lists(channels, "scheduled")) {
            (true, true, false) => check_cron(&self.delivery["cronSchedule"], now, seq, findings),
            (true, false, true) if !self.changed => {
                if self.expires_itself() {
                    self.used_up = Some(message.time);
                }
                let Some(at) = deliver_at(&self.delivery["scheduledDelivery"]).max(self.created) else { return };
                let off = now.duration_since(at).as_nanos().unsigned_abs() > u128::from(SLACK_NS.unsigned_abs());
                findings
                    .check(&SCHEDULED_INSTANT, seq, !off, || format!("the delivery came at {now}, it was due at {at}"));
            }
            _ => {}
        }
    }

    /// Checks the notification that it has expired.
    fn check_expired(&self, message: &Observed<'_>, findings: &mut Findings) {
        let again = self.state == State::Expired;
        findings.check(&EXPIRED_TWICE, message.seq, !again, || "it was reported as expired before".to_owned());
        let later = self.own_time(message.time.saturating_add(SLACK_NS));
        let (Some(now), Some(later)) = (self.own_time(message.time), later) else { return };
        let delivered = deliver_at(&self.delivery["scheduledDelivery"]).filter(|_| self.expires_itself());
        let Some(expires) = self.expires.into_iter().chain(delivered).min() else { return };
        let is_due = expires <= later || self.used_up.is_some() || !self.changing.is_empty();
        findings.check(&EXPIRED_EARLY, message.seq, again || is_due, || {
            format!("the notification came at about {now}, the subscription expires at {expires}")
        });
    }

    /// Checks whether a batch skips an event that came singly before those in the batch.
    fn check_passed_over(&mut self, method: &str, events: &[Value], seq: u64, findings: &mut Findings) {
        if !self.has_both_ways() || self.changed {
            return self.unbatched.clear();
        }
        for id in events.iter().filter_map(|event| event["id"].as_str()) {
            if method != BATCH {
                if self.unbatched.len() == MAX_UNBATCHED {
                    self.unbatched.pop_front();
                }
                self.unbatched.push_back(id.to_owned());
            } else if let Some(place) = self.unbatched.iter().position(|reported| reported == id) {
                findings.check(&PASSED_OVER, seq, place == 0, || {
                    format!("the batch does not contain the event {}", self.unbatched[0])
                });
                self.unbatched.drain(..=place);
            }
        }
    }

    /// Whether it counts towards the maximum, given a time on the server's clock and the reel's `time` in nanoseconds.
    fn is_live(&self, now: Option<jiff::Timestamp>, time: i64) -> bool {
        let own = self.own_time(time);
        let over = |at: Option<jiff::Timestamp>| at.zip(self.expires).is_some_and(|(at, expires)| expires <= at);
        matches!(self.state, State::Active | State::Paused) && !over(now) && !over(own)
    }

    /// Whether a scheduled delivery expires it.
    fn expires_itself(&self) -> bool {
        let scheduled = &self.delivery["scheduledDelivery"];
        let is_scheduled = scheduled.is_object() || lists(&self.delivery["channels"], "scheduled");
        is_scheduled && scheduled["autoExpire"] != false
    }

    /// Whether events are delivered both singly and in batches, so that each comes twice.
    fn has_both_ways(&self) -> bool {
        let channels = &self.delivery["channels"];
        lists(channels, "realtime") && (lists(channels, "cron") || lists(channels, "scheduled"))
    }

    fn check_delivery(&self, method: &str, events: &[Value], seq: u64, findings: &mut Findings) {
        let channels = &self.delivery["channels"];
        let updates = || self.changing.iter().filter_map(|change| change.update.as_ref());
        let fits = delivers(&self.delivery, method == BATCH) || updates().next().is_some();
        findings.check(&DELIVERY_KIND, seq, fits, || format!("the server sent {method} for the channels {channels}"));
        for event in events {
            let mut verdict = filter::judge(&self.filter, event);
            if updates().any(|filter| filter::judge(filter, event) == Verdict::Matches) {
                verdict = Verdict::Matches;
            }
            let kind = event["type"].as_str().unwrap_or_default();
            findings.check(&FILTER, seq, verdict != Verdict::Fails, || {
                format!(
                    "the event {kind} with the metadata {} does not match the filter {}",
                    event["metadata"], self.filter
                )
            });
            findings.check(&WILDCARD_READING, seq, verdict != Verdict::Differs, || {
                format!("whether {kind} matches {} depends on the server", self.filter["eventTypes"])
            });
            let at = event["metadata"]["timestamp"].as_str().and_then(timestamp::instant);
            if let (Some(at), Some(created)) = (at, self.created) {
                findings.check(&OLD_EVENT, seq, at >= created, || {
                    format!("the event {kind} is of {at}, the subscription of {created}")
                });
            }
        }
        let schedules = ["cronSchedule", "scheduledDelivery"].map(|name| &self.delivery[name]["aggregateEvents"]);
        let is_single = schedules.contains(&&Value::Bool(false)) && !schedules.contains(&&Value::Bool(true));
        if method == BATCH && is_single && updates().next().is_none() {
            findings.check(&NOT_AGGREGATED, seq, events.len() < 2, || {
                format!("the batch contains {} events", events.len())
            });
        }
        if let (BATCH, Some(most)) = (method, self.delivery["cronSchedule"]["maxEventsPerDelivery"].as_f64()) {
            findings.check(&BATCH_SIZE, seq, events.len() as f64 <= most, || {
                format!("the batch contains more events ({}) than maxEventsPerDelivery ({most})", events.len())
            });
        }
    }
}

/// Checks whether a schedule fires at about a time. A schedule that cannot be parsed is not checked. Without a time zone,
/// the server chooses one (AMB-E15). When the clock changes, schedules differ in what they skip and repeat.
fn check_cron(schedule: &Value, now: jiff::Timestamp, seq: u64, findings: &mut Findings) {
    let expression = schedule["expression"].as_str().unwrap_or_default();
    let zone = schedule["timezone"].as_str();
    let Ok(read) = Schedule::read(expression, zone) else { return };
    let Ok(now_ns) = i64::try_from(now.as_nanosecond()) else { return };
    if read.changes_clock_near(now_ns, CLOCK_CHANGE_NS) {
        return;
    }
    let fires_at = |at: i64| {
        let near = read.next(at.saturating_sub(SLACK_NS + 1_000_000_000));
        near.is_some_and(|fired| fired <= at.saturating_add(SLACK_NS))
    };
    let offsets = if zone.is_some() { 0..=0 } else { OFFSETS };
    let fires = offsets.into_iter().any(|steps| fires_at(now_ns.saturating_add(steps * OFFSET_STEP_NS)));
    findings
        .check(&CRON_INSTANT, seq, fires, || format!("the batch came at {now}, which is not a time of {expression:?}"));
}

/// When a scheduled delivery is due, by the offset in the time or else the time zone next to it.
fn deliver_at(scheduled: &Value) -> Option<jiff::Timestamp> {
    let text = scheduled["deliverAt"].as_str()?;
    let local = || {
        let zone = zone(scheduled["timezone"].as_str()).ok()?;
        timestamp::local(text)?.to_zoned(zone).ok().map(|time| time.timestamp())
    };
    timestamp::instant(text).or_else(local)
}

/// Checks a granted or changed subscription by itself, and against the server's capability.
fn check_grant(seq: u64, declared: &Declared, granted: &Subscription, findings: &mut Findings) {
    check_schedule(seq, &granted.delivery, findings);
    let Some(events) = capability(declared) else { return };
    for channel in granted.delivery["channels"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        findings.check(&UNDECLARED_CHANNEL, seq, lists(&events["deliveryChannels"], channel), || {
            format!("the server granted the channel {channel}")
        });
    }
    if events["features"]["wildcards"] == false {
        let types = granted.filter["eventTypes"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let wild = types.into_iter().find(|pattern| patterns::is_wildcard(pattern));
        findings
            .check(&WILDCARDS, seq, wild.is_none(), || format!("the server granted {:?}", wild.unwrap_or_default()));
    }
}

fn check_event(seq: u64, event: &Value, findings: &mut Findings) {
    if let Some(id) = event["id"].as_str() {
        check_uuid(id, seq, findings);
    }
    timestamp::check(&event["metadata"]["timestamp"], &TIMESTAMP, &TIMESTAMP_UNREADABLE, seq, findings);
}

fn check_uuid(id: &str, seq: u64, findings: &mut Findings) {
    findings.check(&NOT_UUID, seq, uuid::Uuid::parse_str(id).is_ok(), || format!("the id {id:?} is not a UUID"));
}
