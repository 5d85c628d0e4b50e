//! Spreads the connections of a listener over two threads, so that many clients do not wait for one processor. Each
//! connection stays on its thread: nothing is passed from one thread to the other for a message.

use super::accept::keep_a_timer;
use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// The number of connections that share the listener's own thread before a second one starts. One thread serves few
/// clients as quickly, in less memory.
const FEW: usize = 4;

/// The threads that serve connections. Dropping it drops what the second thread serves.
#[derive(Default)]
pub(super) struct Spread {
    second: Option<SecondThread>,
    /// Copies are held by the connections of the listener's own thread.
    own: Arc<()>,
    /// Copies are held by the connections of the second thread.
    others: Arc<()>,
}

impl Spread {
    /// Serves a connection on the thread that has fewer of them.
    pub(super) fn spawn(&mut self, serve: impl Future<Output = ()> + Send + 'static) {
        let (own, others) = (Arc::strong_count(&self.own) - 1, Arc::strong_count(&self.others) - 1);
        if own < FEW || own <= others {
            let held = Arc::clone(&self.own);
            tokio::spawn(hold(held, serve));
        } else {
            let held = Arc::clone(&self.others);
            self.handle().spawn(hold(held, serve));
        }
    }

    /// Returns the runtime of the second thread, or of this one if there is no other processor or thread.
    fn handle(&mut self) -> Handle {
        if self.second.is_none() && thread::available_parallelism().is_ok_and(|processors| processors.get() > 1) {
            self.second = SecondThread::start().ok();
        }
        self.second.as_ref().map_or_else(Handle::current, |second| second.handle.clone())
    }
}

async fn hold(held: Arc<()>, serve: impl Future<Output = ()>) {
    serve.await;
    drop(held);
}

struct SecondThread {
    handle: Handle,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl SecondThread {
    fn start() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel();
        let thread = thread::Builder::new().name("connections".into()).spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    _ = stopped => {}
                    () = keep_a_timer() => {}
                }
            });
            // A name that is still being looked up must not hold up the end.
            runtime.shutdown_background();
        })?;
        Ok(Self { handle, stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for SecondThread {
    fn drop(&mut self) {
        drop(self.stop.take());
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use tokio::sync::mpsc;

    #[tokio::test]
    async fn many_connections_are_spread_and_end_with_the_listener() {
        let (served, mut seen) = mpsc::unbounded_channel();
        let mut spread = Spread::default();
        for _ in 0..3 * FEW {
            let served = served.clone();
            spread.spawn(async move {
                let _ = served.send(thread::current().id());
                // Until it is dropped.
                std::future::pending::<()>().await;
                drop(served);
            });
        }
        drop(served);
        let mut threads = HashMap::new();
        for _ in 0..3 * FEW {
            *threads.entry(seen.recv().await.expect("all are served")).or_insert(0) += 1;
        }
        let own = threads.remove(&thread::current().id()).unwrap_or_default();
        let others: usize = threads.into_values().sum();
        match thread::available_parallelism().map_or(1, std::num::NonZero::get) {
            1 => assert_eq!((own, others), (3 * FEW, 0)),
            _ => assert_eq!((own, others), (3 * FEW / 2, 3 * FEW / 2)),
        }
        // What the second thread serves holds a sender, which is gone once the thread has ended.
        drop(spread);
        assert_eq!(seen.sender_strong_count(), own);
    }
}
