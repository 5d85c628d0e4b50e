use super::*;
use crate::formats::messages::tests::header;
use crate::trace::{EventKind, Flags};
use crate::wire::Framing;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use prost::Message;
use serde_json::{Value, json};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

/// An event: its kind, its stream and exchange, who sent it, its time in milliseconds, its text or description.
struct Entry(EventKind, u32, u32, Flags, i64, Vec<u8>);

fn message((stream, exchange): (u32, u32), flags: Flags, millis: i64, text: &str) -> Entry {
    Entry(EventKind::Message, stream, exchange, flags, millis, text.as_bytes().to_vec())
}

fn described(kind: EventKind, (stream, exchange): (u32, u32), flags: Flags, millis: i64, about: &Value) -> Entry {
    let mut payload = Vec::new();
    ciborium::into_writer(about, &mut payload).expect("written");
    Entry(kind, stream, exchange, flags, millis, payload)
}

fn pass(exporter: &mut dyn Exporter, tool: &str, entries: &[Entry], out: &mut Vec<u8>) {
    let header_of_reel = FileHeader { created: 1_000_000_000, tool: tool.to_owned(), ..FileHeader::default() };
    exporter.begin(&header_of_reel, out).expect("written");
    for (seq, Entry(kind, stream, exchange, flags, millis, payload)) in (0..).zip(entries) {
        let mut header = header(seq, Framing::Lf, *flags, payload.len());
        (header.kind, header.stream, header.exchange) = (*kind, *stream, *exchange);
        header.time = millis * 1_000_000;
        exporter.event(&Event { header: &header, payload }, out).expect("written");
    }
    exporter.end(out).expect("written");
}

/// What an exporter writes about these messages: sender, time in milliseconds, text.
fn written(mut exporter: Box<dyn Exporter>, messages: &[(Flags, i64, &str)]) -> Vec<u8> {
    let mut out = Vec::new();
    let entry = |(flags, millis, text): &(Flags, i64, &str)| message((1, 0), *flags, *millis, text);
    pass(&mut *exporter, "t", &messages.iter().map(entry).collect::<Vec<_>>(), &mut out);
    out
}

/// The spans and metrics of a recording by mcpreel.
fn telemetry(settings: Settings, entries: &[Entry]) -> (Vec<Span>, Vec<Metric>) {
    let mut telemetry = Telemetry::new(settings, Encoding::Protobuf);
    pass(telemetry.exporter(), "mcpreel 0.1.0", entries, &mut Vec::new());
    let data = telemetry.spans(true).map(|batch| TracesData::decode(&batch.body[..]).expect("protobuf"));
    let spans = data.map(|data| spans(&data).to_vec()).unwrap_or_default();
    let measured = telemetry.metrics().map(|batch| MetricsData::decode(&batch.body[..]).expect("protobuf"));
    (spans, measured.map(|data| data.resource_metrics[0].scope_metrics[0].metrics.clone()).unwrap_or_default())
}

fn session() -> Vec<u8> {
    written(EXPORT.exporter(&ExportOptions::default()), &messages())
}

const C2S: Flags = Flags(0);
const S2C: Flags = Flags::SERVER_TO_CLIENT;

