//! Orders to the host: what it can do, how each begins, and how it can end.

use super::turn::parts_from_servers;
use super::{Host, Next, Output, Work};
use crate::host::prompt::{Prompt, Role};
use crate::proposals::host::{Agent, LifecycleEvent, Mark, Utterance};
use crate::wire::text::counted;
use serde_json::{Value, json};
use std::time::Duration;

/// Something that the user, or a scenario, wants done.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    /// Run a turn with this message.
    Turn {
        /// What the user says; for a sub-agent, its task.
        text: String,
        /// The agent that runs the turn.
        agent: Agent,
    },
    /// Call a tool.
    Tool(ToolCall),
    /// An order that a proposal defines.
    Proposal {
        /// Its name.
        order: String,
        /// Its params.
        params: Value,
    },
    /// Send a request.
    Request {
        /// The server.
        server: String,
        /// The method.
        method: String,
        /// The params.
        params: Value,
    },
    /// Compact the transcript.
    Compact {
        /// A summary that takes the place of all but the last turn.
        summary: Option<String>,
    },
    /// Grant or revoke a server's permission to use a proposal.
    Allow {
        /// The server.
        server: String,
        /// The proposal; all if `None`.
        proposal: Option<String>,
        /// Grant (true) or revoke (false).
        is_allowed: bool,
    },
    /// End the session.
    End,
}

/// A tool call.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// The server; by default the one that has a tool of this name.
    pub server: Option<String>,
    /// Its name.
    pub tool: String,
    /// Its arguments.
    pub arguments: Value,
}

/// The model's reply.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelReply {
    /// The text.
    pub text: String,
    /// Tools to call before the model continues.
    pub tool_calls: Vec<ToolCall>,
}

impl ModelReply {
    /// A deterministic reply that repeats the user's message, and counts the injected parts and the tool results.
    pub fn echo(prompt: &Prompt) -> Self {
        let own = |role: Role| prompt.parts.iter().rfind(move |part| part.role == role && part.origin.is_none());
        let said = own(Role::User).map_or("", |part| part.text.as_str());
        let external = parts_from_servers(prompt.parts.iter().filter(|part| part.origin.is_some()).count());
        let tools = prompt.parts.iter().filter(|part| part.role == Role::Tool).count();
        let results = if tools == 1 { "result" } else { "results" };
        let text = format!("echo: {said} ({external}, {tools} tool {results})");
        Self { text, tool_calls: Vec::new() }
    }
}

/// How an order ended.
#[derive(Clone, Debug, PartialEq)]
pub enum OrderResult {
    /// A turn has ended.
    Turn {
        /// The turn's number.
        turn: u64,
        /// The model's answer, or why there is none.
        answer: Result<String, String>,
    },
    /// A turn that a server began has ended.
    Woken {
        /// The turn's number.
        turn: u64,
        /// The model's answer, or why there is none.
        answer: Result<String, String>,
    },
    /// A tool's result, or why there is none.
    Tool(Result<Value, String>),
    /// The response to a request: the whole message.
    Answer(Vec<u8>),
    /// Every server is connected or has failed, and the session has begun. This is always the first result.
    Connected,
    /// Done, without a result.
    Ok,
    /// The order failed.
    Failed(String),
    /// The session has ended.
    Ended,
}

impl Host {
    pub(super) fn begin(&mut self, now: Duration, order: Order) {
        match order {
            Order::Turn { text, agent } => self.begin_turn(now, text, agent),
            Order::Tool(call) => match self.resolve(&call) {
                Ok(used) => self.use_tool(now, used),
                Err(why) => self.finish(OrderResult::Tool(Err(why))),
            },
            Order::Proposal { order, params } => {
                let known = self.orders().join(", ");
                let mut outcome = Err(format!("unknown order {order:?}; known orders: {known}"));
                self.ask_proposals(now, |side, cx| {
                    let known = side.order(cx, &order, &params);
                    let was_meant = known.is_some();
                    outcome = known.unwrap_or_else(|| outcome.clone());
                    was_meant
                });
                match outcome {
                    Ok(()) => self.work = Work::Settling(Box::new(Next::Finish(OrderResult::Ok))),
                    Err(why) => self.finish(OrderResult::Failed(why)),
                }
            }
            Order::Request { server, method, params } => match self.server_named(&server) {
                Ok(id) => {
                    let token = self.send_own(now, id, &method, params);
                    self.work = Work::QueuedInjection(token);
                }
                Err(why) => self.finish(OrderResult::Failed(why)),
            },
            Order::Compact { summary } => {
                let dropped = self.history.len().saturating_sub(2);
                let text = format!("compacted {}", counted(dropped, "earlier message"));
                self.history.drain(..dropped);
                if let Some(summary) = summary {
                    self.history.insert(0, Utterance { role: "user", text: summary });
                }
                self.report("compacted", None, text, json!({"messages": dropped}));
                self.out.push(Output::Mark(None, Mark::Compacted));
                self.announce(now, &LifecycleEvent::Compacted, Next::Finish(OrderResult::Ok));
            }
            Order::Allow { server, proposal, is_allowed } => self.allow(now, &server, proposal.as_deref(), is_allowed),
            Order::End => {
                let next = Next::SessionEnd(self.pending.len());
                self.announce(now, &LifecycleEvent::SessionEnd, next);
            }
        }
    }

    fn allow(&mut self, now: Duration, server: &str, proposal: Option<&str>, is_allowed: bool) {
        let id = match self.server_named(server) {
            Ok(id) => id,
            Err(why) => return self.finish(OrderResult::Failed(why)),
        };
        let names: Vec<&str> = self.proposals.iter().map(|proposal| proposal.name).collect();
        if let Some(unknown) = proposal.filter(|proposal| !names.contains(proposal)) {
            let why = format!("unknown proposal {unknown:?}; known proposals: {}", names.join(", "));
            return self.finish(OrderResult::Failed(why));
        }
        let mut at = 0;
        self.ask_proposals(now, |side, cx| {
            if proposal.is_none_or(|proposal| names[at] == proposal) {
                side.allow(cx, id, is_allowed);
            }
            at += 1;
            false
        });
        self.work = Work::Settling(Box::new(Next::Finish(OrderResult::Ok)));
    }
}
