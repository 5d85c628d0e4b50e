use super::*;
use crate::proposals::mcpe::SCHEMAS;
use crate::proposals::mcpe::server::event::Draft;

const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
/// 2026-01-01T00:00:00Z.
const START: i64 = 1_767_225_600 * SECOND;

fn since(now: i64) -> Duration {
    Duration::from_nanos((now - START).unsigned_abs())
}

/// The subscriptions under test, with a clock and ids of their own. Every result and notification is checked against
/// its schema.
struct Desk {
    subscriptions: Subscriptions,
    now: i64,
    made: u32,
}

impl Desk {
    fn new(settings: Settings) -> Self {
        Self { subscriptions: Subscriptions { settings, ..Subscriptions::default() }, now: START, made: 0 }
    }

    fn id(number: u32) -> String {
        format!("3f9c2a74-0000-4000-8000-{number:012}")
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Result<ToolOutcome, String> {
        let id = Self::id(self.made + 1);
        let since = since(self.now);
        let call = Call { tool, arguments: &arguments, now: self.now, since, client: "c", no_model: None };
        let done = self.subscriptions.call(&call, || id)?;
        self.made += u32::from(tool == "events_subscribe");
        assert_eq!(SCHEMAS.check(&format!("tool:{tool}:result"), &done.result), Some(vec![]));
        Ok(done)
    }

    fn subscribe(&mut self, arguments: Value) -> String {
        let done = self.call("events_subscribe", arguments).expect("subscribed");
        done.result["subscriptionId"].as_str().expect("an id").to_owned()
    }

    fn about(&mut self, tool: &str, id: &str) -> Result<ToolOutcome, String> {
        self.call(tool, json!({"subscriptionId": id}))
    }

    fn refused(&mut self, arguments: Value) -> String {
        self.call("events_subscribe", arguments).expect_err("refused")
    }

    /// Publishes an event with a number.
    fn publish(&mut self, number: u32, event: Value) -> Vec<SubscriptionAction> {
        let draft: Draft = serde_json::from_value(event).expect("a draft");
        let event = draft.event(Self::id(number), &stamp(self.now)).expect("an event");
        let acts = self.subscriptions.publish(&event, self.now, since(self.now));
        verify(&acts);
        acts
    }

    fn tick(&mut self, number: u32) -> Vec<SubscriptionAction> {
        self.publish(number, json!({"type": "tick"}))
    }

    /// Lets time pass up to an instant and wakes when something is due. Returns the actions with their times.
    fn pass(&mut self, until: i64) -> Vec<(i64, SubscriptionAction)> {
        let mut all = Vec::new();
        while let Some(at) = self.subscriptions.next_due().filter(|at| *at <= until) {
            self.now = self.now.max(at);
            let acts = self.subscriptions.handle_timeout(self.now);
            verify(&acts);
            all.extend(acts.into_iter().map(|act| (self.now, act)));
        }
        self.now = until;
        all
    }
}

fn verify(acts: &[SubscriptionAction]) {
    for act in acts {
        if let SubscriptionAction::Notify(method, params) = act {
            assert_eq!(SCHEMAS.check(&format!("{method}:params"), params), Some(vec![]));
        }
    }
}

/// The notifications: method, and the numbers of the events.
fn sent(acts: &[SubscriptionAction]) -> Vec<(&'static str, Vec<u64>)> {
    let number = |event: &Value| event["id"].as_str().and_then(|id| id[24..].parse().ok()).expect("a number");
    let notified = |act: &SubscriptionAction| match act {
        SubscriptionAction::Notify(EVENT, params) => Some((EVENT, vec![number(&params["event"])])),
        SubscriptionAction::Notify(method, params) => {
            Some((*method, params["events"].as_array().into_iter().flatten().map(number).collect()))
        }
        SubscriptionAction::Report(_) | SubscriptionAction::Handle(..) | SubscriptionAction::Forget(_) => None,
    };
    acts.iter().filter_map(notified).collect()
}

fn timed(acts: &[(i64, SubscriptionAction)]) -> Vec<(i64, &'static str, Vec<u64>)> {
    let one = |(at, act): &(i64, SubscriptionAction)| {
        sent(std::slice::from_ref(act)).pop().map(|(method, ids)| (*at, method, ids))
    };
    acts.iter().filter_map(one).collect()
}

fn reports<'a>(acts: &'a [SubscriptionAction], kind: &str) -> Vec<&'a Value> {
    let of_kind = |act: &'a SubscriptionAction| match act {
        SubscriptionAction::Report(report) if report["report"] == kind => Some(report),
        _ => None,
    };
    acts.iter().filter_map(of_kind).collect()
}

