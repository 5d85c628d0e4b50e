//! `replay`: sends the client side of a recorded session to a server, and compares the answers.

mod compare;
mod suite;

use crate::cli::client_session::{self, ClientOptions};
use crate::cli::comparing::NormaliseArgs;
use crate::cli::printer::Format;
use crate::cli::target::Target;
use crate::cli::{Context, Outcome, recordings};
use crate::diff::Report;
use crate::error::{CommandError, ErrorKind};
use crate::files::output::{PRIVATE, Replacement};
use crate::files::reels;
use crate::render::diff::{DiffStyle, Shown, View, text};
use crate::replay::{Answers, Conversation, End, Output, Plan, ReplayEngine, Selection, Settings, Substitutions};
use crate::runtime;
use crate::runtime::client::Runner;
use crate::session::filter::Filter;
use crate::wire::text::counted;
use crate::wire::units::{millis, parse_time};
use clap::Args;
use compare::Comparison;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Send the client side of a recorded session to a server, and compare the answers.
///
/// mcpreel sends the recorded messages in their order. Each waits until everything that preceded it in the recording
/// has come. Values that the server generated, such as cursors and ids of tasks, are replaced by the live server's.
/// The server's own requests are answered as in the recording. The new session is recorded, too, and compared with the
/// recording as `mcpreel diff` does.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel replay session.reel -- npx -y some-mcp-server
  mcpreel replay session.reel --dry-run
  mcpreel replay session.reel 'method:tools/list or tool:echo' -- my-server
  mcpreel replay session.reel --url http://localhost:8080/mcp --format json
  mcpreel replay session.reel --map /home/me/project=/tmp/copy -- my-server
  mcpreel replay session.reel --update -- my-server    # accept the answers
  mcpreel replay recordings/ -j 4 --shard 1/2 -- my-server

Exit codes: 0 no difference; 1 differences; 2 usage, or a tool that may destroy data; 3 the recording cannot be read or has no messages of a client; 4 the server or the connection failed; 5 a request was not answered in time.")]
pub(crate) struct ReplayArgs {
    /// The recording: a reel, or JSON lines; or several: a folder, or a suite file in YAML.
    reel: PathBuf,
    /// Send only what this filter selects, and the handshake (see `mcpreel show --help`).
    filter: Vec<String>,
    /// Print what would be sent, and send nothing.
    #[arg(long)]
    dry_run: bool,
    /// Also call tools that the recorded server annotated with `destructiveHint`.
    #[arg(long)]
    allow_destructive: bool,
    /// Send only what reads: listings, reads, and calls of tools that are annotated with `readOnlyHint`.
    #[arg(long)]
    read_only: bool,
    /// When to send: fast (as soon as everything before has come), recorded (with the recorded pauses), or a factor
    /// such as 2x (with pauses half as long).
    #[arg(long, value_name = "PACE", default_value = "fast", value_parser = pace)]
    pace: Pace,
    /// How long to wait for each answer (default: 30s).
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    timeout: Option<Duration>,
    /// Stop at the first answer that differs.
    #[arg(long)]
    fail_fast: bool,
    /// Send at most this many requests at the same time.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    concurrency: Option<u32>,
    /// Send nothing before this event, except for the handshake.
    #[arg(long, value_name = "SEQ")]
    from: Option<u64>,
    /// Send nothing after this event.
    #[arg(long, value_name = "SEQ")]
    to: Option<u64>,
    /// Replay this session of a reel with several.
    #[arg(long, value_name = "NUMBER")]
    stream: Option<u32>,
    /// Replay this many times, each on a new connection.
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Answer requests of the server from this file: a JSON object with a result for each method, or a list of results.
    #[arg(long, value_name = "FILE")]
    answer: Option<PathBuf>,
    /// Replace a path or another text in all recorded messages, such as a folder by a fresh one (repeatable).
    #[arg(long = "map", value_name = "OLD=NEW", value_parser = mapping)]
    maps: Vec<(String, String)>,
    /// Replace the recording by the new session, after the differences were printed.
    #[arg(long, conflicts_with_all = ["dry_run", "repeat"])]
    update: bool,
    /// Record the new session to this reel (default: a new reel in the folder of reels).
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Replay this many recordings of a folder or suite at the same time.
    #[arg(short, long, value_name = "NUMBER", default_value_t = 1)]
    jobs: u32,
    /// Replay only this part of a folder or suite, such as 1/4.
    #[arg(long, value_name = "N/COUNT")]
    shard: Option<suite::Shard>,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Format::Human)]
    format: Format,
    #[command(flatten)]
    normalise: NormaliseArgs,
    /// Also compare the order of requests and notifications, whether a notification came before or after the result of
    /// its request, and the order of lists such as tools.
    #[arg(long)]
    order: bool,
    /// Also compare what the servers wrote to stderr.
    #[arg(long)]
    stderr: bool,
    #[command(flatten)]
    target: Target,
}

