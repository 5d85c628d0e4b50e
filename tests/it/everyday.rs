//! What users of the command line stumbled over: files that say that a listener is ready, reports of runs that break, reels of
//! commands that are interrupted, servers that do not end, and an overview of what a server offers.

use crate::common::{BINARY, Stage, until};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A server that says who it is, and then does what the test adds to it.
const SERVER: &str = r#"
import json, os, signal, sys, time
def say(message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
roots = None
for line in sys.stdin:
    message = json.loads(line)
    method, number = message.get("method"), message.get("id")
    if method == "initialize":
        say({"id": number, "result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
            "serverInfo": {"name": "s", "version": "1"}}})
    elif method == "notifications/initialized" and MODE == "roots": say({"id": "r", "method": "roots/list"})
    elif number == "r": roots = message["result"]["roots"]
    elif method == "server/discover": say({"id": number, "error": {"code": -32601, "message": "no such method"}})
    elif method == "tools/call" and MODE == "silent": pass
    elif method == "tools/call" and MODE == "crash": os.kill(os.getpid(), signal.SIGSEGV)
    elif method == "tools/call" and MODE == "noisy":
        print("cannot open the database", file=sys.stderr, flush=True)
        say({"id": number, "result": {"isError": True, "content": [{"type": "text", "text": "failed"}]}})
    elif method == "tools/call": say({"id": number, "result": {"content": [], "structuredContent": {"roots": roots}}})
if MODE in ("silent", "lasting"):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(600)
"#;

/// A stage with that server as `server.py`.
fn stage(mode: &str) -> Stage {
    let stage = Stage::new();
    stage.write("server.py", format!("MODE = {mode:?}\n{SERVER}"));
    stage
}

const CALL: [&str; 6] = ["call", "tools/call", "name=x", "--", "python3", "server.py"];

/// The call with these options.
fn call<'a>(options: &[&'a str]) -> Vec<&'a str> {
    [&CALL[..3], options, &CALL[3..]].concat()
}

#[test]
fn a_ready_file_has_the_url_and_disappears_with_the_listener() {
    let stage = Stage::new();
    for words in [
        &["serve", "--listen", "0"][..],
        &["record", "-o", "stdio.reel", "--listen", "0", "--", BINARY, "serve"],
        &["serve", "--listen", "unix:s.sock"],
    ] {
        let end = words.iter().position(|word| *word == "--").unwrap_or(words.len());
        let live = stage.start(&[&words[..end], &["--ready-file", "ready.json"], &words[end..]].concat());
        let ready = until("the file is there", || std::fs::read(stage.path("ready.json")).ok());
        let ready: Value = serde_json::from_slice(&ready).expect("written at once");
        assert_eq!(ready["pid"], live.pid());
        // No waiting: whoever reads the file can connect.
        stage.ok(&["call", "tools/list", "--url", ready["url"].as_str().expect("a URL")]);
        live.signal("TERM");
        live.end();
        assert!(!stage.path("ready.json").exists(), "{words:?}");
    }
    let refused = stage.run(&["serve", "--ready-file", "ready.json"], "");
    assert!(refused.code() == 2 && refused.err().contains("--listen"), "{refused:?}");
}

#[test]
fn a_proxy_says_that_it_is_ready_too() {
    let stage = Stage::new();
    let _server = stage.start(&["serve", "--listen", "0", "--ready-file", "server.json"]);
    let url = |file: &str| {
        let text = until("the file is there", || std::fs::read(stage.path(file)).ok());
        let ready: Value = serde_json::from_slice(&text).expect("JSON");
        ready["url"].as_str().expect("a URL").to_owned()
    };
    let upstream = url("server.json");
    let words = ["record", "-o", "web.reel", "--listen", "0", "--url", &upstream, "--ready-file", "proxy.json"];
    let _proxy = stage.start(&words);
    stage.ok(&["call", "tools/list", "--url", &url("proxy.json")]);
}

