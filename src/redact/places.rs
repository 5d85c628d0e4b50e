//! Finds where secrets can be in a text: one scan for all texts that detectors need nearby, and one for long runs. Most texts
//! have none of them, and cost no more than these scans.

use super::detectors::{NameOf, Run};
use super::encoding::percent_decoded;
use super::names;
use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::ops::Range;

/// A rule with more places than this in a text is searched in the rest of it at once, which takes time in proportion to the
/// text, and no memory.
const MAX_PLACES: usize = 32;
/// The longest name, before and after what makes it interesting. Unit: bytes.
const LONGEST_NAME: usize = 64;
/// The maximum number of remembered names; with it, all of them are forgotten.
const MAX_NAMES: usize = 32 << 10;
/// How far behind a telling name what a rule needs beside it is looked for. Unit: bytes.
const BESIDE: usize = 64;
/// Where a match in a run may begin before it: at a boundary, or an escape. Unit: bytes.
const BEFORE_RUN: usize = 2;

/// What a text of the scan says.
#[derive(Clone)]
enum Sign {
    /// A rule may match here, if this is the spelling.
    Start(usize, Option<String>),
    /// A rule may match this far before.
    Near(usize, usize),
    /// There may be a telling name, perhaps with the words beside it.
    Name(bool),
}

/// A rule that searches near telling names.
struct NearName {
    rule: usize,
    of: NameOf,
    /// One of these bytes stands near the name.
    beside: &'static [u8],
    /// How far before it a match may begin.
    reach: usize,
}

impl NearName {
    /// Returns where a match may begin.
    fn place(&self, text: &[u8], name: &Range<usize>) -> Option<Range<usize>> {
        let start = name.start.saturating_sub(self.reach);
        let around = &text[start..text.len().min(name.end + BESIDE)];
        let has_it = match self.beside {
            [one] => memchr::memchr(*one, around).is_some(),
            [one, other] => memchr::memchr2(*one, *other, around).is_some(),
            _ => around.iter().any(|byte| self.beside.contains(byte)),
        };
        has_it.then_some(start..name.end)
    }
}

/// Finds places.
pub(super) struct Places {
    texts: AhoCorasick,
    signs: Vec<Sign>,
    near_names: Vec<NearName>,
    in_runs: Vec<(usize, Run)>,
    anywhere: Vec<usize>,
    names: Names,
}

/// Collects what rules need.
#[derive(Default)]
pub(super) struct Builder {
    texts: Vec<String>,
    signs: Vec<Sign>,
    near_names: Vec<NearName>,
    in_runs: Vec<(usize, Run)>,
    anywhere: Vec<usize>,
}

impl Builder {
    pub(super) fn anywhere(&mut self, rule: usize) {
        self.anywhere.push(rule);
    }

    pub(super) fn near_text<'a>(
        &mut self,
        (rule, pattern): (usize, &str),
        texts: impl IntoIterator<Item = &'a str>,
        reach: usize,
    ) {
        let plain = pattern.replace('\\', "");
        let lower = plain.to_ascii_lowercase();
        for text in texts {
            // In a pattern that has it as it is, and ignores no case, only this spelling matches.
            let at = lower.find(text).filter(|_| !lower.contains("(?i"));
            let spelling = at.and_then(|at| plain.get(at..at + text.len())).map(str::to_owned);
            self.texts.push(text.to_owned());
            self.signs.push(if reach == 0 { Sign::Start(rule, spelling) } else { Sign::Near(rule, reach) });
        }
    }

    pub(super) fn near_name(&mut self, rule: usize, of: NameOf, beside: &'static [u8], reach: usize) {
        self.near_names.push(NearName { rule, of, beside, reach });
    }

    pub(super) fn in_run(&mut self, rule: usize, run: Run) {
        self.in_runs.push((rule, run));
    }

    /// Ends the collection. The kind decides between speed and memory.
    ///
    /// # Errors
    ///
    /// If there are too many texts.
    pub(super) fn build(mut self, kind: AhoCorasickKind) -> Result<Places, String> {
        if !self.near_names.is_empty() {
            for word in names::VOCABULARY {
                self.texts.push(word.to_owned());
                self.signs.push(Sign::Name(names::IN_PHRASES.contains(&word)));
            }
            self.texts.extend(names::foreign_spellings());
            self.signs.resize(self.texts.len(), Sign::Name(false));
        }
        let texts = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .kind(Some(kind))
            .build(&self.texts)
            .map_err(|error| error.to_string())?;
        let Self { signs, near_names, in_runs, anywhere, .. } = self;
        Ok(Places { texts, signs, near_names, in_runs, anywhere, names: Names::default() })
    }
}