fn messages() -> Vec<(Flags, i64, &'static str)> {
    vec![
        (C2S, 0, r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#),
        (S2C, 5, r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25"}}"#),
        (
            C2S,
            10,
            r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"echo","_meta":{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01","tracestate":"vendor=1"}}}"#,
        ),
        (S2C, 60, r#"{"jsonrpc":"2.0","id":"a","result":{"content":[],"isError":true}}"#),
        (C2S, 70, r#"{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"file:///x"}}"#),
        (S2C, 71, r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32002,"message":"gone"}}"#),
        (S2C, 80, r#"{"jsonrpc":"2.0","method":"notifications/message","params":{}}"#),
        (C2S, 90, r#"{"jsonrpc":"2.0","id":3,"method":"ping","params":{"_meta":{"traceparent":"00-zz-1-01"}}}"#),
    ]
}

fn value(attributes: &[KeyValue], key: &str) -> Option<Any> {
    attributes.iter().find(|attribute| attribute.key == key)?.value.clone()?.value
}

fn text(span: &Span, key: &str) -> Option<String> {
    match value(&span.attributes, key)? {
        Any::StringValue(text) => Some(text),
        _ => None,
    }
}

fn spans(data: &TracesData) -> &[Span] {
    &data.resource_spans[0].scope_spans[0].spans
}

#[test]
fn a_request_with_its_response_is_a_span() {
    let lines = String::from_utf8(session()).expect("text");
    let data: TracesData = serde_json::from_str(lines.lines().next().expect("spans")).expect("OTLP/JSON");
    let spans = spans(&data);
    let names: Vec<&str> = spans.iter().map(|span| span.name.as_str()).collect();
    assert_eq!(names, ["initialize", "tools/call echo", "resources/read", "notifications/message", "ping"]);
    let (call, read, ping) = (&spans[1], &spans[2], &spans[4]);
    assert_eq!((call.start_time_unix_nano, call.end_time_unix_nano), (1_010_000_000, 1_060_000_000));
    let expected = [
        ("mcp.method.name", "tools/call"),
        ("gen_ai.tool.name", "echo"),
        ("gen_ai.operation.name", "execute_tool"),
        ("jsonrpc.request.id", "a"),
        ("mcp.protocol.version", "2025-11-25"),
        ("error.type", "tool_error"),
    ];
    for (key, value) in expected {
        assert_eq!(text(call, key).as_deref(), Some(value), "{key}");
    }
    assert_eq!(text(read, "mcp.resource.uri").as_deref(), Some("file:///x"));
    assert_eq!(text(read, "rpc.response.status_code").as_deref(), Some("-32002"));
    assert_eq!(read.status.as_ref().map(|status| (status.code, status.message.as_str())), Some((2, "gone")));
    assert_eq!(text(ping, "error.type").as_deref(), Some("no_response"));
    assert!(text(&spans[0], "error.type").is_none() && spans[0].status.is_none());
}

#[test]
fn a_callers_trace_goes_on_and_a_malformed_one_does_not() {
    let lines = String::from_utf8(session()).expect("text");
    let data: TracesData = serde_json::from_str(lines.lines().next().expect("spans")).expect("OTLP/JSON");
    let (first, call, ping) = (&spans(&data)[0], &spans(&data)[1], &spans(&data)[4]);
    assert_eq!(call.trace_id, u128::from_str_radix(TRACE, 16).expect("hex").to_be_bytes());
    assert_eq!(call.parent_span_id, 0xb7ad_6b71_6920_3331u64.to_be_bytes());
    assert_eq!((call.flags, call.trace_state.as_str()), (0x301, "vendor=1"), "sampled, known to be remote");
    assert_eq!(call.links.len(), 1, "to the other spans of the session: {call:?}");
    assert_eq!((&call.links[0].trace_id, &call.links[0].span_id), (&first.trace_id, &first.span_id));
    assert_eq!((&first.trace_id, ping.parent_span_id.len()), (&ping.trace_id, 0), "one trace per session otherwise");
    assert_eq!((first.trace_id.len(), first.span_id.len()), (16, 8));
    let ids: std::collections::BTreeSet<&Vec<u8>> = spans(&data).iter().map(|span| &span.span_id).collect();
    assert_eq!(ids.len(), 5);
}

#[test]
fn metrics_are_durations_by_method_tool_and_error() {
    let lines = String::from_utf8(session()).expect("text");
    let data: MetricsData = serde_json::from_str(lines.lines().nth(1).expect("metrics")).expect("OTLP/JSON");
    let metrics = &data.resource_metrics[0].scope_metrics[0].metrics;
    let names: Vec<&str> = metrics.iter().map(|metric| metric.name.as_str()).collect();
    assert_eq!(names, ["mcp.client.operation.duration", "mcp.client.session.duration"]);
    let Some(Data::Histogram(operations)) = &metrics[0].data else { panic!("a histogram: {metrics:?}") };
    assert_eq!(operations.data_points.len(), 3);
    let name = |point: &&opentelemetry_proto::tonic::metrics::v1::HistogramDataPoint| {
        value(&point.attributes, "gen_ai.tool.name").is_some()
    };
    let call = operations.data_points.iter().find(name).expect("a point of the tool");
    assert_eq!((call.count, call.sum, call.bucket_counts[2]), (1, Some(0.05), 1), "0.02 to 0.05 s: {call:?}");
    let Some(Data::Histogram(sessions)) = &metrics[1].data else { panic!("a histogram") };
    assert_eq!(sessions.data_points[0].max, Some(0.09));
}

#[test]
fn protobuf_has_the_same_spans() {
    let bytes = written(EXPORT_PROTO.exporter(&ExportOptions::default()), &messages());
    let (length, rest) = bytes.split_first_chunk::<4>().expect("a length");
    assert_eq!(u32::from_be_bytes(*length) as usize, rest.len());
    let lines = String::from_utf8(session()).expect("text");
    let data: TracesData = serde_json::from_str(lines.lines().next().expect("spans")).expect("OTLP/JSON");
    assert_eq!(TracesData::decode(rest).expect("protobuf"), data);
    let bytes = written(EXPORT_PROTO_METRICS.exporter(&ExportOptions::default()), &messages());
    let metrics: MetricsData = serde_json::from_str(lines.lines().nth(1).expect("metrics")).expect("OTLP/JSON");
    assert_eq!(MetricsData::decode(&bytes[4..]).expect("protobuf"), metrics);
}

#[test]
fn large_recordings_come_in_batches() {
    let message = r#"{"jsonrpc":"2.0","method":"notifications/message"}"#;
    let lines = String::from_utf8(written(EXPORT.exporter(&ExportOptions::default()), &[(S2C, 1, message); 600]))
        .expect("text");
    let count = |line: &str| serde_json::from_str::<TracesData>(line).map_or(0, |data| spans(&data).len());
    assert_eq!(lines.lines().take(3).map(count).collect::<Vec<_>>(), [256, 256, 88]);
    assert_eq!(lines.lines().count(), 4, "and the duration of the session");
}

fn opened(stream: u32, about: Value) -> Entry {
    described(EventKind::StreamOpened, (stream, 0), C2S, 0, &about)
}

fn transport(exchange: u32, flags: Flags, millis: i64, about: Value) -> Entry {
    described(EventKind::Transport, (1, exchange), flags, millis, &about)
}

fn named<'a>(spans: &'a [Span], name: &str) -> &'a Span {
    spans.iter().find(|span| span.name == name).unwrap_or_else(|| panic!("{name}: {spans:#?}"))
}

const AMBIENT: &str = "00-11111111111111111111111111111111-2222222222222222-01";

#[test]
fn over_http_headers_and_exchanges_say_more() {
    let headers = json!([["mcp-session-id", "s-1"], ["mcp-protocol-version", "2025-06-18"], ["traceparent", AMBIENT]]);
    let own = format!(r#"{{"traceparent":"00-{TRACE}-b7ad6b7169203331-01"}}"#);
    let call = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"a","_meta":{own}}}}}"#);
    let entries = [
        opened(0, json!({"transport": "http", "listen": "127.0.0.1:1", "url": "https://mcp.example.com/mcp"})),
        opened(1, json!({"transport": "http", "client": "10.1.2.80:65123"})),
        transport(1, C2S, 1, json!({"what": "request", "method": "POST", "headers": headers})),
        message((1, 1), C2S, 2, &call),
        message((1, 1), S2C, 3, r#"{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{}}"#),
        message((1, 2), C2S, 4, r#"{"jsonrpc":"2.0","id":7,"result":{}}"#),
        message((1, 1), S2C, 5, r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#),
        transport(3, C2S, 6, json!({"what": "request", "method": "POST", "headers": [["traceparent", AMBIENT]]})),
        message((1, 3), C2S, 7, r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#),
        transport(3, S2C, 9, json!({"what": "response", "status": 502, "headers": []})),
        transport(3, S2C, 9, json!({"what": "body", "bytes": 3, "text": "bad"})),
    ];
    let (spans, metrics) = telemetry(Settings::default(), &entries);
    let (call, sampling, ping) =
        (named(&spans, "tools/call a"), named(&spans, "sampling/createMessage"), named(&spans, "ping"));
    // A recording of the server's side: clients' requests are received, its own are sent.
    assert_eq!([call.kind, sampling.kind], [SpanKind::Server as i32, SpanKind::Client as i32]);
    let texts = [
        ("mcp.session.id", "s-1"),
        ("mcp.protocol.version", "2025-06-18"),
        ("network.transport", "tcp"),
        ("network.protocol.name", "http"),
        ("network.protocol.version", "1.1"),
        ("client.address", "10.1.2.80"),
    ];
    for (key, expected) in texts {
        assert_eq!(text(call, key).as_deref(), Some(expected), "{key}");
    }
    assert_eq!(value(&call.attributes, "client.port"), Some(Any::IntValue(65123)));
    assert_eq!(text(call, "server.address"), None);
    assert_eq!(
        (text(sampling, "server.address").as_deref(), value(&sampling.attributes, "server.port")),
        (Some("mcp.example.com"), Some(Any::IntValue(443)))
    );
    // `_meta` comes first, and the HTTP request's context is linked.
    assert_eq!(call.parent_span_id, 0xb7ad_6b71_6920_3331u64.to_be_bytes());
    assert_eq!(call.links[0].span_id, [0x22; 8]);
    assert_eq!((&sampling.parent_span_id, &sampling.trace_id), (&call.span_id, &call.trace_id));
    assert_eq!((&ping.parent_span_id[..], &ping.trace_id[..]), (&[0x22; 8][..], &[0x11; 16][..]));
    assert_eq!((text(ping, "error.type").as_deref(), ping.end_time_unix_nano), (Some("502"), 1_009_000_000));
    let names: Vec<&str> = metrics.iter().map(|metric| metric.name.as_str()).collect();
    let expected = ["mcp.client.operation.duration", "mcp.server.operation.duration", "mcp.server.session.duration"];
    assert_eq!(names, expected);
    let client = Settings { side: Some(Side::Client), ..Settings::default() };
    let (spans, metrics) = telemetry(client, &entries);
    assert_eq!(named(&spans, "tools/call a").kind, SpanKind::Client as i32);
    assert_eq!(metrics[2].name, "mcp.client.session.duration");
}

#[test]
fn progress_and_cancellation_are_linked_to_their_request() {
    let entries = [
        opened(0, json!({"transport": "stdio"})),
        message(
            (0, 0),
            C2S,
            1,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":"t"}}}"#,
        ),
        message((0, 0), C2S, 1, r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"b"}}"#),
        message(
            (0, 0),
            S2C,
            2,
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1}}"#,
        ),
        message((0, 0), C2S, 5, r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#),
        message((0, 0), S2C, 6, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
    ];
    let (spans, _) = telemetry(Settings::default(), &entries);
    let (first, second) = (named(&spans, "tools/call a"), named(&spans, "tools/call b"));
    let linked = |name: &str| named(&spans, name).links.iter().map(|link| link.span_id.clone()).collect::<Vec<_>>();
    assert_eq!(linked("notifications/progress"), std::slice::from_ref(&first.span_id));
    assert_eq!(linked("notifications/cancelled"), std::slice::from_ref(&second.span_id));
    assert_eq!((text(second, "error.type").as_deref(), second.end_time_unix_nano), (Some("cancelled"), 1_005_000_000));
    assert_eq!((text(first, "network.transport").as_deref(), text(first, "error.type")), (Some("pipe"), None));
    assert_eq!(spans.len(), 4);
}

#[test]
fn arguments_and_results_are_there_only_if_wanted() {
    let entries = [
        message(
            (1, 0),
            C2S,
            1,
            r#"{"jsonrpc":"1.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"n":[1,true,null,{"x":1.5}]}}}"#,
        ),
        message((1, 0), S2C, 2, r#"{"jsonrpc":"1.0","id":1,"result":{"content":[]}}"#),
        message(
            (1, 0),
            C2S,
            3,
            r#"{"jsonrpc":"2.0","id":null,"method":"prompts/get","params":{"name":"p","arguments":{"who":"me"}}}"#,
        ),
        message((1, 0), S2C, 4, r#"{"jsonrpc":"2.0","id":null,"result":{}}"#),
    ];
    let (spans, _) = telemetry(Settings { has_content: true, ..Settings::default() }, &entries);
    let (call, prompt) = (named(&spans, "tools/call a"), named(&spans, "prompts/get p"));
    let arguments = value(&call.attributes, "gen_ai.tool.call.arguments").expect("arguments");
    let as_json = serde_json::to_value(KeyValue {
        value: Some(opentelemetry_proto::tonic::common::v1::AnyValue { value: Some(arguments) }),
        ..KeyValue::default()
    })
    .expect("JSON");
    assert_eq!(as_json["value"]["kvlistValue"]["values"][0]["key"], "n", "{as_json}");
    assert!(matches!(value(&call.attributes, "gen_ai.tool.call.result"), Some(Any::KvlistValue(_))));
    assert_eq!(text(prompt, "gen_ai.prompt.variable.who").as_deref(), Some("me"));
    assert_eq!(text(prompt, "gen_ai.prompt.name").as_deref(), Some("p"));
    assert_eq!(
        (text(call, "jsonrpc.protocol.version").as_deref(), text(prompt, "jsonrpc.protocol.version")),
        (Some("1.0"), None)
    );
    assert_eq!((text(call, "jsonrpc.request.id").as_deref(), text(prompt, "jsonrpc.request.id")), (Some("1"), None));
    let (spans, _) = telemetry(Settings::default(), &entries);
    let keys = spans.iter().flat_map(|span| &span.attributes).map(|attribute| attribute.key.as_str());
    assert!(
        keys.clone().all(|key| !key.contains(".call.") && !key.contains("variable")),
        "{:?}",
        keys.collect::<Vec<_>>()
    );
}

#[test]
fn there_is_no_session_id_in_the_modern_era() {
    let meta = r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#;
    let entries = [
        transport(1, C2S, 1, json!({"what": "request", "headers": [["mcp-session-id", "stray"]]})),
        message((1, 1), C2S, 2, &format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{meta}}}"#)),
        message((1, 1), S2C, 3, r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}"#),
    ];
    let (spans, _) = telemetry(Settings::default(), &entries);
    assert_eq!(text(&spans[0], "mcp.protocol.version").as_deref(), Some("2026-07-28"));
    assert_eq!(text(&spans[0], "mcp.session.id"), None);
}

#[test]
fn live_metrics_contain_everything_since_the_beginning_and_come_only_with_news() {
    let mut telemetry = Telemetry::new(Settings { is_live: true, ..Settings::default() }, Encoding::Protobuf);
    let answered = |id: u32| {
        [
            message((1, 0), C2S, 1, &format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)),
            message((1, 0), S2C, 2, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)),
        ]
    };
    let count = |batch: Option<Batch>| {
        let data = MetricsData::decode(&batch?.body[..]).expect("protobuf");
        let Some(Data::Histogram(histogram)) = &data.resource_metrics[0].scope_metrics[0].metrics[0].data else {
            panic!("a histogram")
        };
        Some((
            histogram.aggregation_temporality,
            histogram.data_points[0].count,
            histogram.data_points[0].start_time_unix_nano,
        ))
    };
    for round in 1..3 {
        pass(telemetry.exporter(), "t", &answered(1), &mut Vec::new());
        assert_eq!(count(telemetry.metrics()), Some((2, round, 1_000_000_000)));
        assert_eq!(count(telemetry.metrics()), None);
    }
}

#[test]
fn a_webhooks_secret_is_hidden_wherever_it_is() {
    let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let call = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"a","arguments":{{"s":"{secret}"}}}}}}"#
    );
    let mut telemetry = Telemetry::new(Settings { has_content: true, ..Settings::default() }, Encoding::Protobuf);
    pass(telemetry.exporter(), "t", &[message((1, 0), C2S, 1, &call)], &mut Vec::new());
    let body = telemetry.spans(true).expect("a batch").body;
    assert!(TracesData::decode(&body[..]).is_ok());
    assert!(!String::from_utf8_lossy(&body).contains(secret));
}
