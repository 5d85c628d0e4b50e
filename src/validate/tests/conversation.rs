use super::Case;

pub const CASES: &[Case] = &[
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
        "conversation/uncorrelated-context",
        r#"hello 2025-11-25 {} | {"conversationEvents":{"onUserMessage":true}}
           c>s {"method":"conversation/userMessage","params":{"messageId":"m1","content":"hi"}}
           c>s {"method":"conversation/userMessage","params":{"messageId":"m2","content":"ho"}}
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
    ("conversation/unused", r#"hello 2025-11-25 {} | {"conversationEvents":{"onUserMessage":true}}"#),
];

/// A host that falls back to the notification carrier has not sent its message twice.
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
