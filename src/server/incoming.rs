//! Incoming messages and batches: dispatch, and the way back of the responses.

use super::{CatalogueRequest, Phase, Report, SETTLING, Server, methods};
use crate::proposals::server::{Answer, Refusal};
use crate::protocol::revision::meta;
use crate::protocol::{Era, Revision, errors, schema};
use crate::wire::envelope::Fault;
use crate::wire::{Envelope, Id, IdKey, MessageKind, json as text, tree};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Where a request came from: its id as received, its batch, and its revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    id: String,
    batch: Option<u64>,
    revision: Revision,
}

impl Origin {
    /// The id as received.
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// The revision of the request and its response.
    pub(super) fn revision(&self) -> Revision {
        self.revision
    }

    /// The id by type and value.
    pub(super) fn key(&self) -> IdKey {
        Id(self.id.as_bytes()).key()
    }
}

/// Batches with incomplete responses.
#[derive(Debug, Default)]
pub(super) struct Replies {
    batches: BTreeMap<u64, Batch>,
    seen: u64,
}

#[derive(Debug, Default)]
struct Batch {
    /// Its messages are still being handled.
    open: bool,
    waiting: usize,
    answers: Vec<String>,
}

impl Server {
    /// Handles a line.
    pub(super) fn take(&mut self, line: &[u8]) {
        if line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        if let Err(too_large) = tree::fits(line) {
            let fault = too_large.to_string();
            let envelope = Envelope::scan(line);
            match envelope.kind {
                MessageKind::Request => self.refuse_with(id_of(&envelope), &invalid(&fault), None),
                MessageKind::Notification | MessageKind::Result | MessageKind::Error => {}
                _ => self.refuse_unread(&invalid(&fault), None),
            }
            return self.report(Report::Malformed { why: fault });
        }
        match text::check(line) {
            Err(error) => {
                self.report(Report::Malformed { why: error.clone() });
                self.refuse_unread(&Refusal::new(errors::PARSE_ERROR, format!("Parse error: {error}")), None);
            }
            Ok(_) if line.trim_ascii_start().starts_with(b"[") => {
                self.take_batch(line.trim_ascii(), text::items(line.trim_ascii()).count());
            }
            Ok(_) => self.take_one(line, None),
        }
    }

    /// Batches are legal in MCP 2025-03-26 only, and `initialize` is not allowed in a batch, so there are none before
    /// it.
    fn take_batch(&mut self, line: &[u8], count: usize) {
        let fault = match self.session.revision {
            Some(Revision::V2025_03_26) if count > 0 => None,
            Some(Revision::V2025_03_26) => Some("the batch is empty"),
            _ => Some("batches are only allowed in revision 2025-03-26"),
        };
        if let Some(fault) = fault {
            self.report(Report::Malformed { why: fault.to_owned() });
            return self.refuse_unread(&invalid(fault), None);
        }
        self.replies.seen += 1;
        let batch = self.replies.seen;
        self.replies.batches.insert(batch, Batch { open: true, ..Batch::default() });
        text::items(line).for_each(|item| self.take_one(item, Some(batch)));
        if let Some(gathered) = self.replies.batches.get_mut(&batch) {
            gathered.open = false;
        }
        self.flush(batch);
    }

    fn take_one(&mut self, line: &[u8], batch: Option<u64>) {
        let envelope = Envelope::scan(line);
        match (envelope.kind, &envelope.method) {
            (MessageKind::Request, Some(method)) => self.take_request(&envelope, method, batch),
            (MessageKind::Notification, Some(method)) => self.take_notification(&envelope, method),
            (MessageKind::Result | MessageKind::Error, _) => self.answered(&envelope),
            _ => {
                let faults: Vec<&str> = envelope.faults.iter().map(Fault::phrase).collect();
                let why = if faults.is_empty() { "not a JSON-RPC message".to_owned() } else { faults.join(", ") };
                let is_response = envelope.result.is_some() || envelope.error.is_some();
                self.refuse_with(if is_response { "null".to_owned() } else { id_of(&envelope) }, &invalid(&why), batch);
                self.report(Report::Malformed { why });
            }
        }
    }

