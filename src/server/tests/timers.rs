use super::*;

fn plan(value: Value) -> Plan {
    serde_json::from_value(value).expect("a plan")
}

fn push_every_second(times: u64) -> Config {
    let fire = json!({"kind": "push", "text": "tick", "eventId": "evt_tick"});
    let plans = vec![plan(json!({"after_ms": 500, "every_ms": 1000, "times": times, "fire": fire}))];
    Config { plans, ..Config::default() }
}

#[test]
fn plans_begin_when_the_handshake_is_over() {
    let mut host = Host::raw(push_every_second(2));
    assert!(host.pass(seconds(10)).is_empty());
    let params = json!({"protocolVersion": "2025-11-25", "clientInfo": {"name": "t", "version": "1"},
        "capabilities": serde_json::from_str::<Value>(FULL).expect("JSON")});
    host.request("initialize", &params);
    assert_eq!(host.server.next_timeout(), None);
    host.notify("notifications/initialized", &json!({}));
    host.notify("notifications/initialized", &json!({}));
    assert_eq!(host.server.next_timeout(), Some(Duration::from_millis(10_500)));
    let pushes = host.pass(seconds(20));
    let ids: Vec<&Value> = pushes.iter().map(|push| &push["params"]["eventId"]).collect();
    assert_eq!(ids, ["evt_tick", "evt_tick-2"]);
    assert_eq!(pushes[1]["params"]["timestamp"], "1970-01-01T00:00:11.500Z");
}

