//! What a shell offers: reels, live sessions, configured servers, methods, tools, rules and programs.

use crate::cli::own_line::own_words;
use crate::config::clients;
use crate::error::Notices;
use crate::explain;
use crate::files::places::{Places, entries};
use crate::proposals::{Observed, Registry};
use crate::session::filter::{self, TERMS};
use crate::session::message_replay::MessageReplay;
use crate::sessions::live::{self, Live};
use crate::trace::{Item, ReelReader};
use crate::validate::all_rules;
use crate::wire::text::visible_text;
use clap_complete::CompletionCandidate;
use clap_complete::engine::{PathCompleter, ValueCompleter};
use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// A value, with a description if there is one.
pub(super) type Value = (String, Option<String>);

/// Values that do not depend on files. Gets the word so far.
pub(super) struct Listed(pub fn(&str) -> Vec<Value>);

impl ValueCompleter for Listed {
    fn complete(&self, current: &OsStr) -> Vec<CompletionCandidate> {
        let current = current.to_string_lossy();
        candidates(&current, (self.0)(&current))
    }
}

/// Returns the values that continue a word. What comes from others is made visible, on one line.
fn candidates(current: &str, values: Vec<Value>) -> Vec<CompletionCandidate> {
    let fitting = values.into_iter().filter(|(value, _)| value.starts_with(current));
    let shown = |text: String| visible_text(&text);
    fitting
        .filter(|(value, _)| shown(value.clone()) == *value)
        .map(|(value, help)| CompletionCandidate::new(value).help(help.map(|help| shown(help).into())))
        .collect()
}

fn plain(values: impl IntoIterator<Item = impl Into<String>>) -> Vec<Value> {
    values.into_iter().map(|value| (value.into(), None)).collect()
}

/// The server's command: a program, then files.
pub(super) struct ServerCommand;

impl ValueCompleter for ServerCommand {
    fn complete(&self, current: &OsStr) -> Vec<CompletionCandidate> {
        let is_path = current.to_string_lossy().contains('/') || !super::is_program();
        if is_path { PathCompleter::any().complete(current) } else { programs(&current.to_string_lossy()) }
    }
}

/// The programs in PATH.
fn programs(current: &str) -> Vec<CompletionCandidate> {
    if current.is_empty() {
        return Vec::new();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let programs = entries(std::env::split_paths(&path));
    let names: BTreeSet<String> = programs.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    candidates(current, plain(names))
}

fn is_recording(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "reel" || extension == "jsonl")
}

/// Reels: files here, then the names of those in the usual folder.
pub(super) fn reels(current: &OsStr) -> Vec<CompletionCandidate> {
    let mut found = PathCompleter::any().filter(is_recording).complete(current);
    found.retain(|candidate| candidate.get_value() != ".");
    let files = entries(Places::here().all_reels()).map(|entry| entry.path()).filter(|path| is_recording(path));
    let names: BTreeSet<String> = files.filter_map(|path| path.file_name()?.to_str().map(str::to_owned)).collect();
    let kept = names.into_iter().map(|name| (name, Some("a recording in the usual folder".to_owned()))).collect();
    found.extend(candidates(&current.to_string_lossy(), kept));
    found
}

/// Reels and terms of a filter. A live session is named instead of a reel.
pub(super) fn reels_and_terms(current: &OsStr) -> Vec<CompletionCandidate> {
    let text = current.to_string_lossy();
    let mut found = if option("--session").is_some() { Vec::new() } else { reels(current) };
    found.extend(candidates(&text, terms(&text)));
    found
}

/// The terms of a filter, as far as the colon; after it, the values that there are.
pub(super) fn terms(current: &str) -> Vec<Value> {
    if let Some((term, _)) = current.split_once(':') {
        let found = term_values(term).into_iter();
        return found.map(|value| (format!("{term}:{value}"), None)).collect();
    }
    let start = |term: &str| term.split_inclusive(':').next().unwrap_or_default().to_owned();
    TERMS.iter().map(|(term, about)| (start(term), Some((*about).to_owned()))).collect()
}

