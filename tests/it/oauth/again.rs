//! Logins that follow an earlier one: for more scopes, as another client, or because the first did not last.

use super::{BROWSER, call, ended_at_once, failed, free_port, nothing_leaks, stage, succeeded, visits};
use crate::common::auth::{Faults, Protected};
use crate::common::socket::{Reply, Tap, post};
use crate::common::{Live, Stage, until};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}"#;

fn asks_for(scopes: &'static str) -> Protected {
    Protected::start(Faults { asks_for: Some(scopes), ..Faults::default() })
}

fn call_tool(tap: &Tap<'_>) -> Reply {
    post(tap.address, "", CALL)
}

fn reported(stage: &Stage) -> String {
    String::from_utf8(stage.read("reported")).expect("text")
}

#[test]
fn a_grant_of_fewer_scopes_is_reported_and_changes_nothing() {
    let (stage, browser) = stage();
    let protected = asks_for("admin");
    protected.set(|faults| faults.token = vec![("scope", "read".into())]);
    let tap = Tap::in_front_of(&stage, &protected.url(), &["--login", &browser]);
    let kept = stage.ok(&["logins", "-f", "json"]).json();
    let token = |protected: &Protected| {
        let asked = protected.server.asked();
        asked.last().and_then(|asked| asked.header("authorization").map(str::to_owned)).expect("a token")
    };
    let before = token(&protected);
    for _ in 0..3 {
        assert_eq!(call_tool(&tap).status, 403);
    }
    assert_eq!(visits(&stage), 2, "one login, one step");
    assert_eq!(token(&protected), before, "the earlier token stays");
    assert_eq!(stage.ok(&["logins", "-f", "json"]).json(), kept);
    let said = reported(&stage);
    assert!(said.contains("the server requires the scopes admin, but your login has: read"), "{said}");
    tap.end();
    // The token of the second login is revoked as well.
    succeeded(&stage.run(&["logout", &protected.url()], ""));
    assert_eq!(protected.valid(), (0, 0));
    nothing_leaks(&stage, &protected, &[]);
}

#[test]
fn a_refused_step_is_the_servers_response_and_blocks_no_other() {
    let (stage, browser) = stage();
    let protected = asks_for("admin");
    let tap = Tap::in_front_of(&stage, &protected.url(), &["--login", &browser]);
    protected.set(|faults| {
        faults.answer = Some("error=access_denied&state={state}");
        faults.metadata = vec![("authorization_response_iss_parameter_supported", false.into())];
    });
    for _ in 0..2 {
        assert_eq!(call_tool(&tap).status, 403);
    }
    assert_eq!(visits(&stage), 2);
    let said = reported(&stage);
    assert!(said.contains("the login with more scopes (admin) failed"), "{said}");
    assert!(said.contains("access_denied"), "{said}");
    // Other scopes are another question.
    protected.set(|faults| (faults.asks_for, faults.answer) = (Some("write"), None));
    assert_eq!(call_tool(&tap).status, 200);
    assert_eq!(visits(&stage), 3);
    let events = tap.end();
    let statuses: Vec<&Value> = events
        .iter()
        .filter(|event| event["data"]["what"] == "response")
        .map(|event| &event["data"]["status"])
        .collect();
    assert_eq!(statuses, [&json!(403), &json!(403), &json!(200)]);
}

#[test]
fn a_token_that_worked_and_then_ended_is_replaced_at_once() {
    let (stage, browser) = stage();
    let protected = Protected::start(Faults::default());
    let tap = Tap::in_front_of(&stage, &protected.url(), &["--login", &browser]);
    for logins in 1..=3 {
        assert_eq!(call_tool(&tap).status, 200);
        assert_eq!(visits(&stage), logins);
        protected.revoke(true);
    }
    tap.end();
    nothing_leaks(&stage, &protected, &[]);
}

#[test]
fn a_request_that_waited_for_its_token_says_so() {
    let (stage, browser) = stage();
    let protected = Protected::start(Faults { token: vec![("expires_in", 0.into())], ..Faults::default() });
    let tap = Tap::in_front_of(&stage, &protected.url(), &["--login", &browser]);
    assert_eq!(call_tool(&tap).status, 200);
    let events = tap.end();
    let later: Vec<&Value> = events.iter().filter(|event| event["data"]["what"] == "sent later").collect();
    assert_eq!(later.len(), 1, "{events:?}");
    let shown = stage.ok(&["show", "t.reel", "--details"]);
    assert!(shown.out().contains("sent it only now"), "{shown:?}");
}

#[test]
fn a_user_has_more_time_for_a_step_than_a_server() {
    let (stage, browser) = stage();
    let protected = asks_for("write");
    let url = protected.url();
    succeeded(&stage.run(&["login", &url, &browser], ""));
    stage.write("hold", "");
    let limit = Duration::from_secs(1);
    let words = ["call", "tools/call", "name=x", "--url", &url, "--login", &browser, "--timeout", "1s"];
    let live = stage.start(&words);
    until("the login page is open", || (visits(&stage) > 1).then_some(()));
    let opened = Instant::now();
    until("the time of a server is over", || (opened.elapsed() > limit * 3 / 2).then_some(()));
    std::fs::remove_file(stage.path("hold")).expect("removed");
    succeeded(&live.end());
}

