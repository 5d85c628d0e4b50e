//! The signals that this process ignored at its start, because its parent chose so (`nohup`).
//!
//! Fallback: none. mcpreel then catches and passes on signals that its parent wanted to be ignored.

use std::sync::OnceLock;

/// Whether this process ignores a signal since its start.
pub(crate) fn contains(signal: i32) -> bool {
    static IGNORED: OnceLock<u64> = OnceLock::new();
    IGNORED.get_or_init(read) & (1 << (signal - 1)) != 0
}

/// The signals as a bit mask; 0 if unknown.
#[cfg(on_linux)]
fn read() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(not(on_linux))]
fn read() -> u64 {
    0
}
