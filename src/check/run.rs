//! The check of several reels, and its report as JSON.

use super::baseline::{Baseline, Exceeded, Identity, Numbers};
use super::settings::Settings;
use super::{Checked, Counts, Located, Standing};
use crate::validate::report::{self, ConnectionJson};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// A reel that was checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CheckedReel {
    /// Its path, as the user named it.
    pub name: String,
    /// The path of the JSON lines: the reel's export, or the file itself. Empty if events are no lines of it.
    pub lines: String,
    /// Its start, in Unix nanoseconds.
    pub began: i64,
    /// What was found.
    pub checked: Checked,
}

impl CheckedReel {
    /// Returns the number of a finding's line in the JSON lines, from 1. The first line has the reel's header.
    pub(crate) fn line(&self, found: &Located) -> Option<u64> {
        found.index.filter(|_| !self.lines.is_empty()).map(|index| index + 2)
    }

    /// Returns the numbers of the streams that have messages or findings.
    pub(crate) fn streams(&self) -> BTreeSet<u32> {
        let connections = self.checked.connections.iter().map(|facts| facts.stream);
        connections.chain(self.checked.by_stream.keys().copied()).collect()
    }
}

/// The check of all reels that the user named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Run {
    /// The reels, in the order in which they were named.
    pub reels: Vec<CheckedReel>,
    /// The entries of the baseline that are fixed.
    pub stale: Vec<Identity>,
    /// The entries of the baseline of which there are more findings than they excuse.
    pub exceeded: Vec<Exceeded>,
}

impl Run {
    /// Puts the checked reels together, and looks for entries of the baseline that are fixed.
    pub(crate) fn new(reels: Vec<CheckedReel>, baseline: &Baseline) -> Self {
        let mut run = Self { reels, ..Self::default() };
        run.stale = baseline.stale(&run.observed(), &run.violated()).into_iter().cloned().collect();
        run.exceeded = baseline.exceeded(&run.found());
        run
    }

    /// Returns the baseline that would excuse everything in this run.
    pub(crate) fn renewed(&self, baseline: &Baseline) -> Baseline {
        baseline.renewed(self.found(), &self.observed())
    }

    fn found(&self) -> Numbers {
        let mut found = Numbers::new();
        let all = self.reels.iter().flat_map(|reel| &reel.checked.identities);
        all.for_each(|(identity, count)| *found.entry(identity.clone()).or_default() += count);
        found
    }

