//! Tests what goes to OpenTelemetry collectors: `export --to` and `record --otlp`, with a receiver that decodes each POST.

use crate::common::receiver::{Receiver, rejecting, text};
use crate::common::web::{Reply, Web, legacy};
use crate::common::{BINARY, Live, Output, Stage, assert_same, finish, message, until};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::trace::v1::{Span, TracesData, span::SpanKind};
use prost::Message;
use serde_json::json;
use std::collections::BTreeSet;
use std::net::TcpListener;

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

/// A reel of a session with a call that continues a trace.
fn reel(stage: &Stage) {
    let parent = format!("00-{TRACE}-b7ad6b7169203331-01");
    let call = json!({"name": "echo", "arguments": {"message": "private words"}, "_meta": {"traceparent": parent}});
    let version = json!({"protocolVersion": "2025-11-25"});
    let request = |id: u32, method: &str, params: serde_json::Value| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    let result = |id: u32, result: serde_json::Value| json!({"jsonrpc": "2.0", "id": id, "result": result});
    stage.reel(
        "a.reel",
        &[
            message(0, "c2s", request(1, "initialize", json!({}))),
            message(5, "s2c", result(1, version)),
            message(10, "c2s", request(2, "tools/call", call)),
            message(60, "s2c", result(2, json!({"content": [{"type": "text", "text": "private words"}]}))),
            message(70, "c2s", request(3, "ping", json!({}))),
        ],
    );
}

/// `export` with these arguments and variables.
fn export(stage: &Stage, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = stage.mcpreel(&[&["export", "a.reel"], arguments].concat());
    command.envs(variables.iter().copied());
    finish(command, Vec::new())
}

fn names(spans: &[Span]) -> Vec<&str> {
    spans.iter().map(|span| span.name.as_str()).collect()
}

#[test]
fn a_collector_gets_what_a_file_contains() {
    let stage = Stage::new();
    reel(&stage);
    let receiver = Receiver::start();
    let output = export(&stage, &["--to", &receiver.url()], &[]);
    assert_eq!((output.code(), output.out().as_str()), (0, ""), "{output:?}");
    assert!(output.err().contains("3 spans and 2 metrics sent to http://127.0.0.1:"), "{}", output.err());
    stage.ok(&["export", "a.reel", "-f", "otlp-proto", "-o", "a.pb"]);
    let file = TracesData::decode(&stage.read("a.pb")[4..]).expect("protobuf");
    let spans = receiver.spans();
    assert_eq!(spans, file.resource_spans[0].scope_spans[0].spans);
    assert_eq!(names(&spans), ["initialize", "tools/call echo", "ping"]);
    let (first, call) = (&spans[0], &spans[1]);
    assert_eq!(call.trace_id, u128::from_str_radix(TRACE, 16).expect("hex").to_be_bytes());
    assert_eq!(call.parent_span_id, 0xb7ad_6b71_6920_3331_u64.to_be_bytes());
    assert_eq!(call.links[0].span_id, first.span_id);
    assert_eq!(text(&spans[2].attributes, "error.type").as_deref(), Some("no_response"));
    let asked = receiver.web.asked();
    let targets: Vec<&str> = asked.iter().map(|asked| asked.target.as_str()).collect();
    assert_eq!(targets, ["/v1/traces", "/v1/metrics"]);
    assert_eq!(asked[0].header("content-encoding"), Some("gzip"));
    let all = format!("{:?}", receiver.received());
    assert!(!all.contains("private words"), "arguments and results are sent only if the user wants them");
    export(&stage, &["--to", &receiver.url(), "--otlp-content", "tool:echo"], &[]);
    let spans = receiver.received().into_iter().rfind(|it| !it.spans.is_empty()).expect("spans").spans;
    assert_eq!(names(&spans), ["tools/call echo"], "only what the filter selects");
    assert_eq!(format!("{spans:?}").matches("private words").count(), 2);
}

