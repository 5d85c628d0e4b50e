//! Where events of subscriptions (MCPE) go in addition to the next prompt: lines of a file, the stdin of a command.

use crate::error::{CommandError, Warn};
use crate::proposals::host::HostEvent;
use crate::proposals::mcpe::patterns::{is_odd, matches};
use crate::proposals::server::handler_job::{HandlerJob, JobEnd, JobOutcome, Script};
use crate::runtime::handler_runner::{HandlerOptions, HandlerRunner};
use serde_json::Value;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, channel, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// The maximum number of events that wait for a command.
const MAX_WAITING: usize = 256;
/// The maximum time a command may run.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The syntax of `--on-event`.
const USAGE: &str =
    "use PATTERN=file:PATH or PATTERN=command:COMMAND, for example: --on-event 'build.*=file:builds.jsonl'";

/// Where events go. When this is dropped, waiting events are still delivered.
#[derive(Default)]
pub(crate) struct Routes(Vec<Route>);

struct Route {
    pattern: String,
    route: EventRoute,
    warn: Warn,
}

enum EventRoute {
    File { name: String, file: File },
    Command { command: String, waiting: Option<SyncSender<String>>, worker: Option<JoinHandle<()>> },
}

impl Routes {
    /// Parses the values of `--on-event`, opens the files and starts a thread for each command.
    ///
    /// # Errors
    ///
    /// A value is malformed, or a file cannot be written.
    pub(crate) fn open(words: &[String], warn: Warn) -> Result<Self, CommandError> {
        words.iter().map(|word| Route::open(word, warn)).collect::<Result<_, _>>().map(Self)
    }

    /// Delivers the event of a subscription, if the host event is one.
    pub(crate) fn receive(&mut self, event: &HostEvent) {
        if event.proposal == "mcpe" && event.what == "event" {
            self.take(&event.data["event"]);
        }
    }

    fn take(&mut self, event: &Value) {
        let kind = event["type"].as_str().unwrap_or_default();
        for route in self.0.iter_mut().filter(|route| matches(&route.pattern, kind)) {
            route.route.take(event, route.warn);
        }
    }
}

impl Route {
    fn open(word: &str, warn: Warn) -> Result<Self, CommandError> {
        let wrong = || CommandError::usage(format!("--on-event: invalid route {word:?}")).hint(USAGE);
        let (pattern, place) = word.split_once('=').filter(|parts| !parts.0.is_empty()).ok_or_else(wrong)?;
        if is_odd(pattern) {
            return Err(CommandError::usage(format!("--on-event: invalid pattern {pattern:?}"))
                .hint("a pattern is an event type, `a.*` for all types below `a`, or `*`"));
        }
        let route = match place.split_once(':').filter(|(_, rest)| !rest.is_empty()).ok_or_else(wrong)? {
            ("file", path) => {
                let file = OpenOptions::new().append(true).create(true).open(path);
                let file = file.map_err(|error| CommandError::writing(Path::new(path), &error))?;
                EventRoute::File { name: path.to_owned(), file }
            }
            ("command", command) => {
                let (waiting, events) = sync_channel(MAX_WAITING);
                let text = command.to_owned();
                let worker =
                    std::thread::Builder::new().name("on-event".into()).spawn(move || work(&text, &events, warn));
                let worker = worker.map_err(|error| CommandError::usage(format!("cannot start a thread: {error}")))?;
                EventRoute::Command { command: command.to_owned(), waiting: Some(waiting), worker: Some(worker) }
            }
            _ => return Err(wrong()),
        };
        Ok(Self { pattern: pattern.to_owned(), route, warn })
    }
}

impl EventRoute {
    fn take(&mut self, event: &Value, warn: Warn) {
        let line = format!("{event}\n");
        match self {
            Self::File { name, file } => {
                if let Err(error) = file.write_all(line.as_bytes()) {
                    warn(&format!("cannot write an event to {name}: {error}"));
                }
            }
            Self::Command { command, waiting, .. } => {
                if let Some(Err(TrySendError::Full(_))) = waiting.as_ref().map(|waiting| waiting.try_send(line)) {
                    warn(&format!("{MAX_WAITING} events are already waiting for {command:?}; dropped {}", event["id"]));
                }
            }
        }
    }
}

impl Drop for EventRoute {
    fn drop(&mut self) {
        if let Self::Command { waiting, worker, .. } = self {
            drop(waiting.take());
            worker.take().map(JoinHandle::join);
        }
    }
}

/// Runs a command for one event after another.
fn work(command: &str, events: &Receiver<String>, warn: Warn) {
    let shell = ["sh", "-c"].map(Into::into).to_vec();
    let folder = std::env::current_dir().unwrap_or_default();
    let options = HandlerOptions { shell, folder, ..HandlerOptions::default() };
    let jobs = HandlerRunner::new(options);
    // Unlike a subscriber's handler, the command is the user's own, so it gets the user's whole environment.
    let reported = |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    let environment: Vec<(String, String)> = std::env::vars_os().filter_map(reported).collect();
    for (number, input) in (0..).zip(events) {
        let (report, reported) = channel();
        let (text, environment) = (command.to_owned(), environment.clone());
        let script = Script { text, arguments: Vec::new(), environment, folder: None, input, limit: TIMEOUT };
        jobs.attend((0, number), HandlerJob::Script(script), move |outcome| drop(report.send(outcome)));
        if let Ok(outcome) = reported.recv()
            && let Some(why) = failure(&outcome)
        {
            warn(&format!("{command:?} {why}"));
        }
    }
}

/// Why a run failed, with the end of its output.
fn failure(outcome: &JobOutcome) -> Option<String> {
    if outcome.end == (JobEnd::Exited { code: 0 }) {
        return None;
    }
    let how = serde_json::to_string(&outcome.end).unwrap_or_default();
    Some(format!("failed: {how} {}", outcome.output.trim()).trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn events_go_to_files_by_their_type() {
        let home = tempfile::tempdir().expect("a folder");
        let path = home.path().join("builds");
        let mut routes = Routes::open(&[format!("build.*=file:{}", path.display())], |_| {}).expect("routes");
        for kind in ["build.failed", "mail.came", "build.done"] {
            routes.take(&json!({"id": "1", "type": kind}));
        }
        let text = std::fs::read_to_string(path).expect("written");
        assert_eq!(text, "{\"id\":\"1\",\"type\":\"build.failed\"}\n{\"id\":\"1\",\"type\":\"build.done\"}\n");
    }

    #[test]
    fn words_that_say_nothing_are_refused() {
        for word in ["build.*", "=file:x", "b*x=file:x", "build.*=file:", "build.*=mail:x"] {
            let refused = Routes::open(&[word.to_owned()], |_| {}).err().expect(word);
            assert!(refused.message.contains("--on-event"), "{word}: {}", refused.message);
        }
    }
}
