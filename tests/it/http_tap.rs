//! Tests `mcpreel record --listen`: a client sees what it would see without mcpreel, whatever the server does, and the
//! reel shows what happened.

use crate::common::socket::{Client, END, EVENTS, ReceivedRequest, Tap, Wire, chunk, json_answer, post, say, serve};
use crate::common::{LIMIT, Stage, until};
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{Read, Write as _};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const PONG: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

fn event(data: &str) -> String {
    chunk(&format!("event: message\ndata: {data}\n\n"))
}

/// A server that answers every request with these bytes and closes the connection.
fn always(answer: impl Into<Vec<u8>>) -> SocketAddr {
    let answer = answer.into();
    serve(move |_, wire| {
        say(wire, &answer);
        false
    })
}

fn messages(events: &[Value]) -> Vec<&Value> {
    events.iter().filter(|event| event["event"] == "message").collect()
}

/// The reel's transport events of this kind.
fn reported<'a>(events: &'a [Value], what: &str) -> Vec<&'a Value> {
    let of_kind = |event: &&Value| event["event"] == "transport" && event["data"]["what"] == what;
    events.iter().filter(of_kind).map(|event| &event["data"]).collect()
}

/// Why the exchanges in this reel broke off.
fn broken_off(events: &[Value]) -> String {
    let kinds = ["broken off", "closed", "refused"];
    let ends = kinds.iter().flat_map(|kind| reported(events, kind));
    ends.map(|reported| format!("{}\n", reported["reason"])).collect()
}

/// A request gets the same response with mcpreel and without it; returns the reel.
fn same_as_direct(server: SocketAddr) -> Vec<Value> {
    let stage = Stage::new();
    let tap = Tap::start(&stage, server, &[]);
    let (direct, tapped) = (post(server, "", PING), post(tap.address, "", PING));
    assert!(tapped == direct, "{tapped:.300?}\nand not\n{direct:.300?}");
    tap.end()
}

#[test]
fn a_json_answer_passes() {
    let events = same_as_direct(always(json_answer(PONG)));
    let texts: Vec<String> = messages(&events).iter().map(|event| event["message"].to_string()).collect();
    assert_eq!(texts, [PING, PONG]);
}

#[test]
fn an_event_stream_passes_and_all_of_it_is_kept() {
    let blocks = [": keep-alive\n\n", "id: 7\nretry: 250\ndata: \n\n", "id: 8\ndata: {\ndata: }\n\n"];
    let stream: String = blocks.iter().map(|block| chunk(block)).collect();
    let events = same_as_direct(always([EVENTS, &stream, &event(PONG), END].concat()));
    let kept: Vec<&str> = reported(&events, "sse").iter().filter_map(|reported| reported["block"].as_str()).collect();
    assert_eq!(kept, blocks);
    let last = messages(&events).pop().expect("messages");
    assert_eq!((&last["framing"], &last["dir"]), (&json!("sse"), &json!("s2c")));
    assert_eq!(last["text"], json!(format!("event: message\ndata: {PONG}\n\n")));
}

#[test]
fn a_500_with_a_page_passes() {
    let page = "<html><body>out of order</body></html>";
    let head = "HTTP/1.1 500 Internal Server Error\r\nContent-Type: text/html\r\n";
    let events = same_as_direct(always(format!("{head}Content-Length: {}\r\n\r\n{page}", page.len())));
    assert_eq!(reported(&events, "response")[0]["status"], 500);
    assert_eq!(reported(&events, "body")[0]["text"], page);
}

#[test]
fn a_body_up_to_the_end_of_the_connection_passes() {
    let events = same_as_direct(always(format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{PONG}")));
    assert_eq!(messages(&events).len(), 2);
}

#[test]
fn a_stream_that_is_cut_off_is_cut_off() {
    // An event without its blank line is not a message, and clients ignore it.
    let torn = chunk(&format!("data: {PONG}\n"));
    for end in ["", "zz\r\n", "5\r\nab", "3\r\nabcdef\r\n0\r\n\r\n", &torn] {
        let events = same_as_direct(always([EVENTS, &event(PONG), end].concat()));
        assert_eq!(messages(&events).len(), 2, "{end:?}");
        assert!(!broken_off(&events).is_empty(), "{end:?}: {events:?}");
    }
    let events = same_as_direct(always(json_answer(PONG).replace("Length: 36", "Length: 99")));
    assert!(!broken_off(&events).is_empty(), "{events:?}");
}

#[test]
fn an_event_of_10_mib_passes() {
    let big = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"text":"{}"}}}}"#, "x".repeat(10 << 20));
    let length = big.len();
    let stage = Stage::new();
    let server = always([EVENTS, &event(&big), END].concat());
    let tap = Tap::start(&stage, server, &[]);
    let reply = post(tap.address, "", PING);
    assert_eq!((reply.body.len(), reply.cut), (length + "event: message\ndata: \n\n".len(), false));
    assert!(tap.peak() < 100 << 20, "{} MiB", tap.peak() >> 20);
    let events = tap.end();
    let text = messages(&events)[1]["text"].as_str().expect("text");
    assert!(text.contains(&big));
}

#[test]
fn a_flood_of_notifications_passes_in_bounded_memory() {
    const MANY: usize = 100_000;
    let note = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"flood"}}"#;
    let server = serve(move |_, wire| {
        say(wire, EVENTS);
        let hundred = event(note).repeat(100);
        (0..MANY / 100).for_each(|_| say(wire, &hundred));
        say(wire, END);
        true
    });
    let stage = Stage::new();
    let tap = Tap::start(&stage, server, &[]);
    let reply = post(tap.address, "", PING);
    assert_eq!((reply.body.matches(note).count(), reply.cut), (MANY, false));
    assert!(tap.peak() < 64 << 20, "{} MiB", tap.peak() >> 20);
    assert_eq!(messages(&tap.end()).len(), 1 + MANY);
}

