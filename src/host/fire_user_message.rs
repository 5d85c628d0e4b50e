//! Sends user messages to one server, one after another, and reports the outcome of each: the client engine combined
//! with the host side of SEP-1975.
//!
//! Never: tokio, sockets, clocks, printing.

use super::client::{ClientConfig, ClientEngine, Output as ClientOutput, RequestHandle};
use crate::proposals::conversation::CONTEXT;
use crate::proposals::conversation::host::{
    Carrier, DeliveryOutcome, Subscription, UserMessage, UserMessageOutput, UserMessages, subscription,
};
use crate::protocol::Era;
use crate::wire::{Envelope, json};
use std::collections::HashMap;
use std::time::Duration;

#[cfg(test)]
mod tests;

/// What to send, and how.
#[derive(Clone, Debug)]
pub(crate) struct Firing {
    /// The message.
    pub message: UserMessage,
    /// The JSON-RPC message to carry it.
    pub carrier: Carrier,
    /// How long the server may take.
    pub deadline: Duration,
    /// Send the message even if the server did not subscribe, against SEP-1975, Capability Declaration.
    pub force: bool,
}

/// What the engine wants done or reports.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Output {
    /// The client's own outputs: messages to send, the handshake, other traffic.
    Client(ClientOutput),
    /// What the server declared. Follows the handshake. Without [`Firing::force`], nothing is sent to a server that did
    /// not subscribe, or in the modern era, which cannot carry it.
    Subscription(Subscription),
    /// A sentence that the caller should see.
    Note(String),
    /// The outcome of a message; once for each.
    Done(DeliveryOutcome),
    /// A response after the deadline.
    Late(DeliveryOutcome),
}

/// Sends user messages; see the module.
#[derive(Debug)]
pub(crate) struct UserMessageFire {
    client: ClientEngine,
    messages: UserMessages,
    /// The message to send once the connection is open.
    message: Option<UserMessage>,
    force: bool,
    opened: Option<(Era, Subscription)>,
    keys: HashMap<RequestHandle, u64>,
    over: bool,
}

/// Explains why the message was sent a second time.
fn sent_again(refusal: &Envelope<'_>) -> String {
    let error = refusal.error.unwrap_or_default();
    let code = json::first_member(error, "code").map(String::from_utf8_lossy).unwrap_or_default();
    let message = json::str_member(error, "message").unwrap_or_default();
    format!("refused as a request ({code} {message}), sent again as a notification")
}

impl UserMessageFire {
    /// An engine that has sent nothing yet.
    pub(crate) fn new(config: ClientConfig, firing: Firing) -> Self {
        let mut client = ClientEngine::new(config);
        client.leave(CONTEXT);
        Self {
            client,
            messages: UserMessages::new(firing.carrier, firing.deadline),
            message: Some(firing.message),
            force: firing.force,
            opened: None,
            keys: HashMap::new(),
            over: false,
        }
    }

    /// Opens the connection.
    pub(crate) fn start(&mut self, now: Duration) -> Vec<Output> {
        let outputs = self.client.start(now);
        self.report(now, outputs)
    }

    /// Sends another message. The one before must be over.
    pub(crate) fn again(&mut self, now: Duration, message: UserMessage) -> Vec<Output> {
        let mut reports = Vec::new();
        (self.message, self.over) = (Some(message), false);
        self.fire(now, &mut reports);
        reports
    }

    /// Handles one message of the server.
    pub(crate) fn receive(&mut self, now: Duration, bytes: &[u8]) -> Vec<Output> {
        let outputs = self.client.receive(now, bytes);
        self.report(now, outputs)
    }

    /// The request with this id could not be delivered; see [`ClientEngine::undelivered`].
    pub(crate) fn undelivered(
        &mut self,
        now: Duration,
        id: &[u8],
        reason: &str,
        refusal: Option<&[u8]>,
    ) -> Vec<Output> {
        let outputs = self.client.undelivered(now, id, reason, refusal);
        self.report(now, outputs)
    }

    /// The server does not know the session any more; see [`ClientEngine::session_over`].
    pub(crate) fn session_over(&mut self, now: Duration, id: &[u8], reason: &str) -> Vec<Output> {
        let outputs = self.client.session_over(now, id, reason);
        self.report(now, outputs)
    }

