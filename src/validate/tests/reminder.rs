use super::Case;

/// A reminder about a file that the client subscribed to, without an update of the file.
const CHANGED: &str = r#"hello 2025-11-25 {} | {"resources":{"subscribe":true},"reminders":{"emit":true}}
    c>s {"id":1,"method":"resources/subscribe","params":{"uri":"file:///w/src/lib.rs"}}
    s>c {"id":1,"result":{}}
    @5000 s>c {"method":"notifications/reminder","params":{"reminder":{"id":"r","body":"b","dedupeKey":
        "file_changed:src/lib.rs"}}}
    @9000 c>s {"id":2,"method":"ping"}
    s>c {"id":2,"result":{}}"#;

pub(super) const CASES: &[Case] = &[
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
        "reminder/id-reused",
        r#"hello 2025-11-25 {} | {"reminders":{"emit":true}}
           s>c {"method":"notifications/reminder","params":{"reminder":{"id":"r","body":"b","dedupeKey":"k"}}}
           s>c {"method":"notifications/reminder","params":{"reminder":{"id":"r","body":"other","dedupeKey":"l"}}}"#,
    ),
    (
        "reminder/other-method",
        r#"hello 2025-11-25 {} | {"reminders":{"emit":true}}
           s>c {"method":"notifications/context/reminder","params":{"reminder":{"id":"r","body":"b"}}}"#,
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
        "reminder/legacy-place",
        r#"hello 2025-11-25 {} | {"logging":{},"reminders":{"emit":true}}
           s>c {"method":"notifications/message","params":{"level":"info","data":"b"},"_meta":{"harn":{"reminder":
               {"id":"r","body":"b"}}}}"#,
    ),
    (
        "reminder/no-lifetime",
        r#"hello 2025-11-25 {} | {"reminders":{"emit":true}}
           s>c {"method":"notifications/reminder","params":{"reminder":{"id":"r","body":"b"}}}"#,
    ),
    (
        "reminder/provider-role",
        r#"hello 2025-11-25 {} | {"reminders":{"emit":true}}
           s>c {"method":"notifications/reminder","params":{"reminder":{"id":"r","body":"b",
               "roleHint":"ephemeral_cache"}}}"#,
    ),
    (
        "reminder/during-call",
        r#"hello 2025-11-25 {} | {"tools":{},"reminders":{"emit":true}}
           c>s {"id":1,"method":"tools/call","params":{"name":"t"}}
           s>c {"method":"notifications/reminder","params":{"reminder":{"id":"r","body":"b"}}}
           s>c {"id":1,"result":{"content":[]}}"#,
    ),
    ("reminder/no-resource-update", CHANGED),
    (
        "reminder/turn-budget",
        r#"hello 2025-11-25 {} | {"reminders":{"emit":true}}
           x11 s>c {"method":"notifications/reminder","params":{"reminder":{"id":"r$N","body":"b$N"}}}
           note turn"#,
    ),
    (
        "reminder/legacy-key",
        r#"hello 2025-11-25 {} | {"logging":{},"reminders":{"emit":true}}
           s>c {"method":"notifications/message","params":{"level":"info","data":"x","_meta":{"harn.reminder":{"id":"r",
               "body":"b"}}}}"#,
    ),
    ("reminder/capability-near-miss", r#"hello 2025-11-25 {} | {"reminders":{"emit":true,"roleHint":["system"]}}"#),
    (
        "reminder/rate",
        r#"hello 2025-11-25 {} | {"reminders":{"emit":true}}
           x61 s>c {"method":"notifications/reminder","params":{"reminder":{"id":"r$N","body":"b"}}}"#,
    ),
];

