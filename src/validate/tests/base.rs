use super::Case;

/// The rules of MCP itself.
pub(super) const CASES: &[Case] = &[
    ("stream/noise", "s>c [server] started"),
    ("stream/blank-line", "s>c \t"),
    ("stream/crlf", r#"c>s crlf {"id":1,"method":"ping"}"#),
    ("stream/content-length", r#"c>s whole {"id":1,"method":"ping"}"#),
    ("stream/unterminated", r#"c>s open {"id":1,"method":"ping"}"#),
    ("stream/not-checked", r#"c>s piece {"id":1,"meth"#),
    ("envelope/malformed", r#"c>s {"id":1,"method":"ping","#),
    ("envelope/malformed", r#"c>s {"id":1,"method":"ping","params":{a:1}}"#),
    ("envelope/malformed", r#"c>s {"id":1,"method":"ping"} {}"#),
    ("envelope/encoding", r#"c>s {"id":1,"method":"ping","params":{"a":"$FF"}}"#),
    ("envelope/encoding", r#"c>s {"id":1,"method":"ping","params":{"a":"$FF"}"#),
    ("envelope/unrepresentable", r#"c>s {"id":1,"method":"ping","params":{"n":1e999}}"#),
    ("envelope/unrepresentable", r#"c>s {"id":1,"method":"ping","params":{"s":"\ud800"}}"#),
    ("envelope/duplicate-key", r#"c>s {"id":1,"method":"ping","params":{"a":1,"a":2}}"#),
    ("envelope/duplicate-member", r#"c>s {"id":1,"id":2,"method":"ping"}"#),
    ("envelope/no-message", r#"c>s {"a":1}"#),
    ("envelope/no-message", "c>s 17"),
    ("envelope/version", r#"c>s {"no-version":0,"id":1,"method":"ping"}"#),
    ("envelope/version", r#"c>s {"jsonrpc":"1.0","id":1,"method":"ping"}"#),
    ("envelope/null-id", r#"c>s {"id":null,"method":"ping"}"#),
    (
        "schema/params",
        r#"hello 2025-06-18 {} | {}
           c>s {"method":"notifications/cancelled"}"#,
    ),
    (
        "schema/params",
        r#"hello 2025-06-18 {"sampling":{}} | {}
           s>c {"id":1,"method":"sampling/createMessage","params":{"maxTokens":1,"messages":[{"role":"user",
               "content":[]}]}}"#,
    ),
    ("envelope/odd-id", r#"c>s {"id":1.5,"method":"ping"}"#),
    ("envelope/missing-id", r#"s>c {"result":{}}"#),
    ("envelope/mixed", r#"s>c {"id":1,"result":{},"error":{"code":1,"message":"x"}}"#),
    ("envelope/odd-method", r#"s>c {"id":1,"method":7,"result":{}}"#),
    ("envelope/odd-params", r#"c>s {"id":1,"method":"ping","params":7}"#),
    (
        "envelope/error-object",
        r#"c>s {"id":1,"method":"ping"}
           s>c {"id":1,"error":{"code":"x"}}"#,
    ),
    (
        "era/batch",
        r#"hello 2025-11-25 {} | {}
           c>s [{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
    ),
    ("envelope/empty-batch", "c>s []"),
    (
        "lifecycle/batched-initialize",
        r#"c>s [{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26",
            "capabilities":{},"clientInfo":{"name":"c","version":"1"}}}]"#,
    ),
    ("pairing/orphan-response", r#"s>c {"id":1,"result":{}}"#),
    (
        "pairing/orphan-response",
        r#"c>s {"id":1,"method":"ping"}
           s>c {"id":"1","result":{}}"#,
    ),
    (
        "pairing/duplicate-response",
        r#"c>s {"id":1,"method":"ping"}
           s>c {"id":1,"result":{}}
           s>c {"id":1,"result":{}}"#,
    ),
    (
        "schema/params",
        r#"hello 2025-11-25 {} | {}
           c>s {"id":1,"method":"ping"}
           c>s {"method":"notifications/cancelled"}"#,
    ),
    (
        "envelope/error-object",
        r#"c>s {"id":1,"method":"ping"}
           s>c {"id":1,"error":{"code":7.5,"message":"a fraction"}}"#,
    ),
    ("envelope/error-id", r#"s>c {"id":null,"error":{"code":-32603,"message":"internal error"}}"#),
    ("pairing/unattributed-error", r#"s>c {"id":null,"error":{"code":-32700,"message":"parse error"}}"#),
    (
        "pairing/id-in-use",
        r#"c>s {"id":0,"method":"ping"}
           c>s {"id":0,"method":"ping"}"#,
    ),
    (
        "pairing/id-reused",
        r#"c>s {"id":0,"method":"ping"}
           s>c {"id":0,"result":{}}
           c>s {"id":0,"method":"ping"}"#,
    ),
    (
        "pairing/unanswered",
        r#"c>s {"id":1,"method":"ping"}
           c>s {"id":2,"method":"ping"}
           s>c {"id":2,"result":{}}"#,
    ),
    (
        "pairing/unanswered",
        r#"c>s {"id":1,"method":"ping"}
           @20000 close"#,
    ),
    ("pairing/open-at-end", r#"c>s {"id":1,"method":"ping"}"#),
    (
        "pairing/cancel-unknown",
        r#"hello 2025-11-25 {} | {}
           c>s {"id":1,"method":"ping"}
           s>c {"id":1,"result":{}}
           c>s {"method":"notifications/cancelled","params":{"requestId":1}}"#,
    ),
    (
        "pairing/progress-token",
        r#"hello 2025-11-25 {} | {}
           s>c {"method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#,
    ),
    (
        "pairing/notification-answered",
        r#"hello 2025-11-25 {"roots":{"listChanged":true}} | {}
           c>s {"method":"notifications/roots/list_changed"}
           s>c {"id":null,"error":{"code":-32601,"message":"no such method"}}"#,
    ),
    ("lifecycle/server-crashed", "hello 2025-11-25 {} | {}\ncrash"),
    (
        "stream/not-checked",
        r#"hello 2025-11-25 {} | {"tools":{}}
           c>s {"id":1,"method":"tools/call","params":{"name":"t"}}
           s>c {"id":1,"result":{"content":[{"type":"text","text":"{}"}],"structuredContent":{}}}"#,
    ),
    ("lifecycle/server-crashed", "hello 2025-11-25 {} | {}\nc>s {\"id\":1,\"method\":\"ping\"}\nexit"),
    ("lifecycle/not-initialized", r#"c>s {"id":1,"method":"tools/list"}"#),
    (
        "lifecycle/initialized-missing",
        r#"c>s {"id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},
               "clientInfo":{"name":"c","version":"1"}}}
           s>c {"id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},
               "serverInfo":{"name":"s","version":"1"}}}
           c>s {"id":2,"method":"tools/list"}
           s>c {"id":2,"result":{"tools":[]}}"#,
    ),
    (
        "lifecycle/second-initialize",
        "hello 2025-11-25 {} | {}
         hello 2025-11-25 {} | {}",
    ),
    (
        "lifecycle/early-message",
        r#"c>s {"id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},
            "clientInfo":{"name":"c","version":"1"}}}
           c>s {"id":2,"method":"tools/list"}"#,
    ),
    (
        "lifecycle/early-extension",
        r#"c>s {"id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},
            "clientInfo":{"name":"c","version":"1"}}}
           s>c {"id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"reminders":{"emit":true}},
               "serverInfo":{"name":"s","version":"1"}}}
           s>c {"method":"notifications/reminder","params":{"reminder":{"id":"r","body":"b"}}}"#,
    ),
    (
        "lifecycle/cancelled-initialize",
        r#"c>s {"id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},
            "clientInfo":{"name":"c","version":"1"}}}
           c>s {"method":"notifications/cancelled","params":{"requestId":1}}"#,
    ),
    ("lifecycle/unknown-revision", "hello 1900-01-01 {} | {}"),
    ("lifecycle/modern-handshake", "hello 2026-07-28 {} | {}"),
    ("lifecycle/stripped-capability", r#"hello 2025-11-25 {} | {"conversationEvents":{}}"#),
    (
        "method/unknown-request",
        r#"hello 2025-11-25 {} | {}
           c>s {"id":1,"method":"no/such"}"#,
    ),
    (
        "method/unknown-notification",
        r#"hello 2025-11-25 {} | {}
           s>c {"method":"notifications/claude/channel","params":{}}"#,
    ),
    (
        "method/refusal-code",
        r#"hello 2025-11-25 {} | {}
           c>s {"id":1,"method":"no/such"}
           s>c {"id":1,"error":{"code":-32000,"message":"what?"}}"#,
    ),
    (
        "method/refusal-as-params",
        r#"hello 2025-11-25 {} | {}
           c>s {"id":1,"method":"no/such"}
           s>c {"id":1,"error":{"code":-32602,"message":"invalid request parameters"}}"#,
    ),
    (
        "method/ping-refused",
        r#"hello 2025-11-25 {} | {}
           c>s {"id":1,"method":"ping"}
           s>c {"id":1,"error":{"code":-32601,"message":"method not found"}}"#,
    ),
    (
        "method/ping-result",
        r#"hello 2025-11-25 {} | {}
           s>c {"id":1,"method":"ping"}
           c>s {"id":1,"result":{"status":"pong"}}"#,
    ),
    (
        "method/declared-refused",
        r#"hello 2025-11-25 {} | {"tools":{}}
           c>s {"id":1,"method":"tools/list"}
           s>c {"id":1,"error":{"code":-32601,"message":"method not found"}}"#,
    ),
    (
        "method/error-code",
        r#"hello 2025-11-25 {} | {"tools":{}}
           c>s {"id":1,"method":"tools/list"}
           s>c {"id":1,"error":{"code":-32500,"message":"?"}}"#,
    ),
    (
        "method/reserved-code",
        r#"hello 2025-11-25 {} | {"tools":{}}
           c>s {"id":1,"method":"tools/call","params":{"name":"t"}}
           s>c {"id":1,"error":{"code":-32023,"message":"unknown channel"}}"#,
    ),
    (
        "method/direction",
        r#"hello 2025-11-25 {} | {}
           s>c {"id":1,"method":"tools/list"}"#,
    ),
    (
        "method/kind",
        r#"hello 2025-11-25 {} | {"reminders":{"emit":true}}
           s>c {"id":1,"method":"notifications/reminder","params":{"reminder":{"id":"r","body":"b"}}}"#,
    ),
    (
        "method/kind",
        r#"hello 2025-11-25 {} | {"tools":{}}
           c>s {"method":"tools/list"}"#,
    ),
    (
        "method/not-in-revision",
        r#"hello 2024-11-05 {"elicitation":{}} | {}
           s>c {"id":1,"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object",
               "properties":{}}}}"#,
    ),
    (
        "schema/params",
        r#"hello 2025-11-25 {} | {"tools":{}}
           c>s {"id":1,"method":"tools/call","params":{"name":7}}"#,
    ),
    (
        "schema/params",
        r#"hello 2025-11-25 {} | {"tools":{}}
           c>s {"id":1,"method":"tools/call"}"#,
    ),
    (
        "schema/result",
        r#"hello 2025-11-25 {} | {"tools":{}}
           c>s {"id":1,"method":"tools/list"}
           s>c {"id":1,"result":{"tools":{}}}"#,
    ),
    ("schema/capability", r#"hello 2025-11-25 {} | {"conversationEvents":{"onUserMessage":"yes"}}"#),
    (
        "schema/tool-arguments",
        r#"hello 2025-11-25 {} | {"tools":{}}
           c>s {"id":1,"method":"tools/call","params":{"name":"events_pause","arguments":{}}}"#,
    ),
    (
        "schema/tool-result",
        r#"hello 2025-11-25 {} | {"tools":{}}
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{}}}
           s>c {"id":1,"result":{"content":[{"type":"text","text":"done"}]}}"#,
    ),
    (
        "era/no-carrier",
        r#"c>s {"id":1,"method":"tools/list","params":{"_meta":
            {"io.modelcontextprotocol/protocolVersion":"2026-07-28",
            "io.modelcontextprotocol/clientCapabilities":{}}}}
           s>c {"method":"notifications/reminder","params":{"reminder":{"id":"r","body":"b"}}}"#,
    ),
    (
        "era/server-request",
        r#"c>s {"id":1,"method":"tools/list","params":{"_meta":
            {"io.modelcontextprotocol/protocolVersion":"2026-07-28",
            "io.modelcontextprotocol/clientCapabilities":{}}}}
           s>c {"id":1,"method":"roots/list"}"#,
    ),
    (
        "era/unsolicited",
        r#"c>s {"id":1,"method":"tools/list","params":{"_meta":
            {"io.modelcontextprotocol/protocolVersion":"2026-07-28",
            "io.modelcontextprotocol/clientCapabilities":{}}}}
           s>c {"method":"notifications/message","params":{"level":"info","data":"x"}}
           s>c {"id":1,"result":{"tools":[],"ttlMs":0,"cacheScope":"private","resultType":"complete"}}
           s>c {"method":"notifications/tools/list_changed"}"#,
    ),
    (
        "era/legacy-answer",
        r#"c>s {"id":1,"method":"tools/list","params":{"_meta":
            {"io.modelcontextprotocol/protocolVersion":"2026-07-28",
            "io.modelcontextprotocol/clientCapabilities":{}}}}
           s>c {"id":1,"result":{"tools":[]}}"#,
    ),
];

#[test]
fn a_response_with_an_id_of_another_type_names_the_request() {
    for (asked, answered, hint) in [
        ("1", "\"1\"", "; request 1 is, but the ids differ in type"),
        ("\"1\"", "1", "; request \"1\" is, but the ids differ in type"),
        ("1", "\"2\"", ""),
        ("\"01\"", "1", ""),
    ] {
        let script = format!(
            "c>s {{\"jsonrpc\":\"2.0\",\"id\":{asked},\"method\":\"ping\"}}\ns>c {{\"jsonrpc\":\"2.0\",\"id\":{answered},\"result\":{{}}}}"
        );
        let report = super::run(&script);
        let orphan = report.findings.iter().find(|finding| finding.rule.id == "pairing/orphan-response");
        let expected = format!("the server answered request {answered}, but no such request is pending{hint}");
        assert_eq!(orphan.map(|finding| finding.seen.as_str()), Some(expected.as_str()), "{asked} {answered}");
    }
}

/// Invalid UTF-8, which a script cannot contain.
#[test]
fn invalid_utf8_is_reported_with_its_place() {
    let mut feed = super::Feed::new();
    feed.message(
        crate::wire::Direction::ServerToClient,
        b"{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{\"a\":\"\xff\"}}",
    );
    let report = feed.reporter.finish();
    assert_eq!(report.findings[0].rule.id, "envelope/encoding");
    assert_eq!(report.findings[0].seen, "invalid UTF-8 at byte 45");
}

/// Returns the findings of a script with a gap, without the one that reports the gap.
fn beside_the_gap(script: &str) -> super::BTreeSet<&'static str> {
    let mut found = super::ids(&super::run(script));
    assert_eq!(found.remove("stream/not-checked"), script.lines().any(|line| line.trim() == "gap"), "{script}");
    found
}

/// After a gap, nothing is reported that may be explained by the missing part.
#[test]
fn a_gap_forgives_what_it_hides() {
    let found = beside_the_gap(
        r#"hello 2025-11-25 {} | {}
           gap
           s>c {"id":77,"result":{}}"#,
    );
    assert!(found.is_empty(), "{found:?}");
}

/// Batches are legal in one revision, and their messages are checked one by one.
#[test]
fn batches_of_their_revision_are_taken_apart() {
    let report = super::run(
        r#"hello 2025-03-26 {} | {}
           c>s [{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]
           s>c [{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":{}}]"#,
    );
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    assert_eq!(report.messages(), 7);
}

/// Each finding names the method of its own message, and none if it is about the batch.
#[test]
fn findings_in_a_batch_have_their_own_methods() {
    let report = super::run(
        r#"hello 2025-11-25 {} | {}
           c>s [7,{"id":1,"method":"tools/list"},{"jsonrpc":"2.0","id":2,"method":"\ud800"},{"id":3,"method":"ping"}]"#,
    );
    let of = |rule: &str| {
        let all = report.findings.iter().filter(|found| found.rule.id == rule);
        all.map(|found| found.method.as_deref().unwrap_or("")).collect::<Vec<_>>()
    };
    assert_eq!(of("era/batch"), [""]);
    assert_eq!(of("envelope/no-message"), [""]);
    assert_eq!(of("envelope/version"), ["tools/list", "ping"]);
}

/// `7.0` and `7` are the same integer.
#[test]
fn an_integral_float_is_an_integer() {
    let report = super::run(
        r#"hello 2025-11-25 {} | {}
           c>s {"id":7.0,"method":"ping"}
           s>c {"id":7,"result":{}}"#,
    );
    assert!(report.findings.is_empty(), "{:?}", report.findings);
}

/// A gap may hide the end of the handshake, responses, requests, and the beginnings of longer exchanges.
#[test]
fn a_gap_may_hold_the_end_of_the_handshake_and_answers() {
    for loss in ["gap", "damage"] {
        let script = r#"c>s {"id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},
            "clientInfo":{"name":"c","version":"1"}}}
           s>c {"id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"experimental":
            {"reminders":{"emit":true}}},"serverInfo":{"name":"s","version":"1"}}}
           c>s {"id":2,"method":"ping"}
           LOSS
           c>s {"id":2,"method":"tools/list"}
           s>c {"id":2,"result":{"tools":[]}}
           s>c {"method":"notifications/progress","params":{"progressToken":1,"progress":1}}
           c>s {"method":"notifications/cancelled","params":{"requestId":77}}
           s>c {"method":"notifications/reminder","params":{"reminder":{"id":"0190abcd-2024-7c1d-bb02-3a0e8a44d7f0",
            "body":"b","ttlTurns":1,"firedAtTurn":null}}}
           @30000 close"#;
        let found = beside_the_gap(&script.replace("LOSS", loss));
        assert!(found.is_empty(), "{loss}: {found:?}");
    }
}

/// Damage before a connection's first message applies to it, too.
#[test]
fn damage_counts_for_connections_that_come_later() {
    for loss in ["gap", "damage"] {
        let found = beside_the_gap(&format!(
            "{loss}\ns>c {{\"id\":77,\"result\":{{}}}}\nc>s {{\"id\":1,\"method\":\"tools/list\"}}"
        ));
        assert_eq!(found, super::BTreeSet::from(["pairing/open-at-end"]), "{loss}");
    }
}

/// A server may send log messages before anything else: it "SHOULD NOT send requests other than pings and logging
/// before receiving the `initialized` notification" (MCP 2025-11-25, Lifecycle, Initialization).
#[test]
fn logging_is_no_early_message() {
    let report = super::run(
        r#"s>c {"method":"notifications/message","params":{"level":"info","data":"starting"}}
           hello 2025-11-25 {} | {"logging":{}}"#,
    );
    assert!(report.findings.is_empty(), "{:?}", report.findings);
}

/// A cancelled request needs no response, so none is reported missing.
#[test]
fn a_cancelled_request_is_not_missed() {
    let report = super::run(
        r#"c>s {"id":1,"method":"ping"}
           c>s {"method":"notifications/cancelled","params":{"requestId":1}}
           @20000 close"#,
    );
    assert!(report.findings.is_empty(), "{:?}", report.findings);
}

/// The cost of a request does not grow with their number.
#[test]
fn a_long_pipeline_is_checked_in_time() {
    let mut feed = super::Feed::new();
    feed.line("hello 2025-11-25 {} | {}");
    for id in 0..30_000 {
        let asks = format!(r#"{{"id":{id},"method":"ping","params":{{"_meta":{{"progressToken":{id}}}}}}}"#);
        feed.line(&format!("c>s {asks}"));
    }
    for id in (0..30_000).rev() {
        let params = format!(r#"{{"progressToken":{id},"progress":1}}"#);
        feed.line(&format!(r#"s>c {{"method":"notifications/progress","params":{params}}}"#));
        feed.line(&format!(r#"s>c {{"id":{id},"result":{{}}}}"#));
    }
    assert_eq!(feed.reporter.finish().errors, 0);
}

/// Codes that MCP itself defines are not reported as reserved.
#[test]
fn a_server_may_ask_for_a_url_to_be_opened() {
    let answered = |code: i64| {
        super::ids(&super::run(&format!(
            r#"hello 2025-11-25 {{"elicitation":{{"url":{{}}}}}} | {{"tools":{{}}}}
               c>s {{"id":1,"method":"tools/call","params":{{"name":"t"}}}}
               s>c {{"id":1,"error":{{"code":{code},"message":"open it","data":{{"elicitations":[{{"mode":"url",
                   "elicitationId":"e","url":"https://h/","message":"m"}}]}}}}}}"#
        )))
    };
    assert!(answered(-32042).is_empty(), "{:?}", answered(-32042));
    assert_eq!(answered(-32043), super::BTreeSet::from(["method/reserved-code"]));
}
