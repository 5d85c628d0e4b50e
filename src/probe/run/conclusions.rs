//! What the end of a run means: what broke the client, and what to find out next.

use super::{Candidate, MARGIN, Output, ProbeRun, Quiet};
use crate::probe::client_run::{Purpose, Step};
use crate::probe::report::{ClientEnd, ClientFailure, TrialOutcome};
use crate::probe::search::Search;
use std::time::Duration;

/// Maximum difference between two lifetimes that count as equal.
const SAME: Duration = Duration::from_millis(250);

/// Whether a client is known to have ended in two ways. How it ended may be known late on a busy machine.
fn differ(one: Option<&ClientEnd>, other: Option<&ClientEnd>) -> bool {
    one.zip(other).is_some_and(|(one, other)| one != other)
}

impl ProbeRun {
    /// Draws conclusions from a run that ended early.
    pub(super) fn conclude(&mut self, now: Duration) -> Vec<Output> {
        let Some(run) = &self.run else { return Vec::new() };
        let end = run.end.clone();
        let age = now.saturating_sub(run.ready);
        let sent = run.sent;
        match (run.purpose.clone(), run.step) {
            (_, _) if run.stream.is_none() => self.conclude_handshake(),
            (Purpose::Quiet(..), _) => self.quiet = Some(Quiet::Ends(sent, age, end)),
            (Purpose::Declaring(places), _) if places.is_empty() => {
                // It exits whatever is declared.
                self.runs.clear();
                self.idle += 2;
            }
            (Purpose::Declaring(places), _) => self.declared(&places, Some(end.unwrap_or_default())),
            (Purpose::Probing, Step::Leaving(Some(probe))) => {
                self.candidate = Some(Candidate { probe, end, age, sent });
            }
            (Purpose::Probing, _) => self.ended_early(end.unwrap_or_default(), age),
        }
        self.finish(now)
    }

    /// Draws conclusions from a run in which no handshake was completed.
    fn conclude_handshake(&mut self) {
        let Some(run) = &self.run else { return };
        let end = run.end.clone();
        if self.was_ready && matches!(run.purpose, Purpose::Quiet(..)) {
            // The handshake succeeded before, so the failure has another cause.
            self.quiet = Some(Quiet::Ends(0, Duration::ZERO, end));
            return;
        }
        if !self.was_ready && !run.has_begun {
            let is_modern = run.is_modern;
            self.failure = Some(if is_modern { ClientFailure::OnlyModern } else { ClientFailure::NeverCame(end) });
            return;
        }
        match run.purpose.clone() {
            Purpose::Declaring(places) if places.is_empty() => self.failure = Some(ClientFailure::NoHandshake(end)),
            Purpose::Declaring(places) => self.declared(&places, Some(end.unwrap_or_default())),
            Purpose::Probing if self.was_ready || !self.places.is_empty() => {
                self.ended_early(end.unwrap_or_default(), Duration::ZERO);
            }
            Purpose::Probing | Purpose::Quiet(..) => self.failure = Some(ClientFailure::NoHandshake(end)),
        }
    }

    /// The client ended before anything was sent. If it never was alive with these declarations, they may be the cause:
    /// tries none, then each alone, then groups of those that are left.
    fn ended_early(&mut self, end: ClientEnd, age: Duration) {
        let left: Vec<usize> = (0..self.places.len()).filter(|place| !self.is_broken(*place)).collect();
        self.early = if age.is_zero() { Duration::ZERO } else { age + MARGIN };
        if self.is_sound || self.tested_alone && left.len() < 2 || self.places.is_empty() {
            self.idle += 1;
        } else if self.tested_alone {
            self.search = Some(Search::new(left, end));
        } else {
            self.tested_alone = true;
            let each = (0..self.places.len()).map(|place| vec![place]);
            self.runs = std::iter::once(Vec::new()).chain(each).map(Purpose::Declaring).collect();
        }
    }

    /// The client was declared these places, and ended like this, if it did.
    pub(super) fn declared(&mut self, places: &[usize], end: Option<ClientEnd>) {
        if let Some(search) = &mut self.search {
            return search.take(places.len(), end);
        }
        let outcome = end.map_or(TrialOutcome::Taken, TrialOutcome::Broke);
        for place in places {
            self.places[*place] = Some(outcome.clone());
        }
    }

    /// The next run of a search. If it is over, its group broke the client.
    pub(super) fn search_on(&mut self) -> Option<Purpose> {
        let search = self.search.as_mut()?;
        if let Some(places) = search.next() {
            return Some(Purpose::Declaring(places));
        }
        let (group, end) = (search.group().to_vec(), search.end.clone());
        self.search = None;
        self.declared(&group, Some(end));
        self.groups.push(group);
        None
    }

    /// Decides whether the message broke the client, or whether the client exits by itself. Schedules a quiet run if
    /// that is unknown.
    pub(super) fn weigh(&mut self) {
        let Some(Candidate { probe, end, age, sent }) = self.candidate.take() else { return };
        let known = end.clone().unwrap_or_default();
        let outcome = match &self.quiet {
            Some(Quiet::Stays(pings, limit)) if *limit >= age && *pings >= sent => TrialOutcome::Broke(known),
            // It can end by itself after some time, or after some messages.
            Some(Quiet::Ends(pings, at, by_itself))
                if differ(by_itself.as_ref(), end.as_ref()) || age + SAME < *at && sent < *pings =>
            {
                TrialOutcome::Broke(known)
            }
            Some(Quiet::Ends(..)) if self.tried.insert(probe) => {
                // Try again, as the first message of a run.
                self.outcomes[probe] = None;
                self.todo.retain(|it| *it != probe);
                self.todo.push_front(probe);
                return;
            }
            Some(Quiet::Ends(..)) => TrialOutcome::Unclear(known),
            // There is no restart left for a quiet run.
            _ if self.sendings > self.settings.restarts => TrialOutcome::Broke(known),
            _ => {
                self.candidate = Some(Candidate { probe, end, age, sent });
                self.runs.push_back(Purpose::Quiet(sent, age + MARGIN));
                return;
            }
        };
        self.outcomes[probe] = Some(outcome);
    }
}
