//! The priority of a single thread.
//!
//! Fallback: it stays. Elsewhere, the same system call would lower that of the whole process.

/// Makes the calling thread less important, by this many steps of `nice`.
#[cfg(on_linux)]
pub(crate) fn lower(steps: i32) {
    let own = rustix::process::getpriority_process(None).unwrap_or_default();
    let _ = rustix::process::setpriority_process(None, own + steps);
}

/// Makes the calling thread less important, by this many steps of `nice`.
#[cfg(not(on_linux))]
pub(crate) fn lower(_steps: i32) {}
