//! The tools: its own, and the calls that go to a room.

use super::incoming::{Answer, Origin, Refusal};
use super::{Config, Fired, Report, Server, Timer, catalog};
use crate::extension::{mcpe, mcpl};
use crate::protocol::schema::SchemaSet;
use crate::wire::Id;
use serde_json::{Value, json};
use std::time::Duration;

/// The tool that finds memories.
pub const SEARCH: &str = "search_memories";
/// The tool that adds a note.
pub const ADD_NOTE: &str = "add_note";

static TOOLS: SchemaSet = SchemaSet::new(include_str!("tools.json"));

/// The tools that `tools/list` shows. The note tool names its feature set where MCPL is on: the proposal says nothing
/// on the wire about which tool belongs to which set (AMB-C4).
pub fn all(config: &Config, live: bool) -> Vec<Value> {
    let mut tools = TOOLS.document()["tools"].as_array().cloned().unwrap_or_default();
    for tool in &mut tools {
        let name = tool["name"].as_str().unwrap_or_default();
        let schema = TOOLS.document()["$defs"][format!("tool:{name}:arguments")].clone();
        if live && name == ADD_NOTE {
            tool["_meta"] = json!({"featureSet": mcpl::server::NOTES});
        }
        tool["inputSchema"] = schema;
    }
    if config.declares("mcpe") {
        tools.extend(mcpe::server::tools());
    }
    tools
}

/// A count in progress.
#[derive(Debug)]
pub struct Count {
    origin: Origin,
    token: Option<Value>,
    at: u64,
    to: u64,
    interval: Duration,
}

impl Server {
    /// Calls a tool. `None`: the answer comes later.
    pub(super) fn call_tool(&mut self, origin: &Origin, params: &Value) -> Option<Answer> {
        let Some(name) = params["name"].as_str() else {
            return Some(Err(Refusal::params("`name` must be a string")));
        };
        let none = json!({});
        let arguments = params.get("arguments").filter(|given| !given.is_null()).unwrap_or(&none);
        if mcpe::server::owns(name) && self.config.declares("mcpe") {
            return Some(Ok(self.call_events(name, arguments)));
        }
        let Some(misfits) = TOOLS.check(&format!("tool:{name}:arguments"), arguments) else {
            return Some(Err(Refusal::params(format!("Unknown tool: {name}"))));
        };
        if let Some(misfit) = misfits.first() {
            return Some(Ok(failure(&format!("arguments of {name}: {misfit}"))));
        }
        match name {
            "count_slowly" => {
                self.count(origin, params);
                None
            }
            ADD_NOTE => Some(self.add_note(arguments, params)),
            _ => Some(Ok(self.run(name, arguments))),
        }
    }

    fn run(&mut self, name: &str, arguments: &Value) -> Value {
        let text = |name: &str| arguments[name].as_str();
        match name {
            "echo" => success(text("message").unwrap_or_default()),
            "fail" => failure(text("message").unwrap_or("failed, as told")),
            "add" => {
                let sum = add(&arguments["a"], &arguments["b"]);
                self.structured(json!({"sum": sum}))
            }
            "remember" => {
                let source = text("source").unwrap_or("remember").to_owned();
                let id = self.remember(text("content").unwrap_or_default().to_owned(), source);
                success(&format!("Remembered as {id}"))
            }
            SEARCH => {
                let limit = arguments["limit"].as_u64().and_then(|limit| usize::try_from(limit).ok()).unwrap_or(5);
                let found: Vec<Value> = self
                    .memories
                    .search(text("query").unwrap_or_default(), limit)
                    .iter()
                    .map(|hit| {
                        json!({"id": hit.memory.id, "content": hit.memory.content, "source": hit.memory.source,
                            "relevance": hit.relevance})
                    })
                    .collect();
                self.structured(json!({"memories": found}))
            }
            _ => self.emit(arguments),
        }
    }

    /// A result as text and, where the revision has it, as structured content.
    fn structured(&self, value: Value) -> Value {
        let mut result = success(&value.to_string());
        if self.has_structured_content() {
            result["structuredContent"] = value;
        }
        result
    }

    fn emit(&mut self, arguments: &Value) -> Value {
        let fired: Fired = match serde_json::from_value(arguments.clone()) {
            Ok(fired) => fired,
            Err(error) => return failure(&format!("arguments of emit: {error}")),
        };
        match self.act(fired) {
            Ok(told) => success(&told),
            Err(reason) => failure(&format!("not sent: {reason}")),
        }
    }

    /// Adds a note. Under MCPL the result carries the state, and a set that is off does nothing (§6.6, §8).
    fn add_note(&mut self, arguments: &Value, params: &Value) -> Answer {
        self.gate_notes()?;
        let id = format!("chk_{:016x}", self.rng.u64(..));
        let state = self.notes.add(arguments["text"].as_str().unwrap_or_default(), params, id);
        self.changed(catalog::NOTES);
        let mut result = success("Note added");
        if self.session.mcpl.is_some() {
            result["state"] = state;
        }
        Ok(result)
    }

    /// The events tools answer with text, as implementations do, and with the proposal's object as structured content.
    fn call_events(&mut self, tool: &str, arguments: &Value) -> Value {
        let id = self.uuid_v4();
        let client = self.session.client.clone();
        let call = mcpe::server::Call { tool, arguments, now: self.wall_ns(), client: &client };
        match self.events.call(&call, || id) {
            Err(refusal) => failure(&refusal),
            Ok(done) => {
                if let Some((id, became)) = done.became {
                    self.report(Report::Subscription { id, became });
                }
                let mut result = success(&done.result.to_string());
                result["structuredContent"] = done.result;
                result
            }
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
        self.timers.set(self.now + count.interval, Timer::Count(number));
        self.counts.insert(number, count);
    }

    /// The next number of a count. The one after is set from now, so that a late wake does not bring a burst.
    pub(super) fn count_on(&mut self, number: u64) {
        let Some(mut count) = self.counts.remove(&number) else { return };
        count.at += 1;
        if let Some(token) = &count.token {
            let mut progress = json!({"progressToken": token, "progress": count.at, "total": count.to});
            if self.has_progress_messages() {
                progress["message"] = json!(format!("counted to {}", count.at));
            }
            self.notify("notifications/progress", &progress);
        }
        if count.at >= count.to {
            return self.reply(&count.origin, Ok(success(&format!("Counted to {}", count.to))));
        }
        self.timers.set(self.now + count.interval, Timer::Count(number));
        self.counts.insert(number, count);
    }

    /// The host takes a request back: a count stops and is not answered.
    pub(super) fn cancel(&mut self, params: &Value) {
        let id = params["requestId"].to_string();
        let key = Id(id.as_bytes()).key();
        let Some(number) = self.counts.iter().find(|(_, count)| count.origin.key() == key).map(|(number, _)| *number)
        else {
            return self.report(Report::Ignored { method: "notifications/cancelled".to_owned() });
        };
        self.timers.clear(Timer::Count(number));
        if let Some(count) = self.counts.remove(&number) {
            self.report(Report::Cancelled { id: count.origin.id().to_owned() });
            self.drop_reply(&count.origin);
        }
    }
}

fn success(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

fn failure(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}], "isError": true})
}

/// Integers stay integers.
fn add(a: &Value, b: &Value) -> Value {
    let whole = a.as_i64().zip(b.as_i64()).and_then(|(a, b)| a.checked_add(b));
    whole.map_or_else(|| json!(a.as_f64().unwrap_or_default() + b.as_f64().unwrap_or_default()), |sum| json!(sum))
}
