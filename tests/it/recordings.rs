//! Tests every command that records: recordings are found from any environment, no start fails because of a file, no
//! session ends because of its reel, and losses are reported.

use crate::common::{BINARY, Live, Stage, assert_same, finish, until};
use serde_json::{Value, json};
use std::fs::File;
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const ECHO: [&str; 3] = ["sh", "-c", "cat; exit 7"];

fn ping(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "ping"})
}

fn initialize(id: u64) -> Value {
    let info = json!({"name": "tester", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info});
    json!({"jsonrpc": "2.0", "id": id, "method": "initialize", "params": params})
}

/// The environment that an SDK's client passes on.
fn reduced(stage: &Stage, arguments: &[&str]) -> Command {
    let mut command = stage.mcpreel(arguments);
    let path = std::env::var_os("PATH").expect("PATH is set");
    command.env_clear().env("PATH", path).env("HOME", stage.path("home"));
    command.env("LOGNAME", "tester").env("USER", "tester").env("SHELL", "/bin/sh").env("TERM", "dumb");
    command
}

/// A user's shell, with variables that say where things are.
fn shell(stage: &Stage, arguments: &[&str]) -> Command {
    std::fs::create_dir_all(stage.path("runtime")).expect("a folder");
    let mut command = stage.mcpreel(arguments);
    command.env("XDG_RUNTIME_DIR", stage.path("runtime"));
    command
}

/// As `shell`, without `MCPREEL_HOME`.
fn xdg(stage: &Stage, arguments: &[&str]) -> Command {
    let mut command = shell(stage, arguments);
    command.env_remove("MCPREEL_HOME");
    command
}

/// The session with this label, in the output of `sessions`.
fn session(mut sessions: Command, label: &str) -> Option<Value> {
    sessions.arg("--format").arg("json");
    let output = finish(sessions, Vec::new());
    assert_eq!(output.code(), 0, "{output:?}");
    let lines: Vec<Value> = output.out().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    lines.into_iter().find(|session| session["name"] == label)
}

/// How an environment runs the binary.
type Run = fn(&Stage, &[&str]) -> Command;

#[test]
fn a_recording_and_a_live_session_are_found_from_any_environment() {
    let all: [(&str, Run); 3] = [("reduced", reduced), ("shell", shell), ("xdg", xdg)];
    for (writes, writer) in all {
        let stage = Stage::new();
        // With a reduced environment, other tests' sessions may be in the same place.
        let label = format!("{writes}-{}", std::process::id());
        let mut client = Live::start(writer(&stage, &["record", "--label", &label, "--", "cat"]));
        client.send(&ping(1));
        assert_eq!(client.line(), ping(1).to_string());
        for (reads, reader) in all {
            let found = session(reader(&stage, &["sessions"]), &label);
            if reads == "shell" && writes != "shell" {
                assert_eq!(found, None, "a home of its own does not see others");
                expect_hint_of_session(&stage, &label);
                continue;
            }
            let found = found.unwrap_or_else(|| panic!("a session of {writes} from {reads}"));
            assert_eq!((&found["role"], &found["recording"]["active"]), (&json!("record"), &json!(true)), "{found}");
            let shown = until("the ping", || {
                let shown = finish(reader(&stage, &["show", "--session", &label]), Vec::new());
                shown.out().contains("ping").then_some(shown)
            });
            assert_eq!(shown.code(), 0, "{writes}, {reads}: {shown:?}");
        }
        assert_eq!(client.end().code(), 0);
        for (reads, reader) in all {
            if reads == "shell" && writes != "shell" {
                expect_hint_of_reel(&stage);
                continue;
            }
            for command in [&["show", "--raw", "dir:s2c"][..], &["stats"], &["reel", "verify"], &["validate"]] {
                let output = finish(reader(&stage, command), Vec::new());
                assert!(output.code() <= 1, "{writes}, {reads}: {command:?}: {output:?}");
            }
            let shown = finish(reader(&stage, &["show", "--raw", "dir:s2c"]), Vec::new());
            assert_eq!(shown.out(), format!("{}\n", ping(1)), "{writes}, {reads}");
        }
    }
}

