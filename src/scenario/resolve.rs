//! Resolves a scenario document into a plan: looks up names and checks values, with a position for every error.
//!
//! Never: doing any of it.

mod expectations;

use super::MessageFate;
use super::error::ScenarioError;
use super::expect::Expectation;
use super::format::{
    AgentPart, AllowPart, CallPart, Document, EventPart, FaultPart, HostPart, Placed, PolicyPart, ProposalOptions,
    ReplyPart, ServerPart, Several, StepPart, TextOr, TextPosition, WayPart,
};
use super::plan::{Action, Event, Fault, Scenario, ServerKind, ServerPlan, Step, era};
use crate::host::client::EraChoice;
use crate::host::engine::{HostConfig, ModelReply, Order, ToolCall, policies};
use crate::host::prompt::Layout;
use crate::proposals::host::{Agent, ServerId};
use crate::proposals::policy::Policies;
use crate::proposals::{self, REGISTRY};
use crate::server::{Config, Fired, Plan};
use crate::wire::Direction;
use globset::{GlobBuilder, GlobMatcher};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// Maximum depth of nested repetitions.
const MAX_DEPTH: u32 = 8;
/// Maximum number of steps, counting each repetition; more can only be a mistake.
const MAX_STEPS: u64 = 1_000_000;

impl Scenario {
    /// Reads a scenario from YAML.
    ///
    /// # Errors
    ///
    /// The first mistake, in form or meaning.
    pub fn read(text: &str) -> Result<Self> {
        // Accept only `true` and `false` as flags: `y` and `no` may be texts.
        let options = serde_saphyr::options! { strict_booleans: true };
        let document = serde_saphyr::from_str_with_options(text, options);
        let document: Document = document.map_err(|error| ScenarioError::from_yaml(text, &error))?;
        resolve(text, document)
    }
}

type Result<T> = std::result::Result<T, ScenarioError>;

struct Resolver<'a> {
    text: &'a str,
    servers: Vec<ServerPlan>,
    expectations: Vec<Expectation>,
    /// Expectations that wait for others, and the ids they wait for.
    waiting: Vec<(usize, Placed<String>)>,
}

fn resolve(text: &str, document: Document) -> Result<Scenario> {
    let mut resolver = Resolver { text, servers: Vec::new(), expectations: Vec::new(), waiting: Vec::new() };
    for (at, (name, part)) in document.servers.0.into_iter().enumerate() {
        let plan = resolver.server(at, document.seed, name, part)?;
        resolver.servers.push(plan);
    }
    let host = resolver.host(document.host, document.seed)?;
    let steps = resolver.steps(document.steps, 0)?;
    resolver.count(&steps)?;
    let events = document.events.into_iter().map(|event| resolver.event(event)).collect::<Result<_>>()?;
    let faults = document.faults.into_iter().map(|fault| resolver.fault(fault)).collect::<Result<_>>()?;
    let overall = resolver.expectations(document.expect)?;
    resolver.settle_waiting()?;
    let expectations = resolver.expectations.into_iter().map(Arc::new).collect();
    let (name, seed, clock, servers) = (document.name, document.seed, document.clock, resolver.servers);
    Ok(Scenario { name, seed, clock, servers, host, steps, events, faults, expectations, overall })
}

