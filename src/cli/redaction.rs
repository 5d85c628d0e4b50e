//! Redaction for all commands that write something to share: the options, the key, the two passes over a reel.

use super::printer::note;
use super::project;
use crate::error::{CommandError, ErrorKind};
use crate::files::reels;
use crate::redact::Settings;
use crate::share::{NOTE, Redaction};
use crate::trace::{Event, Item, ReelReader, ReelWriter, WriterOptions};
use crate::wire::text::counted;
use clap::Args;
use ring::rand::{SecureRandom, SystemRandom};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The minimum length of a key, in bytes.
const MIN_KEY_BYTES: usize = 16;
/// The maximum length.
const MAX_KEY_BYTES: u64 = 64 << 10;

/// Where the key of pseudonyms comes from.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct KeyOptions {
    /// A file with a key of at least 16 random bytes: the same secret gets the same pseudonym wherever this key is used
    /// (default: a new random key each time).
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
    /// Prepares a redaction with the key, the settings of the project, and the names of this machine.
    ///
    /// # Errors
    ///
    /// The key cannot be read or is too short, or a setting is not valid.
    pub(crate) fn redaction(&self) -> Result<Redaction, CommandError> {
        self.with(&here(project::settings("redact")?))
    }

    /// Prepares a redaction with the key and these settings.
    ///
    /// # Errors
    ///
    /// As [`Self::redaction`].
    pub(crate) fn with(&self, settings: &Settings) -> Result<Redaction, CommandError> {
        Redaction::new(settings, &self.key()?)
            .map_err(|error| CommandError::usage(format!("[redact] in .mcpreel.toml: {error}")))
    }

    fn key(&self) -> Result<Vec<u8>, CommandError> {
        let Some(path) = &self.key_file else { return random_key() };
        let mut key = Vec::new();
        let file = File::open(path).map_err(|error| CommandError::reading(path, &error));
        let hint = "make one: head -c 32 /dev/urandom >FILE";
        let read = file.and_then(|file| {
            io::Read::read_to_end(&mut io::Read::take(file, MAX_KEY_BYTES), &mut key)
                .map_err(|error| CommandError::reading(path, &error))
        });
        read.map_err(|error| error.hint(hint))?;
        if key.len() < MIN_KEY_BYTES {
            let length = counted(key.len() as u64, "byte");
            return Err(CommandError::usage(format!("the key in {} is too short: {length}", path.display())).hint(hint));
        }
        Ok(key)
    }
}

/// Adds the names of this machine and its user to settings.
pub(crate) fn here(settings: Settings) -> Settings {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").ok().map(|name| name.trim().to_owned());
    let user = std::env::var("USER").or_else(|_| std::env::var("LOGNAME")).ok();
    Settings { own_user: user, own_host: host, ..settings }
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
    /// Opens a reel that is read to its end, redacted if the user wants that.
    ///
    /// # Errors
    ///
    /// The reel cannot be read, or a setting is not valid.
    pub(crate) fn open_whole(&self, reel: Option<&Path>) -> Result<(ReelReader, PathBuf), CommandError> {
        if !self.redact {
            return reels::open_whole(reel, note);
        }
        let (file, shown) = self.redacted(reel)?;
        Ok((opened(&file, &shown)?, shown))
    }

    /// Like [`Self::open_whole`]; if the reel is redacted, also returns a second reader of the result.
    ///
    /// # Errors
    ///
    /// The reel cannot be read, or a setting is not valid.
    pub(crate) fn open_twice(
        &self,
        reel: Option<&Path>,
    ) -> Result<(ReelReader, PathBuf, Option<ReelReader>), CommandError> {
        if !self.redact {
            return reels::open_whole(reel, note).map(|(reader, path)| (reader, path, None));
        }
        let (file, shown) = self.redacted(reel)?;
        Ok((opened(&file, &shown)?, shown.clone(), Some(opened(&file, &shown)?)))
    }

    /// Redacts a reel into a file without a name. Returns the file, and the reel's path for display.
    fn redacted(&self, reel: Option<&Path>) -> Result<(File, PathBuf), CommandError> {
        let source = TwicePath::of(reel)?;
        let file = unnamed_file().map_err(|error| CommandError::writing(&std::env::temp_dir(), &error))?;
        let mut redaction = self.key.redaction()?;
        learn(&mut redaction, &source)?;
        let mut out = BufWriter::new(&file);
        rewrite(&mut redaction, &source, &mut out)?;
        out.flush().map_err(CommandError::output)?;
        drop(out);
        Ok((file, source.shown))
    }

    /// Opens a reel for an export. If the export is not redacted and the reel has secrets, a note says so.
    ///
    /// # Errors
    ///
    /// The reel cannot be read, or a setting is not valid.
    pub(crate) fn open_export(&self, reel: Option<&Path>) -> Result<(ReelReader, PathBuf), CommandError> {
        let (reader, path) = self.open_whole(reel)?;
        if !self.redact && path.is_file() {
            self.warn(&reader, &path)?;
        }
        Ok((reader, path))
    }

    fn warn(&self, reader: &ReelReader, path: &Path) -> Result<(), CommandError> {
        let mut redaction = self.key.redaction()?;
        if reader.header().notes.get(NOTE) == Some(&redaction.digest()) {
            return Ok(());
        }
        let source = TwicePath { opened: path.to_owned(), shown: path.to_owned(), _spooled: None };
        redaction.header(reader.header());
        // Damage is reported when the reel is exported.
        let _ = source.each_event(|event| {
            redaction.payload(event.header, event.payload);
            Ok(())
        });
        match redaction.report().count() {
            0 => {}
            count => note(&format!(
                "{} found in {}; --redact replaces secrets, `mcpreel redact --check` lists them",
                counted(count, "possible secret"),
                reels::shown(path)
            )),
        }
        Ok(())
    }
}

