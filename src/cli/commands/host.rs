//! `host`: be a host, over any number of servers.

mod scenario;
mod setup;
mod talk;

use crate::cli::client_session::{self, ClientOptions};
use crate::cli::hosting::HostServers;
use crate::cli::hosting::editor::Lines;
use crate::cli::hosting::lines::{self, Line};
use crate::cli::printer::note;
use crate::cli::target::Target;
use crate::cli::{Context, Outcome};
use crate::error::{CommandError, ErrorKind};
use crate::host::engine::Host;
use crate::record::recording::Need;
use crate::runtime::event_routes::Routes;
use crate::runtime::host::HostRunner;
use crate::runtime::host_session::HostSession;
use crate::runtime::model::Model;
use crate::sessions::answers::Answers;
use crate::sessions::live::{self, About};
use crate::wire::units::parse_time;
use clap::builder::Resettable;
use clap::{Arg, ArgAction, Args, ValueEnum};
use serde_json::json;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use talk::Talk;

/// A host has several servers: what names one excludes no other.
fn among_several(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "url" | "config" => arg.conflicts_with(Resettable::Reset),
        "server" => arg
            .conflicts_with(Resettable::Reset)
            .action(ArgAction::Append)
            .help("A server of that configuration (repeatable)"),
        "session" => arg
            .conflicts_with(Resettable::Reset)
            .help("A live session: at its address where it listens, else in the connection of its client, beside that"),
        _ => arg,
    }
}

/// Be a host: run a conversation over several servers, with all that they declare.
///
/// Each turn goes the way the proposals say: the user's message to the servers that subscribed, hooks, pending
/// reminders, then the prompt, the model, and what follows its answer. What servers inject is labelled and shown.
/// Without --say or --do, lines come from standard input: with an editor on a terminal, as a script from a pipe; /help
/// lists them.
#[derive(Debug, Args)]
#[command(mut_args(among_several))]
#[command(after_help = "\
Examples:
  mcpreel host --builtin memory              talk to the built-in server
  mcpreel host -s memory='npx -y a-server' -s web=http://127.0.0.1:3000/mcp
  mcpreel host --url https://example.com/mcp -H 'X-Key: ${KEY}' --say hello
  mcpreel host --builtin memory --say 'what did we decide?' --prompts
  mcpreel host --builtin memory --do '/hook session_start' --format json
  mcpreel host --config .mcp.json --server memory --model-command ./my-model
  mcpreel host --session everything          the server of a live session
  mcpreel host --builtin memory --set conversation.deadline=200ms
  mcpreel host --scenario examples/scenarios/several.yaml --junit report.xml
  mcpreel host --options                     what the proposals leave open

Several servers can be named at once. -H and what else belongs to HTTP goes to
that of --url, -e and --cwd to the command after --; where there is none, to
the only --server.

