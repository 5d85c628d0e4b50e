//! Plays a scenario: in real time with any servers, or in virtual time with built-in ones. The session is always
//! recorded, and validated at the end.

use super::super::Context;
use super::{HostServers, NamedServer, ServerLocation};
use crate::cli::target::{Limits, Target};
use crate::error::{CommandError, ErrorKind};
use crate::host::engine::{Host, HostConfig, ModelReply, Output};
use crate::host::prompt::Prompt;
use crate::proposals::Severity;
use crate::proposals::host::ServerId;
use crate::record::recorder::Recorder;
use crate::runtime::host::{HostNotice, HostRunner, Interceptor, Intervention, MessageObserver};
use crate::runtime::inferences::{Inferences, Saying};
use crate::runtime::model::{Model, Progress, Replying};
use crate::runtime::simulate::{SimulationContext, simulate};
use crate::scenario::{Clock, MessageFate, Observation, Player, PlayerStep, Report, Scenario, ServerKind};
use crate::trace::{EventKind, FileHeader, Flags, Item, NewEvent, ReelReader, ReelWriter, WriterOptions};
use crate::validate::{Options, Validator};
use crate::wire::{Direction, Framing};
use serde_json::json;
use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;
use tokio::sync::mpsc;

/// The start of virtual time, 2026-01-01 in Unix nanoseconds, so that the same scenario gives the same bytes.
const VIRTUAL_BEGINNING_NS: i64 = 1_767_225_600_000_000_000;

/// The maximum number of delayed or repeated messages that wait to be sent.
const WAITING: usize = 4096;

/// Receives what happens while a scenario is played.
pub(crate) type ObservationCallback<'a> = &'a mut dyn FnMut(Duration, &Observation<'_>) -> Result<(), CommandError>;

/// Reads a scenario.
///
/// # Errors
///
/// The file cannot be read, or is invalid; the error names the line.
pub(crate) fn read(path: &Path) -> Result<Scenario, CommandError> {
    let text = std::fs::read_to_string(path).map_err(|error| CommandError::reading(path, &error))?;
    Scenario::read(&text).map_err(|error| CommandError::document(path, &error))
}

/// Plays in virtual time.
///
/// # Errors
///
/// The model is a program, the reel cannot be written, or the scenario needs real time.
pub(crate) fn play_virtual(
    scenario: &Scenario,
    reel: &Path,
    model: &Model,
    observe: ObservationCallback<'_>,
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
    let file = crate::record::reels::create(reel, false)?;
    let mut writer = ReelWriter::create(file, &header, WriterOptions::default()).map_err(failed)?;
    let mut problem = None;
    let mut observe = |at: Duration, seen: &Observation<'_>| {
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
            _ => Ok(()),
        };
        if let Err(error) = kept.and_then(|()| observe(at, seen)) {
            problem.get_or_insert(error);
        }
    };
    let mut model = |prompt: &Prompt| {
        Ok(if matches!(model, Model::Echo) { ModelReply::echo(prompt) } else { ModelReply::default() })
    };
    let around = SimulationContext { wall_base_ns: now, model: &mut model, observe: &mut observe };
    let report = simulate(scenario, around);
    writer.finish().map_err(failed)?;
    match problem {
        Some(error) => Err(error),
        None => report.map_err(|error| CommandError::usage(error.to_string())),
    }
}

/// The locations of the scenario's servers.
///
/// # Errors
///
/// A server cannot be found.
pub(crate) fn servers(
    scenario: &Scenario,
    limits: Limits,
    context: &Context,
) -> Result<Vec<NamedServer>, CommandError> {
    let now = i64::try_from(jiff::Timestamp::now().as_nanosecond()).unwrap_or(i64::MAX);
    let place = |kind: &ServerKind| match kind {
        ServerKind::BuiltIn(config) => {
            let mut config = config.clone();
            config.wall_base_ns = now;
            Ok(ServerLocation::Builtin(config))
        }
        ServerKind::Command { command, env, cwd } => {
            ServerLocation::of(&Target::of_command_in(command, env, cwd.as_deref()).within(limits), context)
        }
        ServerKind::Url { url, headers } => ServerLocation::of(&Target::of_url(url, headers).within(limits), context),
    };
    scenario.servers.iter().map(|plan| Ok(NamedServer { name: plan.name.clone(), place: place(&plan.kind)? })).collect()
}

