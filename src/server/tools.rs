//! The server's tools, and the calls that go to a proposal.

use super::incoming::Origin;
use super::io_requests::CHECK;
use super::timers::Timer;
use super::{Fired, Report, Server};
use crate::proposals::server::{ADD_NOTE, Answer, Refusal, SEARCH, ServerCx, ToolCall, failure, success};
use crate::protocol::schema::SchemaSet;
use crate::protocol::{Era, Revision};
use crate::wire::Id;
use serde_json::{Value, json};
use std::time::Duration;

/// The tool that remembers something.
const REMEMBER: &str = "remember";

/// Maximum number of requests to the host, and of counts, in progress; beyond it, tools begin no more.
const MAX_OPEN: usize = 1024;

static TOOLS: SchemaSet = SchemaSet::new(include_str!("tools.json"));

/// A count in progress.
#[derive(Debug)]
pub(super) struct Count {
    origin: Origin,
    token: Option<Value>,
    at: u64,
    to: u64,
    interval: Duration,
}

impl Server {
    /// The server's own tools.
    pub(super) fn all_tools(&self) -> Vec<Value> {
        if let Some(catalogue) = &self.config.catalogue {
            return catalogue.tools.clone();
        }
        let mut tools = TOOLS.document()["tools"].as_array().cloned().unwrap_or_default();
        tools.retain(|tool| self.offers(tool["name"].as_str().unwrap_or_default()));
        for tool in &mut tools {
            tool["inputSchema"] = match tool["name"].as_str().unwrap_or_default() {
                "emit" => self.emit_schema(),
                name => TOOLS.document()["$defs"][format!("tool:{name}:arguments")].clone(),
            };
        }
        tools
    }

    /// Whether the server has what this tool needs.
    fn offers(&self, tool: &str) -> bool {
        match tool {
            CHECK => !self.config.outside.commands.is_empty(),
            REMEMBER | SEARCH => self.config.memory,
            _ => true,
        }
    }

    /// Calls a tool; the proposals on this connection are asked first. Returns `None` if the answer comes later.
    pub(super) fn call_tool(&mut self, origin: &Origin, params: &Value) -> Option<Answer> {
        let Some(tool) = params["name"].as_str() else {
            return Some(Err(Refusal::params("`name` must be a string")));
        };
        let none = json!({});
        let arguments = params.get("arguments").filter(|given| !given.is_null()).unwrap_or(&none);
        if let Some(catalogue) = self.config.catalogue.clone() {
            return self.call_in(&catalogue, origin, tool, arguments);
        }
        let schema = Some(format!("tool:{tool}:arguments")).filter(|_| self.offers(tool));
        let violations = schema.and_then(|schema| TOOLS.check(&schema, arguments));
        if let Some(violation) = violations.as_ref().and_then(|violations| violations.first()) {
            return Some(Ok(failure(&format!("arguments of {tool}: {violation}"))));
        }
        if origin.revision().era() == Era::Legacy {
            let no_model = self.no_model();
            let call = ToolCall { tool, arguments, params, no_model: no_model.as_deref() };
            if self.defer(origin, &call) {
                return None;
            }
            if let Some(answer) = self.proposals.call(&call, &mut self.cx) {
                return Some(answer);
            }
        }
        match tool {
            _ if violations.is_none() => Some(Err(Refusal::params(format!("Unknown tool: {tool}")))),
            CHECK => self.check_now(origin, arguments),
            "count_slowly" if self.counts.len() >= MAX_OPEN => {
                Some(Ok(failure(&format!("{MAX_OPEN} counts are in progress; try again later"))))
            }
            "count_slowly" => {
                self.count(origin, params);
                None
            }
            _ => Some(Ok(self.run(origin.revision(), tool, arguments))),
        }
    }

    fn run(&mut self, revision: Revision, name: &str, arguments: &Value) -> Value {
        let text = |name: &str| arguments[name].as_str();
        match name {
            "echo" => success(text("message").unwrap_or_default()),
            "fail" => failure(text("message").unwrap_or("failed, as requested")),
            "add" => {
                let sum = add(&arguments["a"], &arguments["b"]);
                structured(revision, json!({"sum": sum}))
            }
            REMEMBER => {
                let source = text("source").unwrap_or("remember").to_owned();
                let id = self.cx.remember(text("content").unwrap_or_default().to_owned(), source);
                success(&format!("Remembered as {id}"))
            }
            ADD_NOTE => match self.cx.add_note(text("text").unwrap_or_default(), &Value::Null) {
                Ok(_) => success("Note added"),
                Err(why) => failure(&why),
            },
            SEARCH => {
                let limit = arguments["limit"].as_u64().and_then(|limit| usize::try_from(limit).ok()).unwrap_or(5);
                let found: Vec<Value> = self
                    .cx
                    .store
                    .memories
                    .search(text("query").unwrap_or_default(), limit)
                    .iter()
                    .map(|hit| {
                        json!({"id": hit.memory.id, "content": hit.memory.content, "source": hit.memory.source,
                            "relevance": hit.relevance})
                    })
                    .collect();
                structured(revision, json!({"memories": found}))
            }
            _ => self.emit(arguments),
        }
    }

