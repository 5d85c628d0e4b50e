//! A server as a child process.
//!
//! The child is started through this program itself (a trampoline), which asks the kernel to end the child when its
//! parent dies and then becomes the server. So even a killed tap leaves no server behind, as no tap would.

use crate::wire::MessageLimit;
use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The first argument by which the trampoline is asked for.
const TRAMPOLINE: &str = "__become";

/// What to start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerCommand {
    /// The program and its arguments.
    pub argv: Vec<OsString>,
    /// Added to the environment.
    pub env: Vec<(String, String)>,
    /// Where to start it.
    pub cwd: Option<PathBuf>,
    /// The longest message that is taken from it, where its messages are read.
    pub limit: MessageLimit,
}

/// Why a server cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// No program was named.
    #[error("no command was given")]
    Nothing,
    /// There is no such program.
    #[error("there is no program {0:?} in PATH")]
    NotFound(OsString),
    /// The file is there and cannot be run.
    #[error("{0:?} cannot be run: {1}")]
    NotRunnable(PathBuf, io::Error),
    /// The folder to start in is not there.
    #[error("cannot start in {0:?}: {1}")]
    Folder(PathBuf, io::Error),
    /// The system refused.
    #[error("cannot start a process: {0}")]
    System(#[from] io::Error),
}

impl ServerCommand {
    /// The program and its arguments as text.
    pub fn words(&self) -> Vec<String> {
        self.argv.iter().map(|word| word.to_string_lossy().into_owned()).collect()
    }

    /// The names of added environment variables, without their values.
    pub fn env_names(&self) -> Vec<&str> {
        self.env.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// The process to spawn, its program found first so that a missing one is told clearly.
    pub fn prepare(&self) -> Result<Command, SpawnError> {
        let program = self.argv.first().ok_or(SpawnError::Nothing)?;
        if let Some(folder) = &self.cwd {
            std::fs::read_dir(folder).map_err(|error| SpawnError::Folder(folder.clone(), error))?;
        }
        let found = find_program(program, self.cwd.as_deref())?;
        let mut command = Command::new(this_program()?);
        command.arg(TRAMPOLINE).arg(std::process::id().to_string()).arg(found).args(&self.argv);
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        if let Some(folder) = &self.cwd {
            command.current_dir(folder);
        }
        Ok(command)
    }
}

/// This program, to be started once more; found too where another version lies in its place by now.
///
/// # Errors
/// The system does not tell.
pub(super) fn this_program() -> io::Result<PathBuf> {
    let path = std::env::current_exe()?;
    Ok(if path.exists() { path } else { PathBuf::from("/proc/self/exe") })
}

/// Looks a program up as the system would.
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

/// Becomes the server where this process was started as a trampoline. Returns only where it was not, or on failure.
pub fn become_if_asked() -> Option<io::Error> {
    let mut args = std::env::args_os().skip(1);
    if args.next()? != TRAMPOLINE {
        return None;
    }
    let parent: i32 = args.next()?.to_str()?.parse().ok()?;
    let program = args.next()?;
    let name = args.next()?;
    if let Err(error) = set_parent_process_death_signal(Some(Signal::KILL)) {
        return Some(error.into());
    }
    if getppid().map(Pid::as_raw_pid) != Some(parent) {
        // The parent died before the request took effect.
        return Some(io::Error::other("the tap is gone"));
    }
    Some(Command::new(program).arg0(name).args(args).exec())
}
