//! `record --ui`: the terminal interface beside the session. It is a process of its own, so that the traffic never waits
//! for it, and uses /dev/tty, because stdin and stdout belong to the client and the server.

use crate::error::{CommandError, ErrorKind};
use crate::files::places::Places;
use crate::process::threads;
use std::fs::File;
use std::io::{self, IsTerminal, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// How often the process is looked at.
const PAUSE: Duration = Duration::from_millis(20);
/// How much of what was written to stderr meanwhile is printed at the end, in bytes.
const MAX_HELD: i64 = 64 << 10;

/// The interface.
pub(super) struct Ui {
    has_ended: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Ui {
    /// Starts the interface. It waits for the session of this process. `has_stdin` says whether stdin is the client.
    ///
    /// # Errors
    ///
    /// There is no terminal, or the client would have to share it.
    pub(super) fn start(has_stdin: bool) -> Result<Self, CommandError> {
        if has_stdin && io::stdin().is_terminal() {
            let error =
                CommandError::usage("--ui needs the terminal, but stdin is the terminal, too: the client writes there");
            return Err(error.hint("let a client start this command, or use --listen"));
        }
        let open = || File::options().read(true).write(true).open("/dev/tty");
        let ends = || Ok::<_, io::Error>((open()?, open()?, open()?));
        let (input, output, complaints) = ends().map_err(|error| {
            let why = format!("--ui needs a terminal, but /dev/tty cannot be used ({error})");
            let hint = "without one, use another terminal: mcpreel tui --session NAME";
            CommandError::new(ErrorKind::Usage, why).hint(hint)
        })?;
        let failed =
            |error: io::Error| CommandError::new(ErrorKind::Internal, format!("cannot start the interface: {error}"));
        let program = std::env::current_exe().map_err(failed)?;
        let mut command = Command::new(program);
        command.args(["tui", "--of-process", &std::process::id().to_string()]);
        // It looks for the session's socket where this process has made it.
        if let Some(home) = Places::here().own() {
            command.env("MCPREEL_HOME", home);
        }
        let mut child = command.stdin(input).stdout(output).stderr(complaints).spawn().map_err(failed)?;
        let held = HeldStderr::hold().map_err(failed);
        if held.is_err() {
            end(&mut child);
        }
        let (held, has_ended) = (held?, Arc::<AtomicBool>::default());
        let told = Arc::clone(&has_ended);
        let thread = threads::start("ui", move || watch(child, held, &told)).map_err(failed)?;
        Ok(Self { has_ended, thread })
    }

    /// Ends the interface, if the user did not.
    pub(super) fn finish(self) {
        self.has_ended.store(true, Ordering::Release);
        let _ = self.thread.join();
    }
}

/// Waits for the interface, or ends it with the session.
fn watch(mut child: Child, held: Option<HeldStderr>, has_ended: &AtomicBool) {
    while matches!(child.try_wait(), Ok(None)) {
        if has_ended.load(Ordering::Acquire) {
            end(&mut child);
            break;
        }
        std::thread::sleep(PAUSE);
    }
    held.into_iter().for_each(HeldStderr::release);
}

/// Ends a process, which restores the terminal.
fn end(child: &mut Child) {
    if let Some(pid) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
    }
    let _ = child.wait();
}

/// Stderr, while the interface uses the terminal.
struct HeldStderr {
    terminal: OwnedFd,
    file: File,
}

impl HeldStderr {
    /// Writes stderr to a file, if it is a terminal.
    fn hold() -> io::Result<Option<Self>> {
        if !io::stderr().is_terminal() {
            return Ok(None);
        }
        let path = std::env::temp_dir().join(format!("mcpreel-{}-stderr", uuid::Uuid::now_v7().simple()));
        let file = File::options().read(true).append(true).create_new(true).mode(0o600).open(&path)?;
        std::fs::remove_file(&path)?;
        let terminal = io::stderr().as_fd().try_clone_to_owned()?;
        rustix::stdio::dup2_stderr(&file)?;
        Ok(Some(Self { terminal, file }))
    }

    /// Writes to the terminal again, at first what was written meanwhile.
    fn release(mut self) {
        let _ = rustix::stdio::dup2_stderr(&self.terminal);
        let length = self.file.metadata().map_or(0, |about| about.len());
        let start = i64::try_from(length).unwrap_or(MAX_HELD).min(MAX_HELD);
        let mut text = Vec::new();
        let read = self.file.seek(SeekFrom::End(-start)).and_then(|_| self.file.read_to_end(&mut text));
        if read.is_ok() {
            let _ = io::stderr().write_all(&text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Stdio;

    #[test]
    fn a_process_is_ended_with_the_session() {
        let child = Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().expect("started");
        let pid = child.id();
        watch(child, None, &AtomicBool::new(true));
        assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists());
    }
}
