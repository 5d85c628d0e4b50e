//! What the server cannot do itself, because it takes files or processes: errands that go to whoever runs it, and what
//! they bring back.

use super::incoming::Origin;
use super::methods::{in_era, not_found};
use super::timers::Timer;
use super::tools::structured;
use super::{Output, Server, content};
use crate::proposals::server::handler_job::{HandlerJob, HandlerPolicy, Infer, JobEnd, JobOutcome, OUTPUT_KEPT};
use crate::proposals::server::{Answer, ServerCx, failure};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The tool that runs the commands.
pub const CHECK: &str = "check";

/// How long what is under way may go on when the host has gone.
const LEAVE: Duration = Duration::from_secs(1);
/// How MCP asks a host's model.
const SAMPLING: &str = "sampling/createMessage";
/// How much a model may say where nobody says how much, in tokens.
const TOKENS: u64 = 1000;

/// What there is outside of the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outside {
    /// Folders whose files can be read: `file://` URIs that end with a slash.
    pub folders: Vec<String>,
    /// Commands that can be run, as the user wrote them.
    pub commands: Vec<String>,
    /// What rooms may have done.
    pub handler_policy: HandlerPolicy,
}

/// Something to be done outside; [`Server::complete_io`] takes what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IoRequest {
    /// Its number.
    pub ticket: u64,
    /// What.
    pub task: Task,
}

/// What there is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Task {
    /// The files, as an array of MCP's resources.
    List,
    /// A file by its URI, as MCP's contents of a resource; nothing where it cannot be read.
    Read(String),
    /// Runs these commands: an array of objects with `command`, `passed`, `how` and `output`.
    Run(Vec<String>),
    /// Something of a room's: an [`JobOutcome`].
    Room(HandlerJob),
    /// Ends all of the rooms' that is under way, which brings an outcome each; this itself brings nothing.
    Recall,
}

/// The errands under way.
#[derive(Debug, Default)]
pub struct IoRequests {
    open: BTreeMap<u64, (Origin, Task)>,
    /// Rooms' chores that are under way outside.
    jobs: BTreeSet<u64>,
}

impl IoRequests {
    /// Whether files were sent for, or a room's chore is under way. What a command takes may be long, and is not owed
    /// to a host that has gone.
    pub fn is_owing(&self) -> bool {
        !self.jobs.is_empty() || self.open.values().any(|(_, task)| !matches!(task, Task::Run(_)))
    }
}

impl Outside {
    /// Whether a resource is one of these folders, or in one.
    pub fn has(&self, uri: &str) -> bool {
        self.folders.iter().any(|folder| uri.starts_with(folder.as_str()) || Some(uri) == folder.strip_suffix('/'))
    }
}

impl Server {
    /// Sends for what is not in here; whether the request is of that kind.
    pub(super) fn send_for(&mut self, origin: &Origin, method: &str, params: &Value) -> bool {
        let outside = &self.config.outside;
        let task = match (method, params["uri"].as_str()) {
            ("resources/list", _) if !outside.folders.is_empty() && params.get("cursor").is_none() => Task::List,
            ("resources/read", Some(uri)) if outside.has(uri) => Task::Read(uri.to_owned()),
            _ => return false,
        };
        self.send_out(origin, task);
        true
    }

    fn send_out(&mut self, origin: &Origin, task: Task) {
        let ticket = self.cx.ticket();
        self.io_requests.open.insert(ticket, (origin.clone(), task.clone()));
        self.cx.order(Output::IoRequest(IoRequest { ticket, task }));
    }

    /// Has commands run; an answer where that cannot be.
    pub(super) fn check_now(&mut self, origin: &Origin, arguments: &Value) -> Option<Answer> {
        let known = &self.config.outside.commands;
        let wanted = match arguments["command"].as_str() {
            None => known.clone(),
            Some(command) if known.iter().any(|known| known == command) => vec![command.to_owned()],
            Some(command) => {
                let known = known.join(", ");
                return Some(Ok(failure(&format!("there is no command {command:?}; the commands are {known}"))));
            }
        };
        self.send_out(origin, Task::Run(wanted));
        None
    }

    /// Answers the request that an errand was for; nobody waits where it was taken back.
    pub(super) fn completed(&mut self, ticket: u64, completed: Option<Value>) {
        if self.io_requests.jobs.remove(&ticket) {
            let lost = || JobEnd::Unstarted { why: "nobody does such things here".to_owned() };
            let outcome = completed.and_then(|outcome| JobOutcome::deserialize(outcome).ok());
            let outcome = outcome.unwrap_or_else(|| JobOutcome::silent(lost()));
            return self.proposals.completed(ticket, &outcome, &mut self.cx);
        }
        let Some((origin, task)) = self.io_requests.open.remove(&ticket) else { return };
        let answer = match (task, completed) {
            (Task::List, completed) => {
                let mut all = content::resources(self.config.memory);
                all.extend(completed.as_ref().and_then(Value::as_array).cloned().unwrap_or_default());
                Ok(in_era(&origin, json!({"resources": all})))
            }
            (Task::Read(_), Some(contents)) => Ok(in_era(&origin, json!({"contents": [contents]}))),
            (Task::Read(uri), None) => Err(not_found(&origin, &uri)),
            (Task::Run(_), completed) => Ok(self.outcomes(&origin, completed.unwrap_or_default())),
            (Task::Room(_) | Task::Recall, _) => return,
        };
        self.reply(&origin, answer);
    }

