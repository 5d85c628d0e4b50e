//! `serve --scenario`: plays the part of one built-in server of a scenario, on any transport.

use super::failed;
use crate::cli::listening::ListenOptions;
use crate::cli::printer::{Format, note};
use crate::cli::redaction::RedactOptions;
use crate::cli::target::Limits;
use crate::cli::verdict::{self, Junit};
use crate::cli::{Context, Outcome};
use crate::clock;
use crate::error::{CommandError, ErrorKind};
use crate::host::client::EraChoice;
use crate::process::threads;
use crate::protocol::Era;
use crate::record::recording::{Need, OnExisting};
use crate::record::startup_error;
use crate::render::text;
use crate::runtime;
use crate::runtime::listening;
use crate::runtime::play;
use crate::runtime::play::external_host::{self, Entered, ScenarioServer, ScenarioServerEvent};
use crate::runtime::play::sessions::{ScenarioNotice, ScenarioSessions};
use crate::runtime::sessions::TrafficObserver;
use crate::runtime::shared_recorder::SharedRecorder;
use crate::scenario::{Player, Report, Scenario, ServerKind};
use crate::server::Server;
use crate::transport::Link;
use crate::transport::link::Served;
use crate::transport::listen::gateway::{Backend, Gateway};
use crate::transport::local::stdio::read_messages;
use clap::Args;
use parking_lot::Mutex;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// When the part is done, an HTTP host without an open stream counts as gone after this time without a message.
const SILENCE: Duration = Duration::from_secs(5);
/// How long a host may take to read the last messages after it closed its side.
const UNREAD: Duration = Duration::from_secs(1);
/// How long the last messages may take to reach the network.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(100);

/// A scenario, and where to write its report.
#[derive(Debug, Args)]
#[command(next_help_heading = "Scenarios")]
#[command(mut_arg("redact", |redact| redact.requires("scenario")))]
pub(super) struct ScenarioArgs {
    /// Play one built-in server that this scenario defines: the messages it sends, the faults on its connection, and
    /// the messages expected on it. The host starts this command, or connects with --listen. When the host has
    /// disconnected, the report is printed to stderr.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["declare", "era", "settings", "plans", "on_signal", "memory",
        "folders", "commands", "report", "answer_timeout", "seed", "allowed", "webhook", "channel_socket", "feed"])]
    pub scenario: Option<PathBuf>,
    /// Which server of the scenario to play.
    #[arg(long = "as", value_name = "NAME", requires = "scenario")]
    part: Option<String>,
    /// Write the scenario's report as JUnit XML.
    #[arg(long, value_name = "FILE", requires = "scenario")]
    junit: Option<PathBuf>,
    /// Format of the scenario's report.
    #[arg(short, long, value_enum, default_value_t = Format::Human, requires = "scenario")]
    format: Format,
}

/// Plays the part, and prints the report to stderr when the host has disconnected.
///
/// # Errors
///
/// The scenario cannot be read, has no such server, or the report cannot be written.
pub(super) fn run(
    path: &Path,
    args: &ScenarioArgs,
    (listening, limits, redact): (&ListenOptions, Limits, &RedactOptions),
    record: Option<(&Path, OnExisting)>,
    context: &Context,
) -> Result<Outcome, CommandError> {
    let junit = args.junit.as_deref().map(Junit::open).transpose()?;
    let is_only_seen = junit.is_none() && std::io::stderr().is_terminal();
    let played = played(path, args, (listening, limits), record, context).and_then(|mut report| {
        verdict::redact(&mut report, record.map(|(path, _)| path), redact, is_only_seen)?;
        Ok(report)
    });
    let (report, junit) = Junit::unless_broken(junit, path, played)?;
    let file = path.display().to_string();
    if let Some(junit) = junit {
        junit.write(&report, &file)?;
    }
    context.printer.report(|palette| match args.format {
        Format::Human => verdict::text(&report, &file, context.verbose > 0, palette),
        Format::Json => format!("{}\n", text::json(&verdict::to_json(&report, None))),
    });
    Ok(verdict::outcome(&report))
}

