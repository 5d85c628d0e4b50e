//! A server as a child process.
//!
//! mcpreel starts the child through its own executable (a trampoline), which asks the kernel to kill the child when its
//! parent dies and then becomes the server. So even a killed mcpreel leaves no server behind, as if the client had
//! started the server directly.

use crate::platform::{own_program, parent_death};
use crate::wire::MessageLimit;
use rustix::process::{Pid, Signal, getppid};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The variable with the server's `PATH`, if mcpreel itself was started with another one. `wrap` renames the variable of
/// an entry, so that the client finds mcpreel in its own `PATH`. The server does not get this name.
pub(crate) const SERVER_PATH: &str = "MCPREEL_SERVER_PATH";

/// Where the system looks if there is no `PATH`.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// The first argument that starts the trampoline.
const TRAMPOLINE: &str = "__become";

/// What to start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ServerCommand {
    /// The program and its arguments.
    pub argv: Vec<OsString>,
    /// Variables added to the environment.
    pub env: Vec<(String, String)>,
    /// The working directory.
    pub cwd: Option<PathBuf>,
    /// The limit for its messages, if they are read.
    pub limit: MessageLimit,
}

/// Why a server cannot be started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SpawnError {
    /// The command is empty.
    #[error("no command given")]
    Nothing,
    /// The program is not in the server's `PATH`.
    #[error("there is no program {0:?} in PATH")]
    NotFound(OsString),
    /// The file exists but is not executable.
    #[error("{0:?} cannot be run: {1}")]
    NotRunnable(PathBuf, io::Error),
    /// The working directory does not exist.
    #[error("cannot start in {0:?}: {1}")]
    Folder(PathBuf, io::Error),
    /// The system refused what mcpreel needs for itself.
    #[error("{0}")]
    Tap(io::Error),
    /// The system refused.
    #[error("cannot start a process: {0}")]
    System(#[from] io::Error),
}

impl ServerCommand {
    /// The program and its arguments as text.
    pub(crate) fn words(&self) -> Vec<String> {
        self.argv.iter().map(|word| word.to_string_lossy().into_owned()).collect()
    }