fn cron(expression: &str, most: u64) -> Value {
    json!({"delivery": {"channels": ["cron"], "cronSchedule": {"expression": expression, "maxEventsPerDelivery": most}}})
}

fn scheduled(at: i64, auto_expire: bool) -> Value {
    let one = json!({"deliverAt": stamp(at), "autoExpire": auto_expire});
    json!({"delivery": {"channels": ["scheduled"], "scheduledDelivery": one}})
}

#[test]
fn e13_e21_only_an_active_subscription_gets_events() {
    let mut shared = Desk::new(Settings::default());
    let id = shared.subscribe(json!({"filter": {"eventTypes": ["tick"]}}));
    assert_eq!(sent(&shared.tick(1)), [(EVENT, vec![1])]);
    shared.about("events_pause", &id).expect("paused");
    assert_eq!(sent(&shared.tick(2)), []);
    shared.about("events_resume", &id).expect("resumed");
    assert_eq!(sent(&shared.tick(3)), [(EVENT, vec![3])]);
    assert_eq!(shared.about("events_unsubscribe", &id).expect("gone").result["success"], json!(true));
    assert_eq!(sent(&shared.tick(4)), []);
}

#[test]
fn e11_e15_what_is_not_there_is_refused_or_reported() {
    let mut shared = Desk::new(Settings::default());
    let id = Desk::id(7);
    assert_eq!(shared.about("events_unsubscribe", &id).expect("no error").result["success"], json!(false));
    for tool in ["events_pause", "events_resume", "events_update"] {
        assert!(shared.about(tool, &id).is_err_and(|why| why.contains(&id)), "{tool}");
    }
}

#[test]
fn e14_an_update_replaces_each_member_that_is_given() {
    let mut shared = Desk::new(Settings::default());
    let id = shared.subscribe(json!({"filter": {"eventTypes": ["tick"]}}));
    let done =
        shared.call("events_update", json!({"subscriptionId": id, "filter": {"tags": ["ci"]}, "expiresAt": null}));
    let result = done.expect("updated").result;
    assert_eq!((result.get("expiresAt"), &result["filter"]), (None, &json!({"tags": ["ci"]})));
    assert_eq!((sent(&shared.tick(1)), shared.subscriptions.next_due()), (vec![], None));
    assert_eq!(sent(&shared.publish(2, json!({"type": "x", "tags": ["ci"]}))), [(EVENT, vec![2])]);
    let nested = json!({"subscriptionId": id, "updates": {"filter": {"tags": ["cd"]}}});
    let result = shared.call("events_update", nested).expect("updated").result;
    assert_eq!(result["filter"], json!({"tags": ["cd"]}), "AMB-E12");
    for wrong in [json!({"updates": 7}), json!({"updates": {"handler": {"type": "bash", "command": "x"}}})] {
        let mut wrong = wrong;
        wrong["subscriptionId"] = id.clone().into();
        assert!(shared.call("events_update", wrong).is_err());
    }
}

#[test]
fn e20_what_waits_goes_when_the_filter_or_the_delivery_no_longer_wants_it() {
    let mut shared = Desk::new(Settings::default());
    let id = shared.subscribe(cron("0 * * * *", 9));
    shared.tick(1);
    shared.publish(2, json!({"type": "tock"}));
    let update = json!({"subscriptionId": id, "filter": {"eventTypes": ["tock"]}});
    let done = shared.call("events_update", update).expect("updated");
    let gone = reports(&done.acts, "dropped");
    assert_eq!((gone.len(), &gone[0]["why"], &gone[0]["event_id"]), (1, &json!("filter_changed"), &json!(Desk::id(1))));
    assert_eq!(timed(&shared.pass(START + HOUR)), [(START + HOUR, BATCH, vec![2])]);
    shared.publish(3, json!({"type": "tock"}));
    let update = json!({"subscriptionId": id, "delivery": {"channels": ["realtime"]}});
    let done = shared.call("events_update", update).expect("updated");
    assert_eq!(reports(&done.acts, "dropped")[0]["why"], "delivery_changed");
    assert_eq!(sent(&shared.publish(4, json!({"type": "tock"}))), [(EVENT, vec![4])]);
}

