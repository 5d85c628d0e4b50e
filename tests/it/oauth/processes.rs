//! Several processes that need a token of the same server at the same time.

use super::{call, ended_at_once, failed, stage, succeeded, visits};
use crate::common::auth::{Faults, Protected};
use crate::common::{Live, Stage, until};
use serde_json::json;

/// Calls of as many processes at the same time.
fn calls(count: usize, stage: &Stage, url: &str, browser: &str) -> Vec<Live> {
    (0..count).map(|_| stage.start(&["call", "tools/list", "--url", url, "--login", browser])).collect()
}

fn end(calls: Vec<Live>) {
    calls.into_iter().for_each(|call| succeeded(&call.end()));
}

fn is_asked(stage: &Stage) {
    until("the user is asked", || (visits(stage) > 0).then_some(()));
}

fn waits(process: &Live) {
    until("it waits", || {
        process.stderr_so_far().contains("another mcpreel process is logging in to http://127.0.0.1:").then_some(())
    });
}

#[test]
fn a_refresh_token_that_counts_once_is_shared() {
    let (stage, browser) = stage();
    let protected = Protected::start(Faults { token: vec![("expires_in", 0.into())], ..Faults::default() });
    let url = protected.url();
    succeeded(&stage.run(&["login", &url, &browser], ""));
    end(calls(4, &stage, &url, &browser));
    assert_eq!(visits(&stage), 1);
    let mut used: Vec<String> =
        protected.parameters("/token").iter().filter_map(|request| request.get("refresh_token").cloned()).collect();
    let all = used.len();
    used.sort();
    used.dedup();
    assert!(all >= 4 && used.len() == all, "{} of {all} refresh tokens differ", used.len());
}

#[test]
fn the_user_sees_one_page_however_many_processes_need_a_token() {
    let (stage, browser) = stage();
    let protected = Protected::start(Faults::default());
    end(calls(4, &stage, &protected.url(), &browser));
    assert_eq!(visits(&stage), 1);
    assert_eq!(protected.parameters("/token").len(), 1);
}

#[test]
fn the_second_process_waits_for_the_first_while_the_user_logs_in() {
    let (stage, browser) = stage();
    let protected = Protected::start(Faults::default());
    let url = protected.url();
    stage.write("hold", "");
    let first = calls(1, &stage, &url, &browser);
    is_asked(&stage);
    let mut others = calls(1, &stage, &url, &browser);
    others.push(stage.start(&["login", &url, &browser]));
    others.iter().for_each(waits);
    // Another server has a login of its own.
    let elsewhere = Protected::start(Faults::default());
    let elsewhere = calls(1, &stage, &elsewhere.url(), &browser);
    until("the user is asked for the other server", || (visits(&stage) == 2).then_some(()));
    std::fs::remove_file(stage.path("hold")).expect("removed");
    end(first);
    end(others);
    end(elsewhere);
    assert_eq!((visits(&stage), protected.parameters("/token").len()), (2, 1));
}

#[test]
fn more_scopes_are_requested_once_for_all_processes() {
    let (stage, browser) = stage();
    let protected = Protected::start(Faults { asks_for: Some("write"), ..Faults::default() });
    let url = protected.url();
    succeeded(&call(&stage, "tools/list", &url, &["--login", &browser]));
    let words = ["call", "tools/call", "--url", &url, "--login", &browser, "name=x"];
    end((0..3).map(|_| stage.start(&words)).collect());
    assert_eq!(visits(&stage), 2);
}

#[test]
fn a_process_that_is_killed_leaves_the_login_to_the_next() {
    let (stage, browser) = stage();
    let protected = Protected::start(Faults::default());
    let url = protected.url();
    stage.write("hold", "");
    let first = stage.start(&["call", "tools/list", "--url", &url, "--login", &browser]);
    is_asked(&stage);
    let second = calls(1, &stage, &url, &browser);
    second.iter().for_each(waits);
    first.signal("KILL");
    until("the second process asks the user", || (visits(&stage) == 2).then_some(()));
    std::fs::remove_file(stage.path("hold")).expect("removed");
    end(second);
}

#[test]
fn a_signal_ends_whatever_waits_for_a_login_and_leaves_nothing() {
    let (stage, browser) = stage();
    let protected = Protected::start(Faults::default());
    let url = protected.url();
    stage.write("hold", "");
    let ping = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;
    let commands: [&[&str]; 6] = [
        &["login", &url, &browser],
        &["call", "tools/list", "--login", &browser, "--url", &url],
        &["fire", "raw", ping, "--login", &browser, "--url", &url],
        &["events", "watch", "--login", &browser, "--url", &url],
        &["record", "--listen", "0", "-o", "l.reel", "--login", &browser, "--url", &url],
        &["host", "--say", "x", "--login", &browser, "--url", &url],
    ];
    for (signal, said) in [("TERM", "mcpreel: error: terminated"), ("INT", "mcpreel: error: interrupted")] {
        for words in commands {
            let before = visits(&stage);
            let live = stage.start(words);
            until("the user is asked", || (visits(&stage) > before).then_some(()));
            live.signal(signal);
            let ended = ended_at_once(live, true);
            failed(&ended, 130, &[said]);
            assert!(ended.out().is_empty(), "{words:?}: {ended:?}");
        }
    }
    assert!(!stage.path("l.reel").exists() && stage.ok(&["logins", "-f", "json"]).json()["logins"] == json!([]));
    std::fs::remove_file(stage.path("hold")).expect("removed");
    // No lock is left, either.
    let next = stage.run(&["login", &url, &browser], "");
    succeeded(&next);
    assert!(!next.err().contains("waiting for it"), "{next:?}");
}

#[test]
fn waiting_ends_with_the_time_limit() {
    let (stage, browser) = stage();
    let protected = Protected::start(Faults::default());
    let url = protected.url();
    stage.write("hold", "");
    let _first = stage.start(&["login", &url, &browser]);
    is_asked(&stage);
    failed(&stage.run(&["login", &url, &browser, "--timeout", "1s"], ""), 5, &["waiting for it", "nobody logged in"]);
    assert_eq!(visits(&stage), 1);
    std::fs::remove_file(stage.path("hold")).expect("removed");
}

#[test]
fn a_login_with_other_scopes_is_not_replaced_by_that_of_another_process() {
    let (stage, browser) = stage();
    let protected = Protected::start(Faults::default());
    let url = protected.url();
    stage.write("hold", "");
    let first = calls(1, &stage, &url, &browser);
    is_asked(&stage);
    let second = stage.start(&["login", &url, &browser, "--scope", "write"]);
    waits(&second);
    std::fs::remove_file(stage.path("hold")).expect("removed");
    end(first);
    succeeded(&second.end());
    assert_eq!(visits(&stage), 2);
    assert_eq!(stage.ok(&["logins", "-f", "json"]).json()["logins"][0]["scopes"], serde_json::json!(["write"]));
}
