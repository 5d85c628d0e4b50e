//! `record --otlp`: sends spans and metrics to a collector while the session is recorded. They are made of the reel, on a
//! thread of their own, so that the traffic never waits for the collector.

use crate::cli::following::FOLLOW_PAUSE;
use crate::cli::printer::note;
use crate::cli::telemetry::signal;
use crate::error::{CommandError, ErrorKind};
use crate::formats::otlp::{Batch, Signal, Telemetry};
use crate::process::threads;
use crate::record::recorder::give_way;
use crate::record::recording::Recording;
use crate::runtime::collector::{Accepted, Collector, Patience, in_a_line};
use crate::sessions::recording_status::RecordingStatus;
use crate::trace::{Item, ReelReader};
use crate::wire::text::counted;
use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout_at};

/// How long finished spans wait for others before they are sent.
const SEND_AFTER: Duration = Duration::from_millis(500);
/// How often metrics are sent.
const METRICS_INTERVAL: Duration = Duration::from_secs(60);
/// How long the end of the session waits for the collector.
const END_LIMIT: Duration = Duration::from_secs(2);
/// How long a request is tried again while the session runs.
const PATIENCE: Patience = Patience { total: Duration::from_secs(60), awaits: true, report: None };
/// The maximum number of spans that wait, and of their bytes. The oldest ones are dropped.
const MAX_WAITING: (u64, usize) = (4096, 16 << 20);

/// A collector that gets what is recorded.
pub(super) struct Live {
    ended: watch::Sender<bool>,
    thread: JoinHandle<()>,
}

impl Live {
    /// Starts sending.
    ///
    /// # Errors
    ///
    /// The reel goes to a pipe.
    pub(super) fn start(
        (telemetry, collector): (Telemetry, Collector),
        recording: &Recording,
    ) -> Result<Self, CommandError> {
        if recording.place() == Path::new("-") {
            return Err(CommandError::usage("--otlp reads the reel, which goes to stdout here")
                .hint("write it to a file: -o FILE"));
        }
        let failed = |error: io::Error| CommandError::new(ErrorKind::Internal, format!("cannot start: {error}"));
        let (ended, has_ended) = watch::channel(false);
        let worker = Worker {
            source: Source { status: recording.status(), reel: None },
            telemetry,
            outbox: Outbox::default(),
            collector: Arc::new(collector),
            has_ended,
            sending: None,
            spans_since: None,
            measured_at: Instant::now(),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let thread = threads::start("otlp", move || {
            give_way();
            runtime.block_on(worker.run());
        })
        .map_err(failed)?;
        Ok(Self { ended, thread })
    }

    /// Sends the rest, after the recorder has finished, and reports what could not be sent.
    pub(super) fn finish(self) {
        let _ = self.ended.send(true);
        let _ = self.thread.join();
    }
}

/// The reel that is being recorded, and the next one if the session continues there.
struct Source {
    status: Arc<RecordingStatus>,
    reel: Option<(PathBuf, ReelReader)>,
}

impl Source {
    /// Reads a little of what is new. Returns whether there may be more.
    fn read(&mut self, telemetry: &mut Telemetry, outbox: &mut Outbox) -> bool {
        let current = self.status.reel();
        let item = match &mut self.reel {
            Some((_, reader)) => reader.next().unwrap_or(None),
            None => None,
        };
        if let (Some(item), Some((_, reader))) = (item, &mut self.reel) {
            if let Item::Block(block) = item {
                for event in block.events() {
                    // The outbox has no way to fail.
                    let _ = telemetry.event(&event, &mut |batch| {
                        outbox.add(Some(batch));
                        Ok(())
                    });
                }
                reader.recycle(block);
            }
            return true;
        }
        let next = current.filter(|path| self.reel.as_ref().is_none_or(|(known, _)| known != path));
        let Some((path, opened)) = next.and_then(|path| ReelReader::open(&path).ok().map(|reader| (path, reader)))
        else {
            return false;
        };
        let reader = opened.following().with_payloads();
        let _ = telemetry.exporter().begin(reader.header(), &mut io::sink());
        self.reel = Some((path, reader));
        true
    }
}

/// What waits to be sent, and what became of the rest.
#[derive(Default)]
struct Outbox {
    waiting: VecDeque<Arc<Batch>>,
    sent: u64,
    /// Spans that are lost, and whether metrics are.
    lost: u64,
    lost_metrics: bool,
    rejected: u64,
    words: String,
    /// The last problem.
    problem: Option<String>,
    /// The session has ended.
    is_over: bool,
}

impl Outbox {
    /// Adds a batch; drops the oldest ones if too many wait.
    fn add(&mut self, batch: Option<Batch>) {
        self.waiting.extend(batch.map(Arc::new));
        let is_full = |waiting: &VecDeque<Arc<Batch>>| {
            let spans: u64 = waiting.iter().filter(|it| it.signal == Signal::Traces).map(|it| it.items).sum();
            spans > MAX_WAITING.0 || waiting.iter().map(|it| it.body.len()).sum::<usize>() > MAX_WAITING.1
        };
        while is_full(&self.waiting) {
            self.waiting.pop_front().into_iter().for_each(|batch| self.lose(&batch));
        }
    }

