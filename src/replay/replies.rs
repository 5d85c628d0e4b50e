//! Answers the live server's requests as the recorded client answered the recorded ones.

use super::conversation::{Conversation, Entry};
use super::substitute::{place_in, splice};
use crate::wire::{Envelope, Id, json};
use serde_json::{Value, json};
use std::collections::HashMap;

/// Answers that the user gives to server requests, by method. A list is used up in order, and its last one stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answers(HashMap<String, Vec<Value>>);

impl Answers {
    /// Reads a JSON object with a result for each method, a list of results, or an object with the member `error` only.
    ///
    /// # Errors
    ///
    /// If the text is not such an object: the reason.
    pub fn parse(text: &[u8]) -> Result<Self, String> {
        let members: Value = serde_json::from_slice(text).map_err(|error| format!("invalid JSON: {error}"))?;
        let Value::Object(members) = members else { return Err("expected a JSON object".to_owned()) };
        let mut answers = HashMap::new();
        for (method, value) in members {
            let list = match value {
                Value::Array(list) if !list.is_empty() => list,
                value @ Value::Object(_) => vec![value],
                _ => return Err(format!("the answer to {method} must be an object, or a list of objects")),
            };
            if !list.iter().all(Value::is_object) {
                return Err(format!("the answers to {method} must be objects"));
            }
            answers.insert(method, list);
        }
        Ok(Self(answers))
    }

    fn next(&mut self, method: &str) -> Option<Value> {
        let list = self.0.get_mut(method)?;
        if list.len() > 1 { Some(list.remove(0)) } else { list.first().cloned() }
    }
}

/// What to do about a server's request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// Send this response. It is the one of this entry, if it was recorded.
    Send(Vec<u8>, Option<usize>),
    /// The recorded client did not answer, either.
    Silence,
    /// There is no answer; this refuses the request.
    Refuse(Vec<u8>),
}

/// A recorded request of the server.
#[derive(Debug)]
struct Asked {
    method: Box<str>,
    params: Value,
    /// The entry of the client's response.
    answer: Option<usize>,
    is_used: bool,
}

/// The recorded requests of the server, and the answers of the user.
#[derive(Debug)]
pub(super) struct Replies {
    recorded: Vec<Asked>,
    given: Answers,
}

/// JSON-RPC: the method does not exist or is not available.
const METHOD_NOT_FOUND: i64 = -32601;

impl Replies {
    /// The replies of the client of a session.
    pub(super) fn new(conversation: &Conversation, given: Answers) -> Self {
        let asked = conversation.entries.iter().filter(|entry| !entry.is_clients() && entry.requests.len() == 1);
        let asked = asked.filter_map(|entry| {
            Some(Asked {
                method: entry.method.clone()?,
                params: comparable(entry.content().unwrap_or_default()),
                answer: entry.requests.first().and_then(|request| request.answer),
                is_used: false,
            })
        });
        Self { recorded: asked.collect(), given }
    }

    /// Returns the reply to a live request. `text` returns what to send in place of a recorded response.
    pub(super) fn answer(
        &mut self,
        envelope: &Envelope<'_>,
        id: Id<'_>,
        entries: &[Entry],
        text: impl FnOnce(usize) -> Vec<u8>,
    ) -> Reply {
        let method = envelope.method.as_deref().unwrap_or_default();
        if let Some(given) = self.given.next(method) {
            return Reply::Send(given_answer(given, id), None);
        }
        let params = comparable(envelope.params.unwrap_or_default());
        let Some(found) = self.find(method, &params) else {
            return match method {
                "ping" => Reply::Send(given_answer(json!({}), id), None),
                _ => Reply::Refuse(refusal(method, id)),
            };
        };
        self.recorded[found].is_used = true;
        match self.recorded[found].answer.filter(|answer| *answer < entries.len()) {
            Some(answer) => Reply::Send(with_id(&text(answer), id), Some(answer)),
            None => Reply::Silence,
        }
    }

    /// Finds a recorded request: an unused one with the same params, an unused one of the method, a used one with the
    /// same params.
    fn find(&self, method: &str, params: &Value) -> Option<usize> {
        let of_method = || self.recorded.iter().enumerate().filter(|(_, asked)| *asked.method == *method);
        let unused = || of_method().filter(|(_, asked)| !asked.is_used);
        let same = |(_, asked): &(usize, &Asked)| asked.params == *params;
        unused().find(same).or_else(|| unused().next()).or_else(|| of_method().find(same)).map(|(place, _)| place)
    }
}

/// Returns the params without what differs in every session.
fn comparable(params: &[u8]) -> Value {
    let mut params = json::value_of(params);
    if let Some(members) = params.as_object_mut() {
        members.remove("_meta");
    }
    params
}

/// Returns a recorded response with the id of the live request.
pub(crate) fn with_id(response: &[u8], id: Id<'_>) -> Vec<u8> {
    let Some(recorded) = Envelope::scan(response).id else { return response.to_vec() };
    let live = String::from_utf8_lossy(id.echoed()).into_owned();
    splice(response, vec![(place_in(response, recorded.0), live)])
}

fn given_answer(given: Value, id: Id<'_>) -> Vec<u8> {
    let id: Value = serde_json::from_slice(id.echoed()).unwrap_or_default();
    let is_error = given.as_object().is_some_and(|members| members.len() == 1 && members.contains_key("error"));
    let response = match is_error {
        true => json!({"jsonrpc": "2.0", "id": id, "error": given["error"]}),
        false => json!({"jsonrpc": "2.0", "id": id, "result": given}),
    };
    response.to_string().into_bytes()
}

fn refusal(method: &str, id: Id<'_>) -> Vec<u8> {
    let message = format!("the recording contains no answer to {method}");
    given_answer(json!({"error": {"code": METHOD_NOT_FOUND, "message": message}}), id)
}