#[test]
fn a_report_exists_even_if_the_run_breaks() {
    let stage = Stage::new();
    stage.write("checks.yaml", "checks: [{call: tools/list}, {call: ping}]");
    stage.write("broken.yaml", "checks: [{call: 7");
    let unreachable = ["--url", "http://127.0.0.1:1/mcp"];
    let runs: [(&[&str], i32, &str); 6] = [
        (&["call", "--file", "checks.yaml", "-f", "junit"], 4, "cannot reach http://127.0.0.1:1"),
        (&["call", "--file", "broken.yaml", "-f", "junit"], 3, "broken.yaml"),
        (&["call", "--file", "missing.yaml", "-f", "junit"], 3, "missing.yaml"),
        (&["validate", "missing.reel", "-f", "junit"], 3, "missing.reel"),
        (&["diff", "--surface", "missing.json", "-f", "junit"], 4, "cannot reach"),
        (&["replay", "missing.reel", "-f", "junit"], 3, "missing.reel"),
    ];
    for (words, code, why) in runs {
        let target = if words[0] == "validate" { &[][..] } else { &unreachable };
        let output = stage.run(&[words, target].concat(), "");
        assert_eq!(output.code(), code, "{words:?} {output:?}");
        assert!(output.out().starts_with("<?xml") && output.out().contains("errors=\"1\""), "{words:?} {output:?}");
        let message = output.out().split("<error message=\"").nth(1).expect("an error").to_owned();
        assert!(message.contains(why), "{words:?} {output:?}");
    }
    let skipped = stage.run(&[&["call", "--file", "checks.yaml", "-f", "junit"][..], &unreachable].concat(), "");
    assert!(skipped.out().contains("tests=\"3\"") && skipped.out().contains("skipped=\"2\""), "{skipped:?}");
    let json = stage.run(&[&["call", "--file", "checks.yaml", "-f", "json"][..], &unreachable].concat(), "");
    assert_eq!(json.json()["passed"], false);
    let sarif = stage.run(&["validate", "missing.reel", "-f", "sarif"], "");
    let ran = &sarif.json()["runs"][0]["invocations"][0];
    assert_eq!((sarif.code(), &ran["executionSuccessful"]), (3, &json!(false)));
    let notice = &ran["toolExecutionNotifications"][0];
    assert_eq!(notice["level"], "error");
    assert!(notice["message"]["text"].as_str().expect("text").contains("missing.reel"), "{notice}");
}

#[test]
fn a_scenario_that_cannot_be_played_has_a_report() {
    let stage = Stage::new();
    stage.write("play.yaml", "servers: [\n");
    let output = stage.run(&["host", "--scenario", "play.yaml", "--junit", "report.xml"], "");
    assert_eq!(output.code(), 3, "{output:?}");
    let report = String::from_utf8(stage.read("report.xml")).expect("text");
    assert!(report.contains("<error message=\"play.yaml:"), "{report}");
    let output = stage.run(&["serve", "--scenario", "play.yaml", "--junit", "served.xml"], "");
    assert_eq!(output.code(), 3, "{output:?}");
    let report = String::from_utf8(stage.read("served.xml")).expect("text");
    assert!(report.contains("<error message=\"play.yaml:"), "{report}");
}

#[test]
fn invalid_settings_are_in_the_report() {
    let stage = Stage::new();
    stage.write("play.yaml", "name: it\nservers: {s: {builtin: {declare: [conversation]}}}\nsteps: [{wait: 1ms}]\n");
    stage.write(".mcpreel.toml", "[validate]\nonly = 7\n\n[redact]\ndisable = [\"nope\"]\n");
    for (form, place) in [("junit", "errors=\"1\""), ("sarif", "toolExecutionNotifications")] {
        let output = stage.run(&["validate", "missing.reel", "--format", form], "");
        let report = output.out();
        assert!(output.code() == 2 && report.contains(place) && report.contains(".mcpreel.toml:2:8"), "{output:?}");
    }
    stage.write(".mcpreel.toml", "[redact]\ndisable = [\"nope\"]\n");
    let unknown = stage.run(&["validate", "missing.reel", "--format", "junit", "--only", "nope"], "");
    assert!(unknown.code() == 2 && unknown.out().contains("errors=\"1\""), "{unknown:?}");
    let served = stage.run(&["serve", "--scenario", "play.yaml", "--junit", "served.xml", "--redact"], "");
    assert_eq!(served.code(), 2, "{served:?}");
    let report = String::from_utf8(stage.read("served.xml")).expect("text");
    assert!(report.contains("<error message=\"[redact] in .mcpreel.toml: disable"), "{report}");
}

