//! The signals that this process ignored at its start, because its parent chose so (`nohup`).
//!
//! Fallback: none. mcpreel then catches and passes on signals that its parent wanted to be ignored.

use std::sync::atomic::{AtomicU64, Ordering};

/// A bit for each signal.
static IGNORED: AtomicU64 = AtomicU64::new(0);

/// Whether this process ignores a signal since its start.
pub(crate) fn contains(signal: i32) -> bool {
    IGNORED.load(Ordering::Relaxed) & (1 << (signal - 1)) != 0
}

/// Runs before `main`, because Rust then ignores SIGPIPE, whatever the parent chose. So it uses nothing but the system.
#[cfg(on_linux)]
#[ctor::ctor]
fn look() {
    use rustix::fs::{Mode, OFlags, open};
    const NAME: &[u8] = b"\nSigIgn:\t";
    let mut status = [0; 4096];
    let Ok(file) = open("/proc/self/status", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()) else { return };
    let Ok(length) = rustix::io::read(&file, &mut status) else { return };
    let status = status.get(..length).unwrap_or_default();
    let Some(at) = status.windows(NAME.len()).position(|text| text == NAME) else { return };
    let digits = status.iter().skip(at + NAME.len()).map_while(|digit| char::from(*digit).to_digit(16));
    IGNORED.store(digits.fold(0, |mask, digit| mask << 4 | u64::from(digit)), Ordering::Relaxed);
}
