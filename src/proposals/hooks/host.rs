//! The proposal's host side: declares the supported events to servers, fires the declared hooks at each event within
//! the limits of its options, and calls the tools that hooks name.
//!
//! It must never use clocks or print.

use super::engine::{
    Declarations, Event, EventKind, Hook, HookContent, Injection as Injected, Priority, Selected, Verdict,
    client_capability, ignored_matcher, judge_all, skip_repeated, tool_result_text,
};
use crate::proposals::clip;
use crate::proposals::host::{
    Agent, Beginning, Consent, HostCx, HostSide, Injection, LifecycleEvent, PromptPlace, RequestOutcome, ServerId,
    ServerView, Slot, ToolUse, consent_setting, cut,
};
use crate::proposals::policy::{Policies, Policy, Setting, SettingKind};
use crate::wire::text::counted;
use crate::wire::{MessageKind, json as text};
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

const SESSION: &str = "hooks.session_start";
const REQUEST: &str = "hooks.pre_request";
const TOOL: &str = "hooks.tool_use";
const OTHER: &str = "hooks.event";
/// What a hook's tool call can show to its server.
const LEARNS: &str = "hook calls that show what tools are given or return";

/// The kinds of injections.
pub(crate) static SLOTS: &[Slot] = &[
    Slot { name: SESSION, place: PromptPlace::System, rank: 20 },
    Slot { name: OTHER, place: PromptPlace::BeforeUser, rank: 15 },
    Slot { name: REQUEST, place: PromptPlace::BeforeUser, rank: 20 },
    Slot { name: TOOL, place: PromptPlace::AfterTool, rank: 10 },
];

/// The options that the proposal leaves to the host.
pub(crate) static SETTINGS: &[Setting] = &[
    Setting {
        name: "place",
        kind: SettingKind::Choice(&["both", "top", "experimental", "none"]),
        default: "both",
        text: "Where in its capabilities the host declares the events for which it supports hooks",
        source: "SEP-2282, Relationship to experimental capabilities",
    },
    Setting {
        name: "events",
        kind: SettingKind::Set(&EventKind::NAMES),
        default: "session_start, session_end, pre_tool_use, post_tool_use, pre_request, post_request",
        text: "The events for which the host supports hooks",
        source: "SEP-2282, Capability negotiation",
    },
    Setting {
        name: "session_start_lasts",
        kind: SettingKind::Choice(&["session", "turn"]),
        default: "session",
        text: "Whether hooks on session_start are in the prompts of all turns (session), or of the first one only (turn)",
        source: "SEP-2282, Event types",
    },
    Setting {
        name: "trusted",
        kind: SettingKind::Flag,
        default: "false",
        text: "Whether you trust the server; otherwise, its hooks with the priority required become important",
        source: "SEP-2282, Priority levels and trust",
    },
    Setting {
        name: "only_trusted",
        kind: SettingKind::Choice(&["off", "tools", "all"]),
        default: "off",
        text: "Which hooks fire for trusted servers only: none (off), those that call a tool (tools), or all",
        source: "SEP-2282, Client behaviour and Matcher patterns and information leakage",
    },
    consent_setting(
        "Whether a hook's tool call may show the server what tools are given and return; \
         ask means only if you gave its command, or consent",
        "SEP-2282, Matcher patterns and information leakage",
    ),
    Setting {
        name: "approval",
        kind: SettingKind::Choice(&["none", "required", "all"]),
        default: "none",
        text: "Which hooks fire only after you approve the server: none, those with the priority required, or all",
        source: "SEP-2282, Client behaviour",
    },
    Setting {
        name: "most_declarations",
        kind: SettingKind::Count,
        default: "32",
        text: "How many hook declarations of a server the host accepts",
        source: "SEP-2282, Rate limiting and context flooding",
    },
    Setting {
        name: "per_event",
        kind: SettingKind::Count,
        default: "8",
        text: "How many hooks of a server fire at one event; those with the highest priority are preferred",
        source: "SEP-2282, Client behaviour",
    },
    Setting {
        name: "most_bytes",
        kind: SettingKind::Bytes,
        default: "16k",
        text: "How much text the hooks of a server may inject at one event; those with the highest priority come first",
        source: "SEP-2282, Rate limiting and context flooding",
    },
    Setting {
        name: "cooldown",
        kind: SettingKind::Time,
        default: "0s",
        text: "How long a hook does not fire again after it has fired",
        source: "SEP-2282, Rate limiting and context flooding",
    },
    Setting {
        name: "tool_timeout",
        kind: SettingKind::Time,
        default: "5s",
        text: "How long the host waits for the result of a hook's tool",
        source: "SEP-2282, Client behaviour",
    },
    Setting {
        name: "recursive",
        kind: SettingKind::Flag,
        default: "false",
        text: "Whether hooks also fire when a hook calls a tool; hooks that fire this way cause no further ones",
        source: "SEP-2282, AMB-D8",
    },
];

