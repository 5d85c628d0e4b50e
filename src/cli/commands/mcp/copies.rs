//! Redacted copies of recordings, in files without a name. A copy of a long recording may take longer than a request: then
//! the work goes on, and a later request gets the result.

use super::answer::Problem;
use super::child::{self, Bounds, Stop};
use crate::cli::recordings::twice::unnamed_file;
use crate::platform::open_file::path_for_others;
use parking_lot::{Condvar, Mutex};
use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// The maximum number of copies that are kept, in addition to those for which requests wait.
const MAX_COPIES: usize = 4;
/// How long the work on a copy may take.
const MAX_WORK: Duration = Duration::from_secs(3600);
/// The references to work for which no request waits: of its copy, and of its thread.
const UNAWAITED: usize = 2;
/// How often a request that waits finds out whether it was cancelled.
const PAUSE: Duration = Duration::from_millis(50);

/// The copies that were used last.
#[derive(Default)]
pub(super) struct Copies(Mutex<Vec<RedactedCopy>>);

struct RedactedCopy {
    of: Version,
    work: Arc<Work>,
}

/// The work on a copy, which another thread does.
#[derive(Default)]
struct Work {
    stop: Stop,
    made: Mutex<Option<Result<Arc<File>, Problem>>>,
    done: Condvar,
}

/// A file, as it was at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Version {
    file: (u64, u64),
    bytes: u64,
    changed: (i64, i64),
}

impl Version {
    fn of(about: &Metadata) -> Self {
        let (file, bytes) = ((about.dev(), about.ino()), about.len());
        Self { file, bytes, changed: (about.mtime(), about.mtime_nsec()) }
    }
}

impl Copies {
    /// Returns the redacted copy of a reel. `options` go to `redact`.
    ///
    /// # Errors
    ///
    /// The reel cannot be redacted, or not until the request's end.
    pub(super) fn of(
        &self,
        reel: &Arc<File>,
        options: [OsString; 2],
        bounds: Bounds<'_>,
    ) -> Result<Arc<File>, Problem> {
        let unreadable = |error: io::Error| Problem::new(format!("the recording cannot be read: {error}"));
        let version = Version::of(&reel.metadata().map_err(unreadable)?);
        let work = self.work_on(version, || Work::begin(reel, options))?;
        let made = work.wait(bounds)?;
        if made.is_err() {
            // The next request tries again.
            self.0.lock().retain(|copy| !Arc::ptr_eq(&copy.work, &work));
        }
        made
    }

    /// The work on the copy of a version, which begins unless it has begun. What grows faster than it can be redacted is
    /// shown as it was when the work on it began.
    fn work_on(
        &self,
        version: Version,
        begin: impl FnOnce() -> Result<Arc<Work>, Problem>,
    ) -> Result<Arc<Work>, Problem> {
        let mut copies = self.0.lock();
        let is_right = |copy: &RedactedCopy| copy.of == version || copy.of.file == version.file && !copy.work.is_over();
        let copy = match copies.iter().position(is_right) {
            Some(at) => copies.remove(at),
            None => RedactedCopy { of: version, work: begin()? },
        };
        let work = Arc::clone(&copy.work);
        copies.insert(0, copy);
        while copies.len() > MAX_COPIES {
            let last = |is: &dyn Fn(&RedactedCopy) -> bool| copies.iter().rposition(is);
            let is_unawaited = |copy: &RedactedCopy| Arc::strong_count(&copy.work) <= UNAWAITED;
            let Some(at) = last(&|copy| copy.work.is_over()).or_else(|| last(&is_unawaited)) else { break };
            copies.remove(at);
        }
        Ok(work)
    }
}

impl Drop for RedactedCopy {
    fn drop(&mut self) {
        self.work.stop.stop();
    }
}

impl Work {
    fn begin(reel: &Arc<File>, options: [OsString; 2]) -> Result<Arc<Self>, Problem> {
        let work = Arc::new(Self::default());
        let (reel, made) = (Arc::clone(reel), Arc::clone(&work));
        let worker = thread::Builder::new().name("redaction".into()).spawn(move || {
            let until = Instant::now() + MAX_WORK;
            let bounds = Bounds { until, limit: MAX_WORK, stop: &made.stop };
            let copy = redacted(&reel, options, bounds).map(Arc::new);
            *made.made.lock() = Some(copy);
            made.done.notify_all();
        });
        worker.map_err(|error| Problem::new(format!("cannot start a thread: {error}")))?;
        Ok(work)
    }

