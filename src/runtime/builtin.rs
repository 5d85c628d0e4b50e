//! Runs the built-in server on an in-process link, and passes orders to it.

use super::sleep_until;
use crate::server::{Fired, Output, Server};
use crate::transport::{Incoming, Link};
use std::collections::VecDeque;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// Serves until the host closes the link.
pub(crate) async fn serve(mut server: Server, mut link: Link, mut orders: mpsc::UnboundedReceiver<Fired>) {
    let began = Instant::now();
    let mut outbox = VecDeque::new();
    loop {
        let due = server.next_timeout().and_then(|at| began.checked_add(at));
        let outputs = tokio::select! {
            incoming = link.turn(&mut outbox) => match incoming {
                Some(Incoming::Message(message)) => server.receive(began.elapsed(), &message),
                Some(Incoming::Closed | Incoming::Failed(_)) => return,
                Some(Incoming::Stderr(_) | Incoming::Undelivered(_)) | None => Vec::new(),
            },
            Some(order) = orders.recv() => server.fire(began.elapsed(), &order),
            () = sleep_until(due) => server.handle_timeout(began.elapsed()),
        };
        outbox.extend(outputs.into_iter().filter_map(|output| match output {
            Output::Send(message) => Some(message),
            Output::Report(_) | Output::IoRequest(_) => None,
        }));
    }
}
