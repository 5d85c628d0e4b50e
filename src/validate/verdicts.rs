//! What came of each rule on one connection: kept as counts, so that a thousand connections take little memory. The
//! lists are derived when they are printed.

use super::{all_rules, http, subject};
use crate::proposals::Registry;
use crate::proposals::findings::{Tally, Verdict};
use crate::protocol::{Era, Revision};
use std::collections::{BTreeMap, HashSet};

/// The rules that are about a connection, as far as its revision and its transport decide that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Scope {
    pub era: Option<Era>,
    pub revision: Option<Revision>,
    /// It uses Streamable HTTP.
    pub is_http: bool,
}

impl Scope {
    /// Returns the ids of the rules that are not about the connection.
    fn others(self) -> HashSet<&'static str, foldhash::fast::RandomState> {
        let of_http = (!self.is_http).then(http::rules).into_iter().flatten().map(|rule| rule.id);
        subject::not_applicable(self.era, self.revision).chain(of_http).collect()
    }
}

/// What came of each rule on one connection.
#[derive(Clone, Debug)]
pub struct Verdicts {
    /// The rules that were checked, sorted by id.
    tallies: Box<[(&'static str, Tally)]>,
    scope: Scope,
    registry: &'static Registry,
}

impl Default for Verdicts {
    fn default() -> Self {
        Self { tallies: Box::default(), scope: Scope::default(), registry: Registry::built_in() }
    }
}

impl PartialEq for Verdicts {
    fn eq(&self, other: &Self) -> bool {
        self.tallies == other.tallies && self.scope == other.scope && std::ptr::eq(self.registry, other.registry)
    }
}

impl Eq for Verdicts {}

impl Verdicts {
    pub(super) fn new(tallies: BTreeMap<&'static str, Tally>, scope: Scope, registry: &'static Registry) -> Self {
        Self { tallies: tallies.into_iter().collect(), scope, registry }
    }

    /// Returns how often each rule was checked, by its id.
    pub fn tallies(&self) -> impl Iterator<Item = (&'static str, Tally)> {
        self.tallies.iter().copied()
    }

    /// Returns each rule's id with its verdict.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, Verdict)> {
        let others = self.scope.others();
        all_rules(self.registry).map(move |rule| {
            let verdict = match self.tally(rule.id) {
                tally if tally.checked == 0 && others.contains(rule.id) => Verdict::NotApplicable,
                tally => tally.verdict(),
            };
            (rule.id, verdict)
        })
    }

    /// Returns the ids of the rules that had something to check.
    pub fn exercised(&self) -> impl Iterator<Item = &'static str> {
        self.all().filter(|(_, verdict)| matches!(verdict, Verdict::Passed | Verdict::Failed)).map(|(id, _)| id)
    }

    /// Returns the ids of the rules that had nothing to check. They did not pass; they were not observed.
    pub fn not_observed(&self) -> impl Iterator<Item = &'static str> {
        self.all().filter(|(_, verdict)| *verdict == Verdict::NotObserved).map(|(id, _)| id)
    }

    /// Returns the ids of the rules that are about another revision or another transport.
    pub fn not_applicable(&self) -> impl Iterator<Item = &'static str> {
        self.all().filter(|(_, verdict)| *verdict == Verdict::NotApplicable).map(|(id, _)| id)
    }

    fn tally(&self, id: &str) -> Tally {
        let found = self.tallies.binary_search_by(|(other, _)| (*other).cmp(id));
        found.ok().and_then(|at| self.tallies.get(at)).map_or_else(Tally::default, |(_, tally)| *tally)
    }
}
