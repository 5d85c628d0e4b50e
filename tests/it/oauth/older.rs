//! Servers that only support HTTP+SSE (2024-11-05), and check tokens only where they support requests.

use super::{call, nothing_leaks, stage, succeeded, visits};
use crate::common::auth::{Faults, Protected};
use crate::common::socket::Tap;
use serde_json::Value;

fn protected() -> Protected {
    let protected = Protected::start(Faults { is_older: true, ..Faults::default() });
    assert!(protected.url().ends_with("/sse"));
    protected
}

#[test]
fn a_call_logs_in_by_itself() {
    let (stage, browser) = stage();
    let protected = protected();
    let called = call(&stage, "tools/list", &protected.url(), &["--login", &browser]);
    succeeded(&called);
    assert_eq!(called.out(), "{\"tools\":[]}\n");
    assert_eq!(visits(&stage), 1);
    protected.revoke(false);
    succeeded(&call(&stage, "tools/list", &protected.url(), &["--login"]));
    assert_eq!(visits(&stage), 1, "the token is refreshed");
    nothing_leaks(&stage, &protected, &[&called]);
}

#[test]
fn the_challenge_of_the_event_stream_decides_where_to_log_in() {
    let (stage, browser) = stage();
    let protected = protected();
    let login = stage.run(&["login", &protected.url(), &browser, "-v"], "");
    succeeded(&login);
    assert!(!login.err().contains("does not ask for a login"), "{login:?}");
}

#[test]
fn a_tap_logs_in_and_its_client_sees_an_open_server() {
    let (stage, browser) = stage();
    let protected = protected();
    let tap = Tap::in_front_of(&stage, &protected.url(), &["--login", &browser]);
    assert_eq!(visits(&stage), 1, "the login is over before clients come");
    let called = call(&stage, "tools/list", &format!("http://{}/sse", tap.address), &[]);
    succeeded(&called);
    let recorded: String = tap.end().iter().map(Value::to_string).collect();
    assert!(recorded.contains("tools/list"), "{recorded}");
    nothing_leaks(&stage, &protected, &[&called]);
}

#[test]
fn without_a_login_the_error_names_the_option() {
    let (stage, _) = stage();
    let refused = call(&stage, "tools/list", &protected().url(), &[]);
    assert_eq!(refused.code(), 4, "{refused:?}");
    assert!(refused.err().contains("--login"), "{refused:?}");
}
