//! What users see on a terminal. The terminal is a pseudo-terminal that a few lines of Python open.

use crate::common::{Output, Stage, finish, message};
use serde_json::json;
use std::time::{Duration, Instant};

/// Runs a command on a terminal of this size, passes it what is typed, and prints what appears on it.
const TERMINAL: &str = r#"
import fcntl, os, pty, select, struct, sys, termios
columns, rows, typed = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3].encode()
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    os.execvp(sys.argv[4], sys.argv[4:])
while True:
    try:
        read = os.read(terminal, 65536)
    except OSError:
        break
    if not read:
        break
    sys.stdout.buffer.write(read)
    if typed:
        os.write(terminal, typed)
        typed = b""
status = os.waitpid(pid, 0)[1]
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(status))
"#;

/// Runs the binary on a terminal of these columns and 24 rows.
pub(crate) fn on_terminal(stage: &Stage, columns: usize, environment: &[(&str, &str)], arguments: &[&str]) -> Output {
    typing(stage, "", columns, environment, arguments)
}

/// The same, and types something as soon as there is output.
pub(crate) fn typing(
    stage: &Stage,
    typed: &str,
    columns: usize,
    environment: &[(&str, &str)],
    arguments: &[&str],
) -> Output {
    let binary = crate::common::binary();
    let mut output = running(stage, typed, columns, environment, &[&[binary.as_str()], arguments].concat());
    // What stays on the screen: on a busy machine, a progress bar appears and is erased.
    let out = output.out();
    let left: String = out.split_inclusive('\n').filter_map(|line| line.rsplit("\x1b[2K").next()).collect();
    output.stdout = left.into_bytes();
    output
}

/// The same for any program.
fn running(stage: &Stage, typed: &str, columns: usize, environment: &[(&str, &str)], program: &[&str]) -> Output {
    let columns = columns.to_string();
    let mut words = vec!["python3", "-c", TERMINAL, &columns, "24", typed];
    words.extend(program);
    let mut command = stage.command(&words);
    command.env_remove("NO_COLOR").env("TERM", "xterm").env("LC_ALL", "C.UTF-8").env("PYTHONUTF8", "1");
    command.envs(environment.iter().copied());
    let mut output = finish(command, Vec::new());
    output.stdout.retain(|byte| *byte != b'\r');
    output
}

/// A reel of so many calls of `echo`, each with its response.
fn echoes(stage: &Stage, calls: u64) {
    let call = |number: u64| {
        let arguments = json!({"message": format!("hello {number}")});
        let params = json!({"name": "echo", "arguments": arguments});
        let result = json!({"content": [{"type": "text", "text": format!("Echo: hello {number}")}]});
        [
            message(
                number * 10,
                "c2s",
                json!({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}),
            ),
            message(number * 10 + 5, "s2c", json!({"jsonrpc": "2.0", "id": number, "result": result})),
        ]
    };
    stage.reel("echo.reel", &(0..calls).flat_map(call).collect::<Vec<_>>());
}

#[test]
fn a_terminal_gets_headings_and_lines_that_fit() {
    let stage = Stage::new();
    echoes(&stage, 1);
    let plain = [("NO_COLOR", "1")];
    let shown = on_terminal(&stage, 120, &plain, &["show", "echo.reel"]).out();
    let expected = "  no.         time       size  latency   id method, arguments → result
    0     0.000000 →    105 B             0 ┌ tools/call echo message=\"hello 0\"
    1     0.005000 ←     86 B   5.0 ms    0 └ tools/call echo → \"Echo: hello 0\"
";
    assert!(shown.ends_with(expected), "{shown}");
    let narrow = on_terminal(&stage, 80, &plain, &["show", "echo.reel"]).out();
    assert!(narrow.lines().all(|line| line.chars().count() <= 80), "{narrow}");
    assert!(narrow.ends_with("└ echo → \"Echo: hello 0\"\n"), "{narrow}");
    // A pipe gets neither headings nor, unless asked for, details.
    let piped = stage.ok(&["show", "echo.reel"]).out();
    assert!(piped.ends_with("    0 tools/call echo → ok\n") && piped.lines().count() == 2, "{piped}");
    let detailed = stage.ok(&["show", "echo.reel", "--details"]).out();
    let expected = "    0 tools/call echo message=\"hello 0\" → \"Echo: hello 0\"\n";
    assert!(detailed.ends_with(expected), "without brackets, a response repeats its request: {detailed}");
}