    fn is_over(&self) -> bool {
        self.made.lock().is_some()
    }

    /// Waits for the end of the work. The outer error is that of the request, which ends before.
    fn wait(&self, bounds: Bounds<'_>) -> Result<Result<Arc<File>, Problem>, Problem> {
        let mut made = self.made.lock();
        loop {
            if let Some(made) = &*made {
                return Ok(made.clone());
            }
            bounds.stop.check()?;
            let left = bounds.until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let limit = format!("the recording is long, and was not redacted within {:?}", bounds.limit);
                return Err(Problem::new(limit).hint("the work goes on: send the same request again"));
            }
            self.done.wait_for(&mut made, left.min(PAUSE));
        }
    }
}

fn redacted(reel: &File, options: [OsString; 2], bounds: Bounds<'_>) -> Result<File, Problem> {
    let file = unnamed_file().map_err(|error| Problem::new(format!("cannot write a temporary file: {error}")))?;
    let path = path_for_others(reel);
    let mut words = child::words(&["redact", "-o", "-"]);
    words.push(path.clone().into());
    words.extend(options);
    let ran = child::run_into(&words, bounds, &file)?;
    match ran.code {
        // 1: the reel ends in damage, for which the copy has a gap.
        Some(0 | 1) => Ok(file),
        _ => Err(Problem::new("this recording cannot be redacted, so nothing of it is shown")
            .quoting(&ran.report.replace(&*path.to_string_lossy(), "it"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_gets_the_result_and_who_waits_in_vain_hears_that_the_work_goes_on() {
        let (work, stop) = (Work::default(), Stop::default());
        let bounds = |limit| Bounds { until: Instant::now() + limit, limit, stop: &stop };
        let why = work.wait(bounds(Duration::ZERO)).expect_err("nothing is made").to_text();
        assert!(why.contains("not redacted within 0ns") && why.contains("the work goes on"), "{why}");
        thread::scope(|scope| {
            let waiting = scope.spawn(|| work.wait(bounds(Duration::from_secs(60))));
            *work.made.lock() = Some(Err(Problem::new("broken")));
            work.done.notify_all();
            assert_eq!(waiting.join().expect("no panic").expect("it is made").err(), Some(Problem::new("broken")));
        });
        let unmade = Work::default();
        stop.stop();
        let why = unmade.wait(bounds(Duration::from_secs(60))).expect_err("cancelled").to_text();
        assert!(why.contains("cancelled"), "{why}");
    }

    #[test]
    fn a_reel_that_grows_is_not_redacted_anew_before_the_work_on_it_is_over() {
        let version = Version { file: (1, 2), bytes: 3, changed: (4, 5) };
        let copies = Copies::default();
        copies.0.lock().push(RedactedCopy { of: version, work: Arc::default() });
        let work = |version| copies.work_on(version, || Ok(Arc::default())).expect("begun");
        let first = work(version);
        assert!(Arc::ptr_eq(&first, &work(Version { bytes: 9, ..version })));
        *first.made.lock() = Some(Err(Problem::new("over")));
        assert!(Arc::ptr_eq(&first, &work(version)), "the same version");
        assert!(!Arc::ptr_eq(&first, &work(Version { bytes: 9, ..version })), "another version");
        assert!(!Arc::ptr_eq(&first, &work(Version { file: (1, 3), ..version })), "another file");
    }

    #[test]
    fn work_for_which_a_request_waits_is_kept_and_a_finished_copy_goes_first() {
        let (copies, threads) = (Copies::default(), Mutex::<Vec<Arc<Work>>>::default());
        let work = |inode: u64| {
            let version = Version { file: (1, inode), bytes: 3, changed: (4, 5) };
            let begin = || {
                let work = Arc::<Work>::default();
                threads.lock().push(Arc::clone(&work));
                Ok(work)
            };
            copies.work_on(version, begin).expect("begun")
        };
        let kept = || copies.0.lock().iter().map(|copy| copy.of.file.1).collect::<Vec<_>>();
        let awaited: Vec<Arc<Work>> = (1..=2).map(work).collect();
        *work(3).made.lock() = Some(Err(Problem::new("over")));
        (4..=6).for_each(|inode| drop(work(inode)));
        // 3 was finished; 4 is the oldest for which no request waits.
        assert_eq!(kept(), [6, 5, 2, 1]);
        let others: Vec<Arc<Work>> = (5..=8).map(work).collect();
        assert_eq!(kept(), [8, 7, 6, 5, 2, 1], "requests wait for all");
        drop((awaited, others));
    }
}
