//! Messages of the proposals, brought to their rooms with what the rooms do not have: memories, ids, times.

use super::incoming::{Answer, Refusal};
use super::{Report, Server, catalog};
use crate::extension::mcpl::server as live;
use crate::extension::{conversation, mcpe, mcpl};
use serde_json::{Value, json};

/// How many memories are offered at once.
const OFFERED: usize = 3;

impl Server {
    /// Whether a request of a proposal is served on this connection.
    pub(super) fn serves_proposed(&self, method: &str) -> bool {
        match method {
            conversation::USER_MESSAGE => self.config.declares("conversation"),
            "context/beforeInference" | "context/afterInference" | "state/rollback" => self.session.mcpl.is_some(),
            _ => false,
        }
    }

    pub(super) fn serve_proposed(&mut self, method: &str, params: &Value) -> Answer {
        match method {
            conversation::USER_MESSAGE => self.user_message(params, "request").map(|(_, context)| context),
            "context/beforeInference" => self.before_inference(params),
            "context/afterInference" => {
                self.learn(params);
                Ok(live::unmodified())
            }
            "state/rollback" => self.roll_back(params),
            _ => Err(Refusal::unknown_method(method)),
        }
    }

    /// Takes a notification of a proposal; answers whether it is one that something is done about.
    pub(super) fn hear_proposed(&mut self, method: &str, params: &Value) -> bool {
        let begun = self.session.phase > super::Phase::New;
        match method {
            conversation::USER_MESSAGE if begun && self.config.declares("conversation") => {
                if let Ok((message, context)) = self.user_message(params, "notification") {
                    self.notify(conversation::CONTEXT, &conversation::server::addressed(&message, context));
                }
            }
            "context/afterInference" if self.session.mcpl.is_some() => self.learn(params),
            "featureSets/update" if self.session.mcpl.is_some() => self.update_sets(params),
            "inference/chunk" if self.session.mcpl.is_some() => self.chunk(params),
            _ => return false,
        }
        true
    }

    fn user_message(
        &mut self,
        params: &Value,
        carrier: &'static str,
    ) -> Result<(conversation::server::UserMessage, Value), Refusal> {
        let message = conversation::server::read(params).map_err(Refusal::params)?;
        let hits = self.memories.search(&message.content, OFFERED);
        let found: Vec<_> = hits
            .iter()
            .map(|hit| conversation::server::Memory {
                content: &hit.memory.content,
                relevance: hit.relevance,
                source: &hit.memory.source,
            })
            .collect();
        let (context, memories) = (conversation::server::context(&found), found.len());
        self.report(Report::UserMessage { message_id: message.message_id.clone(), carrier, memories });
        Ok((message, context))
    }

    /// Injects what fits the user's message. Nothing fits generation that goes on without one, and a set that is off
    /// injects nothing: the answer must come all the same.
    fn before_inference(&mut self, params: &Value) -> Answer {
        let inference_id = params["inferenceId"].as_str().unwrap_or_default().to_owned();
        let on = self.session.mcpl.as_ref().is_some_and(|mcpl| mcpl.is_on(live::RETRIEVAL));
        let query = params["userMessage"].as_str().filter(|_| on).unwrap_or_default();
        let hits = self.memories.search(query, OFFERED);
        let found: Vec<_> =
            hits.iter().map(|hit| live::Memory { id: &hit.memory.id, content: &hit.memory.content }).collect();
        let (injections, memories) = (live::injections(&found), found.len());
        self.report(Report::Inference { inference_id, memories });
        Ok(injections)
    }

    fn learn(&mut self, params: &Value) {
        let on = self.session.mcpl.as_ref().is_some_and(|mcpl| mcpl.is_on(live::EXTRACTION));
        if let Some((content, source)) = live::lesson(params).filter(|_| on) {
            self.remember(content, source);
        }
    }

    fn update_sets(&mut self, params: &Value) {
        let Some(mcpl) = &mut self.session.mcpl else { return };
        let live::Update { enabled, disabled, unknown } = mcpl.update(params);
        self.report(Report::FeatureSets { enabled, disabled, unknown });
    }

    fn roll_back(&mut self, params: &Value) -> Answer {
        let text =
            |name: &str| params[name].as_str().ok_or_else(|| Refusal::params(format!("`{name}` must be a string")));
        let (set, checkpoint) = (text("featureSet")?, text("checkpoint")?);
        if let Some(mcpl) = &self.session.mcpl {
            mcpl.gate(set)?;
        }
        if set != live::NOTES {
            let reason = format!("feature set {set} has no rollback");
            return Ok(json!({"checkpoint": checkpoint, "success": false, "reason": reason}));
        }
        let result = self.notes.rollback(checkpoint)?;
        self.report(Report::RolledBack { checkpoint: checkpoint.to_owned() });
        self.changed(catalog::NOTES);
        Ok(result)
    }

    /// Remembers something and tells who watches.
    pub(super) fn remember(&mut self, content: String, source: String) -> String {
        let id = self.memories.add(content, source.clone());
        self.report(Report::Remembered { id: id.clone(), source });
        self.changed(catalog::MEMORIES);
        id
    }

    /// Ends the subscriptions that are due and tells the host.
    pub(super) fn expire(&mut self) {
        for id in self.events.expire(self.wall_ns()) {
            self.notify(mcpe::EXPIRED, &json!({"subscriptionId": id}));
            self.report(Report::Subscription { id, became: "expired" });
        }
    }

    /// Whether the host lets a tool of the notes' feature set run (§6.6).
    pub(super) fn gate_notes(&self) -> Result<(), mcpl::server::Refusal> {
        self.session.mcpl.as_ref().map_or(Ok(()), |mcpl| mcpl.gate(live::NOTES))
    }
}
