//! Results for other programs: cases with verdicts and problems, whatever was checked. Rules that a session breaks,
//! expectations of a scenario and answers of a replayed server all become cases; [`Form::write`] writes them in the
//! forms that build servers and code hosts read.
//!
//! The same results always give the same bytes.

mod github;
mod junit;
mod markdown;
mod sarif;

use std::fmt::{self, Write};
use std::ops::Range;
use std::time::Duration;

/// Everything that was checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Results {
    /// What was checked, as a heading.
    pub title: String,
    /// The suites: one for each session or scenario.
    pub suites: Vec<Suite>,
    /// What the names of cases mean, if they are names of rules.
    pub rules: Vec<RuleHelp>,
    /// What readers should know about all of it, such as how many problems do not count.
    pub notes: Vec<String>,
}

/// The cases of one session or scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Suite {
    /// Its name.
    pub name: String,
    /// When it began, in Unix nanoseconds; 0 if that is unknown.
    pub began: i64,
    /// How long it took.
    pub took: Duration,
    /// The cases.
    pub cases: Vec<Case>,
}

/// One thing that was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Case {
    /// What was checked: the name of a rule, or a phrase.
    pub name: String,
    /// The group that it belongs to: a file and line, or the family of a rule.
    pub class: String,
    /// The verdict.
    pub verdict: CaseVerdict,
    /// How long it took.
    pub took: Duration,
    /// What is wrong, the worst first. A case that passed may have problems that do not count.
    pub problems: Vec<Problem>,
}

/// The verdict on a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CaseVerdict {
    /// It passed.
    Passed,
    /// It failed.
    Failed,
    /// It was not checked, and why.
    Skipped(String),
    /// It could not be checked, because what it needs failed.
    Broken,
}

impl CaseVerdict {
    /// Returns whether it is bad for the whole.
    fn is_bad(&self) -> bool {
        matches!(self, Self::Failed | Self::Broken)
    }
}

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// Worth knowing.
    Note,
    /// Likely to cause trouble.
    Warning,
    /// Wrong.
    Error,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// How bad it is.
    pub level: Level,
    /// What is wrong, on one line.
    pub message: String,
    /// More about it, in one or more lines.
    pub details: Option<String>,
    /// Where.
    pub location: Option<Location>,
    /// Why it does not count, if it does not.
    pub excused: Option<String>,
    /// A text that stays the same when the same problem is found again elsewhere in a file.
    pub fingerprint: Option<String>,
}

/// A place in a text file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Location {
    /// The path of the file.
    pub file: String,
    /// The number of the line, from 1; 0 if it is unknown.
    pub line: u64,
    /// The columns in the line, in characters from 1, if they are known.
    pub columns: Option<Range<usize>>,
    /// The place inside the line: a JSON Pointer, or empty.
    pub path: String,
    /// The text there.
    pub snippet: Option<String>,
}

/// What a rule requires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RuleHelp {
    /// Its name, which is the name of its cases.
    pub id: String,
    /// The level of a violation, unless the user chose another.
    pub level: Level,
    /// The requirement, as a sentence.
    pub title: String,
    /// More about it.
    pub help: String,
}

/// A form in which results are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// JUnit XML.
    Junit,
    /// SARIF 2.1.0.
    Sarif,
    /// Annotations of GitHub Actions.
    Github,
    /// A summary in Markdown.
    Markdown,
}

impl Form {
    /// Writes the results.
    ///
    /// # Errors
    ///
    /// If writing fails.
    pub(crate) fn write(self, results: &Results, out: &mut impl Write) -> fmt::Result {
        match self {
            Self::Junit => junit::write(results, out),
            Self::Sarif => sarif::write(results, out),
            Self::Github => github::write(results, out),
            Self::Markdown => markdown::write(results, out),
        }
    }
}

impl Level {
    /// Returns `note`, `warning` or `error`, as SARIF spells them.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl Location {
    /// Returns the place in words: `session.jsonl:12 at /params/name`.
    fn text(&self) -> String {
        let line = if self.line == 0 { String::new() } else { format!(":{}", self.line) };
        let path = if self.path.is_empty() { String::new() } else { format!(" at {}", self.path) };
        format!("{}{line}{path}", self.file)
    }
}

impl Problem {
    /// Returns the details, if they are lines of a difference: a single line shows only what is at the location.
    fn lines(&self) -> Option<&str> {
        self.details.as_deref().filter(|details| details.contains('\n'))
    }
}

impl Suite {
    /// Returns the suite of what could not be checked, or not to its end: `name` is the file, or the command.
    pub(crate) fn broken(name: &str, message: &str, hints: &[String]) -> Self {
        let details = (!hints.is_empty()).then(|| hints.join("\n"));
        let message = message.to_owned();
        let problem =
            Problem { level: Level::Error, message, details, location: None, excused: None, fingerprint: None };
        let (name, class) = (name.to_owned(), "mcpreel".to_owned());
        let verdict = CaseVerdict::Broken;
        let case = Case { name: name.clone(), class, verdict, took: Duration::ZERO, problems: vec![problem] };
        Self { name, cases: vec![case], ..Self::default() }
    }

    /// Returns the number of cases that failed.
    fn failed(&self) -> usize {
        self.cases.iter().filter(|case| case.verdict == CaseVerdict::Failed).count()
    }

    /// Returns the number of cases that could not be checked.
    fn broken_cases(&self) -> usize {
        self.cases.iter().filter(|case| case.verdict == CaseVerdict::Broken).count()
    }

    /// Returns the number of cases that were not checked.
    fn skipped(&self) -> usize {
        self.cases.iter().filter(|case| matches!(case.verdict, CaseVerdict::Skipped(_))).count()
    }
}

impl Results {
    /// Returns all problems with their cases.
    fn problems(&self) -> impl Iterator<Item = (&Case, &Problem)> {
        let cases = self.suites.iter().flat_map(|suite| &suite.cases);
        cases.flat_map(|case| case.problems.iter().map(move |problem| (case, problem)))
    }
}

#[cfg(test)]
mod tests;
