//! What every client of MCPE does, a host as well as `events watch`: it asks for subscriptions that the server can make,
//! and checks each delivered event before it counts.
//!
//! It must never read clocks or print.

use super::patterns::is_wildcard;
use super::server::filter::Filter;
use super::{DESCRIPTOR, unknown_member};
use crate::proposals::clip;
use crate::proposals::host::label;
use crate::proposals::recent::Recent;
use crate::proposals::timestamp::{self, Reading};
use serde::Deserialize;
use serde_json::{Value, json};

/// How many event ids and arrivals are remembered, to recognise duplicates.
const MAX_SEEN: usize = 4096;
/// The maximum length of the reason why an event is malformed, in characters: it repeats the value.
const MAX_WHY: usize = 160;
/// Short names for the members of a filter.
pub(super) const SHORT: [(&str, &str); 3] = [("types", "eventTypes"), ("tags", "tags"), ("priority", "priority")];

/// Why a delivered event does not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EventFault {
    /// It is not an event as the proposal defines it; the text says why.
    Malformed(String),
    /// It does not match the filter of its subscription.
    Unwanted,
    /// It was delivered before.
    Duplicate,
    /// Another subscription, or another form of delivery, brought it before (MCPE 2025-01-01 §2): no fault, but it does
    /// not count again.
    Known,
}

impl EventFault {
    /// The kind of fault, in one word.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Malformed(_) => "malformed",
            Self::Unwanted => "unwanted",
            Self::Duplicate => "duplicate",
            Self::Known => "known event",
        }
    }

    /// A sentence about this event.
    pub(crate) fn sentence(&self, event: &Value) -> String {
        match self {
            Self::Malformed(why) => format!("a malformed event: {why}"),
            Self::Unwanted => format!("the event does not match the subscription's filter: {}", note(event)),
            Self::Duplicate => format!("the event was delivered before: {}", note(event)),
            Self::Known => format!("{}, which arrived before in another way; it is not injected again", note(event)),
        }
    }
}

/// How an event arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival<'a> {
    /// The id of its subscription.
    pub subscription: &'a str,
    /// Whether it came in a batch.
    pub is_in_batch: bool,
}

/// The events that were delivered on one connection.
#[derive(Debug)]
pub(crate) struct DeliveredEvents {
    seen: Recent<String>,
    /// Events by their ids, subscriptions, and whether they came in a batch.
    arrivals: Recent<(String, String, bool)>,
}

impl Default for DeliveredEvents {
    fn default() -> Self {
        Self { seen: Recent::new(MAX_SEEN), arrivals: Recent::new(MAX_SEEN) }
    }
}

impl DeliveredEvents {
    /// Checks an event of a subscription with this filter; `None` if the filter is not known for certain. An event that
    /// only other implementations match with the filter's wildcards is accepted (`patterns`). Returns a phrase if it
    /// counts, but is not quite what the proposal defines.
    ///
    /// # Errors
    /// Why it does not count.
    pub(crate) fn check(
        &mut self,
        event: &Value,
        arrival: Arrival<'_>,
        filter: Option<&Value>,
    ) -> Result<Option<String>, EventFault> {
        let id = event["id"].as_str().unwrap_or_default();
        let arrived = (id.to_owned(), arrival.subscription.to_owned(), arrival.is_in_batch);
        let is_again = self.arrivals.insert(arrived, ()).is_some();
        if let Some(violation) = DESCRIPTOR.schemas.check("Event", event).unwrap_or_default().first() {
            return Err(EventFault::Malformed(clip(&violation.to_string(), MAX_WHY).into_owned()));
        }
        let odd = oddity(event).map_err(EventFault::Malformed)?;
        if filter.is_some_and(|filter| !is_wanted(event, filter)) {
            return Err(EventFault::Unwanted);
        }
        match self.seen.insert(id.to_owned(), ()) {
            Some(()) if is_again => Err(EventFault::Duplicate),
            Some(()) => Err(EventFault::Known),
            None => Ok(odd),
        }
    }
}