/// What the user has said about a server's hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Approval {
    /// Nothing: the option `approval` decides.
    Open,
    Given,
    /// No hook fires, whatever the options say.
    Revoked,
}

/// A server with hooks.
struct Declarer {
    declarations: Declarations,
    /// Whether the server declares tools.
    has_tools: bool,
    policy: Policy,
    approval: Approval,
    /// Whether its calls may show the server what tools are given and return.
    consent: Consent,
    /// The time at which each declaration last fired.
    fired: HashMap<usize, Duration>,
}

/// A firing hook.
struct Firing {
    server: ServerId,
    index: usize,
    priority: Priority,
    event: EventKind,
    /// The token of the tool call that it waits for.
    token: Option<u64>,
    /// The tool call.
    call: Option<ToolUse>,
    /// Whether the tool call of another hook caused it.
    is_nested: bool,
    text: Option<String>,
}

/// The proposal's host side.
pub(crate) struct HooksHostSide {
    policies: Policies,
    declarers: BTreeMap<ServerId, Declarer>,
    /// The hooks that fire at the current event, in the order of injection.
    firing: Vec<Firing>,
    /// The agent whose turn it is.
    agent: Agent,
    /// The id of a sub-agent's session of its own.
    own_session: Option<String>,
    /// Whether the agent has a request to answer: a user's message, or a sub-agent's task.
    has_request: bool,
    /// The turn is over once no hook waits for a tool.
    is_leaving: bool,
    /// What stays in the main agent's prompts for the whole session, by server and declaration.
    lasting: BTreeMap<(ServerId, usize), Injection>,
}

impl HooksHostSide {
    /// A host side without connected servers.
    pub(crate) fn new(policies: &Policies) -> Self {
        let (declarers, firing, agent, own_session, has_request, is_leaving, lasting) = Default::default();
        Self { policies: policies.clone(), declarers, firing, agent, own_session, has_request, is_leaving, lasting }
    }

    /// Fires all servers' hooks on an event, and injects their texts if none has to wait for a tool.
    fn fire(&mut self, cx: &mut HostCx<'_>, event: &Event) {
        self.fire_at(cx, event, false);
        self.finish(cx);
    }

    fn fire_at(&mut self, cx: &mut HostCx<'_>, event: &Event, is_nested: bool) {
        let mut chosen = Vec::new();
        for (server, declarer) in &mut self.declarers {
            let firing = declarer.select(cx, *server, event);
            let capped = declarer.capped(cx, *server, event.kind, firing);
            chosen.extend(capped.into_iter().map(|selected| (*server, selected)));
        }
        for (server, selected) in self.capped(cx, event.kind, chosen) {
            self.begin(cx, server, event.kind, selected, is_nested);
        }
    }

    /// Applies the limit for all servers together, in the same way as that of each server.
    fn capped(
        &self,
        cx: &mut HostCx<'_>,
        event: EventKind,
        chosen: Vec<(ServerId, Selected)>,
    ) -> Vec<(ServerId, Selected)> {
        let max = self.policies.of("host", "").length("hooks_per_event");
        let priority = |(server, selected): &(ServerId, Selected)| {
            self.declarers.get(server).map_or(selected.priority, |declarer| declarer.priority(selected.priority))
        };
        let (kept, dropped) = highest(chosen, max, priority);
        let mut by_server: BTreeMap<ServerId, Vec<usize>> = BTreeMap::new();
        for (server, selected) in dropped {
            by_server.entry(server).or_default().push(selected.index);
        }
        for (server, dropped) in by_server {
            let skipped = counted(dropped.len(), "hook");
            let text = format!("skipped {skipped} on {}: the limit for all servers is {max}", event.name());
            cx.report("capped", Some(server), text, json!({"event": event.name(), "left_out": dropped}));
        }
        kept
    }