/// A shell with `MCPREEL_HOME` says in one line which option reads the session, and does so.
fn expect_hint_of_session(stage: &Stage, label: &str) {
    let hint = |output: &crate::common::Output| {
        let lines: Vec<String> =
            output.err().lines().filter(|line| line.contains("--session ")).map(str::to_owned).collect();
        assert_eq!(lines.len(), 1, "{output:?}");
        lines[0].clone()
    };
    hint(&finish(shell(stage, &["sessions"]), Vec::new()));
    let failed = finish(shell(stage, &["show", "--session", label]), Vec::new());
    assert_ne!(failed.code(), 0, "{failed:?}");
    let said = hint(&failed);
    let (_, socket) = said.split_once("--session ").expect("the option");
    assert!(said.contains(label) && socket.ends_with(".sock"), "{said}");
    let shown = finish(shell(stage, &["show", "--session", socket]), Vec::new());
    assert_eq!(shown.code(), 0, "{shown:?}");
}

/// A shell with `MCPREEL_HOME` reads nothing of other homes, and names the newer reel in one line.
fn expect_hint_of_reel(stage: &Stage) {
    for command in [&["show", "--raw", "dir:s2c"][..], &["stats"], &["reel", "verify"], &["validate"], &["export"]] {
        let output = finish(shell(stage, command), Vec::new());
        assert_eq!((output.code(), output.out().as_str()), (3, ""), "{command:?}: {output:?}");
        let err = output.err();
        let lines: Vec<&str> = err.lines().filter(|line| line.contains("newer reel")).collect();
        assert!(matches!(lines[..], [line] if line.contains(".reel")), "{command:?}: {err}");
    }
    let listed = finish(shell(stage, &["reel", "list"]), Vec::new());
    assert!(listed.out().is_empty() && listed.err().contains("--folder "), "{listed:?}");
}

#[test]
fn the_newest_reel_is_the_newest_of_all_places() {
    let stage = Stage::new();
    for (number, writer) in [(1, shell as Run), (2, xdg), (3, reduced), (4, shell)] {
        let run = writer(&stage, &["record", "--", "cat"]);
        assert_eq!(finish(run, format!("{}\n", ping(number)).into_bytes()).code(), 0);
        for reader in [xdg as Run, reduced] {
            let shown = finish(reader(&stage, &["show", "--raw", "dir:s2c"]), Vec::new());
            assert_eq!((shown.out(), shown.err().contains("newer")), (format!("{}\n", ping(number)), false));
        }
        // With MCPREEL_HOME, it is the newest there.
        let own = if number == 4 { 4 } else { 1 };
        let shown = finish(shell(&stage, &["show", "--raw", "dir:s2c"]), Vec::new());
        assert_eq!((shown.out(), shown.err().contains("a newer reel")), (format!("{}\n", ping(own)), own != number));
    }
}

#[test]
fn a_bare_name_is_a_reel_of_any_place_unless_such_a_file_is_here() {
    let stage = Stage::new();
    let run = xdg(&stage, &["record", "--", "cat"]);
    assert_eq!(finish(run, format!("{}\n", ping(1)).into_bytes()).code(), 0);
    let places = std::fs::read_to_string(stage.path("home/.local/state/mcpreel/places")).expect("places");
    let folder = places.lines().find_map(|line| line.strip_prefix("reels ")).expect("a folder of reels");
    let mut reels = std::fs::read_dir(folder).expect("readable").flatten().map(|entry| entry.file_name());
    let name = reels.find(|name| name.to_string_lossy().ends_with(".reel")).expect("a reel");
    let name = name.to_str().expect("text");
    for command in [&["show", name, "--raw", "dir:s2c"][..], &["validate", name], &["redact", name, "--dry-run"]] {
        let output = finish(reduced(&stage, command), Vec::new());
        assert_eq!(output.code(), 0, "{command:?}: {output:?}");
    }
    stage.write(name, "no reel");
    let here = finish(shell(&stage, &["reel", "info", name]), Vec::new());
    assert_eq!(here.code(), 3, "{here:?}");
}

