//! Tests that what passes besides usual heads and bodies reaches the other side and the reel: messages of HTTP/1.0, codings
//! that are none, informational responses, trailers, byte order marks and coded requests. What mcpreel refuses before it
//! is a request is said, too.

use crate::common::socket::{Client, END, Tap, chunk, json_answer, say, serve};
use crate::common::{BINARY, LIMIT, Live, Stage, until};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const PONG: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
const JSON: &str = "Content-Type: application/json\r\n";
const HOST: &str = "Host: localhost\r\n";

/// Sends these bytes, and reads until `end` has come or nothing more does.
fn raw(address: SocketAddr, request: impl AsRef<[u8]>, end: &str) -> String {
    let stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(LIMIT)).expect("a socket");
    talk(&stream, request, end)
}

fn talk(mut stream: &TcpStream, request: impl AsRef<[u8]>, end: &str) -> String {
    // Whoever refuses a long head need not read all of it.
    let _ = stream.write_all(request.as_ref());
    let (mut all, mut space) = (Vec::new(), [0; 4096]);
    while !String::from_utf8_lossy(&all).ends_with(end) || end.is_empty() {
        match stream.read(&mut space) {
            Ok(got) if got > 0 => all.extend_from_slice(&space[..got]),
            _ => break,
        }
    }
    String::from_utf8_lossy(&all).into_owned()
}

/// A server that waits for the end of each request, answers with these bytes and keeps the connection open.
fn patient(end: &'static str, answer: impl Into<Vec<u8>>) -> (SocketAddr, Receiver<String>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let address = listener.local_addr().expect("an address");
    let answer = answer.into();
    let (sender, received) = channel();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let (sender, answer) = (sender.clone(), answer.clone());
            thread::spawn(move || {
                let (mut all, mut space) = (Vec::new(), [0; 4096]);
                while let Ok(got @ 1..) = stream.read(&mut space) {
                    all.extend_from_slice(&space[..got]);
                    let text = String::from_utf8_lossy(&all).into_owned();
                    if text.ends_with(end) {
                        let _ = sender.send(text);
                        all.clear();
                        let _ = stream.write_all(&answer);
                    }
                }
            });
        }
    });
    (address, received)
}

fn post(version: &str, body: &str) -> String {
    format!("POST /mcp HTTP/{version}\r\n{HOST}{JSON}Content-Length: {}\r\n\r\n{body}", body.len())
}

/// The payloads of messages.
fn messages(events: &[Value]) -> Vec<String> {
    let messages = events.iter().filter(|event| event["event"] == "message");
    messages.map(|event| event["text"].as_str().map_or_else(|| event["message"].to_string(), str::to_owned)).collect()
}

fn about<'a>(events: &'a [Value], what: &str) -> Vec<&'a Value> {
    events.iter().map(|event| &event["data"]).filter(|data| data["what"] == what).collect()
}

#[test]
fn an_answer_of_http_1_0_in_chunks_is_whole_and_its_connection_is_closed() {
    let chunked = [&chunk(PONG), END].concat();
    for (answer, noted) in [
        (format!("HTTP/1.0 200 OK\r\n{JSON}Transfer-Encoding: chunked\r\n\r\n{chunked}"), true),
        (
            format!(
                "HTTP/1.0 200 OK\r\n{JSON}Connection: keep-alive\r\ntransfer-encoding: Chunked\r\nContent-Length: 3\r\n\r\n{chunked}"
            ),
            true,
        ),
        (format!("HTTP/1.1 200 OK\r\n{JSON}Transfer-Encoding: chunked\r\n\r\n{chunked}"), false),
        (
            format!("HTTP/1.0 200 OK\r\n{JSON}Content-Length: {}\r\nConnection: keep-alive\r\n\r\n{PONG}", PONG.len()),
            false,
        ),
    ] {
        let stage = Stage::new();
        let (server, _received) = patient(PING, answer.clone());
        let tap = Tap::start(&stage, server, &[]);
        let mut client = Client::connect(tap.address);
        client.post("", PING);
        let (head, reply) = client.head_and_reply();
        assert_eq!((reply.status, &*reply.body, reply.cut), (200, PONG, false), "{answer:?}");
        if noted {
            assert_eq!(head.header("connection"), Some("close"));
            assert!(client.head().is_none(), "it is closed");
        } else {
            client.post("", PING);
            assert_eq!(client.reply().body, PONG, "{answer:?}");
        }
        let events = tap.end();
        assert_eq!(messages(&events)[..2], [PING, PONG], "{answer:?}");
        let repairs: String = about(&events, "repaired").iter().map(|data| data["reason"].to_string()).collect();
        assert_eq!(repairs.contains("HTTP/1.0"), noted, "{repairs}");
        assert!(about(&events, "broken off").is_empty());
    }
}