    fn begin(&mut self, cx: &mut HostCx<'_>, server: ServerId, event: EventKind, selected: Selected, is_nested: bool) {
        let Some(declarer) = self.declarers.get_mut(&server) else { return };
        let Verdict::Fires(injected) = selected.verdict else { return };
        declarer.fired.insert(selected.index, cx.now);
        let index = selected.index;
        let priority = declarer.priority(selected.priority);
        let mut data = json!({"index": index, "event": event.name(), "priority": priority.name(),
            "notes": selected.notes});
        let (token, call, text) = match injected {
            Injected::Text(text) => (None, None, Some(text)),
            Injected::CallTool { name, arguments } => {
                data["context_tool"] = name.as_str().into();
                let timeout = declarer.policy.time("tool_timeout");
                let params = json!({"name": name, "arguments": arguments});
                let token = cx.request(server, "tools/call", params, timeout);
                (Some(token), Some(ToolUse { server: Some(server), tool: name, arguments, output: None }), None)
            }
        };
        let text_of_event = match data["context_tool"].as_str() {
            Some(tool) => format!("hook {index} fires on {}: calls {tool}", event.name()),
            None => format!("hook {index} fires on {}", event.name()),
        };
        cx.report("fires", Some(server), text_of_event, data);
        let recurses = declarer.policy.flag("recursive") && !is_nested;
        let nested = call.as_ref().filter(|_| recurses).map(|call| self.tool_event(cx, EventKind::PreToolUse, call));
        self.firing.push(Firing { server, index, priority, event, token, call, is_nested, text });
        if let Some(nested) = nested {
            self.fire_at(cx, &nested, true);
        }
    }

    /// Injects the texts once no hook waits for a tool, in the order of servers and declarations.
    fn finish(&mut self, cx: &mut HostCx<'_>) {
        if self.firing.iter().any(|firing| firing.token.is_some()) {
            return;
        }
        let mut firings = std::mem::take(&mut self.firing);
        firings.retain(|firing| firing.text.as_ref().is_some_and(|text| !text.trim().is_empty()));
        let room = self.room(&firings);
        for (firing, left) in firings.into_iter().zip(room) {
            let (Some(text), Some(declarer)) = (firing.text, self.declarers.get(&firing.server)) else { continue };
            let whole = text.len();
            if left == 0 {
                let text =
                    format!("the text of hook {} ({whole} B) exceeds the limit for one event, dropped", firing.index);
                cx.report("over budget", Some(firing.server), text, json!({"index": firing.index, "bytes": whole}));
                continue;
            }
            let slot = match firing.event {
                EventKind::SessionStart => SESSION,
                EventKind::PreRequest => REQUEST,
                EventKind::PreToolUse | EventKind::PostToolUse => TOOL,
                EventKind::SessionEnd | EventKind::PostRequest => OTHER,
            };
            let what = format!("{} hook on {}", firing.priority.name(), firing.event.name());
            // After its answer, a sub-agent has no prompt any more, and the main agent's is not meant.
            if slot == OTHER && self.agent != Agent::Main {
                let why = format!("not injected, because the sub-agent has no further prompt: {:?}", clip(&text, 80));
                cx.report("unprompted", Some(firing.server), why, json!({"index": firing.index, "text": text}));
                continue;
            }
            let injection = Injection { server: firing.server, slot, weight: 0, what, text: cut(text, left), id: None };
            // A sub-agent has one turn only.
            let lasts = declarer.policy.word("session_start_lasts") == "session" && self.agent == Agent::Main;
            if slot == SESSION && lasts {
                self.lasting.insert((firing.server, firing.index), injection);
            } else {
                cx.inject(injection);
            }
        }
        if std::mem::take(&mut self.is_leaving) {
            (self.agent, self.own_session) = (Agent::Main, None);
        }
    }

