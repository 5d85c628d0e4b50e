//! The servers in a configuration, and what an entry means: a command to start or a URL to connect to.
//!
//! This module must never open files or read the environment; both come in as arguments.

use super::expand::{ExpandError, Names, expand};
use super::tree::{Format, Kind, Member, Node, parse};
use crate::redact;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The members of an entry that can contain its URL, depending on the client.
pub(crate) const URLS: [&str; 3] = ["url", "serverUrl", "httpUrl"];
/// The members of an entry that can contain environment variables, depending on the client.
pub(crate) const ENVS: [&str; 2] = ["env", "environment"];
/// The members of an entry that can contain headers, depending on the client.
pub(crate) const HEADERS: [&str; 2] = ["headers", "http_headers"];
/// The members of an entry that can name its transport, depending on the client.
pub(crate) const TRANSPORTS: [&str; 2] = ["type", "transport"];

/// One server of a configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// The path of the project, if the entry belongs to one project only (`projects.PATH.mcpServers`).
    pub project: Option<String>,
    /// The entry itself.
    pub node: Node,
}

/// Where clients keep servers in JSON; Zed in `context_servers`, opencode in `mcp`.
const HOMES_IN_JSON: [&[&str]; 5] =
    [&["mcpServers"], &["servers"], &["mcp", "servers"], &["context_servers"], &["mcp"]];
/// Where clients keep servers in TOML.
const HOMES_IN_TOML: [&[&str]; 1] = [&["mcp_servers"]];

/// Returns where servers are searched in a configuration, in words.
pub(crate) fn homes(format: Format) -> String {
    let homes = match format {
        Format::Json => &HOMES_IN_JSON[..],
        Format::Toml => &HOMES_IN_TOML,
    };
    homes.iter().map(|home| home.join(".")).collect::<Vec<_>>().join(", ")
}

/// Returns the servers of a configuration, in the order of the places where clients keep them, then those of single
/// projects. Everything else is ignored.
pub(crate) fn entries(root: &Node, format: Format) -> Vec<Entry> {
    let homes = match format {
        Format::Json => &HOMES_IN_JSON[..],
        Format::Toml => &HOMES_IN_TOML,
    };
    let mut found = Vec::new();
    for home in homes {
        let node = home.iter().try_fold(root, |node, name| node.get(name).map(|member| &member.value));
        let known = found.len();
        collect(node, None, &mut found);
        if *home == ["mcp"] {
            // Other clients keep settings of a different kind there.
            let added = found.split_off(known);
            found
                .extend(added.into_iter().filter(|entry| entry.node.get("command").is_some() || entry.url().is_some()));
        }
    }
    let projects = root.get("projects").filter(|_| format == Format::Json);
    for project in projects.map_or(&[][..], |projects| projects.value.members()) {
        let home = project.value.get("mcpServers").map(|member| &member.value);
        collect(home, Some(&project.name), &mut found);
    }
    found
}

/// Of servers with the same name in one place, only the last counts, as for JSON parsers.
fn collect(home: Option<&Node>, project: Option<&str>, found: &mut Vec<Entry>) {
    let members = home.map_or(&[][..], Node::members);
    let is_last = |(at, member): &(usize, &Member)| !members[at + 1..].iter().any(|later| later.name == member.name);
    let members = members.iter().enumerate().filter(is_last).map(|(_, member)| member);
    found.extend(members.filter(|member| matches!(member.value.kind, Kind::Map(..))).map(|member| Entry {
        name: member.name.clone(),
        project: project.map(str::to_owned),
        node: member.value.clone(),
    }));
}

/// Returns the servers in the text of a configuration.
///
/// # Errors
///
/// If the text cannot be parsed: what is wrong, and where.
pub fn read(text: &str, format: Format) -> Result<Vec<Entry>, String> {
    Ok(entries(&parse(text, format)?, format))
}

/// What the command line sets; it takes precedence over the entry.
pub struct Overrides<'a> {
    /// Names of environment variables.
    pub env: Vec<&'a str>,
    /// Names of headers.
    pub headers: Vec<&'a str>,
}

/// What an entry means, with its strings expanded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Server {
    /// A server to start.
    Command {
        /// The program and its arguments.
        argv: Vec<String>,
        /// Variables that are added to the environment.
        env: Vec<(String, String)>,
        /// A file with more variables; those of the entry take precedence.
        env_file: Option<PathBuf>,
        /// The working directory.
        cwd: Option<PathBuf>,
    },
    /// A server to connect to.
    Remote {
        /// Its URL.
        url: String,
        /// Headers for every request.
        headers: Vec<(String, String)>,
    },
}

