//! Writing named files: a regular file is replaced in a single step, and nothing else is ever replaced.
//!
//! The target of a link is replaced, not the link, and keeps its mode and owner. Devices, pipes and open descriptors
//! are written in place.

use super::private;
use super::reels;
use crate::error::CommandError;
use crate::platform::process_table::is_gone;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, fchown};
use std::path::{Path, PathBuf};

/// The mode of a new file with recorded data: only the user can read it.
pub(crate) const PRIVATE: u32 = 0o600;
/// The mode of other new files, before the umask.
pub(crate) const SHARED: u32 = 0o666;

/// A temporary file next to its target, which it replaces in one step. It is removed if dropped before.
#[derive(Debug)]
pub(crate) struct Replacement {
    file: File,
    /// The target, which is not a link.
    target: PathBuf,
    temporary: Option<PathBuf>,
}

impl Replacement {
    /// Creates a temporary file for the target of `path`, with the mode and owner of the existing file, else with
    /// `mode`.
    ///
    /// # Errors
    ///
    /// The target exists and is not a regular file, or the folder cannot be written.
    pub(crate) fn begin(path: &Path, mode: u32) -> io::Result<Self> {
        let target = resolved(path)?;
        let present = present(&target)?;
        remove_leftovers(&target);
        let (file, temporary) = beside(&target, if present.is_some() { PRIVATE } else { mode })?;
        let begun = Self { file, target, temporary: Some(temporary) };
        if let Some(about) = present {
            begun.file.set_permissions(about.permissions())?;
            // Only root may give a file away; for others it is already their own.
            let _ = fchown(&begun.file, Some(about.uid()), Some(about.gid()));
        }
        Ok(begun)
    }

    /// The temporary file, for writing.
    pub(crate) fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Opens what was written so far, for reading.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    #[cfg(feature = "parquet")]
    pub(crate) fn written(&self) -> io::Result<File> {
        File::open(self.temporary.as_deref().unwrap_or(&self.target))
    }

    /// The path of the target.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// Syncs the temporary file and moves it to the target.
    ///
    /// # Errors
    ///
    /// The file cannot be written, or the target is no longer a regular file.
    pub(crate) fn commit(mut self) -> io::Result<()> {
        self.file.sync_all()?;
        present(&self.target)?;
        match self.temporary.take() {
            Some(temporary) => {
                std::fs::rename(&temporary, &self.target).inspect_err(|_| self.temporary = Some(temporary))
            }
            None => Ok(()),
        }
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            let _ = std::fs::remove_file(temporary);
        }
    }
}

/// The target of a path through links. It need not exist.
fn resolved(path: &Path) -> io::Result<PathBuf> {
    /// As many as the kernel follows.
    const MAX_LINKS: usize = 40;
    let mut place = path.to_owned();
    for _ in 0..MAX_LINKS {
        match std::fs::read_link(&place) {
            // A link is relative to its own folder.
            Ok(next) => place = place.parent().unwrap_or(Path::new("")).join(next),
            Err(_) => return Ok(place),
        }
    }
    Err(io::Error::other("too many levels of symbolic links"))
}