#[test]
fn an_error_says_where_it_looked_and_a_stale_or_foreign_entry_is_harmless() {
    let stage = Stage::new();
    let places = "home/.local/state/mcpreel/places";
    std::fs::create_dir_all(stage.path("home/.local/state/mcpreel")).expect("made");
    stage.write(places, "reels /nowhere/at/all\nsockets /nowhere\nreels /usr\nnonsense\nreels \u{1}\n");
    for command in [&["show"][..], &["stats"], &["validate"], &["reel", "info"], &["reel", "verify"], &["export"]] {
        let output = finish(shell(&stage, command), Vec::new());
        assert_eq!(output.code(), 3, "{command:?}: {output:?}");
        assert!(output.err().contains(&stage.path("mcpreel/reels").display().to_string()), "{command:?}: {output:?}");
        let output = finish(xdg(&stage, command), Vec::new());
        for folder in ["state/mcpreel", "home/.local/state/mcpreel"] {
            assert!(output.err().contains(&stage.path(folder).display().to_string()), "{command:?}: {output:?}");
        }
    }
    for command in [&["sessions"][..], &["show", "--session", "x"]] {
        let output = finish(shell(&stage, command), Vec::new());
        assert!(output.err().contains("searched") && output.err().contains("mcpreel/run"), "{output:?}");
    }
    // If the home folder cannot be written to, only the pointer is missing.
    std::fs::remove_file(stage.path(places)).expect("removed");
    std::fs::create_dir(stage.path(places)).expect("a folder in its place");
    let output = finish(shell(&stage, &["record", "--", "cat"]), b"{}\n".to_vec());
    assert_eq!((output.code(), output.err()), (0, String::new()));
}

#[test]
fn a_client_that_starts_a_server_again_gets_a_reel_with_a_free_name() {
    let stage = Stage::new();
    stage.write("o.yaml", "version: 1\n");
    stage.write("precious.reel", "precious");
    let cases: [&[&str]; 3] = [
        &["record", "-o", "precious.reel", "--", "cat"],
        &["record", "--label", "x", "-o", "precious.reel", "--", "cat"],
        &["serve", "--record", "precious.reel"],
    ];
    for (number, command) in cases.iter().enumerate() {
        let output = stage.run(command, "{}\n");
        let name = format!("precious-{}.reel", number + 2);
        assert_eq!(output.code(), 0, "{output:?}");
        assert!(output.err().contains("already exists") && output.err().contains(&name), "{output:?}");
        assert_eq!(stage.ok(&["reel", "verify", &name]).code(), 0);
    }
    assert_eq!(stage.read("precious.reel"), b"precious");
    // Node gives its children sockets.
    let (ours, theirs) = UnixStream::pair().expect("a pair");
    let mut command = stage.mcpreel(cases[0]);
    let child = command
        .stdin(Stdio::from(std::os::fd::OwnedFd::from(theirs)))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    drop(command);
    drop(ours);
    assert!(child.expect("started").wait().expect("waited for").success());
    assert!(stage.path("precious-5.reel").exists());
    // A session that is being recorded counts as existing, even with --force.
    let mut first = stage.start(&["record", "--force", "-o", "live.reel", "--", "cat"]);
    first.send(&ping(1));
    first.line();
    let second = stage.run(&["record", "--force", "-o", "live.reel", "--", "cat"], "{}\n");
    assert!(second.code() == 0 && second.err().contains("live-2.reel"), "{second:?}");
    assert_eq!(first.end().code(), 0);
    assert_eq!(stage.cat("live-2.reel", "c2s"), b"{}\n");
}

#[test]
fn in_a_script_a_file_that_is_there_is_an_error() {
    let stage = Stage::new();
    let there = stage.write("there.reel", "precious");
    for command in [&["record", "-o", "there.reel", "--", "cat"][..], &["serve", "--record", "there.reel"]] {
        for stdin in [Path::new("/dev/null"), &there] {
            let mut command = stage.mcpreel(command);
            command.stdin(File::open(stdin).expect("opened"));
            let output = command.output().expect("run");
            assert_eq!(output.status.code(), Some(2), "{output:?}");
            assert!(String::from_utf8_lossy(&output.stderr).contains("already exists"), "{output:?}");
        }
    }
    for (command, code) in [
        // A listener has no client on its standard input.
        (&["record", "--listen", "0", "-o", "there.reel", "--", "cat"][..], 2),
        (&["record", "--require-recording", "-o", "there.reel", "--", "cat"], 2),
        (&["call", "ping", "--record", "there.reel", "--", "cat"], 2),
    ] {
        let output = stage.run(command, "");
        assert_eq!(output.code(), code, "{command:?}: {output:?}");
    }
    assert_eq!(stage.read("there.reel"), b"precious");
    assert!(!stage.path("there-2.reel").exists());
}

