//! A check: the validator with a user's settings. It decides which findings are reported, how severe each is and which
//! ones count, points at the place in the message, and counts everything.
//!
//! A check takes events and gives findings, live or from a file: `validate`, `show --check` and `record --check` share
//! it, and report the same.
//!
//! It must never use tokio, print, read a clock or open a file.

pub(crate) mod baseline;
mod excerpt;
mod run;
pub(crate) mod settings;

pub(crate) use excerpt::Excerpt;
pub(crate) use run::{CheckedReel, Run, finding_json};

use crate::formats::jsonl;
use crate::proposals::Severity;
use crate::trace::{Damage, Event, EventKind, FileHeader, Flags};
use crate::validate::report::{ConnectionSummary, More};
use crate::validate::{Facts, Finding, Validator};
use crate::wire::MessageKind;
use baseline::{Baseline, Identity, Numbers};
use settings::{Injected, Settings};
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of findings of each rule that a report lists for a reel; further ones are counted.
pub(crate) const MAX_PER_RULE: usize = 1000;
/// The maximum number of findings of each rule for which a part of the message is kept.
const MAX_EXCERPTS: usize = 50;
/// The maximum number of different findings that a baseline takes.
const MAX_IDENTITIES: usize = 100_000;
/// The maximum number of streams that have counts of their own.
const MAX_STREAMS: usize = 64 << 10;

/// Whether a finding counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It counts.
    Counted,
    /// It does not, because mcpreel injected the message or its request.
    Injected,
    /// It does not, because the settings excuse it, for this reason.
    Suppressed(String),
    /// It does not, because the baseline has it.
    Known,
}

impl Standing {
    /// Returns why the finding does not count, if it does not.
    pub(crate) fn excuse(&self) -> Option<&str> {
        match self {
            Self::Counted => None,
            Self::Injected => Some("injected"),
            Self::Suppressed(reason) => Some(reason),
            Self::Known => Some("in the baseline"),
        }
    }

    /// Returns the name in JSON.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Counted => "counted",
            Self::Injected => "injected",
            Self::Suppressed(_) => "suppressed",
            Self::Known => "baseline",
        }
    }
}

/// A finding with the user's view of it, and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// The finding.
    pub finding: Finding,
    /// Its severity, which the user may have changed.
    pub severity: Severity,
    /// Whether it counts.
    pub standing: Standing,
    /// The number of its event among those that were read, from 0.
    pub index: Option<u64>,
    /// The part of the message that it is about.
    pub excerpt: Option<Excerpt>,
}

/// The number of findings of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Errors that count.
    pub errors: u64,
    /// Warnings that count.
    pub warnings: u64,
    /// Infos that count.
    pub infos: u64,
    /// Findings in injected messages, which do not count.
    pub injected: u64,
    /// Findings that the settings excuse.
    pub suppressed: u64,
    /// Findings that the baseline has.
    pub known: u64,
}

impl Counts {
    fn add(&mut self, severity: Severity, standing: &Standing) {
        *match (standing, severity) {
            (Standing::Injected, _) => &mut self.injected,
            (Standing::Suppressed(_), _) => &mut self.suppressed,
            (Standing::Known, _) => &mut self.known,
            (Standing::Counted, Severity::Error) => &mut self.errors,
            (Standing::Counted, Severity::Warning) => &mut self.warnings,
            (Standing::Counted, Severity::Info) => &mut self.infos,
        } += 1;
    }

    /// Adds other counts.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.errors += other.errors;
        self.warnings += other.warnings;
        self.infos += other.infos;
        self.injected += other.injected;
        self.suppressed += other.suppressed;
        self.known += other.known;
    }

    /// Returns the highest severity among the findings that count.
    pub(crate) fn worst(&self) -> Option<Severity> {
        match (self.errors, self.warnings, self.infos) {
            (1.., ..) => Some(Severity::Error),
            (0, 1.., _) => Some(Severity::Warning),
            (0, 0, 1..) => Some(Severity::Info),
            (0, 0, 0) => None,
        }
    }
}

