//! Servers from MCP clients' configurations; `wrap` and `unwrap`.

use crate::common::{BINARY, Output, Stage, assert_same, finish};
use serde_json::{Value, json};
use std::os::unix::fs::{PermissionsExt, symlink};

/// A configuration that contains the built-in server.
fn with_live(rest: &str) -> String {
    format!(
        "{{\n  // mine\n  \"mcpServers\": {{\n    \"live\": {{\n\
        \x20     \"command\": {BINARY:?},\n      \"args\": [\"serve\"]\n    }}{rest}\n  }},\n}}\n"
    )
}

/// The names of the tools that a server lists.
fn tools(output: &Output) -> Vec<String> {
    assert_eq!(output.code(), 0, "{output:?}");
    let tools = output.json()["tools"].clone();
    tools.as_array().expect("tools").iter().filter_map(|tool| Some(tool["name"].as_str()?.to_owned())).collect()
}

/// The files next to the configuration.
fn names_in(stage: &Stage, folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(stage.path(folder)).expect("a folder");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_server_is_started_as_its_entry_says() {
    let stage = Stage::new();
    let echo = "echo $A $B $C >seen; exec \\\"$0\\\" serve";
    let config = format!(
        r#"{{"servers": {{"s": {{"command": "sh", "args": ["-c", "{echo}", "${{WHERE}}"], "cwd": "reels",
            "env": {{"A": "${{FROM:-a}}", "B": "b"}}, "envFile": "${{workspaceFolder}}/more", "disabled": true}}}}}}"#
    );
    stage.write("f.json", config);
    stage.write("more", "# more\nC=\"c\"\nB=file\n");
    let mut command = stage.mcpreel(&["call", "tools/list", "--config", "f.json", "-e", "A=given", "-v"]);
    command.env("WHERE", BINARY);
    let output = finish(command, Vec::new());
    assert!(tools(&output).contains(&"echo".to_owned()));
    assert_same("what the server saw", &stage.read("reels/seen"), b"given b c\n");
    assert!(output.err().contains("s is disabled in") && output.err().contains("s is taken from"), "{output:?}");

    let unset = stage.run(&["call", "tools/list", "--config", "f.json", "--server", "s"], "");
    assert_eq!(unset.code(), 3);
    assert!(unset.err().contains("f.json: server \"s\": args[2]: the variable WHERE is not set"), "{unset:?}");
}

#[test]
fn the_usual_places_are_searched_from_here_upwards() {
    let stage = Stage::new();
    for folder in ["home/.codex", "home/.cursor", "p/.vscode", "p/sub"] {
        std::fs::create_dir_all(stage.path(folder)).expect("a folder");
    }
    let server = |declare: &str| json!({"command": BINARY, "args": ["serve", "--declare", declare]});
    stage.write("p/.vscode/mcp.json", json!({"servers": {"a": server("hooks"), "b": server("hooks")}}).to_string());
    stage.write("home/.cursor/mcp.json", json!({"mcpServers": {"a": server("mcpe"), "c": server("mcpe")}}).to_string());
    stage.write("home/.codex/config.toml", format!("[mcp_servers.d]\ncommand = '{BINARY}'\nargs = ['serve']\n"));
    stage.write("home/.claude.json", "{ broken");
    let call = |name: &str| {
        let mut command = stage.mcpreel(&["call", "tools/list", "--server", name, "-v"]);
        command.current_dir(stage.path("p/sub"));
        finish(command, Vec::new())
    };
    for (name, place) in [("a", "p/.vscode/mcp.json"), ("b", "p/.vscode/mcp.json"), ("c", ".cursor"), ("d", ".codex")] {
        let output = call(name);
        assert!(!tools(&output).is_empty(), "{name}");
        let reported = format!("{name} is taken from");
        let line =
            output.err().lines().find(|line| line.contains(&reported)).expect("the place is reported").to_owned();
        assert!(line.contains(place), "{line}");
        assert_eq!(line.contains("it is also in"), name == "a", "{line}");
    }
    let unknown = call("B");
    assert_eq!(unknown.code(), 2);
    assert!(unknown.err().contains("skipped") && unknown.err().contains(".claude.json"), "{unknown:?}");
    for reported in ["no server named \"B\"", "b: ", "d: ", "config.toml"] {
        assert!(unknown.err().contains(reported), "{reported}: {unknown:?}");
    }
}

