//! Threads that the system may refuse, because a limit is reached: then there is an error, never a panic.

use std::io;
use std::thread::{Builder, JoinHandle};
use tokio::sync::oneshot;

/// Starts a thread.
///
/// # Errors
/// The system refuses; the text says that a thread is missing.
pub(crate) fn start<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    let refused = |error: io::Error| io::Error::new(error.kind(), format!("cannot start a thread: {error}"));
    Builder::new().name(name.to_owned()).spawn(work).map_err(refused)
}

/// Does work that blocks, on a thread of its own. tokio's pool of such threads panics if the system refuses one.
///
/// # Errors
/// The system refuses a thread, or the work panics.
pub(crate) async fn finish<T: Send + 'static>(name: &str, work: impl FnOnce() -> T + Send + 'static) -> io::Result<T> {
    let (sender, done) = oneshot::channel();
    start(name, move || drop(sender.send(work())))?;
    done.await.map_err(|_| io::Error::other(format!("the thread {name} crashed; this is a bug")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_is_done_and_a_crash_is_an_error() {
        assert_eq!(finish("adder", || 1 + 1).await.expect("done"), 2);
        let crashed = finish("crash", || panic!("a crash that the test wants")).await;
        assert_eq!(crashed.unwrap_err().to_string(), "the thread crash crashed; this is a bug");
    }
}
