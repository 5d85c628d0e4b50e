//! When and how an expectation is decided: what is open, what was counted, and what came closest.

use super::expect::{Bound, Expectation, Miss, Sight, Want};
use super::report::Failure;
use std::sync::Arc;
use std::time::Duration;

/// How long something missing may still arrive after an action is over.
const GRACE_PERIOD: Duration = Duration::from_secs(1);

/// An expectation that is not decided yet.
#[derive(Debug)]
pub(super) struct Open {
    pub index: usize,
    expectation: Arc<Expectation>,
    want: Want,
    began: Duration,
    count: u64,
    /// The time of a match after the deadline, and its text.
    late: Option<(Duration, String)>,
    broken: Option<String>,
    nearest: Option<(u32, String, String)>,
}

impl Open {
    /// Opens an expectation, in repetition `n` if it is in one.
    pub(super) fn new(index: usize, expectation: &Arc<Expectation>, began: Duration, n: Option<u64>) -> Self {
        let want = n.map_or_else(|| expectation.want.clone(), |n| expectation.want.filled(n));
        let expectation = Arc::clone(expectation);
        Self { index, expectation, want, began, count: 0, late: None, broken: None, nearest: None }
    }

    /// Compares with an observation. `waits_for` is the id that must be met before, if it is not. Returns whether this
    /// meets the expectation.
    pub(super) fn look(&mut self, now: Duration, sight: &Sight<'_>, waits_for: Option<&str>) -> bool {
        if !self.want.is_about(sight) {
            return false;
        }
        let fits = self.want.fits(sight).and_then(|()| match waits_for {
            Some(id) => Err(Miss { near: 8, why: format!("it arrived before {id:?} was met"), breaks: false }),
            None => Ok(()),
        });
        match fits {
            Ok(()) if self.limit().is_some_and(|limit| now > limit) => {
                let want = &self.want;
                self.late.get_or_insert_with(|| (now, want.shown(sight)));
                false
            }
            Ok(()) => {
                self.count += 1;
                if self.count > self.most() {
                    self.note_nearest(u32::MAX, "", sight);
                }
                match self.expectation.bound {
                    Bound::AtLeast(count) | Bound::Exactly(count) => self.count == count,
                    Bound::Never => false,
                }
            }
            Err(Miss { near, why, breaks }) => {
                self.note_nearest(near, &why, sight);
                if breaks {
                    self.broken.get_or_insert(why);
                }
                false
            }
        }
    }

    fn note_nearest(&mut self, near: u32, why: &str, sight: &Sight<'_>) {
        // Something entirely different is not a near miss.
        if near > self.nearest.as_ref().map_or(0, |nearest| nearest.0) {
            self.nearest = Some((near, why.to_owned(), self.want.shown(sight)));
        }
    }

    fn most(&self) -> u64 {
        match self.expectation.bound {
            Bound::AtLeast(_) => u64::MAX,
            Bound::Exactly(count) => count,
            Bound::Never => 0,
        }
    }

    fn limit(&self) -> Option<Duration> {
        self.expectation.within.map(|within| self.began.saturating_add(within))
    }

    /// The deadline (inclusive); `None` while the action is in progress.
    fn deadline(&self, done: Option<Duration>) -> Option<Duration> {
        let follows = if self.want.may_follow() { GRACE_PERIOD } else { Duration::ZERO };
        self.limit().or_else(|| done.map(|done| done.saturating_add(follows)))
    }

    /// When to check again if it is not decided: just after the deadline.
    pub(super) fn wakes(&self, done: Option<Duration>) -> Option<Duration> {
        Some(self.deadline(done)?.saturating_add(Duration::from_nanos(1)))
    }

    /// The verdict, if it is decided; `Err` says what is wrong. `done` is when the action was over.
    pub(super) fn verdict(&self, now: Duration, done: Option<Duration>) -> Option<Result<(), Failure>> {
        if self.broken.is_some() || self.count > self.most() {
            return Some(Err(self.failure(now)));
        }
        // If nothing can follow, it ends with the action.
        let is_over = match (self.limit(), done) {
            (None, Some(_)) if !self.want.may_follow() => true,
            _ => self.deadline(done).is_some_and(|at| now > at),
        };
        match self.expectation.bound {
            Bound::AtLeast(count) if self.count >= count && !self.can_break(done, is_over) => Some(Ok(())),
            Bound::AtLeast(_) if is_over => Some(if self.is_met() { Ok(()) } else { Err(self.failure(now)) }),
            Bound::Exactly(_) | Bound::Never if is_over => {
                Some(if self.is_met() { Ok(()) } else { Err(self.failure(now)) })
            }
            _ => None,
        }
    }

    fn is_met(&self) -> bool {
        match self.expectation.bound {
            Bound::AtLeast(count) => self.count >= count,
            Bound::Exactly(count) => self.count == count,
            Bound::Never => self.count == 0,
        }
    }

    /// Whether something forbidden may still arrive: another prompt of the turn, with the text that it must not
    /// contain.
    fn can_break(&self, done: Option<Duration>, is_over: bool) -> bool {
        matches!(&self.want, Want::Prompt(want) if want.lacks.is_some()) && done.is_none() && !is_over
    }

    /// Starts its time.
    pub(super) fn begin(&mut self, now: Duration) {
        self.began = now;
    }

    /// The verdict if everything ends now.
    ///
    /// # Errors
    ///
    /// Why the expectation is not met.
    pub(super) fn ends(&self, now: Duration) -> Result<(), Failure> {
        if self.broken.is_none() && self.is_met() { Ok(()) } else { Err(self.failure(now)) }
    }

    fn failure(&self, now: Duration) -> Failure {
        let times = |count: u64| if count == 1 { "once".to_owned() } else { format!("{count} times") };
        let wanted = match self.expectation.bound {
            Bound::AtLeast(count) if count > 1 => format!(", expected at least {}", times(count)),
            Bound::Exactly(count) => format!(", expected exactly {}", times(count)),
            Bound::Never => ", expected never".to_owned(),
            Bound::AtLeast(_) => String::new(),
        };
        let near = self.nearest.as_ref();
        let why = match (&self.broken, &self.late) {
            (Some(why), _) => why.clone(),
            (None, Some((at, _))) if self.count == 0 => {
                format!("seen only after {:?}", at.saturating_sub(self.began))
            }
            _ if self.count > 0 => format!("seen {}{wanted}", times(self.count)),
            _ => match near {
                Some((_, why, _)) => format!("not seen{wanted}; the closest candidate does not match: {why}"),
                None => format!("not seen{wanted}"),
            },
        };
        let late = self.late.as_ref().map(|(_, shown)| shown);
        let nearest = late.filter(|_| self.count == 0).or(near.map(|(_, _, shown)| shown)).cloned();
        Failure { at: now, repeat: None, why, nearest }
    }
}
