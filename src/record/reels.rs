//! Opening reels: a path, `-` for standard input, or the newest recording.

use super::places::{Kind, Places, listed};
use crate::error::{CommandError, ErrorKind, Warn};
use crate::session::message_replay::MAX_CONNECTIONS;
use crate::trace::{AheadReader, Event, Item, ReelReader};
use crate::wire::text::visible_text;
use std::fs::{File, TryLockError};
use std::io::{self, IsTerminal};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Hands every event of a reel over, payloads read ahead; damage is told on standard error. Whether there was any.
///
/// # Errors
/// The reel cannot be read, or `take` failed.
pub fn each_event(
    reader: ReelReader,
    path: &Path,
    warn: Warn,
    mut take: impl FnMut(&Event<'_>) -> Result<(), CommandError>,
) -> Result<bool, CommandError> {
    let failed = |error| CommandError::reading(path, &error);
    let mut reader = AheadReader::start(reader.with_payloads()).map_err(failed)?;
    let mut damaged = false;
    while let Some(item) = reader.next().map_err(failed)? {
        match item {
            Item::Damage(damage) => {
                damaged = true;
                warn(&damage.to_string());
            }
            Item::Block(block) => {
                block.events().try_for_each(|event| take(&event))?;
                reader.recycle(block);
            }
        }
    }
    Ok(damaged)
}

/// Says how many events were not looked at, since a reel has too many streams.
pub fn report_left_out(events: u64, warn: Warn) {
    if events > 0 {
        warn(&format!("{events} events are left out: at most {MAX_CONNECTIONS} streams are followed"));
    }
}

/// Where this process keeps recordings.
pub fn folder() -> Result<PathBuf, CommandError> {
    Places::here().reels().into_iter().next().ok_or_else(no_folder)
}

/// There is nothing that says where recordings are kept.
pub fn no_folder() -> CommandError {
    CommandError::usage("there is no folder for recordings: neither XDG_STATE_HOME nor HOME is set")
        .hint("name the reel with -o FILE, or set MCPREEL_HOME")
}

/// A new recording's name: `20261121-205030-NAME-PID.reel`.
pub fn new_name(name: &str) -> String {
    let time = jiff::Zoned::now().strftime("%Y%m%d-%H%M%S").to_string();
    let safe: String = name
        .chars()
        .filter(|found| found.is_ascii_alphanumeric() || matches!(found, '-' | '_' | '.'))
        .take(40)
        .collect();
    let safe = safe.trim_matches('.');
    let stem = if safe.is_empty() { "session" } else { safe };
    format!("{time}-{stem}-{}.reel", std::process::id())
}

/// A new recording's path in the first folder that can be made.
pub fn new_path(name: &str) -> Result<PathBuf, CommandError> {
    let places = Places::here();
    let mut failure = None;
    for folder in places.reels() {
        match std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder) {
            Ok(()) => {
                places.note(Kind::Reels, &folder);
                return Ok(folder.join(new_name(name)));
            }
            Err(error) => drop(failure.get_or_insert_with(|| CommandError::writing(&folder, &error))),
        }
    }
    Err(failure.unwrap_or_else(no_folder))
}

/// The newest recording, wherever one may be.
pub fn newest() -> Result<PathBuf, CommandError> {
    let folders = Places::here().all_reels();
    let entries = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
    entries
        .filter(|entry| entry.path().extension().is_some_and(|extension| extension == "reel"))
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .max()
        .map(|(_, path)| path)
        .ok_or_else(|| {
            let message = match &folders[..] {
                [] => "there is no folder with reels: neither HOME nor MCPREEL_HOME is set".to_owned(),
                folders => format!("there is no reel in {}", listed(folders)),
            };
            CommandError::new(ErrorKind::Input, message)
                .hint("record one: mcpreel record -- SERVER-COMMAND")
                .hint("or name one: mcpreel show FILE.reel")
        })
}

