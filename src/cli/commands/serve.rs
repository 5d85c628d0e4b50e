//! `serve`: the built-in server.

mod local;
mod scenario;
mod watch;

use super::mock;
use crate::cli::client_session::Overwriting;
use crate::cli::handlers::{Allowed, HandlerArgs};
use crate::cli::listening::ListenOptions;
use crate::cli::printer::note;
use crate::cli::redaction::RedactOptions;
use crate::cli::secret_warning::Shared;
use crate::cli::target::Limits;
use crate::cli::{Context, Outcome};
use crate::clock;
use crate::error::{CommandError, ErrorKind};
use crate::files::output;
use crate::process::threads;
use crate::proposals::REGISTRY;
use crate::protocol::{Era, Revision};
use crate::record::recording::{Need, OnExisting};
use crate::record::startup_error;
use crate::render::text;
use crate::runtime;
use crate::runtime::handler_runner::HandlerRunner;
use crate::runtime::listening;
use crate::runtime::parameters;
use crate::runtime::server::{ServerInput, serve};
use crate::runtime::sessions::{SessionHandlers, SessionTraffic, Sessions};
use crate::runtime::shared_recorder::{self, SharedRecorder};
use crate::runtime::watch::{IoRunner, PreparedWatchers, Watchers};
use crate::server::{Config, Fired, IoRequest, Plan, Report, Server, Task};
use crate::sessions::answers::Answers;
use crate::sessions::control::{FireReportCallback, InjectionProgress, Session, choose};
use crate::sessions::live;
use crate::sessions::sockets::BoundSocket;
use crate::transport::listen::gateway::{Backend, Gateway};
use crate::transport::local::stdio::read_messages;
use crate::wire::Direction;
use crate::wire::units::parse_time;
use clap::{Args, ValueEnum};
use local::{Local, LocalArgs, LocalServer};
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use watch::WatchArgs;

/// At most this many different reasons why something was not sent are printed.
const MAX_UNSENT: usize = 32;

/// Run the built-in server, which implements all five proposals (see docs/proposals.md).
///
/// A host starts it like any server, or connects to it with --listen: over HTTP and WebSocket, TCP, or a Unix
/// socket. It has tools, resources, prompts and a small memory, and can watch folders and commands. It sends
/// messages of the proposals on a timer (--plan), when a host calls its tool `emit`, and when the process receives
/// SIGUSR1 (--on-signal).
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel call tools/list -- mcpreel serve
  mcpreel serve --declare hooks --declare reminder
  mcpreel serve --era legacy --set conversation.carrier=request
  mcpreel serve --plan '{\"after_ms\":500,\"fire\":{\"kind\":\"push\",\"text\":\"done\"}}'
  mcpreel serve --listen 8080                # http:, ws://127.0.0.1:8080/mcp
  mcpreel serve --listen unix:/tmp/mcp.sock  # or tcp:7000
  mcpreel serve --listen 0 --ready-file ready.json
  mcpreel serve --watch . --ignore '*.log' --watch-command 'cargo check'
  mcpreel serve --memory off --watch-command 'make test' --watch-every 10m
  mcpreel serve --allow-handlers webhook --handler-secret TOKEN@api.example.com
  mcpreel serve --webhook 9000               # JSON POSTs become push events
  mcpreel serve --channel-socket chat.sock   # then: nc -U chat.sock
  mcpreel serve --feed events.fifo           # each line is a message
  tail -F log.jsonl | mcpreel serve --listen 8080 --feed -
  mcpreel fire push --text hello --session serve
  mcpreel serve --scenario faults.yaml --as slow --junit report.xml
  mcpreel serve --scenario faults.yaml --as slow --listen 8080
  mcpreel serve --reel session.reel          # see `mcpreel mock --help`
  mcpreel serve --on-signal '{\"kind\":\"push\",\"text\":\"done\"}' & kill -USR1 $!

