//! Near misses: for conditions of rules, sessions on both sides of the line that they draw. Each row says what becomes of
//! one rule, whatever else the session does.

use super::{BTreeSet, http, run};
use crate::proposals::findings::Verdict::{self, Failed, NotObserved, Passed};

/// A rule, what becomes of it, and the session.
type Near = (&'static str, Verdict, &'static str);

/// What scripts abbreviate.
const ABBREVIATIONS: &[(&str, &str)] = &[
    (
        "$POST",
        r#"> POST {"accept":"application/json, text/event-stream","mcp-session-id":"s1","mcp-protocol-version":"2025-11-25"}"#,
    ),
    ("$JSON", r#"< 200 {"content-type":"application/json"}"#),
    ("$STREAM", r#"< 200 {"content-type":"text/event-stream"}"#),
    ("$MODERN", r#""accept":"application/json, text/event-stream","mcp-protocol-version":"2026-07-28""#),
    ("$META", r#""_meta":{$MEMBERS,"io.modelcontextprotocol/clientCapabilities":{}}"#),
    (
        "$MEMBERS",
        r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"}"#,
    ),
    ("$DONE", r#""resultType":"complete""#),
    ("$SUBSCRIPTION", r#""_meta":{"io.modelcontextprotocol/subscriptionId":1}"#),
];

/// A session over HTTP in an earlier revision, as far as the handshake.
fn session_of(revision: &str) -> String {
    http::cases::SESSION.replace("2025-11-25", revision)
}

fn expand(script: &str) -> String {
    let mut text = script.to_owned();
    for (name, meaning) in ABBREVIATIONS {
        text = text.replace(name, meaning);
    }
    text.replace("$IN_2025_06", &session_of("2025-06-18")).replace("$IN_2025_03", &session_of("2025-03-26"))
}

/// What becomes of a rule in all sessions of a script.
fn verdict(rule: &str, script: &str) -> Verdict {
    let report = run(&expand(script));
    let all: Vec<_> = report.connections.iter().flat_map(|connection| connection.verdicts.all()).collect();
    let is = |wanted| all.iter().any(|(id, verdict)| *id == rule && *verdict == wanted);
    [Failed, Passed].into_iter().find(|wanted| is(*wanted)).unwrap_or(NotObserved)
}

fn check(rows: &[Near]) {
    let wrong: Vec<_> = rows
        .iter()
        .map(|(rule, expected, script)| (rule, expected, verdict(rule, script), script))
        .filter(|(_, expected, got, _)| *expected != got)
        .map(|(rule, expected, got, script)| format!("{rule} is {got:?}, expected {expected:?}:\n{script}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    let known: BTreeSet<_> =
        crate::validate::all_rules(crate::proposals::Registry::built_in()).map(|rule| rule.id).collect();
    assert!(rows.iter().all(|(rule, ..)| known.contains(rule)));
}

#[test]
fn requests_over_http() {
    check(&[
        (
            "http/accept",
            Failed,
            r#"$SESSION
               > POST {"accept":"text/event-stream","mcp-session-id":"s1","mcp-protocol-version":"2025-11-25"}
               c>s {"id":1,"method":"tools/list"}"#,
        ),
        (
            "http/get-accept",
            NotObserved,
            r#"$SESSION
               > GET {"accept":"text/html"}"#,
        ),
        (
            "http/version-missing",
            Failed,
            r#"$IN_2025_06
               > POST {"accept":"application/json, text/event-stream","mcp-session-id":"s1"}
               c>s {"id":1,"method":"tools/list"}"#,
        ),
        (
            "http/version-missing",
            NotObserved,
            r#"$IN_2025_03
               > POST {"accept":"application/json, text/event-stream","mcp-session-id":"s1"}
               c>s {"id":1,"method":"tools/list"}"#,
        ),
        (
            "http/version-missing",
            Passed,
            r#"$SESSION
               > GET {"accept":"text/html"}"#,
        ),
        (
            "http/contradiction-accepted",
            Failed,
            r#"> POST {"accept":"application/json, text/event-stream","mcp-method":"tools/list","mcp-protocol-version":"2025-11-25"}
               c>s {"id":1,"method":"tools/list","params":{$META}}
               $JSON
               s>c {"id":1,"result":{$DONE,"tools":[]}}"#,
        ),
        (
            "http/contradiction-accepted",
            NotObserved,
            r#"> POST {"accept":"application/json, text/event-stream","mcp-method":"tools/list"}
               c>s {"id":1,"method":"tools/list","params":{$META}}
               $JSON
               s>c {"id":1,"result":{$DONE,"tools":[]}}"#,
        ),
        (
            "http/contradiction-accepted",
            Failed,
            r#"> POST {$MODERN,"mcp-method":"prompts/list"}
               c>s {"id":1,"method":"tools/list","params":{$META}}
               < 400 {"content-type":"application/json"}
               s>c {"id":1,"error":{"code":-32602,"message":"?"}}"#,
        ),
        (
            "http/contradiction-accepted",
            Failed,
            r#"> POST {$MODERN,"mcp-method":"prompts/list"}
               c>s {"id":1,"method":"tools/list","params":{$META}}
               $JSON
               s>c {"id":1,"error":{"code":-32020,"message":"?"}}"#,
        ),
        (
            "http/contradiction-accepted",
            Passed,
            r#"> POST {$MODERN,"mcp-method":"prompts/list"}
               c>s {"id":1,"method":"tools/list","params":{$META}}
               < 400 {"content-type":"application/json"}
               s>c {"id":1,"error":{"code":-32020,"message":"?"}}"#,
        ),
        (
            "http/superfluous-parameter-header",
            NotObserved,
            r#"> POST {$MODERN,"mcp-method":"tools/list"}
               c>s {"id":1,"method":"tools/list","params":{$META}}
               $JSON
               s>c {"id":1,"result":{$DONE,"tools":[{"name":"t","inputSchema":{"type":"object"}}]}}
               > POST {$MODERN,"mcp-method":"prompts/get","mcp-name":"t","mcp-param-n":"5"}
               c>s {"id":2,"method":"prompts/get","params":{"name":"t",$META}}"#,
        ),
    ]);
}

#[test]
fn responses_over_http() {
    check(&[
        (
            "http/bad-version-accepted",
            Failed,
            r#"$IN_2025_06
               > POST {"accept":"application/json, text/event-stream","mcp-session-id":"s1","mcp-protocol-version":"one"}
               c>s {"id":1,"method":"tools/list"}
               $JSON"#,
        ),
        (
            "http/bad-version-accepted",
            Passed,
            r#"$IN_2025_06
               > POST {"accept":"application/json, text/event-stream","mcp-session-id":"s1","mcp-protocol-version":"one"}
               c>s {"id":1,"method":"tools/list"}
               < 400"#,
        ),
        (
            "http/bad-version-accepted",
            NotObserved,
            r#"$IN_2025_03
               > POST {"accept":"application/json, text/event-stream","mcp-session-id":"s1","mcp-protocol-version":"one"}
               c>s {"id":1,"method":"tools/list"}
               $JSON"#,
        ),
        (
            "http/after-response",
            Failed,
            r#"$IN_2025_06
               $POST
               c>s {"id":1,"method":"tools/list"}
               $STREAM
               s>c {"id":1,"result":{"tools":[]}}
               s>c {"method":"notifications/tools/list_changed"}"#,
        ),
        (
            "http/after-response",
            Passed,
            r#"$IN_2025_03
               $POST
               c>s {"id":1,"method":"tools/list"}
               $STREAM
               s>c {"id":1,"result":{"tools":[]}}
               s>c {"method":"notifications/tools/list_changed"}"#,
        ),
        (
            "http/media-type",
            Passed,
            r#"$SESSION
               $POST
               c>s {"id":1,"method":"tools/list"}
               < 500 {"content-type":"text/html"}"#,
        ),
        (
            "http/get-answer",
            NotObserved,
            r#"$SESSION
               > GET {"accept":"text/html"}
               < 200 {"content-type":"text/html"}"#,
        ),
        (
            "http/foreign-origin",
            NotObserved,
            r#"> POST {"accept":"application/json, text/event-stream","origin":"https://evil.example","host":"mcp.example"}
               c>s {"id":1,"method":"ping"}
               $JSON"#,
        ),
        (
            "http/foreign-origin",
            NotObserved,
            r#"> POST {"accept":"application/json, text/event-stream","origin":"https://evil.example","host":"10.0.0.1:80"}
               c>s {"id":1,"method":"ping"}
               $JSON"#,
        ),
        (
            "http/foreign-origin",
            Passed,
            r#"> POST {"accept":"application/json, text/event-stream","origin":"https://evil.example","host":"127.0.0.1:80"}
               c>s {"id":1,"method":"ping"}
               < 403"#,
        ),
        (
            "http/foreign-origin",
            Passed,
            r#"> POST {"accept":"application/json, text/event-stream","origin":"http://[::1]:80","host":"[::1]"}
               c>s {"id":1,"method":"ping"}
               $JSON"#,
        ),
        (
            "http/accepted-body",
            NotObserved,
            r#"$SESSION
               $POST
               c>s {"method":"notifications/roots/list_changed"}
               < 400 {"content-type":"application/json"}
               s>c {"error":{"code":-32600,"message":"?"},"id":null}"#,
        ),
        (
            "http/other-response",
            Passed,
            r#"$SESSION
               $POST
               c>s {"id":1,"method":"tools/call","params":{"name":"t"}}
               $STREAM
               s>c {"id":7,"method":"ping"}
               s>c {"id":1,"result":{"content":[]}}"#,
        ),
        (
            "http/other-response",
            Passed,
            r#"$SESSION
               $POST
               c>s {"id":1,"method":"tools/list"}
               < 400 {"content-type":"application/json"}
               s>c {"id":null,"error":{"code":-32700,"message":"?"}}"#,
        ),
        (
            "http/error-status",
            NotObserved,
            r#"$SESSION
               $POST
               c>s {"id":1,"method":"no/such"}
               $JSON
               s>c {"id":1,"error":{"code":-32601,"message":"?"}}"#,
        ),
        (
            "http/error-status",
            Failed,
            r#"> POST {$MODERN,"mcp-method":"tools/list"}
               c>s {"id":1,"method":"tools/list","params":{$META}}
               $JSON
               s>c {"id":1,"error":{"code":-32021,"message":"?","data":{"requiredCapabilities":{"roots":{}}}}}"#,
        ),
        (
            "http/error-status",
            Failed,
            r#"> POST {$MODERN,"mcp-method":"tools/list"}
               c>s {"id":1,"method":"tools/list","params":{$META}}
               $JSON
               s>c {"id":1,"error":{"code":-32022,"message":"?","data":{"supported":["2025-11-25"],"requested":"2026-07-28"}}}"#,
        ),
        (
            "http/error-status",
            NotObserved,
            r#"> POST {$MODERN,"mcp-method":"tools/list"}
               c>s {"id":1,"method":"tools/list","params":{$META}}
               $JSON
               s>c {"id":1,"result":{$DONE,"tools":[],"code":-32601}}"#,
        ),
    ]);
}

#[test]
fn sessions_over_http() {
    check(&[
        (
            "http/session-id-changed",
            Failed,
            r#"$SESSION
               > GET {"accept":"text/event-stream","mcp-session-id":"s2","mcp-protocol-version":"2025-11-25"}"#,
        ),
        (
            "http/session-id-changed",
            Passed,
            r#"$SESSION
               > DELETE {"mcp-session-id":"s1","mcp-protocol-version":"2025-11-25"}"#,
        ),
        (
            "http/session-after-404",
            NotObserved,
            r#"$SESSION
               $POST
               c>s {"id":1,"method":"ping"}
               < 404
               > DELETE {"mcp-session-id":"s1","mcp-protocol-version":"2025-11-25"}"#,
        ),
        (
            "http/session-after-404",
            Failed,
            r#"$SESSION
               $POST
               c>s {"id":1,"method":"ping"}
               < 404
               > GET {"accept":"text/event-stream","mcp-session-id":"s1","mcp-protocol-version":"2025-11-25"}"#,
        ),
        (
            "http/session-id-missing",
            Passed,
            r#"$SESSION
               stream 1
               > POST {"accept":"application/json, text/event-stream"}
               c>s {"id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},
                   "clientInfo":{"name":"c","version":"1"}}}
               > POST {"accept":"application/json, text/event-stream"}
               c>s {"method":"notifications/cancelled","params":{"requestId":5}}"#,
        ),
        (
            "http/session-id-characters",
            Failed,
            r#"> POST {"accept":"application/json, text/event-stream"}
               c>s {"id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},
                   "clientInfo":{"name":"c","version":"1"}}}
               < 200 {"content-type":"application/json","mcp-session-id":""}"#,
        ),
        (
            "http/ended-session-answered",
            NotObserved,
            r#"$SESSION
               > DELETE {"mcp-session-id":"s1","mcp-protocol-version":"2025-11-25"}
               < 405
               $POST
               c>s {"id":1,"method":"ping"}
               $JSON"#,
        ),
        (
            "http/unknown-event-id",
            NotObserved,
            r#"$SESSION
               > GET {"accept":"text/event-stream","mcp-session-id":"s1","mcp-protocol-version":"2025-11-25","last-event-id":"e"}"#,
        ),
        (
            "http/unknown-event-id",
            NotObserved,
            r#"$SESSION
               gap
               $POST
               c>s {"id":1,"method":"ping"}
               $STREAM
               s>c sse a {"id":1,"result":{}}
               > GET {"accept":"text/event-stream","mcp-session-id":"s1","mcp-protocol-version":"2025-11-25","last-event-id":"e"}"#,
        ),
        (
            "http/broadcast",
            Failed,
            r#"$SESSION
               > GET {"accept":"text/event-stream","mcp-session-id":"s1","mcp-protocol-version":"2025-11-25"}
               $STREAM
               s>c {"method":"notifications/resources/updated","params":{"uri":"a:b"}}
               $POST
               c>s {"id":1,"method":"ping"}
               $STREAM
               s>c {"method":"notifications/resources/updated","params":{"uri":"a:b"}}"#,
        ),
        (
            "http/broadcast",
            Passed,
            r#"$SESSION
               > GET {"accept":"text/event-stream","mcp-session-id":"s1","mcp-protocol-version":"2025-11-25"}
               $STREAM
               s>c {"method":"notifications/tools/list_changed"}
               s>c {"method":"notifications/tools/list_changed"}"#,
        ),
        (
            "http/broadcast",
            Passed,
            r#"$SESSION
               > GET {"accept":"text/event-stream","mcp-session-id":"s1","mcp-protocol-version":"2025-11-25"}
               $STREAM
               @1000 s>c {"method":"notifications/tools/list_changed"}
               $POST
               c>s {"id":1,"method":"ping"}
               $STREAM
               @2000 s>c {"method":"notifications/tools/list_changed"}"#,
        ),
    ]);
}

#[test]
fn requests_and_their_responses() {
    check(&[
        ("lifecycle/not-initialized", Failed, r#"c>s {"method":"notifications/initialized"}"#),
        (
            "lifecycle/initialized-missing",
            NotObserved,
            r#"c>s {"id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"c","version":"1"}}}
               s>c {"id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}
               s>c {"id":1,"method":"roots/list"}"#,
        ),
        (
            "lifecycle/initialized-missing",
            NotObserved,
            r#"c>s {"id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{"listChanged":true}},"clientInfo":{"name":"c","version":"1"}}}
               s>c {"id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}
               c>s {"method":"notifications/roots/list_changed"}"#,
        ),
        (
            "pairing/duplicate-response",
            Passed,
            r#"hello 2025-11-25 {} | {}
               c>s {"id":1,"method":"ping"}
               s>c {"id":1,"result":{}}
               gap
               s>c {"id":1,"result":{}}"#,
        ),
        (
            "pairing/duplicate-response",
            Failed,
            r#"hello 2025-11-25 {} | {}
               gap
               c>s {"id":1,"method":"ping"}
               s>c {"id":1,"result":{}}
               s>c {"id":1,"result":{}}"#,
        ),
        (
            "pairing/cancel-unknown",
            Passed,
            r#"hello 2025-11-25 {} | {}
               c>s {"id":1,"method":"ping"}
               s>c {"id":1,"result":{}}
               gap
               c>s {"method":"notifications/cancelled","params":{"requestId":1}}"#,
        ),
        (
            "pairing/cancel-unknown",
            Passed,
            r#"hello 2025-11-25 {} | {}
               c>s {"id":1,"method":"ping"}
               s>c {"id":1,"result":{}}
               c>s {"id":1,"method":"ping"}
               c>s {"method":"notifications/cancelled","params":{"requestId":1}}"#,
        ),
        (
            "pairing/unanswered",
            Passed,
            r#"c>s {"id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},$META}}
               c>s {"id":2,"method":"tools/list","params":{$META}}
               s>c {"id":2,"result":{$DONE,"tools":[],"ttlMs":0,"cacheScope":"private"}}"#,
        ),
        (
            "pairing/unanswered",
            Failed,
            r#"@0 c>s {"id":1,"method":"ping"}
               @10000 close"#,
        ),
        (
            "method/ping-result",
            Passed,
            r#"hello 2025-11-25 {} | {}
               c>s {"id":1,"method":"ping"}
               s>c {"id":1,"result":{"_meta":{"a":1}}}"#,
        ),
        (
            "method/declared-refused",
            Failed,
            r#"hello 2025-11-25 {} | {"tools":{}}
               c>s {"id":1,"method":"tools/list"}
               s>c {"id":1,"error":{"code":-32601,"message":"?"}}"#,
        ),
        (
            "method/declared-refused",
            NotObserved,
            r#"hello 2025-11-25 {} | {}
               c>s {"id":1,"method":"tools/list"}
               s>c {"id":1,"error":{"code":-32601,"message":"?"}}"#,
        ),
        (
            "method/declared-refused",
            NotObserved,
            r#"hello 2025-11-25 {} | {"tools":{}}
               c>s {"id":1,"method":"tools/call","params":{"name":"t","task":{}}}
               s>c {"id":1,"result":{"content":[]}}"#,
        ),
        (
            "era/unsolicited",
            Passed,
            r#"c>s {"id":1,"method":"tools/list","params":{$META}}
               s>c {"id":1,"result":{$DONE,"tools":[],"ttlMs":0,"cacheScope":"private"}}
               gap
               s>c {"method":"notifications/tools/list_changed","params":{$SUBSCRIPTION}}"#,
        ),
    ]);
}

#[test]
fn progress_and_cancellation() {
    check(&[
        (
            "progress/after-end",
            Failed,
            r#"hello 2025-11-25 {} | {"tools":{}}
               c>s {"id":1,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":"p"}}}
               s>c {"id":1,"error":{"code":-32603,"message":"?"}}
               s>c {"method":"notifications/progress","params":{"progressToken":"p","progress":1}}"#,
        ),
        (
            "progress/after-end",
            Passed,
            r#"hello 2025-11-25 {} | {"tools":{},"tasks":{"requests":{"tools":{"call":{}}}}}
               c>s {"id":1,"method":"tools/call","params":{"name":"t","task":{},"_meta":{"progressToken":"p"}}}
               s>c {"id":1,"result":{"task":{"taskId":"a","status":"working","createdAt":"2025-11-25T10:00:00Z","lastUpdatedAt":"2025-11-25T10:00:00Z","ttl":null}}}
               s>c {"method":"notifications/progress","params":{"progressToken":"p","progress":1}}"#,
        ),
        (
            "progress/after-end",
            Passed,
            r#"$SESSION
               $POST
               c>s {"id":1,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":"p"}}}
               $STREAM
               s>c {"id":1,"result":{"content":[]}}
               > GET {"accept":"text/event-stream","mcp-session-id":"s1","mcp-protocol-version":"2025-11-25"}
               $STREAM
               s>c {"method":"notifications/progress","params":{"progressToken":"p","progress":1}}"#,
        ),
        (
            "progress/token-reused",
            Failed,
            r#"$SESSION
               $POST
               c>s {"id":1,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":"p"}}}
               $POST
               c>s {"id":2,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":"p"}}}"#,
        ),
        (
            "progress/token-reused",
            NotObserved,
            r#"> POST {$MODERN,"mcp-method":"tools/call","mcp-name":"t"}
               c>s {"id":1,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":"p",$MEMBERS,"io.modelcontextprotocol/clientCapabilities":{}}}}
               > POST {$MODERN,"mcp-method":"tools/call","mcp-name":"t"}
               c>s {"id":2,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":"p",$MEMBERS,"io.modelcontextprotocol/clientCapabilities":{}}}}"#,
        ),
        (
            "progress/token-reused",
            Failed,
            r#"c>s {"id":1,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":"p",$MEMBERS,"io.modelcontextprotocol/clientCapabilities":{}}}}
               c>s {"id":2,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":"p",$MEMBERS,"io.modelcontextprotocol/clientCapabilities":{}}}}"#,
        ),
        (
            "progress/token-reused",
            Passed,
            r#"hello 2025-11-25 {} | {"tools":{}}
               c>s {"id":1,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":"p"}}}
               gap
               c>s {"id":2,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":"p"}}}"#,
        ),
        (
            "progress/after-cancellation",
            Passed,
            r#"hello 2025-11-25 {} | {"tools":{}}
               c>s {"id":1,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":"p"}}}
               @1000 c>s {"method":"notifications/cancelled","params":{"requestId":1}}
               @1100 s>c {"method":"notifications/progress","params":{"progressToken":"p","progress":1}}"#,
        ),
        (
            "cancellation/answered",
            Passed,
            r#"hello 2025-11-25 {} | {"tools":{}}
               c>s {"id":1,"method":"tools/call","params":{"name":"t"}}
               @1000 c>s {"method":"notifications/cancelled","params":{"requestId":1}}
               @1100 s>c {"id":1,"result":{"content":[]}}"#,
        ),
        (
            "progress/after-end",
            Passed,
            r#"hello 2025-11-25 {} | {"tools":{}}
               c>s {"id":1,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":"p"}}}
               @1000 c>s {"method":"notifications/cancelled","params":{"requestId":1}}
               @1050 s>c {"id":1,"result":{"content":[]}}
               @1200 s>c {"method":"notifications/progress","params":{"progressToken":"p","progress":1}}"#,
        ),
    ]);
}

#[test]
fn log_messages_and_pages() {
    check(&[
        (
            "logging/unrequested",
            Failed,
            r#"c>s {"id":1,"method":"tools/call","params":{"name":"t","_meta":{"io.modelcontextprotocol/logLevel":"info",$MEMBERS,"io.modelcontextprotocol/clientCapabilities":{}}}}
               s>c {"id":1,"result":{$DONE,"content":[]}}
               c>s {"id":2,"method":"tools/call","params":{"name":"t",$META}}
               s>c {"method":"notifications/message","params":{"level":"info","data":"x"}}"#,
        ),
        (
            "logging/unrequested",
            NotObserved,
            r#"c>s {"id":2,"method":"tools/call","params":{"name":"t",$META}}
               gap
               s>c {"method":"notifications/message","params":{"level":"info","data":"x"}}"#,
        ),
        (
            "logging/unrequested",
            Failed,
            r#"> POST {$MODERN,"mcp-method":"tools/call","mcp-name":"t"}
               c>s {"id":1,"method":"tools/call","params":{"name":"t","_meta":{"io.modelcontextprotocol/logLevel":"info",$MEMBERS,"io.modelcontextprotocol/clientCapabilities":{}}}}
               > POST {$MODERN,"mcp-method":"tools/call","mcp-name":"t"}
               c>s {"id":2,"method":"tools/call","params":{"name":"t",$META}}
               $STREAM
               s>c {"method":"notifications/message","params":{"level":"info","data":"x"}}"#,
        ),
        (
            "logging/below-level",
            NotObserved,
            r#"hello 2025-11-25 {} | {"tools":{},"logging":{}}
               c>s {"id":1,"method":"tools/list","params":{"level":"error"}}
               s>c {"id":1,"result":{"tools":[]}}
               s>c {"method":"notifications/message","params":{"level":"info","data":"x"}}"#,
        ),
        (
            "pagination/invented-cursor",
            NotObserved,
            r#"hello 2025-11-25 {} | {"tools":{}}
               c>s {"id":1,"method":"tools/list"}
               s>c {"id":1,"result":{"tools":[],"nextCursor":"$LARGE"}}
               c>s {"id":2,"method":"tools/list","params":{"cursor":"$LARGE"}}"#,
        ),
        (
            "pagination/invented-cursor",
            NotObserved,
            r#"> POST {$MODERN,"mcp-method":"tools/list"}
               c>s {"id":1,"method":"tools/list","params":{"cursor":"b",$META}}"#,
        ),
        ("pagination/invented-cursor", Failed, r#"c>s {"id":1,"method":"tools/list","params":{"cursor":"b",$META}}"#),
        (
            "pagination/invented-cursor",
            Failed,
            r#"$SESSION
               $POST
               c>s {"id":1,"method":"tools/list","params":{"cursor":"b"}}"#,
        ),
        (
            "pagination/refusal-code",
            NotObserved,
            r#"hello 2025-11-25 {} | {"tools":{}}
               c>s {"id":1,"method":"tools/call","params":{"name":"t","cursor":"b"}}
               s>c {"id":1,"error":{"code":-32603,"message":"?"}}"#,
        ),
        (
            "pagination/refusal-code",
            NotObserved,
            r#"hello 2025-11-25 {} | {"tools":{}}
               gap
               c>s {"id":1,"method":"tools/list","params":{"cursor":"b"}}
               s>c {"id":1,"error":{"code":-32603,"message":"?"}}"#,
        ),
        (
            "pagination/refusal-code",
            NotObserved,
            r#"hello 2025-11-25 {} | {"tools":{}}
               c>s {"id":1,"method":"tools/list"}
               s>c {"id":1,"result":{"tools":[],"nextCursor":"a"}}
               c>s {"id":2,"method":"tools/list","params":{"cursor":"a"}}
               s>c {"id":2,"error":{"code":-32603,"message":"?"}}"#,
        ),
    ]);
}

#[test]
fn sampling_messages() {
    check(&[
        (
            "sampling/unbalanced",
            Failed,
            r#"c>s {"id":1,"method":"tools/call","params":{"name":"t","_meta":{$MEMBERS,"io.modelcontextprotocol/clientCapabilities":{"sampling":{"tools":{}}}}}}
               s>c {"id":1,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"sampling/createMessage","params":{"maxTokens":1,
                   "messages":[{"role":"assistant","content":{"type":"tool_use","id":"a","name":"t","input":{}}}]}}}}}"#,
        ),
        (
            "sampling/unbalanced",
            NotObserved,
            r#"c>s {"id":1,"method":"tools/call","params":{"name":"t","_meta":{$MEMBERS,"io.modelcontextprotocol/clientCapabilities":{"roots":{}}}}}
               s>c {"id":1,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list","params":{
                   "messages":[{"role":"assistant","content":{"type":"tool_use","id":"a","name":"t","input":{}}}]}}}}}"#,
        ),
        (
            "sampling/unbalanced",
            NotObserved,
            r#"hello 2025-11-25 {"sampling":{}} | {"tools":{}}
               c>s {"id":1,"method":"tools/call","params":{"name":"t"}}
               s>c {"id":1,"result":{"content":[],"inputRequests":{"a":{"method":"sampling/createMessage","params":{"maxTokens":1,
                   "messages":[{"role":"assistant","content":{"type":"tool_use","id":"a","name":"t","input":{}}}]}}}}}"#,
        ),
        (
            "sampling/unbalanced",
            Passed,
            r#"hello 2025-11-25 {"sampling":{}} | {}
               s>c {"id":1,"method":"sampling/createMessage","params":{"maxTokens":1,"messages":[
                   {"role":"assistant","content":{"type":"text","text":"x","id":"a","toolUseId":"b"}}]}}"#,
        ),
        (
            "sampling/tool-not-offered",
            NotObserved,
            r#"hello 2025-06-18 {"sampling":{}} | {}
               s>c {"id":1,"method":"sampling/createMessage","params":{"maxTokens":1,"messages":[]}}
               c>s {"id":1,"result":{"role":"assistant","model":"m","content":{"type":"tool_use","id":"a","name":"u","input":{}}}}"#,
        ),
        (
            "capability/sampling-tools",
            Failed,
            r#"hello 2025-11-25 {"sampling":{}} | {}
               s>c {"id":1,"method":"sampling/createMessage","params":{"maxTokens":1,"messages":[],"toolChoice":{"mode":"none"}}}"#,
        ),
        (
            "capability/sampling-tools",
            NotObserved,
            r#"hello 2025-06-18 {"sampling":{}} | {}
               s>c {"id":1,"method":"sampling/createMessage","params":{"maxTokens":1,"messages":[],"tools":[]}}"#,
        ),
        (
            "content/base64",
            Failed,
            r#"hello 2025-11-25 {"sampling":{}} | {}
               s>c {"id":1,"method":"sampling/createMessage","params":{"maxTokens":1,"messages":[
                   {"role":"user","content":{"type":"image","data":"!","mimeType":"image/png"}}]}}"#,
        ),
        (
            "content/base64",
            Failed,
            r#"hello 2025-11-25 {"sampling":{}} | {}
               s>c {"id":1,"method":"sampling/createMessage","params":{"maxTokens":1,"messages":[]}}
               c>s {"id":1,"result":{"role":"assistant","model":"m","content":{"type":"image","data":"!","mimeType":"image/png"}}}"#,
        ),
        (
            "content/base64",
            NotObserved,
            r#"hello 2025-11-25 {} | {"tools":{}}
               c>s {"id":1,"method":"tools/call","params":{"name":"t"}}
               s>c {"id":1,"result":{"content":[{"type":"text","text":"x","data":"!"}]}}"#,
        ),
    ]);
}

#[test]
fn capabilities_and_content() {
    check(&[
        (
            "capability/undeclared",
            Failed,
            r#"hello 2025-11-25 {} | {"tools":false}
               c>s {"id":1,"method":"tools/list"}"#,
        ),
        (
            "capability/undeclared",
            Failed,
            r#"hello 2025-11-25 {} | {"tools":null}
               c>s {"id":1,"method":"tools/list"}"#,
        ),
        (
            "capability/elicitation-mode",
            NotObserved,
            r#"hello 2025-11-25 {} | {}
               s>c {"id":1,"method":"elicitation/create","params":{"mode":"url","url":"https://a.example","elicitationId":"e","message":"m"}}"#,
        ),
        (
            "capability/elicitation-mode",
            Failed,
            r#"hello 2025-11-25 {"elicitation":{"url":{}}} | {}
               s>c {"id":1,"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}}}}"#,
        ),
        (
            "capability/extension-name",
            Failed,
            r#"c>s {"id":1,"method":"tools/list","params":{"_meta":{$MEMBERS,"io.modelcontextprotocol/clientCapabilities":{"extensions":{"com.example/-x":{}}}}}}"#,
        ),
        (
            "icons/scheme",
            Failed,
            r#"c>s {"id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1","icons":[{"src":"file:///x"}]}}}"#,
        ),
        (
            "icons/scheme",
            Failed,
            r#"c>s {"id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
               s>c {"id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1","icons":[{"src":"file:///x"}]}}}"#,
        ),
        (
            "icons/scheme",
            NotObserved,
            r#"hello 2025-11-25 {} | {"tools":{}}
               c>s {"id":1,"method":"tools/list","params":{"clientInfo":{"icons":[{"src":"file:///x"}]}}}"#,
        ),
        (
            "resources/uri",
            Failed,
            r#"hello 2025-11-25 {} | {"resources":{}}
               c>s {"id":1,"method":"resources/list"}
               s>c {"id":1,"result":{"resources":[{"uri":"a:b\u0001","name":"n"}]}}"#,
        ),
        (
            "meta/key-format",
            NotObserved,
            r#"hello 2025-03-26 {} | {"tools":{}}
               c>s {"id":1,"method":"tools/list","params":{"_meta":{"-":1}}}"#,
        ),
        (
            "meta/key-format",
            Passed,
            r#"hello 2025-06-18 {} | {"tools":{}}
               c>s {"id":1,"method":"tools/list","params":{"_meta":{"a.b/":1}}}"#,
        ),
        (
            "meta/trace-context",
            NotObserved,
            r#"hello 2025-11-25 {} | {"tools":{}}
               c>s {"id":1,"method":"tools/list","params":{"_meta":{"traceparent":"x"}}}"#,
        ),
        (
            "meta/trace-context",
            Failed,
            r#"c>s {"id":1,"method":"tools/list","params":{"_meta":{"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
                   $MEMBERS,"io.modelcontextprotocol/clientCapabilities":{}}}}"#,
        ),
    ]);
}

#[test]
fn the_modern_era() {
    check(&[
        (
            "era/unknown-result-type",
            Failed,
            r#"c>s {"id":1,"method":"tools/list","params":{"_meta":{$MEMBERS,"io.modelcontextprotocol/clientCapabilities":{"extensions":{}}}}}
               s>c {"id":1,"result":{"resultType":"other","tools":[]}}"#,
        ),
        (
            "era/retired-code",
            Failed,
            r#"c>s {"id":1,"method":"tools/call","params":{"name":"t",$META}}
               s>c {"id":1,"error":{"code":-32042,"message":"?"}}"#,
        ),
        (
            "era/undefined-code",
            Passed,
            r#"c>s {"id":1,"method":"tools/call","params":{"name":"t",$META}}
               s>c {"id":1,"error":{"code":-32042,"message":"?"}}"#,
        ),
        (
            "era/capability-error-data",
            Failed,
            r#"c>s {"id":1,"method":"tools/call","params":{"name":"t",$META}}
               s>c {"id":1,"error":{"code":-32021,"message":"?","data":{"requiredCapabilities":{}}}}"#,
        ),
        (
            "era/version-error-data",
            Failed,
            r#"c>s {"id":1,"method":"tools/list","params":{$META}}
               s>c {"id":1,"error":{"code":-32022,"message":"?","data":{"supported":[],"requested":"2026-07-28"}}}"#,
        ),
        (
            "era/version-error-data",
            Failed,
            r#"c>s {"id":1,"method":"tools/list","params":{$META}}
               s>c {"id":1,"error":{"code":-32022,"message":"?","data":{"supported":[1],"requested":"2026-07-28"}}}"#,
        ),
        (
            "era/version-error-data",
            Failed,
            r#"c>s {"id":1,"method":"tools/list","params":{$META}}
               s>c {"id":1,"error":{"code":-32022,"message":"?","data":{"supported":["2025-11-25"],"requested":"2026-01-01"}}}"#,
        ),
        (
            "era/version-error-data",
            Failed,
            r#"c>s {"id":1,"method":"tools/list","params":{$META}}
               s>c {"id":1,"error":{"code":-32022,"message":"?","data":{"supported":["2025-11-25"]}}}"#,
        ),
        (
            "era/version-error-data",
            Passed,
            r#"c>s {"id":1,"method":"tools/list","params":{$META}}
               s>c {"id":1,"error":{"code":-32022,"message":"?","data":{"supported":["2025-11-25"],"requested":"2026-07-28"}}}"#,
        ),
    ]);
}

#[test]
fn subscriptions() {
    check(&[
        (
            "subscriptions/after-end",
            Failed,
            r#"c>s {"id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},$META}}
               s>c {"id":1,"error":{"code":-32603,"message":"?"}}
               @100 s>c {"method":"notifications/subscriptions/acknowledged","params":{"notifications":{},$SUBSCRIPTION}}"#,
        ),
        (
            "subscriptions/acknowledged-more",
            Failed,
            r#"c>s {"id":1,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["a:b"]},$META}}
               s>c {"method":"notifications/subscriptions/acknowledged","params":{"notifications":{"resourceSubscriptions":["a:c"]},$SUBSCRIPTION}}"#,
        ),
        (
            "subscriptions/acknowledged-more",
            Passed,
            r#"c>s {"id":1,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["a:b","a:c"]},$META}}
               s>c {"method":"notifications/subscriptions/acknowledged","params":{"notifications":{"resourceSubscriptions":["a:c"]},$SUBSCRIPTION}}"#,
        ),
        (
            "subscriptions/server-cancelled",
            Passed,
            r#"c>s {"id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},$META}}
               s>c {"method":"notifications/cancelled","params":{"requestId":1}}"#,
        ),
        (
            "subscriptions/server-cancelled",
            NotObserved,
            r#"c>s {"id":1,"method":"tools/list","params":{$META}}
               gap
               s>c {"method":"notifications/cancelled","params":{"requestId":7}}"#,
        ),
        (
            "subscriptions/server-cancelled",
            NotObserved,
            r#"c>s {"id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},$META}}
               c>s {"method":"notifications/cancelled","params":{"requestId":1}}"#,
        ),
        (
            "subscriptions/unknown-id",
            NotObserved,
            r#"c>s {"id":7,"method":"tools/list","params":{$META}}
               gap
               s>c {"method":"notifications/tools/list_changed","params":{$SUBSCRIPTION}}"#,
        ),
        (
            "subscriptions/result-id",
            Passed,
            r#"c>s {"id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},$META}}
               s>c {"id":1,"result":{$DONE}}"#,
        ),
        (
            "subscriptions/acknowledged-first",
            Failed,
            r#"c>s {"id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},$META}}
               s>c {"id":1,"result":{$DONE,$SUBSCRIPTION}}"#,
        ),
        (
            "subscriptions/acknowledged-first",
            Passed,
            r#"c>s {"id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},$META}}
               gap
               s>c {"method":"notifications/tools/list_changed","params":{$SUBSCRIPTION}}
               s>c {"id":1,"result":{$DONE,$SUBSCRIPTION}}"#,
        ),
        (
            "subscriptions/acknowledged-first",
            Passed,
            r#"c>s {"id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},$META}}
               s>c {"method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true},$SUBSCRIPTION}}
               s>c {"id":1,"result":{$DONE,$SUBSCRIPTION}}"#,
        ),
    ]);
}

#[test]
fn elicitation() {
    check(&[
        (
            "elicitation/insecure-url",
            Passed,
            r#"hello 2025-11-25 {"elicitation":{"url":{}}} | {}
               s>c {"id":1,"method":"elicitation/create","params":{"mode":"url","url":"http://127.0.0.1/x","elicitationId":"e","message":"m"}}
               s>c {"id":2,"method":"elicitation/create","params":{"mode":"url","url":"http://[::1]/x","elicitationId":"f","message":"m"}}
               s>c {"id":3,"method":"elicitation/create","params":{"mode":"url","url":"http://localhost/x","elicitationId":"g","message":"m"}}"#,
        ),
        (
            "elicitation/content",
            NotObserved,
            r#"hello 2025-11-25 {"elicitation":{}} | {}
               s>c {"id":1,"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{},"required":["n"]}}}
               c>s {"id":1,"result":{"action":"decline"}}"#,
        ),
        (
            "elicitation/required-data",
            NotObserved,
            r#"hello 2025-06-18 {"elicitation":{}} | {"tools":{}}
               c>s {"id":1,"method":"tools/call","params":{"name":"t"}}
               s>c {"id":1,"error":{"code":-32042,"message":"?"}}"#,
        ),
        (
            "elicitation/required-data",
            NotObserved,
            r#"c>s {"id":1,"method":"tools/call","params":{"name":"t",$META}}
               s>c {"id":1,"error":{"code":-32042,"message":"?"}}"#,
        ),
        (
            "elicitation/required-data",
            Failed,
            r#"hello 2025-11-25 {"elicitation":{"url":{}}} | {"tools":{}}
               c>s {"id":1,"method":"tools/call","params":{"name":"t"}}
               s>c {"id":1,"error":{"code":-32042,"message":"?","data":{"elicitations":[
                   {"mode":"form","url":"https://a.example","elicitationId":"e","message":"m"}]}}}"#,
        ),
        (
            "elicitation/required-data",
            Failed,
            r#"hello 2025-11-25 {"elicitation":{"url":{}}} | {"tools":{}}
               c>s {"id":1,"method":"tools/call","params":{"name":"t"}}
               s>c {"id":1,"error":{"code":-32042,"message":"?","data":{"elicitations":[
                   {"mode":"url","url":"https://a.example","elicitationId":"e","message":"m"},
                   {"mode":"url","url":"https://a.example","message":"m"}]}}}"#,
        ),
        (
            "elicitation/unknown-id",
            NotObserved,
            r#"hello 2025-11-25 {"elicitation":{"url":{}}} | {}
               gap
               s>c {"method":"notifications/elicitation/complete","params":{"elicitationId":"e"}}"#,
        ),
        (
            "elicitation/unknown-id",
            Passed,
            r#"hello 2025-11-25 {"elicitation":{"url":{}}} | {}
               s>c {"id":1,"method":"elicitation/create","params":{"mode":"url","url":"https://a.example","elicitationId":"e","message":"m"}}
               s>c {"method":"notifications/elicitation/complete","params":{"elicitationId":"e"}}"#,
        ),
        (
            "elicitation/url",
            NotObserved,
            r#"c>s {"id":1,"method":"tools/call","params":{"name":"t","_meta":{$MEMBERS,"io.modelcontextprotocol/clientCapabilities":{"roots":{}}}}}
               s>c {"id":1,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list","params":{"mode":"url","url":"?"}}}}}"#,
        ),
    ]);
}

/// A call that the server answers with these requests of inputs, and the inputs with which the client calls again.
fn round(requests: &str, inputs: &str) -> String {
    let capabilities = r#""io.modelcontextprotocol/clientCapabilities":{"sampling":{},"roots":{},"elicitation":{}}"#;
    format!(
        r#"c>s {{"id":1,"method":"tools/call","params":{{"name":"t","_meta":{{$MEMBERS,{capabilities}}}}}}}
           s>c {{"id":1,"result":{{"resultType":"input_required",{requests}}}}}
           c>s {{"id":2,"method":"tools/call","params":{{"name":"t",{inputs},"_meta":{{$MEMBERS,{capabilities}}}}}}}"#
    )
}

#[test]
fn inputs_fit_what_was_asked() {
    let sampling =
        r#""inputRequests":{"a":{"method":"sampling/createMessage","params":{"maxTokens":1,"messages":[]}}}"#;
    let roots = r#""inputRequests":{"a":{"method":"roots/list"}}"#;
    for (requests, input, expected) in [
        (sampling, r#"{"role":"assistant","model":"m","content":{"type":"text","text":"x"}}"#, Passed),
        (sampling, r#"{"model":"m","content":{"type":"text","text":"x"}}"#, Failed),
        (sampling, r#"{"role":"assistant","content":{"type":"text","text":"x"}}"#, Failed),
        (sampling, r#"{"role":"assistant","model":"m"}"#, Failed),
        (roots, r#"{"roots":[]}"#, Passed),
        (roots, r#"{"roots":{}}"#, Failed),
        (roots, "{}", Failed),
    ] {
        let script = round(requests, &format!(r#""inputResponses":{{"a":{input}}}"#));
        assert_eq!(verdict("input/wrong-kind", &script), expected, "{input}");
    }
    let tools = r#""inputRequests":{"a":{"method":"sampling/createMessage","params":{"maxTokens":1,"messages":[],"tools":[]}}}"#;
    assert_eq!(verdict("input/undeclared", &round(tools, r#""x":1"#)), Failed, "sampling.tools is not declared");
    assert_eq!(verdict("input/undeclared", &round(sampling, r#""x":1"#)), Passed);
}

#[test]
fn states_come_back_as_they_were_sent() {
    let asks = r#""inputRequests":{"a":{"method":"roots/list"}}"#;
    let answer = r#""inputResponses":{"a":{"roots":[]}}"#;
    for (state, returned, expected) in [
        (r#""requestState":"s","#, r#""requestState":"s","#, Passed),
        (r#""requestState":"s","#, r#""requestState":"t","#, Failed),
        (r#""requestState":"s","#, "", Failed),
        ("", r#""requestState":"s","#, Failed),
        ("", "", Passed),
    ] {
        let script = round(&format!("{state}{asks}"), &format!("{returned}{answer}"));
        assert_eq!(verdict("input/state", &script), expected, "{state} {returned}");
    }
    assert_eq!(verdict("input/empty", &round(r#""requestState":7"#, r#""x":1"#)), Failed, "a state is a text");
    assert_eq!(verdict("input/empty", &round(r#""requestState":"s""#, r#""x":1"#)), Passed);
    let once = round(&format!(r#""requestState":"s",{asks}"#), &format!(r#""requestState":"s",{answer}"#));
    let again = once.lines().last().unwrap_or_default().replace(r#""id":2"#, r#""id":3"#);
    assert_eq!(verdict("input/state-reused", &format!("{once}\n{again}")), Failed);
}

#[test]
fn rounds_of_input() {
    check(&[
        (
            "input/method",
            Passed,
            r#"c>s {"id":1,"method":"prompts/get","params":{"name":"p",$META}}
               s>c {"id":1,"result":{"resultType":"input_required","requestState":"s"}}"#,
        ),
        (
            "input/unasked",
            Failed,
            r#"c>s {"id":1,"method":"tools/call","params":{"name":"t","inputResponses":{"a":{"roots":[]}},$META}}"#,
        ),
        (
            "input/unasked",
            NotObserved,
            r#"c>s {"id":7,"method":"tools/list","params":{$META}}
               gap
               c>s {"id":1,"method":"tools/call","params":{"name":"t","inputResponses":{"a":{"roots":[]}},$META}}"#,
        ),
        (
            "input/unasked",
            NotObserved,
            r#"> POST {$MODERN,"mcp-method":"tools/call","mcp-name":"t"}
               c>s {"id":1,"method":"tools/call","params":{"name":"t","inputResponses":{"a":{"roots":[]}},$META}}"#,
        ),
        // Two calls of one tool wait for input. Each continues with its own state.
        (
            "input/changed-request",
            Passed,
            r#"c>s {"id":1,"method":"tools/call","params":{"name":"t","arguments":{"n":1},$META}}
               s>c {"id":1,"result":{"resultType":"input_required","requestState":"s"}}
               c>s {"id":2,"method":"tools/call","params":{"name":"t","arguments":{"n":2},$META}}
               s>c {"id":2,"result":{"resultType":"input_required","requestState":"u"}}
               c>s {"id":3,"method":"tools/call","params":{"name":"t","arguments":{"n":1},"requestState":"s",$META}}
               c>s {"id":4,"method":"tools/call","params":{"name":"t","arguments":{"n":2},"requestState":"u",$META}}"#,
        ),
        (
            "input/other-request",
            Failed,
            r#"c>s {"id":1,"method":"tools/call","params":{"name":"t",$META}}
               s>c {"id":1,"result":{"resultType":"input_required","requestState":"s"}}
               c>s {"id":3,"method":"tools/call","params":{"name":"u","requestState":"s",$META}}"#,
        ),
    ]);
}

/// A session of a server that works on tasks, with a task.
const TASK: &str = r#"hello 2025-11-25 {} | {"tools":{},"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}}
    c>s {"id":1,"method":"tools/call","params":{"name":"t","task":{}}}
    @1000 s>c {"id":1,"result":{"task":{"taskId":"a","status":"working","createdAt":"2025-11-25T10:00:00Z","lastUpdatedAt":"2025-11-25T10:00:00Z","ttl":0,"pollInterval":1000}}}"#;
/// A notification about it; `STATUS` stands for its status.
const STATUS: &str = r#"s>c {"method":"notifications/tasks/status","params":{"taskId":"a","status":"STATUS","createdAt":"2025-11-25T10:00:00Z","lastUpdatedAt":"2025-11-25T10:00:00Z","ttl":0}}"#;
/// Its state as a result.
const STATE: &str = r#""result":{"taskId":"a","status":"STATUS","createdAt":"2025-11-25T10:00:00Z","lastUpdatedAt":"2025-11-25T10:00:00Z","ttl":0}"#;

#[test]
fn tasks() {
    let rows: &[Near] = &[
        ("tasks/duration", Passed, "$TASK"),
        (
            "tasks/poll-interval",
            NotObserved,
            "$TASK\n@1001 c>s {\"id\":2,\"method\":\"tasks/result\",\"params\":{\"taskId\":\"a\"}}",
        ),
        (
            "tasks/poll-interval",
            Passed,
            "$TASK\n@1900 c>s {\"id\":2,\"method\":\"tasks/get\",\"params\":{\"taskId\":\"a\"}}",
        ),
        (
            "tasks/poll-interval",
            Failed,
            "$TASK\n@1899 c>s {\"id\":2,\"method\":\"tasks/get\",\"params\":{\"taskId\":\"a\"}}",
        ),
        (
            "tasks/related-unknown",
            Failed,
            r#"$TASK
               s>c {"method":"notifications/message","params":{"level":"info","data":"x","_meta":{"io.modelcontextprotocol/related-task":{"taskId":"b"}}}}"#,
        ),
        (
            "tasks/related-unknown",
            Passed,
            r#"$TASK
               s>c {"method":"notifications/message","params":{"level":"info","data":"x","_meta":{"io.modelcontextprotocol/related-task":{"taskId":"a"}}}}"#,
        ),
        (
            "tasks/related-unknown",
            NotObserved,
            r#"$TASK
               gap
               s>c {"method":"notifications/message","params":{"level":"info","data":"x","_meta":{"io.modelcontextprotocol/related-task":{"taskId":"b"}}}}"#,
        ),
        (
            "tasks/related-superfluous",
            Failed,
            r#"$TASK
               c>s {"id":2,"method":"tasks/get","params":{"taskId":"a","_meta":{"io.modelcontextprotocol/related-task":{"taskId":"a"}}}}"#,
        ),
        (
            "tasks/related-superfluous",
            Failed,
            r#"$TASK
               s>c {"method":"notifications/tasks/status","params":{"taskId":"a","status":"working","_meta":{"io.modelcontextprotocol/related-task":{"taskId":"a"}}}}"#,
        ),
        (
            "tasks/cancel-finished",
            Failed,
            r#"$TASK
               $IS(completed)
               c>s {"id":2,"method":"tasks/cancel","params":{"taskId":"a"}}
               s>c {"id":2,$STATE(cancelled)}"#,
        ),
        // The task ended while the request was on its way.
        (
            "tasks/cancel-finished",
            Passed,
            r#"$TASK
               c>s {"id":2,"method":"tasks/cancel","params":{"taskId":"a"}}
               $IS(completed)
               s>c {"id":2,$STATE(cancelled)}"#,
        ),
        (
            "tasks/cancel-finished",
            Failed,
            r#"$TASK
               $IS(completed)
               c>s {"id":2,"method":"tasks/cancel","params":{"taskId":"a"}}
               s>c {"id":2,"error":{"code":-32603,"message":"?"}}"#,
        ),
        (
            "tasks/cancel-finished",
            Passed,
            r#"$TASK
               $IS(completed)
               c>s {"id":2,"method":"tasks/cancel","params":{"taskId":"a"}}
               s>c {"id":2,"error":{"code":-32602,"message":"?"}}"#,
        ),
        (
            "tasks/cancel-finished",
            NotObserved,
            r#"$TASK
               c>s {"id":2,"method":"tasks/cancel","params":{"taskId":"a"}}
               $IS(completed)
               s>c {"id":2,"error":{"code":-32603,"message":"?"}}"#,
        ),
        (
            "tasks/cancel-finished",
            NotObserved,
            r#"$TASK
               $IS(completed)
               c>s {"id":2,"method":"tasks/get","params":{"taskId":"a"}}
               s>c {"id":2,"error":{"code":-32603,"message":"?"}}"#,
        ),
        // The answer was on its way when the task ended.
        (
            "tasks/transition",
            Passed,
            r#"$TASK
               c>s {"id":2,"method":"tasks/get","params":{"taskId":"a"}}
               $IS(completed)
               s>c {"id":2,$STATE(working)}"#,
        ),
        (
            "tasks/transition",
            Failed,
            r#"$TASK
               $IS(completed)
               c>s {"id":2,"method":"tasks/get","params":{"taskId":"a"}}
               s>c {"id":2,$STATE(working)}"#,
        ),
        (
            "tasks/transition",
            Failed,
            r#"$TASK
               $IS(completed)
               $IS(failed)"#,
        ),
        (
            "tasks/early-result",
            Failed,
            r#"$TASK
               c>s {"id":2,"method":"tasks/result","params":{"taskId":"a"}}
               s>c {"id":2,"result":{"content":[],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"a"}}}}
               $IS(working)"#,
        ),
        (
            "tasks/early-result",
            Passed,
            r#"$TASK
               c>s {"id":2,"method":"tasks/result","params":{"taskId":"a"}}
               s>c {"id":2,"result":{"content":[],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"a"}}}}
               $IS(completed)"#,
        ),
        (
            "tasks/unrequested",
            Passed,
            r#"hello 2025-11-25 {} | {"tools":{}}
               c>s {"id":1,"method":"tools/call","params":{"name":"t"}}
               s>c {"id":1,"result":{"content":[],"task":{"taskId":"x"}}}"#,
        ),
        (
            "tasks/not-created",
            NotObserved,
            r#"hello 2025-11-25 {} | {"tools":{}}
               c>s {"id":1,"method":"tools/call","params":{"name":"t","task":{}}}
               s>c {"id":1,"result":{"content":[]}}"#,
        ),
        (
            "tasks/not-created",
            Failed,
            r#"hello 2025-11-25 {"sampling":{},"tasks":{"requests":{"sampling":{"createMessage":{}}}}} | {}
               s>c {"id":1,"method":"sampling/createMessage","params":{"maxTokens":1,"messages":[],"task":{}}}
               c>s {"id":1,"result":{"role":"assistant","model":"m","content":{"type":"text","text":"x"}}}"#,
        ),
        (
            "tasks/not-created",
            NotObserved,
            r#"hello 2025-11-25 {"sampling":{}} | {}
               s>c {"id":1,"method":"sampling/createMessage","params":{"maxTokens":1,"messages":[],"task":{}}}
               c>s {"id":1,"result":{"role":"assistant","model":"m","content":{"type":"text","text":"x"}}}"#,
        ),
        (
            "tasks/not-created",
            Failed,
            r#"hello 2025-11-25 {"elicitation":{},"tasks":{"requests":{"elicitation":{"create":{}}}}} | {}
               s>c {"id":1,"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}},"task":{}}}
               c>s {"id":1,"result":{"action":"accept","content":{}}}"#,
        ),
        (
            "tasks/not-created",
            NotObserved,
            r#"hello 2025-11-25 {"elicitation":{}} | {}
               s>c {"id":1,"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}},"task":{}}}
               c>s {"id":1,"result":{"action":"accept","content":{}}}"#,
        ),
    ];
    for (rule, expected, script) in rows {
        let mut text = script.replace("$TASK", TASK);
        for status in ["working", "completed", "failed", "cancelled"] {
            text = text.replace(&format!("$IS({status})"), &STATUS.replace("STATUS", status));
            text = text.replace(&format!("$STATE({status})"), &STATE.replace("STATUS", status));
        }
        assert_eq!(verdict(rule, &text), *expected, "{rule}: {script}");
    }
}

/// A server with this tool that works on tasks, and what follows.
fn listed(tool: &str, rest: &str) -> String {
    format!(
        r#"hello 2025-11-25 {{}} | {{"tools":{{"listChanged":true}},"tasks":{{"requests":{{"tools":{{"call":{{}}}}}}}}}}
           c>s {{"id":1,"method":"tools/list"}}
           s>c {{"id":1,"result":{{"tools":[{tool}]}}}}
           {rest}"#
    )
}

#[test]
fn tools_that_may_be_tasks() {
    let tool = |support: &str| {
        format!(r#"{{"name":"t","inputSchema":{{"type":"object"}},"execution":{{"taskSupport":"{support}"}}}}"#)
    };
    let plain = r#"c>s {"id":2,"method":"tools/call","params":{"name":"t"}}"#;
    let as_task = r#"c>s {"id":2,"method":"tools/call","params":{"name":"t","task":{}}}"#;
    let result = r#"s>c {"id":2,"result":{"content":[]}}"#;
    let error = r#"s>c {"id":2,"error":{"code":-32602,"message":"?"}}"#;
    for (rule, expected, support, rest) in [
        ("tools/task-forbidden", Passed, "optional", as_task.to_owned()),
        ("tools/task-forbidden", Passed, "optional", plain.to_owned()),
        ("tools/task-forbidden", Failed, "forbidden", as_task.to_owned()),
        ("tools/task-required", Passed, "required", as_task.to_owned()),
        ("tools/task-required", NotObserved, "optional", plain.to_owned()),
        ("tools/task-required-accepted", Failed, "required", format!("{plain}\n{error}")),
        ("tools/task-required-accepted", NotObserved, "required", format!("{as_task}\n{result}")),
        ("tools/task-required-accepted", NotObserved, "optional", format!("{plain}\n{error}")),
    ] {
        assert_eq!(verdict(rule, &listed(&tool(support), &rest)), expected, "{rule}: {support} {rest}");
    }
    // A server that works on no tasks makes no promises about them.
    let without =
        |rest: &str| listed(&tool("forbidden"), rest).replace(r#","tasks":{"requests":{"tools":{"call":{}}}}"#, "");
    assert_eq!(verdict("tools/task-forbidden", &without(as_task)), NotObserved);
    let required = listed(&tool("required"), &format!("{plain}\n{result}"));
    let undeclared = required.replace(r#","tasks":{"requests":{"tools":{"call":{}}}}"#, "");
    assert_eq!(verdict("tools/task-required-accepted", &required), Failed);
    assert_eq!(verdict("tools/task-required-accepted", &undeclared), NotObserved);
    assert_eq!(verdict("tools/task-required", &undeclared), NotObserved);
}

#[test]
fn tools_and_their_lists() {
    check(&[
        // The second page goes on with the list of the first one.
        (
            "tools/duplicate-name",
            Failed,
            r#"hello 2025-11-25 {} | {"tools":{}}
               c>s {"id":1,"method":"tools/list"}
               s>c {"id":1,"result":{"tools":[{"name":"t","inputSchema":{"type":"object"}}],"nextCursor":"a"}}
               c>s {"id":2,"method":"tools/list","params":{"cursor":"a"}}
               s>c {"id":2,"result":{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}}"#,
        ),
        (
            "tools/duplicate-name",
            Passed,
            r#"hello 2025-11-25 {} | {"tools":{}}
               c>s {"id":1,"method":"tools/list"}
               s>c {"id":1,"result":{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}}
               c>s {"id":2,"method":"tools/list"}
               s>c {"id":2,"result":{"tools":[{"name":"u","inputSchema":{"type":"object"}},{"name":"t","inputSchema":{"type":"object"}}]}}"#,
        ),
        // After a change, only the new list counts.
        (
            "tools/unknown-answered",
            Failed,
            r#"hello 2025-11-25 {} | {"tools":{"listChanged":true}}
               c>s {"id":1,"method":"tools/list"}
               s>c {"id":1,"result":{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}}
               s>c {"method":"notifications/tools/list_changed"}
               c>s {"id":2,"method":"tools/list"}
               s>c {"id":2,"result":{"tools":[]}}
               c>s {"id":3,"method":"tools/call","params":{"name":"t"}}
               s>c {"id":3,"result":{"content":[]}}"#,
        ),
        // The same list again is complete again.
        (
            "tools/unknown-answered",
            Failed,
            r#"hello 2025-11-25 {} | {"tools":{"listChanged":true}}
               c>s {"id":1,"method":"tools/list"}
               s>c {"id":1,"result":{"tools":[]}}
               s>c {"method":"notifications/tools/list_changed"}
               c>s {"id":2,"method":"tools/list"}
               s>c {"id":2,"result":{"tools":[]}}
               c>s {"id":3,"method":"tools/call","params":{"name":"t"}}
               s>c {"id":3,"result":{"content":[]}}"#,
        ),
        // A tool may be on the page that is missing.
        (
            "tools/unknown-answered",
            NotObserved,
            r#"hello 2025-11-25 {} | {"tools":{}}
               c>s {"id":1,"method":"tools/list"}
               s>c {"id":1,"result":{"tools":[]}}
               gap
               c>s {"id":3,"method":"tools/call","params":{"name":"t"}}
               s>c {"id":3,"result":{"content":[]}}"#,
        ),
        (
            "tools/unknown-answered",
            NotObserved,
            r#"c>s {"id":1,"method":"tools/list","params":{$META}}
               s>c {"id":1,"result":{$DONE,"tools":[],"ttlMs":0,"cacheScope":"private"}}
               c>s {"id":2,"method":"tools/call","params":{"name":"t",$META}}
               s>c {"id":2,"result":{"resultType":"input_required","requestState":"s"}}"#,
        ),
        // The second list has another schema for the tool.
        (
            "tools/arguments",
            Passed,
            r#"hello 2025-11-25 {} | {"tools":{"listChanged":true}}
               c>s {"id":1,"method":"tools/list"}
               s>c {"id":1,"result":{"tools":[{"name":"t","inputSchema":{"type":"object","required":["n"]}}]}}
               c>s {"id":2,"method":"tools/list"}
               s>c {"id":2,"result":{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}}
               c>s {"id":3,"method":"tools/call","params":{"name":"t"}}"#,
        ),
        (
            "tools/structured-missing",
            Failed,
            r#"hello 2025-11-25 {} | {"tools":{"listChanged":true}}
               c>s {"id":1,"method":"tools/list"}
               s>c {"id":1,"result":{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}}
               c>s {"id":2,"method":"tools/list"}
               s>c {"id":2,"result":{"tools":[{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}}]}}
               c>s {"id":3,"method":"tools/call","params":{"name":"t"}}
               s>c {"id":3,"result":{"content":[]}}"#,
        ),
        (
            "tools/structured-missing",
            NotObserved,
            r#"hello 2025-03-26 {} | {"tools":{}}
               c>s {"id":1,"method":"tools/list"}
               s>c {"id":1,"result":{"tools":[{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}}]}}
               c>s {"id":3,"method":"tools/call","params":{"name":"t"}}
               s>c {"id":3,"result":{"content":[]}}"#,
        ),
        (
            "tools/structured-text",
            Passed,
            r#"c>s {"id":1,"method":"tools/list","params":{$META}}
               s>c {"id":1,"result":{$DONE,"tools":[{"name":"t","inputSchema":{"type":"object"}}],"ttlMs":0,"cacheScope":"private"}}
               c>s {"id":2,"method":"tools/call","params":{"name":"t",$META}}
               s>c {"id":2,"result":{$DONE,"content":[{"type":"text","text":"hi"}],"structuredContent":"hi"}}"#,
        ),
        (
            "tools/name",
            NotObserved,
            r#"hello 2025-06-18 {} | {"tools":{}}
               c>s {"id":1,"method":"tools/list"}
               s>c {"id":1,"result":{"tools":[{"name":"two words","inputSchema":{"type":"object"}}]}}"#,
        ),
        (
            "tools/name",
            Failed,
            r#"hello 2025-11-25 {} | {"tools":{}}
               c>s {"id":1,"method":"tools/list"}
               s>c {"id":1,"result":{"tools":[{"name":"","inputSchema":{"type":"object"}}]}}"#,
        ),
    ]);
}

/// The limits of the specification belong to what is allowed.
#[test]
fn limits() {
    for (length, expected) in [(128, Passed), (129, Failed)] {
        let tool = format!(r#"{{"name":"{}","inputSchema":{{"type":"object"}}}}"#, "n".repeat(length));
        assert_eq!(verdict("tools/name", &listed(&tool, "")), expected, "{length}");
    }
    for (count, expected) in [(100, Passed), (101, Failed)] {
        let values = vec![r#""v""#; count].join(",");
        let script = format!(
            r#"hello 2025-11-25 {{}} | {{"completions":{{}}}}
               c>s {{"id":1,"method":"completion/complete","params":{{"ref":{{"type":"ref/prompt","name":"p"}},"argument":{{"name":"a","value":""}}}}}}
               s>c {{"id":1,"result":{{"completion":{{"values":[{values}]}}}}}}"#
        );
        assert_eq!(verdict("completion/too-many", &script), expected, "{count}");
    }
}

/// What does not fit into a table was not observed, whatever else was.
#[test]
fn more_than_is_remembered() {
    let many = |count: usize, item: &dyn Fn(usize) -> String| (0..count).map(item).collect::<Vec<_>>().join(",");
    for (count, expected) in [(1024, Passed), (1025, NotObserved)] {
        let tools = many(count, &|at| format!(r#"{{"name":"t{at}","inputSchema":{{"type":"object"}}}}"#));
        let call = r#"c>s {"id":2,"method":"tools/call","params":{"name":"t1"}}"#;
        for rule in ["tools/duplicate-name", "tools/arguments"] {
            assert_eq!(verdict(rule, &listed(&tools, call)), expected, "{rule}: {count}");
        }
    }
    for (count, used, expected) in
        [(256, "t1", Passed), (256, "u", Failed), (257, "t1", Passed), (257, "t256", NotObserved)]
    {
        let tools = many(count, &|at| format!(r#"{{"name":"t{at}","inputSchema":{{"type":"object"}}}}"#));
        let script = format!(
            r#"hello 2025-11-25 {{"sampling":{{"tools":{{}}}}}} | {{}}
               s>c {{"id":1,"method":"sampling/createMessage","params":{{"maxTokens":1,"messages":[],"tools":[{tools}]}}}}
               c>s {{"id":1,"result":{{"role":"assistant","model":"m","content":{{"type":"tool_use","id":"a","name":"{used}","input":{{}}}}}}}}"#
        );
        assert_eq!(verdict("sampling/tool-not-offered", &script), expected, "{count} {used}");
    }
    for (count, used, expected) in [(256, 1, Passed), (256, 256, Failed), (257, 1, Passed), (257, 256, NotObserved)] {
        let uris = many(count, &|at| format!(r#""a:{at}/""#));
        let notifications = |uris: &str| format!(r#""notifications":{{"resourceSubscriptions":[{uris}]}}"#);
        let script = format!(
            r#"c>s {{"id":1,"method":"subscriptions/listen","params":{{{},$META}}}}
               s>c {{"method":"notifications/subscriptions/acknowledged","params":{{{},$SUBSCRIPTION}}}}
               s>c {{"method":"notifications/resources/updated","params":{{"uri":"a:{used}/",$SUBSCRIPTION}}}}"#,
            notifications(&uris),
            notifications(&format!(r#""a:{used}/""#))
        );
        for rule in ["subscriptions/acknowledged-more", "subscriptions/unrequested"] {
            assert_eq!(verdict(rule, &script), expected, "{rule}: {count} {used}");
        }
    }
    for (count, expected) in [(63, Failed), (64, NotObserved)] {
        let requests = many(count, &|at| format!(r#""k{at}":{{"method":"roots/list"}}"#));
        let inputs = many(count + 1, &|at| format!(r#""k{at}":{{"roots":[]}}"#));
        let script = round(&format!(r#""inputRequests":{{{requests}}}"#), &format!(r#""inputResponses":{{{inputs}}}"#));
        assert_eq!(verdict("input/unasked", &script), expected, "{count}");
    }
}

#[test]
fn messages_that_are_hard_to_place() {
    check(&[
        ("envelope/error-object", Failed, r#"s>c {"id":1,"error":{"code":1}}"#),
        ("envelope/missing-id", Passed, r#"s>c {"error":{"code":-32603,"message":"?"}}"#),
        (
            "pairing/unanswered",
            Passed,
            r#"$SESSION
               $POST
               c>s {"id":1,"method":"ping"}
               < 400
               $POST
               c>s {"id":2,"method":"ping"}
               $JSON
               s>c {"id":2,"result":{}}"#,
        ),
        (
            "pairing/unanswered",
            Passed,
            r#"hello 2025-11-25 {} | {}
               c>s {"id":1,"method":"ping"}
               gap
               c>s {"id":2,"method":"ping"}
               s>c {"id":2,"result":{}}"#,
        ),
        (
            "cancellation/never-issued",
            NotObserved,
            r#"$SESSION
               $POST
               c>s {"id":1,"method":"ping"}
               < 500
               $POST
               c>s {"method":"notifications/cancelled","params":{"requestId":1}}"#,
        ),
        (
            "cancellation/never-issued",
            Passed,
            r#"hello 2025-11-25 {} | {}
               gap
               c>s {"id":1,"method":"ping"}
               c>s {"method":"notifications/cancelled","params":{"requestId":1}}"#,
        ),
        (
            "lifecycle/initialized-missing",
            NotObserved,
            r#"c>s {"id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
               s>c {"id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}
               gap
               c>s {"id":2,"method":"tools/list"}"#,
        ),
        (
            "method/not-in-revision",
            Failed,
            r#"c>s {"id":1,"method":"subscriptions/listen","params":{"notifications":{}}}"#,
        ),
        (
            "method/not-in-revision",
            Passed,
            r#"gap
               c>s {"id":1,"method":"subscriptions/listen","params":{"notifications":{}}}"#,
        ),
        (
            "method/ping-refused",
            NotObserved,
            r#"c>s {"id":1,"method":"ping","params":{$META}}
               s>c {"id":1,"error":{"code":-32601,"message":"?"}}"#,
        ),
        // The client takes tasks of the server, not the other way round.
        (
            "method/declared-refused",
            NotObserved,
            r#"hello 2025-11-25 {"tasks":{"list":{}}} | {}
               c>s {"id":1,"method":"tasks/list"}
               s>c {"id":1,"error":{"code":-32601,"message":"?"}}"#,
        ),
        (
            "lifecycle/capability",
            NotObserved,
            r#"hello 2024-11-05 {} | {}
               c>s {"id":1,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}}}"#,
        ),
        (
            "lifecycle/capability",
            Failed,
            r#"hello 2025-03-26 {} | {}
               c>s {"id":1,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}}}"#,
        ),
        (
            "capability/list-changed",
            Failed,
            r#"c>s {"id":1,"method":"server/discover","params":{$META}}
               s>c {"id":1,"result":{$DONE,"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}}
               c>s {"id":2,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},$META}}
               s>c {"method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":2}}}"#,
        ),
        (
            "capability/extension-name",
            NotObserved,
            r#"hello 2025-11-25 {} | {"tools":{}}
               c>s {"id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/clientCapabilities":{"extensions":{"x":{}}}}}}"#,
        ),
        (
            "content/base64",
            NotObserved,
            r#"hello 2025-11-25 {} | {"tools":{}}
               c>s {"id":1,"method":"tools/list","params":{"messages":[{"role":"user","content":{"type":"image","data":"!","mimeType":"image/png"}}]}}"#,
        ),
        (
            "elicitation/url",
            NotObserved,
            r#"hello 2025-11-25 {} | {"tools":{}}
               c>s {"id":1,"method":"tools/call","params":{"name":"t"}}
               s>c {"id":1,"result":{"content":[],"inputRequests":{"a":{"method":"elicitation/create","params":{"mode":"url","url":"?"}}}}}"#,
        ),
        (
            "elicitation/unknown-id",
            Passed,
            r#"hello 2025-11-25 {"elicitation":{"url":{}}} | {}
               gap
               s>c {"id":1,"method":"elicitation/create","params":{"mode":"url","url":"https://a.example","elicitationId":"e","message":"m"}}
               s>c {"method":"notifications/elicitation/complete","params":{"elicitationId":"e"}}"#,
        ),
        (
            "input/undeclared",
            Failed,
            r#"c>s {"id":1,"method":"tools/call","params":{"name":"t",$META}}
               s>c {"id":1,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}}}}}}}"#,
        ),
        (
            "tools/unknown-answered",
            NotObserved,
            r#"hello 2025-11-25 {} | {"tools":{}}
               gap
               c>s {"id":1,"method":"tools/list"}
               s>c {"id":1,"result":{"tools":[]}}
               c>s {"id":2,"method":"tools/list"}
               s>c {"id":2,"result":{"tools":[]}}
               c>s {"id":3,"method":"tools/call","params":{"name":"t"}}
               s>c {"id":3,"result":{"content":[]}}"#,
        ),
        (
            "tools/unknown-answered",
            NotObserved,
            r#"hello 2025-11-25 {} | {"tools":{},"tasks":{"requests":{"tools":{"call":{}}}}}
               c>s {"id":1,"method":"tools/list"}
               s>c {"id":1,"result":{"tools":[]}}
               c>s {"id":3,"method":"tools/call","params":{"name":"t","task":{}}}
               s>c {"id":3,"result":{"task":{"taskId":"a","status":"working","createdAt":"2025-11-25T10:00:00Z","lastUpdatedAt":"2025-11-25T10:00:00Z","ttl":null}}}"#,
        ),
    ]);
}

/// The types of results that extensions define are theirs; no other text is one.
#[test]
fn types_of_results_with_extensions() {
    for (client, server, kind, expected) in [
        (r#"{"a.b/c":{}}"#, r#"{"a.b/c":{}}"#, "other", NotObserved),
        (r#"{"a.b/c":{}}"#, r#"{"a.b/c":{}}"#, "", Failed),
        (r#"{"a.b/c":{}}"#, r#"{"a.b/c":{}}"#, "complete", Passed),
        (r#"{"a.b/c":{}}"#, "{}", "other", Failed),
        ("{}", r#"{"a.b/c":{}}"#, "other", Failed),
    ] {
        let meta =
            format!(r#""_meta":{{$MEMBERS,"io.modelcontextprotocol/clientCapabilities":{{"extensions":{client}}}}}"#);
        let script = format!(
            r#"c>s {{"id":1,"method":"server/discover","params":{{{meta}}}}}
               s>c {{"id":1,"result":{{"supportedVersions":["2026-07-28"],"capabilities":{{"extensions":{server}}},"ttlMs":0,"cacheScope":"private"}}}}
               c>s {{"id":2,"method":"tools/call","params":{{"name":"t",{meta}}}}}
               s>c {{"id":2,"result":{{"resultType":"{kind}","content":[]}}}}"#
        );
        assert_eq!(verdict("era/unknown-result-type", &script), expected, "{client} {server} {kind}");
    }
}

#[test]
fn more_about_tasks() {
    let get = |id: u32| format!(r#"c>s {{"id":{id},"method":"tasks/get","params":{{"taskId":"a"}}}}"#);
    let got = |id: u32| format!(r#"s>c {{"id":{id},{}}}"#, STATE.replace("STATUS", "working"));
    let list = |id: u32| format!(r#"c>s {{"id":{id},"method":"tasks/list"}}"#);
    let listed = |id: u32, tasks: &str| format!(r#"s>c {{"id":{id},"result":{{"tasks":[{tasks}]}}}}"#);
    let state = STATE.replace("STATUS", "working");
    let task = state.strip_prefix(r#""result":"#).unwrap_or_default();
    for (lines, expected) in [
        (vec![get(2), got(2), list(3), listed(3, ""), get(4), got(4)], Failed),
        (vec![get(2), got(2), list(3), listed(3, task), get(4), got(4)], Passed),
        // The list was asked for before the task was found.
        (vec![get(2), list(3), got(2), listed(3, ""), get(4), got(4)], NotObserved),
        // The question was asked before the list came.
        (vec![get(2), got(2), list(3), get(4), listed(3, ""), got(4)], NotObserved),
        (vec![list(3), listed(3, ""), get(4), got(4)], NotObserved),
    ] {
        let script = format!("{TASK}\n{}", lines.join("\n"));
        assert_eq!(verdict("tasks/list-incomplete", &script), expected, "{lines:?}");
    }
    let call = format!(
        r#"{TASK}
        c>s {{"id":2,"method":"tools/call","params":{{"name":"t","taskId":"b"}}}}"#
    );
    assert_eq!(verdict("tasks/unknown-id", &call), NotObserved);
    let related = format!(
        r#"{TASK}
        gap
        s>c {{"method":"notifications/message","params":{{"level":"info","data":"x","_meta":{{"io.modelcontextprotocol/related-task":{{"taskId":"a"}}}}}}}}"#
    );
    assert_eq!(verdict("tasks/related-unknown", &related), Passed);
}

#[test]
fn more_about_http() {
    check(&[
        (
            "http/after-response",
            Passed,
            r#"$SESSION
               $POST
               c>s {"id":1,"method":"tools/list"}
               $STREAM
               s>c {"method":"notifications/message","params":{"level":"info","data":"x"}}
               s>c {"id":1,"result":{"tools":[]}}"#,
        ),
        (
            "http/accepted-status",
            Passed,
            r#"$SESSION
               $POST
               c>s {"method":"notifications/roots/list_changed"}
               < 404"#,
        ),
        (
            "http/accepted-body",
            NotObserved,
            r#"> POST {"accept":"application/json, text/event-stream"}
               c>s {"id":1,"method":"ping"}
               < 202 {"content-type":"application/json"}
               s>c {"id":1,"result":{}}"#,
        ),
        (
            "http/modern-version-missing",
            Passed,
            r#"> POST {$MODERN,"mcp-method":"tools/list"}
               c>s {"id":1,"method":"tools/list","params":{$META}}
               > POST {"accept":"application/json, text/event-stream"}
               c>s {"method":"notifications/cancelled","params":{"requestId":1,$META}}"#,
        ),
        (
            "http/contradiction-accepted",
            Failed,
            r#"> POST {$MODERN,"mcp-method":"tools/list"}
               c>s {"id":1,"method":"tools/list","params":{$META}}
               $JSON
               s>c {"id":1,"result":{$DONE,"ttlMs":0,"cacheScope":"private","tools":[{"name":"t","inputSchema":{"type":"object",
                   "properties":{"n":{"type":"integer","x-mcp-header":"N"}}}}]}}
               > POST {$MODERN,"mcp-method":"tools/call","mcp-name":"t","mcp-param-n":"5"}
               c>s {"id":2,"method":"tools/call","params":{"name":"t","arguments":{"n":null},$META}}
               $JSON
               s>c {"id":2,"result":{$DONE,"content":[]}}"#,
        ),
        (
            "http/superfluous-parameter-header",
            NotObserved,
            r#"> POST {$MODERN,"mcp-method":"tools/list"}
               c>s {"id":1,"method":"tools/list","params":{$META}}
               $JSON
               s>c {"id":1,"result":{$DONE,"ttlMs":0,"cacheScope":"private","tools":[{"name":"t","inputSchema":{"type":"object",
                   "properties":{"n":{"type":"integer","x-mcp-header":"N"}}}}]}}
               > POST {$MODERN,"mcp-method":"tools/call","mcp-name":"t","mcp-param-other":"5"}
               c>s {"id":2,"method":"tools/call","params":{"name":"t",$META}}"#,
        ),
        // Some sessions of this server have no id.
        (
            "http/session-id-missing",
            Passed,
            r#"$SESSION
               stream 1
               > POST {"accept":"application/json, text/event-stream"}
               c>s {"id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
               $JSON
               s>c {"id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}
               stream 2
               > POST {"accept":"application/json, text/event-stream","mcp-protocol-version":"2025-11-25"}
               c>s {"id":1,"method":"ping"}"#,
        ),
    ]);
}

/// A rule of another revision or transport does not apply. One that nothing exercised was not observed.
#[test]
fn rules_apply_to_revisions_and_transports() {
    use Verdict::NotApplicable;
    let legacy = "hello 2025-06-18 {} | {}";
    let modern = r#"c>s {"id":1,"method":"tools/list","params":{$META}}"#;
    let unknown_revision = r#"c>s {"id":1,"method":"initialize","params":{"protocolVersion":"2030-01-01","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
        s>c {"id":1,"result":{"protocolVersion":"one","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#;
    let old_transport = "> GET {}\n< 200\nendpoint /x\n> POST {}\nc>s {\"id\":1,\"method\":\"ping\"}";
    for (rule, expected, script) in [
        ("tasks/unrequested", NotApplicable, legacy),
        ("tasks/unrequested", NotObserved, "hello 2025-11-25 {} | {}"),
        ("tasks/unrequested", NotApplicable, modern),
        ("tasks/unrequested", NotObserved, unknown_revision),
        ("tasks/unrequested", NotObserved, "s>c started"),
        ("elicitation/url", NotObserved, legacy),
        ("elicitation/url", NotApplicable, "hello 2025-03-26 {} | {}"),
        ("elicitation/url", NotObserved, modern),
        ("era/retired-code", NotApplicable, legacy),
        ("era/retired-code", NotObserved, modern),
        ("era/retired-code", NotApplicable, unknown_revision),
        ("http/get-accept", NotApplicable, legacy),
        ("http/get-accept", NotObserved, "$SESSION"),
        ("http/get-accept", NotApplicable, old_transport),
    ] {
        let report = run(&expand(script));
        let verdicts: Vec<_> = report.connections.iter().flat_map(|it| it.verdicts.all()).collect();
        assert!(verdicts.contains(&(rule, expected)), "{rule} is not {expected:?}: {script}");
    }
}
