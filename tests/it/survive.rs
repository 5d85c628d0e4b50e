//! Tests `survive` with small hosts: reports what they answer, refuse, ignore and fail at, over stdio and over HTTP,
//! with the reel and the exit code.

use crate::common::{Output, Stage, finish};
use serde_json::Value;

/// A client that reacts to each method as `DOES` says: exits with this code, `freeze`, `close`, or answers; otherwise
/// it refuses. It exits by itself after `lives` seconds or `reads` messages. It crashes if it is declared all of
/// `crash_on`, in the handshake or, with `crash_later`, after it. `modern` is a client without a handshake.
const HOST: &str = r#"
import json, os, subprocess, sys, threading, time
does = json.loads(os.environ.get("DOES", "{}"))
log = open("starts", "a")
log.write(json.dumps([sys.argv[1:], os.environ["MCPREEL_SERVER"], os.environ["MCPREEL_SERVER_URL"]]) + "\n")
log.close()
server = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
def say(**message):
    server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    server.stdin.flush()
print("hello from the client", flush=True)
reads = 0
if "modern" in does:
    say(id=0, method="tools/list", params={"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "m", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}}})
    sys.exit(0 if "result" in json.loads(server.stdout.readline()) else 1)
if "start" in does:
    sys.exit(does["start"])
say(id=0, method="initialize", params={"protocolVersion": "2025-06-18", "capabilities": {"experimental": {"mcpl": {
    "version": "0.4", "pushEvents": True}}}, "clientInfo": {"name": does.get("name", "small\u001b[31m"), "version": "1"}})
for line in server.stdout:
    message = json.loads(line)
    method = message.get("method")
    if message.get("id") == 0 and "result" in message:
        if "events" in message["result"]["capabilities"] and "events" in does:
            sys.exit(does["events"])
        declared = message["result"]["capabilities"]
        declared = {**declared, **declared.get("experimental", {})}
        crash = "crash_on" in does and all(name in declared for name in does["crash_on"])
        if crash and "crash_later" not in does:
            sys.exit(1)
        say(method="notifications/initialized")
        if crash:
            time.sleep(does["crash_later"])
            sys.exit(1)
        say(id=1, method="tools/call", params={"name": "events_list", "arguments": {}})
        if "lives" in does:
            threading.Timer(does["lives"], lambda: os._exit(0)).start()
        continue
    reads += 1
    if reads == does.get("reads"):
        sys.exit(0)
    if method in does:
        todo = does[method]
        if isinstance(todo, float):
            time.sleep(todo)
            todo = {}
        if isinstance(todo, int):
            sys.exit(todo)
        elif todo == "close":
            server.stdin.close()
            server.kill()
            time.sleep(60)
        elif todo == "freeze":
            time.sleep(60)
        elif todo != "ignore":
            say(id=message["id"], result=todo)
    elif method == "ping":
        say(id=message["id"], result={})
    elif "id" in message and method:
        say(id=message["id"], error={"code": -32601, "message": "Method not found"})
"#;

pub(crate) fn survive(stage: &Stage, does: &str, options: &[&str]) -> Output {
    stage.write("host.py", HOST);
    let mut words = vec!["survive", "--wait", "400ms", "-o", "s.reel"];
    words.extend(options);
    words.extend(["--", "python3", "host.py"]);
    let mut command = stage.mcpreel(&words);
    command.env("DOES", does);
    finish(command, Vec::new())
}

/// The result for a method.
fn of<'a>(probe_report: &'a Value, method: &str) -> &'a Value {
    let all = probe_report["messages"].as_array().expect("messages");
    all.iter().rfind(|sent| sent["method"] == method).unwrap_or_else(|| panic!("{method} in {probe_report}"))
}

