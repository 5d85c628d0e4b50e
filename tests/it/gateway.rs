//! Tests `record --listen` in front of a stdio server against the Streamable HTTP specification, through a plain
//! socket.

use crate::common::{BINARY, LIMIT, Live, Stage, until};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// A gateway in front of the built-in server, on a free port.
struct Gateway {
    process: Live,
    address: String,
}

impl Gateway {
    fn start(stage: &Stage, server: &[&str]) -> Self {
        let mut words = vec!["record", "-o", "tap.reel", "--listen", "0", "--"];
        words.extend(server);
        let process = stage.start(&words);
        let reported = until("the gateway to listen", || {
            let said = process.stderr_so_far();
            said.split("http://").nth(1).map(|rest| rest.split('/').next().unwrap_or_default().to_owned())
        });
        Self { process, address: reported }
    }

    fn request(&self, method: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        request(&self.address, method, headers, body)
    }

    fn post(&self, session: &str, message: &Value) -> Answer {
        self.request("POST", &[("mcp-session-id", session)], &message.to_string())
    }

    /// Opens a session and returns its id.
    fn initialize(&self, client: &str) -> String {
        let asked = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params":
            {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": client, "version": "1"}}});
        let answer = self.request("POST", &[], &asked.to_string());
        assert_eq!(answer.status, 200);
        let session = answer.header("mcp-session-id").expect("a session");
        assert_eq!(answer.json()["result"]["protocolVersion"], "2025-11-25");
        let reported = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(self.post(&session, &reported).status, 202);
        session
    }

    fn end(self) {
        self.process.signal("INT");
        let output = self.process.end();
        assert_eq!(output.code(), 0, "{output:?}");
    }
}

pub(crate) fn request(address: &str, method: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    let stream = TcpStream::connect(address).expect("connects");
    stream.set_read_timeout(Some(LIMIT)).expect("a limit");
    let mut text = format!("{method} /mcp HTTP/1.1\r\n");
    if !headers.iter().any(|(name, _)| *name == "host") {
        text.push_str(&format!("host: {}\r\n", address));
    }
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    if !headers.iter().any(|(name, _)| *name == "accept") {
        text.push_str("accept: application/json, text/event-stream\r\n");
    }
    text.push_str("content-type: application/json\r\n");
    text.push_str(&format!("content-length: {}\r\n\r\n{body}", body.len()));
    (&stream).write_all(text.as_bytes()).expect("sent");
    Answer::read(stream)
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    body: BufReader<TcpStream>,
}

impl Answer {
    fn read(stream: TcpStream) -> Self {
        let mut body = BufReader::new(stream);
        let mut line = || {
            let mut line = String::new();
            body.read_line(&mut line).expect("a line");
            line.trim_end().to_owned()
        };
        let status = line().split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
        let headers = std::iter::from_fn(|| Some(line()).filter(|line| !line.is_empty()))
            .map(|line| {
                let (name, value) = line.split_once(':').expect("a header");
                (name.to_ascii_lowercase(), value.trim().to_owned())
            })
            .collect();
        Self { status, headers, body }
    }

    pub(crate) fn header(&self, name: &str) -> Option<String> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.clone())
    }

    pub(crate) fn text(mut self) -> String {
        let length = self.header("content-length").and_then(|length| length.parse().ok()).expect("a length");
        let mut text = vec![0; length];
        self.body.read_exact(&mut text).expect("a body");
        String::from_utf8(text).expect("text")
    }

    pub(crate) fn json(self) -> Value {
        serde_json::from_str(&self.text()).expect("JSON")
    }

    /// The id and data of the stream's next event; `None` at its end.
    pub(crate) fn block(&mut self) -> Option<(String, String)> {
        let (mut id, mut data) = (String::new(), String::new());
        loop {
            let mut line = String::new();
            self.body.read_line(&mut line).expect("a line");
            // Skips chunk sizes.
            match line.trim_end().split_once(':') {
                Some(("id", rest)) => rest.trim().clone_into(&mut id),
                Some(("data", rest)) => rest.trim().clone_into(&mut data),
                None if line.is_empty() || line == "0\r\n" => return None,
                None if line == "\n" => return Some((id, data)),
                _ => {}
            }
        }
    }

    /// The message of the stream's next event.
    pub(crate) fn event(&mut self) -> Value {
        loop {
            let mut line = String::new();
            assert_ne!(self.body.read_line(&mut line).expect("a line"), 0, "the stream ended");
            if let Some(data) = line.strip_prefix("data: ") {
                return serde_json::from_str(data).expect("JSON");
            }
        }
    }
}

