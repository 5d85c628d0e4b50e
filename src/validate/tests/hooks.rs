use super::Case;

pub(super) const CASES: &[Case] = &[
    (
        "hooks/unsupported-event",
        r#"hello 2025-11-25 {"hooks":{"supported_events":["session_start"]}} | {"hooks":{"declarations":[
            {"event":"session_end","context":"x","priority":"suggestion"}]}}"#,
    ),
    ("hooks/without-client", r#"hello 2025-11-25 {} | {"hooks":{"declarations":[]}}"#),
    (
        "hooks/two-places",
        r#"hello 2025-11-25 {"hooks":{"supported_events":["session_start"]},"experimental":{"hooks":
            {"supported_events":[]}}} | {}"#,
    ),
    ("hooks/unknown-event", r#"hello 2025-11-25 {"hooks":{"supported_events":["session_start","on_dream"]}} | {}"#),
    (
        "hooks/unknown-event",
        r#"hello 2025-11-25 {"hooks":{"supported_events":["session_start"]}} | {"hooks":{"declarations":[
            {"event":"on_dream","context":"x","priority":"suggestion"}]}}"#,
    ),
    (
        "hooks/args-without-tool",
        r#"hello 2025-11-25 {"hooks":{"supported_events":["session_start"]}} | {"hooks":{"declarations":[
            {"event":"session_start","context":"x","context_tool_args":{},"priority":"suggestion"}]}}"#,
    ),
    (
        "hooks/matcher-not-applicable",
        r#"hello 2025-11-25 {"hooks":{"supported_events":["session_start"]}} | {"hooks":{"declarations":[
            {"event":"session_start","context":"x","matcher":{"tool_name":"Bash"},"priority":"suggestion"}]}}"#,
    ),
    (
        "hooks/unknown-tool",
        r#"hello 2025-11-25 {"hooks":{"supported_events":["session_start"]}} | {"tools":{},"hooks":
            {"declarations":[{"event":"session_start","context_tool":"recall","priority":"suggestion"}]}}
           c>s {"id":1,"method":"tools/list"}
           s>c {"id":1,"result":{"tools":[]}}"#,
    ),
    (
        "hooks/variable-place",
        r#"hello 2025-11-25 {"hooks":{"supported_events":["session_start"]}} | {"hooks":{"declarations":[
            {"event":"session_start","context":"after {tool_output}","priority":"suggestion"}]}}"#,
    ),
    (
        "hooks/variable-place",
        r#"hello 2025-11-25 {"hooks":{"supported_events":["pre_tool_use"]}} | {"tools":{},"hooks":{"declarations":[
            {"event":"pre_tool_use","context_tool":"t","context_tool_args":{"a":[{"b":"{tool_output}"}]},
            "priority":"suggestion"}]}}"#,
    ),
    (
        "hooks/unknown-variable",
        r#"hello 2025-11-25 {"hooks":{"supported_events":["session_start"]}} | {"hooks":{"declarations":[
            {"event":"session_start","context":"hi {user_name}","priority":"suggestion"}]}}"#,
    ),
    (
        "hooks/no-negotiation",
        r#"c>s {"id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":
               "2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
           s>c {"id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"ttlMs":0,
               "cacheScope":"private",
               "capabilities":{"hooks":{"declarations":[]}}}}"#,
    ),
    (
        "hooks/tool-arguments",
        r#"hello 2025-11-25 {"hooks":{"supported_events":["session_start"]}} | {"tools":{},"hooks":{"declarations":[
            {"event":"session_start","context_tool":"recall","context_tool_args":{"limit":"{project_name}"},
            "priority":"suggestion"}]}}
           c>s {"id":1,"method":"tools/list"}
           s>c {"id":1,"result":{"tools":[{"name":"recall","inputSchema":{"type":"object","properties":{"limit":
               {"type":"integer"}}}}]}}"#,
    ),
    (
        "hooks/not-substituted",
        r#"hello 2025-11-25 {"hooks":{"supported_events":["session_start"]}} | {"tools":{},"hooks":{"declarations":[
            {"event":"session_start","context_tool":"recall","context_tool_args":{"q":"work on {project_name}"},
            "priority":"suggestion"}]}}
           c>s {"id":1,"method":"tools/call","params":{"name":"recall","arguments":{"q":"work on {project_name}"}}}"#,
    ),
    (
        "hooks/variable-changed",
        r#"hello 2025-11-25 {"hooks":{"supported_events":["session_start"]}} | {"tools":{},"hooks":{"declarations":[
            {"event":"session_start","context_tool":"recall","context_tool_args":{"q":"work of {user_name}"},
            "priority":"suggestion"}]}}
           c>s {"id":1,"method":"tools/call","params":{"name":"recall","arguments":{"q":"work of "}}}"#,
    ),
    (
        "hooks/tools-missing",
        r#"hello 2025-11-25 {"hooks":{"supported_events":["session_start"]}} | {"hooks":{"declarations":[
            {"event":"session_start","context_tool":"recall","priority":"suggestion"}]}}"#,
    ),
    (
        "hooks/key-substituted",
        r#"hello 2025-11-25 {"hooks":{"supported_events":["session_start"]}} | {"tools":{},"hooks":{"declarations":[
            {"event":"session_start","context_tool":"recall","context_tool_args":{"of {project_name}":"x"},
            "priority":"suggestion"}]}}
           c>s {"id":1,"method":"tools/call","params":{"name":"recall","arguments":{"of mcpreel":"x"}}}"#,
    ),
    (
        "hooks/excluded-tool",
        r#"hello 2025-11-25 {"hooks":{"supported_events":["post_tool_use"]}} | {"tools":{},"hooks":{"declarations":[
            {"event":"post_tool_use","matcher":{"tool_name":"write_*"},"context_tool":"recall",
            "context_tool_args":{"of":"{tool_name}"},"priority":"suggestion"}]}}
           c>s {"id":1,"method":"tools/call","params":{"name":"read_file"}}
           s>c {"id":1,"result":{"content":[]}}
           c>s {"id":2,"method":"tools/call","params":{"name":"recall","arguments":{"of":"read_file"}}}"#,
    ),
    (
        "hooks/moment",
        r#"hello 2025-11-25 {"hooks":{"supported_events":["post_tool_use"]}} | {"tools":{},"hooks":{"declarations":[
            {"event":"post_tool_use","context_tool":"recall","context_tool_args":{"of":"{tool_name}"},
            "priority":"suggestion"}]}}
           c>s {"id":1,"method":"tools/call","params":{"name":"write","arguments":{"path":"a"}}}
           c>s {"id":2,"method":"tools/call","params":{"name":"recall","arguments":{"of":"write"}}}"#,
    ),
    (
        "hooks/order",
        r#"hello 2025-11-25 {"hooks":{"supported_events":["post_tool_use"]}} | {"tools":{},"hooks":{"declarations":[
            {"event":"post_tool_use","context_tool":"recall","context_tool_args":{"q":"{tool_input}"},
            "priority":"suggestion"}]}}
           c>s {"id":1,"method":"tools/call","params":{"name":"write","arguments":{"path":"a"}}}
           c>s {"id":2,"method":"tools/call","params":{"name":"recall","arguments":{"q":"{\"path\": \"a\"}"}}}"#,
    ),
    (
        "hooks/moment",
        r#"hello 2025-11-25 {"hooks":{"supported_events":["post_tool_use"]}} | {"tools":{},"hooks":{"declarations":[
            {"event":"post_tool_use","matcher":{"tool_name":"write*"},"context_tool":"recall","context_tool_args":
            {"q":"notes"},"priority":"suggestion"}]}}
           c>s {"id":1,"method":"tools/call","params":{"name":"write"}}
           c>s {"id":2,"method":"tools/call","params":{"name":"recall","arguments":{"q":"notes"}}}
           s>c {"id":1,"result":{"content":[]}}"#,
    ),
    (
        "hooks/moment",
        r#"hello 2025-11-25 {"hooks":{"supported_events":["pre_tool_use"]}} | {"tools":{},"hooks":{"declarations":[
            {"event":"pre_tool_use","matcher":{"tool_name":"write*"},"context_tool":"recall","context_tool_args":
            {"q":"notes"},"priority":"suggestion"}]}}
           c>s {"id":1,"method":"tools/call","params":{"name":"write"}}
           c>s {"id":2,"method":"tools/call","params":{"name":"recall","arguments":{"q":"notes"}}}
           s>c {"id":2,"result":{"content":[]}}
           s>c {"id":1,"result":{"content":[]}}"#,
    ),
    (
        "hooks/moment",
        r#"hello 2025-11-25 {"hooks":{"supported_events":["pre_tool_use"]}} | {"tools":{},"hooks":{"declarations":[
            {"event":"pre_tool_use","matcher":{"tool_name":"write"},"context_tool":"recall","context_tool_args":{"q":"{tool_name}"},"priority":"suggestion"}]}}
           c>s {"id":1,"method":"tools/call","params":{"name":"write"}}
           s>c {"id":1,"result":{"content":[]}}
           c>s {"id":2,"method":"tools/call","params":{"name":"recall","arguments":{"q":"write"}}}
           s>c {"id":2,"result":{"content":[]}}"#,
    ),
    (
        "hooks/argument-missing",
        r#"hello 2025-11-25 {"hooks":{"supported_events":["session_start"]}} | {"tools":{},"hooks":{"declarations":[
            {"event":"session_start","context_tool":"recall","context_tool_args":{"q":"notes","mode":"probe","of":"{project_name}"},"priority":"suggestion"}]}}
           c>s {"id":1,"method":"tools/call","params":{"name":"recall","arguments":{"q":"notes","of":"p"}}}"#,
    ),
    (
        "hooks/excluded-input",
        r#"hello 2025-11-25 {"hooks":{"supported_events":["post_tool_use"]}} | {"tools":{},"hooks":{"declarations":[
            {"event":"post_tool_use","matcher":{"input_contains":"commit"},"context_tool":"recall","context_tool_args":{"q":"{tool_input}"},"priority":"suggestion"}]}}
           c>s {"id":3,"method":"tools/call","params":{"name":"write","arguments":{"text":"other"}}}
           s>c {"id":3,"result":{"content":[]}}
           c>s {"id":4,"method":"tools/call","params":{"name":"recall","arguments":{"q":"{\"text\":\"other\"}"}}}"#,
    ),
];

