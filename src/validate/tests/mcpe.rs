use super::Case;

/// Scripts begin with `$EVENTS`: a server that declares everything, see [`super::good`].
pub(super) const CASES: &[Case] = &[
    (
        "mcpe/capability-missing",
        r##"hello 2025-11-25 {} | {"tools":{}}
           c>s {"id":"t","method":"tools/list"}
           s>c {"id":"t","result":{"tools":[{"name":"events_subscribe","inputSchema":{"type":"object"}},
               {"name":"events_unsubscribe","inputSchema":{"type":"object"}},{"name":"events_list","inputSchema":
            {"type":"object"}},{"name":"events_pause","inputSchema":{"type":"object"}},{"name":"events_resume",
            "inputSchema":{"type":"object"}},{"name":"events_update","inputSchema":{"type":"object"}}]}}"##,
    ),
    (
        "mcpe/capability-missing",
        r##"hello 2025-11-25 {} | {"tools":{}}
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":
               {"eventTypes":["github.*"],"priority":["high"]},"delivery":{"channels":["realtime"]},
            "expiresAt":"2027-01-01T00:00:00Z"}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{"eventTypes":["github.*"],"priority":["high"]},"delivery":
            {"channels":["realtime"]},"createdAt":"2026-01-01T00:00:00Z","expiresAt":"2027-01-01T00:00:00Z"},"content":[]}}"##,
    ),
    (
        "mcpe/tools-missing",
        r##"$EVENTS
           c>s {"id":"t","method":"tools/list"}
           s>c {"id":"t","result":{"tools":[]}}"##,
    ),
    (
        "mcpe/tool-set",
        r##"$EVENTS
           c>s {"id":"t","method":"tools/list"}
           s>c {"id":"t","result":{"tools":[{"name":"events_subscribe","inputSchema":{"type":"object"}},
               {"name":"events_unsubscribe","inputSchema":{"type":"object"}},{"name":"events_list","inputSchema":
            {"type":"object"}},{"name":"events_pause","inputSchema":{"type":"object"}}]}}"##,
    ),
    (
        "mcpe/tool-set",
        r##"hello 2025-11-25 {} | {"tools":{},"events":{"maxSubscriptions":1,"deliveryChannels":["realtime"],
            "features":{"pause":false,"wildcards":true,"cronSchedule":false,"scheduledDelivery":false}}}
           c>s {"id":"t","method":"tools/list"}
           s>c {"id":"t","result":{"tools":[{"name":"events_subscribe","inputSchema":{"type":"object"}},
               {"name":"events_unsubscribe","inputSchema":{"type":"object"}},{"name":"events_list","inputSchema":
            {"type":"object"}},{"name":"events_pause","inputSchema":{"type":"object"}},{"name":"events_resume",
            "inputSchema":{"type":"object"}},{"name":"events_update","inputSchema":{"type":"object"}}]}}"##,
    ),
    (
        "mcpe/channels-features",
        r##"hello 2025-11-25 {} | {"tools":{},"events":{"maxSubscriptions":1,"deliveryChannels":["realtime"],
            "features":{"pause":true,"wildcards":true,"cronSchedule":true,"scheduledDelivery":false}}}"##,
    ),
    (
        "mcpe/feature-unstated",
        r##"hello 2025-11-25 {} | {"tools":{},"events":{"maxSubscriptions":1,"deliveryChannels":["realtime"],
            "features":{"pause":true,"wildcards":true,"cronSchedule":false}}}"##,
    ),
    (
        "mcpe/unsupported-subscribe",
        r##"hello 2025-11-25 {} | {"tools":{}}
           c>s {"id":"t","method":"tools/list"}
           s>c {"id":"t","result":{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}}
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":
               {"eventTypes":["github.*"],"priority":["high"]},"delivery":{"channels":["realtime"]},
            "expiresAt":"2027-01-01T00:00:00Z"}}}"##,
    ),
    (
        "mcpe/undeclared-channel",
        r##"hello 2025-11-25 {} | {"tools":{},"events":{"maxSubscriptions":1,"deliveryChannels":["cron"],
            "features":{"pause":true,"wildcards":true,"cronSchedule":true,"scheduledDelivery":false}}}
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":
               {"eventTypes":["github.*"],"priority":["high"]},"delivery":{"channels":["realtime"]},
            "expiresAt":"2027-01-01T00:00:00Z"}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{"eventTypes":["github.*"],"priority":["high"]},"delivery":
            {"channels":["realtime"]},"createdAt":"2026-01-01T00:00:00Z","expiresAt":"2027-01-01T00:00:00Z"},"content":[]}}"##,
    ),
    (
        "mcpe/too-many-subscriptions",
        r##"$EVENTS
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":
               {"eventTypes":["github.*"],"priority":["high"]},"delivery":{"channels":["realtime"]},
            "expiresAt":"2027-01-01T00:00:00Z"}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{"eventTypes":["github.*"],"priority":["high"]},"delivery":
            {"channels":["realtime"]},"createdAt":"2026-01-01T00:00:00Z","expiresAt":"2027-01-01T00:00:00Z"},"content":[]}}
           c>s {"id":2,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":
               {"eventTypes":["github.*"],"priority":["high"]},"delivery":{"channels":["realtime"]},
            "expiresAt":"2027-01-01T00:00:00Z"}}}
           s>c {"id":2,"result":{"structuredContent":{"subscriptionId":"11111111-2222-4111-8111-111111111111",
               "status":"active","filter":{"eventTypes":["github.*"],"priority":["high"]},"delivery":
            {"channels":["realtime"]},"createdAt":"2026-01-01T00:00:00Z","expiresAt":"2027-01-01T00:00:00Z"},"content":[]}}"##,
    ),
    (
        "mcpe/schedule-missing",
        r##"$EVENTS
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"delivery":
               {"channels":["cron"]}}}}"##,
    ),
    (
        "mcpe/wildcards-asked",
        r##"hello 2025-11-25 {} | {"tools":{},"events":{"maxSubscriptions":1,"deliveryChannels":["realtime"],
            "features":{"pause":true,"wildcards":false,"cronSchedule":false,"scheduledDelivery":false}}}
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":
               {"eventTypes":["github.*"]},"delivery":{"channels":["realtime"]}}}}
           s>c {"id":1,"result":{"content":[],"isError":true}}"##,
    ),
    (
        "mcpe/tool-schema",
        r##"$EVENTS
           c>s {"id":"t","method":"tools/list"}
           s>c {"id":"t","result":{"tools":[{"name":"events_subscribe","inputSchema":{"type":"object"}},
               {"name":"events_unsubscribe","inputSchema":{"type":"object","properties":{"subscriptionId":
            {"type":"string"}}}}]}}"##,
    ),
    (
        "mcpe/method",
        r##"$EVENTS
           c>s {"id":1,"method":"events/subscribe","params":{}}"##,
    ),
    (
        "mcpe/wildcards-unsupported",
        r##"hello 2025-11-25 {} | {"tools":{},"events":{"maxSubscriptions":1,"deliveryChannels":["realtime"],
            "features":{"pause":true,"wildcards":false,"cronSchedule":false,"scheduledDelivery":false}}}
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":
               {"eventTypes":["github.*"],"priority":["high"]},"delivery":{"channels":["realtime"]},
            "expiresAt":"2027-01-01T00:00:00Z"}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{"eventTypes":["github.*"],"priority":["high"]},"delivery":
            {"channels":["realtime"]},"createdAt":"2026-01-01T00:00:00Z","expiresAt":"2027-01-01T00:00:00Z"},"content":[]}}"##,
    ),
    (
        "mcpe/odd-wildcard",
        r##"$EVENTS
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":
               {"eventTypes":["*.opened"]}}}}"##,
    ),
    (
        "mcpe/nested-update",
        r##"$EVENTS
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":
               {"eventTypes":["github.*"],"priority":["high"]},"delivery":{"channels":["realtime"]},
            "expiresAt":"2027-01-01T00:00:00Z"}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{"eventTypes":["github.*"],"priority":["high"]},"delivery":
            {"channels":["realtime"]},"createdAt":"2026-01-01T00:00:00Z","expiresAt":"2027-01-01T00:00:00Z"},"content":[]}}
           c>s {"id":2,"method":"tools/call","params":{"name":"events_update","arguments":
               {"subscriptionId":"11111111-1111-4111-8111-111111111111","updates":{}}}}
           s>c {"id":2,"result":{"structuredContent":{"success":true},"content":[]}}"##,
    ),
    (
        "mcpe/webhook-http",
        r##"$EVENTS
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"handler":
               {"type":"webhook","url":"http://example.org/x"}}}}"##,
    ),
    (
        "mcpe/no-expiry",
        r##"$EVENTS
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{},"delivery":{"channels":["realtime"]},
               "createdAt":"2026-01-01T00:00:00Z"},"content":[]}}"##,
    ),
    (
        "mcpe/not-uuid",
        r##"$EVENTS
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":
               {"eventTypes":["github.*"],"priority":["high"]},"delivery":{"channels":["realtime"]},
            "expiresAt":"2027-01-01T00:00:00Z"}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"sub-1","status":"active","filter":
               {"eventTypes":["github.*"],"priority":["high"]},"delivery":{"channels":["realtime"]},
            "createdAt":"2026-01-01T00:00:00Z","expiresAt":"2027-01-01T00:00:00Z"},"content":[]}}"##,
    ),
    (
        "mcpe/not-uuid",
        r##"$EVENTS
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":
               {"eventTypes":["github.*"],"priority":["high"]},"delivery":{"channels":["realtime"]},
            "expiresAt":"2027-01-01T00:00:00Z"}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{"eventTypes":["github.*"],"priority":["high"]},"delivery":
            {"channels":["realtime"]},"createdAt":"2026-01-01T00:00:00Z","expiresAt":"2027-01-01T00:00:00Z"},"content":[]}}
           s>c {"method":"events/event","params":{"subscriptionId":"11111111-1111-4111-8111-111111111111","event":
               {"id":"e","type":"github.push","data":{},"metadata":{"timestamp":"2026-01-02T00:00:00Z",
            "priority":"high"}}}}"##,
    ),
    (
        "mcpe/timestamp",
        r##"$EVENTS
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":
               {"eventTypes":["github.*"],"priority":["high"]},"delivery":{"channels":["realtime"]},
            "expiresAt":"2027-01-01T00:00:00Z"}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{"eventTypes":["github.*"],"priority":["high"]},"delivery":
            {"channels":["realtime"]},"createdAt":"2026-01-01T00:00:00Z","expiresAt":"2027-01-01T00:00:00Z"},"content":[]}}
           s>c {"method":"events/event","params":{"subscriptionId":"11111111-1111-4111-8111-111111111111","event":
               {"id":"22222222-2222-4222-8222-222222222222","type":"github.push","data":{},"metadata":
            {"timestamp":"2026-01-02","priority":"high"}}}}"##,
    ),
    (
        "mcpe/timestamp-unreadable",
        r##"$EVENTS
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":
               {"eventTypes":["github.*"],"priority":["high"]},"delivery":{"channels":["realtime"]},
            "expiresAt":"2027-01-01T00:00:00Z"}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{"eventTypes":["github.*"],"priority":["high"]},"delivery":
            {"channels":["realtime"]},"createdAt":"2026-01-01T00:00:00Z","expiresAt":"2027-01-01T00:00:00Z"},"content":[]}}
           s>c {"method":"events/event","params":{"subscriptionId":"11111111-1111-4111-8111-111111111111","event":
               {"id":"22222222-2222-4222-8222-222222222222","type":"github.push","data":{},"metadata":
            {"timestamp":"now","priority":"high"}}}}"##,
    ),
    (
        "mcpe/unknown-accepted",
        r##"$EVENTS
           c>s {"id":2,"method":"tools/call","params":{"name":"events_pause","arguments":
               {"subscriptionId":"11111111-1111-4111-8111-111111111111"}}}
           s>c {"id":2,"result":{"structuredContent":{"success":true},"content":[]}}"##,
    ),
    (
        "mcpe/unknown-accepted",
        r##"$EVENTS
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":
               {"eventTypes":["github.*"],"priority":["high"]},"delivery":{"channels":["realtime"]},
            "expiresAt":"2027-01-01T00:00:00Z"}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{"eventTypes":["github.*"],"priority":["high"]},"delivery":
            {"channels":["realtime"]},"createdAt":"2026-01-01T00:00:00Z","expiresAt":"2027-01-01T00:00:00Z"},"content":[]}}
           c>s {"id":2,"method":"tools/call","params":{"name":"events_unsubscribe","arguments":
               {"subscriptionId":"11111111-1111-4111-8111-111111111111"}}}
           s>c {"id":2,"result":{"structuredContent":{"success":true},"content":[]}}
           c>s {"id":3,"method":"tools/call","params":{"name":"events_resume","arguments":
               {"subscriptionId":"11111111-1111-4111-8111-111111111111"}}}
           s>c {"id":3,"result":{"structuredContent":{"success":true},"content":[]}}"##,
    ),
    (
        "mcpe/unknown-subscription",
        r##"$EVENTS
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":
               {"eventTypes":["github.*"],"priority":["high"]},"delivery":{"channels":["realtime"]},
            "expiresAt":"2027-01-01T00:00:00Z"}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{"eventTypes":["github.*"],"priority":["high"]},"delivery":
            {"channels":["realtime"]},"createdAt":"2026-01-01T00:00:00Z","expiresAt":"2027-01-01T00:00:00Z"},"content":[]}}
           s>c {"method":"events/event","params":{"subscriptionId":"22222222-2222-4222-8222-222222222222","event":
               {"id":"22222222-2222-4222-8222-222222222222","type":"github.push","data":{},"metadata":
            {"timestamp":"2026-01-02T00:00:00Z","priority":"high"}}}}"##,
    ),
    (
        "mcpe/unknown-subscription",
        r##"$EVENTS
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":
               {"eventTypes":["github.*"],"priority":["high"]},"delivery":{"channels":["realtime"]},
            "expiresAt":"2027-01-01T00:00:00Z"}}}
           s>c {"method":"events/event","params":{"subscriptionId":"22222222-2222-4222-8222-222222222222","event":
               {"id":"22222222-2222-4222-8222-222222222222","type":"github.push","data":{},"metadata":
            {"timestamp":"2026-01-02T00:00:00Z","priority":"high"}}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{"eventTypes":["github.*"],"priority":["high"]},"delivery":
            {"channels":["realtime"]},"createdAt":"2026-01-01T00:00:00Z","expiresAt":"2027-01-01T00:00:00Z"},"content":[]}}"##,
    ),
    (
        "mcpe/unknown-subscription",
        r##"$EVENTS
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":
               {"eventTypes":["github.*"],"priority":["high"]},"delivery":{"channels":["realtime"]},
            "expiresAt":"2027-01-01T00:00:00Z"}}}
           s>c {"method":"events/event","params":{"subscriptionId":"22222222-2222-4222-8222-222222222222","event":
               {"id":"22222222-2222-4222-8222-222222222222","type":"github.push","data":{},"metadata":
            {"timestamp":"2026-01-02T00:00:00Z","priority":"high"}}}}"##,
    ),
    (
        "mcpe/delivery-inactive",
        r##"$EVENTS
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":
               {"eventTypes":["github.*"],"priority":["high"]},"delivery":{"channels":["realtime"]},
            "expiresAt":"2027-01-01T00:00:00Z"}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{"eventTypes":["github.*"],"priority":["high"]},"delivery":
            {"channels":["realtime"]},"createdAt":"2026-01-01T00:00:00Z","expiresAt":"2027-01-01T00:00:00Z"},"content":[]}}
           c>s {"id":2,"method":"tools/call","params":{"name":"events_pause","arguments":
               {"subscriptionId":"11111111-1111-4111-8111-111111111111"}}}
           s>c {"id":2,"result":{"structuredContent":{"success":true},"content":[]}}
           @1000 s>c {"method":"events/event","params":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "event":{"id":"22222222-2222-4222-8222-222222222222","type":"github.push","data":{},"metadata":
            {"timestamp":"2026-01-02T00:00:00Z","priority":"high"}}}}"##,
    ),
    (
        "mcpe/delivery-inactive",
        r##"$EVENTS
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":
               {"eventTypes":["github.*"],"priority":["high"]},"delivery":{"channels":["realtime"]},
            "expiresAt":"2027-01-01T00:00:00Z"}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{"eventTypes":["github.*"],"priority":["high"]},"delivery":
            {"channels":["realtime"]},"createdAt":"2026-01-01T00:00:00Z","expiresAt":"2027-01-01T00:00:00Z"},"content":[]}}
           c>s {"id":2,"method":"tools/call","params":{"name":"events_unsubscribe","arguments":
               {"subscriptionId":"11111111-1111-4111-8111-111111111111"}}}
           s>c {"id":2,"result":{"structuredContent":{"success":true},"content":[]}}
           @1000 s>c {"method":"events/event","params":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "event":{"id":"22222222-2222-4222-8222-222222222222","type":"github.push","data":{},"metadata":
            {"timestamp":"2026-01-02T00:00:00Z","priority":"high"}}}}"##,
    ),
    (
        "mcpe/delivery-inactive",
        r##"$EVENTS
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":
               {"eventTypes":["github.*"],"priority":["high"]},"delivery":{"channels":["realtime"]},
            "expiresAt":"2027-01-01T00:00:00Z"}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{"eventTypes":["github.*"],"priority":["high"]},"delivery":
            {"channels":["realtime"]},"createdAt":"2026-01-01T00:00:00Z","expiresAt":"2027-01-01T00:00:00Z"},"content":[]}}
           s>c {"method":"events/subscription_expired","params":
               {"subscriptionId":"11111111-1111-4111-8111-111111111111"}}
           @1000 s>c {"method":"events/event","params":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "event":{"id":"22222222-2222-4222-8222-222222222222","type":"github.push","data":{},"metadata":
            {"timestamp":"2026-01-02T00:00:00Z","priority":"high"}}}}"##,
    ),
    (
        "mcpe/delivery-kind",
        r##"$EVENTS
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":
               {"eventTypes":["github.*"],"priority":["high"]},"delivery":{"channels":["realtime"]},
            "expiresAt":"2027-01-01T00:00:00Z"}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{"eventTypes":["github.*"],"priority":["high"]},"delivery":
            {"channels":["realtime"]},"createdAt":"2026-01-01T00:00:00Z","expiresAt":"2027-01-01T00:00:00Z"},"content":[]}}
           s>c {"method":"events/batch","params":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "events":[{"id":"22222222-2222-4222-8222-222222222222","type":"github.push","data":{},"metadata":
            {"timestamp":"2026-01-02T00:00:00Z","priority":"high"}}]}}"##,
    ),
    (
        "mcpe/delivery-kind",
        r##"$EVENTS
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":
               {"eventTypes":["github.*"],"priority":["high"]},"delivery":{"channels":["realtime"]},
            "expiresAt":"2027-01-01T00:00:00Z"}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{"eventTypes":["github.*"],"priority":["high"]},"delivery":
            {"channels":["cron"],"cronSchedule":{"expression":"0 9 * * *","maxEventsPerDelivery":1}},
            "createdAt":"2026-01-01T00:00:00Z","expiresAt":"2027-01-01T00:00:00Z"},"content":[]}}
           s>c {"method":"events/event","params":{"subscriptionId":"11111111-1111-4111-8111-111111111111","event":
               {"id":"22222222-2222-4222-8222-222222222222","type":"github.push","data":{},"metadata":
            {"timestamp":"2026-01-02T00:00:00Z","priority":"high"}}}}"##,
    ),
    (
        "mcpe/filter-mismatch",
        r##"$EVENTS
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":
               {"eventTypes":["github.*"],"priority":["high"]},"delivery":{"channels":["realtime"]},
            "expiresAt":"2027-01-01T00:00:00Z"}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{"eventTypes":["github.*"],"priority":["high"]},"delivery":
            {"channels":["realtime"]},"createdAt":"2026-01-01T00:00:00Z","expiresAt":"2027-01-01T00:00:00Z"},"content":[]}}
           s>c {"method":"events/event","params":{"subscriptionId":"11111111-1111-4111-8111-111111111111","event":
               {"id":"22222222-2222-4222-8222-222222222222","type":"slack.message","data":{},"metadata":
            {"timestamp":"2026-01-02T00:00:00Z","priority":"high"}}}}"##,
    ),
    (
        "mcpe/filter-mismatch",
        r##"$EVENTS
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":
               {"eventTypes":["github.*"],"priority":["high"]},"delivery":{"channels":["realtime"]},
            "expiresAt":"2027-01-01T00:00:00Z"}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{"eventTypes":["github.*"],"priority":["high"]},"delivery":
            {"channels":["realtime"]},"createdAt":"2026-01-01T00:00:00Z","expiresAt":"2027-01-01T00:00:00Z"},"content":[]}}
           s>c {"method":"events/event","params":{"subscriptionId":"11111111-1111-4111-8111-111111111111","event":
               {"id":"22222222-2222-4222-8222-222222222222","type":"github.push","data":{},"metadata":
            {"timestamp":"2026-01-02T00:00:00Z","priority":"low"}}}}"##,
    ),
    (
        "mcpe/filter-mismatch",
        r##"$EVENTS
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":
               {"eventTypes":["github.*"],"priority":["high"]},"delivery":{"channels":["realtime"]},
            "expiresAt":"2027-01-01T00:00:00Z"}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{"eventTypes":["github.*"],"priority":["high"]},"delivery":
            {"channels":["realtime"]},"createdAt":"2026-01-01T00:00:00Z","expiresAt":"2027-01-01T00:00:00Z"},"content":[]}}
           c>s {"id":2,"method":"tools/call","params":{"name":"events_update","arguments":
               {"subscriptionId":"11111111-1111-4111-8111-111111111111","filter":{"tags":["ci"]}}}}
           s>c {"id":2,"result":{"structuredContent":{"success":true},"content":[]}}
           s>c {"method":"events/event","params":{"subscriptionId":"11111111-1111-4111-8111-111111111111","event":
               {"id":"22222222-2222-4222-8222-222222222222","type":"github.push","data":{},"metadata":
            {"timestamp":"2026-01-02T00:00:00Z","priority":"high"}}}}"##,
    ),
    (
        "mcpe/wildcard-reading",
        r##"$EVENTS
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":
               {"eventTypes":["github.*"],"priority":["high"]},"delivery":{"channels":["realtime"]},
            "expiresAt":"2027-01-01T00:00:00Z"}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{"eventTypes":["github.*"],"priority":["high"]},"delivery":
            {"channels":["realtime"]},"createdAt":"2026-01-01T00:00:00Z","expiresAt":"2027-01-01T00:00:00Z"},"content":[]}}
           s>c {"method":"events/event","params":{"subscriptionId":"11111111-1111-4111-8111-111111111111","event":
               {"id":"22222222-2222-4222-8222-222222222222","type":"github","data":{},"metadata":
            {"timestamp":"2026-01-02T00:00:00Z","priority":"high"}}}}"##,
    ),
    (
        "mcpe/batch-size",
        r##"$EVENTS
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":
               {"eventTypes":["github.*"],"priority":["high"]},"delivery":{"channels":["realtime"]},
            "expiresAt":"2027-01-01T00:00:00Z"}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{"eventTypes":["github.*"],"priority":["high"]},"delivery":
            {"channels":["cron"],"cronSchedule":{"expression":"0 9 * * *","maxEventsPerDelivery":1}},
            "createdAt":"2026-01-01T00:00:00Z","expiresAt":"2027-01-01T00:00:00Z"},"content":[]}}
           s>c {"method":"events/batch","params":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "events":[{"id":"22222222-2222-4222-8222-222222222222","type":"github.push","data":{},"metadata":
            {"timestamp":"2026-01-02T00:00:00Z","priority":"high"}},{"id":"11111111-1111-4111-8111-111111111111",
            "type":"github.push","data":{},"metadata":{"timestamp":"2026-01-02T00:00:00Z","priority":"high"}}]}}"##,
    ),
    (
        "mcpe/empty-batch",
        r##"$EVENTS
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":
               {"eventTypes":["github.*"],"priority":["high"]},"delivery":{"channels":["realtime"]},
            "expiresAt":"2027-01-01T00:00:00Z"}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{"eventTypes":["github.*"],"priority":["high"]},"delivery":
            {"channels":["cron"],"cronSchedule":{"expression":"0 9 * * *","maxEventsPerDelivery":1}},
            "createdAt":"2026-01-01T00:00:00Z","expiresAt":"2027-01-01T00:00:00Z"},"content":[]}}
           s>c {"method":"events/batch","params":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "events":[]}}"##,
    ),
    (
        "mcpe/old-event",
        r##"$EVENTS
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":
               {"eventTypes":["github.*"],"priority":["high"]},"delivery":{"channels":["realtime"]},
            "expiresAt":"2027-01-01T00:00:00Z"}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{"eventTypes":["github.*"],"priority":["high"]},"delivery":
            {"channels":["realtime"]},"createdAt":"2026-01-01T00:00:00Z","expiresAt":"2027-01-01T00:00:00Z"},"content":[]}}
           s>c {"method":"events/event","params":{"subscriptionId":"11111111-1111-4111-8111-111111111111","event":
               {"id":"22222222-2222-4222-8222-222222222222","type":"github.push","data":{},"metadata":
            {"timestamp":"2025-12-31T23:59:59Z","priority":"high"}}}}"##,
    ),
    (
        "mcpe/event-twice",
        r##"$EVENTS
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":
               {"eventTypes":["github.*"],"priority":["high"]},"delivery":{"channels":["realtime"]},
            "expiresAt":"2027-01-01T00:00:00Z"}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{"eventTypes":["github.*"],"priority":["high"]},"delivery":
            {"channels":["realtime"]},"createdAt":"2026-01-01T00:00:00Z","expiresAt":"2027-01-01T00:00:00Z"},"content":[]}}
           s>c {"method":"events/event","params":{"subscriptionId":"11111111-1111-4111-8111-111111111111","event":
               {"id":"22222222-2222-4222-8222-222222222222","type":"github.push","data":{},"metadata":
            {"timestamp":"2026-01-02T00:00:00Z","priority":"high"}}}}
           s>c {"method":"events/event","params":{"subscriptionId":"11111111-1111-4111-8111-111111111111","event":
               {"id":"22222222-2222-4222-8222-222222222222","type":"github.push","data":{},"metadata":
            {"timestamp":"2026-01-02T00:00:00Z","priority":"high"}}}}"##,
    ),
    (
        "mcpe/other-dialect",
        r##"hello 2025-11-25 {} | {"events":{"listChanged":true}}
           c>s {"id":1,"method":"events/list"}"##,
    ),
    (
        "mcpe/delivery-past-expiry",
        r##"$EVENTS
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":{},"delivery":
               {"channels":["realtime"]}}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{},"delivery":{"channels":["realtime"]},
            "createdAt":"2026-01-01T00:00:00Z","expiresAt":"2026-01-01T00:05:00Z"},"content":[]}}
           @540000 s>c {"method":"events/event","params":{"subscriptionId":"11111111-1111-4111-8111-111111111111","event":
               {"id":"22222222-2222-4222-8222-222222222222","type":"a","data":{},
               "metadata":{"timestamp":"2026-01-01T00:09:00Z","priority":"low"}}}}"##,
    ),
    (
        "mcpe/expiry-untold",
        r##"$EVENTS
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":{},"delivery":
               {"channels":["realtime"]}}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{},"delivery":{"channels":["realtime"]},
            "createdAt":"2026-01-01T00:00:00Z","expiresAt":"2026-01-01T00:05:00Z"},"content":[]}}
           @600000 c>s {"id":"p","method":"ping"}
           s>c {"id":"p","result":{}}"##,
    ),
    (
        "mcpe/expired-before-grant",
        r##"$EVENTS
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":{},"delivery":
               {"channels":["scheduled"],"scheduledDelivery":{"deliverAt":"2026-01-01T01:00:00Z"}}}}}
           s>c {"method":"events/subscription_expired","params":{"subscriptionId":"11111111-1111-4111-8111-111111111111"}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{},"delivery":{"channels":["scheduled"],"scheduledDelivery":{"deliverAt":"2026-01-01T01:00:00Z"}},
            "createdAt":"2026-01-01T00:00:00Z"},"content":[]}}"##,
    ),
    (
        "mcpe/granted-expired",
        r##"$EVENTS
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":{},"delivery":
               {"channels":["realtime"]}}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{},"delivery":{"channels":["realtime"]},
            "createdAt":"2026-01-01T00:00:00Z","expiresAt":"2020-01-01T00:00:00Z"},"content":[]}}"##,
    ),
    (
        "mcpe/cron-instant",
        r##"$EVENTS
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":{},"delivery":
               {"channels":["cron"],"cronSchedule":{"expression":"0 9 * * *","timezone":"Europe/Berlin"}}}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{},"delivery":{"channels":["cron"],"cronSchedule":{"expression":"0 9 * * *","timezone":"Europe/Berlin"}},
            "createdAt":"2026-01-01T09:00:00Z"},"content":[]}}
           s>c {"method":"events/batch","params":{"subscriptionId":"11111111-1111-4111-8111-111111111111","events":[
               {"id":"22222222-2222-4222-8222-222222222222","type":"a","data":{},
               "metadata":{"timestamp":"2026-01-01T09:00:00Z","priority":"low"}}]}}"##,
    ),
    (
        "mcpe/event-passed-over",
        r##"$EVENTS
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":{},"delivery":
               {"channels":["realtime","cron"],"cronSchedule":{"expression":"0 9 * * *","maxEventsPerDelivery":1}}}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{},"delivery":{"channels":["realtime","cron"],"cronSchedule":
            {"expression":"0 9 * * *","maxEventsPerDelivery":1}},"createdAt":"2026-01-01T09:00:00Z"},"content":[]}}
           s>c {"method":"events/event","params":{"subscriptionId":"11111111-1111-4111-8111-111111111111","event":{"id":"22222222-2222-4222-8222-222222222221","type":"a","data":{},
               "metadata":{"timestamp":"2026-01-01T09:00:00Z","priority":"low"}}}}
           s>c {"method":"events/event","params":{"subscriptionId":"11111111-1111-4111-8111-111111111111","event":{"id":"22222222-2222-4222-8222-222222222222","type":"a","data":{},
               "metadata":{"timestamp":"2026-01-01T09:00:00Z","priority":"low"}}}}
           s>c {"method":"events/batch","params":{"subscriptionId":"11111111-1111-4111-8111-111111111111","events":[{"id":"22222222-2222-4222-8222-222222222222","type":"a","data":{},
               "metadata":{"timestamp":"2026-01-01T09:00:00Z","priority":"low"}}]}}"##,
    ),
    (
        "mcpe/expired-counted",
        r##"hello 2025-11-25 {} | {"tools":{},"events":{"maxSubscriptions":1,"deliveryChannels":["realtime"],
            "features":{"pause":true,"wildcards":true,"cronSchedule":false,"scheduledDelivery":false}}}
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":{},"delivery":
               {"channels":["realtime"]},"expiresAt":"2020-01-01T00:00:00Z"}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{},"delivery":{"channels":["realtime"]},
            "createdAt":"2026-01-01T00:00:00Z","expiresAt":"2020-01-01T00:00:00Z"},"content":[]}}
           c>s {"id":2,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":{},"delivery":
               {"channels":["realtime"]}}}}
           s>c {"id":2,"result":{"isError":true,"content":[{"type":"text","text":"maximum of subscriptions"}]}}"##,
    ),
    (
        "mcpe/cron-fields",
        r##"$EVENTS
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":{},"delivery":
               {"channels":["cron"],"cronSchedule":{"expression":"*/3 * * * * *"}}}}}"##,
    ),
    (
        "mcpe/scheduled-instant",
        r##"$EVENTS
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":{},"delivery":
               {"channels":["scheduled"],"scheduledDelivery":{"deliverAt":"2026-01-01T01:00:00Z"}}}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{},"delivery":{"channels":["scheduled"],"scheduledDelivery":{"deliverAt":"2026-01-01T01:00:00Z"}},
            "createdAt":"2026-01-01T00:00:00Z"},"content":[]}}
           @600000 s>c {"method":"events/batch","params":{"subscriptionId":"11111111-1111-4111-8111-111111111111","events":[
               {"id":"22222222-2222-4222-8222-222222222222","type":"a","data":{},
               "metadata":{"timestamp":"2026-01-01T00:00:00Z","priority":"low"}}]}}"##,
    ),
    (
        "mcpe/order",
        r##"$EVENTS
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":{},"delivery":
               {"channels":["realtime"]}}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{},"delivery":{"channels":["realtime"]},
            "createdAt":"2026-01-01T00:00:00Z"},"content":[]}}
           s>c {"method":"events/event","params":{"subscriptionId":"11111111-1111-4111-8111-111111111111","event":
               {"id":"22222222-2222-4222-8222-222222222222","type":"a","data":{},
               "metadata":{"timestamp":"2026-01-01T00:09:00Z","priority":"low"}}}}
           s>c {"method":"events/event","params":{"subscriptionId":"11111111-1111-4111-8111-111111111111","event":
               {"id":"22222222-2222-4222-8222-222222222223","type":"a","data":{},
               "metadata":{"timestamp":"2026-01-01T00:08:00Z","priority":"low"}}}}"##,
    ),
    (
        "mcpe/list-status",
        r##"$EVENTS
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":{},"delivery":
               {"channels":["realtime"]}}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{},"delivery":{"channels":["realtime"]},
            "createdAt":"2026-01-01T00:00:00Z"},"content":[]}}
           c>s {"id":9,"method":"tools/call","params":{"name":"events_list","arguments":{}}}
           s>c {"id":9,"result":{"structuredContent":{"subscriptions":[
               {"id":"11111111-1111-4111-8111-111111111111","status":"expired"}]},"content":[]}}"##,
    ),
    (
        "mcpe/subscription-id-reused",
        r##"hello 2025-11-25 {} | {"tools":{},"logging":{},"events":{"maxSubscriptions":3,"deliveryChannels":["realtime",
               "cron","scheduled"],
            "features":{"pause":true,"wildcards":true,"cronSchedule":true,"scheduledDelivery":true}}}
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":{},
               "delivery":{"channels":["realtime"]}}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{},"delivery":{"channels":["realtime"]},
               "createdAt":"2026-01-01T00:00:00Z"},"content":[]}}
           c>s {"id":2,"method":"tools/call","params":{"name":"events_unsubscribe",
               "arguments":{"subscriptionId":"11111111-1111-4111-8111-111111111111"}}}
           s>c {"id":2,"result":{"structuredContent":{"success":true},"content":[]}}
           c>s {"id":3,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":{},
               "delivery":{"channels":["realtime"]}}}}
           s>c {"id":3,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{},"delivery":{"channels":["realtime"]},
               "createdAt":"2026-01-01T00:00:00Z"},"content":[]}}"##,
    ),
    (
        "mcpe/granted-otherwise",
        r##"$EVENTS
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":
               {"eventTypes":["a"]},"delivery":{"channels":["realtime"]},"expiresAt":"2027-01-01T00:00:00Z"}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{"eventTypes":["a"]},"delivery":{"channels":["realtime"]},
               "createdAt":"2026-01-01T00:00:00Z"},"content":[]}}"##,
    ),
    (
        "mcpe/granted-otherwise",
        r##"hello 2025-11-25 {} | {"tools":{},"logging":{},"events":{"maxSubscriptions":3,"deliveryChannels":["realtime",
               "cron","scheduled"],
            "features":{"pause":true,"wildcards":true,"cronSchedule":true,"scheduledDelivery":true}}}
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe",
               "arguments":{"filter":{"eventTypes":["a"]}}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{"eventTypes":["a","b"]},"delivery":{"channels":["realtime"]},
               "createdAt":"2026-01-01T00:00:00Z"},"content":[]}}"##,
    ),
    (
        "mcpe/granted-otherwise",
        r##"hello 2025-11-25 {} | {"tools":{},"logging":{},"events":{"maxSubscriptions":3,"deliveryChannels":["realtime",
               "cron","scheduled"],
            "features":{"pause":true,"wildcards":true,"cronSchedule":true,"scheduledDelivery":true}}}
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe",
               "arguments":{"delivery":{"channels":["realtime"]}}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{},"delivery":{"channels":["cron"]},
               "createdAt":"2026-01-01T00:00:00Z"},"content":[]}}"##,
    ),
    (
        "mcpe/granted-otherwise",
        r##"hello 2025-11-25 {} | {"tools":{},"logging":{},"events":{"maxSubscriptions":3,"deliveryChannels":["realtime",
               "cron","scheduled"],
            "features":{"pause":true,"wildcards":true,"cronSchedule":true,"scheduledDelivery":true}}}
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":{},
               "delivery":{"channels":["realtime"]},"expiresAt":"2026-01-01T00:01:00Z"}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{},"delivery":{"channels":["realtime"]},
               "expiresAt":"2026-01-01T00:02:00Z",
               "createdAt":"2026-01-01T00:00:00Z"},"content":[]}}"##,
    ),
    (
        "mcpe/granted-otherwise",
        r##"hello 2025-11-25 {} | {"tools":{},"logging":{},"events":{"maxSubscriptions":3,"deliveryChannels":["realtime",
               "cron","scheduled"],
            "features":{"pause":true,"wildcards":true,"cronSchedule":true,"scheduledDelivery":true}}}
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":{},
               "delivery":{"channels":["realtime"]}}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{},"delivery":{"channels":["realtime"]},
               "createdAt":"2026-01-01T00:00:00Z"},"content":[]}}
           c>s {"id":2,"method":"tools/call","params":{"name":"events_update",
               "arguments":{"subscriptionId":"11111111-1111-4111-8111-111111111111","filter":{"tags":["x"]}}}}
           s>c {"id":2,"result":{"structuredContent":{"filter":{},"status":"active"},"content":[]}}"##,
    ),
    (
        "mcpe/schedule-invalid",
        r##"hello 2025-11-25 {} | {"tools":{},"logging":{},"events":{"maxSubscriptions":3,"deliveryChannels":["realtime",
               "cron","scheduled"],
            "features":{"pause":true,"wildcards":true,"cronSchedule":true,"scheduledDelivery":true}}}
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":{}}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{},"delivery":{"channels":["cron"],
               "cronSchedule":{"expression":"often"}},
               "createdAt":"2026-01-01T00:00:00Z"},"content":[]}}"##,
    ),
    (
        "mcpe/schedule-invalid",
        r##"hello 2025-11-25 {} | {"tools":{},"logging":{},"events":{"maxSubscriptions":3,"deliveryChannels":["realtime",
               "cron","scheduled"],
            "features":{"pause":true,"wildcards":true,"cronSchedule":true,"scheduledDelivery":true}}}
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":{}}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{},"delivery":{"channels":["scheduled"],
               "scheduledDelivery":{"deliverAt":"2026-01-01T00:01:00","timezone":"Mars/Base"}},
               "createdAt":"2026-01-01T00:00:00Z"},"content":[]}}"##,
    ),
    (
        "mcpe/update-handler",
        r##"hello 2025-11-25 {} | {"tools":{},"logging":{},"events":{"maxSubscriptions":3,"deliveryChannels":["realtime",
               "cron","scheduled"],
            "features":{"pause":true,"wildcards":true,"cronSchedule":true,"scheduledDelivery":true}}}
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":{},
               "delivery":{"channels":["realtime"]}}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{},"delivery":{"channels":["realtime"]},
               "createdAt":"2026-01-01T00:00:00Z"},"content":[]}}
           c>s {"id":2,"method":"tools/call","params":{"name":"events_update",
               "arguments":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "handler":{"type":"agent"}}}}
           s>c {"id":2,"result":{"structuredContent":{"success":false},"content":[]}}"##,
    ),
    (
        "mcpe/schedule-missing",
        r##"hello 2025-11-25 {} | {"tools":{},"logging":{},"events":{"maxSubscriptions":3,"deliveryChannels":["realtime",
               "cron","scheduled"],
            "features":{"pause":true,"wildcards":true,"cronSchedule":true,"scheduledDelivery":true}}}
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":{},
               "delivery":{"channels":["realtime"]}}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{},"delivery":{"channels":["realtime"]},
               "createdAt":"2026-01-01T00:00:00Z"},"content":[]}}
           c>s {"id":2,"method":"tools/call","params":{"name":"events_update",
               "arguments":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "delivery":{"channels":["cron"]}}}}
           s>c {"id":2,"result":{"structuredContent":{"success":false},"content":[]}}"##,
    ),
    (
        "mcpe/webhook-http",
        r##"hello 2025-11-25 {} | {"tools":{},"logging":{},"events":{"maxSubscriptions":3,"deliveryChannels":["realtime",
               "cron","scheduled"],
            "features":{"pause":true,"wildcards":true,"cronSchedule":true,"scheduledDelivery":true}}}
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe",
               "arguments":{"handler":{"type":"webhook","url":"http://127.evil.example/"}}}}"##,
    ),
    (
        "mcpe/webhook-http",
        r##"hello 2025-11-25 {} | {"tools":{},"logging":{},"events":{"maxSubscriptions":3,"deliveryChannels":["realtime",
               "cron","scheduled"],
            "features":{"pause":true,"wildcards":true,"cronSchedule":true,"scheduledDelivery":true}}}
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe",
               "arguments":{"handler":{"type":"webhook","url":"HTTP://example.org/"}}}}"##,
    ),
    (
        "mcpe/not-aggregated",
        r##"hello 2025-11-25 {} | {"tools":{},"logging":{},"events":{"maxSubscriptions":3,"deliveryChannels":["realtime",
               "cron","scheduled"],
            "features":{"pause":true,"wildcards":true,"cronSchedule":true,"scheduledDelivery":true}}}
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":{},
               "delivery":{"channels":["scheduled"],"scheduledDelivery":{"deliverAt":"2026-01-01T00:01:00Z",
               "aggregateEvents":false}}}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{},"delivery":{"channels":["scheduled"],
               "scheduledDelivery":{"deliverAt":"2026-01-01T00:01:00Z","aggregateEvents":false}},
               "createdAt":"2026-01-01T00:00:00Z"},"content":[]}}
           @60000 s>c {"method":"events/batch",
               "params":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "events":[{"id":"22222222-2222-4222-8222-222222222221","type":"a","data":{},
               "metadata":{"timestamp":"2026-01-01T00:00:00Z","priority":"low"}},
               {"id":"22222222-2222-4222-8222-222222222222","type":"a","data":{},
               "metadata":{"timestamp":"2026-01-01T00:00:00Z","priority":"low"}}]}}"##,
    ),
    (
        "mcpe/expiry-untold",
        r##"hello 2025-11-25 {} | {"tools":{},"logging":{},"events":{"maxSubscriptions":3,"deliveryChannels":["realtime",
               "cron","scheduled"],
            "features":{"pause":true,"wildcards":true,"cronSchedule":true,"scheduledDelivery":true}}}
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":{},
               "delivery":{"channels":["scheduled"],"scheduledDelivery":{"deliverAt":"2026-01-01T00:01:00Z"}}}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{},"delivery":{"channels":["scheduled"],
               "scheduledDelivery":{"deliverAt":"2026-01-01T00:01:00Z"}},
               "createdAt":"2026-01-01T00:00:00Z"},"content":[]}}
           @60000 s>c {"method":"events/batch",
               "params":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "events":[{"id":"22222222-2222-4222-8222-222222222221","type":"a","data":{},
               "metadata":{"timestamp":"2026-01-01T00:00:00Z","priority":"low"}}]}}
           @90000 s>c {"method":"notifications/message","params":{"level":"info","data":1}}"##,
    ),
    (
        "mcpe/expired-twice",
        r##"hello 2025-11-25 {} | {"tools":{},"logging":{},"events":{"maxSubscriptions":3,"deliveryChannels":["realtime",
               "cron","scheduled"],
            "features":{"pause":true,"wildcards":true,"cronSchedule":true,"scheduledDelivery":true}}}
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":{},
               "delivery":{"channels":["realtime"]},"expiresAt":"2026-01-01T00:01:00Z"}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{},"delivery":{"channels":["realtime"]},
               "expiresAt":"2026-01-01T00:01:00Z",
               "createdAt":"2026-01-01T00:00:00Z"},"content":[]}}
           @60000 s>c {"method":"events/subscription_expired",
               "params":{"subscriptionId":"11111111-1111-4111-8111-111111111111"}}
           @61000 s>c {"method":"events/subscription_expired",
               "params":{"subscriptionId":"11111111-1111-4111-8111-111111111111"}}"##,
    ),
    (
        "mcpe/expired-early",
        r##"hello 2025-11-25 {} | {"tools":{},"logging":{},"events":{"maxSubscriptions":3,"deliveryChannels":["realtime",
               "cron","scheduled"],
            "features":{"pause":true,"wildcards":true,"cronSchedule":true,"scheduledDelivery":true}}}
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":{},
               "delivery":{"channels":["realtime"]},"expiresAt":"2026-01-01T00:01:00Z"}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{},"delivery":{"channels":["realtime"]},
               "expiresAt":"2026-01-01T00:01:00Z",
               "createdAt":"2026-01-01T00:00:00Z"},"content":[]}}
           @30000 s>c {"method":"events/subscription_expired",
               "params":{"subscriptionId":"11111111-1111-4111-8111-111111111111"}}"##,
    ),
    (
        "mcpe/list-incomplete",
        r##"hello 2025-11-25 {} | {"tools":{},"logging":{},"events":{"maxSubscriptions":3,"deliveryChannels":["realtime",
               "cron","scheduled"],
            "features":{"pause":true,"wildcards":true,"cronSchedule":true,"scheduledDelivery":true}}}
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":{},
               "delivery":{"channels":["realtime"]}}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{},"delivery":{"channels":["realtime"]},
               "createdAt":"2026-01-01T00:00:00Z"},"content":[]}}
           c>s {"id":2,"method":"tools/call","params":{"name":"events_list","arguments":{}}}
           s>c {"id":2,"result":{"structuredContent":{"subscriptions":[]},"content":[]}}"##,
    ),
    (
        "mcpe/list-incomplete",
        r##"hello 2025-11-25 {} | {"tools":{},"logging":{},"events":{"maxSubscriptions":3,"deliveryChannels":["realtime",
               "cron","scheduled"],
            "features":{"pause":true,"wildcards":true,"cronSchedule":true,"scheduledDelivery":true}}}
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":{},
               "delivery":{"channels":["realtime"]}}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{},"delivery":{"channels":["realtime"]},
               "createdAt":"2026-01-01T00:00:00Z"},"content":[]}}
           c>s {"id":2,"method":"tools/call","params":{"name":"events_list","arguments":{"status":"paused"}}}
           s>c {"id":2,"result":{"structuredContent":{"subscriptions":[{"id":"11111111-1111-4111-8111-111111111111","status":"active"}]},"content":[]}}"##,
    ),
];

