//! Memory attacks at a small scale: peers that send endlessly, and reels that are made to exhaust memory.
//!
//! `benches/memory_attacks.py` runs the first kind at full scale.

use crate::common::{LIMIT, Live, Output, Stage, finish, until};
use serde_json::{Value, json};
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

const MIB: usize = 1 << 20;
/// The memory that a command allocates for itself, built without optimisation, with some MiB to spare.
const BASE: usize = 32 * MIB;
/// A server that endlessly sends the same letter on one line.
const ENDLESS: [&str; 3] = ["sh", "-c", "exec tr '\\0' x </dev/zero"];

/// The most memory that a process has allocated until now, in bytes; 0 if it is gone.
///
/// Pages of files do not count: how many of the binary's 200 MB are in memory is chance.
fn peak(pid: i32) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let bytes = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("0 kB");
        line.trim().trim_end_matches(" kB").parse::<usize>().expect("a number") << 10
    };
    bytes("RssAnon:").max(bytes("VmHWM:").saturating_sub(bytes("RssFile:")))
}

/// Runs a command to its end, and returns its process's peak memory.
pub(crate) fn watched(mut command: Command, stdin: impl Into<Vec<u8>>) -> (Output, usize) {
    // The shell writes its process id and then becomes the command.
    let mut words = vec!["sh".to_owned(), "-c".to_owned(), "echo $$ >pid; exec \"$@\"".to_owned(), "sh".to_owned()];
    words.push(command.get_program().to_string_lossy().into_owned());
    words.extend(command.get_args().map(|word| word.to_string_lossy().into_owned()));
    let folder = command.get_current_dir().expect("a stage").to_owned();
    let mut shell = Command::new("sh");
    shell.args(&words[1..]).current_dir(&folder).env_clear();
    for (name, value) in command.get_envs() {
        shell.env(name, value.expect("a value"));
    }
    command = shell;
    let (most, is_over) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let (seen, over, file) = (Arc::clone(&most), Arc::clone(&is_over), folder.join("pid"));
    let _ = std::fs::remove_file(&file);
    let follower = thread::spawn(move || {
        while !over.load(Ordering::Acquire) {
            if let Ok(pid) = std::fs::read_to_string(&file).unwrap_or_default().trim().parse() {
                seen.fetch_max(peak(pid), Ordering::AcqRel);
            }
            thread::sleep(Duration::from_millis(2));
        }
    });
    let output = finish(command, stdin.into());
    is_over.store(true, Ordering::Release);
    follower.join().expect("ends");
    (output, most.load(Ordering::Acquire))
}

pub(crate) fn within(what: &str, peak: usize, bound: usize) {
    assert!(peak < bound, "{what}: {} MiB, more than {}", peak / MIB, bound / MIB);
}

/// A listening command and its port.
fn listening(stage: &Stage, arguments: &[&str]) -> (Live, u16) {
    let live = stage.start(arguments);
    let port = until("it listens", || {
        let said = live.stderr_so_far();
        let place = said.split("127.0.0.1:").nth(1)?;
        place.split(|found: char| !found.is_ascii_digit()).next()?.parse().ok()
    });
    (live, port)
}

fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port)).expect("connected");
    stream.set_read_timeout(Some(LIMIT)).expect("set");
    // When no one reads any more, the attack is over.
    stream.set_write_timeout(Some(Duration::from_millis(500))).expect("set");
    stream
}

/// Whether a write succeeded or only had to wait.
trait Blocked {
    fn is_ok_or_blocked(&self) -> bool;
}

impl Blocked for std::io::Result<()> {
    fn is_ok_or_blocked(&self) -> bool {
        self.as_ref().err().is_none_or(|error| error.kind() == ErrorKind::WouldBlock)
    }
}

/// Reads an HTTP head, and nothing after it.
fn head(stream: &mut TcpStream) -> String {
    let (mut read, mut byte) = (Vec::new(), [0]);
    while !read.ends_with(b"\r\n\r\n") && stream.read(&mut byte).expect("readable") > 0 {
        read.push(byte[0]);
    }
    String::from_utf8_lossy(&read).into_owned()
}

