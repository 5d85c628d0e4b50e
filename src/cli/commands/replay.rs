//! `replay`: sends the client side of a recorded session to a server, and compares the answers.

mod compare;
mod outline;
mod report;
mod session;
mod suite;
mod update;

use crate::cli::comparing::NormaliseArgs;
use crate::cli::packs::PackOptions;
use crate::cli::recordings::twice::TwicePath;
use crate::cli::redaction::RedactOptions;
use crate::cli::secret_warning::SecretWarning;
use crate::cli::target::Target;
use crate::cli::verdict::Junit;
use crate::cli::{Context, Outcome, recordings};
use crate::error::{CommandError, ErrorKind};
use crate::files::output::check_apart;
use crate::files::reels;
use crate::files::text::{LARGE, read_bytes};
use crate::render::replayed::SessionReport;
use crate::replay::{Answers, Conversation, Plan, Selection, Settings, Substitutions};
use crate::session::filter::Filter;
use crate::wire::text::counted;
use crate::wire::units::parse_time;
use clap::{Args, ValueEnum};
use report::{Form, Replayed};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Send the client side of a recorded session to a server, and compare the answers.
///
/// mcpreel sends the recorded messages in their order. Each waits until everything that preceded it in the recording
/// has come. Values that the server generated, such as cursors and ids of tasks, are replaced by the live server's.
/// The server's own requests are answered as in the recording. The new session is recorded, too, and compared with the
/// recording as `mcpreel diff` does. Several sessions in a reel are replayed one after another, each on its own connection.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel replay session.reel -- npx -y some-mcp-server
  mcpreel replay session.reel --dry-run
  mcpreel replay session.reel 'method:tools/list or tool:echo' -- my-server
  mcpreel replay session.reel --url http://localhost:8080/mcp --format json
  mcpreel replay session.reel --map /home/me/project=/tmp/copy -- my-server
  mcpreel replay session.reel --update -- my-server    # accept the answers
  mcpreel replay old.reel --era modern -- my-server    # no `initialize`
  mcpreel replay recordings/ -j 4 --shard 1/2 -- my-server
  mcpreel replay suite.yaml --junit results.xml
  mcpreel replay session.reel --ignore 'tools/call:now=/result' -- my-server

A suite file is a list in YAML. Each entry has a `reel`, relative to the file, and may have options and a server's command:
  - reel: login.reel
    command: [node, server.js]
  - reel: search.reel
    options: [--ignore, /result/structuredContent/took]
    command: [node, server.js, --index, test]

The summary counts messages as `mcpreel diff` does: a request and its answer are one.

Exit codes: 0 no difference; 1 differences; 2 usage, or a tool that may destroy data; 3 the recording cannot be read, is damaged or has no messages of a client; 4 the server or the connection failed; 5 a request was not answered in time.")]
pub(crate) struct ReplayArgs {
    /// The recording: a reel, or JSON lines; or several: a folder, or a suite file in YAML.
    reel: PathBuf,
    /// Send only what this filter selects, and the handshake (see `mcpreel show --help`). More recordings may precede it.
    filter: Vec<String>,
    #[command(flatten)]
    packs: PackOptions,
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
    /// Stop at the first answer that differs or does not come.
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
    /// Replay only this session of a reel with several (repeatable).
    #[arg(long, value_name = "NUMBER")]
    stream: Vec<u32>,
    /// The era of the live server: recorded sends the messages as they are; modern replays a recording with `initialize`
    /// against a server of revision 2026-07-28, and reports what has no equivalent there.
    #[arg(long, value_enum, default_value_t = EraArg::Recorded)]
    era: EraArg,
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
    /// Write the new session to this reel (default: a new reel in the folder of reels). Of several, the others get numbers:
    /// the session of the second recording is in FILE-2.reel, that recording's second session in FILE-2-2.reel.
    #[arg(short, long, visible_alias = "record", value_name = "FILE", conflicts_with = "no_record")]
    output: Option<PathBuf>,
    /// The number of this recording in a suite, from 1.
    #[arg(long, value_name = "NUMBER", hide = true)]
    recording_number: Option<usize>,
    /// Overwrite an existing file.
    #[arg(long, requires = "output")]
    force: bool,
    /// Keep no reel of the new session.
    #[arg(long)]
    no_record: bool,
    /// Replay this many recordings of a folder or suite at the same time.
    #[arg(short, long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    jobs: u32,
    /// Replay only this part of a folder or suite, such as 1/4.
    #[arg(long, value_name = "N/COUNT")]
    shard: Option<suite::Shard>,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Form::Human)]
    format: Form,
    /// Also write JUnit XML to this file, whatever the output format is.
    #[arg(long, value_name = "FILE", conflicts_with = "dry_run")]
    junit: Option<PathBuf>,
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
    redact: RedactOptions,
    #[command(flatten)]
    target: Target,
}

