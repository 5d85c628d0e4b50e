//! Shows a connection's messages to the rules of all proposals.

use super::overlap::Overlap;
use super::report::ConnectionSummary;
use super::subject::Message;
use crate::proposals::{ConversationEvent, Declared, Findings, Observer, Registry};
use crate::session::turns::Turns;
use crate::trace::EventHeader;

pub(super) struct Observers {
    registry: &'static Registry,
    each: Vec<Box<dyn Observer>>,
    turns: Turns,
    overlap: Overlap,
}

impl Observers {
    pub(super) fn new(registry: &'static Registry) -> Self {
        let each = registry.iter().map(|proposal| proposal.observer()).collect();
        Self { registry, each, turns: Turns::default(), overlap: Overlap::default() }
    }

    pub(super) fn lose_track(&mut self) {
        self.each.iter_mut().for_each(|observer| observer.lose_track());
    }

    pub(super) fn exchange_failed(&mut self, exchange: u32) {
        self.each.iter_mut().for_each(|observer| observer.exchange_failed(exchange));
    }

    pub(super) fn observe(&mut self, message: &Message<'_>, findings: &mut Findings) {
        let observed = &message.observed;
        let proposal = observed.method.and_then(|method| self.registry.of_method(method));
        let reported = proposal.and_then(|proposal| proposal.conversation_event(observed));
        let moment = reported.and_then(|moment| self.turns.reported(moment));
        self.reach(moment, message.header, findings);
        for observer in &mut self.each {
            observer.observe(observed, findings);
        }
        self.overlap.observe(observed, findings);
    }

    /// Processes a note of the reel. Returns the moment of the conversation that it marks, if it is a mark.
    pub(super) fn note(
        &mut self,
        header: &EventHeader,
        note: &[u8],
        findings: &mut Findings,
    ) -> Option<ConversationEvent> {
        let moment = self.turns.marked(note);
        self.reach(moment, header, findings);
        moment
    }

    fn reach(&mut self, moment: Option<ConversationEvent>, header: &EventHeader, findings: &mut Findings) {
        let Some(moment) = moment else { return };
        self.overlap.reach(moment);
        for observer in &mut self.each {
            observer.reach(moment, header.seq, header.time, findings);
        }
    }

    pub(super) fn finish(&mut self, declared: &Declared, time: i64, findings: &mut Findings) {
        self.each.iter_mut().for_each(|observer| observer.finish(declared, time, findings));
    }

    /// Adds to each declaration the dialect of its proposal that the session uses.
    pub(super) fn name_dialects(&self, summary: &mut ConnectionSummary) {
        for (proposal, observer) in self.registry.iter().zip(&self.each) {
            let name = proposal.descriptor().name;
            let declared = summary.declared.iter_mut().filter(|declaration| declaration.proposal == name);
            declared.for_each(|declaration| declaration.dialect = observer.dialect());
        }
    }
}