#[test]
fn what_is_no_answer_becomes_a_502_that_says_why() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a free port");
    let headers = (0..1024).fold(String::new(), |mut all, number| {
        write!(all, "X-{number}: {}\r\n", "v".repeat(1024)).expect("a string takes text");
        all
    });
    let huge = json_answer(PONG).replacen("\r\n", &format!("\r\n{headers}"), 1);
    for (server, why) in [
        (closed, "refused"),
        (always(""), "closed"),
        (always("SSH-2.0-OpenSSH_9.2\r\n\r\n"), "invalid HTTP version"),
        (always(huge), "headers of more than 128 KiB"),
    ] {
        let stage = Stage::new();
        let tap = Tap::start(&stage, server, &[]);
        let reply = post(tap.address, "", PING);
        assert_eq!((reply.status, reply.cut), (502, false), "{why}: {reply:?}");
        assert!(reply.body.contains(why), "{why}: {reply:?}");
        let events = tap.end();
        assert!(broken_off(&events).contains(why), "{why}: {events:?}");
        assert_eq!(reported(&events, "request")[0]["target"], "/mcp", "{why}");
    }
}

/// A server that reports each request, then waits for its client to disconnect and reports that, too.
fn silent(report: Sender<&'static str>, first: &'static str) -> SocketAddr {
    let report = Mutex::new(report);
    serve(move |_, wire| {
        say(wire, first);
        let reported = report.lock().clone();
        reported.send("asked").expect("the test listens");
        let ended = matches!(wire.read(&mut [0; 64]), Ok(0) | Err(_));
        reported.send(if ended { "left alone" } else { "talked to" }).expect("the test listens");
        false
    })
}

#[test]
fn a_client_that_gives_up_hangs_up_on_the_server_too() {
    // The first never answers; the second began a stream and sends nothing more. Closing it cancels a request (MCP
    // 2026-07-28).
    for (first, why) in [("", "before the response"), (EVENTS, "the client hung up")] {
        let (report, received) = channel();
        let stage = Stage::new();
        let tap = Tap::start(&stage, silent(report, first), &[]);
        let mut client = Client::connect(tap.address);
        client.post("", PING);
        assert_eq!(received.recv_timeout(LIMIT), Ok("asked"));
        if !first.is_empty() {
            assert_eq!(client.head().expect("a head").status(), 200);
        }
        client.hang_up();
        assert_eq!(received.recv_timeout(LIMIT), Ok("left alone"), "{first:?}");
        let events = tap.end();
        assert!(broken_off(&events).contains(why), "{events:?}");
    }
}

#[test]
fn an_event_reaches_the_client_while_its_stream_is_open() {
    let (go, gone) = channel::<()>();
    let gone = Mutex::new(gone);
    let server = serve(move |_, wire| {
        say(wire, EVENTS);
        for number in 0..3 {
            say(wire, event(&number.to_string()));
            gone.lock().recv_timeout(LIMIT).expect("the client got it");
        }
        say(wire, END);
        true
    });
    let stage = Stage::new();
    let tap = Tap::start(&stage, server, &[]);
    let mut client = Client::connect(tap.address);
    client.get("/mcp");
    assert_eq!(client.head().expect("a head").header("content-type"), Some("text/event-stream"));
    for number in 0..3 {
        assert_eq!(client.next().expect("an event"), format!("event: message\ndata: {number}\n\n"));
        go.send(()).expect("the server waits");
    }
    assert_eq!(client.next(), None);
}

/// A server that answers with the request line and headers that it received.
fn mirror() -> SocketAddr {
    serve(|received, wire| {
        let said = json!({"line": received.head.line, "headers": received.head.headers});
        say(wire, json_answer(&said.to_string()));
        true
    })
}

#[test]
fn strangers_are_refused() {
    let stage = Stage::new();
    let tap = Tap::start(&stage, mirror(), &["--allow-host", "dev.example", "--allow-origin", "https://app.example"]);
    let ask = |host: &str, more: &str| {
        let mut client = Client::connect(tap.address);
        client.send(format!("POST /mcp HTTP/1.1\r\nHost: {host}\r\n{more}Content-Length: 2\r\n\r\n{{}}"));
        client.reply()
    };
    for (host, more) in [
        ("localhost", ""),
        ("127.0.0.1:8080", "Origin: http://localhost:6274\r\n"),
        ("dev.example", "Origin: https://app.example\r\n"),
    ] {
        assert_eq!(ask(host, more).status, 200, "{host} {more}");
    }
    for (host, more, hint) in [
        ("evil.example", "", "--allow-host evil.example"),
        ("localhost", "Origin: https://evil.example\r\n", "--allow-origin https://evil.example"),
    ] {
        let reply = ask(host, more);
        assert_eq!(reply.status, 403, "{reply:?}");
        assert!(reply.body.contains(hint), "{reply:?}");
    }
    let events = tap.end();
    assert_eq!(reported(&events, "response").len(), 3);
    assert_eq!(broken_off(&events).matches("is not this machine").count(), 2);
}

#[test]
fn a_body_that_is_too_long_is_refused() {
    let stage = Stage::new();
    let tap = Tap::start(&stage, mirror(), &["--max-body", "100"]);
    assert_eq!(post(tap.address, "", &" ".repeat(100)).status, 200);
    assert_eq!(post(tap.address, "", &" ".repeat(101)).status, 413);
    let mut client = Client::connect(tap.address);
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
    client.send([head, &chunk(&" ".repeat(60)), &chunk(&" ".repeat(60)), END].concat());
    assert_eq!(client.reply().status, 413);
    assert_eq!(broken_off(&tap.end()).matches("100 bytes").count(), 3, "both bodies, and the answer to the second");
}