Results of what the server sends (responses, refusals, late responses) are reported to stderr with -v, or to --report, as one JSON object per line.")]
pub(crate) struct ServeArgs {
    /// Declare only this proposal (repeatable): conversation, reminder, mcpl, hooks, mcpe.
    #[arg(long, value_name = "PROPOSAL")]
    declare: Vec<String>,
    /// The era to support. The proposals need the legacy era; plain MCP works in both.
    #[arg(long, value_enum, default_value_t = Eras::Both)]
    era: Eras,
    /// Change a setting of a proposal (repeatable): conversation.carrier=request, mcpl.push_sets:='["ci.builds"]',
    /// mcpl.channels:='["discord:#general"]', mcpl.redact.api_key='sk-\w+'.
    #[arg(long = "set", value_name = "VALUE")]
    settings: Vec<String>,
    /// Send a message on its own, on a timer: {"after_ms":N,"every_ms":N,"times":N,"fire":{"kind":…}} (repeatable).
    #[arg(long = "plan", value_name = "JSON", value_parser = plan)]
    plans: Vec<Plan>,
    /// Send this message whenever the process receives SIGUSR1 (repeatable).
    #[arg(long = "on-signal", value_name = "JSON", value_parser = fired)]
    on_signal: Vec<Fired>,
    /// Record the session to this reel. If the file exists and a client started this server (stdin is a pipe or a
    /// socket), a free name is used. With handlers, the session is always recorded, including each run of a handler.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    #[command(flatten)]
    overwriting: Overwriting,
    // Its options without a heading must come before those with one, because a heading applies to all that follow.
    #[command(flatten)]
    common: ServeCommon,
    #[command(flatten)]
    scenario: scenario::ScenarioArgs,
    /// Serve this recording in place of the built-in server, as `mcpreel mock` does (repeatable).
    #[arg(long, value_name = "FILE", help_heading = "Recordings", conflicts_with_all = ["declare", "era", "settings",
        "plans", "on_signal", "scenario", "memory", "folders", "commands", "allowed", "webhook", "channel_socket", "feed"])]
    reel: Vec<PathBuf>,
    #[command(flatten)]
    mock: mock::MockOptions,
    #[command(flatten)]
    watch: WatchArgs,
    #[command(flatten)]
    handlers: HandlerArgs,
    #[command(flatten)]
    local: LocalArgs,
}

/// The eras to support.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Eras {
    /// With `initialize`: revisions up to 2025-11-25.
    Legacy,
    /// With `server/discover`: revision 2026-07-28.
    Modern,
    /// Whichever the host begins with.
    Both,
}

impl Eras {
    fn has(self, era: Era) -> bool {
        match self {
            Self::Legacy => era == Era::Legacy,
            Self::Modern => era == Era::Modern,
            Self::Both => true,
        }
    }
}

/// The options of all commands that run the built-in server.
#[derive(Debug, Args)]
pub(super) struct ServeCommon {
    /// Write reports to this file, one JSON object per line.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// How long to wait for the host's responses.
    #[arg(long, visible_alias = "timeout", value_name = "TIME", default_value = "30s", value_parser = parse_time)]
    answer_timeout: Duration,
    /// Generate ids from this seed: the same seed and input give the same bytes.
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    #[command(flatten)]
    redact: RedactOptions,
    #[command(flatten)]
    listening: ListenOptions,
    #[command(flatten)]
    limits: Limits,
}

/// What to do with a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reaction {
    /// Print it with -v only.
    Quiet,
    /// Print it.
    Print,
    /// Print it, and stop a listening server, which has done its work.
    PrintAndEnd,
    /// The same, but the caller prints it.
    End,
}

impl Reaction {
    fn is_reported(self) -> bool {
        matches!(self, Self::Print | Self::PrintAndEnd)
    }

    fn ends(self) -> bool {
        matches!(self, Self::End | Self::PrintAndEnd)
    }
}

fn plan(text: &str) -> Result<Plan, String> {
    let plan: Plan = serde_json::from_str(text).map_err(|error| error.to_string())?;
    plan.fire.check()?;
    Ok(plan)
}

fn fired(text: &str) -> Result<Fired, String> {
    let fired: Fired = serde_json::from_str(text).map_err(|error| error.to_string())?;
    fired.check()?;
    Ok(fired)
}