    /// How many bytes each of these texts may have. Those of the highest priority come first, then those declared first.
    fn room(&self, firings: &[Firing]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..firings.len()).collect();
        order.sort_by_key(|at| Reverse(firings[*at].priority));
        let (mut room, mut given) = (vec![0; firings.len()], BTreeMap::<ServerId, usize>::new());
        for at in order {
            let Firing { server, text, .. } = &firings[at];
            let most = self.declarers.get(server).map_or(0, |declarer| declarer.policy.length("most_bytes"));
            let given = given.entry(*server).or_default();
            room[at] = most.saturating_sub(*given);
            *given += text.as_ref().map_or(0, String::len);
        }
        room
    }

    fn inject_lasting(&self, cx: &mut HostCx<'_>) {
        let is_revoked =
            |server: &ServerId| self.declarers.get(server).is_some_and(|one| one.approval == Approval::Revoked);
        let lasting = self.lasting.iter().filter(|((server, _), _)| !is_revoked(server));
        lasting.for_each(|(_, text)| cx.inject(text.clone()));
    }

    fn begin_request(&mut self, cx: &mut HostCx<'_>) {
        self.has_request = true;
        self.fire(cx, &self.event(cx, EventKind::PreRequest));
    }

    /// A sub-agent sees what hooks on `session_start` inject. Its task is what a user's message is for the agent.
    fn begin_turn(&mut self, cx: &mut HostCx<'_>, agent: Agent) {
        self.agent = agent;
        self.own_session = (agent == Agent::Detached).then(|| format!("{}-agent-{}", cx.session, cx.turn));
        if agent != Agent::Main {
            self.fire_at(cx, &self.event(cx, EventKind::SessionStart), false);
            self.begin_request(cx);
        }
    }

    /// A session of a sub-agent's own ends with its only turn.
    fn end_turn(&mut self, cx: &mut HostCx<'_>, agent: Agent) {
        (self.has_request, self.is_leaving) = (false, true);
        if agent == Agent::Detached {
            self.fire_at(cx, &self.event(cx, EventKind::SessionEnd), false);
        }
        self.finish(cx);
    }

    fn event(&self, cx: &HostCx<'_>, kind: EventKind) -> Event {
        let (project, session) = (Some(cx.project), self.own_session.as_deref().or(Some(cx.session)));
        let known = |text: Option<&str>| text.filter(|text| !text.is_empty()).map(str::to_owned);
        Event { project_name: known(project), session_id: known(session), ..Event::new(kind) }
    }

    fn tool_event(&self, cx: &HostCx<'_>, kind: EventKind, used: &ToolUse) -> Event {
        let view = used.server.and_then(|server| cx.server(server));
        Event {
            tool_name: Some(used.tool.clone()),
            tool_server: view.map(|view| view.name.clone()),
            tool_server_info_name: view.map(|view| view.own_name.clone()),
            tool_input: used.arguments.clone(),
            tool_output: used.output.clone(),
            ..self.event(cx, kind)
        }
    }
}

impl Declarer {
    fn read(view: &ServerView, policy: Policy) -> Self {
        let declarations = Declarations::parse(&view.declared.server);
        let has_tools = view.declared.server.get("tools").is_some();
        let consent = Consent::of(&policy, view);
        Self { declarations, has_tools, policy, approval: Approval::Open, consent, fired: HashMap::new() }
    }

    /// The effective priority: `required` only applies to trusted servers.
    fn priority(&self, declared: Priority) -> Priority {
        match declared {
            Priority::Required if !self.policy.flag("trusted") => Priority::Important,
            other => other,
        }
    }

    /// Whether a hook fires. The error is `None` if the hook is for another event, which is not worth a report.
    fn verdict(&self, selected: &Selected, now: Duration) -> Result<(), Option<String>> {
        let calls_tool = match &selected.verdict {
            Verdict::Fires(injected) => matches!(injected, Injected::CallTool { .. }),
            Verdict::OtherEvent(_) => return Err(None),
            Verdict::Skipped(why) => return Err(Some(why.clone())),
        };
        let is_trusted = self.policy.flag("trusted");
        let refuse = |why: &str| Err(Some(why.to_owned()));
        if self.approval == Approval::Revoked {
            return refuse("you revoked your approval; /approve gives it again");
        }
        match self.policy.word("only_trusted") {
            "all" if !is_trusted => return refuse("the server is not trusted"),
            "tools" if !is_trusted && calls_tool => {
                return refuse("its context_tool is not called because the server is not trusted");
            }
            _ => {}
        }
        let waits = match self.policy.word("approval") {
            "all" => true,
            "required" => selected.priority == Priority::Required,
            _ => false,
        };
        if calls_tool && !self.has_tools {
            return refuse("its context_tool is not called because the server does not declare tools");
        }
        if waits && self.approval != Approval::Given {
            return refuse("it waits for your approval");
        }
        let cooldown = self.policy.time("cooldown");
        match self.fired.get(&selected.index) {
            Some(last) if now.saturating_sub(*last) < cooldown => refuse("it fired too recently"),
            _ => Ok(()),
        }
    }

