//! One turn: the message, the prompts, the model's tool calls, the answer.

use super::{Host, ModelReply, Next, OrderResult, Output, ToolCall, Work};
use crate::host::prompt::{LeftOut, Origin, Prompt, PromptPart, QueuedInjection, Role, choose};
use crate::proposals::host::{
    Agent, Beginning, LifecycleEvent, Mark, PromptPlace, ServerId, ToolUse, Usage, Utterance, label, tokens,
};
use crate::proposals::tool_result;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::time::Duration;

/// Maximum number of tool calls in one reply of the model.
const MAX_CALLS: usize = 128;

/// A turn in progress.
#[derive(Debug, Default)]
pub(super) struct Turn {
    pub agent: Agent,
    /// A server began the turn; there is no user message.
    is_woken: bool,
    /// It is the session's last turn, without a user message, either.
    is_last: bool,
    text: String,
    began: Duration,
    rounds: u64,
    /// The injections of this turn, for each of its prompts.
    injected: Vec<(PromptPlace, PromptPart)>,
    /// The tools used, and their results.
    used: Vec<PromptPart>,
    calls: VecDeque<ToolCall>,
    answer: String,
    /// Why there is no answer.
    failure: Option<String>,
    usage: Usage,
    /// Injections for the main agent's next prompt, kept while a sub-agent's turn runs.
    kept: Vec<QueuedInjection>,
}

impl Host {
    pub(super) fn begin_turn(&mut self, now: Duration, text: String, agent: Agent) {
        self.turns += 1;
        let kept = if agent == Agent::Main { Vec::new() } else { std::mem::take(&mut self.pending) };
        self.turn = Some(Turn { agent, text: text.clone(), began: now, kept, ..Turn::default() });
        let mut begins = Beginning { agent, message: None, woken: None };
        // A sub-agent gets no user message: its task comes from the agent.
        if agent == Agent::Main {
            let mut random = [0; 16];
            self.rng.fill(&mut random);
            let message_id = uuid::Builder::from_random_bytes(random).into_uuid().to_string();
            let history = std::mem::take(&mut self.history);
            let moment = LifecycleEvent::UserMessage { message_id: &message_id, text: &text, history: &history };
            self.announce(now, &moment, Next::LayOut);
            self.history = history;
            begins.message = Some(&text);
        }
        self.announce(now, &LifecycleEvent::TurnBegins(begins), Next::LayOut);
    }

    /// Begins a turn for the proposal at this index.
    pub(super) fn begin_woken(&mut self, now: Duration, proposal: usize, server: ServerId, key: &str) {
        self.turns += 1;
        self.turn = Some(Turn { is_woken: true, began: now, ..Turn::default() });
        let proposal = self.proposals[proposal].name;
        let text = format!("turn {} begins without a message", self.turns);
        self.report("woken", Some(server), text, json!({"turn": self.turns, "by": proposal, "key": key}));
        let begins = Beginning { agent: Agent::Main, message: None, woken: Some((proposal, key)) };
        self.announce(now, &LifecycleEvent::TurnBegins(begins), Next::LayOut);
    }

    /// Begins the turn in which the model sees what hooks inject at the session's end.
    pub(super) fn begin_last(&mut self, now: Duration) {
        self.turns += 1;
        self.turn = Some(Turn { is_woken: true, is_last: true, began: now, ..Turn::default() });
        let text = format!("turn {} is the last: hooks inject text at the session's end", self.turns);
        self.report("final turn", None, text, json!({"turn": self.turns}));
        let begins = Beginning { agent: Agent::Main, message: None, woken: None };
        self.announce(now, &LifecycleEvent::TurnBegins(begins), Next::LayOut);
    }

