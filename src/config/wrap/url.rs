//! Wraps an entry with a URL: the entry is rewritten, and keeps its original text in its `env`.

use super::{EditError, Place, Tap, again, is_edited, may_rely_on_login, newline, quote, space_before, spliced};
use crate::config::entry::{ENVS, Entry, HEADERS, TRANSPORTS, URLS};
use crate::config::tree::{Format, Kind, Member, Node, Style, parse};
use crate::redact;

/// The variable with the original text of an entry.
const ORIGINAL: &str = "MCPREEL_ORIGINAL";
/// The variable with a URL that contains a secret.
const URL: &str = "MCPREEL_URL";
/// The prefix of variables with header values.
const HEADER: &str = "MCPREEL_H_";

/// The names that a client uses for what an edit writes.
#[derive(Clone, Copy)]
struct Words {
    env: &'static str,
    /// The transport of a server that is started, and of one that is connected to.
    kinds: (&'static str, &'static str),
    /// Whether the program and its arguments are one list.
    is_one_list: bool,
}

impl Words {
    /// opencode calls its kinds of servers by names that no other client uses.
    fn of(entry: &Entry) -> Self {
        let is_opencode = entry.node.text_of("type").is_some_and(|kind| ["local", "remote"].contains(&kind));
        match is_opencode {
            true => Self { env: "environment", kinds: ("local", "remote"), is_one_list: true },
            false => Self { env: "env", kinds: ("stdio", "http"), is_one_list: false },
        }
    }
}

/// Returns the member with the environment variables.
fn env_of(entry: &Entry) -> Option<&Member> {
    ENVS.iter().find_map(|name| entry.node.get(name))
}

/// A rewritten entry.
struct Draft {
    /// Its members, in order.
    members: Vec<String>,
    /// TOML tables below their own headers, which come after the members.
    tables: Vec<String>,
}

impl Draft {
    /// Copies a member unchanged.
    fn keep(&mut self, place: Place<'_>, member: &Member) {
        let home = if member.is_table() { &mut self.tables } else { &mut self.members };
        home.push(place.text[member.range()].to_owned());
    }

    /// Returns the whole text with the rewritten entry, in the layout of the original.
    fn finish(self, place: Place<'_>) -> Result<String, EditError> {
        let Place { text, entry, .. } = place;
        let block = match &entry.node.kind {
            Kind::Map(Style::Object, _) => {
                let (space, close) = spaces(place);
                format!("{{{space}{}{close}}}", self.members.join(&format!(",{space}")))
            }
            Kind::Map(Style::Inline, _) => format!("{{ {} }}", self.members.join(", ")),
            Kind::Map(Style::Table(header), _) if stands_alone(place) => {
                let lines = [text[header.clone()].to_owned()].into_iter().chain(self.members).chain(self.tables);
                lines.collect::<Vec<_>>().join(newline(text))
            }
            _ => return Err(EditError::Layout),
        };
        Ok(spliced(text, vec![(entry.node.range.clone(), block)]))
    }
}

/// Returns whether a table's bytes contain the whole entry and nothing else.
fn stands_alone(place: Place<'_>) -> bool {
    let Ok(root) = parse(&place.text[place.entry.node.range.clone()], place.format) else { return false };
    let only = |node: &Node| match node.members() {
        [member] => Some(member.value.clone()),
        _ => None,
    };
    let found = only(&root).as_ref().and_then(only);
    found.is_some_and(|found| found.to_value() == place.entry.node.to_value())
}

/// Returns the white space before an object's members, and before its closing brace.
fn spaces(place: Place<'_>) -> (&str, &str) {
    let Place { text, entry, .. } = place;
    let first = entry.node.members().first().map_or(entry.node.range.end, |member| member.start);
    (space_before(text, first), space_before(text, entry.node.range.end - 1))
}