#[test]
fn a_client_receives_why_its_server_does_not_start() {
    let stage = Stage::new();
    stage.write("there.reel", "precious");
    stage.write("script", "no program");
    stage.write("broken.yaml", "nonsense: [");
    let cases: [(&[&str], i32, &str); 9] = [
        (&["record", "--", "no-such-program"], 4, "there is no program \\\"no-such-program\\\""),
        (&["record", "--cwd", "nowhere", "--", "cat"], 4, "cannot start in"),
        (&["record", "--require-recording", "-o", "there.reel", "--", "cat"], 2, "there.reel already exists"),
        (&["record", "--require-recording", "-o", "there.reel/x.reel", "--", "cat"], 4, "cannot write"),
        (&["record", "--nonsense", "--", "cat"], 2, "unexpected argument"),
        (&["record", "--config", "broken.yaml", "--server", "x"], 3, "broken.yaml"),
        (&["record", "--url", "unix:nowhere.sock"], 4, "nowhere.sock"),
        (&["overlay", "broken.yaml", "--", "cat"], 3, "broken.yaml"),
        (&["serve", "--declare", "nonsense"], 2, "unknown proposal"),
    ];
    for (command, code, reported) in cases {
        let output = stage.run(command, format!("{}\n{}\n", initialize(5), ping(6)));
        assert_eq!(output.code(), code, "{command:?}: {output:?}");
        let answer: Value = output.json();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(5), &json!(-32603)), "{output:?}");
        let message = answer["error"]["message"].to_string();
        assert!(message.contains("mcpreel: ") && message.contains(reported), "{command:?}: {message}");
        assert!(output.err().contains("error"), "{output:?}");
    }
    // A probe of the modern era is answered, too.
    let input = format!("{}\n{}\n", json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover"}), initialize(2));
    let output = stage.run(&["record", "--", "no-such-program"], input);
    let ids: Vec<Value> = output.out().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(ids.iter().map(|answer| answer["id"].clone()).collect::<Vec<_>>(), [json!(1), json!(2)]);
    // If no client listens, nothing is sent.
    for command in [&["record", "-o", "-", "--", "no-such-program"][..], &["call", "ping", "--", "no-such-program"]] {
        let output = stage.run(command, format!("{}\n", initialize(1)));
        assert_eq!((output.code(), output.out()), (4, String::new()), "{command:?}");
    }
}

#[test]
fn who_starts_a_server_that_cannot_start_and_says_nothing_is_not_waited_for_for_ever() {
    let stage = Stage::new();
    // Neither a client that sends nothing, nor one whose line never ends.
    let silent = stage.start(&["record", "--", "no-such-program"]).end_with_open_stdin();
    assert_eq!((silent.code(), silent.out().as_str()), (4, ""), "{silent:?}");
    let mut endless = stage.start(&["record", "--", "no-such-program"]);
    while endless.try_write(vec![b'x'; 1 << 20]).is_ok() {}
    let endless = endless.end();
    assert_eq!((endless.code(), endless.out().as_str()), (4, ""), "{endless:?}");
}

/// Runs mcpreel in an environment with these folders for recordings.
fn with_home(stage: &Stage, arguments: &[&str], home: &str) -> Command {
    let mut command = stage.mcpreel(arguments);
    command.env("MCPREEL_HOME", stage.path(home)).env_remove("XDG_STATE_HOME");
    command
}

#[test]
fn a_folder_that_cannot_be_written_does_not_stop_the_session() {
    let stage = Stage::new();
    stage.write("file", "");
    for command in [
        with_home(&stage, &[&["record", "--"][..], &ECHO].concat(), "file"),
        with_home(&stage, &[&["record", "-o", "file/x.reel", "--"][..], &ECHO].concat(), "file"),
        with_home(&stage, &[&["record", "-o", "missing/x.reel", "--"][..], &ECHO].concat(), "file"),
    ] {
        let output = finish(command, b"{}\n".to_vec());
        assert_eq!((output.code(), output.out().as_str()), (7, "{}\n"), "{output:?}");
        let (why, place) = (output.err(), stage.path("home/.local/state/mcpreel").display().to_string());
        assert!(why.contains("cannot write") && why.contains("instead") && why.contains(&place), "{output:?}");
        let nothing = finish(with_home(&stage, &["show"], "file"), Vec::new());
        assert!(nothing.code() == 3 && nothing.err().contains(&place), "{nothing:?}");
        let mut usual = with_home(&stage, &["show", "--raw", "dir:s2c"], "file");
        usual.env_remove("MCPREEL_HOME");
        assert_eq!(finish(usual, Vec::new()).out(), "{}\n");
    }
    // There is no other folder: the session continues unrecorded, and mcpreel reports that.
    let mut command = with_home(&stage, &["record", "--label", "lost", "--", "sh", "-c", "cat; exit 7"], "file");
    command.env("HOME", stage.path("file"));
    std::fs::create_dir_all(stage.path("runtime")).expect("made");
    command.env_remove("MCPREEL_HOME").env("XDG_STATE_HOME", stage.path("file"));
    command.env("XDG_RUNTIME_DIR", stage.path("runtime"));
    let mut client = Live::start(command);
    client.send(&ping(1));
    client.line();
    let found = session(xdg(&stage, &["sessions"]), "lost").expect("it lives");
    assert_eq!((&found["recording"]["active"], &found["reel"]), (&json!(false), &Value::Null), "{found}");
    assert!(found["recording"]["problem"].as_str().is_some_and(|why| why.contains("cannot write")), "{found}");
    let table = finish(xdg(&stage, &["sessions"]), Vec::new()).out();
    assert!(table.contains("not being recorded") && table.contains("cannot write"), "{table}");
    // Once there is a place, recording begins.
    std::fs::remove_file(stage.path("file")).expect("removed");
    until("a reel", || {
        client.send(&ping(2));
        client.line();
        stage.path("file/mcpreel").exists().then_some(())
    });
    let output = client.end();
    assert_eq!(output.code(), 7, "{output:?}");
    assert!(output.err().contains("unrecorded") && output.err().contains("recording continues in"), "{output:?}");
}

