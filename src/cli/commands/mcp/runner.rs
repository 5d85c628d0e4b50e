//! Answers the requests that the engine passes on, each on a thread of its own pool, so that the engine can answer pings
//! and cancellations meanwhile.

use super::answer::Problem;
use super::child::{Bounds, Stop};
use super::library::Library;
use super::tools::{Cx, Settings, call, text_of};
use super::{prompts, resources};
use crate::process::threads;
use crate::runtime::server::ServerInput;
use crate::server::{CatalogueRequest, IoRequest, Task};
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Instant;

/// How many requests are worked on at the same time.
const THREADS: usize = 3;

struct Job {
    ticket: u64,
    request: CatalogueRequest,
    stop: Arc<Stop>,
}

/// Works on requests.
pub(super) struct Runner {
    jobs: Sender<Job>,
    /// The requests that wait or are worked on.
    stops: Arc<Mutex<HashMap<u64, Arc<Stop>>>>,
}

impl Runner {
    /// Starts the threads. Answers go to `back`.
    ///
    /// # Errors
    ///
    /// A thread cannot be started.
    pub(super) fn start(library: Library, settings: Settings, back: &Sender<ServerInput>) -> io::Result<Self> {
        let (jobs, waiting) = channel();
        let (waiting, shared) = (Arc::new(Mutex::new(waiting)), Arc::new((library, settings)));
        let stops = Arc::new(Mutex::new(HashMap::new()));
        for _ in 0..THREADS {
            let (waiting, shared, stops, back) =
                (Arc::clone(&waiting), Arc::clone(&shared), Arc::clone(&stops), back.clone());
            threads::start("request", move || {
                while let Some(job) = next(&waiting) {
                    // A bug in one request must not end the others.
                    let worked = catch_unwind(AssertUnwindSafe(|| answer(&job, &shared.0, &shared.1)));
                    stops.lock().remove(&job.ticket);
                    if back.send(ServerInput::IoDone(job.ticket, worked.ok())).is_err() {
                        return;
                    }
                }
            })?;
        }
        Ok(Self { jobs, stops })
    }

    /// Begins to work on a request, or stops that.
    pub(super) fn attend(&self, io_request: IoRequest) {
        match io_request.task {
            Task::Catalogue(request) => {
                let stop = Arc::new(Stop::default());
                self.stops.lock().insert(io_request.ticket, Arc::clone(&stop));
                let _ = self.jobs.send(Job { ticket: io_request.ticket, request, stop });
            }
            Task::Cancel(ticket) => {
                if let Some(stop) = self.stops.lock().remove(&ticket) {
                    stop.stop();
                }
            }
            _ => {}
        }
    }
}

fn next(waiting: &Mutex<Receiver<Job>>) -> Option<Job> {
    waiting.lock().recv().ok()
}

/// The answer to a request, as [`CatalogueRequest`] describes it.
fn answer(job: &Job, library: &Library, settings: &Settings) -> Value {
    let bounds = Bounds { until: Instant::now() + settings.limit, limit: settings.limit, stop: &job.stop };
    let cx = Cx { library, settings, bounds };
    let params = &job.request.params;
    let refused = |problem: Problem| json!({"refused": problem.to_text()});
    let result = |result: Value| json!({"result": result});
    match job.request.method.as_str() {
        "tools/call" => {
            let (tool, arguments) = (text_of(params, "name").unwrap_or_default(), &params["arguments"]);
            let answered = call(tool, arguments, &cx);
            result(answered.map_or_else(|problem| problem.to_result(), |answer| answer.to_result()))
        }
        "resources/list" => resources::list(params, &cx).map_or_else(refused, result),
        "resources/read" => match (text_of(params, "uri"), text_of(params, "uri").map(|uri| resources::read(uri, &cx)))
        {
            (Some(_), Some(Ok(Some(contents)))) => result(contents),
            (Some(uri), Some(Ok(None))) => json!({"missing": uri}),
            (_, Some(Err(problem))) => refused(problem),
            _ => json!({"refused": "`uri` must be a string"}),
        },
        "prompts/get" => prompts::get(params, &cx).map_or_else(refused, result),
        _ => resources::complete(params, &cx).map_or_else(refused, result),
    }
}