/// Reads the scenario and plays the part, until the host has disconnected.
fn played(
    path: &Path,
    args: &ScenarioArgs,
    (listening, limits): (&ListenOptions, Limits),
    record: Option<(&Path, OnExisting)>,
    context: &Context,
) -> Result<Report, CommandError> {
    let begin = part_of(&play::read(path)?, args.part.as_deref())?;
    let recorder =
        record.map(|(path, existing)| SharedRecorder::start("serve", Some(path), Need::Wanted, existing, note));
    let recorder = recorder.transpose()?;
    let seeing = recorder.clone();
    let observe: TrafficObserver =
        Arc::new(move |stream, passing| seeing.iter().for_each(|recorder| recorder.traffic(stream, passing)));
    let report = match &listening.listen {
        Some(listen) => play_listening(begin, observe, (listen, listening, limits), context),
        None => runtime::block_on_to_the_end(play_stdio(begin(), limits, observe)),
    };
    recorder.iter().for_each(|recorder| recorder.finish(note));
    report
}

/// Creates the part of the server with this name, from its beginning. Without a name, the only built-in server is
/// used.
fn part_of(
    scenario: &Scenario,
    name: Option<&str>,
) -> Result<Box<dyn Fn() -> ScenarioServer + Send + Sync>, CommandError> {
    let is_built_in = |kind: &ServerKind| matches!(kind, ServerKind::BuiltIn(_));
    let built_in = scenario.servers.iter().filter(|plan| is_built_in(&plan.kind));
    let built_in: Vec<&str> = built_in.map(|plan| plan.name.as_str()).collect();
    let name = match (name, &built_in[..]) {
        (Some(name), _) => name,
        (None, [only]) => only,
        (None, names) => {
            return Err(CommandError::usage(format!("the scenario has {} built-in servers", names.len()))
                .hint(format!("choose one with --as: {}", names.join(", "))));
        }
    };
    let unknown = || {
        CommandError::usage(format!("the scenario has no built-in server named {name:?}"))
            .hint(format!("the built-in servers are: {}", built_in.join(", ")))
    };
    let (id, part) = scenario.played_by(name).ok_or_else(unknown)?;
    let plan = &part.servers[id.0];
    let ServerKind::BuiltIn(config) = &plan.kind else { return Err(unknown()) };
    let mut config = (**config).clone();
    config.wall_base_ns = clock::wall_ns();
    // The messages need the legacy era; the modern one is used if the scenario says so.
    let era = if plan.era == EraChoice::Modern { Era::Modern } else { Era::Legacy };
    config.revisions.retain(|revision| revision.era() == era);
    Ok(Box::new(move || {
        let config = config.clone();
        let make = Box::new(move || Server::new(config.clone()));
        ScenarioServer { make, id, player: Player::new(&part), has_handshake: era == Era::Legacy }
    }))
}

/// Plays until the host closes stdin or the user ends it; then the open expectations are judged as they are.
async fn play_stdio(part: ScenarioServer, limits: Limits, observe: TrafficObserver) -> Result<Report, CommandError> {
    let (link, written) = standard_streams(limits)?;
    let (entering, enters) = mpsc::unbounded_channel();
    let _ = entering.send(Entered { stream: 0, link, held: None });
    let entrance = Mutex::new(Some(entering));
    let close = || drop(entrance.lock().take());
    let report = |reported: ScenarioServerEvent<'_>| match reported {
        ScenarioServerEvent::Passes(stream, passing) => observe(stream, passing),
        // On stdin, no host can reconnect.
        ScenarioServerEvent::Waits => close(),
        ScenarioServerEvent::OrderResult(_) => {}
    };
    let (mut playing, mut over) = (pin!(external_host::play_server(part, enters, report)), None);
    listening::until_ended(async { over = Some(playing.as_mut().await) }).await?;
    let report = match over {
        Some(report) => report,
        None => {
            close();
            playing.await
        }
    };
    let _ = tokio::time::timeout(UNREAD, written).await;
    Ok(report)
}

