//! The prompt of a turn: the host's own text, the conversation so far, and what servers inject, in an order that the
//! user can choose, each part with its origin.
//!
//! Never: asking a model.

use crate::proposals::REGISTRY;
use crate::proposals::host::{Inference, Injection, PromptPlace, ServerView, Slot, quoted};
use crate::wire::units::micros;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::time::Duration;

/// The role of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The host.
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
    /// A tool.
    Tool,
}

impl Role {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

/// The origin of a part that a server injected.
#[derive(Clone, Debug, PartialEq)]
pub struct Origin {
    /// The server's name in the host.
    pub server: String,
    /// The proposal, or `mcp`.
    pub proposal: String,
    /// The slot.
    pub slot: String,
    /// Its position in the prompt.
    pub place: PromptPlace,
    /// Its length in bytes, before quoting.
    pub bytes: usize,
    /// The time from the turn's start to its arrival; zero if it was waiting already.
    pub after: Duration,
}

/// One part of a prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct PromptPart {
    /// The role.
    pub role: Role,
    /// The origin, if a server injected it.
    pub origin: Option<Origin>,
    /// The text as the model sees it.
    pub text: String,
}

/// The input of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Prompt {
    /// The turn; the first is 1.
    pub turn: u64,
    /// The number of the prompt within the turn; more than 1 after the model has used tools. The first is 1.
    pub round: u64,
    /// The parts, in order.
    pub parts: Vec<PromptPart>,
}

impl Prompt {
    /// A server's inference request as a prompt, outside of any turn.
    pub fn of(asked: &Inference) -> Self {
        let part = |said: &crate::proposals::host::Utterance| {
            let role = match said.role {
                "system" => Role::System,
                "assistant" => Role::Assistant,
                _ => Role::User,
            };
            PromptPart { role, origin: None, text: said.text.clone() }
        };
        Prompt { turn: 0, round: 0, parts: asked.messages.iter().map(part).collect() }
    }

    /// The prompt for a program that acts as the model: `{"turn", "round", "messages": [{"role", "content",
    /// "external"?}]}`. It contains no times, so the same conversation gives the same bytes.
    pub fn to_value(&self) -> Value {
        let message = |part: &PromptPart| {
            let mut message = json!({"role": part.role.name(), "content": part.text});
            if let Some(origin) = &part.origin {
                message["external"] =
                    json!({"server": origin.server, "proposal": origin.proposal, "slot": origin.slot});
            }
            message
        };
        json!({"turn": self.turn, "round": self.round, "messages": self.parts.iter().map(message).collect::<Vec<_>>()})
    }

    /// The prompt as text, for people.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        for part in &self.parts {
            out.push_str(&format!("{}:\n", part.role.name()));
            for line in part.text.lines() {
                out.push_str(&format!("  {line}\n"));
            }
        }
        out
    }

    /// The origins of all injected parts, as JSON.
    pub fn labels(&self) -> Value {
        let label = |origin: &Origin| {
            json!({"server": origin.server, "proposal": origin.proposal, "slot": origin.slot,
                "place": origin.place.name(), "bytes": origin.bytes,
                "after_us": micros(origin.after)})
        };
        self.parts.iter().filter_map(|part| part.origin.as_ref()).map(label).collect()
    }
}

/// The positions of slots in the prompt.
#[derive(Clone, Debug)]
pub struct Layout {
    slots: HashMap<&'static str, (PromptPlace, u32)>,
}

impl Default for Layout {
    fn default() -> Self {
        let slots = all_slots().map(|slot| (slot.name, (slot.place, slot.rank))).collect();
        Self { slots }
    }
}

fn all_slots() -> impl Iterator<Item = &'static Slot> {
    REGISTRY.iter().flat_map(|proposal| proposal.slots())
}