/// Runs the command.
///
/// # Errors
///
/// The command failed; the error's kind decides the exit code.
pub(super) fn run(args: &ServeArgs, context: &Context) -> Result<Outcome, CommandError> {
    if let Some(path) = &args.scenario.scenario {
        return scenario::run(
            path,
            &args.scenario,
            (&args.common.listening, args.common.limits, &args.common.redact),
            args.record.as_deref().map(|record| (record, args.on_existing())),
            context,
        );
    }
    if !args.reel.is_empty() {
        return serve_reels(args, context);
    }
    args.mock.check_absent()?;
    let mut config = args.common.config();
    if !args.declare.is_empty() {
        for name in &args.declare {
            if crate::proposals::by_name(name).is_none() {
                let known: Vec<_> = REGISTRY.iter().map(|proposal| proposal.descriptor().name).collect();
                return Err(CommandError::usage(format!("unknown proposal {name:?}"))
                    .hint(format!("the proposals are {}", known.join(", "))));
            }
        }
        config.declare = args.declare.iter().cloned().collect();
    }
    config.revisions = Revision::ALL.into_iter().filter(|revision| args.era.has(revision.era())).collect();
    if !args.common.is_listening() {
        parameters::keep_stdin_for("the host sends its messages there");
    }
    config.settings = parameters::object(&args.settings)?.into_iter().collect();
    let local = args.local.prepare(args.common.listening.listen.is_some(), &mut config)?;
    config.check().map_err(|fault| CommandError::usage(format!("--set: {fault}")))?;
    for (option, fired) in planned(args) {
        fired.check_for(&config).map_err(|fault| CommandError::usage(format!("{option}: {fault}")))?;
    }
    config.plans = args.plans.clone();
    config.memory = args.watch.has_memory();
    let handlers = args.handlers.prepare()?;
    let recorder = match &args.record {
        None if handlers.is_none() => None,
        path => {
            // No handler runs without being recorded.
            let need = if handlers.is_some() { Need::ToBegin } else { Need::Wanted };
            Some(SharedRecorder::start("serve", path.as_deref(), need, args.on_existing(), note)?)
        }
    };
    let besides =
        ServeExtras { on_signal: args.on_signal.clone(), watch: args.watch.prepare()?, handlers, recorder, local };
    let mut unsent = HashSet::new();
    run_server("serve", config, besides, &args.common, context, |report| {
        if let Report::NotSent { method, reason } = report
            && context.verbose == 0
            && unsent.len() < MAX_UNSENT
            && unsent.insert((method.clone(), reason.to_string()))
        {
            note(&format!("{method} was not sent: {reason}"));
        }
        Reaction::Quiet
    })?;
    Ok(Outcome::Clean)
}

/// What the server is to send by itself, each with the option that says so.
fn planned(args: &ServeArgs) -> impl Iterator<Item = (&'static str, &Fired)> {
    let plans = args.plans.iter().map(|plan| ("--plan", &plan.fire));
    plans.chain(args.on_signal.iter().map(|fired| ("--on-signal", fired)))
}

impl ServeArgs {
    /// What to do if the reel of --record exists.
    fn on_existing(&self) -> OnExisting {
        if self.overwriting.force { OnExisting::Overwrite } else { self.common.listening.on_existing() }
    }
}

/// Serves recordings.
fn serve_reels(args: &ServeArgs, context: &Context) -> Result<Outcome, CommandError> {
    let common = &args.common;
    let on_existing = args.on_existing();
    let start = |path| SharedRecorder::start("serve", Some(path), Need::Wanted, on_existing, note);
    let mock = mock::Mock {
        reels: &args.reel,
        options: &args.mock,
        ignore: &[],
        report: common.report.as_deref(),
        redact: &common.redact,
        seed: common.seed.unwrap_or_default(),
        listening: &common.listening,
        limits: common.limits,
        recorder: args.record.as_deref().map(start).transpose()?,
    };
    mock.run(None, context)
}

impl ServeCommon {
    /// The options of a server that listens and waits this long for responses.
    pub(super) fn listening(listening: ListenOptions, limits: Limits, answer_timeout: Duration) -> Self {
        Self { report: None, answer_timeout, seed: None, redact: RedactOptions::default(), listening, limits }
    }

