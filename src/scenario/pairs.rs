//! What each message is about: for an answer, the request that it answers.

use crate::proposals::host::ServerId;
use crate::session::pairing::Pairing;
use crate::wire::{Direction, Envelope, MessageKind, json};
use std::time::Duration;

/// What a message is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct About {
    /// Its method, or that of the answered request.
    pub method: Option<String>,
    /// The tool called.
    pub tool: Option<String>,
    /// For an answer: time since the request.
    pub latency: Option<Duration>,
}

/// Open requests of all connections.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    open: Pairing<(About, Duration)>,
}

impl Pairs {
    /// Notes a message, and says what it is about. Each message once, in order.
    pub fn note(&mut self, now: Duration, server: ServerId, direction: Direction, envelope: &Envelope<'_>) -> About {
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
