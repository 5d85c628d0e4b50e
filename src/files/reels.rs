//! Opening reels: a path, `-` for stdin, or the newest reel.

use super::places::{Kind, Places, entries, listed};
use super::private;
use crate::error::{CommandError, ErrorKind, Warn};
use crate::session::LeftOut;
use crate::session::message_replay::MAX_CONNECTIONS;
use crate::trace::{AheadReader, Event, Item, ReelReader};
use crate::wire::text::{counted, visible_text};
use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Passes every event of a reel to `take`, with payloads, and the position in the file to `reach`. Damage is reported to
/// stderr. Returns whether there was any.
///
/// # Errors
///
/// The reel cannot be read, or `take` fails.
pub(crate) fn each_event(
    reader: ReelReader,
    path: &Path,
    warn: Warn,
    mut reach: impl FnMut(u64),
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
                reach(block.offset);
                block.events().try_for_each(|event| take(&event))?;
                reader.recycle(block);
            }
        }
    }
    Ok(damaged)
}

/// Reports what was skipped because the reel has too many streams, or a message too many values.
pub(crate) fn report_left_out(left_out: LeftOut, warn: Warn) {
    let LeftOut { events, messages } = left_out;
    if events > 0 {
        warn(&format!("skipped {}: at most {MAX_CONNECTIONS} streams are followed", counted(events, "event")));
    }
    if messages > 0 {
        let messages = counted(messages, "message");
        warn(&format!("did not look into {messages} with too many values to be read into memory"));
    }
}

/// The folder of reels of this process.
///
/// # Errors
///
/// Nothing determines the folder.
pub(crate) fn folder() -> Result<PathBuf, CommandError> {
    Places::here().reels().into_iter().next().ok_or_else(no_folder)
}

/// An error: nothing determines the folder of reels.
pub(crate) fn no_folder() -> CommandError {
    CommandError::usage("no folder for reels: neither XDG_STATE_HOME nor HOME is set")
        .hint("choose a file with -o FILE, or set MCPREEL_HOME")
}

/// The file name of a new reel: `20261121-205030-NAME-PID.reel`.
pub(crate) fn new_name(name: &str) -> String {
    let time = name_time();
    let safe: String = name
        .chars()
        .filter(|found| found.is_ascii_alphanumeric() || matches!(found, '-' | '_' | '.'))
        .take(40)
        .collect();
    let safe = safe.trim_matches('.');
    let stem = if safe.is_empty() { "session" } else { safe };
    format!("{time}-{stem}-{}.reel", std::process::id())
}

/// What a pattern in the name of a reel stands for: `{time}`, `{pid}`, and what `value` knows. Two braces are one.
///
/// # Errors
///
/// The name of an unknown pattern.
pub(crate) fn with_patterns(text: &str, value: impl Fn(&str) -> Option<String>) -> Result<String, String> {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(['{', '}']) {
        let (before, brace) = (&rest[..at], &rest[at..]);
        out.push_str(before);
        let is_double = brace.starts_with("{{") || brace.starts_with("}}");
        let name = brace.strip_prefix('{').and_then(|inner| inner.split_once('}'));
        rest = match name {
            _ if is_double => {
                out.push_str(&brace[..1]);
                &brace[2..]
            }
            Some((name, after)) => {
                out.push_str(&value(name).ok_or_else(|| format!("{{{name}}}"))?);
                after
            }
            None => {
                out.push_str(&brace[..1]);
                &brace[1..]
            }
        };
    }
    out.push_str(rest);
    Ok(out)
}

/// The time as in names of reels: `20261121-205030`.
pub(crate) fn name_time() -> String {
    jiff::Zoned::now().strftime("%Y%m%d-%H%M%S").to_string()
}

/// The path of a new reel, in the first folder that can be created.
///
/// # Errors
///
/// No folder can be created.
pub(crate) fn new_path(name: &str) -> Result<PathBuf, CommandError> {
    let places = Places::here();
    let mut failure = None;
    for folder in places.reels() {
        match private::create_folder(&folder) {
            Ok(()) => {
                places.note(Kind::Reels, &folder);
                return Ok(folder.join(new_name(name)));
            }
            Err(error) => drop(failure.get_or_insert_with(|| CommandError::writing(&folder, &error))),
        }
    }
    let hint = "name the reel (-o FILE or --record FILE), or set MCPREEL_HOME to a folder that can be written";
    Err(failure.map_or_else(no_folder, |failure| failure.hint(hint)))
}

/// The newest reel in the folders that readers search.
///
/// # Errors
///
/// No folder contains a reel.
pub(crate) fn newest() -> Result<PathBuf, CommandError> {
    let folders = Places::here().all_reels();
    newest_in(&folders).map(|(_, path)| path).ok_or_else(|| {
        let message = match &folders[..] {
            [] => "no folder with reels: neither HOME nor MCPREEL_HOME is set".to_owned(),
            folders => format!("no reels found in {}", listed(folders)),
        };
        CommandError::new(ErrorKind::Input, message)
            .hint("record one: mcpreel record -- SERVER-COMMAND")
            .hint("or name a file: mcpreel show FILE.reel")
    })
}

/// The newest reel of other homes, if it is newer than all in ours.
pub(crate) fn newer_elsewhere() -> Option<PathBuf> {
    let places = Places::here();
    let (time, path) = newest_in(&places.other_reels())?;
    newest_in(&places.all_reels()).is_none_or(|(own, _)| own < time).then_some(path)
}

fn newest_in(folders: &[PathBuf]) -> Option<(SystemTime, PathBuf)> {
    let reels = entries(folders).filter(|entry| entry.path().extension().is_some_and(|extension| extension == "reel"));
    reels.filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path()))).max()
}

