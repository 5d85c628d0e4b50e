//! Puts `mcpreel record` in front of a server in a configuration's text, and removes it again. Every other byte of the
//! text stays the same.
//!
//! A command is wrapped by moving its words behind `record --`. So unwrapping restores it exactly from what is there,
//! even if the entry was changed in the meantime. An entry with a URL is rewritten, and keeps its original text in a
//! variable of its `env`. No state is kept outside the file, so the file can be copied, committed and restored
//! elsewhere, and clients that reject unknown members accept it. Header values move to `env`, too, never to the command
//! line.
//!
//! This module must never open files or read the environment.

mod url;

use super::entry::{ENVS, Entry, HEADERS, TRANSPORTS, URLS, read};
use super::tree::{Format, Kind, Member, Node, Style};
use crate::process::child::SERVER_PATH;
use crate::redact;
use ::url::{Host, Url};
use std::ops::Range;

/// A part of a text, and its replacement.
pub(super) type Splice = (Range<usize>, String);

/// The reason why an entry cannot be edited.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// There is nothing to record.
    #[error("the entry has neither a command nor a URL")]
    Nothing,
    /// The arguments are not a list of strings.
    #[error("the args of the entry are not a list")]
    Arguments,
    /// The edit would lose something.
    #[error("the entry is written in a way that mcpreel cannot edit safely")]
    Layout,
    /// The configuration cannot name the program.
    #[error("{0}")]
    Program(String),
    /// The entry runs `mcpreel record`, but without a server.
    #[error("the entry runs `mcpreel record` without a command or URL to record")]
    NothingBehind,
}

/// What is put in front of a server.
#[derive(Clone, Copy, Debug)]
pub struct Tap<'a> {
    /// The path of mcpreel.
    pub program: &'a str,
    /// The folder for reels and sockets, if it is not the usual one: clients do not pass on `MCPREEL_HOME`.
    pub home: Option<&'a str>,
}

impl<'a> From<&'a str> for Tap<'a> {
    fn from(program: &'a str) -> Self {
        Self { program, home: None }
    }
}

impl Tap<'_> {
    /// Returns `record --label NAME`, with the home. The label distinguishes reels; it must not begin with a dash.
    fn words(&self, name: &str) -> Vec<String> {
        let home = self.home.into_iter().flat_map(|home| ["--home", home]);
        ["record", "--label", label(name)].into_iter().chain(home).map(str::to_owned).collect()
    }
}

/// A text and one of its entries.
#[derive(Clone, Copy)]
struct Place<'a> {
    text: &'a str,
    format: Format,
    entry: &'a Entry,
}

/// Wraps the entry's server. Returns the new text, or `None` if the server is wrapped already.
///
/// # Errors
///
/// If the entry cannot be edited without losing something.
pub fn wrap<'a>(
    text: &str,
    format: Format,
    entry: &Entry,
    tap: impl Into<Tap<'a>>,
) -> Result<Option<String>, EditError> {
    if is_wrapped(entry) {
        return Ok(None);
    }
    let tap = tap.into();
    let wrapped = put_before(Place { text, format, entry }, tap)?;
    let is_path = tap.program.contains('/');
    let wrapped = if is_path { wrapped } else { renamed(&wrapped, format, entry, ["PATH", SERVER_PATH]) };
    // Check the edit by undoing it: nothing may be lost.
    let found = again(&wrapped, format, entry).filter(|found| has_the_same(entry, found)).ok_or(EditError::Layout)?;
    let back = unwrap(&wrapped, format, &found)?;
    if back.as_deref() == Some(text) { Ok(Some(wrapped)) } else { Err(EditError::Layout) }
}

/// Unwraps the entry's server. Returns the new text, or `None` if the server is not wrapped.
///
/// # Errors
///
/// If the entry cannot be restored.
pub fn unwrap(text: &str, format: Format, entry: &Entry) -> Result<Option<String>, EditError> {
    if !is_wrapped(entry) {
        return Ok(None);
    }
    let text = &renamed(text, format, entry, [SERVER_PATH, "PATH"]);
    let entry = &again(text, format, entry).ok_or(EditError::Layout)?;
    let place = Place { text, format, entry };
    let bare = if behind(&entry.words()).is_some() { take_out_command(place)? } else { url::unwrap_url(place)? };
    if again(&bare, format, entry).is_some() { Ok(Some(bare)) } else { Err(EditError::Layout) }
}

