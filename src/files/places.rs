//! The folders of reels and of live sessions' sockets: those that this process uses, and all that other processes of
//! the same user may have used.
//!
//! Clients start servers with only a part of the user's environment, so a recorder may use other folders than the
//! shell in which its reel is searched. Readers therefore search all folders that follow from the environment, the
//! defaults and a file below the home folder, to which writers add their folders. The file is not trusted: only
//! folders that the user owns count.
//!
//! With `MCPREEL_HOME`, readers stay in it. The other folders only serve to say that something is there.

use super::output::{self, Replacement};
use super::private;
use rustix::process::getuid;
use std::ffi::OsStr;
use std::fs::{DirEntry, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// What replaces `MCPREEL_HOME` in this process.
static CHOSEN: OnceLock<PathBuf> = OnceLock::new();

/// Uses this folder instead of `MCPREEL_HOME` in this process, but not in the processes that it starts. Only the first call
/// counts.
pub(crate) fn choose(home: &Path) {
    CHOSEN.get_or_init(|| std::path::absolute(home).unwrap_or_else(|_| home.to_owned()));
}

/// The maximum number of folders in the file.
const MAX: usize = 64;
/// The maximum number of bytes that are read from the file.
const MAX_NOTE_BYTES: u64 = 64 << 10;

/// What a folder contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Reels.
    Reels,
    /// Sockets of live sessions.
    Sockets,
}

impl Kind {
    /// Its prefix in the file.
    fn word(self) -> &'static [u8] {
        match self {
            Self::Reels => b"reels ",
            Self::Sockets => b"sockets ",
        }
    }
}

/// What the folders depend on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    /// `MCPREEL_HOME`.
    own: Option<PathBuf>,
    /// `XDG_STATE_HOME`.
    state: Option<PathBuf>,
    /// `XDG_RUNTIME_DIR`.
    runtime: Option<PathBuf>,
    /// `HOME`, else the home folder of the account.
    home: Option<PathBuf>,
    uid: u32,
}

impl Places {
    /// The user's folders, according to the environment.
    pub(crate) fn here() -> Self {
        let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let absolute = |name| set(name).filter(|folder| folder.is_absolute());
        let uid = getuid().as_raw();
        let home = absolute("HOME").or_else(std::env::home_dir).filter(|home| home.is_absolute());
        Self {
            own: CHOSEN.get().cloned().or_else(|| std::path::absolute(set("MCPREEL_HOME")?).ok()),
            state: absolute("XDG_STATE_HOME"),
            runtime: absolute("XDG_RUNTIME_DIR"),
            home: home.or_else(|| account_home(uid)),
            uid,
        }
    }

    /// The folders for new reels, in order of preference: the first that can be written is used. May be empty.
    pub(crate) fn reels(&self) -> Vec<PathBuf> {
        let own = self.own.as_ref().map(|own| own.join("reels"));
        let state = self.state.as_ref().map(|state| state.join("mcpreel"));
        let first = own.or(state);
        let default = self.state_folder().filter(|default| first.as_ref() != Some(default));
        first.into_iter().chain(default).collect()
    }

    /// A file beside the reels that exists once: in `MCPREEL_HOME` if that is set; else wherever it is already; else in
    /// the folder for new reels.
    pub(crate) fn private_file(&self, name: &str) -> Option<PathBuf> {
        if let Some(own) = &self.own {
            return Some(own.join(name));
        }
        let present = self.all_reels().into_iter().map(|folder| folder.join(name)).find(|file| file.exists());
        present.or_else(|| self.reels().first().map(|folder| folder.join(name)))
    }

    /// The folder that `MCPREEL_HOME` names, if it is set.
    pub(crate) fn own(&self) -> Option<&Path> {
        self.own.as_deref()
    }

    /// All folders in which readers look for reels: all that may contain some, or only that of `MCPREEL_HOME`.
    pub(crate) fn all_reels(&self) -> Vec<PathBuf> {
        match &self.own {
            Some(own) => vec![own.join("reels")],
            None => self.known_reels(),
        }
    }

    /// The folders that readers would search as well without `MCPREEL_HOME`.
    pub(crate) fn other_reels(&self) -> Vec<PathBuf> {
        others(self.known_reels(), &self.all_reels())
    }

    fn known_reels(&self) -> Vec<PathBuf> {
        let state = self.state.as_ref().map(|state| state.join("mcpreel"));
        unique(self.reels().into_iter().chain(state).chain(self.noted(Kind::Reels)))
    }

