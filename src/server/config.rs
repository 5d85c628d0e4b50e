//! What a server is made with: who it is, what it offers, and what it does by itself.

use super::{Fired, Outside, proposals};
use crate::proposals::REGISTRY;
use crate::proposals::server::Declaration;
use crate::protocol::{Era, Revision};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The settings of one server.
#[derive(Clone, Debug)]
pub struct Config {
    /// `serverInfo.name`.
    pub name: String,
    /// `serverInfo.version`.
    pub version: String,
    /// What ids are drawn from: same seed and same input, same bytes.
    pub seed: u64,
    /// Unix time at `now` = 0, in nanoseconds; what timestamps count from.
    pub wall_base_ns: i64,
    /// Revisions that it speaks, of either era.
    pub revisions: Vec<Revision>,
    /// Names of the rooms whose proposals it declares.
    pub declare: BTreeSet<String>,
    /// What it declares besides, whatever the client declared; where a room declares something itself, that stays.
    pub besides: Vec<Declaration>,
    /// How long it waits for an answer to a request of its own before it reports it (no proposal says).
    pub answer_deadline: Duration,
    /// What the rooms' sides are to do otherwise than by default, by the rooms' names.
    pub settings: BTreeMap<String, Value>,
    /// What it does by itself.
    pub plans: Vec<Plan>,
    /// Whether it remembers things, and has the tools for it.
    pub memory: bool,
    /// What there is outside of it.
    pub outside: Outside,
}

/// Something done by itself, on a timer that starts when the handshake is over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// How long after the handshake, in milliseconds.
    pub after_ms: u64,
    /// How long until it is done again, in milliseconds; at least 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every_ms: Option<u64>,
    /// How often at most; without it, as often as `every_ms` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u64>,
    /// What.
    pub fire: Fired,
}

impl Default for Config {
    /// All proposals, all revisions, a memory, nothing by itself or from outside, seed 0 at the beginning of 1970.
    fn default() -> Self {
        Self {
            name: "mcpreel-live".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            seed: 0,
            wall_base_ns: 0,
            revisions: Revision::ALL.to_vec(),
            declare: REGISTRY.iter().map(|proposal| proposal.descriptor().name.to_owned()).collect(),
            besides: Vec::new(),
            answer_deadline: Duration::from_secs(30),
            settings: BTreeMap::new(),
            plans: Vec::new(),
            memory: true,
            outside: Outside::default(),
        }
    }
}

impl Config {
    /// Whether the rooms take their settings.
    ///
    /// # Errors
    /// What is wrong, as a sentence fragment.
    pub fn check(&self) -> Result<(), String> {
        proposals::check(REGISTRY, self)
    }

    /// The revisions of an era that it speaks.
    pub(super) fn spoken(&self, era: Era) -> impl Iterator<Item = Revision> {
        self.revisions.iter().copied().filter(move |revision| revision.era() == era)
    }

    /// The revision to agree on in a handshake: the one asked for where it is spoken, else the newest that is.
    pub(super) fn agree(&self, asked: &str) -> Option<Revision> {
        let same = self.spoken(Era::Legacy).find(|revision| revision.as_str() == asked);
        same.or(self.spoken(Era::Legacy).max())
    }
}