#[test]
fn the_standard_variables_apply() {
    let stage = Stage::new();
    reel(&stage);
    let receiver = Receiver::start();
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.web.url("/otlp")),
        ("OTEL_EXPORTER_OTLP_HEADERS", "api-key=se%20cret,other=1".to_owned()),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json".to_owned()),
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "none".to_owned()),
        ("OTEL_SERVICE_NAME", "my-tap".to_owned()),
        ("KEY", "fromenv".to_owned()),
    ];
    let variables = variables.each_ref().map(|(name, value)| (*name, value.as_str()));
    let output = export(&stage, &["--to", "env", "-H", "X-Own: ${KEY}", "-H", "Other: 2"], &variables);
    assert_eq!(output.code(), 0, "{output:?}");
    let asked = &receiver.web.asked()[0];
    assert_eq!((asked.target.as_str(), asked.header("content-type")), ("/otlp/v1/traces", Some("application/json")));
    assert_eq!(
        (asked.header("api-key"), asked.header("x-own"), asked.header("other")),
        (Some("se cret"), Some("fromenv"), Some("2"))
    );
    assert!(asked.header("content-encoding").is_none() && !asked.body["resourceSpans"].is_null());
    assert_eq!(text(&receiver.received()[0].resource.attributes, "service.name").as_deref(), Some("my-tap"));
    for secret in ["cret", "fromenv"] {
        assert!(!output.err().contains(secret), "{}", output.err());
    }
    let before = receiver.received().len();
    export(&stage, &["--to", &receiver.web.url("/x/v1/metrics")], &[]);
    let rest = &receiver.received()[before..];
    assert!(rest.len() == 1 && !rest[0].metrics.is_empty(), "a URL of one signal: {rest:?}");
}

#[test]
fn a_busy_collector_is_asked_again() {
    let stage = Stage::new();
    reel(&stage);
    let receiver = Receiver::start_with(|number, _| match number {
        0 => Some(Reply::empty(503).with("Retry-After", "0")),
        1 => Some(Reply::empty(429).with("Retry-After", "0")),
        _ => None,
    });
    let output = export(&stage, &["--to", &receiver.url()], &[]);
    assert_eq!(output.code(), 0, "{output:?}");
    assert_eq!(receiver.spans().len(), 3);
    assert_eq!(receiver.received().iter().map(|it| it.spans.len()).collect::<Vec<_>>(), [3, 3, 3, 0]);
    let busy = Receiver::start_with(|_, _| Some(Reply::empty(503).with("Retry-After", "3600")));
    let output = export(&stage, &["--to", &busy.url()], &[]);
    assert_eq!((output.code(), busy.received().len()), (4, 1), "nobody waits for an hour: {output:?}");
    assert!(output.err().contains("HTTP 503") && output.err().contains("try again later"), "{}", output.err());
}

#[test]
fn what_the_collector_rejects_is_reported() {
    let stage = Stage::new();
    reel(&stage);
    let receiver = Receiver::start_with(|_, asked| asked.target.ends_with("traces").then(|| rejecting(2, "too old")));
    let output = export(&stage, &["--to", &receiver.url()], &[]);
    assert_eq!(output.code(), 1, "{output:?}");
    assert!(output.err().contains("the collector rejected 2 of them: too old"), "{}", output.err());
    let json = json!({"partialSuccess": {"rejectedSpans": "1", "errorMessage": "in JSON"}});
    let receiver =
        Receiver::start_with(move |_, asked| asked.target.ends_with("traces").then(|| Reply::json(200, &json)));
    let output = export(&stage, &["-f", "otlp", "--to", &receiver.url()], &[]);
    assert!(output.code() == 1 && output.err().contains("rejected 1 of them: in JSON"), "{output:?}");
}

