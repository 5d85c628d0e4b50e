//! What the recorder does when it cannot write: it reports that, counts what is lost, and continues later or in another
//! reel.

use super::open::Open;
use super::{Gap, RETRY_AFTER, Work, event};
use crate::record::storage::{ReelLoss, ReelStore, Sink};
use crate::trace::described::payload;
use crate::trace::{EventKind, Flags, NewEvent, Note, ReelWriter, WriterOptions};
use crate::wire::Framing;
use std::io;
use std::time::{Duration, Instant};

/// The maximum interval between retries while no reel can be written.
const MAX_PAUSE: Duration = Duration::from_secs(60);
/// The maximum number of problems reported per session.
const MAX_REPORTED: usize = 20;

impl<T: ReelStore> Work<T> {
    /// Handles a failed write: unwritten events are lost. A reel that cannot grow any more is replaced by another.
    pub(super) fn fail(&mut self, error: &io::Error) {
        let Some(mut reel) = self.reel.take() else { return };
        let reason = error.to_string();
        let problem = format!("cannot write {}: {reason}", reel.name);
        let (events, bytes) = reel.rewind();
        self.lose(events, bytes);
        self.gap.reason = reason;
        self.pending_since = None;
        self.status.fails(&problem);
        if !is_final(error) {
            self.reel = Some(reel);
            self.retry_at = Some(Instant::now() + RETRY_AFTER);
            return self.trouble(&problem);
        }
        let at_once = reel.justifies_another();
        self.leave(reel, &problem);
        self.pause = if at_once { RETRY_AFTER } else { (self.pause * 2).min(MAX_PAUSE) };
        self.go_on(&problem, at_once);
    }

    /// Checks whether the reel still exists, and continues in another if not.
    pub(super) fn check_reel(&mut self) {
        self.checked_at = Instant::now();
        let lost = self.reel.as_ref().and_then(|reel| {
            let loss = reel.writer.get_ref().loss(reel.writer.written())?;
            Some((loss, format!("{} {loss}", reel.name)))
        });
        let Some((loss, problem)) = lost else { return };
        let Some(reel) = self.reel.take() else { return };
        self.pending_since = None;
        self.status.fails(&problem);
        if loss == ReelLoss::Moved {
            self.summary.events += reel.writer.next_seq();
            self.previous = Some((reel.name.clone(), problem.clone()));
            // The moved reel is complete where it is now.
            if let Err(error) = reel.end() {
                self.report(&format!("cannot finish the reel: {error}"));
            }
        } else {
            self.lose(reel.events(), reel.bytes);
            self.gap.reason.clone_from(&problem);
            self.previous = Some((reel.name, problem.clone()));
        }
        self.go_on(&problem, true);
    }

    /// Ends a reel that cannot grow any more, with its index if that still fits.
    pub(super) fn leave(&mut self, mut reel: Open<T::Sink>, problem: &str) {
        let end = reel.writer.written();
        if reel.events() == 0 {
            return reel.writer.get_mut().discard();
        }
        self.previous = Some((reel.name.clone(), problem.to_owned()));
        self.summary.events += reel.writer.next_seq();
        if reel.writer.get_mut().rewind_to(end).is_ok() {
            let _ = reel.end();
        }
    }

    /// Continues in another reel after this one ended, at once or later.
    pub(super) fn go_on(&mut self, problem: &str, at_once: bool) {
        self.summary.failure.get_or_insert_with(|| problem.to_owned());
        if self.is_required {
            return self.trouble(problem);
        }
        self.retry_at = Some(Instant::now() + self.pause);
        match at_once.then(|| self.begin()) {
            Some(Ok(())) => {
                self.retry_at = None;
                let name = self.reel.as_ref().map_or("", |reel| reel.name.as_str());
                let reported = format!("{problem}; recording continues in {name}");
                self.report(&reported);
            }
            Some(Err(error)) => {
                let reported = format!("{problem}; {error}");
                self.trouble(&reported);
            }
            None => self.trouble(problem),
        }
    }

    /// Reports that nothing is recorded until further notice.
    fn trouble(&mut self, problem: &str) {
        self.summary.failure.get_or_insert_with(|| problem.to_owned());
        self.status.fails(problem);
        if self.is_required && !self.is_given_up {
            self.is_given_up = true;
            self.report(&format!("{problem}; the session ends, because its recording is required"));
            self.status.give_up(problem);
        } else if !self.is_given_up {
            self.report(&format!("{problem}; traffic continues unrecorded"));
        }
    }