/// The places where the matches of a rule may begin, in order.
#[derive(Default)]
struct Starts(Vec<Range<usize>>);

impl Starts {
    /// Adds a place in a text of this length. Places that touch are one.
    fn push(&mut self, place: Range<usize>, length: usize) {
        let count = self.0.len();
        match self.0.last_mut() {
            Some(last) if last.end > place.start => last.end = last.end.max(place.end),
            Some(last) if count == MAX_PLACES => last.end = length,
            _ => self.0.push(place),
        }
    }
}

impl Places {
    /// Returns whether a name suggests that its value is a secret.
    pub(super) fn is_secret(&self, name: &str) -> bool {
        self.names.tells(name.as_bytes())[NameOf::Value as usize]
    }

    /// Returns the rules that may match in a text, in order, each with the places where a match may begin. `may_begin` is asked
    /// about a rule and a place where what it needs is.
    pub(super) fn find(
        &self,
        text: &[u8],
        may_begin: impl Fn(usize, usize) -> bool,
    ) -> Vec<(usize, Vec<Range<usize>>)> {
        let mut found = Found::default();
        for rule in &self.anywhere {
            found.push(*rule, 0..text.len() + 1, text.len());
        }
        let mut last_name = 0;
        for hit in self.texts.find_overlapping_iter(text) {
            match &self.signs[hit.pattern().as_usize()] {
                Sign::Start(rule, spelling) => {
                    let is_spelled = |spelling: &String| text[hit.range()] == *spelling.as_bytes();
                    if spelling.as_ref().is_none_or(is_spelled) && may_begin(*rule, hit.start()) {
                        found.push(*rule, hit.start()..hit.start() + 1, text.len());
                    }
                }
                Sign::Near(rule, reach) => {
                    found.push(*rule, hit.start().saturating_sub(*reach)..hit.end(), text.len());
                }
                Sign::Name(in_phrase) if hit.end() > last_name => {
                    let name = word(text, hit.range());
                    last_name = name.end;
                    let tells = self.names.tell(text, &name, *in_phrase);
                    for near in self.near_names.iter().filter(|near| tells[near.of as usize]) {
                        if let Some(place) = near.place(text, &name) {
                            found.push(near.rule, place, text.len());
                        }
                    }
                }
                Sign::Name(_) => {}
            }
        }
        for (rule, run) in &self.in_runs {
            each_run(text, *run, |place| {
                found.push(*rule, place.start.saturating_sub(BEFORE_RUN)..place.end, text.len())
            });
        }
        found.finish()
    }
}

#[derive(Default)]
struct Found(Vec<(usize, Starts)>);

impl Found {
    fn push(&mut self, rule: usize, range: Range<usize>, end: usize) {
        let at = match self.0.iter().position(|(known, _)| *known == rule) {
            Some(at) => at,
            None => {
                self.0.push((rule, Starts::default()));
                self.0.len() - 1
            }
        };
        self.0[at].1.push(range, end);
    }

    fn finish(mut self) -> Vec<(usize, Vec<Range<usize>>)> {
        self.0.sort_by_key(|(rule, _)| *rule);
        self.0.into_iter().map(|(rule, starts)| (rule, starts.0)).collect()
    }
}

/// Whether a byte can be in a name.
fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | 128..)
}

/// Extends a part of a name to all of it.
fn word(text: &[u8], part: Range<usize>) -> Range<usize> {
    let first = part.start.saturating_sub(LONGEST_NAME);
    let start = text[first..part.start].iter().rposition(|byte| !is_name(*byte)).map_or(first, |at| first + at + 1);
    let last = text.len().min(part.end + LONGEST_NAME);
    let end = text[part.end..last].iter().position(|byte| !is_name(*byte)).map_or(last, |length| part.end + length);
    start..end
}

/// What names suggest, as far as they were asked for.
#[derive(Default)]
struct Names(Mutex<HashMap<Vec<u8>, [bool; 3], foldhash::fast::RandomState>>);