/// What an event lacks of MCPE 2025-01-01 §4, beside the shape that the schema checks.
///
/// # Errors
/// Its timestamp cannot be read.
fn oddity(event: &Value) -> Result<Option<String>, String> {
    let text = |value: &Value| clip(value.as_str().unwrap_or_default(), MAX_WHY / 2).into_owned();
    let (id, time) = (&event["id"], &event["metadata"]["timestamp"]);
    let is_uuid = id.as_str().is_some_and(|id| uuid::Uuid::parse_str(id).is_ok());
    match timestamp::read(time.as_str().unwrap_or_default()) {
        Reading::Unreadable => Err(format!("/metadata/timestamp {:?} is not a date and time of ISO 8601", text(time))),
        Reading::Loose(why) => Ok(Some(format!("the timestamp {:?} is incomplete: {why}", text(time)))),
        Reading::Instant(_) if !is_uuid => Ok(Some(format!("the id {:?} is not a UUID", text(id)))),
        Reading::Instant(_) => Ok(None),
    }
}

fn is_wanted(event: &Value, filter: &Value) -> bool {
    // A filter that cannot be read was not ours to make.
    let Ok(filter) = Filter::deserialize(filter) else { return true };
    let kind = event["type"].as_str().unwrap_or_default();
    let tags = event["metadata"]["tags"].as_array().into_iter().flatten();
    let tags: Vec<String> = tags.filter_map(Value::as_str).map(str::to_owned).collect();
    let priority = event["metadata"]["priority"].as_str().unwrap_or_default();
    filter.matches(kind, &tags, priority) || filter.near_miss(kind, &tags, priority).is_some()
}

/// Removes the event types from a filter that asks for all of them by `*`: without types, it asks for the same, and a
/// server that treats a lone `*` as an exact name delivers them, too.
pub(crate) fn without_lone_wildcard(filter: &mut Value) {
    let has_all = filter["eventTypes"].as_array().is_some_and(|types| types.iter().any(|one| one == "*"));
    if let Some(filter) = filter.as_object_mut().filter(|_| has_all) {
        filter.remove("eventTypes");
    }
}

