use super::*;
use crate::proposals::host::{Effect, ModelView, ServerView};
use crate::proposals::{Declared, settings};
use crate::wire::Envelope;

/// The host's side under test, with one server.
struct Bench {
    side: McpeHostSide,
    view: ServerView,
    now: Duration,
    tokens: u64,
    effects: Vec<Effect>,
}

const SERVER: ServerId = ServerId(0);

impl Bench {
    fn new(set: &[(&str, Value)], capabilities: Value, tools: &[&str]) -> Self {
        let mut policies = Policies::new(settings());
        set.iter().for_each(|(name, value)| policies.set(None, name, value).expect("an option"));
        let tools = Some(tools.iter().map(|name| (*name).to_owned()).collect());
        let mut server = capabilities;
        server["tools"] = json!({});
        let declared = Declared { server, tools, ..Declared::default() };
        let view =
            ServerView { name: "s".to_owned(), declared, is_legacy: true, is_open: true, ..ServerView::default() };
        let mut bench =
            Self { side: McpeHostSide::new(&policies), view, now: Duration::ZERO, tokens: 0, effects: Vec::new() };
        bench.with(|side, cx| side.connected(cx, SERVER));
        assert!(bench.effects.is_empty(), "nothing is known before the list of tools");
        bench.with(|side, cx| side.listed(cx, SERVER));
        // A second list changes nothing.
        bench.with(|side, cx| side.listed(cx, SERVER));
        bench
    }

    /// A server with the capability and the tools.
    fn plain(set: &[(&str, Value)]) -> Self {
        Self::new(set, json!({"events": {"maxSubscriptions": 9}}), &[SUBSCRIBE])
    }