/// How many times faster than recorded to send; `None` is as fast as possible.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Pace(pub(super) Option<f64>);

pub(super) fn pace(text: &str) -> Result<Pace, String> {
    let wrong = || format!("invalid pace {text:?}: use fast, recorded, or a factor such as 2x");
    match text {
        "fast" => Ok(Pace(None)),
        "recorded" => Ok(Pace(Some(1.0))),
        _ => {
            let factor = text.strip_suffix('x').and_then(|number| number.parse::<f64>().ok());
            factor
                .filter(|factor| *factor > 0.0 && factor.is_finite())
                .map(|factor| Pace(Some(factor)))
                .ok_or_else(wrong)
        }
    }
}

fn mapping(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').filter(|(old, _)| !old.is_empty());
    pair.map(|(old, new)| (old.to_owned(), new.to_owned())).ok_or_else(|| "expected OLD=NEW".to_owned())
}

pub(super) fn run(args: &ReplayArgs, context: &Context) -> Result<Outcome, CommandError> {
    if suite::is_suite(&args.reel) {
        return suite::run(args, context);
    }
    let sessions = recordings::conversations(&args.reel)?;
    let count = sessions.len();
    let plan = Plan::new(args.mapped(args.choose(sessions)?), &args.selection()?);
    if args.dry_run {
        return dry_run(&plan, args, context);
    }
    args.check(&plan, count)?;
    let mut outcome = Outcome::Clean;
    for run in 1..=args.repeat {
        if let Outcome::Findings = once(&plan, run, args, context)? {
            outcome = Outcome::Findings;
            if args.fail_fast {
                break;
            }
        }
    }
    Ok(outcome)
}

impl ReplayArgs {
    /// The session to replay.
    fn choose(&self, sessions: Vec<Conversation>) -> Result<Conversation, CommandError> {
        let numbers: Vec<u32> = sessions.iter().map(Conversation::stream).collect();
        let wanted = match (self.stream, &numbers[..]) {
            (Some(wanted), _) => wanted,
            (None, [only]) => *only,
            (None, all) => {
                let list: Vec<String> = all.iter().map(u32::to_string).collect();
                let error = CommandError::usage(format!("{} contains {} sessions", self.reel.display(), all.len()));
                return Err(error.hint(format!("choose one with --stream: {}", list.join(", "))));
            }
        };
        let unknown = || {
            CommandError::usage(format!("{} has no session {wanted}", self.reel.display()))
                .hint("`mcpreel stats` shows the sessions of a reel")
        };
        sessions.into_iter().find(|session| session.stream() == wanted).ok_or_else(unknown)
    }

    fn mapped(&self, mut conversation: Conversation) -> Conversation {
        let mut substitutions = Substitutions::default();
        self.maps.iter().for_each(|(old, new)| substitutions.add(old, new));
        conversation.substitute(&substitutions);
        conversation
    }

    fn selection(&self) -> Result<Selection, CommandError> {
        let filter = match &self.filter[..] {
            [] => None,
            words => Some(Filter::parse(&words.join(" ")).map_err(|error| {
                CommandError::usage(format!("invalid filter: {error}")).hint("`mcpreel show --help` lists the terms")
            })?),
        };
        Ok(Selection { filter, from: self.from, to: self.to, read_only: self.read_only })
    }

