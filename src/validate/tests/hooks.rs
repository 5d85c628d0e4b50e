use super::Case;

pub const CASES: &[Case] = &[
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
        r#"hello 2025-11-25 {"hooks":{"supported_events":["pre_tool_use"]}} | {"hooks":{"declarations":[
            {"event":"pre_tool_use","context_tool":"t","context_tool_args":{"a":[{"b":"{tool_output}"}]},
            "priority":"suggestion"}]}}"#,
    ),
    (
        "hooks/unknown-variable",
        r#"hello 2025-11-25 {"hooks":{"supported_events":["session_start"]}} | {"hooks":{"declarations":[
            {"event":"session_start","context":"hi {user_name}","priority":"suggestion"}]}}"#,
    ),
];

/// What the proposal asks of declarations by its schema.
#[test]
fn declarations_keep_to_the_closed_schema() {
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
