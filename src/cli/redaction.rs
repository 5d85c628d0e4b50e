//! Redaction for all commands that write something to share: the options, the key, the two passes over a reel.

use super::printer::note;
use super::project;
use super::recordings::twice::TwicePath;
use super::recordings::{self, Recorded, append_gap};
use crate::error::{CommandError, ErrorKind, Warn};
use crate::platform::host_name;
use crate::redact::Settings;
use crate::share::{Learner, LiveRedactor, NOTE, Redactor};
use crate::trace::{Damage, FileHeader, ReelReader, ReelWriter, WriterOptions};
use crate::wire::text::counted;
use clap::Args;
use ring::rand::{SecureRandom, SystemRandom};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Once, OnceLock};

/// The minimum length of a key, in bytes.
const MIN_KEY_BYTES: usize = 16;
/// The minimum number of different bytes in a key. Sixteen random bytes have nine with a probability of 1 - 10^-7.
const MIN_DIFFERENT_BYTES: usize = 8;
/// The maximum length.
const MAX_KEY_BYTES: u64 = 64 << 10;

/// Where the key of pseudonyms comes from.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct KeyOptions {
    /// A file with a key of at least 16 random bytes, which only you can read: the same secret gets the same pseudonym
    /// wherever this key is used (default: a new random key each time). Do not share the key: with it, guesses can be
    /// tested.
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<PathBuf>,
}

/// Redaction of what a command writes.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct RedactOptions {
    /// Replace secrets by pseudonyms, as `mcpreel redact` does.
    #[arg(long)]
    pub redact: bool,
    #[command(flatten)]
    pub key: KeyOptions,
}

impl KeyOptions {
    /// Prepares the first pass with the key, the settings of the project, and the names of this machine.
    ///
    /// # Errors
    ///
    /// The key cannot be read or is too short, or a setting is not valid.
    pub(crate) fn learner(&self) -> Result<Learner, CommandError> {
        self.with(&here(project::settings("redact")?))
    }

    /// Prepares the first pass with the key and these settings.
    ///
    /// # Errors
    ///
    /// As [`Self::learner`].
    pub(crate) fn with(&self, settings: &Settings) -> Result<Learner, CommandError> {
        Learner::new(settings, &self.key()?).map_err(invalid)
    }

    /// Redacts a reel into a file without a name. Also returns what did it, with its report.
    ///
    /// # Errors
    ///
    /// The reel cannot be read, or a setting is not valid.
    pub(crate) fn redacted(&self, source: &TwicePath) -> Result<(TwicePath, Redactor), CommandError> {
        self.note_if_redacted(source)?;
        redacted_by(self.learner()?, source)
    }

    /// Prints a note if a key is given for a reel that is redacted already.
    ///
    /// # Errors
    ///
    /// The reel cannot be read.
    pub(crate) fn note_if_redacted(&self, source: &TwicePath) -> Result<(), CommandError> {
        if self.key_file.is_some() && source.open()?.reader.header().notes.contains_key(NOTE) {
            let reel = source.shown.display();
            note(&format!("{reel} is redacted already: its pseudonyms stay, and the key applies to what is found now"));
        }
        Ok(())
    }

    fn key(&self) -> Result<Vec<u8>, CommandError> {
        let Some(path) = &self.key_file else { return random_key() };
        let mut key = Vec::new();
        let file = File::open(path).map_err(|error| CommandError::reading(path, &error));
        let hint = "make one: (umask 077; head -c 32 /dev/urandom >FILE)";
        if let Ok(file) = &file {
            warn_of_readers(path, file);
        }
        let read = file.and_then(|file| {
            io::Read::read_to_end(&mut io::Read::take(file, MAX_KEY_BYTES), &mut key)
                .map_err(|error| CommandError::reading(path, &error))
        });
        read.map_err(|error| error.hint(hint))?;
        if key.len() < MIN_KEY_BYTES {
            let length = counted(key.len() as u64, "byte");
            return Err(CommandError::usage(format!("the key in {} is too short: {length}", path.display())).hint(hint));
        }
        let different = key.iter().collect::<BTreeSet<_>>().len();
        if different < MIN_DIFFERENT_BYTES {
            let count = counted(different as u64, "different byte");
            let error = format!("the key in {} is not random: it has only {count}", path.display());
            return Err(CommandError::usage(error).hint(hint));
        }
        Ok(key)
    }
}

/// Prints a note if others can read the file of a key.
fn warn_of_readers(path: &Path, file: &File) {
    static ONCE: Once = Once::new();
    let is_open = |about: std::fs::Metadata| about.is_file() && about.mode() & 0o044 != 0;
    if file.metadata().is_ok_and(is_open) {
        let path = path.display();
        ONCE.call_once(|| note(&format!("other users can read the key in {path}; `chmod 600 {path}` prevents that")));
    }
}

/// Returns what makes messages comparable with those of a recording, by its header; `None` if it was not redacted.
///
/// # Errors
///
/// Its settings are not valid.
pub(crate) fn alike(header: &FileHeader) -> Result<Option<LiveRedactor>, CommandError> {
    let settings = Redactor::settings_of(header);
    let learner = settings.map(|settings| Learner::comparing(&here(settings)).map_err(invalid)).transpose()?;
    Ok(learner.map(|learner| learner.finish().live()))
}

/// Adds the names of this machine and its user, and the path of the home folder, to settings.
pub(crate) fn here(settings: Settings) -> Settings {
    let user = std::env::var("USER").or_else(|_| std::env::var("LOGNAME")).ok();
    let home = std::env::var("HOME").ok().map(|home| home.trim_end_matches('/').to_owned());
    Settings { own_user: user, own_host: host_name::get(), own_home: home, ..settings }
}