fn emit(id: u64, body: &str) -> Value {
    let arguments = json!({"kind": "reminder", "body": body});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "emit", "arguments": arguments}})
}

#[test]
fn sessions_have_servers_of_their_own_and_are_not_mixed() {
    let stage = Stage::new();
    let gateway = Gateway::start(&stage, &[BINARY, "serve"]);
    let sessions = [gateway.initialize("first"), gateway.initialize("second")];
    assert_ne!(sessions[0], sessions[1]);
    for (number, session) in sessions.iter().enumerate() {
        let mut events = gateway.request("GET", &[("mcp-session-id", session)], "");
        assert_eq!((events.status, events.header("content-type").as_deref()), (200, Some("text/event-stream")));
        let called = gateway.post(session, &emit(2, &format!("for {number}"))).json();
        assert_eq!((&called["id"], &called["result"]["isError"]), (&json!(2), &Value::Null), "{called}");
        assert_eq!(events.event()["params"]["reminder"]["body"], format!("for {number}"));
        let second = gateway.request("GET", &[("mcp-session-id", session)], "");
        assert_eq!(second.status, 409, "one stream listens");
    }
    assert_eq!(gateway.request("DELETE", &[("mcp-session-id", &sessions[0])], "").status, 200);
    assert_eq!(gateway.post(&sessions[0], &emit(3, "late")).status, 404);
    assert_eq!(gateway.post(&sessions[1], &emit(3, "still here")).status, 200);
    gateway.end();
    for (stream, client, own, other) in [(1, "first", "for 0", "for 1"), (2, "second", "for 1", "for 0")] {
        let shown = stage.ok(&["show", "tap.reel", "--format", "json", &format!("stream:{stream}")]).out();
        assert!(shown.contains(client) && shown.contains(own) && !shown.contains(other), "{shown}");
    }
    stage.ok(&["validate", "tap.reel"]);
}

#[test]
fn what_does_not_belong_is_refused() {
    let stage = Stage::new();
    let gateway = Gateway::start(&stage, &[BINARY, "serve"]);
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
    let refused = |headers: &[(&str, &str)], body: &str| gateway.request("POST", headers, body).status;
    assert_eq!(refused(&[], &ping), 400);
    assert_eq!(refused(&[("mcp-session-id", "nobody")], &ping), 404);
    assert_eq!(refused(&[("mcp-protocol-version", "1999-01-01")], &ping), 400);
    assert_eq!(refused(&[("host", "evil.example")], &ping), 403);
    assert_eq!(refused(&[("origin", "https://evil.example")], &ping), 403);
    let broken = gateway.request("POST", &[], "{\"jsonrpc\"");
    assert_eq!((broken.status, broken.json()["error"]["code"].as_i64()), (400, Some(-32700)));
    assert_eq!(gateway.request("PUT", &[], "").status, 405);
    gateway.end();
}

#[test]
fn errors_of_the_stateless_era_have_their_status() {
    let stage = Stage::new();
    let gateway = Gateway::start(&stage, &[BINARY, "serve", "--era", "legacy"]);
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
    for id in [1, 2] {
        let asked = json!({"jsonrpc": "2.0", "id": id, "method": "server/discover", "params": {"_meta": meta}});
        let answer = gateway.request("POST", &[("mcp-protocol-version", "2026-07-28")], &asked.to_string());
        // This server belongs to the legacy era.
        assert_eq!(answer.status, 404);
        assert_eq!(answer.json()["error"]["code"], -32601);
    }
    gateway.end();
    // A server of the other era is not kept.
    let ends = stage.ok(&["show", "tap.reel", "event:stream-closed", "not stream:0"]).out();
    assert_eq!(ends.matches("no server of this era").count(), 2, "{ends}");
}

#[test]
fn a_server_that_ends_is_reported() {
    let stage = Stage::new();
    let gateway = Gateway::start(&stage, &["sh", "-c", "read line; echo gone >&2; exit 3"]);
    let asked = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}});
    let answer = gateway.request("POST", &[], &asked.to_string());
    assert_eq!(answer.status, 502);
    assert!(answer.json()["error"]["message"].as_str().is_some_and(|reported| reported.contains("has ended")));
    until("the end is reported", || {
        gateway.process.stderr_so_far().contains("session 1: the server ended with exit code 3").then_some(())
    });
    gateway.end();
    let events = stage.events("tap.reel");
    let made = events.iter().find(|event| event["message"]["error"]["code"] == -32603).expect("it is recorded");
    assert_eq!((&made["message"]["id"], &made["dir"]), (&json!(1), &json!("s2c")));
    assert_eq!(made["injected"], true, "{made}");
    let shown = stage.ok(&["show", "tap.reel"]).out();
    assert!(shown.contains("gone") && shown.contains("exit_code 3") && shown.contains("the server ended"), "{shown}");
}