#[test]
fn a_name_that_is_not_there_is_answered_with_those_that_are() {
    let stage = Stage::new();
    let rest = ",\n    \"github\": {\"url\": \"https://u:s3cret@h/mcp\", \"headers\": {\"Authorization\": \"s3cret\"}}";
    stage.write("f.json", with_live(rest));
    let output = stage.run(&["call", "tools/list", "--config", "f.json", "--server", "githb"], "");
    assert_eq!(output.code(), 2);
    for reported in
        ["no server named \"githb\"", "did you mean \"github\"?", "live: ", "github: https://[redacted]@h/mcp"]
    {
        assert!(output.err().contains(reported), "{reported}: {output:?}");
    }
    assert!(!output.err().contains("s3cret"), "{output:?}");
    let output = stage.run(&["call", "tools/list", "--config", "f.json"], "");
    assert!(output.code() == 2 && output.err().contains("name one with --server"), "{output:?}");
    let output = stage.run(&["call", "tools/list", "--server", "x"], "");
    assert!(output.code() == 2 && output.err().contains("--config FILE"), "{output:?}");
    stage.write("bad.json", "{\"mcpServers\": {");
    let output = stage.run(&["call", "tools/list", "--config", "bad.json", "--server", "x"], "");
    assert!(output.code() == 3 && output.err().contains("bad.json: "), "{output:?}");
}

#[test]
fn a_header_of_the_command_line_may_name_a_variable() {
    let stage = Stage::new();
    for (arguments, reported) in [
        (["-H", "A: ${NOPE}"], "-H A: the variable NOPE is not set"),
        (["--header-env", "A=NOPE"], "--header-env A: the environment variable NOPE is not set"),
    ] {
        let mut words = vec!["call", "ping", "--url", "http://127.0.0.1:9/"];
        words.extend(arguments);
        let output = stage.run(&words, "");
        assert!(output.code() == 2 && output.err().contains(reported), "{output:?}");
    }
    let output = stage.run(&["call", "ping", "--url", "env:NOPE"], "");
    assert!(
        output.code() == 2 && output.err().contains("--url: the environment variable NOPE is not set"),
        "{output:?}"
    );
}

/// The arguments of a wrapped entry, with the home in which the stage wraps it.
fn recorded_as(stage: &Stage, label: &str, tail: &[&str]) -> Value {
    let home = stage.path("mcpreel").display().to_string();
    json!([&["record", "--label", label, "--home", &home][..], tail].concat())
}

/// What the tool `echo` answers through the command of an entry.
fn echo_through(stage: &Stage, file: &str, server: &str) -> Value {
    let words = ["call", "tools/call", "name=echo", "arguments.message=hi", "--config", file, "--server", server];
    stage.ok(&words).json()
}

#[test]
fn a_wrapped_server_is_recorded_and_unwrap_restores_every_byte() {
    let jsonc = with_live(", // last\n    \"bare\": {\"command\": \"cat\"}");
    let toml = format!("# mine\n[mcp_servers.live]\ncommand = '{BINARY}' # here\nargs = [ 'serve' ]\n\n[other]\nx=1\n");
    for (name, text) in [
        ("f.json", jsonc.clone()),
        ("crlf.json", jsonc.replace('\n', "\r\n")),
        ("bom.json", format!("\u{feff}{jsonc}")),
        ("f.toml", toml.clone()),
        ("crlf.toml", toml.replace('\n', "\r\n")),
    ] {
        let stage = Stage::new();
        stage.write(name, &text);
        let wrapped = stage.ok(&["wrap", "--all", "--config", name, "--yes", "--no-backup"]);
        assert!(wrapped.out().contains("+") && wrapped.out().contains("--label"), "{wrapped:?}");
        let there = String::from_utf8(stage.read(name)).expect("text");
        assert_eq!(there.starts_with('\u{feff}'), text.starts_with('\u{feff}'), "{name}");
        assert_eq!(there.contains("\r\n"), text.contains("\r\n"), "{name}");
        assert_eq!(there.replace("\r\n", "").contains('\n'), text.replace("\r\n", "").contains('\n'), "{name}");
        echo_through(&stage, name, "live");
        let shown = stage.ok(&["show"]).out();
        assert!(shown.contains("tools/call"), "{shown}");
        let reels = names_in(&stage, "mcpreel/reels");
        assert_eq!(stage.info(&format!("mcpreel/reels/{}", reels[0]))["label"], "live", "{reels:?}");

        let again = stage.ok(&["wrap", "--all", "--config", name, "--yes"]);
        assert!(again.out().is_empty() && again.err().contains("live is already wrapped"), "{again:?}");
        assert_same(name, &stage.read(name), there.as_bytes());
        stage.ok(&["unwrap", "--all", "--config", name, "--yes", "--no-backup"]);
        assert_same(name, &stage.read(name), text.as_bytes());
        let again = stage.ok(&["unwrap", "--all", "--config", name, "--yes"]);
        assert!(again.out().is_empty() && again.err().contains("live is not wrapped"), "{again:?}");
    }
}

