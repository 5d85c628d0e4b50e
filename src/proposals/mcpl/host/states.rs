//! The states of a server's tools, one per lineage of checkpoints (MCPL 0.4 §8).
//!
//! A rollback names a feature set, but nothing on the wire says which set a tool belongs to. So a tool whose set is not
//! known has a lineage of its own, until its result continues a checkpoint of another one: then both share it. A
//! rollback changes the lineage of its set, else the one that has the checkpoint, which belongs to this set from then on.

use super::irregular::Irregularity::{self, Note};
use super::state::Tree;
use crate::proposals::policy::Policy;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// How many lineages a server may have, and how many tools may share one.
const MAX_LINEAGES: usize = 64;
const MAX_TOOLS: usize = 1024;

/// The states of one server.
#[derive(Debug)]
pub(super) struct States {
    is_full: bool,
    max_bytes: usize,
    lineages: Vec<Lineage>,
}

#[derive(Debug)]
struct Lineage {
    /// The feature set, once it is known.
    set: Option<String>,
    /// The tools whose sets are not known.
    tools: BTreeSet<String>,
    tree: Tree,
}

impl States {
    /// No states yet.
    pub(super) fn new(policy: &Policy) -> Self {
        let (is_full, max_bytes) = (policy.word("state") == "full", policy.length("state_bytes"));
        Self { is_full, max_bytes, lineages: Vec::new() }
    }

    /// The member with which a call of a tool, whose set may be known, carries its state (MCPL 0.4 §8.4).
    pub(super) fn member(&self, set: Option<&str>, tool: &str) -> Option<(&'static str, Value)> {
        self.lineages[self.of_tool(set, tool)?].tree.member()
    }

    /// Takes the state in a tool's result. Returns a sentence for each irregularity.
    pub(super) fn take(&mut self, set: Option<&str>, tool: &str, state: &Value) -> Vec<Irregularity> {
        let continued = || self.continued(set, state["parent"].as_str()?);
        let Some(at) = self.of_tool(set, tool).or_else(continued).or_else(|| self.add(set)) else {
            return vec![Note(format!(
                "the state of {tool} is dropped: a server may have at most {MAX_LINEAGES} states"
            ))];
        };
        let share = self.lineages.len();
        let lineage = &mut self.lineages[at];
        if set.is_none() && lineage.tools.len() < MAX_TOOLS {
            lineage.tools.insert(tool.to_owned());
        }
        lineage.tree.take(state, share)
    }

    /// The checkpoint `steps` before the current one of a set; `None` if it is not known.
    pub(super) fn back(&self, set: &str, steps: u64) -> Option<&str> {
        let all = self.of_set(set);
        let [only] = all[..] else { return None };
        self.lineages[only].tree.back(steps)
    }

    /// A set was rolled back to a checkpoint, which the server calls `named` from now on. Returns a sentence if it is
    /// not clear which state that changes.
    pub(super) fn rolled_back(&mut self, set: &str, checkpoint: &str, named: &str) -> Option<Irregularity> {
        let all = self.of_set(set);
        let known: Vec<usize> = all.iter().copied().filter(|at| self.lineages[*at].tree.has(checkpoint)).collect();
        let meant = if known.is_empty() { &all } else { &known };
        match meant[..] {
            [] => None,
            [only] => {
                let lineage = &mut self.lineages[only];
                lineage.set = Some(set.to_owned());
                lineage.tree.rolled_back(checkpoint, named);
                None
            }
            _ => {
                let tools = meant.iter().flat_map(|at| &self.lineages[*at].tools).map(String::as_str);
                let tools = tools.collect::<Vec<_>>().join(", ");
                let which = if known.is_empty() { "none of the states" } else { "more than one of the states" };
                Some(Note(format!(
                    "the tools {tools} keep their states, because {which} has the checkpoint {checkpoint}, and none of \
                     these tools names its feature set; the option mcpl.tool_sets says it"
                )))
            }
        }
    }

    /// The server no longer knows a checkpoint of a set.
    pub(super) fn forget(&mut self, set: &str, checkpoint: &str) {
        if let [only] = self.of_set(set)[..] {
            self.lineages[only].tree.forget(checkpoint);
        }
    }

    /// All states by set or by the names of their tools, for display.
    pub(super) fn state(&self) -> Map<String, Value> {
        let one = |lineage: &Lineage| {
            let tools = || lineage.tools.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
            (lineage.set.clone().unwrap_or_else(tools), lineage.tree.state())
        };
        self.lineages.iter().map(one).collect()
    }

