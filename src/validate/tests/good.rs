use super::Severity;

/// Both sides declare all of MCPL; scripts refer to it as `$HELLO`.
pub(super) const HELLO: &str = r##"hello 2025-11-25 {"experimental":{"mcpl":{"version":"0.4","pushEvents":true,
            "contextHooks":{"beforeInference":true,"afterInference":{"blocking":true}},"inferenceRequest":
            {"streaming":true},"modelInfo":true,"channels":{"register":true,"publish":true,"observe":true,
            "lifecycle":true,"streaming":true},"featureSets":true}}} | {"tools":{},"experimental":{"mcpl":
            {"version":"0.4","pushEvents":true,"contextHooks":{"beforeInference":true,"afterInference":
            {"blocking":true}},"inferenceRequest":{"streaming":true},"modelInfo":true,"channels":{"register":true,
            "publish":true,"observe":true,"lifecycle":true,"streaming":true},"featureSets":{"a.push":
            {"description":"d","uses":["pushEvents","inferenceRequest"]},"a.hook":{"description":"d",
            "uses":["contextHooks.beforeInference","contextHooks.afterInference"]},"a.files":{"description":"d",
            "uses":["tools"],"scoped":true,"rollback":true}}}}}"##;

/// The host's first update after `$HELLO`; `$UPDATED` stands for both.
pub(super) const UPDATE: &str = r##"c>s {"method":"featureSets/update","params":{"enabled":["a.*"]}}"##;

/// A server with every feature of MCPE; scripts refer to it as `$EVENTS`.
pub(super) const EVENTS: &str = r##"hello 2025-11-25 {} | {"tools":{},"events":{"maxSubscriptions":1,
            "deliveryChannels":["realtime","cron","scheduled"],"features":{"pause":true,"wildcards":true,
            "cronSchedule":true,"scheduledDelivery":true}}}"##;

