//! Plays one built-in server of a scenario for an external host.
//!
//! Over standard input and output there is one connection, and the host is gone when it ends. If the server listens, a
//! host may come back after its connection was cut: the scenario continues with a new engine, like a server that was
//! restarted.

use super::sessions::SessionTraffic;
use super::sleep_until;
use crate::host::engine::OrderResult;
use crate::proposals::host::ServerId;
use crate::scenario::{MessageFate, Observation, Player, PlayerStep, Report};
use crate::server::{self, Output, Server};
use crate::transport::{Incoming, Link};
use crate::wire::{Direction, Envelope};
use std::collections::VecDeque;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

/// How long messages sent before a cut may take to be written.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

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

/// A message with its connection and direction.
type SentMessage = (u32, Direction, Vec<u8>);

/// Why a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The host closed it.
    Left,
    /// The scenario cut it.
    Cut,
}

/// What the player asks for next.
enum Lead {
    /// Nothing until then.
    Wait(Option<Duration>),
    /// The connection is cut.
    Cut,
    /// The scenario is over.
    Over,
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

struct Playing<T> {
    part: ScenarioServer,
    report: T,
    present: Option<Present>,
    has_begun: bool,
    is_done: bool,
    began: Instant,
    arrivals: VecDeque<SentMessage>,
    late: mpsc::UnboundedSender<SentMessage>,
}

/// Plays a server on the connections that enter, one after another ([`ScenarioServerEvent::Waits`]), until the host is
/// gone: it closed its connection, or it was cut off and nothing is left to do. Once no more connections can enter, the
/// host counts as gone, even if it is still connected. A connection with nothing but `server/discover` does not count.
/// Returns the player's report.
pub(crate) async fn play(
    part: ScenarioServer,
    mut entering: mpsc::UnboundedReceiver<Entered>,
    report: impl FnMut(ScenarioServerEvent<'_>) + Send,
) -> Report {
    let Some(first) = entering.recv().await else { return part.player.finish(Duration::ZERO) };
    let (late, mut delayed) = mpsc::unbounded_channel();
    let (began, arrivals) = (Instant::now(), VecDeque::new());
    let mut playing = Playing { part, report, present: None, has_begun: false, is_done: false, began, arrivals, late };
    playing.enter(first);
    loop {
        let mut outputs = playing.arrive();
        let (todo, mut end) = (playing.lead(&mut outputs), None);
        let wait = match todo {
            Lead::Wait(wait) => wait,
            Lead::Cut => {
                end = Some(End::Cut);
                None
            }
            Lead::Over => return playing.finish(),
        };
        if outputs.is_empty() && end.is_none() {
            let due = playing.due(wait);
            let is_alone = playing.present.is_none();
            tokio::select! {
                incoming = turn(playing.present.as_mut()) => end = playing.receive(incoming),
                entered = entering.recv() => match entered {
                    Some(entered) => playing.enter(entered),
                    None if is_alone => return playing.finish(),
                    None => end = Some(End::Left),
                },
                sent = delayed.recv() => playing.arrivals.extend(sent),
                () = sleep_until(due) => outputs = playing.handle_timeout(),
            }
        }
        let cut = playing.take(outputs);
        if let Some(end) = end.or(cut)
            && playing.leave(end).await
        {
            return playing.finish();
        }
    }
}

/// What arrives next on a connection; never completes without one.
async fn turn(present: Option<&mut Present>) -> Option<Incoming> {
    match present {
        Some(present) => present.link.turn(&mut present.outbox).await,
        None => std::future::pending().await,
    }
}

impl<T: FnMut(ScenarioServerEvent<'_>)> Playing<T> {
    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    fn due(&self, wait: Option<Duration>) -> Option<Instant> {
        let engine = self.present.as_ref().and_then(|present| present.engine.next_timeout());
        wait.into_iter().chain(engine).min().and_then(|at| self.began.checked_add(at))
    }

    fn enter(&mut self, entered: Entered) {
        let Entered { stream, link, held } = entered;
        (self.report)(ScenarioServerEvent::Passes(stream, SessionTraffic::Opened));
        let (engine, outbox) = ((self.part.make)(), VecDeque::new());
        self.present = Some(Present { stream, link, engine, outbox, has_spoken: false, _held: held });
    }

    /// Delivers messages that are due; returns the engine's outputs.
    fn arrive(&mut self) -> Vec<Output> {
        let (now, mut outputs) = (self.now(), Vec::new());
        while let Some((stream, direction, bytes)) = self.arrivals.pop_front() {
            // Messages of a closed connection are lost.
            let Some(present) = self.present.as_mut().filter(|present| present.stream == stream) else { continue };
            self.part.player.see(now, &Observation::Message { server: self.part.id, direction, bytes: &bytes });
            match direction {
                Direction::ClientToServer => outputs.extend(present.engine.receive(now, &bytes)),
                Direction::ServerToClient => {
                    (self.report)(ScenarioServerEvent::Passes(stream, SessionTraffic::Message(direction, &bytes)));
                    present.outbox.push_back(bytes);
                }
            }
        }
        outputs
    }

    /// Performs the player's next actions.
    fn lead(&mut self, outputs: &mut Vec<Output>) -> Lead {
        let now = self.now();
        match self.part.player.next(now) {
            PlayerStep::Wait(wait) => return Lead::Wait(wait),
            PlayerStep::Finished => return Lead::Over,
            // Only the end is ordered here. It is up to the external host.
            PlayerStep::Order(_) => {
                self.is_done = true;
                let Some(present) = &self.present else {
                    self.part.player.gone();
                    return Lead::Over;
                };
                (self.report)(ScenarioServerEvent::OrderResult(present.stream));
            }
            PlayerStep::Fire(_, fired) => match &mut self.present {
                Some(present) => outputs.extend(present.engine.fire(now, &fired)),
                None => {
                    self.part.player.see(now, &Observation::NotFired("the host was disconnected and has not come back"))
                }
            },
            PlayerStep::Disconnect(_) if self.present.is_some() => return Lead::Cut,
            PlayerStep::Disconnect(_) => {}
        }
        Lead::Wait(Some(now))
    }

    fn receive(&mut self, incoming: Option<Incoming>) -> Option<End> {
        let present = self.present.as_mut()?;
        match incoming {
            Some(Incoming::Message(bytes)) => {
                let (stream, direction) = (present.stream, Direction::ClientToServer);
                (self.report)(ScenarioServerEvent::Passes(stream, SessionTraffic::Message(direction, &bytes)));
                present.has_spoken |= Envelope::scan(&bytes).method.as_deref() != Some("server/discover");
                if present.has_spoken && !self.part.has_handshake {
                    self.begin();
                }
                self.meet((stream, direction, bytes))
            }
            Some(Incoming::Closed | Incoming::Failed(_)) => Some(End::Left),
            Some(Incoming::Stderr(_) | Incoming::Undelivered(_)) | None => None,
        }
    }

    /// Starts the scenario's time.
    fn begin(&mut self) {
        if !self.has_begun {
            self.has_begun = true;
            self.part.player.see(self.began.elapsed(), &Observation::OrderResult(&OrderResult::Connected));
        }
    }

    fn handle_timeout(&mut self) -> Vec<Output> {
        let now = self.now();
        self.present.as_mut().map(|present| present.engine.handle_timeout(now)).unwrap_or_default()
    }

    fn take(&mut self, outputs: Vec<Output>) -> Option<End> {
        let stream = self.present.as_ref()?.stream;
        let mut end = None;
        for output in outputs {
            match output {
                Output::Send(bytes) if end.is_none() => {
                    end = self.meet((stream, Direction::ServerToClient, bytes));
                }
                Output::Report(server::Report::Ready) => self.begin(),
                Output::Report(server::Report::NotSent { method, reason }) => {
                    let why = format!("{method}: {}", serde_json::to_value(&reason).unwrap_or_default());
                    self.part.player.see(self.began.elapsed(), &Observation::NotFired(&why));
                }
                Output::Send(_) | Output::Report(_) | Output::IoRequest(_) => {}
            }
        }
        end
    }

    /// Lets the player decide the fate of a message.
    fn meet(&mut self, sent: SentMessage) -> Option<End> {
        let (stream, direction, bytes) = sent;
        match self.part.player.fate(self.began.elapsed(), self.part.id, direction, &bytes) {
            MessageFate::Pass => self.arrivals.push_back((stream, direction, bytes)),
            MessageFate::Replace(other) => self.arrivals.push_back((stream, direction, other)),
            MessageFate::Duplicate => {
                self.arrivals.extend([(stream, direction, bytes.clone()), (stream, direction, bytes)]);
            }
            MessageFate::Drop => {}
            MessageFate::Delay(delay) => {
                let late = self.late.clone();
                tokio::spawn(async move {
                    tokio::time::sleep(delay).await;
                    let _ = late.send((stream, direction, bytes));
                });
            }
            MessageFate::Disconnect => return Some(End::Cut),
        }
        None
    }

    /// Handles the end of a connection. Returns whether the scenario is over too.
    async fn leave(&mut self, end: End) -> bool {
        if end == End::Cut {
            // What was sent before the end is still delivered.
            let _ = self.arrive();
        }
        let Some(Present { stream, mut link, outbox, has_spoken, _held, .. }) = self.present.take() else {
            return false;
        };
        let flush = async {
            for message in outbox {
                link.send(message).await;
            }
        };
        let is_over = match end {
            End::Left => has_spoken,
            End::Cut => {
                let _ = tokio::time::timeout(DRAIN_TIMEOUT, flush).await;
                self.is_done
            }
        };
        let by = if end == End::Cut { "the scenario" } else { "its client" };
        (self.report)(ScenarioServerEvent::Passes(stream, SessionTraffic::Closed(by)));
        match is_over {
            true => self.part.player.gone(),
            false => (self.report)(ScenarioServerEvent::Waits),
        }
        is_over
    }

    fn finish(self) -> Report {
        self.part.player.finish(self.began.elapsed())
    }
}

#[cfg(test)]
mod tests;
