//! Finds the values that the server generated and the client sent back later, and where the server returned them.
//!
//! Only values that are unlikely to coincide count: those that look random, long words that are all of a value, and those
//! of members that the protocol defines as handles (a `cursor` that was a `nextCursor`). A value that the client used
//! first is the client's own.

use super::conversation::{Conversation, Entry};
use super::leaves::{Leaf, generated_tokens, leaf_at, leaves};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// Members whose values the server hands out, with the members in which the client returns them.
const HANDLES: &[(&str, &str)] = &[
    ("nextCursor", "cursor"),
    ("taskId", "taskId"),
    ("requestState", "requestState"),
    ("subscriptionId", "subscriptionId"),
    ("elicitationId", "elicitationId"),
    ("inferenceId", "inferenceId"),
    ("checkpoint", "checkpoint"),
    ("checkpoint", "rollbackTo"),
    ("eventId", "eventId"),
    ("conversationId", "conversationId"),
];

/// At most this many places are remembered for each value; the latest ones count.
const MAX_SOURCES: usize = 4;
/// At least this many characters of a whole value are unlikely to coincide, even if they look less random.
const LONG_WORD: usize = 12;
/// Longer values are not compared.
const LONGEST: usize = 64 << 10;

/// A value in a client's message that the server returned before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Binding {
    /// Its JSON pointer in the content of the client's message.
    pub place: String,
    /// The value in the recording.
    pub value: String,
    /// Whether it is a part of a longer string.
    pub is_part: bool,
    /// Where the server returned it, latest first.
    pub sources: Vec<Source>,
}

/// A place in a server's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Source {
    /// The entry.
    pub entry: usize,
    /// The JSON pointer in its content.
    pub pointer: String,
    /// Which of the values in a longer string it is, if it is not the whole string.
    pub part: Option<usize>,
}

impl Source {
    /// Returns the value at this place of another message.
    pub(super) fn value_in<'a>(&self, content: &'a [u8]) -> Option<Cow<'a, str>> {
        let whole = leaf_at(content, &self.pointer)?;
        match self.part {
            None => Some(whole),
            Some(number) => {
                let token = generated_tokens(&whole).nth(number)?;
                Some(Cow::Owned(token.text.to_owned()))
            }
        }
    }

    /// Returns what stands at this place of another message in place of a value, if the text around it is the same. It need
    /// not look random.
    pub(super) fn value_amid(&self, recorded: &[u8], value: &str, content: &[u8]) -> Option<String> {
        let (recorded, whole) = (leaf_at(recorded, &self.pointer)?, leaf_at(content, &self.pointer)?);
        let (before, after) = recorded.split_once(value)?;
        let found = whole.strip_prefix(before)?.strip_suffix(after)?;
        (!found.is_empty() && !found.contains(char::is_whitespace)).then(|| found.to_owned())
    }
}

/// Whether a value is one long word with letters and digits, as ids and base64 are. Paths and names of files are not.
fn is_long_word(value: &str) -> bool {
    let is_part = |found: char| found.is_ascii_alphanumeric() || "-_+=~".contains(found);
    let has = |class: fn(&char) -> bool| value.chars().any(|found| class(&found));
    value.len() >= LONG_WORD
        && value.chars().all(|found| is_part(found) || found == '/' && value.ends_with('='))
        && has(char::is_ascii_alphabetic)
        && has(char::is_ascii_digit)
}