/// A session with all five proposals, in which both sides follow all rules.
pub(super) const SESSION: &str = r##"
    hello 2025-11-25 {"roots":{},"hooks":{"supported_events":["session_start","post_tool_use"]},"experimental":
            {"mcpl":{"version":"0.4","pushEvents":true,"contextHooks":{"beforeInference":true,"afterInference":
            {"blocking":true}},"inferenceRequest":{"streaming":true},"modelInfo":true,"channels":{"register":true,
            "publish":true,"observe":true,"lifecycle":true,"streaming":true},"featureSets":true}}} | {"tools":{},
            "logging":{},"conversationEvents":{"onUserMessage":true},"reminders":{"emit":true,
            "propagate":["session"],"roleHints":["system"]},"hooks":{"declarations":[{"event":"session_start",
            "context":"in {project_name}","priority":"suggestion"},{"event":"post_tool_use","matcher":
            {"tool_name":"Bash"},"context_tool":"recall","context_tool_args":{"query":"{tool_output}"},
            "priority":"important"}]},"events":{"maxSubscriptions":5,"deliveryChannels":["realtime","cron",
            "scheduled"],"features":{"pause":true,"wildcards":true,"cronSchedule":true,"scheduledDelivery":true}},
            "experimental":{"mcpl":{"version":"0.4","pushEvents":true,"contextHooks":{"beforeInference":true,
            "afterInference":{"blocking":true}},"inferenceRequest":{"streaming":true},"modelInfo":true,"channels":
            {"register":true,"publish":true,"observe":true,"lifecycle":true,"streaming":true},"featureSets":
            {"a.push":{"description":"d","uses":["pushEvents","inferenceRequest"]},"a.hook":{"description":"d",
            "uses":["contextHooks.beforeInference","contextHooks.afterInference"]},"a.files":{"description":"d",
            "uses":["tools"],"scoped":true,"rollback":true}}}}}
    c>s {"method":"featureSets/update","params":{"enabled":["a.*"],"scopes":{"a.files":{"whitelist":["/tmp/**"]}}}}
    c>s {"id":"t","method":"tools/list"}
    s>c {"id":"t","result":{"tools":[{"name":"events_subscribe","inputSchema":{"type":"object"}},
            {"name":"events_unsubscribe","inputSchema":{"type":"object"}},{"name":"events_list","inputSchema":
            {"type":"object"}},{"name":"events_pause","inputSchema":{"type":"object"}},{"name":"events_resume",
            "inputSchema":{"type":"object"}},{"name":"events_update","inputSchema":{"type":"object"}},
            {"name":"recall","inputSchema":{"type":"object"}},{"name":"t","_meta":{"featureSet":"a.files"},
            "inputSchema":{"type":"object"}}]}}
    c>s {"id":1,"method":"ping"}
    s>c {"id":1,"result":{}}
    c>s {"id":2,"method":"conversation/userMessage","params":{"messageId":"m1","content":"how is it going?"}}
    s>c {"id":2,"result":{"structuredContext":{"memories":[{"content":"well","relevance":0.9}]}}}
    s>c {"method":"notifications/reminder","params":{"reminder":{"id":"0190abcd-2024-7c1d-bb02-3a0e8a44d7f0",
            "body":"the check passed","dedupeKey":"check","ttlTurns":1,"firedAtTurn":null}}}
    c>s {"id":3,"method":"context/beforeInference","params":{"inferenceId":"i1","conversationId":"c","turnIndex":0,
            "userMessage":"hi","model":{"id":"m","vendor":"v","contextWindow":1,"capabilities":[]}}}
    s>c {"id":3,"result":{"featureSet":"a.hook","contextInjections":[{"namespace":"n","position":"system",
            "content":"short"},{"namespace":"n","position":"afterUser","content":[{"type":"resource",
            "uri":"a://b"}]}]}}
    c>s {"id":4,"method":"context/afterInference","params":{"inferenceId":"i1","conversationId":"c","turnIndex":0,
            "userMessage":null,"assistantMessage":"x","model":{"id":"m","vendor":"v","contextWindow":1,
            "capabilities":[]},"usage":{"inputTokens":1,"outputTokens":1}}}
    s>c {"id":4,"result":{"featureSet":"a.hook","modifiedResponse":"x"}}
    s>c {"id":1,"method":"push/event","params":{"featureSet":"a.push","eventId":"e1",
            "timestamp":"2026-01-01T00:00:00Z","payload":{"content":[{"type":"text","text":"x"}]}}}
    c>s {"id":1,"result":{"accepted":true,"inferenceId":"i2"}}
    s>c {"id":2,"method":"inference/request","params":{"featureSet":"a.push","stream":true,"messages":[
            {"role":"user","content":"x"}]}}
    c>s {"method":"inference/chunk","params":{"requestId":2,"index":0,"delta":"a"}}
    c>s {"method":"inference/chunk","params":{"requestId":2,"index":1,"delta":"b"}}
    c>s {"id":2,"result":{"content":"ab","model":"m","finishReason":"end_turn","usage":{"inputTokens":1,
            "outputTokens":1}}}
    s>c {"id":3,"method":"model/info","params":{}}
    c>s {"id":3,"result":{"id":"m","vendor":"v","contextWindow":1000,"capabilities":[]}}
    s>c {"id":4,"method":"scope/elevate","params":{"featureSet":"a.files","scope":{"label":"/etc/hosts","payload":
            {"path":"/etc/hosts"}}}}
    c>s {"id":4,"result":{"approved":true,"payload":{"path":"/etc/hosts","inode":7}}}
    s>c {"id":5,"method":"scope/elevate","params":{"featureSet":"a.files","scope":{"label":"/root"}}}
    c>s {"id":5,"result":{"approved":false,"reason":"no"}}
    c>s {"id":10,"method":"tools/call","params":{"name":"t","arguments":{},"scope":{"label":"/tmp/x"}}}
    s>c {"id":10,"result":{"content":[],"state":{"checkpoint":"k1","parent":null,"data":{"notes":[]}}}}
    c>s {"id":11,"method":"tools/call","params":{"name":"t","arguments":{},"state":{"notes":[]},"scope":
            {"label":"/tmp/x"}}}
    s>c {"id":11,"result":{"content":[],"state":{"checkpoint":"k2","parent":"k1","patch":[{"op":"add",
            "path":"/notes/-","value":1}]}}}
    c>s {"id":12,"method":"state/rollback","params":{"featureSet":"a.files","checkpoint":"k1"}}
    s>c {"id":12,"result":{"checkpoint":"k1","success":true}}
    c>s {"id":13,"method":"tools/call","params":{"name":"t","scope":{"label":"/tmp/x"}}}
    s>c {"id":13,"result":{"content":[],"state":{"checkpoint":"k3","parent":"k1","patch":[]}}}
    s>c {"id":6,"method":"channels/register","params":{"channels":[{"id":"d:#a","type":"d","label":"l",
            "direction":"bidirectional"}]}}
    c>s {"id":6,"result":{}}
    s>c {"id":7,"method":"channels/incoming","params":{"messages":[{"channelId":"d:#a","messageId":"x1","author":
            {"id":"u","name":"n"},"timestamp":"2026-01-01T00:00:00Z","content":[]}]}}
    c>s {"id":7,"result":{"results":[{"messageId":"x1","accepted":true,"conversationId":"c"}]}}
    c>s {"method":"channels/outgoing/chunk","params":{"inferenceId":"i1","conversationId":"c","channelId":"d:#a",
            "index":0,"delta":"a"}}
    c>s {"method":"channels/outgoing/chunk","params":{"inferenceId":"i1","conversationId":"c","channelId":"d:#a",
            "index":1,"delta":"b"}}
    c>s {"method":"channels/outgoing/complete","params":{"inferenceId":"i1","conversationId":"c",
            "channelId":"d:#a","content":[{"type":"text","text":"ab"}]}}
    c>s {"method":"channels/publish","params":{"conversationId":"c","channelId":"d:#a","content":[{"type":"text",
            "text":"x"}]}}
    s>c {"method":"channels/changed","params":{"added":[{"id":"d:#b","type":"d","label":"l",
            "direction":"inbound"}],"updated":[{"id":"d:#a","type":"d","label":"l2","direction":"outbound"}],
            "removed":["d:#a"]}}
    s>c {"method":"featureSets/changed","params":{"added":{"b":{"description":"d","uses":["tools"]}},
            "removed":["a.push"]}}
    c>s {"id":20,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":
            {"eventTypes":["github.*"],"priority":["high"]},"delivery":{"channels":["realtime"]},"handler":
            {"type":"webhook","url":"http://127.0.0.1:9/x"},"expiresAt":"2027-01-01T00:00:00Z"}}}
    s>c {"id":20,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
            "status":"active","filter":{"eventTypes":["github.*"],"priority":["high"]},"delivery":
            {"channels":["realtime"]},"createdAt":"2026-01-01T00:00:00Z","expiresAt":"2027-01-01T00:00:00Z"},
            "content":[{"type":"text","text":"{\"subscriptionId\":\"11111111-1111-4111-8111-111111111111\",\"status\":\"active\",\"filter\":{\"eventTypes\":[\"github.*\"],\"priority\":[\"high\"]},\"delivery\":{\"channels\":[\"realtime\"]},\"createdAt\":\"2026-01-01T00:00:00Z\",\"expiresAt\":\"2027-01-01T00:00:00Z\"}"}]}}
    s>c {"method":"events/event","params":{"subscriptionId":"11111111-1111-4111-8111-111111111111","event":
            {"id":"22222222-2222-4222-8222-222222222222","type":"github.push","data":{},"metadata":
            {"timestamp":"2026-01-02T00:00:00Z","priority":"high"}}}}
    c>s {"id":21,"method":"tools/call","params":{"name":"events_pause","arguments":
            {"subscriptionId":"11111111-1111-4111-8111-111111111111"}}}
    s>c {"id":21,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
            "status":"paused"},
            "content":[{"type":"text","text":"{\"subscriptionId\":\"11111111-1111-4111-8111-111111111111\",\"status\":\"paused\"}"}]}}
    c>s {"id":22,"method":"tools/call","params":{"name":"events_resume","arguments":
            {"subscriptionId":"11111111-1111-4111-8111-111111111111"}}}
    s>c {"id":22,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
            "status":"active"},
            "content":[{"type":"text","text":"{\"subscriptionId\":\"11111111-1111-4111-8111-111111111111\",\"status\":\"active\"}"}]}}
    c>s {"id":23,"method":"tools/call","params":{"name":"events_update","arguments":
            {"subscriptionId":"11111111-1111-4111-8111-111111111111","filter":{"priority":["low"]},
            "expiresAt":null}}}
    s>c {"id":23,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
            "status":"active","filter":{"priority":["low"]}},
            "content":[{"type":"text","text":"{\"subscriptionId\":\"11111111-1111-4111-8111-111111111111\",\"status\":\"active\",\"filter\":{\"priority\":[\"low\"]}}"}]}}
    s>c {"method":"events/event","params":{"subscriptionId":"11111111-1111-4111-8111-111111111111","event":
            {"id":"33333333-3333-4333-8333-333333333333","type":"anything","data":{},"metadata":
            {"timestamp":"2026-01-02T00:00:00Z","priority":"low"}}}}
    c>s {"id":24,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"delivery":
            {"channels":["cron"],"cronSchedule":{"expression":"0 9 * * *"}},"expiresAt":"2026-01-01T09:00:00Z"}}}
    s>c {"id":24,"result":{"structuredContent":{"subscriptionId":"44444444-4444-4444-8444-444444444444",
            "status":"active","filter":{},"delivery":{"channels":["cron"],"cronSchedule":{"expression":"0 9 * * *",
            "maxEventsPerDelivery":5}},"createdAt":"2026-01-01T08:59:59Z","expiresAt":"2026-01-01T09:00:00Z"},
            "content":[{"type":"text","text":"{\"subscriptionId\":\"44444444-4444-4444-8444-444444444444\",\"status\":\"active\",\"filter\":{},\"delivery\":{\"channels\":[\"cron\"],\"cronSchedule\":{\"expression\":\"0 9 * * *\",\"maxEventsPerDelivery\":5}},\"createdAt\":\"2026-01-01T08:59:59Z\",\"expiresAt\":\"2026-01-01T09:00:00Z\"}"}]}}
    s>c {"method":"events/batch","params":{"subscriptionId":"44444444-4444-4444-8444-444444444444","events":[
            {"id":"22222222-2222-4222-8222-222222222222","type":"github.push","data":{},"metadata":
            {"timestamp":"2026-01-02T00:00:00Z","priority":"high"}}]}}
    c>s {"id":25,"method":"tools/call","params":{"name":"events_unsubscribe","arguments":
            {"subscriptionId":"11111111-1111-4111-8111-111111111111"}}}
    s>c {"id":25,"result":{"structuredContent":{"success":true},
            "content":[{"type":"text","text":"{\"success\":true}"}]}}
    s>c {"method":"events/subscription_expired","params":{"subscriptionId":"44444444-4444-4444-8444-444444444444"}}
    c>s {"id":30,"method":"tools/call","params":{"name":"recall","arguments":{},"_meta":{"progressToken":"p"}}}
    s>c {"method":"notifications/progress","params":{"progressToken":"p","progress":1}}
    s>c {"id":30,"result":{"content":[{"type":"text","text":"x"}]}}
    s>c {"id":8,"method":"roots/list"}
    c>s {"id":8,"result":{"roots":[]}}
