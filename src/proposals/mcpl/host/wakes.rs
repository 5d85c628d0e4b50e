//! Which turns events and messages begin, and when. A rate limit and a limit of the depth to which hooks and turns
//! follow from each other (MCPL 0.4 §10.7) delay turns; neither loses an event, or the channel that it came from.

use super::channels::{OBSERVE, Origin};
use super::{McplHostSide, Peer};
use crate::proposals::host::{HostCx, ServerId};
use serde_json::json;
use std::fmt;
use std::time::Duration;

/// The period of the rate limit.
const MINUTE: Duration = Duration::from_secs(60);

/// What an event waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waits {
    /// Any turn.
    AnyTurn,
    /// Its own turn, which is due after the current one.
    OwnTurn,
    /// Its own turn, until the rate limit allows it.
    RateLimit,
    /// Its own turn, until a turn begins that no hook caused.
    OuterTurn,
}

impl Waits {
    /// The word in reports.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::AnyTurn => "no",
            Self::OwnTurn => "yes",
            Self::RateLimit => "later",
            Self::OuterTurn => "held",
        }
    }

    /// Whether a turn takes the event without a decision about its server.
    pub(super) fn needs_no_release(self) -> bool {
        matches!(self, Self::AnyTurn | Self::OwnTurn)
    }
}

impl fmt::Display for Waits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AnyTurn => "waits for any turn",
            Self::OwnTurn => "begins a turn",
            Self::RateLimit => "waits for its turn, because the server began too many within a minute",
            Self::OuterTurn => "waits for a turn that no hook caused, because too many followed from hooks",
        })
    }
}

/// Something that begins a turn or waits for one.
pub(super) struct Event {
    /// The server that it comes from.
    pub server: ServerId,
    /// The inference of its own turn; `None` if it waits for any turn.
    pub inference: Option<String>,
    /// What it waits for.
    pub waits: Waits,
    /// How many hooks and turns followed from each other until it arrived; 0 if it arrived outside of hooks.
    pub depth: u64,
    /// A description, for its label in the prompt.
    pub what: String,
    /// Its text.
    pub text: String,
    /// What tells it from others of the server's: the id of the event, or those of the messages.
    pub id: String,
    /// The feature set that it names; a channel's message names none.
    set: Option<String>,
    /// The channel that it came from.
    pub channel: Option<Origin>,
}

impl Event {
    /// An event that has not been admitted.
    pub(super) fn new(server: ServerId, (id, what): (String, String), text: String, source: Source) -> Self {
        let (set, channel) = match source {
            Source::Set(set) => (Some(set), None),
            Source::Channel(origin) => (None, Some(origin)),
        };
        Self { server, inference: None, waits: Waits::AnyTurn, depth: 0, what, text, id, set, channel }
    }

    fn is_of(&self, server: ServerId, channel: Option<&Origin>) -> bool {
        let name = |origin: &Origin| origin.channel.clone();
        self.server == server && self.channel.as_ref().map(name) == channel.map(name)
    }
}

/// What an event came by, which decides whether it may be used.
pub(super) enum Source {
    /// A feature set.
    Set(String),
    /// A channel.
    Channel(Origin),
}

/// What became of an event.
pub(super) struct Admitted {
    /// What it waits for.
    pub waits: Waits,
    /// Whether another event began its turn, or will.
    pub shares: bool,
    inference: Option<String>,
}

impl Admitted {
    /// The inference that is due for it, if nothing else has to happen before.
    pub(super) fn due(&self) -> Option<&str> {
        self.inference.as_deref().filter(|_| self.waits == Waits::OwnTurn)
    }
}

impl Peer {
    fn may_wake(&self, now: Duration) -> bool {
        let recent = self.wakes.iter().filter(|at| now.saturating_sub(**at) < MINUTE).count();
        recent < self.policy.length("wakes_per_minute")
    }
}

impl McplHostSide {
    /// Lets an event begin a turn or wait for one, according to `lane`, an option's value.
    ///
    /// # Errors
    /// Why it is not accepted.
    pub(super) fn admit(&mut self, cx: &mut HostCx<'_>, lane: &str, mut event: Event) -> Result<Admitted, String> {
        let server = event.server;
        let Some(peer) = self.peers.get(&server) else { return Err("the server is gone".to_owned()) };
        let most = peer.policy.length("push_waiting");
        if self.is_over {
            return Err("the session ends".to_owned());
        }
        if lane == "refuse" {
            return Err("the host's policy accepts none".to_owned());
        }
        if self.waiting.iter().filter(|waiting| waiting.server == server).count() >= most {
            return Err(format!("{most} are already waiting for a turn"));
        }
        event.depth = self.depth_now(server);
        event.waits = match lane {
            "queue" => Waits::AnyTurn,
            _ if event.depth > peer.policy.number("hook_depth") => Waits::OuterTurn,
            _ if !peer.may_wake(cx.now) => Waits::RateLimit,
            _ => Waits::OwnTurn,
        };
        let shares = event.waits != Waits::AnyTurn && self.assign_turn(cx, lane == "batch", &mut event);
        let admitted = Admitted { waits: event.waits, shares, inference: event.inference.clone() };
        self.waiting.push_back(event);
        Ok(admitted)
    }

