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
    /// The program is not in `PATH`.
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

    /// The process to spawn. Looks up the program first, so that a missing one is reported clearly.
    ///
    /// # Errors
    ///
    /// The command line is empty, or the program or the folder cannot be used.
    pub(crate) fn prepare(&self) -> Result<Command, SpawnError> {
        let program = self.argv.first().ok_or(SpawnError::Nothing)?;
        if let Some(folder) = &self.cwd {
            std::fs::read_dir(folder).map_err(|error| SpawnError::Folder(folder.clone(), error))?;
        }
        let found = find_program(program, self.cwd.as_deref())?;
        let mut command = Command::new(own_program::path()?);
        command.arg(TRAMPOLINE).arg(std::process::id().to_string()).arg(found).args(&self.argv);
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        if let Some(folder) = &self.cwd {
            command.current_dir(folder);
        }
        Ok(command)
    }
}

/// Looks up a program as the system does.
fn find_program(program: &OsStr, cwd: Option<&Path>) -> Result<PathBuf, SpawnError> {
    let path = Path::new(program);
    if path.components().count() > 1 {
        let full = cwd.map_or_else(|| path.to_owned(), |folder| folder.join(path));
        return runnable(&full).map(|()| path.to_owned()).map_err(|error| SpawnError::NotRunnable(full, error));
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders)
        .map(|folder| folder.join(path))
        .find(|candidate| runnable(candidate).is_ok())
        .ok_or_else(|| SpawnError::NotFound(program.to_owned()))
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