/// What a check found in one reel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// The findings that are listed, in the order of discovery.
    pub findings: Vec<Located>,
    /// The number of findings that are reported but not listed, by rule.
    pub not_kept: BTreeMap<&'static str, u64>,
    /// All reported findings.
    pub counts: Counts,
    /// The reported findings of each stream.
    pub by_stream: BTreeMap<u32, Counts>,
    /// The number of messages checked.
    pub messages: u64,
    /// The number of lines that are no messages.
    pub not_messages: u64,
    /// Whether there was a message at all, even one that cannot be checked.
    pub has_messages: bool,
    /// Facts about each connection.
    pub connections: Vec<ConnectionSummary>,
    /// The connections of which there are no facts.
    pub more: More,
    /// What is damaged in the reel.
    pub damages: Vec<String>,
    /// The rules that something violated, whether it counts or not.
    pub violated: BTreeSet<&'static str>,
    /// The findings that a new baseline would have, and how many there are of each.
    pub identities: Numbers,
}

impl Checked {
    /// Returns the rules that had something to check on any connection.
    pub(crate) fn observed(&self) -> BTreeSet<&'static str> {
        self.connections.iter().flat_map(|facts| facts.verdicts.exercised()).collect()
    }

    /// Returns whether the findings that count, or damage, fail the check.
    pub(crate) fn has_failed(&self, settings: &Settings) -> bool {
        !self.damages.is_empty() || self.counts.worst().is_some_and(|worst| settings.fail_on.is_met(worst))
    }
}

/// Checks the events of one reel.
pub(crate) struct Check<'a> {
    validator: Validator,
    judge: Judge<'a>,
}

/// What the user's settings say about findings.
struct Judge<'a> {
    settings: &'a Settings,
    baseline: &'a Baseline,
    /// The findings in the reels before.
    before: Numbers,
    read: u64,
    /// The number of the last event, and its number among those that were read.
    last: (u64, u64),
    kept: BTreeMap<&'static str, usize>,
    /// When the reel was created, whose export would have its events as lines.
    exported: Option<i64>,
    checked: Checked,
}

/// The kinds of lines that are no messages.
const NOT_MESSAGES: [MessageKind; 4] =
    [MessageKind::Noise, MessageKind::Blank, MessageKind::Malformed, MessageKind::Unclassified];

impl<'a> Check<'a> {
    /// Creates a check that has seen nothing yet.
    pub(crate) fn new(settings: &'a Settings, baseline: &'a Baseline) -> Self {
        let judge = Judge {
            settings,
            baseline,
            before: Numbers::new(),
            read: 0,
            last: (0, 0),
            kept: BTreeMap::new(),
            exported: None,
            checked: Checked::default(),
        };
        Self { validator: Validator::new(settings.registry), judge }
    }

    /// Sets that the events are those of a reel, created at this time, so that their lines in its export are known.
    pub(crate) fn of_reel(mut self, created: i64) -> Self {
        self.judge.exported = Some(created);
        self
    }

    /// Sets what was found in the reels before this one: together, they have as many known findings as the baseline says.
    pub(crate) fn after(mut self, reels: &[CheckedReel]) -> Self {
        let found = reels.iter().flat_map(|reel| &reel.checked.identities);
        found.for_each(|(identity, count)| *self.judge.before.entry(identity.clone()).or_default() += count);
        self
    }

    /// Takes the header of the reel.
    pub(crate) fn begin(&mut self, header: &FileHeader) {
        self.validator.begin(header);
    }

    /// Takes the next event, and passes what it finds to `emit`.
    pub(crate) fn observe(&mut self, event: &Event<'_>, emit: &mut dyn FnMut(&Located)) {
        let Self { validator, judge } = self;
        judge.count_event(event);
        validator.observe(event, &mut |finding| judge.take(finding, Some(event), emit));
    }

    /// Notes that a part of the reel cannot be read.
    pub(crate) fn take_damage(&mut self, damage: &Damage) {
        self.judge.checked.damages.push(damage.to_string());
        if !damage.of_index {
            self.validator.lose_track();
        }
    }