#[test]
fn nothing_is_written_unless_it_is_wanted() {
    let stage = Stage::new();
    let text =
        with_live(", \"x\": {\"url\": \"http://h\", \"headers\": {\"A\": \"s3cret\"}, \"env\": {\"B\": \"s3cret\"}}");
    std::fs::create_dir(stage.path("f")).expect("a folder");
    stage.write("f/f.json", &text);
    let shown = stage.ok(&["wrap", "--all", "--config", "f/f.json", "--dry-run"]);
    assert!(shown.out().contains("+      \"args\": [\"record\"") && shown.err().is_empty(), "{shown:?}");
    assert!(!shown.out().contains("s3cret"), "{shown:?}");
    let asked = stage.run(&["wrap", "live", "--config", "f/f.json"], "y\n");
    assert_eq!(asked.code(), 2);
    assert!(asked.out().contains("--label") && asked.err().contains("--yes"), "{asked:?}");
    let unknown = stage.run(&["wrap", "lvie", "--config", "f/f.json", "--yes"], "");
    assert!(unknown.code() == 2 && unknown.err().contains("did you mean \"live\"?"), "{unknown:?}");
    let several = stage.run(&["wrap", "--config", "f/f.json", "--yes"], "");
    assert!(several.code() == 2 && several.err().contains("--all"), "{several:?}");
    assert_same("f.json", &stage.read("f/f.json"), text.as_bytes());
    assert_eq!(names_in(&stage, "f"), ["f.json"]);
}

#[test]
fn a_link_stays_a_link_permissions_stay_and_the_old_file_is_kept() {
    let stage = Stage::new();
    std::fs::create_dir(stage.path("real")).expect("a folder");
    let real = stage.write("real/f.json", with_live(""));
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o604)).expect("permissions are set");
    symlink(&real, stage.path("link.json")).expect("a link");
    let reported = stage.ok(&["wrap", "--config", "link.json", "--yes", "--bin", "mcpreel"]).err();
    assert!(reported.contains(".bak-"), "{reported}");
    assert!(stage.path("link.json").is_symlink());
    assert_eq!(std::fs::metadata(&real).expect("it is there").permissions().mode() & 0o777, 0o604);
    let written = String::from_utf8(stage.read("real/f.json")).expect("text");
    assert!(written.contains("\"command\": \"mcpreel\""), "{written}");
    let names = names_in(&stage, "real");
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(names[1].starts_with("f.json.bak-"), "{names:?}");
    assert_same("the copy", &stage.read(&format!("real/{}", names[1])), with_live("").as_bytes());
}

#[test]
fn a_url_is_wrapped_and_its_secret_stays_off_the_command_line() {
    let stage = Stage::new();
    let entry =
        "\"type\": \"http\", \"url\": \"https://h/mcp\",\n\t\"headers\": {\"Authorization\": \"Bearer s3cret\"}";
    let text = format!("{{\"servers\": {{\"hub\": {{\n\t{entry} // c\n}}}}}}");
    stage.write("f.json", &text);
    let shown = stage.ok(&["wrap", "hub", "--config", "f.json", "--yes", "--no-backup"]);
    assert!(!shown.out().contains("s3cret"), "{shown:?}");
    let hub = serde_json::from_slice::<Value>(&stage.read("f.json")).expect("JSON")["servers"]["hub"].clone();
    assert_eq!(hub["type"], "stdio");
    let tail = ["--url", "https://h/mcp", "--header-env", "Authorization=MCPREEL_H_1"];
    assert_eq!(hub["args"], recorded_as(&stage, "hub", &tail));
    assert_eq!(hub["env"]["MCPREEL_H_1"], "Bearer s3cret");
    stage.ok(&["unwrap", "hub", "--config", "f.json", "--yes", "--no-backup"]);
    assert_same("f.json", &stage.read("f.json"), text.as_bytes());
}