/// Sends 64 MiB of pings and reads nothing.
fn ping_without_end(stream: &mut TcpStream, is_masked: bool) {
    let head: &[u8] = if is_masked { &[0x89, 0xfd, 0, 0, 0, 0] } else { &[0x89, 125] };
    let pings = [head, &[b'p'; 125]].concat().repeat(4096);
    for _ in 0..64 * MIB / pings.len() {
        if stream.write_all(&pings).is_err() {
            return;
        }
    }
}

#[test]
fn answers_to_pings_that_nobody_reads_do_not_gather() {
    let stage = Stage::new();
    for words in [&["record", "--listen", "0", "-o", "t.reel", "--", "cat"][..], &["serve", "--listen", "0"]] {
        let (live, port) = listening(&stage, words);
        let mut stream = connect(port);
        let asked = format!(
            "GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        );
        stream.write_all(asked.as_bytes()).expect("written");
        assert!(head(&mut stream).contains("101"), "upgraded");
        ping_without_end(&mut stream, true);
        within(words[0], peak(live.pid()), BASE);
    }
}

#[test]
fn a_server_that_reads_no_answers_to_its_pings_is_left() {
    let stage = Stage::new();
    let listener = TcpListener::bind("127.0.0.1:0").expect("bound");
    let url = format!("ws://{}/", listener.local_addr().expect("an address"));
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("accepted");
        stream.set_write_timeout(Some(Duration::from_millis(500))).expect("set");
        let asked = head(&mut stream);
        let key = asked.lines().find(|line| line.to_lowercase().starts_with("sec-websocket-key"));
        let key = derive_accept_key(key.and_then(|line| line.split(": ").nth(1)).expect("a key").as_bytes());
        let answer = format!(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Accept: {key}\r\nSec-WebSocket-Protocol: mcp\r\n\r\n"
        );
        stream.write_all(answer.as_bytes()).expect("written");
        ping_without_end(&mut stream, false);
        // Until the other side closes the connection.
        while stream.write_all(b"\x89\0").is_ok_or_blocked() {}
    });
    let (output, most) = watched(stage.mcpreel(&["call", "tools/list", "--url", &url, "--timeout", "20s"]), "");
    server.join().expect("ends");
    assert_eq!(output.code(), 4, "{output:?}");
    assert!(output.err().contains("pings"), "{}", output.err());
    within("call", most, BASE);
}

