//! Pairs responses with their requests.

use crate::proposals::host::ServerId;
use crate::session::pairing::Pairing;
use crate::wire::{Direction, Envelope, MessageKind, json};
use std::time::Duration;

/// What is known about a message from its request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct About {
    /// Its method, or for a response, the method of its request.
    pub method: Option<String>,
    /// The tool that was called.
    pub tool: Option<String>,
    /// For a response, the time since its request.
    pub latency: Option<Duration>,
}

/// The pending requests of all connections.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    open: Pairing<(About, Duration)>,
}

impl Pairs {
    /// Records a message and returns what is known about it. Call once per message, in order.
    pub(super) fn note(
        &mut self,
        now: Duration,
        server: ServerId,
        direction: Direction,
        envelope: &Envelope<'_>,
    ) -> About {
        let stream = u32::try_from(server.0).unwrap_or(u32::MAX);
        let id = envelope.id.map(|id| id.key());
        match (envelope.kind, id) {
            (MessageKind::Request, Some(id)) => {
                let about = own(envelope);
                self.open.ask(stream, direction, id, (about.clone(), now));
                about
            }
            (MessageKind::Result | MessageKind::Error, Some(id)) => match self.open.answer(stream, direction, id) {
                Some((about, asked)) => About { latency: Some(now.saturating_sub(asked)), ..about },
                None => About::default(),
            },
            _ => own(envelope),
        }
    }
}

fn own(envelope: &Envelope<'_>) -> About {
    let method = envelope.method.as_deref().map(str::to_owned);
    let called = envelope.params.filter(|_| method.as_deref() == Some("tools/call"));
    let tool = called.and_then(|params| json::str_member(params, "name")).map(|name| name.into_owned());
    About { method, tool, latency: None }
}