    /// Whether hosts connect, rather than start this process.
    pub(super) fn is_listening(&self) -> bool {
        self.listening.listen.is_some()
    }

    /// How long to wait for the host's responses.
    pub(super) fn answer_timeout(&self) -> Duration {
        self.answer_timeout
    }

    /// Writes reports to the file of --report, if there is one.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub(super) fn write_reports(&self, reports: &[Value]) -> Result<(), CommandError> {
        let Some(path) = &self.report else { return Ok(()) };
        let mut shared = Shared::new(&self.redact, false)?;
        let lines: String = reports.iter().map(|report| shared.text(text::json(report) + "\n")).collect();
        output::write_whole(path, lines.as_bytes())?;
        shared.print();
        Ok(())
    }

    /// The settings of a server that sends messages to its host, for which it needs the legacy era. Without a seed,
    /// ids are generated from the current time.
    pub(super) fn config(&self) -> Config {
        let wall_base_ns = clock::wall_ns();
        Config {
            wall_base_ns,
            seed: self.seed.unwrap_or(wall_base_ns.unsigned_abs()),
            answer_deadline: self.answer_timeout,
            revisions: Revision::ALL.into_iter().filter(|revision| Eras::Legacy.has(revision.era())).collect(),
            ..Config::default()
        }
    }
}

/// The sessions of a running server, for its control socket: one on stdin and stdout, or those of a gateway.
/// What this number of sessions is to send. If there are several, it gets its id and time here.
fn shared(fired: &Fired, sessions: usize) -> Fired {
    if sessions < 2 {
        return fired.clone();
    }
    fired.clone().happened(&uuid::Uuid::now_v7().to_string(), &format!("{:.3}", jiff::Timestamp::now()))
}

#[derive(Clone)]
enum Serving {
    Stdio { arrivals: Sender<ServerInput>, client: Arc<OnceLock<String>> },
    Listening(Arc<Sessions>),
}

impl Serving {
    /// The input of a session. `stream` is 0 if none is named.
    fn arrivals(&self, stream: u32) -> Result<Sender<ServerInput>, String> {
        match (self, stream) {
            (Self::Stdio { arrivals, .. }, 0) => Ok(arrivals.clone()),
            (Self::Stdio { .. }, _) => Err(format!("there is no stream {stream}: this server has only stream 0")),
            (Self::Listening(sessions), stream) => {
                let stream = choose(stream, &sessions.numbers(), "no host has connected yet")?;
                sessions.arrivals(stream).ok_or_else(|| "the session has ended".to_owned())
            }
        }
    }

    /// The stream numbers of its sessions.
    fn streams(&self) -> Vec<u32> {
        match self {
            Self::Stdio { .. } => vec![0],
            Self::Listening(sessions) => sessions.numbers(),
        }
    }

    /// Makes every session send these messages.
    fn order_all(&self, fired: &[Fired]) {
        let streams = self.streams();
        let fired: Vec<Fired> = fired.iter().map(|fired| shared(fired, streams.len())).collect();
        for stream in streams {
            let _ = self.order(stream, ServerInput::Order(fired.clone()));
        }
    }

    fn order(&self, stream: u32, arrival: ServerInput) -> Result<(), String> {
        self.arrivals(stream)?.send(arrival).map_err(|_| "the server has ended".to_owned())
    }
}

impl Session for Serving {
    fn put(&self, toward: Direction, stream: u32, message: &[u8], _: Instant) -> Result<InjectionProgress, String> {
        if toward == Direction::ClientToServer {
            return Err("this session is a server itself; messages can be sent only to its client".to_owned());
        }
        self.order(stream, ServerInput::Injected(message.to_vec())).map(|()| InjectionProgress::Queued)
    }

    fn fire(&self, stream: u32, fired: Value, received: FireReportCallback) -> Result<(), String> {
        let fired: Fired = serde_json::from_value(fired).map_err(|error| format!("invalid message: {error}"))?;
        fired.check().map_err(|fault| format!("invalid message: {fault}"))?;
        let received = move |report: &Report, last| received(serde_json::to_value(report).unwrap_or_default(), last);
        self.order(stream, ServerInput::Fire(fired, Box::new(received)))
    }