#[test]
fn an_endless_line_of_a_server_ends_its_connection() {
    let stage = Stage::new();
    stage.write("o.yaml", "name: o\nhooks: []\n");
    for words in [
        &["call", "tools/list"][..],
        &["call", "tools/list", "--record", "c.reel"],
        &["host", "--say", "hello"],
        &["overlay", "o.yaml"],
    ] {
        let words = [words, &["--max-message", "2M", "--"], &ENDLESS].concat();
        // A client with an open request keeps waiting.
        let (output, most) = watched(stage.mcpreel(&words), r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
        assert_eq!(output.code(), 4, "{words:?}: {output:?}");
        let said = output.err() + &output.out();
        assert!(said.contains("more than 2 MiB") && said.contains("--max-message"), "{words:?}: {said}");
        within(words[0], most, BASE);
    }
}

#[test]
fn the_limit_is_64_mib_where_nothing_is_said() {
    let stage = Stage::new();
    let words = [&["call", "tools/list", "--"][..], &ENDLESS].concat();
    let (output, most) = watched(stage.mcpreel(&words), "");
    assert_eq!(output.code(), 4, "{output:?}");
    assert!(output.err().contains("more than 64 MiB; set a higher limit with --max-message"), "{}", output.err());
    within("call", most, BASE + 80 * MIB);
}

#[test]
fn an_endless_line_of_a_client_ends_its_connection() {
    let stage = Stage::new();
    stage.write("o.yaml", "name: o\nhooks: []\n");
    let line = "x".repeat(9 * MIB);
    for words in [&["serve", "--max-message", "2M"][..], &["overlay", "o.yaml", "--max-message", "2M", "--", "cat"]] {
        let (output, most) = watched(stage.mcpreel(words), line.clone());
        assert_eq!(output.code(), 4, "{words:?}: {output:?}");
        let said = output.err();
        assert!(said.contains("more than 2 MiB; set a higher limit with --max-message"), "{words:?}: {said}");
        within(words[0], most, BASE);
    }
    let client = "exec tr '\\0' x </dev/zero | eval \"$MCPREEL_SERVER\"";
    let words = ["survive", "--connect", "5s", "--max-message", "2M", "--", "sh", "-c", client];
    let (output, most) = watched(stage.mcpreel(&words), "");
    assert_eq!(output.code(), 4, "{output:?}");
    within("survive", most, BASE);
}

#[test]
fn one_client_with_an_endless_line_does_not_end_the_others() {
    let stage = Stage::new();
    let (live, port) = listening(&stage, &["serve", "--listen", "tcp:0", "--max-message", "2M"]);
    let mut others = connect(port);
    let mut ask = |id: u32| {
        others
            .write_all(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n").as_bytes())
            .expect("sent");
        let mut answer = [0; 512];
        let got = others.read(&mut answer).expect("answered");
        assert!(String::from_utf8_lossy(&answer[..got]).contains(&format!("\"id\":{id}")));
    };
    ask(1);
    let endless: Vec<_> = (0..6)
        .map(|_| {
            thread::spawn(move || {
                let mut stream = connect(port);
                let line = [b"{".to_vec(), vec![b'x'; 32 * MIB]].concat();
                let _ = stream.write_all(&line);
                // The connection is closed.
                assert!(matches!(stream.read(&mut [0; 64]), Ok(0) | Err(_)));
            })
        })
        .collect();
    endless.into_iter().for_each(|one| one.join().expect("ends"));
    ask(2);
    within("serve", peak(live.pid()), BASE + 20 * MIB);
}

#[test]
fn the_tap_passes_an_endless_line_on_and_records_it_in_pieces() {
    const LENGTH: usize = 80_000_000;
    let stage = Stage::new();
    let say = format!("head -c {LENGTH} /dev/zero | tr '\\0' x; echo; echo '{{}}'");
    let (output, most) = watched(stage.mcpreel(&["record", "-o", "t.reel", "--", "sh", "-c", &say]), "");
    assert_eq!((output.code(), output.stdout.len()), (0, LENGTH + 4), "{}", output.err());
    within("record", most, BASE);
    let kept = stage.cat("t.reel", "s2c");
    assert!(kept == output.stdout, "the reel has every byte");
    let reported = stage.run(&["validate", "t.reel", "--format", "json"], "").json();
    let rules: Vec<_> = reported["findings"].as_array().expect("a list").iter().map(|it| it["rule"].clone()).collect();
    assert!(rules.contains(&json!("stream/not-checked")), "{rules:?}");
}

#[test]
fn endless_lines_in_both_directions_take_no_more() {
    const LENGTH: usize = 80_000_000;
    let stage = Stage::new();
    let say = format!("exec 3<&0; cat <&3 >/dev/null & head -c {LENGTH} /dev/zero | tr '\\0' x; echo; wait");
    let said = vec![b'y'; LENGTH];
    let (output, most) = watched(stage.mcpreel(&["record", "-o", "t.reel", "--", "sh", "-c", &say]), said.clone());
    assert_eq!((output.code(), output.stdout.len()), (0, LENGTH + 1), "{}", output.err());
    within("record", most, BASE);
    assert!(
        stage.cat("t.reel", "c2s") == said && stage.cat("t.reel", "s2c") == output.stdout,
        "the reel has every byte"
    );
}

#[test]
fn a_long_message_is_recorded_in_pieces_and_read_as_one() {
    const LONG: usize = 16 * MIB;
    let stage = Stage::new();
    // Neither direction can be compressed, and their pieces alternate.
    let mut text = String::new();
    let mut state = 1u64;
    while text.len() < LONG {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        text += &format!("{state:016x}");
    }
    let long = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "t", "text": text}});
    let input = format!("{long}\n{}\n", json!({"jsonrpc": "2.0", "id": 2, "method": "ping"})).into_bytes();
    let (output, most) = watched(stage.mcpreel(&["record", "-o", "t.reel", "--", "cat"]), input.clone());
    assert_eq!((output.code(), output.stdout == input), (0, true), "{}", output.err());
    within("record", most, BASE);
    for lane in ["c2s", "s2c"] {
        assert!(stage.cat("t.reel", lane) == input, "{lane}: the same bytes");
    }
    let messages = |lines: &[u8]| lines.iter().filter(|byte| **byte == b'\n').count();
    for words in [
        &["show", "t.reel", "--raw", "dir:c2s kind:request"][..],
        &["show", "t.reel", "--raw", "dir:c2s kind:request", "-n", "2"],
        &["export", "t.reel", "-o", "t.jsonl"],
        &["validate", "t.reel"],
        &["diff", "t.reel", "t.reel"],
        &["stats", "t.reel"],
        &["reel", "verify", "t.reel"],
    ] {
        let (output, most) = watched(stage.mcpreel(words), "");
        assert!(output.code() <= 1, "{words:?}: {}", output.err());
        assert!(words[1] != "t.reel" || words[0] != "show" || output.stdout == input, "{words:?}");
        let copies = match words[0] {
            "stats" | "reel" => 0,
            "diff" => 7,
            // One message is checked while the next is read.
            "validate" => 4,
            // The other direction's message is joined while this one is written and searched for encoded secrets.
            _ => 4,
        };
        within(&words.join(" "), most, BASE + copies * LONG);
    }
    stage.import("again.reel", stage.read("t.jsonl"));
    assert!(stage.cat("again.reel", "c2s") == input, "and comes back from an export");
    // A pass over headers finds the message, also by its number.
    let stats = stage.ok(&["stats", "t.reel", "--format", "json"]).json();
    assert!(stats.to_string().contains("tools/call"), "{stats}");
    let listed = stage.ok(&["show", "t.reel", "--jq", "[.seq, .message.id] | tostring", "id:1 dir:s2c"]).out();
    let seq = listed.trim().trim_matches(['"', '[']).split(',').next().expect("a number").to_owned();
    let found = stage.ok(&["show", "t.reel", "--raw", "--seq", &seq, "-n", "1"]);
    assert!(found.stdout.len() > LONG && messages(&found.stdout) == 1, "{seq}: {}", found.stdout.len());
    // As compact as possible, and through a pipe.
    stage.ok(&["reel", "compact", "t.reel", "-o", "c.reel"]);
    assert!(stage.cat("c.reel", "c2s") == input);
    let (piped, most) = watched(stage.mcpreel(&["show", "-", "--raw", "dir:c2s"]), stage.read("c.reel"));
    assert!(piped.stdout == input, "{}", piped.err());
    within("show", most, BASE + 4 * LONG);
}

