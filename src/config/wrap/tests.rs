//! Tests of what `wrap` writes, and that `unwrap` restores the original.

use super::*;
use crate::config::shown::without_secrets;
use crate::config::tree::parse;
use proptest::prelude::*;

const TAP: &str = "/mcpreel";

fn entry(text: &str, format: Format) -> Entry {
    read(text, format).unwrap_or_else(|error| panic!("{error}: {text}")).remove(0)
}

fn wrapped(text: &str, format: Format) -> String {
    wrap(text, format, &entry(text, format), TAP).unwrap().expect("a change")
}

fn unwrapped(text: &str, format: Format) -> String {
    unwrap(text, format, &entry(text, format)).unwrap().expect("a change")
}

#[test]
fn the_path_of_an_entry_is_kept_for_the_server() {
    // The client finds the program in its own PATH, and `record` gives the server the entry's.
    for (format, text, expected) in [
        (
            Format::Json,
            r#"{"mcpServers": {"s": {"command": "tool", "args": ["-x"], "env": {"A": "PATH", "PATH": "/v:${PATH}"}}}}"#,
            r#"{"mcpServers": {"s": {"command": "mcpreel", "args": ["record", "--label", "s", "--", "tool", "-x"], "env": {"A": "PATH", "MCPREEL_SERVER_PATH": "/v:${PATH}"}}}}"#,
        ),
        (
            Format::Json,
            r#"{"mcp": {"s": {"type": "local", "command": ["tool"], "environment": {"PATH" : "/v"}}}}"#,
            r#"{"mcp": {"s": {"type": "local", "command": ["mcpreel", "record", "--label", "s", "--", "tool"], "environment": {"MCPREEL_SERVER_PATH" : "/v"}}}}"#,
        ),
        (
            Format::Json,
            r#"{"context_servers": {"s": {"command": {"path": "tool", "args": [], "env": {"PATH": "/v"}}}}}"#,
            r#"{"context_servers": {"s": {"command": {"path": "mcpreel", "args": ["record", "--label", "s", "--", "tool"], "env": {"MCPREEL_SERVER_PATH": "/v"}}}}}"#,
        ),
        (
            Format::Toml,
            "[mcp_servers.PATH]\ncommand = 'tool'\nargs = []\nenv.PATH = '/v'\n",
            "[mcp_servers.PATH]\ncommand = \"mcpreel\"\nargs = [\"record\", \"--label\", \"PATH\", \"--\", 'tool']\nenv.MCPREEL_SERVER_PATH = '/v'\n",
        ),
        (
            Format::Toml,
            "[mcp_servers.s]\ncommand = 'tool'\nargs = ['a']\n\n[mcp_servers.s.env]\nPATH = '/v' # why\n",
            "[mcp_servers.s]\ncommand = \"mcpreel\"\nargs = [\"record\", \"--label\", \"s\", \"--\", 'tool', 'a']\n\n[mcp_servers.s.env]\nMCPREEL_SERVER_PATH = '/v' # why\n",
        ),
    ] {
        let there = wrap(text, format, &entry(text, format), "mcpreel").expect("wrapped").expect("a change");
        assert_eq!(there, expected);
        assert_eq!(unwrapped(&there, format), text);
        // A program with a path is found without PATH.
        let there = wrap(text, format, &entry(text, format), "/opt/mcpreel").expect("wrapped").expect("a change");
        assert!(!there.contains("MCPREEL_SERVER_PATH"), "{there}");
        assert_eq!(unwrapped(&there, format), text);
    }
}

/// Wraps a text, compares the result with `expected`, and the unwrapped result with the text.
fn there_and_back(text: &str, expected: &str, format: Format) {
    let there = wrapped(text, format);
    assert_eq!(there, expected);
    assert_eq!(wrap(&there, format, &entry(&there, format), TAP), Ok(None), "wrapped twice");
    let back = unwrapped(&there, format);
    assert_eq!(back, text);
    assert_eq!(unwrap(&back, format, &entry(&back, format)), Ok(None), "unwrapped twice");
}

