//! A server's part of a scenario behind a gateway. Every session is played for from the beginning, but the one that
//! comes after a connection was cut is taken for the host that comes back.
//!
//! Never: what is played (that is `part`), what transports carry it.

use super::scenario_server::{Entered, ScenarioServer, ScenarioServerEvent, play};
use super::sessions::TrafficObserver;
use crate::scenario::Report;
use crate::transport::link::{Incoming, Link};
use crate::transport::listen::gateway::{Backend, Opened};
use crate::wire::Direction;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{mpsc, oneshot};

/// Something about the plays.
#[derive(Debug)]
pub enum ScenarioNotice {
    /// Nothing is left to do in the session with this number; its play is over once its client has gone.
    Done(u32),
    /// A play is over: which, from 0 in the order in which they began, and what came of it.
    Over(usize, Report),
}

/// See the module.
#[derive(Clone)]
pub struct ScenarioSessions(Arc<House>);

struct House {
    begin: Box<dyn Fn() -> ScenarioServer + Send + Sync>,
    observe: TrafficObserver,
    seats: Mutex<Seats>,
    news: mpsc::UnboundedSender<ScenarioNotice>,
}

/// Where sessions come into the plays that last.
#[derive(Default)]
struct Seats {
    begun: usize,
    seats: BTreeMap<usize, Seat>,
}

struct Seat {
    entering: mpsc::UnboundedSender<Entered>,
    /// Whether nobody sits there.
    is_free: bool,
}

impl ScenarioSessions {
    /// Plays whose parts are of this make; the first waits for its host already.
    pub fn start(
        begin: Box<dyn Fn() -> ScenarioServer + Send + Sync>,
        observe: TrafficObserver,
    ) -> (Self, mpsc::UnboundedReceiver<ScenarioNotice>) {
        let (news, receives) = mpsc::unbounded_channel();
        let plays = Self(Arc::new(House { begin, observe, seats: Mutex::default(), news }));
        plays.begin(None);
        (plays, receives)
    }

    /// Nobody comes any more: what waits for a host is over.
    pub fn close(&self) {
        self.lock().seats.clear();
    }

    /// Begins a play, for this connection or for one that is still to come.
    fn begin(&self, entered: Option<Entered>) {
        let (entering, enters) = mpsc::unbounded_channel();
        let is_free = entered.is_none();
        let _ = entered.map(|entered| entering.send(entered));
        let mut seats = self.lock();
        let number = seats.begun;
        seats.begun += 1;
        seats.seats.insert(number, Seat { entering, is_free });
        drop(seats);
        let plays = self.clone();
        tokio::spawn(async move {
            let House { begin, observe, news, .. } = &*plays.0;
            let report = |reported: ScenarioServerEvent<'_>| match reported {
                ScenarioServerEvent::Waits => {
                    if let Some(seat) = plays.lock().seats.get_mut(&number) {
                        seat.is_free = true;
                    }
                }
                ScenarioServerEvent::Passes(stream, passing) => observe(stream, passing),
                ScenarioServerEvent::OrderResult(stream) => drop(news.send(ScenarioNotice::Done(stream))),
            };
            let report = play(begin(), enters, report).await;
            plays.lock().seats.remove(&number);
            let _ = news.send(ScenarioNotice::Over(number, report));
        });
    }

    fn lock(&self) -> MutexGuard<'_, Seats> {
        self.0.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Backend for ScenarioSessions {
    fn open(&self, stream: u32) -> Result<Opened, String> {
        // The host never sees a connection closed in good order: that is what it does itself.
        let cut = Incoming::Failed("the scenario cut the connection".to_owned());
        let ((link, theirs), (held, end)) = (Link::pair_ending(cut), oneshot::channel());
        let entered = Entered { stream, link: theirs, held: Some(held) };
        let mut seats = self.lock();
        match seats.seats.values_mut().find(|seat| seat.is_free) {
            Some(seat) => {
                seat.is_free = false;
                seat.entering.send(entered).map_err(|_| "the scenario is over".to_owned())?;
            }
            None => {
                drop(seats);
                self.begin(Some(entered));
            }
        }
        let end = async move {
            let _ = end.await;
        };
        Ok(Opened { link, end: Box::pin(end) })
    }

    fn pass(&self, _stream: u32, _direction: Direction, message: Vec<u8>) -> Option<Vec<u8>> {
        Some(message)
    }

    fn see_stderr(&self, _stream: u32, _bytes: &[u8]) {}

    fn closed(&self, _stream: u32, _by: &str) {}
}

#[cfg(test)]
mod tests;