    /// The names of the added environment variables, without their values.
    pub(crate) fn env_names(&self) -> Vec<&str> {
        self.env.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// The folder in which it runs, without links; `None` if the system does not report it.
    pub(crate) fn folder(&self) -> Option<String> {
        let folder = match &self.cwd {
            Some(folder) => std::fs::canonicalize(folder),
            None => std::env::current_dir(),
        };
        Some(folder.ok()?.to_string_lossy().into_owned())
    }

    /// The `PATH` of the server, if it has one of its own. The program is looked for there, as clients do.
    fn path(&self) -> Option<OsString> {
        let given = self.env.iter().rfind(|(name, _)| name == "PATH").map(|(_, value)| OsString::from(value));
        given.or_else(|| std::env::var_os(SERVER_PATH))
    }

    /// The process to spawn. Looks up the program first, so that a missing one is reported clearly.
    ///
    /// # Errors
    ///
    /// The command line is empty, or the program or the folder cannot be used.
    pub(crate) fn prepare(&self) -> Result<Command, SpawnError> {
        self.prepare_behind(TRAMPOLINE, &std::process::id().to_string())
    }

    /// As [`Self::prepare`], with the first arguments of the process of mcpreel that starts the server.
    ///
    /// # Errors
    ///
    /// The command line is empty, or the program or the folder cannot be used.
    pub(super) fn prepare_behind(&self, helper: &str, word: &str) -> Result<Command, SpawnError> {
        let program = self.argv.first().ok_or(SpawnError::Nothing)?;
        if let Some(folder) = &self.cwd {
            std::fs::read_dir(folder).map_err(|error| SpawnError::Folder(folder.clone(), error))?;
        }
        let path = self.path();
        let search = path.clone().unwrap_or_else(own_path);
        let found = find_program(program, &search, self.cwd.as_deref())?;
        let mut command = Command::new(own_program::path()?);
        command.arg(helper).arg(word).arg(found).args(&self.argv);
        command.env_remove(SERVER_PATH).envs(self.env.iter().map(|(name, value)| (name, value)));
        command.envs(path.map(|path| ("PATH", path)));
        if let Some(folder) = &self.cwd {
            command.current_dir(folder);
        }
        Ok(command)
    }
}

/// The absolute path of a program, looked up from this process's folder and in its `PATH`, so that it stays the same
/// program in any other folder.
///
/// # Errors
///
/// There is no such program.
pub(crate) fn absolute_program(program: &OsStr) -> Result<PathBuf, SpawnError> {
    let found = find_program(program, &own_path(), None)?;
    std::path::absolute(&found).map_err(|error| SpawnError::NotRunnable(found, error))
}

/// The `PATH` of this process.
fn own_path() -> OsString {
    std::env::var_os("PATH").unwrap_or_else(|| DEFAULT_PATH.into())
}

/// Looks up a program as the system does. Relative and empty folders of the path begin in the server's folder.
fn find_program(program: &OsStr, search: &OsStr, cwd: Option<&Path>) -> Result<PathBuf, SpawnError> {
    let path = Path::new(program);
    if program.as_encoded_bytes().contains(&b'/') {
        let full = cwd.map_or_else(|| path.to_owned(), |folder| folder.join(path));
        return runnable(&full).map(|()| path.to_owned()).map_err(|error| SpawnError::NotRunnable(full, error));
    }
    let base = std::path::absolute(cwd.unwrap_or(Path::new(".")))?;
    let mut denied = None;
    for folder in std::env::split_paths(search).filter(|_| !program.is_empty()) {
        let candidate = base.join(folder).join(path);
        match runnable(&candidate) {
            Ok(()) => return Ok(candidate),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied && candidate.is_file() => {
                denied.get_or_insert(SpawnError::NotRunnable(candidate, error));
            }
            Err(_) => {}
        }
    }
    Err(denied.unwrap_or_else(|| SpawnError::NotFound(program.to_owned())))
}

fn runnable(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let about = std::fs::metadata(path)?;
    if about.is_file() && about.permissions().mode() & 0o111 != 0 {
        return Ok(());
    }
    Err(io::Error::from(io::ErrorKind::PermissionDenied))
}

/// Becomes the server if this process was started as a trampoline. Returns only if it was not, or on failure.
pub(crate) fn become_if_asked() -> Option<io::Error> {
    let mut args = std::env::args_os().skip(1);
    if args.next()? != TRAMPOLINE {
        return None;
    }
    let parent: i32 = args.next()?.to_str()?.parse().ok()?;
    let program = args.next()?;
    let name = args.next()?;
    if let Err(error) = parent_death::notify(Signal::KILL) {
        return Some(error);
    }
    if getppid().map(Pid::as_raw_pid) != Some(parent) {
        // The parent died before the request took effect.
        return Some(io::Error::other("mcpreel has exited"));
    }
    Some(Command::new(program).arg0(name).args(args).exec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn program(folder: &Path, mode: u32) -> PathBuf {
        std::fs::create_dir_all(folder).expect("a folder");
        let path = folder.join("server");
        std::fs::write(&path, "#!/bin/sh\n").expect("written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("its mode");
        path
    }

    fn found(search: &str, cwd: &Path) -> Result<PathBuf, SpawnError> {
        find_program(OsStr::new("server"), OsStr::new(search), Some(cwd))
    }

    #[test]
    fn a_program_is_looked_for_in_all_folders_of_the_path_in_order() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        let (first, second) = (program(&at("first"), 0o755), program(&at("second"), 0o755));
        let (first_text, second_text) = (at("first").display().to_string(), at("second").display().to_string());
        assert_eq!(found(&format!("/no:{second_text}:{first_text}"), folder.path()).expect("found"), second);
        // Relative and empty folders begin in the server's folder.
        assert_eq!(found("nothing:first", folder.path()).expect("found"), first);
        for search in ["", ":/no", "/no:", "/no::/no", "."] {
            let found = found(search, &at("first")).unwrap_or_else(|error| panic!("{search:?}: {error}"));
            assert_eq!(std::fs::canonicalize(found).expect("there"), std::fs::canonicalize(&first).expect("there"));
        }
        assert!(matches!(found("/no", folder.path()), Err(SpawnError::NotFound(_))));
        // A file that cannot be run is passed over, and named if there is nothing else.
        let denied = program(&at("third"), 0o644);
        assert_eq!(found("third:first", folder.path()).expect("found"), first);
        assert!(matches!(found("third:/no", folder.path()), Err(SpawnError::NotRunnable(path, _)) if path == denied));
        // A folder of that name is no program.
        std::fs::create_dir_all(at("fourth/server")).expect("a folder");
        assert!(matches!(found("fourth", folder.path()), Err(SpawnError::NotFound(_))));
    }

    #[test]
    fn a_path_is_not_looked_for() {
        let folder = tempfile::tempdir().expect("a folder");
        program(&folder.path().join("bin"), 0o755);
        let find = |name: &str| find_program(OsStr::new(name), OsStr::new("/no"), Some(folder.path()));
        assert_eq!(find("./bin/server").expect("found"), Path::new("./bin/server"));
        assert!(matches!(find("bin/other"), Err(SpawnError::NotRunnable(..))));
    }

    #[test]
    fn of_several_values_of_the_path_the_last_counts() {
        let env = [("PATH", "one"), ("X", "y"), ("PATH", "two")].map(|(name, value)| (name.into(), value.into()));
        let command = ServerCommand { env: env.into(), ..ServerCommand::default() };
        assert_eq!(command.path(), Some("two".into()));
    }
}