/// Checks that the server, with this value of `capabilities.events`, can make a subscription: it knows the wildcards of
/// its filter, and the channels of its delivery (MCPE 2025-01-01 §1).
///
/// # Errors
/// What it does not know, in a sentence.
pub(crate) fn check_support(capability: Option<&Value>, arguments: &Value) -> Result<(), String> {
    let Some(events) = capability else { return Ok(()) };
    let mut types = arguments["filter"]["eventTypes"].as_array().into_iter().flatten().filter_map(Value::as_str);
    if events["features"]["wildcards"] == false
        && let Some(pattern) = types.find(|pattern| is_wildcard(pattern))
    {
        return Err(format!("the server declares no wildcards, so {pattern:?} would match nothing: name each type"));
    }
    let mut channels = arguments["delivery"]["channels"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let lacks = |channel: &&str| {
        let feature = match *channel {
            "cron" => &events["features"]["cronSchedule"],
            "scheduled" => &events["features"]["scheduledDelivery"],
            _ => &Value::Null,
        };
        *feature == false
            || events["deliveryChannels"].as_array().is_some_and(|all| all.iter().all(|it| it != *channel))
    };
    match channels.find(lacks) {
        Some(channel) => Err(format!("the server does not declare the delivery channel {channel:?}")),
        None => Ok(()),
    }
}

/// A filter in the form of the option `subscribe`: JSON or an event type pattern.
pub(super) fn filter(word: &str) -> Result<Value, String> {
    match word.starts_with('{') {
        true => serde_json::from_str(word).map_err(|error| error.to_string()),
        false => Ok(json!({"eventTypes": [word]})),
    }
}

/// The arguments for a subscription as the user gave it; its filter may use short names ([`SHORT`]).
pub(super) fn subscription(params: &Value) -> Result<Value, String> {
    let mut arguments = params.as_object().cloned().unwrap_or_default();
    arguments.remove("server");
    for (short, name) in SHORT {
        let Some(words) = arguments.remove(short) else { continue };
        let split = |text: &str| -> Value { text.split(',').map(str::trim).filter(|word| !word.is_empty()).collect() };
        let words = words.as_str().map(split).unwrap_or(words);
        if let Some(filter) = arguments.entry("filter").or_insert_with(|| json!({})).as_object_mut() {
            filter.insert(name.to_owned(), words);
        }
    }
    let mut arguments = Value::Object(arguments);
    let short = SHORT.map(|(short, _)| short);
    known_only(&arguments, "tool:events_subscribe:arguments", &short)?;
    known_only(&arguments["filter"], "Filter", &[])?;
    let violations = DESCRIPTOR.schemas.check("tool:events_subscribe:arguments", &arguments).unwrap_or_default();
    if let Some(violation) = violations.first() {
        // The schema's message does not name all permitted values.
        let known = match violation.place.starts_with("/filter/priority") {
            true => format!("; permitted: {}", DESCRIPTOR.schemas.document()["$defs"]["Priority"]["enum"]),
            false => String::new(),
        };
        return Err(format!("invalid subscription: {violation}{known}"));
    }
    if let Some(filter) = arguments.get_mut("filter") {
        without_lone_wildcard(filter);
        without_empty_lists(filter);
    }
    // The default, but some servers require it (AMB-E2).
    if arguments.get("delivery").is_none() {
        arguments["delivery"] = json!({"channels": ["realtime"]});
    }
    Ok(arguments)
}

/// Removes the empty lists of a filter. With and without them, it asks for the same (AMB-E14).
fn without_empty_lists(filter: &mut Value) {
    if let Some(filter) = filter.as_object_mut() {
        filter.retain(|_, list| list.as_array().is_none_or(|list| !list.is_empty()));
    }
}

/// Refuses members that a definition of MCPE's schema does not have.
fn known_only(value: &Value, definition: &str, others: &[&str]) -> Result<(), String> {
    match unknown_member(value, definition, others) {
        None => Ok(()),
        Some((unknown, known)) => Err(format!("a subscription has no member {unknown:?}; permitted: {known}")),
    }
}

/// A phrase that says what a subscription is for.
pub(super) fn about(arguments: &Value) -> String {
    let list = |name: &str| {
        let words = arguments["filter"][name].as_array().into_iter().flatten().filter_map(Value::as_str);
        words.collect::<Vec<_>>().join(", ")
    };
    let types = Some(list("eventTypes")).filter(|types| !types.is_empty()).unwrap_or_else(|| "all types".to_owned());
    let more = ["tags", "priority"].map(|name| (name, list(name)));
    let more = more.iter().filter(|(_, words)| !words.is_empty()).map(|(name, words)| format!("; {name}: {words}"));
    types + &more.collect::<String>()
}

/// An event in a few words.
pub(super) fn note(event: &Value) -> String {
    let text = |value: &Value| label(value.as_str().unwrap_or("?"));
    format!("{} ({})", text(&event["type"]), text(&event["metadata"]["priority"]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proposals::mcpe::delivers;

    const SINGLE: Arrival<'_> = Arrival { subscription: "s", is_in_batch: false };

    fn event(id: &str, kind: &str) -> Value {
        json!({"id": id, "type": kind, "data": {}, "metadata": {"timestamp": "2026-01-01T00:00:00Z", "priority": "low"}})
    }

    #[test]
    fn e19_an_id_that_is_no_uuid_counts_and_a_timestamp_that_is_none_does_not() {
        const ID: &str = "ea014beb-c6ec-4c8b-a7e6-7c14d3d0a84b";
        let check = |id: &str, time: &str| {
            let mut event = event(id, "a.b");
            event["metadata"]["timestamp"] = json!(time);
            DeliveredEvents::default().check(&event, SINGLE, None)
        };
        assert_eq!(check(ID, "2026-01-01T00:00:00+01:00"), Ok(None));
        assert!(check("7", "2026-01-01T00:00:00Z").is_ok_and(|odd| odd.is_some_and(|odd| odd.contains("\"7\""))));
        assert!(check(ID, "2026-01-01").is_ok_and(|odd| odd.is_some_and(|odd| odd.contains("without a time"))));
        assert!(matches!(check(ID, "never"), Err(EventFault::Malformed(why)) if why.contains("never")));
    }

    #[test]
    fn e16_e19_e20_e27_an_event_counts_once_and_only_if_it_is_one_that_was_asked_for() {
        let mut delivered = DeliveredEvents::default();
        let wanted = json!({"eventTypes": ["a.*"], "priority": ["low"]});
        for odd in [json!(null), json!("x"), json!({}), json!({"id": "1", "type": "a.b", "data": {}})] {
            assert!(matches!(delivered.check(&odd, SINGLE, Some(&wanted)), Err(EventFault::Malformed(_))), "{odd}");
        }
        assert_eq!(delivered.check(&event("4", "b.c"), SINGLE, Some(&wanted)), Err(EventFault::Unwanted));
        assert!(delivered.check(&event("4", "a.b"), SINGLE, Some(&wanted)).is_ok(), "what did not count was not seen");
        assert!(delivered.check(&event("1", "a.b"), SINGLE, Some(&wanted)).is_ok());
        assert_eq!(delivered.check(&event("1", "a.b"), SINGLE, Some(&wanted)), Err(EventFault::Duplicate));
        let batch = Arrival { is_in_batch: true, ..SINGLE };
        assert_eq!(delivered.check(&event("1", "a.b"), batch, Some(&wanted)), Err(EventFault::Known));
        assert_eq!(delivered.check(&event("1", "a.b"), batch, Some(&wanted)), Err(EventFault::Duplicate));
        let other = Arrival { subscription: "t", ..SINGLE };
        assert_eq!(delivered.check(&event("1", "a.b"), other, Some(&wanted)), Err(EventFault::Known));
        assert!(delivered.check(&event("2", "a"), SINGLE, Some(&wanted)).is_ok(), "others match this one by a.*");
        assert!(delivered.check(&event("3", "b.c"), SINGLE, None).is_ok());
    }

    #[test]
    fn e32_a_lone_wildcard_is_no_type_and_others_need_a_server_that_knows_them() {
        for (given, sent) in [
            (json!({"eventTypes": ["*"]}), json!({})),
            (json!({"eventTypes": ["a", "*"], "tags": ["x"]}), json!({"tags": ["x"]})),
            (json!({"eventTypes": ["a.*"]}), json!({"eventTypes": ["a.*"]})),
        ] {
            let mut filter = given;
            without_lone_wildcard(&mut filter);
            assert_eq!(filter, sent);
        }
        let (none, some) = (json!({"features": {"wildcards": false}}), json!({"features": {"wildcards": true}}));
        let wild = json!({"filter": {"eventTypes": ["a", "b.*"]}});
        assert!(check_support(Some(&none), &wild).is_err_and(|why| why.contains("\"b.*\"")));
        assert_eq!(check_support(Some(&none), &json!({"filter": {"eventTypes": ["a"]}})), Ok(()));
        assert_eq!((check_support(Some(&some), &wild), check_support(None, &wild)), (Ok(()), Ok(())));
    }

    #[test]
    fn e16_e17_events_come_by_the_channels_of_their_subscription() {
        for (channels, single, batch) in [
            (json!(null), true, false),
            (json!(["realtime"]), true, false),
            (json!(["cron"]), false, true),
            (json!(["scheduled", "realtime"]), true, true),
        ] {
            let delivery = json!({"channels": channels});
            assert_eq!((delivers(&delivery, false), delivers(&delivery, true)), (single, batch), "{channels}");
        }
    }

    #[test]
    fn e8_a_delivery_needs_a_server_that_declares_its_channel() {
        let delivery = |channel: &str| json!({"delivery": {"channels": ["realtime", channel]}});
        let lacks = |events: Value, channel: &str| check_support(Some(&events), &delivery(channel)).is_err();
        let realtime = json!({"deliveryChannels": ["realtime"]});
        assert!(
            lacks(realtime.clone(), "cron") && lacks(realtime.clone(), "scheduled") && !lacks(realtime, "realtime")
        );
        let features = json!({"features": {"cronSchedule": false, "scheduledDelivery": true}});
        assert!(lacks(features.clone(), "cron") && !lacks(features, "scheduled"));
        assert!(!lacks(json!({"deliveryChannels": ["realtime", "cron"], "features": {"cronSchedule": true}}), "cron"));
        assert!(!lacks(json!({}), "cron"), "nothing is declared about it");
    }

    #[test]
    fn amb_e2_amb_e14_a_subscription_names_its_delivery_and_has_no_empty_lists() {
        let made = subscription(&json!({"types": "a.*", "filter": {"tags": [], "priority": []}})).expect("valid");
        assert_eq!(made, json!({"filter": {"eventTypes": ["a.*"]}, "delivery": {"channels": ["realtime"]}}));
        let cron = json!({"channels": ["cron"], "cronSchedule": {"expression": "0 9 * * *"}});
        assert_eq!(subscription(&json!({"delivery": cron})).expect("valid")["delivery"], cron);
    }
}