fn invalid(error: String) -> CommandError {
    CommandError::usage(format!("[redact] in .mcpreel.toml: {error}"))
}

/// A random key, the same one for all reels that a command reads.
fn random_key() -> Result<Vec<u8>, CommandError> {
    static KEY: OnceLock<Vec<u8>> = OnceLock::new();
    let mut key = vec![0; 32];
    SystemRandom::new()
        .fill(&mut key)
        .map_err(|_| CommandError::new(ErrorKind::Internal, "the system has no random numbers"))?;
    Ok(KEY.get_or_init(|| key).clone())
}

impl RedactOptions {
    /// Reads the key and the settings, if the user wants to redact something.
    ///
    /// # Errors
    ///
    /// The key cannot be read, or a setting is not valid.
    #[cfg(feature = "parquet")]
    pub(crate) fn check(&self) -> Result<(), CommandError> {
        if self.redact { self.key.learner().map(drop) } else { Ok(()) }
    }

    /// Opens a recorded session, redacted if the user wants that. If its recorder was killed, `warn` gets a note.
    ///
    /// # Errors
    ///
    /// The session cannot be read, or a setting is not valid.
    pub(crate) fn open(&self, path: &Path, warn: Option<Warn>) -> Result<Recorded, CommandError> {
        match self.redact {
            true => self.redacted(Some(path))?.open(),
            false => recordings::open(path, warn),
        }
    }

    /// Does the same; without a path, with the newest reel.
    ///
    /// # Errors
    ///
    /// As [`Self::open`], or there is no reel.
    pub(crate) fn open_whole(&self, path: Option<&Path>) -> Result<(ReelReader, PathBuf), CommandError> {
        let opened = match self.redact {
            true => self.redacted(path)?.open()?,
            false => recordings::named_or_newest(path, Some(note))?,
        };
        Ok((opened.reader, opened.path))
    }

    /// A recorded session that is read more than once, redacted if the user wants that.
    ///
    /// # Errors
    ///
    /// As [`Self::open_whole`].
    pub(crate) fn twice(&self, path: Option<&Path>) -> Result<TwicePath, CommandError> {
        if self.redact { self.redacted(path) } else { TwicePath::of(path) }
    }

    fn redacted(&self, path: Option<&Path>) -> Result<TwicePath, CommandError> {
        Ok(self.key.redacted(&TwicePath::of(path)?)?.0)
    }
}

/// Redacts a reel into a file without a name. Also returns what did it, with its report.
///
/// # Errors
///
/// The reel cannot be read.
pub(crate) fn redacted_by(mut learner: Learner, source: &TwicePath) -> Result<(TwicePath, Redactor), CommandError> {
    learn(&mut learner, source)?;
    let mut redactor = learner.finish();
    let mut damage = None;
    let mut copy = TwicePath::written(&source.shown, |out| {
        damage = rewrite(&mut redactor, source, out)?.1;
        Ok(())
    })?;
    copy.damage = damage;
    Ok((copy, redactor))
}

/// The first pass over a reel.
///
/// # Errors
///
/// The reel cannot be read.
pub(crate) fn learn(learner: &mut Learner, reel: &TwicePath) -> Result<(), CommandError> {
    let header = reel.open()?.reader.header().clone();
    learner.learn_header(&header);
    reel.each_event(|event| {
        learner.learn(event);
        Ok(())
    })?;
    Ok(())
}

/// The second pass over a reel: writes it without its secrets. Returns the number of events, and the damage in which the
/// reel ends, which becomes a gap.
///
/// # Errors
///
/// The reel cannot be read or is damaged before its end, or writing fails.
pub(crate) fn rewrite(
    redactor: &mut Redactor,
    reel: &TwicePath,
    out: impl Write,
) -> Result<(u64, Option<Damage>), CommandError> {
    let header = redactor.header(reel.open()?.reader.header());
    let mut writer = ReelWriter::create(out, &header, WriterOptions::default()).map_err(CommandError::output)?;
    let mut last_time = 0;
    let damage = reel.each_event(|event| {
        last_time = event.header.time;
        let payload = redactor.payload(event.header, event.payload);
        writer.append(Redactor::event(event.header, event.payload, &payload)).map_err(CommandError::output)
    })?;
    let events = writer.next_seq();
    damage.iter().try_for_each(|damage| append_gap(&mut writer, last_time, damage)).map_err(CommandError::output)?;
    let (mut out, _) = writer.finish().map_err(CommandError::output)?;
    out.flush().map_err(CommandError::output)?;
    Ok((events, damage))
}

/// The first line of a text that cannot be read, and the number of other parts that cannot, if there is one.
type Unreadable = Option<(u64, u64)>;

/// The second pass without a result: only counts what is found. Returns the damage in which the reel ends, and of a text the
/// first line that cannot be read and how many other parts cannot. In a reel, a gap hides nothing.
///
/// # Errors
///
/// The reel cannot be read or is damaged before its end.
pub(crate) fn count(redactor: &mut Redactor, reel: &TwicePath) -> Result<(Option<Damage>, Unreadable), CommandError> {
    let (opened, mut unreadable) = (reel.open()?, None);
    redactor.header(opened.reader.header());
    let damage = reel.each_event(|event| {
        redactor.count(event.header, event.payload);
        if opened.format.is_some()
            && let Some((line, _)) = recordings::unreadable(event.header.kind, event.payload)
        {
            unreadable = Some(unreadable.map_or((line, 0), |(first, others)| (first, others + 1)));
        }
        Ok(())
    })?;
    Ok((damage, unreadable))
}