/// The reels in a folder.
fn reels(stage: &Stage, folder: &str) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(stage.path(folder))
        .expect("a folder")
        .map(|entry| format!("{folder}/{}", entry.expect("an entry").file_name().to_string_lossy()))
        .filter(|name| name.ends_with(".reel"))
        .collect();
    names.sort();
    names
}

#[test]
fn a_reel_that_is_removed_is_reported_and_recording_goes_on_in_another() {
    for what in ["folder", "file", "replaced", "moved", "cut"] {
        let stage = Stage::new();
        std::fs::create_dir(stage.path("in")).expect("made");
        let words = ["record", "--label", "s", "-o", "in/t.reel", "--", "sh", "-c", "cat; exit 7"];
        let mut client = stage.start(&words);
        client.send(&ping(1));
        client.line();
        until("the ping in the reel", || {
            session(stage.mcpreel(&["sessions"]), "s").filter(|session| session["messages"] == 2)
        });
        let mut follower = stage.start(&["show", "--follow", "--session", "s", "--format", "json", "method:ping"]);
        follower.line();
        disturb(&stage, what);
        if what != "cut" {
            let found = session(stage.mcpreel(&["sessions"]), "s").expect("it lives");
            assert_eq!(found["recording"]["active"], false, "{what}: {found}");
            assert!(found["recording"]["problem"].as_str().is_some_and(|why| why.contains("removed")), "{found}");
        }
        let mut sent = 1;
        let found = until("recording goes on", || {
            sent += 1;
            client.send(&ping(sent));
            client.line();
            let found = session(stage.mcpreel(&["sessions"]), "s").expect("it lives");
            (found["recording"]["active"] == true && found["recording"]["problem"].is_string()).then_some(found)
        });
        sent += 1;
        client.send(&ping(sent));
        client.line();
        // `show --follow` continues with the next reel.
        let last = ping(sent)["id"].clone();
        until("the follower has the last ping", || {
            let event: Value = serde_json::from_str(&follower.line()).expect("JSON");
            (event["message"]["id"] == last).then_some(())
        });
        let output = client.end();
        assert_eq!(output.code(), 7, "{what}: {output:?}");
        let followed = follower.end();
        assert!(followed.err().contains("recording continues in"), "{what}: {followed:?}");
        let reported = match what {
            "moved" => "was moved or replaced",
            "cut" => "was cut short",
            _ => "was removed",
        };
        assert!(
            output.err().contains(reported) && output.err().contains("recording continues in"),
            "{what}: {output:?}"
        );
        assert!(found["recording"]["problem"].as_str().is_some_and(|why| why.contains(reported)), "{what}: {found}");
        expect_the_rest(&stage, what, reported, (&found, sent));
    }
}

/// Removes the reel that is being recorded, or does something as bad to it.
fn disturb(stage: &Stage, what: &str) {
    match what {
        "folder" => std::fs::remove_dir_all(stage.path("in")).expect("removed"),
        "file" => std::fs::remove_file(stage.path("in/t.reel")).expect("removed"),
        "replaced" => {
            std::fs::remove_file(stage.path("in/t.reel")).expect("removed");
            std::fs::write(stage.path("in/t.reel"), "").expect("written");
            // Meanwhile the follower sees that the session records to another file, which is no reel.
            std::thread::sleep(Duration::from_millis(700));
        }
        "moved" => std::fs::rename(stage.path("in/t.reel"), stage.path("moved.reel")).expect("moved"),
        _ => File::options().write(true).open(stage.path("in/t.reel")).expect("opened").set_len(0).expect("cut"),
    }
}

