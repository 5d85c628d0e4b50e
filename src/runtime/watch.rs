//! What the built-in server watches: folders, and the results of commands. Runs outside of the engines: changes become
//! messages to send, and it performs their I/O requests.
//!
//! Never: input of a client in a command.

mod command;
mod debounce;
mod folder;

pub(crate) use folder::Folder;

use crate::process::child::ServerCommand;
use crate::server::{Fired, IoRequest, Outside, Task};
use command::{RunOutcome, RunningCommand, run};
use debounce::{Change, Debounce};
use notify::event::{EventKind, ModifyKind};
use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// Maximum number of changed files at a time that get a reminder each.
const MAX_AT_ONCE: usize = 20;
/// Maximum number of lines of a command's output in a reminder.
const LINES_REPORTED: usize = 20;

/// What to watch, and how.
#[derive(Debug)]
pub(crate) struct Options {
    /// The folders.
    pub folders: Vec<Folder>,
    /// The commands, for a shell.
    pub commands: Vec<String>,
    /// How long nothing must have changed before changes are reported.
    pub quiet: Duration,
    /// The interval at which commands run even without changes.
    pub every: Option<Duration>,
    /// The time limit of a command.
    pub limit: Duration,
}

/// Called with messages to send to all connected hosts.
pub(crate) type FiredCallback = Arc<dyn Fn(Vec<Fired>) + Send + Sync>;
/// Called with warnings for the user.
pub(crate) type WarningCallback = Arc<dyn Fn(&str) + Send + Sync>;
/// Receives the result of an I/O request.
type CompleteIo = Box<dyn FnOnce(Option<Value>) + Send>;

/// An input of the thread that runs commands.
enum Job {
    /// Something has changed.
    Changed,
    /// A request for these commands' results.
    Run(Vec<String>, CompleteIo),
}

/// Performs I/O requests, and knows the current state.
pub(crate) struct IoRunner {
    folders: Vec<Folder>,
    commands: Vec<String>,
    jobs: Sender<Job>,
    /// What to send to hosts that connect later: the commands that currently fail.
    standing: Mutex<BTreeMap<String, Fired>>,
}

/// Running watchers. Dropping this ends them, and the command that is running.
pub(crate) struct Watchers {
    _watcher: Option<RecommendedWatcher>,
    running: Arc<RunningCommand>,
}

impl Drop for Watchers {
    fn drop(&mut self) {
        self.running.end();
    }
}

/// Watchers that have not begun.
pub(crate) struct PreparedWatchers {
    attendant: Arc<IoRunner>,
    waiting: Receiver<Job>,
    quiet: Duration,
    every: Option<Duration>,
    limit: Duration,
}

impl PreparedWatchers {
    /// Watchers with these options.
    pub(crate) fn new(options: Options) -> Self {
        let Options { folders, commands, quiet, every, limit } = options;
        let (jobs, waiting) = channel();
        let attendant = Arc::new(IoRunner { folders, commands, jobs, standing: Mutex::default() });
        Self { attendant, waiting, quiet, every, limit }
    }

    /// The handler of I/O requests.
    pub(crate) fn attendant(&self) -> Arc<IoRunner> {
        Arc::clone(&self.attendant)
    }

    /// Begins to watch, with one thread for folders and one for commands.
    ///
    /// # Errors
    ///
    /// A folder cannot be watched, or a thread cannot be started.
    pub(crate) fn start(self, report: FiredCallback, complain: WarningCallback) -> io::Result<Watchers> {
        let Self { attendant, waiting, quiet, every, limit } = self;
        let running = Arc::new(RunningCommand::default());
        let watcher = match attendant.folders.is_empty() {
            true => None,
            false => Some(watch_folders(&attendant, quiet, Arc::clone(&report), complain)?),
        };
        if !attendant.commands.is_empty() {
            let runner = Runner { attendant, running: Arc::clone(&running), limit, report, last: BTreeMap::new() };
            std::thread::Builder::new().name("commands".into()).spawn(move || runner.work(&waiting, every))?;
        }
        Ok(Watchers { _watcher: watcher, running })
    }
}

impl IoRunner {
    /// What engines need to know about the watched folders and commands.
    pub(crate) fn outside(&self) -> Outside {
        let folders = self.folders.iter().map(Folder::uri).collect();
        Outside { folders, commands: self.commands.clone(), ..Outside::default() }
    }

