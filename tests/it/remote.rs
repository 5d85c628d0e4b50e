//! Tests the client side of every transport except stdio with servers in this process, in which the test decides every
//! response and sees every request.

use crate::common::web::{Asked, Reply, Step, Web, answer, event, legacy, modern, say};
use crate::common::{Output, Stage, finish, until};
use futures_util::{SinkExt, StreamExt};
use hyper::http::request;
use mcpreel::testing::transport::client::http::{ClientConnection, ExchangeEvent, ExchangeObserver};
use mcpreel::testing::transport::{Incoming, Observers, Remote};
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixListener;
use std::sync::Arc;
use std::thread;

/// `call tools/list` on this URL with these options.
fn list(stage: &Stage, url: &str, options: &[&str]) -> Output {
    stage.run(&[&["call", "tools/list", "--format", "json", "--url", url], options].concat(), "")
}

/// As `list`, with additional environment variables.
fn list_with(stage: &Stage, url: &str, options: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = stage.mcpreel(&[&["call", "tools/list", "--format", "json", "--url", url], options].concat());
    command.envs(environment.iter().copied());
    finish(command, Vec::new())
}

fn no_tools(asked: &Asked) -> Reply {
    match asked.what().as_str() {
        "tools/list" => Reply::result(asked, json!({"tools": []})),
        "DELETE" => Reply::empty(200),
        _ => Reply::empty(405),
    }
}

#[track_caller]
fn succeeded(output: &Output) {
    assert_eq!((output.code(), output.out().as_str()), (0, "{\"tools\":[]}\n"), "{output:?}");
}

/// The command failed with this code and printed this.
#[track_caller]
fn failed(output: &Output, code: i32, said: &[&str]) {
    assert_eq!(output.code(), code, "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    for said in said {
        assert!(output.err().contains(said), "no {said:?} in {output:?}");
    }
}

#[test]
fn a_legacy_session_goes_its_way_in_each_revision() {
    for (version, named) in
        [("2025-03-26", None), ("2025-06-18", Some("2025-06-18")), ("2025-11-25", Some("2025-11-25"))]
    {
        let stage = Stage::new();
        let web = Web::start(legacy(version, Some("s-1"), no_tools));
        let output = list(&stage, &web.url("/mcp?a=b"), &["-v"]);
        succeeded(&output);
        assert_eq!(
            web.story(),
            ["server/discover", "initialize", "notifications/initialized", "GET", "tools/list", "DELETE"]
        );
        for asked in web.asked() {
            let is_later = !["server/discover", "initialize"].contains(&asked.method());
            assert_eq!(asked.target, "/mcp?a=b");
            assert_eq!(asked.header("host"), Some(format!("127.0.0.1:{}", web.port).as_str()));
            assert_eq!(asked.header("mcp-session-id"), is_later.then_some("s-1"), "{asked:?}");
            if is_later {
                assert_eq!(asked.header("mcp-protocol-version"), named, "{asked:?}");
                assert_eq!(asked.header("mcp-method"), None, "{asked:?}");
            }
            let accepts = asked.header("accept").unwrap_or_default();
            match asked.verb.as_str() {
                "POST" => assert_eq!(accepts, "application/json, text/event-stream"),
                "GET" => assert_eq!(accepts, "text/event-stream"),
                _ => {}
            }
        }
        let reported = output.err();
        for step in ["the server answered server/discover with", "GET → 405", "DELETE → 200", "legacy era"] {
            assert!(reported.contains(step), "{output:?}");
        }
    }
}

#[test]
fn a_server_without_sessions_gets_no_delete() {
    let (stage, web) = (Stage::new(), Web::start(legacy("2025-11-25", None, no_tools)));
    succeeded(&list(&stage, &web.url("/mcp"), &[]));
    assert!(!web.story().contains(&"DELETE".to_owned()));
}

#[test]
fn a_stream_carries_what_the_server_says_and_asks_before_the_answer() {
    let stage = Stage::new();
    let web = Web::start(legacy("2025-11-25", Some("s"), |asked| match asked.method() {
        "tools/list" => Reply::events([
            say(": a comment\n\n"),
            event(&json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info"}})),
            event(&json!({"jsonrpc": "2.0", "id": "s1", "method": "roots/list"})),
            event(&answer(asked, json!({"tools": []}))),
        ]),
        _ => no_tools(asked),
    }));
    let output = list(&stage, &web.url("/mcp"), &["-v", "--root", "file:///tmp"]);
    succeeded(&output);
    assert!(output.err().contains("notifications/message"), "{output:?}");
    let answered = web.first("answer");
    assert_eq!(answered.body, json!({"jsonrpc": "2.0", "id": "s1", "result": {"roots": [{"uri": "file:///tmp"}]}}));
    assert_eq!(answered.header("mcp-session-id"), Some("s"));
}

#[test]
fn batches_pass_in_bodies_and_in_events() {
    let stage = Stage::new();
    let batch =
        |asked: &Asked| json!([{"jsonrpc": "2.0", "method": "notifications/x"}, answer(asked, json!({"tools": []}))]);
    let body = Web::start(legacy("2025-03-26", None, move |asked| match asked.method() {
        "tools/list" => Reply::json(200, &batch(asked)),
        _ => no_tools(asked),
    }));
    succeeded(&list(&stage, &body.url("/"), &[]));
    let events = Web::start(legacy("2025-03-26", None, move |asked| match asked.method() {
        "tools/list" => Reply::events([event(&batch(asked))]),
        _ => no_tools(asked),
    }));
    succeeded(&list(&stage, &events.url("/"), &[]));
}

#[test]
fn a_stream_that_ends_early_is_resumed_behind_its_last_event() {
    let stage = Stage::new();
    let waiting: Arc<Mutex<Option<Asked>>> = Arc::default();
    let web = Web::start(legacy("2025-11-25", Some("s"), move |asked| {
        let mut waiting = waiting.lock();
        match (asked.what().as_str(), asked.header("last-event-id")) {
            ("tools/list", _) => {
                *waiting = Some(asked.clone());
                Reply::events([say("id: first\nretry: 5\ndata: \n\n")])
            }
            ("GET", Some("first")) => Reply::events([say("id: second\ndata: \n\n"), Step::Break]),
            ("GET", Some("second")) => {
                let asked = waiting.take().expect("the request came before");
                Reply::events([event(&answer(&asked, json!({"tools": []})))])
            }
            _ => no_tools(asked),
        }
    }));
    let output = list(&stage, &web.url("/mcp"), &["-v"]);
    succeeded(&output);
    let resumed = web.asked().into_iter().filter(|asked| asked.header("last-event-id").is_some());
    assert!(resumed.clone().all(|asked| asked.header("mcp-session-id") == Some("s") && asked.verb == "GET"));
    assert_eq!(resumed.count(), 2);
    assert!(output.err().contains("resuming after event first in 5ms"), "{output:?}");
    assert!(output.err().contains("resuming after event second in 5ms"), "{output:?}");
}

#[test]
fn the_servers_own_stream_is_resumed_too() {
    let stage = Stage::new();
    let web = Web::start(legacy("2025-11-25", Some("s"), |asked| {
        let context = json!({"jsonrpc": "2.0", "method": "notifications/late"});
        match (asked.what().as_str(), asked.header("last-event-id")) {
            ("GET", None) => Reply::events([say("id: g1\nretry: 1\ndata: \n\n")]),
            ("GET", Some("g1")) => Reply::events([event(&context), Step::Hold]),
            ("tools/list", _) => Reply::silent(),
            _ => no_tools(asked),
        }
    }));
    let output = list(&stage, &web.url("/mcp"), &["-v", "--timeout", "1500ms"]);
    failed(&output, 5, &["notifications/late", "no response to tools/list"]);
}

#[test]
fn resuming_ends_where_it_brings_nothing() {
    let stage = Stage::new();
    let web =
        Web::start(legacy("2025-11-25", None, |asked| match (asked.what().as_str(), asked.header("last-event-id")) {
            ("tools/list", _) => Reply::events([say("id: 1\nretry: 1\ndata: \n\n")]),
            ("GET", Some("1")) => Reply::events([]),
            _ => no_tools(asked),
        }));
    failed(&list(&stage, &web.url("/"), &[]), 4, &["ended before the answer to tools/list", "5 attempts to resume"]);
    let refusing = Web::start(legacy("2025-11-25", None, |asked| match asked.what().as_str() {
        "tools/list" => Reply::events([say("id: 1\nretry: 1\ndata: \n\n")]),
        _ => no_tools(asked),
    }));
    failed(&list(&stage, &refusing.url("/"), &[]), 4, &["ended before the answer", "HTTP 405"]);
}

#[test]
fn a_stream_that_cannot_be_resumed_fails_its_request() {
    let stage = Stage::new();
    for (step, said) in [(say("data: {\"half"), "the stream ended before"), (Step::Break, "the stream broke off")] {
        let web = Web::start(legacy("2025-11-25", None, move |asked| match asked.method() {
            "tools/list" => Reply::events([say(": x\n\n"), step.clone()]),
            _ => no_tools(asked),
        }));
        failed(&list(&stage, &web.url("/"), &[]), 4, &[said, "the answer to tools/list"]);
    }
    let body = Web::start(legacy("2025-11-25", None, |asked| match asked.method() {
        "tools/list" => {
            let half = Reply::text(200, "application/json", "{\"jsonrpc\"");
            Reply { steps: [half.steps.clone(), vec![Step::Break]].concat(), ..half }
        }
        _ => no_tools(asked),
    }));
    failed(&list(&stage, &body.url("/"), &[]), 4, &["the answer to tools/list is incomplete"]);
}

#[test]
fn a_session_that_is_gone_is_opened_anew_once() {
    let stage = Stage::new();
    for comes_back in [true, false] {
        let opened = Arc::new(Mutex::new(0));
        let web = Web::start(move |asked| match asked.what().as_str() {
            "initialize" => {
                let mut opened = opened.lock();
                *opened += 1;
                legacy("2025-11-25", None, no_tools)(asked).with("Mcp-Session-Id", &format!("s-{opened}"))
            }
            "tools/list" if comes_back && asked.header("mcp-session-id") == Some("s-2") => no_tools(asked),
            "tools/list" => Reply::error(404, asked, -32001),
            _ => legacy("2025-11-25", None, no_tools)(asked),
        });
        let output = list(&stage, &web.url("/mcp"), &["-v", "--era", "legacy"]);
        let opening = ["initialize", "notifications/initialized", "GET", "tools/list"];
        let twice = [opening, opening].concat();
        if comes_back {
            succeeded(&output);
            assert_eq!(web.story(), [&twice[..], &["DELETE"]].concat());
            assert_eq!(web.asked().last().and_then(|asked| asked.header("mcp-session-id").map(str::len)), Some(3));
        } else {
            failed(&output, 4, &["the session is over", "HTTP 404", "no longer knows the session"]);
            assert_eq!(web.story(), twice, "what is gone is not deleted");
        }
        assert!(output.err().contains("opening a new session and repeating the request"), "{output:?}");
        assert_eq!(web.asked()[4].header("mcp-session-id"), None, "a new session begins without the old one");
    }
}

#[test]
fn a_host_sets_a_server_up_anew_that_was_started_again() {
    let stage = Stage::new();
    let opened = Arc::new(Mutex::new(0));
    let web = Web::start(move |asked| match asked.what().as_str() {
        "initialize" => {
            let mut opened = opened.lock();
            *opened += 1;
            let result = json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}, "events": {}},
                "serverInfo": {"name": "scripted", "version": "1"}});
            Reply::result(asked, result).with("Mcp-Session-Id", &format!("s-{opened}"))
        }
        "notifications/initialized" => Reply::empty(202),
        "ping" if asked.header("mcp-session-id") == Some("s-1") => Reply::error(404, asked, -32001),
        "ping" => Reply::result(asked, json!({})),
        "tools/list" => Reply::result(asked, json!({"tools": [{"name": "events_subscribe", "inputSchema": {}}]})),
        "tools/call" => Reply::result(asked, json!({"content": [], "structuredContent": {"subscriptionId": "a"}})),
        _ => no_tools(asked),
    });
    let server = format!("w={}", web.url("/mcp"));
    let set = ["--set", "mcpe.subscribe=mail.*", "--era", "legacy"];
    let steps = ["--do", "/wait 200ms", "--do", "/request w ping", "--do", "/wait 300ms"];
    let reported = stage.run(&[&["host", "-s", &server][..], &set, &steps].concat(), "");
    assert_eq!(reported.code(), 0, "{reported:?}");
    let renewed = "w host renewed: w: legacy 2025-11-25, in a new session: the server was set up again";
    assert!(reported.out().contains(renewed) && reported.out().contains("answer> {}"), "{reported:?}");
    let called = |session: &str| {
        let of = |asked: &&Asked| asked.method() == "tools/call" && asked.header("mcp-session-id") == Some(session);
        web.asked().iter().filter(of).count()
    };
    assert_eq!((called("s-1"), called("s-2")), (1, 1), "{reported:?}");
}

