//! How long requests wait for tokens, which is not time of the server, and whether the user is logging in.

use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// The requests of one login that wait for a token.
#[derive(Clone, Debug)]
pub(crate) struct Waiting(Arc<watch::Sender<State>>);

#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// How many requests wait.
    requests: u32,
    /// Since when at least one does.
    since: Option<Instant>,
    /// The time before, in which at least one did.
    before: Duration,
    /// How many logins wait for the user.
    users: u32,
}

impl Default for Waiting {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(State::default())))
    }
}

impl Waiting {
    /// A request waits until the result is dropped.
    pub(crate) fn begin(&self) -> Wait {
        self.0.send_modify(|state| {
            state.requests += 1;
            state.since.get_or_insert_with(Instant::now);
        });
        Wait { waiting: self.clone(), is_for_user: false }
    }

    /// A login waits for the user until the result is dropped.
    pub(crate) fn ask_user(&self) -> Wait {
        self.0.send_modify(|state| state.users += 1);
        Wait { waiting: self.clone(), is_for_user: true }
    }

    /// The time up to `now` in which at least one request waited.
    pub(crate) fn total(&self, now: Instant) -> Duration {
        let state = *self.0.borrow();
        state.before + state.since.map_or(Duration::ZERO, |since| now.saturating_duration_since(since))
    }

    /// Whether a request waits now, and a future that completes when that may have changed.
    pub(crate) fn watch(&self) -> (bool, impl Future<Output = ()> + use<>) {
        let mut watched = self.0.subscribe();
        let is_open = watched.borrow_and_update().requests > 0;
        let changed = async move {
            let _ = watched.changed().await;
        };
        (is_open, changed)
    }

    /// Completes as soon as a login waits for the user.
    pub(crate) async fn user_is_asked(&self) {
        let _ = self.0.subscribe().wait_for(|state| state.users > 0).await;
    }
}

/// A request that waits, or a login that waits for the user.
pub(crate) struct Wait {
    waiting: Waiting,
    is_for_user: bool,
}

impl Drop for Wait {
    fn drop(&mut self) {
        let is_for_user = self.is_for_user;
        self.waiting.0.send_modify(|state| {
            if is_for_user {
                state.users -= 1;
                return;
            }
            state.requests -= 1;
            if state.requests == 0
                && let Some(since) = state.since.take()
            {
                state.before += since.elapsed();
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::sleep;

    #[tokio::test(start_paused = true)]
    async fn time_counts_once_however_many_requests_wait() {
        let waiting = Waiting::default();
        let second = Duration::from_secs(1);
        let first = waiting.begin();
        sleep(second).await;
        let other = waiting.begin();
        assert!(waiting.watch().0);
        sleep(second).await;
        drop(first);
        sleep(second).await;
        assert_eq!(waiting.total(Instant::now()), 3 * second);
        let (is_open, changed) = waiting.watch();
        drop(other);
        assert!(is_open);
        changed.await;
        sleep(second).await;
        assert_eq!((waiting.total(Instant::now()), waiting.watch().0), (3 * second, false));
    }

    #[tokio::test(start_paused = true)]
    async fn a_login_that_waits_for_the_user_is_announced() {
        let waiting = Waiting::default();
        assert!(tokio::time::timeout(Duration::from_secs(1), waiting.user_is_asked()).await.is_err());
        let asked = waiting.ask_user();
        waiting.user_is_asked().await;
        drop(asked);
        assert!(tokio::time::timeout(Duration::from_secs(1), waiting.user_is_asked()).await.is_err());
        assert!(!waiting.watch().0, "no request waits");
    }
}