pub(super) const QUIET: &[&str] = &[
    // A hook before each call of one tool, and one that the agent's own call resembles.
    r#"hello 2025-11-25 {"hooks":{"supported_events":["pre_tool_use"]}} | {"tools":{},"hooks":{"declarations":[
            {"event":"pre_tool_use","matcher":{"tool_name":"write"},"context_tool":"recall","context_tool_args":{"q":"{tool_name}"},"priority":"suggestion"}]}}
       c>s {"id":1,"method":"tools/call","params":{"name":"recall","arguments":{"q":"write"}}}
       c>s {"id":2,"method":"tools/call","params":{"name":"write"}}
       s>c {"id":2,"result":{"content":[]}}
       c>s {"id":3,"method":"tools/call","params":{"name":"recall","arguments":{"q":"write"}}}
       c>s {"id":4,"method":"tools/call","params":{"name":"write"}}
       s>c {"id":4,"result":{"content":[]}}"#,
    r#"hello 2025-11-25 {"hooks":{"supported_events":["session_start"]}} | {"tools":{},"hooks":{"declarations":[
            {"event":"session_start","context_tool":"recall","context_tool_args":{"q":"notes","mode":"probe","of":"{project_name}"},"priority":"suggestion"}]}}
       c>s {"id":1,"method":"tools/call","params":{"name":"recall","arguments":{"q":"notes","mode":"probe","of":"p"}}}
       c>s {"id":2,"method":"tools/call","params":{"name":"recall","arguments":{"q":"other"}}}
       c>s {"id":3,"method":"tools/call","params":{"name":"recall","arguments":{"of":"other"}}}"#,
    r#"hello 2025-11-25 {"hooks":{"supported_events":["post_tool_use"]}} | {"tools":{},"hooks":{"declarations":[
            {"event":"post_tool_use","matcher":{"tool_name":"write","input_contains":"commit"},"context_tool":"recall","context_tool_args":{"q":"{tool_input}"},"priority":"suggestion"}]}}
       c>s {"id":1,"method":"tools/call","params":{"name":"write","arguments":{"text":"a commit"}}}
       s>c {"id":1,"result":{"content":[]}}
       c>s {"id":2,"method":"tools/call","params":{"name":"recall","arguments":{"q":"{\"text\":\"a commit\"}"}}}"#,
    r#"hello 2025-11-25 {"hooks":{"supported_events":["post_tool_use"]}} | {"tools":{},"hooks":{"declarations":[
        {"event":"post_tool_use","matcher":{"tool_name":"write*"},"context_tool":"recall","context_tool_args":
        {"q":"notes"},"priority":"suggestion"}]}}
       c>s {"id":1,"method":"tools/call","params":{"name":"write"}}
       s>c {"id":1,"result":{"content":[]}}
       c>s {"id":2,"method":"tools/call","params":{"name":"recall","arguments":{"q":"notes"}}}
       s>c {"id":2,"result":{"content":[]}}"#,
    r#"c>s {"id":1,"method":"server/discover","params":{}}
       s>c {"id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{}}}"#,
    r#"hello 2025-11-25 {"hooks":{"supported_events":["post_tool_use"]}} | {"tools":{},"hooks":{"declarations":[
        {"event":"post_tool_use","context_tool":"recall","context_tool_args":{"q":"{tool_input}","of":"{user}"},
        "priority":"suggestion"}]}}
       c>s {"id":1,"method":"tools/call","params":{"name":"write","arguments":{"path":"a"}}}
       s>c {"id":1,"result":{"content":[]}}
       c>s {"id":2,"method":"tools/call","params":{"name":"recall","arguments":{"of":"{user}",
           "q":"{\"path\":\"a\"}"}}}"#,
    r#"hello 2025-11-25 {"hooks":{"supported_events":["session_start"]}} | {"tools":{},"hooks":{"declarations":[
        {"event":"session_start","context_tool":"recall","context_tool_args":{"of {project_name}":"{project_name}"},
        "priority":"suggestion"}]}}
       c>s {"id":1,"method":"tools/call","params":{"name":"recall","arguments":{"of {project_name}":"mcpreel"}}}"#,
    r#"hello 2025-11-25 {"hooks":{"supported_events":["post_tool_use"]}} | {"tools":{},"hooks":{"declarations":[
        {"event":"post_tool_use","matcher":{"tool_name":"write_*"},"context_tool":"recall",
        "context_tool_args":{"of":"{tool_name}"},"priority":"suggestion"}]}}
       c>s {"id":1,"method":"tools/call","params":{"name":"write_file"}}
       s>c {"id":1,"result":{"content":[]}}
       c>s {"id":2,"method":"tools/call","params":{"name":"recall","arguments":{"of":"write_file"}}}"#,
];