#[test]
fn a_client_that_logs_in_by_itself_is_wrapped_with_a_login_of_the_taps_own() {
    let stage = Stage::new();
    let text = "{\"mcpServers\": {\"hub\": {\"type\": \"http\", \"url\": \"https://h/mcp\"}}}";
    stage.write("f.json", text);
    let shown = stage.ok(&["wrap", "hub", "--config", "f.json", "--yes", "--no-backup"]);
    assert!(shown.err().contains("mcpreel logs in instead of the client (--login)"), "{shown:?}");
    assert!(shown.err().contains("mcpreel login https://h/mcp"), "{shown:?}");
    let hub = serde_json::from_slice::<Value>(&stage.read("f.json")).expect("JSON")["mcpServers"]["hub"].clone();
    assert_eq!(hub["args"], recorded_as(&stage, "hub", &["--url", "https://h/mcp", "--login"]));
    stage.ok(&["unwrap", "hub", "--config", "f.json", "--yes", "--no-backup"]);
    assert_same("f.json", &stage.read("f.json"), text.as_bytes());
}

#[test]
fn a_client_records_to_the_home_in_which_its_server_was_wrapped() {
    let stage = Stage::new();
    let list = format!("{{\"mcp\": {{\"live\": {{\"type\": \"local\", \"command\": [{BINARY:?}, \"serve\"]}}}}}}");
    let bare = format!("{{\"mcpServers\": {{\"live\": {{\"command\": {BINARY:?}}}}}}}");
    let toml = format!("[mcp_servers.live]\ncommand = '{BINARY}'\nargs = [ 'serve' ]\n");
    let far = "{\"mcpServers\": {\"live\": {\"url\": \"http://h/mcp\"}}}".to_owned();
    for (name, text) in
        [("a.json", with_live("")), ("b.json", list), ("c.json", bare), ("d.toml", toml), ("e.json", far)]
    {
        stage.write(name, &text);
        let words = |what| [what, "live", "--config", name, "--yes", "--no-backup"];
        stage.ok(&words("wrap"));
        let wrapped = String::from_utf8(stage.read(name)).expect("text");
        assert!(wrapped.contains(&stage.path("mcpreel").display().to_string()), "{name}: {wrapped}");
        stage.ok(&words("unwrap"));
        assert_same(name, &stage.read(name), text.as_bytes());
    }
    // Without a home of its own, an entry names none.
    let mut usual = stage.mcpreel(&["wrap", "live", "--config", "a.json", "--yes", "--no-backup"]);
    usual.env_remove("MCPREEL_HOME");
    assert_eq!(finish(usual, Vec::new()).code(), 0);
    assert!(!String::from_utf8_lossy(&stage.read("a.json")).contains("--home"));

    // A client passes on HOME and PATH only.
    stage.write("a.json", with_live(""));
    stage.ok(&["wrap", "live", "--config", "a.json", "--yes", "--no-backup"]);
    let mut client = stage.mcpreel(&["call", "tools/list", "--config", "a.json", "--server", "live"]);
    client.env_remove("MCPREEL_HOME").env_remove("XDG_STATE_HOME");
    assert_eq!(finish(client, Vec::new()).code(), 0);
    assert_eq!(names_in(&stage, "mcpreel/reels").len(), 1);
    let shown = stage.ok(&["show"]);
    assert!(shown.out().contains("tools/list") && !shown.err().contains("other homes"), "{shown:?}");
}

#[test]
fn a_name_in_several_places_is_not_guessed() {
    let stage = Stage::new();
    stage.write(".mcp.json", with_live(""));
    std::fs::create_dir(stage.path("home/.cursor")).expect("a folder");
    stage.write("home/.cursor/mcp.json", with_live(", \"only\": {\"command\": \"x\"}"));
    let output = stage.run(&["wrap", "live", "--yes"], "");
    assert_eq!(output.code(), 2);
    for reported in ["\"live\" is in several configurations", "/.mcp.json", ".cursor/mcp.json"] {
        assert!(output.err().contains(reported), "{reported}: {output:?}");
    }
    stage.ok(&["wrap", "only", "--yes", "--no-backup"]);
    // The only configuration with something to do.
    let shown = stage.ok(&["unwrap", "--all", "--dry-run"]).out();
    assert!(shown.contains(".cursor/mcp.json") && !shown.contains("/.mcp.json"), "{shown}");
    assert_same(".mcp.json", &stage.read(".mcp.json"), with_live("").as_bytes());
    assert!(String::from_utf8_lossy(&stage.read("home/.cursor/mcp.json")).contains("--label=only"));
}