#[test]
fn a_head_that_is_too_large_is_refused() {
    let stage = Stage::new();
    let tap = Tap::start(&stage, mirror(), &[]);
    assert_eq!(post(tap.address, &format!("X-Big: {}\r\n", "v".repeat(100 << 10)), PING).status, 200);
    let mut client = Client::connect(tap.address);
    client.send(format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Big: {}", "v".repeat(128 << 10)));
    assert_eq!(client.reply().status, 431);
    // `post` sends some of its own.
    let headers = |count: usize| (0..count).map(|number| format!("X-{number}: v\r\n")).collect::<String>();
    assert_eq!(post(tap.address, &headers(90), PING).status, 200);
    assert_eq!(post(tap.address, &headers(101), PING).status, 431);
}

#[test]
fn a_request_arrives_as_it_was_but_for_what_belongs_to_one_hop() {
    let stage = Stage::new();
    let server = mirror();
    let url = format!("http://{server}/mcp?tenant=7");
    let tap = Tap::in_front_of(&stage, &url, &["-H", "X-Added: yes"]);
    let more = "Connection: keep-alive, X-Hop, Upgrade, HTTP2-Settings\r\nX-Hop: 1\r\nUpgrade: h2c\r\n\
        HTTP2-Settings: AA\r\n\
        Accept-Encoding: gzip, br\r\nX-Keep: a\r\nX-Keep: b\r\nMCP-Protocol-Version: 2025-11-25\r\n";
    let reply = post(tap.address, more, PING);
    let received: Value = serde_json::from_str(&reply.body).expect("JSON");
    let values = |name: &str| -> Vec<String> {
        let headers = received["headers"].as_array().expect("headers").iter();
        headers.filter(|header| header[0] == name).map(|header| header[1].as_str().expect("text").to_owned()).collect()
    };
    assert_eq!(received["line"], "POST /mcp?tenant=7 HTTP/1.1", "the query of --url is the server's");
    assert_eq!(values("host"), [server.to_string()]);
    assert_eq!((values("x-added"), values("x-keep")), (vec!["yes".to_owned()], vec!["a".to_owned(), "b".to_owned()]));
    assert_eq!(values("mcp-protocol-version"), ["2025-11-25"]);
    assert_eq!(values("accept-encoding"), ["gzip, br"]);
    // Other protocols than WebSocket could not be recorded.
    for gone in ["x-hop", "upgrade", "connection", "http2-settings"] {
        assert!(values(gone).is_empty(), "{gone}: {received}");
    }
    drop(tap);
}

#[test]
fn a_server_that_is_not_there_is_an_error_in_every_view() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a free port");
    let stage = Stage::new();
    let tap = Tap::start(&stage, closed, &[]);
    assert_eq!(post(tap.address, "", PING).status, 502);
    let events = tap.end();
    assert_eq!(messages(&events).len(), 1, "what was asked is kept");
    assert_eq!(reported(&events, "refused")[0]["status"], 502);
    let shown = stage.ok(&["show", "t.reel", "error"]).out();
    assert!(shown.contains("answered by mcpreel with status 502") && shown.contains("refused"), "{shown}");
    let stats = stage.ok(&["stats", "t.reel", "--format", "json"]).json();
    assert_eq!((&stats["failed_exchanges"], &stats["unanswered"]), (&1.into(), &0.into()), "{stats}");
}

#[test]
fn an_error_that_names_no_request_answers_its_exchange() {
    let refusal = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"not now"}}"#;
    let answer = json_answer(refusal).replace("200 OK", "400 Bad Request");
    let stage = Stage::new();
    let tap = Tap::start(&stage, always(answer), &[]);
    assert_eq!(post(tap.address, "", PING).status, 400);
    tap.end();
    let shown = stage.ok(&["show", "t.reel", "kind:error"]).out();
    assert!(shown.contains("ping") && shown.contains("not now"), "{shown}");
    let stats = stage.ok(&["stats", "t.reel", "--format", "json"]).json();
    assert_eq!((&stats["unanswered"], &stats["orphan_answers"]), (&0.into(), &0.into()), "{stats}");
    let verdict = stage.run(&["validate", "t.reel"], "").out();
    assert!(!verdict.contains("pairing/unanswered"), "{verdict}");
}

#[test]
fn a_head_goes_the_way_of_its_message_and_reads_as_lines() {
    let stage = Stage::new();
    let tap = Tap::start(&stage, always(json_answer(PONG)), &[]);
    post(tap.address, "", PING);
    tap.end();
    let show = |words: &[&str]| stage.ok(&[&["show", "t.reel", "event:transport"], words].concat()).out();
    for (direction, arrow, head) in [("dir:c2s", "→", "POST /mcp"), ("dir:s2c", "←", "status 200")] {
        let list = show(&[direction]);
        assert!(list.lines().count() == 1 && list.contains(arrow) && list.contains(head), "{list}");
        let raw = show(&[direction, "--raw"]);
        assert!(raw.starts_with(&format!("{head}\n")) && raw.ends_with("\n\n"), "{raw:?}");
        let full = show(&[direction, "--full"]);
        assert!(full.contains(&format!("\n      {head}\n")) && full.contains("\n      content-type: "), "{full}");
    }
}

#[test]
fn a_connection_is_closed_where_the_server_closes_its_own() {
    // It closes the connection after each response, without announcing that.
    let server = serve(|_, wire| {
        say(wire, json_answer(PONG));
        false
    });
    let stage = Stage::new();
    let tap = Tap::start(&stage, server, &[]);
    for _ in 0..50 {
        let mut client = Client::connect(tap.address);
        client.post("", PING);
        assert_eq!(client.reply().status, 200);
        assert!(client.head().is_none(), "the connection ends as the server's did");
    }
    assert_eq!(messages(&tap.end()).len(), 100);
}

#[test]
fn a_redirect_to_the_server_itself_leads_back_through_the_tap() {
    let server = serve(|received, wire| {
        let host = received.head.header("host").expect("a host");
        let answer = match received.target() {
            "/mcp" => format!("HTTP/1.1 307 Moved\r\nLocation: http://{host}/mcp/?a=1\r\nContent-Length: 0\r\n\r\n"),
            "/mcp/?a=1" => json_answer(PONG),
            _ => "HTTP/1.1 302 Moved\r\nLocation: https://login.example/\r\nContent-Length: 0\r\n\r\n".to_owned(),
        };
        say(wire, answer);
        true
    });
    let stage = Stage::new();
    let tap = Tap::start(&stage, server, &[]);
    let ask = |target: &str| {
        let mut client = Client::connect(tap.address);
        client.send(format!("POST {target} HTTP/1.1\r\nHost: {}\r\nContent-Length: 40\r\n", tap.address));
        client.send(format!("Content-Type: application/json\r\n\r\n{PING}"));
        let head = client.head().expect("a head");
        (head.status(), head.header("location").map(str::to_owned))
    };
    assert_eq!(ask("/mcp"), (307, Some(format!("http://{}/mcp/?a=1", tap.address))));
    assert_eq!(ask("/mcp/?a=1"), (200, None));
    assert_eq!(ask("/login"), (302, Some("https://login.example/".to_owned())));
    let events = tap.end();
    assert_eq!(
        reported(&events, "response")[0]["headers"][0],
        json!(["location", format!("http://{server}/mcp/?a=1")])
    );
    assert_eq!(messages(&events).len(), 3, "the endpoint is the same with a slash behind it: {events:#?}");
}