#[test]
fn e5_e6_e8_what_is_not_offered_is_refused() {
    let mut shared = Desk::new(Settings::default());
    for (arguments, why) in [
        (json!({"delivery": {}}), "channels"),
        (json!({"delivery": {"channels": ["carrier pigeon"]}}), "pigeon"),
        (json!({"handler": {"type": "bash", "command": "id"}}), "handlers"),
        (json!({"filter": {"eventTypes": ["a*b"]}}), "wildcards"),
        (json!({"filter": {"priority": ["urgent"]}}), "urgent"),
        (json!({"expiresAt": "1969-12-31T00:00:00Z"}), "passed"),
        (json!({"expiresAt": "tomorrow"}), "tomorrow"),
    ] {
        let refused = shared.refused(arguments);
        assert!(refused.contains(why), "{refused}");
    }
    let mut late = scheduled(START + HOUR, true);
    late["expiresAt"] = json!(stamp(START + MINUTE));
    assert!(shared.refused(late).contains("before `deliverAt`"));
    assert!(shared.call("events_list", json!({"status": "removed"})).is_err());
}

#[test]
fn e26_a_subscription_that_ends_before_its_schedule_fires_is_refused() {
    let mut shared = Desk::new(Settings::default());
    let mut yearly = cron("0 0 1 1 *", 9);
    let soon = stamp(shared.now + 60_000_000_000);
    yearly["expiresAt"] = json!(soon);
    let why = shared.call("events_subscribe", yearly.clone()).expect_err("nothing would be delivered");
    assert!(why.contains("before the first time of the schedule"), "{why}");
    yearly["delivery"]["channels"] = json!(["cron", "realtime"]);
    assert!(shared.call("events_subscribe", yearly.clone()).is_ok(), "events come at once, too");
    yearly["delivery"]["channels"] = json!(["cron"]);
    yearly.as_object_mut().expect("an object").remove("expiresAt");
    let made = shared.call("events_subscribe", yearly).expect("granted").result;
    let first = stamp(1_798_761_600_000_000_000 + 24 * HOUR); // 2027-01-01 and a day
    assert_eq!(made["expiresAt"], json!(first), "it lasts beyond the first delivery");
    let id = made["subscriptionId"].as_str().expect("an id").to_owned();
    let update = json!({"subscriptionId": id, "expiresAt": soon});
    assert!(shared.call("events_update", update).is_err_and(|why| why.contains("schedule")));
}

#[test]
fn e9_e12_e26_e40_subscriptions_end_and_free_their_place() {
    let mut shared = Desk::new(Settings { max_subscriptions: 3, ..Settings::default() });
    for _ in 0..3 {
        shared.subscribe(json!({"expiresAt": stamp(START + HOUR)}));
    }
    assert!(shared.refused(json!({})).contains("at most 3"));
    assert_eq!(shared.pass(START + HOUR - 1), []);
    let ended = shared.pass(START + HOUR);
    assert_eq!(timed(&ended), vec![(START + HOUR, EXPIRED, vec![]); 3]);
    assert_eq!(sent(&shared.tick(1)), []);
    let listed = shared.call("events_list", json!({"status": "expired"})).expect("listed").result;
    assert_eq!(listed["subscriptions"].as_array().map(Vec::len), Some(3));
    assert!(shared.about("events_resume", &Desk::id(1)).is_err_and(|why| why.contains("expired")));
    let done = shared.call("events_subscribe", json!({})).expect("there is space again");
    assert_eq!(done.result["expiresAt"], json!(stamp(START + 25 * HOUR)), "a lifetime of its own");
    let mut endless = Desk::new(Settings { life_seconds: 0, ..Settings::default() });
    assert_eq!(endless.call("events_subscribe", json!({})).expect("made").result.get("expiresAt"), None);
    let mut far = Desk::new(Settings::default());
    let done = far.call("events_subscribe", scheduled(START + 72 * HOUR, true)).expect("made");
    assert_eq!(done.result["expiresAt"], json!(stamp(START + 96 * HOUR)), "counted from the delivery");
}