impl Resolver<'_> {
    fn wrong<T>(&self, place: TextPosition, why: impl Into<String>) -> Result<T> {
        Err(self.error(place, why))
    }

    fn error(&self, place: TextPosition, why: impl Into<String>) -> ScenarioError {
        ScenarioError::new(self.text, place, why)
    }

    fn server_id(&self, name: &Placed<String>) -> Result<ServerId> {
        match self.servers.iter().position(|server| server.name == name.value) {
            Some(at) => Ok(ServerId(at)),
            None => {
                let known = self.servers.iter().map(|server| server.name.as_str());
                self.wrong(name.place, unknown("server", &name.value, known))
            }
        }
    }

    fn known_server(&self, name: &Option<Placed<String>>) -> Result<Option<ServerId>> {
        name.as_ref().map(|name| self.server_id(name)).transpose()
    }

    /// The name of a known server.
    fn server_name(&self, name: Option<Placed<String>>) -> Result<Option<String>> {
        self.known_server(&name)?;
        Ok(name.map(|name| name.value))
    }

    fn builtin_id(&self, name: &Placed<String>) -> Result<ServerId> {
        let id = self.server_id(name)?;
        match self.servers.get(id.0).map(|server| &server.kind) {
            Some(ServerKind::BuiltIn(_)) => Ok(id),
            _ => self.wrong(
                name.place,
                format!("{:?} is not a built-in server, so mcpreel cannot make it send anything", name.value),
            ),
        }
    }

    fn proposal(&self, name: &Placed<String>) -> Result<()> {
        if REGISTRY.iter().any(|proposal| proposal.descriptor().name == name.value) {
            return Ok(());
        }
        let known = REGISTRY.iter().map(|proposal| proposal.descriptor().name);
        self.wrong(name.place, unknown("proposal", &name.value, known))
    }

    fn glob(&self, pattern: &Placed<String>) -> Result<GlobMatcher> {
        let glob = GlobBuilder::new(&pattern.value).literal_separator(false).build();
        let error =
            |error: globset::Error| self.error(pattern.place, format!("invalid pattern of a method: {}", error.kind()));
        Ok(glob.map_err(error)?.compile_matcher())
    }

    fn host(&self, part: HostPart, seed: u64) -> Result<HostConfig> {
        let layout = match part.layout {
            Some(layout) => Layout::read(&layout.value).map_err(|why| self.error(layout.place, why))?,
            None => Layout::default(),
        };
        let policies = self.policies(part.policy)?;
        let default = HostConfig::default();
        let session = part.session.unwrap_or(default.session);
        Ok(HostConfig {
            servers: Vec::new(),
            policies,
            layout,
            seed,
            project: part.project,
            session,
            system: part.system,
            model: default.model,
        })
    }

    fn policies(&self, part: PolicyPart) -> Result<Policies> {
        let (mut policies, mut places) = (policies(), HashMap::new());
        self.options(&mut policies, None, part.all, &mut places)?;
        for (server, options) in part.servers.0 {
            self.server_id(&server)?;
            self.options(&mut policies, Some(&server.value), options, &mut places)?;
        }
        proposals::check_policies(&policies).map_err(|error| {
            let place = |server: Option<String>| places.get(&(server, error.option.clone()));
            let place = place(error.server.clone()).or_else(|| place(None)).copied().unwrap_or_default();
            self.error(place, error.to_string())
        })?;
        Ok(policies)
    }

    /// Sets options, and keeps the position of each.
    fn options(
        &self,
        policies: &mut Policies,
        server: Option<&str>,
        proposals: ProposalOptions,
        places: &mut HashMap<(Option<String>, String), TextPosition>,
    ) -> Result<()> {
        for (proposal, options) in proposals {
            for (name, value) in options {
                let option = format!("{proposal}.{name}");
                let set = policies.set(server, &option, &value.value);
                set.map_err(|error| self.error(value.place, error.to_string()))?;
                places.insert((server.map(str::to_owned), option), value.place);
            }
        }
        Ok(())
    }

    fn server(&self, at: usize, seed: u64, name: Placed<String>, part: ServerPart) -> Result<ServerPlan> {
        let place = name.place;
        let default_era = if part.builtin.is_some() { EraChoice::Legacy } else { EraChoice::Auto };
        let is_http = part.url.is_some();
        let kind = match (part.builtin, part.command, part.url) {
            (Some(builtin), None, None) => {
                let mut config = Config { seed: seed.wrapping_add(at as u64 + 1), ..Config::default() };
                config.seed = builtin.seed.unwrap_or(config.seed);
                if let Some(declare) = builtin.declare {
                    declare.iter().try_for_each(|name| self.proposal(name))?;
                    config.declare = declare.into_iter().map(|name| name.value).collect();
                }
                if let Some(timeout) = builtin.answer_timeout {
                    config.answer_deadline = timeout.0;
                }
                config.settings = builtin.settings.into_iter().collect();
                config.check().map_err(|why| self.error(place, why))?;
                config.plans = builtin.plans.into_iter().map(|plan| self.plan(plan, &config)).collect::<Result<_>>()?;
                ServerKind::BuiltIn(Box::new(config))
            }
            (None, Some(command), None) if command.value.is_empty() => {
                return self.wrong(command.place, "a command needs a program, followed by its arguments");
            }
            (None, Some(command), None) => {
                ServerKind::Command { command: command.value, env: part.env.clone(), cwd: part.cwd.clone() }
            }
            (None, None, Some(url)) => ServerKind::Url { url: url.value, headers: part.headers.clone() },
            _ => {
                return self.wrong(
                    place,
                    format!("the server {:?} needs exactly one of builtin, command and url", name.value),
                );
            }
        };
        if !matches!(kind, ServerKind::Command { .. }) && (!part.env.is_empty() || part.cwd.is_some()) {
            return self.wrong(place, "env and cwd require a server with a command");
        }
        if !is_http && !part.headers.is_empty() {
            return self.wrong(place, "headers require a server with a url");
        }
        Ok(ServerPlan { name: name.value, place, era: part.era.map_or(default_era, era), kind })
    }

    fn plan(&self, plan: Placed<Value>, config: &Config) -> Result<Plan> {
        let read = serde_json::from_value::<Plan>(plan.value).map_err(|error| error.to_string());
        let checked = read.and_then(|plan| plan.fire.check_for(config).map(|()| plan));
        checked.map_err(|why| self.error(plan.place, format!("invalid plan: {why}")))
    }

    /// What to send, checked as far as possible before its texts are filled.
    fn fire(&self, fire: Placed<Value>) -> Result<Value> {
        let read = serde_json::from_value::<Fired>(fire.value.clone()).map_err(|error| error.to_string());
        match read.and_then(|fired| fired.check()) {
            Ok(()) => Ok(fire.value),
            Err(why) => self.wrong(fire.place, format!("invalid `fire`: {why}")),
        }
    }

    fn event(&self, event: Placed<EventPart>) -> Result<Event> {
        let Placed { value: part, place } = event;
        if part.every.is_some_and(|every| every.0.is_zero()) {
            return self.wrong(place, "every must be above zero");
        }
        if part.every.is_none() && part.times.is_some_and(|times| times > 1) {
            return self.wrong(place, "an event with times needs every");
        }
        let times = part.times.unwrap_or(if part.every.is_some() { u64::MAX } else { 1 });
        let (server, fire) = (self.builtin_id(&part.server)?, self.fire(part.fire)?);
        Ok(Event { place, server, fire, at: part.at.0, every: part.every.map(|every| every.0), times })
    }

    fn fault(&self, fault: Placed<FaultPart>) -> Result<Fault> {
        let Placed { value: part, place } = fault;
        let fates: Vec<MessageFate> = [
            part.delay.map(|delay| MessageFate::Delay(delay.0)),
            part.drop.then_some(MessageFate::Drop),
            part.duplicate.then_some(MessageFate::Duplicate),
            part.malformed.map(|text| MessageFate::Replace(text.into_bytes())),
            part.disconnect.then_some(MessageFate::Disconnect),
        ]
        .into_iter()
        .flatten()
        .collect();
        let [fate] = fates.as_slice() else {
            return self.wrong(place, "a fault needs exactly one of delay, drop, duplicate, malformed and disconnect");
        };
        if part.nth == Some(0) {
            return self.wrong(place, "nth must be at least 1");
        }
        let method = part.method.as_ref().map(|method| self.glob(method)).transpose()?;
        let (server, direction) = (self.known_server(&part.server)?, part.direction.map(way));
        Ok(Fault { place, server, direction, method, nth: part.nth, fate: fate.clone() })
    }

    /// The number of steps, if there are not too many.
    fn count(&self, steps: &[Step]) -> Result<u64> {
        let mut count = 0_u64;
        for step in steps {
            count = count.saturating_add(match &step.action {
                Action::Repeat(times, steps) => self.count(steps)?.max(1).saturating_mul(*times),
                _ => 1,
            });
            if count > MAX_STEPS {
                return self.wrong(
                    step.place,
                    format!("there are more than {MAX_STEPS} steps up to here; use fewer repetitions"),
                );
            }
        }
        Ok(count)
    }

    fn steps(&mut self, steps: Vec<Placed<StepPart>>, depth: u32) -> Result<Arc<[Step]>> {
        steps.into_iter().map(|step| self.step(step, depth)).collect()
    }

    fn step(&mut self, step: Placed<StepPart>, depth: u32) -> Result<Step> {
        let Placed { value: mut part, place } = step;
        let (is_turn, is_repeat) = (part.user.is_some(), part.repeat.is_some());
        let orders = self.orders(&mut part, place)?;
        let mut actions: Vec<_> = orders.into_iter().map(|(name, order)| (name, Action::Order(order))).collect();
        actions.extend(self.other_actions(&mut part, place, depth)?);
        let names: Vec<&str> = actions.iter().map(|(name, _)| *name).collect();
        let names = names.join(" and ");
        let Some((_, action)) = actions.pop().filter(|_| actions.is_empty()) else {
            let why = "a step needs exactly one of user, tool, hook, do, request, compact, allow, revoke, wait, fire, disconnect and repeat";
            let why = if names.is_empty() { why.to_owned() } else { format!("{why}, not {names}") };
            return self.wrong(place, why);
        };
        if !is_turn && !part.model.0.is_empty() {
            return self.wrong(place, "model is only allowed in a step with user");
        }
        if is_repeat && !part.expect.is_empty() {
            return self.wrong(
                place,
                "expect is not allowed beside repeat, only in the steps within it or for the whole scenario",
            );
        }
        let (replies, expect) = (self.replies(part.model)?, self.expectations(part.expect)?);
        Ok(Step { place, action, replies, expect })
    }

    /// Takes what a step orders the host to do, by the member's name.
    fn orders(&self, part: &mut StepPart, place: TextPosition) -> Result<Vec<(&'static str, Order)>> {
        let mut orders = Vec::new();
        if let Some(TextOr(user)) = part.user.take() {
            orders.push(("user", Order::Turn { text: user.text, agent: agent(user.agent) }));
        }
        if let Some(tool) = part.tool.take() {
            let server = self.server_name(tool.server)?;
            let call = ToolCall { server, tool: tool.name, arguments: tool.arguments.into() };
            orders.push(("tool", Order::Tool(call)));
        }
        if let Some(hook) = part.hook.take() {
            orders.push(("hook", Order::Proposal { order: "hook".to_owned(), params: Value::Object(hook) }));
        }
        if let Some(mut params) = part.order.take() {
            let Some(Value::String(name)) = params.remove("order") else {
                return self.wrong(place, "do needs an order (rollback, subscribe, channel-open, …)");
            };
            orders.push(("do", Order::Proposal { order: name, params: Value::Object(params) }));
        }
        if let Some(request) = part.request.take() {
            self.server_id(&request.server)?;
            let (server, method) = (request.server.value, request.method);
            orders.push(("request", Order::Request { server, method, params: request.params.into() }));
        }
        if let Some(compact) = part.compact.take() {
            orders.push(("compact", Order::Compact { summary: compact.summary }));
        }
        for (name, allow, is_allowed) in [("allow", part.allow.take(), true), ("revoke", part.revoke.take(), false)] {
            if let Some(allow) = allow {
                orders.push((name, self.allow(allow, is_allowed)?));
            }
        }
        Ok(orders)
    }

    /// Takes what a step does apart from orders to the host, by the member's name.
    fn other_actions(
        &mut self,
        part: &mut StepPart,
        place: TextPosition,
        depth: u32,
    ) -> Result<Vec<(&'static str, Action)>> {
        let mut actions = Vec::new();
        if let Some(span) = part.wait.take() {
            actions.push(("wait", Action::Wait(span.0)));
        }
        match (part.server.take(), part.fire.take()) {
            (Some(server), Some(fire)) => {
                actions.push(("fire", Action::Fire(self.builtin_id(&server)?, self.fire(fire)?)));
            }
            (None, None) => {}
            (Some(server), None) => return self.wrong(server.place, "server is only allowed with fire"),
            (None, Some(fire)) => return self.wrong(fire.place, "fire needs server, the server that sends"),
        }
        if let Some(server) = part.disconnect.take() {
            actions.push(("disconnect", Action::Disconnect(self.server_id(&server)?)));
        }
        if let Some(repeat) = part.repeat.take() {
            if depth >= MAX_DEPTH {
                return self.wrong(place, format!("repetitions are nested more than {MAX_DEPTH} levels deep"));
            }
            actions.push(("repeat", Action::Repeat(repeat.times, self.steps(repeat.steps, depth + 1)?)));
        }
        Ok(actions)
    }

    fn allow(&self, part: AllowPart, is_allowed: bool) -> Result<Order> {
        self.server_id(&part.server)?;
        part.proposal.as_ref().map(|name| self.proposal(name)).transpose()?;
        let (server, proposal) = (part.server.value, part.proposal.map(|name| name.value));
        Ok(Order::Allow { server, proposal, is_allowed })
    }

    fn replies(&self, replies: Several<TextOr<ReplyPart>>) -> Result<Vec<ModelReply>> {
        let call = |call: CallPart| {
            let server = self.server_name(call.server)?;
            Ok(ToolCall { server, tool: call.tool, arguments: call.arguments.into() })
        };
        let reply = |TextOr(part): TextOr<ReplyPart>| {
            let tool_calls = part.calls.into_iter().map(call).collect::<Result<_>>()?;
            Ok(ModelReply { text: part.text, tool_calls })
        };
        replies.0.into_iter().map(reply).collect()
    }
}

/// An unknown name, and the known ones.
fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    format!("unknown {what} {name:?}; known: {known}")
}

fn way(part: WayPart) -> Direction {
    match part {
        WayPart::C2s => Direction::ClientToServer,
        WayPart::S2c => Direction::ServerToClient,
    }
}

fn agent(part: AgentPart) -> Agent {
    match part {
        AgentPart::Main => Agent::Main,
        AgentPart::Sub => Agent::Sub,
        AgentPart::Detached => Agent::Detached,
    }
}

/// Members on one line, for the description of an expectation.
fn in_words(members: &[(&str, Option<String>)]) -> String {
    let words = members.iter().filter_map(|(name, value)| value.as_ref().map(|value| format!("{name} {value}")));
    words.collect::<Vec<_>>().join(", ")
}
