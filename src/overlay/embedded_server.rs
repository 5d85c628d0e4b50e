//! The built-in server inside an overlay, which provides the proposals' server sides and is invisible to the client. It
//! sees the handshake, sends what the overlay orders, and answers the proposals' messages.
//!
//! Its requests get ids that neither side uses, so that the client's responses find their way back to it.

use super::plan::{Plan, proposal_of};
use super::{Ids, MAX_OPEN, Output, forgotten};
use crate::proposals::{CapabilityPlace, Proposal, Side, by_name};
use crate::protocol::errors;
use crate::server::{self, Fired, Report, Server};
use crate::wire::{Direction, Envelope, Id, IdKey, MessageKind, json, tree};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Maximum number of different reports to pass on; each is passed on once.
const MAX_REPORTED: usize = 50;

/// The embedded server; see the module.
pub(super) struct EmbeddedServer {
    server: Server,
    /// The proposals in use on the connection.
    on: Vec<&'static dyn Proposal>,
    /// Proposals that the real server declares itself.
    left_out: BTreeSet<&'static str>,
    /// Tools of the proposals that are not added, because the real server has tools of these names.
    withdrawn: BTreeSet<String>,
    /// Pending requests: the number in the id that the client knows, and the server's own id.
    lent: BTreeMap<u64, i64>,
    reported: BTreeSet<String>,
}

impl EmbeddedServer {
    /// An embedded server that waits for a handshake.
    pub(super) fn new(plan: &Plan, seed: u64, wall_base_ns: i64) -> Self {
        Self {
            server: Server::new(plan.config(seed, wall_base_ns)),
            on: plan.proposals.iter().filter_map(|proposal| by_name(proposal)).collect(),
            left_out: BTreeSet::new(),
            withdrawn: BTreeSet::new(),
            lent: BTreeMap::new(),
            reported: BTreeSet::new(),
        }
    }

    /// Handles the client's `initialize`; returns what the server would declare.
    pub(super) fn meet(&mut self, now: Duration, initialize: &[u8]) -> Value {
        let outputs = self.server.receive(now, initialize);
        let answer = outputs.iter().find_map(|output| match output {
            server::Output::Send(message) => serde_json::from_slice::<Value>(message).ok(),
            _ => None,
        });
        answer.unwrap_or_default()["result"]["capabilities"].take()
    }

    /// Returns the capabilities to add to the server's own, by path. Proposals with nothing to declare, or whose path
    /// is taken, are switched off. Calls `taken` for the latter.
    pub(super) fn declare(
        &mut self,
        own: &Value,
        servers: &Value,
        mut taken: impl FnMut(&'static str),
    ) -> Vec<(&'static [&'static str], Value)> {
        let at = |all: &Value, path: &[&str]| path.iter().try_fold(all, |value, name| value.get(name)).cloned();
        let mut declared = Vec::new();
        self.on.retain(|proposal| {
            let proposal = proposal.descriptor();
            let places = || proposal.places.iter().filter(|place| place.side == Side::Server);
            // The path may contain something unrelated.
            let is_taken = |place: &CapabilityPlace| {
                let theirs = at(servers, place.path).filter(|value| !value.is_null());
                theirs.is_some_and(|value| place.shape.fits(&value) || at(own, place.path).is_some())
            };
            if places().any(is_taken) {
                taken(proposal.name);
                self.left_out.insert(proposal.name);
                return false;
            }
            let before = declared.len();
            declared.extend(places().filter_map(|place| Some((place.path, at(own, place.path)?))));
            declared.len() > before
        });
        declared
    }

    /// Whether a proposal is in use.
    pub(super) fn is_on(&self, proposal: &str) -> bool {
        self.on.iter().any(|known| known.descriptor().name == proposal)
    }

    /// Whether a method belongs to a proposal in use.
    pub(super) fn takes_method(&self, method: &str) -> bool {
        self.on.iter().any(|proposal| proposal.descriptor().methods.iter().any(|spec| spec.name == method))
    }

    /// Whether a tool belongs to a proposal in use.
    pub(super) fn takes_tool(&self, tool: &str) -> bool {
        !self.withdrawn.contains(tool) && self.on.iter().any(|proposal| proposal.descriptor().tools.contains(&tool))
    }

    /// The tools of the proposals in use, in the form of `tools/list`.
    pub(super) fn tools(&self) -> Vec<Value> {
        let mut all = Vec::new();
        for proposal in &self.on {
            if let Some(side) = proposal.server_side() {
                side.list_tools(&mut all);
            }
        }
        all.retain(|tool| tool["name"].as_str().is_some_and(|tool| self.takes_tool(tool)));
        all
    }

    /// The real server has a tool of this name. Returns whether that removes one of the tools here.
    pub(super) fn withdraw(&mut self, tool: &str) -> bool {
        self.takes_tool(tool) && self.withdrawn.insert(tool.to_owned())
    }

    /// Handles a message of the client.
    pub(super) fn receive(&mut self, now: Duration, message: &[u8], ids: &mut Ids) -> Vec<Output> {
        let outputs = self.server.receive(now, message);
        self.given(outputs, ids)
    }

