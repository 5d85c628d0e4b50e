//! The tools that the overlay adds to the server's own.

use super::{Output, Overlay};
use serde_json::Value;
use std::collections::BTreeSet;

/// What is known about the server's tools.
#[derive(Debug, Default)]
pub(super) struct ServerTools {
    /// The names of the server's own tools, as far as they were listed.
    pub servers_own: Option<BTreeSet<String>>,
    /// The server has no tools, so the whole list is the overlay's.
    pub is_ours_alone: bool,
    /// Missing tools were already reported.
    was_reported: bool,
}

impl Overlay {
    /// The tools that the overlay adds.
    pub(super) fn own_tools(&self) -> Vec<Value> {
        let mut tools = self.embedded_server.tools();
        if self.embedded_server.is_on(super::plan::HOOKS) {
            let is_free = |name: &str| self.server_tools.servers_own.as_ref().is_none_or(|own| !own.contains(name));
            let hooks = self.plan.tools.iter().filter(|tool| is_free(&tool.name));
            tools.extend(hooks.map(super::plan::HookTool::listed));
        }
        tools
    }

    /// The index of the overlay's hook tool with this name.
    pub(super) fn hook_tool(&self, tool: &str) -> Option<usize> {
        let is_free = self.server_tools.servers_own.as_ref().is_none_or(|own| !own.contains(tool));
        let at = self.plan.tools.iter().position(|own| own.name == tool)?;
        (is_free && self.embedded_server.is_on(super::plan::HOOKS)).then_some(at)
    }

    /// Reads a page of the server's tools. If the server has a tool with a name that the overlay would add, the
    /// server's wins.
    pub(super) fn learn_tools(&mut self, page: &Value, out: &mut Vec<Output>) {
        let own = self.server_tools.servers_own.get_or_insert_default();
        let names = page["tools"].as_array().into_iter().flatten().filter_map(|tool| tool["name"].as_str());
        for name in names {
            let is_new = own.insert(name.to_owned());
            let clashes = self.embedded_server.withdraw(name) || self.plan.tools.iter().any(|tool| tool.name == name);
            if is_new && clashes {
                out.push(Output::Notice(format!(
                    "the server already has a tool {name}; the overlay does not add its own"
                )));
            }
        }
    }

    /// Reports tools that the overlay refers to and the server does not have.
    pub(super) fn name_missing(&mut self, out: &mut Vec<Output>) {
        if std::mem::replace(&mut self.server_tools.was_reported, true) {
            return;
        }
        let Some(own) = &self.server_tools.servers_own else { return };
        for (tool, line) in self.plan.named.iter().filter(|(tool, _)| !own.contains(tool)) {
            let known: Vec<&str> = own.iter().map(String::as_str).collect();
            let near = similar::get_close_matches(tool.as_str(), &known, 1, 0.5);
            let near = near.first().map(|near| format!("; did you mean {near}?")).unwrap_or_default();
            out.push(Output::Notice(format!(
                "the server has no tool {tool:?}, which the overlay names in line {line}{near}"
            )));
        }
    }
}