    /// Lets the event share a turn that waits, if it may or must, or gives it a turn of its own. Returns whether it
    /// shares one.
    fn assign_turn(&mut self, cx: &mut HostCx<'_>, is_batch: bool, event: &mut Event) -> bool {
        let shares = is_batch || event.waits != Waits::OwnTurn;
        let is_fitting =
            |other: &&Event| shares && other.inference.is_some() && other.is_of(event.server, event.channel.as_ref());
        if let Some(other) = self.waiting.iter().rfind(is_fitting) {
            (event.inference, event.waits, event.depth) = (other.inference.clone(), other.waits, other.depth);
            return true;
        }
        let inference = self.next_inference();
        if event.waits == Waits::OwnTurn {
            self.wake(cx, event.server, &inference);
        }
        event.inference = Some(inference);
        false
    }

    /// Whether what waited for a turn may still be shown to the model: its feature set was not disabled meanwhile.
    pub(super) fn may_still_show(&self, event: &Event) -> bool {
        let Some(peer) = self.peers.get(&event.server) else { return true };
        event.set.as_deref().map_or_else(|| peer.sets.lets(OBSERVE), |set| peer.sets.is_on(set))
    }

    fn wake(&mut self, cx: &mut HostCx<'_>, server: ServerId, inference: &str) {
        if let Some(peer) = self.peers.get_mut(&server) {
            peer.wakes.retain(|at| cx.now.saturating_sub(*at) < MINUTE);
            peer.wakes.push_back(cx.now);
        }
        cx.wake(server, inference);
    }

    /// The depth of an event of this server that arrives now. Nothing on the wire shows whether the open hook caused
    /// it, so it counts as if it did.
    fn depth_now(&self, server: ServerId) -> u64 {
        let turn = self.turn.as_ref().filter(|_| self.is_in_hook(server));
        turn.map_or(0, |turn| turn.depth + 1)
    }

    /// Begins the turns that the rate limit allows again.
    pub(super) fn release(&mut self, cx: &mut HostCx<'_>) {
        let now = cx.now;
        let may_wake = |this: &Self, server| this.peers.get(&server).is_some_and(|peer| peer.may_wake(now));
        let is_due = |this: &Self, event: &Event| event.waits == Waits::RateLimit && may_wake(this, event.server);
        while let Some(due) = self.waiting.iter().find(|event| is_due(self, event)) {
            let (server, inference) = (due.server, due.inference.clone().unwrap_or_default());
            let shared = self.waiting.iter_mut().filter(|event| event.inference.as_deref() == Some(&inference));
            shared.for_each(|event| event.waits = Waits::OwnTurn);
            self.wake(cx, server, &inference);
        }
    }

    /// A turn begins that no hook caused: releases the events that waited for one.
    pub(super) fn release_held(&mut self, cx: &mut HostCx<'_>) {
        for event in self.waiting.iter_mut().filter(|event| event.waits == Waits::OuterTurn) {
            (event.waits, event.depth) = (Waits::RateLimit, 0);
        }
        self.release(cx);
    }

    /// When the rate limit allows the next turn that waits for it.
    pub(super) fn next_release(&self) -> Option<Duration> {
        let limited = self.waiting.iter().filter(|event| event.waits == Waits::RateLimit);
        let first = |event: &Event| self.peers.get(&event.server)?.wakes.front().copied();
        limited.filter_map(first).map(|at| at + MINUTE).min()
    }

    /// Reports how many events the session's end leaves without a turn.
    pub(super) fn report_without_turn(&mut self, cx: &mut HostCx<'_>) {
        let left = std::mem::take(&mut self.waiting);
        for server in self.peers.keys() {
            let count = left.iter().filter(|event| event.server == *server).count();
            if count > 0 {
                let what = if count == 1 { "event or message" } else { "events or messages" };
                let text = format!("the session ends before {count} {what} got a turn");
                cx.report("no turn", Some(*server), text, json!({"count": count}));
            }
        }
    }

    /// Whether a hook request to this server is open.
    pub(super) fn is_in_hook(&self, server: ServerId) -> bool {
        self.open.values().any(|open| open.server == server && open.asked.is_hook() && !open.is_late)
    }
}