#[test]
fn a_refused_replay_has_a_report() {
    let stage = stage("roots");
    stage.ok(&call(&["--era", "legacy", "--record", "a.reel"]));
    // Nothing is left to send.
    let words = ["replay", "a.reel", "method:nothing", "--junit", "report.xml", "--", "python3", "server.py"];
    let refused = stage.run(&words, "");
    assert_eq!(refused.code(), 2, "{refused:?}");
    let report = String::from_utf8(stage.read("report.xml")).expect("text");
    assert!(report.contains("<error message=\"nothing to send"), "{report}");
}

#[test]
fn an_interrupted_call_leaves_a_complete_reel() {
    for (signal, code) in [("INT", 130), ("TERM", 130)] {
        let stage = stage("silent");
        let live = stage.start(&call(&["--era", "legacy", "--record", "a.reel", "--timeout", "1h"]));
        until("the call is recorded", || {
            let shown = stage.run(&["show", "a.reel", "method:tools/call"], "");
            shown.out().contains("tools/call").then_some(())
        });
        live.signal(signal);
        assert_eq!(live.end_with_open_stdin().code(), code, "{signal}");
        let verified = stage.run(&["reel", "verify", "a.reel"], "");
        assert_eq!(verified.code(), 0, "{signal}: {verified:?}");
    }
}

#[test]
fn a_server_that_does_not_end_costs_little_time() {
    let stage = stage("silent");
    let began = Instant::now();
    let output = stage.run(&call(&["--era", "legacy", "--timeout", "300ms"]), "");
    assert_eq!(output.code(), 5, "{output:?}");
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
    // The answer of one that answers comes at once, however long the server takes to end.
    let stage = self::stage("lasting");
    let mut live = stage.start(&call(&["--era", "legacy", "--format", "json"]));
    assert!(live.line().contains("structuredContent"));
    assert!(live.is_running(), "the server does not end");
    // It ignores the end of its input, and SIGTERM.
    let answered = Instant::now();
    assert_eq!(live.end().code(), 0);
    assert!(answered.elapsed() < Duration::from_secs(4), "{:?}", answered.elapsed());
}

#[test]
fn roots_are_there_before_the_first_request() {
    let stage = stage("roots");
    let output =
        stage.ok(&call(&["--era", "legacy", "--root", "file:///work", "--jq", ".structuredContent.roots[].uri"]));
    assert_eq!(output.out(), "file:///work\n");
}

#[test]
fn a_crash_of_the_server_is_a_finding() {
    let stage = stage("crash");
    let output = stage.run(&call(&["--era", "legacy", "--record", "a.reel"]), "");
    assert!(output.code() == 4 && output.err().contains("by signal 11"), "{output:?}");
    let checked = stage.run(&["validate", "a.reel", "--only", "lifecycle/*"], "");
    assert_eq!(checked.code(), 1, "{checked:?}");
    assert!(checked.out().contains("lifecycle/server-crashed") && checked.out().contains("SIGSEGV"), "{checked:?}");
}

#[test]
fn stderr_of_a_server_is_shown_if_a_tool_fails() {
    let stage = stage("noisy");
    let output = stage.run(&call(&["--era", "legacy"]), "");
    assert_eq!(output.code(), 1, "{output:?}");
    assert!(output.err().contains("the server wrote to stderr; -v shows the last lines"), "{output:?}");
    let output = stage.run(&[&["-v"], &call(&["--era", "legacy"])[..]].concat(), "");
    assert!(output.err().contains("server's stderr: cannot open the database"), "{output:?}");
}