#[test]
fn a_pager_shows_long_output_only() {
    let stage = Stage::new();
    let pager = stage.write("pager", "#!/bin/sh\necho PAGED $1\ncat\n");
    std::process::Command::new("chmod").arg("+x").arg(&pager).status().expect("chmod works");
    let pager = format!("{} here", pager.display());
    let paged = |arguments: &[&str]| on_terminal(&stage, 100, &[("PAGER", &pager)], arguments);
    echoes(&stage, 10);
    assert!(!paged(&["show", "echo.reel"]).out().contains("PAGED"), "21 lines fit on 24 rows");
    assert!(paged(&["show", "echo.reel", "--pager"]).out().starts_with("PAGED here\n"));
    std::fs::remove_file(stage.path("echo.reel")).expect("removed");
    echoes(&stage, 40);
    let long = paged(&["show", "echo.reel"]);
    assert!(long.out().starts_with("PAGED here\n") && long.out().contains("hello 39"), "{long:?}");
    assert!(paged(&["show", "echo.reel", "--full"]).out().starts_with("PAGED here\n"));
    for without in [&["--no-pager"][..], &["-n", "5"]] {
        let mut arguments = vec!["show", "echo.reel"];
        arguments.extend(without);
        assert!(!paged(&arguments).out().contains("PAGED"), "{without:?}");
    }
    let dumb = on_terminal(&stage, 100, &[("PAGER", &pager), ("TERM", "dumb")], &["show", "echo.reel"]).out();
    assert!(!dumb.contains("PAGED") && !dumb.contains('\u{1b}'), "{dumb}");
    let missing = on_terminal(&stage, 100, &[("PAGER", "/no/such/pager")], &["show", "echo.reel"]).out();
    assert!(missing.contains("cannot start the pager /no/such/pager") && missing.contains("hello 39"), "{missing}");
    // Not on a terminal, there is none.
    assert!(!stage.ok(&["show", "echo.reel", "--pager"]).out().contains("PAGED"));
}

#[test]
fn the_exit_code_is_preserved_behind_a_pager() {
    let stage = Stage::new();
    echoes(&stage, 400);
    let paged = |arguments: &[&str]| on_terminal(&stage, 100, &[("PAGER", "sed s/^/PAGED:/")], arguments);
    let odd = r#"if .seq == 700 then error("odd") else .seq end"#;
    let shown = paged(&["show", "--pager", "echo.reel", "--jq", odd]);
    assert_eq!(shown.code(), 1, "{shown:?}");
    assert!(
        shown.out().contains("PAGED:mcpreel: --jq at event 700: \"odd\""),
        "notes are in the pager, too: {shown:?}"
    );
    assert_eq!(paged(&["show", "--pager", "echo.reel"]).code(), 0);
    // An early end of the pager is no error.
    let left = on_terminal(&stage, 100, &[("PAGER", "head -n 2")], &["show", "echo.reel"]);
    assert_eq!((left.code(), left.out().lines().count()), (0, 2), "{left:?}");
    let error = paged(&["show", "--pager", "echo.reel", "method:"]);
    assert_eq!(error.code(), 2, "{error:?}");
}

#[test]
fn less_is_the_default_and_waits_for_the_user() {
    let stage = Stage::new();
    echoes(&stage, 400);
    if stage.command(&["less", "--version"]).output().is_err() {
        return;
    }
    let shown = typing(&stage, "q", 100, &[], &["show", "echo.reel"]);
    assert_eq!(shown.code(), 0, "{shown:?}");
    assert!(shown.out().contains("hello 5") && !shown.out().contains("hello 399"), "{shown:?}");
}

#[test]
fn call_lays_results_out_on_a_terminal_and_prints_json_elsewhere() {
    let stage = Stage::new();
    let shown = |arguments: &[&str]| {
        let mut words = vec!["call"];
        words.extend(arguments);
        words.extend(["--", crate::common::BINARY, "serve", "--era", "legacy"]);
        on_terminal(&stage, 100, &[("NO_COLOR", "1")], &words).out()
    };
    let tools = shown(&["tools/list"]);
    let heading: Vec<&str> = tools.lines().next().unwrap_or_default().split_whitespace().collect();
    assert_eq!(heading, ["name", "arguments", "description"], "{tools}");
    assert!(tools.lines().any(|line| line.trim().starts_with("add ") && line.contains("a, b")), "{tools}");
    assert!(tools.lines().all(|line| line.chars().count() <= 100), "{tools}");
    let sum = ["tools/call", "name=add", "arguments.a:=2", "arguments.b:=40"];
    assert_eq!(shown(&sum), "{\n  \"sum\": 42\n}\n");
    let mut words = vec!["call"];
    words.extend(sum);
    words.extend(["--", crate::common::BINARY, "serve", "--era", "legacy"]);
    let piped = stage.ok(&words).json();
    assert_eq!(piped["structuredContent"]["sum"], 42, "a pipe gets the whole result");
}

