//! Tasks of revision 2025-11-25: how they are created, how their status changes, how they end.

#[cfg(test)]
pub(in crate::validate) mod cases;
mod status;

use crate::proposals::findings::rules;
use crate::proposals::recent::Recent;
use crate::proposals::{Findings, PendingRequest};
use crate::protocol::{Revision, errors};
use crate::validate::subject::{Message, Subject, SubjectEntry};
use crate::validate::subjects::capabilities::is_declared;
use crate::wire::{Direction, IdKey, MessageKind};
use serde_json::Value;
use status::{Task, check_times};
use std::collections::HashSet;

rules! {
    UNREQUESTED = Error "tasks/unrequested",
        "Whoever answers `tools/call`, `sampling/createMessage` or `elicitation/create` must not return a task unless the request contains `task`.",
        "MCP 2025-11-25, Tasks, Task Support and Handling",
        fix "Answer with the result of the method. A client that wants a task asks for one with `task`.";
    NOT_CREATED = Error "tasks/not-created",
        "A side that declared tasks for a method must answer a request with `task` with the created task, not with the result itself.",
        "MCP 2025-11-25, Tasks, Result Retrieval",
        fix "Create the task, answer with it at once, and keep the result for `tasks/result`.";
    INITIAL = Error "tasks/initial-status",
        "Whoever creates a task must give it the status `working` first.",
        "MCP 2025-11-25, Tasks, Task Status Lifecycle",
        fix "Answer with the status `working`, and report the next one later.";
    ID_REUSED = Error "tasks/id-reused",
        "Whoever creates a task must give it a `taskId` that no earlier task of the session has.",
        "MCP 2025-11-25, Tasks, Task ID Requirements",
        fix "Make a new random `taskId`, such as a UUID, for each task.";
    TRANSITION = Error "tasks/transition",
        "Whoever runs a task must not change its status after it was `completed`, `failed` or `cancelled`.",
        "MCP 2025-11-25, Tasks, Task Status Lifecycle",
        fix "Refuse changes of finished tasks where you store them.";
    CANCEL_FINISHED = Error "tasks/cancel-finished",
        "Whoever runs a task must refuse `tasks/cancel` for a finished task with error -32602.",
        "MCP 2025-11-25, Tasks, Task Cancellation",
        fix "Look at the task's status first, and answer -32602 if it is finished.";
    CANCEL_STATUS = Error "tasks/cancel-status",
        "Whoever answers `tasks/cancel` with a result must return the task with the status `cancelled`.",
        "MCP 2025-11-25, Tasks, Task Cancellation",
        fix "Set the status to `cancelled` before you answer, even if the work still runs.";
    REFUSAL_CODE = Error "tasks/refusal-code",
        "Whoever refuses `tasks/get`, `tasks/result` or `tasks/cancel` for an unknown task must answer with error -32602.",
        "MCP 2025-11-25, Tasks, Protocol Errors",
        fix "Answer with error -32602 if you do not find the task.";
    UNKNOWN = Warning "tasks/unknown-id",
        "In `tasks/get`, `tasks/result` and `tasks/cancel`, client and server name only a `taskId` that the other side created or listed in the session.",
        "MCP 2025-11-25, Tasks, Task ID Requirements",
        fix "Copy the `taskId` from the result that created the task.";
    OTHER = Error "tasks/other-task",
        "Whoever answers `tasks/get` or `tasks/cancel` must return the task that the request names.",
        "MCP 2025-11-25, Tasks, Getting Tasks",
        fix "Look the task up by the `taskId` of the request.";
    EARLY_RESULT = Error "tasks/early-result",
        "Whoever runs a task must not answer `tasks/result` before the task is finished.",
        "MCP 2025-11-25, Tasks, Result Retrieval",
        fix "Wait with the response until the task is finished; the requestor can watch it with `tasks/get`.";
    RELATED = Error "tasks/related-task",
        "Whoever answers `tasks/result` with a result must put the member `io.modelcontextprotocol/related-task` into its `_meta`, with the `taskId` of the request.",
        "MCP 2025-11-25, Tasks, Related Task Metadata",
        fix "Add \"io.modelcontextprotocol/related-task\": {\"taskId\": …} to _meta of the result.";
    RELATED_UNKNOWN = Error "tasks/related-unknown",
        "Whoever names a task in `_meta`, as `io.modelcontextprotocol/related-task`, must name one that was created or listed in the session.",
        "MCP 2025-11-25, Tasks, Associating Task-Related Messages",
        fix "Copy the `taskId` of the task that the message belongs to.";
    RELATED_SUPERFLUOUS = Warning "tasks/related-superfluous",
        "Whoever sends `tasks/get`, `tasks/result`, `tasks/cancel` or `notifications/tasks/status`, which have a `taskId`, does not name the task in `_meta` as well.",
        "MCP 2025-11-25, Tasks, Associating Task-Related Messages",
        fix "Leave `io.modelcontextprotocol/related-task` out of these messages.";
    TIMESTAMP = Error "tasks/timestamp",
        "Whoever runs a task must write its `createdAt` and `lastUpdatedAt` in the form of ISO 8601 (RFC 3339).",
        "MCP 2025-11-25, Tasks, TTL and Resource Management",
        fix "Write timestamps in RFC 3339, such as `2026-07-28T09:00:00Z`.";
    DURATION = Error "tasks/duration",
        "Whoever runs a task must not give it a negative `ttl` or `pollInterval`.",
        "MCP 2025-11-25, Tasks, TTL and Resource Management",
        fix "Send milliseconds from 0, and null as the `ttl` of a task that never expires.";
    POLL = Warning "tasks/poll-interval",
        "Whoever asks for a task's status with `tasks/get` waits for the task's `pollInterval` (less at most a tenth) since the last report.",
        "MCP 2025-11-25, Tasks, TTL and Resource Management",
        fix "Wait `pollInterval` milliseconds after each status before you ask again.";
    LIST_INCOMPLETE = Error "tasks/list-incomplete",
        "Whoever returns a task for `tasks/get` must return it for `tasks/list`, too. Checked for lists of one page, and tasks that `tasks/get` finds before and after the list.",
        "MCP 2025-11-25, Tasks, Task Listing",
        fix "Answer `tasks/list` and `tasks/get` from the same store, for the same client.";
    CANCELLED_REQUEST = Error "tasks/cancelled-request",
        "Whoever sent a request with `task` must cancel it with `tasks/cancel`, not with `notifications/cancelled`.",
        "MCP 2025-11-25, Cancellation, Behavior Requirements",
        fix "Send `tasks/cancel` with the `taskId`.";
}

