//! Who made a value: the run, or the client.

use super::{Kind, Span, ValueKey};
use crate::trace::Opened;
use crate::wire::json;
use std::collections::HashMap;

/// The number of values whose origin is remembered. Of others, the message decides in which they are.
const MAX_VALUES: usize = 1 << 20;

/// The number of folders that are remembered.
const MAX_FOLDERS: usize = 64;

/// What is known of a run. For each value, whether the first message that contained it came from the server, and not as
/// part of the server's configuration: such values were made by the run, and the others were chosen. And the folders in
/// which it took place: the server's, those that its command line names, and the client's roots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Origins {
    made: HashMap<ValueKey, bool, foldhash::fast::FixedState>,
    folders: Vec<Box<str>>,
    /// How often it was asked who made a value.
    lookups: usize,
    /// The texts of values, if they are to be listed.
    texts: HashMap<ValueKey, Box<str>>,
}

impl Origins {
    /// Keeps the text of a value.
    pub(crate) fn keep_text(&mut self, key: ValueKey, text: Box<str>) {
        self.texts.entry(key).or_insert(text);
    }

    /// Returns a number that stays the same as long as messages that are read do not depend on what is known.
    pub(crate) fn uses(&self) -> (usize, usize) {
        (self.lookups, self.folders.len())
    }

    /// Returns the text of a value that was kept.
    pub(crate) fn text(&self, key: ValueKey) -> Option<&str> {
        self.texts.get(&key).map(|text| &**text)
    }

    /// Adds the absolute paths among words of a command, or file URIs. The longest come first.
    pub(crate) fn add_folders<'a>(&mut self, words: impl IntoIterator<Item = &'a str>) {
        for word in words {
            let path = word.split_once('=').map_or(word, |(_, value)| value);
            let path = path.strip_prefix("file://").unwrap_or(path).trim_end_matches('/');
            let is_deep = path.starts_with('/') && path.matches('/').count() > 1 && !path.contains(char::is_whitespace);
            if is_deep && self.folders.len() < MAX_FOLDERS && !self.folders.iter().any(|known| **known == *path) {
                self.folders.push(path.into());
            }
        }
        self.folders.sort_by_key(|path| std::cmp::Reverse(path.len()));
    }

    /// Adds the folder in which a server runs, and those that its command line names. `opened` is the payload of the event
    /// that describes its start.
    pub(crate) fn add_command(&mut self, opened: &[u8]) {
        let opened = Opened::read(opened);
        let words = opened.command.iter().flatten().skip(1).chain(&opened.cwd);
        self.add_folders(words.map(String::as_str));
    }

    /// Adds the roots in the result of `roots/list`.
    pub(crate) fn add_roots(&mut self, result: &[u8]) {
        let result = json::value_of(result);
        let roots = result["roots"].as_array().into_iter().flatten();
        self.add_folders(roots.filter_map(|root| root["uri"].as_str()));
    }

    /// Returns where a text contains these folders. They do not overlap.
    fn folders_in(&self, text: &str) -> Vec<Span> {
        let mut found: Vec<Span> = Vec::new();
        for folder in &self.folders {
            for (start, part) in text.match_indices(&**folder) {
                let end = start + part.len();
                let is_name = |found: char| found.is_alphanumeric() || matches!(found, '_' | '-' | '.');
                let goes_on = text[end..].chars().next().is_some_and(is_name);
                let is_inside = text[..start].chars().next_back().is_some_and(is_name);
                if !goes_on && !is_inside && !found.iter().any(|span| span.start < end && start < span.end) {
                    found.push(Span { start, end, kind: Kind::Folder, form: 0 });
                }
            }
        }
        found
    }
}

/// Origins, while they are collected or later.
#[derive(Debug)]
pub(crate) enum Lookup<'a> {
    /// Values that are not known are added.
    Collecting(&'a mut Origins),
    /// All values are known.
    Known(&'a Origins),
    /// Every value with the shape of a volatile one is one, whoever made it; and so are these folders.
    Anyones(&'a Origins),
}

impl Lookup<'_> {
    /// Returns the volatile parts of a text by their shape, and the run's folders.
    pub(crate) fn find(&self, text: &str) -> Vec<Span> {
        let mut spans = super::find(text);
        if self.origins().folders.is_empty() || !text.contains('/') {
            return spans;
        }
        let folders = self.origins().folders_in(text);
        if !folders.is_empty() {
            spans.retain(|span| !folders.iter().any(|folder| folder.start < span.end && span.start < folder.end));
            spans.extend(folders);
            spans.sort_by_key(|span| span.start);
        }
        spans
    }

    fn origins(&self) -> &Origins {
        match self {
            Self::Collecting(origins) => origins,
            Self::Known(origins) | Self::Anyones(origins) => origins,
        }
    }

    /// Returns whether the run made a value that is in a message of the server (`by_run`) or of the client.
    pub(crate) fn is_made(&mut self, key: ValueKey, by_run: bool) -> bool {
        if matches!(self, Self::Anyones(_)) {
            return true;
        }
        if let Self::Collecting(origins) = self {
            origins.lookups += 1;
            if origins.made.len() < MAX_VALUES {
                return *origins.made.entry(key).or_insert(by_run);
            }
        }
        self.origins().made.get(&key).copied().unwrap_or(by_run)
    }
}
