//! Plays a built-in server's part of a scenario for a host that knows nothing of it.
//!
//! Over standard input and output there is one connection, and the host is gone with it. Where a server listens, a host
//! may come back after its connection was cut: the part goes on for it, with a new engine, as a server that was started
//! again.

use super::sessions::SessionTraffic;
use super::sleep_until;
use crate::host::engine::OrderResult;
use crate::proposals::host::ServerId;
use crate::scenario::{MessageFate, Observation, Player, PlayerAction, Report};
use crate::server::{self, Output, Server};
use crate::transport::{Incoming, Link};
use crate::wire::{Direction, Envelope};
use std::collections::VecDeque;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

/// How long what was said before a connection is cut may take to go out.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// What is played.
pub struct ScenarioServer {
    /// Makes the server's engine, one a connection.
    pub make: Box<dyn Fn() -> Server + Send + Sync>,
    /// Which server of the scenario it is.
    pub id: ServerId,
    /// What the scenario says of it, at the beginning.
    pub player: Player,
    /// Whether the scenario's time begins with the end of a handshake, else with the first message.
    pub has_handshake: bool,
}

/// A connection of a host's.
pub struct Entered {
    /// Its number.
    pub stream: u32,
    /// To the host.
    pub link: Link,
    /// Dropped once the part has let go of the link.
    pub held: Option<oneshot::Sender<()>>,
}

/// Something that is told while a part is played.
#[derive(Debug)]
pub enum ScenarioServerEvent<'a> {
    /// Its host is not there any more: the next connection may be this part's.
    Waits,
    /// Something passes on this connection, as the host sees it.
    Passes(u32, SessionTraffic<'a>),
    /// All that the scenario says of the server is done; what is left is to be judged once this connection's host goes.
    OrderResult(u32),
}

/// A message: on which connection, which way.
type SentMessage = (u32, Direction, Vec<u8>);

/// Why a connection is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The host closed it.
    Left,
    /// The scenario cut it.
    Cut,
}

/// What the player has done next.
enum Lead {
    /// Nothing, until then.
    Wait(Option<Duration>),
    /// The connection is cut.
    Cut,
    /// All is over.
    Over,
}

/// A connection, while it lasts.
struct Present {
    stream: u32,
    link: Link,
    engine: Server,
    outbox: VecDeque<Vec<u8>>,
    /// Whether the host wants more than to know what is here.
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

/// Plays a part on the connections that enter, each once the one before is over ([`ScenarioServerEvent::Waits`]), until the host has
/// gone: it closed its connection, or it was cut off and nothing is left to do. Where no connection can enter any more
/// the host counts as gone at once, whether it hears and is heard or not. A connection on which nothing was said but
/// `server/discover` is no host's. The report is the player's.
pub async fn play(
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

/// The next that comes of a connection; never, where there is none.
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

    /// Lets arrive what is on its way; what the engine says to it.
    fn arrive(&mut self) -> Vec<Output> {
        let (now, mut outputs) = (self.now(), Vec::new());
        while let Some((stream, direction, bytes)) = self.arrivals.pop_front() {
            // What was sent on a connection that is gone arrives nowhere.
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

    /// Does what the player says.
    fn lead(&mut self, outputs: &mut Vec<Output>) -> Lead {
        let now = self.now();
        match self.part.player.next(now) {
            PlayerAction::Wait(wait) => return Lead::Wait(wait),
            PlayerAction::Finished => return Lead::Over,
            // Only the end is ordered here, and it is the host's: what a host does, this host does by itself.
            PlayerAction::Order(_) => {
                self.is_done = true;
                let Some(present) = &self.present else {
                    self.part.player.gone();
                    return Lead::Over;
                };
                (self.report)(ScenarioServerEvent::OrderResult(present.stream));
            }
            PlayerAction::Fire(_, fired) => match &mut self.present {
                Some(present) => outputs.extend(present.engine.fire(now, &fired)),
                None => self.part.player.see(now, &Observation::NotFired("the host was cut off and has not come back")),
            },
            PlayerAction::Disconnect(_) if self.present.is_some() => return Lead::Cut,
            PlayerAction::Disconnect(_) => {}
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

    /// The scenario's time begins.
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

    /// What becomes of a message that is sent.
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

    /// A connection is over; whether the part is too.
    async fn leave(&mut self, end: End) -> bool {
        if end == End::Cut {
            // What was said before still goes out.
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
                let _ = tokio::time::timeout(LAST_WORDS, flush).await;
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
