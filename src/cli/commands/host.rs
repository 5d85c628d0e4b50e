//! `host`: acts as a host of any number of servers.

mod reel;
mod scenario;
mod script;
mod setup;
mod talk;

use crate::cli::client_session::ClientOptions;
use crate::cli::printer::note;
use crate::cli::redaction::RedactOptions;
use crate::cli::target::Target;
use crate::cli::{Context, Outcome};
use crate::error::{CommandError, ErrorKind};
use crate::host::engine::{Host, HostConfig};
use crate::record::recording::{Need, Recording};
use crate::runtime;
use crate::runtime::event_routes::Routes;
use crate::runtime::host::HostRunner;
use crate::runtime::host_servers::HostServers;
use crate::runtime::host_session::HostSession;
use crate::runtime::interactive::editor::Lines;
use crate::runtime::interactive::lines::{self, Line};
use crate::runtime::model::Model;
use crate::runtime::parameters::{self, TextArgument};
use crate::sessions::answers::Answers;
use crate::sessions::live::{self, About};
use crate::wire::units::parse_time;
use clap::builder::Resettable;
use clap::{Arg, ArgAction, Args, ValueEnum};
use script::Script;
use serde_json::json;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use talk::consent::Consent;
use talk::{Input, Talk};

/// A host has several servers, so the options that name one do not exclude each other.
fn among_several(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "url" | "config" => arg.conflicts_with(Resettable::Reset),
        "server" => arg
            .conflicts_with(Resettable::Reset)
            .action(ArgAction::Append)
            .help("A server in that configuration (repeatable)"),
        "session" => arg.conflicts_with(Resettable::Reset).help(
            "Use the server of a live session: at its own address if it listens, else on its client's connection",
        ),
        "era" => arg.help(
            "The era to use; auto tries `initialize` first. With a server of the modern era, the host does without the proposals",
        ),
        "record" => arg.help("Record the session to this reel (default: a new file in the folder of reels)"),
        _ => arg,
    }
}

/// Act as a host: hold a conversation with one or more servers.
///
/// Each turn follows the proposals: the user's message goes to the servers that subscribed, then come hooks, pending
/// reminders, the prompt, the model, and whatever follows its answer. Injected text is labelled with its server and
/// shown.
///
/// Without --say and --do, lines are read from stdin: interactively on a terminal, or as a script from a pipe. /help
/// lists the commands.
#[derive(Debug, Args)]
#[command(mut_args(among_several))]
#[command(after_help = "\
Examples:
  mcpreel host --builtin memory              # the built-in server
  mcpreel host -s memory='npx -y a-server' -s web=http://127.0.0.1:3000/mcp
  mcpreel host --url https://example.com/mcp -H 'X-Key: ${KEY}' --say hello
  mcpreel host --builtin memory --say 'which schema?' --prompts
  mcpreel host --builtin memory --do '/hook session_start' --format json
  mcpreel host --config .mcp.json --server memory --model-command ./my-model
  mcpreel host --session everything          # a live session's server
  mcpreel host --builtin memory --set conversation.deadline=200ms
  mcpreel host --scenario examples/scenarios/several.yaml --junit report.xml
  mcpreel host --reel session.reel -- mcpreel overlay notes.yaml -- my-server
  mcpreel host --options                     # all settings

You can name several servers. HTTP options such as -H apply to the server of --url, -e and --cwd to the command after --; \
without these, to the only --server.

