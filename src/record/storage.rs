//! Where recordings are written: files with free names, which never replace other files and are watched while they
//! grow; or a single pipe, device or descriptor.

use crate::files::created::CreatedFile;
use crate::files::private;
use crate::platform::file_size_limit;
use rustix::fs::fstat;
use std::fmt;
use std::fs::{File, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Where a reel is written.
pub(crate) trait Sink: Write + Send {
    /// Makes `offset` the end again after a failed write.
    ///
    /// # Errors
    /// The sink cannot be truncated.
    fn rewind_to(&mut self, offset: u64) -> io::Result<()>;

    /// What another program did to the reel, of which `end` bytes are written.
    fn loss(&self, end: u64) -> Option<ReelLoss> {
        let _ = end;
        None
    }

    /// The reel's file, if it has a path of its own.
    fn place(&self) -> Option<CreatedFile> {
        None
    }

    /// The maximum size in bytes, if there is one.
    fn limit(&self) -> Option<u64> {
        None
    }

    /// Removes a reel that contains nothing.
    fn discard(&mut self) {}
}

/// Where a recording's reels come from.
pub(crate) trait ReelStore: Send {
    /// Where they are written.
    type Sink: Sink;

    /// The next reel, empty.
    ///
    /// # Errors
    /// None can be created now; it may be called again.
    fn next(&mut self) -> io::Result<Self::Sink>;
}

/// How a reel was lost during recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReelLoss {
    /// The file was removed.
    Removed,
    /// Another program truncated the file or wrote to it.
    Cut,
    /// The file is complete, but elsewhere.
    Moved,
}

impl fmt::Display for ReelLoss {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Removed => "was removed",
            Self::Cut => "was cut short by another program",
            Self::Moved => "was moved or replaced",
        })
    }
}

/// A file to which a reel is written. It is locked while it is open, so that no other mcpreel writes to it.
#[derive(Debug)]
pub(crate) struct ReelFile {
    file: File,
    /// The file's path; none for a device or a descriptor, which is written as it is.
    place: Option<CreatedFile>,
}

impl ReelFile {
    /// A file of the recorder's own, at its path.
    ///
    /// # Errors
    /// Its metadata cannot be read.
    pub(crate) fn at(path: &Path, file: File) -> io::Result<Self> {
        let place = Some(CreatedFile::of(path, &file.metadata()?));
        Ok(Self { file, place })
    }

    /// A device, a pipe or an open descriptor.
    pub(crate) fn in_place(file: File) -> Self {
        Self { file, place: None }
    }
}

impl Write for ReelFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Sink for ReelFile {
    fn rewind_to(&mut self, offset: u64) -> io::Result<()> {
        self.file.set_len(offset)?;
        self.file.seek(SeekFrom::Start(offset)).map(|_| ())
    }

    fn loss(&self, end: u64) -> Option<ReelLoss> {
        let place = self.place.as_ref()?;
        let about = fstat(&self.file).ok()?;
        let length = u64::try_from(about.st_size).unwrap_or_default();
        match () {
            () if about.st_nlink == 0 => Some(ReelLoss::Removed),
            () if length < end => Some(ReelLoss::Cut),
            () if !place.holds() => Some(ReelLoss::Moved),
            () => None,
        }
    }

    fn place(&self) -> Option<CreatedFile> {
        self.place.clone()
    }

    fn limit(&self) -> Option<u64> {
        self.place.as_ref().and_then(|_| file_size_limit::bytes())
    }

    fn discard(&mut self) {
        if let Some(place) = self.place.take().filter(CreatedFile::holds) {
            let _ = std::fs::remove_file(&place.path);
        }
    }
}

/// A sink that cannot be truncated: a pipe, standard output.
pub(crate) struct ForwardOnly<W>(pub W);

impl<W: Write> Write for ForwardOnly<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl<W: Write + Send> Sink for ForwardOnly<W> {
    fn rewind_to(&mut self, _offset: u64) -> io::Result<()> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }
}

/// The only sink of a recording that cannot continue in another.
pub(crate) struct SingleReel<S>(Option<S>);

impl<S> SingleReel<S> {
    /// Records into this sink.
    pub(crate) fn new(sink: S) -> Self {
        Self(Some(sink))
    }
}

impl<S: Sink> ReelStore for SingleReel<S> {
    type Sink = S;

    fn next(&mut self) -> io::Result<S> {
        self.0.take().ok_or_else(|| io::Error::other("the output cannot be reopened"))
    }
}

/// A path at which reels may be created.
#[derive(Clone, Debug)]
pub(crate) struct ReelLocation {
    /// The path of the first reel.
    pub path: PathBuf,
    /// Whether to create its folder if it is missing.
    pub makes_folder: bool,
}

/// Returns other locations for reels.
pub(crate) type FallbackLocations = Box<dyn FnOnce() -> Vec<ReelLocation> + Send>;

/// Reels as files: the one that was opened first, then others with free names, at the first location that works.
pub(crate) struct Files {
    first: Option<ReelFile>,
    locations: Vec<ReelLocation>,
    elsewhere: Option<FallbackLocations>,
}

impl Files {
    /// `first` is already open, if there is one. Others are created at `locations`, or at `elsewhere`, which is called
    /// when needed.
    pub(crate) fn new(first: Option<ReelFile>, locations: Vec<ReelLocation>, elsewhere: FallbackLocations) -> Self {
        Self { first, locations, elsewhere: Some(elsewhere) }
    }
}

impl ReelStore for Files {
    type Sink = ReelFile;