    /// Lays out the prompt and asks the model.
    pub(super) fn lay_out(&mut self, now: Duration) {
        let Some(mut turn) = self.turn.take() else {
            return self.finish(OrderResult::Failed("no turn is in progress".to_owned()));
        };
        turn.rounds += 1;
        if turn.rounds == 1 && turn.agent == Agent::Main {
            self.out.push(Output::Mark(None, Mark::Turn));
        }
        let pending = std::mem::take(&mut self.pending);
        let chosen = self.choose(now, &turn, pending);
        turn.injected.extend(chosen);
        // Injections that arrived between two prompts of a turn go where others of their kind are; the sort is stable.
        turn.injected.sort_by_key(|(place, _)| *place);
        let prompt = Prompt { turn: self.turns, round: turn.rounds, parts: self.parts(&turn) };
        turn.usage.input += prompt.parts.iter().map(|part| tokens(&part.text)).sum::<u64>();
        let labels = prompt.labels();
        let count = labels.as_array().map_or(0, Vec::len);
        let bytes: usize = prompt.parts.iter().map(|part| part.text.len()).sum();
        let text = format!("turn {}: {bytes} B, {}", prompt.turn, parts_from_servers(count));
        let data = json!({"turn": prompt.turn, "round": prompt.round, "bytes": bytes, "external": labels});
        self.report("prompt", None, text, data);
        self.turn = Some(turn);
        self.work = Work::Model;
        self.out.push(Output::Prompt(prompt));
    }

    /// Chooses the injections for a turn's prompts, and reports those left out, also to their proposals.
    fn choose(&mut self, now: Duration, turn: &Turn, pending: Vec<QueuedInjection>) -> Vec<(PromptPlace, PromptPart)> {
        let present = turn.injected.iter().map(|(_, part)| part).chain(&turn.used);
        let taken: usize = present.filter_map(|part| part.origin.as_ref()).map(|from| from.bytes).sum();
        let most = self.policy.length("prompt_bytes").saturating_sub(taken);
        let chosen = choose(pending, &self.config.layout, &self.views, turn.began, most);
        for (waiting, why) in chosen.left_out {
            let (slot, bytes) = (waiting.injection.slot, waiting.injection.text.len());
            // The model sees the text of a duplicate all the same.
            let is_absent = matches!(why, LeftOut::OverBudget);
            let (what, text) = match why {
                LeftOut::Duplicate { of } => ("duplicate", format!("left out {bytes} B of {slot}: same text as {of}")),
                LeftOut::OverBudget => ("over budget", format!("left out {bytes} B of {slot}: the prompt is full")),
            };
            self.report(what, Some(waiting.injection.server), text, json!({"slot": slot, "bytes": bytes}));
            let at = self.proposals.iter().position(|proposal| proposal.name == waiting.proposal);
            if let Some(at) = at.filter(|_| is_absent) {
                self.ask_proposal(now, at, |side, _| side.left_out(&waiting.injection));
            }
        }
        chosen.parts
    }

    fn parts(&self, turn: &Turn) -> Vec<PromptPart> {
        let own = |role: Role, text: &str| PromptPart { role, origin: None, text: text.to_owned() };
        let of =
            |place: PromptPlace| turn.injected.iter().filter(move |part| part.0 == place).map(|part| part.1.clone());
        let mut parts = Vec::new();
        if !self.config.system.is_empty() {
            parts.push(own(Role::System, &self.config.system));
        }
        if self.policy.flag("instructions") {
            parts.extend(self.instructions());
        }
        parts.extend(of(PromptPlace::System));
        if turn.agent == Agent::Main {
            let most = self.policy.length("history");
            for said in &self.history[self.history.len() - self.history.len().min(most)..] {
                let role = if said.role == "assistant" { Role::Assistant } else { Role::User };
                parts.push(own(role, &said.text));
            }
        }
        parts.extend(of(PromptPlace::BeforeUser));
        if !turn.is_woken {
            parts.push(own(Role::User, &turn.text));
        }
        parts.extend(of(PromptPlace::AfterUser));
        parts.extend(turn.used.iter().cloned());
        parts.extend(of(PromptPlace::AfterTool));
        parts
    }

    fn instructions(&self) -> impl Iterator<Item = PromptPart> {
        self.servers.iter().zip(&self.views).filter_map(|(server, view)| {
            let text = server.instructions.as_ref().filter(|_| view.is_open)?;
            let origin = Origin {
                server: view.name.clone(),
                proposal: "mcp".to_owned(),
                slot: "instructions".to_owned(),
                place: PromptPlace::System,
                bytes: text.len(),
                after: Duration::ZERO,
            };
            let text = crate::proposals::host::quoted(&view.name, "instructions", text);
            Some(PromptPart { role: Role::System, origin: Some(origin), text })
        })
    }