#[test]
fn e37_types_beyond_what_is_allowed_are_refused() {
    let allow = vec!["github.*".to_owned(), "tick".to_owned()];
    let mut shared = Desk::new(Settings { allow, ..Settings::default() });
    for types in [json!(["github.*"]), json!(["github.push", "tick"]), json!(["github.issue.*"])] {
        shared.subscribe(json!({"filter": {"eventTypes": types}}));
    }
    for filter in [json!({}), json!({"eventTypes": ["*"]}), json!({"eventTypes": ["tick", "slack.*"]})] {
        assert!(shared.refused(json!({"filter": filter})).contains("not allowed"));
    }
    let id = Desk::id(1);
    let update = |filter: Value| json!({"subscriptionId": id, "filter": filter});
    assert!(shared.call("events_update", update(json!({}))).is_err_and(|why| why.contains("not allowed")));
    shared.about("events_update", &id).expect("the filter stays");
}

#[test]
fn e38_rates_are_held_and_what_is_lost_is_reported() {
    let settings = Settings { subscriptions_per_minute: 2, events_per_minute: 2, ..Settings::default() };
    let mut shared = Desk::new(settings);
    shared.subscribe(json!({}));
    shared.subscribe(json!({"filter": {"eventTypes": ["other"]}}));
    assert!(shared.refused(json!({})).contains("in a minute"));
    assert_eq!((sent(&shared.tick(1)).len(), sent(&shared.tick(2)).len()), (1, 1));
    let third = shared.tick(3);
    assert_eq!((sent(&third).len(), &reports(&third, "dropped")[0]["why"]), (0, &json!("rate")));
    shared.pass(START + MINUTE);
    assert_eq!(sent(&shared.tick(4)), [(EVENT, vec![4])]);
    shared.subscribe(json!({}));
}

#[test]
fn e17_e22_e23_cron_gathers_and_nothing_is_sent_where_nothing_waits() {
    let mut shared = Desk::new(Settings::default());
    shared.subscribe(cron("0 * * * *", 100));
    assert_eq!(shared.pass(START + 3 * HOUR), []);
    shared.now += MINUTE;
    assert_eq!(sent(&shared.tick(1)), []);
    let held = shared.tick(2);
    assert_eq!(reports(&held, "published")[0]["held"], json!([Desk::id(1)]));
    assert_eq!(timed(&shared.pass(START + 6 * HOUR)), [(START + 4 * HOUR, BATCH, vec![1, 2])]);
}

#[test]
fn e23_what_exceeds_a_delivery_waits_for_the_next_one() {
    let mut shared = Desk::new(Settings::default());
    shared.subscribe(cron("*/10 * * * *", 2));
    (1..=5).for_each(|number| drop(shared.tick(number)));
    let acts = shared.pass(START + HOUR);
    let ten = 10 * MINUTE;
    let batches =
        [(START + ten, BATCH, vec![1, 2]), (START + 2 * ten, BATCH, vec![3, 4]), (START + 3 * ten, BATCH, vec![5])];
    assert_eq!(timed(&acts), batches);
    let acts: Vec<SubscriptionAction> = acts.into_iter().map(|(_, act)| act).collect();
    let left: Vec<&Value> = reports(&acts, "delivered").iter().map(|report| &report["left"]).collect();
    assert_eq!(left, [&json!(3), &json!(1), &json!(0)]);
}