impl Layout {
    /// Reads a layout in JSON: `{"system": [SLOT, …], "before_user": […], "after_user": […], "after_tool": […]}`. Slots that are not
    /// named
    /// keep their positions, after those that are.
    ///
    /// # Errors
    ///
    /// Unknown positions or slots; the message lists the known ones.
    pub fn read(value: &Value) -> Result<Self, String> {
        let mut layout = Self::default();
        use PromptPlace::{AfterTool, AfterUser, BeforeUser, System};
        let places = [System, BeforeUser, AfterUser, AfterTool];
        for (name, list) in value.as_object().ok_or("a layout must be an object")? {
            let Some(place) = places.into_iter().find(|place| place.name() == name) else {
                let known = places.map(PromptPlace::name).join(", ");
                return Err(format!("unknown position {name:?}; known positions: {known}"));
            };
            let list = list.as_array().ok_or_else(|| format!("{name} must be a list of slots"))?;
            for (rank, wanted) in list.iter().enumerate() {
                let Some(slot) = all_slots().find(|slot| Some(slot.name) == wanted.as_str()) else {
                    let known = all_slots().map(|slot| slot.name).collect::<Vec<_>>().join(", ");
                    return Err(format!("unknown slot {wanted}; known slots: {known}"));
                };
                // Before all ranks that proposals assign.
                let rank = u32::try_from(rank).unwrap_or(u32::MAX);
                layout.slots.insert(slot.name, (place, rank));
            }
            for slot in all_slots().filter(|slot| !list.iter().any(|wanted| wanted == slot.name)) {
                if let Some((_, rank)) = layout.slots.get_mut(slot.name).filter(|found| found.1 == slot.rank) {
                    *rank = slot.rank + 1000;
                }
            }
        }
        Ok(layout)
    }

    /// The position of a slot.
    pub(crate) fn place(&self, slot: &str) -> PromptPlace {
        self.of(slot).0
    }

    fn of(&self, slot: &str) -> (PromptPlace, u32) {
        self.slots.get(slot).copied().unwrap_or((PromptPlace::BeforeUser, u32::MAX))
    }
}

/// An injection, and when it arrived.
#[derive(Clone, Debug)]
pub(crate) struct QueuedInjection {
    /// The injection.
    pub injection: Injection,
    /// The proposal that made it.
    pub proposal: &'static str,
    /// When it arrived.
    pub at: Duration,
}

/// Why an injection is not in the prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LeftOut {
    /// Another one of the same server and proposal has the same text, and is not an event of its own.
    Duplicate {
        /// The server and slot of the other one.
        of: String,
    },
    /// The prompt has no space left for it.
    OverBudget,
}

/// The injections of a prompt, in order, and those left out.
pub(crate) struct Chosen {
    /// Those in the prompt.
    pub parts: Vec<(PromptPlace, PromptPart)>,
    /// Those left out.
    pub left_out: Vec<(QueuedInjection, LeftOut)>,
}

