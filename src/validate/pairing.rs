//! Checks that each request gets exactly one response, and that cancellations refer to pending requests.

mod answered;

use super::subjects::progress::NEVER_ISSUED;
use super::{rules, sender};
use crate::proposals::{Findings, Registry};
use crate::protocol::Era;
use crate::session::reading::give_room_back;
use crate::session::tracker::Step;
use crate::wire::{Direction, Envelope, IdKey, MessageKind};
use answered::Answered;
use serde_json::Value;
use std::collections::HashMap;

/// After this time without a response, a request that is pending at the end counts as unanswered (in nanoseconds).
const LONG: i64 = 10_000_000_000;

/// How many ids that were used again are remembered.
const MAX_FURTHER: usize = 1024;

/// A pending request.
#[derive(Debug)]
struct Open {
    seq: u64,
    time: i64,
    method: Box<str>,
    /// The HTTP exchange that carried it, or 0.
    exchange: u32,
    direction: Direction,
    cancelled: bool,
}

/// The pending and the recently answered requests of both sides.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    /// By the fingerprint of the direction and the id.
    open: HashMap<u64, Open, foldhash::fast::RandomState>,
    /// The number of pending requests, by direction.
    waiting: [usize; 2],
    /// Requests that were answered since traffic was lost, if it was. They distinguish a second response from one to an
    /// unknown request.
    answered: Answered,
    /// Requests that were answered before.
    answered_before: Answered,
    /// How many further responses requests may have whose id was used again while it was pending, by fingerprint.
    further: HashMap<u64, u32, foldhash::fast::RandomState>,
    /// The latest request in each direction that was answered. Earlier pending ones were overtaken.
    latest_answered: [u64; 2],
    /// The method of the last message in each direction, if it was a notification: a response right after it may be an
    /// answer to it.
    last_notified: [Option<String>; 2],
    last_seq: u64,
    /// The HTTP exchange that carries the current message, or 0.
    exchange: u32,
    /// The last event before traffic was lost. The state of earlier requests may have changed since.
    lost: Option<u64>,
    /// The exchange of a request failed, so that it is neither pending nor answered.
    has_failed: bool,
    /// The current message belongs to no session: other clients may use the same ids.
    is_shared: bool,
}

impl Pairs {
    pub(super) fn lose_track(&mut self) {
        self.lost = Some(self.last_seq);
        self.answered_before.append(&mut self.answered);
        self.last_notified = [None, None];
    }

    /// Gives up on the pending requests because there are too many.
    pub(super) fn forget(&mut self) {
        self.lose_track();
        self.open.clear();
        self.waiting = [0, 0];
    }

    /// Sets whether the next message belongs to no session, so that other clients may have used its id.
    pub(super) fn share(&mut self, is_shared: bool) {
        self.is_shared = is_shared;
    }

    /// Begins a session, whose ids may have been used before.
    pub(super) fn forget_answered(&mut self) {
        (self.answered, self.answered_before) = Default::default();
    }

    /// Sets the HTTP exchange that carries the next message.
    pub(super) fn carried_by(&mut self, exchange: u32) {
        self.exchange = exchange;
    }

    /// Notes that an HTTP exchange failed: the client's requests in it, several in a batch, get no response.
    pub(super) fn fail(&mut self, exchange: u32) {
        let is_carried =
            |(_, open): &(&u64, &Open)| open.direction == Direction::ClientToServer && open.exchange == exchange;
        let keys: Vec<_> = self.open.iter().filter(is_carried).map(|(key, _)| *key).collect();
        for key in keys {
            self.has_failed = true;
            self.close(key);
        }
    }

    /// Forgets the client's pending requests, because the server is gone. Returns the first one and their number;
    /// cancelled requests, and those whose responses may be missing, do not count.
    pub(super) fn abandon(&mut self) -> Option<(u64, usize)> {
        let is_clients = |open: &Open| open.direction == Direction::ClientToServer;
        let counts = |open: &Open| !open.cancelled && self.lost.is_none_or(|lost| open.seq > lost);
        let waiting = self.open.values().filter(|open| is_clients(open) && counts(open));
        let seqs: Vec<u64> = waiting.map(|open| open.seq).collect();
        self.open.retain(|_, open| !is_clients(open));
        self.waiting[Direction::ClientToServer as usize] = 0;
        seqs.iter().min().map(|first| (*first, seqs.len()))
    }