"##;

/// Scripts for what one session cannot show, because it can declare only one of two things.
pub(super) const QUIET: &[&str] = &[
    // A server that ends with an exit code has not crashed.
    "hello 2025-11-25 {} | {}\nexit",
    // An integral float is an integer.
    r#"hello 2025-11-25 {} | {}
        c>s {"id":1,"method":"no/such"}
        s>c {"id":1,"error":{"code":-32601.0,"message":"no such method"}}"#,
    // A request that nobody could read has no id to repeat.
    r#"hello 2025-11-25 {} | {}
        s>c {"id":null,"error":{"code":-32700,"message":"parse error"}}
        s>c {"id":null,"error":{"code":-32600,"message":"invalid request"}}"#,
    r##"$UPDATED
        @1000 c>s {"method":"featureSets/update","params":{"disabled":["a.push"]}}
        @1300 s>c {"id":1,"method":"inference/request","params":{"featureSet":"a.push","messages":[]}}
        c>s {"id":1,"error":{"code":-32001,"message":"no","data":{"featureSet":"a.push","canEnable":true}}}"##,
    r##"$UPDATED
        s>c {"id":1,"method":"inference/request","params":{"featureSet":"a.push","preferences":{"maxTokens":5},
            "messages":[{"role":"assistant","content":"x"}]}}
        c>s {"id":1,"result":{"content":"a","model":"m","finishReason":"end_turn","usage":{"inputTokens":1,
            "outputTokens":1}}}
        c>s {"id":9,"method":"state/rollback","params":{"featureSet":"a.files","checkpoint":"k1"}}
        s>c {"id":9,"error":{"code":-32005,"message":"checkpoint not found","data":{"checkpoint":"k1"}}}
        s>c {"id":2,"method":"channels/register","params":{"channels":[{"id":"d:#a","type":"d","label":"l",
            "direction":"bidirectional"}]}}
        c>s {"id":2,"result":{}}
        c>s {"id":10,"method":"channels/close","params":{"channelId":"d:#a"}}
        s>c {"id":10,"result":{"closed":true}}
        c>s {"id":11,"method":"channels/open","params":{"type":"d","address":{"channel":"#a"}}}
        s>c {"id":11,"result":{"channel":{"id":"d:#a","type":"d","label":"l","direction":"bidirectional",
            "address":{"channel":"#a","guild":"g"}}}}"##,
    r##"hello 2025-11-25 {"experimental":{"mcpl":{"version":"0.4","channels":true,"featureSets":true}}} | {
            "experimental":{"mcpl":{"version":"0.4","channels":true,"featureSets":{"a.observe":{"description":"d",
            "uses":["channels.observe"],"scoped":true}}}}}
        c>s {"method":"featureSets/update","params":{"enabled":["a.*"],"scopes":{"a.observe":{
            "whitelist":["d:1"]}}}}
        s>c {"id":1,"method":"channels/register","params":{"channels":[{"id":"d:1","type":"d","label":"l",
            "direction":"bidirectional"}]}}
        c>s {"id":1,"result":{}}
        c>s {"method":"channels/outgoing/complete","params":{"inferenceId":"i","conversationId":"c",
            "channelId":"d:1","content":[{"type":"text","text":"x"}]}}"##,
    r##"hello 2025-11-25 {"hooks":{"supported_events":[]},"experimental":{"hooks":{"supported_events":[]}}} | {}"##,
    r##"hello 2025-11-25 {} | {"tools":{},"events":{"maxSubscriptions":1,"deliveryChannels":["realtime"],
            "features":{"pause":true,"wildcards":false,"cronSchedule":false,"scheduledDelivery":false}}}
        c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":
            {"eventTypes":["a"]}}}}
        s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
            "status":"active","filter":{"eventTypes":["a"]},"delivery":{"channels":["realtime"]},
            "createdAt":"2026-01-01T00:00:00Z"},
            "content":[{"type":"text","text":"{\"subscriptionId\":\"11111111-1111-4111-8111-111111111111\",\"status\":\"active\",\"filter\":{\"eventTypes\":[\"a\"]},\"delivery\":{\"channels\":[\"realtime\"]},\"createdAt\":\"2026-01-01T00:00:00Z\"}"}]}}"##,
];

