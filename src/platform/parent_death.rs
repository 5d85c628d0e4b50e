//! Learning that the parent of this process ends, however it ends: by a signal, or by a descriptor.
//!
//! Fallback: a thread looks every half a second. That of the signal is gone once the process becomes another program, so a server whose
//! mcpreel is killed lives on until it sees that its stdin is closed.

use rustix::process::{Pid, Signal, getppid};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// How often the fallbacks look.
const INTERVAL: Duration = Duration::from_millis(500);

/// A descriptor that becomes readable when the process that is the parent now ends; `None` if there is no parent that
/// this process could know.
///
/// # Errors
/// The system refuses.
pub(crate) fn watch() -> io::Result<Option<OwnedFd>> {
    let Some(parent) = getppid() else { return Ok(None) };
    handle(parent).map_or_else(|| look(parent), Ok).map(Some)
}

/// The parent's handle (a pidfd), unless it is gone or the kernel has none.
#[cfg(on_linux)]
fn handle(parent: Pid) -> Option<OwnedFd> {
    let ended = rustix::process::pidfd_open(parent, rustix::process::PidfdFlags::empty()).ok()?;
    // Otherwise, it may be that of a new process with its number.
    (getppid() == Some(parent)).then_some(ended)
}

#[cfg(not(on_linux))]
fn handle(_parent: Pid) -> Option<OwnedFd> {
    None
}

/// A descriptor that a thread makes readable, at once if the parent has already ended.
fn look(parent: Pid) -> io::Result<OwnedFd> {
    let (ended, held) = UnixStream::pair()?;
    std::thread::Builder::new().name("parent".into()).spawn(move || {
        while getppid() == Some(parent) {
            std::thread::sleep(INTERVAL);
        }
        drop(held);
    })?;
    Ok(ended.into())
}

/// Sends this process a signal when its parent ends. The caller checks afterwards that it has not ended before.
///
/// # Errors
/// The system refuses.
#[cfg(on_linux)]
pub(crate) fn notify(signal: Signal) -> io::Result<()> {
    Ok(rustix::process::set_parent_process_death_signal(Some(signal))?)
}

/// Sends this process a signal when its parent ends. The caller checks afterwards that it has not ended before.
///
/// # Errors
/// No thread can be started.
#[cfg(not(on_linux))]
pub(crate) fn notify(signal: Signal) -> io::Result<()> {
    use rustix::process::{getpid, kill_process};
    let parent = getppid();
    std::thread::Builder::new().name("parent".into()).spawn(move || {
        while getppid() == parent {
            std::thread::sleep(INTERVAL);
        }
        let _ = kill_process(getpid(), signal);
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    fn is_over(ended: &OwnedFd, limit_s: i64) -> bool {
        let limit = Timespec { tv_sec: limit_s, tv_nsec: 0 };
        matches!(poll(&mut [PollFd::new(ended, PollFlags::IN)], Some(&limit)), Ok(1..))
    }

    #[test]
    fn a_parent_that_lives_is_not_over() {
        let ended = watch().expect("watched").expect("a parent");
        assert!(!is_over(&ended, 0));
        assert!(!is_over(&look(getppid().expect("a parent")).expect("watched"), 0));
    }

    #[test]
    fn a_process_that_is_not_the_parent_any_more_is_over() {
        let other = rustix::process::getpid();
        assert!(is_over(&look(other).expect("watched"), 60));
    }
}