/// Returns the path of a reel that a user named: a bare name that is no file here is looked for in all folders with reels.
pub(crate) fn found(path: &Path) -> PathBuf {
    let is_elsewhere = path.parent() == Some(Path::new("")) && path != Path::new("-") && !path.exists();
    let there = || Places::here().all_reels().into_iter().map(|folder| folder.join(path)).find(|path| path.is_file());
    is_elsewhere.then(there).flatten().or_else(|| with_ending(path)).unwrap_or_else(|| path.to_owned())
}

/// The reel whose name is given without its ending, here or in the folders of reels.
fn with_ending(path: &Path) -> Option<PathBuf> {
    let is_bare = path.parent() == Some(Path::new("")) && path.extension().is_none() && path != Path::new("-");
    let named = (is_bare && !path.exists()).then(|| path.with_extension("reel"))?;
    let folders = std::iter::once(PathBuf::new()).chain(Places::here().all_reels());
    folders.map(|folder| folder.join(&named)).find(|path| path.is_file())
}

/// Identifies the file at a path by device and inode. `None` if it does not exist.
pub(crate) fn identity(path: &Path) -> Option<(u64, u64)> {
    std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

/// Opens the named reel; `-` is stdin.
///
/// # Errors
///
/// The reel cannot be read.
pub(crate) fn open(path: &Path) -> Result<(ReelReader, PathBuf), CommandError> {
    let path = found(path);
    let opened =
        if path == Path::new("-") { ReelReader::from_stream(Box::new(io::stdin())) } else { ReelReader::open(&path) };
    match opened {
        Ok(reader) => Ok((reader, path)),
        Err(error) => Err(CommandError::reel(&path, &error)),
    }
}

/// Prepares a reel to be read to its end, or as far as its recorder has written. If the recorder was killed, that is
/// reported, because the last events may be missing.
///
/// # Errors
///
/// The reel cannot be read.
pub(crate) fn whole(reader: ReelReader, path: &Path, warn: Warn) -> Result<ReelReader, CommandError> {
    if reader.is_finished().map_err(|error| CommandError::reading(path, &error))? {
        return Ok(reader);
    }
    if is_being_written(path) {
        return Ok(reader.following());
    }
    report_missing_end(path, warn);
    Ok(reader)
}

/// Reports that a reel has no end mark although nothing writes it any more.
pub(crate) fn report_missing_end(path: &Path, warn: Warn) {
    warn(&format!(
        "{} has no usable index; if its recorder was killed, the last events may be missing",
        path.display()
    ));
}

/// A path as text for output on one line.
pub(crate) fn shown(path: &Path) -> String {
    visible_text(&path.display().to_string())
}

/// An error: a reel that is to be judged contains no messages.
pub(crate) fn without_messages(path: &Path) -> CommandError {
    CommandError::new(ErrorKind::Input, format!("{}: no messages", path.display()))
        .hint("`mcpreel reel info` shows its content; a session that never began leaves such a reel")
}

/// Whether a recorder is writing the reel: it holds a lock on the file.
pub(crate) fn is_being_written(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// Whether no recorder is writing the reel, although it is a file. `false` also where files cannot be locked.
pub(crate) fn is_abandoned(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| file.try_lock_shared().is_ok())
}

/// Whether a path is a device, a pipe or an open descriptor (`/dev/fd/3`, which may be a regular file). Those are
/// written in place, neither created nor replaced.
pub(crate) fn is_written_in_place(path: &Path) -> bool {
    let descriptors = ["/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/proc"];
    path.exists() && (!path.is_file() || descriptors.iter().any(|place| path.starts_with(place)))
}

/// Creates a reel for a recorder. Only the user can read it, and it is locked while it is open, so that nothing else
/// writes to it.
///
/// # Errors
///
/// The file exists, or cannot be written or locked.
pub(crate) fn create(path: &Path, force: bool) -> Result<File, CommandError> {
    let mut options = File::options();
    let in_place = is_written_in_place(path);
    if in_place {
        options.write(true);
    } else {
        // Append mode, so that a reel that is truncated stays too short and the damage is noticed.
        options.append(true).create(true).create_new(!force).mode(0o600);
    }
    let file = options.open(path).map_err(|error| {
        if error.kind() == io::ErrorKind::AlreadyExists {
            return CommandError::usage(format!("{} already exists", path.display()))
                .hint("choose another file, or overwrite it with --force");
        }
        CommandError::writing(path, &error)
    })?;
    let file = if in_place { Ok(file) } else { private::make_usable(file) };
    let file = file.map_err(|error| CommandError::writing(path, &error))?;
    if !in_place {
        lock(&file, path)?;
        file.set_len(0).map_err(|error| CommandError::writing(path, &error))?;
    }
    Ok(file)
}

/// Locks a reel against other writers.
///
/// # Errors
///
/// A recorder is writing it.
pub(crate) fn lock(file: &File, path: &Path) -> Result<(), CommandError> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            Err(CommandError::usage(format!("{} is being written by a recorder", path.display()))
                .hint("wait until the session is over, or write to another file with -o"))
        }
        // Some file systems have no locks.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_replaced_and_unknown_ones_refused() {
        let value = |name: &str| (name == "label").then(|| "nightly".to_owned());
        let name = |text: &str| with_patterns(text, value);
        assert_eq!(name("a-{label}-{label}.reel").as_deref(), Ok("a-nightly-nightly.reel"));
        assert_eq!(name("plain.reel").as_deref(), Ok("plain.reel"));
        assert_eq!(name("{{label}}-} {").as_deref(), Ok("{label}-} {"));
        assert_eq!(name("{date}.reel"), Err("{date}".to_owned()));
        assert_eq!(name("é{label}é").as_deref(), Ok("énightlyé"));
    }
}
