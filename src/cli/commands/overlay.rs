//! `overlay`: records a server and adds what a file declares.

use super::record::{Keeping, about, server_name};
use crate::cli::printer::note;
use crate::cli::target::{Target, TargetKind, key_value};
use crate::cli::{Context, Outcome, url_name};
use crate::clock;
use crate::error::{CommandError, ErrorKind};
use crate::files::text::{LARGE, read_text};
use crate::overlay::{Overlay, Plan, Setting, schema};
use crate::record::queue::{Queue, Ready};
use crate::record::recorder::Recorder;
use crate::record::recording::OnExisting;
use crate::record::stdio::described;
use crate::record::stdio_to_url::{self, ServerEnd, SharedSession};
use crate::redact;
use crate::render::text::indented_json;
use crate::runtime;
use crate::runtime::overlay::{OverlayNotice, OverlayNoticeCallback, laid_over, watch};
use crate::runtime::server_link;
use crate::runtime::watch::Watchers;
use crate::sessions::control::Session;
use crate::sessions::injection::is_ours;
use crate::sessions::live;
use crate::trace::{EventKind, Flags, Opened};
use crate::transport::Link;
use crate::transport::local::stdio::{self, StdioServer};
use crate::wire::MessageLimit;
use crate::wire::{Direction, Framing};
use clap::Args;
use serde_json::Value;
use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

/// Record a server and make it also speak the proposals.
///
/// Adds hooks, context for user messages, reminders, pushes and events to a server that does not implement them. Like `record`, it takes the place of the server's command
/// in a client's configuration. The server's own tools provide the content. mcpreel changes only the server's
/// responses to initialize and tools/list; the reel contains the original and the changed versions, and marks
/// injected messages. What the server itself declares is never replaced.
#[derive(Debug, Args)]
#[command(mut_arg("session", |session| session.hide(true)))]
#[command(mut_arg("output", |output| output.help("Write the reel to this file")))]
#[command(after_help = "\
Examples:
  mcpreel overlay --check memory.yaml        # check the file
  mcpreel overlay memory.yaml -- npx -y @modelcontextprotocol/server-memory
  mcpreel overlay files.yaml -o session.reel -- my-server .
  mcpreel overlay annal.yaml --value project=demo -- annal
  mcpreel overlay memory.yaml --url https://host/mcp
  mcpreel host -s x='mcpreel overlay memory.yaml -- my-server' --say hello
  mcpreel show --session memory 'injected'  # what was added so far

docs/overlays.md describes the file, docs/overlay.schema.json is its schema; examples are in examples/overlays.

The exit code is the server's. `mcpreel sessions` lists the session while it runs.

Reel names, --require-recording and problems with writing are handled as in `record`.")]
pub(crate) struct OverlayArgs {
    /// The overlay file (YAML).
    #[arg(value_name = "FILE", required_unless_present = "schema")]
    file: Option<PathBuf>,
    /// Replace {NAME} in the file with this value instead of the file's own (repeatable).
    #[arg(long = "value", value_name = "NAME=VALUE", value_parser = key_value)]
    values: Vec<(String, String)>,
    /// Check the file without starting anything.
    #[arg(long, conflicts_with = "schema")]
    check: bool,
    /// Print the JSON Schema of overlay files.
    #[arg(long, conflicts_with_all = ["argv", "url", "server"])]
    schema: bool,
    #[command(flatten)]
    keeping: Keeping,
    #[command(flatten)]
    target: Target,
}

/// Runs the command.
///
/// # Errors
///
/// The command failed; the error's kind decides the exit code.
pub(super) fn run(args: &OverlayArgs, context: &Context) -> Result<Outcome, CommandError> {
    let Some(file) = args.file.as_ref().filter(|_| !args.schema) else {
        let text = indented_json(&schema());
        return context.printer.line(&text).map(|()| Outcome::Clean);
    };
    let text = read_text(file, LARGE).map_err(|error| CommandError::reading(file, &error))?;
    let plan = Plan::read(&text, &args.values).map_err(|error| {
        CommandError::document(file, &error)
            .hint("docs/overlays.md describes the file; examples are in examples/overlays")
    })?;
    if args.check {
        context.printer.note(&format!("{}: adds {}", file.display(), listed(&plan)));
        return Ok(Outcome::Clean);
    }
    let target = args.target.resolve(context)?;
    args.keeping.check_free_output()?;
    let (name, shown) = match &target {
        TargetKind::Command(command) => {
            command.prepare().map_err(CommandError::spawning)?;
            (server_name(&command.words()), redact::redact_arguments(&command.words()).join(" "))
        }
        TargetKind::Remote(remote) => (url_name(&remote.url), redact::redact_url(&remote.url)),
        TargetKind::Session(_) => {
            return Err(CommandError::usage(
                "nothing can be added to a live session, because its client has already connected",
            )
            .hint("put the overlay in front of the server: mcpreel overlay FILE -- SERVER-COMMAND"));
        }
    };
    let name = args.keeping.session_name(&name);
    let recording = args.keeping.start(&name, args.target.configured_name(context), OnExisting::by_stdin())?;
    let recorder = recording.recorder();
    let about = live::About { role: "overlay", ..about(name, shown, "stdio", recording.status()) };
    let carrying = carry(plan, (&target, args.target.limits.max_message), about, recorder, context);
    let carried = runtime::block_on_until_interrupted(carrying);
    let status = carried.as_ref().ok().copied().flatten();
    recorder.note_end(status, true, None);
    let (summary, end) = recording.finish();
    end.report(&summary, context.verbose > 0, note)?;
    Ok(carried?.map_or(Outcome::Clean, Outcome::Server))
}

