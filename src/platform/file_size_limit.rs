//! The limit for the size of files (`ulimit -f`).
//!
//! The same on all Unix systems, so there is no fallback.

use rustix::process::{Resource, getrlimit};
use signal_hook::consts::SIGXFSZ;
use std::sync::Arc;

/// The limit, in bytes.
pub(crate) fn bytes() -> Option<u64> {
    getrlimit(Resource::Fsize).current
}

/// Turns exceeding the limit into a failed write, which can be reported; otherwise a signal kills this process. A signal
/// that is ignored stays so for child processes; a handler is not inherited.
pub(crate) fn report_as_error() {
    if !super::ignored_signals::contains(SIGXFSZ) {
        let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
    }
}
