//! When the context tool of a hook around tool calls is called, if its arguments do not say which call the hook is
//! about.
//!
//! A call of the context tool may then also be one that the agent made itself, or be about a tool of the host's own. So
//! only what fits no order of the visible calls is reported.

use super::MOMENT;
use crate::proposals::Findings;
use crate::wire::IdKey;
use serde_json::Value;

/// How many open calls are remembered.
const MAX_OPEN: usize = 64;

/// The calls that one hook is about, and the calls of its context tool.
#[derive(Debug)]
pub(super) struct Moments {
    is_post: bool,
    /// Open calls, and whether the context tool was called before them.
    open: Vec<(IdKey, bool)>,
    /// Some open calls were forgotten, because there were too many.
    has_forgotten: bool,
    /// Calls with a result, or calls of the context tool, that none of the other kind followed so far.
    unused: u64,
    /// Calls of the context tool that came after a call had been sent: its id and their event.
    late: Vec<(IdKey, u64)>,
    /// The arguments name the tool of the call, so that the agent hardly calls the context tool like this itself.
    names_tool: bool,
    /// Calls with a result before which the context tool was not called.
    unprepared: u64,
    /// Calls of the context tool after such a call, which no further call followed so far.
    too_late: Vec<u64>,
}

impl Moments {
    /// For a declaration; `None` if the moment is unknown, or if the arguments identify the call.
    pub(super) fn of(event: &str, declaration: &Value) -> Option<Self> {
        let is_post = match event {
            "pre_tool_use" => false,
            "post_tool_use" => true,
            _ => return None,
        };
        let mut matchers = declaration["matcher"].as_object().into_iter().flat_map(|matcher| matcher.keys());
        let arguments = &declaration["context_tool_args"];
        let names_tool = contains(arguments, "{tool_name}");
        // Of a matcher that names one tool, all calls are calls of that tool.
        let tool = declaration["matcher"]["tool_name"].as_str();
        let is_of_one = !is_post && tool.is_some_and(|tool| !tool.contains(['*', '?', '[']));
        let tells = contains(arguments, "{tool_input}") || names_tool && !is_of_one;
        (!tells && matchers.all(|name| name == "tool_name")).then(|| Self {
            is_post,
            open: Vec::new(),
            has_forgotten: false,
            unused: 0,
            late: Vec::new(),
            names_tool,
            unprepared: 0,
            too_late: Vec::new(),
        })
    }

    pub(super) fn lose_track(&mut self) {
        (self.open, self.late, self.too_late, self.unprepared) = (Vec::new(), Vec::new(), Vec::new(), 0);
    }

    /// A tool is called that the hook is about.
    pub(super) fn called(&mut self, id: IdKey, findings: &mut Findings) {
        let is_prepared = !self.is_post && (self.unused > 0 || self.late.pop().is_some());
        if is_prepared {
            self.unused = self.unused.saturating_sub(1);
            self.too_late.pop();
            findings.hold(&MOMENT);
        }
        if self.open.len() >= MAX_OPEN {
            self.open.remove(0);
            self.has_forgotten = true;
        }
        self.open.push((id, is_prepared));
    }

    /// A call has its result.
    pub(super) fn answered(&mut self, id: &IdKey, findings: &mut Findings) {
        let at = self.open.iter().position(|(open, _)| open == id);
        match at.map(|at| self.open.remove(at)) {
            Some(_) if self.is_post => self.unused += 1,
            Some((_, false)) => self.unprepared += 1,
            _ => {}
        }
        let (over, left) = std::mem::take(&mut self.late).into_iter().partition(|(call, _)| call == id);
        self.late = left;
        report(over, findings);
    }

    /// The context tool is called with the hook's arguments.
    pub(super) fn fired(&mut self, seq: u64, findings: &mut Findings) {
        if self.is_post {
            let holds = self.unused > 0;
            if !holds && self.has_forgotten {
                findings.give_up(&MOMENT);
            } else if holds || !self.open.is_empty() {
                findings.check(&MOMENT, seq, holds, || {
                    "the hook on post_tool_use fired while no tool call had a result yet".to_owned()
                });
            }
            self.unused = self.unused.saturating_sub(1);
            return;
        }
        match self.open.iter_mut().find(|(_, is_prepared)| !is_prepared) {
            Some((call, is_prepared)) if self.late.len() < MAX_OPEN => {
                *is_prepared = true;
                self.late.push((call.clone(), seq));
            }
            _ => {
                self.unused += 1;
                if self.names_tool && self.unprepared > 0 && self.too_late.len() < MAX_OPEN {
                    self.unprepared -= 1;
                    self.too_late.push(seq);
                }
            }
        }
    }

    pub(super) fn finish(&mut self, findings: &mut Findings) {
        report(std::mem::take(&mut self.late), findings);
        for seq in std::mem::take(&mut self.too_late) {
            findings.note(&MOMENT, seq, "the hook on pre_tool_use fired after the tool call had its result");
        }
    }
}

fn report(late: Vec<(IdKey, u64)>, findings: &mut Findings) {
    for (_, seq) in late {
        findings.note(&MOMENT, seq, "the hook on pre_tool_use fired after the tool call had been sent");
    }
}

/// Whether one of the arguments is this variable alone.
pub(super) fn contains(arguments: &Value, variable: &str) -> bool {
    match arguments {
        Value::String(text) => text == variable,
        Value::Array(items) => items.iter().any(|item| contains(item, variable)),
        Value::Object(members) => members.values().any(|item| contains(item, variable)),
        _ => false,
    }
}