/// Wraps the entry: replaces its URL by a command.
///
/// # Errors
///
/// The entry cannot be edited: it contains nothing to wrap, or in a form that is not understood.
pub(super) fn wrap_url(place: Place<'_>, tap: Tap<'_>) -> Result<String, EditError> {
    let Place { text, entry, .. } = place;
    let own = Words::of(entry);
    let (url_member, url) = entry.url().ok_or(EditError::Nothing)?;
    let mut env = own_env(place);
    let mut words = tap.words(&entry.name);
    words.push("--url".to_owned());
    if redact::redact_arguments(&[url.to_owned()])[0] == url {
        words.push(url.to_owned());
    } else {
        words.push(format!("env:{URL}"));
        env.push((URL.to_owned(), raw_text(text, &url_member.value)));
    }
    if may_rely_on_login(entry) {
        words.push("--login".to_owned());
    }
    let headers = HEADERS.iter().filter_map(|name| entry.node.get(name)).flat_map(|member| member.value.members());
    for (at, header) in headers.enumerate() {
        let variable = format!("{HEADER}{}", at + 1);
        words.extend(["--header-env".to_owned(), format!("{}={variable}", header.name)]);
        env.push((variable, raw_text(text, &header.value)));
    }
    let mut forwarded = Vec::new();
    for (name, variable) in entry.texts("env_http_headers") {
        words.extend(["--header-env".to_owned(), format!("{name}={variable}")]);
        forwarded.push(variable);
    }
    if let Some(variable) = entry.node.text_of("bearer_token_env_var") {
        words.extend(["-H".to_owned(), format!("Authorization: Bearer ${{{variable}}}")]);
        forwarded.push(variable);
    }
    env.push((ORIGINAL.to_owned(), quote(&text[entry.node.range.clone()])));

    let mut draft = Draft { members: Vec::new(), tables: Vec::new() };
    for member in entry.node.members() {
        if member.start == url_member.start {
            let mut words: Vec<String> = words.iter().map(|word| quote(word)).collect();
            if own.is_one_list {
                words.insert(0, quote(tap.program));
                draft.members.push(pair(place, "command", &format!("[{}]", words.join(", "))));
            } else {
                draft.members.push(pair(place, "command", &quote(tap.program)));
                draft.members.push(pair(place, "args", &format!("[{}]", words.join(", "))));
            }
            draft.members.push(pair(place, own.env, &map_text(place, &env)));
            if !forwarded.is_empty() {
                draft.members.push(pair(place, "env_vars", &forwarded_text(place, &forwarded)));
            }
        } else if TRANSPORTS.contains(&member.name.as_str()) {
            draft.members.push(pair(place, &member.name, &quote(own.kinds.0)));
        } else if !is_edited(&member.name) || (member.name == "env_vars" && forwarded.is_empty()) {
            draft.keep(place, member);
        }
    }
    draft.finish(place)
}

/// Returns the entry's own variables with their values as written, without those that wrapping added.
fn own_env(place: Place<'_>) -> Vec<(String, String)> {
    let members = env_of(place.entry).map_or(&[][..], |member| member.value.members());
    let own = members.iter().filter(|member| !member.name.starts_with("MCPREEL_"));
    own.map(|member| (member.name.clone(), place.text[member.value.range.clone()].to_owned())).collect()
}

/// Returns a list of variable names: the existing ones and these.
fn forwarded_text(place: Place<'_>, forwarded: &[&str]) -> String {
    let mut names = env_vars(place);
    names.extend(forwarded.iter().map(|name| quote(name)));
    format!("[{}]", names.join(", "))
}

fn env_vars(place: Place<'_>) -> Vec<String> {
    match place.entry.node.get("env_vars").map(|member| &member.value.kind) {
        Some(Kind::List(names)) => names.iter().map(|name| place.text[name.range.clone()].to_owned()).collect(),
        _ => Vec::new(),
    }
}

/// Unwraps the entry: restores the original, or rebuilds it if the entry was changed.
///
/// # Errors
///
/// The entry cannot be rebuilt.
pub(super) fn unwrap_url(place: Place<'_>) -> Result<String, EditError> {
    restore(place).map_or_else(|| rebuild(place), Ok)
}

/// Returns the original text, if the entry is exactly as wrapping wrote it.
fn restore(place: Place<'_>) -> Option<String> {
    let (text, entry) = before(place)?;
    let words = place.entry.words();
    let home = words.iter().position(|word| *word == "--home").and_then(|at| words.get(at + 1)).copied();
    let tap = Tap { program: words.first()?, home };
    let wrapped = super::put_before(Place { text: &text, format: place.format, entry: &entry }, tap).ok()?;
    (wrapped == place.text).then_some(text)
}

/// Returns the text with the original entry, and that entry.
fn before(place: Place<'_>) -> Option<(String, Entry)> {
    let original = env_of(place.entry)?.value.text_of(ORIGINAL)?.to_owned();
    let text = spliced(place.text, vec![(place.entry.node.range.clone(), original)]);
    let entry = again(&text, place.format, place.entry)?;
    Some((text, entry))
}

/// What the command of a wrapped entry says about the server at the URL. Values are raw text of the file.
#[derive(Default)]
struct Upstream<'a> {
    url: Option<String>,
    headers: Vec<(String, String)>,
    /// Headers and the environment variables that hold them (TOML).
    variables: Vec<(String, String)>,
    /// The environment variable that holds a bearer token (TOML).
    token: Option<&'a str>,
}