Exit codes: 0 all was done, every expectation passed; 1 an order or an
expectation failed; 2 usage; 3 a scenario that cannot be read; 4 no server
could be reached.")]
pub struct HostArgs {
    /// A server: NAME=COMMAND, NAME=URL or NAME=session:SESSION (repeatable).
    #[arg(short = 's', long = "add", value_name = "NAME=SPEC")]
    add: Vec<String>,
    /// The built-in server under this name, with all proposals or those named (repeatable).
    #[arg(long, value_name = "NAME[:PROPOSAL,…]")]
    builtin: Vec<String>,
    /// Say this (repeatable).
    #[arg(long, value_name = "TEXT")]
    say: Vec<String>,
    /// Do what this line says, as if it was typed (repeatable; after what is said).
    #[arg(long = "do", value_name = "LINE")]
    doing: Vec<String>,
    /// Play this scenario (YAML; docs/scenario.schema.json) and judge what it expects.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["add", "url", "builtin", "config", "server", "session",
        "headers", "header_env", "cacert", "insecure", "env", "cwd", "argv", "say", "doing", "policy", "set", "system",
        "project", "seed"])]
    scenario: Option<PathBuf>,
    /// Whose time passes in the scenario; what it says itself where this is not given.
    #[arg(long, value_enum, requires = "scenario")]
    clock: Option<ClockArg>,
    /// Write the scenario's report as JUnit XML.
    #[arg(long, value_name = "FILE", requires = "scenario")]
    junit: Option<PathBuf>,
    /// Show what happens in the scenario, not only the report.
    #[arg(long, requires = "scenario")]
    trace: bool,
    /// The built-in model.
    #[arg(long, value_enum, default_value_t = ModelArg::Echo)]
    model: ModelArg,
    /// A program as the model: the prompt as JSON on its standard input, its answer on its standard output.
    #[arg(long, value_name = "COMMAND", conflicts_with = "model")]
    model_command: Option<String>,
    /// How long that program may take.
    #[arg(long, value_name = "TIME", default_value = "120s", value_parser = parse_time)]
    model_timeout: Duration,
    /// A policy, in YAML or JSON: `all` and `servers`, each with options by proposal; and a `layout`.
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Set an option, for all servers or for one (repeatable).
    #[arg(long, value_name = "[SERVER:]PROPOSAL.OPTION=VALUE")]
    set: Vec<String>,
    /// Take events of subscriptions somewhere, too: PATTERN=file:PATH adds a line of JSON to a file,
    /// PATTERN=command:COMMAND gives it to a command on its standard input (repeatable; mcpe.route is for the prompt
    /// and for turns).
    #[arg(long = "on-event", value_name = "PATTERN=PLACE", conflicts_with = "scenario")]
    on_event: Vec<String>,
    /// List what can be set, and its defaults.
    #[arg(long)]
    options: bool,
    /// What the host itself says to the model; or @FILE.
    #[arg(long, value_name = "TEXT")]
    system: Option<String>,
    /// The project's name, for templates; the folder's where none is given.
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
    /// What ids are drawn from: the same seed, the same prompts.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
    /// Show each prompt.
    #[arg(long)]
    prompts: bool,
    /// What to print.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    #[command(flatten)]
    client: ClientOptions,
    #[command(flatten)]
    target: Target,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ModelArg {
    /// Says what it was asked, the same every time.
    Echo,
    /// Says nothing.
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ClockArg {
    /// This machine's time.
    Real,
    /// Time that jumps to whatever is due next; built-in servers only.
    Virtual,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A transcript.
    Human,
    /// One object a line.
    Json,
}

pub fn run(args: &HostArgs, context: &Context) -> Result<Outcome, CommandError> {
    if args.options {
        return setup::list(args, context);
    }
    let model = match (&args.model_command, args.model) {
        (Some(command), _) => Model::program(command, args.model_timeout)?,
        (None, ModelArg::Echo) => Model::Echo,
        (None, ModelArg::None) => Model::None,
    };
    if let Some(path) = &args.scenario {
        return scenario::run(path, &model, args, context);
    }
    let named = setup::servers(args, context)?;
    let config = setup::config(args, &named, &model)?;
    let said = args.say.iter().map(|text| lines::parse(&format!("/turn {text}")));
    let queue: VecDeque<Line> =
        said.chain(args.doing.iter().map(|line| lines::parse(line))).collect::<Result<_, _>>()?;
    let routes = Routes::open(&args.on_event, note)?;
    let lines = if queue.is_empty() { Some(Lines::open()?) } else { None };
    client_session::block_on_to_the_end(async {
        let recording = args.client.recording("host", Need::Wanted)?;
        let recorder = recording.recorder();
        let parties = HostServers::gather(&named, recorder, context).await;
        let mut parties = match parties {
            Ok(parties) => parties,
            Err(error) => {
                recording.finish();
                return Err(error);
            }
        };
        let links = std::mem::take(&mut parties.links);
        let names: Vec<String> = named.iter().map(|one| one.name.clone()).collect();
        let answers = Arc::new(Answers::default());
        let about = About {
            name: format!("host-{}", names[0]),
            role: "host",
            server: names.join(", "),
            transport: "host",
            listen: None,
            recording: Some(recording.status()),
        };
        let (session, attendant) = HostSession::new(names, Arc::clone(recorder.queue()), Arc::clone(&answers));
        // The socket is there as long as the conversation.
        let _bound = live::open(about, Arc::new(session), &answers, note)?;
        let runner = HostRunner::start(Host::new(config), links, Some(attendant));
        let mut talk = Talk::new((args, context), runner, model, (queue, lines), routes);
        let outcome = talk.run().await;
        let Talk { runner, failed, interrupted, .. } = talk;
        let reached = runner.host.servers().iter().any(|view| view.declared.ready) || named.is_empty();
        let names: Vec<String> = runner.host.servers().iter().map(|view| view.name.clone()).collect();
        for (server, bytes) in runner.close().await {
            if context.verbose > 0 {
                let said = String::from_utf8_lossy(&bytes).trim_end().to_owned();
                context.printer.note(&format!("{} said: {said}", names[server.0]));
            }
        }
        parties.end(recorder).await;
        let (summary, end) = recording.finish();
        outcome?;
        end.report(&summary, false, note)?;
        let reel = end.place();
        if args.format == Format::Json {
            context.printer.json(&json!({"event": "reel", "path": reel.display().to_string()}))?;
        } else if summary.events > 0 {
            context.printer.note(&format!("the session is in {}", reel.display()));
        }
        if interrupted {
            return Err(CommandError::new(ErrorKind::Interrupted, "interrupted"));
        }
        if !reached {
            return Err(CommandError::new(ErrorKind::Peer, "no server could be reached"));
        }
        Ok(if failed { Outcome::Findings } else { Outcome::Clean })
    })
}