#[test]
fn e23_the_oldest_give_way_and_that_is_reported() {
    let mut shared = Desk::new(Settings { most_kept: 2, ..Settings::default() });
    shared.subscribe(cron("0 * * * *", 100));
    assert_eq!(reports(&shared.tick(1), "dropped").len() + reports(&shared.tick(2), "dropped").len(), 0);
    let full = shared.tick(3);
    let gone = reports(&full, "dropped");
    assert_eq!((&gone[0]["event_id"], &gone[0]["why"]), (&json!(Desk::id(1)), &json!("full")));
    assert_eq!(timed(&shared.pass(START + HOUR)), [(START + HOUR, BATCH, vec![2, 3])]);
}

#[test]
fn e22_events_that_are_not_gathered_come_in_batches_of_one() {
    let mut shared = Desk::new(Settings::default());
    let mut arguments = cron("0 * * * *", 2);
    arguments["delivery"]["cronSchedule"]["aggregateEvents"] = json!(false);
    arguments["delivery"]["channels"] = json!(["realtime", "cron"]);
    shared.subscribe(arguments);
    assert_eq!(sent(&shared.tick(1)), [(EVENT, vec![1])], "in real time too");
    shared.tick(2);
    shared.tick(3);
    let acts = shared.pass(START + HOUR);
    assert_eq!(timed(&acts), [(START + HOUR, BATCH, vec![1]), (START + HOUR, BATCH, vec![2])]);
}

#[test]
fn e13_what_waits_stays_through_a_pause() {
    let mut shared = Desk::new(Settings::default());
    let id = shared.subscribe(cron("0 * * * *", 100));
    shared.tick(1);
    shared.about("events_pause", &id).expect("paused");
    shared.tick(2);
    assert_eq!(shared.pass(START + 90 * MINUTE), [], "nothing is delivered while it is paused");
    shared.about("events_resume", &id).expect("resumed");
    assert_eq!(timed(&shared.pass(START + 2 * HOUR)), [(START + 2 * HOUR, BATCH, vec![1])]);
}

#[test]
fn e25_one_batch_at_its_time_and_then_the_end() {
    let mut shared = Desk::new(Settings::default());
    let id = shared.subscribe(scheduled(START + HOUR, true));
    shared.tick(1);
    shared.tick(2);
    let end = START + HOUR;
    assert_eq!(timed(&shared.pass(START + 2 * HOUR)), [(end, BATCH, vec![1, 2]), (end, EXPIRED, vec![])]);
    assert!(shared.about("events_pause", &id).is_err());
    let stays = shared.subscribe(scheduled(shared.now + HOUR, false));
    shared.tick(3);
    assert_eq!(timed(&shared.pass(START + 4 * HOUR)), [(START + 3 * HOUR, BATCH, vec![3])]);
    assert_eq!(reports(&shared.tick(4), "published")[0]["held"], json!([]), "its only delivery is over");
    let mut again = scheduled(shared.now + HOUR, true);
    again["subscriptionId"] = json!(stays);
    shared.call("events_update", again).expect("another time");
    shared.tick(5);
    let end = START + 5 * HOUR;
    assert_eq!(timed(&shared.pass(START + 6 * HOUR)), [(end, BATCH, vec![5]), (end, EXPIRED, vec![])]);
}

#[test]
fn e10_a_time_in_the_past_is_due_at_once_and_after_the_answer() {
    let mut shared = Desk::new(Settings::default());
    let done = shared.call("events_subscribe", scheduled(START - HOUR, true)).expect("subscribed");
    assert_eq!((&done.result["status"], sent(&done.acts)), (&json!("active"), vec![]));
    assert_eq!(timed(&shared.pass(START)), [(START, EXPIRED, vec![])]);
}

#[test]
fn e26_events_that_waited_in_vain_are_reported() {
    let mut shared = Desk::new(Settings::default());
    let mut arguments = cron("0 * * * *", 9);
    arguments["expiresAt"] = json!(stamp(START + HOUR + MINUTE));
    shared.subscribe(arguments);
    shared.pass(START + HOUR);
    shared.tick(1);
    let acts: Vec<SubscriptionAction> = shared.pass(START + 2 * HOUR).into_iter().map(|(_, act)| act).collect();
    assert_eq!(reports(&acts, "subscription")[0]["undelivered"], json!(1));
}