/// The reel of a new session.
struct NewReel {
    path: PathBuf,
    /// The path as the user knows it; empty if the reel is not kept.
    shown: String,
    /// The file that disappears with it, if the reel is not kept.
    _unnamed: Option<TwicePath>,
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

pub(super) fn mapping(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').filter(|(old, _)| !old.is_empty());
    pair.map(|(old, new)| (old.to_owned(), new.to_owned())).ok_or_else(|| "expected OLD=NEW".to_owned())
}

/// The era of the live server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum EraArg {
    /// That of the recording.
    Recorded,
    /// Revision 2026-07-28.
    Modern,
}

pub(super) fn run(args: &ReplayArgs, context: &Context) -> Result<Outcome, CommandError> {
    let junit = args.junit.as_deref().map(Junit::open).transpose()?;
    if suite::is_suite(args) {
        return suite::run(args, junit, context);
    }
    let sessions = match recordings::chosen(&args.reel, &args.stream) {
        Err(error) if !args.dry_run && is_reported(&error) => return unreadable(error, args, junit, context),
        sessions => sessions?,
    };
    let selection = args.selection()?;
    let plans: Vec<Plan> = sessions.into_iter().map(|session| Plan::new(args.mapped(session), &selection)).collect();
    if args.dry_run {
        outline::print_all(&plans, args, context)?;
        return Ok(Outcome::Clean);
    }
    if let Err(error) = args.check(&plans) {
        return unreadable(error, args, junit, context);
    }
    args.warn_of_unlisted(&plans, context);
    let mut warning = report::warning(args, context)?;
    let replayed = all(plans, args, &mut warning, context)?;
    finish(replayed, args, junit, warning, context)
}

/// Whether reports for programs have a case for this error.
fn is_reported(error: &CommandError) -> bool {
    !matches!(error.kind, ErrorKind::Quiet | ErrorKind::Interrupted)
}

/// Reports that nothing can be replayed.
fn unreadable(
    error: CommandError,
    args: &ReplayArgs,
    junit: Option<Junit>,
    context: &Context,
) -> Result<Outcome, CommandError> {
    let mut warning = report::warning(args, context)?;
    let failed = Replayed::not_begun(args, 0, 1, error).redacted(&args.redact)?;
    report::one(&failed, args, &mut warning, context)?;
    finish(vec![failed], args, junit, warning, context)
}

/// Writes the reports that are about all sessions, and returns how the command ends.
fn finish(
    replayed: Vec<Replayed>,
    args: &ReplayArgs,
    junit: Option<Junit>,
    mut warning: SecretWarning,
    context: &Context,
) -> Result<Outcome, CommandError> {
    let sessions: Vec<&SessionReport> = replayed.iter().map(|one| &one.view).collect();
    report::write(&sessions, args.format, junit, &mut warning, context)?;
    warning.print();
    let has_differences = replayed.iter().any(Replayed::is_different);
    let mut errors = replayed.into_iter().filter_map(|one| one.error);
    let Some(first) = errors.next() else {
        return Ok(if has_differences { Outcome::Findings } else { Outcome::Clean });
    };
    // What is wrong with the recording is wrong for each of its sessions.
    errors.filter(|error| error.message != first.message).for_each(|error| context.printer.complain(&error));
    Err(first)
}

/// Replays all sessions, each as often as wanted. A session that could not be replayed to its end is not repeated.
fn all(
    plans: Vec<Plan>,
    args: &ReplayArgs,
    warning: &mut SecretWarning,
    context: &Context,
) -> Result<Vec<Replayed>, CommandError> {
    let mut replayed: Vec<Replayed> = Vec::new();
    let count = plans.len();
    for plan in plans.into_iter().filter(|plan| !plan.is_empty()) {
        for run in 1..=args.repeat {
            let number = replayed.len() + 1;
            let (one, is_begun) = match session::replay(&plan, number, run, args, context) {
                Err(error) if is_reported(&error) => {
                    (Replayed::not_begun(args, plan.stream(), run, error).redacted(&args.redact)?, false)
                }
                begun => (begun?, true),
            };
            report::one(&one, args, warning, context)?;
            let (is_over, is_different) = (one.error.is_some(), one.is_different());
            replayed.push(one);
            if !is_begun || args.fail_fast && (is_over || is_different) {
                return Ok(replayed);
            }
            if is_over {
                break;
            }
        }
    }
    if count > 1 {
        let sessions = counted(count as u64, "session");
        context.printer.note(&format!("{sessions} in {}", args.reel.display()));
    }
    Ok(replayed)
}

impl ReplayArgs {
    fn mapped(&self, mut conversation: Conversation) -> Conversation {
        let mut substitutions = Substitutions::default();
        self.maps.iter().for_each(|(old, new)| substitutions.add(old, new));
        conversation.substitute(&substitutions);
        conversation
    }

