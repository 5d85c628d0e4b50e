//! The subjects of MCP, each with its own file, its rules, and what they remember of one connection.
//!
//! A subject sees each message once, after the checks of JSON-RPC, of pairing and of the schema.

use super::connection::Before;
use super::foreign_schema::Library;
use super::subjects;
use crate::proposals::{Findings, Observed, Registry, Rule};
use crate::protocol::{Era, Revision};
use crate::trace::EventHeader;
use crate::wire::{Direction, MessageKind};
use serde_json::Value;

/// A message, with everything that MCP's own rules look at.
pub(super) struct Message<'a> {
    pub observed: Observed<'a>,
    pub before: Before,
    /// The era of the message's content.
    pub era: Era,
    /// The event that carries it.
    pub header: &'a EventHeader,
    /// The schemas of peers that all connections share.
    pub schemas: &'a Library,
    /// The proposals and packs that are known.
    pub registry: &'static Registry,
}

impl<'a> Message<'a> {
    /// Returns the number of the event.
    pub(super) fn seq(&self) -> u64 {
        self.observed.seq
    }

    /// Returns the method of a request or notification; an empty text for a response.
    pub(super) fn method(&self) -> &'a str {
        match self.observed.envelope.kind {
            MessageKind::Request | MessageKind::Notification => self.observed.method.unwrap_or_default(),
            _ => "",
        }
    }

    /// Returns the method of the request that this result answers; an empty text for anything else.
    pub(super) fn result_of(&self) -> &'a str {
        if self.observed.envelope.kind == MessageKind::Result { self.observed.method.unwrap_or_default() } else { "" }
    }

    /// Returns whether the message is a request.
    pub(super) fn is_request(&self) -> bool {
        self.observed.envelope.kind == MessageKind::Request
    }

    /// Returns whether the client sent the message.
    pub(super) fn is_clients(&self) -> bool {
        self.observed.direction == Direction::ClientToServer
    }

    /// Returns `client` or `server`: who sent the message.
    pub(super) fn sender(&self) -> &'static str {
        super::sender(self.observed.direction)
    }

    /// Returns the params, the result or the error.
    pub(super) fn content(&self) -> &'a Value {
        self.observed.content
    }

    /// Returns the revision that applies to the message, if it is known.
    pub(super) fn revision(&self) -> Option<Revision> {
        match self.era {
            Era::Modern => Some(Revision::V2026_07_28),
            Era::Legacy => self.before.revision.filter(|revision| revision.era() == Era::Legacy),
        }
    }

    /// Returns whether a revision from this one on applies to the message.
    pub(super) fn is_since(&self, first: Revision) -> bool {
        self.revision().is_some_and(|revision| revision >= first)
    }

    /// Returns whether the message belongs to the modern era.
    pub(super) fn is_modern(&self) -> bool {
        self.era == Era::Modern
    }

    /// Returns whether all earlier traffic is in the reel, so that what it does not contain was not sent.
    pub(super) fn saw_all(&self) -> bool {
        !self.before.lost
    }
}

/// The checks of one subject on one connection.
pub(super) trait Subject {
    /// Checks a message.
    fn observe(&mut self, message: &Message<'_>, findings: &mut Findings);

    /// Reports what is known only at the end of the session.
    fn finish(&mut self, _findings: &mut Findings) {}
}

/// One subject of MCP.
pub(super) struct SubjectEntry {
    /// Its rules.
    pub rules: &'static [Rule],
    /// The first and the last revision that the rules are about.
    pub revisions: (Revision, Revision),
    /// Creates the checks for one connection.
    pub begin: fn() -> Box<dyn Subject>,
}

impl SubjectEntry {
    /// Returns whether the rules are about a session of this era and revision, as far as they are known.
    fn applies(&self, era: Option<Era>, revision: Option<Revision>) -> bool {
        let (first, last) = self.revisions;
        match (revision, era) {
            (Some(revision), _) => (first..=last).contains(&revision),
            (None, Some(era)) => first.era() == era || last.era() == era,
            (None, None) => true,
        }
    }
}

/// All subjects. To add one, add its file and one entry here.
pub(super) static SUBJECTS: &[SubjectEntry] = &[
    subjects::capabilities::ENTRY,
    subjects::content::ENTRY,
    subjects::elicitation::ENTRY,
    subjects::input_required::ENTRY,
    subjects::logging::ENTRY,
    subjects::pagination::ENTRY,
    subjects::progress::ENTRY,
    subjects::sampling::ENTRY,
    subjects::stateless::ENTRY,
    subjects::subscriptions::ENTRY,
    subjects::tasks::ENTRY,
    subjects::tools::ENTRY,
];

/// Returns the rules of subjects that are not about a session of this era and revision.
pub(super) fn not_applicable(era: Option<Era>, revision: Option<Revision>) -> impl Iterator<Item = &'static str> {
    let others = SUBJECTS.iter().filter(move |entry| !entry.applies(era, revision));
    others.flat_map(|entry| entry.rules.iter().map(|rule| rule.id))
}