#[test]
fn messages_of_one_event_stream_and_its_posts_are_one_stream() {
    // Both are allowed: an endpoint with an absolute path, and one relative to the stream's.
    for endpoint in ["/base/messages?sessionId=1", "messages?sessionId=1"] {
        let (posted, to_stream) = channel::<String>();
        let (posted, to_stream) = (Mutex::new(posted), Mutex::new(to_stream));
        let server = serve(move |received, wire| {
            if received.is("GET") {
                say(wire, [EVENTS, &chunk(&format!("event: endpoint\ndata: {endpoint}\n\n"))].concat());
                let id = to_stream.lock().recv_timeout(LIMIT).expect("a POST");
                say(wire, [event(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)), END.to_owned()].concat());
                return true;
            }
            let message: Value = serde_json::from_slice(&received.body).expect("JSON");
            posted.lock().send(message["id"].to_string()).expect("the stream waits");
            say(wire, "HTTP/1.1 202 Accepted\r\nContent-Length: 8\r\n\r\nAccepted");
            true
        });
        let stage = Stage::new();
        let tap = Tap::in_front_of(&stage, &format!("http://{server}/base/sse"), &[]);
        let mut stream = Client::connect(tap.address);
        stream.get("/base/sse");
        stream.head().expect("a head");
        assert!(stream.next().expect("an endpoint").contains(endpoint));
        let mut poster = Client::connect(tap.address);
        poster.send("POST /base/messages?sessionId=1 HTTP/1.1\r\nHost: localhost\r\n");
        poster.send(format!("Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{PING}", PING.len()));
        assert_eq!(poster.reply().status, 202);
        assert!(stream.next().expect("the answer").contains("result"));
        assert_eq!(stream.next(), None);
        let events = tap.end();
        let streams: Vec<&Value> = messages(&events).iter().map(|event| &event["stream"]).collect();
        assert_eq!(streams, [1, 1], "{endpoint}: {events:#?}");
    }
}

/// Eight of them are more than one thread serves.
#[test]
fn streams_that_are_open_when_the_tap_ends_are_closed_in_the_reel() {
    for count in [1, 8] {
        let sessions = AtomicU32::new(0);
        let server = serve(move |_, wire| {
            let session = sessions.fetch_add(1, Ordering::Relaxed);
            let endpoint = format!("event: endpoint\ndata: /messages?sessionId={session}\n\n");
            say(wire, [EVENTS, &chunk(&endpoint)].concat());
            thread::sleep(LIMIT);
            false
        });
        let stage = Stage::new();
        let tap = Tap::start(&stage, server, &[]);
        let mut streams: Vec<Client> = (0..count).map(|_| Client::connect(tap.address)).collect();
        for stream in &mut streams {
            stream.get("/mcp");
            stream.head().expect("a head");
            assert!(stream.next().expect("an endpoint").contains("/messages"));
        }
        let events = tap.end();
        let closed: Vec<&Value> = events.iter().filter(|event| event["event"] == "stream-closed").collect();
        assert_eq!(closed.len(), count + 1, "the clients' streams and the tap's own: {events:#?}");
    }
}

#[test]
fn what_is_put_in_goes_between_two_events_and_stands_so_in_the_reel() {
    let (go, gone) = channel::<()>();
    let gone = Mutex::new(gone);
    let server = serve(move |_, wire| {
        say(wire, [EVENTS, &chunk("data: {\"jsonrpc\":\"2.0\",")].concat());
        gone.lock().recv_timeout(LIMIT).expect("something was put in");
        // The event ends with a chunk of its own.
        for rest in ["\"method\":\"own\"}\n", "\n"] {
            say(wire, chunk(rest));
        }
        gone.lock().recv_timeout(LIMIT).expect("the client got all");
        say(wire, END);
        false
    });
    let stage = Stage::new();
    let tap = Tap::start(&stage, server, &[]);
    let mut client = Client::connect(tap.address);
    client.get("/mcp");
    client.head().expect("a head");
    let mut received = client.next().expect("the beginning");
    let ours = r#"{"jsonrpc":"2.0","method":"ours"}"#;
    let put = ["fire", "raw", ours, "--session", "127", "--as", "server"];
    let early = stage.run(&[&put[..], &["--timeout", "20ms"]].concat(), "");
    assert!(early.code() == 4 && early.err().contains("in the middle of a message"), "{early:?}");
    let putting = stage.start(&put);
    go.send(()).expect("the server waits");
    assert_eq!(putting.end_with_open_stdin().code(), 0);
    while !received.contains("ours") {
        received.push_str(&client.next().expect("more"));
    }
    go.send(()).expect("the server waits");
    let own = r#"{"jsonrpc":"2.0","method":"own"}"#;
    assert_eq!(received, format!("data: {own}\n\nevent: message\ndata: {ours}\n\n"));
    let events = tap.end();
    let blocks: String = messages(&events).iter().filter_map(|event| event["text"].as_str()).collect();
    assert_eq!(blocks, received, "the reel has the order in which the client got it");
}

/// An HTTP+SSE server whose stream begins with this endpoint. It answers posted messages on the stream, each answer
/// after half of an event of its own, and reports them to the test.
fn sse_server(endpoint: &'static str, report: Sender<ReceivedRequest>) -> SocketAddr {
    let (posted, to_stream) = channel::<Value>();
    let (shared, report) = (Mutex::new((posted, to_stream)), Mutex::new(report));
    serve(move |received, wire| {
        if received.is("GET") {
            let here = received.head.header("host").expect("a host");
            let endpoint = endpoint.replace("HERE", here);
            say(wire, [EVENTS, &chunk(&format!("event: endpoint\ndata: {endpoint}\n\n"))].concat());
            let to_stream = std::mem::replace(&mut shared.lock().1, channel().1);
            while let Ok(request) = to_stream.recv_timeout(LIMIT) {
                if request["method"] == "end" {
                    break;
                }
                say(wire, chunk("id: 7\ndata: {\"jsonrpc\":\"2.0\","));
                say(wire, chunk("\"method\":\"own\"}\r\n\r\n"));
                if !request["id"].is_null() {
                    let result = json!({"jsonrpc": "2.0", "id": request["id"], "result": {"for": request["method"]}});
                    let result = result.to_string();
                    let (first, rest) = result.split_at(20);
                    say(
                        wire,
                        [chunk(&format!("id: 8\nevent: message\ndata: {first}")), chunk(&format!("{rest}\n\n"))]
                            .concat(),
                    );
                }
            }
            say(wire, END);
            return false;
        }
        if received.target().starts_with("/messages") {
            let message = serde_json::from_slice(&received.body).expect("JSON");
            shared.lock().0.send(message).expect("the stream waits");
            say(wire, "HTTP/1.1 202 Accepted\r\nContent-Length: 8\r\n\r\nAccepted");
        } else {
            say(wire, "HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n");
        }
        let _ = report.lock().send(received.clone());
        true
    })
}

