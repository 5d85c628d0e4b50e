//! Tests what a server behind `record` inherits from the process that started mcpreel, and what mcpreel makes of it for
//! itself: the parent, the signals, the umask.

use crate::common::{BINARY, Live, Stage, finish, lives, until};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;

/// A server that leaves when it gets another parent, like many that watch it.
const WATCHING: &str = r#"
parent() { cut -d' ' -f4 /proc/$$/stat; }
first=$(parent)
echo $$ >server.tmp && mv server.tmp server
while [ "$(parent)" = "$first" ]; do sleep 0.02; done
echo >left
"#;
/// A server that does not watch its parent, and answers until its input ends.
const PATIENT: &str = r#"
echo $$ >server.tmp && mv server.tmp server
while read -r line; do echo "got $line"; done
"#;
/// Starts the rest of its words and waits.
const WAITING: &str = r#"exec 3<&0; "$@" <&3 & wait"#;

/// A client whose launcher is this script: it starts the server, with mcpreel in front of it or without.
fn launched(stage: &Stage, launcher: &str, server: &str, with_tap: bool) -> Live {
    let tap: &[&str] = if with_tap { &[BINARY, "record", "-o", "t.reel", "--"] } else { &[] };
    let words = [&["sh", "-c", launcher, "sh"], tap, &["sh", "-c", server]].concat();
    Live::start(stage.command(&words))
}

fn server_pid(stage: &Stage) -> i32 {
    let read = || std::fs::read_to_string(stage.path("server")).ok()?.trim().parse().ok();
    until("the server runs", read)
}

fn closed(stage: &Stage) -> Value {
    until("the reel is complete", || {
        let verified = stage.run(&["reel", "verify", "t.reel"], "");
        let last = stage.events_of_any("t.reel").pop().filter(|_| verified.code() == 0)?;
        (last["event"] == "stream-closed").then_some(last)
    })
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "it reads /proc")]
fn a_server_that_watches_its_parent_leaves_when_the_client_is_killed() {
    for with_tap in [false, true] {
        let stage = Stage::new();
        // The test holds the pipes, as a helper of a killed client would.
        let client = launched(&stage, WAITING, WATCHING, with_tap);
        let server = server_pid(&stage);
        assert!(!stage.path("left").exists());
        client.signal("KILL");
        until("the server has left", || (stage.path("left").exists() && !lives(server)).then_some(()));
        if with_tap {
            let last = closed(&stage);
            assert_eq!((&last["data"]["exit_code"], &last["data"]["by"]), (&Value::Null, &"server exit".into()));
        }
        client.end_unread();
    }
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "it reads /proc")]
fn a_server_that_does_not_watch_its_parent_stays_when_the_client_is_killed() {
    for with_tap in [false, true] {
        let stage = Stage::new();
        let mut client = launched(&stage, WAITING, PATIENT, with_tap);
        let server = server_pid(&stage);
        client.signal("KILL");
        until("the client is gone", || (!client.is_running()).then_some(()));
        client.write("one\n");
        assert_eq!(client.line(), "got one");
        client.close_stdin();
        until("the server has ended", || (!lives(server)).then_some(()));
        client.end_unread();
        if with_tap {
            closed(&stage);
            assert_eq!(stage.cat("t.reel", "s2c"), b"got one\n");
        }
    }
}

/// Near misses: these launchers exit on purpose, and their servers stay.
#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "setsid is a tool of Linux")]
fn a_session_whose_launcher_exits_on_purpose_keeps_its_server() {
    for launcher in [
        r#"exec 3<&0; "$@" <&3 &"#,
        r#"exec 3<&0; nohup "$@" <&3 &"#,
        r#"exec 3<&0; setsid "$@" <&3 &"#,
        r#"exec 3<&0; ("$@" <&3 &)"#,
        r#"exec 3<&0; (setsid sh -c '"$@" <&3 &' sh "$@") "#,
        r#"exec "$@""#,
        r#"sh -c '"$@"; exit' sh "$@""#,
    ] {
        let stage = Stage::new();
        let mut client = launched(&stage, launcher, PATIENT, true);
        server_pid(&stage);
        if launcher.contains('&') && !launcher.starts_with("sh") {
            until("the launcher is gone", || (!client.is_running()).then_some(()));
        }
        for number in 0..3 {
            client.write(format!("{number}\n"));
            assert_eq!(client.line(), format!("got {number}"), "{launcher}");
        }
        client.close_stdin();
        closed(&stage);
        client.end_unread();
    }
}