    fn details(&self) -> Map<String, Value> {
        let report = match self {
            Self::Stdio { client, .. } => client.get().map(|client| ("client".to_owned(), client.clone().into())),
            Self::Listening(sessions) => Some(("streams".to_owned(), sessions.numbers().into())),
        };
        report.into_iter().collect()
    }
}

/// What a server does in addition to serving its host.
#[derive(Default)]
pub(super) struct ServeExtras {
    /// What it sends when the process receives SIGUSR1.
    pub on_signal: Vec<Fired>,
    /// What it watches.
    pub watch: Option<PreparedWatchers>,
    /// The allowed handlers of subscriptions.
    pub handlers: Option<Allowed>,
    /// The recorder of its sessions.
    pub recorder: Option<SharedRecorder>,
    /// Its local inputs.
    pub local: Local,
}

/// What was started in addition to a server. Watching ends when this is dropped.
struct Begun {
    _watch: Option<Watchers>,
    local: LocalServer,
}

impl ServeExtras {
    /// What does I/O for the engines. Also adds to the configuration what there is to watch and to run.
    fn helpers(&self, config: &mut Config) -> Helpers {
        let attendant = self.watch.as_ref().map(PreparedWatchers::attendant);
        config.outside = attendant.as_ref().map(|attendant| attendant.outside()).unwrap_or_default();
        if let Some(allowed) = &self.handlers {
            config.outside.handler_policy = allowed.handler_policy.clone();
        }
        Helpers { attendant, jobs: self.handlers.as_ref().map(|allowed| Arc::clone(&allowed.jobs)) }
    }

    /// Starts all of it.
    fn start(self, serving: &Serving) -> Result<Begun, CommandError> {
        fire_on_signal(self.on_signal, serving.clone()).map_err(failed)?;
        let local = self.local.start(serving)?;
        let watch = self.watch.map(|watch| begin_watching(watch, serving)).transpose()?;
        Ok(Begun { _watch: watch, local })
    }
}

fn begin_watching(watch: PreparedWatchers, serving: &Serving) -> Result<Watchers, CommandError> {
    let serving = serving.clone();
    let report = Arc::new(move |fired: Vec<Fired>| serving.order_all(&fired));
    watch.start(report, Arc::new(note)).map_err(|error| {
        CommandError::new(ErrorKind::Internal, format!("cannot watch: {error}"))
            .hint("there may be too many folders to watch; choose a smaller one with --watch")
    })
}

/// What does I/O for the engines.
#[derive(Clone)]
struct Helpers {
    attendant: Option<Arc<IoRunner>>,
    jobs: Option<Arc<HandlerRunner>>,
}

impl Helpers {
    /// Starts an I/O request of a session. The result is sent back to its engine.
    fn send_out(&self, stream: u32, io_request: IoRequest, back: Sender<ServerInput>) {
        let complete_io = move |ticket, completed| drop(back.send(ServerInput::IoDone(ticket, completed)));
        match (io_request, &self.jobs, &self.attendant) {
            (IoRequest { task: Task::Proposal(job), ticket }, Some(jobs), _) => {
                jobs.attend((stream, ticket), job, move |outcome| {
                    complete_io(ticket, serde_json::to_value(outcome).ok())
                });
            }
            (IoRequest { task: Task::Recall, .. }, Some(jobs), _) => jobs.recall(stream),
            (io_request, _, Some(attendant)) => attendant.attend(io_request, complete_io),
            _ => {}
        }
    }

    /// What a host should know as soon as it is ready.
    fn standing(&self, report: &Report) -> Option<ServerInput> {
        let known = self.attendant.as_ref().filter(|_| matches!(report, Report::Ready))?.standing();
        (!known.is_empty()).then_some(ServerInput::Order(known))
    }
}

/// Passes reports on to the user.
struct ReportWriter<'a, F> {
    /// The file of --report, and what is a secret in it.
    file: Option<(File, Shared)>,
    is_verbose: bool,
    observer: &'a mut F,
}