impl Names {
    /// Returns of what a name in a text suggests a secret: a value, also together with the words beside it (`api key`), an
    /// option, or a parameter.
    fn tell(&self, text: &[u8], name: &Range<usize>, in_phrase: bool) -> [bool; 3] {
        let [value, flag, _] = self.tells(&text[name.clone()]);
        let is_parameter = || {
            let before = text[..name.start].iter().rev().take_while(|byte| is_name(**byte) || **byte == b'%');
            let start = name.start - before.take(LONGEST_NAME).count();
            self.tells(&percent_decoded(&text[start..name.end]))[NameOf::Parameter as usize]
        };
        [
            value || in_phrase && self.is_telling_with_neighbours(text, name),
            flag && text[name.start] == b'-',
            matches!(text.get(name.end), Some(b'=' | b'%')) && is_parameter(),
        ]
    }

    fn is_telling_with_neighbours(&self, text: &[u8], name: &Range<usize>) -> bool {
        let between = |byte: &&u8| matches!(byte, b' ' | b'\t');
        let gap = text[..name.start].iter().rev().take_while(between).count();
        let before = name.start - gap;
        let previous = match gap {
            1..=2 if before > 0 && is_name(text[before - 1]) => word(text, before - 1..before).start,
            _ => name.start,
        };
        let gap = text[name.end..].iter().take_while(between).count();
        let after = name.end + gap;
        let next = match gap {
            1..=2 if text.get(after).is_some_and(|byte| is_name(*byte)) => word(text, after..after + 1).end,
            _ => name.end,
        };
        previous < name.start && self.tells(&text[previous..name.end])[NameOf::Value as usize]
            || next > name.end && self.tells(&text[previous..next])[NameOf::Value as usize]
    }

    fn tells(&self, name: &[u8]) -> [bool; 3] {
        if let Some(known) = self.0.lock().get(name) {
            return *known;
        }
        let text = String::from_utf8_lossy(name);
        let tells = [names::is_secret(&text), names::is_reporting(&text), names::is_secret_parameter(&text)];
        let mut known = self.0.lock();
        if known.len() == MAX_NAMES {
            known.clear();
        }
        known.insert(name.to_vec(), tells);
        tells
    }
}

impl Run {
    /// The minimum length of a run that is looked at.
    const fn shortest(self) -> usize {
        match self {
            Self::Token => 24,
            Self::Digits => 13,
            Self::Account => 15,
        }
    }

    /// Whether a run can be what is looked for.
    fn is_worth(self, run: &[u8]) -> bool {
        match self {
            Self::Token => true,
            Self::Digits => run.iter().filter(|byte| byte.is_ascii_digit()).count() >= self.shortest(),
            Self::Account => run
                .windows(4)
                .any(|four| four[..2].iter().all(u8::is_ascii_uppercase) && four[2..].iter().all(u8::is_ascii_digit)),
        }
    }

    const fn table(self) -> [bool; 256] {
        let mut table = [false; 256];
        let mut at = 0;
        while at < 256 {
            let byte = at as u8;
            table[at] = match self {
                Self::Token => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'_' | b'=' | b'-'),
                Self::Digits => byte.is_ascii_digit() || matches!(byte, b' ' | b'-'),
                Self::Account => byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' ',
            };
            at += 1;
        }
        table
    }
}

static TABLES: [[bool; 256]; 3] = [Run::Token.table(), Run::Digits.table(), Run::Account.table()];

/// Passes on all long runs. Where there are none, it looks at few bytes.
fn each_run(text: &[u8], run: Run, mut visit: impl FnMut(Range<usize>)) {
    let table = &TABLES[run as usize];
    let is_in = |at: usize| table[usize::from(text[at])];
    let mut at = 0;
    while at + run.shortest() <= text.len() {
        let last = at + run.shortest() - 1;
        let mut start = last + 1;
        while start > at && is_in(start - 1) {
            start -= 1;
        }
        if start > at {
            at = start;
            continue;
        }
        let end =
            text[last..].iter().position(|byte| !table[usize::from(*byte)]).map_or(text.len(), |rest| last + rest);
        if run.is_worth(&text[at..end]) {
            visit(at..end);
        }
        at = end + 1;
    }
}
