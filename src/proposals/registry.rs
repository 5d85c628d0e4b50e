//! The extensions of MCP that a command knows: the five proposals, and the packs that the user names.

use super::{Proposal, REGISTRY};
use crate::protocol::{MethodSpec, errors, methods};
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

/// A list of proposals with an index of their methods.
///
/// A registry lives as long as the process, as everything in it does. Commands pass it to whatever reads messages.
pub struct Registry {
    all: Vec<&'static dyn Proposal>,
    by_method: HashMap<&'static str, &'static dyn Proposal, RandomState>,
}

impl Registry {
    fn new(all: Vec<&'static dyn Proposal>) -> Self {
        let mut by_method = HashMap::default();
        for proposal in &all {
            for spec in proposal.descriptor().methods {
                by_method.entry(spec.name).or_insert(*proposal);
            }
        }
        Self { all, by_method }
    }

    /// Returns the registry of the five proposals.
    pub fn built_in() -> &'static Self {
        static BUILT_IN: LazyLock<Registry> = LazyLock::new(|| Registry::new(REGISTRY.to_vec()));
        &BUILT_IN
    }

    /// Returns the five proposals and these.
    pub fn with(others: impl IntoIterator<Item = &'static dyn Proposal>) -> &'static Self {
        let mut all = REGISTRY.to_vec();
        all.extend(others);
        match all.len() == REGISTRY.len() {
            true => Self::built_in(),
            false => Box::leak(Box::new(Self::new(all))),
        }
    }

    /// Returns all proposals, in their order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &'static dyn Proposal> + '_ {
        self.all.iter().copied()
    }

    /// Returns those that are not built in.
    pub(crate) fn packs(&self) -> impl Iterator<Item = &'static dyn Proposal> + '_ {
        self.iter().skip(REGISTRY.len())
    }

    /// Returns `proposal` or `pack`: what has this name.
    pub(crate) fn kind_of(&self, name: &str) -> &'static str {
        match self.packs().any(|pack| pack.descriptor().name == name) {
            true => "pack",
            false => "proposal",
        }
    }

    /// Returns the names of all proposals, separated by commas.
    pub(crate) fn names(&self) -> String {
        self.iter().map(|proposal| proposal.descriptor().name).collect::<Vec<_>>().join(", ")
    }

    /// Returns the proposal with this name.
    pub(crate) fn by_name(&self, name: &str) -> Option<&'static dyn Proposal> {
        self.iter().find(|proposal| proposal.descriptor().name == name)
    }

    /// Returns the proposal that adds this method.
    pub(crate) fn of_method(&self, method: &str) -> Option<&'static dyn Proposal> {
        self.by_method.get(method).copied()
    }

    /// Returns the proposal that a tool belongs to.
    pub(crate) fn of_tool(&self, tool: &str) -> Option<&'static dyn Proposal> {
        self.iter().find(|proposal| proposal.descriptor().tools.contains(&tool))
    }

    /// Returns a method by its name, of MCP or of a proposal.
    pub(crate) fn method_spec(&self, name: &str) -> Option<&'static MethodSpec> {
        let proposed = || self.of_method(name)?.descriptor().methods.iter().find(|spec| spec.name == name);
        methods::lookup(name).or_else(proposed)
    }

    /// Returns whether a method belongs to another protocol that uses a proposal's names, so that its errors have their
    /// own meanings.
    pub(crate) fn is_neighbours(&self, method: &str) -> bool {
        self.of_method(method).is_none() && self.iter().any(|proposal| proposal.is_neighbours(method))
    }

    /// Returns the meaning of an error code in a response to this method: according to its proposal, else to JSON-RPC
    /// or MCP.
    pub(crate) fn error_name(&self, method: &str, code: i64) -> Option<&'static str> {
        self.of_method(method)
            .and_then(|proposal| proposal.descriptor().error_name(code))
            .or_else(|| errors::name(code))
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Registry({})", self.names())
    }
}
