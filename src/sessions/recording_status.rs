//! The status of a recording for other threads: where its reel is, what is wrong, and a callback for when a required
//! recording cannot continue.

use crate::files::created::CreatedFile;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// Called when a required recording cannot continue.
pub(crate) type GivenUp = Box<dyn FnOnce() + Send>;

/// See the module.
#[derive(Default)]
pub struct RecordingStatus(Mutex<State>);

#[derive(Default)]
struct State {
    /// The current reel, if it is a file.
    place: Option<CreatedFile>,
    is_recording: bool,
    problem: Option<String>,
    lost_bytes: u64,
    given_up: Option<String>,
    when_given_up: Option<GivenUp>,
}

impl RecordingStatus {
    /// A reel takes events, for the first time or again.
    pub(crate) fn records_to(&self, place: Option<CreatedFile>) {
        let mut state = self.0.lock();
        (state.place, state.is_recording) = (place, true);
    }

    /// Something is wrong; events are lost until a reel takes them again.
    pub(crate) fn fails(&self, problem: &str) {
        let mut state = self.0.lock();
        (state.problem, state.is_recording) = (Some(problem.to_owned()), false);
    }

    /// Counts bytes that are not in any reel.
    pub(crate) fn loses(&self, bytes: u64) {
        self.0.lock().lost_bytes += bytes;
    }

    /// The recording is required and cannot continue.
    pub(crate) fn give_up(&self, why: &str) {
        let mut state = self.0.lock();
        state.given_up = Some(why.to_owned());
        let receive = state.when_given_up.take();
        drop(state);
        if let Some(receive) = receive {
            receive();
        }
    }

    /// Why the recording was given up, if it was.
    pub fn given_up(&self) -> Option<String> {
        self.0.lock().given_up.clone()
    }

    /// Calls `receive` when the recording is given up; at once if it already was.
    pub fn when_given_up(&self, receive: impl FnOnce() + Send + 'static) {
        let mut state = self.0.lock();
        if state.given_up.is_none() {
            state.when_given_up = Some(Box::new(receive));
            return;
        }
        drop(state);
        receive();
    }

    /// The path of the current or last reel.
    pub fn reel(&self) -> Option<PathBuf> {
        self.0.lock().place.as_ref().map(|place| place.path.clone())
    }

    /// Removes the current reel, if it is still the file that was created.
    pub(crate) fn discard(&self) {
        if let Some(place) = self.0.lock().place.take().filter(CreatedFile::holds) {
            let _ = std::fs::remove_file(&place.path);
        }
    }

    /// The members for the control socket. A missing file is noticed here at once, but by the recorder only when it
    /// writes.
    pub(crate) fn details(&self) -> Map<String, Value> {
        let (place, is_recording, mut problem, lost_bytes) = {
            let state = self.0.lock();
            (state.place.clone(), state.is_recording, state.problem.clone(), state.lost_bytes)
        };
        let mut is_recording = is_recording;
        if let Some(place) = place.as_ref().filter(|place| is_recording && !place.holds()) {
            problem = Some(format!("{} was removed, moved or replaced", place.path.display()));
            is_recording = false;
        }
        let reel = place.map_or(Value::Null, |place| place.path.to_string_lossy().into());
        let mut recording = json!({"active": is_recording, "lost_bytes": lost_bytes});
        if let Some(problem) = problem {
            recording["problem"] = problem.into();
        }
        [("reel".to_owned(), reel), ("recording".to_owned(), recording)].into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn who_waits_for_the_end_of_a_required_recording_receives_it_once_early_or_late() {
        let received = Arc::new(AtomicUsize::new(0));
        let receive = || {
            let received = Arc::clone(&received);
            move || {
                received.fetch_add(1, Ordering::Relaxed);
            }
        };
        let status = RecordingStatus::default();
        status.when_given_up(receive());
        assert_eq!(received.load(Ordering::Relaxed), 0);
        status.give_up("removed");
        status.when_given_up(receive());
        assert_eq!((received.load(Ordering::Relaxed), status.given_up().as_deref()), (2, Some("removed")));
    }

    #[test]
    fn a_problem_stays_reported_when_recording_goes_on() {
        let status = RecordingStatus::default();
        status.fails("cannot write a.reel: full");
        status.loses(7);
        status.records_to(None);
        let recording = json!({"active": true, "lost_bytes": 7, "problem": "cannot write a.reel: full"});
        assert_eq!(status.details()["recording"], recording);
    }
}