#[test]
fn call_repeats_expects_and_runs_jq() {
    let stage = Stage::new();
    let call = |arguments: &[&str]| {
        let mut words = vec!["call", "tools/call", "name=add", "arguments.a:=2", "arguments.b:=40"];
        words.extend(arguments);
        words.extend(["--", crate::common::BINARY, "serve", "--era", "legacy"]);
        stage.run(&words, "")
    };
    let named = call(&["--jq", ".structuredContent.sum, .content[0].type"]);
    assert_eq!((named.code(), named.out().as_str()), (0, "42\ntext\n"), "{named:?}");
    let met = call(&["--expect", ".structuredContent.sum == 42", "--repeat", "3", "--jq", ".structuredContent.sum"]);
    assert_eq!((met.code(), met.out().as_str()), (0, "42\n42\n42\n"), "{met:?}");
    assert!(met.err().contains("3 sent, 0 failed; latency min "), "{met:?}");
    let unmet = call(&["--expect", ".structuredContent.sum == 43", "--format", "json"]);
    assert!(
        unmet.code() == 1 && unmet.err().contains("expected .structuredContent.sum == 43, but got false from {"),
        "{unmet:?}"
    );
    assert_eq!(call(&["--jq", ".["]).code(), 2);
    assert_eq!(call(&["--jq", "error(\"no\")"]).code(), 1);
    let none = call(&["--save", "files"]);
    assert!(none.code() == 0 && none.err().contains("nothing to save"), "{none:?}");
}

#[test]
fn stats_fits_a_narrow_terminal_and_says_what_is_missing() {
    let stage = Stage::new();
    echoes(&stage, 3);
    let shown = |columns| on_terminal(&stage, columns, &[("NO_COLOR", "1")], &["stats", "echo.reel"]).out();
    let narrow = shown(60);
    let table: Vec<&str> = narrow.lines().skip_while(|line| !line.contains("method")).collect();
    assert!(table.iter().all(|line| line.chars().count() <= 60), "{narrow}");
    assert!(table.last().is_some_and(|line| line.starts_with("no space for: responses")), "{narrow}");
    assert!(!shown(120).contains("no space for"));
    assert!(shown(80).lines().all(|line| line.chars().count() <= 80));
    for words in [&["--compare", "echo.reel", "echo.reel"][..], &["echo.reel", "--by", "tool,error", "--histogram"]] {
        for columns in [60, 80, 120] {
            let shown = on_terminal(&stage, columns, &[("NO_COLOR", "1")], &[&["stats"], words].concat()).out();
            assert!(shown.lines().all(|line| line.chars().count() <= columns) && shown.contains("echo"), "{shown}");
        }
    }
    // Nor do the sentences above it wrap.
    assert!(narrow.lines().all(|line| line.chars().count() <= 60), "{narrow}");
    assert!(narrow.contains("\nslowest: tools/call echo took "), "{narrow}");
}

#[test]
fn show_fits_a_narrow_terminal_without_sizes() {
    let stage = Stage::new();
    echoes(&stage, 1);
    for (columns, is_narrow) in [(60, true), (100, false)] {
        let shown = on_terminal(&stage, columns, &[("NO_COLOR", "1"), ("PAGER", "cat")], &["show", "echo.reel"]).out();
        assert!(shown.lines().all(|line| line.chars().count() <= columns), "{shown}");
        assert_eq!(shown.ends_with("\nno space for: size\n"), is_narrow, "{shown}");
        assert_eq!(shown.lines().next().is_some_and(|line| line.contains("size")), !is_narrow, "{shown}");
    }
}

#[test]
fn a_list_of_reels_fits_a_narrow_terminal_with_whole_names() {
    let stage = Stage::new();
    echoes(&stage, 1);
    let name = "20261123-195821-everything-19009.reel";
    std::fs::rename(stage.path("echo.reel"), stage.path(name)).expect("renamed");
    for (columns, missing) in [(60, "no space for: client, server, messages, size"), (120, "")] {
        let shown = on_terminal(&stage, columns, &[("NO_COLOR", "1")], &["reel", "list", "--folder", "."]).out();
        assert!(shown.lines().all(|line| line.chars().count() <= columns) && shown.contains(name), "{shown}");
        assert!(shown.contains(missing) && shown.contains("no space for") != missing.is_empty(), "{shown}");
    }
}

/// A server whose list of tools has two pages. Between them, it thinks longer than work may take without progress.
const SLOW: &str = r#"
import json, sys, time
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked: continue
    answer = {"jsonrpc": "2.0", "id": asked["id"]}
    if asked["method"] == "initialize":
        server = {"name": "s", "version": "1"}
        answer["result"] = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": server}
    elif asked["method"] == "tools/list" and "cursor" not in asked.get("params", {}):
        time.sleep(float(sys.argv[1]))
        answer["result"] = {"tools": [], "nextCursor": "2"}
    elif asked["method"] == "tools/list":
        answer["result"] = {"tools": []}
    else:
        answer["error"] = {"code": -32601, "message": "unknown"}
    print(json.dumps(answer), flush=True)