#[test]
fn each_outcome_is_reported_and_what_broke_it_decides_the_exit_code() {
    let stage = Stage::new();
    let does = r#"{"push/event":{"accepted":true},"model/info":{"x":1},"scope/elevate":"ignore","events/batch":7,
        "channels/list":"freeze","channels/incoming":"close"}"#;
    let reported = survive(&stage, does, &["--format", "json"]);
    assert_eq!(reported.code(), 1, "{reported:?}");
    let probe_report = reported.json();
    assert_eq!(
        (&of(&probe_report, "push/event")["outcome"], &probe_report["client"]["answers_ping"]),
        (&"answered".into(), &true.into())
    );
    assert!(of(&probe_report, "model/info")["deviations"][0].is_string(), "{probe_report}");
    assert_eq!(of(&probe_report, "scope/elevate")["outcome"], "ignored");
    assert_eq!(
        (&of(&probe_report, "inference/request")["outcome"], &of(&probe_report, "inference/request")["code"]),
        (&"refused".into(), &(-32601).into())
    );
    assert_eq!(
        (&of(&probe_report, "events/batch")["outcome"], &of(&probe_report, "events/batch")["exit_code"]),
        (&"broke".into(), &7.into())
    );
    assert_eq!(of(&probe_report, "channels/list")["silent"], true);
    assert_eq!(of(&probe_report, "channels/incoming")["outcome"], "broke");
    for after in ["events/subscription_expired", "notifications/reminder", "channels/changed"] {
        assert_eq!(of(&probe_report, after)["outcome"], "taken", "{after}");
    }
    let mcpl =
        probe_report["declarations"].as_array().expect("declarations").iter().find(|one| one["proposal"] == "mcpl");
    assert_eq!(mcpl.expect("declared")["client_place"], "experimental.mcpl");
    let starts = String::from_utf8(stage.read("starts")).expect("text").lines().count();
    assert_eq!((probe_report["starts"].as_u64(), starts > 3), (Some(starts as u64), true));
    // The reel has one session per start, with everything that was sent in it.
    let reel = stage.ok(&["show", "s.reel", "method:push/event"]).out();
    assert!(reel.contains("push/event"), "{reel}");
    assert_eq!(stage.ok(&["reel", "verify", "s.reel"]).code(), 0);
}

#[test]
fn a_table_says_the_same_and_no_peer_steers_the_terminal() {
    let stage = Stage::new();
    let reported = survive(&stage, "{}", &["--only", "mcpe"]);
    assert_eq!(reported.code(), 0, "{reported:?}");
    let text = reported.out();
    for part in ["experimental.events", "dropped by TypeScript 1.x", "subscription_expired", "nothing broke the client"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("push/event") && !text.contains('\u{1b}') && text.contains("small"), "{text}");
    assert!(reported.err().contains("s.reel"), "{reported:?}");
}