#[test]
fn a_file_that_a_project_shares_gets_no_path_of_a_users_own() {
    let stage = Stage::new();
    std::fs::create_dir_all(stage.path("home/project/.vscode")).expect("a folder");
    std::fs::create_dir_all(stage.path("home/repository/.git")).expect("a folder");
    let own = stage.path("home/bin/mcpreel").display().to_string();
    for (name, is_shared) in [
        ("home/project/.mcp.json", true),
        ("home/project/.vscode/mcp.json", true),
        ("home/repository/settings.json", true),
        ("home/project/mine.json", false),
        ("home/.claude.json", false),
    ] {
        stage.write(name, with_live(""));
        stage.ok(&["wrap", "live", "--config", name, "--yes", "--no-backup"]);
        let written: Value = serde_json::from_slice(&stage.read(name)).unwrap_or_default();
        let text = String::from_utf8(stage.read(name)).expect("text");
        let command = if is_shared { "mcpreel" } else { BINARY };
        assert!(text.contains(&format!("\"command\": \"{command}\"")), "{name}: {written} {text}");
        stage.ok(&["unwrap", "live", "--config", name, "--yes", "--no-backup"]);
        assert_same(name, &stage.read(name), with_live("").as_bytes());
        let named = stage.run(&["wrap", "live", "--config", name, "--yes", "--no-backup", "--bin", &own], "");
        assert_eq!(named.code(), if is_shared { 3 } else { 0 }, "{name}: {named:?}");
        assert_eq!(named.err().contains("in your home folder"), is_shared, "{name}: {named:?}");
    }
}

#[test]
fn the_configurations_of_other_clients_are_found() {
    let stage = Stage::new();
    let server = json!({"command": BINARY, "args": ["serve"]});
    let list = json!({"type": "local", "command": [BINARY, "serve"], "environment": {"A": "b"}});
    let cline = "home/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json";
    let roo = "home/.config/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json";
    for (path, home, entry) in [
        ("home/.config/zed/settings.json", "context_servers", &server),
        ("p/.zed/settings.json", "context_servers", &json!({"command": {"path": BINARY, "args": ["serve"]}})),
        ("home/.config/opencode/opencode.json", "mcp", &list),
        ("p/opencode.jsonc", "mcp", &list),
        ("home/.gemini/settings.json", "mcpServers", &server),
        ("p/.gemini/settings.json", "mcpServers", &server),
        (cline, "mcpServers", &server),
        (roo, "mcpServers", &server),
        ("p/.roo/mcp.json", "mcpServers", &server),
        ("home/.kiro/settings/mcp.json", "mcpServers", &server),
        ("p/.kiro/settings/mcp.json", "mcpServers", &server),
        ("home/.copilot/mcp-config.json", "mcpServers", &server),
        ("p/.github/mcp.json", "mcpServers", &server),
    ] {
        let file = stage.path(path);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        std::fs::write(&file, json!({home: {"mine": entry}}).to_string()).expect("a file");
        std::fs::create_dir_all(stage.path("p")).expect("a folder");
        let run = |words: &[&str]| {
            let mut command = stage.mcpreel(words);
            command.current_dir(stage.path("p")).env("PATH", with_program(&stage));
            finish(command, Vec::new())
        };
        let output = run(&["call", "tools/list", "--server", "mine", "-v"]);
        assert!(!tools(&output).is_empty() && output.err().contains(path), "{path}: {output:?}");
        let original = std::fs::read(&file).expect("readable");
        assert_eq!(run(&["wrap", "mine", "--yes", "--no-backup"]).code(), 0, "{path}");
        assert_ne!(std::fs::read(&file).expect("readable"), original, "{path}");
        let wrapped = run(&["call", "tools/list", "--server", "mine"]);
        assert!(!tools(&wrapped).is_empty(), "{path}: {wrapped:?}");
        assert_eq!(run(&["unwrap", "mine", "--yes", "--no-backup"]).code(), 0, "{path}");
        assert_same(path, &std::fs::read(&file).expect("readable"), &original);
        std::fs::remove_file(&file).expect("removed");
    }
}

