//! The result of a validation: findings, counts, and summary about each connection.

use super::Validator;
use super::verdicts::Verdicts;
use crate::proposals::{self, Registry, Rule, Severity, Side};
use crate::protocol::Era;
use crate::trace::Event;
use crate::wire::Direction;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A finding: a violation of a rule, with its connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The connection's stream number.
    pub stream: u32,
    /// The rule that is violated.
    pub rule: &'static Rule,
    /// The event at which it was found; `None` if it concerns the whole session.
    pub seq: Option<u64>,
    /// The direction of the message at that event, and so who sent it.
    pub direction: Option<Direction>,
    /// What was found, as a sentence without a full stop.
    pub seen: String,
    /// The method of the message at that event, or of the request that it answers, if it is known.
    pub method: Option<String>,
    /// JSON Pointer to the place in that message, if it is a single one.
    pub path: Option<String>,
}

impl Finding {
    /// Adds the connection to what a rule found.
    pub(super) fn of(stream: u32, direction: Option<Direction>, found: proposals::Finding) -> Self {
        let proposals::Finding { rule, seq, seen, method, path } = found;
        Self { stream, rule, seq, direction, seen, method, path }
    }
}

/// The name and version of the program at one end of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Peer {
    /// Its name, as it gives it.
    pub name: String,
    /// Its version, or an empty string.
    pub version: String,
}

/// A proposal that one side declared, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declaration {
    /// The proposal's name.
    pub proposal: &'static str,
    /// The side that declared it.
    pub side: Side,
    /// The member names below `capabilities`, joined by dots.
    pub place: String,
    /// Whether this is the place that the proposal prefers.
    pub canonical: bool,
    /// The dialect that the session uses, if the proposal has several and it is known.
    pub dialect: Option<&'static str>,
}

/// Facts about one connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConnectionSummary {
    /// Its stream number.
    pub stream: u32,
    /// The era, once it is known.
    pub era: Option<Era>,
    /// The revision, as it is written on the wire.
    pub revision: Option<String>,
    /// The client, from its own description.
    pub client: Option<Peer>,
    /// The server, from its own description.
    pub server: Option<Peer>,
    /// The proposals that the two sides declared.
    pub declared: Vec<Declaration>,
    /// The number of messages checked, without lines that are not messages.
    pub messages: u64,
    /// What came of each rule.
    pub verdicts: Verdicts,
}

/// The report of a validation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The findings that are kept, in the order of discovery.
    pub findings: Vec<Finding>,
    /// The number of findings that are not kept, by rule id.
    pub not_kept: BTreeMap<&'static str, u64>,
    /// The number of errors, kept or not.
    pub errors: u64,
    /// The number of warnings, kept or not.
    pub warnings: u64,
    /// The number of infos, kept or not.
    pub infos: u64,
    /// The connections whose summary are kept, by stream number.
    pub connections: Vec<ConnectionSummary>,
    /// The connections whose summary are not kept.
    pub more: More,
}

/// Counts of the connections whose summary are not kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct More {
    /// The number of connections.
    pub connections: u64,
    /// The number of their messages.
    pub messages: u64,
}

impl More {
    /// Counts one more connection.
    pub(super) fn add(&mut self, summary: &ConnectionSummary) {
        self.connections += 1;
        self.messages += summary.messages;
    }

    /// Returns the number of their messages, together with those of the listed connections.
    pub(crate) fn messages_with(self, listed: &[ConnectionSummary]) -> u64 {
        self.messages + listed.iter().map(|connection| connection.messages).sum::<u64>()
    }
}

/// A validation that ends with a report.
pub struct Reporter {
    pub(crate) validator: Validator,
    report: Report,
    /// The number of findings of each rule that are kept.
    kept: BTreeMap<&'static str, usize>,
    /// The findings of each rule that are kept at most; further ones are only counted.
    max_per_rule: usize,
}

impl Reporter {
    /// Creates a reporter that has seen nothing yet.
    pub fn new(registry: &'static Registry) -> Self {
        let (report, kept) = (Report::default(), BTreeMap::new());
        Self { validator: Validator::new(registry), report, kept, max_per_rule: 1000 }
    }

    /// Sets how many findings of each rule are kept (1000).
    pub fn keeping(self, max_per_rule: usize) -> Self {
        Self { max_per_rule, ..self }
    }

    /// Processes the next event of the reel.
    pub fn observe(&mut self, event: &Event<'_>) {
        let Self { validator, report, kept, max_per_rule } = self;
        validator.observe(event, &mut |finding| report.add(finding, kept, *max_per_rule));
    }

    /// Finishes all connections at the end of the reel.
    pub fn finish(self) -> Report {
        let Self { validator, mut report, mut kept, max_per_rule } = self;
        let facts = validator.finish(&mut |finding| report.add(finding, &mut kept, max_per_rule));
        Report { connections: facts.connections, more: facts.more, ..report }
    }
}

impl Report {
    /// Adds a finding, unless `max` findings of its rule are kept already.
    fn add(&mut self, finding: Finding, kept: &mut BTreeMap<&'static str, usize>, max: usize) {
        *match finding.rule.severity {
            Severity::Error => &mut self.errors,
            Severity::Warning => &mut self.warnings,
            Severity::Info => &mut self.infos,
        } += 1;
        let kept = kept.entry(finding.rule.id).or_default();
        if *kept < max {
            *kept += 1;
            self.findings.push(finding);
        } else {
            *self.not_kept.entry(finding.rule.id).or_default() += 1;
        }
    }