    fn lose(&mut self, batch: &Batch) {
        match batch.signal {
            Signal::Traces => self.lost += batch.items,
            Signal::Metrics => self.lost_metrics = true,
        }
    }

    /// Notes what became of a batch. A problem is reported once.
    fn settle(&mut self, batch: &Batch, outcome: Result<Accepted, CommandError>) {
        match (outcome, batch.signal) {
            (Ok(accepted), signal) => {
                self.rejected += accepted.rejected;
                if !accepted.words.is_empty() {
                    self.words = accepted.words;
                }
                match signal {
                    Signal::Traces => self.sent += batch.items,
                    // They contain everything since the beginning.
                    Signal::Metrics => self.lost_metrics = false,
                }
            }
            (Err(error), _) => {
                self.lose(batch);
                self.trouble(in_a_line(&error));
            }
        }
    }

    /// Notes a problem. The first one is reported, while the session runs.
    fn trouble(&mut self, why: String) {
        if self.problem.is_none() && !self.is_over {
            note(&format!("{why}; the session continues"));
        }
        self.problem = Some(why);
    }

    fn report(&self, place: &str) {
        let metrics = if self.lost_metrics { " and the metrics" } else { "" };
        if self.lost > 0 || self.lost_metrics {
            let why = self.problem.as_ref().map_or_else(|| "the collector is too slow".to_owned(), String::clone);
            let lost = counted(self.lost, "span");
            let of = counted(self.lost + self.sent, "span");
            note(&format!("{lost} of {of}{metrics} were not sent to {place}: {why}"));
        }
        if self.rejected > 0 {
            let why = if self.words.is_empty() { String::new() } else { format!(": {}", self.words) };
            note(&format!("the collector at {place} rejected {} spans or data points{why}", self.rejected));
        }
    }
}

/// A request on its way.
type Sending = Pin<Box<dyn Future<Output = Result<Accepted, CommandError>> + Send>>;

/// The thread.
struct Worker {
    source: Source,
    telemetry: Telemetry,
    outbox: Outbox,
    collector: Arc<Collector>,
    has_ended: watch::Receiver<bool>,
    sending: Option<(Arc<Batch>, Sending)>,
    /// When the oldest finished span came.
    spans_since: Option<Instant>,
    measured_at: Instant,
}

impl Worker {
    async fn run(mut self) {
        loop {
            // In this order: what was written before the end is read.
            let has_ended = *self.has_ended.borrow() || self.has_ended.has_changed().is_err();
            let has_more = self.source.read(&mut self.telemetry, &mut self.outbox);
            self.collect();
            if has_ended && !has_more {
                break;
            }
            self.wait(if has_more { Duration::ZERO } else { FOLLOW_PAUSE }).await;
        }
        self.finish().await;
    }

