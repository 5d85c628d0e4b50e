//! The recordings that agents may see: reels in the allowed folders and live sessions, each opened once and checked before
//! anything reads it.

use super::answer::{Problem, named};
use super::child::Bounds;
use super::copies::Copies;
use crate::cli::commands::reel::list::{Folders, Found};
use crate::cli::recordings::twice::unnamed_file;
use crate::error::{CommandError, ErrorKind};
use crate::files::places::Places;
use crate::platform::open_file::path_for_others;
use crate::sessions::live;
use ring::rand::{SecureRandom, SystemRandom};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the name of a live session begins with.
const SESSION: &str = "session:";

/// Which recordings there are, and whether they are redacted.
pub(super) struct Library {
    /// Folders of the user, instead of the current one.
    named: Vec<PathBuf>,
    /// Whether answers are redacted.
    pub redacts: bool,
    key: Key,
    copies: Copies,
}

/// The key of the pseudonyms.
enum Key {
    /// A file of the user.
    Named(PathBuf),
    /// A random one, in a file without a name.
    Random(File),
}

/// A recording that may be read.
pub(super) struct Opened {
    file: Arc<File>,
    /// The number of the stream that is meant; 0 for all.
    pub stream: u32,
}

impl Opened {
    /// The path by which other processes of this user read exactly the file that was checked.
    pub(super) fn readable(&self) -> PathBuf {
        path_for_others(&self.file)
    }
}

impl Library {
    /// The usual folders, and those that the user named, or else the current one.
    ///
    /// # Errors
    ///
    /// A named folder does not exist, or there is no key.
    pub(super) fn new(named: &[PathBuf], redacts: bool, key: Option<PathBuf>) -> Result<Self, CommandError> {
        let resolved = |path: &PathBuf| path.canonicalize().map_err(|error| CommandError::reading(path, &error));
        let named = named.iter().map(resolved).collect::<Result<Vec<_>, _>>()?;
        if let Some(file) = named.iter().find(|folder| !folder.is_dir()) {
            return Err(CommandError::usage(format!("{} is not a folder", file.display())));
        }
        // Some clients start servers in the root, below which everything is.
        let here = || std::env::current_dir().into_iter().filter(|here| here.parent().is_some()).collect();
        let named = if named.is_empty() { here() } else { named };
        let key = match key {
            Some(path) => Key::Named(path.canonicalize().map_err(|error| CommandError::reading(&path, &error))?),
            None => Key::Random(random_key().map_err(|error| {
                let folder = std::env::temp_dir();
                CommandError::new(ErrorKind::Internal, format!("cannot write to {}: {error}", folder.display()))
            })?),
        };
        Ok(Self { named, redacts, key, copies: Copies::default() })
    }

    /// The allowed folders that exist, without links.
    pub(super) fn folders(&self) -> Vec<PathBuf> {
        let all = Places::here().all_reels().into_iter().chain(self.named.iter().cloned());
        let mut found: Vec<PathBuf> = Vec::new();
        for folder in all.filter_map(|folder| folder.canonicalize().ok()) {
            if folder.is_dir() && !found.contains(&folder) {
                found.push(folder);
            }
        }
        found
    }

    /// The reels in the allowed folders, newest first.
    pub(super) fn reels(&self) -> Vec<Found> {
        // A folder that has become unreadable has no reels.
        let in_folder = |folder| Folders::of(vec![folder]).reels().unwrap_or_default();
        let mut found: Vec<Found> = self.folders().into_iter().flat_map(in_folder).collect();
        found.sort_by(|one, other| (other.file.modified, &other.path).cmp(&(one.file.modified, &one.path)));
        found
    }

    /// The shortest name by which a reel is found again.
    pub(super) fn name_of(&self, path: &Path) -> String {
        let name = path.file_name().unwrap_or_default();
        let first = self.folders().into_iter().map(|folder| folder.join(name)).find(|candidate| candidate.is_file());
        let is_first = first.as_deref() == Some(path);
        if is_first { name.to_string_lossy().into_owned() } else { path.to_string_lossy().into_owned() }
    }

    /// Opens the recording with this name: a reel's file name, with or without `.reel`, its path, or `session:NAME`.
    ///
    /// # Errors
    ///
    /// There is none in the allowed folders.
    pub(super) fn open(&self, name: &str) -> Result<Opened, Problem> {
        if let Some(session) = name.strip_prefix(SESSION) {
            return self.open_session(session);
        }
        let folders = self.folders();
        let found = candidates(name, &folders).into_iter().find_map(|path| self.checked(&path, &folders));
        let file = found.ok_or_else(|| self.absent(name))?;
        Ok(Opened { file: Arc::new(file), stream: 0 })
    }

    fn open_session(&self, name: &str) -> Result<Opened, Problem> {
        let live = live::find(name).and_then(|live| Ok((live.reel()?, live.stream))).map_err(|error| {
            let problem = Problem::new("this live session cannot be read").quoting(&error.message);
            problem.hint("call list_recordings with kind \"sessions\" for the live sessions")
        })?;
        let (reel, stream) = live;
        let file = self.checked(&reel, &self.folders()).ok_or_else(|| {
            Problem::new("the reel of this session is not in an allowed folder")
                .hint("the user can allow its folder: mcpreel mcp --dir FOLDER")
        })?;
        Ok(Opened { file: Arc::new(file), stream })
    }

