//! Messages of the server: forwarded to the client, changed in two cases, or responses to the overlay.

use super::embedded_server::{answer, read, value};
use super::own_requests::Purpose;
use super::{Awaited, Output, Overlay, Phase, TO_CLIENT, TriggerEvent, UPDATED, json_splice, message_of, triggers};
use crate::wire::{Envelope, MessageKind, json};
use serde_json::{Value, json};
use std::time::Duration;

impl Overlay {
    /// Handles a message of the server.
    pub fn from_server(&mut self, now: Duration, message: Vec<u8>) -> Vec<Output> {
        let mut out = self.handle_timeout(now);
        let envelope = Envelope::scan(&message);
        match envelope.kind {
            MessageKind::Result | MessageKind::Error => {
                let id = envelope.id.map(|id| id.key());
                match id.as_ref().and_then(|id| self.ids.number(id)) {
                    Some(number) => {
                        let result = envelope.result.map(read);
                        let result = result.unwrap_or_else(|| Err(value(envelope.error)));
                        out.push(Output::Consume(TO_CLIENT, message));
                        self.received(number, result, &mut out);
                    }
                    None => {
                        // A changed message is recorded as text.
                        let is_text = std::str::from_utf8(&message).is_ok();
                        let awaited = id.and_then(|id| self.awaited.remove(&id)).filter(|_| is_text);
                        self.answered(now, awaited, message, &mut out);
                    }
                }
            }
            MessageKind::Request | MessageKind::Notification => {
                let method = envelope.method.as_deref().unwrap_or_default().to_owned();
                let params = envelope.params.map(<[u8]>::to_vec);
                let uri =
                    params.as_deref().filter(|_| method == UPDATED).and_then(|text| json::str_member(text, "uri"));
                let uri = uri.map(|uri| uri.into_owned());
                let is_text = std::str::from_utf8(&message).is_ok();
                let is_ours = is_text && uri.as_ref().is_some_and(|uri| self.is_only_ours(uri));
                out.push(if is_ours { Output::Drop(message) } else { Output::Forward(TO_CLIENT, message) });
                self.seen(now, TO_CLIENT, &method, params.as_deref(), &mut out);
                if let Some(uri) = uri {
                    self.happened(now, &TriggerEvent::Resource(&uri), &mut out);
                }
            }
            _ => out.push(Output::Forward(TO_CLIENT, message)),
        }
        out
    }

    /// Handles the server's response to a request of the client.
    fn answered(&mut self, now: Duration, awaited: Option<Awaited>, message: Vec<u8>, out: &mut Vec<Output>) {
        let result = Envelope::scan(&message).result;
        let looks_inside = matches!(awaited, Some(Awaited::Tools | Awaited::Result(..)));
        if let Some(Err(error)) = result.filter(|_| looks_inside).map(read) {
            let why = message_of(&error);
            out.push(Output::Notice(format!("passed a result of the server on without looking into it: {why}")));
            return out.push(Output::Forward(TO_CLIENT, message));
        }
        match (awaited, result) {
            (Some(Awaited::Initialize), Some(result)) => {
                let servers = value(json::member(result, "capabilities"));
                let changed = self.with_capabilities(&message, &servers, out);
                self.phase = Phase::Answered;
                out.push(
                    changed.map_or(Output::Forward(TO_CLIENT, message.clone()), |changed| {
                        Output::Replace(message, changed)
                    }),
                );
            }
            (Some(Awaited::Tools), Some(result)) => {
                let result = value(Some(result));
                self.learn_tools(&result, out);
                let is_last = result["nextCursor"].is_null() && self.phase >= Phase::Answered;
                if is_last {
                    self.name_missing(out);
                }
                let more = if is_last { self.own_tools() } else { Vec::new() };
                let changed = json_splice::extend(&message, &["result", "tools"], &more).filter(|_| !more.is_empty());
                out.push(match changed {
                    Some(changed) => Output::Replace(message, changed),
                    None => Output::Forward(TO_CLIENT, message),
                });
            }
            (Some(Awaited::Unsubscribe(uri)), _) => {
                out.push(Output::Forward(TO_CLIENT, message));
                self.subscribe(now, uri, out);
            }
            (Some(Awaited::Result(method, params)), Some(result)) => {
                let result = value(Some(result));
                out.push(Output::Forward(TO_CLIENT, message));
                self.happened(now, &TriggerEvent::Result(&method, &params, &result), out);
            }
            _ => out.push(Output::Forward(TO_CLIENT, message)),
        }
    }

    /// Adds the overlay's capabilities to the response to `initialize`; `None` if there are none to add.
    fn with_capabilities(&mut self, message: &[u8], servers: &Value, out: &mut Vec<Output>) -> Option<Vec<u8>> {
        let taken = |proposal: &'static str| {
            out.push(Output::Notice(format!("the server already declares {proposal}, so the overlay leaves it alone")));
        };
        let declared = self.embedded_server.declare(&self.declared, servers, taken);
        let mut changed = message.to_vec();
        let mut put = |path: &[&str], value: &Value| {
            let place = [&["result", "capabilities"], path].concat();
            match json_splice::put(&changed, &place, value) {
                Some(text) => changed = text,
                None => out.push(Output::Notice(format!(
                    "cannot add {} to the server's response to initialize",
                    path.join(".")
                ))),
            }
        };
        for (path, value) in &declared {
            put(path, value);
        }
        self.server_tools.is_ours_alone = servers["tools"].is_null() && !self.own_tools().is_empty();
        if self.server_tools.is_ours_alone {
            put(&["tools"], &json!({}));
        }
        for proposal in self.plan.proposals.iter().filter(|proposal| !self.embedded_server.is_on(proposal)) {
            out.push(Output::Report(json!({"report": "not_declared", "proposal": proposal})));
        }
        (changed != message).then_some(changed)
    }

    /// Handles the server's response to a request of the overlay, or its timeout.
    pub(super) fn received(&mut self, number: u64, result: Result<Value, Value>, out: &mut Vec<Output>) {
        if let Some(purpose) = self.own_requests.close(number) {
            self.concluded(purpose, result, out);
        }
    }

    pub(super) fn concluded(&mut self, purpose: Purpose, result: Result<Value, Value>, out: &mut Vec<Output>) {
        match (purpose, result) {
            (Purpose::Context { turn, at }, result) => self.context(turn, at, result, out),
            (Purpose::Hook { id, at, arguments }, Ok(result)) => {
                let own = self.plan.tools.get(at).map(|tool| &tool.answering);
                let text = own.and_then(|own| own.word(&result, &json!({"arguments": arguments})));
                let content: Vec<Value> = text.iter().map(|text| json!({"type": "text", "text": text})).collect();
                let mut worded = json!({"content": content});
                if result["isError"] == true {
                    worded = result;
                }
                out.push(Output::Send(TO_CLIENT, answer(&id, "result", &worded)));
            }
            (Purpose::Hook { id, .. }, Err(error)) => {
                out.push(Output::Send(TO_CLIENT, answer(&id, "error", &error)));
            }
            (Purpose::Subscribe(_), Ok(_)) => {}
            (Purpose::Subscribe(uri), Err(error)) => {
                self.own_uris.remove(&uri);
                out.push(Output::Notice(format!("cannot subscribe to {uri}: {}", message_of(&error))));
            }
        }
    }

    /// Whether only the overlay is subscribed to a resource, not the client.
    fn is_only_ours(&self, uri: &str) -> bool {
        let covers = |known: &String| triggers::covers(known, uri);
        self.own_uris.iter().any(covers) && !self.client_uris.iter().any(covers)
    }
}
