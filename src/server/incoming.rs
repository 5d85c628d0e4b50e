//! What comes in: messages and batches, told apart and brought to who answers them; and the answers' way out.

use super::{Phase, Report, Server};
use crate::extension::mcpl;
use crate::protocol::{Revision, errors, schema};
use crate::wire::envelope::Fault;
use crate::wire::{Envelope, Id, IdKey, MessageKind, json as text};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Why a request is refused.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    code: i64,
    message: String,
    data: Option<Value>,
}

impl Refusal {
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    pub fn params(message: impl Into<String>) -> Self {
        Self::new(errors::INVALID_PARAMS, message)
    }

    pub fn unknown_method(method: &str) -> Self {
        Self::new(errors::METHOD_NOT_FOUND, format!("Method not found: {method}"))
    }

    pub fn about(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }

    fn to_value(&self) -> Value {
        let mut error = json!({"code": self.code, "message": self.message});
        if let Some(data) = &self.data {
            error["data"] = data.clone();
        }
        error
    }
}

impl From<mcpl::server::Refusal> for Refusal {
    fn from(refusal: mcpl::server::Refusal) -> Self {
        Self { code: refusal.code, message: refusal.message.to_owned(), data: Some(refusal.data) }
    }
}

/// What a request is answered with.
pub type Answer = Result<Value, Refusal>;

/// A request's way back: its id as it stood, and the batch it came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    id: String,
    batch: Option<u64>,
}

impl Origin {
    /// The id as it stood.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The id by type and value.
    pub fn key(&self) -> IdKey {
        Id(self.id.as_bytes()).key()
    }
}

/// Batches whose answers are being gathered.
#[derive(Debug, Default)]
pub struct Replies {
    batches: BTreeMap<u64, Batch>,
    seen: u64,
}

#[derive(Debug, Default)]
struct Batch {
    /// Its messages are still being gone through.
    open: bool,
    waiting: usize,
    answers: Vec<String>,
}

impl Server {
    /// Takes a line.
    pub(super) fn take(&mut self, line: &[u8]) {
        if line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        match serde_json::from_slice(line) {
            Err(error) => {
                self.report(Report::Malformed { why: error.to_string() });
                self.refuse_unread(&Refusal::new(errors::PARSE_ERROR, format!("Parse error: {error}")), None);
            }
            Ok(Value::Array(items)) => self.take_batch(line.trim_ascii(), items.len()),
            Ok(_) => self.take_one(line, None),
        }
    }

