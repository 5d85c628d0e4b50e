//! HTTP+SSE (2024-11-05) on the client side: one stream carries all messages of the server, and announces where the
//! client posts its own.

use super::super::remote::TransportNotice;
use super::{Call, Client, Failure, REFUSAL_LIMIT, StreamPosition};
use crate::transport::client::http_endpoint::{Endpoint, Events};
use crate::transport::link::Incoming;
use crate::wire::sse::SseEvent;
use hyper::header::HeaderMap;
use hyper::{Method, StatusCode};
use std::time::Duration;
use tokio::time::timeout;

/// The time limit for the first event.
const ENDPOINT: Duration = Duration::from_secs(10);

impl Client {
    /// Opens the event stream, sends `initialize` to the endpoint that it announces, and passes on the stream's
    /// messages to its end.
    ///
    /// # Errors
    /// There is no such stream; returns the first failure.
    pub(super) async fn fall_back(&self, call: &Call, first: Failure) -> Result<(), Failure> {
        let status = first.status.map(|status| status.to_string()).unwrap_or_default();
        self.step(format!("POST initialize → {status}; trying HTTP+SSE"));
        let (endpoint, events) = self.find_endpoint().await.map_err(|refusal| refusal.unwrap_or(first))?;
        self.step(format!("HTTP+SSE: messages go to {}", endpoint.url()));
        self.state().older = Some(endpoint.clone());
        let asked = async {
            if let Err(failure) = self.hand_in(&endpoint, call).await {
                self.give_up(call, failure).await;
            }
        };
        let mut place = StreamPosition::default();
        let mut answered = false;
        let (end, ()) = tokio::join!(self.receive(events, None, &mut place, &mut answered), asked);
        (self.report)(TransportNotice::Advice(&format!("the HTTP+SSE stream {end}")));
        let _ = self.incoming.send(Incoming::Closed).await;
        Ok(())
    }

    /// # Errors
    /// There is no such stream; or, with a failure, the server supports it but refuses to open it.
    async fn find_endpoint(&self) -> Result<(Endpoint, Events), Option<Failure>> {
        let first = async {
            let answer = self.get(None).await.map_err(|error| error.to_string())?;
            if matches!(answer.status(), StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
                return Ok(Err(self.refused(answer, "the request for its event stream", &HeaderMap::new()).await));
            }
            if !answer.is_stream() {
                return Err(format!("GET → {}, not an event stream", answer.status()));
            }
            let from = answer.endpoint.clone();
            let mut events = answer.events(self.limit);
            loop {
                let block = events
                    .next()
                    .await
                    .map_err(|end| format!("GET → an event stream that {end} before it announced an endpoint"))?;
                let event = SseEvent::parse(&block);
                if event.event.as_deref() == Some("endpoint") {
                    let data = event.data.unwrap_or_default();
                    let named = String::from_utf8_lossy(&data);
                    let endpoint = from.at(named.trim()).map_err(|error| error.to_string())?;
                    return Ok(Ok((endpoint, events)));
                }
            }
        };
        match timeout(ENDPOINT, first).await {
            Ok(Ok(found)) => found.map_err(Some),
            Ok(Err(why)) => {
                self.step(why);
                Err(None)
            }
            Err(_) => {
                self.step(format!("GET → no endpoint event within {ENDPOINT:?}"));
                Err(None)
            }
        }
    }

    /// Posts a message; its answer arrives on the stream.
    ///
    /// # Errors
    ///
    /// The message was not delivered.
    pub(super) async fn hand_in(&self, endpoint: &Endpoint, call: &Call) -> Result<(), Failure> {
        let answer = endpoint.ask(Method::POST, &call.headers, Some(call.message.clone())).await?;
        if answer.status().is_success() {
            let _ = answer.whole(REFUSAL_LIMIT).await;
            return Ok(());
        }
        Err(self.refused(answer, &call.method, &HeaderMap::new()).await)
    }
}
