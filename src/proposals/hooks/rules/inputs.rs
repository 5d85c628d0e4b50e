//! Whether a `pre_tool_use` hook whose arguments contain the input of the call fires before that call.
//!
//! Calls with the same input cannot be told apart. So a hook that fires after a call counts as late only if no further
//! call with this input follows, for which it may have fired.

use super::{MOMENT, ORDER};
use crate::proposals::Findings;
use crate::proposals::recent::{Digest, Recent};
use crate::wire::IdKey;

/// The maximum number of inputs, and of calls with one input, that are remembered.
const MAX: usize = 256;

/// What identifies a call: its tool, if the hook's arguments name it, and its input.
pub(super) type CallKey = (Option<Digest>, Digest);

/// The calls that one hook may be about, and when it fired, by input.
#[derive(Debug)]
pub(super) struct Inputs(Recent<CallKey, Calls>);

#[derive(Debug, Default)]
struct Calls {
    /// How often the hook fired without a call so far.
    ahead: u64,
    /// Calls without a result, before which it did not fire.
    pending: Vec<IdKey>,
    /// How many calls with a result it did not fire before.
    over: u64,
    /// When it fired after a call that it did not fire before, and whether that call had no result yet.
    late: Vec<(u64, bool)>,
}

impl Default for Inputs {
    fn default() -> Self {
        Self(Recent::new(MAX))
    }
}

impl Inputs {
    fn of(&mut self, key: CallKey) -> Option<&mut Calls> {
        if !self.0.contains(&key) {
            self.0.insert(key, Calls::default());
        }
        self.0.get_mut(&key)
    }

    /// A tool is called that the hook is about.
    pub(super) fn called(&mut self, key: CallKey, id: IdKey, findings: &mut Findings) {
        let Some(calls) = self.of(key) else { return };
        if calls.ahead > 0 {
            calls.ahead -= 1;
            findings.hold(&ORDER);
        } else if calls.late.pop().is_some() {
            calls.over += 1;
            findings.hold(&ORDER);
        } else if calls.pending.len() < MAX {
            calls.pending.push(id);
        }
    }

    /// A call has its result, or the client cancelled it.
    pub(super) fn answered(&mut self, key: &CallKey, id: &IdKey) {
        let Some(calls) = self.0.get_mut(key) else { return };
        if let Some(at) = calls.pending.iter().position(|pending| pending == id) {
            calls.pending.remove(at);
            calls.over += 1;
        }
    }

    /// The context tool is called with the hook's arguments.
    pub(super) fn fired(&mut self, key: CallKey, seq: u64) {
        let Some(calls) = self.of(key) else { return };
        if calls.pending.pop().is_some() {
            calls.late.push((seq, true));
        } else if calls.over > 0 && calls.late.len() < MAX {
            calls.over -= 1;
            calls.late.push((seq, false));
        } else {
            calls.ahead += 1;
        }
    }

    pub(super) fn lose_track(&mut self) {
        self.0 = Recent::new(MAX);
    }

    pub(super) fn finish(&mut self, findings: &mut Findings) {
        let mut late: Vec<(u64, bool)> = self.0.iter_mut().flat_map(|(_, calls)| calls.late.drain(..)).collect();
        late.sort_unstable();
        for (seq, is_pending) in late {
            match is_pending {
                true => findings.note(&ORDER, seq, "the hook on pre_tool_use fired after the tool call had been sent"),
                false => {
                    findings.note(&MOMENT, seq, "the hook on pre_tool_use fired after the tool call had its result");
                }
            }
        }
    }
}