/// A client of such a server, which has received its endpoint.
fn sse_client(tap: &Tap<'_>) -> Client {
    let mut stream = Client::connect(tap.address);
    stream
        .send("GET /sse HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nAuthorization: Bearer sesame\r\n");
    stream.send("MCP-Protocol-Version: 2024-11-05\r\nLast-Event-ID: 3\r\n\r\n");
    stream.head().expect("a head");
    assert!(stream.next().expect("an endpoint").contains("endpoint"));
    stream
}

#[test]
fn a_request_put_into_an_sse_session_goes_to_its_endpoint_and_its_answer_to_who_asked() {
    for endpoint in ["/messages?s=1", "messages?s=1", "http://HERE/messages?s=1"] {
        let (report, posted) = channel();
        let stage = Stage::new();
        let server = sse_server(endpoint, report);
        let tap = Tap::in_front_of(&stage, &format!("http://{server}/sse"), &[]);
        let mut stream = sse_client(&tap);
        for (number, method) in ["ping", "tools/list"].into_iter().enumerate() {
            let asked = format!(r#"{{"jsonrpc":"2.0","id":"mcpreel-0123abcd-{number}","method":"{method}"}}"#);
            let output = stage.ok(&["fire", "raw", &asked, "--session", "127", "--format", "json"]);
            assert_eq!(output.json()["answer"]["result"]["for"], method, "{endpoint}: {output:?}");
            let received = posted.recv_timeout(LIMIT).expect("posted");
            assert_eq!((received.target(), String::from_utf8_lossy(&received.body)), ("/messages?s=1", asked.into()));
            assert_eq!(received.head.header("authorization"), Some("Bearer sesame"));
            assert_eq!(received.head.header("mcp-protocol-version"), Some("2024-11-05"));
            assert_eq!(received.head.header("last-event-id"), None);
        }
        // Toward the client, the message goes into the same stream.
        let ours = r#"{"jsonrpc":"2.0","method":"ours"}"#;
        stage.ok(&["fire", "raw", ours, "--session", "127", "--as", "server"]);
        stage.ok(&["fire", "raw", r#"{"jsonrpc":"2.0","method":"end"}"#, "--session", "127"]);
        let rest: String = std::iter::from_fn(|| stream.next()).collect();
        let own = "id: 7\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"own\"}\r\n\r\n";
        let expected = [own, "id: 8\n\n", own, "id: 8\n\n", &format!("event: message\ndata: {ours}\n\n")].concat();
        assert_eq!(rest, expected, "{endpoint}");
        let events = tap.end();
        let injected = messages(&events).into_iter().filter(|event| event["injected"] == true);
        let ways: Vec<_> = injected.map(|event| (event["dir"].as_str().expect("a way"), &event["stream"])).collect();
        let one = json!(1);
        assert_eq!(ways, [("c2s", &one), ("s2c", &one), ("c2s", &one), ("s2c", &one), ("s2c", &one), ("c2s", &one)]);
    }
}

#[test]
fn an_endpoint_elsewhere_is_reported_and_nothing_is_sent_there() {
    let (report, _posted) = channel();
    let stage = Stage::new();
    let server = sse_server("http://other.example/messages?s=1", report);
    let tap = Tap::in_front_of(&stage, &format!("http://{server}/sse"), &[]);
    let mut stream = sse_client(&tap);
    let refused = stage.run(&["fire", "raw", r#"{"jsonrpc":"2.0","method":"n"}"#, "--session", "127"], "");
    assert!(refused.code() == 4 && refused.err().contains("another server"), "{refused:?}");
    assert!(String::from_utf8_lossy(&stage.read("reported")).contains("bypass mcpreel"));
    stage.ok(&["fire", "raw", r#"{"jsonrpc":"2.0","method":"n"}"#, "--session", "127", "--as", "server"]);
    stream.next().expect("what was put in");
    assert_eq!(tap.end().iter().filter(|event| event["event"] == "gap" && event["stream"] == 1).count(), 1);
    let shown = stage.ok(&["show", "t.reel"]).out();
    assert!(shown.contains("bypass mcpreel"), "{shown}");
    let report = stage.run(&["validate", "t.reel"], "").out();
    assert!(report.contains("stream/not-checked") && report.contains("is missing from the reel"), "{report}");
}

#[test]
fn nothing_is_put_into_a_compressed_stream() {
    use flate2::write::GzEncoder;
    let server = serve(|_, wire| {
        let mut gzip = GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(b"event: endpoint\ndata: /messages?s=1\n\n").expect("a Vec takes all");
        gzip.flush().expect("a Vec takes all");
        let body = gzip.get_ref();
        say(wire, EVENTS.replacen("\r\n", "\r\nContent-Encoding: gzip\r\n", 1));
        say(wire, [format!("{:x}\r\n", body.len()).as_bytes(), body, b"\r\n"].concat());
        thread::sleep(LIMIT);
        false
    });
    let stage = Stage::new();
    let tap = Tap::in_front_of(&stage, &format!("http://{server}/sse"), &[]);
    let mut stream = Client::connect(tap.address);
    stream.get("/sse");
    stream.head().expect("a head");
    stream.next().expect("an endpoint");
    for side in ["host", "server"] {
        let put = ["fire", "raw", r#"{"jsonrpc":"2.0","method":"n"}"#, "--session", "127", "--as", side];
        let refused = stage.run(&put, "");
        assert!(refused.code() == 4 && refused.err().contains("compressed (gzip)"), "{refused:?}");
    }
    tap.end();
}

#[test]
fn user_information_is_no_part_of_the_host() {
    let stage = Stage::new();
    let server = mirror();
    let tap = Tap::in_front_of(&stage, &format!("http://user:sesame@{server}/mcp"), &[]);
    let reply = post(tap.address, "", PING);
    assert!(!reply.body.contains("sesame") && reply.body.contains(&server.to_string()), "{}", reply.body);
}

#[test]
fn secrets_in_heads_and_targets_are_not_in_the_reel() {
    let server = serve(|_, wire| {
        say(wire, json_answer(PONG).replacen("\r\n", "\r\nSet-Cookie: id=sesame-3\r\nX-Auth-Token: sesame-4\r\n", 1));
        true
    });
    let stage = Stage::new();
    let url = format!("http://user:sesame-5@{server}/mcp?api_key=sesame-6");
    let tap = Tap::in_front_of(&stage, &url, &["-H", "Authorization: Bearer sesame-7"]);
    let mut client = Client::connect(tap.address);
    client.send("POST /mcp?access_token=sesame-1&page=2 HTTP/1.1\r\nHost: localhost\r\nX-API-Key: sesame-2\r\n");
    client.send("Authorization: Bearer sesame-8\r\nProxy-Authorization: Basic sesame-9\r\nCookie: a=sesame-10\r\n");
    client.send("Referer: http://localhost/?token=sesame-11\r\nContent-Length: 2\r\n\r\n{}");
    let reply = client.reply();
    assert_eq!((reply.status, &*reply.body), (200, PONG));
    let events = json!(tap.end()).to_string();
    assert!(!events.contains("sesame"), "{events}");
    assert!(!String::from_utf8_lossy(&stage.read("reported")).contains("sesame"));
    assert!(events.contains("page=2"), "{events}");
    let shown = stage.ok(&["reel", "info", "t.reel"]).out();
    assert!(!shown.contains("sesame"), "{shown}");
}

#[test]
fn the_end_of_the_tap_completes_the_reel() {
    for signal in ["TERM", "INT"] {
        let (report, received) = channel();
        let stage = Stage::new();
        let tap = Tap::start(&stage, silent(report, EVENTS), &[]);
        let mut client = Client::connect(tap.address);
        client.post("", PING);
        client.head().expect("a head");
        assert_eq!(received.recv_timeout(LIMIT), Ok("asked"));
        let events = tap.end_by(signal);
        assert_eq!(stage.info("t.reel")["indexed"], true, "{signal}: {}", stage.info("t.reel"));
        let closed: Vec<&Value> = events.iter().filter(|event| event["event"] == "stream-closed").collect();
        assert_eq!(closed.len(), 2, "{signal}: the client's stream and the tap's own: {events:#?}");
        assert_eq!(messages(&events).len(), 1, "{signal}");
    }
}

#[test]
fn a_web_socket_passes_and_its_messages_are_kept() {
    use futures_util::{SinkExt, StreamExt};
    use tokio_tungstenite::tungstenite::{self, Message};

    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let server = listener.local_addr().expect("an address");
    let echo = thread::spawn(move || {
        let (stream, _) = listener.accept().expect("the tap connects");
        let mut socket = tungstenite::accept(stream).expect("a handshake");
        while let Ok(message) = socket.read() {
            if message.is_text() {
                socket.send(Message::text(PONG)).expect("the client reads");
            }
        }
    });
    let stage = Stage::new();
    let tap = Tap::in_front_of(&stage, &format!("ws://{server}/mcp"), &[]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let stream = tokio::net::TcpStream::connect(tap.address).await.expect("a connection");
        let url = format!("ws://{}/mcp", tap.address);
        let (mut socket, _) = tokio_tungstenite::client_async(url, stream).await.expect("a handshake");
        for _ in 0..3 {
            socket.send(Message::Ping(tungstenite::Bytes::from_static(b"!"))).await.expect("sent");
            socket.send(Message::text(PING)).await.expect("sent");
            let answer = loop {
                match socket.next().await.expect("open").expect("a frame") {
                    Message::Text(text) => break text,
                    other => assert!(other.is_pong(), "{other:?}"),
                }
            };
            assert_eq!(answer.as_str(), PONG);
        }
        socket.close(None).await.expect("closed");
        while let Some(Ok(_)) = socket.next().await {}
    });
    echo.join().expect("the server ends");
    let events = tap.end();
    let texts: Vec<String> = messages(&events).iter().map(|event| event["message"].to_string()).collect();
    assert_eq!(texts, [PING, PONG].repeat(3));
    assert_eq!(reported(&events, "response")[0]["status"], 101);
    assert_eq!((reported(&events, "ping").len(), reported(&events, "pong").len()), (3, 3));
    assert!(reported(&events, "unreadable").is_empty());
    let place = |what: &str| events.iter().rposition(|event| event["event"] == what && event["stream"] == 1);
    assert!(place("stream-closed") > place("message"), "it lives as long as its socket: {events:#?}");
    let opened: BTreeSet<u64> = messages(&events).iter().filter_map(|event| event["stream"].as_u64()).collect();
    assert_eq!(opened.len(), 1);
}

/// A server that sends a request before it answers a call, and waits for the answer.
fn asking_server(report: Sender<Value>) -> SocketAddr {
    let (answered, answer) = channel::<()>();
    let (answered, answer, report) = (Mutex::new(answered), Mutex::new(answer), Mutex::new(report));
    serve(move |received, wire| {
        if received.is("GET") {
            say(wire, EVENTS);
            thread::sleep(LIMIT);
            return false;
        }
        let message: Value = serde_json::from_slice(&received.body).expect("JSON");
        report.lock().send(message.clone()).expect("the test listens");
        if message["method"] == "tools/call" {
            say(wire, [EVENTS, &event(r#"{"jsonrpc":"2.0","id":77,"method":"roots/list"}"#)].concat());
            answer.lock().recv_timeout(LIMIT).expect("an answer of the client's");
            let result = json!({"jsonrpc": "2.0", "id": message["id"], "result": {"called": true}});
            say(wire, [event(&result.to_string()), END.to_owned()].concat());
        } else if message["id"] == 77 {
            answered.lock().send(()).expect("the call waits");
            say(wire, "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n");
        } else {
            say(wire, json_answer(PONG).replacen("\r\n", "\r\nMcp-Session-Id: s\r\n", 1));
        }
        true
    })
}

#[test]
fn what_the_server_asks_because_of_an_injected_call_is_asked_of_the_client_or_refused() {
    const SESSION: &str = "Mcp-Session-Id: s\r\n";
    let call = r#"{"jsonrpc":"2.0","id":"mcpreel-0123abcd-1","method":"tools/call","params":{"name":"x"}}"#;
    let answer = r#"{"jsonrpc":"2.0","id":77,"result":{"roots":[]}}"#;
    for listens in [true, false] {
        let (report, received) = channel();
        let stage = Stage::new();
        let tap = Tap::start(&stage, asking_server(report), &[]);
        assert_eq!(post(tap.address, "", PING).status, 200);
        let mut stream = Client::connect(tap.address);
        if listens {
            stream.send(format!("GET /mcp HTTP/1.1\r\nHost: localhost\r\n{SESSION}\r\n"));
            stream.head().expect("a head");
        }
        let calling = stage.start(&["fire", "raw", call, "--session", "127", "--format", "json"]);
        if listens {
            assert!(stream.next().expect("the question").contains("\"id\":77,\"method\":\"roots/list\""));
            assert_eq!(post(tap.address, SESSION, answer).status, 202);
        }
        let called = calling.end_with_open_stdin();
        assert_eq!(called.json()["answer"]["result"]["called"], true, "{called:?}");
        let answered = received.iter().nth(2).expect("three messages");
        assert_eq!(answered["id"], 77);
        assert_eq!(answered["error"]["code"], if listens { Value::Null } else { json!(-32000) }, "{answered}");
        let events = tap.end();
        let reported = |event: &&Value| {
            let text = event["text"].as_str().map_or_else(|| event["message"].to_string(), str::to_owned);
            let kind =
                ["roots/list", "called", "tools/call", "-32000", "roots"].into_iter().find(|it| text.contains(it));
            (kind.unwrap_or("ping"), event["dir"].as_str().unwrap_or("").to_owned(), event["injected"] == true)
        };
        let all = messages(&events);
        let shown: Vec<_> =
            all.iter().map(reported).map(|(kind, way, injected)| format!("{kind} {way} {injected}")).collect();
        let refused = if listens { "roots c2s false" } else { "-32000 c2s true" };
        let expected = ["tools/call c2s true", "roots/list s2c true", refused, "called s2c true"];
        assert_eq!(shown[2..], expected, "{listens}");
    }
}

/// A WebSocket server: it answers each request. On command, it begins a fragmented message, and on command, it ends it.
/// It reports what it received to the test.
fn socket_server(report: Sender<String>) -> SocketAddr {
    use tokio_tungstenite::tungstenite::protocol::frame::Frame;
    use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};
    use tokio_tungstenite::tungstenite::{self, Message};

    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let server = listener.local_addr().expect("an address");
    thread::spawn(move || {
        let (stream, _) = listener.accept().expect("the tap connects");
        let mut socket = tungstenite::accept(stream).expect("a handshake");
        while let Ok(message) = socket.read() {
            let Message::Text(text) = message else { continue };
            let received: Value = serde_json::from_str(&text).expect("JSON");
            let fragment = |text: &'static str, kind, is_final| {
                Message::Frame(Frame::message(text.as_bytes(), OpCode::Data(kind), is_final))
            };
            let answer = match received["method"].as_str() {
                Some("begin") => fragment("{\"jsonrpc\":", Data::Text, false),
                Some("end") => fragment("\"2.0\",\"method\":\"own\"}", Data::Continue, true),
                Some(_) => Message::text(json!({"jsonrpc": "2.0", "id": received["id"], "result": {}}).to_string()),
                None => Message::Ping(tungstenite::Bytes::from_static(b"!")),
            };
            socket.send(answer).expect("the client reads");
            report.send(text.to_string()).expect("the test listens");
        }
    });
    server
}

/// A client of a WebSocket through mcpreel.
struct SocketClient(tokio_tungstenite::tungstenite::WebSocket<std::net::TcpStream>);

impl SocketClient {
    fn connect(tap: SocketAddr) -> Self {
        let stream = std::net::TcpStream::connect(tap).expect("a connection");
        stream.set_read_timeout(Some(LIMIT)).expect("a socket");
        let url = format!("ws://{tap}/mcp");
        Self(tokio_tungstenite::tungstenite::client(url, stream).expect("a handshake").0)
    }

    fn say(&mut self, text: impl ToString) {
        self.0.send(tokio_tungstenite::tungstenite::Message::text(text.to_string())).expect("sent");
    }

    /// The next message.
    fn receive(&mut self) -> String {
        loop {
            let message = self.0.read().expect("a message");
            if message.is_text() {
                return message.into_text().expect("text").to_string();
            }
        }
    }
}

#[test]
fn messages_are_put_into_a_web_socket_either_way_and_never_within_another() {
    const FIRE: [&str; 6] = ["fire", "raw", "--session", "127", "--format", "json"];
    const AS_SERVER: [&str; 2] = ["--as", "server"];
    let (report, received) = channel();
    let stage = Stage::new();
    let tap = Tap::in_front_of(&stage, &format!("ws://{}/mcp", socket_server(report)), &[]);
    let mut client = SocketClient::connect(tap.address);
    let receive = || received.recv_timeout(LIMIT).expect("the server heard something");
    // A request in addition to the client's own: the client sees only the answer to its own.
    let ours = r#"{"jsonrpc":"2.0","id":"mcpreel-0123abcd-1","method":"tools/list"}"#;
    let answered = stage.ok(&[&FIRE[..], &[ours]].concat());
    assert_eq!(answered.json()["answer"]["result"], json!({}), "{answered:?}");
    client.say(PING);
    assert_eq!((client.receive(), receive(), receive()), (PONG.to_owned(), ours.to_owned(), PING.to_owned()));
    // As the server; the client's answer does not reach it.
    let asked = r#"{"jsonrpc":"2.0","id":"mcpreel-0123abcd-2","method":"roots/list"}"#;
    let asking = stage.start(&[&FIRE[..], &AS_SERVER, &[asked]].concat());
    assert_eq!(client.receive(), asked);
    client.say(json!({"jsonrpc": "2.0", "id": "mcpreel-0123abcd-2", "result": {"roots": []}}));
    assert_eq!(asking.end_with_open_stdin().json()["answer"]["result"]["roots"], json!([]));
    // Nothing can be inserted between the fragments of another message.
    let note = r#"{"jsonrpc":"2.0","method":"ours"}"#;
    client.say(r#"{"jsonrpc":"2.0","method":"begin"}"#);
    assert!(receive().contains("begin"), "and nothing else before");
    let putting = [&FIRE[..], &AS_SERVER, &[note]].concat();
    // Once mcpreel has received it, the error says so.
    until("the fragment passes", || {
        let early = stage.run(&[&putting[..], &["--timeout", "20ms"]].concat(), "");
        early.err().contains("in the middle of a message").then_some(())
    });
    let waits = stage.start(&putting);
    client.say(r#"{"jsonrpc":"2.0","method":"end"}"#);
    assert_eq!(waits.end_with_open_stdin().code(), 0);
    let mut rest = std::iter::repeat_with(|| client.receive()).skip_while(|text| text == note);
    assert_eq!(rest.next().as_deref(), Some(r#"{"jsonrpc":"2.0","method":"own"}"#));
    let events = tap.end();
    assert!(reported(&events, "unreadable").is_empty(), "{events:#?}");
    let injected = messages(&events).into_iter().filter(|event| event["injected"] == true);
    let ways: Vec<&str> = injected.map(|event| event["dir"].as_str().expect("a way")).collect();
    assert!(ways.starts_with(&["c2s", "s2c", "s2c", "c2s"]) && ways.ends_with(&["s2c"]), "{ways:?}");
}

/// A session's own answers contain the mark of the request.
fn marks(received: &ReceivedRequest, wire: &mut Wire, sessions: &Mutex<u32>) -> bool {
    let request: Value = serde_json::from_slice(&received.body).expect("JSON");
    let mark = &request["params"]["mark"];
    let answer = json!({"jsonrpc": "2.0", "id": request["id"], "result": {"mark": mark}}).to_string();
    if received.head.header("mcp-session-id").is_none() {
        let mut sessions = sessions.lock();
        *sessions += 1;
        say(wire, json_answer(&answer).replacen("\r\n", &format!("\r\nMcp-Session-Id: s{sessions}\r\n"), 1));
    } else if request["id"].as_u64().is_some_and(|id| id % 2 == 0) {
        say(wire, [EVENTS, &event(&answer), END].concat());
    } else {
        say(wire, json_answer(&answer));
    }
    true
}

/// One client: opens a session, makes its calls on two connections in turn, and checks each answer.
fn call_many(tap: SocketAddr, mark: usize, calls: usize) {
    let mut connections = [Client::connect(tap), Client::connect(tap)];
    let mut session = String::new();
    for id in 0..calls {
        let client = &mut connections[id % 2];
        let method = if id == 0 { "initialize" } else { "call" };
        client.post(
            &session,
            &json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {"mark": mark}}).to_string(),
        );
        let head = client.head().expect("an answer");
        if let Some(name) = head.header("mcp-session-id") {
            session = format!("Mcp-Session-Id: {name}\r\n");
        }
        let body: String = std::iter::from_fn(|| client.next()).collect();
        let answer: Value = serde_json::from_str(&body[body.find('{').expect("JSON")..]).expect("JSON");
        assert_eq!(answer, json!({"jsonrpc": "2.0", "id": id, "result": {"mark": mark}}));
    }
}

#[test]
fn ten_clients_at_once_are_ten_streams() {
    const CLIENTS: usize = 10;
    const CALLS: usize = 50;
    let sessions = Mutex::new(0);
    let server = serve(move |received, wire| marks(received, wire, &sessions));
    let stage = Stage::new();
    let tap = Tap::start(&stage, server, &[]);
    let address = tap.address;
    let clients: Vec<_> = (0..CLIENTS).map(|mark| thread::spawn(move || call_many(address, mark, CALLS))).collect();
    clients.into_iter().for_each(|client| client.join().expect("every call is answered"));
    let events = tap.end();
    let mut marks = BTreeMap::<u64, BTreeSet<u64>>::new();
    let mut seen = BTreeSet::new();
    for event in messages(&events) {
        let text = event["text"].as_str().and_then(|text| serde_json::from_str(&text[text.find('{')?..]).ok());
        let message: Value = text.unwrap_or_else(|| event["message"].clone());
        let stream = event["stream"].as_u64().expect("a stream");
        let params = message.get("params").or(message.get("result")).expect("marked");
        marks.entry(stream).or_default().insert(params["mark"].as_u64().expect("a mark"));
        assert!(seen.insert((stream, event["dir"].to_string(), message["id"].as_u64())), "twice: {event}");
    }
    assert_eq!(seen.len(), 2 * CLIENTS * CALLS, "every message once");
    assert!(marks.values().all(|marks| marks.len() == 1), "{marks:?}");
    assert_eq!(marks.values().flatten().collect::<BTreeSet<_>>().len(), CLIENTS);
    assert_eq!(marks.len(), CLIENTS, "a stream for each session: {marks:?}");
}

#[test]
fn a_client_that_takes_nothing_holds_up_nobody_else() {
    let server = serve(|received, wire| {
        if received.is("GET") {
            say(wire, EVENTS);
            let line = event(&format!("\"{}\"", "x".repeat(60_000)));
            while wire.get_mut().write_all(line.as_bytes()).is_ok() {}
            return false;
        }
        say(wire, json_answer(PONG));
        true
    });
    let stage = Stage::new();
    let tap = Tap::start(&stage, server, &[]);
    let mut lazy = Client::connect(tap.address);
    lazy.get("/mcp");
    lazy.head().expect("a head");
    for _ in 0..20 {
        assert_eq!(post(tap.address, "", PING).body, PONG);
    }
    // Injected messages do not accumulate there either; they are refused.
    let put = ["fire", "raw", r#"{"jsonrpc":"2.0","method":"n"}"#, "--session", "127", "--as", "server"];
    let refused = stage.run(&[&put[..], &["--timeout", "50ms"]].concat(), "");
    assert!(refused.code() == 4 && refused.err().contains("is not being read"), "{refused:?}");
    // The unoptimised program itself takes more than 50 MiB of it; the server sends hundreds.
    assert!(tap.peak() < 80 << 20, "{} MiB", tap.peak() >> 20);
}
