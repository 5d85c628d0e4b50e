//! The loop that plays scenarios. A [`Stage`] decides what differs: the clock, and how messages get to the engines.
//!
//! - `virtual_time`: the host and built-in servers in this process; time jumps.
//! - `real_time`: the host with servers of any kind.
//! - `external_host`: one built-in server for an external host; `sessions` plays it for several hosts at a time.

pub(crate) mod external_host;
pub(crate) mod real_time;
pub(crate) mod sessions;
pub(crate) mod virtual_time;

use crate::error::CommandError;
use crate::files::text::{LARGE, read_text};
use crate::host::engine::{ModelReply, Order, Output};
use crate::host::prompt::Prompt;
use crate::proposals::host::ServerId;
use crate::proposals::{Registry, Severity};
use crate::runtime::host::Message;
use crate::scenario::{MessageFate, Observation, Player, PlayerStep, Report, Scenario};
use crate::server::{self, Fired};
use crate::trace::{Item, ReelReader};
use crate::validate::Reporter;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::Path;
use std::time::Duration;

/// Something that has happened on a stage.
#[derive(Debug)]
pub(crate) enum StageEvent {
    /// One side sent a message, which has not arrived yet.
    Sent(Message),
    /// The host reported something.
    Host(Output),
    /// A server could not send what it was ordered to, and why.
    NotFired(String),
    /// The connection to a server ended. Messages that have not arrived are lost.
    Closed(ServerId),
}

/// Why a play ends.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PlayEnd<E> {
    /// The scenario is over, or nothing more will happen.
    Over,
    /// The external host is gone.
    HostGone,
    /// The play failed.
    Failed(E),
}

/// Whether a play goes on.
pub(crate) type Flow<E> = Result<(), PlayEnd<E>>;

/// Where a scenario is played.
pub(crate) trait Stage {
    /// The type of its failures.
    type Error;

    /// The time since the beginning.
    fn now(&self) -> Duration;
    /// The next thing that has happened.
    fn event(&mut self) -> Option<StageEvent>;
    /// Whether the connection to a server is open.
    fn is_open(&self, server: ServerId) -> bool;
    /// Lets a message arrive.
    fn deliver(&mut self, message: Message) -> Flow<Self::Error>;
    /// Gives the host an order.
    fn order(&mut self, order: Order) -> Flow<Self::Error>;
    /// Lets a server send something.
    fn fire(&mut self, server: ServerId, fired: Fired);
    /// Gives the host a reply of the scenario; without one, the model's.
    fn reply(&mut self, prompt: Prompt, reply: Option<ModelReply>);
    /// Cuts the connection to a server. `fault` says what did it, unless a step of the scenario.
    async fn cut(&mut self, server: ServerId, fault: Option<&str>) -> Flow<Self::Error>;
    /// Waits until something happens, the player continues at `until`, or a message is due at `arrival`.
    async fn wait(&mut self, until: Option<Duration>, arrival: Option<Duration>) -> Flow<Self::Error>;
}

/// A message under way.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct InTransit {
    at: Duration,
    /// Messages of the same time arrive in the order of sending.
    order: u64,
    message: Message,
}

struct Play<S, O> {
    player: Player,
    stage: S,
    observe: O,
    in_transit: BinaryHeap<Reverse<InTransit>>,
    sent: u64,
}