/// A value as it is looked up: the handle that it is, or `None` if any member may have it.
type Key = (Option<&'static str>, String);

/// Finds the bindings of every client message of a session, by entry.
pub(super) fn find(conversation: &Conversation) -> HashMap<usize, Vec<Binding>> {
    let (mut finder, mut found) = (Finder::default(), HashMap::new());
    for (number, entry) in conversation.entries.iter().enumerate() {
        let Some(content) = entry.content() else { continue };
        let all = leaves(content);
        if !entry.is_clients() {
            all.iter().for_each(|leaf| finder.learn(number, leaf));
            continue;
        }
        let bindings: Vec<Binding> =
            all.iter().filter(|leaf| may_be_bound(entry, leaf)).flat_map(|leaf| finder.look_up(leaf)).collect();
        if !bindings.is_empty() {
            found.insert(number, bindings);
        }
        all.iter().for_each(|leaf| finder.hear(leaf));
    }
    found
}

/// Returns whether a value may follow the live server: names of tools and prompts may not, because calling another one
/// would hide that it was renamed; progress tokens and ids are the client's own.
fn may_be_bound(entry: &Entry, leaf: &Leaf<'_>) -> bool {
    let is_name = leaf.pointer == "/name" && (entry.is("tools/call") || entry.is("prompts/get"));
    !is_name
        && leaf.pointer != "/_meta/progressToken"
        && leaf.pointer != "/progressToken"
        && leaf.pointer != "/requestId"
}

/// Whether all of a value is looked up: it is one word, and looks generated or contains what does.
fn is_whole(value: &str) -> bool {
    let has_tokens = || generated_tokens(value).next().is_some();
    !value.contains(char::is_whitespace) && (is_long_word(value) || has_tokens())
}

#[derive(Default)]
struct Finder {
    sources: HashMap<Key, Vec<Source>>,
    /// What the client said before any server did.
    clients: HashSet<String>,
}

impl Finder {
    /// Notes the values in a leaf of a server's message.
    fn learn(&mut self, entry: usize, leaf: &Leaf<'_>) {
        if leaf.value.len() > LONGEST {
            return;
        }
        let pointer = &leaf.pointer;
        let source = |part| Source { entry, pointer: pointer.clone(), part };
        for (_, returned) in HANDLES.iter().filter(|(given, _)| leaf.name == *given) {
            self.add((Some(returned), leaf.value.clone().into_owned()), source(None));
        }
        if is_whole(&leaf.value) {
            self.add((None, leaf.value.clone().into_owned()), source(None));
        }
        for (number, token) in generated_tokens(&leaf.value).enumerate().filter(|(_, token)| token.text != leaf.value) {
            self.add((None, token.text.to_owned()), source(Some(number)));
        }
    }

    fn add(&mut self, key: Key, source: Source) {
        if self.clients.contains(&key.1) {
            return;
        }
        let known = self.sources.entry(key).or_default();
        // Only one place of each message: the first.
        if known.last().is_some_and(|last| last.entry == source.entry) {
            return;
        }
        if known.len() == MAX_SOURCES {
            known.remove(0);
        }
        known.push(source);
    }

    /// Notes the values in a leaf of a client's message, unless a server used them first.
    fn hear(&mut self, leaf: &Leaf<'_>) {
        let mut add = |text: &str| {
            if text.len() <= LONGEST && !self.sources.contains_key(&(None, text.to_owned())) {
                self.clients.insert(text.to_owned());
            }
        };
        generated_tokens(&leaf.value).for_each(|token| add(token.text));
        if is_whole(&leaf.value) || generated_tokens(&leaf.value).next().is_some() {
            add(&leaf.value);
        }
    }

    /// Finds where the values of a leaf came from: the whole value, else parts of it.
    fn look_up(&self, leaf: &Leaf<'_>) -> Vec<Binding> {
        let handle = HANDLES.iter().find(|(_, returned)| leaf.name == *returned).map(|(_, returned)| *returned);
        let whole = |key: Key| self.sources.get(&key);
        let text = || leaf.value.clone().into_owned();
        let known = handle.and_then(|handle| whole((Some(handle), text()))).or_else(|| whole((None, text())));
        if let Some(known) = known {
            return vec![binding(leaf, &leaf.value, false, known)];
        }
        if !leaf.is_string {
            return Vec::new();
        }
        let tokens = generated_tokens(&leaf.value);
        let known = tokens.filter_map(|token| Some((token, self.sources.get(&(None, token.text.to_owned()))?)));
        known.map(|(token, known)| binding(leaf, token.text, true, known)).collect()
    }
}

fn binding(leaf: &Leaf<'_>, value: &str, is_part: bool, known: &[Source]) -> Binding {
    let sources = known.iter().rev().cloned().collect();
    Binding { place: leaf.pointer.clone(), value: value.to_owned(), is_part, sources }
}
