//! The results of checks: violations of rules, and the rules that had anything to check at all.
//!
//! A rule that was never exercised has not passed; it was not observed. Therefore all checks use [`Findings::check`],
//! whether the rule holds or not.

use super::{Finding, Rule};
use std::collections::HashSet;

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

/// The violations so far, and the rules that were exercised.
#[derive(Debug, Default)]
pub struct Findings {
    list: Vec<Finding>,
    exercised: HashSet<&'static str, foldhash::fast::RandomState>,
}

impl Findings {
    /// Exercises a rule at the event `seq`, and records what was seen if it does not hold.
    pub fn check(&mut self, rule: &'static Rule, seq: u64, holds: bool, seen: impl FnOnce() -> String) {
        self.exercised.insert(rule.id);
        if !holds {
            self.list.push(Finding { rule, seq: Some(seq), seen: seen() });
        }
    }

    /// Records a violation at the event `seq`.
    pub fn note(&mut self, rule: &'static Rule, seq: u64, seen: impl Into<String>) {
        self.check(rule, seq, false, || seen.into());
    }

    /// Exercises a rule for the session as a whole.
    pub fn check_overall(&mut self, rule: &'static Rule, holds: bool, seen: impl FnOnce() -> String) {
        self.exercised.insert(rule.id);
        if !holds {
            self.list.push(Finding { rule, seq: None, seen: seen() });
        }
    }

    /// Records that a rule had something to check, and that it held.
    pub fn hold(&mut self, rule: &'static Rule) {
        self.exercised.insert(rule.id);
    }

    /// Takes the violations, in the order in which they were found.
    pub fn drain(&mut self) -> impl Iterator<Item = Finding> {
        self.list.drain(..)
    }

    /// Whether the rule with this id had anything to check.
    pub fn was_exercised(&self, id: &str) -> bool {
        self.exercised.contains(id)
    }
}

/// Declares rules as constants and lists them all in `RULES`:
/// `NAME = Severity "proposal/what", "The requirement.", "its source";`, or with our decision where the source leaves a
/// question open (`AMB-…`): `…, "its source, AMB-A1", "The question. What mcpreel assumes.";`
macro_rules! rules {
    ($($name:ident = $severity:ident $id:literal, $text:literal, $source:literal $(, $decision:literal)?;)+) => {
        $(
            pub(crate) const $name: $crate::proposals::Rule = $crate::proposals::Rule {
                id: $id,
                severity: $crate::proposals::Severity::$severity,
                text: $text,
                source: $source,
                decision: [$(Some($decision),)? None][0],
            };
        )+
        /// The rules.
        pub(super) const RULES: &[$crate::proposals::Rule] = &[$($name),+];
    };
}
pub(crate) use rules;
