//! What the server sends of its own will: when told, when a plan says so, when a tool asks for it.

use super::outgoing::About;
use super::{Phase, Report, Server, Unsent};
use crate::extension::{mcpe, mcpl, reminder};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Log levels, lowest first.
const LEVELS: &[&str] = &["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
/// The level until the host sets one: `info`.
pub const DEFAULT_LEVEL: usize = 1;

/// A level's place; `None` for what is no level.
pub fn level_rank(level: &str) -> Option<usize> {
    LEVELS.iter().position(|known| *known == level)
}

/// Something to send. As JSON, an object whose `kind` says what; the other members are the proposal's own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Fired {
    /// A push event (MCPL).
    Push(mcpl::server::Draft),
    /// A reminder.
    Reminder(reminder::server::Draft),
    /// An event for the subscriptions that want it (MCPE).
    Event(mcpe::server::Draft),
    /// A log message.
    Log {
        /// Its level.
        #[serde(default = "info")]
        level: String,
        /// What it says.
        data: Value,
    },
    /// A request for an inference (MCPL).
    Inference(mcpl::server::Ask),
    /// A question for the model's name (MCPL).
    ModelInfo {},
    /// Any notification, as it is, whatever was declared.
    Notification {
        /// Its method.
        method: String,
        /// Its params.
        #[serde(default)]
        params: Value,
    },
    /// Any request, as it is, whatever was declared; its answer is reported.
    Request {
        /// Its method.
        method: String,
        /// Its params.
        #[serde(default)]
        params: Value,
    },
}

fn info() -> String {
    "info".to_owned()
}

impl Fired {
    /// The same for a plan's later turn: another occurrence is another event, so a given event id gets a number.
    pub(super) fn occurrence(mut self, done: u64) -> Self {
        if let Self::Push(mcpl::server::Draft { event_id: Some(id), .. }) = &mut self
            && done > 0
        {
            *id = format!("{id}-{}", done + 1);
        }
        self
    }

    /// The method that it goes out by.
    pub fn method(&self) -> &str {
        match self {
            Self::Push(_) => mcpl::PUSH_EVENT,
            Self::Reminder(_) => reminder::REMINDER,
            Self::Event(_) => mcpe::EVENT,
            Self::Log { .. } => "notifications/message",
            Self::Inference(_) => mcpl::server::INFERENCE,
            Self::ModelInfo {} => mcpl::server::MODEL_INFO,
            Self::Notification { method, .. } | Self::Request { method, .. } => method,
        }
    }
}

impl Server {
    /// Sends what it is told to, if it may. Answers with what was done, or why not; both are reported too.
    pub(super) fn act(&mut self, fired: Fired) -> Result<String, Unsent> {
        let method = fired.method().to_owned();
        let done = match self.session.phase {
            Phase::Ready => self.act_now(fired, &method),
            Phase::New | Phase::Answered => Err(Unsent::NotReady),
        };
        if let Err(reason) = &done {
            self.report(Report::NotSent { method, reason: reason.clone() });
        }
        done
    }

    fn act_now(&mut self, fired: Fired, method: &str) -> Result<String, Unsent> {
        match fired {
            Fired::Push(draft) => self.push(&draft),
            Fired::Reminder(draft) => self.remind(&draft),
            Fired::Event(draft) => self.publish(&draft),
            Fired::Log { level, data } => self.log(&level, &data),
            Fired::Inference(ask) => self.infer(&ask),
            Fired::ModelInfo {} => {
                self.live()?.may_ask_model()?;
                Ok(self.sent_request(method, &json!({}), About::Other))
            }
            Fired::Notification { params, .. } => Ok(self.sent(method, &object(params))),
            Fired::Request { params, .. } => Ok(self.sent_request(method, &object(params), About::Other)),
        }
    }

    fn live(&self) -> Result<&mcpl::server::Mcpl, Unsent> {
        self.session.mcpl.as_ref().ok_or(Unsent::NotDeclared { proposal: "mcpl" })
    }

    fn declared(&self, proposal: &'static str) -> Result<(), Unsent> {
        if self.config.declares(proposal) { Ok(()) } else { Err(Unsent::NotDeclared { proposal }) }
    }

    fn push(&mut self, draft: &mcpl::server::Draft) -> Result<String, Unsent> {
        self.live()?.may_send(mcpl::PUSH_EVENT, draft.set())?;
        let event_id = match &draft.event_id {
            Some(id) => id.clone(),
            None => format!("evt_{}", self.uuid_v7()),
        };
        let params = draft.params(&event_id, &self.stamp(), &self.config.name);
        Ok(self.sent_request(mcpl::PUSH_EVENT, &params, About::Push(event_id)))
    }

    fn remind(&mut self, draft: &reminder::server::Draft) -> Result<String, Unsent> {
        self.declared("reminder")?;
        let id = self.uuid_v7();
        let params = reminder::server::params(&id, draft).map_err(|fault| Unsent::Invalid { fault })?;
        Ok(self.sent(reminder::REMINDER, &params))
    }

    fn publish(&mut self, draft: &mcpe::server::Draft) -> Result<String, Unsent> {
        self.declared("mcpe")?;
        let event_id = self.uuid_v4();
        let event = draft.event(&event_id, &self.stamp()).map_err(|fault| Unsent::Invalid { fault })?;
        let (subscriptions, messages): (Vec<String>, Vec<Value>) =
            self.events.deliveries(draft, &event).into_iter().unzip();
        messages.iter().for_each(|params| self.notify(mcpe::EVENT, params));
        let told = format!("event {event_id} went to {} subscriptions", subscriptions.len());
        self.report(Report::Published { event_id, event_type: draft.event_type.clone(), subscriptions });
        Ok(told)
    }

    fn log(&mut self, level: &str, data: &Value) -> Result<String, Unsent> {
        let Some(rank) = level_rank(level) else {
            return Err(Unsent::Invalid { fault: format!("unknown log level {level:?}") });
        };
        if rank < self.session.log_level {
            let wanted = LEVELS.get(self.session.log_level).copied().unwrap_or_default();
            return Err(Unsent::BelowLevel { level: wanted.to_owned() });
        }
        let params = json!({"level": level, "logger": self.config.name, "data": data});
        Ok(self.sent("notifications/message", &params))
    }

    /// Asks for an inference. Hooks are answered at once, so none is ever open here (§10.7).
    fn infer(&mut self, ask: &mcpl::server::Ask) -> Result<String, Unsent> {
        self.live()?.may_send(mcpl::server::INFERENCE, mcpl::server::CONSOLIDATION)?;
        let memories: Vec<&str> = self.memories.all().map(|memory| memory.content.as_str()).collect();
        let params = self.live()?.inference(ask, &memories);
        let about = About::Inference { consolidates: ask.prompt.is_none() };
        Ok(self.sent_request(mcpl::server::INFERENCE, &params, about))
    }

    fn sent(&mut self, method: &str, params: &Value) -> String {
        self.notify(method, params);
        self.report(Report::Sent { method: method.to_owned(), id: None });
        format!("sent {method}")
    }

    fn sent_request(&mut self, method: &str, params: &Value, about: About) -> String {
        let id = self.ask(method, params, about);
        self.report(Report::Sent { method: method.to_owned(), id: Some(id) });
        format!("sent {method} with id {id}")
    }
}

/// Params left out are an empty object.
fn object(params: Value) -> Value {
    if params.is_null() { json!({}) } else { params }
}