/// A session whose launcher stays notices nothing: the server's status is the exit code.
#[test]
fn a_servers_status_passes_its_parent() {
    let stage = Stage::new();
    for (script, code) in [("exit 7", 7), ("kill -TERM $$", -15), ("kill -KILL $$", -9), ("exit 0", 0)] {
        let output = stage.run(&["record", "-o", "t.reel", "--force", "--", "sh", "-c", script], "");
        assert_eq!(output.code(), code, "{script}: {output:?}");
    }
    let output = stage.run(&["record", "-o", "t.reel", "--force", "--", "./bad"], "");
    assert_eq!(output.code(), 4, "{output:?}");
    std::fs::write(stage.path("bad"), "#!/no/such/interpreter\n").expect("written");
    std::fs::set_permissions(stage.path("bad"), PermissionsExt::from_mode(0o755)).expect("its mode");
    let request = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}\n";
    let output = stage.run(&["record", "-o", "t.reel", "--force", "--", "./bad"], request);
    assert_eq!(output.code(), 127, "{output:?}");
    assert!(output.out().contains("cannot start the server"), "{output:?}");
}

/// What a client has sent before the server runs comes first in the reel, even if the server speaks without being asked.
#[test]
fn what_the_client_sent_first_comes_first_in_the_reel() {
    for _ in 0..10 {
        let stage = Stage::new();
        let request = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
        let answer = "echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}'; cat >/dev/null";
        let mut command = stage.command(&["sh", "-c", "cat >in; \"$@\" <in", "sh", BINARY]);
        command.args(["record", "-o", "t.reel", "--", "sh", "-c", answer]);
        finish(command, request.into());
        let directions: Vec<Value> = stage
            .events("t.reel")
            .into_iter()
            .filter(|event| event["event"] == "message")
            .map(|event| event["dir"].clone())
            .collect();
        assert_eq!(directions, ["c2s", "s2c"]);
    }
}

/// What a server ignores, as `/proc` says it, with and without mcpreel.
#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "it reads /proc")]
fn a_server_ignores_what_the_client_wanted_to_be_ignored() {
    for ignored in ["PIPE", "HUP", "USR1", "XFSZ", "PIPE HUP INT QUIT TERM USR2 ALRM", ""] {
        let stage = Stage::new();
        let trap = if ignored.is_empty() { String::new() } else { format!("trap '' {ignored}; ") };
        let script = format!("{trap}exec \"$@\"");
        let server = ["sh", "-c", "grep SigIgn /proc/self/status"];
        let seen = |words: &[&str]| {
            let output = finish(stage.command(&[&["sh", "-c", &script, "sh"], words].concat()), Vec::new());
            let text = output.out();
            let mask = text.trim().strip_prefix("SigIgn:").map(|mask| u64::from_str_radix(mask.trim(), 16));
            // Two signals of the C library's own follow.
            mask.expect("a mask").expect("a number") & 0x7fff_ffff
        };
        let direct = seen(&server);
        assert_eq!(
            seen(&[&[BINARY, "record", "-o", "t.reel", "--force", "--"], &server[..]].concat()),
            direct,
            "{ignored}"
        );
    }
}

#[test]
fn a_strange_umask_makes_nothing_useless() {
    let stage = Stage::new();
    let mode = |name: &str| std::fs::metadata(stage.path(name)).expect("there").permissions().mode() & 0o777;
    let record = |umask: &str, options: &[&str]| {
        let script = format!("umask {umask}; exec \"$@\"");
        let words = [&["sh", "-c", &script, "sh", BINARY, "record"], options, &["--", "sh", "-c", "umask"]].concat();
        let output = finish(stage.command(&words), Vec::new());
        assert_eq!((output.code(), output.out().trim()), (0, format!("0{umask}").as_str()), "{output:?}");
        assert!(!output.err().contains("cannot"), "{output:?}");
    };
    for umask in ["577", "777", "277", "077", "022"] {
        let _ = std::fs::remove_dir_all(stage.path("mcpreel"));
        record(umask, &[]);
        assert_eq!((mode("mcpreel"), mode("mcpreel/reels")), (0o700, 0o700), "umask {umask}");
        let reel = std::fs::read_dir(stage.path("mcpreel/reels")).expect("read").next().expect("one").expect("read");
        assert_eq!(mode(&format!("mcpreel/reels/{}", reel.file_name().display())), 0o600, "umask {umask}");
        record(umask, &["-o", "named.reel", "--force"]);
        assert_eq!(mode("named.reel") & 0o600, 0o600, "umask {umask}");
        std::fs::remove_file(stage.path("named.reel")).expect("removed");
        record(umask, &["-o", "{label}/deep/x.reel", "--label", umask]);
        assert_eq!(mode(&format!("{umask}/deep")) & 0o700, 0o700, "umask {umask}");
    }
    // A folder that an earlier version left useless is mended; one that is only open to others stays as it is.
    for (before, after) in [(0o200, 0o700), (0o755, 0o755)] {
        std::fs::set_permissions(stage.path("mcpreel/reels"), PermissionsExt::from_mode(before)).expect("its mode");
        record("077", &[]);
        assert_eq!(mode("mcpreel/reels"), after);
    }
}