    fn outcomes(&self, origin: &Origin, outcomes: Value) -> Value {
        let text = |outcome: &Value, name: &str| outcome[name].as_str().unwrap_or_default().to_owned();
        let said = outcomes.as_array().into_iter().flatten().map(|outcome| {
            format!("{}: {}\n{}", text(outcome, "command"), text(outcome, "how"), text(outcome, "output"))
        });
        let said: Vec<String> = said.collect();
        let mut result = structured(origin.revision(), json!({"outcomes": outcomes}));
        result["content"][0]["text"] = json!(said.join("\n").trim_end());
        result
    }

    /// Gives an errand up whose request the host takes back; whether there is one.
    pub(super) fn give_up(&mut self, is_meant: impl Fn(&Origin) -> bool) -> Option<Origin> {
        let ticket = *self.io_requests.open.iter().find(|(_, (origin, _))| is_meant(origin))?.0;
        self.io_requests.open.remove(&ticket).map(|(origin, _)| origin)
    }

    /// Sends the rooms' chores out. A model is the user's program where there is one, and else the host's.
    pub(super) fn send_jobs(&mut self) {
        while !self.cx.jobs.is_empty() {
            for (ticket, job) in std::mem::take(&mut self.cx.jobs) {
                match job {
                    HandlerJob::Infer(asked) if !self.config.outside.handler_policy.has_program => {
                        self.ask_host(ticket, &asked)
                    }
                    job => {
                        self.io_requests.jobs.insert(ticket);
                        self.cx.order(Output::IoRequest(IoRequest { ticket, task: Task::Room(job) }));
                    }
                }
            }
        }
    }

    /// Asks the host's model: by a proposal where one can, else as MCP has it.
    fn ask_host(&mut self, ticket: u64, asked: &Infer) {
        let sampling = || self.session.samples.then(|| (SAMPLING, sampling(asked)));
        match self.proposals.inference(asked).or_else(sampling) {
            Some((method, params)) => {
                let id = self.cx.open(method, json!({"chore": ticket}));
                self.cx.put(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
            }
            None => {
                let why = "the host lends no model: it declares neither inference nor sampling".to_owned();
                self.proposals.completed(ticket, &JobOutcome::silent(JobEnd::Unstarted { why }), &mut self.cx);
            }
        }
    }

    /// What the host's model came to, where it was asked for a chore; answers whether it was.
    pub(super) fn inferred(&mut self, about: &Value, answer: Option<Result<&Value, &str>>) -> bool {
        let Some(ticket) = about["chore"].as_u64() else { return false };
        let outcome = match answer {
            Some(Ok(result)) => said(result),
            Some(Err(why)) => JobOutcome::silent(JobEnd::Unstarted { why: format!("the host refused: {why}") }),
            None => JobOutcome::silent(JobEnd::Late),
        };
        self.proposals.completed(ticket, &outcome, &mut self.cx);
        true
    }

    /// The host sends no more: nothing is begun, and what is under way has a moment.
    pub(super) fn leave(&mut self) {
        self.proposals.end(&mut self.cx);
        // Who has gone answers nothing.
        let asked: Vec<u64> = self.cx.asking.abouts().filter_map(|about| about["chore"].as_u64()).collect();
        for ticket in asked {
            self.proposals.completed(ticket, &JobOutcome::silent(JobEnd::Stopped), &mut self.cx);
        }
        self.cx.timers.set(self.cx.now() + LEAVE, Timer::Leave);
    }

    /// The moment is over.
    pub(super) fn recall(&mut self) {
        if !self.io_requests.jobs.is_empty() {
            self.cx.order(Output::IoRequest(IoRequest { ticket: 0, task: Task::Recall }));
        }
    }
}

/// The params of `sampling/createMessage` (2025-11-25, client/sampling).
fn sampling(asked: &Infer) -> Value {
    let mut params = json!({"messages": [{"role": "user", "content": {"type": "text", "text": asked.prompt}}],
        "maxTokens": asked.max_tokens.unwrap_or(TOKENS)});
    if let Some(system) = &asked.system_prompt {
        params["systemPrompt"] = json!(system);
    }
    if let Some(model) = &asked.model {
        params["modelPreferences"] = json!({"hints": [{"name": model}]});
    }
    params
}

/// What a model said: a text, a block of content, or a list of such.
fn said(result: &Value) -> JobOutcome {
    let content = &result["content"];
    let blocks = content.as_array().map_or(std::slice::from_ref(content), Vec::as_slice);
    let text = |block: &Value| block.as_str().or_else(|| block["text"].as_str()).unwrap_or_default().to_owned();
    let whole: String = blocks.iter().map(text).collect();
    let bytes = whole.len() as u64;
    let kept = whole.as_bytes().get(..OUTPUT_KEPT).unwrap_or(whole.as_bytes());
    let output = String::from_utf8_lossy(kept).into_owned();
    JobOutcome { end: JobEnd::Said, output, bytes, left: 0 }
}
