//! Tests `host --scenario` and `serve --scenario`: both clocks, reports in all formats, exit codes, mistakes reported
//! with their line, and a scenario server for a host that does not know the scenario.

use crate::common::socket::{Client, Reply};
use crate::common::{BINARY, Live, Output, Stage, until};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

const PASSES: &str = "\
name: it remembers
clock: virtual
servers:
  memory: {builtin: {declare: [conversation]}}
steps:
  - user: what about the schema?
    model: one table per tenant
    expect:
      - message: {server: memory, direction: c2s, method: conversation/userMessage}
        times: 1
      - prompt: {server: memory, slot: conversation.context, contains: one table per tenant}
  - wait: 24h
expect:
  - validates: true
";

fn play(stage: &Stage, scenario: &str, words: &[&str]) -> Output {
    let file = stage.write("scenario.yaml", scenario);
    stage.run(&[&["host", "--scenario", file.to_str().expect("a path")], words].concat(), "")
}

#[test]
fn a_day_in_virtual_time_passes_at_once_and_is_in_the_reel() {
    let stage = Stage::new();
    let reel = stage.path("day.reel");
    let reel = reel.to_str().expect("a path");
    let played = play(&stage, PASSES, &["--format", "json", "--record", reel]);
    assert_eq!(played.code(), 0, "{played:?}");
    let report = played.json();
    assert_eq!((&report["passed"], &report["counts"]["passed"]), (&json!(true), &json!(3)));
    assert!(report["took_us"].as_u64() > Some(86_400_000_000), "{report}");
    let messages = stage.events(reel);
    assert!(messages.iter().any(|event| event["message"]["method"] == "conversation/userMessage"));
}

#[test]
fn the_same_in_real_time_over_a_process() {
    let stage = Stage::new();
    let server = format!("memory: {{command: [{BINARY}, serve, --declare, conversation]}}");
    let scenario = PASSES.replace("memory: {builtin: {declare: [conversation]}}", &server).replace("24h", "1ms");
    let refused = play(&stage, &scenario, &[]);
    assert_eq!(refused.code(), 2, "{refused:?}");
    assert!(refused.err().contains("not built in") && refused.err().contains("line 4"), "{refused:?}");
    let played = play(&stage, &scenario, &["--clock", "real", "--format", "json"]);
    assert_eq!(played.code(), 0, "{played:?}");
    let reel = played.json()["reel"].as_str().expect("a reel").to_owned();
    assert_eq!(stage.run(&["validate", &reel], "").code(), 0);
}

#[test]
fn what_does_not_hold_is_reported_in_every_form() {
    let stage = Stage::new();
    let scenario = PASSES.replace("contains: one table per tenant", "contains: nothing of the kind");
    let junit = stage.path("report.xml");
    let played = play(&stage, &scenario, &["--junit", junit.to_str().expect("a path")]);
    assert_eq!(played.code(), 1, "{played:?}");
    assert!(played.out().contains("scenario.yaml:11") && played.out().contains("nothing of the kind"), "{played:?}");
    let xml = String::from_utf8(stage.read("report.xml")).expect("text");
    assert!(xml.contains("failures=\"1\"") && xml.contains("tests=\""), "{xml}");
}

#[test]
fn a_mistake_is_reported_with_its_line() {
    let stage = Stage::new();
    for (right, wrong, place) in [
        ("user: what", "usr: what", ":6:"),
        ("server: memory, direction", "server: memry, direction", ":9:"),
        ("wait: 24h", "wait: soon", ":12:"),
        ("declare: [conversation]", "declare: [conversations]", ":4:"),
    ] {
        let reported = play(&stage, &PASSES.replace(right, wrong), &[]);
        assert_eq!(reported.code(), 3, "{reported:?}");
        assert!(reported.err().contains(&format!("scenario.yaml{place}")), "{wrong}: {reported:?}");
    }
}

