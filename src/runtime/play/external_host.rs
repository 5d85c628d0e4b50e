//! One built-in server of a scenario for an external host.
//!
//! Over standard input and output there is one connection, and the host is gone when it ends. If the server listens, a
//! host may come back after its connection was cut: the scenario continues with a new engine, like a server that was
//! restarted.

use super::{Flow, PlayEnd, Stage, StageEvent, not_sent, play};
use crate::clock::{self, Reading};
use crate::host::engine::{self, ModelReply, Order, OrderResult};
use crate::host::prompt::Prompt;
use crate::proposals::host::ServerId;
use crate::runtime::host::Message;
use crate::runtime::sessions::SessionTraffic;
use crate::runtime::sleep_for;
use crate::scenario::{Player, Report};
use crate::server::{self, Fired, Output, Server};
use crate::transport::{Incoming, Link};
use crate::wire::{Direction, Envelope};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

/// How long messages sent before a cut may take to be written.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// The server to play.
pub(crate) struct ScenarioServer {
    /// Makes the server's engine, one per connection.
    pub make: Box<dyn Fn() -> Server + Send + Sync>,
    /// The server's number in the scenario.
    pub id: ServerId,
    /// The player for the server's share of the scenario, before its first step.
    pub player: Player,
    /// Whether the scenario's time begins at the end of the handshake, rather than with the first message.
    pub has_handshake: bool,
}

/// A connection of a host.
pub(crate) struct Entered {
    /// Its number.
    pub stream: u32,
    /// The link to the host.
    pub link: Link,
    /// Dropped once the link is released.
    pub held: Option<oneshot::Sender<()>>,
}

/// Something to report while a server is played.
#[derive(Debug)]
pub(crate) enum ScenarioServerEvent<'a> {
    /// The host is gone: the next connection may belong to this server.
    Waits,
    /// A message passes on this connection, as the host sees it.
    Passes(u32, SessionTraffic<'a>),
    /// All steps for the server are done. The rest is judged when the host of this connection leaves.
    OrderResult(u32),
}

/// Why a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The host closed it.
    Left,
    /// The scenario cut it.
    Cut,
}

/// A current connection.
struct Present {
    stream: u32,
    link: Link,
    engine: Server,
    outbox: VecDeque<Vec<u8>>,
    /// Whether the host has sent more than a probe.
    has_spoken: bool,
    _held: Option<oneshot::Sender<()>>,
}

/// The stage: the server, and the connections that enter.
struct ServerStage<T> {
    make: Box<dyn Fn() -> Server + Send + Sync>,
    id: ServerId,
    has_handshake: bool,
    entering: mpsc::UnboundedReceiver<Entered>,
    report: T,
    present: Option<Present>,
    events: VecDeque<StageEvent>,
    has_begun: bool,
    is_done: bool,
    began: Instant,
}