pub(in crate::validate) const ENTRY: SubjectEntry = SubjectEntry {
    rules: RULES,
    revisions: (Revision::V2025_11_25, Revision::V2025_11_25),
    begin: || Box::<Tasks>::default(),
};

/// Tasks that are remembered.
const TASKS: usize = 1024;
/// The member of `_meta` that names a related task.
const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";

/// A task, by the direction of the request that created it and its id.
type Key = (Direction, String);

/// The tasks of one connection.
#[derive(Debug)]
struct Tasks {
    tasks: Recent<Key, Task>,
    /// The requests that asked for a task.
    requests: Recent<(Direction, IdKey)>,
}

impl Default for Tasks {
    fn default() -> Self {
        Self { tasks: Recent::new(TASKS), requests: Recent::new(TASKS) }
    }
}

impl Subject for Tasks {
    fn observe(&mut self, message: &Message<'_>, findings: &mut Findings) {
        if message.revision() != Some(Revision::V2025_11_25) {
            return;
        }
        match message.observed.envelope.kind {
            MessageKind::Request => self.ask(message, findings),
            MessageKind::Notification => self.notify(message, findings),
            MessageKind::Result => self.result(message, findings),
            MessageKind::Error => self.refuse(message, findings),
            _ => {}
        }
    }
}

/// Returns whether the method is about one task.
fn is_about_task(method: &str) -> bool {
    matches!(method, "tasks/get" | "tasks/result" | "tasks/cancel")
}

fn related(content: &Value) -> Option<&Value> {
    content.get("_meta")?.get(RELATED_TASK)
}

impl Tasks {
    /// Returns whether a task that is not in the table does not exist.
    fn knows_all(&self, message: &Message<'_>) -> bool {
        message.saw_all() && !self.tasks.has_forgotten()
    }

    fn ask(&mut self, message: &Message<'_>, findings: &mut Findings) {
        let (content, direction) = (message.content(), message.observed.direction);
        if content.get("task").is_some()
            && let Some(id) = message.observed.envelope.id
        {
            self.requests.insert((direction, id.key()), ());
        }
        if is_about_task(message.method())
            && let Some(id) = content["taskId"].as_str()
        {
            self.check_asked(message, &(direction, id.to_owned()), findings);
        } else {
            self.check_related(message, findings);
        }
    }

    fn check_asked(&mut self, message: &Message<'_>, key: &Key, findings: &mut Findings) {
        let seq = message.seq();
        let superfluous = related(message.content()).is_some();
        findings
            .check(&RELATED_SUPERFLUOUS, seq, !superfluous, || format!("{} names a related task", message.method()));
        let Some(task) = self.tasks.get(key) else {
            return match self.knows_all(message) {
                true => findings.note(&UNKNOWN, seq, format!("no task {:?} was created or listed", key.1)),
                false => findings.give_up(&UNKNOWN),
            };
        };
        findings.hold(&UNKNOWN);
        if message.method() == "tasks/get" && task.interval > 0 {
            let passed = message.observed.time.saturating_sub(task.reported);
            // A client's clock may be a little faster.
            findings.check(&POLL, seq, passed >= task.interval - task.interval / 10, || {
                let (passed, interval) = (passed / 1_000_000, task.interval / 1_000_000);
                format!("the {} asked again after {passed} ms; pollInterval is {interval} ms", message.sender())
            });
        }
    }

