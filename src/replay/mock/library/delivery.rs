//! Learns from the events of a recording over HTTP how the server answered each POST.

use crate::protocol::http::{Delivery, EventStream};
use crate::trace::{Event, EventKind, TransportEvent};
use crate::wire::Framing;
use crate::wire::sse::SseEvent;
use std::collections::HashMap;

/// The limit on streams of events that are followed at the same time.
const MAX_STREAMS: usize = 4096;

/// The streams of events that have begun, by the number of their HTTP exchange.
#[derive(Debug, Default)]
pub(super) struct Deliveries(HashMap<u32, EventStream>);

impl Deliveries {
    /// Takes note of an event of a stream that is no message.
    pub(super) fn take(&mut self, event: &Event<'_>) {
        let exchange = event.header.exchange;
        if event.header.kind != EventKind::Transport || exchange == 0 {
            return;
        }
        let TransportEvent::Sse { block, .. } = TransportEvent::read(event.payload) else { return };
        let block = SseEvent::parse(block.as_bytes());
        let is_priming = block.id.is_some() && block.data.as_deref().is_none_or(<[u8]>::is_empty);
        if self.0.len() >= MAX_STREAMS {
            self.0.clear();
        }
        let stream = self.0.entry(exchange).or_default();
        stream.has_ids |= block.id.is_some();
        stream.is_primed |= is_priming;
        stream.retry_ms = block.retry.and_then(|retry| u32::try_from(retry).ok()).or(stream.retry_ms);
    }

    /// Returns how the answer in this event was sent to a request of this HTTP exchange.
    pub(super) fn of_answer(&mut self, asked: u32, answer: &Event<'_>) -> Delivery {
        let begun = self.0.remove(&asked);
        match (begun, answer.header.exchange == asked) {
            _ if asked == 0 => Delivery::Json,
            (begun, true) if answer.header.framing == Framing::Sse => {
                let has_id = SseEvent::parse(answer.payload).id.is_some();
                let begun = begun.unwrap_or_default();
                Delivery::Events(EventStream { has_ids: begun.has_ids || has_id, ..begun })
            }
            // The client got the answer when it resumed the stream.
            (Some(begun), false) if begun.is_primed => Delivery::Events(EventStream { ends_early: true, ..begun }),
            _ => Delivery::Json,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{EventHeader, Flags};

    fn take<T>(exchange: u32, kind: EventKind, payload: &[u8], take: impl FnOnce(&Event<'_>) -> T) -> T {
        let (flags, len) = (Flags::SERVER_TO_CLIENT, u32::try_from(payload.len()).expect("short"));
        let framing = if payload.starts_with(b"{") { Framing::Whole } else { Framing::Sse };
        let header =
            EventHeader { seq: 0, time: 0, stream: 1, exchange, kind, flags, framing, len, offset: 0, message: None };
        take(&Event { header: &header, payload })
    }

    fn block(deliveries: &mut Deliveries, exchange: u32, block: &str) {
        let mut payload = Vec::new();
        ciborium::into_writer(&serde_json::json!({"what": "sse", "block": block}), &mut payload).expect("written");
        take(exchange, EventKind::Transport, &payload, |event| deliveries.take(event));
    }

    fn answer(deliveries: &mut Deliveries, asked: u32, exchange: u32, payload: &str) -> Delivery {
        take(exchange, EventKind::Message, payload.as_bytes(), |event| deliveries.of_answer(asked, event))
    }

    #[test]
    fn each_kind_of_answer_is_told_from_the_others() {
        let mut deliveries = Deliveries::default();
        let json = r#"{"id":1,"result":{}}"#;
        let plain = format!("data: {json}\n\n");
        let numbered = format!("id: 7\ndata: {json}\n\n");
        let events = |has_ids| Delivery::Events(EventStream { has_ids, ..EventStream::default() });
        assert_eq!(answer(&mut deliveries, 0, 0, json), Delivery::Json, "stdio");
        assert_eq!(answer(&mut deliveries, 1, 1, json), Delivery::Json);
        assert_eq!(answer(&mut deliveries, 2, 2, &plain), events(false));
        assert_eq!(answer(&mut deliveries, 3, 3, &numbered), events(true));
        assert_eq!(answer(&mut deliveries, 4, 9, &plain), Delivery::Json, "HTTP+SSE");
        block(&mut deliveries, 5, ": a comment\n\n");
        assert_eq!(answer(&mut deliveries, 5, 5, &plain), events(false));
        let primed = EventStream { has_ids: true, is_primed: true, retry_ms: Some(500), ends_early: false };
        for (asked, exchange) in [(6, 6), (7, 9)] {
            block(&mut deliveries, asked, "id: 1\nretry: 500\ndata: \n\n");
            let expected = EventStream { ends_early: asked != exchange, ..primed };
            assert_eq!(answer(&mut deliveries, asked, exchange, &numbered), Delivery::Events(expected));
        }
    }
}
