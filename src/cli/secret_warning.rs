//! Notes what looks like a secret in everything that a command prints or writes without redaction.

use super::own_line::own_words;
use super::printer::{Printer, note};
use super::recordings::twice::TwicePath;
use super::redaction::{RedactOptions, learn};
use crate::error::CommandError;
use crate::files::reels;
use crate::render::line::bytes;
use crate::share::{Learner, NOTE, Redactor};
use crate::trace::{Event, EventHeader, FileHeader};
use crate::wire::text::counted;
use serde_json::Value;
use std::borrow::Cow;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// At most this much is searched: finding secrets takes far longer than printing. Unit: bytes.
const MOST_SEARCHED: u64 = 8_000_000;
/// As much is searched if there are secrets in it. Unit: bytes.
const ENOUGH_SEARCHED: u64 = 1_000_000;
/// An event counts as at least this much. Unit: bytes.
const EVENT_COST: u64 = 256;

/// Counts the secrets in what a command prints or writes.
pub(crate) struct SecretWarning {
    /// What finds them; `None` if nothing has to be counted.
    redaction: Option<Redactor>,
    /// How much was searched, in bytes.
    searched: u64,
    /// Whether something was not searched.
    is_partial: bool,
}

impl SecretWarning {
    /// Prepares the count. What is redacted needs none.
    ///
    /// # Errors
    ///
    /// A setting is not valid.
    pub(crate) fn new(options: &RedactOptions) -> Result<Self, CommandError> {
        let counting = Self::counting(options)?.map(Learner::keeping_pseudonyms);
        Ok(Self::with(counting.map(Learner::finish)))
    }

    fn with(redaction: Option<Redactor>) -> Self {
        Self { redaction, searched: 0, is_partial: false }
    }

    fn counting(options: &RedactOptions) -> Result<Option<Learner>, CommandError> {
        if options.redact { Ok(None) } else { options.key.learner().map(Some) }
    }

    /// Prepares the count for a reel's events. A reel that was redacted by the same rules needs none.
    ///
    /// # Errors
    ///
    /// A setting is not valid.
    pub(crate) fn of_reel(options: &RedactOptions, header: &FileHeader) -> Result<Self, CommandError> {
        let mut warning = Self::with(Self::counting(options)?.map(Learner::finish));
        let is_redacted = |redaction: &mut Redactor| header.notes.get(NOTE) == Some(&redaction.digest());
        warning.redaction.take_if(is_redacted);
        if let Some(redaction) = &mut warning.redaction {
            redaction.header(header);
        }
        Ok(warning)
    }

    /// The same as [`Self::new`], for what goes to stdout.
    ///
    /// # Errors
    ///
    /// As [`Self::new`].
    pub(crate) fn of_output(options: &RedactOptions, printer: &Printer) -> Result<Self, CommandError> {
        if is_only_seen(printer) { Ok(Self::with(None)) } else { Self::new(options) }
    }

    /// The same as [`Self::of_reel`], for events that go to stdout.
    ///
    /// # Errors
    ///
    /// As [`Self::of_reel`].
    pub(crate) fn of_printed_reel(
        options: &RedactOptions,
        header: &FileHeader,
        printer: &Printer,
    ) -> Result<Self, CommandError> {
        if is_only_seen(printer) { Ok(Self::with(None)) } else { Self::of_reel(options, header) }
    }

    /// Counts the secrets of an event.
    pub(crate) fn take(&mut self, event: &Event<'_>) {
        self.take_part(event.header, event.payload);
    }

    /// Counts the secrets of a part of an event.
    pub(crate) fn take_part(&mut self, header: &EventHeader, part: &[u8]) {
        if let Some(redaction) = self.searching(part.len()) {
            redaction.count(header, part);
        }
    }

    /// Counts the secrets in a report, or in a part of it.
    pub(crate) fn take_text(&mut self, text: &str) {
        if let Some(redaction) = self.searching(text.len()) {
            redaction.text(text);
        }
    }

