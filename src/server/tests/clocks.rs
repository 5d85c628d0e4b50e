//! Schedules and times of day follow the wall clock; lengths of time do not.

use super::*;

/// 2026-01-01T00:00:00Z.
const START: i64 = 1_767_225_600_000_000_000;
const HOUR: i64 = 3_600_000_000_000;

fn host() -> Host {
    let config = Config { wall_base_ns: START, ..Config::default() };
    Host::ready(config, "2025-11-25", &serde_json::from_str(FULL).expect("JSON")).0
}

/// Subscribes with this delivery, and publishes an event that waits for it.
fn waiting(host: &mut Host, delivery: &Value) {
    let made = host.tool("events_subscribe", &json!({"delivery": delivery}));
    assert!(made["structuredContent"]["subscriptionId"].is_string(), "{made}");
    host.fire(&json!({"kind": "event", "type": "tick"}));
}

fn hourly() -> Value {
    json!({"channels": ["cron"], "cronSchedule": {"expression": "0 * * * *"}})
}

fn set(host: &mut Host, wall_ns: i64) {
    host.server.set_wall_clock(host.now, wall_ns);
}

#[test]
fn what_is_scheduled_is_due_after_a_suspend() {
    let at = json!({"channels": ["scheduled"], "scheduledDelivery": {"deliverAt": "2026-01-01T06:00:00Z"}});
    for delivery in [hourly(), at] {
        let mut host = host();
        waiting(&mut host, &delivery);
        assert!(host.server.follows_wall_clock() && host.pass(seconds(600)).is_empty());
        set(&mut host, START + 8 * HOUR);
        assert_eq!(host.server.next_timeout().filter(|at| *at <= host.now), host.server.next_timeout());
        let sent = host.pass(Duration::ZERO);
        assert_eq!(sent.len(), 1 + usize::from(delivery["scheduledDelivery"].is_object()), "{sent:?}");
    }
}

#[test]
fn what_is_scheduled_waits_for_a_clock_that_was_set_back() {
    let mut host = host();
    waiting(&mut host, &hourly());
    host.pass(seconds(3500));
    set(&mut host, START - 2 * HOUR);
    assert_eq!(host.server.next_timeout(), Some(seconds(3500 + 3600)));
    assert_eq!(host.pass(seconds(3600)).len(), 1);
}

#[test]
fn small_corrections_move_what_is_due_by_as_much() {
    let mut host = host();
    waiting(&mut host, &hourly());
    host.pass(seconds(600));
    set(&mut host, START + 600 * 1_000_000_000 + 5_000_000);
    assert_eq!(host.server.next_timeout(), Some(seconds(3600) - Duration::from_millis(5)));
}

/// Near miss: a plan, a deadline and a server without schedules know only lengths of time.
#[test]
fn lengths_of_time_do_not_follow_the_wall_clock() {
    let fire = json!({"kind": "log", "data": 1});
    let plans = vec![serde_json::from_value(json!({"after_ms": 5000, "fire": fire})).expect("a plan")];
    let config = Config { wall_base_ns: START, plans, ..Config::default() };
    let mut host = Host::ready(config, "2025-11-25", &json!({})).0;
    let due = host.server.next_timeout();
    assert!(due.is_some() && !host.server.follows_wall_clock());
    for wall_ns in [START + 8 * HOUR, START - HOUR] {
        set(&mut host, wall_ns);
        assert_eq!(host.server.next_timeout(), due);
    }
}

#[test]
fn what_is_stamped_has_the_time_of_the_wall_clock() {
    let mut host = host();
    host.tool("events_subscribe", &json!({}));
    set(&mut host, START + 8 * HOUR);
    let sent = host.fire(&json!({"kind": "event", "type": "tick"}));
    assert_eq!(sent[0]["params"]["event"]["metadata"]["timestamp"], "2026-01-01T08:00:00.000Z");
}
