//! Plays one server of a scenario behind a gateway. Each session gets a play from the beginning, except that the
//! session after a cut belongs to the same host, which has come back.
//!
//! Never: how a server is played (see `external_host`), or which transport carries it.

use super::external_host::{Entered, ScenarioServer, ScenarioServerEvent, play_server};
use crate::runtime::sessions::TrafficObserver;
use crate::scenario::Report;
use crate::transport::link::{Incoming, Link};
use crate::transport::listen::gateway::{Backend, Opened};
use crate::wire::Direction;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

/// Something to report about the plays.
#[derive(Debug)]
pub(crate) enum ScenarioNotice {
    /// The steps are done in the session with this number. Its play ends when its client leaves.
    Done(u32),
    /// A play is over: its index in the order of their beginnings, and its report.
    Over(usize, Report),
}

/// The plays of all sessions; see the module.
#[derive(Clone)]
pub(crate) struct ScenarioSessions(Arc<House>);

struct House {
    begin: Box<dyn Fn() -> ScenarioServer + Send + Sync>,
    observe: TrafficObserver,
    seats: Mutex<Seats>,
    news: mpsc::UnboundedSender<ScenarioNotice>,
}

/// The plays in progress.
#[derive(Default)]
struct Seats {
    begun: usize,
    seats: BTreeMap<usize, Seat>,
}

struct Seat {
    entering: mpsc::UnboundedSender<Entered>,
    /// Whether no session belongs to the play now.
    is_free: bool,
}

impl ScenarioSessions {
    /// Plays of a server. The first is ready for its host at once.
    pub(crate) fn start(
        begin: Box<dyn Fn() -> ScenarioServer + Send + Sync>,
        observe: TrafficObserver,
    ) -> (Self, mpsc::UnboundedReceiver<ScenarioNotice>) {
        let (news, receives) = mpsc::unbounded_channel();
        let plays = Self(Arc::new(House { begin, observe, seats: Mutex::default(), news }));
        plays.begin(None);
        (plays, receives)
    }

    /// Accepts no more sessions: plays that wait for a host end.
    pub(crate) fn close(&self) {
        self.0.seats.lock().seats.clear();
    }

    /// Begins a play, for this session or a future one.
    fn begin(&self, entered: Option<Entered>) {
        let (entering, enters) = mpsc::unbounded_channel();
        let is_free = entered.is_none();
        let _ = entered.map(|entered| entering.send(entered));
        let mut seats = self.0.seats.lock();
        let number = seats.begun;
        seats.begun += 1;
        seats.seats.insert(number, Seat { entering, is_free });
        drop(seats);
        let plays = self.clone();
        tokio::spawn(async move {
            let House { begin, observe, news, .. } = &*plays.0;
            let report = |reported: ScenarioServerEvent<'_>| match reported {
                ScenarioServerEvent::Waits => {
                    if let Some(seat) = plays.0.seats.lock().seats.get_mut(&number) {
                        seat.is_free = true;
                    }
                }
                ScenarioServerEvent::Passes(stream, passing) => observe(stream, passing),
                ScenarioServerEvent::OrderResult(stream) => drop(news.send(ScenarioNotice::Done(stream))),
            };
            let report = play_server(begin(), enters, report).await;
            plays.0.seats.lock().seats.remove(&number);
            let _ = news.send(ScenarioNotice::Over(number, report));
        });
    }
}

impl Backend for ScenarioSessions {
    fn open(&self, stream: u32) -> Result<Opened, String> {
        // A cut is not an orderly end of the connection; only the host can end it in order.
        let cut = Incoming::Failed("the scenario cut the connection".to_owned());
        let ((link, theirs), (held, end)) = (Link::pair_ending(cut), oneshot::channel());
        let entered = Entered { stream, link: theirs, held: Some(held) };
        let mut seats = self.0.seats.lock();
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