    /// Refuses a replay that would do what the user may not want.
    fn check(&self, plan: &Plan, sessions: usize) -> Result<(), CommandError> {
        self.target.refuse_session("a replay begins a session of its own")?;
        if plan.len() == 0 {
            return Err(CommandError::usage("nothing to send: everything was left out")
                .hint("--dry-run lists what is left out, and why"));
        }
        let is_chosen = self.allow_destructive || !self.filter.is_empty();
        if let Some(first) = plan.destructive().first().filter(|_| !is_chosen) {
            let calls = counted(plan.destructive().len(), "call");
            return Err(CommandError::usage(format!("the recording contains {calls} of tools that may destroy data"))
                .hint(format!("the first is {} (seq {}); --dry-run lists all", first.tool, first.seq))
                .hint("send them with --allow-destructive, or choose what to send with a filter or --read-only"));
        }
        if self.update && (sessions > 1 || !plan.omissions().is_empty() || !self.maps.is_empty()) {
            return Err(CommandError::usage("--update needs the whole recording, with one session and without --map")
                .hint("record the parts anew with --record"));
        }
        Ok(())
    }

    fn settings(&self) -> Result<Settings, CommandError> {
        let answers = match &self.answer {
            None => Answers::default(),
            Some(path) => {
                let text = std::fs::read(path).map_err(|error| CommandError::reading(path, &error))?;
                let wrong = |why| CommandError::new(ErrorKind::Input, format!("{}: {why}", path.display()));
                Answers::parse(&text).map_err(wrong)?
            }
        };
        let default = Settings::default();
        let max_in_flight = self.concurrency.map_or(usize::MAX, |limit| limit as usize);
        Ok(Settings { speed: self.pace.0, timeout: self.timeout.unwrap_or(default.timeout), max_in_flight, answers })
    }

    /// The reel of one run.
    fn reel_of(&self, run: u32) -> Result<PathBuf, CommandError> {
        match &self.record {
            Some(path) if run > 1 => {
                let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                Ok(path.with_file_name(format!("{stem}-{run}.reel")))
            }
            Some(path) => Ok(path.clone()),
            None => {
                let name = if run > 1 { format!("replay-{run}") } else { "replay".to_owned() };
                reels::new_path(&name)
            }
        }
    }
}

/// Prints what would be sent.
fn dry_run(plan: &Plan, args: &ReplayArgs, context: &Context) -> Result<Outcome, CommandError> {
    let destructive = |seq| plan.destructive().iter().any(|call| call.seq == seq);
    if args.format == Format::Json {
        let bound = |(place, seq, pointer): &(&str, u64, &str)| json!({"place": place, "seq": seq, "from": pointer});
        let steps = plan.outline().map(|step| {
            json!({"seq": step.seq, "message": step.label, "destructive": destructive(step.seq),
                "bound": step.bound.iter().map(bound).collect::<Vec<Value>>()})
        });
        let omitted =
            plan.omissions().iter().map(|one| json!({"seq": one.seq, "message": one.label, "reason": one.why}));
        let (sent, omitted): (Vec<Value>, Vec<Value>) = (steps.collect(), omitted.collect());
        context.printer.json(&json!({"sent": sent, "omitted": omitted}))?;
        return Ok(Outcome::Clean);
    }
    for step in plan.outline() {
        let mark = if destructive(step.seq) { "  may destroy data" } else { "" };
        context.printer.line(&format!("{:>5}  {}{mark}", step.seq, step.label))?;
        for (place, seq, pointer) in &step.bound {
            context.printer.line(&format!("       {place} as the live server returns it: {pointer} of seq {seq}"))?;
        }
    }
    for omission in plan.omissions() {
        context.printer.line(&format!("{:>5}  {} is left out: {}", omission.seq, omission.label, omission.why))?;
    }
    Ok(Outcome::Clean)
}