    /// When to call [`Self::wake`].
    pub(crate) fn next_timeout(&self) -> Option<Duration> {
        self.client.next_timeout().into_iter().chain(self.messages.next_timeout()).min()
    }

    /// Does what is due.
    pub(crate) fn handle_timeout(&mut self, now: Duration) -> Vec<Output> {
        let outputs = self.client.handle_timeout(now);
        let mut reports = self.report(now, outputs);
        let actions = self.messages.handle_timeout(now);
        self.act(now, actions, &mut reports);
        reports
    }

    /// The server closed the connection.
    pub(crate) fn closed(&mut self, now: Duration) -> Vec<Output> {
        let outputs = self.client.closed(now);
        self.report(now, outputs)
    }

    /// The connection failed.
    pub(crate) fn lost(&mut self, now: Duration, why: &str) -> Vec<Output> {
        let outputs = self.client.lost(now, why);
        self.report(now, outputs)
    }

    /// Whether the message is over or will never be sent.
    pub(crate) fn is_over(&self) -> bool {
        self.over
    }

    fn report(&mut self, now: Duration, outputs: Vec<ClientOutput>) -> Vec<Output> {
        let mut reports = Vec::new();
        for output in outputs {
            match &output {
                ClientOutput::Answered { handle, message, .. } if self.keys.contains_key(handle) => {
                    let Some(key) = self.keys.remove(handle) else { continue };
                    let envelope = Envelope::scan(message);
                    let actions = self.messages.answered(now, key, &envelope);
                    if actions.iter().any(|action| matches!(action, UserMessageOutput::Notify { .. })) {
                        reports.push(Output::Note(sent_again(&envelope)));
                    }
                    self.act(now, actions, &mut reports);
                }
                // The proposal has the same deadline and reports it itself.
                ClientOutput::TimedOut { handle, .. } if self.keys.contains_key(handle) => {}
                ClientOutput::Ready(handshake) => {
                    let (era, declared) = (handshake.era, subscription(&handshake.server_capabilities));
                    reports.push(Output::Client(output));
                    reports.push(Output::Subscription(declared));
                    self.opened = Some((era, declared));
                    self.fire(now, &mut reports);
                }
                ClientOutput::Notification { message }
                | ClientOutput::ServerRequest { message, answered_with: None, .. } => {
                    let actions = self.messages.receive(now, &Envelope::scan(message));
                    reports.push(Output::Client(output));
                    self.act(now, actions, &mut reports);
                }
                ClientOutput::Failed { .. } => {
                    self.over = true;
                    reports.push(Output::Client(output));
                }
                _ => reports.push(Output::Client(output)),
            }
        }
        reports
    }

    fn fire(&mut self, now: Duration, reports: &mut Vec<Output>) {
        let Some((era, declared)) = self.opened else { return };
        let Some(message) = self.message.take() else { return };
        if (declared != Subscription::Subscribed || era == Era::Modern) && !self.force {
            self.over = true;
            return;
        }
        if era == Era::Modern {
            let note = "MCP 2026-07-28 cannot carry conversation/userMessage; sent as a plain request";
            reports.push(Output::Note(note.to_owned()));
        }
        let actions = self.messages.start(now, message);
        self.act(now, actions, reports);
    }

    fn act(&mut self, now: Duration, actions: Vec<UserMessageOutput>, reports: &mut Vec<Output>) {
        for action in actions {
            let outputs = match action {
                UserMessageOutput::Request { key, method, params, timeout } => {
                    let (handle, outputs) = self.client.request_with_deadline(now, method, params, timeout);
                    self.keys.insert(handle, key);
                    outputs
                }
                UserMessageOutput::Notify { method, params } => self.client.notify(now, method, params),
                UserMessageOutput::Respond { id, result } => self.client.respond(&id, &Ok(result)),
                UserMessageOutput::Done(outcome) => {
                    self.over = true;
                    reports.push(Output::Done(outcome));
                    continue;
                }
                UserMessageOutput::Late(outcome) => {
                    reports.push(Output::Late(outcome));
                    continue;
                }
                UserMessageOutput::Stray(why) | UserMessageOutput::Ambiguous(why) => {
                    reports.push(Output::Note(why));
                    continue;
                }
            };
            reports.extend(outputs.into_iter().map(Output::Client));
        }
    }
}