/// A modern server in three lines of shell: it answers each line with its id and its own number.
const STATELESS: &str = r#"while read -r line; do
  id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
  case $line in *slow*) sleep 1;; esac
  printf '{"jsonrpc":"2.0","id":%s,"result":{"server":%s}}\n' "$id" "$$"
done"#;

#[test]
fn the_stateless_era_shares_a_server_until_ids_meet() {
    let stage = Stage::new();
    let gateway = Gateway::start(&stage, &["sh", "-c", STATELESS]);
    let address = gateway.address.clone();
    let ask = |id: u64, method: &str| {
        let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
        let asked = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {"_meta": meta}});
        let headers = [("mcp-protocol-version", "2026-07-28")];
        request(&address, "POST", &headers, &asked.to_string()).json()["result"]["server"].clone()
    };
    let first = ask(1, "quick");
    assert_eq!(ask(2, "quick"), first, "free ids share");
    std::thread::scope(|scope| {
        let both = [scope.spawn(|| ask(3, "slow")), scope.spawn(|| ask(3, "slow"))];
        let [one, other] = both.map(|asked| asked.join().expect("answered"));
        assert_ne!(one, other, "an id that waits has a server of its own");
        assert!(one == first || other == first);
    });
    gateway.end();
}

#[test]
fn the_built_in_server_listens_by_itself() {
    let stage = Stage::new();
    let served = stage.start(&["serve", "--listen", "0"]);
    let address = until("the server to listen", || {
        let said = served.stderr_so_far();
        said.split("http://").nth(1).map(|rest| rest.split('/').next().unwrap_or_default().to_owned())
    });
    let url = format!("http://{address}/mcp");
    let called =
        stage.ok(&["call", "tools/call", "name=echo", "arguments.message=hi", "--url", &url, "--format", "json"]);
    assert_eq!(called.json()["content"][0]["text"], "hi");
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}});
    let echo = json!({"name": "echo", "arguments": {"message": "hi"}, "_meta": meta});
    let asked = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": echo}).to_string();
    let version = ("mcp-protocol-version", "2026-07-28");
    let method = ("mcp-method", "tools/call");
    let ask = |headers: &[(&str, &str)]| request(&address, "POST", headers, &asked);
    assert_eq!(ask(&[version, method, ("mcp-name", "echo")]).json()["result"]["content"][0]["text"], "hi");
    for wrong in [&[version, method][..], &[version, method, ("mcp-name", "add")], &[method, ("mcp-name", "echo")]] {
        let refused = ask(wrong);
        assert_eq!(refused.status, 400, "{wrong:?}");
        let refused = refused.json();
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(3), &json!(-32020)), "{refused}");
    }
    served.signal("TERM");
    assert_eq!(served.end().code(), 0);
}

#[test]
fn a_request_waits_for_a_host_to_connect() {
    let stage = Stage::new();
    let ping = r#"{"jsonrpc":"2.0","id":9,"method":"ping"}"#;
    let waits = stage.start(&["fire", "raw", ping, "--listen", "0"]);
    let address = until("the server to listen", || {
        let said = waits.stderr_so_far();
        said.split("http://").nth(1).map(|rest| rest.split('/').next().unwrap_or_default().to_owned())
    });
    let gateway = Gateway { process: waits, address };
    let session = gateway.initialize("host");
    let asked = gateway.request("GET", &[("mcp-session-id", &session)], "").event();
    assert_eq!(asked["method"], "ping");
    let pong = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {}});
    assert_eq!(gateway.post(&session, &pong).status, 202);
    let output = gateway.process.end_with_open_stdin();
    let labels: Vec<String> = output.out().lines().map(|line| line.chars().take(8).collect()).collect();
    assert_eq!((output.code(), &*labels.concat()), (0, "sent    answer  time    "), "{output:?}");
    assert!(output.out().starts_with("sent    ← "), "toward the client: {output:?}");
}