/// A message that arrived: the time, the server, the direction and the bytes.
type Arrived = (Duration, ServerId, Direction, Vec<u8>);

/// Passes messages to the player, and applies the scenario's faults to them.
struct Stagehand {
    player: Rc<RefCell<Player>>,
    put: mpsc::Sender<(ServerId, Intervention)>,
    seen: Rc<RefCell<Vec<Arrived>>>,
}

impl MessageObserver for Stagehand {
    fn pass(&mut self, now: Duration, server: ServerId, direction: Direction, message: Vec<u8>) -> Option<Vec<u8>> {
        let again = |bytes: Vec<u8>| (server, Intervention::Message(direction, bytes));
        match self.player.borrow_mut().fate(now, server, direction, &message) {
            MessageFate::Pass => Some(message),
            MessageFate::Drop => None,
            MessageFate::Replace(other) => Some(other),
            MessageFate::Duplicate => {
                let _ = self.put.try_send(again(message.clone()));
                Some(message)
            }
            MessageFate::Delay(delay) => {
                let (put, late) = (self.put.clone(), again(message));
                tokio::spawn(async move {
                    tokio::time::sleep(delay).await;
                    let _ = put.send(late).await;
                });
                None
            }
            MessageFate::Disconnect => {
                let _ = self.put.try_send((server, Intervention::Cut));
                None
            }
        }
    }

    fn arrived(&mut self, now: Duration, server: ServerId, direction: Direction, message: &[u8]) {
        self.player.borrow_mut().see(now, &Observation::Message { server, direction, bytes: message });
        self.seen.borrow_mut().push((now, server, direction, message.to_vec()));
    }
}

