//! Tests the access checks of every HTTP listener with raw requests: ambiguous heads, other sites' pages, and what such
//! a page could start.

use crate::common::socket::{self, Client, Reply, Tap};
use crate::common::{BINARY, Live, Stage, until};
use serde_json::json;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Starts a listener; `before` precedes its address in the output.
fn listening(stage: &Stage, words: &[&str], before: &str) -> (Live, SocketAddr) {
    let process = stage.start(words);
    let address = until("the listener", || {
        let said = process.stderr_so_far();
        said.split_once(before)?.1.split_once('/')?.0.parse().ok()
    });
    (process, address)
}

fn initialize() -> String {
    let params =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}).to_string()
}

/// A request that a listener accepts, in parts.
struct Kind {
    name: &'static str,
    address: SocketAddr,
    method: &'static str,
    path: &'static str,
    headers: &'static str,
    body: String,
    taken: u16,
}

const JSON: &str = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";
const UPGRADE: &str = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

impl Kind {
    /// The status of the response with these additional header lines; `origin` precedes the path.
    fn status(&self, origin: &str, headers: &str) -> u16 {
        let Self { method, path, headers: own, body, .. } = self;
        let is_measured = headers.to_ascii_lowercase().contains("content-length");
        let length = if is_measured { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
        let body = if headers.contains("chunked") { "0\r\n\r\n" } else { body };
        let mut client = Client::connect(self.address);
        client.send(format!("{method} {origin}{path} HTTP/1.1\r\n{headers}{own}{length}\r\n{body}"));
        client.head().map_or(0, |head| head.status())
    }
}

/// What precedes the path, the header lines, and the status of the response; 200 if it is accepted.
const HEADS: &[(&str, &str, u16)] = &[
    ("", "Host: localhost\r\n", 200),
    ("", "Host: localhost.:80\r\n", 200),
    ("", "Host: 127.0.0.1:1\r\nOrigin: http://localhost:6274\r\n", 200),
    ("", "Host: [::1]\r\nSec-Fetch-Site: none\r\n", 200),
    ("", "Host: localhost\r\nSec-Fetch-Site: same-site\r\nOrigin: http://localhost:6274\r\n", 200),
    ("http://localhost", "Host: localhost\r\n", 200),
    ("", "", 400),
    ("", "Host:\r\n", 400),
    ("", "Host: localhost\r\nHost: localhost\r\n", 400),
    ("", "Host: localhost\r\nHost: evil.example\r\n", 400),
    ("", "Host: evil.example\r\nHost: localhost\r\n", 400),
    ("", "Host: evil.example\r\n", 403),
    ("", "Host: localhost.evil.example\r\n", 403),
    ("", "Host: localhost..\r\n", 400),
    ("", "Host: localhost:abc\r\n", 400),
    ("", "Host: localhost:99999\r\n", 400),
    ("", "Host: 0.0.0.0\r\n", 403),
    ("", "Host: [::]:80\r\n", 403),
    ("", "Host: evil.example@localhost\r\n", 400),
    ("http://evil.example", "Host: localhost\r\n", 403),
    ("http://evil.example", "Host: evil.example\r\n", 403),
    ("http://localhost:1", "Host: localhost:2\r\n", 400),
    ("http://localhost", "Host: 127.0.0.1\r\n", 400),
    ("", "Host: localhost\r\nOrigin: https://evil.example\r\n", 403),
    ("", "Host: localhost\r\nOrigin: null\r\n", 403),
    ("", "Host: localhost\r\nOrigin: http://localhost\r\nOrigin: https://evil.example\r\n", 400),
    ("", "Host: localhost\r\nOrigin: http://localhost\r\nOrigin: http://localhost\r\n", 400),
    ("", "Host: localhost\r\nSec-Fetch-Site: cross-site\r\n", 403),
    ("", "Host: localhost\r\nSec-Fetch-Site: same-site\r\n", 403),
    ("", "Host: localhost\r\nSec-Fetch-Site: none\r\nSec-Fetch-Site: cross-site\r\n", 403),
    ("", "Host: localhost\r\nSec-Fetch-Site: cross-site\r\nOrigin: https://evil.example\r\n", 403),
    ("", "Host: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n", 400),
    ("", "Host: localhost\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n", 400),
    ("", "Host: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n", 400),
];

#[test]
fn every_listener_refuses_heads_that_are_ambiguous_or_foreign() {
    let stage = Stage::new();
    let (gateway, at_gateway) =
        listening(&stage, &["record", "-o", "g.reel", "--listen", "0", "--", BINARY, "serve"], "listening on http://");
    let (server, at_server) = listening(&stage, &["serve", "--listen", "0", "--webhook", "0"], "listening on http://");
    let said = until("the webhook", || Some(server.stderr_so_far()).filter(|said| said.contains("posts to http://")));
    let at_webhook = said.split_once("posts to http://").and_then(|(_, rest)| rest.split_once('/')?.0.parse().ok());
    let reached = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&reached);
    let upstream = socket::serve(move |_, wire| {
        counted.fetch_add(1, Ordering::SeqCst);
        socket::say(wire, socket::json_answer("{}"));
        true
    });
    let proxy = Tap::start(&stage, upstream, &[]);