/// The values of a term.
fn term_values(term: &str) -> Vec<String> {
    match term {
        "kind" | "event" | "dir" => filter::values_of(term).into_iter().map(str::to_owned).collect(),
        "ext" => Registry::built_in().names().split(", ").map(str::to_owned).collect(),
        "method" => methods("").into_iter().map(|(method, _)| method).collect(),
        "tool" => tools_of_reel().into_iter().collect(),
        _ => Vec::new(),
    }
}

/// The tools that the reel or the live session on the command line lists or calls.
fn tools_of_reel() -> BTreeSet<String> {
    let mut tools = BTreeSet::new();
    let named = || own_words().into_iter().skip(2).map(PathBuf::from).find(|word| is_recording(word));
    let reel = match option("--session") {
        Some(name) => live::find(&name).and_then(|live| live.reel()).ok(),
        None => named().and_then(|name| {
            let kept = Places::here().all_reels().into_iter().map(|folder| folder.join(&name));
            std::iter::once(name.clone()).chain(kept).find(|path| path.exists())
        }),
    };
    let Some(reel) = reel else { return tools };
    replay(&reel, |seen| {
        let names = match (seen.method, seen.request.is_some()) {
            (Some("tools/call"), false) => vec![&seen.content["name"]],
            (Some("tools/list"), true) => {
                seen.content["tools"].as_array().into_iter().flatten().map(|tool| &tool["name"]).collect()
            }
            _ => Vec::new(),
        };
        tools.extend(names.into_iter().filter_map(|name| name.as_str().map(str::to_owned)));
    });
    tools
}

/// Methods that a client may send.
pub(super) fn methods(_current: &str) -> Vec<Value> {
    let subjects = explain::all(Registry::built_in()).into_iter().filter(|subject| subject.kind() == "method");
    subjects.map(|subject| (subject.name(), Some(subject.about()))).collect()
}

/// Everything that `explain` knows.
pub(super) fn subjects(_current: &str) -> Vec<Value> {
    explain::all(Registry::built_in()).iter().map(|subject| (subject.name(), Some(subject.about()))).collect()
}

/// The rules of `validate`; several are separated by commas.
pub(super) fn rules(current: &str) -> Vec<Value> {
    let before = current.rfind(',').map_or("", |comma| &current[..=comma]);
    all_rules(Registry::built_in()).map(|rule| (format!("{before}{}", rule.id), Some(rule.text.to_owned()))).collect()
}

/// The user's live sessions.
pub(super) fn sessions(_current: &str) -> Vec<Value> {
    let about = |live: &Live| Some(format!("{} {}", live.text("role")?, live.text("server").unwrap_or_default()));
    let sessions = live::all().unwrap_or_default();
    sessions.into_iter().map(|live| (live.name.clone(), about(&live))).collect()
}

/// The servers in the configuration that `--config` names, or in those of the usual places.
pub(super) fn servers(_current: &str) -> Vec<Value> {
    let notices = Notices { warn: |_| {}, is_verbose: false };
    let files = match option("--config") {
        Some(path) => crate::config::file::ConfigFile::read(Path::new(&path)).map(|file| vec![file]),
        None => clients::usual_files(notices),
    };
    let files = files.unwrap_or_default();
    let place = |path: &PathBuf| Some(path.display().to_string());
    files.iter().flat_map(|file| file.entries.iter().map(|entry| (entry.name.clone(), place(&file.path)))).collect()
}

/// The parameters of `call`: files after `@`, the tools that a live session has listed, and their arguments.
pub(super) fn parameters(current: &OsStr) -> Vec<CompletionCandidate> {
    let text = current.to_string_lossy();
    let is_file = |at: &usize| *at == 0 || text[..*at].ends_with('=');
    if let Some(at) = text.find('@').filter(is_file) {
        let (before, file) = text.split_at(at + 1);
        let files = PathCompleter::any().complete(OsStr::new(file)).into_iter();
        return files.map(|file| file.add_prefix(before)).collect();
    }
    let values = if text.starts_with("arguments.") { arguments() } else { names_to_call() };
    candidates(&text, values)
}