/// A search path on which `mcpreel` is the program under test.
fn with_program(stage: &Stage) -> String {
    let folder = stage.path("bin");
    if !folder.exists() {
        std::fs::create_dir(&folder).expect("a folder");
        symlink(BINARY, folder.join("mcpreel")).expect("a link");
    }
    format!("{}:{}", folder.display(), std::env::var("PATH").expect("PATH is set"))
}

#[test]
fn what_to_change_in_yaml_is_printed() {
    let stage = Stage::new();
    let goose = format!("# mine\nextensions:\n  live:\n    type: stdio\n    cmd: {BINARY}\n    args: [serve]\n");
    stage.write("goose.yaml", &goose);
    let used = stage.run(&["call", "tools/list", "--config", "goose.yaml"], "");
    assert!(!tools(&used).is_empty(), "{used:?}");
    let output = stage.run(&["wrap", "live", "--config", "goose.yaml", "--bin", "mcpreel", "--yes"], "");
    let expected = format!(
        "extensions:\n  \"live\":\n    type: stdio\n    cmd: \"mcpreel\"\n    args: [\"record\", \"--label\", \"live\", \"--home\", {:?}, \"--\", {BINARY:?}, \"serve\"]\n",
        stage.path("mcpreel"),
    );
    assert_eq!((output.code(), output.out()), (3, expected.clone()), "{output:?}");
    assert!(output.err().contains("mcpreel does not edit YAML: change"), "{output:?}");
    assert_same("the file", &stage.read("goose.yaml"), goose.as_bytes());
    // What was changed as shown is wrapped, and can be unwrapped.
    stage.write("goose.yaml", expected);
    let again = stage.run(&["wrap", "live", "--config", "goose.yaml", "--yes"], "");
    assert!(again.code() == 0 && again.err().contains("already wrapped"), "{again:?}");
    let back = stage.run(&["unwrap", "live", "--config", "goose.yaml", "--dry-run"], "");
    assert!(back.code() == 0 && back.out().contains(&format!("cmd: {BINARY:?}\n    args: [\"serve\"]")), "{back:?}");

    stage.write("continue.yaml", "mcpServers:\n  - name: far\n    type: sse\n    url: http://h/sse\n");
    let output = stage.run(&["wrap", "--all", "--config", "continue.yaml", "--bin", "mcpreel", "--dry-run"], "");
    let expected = format!(
        "mcpServers:\n  - name: \"far\"\n    command: \"mcpreel\"\n    args: [\"record\", \"--label\", \"far\", \"--home\", {:?}, \"--url\", \"http://h/sse\"]\n",
        stage.path("mcpreel"),
    );
    assert_eq!((output.code(), output.out()), (0, expected), "{output:?}");
}

#[test]
fn errors_say_what_was_searched_and_what_was_not_understood() {
    let stage = Stage::new();
    let nothing = stage.run(&["call", "ping", "--server", "x"], "");
    assert_eq!(nothing.code(), 2, "{nothing:?}");
    for place in ["searched in ", ".mcp.json", "opencode.json", "home/.gemini/settings.json", "goose/config.yaml"] {
        assert!(nothing.err().contains(place), "{place}: {nothing:?}");
    }
    stage.write("odd.json", r#"{"theme": "dark", "servers_of_mine": {"x": {"command": "y"}}}"#);
    stage.write("odd.yaml", "models: []\n");
    for (words, said) in [
        (&["call", "ping", "--config", "odd.json"][..], "but it has only theme, servers_of_mine"),
        (
            &["wrap", "x", "--config", "odd.json"],
            "servers are expected in mcpServers, servers, mcp.servers, context_servers, mcp",
        ),
        (
            &["call", "ping", "--config", "odd.yaml"],
            "neither `extensions` (Goose) nor `mcpServers` (Continue) is in it",
        ),
    ] {
        let output = stage.run(words, "");
        assert!([2, 3].contains(&output.code()) && output.err().contains(said), "{words:?}: {output:?}");
    }
}