/// Renames a variable of the entry's environment, if it has this one and not the other. A client looks for the program in
/// the `PATH` of the entry, which leads to the server and rarely to mcpreel.
fn renamed(text: &str, format: Format, entry: &Entry, [from, to]: [&str; 2]) -> String {
    let Some(entry) = again(text, format, entry) else { return text.to_owned() };
    let holder = entry.started().map_or(&entry.node, |(holder, _)| holder);
    let envs = ENVS.iter().filter_map(|name| holder.get(name)).map(|member| &member.value);
    let rename = |env: &Node| {
        let member = env.get(from).filter(|_| env.get(to).is_none())?;
        let key = text.get(member.start..member.value.range.start)?;
        let at = member.start + key.rfind(from)?;
        Some((at..at + from.len(), to.to_owned()))
    };
    spliced(text, envs.filter_map(rename).collect())
}

/// Returns whether the server is wrapped.
pub fn is_wrapped(entry: &Entry) -> bool {
    let words = entry.words();
    let [program, "record", rest @ ..] = words.as_slice() else { return false };
    let is_ours = program.rsplit('/').next() == Some("mcpreel");
    let is_our_shape = rest.first().is_some_and(|word| word.starts_with("--label"));
    (is_ours || is_our_shape) && (behind(&words).is_some() || rest.contains(&"--url"))
}

/// Returns the place of the recorded command: after `--`, or at once after `record`, which accepts it without.
fn behind(words: &[&str]) -> Option<usize> {
    let own = words.iter().position(|word| *word == "record")? + 1;
    match words.get(own) {
        Some(word) if !word.starts_with('-') => Some(own),
        _ => words.iter().position(|word| *word == "--").map(|at| at + 1),
    }
}

/// Returns the same place in a list of a configuration.
fn behind_in(list: &[Node]) -> Result<usize, EditError> {
    let words: Vec<&str> = list.iter().map(|word| word.text().unwrap_or_default()).collect();
    behind(&words).ok_or(EditError::NothingBehind)
}

/// Returns the words of the entry's command with the tap in front, or `None` if it is wrapped or there is nothing to wrap.
/// For configurations that are edited by hand.
pub(crate) fn wrapped_words<'a>(entry: &Entry, tap: impl Into<Tap<'a>>) -> Option<Vec<String>> {
    let (words, tap) = (entry.words(), tap.into());
    let tap = |last: &str| [vec![tap.program.to_owned()], tap.words(&entry.name), vec![last.to_owned()]].concat();
    match entry.url() {
        _ if is_wrapped(entry) => None,
        Some((_, url)) if words.is_empty() => {
            let login = may_rely_on_login(entry).then(|| "--login".to_owned());
            Some(tap("--url").into_iter().chain([url.to_owned()]).chain(login).collect())
        }
        None if words.is_empty() => None,
        _ => Some(tap("--").into_iter().chain(words.into_iter().map(str::to_owned)).collect()),
    }
}

/// Returns the words of the entry's command without the tap, or `None` if it is not wrapped. For configurations that are
/// edited by hand.
pub(crate) fn bare_words(entry: &Entry) -> Option<Vec<String>> {
    let words = entry.words();
    let behind = behind(&words).filter(|_| is_wrapped(entry))?;
    Some(words.get(behind..)?.iter().map(|word| (*word).to_owned()).collect())
}