/// The host's first update may forbid what a plan is about to send (MCPL 0.4 §5.3).
#[test]
fn a_plan_waits_a_moment_for_the_hosts_configuration() {
    let begin = || {
        let plans = [json!({"kind": "push", "text": "p"}), json!({"kind": "reminder", "body": "r"})];
        let plans = plans.map(|fire| plan(json!({"after_ms": 0, "fire": fire}))).into();
        Host::ready(Config { plans, ..Config::default() }, "2025-11-25", &serde_json::from_str(FULL).expect("JSON")).0
    };
    let methods = |messages: Vec<Value>| messages.iter().map(|one| one["method"].to_string()).collect::<Vec<_>>();
    let mut host = begin();
    assert_eq!(methods(host.pass(Duration::from_millis(249))), [r#""notifications/reminder""#]);
    assert_eq!(methods(host.pass(Duration::from_millis(1))), [r#""push/event""#], "not every host sends one");
    let mut host = begin();
    host.pass(Duration::from_millis(100));
    host.notify("featureSets/update", &json!({"disabled": ["memory.*"]}));
    assert!(host.pass(seconds(1)).is_empty());
    assert_eq!(host.unsent()["why"], "feature_set_disabled");
}

#[test]
fn what_happened_once_is_the_same_for_all_hosts() {
    let fired: Fired = serde_json::from_value(json!({"kind": "push", "text": "x"})).expect("a push");
    let fired = json!(fired.happened("id-1", "2026-01-01T00:00:00Z"));
    let pushed = || Host::full().fire(&fired)[0]["params"].clone();
    assert_eq!((&pushed()["eventId"], &pushed()["timestamp"]), (&json!("id-1"), &json!("2026-01-01T00:00:00Z")));
    let named: Fired = serde_json::from_value(json!({"kind": "event", "type": "t", "id": "mine"})).expect("an event");
    let named = json!(named.happened("id-1", "2026-01-01T00:00:00Z"));
    assert_eq!(named, json!({"kind": "event", "type": "t", "id": "mine", "timestamp": "2026-01-01T00:00:00Z"}));
    let other: Fired = serde_json::from_value(json!({"kind": "log", "data": 1})).expect("a log message");
    assert_eq!(json!(other.clone().happened("id-1", "now")), json!(other));
}

#[test]
fn a_plan_that_may_not_be_done_says_so() {
    let (mut host, _) = Host::ready(push_every_second(1), "2025-11-25", &json!({}));
    assert!(host.pass(seconds(5)).is_empty());
    assert_eq!(host.unsent(), &json!({"why": "not_declared", "proposal": "mcpl"}));
}

#[test]
fn a_late_wake_brings_no_burst() {
    let (mut host, _) = Host::ready(push_every_second(100), "2025-11-25", &serde_json::from_str(FULL).expect("JSON"));
    host.now = seconds(50);
    let outputs = host.server.handle_timeout(host.now);
    assert_eq!(host.sort(outputs).len(), 1);
    assert_eq!(host.server.next_timeout(), Some(seconds(51)));
}

#[test]
fn a_plan_without_a_period_is_done_once() {
    let plans = vec![plan(json!({"after_ms": 0, "fire": {"kind": "reminder", "body": "stretch"}}))];
    let (mut host, _) = Host::ready(Config { plans, ..Config::default() }, "2025-11-25", &json!({}));
    assert_eq!(host.pass(seconds(100)).len(), 1);
    assert_eq!(host.server.next_timeout(), None);
}

#[test]
fn slow_counts_report_their_progress_and_can_be_taken_back() {
    let mut host = Host::plain();
    let call = json!({"name": "count_slowly", "arguments": {"to": 3, "interval_ms": 100},
        "_meta": {"progressToken": "p"}});
    assert!(host.ask("tools/call", &call).is_empty());
    let messages = host.pass(Duration::from_millis(250));
    assert_eq!(messages.iter().map(|one| one["params"]["progress"].as_u64()).collect::<Vec<_>>(), [Some(1), Some(2)]);
    let messages = host.pass(seconds(1));
    assert_eq!((messages.len(), text(&messages[1]["result"])), (2, "Counted to 3"));
    host.ask("tools/call", &call);
    let id = host.asked;
    assert!(host.notify("notifications/cancelled", &json!({"requestId": id})).is_empty());
    assert_eq!(host.reported(), &json!({"report": "cancelled", "id": id.to_string()}));
    assert!(host.pass(seconds(1)).is_empty());
    let bare = json!({"name": "count_slowly", "arguments": {"to": 2}});
    host.ask("tools/call", &bare);
    assert_eq!(host.pass(seconds(1)).len(), 1, "no token, no progress");
}

#[test]
fn unanswered_requests_are_reported_and_late_answers_still_count() {
    let mut host = Host::full();
    host.fire(&json!({"kind": "push", "text": "a", "eventId": "e"}));
    host.pass(seconds(29));
    assert!(!host.has_reported("unanswered"));
    host.pass(seconds(2));
    let expected = json!({"report": "unanswered", "id": 1, "method": "push/event", "after_us": 30_000_000});
    assert_eq!(host.reported(), &expected);
    host.answer(&json!(1), &json!({"accepted": true}));
    let reported = ["report", "late", "latency_us"].map(|name| &host.reported()[name]);
    assert_eq!(reported, [&json!("push_answered"), &json!(true), &json!(31_000_000)]);
    host.answer(&json!(1), &json!({"accepted": true}));
    assert_eq!(host.reported(), &json!({"report": "orphan", "id": "1"}));
}

#[test]
fn subscriptions_end_on_time_whoever_comes_first() {
    let mut host = Host::plain();
    let made = host.tool("events_subscribe", &json!({"expiresAt": "1970-01-01T00:01:00Z"}));
    let id = made["structuredContent"]["subscriptionId"].clone();
    assert_eq!(host.server.next_timeout(), Some(seconds(60)));
    // A message that arrives before the wake-up still finds the subscription ended.
    host.now = seconds(61);
    let messages = host.fire(&json!({"kind": "event", "type": "a.b"}));
    assert_eq!(
        messages,
        [json!({"jsonrpc": "2.0", "method": "events/subscription_expired",
        "params": {"subscriptionId": id}})]
    );
    assert_eq!((&host.reported()["report"], &host.reported()["subscriptions"]), (&json!("published"), &json!([])));
}