fn count(script: &str, rule: &str) -> usize {
    super::run(script).findings.iter().filter(|finding| finding.rule.id == rule).count()
}

/// The template of two hooks fits a call of both, and the model calls the tool itself.
#[test]
fn d17_d18_what_does_not_show_for_which_call_a_hook_fired_is_not_reported() {
    let session = |declarations: &str, call: &str| {
        format!(
            r#"hello 2025-11-25 {{"hooks":{{"supported_events":["pre_tool_use","post_tool_use"]}}}} | {{"tools":{{}},"hooks":{{"declarations":[
            {declarations}]}}}}
            c>s {{"id":1,"method":"tools/call","params":{{"name":"recall","arguments":{{"q":{call}}}}}}}"#
        )
    };
    let hook = |matcher: &str, template: &str| {
        format!(
            r#"{{"event":"post_tool_use","matcher":{matcher},"context_tool":"recall","context_tool_args":{{"q":"{template}"}},"priority":"suggestion"}}"#
        )
    };
    let name = |pattern: &str| hook(&format!(r#"{{"tool_name":"{pattern}"}}"#), "{tool_name}");
    for (declarations, call, excluded) in [
        (name("Bash"), r#""Edit""#, 1),
        (format!("{},{}", name("Bash"), name("Edit")), r#""Edit""#, 0),
        (name("mcp__annal__*"), r#""run""#, 0),
        (name("mcp__annal__r*"), r#""write""#, 1),
        (name("run"), r#""mcp__annal__run""#, 0),
        // No tool has such a name.
        (name("Bash"), r#""database schema""#, 0),
        (hook(r#"{"input_contains":"git commit"}"#, "{tool_input}"), r#""{\"command\":\"git commit\"}""#, 0),
        (hook(r#"{"input_contains":"\"command\": \"git"}"#, "{tool_input}"), r#""{\"command\":\"git commit\"}""#, 0),
        (hook(r#"{"input_contains":"say \"hi\""}"#, "{tool_input}"), r#""{\"text\":\"say \\\"hi\\\"\"}""#, 0),
        (hook(r#"{"input_contains":"git commit"}"#, "{tool_input}"), r#""{\"command\":\"ls\"}""#, 1),
        (hook(r#"{"input_contains":"git commit"}"#, "{tool_input}"), r#""how to commit""#, 0),
        (hook(r#"{"input_contains":"git commit"}"#, "{tool_name}"), r#""Bash""#, 0),
    ] {
        let script = session(&declarations, call);
        let found = count(&script, "hooks/excluded-tool") + count(&script, "hooks/excluded-input");
        assert_eq!(found, excluded, "{script}");
    }
}

/// A session with one hook that calls `recall` with these arguments at this event.
fn with_hook(event: &str, arguments: &str, rest: &str) -> String {
    format!(
        r#"hello 2025-11-25 {{"hooks":{{"supported_events":["{event}"]}}}} | {{"tools":{{}},"hooks":{{"declarations":[
            {{"event":"{event}","context_tool":"recall","context_tool_args":{arguments},"priority":"suggestion"}}]}}}}
           {rest}"#
    )
}

fn recall(arguments: &str) -> String {
    format!(r#"c>s {{"id":2,"method":"tools/call","params":{{"name":"recall","arguments":{arguments}}}}}"#)
}

#[test]
fn d15_arguments_are_held_against_the_tools_schema() {
    let listed = r#"c>s {"id":1,"method":"tools/list"}
        s>c {"id":1,"result":{"tools":[{"name":"recall","inputSchema":{"type":"object","properties":{"q":
            {"type":"string",
            "minLength":3,"enum":["work","play"]},"n":{"type":"integer","maximum":5}},"required":["q"],
            "additionalProperties":false}}]}}"#;
    for (arguments, fits) in [
        (r#"{"q":"work"}"#, true),
        (r#"{"q":"{x}","n":5}"#, true),
        (r#"{"q":"sleep"}"#, false),
        (r#"{}"#, false),
        (r#"{"q":"work","n":6}"#, false),
        (r#"{"q":"work","n":"{tool_output}"}"#, false),
        (r#"{"q":"{x}","more":"{x}"}"#, false),
    ] {
        let script = with_hook("post_tool_use", arguments, listed);
        assert_eq!(count(&script, "hooks/tool-arguments") == 0, fits, "{arguments}");
    }
}

#[test]
fn d22_to_d24_a_context_tools_arguments_are_the_template_filled_in() {
    let template = r#"{"mode":"probe","q":["{project_name}: {tool_output} of {user}"]}"#;
    let call = |q: &str| recall(&format!(r#"{{"mode":"probe","q":["{q}"]}}"#));
    for (q, broken) in [
        ("mine: ok of {user}", None),
        ("mine: ok of ", Some("hooks/variable-changed")),
        ("mine: ok of user", Some("hooks/variable-changed")),
        ("{project_name}: {tool_output} of {user}", Some("hooks/not-substituted")),
        // The output may contain braces.
        ("mine: {project_name} of {user}", None),
        // Calls that the agent makes for other reasons are not checked.
        ("something else", None),
    ] {
        for rule in ["hooks/variable-changed", "hooks/not-substituted"] {
            let found = count(&with_hook("post_tool_use", template, &call(q)), rule);
            assert_eq!(found, usize::from(broken == Some(rule)), "{rule}: {q}");
        }
    }
    // At other events, the tool's output is an unknown variable like others and remains.
    let kept = with_hook("session_start", r#"{"q":"x {tool_output}"}"#, &recall(r#"{"q":"x {tool_output}"}"#));
    assert_eq!(count(&kept, "hooks/not-substituted") + count(&kept, "hooks/variable-changed"), 0);
    let emptied = with_hook("session_start", r#"{"q":"x {tool_output}"}"#, &recall(r#"{"q":"x "}"#));
    assert_eq!(count(&emptied, "hooks/variable-changed"), 1);
    let nothing = with_hook("session_start", r#"{"q":"{tool_output}"}"#, &recall(r#"{"q":null}"#));
    assert_eq!(count(&nothing, "hooks/variable-changed"), 1);
}

#[test]
fn d26_d28_hooks_fire_on_their_side_of_the_call() {
    let write = r#"c>s {"id":1,"method":"tools/call","params":{"name":"write","arguments":{"path":"a"}}}"#;
    let written = r#"s>c {"id":1,"result":{"content":[]}}"#;
    let hook = recall(r#"{"q":"{\"path\":\"a\"}"}"#);
    let again = write.replace("\"id\":1", "\"id\":4");
    let template = r#"{"q":"{tool_input}"}"#;
    for (event, order, breaches) in [
        ("post_tool_use", [write, written, &hook], 0),
        ("post_tool_use", [write, &hook, written], 1),
        ("pre_tool_use", [&hook, write, written], 0),
        ("pre_tool_use", [write, &hook, written], 1),
        ("pre_tool_use", [write, written, &hook], 0),
        // The tool may be one of the host's own, whose calls a reel does not show.
        ("post_tool_use", ["", "", &hook], 0),
        ("post_tool_use", [write, &hook.replace("path", "other"), ""], 0),
        ("post_tool_use", [write, "gap", &hook], 0),
        // Two calls with the same input: which of them a hook is about shows only at the end.
        ("pre_tool_use", [&hook, &format!("{write}\n{}", hook.replace("\"id\":2", "\"id\":3")), &again], 0),
        ("pre_tool_use", [write, &format!("{hook}\n{}", hook.replace("\"id\":2", "\"id\":3")), &again], 1),
        // For the client, a call that it cancelled is over.
        ("post_tool_use", [write, r#"c>s {"method":"notifications/cancelled","params":{"requestId":1}}"#, &hook], 0),
    ] {
        assert_eq!(count(&with_hook(event, template, &order.join("\n")), "hooks/order"), breaches, "{event} {order:?}");
    }
}

#[test]
fn d1_d5_the_client_lists_events_and_nothing_else() {
    for (declared, fits) in [
        (
            r#"{"supported_events":["session_start","session_end","pre_tool_use","post_tool_use","pre_request",
            "post_request"]}"#,
            true,
        ),
        (r#"{"supported_events":[]}"#, true),
        ("{}", false),
        (r#"{"supported_events":"all"}"#, false),
        (r#"{"supported_events":[],"more":1}"#, false),
    ] {
        let script = format!("hello 2025-11-25 {{\"hooks\":{declared}}} | {{}}");
        assert_eq!(count(&script, "schema/capability") == 0, fits, "{declared}");
    }
}

#[test]
fn d7_hooks_are_found_under_experimental() {
    let declarations = r#"{"declarations":[{"event":"session_end","context":"x","priority":"suggestion"}]}"#;
    let script = |client: &str| format!(r#"hello 2025-11-25 {client} | {{"experimental":{{"hooks":{declarations}}}}}"#);
    let experimental = r#"{"experimental":{"hooks":{"supported_events":["session_start"]}}}"#;
    assert_eq!(count(&script(experimental), "hooks/unsupported-event"), 1);
    assert_eq!(count(&script(&experimental.replace("start", "end")), "hooks/unsupported-event"), 0);
    // An experimental capability needs no negotiation.
    assert_eq!(count(&script("{}"), "hooks/without-client"), 0);
    assert_eq!(count(&script(r#"{"hooks":{"supported_events":[]}}"#), "hooks/unsupported-event"), 0);
    // What is no event breaks the schema, and nothing else.
    for event in ["null", "7"] {
        let script = format!(
            r#"hello 2025-11-25 {{"hooks":{{"supported_events":["session_start"]}}}} | {{"hooks":{{"declarations":[
               {{"event":{event},"context":"x","priority":"suggestion"}}]}}}}"#
        );
        assert_eq!(count(&script, "hooks/unsupported-event"), 0, "{event}");
        assert!(count(&script, "schema/capability") > 0, "{event}");
    }
}

/// A server may have instructions and hooks, and neither affects the other.
#[test]
fn d39_instructions_stand_beside_hooks() {
    let report = super::run(
        r#"c>s {"id":"h","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"hooks":
               {"supported_events":["session_start"]}},"clientInfo":{"name":"c","version":"1"}}}
           s>c {"id":"h","result":{"protocolVersion":"2025-11-25","capabilities":{"hooks":{"declarations":[{"event":
               "session_start","context":"x","priority":"suggestion"}]}},"serverInfo":{"name":"s","version":"1"},
               "instructions":"y"}}
           c>s {"method":"notifications/initialized"}"#,
    );
    assert_eq!((report.errors, report.warnings), (0, 0), "{:?}", report.findings);
}

/// The requirements that the schema of declarations expresses.
#[test]
fn d2_d8_to_d12_declarations_keep_to_the_closed_schema() {
    for declaration in [
        r#"{"event":"session_start","context":"x"}"#,
        r#"{"event":"session_start","priority":"suggestion"}"#,
        r#"{"event":"session_start","context":"x","context_tool":"y","priority":"suggestion"}"#,
        r#"{"event":"session_start","context":"x","priority":"now"}"#,
        r#"{"event":"session_start","context":"x","priority":"required","more":1}"#,
        r#"{"event":"pre_tool_use","context":"x","priority":"required","matcher":{"tool":"x"}}"#,
    ] {
        let client = r#"{"hooks":{"supported_events":["session_start","pre_tool_use"]}}"#;
        let script = format!(r#"hello 2025-11-25 {client} | {{"hooks":{{"declarations":[{declaration}]}}}}"#);
        assert!(super::ids(&super::run(&script)).contains("schema/capability"), "{declaration}");
    }
}

/// The context tool has constant arguments, so that only its place among the calls says whether it is a hook's.
#[test]
fn d26_d28_constant_arguments_are_judged_by_their_moment() {
    let write = r#"c>s {"id":1,"method":"tools/call","params":{"name":"write"}}"#;
    let written = r#"s>c {"id":1,"result":{"content":[]}}"#;
    let again = r#"c>s {"id":3,"method":"tools/call","params":{"name":"write"}}"#;
    let hook = recall(r#"{"q":"notes"}"#);
    for (event, order, reported) in [
        ("post_tool_use", vec![write, written, &hook], 0),
        ("post_tool_use", vec![write, &hook, written], 1),
        ("post_tool_use", vec![write, written, &hook, again, &hook], 1),
        ("post_tool_use", vec![write, again, written, &hook], 0),
        ("pre_tool_use", vec![&hook, write, written], 0),
        ("pre_tool_use", vec![write, &hook, written], 1),
        ("pre_tool_use", vec![write, &hook], 1),
        // A tool of the host's own, the next call's hook, and another reason to call it.
        ("post_tool_use", vec![&hook], 0),
        ("pre_tool_use", vec![write, &hook, again, written], 0),
        ("pre_tool_use", vec![write, written, &hook], 0),
        ("post_tool_use", vec![write, "gap", &hook], 0),
    ] {
        let script = with_hook(event, r#"{"q":"notes"}"#, &order.join("\n"));
        assert_eq!(count(&script, "hooks/moment"), reported, "{event} {order:?}");
    }
}
