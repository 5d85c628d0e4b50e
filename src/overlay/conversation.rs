//! Answers user messages with the server's tools: the overlay calls each tool, and once all have answered or failed, it
//! sends their texts to the client as context.

use super::embedded_server::{answer, value};
use super::own_requests::Purpose;
use super::{Output, Overlay, TO_CLIENT, template};
use crate::proposals::conversation::CONTEXT;
pub(crate) use crate::proposals::conversation::USER_MESSAGE;
use crate::proposals::conversation::server::{UserMessage, addressed, in_words, read};
use crate::protocol::errors;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// User messages whose context is not complete.
#[derive(Debug, Default)]
pub(super) struct UserMessagesInFlight {
    seen: u64,
    open: BTreeMap<u64, Turn>,
}

#[derive(Debug)]
struct Turn {
    /// The request's id; `None` if it was a notification.
    id: Option<Vec<u8>>,
    message: UserMessage,
    /// The values for templates.
    about: Value,
    /// The text from each tool; `None` while the call is pending.
    said: Vec<Option<String>>,
}

impl UserMessagesInFlight {
    /// Handles a cancellation by the client. Returns the number of the cancelled message.
    pub(super) fn cancel(&mut self, id: &[u8]) -> Option<u64> {
        let turn = self.open.iter().find(|(_, turn)| turn.id.as_deref() == Some(id)).map(|(turn, _)| *turn)?;
        self.open.remove(&turn).map(|_| turn)
    }
}

impl Overlay {
    /// Handles a user message: calls the tools.
    pub(super) fn said(&mut self, now: Duration, id: Option<&[u8]>, params: Option<&[u8]>, out: &mut Vec<Output>) {
        let message = match (read(&value(params)), id) {
            (Ok(message), _) => message,
            (Err(why), Some(id)) => {
                let error = json!({"code": errors::INVALID_PARAMS, "message": why});
                return out.push(Output::Send(TO_CLIENT, answer(id, "error", &error)));
            }
            (Err(why), None) => {
                return out.push(Output::Notice(format!("the client sent an invalid user message: {why}")));
            }
        };
        self.conversing.seen += 1;
        let turn = self.conversing.seen;
        let about = json!({"content": message.content, "messageId": message.message_id,
            "history": message.history.join("\n")});
        let calls: Vec<Value> = self
            .plan
            .conversation
            .iter()
            .map(|answering| json!({"name": answering.tool, "arguments": template::fill(&answering.arguments, &about)}))
            .collect();
        let said = vec![None; calls.len()];
        self.conversing.open.insert(turn, Turn { id: id.map(<[u8]>::to_vec), message, about, said });
        for (at, params) in calls.iter().enumerate() {
            self.ask(now, "tools/call", params, Purpose::Context { turn, at }, out);
        }
    }

    /// Handles the result, or the failure, of one tool.
    pub(super) fn context(&mut self, turn: u64, at: usize, result: Result<Value, Value>, out: &mut Vec<Output>) {
        let Some(open) = self.conversing.open.get_mut(&turn) else { return };
        let Some(answering) = self.plan.conversation.get(at) else { return };
        let tool = &answering.tool;
        let said = match &result {
            Ok(result) if result["isError"] == true => {
                out.push(Output::Notice(format!(
                    "the tool {tool}, called for a user message, failed: {}",
                    super::plan::said(result)
                )));
                None
            }
            Ok(result) => answering.word(result, &open.about),
            Err(error) => {
                out.push(Output::Notice(format!(
                    "the tool {tool}, called for a user message, failed: {}",
                    super::message_of(error)
                )));
                None
            }
        };
        open.said[at] = Some(said.unwrap_or_default());
        if open.said.iter().any(Option::is_none) {
            return;
        }
        let Some(Turn { id, message, said, .. }) = self.conversing.open.remove(&turn) else { return };
        let said: Vec<String> = said.into_iter().flatten().filter(|said| !said.is_empty()).collect();
        let context = in_words(&said.join("\n\n"));
        let answered = match id {
            Some(id) => answer(&id, "result", &context),
            None => {
                let params = addressed(&message, context);
                json!({"jsonrpc": "2.0", "method": CONTEXT, "params": params}).to_string().into_bytes()
            }
        };
        out.push(Output::Send(TO_CLIENT, answered));
    }
}
