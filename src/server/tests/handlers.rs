//! Tests of subscriptions' handlers in virtual time: the jobs, their outcomes, and the reports.

use super::super::{Outside, Task};
use super::*;
use crate::proposals::server::handler_job::{HandlerJob, HandlerPolicy, JobKind, Secret};

fn allowing(kinds: &[JobKind]) -> Config {
    let secrets = vec![Secret { name: "TOKEN".to_owned(), host: "example.com".to_owned(), port: None }];
    let handler_policy = HandlerPolicy { kinds: kinds.iter().copied().collect(), secrets, ..HandlerPolicy::default() };
    Config { outside: Outside { handler_policy, ..Outside::default() }, ..Config::default() }
}

impl Host {
    fn allowed(kinds: &[JobKind]) -> Self {
        Self::ready(allowing(kinds), "2025-11-25", &json!({})).0
    }

    fn handled_by(&mut self, handler: Value) -> Value {
        let made = self.tool("events_subscribe", &json!({"handler": handler}));
        made["structuredContent"]["subscriptionId"].clone()
    }

    fn publish(&mut self, number: i64) {
        let reported = self.fire(&json!({"kind": "event", "type": "build.done", "data": {"n": number}}));
        assert_eq!(reported[0]["method"], "events/event", "the notification comes all the same");
    }

    /// The job that was sent last.
    fn job(&self) -> &HandlerJob {
        match self.io_requests.last().map(|io_request| &io_request.task) {
            Some(Task::Proposal(job)) => job,
            other => panic!("no job: {other:?}"),
        }
    }

    /// Completes the oldest job in progress.
    fn came(&mut self, outcome: Value) {
        let ticket = self.io_requests.remove(0).ticket;
        let outputs = self.server.complete_io(self.now, ticket, Some(outcome));
        self.sort(outputs);
    }

    fn wait(&mut self, time: Duration) {
        self.now += time;
        let outputs = self.server.handle_timeout(self.now);
        self.sort(outputs);
    }

    /// The last report about a run.
    fn run(&self) -> Value {
        self.reports.iter().rfind(|report| report["report"] == "handler").cloned().unwrap_or_default()
    }

    fn outcomes(&self) -> Vec<&str> {
        let ended = self.reports.iter().filter(|report| report["report"] == "handler" && report["state"] == "ended");
        ended.filter_map(|report| report["outcome"].as_str()).collect()
    }
}

fn webhook() -> Value {
    json!({"type": "webhook", "url": "https://example.com/in", "headers": {"Authorization": "Bearer ${TOKEN}"}})
}

#[test]
fn e33_e36_what_is_not_allowed_is_refused_and_what_is_runs_beside_the_notification() {
    let mut host = Host::allowed(&[JobKind::Webhook]);
    let refused = host.tool("events_subscribe", &json!({"handler": {"type": "bash", "command": "id"}}));
    assert!(refused["isError"] == true && text(&refused).contains("only webhook handlers"), "{refused}");
    assert!(host.io_requests.is_empty());
    let mut host = Host::allowed(&[JobKind::Bash]);
    let id = host.handled_by(json!({"type": "bash", "command": "cat"}));
    let listed = host.tool("events_list", &json!({}))["structuredContent"]["subscriptions"][0].clone();
    assert_eq!(listed["handler"], json!({"type": "bash", "command": "cat"}));
    host.publish(1);
    let HandlerJob::Script(script) = host.job() else { panic!("{:?}", host.job()) };
    let event: Value = serde_json::from_str(&script.input).expect("JSON");
    assert_eq!((script.text.as_str(), &event["data"]), ("cat", &json!({"n": 1})));
    host.came(json!({"end": "exited", "code": 0, "output": "x", "bytes": 1}));
    let run = host.run();
    assert_eq!((&run["outcome"], &run["subscription"], &run["kind"]), (&json!("done"), &id, &json!("bash")));
    assert_eq!((&run["exit_code"], &run["bytes"], &run["event_ids"]), (&json!(0), &json!(1), &json!([event["id"]])));
    let update = host.tool("events_update", &json!({"subscriptionId": id, "handler": {"type": "agent"}}));
    assert!(update["isError"] == true && text(&update).contains("cannot be changed"), "{update}");
}

