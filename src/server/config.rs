//! The configuration of a built-in server: its identity, what it offers, and what it sends by itself.

use super::{Catalogue, Fired, Outside, proposals};
use crate::proposals::REGISTRY;
use crate::proposals::server::Declaration;
use crate::protocol::{Era, Revision};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// The configuration of one server.
#[derive(Clone, Debug)]
pub struct Config {
    /// `serverInfo.name`.
    pub name: String,
    /// `serverInfo.version`.
    pub version: String,
    /// The seed of ids: the same seed and input give the same bytes.
    pub seed: u64,
    /// Unix time at `now` = 0, in nanoseconds, for timestamps.
    pub wall_base_ns: i64,
    /// The revisions of MCP that it supports, of either era.
    pub revisions: Vec<Revision>,
    /// The names of the proposals that it declares.
    pub declare: BTreeSet<String>,
    /// Further capabilities to declare, whatever the client declared. What a proposal declares at the same path wins.
    pub besides: Vec<Declaration>,
    /// How long to wait for a response to a request of its own before it reports that there is none. No proposal gives
    /// a limit.
    pub answer_deadline: Duration,
    /// Options of the proposals' server sides, by proposal.
    pub settings: BTreeMap<String, Value>,
    /// What it sends by itself.
    pub plans: Vec<Plan>,
    /// Whether it has a memory, and the tools for it.
    pub memory: bool,
    /// The files and commands that it can access through its runner.
    pub outside: Outside,
    /// What it offers in place of the built-in tools, resources and prompts. Such a server sends nothing unasked.
    pub catalogue: Option<Arc<Catalogue>>,
}

/// Something sent on a timer that starts at the end of the handshake.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The delay after the handshake, in milliseconds.
    pub after_ms: u64,
    /// The interval of repetition, in milliseconds; at least 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every_ms: Option<u64>,
    /// Maximum number of times; by default as often as `every_ms` allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u64>,
    /// What to send.
    pub fire: Fired,
}

impl Default for Config {
    /// All proposals, all revisions, a memory, no plans, nothing outside, seed 0, and a clock that starts in 1970.
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
            catalogue: None,
        }
    }
}

impl Config {
    /// Checks the proposals' options.
    ///
    /// # Errors
    ///
    /// What is wrong, as a sentence fragment.
    pub fn check(&self) -> Result<(), String> {
        proposals::check(REGISTRY, self)
    }

    /// The supported revisions of an era.
    pub(super) fn spoken(&self, era: Era) -> impl Iterator<Item = Revision> {
        self.revisions.iter().copied().filter(move |revision| revision.era() == era)
    }

    /// The revision to agree on in a handshake: the requested one if supported, else the newest.
    pub(super) fn agree(&self, asked: &str) -> Option<Revision> {
        let same = self.spoken(Era::Legacy).find(|revision| revision.as_str() == asked);
        same.or(self.spoken(Era::Legacy).max())
    }
}
