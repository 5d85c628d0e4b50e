use super::*;
use crate::host::client::EraChoice;
use serde_json::Value;

fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

fn fire(carrier: Carrier, force: bool) -> UserMessageFire {
    let config = ClientConfig { era: EraChoice::Legacy, ..ClientConfig::new("mcpreel", "0") };
    let message = UserMessage { message_id: "m1".to_owned(), content: "hello".to_owned(), recent_history: Vec::new() };
    UserMessageFire::new(config, Firing { message, carrier, deadline: ms(500), force })
}

fn open(fire: &mut UserMessageFire, capabilities: &str) -> Vec<Output> {
    fire.start(ms(0));
    let answer = format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":"2025-11-25","capabilities":{capabilities}}}}}"#
    );
    fire.receive(ms(10), answer.as_bytes())
}

fn sent(reports: &[Output]) -> Vec<Value> {
    let sent = reports.iter().filter_map(|report| match report {
        Output::Client(ClientOutput::Send(bytes)) => Some(serde_json::from_slice(bytes).expect("JSON")),
        _ => None,
    });
    sent.collect()
}

const SUBSCRIBED: &str = r#"{"conversationEvents":{"onUserMessage":true}}"#;

#[test]
fn a2_only_a_subscribed_server_is_reported() {
    let mut polite = fire(Carrier::Auto, false);
    let reports = open(&mut polite, r#"{"conversationEvents":{}}"#);
    assert!(reports.contains(&Output::Subscription(Subscription::DeclaredNotSubscribed)));
    assert!(polite.is_over());
    assert_eq!(sent(&reports).len(), 1, "only initialized");
    let mut forced = fire(Carrier::Auto, true);
    assert_eq!(sent(&open(&mut forced, "{}"))[1]["method"], "conversation/userMessage");
}

#[test]
fn a7_the_outcome_of_a_request_comes_through() {
    let mut fire = fire(Carrier::Auto, false);
    let asked = sent(&open(&mut fire, SUBSCRIBED));
    assert_eq!((asked[1]["id"].as_i64(), asked[1]["params"]["messageId"].as_str()), (Some(2), Some("m1")));
    let reports = fire.receive(ms(40), br#"{"jsonrpc":"2.0","id":2,"result":{"context":"c"}}"#);
    assert!(matches!(&reports[..], [Output::Done(outcome)] if outcome.latency == ms(30) && outcome.context.is_some()));
    assert!(fire.is_over());
}

#[test]
fn amb_a1_auto_falls_back_and_answers_a_context_request() {
    let mut fire = fire(Carrier::Auto, false);
    open(&mut fire, SUBSCRIBED);
    let again = fire.receive(ms(20), br#"{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"no"}}"#);
    assert_eq!(again[0], Output::Note("refused as a request (-32601 no), sent again as a notification".to_owned()));
    let again = sent(&again);
    assert_eq!(again[0]["method"], "conversation/userMessage");
    assert!(again[0].get("id").is_none());
    assert_eq!(fire.next_timeout(), Some(ms(510)));
    let context =
        br#"{"jsonrpc":"2.0","id":1,"method":"conversation/context","params":{"messageId":"m1","context":"c"}}"#;
    let reports = fire.receive(ms(60), context);
    assert_eq!(sent(&reports), [serde_json::json!({"jsonrpc": "2.0", "id": 1, "result": {}})]);
    assert!(matches!(reports.last(), Some(Output::Done(outcome)) if outcome.carrier == Carrier::Notification));
}

#[test]
fn a12_the_deadline_holds_and_a_late_answer_is_late() {
    let mut fire = fire(Carrier::Request, false);
    open(&mut fire, SUBSCRIBED);
    assert_eq!(fire.next_timeout(), Some(ms(510)));
    let over = fire.handle_timeout(ms(510));
    assert_eq!(sent(&over)[0]["method"], "notifications/cancelled");
    assert!(matches!(over.last(), Some(Output::Done(outcome)) if outcome.timed_out));
    let late = fire.receive(ms(700), br#"{"jsonrpc":"2.0","id":2,"result":{"context":"c"}}"#);
    assert!(matches!(&late[..], [Output::Late(outcome)] if outcome.late && outcome.message_id == "m1"));
}

#[test]
fn a14_a_connection_that_fails_ends_it() {
    let mut fire = fire(Carrier::Auto, false);
    fire.start(ms(0));
    assert!(!fire.is_over());
    fire.closed(ms(1));
    assert!(fire.is_over());
}

#[test]
fn a6_another_message_goes_on_the_same_connection() {
    let mut fire = fire(Carrier::Auto, false);
    open(&mut fire, SUBSCRIBED);
    fire.receive(ms(40), br#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
    assert!(fire.is_over());
    let message = UserMessage { message_id: "m2".to_owned(), content: "more".to_owned(), recent_history: Vec::new() };
    let again = sent(&fire.again(ms(50), message));
    assert_eq!((again.len(), again[0]["params"]["messageId"].as_str()), (1, Some("m2")));
    assert!(!fire.is_over());
    let reports = fire.receive(ms(60), br#"{"jsonrpc":"2.0","id":3,"result":{}}"#);
    assert!(matches!(&reports[..], [Output::Done(outcome)] if outcome.message_id == "m2"));
}