    /// Ends the check.
    pub(crate) fn finish(self, emit: &mut dyn FnMut(&Located)) -> Checked {
        let Self { validator, mut judge } = self;
        let Facts { connections, more } = validator.finish(&mut |finding| judge.take(finding, None, emit));
        Checked { messages: more.messages_with(&connections), connections, more, ..judge.checked }
    }
}

impl Judge<'_> {
    fn count_event(&mut self, event: &Event<'_>) {
        self.last = (event.header.seq, self.read);
        self.read += 1;
        let is_message = event.header.kind == EventKind::Message;
        self.checked.messages += u64::from(is_message);
        self.checked.has_messages |= is_message;
        let kind = event.header.message.as_ref().map(|message| message.kind);
        let is_none = kind.is_some_and(|kind| NOT_MESSAGES.contains(&kind));
        self.checked.not_messages += u64::from(is_none);
    }

    fn take(&mut self, finding: Finding, event: Option<&Event<'_>>, emit: &mut dyn FnMut(&Located)) {
        self.checked.violated.insert(finding.rule.id);
        let Some(severity) = self.settings.severity(finding.rule) else { return };
        let event = event.filter(|event| finding.seq == Some(event.header.seq));
        let is_injected = event.is_some_and(|event| event.header.flags.has(Flags::INJECTED));
        match self.settings.injected {
            Injected::Exclude if is_injected => return,
            Injected::Only if !is_injected => return,
            _ => {}
        }
        let index = finding.seq.map(|seq| (self.last.1 + seq).saturating_sub(self.last.0));
        let mut found = Located { finding, severity, standing: Standing::Counted, index, excerpt: None };
        found.standing = self.standing(&found, is_injected);
        if let Some(event) = event {
            self.point_at(&mut found, event);
        }
        emit(&found);
        self.keep(found);
    }

    fn standing(&mut self, found: &Located, is_injected: bool) -> Standing {
        let (rule, method) = (found.finding.rule.id, found.finding.method.as_deref());
        let path = found.finding.path.as_deref();
        if let Some(excuse) = self.settings.excuses.iter().find(|excuse| excuse.covers(rule, method, path)) {
            return Standing::Suppressed(excuse.reason.clone());
        }
        if is_injected && self.settings.injected == Injected::Report {
            return Standing::Injected;
        }
        let identity = Identity::of(found);
        let so_far = self.before.get(&identity).copied().unwrap_or_default() + self.count(&identity);
        if self.baseline.has(&identity, so_far) { Standing::Known } else { Standing::Counted }
    }

    /// Counts a finding for a new baseline. Returns how many there are of it in this reel.
    fn count(&mut self, identity: &Identity) -> u64 {
        let found = &mut self.checked.identities;
        if let Some(count) = found.get_mut(identity) {
            *count += 1;
            return *count;
        }
        if found.len() < MAX_IDENTITIES {
            found.insert(identity.clone(), 1);
        }
        1
    }

    fn point_at(&self, found: &mut Located, event: &Event<'_>) {
        let rule = found.finding.rule.id;
        if self.kept.get(rule).copied().unwrap_or(0) < MAX_EXCERPTS {
            found.excerpt = excerpt::excerpt(event.body(), rule, found.finding.path.as_deref());
            let offset = self.exported.and_then(|created| jsonl::payload_offset(event, created));
            if let (Some(excerpt), Some(offset)) =
                (&mut found.excerpt, offset.filter(|_| event.body() == event.payload))
            {
                excerpt.stands_after(event.body(), offset);
            }
        }
    }

    fn keep(&mut self, found: Located) {
        let (rule, stream) = (found.finding.rule.id, found.finding.stream);
        self.checked.counts.add(found.severity, &found.standing);
        if self.checked.by_stream.len() < MAX_STREAMS || self.checked.by_stream.contains_key(&stream) {
            self.checked.by_stream.entry(stream).or_default().add(found.severity, &found.standing);
        }
        let kept = self.kept.entry(rule).or_default();
        if *kept < MAX_PER_RULE {
            *kept += 1;
            self.checked.findings.push(found);
        } else {
            *self.checked.not_kept.entry(rule).or_default() += 1;
        }
    }
}

#[cfg(test)]
mod tests;