/// The metadata of the target, if it exists. It is an error if it must not be replaced.
fn present(target: &Path) -> io::Result<Option<std::fs::Metadata>> {
    match std::fs::symlink_metadata(target) {
        Ok(about) if about.is_file() => Ok(Some(about)),
        Ok(_) => Err(io::Error::other("it is not a regular file, and cannot be replaced")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Removes the temporary files next to the target whose process was killed: it no longer runs, and their lock is free.
fn remove_leftovers(target: &Path) {
    let (Some(folder), Some(name)) = (target.parent(), target.file_name().and_then(OsStr::to_str)) else { return };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_leftover = entry.file_name().to_str().and_then(|other| writer_of(other, name)).is_some_and(is_gone);
        if is_leftover && File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok()) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// The process that writes a temporary file, if this is the name of one for the target.
fn writer_of(temporary: &str, target: &str) -> Option<u32> {
    let middle = temporary.strip_prefix(target)?.strip_prefix('.')?.strip_suffix(".part")?;
    middle.split_once('-').map_or(middle, |(process, _)| process).parse().ok()
}

/// Creates a new temporary file next to the target.
fn beside(target: &Path, mode: u32) -> io::Result<(File, PathBuf)> {
    let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
    for number in 0..100 {
        let mut name = target.file_name().unwrap_or_default().to_owned();
        let number = if number == 0 { String::new() } else { format!("-{number}") };
        name.push(format!(".{}{number}.part", std::process::id()));
        let path = target.with_file_name(name);
        match File::options().write(true).create_new(true).mode(mode).open(&path) {
            Ok(file) => {
                let file = if mode == PRIVATE { private::make_usable(file)? } else { file };
                // Others see by the lock that it is being written. Some file systems have no locks.
                let _ = file.try_lock();
                return Ok((file, path));
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
            Err(error) => return Err(error),
        }
    }
    Err(last)
}

/// Keeps a file under a second name, `NAME` with `ending`, never over another file. Returns that name.
///
/// # Errors
///
/// The file cannot be linked or copied.
pub(crate) fn keep_aside(path: &Path, ending: &str) -> io::Result<PathBuf> {
    let target = resolved(path)?;
    let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
    for number in (0..100).map(|number| if number == 0 { String::new() } else { format!(".{number}") }) {
        let mut name = target.file_name().unwrap_or_default().to_owned();
        name.push(format!("{ending}{number}"));
        let kept = target.with_file_name(name);
        // A hard link, so that the file always has its first name; a copy if the file system has no hard links.
        let done = std::fs::hard_link(&target, &kept).or_else(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Err(error),
            _ => File::options()
                .write(true)
                .create_new(true)
                .open(&kept)
                .and_then(|_| std::fs::copy(&target, &kept).map(|_| ())),
        });
        match done {
            Ok(()) => return Ok(kept),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
            Err(error) => return Err(error),
        }
    }
    Err(last)
}

/// Writes a whole file: replaces a regular file, and writes into anything else.
///
/// # Errors
///
/// The file cannot be written.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), CommandError> {
    let mut out = Output::begin(path, true, SHARED)?;
    out.write_all(bytes).map_err(|error| CommandError::writing(path, &error))?;
    out.finish()
}

/// Fails if an output would replace what it is made from, also through links.
///
/// # Errors
///
/// Both are the same file.
pub(crate) fn check_apart(input: &Path, output: &Path) -> Result<(), CommandError> {
    match (reels::identity(input), reels::identity(output)) {
        (Some(from), Some(to)) if from == to && output.is_file() => {
            Err(CommandError::usage(format!("{} is the input itself", output.display())).hint("write to another file"))
        }
        _ => Ok(()),
    }
}

/// A named file for writing: a regular file is replaced at the end, anything else is written in place; `-` is stdout.
/// If dropped before the end, a regular file is left unchanged.
pub(crate) struct Output {
    to: To,
    written: u64,
    path: PathBuf,
}

enum To {
    /// The temporary file, and the lock on the existing file.
    File(io::BufWriter<Replacement>, Option<File>),
    /// Stdout, a device or a pipe.
    Stream(Box<dyn Write>),
}

impl Output {
    /// Begins a file with recorded data. An existing file is replaced only with `overwrite`.
    ///
    /// # Errors
    ///
    /// The file exists, or cannot be written.
    pub(crate) fn create(path: &Path, overwrite: bool) -> Result<Self, CommandError> {
        Self::begin(path, overwrite, PRIVATE)
    }

    /// Like [`Self::create`], with another mode for a new file.
    ///
    /// # Errors
    ///
    /// The file exists, or cannot be written.
    pub(crate) fn begin(path: &Path, overwrite: bool, mode: u32) -> Result<Self, CommandError> {
        let failed = |error| CommandError::writing(path, &error);
        let to = if path == Path::new("-") {
            To::Stream(Box::new(io::BufWriter::new(io::stdout())))
        } else if reels::is_written_in_place(path) {
            let file = File::options().write(true).open(path).map_err(failed)?;
            To::Stream(Box::new(io::BufWriter::new(file)))
        } else {
            if !overwrite && path.is_file() {
                return Err(CommandError::usage(format!("{} already exists", path.display()))
                    .hint("choose another file, or overwrite it with --force"));
            }
            let present = File::open(path).ok();
            present.iter().try_for_each(|present| reels::lock(present, path))?;
            To::File(io::BufWriter::new(Replacement::begin(path, mode).map_err(failed)?), present)
        };
        Ok(Self { to, written: 0, path: path.to_owned() })
    }

    /// The number of bytes written.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// Whether the file can be restarted, because it has not replaced its target yet.
    pub(crate) fn can_restart(&self) -> bool {
        matches!(self.to, To::File(..))
    }

    /// Discards what was written, unless it was written in place.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub(crate) fn restart(&mut self) -> io::Result<()> {
        if let To::File(out, _) = &mut self.to {
            out.flush()?;
            let file = out.get_mut().file();
            file.set_len(0)?;
            file.seek(SeekFrom::Start(0))?;
            self.written = 0;
        }
        Ok(())
    }

    /// Syncs the file and moves it to its target.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub(crate) fn finish(self) -> Result<(), CommandError> {
        let failed = |error: io::Error| CommandError::writing(&self.path, &error);
        match self.to {
            To::Stream(mut out) => out.flush().map_err(CommandError::output),
            To::File(out, _lock) => {
                let replacement = out.into_inner().map_err(|error| failed(error.into_error()))?;
                replacement.commit().map_err(failed)
            }
        }
    }
}

