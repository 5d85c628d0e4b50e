//! Tests `mcpreel record` over stdio: whatever happens at one end is visible at the other as if mcpreel were not there,
//! and the reel shows it.

use crate::common::{BINARY, Live, Output, Stage, assert_same, code, finish, lives, until};
use serde_json::Value;

/// A server's loop that only a signal ends.
const FOREVER: &str = "while :; do sleep 0.02; done";

fn sh(script: &str) -> [&str; 3] {
    ["sh", "-c", script]
}

/// `record` with these options in front of a server.
fn tap<'a>(options: &[&'a str], server: &[&'a str]) -> Vec<&'a str> {
    [&["record", "-o", "t.reel"], options, &["--"], server].concat()
}

fn start(stage: &Stage, script: &str) -> Live {
    stage.start(&tap(&[], &sh(script)))
}

/// Runs a server with and without mcpreel on the same input: everything visible must be the same.
fn same_with_and_without(server: &[&str], input: &[u8]) -> (Stage, Output) {
    let stage = Stage::new();
    let direct = finish(stage.command(server), input.to_vec());
    let tapped = stage.run(&tap(&[], server), input);
    assert_same("standard output", &tapped.stdout, &direct.stdout);
    assert_same("standard error", &tapped.stderr, &direct.stderr);
    assert_eq!(tapped.code(), direct.code());
    assert_same("the reel, server to client", &stage.cat("t.reel", "s2c"), &direct.stdout);
    assert_same("the reel, standard error", &stage.cat("t.reel", "stderr"), &direct.stderr);
    stage.ok(&["reel", "verify", "t.reel"]);
    (stage, tapped)
}

/// The server stores its input and sends it back, so both directions are compared with the input.
fn echoes(input: &[u8]) -> Stage {
    let (stage, tapped) = same_with_and_without(&sh("tee got"), input);
    assert_same("what the client got", &tapped.stdout, input);
    assert_same("what the server got", &stage.read("got"), input);
    assert_same("the reel, client to server", &stage.cat("t.reel", "c2s"), input);
    stage
}

fn noise(length: usize) -> Vec<u8> {
    let mut state = 1u32;
    let step = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..length).map(step).collect()
}

#[test]
fn nothing_in_gives_nothing_out() {
    let stage = echoes(b"");
    assert_eq!(stage.info("t.reel")["messages"], serde_json::json!({}));
}