    /// Opens a file if it is a reel in an allowed folder. What was opened is checked once more, in case that the path has
    /// changed in between.
    fn checked(&self, path: &Path, folders: &[PathBuf]) -> Option<File> {
        let is_allowed = |path: &Path| {
            let is_reel = path.extension().is_some_and(|ending| ending == "reel");
            is_reel && folders.iter().any(|folder| path.starts_with(folder))
        };
        let path = path.canonicalize().ok().filter(|path| is_allowed(path) && path.is_file())?;
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed())
            .open(&path)
            .ok()?;
        let opened = std::fs::read_link(path_for_others(&file)).ok()?;
        (is_allowed(&opened) && file.metadata().ok()?.is_file()).then_some(file)
    }

    fn absent(&self, name: &str) -> Problem {
        let folders: Vec<String> = self.folders().iter().map(|folder| named(&folder.to_string_lossy())).collect();
        let problem = Problem::new(format!("there is no reel {} in the allowed folders", named(name)));
        problem
            .hint(format!(
                "the allowed folders are {}; the user can allow others: mcpreel mcp --dir FOLDER",
                folders.join(", ")
            ))
            .hint("call list_recordings for the names of reels and live sessions")
    }

    /// The file that answers are made from: a redacted copy, unless the user wants the original.
    ///
    /// # Errors
    ///
    /// The recording cannot be redacted, or not in time.
    pub(super) fn to_read(&self, opened: Opened, bounds: Bounds<'_>) -> Result<Opened, Problem> {
        if !self.redacts {
            return Ok(opened);
        }
        let file = self.copies.of(&opened.file, self.key_words(), bounds)?;
        Ok(Opened { file, ..opened })
    }

    /// The options with the key.
    pub(super) fn key_words(&self) -> [std::ffi::OsString; 2] {
        ["--key-file".into(), self.key_path().into()]
    }

    /// The path of the key.
    pub(super) fn key_path(&self) -> PathBuf {
        match &self.key {
            Key::Named(path) => path.clone(),
            Key::Random(file) => path_for_others(file),
        }
    }
}

/// Where the reel with this name may be.
fn candidates(name: &str, folders: &[PathBuf]) -> Vec<PathBuf> {
    if name.is_empty() || name.contains('\0') {
        return Vec::new();
    }
    let with_ending = format!("{name}.reel");
    let names = [name, with_ending.as_str()];
    match name.contains('/') {
        true => names.map(PathBuf::from).to_vec(),
        false => folders.iter().flat_map(|folder| names.map(|name| folder.join(name))).collect(),
    }
}

fn random_key() -> io::Result<File> {
    let mut key = [0; 32];
    SystemRandom::new().fill(&mut key).map_err(|_| io::Error::other("the system has no random numbers"))?;
    let mut file = unnamed_file()?;
    file.write_all(&key)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn library(folder: &Path) -> Library {
        Library::new(&[folder.to_owned()], true, None).expect("a library")
    }

    #[test]
    fn only_reels_below_the_allowed_folders_are_opened() {
        let root = tempfile::tempdir().expect("a folder");
        let (allowed, other) = (root.path().join("allowed"), root.path().join("allowed-not"));
        for folder in [&allowed, &other, &allowed.join("sub")] {
            std::fs::create_dir(folder).expect("made");
        }
        for file in ["allowed/a.reel", "allowed/sub/b.reel", "allowed/c.txt", "allowed-not/d.reel"] {
            std::fs::write(root.path().join(file), "x").expect("written");
        }
        symlink(other.join("d.reel"), allowed.join("link.reel")).expect("linked");
        symlink(allowed.join("a.reel"), other.join("back.reel")).expect("linked");
        symlink(allowed.join("c.txt"), allowed.join("text.reel")).expect("linked");
        std::fs::create_dir(allowed.join("folder.reel")).expect("made");
        let library = library(&allowed);
        let path = |name: &str| root.path().join(name).to_string_lossy().into_owned();
        for name in ["a.reel", "a", &path("allowed/a.reel"), &path("allowed/sub/b"), &path("allowed-not/back.reel")] {
            assert!(library.open(name).is_ok(), "{name}");
        }
        let traversal = path("allowed/../allowed-not/d.reel");
        let wrong =
            ["c.txt", "link.reel", "text.reel", "folder.reel", "d.reel", "../allowed-not/d.reel", "", "a\0", "-"];
        for name in
            wrong.into_iter().chain([traversal.as_str(), &path("allowed-not/d.reel"), "/etc/passwd", "/dev/tty"])
        {
            let problem = library.open(name).err().unwrap_or_else(|| panic!("{name:?} was opened"));
            assert!(problem.to_text().contains("list_recordings"), "{name}");
        }
    }

    #[test]
    fn a_name_is_as_short_as_it_may_be() {
        let root = tempfile::tempdir().expect("a folder");
        let path = |name: &str| root.path().canonicalize().expect("there").join(name);
        std::fs::create_dir(path("sub")).expect("made");
        for name in ["a.reel", "sub/a.reel"] {
            std::fs::write(path(name), "x").expect("written");
        }
        let library = library(root.path());
        assert_eq!(library.name_of(&path("a.reel")), "a.reel");
        assert_eq!(library.name_of(&path("sub/a.reel")), path("sub/a.reel").to_string_lossy());
    }
}