Exit codes: 0 success, and every expectation passed; 1 a command or an expectation failed, or with --strict, a server made a mistake; 2 wrong usage; \
3 the scenario cannot be read; 4 no server could be reached.")]
#[command(mut_arg("redact", |redact| redact.requires("scenario")))]
pub(crate) struct HostArgs {
    /// Add a server: NAME=COMMAND, NAME=URL or NAME=session:SESSION (repeatable).
    #[arg(short = 's', long = "add", value_name = "NAME=SPEC")]
    add: Vec<String>,
    /// Add the built-in server under this name, with all proposals or the listed ones (repeatable).
    #[arg(long, value_name = "NAME[:PROPOSAL,…]")]
    builtin: Vec<String>,
    #[command(flatten)]
    script: Script,
    /// Play this scenario (YAML; docs/scenario.schema.json) and check its expectations.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["add", "url", "builtin", "config", "server", "session",
        "headers", "header_env", "cacert", "insecure", "env", "cwd", "argv", "say", "doing", "policy", "set", "system",
        "project", "seed"])]
    scenario: Option<PathBuf>,
    /// Play the host of this recorded session against the target, with its timing. The answers are not compared;
    /// `mcpreel replay` does that.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["add", "builtin", "say", "doing", "scenario", "policy", "set",
        "system", "project", "on_event"])]
    reel: Option<PathBuf>,
    /// Play only this session of a reel with several: its number (repeatable). Without it, each is played on a connection of
    /// its own, one after the other.
    #[arg(long, value_name = "NUMBER", requires = "reel")]
    stream: Vec<u32>,
    /// The clock of the scenario (default: as the scenario says).
    #[arg(long, value_enum, requires = "scenario")]
    clock: Option<ClockArg>,
    /// Write the scenario's report as JUnit XML.
    #[arg(long, value_name = "FILE", requires = "scenario")]
    junit: Option<PathBuf>,
    /// Show what happens in the scenario, in addition to the report.
    #[arg(long, requires = "scenario")]
    trace: bool,
    /// The built-in model.
    #[arg(long, value_enum, default_value_t = ModelArg::Echo)]
    model: ModelArg,
    /// Use a program as the model: it reads the prompt as JSON on stdin and prints its answer to stdout.
    #[arg(long, value_name = "COMMAND", conflicts_with = "model")]
    model_command: Option<String>,
    /// How long that program may take.
    #[arg(long, value_name = "TIME", default_value = "120s", value_parser = parse_time)]
    model_timeout: Duration,
    /// A policy file, in YAML or JSON: `all` and `servers`, each with options by proposal, and a `layout`.
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Let every server that asks for it receive your messages, the model's answers and what tools return. Without
    /// this, the host asks you on a terminal; in a script, only servers whose command is given here receive them, and
    /// those of a policy.
    #[arg(long)]
    consent: bool,
    /// Set an option for all servers or for one (repeatable).
    #[arg(long, value_name = "[SERVER:]PROPOSAL.OPTION=VALUE")]
    set: Vec<String>,
    /// Also deliver events of subscriptions: PATTERN=file:PATH appends them to a file as lines of JSON,
    /// PATTERN=command:COMMAND passes them to a command's stdin (repeatable). For the prompt and for turns, see the
    /// option mcpe.route.
    #[arg(long = "on-event", value_name = "PATTERN=PLACE", conflicts_with = "scenario")]
    on_event: Vec<String>,
    /// Exit with code 1 if a server makes a mistake: what it sends is malformed, unasked for, sent twice, or names a
    /// feature set or channel that it may not use. With `--format json`, such reports have `"mistake": true`. `validate`
    /// checks a recorded session more strictly.
    #[arg(long, conflicts_with = "scenario")]
    strict: bool,
    /// List all options with their defaults.
    #[arg(long)]
    options: bool,
    /// The host's own system prompt: a text, @file, or - for stdin.
    #[arg(long, value_name = "TEXT")]
    system: Option<TextArgument>,
    /// The project's name in templates (default: the current folder's name).
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
    /// Generate ids from this seed: the same seed gives the same ids and prompts (default: new ids each time).
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// Show each prompt.
    #[arg(long)]
    prompts: bool,
    /// What to print.
    #[arg(short, long, value_enum, default_value_t = Format::Human)]
    format: Format,
    #[command(flatten)]
    redact: RedactOptions,
    #[command(flatten)]
    client: ClientOptions,
    #[command(flatten)]
    target: Target,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ModelArg {
    /// Repeats the last user message and says how much context came with it.
    Echo,
    /// Says nothing.
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ClockArg {
    /// Real time.
    Real,
    /// Simulated time, which skips waiting; for built-in servers only.
    Virtual,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A transcript.
    Human,
    /// One JSON object per line.
    Json,
}

/// Runs the command.
///
/// # Errors
///
/// The command failed; the error's kind decides the exit code.
pub(super) fn run(args: &HostArgs, context: &Context) -> Result<Outcome, CommandError> {
    if args.options {
        return setup::list(args, context);
    }
    if let Some(path) = &args.reel {
        return reel::run(path, args, context);
    }
    let model = match (&args.model_command, args.model) {
        (Some(command), _) => Model::program(command, args.model_timeout)?,
        (None, ModelArg::Echo) => Model::Echo,
        (None, ModelArg::None) => Model::None,
    };
    if let Some(path) = &args.scenario {
        return scenario::run(path, &model, args, context);
    }
    // Servers may remember ids across sessions, so two sessions must not share them by accident.
    let seed = args.seed.unwrap_or_else(|| fastrand::u64(..));
    let named = setup::servers(args, seed, context)?;
    if args.script.is_empty() {
        parameters::keep_stdin_for("the host reads its lines there");
    }
    let mut config = setup::config(args, seed, &named, &model)?;
    let queue: VecDeque<Line> = args.script.lines()?.iter().map(|line| lines::parse(line)).collect::<Result<_, _>>()?;
    let routes = Routes::open(&args.on_event, note)?;
    let lines = if queue.is_empty() { Some(Lines::open()?) } else { None };
    let consent = match lines.as_ref().is_some_and(Lines::is_interactive) {
        true => Some(Consent::of(&mut config, &named)?),
        false => None,
    };
    runtime::block_on_to_the_end(async {
        let recording = args.client.recording("host", Need::Wanted)?;
        let gathering = HostServers::gather(&named, recording.recorder(), context.notices());
        // The user may have to log in first.
        let servers = match runtime::unless_ended(gathering).await {
            Ok(servers) => servers,
            Err(error) => {
                recording.finish();
                return Err(error);
            }
        };
        let conversation = Conversation { config, model, servers, routes };
        let ended = talk(conversation, Input { queue, lines, consent }, &recording, args, context).await?;
        let (summary, end) = recording.finish();
        ended.outcome?;
        end.report(&summary, false, note)?;
        let reel = end.place();
        if args.format == Format::Json {
            context.printer.json(&json!({"event": "reel", "path": reel.display().to_string()}))?;
        } else if summary.events > 0 {
            context.printer.note(&format!("the session was recorded in {}", reel.display()));
        }
        if ended.interrupted {
            return Err(CommandError::new(ErrorKind::Interrupted, "interrupted"));
        }
        if !ended.reached {
            return Err(CommandError::new(ErrorKind::Peer, "could not connect to any server"));
        }
        Ok(if ended.failed { Outcome::Findings } else { Outcome::Clean })
    })
}

/// What takes part in a conversation.
struct Conversation {
    config: HostConfig,
    model: Model,
    servers: HostServers,
    routes: Routes,
}

/// How a conversation ended.
struct Ended {
    outcome: Result<(), CommandError>,
    /// Whether a line failed.
    failed: bool,
    /// Whether the user ended it.
    interrupted: bool,
    /// Whether any server was reached.
    reached: bool,
}

/// Talks, and then lets the servers end.
async fn talk(
    conversation: Conversation,
    input: Input,
    recording: &Recording,
    args: &HostArgs,
    context: &Context,
) -> Result<Ended, CommandError> {
    let Conversation { config, model, mut servers, routes } = conversation;
    let recorder = recording.recorder();
    let names: Vec<String> = config.servers.iter().map(|server| server.name.clone()).collect();
    let answers = Arc::new(Answers::default());
    let about = About {
        name: format!("host-{}", names[0]),
        role: "host",
        server: names.join(", "),
        transport: "host",
        listen: None,
        recording: Some(recording.status()),
    };
    let (session, delivery) = HostSession::new(names.clone(), Arc::clone(recorder.queue()), Arc::clone(&answers));
    // The socket exists as long as the conversation.
    let _bound = live::open(about, Arc::new(session), &answers, note);
    let (links, queue) = (std::mem::take(&mut servers.links), Arc::clone(recorder.queue()));
    let runner = HostRunner::start(Host::new(config), links, model, delivery, queue);
    let mut talk = Talk::new(args, context, runner, input, routes);
    let outcome = talk.run().await;
    let Talk { runner, failed, interrupted, .. } = talk;
    let reached = runner.host.servers().iter().any(|view| view.declared.ready);
    for (server, bytes) in runner.close().await {
        if context.verbose > 0 {
            let said = String::from_utf8_lossy(&bytes).trim_end().to_owned();
            context.printer.note(&format!("stderr of {}: {said}", names[server.0]));
        }
    }
    servers.end(recorder).await;
    Ok(Ended { outcome, failed, interrupted, reached })
}
