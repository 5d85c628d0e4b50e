//! A server of the modern era asks for input in the result of a request. The answers that the recorded client gave to the
//! requests of a legacy server are that input: the request is sent again with them (MCP 2026-07-28,
//! `InputRequiredResult`).

use super::super::modern;
use super::super::replies::Reply;
use super::{Output, ReplayEngine, Waiting};
use crate::wire::{Envelope, Id, edit, json};
use serde_json::{Map, Value};
use std::time::Duration;

/// At most this often is a request sent again.
const MAX_ROUNDS: usize = 10;

impl ReplayEngine {
    /// Sends a request again with the input that its result asks for. Returns the request if the result is final, or asks
    /// for input that the recording does not have.
    pub(super) fn give_input(
        &mut self,
        now: Duration,
        waiting: Waiting,
        envelope: &Envelope<'_>,
        outputs: &mut Vec<Output>,
    ) -> Option<Waiting> {
        let Some((message, rounds)) = waiting.again.as_ref().filter(|_| modern::wants_input(envelope)) else {
            return Some(waiting);
        };
        let first = Envelope::scan(message);
        let (Some(id), Some(params), Some(result)) = (first.id, first.params, envelope.result) else {
            return Some(waiting);
        };
        if *rounds == MAX_ROUNDS {
            return Some(waiting);
        }
        let Some(responses) = self.responses(result, outputs) else { return Some(waiting) };
        let mut params = edit::with_member(params, "inputResponses", Value::Object(responses).to_string().as_bytes());
        if let Some(state) = json::member(result, "requestState") {
            params = edit::with_member(&params, "requestState", state);
        }
        let id = modern::id_of_round(id, rounds + 1);
        let again = edit::with_member(&edit::with_member(message, "params", &params), "id", id.as_bytes());
        let again_waiting =
            Waiting { request: waiting.request, sent_at: now, again: Some((message.clone(), rounds + 1)) };
        self.waiting.insert(Id(id.as_bytes()).key(), again_waiting);
        outputs.push(Output::Send(again));
        None
    }

    /// Returns the recorded answers to what a result asks for; `None` if one was not recorded.
    fn responses(&mut self, result: &[u8], outputs: &mut Vec<Output>) -> Option<Map<String, Value>> {
        let mut responses = Map::new();
        for wanted in json::members(json::member(result, "inputRequests").unwrap_or(b"{}")) {
            let request = Envelope::scan(wanted.value);
            let Reply::Send(response, _) = self.recorded_reply(&request, Id(b"0"), outputs) else {
                self.refused(&request, outputs);
                return None;
            };
            let given = json::value_of(Envelope::scan(&response).result?);
            responses.insert(json::unescape(wanted.key), given);
        }
        Some(responses)
    }
}
