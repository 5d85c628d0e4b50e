//! Turns the check of reels into results for other programs: one suite for each session, one case for each rule.

use super::findings::excused;
use super::results::{Case, CaseVerdict, Level, Location, Problem, Results, RuleHelp, Suite};
use crate::check::baseline::Identity;
use crate::check::settings::Settings;
use crate::check::{CheckedReel, Located, Run, Standing};
use crate::proposals::findings::Verdict;
use crate::proposals::{Rule, Severity};
use crate::wire::text::counted;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Why the case of a rule is skipped.
const NOT_APPLICABLE: &str = "not applicable: the rule is about another revision or another transport";
const NOT_OBSERVED: &str = "not observed: the session had nothing to check";

/// Returns the results of a run. `rules` are all rules of the validator.
pub(crate) fn results(run: &Run, settings: &Settings, rules: &[&'static Rule]) -> Results {
    let sessions = run.reels.iter().flat_map(|reel| sessions(reel, settings, rules));
    let stale = (!run.stale.is_empty()).then(|| stale(&run.stale));
    let violated: BTreeSet<&str> = run.reels.iter().flat_map(|reel| reel.checked.violated.iter().copied()).collect();
    let help = rules.iter().filter(|rule| violated.contains(rule.id)).map(|rule| help(rule));
    Results {
        title: "mcpreel validate".to_owned(),
        suites: sessions.chain(stale).collect(),
        rules: help.collect(),
        notes: notes(run),
    }
}

fn notes(run: &Run) -> Vec<String> {
    let not_counted = excused(&run.counts()).map(|text| format!("not counted: {text}"));
    let not_kept: u64 = run.reels.iter().flat_map(|reel| reel.checked.not_kept.values()).sum();
    let not_kept = (not_kept > 0).then(|| format!("not listed: {}", counted(not_kept, "more finding")));
    let exceeded = run.exceeded.iter().map(|entry| format!("more than in the baseline: {}", entry.text()));
    not_counted.into_iter().chain(not_kept).chain(exceeded).collect()
}

fn help(rule: &Rule) -> RuleHelp {
    let fix = rule.fix.map(|fix| format!(" Fix: {fix}")).unwrap_or_default();
    let help = format!("{}{fix} Source: {}. More: mcpreel explain {}", rule.text, rule.source, rule.id);
    RuleHelp { id: rule.id.to_owned(), level: level(rule.severity), title: rule.text.to_owned(), help }
}

fn level(severity: Severity) -> Level {
    match severity {
        Severity::Info => Level::Note,
        Severity::Warning => Level::Warning,
        Severity::Error => Level::Error,
    }
}

/// One suite for each session of a reel, and one for its damage.
fn sessions(reel: &CheckedReel, settings: &Settings, rules: &[&'static Rule]) -> Vec<Suite> {
    let streams = reel.streams();
    let name = |stream: u32| match streams.len() {
        1 => reel.name.clone(),
        _ => format!("{} #{stream}", reel.name),
    };
    let suite = |stream: &u32| {
        let session = Session::new(reel, *stream);
        let cases = rules.iter().filter_map(|rule| session.case(rule, settings)).collect();
        Suite { name: name(*stream), began: reel.began, took: Duration::ZERO, cases }
    };
    let mut suites: Vec<Suite> = streams.iter().map(suite).collect();
    if !reel.checked.damages.is_empty() {
        let problems = reel.checked.damages.iter().map(|damage| plain(damage.clone(), reel)).collect();
        let case = failed("reel/damage", "reel", problems);
        suites.push(Suite { name: reel.name.clone(), began: reel.began, took: Duration::ZERO, cases: vec![case] });
    }
    suites
}

/// A session of a reel, for its cases.
struct Session<'a> {
    reel: &'a CheckedReel,
    found: BTreeMap<&'static str, Vec<&'a Located>>,
    verdicts: BTreeMap<&'static str, Verdict>,
}

impl<'a> Session<'a> {
    fn new(reel: &'a CheckedReel, stream: u32) -> Self {
        let mut found: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for one in reel.checked.findings.iter().filter(|one| one.finding.stream == stream) {
            found.entry(one.finding.rule.id).or_default().push(one);
        }
        let facts = reel.checked.connections.iter().find(|facts| facts.stream == stream);
        let verdicts = facts.map(|facts| facts.verdicts.all().collect());
        Self { reel, found, verdicts: verdicts.unwrap_or_default() }
    }

    /// The case of a rule; none if the user does not want the rule checked.
    fn case(&self, rule: &'static Rule, settings: &Settings) -> Option<Case> {
        settings.severity(rule)?;
        let found = self.found.get(rule.id).map(Vec::as_slice).unwrap_or_default();
        let fails = |one: &&Located| one.standing == Standing::Counted && settings.fail_on.is_met(one.severity);
        let verdict = match self.verdicts.get(rule.id) {
            _ if found.iter().any(fails) => CaseVerdict::Failed,
            _ if !found.is_empty() => CaseVerdict::Passed,
            Some(Verdict::Passed | Verdict::Failed) => CaseVerdict::Passed,
            Some(Verdict::NotApplicable) => CaseVerdict::Skipped(NOT_APPLICABLE.to_owned()),
            Some(Verdict::NotObserved) | None => CaseVerdict::Skipped(NOT_OBSERVED.to_owned()),
        };
        let problems = found.iter().map(|one| problem(self.reel, one)).collect();
        let class = rule.id.split('/').next().unwrap_or_default().to_owned();
        Some(Case { name: rule.id.to_owned(), class, verdict, took: Duration::ZERO, problems })
    }
}

fn problem(reel: &CheckedReel, found: &Located) -> Problem {
    let path = found.finding.path.clone().unwrap_or_default();
    let snippet = found.excerpt.as_ref().map(|excerpt| excerpt.marked.clone());
    let location = match reel.line(found) {
        Some(line) => {
            let columns = found.excerpt.as_ref().and_then(|excerpt| excerpt.columns.clone());
            Location { file: reel.lines.clone(), line, columns, path, snippet }
        }
        None => Location { file: file(reel), line: 0, columns: None, path, snippet },
    };
    let details = found.excerpt.as_ref().map(|part| format!("  {}{}{}", part.before, part.marked, part.after));
    Problem {
        level: level(found.severity),
        message: found.finding.seen.clone(),
        details,
        location: Some(location),
        excused: found.standing.excuse().map(str::to_owned),
        fingerprint: Some(Identity::of(found).text()),
    }
}

/// The file that a problem of the whole reel is shown at.
fn file(reel: &CheckedReel) -> String {
    if reel.lines.is_empty() { reel.name.clone() } else { reel.lines.clone() }
}

fn plain(message: String, reel: &CheckedReel) -> Problem {
    let location = Location { file: file(reel), line: 0, columns: None, path: String::new(), snippet: None };
    Problem { level: Level::Error, message, details: None, location: Some(location), excused: None, fingerprint: None }
}

fn failed(name: &str, class: &str, problems: Vec<Problem>) -> Case {
    let (name, class) = (name.to_owned(), class.to_owned());
    Case { name, class, verdict: CaseVerdict::Failed, took: Duration::ZERO, problems }
}

fn stale(entries: &[Identity]) -> Suite {
    let problem = |entry: &Identity| Problem {
        level: Level::Error,
        message: format!("stale entry of the baseline: {}", entry.text()),
        details: None,
        location: None,
        excused: None,
        fingerprint: Some(entry.text()),
    };
    let cases = vec![failed("baseline/stale", "baseline", entries.iter().map(problem).collect())];
    Suite { name: "baseline".to_owned(), cases, ..Suite::default() }
}