    /// A side that works on a task names it in what it sends because of the task.
    fn check_related(&self, message: &Message<'_>, findings: &mut Findings) {
        let Some(id) = related(message.content()).and_then(|related| related["taskId"].as_str()) else { return };
        // The request that created the task may have gone in either direction.
        let known = [Direction::ClientToServer, Direction::ServerToClient]
            .into_iter()
            .any(|direction| self.tasks.contains(&(direction, id.to_owned())));
        if known || self.knows_all(message) {
            findings.check(&RELATED_UNKNOWN, message.seq(), known, || format!("no task {id:?} was created or listed"));
        }
    }

    fn notify(&mut self, message: &Message<'_>, findings: &mut Findings) {
        match message.method() {
            "notifications/tasks/status" => {
                let superfluous = related(message.content()).is_some();
                findings.check(&RELATED_SUPERFLUOUS, message.seq(), !superfluous, || {
                    "notifications/tasks/status names a related task".to_owned()
                });
                self.note_status(message, message.observed.direction.reversed(), message.content(), None, findings);
            }
            "notifications/cancelled" => self.check_cancelled(message, findings),
            _ => self.check_related(message, findings),
        }
    }

    fn check_cancelled(&self, message: &Message<'_>, findings: &mut Findings) {
        let Some(id) = IdKey::of_value(&message.content()["requestId"]) else { return };
        let is_task = self.requests.contains(&(message.observed.direction, id.clone()));
        findings.check(&CANCELLED_REQUEST, message.seq(), !is_task, || {
            format!("the {} cancelled request {id}, which asked for a task", message.sender())
        });
    }

    fn result(&mut self, message: &Message<'_>, findings: &mut Findings) {
        let Some(request) = message.observed.request else { return };
        let (seq, content) = (message.seq(), message.content());
        let asked = request.params["taskId"].as_str();
        match (request.method.as_str(), asked) {
            ("tasks/list", _) => {
                for task in content["tasks"].as_array().into_iter().flatten() {
                    self.note_status(message, request.direction, task, Some(request.seq), findings);
                }
                self.note_list(message, request, findings);
            }
            ("tasks/get" | "tasks/cancel", Some(asked)) => {
                let reported = content["taskId"].as_str().unwrap_or_default();
                findings.check(&OTHER, seq, reported == asked, || {
                    format!("asked about {asked:?}, reported about {reported:?}")
                });
                if request.method == "tasks/cancel" {
                    self.check_cancel(message, request.direction, asked, request.seq, findings);
                }
                self.note_status(message, request.direction, content, Some(request.seq), findings);
                if request.method == "tasks/get"
                    && let Some(task) = self.tasks.get_mut(&(request.direction, asked.to_owned()))
                {
                    task.check_listed(asked, request.seq, seq, findings);
                }
            }
            ("tasks/result", Some(asked)) => {
                self.check_result(message, &(request.direction, asked.to_owned()), findings)
            }
            _ => self.check_creation(message, request.direction, &request.params, findings),
        }
    }

    /// Notes which tasks a list contains, if it came in one page.
    fn note_list(&mut self, message: &Message<'_>, request: &PendingRequest, findings: &mut Findings) {
        let content = message.content();
        if !request.params["cursor"].is_null() || !content["nextCursor"].is_null() {
            return;
        }
        let ids = content["tasks"].as_array().into_iter().flatten().filter_map(|task| task["taskId"].as_str());
        let listed: HashSet<_> = ids.collect();
        for ((direction, id), task) in self.tasks.iter_mut() {
            if *direction == request.direction {
                task.note_list(request.seq, message.seq(), listed.contains(id.as_str()), findings);
            }
        }
    }

    fn check_cancel(
        &self,
        message: &Message<'_>,
        direction: Direction,
        asked: &str,
        since: u64,
        findings: &mut Findings,
    ) {
        let status = message.content()["status"].as_str().unwrap_or_default();
        findings.check(&CANCEL_STATUS, message.seq(), status == "cancelled", || format!("the status is {status:?}"));
        let task = self.tasks.get(&(direction, asked.to_owned()));
        let finished = task.and_then(|task| task.finished).filter(|finished| *finished < since);
        findings.check(&CANCEL_FINISHED, message.seq(), finished.is_none(), || {
            let seq = finished.unwrap_or_default();
            format!("the {} cancelled task {asked:?}, which is finished since event {seq}", message.sender())
        });
    }

