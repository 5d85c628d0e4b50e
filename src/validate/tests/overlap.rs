use super::Case;

/// Begins like MCPL's scripts, but also declares context and reminders.
const BOTH: &str = r##"hello 2025-11-25 {"experimental":{"mcpl":{"version":"0.4","pushEvents":true,"contextHooks":
    {"beforeInference":true}}}} | {"conversationEvents":{"onUserMessage":true},"reminders":{"emit":true},"experimental":
    {"mcpl":{"version":"0.4","pushEvents":true,"contextHooks":{"beforeInference":true},"featureSets":{"a":
    {"description":"d","uses":["pushEvents","contextHooks.beforeInference"]}}}}}
    c>s {"method":"featureSets/update","params":{"enabled":["a"]}}"##;

pub(super) const CASES: &[Case] = &[
    (
        "overlap/same-text",
        r##"hello 2025-11-25 {"experimental":{"mcpl":{"version":"0.4","contextHooks":{"beforeInference":true}}}} | {
               "conversationEvents":{"onUserMessage":true},"experimental":{"mcpl":{"version":"0.4","contextHooks":
               {"beforeInference":true},"featureSets":{"a":{"description":"d","uses":
               ["contextHooks.beforeInference"]}}}}}
           c>s {"method":"featureSets/update","params":{"enabled":["a"]}}
           c>s {"id":1,"method":"conversation/userMessage","params":{"messageId":"m1","content":"hi"}}
           s>c {"id":1,"result":{"context":"the same"}}
           c>s {"id":2,"method":"context/beforeInference","params":{"inferenceId":"i1","conversationId":"c",
               "turnIndex":0,"userMessage":"hi","model":{"id":"m","vendor":"v","contextWindow":1,"capabilities":[]}}}
           s>c {"id":2,"result":{"featureSet":"a","contextInjections":[{"namespace":"n","position":"beforeUser",
               "content":[{"type":"text","text":"the same"}]}]}}"##,
    ),
    (
        "overlap/same-fact",
        r##"hello 2025-11-25 {"experimental":{"mcpl":{"version":"0.4","pushEvents":true}}} | {"reminders":{"emit":true},
               "experimental":{"mcpl":{"version":"0.4","pushEvents":true,"featureSets":{"a":{"description":"d","uses":
               ["pushEvents"]}}}}}
           c>s {"method":"featureSets/update","params":{"enabled":["a"]}}
           s>c {"method":"notifications/reminder","params":{"reminder":{"id":"r","body":"b","dedupeKey":"e1"}}}
           s>c {"id":1,"method":"push/event","params":{"featureSet":"a","eventId":"e1",
               "timestamp":"2026-01-01T00:00:00Z","payload":{"content":[{"type":"text","text":"x"}]}}}"##,
    ),
];

fn count(script: &str, rule: &str) -> usize {
    super::run(script).findings.iter().filter(|finding| finding.rule.id == rule).count()
}

#[test]
fn f2_a_text_again_is_no_duplicate_in_another_turn_or_by_the_same_way() {
    let message = |id: u32, text: &str| {
        format!(
            r#"c>s {{"id":{id},"method":"conversation/userMessage","params":{{"messageId":"m{id}","content":"hi"}}}}
               s>c {{"id":{id},"result":{{"context":"{text}"}}}}"#
        )
    };
    let reminder = r#"s>c {"method":"notifications/reminder","params":{"reminder":{"id":"r","body":"same"}}}"#;
    let script = |parts: &[&str]| format!("{BOTH}\n{}", parts.join("\n"));
    let (first, second) = (message(1, "same"), message(2, "same"));
    assert_eq!(count(&script(&[&first, reminder]), "overlap/same-text"), 1);
    assert_eq!(count(&script(&[&message(1, "other"), reminder]), "overlap/same-text"), 0);
    assert_eq!(count(&script(&[&first, "note inferred", "note turn", reminder]), "overlap/same-text"), 0);
    assert_eq!(count(&script(&[&first, &second]), "overlap/same-text"), 0);
    // What waits goes into the same prompt as what the next user message adds.
    assert_eq!(count(&script(&[reminder, &first]), "overlap/same-text"), 1);
    let between = ["note turn", "note inferred"].join("\n");
    assert_eq!(count(&script(&[&first, &between, reminder]), "overlap/same-text"), 0);
    assert_eq!(count(&script(&[&first, &between, reminder, &second]), "overlap/same-text"), 1);
    assert_eq!(count(&script(&[reminder, &between, &second]), "overlap/same-text"), 0);
}

#[test]
fn f4_an_event_by_two_lanes_is_reported() {
    let event = r#"s>c {"method":"events/event","params":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
        "event":{"id":"22222222-2222-4222-8222-222222222222","type":"a","data":{},"metadata":{"timestamp":
        "2026-01-02T00:00:00Z","priority":"high","sourceEventId":"e9"}}}}"#;
    let push = |id: &str| {
        format!(
            r#"s>c {{"id":1,"method":"push/event","params":{{"featureSet":"a","eventId":"{id}",
               "timestamp":"2026-01-01T00:00:00Z","payload":{{"content":[]}}}}}}"#
        )
    };
    assert_eq!(count(&format!("{BOTH}\n{event}\n{}", push("e9")), "overlap/same-fact"), 1);
    assert_eq!(count(&format!("{BOTH}\n{event}\n{}", push("e8")), "overlap/same-fact"), 0);
}

/// A proposal is declared where official SDKs find it, or the validator reports that they do not.
#[test]
fn f9_a_declaration_that_stock_sdks_drop_is_reported() {
    for (declared, reported) in [
        (r#"{"conversationEvents":{},"reminders":{},"hooks":{"declarations":[]},"events":{"maxSubscriptions":1}}"#, 4),
        (r#"{"experimental":{"conversationEvents":{},"reminders":{},"hooks":{"declarations":[]}}}"#, 0),
        (r#"{"reminders":{},"experimental":{"reminders":{}}}"#, 0),
    ] {
        let script = format!("hello 2025-11-25 {{}} | {declared}");
        assert_eq!(count(&script, "lifecycle/stripped-capability"), reported, "{declared}");
    }
}