#[test]
fn a_failure_says_what_to_do() {
    let stage = Stage::new();
    reel(&stage);
    let free = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let down = export(&stage, &["--to", &format!("http://{free}")], &[]);
    assert!(down.code() == 4 && down.err().contains("is the collector running?"), "{down:?}");
    let refusing = |status: u16| Receiver::start_with(move |_, _| Some(Reply::text(status, "text/plain", "no\x1b")));
    for (status, said) in [(401, "OTEL_EXPORTER_OTLP_HEADERS"), (404, "is the path right?"), (415, "http/json")] {
        let output = export(&stage, &["--to", &refusing(status).url()], &[]);
        assert!(output.code() == 4 && output.err().contains(said), "{status}: {output:?}");
        assert!(!output.err().contains('\x1b'), "{output:?}");
    }
    let silent = Receiver::start_with(|_, _| Some(Reply::silent()));
    let output = export(&stage, &["--to", &silent.url()], &[("OTEL_EXPORTER_OTLP_TIMEOUT", "50")]);
    assert!(output.code() == 5 && output.err().contains("no response within 0.05 s"), "{output:?}");
    for (arguments, said) in [
        (&["--to", "localhost:4318"][..], "expected http"),
        (&["--to", "http://u:secret@h"], "--otlp-header"),
        (&["--to", "http://h", "-f", "csv"], "cannot be sent"),
        (&["--to", "env"], "OTEL_EXPORTER_OTLP_ENDPOINT is not set"),
        (&["--to", "http://h", "-o", "x"], "cannot be used with"),
    ] {
        let output = export(&stage, arguments, &[]);
        assert!(output.code() == 2 && output.err().contains(said), "{arguments:?}: {output:?}");
    }
    let output = export(&stage, &["--to", "http://h"], &[("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")]);
    assert!(output.code() == 2 && output.err().contains("http/protobuf"), "{output:?}");
}

#[test]
fn secrets_are_replaced_before_they_are_sent() {
    let stage = Stage::new();
    let token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "a", "arguments": {"token": token}}});
    stage.reel("a.reel", &[message(0, "c2s", call)]);
    let receiver = Receiver::start();
    for (arguments, is_sent) in [(&["--redact"][..], false), (&[], true)] {
        let url = receiver.url();
        let arguments = [&["--to", &url, "--otlp-content"], arguments].concat();
        let output = export(&stage, &arguments, &[]);
        assert_eq!(output.err().contains("--redact replaces secrets"), is_sent, "{output:?}");
        let last = receiver.received().into_iter().rfind(|it| !it.spans.is_empty()).expect("spans");
        assert_eq!(format!("{last:?}").contains(token), is_sent);
    }
}

#[test]
fn large_recordings_come_in_batches() {
    let stage = Stage::new();
    let ping = |id: u64| message(id, "c2s", json!({"jsonrpc": "2.0", "id": id, "method": "ping"}));
    stage.reel("a.reel", &(0..600).map(ping).collect::<Vec<_>>());
    let receiver = Receiver::start();
    export(&stage, &["--to", &receiver.url()], &[]);
    let spans = receiver.spans();
    assert_eq!(spans.len(), 600);
    assert!(receiver.received().iter().all(|it| it.spans.len() <= 256), "unanswered requests come at the end");
    assert_eq!(spans.iter().map(|span| &span.span_id).collect::<BTreeSet<_>>().len(), 600);
}

/// A server that answers each request with its id, and exits with 7.
const SERVER: &str = r#"
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  [ -n "$id" ] && printf '{"jsonrpc":"2.0","id":%s,"result":{}}\n' "$id"
done
exit 7"#;

fn tapped(stage: &Stage, url: &str) -> Live {
    stage.start(&["record", "-o", "t.reel", "--otlp", url, "--", "sh", "-c", SERVER])
}

