//! Plays a scenario in virtual time: the host engine and built-in servers in one loop, connected by queues. Time jumps
//! to the next deadline, so a day of waiting costs nothing, and the same scenario gives the same bytes.

use crate::host::engine::{Host, ModelReply, Output};
use crate::host::prompt::Prompt;
use crate::proposals::host::{Inferred, ServerId};
use crate::scenario::{MessageFate, Observation, Player, PlayerStep, Report, Scenario, ServerKind};
use crate::server::{self, Server};
use crate::wire::Direction;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::Duration;

/// Maximum number of events at the same time between two steps; more of them indicate an endless loop.
const MAX_AT_ONCE: u64 = 1_000_000;

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
    let mut servers = Vec::with_capacity(scenario.servers.len());
    for plan in &scenario.servers {
        let ServerKind::BuiltIn(config) = &plan.kind else {
            return Err(SimulateError::External { name: plan.name.clone(), line: plan.place.line });
        };
        let config = server::Config { wall_base_ns: around.wall_base_ns, ..(**config).clone() };
        servers.push(Some(Server::new(config)));
    }
    let host = Host::new(scenario.host_config());
    let (queue, outputs) = Default::default();
    let player = Player::new(scenario);
    Simulation { now: Duration::ZERO, host, servers, player, queue, arrivals: 0, outputs, around }.run()
}

/// A message in transit.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct UnderWay {
    at: Duration,
    /// Messages of the same time arrive in the order of sending.
    order: u64,
    server: ServerId,
    direction: Direction,
    bytes: Vec<u8>,
}

struct Simulation<'a> {
    now: Duration,
    host: Host,
    /// `None` for a server that was disconnected.
    servers: Vec<Option<Server>>,
    player: Player,
    queue: BinaryHeap<Reverse<UnderWay>>,
    arrivals: u64,
    /// Outputs of the host that are not handled yet.
    outputs: VecDeque<Output>,
    around: SimulationContext<'a>,
}