    /// The folder for new sockets: `$MCPREEL_HOME/run`; else `mcpreel` in `$XDG_RUNTIME_DIR` or `/run/user/UID`,
    /// whichever exists; else `/tmp/mcpreel-UID`.
    pub(crate) fn sockets(&self) -> PathBuf {
        self.sockets_by(Path::is_dir)
    }

    fn sockets_by(&self, is_dir: impl Fn(&Path) -> bool) -> PathBuf {
        if let Some(own) = &self.own {
            return own.join("run");
        }
        let there = self.runtime.clone().into_iter().chain([self.usual_runtime()]).find(|folder| is_dir(folder));
        there.map_or_else(|| self.temporary(), |folder| folder.join("mcpreel"))
    }

    /// All folders in which readers look for sockets, this process's own first: all that may contain some, or only that
    /// of `MCPREEL_HOME`.
    pub(crate) fn all_sockets(&self) -> Vec<PathBuf> {
        if self.own.is_some() { vec![self.sockets()] } else { self.known_sockets() }
    }

    /// The folders that readers would search as well without `MCPREEL_HOME`.
    pub(crate) fn other_sockets(&self) -> Vec<PathBuf> {
        others(self.known_sockets(), &self.all_sockets())
    }

    /// The system's folders belong to an account, so they are included only if the home folder is the account's. They are
    /// where a process without `MCPREEL_HOME` makes its sockets.
    fn known_sockets(&self) -> Vec<PathBuf> {
        let runtime = self.runtime.as_ref().map(|runtime| runtime.join("mcpreel"));
        let of_system =
            if self.is_at_home() { vec![self.usual_runtime().join("mcpreel"), self.temporary()] } else { Vec::new() };
        let noted = self.noted(Kind::Sockets);
        unique([self.sockets()].into_iter().chain(runtime).chain(of_system).chain(noted))
    }

    /// Adds a folder to the file, for readers with another environment. Errors are ignored.
    pub(crate) fn note(&self, kind: Kind, folder: &Path) {
        let is_default = kind == Kind::Reels && self.state_folder().as_deref() == Some(folder);
        if let Some(file) = self.file().filter(|_| !is_default) {
            let _ = note_in(&file, kind, folder);
        }
    }

    fn state_folder(&self) -> Option<PathBuf> {
        self.home.as_ref().map(|home| home.join(".local/state/mcpreel"))
    }

    fn file(&self) -> Option<PathBuf> {
        self.state_folder().map(|folder| folder.join("places"))
    }

    fn usual_runtime(&self) -> PathBuf {
        Path::new("/run/user").join(self.uid.to_string())
    }

    fn temporary(&self) -> PathBuf {
        Path::new("/tmp").join(format!("mcpreel-{}", self.uid))
    }

    fn is_at_home(&self) -> bool {
        let real = |folder: &Path| folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let account = account_home(self.uid);
        account.is_none_or(|account| self.home.as_deref().is_none_or(|home| real(home) == real(&account)))
    }

    /// The folders of this kind in the file that the user owns, newest first.
    fn noted(&self, kind: Kind) -> Vec<PathBuf> {
        let lines = self.file().and_then(|file| read(&file).ok()).unwrap_or_default();
        let is_ours =
            |folder: &PathBuf| std::fs::metadata(folder).is_ok_and(|about| about.is_dir() && about.uid() == self.uid);
        lines.iter().rev().filter_map(|line| folder_of(line, kind)).filter(is_ours).collect()
    }
}

/// The entries of all these folders; those that cannot be read have none.
pub(crate) fn entries(folders: impl IntoIterator<Item = impl AsRef<Path>>) -> impl Iterator<Item = DirEntry> {
    folders.into_iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten()
}