#[test]
fn e27_e41_one_event_has_one_id_for_all_and_order_is_kept() {
    let mut shared = Desk::new(Settings::default());
    shared.subscribe(json!({}));
    shared.subscribe(json!({}));
    assert_eq!(sent(&shared.tick(1)), [(EVENT, vec![1]), (EVENT, vec![1])]);
    shared.subscribe(cron("0 * * * *", 1000));
    (2..100).for_each(|number| drop(shared.tick(number)));
    assert_eq!(timed(&shared.pass(START + HOUR)), [(START + HOUR, BATCH, (2..100).collect())]);
}

#[test]
fn e32_where_other_servers_read_a_wildcard_otherwise_is_reported() {
    let mut shared = Desk::new(Settings::default());
    let done = shared.call("events_subscribe", json!({"filter": {"eventTypes": ["*"]}})).expect("subscribed");
    assert_eq!(reports(&done.acts, "read_otherwise")[0]["pattern"], "*");
    shared.subscribe(json!({"filter": {"eventTypes": ["tick.*"]}}));
    let acts = shared.tick(1);
    assert_eq!(sent(&acts).len(), 1, "not below tick");
    assert_eq!(reports(&acts, "read_otherwise")[0]["pattern"], "tick.*");
}

#[test]
fn e19_an_event_must_fit_the_proposal() {
    let draft = |event: Value| serde_json::from_value::<Draft>(event).expect("a draft");
    let made = |draft: Draft| draft.event(Desk::id(1), "2026-01-01T00:00:00Z");
    assert!(made(draft(json!({"type": "a", "priority": "urgent"}))).is_err());
    assert!(made(draft(json!({"type": ""}))).is_err());
    let whole = json!({"type": "a.b", "data": {"n": 1}, "tags": ["x"], "sourceEventId": "s"});
    assert_eq!(made(draft(whole)).expect("an event").value["metadata"]["priority"], "normal");
}

#[test]
fn e5_members_that_the_proposal_does_not_define_are_refused() {
    let mut desk = Desk::new(Settings::default());
    for (arguments, words) in [
        (json!({"filters": {"eventTypes": ["a"]}}), ["the arguments", "\"filters\"", "filter"]),
        (json!({"filter": {"types": ["a"]}}), ["`filter`", "\"types\"", "eventTypes"]),
        (json!({"delivery": {"channels": ["realtime"], "cron": {}}}), ["`delivery`", "\"cron\"", "cronSchedule"]),
        (
            json!({"delivery": {"channels": ["cron"], "cronSchedule": {"expression": "@daily", "timeZone": "UTC"}}}),
            ["`cronSchedule`", "\"timeZone\"", "timezone"],
        ),
        (
            json!({"delivery": {"channels": ["scheduled"],
                "scheduledDelivery": {"deliverAt": "2027-01-01T00:00:00Z", "expire": true}}}),
            ["`scheduledDelivery`", "\"expire\"", "autoExpire"],
        ),
        (
            json!({"handler": {"type": "webhook", "url": "https://a.b/", "header": {}}}),
            ["`handler`", "\"header\"", "headers"],
        ),
    ] {
        let refused = desk.refused(arguments);
        assert!(words.iter().all(|word| refused.contains(word)), "{refused}");
    }
    let id = desk.subscribe(json!({}));
    let update = desk.call("events_update", json!({"subscriptionId": id, "filters": {}})).expect_err("refused");
    assert!(update.contains("\"filters\""), "{update}");
}

