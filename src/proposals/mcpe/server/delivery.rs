//! How the events of a subscription are delivered: at once, on a schedule, or at one time (MCPE 2025-01-01 §2 and
//! Delivery Modes).

use crate::proposals::mcpe::cron::{Schedule, zone};
use crate::proposals::timestamp::{instant, local, unix_ns};
use serde_json::{Value, json};

/// What a time looks like.
pub(super) const TIME: &str = "a time such as 2026-01-31T09:00:00Z";

/// The parsed `delivery` of a subscription. A waiting event is delivered once: on the schedule or at the scheduled
/// time, whichever comes first.
#[derive(Clone, Debug)]
pub(crate) struct Delivery {
    /// As it was given.
    pub given: Value,
    /// Each event is sent when it happens.
    pub realtime: bool,
    /// Events wait for the schedule.
    pub cron: Option<CronDelivery>,
    /// Events wait for one time.
    pub scheduled: Option<Scheduled>,
}

/// Delivery on a schedule.
#[derive(Clone, Debug)]
pub(crate) struct CronDelivery {
    /// The schedule.
    pub schedule: Schedule,
    /// How many events a batch may contain.
    pub batch: usize,
    /// How many events may be delivered at once. The rest waits for the next time.
    pub most: usize,
}

/// Delivery at one time.
#[derive(Clone, Debug)]
pub(crate) struct Scheduled {
    /// When, in Unix nanoseconds.
    pub at: i64,
    /// How many events a batch may contain.
    pub batch: usize,
    /// The subscription expires after the delivery.
    pub auto_expire: bool,
}

impl Delivery {
    /// Parses `delivery`, which must already conform to its schema. Without it, events are delivered in real time
    /// (AMB-E2). `now` is in Unix nanoseconds.
    ///
    /// # Errors
    /// What is not possible, as a sentence for the model.
    pub(crate) fn read(given: Option<&Value>, now: i64) -> Result<Self, String> {
        let Some(given) = given else {
            return Ok(Self { given: json!({"channels": ["realtime"]}), realtime: true, cron: None, scheduled: None });
        };
        let has =
            |channel: &str| given["channels"].as_array().is_some_and(|list| list.iter().any(|one| one == channel));
        for (channel, member) in [("cron", "cronSchedule"), ("scheduled", "scheduledDelivery")] {
            match (has(channel), given.get(member).is_some()) {
                (true, false) => return Err(format!("the channel {channel} needs `{member}`")),
                (false, true) => return Err(format!("`{member}` is given, but `channels` does not name {channel}")),
                _ => {}
            }
        }
        if given["channels"].as_array().is_none_or(Vec::is_empty) {
            return Err("`channels` names no channel, so nothing could be delivered".to_owned());
        }
        let cron = has("cron").then(|| CronDelivery::read(&given["cronSchedule"], now)).transpose()?;
        let scheduled = has("scheduled").then(|| Scheduled::read(&given["scheduledDelivery"])).transpose()?;
        Ok(Self { given: given.clone(), realtime: has("realtime"), cron, scheduled })
    }
}

impl CronDelivery {
    fn read(given: &Value, now: i64) -> Result<Self, String> {
        let expression = given["expression"].as_str().unwrap_or_default();
        let schedule = Schedule::read(expression, given["timezone"].as_str())?;
        if schedule.next(now).is_none() {
            return Err(format!("the cron expression {expression:?} never fires"));
        }
        let most = match given.get("maxEventsPerDelivery") {
            None => usize::MAX,
            Some(most) => {
                // 2.0 is a whole number, too.
                let float = || most.as_f64().filter(|most| most.fract() == 0.0 && *most > 0.0).map(|most| most as u64);
                let whole = most.as_u64().or_else(float).filter(|most| *most > 0);
                let whole = whole.map(|most| usize::try_from(most).unwrap_or(usize::MAX));
                whole.ok_or_else(|| format!("invalid `maxEventsPerDelivery` {most}: expected a whole number from 1"))?
            }
        };
        Ok(Self { schedule, batch: batch(given), most })
    }
}

