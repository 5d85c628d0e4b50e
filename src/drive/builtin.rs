//! Runs the built-in server on a link in this process, with orders from outside.

use super::sleep_until;
use crate::extension::host::ServerId;
use crate::host::engine::Done;
use crate::scenario::{Fate, Player, Report, Seen, Todo};
use crate::server::{self, Fired, Output, Server};
use crate::transport::{Incoming, Link};
use crate::wire::Direction;
use std::collections::VecDeque;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// Serves until the host closes the link.
pub async fn serve(mut server: Server, mut link: Link, mut orders: mpsc::UnboundedReceiver<Fired>) {
    let began = Instant::now();
    let mut outbox = VecDeque::new();
    loop {
        let due = server.next_wake().and_then(|at| began.checked_add(at));
        let outputs = tokio::select! {
            incoming = link.turn(&mut outbox) => match incoming {
                Some(Incoming::Message(message)) => server.receive(began.elapsed(), &message),
                Some(Incoming::Closed | Incoming::Failed(_)) => return,
                Some(Incoming::Stderr(_) | Incoming::Undelivered(_)) | None => Vec::new(),
            },
            Some(order) = orders.recv() => server.fire(began.elapsed(), &order),
            () = sleep_until(due) => server.wake(began.elapsed()),
        };
        outbox.extend(outputs.into_iter().filter_map(|output| match output {
            Output::Send(message) => Some(message),
            Output::Report(_) | Output::Errand(_) => None,
        }));
    }
}

/// A message that is to pass later.
type Late = (Direction, Vec<u8>);

/// Serves one host while the player does what its scenario says of this server, until the host closes the link. What
/// passes and what is told goes to `observe`. The report is the player's.
pub async fn play(
    mut engine: Server,
    id: ServerId,
    mut player: Player,
    mut link: Link,
    mut observe: impl FnMut(Duration, Direction, &[u8]),
) -> Report {
    let began = Instant::now();
    let (sender, mut late) = mpsc::unbounded_channel::<Late>();
    let mut outbox = VecDeque::new();
    let mut arrivals: VecDeque<Late> = VecDeque::new();
    let mut is_over = false;
    loop {
        let now = began.elapsed();
        let mut outputs = Vec::new();
        while let Some((direction, bytes)) = arrivals.pop_front() {
            player.see(now, &Seen::Message { server: id, direction, bytes: &bytes });
            observe(now, direction, &bytes);
            match direction {
                Direction::ClientToServer => outputs.extend(engine.receive(now, &bytes)),
                Direction::ServerToClient => outbox.push_back(bytes),
            }
        }
        let wait = if is_over { Todo::Wait(None) } else { player.next(now) };
        let wait = match wait {
            Todo::Wait(wait) => wait,
            Todo::Finished => {
                is_over = true;
                None
            }
            // Only the end is ordered here: what a host does, this host does by itself.
            Todo::Order(_) => {
                player.see(now, &Seen::Done(&Done::Ended));
                Some(now)
            }
            Todo::Fire(_, fired) => {
                outputs.extend(engine.fire(now, &fired));
                Some(now)
            }
            Todo::Disconnect(_) => return player.finish(now),
        };
        if outputs.is_empty() {
            let due = wait.into_iter().chain(engine.next_wake()).min().and_then(|at| began.checked_add(at));
            let (mut incoming, mut message) = (None, None);
            tokio::select! {
                found = link.turn(&mut outbox) => incoming = found,
                found = late.recv() => message = found,
                () = sleep_until(due) => outputs = engine.wake(began.elapsed()),
            }
            arrivals.extend(message);
            match incoming {
                Some(Incoming::Message(bytes)) => {
                    if !meets(&mut player, id, (Direction::ClientToServer, bytes), began, &sender, &mut arrivals) {
                        return player.finish(began.elapsed());
                    }
                }
                Some(Incoming::Closed | Incoming::Failed(_)) => {
                    let now = began.elapsed();
                    player.see(now, &Seen::Done(&Done::Ended));
                    return player.finish(now);
                }
                Some(Incoming::Stderr(_) | Incoming::Undelivered(_)) | None => {}
            }
        }
        let now = began.elapsed();
        for output in outputs {
            match output {
                Output::Send(bytes) => {
                    if !meets(&mut player, id, (Direction::ServerToClient, bytes), began, &sender, &mut arrivals) {
                        return player.finish(now);
                    }
                }
                Output::Report(server::Report::Ready) => player.see(now, &Seen::Done(&Done::Connected)),
                Output::Report(server::Report::NotSent { method, reason }) => {
                    let why = format!("{method}: {}", serde_json::to_value(&reason).unwrap_or_default());
                    player.see(now, &Seen::NotFired(&why));
                }
                Output::Report(_) | Output::Errand(_) => {}
            }
        }
    }
}

/// What becomes of a message that is sent; false where the connection breaks.
fn meets(
    player: &mut Player,
    server: ServerId,
    (direction, bytes): Late,
    began: Instant,
    late: &mpsc::UnboundedSender<Late>,
    arrivals: &mut VecDeque<Late>,
) -> bool {
    match player.fate(began.elapsed(), server, direction, &bytes) {
        Fate::Pass => arrivals.push_back((direction, bytes)),
        Fate::Replace(other) => arrivals.push_back((direction, other)),
        Fate::Duplicate => arrivals.extend([(direction, bytes.clone()), (direction, bytes)]),
        Fate::Drop => {}
        Fate::Delay(delay) => {
            let late = late.clone();
            tokio::spawn(async move {
                tokio::time::sleep(delay).await;
                let _ = late.send((direction, bytes));
            });
        }
        Fate::Disconnect => return false,
    }
    true
}
