//! Virtual time: the host engine and built-in servers, connected by the play itself. Time jumps to the next deadline,
//! so a day of waiting costs nothing, and the same scenario gives the same bytes.

use super::{Flow, PlayEnd, Stage, StageEvent, not_sent, play};
use crate::error::CommandError;
use crate::files::reels;
use crate::host::engine::{Host, ModelReply, Order, Output};
use crate::host::prompt::Prompt;
use crate::proposals::host::{Inference, Inferred, ServerId};
use crate::runtime::host::Message;
use crate::runtime::host_notes;
use crate::runtime::model::Model;
use crate::scenario::{Observation, Player, Report, Scenario, ServerKind};
use crate::server::{self, Fired, Server};
use crate::trace::described::payload;
use crate::trace::{EventKind, FileHeader, Flags, NewEvent, Note, ReelWriter, WriterOptions};
use crate::wire::{Direction, Framing};
use std::collections::VecDeque;
use std::io::{self, Write};
use std::path::Path;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// Maximum number of events at the same time between two steps; more of them indicate an endless loop.
const MAX_AT_ONCE: u64 = 1_000_000;

/// The start of virtual time, 2026-01-01 in Unix nanoseconds, so that the same scenario gives the same bytes.
const VIRTUAL_BEGINNING_NS: i64 = 1_767_225_600_000_000_000;

/// Why a scenario cannot be played in virtual time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SimulateError {
    /// A server runs in real time.
    #[error(
        "the server {name:?} (line {line}) is not built in, so it cannot run in virtual time; \
        use the real clock, or a builtin server"
    )]
    External {
        /// The server.
        name: String,
        /// Its line in the scenario.
        line: u64,
    },
    /// The engines react to each other endlessly.
    #[error("endless loop: more than {MAX_AT_ONCE} events at the same time, {0:?} after the start")]
    Circle(Duration),
}

/// What a simulation needs beside the engines.
pub struct SimulationContext<'a> {
    /// Unix time at the beginning, in nanoseconds, for the servers' timestamps.
    pub wall_base_ns: i64,
    /// The model, unless the scenario provides its replies.
    pub model: &'a mut dyn FnMut(&Prompt) -> Result<ModelReply, String>,
    /// Called with everything that happens, and its time since the beginning.
    pub observe: &'a mut dyn FnMut(Duration, &Observation<'_>),
}

/// Plays a scenario to its end.
///
/// # Errors
///
/// A server is not built in, or the engines react to each other endlessly.
pub fn simulate(scenario: &Scenario, around: SimulationContext<'_>) -> Result<Report, SimulateError> {
    let SimulationContext { wall_base_ns, model, observe } = around;
    let mut servers = Vec::with_capacity(scenario.servers.len());
    for plan in &scenario.servers {
        let ServerKind::BuiltIn(config) = &plan.kind else {
            return Err(SimulateError::External { name: plan.name.clone(), line: plan.place.line });
        };
        servers.push(Some(Server::new(server::Config { wall_base_ns, ..(**config).clone() })));
    }
    let (mut host, now) = (Host::new(scenario.host_config()), Duration::ZERO);
    let outputs = host.start(now);
    let mut stage = VirtualTime { now, host, servers, events: VecDeque::new(), at_once: 0, model };
    stage.take(outputs);
    let observe = |at: Duration, seen: &Observation<'_>| {
        observe(at, seen);
        Ok(())
    };
    let (_, report) = complete(play(Player::new(scenario), stage, observe));
    report
}

