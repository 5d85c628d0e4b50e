//! Test sessions with tasks.

/// Fills in the members that every task has.
macro_rules! task {
    ($id:literal, $status:literal) => {
        concat!(
            r#""taskId":""#,
            $id,
            r#"","status":""#,
            $status,
            r#"","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":null"#
        )
    };
}
/// A server that makes tasks of calls, and a task `t`.
macro_rules! created {
    ($rest:expr) => {
        concat!(
            r#"hello 2025-11-25 {} | {"tools":{},"logging":{},"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}}
               c>s {"id":1,"method":"tools/call","params":{"name":"n","task":{}}}
               s>c {"id":1,"result":{"task":{"#,
            task!("t", "working"), "}}}\n", $rest
        )
    };
}

pub(in crate::validate) const CASES: &[(&str, &str)] = &[
    (
        "tasks/unrequested",
        concat!(
            r#"hello 2025-11-25 {} | {"tools":{},"tasks":{"requests":{"tools":{"call":{}}}}}
               c>s {"id":1,"method":"tools/call","params":{"name":"n"}}
               s>c {"id":1,"result":{"task":{"#,
            task!("t", "working"),
            "}}}"
        ),
    ),
    (
        "tasks/not-created",
        r#"hello 2025-11-25 {} | {"tools":{},"tasks":{"requests":{"tools":{"call":{}}}}}
           c>s {"id":1,"method":"tools/call","params":{"name":"n","task":{}}}
           s>c {"id":1,"result":{"content":[]}}"#,
    ),
    (
        "tasks/initial-status",
        concat!(
            r#"hello 2025-11-25 {} | {"tools":{},"tasks":{"requests":{"tools":{"call":{}}}}}
               c>s {"id":1,"method":"tools/call","params":{"name":"n","task":{}}}
               s>c {"id":1,"result":{"task":{"#,
            task!("t", "completed"),
            "}}}"
        ),
    ),
    (
        "tasks/id-reused",
        created!(concat!(
            r#"c>s {"id":2,"method":"tools/call","params":{"name":"n","task":{}}}
               s>c {"id":2,"result":{"task":{"#,
            task!("t", "working"),
            "}}}"
        )),
    ),
    (
        "tasks/transition",
        created!(concat!(
            r#"s>c {"method":"notifications/tasks/status","params":{"#,
            task!("t", "completed"),
            "}}\n",
            r#"c>s {"id":2,"method":"tasks/get","params":{"taskId":"t"}}
               s>c {"id":2,"result":{"#,
            task!("t", "working"),
            "}}"
        )),
    ),
    (
        "tasks/transition",
        created!(concat!(
            r#"c>s {"id":2,"method":"tasks/cancel","params":{"taskId":"t"}}
               s>c {"id":2,"result":{"#,
            task!("t", "cancelled"),
            "}}\n",
            r#"s>c {"method":"notifications/tasks/status","params":{"#,
            task!("t", "completed"),
            "}}"
        )),
    ),
    (
        "tasks/cancel-finished",
        created!(concat!(
            r#"s>c {"method":"notifications/tasks/status","params":{"#,
            task!("t", "failed"),
            "}}\n",
            r#"c>s {"id":2,"method":"tasks/cancel","params":{"taskId":"t"}}
               s>c {"id":2,"error":{"code":-32603,"message":"no"}}"#
        )),
    ),
    (
        "tasks/cancel-status",
        created!(concat!(
            r#"c>s {"id":2,"method":"tasks/cancel","params":{"taskId":"t"}}
               s>c {"id":2,"result":{"#,
            task!("t", "working"),
            "}}"
        )),
    ),
    (
        "tasks/refusal-code",
        created!(
            r#"c>s {"id":2,"method":"tasks/get","params":{"taskId":"u"}}
               s>c {"id":2,"error":{"code":-32603,"message":"no"}}"#
        ),
    ),
    ("tasks/unknown-id", created!(r#"c>s {"id":2,"method":"tasks/get","params":{"taskId":"u"}}"#)),
    (
        "tasks/other-task",
        created!(concat!(
            r#"c>s {"id":2,"method":"tasks/get","params":{"taskId":"t"}}
               s>c {"id":2,"result":{"#,
            task!("u", "working"),
            "}}"
        )),
    ),
    (
        "tasks/early-result",
        created!(concat!(
            r#"c>s {"id":2,"method":"tasks/result","params":{"taskId":"t"}}
               s>c {"id":2,"result":{"content":[],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"}}}}
               c>s {"id":3,"method":"tasks/get","params":{"taskId":"t"}}
               s>c {"id":3,"result":{"#,
            task!("t", "working"),
            "}}"
        )),
    ),
    (
        "tasks/related-task",
        created!(
            r#"c>s {"id":2,"method":"tasks/result","params":{"taskId":"t"}}
               s>c {"id":2,"result":{"content":[]}}"#
        ),
    ),
    (
        "tasks/related-unknown",
        created!(
            r#"s>c {"method":"notifications/message","params":{"level":"info","data":"x",
                   "_meta":{"io.modelcontextprotocol/related-task":{"taskId":"u"}}}}"#
        ),
    ),
    (
        "tasks/related-superfluous",
        created!(concat!(
            r#"s>c {"method":"notifications/tasks/status","params":{"#,
            task!("t", "working"),
            r#","_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"}}}}"#
        )),
    ),
    (
        "tasks/timestamp",
        created!(
            r#"s>c {"method":"notifications/tasks/status","params":{"taskId":"t","status":"working","ttl":null,
                   "createdAt":"yesterday","lastUpdatedAt":"2026-01-01T00:00:00Z"}}"#
        ),
    ),
    (
        "tasks/duration",
        created!(
            r#"s>c {"method":"notifications/tasks/status","params":{"taskId":"t","status":"working","ttl":-1,
                   "createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z"}}"#
        ),
    ),
    (
        "tasks/poll-interval",
        created!(concat!(
            r#"s>c {"method":"notifications/tasks/status","params":{"pollInterval":5000,"#,
            task!("t", "working"),
            "}}\n",
            r#"c>s {"id":2,"method":"tasks/get","params":{"taskId":"t"}}"#
        )),
    ),
    (
        "tasks/list-incomplete",
        created!(concat!(
            r#"c>s {"id":2,"method":"tasks/get","params":{"taskId":"t"}}
               s>c {"id":2,"result":{"#,
            task!("t", "working"),
            "}}\n",
            r#"c>s {"id":3,"method":"tasks/list"}
               s>c {"id":3,"result":{"tasks":[]}}
               c>s {"id":4,"method":"tasks/get","params":{"taskId":"t"}}
               s>c {"id":4,"result":{"#,
            task!("t", "working"),
            "}}"
        )),
    ),
    ("tasks/cancelled-request", created!(r#"c>s {"method":"notifications/cancelled","params":{"requestId":1}}"#)),
];

pub(in crate::validate) const QUIET: &[&str] = &[
    // A task that needs input, is listed, finishes, and cannot be cancelled then.
    created!(concat!(
        r#"s>c {"method":"notifications/tasks/status","params":{"pollInterval":1000,"#,
        task!("t", "input_required"),
        "}}\n",
        r#"s>c {"method":"notifications/message","params":{"level":"info","data":"x",
               "_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"}}}}
           c>s {"id":2,"method":"tasks/list"}
           s>c {"id":2,"result":{"tasks":[{"#,
        task!("t", "working"),
        "}]}}\n",
        r#"@5000 c>s {"id":3,"method":"tasks/get","params":{"taskId":"t"}}
           s>c {"method":"notifications/tasks/status","params":{"pollInterval":1,"#,
        task!("t", "completed"),
        "}}\n",
        r#"s>c {"id":3,"result":{"#,
        task!("t", "working"),
        "}}\n",
        r#"c>s {"id":4,"method":"tasks/result","params":{"taskId":"t"}}
           s>c {"id":4,"result":{"content":[],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"}}}}
           c>s {"id":5,"method":"tasks/cancel","params":{"taskId":"t"}}
           s>c {"id":5,"error":{"code":-32602,"message":"finished"}}
           c>s {"id":6,"method":"tasks/get","params":{"taskId":"t"}}
           s>c {"id":6,"result":{"#,
        task!("t", "completed"),
        "}}\n",
        r#"c>s {"id":7,"method":"tasks/get","params":{"taskId":"u"}}
           s>c {"id":7,"error":{"code":-32602,"message":"no such task"}}
           c>s {"id":8,"method":"tools/call","params":{"name":"n"}}
           s>c {"id":8,"result":{"content":[]}}
           c>s {"method":"notifications/cancelled","params":{"requestId":8}}"#
    )),
    // Tasks that are listed; a list of several pages, which may change meanwhile; a task that is gone.
    created!(concat!(
        r#"c>s {"id":2,"method":"tasks/get","params":{"taskId":"t"}}
           s>c {"id":2,"result":{"#,
        task!("t", "working"),
        "}}\n",
        r#"c>s {"id":3,"method":"tasks/list"}
           s>c {"id":3,"result":{"tasks":[{"#,
        task!("t", "working"),
        "}]}}\n",
        r#"c>s {"id":4,"method":"tasks/list"}
           s>c {"id":4,"result":{"tasks":[],"nextCursor":"2"}}
           c>s {"id":5,"method":"tasks/list","params":{"cursor":"2"}}
           s>c {"id":5,"result":{"tasks":[]}}
           c>s {"id":6,"method":"tasks/get","params":{"taskId":"t"}}
           s>c {"id":6,"result":{"#,
        task!("t", "working"),
        "}}\n",
        r#"c>s {"id":7,"method":"tasks/get","params":{"taskId":"t"}}
           c>s {"id":8,"method":"tasks/list"}
           s>c {"id":8,"result":{"tasks":[]}}
           s>c {"id":7,"result":{"#,
        task!("t", "working"),
        "}}"
    )),
    // A task that is cancelled.
    created!(concat!(
        r#"c>s {"id":2,"method":"tasks/cancel","params":{"taskId":"t"}}
           s>c {"id":2,"result":{"#,
        task!("t", "cancelled"),
        "}}\n",
        r#"@60000 c>s {"id":3,"method":"tasks/get","params":{"taskId":"t"}}
           s>c {"id":3,"result":{"pollInterval":10,"#,
        task!("t", "cancelled"),
        "}}\n",
        r#"@90000 c>s {"id":4,"method":"tasks/get","params":{"taskId":"t"}}
           s>c {"id":4,"result":{"#,
        task!("t", "cancelled"),
        "}}"
    )),
];

/// What came before the recording is not known.
#[test]
fn a_task_of_an_earlier_part_is_not_unknown() {
    let found = crate::validate::tests::found(
        r#"hello 2025-11-25 {} | {"tools":{},"tasks":{}}
           gap
           c>s {"id":2,"method":"tasks/get","params":{"taskId":"u"}}
           s>c {"id":2,"error":{"code":-32603,"message":"no"}}"#,
    );
    assert!(!found.contains("tasks/unknown-id") && !found.contains("tasks/refusal-code"), "{found:?}");
}