    /// Takes the spans and metrics that are due.
    fn collect(&mut self) {
        while let Some(batch) = self.telemetry.spans(false) {
            self.outbox.add(Some(batch));
            self.spans_since = None;
        }
        if self.telemetry.has_spans() {
            let since = *self.spans_since.get_or_insert_with(Instant::now);
            if since.elapsed() >= SEND_AFTER {
                self.take_all();
            }
        }
        if self.measured_at.elapsed() >= METRICS_INTERVAL {
            self.measured_at = Instant::now();
            self.outbox.add(self.telemetry.metrics());
        }
    }

    fn take_all(&mut self) {
        while let Some(batch) = self.telemetry.spans(true) {
            self.outbox.add(Some(batch));
        }
        self.spans_since = None;
    }

    /// Sends for a while, or until the session ends.
    async fn wait(&mut self, pause: Duration) {
        self.start(PATIENCE);
        let pause = sleep(pause);
        tokio::pin!(pause);
        let mut has_ended = self.has_ended.clone();
        let Some((batch, sending)) = &mut self.sending else {
            tokio::select! {
                () = &mut pause => {}
                _ = has_ended.wait_for(|has_ended| *has_ended) => {}
            }
            return;
        };
        tokio::select! {
            outcome = sending => {
                self.outbox.settle(batch, outcome);
                self.sending = None;
            }
            () = &mut pause => {
                if let Some(why) = self.collector.waits().filter(|_| self.outbox.problem.is_none()) {
                    self.outbox.trouble(why);
                }
            }
        }
    }

    /// Sends the next batch, unless one is on its way.
    fn start(&mut self, how: Patience) {
        if self.sending.is_some() {
            return;
        }
        while let Some(batch) = self.outbox.waiting.pop_front() {
            if !self.collector.takes(signal(batch.signal)) {
                continue;
            }
            let (collector, sent) = (Arc::clone(&self.collector), Arc::clone(&batch));
            let sending = async move { collector.send(signal(sent.signal), &sent.body, how).await };
            self.sending = Some((batch, Box::pin(sending)));
            return;
        }
    }

    /// Sends the rest within a limit. A collector that is not there now is not waited for.
    async fn finish(mut self) {
        let deadline = Instant::now() + END_LIMIT;
        let _ = self.telemetry.exporter().end(&mut io::sink());
        self.outbox.is_over = true;
        self.take_all();
        self.outbox.add(self.telemetry.metrics());
        if self.collector.waits().is_some() {
            let waiting = self.sending.take();
            waiting.into_iter().for_each(|(batch, _)| self.outbox.waiting.push_front(batch));
        }
        loop {
            let total = deadline.saturating_duration_since(Instant::now());
            self.start(Patience { total, awaits: false, report: None });
            let Some((batch, sending)) = &mut self.sending else { break };
            let Ok(outcome) = timeout_at(deadline, sending).await else {
                self.outbox.lose(batch);
                self.outbox
                    .problem
                    .get_or_insert_with(|| "the session has ended, and the collector is slow".to_owned());
                break;
            };
            let is_absent = outcome.is_err();
            self.outbox.settle(batch, outcome);
            self.sending = None;
            if is_absent {
                break;
            }
        }
        for batch in std::mem::take(&mut self.outbox.waiting) {
            self.outbox.lose(&batch);
        }
        self.outbox.report(&self.collector.place());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(items: u64, bytes: usize) -> Option<Batch> {
        Some(Batch { signal: Signal::Traces, items, body: vec![0; bytes] })
    }

    #[test]
    fn the_oldest_spans_are_dropped_and_counted_when_too_many_wait() {
        let mut outbox = Outbox::default();
        for _ in 0..20 {
            outbox.add(batch(256, 10));
        }
        assert_eq!((outbox.waiting.len(), outbox.lost), (16, 4 * 256));
        outbox.add(batch(1, MAX_WAITING.1));
        assert_eq!((outbox.waiting.len(), outbox.lost), (1, 20 * 256), "a long one passes alone");
        outbox.add(batch(1, 1));
        assert_eq!((outbox.waiting.len(), outbox.lost), (1, 20 * 256 + 1));
    }
}