#[test]
fn a_message_that_is_sent_as_it_is_receives_that_the_session_is_gone() {
    let stage = Stage::new();
    let web = Web::start(legacy("2025-11-25", Some("s"), |asked| match asked.method() {
        "ping" => Reply::empty(404),
        _ => no_tools(asked),
    }));
    let ping = r#"{"jsonrpc":"2.0","id":99,"method":"ping"}"#;
    failed(&stage.run(&["fire", "raw", ping, "--url", &web.url("/mcp")], ""), 4, &["the session is over"]);
}

#[test]
fn a_delete_may_be_refused() {
    let stage = Stage::new();
    let web = Web::start(legacy("2025-11-25", Some("s"), |asked| match asked.what().as_str() {
        "tools/list" => no_tools(asked),
        _ => Reply::empty(405),
    }));
    let output = list(&stage, &web.url("/mcp"), &["-v"]);
    succeeded(&output);
    assert!(output.err().contains("DELETE → 405"), "{output:?}");
}

#[test]
fn modern_requests_repeat_themselves_in_headers() {
    let stage = Stage::new();
    let web = Web::start(modern(|asked| Reply::result(asked, json!({"content": []}))));
    let words = ["call", "tools/call", "name=grüß", "--url", &web.url("/mcp"), "-v"];
    let output = stage.run(&words, "");
    assert_eq!(output.code(), 0, "{output:?}");
    assert!(output.err().contains("modern era, revision 2026-07-28"), "{output:?}");
    assert_eq!(web.story(), ["server/discover", "tools/call"]);
    for asked in web.asked() {
        assert_eq!(asked.header("mcp-protocol-version"), Some("2026-07-28"));
        assert_eq!(asked.header("mcp-method"), Some(asked.method()));
        assert_eq!(asked.header("mcp-session-id"), None);
    }
    assert_eq!(web.first("tools/call").header("mcp-name"), Some("=?base64?Z3LDvMOf?="));
    assert_eq!(web.first("server/discover").header("mcp-name"), None);
}