#[test]
fn e33_the_tool_offers_the_handlers_that_may_be_had() {
    let offers = |host: &mut Host| {
        let tools = host.request("tools/list", &json!({}))["result"]["tools"].clone();
        let find = |tool: &&Value| tool["name"] == "events_subscribe";
        let handler = tools.as_array().expect("tools").iter().find(find).expect("it")["inputSchema"]["properties"]
            ["handler"]["oneOf"]
            .clone();
        let kinds = handler.as_array().cloned().unwrap_or_default();
        kinds.iter().map(|kind| kind["properties"]["type"]["const"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(offers(&mut Host::plain()), Vec::<Value>::new());
    assert_eq!(offers(&mut Host::allowed(&[JobKind::Agent, JobKind::Bash])), ["bash", "agent"]);
}

#[test]
fn e41_runs_of_one_subscription_come_one_after_another_and_only_so_many_wait() {
    let settings = json!({"most_handlers": 2, "most_handlers_waiting": 2});
    let config = Config { settings: [("mcpe".to_owned(), settings)].into(), ..allowing(&[JobKind::Bash]) };
    let mut host = Host::ready(config, "2025-11-25", &json!({})).0;
    host.handled_by(json!({"type": "bash", "command": "cat"}));
    for number in 1..=4 {
        host.publish(number);
    }
    assert_eq!((host.io_requests.len(), host.outcomes()), (1, vec!["dropped"]), "one runs, two wait");
    for number in 1..=3 {
        let HandlerJob::Script(script) = host.job() else { panic!("{:?}", host.job()) };
        assert!(script.input.contains(&format!("\"n\":{number}")), "{}", script.input);
        host.came(json!({"end": "exited", "code": 3}));
    }
    assert_eq!((host.io_requests.len(), host.outcomes()), (0, vec!["dropped", "failed", "failed", "failed"]));
}

#[test]
fn e34_a_webhook_is_tried_again_later_and_later_and_waits_as_it_is_asked_to() {
    let mut host = Host::allowed(&[JobKind::Webhook]);
    host.handled_by(webhook());
    host.publish(1);
    let HandlerJob::HandlerPost(post) = host.job().clone() else { panic!("{:?}", host.job()) };
    assert_eq!(post.headers, [("Authorization".to_owned(), "Bearer ${TOKEN}".to_owned())], "the value is not in here");
    let body: Value = serde_json::from_str(&post.body).expect("JSON");
    assert_eq!(body["event"]["data"], json!({"n": 1}));
    let tries = [
        (json!({"end": "unreached", "why": "no"}), 1000),
        (json!({"end": "answered", "status": 503, "retry_after": "30"}), 30_000),
        (json!({"end": "answered", "status": 429, "retry_after": "86400"}), 60_000),
    ];
    for (outcome, wait) in tries {
        host.came(outcome);
        assert_eq!((&host.run()["outcome"], &host.run()["again_in_ms"]), (&json!("retried"), &json!(wait)));
        host.wait(Duration::from_millis(wait - 1));
        assert!(host.io_requests.is_empty(), "too early");
        host.wait(Duration::from_millis(1));
        assert_eq!(host.job(), &HandlerJob::HandlerPost(post.clone()));
    }
    host.came(json!({"end": "answered", "status": 500}));
    assert_eq!((&host.run()["outcome"], &host.run()["attempt"]), (&json!("failed"), &json!(4)));
    assert_eq!(host.server.next_timeout().map(|at| at > host.now), Some(true), "only its lifetime is due");
    host.publish(2);
    host.came(json!({"end": "answered", "status": 404}));
    assert_eq!(host.run()["outcome"], "failed", "that is no matter of time");
}

#[test]
fn e34_a_date_to_try_again_is_a_date_of_the_wall() {
    let config = Config { wall_base_ns: 1_767_225_600_000_000_000, ..allowing(&[JobKind::Webhook]) };
    let mut host = Host::ready(config, "2025-11-25", &json!({})).0;
    host.handled_by(webhook());
    host.publish(1);
    host.came(json!({"end": "answered", "status": 503, "retry_after": "Thu, 01 Jan 2026 00:00:20 GMT"}));
    assert_eq!(host.run()["again_in_ms"], 20_000);
}

#[test]
fn e34_a_redirect_is_followed_on_the_same_host_only() {
    for (location, leads) in [
        ("/other", Some("https://example.com/other")),
        ("https://example.com/x", Some("https://example.com/x")),
        ("https://evil.example/", None),
        ("http://example.com/in", None),
        ("https://example.com:8443/in", None),
        ("https://me@example.com/in", None),
    ] {
        let mut host = Host::allowed(&[JobKind::Webhook]);
        host.handled_by(webhook());
        host.publish(1);
        host.came(json!({"end": "answered", "status": 307, "location": location}));
        match leads {
            Some(url) => {
                assert!(matches!(host.job(), HandlerJob::HandlerPost(post) if post.url == url), "{location}")
            }
            None => assert_eq!((host.io_requests.len(), &host.run()["outcome"]), (0, &json!("failed")), "{location}"),
        }
    }
    let mut host = Host::allowed(&[JobKind::Webhook]);
    host.handled_by(webhook());
    host.publish(1);
    for _ in 0..4 {
        host.came(json!({"end": "answered", "status": 308, "location": "/in"}));
    }
    assert_eq!(host.run()["outcome"], "failed", "round and round");
}

#[test]
fn e34_only_what_moved_for_good_is_where_later_tries_go() {
    let url = |path: &str| format!("https://example.com/{path}");
    for (redirects, then) in [
        (&[(307, "/a")][..], "in"),
        (&[(308, "/a")], "a"),
        (&[(308, "/a"), (308, "/b")], "b"),
        (&[(308, "/a"), (307, "/b")], "a"),
        (&[(307, "/a"), (308, "/b")], "in"),
    ] {
        let mut host = Host::allowed(&[JobKind::Webhook]);
        host.handled_by(webhook());
        host.publish(1);
        for (status, location) in redirects {
            host.came(json!({"end": "answered", "status": status, "location": location}));
            assert!(
                matches!(host.job(), HandlerJob::HandlerPost(post) if post.url == url(&location[1..])),
                "{redirects:?}"
            );
        }
        host.came(json!({"end": "answered", "status": 503}));
        host.wait(Duration::from_secs(1));
        assert!(
            matches!(host.job(), HandlerJob::HandlerPost(post) if post.url == url(then)),
            "{redirects:?}: {:?}",
            host.job()
        );
    }
}

#[test]
fn e35_a_batch_is_one_run_with_all_its_events() {
    let config = Config { wall_base_ns: 1_767_225_600_000_000_000, ..allowing(&[JobKind::Bash]) };
    let mut host = Host::ready(config, "2025-11-25", &json!({})).0;
    let delivery = json!({"channels": ["cron"], "cronSchedule": {"expression": "*/5 * * * *"}});
    let handler = json!({"type": "bash", "command": "cat", "input": "env"});
    host.tool("events_subscribe", &json!({"delivery": delivery, "handler": handler}));
    for number in 1..=2 {
        host.fire(&json!({"kind": "event", "type": "tick", "data": {"n": number}}));
    }
    assert!(host.io_requests.is_empty());
    host.wait(Duration::from_secs(300));
    let HandlerJob::Script(script) = host.job() else { panic!("{:?}", host.job()) };
    let variable = |name: &str| script.environment.iter().find(|(known, _)| known == name).map(|(_, value)| value);
    assert_eq!(variable("MCPE_EVENT_COUNT").map(String::as_str), Some("2"));
    let events: Value = serde_json::from_str(variable("MCPE_EVENT_JSON").expect("JSON")).expect("JSON");
    assert_eq!((&events[1]["data"]["n"], variable("MCPE_EVENT_ID"), script.input.as_str()), (&json!(2), None, ""));
}

#[test]
fn e11_who_unsubscribes_or_goes_leaves_nothing_that_begins_later() {
    let mut host = Host::allowed(&[JobKind::Bash]);
    let id = host.handled_by(json!({"type": "bash", "command": "cat"}));
    host.publish(1);
    host.publish(2);
    host.tool("events_unsubscribe", &json!({"subscriptionId": id}));
    assert_eq!(host.outcomes(), ["dropped"]);
    let outputs = host.server.end(host.now);
    host.sort(outputs);
    assert!(host.server.is_owing(), "one is under way");
    host.wait(Duration::from_secs(1));
    assert_eq!(host.io_requests.pop().map(|io_request| io_request.task), Some(Task::Recall));
    host.came(json!({"end": "stopped"}));
    assert_eq!((host.outcomes(), host.server.is_owing()), (vec!["dropped", "stopped"], false));
}

#[test]
fn e11_what_is_under_way_at_the_end_is_not_tried_again() {
    for is_session in [false, true] {
        for outcome in [
            json!({"end": "unreached", "why": "no"}),
            json!({"end": "answered", "status": 503}),
            json!({"end": "answered", "status": 307, "location": "/other"}),
        ] {
            let mut host = Host::allowed(&[JobKind::Webhook]);
            let id = host.handled_by(webhook());
            host.publish(1);
            if is_session {
                let outputs = host.server.end(host.now);
                host.sort(outputs);
            } else {
                host.tool("events_unsubscribe", &json!({"subscriptionId": id}));
            }
            host.came(outcome);
            host.wait(Duration::from_secs(3600));
            assert_eq!((host.outcomes(), host.io_requests.len()), (vec!["failed"], 0));
        }
    }
}

#[test]
fn f8_an_agent_is_the_hosts_model_by_a_proposal_or_by_mcp() {
    let config = || allowing(&[JobKind::Agent]);
    let agent = json!({"type": "agent", "systemPrompt": "Be short.", "maxTokens": 50});
    let by_mcp = json!({"sampling": {}});
    let full: Value = serde_json::from_str(FULL).expect("JSON");
    for (capabilities, method, answer) in [
        (
            &by_mcp,
            "sampling/createMessage",
            json!({"role": "assistant", "model": "m",
            "content": {"type": "text", "text": "all is well"}}),
        ),
        (
            &full,
            "inference/request",
            json!({"content": "all is well", "model": "m", "finishReason": "end_turn",
            "usage": {"inputTokens": 1, "outputTokens": 1}}),
        ),
    ] {
        let mut host = Host::ready(config(), "2025-11-25", capabilities).0;
        if method == "inference/request" {
            host.notify("featureSets/update", &json!({"enabled": ["events.agent"], "disabled": []}));
        }
        host.handled_by(agent.clone());
        let sent = host.fire(&json!({"kind": "event", "type": "build.done"}));
        let asked = sent.iter().find(|message| message["method"] == method);
        let asked = asked.unwrap_or_else(|| panic!("{sent:?}"));
        assert!(asked["params"].to_string().contains("Be short."), "{asked}");
        let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": answer});
        host.line(&answer.to_string());
        let run = host.run();
        assert_eq!((&run["outcome"], &run["output"]), (&json!("done"), &json!("all is well")), "{method}");
    }
    // A client without a model cannot have an agent, and one whose model is taken away later is not asked.
    let mut host = Host::ready(config(), "2025-11-25", &json!({})).0;
    let refused = host.tool("events_subscribe", &json!({"handler": agent}));
    assert!(refused["isError"] == true && text(&refused).contains("need a model"), "{refused}");
    let mut host = Host::ready(config(), "2025-11-25", &full).0;
    host.notify("featureSets/update", &json!({"enabled": ["events.agent"], "disabled": []}));
    host.handled_by(agent);
    host.notify("featureSets/update", &json!({"enabled": [], "disabled": ["events.agent"]}));
    host.publish(1);
    assert_eq!(host.run()["outcome"], "not_started");
}
