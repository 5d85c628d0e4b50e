//! A progress bar on standard error, for work that takes longer than half a second.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::{Duration, Instant};

/// No bar is shown before this time.
const GRACE_PERIOD: Duration = Duration::from_millis(500);

/// Progress through a number of bytes.
pub(crate) struct Progress {
    bar: ProgressBar,
    started: Instant,
    visible: bool,
    allowed: bool,
}

impl Progress {
    /// Creates a progress bar for `total` bytes of `what`; it is never shown if `allowed` is false.
    pub(crate) fn bytes(what: &'static str, total: u64, allowed: bool) -> Self {
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template("{msg} {wide_bar} {bytes}/{total_bytes} {eta}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message(what);
        Self { bar, started: Instant::now(), visible: false, allowed }
    }

    /// Sets the number of bytes that are done.
    pub(crate) fn reach(&mut self, position: u64) {
        if !self.allowed {
            return;
        }
        if !self.visible && self.started.elapsed() > GRACE_PERIOD {
            self.visible = true;
            self.bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
        }
        self.bar.set_position(position);
    }

    /// Removes the bar.
    pub(crate) fn finish(self) {
        self.bar.finish_and_clear();
    }
}