#[test]
fn a_request_that_names_its_revision_leaves_the_session_beside_it_alone() {
    let stage = Stage::new();
    let web = Web::start(legacy("2025-11-25", Some("s-1"), |asked| Reply::result(asked, json!({}))));
    let mut client = stage.start(&["record", "-o", "a.reel", "--url", &web.url("/mcp")]);
    let modern = json!({"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}});
    let first =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
    for (id, method, params) in [
        (1, "initialize", &first),
        (2, "tools/list", &json!({})),
        (3, "prompts/list", &modern),
        (4, "ping", &json!({})),
    ] {
        client.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        client.message(|answer| answer["id"] == id);
    }
    client.end();
    for (method, session, version, repeated) in [
        ("tools/list", Some("s-1"), "2025-11-25", None),
        ("prompts/list", None, "2026-07-28", Some("prompts/list")),
        ("ping", Some("s-1"), "2025-11-25", None),
    ] {
        let asked = web.first(method);
        assert_eq!(asked.header("mcp-session-id"), session, "{method}");
        assert_eq!(asked.header("mcp-protocol-version"), Some(version), "{method}");
        assert_eq!(asked.header("mcp-method"), repeated, "{method}");
    }
}

#[test]
fn headers_of_tool_parameters_are_learned_when_they_are_missed() {
    let stage = Stage::new();
    let web = Web::start(modern(|asked| match asked.method() {
        "tools/list" if asked.body["params"]["cursor"].is_null() => {
            Reply::result(asked, json!({"tools": [{"name": "other"}], "nextCursor": "page 2"}))
        }
        "tools/list" => {
            let properties = json!({"region": {"type": "string", "x-mcp-header": "Region"}});
            Reply::result(asked, json!({"tools": [{"name": "t", "inputSchema": {"properties": properties}}]}))
        }
        _ if asked.header("mcp-param-region") == Some("us west") => Reply::result(asked, json!({"content": []})),
        _ => Reply::error(400, asked, -32020),
    }));
    let call = |tool: &str| {
        let name = format!("name={tool}");
        stage.run(&["call", "tools/call", &name, "arguments.region=us west", "--url", &web.url("/"), "-v"], "")
    };
    let output = call("t");
    assert_eq!((output.code(), output.json()), (0, json!({"content": []})), "{output:?}");
    assert!(output.err().contains("missing headers for t"), "{output:?}");
    assert_eq!(web.story(), ["server/discover", "tools/call", "tools/list", "tools/list", "tools/call"]);
    let listed = web.first("tools/list");
    assert_eq!(listed.header("mcp-method"), Some("tools/list"));
    assert_eq!(listed.body["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    let unlisted = call("none");
    assert_eq!((unlisted.code(), &unlisted.json()["code"]), (1, &json!(-32020)), "{unlisted:?}");
}

#[test]
fn modern_errors_come_with_any_status_and_any_id() {
    let stage = Stage::new();
    for id in [Value::Null, json!(2), json!("server-error")] {
        let web = Web::start(modern(move |_| {
            let error = json!({"code": -32601, "message": "no such method"});
            Reply::json(404, &json!({"jsonrpc": "2.0", "id": id, "error": error}))
        }));
        let output = stage.run(&["call", "no/such", "--url", &web.url("/mcp")], "");
        assert_eq!((output.code(), &output.json()["code"]), (1, &json!(-32601)), "{output:?}");
    }
}

#[test]
fn a_modern_request_is_cancelled_by_closing_its_stream() {
    let stage = Stage::new();
    let web = Web::start(modern(|_| Reply::events([say(": open\n\n"), Step::Hold])));
    let output = list(&stage, &web.url("/mcp"), &["--timeout", "1s", "-v"]);
    failed(&output, 5, &["no response to tools/list", "cancelled by closing"]);
    until("the stream is closed", || (web.given_up() == 1).then_some(()));
    assert_eq!(web.story(), ["server/discover", "tools/list"]);
}

#[test]
fn a_legacy_request_is_cancelled_by_a_notification() {
    let stage = Stage::new();
    let web = Web::start(legacy("2025-11-25", None, |asked| match asked.method() {
        "tools/list" => Reply::events([Step::Hold]),
        "notifications/cancelled" => Reply::empty(202),
        _ => no_tools(asked),
    }));
    failed(&list(&stage, &web.url("/mcp"), &["--timeout", "1s"]), 5, &["no response to tools/list"]);
    assert_eq!(web.first("notifications/cancelled").body["params"]["requestId"], web.first("tools/list").body["id"]);
}

/// HTTP+SSE: one stream at `/sse`, which announces `endpoint`; answers to posted messages arrive there.
fn older(endpoint: &'static str) -> Web {
    let (stream, source) = tokio::sync::mpsc::unbounded_channel();
    let source = Arc::new(tokio::sync::Mutex::new(source));
    Web::start(move |asked| match (asked.verb.as_str(), asked.target.as_str()) {
        ("GET", "/sse") => {
            Reply::events([say(format!("event: endpoint\ndata: {endpoint}\n\n")), Step::Fed(Arc::clone(&source))])
        }
        ("POST", "/messages?id=7") if ["ping", ""].contains(&asked.method()) => {
            Reply::text(400, "text/plain", "no ping, no nonsense")
        }
        ("POST", "/messages?id=7") => {
            let result = match asked.method() {
                "initialize" => {
                    let info = json!({"name": "older", "version": "1"});
                    json!({"protocolVersion": "2024-11-05", "capabilities": {}, "serverInfo": info})
                }
                _ => json!({"tools": []}),
            };
            if !asked.body["id"].is_null() {
                stream.send(format!("data: {}\n\n", answer(asked, result)).into()).expect("the stream is there");
            }
            Reply::text(202, "text/plain", "Accepted")
        }
        _ => Reply::text(405, "text/html", "<p>no</p>"),
    })
}

#[test]
fn a_server_of_the_oldest_revision_is_found() {
    let (stage, web) = (Stage::new(), older("/messages?id=7"));
    let output = list(&stage, &web.url("/sse"), &["-v"]);
    succeeded(&output);
    for step in ["POST initialize → 405", "trying HTTP+SSE", "messages go to http://127.0.0.1", "revision 2024-11-05"]
    {
        assert!(output.err().contains(step), "{output:?}");
    }
    assert_eq!(
        web.story(),
        ["server/discover", "initialize", "GET", "initialize", "notifications/initialized", "tools/list"]
    );
}

#[test]
fn a_raw_message_that_is_not_accepted_is_not_waited_for() {
    let (stage, web) = (Stage::new(), older("/messages?id=7"));
    for message in [r#"{"jsonrpc":"2.0","id":77,"method":"ping"}"#, "{broken"] {
        let output = stage.run(&["fire", "raw", message, "--timeout", "1h", "--url", &web.url("/sse")], "");
        failed(&output, 4, &["400", "no ping, no nonsense"]);
    }
    let newer = Web::start(legacy("2025-11-25", None, |_| Reply::text(400, "text/plain", "no ping, no nonsense")));
    let output = stage.run(&["fire", "raw", "{broken", "--timeout", "1h", "--url", &newer.url("/mcp")], "");
    failed(&output, 4, &["400"]);
}

#[test]
fn an_endpoint_elsewhere_gets_nothing() {
    let (stage, web) = (Stage::new(), older("http://127.0.0.2:9/messages"));
    let output = list(&stage, &web.url("/sse"), &["-v", "-H", "Authorization: Bearer t"]);
    failed(&output, 4, &["answered initialize with HTTP 405", "its origin differs"]);
    assert!(!output.err().contains("endpoint-token"));
}

#[test]
fn a_refused_initialize_is_reported_where_there_is_no_older_server_either() {
    let (stage, web) = (Stage::new(), Web::start(|_| Reply::text(404, "text/plain", "not \u{1b}[31mhere")));
    failed(
        &list(&stage, &web.url("/x"), &[]),
        4,
        &["HTTP 404 Not Found: not ␛[31mhere", "is the path right? It is /x"],
    );
    assert_eq!(web.story(), ["server/discover", "initialize", "GET"]);
    let page = "<!DOCTYPE html>\n<html><head><title>Not found</title></head>\n<body><h1>404</h1></body></html>";
    let site = Web::start(move |_| Reply::text(404, "text/html", page));
    failed(&list(&stage, &site.url("/x"), &[]), 4, &["HTTP 404 Not Found: Not found 404\n"]);
}

#[test]
fn what_belongs_to_http_makes_no_sense_with_a_command() {
    let stage = Stage::new();
    for option in [&["-H", "A: b"][..], &["--header-env", "A=HOME"], &["--cacert", "x.pem"], &["--insecure"]] {
        let output = stage.run(&[&["call", "tools/list"], option, &["--", "no-such-server"]].concat(), "");
        failed(&output, 2, &[option[0], "cannot be used with a server's command", "--url"]);
    }
}

#[test]
fn an_address_that_is_none_is_a_wrong_command_line() {
    let stage = Stage::new();
    for address in ["nonsense", "127.0.0.1:99999", "192.0.2.1:80"] {
        failed(&stage.run(&["serve", "--listen", address], ""), 2, &["cannot listen on", address]);
    }
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port().to_string();
    failed(&stage.run(&["serve", "--listen", &port], ""), 4, &["choose another port"]);
}

#[test]
fn statuses_are_reported_with_what_to_do() {
    let stage = Stage::new();
    for (status, header, said) in [
        (401, ("WWW-Authenticate", "Bearer realm=\"r\""), ["401", "Bearer realm", "MCPREEL_TOKEN"]),
        (403, ("X-A", "b"), ["403", "denies access", "token"]),
        (302, ("Location", "https://elsewhere/mcp"), ["302", "does not follow this redirect", "https://elsewhere/mcp"]),
        (500, ("X-A", "b"), ["500", "Internal Server Error", "went wrong"]),
        (503, ("X-A", "b"), ["503", "busy", "later"]),
    ] {
        let web = Web::start(move |_| Reply::text(status, "text/plain", "went wrong").with(header.0, header.1));
        failed(&list(&stage, &web.url("/mcp"), &[]), 4, &said);
    }
    let html = Web::start(|_| Reply::text(200, "text/html", "<p>a page</p>"));
    failed(
        &list(&stage, &html.url("/"), &[]),
        4,
        &["answered initialize with HTTP 200 OK and text/html", "no usable message: <p>a page</p>"],
    );
}

/// Bodies that are not JSON-RPC errors, whatever they say.
fn no_errors() -> Vec<(&'static str, String)> {
    let within = |error: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"error":{error}}}"#);
    vec![
        ("application/json", r#"{"error":"invalid_token","error_description":"who?"}"#.to_owned()),
        ("application/json", within("null")),
        ("application/json", within(r#"{"message":"no code"}"#)),
        ("application/json", within(r#"{"code":1.5,"message":"half"}"#)),
        ("application/json", within(r#"{"code":"-32000","message":"text"}"#)),
        ("application/json", within(r#"{"code":-32000}"#)),
        ("application/json", r#"{"id":1,"error":{"code":429,"message":"no version"}}"#.to_owned()),
        ("application/json", format!(r#"{{"error":"{}"}}"#, "x".repeat(3 << 20))),
        ("application/json", "[".repeat(100_000)),
        ("text/html", "<html><body>No \u{1b}[31mway</body></html>".to_owned()),
        ("application/json", String::new()),
    ]
}

#[test]
fn a_body_that_is_no_json_rpc_error_is_reported_with_its_status() {
    let stage = Stage::new();
    for status in [200, 400, 401, 403, 404, 429, 500, 503] {
        for (kind, body) in no_errors() {
            let sent = body.clone();
            let web = Web::start(legacy("2025-11-25", None, move |_| {
                Reply::text(status, kind, sent.clone()).with("WWW-Authenticate", "Bearer error=\"invalid_token\"")
            }));
            let output = list(&stage, &web.url("/mcp"), &[]);
            let beginning = if kind == "text/html" { "No ␛[31mway" } else { &body[..body.len().min(50)] };
            let status = format!("answered tools/list with HTTP {status}");
            failed(&output, 4, &[&status, "WWW-Authenticate: Bearer error=\"invalid_token\"", beginning]);
            assert!(output.err().len() < 2000, "bounded");
            assert_eq!(status.contains("401"), output.err().contains("MCPREEL_TOKEN"), "{}", output.err());
        }
    }
}

#[test]
fn an_error_of_the_servers_own_is_its_answer_and_401_still_asks_for_a_token() {
    let stage = Stage::new();
    for id in [Value::Null, json!(777), json!("server-error")] {
        for status in [200, 400, 401, 403, 404, 500] {
            let id = id.clone();
            let web = Web::start(legacy("2025-11-25", None, move |_| {
                Reply::json(status, &json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32600, "message": "no"}}))
            }));
            let output = list(&stage, &web.url("/mcp"), &[]);
            assert_eq!((output.code(), &output.json()["code"]), (1, &json!(-32600)), "{output:?}");
        }
    }
    let web = Web::start(|_| {
        Reply::json(401, &json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32001, "message": "who are you?"}}))
            .with("WWW-Authenticate", "Bearer realm=\"r\"")
    });
    let said =
        ["error -32001 (who are you?)", "HTTP 401 Unauthorized (WWW-Authenticate: Bearer realm", "MCPREEL_TOKEN"];
    failed(&list(&stage, &web.url("/mcp"), &[]), 4, &said);
}

#[test]
fn an_error_within_a_stream_that_is_none_does_not_answer() {
    let stage = Stage::new();
    let web = Web::start(legacy("2025-11-25", None, |asked| {
        Reply::events([event(&json!({"jsonrpc": "2.0", "id": asked.body["id"], "error": "odd"})), Step::Hold])
    }));
    failed(&list(&stage, &web.url("/mcp"), &[]), 4, &["an error that violates JSON-RPC", r#""error":"odd""#]);
}

#[test]
fn a_client_behind_the_tap_gets_an_answer_to_every_refused_request() {
    let stage = Stage::new();
    for (kind, body) in no_errors() {
        let web = Web::start(move |_| {
            Reply::text(401, kind, body.clone()).with("WWW-Authenticate", "Bearer error=\"invalid_token\"")
        });
        let mut client = stage.start(&["record", "--force", "-o", "a.reel", "--url", &web.url("/mcp")]);
        for id in [json!("a"), json!(7)] {
            client.send(&json!({"jsonrpc": "2.0", "id": id, "method": "initialize", "params": {}}));
            let answer = client.message(|_| true);
            assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(-32000)), "{answer}");
            let message = answer["error"]["message"].as_str().expect("a message");
            assert!(message.contains("HTTP 401") && message.contains("Bearer error=\"invalid_token\""), "{message}");
            assert!(message.len() < 1000 && !message.contains(char::is_control), "{message}");
        }
        client.end();
    }
}

#[test]
fn what_an_authorization_layer_answers_is_no_message() {
    let stage = Stage::new();
    let web = Web::start(|_| Reply::json(401, &json!({"error": "invalid_token"})));
    let mut client = stage.start(&["record", "-o", "a.reel", "--url", &web.url("/mcp")]);
    client.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}}));
    client.message(|answer| answer["error"]["code"] == -32000);
    client.end();
    let judged = stage.run(&["validate", "a.reel"], "");
    assert_eq!(judged.code(), 0, "{judged:?}");
    let shown = stage.run(&["show", "a.reel", "--full"], "");
    assert!(shown.out().contains("invalid_token"), "{shown:?}");
}

#[test]
fn a_server_that_never_answers_costs_the_time_limit() {
    let stage = Stage::new();
    let web = Web::start(|_| Reply::silent());
    failed(
        &list(&stage, &web.url("/mcp"), &["--timeout", "200ms", "--era", "legacy"]),
        5,
        &["initialize", "--timeout"],
    );
    let later = Web::start(legacy("2025-11-25", Some("s"), |_| Reply::silent()));
    failed(&list(&stage, &later.url("/mcp"), &["--timeout", "1s"]), 5, &["no response to tools/list"]);
}

#[test]
fn mcpreels_own_answer_behind_a_tap_belongs_to_its_request() {
    let stage = Stage::new();
    let refusing = Web::start(|_| Reply::json(401, &json!({"error": "invalid_token"})));
    for (number, url) in ["http://127.0.0.1:1/mcp".to_owned(), refusing.url("/mcp")].iter().enumerate() {
        let reel = format!("{number}.reel");
        let request = r#"{"jsonrpc":"2.0","id":7,"method":"initialize","params":{}}"#;
        let answered = stage.run(&["record", "--url", url, "-o", &reel], format!("{request}\n"));
        assert!(answered.out().contains("\"id\":7,\"error\""), "{answered:?}");
        let shown = stage.ok(&["show", &reel]).out();
        assert!(shown.contains("[injected] initialize") && !shown.contains("unknown request"), "{shown}");
        let stats = stage.ok(&["stats", &reel, "--format", "json"]).json();
        assert_eq!(
            (&stats["orphan_answers"], &stats["methods"]["initialize"]["errors"]),
            (&json!(0), &json!(1)),
            "{stats}"
        );
    }
}

#[test]
fn a_connection_that_cannot_be_is_reported() {
    let stage = Stage::new();
    let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
    for scheme in ["http://", "https://", "ws://", "tcp:"] {
        let output = list(&stage, &format!("{scheme}127.0.0.1:{port}"), &[]);
        failed(&output, 4, &["cannot reach", "refused", "is the server running"]);
    }
    failed(&list(&stage, "unix:none", &[]), 4, &["there is no such socket", "is the server running"]);
    failed(&list(&stage, "http://no-such-host.invalid/", &[]), 4, &["is the host name right?"]);
    let web = Web::start(|_| Reply::empty(200));
    let wrong = |scheme: &str| list(&stage, &format!("{scheme}://127.0.0.1:{}/", web.port), &[]);
    failed(&wrong("https"), 4, &["cannot reach https://127.0.0.1", "try http://"]);
    failed(&wrong("wss"), 4, &["cannot reach https://127.0.0.1", "ws://"]);
    failed(&wrong("ws"), 4, &["the WebSocket handshake", "Streamable HTTP", "http://"]);
    let (tls, _) = Web::start_tls(|_| Reply::empty(200));
    failed(&list(&stage, &format!("http://127.0.0.1:{}/", tls.port), &[]), 4, &["try https://"]);
    for url in ["ftp://host", "http://", "tcp:host", "http://name:word@host/"] {
        failed(&list(&stage, url, &[]), 2, &["invalid URL"]);
    }
    assert!(!list(&stage, "http://name:word@host/", &[]).err().contains("word@"), "a password is not shown");
}

#[test]
fn options_of_a_started_server_do_not_go_with_a_url() {
    let stage = Stage::new();
    for options in [&["-e", "A=b"][..], &["--cwd", "/"], &["--session", "x"]] {
        assert_eq!(list(&stage, "http://127.0.0.1:9/", options).code(), 2, "{options:?}");
    }
    failed(&list(&stage, "http://127.0.0.1:9/", &["-H", "two words: x"]), 2, &["cannot send the header"]);
}

#[test]
fn a_large_event_passes_and_a_huge_one_does_not() {
    let stage = Stage::new();
    for (size, passes) in [(10 << 20, true), (65 << 20, false)] {
        for as_event in [true, false] {
            let web = Web::start(legacy("2025-11-25", None, move |asked| {
                let tools = json!({"tools": [{"name": "x".repeat(size)}]});
                match (asked.method(), as_event) {
                    ("tools/list", true) => Reply::events([event(&answer(asked, tools))]),
                    ("tools/list", false) => Reply::result(asked, tools),
                    _ => no_tools(asked),
                }
            }));
            let output = list(&stage, &web.url("/"), &[]);
            if passes {
                assert_eq!(output.code(), 0, "{}", output.err());
                assert!(output.stdout.len() > size);
            } else {
                failed(&output, 4, &["64 MiB"]);
            }
        }
    }
}

#[test]
fn headers_of_a_mebibyte_are_refused() {
    let stage = Stage::new();
    let web = Web::start(|asked| no_tools(asked).with("X-Large", &"x".repeat(1 << 20)));
    failed(&list(&stage, &web.url("/"), &[]), 4, &["answered with headers of more than 128 KiB"]);
    let many =
        Web::start(|asked| (0..2000).fold(no_tools(asked), |reply, number| reply.with(&format!("X-{number}"), "x")));
    failed(&list(&stage, &many.url("/"), &[]), 4, &["answered with headers of more than"]);
}

#[test]
fn a_flood_takes_bounded_memory_and_the_time_limit_holds() {
    let stage = Stage::new();
    let noise = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "x".repeat(4000)}});
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    for message in [noise, ping] {
        let web = Web::start(legacy("2025-11-25", None, move |asked| match asked.method() {
            "tools/list" => Reply::events([Step::Flood(format!("data: {message}\n\n").into())]),
            _ => no_tools(asked),
        }));
        let url = web.url("/");
        let live = stage.start(&["call", "tools/list", "--url", &url, "--timeout", "1500ms"]);
        let status = format!("/proc/{}/status", live.pid());
        let mut peak = 0;
        until("the flood is given up", || {
            let text = std::fs::read_to_string(&status).unwrap_or_default();
            let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let kib = line.and_then(|line| line.split_whitespace().next()).and_then(|kib| kib.parse::<u64>().ok());
            peak = peak.max(kib.unwrap_or_default());
            kib.is_none().then_some(())
        });
        let output = live.end();
        failed(&output, 5, &["no response to tools/list"]);
        assert!((1..100 << 10).contains(&peak), "{peak} KiB");
    }
}

#[test]
fn tls_is_checked_unless_reported_otherwise() {
    let stage = Stage::new();
    let (web, certificate) = Web::start_tls(legacy("2025-11-25", Some("s"), no_tools));
    let path = stage.write("ca.pem", certificate);
    let url = format!("https://127.0.0.1:{}/mcp", web.port);
    failed(&list(&stage, &url, &[]), 4, &["cannot reach https://127.0.0.1", "ertificate", "--cacert", "--insecure"]);
    let trusted = list(&stage, &url, &["--cacert", path.to_str().expect("text")]);
    succeeded(&trusted);
    assert!(trusted.stderr.is_empty(), "{trusted:?}");
    let insecure = list(&stage, &url, &["--insecure"]);
    succeeded(&insecure);
    assert!(insecure.err().contains("certificate is not verified"), "{insecure:?}");
    let authority = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let (own, certificate) = Web::start_tls_as(authority, legacy("2025-11-25", Some("s"), no_tools));
    stage.write("authority.pem", certificate);
    for options in [&[][..], &["--cacert", "authority.pem"]] {
        let refused = list(&stage, &format!("https://127.0.0.1:{}/mcp", own.port), options);
        failed(&refused, 4, &["CaUsedAsEndEntity", "made with CA:FALSE", "--cacert"]);
    }
    failed(&list(&stage, &url, &["--cacert", "missing.pem"]), 3, &["cannot read certificates", "missing.pem"]);
    stage.write("empty.pem", "");
    failed(&list(&stage, &url, &["--cacert", "empty.pem"]), 3, &["it contains no certificate"]);
}

/// A proxy that answers `CONNECT` with this status line and, if successful, carries bytes. The channel returns the
/// requests.
fn tunnel(status: &'static str) -> (u16, std::sync::mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let (asked, received) = std::sync::mpsc::channel();
    thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let asked = asked.clone();
            thread::spawn(move || carry(client, status, &asked));
        }
    });
    (port, received)
}