/// The folders as text for an error or a note.
pub(crate) fn listed(folders: &[PathBuf]) -> String {
    folders.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// The folders without duplicates, even under different names.
fn unique(folders: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    let (mut seen, mut unique) = (Vec::new(), Vec::new());
    for folder in folders {
        let real = folder.canonicalize().unwrap_or_else(|_| folder.clone());
        if !seen.contains(&real) {
            seen.push(real);
            unique.push(folder);
        }
    }
    unique
}

/// The first folders without the second ones, even under different names.
fn others(all: Vec<PathBuf>, own: &[PathBuf]) -> Vec<PathBuf> {
    let count = unique(own.iter().cloned()).len();
    unique(own.iter().cloned().chain(all)).split_off(count)
}

/// The home folder of an account in the password database.
fn account_home(uid: u32) -> Option<PathBuf> {
    home_in(&std::fs::read("/etc/passwd").ok()?, uid)
}

fn home_in(database: &[u8], uid: u32) -> Option<PathBuf> {
    let uid = uid.to_string();
    database.split(|byte| *byte == b'\n').find_map(|line| {
        let fields: Vec<&[u8]> = line.split(|byte| *byte == b':').collect();
        let home = fields.get(5).filter(|_| fields.get(2) == Some(&uid.as_bytes()))?;
        Some(PathBuf::from(OsStr::from_bytes(home))).filter(|home| home.is_absolute())
    })
}

fn folder_of(line: &[u8], kind: Kind) -> Option<PathBuf> {
    let folder = Path::new(OsStr::from_bytes(line.strip_prefix(kind.word())?));
    folder.is_absolute().then(|| folder.to_owned())
}

/// The lines of the file without duplicates, newest last.
fn read(file: &Path) -> io::Result<Vec<Vec<u8>>> {
    // NONBLOCK, because the file could be a FIFO.
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = File::options().read(true).custom_flags(flags).open(file)?;
    let mut text = Vec::new();
    if file.metadata()?.is_file() {
        file.take(MAX_NOTE_BYTES).read_to_end(&mut text)?;
    }
    let mut lines: Vec<Vec<u8>> = Vec::new();
    for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        if !lines.iter().any(|known| known == line) {
            lines.push(line.to_vec());
        }
    }
    Ok(lines)
}

