//! What the server cannot do itself, because it takes files or processes: errands that go to whoever runs it, and what
//! they bring back.

use super::incoming::Origin;
use super::methods::{in_era, not_found};
use super::tools::structured;
use super::{Output, Server, catalog};
use crate::extension::server::{Answer, failure};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The tool that runs the commands.
pub const CHECK: &str = "check";

/// What there is outside of the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outside {
    /// Folders whose files can be read: `file://` URIs that end with a slash.
    pub folders: Vec<String>,
    /// Commands that can be run, as the user wrote them.
    pub commands: Vec<String>,
}

/// Something to be done outside; [`Server::bring`] takes what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Errand {
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
}

/// The errands under way.
#[derive(Debug, Default)]
pub struct Errands {
    open: BTreeMap<u64, (Origin, Task)>,
    sent: u64,
}

impl Errands {
    /// Whether files were sent for. What a command takes may be long, and is not owed to a host that has gone.
    pub fn is_owing(&self) -> bool {
        self.open.values().any(|(_, task)| !matches!(task, Task::Run(_)))
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
        self.errands.sent += 1;
        let ticket = self.errands.sent;
        self.errands.open.insert(ticket, (origin.clone(), task.clone()));
        self.cx.order(Output::Errand(Errand { ticket, task }));
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
    pub(super) fn brought(&mut self, ticket: u64, brought: Option<Value>) {
        let Some((origin, task)) = self.errands.open.remove(&ticket) else { return };
        let answer = match (task, brought) {
            (Task::List, brought) => {
                let mut all = catalog::resources(self.config.memory);
                all.extend(brought.as_ref().and_then(Value::as_array).cloned().unwrap_or_default());
                Ok(in_era(&origin, json!({"resources": all})))
            }
            (Task::Read(_), Some(contents)) => Ok(in_era(&origin, json!({"contents": [contents]}))),
            (Task::Read(uri), None) => Err(not_found(&origin, &uri)),
            (Task::Run(_), brought) => Ok(self.outcomes(&origin, brought.unwrap_or_default())),
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
        let ticket = *self.errands.open.iter().find(|(_, (origin, _))| is_meant(origin))?.0;
        self.errands.open.remove(&ticket).map(|(origin, _)| origin)
    }
}