#[test]
fn a_tap_that_is_killed_amid_a_message_leaves_what_came() {
    let stage = Stage::new();
    let words = ["record", "-o", "t.reel", "--", "sh", "-c", "exec cat >/dev/null"];
    let mut live = stage.start(&words);
    let begun = [b"{\"jsonrpc\":\"2.0\",\"method\":\"".to_vec(), vec![b'x'; 10 * MIB]].concat();
    live.write(&begun);
    until("two pieces are written", || {
        let output = stage.run(&["reel", "cat", "t.reel", "--stream", "c2s"], "");
        (output.stdout.len() >= 8 * MIB).then_some(())
    });
    live.signal("KILL");
    live.end_unread();
    let kept = stage.run(&["reel", "cat", "t.reel", "--stream", "c2s"], "").stdout;
    assert!(kept.len() >= 8 * MIB && begun.starts_with(&kept), "{}", kept.len());
    let shown: Vec<Value> = stage.events_of_any("t.reel");
    let pieces: Vec<&Value> = shown.iter().filter(|event| event["framing"] == "fragment").collect();
    assert_eq!(pieces.len(), 1, "what there is of it, once");
    stage.ok(&["reel", "repair", "t.reel", "-o", "whole.reel"]);
    stage.ok(&["reel", "verify", "whole.reel"]);
    assert!(stage.cat("whole.reel", "c2s") == kept);
}