/// An error in an entry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EntryError {
    /// A string cannot be expanded.
    #[error("{field}: {error}")]
    Expand {
        /// The place of the string, such as `args[2]` or `env.KEY`.
        field: String,
        /// The reason.
        error: ExpandError,
    },
    /// A field has the wrong type.
    #[error("{0} is not {1}")]
    Kind(String, &'static str),
    /// There is neither a command nor a URL.
    #[error("the entry has neither a command nor a URL")]
    Nothing,
}

impl EntryError {
    /// Returns what the user can do about the error.
    pub fn hint(&self) -> Option<String> {
        let Self::Expand { field, error } = self else { return None };
        let give = match field.split_once('.') {
            Some(("env", name)) => format!("give the value with -e {name}=VALUE"),
            Some((holder, name)) if HEADERS.contains(&holder) => format!("give the value with -H '{name}: VALUE'"),
            _ => "write the value itself there, or in a copy of the file that you give with --config".to_owned(),
        };
        Some(match error {
            ExpandError::Unset(name) => format!("set {name}, or {give}"),
            ExpandError::ClientOnly(_) => give,
            ExpandError::Unclosed => "add the closing brace, as in ${NAME}".to_owned(),
            ExpandError::Depth => "write the value itself there, or set the first of the variables".to_owned(),
        })
    }
}

impl Entry {
    /// Returns whether the client does not use the entry.
    pub fn is_disabled(&self) -> bool {
        let says = |name: &str, truth: bool| {
            self.node.get(name).is_some_and(|member| member.value.kind == Kind::Other(Value::Bool(truth)))
        };
        says("disabled", true) || says("enabled", false)
    }

    /// Returns the URL, with the member that contains it.
    pub fn url(&self) -> Option<(&Member, &str)> {
        URLS.iter().find_map(|name| {
            let member = self.node.get(name)?;
            Some((member, member.value.text()?))
        })
    }

    /// Returns whether the entry names a transport other than stdio, so that its server is not started but connected
    /// to.
    pub fn says_remote(&self) -> bool {
        TRANSPORTS.iter().filter_map(|name| self.node.text_of(name)).any(|kind| !["stdio", "local"].contains(&kind))
    }

    /// Returns the map that contains the program and its arguments, and the member that contains the program. Older
    /// configurations of Zed have a map of their own for them.
    pub(super) fn started(&self) -> Option<(&Node, &Member)> {
        let command = self.node.get("command")?;
        match &command.value.kind {
            Kind::Map(..) => Some((&command.value, command.value.get("path")?)),
            _ => Some((&self.node, command)),
        }
    }

    /// Returns the values of the command and of its arguments.
    fn command_line(&self) -> impl Iterator<Item = (&'static str, &Node)> {
        let (holder, program) = self.started().unzip();
        let program = program.map(|member| ("command", &member.value));
        let args = holder.unwrap_or(&self.node).get("args").map(|member| ("args", &member.value));
        program.into_iter().chain(args)
    }

    /// Returns the words of the command without expansion, or nothing if there is no command.
    pub fn words(&self) -> Vec<&str> {
        self.command_line()
            .flat_map(|(_, value)| match &value.kind {
                Kind::List(elements) => elements.iter().filter_map(Node::text).collect(),
                _ => value.text().into_iter().collect::<Vec<_>>(),
            })
            .collect()
    }

    /// Describes the command or URL on one line, without secrets.
    pub fn describe(&self) -> String {
        let words: Vec<String> = self.words().iter().map(|word| (*word).to_owned()).collect();
        match self.url() {
            Some((_, url)) if words.is_empty() => redact::redact_arguments(&[url.to_owned()]).concat(),
            None if words.is_empty() => "no command and no URL".to_owned(),
            _ => redact::redact_arguments(&words).iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
        }
    }

    /// Resolves the entry to a command or a URL.
    ///
    /// # Errors
    ///
    /// If a string cannot be expanded, a field has the wrong type, or there is neither a command nor a URL.
    pub fn resolve(&self, names: &Names<'_>, overrides: &Overrides<'_>) -> Result<Server, EntryError> {
        let argv = self.argv(names)?;
        match self.url() {
            Some((member, url)) if argv.is_empty() || self.says_remote() => Ok(Server::Remote {
                url: expand_field(url, &member.name, names)?,
                headers: self.headers(names, overrides)?,
            }),
            _ if argv.is_empty() => Err(EntryError::Nothing),
            _ => Ok(Server::Command {
                argv,
                env: self.env(names, overrides)?,
                env_file: self.path("envFile", names)?,
                cwd: self.path("cwd", names)?,
            }),
        }
    }

