//! What a server is made with: who it is, what it offers, and what it does by itself.

use super::Fired;
use crate::extension::REGISTRY;
use crate::protocol::{Era, Revision};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
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
    /// Revisions that it agrees to. Those without a handshake are passed over; none left means all with one.
    pub revisions: Vec<Revision>,
    /// Names of the rooms whose proposals it declares.
    pub declare: BTreeSet<String>,
    /// How long it waits for an answer to a request of its own before it reports it (no proposal says).
    pub answer_deadline: Duration,
    /// Feature sets that are declared beside its own and that only push (MCPL).
    pub push_sets: Vec<String>,
    /// What it does by itself.
    pub plans: Vec<Plan>,
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
    /// All proposals, all revisions with a handshake, nothing by itself, seed 0 at the beginning of 1970.
    fn default() -> Self {
        Self {
            name: "mcpreel-live".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            seed: 0,
            wall_base_ns: 0,
            revisions: Vec::new(),
            declare: REGISTRY.iter().map(|room| room.descriptor().name.to_owned()).collect(),
            answer_deadline: Duration::from_secs(30),
            push_sets: Vec::new(),
            plans: Vec::new(),
        }
    }
}

impl Config {
    /// Whether it declares the proposal of this room.
    pub(super) fn declares(&self, room: &str) -> bool {
        self.declare.contains(room)
    }

    /// The revision to agree on: the one asked for where it is offered, else the newest offered.
    pub(super) fn agree(&self, asked: &str) -> Revision {
        let mut offered: Vec<Revision> =
            self.revisions.iter().copied().filter(|revision| revision.era() == Era::Legacy).collect();
        if offered.is_empty() {
            offered.extend(Revision::ALL.into_iter().filter(|revision| revision.era() == Era::Legacy));
        }
        let same = Revision::parse(asked).filter(|revision| offered.contains(revision));
        same.or(offered.into_iter().max()).unwrap_or(Revision::NEWEST_LEGACY)
    }
}
