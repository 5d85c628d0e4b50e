//! Tests how the reverse proxy and the listeners treat messages whose framing is unusual or wrong, connections for which
//! there is no place, and requests of web pages.

use crate::common::socket::{Client, END, EVENTS, Head, Reply, Tap, chunk, json_answer, messages_of, post, say, serve};
use crate::common::{BINARY, Live, Stage, until};
use serde_json::{Value, json};
use std::net::{SocketAddr, TcpStream};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const PONG: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
const JSON: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";

fn always(answer: impl Into<Vec<u8>>) -> SocketAddr {
    let answer = answer.into();
    serve(move |_, wire| {
        say(wire, &answer);
        false
    })
}

/// The texts of messages in the reel.
fn recorded(events: &[Value]) -> Vec<String> {
    let messages = events.iter().filter(|event| event["event"] == "message");
    // A block of an event stream is text that contains the message.
    let of_block = |text: &str| text.split(['\r', '\n']).filter_map(|line| line.strip_prefix("data: ")).collect();
    messages.map(|event| event["text"].as_str().map_or_else(|| event["message"].to_string(), of_block)).collect()
}

/// What the reel says about repairs.
fn repaired(events: &[Value]) -> String {
    let repaired = events.iter().filter(|event| event["data"]["what"] == "repaired");
    repaired.map(|event| format!("{} {}\n", event["dir"], event["data"]["reason"])).collect()
}

#[test]
fn a_response_whose_framing_is_mended_is_whole_and_noted() {
    let chunked = [&chunk(PONG), END].concat();
    let length = PONG.len();
    let cases = [
        (format!("{JSON}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n{chunked}"), "takes precedence"),
        (format!("{JSON}transfer-encoding: Chunked\r\ncontent-length: 9999\r\n\r\n{chunked}"), "takes precedence"),
        (format!("{JSON}Content-Length: {length}\r\nTransfer-Encoding: chunked\r\n\r\n{chunked}"), "takes precedence"),
        (format!("{JSON}Content-Length: abc\r\nTransfer-Encoding: chunked\r\n\r\n{chunked}"), "invalid"),
        (format!("{JSON}Transfer-Encoding: chunked\r\nContent-Length: +5\r\n\r\n{chunked}"), "invalid"),
        (format!("{JSON}Content-Length: \r\nTransfer-Encoding: chunked\r\n\r\n{chunked}"), "invalid"),
        (format!("{JSON}Content-Length: 5, 6\r\nTransfer-Encoding: chunked\r\n\r\n{chunked}"), "differ"),
        (format!("{JSON}Content-Length: {length}\r\nTransfer-Encoding: identity\r\n\r\n{PONG}"), "identity"),
        (format!("{JSON}Transfer-Encoding: chunked\r\nTransfer-Encoding: Chunked\r\n\r\n{chunked}"), "chunked several"),
        (format!("{JSON}Transfer-Encoding: chunked, chunked\r\n\r\n{chunked}"), "chunked several"),
        (format!("{JSON}Content-Length: {length}\r\nContent-Length: {length}\r\n\r\n{PONG}"), "several times"),
        (format!("{JSON}Content-Length: {length}, {length}\r\n\r\n{PONG}"), "several times"),
        (format!("{JSON}Content-Length: {length}\n\r\n{PONG}"), "LF alone"),
        (format!("{JSON}Transfer-Encoding: chunked\r\n\r\n{length:x} \r\n{PONG}\r\n{END}"), "white space"),
        (format!("{JSON}Content-Length : {length}\r\n\r\n{PONG}"), "white space between"),
        (format!("{JSON}X-A\t: b\r\nTransfer-Encoding \t: chunked\r\n\r\n{chunked}"), "white space between"),
        (format!("{JSON}Transfer-Encoding: identity,\r\nContent-Length: {length}\r\n\r\n{PONG}"), "empty elements"),
        (format!("{JSON}Transfer-Encoding: chunked,\r\n\r\n{chunked}"), "empty elements"),
        (format!("{JSON}Transfer-Encoding: , chunked\r\nTransfer-Encoding: ,\r\n\r\n{chunked}"), "empty elements"),
        (format!("{JSON}Content-Length: ,{length},\r\n\r\n{PONG}"), "empty elements"),
        // Near misses.
        (format!("{JSON}X-A: b : c\r\nX-B: ,,\r\nContent-Length: {length}\r\n\r\n{PONG}"), ""),
        (json_answer(PONG), ""),
        (format!("{JSON}Transfer-Encoding: chunked\r\n\r\n{length:X};a=b\r\n{PONG}\r\n{END}"), ""),
        (format!("{JSON}\r\n{PONG}"), ""),
    ];
    for (answer, noted) in cases {
        let stage = Stage::new();
        let tap = Tap::start(&stage, always(answer.clone()), &[]);
        let mut client = Client::connect(tap.address);
        client.post("", PING);
        let (head, reply) = client.head_and_reply();
        assert_eq!((reply.status, reply.body.as_str(), reply.cut), (200, PONG, false), "{answer:?}");
        let lengths = head.headers.iter().filter(|(name, _)| name == "content-length").count();
        assert_eq!(
            lengths + head.headers.iter().filter(|(name, _)| name == "transfer-encoding").count(),
            1,
            "{head:?}"
        );
        let events = tap.end();
        assert_eq!(recorded(&events), [PING, PONG], "{answer:?}");
        let repairs = repaired(&events);
        assert!(repairs.is_empty() == noted.is_empty() && repairs.contains(noted), "{answer:?}: {repairs}");
        assert!(!repairs.contains("c2s"), "{repairs}");
    }
}