"#;

#[test]
fn an_import_of_one_event_says_so_in_the_singular() {
    let stage = Stage::new();
    let header = json!({"reel": {"version": 1, "created": crate::common::CREATED, "tool": "test"}});
    let ping = message(0, "c2s", json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}));
    let imported = stage.run(&["import", "-", "-o", "one.reel"], format!("{header}\n{ping}\n"));
    assert!(imported.err().starts_with("mcpreel: 1 event, "), "{imported:?}");
}

#[test]
fn a_server_that_lists_slowly_shows_progress_on_a_terminal() {
    let stage = Stage::new();
    stage.write("slow.py", SLOW);
    let binary = crate::common::binary();
    for (pause, is_long) in [("0.7", true), ("0", false)] {
        let name = format!("{pause}.json");
        let words = [&binary, "diff", "--surface", "--update", &name, "--", "python3", "slow.py", pause];
        let shown = running(&stage, "", 80, &[], &words).out();
        assert!(shown.contains("wrote") && shown.contains("listing") == is_long, "{pause}: {shown:?}");
    }
}

#[test]
fn long_work_shows_its_progress_on_a_terminal_and_short_work_does_not() {
    let stage = Stage::new();
    echoes(&stage, 1);
    let long = format!("{}\n", json!({"reel": {"version": 1, "created": crate::common::time(0)}}));
    let push = |number: u64| {
        let params = json!({"featureSet": "a", "content": [{"type": "text", "text": "x".repeat(200)}]});
        let push = json!({"jsonrpc": "2.0", "id": number, "method": "push/event", "params": params});
        format!("{}\n", message(number, "s2c", push))
    };
    stage.import("long.reel", long + &(0..15_000).map(push).collect::<String>());
    let binary = crate::common::binary();
    let on = |words: &str| {
        let script = format!("'{binary}' {words} >out");
        running(&stage, "", 80, &[], &["sh", "-c", &script])
    };
    for (words, what, is_surely_long) in [
        ("show long.reel --jq '.message | tojson | length'", "showing", true),
        ("show long.reel --full", "showing", false),
        ("show long.reel --view tree", "reading", false),
        ("stats long.reel --audit", "reading", false),
        ("stats long.reel text:nothing", "counting", false),
        ("diff long.reel long.reel", "comparing", false),
    ] {
        let (began, shown) = (Instant::now(), on(words).out());
        // Half a second is the limit. A fast machine may not need that long.
        let is_long = is_surely_long || began.elapsed() > Duration::from_secs(2);
        assert!(!is_long || shown.contains(what), "{words}: {shown:?}");
        let short = on(&words.replace("long.reel", "echo.reel"));
        assert!(!short.out().contains(what), "{words}: {short:?}");
    }
    let to_a_file = stage.ok(&["show", "long.reel", "--jq", ".seq"]);
    assert!(!to_a_file.err().contains("showing"), "{to_a_file:?}");
}

/// Runs a program on a terminal of its own, types a part of a key once there is output, and closes the terminal as soon as
/// that part was read. Prints how the program ended, or kills it.
const HANGUP: &str = r#"
import array, fcntl, os, pty, select, sys, termios, time
outer, inner = pty.openpty()
pid = os.fork()
if pid == 0:
    os.setsid()
    fcntl.ioctl(inner, termios.TIOCSCTTY, 0)
    for end in range(3):
        os.dup2(inner, end)
    os.execvp(sys.argv[1], sys.argv[1:])
os.read(outer, 65536)
os.write(outer, b"\x1b[")
unread = array.array("i", [1])
limit = time.monotonic() + 30
while unread[0] and time.monotonic() < limit:
    while select.select([outer], [], [], 0.01)[0]:
        os.read(outer, 65536)
    fcntl.ioctl(inner, termios.FIONREAD, unread)
os.close(inner)
os.close(outer)
while time.monotonic() < limit:
    ended, status = os.waitpid(pid, os.WNOHANG)
    if ended:
        print("ended:", os.waitstatus_to_exitcode(status), "unread:", unread[0])
        break
    time.sleep(0.01)
else:
    os.kill(pid, 9)
    print("goes on without a terminal")
"#;

#[test]
fn the_interface_ends_when_the_terminal_is_closed_in_the_middle_of_a_key() {
    let stage = Stage::new();
    echoes(&stage, 3);
    let binary = crate::common::binary();
    let mut command = stage.command(&["python3", "-c", HANGUP, &binary, "tui", "echo.reel"]);
    command.env("TERM", "xterm").env("LC_ALL", "C.UTF-8");
    let output = finish(command, Vec::new());
    assert_eq!(output.out(), "ended: 0 unread: 0\n", "{output:?}");
}