impl Simulation<'_> {
    fn run(mut self) -> Result<Report, SimulateError> {
        let outputs = self.host.start(self.now);
        self.outputs.extend(outputs);
        let mut at_once = 0;
        loop {
            at_once += 1;
            if at_once > MAX_AT_ONCE {
                return Err(SimulateError::Circle(self.now));
            }
            self.settle();
            // Messages arrive before the player continues, so that a turn after a `fire` step can use what was sent.
            if let Some(message) = self.arrival() {
                self.arrive(message);
                continue;
            }
            match self.player.next(self.now) {
                PlayerStep::Wait(wait) => {
                    let Some(next) = self.next_time(wait) else { break };
                    if next > self.now {
                        (self.now, at_once) = (next, 0);
                    }
                    self.handle_timeout();
                }
                PlayerStep::Finished => break,
                todo => {
                    // Steps are finite, so they are not a loop.
                    at_once = 0;
                    self.act(todo);
                }
            }
        }
        Ok(self.player.finish(self.now))
    }

    /// The next message that is due.
    fn arrival(&mut self) -> Option<UnderWay> {
        self.queue.peek().filter(|Reverse(message)| message.at <= self.now)?;
        self.queue.pop().map(|Reverse(message)| message)
    }

    /// When something happens next; `None` if nothing will.
    fn next_time(&self, wait: Option<Duration>) -> Option<Duration> {
        let message = self.queue.peek().map(|Reverse(message)| message.at);
        let servers = self.servers.iter().flatten().filter_map(Server::next_timeout);
        let all = servers.chain(message).chain(self.host.next_timeout()).chain(wait);
        // `Duration::MAX` means no deadline.
        all.min().filter(|at| *at < Duration::MAX)
    }

    /// Wakes the engines, once all messages of this time have arrived.
    fn handle_timeout(&mut self) {
        if self.queue.peek().is_some_and(|Reverse(message)| message.at <= self.now) {
            return;
        }
        for at in 0..self.servers.len() {
            let due = |server: &&mut Server| server.next_timeout().is_some_and(|at| at <= self.now);
            if let Some(server) = self.servers[at].as_mut().filter(due) {
                let outputs = server.handle_timeout(self.now);
                self.take_in(ServerId(at), outputs);
            }
        }
        if self.host.next_timeout().is_some_and(|at| at <= self.now) {
            let outputs = self.host.handle_timeout(self.now);
            self.outputs.extend(outputs);
        }
    }

    fn see(&mut self, seen: &Observation<'_>) {
        self.player.see(self.now, seen);
        (self.around.observe)(self.now, seen);
    }

    /// Applies the host's outputs.
    fn settle(&mut self) {
        while let Some(output) = self.outputs.pop_front() {
            match output {
                Output::Send { server, message } => self.send(server, Direction::ClientToServer, message),
                Output::Report(event) => self.see(&Observation::HostEvent(&event)),
                Output::Prompt(prompt) => {
                    self.see(&Observation::Prompt(&prompt));
                    let reply = match self.player.reply(&prompt) {
                        Some(reply) => Ok(reply),
                        None => (self.around.model)(&prompt),
                    };
                    let outputs = self.host.model(self.now, reply);
                    self.outputs.extend(outputs);
                }
                Output::Infer(asked) => {
                    let said = (self.around.model)(&Prompt::of(&asked));
                    let inferred = said.map(|reply| Inferred { text: reply.text, ..Inferred::default() });
                    if let (Ok(inferred), true) = (&inferred, asked.stream) {
                        let outputs = self.host.inferred_piece(self.now, asked.token, &inferred.text);
                        self.outputs.extend(outputs);
                    }
                    let outputs = self.host.inferred(self.now, asked.token, inferred);
                    self.outputs.extend(outputs);
                }
                Output::OrderResult(done) => self.see(&Observation::OrderResult(&done)),
                Output::Client { .. } => {}
            }
        }
    }

    fn act(&mut self, todo: PlayerStep) {
        match todo {
            PlayerStep::Order(order) => {
                let outputs = self.host.order(self.now, order);
                self.outputs.extend(outputs);
            }
            PlayerStep::Fire(server, fired) => match self.servers.get_mut(server.0).and_then(Option::as_mut) {
                Some(found) => {
                    let outputs = found.fire(self.now, &fired);
                    let refusals: Vec<String> = outputs.iter().filter_map(refusal).collect();
                    self.take_in(server, outputs);
                    refusals.iter().for_each(|why| self.see(&Observation::NotFired(why)));
                }
                None => self.see(&Observation::NotFired("the server is disconnected")),
            },
            PlayerStep::Disconnect(server) => self.cut(server, None),
            PlayerStep::Wait(_) | PlayerStep::Finished => {}
        }
    }

    fn cut(&mut self, server: ServerId, reason: Option<&str>) {
        let Some(found) = self.servers.get_mut(server.0).filter(|found| found.is_some()) else { return };
        *found = None;
        self.queue.retain(|Reverse(message)| message.server != server);
        let outputs = self.host.closed(self.now, server, reason);
        self.outputs.extend(outputs);
    }

    fn take_in(&mut self, server: ServerId, outputs: Vec<server::Output>) {
        for output in outputs {
            if let server::Output::Send(message) = output {
                self.send(server, Direction::ServerToClient, message);
            }
        }
    }

    fn send(&mut self, server: ServerId, direction: Direction, bytes: Vec<u8>) {
        if self.servers.get(server.0).is_none_or(Option::is_none) {
            return;
        }
        let mut under_way = |at: Duration, bytes: Vec<u8>| {
            self.arrivals += 1;
            self.queue.push(Reverse(UnderWay { at, order: self.arrivals, server, direction, bytes }));
        };
        match self.player.fate(self.now, server, direction, &bytes) {
            MessageFate::Pass => under_way(self.now, bytes),
            MessageFate::Delay(delay) => under_way(self.now.saturating_add(delay), bytes),
            MessageFate::Drop => {}
            MessageFate::Duplicate => {
                under_way(self.now, bytes.clone());
                under_way(self.now, bytes);
            }
            MessageFate::Replace(other) => under_way(self.now, other),
            MessageFate::Disconnect => self.cut(server, Some("the scenario cut the connection")),
        }
    }

    fn arrive(&mut self, message: UnderWay) {
        let UnderWay { server, direction, bytes, .. } = message;
        self.see(&Observation::Message { server, direction, bytes: &bytes });
        match direction {
            Direction::ClientToServer => {
                if let Some(found) = self.servers.get_mut(server.0).and_then(Option::as_mut) {
                    let outputs = found.receive(self.now, &bytes);
                    self.take_in(server, outputs);
                }
            }
            Direction::ServerToClient => {
                let outputs = self.host.receive(self.now, server, &bytes);
                self.outputs.extend(outputs);
            }
        }
    }
}

/// Why a server did not send what it was ordered to.
fn refusal(output: &server::Output) -> Option<String> {
    match output {
        server::Output::Report(server::Report::NotSent { method, reason }) => {
            Some(format!("{method}: {}", serde_json::to_value(reason).unwrap_or_default()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
