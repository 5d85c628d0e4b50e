//! Requests and their answers: none missing, none twice, none out of nowhere; cancellation and progress with them.

use super::rules;
use crate::extension::Findings;
use crate::extension::recent::Recent;
use crate::session::tracker::Step;
use crate::wire::{Direction, Envelope, IdKey, MessageKind};
use serde_json::Value;
use std::collections::HashMap;

/// How many answered ids are remembered, to tell a second answer from an orphan.
const ANSWERED: usize = 1024;
/// A request that waited this long at the end was left unanswered, not cut off (nanoseconds).
const LONG: i64 = 10_000_000_000;

/// A request that waits.
#[derive(Debug)]
struct Open {
    seq: u64,
    time: i64,
    method: String,
    token: Option<String>,
    cancelled: bool,
    /// A request asked later the same way was answered meanwhile.
    overtaken: bool,
}

/// Both sides' open and recently answered requests.
#[derive(Debug)]
pub(super) struct Pairs {
    open: HashMap<(Direction, IdKey), Open, foldhash::fast::RandomState>,
    answered: Recent<(Direction, IdKey)>,
    /// The last message each way was a notification: what came right after it may be its answer.
    last_notified: [Option<String>; 2],
    lost_track: bool,
}

impl Default for Pairs {
    fn default() -> Self {
        Self {
            open: HashMap::default(),
            answered: Recent::new(ANSWERED),
            last_notified: [None, None],
            lost_track: false,
        }
    }
}

impl Pairs {
    pub fn lose_track(&mut self) {
        self.lost_track = true;
    }

    /// Whether a request that went this way waits.
    pub fn waits(&self, direction: Direction) -> bool {
        self.open.keys().any(|(asked, _)| *asked == direction)
    }

    #[expect(clippy::too_many_arguments, reason = "one message and what was made of it")]
    pub fn take(
        &mut self,
        seq: u64,
        time: i64,
        direction: Direction,
        envelope: &Envelope<'_>,
        content: &Value,
        step: &Step,
        findings: &mut Findings,
    ) {
        match envelope.kind {
            MessageKind::Request => self.ask(seq, time, direction, envelope, content, step, findings),
            MessageKind::Notification => self.notify(seq, direction, envelope, content, findings),
            MessageKind::Result | MessageKind::Error => self.answer(seq, direction, envelope, step, findings),
            _ => {}
        }
        self.last_notified[direction as usize] = match envelope.kind {
            MessageKind::Notification => envelope.method.as_deref().map(str::to_owned),
            _ => None,
        };
    }

    #[expect(clippy::too_many_arguments, reason = "one message and what was made of it")]
    fn ask(
        &mut self,
        seq: u64,
        time: i64,
        direction: Direction,
        envelope: &Envelope<'_>,
        content: &Value,
        step: &Step,
        findings: &mut Findings,
    ) {
        let Some(id) = envelope.id.filter(|id| !id.is_null()) else { return };
        findings.check(&rules::ID_OPEN, seq, step.reused.is_none(), || {
            let earlier = step.reused.as_ref().map_or(0, |asked| asked.seq);
            format!("id {} waits since event {earlier}", id.key())
        });
        let key = (direction, id.key());
        let fresh = step.reused.is_some() || !self.answered.contains(&key);
        findings.check(&rules::ID_REUSED, seq, fresh, || format!("id {} was used and answered before", id.key()));
        let token = content["_meta"].get("progressToken").map(Value::to_string);
        let method = envelope.method.as_deref().unwrap_or_default().to_owned();
        self.open.insert(key, Open { seq, time, method, token, cancelled: false, overtaken: false });
    }

    fn notify(
        &mut self,
        seq: u64,
        direction: Direction,
        envelope: &Envelope<'_>,
        content: &Value,
        findings: &mut Findings,
    ) {
        match envelope.method.as_deref() {
            Some("notifications/cancelled") => self.cancel(seq, direction, &content["requestId"], findings),
            Some("notifications/progress") => {
                let Some(token) = content.get("progressToken").map(Value::to_string) else { return };
                let asker = direction.reversed();
                let known =
                    self.open.iter().any(|((asked, _), open)| *asked == asker && open.token.as_ref() == Some(&token));
                findings.check(&rules::PROGRESS_TOKEN, seq, known || self.lost_track, || {
                    format!("no request waits with token {token}")
                });
            }
            _ => {}
        }
    }

    fn cancel(&mut self, seq: u64, direction: Direction, id: &Value, findings: &mut Findings) {
        let key = match id {
            Value::String(text) => IdKey::Text(text.as_str().into()),
            Value::Number(number) => match number.as_i64() {
                Some(number) => IdKey::Integer(number),
                None => return,
            },
            _ => return,
        };
        let open = self.open.get_mut(&(direction, key));
        let initializes = open.as_ref().is_some_and(|open| open.method == "initialize");
        findings.check(&rules::CANCELLED_INITIALIZE, seq, !initializes, || "initialize is cancelled".to_owned());
        findings.check(&rules::CANCEL_UNKNOWN, seq, open.is_some(), || format!("no request {id} waits"));
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
            if envelope.kind == MessageKind::Error {
                findings.note(&rules::UNATTRIBUTED, seq, "an error that names no request");
                self.check_notified(seq, after, findings);
            }
            return;
        };
        let key = (direction.reversed(), id.key());
        if let Some(asked) = &step.request {
            for rule in [&rules::ORPHAN, &rules::DUPLICATE_RESPONSE] {
                findings.hold(rule);
            }
            if let Some(open) = self.open.remove(&key) {
                self.mark_overtaken(asked.direction, open.seq);
            }
            self.answered.insert(key, ());
        } else if self.answered.contains(&key) {
            findings.note(&rules::DUPLICATE_RESPONSE, seq, format!("request {} was answered before", id.key()));
        } else if !self.lost_track {
            findings.note(&rules::ORPHAN, seq, format!("no request {} waits", id.key()));
            self.check_notified(seq, after, findings);
        }
    }

    fn check_notified(&self, seq: u64, after: Option<String>, findings: &mut Findings) {
        let method = after.unwrap_or_default();
        findings.check(&rules::NOTIFICATION_ANSWERED, seq, method.is_empty(), || {
            format!("a response right after the notification {method}")
        });
    }

    fn mark_overtaken(&mut self, direction: Direction, answered: u64) {
        for ((asked, _), open) in &mut self.open {
            open.overtaken |= *asked == direction && open.seq < answered;
        }
    }

    pub fn finish(&mut self, now: i64, findings: &mut Findings) {
        let mut open: Vec<_> = self.open.drain().map(|(_, open)| open).collect();
        open.sort_by_key(|open| open.seq);
        for open in open {
            let age = now.saturating_sub(open.time);
            // Its answer comes only when the subscription ends.
            let long_lived = open.method == "subscriptions/listen";
            let rule = match (open.cancelled, open.overtaken || age >= LONG) {
                (true, _) => &rules::CANCELLED,
                (false, true) if !long_lived => &rules::UNANSWERED,
                _ => &rules::OPEN_AT_END,
            };
            findings.note(rule, open.seq, format!("{} without an answer for {} ms", open.method, age / 1_000_000));
        }
        findings.hold(&rules::UNANSWERED);
    }
}
