use super::Case;

/// Two servers of one host. The host skips the second one once, although it responds.
const FORGOTTEN: &str = r#"
    hello 2025-11-25 {} | {"conversationEvents":{"onUserMessage":true}}
    stream 1
    hello 2025-11-25 {} | {"conversationEvents":{"onUserMessage":true}}
    stream 0
    @1000 c>s {"id":1,"method":"conversation/userMessage","params":{"messageId":"m1","content":"hi"}}
    s>c {"id":1,"result":{}}
    stream 1
    c>s {"id":1,"method":"conversation/userMessage","params":{"messageId":"m1","content":"hi"}}
    s>c {"id":1,"result":{}}
    stream 0
    @9000 c>s {"id":2,"method":"conversation/userMessage","params":{"messageId":"m2","content":"ho"}}
    s>c {"id":2,"result":{}}
    @19000 c>s {"id":3,"method":"conversation/userMessage","params":{"messageId":"m3","content":"hu"}}
    s>c {"id":3,"result":{}}
    stream 1
    c>s {"id":3,"method":"conversation/userMessage","params":{"messageId":"m3","content":"hu"}}
    s>c {"id":3,"result":{}}"#;

pub(super) const CASES: &[Case] = &[
    (
        "conversation/undeclared-server",
        r#"hello 2025-11-25 {} | {"conversationEvents":{"onUserMessage":false}}
           c>s {"id":1,"method":"conversation/userMessage","params":{"messageId":"m1","content":"hi"}}"#,
    ),
    (
        "conversation/message-id-reused",
        r#"hello 2025-11-25 {} | {"conversationEvents":{"onUserMessage":true}}
           c>s {"id":1,"method":"conversation/userMessage","params":{"messageId":"m1","content":"hi"}}
           c>s {"id":2,"method":"conversation/userMessage","params":{"messageId":"m1","content":"ho"}}"#,
    ),
    (
        "conversation/message-resent",
        r#"hello 2025-11-25 {} | {"conversationEvents":{"onUserMessage":true}}
           c>s {"id":1,"method":"conversation/userMessage","params":{"messageId":"m1","content":"hi"}}
           c>s {"id":2,"method":"conversation/userMessage","params":{"messageId":"m1","content":"hi"}}"#,
    ),
    ("conversation/not-fanned-out", FORGOTTEN),
    (
        "conversation/revoked",
        r#"hello 2025-11-25 {} | {"conversationEvents":{"onUserMessage":true}}
           c>s {"id":1,"method":"conversation/userMessage","params":{"messageId":"m1","content":"hi"}}
           note revoked
           c>s {"id":2,"method":"conversation/userMessage","params":{"messageId":"m2","content":"ho"}}"#,
    ),
    (
        "conversation/not-awaited",
        r#"hello 2025-11-25 {} | {"conversationEvents":{"onUserMessage":true}}
           @1000 c>s {"id":1,"method":"conversation/userMessage","params":{"messageId":"m1","content":"hi"}}
           @1400 note inferred
           @1450 s>c {"id":1,"result":{"context":"x"}}"#,
    ),
    (
        "conversation/unanswered",
        r#"hello 2025-11-25 {} | {"conversationEvents":{"onUserMessage":true}}
           @1000 c>s {"method":"conversation/userMessage","params":{"messageId":"m1","content":"hi"}}
           @2000 c>s {"method":"conversation/userMessage","params":{"messageId":"m2","content":"ho"}}
           s>c {"method":"conversation/context","params":{"messageId":"m2"}}"#,
    ),
    (
        "conversation/slow-answer",
        r#"hello 2025-11-25 {} | {"conversationEvents":{"onUserMessage":true}}
           @1000 c>s {"id":1,"method":"conversation/userMessage","params":{"messageId":"m1","content":"hi"}}
           @1501 s>c {"id":1,"result":{}}"#,
    ),
    (
        "conversation/slow-answer",
        r#"hello 2025-11-25 {} | {"conversationEvents":{"onUserMessage":true}}
           @1000 c>s {"method":"conversation/userMessage","params":{"messageId":"m1","content":"hi"}}
           @1501 s>c {"method":"conversation/context","params":{"messageId":"m1"}}"#,
    ),
    (
        "conversation/bare-answer",
        r#"hello 2025-11-25 {} | {"conversationEvents":{"onUserMessage":true}}
           c>s {"method":"conversation/userMessage","params":{"messageId":"m1","content":"hi"}}
           s>c {"id":"m1","result":{"context":"x"}}"#,
    ),
    (
        "conversation/uncorrelated-context",
        r#"hello 2025-11-25 {} | {"conversationEvents":{"onUserMessage":true}}
           s>c {"method":"conversation/context","params":{"messageId":"m1","context":"x"}}"#,
    ),
    (
        "conversation/ambiguous-context",
        r#"hello 2025-11-25 {} | {"conversationEvents":{"onUserMessage":true}}
           c>s {"method":"conversation/userMessage","params":{"messageId":"m1","content":"hi"}}
           c>s {"method":"conversation/userMessage","params":{"messageId":"m2","content":"ho"}}
           s>c {"method":"conversation/context","params":{"context":"x"}}"#,
    ),
    // The context may be late for the first message, or belong to the second.
    (
        "conversation/ambiguous-context",
        r#"hello 2025-11-25 {} | {"conversationEvents":{"onUserMessage":true}}
           @1000 c>s {"method":"conversation/userMessage","params":{"messageId":"m1","content":"hi"}}
           @1600 c>s {"method":"conversation/userMessage","params":{"messageId":"m2","content":"ho"}}
           @1610 s>c {"method":"conversation/context","params":{"context":"x"}}"#,
    ),
    (
        "conversation/uncorrelated-context",
        r#"hello 2025-11-25 {} | {"conversationEvents":{"onUserMessage":true}}
           c>s {"id":1,"method":"conversation/userMessage","params":{"messageId":"m1","content":"hi"}}
           s>c {"id":1,"result":{}}
           s>c {"method":"conversation/context","params":{"context":"x"}}"#,
    ),
    (
        "conversation/guessed-context",
        r#"hello 2025-11-25 {} | {"conversationEvents":{"onUserMessage":true}}
           c>s {"method":"conversation/userMessage","params":{"messageId":"m1","content":"hi"}}
           s>c {"id":1,"method":"conversation/context","params":{"context":"x"}}
           c>s {"id":1,"result":{}}"#,
    ),
    (
        "conversation/carrier",
        r#"hello 2025-11-25 {} | {"conversationEvents":{"onUserMessage":true}}
           c>s {"id":1,"method":"conversation/userMessage","params":{"messageId":"m1","content":"hi"}}
           s>c {"id":1,"result":null}"#,
    ),
    (
        "conversation/both-texts",
        r#"hello 2025-11-25 {} | {"conversationEvents":{"onUserMessage":true}}
           c>s {"id":1,"method":"conversation/userMessage","params":{"messageId":"m1","content":"hi"}}
           s>c {"id":1,"result":{"context":"x","structuredContext":{}}}"#,
    ),
    (
        "conversation/relevance",
        r#"hello 2025-11-25 {} | {"conversationEvents":{"onUserMessage":true}}
           c>s {"id":1,"method":"conversation/userMessage","params":{"messageId":"m1","content":"hi"}}
           s>c {"id":1,"result":{"structuredContext":{"memories":[{"content":"x","relevance":42}]}}}"#,
    ),
    (
        "conversation/context-size",
        r#"hello 2025-11-25 {} | {"conversationEvents":{"onUserMessage":true}}
           c>s {"id":1,"method":"conversation/userMessage","params":{"messageId":"m1","content":"hi"}}
           s>c {"id":1,"result":{"context":"$LARGE"}}"#,
    ),
    (
        "conversation/history-shared",
        r#"hello 2025-11-25 {} | {"conversationEvents":{"onUserMessage":true}}
           c>s {"id":1,"method":"conversation/userMessage","params":{"messageId":"m1","content":"hi",
               "recentHistory":[]}}"#,
    ),
    (
        "conversation/future-key",
        r#"hello 2025-11-25 {} | {"conversationEvents":{"onUserMessage":true,"onAssistantResponse":true}}"#,
    ),
    (
        "conversation/not-text",
        r#"hello 2025-11-25 {} | {"conversationEvents":{"onUserMessage":true}}
           c>s {"id":1,"method":"conversation/userMessage","params":{"messageId":"m1","content":[{"type":"text",
               "text":"hi"}]}}"#,
    ),
    // Messages that follow each other within a second.
    (
        "conversation/not-fanned-out",
        r#"hello 2025-11-25 {} | {"conversationEvents":{"onUserMessage":true}}
           stream 1
           hello 2025-11-25 {} | {"conversationEvents":{"onUserMessage":true}}
           stream 0
           @1000 c>s {"id":1,"method":"conversation/userMessage","params":{"messageId":"m1","content":"hi"}}
           s>c {"id":1,"result":{}}
           stream 1
           c>s {"id":1,"method":"conversation/userMessage","params":{"messageId":"m1","content":"hi"}}
           s>c {"id":1,"result":{}}
           stream 0
           @1300 c>s {"id":2,"method":"conversation/userMessage","params":{"messageId":"m2","content":"ho"}}
           s>c {"id":2,"result":{}}
           @1600 c>s {"id":3,"method":"conversation/userMessage","params":{"messageId":"m3","content":"hu"}}
           s>c {"id":3,"result":{}}
           stream 1
           c>s {"id":3,"method":"conversation/userMessage","params":{"messageId":"m3","content":"hu"}}"#,
    ),
    (
        "conversation/second-context",
        r#"hello 2025-11-25 {} | {"conversationEvents":{"onUserMessage":true}}
           c>s {"method":"conversation/userMessage","params":{"messageId":"m1","content":"hi"}}
           s>c {"method":"conversation/context","params":{"messageId":"m1","context":"x"}}
           s>c {"method":"conversation/context","params":{"messageId":"m1","context":"y"}}"#,
    ),
    (
        "conversation/second-context",
        r#"hello 2025-11-25 {} | {"conversationEvents":{"onUserMessage":true}}
           c>s {"id":1,"method":"conversation/userMessage","params":{"messageId":"m1","content":"hi"}}
           s>c {"id":1,"result":{"context":"x"}}
           s>c {"method":"conversation/context","params":{"messageId":"m1","context":"x"}}"#,
    ),
    (
        "conversation/empty-message-id",
        r#"hello 2025-11-25 {} | {"conversationEvents":{"onUserMessage":true}}
           c>s {"id":1,"method":"conversation/userMessage","params":{"messageId":"","content":"hi"}}
           s>c {"id":1,"result":{}}"#,
    ),
    (
        "conversation/near-miss",
        r#"hello 2025-11-25 {} | {"conversationEvents":{"onUserMessage":true}}
           c>s {"id":1,"method":"conversation/userMessage","params":{"messageId":"m1","content":"hi"}}
           s>c {"id":1,"result":{"structured_context":{"memories":[]}}}"#,
    ),
    ("conversation/unused", r#"hello 2025-11-25 {} | {"conversationEvents":{"onUserMessage":true}}"#),
];

/// A host that sends a message again as a notification, because the server did not know the request, has not resent it.
#[test]
fn falling_back_to_notifications_is_no_retry() {
    let report = super::run(
        r#"hello 2025-11-25 {} | {"conversationEvents":{"onUserMessage":true}}
           c>s {"id":1,"method":"conversation/userMessage","params":{"messageId":"m1","content":"hi"}}
           s>c {"id":1,"error":{"code":-32601,"message":"method not found"}}
           c>s {"method":"conversation/userMessage","params":{"messageId":"m1","content":"hi"}}
           s>c {"method":"conversation/context","params":{"messageId":"m1","context":"x"}}"#,
    );
    assert_eq!((report.errors, report.warnings), (0, 0), "{:?}", report.findings);
}

/// The host sends both servers every message.
pub(super) const QUIET: &[&str] = &[r#"
    hello 2025-11-25 {} | {"conversationEvents":{"onUserMessage":true}}
    stream 1
    hello 2025-11-25 {} | {"conversationEvents":{"onUserMessage":true}}
    @1000 c>s {"id":1,"method":"conversation/userMessage","params":{"messageId":"m1","content":"hi"}}
    s>c {"id":1,"result":{}}
    stream 0
    c>s {"id":1,"method":"conversation/userMessage","params":{"messageId":"m1","content":"hi"}}
    s>c {"id":1,"result":{}}
    @3000 c>s {"id":2,"method":"conversation/userMessage","params":{"messageId":"m2","content":"ho"}}
    s>c {"id":2,"result":{}}
    stream 1
    c>s {"id":2,"method":"conversation/userMessage","params":{"messageId":"m2","content":"ho"}}
    s>c {"id":2,"result":{}}
    @5000 c>s {"id":3,"method":"ping"}
    s>c {"id":3,"result":{}}"#];

/// After a missed answer, contexts without a messageId are dropped for a grace, as the host does, and then used again.
#[test]
fn amb_a1_one_missed_answer_costs_only_the_next_message() {
    let send = |at: u32, id: &str| {
        format!(r#"@{at} c>s {{"method":"conversation/userMessage","params":{{"messageId":"{id}","content":"{id}"}}}}"#)
    };
    let context = |at: u32| format!(r#"@{at} s>c {{"method":"conversation/context","params":{{"context":"x"}}}}"#);
    let hello = r#"hello 2025-11-25 {} | {"conversationEvents":{"onUserMessage":true}}"#.to_owned();
    let ambiguous = |lines: &[String]| {
        let script = [std::slice::from_ref(&hello), lines].concat().join("\n");
        count(&super::run(&script), "conversation/ambiguous-context")
    };
    // One may miss its answer; from the second one on, each context has one message.
    let missed = [send(1000, "missed"), send(1500, "doubtful"), context(1510)];
    assert_eq!(ambiguous(&missed), 1);
    let later = [send(2000, "third"), context(2010), send(2020, "fourth"), context(2030)];
    assert_eq!(ambiguous(&[&missed[..], &later].concat()), 1);
    // The grace is over.
    assert_eq!(ambiguous(&[send(1000, "missed"), send(2000, "newest"), context(2010)]), 0);
}

fn count(report: &super::Report, rule: &str) -> usize {
    report.findings.iter().filter(|finding| finding.rule.id == rule).count()
}

#[test]
fn a3_a_server_left_out_once_is_reported_once_and_with_its_message() {
    let report = super::run(FORGOTTEN);
    let found: Vec<_> = report.findings.iter().filter(|it| it.rule.id == "conversation/not-fanned-out").collect();
    assert_eq!(found.iter().map(|it| (it.stream, it.seq)).collect::<Vec<_>>(), [(1, Some(10))]);
    assert!(found[0].seen.contains("m2"), "{}", found[0].seen);
}

#[test]
fn a3_at_the_end_a_server_that_was_left_out_is_reported_too() {
    let (script, _) = FORGOTTEN.rsplit_once("stream 1").expect("the last connection");
    let later = format!("{script}\n@29000 s>c {{\"method\":\"notifications/tools/list_changed\"}}");
    assert_eq!(count(&super::run(&later), "conversation/not-fanned-out"), 2, "m2 and m3");
    let closed = format!("{script}\n@29000 close");
    assert_eq!(count(&super::run(&closed), "conversation/not-fanned-out"), 2, "m2 and m3");
    // A reel that ends before all servers got the message shows no violation.
    assert_eq!(count(&super::run(script), "conversation/not-fanned-out"), 1, "m2 only");
}

#[test]
fn a3_servers_are_one_hosts_by_their_names_or_by_a_message_that_went_to_both() {
    let hello = |server: &str| {
        format!(
            r#"c>s {{"id":"h","method":"initialize","params":{{"protocolVersion":"2025-11-25","capabilities":{{}},
               "clientInfo":{{"name":"c","version":"1"}}}}}}
               s>c {{"id":"h","result":{{"protocolVersion":"2025-11-25","capabilities":{{"conversationEvents":
               {{"onUserMessage":true}}}},"serverInfo":{{"name":"{server}","version":"1"}}}}}}
               c>s {{"method":"notifications/initialized"}}"#
        )
    };
    let send = |at: u32, id: u32| {
        format!(
            r#"@{at} c>s {{"id":{id},"method":"conversation/userMessage","params":{{"messageId":"m{id}",
               "content":"x"}}}}
               s>c {{"id":{id},"result":{{}}}}"#
        )
    };
    let script = |other: &str| {
        [
            hello("one"),
            "stream 1".into(),
            hello(other),
            send(1000, 1),
            "stream 0".into(),
            send(3000, 2),
            send(6000, 3),
            send(9000, 4),
        ]
        .join("\n")
    };
    assert_eq!(count(&super::run(&script("two")), "conversation/not-fanned-out"), 2, "two programs under one host");
    assert_eq!(count(&super::run(&script("one")), "conversation/not-fanned-out"), 0, "two hosts, for all one knows");
}