    /// Handles a response to one of its requests, by the number in the id. Ignores responses to unknown requests.
    pub(super) fn answered(&mut self, now: Duration, number: u64, answer: &[u8], ids: &mut Ids) -> Vec<Output> {
        let Some(own) = self.lent.remove(&number) else { return Vec::new() };
        let mut answer = read(answer).unwrap_or_else(|error| json!({"jsonrpc": "2.0", "error": error}));
        if !answer.is_object() {
            return Vec::new();
        }
        answer["id"] = own.into();
        self.receive(now, answer.to_string().as_bytes(), ids)
    }

    /// Sends a message if it may; nothing if the real server declares the proposal itself.
    pub(super) fn fire(&mut self, now: Duration, fired: &Fired, ids: &mut Ids) -> Vec<Output> {
        if proposal_of(fired.kind()).is_some_and(|proposal| self.left_out.contains(proposal)) {
            return Vec::new();
        }
        let outputs = self.server.fire(now, fired);
        self.given(outputs, ids)
    }

    /// Does what is due.
    pub(super) fn handle_timeout(&mut self, now: Duration, ids: &mut Ids) -> Vec<Output> {
        let outputs = self.server.handle_timeout(now);
        self.given(outputs, ids)
    }

    /// When to call [`Self::wake`] next.
    pub(super) fn set_wall_clock(&mut self, now: Duration, wall_ns: i64) {
        self.server.set_wall_clock(now, wall_ns);
    }

    pub(super) fn follows_wall_clock(&self) -> bool {
        self.server.follows_wall_clock()
    }

    pub(super) fn next_timeout(&self) -> Option<Duration> {
        self.server.next_timeout()
    }

    fn given(&mut self, outputs: Vec<server::Output>, ids: &mut Ids) -> Vec<Output> {
        let mut given: Vec<Output> = outputs.into_iter().filter_map(|output| self.one(output, ids)).collect();
        while self.lent.len() > MAX_OPEN && self.lent.pop_first().is_some() {
            given.push(forgotten("the client does not answer the overlay's requests"));
        }
        given
    }

    fn one(&mut self, output: server::Output, ids: &mut Ids) -> Option<Output> {
        match output {
            server::Output::Send(message) => Some(Output::Send(Direction::ServerToClient, self.renamed(message, ids))),
            server::Output::Report(Report::NotSent { method, reason }) => {
                self.once(format!("did not send {method}: {reason}"))
            }
            server::Output::Report(Report::Refused { method, code, message, .. }) => {
                self.once(format!("the client refused {method}: error {code} ({message})"))
            }
            server::Output::Report(Report::Unanswered { method, .. }) => {
                self.once(format!("the client did not respond to {method}"))
            }
            server::Output::Report(report) => Some(Output::Report(serde_json::to_value(report).unwrap_or_default())),
            server::Output::IoRequest(_) => None,
        }
    }

    fn once(&mut self, text: String) -> Option<Output> {
        let is_new = self.reported.len() < MAX_REPORTED && self.reported.insert(text.clone());
        is_new.then_some(Output::Notice(text))
    }

    /// Replaces a request's id by one that neither side uses.
    fn renamed(&mut self, message: Vec<u8>, ids: &mut Ids) -> Vec<u8> {
        let envelope = Envelope::scan(&message);
        let own = match (envelope.kind, envelope.id.map(|id| id.key())) {
            (MessageKind::Request, Some(IdKey::Integer(own))) => own,
            _ => return message,
        };
        let Ok(mut request) = serde_json::from_slice::<Value>(&message) else { return message };
        let (number, id) = ids.next();
        self.lent.insert(number, own);
        request["id"] = id.into();
        request.to_string().into_bytes()
    }
}

/// A response, by the text of the request's id.
pub(super) fn answer(id: &[u8], member: &str, value: &Value) -> Vec<u8> {
    [br#"{"jsonrpc":"2.0","id":"#, Id(id).echoed(), format!(r#","{member}":{value}}}"#).as_bytes()].concat()
}

/// The value of a message, or of a part of it.
///
/// # Errors
///
/// It has too many values: the error of a response, which says so.
pub(super) fn read(text: &[u8]) -> Result<Value, Value> {
    tree::fits(text).map_err(|too_large| json!({"code": errors::INTERNAL_ERROR, "message": too_large.to_string()}))?;
    Ok(json::value_of(text))
}

/// The value of a part of a message; `null` if it is missing.
pub(super) fn value(text: Option<&[u8]>) -> Value {
    text.map(json::value_of).unwrap_or_default()
}

/// The tool's name in the params of a call.
pub(super) fn tool_of(params: Option<&[u8]>) -> Option<String> {
    params.and_then(|params| json::str_member(params, "name")).map(|name| name.into_owned())
}

/// The JSON-RPC error for a request that failed in mcpreel.
pub(super) fn failed(why: &str) -> Value {
    json!({"code": -32000, "message": format!("mcpreel: {why}")})
}
