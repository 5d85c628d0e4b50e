//! Following reels that still grow, for `show --follow`, `validate --follow` and `record --check`.

use crate::error::Warn;
use crate::files::reels;
use crate::sessions::live::Live;
use crate::trace::{Item, ReelReader};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long to wait before a growing reel is read again.
pub(crate) const FOLLOW_PAUSE: Duration = Duration::from_millis(40);

/// How often a follower checks whether the reel can still grow.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// Says whether a followed reel can still grow, and where its session continues.
pub(crate) struct GrowingReel<'a> {
    live: Option<&'a Live>,
    path: PathBuf,
    identity: (u64, u64),
    checked: Instant,
    is_abandoned: bool,
}

impl<'a> GrowingReel<'a> {
    /// The reel at this path, of this live session if one was named.
    pub(crate) fn new(live: Option<&'a Live>, path: &Path) -> Self {
        let identity = reels::identity(path).unwrap_or_default();
        Self { live, path: path.to_owned(), identity, checked: Instant::now(), is_abandoned: false }
    }

    /// Whether the reel can still grow. A killed recorder does not mark the end of its reel, but its session is gone,
    /// and the file is no longer locked. A running session may have continued in another reel.
    pub(crate) fn goes_on(&mut self) -> bool {
        if self.checked.elapsed() < CHECK_INTERVAL {
            return true;
        }
        self.checked = Instant::now();
        match self.live {
            Some(live) => live.lives() && live.other_reel(self.identity).is_none(),
            None => {
                self.is_abandoned = reels::is_abandoned(&self.path);
                !self.is_abandoned
            }
        }
    }

    /// Whether the reel ended without its end mark.
    pub(crate) fn is_cut_off(&self) -> bool {
        self.is_abandoned
    }

    /// Reports that the reel ended without its end mark, if it did.
    pub(crate) fn report_end(&self, warn: Warn) {
        if self.is_abandoned {
            reels::report_missing_end(&self.path, warn);
        }
    }

    /// The live session that was named.
    pub(crate) fn live(&self) -> Option<&'a Live> {
        self.live
    }

    /// Waits until the session records to another file than this one, which has ended or is gone. Returns `None` when
    /// the session is gone, or `is_over`.
    pub(crate) fn next_reel(&mut self, is_over: impl Fn() -> bool) -> Option<PathBuf> {
        let live = self.live?;
        while live.lives() && !is_over() {
            if let Some(next) = live.other_reel(self.identity) {
                *self = Self::new(self.live, &next);
                return Some(next);
            }
            std::thread::sleep(FOLLOW_PAUSE);
        }
        None
    }
}

/// Reads a reel that grows, to its end, or until `goes_on` is false and everything that was written before is read.
///
/// # Errors
///
/// The reel cannot be read.
pub(crate) fn follow(
    reader: &mut ReelReader,
    mut goes_on: impl FnMut() -> bool,
    mut take: impl FnMut(&Item),
) -> io::Result<()> {
    let mut is_last_look = false;
    loop {
        match reader.next()? {
            Some(item) => {
                take(&item);
                if let Item::Block(block) = item {
                    reader.recycle(block);
                }
            }
            None if is_last_look || reader.has_ended() => return Ok(()),
            None => {
                is_last_look = !goes_on();
                if !is_last_look {
                    std::thread::sleep(FOLLOW_PAUSE);
                }
            }
        }
    }
}