#[test]
fn the_clients_own_requests_wait_and_what_it_used_is_reported() {
    let stage = Stage::new();
    let probe_report = survive(&stage, r#"{"events/event":"ignore"}"#, &["--format", "json", "--only", "mcpe"]).json();
    assert_eq!(probe_report["declarations"][0]["used"], serde_json::json!({"events_list": 1}));
}

#[test]
fn one_that_ends_by_itself_is_not_broken_and_one_that_never_comes_is_an_error() {
    let stage = Stage::new();
    let reported = survive(&stage, r#"{"lives":0.6}"#, &["--format", "json", "--only", "mcpe", "--only", "reminder"]);
    assert_eq!(reported.code(), 0, "{reported:?}");
    let never = survive(&Stage::new(), r#"{"start":3}"#, &[]);
    assert_eq!(never.code(), 4, "{never:?}");
    assert!(never.err().contains("exited with code 3") && never.err().contains("hello from the client"), "{never:?}");
    let missing = Stage::new();
    let missing = missing.run(&["survive", "-o", "x.reel", "--", "./no-such-client"], "");
    assert!(missing.code() == 4 && missing.err().contains("cannot start the client"), "{missing:?}");
    let stage = Stage::new();
    let usage = stage.run(&["survive", "--only", "mcpx", "--", "true"], "");
    assert!(usage.code() == 2 && usage.err().contains("hooks"), "{usage:?}");
}

#[test]
fn a_declaration_that_it_cannot_take_is_found() {
    let stage = Stage::new();
    let reported = survive(&stage, r#"{"events":9}"#, &["--format", "json", "--only", "mcpe", "--only", "hooks"]);
    let probe_report = reported.json();
    let broken: Vec<&Value> =
        probe_report["declarations"].as_array().expect("all").iter().filter(|it| it["outcome"] == "broke").collect();
    assert_eq!((reported.code(), broken.len()), (1, 1), "{probe_report}");
    assert_eq!((&broken[0]["place"], &broken[0]["exit_code"]), (&"events".into(), &9.into()));
    assert_eq!(of(&probe_report, "events/event")["outcome"], "taken");
}

/// The places of the declarations that broke the client, with the places of those that must come together.
fn broken(report: &Value) -> Vec<(&str, String)> {
    let all = report["declarations"].as_array().expect("declarations").iter();
    let with = |one: &Value| one["only_with"].as_array().map_or(0, Vec::len).to_string();
    let broken = all.filter(|one| one["outcome"] == "broke");
    broken.map(|one| (one["place"].as_str().expect("a place"), with(one))).collect()
}

#[test]
fn one_that_crashes_on_a_declaration_in_the_handshake_or_after_it_is_broken() {
    for does in [r#"{"crash_on":["mcpl"]}"#, r#"{"crash_on":["mcpl"],"crash_later":0.0}"#] {
        let reported = survive(&Stage::new(), does, &["--format", "json", "--only", "mcpl", "--only", "mcpe"]);
        assert_eq!(reported.code(), 1, "{reported:?}");
        assert_eq!(broken(&reported.json()), [("experimental.mcpl", "0".to_owned())], "{does}");
        assert_eq!(of(&reported.json(), "events/event")["outcome"], "taken");
    }
}

#[test]
fn one_that_two_declarations_break_only_together_is_broken() {
    for later in ["", r#","crash_later":0.0"#] {
        let does = format!(r#"{{"crash_on":["mcpl","reminders"]{later}}}"#);
        let reported = survive(&Stage::new(), &does, &["--format", "json", "--only", "mcpl", "--only", "reminder"]);
        let report = reported.json();
        assert_eq!((reported.code(), broken(&report).len()), (1, 2), "{report}");
        assert!(broken(&report).contains(&("experimental.mcpl", "1".to_owned())), "{report}");
        assert_eq!(of(&report, "push/event")["outcome"], "refused");
    }
}

#[test]
fn one_that_exits_after_a_few_messages_or_is_busy_with_one_is_not_broken() {
    let reported = survive(&Stage::new(), r#"{"reads":5}"#, &["--format", "json", "--only", "mcpe"]);
    assert_eq!(
        (reported.code(), reported.json()["messages"][0]["outcome"].clone()),
        (0, "taken".into()),
        "{reported:?}"
    );
    let options = ["--format", "json", "--only", "mcpl"];
    let reported = survive(&Stage::new(), r#"{"model/info":1.5}"#, &options);
    let report = reported.json();
    assert_eq!(reported.code(), 0, "{report}");
    let late = of(&report, "model/info");
    assert_eq!((&late["outcome"], &late["late"]), (&"answered".into(), &true.into()), "{report}");
}

#[test]
fn one_of_the_modern_era_is_recognised_without_server_discover() {
    let reported = survive(&Stage::new(), r#"{"modern":true}"#, &[]);
    assert_eq!(reported.code(), 4, "{reported:?}");
    assert!(reported.err().contains("supports only revision 2026-07-28"), "{reported:?}");
}

#[test]
fn the_server_stands_where_the_command_says() {
    let stage = Stage::new();
    stage.write("host.py", HOST);
    let run = |words: &[&str]| {
        let reported = stage.run(&[&["survive", "--only", "hooks", "-o", "s.reel", "--"], words].concat(), "");
        let _ = std::fs::remove_file(stage.path("s.reel"));
        assert_eq!(reported.code(), 0, "{reported:?}");
        let starts = String::from_utf8(stage.read("starts")).expect("text");
        serde_json::from_str::<Value>(starts.lines().last().expect("started")).expect("JSON")
    };
    let plain = run(&["python3", "host.py"]);
    assert_eq!(plain[0].as_array().map(Vec::len), Some(3));
    assert!(
        plain[2].as_str().is_some_and(|url| url.starts_with("http://127.0.0.1:") && url.ends_with("/mcp")),
        "{plain}"
    );
    let placed = run(&["sh", "-c", "exec python3 host.py {command}"]);
    assert_eq!(placed[0].as_array().map(Vec::len), Some(3));
    let named = run(&["sh", "-c", ": {url}; exec python3 host.py $MCPREEL_SERVER"]);
    assert_eq!(named[0].as_array().map(Vec::len), Some(3));
}