/// Recording went on in another reel, which says why and what is missing; `sent` pings were sent in all.
fn expect_the_rest(stage: &Stage, what: &str, reported: &str, (found, sent): (&Value, u64)) {
    let is_taken = matches!(what, "cut" | "replaced");
    let name = if is_taken { "in/t-2.reel" } else { "in/t.reel" };
    assert!(is_taken || reels(stage, "in").last().is_some_and(|last| last == name), "{what}");
    assert_eq!(found["reel"], stage.path(name).canonicalize().expect("there").to_str().expect("text"), "{what}");
    let events = stage.events(name);
    assert!(events[0]["reel"]["notes"]["continues"].as_str().is_some_and(|path| path.ends_with("in/t.reel")));
    let kinds: Vec<&str> = events[1..].iter().filter_map(|event| event["event"].as_str()).collect();
    assert_eq!(kinds[..2], ["stream-opened", "note"], "{what}: {kinds:?}");
    assert_eq!(kinds.last(), Some(&"stream-closed"));
    assert!(events[2]["data"]["reason"].as_str().is_some_and(|reason| reason.contains(reported)), "{}", events[2]);
    let report = stage.run(&["validate", name, "--format", "json"], "").json();
    // The server exits with 7 and does not answer every ping.
    let is_wrong = |finding: &&Value| finding["severity"] == "error" && finding["rule"] != "lifecycle/server-crashed";
    let errors = report["findings"].as_array().expect("a list").iter().filter(is_wrong);
    assert_eq!(errors.count(), 0, "{what}: {report}");
    if what == "moved" {
        assert!(!kinds.contains(&"gap"), "nothing is lost: {kinds:?}");
        stage.ok(&["reel", "verify", "moved.reel"]);
        let both = [stage.cat("moved.reel", "c2s"), stage.cat(name, "c2s")].concat();
        let all: String = (1..=sent).map(|id| format!("{}\n", ping(id))).collect();
        assert_same("both together", &both, all.as_bytes());
    } else {
        assert_eq!(kinds[2], "gap", "{what}: {kinds:?}");
        assert!(events[3]["data"]["events"].as_u64() >= Some(3), "{}", events[3]);
    }
}

#[test]
fn a_reel_that_is_removed_at_the_end_is_reported_too() {
    let stage = Stage::new();
    let script = "cat; rm t.reel; exit 7";
    let output = stage.run(&["record", "-o", "t.reel", "--", "sh", "-c", script], "{}\n");
    assert_eq!((output.code(), output.out().as_str()), (7, "{}\n"));
    assert!(output.err().contains("t.reel was removed") && output.err().contains("are missing in"), "{output:?}");
    stage.ok(&["reel", "verify", "t.reel"]);
}

#[test]
fn validate_follows_a_session_into_its_next_reel() {
    let stage = Stage::new();
    let mut client = stage.start(&["record", "--label", "s", "-o", "t.reel", "--", "cat"]);
    let bad = |id: u64| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": 7}});
    client.send(&bad(1));
    client.line();
    until("the call in the reel", || {
        session(stage.mcpreel(&["sessions"]), "s").filter(|session| session["messages"] == 2)
    });
    let mut follower = stage.start(&["validate", "--follow", "--session", "s", "--format", "json"]);
    let mut finds = |rule: &str| {
        until(rule, || {
            let finding: Value = serde_json::from_str(&follower.line()).expect("JSON");
            (finding["rule"] == rule).then_some(())
        });
    };
    finds("schema/params");
    std::fs::remove_file(stage.path("t.reel")).expect("removed");
    let mut sent = 1;
    until("recording goes on", || {
        sent += 1;
        client.send(&bad(sent));
        client.line();
        session(stage.mcpreel(&["sessions"]), "s")
            .filter(|found| found["recording"]["active"] == true && found["recording"]["problem"].is_string())
    });
    client.send(&bad(sent + 1));
    client.line();
    // The next reel notes what is missing before it.
    finds("stream/not-checked");
    finds("schema/params");
    assert_eq!(client.end().code(), 0);
    let followed = follower.end();
    assert!(followed.err().contains("recording continues in") && followed.code() == 1, "{followed:?}");
}