    /// Calls the side and passes it each tool call that it makes, as the engine does.
    fn with<T>(&mut self, ask: impl FnOnce(&mut McpeHostSide, &mut HostCx<'_>) -> T) -> T {
        let before = self.effects.len();
        let answer = self.ask(ask);
        let sent: Vec<ToolUse> = self.effects[before..].iter().filter_map(tool_use).collect();
        sent.iter().for_each(|used| self.gate(used));
        answer
    }

    fn gate(&mut self, used: &ToolUse) {
        self.ask(|side, cx| side.gate(cx, used, &mut json!({}))).expect("no call is refused");
    }

    /// Another client calls a tool, with this outcome.
    fn others(&mut self, tool: &str, arguments: Value, outcome: &Value) {
        let used = ToolUse { server: Some(SERVER), tool: tool.to_owned(), arguments, output: None };
        self.gate(&used);
        self.ask(|side, cx| side.called(cx, &used, &json!({"structuredContent": outcome, "content": []})));
    }

    fn text_of(&self, what: &str) -> Option<&str> {
        self.effects.iter().rev().find_map(|effect| match effect {
            Effect::Report(event) if event.what == what => Some(event.text.as_str()),
            _ => None,
        })
    }

    fn ask<T>(&mut self, ask: impl FnOnce(&mut McpeHostSide, &mut HostCx<'_>) -> T) -> T {
        let (servers, names) = (std::slice::from_ref(&self.view), ("p", "s"));
        let model = ModelView::default();
        let mut cx =
            HostCx::new(self.now, 1, servers, (names.0, names.1, &model), (&mut self.tokens, &mut self.effects));
        ask(&mut self.side, cx.of("mcpe"))
    }

    fn receive(&mut self, method: &str, params: &Value) {
        let text = json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string();
        let envelope = Envelope::scan(text.as_bytes());
        let received = Inbound { envelope: &envelope, text: text.as_bytes() };
        assert!(self.with(|side, cx| side.receive(cx, SERVER, &received)));
    }

    fn event(&mut self, subscription: &str, id: &str) {
        self.receive(EVENT, &json!({"subscriptionId": subscription, "event": event(id)}));
    }

    fn reply(&mut self, token: u64, result: &Value) {
        let text = json!({"jsonrpc": "2.0", "id": 1, "result": result}).to_string();
        let envelope = Envelope::scan(text.as_bytes());
        let reply = RequestOutcome::Answered { envelope: &envelope, latency: Duration::ZERO };
        let is_it = |effect: &&Effect| matches!(effect, Effect::Request { token: own, .. } if *own == token);
        let used = self.effects.iter().find(is_it).and_then(tool_use).expect("a tool was called");
        self.with(|side, cx| side.called(cx, &used, result));
        self.with(|side, cx| side.replied(cx, SERVER, token, &reply));
    }

    fn grant(&mut self, token: u64, id: &str) {
        self.reply(token, &json!({"structuredContent": {"subscriptionId": id, "status": "active"}, "content": []}));
    }

    /// The last call of a tool: its token and arguments.
    fn called(&self, tool: &str) -> Option<(u64, &Value)> {
        self.effects.iter().rev().find_map(|effect| match effect {
            Effect::Request { token, params, .. } if params["name"] == tool => Some((*token, &params["arguments"])),
            _ => None,
        })
    }

    fn reported(&self, what: &str) -> usize {
        self.effects.iter().filter(|effect| matches!(effect, Effect::Report(event) if event.what == what)).count()
    }

    /// The injections for the next prompt.
    fn prompt(&mut self) -> Vec<String> {
        self.effects.clear();
        self.with(|side, cx| side.lifecycle_event(cx, &LifecycleEvent::Prompt(Agent::Main)));
        let text = |effect: &Effect| match effect {
            Effect::Inject(injection) if injection.slot == SLOT => Some(injection.text.clone()),
            _ => None,
        };
        self.effects.iter().filter_map(text).collect()
    }

    fn order(&mut self, order: &str, params: &Value) -> Option<Result<(), String>> {
        self.with(|side, cx| side.order(cx, order, params))
    }
}

fn tool_use(effect: &Effect) -> Option<ToolUse> {
    let Effect::Request { server, params, .. } = effect else { return None };
    let tool = params["name"].as_str().expect("a tool").to_owned();
    Some(ToolUse { server: Some(*server), tool, arguments: params["arguments"].clone(), output: None })
}

fn event(id: &str) -> Value {
    json!({"id": id, "type": "github.push", "data": {"n": 1},
        "metadata": {"timestamp": "2026-01-01T00:00:00Z", "priority": "high", "tags": ["ci", "x"]}})
}

#[test]
fn e1_e2_support_is_the_capability_or_the_tool_and_is_checked_before() {
    let set = [("mcpe.subscribe", json!("github.*"))];
    let declared = json!({"events": {"maxSubscriptions": 1}});
    for (capabilities, tools, supported, event) in [
        (declared.clone(), &[SUBSCRIBE][..], true, "declared"),
        (json!({}), &[SUBSCRIBE], true, "declared"),
        (json!({}), &["echo"], false, "unsupported"),
        (declared, &[], false, "no tool"),
    ] {
        let bench = Bench::new(&set, capabilities, tools);
        assert_eq!((bench.called(SUBSCRIBE).is_some(), bench.reported(event)), (supported, 1), "{event}");
    }
}

#[test]
fn e5_subscriptions_are_made_at_connect_from_patterns_and_filters() {
    let bench = Bench::plain(&[("mcpe.subscribe", json!(["github.*", r#"{"tags":["ci"]}"#, "*"]))]);
    let made: Vec<&Value> = bench
        .effects
        .iter()
        .filter_map(|effect| {
            if let Effect::Request { params, .. } = effect { Some(&params["arguments"]["filter"]) } else { None }
        })
        .collect();
    assert_eq!(made, [&json!({"eventTypes": ["github.*"]}), &json!({"tags": ["ci"]}), &json!({})]);
    let check = |option: &str, value: Value| {
        let mut policies = Policies::new(settings());
        policies.set(Some("s"), option, &value).expect("an option");
        crate::proposals::check_policies(&policies).map_err(|error| error.to_string())
    };
    for (option, value, words) in [
        ("mcpe.subscribe", json!(["{"]), "mcpe.subscribe for s: invalid filter \"{\""),
        ("mcpe.subscribe", json!([r#"{"types":["a"]}"#]), "no member \"types\""),
        ("mcpe.route", json!(["a.*=ring"]), "mcpe.route for s: invalid route \"a.*=ring\""),
    ] {
        assert!(check(option, value).is_err_and(|why| why.contains(words)), "{words}");
    }
    assert_eq!(check("mcpe.route", json!(["a.*=wake"])), Ok(()));
}

#[test]
fn f3_events_stand_once_in_the_next_prompt_and_wake_nobody() {
    let mut bench = Bench::plain(&[("mcpe.subscribe", json!("github.*"))]);
    let token = bench.called(SUBSCRIBE).expect("asked").0;
    bench.grant(token, "a");
    bench.event("a", "1");
    bench.receive(BATCH, &json!({"subscriptionId": "a", "events": [event("1"), event("2")]}));
    // Another form of delivery may bring the same event; the same form, only once.
    assert_eq!((bench.reported("event"), bench.reported("known event"), bench.reported("duplicate")), (2, 1, 0));
    bench.event("a", "1");
    assert_eq!(bench.reported("duplicate"), 1);
    assert!(!bench.effects.iter().any(|effect| matches!(effect, Effect::Inject(_))));
    let prompt = bench.prompt();
    assert_eq!((prompt.len(), prompt[0].contains(r#""n":1"#)), (2, true));
    assert_eq!(bench.prompt(), Vec::<String>::new());
}

#[test]
fn f3_an_event_can_be_a_note_or_nothing_and_only_so_many_wait() {
    for (inject, texts) in [("note", vec!["github.push (high)"]), ("none", vec![])] {
        let set = [("mcpe.inject", json!(inject)), ("mcpe.most_waiting", json!(1)), ("mcpe.subscribe", json!("*"))];
        let mut bench = Bench::plain(&set);
        let token = bench.called(SUBSCRIBE).expect("asked").0;
        bench.grant(token, "a");
        bench.event("a", "1");
        bench.event("a", "2");
        assert_eq!(bench.reported("dropped"), texts.len());
        assert_eq!(bench.prompt(), texts);
    }
}

#[test]
fn e16_e17_e20_what_is_no_event_or_was_not_asked_for_is_reported_and_not_injected() {
    let mut bench = Bench::plain(&[("mcpe.subscribe", json!("github.push"))]);
    let token = bench.called(SUBSCRIBE).expect("asked").0;
    bench.grant(token, "a");
    for odd in [json!(null), json!("x"), json!({"id": "1", "type": "github.push"})] {
        bench.receive(EVENT, &json!({"subscriptionId": "a", "event": odd}));
    }
    bench.receive(BATCH, &json!({"subscriptionId": "a", "events": "x"}));
    let mut other = event("2");
    other["type"] = json!("mail.came");
    bench.receive(EVENT, &json!({"subscriptionId": "a", "event": other}));
    assert_eq!((bench.reported("malformed"), bench.reported("unwanted"), bench.reported("event")), (4, 1, 0));
    assert_eq!(bench.prompt(), Vec::<String>::new());
    // While an update is under way, the filter is the old one or the new one.
    let used = ToolUse {
        server: Some(SERVER),
        tool: UPDATE.to_owned(),
        arguments: json!({"subscriptionId": "a", "filter": {"eventTypes": ["mail.*"]}}),
        output: None,
    };
    bench.gate(&used);
    bench.receive(EVENT, &json!({"subscriptionId": "a", "event": other}));
    assert_eq!(bench.reported("unwanted"), 0, "the effects were cleared");
    bench.ask(|side, cx| side.called(cx, &used, &json!({"structuredContent": {"status": "active"}, "content": []})));
    bench.event("a", "3");
    assert_eq!((bench.reported("event"), bench.reported("unwanted")), (1, 1), "github.push is no longer wanted");
}

#[test]
fn e32_no_wildcard_is_sent_to_a_server_without_them() {
    let events = json!({"events": {"maxSubscriptions": 9, "features": {"wildcards": false}}});
    let set = [("mcpe.subscribe", json!(["github.*", "github.push"]))];
    let mut bench = Bench::new(&set, events, &[SUBSCRIBE]);
    assert_eq!(bench.called(SUBSCRIBE).expect("asked").1["filter"], json!({"eventTypes": ["github.push"]}));
    assert_eq!(bench.reported("unsupported"), 1);
    let refused = bench.order("subscribe", &json!({"types": "mail.*"})).expect("known");
    assert!(refused.is_err_and(|why| why.contains("no wildcards")));
}

#[test]
fn e5_turns_wait_for_the_hosts_own_subscriptions() {
    let mut bench = Bench::plain(&[("mcpe.subscribe", json!("*"))]);
    assert!(!bench.side.is_settled());
    let token = bench.called(SUBSCRIBE).expect("asked").0;
    bench.grant(token, "a");
    assert!(bench.side.is_settled());
    bench.order("subscribe", &json!({})).expect("known").expect("asked");
    let token = bench.called(SUBSCRIBE).expect("asked").0;
    assert!(!bench.side.is_settled());
    bench.with(|side, cx| side.replied(cx, SERVER, token, &RequestOutcome::TimedOut));
    assert!(bench.side.is_settled(), "nobody waits for ever");
}

#[test]
fn e10_what_overtakes_the_answer_waits_for_it() {
    let mut bench = Bench::plain(&[("mcpe.subscribe", json!("*"))]);
    let token = bench.called(SUBSCRIBE).expect("asked").0;
    bench.event("a", "1");
    bench.event("b", "2");
    bench.receive(EXPIRED, &json!({"subscriptionId": "a"}));
    assert_eq!((bench.reported("event"), bench.reported("stray")), (0, 0));
    bench.grant(token, "a");
    assert_eq!((bench.reported("event"), bench.reported("expired"), bench.reported("stray")), (1, 1, 1));
    bench.event("a", "3");
    assert_eq!(bench.reported("stray"), 2, "it is over");
}

#[test]
fn e7_results_are_read_as_text_and_as_an_object_and_refusals_are_reported() {
    let mut bench = Bench::plain(&[]);
    assert_eq!(bench.order("subscribe", &json!({"filter": {"tags": ["x"]}})), Some(Ok(())));
    let (token, arguments) = bench.called(SUBSCRIBE).expect("asked");
    assert_eq!(arguments["filter"], json!({"tags": ["x"]}));
    let text = json!({"subscriptionId": "t", "status": "active"}).to_string();
    bench.reply(token, &json!({"content": [{"type": "text", "text": text}]}));
    bench.event("t", "1");
    assert_eq!(bench.reported("event"), 1);
    bench.order("subscribe", &json!({})).expect("known").expect("asked");
    let token = bench.called(SUBSCRIBE).expect("asked").0;
    bench.reply(token, &json!({"content": [{"type": "text", "text": "at most 1"}], "isError": true}));
    assert_eq!(bench.reported("refused"), 1);
}

#[test]
fn e11_e12_orders_end_and_list_subscriptions() {
    let mut bench = Bench::plain(&[("mcpe.subscribe", json!("*"))]);
    let token = bench.called(SUBSCRIBE).expect("asked").0;
    bench.grant(token, "a");
    assert!(bench.order("unsubscribe", &json!({})).expect("known").is_err());
    assert!(bench.order("events", &json!({"server": "nobody"})).expect("known").is_err());
    bench.order("unsubscribe", &json!({"subscription": "a"})).expect("known").expect("asked");
    let token = bench.called(UNSUBSCRIBE).expect("asked").0;
    bench.reply(token, &json!({"structuredContent": {"success": true}, "content": []}));
    bench.event("a", "1");
    assert_eq!((bench.reported("unsubscribed"), bench.reported("stray")), (1, 1));
    bench.order("events", &json!({})).expect("known").expect("asked");
    let token = bench.called(LIST).expect("asked").0;
    bench.reply(token, &json!({"structuredContent": {"subscriptions": []}, "content": []}));
    assert_eq!((bench.reported("subscriptions"), bench.order("hook", &json!({}))), (1, None));
    // The result is not defined; a bare list is one, too (AMB-E3).
    bench.order("events", &json!({})).expect("known").expect("asked");
    let token = bench.called(LIST).expect("asked").0;
    bench.reply(token, &json!({"content": [{"type": "text", "text": r#"[{"id": "a"}, {"id": "b"}]"#}]}));
    assert_eq!((bench.reported("subscriptions"), bench.text_of("subscriptions")), (2, Some("2 subscriptions")));
}

#[test]
fn e18_an_expired_subscription_is_made_again_if_wanted() {
    let mut bench = Bench::plain(&[("mcpe.renew", json!(true)), ("mcpe.subscribe", json!("a.*"))]);
    let first = bench.called(SUBSCRIBE).expect("asked").0;
    bench.grant(first, "a");
    bench.receive(EXPIRED, &json!({"subscriptionId": "a"}));
    let (second, arguments) = bench.called(SUBSCRIBE).expect("asked");
    assert!(second > first && arguments["filter"]["eventTypes"] == json!(["a.*"]));
}

#[test]
fn e11_an_unsubscription_may_be_answered_in_any_form() {
    for (text, is_over) in [("ok", true), ("true", true), (" false\n", false)] {
        let mut bench = Bench::plain(&[]);
        bench.others(SUBSCRIBE, json!({}), &json!({"subscriptionId": "r"}));
        let arguments = json!({"subscriptionId": "r"});
        let used = ToolUse { server: Some(SERVER), tool: UNSUBSCRIBE.to_owned(), arguments, output: None };
        bench.gate(&used);
        let result = json!({"content": [{"type": "text", "text": text}]});
        bench.ask(|side, cx| side.called(cx, &used, &result));
        assert_eq!(bench.reported("unsubscribed"), usize::from(is_over), "{text}");
        bench.event("r", "1");
        assert_eq!(bench.reported("stray"), usize::from(is_over), "{text}");
    }
}

#[test]
fn e13_e17_deliveries_that_a_subscription_should_not_get_are_reported_and_count() {
    let mut bench = Bench::plain(&[]);
    bench.others(SUBSCRIBE, json!({"delivery": {"channels": ["cron"]}}), &json!({"subscriptionId": "c"}));
    bench.others(SUBSCRIBE, json!({}), &json!({"subscriptionId": "r"}));
    let id = |last: u8| format!("ea014beb-c6ec-4c8b-a7e6-7c14d3d0a8{last:02}");
    bench.event("r", &id(1));
    bench.receive(BATCH, &json!({"subscriptionId": "c", "events": [event(&id(2))]}));
    assert_eq!((bench.reported("event"), bench.reported("odd event")), (2, 0));
    bench.event("c", &id(3));
    assert_eq!((bench.reported("event"), bench.reported("odd event")), (3, 1));
    assert_eq!(bench.text_of("odd event"), Some("events/event: the subscription's delivery has other channels"));
    bench.receive(BATCH, &json!({"subscriptionId": "r", "events": [event(&id(4))]}));
    assert_eq!(bench.reported("odd event"), 2);
    bench.others(PAUSE, json!({"subscriptionId": "r"}), &json!({"subscriptionId": "r", "status": "paused"}));
    bench.event("r", &id(5));
    assert_eq!(bench.reported("odd event"), 2, "it may have been on its way");
    bench.now += Duration::from_secs(1);
    bench.event("r", &id(6));
    assert_eq!(
        (bench.text_of("odd event"), bench.reported("event")),
        (Some("events/event: the subscription is paused"), 6)
    );
    bench.others(RESUME, json!({"subscriptionId": "r"}), &json!({"subscriptionId": "r", "status": "active"}));
    bench.event("r", &id(7));
    assert_eq!((bench.reported("odd event"), bench.reported("event")), (3, 7));
}

#[test]
fn f3_events_go_where_their_route_says_and_begin_turns_within_limits() {
    let routes = json!(["github.issue.*=note", "github.*=wake"]);
    let set = [("mcpe.route", routes), ("mcpe.inject", json!("none")), ("mcpe.wakes_per_minute", json!(2))];
    let mut bench = Bench::plain(&set);
    bench.order("subscribe", &json!({})).expect("known").expect("asked");
    let (token, _) = bench.called(SUBSCRIBE).expect("asked");
    bench.grant(token, "a");
    let wakes = |bench: &Bench| bench.effects.iter().filter(|effect| matches!(effect, Effect::Wake { .. })).count();
    // Two events that come together share a turn.
    bench.event("a", "one");
    bench.event("a", "two");
    assert_eq!(wakes(&bench), 1);
    assert_eq!(bench.prompt().len(), 2);
    let other = |id: &str, kind: &str| {
        let metadata = json!({"timestamp": "2026-01-01T00:00:00Z", "priority": "low"});
        json!({"subscriptionId": "a", "event": {"id": id, "type": kind, "data": {}, "metadata": metadata}})
    };
    bench.receive(EVENT, &other("three", "github.issue.opened"));
    bench.receive(EVENT, &other("four", "mail.came"));
    assert_eq!(wakes(&bench), 0);
    assert_eq!(bench.prompt(), ["github.issue.opened (low)"]);
    // The third turn within a minute does not begin, but the event is not lost.
    bench.event("a", "five");
    bench.prompt();
    bench.event("a", "six");
    let held = bench.effects.iter().find_map(|effect| match effect {
        Effect::Report(event) if event.what == "event" => Some(event.data["wake"].clone()),
        _ => None,
    });
    assert_eq!((wakes(&bench), held), (0, Some(json!("too many"))));
    assert_eq!(bench.prompt().len(), 1);
}

#[test]
fn f3_events_of_subscriptions_that_others_make_count_as_the_hosts_own() {
    let mut bench = Bench::plain(&[("mcpe.renew", json!(true))]);
    bench.event("m", "0");
    assert_eq!(bench.reported("stray"), 1, "no call to subscribe is open");
    // The event arrives before the response to the model's call.
    let call =
        |tool: &str, arguments: Value| ToolUse { server: Some(SERVER), tool: tool.to_owned(), arguments, output: None };
    let used = call(SUBSCRIBE, json!({"filter": {"eventTypes": ["github.*"], "tags": ["ci"]}}));
    bench.gate(&used);
    bench.event("m", "1");
    assert_eq!((bench.reported("event"), bench.reported("stray")), (0, 1));
    let granted = json!({"content": [{"type": "text", "text": json!({"subscriptionId": "m"}).to_string()}]});
    bench.with(|side, cx| side.called(cx, &used, &granted));
    bench.event("m", "2");
    assert_eq!(bench.text_of("subscribed"), Some("subscription m: github.*; tags: ci"));
    assert_eq!((bench.reported("event"), bench.reported("stray")), (2, 1));
    assert_eq!(bench.prompt().len(), 2);
    // A renewal uses the changed arguments, and a removed subscription is forgotten.
    bench.others(UPDATE, json!({"subscriptionId": "m", "filter": {"tags": ["x"]}}), &json!({"status": "active"}));
    assert_eq!(bench.text_of("updated"), Some("subscription m: all types; tags: x"));
    bench.receive(EXPIRED, &json!({"subscriptionId": "m"}));
    assert_eq!(bench.called(SUBSCRIBE).expect("made again").1, &json!({"filter": {"tags": ["x"]}}));
    bench.others(SUBSCRIBE, json!({}), &json!({"subscriptionId": "n"}));
    bench.others(UNSUBSCRIBE, json!({"subscriptionId": "n"}), &json!({"success": true}));
    assert_eq!(bench.reported("unsubscribed"), 1);
}

#[test]
fn e10_what_waits_for_an_answer_that_never_comes_is_reported_in_time() {
    let mut bench = Bench::plain(&[]);
    let used = ToolUse { server: Some(SERVER), tool: SUBSCRIBE.to_owned(), arguments: json!({}), output: None };
    bench.gate(&used);
    assert_eq!(bench.side.next_timeout(), None, "nothing waits");
    bench.event("a", "1");
    assert_eq!(bench.side.next_timeout(), Some(DEADLINE));
    bench.now = DEADLINE;
    bench.with(|side, cx| side.handle_timeout(cx));
    assert_eq!((bench.reported("stray"), bench.side.next_timeout()), (1, None));
}

#[test]
fn e5_a_subscription_is_ordered_in_short_and_checked() {
    let mut bench = Bench::plain(&[]);
    assert_eq!(bench.side.orders(), ["subscribe", "unsubscribe", "events"]);
    let short = json!({"server": "s", "types": "a.*, b.*", "tags": ["x"], "priority": "high"});
    bench.order("subscribe", &short).expect("known").expect("asked");
    let sent = json!({"filter": {"eventTypes": ["a.*", "b.*"], "tags": ["x"], "priority": ["high"]},
        "delivery": {"channels": ["realtime"]}});
    assert_eq!(bench.called(SUBSCRIBE).expect("asked").1, &sent);
    for (odd, words) in [
        (json!({"type": "a"}), ["\"type\"", "delivery", "types"]),
        (json!({"filter": {"types": ["a"]}}), ["\"types\"", "eventTypes", "tags"]),
        (json!({"priority": "huge"}), ["/filter/priority/0", "huge", "critical"]),
        (json!({"filter": "a", "types": "b"}), ["/filter", "object", "\"a\""]),
    ] {
        let why = bench.order("subscribe", &odd).expect("known").expect_err("refused");
        assert!(words.iter().all(|word| why.contains(word)), "{why}");
    }
    assert_eq!(bench.called(SUBSCRIBE).expect("asked").0, 1, "nothing else was sent");
}