/// Plays in real time. `lay_over` can change the host's configuration.
///
/// # Errors
///
/// A server cannot be reached, or the output cannot be written.
pub(crate) async fn play_real(
    (scenario, limits): (&Scenario, Limits),
    lay_over: impl FnOnce(&mut HostConfig) -> Result<(), CommandError>,
    (recorder, model): (&Recorder, &Model),
    observe: ObservationCallback<'_>,
    context: &Context,
) -> Result<Report, CommandError> {
    let named = servers(scenario, limits, context)?;
    let mut parties = HostServers::gather(&named, recorder, context).await?;
    let links = std::mem::take(&mut parties.links);
    let player = Rc::new(RefCell::new(Player::new(scenario)));
    let seen = Rc::new(RefCell::new(Vec::new()));
    let (sender, put) = mpsc::channel(WAITING);
    let hand = Stagehand { player: Rc::clone(&player), put: sender, seen: Rc::clone(&seen) };
    let mut config = scenario.host_config();
    lay_over(&mut config)?;
    let attendant = Interceptor { watch: Box::new(hand), put };
    let mut runner = HostRunner::start(Host::new(config), links, Some(attendant));
    let mut replying = None;
    let mut inferences = Inferences::new();
    let outcome = loop {
        for (at, server, direction, bytes) in std::mem::take(&mut *seen.borrow_mut()) {
            observe(at, &Observation::Message { server, direction, bytes: &bytes })?;
        }
        let todo = player.borrow_mut().next(runner.now());
        let wait = match todo {
            PlayerStep::Order(order) => {
                runner.order(order);
                continue;
            }
            PlayerStep::Fire(server, fired) => {
                let sent = parties.orders[server.0].as_ref().is_some_and(|orders| orders.send(fired).is_ok());
                if !sent {
                    let why = Observation::NotFired("the server is not a built-in one, or its connection was closed");
                    player.borrow_mut().see(runner.now(), &why);
                }
                continue;
            }
            PlayerStep::Disconnect(server) => {
                runner.disconnect(server);
                continue;
            }
            PlayerStep::Finished => break Ok(()),
            PlayerStep::Wait(wait) => wait,
        };
        let due = wait.map(|at| at.saturating_sub(runner.now()));
        let reported = tokio::select! {
            reported = runner.next() => reported,
            progress = Replying::next(&mut replying) => {
                if let Progress::Reply(reply) = progress {
                    runner.model(reply);
                }
                continue;
            }
            (token, saying) = inferences.next() => {
                match saying {
                    Saying::Piece(piece) => runner.inferred_piece(token, &piece),
                    Saying::End(outcome) => {
                        inferences.begin_next(model);
                        runner.inferred(token, outcome);
                    }
                }
                continue;
            }
            () = sleep(due) => continue,
            () = tokio::task::yield_now(), if !seen.borrow().is_empty() => continue,
        };
        let now = runner.now();
        let output = match reported {
            HostNotice::Host(Output::Infer(asked)) => {
                inferences.take(asked, model);
                continue;
            }
            HostNotice::Host(output) => output,
            HostNotice::Stderr(..) => continue,
        };
        let sight = match &output {
            Output::Report(event) => Observation::HostEvent(event),
            Output::Prompt(prompt) => Observation::Prompt(prompt),
            Output::OrderResult(done) => Observation::OrderResult(done),
            _ => continue,
        };
        player.borrow_mut().see(now, &sight);
        if let Err(error) = observe(now, &sight) {
            break Err(error);
        }
        if let Output::Prompt(prompt) = output {
            // What the host then sends makes us ask the player again.
            let reply = player.borrow_mut().reply(&prompt);
            match reply {
                Some(reply) => runner.model(Ok(reply)),
                None => replying = Some(Replying::begin(model, prompt)),
            }
        }
    };
    let now = runner.now();
    runner.close().await;
    parties.end(recorder).await;
    outcome?;
    let player = Rc::try_unwrap(player)
        .map_err(|_| CommandError::new(ErrorKind::Internal, "the scenario's player is still in use"))?;
    Ok(player.into_inner().finish(now))
}

async fn sleep(time: Option<Duration>) {
    match time {
        Some(time) => tokio::time::sleep(time).await,
        None => std::future::pending().await,
    }
}

/// The errors that the validator finds in a reel, one line each.
///
/// # Errors
///
/// The reel cannot be read.
pub(crate) fn errors(reel: &Path) -> Result<Vec<String>, CommandError> {
    let failed = |error| CommandError::reading(reel, &error);
    let mut reader = ReelReader::open(reel).map_err(|error| CommandError::reel(reel, &error))?.with_payloads();
    let mut validator = Validator::new(Options::default());
    while let Some(item) = reader.next().map_err(failed)? {
        if let Item::Block(block) = item {
            block.events().for_each(|event| validator.observe(&event));
            reader.recycle(block);
        }
    }
    let report = validator.finish();
    let errors = report.findings.iter().filter(|shown| shown.rule.severity == Severity::Error);
    Ok(errors.map(|shown| format!("{}: {}", shown.rule.id, shown.seen)).collect())
}

/// A report as JSON, with the path of the reel, if there is one.
pub(crate) fn to_json(report: &Report, reel: Option<&Path>) -> serde_json::Value {
    let mut value = report.to_json();
    value["event"] = json!("report");
    value["reel"] = json!(reel.map(|reel| reel.display().to_string()));
    value
}

/// Whether time is virtual: as the user wants, else as the scenario says.
pub(crate) fn is_virtual(scenario: &Scenario, wanted: Option<bool>) -> bool {
    wanted.unwrap_or(scenario.clock == Clock::Virtual)
}