/// A reel that can be read twice: a file, or a copy of stdin without a name.
pub(crate) struct TwicePath {
    opened: PathBuf,
    /// The path as the user knows it.
    pub shown: PathBuf,
    _spooled: Option<File>,
}

impl TwicePath {
    /// The named reel, stdin, or the newest reel.
    ///
    /// # Errors
    ///
    /// There is no reel, or stdin cannot be read.
    pub(crate) fn of(reel: Option<&Path>) -> Result<Self, CommandError> {
        let shown = match reel {
            Some(path) => path.to_owned(),
            None => reels::newest()?,
        };
        if shown.is_file() {
            return Ok(Self { opened: shown.clone(), shown, _spooled: None });
        }
        let failed = |error: io::Error| CommandError::reading(&shown, &error);
        let mut from: Box<dyn io::Read> = match shown == Path::new("-") {
            true => Box::new(io::stdin()),
            false => Box::new(File::open(&shown).map_err(failed)?),
        };
        let mut file = unnamed_file().map_err(failed)?;
        io::copy(&mut from, &mut file).map_err(failed)?;
        Ok(Self { opened: path_of(&file), shown, _spooled: Some(file) })
    }
}

impl TwicePath {
    /// Opens the reel.
    ///
    /// # Errors
    ///
    /// The reel cannot be read.
    pub(crate) fn open(&self) -> Result<ReelReader, CommandError> {
        ReelReader::open(&self.opened).map_err(|error| CommandError::reel(&self.shown, &error))
    }

    /// Passes on every event. A damaged reel is refused, because nobody could say what the damage hides.
    ///
    /// # Errors
    ///
    /// The reel cannot be read or is damaged, or `take` fails.
    pub(crate) fn each_event(
        &self,
        mut take: impl FnMut(&Event<'_>) -> Result<(), CommandError>,
    ) -> Result<(), CommandError> {
        let mut reader = self.open()?.with_payloads();
        while let Some(item) = reader.next().map_err(|error| CommandError::reading(&self.shown, &error))? {
            match item {
                Item::Damage(damage) if damage.of_index || damage.at_end => {}
                Item::Damage(damage) => {
                    return Err(CommandError::new(ErrorKind::Input, format!("{}: {damage}", self.shown.display()))
                        .hint("`mcpreel reel repair` writes an intact reel from what can be read"));
                }
                Item::Block(block) => {
                    block.events().try_for_each(|event| take(&event))?;
                    reader.recycle(block);
                }
            }
        }
        Ok(())
    }
}

/// A file without a name, which is gone when it is closed.
fn unnamed_file() -> io::Result<File> {
    let folder = std::env::temp_dir();
    let path = folder.join(format!("mcpreel-{}-{}", std::process::id(), fastrand::u64(..)));
    let file = File::options().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

fn opened(file: &File, shown: &Path) -> Result<ReelReader, CommandError> {
    ReelReader::open(&path_of(file)).map_err(|error| CommandError::reel(shown, &error))
}

fn path_of(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// The first pass over a reel.
///
/// # Errors
///
/// The reel cannot be read.
pub(crate) fn learn(redaction: &mut Redaction, reel: &TwicePath) -> Result<(), CommandError> {
    let header = reel.open()?.header().clone();
    redaction.learn_header(&header);
    reel.each_event(|event| {
        redaction.learn(event);
        Ok(())
    })?;
    redaction.end_learning();
    Ok(())
}

/// The second pass over a reel: writes it without its secrets. Returns the number of events.
///
/// # Errors
///
/// The reel cannot be read or is damaged, or writing fails.
pub(crate) fn rewrite(redaction: &mut Redaction, reel: &TwicePath, out: impl Write) -> Result<u64, CommandError> {
    let header = redaction.header(reel.open()?.header());
    let mut writer = ReelWriter::create(out, &header, WriterOptions::default()).map_err(CommandError::output)?;
    reel.each_event(|event| {
        let payload = redaction.payload(event.header, event.payload);
        writer.append(Redaction::event(event.header, event.payload, &payload)).map_err(CommandError::output)
    })?;
    let events = writer.next_seq();
    let (mut out, _) = writer.finish().map_err(CommandError::output)?;
    out.flush().map_err(CommandError::output)?;
    Ok(events)
}

/// The second pass without a result: only counts what is found.
///
/// # Errors
///
/// The reel cannot be read or is damaged.
pub(crate) fn count(redaction: &mut Redaction, reel: &TwicePath) -> Result<(), CommandError> {
    redaction.header(reel.open()?.header());
    reel.each_event(|event| {
        redaction.payload(event.header, event.payload);
        Ok(())
    })
}
