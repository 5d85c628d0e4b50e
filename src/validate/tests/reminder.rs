use super::Case;

pub const CASES: &[Case] = &[
    (
        "reminder/undeclared",
        r#"hello 2025-11-25 {} | {"reminders":{"emit":false}}
           s>c {"method":"notifications/reminder","params":{"reminder":{"id":"r","body":"b"}}}"#,
    ),
    (
        "reminder/unlisted-value",
        r#"hello 2025-11-25 {} | {"reminders":{"emit":true,"roleHints":["system"]}}
           s>c {"method":"notifications/reminder","params":{"reminder":{"id":"r","body":"b","roleHint":"developer"}}}"#,
    ),
    (
        "reminder/unlisted-value",
        r#"hello 2025-11-25 {} | {"reminders":{"emit":true,"propagate":["none"]}}
           s>c {"method":"notifications/reminder","params":{"reminder":{"id":"r","body":"b"}}}"#,
    ),
    (
        "reminder/id-not-uuid7",
        r#"hello 2025-11-25 {} | {"reminders":{"emit":true}}
           s>c {"method":"notifications/reminder","params":{"reminder":{"id":"r","body":"b"}}}"#,
    ),
    (
        "reminder/snake-case",
        r#"hello 2025-11-25 {} | {"reminders":{"emit":true}}
           s>c {"method":"notifications/reminder","params":{"reminder":{"id":"r","body":"b","ttl_turns":2}}}"#,
    ),
    (
        "reminder/near-miss",
        r#"hello 2025-11-25 {} | {"reminders":{"emit":true}}
           s>c {"method":"notifications/reminder","params":{"reminder":{"id":"r","body":"b","DedupeKey":"k"}}}"#,
    ),
    (
        "reminder/fired-at-turn",
        r#"hello 2025-11-25 {} | {"reminders":{"emit":true}}
           s>c {"method":"notifications/reminder","params":{"reminder":{"id":"r","body":"b","firedAtTurn":3}}}"#,
    ),
    (
        "reminder/resent",
        r#"hello 2025-11-25 {} | {"reminders":{"emit":true}}
           s>c {"method":"notifications/reminder","params":{"reminder":{"id":"r","body":"b"}}}
           s>c {"method":"notifications/reminder","params":{"reminder":{"id":"r","body":"other"}}}"#,
    ),
    (
        "reminder/both-paths",
        r#"hello 2025-11-25 {} | {"logging":{},"reminders":{"emit":true}}
           s>c {"method":"notifications/reminder","params":{"reminder":{"id":"r","body":"b"}}}
           s>c {"method":"notifications/message","params":{"level":"info","data":"b","_meta":{"harn":{"reminder":
               {"id":"r","body":"b"}}}}}"#,
    ),
    (
        "reminder/legacy-envelope",
        r#"hello 2025-11-25 {} | {"logging":{},"reminders":{"emit":true}}
           s>c {"method":"notifications/message","params":{"level":"info","data":"b","_meta":{"harn":{"reminder":
               {"id":"r","body":"b","ttl_turns":1}}}}}"#,
    ),
    (
        "reminder/legacy-shape",
        r#"hello 2025-11-25 {} | {"logging":{},"reminders":{"emit":true}}
           s>c {"method":"notifications/message","params":{"level":"info","data":"b","_meta":{"harn":{"reminder":
               {"id":"r"}}}}}"#,
    ),
    ("reminder/legacy-capability", r#"hello 2025-11-25 {} | {"_meta":{"harn":{"reminders":{"emit":true}}}}"#),
    (
        "reminder/rate",
        r#"hello 2025-11-25 {} | {"reminders":{"emit":true}}
           x61 s>c {"method":"notifications/reminder","params":{"reminder":{"id":"r$N","body":"b"}}}"#,
    ),
];

/// What the proposal asks of a reminder by its schema.
#[test]
fn a_reminder_without_a_body_or_id_is_a_misfit() {
    for reminder in ["{}", r#"{"reminder":{"id":"r","body":""}}"#, r#"{"reminder":{"body":"b"}}"#] {
        let script = format!(
            "hello 2025-11-25 {{}} | {{\"reminders\":{{\"emit\":true}}}}\n\
             s>c {{\"method\":\"notifications/reminder\",\"params\":{reminder}}}"
        );
        assert!(super::ids(&super::run(&script)).contains("schema/params"), "{reminder}");
    }
}