impl Scheduled {
    /// The offset decides which instant is meant; without one, the time zone does, which is UTC by default (AMB-E10).
    fn read(given: &Value) -> Result<Self, String> {
        let text = given["deliverAt"].as_str().unwrap_or_default();
        let zone = zone(given["timezone"].as_str())?;
        let in_zone = || local(text)?.to_zoned(zone).ok().map(|time| time.timestamp());
        let due = instant(text).or_else(in_zone);
        let at = due.map(unix_ns).ok_or_else(|| format!("invalid `deliverAt` {text:?}: expected {TIME}"))?;
        Ok(Self { at, batch: batch(given), auto_expire: given["autoExpire"] != false })
    }
}

/// Without aggregation, each batch has one event.
fn batch(given: &Value) -> usize {
    if given["aggregateEvents"] == false { 1 } else { usize::MAX }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: i64 = 1_767_268_800_000_000_000; // 2026-01-01T12:00:00Z

    fn read(given: Value) -> Result<Delivery, String> {
        Delivery::read(Some(&given), NOON)
    }

    #[test]
    fn e23_a_whole_number_may_have_a_decimal_point() {
        let most = |most: Value| {
            let schedule = json!({"expression": "@daily", "maxEventsPerDelivery": most});
            read(json!({"channels": ["cron"], "cronSchedule": schedule})).map(|read| read.cron.map(|cron| cron.most))
        };
        assert_eq!(most(json!(2.0)), Ok(Some(2)));
        assert!(most(json!(2.5)).is_err() && most(json!(0.0)).is_err() && most(json!(-1.0)).is_err());
    }

    #[test]
    fn e10_a_channel_and_what_belongs_to_it_come_together() {
        for (given, why) in [
            (json!({"channels": []}), "no channel"),
            (json!({"channels": ["cron"]}), "`cronSchedule`"),
            (json!({"channels": ["scheduled"]}), "`scheduledDelivery`"),
            (json!({"channels": ["realtime"], "cronSchedule": {"expression": "* * * * *"}}), "does not name cron"),
            (json!({"channels": ["cron"], "cronSchedule": {"expression": "nonsense"}}), "nonsense"),
            (json!({"channels": ["cron"], "cronSchedule": {"expression": "0 0 30 2 *"}}), "never fires"),
            (json!({"channels": ["cron"], "cronSchedule": {"expression": "@daily", "timezone": "Mars"}}), "Mars"),
            (json!({"channels": ["cron"], "cronSchedule": {"expression": "@daily", "maxEventsPerDelivery": 0}}), "0"),
            (
                json!({"channels": ["cron"], "cronSchedule": {"expression": "@daily", "maxEventsPerDelivery": 2.5}}),
                "2.5",
            ),
            (json!({"channels": ["scheduled"], "scheduledDelivery": {"deliverAt": "soon"}}), "soon"),
            (
                json!({"channels": ["scheduled"], "scheduledDelivery": {"deliverAt": "2027-01-01T00:00:00+25:00"}}),
                "+25:00",
            ),
        ] {
            let refused = read(given).expect_err(why);
            assert!(refused.contains(why), "{refused}");
        }
        let plain = Delivery::read(None, NOON).expect("in real time");
        assert!(plain.realtime && plain.cron.is_none() && plain.scheduled.is_none());
    }

    #[test]
    fn e25_the_time_of_delivery_has_an_offset_or_a_zone() {
        let at = |deliver_at: &str, zone: Option<&str>| {
            let mut scheduled = json!({"deliverAt": deliver_at});
            if let Some(zone) = zone {
                scheduled["timezone"] = zone.into();
            }
            let read = read(json!({"channels": ["scheduled"], "scheduledDelivery": scheduled})).expect("scheduled");
            (read.scheduled.expect("scheduled").at - NOON) / 3_600_000_000_000
        };
        assert_eq!(at("2026-01-01T14:00:00Z", None), 2);
        assert_eq!(at("2026-01-01T14:00:00+02:00", Some("America/New_York")), 0, "the offset wins");
        assert_eq!(at("2026-01-01T14:00:00", Some("America/New_York")), 7);
        assert_eq!(at("2026-01-01T14:00:00", None), 2);
    }
}