#[test]
fn lines_pass_whatever_they_are() {
    echoes(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n{broken\nnot json at all\n[1,2,\n\"\\ud800\"\n");
    echoes(b"{\"a\":1}\r\n{\"b\":2}\n{\"c\":3}\r\n\r\n");
    echoes(b"{\"a\":1}\nno line end");
    echoes(b"no line end, carriage return\r");
    echoes(b"\n\n{\"a\":1}\n\n\r\n \n\t\n");
    echoes(b"\n");
    echoes(b"\r\r\n\n\r");
}

#[test]
fn bytes_that_are_no_text_pass() {
    echoes(&noise(300_000));
    echoes(b"\0\0\0\n\xff\xfe\n\xc3(\n\xf0\x9f\x98\n");
}

#[test]
fn content_length_frames_pass() {
    let frame = |body: &str| format!("Content-Length: {}\r\n\r\n{body}", body.len());
    let (one, two) = (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "{\"jsonrpc\":\"2.0\",\n\"id\":1,\"result\":{}}");
    echoes([frame(one), frame(two)].concat().as_bytes());
    echoes(frame(one).trim_end_matches('}').as_bytes());
    echoes(b"Content-Length: 99999999999999999999\r\n\r\n{}\n");
    echoes(b"Content-Length: 10\r\n");
    let stage = echoes([frame(one), frame(two)].concat().as_bytes());
    assert_eq!(stage.info("t.reel")["messages"]["request"]["count"], 2, "{}", stage.info("t.reel"));
}

#[test]
fn a_message_of_64_mib_passes() {
    let mut line = br#"{"jsonrpc":"2.0","id":1,"method":"big","params":{"text":""#.to_vec();
    line.resize((64 << 20) - 4, b'x');
    line.extend_from_slice(b"\"}}\n");
    // Like many servers, this one reads a message completely before it answers: both directions share the budget for
    // unfinished messages.
    let (stage, tapped) = same_with_and_without(&sh("cat >got; cat got"), &line);
    assert_same("what the client got", &tapped.stdout, &line);
    assert_same("the reel, client to server", &stage.cat("t.reel", "c2s"), &line);
    assert_eq!(stage.info("t.reel")["methods"]["big"]["bytes"], (2 * ((64 << 20) - 1)) as u64);
}

#[test]
fn standard_error_passes_byte_for_byte() {
    let script = r"printf 'warn\r\n\377\000no end' >&2; echo '{}'; printf '\033[31mred' >&2; exit 12";
    let (_, tapped) = same_with_and_without(&sh(script), b"");
    assert_eq!(tapped.stderr, b"warn\r\n\xff\0no end\x1b[31mred");
}

#[test]
fn exit_codes_pass_through() {
    for wanted in [0, 1, 2, 3, 42, 130, 255] {
        let (stage, tapped) = same_with_and_without(&sh(&format!("exit {wanted}")), b"");
        assert_eq!(tapped.code(), wanted);
        let closed = stage.events("t.reel").pop().expect("events");
        assert_eq!((&closed["event"], &closed["data"]["exit_code"]), (&"stream-closed".into(), &wanted.into()));
    }
}

#[test]
fn an_exit_code_passes_through_where_the_client_ignores_the_ends_of_children() {
    let stage = Stage::new();
    let script = "trap '' CHLD; exec \"$0\" record -o t.reel -- sh -c 'exit 3'";
    let output = finish(stage.command(&["sh", "-c", script, env!("CARGO_BIN_EXE_mcpreel")]), Vec::new());
    assert_eq!(output.code(), 3, "{output:?}");
    assert_eq!(stage.events("t.reel").pop().expect("events")["data"]["exit_code"], 3);
}

#[test]
fn a_death_by_signal_is_a_death_by_signal() {
    for (name, number) in [("KILL", 9), ("TERM", 15), ("SEGV", 11), ("ABRT", 6), ("USR1", 10), ("PIPE", 13)] {
        let (stage, tapped) = same_with_and_without(&sh(&format!("echo said; kill -s {name} $$")), b"");
        assert_eq!(tapped.code(), -number, "{name}");
        let closed = stage.events("t.reel").pop().expect("events");
        assert_eq!(closed["data"]["signal"], number, "{name}");
    }
}

#[test]
fn signals_to_the_tap_reach_the_server() {
    let others = ["ALRM", "VTALRM", "PROF", "URG", "CONT", "ABRT"].map(|name| (name, 19));
    for (name, wanted) in
        [("TERM", 7), ("USR1", 9), ("INT", 11), ("HUP", 13), ("USR2", 15), ("QUIT", 17)].into_iter().chain(others)
    {
        let stage = Stage::new();
        let mut tap = start(&stage, &format!("trap 'echo got; exit {wanted}' {name}; echo ready; {FOREVER}"));
        assert_eq!(tap.line(), "ready");
        tap.signal(name);
        assert_eq!(tap.line(), "got", "{name}");
        assert_eq!(tap.end_with_open_stdin().code(), wanted, "{name}");
    }
}

#[test]
fn a_signal_that_the_server_survives_leaves_both_alive() {
    let stage = Stage::new();
    let mut tap = start(&stage, &format!("trap 'echo got' TERM; trap 'exit 3' USR1; echo ready; {FOREVER}"));
    assert_eq!(tap.line(), "ready");
    for _ in 0..3 {
        tap.signal("TERM");
        assert_eq!(tap.line(), "got");
    }
    assert!(tap.is_running());
    tap.signal("USR1");
    assert_eq!(tap.end_with_open_stdin().code(), 3);
    let shown = stage.run(&["show", "t.reel"], "");
    for (signal, times) in [("signal 15 from process ", 3), ("signal 10 from process ", 1), ("signal 1 from", 0)] {
        assert_eq!(shown.out().matches(signal).count(), times, "{shown:?}");
    }
}

#[test]
fn the_client_closes_its_end_and_the_server_sees_it() {
    let stage = Stage::new();
    let mut tap = start(&stage, "cat; echo 'saw the end'; exit 3");
    tap.write("{\"a\":1}\n");
    assert_eq!(tap.line(), "{\"a\":1}");
    tap.close_stdin();
    assert_eq!(tap.line(), "saw the end");
    assert_eq!(tap.end().code(), 3);
}

#[test]
fn the_server_exits_first_and_the_client_sees_it() {
    let stage = Stage::new();
    let mut tap = start(&stage, "echo bye; exit 5");
    assert_eq!(tap.line(), "bye");
    assert_eq!(tap.next_line(), None);
    assert_eq!(tap.end_with_open_stdin().code(), 5);
}

#[test]
fn the_server_closes_its_output_and_lives_on() {
    let stage = Stage::new();
    let mut tap = start(&stage, "echo hi; exec >&-; read line; printf '%s' \"$line\" > got; exit 4");
    assert_eq!(tap.line(), "hi");
    assert_eq!(tap.next_line(), None);
    assert!(tap.is_running());
    tap.write("still heard\n");
    assert_eq!(tap.end_with_open_stdin().code(), 4);
    assert_eq!(stage.read("got"), b"still heard");
}

#[test]
fn the_server_closes_its_input_and_the_client_cannot_write() {
    let stage = Stage::new();
    let mut tap = start(&stage, "exec <&-; echo closed; while [ ! -e stop ]; do sleep 0.02; done; exit 6");
    assert_eq!(tap.line(), "closed");
    let error = until("a write that fails", || tap.try_write("{}\n").err());
    assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
    assert!(tap.is_running());
    stage.write("stop", "");
    assert_eq!(tap.end().code(), 6);
}

#[test]
fn the_client_closes_its_reading_end_and_the_server_is_reported() {
    let stage = Stage::new();
    let script = "trap '' PIPE; while echo line 2>/dev/null; do sleep 0.01; done; exit 8";
    let mut command = stage.mcpreel(&tap(&[], &sh(script)));
    let mut child = command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut child = {
        child = child.stderr(std::process::Stdio::null());
        child.spawn().expect("starts")
    };
    drop(child.stdout.take());
    let status = until("the end", || child.try_wait().expect("a child"));
    assert_eq!(code(status), 8);
}

#[test]
fn a_server_deaf_to_the_end_of_input_still_gets_the_signal() {
    let stage = Stage::new();
    let mut tap = start(&stage, &format!("cat >/dev/null; echo deaf; {FOREVER}"));
    tap.close_stdin();
    assert_eq!(tap.line(), "deaf");
    assert!(tap.is_running());
    tap.signal("TERM");
    assert_eq!(tap.end().code(), -15);
}

#[test]
fn a_child_that_the_server_leaves_behind_does_not_hold_the_tap() {
    let stage = Stage::new();
    // Removed with the stage.
    stage.write("here", "");
    let script = "(trap '' HUP; while [ -e here ]; do sleep 0.02; done) & echo left; exit 2";
    let mut tap = start(&stage, script);
    assert_eq!(tap.line(), "left");
    assert_eq!(tap.end().code(), 2);
}

#[test]
fn a_killed_tap_leaves_no_server_and_a_reel_that_can_be_made_whole() {
    let stage = Stage::new();
    let mut tap = start(&stage, &format!("echo $$; {FOREVER}"));
    tap.write("{\"jsonrpc\":\"2.0\",\"method\":\"hello\"}\n");
    let server: i32 = tap.line().parse().expect("a process id");
    assert!(lives(server));
    until("both messages in the reel", || {
        let written =
            stage.path("t.reel").exists().then(|| stage.run(&["reel", "info", "t.reel", "--format", "json"], ""))?;
        let info: Value = serde_json::from_slice(&written.stdout).ok()?;
        (info["kinds"]["message"]["count"] == 2).then_some(())
    });
    tap.signal("KILL");
    assert_eq!(tap.end_with_open_stdin().code(), -9);
    until("the server's end", || (!lives(server)).then_some(()));
    let shown = stage.run(&["show", "t.reel", "--format", "json"], "");
    assert!(shown.out().contains("hello"), "{shown:?}");
    let verified = stage.run(&["reel", "verify", "t.reel"], "");
    match verified.code() {
        0 => {
            assert!(verified.out().contains("no index"), "{verified:?}");
            assert!(shown.err().contains("its recorder was killed"), "{shown:?}");
        }
        1 => assert!(verified.out().contains("cut"), "{verified:?}"),
        _ => panic!("{verified:?}"),
    }
    stage.ok(&["reel", "repair", "t.reel"]);
    let repaired = stage.ok(&["reel", "verify", "t.reel"]);
    assert!(!repaired.out().contains("no index"), "{repaired:?}");
    assert_eq!(stage.info("t.reel")["indexed"], true);
    assert_eq!(stage.cat("t.reel", "c2s"), b"{\"jsonrpc\":\"2.0\",\"method\":\"hello\"}\n");
}

#[test]
fn a_tap_killed_in_the_middle_of_a_flood_leaves_a_reel_that_can_be_made_whole() {
    let stage = Stage::new();
    let mut tap = start(&stage, "exec yes '{\"jsonrpc\":\"2.0\",\"method\":\"flood\"}'");
    for _ in 0..50_000 {
        tap.line();
    }
    until("some of it in the reel", || (stage.path("t.reel").metadata().ok()?.len() > 1000).then_some(()));
    tap.signal("KILL");
    tap.end_unread();
    let verified = stage.run(&["reel", "verify", "t.reel"], "");
    assert!(verified.code() <= 1 && verified.out().contains("no index"), "{verified:?}");
    stage.ok(&["reel", "repair", "t.reel", "-o", "mended.reel"]);
    stage.ok(&["reel", "verify", "mended.reel"]);
    let line = b"{\"jsonrpc\":\"2.0\",\"method\":\"flood\"}\n";
    let kept = stage.cat("mended.reel", "s2c");
    assert!(kept.len() >= line.len() && kept.chunks(line.len()).all(|found| line.starts_with(found)), "whole lines");
}

#[test]
fn a_torn_tail_is_named_and_repaired() {
    let (stage, _) = same_with_and_without(&["cat"], b"{\"a\":1}\n");
    let whole = stage.read("t.reel");
    // A killed writer: the last bytes of a segment are missing, and the index with its trailer.
    let magic = [0xd7, b'S', b'G', 0x8e];
    let segments: Vec<usize> = (0..whole.len()).filter(|at| whole[*at..].starts_with(&magic)).collect();
    let footer = *segments.last().expect("a footer");
    stage.write("torn.reel", &whole[..footer - 1]);
    let verified = stage.run(&["reel", "verify", "torn.reel"], "");
    assert_eq!(verified.code(), 1);
    assert!(verified.out().contains("the last segment is incomplete"), "{verified:?}");
    stage.ok(&["reel", "repair", "torn.reel", "-o", "mended.reel"]);
    stage.ok(&["reel", "verify", "mended.reel"]);
    assert_eq!(stage.info("mended.reel")["kinds"]["gap"]["count"], 1);
}

#[test]
fn label_and_notes_are_in_the_reel() {
    let stage = Stage::new();
    let options = ["--label", "nightly \"x\"", "--note", "build=12=34", "--note", "who=me"];
    assert_eq!(stage.run(&tap(&options, &["true"]), "").code(), 0);
    let info = stage.info("t.reel");
    assert_eq!(info["label"], "nightly \"x\"");
    assert_eq!(info["notes"], serde_json::json!({"build": "12=34", "who": "me"}));
    let refused = stage.run(&["record", "--note", "no value", "-o", "u.reel", "--", "true"], "");
    assert_eq!(refused.code(), 2);
    assert!(!stage.path("u.reel").exists());
}

#[test]
fn secrets_in_the_command_line_are_not_in_the_reel() {
    let stage = Stage::new();
    let (one, two, three) = ("hunter2hunter2", "ghp_aaaabbbbccccdddd", "sekrit-password");
    let url = format!("postgres://me:{three}@db/x");
    let token = format!("--api-key={one}");
    let server = ["sh", "-c", "printf %s \"$KEY\" > env", "sh", &token, "--token", one, two, &url];
    let environment = "KEY=env-sekrit-value";
    let output = stage.run(&tap(&["-e", environment, "--cwd", "."], &server), "");
    assert_eq!(output.code(), 0, "{output:?}");
    assert_eq!(stage.read("env"), b"env-sekrit-value", "the server has it");
    let (raw, exported) = (stage.read("t.reel"), stage.ok(&["export", "t.reel"]).stdout);
    let decoded = stage.ok(&["show", "t.reel", "--full"]).stdout;
    for secret in [one, two, three, "env-sekrit-value"] {
        for (name, bytes) in [("the file", &raw), ("the export", &exported), ("the payloads", &decoded)] {
            let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!found, "{secret} is in {name}");
        }
    }
    let opened = &stage.events("t.reel")[1];
    assert_eq!(opened["data"]["env"], serde_json::json!(["KEY"]));
    assert_eq!(opened["data"]["command"][3], "sh");
}

#[test]
fn without_a_name_the_reel_goes_where_state_is_kept() {
    let stage = Stage::new();
    let run = |home: bool| {
        let mut command = stage.mcpreel(&["record", "--", "cat"]);
        if !home {
            command.env_remove("MCPREEL_HOME");
        }
        assert_eq!(finish(command, b"{}\n".to_vec()).code(), 0);
    };
    let reels = |folder: &str| -> Vec<String> {
        let entries = std::fs::read_dir(stage.path(folder)).expect("a folder");
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
    };
    run(false);
    let found = reels("state/mcpreel");
    assert!(found.len() == 1 && found[0].contains("-cat-") && found[0].ends_with(".reel"), "{found:?}");
    run(true);
    assert_eq!(reels("mcpreel/reels").len(), 1);
    let shown = stage.ok(&["show", "--raw", "dir:s2c"]);
    assert_eq!(shown.out(), "{}\n", "the newest is shown");
}

#[test]
fn a_reel_is_the_users_only() {
    use std::os::unix::fs::PermissionsExt;
    let (stage, _) = same_with_and_without(&["true"], b"");
    let mode = std::fs::metadata(stage.path("t.reel")).expect("a reel").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_reel_that_is_there_is_not_overwritten_unless_asked() {
    let stage = Stage::new();
    stage.write("t.reel", "precious");
    // A script; what a client gets is tested in `recordings.rs`.
    let script = format!("exec {} record -o t.reel -- cat </dev/null", BINARY);
    let refused = stage.command(&sh(&script)).output().expect("run");
    assert_eq!((refused.status.code(), &refused.stdout[..]), (Some(2), &b""[..]));
    let reported = String::from_utf8_lossy(&refused.stderr);
    assert!(reported.contains("already exists") && reported.contains("--force"), "{refused:?}");
    assert_eq!(stage.read("t.reel"), b"precious");
    assert_eq!(stage.run(&tap(&["--force"], &["cat"]), "{}\n").code(), 0);
    assert_eq!(stage.cat("t.reel", "c2s"), b"{}\n");
}

#[test]
fn the_reel_can_go_to_standard_output_where_there_is_no_client() {
    let stage = Stage::new();
    let output = stage.run(&["record", "-o", "-", "--", "sh", "-c", "cat; exit 3"], "{\"id\":1}\n{\"id\":2}\n");
    assert_eq!(output.code(), 3, "{output:?}");
    stage.write("o.reel", &output.stdout);
    assert_eq!(stage.ok(&["reel", "verify", "o.reel"]).code(), 0);
    for stream in ["c2s", "s2c"] {
        assert_same(stream, &stage.cat("o.reel", stream), b"{\"id\":1}\n{\"id\":2}\n");
    }
    let shown = stage.run(&["show", "-"], &output.stdout);
    assert!(shown.out().contains("stream-closed exit_code 3"), "{shown:?}");
}

#[test]
fn the_reel_can_go_to_another_descriptor() {
    let stage = Stage::new();
    let script = format!("exec {} record -o /dev/fd/3 -- cat 3>piped.reel", BINARY);
    let output = finish(stage.command(&sh(&script)), b"{\"a\":1}\n".to_vec());
    assert_eq!((output.code(), &output.stdout[..]), (0, &b"{\"a\":1}\n"[..]), "{output:?}");
    assert_eq!(stage.cat("piped.reel", "c2s"), b"{\"a\":1}\n");
}

#[test]
fn a_server_that_cannot_be_started_leaves_no_reel() {
    let stage = Stage::new();
    stage.write("plain.txt", "not a program");
    let cases = [
        (vec!["no-such-program-anywhere"], "no program"),
        (vec!["./plain.txt"], "cannot be run"),
        (vec!["./missing"], "cannot be run"),
    ];
    for (server, reported) in cases {
        let output = stage.run(&tap(&[], &server), "");
        assert_eq!(output.code(), 4, "{output:?}");
        assert!(output.err().contains(reported), "{output:?}");
        assert!(!stage.path("t.reel").exists(), "{server:?}");
    }
    let output = stage.run(&tap(&["--cwd", "no-folder"], &["true"]), "");
    assert_eq!(output.code(), 4, "{output:?}");
    assert!(!stage.path("t.reel").exists());
    let nothing = stage.run(&["record", "-o", "t.reel"], "");
    assert_eq!(nothing.code(), 2, "{nothing:?}");
    assert!(!stage.path("t.reel").exists());
}

#[test]
fn a_full_disk_does_not_touch_the_traffic() {
    let stage = Stage::new();
    let input: Vec<u8> = (0..20_000).flat_map(|id| format!("{{\"id\":{id}}}\n").into_bytes()).collect();
    let output = stage.run(&["record", "-o", "/dev/full", "--", "sh", "-c", "cat; exit 9"], &input);
    assert_same("the traffic", &output.stdout, &input);
    assert_eq!(output.code(), 9, "{output:?}");
    assert_eq!(output.err().matches("cannot write").count(), 1, "{output:?}");
}

#[test]
fn a_file_that_takes_no_more_costs_only_what_did_not_fit_and_that_is_counted() {
    let stage = Stage::new();
    // Incompressible, so that the limit is reached soon.
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let input: String = noise(1_200_000).chunks(400).map(|piece| format!("{{\"n\":\"{}\"}}\n", hex(piece))).collect();
    // A file may grow to 512 KiB, which is some segments. For a descriptor, the limit is not checked in advance.
    let script = format!("ulimit -f 1024; exec {} record -o /dev/fd/3 -- sh -c 'cat; exit 9' 3>t.reel", BINARY);
    let output = finish(stage.command(&sh(&script)), input.clone().into_bytes());
    assert_same("the traffic", &output.stdout, input.as_bytes());
    assert_eq!(output.code(), 9, "{output:?}");
    assert_eq!(output.err().matches("cannot write").count(), 1, "{output:?}");
    let entries = std::fs::read_dir(stage.path("mcpreel/reels")).expect("the others");
    let others = entries.map(|entry| format!("mcpreel/reels/{}", entry.expect("an entry").file_name().display()));
    let names: Vec<String> = std::iter::once("t.reel".to_owned()).chain(others).collect();
    let (mut kept, mut lost) = (0, 0);
    for name in &names {
        assert!(stage.run(&["reel", "verify", name], "").code() <= 1, "the index may be what does not fit");
        let events = stage.events_of_any(name);
        let messages = events.iter().filter(|event| event["event"] == "message").count();
        let gaps: Vec<&Value> = events.iter().filter(|event| event["event"] == "gap").collect();
        lost += gaps.iter().filter_map(|gap| gap["data"]["events"].as_u64()).sum::<u64>();
        kept += messages as u64;
        let info = stage.info(name);
        assert_eq!(info["kinds"]["message"]["count"], messages, "the index counts what is there");
        assert_eq!(info["events"], events.len() - 1);
    }
    // 3,000 lines in each direction.
    assert_eq!(kept + lost, 6_000, "{kept} kept, {lost} counted as lost");
    assert!(kept > 3_000, "{kept} of 6,000 kept");
}

#[test]
fn an_overloaded_recorder_loses_nothing_of_the_traffic_and_counts_what_it_did_not_keep() {
    let stage = Stage::new();
    let line = r#"{"jsonrpc":"2.0","method":"notifications/flood","params":{"text":"0123456789"}}"#;
    let script = format!("yes '{line}' | head -c 20000000");
    let direct = finish(stage.command(&sh(&script)), Vec::new());
    let options = ["--on-overload", "drop", "--queue-bytes", "1000"];
    let tapped = stage.run(&tap(&options, &sh(&script)), "");
    assert_same("the traffic", &tapped.stdout, &direct.stdout);
    assert_eq!(tapped.code(), 0);
    stage.ok(&["reel", "verify", "t.reel"]);
    let events = stage.events("t.reel");
    let lost: u64 =
        events.iter().filter(|event| event["event"] == "gap").filter_map(|gap| gap["data"]["bytes"].as_u64()).sum();
    let kept = stage.cat("t.reel", "s2c").len() as u64;
    assert_eq!(kept + lost, direct.stdout.len() as u64, "{lost} counted as lost");
    assert_eq!(lost > 0, tapped.err().contains("are missing in"), "{tapped:?}");
}

#[test]
fn a_small_queue_that_blocks_loses_nothing_at_all() {
    let stage = Stage::new();
    let script = "yes '{\"jsonrpc\":\"2.0\",\"method\":\"m\"}' | head -c 3000000";
    let direct = finish(stage.command(&sh(script)), Vec::new());
    let tapped = stage.run(&tap(&["--queue-bytes", "1000"], &sh(script)), "");
    assert_same("the traffic", &tapped.stdout, &direct.stdout);
    assert_same("the reel", &stage.cat("t.reel", "s2c"), &direct.stdout);
}

#[test]
fn a_tap_in_front_of_a_tap_is_still_transparent() {
    let stage = Stage::new();
    let inner = [BINARY, "record", "-o", "inner.reel", "--", "sh", "-c", "cat; echo err >&2; exit 21"];
    let output = stage.run(&tap(&[], &inner), "{\"a\":1}\n");
    assert_eq!((output.code(), &output.stdout[..], &output.stderr[..]), (21, &b"{\"a\":1}\n"[..], &b"err\n"[..]));
    assert_eq!(stage.cat("t.reel", "s2c"), stage.cat("inner.reel", "s2c"));
}

#[test]
fn a_reel_that_is_being_written_is_left_alone_by_others() {
    let stage = Stage::new();
    let mut live = stage.start(&["record", "-o", "live.reel", "--", "cat"]);
    live.write(b"{\"jsonrpc\":\"2.0\",\"method\":\"one\"}\n");
    until("a segment", || stage.path("live.reel").metadata().ok().filter(|about| about.len() > 100).map(|_| ()));
    for words in [
        vec!["reel", "compact", "live.reel"],
        vec!["reel", "repair", "live.reel"],
        vec!["reel", "index", "live.reel"],
        vec!["record", "--force", "-o", "live.reel", "--", "true"],
    ] {
        let output = stage.mcpreel(&words).stdin(std::process::Stdio::null()).output().expect("run");
        assert_eq!(output.status.code(), Some(2), "{words:?}: {output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("is being written"), "{words:?}: {output:?}");
    }
    live.write(b"{\"jsonrpc\":\"2.0\",\"method\":\"two\"}\n");
    let ended = live.end();
    assert_eq!(ended.code(), 0, "{ended:?}");
    let shown = stage.ok(&["show", "live.reel"]).out();
    assert!(shown.contains("one") && shown.contains("two"), "{shown}");
}

#[test]
fn a_slow_client_gets_all_of_a_dead_servers_output() {
    let stage = Stage::new();
    // Far more than pipes can hold, from a server that exits before the client reads.
    let script = "mcpreel=$1; shift; \"$mcpreel\" record -o r.reel -- sh -c 'head -c 600000 /dev/zero | tr \"\\0\" x; exit 3' \
        < /dev/null | { sleep 1; wc -c; }";
    let output = finish(stage.command(&["sh", "-c", script, "sh", env!("CARGO_BIN_EXE_mcpreel")]), Vec::new());
    assert_eq!(output.out().trim(), "600000", "{output:?}");
}
