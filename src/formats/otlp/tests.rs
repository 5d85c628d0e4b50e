use super::*;
use crate::formats::Exporter;
use crate::formats::messages::tests::header;
use crate::trace::Flags;
use crate::wire::Framing;
use opentelemetry_proto::tonic::metrics::v1::MetricsData;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

/// What an exporter writes about these messages: sender, time in milliseconds, text.
fn written(mut exporter: Box<dyn Exporter>, messages: &[(Flags, i64, &str)]) -> Vec<u8> {
    let mut out = Vec::new();
    exporter.begin(&FileHeader { created: 1_000_000_000, ..FileHeader::default() }, &mut out).expect("written");
    for (seq, (flags, millis, text)) in (0..).zip(messages) {
        let mut header = header(seq, Framing::Lf, *flags, text.len());
        header.time = millis * 1_000_000;
        exporter.event(&Event { header: &header, payload: text.as_bytes() }, &mut out).expect("written");
    }
    exporter.end(&mut out).expect("written");
    out
}

fn session() -> Vec<u8> {
    written((EXPORT.exporter)(), &messages())
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

fn text(span: &Span, key: &str) -> Option<String> {
    let found = span.attributes.iter().find(|attribute| attribute.key == key)?;
    match found.value.clone()?.value? {
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
    assert_eq!((call.flags, call.trace_state.as_str()), (1, "vendor=1"));
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
    let call = &operations.data_points[2];
    assert_eq!((call.count, call.sum, call.bucket_counts[2]), (1, Some(0.05), 1), "0.02 to 0.05 s: {call:?}");
    let Some(Data::Histogram(sessions)) = &metrics[1].data else { panic!("a histogram") };
    assert_eq!(sessions.data_points[0].max, Some(0.09));
}

#[test]
fn protobuf_has_the_same_spans() {
    let bytes = written((EXPORT_PROTO.exporter)(), &messages());
    let (length, rest) = bytes.split_first_chunk::<4>().expect("a length");
    assert_eq!(u32::from_be_bytes(*length) as usize, rest.len());
    let lines = String::from_utf8(session()).expect("text");
    let data: TracesData = serde_json::from_str(lines.lines().next().expect("spans")).expect("OTLP/JSON");
    assert_eq!(TracesData::decode(rest).expect("protobuf"), data);
}

#[test]
fn large_recordings_come_in_batches() {
    let message = r#"{"jsonrpc":"2.0","method":"notifications/message"}"#;
    let lines = String::from_utf8(written((EXPORT.exporter)(), &[(S2C, 1, message); 600])).expect("text");
    let count = |line: &str| serde_json::from_str::<TracesData>(line).map_or(0, |data| spans(&data).len());
    assert_eq!(lines.lines().take(3).map(count).collect::<Vec<_>>(), [256, 256, 88]);
    assert_eq!(lines.lines().count(), 4, "and the duration of the session");
}
