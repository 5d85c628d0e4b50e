//! What a scenario comes to once its words are checked: who the servers are, what is done, and what goes wrong.
//!
//! Never: YAML.

use super::expect::Expectation;
use super::format::{Clock, EraPart, TextPosition};
use crate::host::client::{ClientConfig, EraChoice};
use crate::host::engine::{HostConfig, ModelReply, Order, ServerConfig, ToolCall};
use crate::proposals::host::ServerId;
use crate::server::Config;
use crate::wire::Direction;
use globset::GlobMatcher;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// A scenario, read and checked by [`Scenario::read`]; played by a [`Player`](super::Player).
#[derive(Clone, Debug)]
pub struct Scenario {
    /// What it shows.
    pub name: String,
    /// What ids are drawn from.
    pub seed: u64,
    /// Whose time passes.
    pub clock: Clock,
    /// The servers, in the host's order: the first is [`ServerId`] 0.
    pub servers: Vec<ServerPlan>,
    /// How to be its host, but for the servers.
    pub(super) host: HostConfig,
    pub(super) steps: Arc<[Step]>,
    pub(super) events: Vec<Event>,
    pub(super) faults: Vec<Fault>,
    /// Every expectation, in the order in which they are written.
    pub(super) expectations: Vec<Arc<Expectation>>,
    /// Those over the whole, as places among all.
    pub(super) overall: Vec<usize>,
}

impl Scenario {
    /// How to be its host. A runner may still lay its own client settings over the servers.
    pub fn host_config(&self) -> HostConfig {
        let server = |plan: &ServerPlan| {
            let client = ClientConfig { era: plan.era, ..ClientConfig::new("mcpreel-host", env!("CARGO_PKG_VERSION")) };
            ServerConfig { name: plan.name.clone(), client }
        };
        HostConfig { servers: self.servers.iter().map(server).collect(), ..self.host.clone() }
    }
}

impl Scenario {
    /// The part that one server plays by itself, for a host that knows nothing of the scenario: what it fires, when,
    /// what goes wrong on its connection, and which messages are expected there. What only a host can do or know
    /// (turns, tools, prompts, facts) is left out. `None` where there is no such server.
    pub fn played_by(&self, name: &str) -> Option<(ServerId, Self)> {
        let server = ServerId(self.servers.iter().position(|plan| plan.name == name)?);
        let mut kept: Vec<usize> = Vec::new();
        for (index, one) in self.expectations.iter().enumerate() {
            // What follows something that cannot be seen here cannot be judged here.
            if one.is_about_messages_of(server) && one.after.is_none_or(|after| kept.contains(&after)) {
                kept.push(index);
            }
        }
        let place = |index: &usize| kept.iter().position(|kept| kept == index);
        let moved = |one: &Arc<Expectation>| {
            let after = one.after.and_then(|after| place(&after));
            Arc::new(Expectation { after, ..(**one).clone() })
        };
        let part = Self {
            steps: steps_of(&self.steps, server, &place),
            events: self.events.iter().filter(|event| event.server == server).cloned().collect(),
            faults: self.faults.iter().filter(|fault| fault.server.is_none_or(|of| of == server)).cloned().collect(),
            overall: self.overall.iter().filter_map(place).collect(),
            expectations: kept.iter().filter_map(|index| self.expectations.get(*index)).map(moved).collect(),
            ..self.clone()
        };
        Some((server, part))
    }
}

fn steps_of(steps: &[Step], server: ServerId, place: &impl Fn(&usize) -> Option<usize>) -> Arc<[Step]> {
    let own = |step: &Step| {
        let action = match &step.action {
            Action::Fire(of, _) | Action::Disconnect(of) if *of == server => step.action.clone(),
            Action::Wait(_) => step.action.clone(),
            Action::Repeat(times, inner) => Action::Repeat(*times, steps_of(inner, server, place)),
            _ => return None,
        };
        let expect = step.expect.iter().filter_map(place).collect();
        Some(Step { action, expect, ..step.clone() })
    };
    steps.iter().filter_map(own).collect()
}