    fn selection(&self) -> Result<Selection, CommandError> {
        let filter = match &self.filter[..] {
            [] => None,
            words => Some(Filter::parse_knowing(&words.join(" "), self.packs.registry()?).map_err(|error| {
                CommandError::usage(format!("invalid filter: {error}")).hint("`mcpreel show --help` lists the terms")
            })?),
        };
        let is_for_modern = self.era == EraArg::Modern;
        Ok(Selection { filter, from: self.from, to: self.to, read_only: self.read_only, is_for_modern })
    }

    /// Refuses a replay that would do what the user may not want.
    fn check(&self, plans: &[Plan]) -> Result<(), CommandError> {
        self.target.refuse_session("a replay begins a session of its own")?;
        if plans.iter().all(Plan::is_empty) {
            let error = CommandError::usage("nothing to send: everything was left out")
                .hint("--dry-run lists what is left out, and why");
            return Err(match self.read_only {
                true => error.hint("the answer to tools/list says which tools only read: record it, too"),
                false => error,
            });
        }
        let calls: Vec<_> = plans.iter().flat_map(Plan::destructive).collect();
        let is_chosen = self.allow_destructive || !self.filter.is_empty();
        if let Some(first) = calls.first().filter(|_| !is_chosen) {
            let calls = counted(calls.len() as u64, "call");
            return Err(CommandError::usage(format!("the recording contains {calls} of tools that may destroy data"))
                .hint(format!("the first is {} (seq {}); --dry-run lists all", first.tool, first.seq))
                .hint("send them with --allow-destructive, or choose what to send with a filter or --read-only"));
        }
        let is_whole = plans.len() == 1 && plans.iter().all(|plan| plan.omissions().is_empty());
        if self.update && !(is_whole && self.maps.is_empty() && self.stream.is_empty()) {
            return Err(CommandError::usage("--update needs the whole recording, with one session and without --map")
                .hint("record the parts anew with -o"));
        }
        if self.update { update::check(&self.reel) } else { Ok(()) }
    }

    /// Warns of tools of which the recording does not say whether they may destroy data.
    fn warn_of_unlisted(&self, plans: &[Plan], context: &Context) {
        let calls: Vec<_> = plans.iter().flat_map(Plan::unlisted).collect();
        let is_chosen = self.allow_destructive || !self.filter.is_empty();
        let Some(first) = calls.first().filter(|_| !is_chosen) else { return };
        let (count, them) = match calls.len() {
            1 => ("1 call of a tool that the recording does not list; it".to_owned(), "it"),
            count => (format!("{count} calls of tools that the recording does not list; they"), "them"),
        };
        let which = if calls.len() == 1 { "it is" } else { "the first is" };
        context.printer.note(&format!(
            "sending {count} may destroy data ({which} {}, seq {}); --read-only leaves {them} out, \
             --allow-destructive ends this warning",
            first.tool, first.seq
        ));
    }

    fn settings(&self) -> Result<Settings, CommandError> {
        let answers = match &self.answer {
            None => Answers::default(),
            Some(path) => {
                let text = read_bytes(path, LARGE).map_err(|error| CommandError::reading(path, &error))?;
                let wrong = |why| {
                    CommandError::new(ErrorKind::Input, format!("{}: {why}", path.display()))
                        .hint(r#"a result for each method, as in {"roots/list": {"roots": []}}, or a list of results"#)
                };
                Answers::parse(&text).map_err(wrong)?
            }
        };
        let default = Settings::default();
        let max_in_flight = self.concurrency.map_or(usize::MAX, |limit| limit as usize);
        let (speed, timeout) = (self.pace.0, self.timeout.unwrap_or(default.timeout));
        Ok(Settings { speed, timeout, max_in_flight, answers, stops_early: self.fail_fast })
    }

    /// The path of the new session with this number: numbers of recordings come first.
    fn numbered(&self, path: &Path, number: usize) -> PathBuf {
        match (self.recording_number, number) {
            (None, _) => recordings::numbered(path, number),
            (Some(recording), ..=1) => recordings::numbered(path, recording),
            (Some(recording), _) => {
                let stem = path.file_stem().unwrap_or_default().to_string_lossy();
                path.with_file_name(format!("{stem}-{recording}-{number}.reel"))
            }
        }
    }

    /// The reel of the new session with this number.
    fn reel_of(&self, number: usize) -> Result<NewReel, CommandError> {
        let kept = |path: PathBuf| NewReel { shown: path.display().to_string(), path, _unnamed: None };
        match &self.output {
            _ if self.no_record => {
                let unnamed = TwicePath::written(Path::new(""), |_| Ok(()))?;
                Ok(NewReel { path: unnamed.opened.clone(), shown: String::new(), _unnamed: Some(unnamed) })
            }
            Some(path) => {
                let path = self.numbered(path, number);
                check_apart(&self.reel, &path)?;
                Ok(kept(path))
            }
            None => {
                let name = if number > 1 { format!("replay-{number}") } else { "replay".to_owned() };
                reels::new_path(&name).map(kept)
            }
        }
    }
}
