//! Pairs responses with their requests.

use crate::proposals::host::ServerId;
use crate::session::reading::{Reading, Role, Said};
use crate::wire::{Direction, Envelope, json};
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
    reading: Reading<About>,
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
        let time = i64::try_from(now.as_nanos()).unwrap_or(i64::MAX);
        let said = Said { time, ..Said::on_connection(stream, direction, envelope) };
        let Role::Response(response) = self.reading.message(&said, || own(envelope)) else { return own(envelope) };
        let latency = response.latency.map(|latency| Duration::from_nanos(latency.unsigned_abs()));
        response.request.map(|request| About { latency, ..request.memory }).unwrap_or_default()
    }
}

fn own(envelope: &Envelope<'_>) -> About {
    let method = envelope.method.as_deref().map(str::to_owned);
    let called = envelope.params.filter(|_| method.as_deref() == Some("tools/call"));
    let tool = called.and_then(|params| json::str_member(params, "name")).map(|name| name.into_owned());
    About { method, tool, latency: None }
}