/// One server of a scenario.
#[derive(Clone, Debug)]
pub struct ServerPlan {
    /// Its name in the host.
    pub name: String,
    /// Where it is written.
    pub place: TextPosition,
    /// In which era to speak to it.
    pub era: EraChoice,
    /// What it is.
    pub kind: ServerKind,
}

/// What a server is.
#[derive(Clone, Debug)]
pub enum ServerKind {
    /// The built-in one, in this process.
    BuiltIn(Box<Config>),
    /// A program.
    Command {
        /// The program and its arguments; never empty.
        command: Vec<String>,
        /// Its environment, beside ours.
        env: BTreeMap<String, String>,
        /// Where it runs.
        cwd: Option<String>,
    },
    /// One that listens.
    Url {
        /// Where.
        url: String,
        /// Headers of every request.
        headers: BTreeMap<String, String>,
    },
}

pub(super) fn era(part: EraPart) -> EraChoice {
    match part {
        EraPart::Auto => EraChoice::Auto,
        EraPart::Legacy => EraChoice::Legacy,
        EraPart::Modern => EraChoice::Modern,
    }
}

#[derive(Clone, Debug)]
pub(super) struct Step {
    pub place: TextPosition,
    pub action: Action,
    /// What the model replies, prompt by prompt.
    pub replies: Vec<ModelReply>,
    /// Places among all expectations.
    pub expect: Vec<usize>,
}

#[derive(Clone, Debug)]
pub(super) enum Action {
    Order(Order),
    /// The JSON form of what to fire; its texts may have `{n}` in them.
    Fire(ServerId, Value),
    Disconnect(ServerId),
    Wait(Duration),
    Repeat(u64, Arc<[Step]>),
}

#[derive(Clone, Debug)]
pub(super) struct Event {
    pub place: TextPosition,
    pub server: ServerId,
    pub fire: Value,
    pub at: Duration,
    pub every: Option<Duration>,
    pub times: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Fault {
    pub place: TextPosition,
    pub server: Option<ServerId>,
    pub direction: Option<Direction>,
    pub method: Option<GlobMatcher>,
    pub nth: Option<u64>,
    pub fate: super::MessageFate,
}

/// Puts the count of a repetition into a text.
pub(super) fn fill(text: &str, n: u64) -> String {
    text.replace("{n}", &n.to_string())
}

/// The same for all texts in a value.
pub(super) fn fill_value(value: &Value, n: u64) -> Value {
    match value {
        Value::String(text) => Value::String(fill(text, n)),
        Value::Array(items) => items.iter().map(|item| fill_value(item, n)).collect(),
        Value::Object(members) => {
            let filled = |(name, value): (&String, &Value)| (name.clone(), fill_value(value, n));
            Value::Object(members.iter().map(filled).collect())
        }
        other => other.clone(),
    }
}

fn fill_call(call: &ToolCall, n: u64) -> ToolCall {
    ToolCall { arguments: fill_value(&call.arguments, n), ..call.clone() }
}

pub(super) fn fill_reply(reply: &ModelReply, n: u64) -> ModelReply {
    let tool_calls = reply.tool_calls.iter().map(|call| fill_call(call, n)).collect();
    ModelReply { text: fill(&reply.text, n), tool_calls }
}

pub(super) fn fill_order(order: &Order, n: u64) -> Order {
    match order.clone() {
        Order::Turn { text, agent } => Order::Turn { text: fill(&text, n), agent },
        Order::Tool(call) => Order::Tool(fill_call(&call, n)),
        Order::Room { order, params } => Order::Room { order, params: fill_value(&params, n) },
        Order::Request { server, method, params } => Order::Request { server, method, params: fill_value(&params, n) },
        Order::Compact { summary } => Order::Compact { summary: summary.map(|text| fill(&text, n)) },
        other => other,
    }
}