impl<'a> Upstream<'a> {
    fn of(place: Place<'a>) -> Result<Self, EditError> {
        let Place { text, format, entry } = place;
        let held = |name: &str| {
            let member = env_of(entry)?.value.get(name)?;
            Some(raw_text(text, &member.value))
        };
        let mut found = Self::default();
        let words = entry.words();
        for (option, &value) in words.iter().zip(words.iter().skip(1)) {
            match *option {
                "--url" => found.url = Some(value.strip_prefix("env:").and_then(held).unwrap_or_else(|| quote(value))),
                "--header-env" => {
                    let (name, variable) = value.split_once('=').ok_or(EditError::NothingBehind)?;
                    let name = name.to_owned();
                    match (held(variable), format) {
                        (Some(raw), _) => found.headers.push((name, raw)),
                        (None, Format::Toml) => found.variables.push((name, quote(variable))),
                        (None, Format::Json) => found.headers.push((name, quote(&format!("${{{variable}}}")))),
                    }
                }
                "-H" | "--header" => {
                    let (name, value) = value.split_once(':').ok_or(EditError::NothingBehind)?;
                    let value = value.trim();
                    let variable = value.strip_prefix("Bearer ${").and_then(|rest| rest.strip_suffix('}'));
                    match (variable, format) {
                        (Some(variable), Format::Toml) => found.token = Some(variable),
                        _ => found.headers.push((name.trim().to_owned(), quote(value))),
                    }
                }
                _ => {}
            }
        }
        Ok(found)
    }

    /// Whether a variable of the environment is there for a header only.
    fn needs(&self, raw: &str) -> bool {
        self.variables.iter().any(|(_, variable)| variable == raw)
            || self.token.is_some_and(|token| quote(token) == raw)
    }

    /// The members that replace the command, after the URL.
    fn members(&self, place: Place<'_>, headers: &'static str) -> Vec<String> {
        let maps = [(headers, &self.headers), ("env_http_headers", &self.variables)];
        let maps = maps.into_iter().filter(|(_, map)| !map.is_empty());
        let token = self.token.map(|token| pair(place, "bearer_token_env_var", &quote(token)));
        maps.map(|(name, map)| pair(place, name, &map_text(place, map))).chain(token).collect()
    }
}

/// Rebuilds an entry with a URL from the wrapped entry.
fn rebuild(place: Place<'_>) -> Result<String, EditError> {
    let Place { format, entry, .. } = place;
    let original = before(place).map(|(_, entry)| entry);
    let before = |names: &[&'static str], otherwise: &'static str| {
        let had = |name: &&&str| original.as_ref().is_some_and(|entry| entry.node.get(name).is_some());
        names.iter().find(had).copied().unwrap_or(otherwise)
    };
    let upstream = Upstream::of(place)?;
    let url = upstream.url.as_ref().ok_or(EditError::NothingBehind)?;

    let mut draft = Draft { members: Vec::new(), tables: Vec::new() };
    for member in entry.node.members() {
        let name = member.name.as_str();
        match name {
            "command" => {
                let headers = before(&HEADERS, if format == Format::Toml { "http_headers" } else { "headers" });
                draft.members.push(pair(place, before(&URLS, "url"), url));
                draft.members.extend(upstream.members(place, headers));
            }
            "env" | "environment" => {
                let own = own_env(place);
                if !own.is_empty() {
                    draft.members.push(pair(place, name, &map_text(place, &own)));
                }
            }
            "env_vars" => {
                let own: Vec<String> = env_vars(place).into_iter().filter(|raw| !upstream.needs(raw)).collect();
                if !own.is_empty() {
                    draft.members.push(pair(place, name, &format!("[{}]", own.join(", "))));
                }
            }
            "args" => {}
            _ if TRANSPORTS.contains(&name) => {
                let kind =
                    original.as_ref().and_then(|entry| entry.node.text_of(name)).unwrap_or(Words::of(entry).kinds.1);
                draft.members.push(pair(place, name, &quote(kind)));
            }
            _ => draft.keep(place, member),
        }
    }
    draft.finish(place)
}

/// Returns the text of a member.
fn pair(place: Place<'_>, name: &str, value: &str) -> String {
    let is_bare = |found: char| found.is_ascii_alphanumeric() || found == '_' || found == '-';
    match place.format {
        Format::Json => format!("{}: {value}", quote(name)),
        Format::Toml if !name.is_empty() && name.chars().all(is_bare) => format!("{name} = {value}"),
        Format::Toml => format!("{} = {value}", quote(name)),
    }
}

/// Returns the text of a map, with one line per member if the entry is written that way.
fn map_text(place: Place<'_>, members: &[(String, String)]) -> String {
    let pairs: Vec<String> = members.iter().map(|(name, value)| pair(place, name, value)).collect();
    let (space, close) = spaces(place);
    if place.format == Format::Toml || !space.contains('\n') {
        return format!("{{ {} }}", pairs.join(", "));
    }
    let deeper = format!("{space}{}", space.strip_prefix(close).unwrap_or("  "));
    format!("{{{deeper}{}{space}}}", pairs.join(&format!(",{deeper}")))
}

/// Returns a string as it is written; any other value as a string.
fn raw_text(text: &str, node: &Node) -> String {
    match &node.kind {
        Kind::Text(_) => text[node.range.clone()].to_owned(),
        _ => quote(&node.to_value().to_string()),
    }
}
