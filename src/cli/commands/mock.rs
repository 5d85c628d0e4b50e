//! `mock`: serves a recording in place of its server. `serve --reel` does the same.

mod library;
mod upstream;

use crate::cli::comparing;
use crate::cli::listening::ListenOptions;
use crate::cli::printer::note;
use crate::cli::redaction::RedactOptions;
use crate::cli::secret_warning::Shared;
use crate::cli::target::{Limits, Target};
use crate::cli::{Context, Outcome};
use crate::error::{CommandError, ErrorKind};
use crate::files::output;
use crate::process::threads;
use crate::record::startup_error;
use crate::render::text::json;
use crate::replay::Substitutions;
use crate::replay::mock::{Fault, Library, Matching, MockSession, Report, Settings};
use crate::runtime;
use crate::runtime::mock::{Forward, MockInput, MockSessions, Observed, serve};
use crate::runtime::sessions::{SessionTraffic, TrafficObserver};
use crate::runtime::shared_recorder::SharedRecorder;
use crate::transport::Incoming;
use crate::transport::listen::gateway::{Backend, Gateway};
use crate::transport::local::stdio::read_messages;
use crate::wire::Direction;
use crate::wire::text::counted;
use clap::{Args, ValueEnum};
use std::io::{self, BufWriter, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use upstream::Upstream;

/// Serve a recording in place of the server that it was recorded from.
///
/// A host starts it like a server, or connects to it with --listen. mcpreel answers each request with what the recorded
/// server answered to the same request, and sends the server's own messages at the same moments. It never answers a
/// request with the answer to another one, unless --match allows it. At the end, a report on stderr lists the requests
/// that were not recorded, and the recorded ones that were never asked for.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel mock session.reel
  mcpreel mock session.reel --match normalised --reuse
  mcpreel mock session.reel --stream 1
  mcpreel mock session.reel --map /home/me/project=/builds/project
  mcpreel mock session.reel --strict --report report.json --redact
  mcpreel mock session.reel --listen 0 --ready-file ready.json
  mcpreel mock session.reel --fault 'tools/call: delay 2s 10%' --seed 7
  mcpreel mock session.reel --on-miss record -- npx -y some-mcp-server
  mcpreel call tools/list -- mcpreel mock session.reel

Exit codes: 0 the client or the user ended it; 1 with --strict, a request without a recorded answer, a recorded request that was never asked for, or a message of the server that was never sent; 3 the recording cannot be read.")]
pub(crate) struct MockArgs {
    /// The recordings: reels, or JSON lines (several are served together).
    #[arg(required = true, value_name = "REEL")]
    reels: Vec<PathBuf>,
    #[command(flatten)]
    options: MockOptions,
    /// Ignore the value at this JSON Pointer, relative to the message, when requests are compared. Only in some requests:
    /// tools/call:echo=/params/arguments/now (repeatable).
    #[arg(long, value_name = "[METHOD[:NAME]=]POINTER", value_parser = comparing::pointer)]
    ignore: Vec<String>,
    /// Write the report to this file as one JSON object, instead of to stderr as text.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    #[command(flatten)]
    redact: RedactOptions,
    /// Make the faults depend on this number: the same number and input give the same faults.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
    /// What to do about a request without a recorded answer: error, forward (ask the server given as TARGET), or record
    /// (the same, and append the exchange to the recording).
    #[arg(long, value_enum, default_value_t = OnMiss::Error)]
    on_miss: OnMiss,
    #[command(flatten)]
    listening: ListenOptions,
    #[command(flatten)]
    target: Target,
}

/// How to serve a recording.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Recordings")]
pub(super) struct MockOptions {
    /// When a request repeats a recorded one: exact (method and params are equal), normalised (times, ids, random tokens,
    /// ports, temporary paths and the working folder may differ), method (method and tool, or resource, are equal), or sequence (it comes at
    /// the same position).
    #[arg(long = "match", value_enum, value_name = "MODE", default_value_t = MatchArg::Exact)]
    matching: MatchArg,
    /// Serve only this session of a reel with several (repeatable).
    #[arg(long = "stream", value_name = "NUMBER")]
    streams: Vec<u32>,
    /// Replace a text, such as the path of a folder, in everything that was recorded: in the requests that clients must
    /// repeat, and in the answers (repeatable).
    #[arg(long = "map", value_name = "OLD=NEW", value_parser = super::replay::mapping)]
    maps: Vec<(String, String)>,
    /// Repeat the last answer to a request that comes more often than recorded.
    #[arg(long)]
    reuse: bool,
    /// Exit with 1 if a request had no recorded answer, a recorded request was never asked for, or a message of the server
    /// was never sent.
    #[arg(long)]
    strict: bool,
    /// When to answer: fast, recorded (with the recorded latencies), or a factor such as 2x (twice as fast).
    #[arg(long, value_name = "PACE", default_value = "fast", value_parser = super::replay::pace)]
    pace: super::replay::Pace,
    /// Break answers on purpose: 'METHOD: ACTION [PERCENT%]' (repeatable). Actions: delay TIME, drop, duplicate,
    /// reorder, error [CODE], truncate, malformed, disconnect.
    #[arg(long = "fault", value_name = "FAULT")]
    faults: Vec<Fault>,
}

/// When a request repeats a recorded one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum MatchArg {
    /// Method and params are equal, apart from _meta.
    #[default]
    Exact,
    /// Times, ids, random tokens, ports, temporary paths and the working folder may differ.
    Normalised,
    /// Method and tool, resource or prompt are equal.
    Method,
    /// It comes at the same position.
    Sequence,
}