/// Servers that respect their schedules.
pub(super) const QUIET: &[&str] = &[
    r##"$EVENTS
       c>s {"id":"t","method":"tools/list"}
       s>c {"id":"t","result":{"tools":[{"name":"events_subscribe","inputSchema":{"type":"object"}},
           {"name":"events_list","inputSchema":{"type":"object"}},
           {"name":"events_unsubscribe","inputSchema":{"type":"object","properties":{"subscriptionId":
        {"type":"string"}},"required":["subscriptionId"]}},
           {"name":"events_pause","inputSchema":{"type":"object","properties":{"subscriptionId":
        {"type":"string"}},"required":["subscriptionId"]}},
           {"name":"events_resume","inputSchema":{"type":"object","properties":{"subscriptionId":
        {"type":"string"}},"required":["subscriptionId"]}},
           {"name":"events_update","inputSchema":{"type":"object","properties":{"subscriptionId":
        {"type":"string"}},"required":["subscriptionId"]}}]}}"##,
    // A maximum delays the events that exceed it.
    r##"$EVENTS
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":{},"delivery":
               {"channels":["realtime","cron"],"cronSchedule":{"expression":"* * * * *","maxEventsPerDelivery":1}}}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{},"delivery":{"channels":["realtime","cron"],"cronSchedule":
            {"expression":"* * * * *","maxEventsPerDelivery":1}},"createdAt":"2026-01-01T09:00:00Z"},"content":[]}}
           s>c {"method":"events/event","params":{"subscriptionId":"11111111-1111-4111-8111-111111111111","event":{"id":"22222222-2222-4222-8222-222222222221","type":"a","data":{},
               "metadata":{"timestamp":"2026-01-01T09:00:00Z","priority":"low"}}}}
           s>c {"method":"events/event","params":{"subscriptionId":"11111111-1111-4111-8111-111111111111","event":{"id":"22222222-2222-4222-8222-222222222222","type":"a","data":{},
               "metadata":{"timestamp":"2026-01-01T09:00:00Z","priority":"low"}}}}
           @60000 s>c {"method":"events/batch","params":{"subscriptionId":"11111111-1111-4111-8111-111111111111","events":[{"id":"22222222-2222-4222-8222-222222222221","type":"a","data":{},
               "metadata":{"timestamp":"2026-01-01T09:00:00Z","priority":"low"}}]}}
           @120000 s>c {"method":"events/batch","params":{"subscriptionId":"11111111-1111-4111-8111-111111111111","events":[{"id":"22222222-2222-4222-8222-222222222222","type":"a","data":{},
               "metadata":{"timestamp":"2026-01-01T09:00:00Z","priority":"low"}}]}}"##,
    // One subscription too many is refused.
    r##"hello 2025-11-25 {} | {"tools":{},"events":{"maxSubscriptions":1,"deliveryChannels":["realtime"],
            "features":{"pause":true,"wildcards":true,"cronSchedule":false,"scheduledDelivery":false}}}
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":{},"delivery":
               {"channels":["realtime"]}}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{},"delivery":{"channels":["realtime"]},
            "createdAt":"2026-01-01T00:00:00Z"},"content":[]}}
           c>s {"id":2,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":{},"delivery":
               {"channels":["realtime"]}}}}
           s>c {"id":2,"result":{"isError":true,"content":[{"type":"text","text":"maximum of subscriptions"}]}}"##,
    // It is nine o'clock in Berlin: the batch is on schedule.
    r##"$EVENTS
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":{},"delivery":
               {"channels":["cron"],"cronSchedule":{"expression":"0 9 * * *","timezone":"Europe/Berlin"}}}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{},"delivery":{"channels":["cron"],"cronSchedule":{"expression":"0 9 * * *","timezone":"Europe/Berlin"}},
            "createdAt":"2026-01-01T07:59:00Z"},"content":[]}}
           @60000 s>c {"method":"events/batch","params":{"subscriptionId":"11111111-1111-4111-8111-111111111111","events":[
               {"id":"22222222-2222-4222-8222-222222222222","type":"a","data":{},
               "metadata":{"timestamp":"2026-01-01T07:59:30Z","priority":"low"}}]}}
           @86460000 s>c {"method":"events/batch","params":{"subscriptionId":"11111111-1111-4111-8111-111111111111","events":[
               {"id":"22222222-2222-4222-8222-222222222223","type":"a","data":{},
               "metadata":{"timestamp":"2026-01-01T08:00:30Z","priority":"low"}}]}}"##,
    // One batch at its time, followed by the expiry.
    r##"$EVENTS
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":{},"delivery":
               {"channels":["scheduled"],"scheduledDelivery":{"deliverAt":"2026-01-01T01:00:00Z"}}}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{},"delivery":{"channels":["scheduled"],"scheduledDelivery":{"deliverAt":"2026-01-01T01:00:00Z"}},
            "createdAt":"2026-01-01T00:00:00Z","expiresAt":"2026-01-02T00:00:00Z"},"content":[]}}
           @3600000 s>c {"method":"events/batch","params":{"subscriptionId":"11111111-1111-4111-8111-111111111111","events":[
               {"id":"22222222-2222-4222-8222-222222222222","type":"a","data":{},
               "metadata":{"timestamp":"2026-01-01T00:00:30Z","priority":"low"}}]}}
           s>c {"method":"events/subscription_expired","params":{"subscriptionId":"11111111-1111-4111-8111-111111111111"}}
           c>s {"id":9,"method":"tools/call","params":{"name":"events_list","arguments":{}}}
           s>c {"id":9,"result":{"structuredContent":{"subscriptions":[
               {"id":"11111111-1111-4111-8111-111111111111","status":"expired"}]},"content":[]}}"##,
    // A subscription that is reported to have expired.
    r##"$EVENTS
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":{},"delivery":
               {"channels":["realtime"]}}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{},"delivery":{"channels":["realtime"]},
            "createdAt":"2026-01-01T00:00:00Z","expiresAt":"2026-01-01T00:05:00Z"},"content":[]}}
           s>c {"method":"events/event","params":{"subscriptionId":"11111111-1111-4111-8111-111111111111","event":
               {"id":"22222222-2222-4222-8222-222222222222","type":"a","data":{},
               "metadata":{"timestamp":"2026-01-01T00:01:00Z","priority":"low"}}}}
           s>c {"method":"events/event","params":{"subscriptionId":"11111111-1111-4111-8111-111111111111","event":
               {"id":"22222222-2222-4222-8222-222222222223","type":"a","data":{},
               "metadata":{"timestamp":"2026-01-01T00:02:00Z","priority":"low"}}}}
           c>s {"id":9,"method":"tools/call","params":{"name":"events_list","arguments":{}}}
           s>c {"id":9,"result":{"structuredContent":{"subscriptions":[
               {"id":"11111111-1111-4111-8111-111111111111","status":"active"}]},"content":[]}}
           @300000 s>c {"method":"events/subscription_expired","params":{"subscriptionId":"11111111-1111-4111-8111-111111111111"}}
           @600000 c>s {"id":"p","method":"ping"}
           s>c {"id":"p","result":{}}"##,
    // What is granted is what was asked for, in another notation; the list is complete, and the end is reported once.
    r##"hello 2025-11-25 {} | {"tools":{},"logging":{},"events":{"maxSubscriptions":3,"deliveryChannels":["realtime",
               "cron","scheduled"],
            "features":{"pause":true,"wildcards":true,"cronSchedule":true,"scheduledDelivery":true}}}
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe",
               "arguments":{"filter":{"eventTypes":["*"]},"delivery":{"channels":["realtime"]},
               "expiresAt":"2026-01-01T01:01:00+01:00"}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{},"delivery":{"channels":["realtime"]},
               "expiresAt":"2026-01-01T00:01:00Z",
               "createdAt":"2026-01-01T00:00:00Z"},"content":[]}}
           c>s {"id":2,"method":"tools/call","params":{"name":"events_list","arguments":{"status":"active"}}}
           s>c {"id":2,"result":{"structuredContent":{"subscriptions":[{"id":"11111111-1111-4111-8111-111111111111","status":"active"}]},"content":[]}}
           c>s {"id":3,"method":"tools/call","params":{"name":"events_list","arguments":{"status":"paused"}}}
           s>c {"id":3,"result":{"structuredContent":{"subscriptions":[]},"content":[]}}
           c>s {"id":4,"method":"tools/call","params":{"name":"events_update",
               "arguments":{"subscriptionId":"11111111-1111-4111-8111-111111111111","filter":{"tags":["x"]}}}}
           s>c {"id":4,"result":{"structuredContent":{"filter":{"tags":["x"]},"status":"active"},"content":[]}}
           @60000 s>c {"method":"events/subscription_expired",
               "params":{"subscriptionId":"11111111-1111-4111-8111-111111111111"}}
           c>s {"id":5,"method":"tools/call","params":{"name":"events_list","arguments":{}}}
           s>c {"id":5,"result":{"structuredContent":{"subscriptions":[]},"content":[]}}"##,
    // Events that are not gathered come one by one, and the subscription ends with its delivery.
    r##"hello 2025-11-25 {} | {"tools":{},"logging":{},"events":{"maxSubscriptions":3,"deliveryChannels":["realtime",
               "cron","scheduled"],
            "features":{"pause":true,"wildcards":true,"cronSchedule":true,"scheduledDelivery":true}}}
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":{},
               "delivery":{"channels":["scheduled"],"scheduledDelivery":{"deliverAt":"2026-01-01T00:01:00Z",
               "aggregateEvents":false}}}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{},"delivery":{"channels":["scheduled"],
               "scheduledDelivery":{"deliverAt":"2026-01-01T00:01:00Z","aggregateEvents":false}},
               "createdAt":"2026-01-01T00:00:00Z"},"content":[]}}
           @60000 s>c {"method":"events/batch",
               "params":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "events":[{"id":"22222222-2222-4222-8222-222222222221","type":"a","data":{},
               "metadata":{"timestamp":"2026-01-01T00:00:00Z","priority":"low"}}]}}
           @60000 s>c {"method":"events/batch",
               "params":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "events":[{"id":"22222222-2222-4222-8222-222222222222","type":"a","data":{},
               "metadata":{"timestamp":"2026-01-01T00:00:00Z","priority":"low"}}]}}
           @60000 s>c {"method":"events/subscription_expired",
               "params":{"subscriptionId":"11111111-1111-4111-8111-111111111111"}}"##,
    // A subscription that does not expire by itself is still there after its delivery.
    r##"hello 2025-11-25 {} | {"tools":{},"logging":{},"events":{"maxSubscriptions":3,"deliveryChannels":["realtime",
               "cron","scheduled"],
            "features":{"pause":true,"wildcards":true,"cronSchedule":true,"scheduledDelivery":true}}}
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":{},
               "delivery":{"channels":["scheduled"],"scheduledDelivery":{"deliverAt":"2026-01-01T00:01:00Z",
               "autoExpire":false}}}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{},"delivery":{"channels":["scheduled"],
               "scheduledDelivery":{"deliverAt":"2026-01-01T00:01:00Z","autoExpire":false}},
               "createdAt":"2026-01-01T00:00:00Z"},"content":[]}}
           @60000 s>c {"method":"events/batch",
               "params":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "events":[{"id":"22222222-2222-4222-8222-222222222221","type":"a","data":{},
               "metadata":{"timestamp":"2026-01-01T00:00:00Z","priority":"low"}}]}}
           @90000 s>c {"method":"notifications/message","params":{"level":"info","data":1}}"##,
    // A webhook on this machine needs no encryption.
    r##"hello 2025-11-25 {} | {"tools":{},"logging":{},"events":{"maxSubscriptions":3,"deliveryChannels":["realtime",
               "cron","scheduled"],
            "features":{"pause":true,"wildcards":true,"cronSchedule":true,"scheduledDelivery":true}}}
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe",
               "arguments":{"handler":{"type":"webhook","url":"HTTP://127.0.0.1/"},
               "expiresAt":"2026-02-01T00:00:00Z"}}}"##,
];