/// Orders injections by position and slot, then by weight, server, and arrival. At most `most` bytes in all. The same
/// text of several servers stays, because it is each server's own word.
pub(crate) fn choose(
    mut waiting: Vec<QueuedInjection>,
    layout: &Layout,
    servers: &[ServerView],
    turn_began: Duration,
    most: usize,
) -> Chosen {
    waiting.sort_by_key(|one| {
        let (place, rank) = layout.of(one.injection.slot);
        (place, rank, std::cmp::Reverse(one.injection.weight), one.injection.server)
    });
    let mut chosen = Chosen { parts: Vec::new(), left_out: Vec::new() };
    let mut seen = HashMap::new();
    let mut left = most;
    for one in waiting {
        let Injection { server, slot, what, text, id, .. } = &one.injection;
        let name = servers.get(server.0).map_or("", |view| view.name.as_str()).to_owned();
        // What a text is (for a hook, with its priority) is a part of what the model sees.
        let key = (*server, one.proposal, what.clone(), text.trim().to_owned(), id.clone());
        if let Some(of) = seen.get(&key) {
            let why = LeftOut::Duplicate { of: String::clone(of) };
            chosen.left_out.push((one, why));
            continue;
        }
        if text.len() > left {
            chosen.left_out.push((one, LeftOut::OverBudget));
            continue;
        }
        left -= text.len();
        seen.insert(key, format!("{name} ({slot})"));
        let place = layout.of(slot).0;
        let after = one.at.saturating_sub(turn_began);
        let origin = Origin {
            server: name.clone(),
            proposal: one.proposal.to_owned(),
            slot: (*slot).to_owned(),
            place,
            bytes: text.len(),
            after,
        };
        let role = if place == PromptPlace::System { Role::System } else { Role::User };
        chosen.parts.push((place, PromptPart { role, origin: Some(origin), text: quoted(&name, what, text) }));
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proposals::host::ServerId;

    fn waiting(server: usize, slot: &'static str, weight: i64, text: &str) -> QueuedInjection {
        let what = "context".to_owned();
        let injection = Injection { server: ServerId(server), slot, weight, what, text: text.to_owned(), id: None };
        QueuedInjection { injection, proposal: "proposal", at: Duration::ZERO }
    }

    fn order(waiting: Vec<QueuedInjection>, layout: &Layout, most: usize) -> (Vec<String>, usize) {
        let view = |name: &str| ServerView { name: name.to_owned(), ..ServerView::default() };
        let chosen = choose(waiting, layout, &[view("a"), view("b")], Duration::ZERO, most);
        let texts = chosen.parts.iter().map(|(_, part)| part.text.lines().nth(1).unwrap_or_default()[2..].to_owned());
        (texts.collect(), chosen.left_out.len())
    }

    #[test]
    fn f1_places_and_slots_stand_in_the_default_order() {
        let all = || {
            vec![
                waiting(1, "conversation.context", 0, "b says"),
                waiting(0, "reminder.user", 0, "later"),
                waiting(0, "conversation.context", 0, "a says"),
                waiting(1, "conversation.context", 5, "b insists"),
                waiting(0, "hooks.pre_request", 0, "hook"),
                waiting(1, "reminder.system", 0, "reminder"),
                waiting(1, "hooks.session_start", 0, "start"),
            ]
        };
        let (texts, _) = order(all(), &Layout::default(), usize::MAX);
        assert_eq!(texts, ["start", "reminder", "hook", "b insists", "a says", "b says", "later"]);
        let mine =
            json!({"after_user": ["conversation.context"], "before_user": ["hooks.pre_request", "reminder.system"]});
        let (texts, _) = order(all(), &Layout::read(&mine).expect("a layout"), usize::MAX);
        assert_eq!(texts, ["start", "hook", "reminder", "b insists", "a says", "b says", "later"]);
        assert!(Layout::read(&json!({"after_user": ["nothing"]})).expect_err("no slot").contains("reminder.user"));
    }

    #[test]
    fn f2_a_servers_text_stands_once_and_the_budget_holds() {
        let same = |server: usize, text: &str| waiting(server, "conversation.context", 0, text);
        let twice = vec![same(1, "same\n"), same(0, "same"), same(0, " same")];
        assert_eq!(order(twice, &Layout::default(), usize::MAX), (vec!["same".to_owned(); 2], 1), "once per server");
        let event = |id: &str| {
            let mut one = same(0, "check");
            one.injection.id = Some(id.to_owned());
            one
        };
        let events = vec![event("e1"), event("e2"), event("e1")];
        assert_eq!(order(events, &Layout::default(), usize::MAX).1, 1, "events are told apart by their ids");
        let hook = |what: &str| {
            let mut one = same(0, "check");
            one.injection.what = what.to_owned();
            one
        };
        let both = vec![hook("suggestion hook"), hook("required hook")];
        assert_eq!(order(both, &Layout::default(), usize::MAX).1, 0, "a priority is a part of what is said");
        let long = vec![waiting(0, "conversation.context", 0, "123456"), waiting(1, "conversation.context", 0, "12")];
        assert_eq!(order(long, &Layout::default(), 4), (vec!["12".to_owned()], 1));
    }
}