#[test]
fn a_name_with_white_space_behind_it_goes_on_without_in_a_response_and_is_refused_in_a_request() {
    let early = "HTTP/1.1 103 Early Hints\r\nLink : </a>\r\n\r\n";
    let answer = json_answer(PONG).replacen("\r\n", "\r\nX-A : b : c\r\nX-B\t:d\r\nX-C: e : f\r\n", 1);
    let stage = Stage::new();
    let tap = Tap::start(&stage, always([early, &answer].concat()), &[]);
    let mut client = Client::connect(tap.address);
    client.post("", PING);
    let hints = client.head().expect("an informational response");
    assert_eq!((hints.status(), hints.header("link")), (103, Some("</a>")));
    let (head, reply) = client.head_and_reply();
    assert_eq!((reply.status, &*reply.body, reply.cut), (200, PONG, false));
    let got = ["x-a", "x-b", "x-c"].map(|name| head.header(name));
    assert_eq!(got, [Some("b : c"), Some("d"), Some("e : f")]);
    assert_eq!(post(tap.address, "X-A : b\r\n", PING).status, 400);
    let events = tap.end();
    assert_eq!(recorded(&events), [PING, PONG]);
    assert_eq!(repaired(&events).matches("white space between").count(), 1, "{}", repaired(&events));
}

fn gzipped(text: &str) -> Vec<u8> {
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(text.as_bytes()).expect("a Vec takes all");
    gzip.finish().expect("ends")
}

#[test]
fn a_transfer_coding_stays_named_and_the_recording_reads_it() {
    let body = gzipped(PONG);
    let head = format!("{JSON}Transfer-Encoding: gzip, chunked\r\n\r\n{:x}\r\n", body.len());
    let server = always([head.as_bytes(), &body, b"\r\n", END.as_bytes()].concat());
    let stage = Stage::new();
    let tap = Tap::start(&stage, server, &[]);
    let mut client = Client::connect(tap.address);
    client.post("", PING);
    assert_eq!(client.head().expect("a head").header("transfer-encoding"), Some("gzip, chunked"));
    assert!(client.next().is_some());
    assert_eq!(recorded(&tap.end()), [PING, PONG]);
}

/// What a reel has of an answer to a ping, with this coding and body: its message, if it is one, and the events about it.
fn recorded_answer(coding: &str, body: &[u8]) -> (Option<String>, Vec<Value>) {
    let head = format!("{JSON}Content-Encoding: {coding}\r\nContent-Length: {}\r\n\r\n", body.len());
    let server = always([head.as_bytes(), body].concat());
    let stage = Stage::new();
    let tap = Tap::start(&stage, server, &[]);
    let mut client = Client::connect(tap.address);
    client.post("", PING);
    assert!(client.head().is_some());
    let passed: Vec<String> = std::iter::from_fn(|| client.next()).collect();
    assert_eq!(passed.concat(), String::from_utf8_lossy(body), "it goes on as it came");
    let events = tap.end();
    let notes = events.iter().map(|event| event["data"].clone());
    let notes = notes.filter(|data| ["body", "broken off", "cut short"].iter().any(|what| data["what"] == *what));
    (recorded(&events).get(1).cloned(), notes.collect())
}