#[test]
fn a_request_whose_end_is_uncertain_is_refused_and_recorded() {
    let chunked = [&chunk(PING), END].concat();
    let refused = [
        format!("POST /mcp HTTP/1.0\r\n{HOST}{JSON}Transfer-Encoding: chunked\r\n\r\n{chunked}"),
        format!("POST /mcp HTTP/1.1\r\n{HOST}{JSON}Transfer-Encoding: gzip\r\n\r\n{PING}"),
        format!("POST /mcp HTTP/1.1\r\n{HOST}{JSON}Transfer-Encoding: chunked, identity\r\n\r\n{chunked}"),
        format!("POST /mcp HTTP/1.1\r\n{HOST}{JSON}Transfer-Encoding: chunked, chunked\r\n\r\n{chunked}"),
        format!("POST /mcp HTTP/1.1\r\n{HOST}{JSON}Content-Length: +{}\r\n\r\n{PING}", PING.len()),
        format!("POST /mcp HTTP/1.1\r\n{HOST}{JSON}Content-Length: 5\r\nContent-Length: 6\r\n\r\n{PING}"),
        format!("POST /mcp HTTP/1.1\r\n{HOST}{JSON}Content-Length: \r\nTransfer-Encoding: chunked\r\n\r\n{chunked}"),
    ];
    let stage = Stage::new();
    let (server, received) = patient(PING, json_answer(PONG));
    let tap = Tap::start(&stage, server, &["--allow-origin", "https://app.example"]);
    for request in &refused {
        let answer = raw(tap.address, request, "");
        assert!(
            answer[8..].starts_with(" 400 ") && answer.contains("\r\nconnection: close\r\n"),
            "{request:?} {answer}"
        );
        assert!(answer.to_ascii_lowercase().contains("vary: origin") && !answer.contains("llow-"), "{answer}");
        let asked = request.replacen("\r\n", "\r\nOrigin: https://app.example\r\n", 1);
        assert!(raw(tap.address, asked, "").contains("access-control-allow-origin: https://app.example\r\n"));
    }
    assert!(raw(tap.address, post("1.1", PING), PONG).ends_with(PONG));
    let events = tap.end();
    assert_eq!(received.try_iter().count(), 1, "only the last went on");
    let refusals = about(&events, "refused");
    assert!(refusals.len() == 14 && refusals.iter().all(|data| data["status"] == 400), "{refusals:?}");
    // As it came.
    let heads = about(&events, "request");
    assert!(heads[0]["headers"].to_string().contains(r#"["transfer-encoding","chunked"]"#), "{}", heads[0]);
    assert!(heads[8]["headers"].to_string().contains(r#"["content-length","+"#), "{}", heads[8]);
}

#[test]
fn identity_is_no_coding_to_wait_for() {
    for codings in ["Transfer-Encoding: identity\r\n", "TRANSFER-ENCODING: Identity\r\nTransfer-Encoding: identity\r\n"]
    {
        let answer = format!("HTTP/1.1 200 OK\r\n{JSON}{codings}Content-Length: {}\r\n\r\n{PONG}", PONG.len());
        let stage = Stage::new();
        let (server, _received) = patient(PING, answer);
        let tap = Tap::start(&stage, server, &[]);
        let mut client = Client::connect(tap.address);
        for _ in 0..2 {
            client.post("", PING);
            let (head, reply) = client.head_and_reply();
            assert_eq!((&*reply.body, reply.cut, head.header("transfer-encoding")), (PONG, false, None));
        }
        let events = tap.end();
        assert_eq!(messages(&events), [PING, PONG, PING, PONG]);
        assert!(about(&events, "repaired")[0]["reason"].as_str().expect("text").contains("identity"));
        let headers = about(&events, "response")[0]["headers"].to_string().to_ascii_lowercase();
        assert!(headers.contains(r#"["transfer-encoding","identity"]"#), "recorded as it came: {headers}");
    }
}

#[test]
fn informational_responses_and_trailers_go_on_to_whoever_can_take_them() {
    let hints = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nConnection: x\r\nX: 1\r\n\r\n";
    let answer = format!(
        "{hints}HTTP/1.1 102 Processing\r\n\r\n{hints}HTTP/1.1 200 OK\r\n{JSON}Trailer: X-Sum\r\n\
         Transfer-Encoding: chunked\r\n\r\n{}0\r\nX-Sum: 7\r\nX-Unannounced: 8\r\n\r\n",
        chunk(PONG)
    );
    let stage = Stage::new();
    let (server, _received) = patient(PING, answer);
    let tap = Tap::start(&stage, server, &[]);
    let stream = TcpStream::connect(tap.address).expect("a connection");
    stream.set_read_timeout(Some(LIMIT)).expect("a socket");
    for _ in 0..3 {
        let got = talk(&stream, post("1.1", PING), "x-unannounced: 8\r\n\r\n");
        let early = "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n";
        let start = format!("{early}HTTP/1.1 102 Processing\r\n\r\n{early}HTTP/1.1 200 OK\r\n");
        assert!(got.starts_with(&start), "{got}");
        assert!(got.ends_with(&format!("{}0\r\nx-sum: 7\r\nx-unannounced: 8\r\n\r\n", chunk(PONG))), "{got}");
    }
    // HTTP/1.0 has neither.
    let got = raw(tap.address, post("1.0", PING), "");
    assert!(got.starts_with("HTTP/1.0 200 OK\r\n") && got.ends_with(&format!("\r\n\r\n{PONG}")), "{got}");
    let events = tap.end();
    assert_eq!(messages(&events), [PING, PONG].repeat(4));
    let early = about(&events, "informational");
    assert_eq!(early.iter().filter(|data| data["status"] == 103).count(), 8);
    assert_eq!(early.iter().filter(|data| data["kept"] == true).count(), 3, "of the client of HTTP/1.0");
    let trailers = about(&events, "trailers");
    assert_eq!(trailers[0]["headers"], serde_json::json!([["x-sum", "7"], ["x-unannounced", "8"]]));
    assert_eq!(trailers.iter().map(|data| data["kept"] == true).collect::<Vec<_>>(), [false, false, false, true]);
    assert!(about(&events, "broken off").is_empty() && about(&events, "closed").is_empty());
}

#[test]
fn a_request_with_trailers_is_whole_and_they_go_on() {
    for cut in [1, 7, 1000] {
        let stage = Stage::new();
        let (server, received) = patient("x-sum: 7\r\n\r\n", json_answer(PONG));
        let tap = Tap::start(&stage, server, &[]);
        let request = format!(
            "POST /mcp HTTP/1.1\r\n{HOST}{JSON}TE: trailers\r\nTransfer-Encoding: chunked\r\n\r\n{}0\r\nX-Sum: 7\r\n\r\n",
            chunk(PING)
        );
        let stream = TcpStream::connect(tap.address).expect("a connection");
        stream.set_nodelay(true).expect("a socket");
        stream.set_read_timeout(Some(LIMIT)).expect("a socket");
        for piece in request.as_bytes().chunks(cut) {
            (&stream).write_all(piece).expect("written");
        }
        assert!(talk(&stream, "", PONG).starts_with("HTTP/1.1 200 "));
        let got = received.recv_timeout(LIMIT).expect("a request");
        assert!(got.contains("te: trailers\r\n") || got.contains("TE: trailers\r\n"), "{got}");
        let events = tap.end();
        assert_eq!(messages(&events), [PING, PONG]);
        assert_eq!(about(&events, "trailers")[0]["headers"], serde_json::json!([["x-sum", "7"]]));
        assert!(about(&events, "broken off").is_empty(), "{events:?}");
    }
}

#[test]
fn the_client_is_told_to_continue_once() {
    let stage = Stage::new();
    let answer = format!("HTTP/1.1 100 Continue\r\n\r\n{}", json_answer(PONG));
    let (server, _received) = patient(PING, answer);
    let tap = Tap::start(&stage, server, &[]);
    let expecting = post("1.1", PING).replacen("\r\n", "\r\nExpect: 100-continue\r\n", 1);
    for (request, times) in [(expecting, 1), (post("1.1", PING), 1)] {
        let got = raw(tap.address, request, PONG);
        assert_eq!((got.matches("100 Continue").count(), got.matches("200 OK").count()), (times, 1), "{got}");
    }
    assert_eq!(messages(&tap.end()), [PING, PONG, PING, PONG]);
}

/// A server that behaves like this on each connection, and returns what it has received at its end.
fn scripted(script: impl Fn(&TcpStream) -> String + Send + Sync + 'static) -> (SocketAddr, Receiver<String>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let address = listener.local_addr().expect("an address");
    let (sender, received) = channel();
    let script = Arc::new(script);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (sender, script) = (sender.clone(), Arc::clone(&script));
            thread::spawn(move || {
                stream.set_read_timeout(Some(LIMIT)).expect("a socket");
                let _ = sender.send(script(&stream));
            });
        }
    });
    (address, received)
}

fn expecting() -> (String, &'static str) {
    let all = post("1.1", PING).replacen("\r\n", "\r\nExpect: 100-continue\r\n", 1);
    let head = all.strip_suffix(PING).expect("a body").to_owned();
    (head, PING)
}

fn dial(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(LIMIT)).expect("a socket");
    stream
}

#[test]
fn a_client_is_told_to_continue_by_the_server_and_not_before() {
    // Only the server's has this header.
    const CONTINUE: &str = "HTTP/1.1 100 Continue\r\nx-from: server\r\n\r\n";
    let (server, received) = scripted(|stream| {
        let head = talk(stream, "", "\r\n\r\n");
        let body = talk(stream, CONTINUE, PING);
        talk(stream, json_answer(PONG), "") + &head + &body
    });
    let stage = Stage::new();
    let tap = Tap::start(&stage, server, &[]);
    let (head, body) = expecting();
    for _ in 0..3 {
        let stream = dial(tap.address);
        assert_eq!(talk(&stream, &head, "\r\n\r\n"), CONTINUE);
        let got = talk(&stream, body, PONG);
        assert!(got.starts_with("HTTP/1.1 200 OK\r\n") && !got.contains("100 Continue"), "{got}");
        drop(stream);
        assert!(received.recv_timeout(LIMIT).expect("a request").ends_with(PING));
    }
    let events = tap.end();
    assert_eq!(messages(&events), [PING, PONG].repeat(3));
    let early = about(&events, "informational");
    assert!(early.len() == 3 && early.iter().all(|data| data["kept"].is_null()), "{early:?}");
}

#[test]
fn a_client_whose_request_is_refused_is_not_asked_for_its_body() {
    for refusal in ["417 Expectation Failed", "401 Unauthorized", "200 OK"] {
        let (server, received) = scripted(move |stream| {
            let head = talk(stream, "", "\r\n\r\n");
            head + &talk(stream, format!("HTTP/1.1 {refusal}\r\nContent-Length: 0\r\n\r\n"), "")
        });
        let stage = Stage::new();
        let tap = Tap::start(&stage, server, &[]);
        let stream = dial(tap.address);
        let got = talk(&stream, expecting().0, "\r\n\r\n");
        assert!(got.starts_with(&format!("HTTP/1.1 {refusal}\r\n")), "{got}");
        stream.shutdown(Shutdown::Both).expect("a socket");
        assert!(received.recv_timeout(LIMIT).expect("a request").ends_with("\r\n\r\n"), "no body");
        tap.end();
    }
}

#[test]
fn a_client_that_does_not_wait_is_not_told_to_continue_unless_the_server_does() {
    let stage = Stage::new();
    let (server, _received) = patient(PING, json_answer(PONG));
    let tap = Tap::start(&stage, server, &[]);
    let (head, body) = expecting();
    let got = raw(tap.address, head.clone() + body, PONG);
    assert!(got.starts_with("HTTP/1.1 200 OK\r\n"), "{got}");
    tap.end();
    // Where nobody is behind the listener who could be asked, it asks itself.
    let process: Live = stage.start(&["record", "--force", "-o", "g.reel", "--listen", "0", "--", BINARY, "serve"]);
    let address: SocketAddr = until("the listener", || {
        let said = process.stderr_so_far();
        said.split_once("listening on http://")?.1.split_once('/')?.0.parse().ok()
    });
    assert_eq!(talk(&dial(address), head, "\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
    process.signal("INT");
    process.end();
}

#[test]
fn an_answer_that_breaks_off_right_behind_its_head_is_a_head_and_a_broken_connection() {
    let events = "Content-Type: text/event-stream\r\n";
    let chunked = "Transfer-Encoding: chunked\r\n";
    let note = "event: x\ndata: {}\n\n";
    let cases = [
        (JSON, chunked, "zz\r\n".to_owned(), "", true),
        (events, chunked, "zz\r\n".to_owned(), "", true),
        (JSON, chunked, "-1\r\nabc".to_owned(), "", true),
        (events, chunked, "\r\n".to_owned(), "", true),
        (JSON, "Content-Length: 99\r\n", String::new(), "", true),
        (events, chunked, format!("{}zz\r\n", chunk(note)), note, true),
        // Near misses.
        (events, chunked, [&chunk(note), END].concat(), note, false),
        (events, chunked, END.to_owned(), "", false),
    ];
    for (kind, framing, rest, body, is_broken) in cases {
        let answer = format!("HTTP/1.1 200 OK\r\n{kind}{framing}\r\n{rest}");
        let (server, _received) = scripted(move |stream| {
            let request = talk(stream, "", PING);
            let _ = { stream }.write_all(answer.as_bytes());
            request
        });
        let stage = Stage::new();
        let tap = Tap::start(&stage, server, &[]);
        for _ in 0..5 {
            let mut client = Client::connect(tap.address);
            client.post("", PING);
            let reply = client.reply();
            assert_eq!((reply.status, &*reply.body, reply.cut), (200, body, is_broken), "{kind}{framing}{rest:?}");
        }
        let events = tap.end();
        assert_eq!(about(&events, "response")[0]["status"], 200);
        let broken = about(&events, "broken off");
        assert_eq!(broken.len(), if is_broken { 5 } else { 0 }, "{rest:?}: {broken:?}");
        assert!(broken.iter().all(|data| data["reason"].as_str().is_some_and(|why| why.contains("reading a body"))));
    }
}

#[test]
fn a_client_that_closes_its_side_and_waits_gets_its_answer() {
    let in_chunks = format!("HTTP/1.1 200 OK\r\n{JSON}Transfer-Encoding: chunked\r\n\r\n{}{END}", chunk(PONG));
    let in_events = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n{}{END}",
        chunk(&format!("data: {PONG}\n\n"))
    );
    let hinted = format!("HTTP/1.1 103 Early Hints\r\n\r\n{}", json_answer(PONG));
    let to_the_end = format!("HTTP/1.1 200 OK\r\n{JSON}\r\n{PONG}");
    for (version, answer) in [
        ("1.1", json_answer(PONG)),
        ("1.0", json_answer(PONG)),
        ("1.1", in_chunks),
        ("1.1", in_events),
        ("1.1", hinted),
        ("1.1", to_the_end),
    ] {
        // What is before the mark is sent at once, the rest once the server has seen that its client has closed its side.
        for at in [0, answer.find("\r\n\r\n").expect("a head") + 4] {
            if at > 0 && answer.contains("event-stream") {
                continue;
            }
            let told = answer.clone();
            let (server, received) = scripted(move |stream| {
                let request = talk(stream, "", PING);
                let more = talk(stream, &told[..at], "");
                let _ = { stream }.write_all(&told.as_bytes()[at..]);
                request + &more
            });
            let stage = Stage::new();
            let tap = Tap::start(&stage, server, &[]);
            let stream = dial(tap.address);
            (&stream).write_all(post(version, PING).as_bytes()).expect("written");
            let begun = if at > 0 { talk(&stream, "", "\r\n\r\n") } else { String::new() };
            stream.shutdown(Shutdown::Write).expect("a socket");
            let got = begun + &talk(&stream, "", "");
            assert!(got.contains(" 200 OK\r\n") && got.contains(PONG), "{version} {at} {answer:?}: {got:?}");
            assert!(received.recv_timeout(LIMIT).expect("a request").ends_with(PING));
            let events = tap.end();
            assert_eq!(messages(&events).len(), 2, "{version} {at} {answer:?}: {events:?}");
            for what in ["broken off", "closed", "refused"] {
                assert!(about(&events, what).is_empty(), "{version} {at} {answer:?}: {events:?}");
            }
        }
    }
}

#[test]
fn a_server_that_takes_a_closed_side_for_the_end_ends_the_exchange() {
    for (begun, what) in [("", "broken off"), ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{", "closed")] {
        let (server, received) = scripted(move |stream| talk(stream, "", PING) + &talk(stream, begun, ""));
        let stage = Stage::new();
        let tap = Tap::start(&stage, server, &[]);
        let stream = dial(tap.address);
        (&stream).write_all(post("1.1", PING).as_bytes()).expect("written");
        let mut got = if begun.is_empty() { String::new() } else { talk(&stream, "", "{") };
        stream.shutdown(Shutdown::Write).expect("a socket");
        got += &talk(&stream, "", "");
        assert_eq!(got.to_ascii_lowercase(), begun.to_ascii_lowercase());
        assert!(received.recv_timeout(LIMIT).expect("a request").ends_with(PING));
        let events = tap.end();
        let reasons = about(&events, what);
        assert!(reasons.len() == 1 && reasons[0]["reason"].to_string().contains("the client hung up"), "{events:?}");
    }
}

#[test]
fn a_byte_order_mark_hides_no_message() {
    let marked = |text: &str| format!("\u{feff}{text}");
    let stage = Stage::new();
    let length = PONG.len() + 3;
    let (server, received) =
        patient(PING, format!("HTTP/1.1 200 OK\r\n{JSON}Content-Length: {length}\r\n\r\n\u{feff}{PONG}"));
    let tap = Tap::start(&stage, server, &[]);
    let got = raw(tap.address, post("1.1", &marked(PING)), PONG);
    assert!(got.ends_with(&format!("\r\n\r\n{}", marked(PONG))), "the bytes stay: {got}");
    assert!(received.recv_timeout(LIMIT).expect("a request").ends_with(&marked(PING)));
    assert_eq!(messages(&tap.end()), [marked(PING), marked(PONG)]);
    let shown = stage.run(&["show", "t.reel", "event:message"], "").out();
    assert!(shown.contains("ping") && shown.contains("ok") && !shown.contains("noise"), "{shown}");
}

#[test]
fn a_byte_order_mark_before_the_first_line_loses_nothing() {
    let initialize = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
    let input = format!("\u{feff}{initialize}\n{PING}\n");
    let server = serve(|received, wire| {
        let text = String::from_utf8_lossy(&received.body).into_owned();
        if text.starts_with("{") && text.contains("initialize") {
            let result = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#;
            let head = "HTTP/1.1 200 OK\r\nMcp-Session-Id: s1\r\nContent-Type: application/json\r\n";
            say(wire, format!("{head}Content-Length: {}\r\n\r\n{result}", result.len()));
        } else if received.head.header("mcp-session-id") == Some("s1") && !text.is_empty() {
            say(wire, json_answer(PONG));
        } else {
            say(wire, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
        }
        true
    });
    let stage = Stage::new();
    let url = format!("http://{server}/mcp");
    for words in [vec!["record", "-o", "a.reel", "--url", &*url], vec!["record", "-o", "b.reel", "--", BINARY, "serve"]]
    {
        let ended = stage.run(&words, &input);
        let answers: Vec<String> = ended.out().lines().map(str::to_owned).collect();
        assert!(
            answers.len() == 2 && answers[0].contains("serverInfo") && answers[1].contains(r#""id":1,"result""#),
            "{ended:?}"
        );
        let shown = stage.run(&["show", words[2], "event:message"], "").out();
        assert!(shown.contains("initialize c →") && !shown.contains("noise"), "{shown}");
    }
}

fn gzipped(text: &str) -> Vec<u8> {
    use flate2::{Compression, write::GzEncoder};
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(text.as_bytes()).expect("a Vec takes all");
    gzip.finish().expect("ends")
}

#[test]
fn a_coded_request_is_read_and_goes_on_as_it_is() {
    let server = serve(|received, wire| {
        assert!(received.body.starts_with(b"\x1f\x8b") || received.body == b"odd", "as it was");
        say(wire, json_answer(PONG));
        true
    });
    let stage = Stage::new();
    let tap = Tap::start(&stage, server, &[]);
    let coded = |coding: &str, body: &[u8]| {
        let head = format!(
            "POST /mcp HTTP/1.1\r\n{HOST}{JSON}Content-Encoding: {coding}\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        raw(tap.address, [head.as_bytes(), body].concat(), PONG)
    };
    assert!(coded("gzip", &gzipped(PING)).ends_with(PONG));
    // Neither hides the answer.
    assert!(coded("x-unknown", b"odd").ends_with(PONG) && coded("br", b"odd").ends_with(PONG));
    let events = tap.end();
    assert_eq!(messages(&events), [PING, PONG, PONG, PONG]);
    assert_eq!(about(&events, "body").len(), 2, "{events:?}");
    assert!(about(&events, "broken off")[0]["reason"].as_str().expect("text").contains("not valid br"));
}

#[test]
fn a_coded_request_that_swells_is_not_kept() {
    let stage = Stage::new();
    let tap = Tap::start(
        &stage,
        serve(|_, wire| {
            say(wire, json_answer(PONG));
            true
        }),
        &[],
    );
    let mut bomb = gzipped(&" ".repeat(200 << 20));
    bomb.truncate(bomb.len() - 8);
    let head =
        format!("POST /mcp HTTP/1.1\r\n{HOST}{JSON}Content-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", bomb.len());
    assert!(raw(tap.address, [head.as_bytes(), &bomb].concat(), PONG).ends_with(PONG));
    assert!(tap.peak() < 200 << 20, "{}", tap.peak());
    assert!(about(&tap.end(), "broken off")[0]["reason"].as_str().expect("text").contains("decodes to more"));
}

const PAGE: &str = "Origin: https://app.example\r\n";

#[test]
fn what_is_refused_before_it_is_a_request_is_said() {
    let stage = Stage::new();
    let (server, _received) = patient(PING, json_answer(PONG));
    let tap = Tap::start(&stage, server, &["--allow-origin", "https://app.example"]);
    // In a session it is an event.
    let stream = TcpStream::connect(tap.address).expect("a connection");
    stream.set_read_timeout(Some(LIMIT)).expect("a socket");
    assert!(talk(&stream, post("1.1", PING), PONG).ends_with(PONG));
    let refused = talk(&stream, "\0\r\n\r\n", "");
    assert!(refused.starts_with("HTTP/1.1 400 ") && refused.contains("Connection: close"), "{refused}");
    let long = "x".repeat(140_000);
    let many: String = (0..101).map(|number| format!("X-{number}: 1\r\n")).collect();
    let cases = [
        (format!("GET /mcp HTTP/1.1\r\n{HOST}{PAGE}bad header\r\n\r\n"), "400"),
        (format!("GET /mcp HTTP/3.7\r\n{HOST}{PAGE}\r\n"), "400"),
        (format!("GET /mcp HTTP/1.1\r\n{HOST}{PAGE}X: {long}\r\n\r\n"), "431"),
        (format!("GET /mcp HTTP/1.1\r\n{HOST}{PAGE}{many}\r\n"), "431"),
        (format!("GET /{long} HTTP/1.1\r\n{HOST}{PAGE}\r\n"), "4"),
    ];
    for (request, status) in &cases {
        let answer = raw(tap.address, request, "");
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")) && answer.contains("\r\n\r\nmcpreel: "),
            "{answer:?}"
        );
        assert_eq!(answer.matches("HTTP/1.1 ").count(), 1);
        // A page whose origin stands behind what was too long is not known.
        let is_known = answer.contains("access-control-allow-origin: https://app.example");
        assert!(is_known || *status == "4", "{answer}");
        assert!(!answer.contains('*') && answer.contains("vary: Origin"), "{answer}");
        let foreign = raw(tap.address, request.replace("app.example", "evil.example"), "");
        assert!(foreign.starts_with("HTTP/1.1 4") && !foreign.contains("allow-origin"), "{foreign}");
    }
    // Near misses: 120 KB, and 100 headers with the one that the tap adds.
    let long = "x".repeat(120_000);
    assert!(
        raw(tap.address, post("1.1", PING).replacen("\r\n", &format!("\r\nX: {long}\r\n"), 1), PONG).ends_with(PONG)
    );
    let reported = std::fs::read_to_string(stage.path("reported")).expect("read");
    assert!(reported.contains("mcpreel answered a request with 431") && reported.contains("with 400"), "{reported}");
    let events = tap.end();
    assert!(about(&events, "refused").iter().any(|data| data["status"] == 400), "{events:?}");
}

#[test]
fn a_server_whose_head_is_too_long_is_not_passed_on() {
    for (size, status) in [(120_000, 200), (140_000, 502)] {
        let stage = Stage::new();
        let answer = json_answer(PONG).replacen("\r\n", &format!("\r\nX: {}\r\n", "x".repeat(size)), 1);
        let (server, _received) = patient(PING, answer);
        let tap = Tap::start(&stage, server, &[]);
        let mut client = Client::connect(tap.address);
        client.post("", PING);
        let reply = client.reply();
        assert_eq!(reply.status, status, "{reply:?}");
        assert!(status == 200 || reply.body.contains("128 KiB"), "{reply:?}");
        tap.end();
    }
}

#[test]
fn a_listener_says_what_it_refuses_but_not_each_of_many() {
    let stage = Stage::new();
    let words =
        ["record", "-o", "g.reel", "--listen", "0", "--allow-origin", "https://app.example", "--", BINARY, "serve"];
    let process: Live = stage.start(&words);
    let address: SocketAddr = until("the listener", || {
        let said = process.stderr_so_far();
        said.split_once("listening on http://")?.1.split_once('/')?.0.parse().ok()
    });
    for number in 0..40 {
        let answer = raw(address, format!("G{number} /mcp HTTP/1.1\r\n{HOST}{PAGE}b{number} d\r\n\r\n"), "");
        assert!(
            answer.starts_with("HTTP/1.1 400 ") && answer.contains("allow-origin: https://app.example"),
            "{answer}"
        );
    }
    // Its host is refused, but its page is allowed to know.
    let answer = raw(
        address,
        format!("POST /mcp HTTP/1.1\r\nHost: evil.example\r\n{PAGE}Connection: close\r\nContent-Length: 0\r\n\r\n"),
        "",
    );
    assert!(answer.starts_with("HTTP/1.1 403 ") && answer.contains("allow-origin: https://app.example"), "{answer}");
    let answer = raw(
        address,
        "POST /mcp HTTP/1.1\r\nHost: evil.example\r\nOrigin: http://evil.example\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
        "",
    );
    assert!(answer.starts_with("HTTP/1.1 403 ") && !answer.contains("allow-origin"), "{answer}");
    let said = process.stderr_so_far();
    let lines = said.lines().filter(|line| line.contains("answered a request with 400")).count();
    assert!((1..20).contains(&lines), "{said}");
    process.signal("INT");
    process.end();
}

#[test]
fn a_head_that_comes_too_slowly_is_answered_and_an_idle_connection_is_not() {
    let stage = Stage::new();
    let (server, _received) = patient(PING, json_answer(PONG));
    let tap = Tap::start(&stage, server, &[]);
    let address = tap.address;
    let idle = thread::spawn(move || raw(address, "", ""));
    let answer = raw(address, format!("POST /mcp HTTP/1.1\r\n{HOST}Content-"), "");
    assert!(answer.starts_with("HTTP/1.1 408 ") && answer.contains("too slowly"), "{answer:?}");
    assert_eq!(idle.join().expect("ends"), "");
    let reported = std::fs::read_to_string(stage.path("reported")).expect("read");
    assert_eq!(reported.matches("answered a request with").count(), 1, "{reported}");
    tap.end();
}

#[test]
fn another_protocol_is_answered_at_once() {
    let stage = Stage::new();
    let (server, _received) = patient(PING, "SSH-2.0-OpenSSH_9.6\r\n");
    let tap = Tap::start(&stage, server, &[]);
    let began = std::time::Instant::now();
    for hello in [&b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03"[..], b"EHLO me\r\n"] {
        assert!(raw(tap.address, hello, "").starts_with("HTTP/1.1 400 "));
    }
    let mut client = Client::connect(tap.address);
    client.post("", PING);
    assert_eq!(client.reply().status, 502);
    assert!(began.elapsed().as_secs() < 8, "a head may take 10 seconds");
    tap.end();
}
