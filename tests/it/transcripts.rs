//! Real traffic between other people's programs, recorded in the folder `MCPREEL_TRANSCRIPTS`: it is imported, and the
//! validator finds the known mistakes and nothing else above the level of remarks.

use crate::common::Stage;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The folder of transcripts, which are not part of the repository.
fn transcripts() -> PathBuf {
    let folder = std::env::var_os("MCPREEL_TRANSCRIPTS").expect("MCPREEL_TRANSCRIPTS names the folder of transcripts");
    // Relative to the repository's root, where the tests run.
    Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)
}

/// A transcript, the rules that its errors violate, and the rules of its warnings.
type Known = (&'static str, &'static [&'static str], &'static [&'static str]);

/// What is wrong with each. Each rule cites a sentence of a proposal or of MCP (`mcpreel validate --rules`).
const KNOWN: &[Known] = &[
    (
        // The host disables a feature set and continues to accept its pushes and to call its tools; the server refuses
        // pings, declares feature sets as an array, and pushes from one that lists only tools.
        "mcpl-heartbeat-0.1.3",
        &["mcpl/disabled-set-accepted", "mcpl/rollback-undeclared", "method/ping-refused"],
        &["mcpl/capability-missing", "mcpl/feature-sets-array", "mcpl/unlisted-use", "mcpl/used-disabled-set"],
    ),
    (
        // The server tries what it may not do, such as streaming; the host never answers three requests.
        "mcpl-agent-framework-host-x-mock",
        &["mcpl/push-disabled-set", "mcpl/unknown-set"],
        &["mcpl/capability-missing", "mcpl/stream-undeclared", "mcpl/unlisted-use"],
    ),
    (
        // No capability, log lines in the message stream, an expiry announced before its grant.
        "mcpe-core-1.0.0",
        &["mcpe/capability-missing", "stream/noise"],
        &["mcpe/expired-before-grant"],
    ),
    (
        "mcpe-core-1.0.0-cron",
        &["mcpe/capability-missing", "schema/tool-arguments", "stream/noise"],
        &[
            "mcpe/event-passed-over",
            "mcpe/expired-counted",
            "mcpe/expiry-untold",
            "mcpe/granted-expired",
            "mcpe/list-status",
            "mcpe/schedule-missing",
        ],
    ),
    ("annal-0.7.1", &[], &["hooks/two-places"]),
    // The client calls a tool that does not exist ("Protocol Errors: Standard JSON-RPC errors for issues like: Unknown
    // tools"), and the server works on after a cancellation ("Receivers of a cancellation notification SHOULD: Stop
    // processing the cancelled request").
    ("everything-2025-11-25", &[], &["progress/after-cancellation", "tools/unknown-answered"]),
    ("filesystem-2025-11-25", &[], &[]),
    ("time-2025-11-25", &[], &[]),
    // "Servers MUST NOT send an inputRequests that the client has not declared support for in its capabilities"; and the
    // client tries another state: it "MUST echo back the exact value of that field when retrying the original request".
    ("pyfixture-2026-07-28", &["input/state", "input/undeclared"], &[]),
    ("base-modern-era-python-mcp-2.3.0", &[], &[]),
    ("sse-everything-legacy", &[], &[]),
    ("everything-probed-modern", &[], &["era/legacy-answer"]),
    // The client tries requests without a session id ("clients using the Streamable HTTP transport MUST include it in
    // the MCP-Session-Id header on all of their subsequent HTTP requests") and without one of the media types ("The
    // client MUST include an Accept header, listing both"), another version, an event id that the server never sent, and
    // a batch. The server refuses with a null id ("Error responses MUST include the same ID as the request").
    (
        "http-everything-2025-11-25",
        &["envelope/error-id", "era/batch", "http/accept", "http/session-id-missing"],
        &["http/unknown-event-id", "http/version-negotiated"],
    ),
];

#[test]
#[ignore = "needs transcripts of other programs; run tests/full.sh"]
fn what_is_known_to_be_wrong_is_found_and_nothing_else() {
    let folder = transcripts();
    for (name, errors, warnings) in KNOWN {
        let stage = Stage::new();
        let file = folder.join(format!("{name}.ndjson"));
        stage.ok(&["import", file.to_str().expect("text"), "-o", "it.reel"]);
        let output = stage.run(&["validate", "it.reel", "--format", "json"], "");
        let report: serde_json::Value = serde_json::from_str(&output.out()).expect("JSON");
        let found = |severity: &str| -> BTreeSet<String> {
            let findings = report["findings"].as_array().expect("findings").iter();
            let of_it = findings.filter(|finding| finding["severity"] == severity);
            of_it.map(|finding| finding["rule"].as_str().expect("a rule").to_owned()).collect()
        };
        let known = |rules: &[&str]| rules.iter().map(|rule| (*rule).to_owned()).collect::<BTreeSet<_>>();
        assert_eq!(found("error"), known(errors), "{name}");
        assert_eq!(found("warning"), known(warnings), "{name}");
        assert_eq!(output.code(), i32::from(!errors.is_empty()), "{name}");
    }
}

#[test]
#[ignore = "needs transcripts of other programs; run tests/full.sh"]
fn every_transcript_is_read_and_shown() {
    let folder = transcripts();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let file = entry.expect("an entry").path();
        if file.extension().is_none_or(|extension| extension != "ndjson") {
            continue;
        }
        let stage = Stage::new();
        stage.ok(&["import", file.to_str().expect("text"), "-o", "it.reel"]);
        let text = std::fs::read_to_string(&file).expect("text");
        let lines: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let shown = stage.ok(&["show", "--format", "json", "it.reel"]).out();
        let shown: Vec<serde_json::Value> =
            shown.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        // A line with a head and a body becomes two events, and each session has a beginning.
        let is_head = |line: &&serde_json::Value| line["http"].is_object();
        let two = lines.iter().filter(is_head).filter(|line| line["raw"].is_string()).count();
        let about_streams =
            shown.iter().filter(|event| event["event"].as_str().is_some_and(|it| it.starts_with("stream-")));
        assert_eq!(shown.len() - about_streams.count(), lines.len() + two, "{}", file.display());
        let heads = shown.iter().filter(|event| {
            let what = event["described"]["what"].as_str();
            event["event"] == "transport" && what.is_none_or(|what| what == "request" || what == "response")
        });
        assert!(heads.count() >= lines.iter().filter(is_head).count(), "{}", file.display());
    }
}

/// Two sessions over HTTP on one connection, an event stream of the first, its end, and a line of standard error.
const HTTP: &str = concat!(
    r#"{"ts":1,"direction":"client_to_server","conn":"c","http":{"method":"POST","path":"/mcp?token=secret","headers":{"Content-Type":"application/json","Authorization":"Bearer secret"}},"raw":"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{}}"}"#,
    "\n",
    r#"{"ts":2,"direction":"server_to_client","conn":"c","http":{"status":200,"headers":{"Mcp-Session-Id":"one"}},"raw":"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"}"#,
    "\n",
    r#"{"ts":3,"direction":"client_to_server","conn":"c","http":{"method":"POST","path":"/mcp"},"raw":"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{}}"}"#,
    "\n",
    r#"{"ts":4,"direction":"server_to_client","conn":"c","http":{"status":200,"headers":{"Mcp-Session-Id":"two"}},"raw":"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"}"#,
    "\n",
    r#"{"ts":5,"direction":"client_to_server","conn":"g","http":{"method":"GET","path":"/mcp","headers":{"Mcp-Session-Id":"one","MCP-Protocol-Version":"2025-11-25"}},"raw":null}"#,
    "\n",
    r#"{"ts":6,"direction":"client_to_server","conn":"c","http":{"method":"POST","path":"/mcp","headers":{"Mcp-Session-Id":"two","Mcp-Method":"tools/call","Mcp-Name":"echo"}},"raw":"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\"}}"}"#,
    "\n",
    r#"{"ts":7,"direction":"client_to_server","conn":"d","http":{"method":"DELETE","path":"/mcp","headers":{"Mcp-Session-Id":"one"}}}"#,
    "\n",
    r#"{"ts":8,"direction":"server_to_client","conn":"d","http":{"status":200}}"#,
    "\n",
    r#"{"ts":9,"direction":"server_stderr","raw":"first\nsecond\n"}"#,
    "\n",
    r#"{"ts":10,"direction":"server_stderr","raw":"third"}"#,
    "\n",
);

#[test]
fn http_sessions_are_streams_with_all_their_heads() {
    let stage = Stage::new();
    stage.import("it.reel", HTTP);
    let events = stage.events("it.reel");
    let reported = |what: &str, name: &str| -> Vec<(u64, serde_json::Value)> {
        let of_kind = events.iter().filter(|event| event["event"] == what);
        of_kind.map(|event| (event["stream"].as_u64().unwrap_or(0), event[name].clone())).collect()
    };
    let shown = stage.ok(&["show", "it.reel", "--full", "event:transport"]).out();
    for head in [
        "POST /mcp?token=[redacted]",
        "GET /mcp",
        "DELETE /mcp",
        "status 200",
        "authorization: Bearer [redacted]",
        "mcp-protocol-version: 2025-11-25",
        "mcp-method: tools/call",
        "mcp-name: echo",
    ] {
        assert!(shown.contains(head), "{head}: {shown}");
    }
    assert!(!shown.contains("secret"), "{shown}");
    let streams = |what: &str| reported(what, "seq").into_iter().map(|(stream, _)| stream).collect::<Vec<_>>();
    assert_eq!(streams("stream-opened"), [1, 2]);
    assert_eq!(streams("stream-closed"), [1]);
    assert_eq!(streams("transport"), [1, 1, 2, 2, 1, 2, 1, 1]);
    assert_eq!(reported("note", "seq"), []);
    let messages: Vec<u64> = events
        .iter()
        .skip(1)
        .filter(|event| event["event"].is_null() || event["event"] == "message")
        .map(|event| event["stream"].as_u64().unwrap_or(0))
        .collect();
    assert_eq!(messages, [1, 1, 2, 2, 2]);
    // The original bytes: line ends are not duplicated.
    assert_eq!(stage.cat("it.reel", "stderr"), b"first\nsecond\nthird\n");
}