    let post =
        |name, address, path, body, taken| Kind { name, address, method: "POST", path, headers: JSON, body, taken };
    let get = |name, address, path, headers, taken| Kind {
        name,
        address,
        method: "GET",
        path,
        headers,
        body: String::new(),
        taken,
    };
    let kinds = [
        post("gateway", at_gateway, "/mcp", initialize(), 200),
        get("gateway, WebSocket", at_gateway, "/mcp", UPGRADE, 101),
        get("gateway, HTTP+SSE", at_gateway, "/sse", "Accept: text/event-stream\r\n", 200),
        post("server", at_server, "/mcp", initialize(), 200),
        get("server, HTTP+SSE", at_server, "/sse", "Accept: text/event-stream\r\n", 200),
        post("reverse proxy", proxy.address, "/mcp", initialize(), 200),
        post("webhook", at_webhook.expect("an address"), "/", r#"{"text":"x"}"#.into(), 503),
    ];
    let mut wrong = Vec::new();
    for kind in &kinds {
        for (origin, headers, expected) in HEADS {
            let expected = if *expected == 200 { kind.taken } else { *expected };
            let status = kind.status(origin, headers);
            if status != expected {
                wrong.push(format!("{}: {origin}{} {headers:?}: {status}, not {expected}", kind.name, kind.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let taken = HEADS.iter().filter(|head| head.2 == 200).count();
    assert_eq!(reached.load(Ordering::SeqCst), taken, "what is refused does not reach the server");
    proxy.end();
    drop((gateway, server));
}

#[test]
fn a_request_that_hides_in_the_body_of_another_is_never_answered() {
    let stage = Stage::new();
    let (_server, address) = listening(&stage, &["serve", "--listen", "0"], "listening on http://");
    let body = initialize();
    let good = format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\n{JSON}Content-Length: {}\r\n\r\n{body}", body.len());
    let mut client = Client::connect(address);
    client.send(&good);
    assert_eq!(client.reply().status, 200, "a connection that was good so far");
    let hidden = format!("0\r\n\r\n{good}");
    client.send(format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\n{JSON}Content-Length: {}\r\nTransfer-Encoding: chunked\r\n\r\n{hidden}",
        hidden.len()
    ));
    let reply = client.reply();
    assert!(reply.status == 400 && reply.body.contains("Content-Length"), "{reply:?}");
    assert_eq!(client.reply().status, 0, "and then nothing");
}

#[test]
fn a_web_page_starts_no_server() {
    let stage = Stage::new();
    let script = format!("echo started >> started; exec {BINARY} serve");
    let words = ["record", "-o", "g.reel", "--listen", "0", "--", "sh", "-c", &script];
    let (gateway, address) = listening(&stage, &words, "listening on http://");
    let started = || std::fs::read_to_string(stage.path("started")).unwrap_or_default().lines().count();
    // As a browser sends it for an image; before 2023, some sent no Sec-Fetch-Site.
    let image = "Accept: image/avif,image/webp,*/*;q=0.8\r\nSec-Fetch-Dest: image\r\nSec-Fetch-Mode: no-cors\r\n";
    let ask = |headers: &str| {
        let mut client = Client::connect(address);
        client.send(format!("GET /sse HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n"));
        let status = client.head().map_or(0, |head| head.status());
        (client, status)
    };
    for site in ["cross-site", "same-site"] {
        assert_eq!(ask(&format!("{image}Sec-Fetch-Site: {site}\r\n")).1, 403, "{site}");
    }
    assert_eq!(ask("Accept: image/avif,image/webp\r\n").1, 406);
    let mut open: Vec<Client> = (0..100)
        .map(|_| {
            let (mut client, status) = ask(image);
            assert_eq!(status, 200);
            assert!(client.next().is_some_and(|reported| reported.starts_with("event: endpoint\n")));
            client
        })
        .collect();
    // Types that a form or a script can post to any site without a preflight request.
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""] {
        let kind = if kind.is_empty() { String::new() } else { format!("Content-Type: {kind}\r\n") };
        let mut client = Client::connect(address);
        let body = initialize();
        let length = body.len();
        client.send(format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\n{kind}Content-Length: {length}\r\n\r\n{body}"));
        let reply = client.reply();
        assert!(reply.status == 415 && reply.body.contains("application/json"), "{kind}: {reply:?}");
    }
    assert_eq!(started(), 0, "100 pages wait for a server that nobody has spoken to");
    let url = format!("http://{address}/sse");
    stage.ok(&["call", "ping", "--url", &url, "--era", "legacy"]);
    assert_eq!(started(), 1, "a client is served all the same");
    assert_eq!(open[0].next(), None, "the oldest stream made room for it");
    drop(open);
    gateway.signal("INT");
    assert_eq!(gateway.end().code(), 0);
}

#[test]
fn a_reverse_proxy_leaves_content_types_to_its_server() {
    let stage = Stage::new();
    let upstream = socket::serve(|_, wire| {
        socket::say(wire, socket::json_answer("{}"));
        true
    });
    let proxy = Tap::start(&stage, upstream, &[]);
    let mut client = Client::connect(proxy.address);
    client.send("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}");
    assert_eq!(client.reply().status, 200);
    proxy.end();
}

#[test]
fn a_session_that_listens_is_never_taken_away() {
    let stage = Stage::new();
    let (_server, address) = listening(&stage, &["serve", "--listen", "0"], "listening on http://");
    let open = || -> Result<String, Reply> {
        let mut client = Client::connect(address);
        client.post("Accept: application/json, text/event-stream\r\n", &initialize());
        let (head, reply) = client.head_and_reply();
        head.header("mcp-session-id").map(str::to_owned).ok_or(reply)
    };
    let listen = |session: &str| {
        let mut client = Client::connect(address);
        client.send(format!(
            "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nMcp-Session-Id: {session}\r\n\r\n"
        ));
        assert_eq!(client.head().map(|head| head.status()), Some(200));
        client
    };
    let pings = |session: &str| {
        let ping = json!({"jsonrpc": "2.0", "id": 7, "method": "ping"}).to_string();
        socket::post(address, &format!("Accept: application/json\r\nMcp-Session-Id: {session}\r\n"), &ping).status
    };
    let first = open().expect("a session");
    let stream = listen(&first);
    let slow = open().expect("a session");
    let ping = json!({"jsonrpc": "2.0", "id": 8, "method": "ping"}).to_string();
    let mut arriving = Client::connect(address);
    arriving.send(format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json\r\n\
         Mcp-Session-Id: {slow}\r\nContent-Length: {}\r\n\r\n{}",
        ping.len(),
        &ping[..10]
    ));
    let idle: Vec<String> = (2..100).map(|_| open().expect("a session")).collect();
    let newest = open().expect("one that nobody uses makes room");
    assert_eq!((pings(&idle[0]), pings(&first), pings(&newest)), (404, 200, 200));
    arriving.send(&ping[10..]);
    assert_eq!(arriving.head().map(|head| head.status()), Some(200), "its request was on its way");
    let in_use = idle[1..].iter().chain([&newest, &slow]);
    let streams: Vec<Client> = in_use.map(|session| listen(session)).collect();
    let refused = open().expect_err("all are in use");
    assert!(refused.status == 503 && refused.body.contains("100 sessions are in use"), "{refused:?}");
    assert_eq!(pings(&first), 200);
    drop(streams);
    until("room for another", || open().ok());
    assert_eq!(pings(&first), 200, "it listens still");
    drop(stream);
}