#[test]
fn errors_are_counted_alike_everywhere() {
    let stage = stage("noisy");
    std::fs::create_dir_all(stage.path("mcpreel/reels")).expect("the usual folder");
    let reel = "mcpreel/reels/a.reel";
    stage.run(&call(&["--record", reel]), "");
    let listed = stage.ok(&["show", reel, "error", "--format", "json"]).out().lines().count();
    assert_eq!(listed, 2, "the refused probe and the failed tool");
    assert_eq!(stage.ok(&["stats", reel, "--format", "json"]).json()["failures"], listed);
    assert!(
        stage.ok(&["stats", reel]).out().contains("2 failures (`mcpreel show mcpreel/reels/a.reel error` lists them)")
    );
    let reels = stage.ok(&["reel", "list", "--format", "json"]).out();
    let found: Value = serde_json::from_str(reels.lines().next().expect("a reel")).expect("JSON");
    assert_eq!(found["errors"], listed, "{reels}");
}

#[test]
fn a_call_without_a_method_lists_what_the_server_offers() {
    let stage = Stage::new();
    let offered = stage.ok(&["call", "--", BINARY, "serve"]).out();
    let found: Value = serde_json::from_str(&offered).expect("JSON");
    for member in ["server", "capabilities", "tools", "prompts", "resources", "resourceTemplates"] {
        assert!(!found[member].is_null(), "{member} in {offered}");
    }
    // It is a lock file.
    stage.write("server.lock.json", &offered);
    stage.ok(&["diff", "--surface", "server.lock.json", "--fail-on", "any", "--", BINARY, "serve"]);
    let names = stage.ok(&["call", "--jq", ".tools[].name", "--", BINARY, "serve"]).out();
    assert!(names.lines().any(|name| name == "add"), "{names}");
    let refused = stage.run(&["call", "--save", "x", "--", BINARY, "serve"], "");
    assert!(refused.code() == 2 && refused.err().contains("--save needs a method"), "{refused:?}");
}

#[test]
fn a_lock_file_is_not_taken_for_a_recording() {
    let stage = Stage::new();
    stage.ok(&["diff", "--surface", "s.lock.json", "--update", "--", BINARY, "serve"]);
    let shown = stage.run(&["show", "s.lock.json"], "");
    assert_eq!(shown.code(), 3, "{shown:?}");
    assert!(shown.err().contains("mcpreel diff --surface s.lock.json -- SERVER-COMMAND"), "{shown:?}");
}

#[test]
fn a_surface_as_junit_has_a_case_for_each_item() {
    let stage = Stage::new();
    stage.ok(&["diff", "--surface", "s.lock.json", "--update", "--", BINARY, "serve"]);
    let check = ["diff", "--surface", "s.lock.json", "-f", "junit", "--", BINARY, "serve"];
    let same = stage.ok(&check).out();
    assert!(same.contains("<testcase name=\"nothing changed\""), "{same}");
    let mut lock: Value = serde_json::from_slice(&stage.read("s.lock.json")).expect("JSON");
    lock["tools"].as_array_mut().expect("tools").push(json!({"name": "gone", "inputSchema": {"type": "object"}}));
    stage.write("s.lock.json", lock.to_string());
    let changed = stage.run(&check, "");
    assert_eq!(changed.code(), 1, "{changed:?}");
    assert!(changed.out().contains("<testcase name=\"tool gone\"") && changed.out().contains("failures=\"1\""));
    let refused = stage.run(&["diff", "a", "b", "-f", "junit"], "");
    assert!(refused.code() == 2 && refused.err().contains("needs --surface"), "{refused:?}");
}

#[test]
fn errors_in_yaml_are_one_line_with_their_place() {
    let stage = Stage::new();
    stage.write("checks.yaml", "checks:\n  - call: tools/list\n    expects: .a\n");
    stage.write("suite.yaml", "- reel: a.reel\n  optins: [x]\n");
    for (words, place) in [
        (&["call", "--file", "checks.yaml", "--", "true"][..], "error: checks.yaml:3:"),
        (&["replay", "suite.yaml"], "error: suite.yaml:2:"),
    ] {
        let output = stage.run(words, "");
        assert_eq!(output.code(), 3, "{output:?}");
        let first = output.err().lines().next().expect("an error").to_owned();
        assert!(first.contains(place) && first.contains("unknown member"), "{output:?}");
        assert!(!output.err().contains('␊') && !output.err().contains("-->"), "{output:?}");
    }
}
