//! The recordings that `diff` reads: without their secrets if the user wants that, or if one of them was redacted.

use crate::cli::lane::Lane;
use crate::cli::printer::note;
use crate::cli::recordings::{self, twice::TwicePath};
use crate::cli::redaction::{RedactOptions, learn};
use crate::error::CommandError;
use crate::redact::has_mark;
use crate::share::{NOTE, Twins};
use crate::trace::{EventHeader, EventKind, NewEvent, ReelWriter, WriterOptions};
use crate::wire::Framing;
use crate::wire::text::counted;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A recording to compare.
pub(super) struct Input {
    /// Its path as the user knows it.
    pub shown: PathBuf,
    /// What is read instead: a copy of a pipe, or a copy without secrets.
    copy: Option<TwicePath>,
    /// With which rules and settings it was redacted.
    digest: Option<String>,
    /// The events in which a pseudonym goes on that began in another one.
    continued: BTreeSet<u64>,
}

impl Input {
    fn of(path: &Path) -> Result<Self, CommandError> {
        let is_readable_again = path.is_file() || !path.exists() && path != Path::new("-") || path.is_dir();
        let copy = if is_readable_again { None } else { Some(TwicePath::of(Some(path))?) };
        let opened = copy.as_ref().map_or(path, |copy| &copy.opened);
        let digest = recordings::header(opened)?.notes.remove(NOTE);
        Ok(Self { shown: path.to_owned(), copy, digest, continued: BTreeSet::new() })
    }

    /// The path to read.
    pub(super) fn path(&self) -> &Path {
        self.copy.as_ref().map_or(&self.shown, |copy| &copy.opened)
    }

    fn reopened(&self) -> Result<TwicePath, CommandError> {
        Ok(TwicePath::of(Some(self.path()))?.shown_as(&self.shown))
    }

    /// Redacts it, unless it is redacted already.
    fn redact(&mut self, redact: &RedactOptions) -> Result<(), CommandError> {
        if self.digest.is_none() {
            let (copy, redaction) = redact.key.redacted(&self.reopened()?)?;
            (self.copy, self.continued) = (Some(copy), redaction.continued().clone());
        }
        Ok(())
    }

    /// Finds the pseudonyms in it that are divided.
    fn learn(&mut self, redact: &RedactOptions) -> Result<(), CommandError> {
        let mut learner = redact.key.learner()?;
        learn(&mut learner, &self.reopened()?)?;
        self.continued = learner.finish().continued().clone();
        Ok(())
    }
}

/// Prepares recordings: A, B, and further ones. If A or B was redacted, all are, because a replaced value is no change;
/// and where A and B have the same event, A gets the pseudonyms of B. Also returns the number of values that cannot be
/// compared because of that.
///
/// # Errors
///
/// A recording cannot be read, or a setting is not valid.
pub(super) fn prepare(paths: &[&Path], redact: &RedactOptions) -> Result<(Vec<Input>, u64), CommandError> {
    let mut inputs = paths.iter().map(|path| Input::of(path)).collect::<Result<Vec<_>, _>>()?;
    let is_any_redacted = inputs.iter().any(|input| input.digest.is_some());
    if !is_any_redacted && !redact.redact {
        return Ok((inputs, 0));
    }
    let mut not_compared = 0;
    if is_any_redacted {
        report_other_rules(&inputs, redact)?;
    }
    inputs.iter_mut().try_for_each(|input| input.redact(redact))?;
    if let ([left, right, ..], true) = (&mut inputs[..], is_any_redacted) {
        if left.digest.is_some() && right.digest.is_some() {
            left.learn(redact)?;
        }
        let (copy, apart, taken) = twin(left, right)?;
        not_compared = taken;
        left.copy = Some(copy);
        if apart > 0 && redact.key.key_file.is_none() {
            let apart = counted(apart, "message");
            note(&format!("replaced values differ in {apart} that A and B do not share; --key-file avoids that"));
        }
    }
    Ok((inputs, not_compared))
}

/// Reports recordings that were redacted by other rules than those that apply now: what these treat in another way is a
/// difference.
fn report_other_rules(inputs: &[Input], redact: &RedactOptions) -> Result<(), CommandError> {
    let own = redact.key.learner()?.finish().digest();
    let is_other = |input: &&Input| input.digest.as_ref().is_some_and(|digest| *digest != own);
    for input in inputs.iter().filter(is_other) {
        note(&format!("{} was redacted by other rules or settings than the current ones", input.shown.display()));
    }
    Ok(())
}

/// Copies the left recording with the pseudonyms of the right one, as far as both have the same events. Returns the
/// copy, the number of other messages with pseudonyms, and the number of pseudonyms that were replaced.
fn twin(left: &Input, right: &Input) -> Result<(TwicePath, u64, u64), CommandError> {
    let (source, other) = (left.reopened()?, right.reopened()?);
    let mut on_left = Lane::new(source.open()?.reader, source.shown.clone())?;
    let mut on_right = Lane::new(other.open()?.reader, other.shown.clone())?;
    let (mut twins, mut apart) = (Twins::default(), 0);
    let copy = TwicePath::written(&left.shown, |out| {
        let mut writer =
            ReelWriter::create(out, on_left.file_header(), WriterOptions::default()).map_err(CommandError::output)?;
        while let Some(event) = on_left.event() {
            pass_earlier(&mut on_right, event.header)?;
            let twin = on_right.event().filter(|twin| place(twin.header) == place(event.header));
            let is_pair = twin.is_some();
            let payload = match &twin {
                Some(twin) => {
                    let goes_on =
                        left.continued.contains(&event.header.seq) || right.continued.contains(&twin.header.seq);
                    twins.adapted(event.payload, twin.payload, goes_on)
                }
                None => twins.translated(event.payload),
            };
            apart += u64::from(!is_pair && event.header.kind == EventKind::Message && has_mark(event.payload));
            writer.append(NewEvent { payload: &payload, ..event.again() }).map_err(CommandError::output)?;
            on_left.advance()?;
            if is_pair {
                on_right.advance()?;
            }
        }
        writer.finish().map(drop).map_err(CommandError::output)
    })?;
    Ok((copy, apart, twins.taken()))
}

/// What two copies of an event have in common.
fn place(header: &EventHeader) -> (i64, u32, u32, EventKind, Framing) {
    (header.time, header.stream, header.exchange, header.kind, header.framing)
}

/// Passes the events that are earlier than another one.
fn pass_earlier(lane: &mut Lane, header: &EventHeader) -> Result<(), CommandError> {
    while lane.header().is_some_and(|other| other.time < header.time) {
        lane.advance()?;
    }
    Ok(())
}