    /// What finds secrets in something of this length, unless enough was searched.
    fn searching(&mut self, length: usize) -> Option<&mut Redactor> {
        let redaction = self.redaction.as_mut()?;
        let most = if redaction.report().different() > 0 { ENOUGH_SEARCHED } else { MOST_SEARCHED };
        self.is_partial |= self.searched >= most;
        self.searched += EVENT_COST.max(length as u64);
        Some(redaction).filter(|_| !self.is_partial)
    }

    /// Prints a note if there were secrets in a report.
    pub(crate) fn print(&self) {
        if let Some(count) = self.found() {
            note(&format!("the report contains {count}; --redact replaces secrets"));
        }
    }

    /// Prints a note if there were secrets in the reel of this path.
    pub(crate) fn print_of_reel(&self, path: &Path) {
        if let Some(count) = self.found() {
            let name = reels::shown(path);
            note(&format!("{count} found in {name}; --redact replaces secrets, `mcpreel redact --check` lists them"));
        } else if self.is_partial {
            let (searched, name) = (bytes(MOST_SEARCHED), reels::shown(path));
            note(&format!(
                "the first {searched} of {name} have no secrets; `mcpreel redact --check` searches all of it"
            ));
        }
    }

    fn found(&self) -> Option<String> {
        let count = self.redaction.as_ref().map_or(0, |redaction| redaction.report().different());
        let least = if self.is_partial { "at least " } else { "" };
        (count > 0).then(|| format!("{least}{}", counted(count, "possible secret")))
    }
}

/// Whether stdout is a terminal, which is not shared, or a device, where everything is gone.
fn is_only_seen(printer: &Printer) -> bool {
    let is_device = || std::fs::metadata("/dev/stdout").is_ok_and(|about| about.file_type().is_char_device());
    printer.is_terminal || is_device()
}

impl RedactOptions {
    /// Prints a note if a report that is not redacted contains what looks like a secret. The paths of the files that are
    /// reported on are none.
    ///
    /// # Errors
    ///
    /// A setting is not valid.
    pub(crate) fn warn_of_report(&self, report: &str) -> Result<(), CommandError> {
        let mut warning = SecretWarning::new(self)?;
        warning.take_text(&without_own_paths(report));
        warning.print();
        Ok(())
    }

    /// The same for a text that goes to stdout, unless it is only seen there.
    ///
    /// # Errors
    ///
    /// A setting is not valid.
    pub(crate) fn warn_of_text(&self, text: &str, printer: &Printer) -> Result<(), CommandError> {
        if is_only_seen(printer) { Ok(()) } else { self.warn_of_report(text) }
    }
}

/// The shortest path that is left out of a report. Unit: bytes.
const SHORTEST_PATH: usize = 8;

/// Returns a report without the paths of files in the command line, and of the folder of reels: the user chose them, or
/// mcpreel did.
fn without_own_paths(report: &str) -> Cow<'_, str> {
    let words = own_words().into_iter().map(PathBuf::from).filter(|word| word.exists());
    let folders = words.flat_map(|word| [Some(word.clone()), word.parent().map(Path::to_owned)]).flatten();
    let own = folders.chain(reels::folder().ok()).map(|path| path.display().to_string());
    let own = own.filter(|path| path.len() >= SHORTEST_PATH && path.contains('/') && report.contains(path.as_str()));
    own.fold(Cow::Borrowed(report), |report, path| Cow::Owned(report.replace(&path, "")))
}

/// What a command prints or writes bit by bit: without its secrets, if the user wants that; otherwise, they are counted.
pub(crate) struct Shared {
    /// What learns secrets until the first text is printed; `None` if the texts are only seen.
    learner: Option<Learner>,
    /// What finds them from then on.
    redactor: Option<Redactor>,
    replaces: bool,
}