    fn take_request(&mut self, envelope: &Envelope<'_>, method: &str, batch: Option<u64>) {
        let faults: Vec<&str> = envelope.faults.iter().map(Fault::phrase).collect();
        let mut origin =
            Origin { id: id_of(envelope), batch, revision: self.session.revision.unwrap_or(Revision::NEWEST_LEGACY) };
        self.expect_answer(batch);
        if !faults.is_empty() {
            let why = faults.join(", ");
            self.reply(&origin, Err(invalid(&why)));
            return self.report(Report::Malformed { why });
        }
        let params = params(envelope);
        let answer = match self.revision_of(method, &params) {
            _ if params.is_array() => Some(Err(Refusal::params("params must be an object"))),
            Err(refusal) => Some(Err(refusal)),
            Ok(revision) => {
                origin.revision = revision.unwrap_or(origin.revision);
                self.check(origin.revision.era(), method, "params", &params);
                self.request(&origin, method, &params)
            }
        };
        if let Some(answer) = answer {
            self.reply(&origin, answer);
        }
    }

    /// The revision that a modern request names, which makes a handshake unnecessary; `None` if it names none.
    fn revision_of(&self, method: &str, params: &Value) -> Result<Option<Revision>, Refusal> {
        if self.config.spoken(Era::Modern).next().is_none() {
            return Ok(None);
        }
        let takes_handshake = self.config.spoken(Era::Legacy).next().is_some();
        let about = &params["_meta"];
        let lacks = |name: &str| Err(Refusal::params(format!("`_meta` must have `{name}`")));
        match about[meta::PROTOCOL_VERSION].as_str() {
            Some(said) => match self.config.spoken(Era::Modern).find(|revision| revision.as_str() == said) {
                Some(_) if !about[meta::CLIENT_CAPABILITIES].is_object() => lacks(meta::CLIENT_CAPABILITIES),
                Some(revision) => Ok(Some(revision)),
                None => Err(self.unsupported(said)),
            },
            None if takes_handshake && method != "server/discover" => Ok(None),
            None if method == "initialize" => {
                Err(self.unsupported(params["protocolVersion"].as_str().unwrap_or_default()))
            }
            None => lacks(meta::PROTOCOL_VERSION),
        }
    }

    fn take_notification(&mut self, envelope: &Envelope<'_>, method: &str) {
        let params = params(envelope);
        let said = params["_meta"].get(meta::PROTOCOL_VERSION);
        let era = if said.is_some() { Era::Modern } else { Era::Legacy };
        self.check(era, method, "params", &params);
        self.notification(method, &params);
    }

    /// Reports differences between the host's message and the schema of MCP or of a proposal.
    pub(super) fn check(&mut self, era: Era, method: &str, part: &str, value: &Value) {
        let schemas =
            crate::proposals::of_method(method).map_or(schema::core(era), |proposal| proposal.descriptor().schemas);
        let violations = schemas.check(&format!("{method}:{part}"), value).unwrap_or_default();
        if !violations.is_empty() {
            let violations = violations.iter().map(ToString::to_string).collect();
            self.report(Report::SchemaViolation { method: method.to_owned(), violations });
        }
    }