    pub(super) fn take_reply(&mut self, now: Duration, reply: Result<ModelReply, String>) {
        let Some(mut turn) = self.turn.take() else { return };
        let reply = match reply {
            Ok(reply) => reply,
            // There is no answer, so the turn is over.
            Err(why) => {
                self.report("model failed", None, why.clone(), Value::Null);
                turn.failure = Some(why);
                self.turn = Some(turn);
                return self.end_turn(now);
            }
        };
        let most = self.policy.number("tool_rounds");
        if !reply.tool_calls.is_empty() && turn.rounds <= most {
            turn.used.push(PromptPart { role: Role::Assistant, origin: None, text: said_with_calls(&reply) });
            let extra = reply.tool_calls.len().saturating_sub(MAX_CALLS);
            if extra > 0 {
                self.report(
                    "too many calls",
                    None,
                    format!("left out tool calls beyond the limit of {MAX_CALLS}: {extra}"),
                    Value::Null,
                );
            }
            turn.calls.extend(reply.tool_calls.into_iter().take(MAX_CALLS));
            self.turn = Some(turn);
            return self.next_call(now);
        }
        if !reply.tool_calls.is_empty() {
            self.report(
                "too many rounds",
                None,
                format!("the model reached the limit of {most} tool rounds per turn"),
                Value::Null,
            );
        }
        turn.usage.output += tokens(&reply.text);
        turn.answer = reply.text;
        self.turn = Some(turn);
        self.proceed(now, Next::Rewrite(0));
    }

    /// Lets one proposal after another change the model's answer, then passes the answer to all.
    pub(super) fn rewrite(&mut self, now: Duration, at: usize) {
        let Some(turn) = &self.turn else { return };
        let (agent, answer, usage) = (turn.agent, turn.answer.clone(), turn.usage);
        if at >= self.proposals.len() {
            if agent == Agent::Main {
                self.out.push(Output::Mark(None, Mark::Inferred));
            }
            return self.announce(now, &LifecycleEvent::Answered(agent, &answer), Next::TurnOver);
        }
        self.ask_proposal(now, at, |side, cx| side.rewrite(cx, &answer, usage));
        self.work = Work::Settling(Box::new(Next::Rewrite(at + 1)));
    }

    /// A proposal changed the model's answer, or withheld it.
    pub(super) fn rewritten(&mut self, answer: Result<String, String>) {
        let answer = answer.unwrap_or_else(|why| {
            self.report("withheld", None, why.clone(), Value::Null);
            format!("[the answer is withheld: {why}]")
        });
        if let Some(turn) = &mut self.turn {
            turn.answer = answer;
        }
    }

    /// Runs the model's next tool call, or prompts it again.
    fn next_call(&mut self, now: Duration) {
        while let Some(call) = self.turn.as_mut().and_then(|turn| turn.calls.pop_front()) {
            match self.resolve(&call) {
                Ok(used) => return self.use_tool(now, used),
                Err(why) => self.note_tool(&call.tool, &Err(why)),
            }
        }
        let agent = self.turn.as_ref().map(|turn| turn.agent).unwrap_or_default();
        self.announce(now, &LifecycleEvent::FurtherPrompt(agent), Next::Ask);
    }

    /// Finds the server of a tool.
    ///
    /// # Errors
    ///
    /// No server has the tool, or several have it.
    pub(super) fn resolve(&self, call: &ToolCall) -> Result<ToolUse, String> {
        let server = match &call.server {
            Some(name) => self.server_named(name)?,
            None => {
                let has = |names: &Option<Vec<String>>| names.iter().flatten().any(|name| *name == call.tool);
                let at = self.views.iter().position(|view| view.is_open && has(&view.declared.tools));
                ServerId(at.ok_or_else(|| format!("no server has a tool named {:?}", call.tool))?)
            }
        };
        Ok(ToolUse { server: Some(server), tool: call.tool.clone(), arguments: call.arguments.clone(), output: None })
    }

    pub(super) fn use_tool(&mut self, now: Duration, used: ToolUse) {
        let moment = used.clone();
        self.announce(now, &LifecycleEvent::BeforeTool(&moment), Next::CallTool(used));
    }