/// Plays a scenario to its end, and records it.
///
/// # Errors
///
/// The model is a program, the reel cannot be written, or the scenario needs real time.
pub(crate) fn record_play(
    scenario: &Scenario,
    (reel, overwrites): (&Path, bool),
    model: &Model,
    mut observe: impl FnMut(Duration, &Observation<'_>) -> Result<(), CommandError>,
) -> Result<Report, CommandError> {
    if let Model::Program { .. } = model {
        return Err(CommandError::usage("a model program needs real time, but the scenario's clock is virtual")
            .hint("use --clock real, or --model echo or none"));
    }
    let now = VIRTUAL_BEGINNING_NS;
    let header = FileHeader {
        tool: concat!("mcpreel ", env!("CARGO_PKG_VERSION")).into(),
        created: now,
        ..FileHeader::default()
    };
    let failed = |error| CommandError::writing(reel, &error);
    let file = reels::create(reel, overwrites)?;
    let mut writer = ReelWriter::create(file, &header, WriterOptions::default()).map_err(failed)?;
    let mut problem = None;
    let mut keep = |at: Duration, seen: &Observation<'_>| {
        let kept = match seen {
            Observation::Message { server, direction, bytes } => {
                let event = NewEvent {
                    time: i64::try_from(at.as_nanos()).unwrap_or(i64::MAX),
                    stream: u32::try_from(server.0 + 1).unwrap_or(u32::MAX),
                    exchange: 0,
                    kind: EventKind::Message,
                    flags: Flags::toward(*direction),
                    framing: Framing::Whole,
                    payload: bytes,
                };
                writer.append(event).map_err(failed)
            }
            Observation::Mark(server, mark) => {
                let notes = host_notes::marks(*server, *mark, scenario.servers.len());
                notes.iter().try_for_each(|note| append_note(&mut writer, at, note).map_err(failed))
            }
            Observation::HostEvent(event) => {
                let mut notes = host_notes::decision(event).into_iter();
                notes.try_for_each(|note| append_note(&mut writer, at, &note).map_err(failed))
            }
            _ => Ok(()),
        };
        if let Err(error) = kept.and_then(|()| observe(at, seen)) {
            problem.get_or_insert(error);
        }
    };
    let mut model = |prompt: &Prompt| {
        Ok(if matches!(model, Model::Echo) { ModelReply::echo(prompt) } else { ModelReply::default() })
    };
    let around = SimulationContext { wall_base_ns: now, model: &mut model, observe: &mut keep };
    let report = simulate(scenario, around);
    writer.finish().map_err(failed)?;
    match problem {
        Some(error) => Err(error),
        None => report.map_err(|error| CommandError::usage(error.to_string())),
    }
}

/// Adds a note of the host to a reel.
fn append_note<W: Write>(writer: &mut ReelWriter<W>, at: Duration, (stream, note): &(u32, Note)) -> io::Result<()> {
    writer.append(NewEvent {
        time: i64::try_from(at.as_nanos()).unwrap_or(i64::MAX),
        stream: *stream,
        exchange: 0,
        kind: EventKind::Note,
        flags: Flags::default(),
        framing: Framing::Whole,
        payload: &payload(note),
    })
}

/// Runs a future that never has to wait, as none does in virtual time.
fn complete<T>(future: impl Future<Output = T>) -> T {
    let (mut future, mut context) = (pin!(future), Context::from_waker(Waker::noop()));
    loop {
        if let Poll::Ready(done) = future.as_mut().poll(&mut context) {
            return done;
        }
    }
}

struct VirtualTime<'a> {
    now: Duration,
    host: Host,
    /// `None` for a server that was disconnected.
    servers: Vec<Option<Server>>,
    events: VecDeque<StageEvent>,
    /// How much has happened since time passed or the scenario continued.
    at_once: u64,
    model: &'a mut dyn FnMut(&Prompt) -> Result<ModelReply, String>,
}