    fn argv(&self, names: &Names<'_>) -> Result<Vec<String>, EntryError> {
        let mut argv = Vec::new();
        for (field, value) in self.command_line() {
            match &value.kind {
                Kind::Text(text) if field == "command" => argv.push(expand_field(text, field, names)?),
                Kind::List(elements) => {
                    for (at, element) in elements.iter().enumerate() {
                        argv.push(scalar(element, &format!("{field}[{at}]"), names)?);
                    }
                }
                Kind::Other(Value::Null) => {}
                _ if field == "command" => return Err(EntryError::Kind(field.into(), "a string or a list of strings")),
                _ => return Err(EntryError::Kind(field.into(), "a list of strings")),
            }
        }
        Ok(argv)
    }

    /// Returns a path; a relative one starts at the project's folder.
    fn path(&self, field: &str, names: &Names<'_>) -> Result<Option<PathBuf>, EntryError> {
        let Some(text) = self.node.text_of(field) else { return Ok(None) };
        Ok(Some(names.workspace.join(Path::new(&expand_field(text, field, names)?))))
    }

    /// Returns the headers from all the ways to write them: as values, as names of variables, and as the variable of a
    /// token.
    fn headers(&self, names: &Names<'_>, overrides: &Overrides<'_>) -> Result<Vec<(String, String)>, EntryError> {
        let is_overridden = |name: &str| overrides.headers.iter().any(|one| one.eq_ignore_ascii_case(name));
        let mut headers = Vec::new();
        for field in HEADERS {
            headers.extend(self.map(field, names, &is_overridden)?);
        }
        let variable = |field: String, name: &str| {
            let unset = || EntryError::Expand { field, error: ExpandError::Unset(name.to_owned()) };
            (names.variable)(name).ok_or_else(unset)
        };
        for (name, holder) in self.texts("env_http_headers").filter(|(name, _)| !is_overridden(name)) {
            headers.push((name.to_owned(), variable(format!("env_http_headers.{name}"), holder)?));
        }
        let token = self.node.text_of("bearer_token_env_var").filter(|_| !is_overridden("authorization"));
        if let Some(holder) = token {
            let token = variable("bearer_token_env_var".into(), holder)?;
            headers.push(("Authorization".into(), format!("Bearer {token}")));
        }
        Ok(headers)
    }

    /// Iterates over the members of a map that are strings.
    pub fn texts(&self, field: &str) -> impl Iterator<Item = (&str, &str)> {
        let members = self.node.get(field).map_or(&[][..], |member| member.value.members());
        members.iter().filter_map(|member| Some((member.name.as_str(), member.value.text()?)))
    }

    /// Returns the environment variables, without those that the command line sets.
    fn env(&self, names: &Names<'_>, overrides: &Overrides<'_>) -> Result<Vec<(String, String)>, EntryError> {
        let holder = self.started().map_or(&self.node, |(holder, _)| holder);
        let mut env = Vec::new();
        for field in ENVS {
            env.extend(map(holder, field, names, &|name| overrides.env.contains(&name))?);
        }
        Ok(env)
    }

