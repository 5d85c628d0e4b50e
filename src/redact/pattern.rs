//! The pattern of a detector, compiled when it is first used: most never are.

use super::groups::Groups;
use regex_automata::meta::{Config, Regex};
use regex_automata::{Anchored, Input};
use regex_syntax::hir::{Class, Hir, HirKind, Repetition};
use std::ops::Range;
use std::sync::OnceLock;

/// The maximum size of a compiled pattern. Unit: bytes.
pub(super) const PATTERN_BYTES: usize = 4 << 20;
/// The bound of a value whose run goes on: without one, a text of names and nothing else takes quadratic time.
const LONGEST_VALUE: u32 = 256;
/// The bound of what is repeated without one between the words of a pattern: spaces, and the backslashes before a quote.
const LONGEST_GAP: u32 = 64;
/// How far behind its beginning a match is recognised: as far as the longest pattern goes without its bounded or unbounded
/// values. Unit: bytes.
const AHEAD: usize = 512;
/// A match is looked for in this much of a text, and then in all of it. Unit: bytes.
const NEAR: usize = 1024;
/// After so many places of a run where no match begins, one is searched only nearby: each of them may be looked for up to
/// the end of the run.
const MAX_FAILURES: u32 = 4;

/// A pattern.
pub(super) struct Pattern {
    source: String,
    /// Whether a match must begin a word.
    begins_word: bool,
    /// Whether it is one of the detectors, which know what they repeat.
    is_own: bool,
    compiled: OnceLock<Result<Compiled, String>>,
}

struct Compiled {
    regex: Regex,
    /// The length of the longest match, if there is one. Unit: bytes.
    longest: Option<usize>,
    /// The bytes with which its last group may go on, if that is longer than a bounded value.
    tail: Option<Box<[bool; 256]>>,
}

impl Pattern {
    /// The pattern of a detector; one that begins with `~` begins a word.
    pub(super) fn of_detector(source: &str) -> Self {
        let (source, begins_word) = match source.strip_prefix('~') {
            Some(rest) => (rest, true),
            None => (source, false),
        };
        Self { source: source.to_owned(), begins_word, is_own: true, compiled: OnceLock::new() }
    }

    /// A pattern of the user.
    pub(super) fn new(source: &str) -> Self {
        Self { source: source.to_owned(), begins_word: false, is_own: false, compiled: OnceLock::new() }
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
        self.compiled().map(|compiled| compiled.regex.is_match(b""))
    }

    /// Returns whether a match may begin at a place where what it needs nearby is.
    pub(super) fn may_begin(&self, text: &[u8], at: usize) -> bool {
        !self.begins_word || begins_word(text, at)
    }

    /// Returns the first match that begins in this range of a text.
    pub(super) fn find<'t>(&self, text: &'t [u8], mut starts: Range<usize>) -> Option<Groups<'t>> {
        let compiled = self.compiled().ok()?;
        let (mut failures, mut run_end) = (0, 0);
        while starts.start < starts.end {
            let start = match starts.len() {
                1 => starts.start,
                _ => {
                    let end = starts.end.saturating_add(AHEAD).min(text.len());
                    let input = Input::new(text).range(starts.start..end).earliest(self.begins_word);
                    compiled.regex.search(&input)?.start()
                }
            };
            if start >= starts.end {
                return None;
            }
            if self.may_begin(text, start)
                && let Some(found) = compiled.at(text, start, failures < MAX_FAILURES)
            {
                return Some(found);
            }
            starts.start = start + 1;
            failures += 1;
            if start >= run_end {
                let rest = &text[start..];
                run_end = start + rest.iter().position(|byte| !is_in_token(*byte)).unwrap_or(rest.len());
                failures = 1;
            }
        }
        None
    }

    /// Returns where a secret ends that is at least as long as the bound of values: with its run.
    pub(super) fn end_of(&self, text: &[u8], secret: &Range<usize>) -> usize {
        let is_long = secret.len() >= LONGEST_VALUE as usize;
        let tail = self.compiled().ok().filter(|_| is_long).and_then(|compiled| compiled.tail.as_ref());
        let Some(tail) = tail else { return secret.end };
        let rest = &text[secret.end..];
        secret.end + rest.iter().position(|byte| !tail[usize::from(*byte)]).unwrap_or(rest.len())
    }

    fn compiled(&self) -> Result<&Compiled, &str> {
        let compile = || Compiled::of(&self.source, self.is_own);
        self.compiled.get_or_init(compile).as_ref().map_err(String::as_str)
    }
}