/// What is added, in words.
fn listed(plan: &Plan) -> String {
    if plan.proposals.is_empty() { "nothing".to_owned() } else { plan.proposals.join(", ") }
}

/// Relays messages until either side ends. Returns the exit status of the server, if it was started here.
async fn carry(
    plan: Plan,
    (target, limit): (&TargetKind, MessageLimit),
    about: live::About,
    recorder: &Recorder,
    context: &Context,
) -> Result<Option<ExitStatus>, CommandError> {
    let failed = |error: std::io::Error| CommandError::new(ErrorKind::Internal, error.to_string());
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    let overlay = Overlay::new(plan, setting());
    let (changed, changes) = mpsc::unbounded_channel();
    let _watch = watched(&overlay, changed)?;
    let (server, process) = reach(target, recorder, context).await?;
    let receive = receive(Arc::clone(recorder.queue()), context.verbose > 0);
    let link = laid_over(server, overlay, changes, receive);
    let (orders, taken) = mpsc::channel(16);
    let shared =
        Arc::new(SharedSession { queue: Arc::clone(recorder.queue()), stream: 0, answers: Arc::default(), orders });
    let _bound = live::open(about, Arc::clone(&shared) as Arc<dyn Session>, &shared.answers, note);
    // Not the locked stdout: a client that does not read would keep the process from exiting.
    let output = std::fs::File::from(std::io::stdout().as_fd().try_clone_to_owned().map_err(failed)?);
    let end = if process.is_some() { ServerEnd::OfInput } else { ServerEnd::WithTheLink };
    let carried = tokio::select! {
        carried = stdio_to_url::run(link, (std::io::stdin(), limit), output, Some(&shared), taken, end) => carried,
        _ = terminate.recv() => Ok(()),
    };
    let (status, is_hurried) = match process {
        Some(process) => process.end(stdio::Grace::USUAL).await,
        None => (None, false),
    };
    // If the server was signalled by us, that signal is not its exit status; a signal from elsewhere is.
    let status = status.filter(|status| status.code().is_some() || !is_hurried);
    match carried {
        Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
            Err(CommandError::new(ErrorKind::Peer, error.to_string()))
        }
        _ if status.is_some_and(|status| status.signal().is_some()) => Ok(status),
        // The client is gone, which ends the session normally.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(status),
        other => other.map(|()| status).map_err(|error| CommandError::new(ErrorKind::Peer, error.to_string())),
    }
}

fn setting() -> Setting {
    let wall_base_ns = clock::wall_ns();
    Setting { id_prefix: live::id_prefix(), seed: wall_base_ns.unsigned_abs(), wall_base_ns }
}

fn watched(
    overlay: &Overlay,
    changed: mpsc::UnboundedSender<(String, String)>,
) -> Result<Option<Watchers>, CommandError> {
    watch(overlay, changed, Arc::new(note)).map_err(|error| {
        CommandError::new(ErrorKind::Input, error.to_string())
            .hint("the folder in a rule's `file` must exist; it is relative to the current folder")
    })
}

/// Starts the server or connects to it.
async fn reach(
    target: &TargetKind,
    recorder: &Recorder,
    context: &Context,
) -> Result<(Link, Option<StdioServer>), CommandError> {
    match target {
        TargetKind::Remote(remote) => {
            let transport = server_link::transport_name(&remote.carrier().map_err(server_link::remote_error)?);
            let url = redact::redact_url(&remote.url);
            let (url, behind) = (Some(url), Some("overlay".to_owned()));
            recorder.note(EventKind::StreamOpened, &Opened { url, behind, ..Opened::over(transport) });
            // Messages are recorded when they leave the overlay.
            let server_link::RemoteLink { link, .. } =
                server_link::attach(remote, None, None, context.notices()).await?;
            Ok((link, None))
        }
        TargetKind::Command(command) => {
            let (link, server) = stdio::spawn(command, None).map_err(CommandError::spawning)?;
            let mut reported = described(command);
            (reported.pid, reported.behind) = (server.id(), Some("overlay".to_owned()));
            recorder.note(EventKind::StreamOpened, &reported);
            Ok((link, Some(server)))
        }
        TargetKind::Session(_) => Err(CommandError::usage("nothing can be added to a live session")),
    }
}

/// Records messages and reports notices.
fn receive(queue: Arc<Queue>, is_verbose: bool) -> OverlayNoticeCallback {
    Box::new(move |reported| match reported {
        OverlayNotice::Message { direction, is_injected, message } => {
            let ours = if is_injected || is_ours(message) { Flags::INJECTED } else { Flags::default() };
            let flags = Flags::toward(direction).with(ours);
            let ready = Ready { flags, framing: Framing::Lf, ..Ready::about(EventKind::Message, 0) };
            queue.push_ready(ready, message);
        }
        OverlayNotice::Withheld(reported) => {
            let flags = Flags::toward(Direction::ServerToClient);
            queue.note(Ready { flags, ..Ready::about(EventKind::Transport, 0) }, &reported);
        }
        OverlayNotice::Stderr(bytes) => {
            let ready = Ready { flags: Flags::SERVER_TO_CLIENT, ..Ready::about(EventKind::Stderr, 0) };
            queue.push_ready(ready, bytes);
            let _ = std::io::stderr().write_all(bytes);
        }
        OverlayNotice::Notice(text) => note(text),
        OverlayNotice::Report(fields) if is_verbose => report(fields),
        OverlayNotice::Report(_) => {}
    })
}

fn report(fields: &Value) {
    note(&fields.to_string());
}
