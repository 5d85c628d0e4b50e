//! The results of checks: violations of rules, and the rules that had anything to check at all.
//!
//! A rule that was never exercised has not passed; it was not observed. Therefore all checks use [`Findings::check`],
//! whether the rule holds or not.

use super::{Finding, Rule};
use std::collections::{BTreeMap, HashMap};

/// What a proposal decides about a violation of its strict schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exemption {
    /// It is reported as a violation of the schema.
    None,
    /// It is reported as a violation of this rule of the proposal instead.
    Instead(&'static Rule),
    /// It is not reported.
    Accepted,
}

/// How often a rule was checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The number of checks.
    pub checked: u64,
    /// The number of checks that failed.
    pub failed: u64,
    /// A table was full, so that a violation may have been missed.
    pub gave_up: bool,
}

/// What came of a rule in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It held each time.
    Passed,
    /// It was violated.
    Failed,
    /// It is about another revision or another transport.
    NotApplicable,
    /// Nothing in the session could violate it, or not everything that could was checked.
    NotObserved,
}

impl Tally {
    /// Returns the verdict of a rule that applies to the session.
    pub fn verdict(self) -> Verdict {
        match self {
            Self { failed: 1.., .. } => Verdict::Failed,
            Self { gave_up: true, .. } | Self { checked: 0, .. } => Verdict::NotObserved,
            _ => Verdict::Passed,
        }
    }
}

/// The violations so far, and how often each rule was checked.
#[derive(Debug, Default)]
pub struct Findings {
    list: Vec<Finding>,
    /// How many of the list are about other messages of the same batch, or about the batch.
    others: usize,
    /// By the address of the rule's id, which costs less than its text. One id may have several addresses.
    tallies: HashMap<usize, (&'static str, Tally), foldhash::fast::RandomState>,
    /// By the address of the group: its rules, and how often all of them held.
    groups: HashMap<usize, (&'static [&'static Rule], u64), foldhash::fast::RandomState>,
}

impl Findings {
    /// Exercises a rule at the event `seq`, and records what was seen if it does not hold.
    pub fn check(&mut self, rule: &'static Rule, seq: u64, holds: bool, seen: impl FnOnce() -> String) {
        self.count(rule, holds);
        if !holds {
            self.list.push(Finding::at(rule, seq, seen()));
        }
    }

    /// Records a violation at the event `seq`.
    pub fn note(&mut self, rule: &'static Rule, seq: u64, seen: impl Into<String>) {
        self.check(rule, seq, false, || seen.into());
    }

    /// Records a violation at one place in the message of the event `seq`. `path` is a JSON Pointer into the message.
    pub fn note_at(&mut self, rule: &'static Rule, seq: u64, path: String, seen: impl Into<String>) {
        self.count(rule, false);
        self.list.push(Finding { path: Some(path), ..Finding::at(rule, seq, seen.into()) });
    }

    /// Notes that the next message of a batch begins.
    pub(crate) fn begin_item(&mut self) {
        self.others = self.list.len();
    }

    /// Sets the method of the message at the event `seq` in the violations that were found there since the last
    /// [`Self::begin_item`] and [`Self::drain`].
    pub fn name_method(&mut self, seq: u64, method: Option<&str>) {
        let unnamed = |found: &&mut Finding| found.seq == Some(seq) && found.method.is_none();
        self.list[self.others..].iter_mut().filter(unnamed).for_each(|found| found.method = method.map(str::to_owned));
    }

    /// Exercises a rule for the session as a whole.
    pub fn check_overall(&mut self, rule: &'static Rule, holds: bool, seen: impl FnOnce() -> String) {
        self.count(rule, holds);
        if !holds {
            self.list.push(Finding::overall(rule, seen()));
        }
    }

    /// Records that a rule had something to check, and that it held.
    pub fn hold(&mut self, rule: &'static Rule) {
        self.count(rule, true);
    }

    /// Records that all rules of a group had something to check, and that they held. For rules that every message
    /// exercises, this takes much less time than one call for each.
    pub fn hold_all(&mut self, group: &'static [&'static Rule]) {
        self.groups.entry(group.as_ptr().addr()).or_insert((group, 0)).1 += 1;
    }

    /// Records that a rule was not checked because a table was full.
    pub fn give_up(&mut self, rule: &'static Rule) {
        self.tally(rule).gave_up = true;
    }

    /// Records that a message was not checked against these rules because the table with what it is about has forgotten
    /// some entries, if it has.
    pub fn give_up_if(&mut self, has_forgotten: bool, rules: &[&'static Rule]) {
        rules.iter().filter(|_| has_forgotten).for_each(|rule| self.give_up(rule));
    }

    fn count(&mut self, rule: &'static Rule, holds: bool) {
        let tally = self.tally(rule);
        tally.checked += 1;
        tally.failed += u64::from(!holds);
    }

    fn tally(&mut self, rule: &'static Rule) -> &mut Tally {
        &mut self.tallies.entry(rule.id.as_ptr().addr()).or_insert((rule.id, Tally::default())).1
    }

    /// Takes the violations, in the order in which they were found.
    pub fn drain(&mut self) -> impl Iterator<Item = Finding> {
        self.others = 0;
        self.list.drain(..)
    }

    /// Returns how often each rule was checked, by its id.
    pub fn tallies(&self) -> BTreeMap<&'static str, Tally> {
        let mut all: BTreeMap<&'static str, Tally> = BTreeMap::new();
        for (id, tally) in self.tallies.values() {
            let sum = all.entry(id).or_default();
            sum.checked += tally.checked;
            sum.failed += tally.failed;
            sum.gave_up |= tally.gave_up;
        }
        for (rule, times) in self.groups.values().flat_map(|(group, times)| group.iter().map(move |it| (it, times))) {
            all.entry(rule.id).or_default().checked += times;
        }
        all
    }
}

/// Declares rules as constants and lists them all in `RULES`:
/// `NAME = Severity "proposal/what", "The requirement.", "its source";`. Where the source leaves a question open
/// (`AMB-…`), our decision follows: `…, assumes open_questions::A1;`, a text that says the question and what mcpreel
/// assumes. Last comes what to do about a violation: `…, fix "What to do.";`.
macro_rules! rules {
    ($($name:ident = $severity:ident $id:literal, $text:literal, $source:literal
        $(, assumes $decision:expr)?, fix $fix:literal;)+) => {
        $(
            pub(crate) const $name: $crate::proposals::Rule = $crate::proposals::Rule {
                id: $id,
                severity: $crate::proposals::Severity::$severity,
                text: $text,
                source: $source,
                decision: [$(Some($decision),)? None][0],
                fix: Some($fix),
            };
        )+
        /// The rules.
        pub(super) const RULES: &[$crate::proposals::Rule] = &[$($name),+];
    };
}
pub(crate) use rules;
