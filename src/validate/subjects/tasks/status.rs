//! The status of a task: how it changes, and which lists contain the task.

use super::{DURATION, EARLY_RESULT, LIST_INCOMPLETE, TIMESTAMP, TRANSITION};
use crate::proposals::{Findings, timestamp};
use serde_json::Value;

/// What is known of a task.
#[derive(Debug, Default)]
pub(super) struct Task {
    /// The last status, as it is written.
    status: String,
    /// The event that showed that the task is finished.
    pub finished: Option<u64>,
    /// The event of the last response that contained its status, and its time.
    pub reported: i64,
    /// The time between two questions that it asks for (in nanoseconds).
    pub interval: i64,
    /// The event of the latest result of `tasks/get`.
    got: Option<u64>,
    /// The event of a later list without it.
    left_out: Option<u64>,
}

fn is_terminal(status: &str) -> bool {
    matches!(status, "completed" | "failed" | "cancelled")
}

impl Task {
    pub(super) fn check_change(
        &mut self,
        seq: u64,
        id: &str,
        status: &str,
        since: Option<u64>,
        findings: &mut Findings,
    ) {
        // A response may have been on its way when the task ended.
        let counts = |event: u64| since.is_none_or(|since| since > event);
        if is_terminal(&self.status) && self.finished.is_some_and(counts) {
            findings.check(&TRANSITION, seq, status == self.status, || {
                format!("task {id:?} changed from {} to {status}", self.status)
            });
        } else if let Some(finished) = self.finished.filter(|event| counts(*event)) {
            findings.check(&EARLY_RESULT, seq, is_terminal(status), || {
                format!("task {id:?} is {status}, but its result came in event {finished}")
            });
        } else {
            findings.hold(&TRANSITION);
        }
        if !is_terminal(&self.status) {
            if is_terminal(status) {
                self.finished = self.finished.or(Some(seq));
            }
            status.clone_into(&mut self.status);
        }
    }

    /// Notes a complete list, which `tasks/list` at the event `asked` returned at the event `seq`. A task that was found
    /// before is missing by mistake if it is found afterwards, too.
    pub(super) fn note_list(&mut self, asked: u64, seq: u64, is_listed: bool, findings: &mut Findings) {
        if self.got.is_none_or(|got| got > asked) {
            return;
        }
        if is_listed {
            findings.hold(&LIST_INCOMPLETE);
        }
        self.left_out = (!is_listed).then_some(seq);
    }

    /// Notes that `tasks/get` at the event `asked` found the task.
    pub(super) fn check_listed(&mut self, id: &str, asked: u64, seq: u64, findings: &mut Findings) {
        if let Some(list) = self.left_out.take_if(|list| *list < asked) {
            let seen = format!("tasks/get finds task {id:?}, which the list of event {list} does not contain");
            findings.note(&LIST_INCOMPLETE, seq, seen);
        }
        self.got = Some(seq);
    }
}

pub(super) fn check_times(seq: u64, reported: &Value, findings: &mut Findings) {
    for name in ["createdAt", "lastUpdatedAt"] {
        if let Some(text) = reported[name].as_str() {
            findings.check(&TIMESTAMP, seq, timestamp::instant(text).is_some(), || format!("{name} is {text:?}"));
        }
    }
    for name in ["ttl", "pollInterval"] {
        if let Some(number) = reported[name].as_f64() {
            findings.check(&DURATION, seq, number >= 0.0, || format!("{name} is {number}"));
        }
    }
}
