//! Servers in YAML configurations: those of Goose (`extensions`) and Continue (`mcpServers`). mcpreel reads them, but
//! does not edit them, because that would lose comments and layout; it prints what to change by hand.
//!
//! This module must never open files or read the environment.

use serde_json::{Map, Value, json};

/// A client whose configuration is YAML.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Goose.
    Goose,
    /// Continue.
    Continue,
}

/// Translates a configuration to JSON, in the form that most clients use. Everything but the servers is left out.
///
/// # Errors
///
/// If the text is not YAML, or not the configuration of a known client: what is wrong.
pub fn to_json(text: &str) -> Result<(Dialect, String), String> {
    let root: Value = serde_saphyr::from_str(text).map_err(|error| error.to_string())?;
    let (dialect, servers) = match (&root["extensions"], &root["mcpServers"]) {
        (Value::Object(extensions), _) => (Dialect::Goose, extensions.iter().map(goose_server).collect()),
        (_, Value::Array(servers)) => (Dialect::Continue, servers.iter().filter_map(continue_server).collect()),
        (_, Value::Object(servers)) => (Dialect::Continue, servers.clone()),
        _ => return Err("neither `extensions` (Goose) nor `mcpServers` (Continue) is in it".to_owned()),
    };
    Ok((dialect, json!({"mcpServers": servers}).to_string()))
}

/// Goose calls the members of an entry by other names.
fn goose_server((name, server): (&String, &Value)) -> (String, Value) {
    let renamed = [("cmd", "command"), ("envs", "env"), ("uri", "url")];
    let member = |(name, value): (&String, &Value)| {
        let new = renamed.iter().find(|(old, _)| old == name).map_or(name.as_str(), |(_, new)| new);
        // `type` is builtin for what is no server at all, and needs no translation for others.
        (new != "type").then(|| (new.to_owned(), value.clone()))
    };
    let members: Map<String, Value> = server.as_object().into_iter().flatten().filter_map(member).collect();
    (name.clone(), members.into())
}

fn continue_server(server: &Value) -> Option<(String, Value)> {
    Some((server["name"].as_str()?.to_owned(), server.clone()))
}

/// Returns the entry of a server with this command, as the client writes it.
pub(crate) fn entry_text(dialect: Dialect, name: &str, words: &[String]) -> String {
    let quote = |word: &str| Value::from(word).to_string();
    let (program, args) = words.split_first().map_or(("", &[][..]), |(program, args)| (program.as_str(), args));
    let args: Vec<String> = args.iter().map(|word| quote(word)).collect();
    let (name, program, args) = (quote(name), quote(program), args.join(", "));
    match dialect {
        Dialect::Goose => {
            format!("extensions:\n  {name}:\n    type: stdio\n    cmd: {program}\n    args: [{args}]\n")
        }
        Dialect::Continue => format!("mcpServers:\n  - name: {name}\n    command: {program}\n    args: [{args}]\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::entry::read;
    use crate::config::tree::Format;

    fn described(text: &str) -> Vec<(String, String)> {
        let (_, json) = to_json(text).unwrap();
        read(&json, Format::Json).unwrap().into_iter().map(|entry| (entry.name.clone(), entry.describe())).collect()
    }

    #[test]
    fn both_clients_servers_are_found() {
        let goose = "# mine\nGOOSE_MODEL: x\nextensions:\n  fetch:\n    cmd: uvx\n    args: [mcp-server-fetch]\n    \
                     envs: {A: b}\n    type: stdio\n    enabled: true\n  far:\n    type: streamable_http\n    \
                     uri: https://h/mcp\n  developer:\n    type: builtin\n    enabled: true\n";
        let expected =
            [("fetch", "uvx mcp-server-fetch"), ("far", "https://h/mcp"), ("developer", "no command and no URL")];
        let mut found = described(goose);
        found.sort();
        let mut expected = expected.map(|(name, what)| (name.to_owned(), what.to_owned()));
        expected.sort();
        assert_eq!(found, expected);
        let continued =
            "name: c\nmcpServers:\n  - name: SQLite MCP\n    command: npx\n    args:\n      - -y\n      - x\n";
        assert_eq!(described(continued), [("SQLite MCP".to_owned(), "npx -y x".to_owned())]);
        assert!(to_json("a: [").is_err() && to_json("models: []").unwrap_err().contains("Goose"));
    }

    #[test]
    fn what_to_change_is_an_entry_that_is_read_again() {
        let words = ["mcpreel", "record", "--label", "a b", "--", "x", "\"y\"\n"].map(str::to_owned);
        for dialect in [Dialect::Goose, Dialect::Continue] {
            let text = entry_text(dialect, "a: b", &words);
            let (found, json) = to_json(&text).unwrap();
            let entry = read(&json, Format::Json).unwrap().remove(0);
            assert_eq!(
                (found, entry.name.as_str(), entry.words()),
                (dialect, "a: b", words.iter().map(String::as_str).collect())
            );
        }
    }
}
