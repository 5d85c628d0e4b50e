//! What a validation comes to: findings, counts, and the facts of each connection.

use crate::proposals::{Rule, Severity, Side};
use crate::protocol::Era;
use crate::wire::Direction;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A breach of a rule, with its connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The connection's stream number.
    pub stream: u32,
    /// The rule.
    pub rule: &'static Rule,
    /// The event it was seen at; `None` where it concerns the whole session.
    pub seq: Option<u64>,
    /// Which way the message at that event went, and so whose it was.
    pub direction: Option<Direction>,
    /// What was seen, as a sentence fragment.
    pub seen: String,
}

/// Name and version of a program at one end of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Peer {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// A proposal that one side declared, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declaration {
    /// The room's name.
    pub proposal: &'static str,
    /// Who declared it.
    pub side: Side,
    /// The member names below `capabilities`, joined by dots.
    pub place: String,
    /// Whether the proposal names this place first.
    pub canonical: bool,
}

/// What is known of one connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConnectionFacts {
    /// Its stream number.
    pub stream: u32,
    /// The era it works in, once that showed.
    pub era: Option<Era>,
    /// The revision's text on the wire.
    pub revision: Option<String>,
    /// The client, as it named itself.
    pub client: Option<Peer>,
    /// The server, as it named itself.
    pub server: Option<Peer>,
    /// The proposals declared.
    pub declared: Vec<Declaration>,
    /// Messages checked; lines that are none do not count.
    pub messages: u64,
    /// The rules that had something to check.
    pub exercised: Vec<&'static str>,
    /// The rules that had nothing to check: they did not pass, they were not observed.
    pub not_observed: Vec<&'static str>,
}

/// The outcome of a validation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The breaches that were kept, in the order they were found.
    pub findings: Vec<Finding>,
    /// By rule: how many more there were than were kept.
    pub not_kept: BTreeMap<&'static str, u64>,
    /// All errors, kept or not.
    pub errors: u64,
    /// All warnings, kept or not.
    pub warnings: u64,
    /// All infos, kept or not.
    pub infos: u64,
    /// The connections, by stream number, as far as they are kept.
    pub connections: Vec<ConnectionFacts>,
    /// Those that are not.
    pub more: More,
}

/// Connections of which no facts are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct More {
    /// How many.
    pub connections: u64,
    /// Their messages.
    pub messages: u64,
}

impl More {
    /// Counts one in.
    pub(super) fn add(&mut self, facts: &ConnectionFacts) {
        self.connections += 1;
        self.messages += facts.messages;
    }
}

impl Report {
    /// The worst severity there is.
    pub fn worst(&self) -> Option<Severity> {
        match (self.errors, self.warnings, self.infos) {
            (1.., ..) => Some(Severity::Error),
            (0, 1.., _) => Some(Severity::Warning),
            (0, 0, 1..) => Some(Severity::Info),
            (0, 0, 0) => None,
        }
    }

    /// Messages checked over all connections.
    pub fn messages(&self) -> u64 {
        self.more.messages + self.connections.iter().map(|connection| connection.messages).sum::<u64>()
    }

    /// Takes a finding in, unless `most` of its rule are kept already.
    pub(super) fn add(&mut self, finding: Finding, kept: &mut BTreeMap<&'static str, usize>, most: usize) {
        *match finding.rule.severity {
            Severity::Error => &mut self.errors,
            Severity::Warning => &mut self.warnings,
            Severity::Info => &mut self.infos,
        } += 1;
        let kept = kept.entry(finding.rule.id).or_default();
        if *kept < most {
            *kept += 1;
            self.findings.push(finding);
        } else {
            *self.not_kept.entry(finding.rule.id).or_default() += 1;
        }
    }

    /// The report as one JSON object:
    ///
    /// ```json
    /// {"counts": {"error": 1, "warning": 0, "info": 0}, "messages": 12,
    ///  "findings": [{"rule": "room/what", "severity": "error", "text": "…", "source": "…",
    ///                "stream": 0, "seq": 7, "direction": "s2c", "seen": "…"}],
    ///  "notKept": {"room/what": 3},
    ///  "connections": [{"stream": 0, "era": "legacy", "revision": "2025-11-25", "messages": 12,
    ///                   "client": {"name": "…", "version": "…"}, "server": null,
    ///                   "declared": [{"proposal": "mcpl", "side": "server", "place": "experimental.mcpl",
    ///                                 "canonical": true}],
    ///                   "exercised": ["room/what"], "notObserved": ["room/other"]}],
    ///  "moreConnections": 0}
    /// ```
    ///
    /// `moreConnections` are those that were checked and of which no facts are kept: of 1000 they are.
    /// Members are always there; what is not known is `null`.
    pub fn to_json(&self) -> Value {
        json!({
            "counts": {"error": self.errors, "warning": self.warnings, "info": self.infos},
            "messages": self.messages(),
            "findings": self.findings.iter().map(finding_json).collect::<Vec<_>>(),
            "notKept": self.not_kept,
            "connections": self.connections.iter().map(connection_json).collect::<Vec<_>>(),
            "moreConnections": self.more.connections,
        })
    }
}

fn finding_json(finding: &Finding) -> Value {
    json!({
        "rule": finding.rule.id,
        "severity": finding.rule.severity.name(),
        "text": finding.rule.text,
        "source": finding.rule.source,
        "stream": finding.stream,
        "seq": finding.seq,
        "direction": finding.direction.map(Direction::short),
        "seen": finding.seen,
    })
}

fn connection_json(facts: &ConnectionFacts) -> Value {
    let peer = |peer: &Option<Peer>| peer.as_ref().map(|peer| json!({"name": peer.name, "version": peer.version}));
    let declared = facts.declared.iter().map(|declaration| {
        json!({
            "proposal": declaration.proposal,
            "side": side_name(declaration.side),
            "place": declaration.place,
            "canonical": declaration.canonical,
        })
    });
    json!({
        "stream": facts.stream,
        "era": facts.era.map(Era::name),
        "revision": facts.revision,
        "messages": facts.messages,
        "client": peer(&facts.client),
        "server": peer(&facts.server),
        "declared": declared.collect::<Vec<_>>(),
        "exercised": facts.exercised,
        "notObserved": facts.not_observed,
    })
}

/// `client` or `server`.
pub fn side_name(side: Side) -> &'static str {
    match side {
        Side::Client => "client",
        Side::Server => "server",
    }
}