/// What to do about a request without a recorded answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OnMiss {
    /// Answer with an error that says what is missing.
    Error,
    /// Ask the server given as TARGET.
    Forward,
    /// Ask the server given as TARGET, and append the exchange to the recording.
    Record,
}

impl MockOptions {
    /// Refuses these options for a server that serves no recording.
    ///
    /// # Errors
    ///
    /// One of them is given.
    pub(super) fn check_absent(&self) -> Result<(), CommandError> {
        let given = [
            ("--match", self.matching != MatchArg::Exact),
            ("--stream", !self.streams.is_empty()),
            ("--map", !self.maps.is_empty()),
            ("--reuse", self.reuse),
            ("--strict", self.strict),
            ("--pace", self.pace != super::replay::Pace::default()),
            ("--fault", !self.faults.is_empty()),
        ];
        match given.into_iter().find(|(_, is_given)| *is_given) {
            None => Ok(()),
            Some((option, _)) => {
                Err(CommandError::usage(format!("{option} applies only to recordings")).hint("name one with --reel"))
            }
        }
    }

    fn substitutions(&self) -> Substitutions {
        let mut substitutions = Substitutions::default();
        self.maps.iter().for_each(|(old, new)| substitutions.add(old, new));
        substitutions
    }

    fn matching(&self) -> Matching {
        match self.matching {
            MatchArg::Exact => Matching::Exact,
            MatchArg::Normalised => Matching::Normalised,
            MatchArg::Method => Matching::Method,
            MatchArg::Sequence => Matching::Sequence,
        }
    }

    fn settings(&self, seed: u64, forwards: bool) -> Settings {
        let folder = std::env::current_dir().ok().and_then(|folder| folder.into_os_string().into_string().ok());
        let (speed, faults) = (self.pace.0, self.faults.clone());
        Settings { reuse: self.reuse, speed, faults, seed, forwards, session: 0, folder }
    }
}

/// A mock that is about to run.
pub(super) struct Mock<'a> {
    /// The recordings.
    pub reels: &'a [PathBuf],
    /// How to serve them.
    pub options: &'a MockOptions,
    /// The places that do not count when requests are compared.
    pub ignore: &'a [String],
    /// Where the report goes, if not to stderr.
    pub report: Option<&'a Path>,
    /// Whether the report is redacted.
    pub redact: &'a RedactOptions,
    /// What chance depends on.
    pub seed: u64,
    /// Where to listen.
    pub listening: &'a ListenOptions,
    /// The limits on what clients send.
    pub limits: Limits,
    /// The recorder of its sessions.
    pub recorder: Option<SharedRecorder>,
}

pub(super) fn run(args: &MockArgs, context: &Context) -> Result<Outcome, CommandError> {
    let limits = args.target.limits;
    let (options, seed) = (&args.options, args.seed);
    let mock = Mock {
        reels: &args.reels,
        options,
        ignore: &args.ignore,
        report: args.report.as_deref(),
        redact: &args.redact,
        seed,
        listening: &args.listening,
        limits,
        recorder: None,
    };
    let upstream = match args.on_miss {
        OnMiss::Error => None,
        OnMiss::Forward | OnMiss::Record => Some(Upstream::start(&args.target, context)?),
    };
    let recording = match (&args.reels[..], args.on_miss) {
        ([reel], OnMiss::Record) => Some(reel),
        (_, OnMiss::Record) => {
            return Err(CommandError::usage("--on-miss record needs exactly one reel, to which it appends"));
        }
        _ => None,
    };
    if let Some(reel) = recording {
        library::check_is_reel(reel)?;
    }
    let outcome = mock.run(upstream.as_ref().map(Upstream::forward), context)?;
    if let (Some(reel), Some(upstream)) = (recording, upstream) {
        let asked = upstream.finish();
        if !asked.is_empty() {
            library::append(reel, &asked)?;
            note(&format!("{} appended to {}", counted(asked.len() as u64, "exchange"), reel.display()));
        }
    }
    Ok(outcome)
}

