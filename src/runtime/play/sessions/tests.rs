use super::*;
use crate::scenario::{Player, Scenario, ServerKind};
use crate::server::Server;
use serde_json::json;

const SCENARIO: &str = "\
name: a part
servers:
  w: {builtin: {}}
steps: []
faults:
  - {server: w, direction: c2s, method: ping, disconnect: true, nth: 1}
expect:
  - message: {server: w, direction: c2s, method: tools/list}
    within: 1h
";

fn start() -> (ScenarioSessions, mpsc::UnboundedReceiver<ScenarioNotice>) {
    let scenario = Scenario::read(SCENARIO).expect("a scenario");
    let (id, scenario) = scenario.played_by("w").expect("the server");
    let ServerKind::BuiltIn(config) = scenario.servers[0].kind.clone() else { panic!("built in") };
    let begin = move || {
        let config = config.clone();
        let make = Box::new(move || Server::new((*config).clone()));
        ScenarioServer { make, id, player: Player::new(&scenario), has_handshake: false }
    };
    ScenarioSessions::start(Box::new(begin), Arc::new(|_, _| {}))
}

async fn ask(link: &mut Link, method: &str) -> Incoming {
    let client = json!({"name": "test", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    link.send(request.to_string().into_bytes()).await;
    link.receive().await
}

/// The index of the play that is over, and whether it passed.
async fn over(news: &mut mpsc::UnboundedReceiver<ScenarioNotice>) -> (usize, bool) {
    loop {
        match news.recv().await.expect("news") {
            ScenarioNotice::Over(number, report) => return (number, report.is_passed()),
            ScenarioNotice::Done(_) => {}
        }
    }
}

#[tokio::test]
async fn each_session_is_played_for_from_the_beginning_and_who_was_cut_off_goes_on() {
    let (plays, mut news) = start();
    let mut first = plays.open(1).expect("opens").link;
    ask(&mut first, "initialize").await;
    let Opened { link: mut second, end } = plays.open(2).expect("opens");
    ask(&mut second, "initialize").await;
    assert!(matches!(ask(&mut first, "ping").await, Incoming::Failed(_)));
    assert!(matches!(ask(&mut second, "ping").await, Incoming::Failed(_)), "its first ping too");
    end.await;
    // The next session belongs to the first host again: its fault is over.
    let mut again = plays.open(3).expect("opens").link;
    ask(&mut again, "initialize").await;
    assert!(matches!(ask(&mut again, "ping").await, Incoming::Message(_)));
    ask(&mut again, "tools/list").await;
    drop(again);
    assert_eq!(over(&mut news).await, (0, true));
    plays.close();
    assert_eq!(over(&mut news).await, (1, false), "the host that did not come back fails");
}