/// Replays once, and prints the comparison.
fn once(plan: &Plan, run: u32, args: &ReplayArgs, context: &Context) -> Result<Outcome, CommandError> {
    let reel = args.reel_of(run)?;
    let client = ClientOptions::replaying(reel.clone(), args.timeout);
    let engine = ReplayEngine::new(plan.clone(), args.settings()?);
    let comparison = Comparison::new(plan, args)?;
    let mut stopped = None;
    let replayed = runtime::block_on(async {
        let (link, peer) = client_session::start(&args.target, &client, context).await?;
        let mut runner = Runner::start(engine, link).await;
        while let Some(output) = runner.next(None).await {
            match output {
                Output::Finished => break,
                Output::Note(note) => context.printer.note(&note.to_string()),
                Output::Answered { seq, method, message, latency } => {
                    if context.verbose > 0 {
                        let latency = millis(latency);
                        context.printer.note(&format!("{method} (seq {seq}) was answered after {latency} ms"));
                    }
                    let report = comparison.answer(seq, &message).filter(|_| args.fail_fast);
                    if let Some(report) = report.filter(|report| !report.is_empty()) {
                        stopped = Some(report);
                        let outputs = runner.engine.stop();
                        runner.take(outputs);
                    }
                }
                Output::Send(_) => {}
            }
        }
        let (outcome, substitutions) = (runner.engine.outcome().clone(), runner.engine.substitutions().clone());
        let stderr = std::mem::take(&mut runner.stderr);
        runner.close().await;
        match failure(&outcome, plan, &reel, &stderr) {
            Some(error) => Err(peer.end_after(error, context.notices()).await),
            None => {
                peer.end(context.notices()).await;
                Ok((outcome, substitutions))
            }
        }
    });
    let (outcome, substitutions) = replayed?;
    let report = match stopped {
        Some(report) => report,
        None => comparison.sessions(&substitutions, &reel)?,
    };
    print(&report, &outcome, (run, &reel), args, context)?;
    if let Some(timed_out) = outcome.timed_out() {
        let error = CommandError::new(ErrorKind::Timeout, timed_out.to_string());
        return Err(error.hint("allow more time with --timeout"));
    }
    if args.update && !report.is_empty() {
        update(&args.reel, &reel)?;
        context.printer.note(&format!("{} now contains the new session", args.reel.display()));
    }
    Ok(if report.is_empty() { Outcome::Clean } else { Outcome::Findings })
}

/// Why a replay could not reach its end.
fn failure(outcome: &crate::replay::Outcome, plan: &Plan, reel: &Path, stderr: &[u8]) -> Option<CommandError> {
    let state = format!("after {} of {}", outcome.answered, counted(plan.expected_answers(), "answer"));
    let message = match outcome.end.as_ref()? {
        End::Stopped => return None,
        End::Closed => format!("the server ended {state}"),
        End::Lost(why) => format!("{why}, {state}"),
    };
    let error = client_session::failed(runtime::Failure::Failed(message.into()), stderr);
    Some(error.hint(format!("what was said is in {}", reel.display())))
}

fn print(
    report: &Report,
    outcome: &crate::replay::Outcome,
    (run, reel): (u32, &Path),
    args: &ReplayArgs,
    context: &Context,
) -> Result<(), CommandError> {
    if args.format == Format::Json {
        let notes: Vec<String> = outcome.notes.iter().map(ToString::to_string).collect();
        return context.printer.json(&json!({
            "recording": args.reel, "session": reel, "run": run, "sent": outcome.sent, "answered": outcome.answered,
            "notes": notes, "diff": report.to_json(),
        }));
    }
    let mut out = String::new();
    let (recording, session) = (args.reel.display().to_string(), reel.display().to_string());
    let shown = Shown {
        names: [&recording, &session],
        report,
        rows: &[],
        renamed: &[],
        latency: None,
        is_only_latency: false,
        is_full: false,
    };
    text(&shown, View::Unified, &DiffStyle::from(&context.printer.palette), context.printer.width, &mut out);
    context.printer.text(&out)?;
    context.printer.flush().map_err(CommandError::output)?;
    let (sent, answers) = (counted(outcome.sent, "message"), counted(outcome.answered, "answer"));
    let stopped = if outcome.end.is_some() { ", stopped at the first difference" } else { "" };
    context.printer.note(&format!("{sent} sent, {answers}{stopped}; A is the recording, B is {}", reel.display()));
    Ok(())
}

/// Replaces a recording by a new session.
fn update(recording: &Path, session: &Path) -> Result<(), CommandError> {
    let failed = |error| CommandError::writing(recording, &error);
    let mut replacement = Replacement::begin(recording, PRIVATE).map_err(failed)?;
    let mut source = std::fs::File::open(session).map_err(|error| CommandError::reading(session, &error))?;
    std::io::copy(&mut source, replacement.file()).map_err(failed)?;
    replacement.commit().map_err(failed)
}