    /// The hooks that fire at an event. Reports why others do not. A hook that the policy refuses cannot keep the same
    /// text of another one out.
    fn select(&mut self, cx: &mut HostCx<'_>, server: ServerId, event: &Event) -> Vec<Selected> {
        let mut chosen = judge_all(&self.declarations, event);
        chosen.retain(|selected| self.admits(cx, server, event, selected));
        skip_repeated(&mut chosen);
        chosen.retain(|selected| self.admits(cx, server, event, selected) && self.may_tell(cx, server, selected));
        chosen
    }

    /// Whether a hook fires. Reports the reason if it is for this event and does not.
    fn admits(&self, cx: &mut HostCx<'_>, server: ServerId, event: &Event, selected: &Selected) -> bool {
        let verdict = self.verdict(selected, cx.now);
        if let Err(Some(why)) = &verdict {
            let text = format!("hook {} on {} skipped: {why}", selected.index, event.kind.name());
            let data = json!({"index": selected.index, "event": event.kind.name(), "reason": why});
            cx.report("skipped", Some(server), text, data);
        }
        verdict.is_ok()
    }

    /// Whether a hook shows the server nothing of the conversation, or the user consents to it.
    fn may_tell(&mut self, cx: &mut HostCx<'_>, server: ServerId, selected: &Selected) -> bool {
        let hook = self.declarations.hooks.iter().find(|hook| hook.index == selected.index);
        !hook.is_some_and(Hook::tells) || self.consent.admits(cx, server, LEARNS)
    }

    /// Reports how the host takes a declaration differently than the server wrote it.
    fn report_differences(&self, cx: &mut HostCx<'_>, server: ServerId, hook: &Hook) {
        let data = json!({"index": hook.index, "event": hook.event.name()});
        if hook.matcher.is_some() && !hook.event.is_tool_event() {
            let text = format!("hook declaration {}: {}", hook.index, ignored_matcher(hook.event));
            cx.report("odd", Some(server), text, data.clone());
        }
        let priority = self.priority(hook.priority);
        if priority != hook.priority {
            let (declared, used) = (hook.priority.name(), priority.name());
            let text = format!(
                "hook declaration {} has the priority {declared}, but the server is not trusted: {used} is used",
                hook.index
            );
            cx.report("downgraded", Some(server), text, data);
        }
    }

    /// Selects the hooks with the highest priority (then those declared first), and keeps the order of declaration.
    fn capped(&self, cx: &mut HostCx<'_>, server: ServerId, event: EventKind, chosen: Vec<Selected>) -> Vec<Selected> {
        let max = self.policy.length("per_event");
        let (kept, dropped) = highest(chosen, max, |selected| self.priority(selected.priority));
        if !dropped.is_empty() {
            let dropped: Vec<usize> = dropped.iter().map(|selected| selected.index).collect();
            let text = format!("skipped {} on {}: the limit is {max}", counted(dropped.len(), "hook"), event.name());
            cx.report("capped", Some(server), text, json!({"event": event.name(), "left_out": dropped}));
        }
        kept
    }
}

/// Splits a list into the `max` items with the highest priority (of equal ones, the first), and the others. Both keep
/// their order.
fn highest<T>(list: Vec<T>, max: usize, priority: impl Fn(&T) -> Priority) -> (Vec<T>, Vec<T>) {
    let mut ranked: Vec<usize> = (0..list.len()).collect();
    ranked.sort_by_key(|at| list.get(*at).map(|item| Reverse(priority(item))));
    let kept: HashSet<usize> = ranked.into_iter().take(max).collect();
    let mut at = 0;
    list.into_iter().partition(|_| {
        at += 1;
        kept.contains(&(at - 1))
    })
}