    fn next(&mut self) -> io::Result<ReelFile> {
        if let Some(first) = self.first.take() {
            // Its folder existed, so it may be created again.
            let place = first.place();
            for location in &mut self.locations {
                location.makes_folder |=
                    place.as_ref().is_some_and(|place| place.path.parent() == location.path.parent());
            }
            return Ok(first);
        }
        self.locations.extend(self.elsewhere.take().into_iter().flat_map(|elsewhere| elsewhere()));
        let mut failure = None;
        for location in &self.locations {
            match open_free(location) {
                Ok(reel) => return Ok(reel),
                Err(error) => {
                    let reported = format!("cannot write {}: {error}", location.path.display());
                    failure.get_or_insert_with(|| io::Error::new(error.kind(), reported));
                }
            }
        }
        Err(failure.unwrap_or_else(|| io::Error::other("there is no folder for the reel")))
    }
}

/// Creates a reel at a path or, if that is taken, with the next free name.
///
/// # Errors
/// The folder or file cannot be created.
pub(crate) fn open_free(location: &ReelLocation) -> io::Result<ReelFile> {
    if let Some(folder) =
        location.path.parent().filter(|folder| location.makes_folder && !folder.as_os_str().is_empty())
    {
        private::create_folder(folder)?;
    }
    /// Other processes may take names at the same time.
    const TRIES: usize = 100;
    let mut tried = Err(io::Error::from(io::ErrorKind::AlreadyExists));
    for _ in 0..TRIES {
        let number = first_free(|number| numbered(&location.path, number).symlink_metadata().is_ok());
        let path = numbered(&location.path, number);
        tried = create_new(&path).and_then(|file| ReelFile::at(&path, file));
        if !matches!(&tried, Err(error) if error.kind() == io::ErrorKind::AlreadyExists) {
            break;
        }
    }
    tried
}

/// Creates a new file that only its owner can read, and locks it.
///
/// # Errors
/// The file exists or cannot be created.
pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    // Opened for appending, so that a reel that another program truncates stays too short and is noticed.
    let file = private::make_usable(File::options().append(true).create_new(true).mode(0o600).open(path)?)?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(io::Error::from(io::ErrorKind::AlreadyExists)),
        // Some file systems do not support locks.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(file),
    }
}

/// A path with a number in its name: `session.reel`, `session-2.reel`, `session-3.reel`.
fn numbered(path: &Path, number: u32) -> PathBuf {
    if number < 2 {
        return path.to_owned();
    }
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-{number}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

/// A free number from 1; the first one if they are taken in order. Makes few checks, however many are taken.
fn first_free(taken: impl Fn(u32) -> bool) -> u32 {
    let (mut last_taken, mut free) = (0, 1);
    while free < u32::MAX / 2 && taken(free) {
        (last_taken, free) = (free, free * 2);
    }
    while free - last_taken > 1 {
        let middle = last_taken + (free - last_taken) / 2;
        if taken(middle) {
            last_taken = middle;
        } else {
            free = middle;
        }
    }
    free
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_free_name_has_the_first_number_that_is_free() {
        assert_eq!(first_free(|_| false), 1);
        for most in [1, 2, 3, 7, 8, 9, 1000] {
            assert_eq!(first_free(|number| number <= most), most + 1);
        }
        let names = |path: &str| [1, 2, 10].map(|number| numbered(Path::new(path), number).display().to_string());
        assert_eq!(names("a/session.reel"), ["a/session.reel", "a/session-2.reel", "a/session-10.reel"]);
        assert_eq!(names("plain"), ["plain", "plain-2", "plain-10"]);
    }

    #[test]
    fn what_is_there_is_never_replaced_and_two_at_once_get_two_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("s.reel");
        std::fs::write(&path, "precious").expect("written");
        std::os::unix::fs::symlink("nowhere", folder.path().join("s-2.reel")).expect("linked");
        let location = ReelLocation { path: path.clone(), makes_folder: false };
        let paths: Vec<PathBuf> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| open_free(&location).expect("made"))).collect();
            let made: Vec<ReelFile> = threads.into_iter().map(|thread| thread.join().expect("done")).collect();
            made.iter().filter_map(Sink::place).map(|place| place.path).collect()
        });
        let mut unique = paths.clone();
        unique.sort();
        unique.dedup();
        assert_eq!((unique.len(), paths.contains(&path)), (8, false), "{paths:?}");
        assert_eq!(std::fs::read(&path).expect("read"), b"precious");
        assert!(std::fs::symlink_metadata(folder.path().join("s-2.reel")).expect("there").is_symlink());
    }

    #[test]
    fn a_file_that_is_removed_moved_or_cut_is_noticed_and_its_folder_made_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let inner = folder.path().join("inner");
        let location = ReelLocation { path: inner.join("s.reel"), makes_folder: true };
        let mut files =
            Files::new(Some(open_free(&location).expect("made")), vec![location.clone()], Box::new(Vec::new));
        let mut first = files.next().expect("the first");
        first.write_all(b"reel").expect("written");
        assert_eq!((first.loss(4), first.loss(5)), (None, Some(ReelLoss::Cut)));
        std::fs::rename(&location.path, inner.join("other")).expect("moved");
        assert_eq!(first.loss(4), Some(ReelLoss::Moved));
        std::fs::remove_dir_all(&inner).expect("removed");
        assert_eq!(first.loss(4), Some(ReelLoss::Removed));
        let next = files.next().expect("made again");
        assert_eq!(next.place().map(|place| place.path), Some(location.path.clone()));
        assert_eq!(next.loss(0), None);
        assert!(first.place().is_some_and(|place| !place.holds()));
    }
}