#[test]
fn e26_an_expiry_may_be_never_and_an_offset_must_be_one() {
    let mut desk = Desk::new(Settings::default());
    for never in ["9999-12-31T23:59:59Z", "2262-04-12T00:00:00Z", "3000-01-01T00:00:00+02:00"] {
        let made = desk.call("events_subscribe", json!({"expiresAt": never})).expect("granted").result;
        assert_eq!(made["expiresAt"], never);
        let id = made["subscriptionId"].as_str().expect("an id");
        let changed = json!({"subscriptionId": id, "expiresAt": "9999-12-31T23:59:59Z"});
        assert_eq!(desk.call("events_update", changed).expect("changed").result["expiresAt"], "9999-12-31T23:59:59Z");
    }
    assert_eq!(desk.subscriptions.next_due(), Some(i64::MAX));
    let late =
        json!({"delivery": {"channels": ["scheduled"], "scheduledDelivery": {"deliverAt": "9999-12-31T23:59:59Z"}}});
    let made = desk.call("events_subscribe", late).expect("granted").result;
    assert!(made.get("expiresAt").is_none(), "it would expire before the delivery: {made}");
    for wrong in ["2027-01-01T00:00:00+25:00", "2027-01-01T00:00:00", "2027-13-01T00:00:00Z"] {
        assert!(desk.refused(json!({"expiresAt": wrong})).contains(wrong), "{wrong}");
    }
}

/// Subscriptions that do not expire, with an hourly schedule.
fn hourly() -> Desk {
    let mut desk = Desk::new(Settings { life_seconds: 0, ..Settings::default() });
    desk.subscribe(cron("0 * * * *", 10));
    desk
}

impl Desk {
    fn set_clock(&mut self, now: i64) {
        self.now = now;
        self.subscriptions.clock_stepped(now);
    }
}

#[test]
fn after_a_suspend_a_schedule_fires_once_for_all_missed_times() {
    let mut desk = hourly();
    desk.pass(START + 10 * MINUTE);
    desk.tick(1);
    desk.set_clock(START + 8 * HOUR + 10 * MINUTE);
    assert_eq!(timed(&desk.pass(desk.now)), [(desk.now, BATCH, vec![1])]);
    desk.tick(2);
    assert_eq!(timed(&desk.pass(START + 12 * HOUR)), [(START + 9 * HOUR, BATCH, vec![2])]);
}

#[test]
fn a_schedule_follows_a_clock_that_is_set_back() {
    let mut desk = hourly();
    desk.pass(START + 8 * HOUR + 10 * MINUTE);
    desk.tick(1);
    desk.set_clock(START + 7 * HOUR + 10 * MINUTE);
    assert_eq!(timed(&desk.pass(START + 9 * HOUR)), [(START + 8 * HOUR, BATCH, vec![1])]);
    // A clock that was wrong by a year is set right.
    desk.now = START + 365 * 24 * HOUR;
    desk.tick(2);
    desk.set_clock(START + 9 * HOUR + MINUTE);
    assert_eq!(timed(&desk.pass(START + 10 * HOUR)), [(START + 10 * HOUR, BATCH, vec![2])]);
}

/// Near miss: a small correction does not repeat the last time, nor does a clock that is set forward to before the next.
#[test]
fn a_corrected_clock_does_not_repeat_a_time() {
    let mut desk = hourly();
    desk.tick(1);
    assert_eq!(timed(&desk.pass(START + HOUR)), [(START + HOUR, BATCH, vec![1])]);
    desk.pass(START + HOUR + 10 * SECOND);
    desk.tick(2);
    desk.set_clock(START + HOUR - 20 * SECOND);
    assert_eq!(timed(&desk.pass(START + HOUR + 59 * MINUTE)), []);
    desk.set_clock(START + 2 * HOUR - 2 * SECOND);
    assert_eq!(timed(&desk.pass(START + 2 * HOUR)), [(START + 2 * HOUR, BATCH, vec![2])]);
}

#[test]
fn a_rate_is_counted_by_lengths_of_time_not_by_the_clock() {
    let settings = Settings { events_per_minute: 1, ..Settings::default() };
    let mut desk = Desk::new(settings);
    desk.subscribe(json!({}));
    let draft: Draft = serde_json::from_value(json!({"type": "tick"})).expect("a draft");
    let mut publish = |wall: i64, since: u64| {
        let event = draft.clone().event(Desk::id(1), &stamp(wall)).expect("an event");
        sent(&desk.subscriptions.publish(&event, wall, Duration::from_secs(since))).len()
    };
    assert_eq!(publish(START, 0), 1);
    assert_eq!(publish(START + 8 * HOUR, 1), 0, "the clock was set, but only a second has passed");
    assert_eq!(publish(START - HOUR, 61), 1, "the clock was set back, but a minute has passed");
}