#[test]
fn the_streams_of_a_gateway_are_listed_by_the_names_that_reach_them() {
    let stage = Stage::new();
    let gateway = Gateway::start(&stage, &[BINARY, "serve"]);
    ["first", "second"].iter().for_each(|client| drop(gateway.initialize(client)));
    let reported = until("both handshakes in the reel", || {
        let reported = stage.ok(&["sessions", "--format", "json"]).out();
        let tap: Value = reported.lines().find_map(|line| serde_json::from_str(line).ok())?;
        (tap["messages"] == 6).then_some(tap)
    });
    let streams: Vec<_> =
        reported["streams"].as_array().expect("streams").iter().map(|it| (&it["stream"], &it["client"])).collect();
    assert_eq!(streams, [(&json!(1), &json!("first")), (&json!(2), &json!("second"))]);
    assert_eq!(reported["streams"][1]["messages"], 3, "{reported}");
    let table = stage.ok(&["sessions"]).out();
    let row = table.lines().find(|line| line.contains("  mcpreel#2")).expect("a row for the second");
    assert!(row.contains("second") && row.contains('3'), "{table}");
    let shown = stage.ok(&["show", "--session", "mcpreel#2", "method:initialize kind:request", "--raw"]).out();
    assert!(shown.contains("second") && !shown.contains("first"), "{shown}");
    let live = stage.ok(&["show", "tap.reel", "-n", "1"]);
    assert_eq!(live.err(), "", "that a reel is being recorded is no news");
    let lost = stage.run(&["fire", "raw", r#"{"jsonrpc":"2.0","method":"x"}"#, "--session", "mcpreel#7"], "");
    assert_eq!(lost.code(), 4, "{lost:?}");
    assert!(lost.err().contains("mcpreel#1, mcpreel#2") && !lost.err().contains("sent"), "{lost:?}");
    gateway.end();
}

/// A server that fires when a host connects.
fn firing(stage: &Stage, words: &[&str]) -> Gateway {
    let process = stage.start(words);
    let address = until("the server to listen", || {
        let said = process.stderr_so_far();
        said.split("http://").nth(1).map(|rest| rest.split('/').next().unwrap_or_default().to_owned())
    });
    Gateway { process, address }
}

#[test]
fn a_reminder_waits_for_a_host_to_connect_and_ends_when_it_is_sent() {
    let stage = Stage::new();
    let gateway = firing(&stage, &["fire", "reminder", "look", "--listen", "0", "--repeat", "2"]);
    let asked = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25",
        "capabilities": {}, "clientInfo": {"name": "host", "version": "1"}}});
    let session = gateway.request("POST", &[], &asked.to_string()).header("mcp-session-id").expect("a session");
    let mut events = gateway.request("GET", &[("mcp-session-id", &session)], "");
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(gateway.post(&session, &ready).status, 202);
    for _ in 0..2 {
        assert_eq!(events.event()["params"]["reminder"]["body"], "look");
    }
    let output = gateway.process.end_with_open_stdin();
    assert_eq!((output.code(), output.err().contains("2 sent, 0 failed")), (0, true), "{output:?}");
}

#[test]
fn a_push_waits_for_a_host_to_connect_and_ends_when_it_is_answered() {
    let stage = Stage::new();
    let gateway = firing(&stage, &["fire", "push", "--listen", "0", "--text", "deployed"]);
    let asked = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25",
        "capabilities": {"experimental": {"mcpl": {"version": "0.4", "pushEvents": true}}},
        "clientInfo": {"name": "host", "version": "1"}}});
    let session = gateway.request("POST", &[], &asked.to_string()).header("mcp-session-id").expect("a session");
    let mut events = gateway.request("GET", &[("mcp-session-id", &session)], "");
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(gateway.post(&session, &ready).status, 202);
    let push = events.event();
    assert_eq!((push["method"].as_str(), push["params"]["payload"]["content"].is_null()), (Some("push/event"), false));
    let accepted = json!({"jsonrpc": "2.0", "id": push["id"], "result": {"accepted": true}});
    assert_eq!(gateway.post(&session, &accepted).status, 202);
    let output = gateway.process.end_with_open_stdin();
    assert_eq!(output.code(), 0, "{output:?}");
    assert!(output.err().contains("push_answered"), "{output:?}");
}

