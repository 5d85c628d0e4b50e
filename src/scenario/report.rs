//! What came of a scenario: each expectation with its verdict, each fault with how often it was done, and what went
//! wrong besides.

use super::expect::{Expectation, Want};
use super::format::TextPosition;
use crate::wire::units::micros;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// What an expectation came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It held, each time it was judged.
    Passed,
    /// It did not hold.
    Failed,
    /// It was never judged: its step was not reached, or nobody could tell.
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
    /// When it was decided, since the host began.
    pub at: Duration,
    /// In which repetition, from 1, where its step is repeated.
    pub repeat: Option<u64>,
    /// What is wrong, as a sentence fragment.
    pub why: String,
    /// The beginning of what came nearest. It is a peer's text: make control characters visible.
    pub nearest: Option<String>,
}

/// One expectation, judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// Where it is written.
    pub place: TextPosition,
    /// Its id, where it has one.
    pub id: Option<String>,
    /// What is expected, in words.
    pub what: String,
    /// How often it was judged; more than once in a repeated step.
    pub judged: u64,
    /// How often it failed then.
    pub failed: u64,
    /// The first failure.
    pub failure: Option<Failure>,
    /// It asks about rules, and wants breaches (`false`) or none (`true`).
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

    /// What it came to.
    pub fn verdict(&self) -> Verdict {
        match (self.judged, self.failed) {
            (0, _) => Verdict::NotReached,
            (_, 0) => Verdict::Passed,
            _ => Verdict::Failed,
        }
    }
}

/// A fault, and how often it was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultHits {
    /// Where it is written.
    pub place: TextPosition,
    /// How many messages it was done to. With none, the scenario shows nothing about it.
    pub hits: u64,
}

/// Something that went wrong and that nothing expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The step's or event's place.
    pub place: TextPosition,
    /// When, since the host began.
    pub at: Duration,
    /// What, as a sentence fragment.
    pub why: String,
}

/// What came of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The scenario's name.
    pub name: String,
    /// How many steps were done; repeated ones count each time.
    pub steps: u64,
    /// How long it took by the host's time.
    pub took: Duration,
    /// The expectations, in the order in which they are written.
    pub expectations: Vec<Judged>,
    /// The faults, in the order in which they are written.
    pub faults: Vec<FaultHits>,
    /// What else went wrong: the first thousand.
    pub problems: Vec<Problem>,
}

impl Report {
    pub(super) fn new(name: &str, expectations: &[Arc<Expectation>], faults: Vec<FaultHits>) -> Self {
        let expectations = expectations.iter().map(|expectation| Judged::new(expectation)).collect();
        Self { name: name.to_owned(), steps: 0, took: Duration::ZERO, expectations, faults, problems: Vec::new() }
    }

    /// Fills in what the validator found: its errors, each as one line. Without this, `validates` is not reached.
    pub fn validated(&mut self, errors: &[String]) {
        let took = self.took;
        for one in &mut self.expectations {
            let Some(is_clean) = one.validates else { continue };
            let why = match errors.len() {
                0 => "no rule is broken".to_owned(),
                count => format!("{count} errors; the first: {}", errors.first().map_or("", String::as_str)),
            };
            let failure = Failure { at: took, repeat: None, why, nearest: None };
            one.take(if is_clean == errors.is_empty() { Ok(()) } else { Err(failure) });
        }
    }

    /// How many expectations came to this.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.expectations.iter().filter(|one| one.verdict() == verdict).count()
    }

    /// Whether every expectation passed, and nothing else went wrong.
    pub fn is_passed(&self) -> bool {
        self.problems.is_empty() && self.expectations.iter().all(|one| one.verdict() == Verdict::Passed)
    }

    /// The report as one JSON object; times in microseconds. Members are always there, `null` where there is nothing.
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