    /// Returns the highest severity among the findings.
    pub fn worst(&self) -> Option<Severity> {
        match (self.errors, self.warnings, self.infos) {
            (1.., ..) => Some(Severity::Error),
            (0, 1.., _) => Some(Severity::Warning),
            (0, 0, 1..) => Some(Severity::Info),
            (0, 0, 0) => None,
        }
    }

    /// Returns the number of messages checked, over all connections.
    pub fn messages(&self) -> u64 {
        self.more.messages_with(&self.connections)
    }

    /// Returns the report as one JSON object:
    ///
    /// ```json
    /// {"counts": {"error": 1, "warning": 0, "info": 0}, "messages": 12,
    ///  "findings": [{"rule": "proposal/what", "severity": "error", "text": "…", "source": "…",
    ///                "stream": 0, "seq": 7, "direction": "s2c", "method": "tools/call", "path": "/params/name",
    ///                "seen": "…"}],
    ///  "notKept": {"proposal/what": 3},
    ///  "connections": [{"stream": 0, "era": "legacy", "revision": "2025-11-25", "messages": 12,
    ///                   "client": {"name": "…", "version": "…"}, "server": null,
    ///                   "declared": [{"proposal": "mcpl", "side": "server", "place": "experimental.mcpl",
    ///                                 "canonical": true, "dialect": null}],
    ///                   "exercised": ["proposal/what"], "notObserved": ["proposal/other"],
    ///                   "notApplicable": ["tasks/what"], "checked": {"proposal/what": 3},
    ///                   "failed": {"proposal/what": 1}}],
    ///  "moreConnections": 0}
    /// ```
    ///
    /// `connections` has at most 1000 entries; `moreConnections` is the number of further ones that were checked. All
    /// members are always present; unknown values are `null`.
    pub fn to_json(&self) -> Value {
        json!({
            "counts": {"error": self.errors, "warning": self.warnings, "info": self.infos},
            "messages": self.messages(),
            "findings": self.findings.iter().map(finding_json).collect::<Vec<_>>(),
            "notKept": self.not_kept,
            "connections": self.connections.iter().map(|facts| ConnectionJson::new(facts, None)).collect::<Vec<_>>(),
            "moreConnections": self.more.connections,
        })
    }
}

/// Returns a finding as a JSON object.
pub(crate) fn finding_json(finding: &Finding) -> Value {
    json!({
        "rule": finding.rule.id,
        "severity": finding.rule.severity.name(),
        "text": finding.rule.text,
        "source": finding.rule.source,
        "stream": finding.stream,
        "seq": finding.seq,
        "direction": finding.direction.map(Direction::short),
        "method": finding.method,
        "path": finding.path,
        "seen": finding.seen,
    })
}

/// The summary of a connection as a JSON object. Its lists are long, and are written without being gathered.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ConnectionJson<'a> {
    stream: u32,
    era: Option<&'static str>,
    revision: Option<&'a str>,
    messages: u64,
    client: Option<Value>,
    server: Option<Value>,
    declared: Vec<Value>,
    #[serde(serialize_with = "exercised")]
    exercised: &'a Verdicts,
    #[serde(serialize_with = "not_observed")]
    not_observed: &'a Verdicts,
    #[serde(serialize_with = "not_applicable")]
    not_applicable: &'a Verdicts,
    #[serde(serialize_with = "checked")]
    checked: &'a Verdicts,
    #[serde(serialize_with = "failed")]
    failed: &'a Verdicts,
    /// The reel that has the connection, if there may be several.
    #[serde(skip_serializing_if = "Option::is_none")]
    reel: Option<&'a str>,
}

impl<'a> ConnectionJson<'a> {
    pub(crate) fn new(summary: &'a ConnectionSummary, reel: Option<&'a str>) -> Self {
        let peer = |peer: &Option<Peer>| peer.as_ref().map(|peer| json!({"name": peer.name, "version": peer.version}));
        let declared = summary.declared.iter().map(|declaration| {
            json!({
                "proposal": declaration.proposal,
                "side": side_name(declaration.side),
                "place": declaration.place,
                "canonical": declaration.canonical,
                "dialect": declaration.dialect,
            })
        });
        let verdicts = &summary.verdicts;
        Self {
            stream: summary.stream,
            era: summary.era.map(Era::name),
            revision: summary.revision.as_deref(),
            messages: summary.messages,
            client: peer(&summary.client),
            server: peer(&summary.server),
            declared: declared.collect(),
            exercised: verdicts,
            not_observed: verdicts,
            not_applicable: verdicts,
            checked: verdicts,
            failed: verdicts,
            reel,
        }
    }
}

fn exercised<S: Serializer>(verdicts: &Verdicts, out: S) -> Result<S::Ok, S::Error> {
    out.collect_seq(verdicts.exercised())
}

fn not_observed<S: Serializer>(verdicts: &Verdicts, out: S) -> Result<S::Ok, S::Error> {
    out.collect_seq(verdicts.not_observed())
}

fn not_applicable<S: Serializer>(verdicts: &Verdicts, out: S) -> Result<S::Ok, S::Error> {
    out.collect_seq(verdicts.not_applicable())
}

fn checked<S: Serializer>(verdicts: &Verdicts, out: S) -> Result<S::Ok, S::Error> {
    out.collect_map(verdicts.tallies().map(|(id, tally)| (id, tally.checked)))
}

fn failed<S: Serializer>(verdicts: &Verdicts, out: S) -> Result<S::Ok, S::Error> {
    out.collect_map(verdicts.tallies().filter(|(_, tally)| tally.failed > 0).map(|(id, tally)| (id, tally.failed)))
}

/// Returns `client` or `server`.
pub(crate) fn side_name(side: Side) -> &'static str {
    match side {
        Side::Client => "client",
        Side::Server => "server",
    }
}