    /// Returns a map of strings, without the names that the command line sets.
    fn map(
        &self,
        field: &str,
        names: &Names<'_>,
        is_overridden: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<(String, String)>, EntryError> {
        map(&self.node, field, names, is_overridden)
    }
}

fn map(
    node: &Node,
    field: &str,
    names: &Names<'_>,
    is_overridden: &dyn Fn(&str) -> bool,
) -> Result<Vec<(String, String)>, EntryError> {
    let members = node.get(field).map_or(&[][..], |member| member.value.members());
    members
        .iter()
        .filter(|member| member.value.kind != Kind::Other(Value::Null) && !is_overridden(&member.name))
        .map(|member| {
            let value = scalar(&member.value, &format!("{field}.{}", member.name), names)?;
            Ok((member.name.clone(), value))
        })
        .collect()
}

fn scalar(node: &Node, field: &str, names: &Names<'_>) -> Result<String, EntryError> {
    match &node.kind {
        Kind::Text(text) => expand_field(text, field, names),
        Kind::Other(value @ (Value::Number(_) | Value::Bool(_))) => Ok(value.to_string()),
        _ => Err(EntryError::Kind(field.into(), "a string")),
    }
}

fn expand_field(text: &str, field: &str, names: &Names<'_>) -> Result<String, EntryError> {
    expand(text, names).map_err(|error| EntryError::Expand { field: field.into(), error })
}

/// Quotes a word as in a shell, if necessary.
fn quoted(word: &str) -> String {
    let is_plain = |found: char| found.is_alphanumeric() || "-_./:=@%+,[]{}$".contains(found);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve_with(entry: &Entry, overrides: &Overrides<'_>) -> Result<Server, EntryError> {
        let variable = |name: &str| (name == "TOKEN").then(|| "t0k".to_owned());
        entry.resolve(&Names { variable: &variable, workspace: Path::new("/project") }, overrides)
    }

    fn resolve(entry: &Entry) -> Result<Server, EntryError> {
        resolve_with(entry, &Overrides { env: vec![], headers: vec![] })
    }

    fn json(inside: &str) -> Entry {
        read(&format!("{{\"mcpServers\": {{\"s\": {{{inside}}}}}}}"), Format::Json).unwrap().remove(0)
    }

    #[test]
    fn of_servers_with_the_same_name_the_last_counts() {
        let text = r#"{"mcpServers": {"a": {"command": "one"}, "b": {"command": "x"}, "a": {"command": "two"}}}"#;
        let found = read(text, Format::Json).expect("JSON");
        let shown: Vec<_> = found.iter().map(|entry| (entry.name.as_str(), entry.node.text_of("command"))).collect();
        assert_eq!(shown, [("b", Some("x")), ("a", Some("two"))]);
    }

    fn command(argv: &[&str], env: &[(&str, &str)]) -> Server {
        Server::Command {
            argv: argv.iter().map(|word| (*word).to_owned()).collect(),
            env: pairs(env),
            env_file: None,
            cwd: None,
        }
    }

    fn remote(url: &str, headers: &[(&str, &str)]) -> Server {
        Server::Remote { url: url.into(), headers: pairs(headers) }
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn servers_are_found_where_clients_keep_them() {
        let names = |text: &str, format| {
            let entries = read(text, format).unwrap();
            entries.into_iter().map(|one| (one.name, one.project)).collect::<Vec<_>>()
        };
        let text = r#"{"projects": {"/p": {"mcpServers": {"c": {}, "x": 1}}, "/q": {}}, "servers": {"b": {}},
            "mcp": {"servers": {"d": {}}}, "mcpServers": {"a": {}}, "other": {"e": {}}}"#;
        let expected = [("a", None), ("b", None), ("d", None), ("c", Some("/p"))];
        assert_eq!(names(text, Format::Json), expected.map(|(name, one)| (name.into(), one.map(str::to_owned))));
        // Zed and opencode. Other clients keep settings of their own in `mcp`.
        let text = r#"{"context_servers": {"z": {}}, "mcp": {"o": {"command": ["x"]}, "r": {"url": "u"},
            "servers": {"v": {"command": "y"}}, "inputs": [], "allowed": {"a": 1}, "off": {"enabled": false}}}"#;
        assert_eq!(names(text, Format::Json), ["v", "z", "o", "r"].map(|name| (name.to_owned(), None)));
        let text = "model = 'x'\n[mcp_servers.a]\n[mcp_servers.'b c']\n[mcpServers.d]\n";
        assert_eq!(names(text, Format::Toml), [("a".into(), None), ("b c".into(), None)]);
        assert_eq!(names("[]", Format::Json), []);
        assert_eq!(names("{\"mcpServers\": 1, \"projects\": []}", Format::Json), []);
    }

    #[test]
    fn the_forms_of_zed_and_opencode_are_resolved() {
        let resolved = |text: &str| resolve(&read(text, Format::Json).unwrap()[0]);
        let zed = r#"{"context_servers": {"s": {"command": {"path": "a", "args": ["b"], "env": {"K": "v"}}}}}"#;
        assert_eq!(resolved(zed), Ok(command(&["a", "b"], &[("K", "v")])));
        let opencode = r#"{"mcp": {"s": {"type": "local", "command": ["a", "b"], "environment": {"K": "v"}}}}"#;
        assert_eq!(resolved(opencode), Ok(command(&["a", "b"], &[("K", "v")])));
        let remote_server = r#"{"mcp": {"s": {"type": "remote", "url": "http://h", "headers": {"X": "y"}}}}"#;
        assert_eq!(resolved(remote_server), Ok(remote("http://h", &[("X", "y")])));
    }

    #[test]
    fn a_command_is_put_together() {
        let entry = json(
            r#""type": "stdio", "command": "npx", "args": ["-y", "${TOKEN}", 8, true], "timeout": 5,
            "env": {"A": "x${TOKEN}", "N": 1, "GONE": null}, "cwd": "sub", "envFile": "${workspaceFolder}/.env""#,
        );
        let expected = Server::Command {
            argv: ["npx", "-y", "t0k", "8", "true"].map(str::to_owned).to_vec(),
            env: pairs(&[("A", "xt0k"), ("N", "1")]),
            env_file: Some("/project/.env".into()),
            cwd: Some("/project/sub".into()),
        };
        assert_eq!(resolve(&entry), Ok(expected));
        let list = json(r#""command": ["uv", "run", "s"], "args": ["--x"]"#);
        assert_eq!(resolve(&list), Ok(command(&["uv", "run", "s", "--x"], &[])));
        assert_eq!(resolve(&json("")), Err(EntryError::Nothing));
        assert_eq!(
            resolve(&json("\"command\": 1")).unwrap_err().to_string(),
            "command is not a string or a list of strings"
        );
        assert_eq!(
            resolve(&json("\"command\": \"a\", \"args\": \"b\"")).unwrap_err().to_string(),
            "args is not a list of strings"
        );
    }

    #[test]
    fn a_url_is_taken_from_where_clients_write_it() {
        for name in URLS {
            let entry = json(&format!(
                r#""type": "sse", "{name}": "http://h/${{TOKEN}}", "headers": {{"A": "Bearer ${{TOKEN}}"}}"#
            ));
            assert_eq!(resolve(&entry), Ok(remote("http://h/t0k", &[("A", "Bearer t0k")])), "{name}");
        }
        let both = r#""command": "a", "url": "http://h""#;
        assert_eq!(resolve(&json(both)), Ok(command(&["a"], &[])));
        assert_eq!(resolve(&json(&format!("{both}, \"type\": \"http\""))), Ok(remote("http://h", &[])));
    }

    #[test]
    fn tables_of_toml_are_entries_too() {
        let text = "[mcp_servers.a]\ncommand = 'x'\nargs = ['y']\nenabled = false\n[mcp_servers.a.env]\nK = 'v'\n\
            [mcp_servers.b]\nurl = 'http://h'\nbearer_token_env_var = 'TOKEN'\nhttp_headers = { X = '1' }\n\
            env_http_headers = { Y = 'TOKEN' }\n";
        let found = read(text, Format::Toml).unwrap();
        assert_eq!(resolve(&found[0]), Ok(command(&["x", "y"], &[("K", "v")])));
        assert!(found[0].is_disabled() && !found[1].is_disabled() && json("\"disabled\": true").is_disabled());
        let headers = [("X", "1"), ("Y", "t0k"), ("Authorization", "Bearer t0k")];
        assert_eq!(resolve(&found[1]), Ok(remote("http://h", &headers)));
    }

    #[test]
    fn what_is_not_set_is_reported_with_its_place_unless_it_is_overridden() {
        let entry = json(r#""command": "a", "env": {"K": "${NOPE}", "L": "l"}"#);
        let error = resolve(&entry).unwrap_err();
        assert_eq!(error.to_string(), "env.K: the variable NOPE is not set");
        assert_eq!(error.hint().unwrap(), "set NOPE, or give the value with -e K=VALUE");
        let given = Overrides { env: vec!["K"], headers: vec![] };
        assert_eq!(resolve_with(&entry, &given), Ok(command(&["a"], &[("L", "l")])));

        let entry = json(r#""url": "http://h", "headers": {"X-Key": "${input:key}"}"#);
        let error = resolve(&entry).unwrap_err();
        assert_eq!(error.to_string(), "headers.X-Key: ${input:key} is known only to the client");
        assert_eq!(error.hint().unwrap(), "give the value with -H 'X-Key: VALUE'");
        let given = Overrides { env: vec![], headers: vec!["x-key"] };
        assert_eq!(resolve_with(&entry, &given), Ok(remote("http://h", &[])));

        let error = resolve(&json(r#""command": "a", "args": ["b", "${NOPE}"]"#)).unwrap_err();
        assert_eq!(error.to_string(), "args[1]: the variable NOPE is not set");
    }

    #[test]
    fn an_entry_is_described_without_its_secrets() {
        assert_eq!(
            json(r#""command": "a b", "args": ["--token", "t", "it's"]"#).describe(),
            r"'a b' --token [redacted] 'it'\''s'"
        );
        assert_eq!(
            json(r#""url": "https://me:pw@h/?api_key=1""#).describe(),
            "https://[redacted]@h/?api_key=[redacted]"
        );
        assert_eq!(json("").describe(), "no command and no URL");
    }
}