fn carry(mut client: TcpStream, status: &str, asked: &std::sync::mpsc::Sender<String>) {
    let mut head = String::new();
    let mut reader = BufReader::new(client.try_clone().expect("a socket"));
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).unwrap_or(0) == 0 {
            return;
        }
    }
    let place = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let _ = asked.send(head);
    let _ = write!(client, "HTTP/1.1 {status}\r\n\r\n");
    if !status.starts_with("200") {
        return;
    }
    let mut server = TcpStream::connect(place).expect("the server is there");
    let (mut from, mut to) = (server.try_clone().expect("a socket"), client.try_clone().expect("a socket"));
    thread::spawn(move || std::io::copy(&mut from, &mut to));
    let _ = std::io::copy(&mut client, &mut server);
}

#[test]
fn proxies_come_from_the_environment() {
    let stage = Stage::new();
    let (web, _) = Web::start_tls(legacy("2025-11-25", None, no_tools));
    let url = format!("https://127.0.0.1:{}/mcp", web.port);
    let (port, asked) = tunnel("200 OK");
    let proxy = format!("http://user:word@127.0.0.1:{port}");
    let environment = [("HTTPS_PROXY", proxy.as_str())];
    succeeded(&list_with(&stage, &url, &["--insecure"], &environment));
    let head = asked.recv().expect("the proxy was asked");
    assert!(head.starts_with(&format!("CONNECT 127.0.0.1:{} HTTP/1.1", web.port)), "{head}");
    assert!(head.contains("Proxy-Authorization: Basic dXNlcjp3b3Jk"), "{head}");
    while asked.try_recv().is_ok() {}
    succeeded(&list_with(&stage, &url, &["--insecure"], &[environment[0], ("NO_PROXY", "127.0.0.1")]));
    assert!(asked.try_recv().is_err(), "NO_PROXY leaves the host out");
    for (status, said) in [("407 Who", "proxy authorization required"), ("403 No", "cannot connect through")] {
        let (port, _asked) = tunnel(status);
        let proxy = format!("http://127.0.0.1:{port}");
        let output = list_with(&stage, &url, &["--insecure"], &[("HTTPS_PROXY", &proxy)]);
        failed(&output, 4, &["the proxy 127.0.0.1", said, "NO_PROXY"]);
    }
}