/// Sends a request and waits for its response.
fn ask(session: &mut Live, id: u64) {
    session.send(&json!({"jsonrpc": "2.0", "id": id, "method": "ping"}));
    assert_eq!(session.line(), format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
}

#[test]
fn a_live_session_sends_a_span_when_its_response_arrives() {
    let stage = Stage::new();
    let receiver = Receiver::start();
    let mut session = tapped(&stage, &receiver.url());
    ask(&mut session, 1);
    let span = receiver.span("ping");
    assert_eq!(
        (text(&span.attributes, "network.transport").as_deref(), span.kind),
        (Some("pipe"), SpanKind::Client as i32)
    );
    session.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    receiver.span("notifications/initialized");
    assert!(receiver.metrics().is_empty() && session.is_running(), "metrics come later");
    let output = session.end();
    assert_eq!((output.code(), output.err().as_str()), (7, ""), "nothing is lost, and the exit code is the server's");
    let metrics = receiver.metrics();
    let names: Vec<&str> = metrics.iter().map(|metric| metric.name.as_str()).collect();
    assert_eq!(names, ["mcp.client.operation.duration", "mcp.client.session.duration"]);
    // The same reel later makes the same spans.
    let ids = |receiver: &Receiver| receiver.spans().into_iter().map(|span| span.span_id).collect::<BTreeSet<_>>();
    let again = Receiver::start();
    stage.ok(&["export", "t.reel", "--to", &again.url()]);
    assert_eq!(ids(&receiver), ids(&again));
    let Some(Data::Histogram(sessions)) = &metrics[1].data else { panic!("a histogram: {metrics:?}") };
    assert_eq!(text(&sessions.data_points[0].attributes, "error.type").as_deref(), Some("server_exit"));
}

#[test]
fn unanswered_requests_come_at_the_end() {
    let stage = Stage::new();
    let receiver = Receiver::start();
    let mut session = stage.start(&["record", "-o", "t.reel", "--otlp", &receiver.url(), "--", "cat"]);
    session.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "slow"}}));
    session.line();
    assert_eq!(session.end().code(), 0);
    let span = receiver.span("tools/call slow");
    assert_eq!(text(&span.attributes, "error.type").as_deref(), Some("no_response"));
    assert_eq!(span.status.map(|status| status.code), Some(2));
}

#[test]
fn a_collector_that_is_down_changes_nothing_and_is_reported() {
    let stage = Stage::new();
    let free = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let mut session = tapped(&stage, &format!("http://{free}"));
    ask(&mut session, 1);
    ask(&mut session, 2);
    let output = session.end();
    assert_eq!(output.code(), 7, "{output:?}");
    let said = output.err();
    assert!(said.contains("is the collector running?"), "{said}");
    assert!(said.contains("2 spans of 2 spans and the metrics were not sent to http://127.0.0.1:"), "{said}");
    assert_eq!(stage.events("t.reel").len(), 7, "the header, two events of the stream, and four messages");
}

/// Many messages pass while the collector does not respond to the first request: they arrive in order and complete, and
/// what the collector did not take is counted.
#[test]
fn a_collector_that_hangs_does_not_delay_the_session() {
    let stage = Stage::new();
    let receiver = Receiver::start_with(|_, _| Some(Reply::silent()));
    let mut session = stage.start(&["record", "-o", "t.reel", "--otlp", &receiver.url(), "--", "cat"]);
    let line =
        |id: u32| format!("{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{{\"n\":{id}}}}}\n");
    session.write(line(0));
    assert_eq!(session.line() + "\n", line(0));
    until("the collector to be asked", || (receiver.web.asked().len() == 1).then_some(()));
    let expected: String = (1..=6000).map(line).collect();
    let sent = expected.clone();
    let mut got = String::new();
    for chunk in sent.as_bytes().chunks(16 << 10) {
        session.write(chunk);
        for _ in 0..chunk.iter().filter(|byte| **byte == b'\n').count() {
            got.push_str(&session.line());
            got.push('\n');
        }
    }
    assert_same("what came back", got.as_bytes(), expected.as_bytes());
    let output = session.end();
    assert_eq!(output.code(), 0, "{output:?}");
    // `cat` echoes: each message is there in both directions.
    assert!(
        output.err().contains("12002 spans of 12002 spans and the metrics were not sent to http://127.0.0.1:"),
        "{}",
        output.err()
    );
    assert!(receiver.web.asked().len() <= 2, "one request at a time");
    assert_eq!(stage.info("t.reel")["events"], 12004, "the recording is complete");
}