    /// Responds to a request; within a batch, once all of its requests are answered.
    pub(super) fn reply(&mut self, origin: &Origin, answer: Answer) {
        let (member, value) = match answer {
            Ok(result) if origin.revision.era() == Era::Modern => ("result", self.stateless(result)),
            Ok(result) => ("result", result),
            Err(refusal) => ("error", refusal.to_value()),
        };
        let message = format!(r#"{{"jsonrpc":"2.0","id":{},"{member}":{value}}}"#, origin.id);
        self.settle(origin.batch, Some(message));
    }

    /// Adds what the modern era requires to a result: its type and the server (MCP 2026-07-28).
    fn stateless(&self, mut result: Value) -> Value {
        result["resultType"] = json!("complete");
        result["_meta"][meta::SERVER_INFO] = self.info();
        result
    }

    /// Drops the response to a cancelled request.
    pub(super) fn drop_reply(&mut self, origin: &Origin) {
        self.settle(origin.batch, None);
    }

    fn refuse_unread(&mut self, refusal: &Refusal, batch: Option<u64>) {
        self.refuse_with("null".to_owned(), refusal, batch);
    }

    fn refuse_with(&mut self, id: String, refusal: &Refusal, batch: Option<u64>) {
        self.expect_answer(batch);
        let origin = Origin { id, batch, revision: Revision::NEWEST_LEGACY };
        self.reply(&origin, Err(refusal.clone()));
    }

    fn expect_answer(&mut self, batch: Option<u64>) {
        if let Some(gathered) = batch.and_then(|batch| self.replies.batches.get_mut(&batch)) {
            gathered.waiting += 1;
        }
    }

    fn settle(&mut self, batch: Option<u64>, message: Option<String>) {
        let gathered = batch.and_then(|number| Some((number, self.replies.batches.get_mut(&number)?)));
        match gathered {
            Some((number, gathered)) => {
                gathered.waiting = gathered.waiting.saturating_sub(1);
                gathered.answers.extend(message);
                self.flush(number);
            }
            None => message.into_iter().for_each(|message| self.cx.put(message)),
        }
    }

    /// Sends a batch's responses once they are complete.
    fn flush(&mut self, number: u64) {
        if self.replies.batches.get(&number).is_some_and(|gathered| !gathered.open && gathered.waiting == 0) {
            let answers = self.replies.batches.remove(&number).map(|gathered| gathered.answers).unwrap_or_default();
            if !answers.is_empty() {
                self.cx.put(format!("[{}]", answers.join(",")));
            }
        }
    }

    /// Handles a request. Returns `None` if the response comes later.
    fn request(&mut self, origin: &Origin, method: &str, params: &Value) -> Option<Answer> {
        let begun = self.session.phase > Phase::New;
        let serves = self.serves(origin.revision.era(), method);
        if origin.revision.era() == Era::Modern {
            self.meet(origin.revision, params);
        } else if !begun && (serves || self.proposals.know(method)) {
            return Some(Err(invalid("the first request must be initialize")));
        }
        match method {
            "ping" if origin.revision.era() == Era::Legacy => Some(Ok(json!({}))),
            "initialize" if begun => Some(Err(invalid("initialize was already answered"))),
            "initialize" if origin.batch.is_some() => Some(Err(invalid("initialize must not be in a batch"))),
            "initialize" if origin.revision.era() == Era::Legacy => Some(self.initialize(params)),
            "tools/call" => self.call_tool(origin, params),
            _ if serves && self.is_for_runner(method) => {
                self.pass_on(origin, CatalogueRequest { method: method.to_owned(), params: params.clone() })
            }
            _ if serves && self.send_for(origin, method, params) => None,
            _ if serves => Some(self.serve_core(origin, method, params)),
            _ if origin.revision.era() == Era::Legacy => Some(
                self.proposals.request(method, params, &mut self.cx).unwrap_or_else(|| Err(methods::unknown(method))),
            ),
            _ => Some(Err(methods::unknown(method))),
        }
    }

    fn notification(&mut self, method: &str, params: &Value) {
        match method {
            "notifications/initialized" if self.session.phase == Phase::Answered => {
                self.session.phase = Phase::Ready;
                self.session.settled = self.cx.now + SETTLING;
                self.report(Report::Ready);
                self.proposals.begin(&mut self.cx);
                self.begin_plans();
            }
            "notifications/cancelled" => self.cancel(params),
            _ if self.proposals.receive(method, params, &mut self.cx) => {}
            _ => self.report(Report::Ignored { method: method.to_owned() }),
        }
    }
}

/// The id as received; `null` if there is none that can be repeated (JSON-RPC 2.0 §5).
fn id_of(envelope: &Envelope<'_>) -> String {
    let has_id = !envelope.faults.contains(Fault::NullId) && !envelope.faults.contains(Fault::OddId);
    let id = envelope.id.filter(|_| has_id).map_or(b"null".as_slice(), |id| id.0);
    String::from_utf8_lossy(id).into_owned()
}

fn invalid(why: &str) -> Refusal {
    Refusal::new(errors::INVALID_REQUEST, format!("Invalid request: {why}"))
}

/// The params as a value; an empty object if there are none.
fn params(envelope: &Envelope<'_>) -> Value {
    envelope.params.map_or_else(|| json!({}), text::value_of)
}
