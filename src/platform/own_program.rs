//! The path of this executable, for starting it again.
//!
//! Fallback: the path at which it was started, even if another version is there now.

use std::io;
use std::path::PathBuf;

/// The path. On Linux, it leads to this very version even if the file has been replaced.
///
/// # Errors
/// The system does not report the path.
#[cfg(on_linux)]
pub(crate) fn path() -> io::Result<PathBuf> {
    let path = std::env::current_exe()?;
    Ok(if path.exists() { path } else { PathBuf::from("/proc/self/exe") })
}

/// The path.
///
/// # Errors
/// The system does not report the path.
#[cfg(not(on_linux))]
pub(crate) fn path() -> io::Result<PathBuf> {
    std::env::current_exe()
}