#[test]
fn a_proxy_gets_whole_urls_for_plain_http() {
    let stage = Stage::new();
    let proxy = Web::start(legacy("2025-11-25", None, no_tools));
    let address = format!("http://user:word@127.0.0.1:{}", proxy.port);
    succeeded(&list_with(&stage, "http://far.invalid/mcp", &[], &[("http_proxy", &address)]));
    for asked in proxy.asked() {
        assert_eq!((asked.target.as_str(), asked.header("host")), ("http://far.invalid/mcp", Some("far.invalid")));
        assert_eq!(asked.header("proxy-authorization"), Some("Basic dXNlcjp3b3Jk"));
    }
}

#[test]
fn a_redirect_is_followed_without_the_users_headers_to_strangers() {
    let stage = Stage::new();
    let home = Web::start(legacy("2025-11-25", Some("s"), no_tools));
    let there = home.url("/moved");
    let door = Web::start(move |asked| match asked.target.as_str() {
        "/mcp" => Reply::empty(308).with("Location", "/next"),
        _ => Reply::empty(307).with("Location", &there),
    });
    let options = ["-v", "-H", "Authorization: Bearer t", "-H", "X-Mine: 1", "--record", "moved.reel"];
    let output = list(&stage, &door.url("/mcp"), &options);
    succeeded(&output);
    assert_eq!(home.story().last().map(String::as_str), Some("DELETE"));
    for asked in door.asked() {
        assert_eq!((asked.header("authorization"), asked.header("x-mine")), (Some("Bearer t"), Some("1")));
    }
    for asked in home.asked() {
        assert_eq!(
            (asked.target.as_str(), asked.header("authorization"), asked.header("x-mine")),
            ("/moved", None, None)
        );
        assert_eq!(asked.header("host"), Some(format!("127.0.0.1:{}", home.port).as_str()));
    }
    for reported in
        ["POST → 308 Permanent Redirect; following the redirect to", "307 Temporary Redirect", "without your headers"]
    {
        assert!(output.err().contains(reported), "{output:?}");
    }
    let events = stage.events("moved.reel");
    let calls = events.iter().filter(|event| event["message"]["method"] == "tools/list").count();
    assert_eq!(calls, 1, "a request that is sent on is one request");
    let heads: Vec<u64> = events.iter().filter_map(|event| event["data"]["status"].as_u64()).collect();
    assert!(heads.windows(3).any(|heads| heads == [308, 307, 200]), "{heads:?}");
}

#[test]
fn a_redirect_that_leads_nowhere_is_reported() {
    let stage = Stage::new();
    let circle = Web::start(|_| Reply::empty(307).with("Location", "/mcp"));
    failed(&list(&stage, &circle.url("/mcp"), &["--era", "legacy"]), 4, &["redirects more than 5 times", "--url"]);
    assert_eq!(circle.story().len(), 6);
    let (down, _) = Web::start_tls(|_| Reply::empty(307).with("Location", "http://127.0.0.1:9/mcp"));
    let url = format!("https://127.0.0.1:{}/mcp", down.port);
    failed(&list(&stage, &url, &["--insecure"]), 4, &["does not follow redirects from https to http", "--url"]);
}