impl Write for Replacement {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = match &mut self.to {
            To::File(out, _) => out.write(bytes)?,
            To::Stream(out) => out.write(bytes)?,
        };
        self.written += taken as u64;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            To::File(out, _) => out.flush(),
            To::Stream(out) => out.flush(),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    /// The names of the files in a folder, in order.
    pub(crate) fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_link_stays_and_its_target_is_replaced_with_the_mode_it_had() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("sub")).unwrap();
        let (real, link) = (folder.path().join("sub/real"), folder.path().join("link"));
        std::fs::write(&real, "old").unwrap();
        std::fs::set_permissions(&real, PermissionsExt::from_mode(0o640)).unwrap();
        symlink("sub/real", &link).unwrap();
        write_whole(&link, b"new").unwrap();
        assert_eq!(std::fs::read_link(&link).unwrap(), Path::new("sub/real"));
        assert_eq!(std::fs::read(&real).unwrap(), b"new");
        assert_eq!(std::fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(names(&folder.path().join("sub")), ["real"]);
    }

    #[test]
    fn a_link_to_nothing_leads_to_where_the_file_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        symlink("later", &link).unwrap();
        write_whole(&link, b"new").unwrap();
        assert_eq!(std::fs::read(folder.path().join("later")).unwrap(), b"new");
        assert!(link.is_symlink());
        symlink("b", folder.path().join("a")).unwrap();
        symlink("a", folder.path().join("b")).unwrap();
        assert!(Replacement::begin(&folder.path().join("a"), SHARED).is_err());
    }

    #[test]
    fn what_is_no_regular_file_is_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("place");
        let replacement = Replacement::begin(&place, SHARED).unwrap();
        // The folder is created while the file is being written.
        std::fs::create_dir(&place).unwrap();
        assert!(replacement.commit().is_err());
        assert!(Replacement::begin(&place, SHARED).is_err());
        assert!(place.is_dir());
        assert_eq!(names(folder.path()), ["place"]);
    }

    #[test]
    fn the_temporary_files_of_killed_processes_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (place, own) = (folder.path().join("a"), std::process::id());
        let gone = (2..4_000_000).rev().find(|process| is_gone(*process)).unwrap();
        let (killed, second) = (format!("a.{gone}.part"), format!("a.{gone}-3.part"));
        let kept = [format!("a.{own}.part"), format!("a.x{gone}.part"), format!("b.{gone}.part"), format!("a.{gone}")];
        for name in kept.iter().chain([&killed, &second]) {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let locked = File::open(folder.path().join(&second)).unwrap();
        locked.try_lock().unwrap();
        write_whole(&place, b"new").unwrap();
        let mut expected = [&kept[..], &["a".into(), second.clone()]].concat();
        expected.sort();
        assert_eq!(names(folder.path()), expected, "without {killed}");
    }

    #[test]
    fn what_is_kept_aside_takes_no_others_name() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("a");
        std::fs::write(&place, "1").unwrap();
        keep_aside(&place, ".damaged").unwrap();
        assert_eq!(keep_aside(&place, ".damaged").unwrap(), folder.path().join("a.damaged.1"));
        assert_eq!(names(folder.path()), ["a", "a.damaged", "a.damaged.1"]);
    }

    #[test]
    fn an_output_that_begins_anew_forgets_what_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("a");
        let mut out = Output::create(&place, false).unwrap();
        out.write_all(b"much").unwrap();
        out.restart().unwrap();
        out.write_all(b"few").unwrap();
        assert_eq!(out.written(), 3);
        out.finish().unwrap();
        assert_eq!(std::fs::read(&place).unwrap(), b"few");
    }
}