#[test]
fn who_hangs_up_before_it_has_its_session_leaves_no_server_behind() {
    let stage = Stage::new();
    let gateway = Gateway::start(&stage, &["sh", "-c", "read line; echo asked >&2; cat; echo left >&2"]);
    let asked = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#;
    let stream = TcpStream::connect(&gateway.address).expect("connects");
    let head = format!("POST /mcp HTTP/1.1\r\nhost: {}\r\ncontent-length: {}", gateway.address, asked.len());
    let head = head + "\r\ncontent-type: application/json";
    (&stream).write_all(format!("{head}\r\n\r\n{asked}").as_bytes()).expect("sent");
    let shown = |what: &str| stage.ok(&["show", "tap.reel"]).out().contains(what).then_some(());
    until("the server to be asked", || shown("asked"));
    drop(stream);
    until("the server to end", || shown("left"));
    gateway.end();
}

#[test]
fn clients_that_leave_without_a_word_keep_nobody_out() {
    const SERVER: &str =
        r#"read line; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25"}}'; exec cat"#;
    let stage = Stage::new();
    let gateway = Gateway::start(&stage, &["sh", "-c", SERVER]);
    // One more than the maximum, and one that still reads.
    let receives = gateway.initialize("hears");
    let events = gateway.request("GET", &[("mcp-session-id", &receives)], "");
    assert_eq!(events.status, 200);
    let left = gateway.initialize("left");
    (0..99).for_each(|number| drop(gateway.initialize(&number.to_string())));
    let reported = json!({"jsonrpc": "2.0", "method": "notifications/x"});
    assert_eq!(gateway.post(&left, &reported).status, 404, "the one that was idle for longest");
    assert_eq!(gateway.post(&receives, &reported).status, 202);
    gateway.end();
}

/// A session's server: it answers `quick` at once, and `slow` step by step, on command.
const STEPS: &str = r#"while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case $line in
    *initialize\"*) echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25"}}';;
    *slow*) waiting=$id;;
    *step*) echo '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1}}';;
    *say*) echo '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}';;
    *last*) echo "{\"jsonrpc\":\"2.0\",\"id\":$waiting,\"result\":{\"slow\":true}}";;
    *quick*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"quick\":true}}";;
  esac
done"#;

#[test]
fn a_stream_that_was_lost_goes_on_behind_its_last_event() {
    let stage = Stage::new();
    let gateway = Gateway::start(&stage, &["sh", "-c", STEPS]);
    let session = gateway.initialize("client");
    let report = |method: &str| {
        let reported = json!({"jsonrpc": "2.0", "method": method});
        assert_eq!(gateway.post(&session, &reported).status, 202);
    };
    let get = |more: &[(&str, &str)]| {
        let own = [("mcp-session-id", session.as_str()), ("mcp-protocol-version", "2025-11-25")];
        gateway.request("GET", &[&own[..], more].concat(), "")
    };
    let mut listener = get(&[]);
    assert_eq!(listener.block(), Some(("0-0".to_owned(), String::new())), "where it begins");
    let asked = json!({"jsonrpc": "2.0", "id": 2, "method": "slow", "params": {"_meta": {"progressToken": "t"}}});
    let headers = [("mcp-session-id", session.as_str()), ("mcp-protocol-version", "2025-11-25")];
    let mut post = gateway.request("POST", &headers, &asked.to_string());
    assert_eq!(post.header("content-type").as_deref(), Some("text/event-stream"));
    let (begins, nothing) = post.block().expect("an event");
    assert_eq!(nothing, "");
    report("step");
    let (first, _) = post.block().expect("an event");
    report("say");
    assert_eq!(listener.block().map(|(id, _)| id), Some("0-1".to_owned()));
    drop((post, listener));
    ["step", "say", "last"].into_iter().for_each(report);
    let mut again = get(&[("last-event-id", &first)]);
    let missed: Vec<Value> = std::iter::from_fn(|| again.block())
        .filter(|(_, data)| !data.is_empty())
        .map(|(_, data)| serde_json::from_str(&data).expect("JSON"))
        .collect();
    let [progress, answer] = &missed[..] else { panic!("{missed:?}") };
    assert_eq!((&progress["method"], &answer["id"]), (&json!("notifications/progress"), &json!(2)));
    let mut whole = get(&[("last-event-id", &begins)]);
    assert_eq!(std::iter::from_fn(|| whole.block()).filter(|(_, data)| !data.is_empty()).count(), 3);
    let mut listener = get(&[("last-event-id", "0-1")]);
    listener.block().expect("where it begins");
    assert!(listener.block().is_some_and(|(id, data)| id == "0-2" && data.contains("list_changed")));
    assert_eq!(get(&[("last-event-id", "7-1")]).status, 400);
    assert_eq!(gateway.post(&session, &json!({"jsonrpc": "2.0", "id": 3, "method": "quick"})).json()["id"], 3);
    gateway.end();
    assert!(!stage.ok(&["show", "tap.reel"]).out().contains("cancelled"), "to hang up is not to cancel");
}