/// The arguments of the tool that the command line names, as a live session has listed it.
fn arguments() -> Vec<Value> {
    let words = own_words();
    let name = words.iter().find_map(|word| word.to_str()?.strip_prefix("name=").map(str::to_owned));
    let listed = option("--session").and_then(|session| listed(&session, "tools/list")).unwrap_or_default();
    let tools = listed["tools"].as_array().into_iter().flatten();
    let tool =
        tools.into_iter().find(|tool| tool["name"].as_str().is_some() && tool["name"].as_str() == name.as_deref());
    let properties = tool.and_then(|tool| tool["inputSchema"]["properties"].as_object());
    let value = |(key, schema): (&String, &Json)| {
        let sign = if schema["type"] == "string" { "=" } else { ":=" };
        (format!("arguments.{key}{sign}"), first_line(&schema["description"]))
    };
    properties.into_iter().flatten().map(value).collect()
}

/// What `call` can name: the tools, prompts or resources that a live session has listed.
fn names_to_call() -> Vec<Value> {
    let words = own_words();
    let named = |(method, ..): &(&str, &str, &str, &str)| words.iter().any(|word| word == method);
    let Some((_, list, items, member)) = CALLED.iter().find(|called| named(called)) else { return Vec::new() };
    let key = if *member == "uri" { "uri=" } else { "name=" };
    let listed = option("--session").and_then(|name| listed(&name, list)).unwrap_or_default();
    let items = listed[*items].as_array().cloned().unwrap_or_default();
    let value = |item: &Json| Some((format!("{key}{}", item[*member].as_str()?), first_line(&item["description"])));
    let found: Vec<Value> = items.iter().filter_map(value).collect();
    if found.is_empty() { plain([key]) } else { found }
}

/// What names something that a server has listed: the method, the method that lists, and in its result the list and
/// the member.
const CALLED: &[(&str, &str, &str, &str)] = &[
    ("tools/call", "tools/list", "tools", "name"),
    ("prompts/get", "prompts/list", "prompts", "name"),
    ("resources/read", "resources/list", "resources", "uri"),
];

fn first_line(text: &Json) -> Option<String> {
    Some(text.as_str()?.lines().next()?.to_owned())
}

/// Returns the last result of this method in the reel of a session.
fn listed(session: &str, method: &str) -> Option<Json> {
    let mut last = None;
    replay(&live::find(session).ok()?.reel().ok()?, |seen| {
        if seen.request.is_some() && seen.method == Some(method) && seen.envelope.result.is_some() {
            last = Some(seen.content.clone());
        }
    });
    last
}

/// Reads the messages of a reel, as far as it can be read.
fn replay(reel: &Path, mut see: impl FnMut(&Observed<'_>)) {
    let Ok(reader) = ReelReader::open(reel) else { return };
    let (mut reader, mut replay) = (reader.with_payloads(), MessageReplay::default());
    while let Ok(Some(item)) = reader.next() {
        let Item::Block(block) = item else { continue };
        block.events().for_each(|event| replay.take(&event, |_, seen| see(seen)));
    }
}

/// Returns the value of an option on the command line so far.
fn option(name: &str) -> Option<String> {
    let words: Vec<String> = own_words().into_iter().filter_map(|word| word.into_string().ok()).collect();
    let assigned = words.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
    let next = || words.iter().position(|word| word == name).and_then(|at| words.get(at + 1)).map(String::as_str);
    assigned.or_else(next).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_continues_a_word_is_offered_and_odd_names_are_not() {
        let values = vec![("tools/list".into(), None), ("tools/\u{1b}[31m".into(), None), ("ping".into(), None)];
        let found = candidates("tools/", values);
        assert_eq!(found.iter().map(|found| found.get_value().to_owned()).collect::<Vec<_>>(), ["tools/list"]);
    }

    #[test]
    fn each_rule_of_a_list_is_completed() {
        let found = rules("schema/params,pairing/");
        assert!(found.iter().any(|(value, _)| value == "schema/params,pairing/id-in-use"), "{found:?}");
    }

    #[test]
    fn terms_end_after_their_colon() {
        let names: Vec<String> = terms("").into_iter().map(|(term, _)| term).collect();
        assert!(names.contains(&"method:".to_owned()) && names.contains(&"error".to_owned()), "{names:?}");
    }
}
