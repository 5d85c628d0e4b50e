//! `mock --listen`: what a mock takes over from a recording of HTTP traffic, and what its listener does itself.

use crate::common::{CREATED, Live, Stage, message, time};
use crate::gateway::{Answer, request};
use serde_json::{Value, json};

fn asked(id: u64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn result(id: u64, result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

/// A message of this HTTP exchange.
fn posted(at: u64, exchange: u64, direction: &str, content: Value) -> Value {
    let mut event = message(at, direction, content);
    event["stream"] = 1.into();
    event["exchange"] = exchange.into();
    event["framing"] = "whole".into();
    event
}

/// A server-sent event with a message.
fn sent(at: u64, exchange: u64, id: Option<u64>, content: &Value) -> Value {
    let id = id.map(|id| format!("id: {id}\n")).unwrap_or_default();
    json!({"time": time(at), "stream": 1, "exchange": exchange, "dir": "s2c", "event": "message", "framing": "sse",
        "text": format!("{id}event: message\ndata: {content}\n\n")})
}

/// A server-sent event without a message.
fn block(at: u64, exchange: u64, block: &str) -> Value {
    let mut payload = Vec::new();
    ciborium::into_writer(&json!({"what": "sse", "block": block, "joined": false}), &mut payload).expect("written");
    let payload = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, payload);
    json!({"time": time(at), "stream": 1, "exchange": exchange, "dir": "s2c", "event": "transport", "framing": "whole",
        "base64": payload})
}

/// A mock that listens.
struct Mock {
    process: Live,
    address: String,
}

impl Mock {
    fn start(stage: &Stage, options: &[&str]) -> Self {
        let mut process = stage.start(&[&["mock", "t.reel", "--listen", "0"], options].concat());
        let ready: Value = serde_json::from_str(&process.line()).expect("JSON");
        let url = ready["url"].as_str().expect("a URL");
        let address = url.trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
        Self { process, address }
    }

    fn post(&self, headers: &[(&str, &str)], message: &Value) -> Answer {
        request(&self.address, "POST", headers, &message.to_string())
    }

    /// Opens a session of revision 2025-11-25 and returns its id.
    fn initialize(&self) -> String {
        let about =
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
        self.post(&[], &asked(0, "initialize", about)).header("mcp-session-id").expect("a session")
    }

    fn end(self) -> String {
        self.process.signal("TERM");
        let output = self.process.end();
        assert_eq!(output.code(), 0, "{output:?}");
        output.err()
    }
}

fn call(id: u64, tool: &str) -> Value {
    asked(id, "tools/call", json!({"name": tool, "arguments": {}}))
}

#[test]
fn each_answer_comes_in_the_form_in_which_it_was_recorded() {
    let stage = Stage::new();
    let events = [
        posted(0, 1, "c2s", call(1, "json")),
        posted(10, 1, "s2c", result(1, json!({"in": "json"}))),
        posted(20, 2, "c2s", call(2, "bare")),
        sent(30, 2, None, &result(2, json!({"in": "bare"}))),
        posted(40, 3, "c2s", call(3, "numbered")),
        block(45, 3, "id: 6\nretry: 700\ndata: \n\n"),
        sent(50, 3, Some(7), &result(3, json!({"in": "numbered"}))),
        posted(60, 4, "c2s", call(4, "polled")),
        block(65, 4, "id: 8\nretry: 500\ndata: \n\n"),
        sent(90, 5, Some(9), &result(4, json!({"in": "polled"}))),
    ];
    stage.reel("t.reel", &events);
    let mock = Mock::start(&stage, &[]);
    let session = mock.initialize();
    let ask = |id: u64, tool: &str| mock.post(&[("mcp-session-id", &session)], &call(id, tool));
    let plain = ask(11, "json");
    assert_eq!(plain.header("content-type").as_deref(), Some("application/json"));
    assert_eq!(plain.json(), result(11, json!({"in": "json"})));

    let mut bare = ask(12, "bare");
    assert_eq!(bare.header("content-type").as_deref(), Some("text/event-stream"));
    let (id, data) = bare.block().expect("an event");
    assert!(id.is_empty() && data.contains("\"bare\""), "{id:?} {data}");
    assert_eq!(bare.block(), None);

    let mut numbered = ask(13, "numbered");
    let priming = numbered.block().expect("an event");
    assert!(!priming.0.is_empty() && priming.1.is_empty(), "{priming:?}");
    assert!(numbered.block().is_some_and(|(id, data)| !id.is_empty() && data.contains("\"id\":13")));

    let mut polled = ask(14, "polled");
    let (last, _) = polled.block().expect("an event");
    assert_eq!(polled.block(), None, "the stream ends before the answer");
    let mut resumed = request(&mock.address, "GET", &[("mcp-session-id", &session), ("last-event-id", &last)], "");
    assert_eq!(resumed.event(), result(14, json!({"in": "polled"})));
    let report = mock.end();
    assert!(
        report.contains("5 answers from the recording") || report.contains("4 answers from the recording"),
        "{report}"
    );
}

const META: &str = "io.modelcontextprotocol/";

/// The params of a request of the modern era.
fn modern(version: &str, rest: Value) -> Value {
    let mut params = rest;
    params["_meta"] = json!({format!("{META}protocolVersion"): version, format!("{META}clientCapabilities"): {}});
    params
}

#[test]
fn the_modern_era_has_its_errors_and_its_headers_are_checked() {
    let stage = Stage::new();
    let error = |id: u64, code: i64| json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": "no"}});
    let mut bare = modern("2026-07-28", json!({}));
    bare["_meta"].as_object_mut().expect("an object").remove(&format!("{META}clientCapabilities"));
    let events = [
        posted(0, 1, "c2s", asked(1, "tools/list", modern("2026-07-28", json!({})))),
        // The headers were wrong.
        posted(5, 1, "s2c", error(1, -32020)),
        posted(10, 2, "c2s", asked(2, "tools/list", modern("2026-07-28", json!({})))),
        sent(15, 2, None, &result(2, json!({"tools": []}))),
        posted(20, 3, "c2s", asked(3, "tools/list", bare.clone())),
        posted(25, 3, "s2c", error(3, -32602)),
        posted(30, 4, "c2s", asked(4, "ping", modern("2026-07-28", json!({})))),
        sent(35, 4, None, &error(4, -32601)),
        posted(40, 5, "c2s", asked(5, "tools/list", modern("2999-01-01", json!({})))),
        posted(45, 5, "s2c", error(5, -32022)),
    ];
    stage.reel("t.reel", &events);
    let mock = Mock::start(&stage, &["--strict"]);
    let version = ("mcp-protocol-version", "2026-07-28");
    let ask = |headers: &[(&str, &str)], message: &Value| mock.post(headers, message);
    let list = asked(11, "tools/list", modern("2026-07-28", json!({})));
    for wrong in [&[version][..], &[version, ("mcp-method", "tools/call")], &[("mcp-method", "tools/list")]] {
        let refused = ask(wrong, &list);
        assert_eq!(refused.status, 400, "{wrong:?}");
        let refused = refused.json();
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(11), &json!(-32020)), "{refused}");
    }
    let nameless = ask(&[version, ("mcp-method", "tools/list")], &asked(10, "tools/list", json!({})));
    assert_eq!(nameless.status, 400);
    let nameless = nameless.json();
    assert_eq!((&nameless["id"], &nameless["error"]["code"]), (&json!(10), &json!(-32602)), "{nameless}");
    let headers = [version, ("mcp-method", "tools/list")];
    assert_eq!(ask(&headers, &list).event()["result"], json!({"tools": []}));
    let refused = |headers: &[(&str, &str)], message: &Value, status: u16, code: i64| {
        let answer = ask(headers, message);
        assert_eq!(answer.status, status, "{message}");
        let answer = answer.json();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&message["id"], &json!(code)), "{answer}");
    };
    refused(&headers, &asked(12, "tools/list", bare), 400, -32602);
    refused(&[version, ("mcp-method", "ping")], &asked(13, "ping", modern("2026-07-28", json!({}))), 404, -32601);
    let unknown = [("mcp-protocol-version", "2999-01-01"), ("mcp-method", "tools/list")];
    refused(&unknown, &asked(14, "tools/list", modern("2999-01-01", json!({}))), 400, -32022);
    // The request with wrong headers does not count as never asked for.
    mock.end();
}