#[test]
fn a_session_that_goes_on_in_another_reel_keeps_its_client() {
    let stage = Stage::new();
    let answer = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#;
    let script =
        format!("ulimit -f 1600; exec {BINARY} record --label s -o t.reel -- sh -c 'echo \"$0\"; exec cat' '{answer}'");
    let mut client = Live::start(stage.command(&["sh", "-c", &script]));
    client.send(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "my client", "version": "1"}}}));
    let reported = |seen: &Value| (seen["client"].clone(), seen["version"].clone());
    let wanted = (json!("my client"), json!("2025-06-18"));
    until("the client is known", || session(stage.mcpreel(&["sessions"]), "s").filter(|seen| reported(seen) == wanted));
    for line in noise(1_600_000).lines() {
        client.write(format!("{line}\n"));
        client.line();
    }
    let found = until("recording goes on in another reel", || {
        session(stage.mcpreel(&["sessions"]), "s")
            .filter(|seen| seen["reel"].as_str().is_some_and(|reel| !reel.ends_with("/t.reel")))
    });
    assert_eq!(reported(&found), wanted, "{found}");
    assert_eq!(client.end().code(), 0);
}

/// Incompressible bytes, as lines of JSON.
fn noise(bytes: usize) -> String {
    let mut random = vec![0u8; bytes / 2];
    File::open("/dev/urandom").and_then(|mut source| source.read_exact(&mut random)).expect("noise");
    let line = |piece: &[u8]| piece.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    random.chunks(400).map(|piece| format!("{{\"n\":\"{}\"}}\n", line(piece))).collect()
}

#[test]
fn a_limit_of_the_file_size_ends_a_reel_and_not_the_session() {
    let stage = Stage::new();
    let input = noise(3_000_000);
    // In units of 512 bytes: 800 KiB.
    let script = format!("ulimit -f 1600; exec {BINARY} record -o t.reel -- sh -c 'cat; exit 9'");
    let output = finish(stage.command(&["sh", "-c", &script]), input.clone().into_bytes());
    assert_same("the traffic", &output.stdout, input.as_bytes());
    assert_eq!(output.code(), 9, "{output:?}");
    assert!(output.err().contains("file size limit") && output.err().contains("continues in"), "{output:?}");
    let (mut kept, mut lost) = (0, 0);
    let names: Vec<String> = std::fs::read_dir(stage.path("."))
        .expect("there")
        .filter_map(|entry| entry.expect("an entry").file_name().into_string().ok())
        .filter(|name| name.ends_with(".reel"))
        .collect();
    assert!(names.len() > 2, "{names:?}");
    for name in &names {
        let events = stage.events(name);
        kept += events.iter().filter(|event| event["event"] == "message").count() as u64;
        let gaps = events.iter().filter(|event| event["event"] == "gap");
        lost += gaps.filter_map(|gap| gap["data"]["events"].as_u64()).sum::<u64>();
    }
    let all = 2 * input.lines().count() as u64;
    assert_eq!((kept, lost), (all, 0));
}

/// The masks of the signals that programs use; the others belong to the C library.
fn signals(status: &str) -> Vec<u64> {
    let mask = |line: &str| u64::from_str_radix(line.split_whitespace().last()?, 16).ok();
    let masks: Vec<u64> = status.lines().filter_map(mask).map(|mask| mask & 0x7fff_ffff).collect();
    assert_eq!(masks.len(), 3, "{status}");
    masks
}

#[test]
fn a_limit_that_is_too_low_for_anything_does_not_fill_the_folder() {
    let stage = Stage::new();
    for limit in [0, 1, 4] {
        let script = format!("ulimit -f {limit}; exec {BINARY} record -o r{limit}.reel -- sh -c 'cat; exit 9'");
        let input = noise(2_000_000);
        let output = finish(stage.command(&["sh", "-c", &script]), input.clone().into_bytes());
        assert_same("the traffic", &output.stdout, input.as_bytes());
        assert_eq!(output.code(), 9, "{output:?}");
        assert!(output.err().contains("cannot write") && output.err().contains("are missing in"), "{output:?}");
    }
    let names = reels(&stage, ".");
    assert!(names.len() < 10, "{names:?}");
}

