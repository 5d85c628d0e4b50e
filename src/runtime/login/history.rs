//! Which logins of this process did not help, so that the user is not asked again at once.

use super::LoginError;
use hyper::header::HeaderValue;
use std::time::{Duration, Instant};

/// After a login failed, brought a token that the server refuses, or did not bring the scopes of a request, the user is not
/// asked the same again for this long, however many requests need it.
const PAUSE: Duration = Duration::from_secs(60);
/// For how many sets of scopes, which servers choose, the user can be asked in this time.
const MAX_SETS: usize = 16;

/// The last logins.
#[derive(Default)]
pub(super) struct History {
    last: Option<(Instant, Result<(), LoginError>)>,
    scopes: Vec<(Instant, Vec<String>)>,
}

impl History {
    /// A login has ended.
    pub(super) fn note_login(&mut self, result: Result<(), LoginError>) {
        self.last = Some((Instant::now(), result));
    }

    /// If the last login did not help and was less than a minute ago: the seconds until the user is asked again, and why it
    /// failed, if it did. `helped` says whether the server accepted its token.
    pub(super) fn recent(&self, helped: bool) -> Option<(u64, Option<LoginError>)> {
        let (at, result) = self.last.as_ref()?;
        let left = left(*at)?;
        match result {
            Err(error) => Some((left, Some(error.clone()))),
            Ok(()) => (!helped).then_some((left, None)),
        }
    }

    /// A login for these scopes has ended.
    pub(super) fn note_scopes(&mut self, wanted: &[String]) {
        self.scopes.retain(|(at, _)| left(*at).is_some());
        self.scopes.push((Instant::now(), sorted(wanted)));
    }

    /// If the user was asked for these scopes, or for too many sets of scopes, less than a minute ago: the seconds until
    /// the user is asked again.
    pub(super) fn has_asked_for(&self, wanted: &[String]) -> Option<u64> {
        let wanted = sorted(wanted);
        let recent: Vec<(u64, &Vec<String>)> =
            self.scopes.iter().filter_map(|(at, scopes)| Some((left(*at)?, scopes))).collect();
        let same = recent.iter().find(|(_, scopes)| **scopes == wanted).map(|(left, _)| *left);
        same.or_else(|| recent.first().filter(|_| recent.len() >= MAX_SETS).map(|(left, _)| *left))
    }
}

/// The seconds until a minute after `at` is over; `None` afterwards.
fn left(at: Instant) -> Option<u64> {
    PAUSE.checked_sub(at.elapsed()).filter(|left| !left.is_zero()).map(|left| left.as_secs())
}

fn sorted(scopes: &[String]) -> Vec<String> {
    let mut scopes = scopes.to_vec();
    scopes.sort_unstable();
    scopes.dedup();
    scopes
}

/// What the server said when the token of the last login was used for the first time.
#[derive(Default)]
pub(super) struct FirstUse {
    token: Option<HeaderValue>,
    is_accepted: Option<bool>,
}

impl FirstUse {
    /// The token of a login that was not used yet.
    pub(super) fn of(token: Option<HeaderValue>) -> Self {
        Self { token, is_accepted: None }
    }

    /// The server has accepted or refused a token.
    pub(super) fn note(&mut self, token: &HeaderValue, is_accepted: bool) {
        if self.token.as_ref() == Some(token) {
            self.is_accepted.get_or_insert(is_accepted);
        }
    }

    /// Whether the server refused the token of the last login at once. One that worked and then expired was a help.
    pub(super) fn is_refused(&self) -> bool {
        self.is_accepted == Some(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scopes(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn the_user_is_asked_once_for_each_set_of_scopes() {
        let mut history = History::default();
        history.note_scopes(&scopes("write admin"));
        assert!(history.has_asked_for(&scopes("admin write admin")).is_some());
        assert!(history.has_asked_for(&scopes("write")).is_none());
        assert!(history.recent(false).is_none(), "logins are another matter");
        for number in 1..MAX_SETS {
            history.note_scopes(&scopes(&format!("made-up-{number}")));
        }
        assert!(history.has_asked_for(&scopes("another")).is_some(), "a server cannot ask without end");
    }

    #[test]
    fn only_a_login_whose_token_is_refused_at_once_did_not_help() {
        let mut history = History::default();
        history.note_login(Ok(()));
        let (token, other) = (HeaderValue::from_static("Bearer 1"), HeaderValue::from_static("Bearer 0"));
        for (uses, is_refused) in [
            (&[(&token, false)][..], true),
            (&[(&token, true), (&token, false)], false),
            (&[(&other, false), (&token, true)], false),
            (&[], false),
        ] {
            let mut first = FirstUse::of(Some(token.clone()));
            uses.iter().for_each(|(token, is_accepted)| first.note(token, *is_accepted));
            assert_eq!(first.is_refused(), is_refused, "{uses:?}");
            assert_eq!(history.recent(!first.is_refused()).is_some(), is_refused);
        }
        history.note_login(Err(LoginError::Random));
        assert!(matches!(history.recent(true), Some((_, Some(LoginError::Random)))));
    }
}
