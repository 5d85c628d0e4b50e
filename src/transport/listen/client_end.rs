//! The end of what a client sends. A client that has given up and one that only waits for its answer close their side of the
//! connection alike. So while an answer is due, the server gets to see the end, as without mcpreel, and decides.

use super::outlet::Outbox;
use super::proxy::Exchange;
use parking_lot::Mutex;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Waker};

/// See the module.
#[derive(Default)]
pub(super) struct ClientEnd {
    state: Mutex<State>,
    /// The end has come, and the server was told.
    has_come: AtomicBool,
}

#[derive(Default)]
struct State {
    /// Whose answer is due.
    exchange: Option<Exchange>,
    /// The way to the server, while the end is held back from the HTTP library.
    server: Option<Outbox>,
    /// Of the library, which waits for bytes or for the end.
    reader: Option<Waker>,
}

impl ClientEnd {
    /// Holds back the end from now on. If it comes, the server is told behind its next request.
    pub(super) fn hold(&self, server: &Outbox) {
        server.expect();
        self.state.lock().server = Some(server.clone());
    }

    /// Says for which exchange the end is held back, so that its observer gets to know.
    pub(super) fn tell(&self, exchange: &Exchange) {
        self.state.lock().exchange = Some(exchange.clone());
        if self.has_come() {
            exchange.client_ended();
        }
    }

    /// Holds back nothing any more: the end means that the client is gone.
    pub(super) fn release(&self) {
        let reader = {
            let mut state = self.state.lock();
            (state.server, state.exchange) = (None, None);
            state.reader.take()
        };
        reader.into_iter().for_each(Waker::wake);
    }

    /// Whether the server was told.
    pub(super) fn has_come(&self) -> bool {
        self.has_come.load(Ordering::Acquire)
    }

    /// The client has ended, and an answer is due. Returns whether that is held back.
    pub(super) fn comes(&self, context: &Context<'_>) -> bool {
        let mut state = self.state.lock();
        let Some(server) = state.server.clone() else { return false };
        state.reader = Some(context.waker().clone());
        if !self.has_come.swap(true, Ordering::AcqRel) {
            let exchange = state.exchange.clone();
            drop(state);
            // The server may act at once.
            if let Some(exchange) = exchange {
                exchange.client_ended();
            }
            server.end();
        }
        true
    }

    /// No answer is due any more.
    pub(super) fn is_answered(&self) {
        if self.has_come() {
            self.release();
        }
    }
}

impl fmt::Debug for ClientEnd {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ClientEnd").field("has_come", &self.has_come()).finish_non_exhaustive()
    }
}