#[test]
fn a_collector_that_refuses_is_reported_once() {
    let stage = Stage::new();
    let receiver = Receiver::start_with(|_, _| Some(Reply::empty(401)));
    let mut session = tapped(&stage, &receiver.url());
    ask(&mut session, 1);
    until("a note", || session.stderr_so_far().contains("HTTP 401").then_some(()));
    ask(&mut session, 2);
    until("another request", || (receiver.web.asked().len() >= 2).then_some(()));
    let output = session.end();
    assert_eq!(output.code(), 7, "{output:?}");
    assert_eq!(output.err().matches("the session continues").count(), 1, "{}", output.err());
    assert!(output.err().contains("2 spans of 2 spans"), "{}", output.err());
}

#[test]
fn a_listener_has_the_view_of_the_server_and_a_remote_one_that_of_the_client() {
    let stage = Stage::new();
    let server = Web::start(legacy("2025-06-18", Some("s-1"), |asked| Reply::result(asked, json!({"tools": []}))));
    let receiver = Receiver::start();
    let (url, to) = (server.url("/mcp"), receiver.url());
    let process = stage.start(&["record", "-o", "l.reel", "--otlp", &to, "--listen", "0", "--url", &url]);
    let address = until("the proxy to listen", || {
        let said = process.stderr_so_far();
        said.split("listening on ").nth(1).map(|rest| rest.split(' ').next().unwrap_or_default().to_owned())
    });
    let listed = stage.run(&["call", "tools/list", "--url", &address], "");
    assert_eq!(listed.code(), 0, "{listed:?}");
    let span = receiver.span("tools/list");
    assert_eq!(span.kind, SpanKind::Server as i32);
    for (key, expected) in
        [("mcp.session.id", "s-1"), ("mcp.protocol.version", "2025-06-18"), ("client.address", "127.0.0.1")]
    {
        assert_eq!(text(&span.attributes, key).as_deref(), Some(expected), "{key}");
    }
    process.signal("INT");
    assert_eq!(process.end().code(), 0);
    let names: BTreeSet<String> = receiver.metrics().into_iter().map(|metric| metric.name).collect();
    assert!(
        names.contains("mcp.server.operation.duration") && names.contains("mcp.server.session.duration"),
        "{names:?}"
    );

    let receiver = Receiver::start();
    let mut session = stage.start(&["record", "-o", "r.reel", "--otlp", &receiver.url(), "--url", &url]);
    let capabilities =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    session.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": capabilities}));
    session.line();
    let span = receiver.span("initialize");
    assert_eq!(span.kind, SpanKind::Client as i32);
    assert_eq!(text(&span.attributes, "server.address").as_deref(), Some("127.0.0.1"));
    assert_eq!(session.end().code(), 0);
}

#[test]
fn what_cannot_be_sent_live_is_refused_before_a_reel_is_created() {
    let stage = Stage::new();
    for (arguments, said) in [
        (&["--otlp", "nowhere"][..], "invalid value 'nowhere' for '--otlp <URL>'"),
        (&["--otlp", "env"], "OTEL_EXPORTER_OTLP_ENDPOINT is not set"),
        (&["--otlp", "http://h", "--otlp-header", "a b: c"], "cannot send the header"),
    ] {
        let arguments = [&["record", "-o", "x.reel"], arguments, &["--", BINARY, "serve"]].concat();
        let output = stage.run(&arguments, "");
        assert!(output.code() == 2 && output.err().contains(said), "{arguments:?}: {output:?}");
        assert!(!stage.path("x.reel").exists(), "{arguments:?}");
    }
    let output = stage.run(&["record", "-o", "-", "--otlp", "http://h", "--", "true"], "");
    assert!(output.code() == 2 && output.err().contains("--otlp reads the reel"), "{output:?}");
}