    /// Performs an I/O request and passes its result to `complete_io`, now or later.
    pub(crate) fn attend(&self, io_request: IoRequest, complete_io: impl FnOnce(u64, Option<Value>) + Send + 'static) {
        let ticket = io_request.ticket;
        match io_request.task {
            Task::List => complete_io(ticket, Some(self.folders.iter().flat_map(Folder::list).collect())),
            Task::Read(uri) => complete_io(ticket, self.folders.iter().find_map(|folder| folder.read(&uri))),
            Task::Run(commands) => {
                let complete_io = Box::new(move |completed| complete_io(ticket, completed));
                let _ = self.jobs.send(Job::Run(commands, complete_io));
            }
            // These are handled elsewhere.
            Task::Proposal(_) | Task::Recall | Task::Catalogue(_) | Task::Cancel(_) => complete_io(ticket, None),
        }
    }

    /// What to send to a host that connects now.
    pub(crate) fn standing(&self) -> Vec<Fired> {
        self.standing.lock().values().cloned().collect()
    }
}

fn watch_folders(
    attendant: &Arc<IoRunner>,
    quiet: Duration,
    report: FiredCallback,
    complain: WarningCallback,
) -> io::Result<RecommendedWatcher> {
    let (events, arrivals) = channel();
    let config = notify::Config::default().with_follow_symlinks(false);
    let mut watcher = RecommendedWatcher::new(events, config).map_err(io::Error::other)?;
    for folder in &attendant.folders {
        watcher.watch(folder.root(), RecursiveMode::Recursive).map_err(io::Error::other)?;
    }
    let attendant = Arc::clone(attendant);
    std::thread::Builder::new().name("folders".into()).spawn(move || {
        let mut changes = Debounce::new(quiet);
        let began = Instant::now();
        loop {
            let grace_period = changes.due().map(|due| due.saturating_sub(began.elapsed()));
            let arrival = match grace_period {
                None => arrivals.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(grace_period) => arrivals.recv_timeout(grace_period),
            };
            match arrival {
                Ok(Ok(event)) => {
                    if event.need_rescan() {
                        complain("the system lost events; some changes are not reported");
                    }
                    for (path, change) in attendant.changed(&event) {
                        changes.push(began.elapsed(), path, change);
                    }
                }
                Ok(Err(error)) => complain(&format!("failed to watch: {error}")),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            let changed = changes.take(began.elapsed());
            if !changed.is_empty() {
                let fired = attendant.reported(changed);
                if !fired.is_empty() {
                    report(fired);
                    let _ = attendant.jobs.send(Job::Changed);
                }
            }
        }
    })?;
    Ok(watcher)
}

impl IoRunner {
    /// The files that an event is about.
    fn changed(&self, event: &notify::Event) -> Vec<(PathBuf, Change)> {
        let (change, is_new) = match event.kind {
            EventKind::Create(_) => (Change::Made, true),
            EventKind::Modify(ModifyKind::Name(_)) => (Change::Other, true),
            EventKind::Modify(ModifyKind::Metadata(_)) | EventKind::Access(_) | EventKind::Other => return Vec::new(),
            EventKind::Modify(_) | EventKind::Remove(_) | EventKind::Any => (Change::Other, false),
        };
        let mut all = Vec::new();
        for path in &event.paths {
            let Some(folder) = self.folders.iter().find(|folder| folder.name(path).is_some()) else { continue };
            match path.is_dir() {
                false => all.push((path.clone(), change)),
                // Files that arrived with a folder, or before it was watched, have no events of their own.
                true if is_new => all.extend(folder.files(path).into_iter().map(|path| (path, Change::Made))),
                true => {}
            }
        }
        all
    }

    /// The messages about changed files: resource updates for subscribers, and reminders for all.
    fn reported(&self, changed: Vec<(PathBuf, Change)>) -> Vec<Fired> {
        // Ignore files that were created and removed again.
        let was_there = |(path, change): &(PathBuf, Change)| path.exists() || *change != Change::Made;
        let named = |(path, _): (PathBuf, Change)| {
            let (folder, name) = self.folders.iter().find_map(|folder| Some((folder, folder.name(&path)?)))?;
            Some((folder.uri_of(&path)?, name, path.exists()))
        };
        let changed: Vec<_> = changed.into_iter().filter(was_there).filter_map(named).collect();
        let mut fired = Vec::new();
        for (at, (uri, name, is_there)) in changed.iter().enumerate() {
            fired.push(Fired::new("changed", json!({"uri": uri})));
            let body = match is_there {
                true => format!("{name} changed; read it again before you edit it"),
                false => format!("{name} was removed"),
            };
            if at < MAX_AT_ONCE {
                fired.push(file_changed(&body, name));
            }
        }
        if let Some(more) = changed.len().checked_sub(MAX_AT_ONCE).filter(|more| *more > 0) {
            let files = if more == 1 { "file" } else { "files" };
            let body = format!("{more} more {files} changed; read files again before you edit them");
            fired.push(file_changed(&body, "*"));
        }
        fired
    }
}

fn file_changed(body: &str, name: &str) -> Fired {
    let key = format!("file_changed:{name}");
    let tags = ["workspace", "file_changed"];
    Fired::new("reminder", json!({"body": body, "tags": tags, "dedupeKey": key, "ttlTurns": 2}))
}

/// Runs commands, one after another.
struct Runner {
    attendant: Arc<IoRunner>,
    running: Arc<RunningCommand>,
    limit: Duration,
    report: FiredCallback,
    /// The last outcome of each command.
    last: BTreeMap<String, RunOutcome>,
}

impl Runner {
    fn work(mut self, waiting: &Receiver<Job>, every: Option<Duration>) {
        let mut is_due = true;
        loop {
            // Requests are answered first; all changes meanwhile cause one more run.
            while let Ok(job) = waiting.try_recv() {
                is_due |= self.take(job);
            }
            if is_due {
                for command in self.attendant.commands.clone() {
                    self.run(&command);
                }
            }
            is_due = match every.map_or_else(
                || waiting.recv().map_err(|_| RecvTimeoutError::Disconnected),
                |every| waiting.recv_timeout(every),
            ) {
                Ok(job) => self.take(job),
                Err(RecvTimeoutError::Timeout) => true,
                Err(RecvTimeoutError::Disconnected) => return,
            };
        }
    }

    /// Whether to run the commands for this job.
    fn take(&mut self, job: Job) -> bool {
        match job {
            Job::Changed => true,
            Job::Run(commands, complete_io) => {
                complete_io(Some(commands.iter().map(|command| self.run(command)).collect()));
                false
            }
        }
    }

    /// Runs a command, and reports its outcome if it differs from the last one.
    fn run(&mut self, command: &str) -> Value {
        let words = ["sh", "-c", command].map(Into::into).to_vec();
        let prepared = ServerCommand { argv: words, ..ServerCommand::default() }.prepare();
        let outcome = match prepared {
            Ok(prepared) => run(prepared, self.limit, &self.running),
            Err(error) => RunOutcome::not_run(&error),
        };
        let reported =
            json!({"command": command, "passed": outcome.passed, "how": outcome.how, "output": outcome.output});
        let before = self.last.get(command);
        if before.is_none_or(|before| before.summary() != outcome.summary()) {
            let fired = reminder(command, &outcome, before);
            let mut standing = self.attendant.standing.lock();
            match outcome.passed {
                true => standing.remove(command),
                false => standing.insert(command.to_owned(), fired.clone()),
            };
            drop(standing);
            // Do not report that a command passes at the beginning.
            if before.is_some() || !outcome.passed {
                (self.report)(vec![fired]);
            }
            self.last.insert(command.to_owned(), outcome);
        }
        reported
    }
}

fn reminder(command: &str, outcome: &RunOutcome, before: Option<&RunOutcome>) -> Fired {
    let lines: Vec<&str> = outcome.output.lines().collect();
    let last = &lines[lines.len().saturating_sub(LINES_REPORTED)..];
    let before = before.map_or_else(String::new, |before| format!(" (before: {})", before.how));
    let body = format!("`{command}` {}{before}\n{}", outcome.how, last.join("\n"));
    Fired::new(
        "reminder",
        json!({"body": body.trim_end(), "tags": ["workspace", "command"], "dedupeKey": format!("command:{command}"),
            "ttlTurns": 1, "roleHint": "system"}),
    )
}

#[cfg(test)]
mod tests;