#[test]
fn a_server_plays_its_part_for_any_host() {
    let stage = Stage::new();
    let scenario = "\
name: slow and reminding
clock: virtual
servers:
  watcher: {builtin: {declare: [conversation, reminder]}}
  other: {builtin: {declare: [hooks]}}
steps:
  - server: watcher
    fire: {kind: reminder, body: look at lib.rs, ttlTurns: 1}
  - user: what only a host can do
faults:
  - {server: watcher, direction: s2c, method: conversation/userMessage, delay: 900ms}
expect:
  - message: {server: watcher, direction: c2s, method: conversation/userMessage}
    times: 1
  - prompt: {contains: what no server sees}
";
    let file = stage.write("part.yaml", scenario);
    let file = file.to_str().expect("a path");
    let unnamed = stage.run(&["serve", "--scenario", file], "");
    assert_eq!(unnamed.code(), 2, "{unnamed:?}");
    assert!(unnamed.err().contains("watcher, other"), "{unnamed:?}");

    let server = format!("w={BINARY} serve --scenario {file} --as watcher");
    let host = ["host", "-s", &server, "--do", "/wait 100ms", "--do", "/turn what changed?", "--format", "json"];
    let reported = stage.run(&host, "");
    assert_eq!(reported.code(), 0, "{reported:?}");
    let reported: Vec<Value> = reported.out().lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let events: Vec<&str> = reported.iter().filter_map(|line| line["what"].as_str()).collect();
    assert!(events.contains(&"queued") && events.contains(&"timed out"), "{events:?}");
    let prompt = reported.iter().find(|line| line["event"] == "prompt").expect("a prompt");
    assert!(prompt["prompt"].to_string().contains("look at lib.rs"), "{prompt}");

    // No client connected and sent anything.
    let alone = stage.run(&["serve", "--scenario", file, "--as", "watcher"], "");
    assert_eq!(alone.code(), 1, "{alone:?}");
    assert!(alone.err().contains("conversation/userMessage") && alone.out().is_empty(), "{alone:?}");
    let junit = stage.path("served.xml");
    let junit = junit.to_str().expect("a path");
    let words = ["serve", "--scenario", file, "--as", "watcher", "--format", "json", "--junit", junit];
    let alone = stage.run(&words, "");
    assert_eq!((alone.code(), alone.out().as_str()), (1, ""), "{alone:?}");
    let report: Value = serde_json::from_str(&alone.err()).expect("nothing but the report");
    assert_eq!((&report["event"], &report["counts"]["failed"]), (&json!("report"), &json!(1)), "{report}");
    let xml = String::from_utf8(stage.read("served.xml")).expect("text");
    assert!(xml.contains("<failure message="), "{xml}");
    let seeded = stage.run(&["serve", "--scenario", file, "--as", "watcher", "--seed", "1"], "");
    assert_eq!(seeded.code(), 2, "what a scenario decides is not taken beside it: {seeded:?}");
}

const SERVED: &str = "\
name: slow and reminding
servers:
  w: {builtin: {declare: [conversation, reminder]}}
steps:
  - server: w
    fire: {kind: reminder, body: look at lib.rs, ttlTurns: 1}
    expect:
      - message: {server: w, direction: s2c, method: notifications/reminder}
faults:
  - {server: w, direction: s2c, method: conversation/userMessage, nth: 1, delay: 900ms}
expect:
  - message: {server: w, direction: c2s, method: conversation/userMessage}
    times: 1
";

/// A scenario server on a listener.
struct Part {
    process: Live,
    url: String,
}

impl Part {
    fn serve(stage: &Stage, scenario: &str, listen: &str, more: &[&str]) -> Self {
        let file = stage.write("part.yaml", scenario);
        let words = ["serve", "--scenario", file.to_str().expect("a path"), "--listen", listen];
        let process = stage.start(&[&words, more].concat());
        let url = until("the server to listen", || {
            let said = process.stderr_so_far();
            let rest = said.split("listening on ").nth(1)?;
            Some(rest.split(';').next()?.to_owned()).filter(|_| rest.contains('\n'))
        });
        Self { process, url }
    }

    fn address(&self) -> &str {
        let rest = self.url.trim_start_matches("http://").trim_start_matches("tcp:");
        rest.split('/').next().unwrap_or_default()
    }

    /// Its exit code and its report.
    fn end(self) -> (i32, Value) {
        let output = self.process.end_with_open_stdin();
        let said = output.err();
        let report = said.lines().last().and_then(|line| serde_json::from_str(line).ok());
        (output.code(), report.unwrap_or_else(|| panic!("no report: {output:?}")))
    }
}