/// Plays a scenario to its end. `observe` receives everything that happens. Returns the stage, too, so that it can be
/// cleared.
pub(crate) async fn play<S: Stage>(
    player: Player,
    stage: S,
    observe: impl FnMut(Duration, &Observation<'_>) -> Result<(), S::Error>,
) -> (S, Result<Report, S::Error>) {
    let mut play = Play { player, stage, observe, in_transit: BinaryHeap::new(), sent: 0 };
    let end = loop {
        if let Err(end) = play.step().await {
            break end;
        }
    };
    let Play { mut player, stage, .. } = play;
    let report = match end {
        PlayEnd::Failed(error) => return (stage, Err(error)),
        PlayEnd::Over => player.finish(stage.now()),
        PlayEnd::HostGone => {
            player.gone();
            player.finish(stage.now())
        }
    };
    (stage, Ok(report))
}

impl<S: Stage, O: FnMut(Duration, &Observation<'_>) -> Result<(), S::Error>> Play<S, O> {
    async fn step(&mut self) -> Flow<S::Error> {
        while let Some(event) = self.stage.event() {
            self.take(event).await?;
        }
        // Messages arrive before the player continues, so that a turn after a `fire` step can use what was sent.
        if let Some(message) = self.due() {
            return self.arrive(message);
        }
        match self.player.next(self.stage.now()) {
            PlayerStep::Wait(until) => {
                let arrival = self.in_transit.peek().map(|Reverse(next)| next.at);
                self.stage.wait(until, arrival).await
            }
            PlayerStep::Finished => Err(PlayEnd::Over),
            PlayerStep::Order(order) => self.stage.order(order),
            PlayerStep::Disconnect(server) => self.cut(server, None).await,
            PlayerStep::Fire(server, fired) => {
                self.stage.fire(server, fired);
                Ok(())
            }
        }
    }

    async fn take(&mut self, event: StageEvent) -> Flow<S::Error> {
        match event {
            StageEvent::Sent(message) if self.stage.is_open(message.server) => self.send(message).await,
            StageEvent::Sent(_) => Ok(()),
            StageEvent::Closed(server) => {
                self.lose(server);
                Ok(())
            }
            StageEvent::NotFired(why) => self.see(&Observation::NotFired(&why)),
            StageEvent::Host(Output::Report(event)) => self.see(&Observation::HostEvent(&event)),
            StageEvent::Host(Output::OrderResult(result)) => self.see(&Observation::OrderResult(&result)),
            StageEvent::Host(Output::Prompt(prompt)) => {
                self.see(&Observation::Prompt(&prompt))?;
                let reply = self.player.reply(&prompt);
                self.stage.reply(prompt, reply);
                Ok(())
            }
            StageEvent::Host(Output::Mark(server, mark)) => self.see(&Observation::Mark(server, mark)),
            StageEvent::Host(_) => Ok(()),
        }
    }

    fn see(&mut self, seen: &Observation<'_>) -> Flow<S::Error> {
        let now = self.stage.now();
        self.player.see(now, seen);
        (self.observe)(now, seen).map_err(PlayEnd::Failed)
    }

    /// Lets the player decide the fate of a message.
    async fn send(&mut self, message: Message) -> Flow<S::Error> {
        let now = self.stage.now();
        let Message { server, direction, bytes } = message;
        let mut put = |at: Duration, bytes: Vec<u8>| {
            self.sent += 1;
            let message = Message { server, direction, bytes };
            self.in_transit.push(Reverse(InTransit { at, order: self.sent, message }));
        };
        match self.player.fate(now, server, direction, &bytes) {
            MessageFate::Pass => put(now, bytes),
            MessageFate::Delay(delay) => put(now.saturating_add(delay), bytes),
            MessageFate::Drop => {}
            MessageFate::Duplicate => {
                put(now, bytes.clone());
                put(now, bytes);
            }
            MessageFate::Replace(other) => put(now, other),
            MessageFate::Disconnect => return self.cut(server, Some("the scenario cut the connection")).await,
        }
        Ok(())
    }

    /// The next message that is due.
    fn due(&mut self) -> Option<Message> {
        let now = self.stage.now();
        self.in_transit.peek().filter(|Reverse(next)| next.at <= now)?;
        self.in_transit.pop().map(|Reverse(next)| next.message)
    }

    fn arrive(&mut self, message: Message) -> Flow<S::Error> {
        let Message { server, direction, bytes } = &message;
        self.see(&Observation::Message { server: *server, direction: *direction, bytes })?;
        self.stage.deliver(message)
    }

    /// Cuts the connection to a server. What was sent before that still arrives, if nothing delays it.
    async fn cut(&mut self, server: ServerId, fault: Option<&str>) -> Flow<S::Error> {
        while let Some(message) = self.due() {
            self.arrive(message)?;
        }
        self.lose(server);
        self.stage.cut(server, fault).await
    }

    fn lose(&mut self, server: ServerId) {
        self.in_transit.retain(|Reverse(next)| next.message.server != server);
    }
}

/// Reads a scenario.
///
/// # Errors
///
/// The file cannot be read, or is invalid; the error names the line.
pub(crate) fn read(path: &Path) -> Result<Scenario, CommandError> {
    let text = read_text(path, LARGE).map_err(|error| CommandError::reading(path, &error))?;
    Scenario::read(&text).map_err(|error| CommandError::document(path, &error))
}

/// The errors that the validator finds in a reel, one line each.
///
/// # Errors
///
/// The reel cannot be read.
pub(crate) fn validation_errors(reel: &Path) -> Result<Vec<String>, CommandError> {
    let failed = |error| CommandError::reading(reel, &error);
    let mut reader = ReelReader::open(reel).map_err(|error| CommandError::reel(reel, &error))?.with_payloads();
    let mut reporter = Reporter::new(Registry::built_in());
    while let Some(item) = reader.next().map_err(failed)? {
        if let Item::Block(block) = item {
            block.events().for_each(|event| reporter.observe(&event));
            reader.recycle(block);
        }
    }
    let report = reporter.finish();
    let errors = report.findings.iter().filter(|shown| shown.rule.severity == Severity::Error);
    Ok(errors.map(|shown| format!("{}: {}", shown.rule.id, shown.seen)).collect())
}

/// Why a server did not send what it was ordered to, if so.
fn not_sent(output: &server::Output) -> Option<String> {
    match output {
        server::Output::Report(server::Report::NotSent { method, reason }) => {
            Some(format!("{method}: {}", serde_json::to_value(reason).unwrap_or_default()))
        }
        _ => None,
    }
}
