//! Whatever a host sends, each request gets exactly one response, there are no other responses, and nothing breaks.

use super::*;
use proptest::prelude::*;

const METHODS: &[&str] = &[
    "completion/complete",
    "context/afterInference",
    "context/beforeInference",
    "conversation/userMessage",
    "featureSets/update",
    "inference/chunk",
    "initialize",
    "logging/setLevel",
    "notifications/cancelled",
    "prompts/get",
    "resources/read",
    "resources/subscribe",
    "state/rollback",
    "tools/call",
    "tools/list",
];

const NAMES: &[&str] = &[
    "arguments",
    "argument",
    "checkpoint",
    "content",
    "delta",
    "delivery",
    "disabled",
    "enabled",
    "expiresAt",
    "featureSet",
    "filter",
    "index",
    "kind",
    "level",
    "message",
    "messageId",
    "name",
    "notes",
    "requestId",
    "state",
    "subscriptionId",
    "text",
    "to",
    "uri",
    "userMessage",
    "value",
    "_meta",
    "progressToken",
    "protocolVersion",
];

const WORDS: &[&str] = &[
    "add_note",
    "count_slowly",
    "echo",
    "emit",
    "events_list",
    "events_subscribe",
    "events_update",
    "mcpreel://notes",
    "memory.*",
    "notes.edit",
    "push",
    "reminder",
    "schema",
    "x",
];

fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop::sample::select(WORDS).prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map(prop::sample::select(NAMES), inner, 0..5).prop_map(|map| {
                Value::Object(map.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
            }),
        ]
    })
}

fn answers(outputs: &[Output]) -> usize {
    let is_answer = |bytes: &Vec<u8>| {
        let message: Value = serde_json::from_slice(bytes).expect("JSON");
        message.get("method").is_none()
    };
    outputs.iter().filter(|output| matches!(output, Output::Send(bytes) if is_answer(bytes))).count()
}

fn taken_back(outputs: &[Output]) -> usize {
    outputs.iter().filter(|output| matches!(output, Output::Report(Report::Cancelled { .. }))).count()
}

proptest! {
    #[test]
    fn odd_params_are_answered_once(
        calls in prop::collection::vec((prop::sample::select(METHODS), anything(), any::<bool>()), 1..12)
    ) {
        let mut host = Host::full();
        let (mut asked, mut settled) = (0, 0);
        for (id, (method, params, asks)) in calls.into_iter().enumerate() {
            let mut message = json!({"jsonrpc": "2.0", "method": method, "params": params});
            if asks {
                message["id"] = json!(id);
                asked += 1;
            }
            let outputs = host.server.receive(host.now, message.to_string().as_bytes());
            settled += answers(&outputs) + taken_back(&outputs);
            prop_assert!(settled <= asked);
        }
        // The slowest count: a thousand numbers, one per minute.
        while let Some(at) = host.server.next_timeout().filter(|at| *at <= seconds(60_000)) {
            settled += answers(&host.server.handle_timeout(at));
        }
        prop_assert_eq!(settled, asked);
    }

    #[test]
    fn any_bytes_are_answered_or_passed_over(line in prop::collection::vec(any::<u8>(), 0..80)) {
        let mut host = Host::plain();
        let blank = line.iter().all(u8::is_ascii_whitespace);
        prop_assert_eq!(answers(&host.server.receive(host.now, &line)), usize::from(!blank));
    }
}