/// Begins a POST with this length and sends its first bytes.
fn begin_post(port: u16, length: usize, sent: usize) -> TcpStream {
    let mut stream = connect(port);
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).expect("sent");
    let _ = stream.write_all(&vec![b' '; sent]);
    stream
}

#[test]
fn bodies_share_a_budget_and_end_at_the_limit() {
    let stage = Stage::new();
    let (live, port) = listening(&stage, &["serve", "--listen", "0", "--max-message", "8M"]);
    let answer = head(&mut begin_post(port, 8 * MIB + 1, 0));
    assert!(answer.contains(" 413 "), "{answer}");
    // The budget for unfinished messages is 24 MiB.
    let mut waiting: Vec<TcpStream> = (0..6).map(|_| begin_post(port, 8 * MIB, 7 * MIB)).collect();
    let refused = waiting.iter_mut().filter_map(|stream| {
        stream.set_read_timeout(Some(Duration::from_millis(300))).expect("set");
        let mut answer = [0; 1024];
        let got = stream.read(&mut answer).ok()?;
        Some(String::from_utf8_lossy(&answer[..got]).into_owned())
    });
    let refused: Vec<String> = refused.filter(|answer| !answer.is_empty()).collect();
    assert!(!refused.is_empty(), "some are refused");
    for answer in &refused {
        assert!(answer.contains(" 503 ") && answer.contains("unfinished messages"), "{answer}");
    }
    within("serve", peak(live.pid()), BASE + 30 * MIB);
    drop(waiting);
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    until("the bytes are given back", || {
        let mut stream = begin_post(port, body.len(), 0);
        stream.write_all(body.as_bytes()).expect("sent");
        (!head(&mut stream).contains(" 503 ")).then_some(())
    });
}

#[test]
fn notes_and_what_is_remembered_are_bounded() {
    let stage = Stage::new();
    let mut input = String::from(
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-06-18\",\
         \"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}\n\
         {\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n",
    );
    for id in 1..=2000 {
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": "add_note", "arguments": {"text": "n"}}});
        input += &format!("{call}\n");
    }
    for id in 2001..=2200 {
        let arguments = json!({"content": "c".repeat(100), "source": "s".repeat(100_000)});
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": "remember", "arguments": arguments}});
        input += &format!("{call}\n");
    }
    let (output, most) = watched(stage.mcpreel(&["serve"]), input);
    assert_eq!(output.code(), 0, "{}", output.err());
    let answers: Vec<Value> = output.out().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let of = |id: u64| answers.iter().find(|answer| answer["id"] == id).expect("an answer")["result"].clone();
    assert_eq!(of(256)["isError"], Value::Null);
    assert_eq!(of(257)["isError"], true);
    assert!(of(257)["content"][0]["text"].as_str().expect("a text").contains("256 notes"));
    within("serve", most, BASE + 16 * MIB);
}

#[test]
fn events_that_wait_and_messages_of_many_values_are_bounded() {
    let stage = Stage::new();
    let call = |id: usize, name: &str, arguments: Value| {
        let params = json!({"name": name, "arguments": arguments});
        format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}))
    };
    let mut input = String::from(
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-06-18\",\
         \"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}\n\
         {\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n",
    );
    for id in 1..=10 {
        input += &call(
            id,
            "events_subscribe",
            json!({"filter": {"eventTypes": ["a.*"]}, "delivery":
            {"channels": ["cron"], "cronSchedule": {"expression": "0 0 1 1 *"}}}),
        );
    }
    for id in 11..=50 {
        let fired = json!({"kind": "event", "type": "a.b", "data": {"text": "z".repeat(1_000_000)}});
        input += &call(id, "emit", fired);
    }
    input += &format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":51,\"method\":\"ping\",\"params\":{{\"x\":[{}0]}}}}\n",
        "{},".repeat(8_000_000)
    );
    input += &call(52, "events_subscribe", json!({"filter": {"eventTypes": ["t".repeat(20_000)]}}));
    let (output, most) = watched(stage.mcpreel(&["serve"]), input);
    assert_eq!(output.code(), 0, "{}", output.err());
    let said = output.out();
    assert!(
        said.contains("too many values to be read into memory") && said.contains("at most 16384 bytes"),
        "{said:.3000}"
    );
    within("serve", most, BASE + 64 * MIB);
}