/// Which file is at a path: its device and inode. `None` where there is none.
pub fn identity(path: &Path) -> Option<(u64, u64)> {
    std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

/// Opens the reel named, standard input for `-`, the newest recording for none.
pub fn open(path: Option<&Path>) -> Result<(ReelReader, PathBuf), CommandError> {
    let path = match path {
        Some(path) => path.to_owned(),
        None => newest()?,
    };
    let opened =
        if path == Path::new("-") { ReelReader::from_stream(Box::new(io::stdin())) } else { ReelReader::open(&path) };
    match opened {
        Ok(reader) => Ok((reader, path)),
        Err(error) => Err(CommandError::reel(&path, &error)),
    }
}

/// Opens a reel that is to be read to its end, or as far as its recorder has come. One whose recorder was killed is
/// told, for its last moments may be missing.
pub fn open_whole(path: Option<&Path>, warn: Warn) -> Result<(ReelReader, PathBuf), CommandError> {
    let (reader, path) = open(path)?;
    if !reader.is_finished().map_err(|error| CommandError::reading(&path, &error))? {
        if is_being_written(&path) {
            return Ok((reader.following(), path));
        }
        warn(&format!(
            "{} has no usable index; if its recorder was killed, its last moments may be missing",
            path.display()
        ));
    }
    Ok((reader, path))
}

/// A path as it can stand in a line for people.
pub fn shown(path: &Path) -> String {
    visible_text(&path.display().to_string())
}

/// A reel without a single message, where messages are to be judged.
pub fn without_messages(path: &Path) -> CommandError {
    CommandError::new(ErrorKind::Input, format!("{}: there is no message in it", path.display()))
        .hint("`mcpreel reel info` tells what it holds; a session that never began leaves such a reel")
}

/// Whether a recorder is at work on a reel: it holds the file's lock for as long.
fn is_being_written(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// The reel named, or the newest recording; which one that is, is told on a terminal.
pub fn named_or_newest(path: Option<&Path>, warn: Warn) -> Result<PathBuf, CommandError> {
    if let Some(path) = path {
        return Ok(path.to_owned());
    }
    let path = newest()?;
    if io::stderr().is_terminal() {
        warn(&format!("the newest reel: {}", path.display()));
    }
    Ok(path)
}

/// Whether a path names a device, a pipe or an open descriptor (`/dev/fd/3`, which may stand for a plain file): it is
/// written as it is, neither created nor replaced.
pub fn is_written_in_place(path: &Path) -> bool {
    let descriptors = ["/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/proc"];
    path.exists() && (!path.is_file() || descriptors.iter().any(|place| path.starts_with(place)))
}

/// Creates a reel for a recorder. It may hold what nobody else should read, so it is the user's only; and it is locked
/// for as long as it is open, so that nothing else writes to it meanwhile.
pub fn create(path: &Path, force: bool) -> Result<File, CommandError> {
    let mut options = File::options();
    let in_place = is_written_in_place(path);
    if in_place {
        options.write(true);
    } else {
        // Appended to, so that a reel which somebody cuts stays too short and is noticed.
        options.append(true).create(true).create_new(!force).mode(0o600);
    }
    let file = options.open(path).map_err(|error| {
        if error.kind() == io::ErrorKind::AlreadyExists {
            return CommandError::usage(format!("{} is there already", path.display()))
                .hint("name another file, or remove this one first (`record` takes --force)");
        }
        CommandError::writing(path, &error)
    })?;
    if !in_place {
        lock(&file, path)?;
        file.set_len(0).map_err(|error| CommandError::writing(path, &error))?;
    }
    Ok(file)
}

/// Locks a reel against other writers; an error where a recorder is at work on it.
pub fn lock(file: &File, path: &Path) -> Result<(), CommandError> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            Err(CommandError::usage(format!("{} is being written: a recorder is at work on it", path.display()))
                .hint("wait until the session is over, or write to another file with -o"))
        }
        // Some file systems know no locks.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}
