//! I/O requests: what the server cannot do itself, because it needs files or processes. They go to its runner, which
//! returns the results.

use super::incoming::Origin;
use super::methods::{in_era, not_found};
use super::timers::Timer;
use super::tools::structured;
use super::{CatalogueRequest, Output, Server, catalogue, content};
use crate::proposals::server::handler_job::{HandlerJob, HandlerPolicy, Infer, JobEnd, JobOutcome, MAX_OUTPUT_BYTES};
use crate::proposals::server::{Answer, ServerCx, failure};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The tool that runs the commands.
pub(super) const CHECK: &str = "check";

/// How long work in progress may continue after the host has gone.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(1);
/// MCP's own method to ask the host's model.
const SAMPLING: &str = "sampling/createMessage";
/// Default limit of a model's output, in tokens.
const TOKENS: u64 = 1000;

/// What the server can access through its runner.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outside {
    /// Folders with readable files, as `file://` URIs that end with a slash.
    pub folders: Vec<String>,
    /// Commands that can be run, as the user wrote them.
    pub commands: Vec<String>,
    /// What the handlers of the proposals may do.
    pub handler_policy: HandlerPolicy,
}

/// Something to do outside; pass the result to [`Server::complete_io`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IoRequest {
    /// Its unique number.
    pub ticket: u64,
    /// The task.
    pub task: Task,
}

/// A task for the runner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Task {
    /// List the files, as an array of MCP resources.
    List,
    /// Read a file by its URI, as the contents of an MCP resource; `None` if it cannot be read.
    Read(String),
    /// Run these commands. The result is an array of objects with `command`, `passed`, `how` and `output`.
    Run(Vec<String>),
    /// A handler's job, with a [`JobOutcome`] as its result.
    Proposal(HandlerJob),
    /// A request to what the catalogue offers. [`CatalogueRequest`] says what the result is.
    Catalogue(CatalogueRequest),
    /// Stop working on the request with this ticket: it was cancelled. This task itself returns nothing.
    Cancel(u64),
    /// Stop all handlers' jobs in progress, each of which returns an outcome. This task itself returns nothing.
    Recall,
}

/// The I/O requests in progress.
#[derive(Debug, Default)]
pub(super) struct IoRequests {
    open: BTreeMap<u64, (Origin, Task)>,
    /// Handlers' jobs in progress.
    jobs: BTreeSet<u64>,
}

impl IoRequests {
    /// The number of requests in progress.
    pub(super) fn in_progress(&self) -> usize {
        self.open.len()
    }