impl Mock<'_> {
    /// Serves until the client closes its side, or until the user ends the mock.
    ///
    /// # Errors
    ///
    /// The recordings cannot be read, or the address or the report cannot be written.
    pub(super) fn run(&self, forward: Option<Forward>, context: &Context) -> Result<Outcome, CommandError> {
        let library = Arc::new(library::read(self.reels, self.options, self.ignore)?);
        self.warn_about_faults(&library, context);
        let settings = self.options.settings(self.seed, forward.is_some());
        let recorder = self.recorder.clone();
        let observe: TrafficObserver =
            Arc::new(move |stream, passing| recorder.iter().for_each(|recorder| recorder.traffic(stream, passing)));
        let report = match &self.listening.listen {
            None => self.on_stdio(&library, settings, (forward, observe), context)?,
            Some(listen) => self.on(listen, &library, settings, (forward, observe), context)?,
        };
        self.recorder.iter().for_each(|recorder| recorder.finish(note));
        self.write(&report, &library, context)?;
        let is_refused = self.options.strict && report.has_findings(&library);
        Ok(if is_refused { Outcome::Findings } else { Outcome::Clean })
    }

    /// Writes the report, to which clients and recordings contributed.
    fn write(&self, report: &Report, library: &Library, context: &Context) -> Result<(), CommandError> {
        let mut shared = Shared::new(self.redact, self.report.is_none() && io::stderr().is_terminal())?;
        self.reels.iter().try_for_each(|reel| shared.learn(reel))?;
        match self.report {
            Some(path) => {
                output::write_whole(path, format!("{}\n", json(&shared.json(report.to_json(library)))).as_bytes())?
            }
            None => {
                let text = shared.text(report.to_text(library));
                context.printer.report(|_| text);
            }
        }
        shared.print();
        Ok(())
    }

    fn warn_about_faults(&self, library: &Library, context: &Context) {
        let called = library.called();
        for fault in self.options.faults.iter().filter(|fault| !called.iter().any(|method| fault.is_for(method))) {
            context
                .printer
                .note(&format!("the fault {:?} cannot happen: the recording has no such request", fault.text));
        }
    }

    fn on_stdio(
        &self,
        library: &Arc<Library>,
        settings: Settings,
        (forward, observe): (Option<Forward>, TrafficObserver),
        context: &Context,
    ) -> Result<Report, CommandError> {
        if io::stdin().is_terminal() {
            context.printer.note("this is an MCP server, to be started by a host: it reads messages from stdin");
        }
        let failed = |error| CommandError::new(ErrorKind::Internal, format!("cannot serve: {error}"));
        let (sender, arrivals) = channel();
        stop_on_signal(sender.clone()).map_err(failed)?;
        let (mut input, seen) = (MockInput::of_client(sender.clone()), Arc::clone(&observe));
        let input = move |incoming| {
            if let Incoming::Message(message) = &incoming {
                seen(0, SessionTraffic::Message(Direction::ClientToServer, message));
            }
            input(incoming);
        };
        observe(0, SessionTraffic::Opened);
        read_messages(io::stdin(), self.limits.max_message, "the client", input).map_err(failed)?;
        startup_error::begin();
        let session = MockSession::new(Arc::clone(library), settings);
        let out = BufWriter::with_capacity(64 << 10, io::stdout().lock());
        let out = Observed { sink: out, observe: Arc::clone(&observe) };
        let (report, served) = serve(session, (&arrivals, &sender), out, forward.as_ref());
        observe(0, SessionTraffic::Closed("the client"));
        match served {
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                Err(CommandError::new(ErrorKind::Peer, error.to_string()))
            }
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(CommandError::output(error)),
            // A client that does not read the last answers has what it wants.
            _ => Ok(report),
        }
    }

    fn on(
        &self,
        listen: &str,
        library: &Arc<Library>,
        settings: Settings,
        (forward, observe): (Option<Forward>, TrafficObserver),
        context: &Context,
    ) -> Result<Report, CommandError> {
        let sessions = Arc::new(MockSessions::new(Arc::clone(library), settings, forward, observe));
        runtime::block_on_to_the_end(async {
            let listening = runtime::listening::bind(listen, note).await?;
            let limit = self.listening.limit(self.limits);
            let gateway = Gateway::new(Arc::clone(&sessions) as Arc<dyn Backend>, self.listening.access(), limit);
            let url = listening.door("/mcp");
            let ready = self.listening.ready(&url, listening.transport())?;
            context.printer.line(ready.line())?;
            context.printer.flush().map_err(CommandError::output)?;
            context.printer.note(&format!("listening on {}; press Ctrl-C to stop", listening.url("/mcp")));
            let accepting = Arc::clone(&gateway).serve(listening.listener);
            runtime::listening::until_ended(accepting).await?;
            gateway.finish().await;
            Ok(())
        })?;
        Ok(sessions.take_report())
    }
}

/// Ends a mock on stdio when the process receives SIGINT or SIGTERM.
fn stop_on_signal(arrivals: Sender<MockInput>) -> io::Result<()> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM])?;
    threads::start("signals", move || {
        for _ in signals.forever() {
            let _ = arrivals.send(MockInput::Stop);
        }
    })?;
    Ok(())
}