    /// Returns whether an event lies before a loss of traffic, so that its state is uncertain.
    fn is_stale(&self, seq: u64) -> bool {
        self.lost.is_some_and(|lost| seq <= lost)
    }

    fn was_answered(&self, key: &(Direction, IdKey)) -> bool {
        self.answered.contains(key) || self.answered_before.contains(key)
    }

    fn open(&mut self, key: u64, open: Open) {
        self.close(key);
        self.waiting[open.direction as usize] += 1;
        self.open.insert(key, open);
    }

    fn close(&mut self, key: u64) -> Option<Open> {
        let open = self.open.remove(&key)?;
        give_room_back(&mut self.open);
        self.waiting[open.direction as usize] -= 1;
        Some(open)
    }

    /// Returns whether a request in this direction is pending.
    pub(super) fn waits(&self, direction: Direction) -> bool {
        self.waiting[direction as usize] > 0
    }

    #[expect(clippy::too_many_arguments, reason = "one message and its interpretation")]
    pub(super) fn take(
        &mut self,
        seq: u64,
        time: i64,
        direction: Direction,
        envelope: &Envelope<'_>,
        content: &Value,
        step: &Step,
        findings: &mut Findings,
    ) {
        self.last_seq = seq;
        match envelope.kind {
            MessageKind::Request => self.ask(seq, time, direction, envelope, step, findings),
            MessageKind::Notification => self.notify(seq, direction, envelope, content, step, findings),
            MessageKind::Result | MessageKind::Error => self.answer(seq, direction, envelope, step, findings),
            _ => {}
        }
        self.last_notified[direction as usize] = match envelope.kind {
            MessageKind::Notification => envelope.method.as_deref().map(str::to_owned),
            _ => None,
        };
    }

    fn ask(
        &mut self,
        seq: u64,
        time: i64,
        direction: Direction,
        envelope: &Envelope<'_>,
        step: &Step,
        findings: &mut Findings,
    ) {
        let Some(id) = envelope.id.filter(|id| !id.is_null()) else { return };
        let reused = step.reused.as_ref().filter(|asked| !self.is_stale(asked.seq));
        findings.check(&rules::ID_OPEN, seq, reused.is_none(), || {
            let earlier = reused.map_or(0, |asked| asked.seq);
            let (sender, id) = (sender(direction), id.key());
            format!("the {sender} used id {id} again, but request {id} of event {earlier} is still pending")
        });
        let key = (direction, id.key());
        let fresh = step.reused.is_some() || !self.was_answered(&key);
        if !self.is_shared || direction == Direction::ServerToClient {
            findings.check(&rules::ID_REUSED, seq, fresh, || {
                format!("the {} used id {} before, for a request that was answered", sender(direction), id.key())
            });
        }
        let method = envelope.method.as_deref().unwrap_or_default().into();
        let open = Open { seq, time, method, exchange: self.exchange, direction, cancelled: false };
        let request = id.key().fingerprint(direction);
        if step.reused.is_some() && self.further.len() < MAX_FURTHER {
            *self.further.entry(request).or_default() += 1;
        }
        self.open(request, open);
    }

    fn notify(
        &mut self,
        seq: u64,
        direction: Direction,
        envelope: &Envelope<'_>,
        content: &Value,
        step: &Step,
        findings: &mut Findings,
    ) {
        // A server of the modern era ends a subscription of the client in this way (`subscriptions`).
        let is_of_subscription = step.era == Era::Modern && direction == Direction::ServerToClient;
        if envelope.method.as_deref() == Some("notifications/cancelled") && !is_of_subscription {
            self.cancel(seq, direction, &content["requestId"], findings);
        }
    }

