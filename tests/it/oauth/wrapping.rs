//! `wrap` for an entry that relies on the client's own login.

use super::{nothing_leaks, stage, succeeded, visits};
use crate::common::Live;
use crate::common::auth::{Faults, Protected};
use serde_json::{Value, json};

#[test]
fn the_wrapped_entry_logs_in_in_place_of_the_client() {
    let (stage, browser) = stage();
    let protected = Protected::start(Faults::default());
    let url = protected.url();
    let entry = json!({"mcpServers": {"hosted": {"type": "http", "url": url}}});
    let file = stage.write(".mcp.json", entry.to_string());
    let wrapped = stage.run(&["wrap", "--config", ".mcp.json", "--yes"], "");
    succeeded(&wrapped);
    for said in
        ["if the server requires a login, mcpreel logs in instead of the client", "mcpreel login http://127.0.0.1:"]
    {
        assert!(wrapped.err().contains(said), "no {said:?} in {wrapped:?}");
    }
    let written: Value = serde_json::from_slice(&std::fs::read(&file).expect("a file")).expect("JSON");
    let entry = &written["mcpServers"]["hosted"];
    assert!(entry["url"].is_null(), "{entry}");
    let words = entry["args"].as_array().expect("arguments").iter().filter_map(Value::as_str);
    let words: Vec<&str> = words.collect();
    assert_eq!(entry["command"], "mcpreel");

    // The client starts it, without a terminal and without an option that names a browser.
    let mut command = stage.mcpreel(&words);
    command.env("BROWSER", browser.trim_start_matches("--browser="));
    let mut live = Live::start(command);
    live.write("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
    assert_eq!(live.line(), "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
    let session = live.end();
    succeeded(&session);
    assert_eq!(visits(&stage), 1);
    nothing_leaks(&stage, &protected, &[&session]);

    succeeded(&stage.run(&["unwrap", "--config", ".mcp.json", "--yes"], ""));
    let unwrapped: Value = serde_json::from_slice(&std::fs::read(&file).expect("a file")).expect("JSON");
    assert_eq!(unwrapped["mcpServers"]["hosted"], json!({"type": "http", "url": url}));
}