#[test]
fn a_body_that_cannot_be_decoded_is_kept_as_it_came() {
    let whole = gzipped(PONG);
    let padded = [&whole[..], &[0; 512]].concat();
    for (coding, body) in [("gzip", &whole), ("gzip", &padded), ("x-gzip, identity", &whole)] {
        assert_eq!(recorded_answer(coding, body), (Some(PONG.to_owned()), Vec::new()), "{coding}");
    }
    for (coding, body) in [("gzip", PONG), ("br", PONG), ("compress", PONG), ("gzip, dcb", PONG), ("zstd", "no zstd")] {
        let (message, notes) = recorded_answer(coding, body.as_bytes());
        assert_eq!(message, None, "{coding}");
        let last = notes.last().expect("a note");
        assert_eq!((&last["what"], &last["text"]), (&"body".into(), &body.into()), "{coding} {notes:?}");
    }
    // Readers such as browsers take what a coding gave before it ended too early.
    let cut = &whole[..whole.len() - 6];
    let (message, notes) = recorded_answer("gzip", cut);
    assert_eq!((message.as_deref(), notes.len()), (Some(PONG), 1), "{notes:?}");
    assert_eq!(notes[0], json!({"what": "cut short", "reason": "it ends in the middle of its gzip"}));
}

#[test]
fn a_request_whose_framing_is_mended_is_whole_and_noted() {
    let mirror = || {
        serve(|received, wire| {
            let coding = received.head.header("transfer-encoding").unwrap_or("none");
            say(wire, json_answer(&format!("{coding} {}", String::from_utf8_lossy(&received.body))));
            true
        })
    };
    let host = "Host: localhost\r\nContent-Type: application/json\r\n";
    let length = PING.len();
    let chunked = [&chunk(PING), END].concat();
    let cases = [
        (
            format!("POST /mcp HTTP/1.1\r\n{host}Content-Length: {length}\r\nContent-Length: {length}\r\n\r\n{PING}"),
            "none",
            "several times",
        ),
        (format!("POST /mcp HTTP/1.1\n{host}Content-Length: {length}\r\n\r\n{PING}"), "none", "LF alone"),
        (
            format!("POST /mcp HTTP/1.1\r\n{host}Transfer-Encoding: chunked\r\n\r\n{length:x}\t\r\n{PING}\r\n{END}"),
            "chunked",
            "white space",
        ),
        (format!("POST /mcp HTTP/1.1\r\n{host}Transfer-Encoding: x, chunked\r\n\r\n{chunked}"), "x, chunked", ""),
        (format!("GET /mcp HTTP/1.1\r\n{host}Transfer-Encoding: chunked\r\n\r\n{chunked}"), "chunked", ""),
        (format!("POST /mcp HTTP/1.1\r\n{host}Content-Length: {length}\r\n\r\n{PING}"), "none", ""),
    ];
    for (request, coding, noted) in cases {
        let stage = Stage::new();
        let tap = Tap::start(&stage, mirror(), &[]);
        let mut client = Client::connect(tap.address);
        client.send(&request);
        assert_eq!(client.reply().body, format!("{coding} {PING}"), "{request:?}");
        let repairs = repaired(&tap.end());
        assert!(repairs.is_empty() == noted.is_empty() && repairs.contains(noted), "{request:?}: {repairs}");
        assert!(!repairs.contains("s2c"), "{repairs}");
    }
}

#[test]
fn an_event_is_recorded_and_read_whatever_ends_its_lines() {
    let list = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}"#;
    for end in ["\r", "\n", "\r\n"] {
        let note = r#"{"jsonrpc":"2.0","method":"notifications/x"}"#;
        let events = [format!("data: {note}{end}{end}"), format!("event: message{end}data: {list}{end}{end}")];
        let stage = Stage::new();
        let told = events.clone();
        // The stream stays open.
        let server = serve(move |_, wire| {
            say(wire, EVENTS);
            told.iter().for_each(|event| say(wire, chunk(event)));
            true
        });
        let tap = Tap::start(&stage, server, &[]);
        let mut client = Client::connect(tap.address);
        client.post("", PING);
        client.head().expect("a head");
        let mut got = String::new();
        while got.len() < events.concat().len() {
            got += &client.next().expect("the stream goes on");
        }
        assert_eq!(got, events.concat());
        assert_eq!(messages_of(&got.replace("\r\n", "\n").replace('\r', "\n")), [note, list]);
        assert_eq!(recorded(&tap.end()), [PING, note, list], "{end:?}");
    }
}