    fn of_tool(&self, set: Option<&str>, tool: &str) -> Option<usize> {
        self.lineages.iter().position(|lineage| match set {
            Some(set) => lineage.set.as_deref() == Some(set),
            None => lineage.tools.contains(tool),
        })
    }

    /// The lineages that a set may have: its own, or all of tools whose sets are not known.
    fn of_set(&self, set: &str) -> Vec<usize> {
        match self.of_tool(Some(set), "") {
            Some(own) => vec![own],
            None => (0..self.lineages.len()).filter(|at| self.lineages[*at].set.is_none()).collect(),
        }
    }

    /// The only lineage with this checkpoint, for a tool whose set is not known.
    fn continued(&self, set: Option<&str>, parent: &str) -> Option<usize> {
        let mut with = (0..self.lineages.len()).filter(|at| set.is_none() && self.lineages[*at].tree.has(parent));
        with.next().filter(|_| with.next().is_none())
    }

    fn add(&mut self, set: Option<&str>) -> Option<usize> {
        let tree = Tree::new(self.is_full, self.max_bytes);
        let lineage = Lineage { set: set.map(str::to_owned), tools: BTreeSet::new(), tree };
        (self.lineages.len() < MAX_LINEAGES).then(|| self.lineages.push(lineage))?;
        Some(self.lineages.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proposals::policy::Policies;
    use serde_json::json;

    fn states(how: &str) -> States {
        let mut policies = Policies::new([("mcpl", super::super::SETTINGS)]);
        policies.set(None, "mcpl.state", &how.into()).unwrap();
        States::new(&policies.of("mcpl", "s"))
    }

    fn checkpoint(name: &str, parent: Option<&str>) -> Value {
        json!({"checkpoint": name, "parent": parent})
    }

    #[test]
    fn c33_a_rollback_changes_the_state_that_has_its_checkpoint_and_names_its_set() {
        let mut states = states("full");
        for (tool, name, parent) in
            [("a", "a1", None), ("b", "b1", None), ("a", "a2", Some("a1")), ("b", "b2", Some("b1"))]
        {
            assert_eq!(states.take(None, tool, &checkpoint(name, parent)), []);
        }
        assert_eq!(states.back("set.a", 1), None, "which of both is not known yet");
        assert_eq!(states.rolled_back("set.a", "a1", "a1"), None);
        let sent = |states: &States, tool: &str| states.member(None, tool).map(|(_, value)| value);
        assert_eq!((sent(&states, "a"), sent(&states, "b")), (Some(json!("a1")), Some(json!("b2"))));
        // From now on it is known, so the other set can only mean the other state.
        assert_eq!((states.back("set.a", 0), states.back("set.b", 1)), (Some("a1"), Some("b1")));
        assert_eq!(states.rolled_back("set.b", "unheard", "unheard"), None);
        assert_eq!((sent(&states, "a"), sent(&states, "b")), (Some(json!("a1")), Some(json!("unheard"))));
        assert_eq!(states.state().keys().collect::<Vec<_>>(), ["set.a", "set.b"]);
    }

    #[test]
    fn c33_a_rollback_that_may_mean_several_states_changes_none_and_is_reported() {
        let mut states = states("full");
        for tool in ["a", "b"] {
            states.take(None, tool, &checkpoint("c1", None));
            states.take(None, tool, &checkpoint("c2", Some("c1")));
        }
        for (checkpoint, part) in [("c1", "more than one"), ("c9", "none of the states")] {
            let odd = states.rolled_back("set", checkpoint, checkpoint).expect("reported");
            assert!(["a, b", part, "mcpl.tool_sets"].iter().all(|words| odd.text().contains(words)), "{odd:?}");
        }
        assert_eq!(states.member(None, "a"), Some(("checkpoint", json!("c2"))));
        assert!(states.rolled_back("set", "c1", "c1").is_some(), "each time");
    }

    #[test]
    fn c32_known_sets_have_one_state_whatever_the_tool() {
        let mut states = states("minimal");
        states.take(Some("notes"), "a", &checkpoint("n1", None));
        states.take(None, "c", &checkpoint("x", None));
        assert_eq!(states.member(Some("notes"), "b"), Some(("checkpoint", json!("n1"))));
        assert_eq!(states.member(None, "d"), None);
        states.forget("notes", "n1");
        for number in 0..MAX_LINEAGES {
            states.take(Some(&format!("set{number}")), "t", &checkpoint("k", None));
        }
        assert_eq!(states.lineages.len(), MAX_LINEAGES);
        assert!(states.take(Some("more"), "t", &checkpoint("k", None))[0].text().contains("dropped"));
    }
}
