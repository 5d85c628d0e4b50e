//! The checked form of a scenario: the servers, the steps, and the faults.
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

/// A scenario, read and checked by [`Scenario::read`] and played by a [`Player`](super::Player).
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its purpose.
    pub name: String,
    /// The seed of ids.
    pub seed: u64,
    /// The clock.
    pub clock: Clock,
    /// The servers, in the host's order: the first is [`ServerId`] 0.
    pub servers: Vec<ServerPlan>,
    /// The host's configuration, except for the servers.
    pub(super) host: HostConfig,
    pub(super) steps: Arc<[Step]>,
    pub(super) events: Vec<Event>,
    pub(super) faults: Vec<Fault>,
    /// All expectations, in order of appearance.
    pub(super) expectations: Vec<Arc<Expectation>>,
    /// The indices of the expectations about the whole scenario.
    pub(super) overall: Vec<usize>,
}

impl Scenario {
    /// The host's configuration. The runner may still change the servers' client settings.
    pub fn host_config(&self) -> HostConfig {
        let server = |plan: &ServerPlan| {
            let client = ClientConfig { era: plan.era, ..ClientConfig::new("mcpreel-host", env!("CARGO_PKG_VERSION")) };
            let is_own = !matches!(plan.kind, ServerKind::Url { .. });
            ServerConfig { name: plan.name.clone(), client, is_own }
        };
        HostConfig { servers: self.servers.iter().map(server).collect(), ..self.host.clone() }
    }
}

impl Scenario {
    /// The share of one server, for an external host that does not know the scenario: what the server sends and when,
    /// the faults on its connection, and the expected messages there. Omits what concerns only the host (turns, tools,
    /// prompts, reported events). `None` if there is no such server.
    pub fn played_by(&self, name: &str) -> Option<(ServerId, Self)> {
        let server = ServerId(self.servers.iter().position(|plan| plan.name == name)?);
        let mut kept: Vec<usize> = Vec::new();
        for (index, one) in self.expectations.iter().enumerate() {
            // An expectation after one that cannot be decided here cannot be decided either.
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
    /// Its position in the file.
    pub place: TextPosition,
    /// The era to use.
    pub era: EraChoice,
    /// Its kind.
    pub kind: ServerKind,
}

/// The kind of a server.
#[derive(Clone, Debug)]
pub enum ServerKind {
    /// The built-in server, in this process.
    BuiltIn(Box<Config>),
    /// A program.
    Command {
        /// The program and its arguments; never empty.
        command: Vec<String>,
        /// Its environment variables, in addition to ours.
        env: BTreeMap<String, String>,
        /// Its working directory.
        cwd: Option<String>,
    },
    /// A server at a URL.
    Url {
        /// The URL.
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
    /// The model's replies, prompt by prompt.
    pub replies: Vec<ModelReply>,
    /// The indices of its expectations.
    pub expect: Vec<usize>,
}

#[derive(Clone, Debug)]
pub(super) enum Action {
    Order(Order),
    /// What to send, as JSON; its texts may contain `{n}`.
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

/// Fills the count of a repetition into a text.
pub(super) fn fill(text: &str, n: u64) -> String {
    text.replace("{n}", &n.to_string())
}

/// Fills the count into all texts of a value.
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
        Order::Proposal { order, params } => Order::Proposal { order, params: fill_value(&params, n) },
        Order::Request { server, method, params } => Order::Request { server, method, params: fill_value(&params, n) },
        Order::Compact { summary } => Order::Compact { summary: summary.map(|text| fill(&text, n)) },
        other => other,
    }
}