#[test]
fn a_connection_without_a_place_is_answered_at_once() {
    let stage = Stage::new();
    let tap = Tap::start(&stage, always(json_answer(PONG)), &[]);
    let mut held: Vec<TcpStream> = (0..512).map(|_| TcpStream::connect(tap.address).expect("a connection")).collect();
    let reply = until("there is no place", || Some(post(tap.address, "", PING)).filter(|reply| reply.status == 503));
    assert!(reply.body.contains("512 connections") && !reply.cut, "{reply:?}");
    held.clear();
    until("there is a place", || Some(post(tap.address, "", PING)).filter(|reply| reply.status == 200));
    tap.end();
}

/// The head of the response to a request with these header lines.
fn ask(address: SocketAddr, method: &str, headers: &str, body: &str) -> (Head, Reply) {
    let mut client = Client::connect(address);
    let length = body.len();
    client.send(format!("{method} /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}"));
    client.send(format!("Content-Length: {length}\r\n\r\n{body}"));
    client.head_and_reply()
}

const PAGE: &str = "Origin: https://app.example\r\n";
const FOREIGN: &str = "Origin: https://evil.example\r\n";
const PREFLIGHT: &str =
    "Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: content-type, mcp-param-x\r\n";

fn learns(head: &Head) -> Option<&str> {
    head.header("access-control-allow-origin")
}

#[test]
fn a_page_of_an_allowed_origin_is_let_in_by_a_listener() {
    let stage = Stage::new();
    let words =
        ["record", "-o", "g.reel", "--listen", "0", "--allow-origin", "https://app.example", "--", BINARY, "serve"];
    let process: Live = stage.start(&words);
    let address: SocketAddr = until("the listener", || {
        let said = process.stderr_so_far();
        said.split_once("listening on http://")?.1.split_once('/')?.0.parse().ok()
    });
    let (head, _) = ask(address, "OPTIONS", &[PAGE, PREFLIGHT].concat(), "");
    assert_eq!((head.status(), learns(&head)), (204, Some("https://app.example")));
    assert!(head.header("access-control-allow-headers").expect("headers").contains("mcp-param-x"));
    let initialize = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"p","version":"1"}}}"#;
    let json = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";
    let (head, _) = ask(address, "POST", &[PAGE, json].concat(), initialize);
    assert_eq!((head.status(), learns(&head)), (200, Some("https://app.example")));
    assert!(head.header("mcp-session-id").is_some());
    assert!(head.header("access-control-expose-headers").expect("headers").contains("Mcp-Session-Id"));
    // The page may read why it is refused.
    let (head, _) = ask(address, "POST", &[PAGE, "Content-Type: text/plain\r\n"].concat(), "x");
    assert_eq!((head.status(), learns(&head)), (415, Some("https://app.example")));
    // Others learn nothing, and no cache mixes them up.
    for (method, headers, status) in [
        ("OPTIONS", [FOREIGN, PREFLIGHT].concat(), 403),
        ("POST", [FOREIGN, json].concat(), 403),
        ("OPTIONS", PREFLIGHT.to_owned(), 405),
        ("GET", String::new(), 400),
    ] {
        let (head, _) = ask(address, method, &headers, "");
        assert_eq!((head.status(), learns(&head), head.header("vary")), (status, None, Some("Origin")), "{headers}");
    }
    process.signal("INT");
    process.end();
}

#[test]
fn behind_the_reverse_proxy_the_server_decides_which_pages_may_read() {
    let server = serve(|received, wire| {
        let more = if received.is("OPTIONS") { "Access-Control-Allow-Origin: https://own.example\r\n" } else { "" };
        say(wire, format!("HTTP/1.1 200 OK\r\nX-Own: 1\r\n{more}Content-Length: 0\r\n\r\n"));
        true
    });
    let stage = Stage::new();
    let tap = Tap::start(&stage, server, &["--allow-origin", "https://app.example", "--max-body", "10"]);
    let (head, _) = ask(tap.address, "OPTIONS", &[PAGE, PREFLIGHT].concat(), "");
    assert_eq!(
        (learns(&head), head.header("x-own"), head.header("vary")),
        (Some("https://own.example"), Some("1"), None)
    );
    let (head, _) = ask(tap.address, "POST", PAGE, "{}");
    assert_eq!((learns(&head), head.header("x-own")), (None, Some("1")));
    // What mcpreel says itself, the page may read.
    let (head, _) = ask(tap.address, "POST", PAGE, &" ".repeat(11));
    assert_eq!((head.status(), learns(&head)), (413, Some("https://app.example")));
    let (head, _) = ask(tap.address, "POST", FOREIGN, "{}");
    assert_eq!((head.status(), learns(&head), head.header("vary")), (403, None, Some("Origin")));
    tap.end();
}
