//! A progress bar on standard error, for work that takes longer than half a second.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use parking_lot::Mutex;
use std::time::{Duration, Instant};

/// No progress bar is shown before this time.
const PROGRESS_DELAY: Duration = Duration::from_millis(500);

/// How often the bar moves while the extent of the work is unknown.
const TICK: Duration = Duration::from_millis(100);

/// Progress through a number of bytes, or of pieces of work.
pub(super) struct Progress {
    bar: ProgressBar,
    started: Instant,
    visible: bool,
    allowed: bool,
}

impl Progress {
    /// Creates a progress bar for `total` bytes of `what`; it is never shown if `allowed` is false.
    pub(super) fn bytes(what: &'static str, total: u64, allowed: bool) -> Self {
        Self::new(what, total, allowed, "{spinner} {msg} {wide_bar} {bytes}/{total_bytes} {eta}")
    }

    /// Creates a progress bar that is never shown.
    pub(super) fn none() -> Self {
        Self::bytes("", 0, false)
    }

    /// Creates a progress bar for `total` pieces of work.
    pub(super) fn count(what: &'static str, total: u64, allowed: bool) -> Self {
        Self::new(what, total, allowed, "{spinner} {msg} {wide_bar} {pos}/{len} {elapsed}")
    }

    fn new(what: &'static str, total: u64, allowed: bool, template: &str) -> Self {
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template(template);
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message(what);
        Self { bar, started: Instant::now(), visible: false, allowed }
    }

    /// Sets how much is done.
    pub(super) fn reach(&mut self, position: u64) {
        if !self.allowed {
            return;
        }
        if !self.visible && self.started.elapsed() > PROGRESS_DELAY {
            self.visible = true;
            self.bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
        }
        self.bar.set_position(position);
    }

    /// Hides the bar while something else is printed.
    pub(super) fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        if self.visible { self.bar.suspend(print) } else { print() }
    }

    /// Removes the bar.
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Progress that several threads make together.
pub(super) struct SharedProgress(Mutex<(Progress, u64)>);

impl SharedProgress {
    /// Shares a progress bar.
    pub(super) fn new(progress: Progress) -> Self {
        Self(Mutex::new((progress, 0)))
    }

    /// Adds to the number of bytes that are done.
    pub(super) fn advance(&self, bytes: u64) {
        self.with(|progress, done| {
            *done += bytes;
            progress.reach(*done);
        });
    }

    /// Starts again from the beginning.
    pub(super) fn restart(&self) {
        self.with(|progress, done| {
            *done = 0;
            progress.bar.disable_steady_tick();
            progress.bar.set_position(0);
        });
    }

    /// Work begins whose extent is unknown: the bar only shows that time passes.
    pub(super) fn work(&self) {
        self.with(|progress, _| {
            if progress.visible {
                progress.bar.enable_steady_tick(TICK);
            }
        });
    }

    /// Removes the bar.
    pub(super) fn finish(self) {
        self.0.into_inner().0.finish();
    }

    fn with(&self, work: impl FnOnce(&mut Progress, &mut u64)) {
        let mut guard = self.0.lock();
        let (progress, done) = &mut *guard;
        work(progress, done);
    }
}