#[test]
fn the_good_session_is_reported_nothing_above_info() {
    let report = super::run(SESSION);
    let above: Vec<_> = report.findings.iter().filter(|finding| finding.rule.severity > Severity::Info).collect();
    assert_eq!(above, Vec::<&super::Finding>::new());
    let summary = &report.connections[0];
    let declared: super::BTreeSet<_> = summary.declared.iter().map(|declaration| declaration.proposal).collect();
    assert_eq!(declared.len(), 5);
    assert_eq!(summary.client.as_ref().map(|peer| peer.name.as_str()), Some("c"));
    assert_eq!(summary.revision.as_deref(), Some("2025-11-25"));
}

/// Replaces every value in every message by something else: the validator must never fail.
#[test]
fn a_session_bent_anywhere_is_still_checked() {
    let lines = super::lines(SESSION);
    let bends = [r"null", "7", "\"x\"", "[]", "{}", "-1.5", "[null]"];
    let mut runs = 0;
    for (at, line) in lines.iter().enumerate() {
        let Some((way, text)) = line.split_at_checked(4).filter(|(way, _)| way.ends_with(' ')) else { continue };
        let Ok(message) = serde_json::from_str::<serde_json::Value>(text) else { continue };
        for place in places(&message, String::new()) {
            let mut bent = message.clone();
            if let Some(value) = bent.pointer_mut(&place) {
                *value = serde_json::from_str(bends[runs % bends.len()]).expect("json");
            }
            runs += 1;
            let mut feed = super::Feed::new();
            for (other, line) in lines.iter().enumerate() {
                if other == at { feed.line(&format!("{way}{bent}")) } else { feed.line(line) }
            }
            let report = feed.reporter.finish();
            assert!(report.messages() > 50, "{place} of {line}");
        }
    }
    assert!(runs > 300);
}

/// Returns JSON Pointers to every value below this one.
fn places(value: &serde_json::Value, path: String) -> Vec<String> {
    let inner: Vec<_> = match value {
        serde_json::Value::Object(members) => {
            members.iter().map(|(name, value)| (name.replace('/', "~1"), value)).collect()
        }
        serde_json::Value::Array(items) => {
            items.iter().enumerate().map(|(at, value)| (at.to_string(), value)).collect()
        }
        _ => Vec::new(),
    };
    let mut all = Vec::new();
    for (step, value) in inner {
        let path = format!("{path}/{step}");
        all.extend(places(value, path.clone()));
        all.push(path);
    }
    all
}