/// A SOCKS proxy for one kind of handshake: it reports the requested address, but always connects to this port.
fn socks(port: u16) -> (u16, std::sync::mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let at = listener.local_addr().expect("an address").port();
    let (asked, received) = std::sync::mpsc::channel();
    thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let asked = asked.clone();
            thread::spawn(move || greet(client, port, &asked));
        }
    });
    (at, received)
}

/// RFC 1928 and RFC 1929, and SOCKS4 with a host name.
fn greet(mut client: TcpStream, port: u16, asked: &std::sync::mpsc::Sender<String>) -> Option<()> {
    let mut from = client.try_clone().expect("a socket");
    let mut take = |count: usize| {
        let mut bytes = vec![0; count];
        from.read_exact(&mut bytes).ok().map(|()| bytes)
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if take(1)? == [4] {
        let head = take(7)?;
        let mut words = vec![Vec::new()];
        while words.len() < 3 && (words.len() < 2 || head[3..6] == [0, 0, 0]) {
            match take(1)?[0] {
                0 => words.push(Vec::new()),
                byte => words.last_mut().expect("one").push(byte),
            }
        }
        let _ = asked.send(format!("4 {:?} {}", &head[3..], words.get(1).map(|it| text(it)).unwrap_or_default()));
        client.write_all(&[0, 90, 0, 0, 0, 0, 0, 0]).ok()?;
    } else {
        let count = take(1)?[0];
        let methods = take(count.into())?;
        let mut who = String::new();
        if methods.contains(&2) {
            client.write_all(&[5, 2]).ok()?;
            let (_, length) = (take(1)?, take(1)?[0]);
            who = text(&take(length.into())?);
            let length = take(1)?[0];
            who = format!("{who}:{}", text(&take(length.into())?));
            client.write_all(&[1, 0]).ok()?;
        } else {
            client.write_all(&[5, 0]).ok()?;
        }
        let head = take(4)?;
        let host = match head[3] {
            1 => format!("{:?}", take(4)?),
            _ => {
                let length = take(1)?[0];
                text(&take(length.into())?)
            }
        };
        take(2)?;
        let _ = asked.send(format!("5 {who} {host}"));
        client.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).ok()?;
    }
    let mut server = TcpStream::connect(("127.0.0.1", port)).expect("the server is there");
    let (mut back, mut to) = (server.try_clone().expect("a socket"), client.try_clone().expect("a socket"));
    thread::spawn(move || std::io::copy(&mut back, &mut to));
    let _ = std::io::copy(&mut client, &mut server);
    Some(())
}

#[test]
fn socks_proxies_are_spoken_in_every_version() {
    let stage = Stage::new();
    let web = Web::start(legacy("2025-11-25", None, no_tools));
    let (port, asked) = socks(web.port);
    for (proxy, url, said) in [
        ("socks5h://user:word@", "http://far.invalid/mcp", "5 user:word far.invalid"),
        ("socks5://", "http://127.0.0.1:1/mcp", "5  [127, 0, 0, 1]"),
        ("socks4a://", "http://far.invalid/mcp", "4 [0, 0, 0, 255] far.invalid"),
        ("socks4://", "http://127.0.0.1:1/mcp", "4 [127, 0, 0, 1] "),
    ] {
        let proxy = format!("{proxy}127.0.0.1:{port}");
        succeeded(&list_with(&stage, url, &[], &[("ALL_PROXY", &proxy)]));
        let received = asked.recv().expect("the proxy was asked");
        assert_eq!(received, said, "{proxy}");
        while asked.try_recv().is_ok() {}
    }
    let gone = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let proxy = format!("socks5://{gone}");
    let output = list_with(&stage, "http://127.0.0.1:1/mcp", &[], &[("ALL_PROXY", &proxy)]);
    failed(&output, 4, &["cannot connect through the proxy socks5://127.0.0.1", "ALL_PROXY"]);
}

#[test]
fn a_proxy_may_be_reached_by_https() {
    let stage = Stage::new();
    let (proxy, pem) = Web::start_tls(legacy("2025-11-25", None, no_tools));
    std::fs::write(stage.path("proxy.pem"), pem).expect("written");
    let address = format!("https://127.0.0.1:{}", proxy.port);
    let environment = [("http_proxy", address.as_str())];
    succeeded(&list_with(&stage, "http://far.invalid/mcp", &["--cacert", "proxy.pem"], &environment));
    assert_eq!(proxy.first("tools/list").target, "http://far.invalid/mcp");
    let output = list_with(&stage, "http://far.invalid/mcp", &[], &environment);
    failed(&output, 4, &["the proxy https://127.0.0.1", "ertificate"]);
}

#[test]
fn a_token_comes_from_a_header_or_from_the_environment() {
    let stage = Stage::new();
    let web = Web::start(legacy("2025-11-25", None, no_tools));
    let token = [("MCPREEL_TOKEN", "t0k")];
    succeeded(&list_with(&stage, &web.url("/a"), &["-H", "X-Twice: 1", "-H", "X-Twice: 2"], &token));
    succeeded(&list_with(&stage, &web.url("/b"), &["-H", "authorization: Basic x"], &token));
    for asked in web.asked() {
        let wanted = if asked.target == "/a" { "Bearer t0k" } else { "Basic x" };
        assert_eq!(asked.header("authorization"), Some(wanted), "{asked:?}");
    }
    assert_eq!(web.first("initialize").header("x-twice"), Some("1"));
}

/// A WebSocket server for one connection after another, which answers requests like a legacy server.
fn socket(protocol: Option<&'static str>, binary: bool) -> (u16, Arc<Mutex<Vec<String>>>) {
    use tokio_tungstenite::tungstenite::Message;
    use tokio_tungstenite::tungstenite::handshake::server::{Request, Response};
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("a listener that does not block");
    let port = listener.local_addr().expect("an address").port();
    let offered: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = Arc::clone(&offered);
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
            while let Ok((stream, _)) = listener.accept().await {
                #[expect(clippy::result_large_err, reason = "the crate's own signature")]
                let choose = |request: &Request, mut response: Response| {
                    let wanted = request.headers().get("sec-websocket-protocol");
                    let wanted = wanted.and_then(|value| value.to_str().ok()).unwrap_or("none").to_owned();
                    seen.lock().push(wanted);
                    if let Some(protocol) = protocol {
                        response.headers_mut().insert("sec-websocket-protocol", protocol.parse().expect("plain"));
                    }
                    Ok(response)
                };
                let Ok(mut socket) = tokio_tungstenite::accept_hdr_async(stream, choose).await else { continue };
                let _ = socket.send(Message::Ping("p".into())).await;
                while let Some(Ok(message)) = socket.next().await {
                    let Ok(text) = message.to_text() else { continue };
                    let Ok(asked) = serde_json::from_str::<Value>(text) else { continue };
                    let result = match asked["method"].as_str() {
                        Some("initialize") => json!({"protocolVersion": "2025-11-25", "capabilities": {}}),
                        Some("tools/list") => json!({"tools": []}),
                        Some("bye") => {
                            let frame = tokio_tungstenite::tungstenite::protocol::CloseFrame {
                                code: 1008.into(),
                                reason: "not you".into(),
                            };
                            let _ = socket.close(Some(frame)).await;
                            continue;
                        }
                        _ => continue,
                    };
                    let text = json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}).to_string();
                    let frame = if binary { Message::Binary(text.into()) } else { Message::Text(text.into()) };
                    let _ = socket.send(frame).await;
                }
            }
        });
    });
    (port, offered)
}

#[test]
fn a_websocket_carries_one_message_a_frame() {
    let stage = Stage::new();
    let (port, offered) = socket(Some("mcp"), false);
    let url = format!("ws://127.0.0.1:{port}/path");
    succeeded(&list(&stage, &url, &["--era", "legacy", "--record", "ws.reel"]));
    assert_eq!(*offered.lock(), ["mcp"]);
    let events = stage.events("ws.reel");
    let messages: Vec<&Value> = events.iter().filter(|event| event["event"] == "message").collect();
    assert_eq!(messages.len(), 5, "{events:?}");
    assert_eq!(messages[0]["message"]["method"], "initialize");
    assert_eq!((&messages[4]["dir"], &messages[4]["message"]["result"]["tools"]), (&json!("s2c"), &json!([])));
    let bye = stage.run(&["call", "bye", "--url", &url, "--era", "legacy"], "");
    failed(&bye, 4, &["closed the connection before answering bye", "1008 not you"]);
}