#[test]
fn other_sites_have_no_access() {
    let stage = Stage::new();
    stage.import(
        "t.reel",
        format!(
            "{}\n{}\n{}",
            json!({"reel": {"version": 1, "created": CREATED, "tool": "test"}}),
            posted(0, 1, "c2s", call(1, "json")),
            posted(10, 1, "s2c", result(1, json!({})))
        ),
    );
    let mock = Mock::start(&stage, &[]);
    for header in [("origin", "https://evil.example"), ("host", "evil.example")] {
        assert_eq!(mock.post(&[header], &call(1, "json")).status, 403, "{header:?}");
    }
    mock.end();
}

/// Clients of both eras ask first whether the server speaks the modern one. That is no session.
#[test]
fn a_client_that_asks_for_the_era_first_plays_the_first_session() {
    let stage = Stage::new();
    let session = |stream: u64, said: &str| {
        let about =
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
        let met = json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
            "serverInfo": {"name": "s", "version": "1"}});
        let text = json!({"content": [{"type": "text", "text": said}]});
        let lines = [
            ("c2s", asked(1, "initialize", about)),
            ("s2c", result(1, met)),
            ("c2s", json!({"jsonrpc": "2.0", "method": "notifications/initialized"})),
            ("c2s", asked(2, "tools/call", json!({"name": "now"}))),
            ("s2c", result(2, text)),
        ];
        lines.map(|(direction, content)| {
            let mut event = message(stream * 100, direction, content);
            event["stream"] = stream.into();
            event
        })
    };
    stage.reel("t.reel", &[session(1, "first"), session(2, "second")].concat());
    let mock = Mock::start(&stage, &[]);
    let url = format!("http://{}/mcp", mock.address);
    let said = || stage.ok(&["call", "tools/call", "name=now", "--url", &url]).out();
    let answers = [said(), said(), said()];
    for (answer, expected) in answers.iter().zip(["first", "second", "first"]) {
        assert!(answer.contains(expected), "{answers:?}");
    }
    assert!(mock.end().contains("3 sessions"));
}
