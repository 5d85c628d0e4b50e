//! Runs the built-in server on an in-process link, and passes orders to it.

use super::sleep_for;
use crate::clock::{self, Reading};
use crate::server::{Fired, Output, Server};
use crate::transport::{Incoming, Link};
use std::collections::VecDeque;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// Serves until the host closes the link.
pub(crate) async fn serve(mut server: Server, mut link: Link, mut orders: mpsc::UnboundedReceiver<Fired>) {
    let began = Instant::now();
    let mut outbox = VecDeque::new();
    // Each call gets the time of its own moment.
    let at = |server: &mut Server| {
        let now = Reading { since: began.elapsed(), wall_ns: clock::wall_ns() };
        server.set_wall_clock(now.since, now.wall_ns);
        now
    };
    loop {
        let wait = at(&mut server).wait(server.next_timeout(), server.follows_wall_clock());
        let outputs = tokio::select! {
            incoming = link.turn(&mut outbox) => match incoming {
                Some(Incoming::Message(message)) => {
                    let now = at(&mut server).since;
                    server.receive(now, &message)
                }
                Some(Incoming::Closed | Incoming::Failed(_)) => return,
                Some(Incoming::Stderr(_) | Incoming::Undelivered(_)) | None => Vec::new(),
            },
            Some(order) = orders.recv() => {
                let now = at(&mut server).since;
                server.fire(now, &order)
            }
            () = sleep_for(wait) => {
                let now = at(&mut server).since;
                server.handle_timeout(now)
            }
        };
        outbox.extend(outputs.into_iter().filter_map(|output| match output {
            Output::Send(message) => Some(message),
            Output::Report(_) | Output::IoRequest(_) => None,
        }));
    }
}