    fn check_result(&mut self, message: &Message<'_>, key: &Key, findings: &mut Findings) {
        let named = related(message.content()).and_then(|related| related["taskId"].as_str());
        findings.check(&RELATED, message.seq(), named == Some(&key.1), || match named {
            Some(other) => format!("the result of task {:?} names task {other:?}", key.1),
            None => "the result names no task".to_owned(),
        });
        if let Some(task) = self.tasks.get_mut(key) {
            // The receiver says with this response that the task is finished, but not how.
            task.finished = task.finished.or(Some(message.seq()));
            findings.hold(&EARLY_RESULT);
        }
    }

    fn check_creation(&mut self, message: &Message<'_>, direction: Direction, params: &Value, findings: &mut Findings) {
        let (seq, content) = (message.seq(), message.content());
        let created = &content["task"];
        let is_task = created["taskId"].is_string() && content.get("content").is_none();
        let requested = params.get("task").is_some();
        if is_task || !requested && may_be_task(message.result_of()) {
            findings.check(&UNREQUESTED, seq, !is_task || requested, || {
                format!("the {} answered {} with a task", message.sender(), message.result_of())
            });
        }
        if requested && !is_task && accepts_tasks(message) {
            findings.note(&NOT_CREATED, seq, format!("the {} answered with the result itself", message.sender()));
        }
        if is_task {
            findings.hold(&NOT_CREATED);
            self.create(message, direction, created, findings);
        }
    }

    fn create(&mut self, message: &Message<'_>, direction: Direction, created: &Value, findings: &mut Findings) {
        let (seq, id) = (message.seq(), created["taskId"].as_str().unwrap_or_default());
        let status = created["status"].as_str().unwrap_or_default();
        findings.check(&INITIAL, seq, status == "working", || format!("the task begins with status {status:?}"));
        let fresh = !self.tasks.contains(&(direction, id.to_owned()));
        findings.check(&ID_REUSED, seq, fresh, || format!("there is a task {id:?} already"));
        self.tasks.insert((direction, id.to_owned()), Task::default());
        self.note_status(message, direction, created, None, findings);
    }

    /// Learns the status of a task. `since` is the event of the request that asked for it.
    fn note_status(
        &mut self,
        message: &Message<'_>,
        direction: Direction,
        reported: &Value,
        since: Option<u64>,
        findings: &mut Findings,
    ) {
        let (Some(id), Some(status)) = (reported["taskId"].as_str(), reported["status"].as_str()) else { return };
        check_times(message.seq(), reported, findings);
        let key = (direction, id.to_owned());
        if !self.tasks.contains(&key) {
            self.tasks.insert(key.clone(), Task::default());
        }
        let Some(task) = self.tasks.get_mut(&key) else { return };
        task.check_change(message.seq(), id, status, since, findings);
        task.reported = message.observed.time;
        task.interval = reported["pollInterval"].as_i64().unwrap_or_default().clamp(0, 86_400_000) * 1_000_000;
    }

    fn refuse(&self, message: &Message<'_>, findings: &mut Findings) {
        let Some(request) = message.observed.request.filter(|request| is_about_task(&request.method)) else { return };
        let code = message.content()["code"].as_i64().unwrap_or_default();
        let asked = request.params["taskId"].as_str().unwrap_or_default();
        let known = self.tasks.get(&(request.direction, asked.to_owned()));
        let finished = known.and_then(|task| task.finished).is_some_and(|finished| finished < request.seq);
        // The error of tasks/result may be the outcome of the task.
        if known.is_none() && self.knows_all(message) {
            findings.check(&REFUSAL_CODE, message.seq(), code == errors::INVALID_PARAMS, || {
                format!("task {asked:?} is unknown, but {} was refused with error {code}", request.method)
            });
        } else if request.method == "tasks/cancel" && finished {
            findings.check(&CANCEL_FINISHED, message.seq(), code == errors::INVALID_PARAMS, || {
                format!("the cancellation was refused with error {code}")
            });
        }
    }
}

/// Returns whether the result of this method can be a task.
fn may_be_task(method: &str) -> bool {
    matches!(method, "tools/call" | "sampling/createMessage" | "elicitation/create")
}

/// Returns whether the side that sent this result declared that it makes tasks of such requests.
fn accepts_tasks(message: &Message<'_>) -> bool {
    let declared = message.observed.declared;
    match message.result_of() {
        // A tool of which nothing is known may not support tasks; `tools` looks at that.
        "sampling/createMessage" => is_declared(&declared.client, &["tasks", "requests", "sampling", "createMessage"]),
        "elicitation/create" => is_declared(&declared.client, &["tasks", "requests", "elicitation", "create"]),
        "tools/call" => is_declared(&declared.server, &["tasks", "requests", "tools", "call"]),
        _ => false,
    }
}
