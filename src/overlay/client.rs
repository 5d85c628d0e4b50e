//! Messages of the client, forwarded to the server or answered here.

use super::embedded_server::{answer, read, tool_of, value};
use super::own_requests::Purpose;
use super::plan::CONVERSATION;
use super::{Awaited, Ids, MAX_OPEN, Output, Overlay, Phase, TO_CLIENT, TO_SERVER, conversation, forgotten};
use crate::protocol::revision::meta;
use crate::wire::{Envelope, Id, IdKey, MessageKind, json};
use serde_json::json;
use std::time::Duration;

impl Overlay {
    /// Handles a message of the client.
    pub fn from_client(&mut self, now: Duration, message: Vec<u8>) -> Vec<Output> {
        let mut out = self.handle_timeout(now);
        let envelope = Envelope::scan(&message);
        match (envelope.kind, envelope.method.as_deref()) {
            (MessageKind::Request, Some(method)) => {
                let method = method.to_owned();
                self.request(now, &envelope, &method, &message, &mut out);
            }
            (MessageKind::Notification, Some(method)) => {
                let method = method.to_owned();
                self.notification(now, &envelope, &method, &message, &mut out);
            }
            (MessageKind::Result | MessageKind::Error, _) => {
                match envelope.id.and_then(|id| self.ids.number(&id.key())) {
                    Some(number) => {
                        out.push(Output::Consume(TO_SERVER, message.clone()));
                        out.extend(self.embedded_server.answered(now, number, &message, &mut self.ids));
                    }
                    None => out.push(Output::Forward(TO_SERVER, message)),
                }
            }
            _ => out.push(Output::Forward(TO_SERVER, message)),
        }
        out
    }

    fn request(&mut self, now: Duration, envelope: &Envelope<'_>, method: &str, message: &[u8], out: &mut Vec<Output>) {
        let Some(id) = envelope.id else { return out.push(Output::Forward(TO_SERVER, message.to_vec())) };
        if method == "initialize" {
            self.meet(now, id.key(), message, out);
        } else if self.phase >= Phase::Answered && self.takes(now, envelope, method, message, out) {
            return self.seen(now, TO_SERVER, method, envelope.params, out);
        }
        self.look_ahead(id.key(), method, envelope.params, out);
        out.push(Output::Forward(TO_SERVER, message.to_vec()));
        self.seen(now, TO_SERVER, method, envelope.params, out);
    }

    /// Answers a request that the overlay is responsible for.
    fn takes(
        &mut self,
        now: Duration,
        envelope: &Envelope<'_>,
        method: &str,
        message: &[u8],
        out: &mut Vec<Output>,
    ) -> bool {
        let id = envelope.id.map(|id| id.0).unwrap_or_default();
        let taken = Output::Consume(TO_SERVER, message.to_vec());
        match method {
            "tools/list" if self.server_tools.is_ours_alone => {
                out.push(taken);
                out.push(Output::Send(TO_CLIENT, answer(id, "result", &json!({"tools": self.own_tools()}))));
            }
            "tools/call" => {
                let tool = tool_of(envelope.params).unwrap_or_default();
                if self.embedded_server.takes_tool(&tool) {
                    out.push(taken);
                    out.extend(self.embedded_server.receive(now, message, &mut self.ids));
                } else if let Some(at) = self.hook_tool(&tool) {
                    out.push(taken);
                    let arguments = match envelope.params.map(read) {
                        Some(Err(error)) => {
                            out.push(Output::Send(TO_CLIENT, answer(id, "error", &error)));
                            return true;
                        }
                        params => params.and_then(Result::ok).unwrap_or_default()["arguments"].take(),
                    };
                    let own = &self.plan.tools[at].answering;
                    let mut params = json!({"name": own.tool});
                    if !arguments.is_null() {
                        params["arguments"] = arguments.clone();
                    }
                    let purpose = Purpose::Hook { id: id.to_vec(), at, arguments };
                    self.ask(now, "tools/call", &params, purpose, out);
                } else {
                    return false;
                }
            }
            conversation::USER_MESSAGE if self.embedded_server.is_on(CONVERSATION) => {
                out.push(taken);
                self.said(now, Some(id), envelope.params, out);
            }
            method if self.embedded_server.takes_method(method) => {
                out.push(taken);
                out.extend(self.embedded_server.receive(now, message, &mut self.ids));
            }
            _ => return false,
        }
        true
    }

