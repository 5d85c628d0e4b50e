//! What the system says about other processes of the user.
//!
//! Fallback: only whether a process exists. Nothing is known of its parent and command line, so no process is recognised
//! as one of a handler.

/// Whether the parents and command lines of processes are known.
#[cfg(on_linux)]
pub(crate) fn is_known() -> bool {
    std::fs::exists("/proc/self/stat").unwrap_or_default()
}

/// The parent of a process; `None` if the process is gone or nothing is known.
#[cfg(on_linux)]
pub(crate) fn parent(process: i32) -> Option<i32> {
    let stat = std::fs::read(format!("/proc/{process}/stat")).ok()?;
    // The name in parentheses may contain anything.
    String::from_utf8_lossy(&stat).rsplit(')').next()?.split_whitespace().nth(1)?.parse().ok()
}

/// The command line of a process, each word with a zero byte at its end; `None` if the process is gone or nothing is known.
#[cfg(on_linux)]
pub(crate) fn command_line(process: i32) -> Option<Vec<u8>> {
    std::fs::read(format!("/proc/{process}/cmdline")).ok()
}

/// Whether there is certainly no process with this number.
#[cfg(on_linux)]
pub(crate) fn is_gone(process: u32) -> bool {
    use std::path::Path;
    !Path::new("/proc").join(process.to_string()).exists() && Path::new("/proc/self").exists()
}

/// Whether the parents and command lines of processes are known.
#[cfg(not(on_linux))]
pub(crate) fn is_known() -> bool {
    false
}

/// The parent of a process; `None` if the process is gone or nothing is known.
#[cfg(not(on_linux))]
pub(crate) fn parent(_process: i32) -> Option<i32> {
    None
}

/// The command line of a process, each word with a zero byte at its end; `None` if the process is gone or nothing is known.
#[cfg(not(on_linux))]
pub(crate) fn command_line(_process: i32) -> Option<Vec<u8>> {
    None
}

/// Whether there is certainly no process with this number.
#[cfg(not(on_linux))]
pub(crate) fn is_gone(process: u32) -> bool {
    use rustix::io::Errno;
    use rustix::process::{Pid, test_kill_process};
    let pid = i32::try_from(process).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| test_kill_process(pid) == Err(Errno::SRCH))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_there_until_its_status_is_collected() {
        assert!(!is_gone(std::process::id()));
        let mut child = std::process::Command::new("true").spawn().expect("started");
        child.wait().expect("ended");
        assert!(is_gone(child.id()));
    }

    #[test]
    fn nothing_is_said_about_a_process_if_nothing_is_known() {
        let own = i32::try_from(std::process::id()).expect("a process id");
        assert_eq!(parent(own).is_some(), is_known());
        assert_eq!(command_line(own).is_some(), is_known());
    }
}
