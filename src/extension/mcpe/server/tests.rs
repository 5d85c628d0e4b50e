use super::*;

const HOUR: i64 = 3600 * 1_000_000_000;
const ID: &str = "3f9c2a74-0000-4000-8000-000000000001";

fn call(events: &mut Events, tool: &str, arguments: Value, now: i64) -> Result<Done, String> {
    let done = events.call(&Call { tool, arguments: &arguments, now, client: "c" }, || ID.to_owned())?;
    assert_eq!(SCHEMAS.check(&format!("tool:{tool}:result"), &done.result), Some(vec![]));
    Ok(done)
}

fn subscribed(arguments: Value) -> Events {
    let mut events = Events::default();
    call(&mut events, "events_subscribe", arguments, 0).expect("subscribed");
    events
}

fn draft(event_type: &str) -> Draft {
    serde_json::from_value(json!({"type": event_type, "tags": ["ci"]})).expect("a draft")
}

fn count(events: &Events, event_type: &str) -> usize {
    let draft = draft(event_type);
    let event = draft.event(ID, "2026-01-01T00:00:00Z").expect("an event");
    let deliveries = events.deliveries(&draft, &event);
    assert!(deliveries.iter().all(|(_, params)| SCHEMAS.check("events/event:params", params) == Some(vec![])));
    deliveries.len()
}

#[test]
fn the_capability_and_the_tools_agree() {
    assert_eq!(SCHEMAS.check("capability:server", &capability()), Some(vec![]));
    let tools = tools();
    let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names, DESCRIPTOR.tools);
}

#[test]
fn events_go_to_active_subscriptions_that_want_them() {
    let mut events = subscribed(json!({"filter": {"eventTypes": ["github.*"]}}));
    assert_eq!((count(&events, "github.push"), count(&events, "slack.message")), (1, 0));
    let id = json!({"subscriptionId": ID});
    call(&mut events, "events_pause", id.clone(), 1).expect("paused");
    assert_eq!(count(&events, "github.push"), 0);
    call(&mut events, "events_resume", id.clone(), 2).expect("resumed");
    assert_eq!(count(&events, "github.push"), 1);
    let update = json!({"subscriptionId": ID, "filter": {"tags": ["ci"]}, "expiresAt": null});
    let done = call(&mut events, "events_update", update, 3).expect("updated");
    assert_eq!((done.result.get("expiresAt"), events.next_expiry()), (None, None));
    assert_eq!(count(&events, "slack.message"), 1);
    assert_eq!(call(&mut events, "events_unsubscribe", id.clone(), 4).expect("gone").result["success"], json!(true));
    assert_eq!(call(&mut events, "events_unsubscribe", id, 5).expect("no error").result["success"], json!(false));
    assert_eq!(count(&events, "slack.message"), 0);
}

#[test]
fn what_is_not_offered_is_refused() {
    let mut events = Events::default();
    for (arguments, why) in [
        (json!({"delivery": {"channels": ["realtime", "cron"]}}), "cron"),
        (json!({"delivery": {"channels": ["realtime"], "cronSchedule": {"expression": "* * * * *"}}}), "cronSchedule"),
        (json!({"delivery": {"channels": []}}), "no channel"),
        (json!({"delivery": {}}), "channels"),
        (json!({"handler": {"type": "bash", "command": "id"}}), "handlers"),
        (json!({"filter": {"eventTypes": ["a*b"]}}), "wildcards"),
        (json!({"filter": {"priority": ["urgent"]}}), "urgent"),
        (json!({"expiresAt": "1969-12-31T00:00:00Z"}), "passed"),
        (json!({"expiresAt": "tomorrow"}), "tomorrow"),
    ] {
        let refusal = call(&mut events, "events_subscribe", arguments, 0).expect_err(why);
        assert!(refusal.contains(why), "{refusal}");
    }
    assert!(call(&mut events, "events_pause", json!({"subscriptionId": ID}), 0).is_err());
    assert!(call(&mut events, "events_list", json!({"status": "removed"}), 0).is_err());
}

#[test]
fn subscriptions_end_and_free_their_place() {
    let mut events = Events::default();
    for number in 0..MOST {
        let arguments = json!({"expiresAt": stamp(HOUR)});
        let call = Call { tool: "events_subscribe", arguments: &arguments, now: 0, client: "c" };
        events.call(&call, || format!("{number:02}")).expect("subscribed");
    }
    assert!(call(&mut events, "events_subscribe", json!({}), 1).expect_err("full").contains("16"));
    assert_eq!((events.next_expiry(), events.expire(HOUR - 1).len()), (Some(HOUR), 0));
    assert_eq!(events.expire(HOUR).first().map(String::as_str), Some("00"));
    assert_eq!((events.next_expiry(), count(&events, "x")), (None, 0));
    let listed = call(&mut events, "events_list", json!({"status": "expired"}), HOUR).expect("listed");
    assert_eq!(listed.result["subscriptions"].as_array().map(Vec::len), Some(MOST));
    assert!(call(&mut events, "events_resume", json!({"subscriptionId": "00"}), HOUR).is_err());
    let done = call(&mut events, "events_subscribe", json!({}), HOUR).expect("a free place");
    assert_eq!(done.result["expiresAt"], json!(stamp(25 * HOUR)));
}

#[test]
fn an_event_must_fit_the_proposal() {
    let mut odd = draft("a.b");
    odd.priority = "urgent".to_owned();
    assert!(odd.event(ID, "2026-01-01T00:00:00Z").is_err());
    assert!(draft("").event(ID, "2026-01-01T00:00:00Z").is_err());
}