impl<'a, F: FnMut(&Report) -> Reaction> ReportWriter<'a, F> {
    fn new(common: &ServeCommon, context: &Context, observer: &'a mut F) -> Result<Self, CommandError> {
        let file = match &common.report {
            Some(path) => {
                let file = File::create(path).map_err(|error| CommandError::writing(path, &error))?;
                Some((file, Shared::new(&common.redact, false)?))
            }
            None => None,
        };
        Ok(Self { file, is_verbose: context.verbose > 0, observer })
    }

    fn take(&mut self, report: &Report) -> Reaction {
        let line = text::json(&serde_json::to_value(report).unwrap_or(Value::Null));
        if let Some((file, shared)) = &mut self.file {
            let _ = writeln!(file, "{}", shared.text(line.clone()));
        }
        let reaction = (self.observer)(report);
        if reaction.is_reported() || self.is_verbose {
            let _ = writeln!(io::stderr(), "{line}");
        }
        reaction
    }
}

impl<F> Drop for ReportWriter<'_, F> {
    /// The server has ended: the report is complete.
    fn drop(&mut self) {
        self.file.iter().for_each(|(_, shared)| shared.print());
    }
}

/// Runs a server until the host closes its input; with --listen, until the user or a reaction ends it. `name` is the
/// name of its live session. `observer` receives every report.
///
/// # Errors
///
/// The server cannot be started, or fails.
pub(super) fn run_server(
    name: &str,
    config: Config,
    besides: ServeExtras,
    common: &ServeCommon,
    context: &Context,
    mut observer: impl FnMut(&Report) -> Reaction,
) -> Result<(), CommandError> {
    let reports = ReportWriter::new(common, context, &mut observer)?;
    match &common.listening.listen {
        Some(listen) => run_listening(name, config, besides, (common, listen), context, reports),
        None => run_stdio(name, config, besides, (common.limits, context), reports),
    }
}

fn failed(error: io::Error) -> CommandError {
    CommandError::new(ErrorKind::Internal, format!("cannot serve: {error}"))
}

/// Opens the control socket, which exists as long as the session.
fn open_socket(
    name: &str,
    (transport, listen): (&'static str, Option<String>),
    serving: Serving,
    (answers, recorder): (&Arc<Answers>, Option<&SharedRecorder>),
) -> Option<BoundSocket> {
    let server = format!("mcpreel {name}");
    let about = live::About {
        name: name.to_owned(),
        role: "serve",
        server,
        transport,
        listen,
        recording: recorder.map(SharedRecorder::status),
    };
    live::open(about, Arc::new(serving), answers, note)
}

fn run_stdio(
    name: &str,
    mut config: Config,
    besides: ServeExtras,
    (limits, context): (Limits, &Context),
    mut reports: ReportWriter<'_, impl FnMut(&Report) -> Reaction>,
) -> Result<(), CommandError> {
    if io::stdin().is_terminal() {
        context.printer.note("this is an MCP server, to be started by a host: it reads messages from stdin");
    }
    let (sender, arrivals) = channel();
    let (answers, client) = (Arc::new(Answers::default()), Arc::new(OnceLock::new()));
    let helpers = besides.helpers(&mut config);
    let recorder = besides.recorder.clone();
    let serving = Serving::Stdio { arrivals: sender.clone(), client: Arc::clone(&client) };
    let _bound = open_socket(name, ("stdio", None), serving.clone(), (&answers, recorder.as_ref()));
    let begun = besides.start(&serving)?;
    read_messages(io::stdin(), limits.max_message, "the host", ServerInput::of_host(sender.clone())).map_err(failed)?;
    startup_error::begin();
    let receive = |report: &Report| {
        recorder.iter().for_each(|recorder| recorder.report(0, report));
        if let Some(known) = helpers.standing(report) {
            let _ = sender.send(known);
        }
        if let Report::Connected { client: name, .. } = report {
            let _ = client.set(name.clone());
        }
        begun.local.receive(report);
        reports.take(report);
    };
    let filter = |message: Vec<u8>| {
        recorder
            .iter()
            .for_each(|recorder| recorder.traffic(0, SessionTraffic::Message(Direction::ClientToServer, &message)));
        answers.keep(0, Direction::ClientToServer, message)
    };
    let send_out = |io_request| helpers.send_out(0, io_request, sender.clone());
    recorder.iter().for_each(|recorder| recorder.traffic(0, SessionTraffic::Opened));
    let out = shared_recorder::Copied { out: io::stdout().lock(), recorder: recorder.clone() };
    let served = serve(Server::new(config), &arrivals, out, receive, filter, send_out);
    recorder.iter().for_each(|recorder| recorder.traffic(0, SessionTraffic::Closed("the host")));
    recorder.iter().for_each(|recorder| recorder.finish(note));
    match served {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            Err(CommandError::new(ErrorKind::Peer, error.to_string()))
        }
        other => other.map_err(failed),
    }
}