    /// Remembers requests whose responses the overlay inspects.
    fn look_ahead(&mut self, id: IdKey, method: &str, params: Option<&[u8]>, out: &mut Vec<Output>) {
        let uri = || params.and_then(|params| json::str_member(params, "uri")).map(|uri| uri.into_owned());
        if method == "resources/subscribe" {
            self.client_uris.extend(uri());
        }
        match method {
            "tools/list" => self.look_at(id, Awaited::Tools, out),
            "resources/unsubscribe" => {
                let Some(uri) = uri() else { return };
                self.client_uris.remove(&uri);
                if self.own_uris.contains(&uri) {
                    self.look_at(id, Awaited::Unsubscribe(uri), out);
                }
            }
            _ if self.triggers.wants_result(&self.plan, method, params) => {
                self.look_at(id, Awaited::Result(method.to_owned(), value(params)), out);
            }
            _ if self.phase == Phase::New && !self.said_no_carrier && is_stateless(method, params) => {
                self.said_no_carrier = true;
                let why = "the client uses MCP 2026-07-28 without a handshake, which cannot carry the proposals; \
                           the overlay adds nothing";
                out.push(Output::Notice(why.to_owned()));
            }
            _ => {}
        }
    }

    /// Remembers one request, and forgets the oldest if there are too many.
    fn look_at(&mut self, id: IdKey, awaited: Awaited, out: &mut Vec<Output>) {
        if self.awaited.len() >= MAX_OPEN && !self.awaited.contains(&id) {
            out.push(forgotten("the server does not answer the client's requests"));
        }
        self.awaited.insert(id, awaited);
    }

    fn notification(
        &mut self,
        now: Duration,
        envelope: &Envelope<'_>,
        method: &str,
        message: &[u8],
        out: &mut Vec<Output>,
    ) {
        let is_taken = match method {
            conversation::USER_MESSAGE if self.embedded_server.is_on(CONVERSATION) && self.phase >= Phase::Answered => {
                out.push(Output::Consume(TO_SERVER, message.to_vec()));
                self.said(now, None, envelope.params, out);
                true
            }
            "notifications/cancelled" => {
                let id = envelope.params.and_then(|params| json::first_member(params, "requestId"));
                id.map(|id| self.awaited.remove(&Id(id).key()));
                let turn = id.and_then(|id| self.conversing.cancel(id));
                let numbers = id.map(|id| self.own_requests.cancel(id, turn)).unwrap_or_default();
                let is_ours = turn.is_some() || !numbers.is_empty();
                if is_ours {
                    out.push(Output::Consume(TO_SERVER, message.to_vec()));
                }
                out.extend(
                    numbers.into_iter().map(|number| self.take_back(number, "the client cancelled the request")),
                );
                is_ours
            }
            method if self.embedded_server.takes_method(method) && self.phase >= Phase::Answered => {
                out.push(Output::Consume(TO_SERVER, message.to_vec()));
                out.extend(self.embedded_server.receive(now, message, &mut self.ids));
                true
            }
            _ => false,
        };
        if !is_taken {
            out.push(Output::Forward(TO_SERVER, message.to_vec()));
        }
        if method == "notifications/initialized" && self.phase == Phase::Answered {
            self.begin(now, message, out);
        }
        self.seen(now, TO_SERVER, method, envelope.params, out);
    }

    /// Handles the client's `initialize`. Over HTTP, it may not be the first.
    fn meet(&mut self, now: Duration, id: IdKey, message: &[u8], out: &mut Vec<Output>) {
        if self.phase > Phase::New {
            let ids = Ids { prefix: self.ids.prefix.clone(), last: self.ids.last };
            *self = Self { ids, ..Self::new(self.plan.clone(), self.setting.clone()) };
        }
        self.phase = Phase::Asked;
        self.declared = self.embedded_server.meet(now, message);
        self.look_at(id, Awaited::Initialize, out);
    }

    /// Starts once the handshake is over.
    fn begin(&mut self, now: Duration, message: &[u8], out: &mut Vec<Output>) {
        self.phase = Phase::Ready;
        out.extend(self.embedded_server.receive(now, message, &mut self.ids));
        self.triggers.begin(now, &self.plan);
        let wanted: Vec<String> =
            self.plan.rules.iter().filter_map(|rule| rule.when.resource()).map(str::to_owned).collect();
        for uri in wanted {
            if self.own_uris.insert(uri.clone()) {
                self.subscribe(now, uri, out);
            }
        }
    }
}

/// Whether a request is a modern one, which needs no handshake. A probe does not count.
fn is_stateless(method: &str, params: Option<&[u8]>) -> bool {
    let about = params.and_then(|params| json::member(params, "_meta"));
    method != "server/discover" && about.is_some_and(|about| json::member(about, meta::PROTOCOL_VERSION).is_some())
}