    /// Batches are legal in revision 2025-03-26 only, and `initialize` comes alone: so not before it was agreed on.
    fn take_batch(&mut self, line: &[u8], count: usize) {
        let fault = match self.session.revision {
            Some(Revision::V2025_03_26) if count > 0 => None,
            Some(Revision::V2025_03_26) => Some("an empty batch"),
            _ => Some("batches belong to revision 2025-03-26"),
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
                let why = if faults.is_empty() { "no JSON-RPC message".to_owned() } else { faults.join(", ") };
                self.refuse_unread(&invalid(&why), batch);
                self.report(Report::Malformed { why });
            }
        }
    }

    fn take_request(&mut self, envelope: &Envelope<'_>, method: &str, batch: Option<u64>) {
        let faults: Vec<&str> = envelope.faults.iter().map(Fault::phrase).collect();
        let has_id = !envelope.faults.contains(Fault::NullId) && !envelope.faults.contains(Fault::OddId);
        let id = envelope.id.filter(|_| has_id).map_or(b"null".as_slice(), |id| id.0);
        let origin = Origin { id: String::from_utf8_lossy(id).into_owned(), batch };
        self.expect_answer(batch);
        if !faults.is_empty() {
            let why = faults.join(", ");
            self.reply(&origin, Err(invalid(&why)));
            return self.report(Report::Malformed { why });
        }
        let params = self.params(envelope, method);
        let answer = match params {
            Value::Array(_) => Some(Err(Refusal::params("params must be an object"))),
            params => self.request(&origin, method, &params),
        };
        if let Some(answer) = answer {
            self.reply(&origin, answer);
        }
    }

    fn take_notification(&mut self, envelope: &Envelope<'_>, method: &str) {
        let params = self.params(envelope, method);
        self.notification(method, &params);
    }

    /// The params as a value; what does not fit the method's schema is reported and taken as far as it goes.
    fn params(&mut self, envelope: &Envelope<'_>, method: &str) -> Value {
        let given = envelope.params.and_then(|text| serde_json::from_slice(text).ok());
        let params = given.unwrap_or_else(|| json!({}));
        self.check(method, "params", &params);
        params
    }

    /// Reports where a message of the host's does not fit its schema: that of a room or that of MCP.
    pub(super) fn check(&mut self, method: &str, part: &str, value: &Value) {
        let schemas = crate::extension::of_method(method).map_or(&schema::LEGACY, |room| room.descriptor().schemas);
        let misfits = schemas.check(&format!("{method}:{part}"), value).unwrap_or_default();
        if !misfits.is_empty() {
            let misfits = misfits.iter().map(ToString::to_string).collect();
            self.report(Report::Misfit { method: method.to_owned(), misfits });
        }
    }

    /// Answers a request; within a batch, once all of it is answered.
    pub(super) fn reply(&mut self, origin: &Origin, answer: Answer) {
        let (member, value) = match answer {
            Ok(result) => ("result", result),
            Err(refusal) => ("error", refusal.to_value()),
        };
        let message = format!(r#"{{"jsonrpc":"2.0","id":{},"{member}":{value}}}"#, origin.id);
        self.settle(origin.batch, Some(message));
    }

    /// A request will not be answered: the host took it back.
    pub(super) fn drop_reply(&mut self, origin: &Origin) {
        self.settle(origin.batch, None);
    }

    fn refuse_unread(&mut self, refusal: &Refusal, batch: Option<u64>) {
        self.expect_answer(batch);
        self.reply(&Origin { id: "null".to_owned(), batch }, Err(refusal.clone()));
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
            None => message.into_iter().for_each(|message| self.send(message)),
        }
    }

    /// Sends a batch's answers once all are there.
    fn flush(&mut self, number: u64) {
        if self.replies.batches.get(&number).is_some_and(|gathered| !gathered.open && gathered.waiting == 0) {
            let answers = self.replies.batches.remove(&number).map(|gathered| gathered.answers).unwrap_or_default();
            if !answers.is_empty() {
                self.send(format!("[{}]", answers.join(",")));
            }
        }
    }

    /// Finds who answers. `None`: the answer comes later.
    fn request(&mut self, origin: &Origin, method: &str, params: &Value) -> Option<Answer> {
        let begun = self.session.phase > Phase::New;
        match method {
            "ping" => Some(Ok(json!({}))),
            "initialize" if begun => Some(Err(invalid("initialize was answered before"))),
            "initialize" if origin.batch.is_some() => Some(Err(invalid("initialize must not be in a batch"))),
            "initialize" => Some(self.initialize(params)),
            _ if !super::methods::serves(method) && !self.serves_proposed(method) => {
                Some(Err(Refusal::unknown_method(method)))
            }
            _ if !begun => Some(Err(invalid("initialize comes first"))),
            "tools/call" => self.call_tool(origin, params),
            _ if super::methods::serves(method) => Some(self.serve_core(method, params)),
            _ => Some(self.serve_proposed(method, params)),
        }
    }

    fn notification(&mut self, method: &str, params: &Value) {
        match method {
            "notifications/initialized" if self.session.phase == Phase::Answered => {
                self.session.phase = Phase::Ready;
                self.report(Report::Ready);
                self.begin_plans();
            }
            "notifications/cancelled" => self.cancel(params),
            _ if self.hear_proposed(method, params) => {}
            _ => self.report(Report::Ignored { method: method.to_owned() }),
        }
    }
}

fn invalid(why: &str) -> Refusal {
    Refusal::new(errors::INVALID_REQUEST, format!("Invalid request: {why}"))
}
