//! What checks come to: breaches of rules, and which rules had anything to check at all.
//!
//! A rule that was never exercised has not passed; it was not observed. So every check goes through
//! [`Findings::check`], whether it holds or not.

use super::{Finding, Rule};
use std::collections::HashSet;

/// What a room makes of a strict misfit of its schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exemption {
    /// It stands as it is.
    None,
    /// It is reported under this rule of the room instead.
    Instead(&'static Rule),
    /// Nothing is said.
    Accepted,
}

/// Breaches found so far, and the rules that were exercised.
#[derive(Debug, Default)]
pub struct Findings {
    list: Vec<Finding>,
    exercised: HashSet<&'static str, foldhash::fast::RandomState>,
}

impl Findings {
    /// Exercises a rule on the event `seq`; where it does not hold, notes what was seen.
    pub fn check(&mut self, rule: &'static Rule, seq: u64, holds: bool, seen: impl FnOnce() -> String) {
        self.exercised.insert(rule.id);
        if !holds {
            self.list.push(Finding { rule, seq: Some(seq), seen: seen() });
        }
    }

    /// Notes a breach at the event `seq`.
    pub fn note(&mut self, rule: &'static Rule, seq: u64, seen: impl Into<String>) {
        self.check(rule, seq, false, || seen.into());
    }

    /// Exercises a rule on the session as a whole.
    pub fn check_overall(&mut self, rule: &'static Rule, holds: bool, seen: impl FnOnce() -> String) {
        self.exercised.insert(rule.id);
        if !holds {
            self.list.push(Finding { rule, seq: None, seen: seen() });
        }
    }

    /// Tells that a rule had something to check, and that it held.
    pub fn hold(&mut self, rule: &'static Rule) {
        self.exercised.insert(rule.id);
    }

    /// Takes the breaches out, in the order they were found.
    pub fn drain(&mut self) -> impl Iterator<Item = Finding> {
        self.list.drain(..)
    }

    /// Whether the rule with this id had anything to check.
    pub fn was_exercised(&self, id: &str) -> bool {
        self.exercised.contains(id)
    }
}

/// Declares rules as constants and lists them all in `RULES`:
/// `NAME = Severity "room/what", "What must hold.", "where it is said";`
macro_rules! rules {
    ($($name:ident = $severity:ident $id:literal, $text:literal, $source:literal;)+) => {
        $(
            pub(crate) const $name: $crate::proposals::Rule = $crate::proposals::Rule {
                id: $id,
                severity: $crate::proposals::Severity::$severity,
                text: $text,
                source: $source,
            };
        )+
        /// The rules.
        pub const RULES: &[$crate::proposals::Rule] = &[$($name),+];
    };
}
pub(crate) use rules;
