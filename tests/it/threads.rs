//! Tests what a client gets if the system refuses threads: an answer, whatever is missing, and never a crash.
//!
//! Each thread is made to need so much address space that a limit (`ulimit -v`) decides how many there can be.

use crate::common::{BINARY, Output, Stage, finish};
use serde_json::Value;

/// The address space of one thread's stack, in MiB.
const STACK: u64 = 1 << 10;
/// More address space than mcpreel needs without threads, and less than it needs with one more.
const BASE: u64 = 900;

const INITIALIZE: &str = "{\"jsonrpc\":\"2.0\",\"id\":\"first\",\"method\":\"initialize\",\"params\":{}}\n";

/// A server that answers one request.
const SERVER: &str = r#"read -r line; echo '{"jsonrpc":"2.0","id":"first","result":{}}'"#;

/// Runs mcpreel with enough address space for so many threads. The client sends a request, and then waits for the answer.
fn with_threads(stage: &Stage, number: u64, words: &[&str]) -> Output {
    let limit = (BASE + number * STACK) << 10;
    let script = format!("ulimit -v {limit} && exec \"$@\"");
    let mut command = stage.command(&[&["sh", "-c", &script, "sh", BINARY], words].concat());
    command.env("RUST_MIN_STACK", (STACK << 20).to_string()).env("MALLOC_ARENA_MAX", "1");
    finish(command, INITIALIZE.into())
}

/// Whatever number of threads there can be, the client gets one answer to its request. Returns the numbers with which it
/// was an error that names the cause, up to the first with which it is none.
fn errors(words: &[&str]) -> Vec<u64> {
    let mut numbers = Vec::new();
    for number in 0..20 {
        let stage = Stage::new();
        let output = with_threads(&stage, number, words);
        assert!(!output.err().contains("panicked"), "{number} threads: {output:?}");
        let answer: Value = serde_json::from_str(output.out().lines().next().unwrap_or_default())
            .unwrap_or_else(|error| panic!("{number} threads: {error}: {output:?}"));
        assert_eq!(answer["id"], "first", "{number} threads: {output:?}");
        let Some(text) = answer["error"]["message"].as_str() else { return numbers };
        if !text.contains("thread") {
            return numbers;
        }
        assert!(text.contains("mcpreel: ") && text.contains("Resource temporarily unavailable"), "{text}");
        // A server that cannot be reached is an error of the request, not of the session.
        assert!(output.code() != 0 || text.contains("cannot reach"), "{output:?}");
        numbers.push(number);
    }
    panic!("there is always a thread missing");
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "other systems do not limit address space")]
fn a_client_of_record_learns_that_a_thread_is_missing() {
    let numbers = errors(&["record", "-o", "t.reel", "--", "sh", "-c", SERVER]);
    assert!(numbers.len() >= 4, "a recorder and three relays need threads: {numbers:?}");
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "other systems do not limit address space")]
fn a_server_is_not_started_if_a_thread_is_missing() {
    let stage = Stage::new();
    let output = with_threads(&stage, 2, &["record", "-o", "t.reel", "--", "sh", "-c", "echo >started"]);
    assert_eq!(output.code(), 4, "{output:?}");
    assert!(!stage.path("started").exists() && !stage.path("t.reel").exists());
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "other systems do not limit address space")]
fn a_client_of_a_url_learns_that_a_thread_is_missing() {
    let numbers = errors(&["record", "-o", "t.reel", "--url", "http://localhost:1/mcp"]);
    assert!(numbers.len() >= 3, "a recorder, two relays and a resolver need threads: {numbers:?}");
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "other systems do not limit address space")]
fn clients_of_other_servers_of_mcpreel_learn_that_a_thread_is_missing() {
    let overlay = ["overlay", "/dev/null", "-o", "t.reel", "--", "sh", "-c", SERVER];
    for words in [&["serve"][..], &overlay, &["mcp"]] {
        assert!(!errors(words).is_empty(), "{words:?}");
    }
}

/// Near miss: without a control socket, the session goes on.
#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "other systems do not limit address space")]
fn a_session_goes_on_without_the_thread_of_its_control_socket() {
    let words = ["record", "-o", "t.reel", "--", "sh", "-c", SERVER];
    let enough = errors(&words).len() as u64;
    let stage = Stage::new();
    let output = with_threads(&stage, enough, &words);
    assert_eq!(
        (output.code(), output.out().trim()),
        (0, r#"{"jsonrpc":"2.0","id":"first","result":{}}"#),
        "{output:?}"
    );
    assert!(output.err().contains("other commands cannot use this session: cannot start a thread"), "{output:?}");
    stage.ok(&["reel", "verify", "t.reel"]);
}
