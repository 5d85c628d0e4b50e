//! Near misses at the limits of texts and tables: what still fits, and what does not.

use super::{Failed, NotObserved, Passed, TASK, outcome, verdict};

/// A text for each number, in one text.
fn many(count: usize, line: impl Fn(usize) -> String, between: &str) -> String {
    (0..count).map(line).collect::<Vec<_>>().join(between)
}

#[test]
fn texts() {
    for (length, expected) in [(16 * 1024, Passed), (16 * 1024 + 1, Failed)] {
        let script =
            format!(r#"s>c {{"method":"conversation/context","params":{{"context":"{}"}}}}"#, "x".repeat(length));
        assert_eq!(verdict("conversation/context-size", &script), expected, "{length}");
    }
    // A longer cursor is not remembered, so any other one may be what it became.
    for (length, expected) in [(1024, Failed), (1025, NotObserved)] {
        let script = format!(
            r#"hello 2025-11-25 {{}} | {{"tools":{{}}}}
               c>s {{"id":1,"method":"tools/list"}}
               s>c {{"id":1,"result":{{"tools":[],"nextCursor":"{}"}}}}
               c>s {{"id":2,"method":"tools/list","params":{{"cursor":"invented"}}}}"#,
            "x".repeat(length)
        );
        assert_eq!(verdict("pagination/invented-cursor", &script), expected, "{length}");
    }
    // The names of a channel that are too long are not compared with the lists of scopes.
    for (length, expected) in [(1020, Failed), (1021, NotObserved)] {
        let script = format!(
            r#"hello 2025-11-25 {{"experimental":{{"mcpl":{{}}}}}} | {{"experimental":{{"mcpl":{{"featureSets":{{"a":{{"uses":["channels.publish"]}}}}}}}}}}
               s>c {{"id":4,"method":"channels/register","params":{{"channels":[{{"id":"abc{}"}}]}}}}
               c>s {{"method":"featureSets/update","params":{{"enabled":["a"],"scopes":{{"a":{{"whitelist":["y"]}}}}}}}}
               c>s {{"id":9,"method":"channels/publish","params":{{"channelId":"abc{}"}}}}"#,
            "x".repeat(length),
            "x".repeat(length)
        );
        assert_eq!(verdict("mcpl/publish-out-of-scope", &script), expected, "{length}");
    }
    // A pattern that is too long matches only itself.
    for (length, expected) in [(4096, Passed), (4097, Failed)] {
        let script = format!(
            r#"hello 2025-11-25 {{"experimental":{{"mcpl":{{}}}}}} | {{"experimental":{{"mcpl":{{"featureSets":{{"a":{{"uses":["channels.publish"]}}}}}}}}}}
               s>c {{"id":4,"method":"channels/register","params":{{"channels":[{{"id":"x"}}]}}}}
               c>s {{"method":"featureSets/update","params":{{"enabled":["a"],"scopes":{{"a":{{"whitelist":["{}"]}}}}}}}}
               c>s {{"id":9,"method":"channels/publish","params":{{"channelId":"x"}}}}"#,
            "*".repeat(length)
        );
        assert_eq!(verdict("mcpl/publish-out-of-scope", &script), expected, "{length}");
    }
}

/// A list of patterns may have been longer than what is kept of it.
#[test]
fn lists() {
    for (count, expected) in [(1023, Failed), (1024, Passed)] {
        let patterns = many(count, |at| format!(r#""y{at}""#), ",");
        let script = format!(
            r#"hello 2025-11-25 {{"experimental":{{"mcpl":{{}}}}}} | {{"experimental":{{"mcpl":{{"featureSets":{{"a":{{"uses":["channels.publish"]}}}}}}}}}}
               s>c {{"id":4,"method":"channels/register","params":{{"channels":[{{"id":"x"}}]}}}}
               c>s {{"method":"featureSets/update","params":{{"enabled":["a"],"scopes":{{"a":{{"whitelist":[{patterns}]}}}}}}}}
               c>s {{"id":9,"method":"channels/publish","params":{{"channelId":"x"}}}}"#
        );
        assert_eq!(verdict("mcpl/publish-out-of-scope", &script), expected, "{count}");
    }
    // Of the hooks, the first 256 are checked.
    for (before, expected) in [(255, Failed), (256, NotObserved)] {
        let others = many(before, |at| format!(r#"{{"event":"session_start","context_tool":"t{at}"}},"#), "");
        let script = format!(
            r#"hello 2025-11-25 {{}} | {{"tools":{{}},"hooks":{{"declarations":[{others}{{"event":"session_start","context_tool":"last","context_tool_args":{{"q":1}}}}]}}}}
               c>s {{"id":1,"method":"tools/list"}}
               s>c {{"id":1,"result":{{"tools":[{{"name":"last","inputSchema":{{"type":"object","properties":{{"q":{{"type":"string"}}}}}}}}]}}}}"#
        );
        assert_eq!(verdict("hooks/tool-arguments", &script), expected, "{before}");
    }
}

#[test]
fn findings_that_are_reported_once() {
    // Of the methods that came too early, and of those that nobody knows, the first 256 are reported.
    let early = |count| {
        let messages = many(count, |at| format!(r#"c>s {{"id":{at},"method":"m{at}","params":{{}}}}"#), "\n");
        format!(
            r#"c>s {{"id":"h","method":"initialize","params":{{"protocolVersion":"2025-11-25","capabilities":{{}},"clientInfo":{{"name":"c","version":"1"}}}}}}
               s>c {{"id":"h","result":{{"protocolVersion":"2025-11-25","capabilities":{{}},"serverInfo":{{"name":"s","version":"1"}}}}}}
               {messages}"#
        )
    };
    for rule in ["lifecycle/early-message", "method/unknown-request"] {
        for (count, expected) in [(255, 255), (256, 256), (257, 256)] {
            assert_eq!(outcome(rule, &early(count)).1, expected, "{rule}: {count}");
        }
    }
}

/// Calls and deliveries that a table has forgotten.
#[test]
fn tables() {
    // Of the calls that a hook is about, 64 open ones are remembered.
    let hook =
        r#"hello 2025-11-25 {} | {"hooks":{"declarations":[{"event":"post_tool_use","context_tool":"recall"}]}}"#;
    for (count, expected) in [(64, Passed), (65, NotObserved)] {
        let calls =
            many(count, |at| format!(r#"c>s {{"id":{at},"method":"tools/call","params":{{"name":"t"}}}}"#), "\n");
        let script = format!(
            "{hook}\n{calls}\ns>c {{\"id\":0,\"result\":{{}}}}\nc>s {{\"id\":\"r\",\"method\":\"tools/call\",\"params\":{{\"name\":\"recall\"}}}}"
        );
        assert_eq!(verdict("hooks/moment", &script), expected, "{count}");
    }
    // A result of one that is remembered still counts.
    let calls = many(65, |at| format!(r#"c>s {{"id":{at},"method":"tools/call","params":{{"name":"t"}}}}"#), "\n");
    let script = format!(
        "{hook}\n{calls}\ns>c {{\"id\":1,\"result\":{{}}}}\nc>s {{\"id\":\"r\",\"method\":\"tools/call\",\"params\":{{\"name\":\"recall\"}}}}"
    );
    assert_eq!(verdict("hooks/moment", &script), Passed);
    // 256 calls of hooks are remembered, so what waits for one of them is known.
    let hooks = r#"hello 2025-11-25 {"experimental":{"mcpl":{}}} | {"experimental":{"mcpl":{}}}"#;
    for (count, expected) in [(256, Failed), (257, Passed)] {
        let asks = many(
            count,
            |at| {
                format!(r#"c>s {{"id":{at},"method":"context/beforeInference","params":{{"conversationId":"c{at}"}}}}"#)
            },
            "\n",
        );
        let script = format!(
            "{hooks}\n{asks}\ns>c {{\"id\":1,\"method\":\"inference/request\",\"params\":{{\"conversationId\":\"c0\"}}}}"
        );
        assert_eq!(verdict("mcpl/inference-in-hook", &script), expected, "{count}");
    }
    let subscribed = r#"c>s {"id":"s","method":"tools/call","params":{"name":"events_subscribe"}}
        s>c {"id":"s","result":{"structuredContent":{"subscriptionId":"$ONE","delivery":{"channels":["realtime","scheduled"]}}}}"#;
    // Of the events that came singly, 256 are remembered.
    let event = |at: usize| format!("22222222-2222-4222-8222-{at:012}");
    for (count, expected) in [(256, Failed), (257, NotObserved)] {
        let singles = many(
            count,
            |at| {
                format!(
                    r#"s>c {{"method":"events/event","params":{{"subscriptionId":"$ONE","event":{{"id":"{}"}}}}}}"#,
                    event(at)
                )
            },
            "\n",
        );
        let batch = |at: usize| {
            format!(
                r#"s>c {{"method":"events/batch","params":{{"subscriptionId":"$ONE","events":[{{"id":"{}"}}]}}}}"#,
                event(at)
            )
        };
        let script = format!("{subscribed}\n{singles}\n{}", batch(0));
        let kept = if expected == Failed { Passed } else { NotObserved };
        assert_eq!(verdict("mcpe/event-passed-over", &script), kept, "{count}");
        let script = format!("{subscribed}\n{singles}\n{}", batch(1));
        let passed_over = if expected == Failed { Failed } else { Passed };
        assert_eq!(verdict("mcpe/event-passed-over", &script), passed_over, "{count}");
    }
    // 64 open calls that may change a subscription are remembered.
    for (count, expected) in [(64, Passed), (65, Failed)] {
        let changes = many(
            count,
            |at| {
                format!(
                    r#"c>s {{"id":{at},"method":"tools/call","params":{{"name":"events_{}","arguments":{{"subscriptionId":"$ONE"}}}}}}"#,
                    if at == 0 { "resume" } else { "update" }
                )
            },
            "\n",
        );
        let script = format!(
            r#"{subscribed}
            c>s {{"id":"p","method":"tools/call","params":{{"name":"events_pause","arguments":{{"subscriptionId":"$ONE"}}}}}}
            s>c {{"id":"p","result":{{"structuredContent":{{"success":true}}}}}}
            {changes}
            @5000 s>c {{"method":"events/event","params":{{"subscriptionId":"$ONE","event":{{"id":"{}"}}}}}}"#,
            event(0)
        );
        assert_eq!(verdict("mcpe/delivery-inactive", &script), expected, "{count}");
    }
    // 256 deliveries wait until their subscription is granted.
    for (count, expected) in [(256, Passed), (257, Failed)] {
        let parked =
            many(count, |_| r#"s>c {"method":"events/event","params":{"subscriptionId":"$ONE"}}"#.to_owned(), "\n");
        let (asked, granted) = subscribed.split_once('\n').unwrap_or_default();
        assert_eq!(verdict("mcpe/unknown-subscription", &format!("{asked}\n{parked}\n{granted}")), expected, "{count}");
    }
    // Of the reminders about files, 256 wait for an update.
    for (count, expected) in [(256, 256), (257, 256)] {
        let reminders = many(
            count,
            |at| {
                format!(
                    r#"@{} s>c {{"method":"notifications/reminder","params":{{"reminder":{{"id":"{at}","body":"{at}","dedupeKey":"file:/a"}}}}}}"#,
                    1000 + at
                )
            },
            "\n",
        );
        let script = format!(
            r#"hello 2025-11-25 {{}} | {{"resources":{{"subscribe":true}},"reminders":{{"emit":true}}}}
               c>s {{"id":1,"method":"resources/subscribe","params":{{"uri":"file:///a"}}}}
               {reminders}
               @9000 s>c {{"method":"notifications/x"}}"#
        );
        assert_eq!(outcome("reminder/no-resource-update", &script).1, expected, "{count}");
    }
    // A task's or a question's table that is full says so.
    for (count, expected) in [(1024, Failed), (1025, NotObserved)] {
        let questions = many(
            count,
            |at| {
                format!(
                    r#"s>c {{"id":{at},"method":"elicitation/create","params":{{"mode":"url","url":"https://h/","elicitationId":"e{at}","message":"m"}}}}"#
                )
            },
            "\n",
        );
        let script = format!(
            "hello 2025-11-25 {{\"elicitation\":{{\"url\":{{}}}}}} | {{}}\n{questions}\ns>c {{\"method\":\"notifications/elicitation/complete\",\"params\":{{\"elicitationId\":\"other\"}}}}"
        );
        assert_eq!(verdict("elicitation/unknown-id", &script), expected, "{count}");
        let cursors = many(
            count,
            |at| {
                format!(
                    "c>s {{\"id\":{at},\"method\":\"tools/list\"}}\ns>c {{\"id\":{at},\"result\":{{\"tools\":[],\"nextCursor\":\"n{at}\"}}}}"
                )
            },
            "\n",
        );
        let script = format!(
            "hello 2025-11-25 {{}} | {{\"tools\":{{}}}}\n{cursors}\nc>s {{\"id\":\"l\",\"method\":\"tools/list\",\"params\":{{\"cursor\":\"invented\"}}}}"
        );
        assert_eq!(verdict("pagination/invented-cursor", &script), expected, "{count}");
        let logged = many(count, |at| format!(r#"c>s {{"id":{at},"method":"tools/list","params":{{$META}}}}"#), "\n");
        let script = format!(
            "{logged}\ns>c {{\"method\":\"notifications/message\",\"params\":{{\"level\":\"info\",\"data\":1}}}}"
        );
        assert_eq!(verdict("logging/unrequested", &script), expected, "{count}");
    }
    for (count, expected) in [(256, Failed), (257, NotObserved)] {
        let listens = many(
            count,
            |at| {
                format!(r#"c>s {{"id":{at},"method":"subscriptions/listen","params":{{"notifications":{{}},$META}}}}"#)
            },
            "\n",
        );
        let script = format!(
            "{listens}\ns>c {{\"method\":\"notifications/tools/list_changed\",\"params\":{{\"_meta\":{{\"io.modelcontextprotocol/subscriptionId\":\"other\"}}}}}}"
        );
        assert_eq!(verdict("subscriptions/unknown-id", &script), expected, "{count}");
    }
}

/// A hook whose call may be forgotten, and its own calls.
#[test]
fn hooks_that_may_be_about_forgotten_calls() {
    let hook = r#"hello 2025-11-25 {} | {"tools":{},"hooks":{"declarations":[{"event":"post_tool_use","context_tool":"recall","context_tool_args":{"q":"{tool_input}"}}]}}"#;
    let call = |at: usize| {
        format!(r#"c>s {{"id":{at},"method":"tools/call","params":{{"name":"t","arguments":{{"n":{at}}}}}}}"#)
    };
    let answer = |at: usize| format!(r#"s>c {{"id":{at},"result":{{"content":[]}}}}"#);
    let fired = |at: usize| {
        format!(
            r#"c>s {{"id":"r{at}","method":"tools/call","params":{{"name":"recall","arguments":{{"q":"{{\"n\":{at}}}"}}}}}}"#
        )
    };
    let more = |count| many(count, |at| call(1000 + at), "\n");
    for (expected, lines) in [
        // The table of open calls has forgotten the first one.
        (Passed, vec![call(0), answer(0), fired(0)]),
        (NotObserved, vec![call(0), answer(0), fired(0), call(1), more(257), fired(1)]),
        (NotObserved, vec![more(257), call(1), fired(1)]),
        (Passed, vec![more(257), call(1), answer(1), fired(1)]),
        // That of calls with a result has.
        (
            NotObserved,
            vec![
                call(0),
                answer(0),
                fired(0),
                many(257, |at| format!("{}\n{}", call(1000 + at), answer(1000 + at)), "\n"),
                fired(0),
            ],
        ),
    ] {
        assert_eq!(verdict("hooks/order", &format!("{hook}\n{}", lines.join("\n"))), expected, "{}", lines[0]);
    }
    // A hook before a call is also about one that may be forgotten.
    let before = hook.replace("post_tool_use", "pre_tool_use");
    let order = |lines: &[String]| verdict("hooks/order", &format!("{before}\n{}", lines.join("\n")));
    assert_eq!(order(&[fired(0), call(0)]), Passed);
    assert_eq!(order(&[call(0), fired(0)]), Failed);
    assert_eq!(order(&[call(0), more(257), fired(0)]), NotObserved);
}

/// A table that has forgotten something still knows the rest.
#[test]
fn what_is_not_forgotten() {
    let sample = r#""method":"sampling/createMessage","params":{"maxTokens":1,"messages":[],"tools":[{"name":"t","inputSchema":{"type":"object"}}]}"#;
    let asked = many(257, |at| format!(r#"s>c {{"id":{at},{sample}}}"#), "\n");
    let used = r#"{"role":"assistant","model":"m","content":{"type":"tool_use","id":"a","name":"t","input":{}}}"#;
    let script = format!(
        "hello 2025-11-25 {{\"sampling\":{{\"tools\":{{}}}}}} | {{}}\n{asked}\nc>s {{\"id\":1,\"result\":{used}}}"
    );
    assert_eq!(verdict("sampling/tool-not-offered", &script), Passed);
    let hello = r#"hello 2025-11-25 {} | {"tools":{"listChanged":true}}"#;
    let calls = many(1025, |at| format!(r#"c>s {{"id":{at},"method":"tools/call","params":{{"name":"t"}}}}"#), "\n");
    let refused = r#"s>c {"id":1,"error":{"code":-32602,"message":"m"}}"#;
    assert_eq!(verdict("tools/unknown-answered", &format!("{hello}\n{calls}\n{refused}")), Passed);
    // A tool that is listed again is no further one.
    let tools = |count: usize, kind: &str| {
        many(count, |at| format!(r#"{{"name":"t{at}","inputSchema":{{"type":"object","{kind}":{{}}}}}}"#), ",")
    };
    let listed = |id: u32, tools: &str| {
        format!("c>s {{\"id\":{id},\"method\":\"tools/list\"}}\ns>c {{\"id\":{id},\"result\":{{\"tools\":[{tools}]}}}}")
    };
    let again =
        format!("{hello}\n{}\n{}", listed(1, &tools(1024, "properties")), listed(2, &tools(1024, "patternProperties")));
    assert_eq!(verdict("tools/duplicate-name", &again), Passed);
    // More tools than are remembered: which ones there are is unknown, also when they are listed again.
    for (count, expected) in [(1024, Failed), (1025, NotObserved)] {
        for times in [1, 2] {
            let lists = many(times, |at| listed(at as u32, &tools(count, "properties")), "\n");
            let call = r#"c>s {"id":"c","method":"tools/call","params":{"name":"other"}}
                s>c {"id":"c","result":{"content":[]}}"#;
            assert_eq!(
                verdict("tools/unknown-answered", &format!("{hello}\n{lists}\n{call}")),
                expected,
                "{count} {times}"
            );
        }
    }
}

#[test]
fn more_tables() {
    // What is only listed up to a limit was not observed beyond it, but other mistakes are still seen.
    let uris = many(257, |at| format!(r#""a:{at}/""#), ",");
    let script = format!(
        r#"c>s {{"id":1,"method":"subscriptions/listen","params":{{"notifications":{{"resourceSubscriptions":[{uris}]}},$META}}}}
           s>c {{"method":"notifications/subscriptions/acknowledged","params":{{"notifications":{{}},$SUBSCRIPTION}}}}
           s>c {{"method":"notifications/tools/list_changed","params":{{$SUBSCRIPTION}}}}"#
    );
    assert_eq!(verdict("subscriptions/unrequested", &script), Failed);
    let tools = many(257, |at| format!(r#"{{"name":"t{at}","inputSchema":{{"type":"object"}}}}"#), ",");
    let script = format!(
        r#"hello 2025-11-25 {{"sampling":{{"tools":{{}}}}}} | {{}}
           s>c {{"id":1,"method":"sampling/createMessage","params":{{"maxTokens":1,"messages":[],"tools":[{tools}],"toolChoice":{{"mode":"none"}}}}}}
           c>s {{"id":1,"result":{{"role":"assistant","model":"m","content":{{"type":"tool_use","id":"a","name":"t256","input":{{}}}}}}}}"#
    );
    assert_eq!(verdict("sampling/tool-not-offered", &script), Failed);
    for (count, expected) in [(1024, Failed), (1025, NotObserved)] {
        let pings = many(
            count,
            // Consecutive ids are one entry.
            |at| format!("c>s {{\"id\":{0},\"method\":\"ping\"}}\ns>c {{\"id\":{0},\"result\":{{}}}}", 2 * at),
            "\n",
        );
        let cancelled = r#"c>s {"method":"notifications/cancelled","params":{"requestId":"other"}}"#;
        assert_eq!(verdict("cancellation/never-issued", &format!("{pings}\n{cancelled}")), expected, "{count}");
        let tasks = many(
            count - 1,
            |at| {
                format!(
                    r#"{{"taskId":"t{at}","status":"working","createdAt":"2025-11-25T10:00:00Z","lastUpdatedAt":"2025-11-25T10:00:00Z","ttl":0}}"#
                )
            },
            ",",
        );
        let script = format!(
            r#"{TASK}
            c>s {{"id":2,"method":"tasks/list"}}
            s>c {{"id":2,"result":{{"tasks":[{tasks}]}}}}
            s>c {{"method":"notifications/message","params":{{"level":"info","data":1,"_meta":{{"io.modelcontextprotocol/related-task":{{"taskId":"other"}}}}}}}}"#
        );
        assert_eq!(verdict("tasks/related-unknown", &script), expected, "{count}");
    }
    let channels = |count: usize| many(count, |at| format!(r#"{{"id":"c{at}"}}"#), ",");
    for (count, expected) in [(4096, Failed), (4097, Passed)] {
        let script = format!(
            r#"s>c {{"id":1,"method":"channels/register","params":{{"channels":[{}]}}}}
               c>s {{"id":1,"method":"channels/publish","params":{{"channelId":"other"}}}}"#,
            channels(count)
        );
        assert_eq!(verdict("mcpl/unregistered-channel", &script), expected, "{count}");
    }
    for (count, expected) in [(256, Failed), (257, NotObserved)] {
        let rounds = many(
            count,
            |at| {
                format!(
                    "c>s {{\"id\":{at},\"method\":\"tools/call\",\"params\":{{\"name\":\"t{at}\",$META}}}}\ns>c {{\"id\":{at},\"result\":{{\"resultType\":\"input_required\",\"inputRequests\":{{}}}}}}"
                )
            },
            "\n",
        );
        let script = format!(
            "{rounds}\nc>s {{\"id\":\"c\",\"method\":\"tools/call\",\"params\":{{\"name\":\"other\",\"inputResponses\":{{}},$META}}}}"
        );
        assert_eq!(verdict("input/unasked", &script), expected, "{count}");
    }
    // Of the user messages, 256 are remembered until a server that they did not reach is judged.
    let user = |id: &str| {
        format!(r#"c>s {{"method":"conversation/userMessage","params":{{"messageId":"{id}","content":"x"}}}}"#)
    };
    let server = |name: &str| {
        format!(
            r#"c>s {{"id":1,"method":"initialize","params":{{"protocolVersion":"2025-11-25","capabilities":{{}},"clientInfo":{{"name":"c","version":"1"}}}}}}
               s>c {{"id":1,"result":{{"protocolVersion":"2025-11-25","capabilities":{{"conversationEvents":{{"onUserMessage":true}}}},"serverInfo":{{"name":"{name}","version":"1"}}}}}}
               {}
               s>c {{"method":"conversation/context","params":{{"messageId":"first","context":""}}}}"#,
            user("first")
        )
    };
    for (count, expected) in [(255, 255), (256, 256), (257, 256)] {
        let messages = many(count, |at| user(&format!("m{at}")), "\n");
        let script = format!(
            "stream 1\n{}\nstream 2\n{}\nstream 1\n{messages}\nstream 2\n@9000 c>s {{\"method\":\"ping\"}}",
            server("a"),
            server("b")
        );
        assert_eq!(outcome("conversation/not-fanned-out", &script).1, expected, "{count}");
    }
    // A compaction leaves the reminders that survive it, if they were not forgotten.
    for (more, expected) in [(255, Passed), (256, NotObserved)] {
        let reminders = many(
            more,
            |at| {
                format!(
                    r#"s>c {{"method":"notifications/reminder","params":{{"reminder":{{"body":"{at}","ttlTurns":9}}}}}}"#
                )
            },
            "\n",
        );
        let script = format!(
            "s>c {{\"method\":\"notifications/reminder\",\"params\":{{\"reminder\":{{\"body\":\"b\",\"ttlTurns\":9,\"preserveOnCompact\":true}}}}}}\n{reminders}\nnote compacted\nnote turn"
        );
        assert_eq!(verdict("reminder/turn-budget", &script), expected, "{more}");
    }
}

/// What is kept of a request until its response comes.
#[test]
fn outlines_of_requests() {
    for (length, expected) in [(256, Failed), (257, NotObserved)] {
        let id = "x".repeat(length);
        let script = format!(
            r#"{TASK}
            c>s {{"id":2,"method":"tasks/get","params":{{"taskId":"{id}"}}}}
            s>c {{"id":2,"result":{{"taskId":"other","status":"working","createdAt":"2025-11-25T10:00:00Z","lastUpdatedAt":"2025-11-25T10:00:00Z","ttl":0}}}}"#
        );
        assert_eq!(verdict("tasks/other-task", &script), expected, "{length}");
        let members = many(length - 1, |at| format!(r#""m{at}":1,"#), "");
        let script = format!(
            r#"{TASK}
            c>s {{"id":2,"method":"tasks/get","params":{{{members}"taskId":"b"}}}}
            s>c {{"id":2,"result":{{"taskId":"other","status":"working","createdAt":"2025-11-25T10:00:00Z","lastUpdatedAt":"2025-11-25T10:00:00Z","ttl":0}}}}"#
        );
        assert_eq!(verdict("tasks/other-task", &script), expected, "{length} members");
    }
}

/// A state of more than a mebibyte is not kept.
#[test]
fn states() {
    let hello = r#"hello 2025-11-25 {"experimental":{"mcpl":{}}} | {"experimental":{"mcpl":{"featureSets":{"a":{"uses":["tools"],"rollback":true,"hostState":true}}}}}"#;
    let kept = |at: usize, length: usize| {
        format!(
            "c>s {{\"id\":{at},\"method\":\"tools/call\",\"params\":{{\"name\":\"t\"}}}}\ns>c {{\"id\":{at},\"result\":{{\"content\":[],\"state\":{{\"checkpoint\":\"k{at}\",\"data\":\"{}\"}}}}}}",
            "x".repeat(length - 2)
        )
    };
    let other = r#"c>s {"id":"c","method":"tools/call","params":{"name":"t","state":"other"}}"#;
    for (length, expected) in [(1 << 20, Failed), ((1 << 20) + 1, NotObserved)] {
        assert_eq!(
            verdict("mcpl/state-differs", &format!("{hello}\n{}\n{other}", kept(0, length))),
            expected,
            "{length}"
        );
    }
    // Of the states of several tools, the oldest is given up. That of the latest checkpoint is still known.
    for (count, of_first, of_last) in [(16, Failed, Failed), (17, NotObserved, Failed)] {
        let all = many(count, |at| kept(at, 1 << 20).replace(r#""name":"t""#, &format!(r#""name":"t{at}""#)), "\n");
        for (tool, expected) in [(0, of_first), (count - 1, of_last)] {
            let other = other.replace(r#""name":"t""#, &format!(r#""name":"t{tool}""#));
            assert_eq!(
                verdict("mcpl/state-differs", &format!("{hello}\n{all}\n{other}")),
                expected,
                "{tool} of {count}"
            );
        }
    }
}