    fn cancel(&mut self, seq: u64, direction: Direction, id: &Value, findings: &mut Findings) {
        let Some(key) = IdKey::of_value(id) else { return };
        let (request, key) = (key.fingerprint(direction), (direction, key));
        let was_sent = self.open.contains_key(&request) || self.was_answered(&key);
        let is_certain = self.lost.is_none() && !self.answered.has_forgotten() && !self.has_failed;
        match was_sent || is_certain {
            true => findings.check(&NEVER_ISSUED, seq, was_sent, || {
                format!("the {} cancelled request {id}, which it never sent", sender(direction))
            }),
            false => findings.give_up(&NEVER_ISSUED),
        }
        let is_late = self.lost.is_none() && self.answered.contains(&key) && !self.open.contains_key(&request);
        let open = self.open.get_mut(&request);
        let initializes = open.as_ref().is_some_and(|open| &*open.method == "initialize");
        findings
            .check(&rules::CANCELLED_INITIALIZE, seq, !initializes, || "the client cancelled initialize".to_owned());
        findings.check(&rules::CANCEL_UNKNOWN, seq, !is_late, || {
            format!("the {} cancelled request {id}, which was answered", sender(direction))
        });
        if let Some(open) = open {
            open.cancelled = true;
        }
    }

    fn answer(
        &mut self,
        seq: u64,
        direction: Direction,
        envelope: &Envelope<'_>,
        step: &Step,
        findings: &mut Findings,
    ) {
        let after = self.last_notified[direction.reversed() as usize].take();
        let Some(id) = envelope.id.filter(|id| !id.is_null()) else {
            if envelope.kind == MessageKind::Error && step.request.is_none() {
                let seen = format!("the {} sent an error without a request id", sender(direction));
                findings.note(&rules::UNATTRIBUTED, seq, seen);
                self.check_notified(seq, after, findings);
            }
            return;
        };
        let key = (direction.reversed(), id.key());
        if let Some(asked) = &step.request {
            for rule in [&rules::ORPHAN, &rules::DUPLICATE_RESPONSE] {
                findings.hold(rule);
            }
            if let Some(open) = self.close(key.1.fingerprint(key.0)) {
                let latest = &mut self.latest_answered[asked.direction as usize];
                *latest = open.seq.max(*latest);
            }
            self.answered.insert(key);
        } else if self.answered.contains(&key) {
            // Each of several requests with the same id has a response.
            let further = self.further.get_mut(&key.1.fingerprint(key.0)).filter(|further| **further > 0);
            let is_due = further.map(|further| *further -= 1).is_some();
            findings.check(&rules::DUPLICATE_RESPONSE, seq, is_due, || {
                format!("the {} answered request {} a second time", sender(direction), id.key())
            });
        } else if self.lost.is_none() {
            let (sender, id) = (sender(direction), id.key());
            let pending = id.lookalike().filter(|other| self.open.contains_key(&other.fingerprint(key.0)));
            let hint =
                pending.map(|other| format!("; request {other} is, but the ids differ in type")).unwrap_or_default();
            let seen = format!("the {sender} answered request {id}, but no such request is pending{hint}");
            findings.note(&rules::ORPHAN, seq, seen);
            self.check_notified(seq, after, findings);
        }
    }

    fn check_notified(&self, seq: u64, after: Option<String>, findings: &mut Findings) {
        let method = after.unwrap_or_default();
        findings.check(&rules::NOTIFICATION_ANSWERED, seq, method.is_empty(), || {
            format!("the response comes right after the notification {method}")
        });
    }

    pub(super) fn finish(&mut self, now: i64, registry: &Registry, findings: &mut Findings) {
        let mut open: Vec<_> = self.open.drain().map(|(_, open)| open).collect();
        // A cancelled request needs no response. The response to one from before a loss may be in the missing part.
        open.retain(|open| !open.cancelled && self.lost.is_none_or(|lost| open.seq > lost));
        open.sort_by_key(|open| open.seq);
        for open in open {
            let overtaken = open.seq < self.latest_answered[open.direction as usize];
            let age = now.saturating_sub(open.time);
            // The response comes only when the subscription ends.
            let long_lived = registry.method_spec(&open.method).is_some_and(|spec| spec.stays_open);
            let rule = match overtaken || age >= LONG {
                true if !long_lived => &rules::UNANSWERED,
                _ => &rules::OPEN_AT_END,
            };
            findings.note(rule, open.seq, format!("{} got no response for {} ms", open.method, age / 1_000_000));
        }
        findings.hold(&rules::UNANSWERED);
    }
}