    /// Sends something. Refuses kinds that are sent whatever was declared, because a tool must not bypass that.
    fn emit(&mut self, arguments: &Value) -> Value {
        let fired: Fired = match serde_json::from_value(arguments.clone()) {
            Ok(fired) => fired,
            Err(error) => return failure(&format!("arguments of emit: {error}")),
        };
        if self.cx.pending.unanswered() >= MAX_OPEN {
            return failure(&format!("not sent: {MAX_OPEN} requests are waiting for the host's response"));
        }
        if matches!(fired.kind(), "notification" | "request") {
            return failure(&format!("arguments of emit: the kind {} cannot be sent by a tool", fired.kind()));
        }
        match self.act(&fired) {
            Ok(reported) => success(&reported),
            Err(reason) => failure(&format!("not sent: {reason}")),
        }
    }

    fn count(&mut self, origin: &Origin, params: &Value) {
        let arguments = &params["arguments"];
        let count = Count {
            origin: origin.clone(),
            token: params["_meta"].get("progressToken").cloned(),
            at: 0,
            to: arguments["to"].as_u64().unwrap_or(1),
            interval: Duration::from_millis(arguments["interval_ms"].as_u64().unwrap_or(200).max(1)),
        };
        let number = self.counts.last_key_value().map_or(0, |(last, _)| last + 1);
        self.cx.timers.set(self.cx.now + count.interval, Timer::Count(number));
        self.counts.insert(number, count);
    }

    /// Sends the next number of a count. The one after is scheduled from now, so that a late wake-up causes no burst.
    pub(super) fn count_on(&mut self, number: u64) {
        let Some(mut count) = self.counts.remove(&number) else { return };
        count.at += 1;
        if let Some(token) = &count.token {
            let mut progress = json!({"progressToken": token, "progress": count.at, "total": count.to});
            if count.origin.revision() >= Revision::V2025_03_26 {
                progress["message"] = json!(format!("counted to {}", count.at));
            }
            self.notify("notifications/progress", &progress);
        }
        if count.at >= count.to {
            return self.reply(&count.origin, Ok(success(&format!("Counted to {}", count.to))));
        }
        self.cx.timers.set(self.cx.now + count.interval, Timer::Count(number));
        self.counts.insert(number, count);
    }

    /// Handles a cancellation: a count stops and is not answered.
    pub(super) fn cancel(&mut self, params: &Value) {
        let id = params["requestId"].to_string();
        let key = Id(id.as_bytes()).key();
        if let Some(origin) = self.give_up(|origin| origin.key() == key) {
            self.report(Report::Cancelled { id: origin.id().to_owned() });
            return self.drop_reply(&origin);
        }
        if self.take_back(&key) {
            return;
        }
        let Some(number) = self.counts.iter().find(|(_, count)| count.origin.key() == key).map(|(number, _)| *number)
        else {
            return self.report(Report::Ignored { method: "notifications/cancelled".to_owned() });
        };
        self.cx.timers.clear(Timer::Count(number));
        if let Some(count) = self.counts.remove(&number) {
            self.report(Report::Cancelled { id: count.origin.id().to_owned() });
            self.drop_reply(&count.origin);
        }
    }
}

/// A result as text, and as structured content if the revision supports it.
pub(super) fn structured(revision: Revision, value: Value) -> Value {
    let mut result = success(&value.to_string());
    if revision >= Revision::V2025_06_18 {
        result["structuredContent"] = value;
    }
    result
}

/// Adds two numbers; integers stay integers.
fn add(a: &Value, b: &Value) -> Value {
    let whole = a.as_i64().zip(b.as_i64()).and_then(|(a, b)| a.checked_add(b));
    whole.map_or_else(|| json!(a.as_f64().unwrap_or_default() + b.as_f64().unwrap_or_default()), |sum| json!(sum))
}
