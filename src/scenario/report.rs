//! The report of a scenario: each expectation with its verdict, each fault with its number of uses, and other problems.

use super::expect::{Expectation, Want};
use super::format::TextPosition;
use crate::wire::units::micros;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// The verdict on an expectation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It was met each time it was decided.
    Passed,
    /// It was not met.
    Failed,
    /// It was never decided, because its step was not reached, or because it cannot be decided here.
    NotReached,
}

impl Verdict {
    /// `passed`, `failed` or `not reached`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::NotReached => "not reached",
        }
    }
}

/// Why an expectation failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The time of the decision, since the host began.
    pub at: Duration,
    /// The repetition, from 1, if its step is repeated.
    pub repeat: Option<u64>,
    /// What is wrong, as a sentence fragment.
    pub why: String,
    /// The beginning of the closest candidate. This is text of a client or server: escape control characters.
    pub nearest: Option<String>,
}

/// An expectation with its verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// Its position in the file.
    pub place: TextPosition,
    /// Its id, if it has one.
    pub id: Option<String>,
    /// A description in words.
    pub what: String,
    /// How often it was decided; more than once in a repeated step.
    pub judged: u64,
    /// How often it failed.
    pub failed: u64,
    /// The first failure.
    pub failure: Option<Failure>,
    /// For `validates`: whether no rule may be broken (`true`), or one must be (`false`).
    validates: Option<bool>,
}

impl Judged {
    pub(super) fn new(expectation: &Expectation) -> Self {
        let validates = match expectation.want {
            Want::Validates(is_clean) => Some(is_clean),
            _ => None,
        };
        let (place, id, what) = (expectation.place, expectation.id.clone(), expectation.what.clone());
        Self { place, id, what, judged: 0, failed: 0, failure: None, validates }
    }

    pub(super) fn take(&mut self, verdict: Result<(), Failure>) {
        self.judged += 1;
        if let Err(failure) = verdict {
            self.failed += 1;
            self.failure.get_or_insert(failure);
        }
    }

    /// The verdict.
    pub fn verdict(&self) -> Verdict {
        match (self.judged, self.failed) {
            (0, _) => Verdict::NotReached,
            (_, 0) => Verdict::Passed,
            _ => Verdict::Failed,
        }
    }
}

/// A fault and its number of uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultHits {
    /// Its position in the file.
    pub place: TextPosition,
    /// How many messages it changed. With none, the scenario does not test it.
    pub hits: u64,
}

/// Something that went wrong without an expectation about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The position of the step or event.
    pub place: TextPosition,
    /// The time, since the host began.
    pub at: Duration,
    /// What, as a sentence fragment.
    pub why: String,
}

/// The report of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The scenario's name.
    pub name: String,
    /// How many steps were done, counting each repetition.
    pub steps: u64,
    /// The duration, in the host's time.
    pub took: Duration,
    /// The expectations, in order of appearance.
    pub expectations: Vec<Judged>,
    /// The faults, in order of appearance.
    pub faults: Vec<FaultHits>,
    /// Other problems: the first thousand.
    pub problems: Vec<Problem>,
}

impl Report {
    pub(super) fn new(name: &str, expectations: &[Arc<Expectation>], faults: Vec<FaultHits>) -> Self {
        let expectations = expectations.iter().map(|expectation| Judged::new(expectation)).collect();
        Self { name: name.to_owned(), steps: 0, took: Duration::ZERO, expectations, faults, problems: Vec::new() }
    }

    /// Adds the validator's errors, one line each. Without this call, `validates` is not reached.
    pub fn validated(&mut self, errors: &[String]) {
        let took = self.took;
        for one in &mut self.expectations {
            let Some(is_clean) = one.validates else { continue };
            let why = match errors.len() {
                0 => "no rule is broken".to_owned(),
                1 => format!("1 error: {}", errors.first().map_or("", String::as_str)),
                count => format!("{count} errors; the first: {}", errors.first().map_or("", String::as_str)),
            };
            let failure = Failure { at: took, repeat: None, why, nearest: None };
            one.take(if is_clean == errors.is_empty() { Ok(()) } else { Err(failure) });
        }
    }

    /// The texts in which there may be something that a client or server said.
    pub(crate) fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let failures = self.expectations.iter_mut().filter_map(|one| one.failure.as_mut());
        let failures = failures.flat_map(|failure| std::iter::once(&mut failure.why).chain(failure.nearest.as_mut()));
        failures.chain(self.problems.iter_mut().map(|problem| &mut problem.why))
    }

    /// The number of expectations with this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.expectations.iter().filter(|one| one.verdict() == verdict).count()
    }

    /// Whether every expectation passed and nothing else went wrong.
    pub fn is_passed(&self) -> bool {
        self.problems.is_empty() && self.expectations.iter().all(|one| one.verdict() == Verdict::Passed)
    }

    /// The report as a JSON object, with times in microseconds. All members are always present; those without a value
    /// are `null`.
    ///
    /// ```json
    /// {"scenario": "…", "passed": false, "steps": 3, "took_us": 2000000,
    ///  "counts": {"passed": 1, "failed": 1, "not_reached": 0},
    ///  "expectations": [{"line": 7, "column": 5, "id": null, "what": "…", "verdict": "failed", "judged": 1,
    ///                    "failed": 1, "failure": {"at_us": 5, "repeat": null, "why": "…", "nearest": "…"}}],
    ///  "faults": [{"line": 3, "column": 5, "hits": 1}],
    ///  "problems": [{"line": 9, "column": 5, "at_us": 5, "why": "…"}]}
    /// ```
    pub fn to_json(&self) -> Value {
        let judged = |one: &Judged| {
            let failure = one.failure.as_ref().map(|failure| {
                json!({"at_us": micros(failure.at), "repeat": failure.repeat, "why": failure.why,
                    "nearest": failure.nearest})
            });
            json!({"line": one.place.line, "column": one.place.column, "id": one.id, "what": one.what,
                "verdict": one.verdict().name(), "judged": one.judged, "failed": one.failed, "failure": failure})
        };
        let fault =
            |fault: &FaultHits| json!({"line": fault.place.line, "column": fault.place.column, "hits": fault.hits});
        let problem = |problem: &Problem| {
            json!({"line": problem.place.line, "column": problem.place.column, "at_us": micros(problem.at),
                "why": problem.why})
        };
        json!({
            "scenario": self.name,
            "passed": self.is_passed(),
            "steps": self.steps,
            "took_us": micros(self.took),
            "counts": {"passed": self.count(Verdict::Passed), "failed": self.count(Verdict::Failed),
                "not_reached": self.count(Verdict::NotReached)},
            "expectations": self.expectations.iter().map(judged).collect::<Vec<_>>(),
            "faults": self.faults.iter().map(fault).collect::<Vec<_>>(),
            "problems": self.problems.iter().map(problem).collect::<Vec<_>>(),
        })
    }
}