    pub(super) fn report(&mut self, text: &str) {
        if self.reported.len() < MAX_REPORTED && self.reported.insert(text.to_owned()) {
            (self.complain)(text);
        }
    }

    /// Retries writing, in the same reel or in another. Returns whether it worked.
    pub(super) fn resume_now(&mut self) -> bool {
        if self.is_given_up {
            return false;
        }
        let (was_lost, is_first) = (self.reel.is_none(), self.retry_at.is_none());
        let resumed = match self.reel.is_some() {
            true => self.resume(),
            false => self.begin(),
        };
        match resumed {
            Ok(()) => {
                self.retry_at = None;
                if was_lost && !is_first {
                    let name = self.reel.as_ref().map_or("", |reel| reel.name.as_str());
                    let reported = format!("recording continues in {name}");
                    self.report(&reported);
                }
                true
            }
            Err(error) => {
                if was_lost {
                    self.pause = (self.pause * 2).min(MAX_PAUSE);
                }
                self.retry_at = Some(Instant::now() + if was_lost { self.pause } else { RETRY_AFTER });
                if is_first {
                    self.trouble(&error.to_string());
                }
                false
            }
        }
    }

    /// Continues in the same reel: cuts off the torn end and writes a gap event.
    fn resume(&mut self) -> io::Result<()> {
        let Some(mut reel) = self.reel.take() else { return Ok(()) };
        let end = reel.writer.written();
        let resumed = reel.writer.get_mut().rewind_to(end).and_then(|()| match reel.has_begun {
            true => self.write_gap(&mut reel).and_then(|()| reel.writer.flush()),
            false => self.write_preface(&mut reel),
        });
        self.settle(reel, resumed)
    }

    /// Begins the next reel.
    fn begin(&mut self) -> io::Result<()> {
        let sink = self.store.next()?;
        let place = sink.place();
        let name = place.map_or_else(|| "the reel".to_owned(), |place| place.path.display().to_string());
        let limit = sink.limit();
        let mut header = self.header.clone();
        if let Some((previous, _)) = &self.previous {
            header.notes.insert("continues".to_owned(), previous.clone());
        }
        let writer = ReelWriter::unwritten(sink, &header, WriterOptions::default())?;
        let mut reel =
            Open { writer, name, has_begun: false, preface: 0, bytes: 0, pending: 0, limit, begun_at: Instant::now() };
        let begun = self.write_preface(&mut reel);
        self.settle(reel, begun)
    }

    /// Keeps a reel after a write attempt, unless it cannot grow any more.
    fn settle(&mut self, mut reel: Open<T::Sink>, written: io::Result<()>) -> io::Result<()> {
        match written {
            Ok(()) => {
                self.status.records_to(reel.writer.get_ref().place());
                self.gap = Gap::default();
                self.reel = Some(reel);
                Ok(())
            }
            Err(error) => {
                let problem = format!("cannot write {}: {error}", reel.name);
                reel.rewind();
                if is_final(&error) {
                    self.leave(reel, &problem);
                } else {
                    self.reel = Some(reel);
                }
                Err(io::Error::new(error.kind(), problem))
            }
        }
    }

    /// Writes the preface: the header, and in a continuation what is needed to read it alone.
    fn write_preface(&mut self, reel: &mut Open<T::Sink>) -> io::Result<()> {
        reel.writer.write_header()?;
        let time = self.last_time;
        for (stream, payload) in &self.streams {
            let opened = event(EventKind::StreamOpened, time, Flags::default(), Framing::Whole, payload);
            reel.writer.append(NewEvent { stream: *stream, ..opened })?;
        }
        if let Some((name, reason)) = &self.previous {
            let (continues, reason) = (Some(name.to_string()), Some(reason.to_string()));
            let note = payload(&Note { continues, reason, ..Note::default() });
            reel.writer.append(event(EventKind::Note, time, Flags::default(), Framing::Whole, &note))?;
        }
        self.write_gap(reel)?;
        reel.writer.flush()?;
        (reel.preface, reel.has_begun) = (reel.writer.next_seq(), true);
        Ok(())
    }

    /// Writes a gap event if something is missing.
    fn write_gap(&self, reel: &mut Open<T::Sink>) -> io::Result<()> {
        if self.gap.events == 0 {
            return Ok(());
        }
        let payload = payload(&self.gap);
        reel.writer.append(event(EventKind::Gap, self.last_time, Flags::default(), Framing::Whole, &payload))
    }
}

/// Whether a reel cannot grow any more after this error: it has reached the file size limit, or its file server lost
/// it.
fn is_final(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::FileTooLarge | io::ErrorKind::StaleNetworkFileHandle)
}