fn run_listening(
    name: &str,
    mut config: Config,
    besides: ServeExtras,
    (common, listen): (&ServeCommon, &str),
    context: &Context,
    mut reports: ReportWriter<'_, impl FnMut(&Report) -> Reaction>,
) -> Result<(), CommandError> {
    let answers = Arc::new(Answers::default());
    let (receives, mut received) = mpsc::unbounded_channel();
    let sifting = Arc::clone(&answers);
    let helpers = besides.helpers(&mut config);
    let (attends, recorder) = (helpers.clone(), besides.recorder.clone());
    let (hearing, seeing) = (recorder.clone(), recorder.clone());
    let sessions = Arc::new(Sessions::new(SessionHandlers {
        // Each session generates ids of its own.
        make: Box::new(move |stream| {
            Server::new(Config { seed: config.seed ^ u64::from(stream) << 32, ..config.clone() })
        }),
        receive: Arc::new(move |stream, report: &Report| {
            hearing.iter().for_each(|recorder| recorder.report(stream, report));
            let _ = receives.send((stream, report.clone()));
        }),
        filter: Arc::new(move |stream, message| sifting.keep(stream, Direction::ClientToServer, message)),
        perform: Arc::new(move |stream, io_request, back| attends.send_out(stream, io_request, back)),
        observe: Arc::new(move |stream, passing| seeing.iter().for_each(|recorder| recorder.traffic(stream, passing))),
    }));
    let served = runtime::block_on_to_the_end(async {
        let listening = listening::bind(listen, note).await?;
        let serving = Serving::Listening(Arc::clone(&sessions));
        let way_in = (listening.transport(), Some(listening.door("/mcp")));
        let _bound = open_socket(name, way_in, serving.clone(), (&answers, recorder.as_ref()));
        let begun = besides.start(&serving)?;
        let options = &common.listening;
        let gateway =
            Gateway::new(Arc::clone(&sessions) as Arc<dyn Backend>, options.access(), options.limit(common.limits));
        let _ready = options.ready(&listening.door("/mcp"), listening.transport())?;
        context.printer.note(&format!("listening on {}; press Ctrl-C to stop", listening.url("/mcp")));
        let accepting = Arc::clone(&gateway).serve(listening.listener);
        listening::until_ended(async {
            tokio::select! {
                () = accepting => {}
                () = async {
                    while let Some((stream, report)) = received.recv().await {
                        if let Some(known) = helpers.standing(&report) {
                            let _ = serving.order(stream, known);
                        }
                        begun.local.receive(&report);
                        if reports.take(&report).ends() {
                            return;
                        }
                    }
                } => {}
            }
        })
        .await?;
        gateway.finish().await;
        Ok(())
    });
    recorder.iter().for_each(|recorder| recorder.finish(note));
    served
}

fn fire_on_signal(fired: Vec<Fired>, serving: Serving) -> io::Result<()> {
    if fired.is_empty() {
        return Ok(());
    }
    let mut signals = signal_hook::iterator::Signals::new([signal_hook::consts::SIGUSR1])?;
    threads::start("signals", move || {
        for _ in signals.forever() {
            serving.order_all(&fired);
        }
    })?;
    Ok(())
}