const JSON: &[&str] = &["--format", "json"];

#[test]
fn a_part_is_played_on_every_transport() {
    let stage = Stage::new();
    let socket = format!("unix:{}", stage.path("mcp.sock").display());
    for (listen, scheme) in [("0", "http"), ("0", "ws"), ("tcp:0", "tcp"), (socket.as_str(), "unix")] {
        let url = |part: &Part| part.url.replacen("http", if scheme == "ws" { "ws" } else { "http" }, 1);
        let part = Part::serve(&stage, SERVED, listen, &["--format", "json", "--record", "part.reel"]);
        let server = format!("w={}", url(&part));
        let words = ["host", "-s", &server, "--consent", "--do", "/turn what changed?", "--format", "json"];
        let reported = stage.run(&words, "");
        assert_eq!(reported.code(), 0, "{scheme}: {reported:?}");
        let events: Vec<Value> = reported.out().lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let is_reported = |what: &str| events.iter().any(|event| event["what"] == what);
        assert!(is_reported("queued") && is_reported("timed out"), "{scheme}: {reported:?}");
        let (code, report) = part.end();
        assert_eq!((code, &report["passed"], &report["faults"][0]["hits"]), (0, &json!(true), &json!(1)), "{scheme}");
        let reminded = |event: &Value| event["message"]["method"] == "notifications/reminder" && event["dir"] == "s2c";
        assert!(stage.events("part.reel").iter().any(reminded), "{scheme}");

        let part = Part::serve(&stage, SERVED, listen, JSON);
        let server = format!("w={}", url(&part));
        assert_eq!(stage.run(&["host", "-s", &server, "--do", "/wait 1ms"], "").code(), 0);
        let (code, report) = part.end();
        assert_eq!((code, &report["counts"]["failed"]), (1, &json!(1)), "{scheme}: nothing was said: {report}");
        std::fs::remove_file(stage.path("part.reel")).expect("a reel");
    }
}

/// One request over HTTP on a connection of its own; returns the session that the response names, and the response.
fn ask(part: &Part, session: &str, message: &Value) -> (String, Reply) {
    let mut client = Client::connect(part.address().parse().expect("an address"));
    let named = if session.is_empty() { String::new() } else { format!("Mcp-Session-Id: {session}\r\n") };
    let body = message.to_string();
    let more = format!("{named}Accept: application/json, text/event-stream\r\n");
    client.post(&more, &body);
    let (head, reply) = client.head_and_reply();
    (head.header("mcp-session-id").unwrap_or_default().to_owned(), reply)
}

fn request(method: &str) -> Value {
    let client = json!({"name": "test", "version": "1"});
    let params = match method {
        "initialize" => json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}),
        _ => json!({}),
    };
    json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
}