impl Shared {
    /// Prepares the texts of a report. Text that is only seen is not shared.
    ///
    /// # Errors
    ///
    /// A setting is not valid.
    pub(crate) fn new(options: &RedactOptions, is_only_seen: bool) -> Result<Self, CommandError> {
        let is_needed = options.redact || !is_only_seen;
        let learner = is_needed.then(|| options.key.learner()).transpose()?;
        // What is only counted may come from a redacted reel.
        let learner = if options.redact { learner } else { learner.map(Learner::keeping_pseudonyms) };
        Ok(Self { learner, redactor: None, replaces: options.redact })
    }

    /// Learns the secrets of a recording that is reported on, if they are replaced.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub(crate) fn learn(&mut self, reel: &Path) -> Result<(), CommandError> {
        match self.learner.as_mut().filter(|_| self.replaces) {
            Some(learner) => learn(learner, &TwicePath::of(Some(reel))?),
            None => Ok(()),
        }
    }

    /// Learns the secrets of a message that is reported on, if they are replaced.
    pub(crate) fn learn_message(&mut self, message: &[u8]) {
        if let Some(learner) = self.learner.as_mut().filter(|_| self.replaces) {
            learner.learn_line(0, message);
        }
    }

    fn redactor(&mut self) -> Option<&mut Redactor> {
        self.redactor = self.learner.take().map(Learner::finish).or(self.redactor.take());
        self.redactor.as_mut()
    }

    /// Returns a text as it is to be printed.
    pub(crate) fn text(&mut self, text: String) -> String {
        let Some(redactor) = self.redactor() else { return text };
        let redacted = redactor.text(&text);
        if self.replaces { redacted } else { text }
    }

    /// Returns a value as it is to be printed.
    pub(crate) fn json(&mut self, value: Value) -> Value {
        let text = self.text(value.to_string());
        if self.replaces { serde_json::from_str(&text).unwrap_or(value) } else { value }
    }

    /// Returns the payload of an event that is reported on. Its secrets are counted when they are reported.
    pub(crate) fn payload<'a>(&mut self, event: &Event<'a>) -> Cow<'a, [u8]> {
        let replaces = self.replaces;
        match self.redactor().filter(|_| replaces) {
            Some(redactor) => redactor.payload(event.header, event.payload),
            None => Cow::Borrowed(event.payload),
        }
    }

    /// Prints a note if there were secrets, and says what replaces them.
    pub(crate) fn print(&self) {
        let count = self.redactor.as_ref().filter(|_| !self.replaces).map_or(0, |found| found.report().different());
        if count > 0 {
            note(&format!("the report contains {}; --redact replaces secrets", counted(count, "possible secret")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::Settings;

    #[test]
    fn a_search_ends_after_some_megabytes_and_sooner_if_it_has_found_something() {
        let redaction = || Learner::new(&Settings::default(), b"a key of sixteen").expect("no settings").finish();
        let mut clean = SecretWarning::with(Some(redaction()));
        let most = MOST_SEARCHED / 1000;
        assert!((0..most).all(|_| clean.searching(1000).is_some()) && !clean.is_partial);
        assert!(clean.searching(1).is_none() && clean.is_partial && clean.found().is_none());
        let mut found = SecretWarning::with(Some(redaction()));
        found.take_text("DB_PASSWORD=q9w8e7r6t5y4u3i2");
        assert_eq!(found.found().as_deref(), Some("1 possible secret"));
        let most = usize::try_from(ENOUGH_SEARCHED).expect("fits");
        assert!(found.searching(most).is_some() && found.searching(1).is_none());
        assert_eq!(found.found().as_deref(), Some("at least 1 possible secret"));
        let mut small = SecretWarning::with(Some(redaction()));
        let events = MOST_SEARCHED / EVENT_COST;
        assert!((0..events).all(|_| small.searching(1).is_some()) && small.searching(1).is_none());
    }
}