#[test]
#[cfg_attr(not(on_linux), ignore = "only Linux says which signals are ignored")]
fn the_server_has_the_signals_that_it_would_have_without_the_tap() {
    let stage = Stage::new();
    for setup in ["", "trap '' XFSZ; ", "trap '' HUP; "] {
        let show = "grep -E 'Sig(Ign|Cgt|Blk)' /proc/self/status";
        let direct = finish(stage.command(&["sh", "-c", &format!("{setup}sh -c \"{show}\"")]), Vec::new());
        let tapped = format!("{setup}exec {BINARY} record -- sh -c \"{show}\"");
        let tapped = finish(stage.command(&["sh", "-c", &tapped]), Vec::new());
        assert_eq!(signals(&tapped.out()), signals(&direct.out()), "{setup}");
    }
    // The limit kills the server, as it would without mcpreel, but not mcpreel.
    let script =
        format!("ulimit -f 100; exec {BINARY} record -o /dev/null -- sh -c 'exec head -c 200000 /dev/zero >big'");
    let output = finish(stage.command(&["sh", "-c", &script]), Vec::new());
    assert_eq!(output.code(), -25, "{output:?}");
}

#[test]
fn a_recording_that_is_required_ends_what_cannot_be_recorded() {
    let stage = Stage::new();
    stage.write("file", "");
    let touch = ["--", "sh", "-c", "touch started; cat"];
    for options in [&["-o", "file/x.reel"][..], &["-o", "file"]] {
        let output = stage.run(&[&["record", "--require-recording"][..], options, &touch].concat(), "");
        assert!([2, 4].contains(&output.code()) && output.err().contains("error"), "{output:?}");
    }
    let output = finish(with_home(&stage, &[&["record", "--require-recording"][..], &touch].concat(), "file"), vec![]);
    // The default folder is used.
    assert_eq!(output.code(), 0, "{output:?}");
    std::fs::remove_file(stage.path("started")).expect("it was");
    let mut command = with_home(&stage, &[&["record", "--require-recording"][..], &touch].concat(), "file");
    command.env("HOME", stage.path("file"));
    let output = finish(command, vec![]);
    assert!(output.code() == 4 && output.err().contains("cannot write"), "{output:?}");
    assert!(!stage.path("started").exists(), "the server was not started");
    // Midway: the server is ended, even if it ignores SIGTERM.
    let script = "trap '' TERM; while read -r line; do echo \"$line\"; done; exec sleep 60";
    for command in [
        &["record", "--require-recording", "-o", "t.reel", "--", "sh", "-c", script][..],
        &["record", "--require-recording", "-o", "t.reel", "--", "cat"],
    ] {
        let mut client = stage.start(command);
        client.send(&ping(1));
        client.line();
        std::fs::remove_file(stage.path("t.reel")).expect("removed");
        until("the end", || {
            let _ = client.try_write(format!("{}\n", ping(2)));
            (!client.is_running()).then_some(())
        });
        let output = client.end();
        assert_eq!(output.code(), 4, "{output:?}");
        assert!(output.err().contains("was removed") && output.err().contains("--require-recording"), "{output:?}");
        let _ = std::fs::remove_file(stage.path("t.reel"));
    }
}

#[test]
fn an_overlay_and_a_server_go_on_without_their_reel_too() {
    let stage = Stage::new();
    stage.write("file", "");
    let mut server = stage.start(&["serve", "--record", "file/x.reel"]);
    server.send(&initialize(1));
    assert_eq!(server.message(|_| true)["id"], 1);
    let output = server.end();
    assert_eq!(output.code(), 0, "{output:?}");
    assert!(output.err().contains("cannot write") && output.err().contains("instead"), "{output:?}");
    let mut served = stage.start(&["serve", "--record", "t.reel"]);
    served.send(&initialize(1));
    assert_eq!(served.message(|_| true)["id"], 1);
    until("the reel", || session(stage.mcpreel(&["sessions"]), "serve").filter(|session| session["messages"] == 2));
    std::fs::remove_file(stage.path("t.reel")).expect("removed");
    let output = served.end();
    assert!(output.code() == 0 && output.err().contains("t.reel was removed"), "{output:?}");
    stage.ok(&["reel", "verify", "t.reel"]);
}

#[test]
fn a_call_says_what_it_is_asked_to_keep_and_cannot() {
    let stage = Stage::new();
    stage.write("file", "");
    let output = stage.run(&["call", "ping", "--record", "file/x.reel", "--", BINARY, "serve"], "");
    assert!(output.code() == 4 && output.err().contains("cannot write"), "{output:?}");
}