/// Plays until the first play is over or the user ends it; then the open expectations are judged as they are.
fn play_listening(
    begin: Box<dyn Fn() -> ScenarioServer + Send + Sync>,
    observe: TrafficObserver,
    (listen, options, limits): (&str, &ListenOptions, Limits),
    context: &Context,
) -> Result<Report, CommandError> {
    runtime::block_on_to_the_end(async {
        let listening = listening::bind(listen, note).await?;
        let (plays, mut news) = ScenarioSessions::start(begin, observe);
        let gateway =
            Gateway::new(Arc::new(plays.clone()) as Arc<dyn Backend>, options.access(), options.limit(limits));
        let _ready = options.ready(&listening.door("/mcp"), listening.transport())?;
        context.printer.note(&format!("listening on {}; press Ctrl-C to stop", listening.url("/mcp")));
        let accepting = Arc::clone(&gateway).serve(listening.listener);
        let mut over = None;
        listening::until_ended(async {
            tokio::select! {
                () = accepting => {}
                report = first_over(&mut news, &gateway) => over = report,
            }
        })
        .await?;
        gateway.finish().await;
        tokio::time::sleep(DRAIN_TIMEOUT).await;
        let report = over.or_else(|| oldest(&mut news));
        if report.is_none() {
            // No host has connected, or reconnected.
            plays.close();
        }
        let report = match report {
            Some(report) => Some(report),
            None => first_over(&mut news, &gateway).await,
        };
        report.ok_or_else(|| CommandError::new(ErrorKind::Internal, "no session of the scenario has ended"))
    })
}

/// The report of the first play that is over.
async fn first_over(news: &mut mpsc::UnboundedReceiver<ScenarioNotice>, gateway: &Arc<Gateway>) -> Option<Report> {
    loop {
        match news.recv().await? {
            ScenarioNotice::Over(_, report) => return Some(report),
            ScenarioNotice::Done(stream) => {
                let gateway = Arc::clone(gateway);
                tokio::spawn(async move { gateway.close_left(stream, SILENCE).await });
            }
        }
    }
}

/// Of the plays that are over, the report of the one that began first.
fn oldest(news: &mut mpsc::UnboundedReceiver<ScenarioNotice>) -> Option<Report> {
    let over = std::iter::from_fn(|| news.try_recv().ok()).filter_map(|news| match news {
        ScenarioNotice::Over(number, report) => Some((number, report)),
        ScenarioNotice::Done(_) => None,
    });
    over.min_by_key(|(number, _)| *number).map(|(_, report)| report)
}

/// This process's stdin and stdout as a link, and a receiver that ends when everything is written.
///
/// Each direction has its own thread, so a host that does not read blocks nothing else.
fn standard_streams(limits: Limits) -> Result<(Link, oneshot::Receiver<()>), CommandError> {
    let (link, Served { mut outgoing, incoming }) = Link::served();
    let pass_on = move |came| drop(incoming.blocking_send(came));
    let (writes, written) = oneshot::channel::<()>();
    let write = move || {
        // Dropped after the last message.
        let _writes = writes;
        while let Some(mut message) = outgoing.blocking_recv() {
            message.push(b'\n');
            let mut out = std::io::stdout().lock();
            if out.write_all(&message).and_then(|()| out.flush()).is_err() {
                return;
            }
        }
    };
    threads::start("stdout", write)
        .and_then(|_| read_messages(std::io::stdin(), limits.max_message, "the host", pass_on))
        .map_err(failed)?;
    startup_error::begin();
    Ok((link, written))
}
