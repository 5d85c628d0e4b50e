use super::*;

#[test]
fn e1_e3_e4_the_capability_and_the_tools_agree() {
    let capability = capability(&Settings::default());
    assert_eq!(SCHEMAS.check("capability:server", &capability), Some(vec![]));
    let tools = tools(&HandlerPolicy::default());
    let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names, DESCRIPTOR.tools);
    for tool in [&tools[0], &tools[5]] {
        let channels = &tool["inputSchema"]["properties"]["delivery"]["properties"]["channels"]["items"]["enum"];
        assert_eq!(channels, &capability["deliveryChannels"]);
    }
    assert_eq!(tools[0]["inputSchema"]["properties"]["delivery"], tools[5]["inputSchema"]["properties"]["delivery"]);
}

#[test]
fn settings_are_checked() {
    let configure = |settings: Value| McpeServerSide::default().configure(&settings);
    assert_eq!(configure(json!({"max_subscriptions": 3, "allow": ["github.*"]})), Ok(()));
    assert!(configure(json!({"allow": ["git*"]})).is_err_and(|why| why.contains("git*")));
    assert!(configure(json!({"most": 3})).is_err_and(|why| why.contains("most")));
}
