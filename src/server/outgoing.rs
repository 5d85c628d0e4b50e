//! Requests of the server's own: their ids, what waits for an answer, and what an answer tells.

use super::{Report, Server, Timer};
use crate::extension::mcpl;
use crate::wire::{Envelope, IdKey, MessageKind};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// How many overdue requests are remembered for a late answer.
const MOST_OVERDUE: usize = 256;

/// What a request is about, for the report on its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum About {
    /// A push event, by its id.
    Push(String),
    /// An inference; whether its answer is to be remembered.
    Inference {
        /// It was a summary of the memories.
        consolidates: bool,
    },
    /// Anything else.
    Other,
}

#[derive(Debug)]
struct Waiting {
    method: String,
    about: About,
    sent: Duration,
    late: bool,
    chunks: BTreeMap<u64, String>,
}

/// The open requests.
#[derive(Debug, Default)]
pub struct Asking {
    asked: i64,
    open: BTreeMap<i64, Waiting>,
}

impl Asking {
    /// Forgets the oldest overdue requests where there are too many.
    fn forget(&mut self) {
        let overdue: Vec<i64> = self.open.iter().filter(|(_, waiting)| waiting.late).map(|(id, _)| *id).collect();
        for id in overdue.iter().take(overdue.len().saturating_sub(MOST_OVERDUE)) {
            self.open.remove(id);
        }
    }
}

/// An answer and what is known of it.
struct Answer {
    id: i64,
    waiting: Waiting,
    latency_us: u64,
}

impl Server {
    /// Sends a request of its own; the ids count from 1, in a space of their own.
    pub(super) fn ask(&mut self, method: &str, params: &Value, about: About) -> i64 {
        self.asking.asked += 1;
        let id = self.asking.asked;
        let waiting =
            Waiting { method: method.to_owned(), about, sent: self.now, late: false, chunks: BTreeMap::new() };
        self.asking.open.insert(id, waiting);
        self.timers.set(self.now + self.config.answer_deadline, Timer::Deadline(id));
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// An answer's time is over. It is waited for still, and then is late.
    pub(super) fn miss(&mut self, id: i64) {
        let Some(waiting) = self.asking.open.get_mut(&id) else { return };
        waiting.late = true;
        let (method, after_us) = (waiting.method.clone(), micros(self.now.saturating_sub(waiting.sent)));
        self.asking.forget();
        self.report(Report::Unanswered { id, method, after_us });
    }

    /// A part of a streamed inference came.
    pub(super) fn chunk(&mut self, params: &Value) {
        let waiting = params["requestId"].as_i64().and_then(|id| self.asking.open.get_mut(&id));
        let waiting = waiting.filter(|waiting| matches!(waiting.about, About::Inference { .. }));
        match (waiting, params["index"].as_u64(), params["delta"].as_str()) {
            (Some(waiting), Some(index), Some(delta)) => {
                waiting.chunks.insert(index, delta.to_owned());
            }
            (None, ..) => {
                let id = params["requestId"].to_string();
                self.report(Report::Orphan { id });
            }
            _ => {}
        }
    }

    /// An answer came.
    pub(super) fn answered(&mut self, envelope: &Envelope<'_>) {
        let open = match envelope.id.map(crate::wire::Id::key) {
            Some(IdKey::Integer(id)) => self.asking.open.remove(&id).map(|waiting| (id, waiting)),
            _ => None,
        };
        let Some((id, waiting)) = open else {
            let id = envelope.id.map_or("none".to_owned(), |id| id.key().to_string());
            return self.report(Report::Orphan { id });
        };
        self.timers.clear(Timer::Deadline(id));
        let latency_us = micros(self.now.saturating_sub(waiting.sent));
        let answer = Answer { id, waiting, latency_us };
        let content = envelope.content().and_then(|text| serde_json::from_slice(text).ok()).unwrap_or_default();
        match envelope.kind {
            MessageKind::Error => self.refused(answer, &content),
            _ => self.granted(answer, content),
        }
    }

    fn refused(&mut self, answer: Answer, error: &Value) {
        let message = error["message"].as_str().unwrap_or_default().to_owned();
        let Answer { id, waiting: Waiting { method, late, .. }, latency_us } = answer;
        let code = error["code"].as_i64().unwrap_or_default();
        self.report(Report::Refused { id, method, code, message, latency_us, late });
    }

    fn granted(&mut self, answer: Answer, result: Value) {
        self.check(&answer.waiting.method, "result", &result);
        let text = |name: &str| result[name].as_str().map(str::to_owned);
        let Answer { id, waiting, latency_us } = answer;
        let late = waiting.late;
        match waiting.about {
            About::Push(event_id) => {
                let (inference_id, reason) = (text("inferenceId"), text("reason"));
                let accepted = result["accepted"].as_bool();
                self.report(Report::PushAnswered { id, event_id, accepted, inference_id, reason, latency_us, late });
            }
            About::Inference { consolidates } => {
                let whole: String = waiting.chunks.values().map(String::as_str).collect();
                let in_order = waiting.chunks.keys().copied().eq(0..waiting.chunks.len() as u64);
                let agree = in_order && Some(whole.as_str()) == result["content"].as_str();
                let chunks = waiting.chunks.len();
                let chunks_agree = (chunks > 0).then_some(agree);
                let (model, finish_reason) = (text("model"), text("finishReason"));
                self.report(Report::InferenceAnswered {
                    id,
                    model,
                    finish_reason,
                    chunks,
                    chunks_agree,
                    latency_us,
                    late,
                });
                if let Some(summary) = text("content").filter(|text| consolidates && !text.is_empty()) {
                    self.remember(summary, mcpl::server::CONSOLIDATION.to_owned());
                }
            }
            About::Other => {
                let method = waiting.method;
                self.report(Report::Answered { id, method, result, latency_us, late });
            }
        }
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
