//! To which user message a context without a `messageId` belongs (SEP-1975, Timeouts; AMB-A1). Host and rules read it
//! here.
//!
//! It must never look at contents.

use std::time::Duration;

/// A user message without a context so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Awaited {
    /// When it was sent.
    pub since: Duration,
    /// While it waited, a context without a messageId came that may have been its own.
    maybe_answered: bool,
}

impl Awaited {
    /// A user message that was sent at this time.
    pub(super) fn since(since: Duration) -> Self {
        Self { since, maybe_answered: false }
    }

    /// Whether a context without a messageId may belong to it: before the deadline, or within its grace, which is one
    /// deadline more.
    fn may_be_answered(&self, now: Duration, deadline: Duration) -> bool {
        let waited = now.saturating_sub(self.since);
        waited < deadline || (!self.maybe_answered && waited < deadline.saturating_mul(2))
    }
}

/// Returns the only message that a context without a messageId may belong to; otherwise, to how many it may belong. A
/// message past its deadline counts for a grace, so that a late response is not used for a later message.
pub(super) fn correlate<'a, K>(
    waiting: impl IntoIterator<Item = (K, &'a mut Awaited)>,
    now: Duration,
    deadline: Duration,
) -> Result<K, usize> {
    let (live, past): (Vec<_>, Vec<_>) =
        waiting.into_iter().partition(|(_, awaited)| awaited.may_be_answered(now, deadline));
    // If all deadlines have passed, it is late, whichever it belongs to.
    let candidates = if live.is_empty() && past.len() == 1 { past } else { live };
    match <[_; 1]>::try_from(candidates) {
        Ok([(key, _)]) => Ok(key),
        Err(several) => {
            let count = several.len();
            several.into_iter().for_each(|(_, awaited)| awaited.maybe_answered = true);
            Err(count)
        }
    }
}