fn open(part: &Part) -> String {
    let (session, reply) = ask(part, "", &request("initialize"));
    assert_eq!((reply.status, reply.cut), (200, false), "{reply:?}");
    let (_, reply) = ask(part, &session, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    assert_eq!(reply.status, 202);
    session
}

const CUTS: &str = "\
name: cut off once
servers:
  w: {builtin: {declare: []}}
faults:
  - {server: w, direction: c2s, method: ping, nth: 1, disconnect: true}
  - {server: w, direction: s2c, method: ping, nth: 1, duplicate: true}
steps: []
expect:
  - message: {server: w, direction: c2s, method: initialize}
    times: 2
    within: 20s
  - message: {server: w, direction: c2s, method: tools/list}
";

#[test]
fn over_http_a_cut_ends_the_answer_and_the_session_and_the_host_may_come_back() {
    let stage = Stage::new();
    let part = Part::serve(&stage, &CUTS.replace("    times: 2\n", "    at_least: 2\n"), "0", JSON);
    let session = open(&part);
    let (_, reply) = ask(&part, &session, &request("ping"));
    assert!(reply.cut && !reply.body.contains("jsonrpc"), "no answer, not even an error: {reply:?}");
    let (_, reply) = ask(&part, &session, &request("tools/list"));
    assert_eq!(reply.status, 404, "{reply:?}");
    let session = open(&part);
    // The second copy of an answer can only go to the session's own stream.
    let mut listener = Client::connect(part.address().parse().expect("an address"));
    let head = format!("GET /mcp HTTP/1.1\r\nHost: localhost\r\nMcp-Session-Id: {session}\r\n");
    listener.send(format!("{head}Accept: text/event-stream\r\n\r\n"));
    assert_eq!(listener.head().expect("a stream").status(), 200);
    let (_, reply) = ask(&part, &session, &request("ping"));
    assert_eq!(reply.status, 200);
    let mut said = String::new();
    while !said.contains("\n\n") {
        said.push_str(&listener.next().expect("an event"));
    }
    assert!(said.contains(r#""id":7"#), "{said}");
    ask(&part, &session, &request("tools/list"));
    // It does not announce its end: it just stops reading and sending.
    listener.hang_up();
    let (code, report) = part.end();
    assert_eq!((code, &report["faults"][0]["hits"]), (0, &json!(1)), "{report}");
}

#[test]
fn over_http_a_host_that_takes_no_events_is_cut_off_in_the_same_way() {
    let stage = Stage::new();
    let part = Part::serve(&stage, CUTS, "0", JSON);
    let session = open(&part);
    let asks = |accept: &str, message: &Value| {
        let mut client = Client::connect(part.address().parse().expect("an address"));
        client.post(&format!("Mcp-Session-Id: {session}\r\nAccept: {accept}\r\n"), &message.to_string());
        client.reply()
    };
    assert!(asks("application/json", &request("tools/list")).body.contains("\"tools\""));
    let reply = asks("application/json", &request("ping"));
    assert!(reply.cut && reply.body.is_empty(), "no answer, not even in words: {reply:?}");
    assert_eq!(asks("application/json", &request("tools/list")).status, 404);
    part.process.signal("INT");
    assert_eq!(part.end().0, 1);
}

#[test]
fn over_a_socket_a_cut_is_the_end_of_the_stream() {
    let stage = Stage::new();
    let part = Part::serve(&stage, CUTS, "tcp:0", JSON);
    let connect = || {
        let mut stream = TcpStream::connect(part.address()).expect("connects");
        for message in [request("initialize"), json!({"jsonrpc": "2.0", "method": "notifications/initialized"})] {
            stream.write_all(format!("{message}\n").as_bytes()).expect("it reads");
        }
        let mut lines = BufReader::new(stream.try_clone().expect("a socket"));
        let mut line = String::new();
        assert!(lines.read_line(&mut line).expect("an answer") > 0 && line.contains("serverInfo"), "{line}");
        (stream, lines)
    };
    let (mut stream, mut lines) = connect();
    stream.write_all(format!("{}\n", request("ping")).as_bytes()).expect("it reads");
    assert_eq!(lines.read_line(&mut String::new()).expect("the end"), 0);
    drop((stream, lines));
    let (mut stream, mut lines) = connect();
    stream.write_all(format!("{}\n", request("ping")).as_bytes()).expect("it reads");
    for _ in 0..2 {
        assert!(lines.read_line(&mut String::new()).expect("an answer, twice") > 0);
    }
    drop((stream, lines));
    // The tools were never requested.
    let (code, report) = part.end();
    assert_eq!((code, &report["counts"]["failed"], &report["problems"]), (1, &json!(1), &json!([])), "{report}");
}

#[test]
fn a_hosts_last_line_counts_without_its_end() {
    let stage = Stage::new();
    let file = stage.write("part.yaml", LISTED);
    let messages = [request("initialize"), json!({"jsonrpc": "2.0", "method": "notifications/initialized"})];
    let lines: String = messages.iter().map(|message| format!("{message}\n")).collect();
    let words = ["serve", "--scenario", file.to_str().expect("a path")];
    let played = stage.run(&words, format!("{lines}{}", request("tools/list")));
    assert!(played.code() == 0 && played.out().lines().count() == 2, "{played:?}");
}

const LISTED: &str = "name: n\nservers:\n  w: {builtin: {}}\nsteps: []\n\
    expect:\n  - message: {server: w, direction: c2s, method: tools/list}\n";

#[test]
fn an_interruption_has_a_report_too_and_a_probe_is_no_host() {
    let stage = Stage::new();
    for listen in [&["--listen", "0"][..], &[]] {
        let file = stage.write("part.yaml", LISTED);
        let words = ["serve", "--scenario", file.to_str().expect("a path"), "--format", "json"];
        let process = stage.start(&[&words, listen].concat());
        if listen.is_empty() {
            let mut process = process;
            process.send(&request("initialize"));
            process.line();
            process.signal("TERM");
            let output = process.end_with_open_stdin();
            assert!(output.code() == 1 && output.err().contains("\"passed\":false"), "{output:?}");
            continue;
        }
        until("the server to listen", || process.stderr_so_far().contains("listening on").then_some(()));
        process.signal("INT");
        let output = process.end_with_open_stdin();
        assert!(output.code() == 1 && output.err().contains("ended before all servers had connected"), "{output:?}");
    }
    // A client of both eras first asks which era the server supports: over HTTP, on a connection of its own.
    let part = Part::serve(&stage, LISTED, "0", JSON);
    let listing = stage.run(&["call", "tools/list", "--url", &part.url], "");
    assert_eq!(listing.code(), 0, "{listing:?}");
    assert_eq!(part.end().0, 0);
}

#[test]
fn a_report_that_cannot_be_written_is_refused_before_anything_is_played() {
    let stage = Stage::new();
    for command in ["host", "serve"] {
        let file = stage.write("scenario.yaml", PASSES);
        let words = [command, "--scenario", file.to_str().expect("a path"), "--junit", "no/such/folder/r.xml"];
        let refused = stage.run(&words, "");
        assert_eq!(refused.code(), 2, "{refused:?}");
        assert!(refused.err().contains("no/such/folder/r.xml") && refused.err().contains("--junit"), "{refused:?}");
        assert!(refused.out().is_empty() && !refused.err().contains("session is in"), "{refused:?}");
    }
    // An older report is replaced, also if nothing could be played.
    stage.write("old.xml", "old ".repeat(10_000));
    let old = stage.path("old.xml");
    let old = old.to_str().expect("a path");
    assert_eq!(play(&stage, "name: [", &["--junit", old]).code(), 3);
    let xml = String::from_utf8(stage.read("old.xml")).expect("text");
    assert!(xml.contains("<error") && !xml.contains("old old"), "{xml}");
    assert_eq!(play(&stage, PASSES, &["--junit", old]).code(), 0);
    let xml = String::from_utf8(stage.read("old.xml")).expect("text");
    assert!(xml.starts_with("<?xml") && !xml.contains("old"), "{xml}");
}

#[test]
fn a_fan_out_to_a_hundred_servers_takes_the_deadline_and_names_the_silent() {
    let stage = Stage::new();
    let servers: String = (0..100).map(|n| format!("  s{n:02}: {{builtin: {{declare: [conversation]}}}}\n")).collect();
    let silent: Vec<String> = (0..10).map(|n| format!("s{n}7")).collect();
    let fault = |name: &String| {
        format!("  - {{server: {name}, direction: c2s, method: conversation/userMessage, drop: true}}\n")
    };
    let faults: String = silent.iter().map(fault).collect();
    let scenario =
        format!("name: a hundred\nclock: virtual\nservers:\n{servers}steps:\n  - user: the schema?\nfaults:\n{faults}");
    let played = play(&stage, &scenario, &["--trace", "--format", "json"]);
    assert_eq!(played.code(), 0, "{played:?}");
    let reported: Vec<Value> = played.out().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let who = |what: &str| -> Vec<&str> {
        let events = reported.iter().filter(|line| line["proposal"] == "conversation" && line["what"] == what);
        events.filter_map(|event| event["server"].as_str()).collect()
    };
    assert_eq!(who("timed out"), silent);
    assert_eq!(who("context").len(), 90);
    // One deadline for all of them: the turn ends with it, and nothing else takes time.
    let turn = reported.iter().find(|line| line["event"] == "turn").expect("a turn");
    assert_eq!(turn["at_us"], 500_000, "{turn}");
    assert_eq!(reported.last().expect("a report")["took_us"], 500_000);
}