/// The rules about times report nothing if the times are respected.
#[test]
fn e12_e24_e25_e26_a_server_that_keeps_its_times_is_reported_nothing() {
    for script in QUIET {
        let report = super::run(script);
        let above: Vec<_> = report.findings.iter().filter(|finding| finding.rule.id.starts_with("mcpe/")).collect();
        let others: Vec<_> = above.iter().filter(|finding| finding.rule.id != "mcpe/no-expiry").collect();
        assert!(others.is_empty(), "{others:?}");
    }
}

#[test]
fn e1_e5_e6_e16_to_e19_messages_keep_to_their_schemas() {
    let has = |script: &str, rule: &str| super::ids(&super::run(script)).contains(rule);
    let no_features = r#"hello 2025-11-25 {} | {"events":{"maxSubscriptions":"many"}}"#;
    assert!(has(no_features, "schema/capability") && !has("$EVENTS", "schema/capability"));
    for (arguments, fits) in [
        (r#"{}"#, true),
        (r#"{"delivery":{"channels":["cron"],"cronSchedule":{"expression":"@daily","maxEventsPerDelivery":3}}}"#, true),
        (r#"{"handler":{"type":"bash","command":"id","cwd":"/","timeout":3}}"#, true),
        (r#"{"handler":{"type":"agent","maxTokens":3}}"#, true),
        (r#"{"handler":{"type":"bash"}}"#, false),
        (r#"{"handler":{"type":"pigeon"}}"#, false),
        (r#"{"filter":{"priority":["urgent"]}}"#, false),
        (r#"{"delivery":{}}"#, false),
        (r#"{"delivery":{"channels":["pigeon"]}}"#, false),
    ] {
        let call = r#"c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":"#;
        assert_eq!(!has(&format!("$EVENTS\n{call}{arguments}}}}}"), "schema/tool-arguments"), fits, "{arguments}");
    }
    let event = r#"{"id":"22222222-2222-4222-8222-222222222222","type":"a","data":{},
        "metadata":{"timestamp":"2026-01-01T00:00:00Z","priority":"low"}}"#;
    for (method, params, fits) in [
        ("events/event", format!(r#"{{"subscriptionId":"s","event":{event}}}"#), true),
        ("events/event", format!(r#"{{"event":{event}}}"#), false),
        (
            "events/event",
            format!(r#"{{"subscriptionId":"s","event":{}}}"#, event.replace(",\"priority\":\"low\"", "")),
            false,
        ),
        ("events/event", format!(r#"{{"subscriptionId":"s","event":{}}}"#, event.replace("{}", "[]")), false),
        ("events/batch", format!(r#"{{"subscriptionId":"s","events":[{event}]}}"#), true),
        ("events/batch", r#"{"subscriptionId":"s","events":{}}"#.to_owned(), false),
        ("events/subscription_expired", r#"{"subscriptionId":"s"}"#.to_owned(), true),
        ("events/subscription_expired", r#"{}"#.to_owned(), false),
    ] {
        let script = format!("$EVENTS\ns>c {{\"method\":\"{method}\",\"params\":{params}}}");
        assert_eq!(!has(&script, "schema/params"), fits, "{method} {params}");
    }
}

/// With a scheduled time that has passed, the delivery and the expiry may come before the response.
#[test]
fn a_delivery_may_come_before_the_answer_that_explains_it() {
    let report = super::run(
        r##"$EVENTS
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":
               {"eventTypes":["github.*"],"priority":["high"]},"delivery":{"channels":["realtime"]},
            "expiresAt":"2027-01-01T00:00:00Z"}}}
           s>c {"method":"events/event","params":{"subscriptionId":"11111111-1111-4111-8111-111111111111","event":
               {"id":"22222222-2222-4222-8222-222222222222","type":"github.push","data":{},"metadata":
            {"timestamp":"2026-01-02T00:00:00Z","priority":"high"}}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{"eventTypes":["github.*"],"priority":["high"]},"delivery":
            {"channels":["realtime"]},"createdAt":"2026-01-01T00:00:00Z","expiresAt":"2027-01-01T00:00:00Z"},"content":[]}}
           s>c {"method":"events/event","params":{"subscriptionId":"11111111-1111-4111-8111-111111111111","event":
               {"id":"11111111-1111-4111-8111-111111111111","type":"github.push","data":{},"metadata":
            {"timestamp":"2026-01-02T00:00:00Z","priority":"high"}}}}"##,
    );
    let expected = super::BTreeSet::from(["lifecycle/stripped-capability", "stream/not-checked"]);
    assert_eq!(super::ids(&report), expected, "{:?}", report.findings);
}

/// Nothing may be delivered after the expiry was reported.
#[test]
fn an_expiry_before_the_answer_counts() {
    let report = super::run(
        r##"$EVENTS
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":
               {"eventTypes":["github.*"],"priority":["high"]},"delivery":{"channels":["realtime"]},
            "expiresAt":"2027-01-01T00:00:00Z"}}}
           s>c {"method":"events/subscription_expired","params":
               {"subscriptionId":"11111111-1111-4111-8111-111111111111"}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{"eventTypes":["github.*"],"priority":["high"]},"delivery":
            {"channels":["realtime"]},"createdAt":"2026-01-01T00:00:00Z","expiresAt":"2027-01-01T00:00:00Z"},"content":[]}}
           @1000 s>c {"method":"events/event","params":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "event":{"id":"22222222-2222-4222-8222-222222222222","type":"github.push","data":{},"metadata":
            {"timestamp":"2026-01-02T00:00:00Z","priority":"high"}}}}"##,
    );
    assert!(super::ids(&report).contains("mcpe/delivery-inactive"), "{:?}", report.findings);
}

/// With two ways of delivery an event comes twice, which is valid.
#[test]
fn both_ways_of_delivery_complete_io_an_event_twice() {
    let report = super::run(
        r##"$EVENTS
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":
               {"eventTypes":["github.*"],"priority":["high"]},"delivery":{"channels":["realtime"]},
            "expiresAt":"2027-01-01T00:00:00Z"}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{"eventTypes":["github.*"],"priority":["high"]},"delivery":
            {"channels":["realtime","cron"]},"createdAt":"2026-01-01T00:00:00Z","expiresAt":"2027-01-01T00:00:00Z"},"content":[]}}
           s>c {"method":"events/event","params":{"subscriptionId":"11111111-1111-4111-8111-111111111111","event":
               {"id":"22222222-2222-4222-8222-222222222222","type":"github.push","data":{},"metadata":
            {"timestamp":"2026-01-02T00:00:00Z","priority":"high"}}}}
           s>c {"method":"events/batch","params":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "events":[{"id":"22222222-2222-4222-8222-222222222222","type":"github.push","data":{},"metadata":
            {"timestamp":"2026-01-02T00:00:00Z","priority":"high"}}]}}"##,
    );
    assert!(!super::ids(&report).contains("mcpe/event-twice"), "{:?}", report.findings);
}

/// While a call to resume or update is open, deliveries may follow the old or the new state. An expired subscription
/// does not count towards the maximum.
#[test]
fn calls_that_wait_leave_both_states_open() {
    let report = super::run(
        r##"$EVENTS
           c>s {"id":1,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"filter":
               {"priority":["high"]},"delivery":{"channels":["realtime"]},"expiresAt":"2026-01-01T01:00:00Z"}}}
           s>c {"id":1,"result":{"structuredContent":{"subscriptionId":"11111111-1111-4111-8111-111111111111",
               "status":"active","filter":{"priority":["high"]},"delivery":{"channels":["realtime"]},
            "createdAt":"2026-01-01T00:00:00Z","expiresAt":"2026-01-01T01:00:00Z"},"content":[]}}
           c>s {"id":2,"method":"tools/call","params":{"name":"events_pause","arguments":
               {"subscriptionId":"11111111-1111-4111-8111-111111111111"}}}
           s>c {"id":2,"result":{"structuredContent":{"success":true},"content":[]}}
           @1000 c>s {"id":3,"method":"tools/call","params":{"name":"events_resume","arguments":
               {"subscriptionId":"11111111-1111-4111-8111-111111111111"}}}
           c>s {"id":4,"method":"tools/call","params":{"name":"events_update","arguments":
               {"subscriptionId":"11111111-1111-4111-8111-111111111111","filter":{"priority":["low"]}}}}
           s>c {"method":"events/event","params":{"subscriptionId":"11111111-1111-4111-8111-111111111111","event":
               {"id":"22222222-2222-4222-8222-222222222222","type":"github.push","data":{},"metadata":
            {"timestamp":"2026-01-02T00:00:00Z","priority":"low"}}}}
           s>c {"id":3,"result":{"structuredContent":{"success":true},"content":[]}}
           s>c {"id":4,"result":{"structuredContent":{"success":true},"content":[]}}
           c>s {"id":5,"method":"tools/call","params":{"name":"events_subscribe","arguments":{"delivery":
               {"channels":["realtime"]},"expiresAt":"2027-01-01T00:00:00Z"}}}
           s>c {"id":5,"result":{"structuredContent":{"subscriptionId":"11111111-2222-4111-8111-111111111111",
               "status":"active","filter":{},"delivery":{"channels":["realtime"]},
            "createdAt":"2026-01-01T02:00:00Z","expiresAt":"2027-01-01T00:00:00Z"},"content":[]}}"##,
    );
    let expected = super::BTreeSet::from(["lifecycle/stripped-capability", "stream/not-checked"]);
    assert_eq!(super::ids(&report), expected, "{:?}", report.findings);
}

/// The working group's protocol, in any of its dialects, causes no errors here.
#[test]
fn amb_e6_the_neighbours_protocol_is_recognised_and_left_alone() {
    let traffic = r##"c>s {"id":1,"method":"tools/list"}
        s>c {"id":1,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}}
        c>s {"id":2,"method":"events/list"}
        s>c {"id":2,"result":{"events":[]}}
        c>s {"id":3,"method":"events/subscribe","params":{"name":"a","arguments":{},"delivery":{"mode":"webhook"}}}
        s>c {"id":3,"error":{"code":-32027,"message":"callback endpoint","data":{"reason":"timeout"}}}
        c>s {"id":4,"method":"events/stream","params":{"name":"a","arguments":{}}}
        s>c {"method":"notifications/events/active","params":{"cursor":"c","truncated":false}}
        s>c {"method":"notifications/events/event","params":{"eventId":"e","name":"a"}}
        s>c {"method":"notifications/events/heartbeat","params":{"cursor":"c"}}
        s>c {"method":"notifications/events/error","params":{"error":{"code":-32013,"message":"m"}}}
        s>c {"method":"notifications/events/terminated","params":{"error":{"code":-32011,"message":"m"}}}
        s>c {"id":4,"result":{"_meta":{}}}
        c>s {"id":5,"method":"events/poll","params":{"name":"gone","arguments":{}}}
        s>c {"id":5,"error":{"code":-32602,"message":"m"}}
        s>c {"method":"notifications/events/list_changed"}"##;
    for declared in [
        r#"{"tools":{},"events":{}}"#,
        r#"{"tools":{},"events":{"listChanged":true}}"#,
        r#"{"tools":{},"events":{},"extensions":{"io.modelcontextprotocol/events":{"listChanged":true}}}"#,
        r#"{"tools":{},"extensions":{"io.modelcontextprotocol/events":{}}}"#,
        r#"{"tools":{}}"#,
    ] {
        let report = super::run(&format!("hello 2025-11-25 {{}} | {declared}\n{traffic}"));
        let reported: Vec<_> = report.findings.iter().map(|it| it.rule.id).collect();
        assert_eq!(reported, ["mcpe/other-dialect"], "{declared}: {:#?}", report.findings);
    }
    let quiet = super::run(r#"hello 2025-11-25 {} | {"events":{}}"#);
    assert_eq!(quiet.findings.iter().map(|it| it.rule.id).collect::<Vec<_>>(), ["mcpe/other-dialect"]);
}

/// A capability with a single member of MCPE is checked as MCPE.
#[test]
fn e1_a_declaration_with_a_member_of_the_proposal_is_one() {
    for declared in [r#"{"maxSubscriptions":1}"#, r#"{"deliveryChannels":["realtime"]}"#, r#"{"features":{}}"#] {
        let report = super::run(&format!(r#"hello 2025-11-25 {{}} | {{"events":{declared}}}"#));
        assert!(super::ids(&report).contains("schema/capability"), "{declared}: {:#?}", report.findings);
    }
    let tools = super::run(
        r#"hello 2025-11-25 {} | {"tools":{},"events":{}}
        c>s {"id":1,"method":"tools/list"}
        s>c {"id":1,"result":{"tools":[{"name":"events_subscribe","inputSchema":{"type":"object"}}]}}"#,
    );
    assert!(super::ids(&tools).contains("mcpe/capability-missing"), "{:#?}", tools.findings);
}

/// What the server never sent causes no findings.
#[test]
fn a_delivery_by_the_client_is_reported_of_the_client_alone() {
    let report = super::run(
        r#"hello 2025-11-25 {} | {}
        c>s {"method":"events/event","params":{"subscriptionId":"11111111-1111-4111-8111-111111111111","event":
            {"id":"11111111-1111-4111-8111-111111111111","type":"a","data":{},"metadata":
            {"timestamp":"2026-01-01T00:00:00Z","priority":"low"}}}}"#,
    );
    assert_eq!(super::ids(&report), std::collections::BTreeSet::from(["method/direction"]), "{:#?}", report.findings);
}