impl HostSide for HooksHostSide {
    fn declares(&self, server: &str) -> Vec<(&'static [&'static str], Value)> {
        let policy = self.policies.of("hooks", server);
        let known: Vec<EventKind> = policy.words("events").iter().filter_map(|name| EventKind::parse(name)).collect();
        let capability = || client_capability(&known);
        let top: (&'static [&'static str], Value) = (&["hooks"], capability());
        let early: (&'static [&'static str], Value) = (&["experimental", "hooks"], capability());
        match policy.word("place") {
            "none" => Vec::new(),
            "top" => vec![top],
            "experimental" => vec![early],
            _ => vec![top, early],
        }
    }

    fn connected(&mut self, cx: &mut HostCx<'_>, server: ServerId) {
        let Some(view) = cx.server(server) else { return };
        let policy = self.policies.of("hooks", &view.name);
        let supported = policy.words("events").to_vec();
        let mut declarer = Declarer::read(view, policy);
        if declarer.declarations.place.is_none() {
            return;
        }
        if !view.is_legacy {
            let text = format!("{} declares hooks in the modern era, which cannot carry the proposal", view.name);
            return cx.report("no carrier", Some(server), text, Value::Null);
        }
        if declarer.policy.word("place") == "none" {
            let hooks = counted(declarer.declarations.hooks.len(), "hook");
            let text = format!("{} declares {hooks}, but the host supports none (hooks.place)", view.name);
            return cx.report_mistake("unsupported", server, text, Value::Null);
        }
        let Declarations { hooks, dropped, notes, .. } = &mut declarer.declarations;
        for entry in dropped.iter() {
            let text = format!("hook declaration {} is invalid and was dropped: {}", entry.index, entry.reason);
            cx.report_mistake("malformed", server, text, json!({"index": entry.index, "reason": entry.reason}));
        }
        notes.iter().for_each(|note| cx.report("odd", Some(server), note.clone(), Value::Null));
        let max = declarer.policy.length("most_declarations");
        if hooks.len() > max {
            let text = format!("the server declared {} hooks; only the first {max} are used", hooks.len());
            cx.report("too many", Some(server), text, json!({"declared": hooks.len(), "counted": max}));
            hooks.truncate(max);
        }
        hooks.retain(|hook| {
            let is_supported = supported.iter().any(|name| name == hook.event.name());
            if !is_supported {
                let text = format!(
                    "hook declaration {} is for {}, which the host did not list as supported",
                    hook.index,
                    hook.event.name()
                );
                cx.report_mistake("unsupported", server, text, json!({"index": hook.index}));
            }
            is_supported
        });
        // The events that the server learns of because it is called (SEP-2282, Matcher patterns and information
        // leakage).
        let calls = |content: &HookContent| matches!(content, HookContent::Tool { .. });
        let learns: Vec<&str> =
            hooks.iter().filter(|hook| calls(&hook.content)).map(|hook| hook.event.name()).collect();
        let data = json!({"declarations": hooks.len(), "learns_of": learns});
        cx.report("declared", Some(server), format!("{} declares {}", view.name, counted(hooks.len(), "hook")), data);
        for hook in &declarer.declarations.hooks {
            declarer.report_differences(cx, server, hook);
        }
        if declarer.declarations.hooks.iter().any(Hook::tells) {
            let question = |name: &str| format!("may the hooks of {name} see what tools are given and return?");
            declarer.consent.ask(cx, server, question);
        }
        self.declarers.insert(server, declarer);
    }

    fn disconnected(&mut self, cx: &mut HostCx<'_>, server: ServerId) {
        self.declarers.remove(&server);
        self.firing.retain(|firing| firing.server != server);
        self.finish(cx);
    }

    fn lifecycle_event(&mut self, cx: &mut HostCx<'_>, moment: &LifecycleEvent<'_>) {
        match moment {
            LifecycleEvent::SessionStart => self.fire(cx, &self.event(cx, EventKind::SessionStart)),
            LifecycleEvent::SessionEnd => self.fire(cx, &self.event(cx, EventKind::SessionEnd)),
            LifecycleEvent::UserMessage { .. } => self.begin_request(cx),
            LifecycleEvent::BeforeTool(used) => self.fire(cx, &self.tool_event(cx, EventKind::PreToolUse, used)),
            LifecycleEvent::AfterTool(used) => self.fire(cx, &self.tool_event(cx, EventKind::PostToolUse, used)),
            LifecycleEvent::TurnBegins(Beginning { agent, .. }) => self.begin_turn(cx, *agent),
            LifecycleEvent::Prompt(Agent::Main) => self.inject_lasting(cx),
            // A turn that nobody's message began has no request to end.
            LifecycleEvent::Answered(..) if std::mem::take(&mut self.has_request) => {
                self.fire(cx, &self.event(cx, EventKind::PostRequest));
            }
            LifecycleEvent::TurnOver(agent) => self.end_turn(cx, *agent),
            LifecycleEvent::Answered(..)
            | LifecycleEvent::Prompt(_)
            | LifecycleEvent::FurtherPrompt(_)
            | LifecycleEvent::Compacted => {}
        }
    }

    fn is_settled(&self) -> bool {
        self.firing.is_empty()
    }

    fn replied(&mut self, cx: &mut HostCx<'_>, server: ServerId, token: u64, reply: &RequestOutcome<'_>) {
        let Some(at) = self.firing.iter().position(|firing| firing.token == Some(token)) else {
            if let RequestOutcome::Answered { .. } = reply {
                cx.report("late", Some(server), "the result of a hook's tool arrived too late, dropped", Value::Null);
            }
            return;
        };
        let mut output = None;
        let given = match reply {
            RequestOutcome::Answered { envelope, .. } if envelope.kind == MessageKind::Error => {
                let error = String::from_utf8_lossy(envelope.error.unwrap_or_default()).into_owned();
                Err(format!("the server responded with an error: {error}"))
            }
            RequestOutcome::Answered { envelope, .. } => {
                let result = text::value_of(envelope.result.unwrap_or_default());
                let text = tool_result_text(&result).map_err(|error| error.to_string());
                output = Some(result);
                text
            }
            RequestOutcome::TimedOut => Err("no response in time".to_owned()),
            RequestOutcome::Failed(why) => Err((*why).to_owned()),
        };
        let firing = &mut self.firing[at];
        (firing.token, firing.text) = match given {
            Ok(text) => (None, Some(text)),
            Err(why) => {
                // With an empty list of content, a tool says that it currently has nothing to inject.
                let is_empty = |result: &Value| result["content"] == json!([]) && result["isError"] != true;
                let (what, text) = match output.as_ref().is_some_and(is_empty) {
                    true => {
                        ("nothing to inject", format!("the tool of hook {} returned nothing to inject", firing.index))
                    }
                    false => ("tool failed", format!("the tool of hook {} returned no text: {why}", firing.index)),
                };
                cx.report(what, Some(server), text, json!({"index": firing.index, "reason": why}));
                (None, None)
            }
        };
        let is_nested = firing.is_nested;
        let call = firing.call.take();
        let recurses = self.declarers.get(&server).is_some_and(|declarer| declarer.policy.flag("recursive"));
        if let (Some(call), true, false) = (call, recurses, is_nested) {
            let event = self.tool_event(cx, EventKind::PostToolUse, &ToolUse { output, ..call });
            self.fire_at(cx, &event, true);
        }
        self.finish(cx);
    }

    fn allow(&mut self, cx: &mut HostCx<'_>, server: ServerId, is_allowed: bool) {
        let Some(declarer) = self.declarers.get_mut(&server) else { return };
        declarer.approval = if is_allowed { Approval::Given } else { Approval::Revoked };
        declarer.consent.decide(is_allowed);
        let (what, text) = match is_allowed {
            true => ("allowed", "its hooks are approved"),
            false => ("revoked", "its hooks do not fire until you approve them again"),
        };
        cx.report(what, Some(server), text, Value::Null);
    }

    fn orders(&self) -> &'static [&'static str] {
        &["hook"]
    }

    fn order(&mut self, cx: &mut HostCx<'_>, order: &str, params: &Value) -> Option<Result<(), String>> {
        if order != "hook" {
            return None;
        }
        let text = |name: &str| params[name].as_str().map(str::to_owned);
        let Some(kind) = text("event").as_deref().and_then(EventKind::parse) else {
            let known = EventKind::NAMES;
            return Some(Err(format!("unknown hook event; known events: {}", known.join(", "))));
        };
        let server = text("tool_server");
        let view = server.as_ref().and_then(|name| cx.servers.iter().find(|view| view.name == *name));
        let event = Event {
            tool_name: text("tool_name"),
            tool_server_info_name: view.map(|view| view.own_name.clone()),
            tool_server: server,
            tool_input: params["tool_input"].clone(),
            tool_output: params.get("tool_output").cloned(),
            ..self.event(cx, kind)
        };
        self.fire(cx, &event);
        Some(Ok(()))
    }

    fn state(&self) -> Value {
        let one = |(id, declarer): (&ServerId, &Declarer)| json!({"server": id.0, "approved": declarer.approval == Approval::Given, "hooks": declarer.declarations.hooks.len()});
        self.declarers.iter().map(one).collect()
    }
}