pub(super) const QUIET: &[&str] =
    &[r#"hello 2025-11-25 {} | {"resources":{"subscribe":true},"reminders":{"emit":true}}
       c>s {"id":1,"method":"resources/subscribe","params":{"uri":"file:///w/src/lib.rs"}}
       s>c {"id":1,"result":{}}
       s>c {"method":"notifications/resources/updated","params":{"uri":"file:///w/src/lib.rs"}}
       s>c {"method":"notifications/reminder","params":{"reminder":{"id":"r","body":"b","dedupeKey":
           "file_changed:src/lib.rs"}}}
       note turn"#];

fn count(script: &str, rule: &str) -> usize {
    super::run(script).findings.iter().filter(|finding| finding.rule.id == rule).count()
}

/// A session with these reminders, given as the texts of objects.
fn reminders(list: &[&str]) -> String {
    let one =
        |reminder: &&str| format!(r#"s>c {{"method":"notifications/reminder","params":{{"reminder":{reminder}}}}}"#);
    let hello = r#"hello 2025-11-25 {} | {"reminders":{"emit":true}}"#.to_owned();
    [hello].into_iter().chain(list.iter().map(one)).collect::<Vec<_>>().join("\n")
}

/// The requirements that the schema of a reminder expresses.
#[test]
fn b2_to_b12_a_reminder_keeps_to_its_schema() {
    for (reminder, fits) in [
        (r#"{"id":"r","body":"b"}"#, true),
        (
            r#"{"id":"r","body":"b","tags":["a"],"dedupeKey":"k","ttlTurns":1,"preserveOnCompact":true,
            "propagate":"all","roleHint":"developer","firedAtTurn":null}"#,
            true,
        ),
        (r#"{"id":"r","body":"b","propagate":"none","roleHint":"user_block","firedAtTurn":4}"#, true),
        (r#"{"id":"r","body":"b","propagate":"session","roleHint":"ephemeral_cache","more":[1]}"#, true),
        ("7", false),
        (r#"{"body":"b"}"#, false),
        (r#"{"id":1,"body":"b"}"#, false),
        (r#"{"id":"r"}"#, false),
        (r#"{"id":"r","body":""}"#, false),
        (r#"{"id":"r","body":"b","tags":"a"}"#, false),
        (r#"{"id":"r","body":"b","tags":[1]}"#, false),
        (r#"{"id":"r","body":"b","dedupeKey":1}"#, false),
        (r#"{"id":"r","body":"b","ttlTurns":0}"#, false),
        (r#"{"id":"r","body":"b","ttlTurns":1.5}"#, false),
        (r#"{"id":"r","body":"b","preserveOnCompact":"yes"}"#, false),
        (r#"{"id":"r","body":"b","propagate":"some"}"#, false),
        (r#"{"id":"r","body":"b","roleHint":"user"}"#, false),
        (r#"{"id":"r","body":"b","firedAtTurn":"now"}"#, false),
    ] {
        assert_eq!(count(&reminders(&[reminder]), "schema/params") == 0, fits, "{reminder}");
    }
    let hello = r#"hello 2025-11-25 {} | {"reminders":{"emit":true}}"#;
    for params in ["{}", r#"{"reminder":{"id":"r","body":"b"},"_meta":7}"#] {
        let script = format!("{hello}\ns>c {{\"method\":\"notifications/reminder\",\"params\":{params}}}");
        assert_eq!(count(&script, "schema/params"), 1, "{params}");
    }
}

#[test]
fn b1_a_reminder_has_no_id_and_comes_from_the_server() {
    let hello = r#"hello 2025-11-25 {} | {"reminders":{"emit":true}}"#;
    let asked = r#"s>c {"id":1,"method":"notifications/reminder","params":{"reminder":{"id":"r","body":"b"}}}"#;
    assert_eq!(count(&format!("{hello}\n{asked}"), "method/kind"), 1);
    let sent = r#"c>s {"method":"notifications/reminder","params":{"reminder":{"id":"r","body":"b"}}}"#;
    assert_eq!(count(&format!("{hello}\n{sent}"), "method/direction"), 1);
    assert_eq!(count(&reminders(&[r#"{"id":"r","body":"b"}"#]), "method/kind"), 0);
}

#[test]
fn b13_the_capability_keeps_to_its_schema_and_only_emit_true_emits() {
    for (declared, fits, emits) in [
        (r#"{"emit":true,"propagate":["session","none"],"roleHints":["system"]}"#, true, true),
        ("{}", true, false),
        (r#"{"emit":false}"#, true, false),
        (r#"{"emit":"yes"}"#, false, false),
        (r#"{"emit":true,"propagate":["some"]}"#, false, true),
        (r#"{"emit":true,"roleHints":"system"}"#, false, true),
    ] {
        let script = format!(
            "hello 2025-11-25 {{}} | {{\"reminders\":{declared}}}\ns>c {{\"method\":\"notifications/reminder\",\
             \"params\":{{\"reminder\":{{\"id\":\"r\",\"body\":\"b\"}}}}}}"
        );
        assert_eq!(count(&script, "schema/capability") == 0, fits, "{declared}");
        assert_eq!(count(&script, "reminder/undeclared") == 0, emits, "{declared}");
    }
}

/// Declarations at other places are accepted, too. Those that the official SDKs preserve are not reported.
#[test]
fn b25_the_capability_is_found_at_its_other_places() {
    let sends = "s>c {\"method\":\"notifications/reminder\",\"params\":{\"reminder\":{\"id\":\"r\",\"body\":\"b\"}}}";
    for (place, legacy) in [
        (r#"{"experimental":{"reminders":{"emit":true}}}"#, 0),
        (r#"{"_meta":{"harn":{"reminders":{"emit":true}}}}"#, 1),
    ] {
        let script = format!("hello 2025-11-25 {{}} | {place}\n{sends}");
        assert_eq!(count(&script, "reminder/undeclared"), 0, "{place}");
        assert_eq!(count(&script, "reminder/legacy-capability"), legacy, "{place}");
    }
}

#[test]
fn b14_values_that_are_listed_or_the_default_are_quiet() {
    let script = |declared: &str, reminder: &str| {
        reminders(&[reminder]).replace(r#"{"emit":true}"#, &format!(r#"{{"emit":true,{declared}}}"#))
    };
    let plain = r#"{"id":"r","body":"b"}"#;
    assert_eq!(
        count(&script(r#""propagate":["session"],"roleHints":["system"]"#, plain), "reminder/unlisted-value"),
        0
    );
    assert_eq!(count(&script(r#""propagate":[],"roleHints":[]"#, plain), "reminder/unlisted-value"), 2);
    let role = r#"{"id":"r","body":"b","roleHint":"developer"}"#;
    assert_eq!(count(&script(r#""roleHints":["system","developer"]"#, role), "reminder/unlisted-value"), 0);
}

/// Only reminders that wait for a turn at a host that follows the proposal count for it.
#[test]
fn b18_b19_b28_a_turn_counts_what_waits_for_it() {
    let send = |count: u32, from: u32, more: &str| {
        let one = |id: u32| {
            format!(
                r#"s>c {{"method":"notifications/reminder","params":{{"reminder":{{"id":"r{id}","body":"b"{more}}}}}}}"#
            )
        };
        (from..from + count).map(one).collect::<Vec<_>>().join("\n")
    };
    let hello = r#"hello 2025-11-25 {} | {"reminders":{"emit":true}}"#;
    for (turns, breaches) in [
        (vec![send(11, 0, "")], 1),
        (vec![send(10, 0, "")], 0),
        (vec![send(11, 0, r#","dedupeKey":"k""#)], 0),
        (vec![send(6, 0, ""), send(6, 10, "")], 0),
        (vec![send(6, 0, r#","ttlTurns":2"#), send(6, 10, "")], 1),
        (vec![send(6, 0, r#","ttlTurns":2"#) + "\nnote compacted", send(6, 10, "")], 0),
        (vec![send(6, 0, r#","ttlTurns":2,"preserveOnCompact":true"#) + "\nnote compacted", send(6, 10, "")], 1),
        (vec![send(6, 0, r#","ttlTurns":2"#) + "\ngap", send(6, 10, "")], 0),
    ] {
        let script = format!("{hello}\n{}\nnote turn", turns.join("\nnote turn\n"));
        let found = count(&script, "reminder/turn-budget");
        // In the cases with a compaction, the second turn follows it and contains only the reminders that survived.
        assert_eq!(found, breaches, "{script}");
    }
}

/// A mark, a user message, or an inference that does not belong to a user message shows a turn.
#[test]
fn turns_are_reported_by_messages_where_no_mark_reports_them() {
    let hello = r#"hello 2025-11-25 {} | {"reminders":{"emit":true},"conversationEvents":{"onUserMessage":true}}"#;
    let eleven =
        r#"x11 s>c {"method":"notifications/reminder","params":{"reminder":{"id":"r$N","body":"b","ttlTurns":9}}}"#;
    let message = r#"c>s {"id":1,"method":"conversation/userMessage","params":{"messageId":"m1","content":"hi"}}"#;
    let inference = r#"c>s {"id":2,"method":"context/beforeInference","params":{"inferenceId":"i"}}"#;
    for (moments, turns) in [
        (vec!["note turn"], 1),
        (vec!["note other"], 0),
        (vec![message], 1),
        (vec![inference], 1),
        (vec![message, inference], 1),
        (vec![message, inference, inference], 2),
        (vec!["note turn", message, inference], 1),
    ] {
        let script = format!("{hello}\n{eleven}\n{}", moments.join("\n"));
        assert_eq!(count(&script, "reminder/turn-budget"), turns, "{moments:?}");
    }
}

#[test]
fn b23_an_update_within_two_seconds_keeps_quiet_and_so_does_a_file_nobody_subscribed_to() {
    let update = r#"s>c {"method":"notifications/resources/updated","params":{"uri":"file:///w/src/lib.rs"}}"#;
    assert_eq!(count(&CHANGED.replace("@9000", &format!("@6900 {update}\n@9000")), "reminder/no-resource-update"), 0);
    assert_eq!(count(&CHANGED.replace("@9000", &format!("@7100 {update}\n@9000")), "reminder/no-resource-update"), 1);
    assert_eq!(count(&CHANGED.replace("@5000", &format!("@3100 {update}\n@5000")), "reminder/no-resource-update"), 0);
    for (from, to) in [
        ("w/src/lib.rs", "w/src/other.rs"),
        ("w/src/lib.rs", "w/mysrc/lib.rs"),
        ("\"subscribe\":true", ""),
        ("@9000", "@6000"),
    ] {
        assert_eq!(count(&CHANGED.replace(from, to), "reminder/no-resource-update"), 0, "{from} -> {to}");
    }
}

/// The older form permits both spellings, `notifications/reminder` only one.
#[test]
fn b27_snake_case_belongs_to_the_legacy_envelope() {
    let legacy = r#"hello 2025-11-25 {} | {"logging":{},"reminders":{"emit":true}}
        s>c {"method":"notifications/message","params":{"level":"info","data":"b","_meta":{"harn":{"reminder":{"id":"r",
            "body":"b","ttl_turns":1,"dedupe_key":"k","role_hint":"system","preserve_on_compact":null,"source":"s",
            "originating_agent_id":"a"}}}}}"#;
    let report = super::run(legacy);
    assert_eq!((report.errors, report.warnings), (0, 1), "{:?}", report.findings);
    assert_eq!(count(&reminders(&[r#"{"id":"r","body":"b","dedupe_key":"k"}"#]), "reminder/snake-case"), 1);
}

#[test]
fn b30_a_call_that_has_its_answer_is_no_longer_open() {
    let script = |answer: &str| {
        format!(
            r#"hello 2025-11-25 {{}} | {{"tools":{{}},"reminders":{{"emit":true}}}}
               c>s {{"id":1,"method":"tools/call","params":{{"name":"t"}}}}
               {answer}
               s>c {{"method":"notifications/reminder","params":{{"reminder":{{"id":"r","body":"b"}}}}}}"#
        )
    };
    assert_eq!(count(&script(""), "reminder/during-call"), 1);
    for answer in [
        r#"s>c {"id":1,"result":{"content":[]}}"#,
        r#"s>c {"id":1,"error":{"code":1,"message":"x"}}"#,
        r#"c>s {"method":"notifications/cancelled","params":{"requestId":1}}"#,
    ] {
        assert_eq!(count(&script(answer), "reminder/during-call"), 0, "{answer}");
    }
}

#[test]
fn amb_b1_a_missing_lifetime_is_reported_once() {
    let list: Vec<_> = (0..3).map(|id| format!(r#"{{"id":"r{id}","body":"b"}}"#)).collect();
    let list: Vec<_> = list.iter().map(String::as_str).collect();
    assert_eq!(count(&reminders(&list), "reminder/no-lifetime"), 1);
    assert_eq!(count(&reminders(&[r#"{"id":"r","body":"b","ttlTurns":1}"#]), "reminder/no-lifetime"), 0);
}

/// A repeated id is an update or a repeat in one form, or the same reminder in both forms. One of these is reported.
#[test]
fn b3_b26_amb_b4_an_id_that_comes_again_is_reported_as_what_it_is() {
    let seen = |second: &str| {
        let script = format!(
            "{}\n{second}",
            reminders(&[r#"{"id":"r","body":"b"}"#]).replace(r#"{"reminders""#, r#"{"logging":{},"reminders""#)
        );
        let report = super::run(&script);
        let reported = |it: &&super::Finding| matches!(it.rule.id, "reminder/resent" | "reminder/both-paths");
        report.findings.iter().filter(reported).map(|it| format!("{}: {}", it.rule.id, it.seen)).collect::<Vec<_>>()
    };
    let again = |body: &str| {
        format!(r#"s>c {{"method":"notifications/reminder","params":{{"reminder":{{"id":"r","body":"{body}"}}}}}}"#)
    };
    assert_eq!(seen(&again("b")), ["reminder/resent: the server sent the reminder r again, as a repeat"]);
    assert_eq!(seen(&again("c")), ["reminder/resent: the server sent the reminder r again, as an update"]);
    let legacy = r#"s>c {"method":"notifications/message","params":{"level":"info","data":"b","_meta":{"harn":{"reminder":
        {"id":"r","body":"b"}}}}}"#;
    assert_eq!(seen(legacy), ["reminder/both-paths: the server has already sent the reminder r in the other form"]);
}

/// A client that sends reminders violates another rule; the server has declared what it needs to.
#[test]
fn a_reminder_by_the_client_is_reported_of_the_client_alone() {
    for sent in [
        r#"{"method":"notifications/reminder","params":{"reminder":{"id":"r","body":"b"}}}"#,
        r#"{"method":"notifications/message","params":{"level":"info","data":"x",
            "_meta":{"harn":{"reminder":{"id":"r","body":"b"}}}}}"#,
    ] {
        let report = super::run(&format!("hello 2025-11-25 {{}} | {{\"tools\":{{}}}}\nc>s {sent}"));
        assert_eq!(super::ids(&report), std::collections::BTreeSet::from(["method/direction"]), "{sent}");
        let by: Vec<_> = report.findings.iter().map(|found| found.direction).collect();
        assert_eq!(by, [Some(crate::wire::Direction::ClientToServer)]);
    }
}