    /// Whether files or handlers' jobs are in progress. Commands do not count: they may take long, and a host that has
    /// gone does not need them.
    pub(super) fn is_owing(&self) -> bool {
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
    /// Starts the I/O that a request needs. Returns whether it needs any.
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

    pub(super) fn send_out(&mut self, origin: &Origin, task: Task) {
        let ticket = self.cx.ticket();
        self.io_requests.open.insert(ticket, (origin.clone(), task.clone()));
        self.cx.order(Output::IoRequest(IoRequest { ticket, task }));
    }

    /// Starts commands. Returns an answer if that is not possible.
    pub(super) fn check_now(&mut self, origin: &Origin, arguments: &Value) -> Option<Answer> {
        let known = &self.config.outside.commands;
        let wanted = match arguments["command"].as_str() {
            None => known.clone(),
            Some(command) if known.iter().any(|known| known == command) => vec![command.to_owned()],
            Some(command) => {
                let known = known.join(", ");
                return Some(Ok(failure(&format!("unknown command {command:?}; known commands: {known}"))));
            }
        };
        self.send_out(origin, Task::Run(wanted));
        None
    }

    /// Responds to the request that needed the I/O, unless it was cancelled.
    pub(super) fn completed(&mut self, ticket: u64, completed: Option<Value>) {
        if self.io_requests.jobs.remove(&ticket) {
            let lost = || JobEnd::Unstarted { why: "this server cannot run handlers".to_owned() };
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
            (Task::Catalogue(request), completed) => catalogue::answer(&origin, &request, completed),
            (Task::Proposal(_) | Task::Recall | Task::Cancel(_), _) => return,
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

    /// Drops the I/O request of a cancelled request. Returns its origin, if there is one.
    pub(super) fn give_up(&mut self, is_meant: impl Fn(&Origin) -> bool) -> Option<Origin> {
        let ticket = *self.io_requests.open.iter().find(|(_, (origin, _))| is_meant(origin))?.0;
        let (origin, task) = self.io_requests.open.remove(&ticket)?;
        if matches!(task, Task::Catalogue(_)) {
            let ticket_of_its_own = self.cx.ticket();
            self.cx.order(Output::IoRequest(IoRequest { ticket: ticket_of_its_own, task: Task::Cancel(ticket) }));
        }
        Some(origin)
    }

    /// Sends the handlers' jobs to the runner. A job for a model goes to the user's program, or without one, to the
    /// host.
    pub(super) fn send_jobs(&mut self) {
        while !self.cx.jobs.is_empty() {
            for (ticket, job) in std::mem::take(&mut self.cx.jobs) {
                match job {
                    HandlerJob::Infer(asked) if !self.config.outside.handler_policy.has_program => {
                        self.ask_host(ticket, &asked)
                    }
                    job => {
                        self.io_requests.jobs.insert(ticket);
                        self.cx.order(Output::IoRequest(IoRequest { ticket, task: Task::Proposal(job) }));
                    }
                }
            }
        }
    }

    /// Asks the host's model: through a proposal if possible, else by MCP's sampling.
    fn ask_host(&mut self, ticket: u64, asked: &Infer) {
        let sampling = || self.session.samples.then(|| (SAMPLING, sampling(asked)));
        match self.proposals.inference(asked).or_else(sampling) {
            Some((method, params)) => {
                let id = self.cx.open(method, json!({"job": ticket}));
                self.cx.put(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
            }
            None => {
                let why = self.no_model().unwrap_or_else(|| "the host offers no model".to_owned());
                self.proposals.completed(ticket, &JobOutcome::silent(JobEnd::Unstarted { why }), &mut self.cx);
            }
        }
    }

    /// Why the host's model cannot be asked; `None` if it can.
    pub(super) fn no_model(&mut self) -> Option<String> {
        if self.session.samples {
            return None;
        }
        match self.proposals.infers() {
            Some(Ok(())) => None,
            Some(Err(why)) => Some(format!("{why}, and it declares no sampling")),
            None => Some("the host declares neither inference requests (MCPL) nor sampling".to_owned()),
        }
    }

    /// Handles the output of the host's model, if it was asked for a job. Returns whether it was.
    pub(super) fn inferred(&mut self, about: &Value, answer: Option<Result<&Value, &str>>) -> bool {
        let Some(ticket) = about["job"].as_u64() else { return false };
        let outcome = match answer {
            Some(Ok(result)) => said(result),
            Some(Err(why)) => JobOutcome::silent(JobEnd::Unstarted { why: format!("the host refused: {why}") }),
            None => JobOutcome::silent(JobEnd::Late),
        };
        self.proposals.completed(ticket, &outcome, &mut self.cx);
        true
    }

    /// The host has closed its side: nothing new begins, and work in progress gets a short time.
    pub(super) fn leave(&mut self) {
        self.proposals.end(&mut self.cx);
        // The host will not answer any more.
        let asked: Vec<u64> = self.cx.pending.all_data().filter_map(|about| about["job"].as_u64()).collect();
        for ticket in asked {
            self.proposals.completed(ticket, &JobOutcome::silent(JobEnd::Stopped), &mut self.cx);
        }
        self.cx.timers.set(self.cx.now() + LEAVE_TIMEOUT, Timer::Leave);
    }

    /// The short time is over.
    pub(super) fn recall(&mut self) {
        if !self.io_requests.jobs.is_empty() {
            self.cx.order(Output::IoRequest(IoRequest { ticket: 0, task: Task::Recall }));
        }
    }
}

/// The params of `sampling/createMessage` (MCP 2025-11-25, Sampling).
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

/// The output of a model: a text, a content block, or a list of them.
fn said(result: &Value) -> JobOutcome {
    let content = &result["content"];
    let blocks = content.as_array().map_or(std::slice::from_ref(content), Vec::as_slice);
    let text = |block: &Value| block.as_str().or_else(|| block["text"].as_str()).unwrap_or_default().to_owned();
    let whole: String = blocks.iter().map(text).collect();
    let bytes = whole.len() as u64;
    let kept = whole.as_bytes().get(..MAX_OUTPUT_BYTES).unwrap_or(whole.as_bytes());
    let output = String::from_utf8_lossy(kept).into_owned();
    JobOutcome { end: JobEnd::Said, output, bytes, left: 0 }
}
