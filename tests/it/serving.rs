//! Tests `serve` on every transport: the same server, for several clients at once, with access checks; and what it
//! watches.

use crate::common::{BINARY, LIMIT, Live, Stage, lives, until};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::Path;

/// A listener and its URL.
struct Server {
    process: Live,
    url: String,
}

impl Server {
    fn start(stage: &Stage, words: &[&str]) -> Self {
        let process = stage.start(words);
        let url = until("the server to listen", || {
            let said = process.stderr_so_far();
            let rest = said.split("listening on ").nth(1)?;
            Some(rest.split([';', ' ']).next()?.to_owned()).filter(|_| rest.contains('\n'))
        });
        Self { process, url }
    }

    fn serve(stage: &Stage, listen: &str, more: &[&str]) -> Self {
        Self::start(stage, &[&["serve", "--listen", listen], more].concat())
    }

    fn address(&self) -> &str {
        let rest = self.url.trim_start_matches("http://").trim_start_matches("tcp:");
        rest.split('/').next().unwrap_or_default()
    }

    fn end(self) -> String {
        self.process.signal("INT");
        let output = self.process.end();
        assert_eq!(output.code(), 0, "{output:?}");
        output.err()
    }
}

fn initialize(client: &str) -> Value {
    let params =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": client, "version": "1"}});
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
}

fn initialized() -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/initialized"})
}

fn request(id: i64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// A client that stays connected, on any transport; the test sends for it.
fn client(stage: &Stage, name: &str, url: &str) -> Live {
    let reel = format!("{name}.reel");
    let mut client = stage.start(&["record", "--force", "-o", &reel, "--url", url]);
    open(&mut client, name);
    client
}

fn open(client: &mut Live, name: &str) {
    client.send(&initialize(name));
    let Some(answer) = client.next_line() else { panic!("{name}: {}", client.stderr_so_far()) };
    assert_eq!(serde_json::from_str::<Value>(&answer).expect("JSON")["id"], 0);
    client.send(&initialized());
}

fn ask(client: &mut Live, id: i64, method: &str, params: Value) -> Value {
    client.send(&request(id, method, params));
    client.message(|message| message["id"] == id)
}

/// A server's response to the opening of a WebSocket, or to any GET with these headers.
fn get(address: &str, path: &str, headers: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("connects");
    stream.set_read_timeout(Some(LIMIT)).expect("a limit");
    write!(stream, "GET {path} HTTP/1.1\r\n{headers}\r\n").expect("sent");
    let mut lines = BufReader::new(stream).lines();
    std::iter::from_fn(|| lines.next()?.ok().filter(|line| !line.is_empty())).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_server_is_the_same_on_every_transport() {
    let stage = Stage::new();
    let says = |url: &str| {
        let call = ["call", "tools/call", "name=add", "arguments.a:=2", "arguments.b:=3", "--format", "json"];
        let output = stage.ok(&[&call[..], &["--url", url]].concat());
        assert_eq!(output.json()["structuredContent"]["sum"], 5, "{url}: {output:?}");
    };
    let http = Server::serve(&stage, "0", &[]);
    says(&http.url);
    says(&http.url.replace("http:", "ws:"));
    let sse = http.url.replace("/mcp", "/sse");
    says(&sse);
    let reported = stage.ok(&["call", "ping", "--url", &sse, "--era", "legacy", "-v"]);
    assert!(reported.err().contains("HTTP+SSE: messages go to"), "{reported:?}");
    http.end();
    for listen in ["tcp:0", "tcp:127.0.0.1:0"] {
        let tcp = Server::serve(&stage, listen, &[]);
        assert!(tcp.url.starts_with("tcp:127.0.0.1:"), "{}", tcp.url);
        says(&tcp.url);
        tcp.end();
    }
    let path = stage.path("mcp.sock");
    let unix = Server::serve(&stage, &format!("unix:{}", path.display()), &[]);
    assert_eq!(std::fs::metadata(&path).expect("a socket").permissions().mode() & 0o777, 0o600);
    says(&unix.url);
    unix.end();
    assert!(!path.exists(), "a socket goes with its server");
}

#[test]
fn several_clients_have_a_server_each_and_are_spoken_to_one_by_one() {
    let stage = Stage::new();
    let path = format!("unix:{}", stage.path("mcp.sock").display());
    for listen in ["0", "tcp:0", path.as_str()] {
        let server = Server::serve(&stage, listen, &[]);
        let url = server.url.replace("http:", "ws:");
        let (mut one, mut two) = (client(&stage, "one", &url), client(&stage, "two", &url));
        for (client, text) in [(&mut one, "first's"), (&mut two, "second's")] {
            let call = json!({"name": "add_note", "arguments": {"text": text}});
            ask(client, 1, "tools/call", call);
            let notes = ask(client, 2, "resources/read", json!({"uri": "mcpreel://notes"}));
            assert_eq!(notes["result"]["contents"][0]["text"], text, "{listen}: no other's");
        }
        let listed = stage.ok(&["sessions", "--format", "json"]).out();
        let sessions: Vec<Value> = listed.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert!(sessions.iter().any(|session| session["name"] == "serve"), "{sessions:?}");
        let log = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"for two"}}"#;
        stage.ok(&["fire", "raw", log, "--as", "server", "--session", "serve#2"]);
        assert_eq!(two.message(|message| message["method"].is_string())["params"]["data"], "for two");
        let unclear = stage.run(&["fire", "raw", log, "--as", "server", "--session", "serve"], "");
        assert_ne!(unclear.code(), 0, "{unclear:?}");
        // Nothing of it reached the first client.
        one.send(&request(9, "ping", json!({})));
        assert_eq!(one.message(|_| true)["id"], 9);
        server.end();
    }
}

