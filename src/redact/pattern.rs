//! The pattern of a detector, compiled when it is first used: most never are.

use super::groups::Groups;
use regex_automata::meta::{BuildError, Config, Regex};
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input};
use regex_syntax::hir::{Class, Hir, HirKind};
use std::ops::Range;
use std::sync::OnceLock;

/// The maximum size of a compiled pattern. Unit: bytes.
pub(super) const PATTERN_BYTES: usize = 4 << 20;
/// The bound of a value whose run goes on: without one, a text of names and nothing else takes quadratic time.
const LONGEST_VALUE: u32 = 256;
/// How far behind its beginning a match is recognised: as far as the longest pattern goes without its bounded or unbounded
/// values. Unit: bytes.
const AHEAD: usize = 512;

/// A pattern.
pub(super) struct Pattern {
    source: String,
    /// Whether a match must begin a word.
    begins_word: bool,
    regex: OnceLock<Result<Regex, String>>,
    /// The bytes with which its last group may go on, if that is longer than a bounded value.
    tail: OnceLock<Option<Box<[bool; 256]>>>,
}

impl Pattern {
    /// A pattern; one that begins with `~` begins a word.
    pub(super) fn new(source: &str) -> Self {
        let (source, begins_word) = match source.strip_prefix('~') {
            Some(rest) => (rest, true),
            None => (source, false),
        };
        Self { source: source.to_owned(), begins_word, regex: OnceLock::new(), tail: OnceLock::new() }
    }

    /// Returns its text.
    pub(super) fn source(&self) -> &str {
        &self.source
    }

    /// Returns whether it matches the empty text.
    ///
    /// # Errors
    ///
    /// If it is not valid.
    pub(super) fn matches_nothing(&self) -> Result<bool, &str> {
        self.compiled().map(|regex| regex.is_match(b""))
    }

    /// Returns the first match that begins in this range of a text.
    pub(super) fn find<'t>(&self, text: &'t [u8], mut starts: Range<usize>) -> Option<Groups<'t>> {
        let regex = self.compiled().ok()?;
        while starts.start < starts.end {
            let start = match starts.len() {
                1 => starts.start,
                _ => {
                    let end = starts.end.saturating_add(AHEAD).min(text.len());
                    let found = regex.search(&Input::new(text).range(starts.start..end).earliest(self.begins_word))?;
                    found.start()
                }
            };
            if start >= starts.end {
                return None;
            }
            if !self.begins_word || begins_word(text, start) {
                let mut groups = regex.create_captures();
                regex.search_captures(&Input::new(text).range(start..text.len()).anchored(Anchored::Yes), &mut groups);
                if groups.is_match() {
                    let ranges = (0..groups.group_len()).map(|number| groups.get_group(number).map(|span| span.range()));
                    return Some(Groups::new(text, ranges.collect()));
                }
            }
            starts.start = start + 1;
        }
        None
    }

    /// Returns where a secret ends that is at least as long as the bound of values: with its run.
    pub(super) fn end_of(&self, text: &[u8], secret: &Range<usize>) -> usize {
        let Some(tail) = (secret.len() >= LONGEST_VALUE as usize).then(|| self.tail()).flatten() else {
            return secret.end;
        };
        let rest = &text[secret.end..];
        secret.end + rest.iter().position(|byte| !tail[usize::from(*byte)]).unwrap_or(rest.len())
    }

    fn compiled(&self) -> Result<&Regex, &str> {
        let compile = || compiled(&self.source).map_err(|error| error.to_string());
        self.regex.get_or_init(compile).as_ref().map_err(String::as_str)
    }

    fn tail(&self) -> Option<&[bool; 256]> {
        let find = || {
            let parsed = regex_syntax::ParserBuilder::new().unicode(false).utf8(false).build().parse(&self.source).ok()?;
            let mut found = None;
            bounded_run(&parsed, &mut found);
            found.map(Box::new)
        };
        self.tail.get_or_init(find).as_deref()
    }
}

/// Finds the class of the last run that is bounded by [`LONGEST_VALUE`].
fn bounded_run(hir: &Hir, found: &mut Option<[bool; 256]>) {
    match hir.kind() {
        HirKind::Repetition(run) => match run.sub.kind() {
            HirKind::Class(Class::Bytes(class)) if run.max == Some(LONGEST_VALUE) => {
                let mut table = [false; 256];
                for range in class.ranges() {
                    (range.start()..=range.end()).for_each(|byte| table[usize::from(byte)] = true);
                }
                *found = Some(table);
            }
            _ => bounded_run(&run.sub, found),
        },
        HirKind::Capture(group) => bounded_run(&group.sub, found),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().for_each(|part| bounded_run(part, found)),
        _ => {}
    }
}

/// Whether a word begins at a place of a text. In the text of a string, it may follow an escape.
fn begins_word(text: &[u8], at: usize) -> bool {
    match text[..at] {
        [.., b'\\', b'n' | b'r' | b't' | b'b' | b'f'] | [] => true,
        [.., before] => !before.is_ascii_alphanumeric() && before != b'_',
    }
}

fn compiled(pattern: &str) -> Result<Regex, Box<BuildError>> {
    Regex::builder()
        .syntax(syntax::Config::new().unicode(false).utf8(false))
        .configure(Config::new().utf8_empty(false).nfa_size_limit(Some(PATTERN_BYTES)))
        .build(pattern)
        .map_err(Box::new)
}
