//! Compares what was recorded with what came back.

use super::ReplayArgs;
use crate::cli::redaction::{RedactOptions, alike};
use crate::cli::{comparing, printer::note, recordings};
use crate::diff::{self, Collector, Learned, Options, Recording, Report, complete};
use crate::error::{CommandError, ErrorKind};
use crate::replay::modern::Folded;
use crate::replay::{Entry, Plan, Sent};
use crate::share::LiveRedactor;
use crate::trace::{Event, EventHeader, EventKind};
use crate::wire::{Direction, Framing};
use std::cell::RefCell;
use std::path::Path;

/// A recorded session, and what counts as a difference from it.
pub(super) struct Comparison<'a> {
    plan: &'a Plan,
    options: Options,
    with_stderr: bool,
    /// What also differs between two runs of the recorded version.
    learned: Option<Learned>,
    /// Whether both sides are compared without their secrets. The same secret has the same pseudonym on both.
    redact: RedactOptions,
    /// Of a redacted recording: what makes its pseudonyms and the secrets of the live server alike.
    alike: Option<RefCell<LiveRedactor>>,
}

impl<'a> Comparison<'a> {
    /// Prepares the comparison.
    ///
    /// # Errors
    ///
    /// A setting is not valid, or the recording, or that of `--learn`, cannot be read.
    pub(super) fn new(plan: &'a Plan, args: &ReplayArgs) -> Result<Self, CommandError> {
        let options = comparing::options(&args.normalise, args.order)?;
        let redact = args.redact.clone();
        let mut alike = match args.reel == Path::new("-") {
            true => None,
            false => alike(&recordings::header(&args.reel)?)?,
        };
        if let Some(alike) = &mut alike {
            plan.compared().for_each(|entry| drop(alike.comparable(entry.body())));
        }
        let alike = alike.map(RefCell::new);
        let mut it = Self { plan, options, with_stderr: args.stderr, learned: None, redact, alike };
        if let Some(again) = &args.normalise.learn {
            let report = it.report(&it.recorded(&Sent::default())?, &it.read(again)?)?;
            it.learned = Some(Learned::of(&report));
        }
        Ok(it)
    }

    /// Whether values that were replaced in the recording are not compared.
    pub(super) fn is_of_redacted(&self) -> bool {
        self.alike.is_some()
    }

    /// Compares the recorded session, as far as it was sent, with the new one.
    ///
    /// # Errors
    ///
    /// The new session cannot be read.
    pub(super) fn sessions(&self, sent: &Sent, reel: &Path) -> Result<Report, CommandError> {
        self.report(&self.recorded(sent)?, &self.read(reel)?)
    }

    /// Compares a live answer with the recorded one. Values that the server generated do not count.
    pub(super) fn answer(&self, seq: u64, message: &[u8]) -> Option<Report> {
        let (asked, answer) = self.plan.exchange(seq)?;
        let (asked, answer) = (asked.event(), answer.event());
        let side = |payload: &[u8]| self.side(&[asked, Event { payload, ..answer }]);
        self.report(&side(answer.body()).ok()?, &side(message).ok()?).ok()
    }

    /// The recorded session, with the live server's values in place of the recorded ones; only in what the client sends,
    /// if they are compared as they are.
    fn recorded(&self, sent: &Sent) -> Result<Recording, CommandError> {
        let events: Vec<Event<'_>> = self.plan.compared().map(Entry::event).chain(self.plan.stderr()).collect();
        let changed = |event: &Event<'_>| {
            let is_compared = self.options.exact || self.options.keep_ids;
            let is_replaced = !is_compared || event.header.direction() == Direction::ClientToServer;
            let rewritten = sent.rewritten.get(&event.header.seq).cloned();
            rewritten.or_else(|| is_replaced.then(|| sent.substitutions.apply(event.payload)).flatten())
        };
        let payloads: Vec<Option<Vec<u8>>> = events.iter().map(changed).collect();
        let events = events.iter().zip(&payloads);
        let events =
            events.map(|(event, payload)| Event { payload: payload.as_deref().unwrap_or(event.payload), ..*event });
        self.side(&events.collect::<Vec<_>>())
    }

    /// One side of the comparison, without its secrets if the user wants that.
    fn side(&self, events: &[Event<'_>]) -> Result<Recording, CommandError> {
        let mut collector = Collector::new(&self.options).with_stderr(self.with_stderr);
        if !self.redact.redact {
            events.iter().for_each(|event| self.collect(event, &mut collector));
            return Ok(collector.finish());
        }
        let mut learner = self.redact.key.learner()?;
        events.iter().for_each(|event| learner.learn(event));
        let mut redactor = learner.finish();
        for event in events {
            let payload = redactor.payload(event.header, event.payload);
            self.collect(&Event { payload: &payload, ..*event }, &mut collector);
        }
        Ok(collector.finish())
    }

    fn read(&self, path: &Path) -> Result<Recording, CommandError> {
        let mut collector = Collector::new(&self.options).with_stderr(self.with_stderr);
        let mut folded = Folded::default();
        let damage =
            self.redact.open(path, None)?.each_event(|_| {}, |event| self.take(event, &mut folded, &mut collector))?;
        damage.iter().for_each(|damage| note(&format!("{}: {damage}", path.display())));
        Ok(collector.finish())
    }

    /// Takes a message of the live session as the recording would have it.
    fn take(&self, event: &Event<'_>, folded: &mut Folded, collector: &mut Collector) {
        if !self.plan.is_for_modern() || event.header.kind != EventKind::Message {
            return self.collect(event, collector);
        }
        let header = EventHeader { framing: Framing::Lf, ..event.header.clone() };
        if let Some(payload) = folded.take(event.header.direction(), event.body()) {
            self.collect(&Event { header: &header, payload: &payload }, collector);
        }
    }

    /// Takes an event of either side; of a redacted recording, with its secrets and pseudonyms alike.
    fn collect(&self, event: &Event<'_>, collector: &mut Collector) {
        let Some(alike) = self.alike.as_ref().filter(|_| event.header.kind == EventKind::Message) else {
            return collector.take(event);
        };
        let header = EventHeader { framing: Framing::Lf, ..event.header.clone() };
        collector.take(&Event { header: &header, payload: &alike.borrow_mut().comparable(event.body()) });
    }

    fn report(&self, left: &Recording, right: &Recording) -> Result<Report, CommandError> {
        // All texts were kept.
        let mut report = diff::compare(left, right, &self.options)
            .map_err(|_| CommandError::new(ErrorKind::Internal, "the sessions cannot be compared"))?;
        report.make_optional(&self.plan.optional());
        if self.plan.loss().is_some() {
            report.excuse_lost_answers();
        }
        if let Some(learned) = &self.learned {
            report.leave_out(learned);
        }
        complete(&mut report, left);
        Ok(report)
    }
}
