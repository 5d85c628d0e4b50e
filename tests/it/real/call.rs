//! Tests `call` with real servers over HTTP, over every transport.

use super::{LIMIT, Stage, describe, free_port, listens};
use crate::common::BINARY;
use serde_json::Value;
use std::ffi::OsString;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn the_everything_server_over_http_and_sse() {
    let stage = Stage::new();
    let server = Listening::start(&stage, &["node".into(), stage.peers.everything().into(), "sse".into()]);
    let reported = server.answers_echo("/sse", &[]);
    assert!(reported.contains("POST initialize → 404 Not Found; trying HTTP+SSE"), "{reported}");
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn a_python_server_over_streamable_http_in_both_eras() {
    let stage = Stage::new();
    let script = stage.peers.scripts.join("server_http.py");
    let words = [stage.peers.python("py2").into(), script.into(), "streamable-http".into()];
    let server = Listening::start(&stage, &words);
    assert!(server.answers_echo("/mcp", &["--era", "auto"]).contains("modern era, revision 2026-07-28"));
    assert!(server.answers_echo("/mcp", &["--era", "modern"]).contains("modern era, revision 2026-07-28"));
    assert!(server.answers_echo("/mcp", &["--era", "legacy"]).contains("legacy era, revision 2025-11-25"));
}

/// `call` on the everything server over Streamable HTTP.
pub(super) fn over_streamable_http() {
    let stage = Stage::new();
    let server = Listening::start(&stage, &["node".into(), stage.peers.everything().into(), "streamableHttp".into()]);
    let reported = server.answers_echo("/mcp", &["--era", "auto"]);
    for step in ["legacy era, revision 2025-11-25", "a stream for the server's own messages", "DELETE → 200"] {
        assert!(reported.contains(step), "no {step:?} in\n{reported}");
    }
    server.answers_echo("/mcp", &["--protocol-version", "2025-03-26"]);
}

/// A server that listens on a port of this machine, which it gets as its last argument and in `PORT`.
struct Listening<'a> {
    stage: &'a Stage,
    child: Child,
    port: u16,
}

impl<'a> Listening<'a> {
    fn start(stage: &'a Stage, command: &[OsString]) -> Self {
        let port = free_port();
        let words = [command, &[port.to_string().into()]].concat();
        let mut command = stage.command(&words);
        command.env("PORT", port.to_string()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().unwrap_or_else(|error| panic!("cannot start {}: {error}", describe(&words)));
        let mut server = Self { stage, child, port };
        let start = Instant::now();
        while !listens(port) {
            let ended = server.child.try_wait().expect("a child can be waited for");
            assert_eq!(ended, None, "{} ended before it listened", describe(&words));
            assert!(start.elapsed() < LIMIT, "{} does not listen", describe(&words));
            thread::sleep(Duration::from_millis(20));
        }
        server
    }

    /// Lists its tools and calls `echo`; returns the output of `-v`.
    fn answers_echo(&self, path: &str, options: &[&str]) -> String {
        let url = format!("http://127.0.0.1:{}{path}", self.port);
        let call = |words: &[&str]| {
            let program = OsString::from(BINARY);
            let fixed = ["call", "--format", "json", "-v", "--url", &url];
            let words = fixed.iter().chain(options).chain(words).map(OsString::from);
            let words: Vec<_> = std::iter::once(program).chain(words).collect();
            let finished = self.stage.run(&words);
            assert_eq!(finished.code(), 0, "{}\nstderr:\n{}", describe(&words), finished.errors());
            let result: Value = serde_json::from_slice(&finished.stdout).expect("call prints JSON");
            (result, finished.errors())
        };
        let (listed, _) = call(&["tools/list"]);
        let names: Vec<&str> =
            listed["tools"].as_array().into_iter().flatten().filter_map(|tool| tool["name"].as_str()).collect();
        assert!(names.contains(&"echo"), "{listed}");
        let (said, reported) = call(&["tools/call", "name=echo", "arguments.message=hi"]);
        assert_eq!(said["content"][0]["text"], "Echo: hi");
        reported
    }
}

impl Drop for Listening<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
