//! Tests of the era, which each request decides: by what it says itself, else by what was agreed on.

use super::{Direction, EventKind, Feed, Flags, Framing, Report, ids, run};
use crate::protocol::Era;
use std::collections::BTreeSet;

/// The members that make a request one of the modern era.
const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
    "io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}"#;

/// The response of a server that supports these revisions.
fn discovered(versions: &str) -> String {
    format!(
        r#"{{"supportedVersions":[{versions}],"capabilities":{{"prompts":{{}}}},"resultType":"complete","ttlMs":0,
        "cacheScope":"private","_meta":{{"io.modelcontextprotocol/serverInfo":{{"name":"s","version":"1"}}}}}}"#
    )
}

/// Runs a script with its placeholders filled in.
fn filled(script: &str) -> Report {
    let both = discovered(r#""2026-07-28","2025-11-25""#);
    let old = discovered(r#""2025-11-25","2025-06-18""#);
    run(&script.replace("$META", META).replace("$BOTH", &both).replace("$OLD", &old))
}

fn is_quiet(script: &str, era: Era) {
    let report = filled(script);
    assert!(report.findings.is_empty(), "{script}: {:#?}", report.findings);
    assert_eq!(report.connections[0].era, Some(era), "{script}");
}

#[test]
fn a_session_goes_on_beside_an_answer_to_discover() {
    is_quiet(
        r#"hello 2025-11-25 {"roots":{},"sampling":{}} | {"tools":{"listChanged":true},"experimental":{"reminders":{"emit":true}}}
           c>s {"id":1,"method":"server/discover","params":{$META}}
           s>c {"id":1,"result":$BOTH}
           c>s {"id":2,"method":"tools/list"}
           s>c {"id":"a","method":"roots/list"}
           c>s {"id":"a","result":{"roots":[]}}
           s>c {"id":2,"result":{"tools":[]}}
           s>c {"method":"notifications/tools/list_changed"}
           s>c {"method":"notifications/reminder","params":{"reminder":{"id":"0190abcd-2024-7c1d-bb02-3a0e8a44d7f0",
               "body":"b","ttlTurns":1,"firedAtTurn":null}}}
           c>s {"id":3,"method":"ping"}
           s>c {"id":3,"result":{}}"#,
        Era::Legacy,
    );
}

#[test]
fn what_discover_lists_does_not_keep_a_client_from_initialize() {
    for list in ["$OLD", "$BOTH"] {
        is_quiet(
            &r#"c>s {"id":1,"method":"server/discover","params":{$META}}
               s>c {"id":1,"result":LIST}
               hello 2025-11-25 {"roots":{}} | {"tools":{"listChanged":true}}
               c>s {"id":2,"method":"tools/list"}
               s>c {"id":"a","method":"roots/list"}
               c>s {"id":"a","result":{"roots":[]}}
               s>c {"id":2,"result":{"tools":[]}}
               s>c {"method":"notifications/tools/list_changed"}"#
                .replace("LIST", list),
            Era::Legacy,
        );
    }
}

#[test]
fn each_request_beside_a_session_is_of_its_own_era() {
    let session = r#"hello 2025-11-25 {} | {"tools":{"listChanged":true}}"#;
    let modern = r#"c>s {"id":1,"method":"prompts/list","params":{$META}}"#;
    is_quiet(
        &format!(
            "{session}\n{modern}\n{}",
            r#"c>s {"id":2,"method":"tools/list"}
               s>c {"id":2,"result":{"tools":[]}}
               s>c {"id":1,"result":{"prompts":[],"resultType":"complete","ttlMs":0,"cacheScope":"private",
        "_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}}"#
        ),
        Era::Legacy,
    );
    let legacy_answer = filled(&format!("{session}\n{modern}\ns>c {{\"id\":1,\"result\":{{\"prompts\":[]}}}}"));
    assert_eq!(ids(&legacy_answer), BTreeSet::from(["era/legacy-answer", "era/server-info"]));
    let removed = filled(&format!(r#"{session}{}c>s {{"id":1,"method":"ping","params":{{$META}}}}"#, "\n"));
    assert!(ids(&removed).contains("method/not-in-revision"), "a modern ping: {:#?}", removed.findings);
}

#[test]
fn an_initialize_after_requests_of_the_modern_era_begins_a_session() {
    is_quiet(
        r#"c>s {"id":1,"method":"tools/list","params":{$META}}
           s>c {"id":1,"result":{"tools":[],"resultType":"complete","ttlMs":0,"cacheScope":"private",
        "_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}}
           hello 2025-11-25 {} | {"tools":{"listChanged":true}}
           c>s {"id":2,"method":"tools/list"}
           s>c {"id":2,"result":{"tools":[]}}
           s>c {"method":"notifications/tools/list_changed"}"#,
        Era::Legacy,
    );
}

#[test]
fn without_a_session_a_server_is_held_to_the_modern_era() {
    let only_modern = discovered(r#""2026-07-28""#);
    let report = filled(&format!(
        r#"c>s {{"id":1,"method":"server/discover","params":{{$META}}}}
           s>c {{"id":1,"result":{only_modern}}}
           s>c {{"id":1,"method":"roots/list"}}"#
    ));
    assert!(ids(&report).contains("era/server-request"), "{:#?}", report.findings);
    assert_eq!(report.connections[0].era, Some(Era::Modern));
}

/// Returns the findings that are not about HTTP itself: the heads of these tests are short.
fn beside_http(report: &Report) -> BTreeSet<&'static str> {
    ids(report).into_iter().filter(|id| !id.starts_with("http/")).collect()
}

/// Feeds messages over HTTP; each request has its own exchange, with this header.
fn carry(feed: &mut Feed, header: Option<(&str, &str)>, script: &str) {
    for line in super::lines(&script.replace("$META", META)) {
        if line.starts_with("c>s") {
            feed.exchange(header);
        }
        feed.line(&line);
    }
}

/// A session of a client that counts its ids from 0.
const SESSION: &str = r#"c>s {"id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},
        "clientInfo":{"name":"c","version":"1"}}}
    s>c {"id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},
        "serverInfo":{"name":"s","version":"1"}}}
    c>s {"method":"notifications/initialized"}
    c>s {"id":1,"method":"tools/list"}
    s>c {"id":1,"result":{"tools":[]}}
    c>s {"id":2,"method":"tools/list"}
    s>c {"id":2,"result":{"tools":[]}}"#;
/// Requests of the modern era, which need no session.
const REQUESTS: &str = r#"c>s {"id":0,"method":"tools/list","params":{$META}}
    s>c {"id":0,"result":{"tools":[],"resultType":"complete","ttlMs":0,"cacheScope":"private",
        "_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}}
    c>s {"id":1,"method":"tools/list","params":{$META}}
    s>c {"id":1,"result":{"tools":[],"resultType":"complete","ttlMs":0,"cacheScope":"private",
        "_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}}
    c>s {"id":2,"method":"tools/list","params":{$META}}
    s>c {"id":2,"result":{"tools":[],"resultType":"complete","ttlMs":0,"cacheScope":"private",
        "_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}}"#;

#[test]
fn a_session_over_http_has_ids_of_its_own_whatever_used_its_connection() {
    for before in [SESSION, REQUESTS] {
        for after in [SESSION, REQUESTS] {
            let mut feed = Feed::new();
            carry(&mut feed, None, before);
            carry(&mut feed, None, after);
            let report = feed.reporter.finish();
            assert!(beside_http(&report).is_empty(), "{before}\n{after}: {:#?}", report.findings);
        }
    }
    for (header, carried) in [(Some(("Mcp-Session-Id", "s")), true), (None, false)] {
        let mut feed = Feed::new();
        for _ in 0..2 {
            match carried {
                true => carry(&mut feed, header, SESSION),
                false => super::lines(SESSION).iter().for_each(|line| feed.line(line)),
            }
        }
        let found = beside_http(&feed.reporter.finish());
        assert_eq!(found, BTreeSet::from(["lifecycle/second-initialize", "pairing/id-reused"]), "{header:?}");
    }
}

#[test]
fn the_head_of_a_request_names_its_era_too() {
    let without_meta = r#"c>s {"id":1,"method":"tools/list"}"#;
    let found = |version| {
        let mut feed = Feed::new();
        carry(&mut feed, None, SESSION);
        carry(&mut feed, Some(("mcp-protocol-version", version)), without_meta);
        feed.line(r#"s>c {"id":1,"result":{"tools":[]}}"#);
        beside_http(&feed.reporter.finish())
    };
    assert_eq!(found("2025-11-25"), BTreeSet::from(["pairing/id-reused"]));
    assert_eq!(
        found("2026-07-28"),
        BTreeSet::from([
            "era/client-info",
            "era/incomplete-request",
            "era/legacy-answer",
            "era/server-info",
            "schema/params"
        ])
    );
}

#[test]
fn a_request_whose_exchange_broke_off_on_either_side_is_not_missed() {
    for direction in [Direction::ClientToServer, Direction::ServerToClient] {
        let mut feed = Feed::new();
        carry(&mut feed, None, SESSION);
        carry(&mut feed, None, r#"c>s {"id":3,"method":"tools/list"}"#);
        let mut payload = Vec::new();
        ciborium::into_writer(&serde_json::json!({"what": "broken off"}), &mut payload).expect("CBOR");
        let flags = Flags::toward(direction).with(Flags::FAILED);
        feed.event(EventKind::Transport, flags, Framing::Whole, &payload);
        carry(&mut feed, None, "c>s {\"id\":4,\"method\":\"tools/list\"}\ns>c {\"id\":4,\"result\":{\"tools\":[]}}");
        let report = feed.reporter.finish();
        assert!(beside_http(&report).is_empty(), "{direction:?}: {:#?}", report.findings);
    }
}
