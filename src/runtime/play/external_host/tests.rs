use super::*;
use crate::scenario::{Scenario, ServerKind, Verdict};
use crate::server::Config;
use serde_json::{Value, json};

const HEAD: &str = "name: a part\nservers:\n  w: {builtin: {declare: [reminder]}}\n";
const REMINDS: &str = "  - {server: w, fire: {kind: reminder, body: look, ttlTurns: 1}}\n";

fn part(text: &str) -> ScenarioServer {
    let scenario = Scenario::read(&format!("{HEAD}{text}")).expect("a scenario");
    let (id, scenario) = scenario.played_by("w").expect("the server");
    let ServerKind::BuiltIn(config) = &scenario.servers[0].kind else { panic!("built in") };
    let config: Config = (**config).clone();
    let make = Box::new(move || Server::new(config.clone()));
    ScenarioServer { make, id, player: Player::new(&scenario), has_handshake: true }
}

/// A play in progress, and its reports.
struct Stage {
    entering: mpsc::UnboundedSender<Entered>,
    reported: mpsc::UnboundedReceiver<&'static str>,
    playing: tokio::task::JoinHandle<Report>,
}

impl Stage {
    fn open(text: &str) -> Self {
        let ((entering, enters), (report, reported)) = (mpsc::unbounded_channel(), mpsc::unbounded_channel());
        let report = move |what: ScenarioServerEvent<'_>| {
            let what = match what {
                ScenarioServerEvent::Waits => "waits",
                ScenarioServerEvent::OrderResult(_) => "done",
                ScenarioServerEvent::Passes(_, SessionTraffic::Closed(by)) => by_name(by),
                ScenarioServerEvent::Passes(..) => return,
            };
            let _ = report.send(what);
        };
        Self { entering, reported, playing: tokio::spawn(play_server(part(text), enters, report)) }
    }

    fn enter(&self, stream: u32) -> Link {
        let (ours, link) = Link::pair_ending(Incoming::Failed("cut".to_owned()));
        self.entering.send(Entered { stream, link, held: None }).expect("the play goes on");
        ours
    }

    async fn next(&mut self) -> &'static str {
        self.reported.recv().await.expect("a report")
    }

    async fn report(self) -> Report {
        self.playing.await.expect("a report")
    }
}

fn by_name(by: &str) -> &'static str {
    if by == "the scenario" { "cut" } else { "left" }
}

async fn say(link: &mut Link, message: &Value) {
    assert!(link.send(message.to_string().into_bytes()).await);
}

async fn receive(link: &mut Link) -> Value {
    match link.receive().await {
        Incoming::Message(message) => serde_json::from_slice(&message).expect("JSON"),
        other => panic!("{other:?}"),
    }
}

async fn shake_hands(link: &mut Link) {
    let client = json!({"name": "test", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {"reminder": {}}, "clientInfo": client});
    say(link, &json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})).await;
    assert!(receive(link).await["result"].is_object());
    say(link, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
}

fn ping(id: u32) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "ping"})
}

fn whys(report: &Report) -> Vec<&str> {
    report.problems.iter().map(|problem| problem.why.as_str()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_host_that_was_cut_off_comes_back_to_the_part_that_it_left() {
    let mut stage = Stage::open(&format!(
        "steps:\n{REMINDS}  - disconnect: w\n  - wait: 2s\n{REMINDS}\
         expect:\n  - message: {{server: w, direction: c2s, method: initialize}}\n    times: 2\n"
    ));
    let mut link = stage.enter(1);
    shake_hands(&mut link).await;
    assert_eq!(
        receive(&mut link).await["method"],
        "notifications/reminder",
        "what was sent before the cut is delivered"
    );
    assert!(matches!(link.receive().await, Incoming::Failed(_)));
    assert_eq!((stage.next().await, stage.next().await), ("cut", "waits"));
    let mut link = stage.enter(2);
    shake_hands(&mut link).await;
    assert_eq!(
        receive(&mut link).await["method"],
        "notifications/reminder",
        "the steps continue; the first is not repeated"
    );
    assert_eq!(stage.next().await, "done");
    link.close();
    assert_eq!(stage.next().await, "left");
    let report = stage.report().await;
    assert!(report.is_passed() && report.steps == 4, "{report:?}");
}

#[tokio::test(start_paused = true)]
async fn what_is_to_be_sent_while_nobody_is_there_is_a_problem_and_the_end_waits_for_nobody() {
    let stage = Stage::open(&format!("steps:\n  - disconnect: w\n{REMINDS}"));
    let mut link = stage.enter(1);
    shake_hands(&mut link).await;
    let report = stage.report().await;
    assert_eq!(whys(&report), ["it was not sent: the host was disconnected and has not come back"]);
}

#[tokio::test(start_paused = true)]
async fn what_is_expected_without_a_time_is_open_until_the_host_goes() {
    let ping_wanted = "expect:\n  - message: {server: w, direction: c2s, method: ping}\n    times: 1\n";
    for (pings, verdict) in [(0, Verdict::Failed), (1, Verdict::Passed), (2, Verdict::Failed)] {
        let mut stage = Stage::open(&format!("steps:\n{REMINDS}{ping_wanted}"));
        let mut link = stage.enter(1);
        shake_hands(&mut link).await;
        assert_eq!(stage.next().await, "done");
        tokio::time::sleep(Duration::from_secs(3600)).await;
        for id in 0..pings {
            say(&mut link, &ping(10 + id)).await;
        }
        drop(link);
        let report = stage.report().await;
        assert_eq!((report.expectations[0].verdict(), report.problems.len()), (verdict, 0), "{report:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn who_only_looks_whether_something_is_there_is_no_host() {
    let mut stage = Stage::open("steps: []\nexpect:\n  - message: {server: w, direction: c2s, method: ping}\n");
    drop(stage.enter(1));
    assert_eq!((stage.next().await, stage.next().await), ("left", "waits"));
    let mut link = stage.enter(2);
    say(&mut link, &json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover"})).await;
    receive(&mut link).await;
    drop(link);
    assert_eq!((stage.next().await, stage.next().await), ("left", "waits"));
    let mut link = stage.enter(3);
    shake_hands(&mut link).await;
    say(&mut link, &ping(2)).await;
    receive(&mut link).await;
    drop(link);
    assert!(stage.report().await.is_passed());
}

#[tokio::test(start_paused = true)]
async fn a_host_that_goes_before_the_steps_are_done_is_reported() {
    let stage = Stage::open("steps:\n  - wait: 1h\n");
    let mut link = stage.enter(1);
    shake_hands(&mut link).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    drop(link);
    assert_eq!(whys(&stage.report().await), ["the scenario ended during this step"]);
    let unvisited = Stage::open("steps: []\n");
    let Stage { entering, playing, .. } = unvisited;
    drop(entering);
    assert_eq!(
        whys(&playing.await.expect("a report")),
        ["the scenario ended before all servers had connected or failed"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_host_that_only_talks_is_gone_once_nobody_can_enter_any_more() {
    let stage = Stage::open("steps: []\n");
    let mut link = stage.enter(1);
    shake_hands(&mut link).await;
    // Until the responses, which it does not read, fill the way to the server.
    let mut talk = async || tokio::time::timeout(Duration::from_secs(1), say(&mut link, &ping(2))).await.is_ok();
    while talk().await {}
    let Stage { entering, playing, .. } = stage;
    drop(entering);
    let report = tokio::time::timeout(Duration::from_secs(60), playing).await.expect("it ends").expect("a report");
    assert!(report.is_passed(), "{report:?}");
}