/// The host may skip a server that failed, was closed, was not approved by the user, or did not subscribe.
#[test]
fn a15_a17_a20_a_server_may_be_left_out_for_a_reason() {
    // The second connection's first response, and the time before the first connection gets the second message.
    let (answer, refusal) = (r#"s>c {"id":1,"result":{}}"#, r#"s>c {"id":1,"error":{"code":1,"message":"x"}}"#);
    let answered = format!("{answer}\n    stream 0\n    @9000");
    let next = "\n    stream 0\n    @9000";
    for (from, to) in [
        (answered.as_str(), next.trim_start().to_owned()),
        (&answered, format!("{refusal}{next}")),
        (next, format!("\n    @8000 close{next}")),
        (next, format!("\n    @8000 gap{next}")),
    ] {
        assert_eq!(FORGOTTEN.matches(from).count(), 1, "{from}");
        let script = FORGOTTEN.replace(from, &to);
        assert_eq!(count(&super::run(&script), "conversation/not-fanned-out"), 0, "{script}");
    }
}

#[test]
fn a11_a_context_whose_time_is_over_is_not_awaited() {
    let script = |at: u32, answer: &str| {
        format!(
            r#"hello 2025-11-25 {{}} | {{"conversationEvents":{{"onUserMessage":true}}}}
               @1000 c>s {{"id":1,"method":"conversation/userMessage","params":{{"messageId":"m1","content":"hi"}}}}
               {answer}
               @{at} note inferred"#
        )
    };
    assert_eq!(count(&super::run(&script(1400, "")), "conversation/not-awaited"), 1);
    for quiet in [
        script(1501, ""),
        // The host's clock starts before the recorder sees the message.
        script(1499, ""),
        // The host cancels a request when its own time limit is over.
        script(1100, r#"@1099 c>s {"method":"notifications/cancelled","params":{"requestId":1}}"#),
        script(1400, r#"s>c {"id":1,"result":{}}"#),
        // The server ended.
        script(1400, "@1010 note gone"),
        script(1400, r#"s>c {"id":1,"error":{"code":-32603,"message":"x"}}"#),
    ] {
        assert_eq!(count(&super::run(&quiet), "conversation/not-awaited"), 0, "{quiet}");
    }
    // The HTTP request failed; a success with another answer to follow is none.
    for (status, found) in [(500, 0), (200, 1)] {
        let over_http = script(1400, &format!("< {status}")).replace("@1000 c>s", "> POST\n @1000 c>s");
        assert_eq!(count(&super::run(&over_http), "conversation/not-awaited"), found, "{over_http}");
    }
    // The hook of the other proposal shows the same moment as the mark.
    let hook = script(1400, "")
        .replace("note inferred", r#"c>s {"id":2,"method":"context/afterInference","params":{"inferenceId":"i"}}"#);
    assert_eq!(count(&super::run(&hook), "conversation/not-awaited"), 1);
}

/// The server refuses the request, and gets the message as a notification. Its time limit began with the request.
#[test]
fn a11_each_message_is_judged_once_and_from_its_first_copy_on() {
    let fallen_back = r#"hello 2025-11-25 {} | {"conversationEvents":{"onUserMessage":true}}
        @1000 c>s {"id":1,"method":"conversation/userMessage","params":{"messageId":"m1","content":"hi"}}
        @1200 s>c {"id":1,"error":{"code":-32601,"message":"?"}}
        c>s {"method":"conversation/userMessage","params":{"messageId":"m1","content":"hi"}}
        @1500 note inferred"#;
    assert_eq!(count(&super::run(fallen_back), "conversation/not-awaited"), 0);
    let again = r#"hello 2025-11-25 {} | {"conversationEvents":{"onUserMessage":true}}
        @1000 c>s {"id":1,"method":"conversation/userMessage","params":{"messageId":"m1","content":"hi"}}
        @1100 note inferred
        @1200 note inferred"#;
    assert_eq!(count(&super::run(again), "conversation/not-awaited"), 1);
}

/// A request, too, wants an answer; not one that the host cancelled before the server had its time.
#[test]
fn a8_a_message_without_an_answer_is_reported_whatever_carries_it() {
    let script = |cancel: &str| {
        format!(
            r#"hello 2025-11-25 {{}} | {{"conversationEvents":{{"onUserMessage":true}}}}
               @1000 c>s {{"id":1,"method":"conversation/userMessage","params":{{"messageId":"m1","content":"hi"}}}}
               {cancel}
               @2000 c>s {{"id":2,"method":"conversation/userMessage","params":{{"messageId":"m2","content":"ho"}}}}
               s>c {{"id":2,"result":{{}}}}"#
        )
    };
    let cancel =
        |at: u32| script(&format!(r#"@{at} c>s {{"method":"notifications/cancelled","params":{{"requestId":1}}}}"#));
    for (script, findings) in [(script(""), 1), (cancel(1500), 1), (cancel(1200), 0)] {
        assert_eq!(count(&super::run(&script), "conversation/unanswered"), findings, "{script}");
    }
}

/// The second server gets no message while the user's permission for it is revoked.
#[test]
fn a3_a19_what_the_user_revoked_is_not_left_out() {
    let script = |marks: [&str; 2]| {
        let [revoked, granted] = marks;
        FORGOTTEN
            .replace("stream 0\n    @9000", &format!("{revoked}\n    stream 0\n    @9000"))
            .replace("stream 1\n    c>s {\"id\":3", &format!("stream 1\n    {granted}\n    c>s {{\"id\":3"))
    };
    for (marks, findings) in
        [(["note revoked", "note granted"], 0), (["", ""], 1), (["note granted", "note granted"], 1)]
    {
        assert_eq!(count(&super::run(&script(marks)), "conversation/not-fanned-out"), findings, "{marks:?}");
    }
}

#[test]
fn a19_access_that_is_given_again_is_used_again() {
    let report = super::run(
        r#"hello 2025-11-25 {} | {"conversationEvents":{"onUserMessage":true}}
           note revoked
           note granted
           c>s {"id":2,"method":"conversation/userMessage","params":{"messageId":"m2","content":"ho"}}"#,
    );
    assert_eq!(count(&report, "conversation/revoked"), 0);
}

/// The requirements that the schemas of the messages express.
#[test]
fn a1_a5_a8_a9_messages_keep_to_their_schemas() {
    let hello = r#"hello 2025-11-25 {} | {"conversationEvents":{"onUserMessage":true}}"#;
    for (params, fits) in [
        (r#"{"messageId":"m","content":"x"}"#, true),
        (
            r#"{"messageId":"m","content":"","recentHistory":[{"role":"user","content":"a"},
            {"role":"assistant","content":""}]}"#,
            true,
        ),
        (r#"{"content":"x"}"#, false),
        (r#"{"messageId":"m"}"#, false),
        (r#"{"messageId":1,"content":"x"}"#, false),
        (r#"{"messageId":"m","content":7}"#, false),
        (r#"{"messageId":"m","content":"x","recentHistory":[{"role":"system","content":"a"}]}"#, false),
        (r#"{"messageId":"m","content":"x","recentHistory":[{"role":"user"}]}"#, false),
    ] {
        let script = format!("{hello}\nc>s {{\"id\":1,\"method\":\"conversation/userMessage\",\"params\":{params}}}");
        assert_eq!(count(&super::run(&script), "schema/params") == 0, fits, "{params}");
    }
    for (result, fits) in [
        ("{}", true),
        ("null", true),
        (r#"{"context":"x"}"#, true),
        (r#"{"structuredContext":{}}"#, true),
        (r#"{"structuredContext":{"memories":[{"content":"x","relevance":-3.5,"source":"s"}]}}"#, true),
        (r#"{"context":1}"#, false),
        (r#"{"structuredContext":[]}"#, false),
        (r#"{"structuredContext":{"memories":[{"content":"x"}]}}"#, false),
        (r#"{"structuredContext":{"memories":[{"relevance":1}]}}"#, false),
        (r#"{"structuredContext":{"memories":[{"content":"x","relevance":"high"}]}}"#, false),
    ] {
        let script = format!(
            "{hello}\nc>s {{\"id\":1,\"method\":\"conversation/userMessage\",\"params\":{{\"messageId\":\"m\",\
             \"content\":\"x\"}}}}\ns>c {{\"id\":1,\"result\":{result}}}"
        );
        assert_eq!(count(&super::run(&script), "schema/result") == 0, fits, "{result}");
    }
    for (declared, fits) in
        [("{}", true), (r#"{"onUserMessage":false}"#, true), (r#"{"onUserMessage":"yes"}"#, false), ("true", false)]
    {
        let script = format!("hello 2025-11-25 {{}} | {{\"conversationEvents\":{declared}}}");
        assert_eq!(count(&super::run(&script), "schema/capability") == 0, fits, "{declared}");
    }
}

#[test]
fn amb_a1_three_carriers_are_good_and_named_once() {
    let hello = r#"hello 2025-11-25 {} | {"conversationEvents":{"onUserMessage":true}}"#;
    let request = r#"c>s {"id":N,"method":"conversation/userMessage","params":{"messageId":"mN","content":"x"}}
                     s>c {"id":N,"result":{"context":"cN"}}"#;
    let notified = r#"c>s {"method":"conversation/userMessage","params":{"messageId":"mN","content":"x"}}
                      s>c {"method":"conversation/context","params":{"messageId":"mN","context":"cN"}}"#;
    let asked = r#"c>s {"method":"conversation/userMessage","params":{"messageId":"mN","content":"x"}}
                   s>c {"id":N,"method":"conversation/context","params":{"messageId":"mN","context":"cN"}}
                   c>s {"id":N,"result":{}}"#;
    for (carrier, turn) in [
        ("a request and its result", request),
        ("two notifications", notified),
        ("a notification and a request", asked),
    ] {
        let report = super::run(&format!("{hello}\n{}\n{}", turn.replace('N', "1"), turn.replace('N', "2")));
        assert_eq!((report.errors, report.warnings), (0, 0), "{:?}", report.findings);
        let reported: Vec<_> = report.findings.iter().filter(|it| it.rule.id == "conversation/carrier").collect();
        assert_eq!(
            reported.iter().map(|it| it.seen.as_str()).collect::<Vec<_>>(),
            [format!("this session uses {carrier}")]
        );
    }
}

#[test]
fn a4_a_user_message_goes_from_the_client() {
    let hello = r#"hello 2025-11-25 {} | {"conversationEvents":{"onUserMessage":true}}"#;
    let message = r#"{"method":"conversation/userMessage","params":{"messageId":"m","content":"x"}}"#;
    assert_eq!(count(&super::run(&format!("{hello}\ns>c {message}")), "method/direction"), 1);
    assert_eq!(count(&super::run(&format!("{hello}\nc>s {message}")), "method/direction"), 0);
}