/// Adds a folder to the file, which is created if necessary. A line is a single write, so that concurrent writers
/// lose nothing.
fn note_in(file: &Path, kind: Kind, folder: &Path) -> io::Result<()> {
    let line = [kind.word(), folder.as_os_str().as_bytes()].concat();
    let mut lines = read(file).unwrap_or_default();
    if lines.contains(&line) || line.contains(&b'\n') || !folder.is_absolute() {
        return Ok(());
    }
    if let Some(parent) = file.parent() {
        private::create_folder(parent)?;
    }
    if lines.len() < MAX {
        let mut file = private::make_usable(OpenOptions::new().append(true).create(true).mode(0o600).open(file)?)?;
        return file.write_all(&[&line[..], b"\n"].concat());
    }
    lines.retain(|line| {
        [Kind::Reels, Kind::Sockets].iter().any(|kind| folder_of(line, *kind).is_some_and(|folder| folder.is_dir()))
    });
    let kept = lines.len().saturating_sub(MAX / 2);
    let mut text = lines[kept..].join(&b'\n');
    text.extend(if text.is_empty() { &b""[..] } else { b"\n" });
    text.extend([&line[..], b"\n"].concat());
    let mut fresh = Replacement::begin(file, output::PRIVATE)?;
    fresh.write_all(&text)?;
    fresh.commit()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(own: Option<&str>, state: Option<&str>, runtime: Option<&str>, home: &Path) -> Places {
        let path = |path: Option<&str>| path.map(PathBuf::from);
        Places { own: path(own), state: path(state), runtime: path(runtime), home: Some(home.into()), uid: 1000 }
    }

    #[test]
    fn the_folder_is_the_same_for_a_shell_and_for_a_server_that_a_client_starts() {
        let usual = |path: &Path| path == Path::new("/run/user/1000");
        let sockets = |own, runtime, is_dir: fn(&Path) -> bool| {
            places(own, None, runtime, Path::new("/h")).sockets_by(is_dir).display().to_string()
        };
        assert_eq!(sockets(Some("/own"), Some("/run/user/1000"), usual), "/own/run");
        for runtime in [Some("/run/user/1000"), None, Some("/gone")] {
            assert_eq!(sockets(None, runtime, usual), "/run/user/1000/mcpreel", "{runtime:?}");
            assert_eq!(sockets(None, runtime, |_| false), "/tmp/mcpreel-1000", "{runtime:?}");
        }
        assert_eq!(sockets(None, Some("/x"), |_| true), "/x/mcpreel");
    }

    #[test]
    fn readers_look_where_any_writer_may_have_been() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path();
        let uid = std::fs::metadata(home).expect("there").uid();
        let at = |name: &str| home.join(name).display().to_string();
        let (own, state, runtime) = (at("own"), at("state"), at("runtime"));
        let with = |own, state, runtime| Places { uid, ..places(own, state, runtime, home) };
        let shell = with(Some(&own), Some(&state), Some(&runtime));
        let bare = with(None, None, None);
        let default = home.join(".local/state/mcpreel");
        assert_eq!(shell.reels(), [home.join("own/reels"), default.clone()]);
        // With a home of its own, nothing else is read.
        assert_eq!(shell.all_reels(), [home.join("own/reels")]);
        assert_eq!(shell.all_sockets(), [home.join("own/run")]);
        assert_eq!(shell.other_reels(), [default.clone(), home.join("state/mcpreel")]);
        assert!(shell.other_sockets().contains(&home.join("runtime/mcpreel")));
        assert!(bare.other_reels().is_empty() && bare.other_sockets().is_empty());
        assert_eq!(with(None, Some(&state), None).all_reels(), [home.join("state/mcpreel"), default.clone()]);
        assert_eq!(bare.all_reels(), std::slice::from_ref(&default));
        // What a shell has written is found without its environment, if it exists.
        shell.note(Kind::Reels, &home.join("own/reels"));
        shell.note(Kind::Sockets, &home.join("own/run"));
        assert_eq!(bare.all_reels(), std::slice::from_ref(&default));
        std::fs::create_dir_all(home.join("own/reels")).expect("made");
        std::fs::create_dir_all(home.join("own/run")).expect("made");
        assert_eq!(bare.all_reels(), [default.clone(), home.join("own/reels")]);
        assert_eq!(bare.all_sockets().last(), Some(&home.join("own/run")));
        // Another home does not see them, but knows of them, each once and never its own.
        let (fresh, linked) = (at("fresh"), at("linked"));
        let fresh = with(Some(&fresh), None, None);
        assert_eq!(fresh.all_reels(), [home.join("fresh/reels")]);
        assert_eq!(fresh.other_reels(), [default.clone(), home.join("own/reels")]);
        assert_eq!(fresh.other_sockets().last(), Some(&home.join("own/run")));
        std::os::unix::fs::symlink(home.join("own"), home.join("linked")).expect("linked");
        assert_eq!(with(Some(&linked), None, None).other_reels(), std::slice::from_ref(&default));
        // Folders of other users do not count.
        let other = Places { uid: uid + 1, ..bare.clone() };
        assert_eq!(other.all_reels(), std::slice::from_ref(&default));
        // The default folder is not added.
        bare.note(Kind::Reels, &default);
        let text = std::fs::read_to_string(default.join("places")).expect("there");
        assert_eq!(text, format!("reels {own}/reels\nsockets {own}/run\n"));
        let mode = std::fs::metadata(default.join("places")).expect("there").mode() & 0o777;
        assert_eq!(mode, 0o600);
    }

    #[test]
    fn the_file_is_bounded_and_its_damage_harmless() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("state/places");
        for number in 0..200 {
            let each = folder.path().join(number.to_string());
            std::fs::create_dir(&each).expect("made");
            note_in(&file, Kind::Sockets, &each).expect("noted");
            note_in(&file, Kind::Sockets, &each).expect("noted");
            let lines = read(&file).expect("read");
            assert!(lines.len() <= MAX && folder_of(&lines[lines.len() - 1], Kind::Sockets) == Some(each));
        }
        assert_eq!(std::fs::read_dir(folder.path().join("state")).expect("there").count(), 1);
        std::fs::write(&file, b"reels relative\n\xff\xfe\nsockets /x\nreels /torn").expect("written");
        let lines = read(&file).expect("read");
        let folders = |kind| lines.iter().filter_map(|line| folder_of(line, kind)).collect::<Vec<_>>();
        assert_eq!(folders(Kind::Sockets), [PathBuf::from("/x")]);
        assert_eq!(folders(Kind::Reels), [PathBuf::from("/torn")]);
    }

    #[test]
    fn the_account_has_a_home_folder() {
        let database = b"root:x:0:0:root:/root:/bin/sh\nme:x:1000:1000::/home/me:/bin/sh\nodd:x:7\n";
        assert_eq!(home_in(database, 1000), Some(PathBuf::from("/home/me")));
        assert_eq!((home_in(database, 7), home_in(database, 8)), (None, None));
    }
}