    pub(super) fn call_tool(&mut self, now: Duration, used: ToolUse) {
        let Some(server) = used.server else { return self.tool_answered(now, used, Ok(Value::Null)) };
        let mut params = json!({"name": used.tool, "arguments": used.arguments});
        if let Err(why) = self.gate(now, server, &mut params) {
            return self.tool_over(now, &used.tool, &Err(why));
        }
        self.using = Some(used);
        let token = self.send_own(now, server, "tools/call", params);
        self.work = Work::QueuedInjection(token);
    }

    pub(super) fn tool_answered(&mut self, now: Duration, mut used: ToolUse, result: Result<Value, String>) {
        used.output = Some(match &result {
            Ok(result) => result.clone(),
            Err(why) => json!({"isError": true, "content": [{"type": "text", "text": why}]}),
        });
        let moment = used.clone();
        self.announce(now, &LifecycleEvent::AfterTool(&moment), Next::AfterTool(used, result));
    }

    pub(super) fn after_tool(&mut self, now: Duration, used: ToolUse, result: Result<Value, String>) {
        self.tool_over(now, &used.tool, &result);
    }

    fn tool_over(&mut self, now: Duration, tool: &str, result: &Result<Value, String>) {
        if self.turn.is_none() {
            return self.finish(OrderResult::Tool(result.clone()));
        }
        self.note_tool(tool, result);
        self.inject_after_tool(now);
        self.next_call(now);
    }

    /// Puts the injections whose place is after a tool call there: after the result of this one.
    fn inject_after_tool(&mut self, now: Duration) {
        let Some(mut turn) = self.turn.take() else { return };
        let is_here = |one: &QueuedInjection| self.config.layout.place(one.injection.slot) == PromptPlace::AfterTool;
        let (here, others) = std::mem::take(&mut self.pending).into_iter().partition(is_here);
        self.pending = others;
        let chosen = self.choose(now, &turn, here);
        turn.used.extend(chosen.into_iter().map(|(_, part)| part));
        self.turn = Some(turn);
    }

    /// Adds a tool's result to the turn's next prompt.
    fn note_tool(&mut self, tool: &str, result: &Result<Value, String>) {
        let tool = label(tool);
        let text = match result {
            Ok(result) => format!("{tool}: {}", text_of(result)),
            Err(why) => format!("{tool} failed: {why}"),
        };
        if let Some(turn) = &mut self.turn {
            turn.used.push(PromptPart { role: Role::Tool, origin: None, text });
        }
    }

    pub(super) fn end_turn(&mut self, now: Duration) {
        let Some(turn) = self.turn.take() else {
            return self.finish(OrderResult::Failed("no turn is in progress".to_owned()));
        };
        self.pending.splice(0..0, turn.kept);
        if turn.agent == Agent::Main {
            if !turn.is_woken {
                self.history.push(Utterance { role: "user", text: turn.text });
            }
            if !turn.answer.is_empty() {
                self.history.push(Utterance { role: "assistant", text: turn.answer.clone() });
            }
            // Drop messages that no prompt can contain any more.
            let most = self.policy.length("history").max(64);
            let extra = self.history.len().saturating_sub(most);
            self.history.drain(..extra);
        }
        let (number, answer) = (self.turns, turn.failure.map_or(Ok(turn.answer), Err));
        let done = match turn.is_woken {
            false => OrderResult::Turn { turn: number, answer },
            true => OrderResult::Woken { turn: number, answer },
        };
        let next = if turn.is_last { Next::LastTurn(done) } else { Next::Finish(done) };
        self.announce(now, &LifecycleEvent::TurnOver(turn.agent), next);
    }
}

fn said_with_calls(reply: &ModelReply) -> String {
    let calls = reply.tool_calls.iter().map(|call| format!("[calls {} {}]", call.tool, call.arguments));
    let said = Some(reply.text.clone()).filter(|text| !text.is_empty());
    said.into_iter().chain(calls).collect::<Vec<_>>().join("\n")
}

/// The number of injected parts, in words.
pub(super) fn parts_from_servers(count: usize) -> String {
    format!("{count} {} from servers", if count == 1 { "part" } else { "parts" })
}

/// The text of a tool's result; without text, its JSON.
fn text_of(result: &Value) -> String {
    let text = tool_result::text(result);
    if text.is_empty() { result.to_string() } else { text }
}