/// Returns whether the client may log in at the entry's server by itself (OAuth): the entry has a URL for which that is
/// possible, and no credentials. Such a login is for the server's URL and fails behind a tap, which therefore has to log
/// in itself.
pub(crate) fn may_rely_on_login(entry: &Entry) -> bool {
    let has_credentials = HEADERS
        .iter()
        .chain(&["env_http_headers"])
        .any(|name| entry.node.get(name).is_some_and(|member| !member.value.members().is_empty()))
        || entry.node.get("bearer_token_env_var").is_some();
    let Some((_, url)) = entry.url().filter(|_| entry.words().is_empty() || entry.says_remote()) else { return false };
    let is_plain = redact::redact_arguments(&[url.to_owned()])[0] == url;
    let is_possible = Url::parse(url).is_ok_and(|url| match (url.scheme(), url.host()) {
        ("https", Some(_)) => true,
        ("http", Some(Host::Domain(name))) => name == "localhost",
        ("http", Some(Host::Ipv4(address))) => address.is_loopback(),
        ("http", Some(Host::Ipv6(address))) => address.is_loopback(),
        _ => false,
    });
    is_plain && is_possible && !has_credentials
}

/// Finds the entry in another text, by name and project.
fn again(text: &str, format: Format, entry: &Entry) -> Option<Entry> {
    let found = read(text, format).ok()?;
    found.into_iter().find(|one| one.name == entry.name && one.project == entry.project)
}

/// Returns whether an edit may change a member of this name.
fn is_edited(name: &str) -> bool {
    ["command", "args", "env_vars", "env_http_headers", "bearer_token_env_var"].contains(&name)
        || ENVS.contains(&name)
        || URLS.contains(&name)
        || HEADERS.contains(&name)
        || TRANSPORTS.contains(&name)
}

/// Returns whether the members that no edit may change are the same in both entries.
fn has_the_same(one: &Entry, other: &Entry) -> bool {
    let kept = |entry: &Entry| {
        let members = entry.node.members().iter().filter(|member| !is_edited(&member.name));
        members.map(|member| (member.name.clone(), member.value.to_value())).collect::<Vec<_>>()
    };
    kept(one) == kept(other)
}

fn put_before(place: Place<'_>, tap: Tap<'_>) -> Result<String, EditError> {
    let started = place.entry.started();
    match started.map(|(_, program)| &program.value.kind) {
        _ if place.entry.says_remote() && place.entry.url().is_some() => url::wrap_url(place, tap),
        Some(Kind::Text(_)) => put_before_text(place, tap),
        Some(Kind::List(words)) if !words.is_empty() => {
            let mut own = vec![quote(tap.program)];
            own.extend(tap.words(&place.entry.name).iter().map(|word| quote(word)));
            own.push(quote("--"));
            let (_, command) = started.ok_or(EditError::Nothing)?;
            Ok(spliced(place.text, vec![insert_front(place.text, &command.value, words, &own)]))
        }
        _ => url::wrap_url(place, tap),
    }
}

fn label(name: &str) -> &str {
    name.trim_start_matches('-')
}

fn put_before_text(place: Place<'_>, tap: Tap<'_>) -> Result<String, EditError> {
    let Place { text, entry, .. } = place;
    let (holder, command) = entry.started().ok_or(EditError::Nothing)?;
    let raw = text[command.value.range.clone()].to_owned();
    let new_command = (command.value.range.clone(), quote(tap.program));
    let arguments = match holder.get("args") {
        Some(Member { value: node @ Node { kind: Kind::List(elements), .. }, .. }) => {
            let own: Vec<String> = tap.words(&entry.name).iter().map(|word| quote(word)).collect();
            insert_front(text, node, elements, &[own, vec![quote("--"), raw]].concat())
        }
        Some(_) => return Err(EditError::Arguments),
        None => {
            // One word instead of two shows that there were no arguments.
            let label = quote(&format!("--label={}", label(&entry.name)));
            let key = &text[command.start..command.value.range.start];
            let key = key.replacen(&command.name, "args", 1);
            let home = tap.home.map(|home| format!("{}, ", quote(&format!("--home={home}")))).unwrap_or_default();
            let member = format!("{key}[\"record\", {label}, {home}\"--\", {raw}]");
            (command.value.range.end..command.value.range.end, format!("{}{member}", separator(place, command)))
        }
    };
    Ok(spliced(text, vec![new_command, arguments]))
}

