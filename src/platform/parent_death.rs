//! A signal to this process when its parent ends, however it ends.
//!
//! Fallback: a thread looks every half a second. It is gone once the process becomes another program, so a server whose
//! mcpreel is killed lives on until it sees that its stdin is closed.

use rustix::process::Signal;
use std::io;

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
    use rustix::process::{getpid, getppid, kill_process};
    const INTERVAL: std::time::Duration = std::time::Duration::from_millis(500);
    let parent = getppid();
    std::thread::Builder::new().name("parent".into()).spawn(move || {
        while getppid() == parent {
            std::thread::sleep(INTERVAL);
        }
        let _ = kill_process(getpid(), signal);
    })?;
    Ok(())
}