/// A server that cannot accept a message refuses it without an id, which is the answer to the POST.
#[test]
fn what_a_server_cannot_accept_is_answered_at_once() {
    let stage = Stage::new();
    let gateway = Gateway::start(&stage, &[BINARY, "serve"]);
    let session = gateway.initialize("client");
    let ping = |id: Value| json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
    for accept in ["application/json", "application/json, text/event-stream"] {
        let headers = [("mcp-session-id", session.as_str()), ("accept", accept)];
        for odd in [
            json!([ping(json!(2)), ping(json!(3))]),
            json!([ping(json!(2))]),
            ping(json!(1.5)),
            ping(json!([1])),
            ping(Value::Null),
            json!([]),
            json!([1]),
            json!(5),
            json!({}),
            json!({"jsonrpc": "2.0", "id": 7, "method": 5}),
        ] {
            let answered = gateway.request("POST", &headers, &odd.to_string());
            assert_eq!(answered.status, 400, "{odd}");
            let error = answered.json();
            assert_eq!((&error["id"], error["error"]["code"].as_i64()), (&Value::Null, Some(-32600)), "{odd}");
        }
        let answered = gateway.request("POST", &headers, &ping(json!(9)).to_string());
        assert_eq!((answered.status, &answered.json()["id"]), (200, &json!(9)));
    }
    gateway.end();
}

#[test]
fn who_takes_no_events_gets_all_answers_of_a_batch_in_one_array() {
    let stage = Stage::new();
    let gateway = Gateway::start(&stage, &["sh", "-c", BATCHES]);
    let session = gateway.initialize("client");
    let headers = [("mcp-session-id", session.as_str()), ("accept", "application/json")];
    let item = |id: u64| json!({"jsonrpc": "2.0", "id": id, "method": "quick"});
    let answered = gateway.request("POST", &headers, &json!([item(2), item(3)]).to_string());
    assert_eq!((answered.status, answered.header("content-type").as_deref()), (200, Some("application/json")));
    let answers = answered.json();
    let ids: Vec<&Value> = answers.as_array().expect("an array").iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, [2, 3]);
    gateway.end();
}

/// Answers the two requests of a batch one by one, and sends a message between them.
const BATCHES: &str = r#"while read -r line; do
  case $line in
    *initialize\"*) echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25"}}';;
    *quick*)
      echo '{"jsonrpc":"2.0","id":2,"result":{}}'
      echo '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'
      echo '{"jsonrpc":"2.0","id":3,"result":{}}';;
  esac
done"#;

#[test]
fn log_messages_of_the_stateless_era_go_to_who_asked_for_them() {
    const LOGGING: &str = r#"while read -r line; do
  id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
  echo '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"working"}}'
  printf '{"jsonrpc":"2.0","id":%s,"result":{}}\n' "$id"
done"#;
    let stage = Stage::new();
    let gateway = Gateway::start(&stage, &["sh", "-c", LOGGING]);
    let ask = |id: u64, more: &Value| {
        let mut meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
        meta["io.modelcontextprotocol/logLevel"] = more.clone();
        meta.as_object_mut().expect("an object").retain(|_, value| !value.is_null());
        let asked = json!({"jsonrpc": "2.0", "id": id, "method": "m", "params": {"_meta": meta}});
        gateway.request("POST", &[("mcp-protocol-version", "2026-07-28")], &asked.to_string())
    };
    assert_eq!(ask(1, &Value::Null).json()["id"], 1, "no stream: nothing came before the answer");
    let mut curious = ask(2, &json!("info"));
    assert_eq!(
        (curious.event()["params"]["data"].clone(), curious.event()["id"].clone()),
        (json!("working"), json!(2))
    );
    gateway.end();
    let events = stage.events("tap.reel");
    let logged = events.iter().filter(|event| event["message"]["method"] == "notifications/message").count();
    let dropped = events.iter().filter(|event| event["data"]["what"] == "dropped").count();
    assert_eq!((logged, dropped), (2, 1), "all is recorded: {events:?}");
}