fn initialize() -> Value {
    let client = json!({"name": "c", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
}

#[test]
fn a_stdio_client_that_has_sent_something_and_leaves_during_a_login_ends_the_tap_at_once() {
    let (stage, browser) = stage();
    stage.write("hold", "");
    let protected = asks_for("write");
    let url = protected.url();
    let words = ["record", "--url", &url, "--login", &browser, "-o", "stdio.reel", "--force"];
    let begun = || {
        let mut live: Live = stage.start(&words);
        live.send(&initialize());
        live
    };
    let live = begun();
    until("the login page is open", || (visits(&stage) > 0).then_some(()));
    let left = ended_at_once(live, false);
    succeeded(&left);
    assert!(left.err().contains("closed its input before anybody logged in"), "{left:?}");
    // In the middle of a session, during a step.
    std::fs::remove_file(stage.path("hold")).expect("removed");
    succeeded(&stage.run(&["login", &url, &browser], ""));
    stage.write("hold", "");
    let before = visits(&stage);
    let mut live = begun();
    live.line();
    live.write(format!("{CALL}\n"));
    until("the login page is open", || (visits(&stage) > before).then_some(()));
    succeeded(&ended_at_once(live, false));
    let kinds: Vec<Value> = stage.events("stdio.reel").iter().map(|event| event["event"].clone()).collect();
    assert_eq!(kinds.last(), Some(&json!("stream-closed")), "{kinds:?}");
}

#[test]
fn another_login_can_have_fewer_scopes_and_revokes_the_earlier_tokens() {
    let (stage, browser) = stage();
    let protected = Protected::start(Faults::default());
    let url = protected.url();
    succeeded(&stage.run(&["login", &url, &browser, "--scope", "read write"], ""));
    succeeded(&stage.run(&["login", &url, &browser, "--scope", "write"], ""));
    let scopes: Vec<String> =
        protected.parameters("/authorize").iter().map(|parameters| parameters["scope"].clone()).collect();
    assert_eq!(scopes, ["read write", "write"]);
    assert_eq!(protected.valid(), (1, 1), "the tokens of the first login are revoked");
}

#[test]
fn a_step_as_the_same_client_leaves_its_earlier_tokens_to_the_logout() {
    let (stage, browser) = stage();
    let protected = asks_for("write");
    let url = protected.url();
    let port = free_port().to_string();
    protected.register("mine", None, &format!("http://127.0.0.1:{port}/callback"));
    succeeded(&stage.run(&["login", &url, &browser, "--client-id", "mine", "--port", &port], ""));
    succeeded(&call(&stage, "tools/call", &url, &["--login", &browser, "name=x"]));
    let again = stage.run(&["login", &url, &browser], "");
    succeeded(&again);
    assert!(again.err().contains("as the client that you named in your last login, mine;"), "{again:?}");
    assert!(!protected.story().contains(&"/register".to_owned()));
    assert_eq!(protected.valid(), (3, 3));
    succeeded(&stage.run(&["logout", &url], ""));
    assert_eq!(protected.valid(), (0, 0));
}

#[test]
fn another_authorization_server_than_before_is_reported() {
    let (stage, browser) = stage();
    let protected = Protected::start(Faults::default());
    let url = protected.url();
    succeeded(&stage.run(&["login", &url, &browser], ""));
    let store = String::from_utf8(stage.read("mcpreel/logins.json")).expect("text");
    let issuer = protected.authorization.url("");
    let moved = store.replace(&format!("\"issuer\": \"{issuer}\""), "\"issuer\": \"https://before.example\"");
    assert_ne!(moved, store);
    stage.write("mcpreel/logins.json", moved);
    let login = stage.run(&["login", &url, &browser], "");
    succeeded(&login);
    let said =
        format!("names another authorization server than at your last login: {issuer}, not https://before.example");
    assert!(login.err().contains(&said), "{login:?}");
}

#[test]
fn a_client_that_the_user_named_is_not_replaced_at_another_authorization_server() {
    let (stage, browser) = stage();
    let protected = Protected::start(Faults::default());
    let url = protected.url();
    let port = free_port().to_string();
    protected.register("mine", None, &format!("http://127.0.0.1:{port}/callback"));
    succeeded(&stage.run(&["login", &url, &browser, "--client-id", "mine", "--port", &port], ""));
    let store = String::from_utf8(stage.read("mcpreel/logins.json")).expect("text");
    let issuer = format!("\"issuer\": \"{}\"", protected.authorization.url(""));
    stage.write("mcpreel/logins.json", store.replace(&issuer, "\"issuer\": \"https://before.example\""));
    let login = stage.run(&["login", &url, &browser], "");
    failed(
        &login,
        4,
        &["names another authorization server", "the client mine, https://before.example", "mcpreel logout"],
    );
    assert!(!protected.story().contains(&"/register".to_owned()), "{:?}", protected.story());
    succeeded(&stage.run(&["logout", &url], ""));
    succeeded(&stage.run(&["login", &url, &browser], ""));
    failed(
        &stage.run(&["login", &url.replace("http://", "http://me:secret@"), &browser], ""),
        2,
        &["user name or password"],
    );
}

#[test]
fn a_browser_gets_no_variable_with_a_secret_and_one_that_fails_is_reported() {
    let (stage, _) = stage();
    let browser = stage.write("browser.py", BROWSER);
    let option = format!("--browser=python3 {}", browser.display());
    let protected = Protected::start(Faults::default());
    let url = protected.url();
    let words =
        ["call", "tools/list", "--url", &url, "--login", &option, "--header-env", "X-Key=MY_KEY", "-H", "X-B: ${MY_B}"];
    let mut command = stage.mcpreel(&words);
    command.envs([("MY_KEY", "hidden-1"), ("MY_B", "hidden-2"), ("MCPREEL_TOKEN", "hidden-3"), ("OPEN", "seen")]);
    succeeded(&crate::common::finish(command, Vec::new()));
    let environment = String::from_utf8(stage.read("environment")).expect("text");
    assert!(environment.contains("seen") && !environment.contains("hidden"), "{environment}");
    let login = stage.run(&["login", &url, "--browser", "false", "--timeout", "2s"], "");
    failed(&login, 5, &["the browser false failed (exit status: 1)"]);
}