#[test]
fn a_websocket_takes_the_ways_of_http() {
    let stage = Stage::new();
    let (port, _) = socket(Some("mcp"), false);
    let (proxy, asked) = tunnel("200 OK");
    let environment = [("http_proxy", format!("http://127.0.0.1:{proxy}"))];
    let environment = environment.each_ref().map(|(name, value)| (*name, value.as_str()));
    let url = format!("ws://127.0.0.1:{port}/");
    succeeded(&list_with(&stage, &url, &["--era", "legacy"], &environment));
    assert!(asked.recv().expect("the proxy was asked").starts_with(&format!("CONNECT 127.0.0.1:{port} ")));
    let (web, _) = Web::start_tls(|_| Reply::empty(403));
    let url = format!("wss://127.0.0.1:{}/path", web.port);
    failed(&list(&stage, &url, &[]), 4, &["ertificate", "--insecure"]);
    let output = list(&stage, &url, &["--insecure", "-H", "X-A: b"]);
    failed(&output, 4, &["certificate is not verified", "HTTP 403"]);
    let opening = web.first("GET");
    assert_eq!((opening.target.as_str(), opening.header("x-a")), ("/path", Some("b")));
    assert_eq!(opening.header("sec-websocket-protocol"), Some("mcp"));
    let guarded = Web::start(|_| Reply::text(401, "text/plain", "who?").with("WWW-Authenticate", "Bearer realm=\"r\""));
    let url = format!("ws://127.0.0.1:{}/", guarded.port);
    failed(&list(&stage, &url, &[]), 4, &["HTTP 401 Unauthorized (WWW-Authenticate: Bearer realm", "MCPREEL_TOKEN"]);
}

#[test]
fn a_websocket_server_need_not_know_the_protocol_and_may_send_bytes() {
    let stage = Stage::new();
    let (port, offered) = socket(None, true);
    let output = list(&stage, &format!("ws://127.0.0.1:{port}"), &["--era", "legacy", "-v"]);
    succeeded(&output);
    assert_eq!(*offered.lock(), ["mcp", "none"]);
    assert!(output.err().contains("connecting without it"), "{output:?}");
    let web = Web::start(|_| Reply::empty(401));
    failed(&list(&stage, &format!("ws://127.0.0.1:{}", web.port), &[]), 4, &["HTTP 401", "MCPREEL_TOKEN"]);
}

/// Answers lines as a legacy server.
fn answer_lines(from: impl Read, mut to: impl Write) {
    for line in BufReader::new(from).lines().map_while(Result::ok) {
        let asked: Value = serde_json::from_str(&line).expect("JSON");
        let result = match asked["method"].as_str() {
            Some("server/discover") => json!({"nothing": "known"}),
            Some("initialize") => json!({"protocolVersion": "2025-11-25", "capabilities": {}}),
            Some("tools/list") => json!({"tools": []}),
            _ => continue,
        };
        let _ = writeln!(to, "{}", json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}));
    }
}

#[test]
fn lines_go_over_unix_sockets_and_tcp() {
    let stage = Stage::new();
    let listener = UnixListener::bind(stage.path("s.sock")).expect("a socket");
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            answer_lines(&stream, &stream);
        }
    });
    succeeded(&list(&stage, "unix:s.sock", &["--record", "unix.reel"]));
    let path = stage.path("s.sock");
    succeeded(&list(&stage, &format!("unix://{}", path.display()), &[]));
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            answer_lines(&stream, &stream);
        }
    });
    succeeded(&list(&stage, &format!("tcp:127.0.0.1:{port}"), &[]));
    let sent = String::from_utf8(stage.cat("unix.reel", "c2s")).expect("text");
    assert_eq!(sent.lines().count(), 4, "{sent}");
    assert!(sent.ends_with("}\n") && sent.contains("tools/list"), "{sent}");
}

#[test]
fn fire_attaches_too() {
    let stage = Stage::new();
    let web = Web::start(|asked| match asked.what().as_str() {
        "initialize" => Reply::result(
            asked,
            json!({"protocolVersion": "2025-11-25", "serverInfo": {"name": "memory", "version": "1"},
                "capabilities": {"conversationEvents": {"onUserMessage": true}}}),
        ),
        "conversation/userMessage" => Reply::result(asked, json!({"context": "remembered"})),
        "notifications/initialized" => Reply::empty(202),
        _ => Reply::empty(405),
    });
    let url = web.url("/mcp");
    let words = ["fire", "user-message", "hi", "--deadline", "5s", "--url", &url, "--era", "legacy"];
    let output = stage.run(&words, "");
    assert_eq!(output.code(), 0, "{output:?}");
    assert_eq!(web.first("conversation/userMessage").body["params"]["content"], "hi");
}

/// Stores what it observes, each in a word.
#[derive(Default)]
struct Kept(Mutex<Vec<String>>);

impl Kept {
    fn keep(&self, what: String) {
        self.0.lock().push(what);
    }
}

impl ExchangeObserver for Kept {
    fn begin(&self, connection: ClientConnection, head: &request::Parts) -> u32 {
        let mut kept = self.0.lock();
        let number = u32::try_from(kept.len()).expect("a few");
        kept.extend([format!("begin {}", connection.number), format!("{} {}", head.method, head.uri.path())]);
        number
    }

    fn see(&self, _exchange: u32, seen: ExchangeEvent<'_>) {
        self.keep(match seen {
            ExchangeEvent::RequestBody(bytes) => format!("> {}", String::from_utf8_lossy(bytes)),
            ExchangeEvent::RequestEnd(why) => format!("> end {why:?}"),
            ExchangeEvent::Response(head) => head.status.to_string(),
            ExchangeEvent::ResponseBody(bytes) => format!("< {}", String::from_utf8_lossy(bytes)),
            ExchangeEvent::ClientGone(why) => format!("< gone {why}"),
            ExchangeEvent::ResponseEnd(why) => format!("< end {why:?}"),
            ExchangeEvent::SentAgain(status) => format!("sent again after {status}"),
            ExchangeEvent::SentLater => "sent later".to_owned(),
            ExchangeEvent::Refused(status, why) => format!("< {status} {why}"),
            ExchangeEvent::Repaired(_, why) => format!("repaired: {why}"),
            ExchangeEvent::Informational(status, ..) => status.to_string(),
            ExchangeEvent::Trailers(..) => "trailers".to_owned(),
        });
    }

    fn client_closed(&self, connection: u32) {
        self.keep(format!("hung up {connection}"));
    }
}

#[test]
fn a_watch_sees_each_exchange_to_its_end() {
    let web = Web::start(|asked| match asked.method() {
        "held" => Reply::events([say("data: {}\n\n"), Step::Hold]),
        "last" => Reply::events([event(&answer(asked, json!(8)))]),
        _ => Reply::result(asked, json!(7)),
    });
    let remote = Remote { url: web.url("/mcp"), ..Remote::default() };
    let kept = Arc::new(Kept::default());
    let observers = Observers { exchanges: Some(kept.clone()), ..Observers::default() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let mut link = remote.attach(Arc::new(|_| {}), observers).await.expect("attached");
        let result = |number| format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{number}}}");
        for (asked, answered) in [("ask", result(7)), ("held", "{}".to_owned()), ("last", result(8))] {
            assert!(link.send(format!("{{\"id\":1,\"method\":\"{asked}\"}}").into_bytes()).await);
            assert_eq!(link.receive().await, Incoming::Message(answered.into_bytes()));
        }
        link.close();
        assert_eq!(link.receive().await, Incoming::Closed);
    });
    let seen = kept.0.lock().clone();
    let ask = ["begin 1", "POST /mcp", "> {\"id\":1,\"method\":\"ask\"}", "> end None", "200 OK"];
    assert_eq!(seen[..5], ask);
    assert_eq!(seen[5..7], ["< {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":7}", "< end None"]);
    let held = ["begin 1", "POST /mcp", "> {\"id\":1,\"method\":\"held\"}", "> end None", "200 OK"];
    assert_eq!(seen[7..12], held);
    assert_eq!(seen[12], "< data: {}\n\n");
    // The stream with the answer is read to its end, although the link was closed before.
    assert_eq!(seen[19..], ["< end None", "< gone closed by the client", "hung up 1"]);
}

/// What a client sends that reads its messages from a file and waits for nothing.
fn impatient() -> String {
    let client = json!({"name": "c", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let messages = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "ping"}),
        json!({"jsonrpc": "2.0", "id": 3, "method": "tools/list"}),
    ];
    messages.iter().map(|message| format!("{message}\n")).collect()
}

