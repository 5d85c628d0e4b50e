//! Tool calls that a proposal answers later.

use super::incoming::Origin;
use super::{Report, Server};
use crate::proposals::server::{Answer, ToolCall};
use crate::wire::IdKey;
use std::collections::BTreeMap;

/// The waiting calls, by ticket.
#[derive(Debug, Default)]
pub(super) struct Deferred {
    given: u64,
    waiting: BTreeMap<u64, Origin>,
    settled: Vec<(Origin, Answer)>,
}

impl Deferred {
    /// Whether a call is still waiting.
    pub(super) fn awaits(&self, ticket: u64) -> bool {
        self.waiting.contains_key(&ticket)
    }

    /// Records a call's answer, which is sent once the server has handled its input.
    pub(super) fn settle(&mut self, ticket: u64, answer: Answer) {
        self.settled.extend(self.waiting.remove(&ticket).map(|origin| (origin, answer)));
    }

    fn forget(&mut self, id: &IdKey) -> Option<Origin> {
        let ticket = self.waiting.iter().find(|(_, origin)| origin.key() == *id).map(|(ticket, _)| *ticket)?;
        self.waiting.remove(&ticket)
    }
}

impl Server {
    /// Offers a call to the proposals. Returns true if one of them answers it later.
    pub(super) fn defer(&mut self, origin: &Origin, call: &ToolCall<'_>) -> bool {
        let deferred = &mut self.cx.deferred;
        deferred.given += 1;
        let ticket = deferred.given;
        deferred.waiting.insert(ticket, origin.clone());
        let taken = self.proposals.defer(call, ticket, &mut self.cx);
        if !taken {
            self.cx.deferred.waiting.remove(&ticket);
        }
        taken
    }

    /// Handles the cancellation of a waiting call, which is then not answered. Returns whether there is one.
    pub(super) fn take_back(&mut self, id: &IdKey) -> bool {
        let Some(origin) = self.cx.deferred.forget(id) else { return false };
        self.report(Report::Cancelled { id: origin.id().to_owned() });
        self.drop_reply(&origin);
        true
    }

    /// Sends the recorded answers.
    pub(super) fn pay_out(&mut self) {
        for (origin, answer) in std::mem::take(&mut self.cx.deferred.settled) {
            self.reply(&origin, answer);
        }
    }
}