impl Compiled {
    fn of(source: &str, is_own: bool) -> Result<Self, String> {
        let parsed = regex_syntax::ParserBuilder::new().unicode(false).utf8(false).build().parse(source);
        let parsed = parsed.map_err(|error| error.to_string())?;
        let parsed = if is_own { bounded(parsed) } else { parsed };
        let mut tail = None;
        bounded_run(&parsed, &mut tail);
        let regex = Regex::builder()
            .configure(Config::new().utf8_empty(false).nfa_size_limit(Some(PATTERN_BYTES)))
            .build_from_hir(&parsed)
            .map_err(|error| error.to_string())?;
        Ok(Self { regex, longest: parsed.properties().maximum_len(), tail: tail.map(Box::new) })
    }

    /// Returns the match that begins at a place, if there is one nearby, or, with `is_far`, anywhere.
    fn at<'t>(&self, text: &'t [u8], start: usize, is_far: bool) -> Option<Groups<'t>> {
        let near = text.len().min(start.saturating_add(self.longest.unwrap_or(NEAR)));
        let found = self.within(text, start..near);
        let is_cut = self.longest.is_none() && near < text.len();
        let is_certain = match &found {
            Some(found) => !is_cut || found.get(0).is_some_and(|whole| whole.end() < near),
            None => !is_cut || !is_far,
        };
        if is_certain { found } else { self.within(text, start..text.len()) }
    }

    fn within<'t>(&self, text: &'t [u8], range: Range<usize>) -> Option<Groups<'t>> {
        let mut groups = self.regex.create_captures();
        self.regex.search_captures(&Input::new(text).range(range).anchored(Anchored::Yes), &mut groups);
        let ranges = (0..groups.group_len()).map(|number| groups.get_group(number).map(|span| span.range()));
        groups.is_match().then(|| Groups::new(text, ranges.collect()))
    }
}

/// Bounds what is repeated without a bound outside of groups, so that no match is looked for in all of a text.
fn bounded(hir: Hir) -> Hir {
    match hir.into_kind() {
        HirKind::Repetition(run) => {
            let is_gap = run.max.is_none() && run.sub.properties().maximum_len() == Some(1);
            let max = if is_gap { Some(run.min.max(LONGEST_GAP)) } else { run.max };
            Hir::repetition(Repetition { max, sub: Box::new(bounded(*run.sub)), ..run })
        }
        HirKind::Concat(parts) => Hir::concat(parts.into_iter().map(bounded).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.into_iter().map(bounded).collect()),
        HirKind::Empty => Hir::empty(),
        HirKind::Literal(literal) => Hir::literal(literal.0),
        HirKind::Class(class) => Hir::class(class),
        HirKind::Look(look) => Hir::look(look),
        HirKind::Capture(group) => Hir::capture(group),
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

/// Whether a byte can be in a token, or in a divided one such as a JSON Web Token.
fn is_in_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~+/=%:".contains(&byte)
}

/// Whether a word begins at a place of a text. In the text of a string, it may follow an escape.
fn begins_word(text: &[u8], at: usize) -> bool {
    match text[..at] {
        [.., b'\\', b'n' | b'r' | b't' | b'b' | b'f'] | [] => true,
        [.., before] => !before.is_ascii_alphanumeric() && before != b'_',
    }
}