/// Returns the text between a member and a new one after it.
fn separator(place: Place<'_>, member: &Member) -> String {
    let space = space_before(place.text, member.start);
    match &place.entry.node.kind {
        Kind::Map(Style::Object, _) if space.is_empty() => ",".to_owned(),
        Kind::Map(Style::Object, _) => format!(",{space}"),
        Kind::Map(Style::Inline, _) => ", ".to_owned(),
        _ => {
            let line = place.text[..member.start].rfind('\n').map_or(0, |at| at + 1);
            format!("{}{}", newline(place.text), &place.text[line..member.start])
        }
    }
}

/// Inserts words before the first element of a list: each on its own line if the list is written that way.
fn insert_front(text: &str, list: &Node, elements: &[Node], words: &[String]) -> Splice {
    let Some(first) = elements.first() else {
        let inside = list.range.start + 1;
        return (inside..inside, words.join(", "));
    };
    let space = space_before(text, first.range.start);
    let between = if space.contains('\n') { format!(",{space}") } else { ", ".to_owned() };
    let front = words.iter().flat_map(|word| [word.as_str(), &between]).collect();
    (first.range.start..first.range.start, front)
}

/// Returns the white space just before a place.
fn space_before(text: &str, at: usize) -> &str {
    &text[text[..at].trim_end_matches([' ', '\t', '\r', '\n']).len()..at]
}

fn take_out_command(place: Place<'_>) -> Result<String, EditError> {
    let Place { text, entry, .. } = place;
    let (holder, command) = entry.started().ok_or(EditError::NothingBehind)?;
    let args = holder.get("args");
    if let Kind::List(words) = &command.value.kind {
        let behind = behind_in(words)?;
        return Ok(spliced(text, vec![remove_front(text, words, behind).ok_or(EditError::NothingBehind)?]));
    }
    let Some(Member { value: Node { kind: Kind::List(words), range }, start, .. }) = args else {
        return Err(EditError::Arguments);
    };
    let behind = behind_in(words)?;
    let program = words.get(behind).ok_or(EditError::NothingBehind)?;
    let new_command = (command.value.range.clone(), text[program.range.clone()].to_owned());
    let had_none = words.get(1).and_then(Node::text).is_some_and(|word| word.starts_with("--label="));
    let between = text.get(command.value.range.end..*start);
    let is_behind = between.is_some_and(|between| between.trim_matches([' ', '\t', '\r', '\n', ',']).is_empty());
    let arguments = if had_none && words.len() == behind + 1 && (is_behind || is_dotted_behind(place, between)) {
        (command.value.range.end..range.end, String::new())
    } else {
        remove_front(text, words, behind + 1).unwrap_or_else(|| (range.clone(), "[]".to_owned()))
    };
    Ok(spliced(text, vec![new_command, arguments]))
}

/// Returns whether only the prefix of the command's key is between command and arguments, such as `mcp_servers.x.`.
fn is_dotted_behind(place: Place<'_>, between: Option<&str>) -> bool {
    let Some(command) = place.entry.node.get("command") else { return false };
    let line = place.text[..command.start].rfind('\n').map_or(0, |at| at + 1);
    between.is_some_and(|between| between.trim_start() == place.text[line..command.start].trim_start())
}

/// Removes elements from the front of a list; `None` if that would leave a syntax error.
fn remove_front(text: &str, elements: &[Node], count: usize) -> Option<Splice> {
    let first = elements.first()?;
    if let Some(next) = elements.get(count) {
        return Some((first.range.start..next.range.start, String::new()));
    }
    let last = elements.last().filter(|_| elements.len() == count)?;
    let is_followed = text[last.range.end..].trim_start().starts_with(',');
    (!is_followed).then(|| (first.range.start..last.range.end, String::new()))
}

/// Quotes a string for both JSON and TOML.
pub(super) fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

/// Returns the line ending of the text.
fn newline(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// Replaces parts of a text, which must not overlap.
pub(super) fn spliced(text: &str, mut splices: Vec<Splice>) -> String {
    splices.sort_by_key(|(range, _)| range.start);
    let mut out = String::with_capacity(text.len() + 256);
    let mut at = 0;
    for (range, new) in splices {
        out.push_str(&text[at..range.start]);
        out.push_str(&new);
        at = range.end;
    }
    out.push_str(&text[at..]);
    out
}

#[cfg(test)]
mod tests;