#[test]
fn what_was_asked_for_is_answered_to_a_client_that_says_no_more() {
    let stage = Stage::new();
    let server = Server::serve(&stage, "unix:mcp.sock", &[]);
    let mut stream = UnixStream::connect(stage.path("mcp.sock")).expect("connects");
    stream.set_read_timeout(Some(LIMIT)).expect("a limit");
    for message in [initialize("hasty"), initialized(), request(1, "ping", json!({}))] {
        writeln!(stream, "{message}").expect("sent");
    }
    stream.shutdown(Shutdown::Write).expect("half closed");
    let mut said = String::new();
    stream.read_to_string(&mut said).expect("text to the end");
    let ids: Vec<Value> =
        said.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON")["id"].clone()).collect();
    assert_eq!(ids, [0, 1]);
    server.end();
}

#[test]
fn pages_in_a_browser_are_kept_out() {
    let stage = Stage::new();
    let server = Server::serve(&stage, "0", &[]);
    let socket = "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n\
        sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-protocol: other, mcp\r\n";
    let address = server.address().to_owned();
    let upgraded = get(&address, "/mcp", &format!("host: {address}\r\n{socket}"));
    assert!(upgraded.starts_with("HTTP/1.1 101 "), "{upgraded}");
    assert!(upgraded.contains("sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), "{upgraded}");
    assert!(upgraded.contains("sec-websocket-protocol: mcp"), "{upgraded}");
    let page = format!("host: {address}\r\norigin: https://evil.example\r\n");
    let rebound = "host: evil.example\r\n".to_owned();
    for who in [page, rebound] {
        for (path, more) in [("/mcp", socket), ("/sse", "accept: text/event-stream\r\n")] {
            let refused = get(&address, path, &format!("{who}{more}"));
            assert!(refused.starts_with("HTTP/1.1 403 "), "{path} {who}: {refused}");
        }
    }
    let old = get(&address, "/mcp", &format!("host: {address}\r\n{}", socket.replace(": 13", ": 8")));
    assert!(old.starts_with("HTTP/1.1 400 "), "{old}");
    server.end();
    // Lines have no headers to check, so input that looks like an HTTP request is ignored.
    let server = Server::serve(&stage, "tcp:0", &[]);
    let mut stream = TcpStream::connect(server.address()).expect("connects");
    stream.set_read_timeout(Some(LIMIT)).expect("a limit");
    let body = format!("{}\n{}\n", initialize("page"), request(1, "ping", json!({})));
    let _ = write!(stream, "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    let mut said = Vec::new();
    let _ = stream.read_to_end(&mut said);
    assert_eq!(String::from_utf8_lossy(&said), "");
    server.end();
}

#[test]
fn a_socket_is_taken_over_from_the_dead_and_from_nobody_else() {
    let stage = Stage::new();
    let live = Server::serve(&stage, "unix:mcp.sock", &[]);
    let second = stage.run(&["serve", "--listen", "unix:mcp.sock"], "");
    assert!(second.code() == 4 && second.err().contains("choose another path"), "{second:?}");
    live.process.signal("KILL");
    live.process.end_unread();
    let path = stage.path("mcp.sock");
    assert!(std::fs::metadata(&path).expect("left behind").file_type().is_socket());
    Server::serve(&stage, "unix:mcp.sock", &[]).end();
    stage.write("file", "mine");
    assert_eq!(stage.run(&["serve", "--listen", "unix:file"], "").code(), 4);
    assert_eq!(stage.read("file"), b"mine");
    assert_eq!(stage.run(&["serve", "--listen", "unix:no/such/folder"], "").code(), 2);
    let wrong = stage.run(&["record", "--listen", "tcp:0", "--url", "http://127.0.0.1:1/"], "");
    assert!(wrong.code() == 2 && wrong.err().contains("a proxy needs HTTP"), "{wrong:?}");
}

#[test]
fn a_recorded_server_is_behind_the_same_listeners() {
    let stage = Stage::new();
    for (listen, scheme) in [("0", "ws:"), ("tcp:0", "tcp:"), ("unix:mcp.sock", "unix:")] {
        let words = ["record", "-o", "tap.reel", "--label", "tap", "--listen", listen, "--", BINARY, "serve"];
        let _ = std::fs::remove_file(stage.path("tap.reel"));
        let server = Server::start(&stage, &words);
        let mut client = client(&stage, "client", &server.url.replace("http:", scheme));
        let pong = ask(&mut client, 1, "ping", json!({}));
        assert_eq!(pong["result"], json!({}));
        // Once the handshake is in the reel.
        let asked = until("an answer beside the client", || {
            let asked = stage.run(&["call", "tools/list", "--session", "tap#1", "--format", "json"], "");
            (asked.code() == 0).then(|| asked.json())
        });
        assert!(asked["tools"].is_array(), "{listen}: {asked}");
        drop(client);
        server.end();
        let events = stage.events("tap.reel");
        let seen = |text: &str| events.iter().any(|event| event.to_string().contains(text));
        assert!(seen("initialize") && seen("tools/list"), "{listen}");
    }
}

/// A server on stdio that watches the stage's folder `w`, after the handshake.
fn watching(stage: &Stage, more: &[&str]) -> Live {
    watching_behind(stage, &[], more)
}

fn watching_behind(stage: &Stage, tap: &[&str], more: &[&str]) -> Live {
    let mut server = stage.start(&[tap, &["serve", "--watch-quiet", "50ms"], more].concat());
    open(&mut server, "tester");
    server
}

fn workspace(stage: &Stage) -> std::path::PathBuf {
    for folder in ["w/src", "w/target", "w/.git"] {
        std::fs::create_dir_all(stage.path(folder)).expect("a folder");
    }
    stage.write("w/src/lib.rs", "fn old() {}\n");
    stage.path("w").canonicalize().expect("there")
}

fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

fn reminder(server: &mut Live) -> Value {
    server.message(|message| message["method"] == "notifications/reminder")["params"]["reminder"].clone()
}

#[test]
fn a_changed_file_is_reported_to_who_watches_it_and_reminded_of() {
    let stage = Stage::new();
    let root = workspace(&stage);
    let lib = uri(&root.join("src/lib.rs"));
    let tap = ["record", "-o", "w.reel", "--", BINARY];
    let mut server = watching_behind(&stage, &tap, &["--watch", "w", "--ignore", "*.log"]);
    let listed = ask(&mut server, 1, "resources/list", json!({}));
    let uris: Vec<&Value> =
        listed["result"]["resources"].as_array().expect("a list").iter().map(|it| &it["uri"]).collect();
    assert_eq!(uris, ["mcpreel://memories", "mcpreel://notes", &lib]);
    let read = ask(&mut server, 2, "resources/read", json!({"uri": lib}));
    assert_eq!(read["result"]["contents"][0]["text"], "fn old() {}\n");
    let up = format!("{}/../home", uri(&root));
    assert_eq!(ask(&mut server, 3, "resources/read", json!({"uri": up}))["error"]["code"], -32002);
    assert!(ask(&mut server, 4, "resources/subscribe", json!({"uri": lib}))["result"].is_object());
    // Ignored files come first, so that a report of them would arrive first.
    for ignored in ["w/target/out", "w/.git/index", "w/debug.log"] {
        stage.write(ignored, "x");
    }
    stage.write("w/src/lib.rs", "fn new() {}\n");
    let updated = server.message(|message| message["method"].is_string());
    assert_eq!(
        (&updated["method"], &updated["params"]["uri"]),
        (&json!("notifications/resources/updated"), &json!(lib))
    );
    let said = server.message(|message| message["method"].is_string())["params"]["reminder"].clone();
    assert_eq!(said["body"], "src/lib.rs changed; read it again before you edit it");
    assert_eq!((&said["dedupeKey"], &said["ttlTurns"]), (&json!("file_changed:src/lib.rs"), &json!(2)));
    assert_eq!(said["tags"], json!(["workspace", "file_changed"]));
    // No client subscribed to this one; all get reminders.
    stage.write("w/notes.md", "new");
    let next = server.message(|message| message["method"].is_string());
    assert_eq!(next["params"]["reminder"]["dedupeKey"], "file_changed:notes.md", "{next}");
    std::fs::remove_file(stage.path("w/notes.md")).expect("removed");
    assert_eq!(reminder(&mut server)["body"], "notes.md was removed");
    std::fs::create_dir(stage.path("w/more")).expect("made");
    stage.write("w/more/deep.rs", "x");
    assert_eq!(reminder(&mut server)["dedupeKey"], "file_changed:more/deep.rs");
    server.end();
    // The proposal requires updates and reminders together (behaviour B23).
    let judged = stage.ok(&["validate", "w.reel", "--fail-on", "warning", "--format", "json"]).json();
    let exercised = judged["connections"][0]["exercised"].as_array();
    let is_checked = exercised.is_some_and(|rules| rules.contains(&json!("reminder/no-resource-update")));
    assert!(is_checked, "{judged}");
}

#[test]
fn who_watches_a_folder_receives_of_what_is_in_it() {
    let stage = Stage::new();
    let root = workspace(&stage);
    let server = Server::serve(&stage, "tcp:0", &["--watch", "w", "--watch-quiet", "50ms"]);
    let (mut one, mut two) = (client(&stage, "one", &server.url), client(&stage, "two", &server.url));
    ask(&mut one, 1, "resources/subscribe", json!({"uri": uri(&root.join("src"))}));
    ask(&mut two, 1, "resources/subscribe", json!({"uri": uri(&root.join("docs"))}));
    stage.write("w/src/lib.rs", "changed");
    let updated = one.message(|message| message["method"].is_string());
    assert_eq!(updated["params"]["uri"], uri(&root.join("src/lib.rs")));
    assert_eq!(reminder(&mut one)["dedupeKey"], "file_changed:src/lib.rs");
    let other = two.message(|message| message["method"].is_string());
    assert_eq!(other["method"], "notifications/reminder", "all get reminders, only subscribers get updates");
    server.end();
}

#[test]
fn another_outcome_of_a_command_is_reminded_of() {
    let stage = Stage::new();
    workspace(&stage);
    let command = "cat w/state; test -e w/ok";
    stage.write("w/state", "2 errors in 0.1s\n");
    let mut server = watching(&stage, &["--watch", "w", "--watch-command", command]);
    let outcome = |server: &mut Live| {
        let is_of_command = |message: &Value| message["params"]["reminder"]["roleHint"] == "system";
        server.message(is_of_command)["params"]["reminder"].clone()
    };
    // It failed before a client connected, or while one did.
    let first = outcome(&mut server);
    assert_eq!(first["body"], format!("`{command}` failed with exit code 1\n2 errors in 0.1s"));
    assert_eq!((&first["dedupeKey"], &first["ttlTurns"]), (&json!(format!("command:{command}")), &json!(1)));
    stage.write("w/state", "1 error in 0.3s\n");
    let body = until("another summary", || {
        let body = outcome(&mut server)["body"].as_str().unwrap_or_default().to_owned();
        body.contains("1 error").then_some(body)
    });
    assert!(body.contains("(before: failed with exit code 1)"), "{body}");
    stage.write("w/ok", "");
    let passed = outcome(&mut server);
    assert!(passed["body"].as_str().is_some_and(|body| body.contains("` passed (before: failed")), "{passed}");
    let checked = ask(&mut server, 1, "tools/call", json!({"name": "check", "arguments": {}}));
    let reported = &checked["result"]["structuredContent"]["outcomes"][0];
    assert_eq!((&reported["command"], &reported["passed"]), (&json!(command), &json!(true)));
    assert_eq!(reported["output"], "1 error in 0.3s\n");
    server.end();
}

#[test]
fn a_command_is_run_again_by_the_clock_and_ends_with_the_server() {
    let stage = Stage::new();
    let script = "echo x >> runs; test $(wc -l < runs) -lt 2";
    let mut server = watching(&stage, &["--watch-command", script, "--watch-every", "100ms"]);
    let failed = reminder(&mut server);
    assert!(failed["body"].as_str().is_some_and(|body| body.contains("failed with exit code 1")), "{failed}");
    server.end();
    let slow = "echo $$ > pid; exec sleep 600";
    let server = watching(&stage, &["--watch-command", slow]);
    let pid =
        until("the command", || String::from_utf8(std::fs::read(stage.path("pid")).ok()?).ok()?.trim().parse().ok());
    assert!(lives(pid));
    server.end();
    until("the command to end", || (!lives(pid)).then_some(()));
    let mut late = watching(&stage, &["--watch-command", slow, "--watch-limit", "50ms"]);
    let ended = reminder(&mut late);
    assert!(ended["body"].as_str().is_some_and(|body| body.contains("took more than 50ms")), "{ended}");
    // If it is killed, it leaves nothing behind either.
    let _ = std::fs::remove_file(stage.path("pid"));
    let killed = watching(&stage, &["--watch-command", slow]);
    let pid =
        until("the command", || String::from_utf8(std::fs::read(stage.path("pid")).ok()?).ok()?.trim().parse().ok());
    killed.signal("KILL");
    killed.end_unread();
    until("the command to end", || (!lives(pid)).then_some(()));
    late.end();
}

#[test]
fn what_is_not_asked_for_is_not_there() {
    let stage = Stage::new();
    let tools = |more: &[&str]| {
        let words = ["call", "tools/list", "--format", "json", "--", BINARY, "serve"];
        let listed = stage.ok(&[&words[..], more].concat()).json();
        let all = listed["tools"].as_array().expect("a list").clone();
        all.iter().map(|tool| tool["name"].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    let plain = tools(&[]);
    assert!(plain.contains(&"remember".to_owned()) && !plain.contains(&"check".to_owned()), "{plain:?}");
    let other = tools(&["--memory", "off", "--watch-command", "true"]);
    assert!(!other.contains(&"remember".to_owned()) && other.contains(&"check".to_owned()), "{other:?}");
    let gone = stage.run(&["serve", "--watch", "no/such"], "");
    assert!(gone.code() == 2 && gone.err().contains("cannot watch no/such"), "{gone:?}");
    let wrong = stage.run(&["serve", "--watch", ".", "--ignore", "[a"], "");
    assert!(wrong.code() == 2 && wrong.err().contains("--ignore"), "{wrong:?}");
}

/// The response of an HTTP address to a post: status and body.
fn post(address: &str, headers: &str, body: &str) -> (u16, Value) {
    let mut stream = TcpStream::connect(address).expect("connects");
    stream.set_read_timeout(Some(LIMIT)).expect("a limit");
    let length = body.len();
    let host = if headers.contains("host:") { String::new() } else { format!("host: {address}\r\n") };
    let kind = if headers.contains("content-type") { "" } else { "content-type: application/json\r\n" };
    let method = if headers.contains("x-method: get") { "GET" } else { "POST" };
    let head = format!("{method} /ci/main HTTP/1.1\r\n{host}{kind}{headers}content-length: {length}\r\n");
    let _ = write!(stream, "{head}connection: close\r\n\r\n{body}");
    let mut said = String::new();
    let _ = stream.read_to_string(&mut said);
    let status = said.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
    let body = said.split("\r\n\r\n").nth(1).unwrap_or_default();
    (status, serde_json::from_str(body.trim()).unwrap_or_default())
}

fn mcpl_host(mut server: Live) -> Live {
    let capabilities = json!({"experimental": {"mcpl": {"version": "0.4", "pushEvents": true, "channels": true}}});
    server.send(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25",
        "capabilities": capabilities, "clientInfo": {"name": "tester", "version": "1"}}}));
    server.message(|message| message["id"] == 0);
    server.send(&initialized());
    server
}

#[test]
fn a_post_is_pushed_once_and_what_is_no_event_is_refused() {
    let stage = Stage::new();
    let mut server = stage.start(&["serve", "--webhook", "0"]);
    let address = until("the receiver to listen", || {
        let said = server.stderr_so_far();
        Some(said.split("posts to http://").nth(1)?.split('/').next()?.to_owned())
    });
    let reported = r#"{"eventId":"e1","text":"deployed","origin":{"repo":"r"}}"#;
    assert_eq!(post(&address, "", reported).0, 503, "no host is connected yet");
    server = mcpl_host(server);
    server.send(&request(1, "ping", json!({})));
    server.message(|message| message["id"] == 1);
    assert_eq!(post(&address, "", reported), (202, json!({"eventId": "e1", "status": "sent", "sessions": 1})));
    let push = server.message(|message| message["method"] == "push/event");
    assert_eq!(push["params"]["origin"], json!({"repo": "r", "webhook": "ci/main"}));
    assert_eq!(
        (&push["params"]["eventId"], &push["params"]["payload"]["content"][0]["text"]),
        (&json!("e1"), &json!("deployed"))
    );
    assert_eq!(post(&address, "", reported), (200, json!({"eventId": "e1", "status": "duplicate"})));
    assert_eq!(post(&address, "", r#"{"action":"opened"}"#).0, 202);
    let push = server.message(|message| message["method"] == "push/event");
    assert_eq!(push["params"]["payload"]["content"][0]["text"], r#"{"action":"opened"}"#, "not the duplicate");
    let large = format!(r#"{{"text":"{}"}}"#, "x".repeat(1 << 20));
    let refused = [
        ("", "{broken", 400),
        ("", "[1]", 422),
        ("", r#"{"text":"x","featureSet":"no.such"}"#, 409),
        ("host: evil.example\r\n", reported, 403),
        ("origin: https://evil.example\r\n", reported, 403),
        ("content-type: text/plain\r\n", reported, 415),
        ("x-method: get\r\n", "", 405),
        ("", &large, 413),
    ];
    for (headers, body, status) in refused {
        let (said, why) = post(&address, headers, body);
        assert_eq!((said, !why["error"].is_null()), (status, true), "{headers}: {why}");
    }
    // A disabled feature set pushes nothing, and the event may be sent again.
    server
        .send(&json!({"jsonrpc": "2.0", "method": "featureSets/update", "params": {"disabled": ["memory.proactive"]}}));
    server.send(&request(2, "ping", json!({})));
    server.message(|message| message["id"] == 2);
    for _ in 0..2 {
        let (status, why) = post(&address, "", r#"{"eventId":"e2","text":"x"}"#);
        assert_eq!((status, &why["error"]["why"]), (409, &json!("feature_set_disabled")));
    }
    server.end();
    for open in ["0.0.0.0:0", "192.0.2.1:80"] {
        let refused = stage.run(&["serve", "--webhook", open], "");
        assert!(refused.code() == 2 && refused.err().contains("other machines"), "{refused:?}");
    }
    for odd in ["mcpl:=5", "mcpl.channels=all"] {
        let refused = stage.run(&["serve", "--channel-socket", "c.sock", "--set", odd], "");
        assert!(refused.code() == 2 && refused.err().contains("--set: mcpl"), "{odd}: {refused:?}");
    }
}

#[test]
fn a_channel_over_a_socket_brings_lines_in_and_what_is_published_out() {
    let stage = Stage::new();
    let mut server = mcpl_host(stage.start(&["serve", "--channel-socket", "chat.sock"]));
    let registered = server.message(|message| message["method"] == "channels/register");
    assert_eq!(registered["params"]["channels"][0]["id"], "socket:chat");
    assert_eq!(std::fs::metadata(stage.path("chat.sock")).expect("a socket").permissions().mode() & 0o777, 0o600);
    let mut client = UnixStream::connect(stage.path("chat.sock")).expect("connects");
    client.set_read_timeout(Some(LIMIT)).expect("a limit");
    let mut lines = BufReader::new(client.try_clone().expect("a clone")).lines();
    let mut received = || serde_json::from_str::<Value>(&lines.next().expect("a line").expect("text")).expect("JSON");
    writeln!(client, "any news?").expect("sent");
    let incoming = server.message(|message| message["method"] == "channels/incoming");
    let message = &incoming["params"]["messages"][0];
    assert_eq!((&message["channelId"], &message["content"][0]["text"]), (&json!("socket:chat"), &json!("any news?")));
    let result = json!({"results": [{"messageId": message["messageId"], "accepted": true}]});
    server.send(&json!({"jsonrpc": "2.0", "id": incoming["id"], "result": result}));
    let answered = received();
    assert_eq!((&answered["report"], &answered["accepted"][0]), (&json!("incoming_answered"), &message["messageId"]));
    writeln!(client, "{{\"x\":1}}").expect("sent");
    assert!(received()["error"].is_string());
    let content = json!([{"type": "text", "text": "all is well"}]);
    let publish = json!({"conversationId": "c", "channelId": "socket:chat", "content": content});
    let published = ask(&mut server, 5, "channels/publish", publish);
    assert_eq!(published["result"]["delivered"], true);
    let out = received();
    assert_eq!((&out["report"], &out["text"]), (&json!("channel_published"), &json!("all is well")));
    server.end();
    assert!(!stage.path("chat.sock").exists(), "the socket goes with its server");
    stage.write("file", "mine");
    assert_eq!(stage.run(&["serve", "--channel-socket", "file"], "").code(), 2);
}

#[test]
fn a_post_reaches_every_host_that_is_connected() {
    let stage = Stage::new();
    let server = Server::serve(&stage, "unix:mcp.sock", &["--webhook", "0"]);
    let said = server.process.stderr_so_far();
    let address =
        said.split("posts to http://").nth(1).and_then(|it| it.split('/').next()).expect("reported").to_owned();
    assert_eq!(post(&address, "", r#"{"text":"x"}"#).0, 503);
    let host = |name: &str| {
        let reel = format!("{name}.reel");
        let mut host = mcpl_host(stage.start(&["record", "-o", &reel, "--url", &server.url]));
        host.send(&request(1, "ping", json!({})));
        host.message(|message| message["id"] == 1);
        host
    };
    let (mut one, mut two) = (host("one"), host("two"));
    let (status, reported) = post(&address, "", r#"{"text":"x"}"#);
    assert_eq!((status, &reported["sessions"]), (202, &json!(2)), "{reported}");
    for host in [&mut one, &mut two] {
        let push = host.message(|message| message["method"] == "push/event");
        assert_eq!(push["params"]["eventId"], reported["eventId"]);
    }
    server.end();
}

#[test]
fn lines_are_fed_from_a_fifo_a_file_a_socket_and_standard_input() {
    let stage = Stage::new();
    let reminder = |body: &str| format!("{}\n", json!({"kind": "reminder", "body": body}));
    let body = |body: &str| {
        let body = json!(body);
        move |message: &Value| message["params"]["reminder"]["body"] == body
    };
    // A FIFO remains after its writer; invalid lines end nothing.
    let made = stage.command(&["mkfifo", "fifo"]).status().expect("mkfifo runs");
    assert!(made.success());
    let mut server = mcpl_host(stage.start(&["serve", "--feed", "fifo"]));
    for round in ["one", "two"] {
        std::fs::write(stage.path("fifo"), format!("wrong\n{}", reminder(round))).expect("fed");
        server.message(body(round));
    }
    until("the wrong line is reported", || server.stderr_so_far().contains("--feed: line 1: ").then_some(()));
    server.end();
    // Lines of a file wait for the host.
    stage.write("file", reminder("three"));
    let mut server = mcpl_host(stage.start(&["serve", "--feed", "file"]));
    server.message(body("three"));
    server.end();
    // Whoever connects gets errors about its own lines.
    let mut server = mcpl_host(stage.start(&["serve", "--feed", "unix:feed.sock"]));
    assert_eq!(std::fs::metadata(stage.path("feed.sock")).expect("a socket").permissions().mode() & 0o777, 0o600);
    let mut client = UnixStream::connect(stage.path("feed.sock")).expect("connects");
    client.set_read_timeout(Some(LIMIT)).expect("a limit");
    client.write_all(format!("{{\"kind\":\"none\"}}\n{}", reminder("four")).as_bytes()).expect("fed");
    let reported = BufReader::new(client).lines().next().expect("a line").expect("text");
    assert!(reported.contains("line 1") && reported.contains("none"), "{reported}");
    server.message(body("four"));
    server.end();
    assert!(!stage.path("feed.sock").exists(), "the socket goes with its server");
    // Standard input belongs to the host, unless hosts connect elsewhere.
    let refused = stage.run(&["serve", "--feed", "-"], "");
    assert!(refused.code() == 2 && refused.err().contains("--listen"), "{refused:?}");
    assert_eq!(stage.run(&["serve", "--feed", "missing"], "").code(), 3);
    let mut server = stage.start(&["serve", "--listen", "unix:mcp.sock", "--feed", "-"]);
    until("the server listens", || stage.path("mcp.sock").exists().then_some(()));
    let mut host = mcpl_host(stage.start(&["record", "-o", "fed.reel", "--url", "unix:mcp.sock"]));
    server.write(reminder("five"));
    host.message(body("five"));
    host.end();
    server.signal("TERM");
    server.end();
}