#[test]
fn a_reel_of_many_streams_takes_no_more_than_one_of_a_thousand() {
    const STREAMS: usize = 30_000;
    let stage = Stage::new();
    let mut lines = "{\"reel\":{\"version\":1,\"created\":\"2026-01-02T03:04:05Z\"}}\n".to_owned();
    for stream in 1..=STREAMS {
        lines += &format!(
            "{{\"time\":\"2026-01-02T03:04:05Z\",\"stream\":{stream},\"message\":\
             {{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{{\"name\":\"n\"}}}}}}\n"
        );
    }
    stage.import("t.reel", lines);
    let (output, most) = watched(stage.mcpreel(&["validate", "t.reel", "--format", "json"]), "");
    let reported = output.json();
    let seen = reported["findings"].as_array().expect("a list").iter().find(|it| it["rule"] == "stream/not-checked");
    assert!(seen.expect("a finding")["seen"].as_str().expect("a text").contains("1000 open streams"));
    assert_eq!(reported["connections"].as_array().map(Vec::len), Some(1000));
    within("validate", most, BASE + 64 * MIB);
    for words in [&["stats", "t.reel", "--audit"][..], &["show", "t.reel", "--view", "tree"]] {
        let (output, most) = watched(stage.mcpreel(words), "");
        assert!(output.err().contains("skipped 29000 events"), "{words:?}: {}", output.err());
        within(words[0], most, BASE);
    }
}

#[test]
fn a_long_event_is_read_in_its_beginning_and_passed_on_whole() {
    let stage = Stage::new();
    let line = |id: u32, text: &str| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"x\":\"{text}\"}}}}");
    let (long, short) = (line(1, &"x".repeat(68 * MIB)), line(2, "short"));
    let event =
        |message: &str| format!("{{\"time\":\"2026-01-02T03:04:05Z\",\"dir\":\"s2c\",\"message\":{message}}}\n");
    let header = "{\"reel\":{\"version\":1,\"created\":\"2026-01-02T03:04:05Z\"}}\n";
    stage.import("t.reel", [header, &event(&long), &event(&short)].concat());
    assert!(std::fs::metadata(stage.path("t.reel")).expect("there").len() < 100_000, "it packs well");
    for (words, code) in [
        (&["validate", "t.reel"][..], 1),
        (&["show", "t.reel", "--format", "json"], 1),
        (&["show", "t.reel", "--raw"], 1),
        (&["reel", "compact", "t.reel", "-o", "c.reel"], 3),
        (&["stats", "t.reel"], 0),
        (&["reel", "verify", "t.reel"], 0),
        (&["reel", "cat", "t.reel", "--stream", "s2c"], 0),
        (&["export", "t.reel", "-o", "t.jsonl"], 0),
    ] {
        let (output, most) = watched(stage.mcpreel(words), "");
        assert_eq!(output.code(), code, "{words:?}: {}", output.err());
        within(&words.join(" "), most, BASE);
        let reported = code == 0 || output.err().contains("event 0 has 68 MiB");
        assert!(reported, "{words:?}: {}", output.err());
    }
    let whole = format!("{long}\n{short}\n").into_bytes();
    assert!(stage.cat("t.reel", "s2c") == whole, "every byte is passed on");
    let lines = stage.read("t.jsonl");
    stage.import("again.reel", lines);
    assert!(stage.cat("again.reel", "s2c") == whole, "and comes back from an export");
    // Also through a pipe.
    let piped = stage.run(&["reel", "cat", "-", "--stream", "s2c"], stage.read("t.reel"));
    assert!(piped.stdout == whole, "{}", piped.err());
}