fn json(inside: &str) -> String {
    format!("{{\"mcpServers\": {{\"s\": {inside}}}}}")
}

#[test]
fn a_home_is_written_and_taken_out_again() {
    let tap = Tap { program: "/mcpreel", home: Some("/a home/of \"mine\"") };
    for (text, format) in [
        (json(r#"{"command": "npx", "args": ["-y", "x"]}"#), Format::Json),
        (json(r#"{"command": "x"}"#), Format::Json),
        (json(r#"{"type": "local", "command": ["x", "y"]}"#), Format::Json),
        (json(r#"{"url": "https://h/mcp"}"#), Format::Json),
        (json(r#"{"url": "https://h/mcp", "headers": {"A": "b"}}"#), Format::Json),
        ("[mcp_servers.s]\ncommand = 'x'\n".to_owned(), Format::Toml),
    ] {
        let wrapped = wrap(&text, format, &entry(&text, format), tap).expect("wrapped").expect("a change");
        let found = entry(&wrapped, format);
        let words = found.words();
        assert!(is_wrapped(&found) && words.iter().any(|word| word.contains("/a home/of \"mine\"")), "{wrapped}");
        assert_eq!(unwrap(&wrapped, format, &found).as_ref().map(Option::as_deref), Ok(Some(text.as_str())));
    }
}

#[test]
fn the_words_of_a_command_move_behind_the_tap() {
    for (before, after) in [
        (
            r#"{"command": "npx", "args": ["-y", "x"], "env": {"A": "1"}}"#,
            r#"{"command": "/mcpreel", "args": ["record", "--label", "s", "--", "npx", "-y", "x"], "env": {"A": "1"}}"#,
        ),
        (
            r#"{"args": [ ], "command": "\u0061"}"#,
            r#"{"args": ["record", "--label", "s", "--", "\u0061" ], "command": "/mcpreel"}"#,
        ),
        (r#"{"command":"a"}"#, r#"{"command":"/mcpreel","args":["record", "--label=s", "--", "a"]}"#),
        (
            "{\n\t\"command\": \"a\", // c\n\t\"cwd\": \"/\"\n}",
            "{\n\t\"command\": \"/mcpreel\",\n\
            \t\"args\": [\"record\", \"--label=s\", \"--\", \"a\"], // c\n\t\"cwd\": \"/\"\n}",
        ),
        (
            "{\"command\": \"a\", \"args\": [\n  // first\n  \"b\",\n]}",
            "{\"command\": \"/mcpreel\", \"args\": [\n  // first\n\
            \x20 \"record\",\n  \"--label\",\n  \"s\",\n  \"--\",\n  \"a\",\n  \"b\",\n]}",
        ),
        (
            r#"{"command": ["uv", "run", "x"]}"#,
            r#"{"command": ["/mcpreel", "record", "--label", "s", "--", "uv", "run", "x"]}"#,
        ),
        (
            r#"{"command": "a", "args": ["--", "b"]}"#,
            r#"{"command": "/mcpreel", "args": ["record", "--label", "s", "--", "a", "--", "b"]}"#,
        ),
    ] {
        there_and_back(&json(before), &json(after), Format::Json);
    }
}

#[test]
fn a_url_becomes_a_command_and_its_header_values_stay_off_the_command_line() {
    let before = json(
        "{\n  \"type\": \"http\",\n  \"url\": \"https://h/mcp\", // there\n\
        \x20 \"headers\": {\"Authorization\": \"Bearer t0k\"},\n  \
        \"timeout\": 5\n}",
    );
    let there = wrapped(&before, Format::Json);
    let found = entry(&there, Format::Json);
    let words = [TAP, "record", "--label", "s", "--url", "https://h/mcp", "--header-env", "Authorization=MCPREEL_H_1"];
    assert_eq!(found.words(), words);
    let env: Vec<&str> = found.texts("env").map(|(name, _)| name).collect();
    assert_eq!(env, ["MCPREEL_H_1", "MCPREEL_ORIGINAL"]);
    assert_eq!(found.texts("env").next(), Some(("MCPREEL_H_1", "Bearer t0k")));
    let names: Vec<&str> = found.node.members().iter().map(|member| member.name.as_str()).collect();
    assert_eq!(names, ["type", "command", "args", "env", "timeout"]);
    assert_eq!(found.node.text_of("type"), Some("stdio"));
    assert_eq!(unwrapped(&there, Format::Json), before);
}

#[test]
fn a_url_that_holds_a_secret_stays_off_the_command_line_too() {
    let before = json(r#"{"serverUrl":"https://h/mcp?apiKey=1"}"#);
    let there = wrapped(&before, Format::Json);
    let found = entry(&there, Format::Json);
    assert_eq!(found.words(), [TAP, "record", "--label", "s", "--url", "env:MCPREEL_URL"]);
    assert_eq!(found.texts("env").next(), Some(("MCPREEL_URL", "https://h/mcp?apiKey=1")));
    assert_eq!(unwrapped(&there, Format::Json), before);
}

#[test]
fn a_tap_logs_in_where_the_client_might_have_done_so() {
    for (inside, does) in [
        (r#"{"url": "https://h/mcp"}"#, true),
        (r#"{"type": "http", "url": "http://localhost:3000/mcp"}"#, true),
        (r#"{"url": "http://[::1]:3000/mcp", "headers": {}}"#, true),
        (r#"{"type": "sse", "command": "a", "url": "https://h/mcp"}"#, true),
        (r#"{"url": "https://h/mcp", "headers": {"X-Key": "k"}}"#, false),
        (r#"{"url": "https://h/mcp", "env_http_headers": {"X-Key": "K"}}"#, false),
        (r#"{"url": "https://h/mcp", "bearer_token_env_var": "T"}"#, false),
        (r#"{"url": "https://h/mcp?token=abc"}"#, false),
        (r#"{"url": "https://u:p@h/mcp"}"#, false),
        (r#"{"url": "http://h/mcp"}"#, false),
        (r#"{"url": "wss://h/mcp"}"#, false),
        (r#"{"url": "${URL}"}"#, false),
        (r#"{"command": "a"}"#, false),
    ] {
        let before = json(inside);
        let there = wrapped(&before, Format::Json);
        let logs_in = entry(&there, Format::Json).words().contains(&"--login");
        assert_eq!((may_rely_on_login(&entry(&before, Format::Json)), logs_in), (does, does), "{inside}");
        assert_eq!(unwrapped(&there, Format::Json), before);
    }
    let words = wrapped_words(&entry(&json(r#"{"url": "https://h/mcp"}"#), Format::Json), TAP).expect("words");
    assert_eq!(words, [TAP, "record", "--label", "s", "--url", "https://h/mcp", "--login"]);
}

#[test]
fn a_url_wins_over_a_command_where_the_entry_says_so() {
    let before = json(r#"{"type": "sse", "command": "a", "args": ["b"], "url": "http://h"}"#);
    let there = wrapped(&before, Format::Json);
    assert_eq!(entry(&there, Format::Json).words(), [TAP, "record", "--label", "s", "--url", "http://h"]);
    assert_eq!(unwrapped(&there, Format::Json), before);
}

#[test]
fn what_somebody_changed_meanwhile_is_kept() {
    let changed = |text: &str, from: &str, to: &str| {
        let there = wrapped(text, Format::Json);
        assert!(there.contains(from), "{there}");
        let back = unwrapped(&there.replace(from, to), Format::Json);
        entry(&back, Format::Json).node.to_value()
    };
    let command = json(r#"{"command": "npx", "args": ["-y", "x"]}"#);
    let expected = serde_json::json!({"command": "npx", "args": ["-y", "y", "z"], "disabled": true});
    assert_eq!(changed(&command, "\"x\"]", "\"y\", \"z\"], \"disabled\": true"), expected);
    let bare = json(r#"{"command": "npx"}"#);
    assert_eq!(changed(&bare, "\"npx\"]", "\"npx\", \"x\"]"), serde_json::json!({"command": "npx", "args": ["x"]}));
    assert_eq!(changed(&bare, "\"npx\"]", "\"npx\",]"), serde_json::json!({"command": "npx"}));

    let url = json(
        r#"{"type": "sse", "httpUrl": "http://h/sse", "headers": {"A": "1", "B": "2"}, "env": {"E": "e"},
        "timeout": 5}"#,
    );
    let expected = serde_json::json!({
        "type": "sse", "httpUrl": "http://other", "headers": {"A": "1", "B": "2"}, "env": {"E": "e"}, "timeout": 5
    });
    assert_eq!(changed(&url, "\"--url\", \"http://h/sse\"", "\"--url\", \"http://other\""), expected);
    let rotated = changed(&url, "\"MCPREEL_H_2\": \"2\"", "\"MCPREEL_H_2\": \"new\"");
    assert_eq!(rotated["headers"], serde_json::json!({"A": "1", "B": "new"}));
    // Without the original, names are guessed.
    let lost = changed(&url, "MCPREEL_ORIGINAL", "MCPREEL_LOST");
    let expected = serde_json::json!({
        "type": "http", "url": "http://h/sse", "headers": {"A": "1", "B": "2"}, "env": {"E": "e"}, "timeout": 5
    });
    assert_eq!(lost, expected);
}

#[test]
fn a_tap_put_there_by_hand_is_taken_out() {
    let text = json(r#"{"command": "mcpreel", "args": ["record", "-o", "x.reel", "--", "npx", "x"]}"#);
    assert_eq!(unwrapped(&text, Format::Json), json(r#"{"command": "npx", "args": ["x"]}"#));
    for args in [r#"["record", "npx", "x", "--", "y"]"#, r#"["record", "--", "npx", "x", "--", "y"]"#] {
        let text = json(&format!("{{\"command\": \"mcpreel\", \"args\": {args}}}"));
        assert_eq!(wrap(&text, Format::Json, &entry(&text, Format::Json), TAP), Ok(None), "{args}");
        assert_eq!(unwrapped(&text, Format::Json), json(r#"{"command": "npx", "args": ["x", "--", "y"]}"#));
    }
    let nothing = json(r#"{"command": "mcpreel", "args": ["record", "--"]}"#);
    assert_eq!(unwrap(&nothing, Format::Json, &entry(&nothing, Format::Json)), Err(EditError::NothingBehind));
    let other = json(r#"{"command": "mcpreel", "args": ["serve"]}"#);
    assert!(!is_wrapped(&entry(&other, Format::Json)));
}

#[test]
fn what_cannot_be_wrapped_is_said() {
    for (inside, error) in [
        ("{}", EditError::Nothing),
        (r#"{"command": 1}"#, EditError::Nothing),
        (r#"{"command": "a", "args": "b"}"#, EditError::Arguments),
    ] {
        let text = json(inside);
        assert_eq!(wrap(&text, Format::Json, &entry(&text, Format::Json), TAP), Err(error), "{inside}");
    }
}

#[test]
fn toml_is_edited_in_place() {
    let rest = "model = 'x' # first\n\n[mcp_servers.s]\n";
    let with = |inside: &str| format!("{rest}{inside}\n[other] # last\nx = 1\n");
    for (before, after) in [
        (
            "command = 'npx' # c\nargs = [ '-y', \"x\" ]\n\n[mcp_servers.s.env]\nA = '1'\n",
            "command = \"/mcpreel\" # c\nargs = [ \"record\", \"--label\", \"s\", \"--\", 'npx', '-y', \"x\" ]\n\n\
            [mcp_servers.s.env]\nA = '1'\n",
        ),
        ("  command = 'a' # c\n", "  command = \"/mcpreel\"\n  args = [\"record\", \"--label=s\", \"--\", 'a'] # c\n"),
        (
            "command = 'a'\nargs = [\n  # c\n  'b',\n]\n",
            "command = \"/mcpreel\"\nargs = [\n  # c\n\
            \x20 \"record\",\n  \"--label\",\n  \"s\",\n  \"--\",\n  'a',\n  'b',\n]\n",
        ),
    ] {
        there_and_back(&with(before), &with(after), Format::Toml);
        let (before, after) = (with(before).replace('\n', "\r\n"), with(after).replace('\n', "\r\n"));
        there_and_back(&before, &after, Format::Toml);
    }
    let inline = "[mcp_servers]\ns = { command = 'a' }\n";
    let expected = "[mcp_servers]\ns = { command = \"/mcpreel\", args = [\"record\", \"--label=s\", \"--\", 'a'] }\n";
    there_and_back(inline, expected, Format::Toml);
    let dotted = "mcp_servers.s.command = 'a'\nmcp_servers.s.enabled = true\n";
    let expected = "mcp_servers.s.command = \"/mcpreel\"\n\
        mcp_servers.s.args = [\"record\", \"--label=s\", \"--\", 'a']\n\
        mcp_servers.s.enabled = true\n";
    there_and_back(dotted, expected, Format::Toml);
}

#[test]
fn a_url_in_toml_becomes_a_command() {
    let text = "# top\n[mcp_servers.s]\nurl = 'https://h' # c\nbearer_token_env_var = \"TOK\"\n\
        startup_timeout_sec = 5\n\
        [mcp_servers.s.http_headers]\n'X-Key' = 'k'\n[mcp_servers.s.tools.x]\nenabled = true\n\n\
        [mcp_servers.t]\nurl = 'u'\n";
    for text in [text.to_owned(), text.replace('\n', "\r\n")] {
        let there = wrapped(&text, Format::Toml);
        let found = entry(&there, Format::Toml).node.to_value();
        let mut env = found["env"].clone();
        env["MCPREEL_ORIGINAL"] = "…".into();
        assert_eq!(env, serde_json::json!({"MCPREEL_H_1": "k", "MCPREEL_ORIGINAL": "…"}));
        let args = ["record", "--label", "s", "--url", "https://h", "--header-env", "X-Key=MCPREEL_H_1", "-H"];
        assert_eq!(found["args"].as_array().unwrap()[..8], args.map(serde_json::Value::from));
        assert_eq!(found["args"][8], "Authorization: Bearer ${TOK}");
        assert_eq!(found["env_vars"], serde_json::json!(["TOK"]));
        assert_eq!(found["tools"], serde_json::json!({"x": {"enabled": true}}));
        assert!(found.get("url").is_none() && found.get("http_headers").is_none(), "{found}");
        assert!(there.ends_with(&text[text.find("[mcp_servers.t]").unwrap()..]), "{there}");
        assert_eq!(unwrapped(&there, Format::Toml), text);
        let other = unwrapped(&there.replace("\"https://h\"", "\"https://other\""), Format::Toml);
        let expected = serde_json::json!({
            "url": "https://other", "http_headers": {"X-Key": "k"}, "bearer_token_env_var": "TOK",
            "startup_timeout_sec": 5, "tools": {"x": {"enabled": true}}
        });
        assert_eq!(entry(&other, Format::Toml).node.to_value(), expected);
    }
    let scattered = "[mcp_servers.s]\nurl = 'u'\n[other]\nx = 1\n[mcp_servers.s.http_headers]\nA = '1'\n";
    assert_eq!(wrap(scattered, Format::Toml, &entry(scattered, Format::Toml), TAP), Err(EditError::Layout));
    let inline = "mcp_servers = { s = { url = 'u', enabled = true } }\n";
    assert_eq!(unwrapped(&wrapped(inline, Format::Toml), Format::Toml), inline);
}

#[test]
fn secrets_are_not_shown() {
    let text = json(
        r#"{"command": "a", "args": ["--token", "S1", "--x", "--key=S2"], "env": {"A": "S3"}, "apiKey": "S4",
        "url": "http://u:S5@h", "headers": {"B": "S6"}, "list": [{"password": "S7"}]}"#,
    );
    let shown = without_secrets(&text, Format::Json).unwrap();
    assert!(!(1..8).any(|number| shown.contains(&format!("S{number}"))), "{shown}");
    for kept in ["\"--token\"", "\"--x\"", "\"A\": \"[redacted]\"", "http://[redacted]@h"] {
        assert!(shown.contains(kept), "{kept} in {shown}");
    }
    let named = json(r#"{"env": {"A": "${env:TOKEN}", "B": "Bearer ${TOKEN}", "C": "${TOKEN:-S1}", "D": "${A}S1"}}"#);
    let shown = without_secrets(&named, Format::Json).unwrap();
    assert!(!shown.contains("S1") && shown.contains("${env:TOKEN}") && shown.contains("Bearer ${TOKEN}"), "{shown}");
    let there = wrapped(&json(r#"{"url": "http://h", "headers": {"Authorization": "S1"}}"#), Format::Json);
    let shown = without_secrets(&there, Format::Json).unwrap();
    assert!(!shown.contains("S1") && shown.contains("Authorization=MCPREEL_H_1"), "{shown}");
}

/// Text that may be between any two tokens.
fn gap() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => Just(String::new()),
        2 => Just(" ".to_owned()),
        2 => Just("\n  ".to_owned()),
        1 => Just("\r\n\t".to_owned()),
        1 => Just(" // c, \"x\": [\n".to_owned()),
        1 => Just("/* ] } , */".to_owned()),
    ]
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{0,5}".prop_map(|word| quote(&word)),
        Just("\"--\"".to_owned()),
        Just("\"record\"".to_owned()),
        Just("\"--label=x\"".to_owned()),
        Just("\"\\u0041 \\\" é\"".to_owned()),
    ]
}

fn list() -> impl Strategy<Value = String> {
    (prop::collection::vec((gap(), word(), gap()), 0..4), gap(), any::<bool>()).prop_map(|(words, end, comma)| {
        let comma = if comma && !words.is_empty() { "," } else { "" };
        let words: Vec<String> = words.into_iter().map(|(one, word, other)| format!("{one}{word}{other}")).collect();
        format!("[{}{comma}{end}]", words.join(","))
    })
}

fn member() -> impl Strategy<Value = String> {
    let name = |name: &'static str| (Just(name), gap(), gap());
    let pair = |(name, one, other): (&str, String, String), value: String| format!("\"{name}\"{one}:{other}{value}");
    let headers = (gap(), gap(), word()).prop_map(|(one, other, word)| format!("{{{one}\"X-A\":{other}{word}}}"));
    prop_oneof![
        (name("args"), list()).prop_map(move |(name, value)| pair(name, value)),
        (name("env"), Just("{\"A\":1,}".to_owned())).prop_map(move |(name, value)| pair(name, value)),
        (name("type"), Just("\"http\"".to_owned())).prop_map(move |(name, value)| pair(name, value)),
        (name("headers"), headers).prop_map(move |(name, value)| pair(name, value)),
        (name("other"), Just("[null, 1.50]".to_owned())).prop_map(move |(name, value)| pair(name, value)),
    ]
}

fn text() -> impl Strategy<Value = String> {
    let main = prop_oneof![
        (gap(), word()).prop_map(|(gap, word)| format!("\"command\":{gap}{word}")),
        gap().prop_map(|gap| format!("\"url\":{gap}\"http://h/x\"")),
    ];
    let members = prop::collection::vec(member(), 0..4);
    let pieces = (main, members, any::<prop::sample::Index>(), any::<bool>());
    (pieces, gap(), gap(), gap()).prop_map(|((main, mut members, at, comma), first, between, last)| {
        members.sort_by_key(|member| member.split('"').nth(1).map(str::to_owned));
        members.dedup_by_key(|member| member.split('"').nth(1).map(str::to_owned));
        members.insert(at.index(members.len() + 1), main);
        let comma = if comma { "," } else { "" };
        let inside = members.join(&format!(",{between}"));
        let server = format!("{{{first}{inside}{comma}{last}}}");
        format!("// top\n{{{first}\"mcpServers\": {{ \"s\":{last}{server}{between}}}, \"z\": [1,]}}{last}\n")
    })
}

proptest! {
    #[test]
    fn unwrap_restores_every_byte(text in text()) {
        let before = entry(&text, Format::Json);
        prop_assume!(!is_wrapped(&before));
        let there = wrap(&text, Format::Json, &before, TAP);
        let there = there.expect("it can be wrapped").expect("it is not wrapped");
        let after = entry(&there, Format::Json);
        prop_assert!(is_wrapped(&after));
        prop_assert_eq!(unwrap(&there, Format::Json, &after).expect("it can be unwrapped"), Some(text.clone()));
        let others = |text: &str| parse(text, Format::Json).unwrap().get("z").unwrap().value.to_value();
        prop_assert_eq!(others(&there), others(&text));
    }

    #[test]
    fn no_text_is_too_strange(text in ".{0,40}") {
        for format in [Format::Json, Format::Toml] {
            let text = if format == Format::Json { json(&text) } else { format!("[mcp_servers.s]\n{text}") };
            for found in read(&text, format).unwrap_or_default() {
                let _ = wrap(&text, format, &found, TAP);
                let _ = unwrap(&text, format, &found);
            }
        }
    }
}

#[test]
fn zed_and_opencode_keep_their_own_forms() {
    for (before, after) in [
        (
            r#"{"context_servers": {"s": {"source": "custom", "command": "uvx", "args": ["x"], "env": {}}}}"#,
            r#"{"context_servers": {"s": {"source": "custom", "command": "/mcpreel", "args": ["record", "--label", "s", "--", "uvx", "x"], "env": {}}}}"#,
        ),
        // Older configurations of Zed.
        (
            r#"{"context_servers": {"s": {"command": {"path": "uvx", "args": ["x"], "env": {"A": "b"}}, "settings": {}}}}"#,
            r#"{"context_servers": {"s": {"command": {"path": "/mcpreel", "args": ["record", "--label", "s", "--", "uvx", "x"], "env": {"A": "b"}}, "settings": {}}}}"#,
        ),
        (
            r#"{"context_servers": {"s": {"command": {"path": "uvx"}}}}"#,
            r#"{"context_servers": {"s": {"command": {"path": "/mcpreel","args": ["record", "--label=s", "--", "uvx"]}}}}"#,
        ),
        (
            r#"{"mcp": {"s": {"type": "local", "command": ["npx", "-y", "x"], "environment": {"A": "b"}}}}"#,
            r#"{"mcp": {"s": {"type": "local", "command": ["/mcpreel", "record", "--label", "s", "--", "npx", "-y", "x"], "environment": {"A": "b"}}}}"#,
        ),
    ] {
        there_and_back(before, after, Format::Json);
    }
    let remote = r#"{"mcp": {"s": {"type": "remote", "url": "http://h/mcp", "headers": {"X": "1"}, "enabled": true}}}"#;
    let there = wrapped(remote, Format::Json);
    let node = parse(&there, Format::Json).unwrap();
    let entry = &node.to_value()["mcp"]["s"];
    assert_eq!((&entry["type"], &entry["enabled"]), (&"local".into(), &true.into()), "{there}");
    let words = serde_json::json!([
        "/mcpreel",
        "record",
        "--label",
        "s",
        "--url",
        "http://h/mcp",
        "--header-env",
        "X=MCPREEL_H_1"
    ]);
    assert_eq!(entry["command"], words);
    assert_eq!((&entry["environment"]["MCPREEL_H_1"], entry.get("args"), entry.get("env")), (&"1".into(), None, None));
    assert_eq!(unwrapped(&there, Format::Json), remote);
    // Rebuilt after a change by hand.
    let rebuilt = unwrapped(&there.replace("MCPREEL_ORIGINAL", "MCPREEL_LOST"), Format::Json);
    let expected = serde_json::json!({"type": "remote", "url": "http://h/mcp", "headers": {"X": "1"}, "enabled": true});
    assert_eq!(parse(&rebuilt, Format::Json).unwrap().to_value()["mcp"]["s"], expected);
}
