//! A child process that can be waited for together with other descriptors, and that gets no signal meant for it once its
//! number belongs to another process (a pidfd).
//!
//! Fallback: a thread waits for the child, and closes a socket when it ends. Between the moment at which the child's exit
//! status is collected and the moment at which that thread notices, a signal may reach another process with its number.
//! There are no handles of processes that are no children.

use rustix::process::{Pid, Signal};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::process::Child;

#[cfg(on_linux)]
mod system {
    use super::{Pid, Signal, io};
    use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};
    use std::os::fd::OwnedFd;

    pub(super) type Ended = OwnedFd;

    pub(super) fn watch(pid: Pid) -> io::Result<Ended> {
        Ok(pidfd_open(pid, PidfdFlags::empty())?)
    }

    pub(super) fn watch_other(pid: Pid) -> io::Result<Ended> {
        watch(pid)
    }

    pub(super) fn signal(_pid: Pid, ended: &Ended, signal: Signal) {
        let _ = pidfd_send_signal(ended, signal);
    }
}

#[cfg(not(on_linux))]
mod system {
    use super::{Pid, Signal, io};
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::io::Errno;
    use rustix::process::{WaitId, WaitIdOptions, kill_process, waitid};
    use std::os::unix::net::UnixStream;

    pub(super) type Ended = UnixStream;

    pub(super) fn watch(pid: Pid) -> io::Result<Ended> {
        let (ended, held) = UnixStream::pair()?;
        std::thread::Builder::new().name("child".into()).spawn(move || {
            // The status stays for whoever collects it.
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while matches!(waitid(WaitId::Pid(pid), options), Err(Errno::INTR)) {}
            drop(held);
        })?;
        Ok(ended)
    }

    pub(super) fn watch_other(_pid: Pid) -> io::Result<Ended> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }

    pub(super) fn signal(pid: Pid, ended: &Ended, signal: Signal) {
        let mut fds = [PollFd::new(ended, PollFlags::IN)];
        if matches!(poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })), Ok(0)) {
            let _ = kill_process(pid, signal);
        }
    }
}

/// A child process.
pub(crate) struct ProcessHandle {
    pid: Pid,
    ended: system::Ended,
}

impl ProcessHandle {
    /// The handle of a child whose exit status nobody has collected yet.
    ///
    /// # Errors
    /// The system refuses.
    pub(crate) fn of(child: &Child) -> io::Result<Self> {
        let pid = Self::number(child)?;
        Ok(Self { pid, ended: system::watch(pid)? })
    }

    /// A child's number.
    ///
    /// # Errors
    /// It is none.
    pub(crate) fn number(child: &Child) -> io::Result<Pid> {
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        pid.ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// The handle of a process that need not be a child, and whose exit status nobody has collected yet.
    ///
    /// # Errors
    /// The system refuses, or knows only children.
    pub(crate) fn of_other(pid: Pid) -> io::Result<Self> {
        Ok(Self { pid, ended: system::watch_other(pid)? })
    }

    /// The child's number.
    pub(crate) fn pid(&self) -> Pid {
        self.pid
    }

    /// Sends a signal, unless the child has ended.
    pub(crate) fn signal(&self, signal: Signal) {
        system::signal(self.pid, &self.ended, signal);
    }
}

/// A descriptor that becomes readable when the child ends.
impl AsFd for ProcessHandle {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.ended.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::{PollFd, PollFlags, poll};
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Stdio};

    #[test]
    fn a_child_is_signalled_and_seen_to_end_before_its_status_is_collected() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().expect("started");
        let handle = ProcessHandle::of(&child).expect("a handle");
        assert_eq!(handle.pid().as_raw_pid().unsigned_abs(), child.id());
        handle.signal(Signal::TERM);
        poll(&mut [PollFd::new(&handle, PollFlags::IN)], None).expect("it ends");
        assert_eq!(child.wait().expect("collected").signal(), Some(Signal::TERM.as_raw()));
        // Reaches nobody.
        handle.signal(Signal::TERM);
    }
}
