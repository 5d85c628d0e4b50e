//! Sending requests, and the modern era's rounds: a result that asks for more input is answered by sending the request
//! again with that input (MCP 2026-07-28, `InputRequiredResult`).

use super::message::{self, Params};
use super::{ClientEngine, MAX_ROUNDS, Open, Output, RequestHandle, Role};
use crate::protocol::Era;
use crate::wire::{Envelope, MessageKind, edit, json};
use serde_json::{Map, Value};
use std::time::Duration;

impl ClientEngine {
    pub(super) fn prepare(
        &mut self,
        now: Duration,
        role: Role,
        method: &str,
        params: Params,
        timeout: Duration,
    ) -> Open {
        let handle = RequestHandle(self.next_handle);
        self.next_handle += 1;
        let method = method.to_owned();
        Open { handle, role, method, params, since: now, timeout, expired: false, rounds: 0, again: false }
    }

    /// Sends a request under a new id, with these members added to its params.
    pub(super) fn send_request(&mut self, open: Open, members: &[(&str, Value)], out: &mut Vec<Output>) {
        let id = self.next_id;
        self.next_id += 1;
        let mut params = open.params.text();
        if self.era == Era::Modern {
            let text = params.unwrap_or_else(|| b"{}".to_vec());
            params = Some(edit::with_meta(&edit::with_members(&text, members), &self.meta()));
        }
        out.push(Output::Send(message::call(Some(&self.id(id)), &open.method, params.as_deref())));
        self.open.insert(id, open);
    }

    pub(super) fn wants_input(&self, envelope: &Envelope<'_>) -> bool {
        let kind = envelope.result.and_then(|result| json::str_member(result, "resultType"));
        self.era == Era::Modern && envelope.kind == MessageKind::Result && kind.as_deref() == Some("input_required")
    }

    /// Provides the input that the server asked for and repeats the request, or fails the request if it cannot.
    pub(super) fn give_input(&mut self, mut open: Open, envelope: &Envelope<'_>, out: &mut Vec<Output>) {
        let result = envelope.result.map(json::value_of).unwrap_or_default();
        let mut responses = Map::new();
        let mut refused = Vec::new();
        for (key, wanted) in result["inputRequests"].as_object().into_iter().flatten() {
            let method = wanted["method"].as_str().unwrap_or("a request without a method").to_owned();
            let answer = self.offer.answer(&method);
            match &answer {
                Ok(given) => drop(responses.insert(key.clone(), given.clone())),
                Err((_, why)) => refused.push(why.clone()),
            }
            let message = wanted.to_string().into_bytes();
            out.push(Output::ServerRequest { method, message, answered_with: Some(answer) });
        }
        let state = result.get("requestState").filter(|state| !state.is_null());
        open.rounds += 1;
        if let Some(reason) = cannot_go_on(&open, &refused, responses.is_empty() && state.is_none()) {
            return out.push(Output::Failed { handle: Some(open.handle), reason: reason.into() });
        }
        let mut members = Vec::new();
        if !responses.is_empty() {
            members.push(("inputResponses", Value::Object(responses)));
        }
        if let Some(state) = state {
            members.push(("requestState", state.clone()));
        }
        self.send_request(open, &members, out);
    }
}

fn cannot_go_on(open: &Open, refused: &[String], nothing_asked: bool) -> Option<String> {
    let method = &open.method;
    if !refused.is_empty() {
        return Some(format!("the server asked for input before answering {method}: {}", refused.join("; ")));
    }
    if nothing_asked {
        return Some(format!("the server asked for input before answering {method}, but did not say which"));
    }
    let rounds = open.rounds;
    (rounds > MAX_ROUNDS).then(|| format!("the server asked for input {rounds} times before answering {method}"))
}
