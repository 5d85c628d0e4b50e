//! What a host can be told to do, how it begins with it, and how each of that ends.

use super::{Host, Next, Work};
use crate::host::prompt::{Prompt, Role};
use crate::proposals::host::{Agent, LifecycleEvent, Utterance};
use serde_json::{Value, json};
use std::time::Duration;

/// What the user, or a scenario, wants done.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    /// A turn with this message.
    Turn {
        /// What the user says; for a sub-agent, its task.
        text: String,
        /// Who runs it.
        agent: Agent,
    },
    /// Use a tool.
    Tool(ToolCall),
    /// Something that a room knows.
    Room {
        /// Its name.
        order: String,
        /// Its params.
        params: Value,
    },
    /// A request of one's own.
    Request {
        /// The server.
        server: String,
        /// The method.
        method: String,
        /// The params.
        params: Value,
    },
    /// Rewrite the transcript in short.
    Compact {
        /// What stands in its place; without it, only what the last turn said.
        summary: Option<String>,
    },
    /// Allow a server what it asks for, or no longer.
    Allow {
        /// The server.
        server: String,
        /// The proposal; all where none is named.
        proposal: Option<String>,
        /// Allow or revoke.
        is_allowed: bool,
    },
    /// End the session.
    End,
}

/// A tool to call.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// Whose; found by the tool's name where none is given.
    pub server: Option<String>,
    /// Its name.
    pub tool: String,
    /// Its arguments.
    pub arguments: Value,
}

/// What the model gives back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelReply {
    /// What it says.
    pub text: String,
    /// Tools that it wants used before it goes on.
    pub tool_calls: Vec<ToolCall>,
}

impl ModelReply {
    /// What a model replies that says what it was asked, and how much it was given: the same every time.
    pub fn echo(prompt: &Prompt) -> Self {
        let own = |role: Role| prompt.parts.iter().rfind(move |part| part.role == role && part.origin.is_none());
        let said = own(Role::User).map_or("", |part| part.text.as_str());
        let external = prompt.parts.iter().filter(|part| part.origin.is_some()).count();
        let tools = prompt.parts.iter().filter(|part| part.role == Role::Tool).count();
        let text = format!("echo: {said} ({external} parts of servers, {tools} tool results)");
        Self { text, tool_calls: Vec::new() }
    }
}

/// How an order ended.
#[derive(Clone, Debug, PartialEq)]
pub enum OrderResult {
    /// A turn is over.
    Turn {
        /// Which.
        turn: u64,
        /// What the model said, or why it said nothing.
        answer: Result<String, String>,
    },
    /// A turn is over that no order asked for: something of a server's began it.
    Woken {
        /// Which.
        turn: u64,
        /// What the model said, or why it said nothing.
        answer: Result<String, String>,
    },
    /// A tool's result, or why there is none.
    Tool(Result<Value, String>),
    /// The answer to a request of one's own: the whole message.
    Answer(Vec<u8>),
    /// Every server is connected or given up, and the session has begun: the first of all.
    Connected,
    /// Done, with nothing more to say.
    Ok,
    /// It could not be done.
    Failed(String),
    /// The session is over.
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
            Order::Room { order, params } => {
                let known: Vec<&str> =
                    self.proposals.iter().flat_map(|proposal| proposal.side.orders()).copied().collect();
                let mut outcome = Err(format!("no proposal knows {order:?}; there are: {}", known.join(", ")));
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
                let kept = self.history.len().saturating_sub(2);
                let text = format!("{kept} earlier messages were compacted");
                self.history.drain(..kept);
                if let Some(summary) = summary {
                    self.history.insert(0, Utterance { role: "user", text: summary });
                }
                self.report("compacted", None, text, json!({"messages": kept}));
                self.announce(now, &LifecycleEvent::Compacted, Next::Finish(OrderResult::Ok));
            }
            Order::Allow { server, proposal, is_allowed } => self.allow(now, &server, proposal.as_deref(), is_allowed),
            Order::End => self.announce(now, &LifecycleEvent::SessionEnd, Next::Finish(OrderResult::Ended)),
        }
    }

    fn allow(&mut self, now: Duration, server: &str, proposal: Option<&str>, is_allowed: bool) {
        let id = match self.server_named(server) {
            Ok(id) => id,
            Err(why) => return self.finish(OrderResult::Failed(why)),
        };
        let names: Vec<&str> = self.proposals.iter().map(|proposal| proposal.name).collect();
        if let Some(unknown) = proposal.filter(|proposal| !names.contains(proposal)) {
            let why = format!("there is no proposal {unknown:?} here; there are: {}", names.join(", "));
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