#[test]
fn what_follows_initialize_waits_for_its_answer() {
    let (others, any_other) = std::sync::mpsc::channel();
    let (others, any_other) = (Mutex::new(others), Mutex::new(any_other));
    let serve = legacy("2025-11-25", Some("s-1"), |asked| Reply::result(asked, json!({"tools": []})));
    let web = Web::start(move |asked| {
        match asked.method() {
            // Whoever does not wait comes meanwhile, with another thread of the server.
            "initialize" => drop(any_other.lock().recv_timeout(std::time::Duration::from_millis(200))),
            _ => others.lock().send(()).expect("the test listens"),
        }
        serve(asked)
    });
    let stage = Stage::new();
    let output = stage.run(&["record", "-o", "a.reel", "--url", &web.url("/mcp")], impatient());
    assert_eq!(output.code(), 0, "{output:?}");
    assert_eq!(web.story()[..2], ["initialize", "notifications/initialized"]);
    for asked in web.asked().iter().skip(1) {
        assert_eq!(asked.header("mcp-session-id"), Some("s-1"), "{asked:?}");
        assert_eq!(asked.header("mcp-protocol-version"), Some("2025-11-25"), "{asked:?}");
    }
    assert_eq!(output.out().lines().count(), 3, "{output:?}");
}

/// MCP 2025-03-26, Sending Messages to the Server: a body may be a batch with requests, which is answered by one.
#[test]
fn a_batch_of_requests_gets_its_answers() {
    let pair = |answered: bool| {
        [2, 3].map(|id| match answered {
            true => json!({"jsonrpc": "2.0", "id": id, "result": {}}),
            false => json!({"jsonrpc": "2.0", "id": id, "method": "ping"}),
        })
    };
    let initialize = impatient().lines().next().expect("a request").to_owned();
    let input = format!("{initialize}\n{}\n", json!(pair(false)));
    for kind in ["json", "stream", "refused"] {
        let serve = legacy("2025-03-26", Some("s-1"), |_| Reply::empty(405));
        let web = Web::start(move |asked| match (asked.body.is_array(), kind) {
            (true, "json") => Reply::json(200, &json!(pair(true))),
            (true, "stream") => Reply::events(pair(true).iter().map(event).collect::<Vec<_>>()),
            (true, _) => Reply::text(500, "text/plain", "broken"),
            (false, _) => serve(asked),
        });
        let stage = Stage::new();
        let output = stage.run(&["record", "-o", "a.reel", "--url", &web.url("/mcp")], input.clone());
        assert_eq!(output.code(), 0, "{kind}: {output:?}");
        let said: Vec<Value> =
            output.out().lines().skip(1).map(|line| serde_json::from_str(line).expect("JSON")).collect();
        match kind {
            "json" => assert_eq!(said, [json!(pair(true))]),
            "stream" => assert_eq!(said, pair(true)),
            _ => {
                assert_eq!(said.iter().map(|one| one["id"].clone()).collect::<Vec<_>>(), [json!(2), json!(3)]);
                assert!(said.iter().all(|one| one["error"]["message"].is_string()), "{said:?}");
            }
        }
    }
}

#[test]
fn what_follows_a_refused_initialize_is_sent_in_order() {
    let web = Web::start(|asked| match asked.method() {
        "initialize" => Reply::error(403, asked, -32000),
        "" => Reply::empty(405),
        _ => Reply::error(400, asked, -32001),
    });
    let stage = Stage::new();
    let output = stage.run(&["record", "-o", "a.reel", "--url", &web.url("/mcp")], impatient());
    let posts: Vec<String> =
        web.story().into_iter().filter(|what| !["GET", "DELETE"].contains(&what.as_str())).collect();
    assert_eq!(posts[..2], ["initialize", "notifications/initialized"]);
    assert_eq!(posts.len(), 4, "{posts:?}");
    assert_eq!(output.out().lines().count(), 3, "{output:?}");
}

#[test]
fn a_server_may_ask_before_it_answers_initialize() {
    let (feed, fed) = tokio::sync::mpsc::unbounded_channel();
    let fed = Arc::new(tokio::sync::Mutex::new(fed));
    let feed = Mutex::new(Some(feed));
    let web = Web::start(move |asked| {
        let say = |message: &Value| {
            let text = format!("data: {message}\n\n");
            if let Some(feed) = &*feed.lock() {
                feed.send(text.into()).expect("read");
            }
        };
        match asked.what().as_str() {
            "initialize" => {
                say(&json!({"jsonrpc": "2.0", "id": "s", "method": "ping"}));
                Reply::events([Step::Fed(Arc::clone(&fed))]).with("Mcp-Session-Id", "s-1")
            }
            "answer" => {
                let result = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {}});
                say(&json!({"jsonrpc": "2.0", "id": 1, "result": result}));
                drop(feed.lock().take());
                Reply::empty(202)
            }
            "tools/list" => Reply::result(asked, json!({"tools": []})),
            "DELETE" => Reply::empty(200),
            _ => Reply::empty(405),
        }
    });
    let stage = Stage::new();
    let mut lines: Vec<String> = impatient().lines().map(str::to_owned).collect();
    lines.remove(2);
    lines.insert(1, json!({"jsonrpc": "2.0", "id": "s", "result": {}}).to_string());
    let output = stage.run(&["record", "-o", "a.reel", "--url", &web.url("/mcp")], lines.join("\n") + "\n");
    assert!(output.out().contains(r#""tools":[]"#), "{output:?}");
    assert_eq!(web.first("tools/list").header("mcp-session-id"), Some("s-1"));
}

#[test]
fn whoever_cancels_initialize_waits_no_longer() {
    let web = Web::start(|asked| match asked.what().as_str() {
        "initialize" => Reply::silent(),
        "tools/list" => Reply::result(asked, json!({"tools": []})),
        _ => Reply::empty(202),
    });
    let stage = Stage::new();
    let mut lines: Vec<String> = impatient().lines().map(str::to_owned).collect();
    lines.remove(2);
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    lines.push(cancel.to_string());
    let output = stage.run(&["record", "-o", "a.reel", "--url", &web.url("/mcp")], lines.join("\n") + "\n");
    assert!(output.out().contains(r#""tools":[]"#), "{output:?}");
}

fn gzipped(text: &str) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).expect("a Vec takes all");
    gzip.finish().expect("ends")
}

#[test]
fn clients_say_which_codings_they_accept_and_read_others_nevertheless() {
    for (coding, is_stream) in [("gzip", false), ("x-gzip", true), ("gzip, gzip", false), ("gzip", true)] {
        let stage = Stage::new();
        let web = Web::start(legacy("2025-11-25", Some("s"), move |asked| match asked.method() {
            "tools/list" => {
                let answer = answer(asked, json!({"tools": []})).to_string();
                let (kind, text) = match is_stream {
                    true => ("text/event-stream", format!("data: {answer}\n\n")),
                    false => ("application/json", answer),
                };
                let mut body = gzipped(&text);
                if coding.contains(',') {
                    let mut again = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
                    again.write_all(&body).expect("a Vec takes all");
                    body = again.finish().expect("ends");
                }
                Reply { steps: vec![Step::Say(body.into())], ..Reply::text(200, kind, "") }
                    .with("Content-Encoding", coding)
            }
            _ => no_tools(asked),
        }));
        succeeded(&list(&stage, &web.url("/mcp"), &[]));
        assert!(web.asked().iter().all(|asked| asked.header("accept-encoding") == Some("identity")));
        let output = stage.run(&["record", "-o", "a.reel", "--url", &web.url("/mcp")], impatient());
        assert!(output.out().contains(r#""tools":[]"#), "{coding}: {output:?}");
    }
}

#[test]
fn a_coding_that_cannot_be_read_is_named() {
    for (coding, body, said) in
        [("compress", &b"\x1f\x9d"[..], "compress"), ("gzip", b"{\"jsonrpc\":\"2.0\"}", "not valid gzip")]
    {
        let stage = Stage::new();
        let web = Web::start(legacy("2025-11-25", None, move |asked| match asked.method() {
            "tools/list" => Reply::text(200, "application/json", body).with("Content-Encoding", coding),
            _ => no_tools(asked),
        }));
        failed(&list(&stage, &web.url("/mcp"), &[]), 4, &[said]);
    }
}

#[test]
fn a_byte_order_mark_is_skipped() {
    for is_stream in [false, true] {
        let stage = Stage::new();
        let web = Web::start(legacy("2025-11-25", Some("s"), move |asked| match asked.method() {
            "tools/list" if is_stream => {
                Reply::events([say(format!("\u{feff}data: {}\n\n", answer(asked, json!({"tools": []}))))])
            }
            "tools/list" => {
                Reply::text(200, "application/json", format!("\u{feff}{}", answer(asked, json!({"tools": []}))))
            }
            _ => no_tools(asked),
        }));
        succeeded(&list(&stage, &web.url("/mcp"), &[]));
        let output = stage.run(&["record", "-o", "a.reel", "--url", &web.url("/mcp")], impatient());
        assert!(output.out().contains(r#""tools":[]"#) && !output.out().contains('\u{feff}'), "{output:?}");
    }
}
