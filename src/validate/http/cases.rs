//! Sessions that break the rules about HTTP, and sessions that do not.

/// A session with an id, as far as `notifications/initialized`; scripts refer to it as `$SESSION`.
pub(in crate::validate) const SESSION: &str = r#"> POST {"accept":"application/json, text/event-stream"}
    c>s {"id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},
        "clientInfo":{"name":"c","version":"1"}}}
    < 200 {"content-type":"application/json","mcp-session-id":"s1"}
    s>c {"id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"logging":{}},
        "serverInfo":{"name":"s","version":"1"}}}
    > POST {"accept":"application/json, text/event-stream","mcp-session-id":"s1","mcp-protocol-version":"2025-11-25"}
    c>s {"method":"notifications/initialized"}
    < 202"#;

/// Headers of a request in that session.
macro_rules! named {
    ($($rest:literal),*) => {
        concat!(r#"{"accept":"application/json, text/event-stream","mcp-session-id":"s1","#,
            r#""mcp-protocol-version":"2025-11-25""#, $(",", $rest,)* "}")
    };
}

/// A request of the modern era with these headers beside its version, and the rest of its params.
macro_rules! modern {
    ($headers:literal, $method:literal, $params:literal) => {
        concat!(
            r#"> POST {"accept":"application/json, text/event-stream","mcp-protocol-version":"2026-07-28","#,
            $headers,
            "}\nc>s {\"id\":1,\"method\":\"",
            $method,
            "\",\"params\":{",
            $params,
            r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
            "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"c\",\"version\":\"1\"},",
            "\"io.modelcontextprotocol/clientCapabilities\":{}}}}\n"
        )
    };
}

/// A list of tools of which one marks an argument.
macro_rules! marked {
    ($rest:expr) => {
        concat!(
            modern!(r#""mcp-method":"tools/list""#, "tools/list", ""),
            "< 200 {\"content-type\":\"application/json\"}\n",
            r#"s>c {"id":1,"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[{"name":"t","#,
            r#""inputSchema":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}}}]}}"#,
            "\n",
            $rest
        )
    };
}

pub(in crate::validate) const CASES: &[(&str, &str)] = &[
    (
        "http/accept",
        r#"> POST {"accept":"application/json"}
           c>s {"id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},
               "clientInfo":{"name":"c","version":"1"}}}"#,
    ),
    (
        "http/get-accept",
        r#"$SESSION
           > GET {"accept":"application/json","mcp-session-id":"s1","mcp-protocol-version":"2025-11-25"}"#,
    ),
    (
        "http/version-missing",
        r#"$SESSION
           > POST {"accept":"application/json, text/event-stream","mcp-session-id":"s1"}
           c>s {"id":1,"method":"tools/list"}"#,
    ),
    (
        "http/version-missing",
        r#"$SESSION
           > DELETE {"mcp-session-id":"s1"}"#,
    ),
    (
        "http/version-negotiated",
        r#"$SESSION
           > POST {"accept":"application/json, text/event-stream","mcp-session-id":"s1",
               "mcp-protocol-version":"2025-06-18"}
           c>s {"id":1,"method":"tools/list"}"#,
    ),
    (
        "http/modern-version-missing",
        r#"> POST {"accept":"application/json, text/event-stream","mcp-method":"tools/list"}
           c>s {"id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
               "io.modelcontextprotocol/clientCapabilities":{}}}}"#,
    ),
    (
        "http/version-contradicts",
        r#"> POST {"accept":"application/json, text/event-stream","mcp-method":"tools/list",
               "mcp-protocol-version":"2025-11-25"}
           c>s {"id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
               "io.modelcontextprotocol/clientCapabilities":{}}}}"#,
    ),
    (
        "http/method-header",
        concat!(
            modern!(r#""mcp-method":"prompts/list""#, "tools/list", ""),
            r#"
           < 400 {"content-type":"application/json"}
           s>c {"id":1,"error":{"code":-32020,"message":"header mismatch"}}"#
        ),
    ),
    ("http/method-header", modern!(r#""x-other":"1""#, "tools/list", "")),
    ("http/name-header", modern!(r#""mcp-method":"tools/call","mcp-name":"u""#, "tools/call", r#""name":"t","#)),
    ("http/name-header", modern!(r#""mcp-method":"resources/read""#, "resources/read", r#""uri":"a://b","#)),
    (
        "http/parameter-header",
        marked!(modern!(
            r#""mcp-method":"tools/call","mcp-name":"t""#,
            "tools/call",
            r#""name":"t","arguments":{"n":4},"#
        )),
    ),
    (
        "http/parameter-header",
        marked!(modern!(
            r#""mcp-method":"tools/call","mcp-name":"t","mcp-param-n":"5""#,
            "tools/call",
            r#""name":"t","arguments":{"n":4},"#
        )),
    ),
    (
        "http/superfluous-parameter-header",
        marked!(modern!(
            r#""mcp-method":"tools/call","mcp-name":"t","mcp-param-n":"5""#,
            "tools/call",
            r#""name":"t","arguments":{"n":null},"#
        )),
    ),
    (
        "http/accepted-status",
        concat!(
            "$SESSION\n> POST ",
            named!(),
            r#"
           c>s {"method":"notifications/cancelled","params":{"requestId":0}}
           < 200"#
        ),
    ),
    (
        "http/accepted-body",
        concat!(
            "$SESSION\n> POST ",
            named!(),
            r#"
           c>s {"method":"notifications/cancelled","params":{"requestId":0}}
           < 202
           body 2"#
        ),
    ),
    (
        "http/accepted-body",
        concat!(
            "$SESSION\n> POST ",
            named!(),
            r#"
           c>s {"method":"notifications/cancelled","params":{"requestId":0}}
           < 202 {"content-type":"application/json"}
           s>c {"id":9,"result":{}}"#
        ),
    ),
    (
        "http/media-type",
        concat!(
            "$SESSION\n> POST ",
            named!(),
            r#"
           c>s {"id":1,"method":"tools/list"}
           < 200 {"content-type":"text/plain"}"#
        ),
    ),
    (
        "http/get-answer",
        concat!(
            "$SESSION\n> GET ",
            named!(),
            r#"
           < 200 {"content-type":"application/json"}"#
        ),
    ),
    (
        "http/bad-version-accepted",
        r#"$SESSION
           > POST {"accept":"application/json, text/event-stream","mcp-session-id":"s1",
               "mcp-protocol-version":"latest"}
           c>s {"id":1,"method":"tools/list"}
           < 200 {"content-type":"application/json"}"#,
    ),
    (
        "http/foreign-origin",
        concat!(
            "$SESSION\n> POST ",
            named!(r#""origin":"https://evil.example","host":"127.0.0.1:80""#),
            r#"
           c>s {"id":1,"method":"tools/list"}
           < 200 {"content-type":"application/json"}"#
        ),
    ),
    (
        "http/contradiction-accepted",
        concat!(
            modern!(r#""mcp-method":"prompts/list""#, "tools/list", ""),
            r#"
           < 200 {"content-type":"application/json"}
           s>c {"id":1,"result":{"tools":[],"resultType":"complete","ttlMs":0,"cacheScope":"private"}}"#
        ),
    ),
    (
        "http/error-status",
        concat!(
            modern!(r#""mcp-method":"no/such""#, "no/such", ""),
            r#"
           < 200 {"content-type":"application/json"}
           s>c {"id":1,"error":{"code":-32601,"message":"no such method"}}"#
        ),
    ),
    (
        "http/modern-session",
        concat!(
            modern!(r#""mcp-method":"tools/list""#, "tools/list", ""),
            r#"
           < 200 {"content-type":"application/json","mcp-session-id":"s1"}"#
        ),
    ),
    (
        "http/other-response",
        concat!(
            "$SESSION\n> POST ",
            named!(),
            r#"
           c>s {"id":1,"method":"tools/list"}
           > POST "#,
            named!(),
            r#"
           c>s {"id":2,"method":"tools/list"}
           < 200 {"content-type":"text/event-stream"}
           s>c sse a {"id":1,"result":{"tools":[]}}"#
        ),
    ),
    (
        "http/after-response",
        concat!(
            "$SESSION\n> POST ",
            named!(),
            r#"
           c>s {"id":1,"method":"tools/list"}
           < 200 {"content-type":"text/event-stream"}
           s>c sse a {"id":1,"result":{"tools":[]}}
           s>c sse b {"method":"notifications/tools/list_changed"}"#
        ),
    ),
    (
        "http/session-id-characters",
        r#"> POST {"accept":"application/json, text/event-stream"}
           c>s {"id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},
               "clientInfo":{"name":"c","version":"1"}}}
           < 200 {"content-type":"application/json","mcp-session-id":"two words"}"#,
    ),
    (
        "http/session-id-missing",
        r#"$SESSION
           > POST {"accept":"application/json, text/event-stream","mcp-protocol-version":"2025-11-25"}
           c>s {"id":1,"method":"tools/list"}"#,
    ),
    (
        "http/session-id-missing",
        r#"$SESSION
           stream 2
           > POST {"accept":"application/json, text/event-stream","mcp-protocol-version":"2025-11-25"}
           c>s {"id":1,"method":"tools/list"}"#,
    ),
    (
        "http/session-id-changed",
        r#"$SESSION
           > POST {"accept":"application/json, text/event-stream","mcp-session-id":"s2",
               "mcp-protocol-version":"2025-11-25"}
           c>s {"id":1,"method":"tools/list"}"#,
    ),
    (
        "http/session-id-on-initialize",
        r#"> POST {"accept":"application/json, text/event-stream","mcp-session-id":"mine"}
           c>s {"id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},
               "clientInfo":{"name":"c","version":"1"}}}"#,
    ),
    (
        "http/session-after-404",
        concat!(
            "$SESSION\n> POST ",
            named!(),
            r#"
           c>s {"id":1,"method":"tools/list"}
           < 404
           > POST "#,
            named!(),
            r#"
           c>s {"id":2,"method":"tools/list"}"#
        ),
    ),
    (
        "http/ended-session-answered",
        concat!(
            "$SESSION\n> DELETE ",
            named!(),
            r#"
           < 204
           stream 2
           > POST "#,
            named!(),
            r#"
           c>s {"id":1,"method":"tools/list"}
           < 200 {"content-type":"application/json"}"#
        ),
    ),
    (
        "http/response-on-get",
        concat!(
            "$SESSION\n> POST ",
            named!(),
            r#"
           c>s {"id":1,"method":"tools/list"}
           > GET "#,
            named!(),
            r#"
           < 200 {"content-type":"text/event-stream"}
           s>c sse a {"id":1,"result":{"tools":[]}}"#
        ),
    ),
    (
        "http/event-id-repeated",
        concat!(
            "$SESSION\n> POST ",
            named!(),
            r#"
           c>s {"id":1,"method":"tools/list"}
           < 200 {"content-type":"text/event-stream"}
           s>c sse a {"id":1,"result":{"tools":[]}}
           > POST "#,
            named!(),
            r#"
           c>s {"id":2,"method":"tools/list"}
           < 200 {"content-type":"text/event-stream"}
           s>c sse a {"id":2,"result":{"tools":[]}}"#
        ),
    ),
    (
        "http/replayed-elsewhere",
        concat!(
            "$SESSION\n> POST ",
            named!(),
            r#"
           c>s {"id":1,"method":"tools/list"}
           < 200 {"content-type":"text/event-stream"}
           priming a0
           > POST "#,
            named!(),
            r#"
           c>s {"id":2,"method":"tools/list"}
           < 200 {"content-type":"text/event-stream"}
           s>c sse b0 {"id":2,"result":{"tools":[]}}
           > GET "#,
            named!(r#""last-event-id":"a0""#),
            r#"
           < 200 {"content-type":"text/event-stream"}
           s>c sse b0 {"id":2,"result":{"tools":[]}}"#
        ),
    ),
    (
        "http/retry-ignored",
        concat!(
            "$SESSION\n> POST ",
            named!(),
            r#"
           c>s {"id":1,"method":"tools/list"}
           < 200 {"content-type":"text/event-stream"}
           @1000 priming a0 500
           s>c sse a1 {"method":"notifications/message","params":{"level":"info","data":"x"}}
           @1400 > GET "#,
            named!(r#""last-event-id":"a1""#)
        ),
    ),
    // A stream that resumes another has a time of its own.
    (
        "http/retry-ignored",
        concat!(
            "$SESSION\n> POST ",
            named!(),
            r#"
           c>s {"id":1,"method":"tools/list"}
           < 200 {"content-type":"text/event-stream"}
           @1000 priming a0 500
           @1500 > GET "#,
            named!(r#""last-event-id":"a0""#),
            r#"
           < 200 {"content-type":"text/event-stream"}
           @2000 priming a1 4000
           @5000 > GET "#,
            named!(r#""last-event-id":"a1""#)
        ),
    ),
    (
        "http/unknown-event-id",
        concat!(
            "$SESSION\n> POST ",
            named!(),
            r#"
           c>s {"id":1,"method":"tools/list"}
           < 200 {"content-type":"text/event-stream"}
           s>c sse a {"id":1,"result":{"tools":[]}}
           > GET "#,
            named!(r#""last-event-id":"z""#)
        ),
    ),
    (
        "http/broadcast",
        concat!(
            "$SESSION\n> GET ",
            named!(),
            r#"
           < 200 {"content-type":"text/event-stream"}
           s>c sse a {"method":"notifications/tools/list_changed"}
           > GET "#,
            named!(),
            r#"
           < 200 {"content-type":"text/event-stream"}
           s>c sse b {"method":"notifications/tools/list_changed"}"#
        ),
    ),
];

pub(in crate::validate) const QUIET: &[&str] = &[
    // A session with a stream that is resumed, and its end.
    concat!(
        "$SESSION\n> GET ",
        named!(),
        r#"
       < 200 {"content-type":"text/event-stream"}
       s>c sse g1 {"method":"notifications/tools/list_changed"}
       > POST "#,
        named!(r#""origin":"http://localhost:80","host":"127.0.0.1:80""#),
        r#"
       c>s {"id":1,"method":"tools/list"}
       < 200 {"content-type":"text/event-stream"}
       priming a0
       > GET "#,
        named!(r#""last-event-id":"a0""#),
        r#"
       < 200 {"content-type":"text/event-stream"}
       s>c sse a1 {"id":1,"result":{"tools":[]}}
       > GET "#,
        named!(r#""last-event-id":"a0""#),
        r#"
       < 200 {"content-type":"text/event-stream"}
       s>c sse a1 {"method":"notifications/tools/list_changed"}
       > POST "#,
        named!(),
        r#"
       c>s {"id":2,"method":"tools/list"}
       < 200 {"content-type":"application/json; charset=utf-8"}
       s>c {"id":2,"result":{"tools":[]}}
       > POST "#,
        named!(),
        r#"
       c>s {"method":"notifications/cancelled","params":{"requestId":2}}
       < 202
       body 0
       > GET "#,
        named!(),
        r#"
       < 405
       > DELETE "#,
        named!(),
        r#"
       < 204
       stream 2
       > POST "#,
        named!(),
        r#"
       c>s {"id":3,"method":"tools/list"}
       < 404
       > POST {"accept":"application/json, text/event-stream"}
       c>s {"id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},
           "clientInfo":{"name":"c","version":"1"}}}
       < 200 {"content-type":"application/json","mcp-session-id":"s2"}
       s>c {"id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},
           "serverInfo":{"name":"s","version":"1"}}}
       > POST {"accept":"*/*","mcp-session-id":"s2","mcp-protocol-version":"2025-11-25"}
       c>s {"method":"notifications/initialized"}
       < 202"#
    ),
    // A client that waits before it resumes a stream, and one that never heard for how long.
    concat!(
        "$SESSION\n> POST ",
        named!(),
        r#"
       c>s {"id":1,"method":"tools/list"}
       < 200 {"content-type":"text/event-stream"}
       @1000 priming a0 500
       @1450 > GET "#,
        named!(r#""last-event-id":"a0""#),
        r#"
       < 200 {"content-type":"text/event-stream"}
       priming a1
       > GET "#,
        named!(r#""last-event-id":"a1""#),
        r#"
       < 200 {"content-type":"text/event-stream"}
       s>c sse a2 {"id":1,"result":{"tools":[]}}"#
    ),
    // A session without an id that begins again after status 404.
    concat!(
        "$SESSION\n> POST ",
        named!(),
        r#"
       c>s {"id":1,"method":"tools/list"}
       < 404
       > POST {"accept":"application/json, text/event-stream","mcp-session-id":"s2",
           "mcp-protocol-version":"2025-11-25"}
       < 400"#
    ),
    // The modern era: headers that repeat the body, one of them as another form of the same number.
    marked!(concat!(
        modern!(
            r#""mcp-method":"tools/call","mcp-name":"=?base64?dA==?=","Mcp-Param-N":"4.0""#,
            "tools/call",
            r#""name":"t","arguments":{"n":4},"#
        ),
        r#"
       < 200 {"content-type":"application/json"}
       s>c {"id":1,"result":{"resultType":"complete","content":[]}}"#
    )),
];

/// HTTP+SSE of 2024-11-05 has other rules.
#[test]
fn the_old_transport_is_left_alone() {
    let report = crate::validate::tests::found(
        r#"> GET {"accept":"text/event-stream"}
           endpoint /messages?id=1
           > POST {"content-type":"application/json"}
           c>s {"id":0,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},
               "clientInfo":{"name":"c","version":"1"}}}
           < 200
           exchange 1
           s>c sse a {"id":0,"result":{"protocolVersion":"2024-11-05","capabilities":{},
               "serverInfo":{"name":"s","version":"1"}}}"#,
    );
    assert!(report.iter().all(|id| !id.starts_with("http/")), "{report:?}");
}

/// A batch has as many responses as it has requests.
#[test]
fn each_request_of_a_batch_gets_a_response_on_its_stream() {
    let found = crate::validate::tests::found(concat!(
        "$SESSION\n> POST ",
        named!(),
        r#"
       c>s [{"jsonrpc":"2.0","id":5,"method":"ping"},{"jsonrpc":"2.0","id":6,"method":"ping"}]
       < 200 {"content-type":"text/event-stream"}
       s>c {"id":5,"result":{}}
       s>c {"id":6,"result":{}}"#
    ));
    assert!(found.contains("era/batch") && !found.contains("http/after-response"), "{found:?}");
}

/// A recording that begins in the middle of a session without an id says nothing about ids.
#[test]
fn a_session_that_began_earlier_may_have_no_id() {
    let found = crate::validate::tests::found(
        r#"> POST {"accept":"application/json, text/event-stream","mcp-protocol-version":"2025-11-25"}
           c>s {"id":7,"method":"tools/list"}
           < 200 {"content-type":"application/json"}
           s>c {"id":7,"result":{"tools":[]}}"#,
    );
    assert!(found.is_empty(), "{found:?}");
}