/// Plays a server on the connections that enter, one after another ([`ScenarioServerEvent::Waits`]), until the host is
/// gone: it closed its connection, or it was cut off and nothing is left to do. Once no more connections can enter, the
/// host counts as gone, even if it is still connected. A connection with nothing but `server/discover` does not count.
/// Returns the player's report.
pub(crate) async fn play_server(
    part: ScenarioServer,
    mut entering: mpsc::UnboundedReceiver<Entered>,
    report: impl FnMut(ScenarioServerEvent<'_>) + Send,
) -> Report {
    let ScenarioServer { make, id, player, has_handshake } = part;
    let Some(first) = entering.recv().await else { return player.finish(Duration::ZERO) };
    let (began, events) = (Instant::now(), VecDeque::new());
    let (present, has_begun, is_done) = (None, false, false);
    let mut stage =
        ServerStage { make, id, has_handshake, entering, report, present, events, has_begun, is_done, began };
    stage.enter(first);
    let (_, report) = play(player, stage, |_, _| Ok(())).await;
    match report {
        Ok(report) => report,
        Err(never) => match never {},
    }
}

/// What arrives next on a connection; never completes without one.
async fn turn(present: Option<&mut Present>) -> Option<Incoming> {
    match present {
        Some(present) => present.link.turn(&mut present.outbox).await,
        None => std::future::pending().await,
    }
}

impl<T: FnMut(ScenarioServerEvent<'_>)> ServerStage<T> {
    fn enter(&mut self, entered: Entered) {
        let Entered { stream, link, held } = entered;
        (self.report)(ScenarioServerEvent::Passes(stream, SessionTraffic::Opened));
        let (engine, outbox) = ((self.make)(), VecDeque::new());
        self.present = Some(Present { stream, link, engine, outbox, has_spoken: false, _held: held });
    }

    fn send(&mut self, direction: Direction, bytes: Vec<u8>) {
        self.events.push_back(StageEvent::Sent(Message { server: self.id, direction, bytes }));
    }

    async fn receive(&mut self, incoming: Option<Incoming>) -> Flow<Infallible> {
        let Some(present) = &mut self.present else { return Ok(()) };
        match incoming {
            Some(Incoming::Message(bytes)) => {
                let direction = Direction::ClientToServer;
                let traffic = SessionTraffic::Message(direction, &bytes);
                (self.report)(ScenarioServerEvent::Passes(present.stream, traffic));
                present.has_spoken |= Envelope::scan(&bytes).method.as_deref() != Some("server/discover");
                if present.has_spoken && !self.has_handshake {
                    self.begin();
                }
                self.send(direction, bytes);
                Ok(())
            }
            Some(Incoming::Closed | Incoming::Failed(_)) => self.leave(End::Left).await,
            Some(Incoming::Stderr(_) | Incoming::Undelivered(_)) | None => Ok(()),
        }
    }

    /// Starts the scenario's time.
    fn begin(&mut self) {
        if !std::mem::replace(&mut self.has_begun, true) {
            let connected = engine::Output::OrderResult(OrderResult::Connected);
            self.events.push_back(StageEvent::Host(connected));
        }
    }

    fn reading(&self) -> Reading {
        Reading { since: self.began.elapsed(), wall_ns: clock::wall_ns() }
    }

    /// Calls the engine, if there is one, and keeps its outputs.
    fn call(&mut self, call: impl FnOnce(&mut Server, Duration) -> Vec<Output>) {
        let Reading { since: now, wall_ns } = self.reading();
        let Some(present) = &mut self.present else { return };
        present.engine.set_wall_clock(now, wall_ns);
        for output in call(&mut present.engine, now) {
            if let Some(why) = not_sent(&output) {
                self.events.push_back(StageEvent::NotFired(why));
            }
            match output {
                Output::Send(bytes) => self.send(Direction::ServerToClient, bytes),
                Output::Report(server::Report::Ready) => self.begin(),
                Output::Report(_) | Output::IoRequest(_) => {}
            }
        }
    }

    /// Handles the end of a connection.
    async fn leave(&mut self, end: End) -> Flow<Infallible> {
        let Some(Present { stream, mut link, outbox, has_spoken, _held, .. }) = self.present.take() else {
            return Ok(());
        };
        let flush = async {
            for message in outbox {
                link.send(message).await;
            }
        };
        let is_over = match end {
            End::Left => has_spoken,
            End::Cut => {
                let _ = tokio::time::timeout(LAST_WORDS, flush).await;
                self.is_done
            }
        };
        let by = if end == End::Cut { "the scenario" } else { "its client" };
        (self.report)(ScenarioServerEvent::Passes(stream, SessionTraffic::Closed(by)));
        if is_over {
            return Err(PlayEnd::HostGone);
        }
        self.events.push_back(StageEvent::Closed(self.id));
        (self.report)(ScenarioServerEvent::Waits);
        Ok(())
    }
}

impl<T: FnMut(ScenarioServerEvent<'_>)> Stage for ServerStage<T> {
    type Error = Infallible;

    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    fn event(&mut self) -> Option<StageEvent> {
        self.events.pop_front()
    }

    fn is_open(&self, _: ServerId) -> bool {
        self.present.is_some()
    }

    fn deliver(&mut self, message: Message) -> Flow<Infallible> {
        let Message { direction, bytes, .. } = message;
        match (direction, &mut self.present) {
            (Direction::ClientToServer, _) => self.call(|engine, now| engine.receive(now, &bytes)),
            (Direction::ServerToClient, Some(present)) => {
                let traffic = SessionTraffic::Message(direction, &bytes);
                (self.report)(ScenarioServerEvent::Passes(present.stream, traffic));
                present.outbox.push_back(bytes);
            }
            (Direction::ServerToClient, None) => {}
        }
        Ok(())
    }

    /// Only the end is ordered here. It is up to the external host.
    fn order(&mut self, _: Order) -> Flow<Infallible> {
        self.is_done = true;
        let Some(present) = &self.present else { return Err(PlayEnd::HostGone) };
        (self.report)(ScenarioServerEvent::OrderResult(present.stream));
        Ok(())
    }

    fn fire(&mut self, _: ServerId, fired: Fired) {
        match self.present {
            Some(_) => self.call(|engine, now| engine.fire(now, &fired)),
            None => {
                let why = "the host was disconnected and has not come back".to_owned();
                self.events.push_back(StageEvent::NotFired(why));
            }
        }
    }

    /// The external host has a model of its own.
    fn reply(&mut self, _: Prompt, _: Option<ModelReply>) {}

    async fn cut(&mut self, _: ServerId, _: Option<&str>) -> Flow<Infallible> {
        self.leave(End::Cut).await
    }

    async fn wait(&mut self, until: Option<Duration>, arrival: Option<Duration>) -> Flow<Infallible> {
        let now = self.reading();
        let engine = self.present.as_mut().and_then(|Present { engine, .. }| {
            engine.set_wall_clock(now.since, now.wall_ns);
            now.wait(engine.next_timeout(), engine.follows_wall_clock())
        });
        let wait = engine.into_iter().chain(now.wait(until, false)).chain(now.wait(arrival, false)).min();
        tokio::select! {
            incoming = turn(self.present.as_mut()) => self.receive(incoming).await,
            entered = self.entering.recv() => match entered {
                Some(entered) => {
                    self.enter(entered);
                    Ok(())
                }
                None if self.present.is_none() => Err(PlayEnd::Over),
                None => self.leave(End::Left).await,
            },
            () = sleep_for(wait) => {
                self.call(Server::handle_timeout);
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests;