    fn observed(&self) -> BTreeSet<&'static str> {
        self.reels.iter().flat_map(|reel| reel.checked.observed()).collect()
    }

    fn violated(&self) -> BTreeSet<&'static str> {
        self.reels.iter().flat_map(|reel| reel.checked.violated.iter().copied()).collect()
    }

    /// Returns whether anything fails.
    pub(crate) fn has_failed(&self, settings: &Settings) -> bool {
        !self.stale.is_empty() || self.reels.iter().any(|reel| reel.checked.has_failed(settings))
    }

    /// Returns all reported findings.
    pub(crate) fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        self.reels.iter().for_each(|reel| counts.merge(&reel.checked.counts));
        counts
    }

    /// Returns the number of lines that are no messages.
    pub(crate) fn not_messages(&self) -> u64 {
        self.reels.iter().map(|reel| reel.checked.not_messages).sum()
    }

    /// Returns the number of messages checked.
    pub(crate) fn messages(&self) -> u64 {
        self.reels.iter().map(|reel| reel.checked.messages).sum()
    }

    /// Returns the number of connections checked.
    pub(crate) fn connections(&self) -> u64 {
        let count = |reel: &CheckedReel| reel.checked.connections.len() as u64 + reel.checked.more.connections;
        self.reels.iter().map(count).sum()
    }

    /// Returns the report as one JSON object:
    ///
    /// ```json
    /// {"counts": {"error": 1, "warning": 0, "info": 0},
    ///  "notCounted": {"injected": 0, "suppressed": 0, "baseline": 0},
    ///  "messages": 12,
    ///  "findings": [{"rule": "proposal/what", "severity": "error", "text": "…", "source": "…",
    ///                "stream": 0, "seq": 7, "direction": "s2c", "method": "tools/call", "path": "/params/name",
    ///                "seen": "…", "reel": "a.reel", "line": 9, "standing": "counted", "reason": null,
    ///                "span": {"start": 9, "end": 20}, "excerpt": "…"}],
    ///  "notKept": {"proposal/what": 3},
    ///  "connections": [{"stream": 0, "reel": "a.reel", "era": "legacy", …}],
    ///  "moreConnections": 0,
    ///  "damages": [],
    ///  "reels": [{"reel": "a.reel", "counts": {…}, "messages": 12, "damages": []}],
    ///  "stale": [{"rule": "proposal/what", "method": "tools/call", "path": "/params/name"}],
    ///  "exceeded": [{"rule": "proposal/what", "method": "tools/call", "path": "/x", "known": 2, "found": 3}]}
    /// ```
    ///
    /// `counts` has what counts; `findings` has everything that is reported, with its `standing`: `counted`,
    /// `injected`, `suppressed` or `baseline`. `span` is the place in the bytes of the message.
    pub(crate) fn to_json(&self) -> impl Serialize {
        let findings =
            self.reels.iter().flat_map(|reel| reel.checked.findings.iter().map(|one| finding_json(reel, one)));
        let mut not_kept: BTreeMap<&str, u64> = BTreeMap::new();
        let hidden = self.reels.iter().flat_map(|reel| &reel.checked.not_kept);
        hidden.for_each(|(rule, count)| *not_kept.entry(rule).or_default() += count);
        let counts = self.counts();
        RunJson {
            counts: counts_json(&counts),
            not_counted: json!({"injected": counts.injected, "suppressed": counts.suppressed, "baseline": counts.known}),
            messages: self.messages(),
            findings: findings.collect(),
            not_kept,
            connections: &self.reels,
            more_connections: self.reels.iter().map(|reel| reel.checked.more.connections).sum(),
            damages: self.reels.iter().flat_map(|reel| &reel.checked.damages).collect(),
            reels: self.reels.iter().map(reel_json).collect(),
            stale: &self.stale,
            exceeded: &self.exceeded,
        }
    }
}

/// The report as it is printed. There may be many connections; they are written one by one.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RunJson<'a> {
    counts: Value,
    not_counted: Value,
    messages: u64,
    findings: Vec<Value>,
    not_kept: BTreeMap<&'a str, u64>,
    #[serde(serialize_with = "connections")]
    connections: &'a [CheckedReel],
    more_connections: u64,
    damages: Vec<&'a String>,
    reels: Vec<Value>,
    stale: &'a [Identity],
    exceeded: &'a [Exceeded],
}

fn connections<S: Serializer>(reels: &[CheckedReel], out: S) -> Result<S::Ok, S::Error> {
    out.collect_seq(reels.iter().flat_map(|reel| {
        let facts = reel.checked.connections.iter();
        facts.map(|facts| ConnectionJson::new(facts, Some(&reel.name)))
    }))
}

/// Returns a finding as a JSON object, as in [`Run::to_json`].
pub(crate) fn finding_json(reel: &CheckedReel, found: &Located) -> Value {
    let mut value = named(report::finding_json(&found.finding), reel);
    let excerpt = found.excerpt.as_ref();
    value["severity"] = found.severity.name().into();
    value["line"] = reel.line(found).into();
    value["standing"] = found.standing.name().into();
    value["reason"] = match &found.standing {
        Standing::Suppressed(reason) => reason.as_str().into(),
        _ => Value::Null,
    };
    value["span"] = excerpt.map(|part| json!({"start": part.span.start, "end": part.span.end})).into();
    value["excerpt"] = excerpt.map(|part| part.marked.as_str()).into();
    value
}

fn named(mut value: Value, reel: &CheckedReel) -> Value {
    value["reel"] = reel.name.as_str().into();
    value
}

fn reel_json(reel: &CheckedReel) -> Value {
    let Checked { counts, messages, damages, .. } = &reel.checked;
    json!({"reel": reel.name, "counts": counts_json(counts), "messages": messages, "damages": damages})
}

fn counts_json(counts: &Counts) -> Value {
    json!({"error": counts.errors, "warning": counts.warnings, "info": counts.infos})
}