impl VirtualTime<'_> {
    /// Keeps the host's outputs.
    fn take(&mut self, outputs: Vec<Output>) {
        for output in outputs {
            self.events.push_back(match output {
                Output::Send { server, message } => {
                    StageEvent::Sent(Message { server, direction: Direction::ClientToServer, bytes: message })
                }
                other => StageEvent::Host(other),
            });
        }
    }

    /// Calls a server, if it is connected, and keeps its outputs.
    fn call(&mut self, id: ServerId, call: impl FnOnce(&mut Server, Duration) -> Vec<server::Output>) {
        let Some(server) = self.servers.get_mut(id.0).and_then(Option::as_mut) else { return };
        let outputs = call(server, self.now);
        let not_sent: Vec<String> = outputs.iter().filter_map(not_sent).collect();
        for output in outputs {
            if let server::Output::Send(bytes) = output {
                let message = Message { server: id, direction: Direction::ServerToClient, bytes };
                self.events.push_back(StageEvent::Sent(message));
            }
        }
        self.events.extend(not_sent.into_iter().map(StageEvent::NotFired));
    }

    fn infer(&mut self, asked: &Inference) {
        let said = (self.model)(&Prompt::of(asked));
        let inferred = said.map(|reply| Inferred { text: reply.text, ..Inferred::default() });
        if let (Ok(inferred), true) = (&inferred, asked.stream) {
            let outputs = self.host.inferred_piece(self.now, asked.token, &inferred.text);
            self.take(outputs);
        }
        let outputs = self.host.inferred(self.now, asked.token, inferred);
        self.take(outputs);
    }

    /// Counts what happens at the same time.
    fn count(&mut self) -> Flow<SimulateError> {
        self.at_once += 1;
        match self.at_once > MAX_AT_ONCE {
            true => Err(PlayEnd::Failed(SimulateError::Circle(self.now))),
            false => Ok(()),
        }
    }

    fn wake_engines(&mut self) {
        for at in 0..self.servers.len() {
            let due = self.servers[at].as_ref().and_then(Server::next_timeout);
            if due.is_some_and(|at| at <= self.now) {
                self.call(ServerId(at), Server::handle_timeout);
            }
        }
        if self.host.next_timeout().is_some_and(|at| at <= self.now) {
            let outputs = self.host.handle_timeout(self.now);
            self.take(outputs);
        }
    }
}

impl Stage for VirtualTime<'_> {
    type Error = SimulateError;

    fn now(&self) -> Duration {
        self.now
    }

    fn event(&mut self) -> Option<StageEvent> {
        loop {
            match self.events.pop_front()? {
                StageEvent::Host(Output::Infer(asked)) => self.infer(&asked),
                event => return Some(event),
            }
        }
    }

    fn is_open(&self, server: ServerId) -> bool {
        self.servers.get(server.0).is_some_and(Option::is_some)
    }

    fn deliver(&mut self, message: Message) -> Flow<SimulateError> {
        let Message { server, direction, bytes } = message;
        match direction {
            Direction::ClientToServer => self.call(server, |server, now| server.receive(now, &bytes)),
            Direction::ServerToClient => {
                let outputs = self.host.receive(self.now, server, &bytes);
                self.take(outputs);
            }
        }
        self.count()
    }

    fn order(&mut self, order: Order) -> Flow<SimulateError> {
        // Steps are finite, so they are not a loop.
        self.at_once = 0;
        let outputs = self.host.order(self.now, order);
        self.take(outputs);
        Ok(())
    }

    fn fire(&mut self, server: ServerId, fired: Fired) {
        self.at_once = 0;
        match self.is_open(server) {
            true => self.call(server, |server, now| server.fire(now, &fired)),
            false => self.events.push_back(StageEvent::NotFired("the server is disconnected".to_owned())),
        }
    }

    fn reply(&mut self, prompt: Prompt, reply: Option<ModelReply>) {
        let reply = reply.map_or_else(|| (self.model)(&prompt), Ok);
        let outputs = self.host.model(self.now, reply);
        self.take(outputs);
    }

    async fn cut(&mut self, server: ServerId, fault: Option<&str>) -> Flow<SimulateError> {
        self.at_once = 0;
        if self.servers.get_mut(server.0).and_then(Option::take).is_some() {
            let outputs = self.host.closed(self.now, server, fault);
            self.take(outputs);
        }
        Ok(())
    }

    async fn wait(&mut self, until: Option<Duration>, arrival: Option<Duration>) -> Flow<SimulateError> {
        self.count()?;
        let servers = self.servers.iter().flatten().filter_map(Server::next_timeout);
        let all = servers.chain(self.host.next_timeout()).chain(until).chain(arrival);
        // `Duration::MAX` means no deadline.
        let Some(next) = all.min().filter(|at| *at < Duration::MAX) else { return Err(PlayEnd::Over) };
        if next > self.now {
            (self.now, self.at_once) = (next, 0);
        }
        // The engines wake once all messages of this time have arrived.
        if arrival.is_none_or(|at| at > self.now) {
            self.wake_engines();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
