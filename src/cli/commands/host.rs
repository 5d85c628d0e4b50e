//! `host`: be a host, over any number of servers.

use crate::cli::error::{CommandError, ErrorKind};
use crate::cli::hosting::editor::{self, Lines};
use crate::cli::hosting::inferences::{Inferences, Saying};
use crate::cli::hosting::lines::{self, COMMANDS, Line};
use crate::cli::hosting::model::Model;
use crate::cli::hosting::session::HostSession;
use crate::cli::hosting::{self, Named, Parties, Place, play};
use crate::cli::live::{self, About};
use crate::cli::peer::{self, ClientOptions};
use crate::cli::target::{Target, span};
use crate::cli::{Context, Outcome, values};
use crate::drive::host::{HostRunner, Told};
use crate::drive::sleep_until;
use crate::extension::host::ServerView;
use crate::host::client::{ClientConfig, EraChoice, Output as ClientOutput};
use crate::host::engine::{self, Done, Host, HostConfig, ModelReply, Order, Output, ServerConfig};
use crate::host::prompt::{Layout, Prompt};
use crate::render;
use crate::render::line::visible_text;
use crate::scenario::Seen;
use crate::tap::answers::Answers;
use crate::wire::Envelope;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Be a host: run a conversation over several servers, with all that they declare.
///
/// Each turn goes the way the proposals say: the user's message to the servers that subscribed, hooks, pending reminders,
/// then the prompt, the model, and what follows its answer. What servers inject is labelled and shown. Without --say or
/// --do, lines come from standard input: with an editor on a terminal, as a script from a pipe; /help lists them.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel host --builtin memory              talk to the built-in server
  mcpreel host -s memory='npx -y a-server' -s web=http://127.0.0.1:3000/mcp
  mcpreel host --builtin memory --say 'what did we decide?' --prompts
  mcpreel host --builtin memory --do '/hook session_start' --format json
  mcpreel host --config .mcp.json --server memory --model-command ./my-model
  mcpreel host --builtin memory --set conversation.deadline=200ms
  mcpreel host --scenario examples/scenarios/several.yaml --junit report.xml
  mcpreel host --options                     what the proposals leave open

Exit codes: 0 all was done, every expectation passed; 1 an order or an
expectation failed; 2 usage; 3 a scenario that cannot be read; 4 no server
could be reached.")]
pub struct HostArgs {
    /// A server: NAME=COMMAND, or NAME=URL (repeatable).
    #[arg(short = 's', long = "add", value_name = "NAME=SPEC")]
    add: Vec<String>,
    /// The built-in server under this name, with all proposals or those named (repeatable).
    #[arg(long, value_name = "NAME[:PROPOSAL,…]")]
    builtin: Vec<String>,
    /// An MCP client's configuration to find servers in; the usual places are searched where none is named.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// A server of that configuration (repeatable).
    #[arg(long, value_name = "NAME")]
    server: Vec<String>,
    /// Say this (repeatable).
    #[arg(long, value_name = "TEXT")]
    say: Vec<String>,
    /// Do what this line says, as if it was typed (repeatable; after what is said).
    #[arg(long = "do", value_name = "LINE")]
    doing: Vec<String>,
    /// Play this scenario (YAML; docs/scenario.schema.json) and judge what it expects.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["add", "builtin", "config", "server", "say", "doing", "policy", "set", "argv", "system", "project", "seed"])]
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
    #[arg(long, value_name = "TIME", default_value = "120s", value_parser = span)]
    model_timeout: Duration,
    /// A policy, in YAML or JSON: `all` and `servers`, each with options by proposal; and a `layout`.
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Set an option, for all servers or for one (repeatable).
    #[arg(long, value_name = "[SERVER:]PROPOSAL.OPTION=VALUE")]
    set: Vec<String>,
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
    /// A server's command: everything after `--`.
    #[arg(last = true, value_name = "CMD")]
    argv: Vec<std::ffi::OsString>,
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
        return list_options(args, context);
    }
    let model = match (&args.model_command, args.model) {
        (Some(command), _) => Model::program(command, args.model_timeout)?,
        (None, ModelArg::Echo) => Model::Echo,
        (None, ModelArg::None) => Model::None,
    };
    if let Some(path) = &args.scenario {
        return play_scenario(path, &model, args, context);
    }
    let named = servers(args)?;
    let config = config(args, &named, &model)?;
    let mut script: VecDeque<String> = args.say.iter().map(|text| format!("/turn {text}")).collect();
    script.extend(args.doing.iter().cloned());
    for line in &script {
        lines::parse(line)?;
    }
    let lines = if script.is_empty() { Some(Lines::open()?) } else { None };
    peer::block_on_to_the_end(async {
        let (recorder, reel) = args.client.recorder("host")?;
        let parties = Parties::gather(&named, &recorder, context).await;
        let mut parties = match parties {
            Ok(parties) => parties,
            Err(error) => {
                recorder.finish();
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
            reel: Some(reel.clone()),
        };
        let (session, attendant) = HostSession::new(names, Arc::clone(recorder.queue()), Arc::clone(&answers));
        // The socket is there as long as the conversation.
        let _bound = live::open(about, Arc::new(session), &answers, &context.printer)?;
        let runner = HostRunner::start(Host::new(config), links, Some(attendant));
        let mut talk = Talk {
            args,
            context,
            runner,
            model,
            lines,
            last_prompt: None,
            failed: false,
            shown: false,
            inferences: Inferences::new(),
            interrupted: false,
        };
        let outcome = talk.run(script).await;
        let Talk { runner, failed, interrupted, .. } = talk;
        let reached = runner.host.servers().iter().any(|view| view.declared.ready) || named.is_empty();
        let names: Vec<String> = runner.host.servers().iter().map(|view| view.name.clone()).collect();
        for (server, bytes) in runner.close().await {
            if context.verbose > 0 {
                let said = String::from_utf8_lossy(&bytes).trim_end().to_owned();
                context.printer.note(&format!("{} said: {said}", names[server.0]));
            }
        }
        parties.end(&recorder).await;
        recorder.finish();
        outcome?;
        if args.format == Format::Json {
            context.printer.line(&json!({"event": "reel", "path": reel.display().to_string()}).to_string())?;
        } else {
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

/// Plays a scenario and reports on it.
fn play_scenario(path: &Path, model: &Model, args: &HostArgs, context: &Context) -> Result<Outcome, CommandError> {
    let scenario = play::read(path)?;
    let servers: Vec<ServerView> =
        scenario.servers.iter().map(|plan| ServerView { name: plan.name.clone(), ..ServerView::default() }).collect();
    let mut onlook = |at: Duration, seen: &Seen<'_>| match args.trace {
        true => show_seen(at, seen, &servers, args, context),
        false => Ok(()),
    };
    let is_virtual = play::is_virtual(&scenario, args.clock.map(|clock| clock == ClockArg::Virtual));
    let (mut report, reel) = if is_virtual {
        let reel = args.client.reel("host")?;
        (play::play_virtual(&scenario, &reel, model, &mut onlook)?, reel)
    } else {
        peer::block_on(async {
            let (recorder, reel) = args.client.recorder("host")?;
            let client = |own: &ClientConfig| {
                let mut config = args.client.with_handshake().config(json!({}));
                if own.era != EraChoice::Auto {
                    config.era = own.era;
                }
                config
            };
            let played = play::play_real(&scenario, client, (&recorder, model), &mut onlook, context).await;
            recorder.finish();
            Ok((played?, reel))
        })?
    };
    report.validated(&play::errors(&reel)?);
    let file = path.display().to_string();
    if let Some(out) = &args.junit {
        let mut text = String::new();
        // A string takes all.
        let _ = render::scenario::junit(&report, &file, &mut text);
        std::fs::write(out, text).map_err(|error| CommandError::writing(out, &error))?;
    }
    match args.format {
        Format::Json => context.printer.line(&play::to_json(&report, &reel).to_string())?,
        Format::Human => {
            let mut text = String::new();
            let _ = render::scenario::text(&report, &file, context.verbose > 0, &context.printer.palette, &mut text);
            context.printer.write(text.as_bytes())?;
            context.printer.note(&format!("the session is in {}", reel.display()));
        }
    }
    Ok(if report.is_passed() { Outcome::Clean } else { Outcome::Findings })
}

fn show_seen(
    at: Duration,
    seen: &Seen<'_>,
    servers: &[ServerView],
    args: &HostArgs,
    context: &Context,
) -> Result<(), CommandError> {
    let palette = &context.printer.palette;
    let line = match (seen, args.format) {
        (Seen::Fact(fact), Format::Human) => render::host::fact(fact, servers, palette),
        (Seen::Fact(fact), Format::Json) => render::host::fact_value(fact, servers, at).to_string(),
        (Seen::Prompt(prompt), Format::Human) if args.prompts => render::host::prompt(prompt, palette),
        (Seen::Prompt(prompt), Format::Json) => render::host::prompt_value(prompt, at).to_string(),
        (Seen::Done(done), Format::Human) => render::host::done(done, palette),
        (Seen::Done(done), Format::Json) => render::host::done_value(done, at).to_string(),
        _ => return Ok(()),
    };
    if line.is_empty() { Ok(()) } else { context.printer.line(&line) }
}

fn servers(args: &HostArgs) -> Result<Vec<Named>, CommandError> {
    let mut named = Vec::new();
    for word in &args.add {
        named.push(hosting::named(word)?);
    }
    for (at, word) in args.builtin.iter().enumerate() {
        named.push(hosting::builtin_named(word, args.seed + at as u64)?);
    }
    for name in &args.server {
        let target = Target::of_entry(args.config.as_deref(), name);
        named.push(Named { name: name.clone(), place: Place::Elsewhere(Box::new(target)) });
    }
    if let Some(program) = args.argv.first() {
        let path = Path::new(program);
        let name = path.file_stem().unwrap_or(program).to_string_lossy().into_owned();
        named.push(Named { name, place: Place::Elsewhere(Box::new(Target::of_command(args.argv.clone()))) });
    }
    if named.is_empty() {
        return Err(CommandError::usage("no server was given")
            .hint("add one with -s NAME=COMMAND-OR-URL, --server NAME, or -- COMMAND")
            .hint("or try the built-in one: mcpreel host --builtin memory"));
    }
    let mut seen = std::collections::HashSet::new();
    match named.iter().find(|one| !seen.insert(one.name.as_str())) {
        None => Ok(named),
        Some(twice) => Err(CommandError::usage(format!("two servers are named {:?}", twice.name))),
    }
}

fn config(args: &HostArgs, named: &[Named], model: &Model) -> Result<HostConfig, CommandError> {
    let mut policies = engine::policies();
    let mut layout = Layout::default();
    let refused = |error: &dyn std::fmt::Display| CommandError::usage(error.to_string());
    if let Some(path) = &args.policy {
        let mut file = hosting::read_yaml(path)?;
        let told = |error: String| CommandError::new(ErrorKind::Input, format!("{}: {error}", path.display()));
        if let Some(wanted) = file.as_object_mut().and_then(|file| file.remove("layout")) {
            layout = Layout::read(&wanted).map_err(told)?;
        }
        policies.read(&file).map_err(|error| told(error.to_string()))?;
    }
    for word in &args.set {
        let (option, value) = word.split_once('=').ok_or_else(|| refused(&format!("{word:?} sets nothing")))?;
        let (server, option) = match option.split_once(':') {
            Some((server, option)) => (Some(server), option),
            None => (None, option),
        };
        policies
            .set(server, option, &Value::from(value))
            .map_err(|error| refused(&error).hint("`mcpreel host --options` lists every option and its default"))?;
    }
    if let Some(unknown) = policies.servers().find(|server| named.iter().all(|one| one.name != *server)) {
        let known: Vec<&str> = named.iter().map(|one| one.name.as_str()).collect();
        return Err(refused(&format!("options are set for {unknown:?}, which is no server here"))
            .hint(format!("there are: {}", known.join(", "))));
    }
    let system = args.system.as_deref().map(values::exact_text).transpose()?.unwrap_or_default();
    let folder = std::env::current_dir().unwrap_or_default();
    let folder = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let client =
        |one: &Named| ServerConfig { name: one.name.clone(), client: args.client.with_handshake().config(json!({})) };
    Ok(HostConfig {
        servers: named.iter().map(client).collect(),
        policies,
        layout,
        seed: args.seed,
        project: args.project.clone().unwrap_or(folder),
        session: format!("session-{}", args.seed),
        system: String::from_utf8_lossy(&system).into_owned(),
        model: model.view(),
    })
}

fn list_options(args: &HostArgs, context: &Context) -> Result<Outcome, CommandError> {
    for (room, knobs) in engine::policies().known() {
        for knob in *knobs {
            let option = format!("{room}.{}", knob.name);
            let line = if args.format == Format::Json {
                json!({"option": option, "takes": knob.kind.to_string(), "default": knob.default, "text": knob.text,
                    "source": knob.source})
                .to_string()
            } else {
                let faint = context.printer.palette.faint;
                format!(
                    "{option} = {}\n    {}\n    {faint}{}; {}{faint:#}",
                    knob.default, knob.text, knob.kind, knob.source
                )
            };
            context.printer.line(&line)?;
        }
    }
    Ok(Outcome::Clean)
}

/// The conversation as it goes.
struct Talk<'a> {
    args: &'a HostArgs,
    context: &'a Context,
    runner: HostRunner,
    model: Model,
    lines: Option<Lines>,
    last_prompt: Option<Prompt>,
    failed: bool,
    /// Pieces of the model's answer were shown as they came.
    shown: bool,
    inferences: Inferences,
    /// The user wants the conversation to end.
    interrupted: bool,
}

/// What happened next.
enum Happened {
    Told(Told),
    Reply(Result<ModelReply, String>),
    Inferred(u64, Saying),
    Line(Option<String>),
    Waited,
    Interrupted,
}

/// Ctrl-C, or a request to end.
async fn interruption() {
    let terminate = async {
        match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(mut signal) => drop(signal.recv().await),
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        () = terminate => {}
    }
}

impl Talk<'_> {
    async fn run(&mut self, mut script: VecDeque<String>) -> Result<(), CommandError> {
        let mut replying = None;
        let mut waiting: Option<tokio::time::Instant> = None;
        let mut is_asked = false;
        loop {
            // What was printed stands before whatever is typed next.
            self.context.printer.flush().map_err(CommandError::output)?;
            let is_free = self.runner.is_idle() && waiting.is_none() && replying.is_none() && self.inferences.is_idle();
            if is_free && self.lines.is_none() {
                let line = script.pop_front().unwrap_or_else(|| "/quit".to_owned());
                waiting = self.take_line(&line)?;
                if waiting.is_none() && self.runner.is_idle() {
                    // It asked for nothing that could happen.
                    continue;
                }
            }
            if is_free && !is_asked && self.lines.is_some() {
                self.complete_words();
                self.lines.iter_mut().for_each(Lines::ask);
                is_asked = true;
            }
            let may_read = is_free || self.lines.as_ref().is_some_and(Lines::is_interactive);
            let happened = tokio::select! {
                told = self.runner.next() => Happened::Told(told),
                reply = play::reply_of(&mut replying) => Happened::Reply(reply),
                (token, saying) = self.inferences.next() => Happened::Inferred(token, saying),
                line = next_line(&mut self.lines), if may_read => Happened::Line(line),
                () = sleep_until(waiting) => Happened::Waited,
                () = interruption() => Happened::Interrupted,
            };
            match happened {
                // First the model, then the conversation, then without ceremony.
                Happened::Interrupted if replying.is_some() => {
                    replying.take().iter().for_each(tokio::task::JoinHandle::abort);
                    self.runner.model(Err("interrupted".to_owned()));
                }
                Happened::Interrupted if self.interrupted => {
                    return Err(CommandError::new(ErrorKind::Interrupted, "interrupted"));
                }
                Happened::Interrupted => {
                    self.interrupted = true;
                    (waiting, self.lines) = (None, None);
                    script.clear();
                    if !self.runner.is_idle() {
                        return Err(CommandError::new(ErrorKind::Interrupted, "interrupted"));
                    }
                }
                Happened::Waited => waiting = None,
                Happened::Reply(reply) => {
                    replying = None;
                    self.failed |= reply.is_err();
                    self.runner.model(reply);
                }
                Happened::Inferred(token, Saying::Piece(piece)) => self.runner.inferred_piece(token, &piece),
                Happened::Inferred(token, Saying::End(outcome)) => {
                    self.inferences.begin_next(&self.model);
                    self.runner.inferred(token, outcome);
                }
                Happened::Line(line) => {
                    is_asked = false;
                    match line {
                        Some(line) => match self.take_line(&line) {
                            Ok(until) => waiting = until,
                            // A slip of the fingers ends no conversation; one in a script does.
                            Err(error) if self.is_interactive() => self.context.printer.complain(&error),
                            Err(error) => return Err(error),
                        },
                        None => {
                            self.lines = None;
                        }
                    }
                }
                Happened::Told(Told::Host(Output::Prompt(prompt))) => {
                    self.show_prompt(&prompt)?;
                    self.last_prompt = Some(prompt.clone());
                    replying = Some(self.ask_model(prompt));
                }
                Happened::Told(Told::Host(Output::Infer(inference))) => {
                    self.inferences.take(inference, &self.model);
                }
                Happened::Told(Told::Host(Output::Done(done))) => {
                    let is_over = done == Done::Ended;
                    self.show_done(&done)?;
                    if is_over {
                        return Ok(());
                    }
                }
                Happened::Told(told) => self.show(&told)?,
            }
        }
    }

    fn is_interactive(&self) -> bool {
        self.lines.as_ref().is_some_and(Lines::is_interactive)
    }

    fn ask_model(&mut self, prompt: Prompt) -> tokio::task::JoinHandle<Result<ModelReply, String>> {
        let model = self.model.clone();
        // What a server may take out of the answer must not be seen before.
        let streams =
            self.args.format == Format::Human && matches!(model, Model::Program { .. }) && !self.runner.host.rewrites();
        self.shown = false;
        tokio::spawn(async move {
            let show = |piece: &str| {
                if streams {
                    eprint_piece(piece);
                }
            };
            model.reply(&prompt, show).await
        })
    }

    /// Does what a line asks; answers until when to wait.
    fn take_line(&mut self, line: &str) -> Result<Option<tokio::time::Instant>, CommandError> {
        match lines::parse(line)? {
            Line::Order(order) => {
                if let (Order::Turn { text, .. }, Format::Human, false) =
                    (&order, self.args.format, self.is_interactive())
                {
                    let bold = self.context.printer.palette.bold;
                    self.print(&format!("{bold}you>{bold:#} {}", visible_text(text)))?;
                }
                self.runner.order(order);
            }
            Line::Wait(time) => return Ok(Some(tokio::time::Instant::now() + time)),
            Line::Prompt if self.args.format == Format::Json => {
                let prompt =
                    self.last_prompt.as_ref().map(|prompt| render::host::prompt_value(prompt, self.runner.now()));
                self.print(&prompt.unwrap_or_else(|| json!({"event": "prompt", "prompt": null})).to_string())?;
            }
            Line::Prompt => match &self.last_prompt {
                None => self.print("there was no prompt yet")?,
                Some(prompt) => self.print(render::host::prompt(prompt, &self.context.printer.palette).trim_end())?,
            },
            Line::State if self.args.format == Format::Json => {
                self.print(&json!({"event": "state", "state": self.runner.host.state()}).to_string())?;
            }
            Line::State => self.print(&visible_text(&self.runner.host.state().to_string()))?,
            Line::Servers if self.args.format == Format::Json => {
                let server = |view: &ServerView| {
                    json!({"name": view.name, "own_name": view.own_name, "open": view.is_open,
                        "tools": view.declared.tools})
                };
                let servers: Vec<Value> = self.runner.host.servers().iter().map(server).collect();
                self.print(&json!({"event": "servers", "servers": servers}).to_string())?;
            }
            Line::Servers => {
                for view in self.runner.host.servers().to_vec() {
                    let state = if view.is_open { "open" } else { "gone" };
                    let tools = view.declared.tools.iter().flatten().cloned().collect::<Vec<_>>().join(" ");
                    let text = format!("{} ({}) {state}; tools: {tools}", view.name, view.own_name);
                    self.print(&visible_text(&text))?;
                }
            }
            Line::Help if self.args.format == Format::Json => {}
            Line::Help => {
                for (name, arguments, text) in COMMANDS {
                    self.print(&format!("  /{:<40} {text}", format!("{name} {arguments}")))?;
                }
            }
            Line::Nothing => {}
        }
        Ok(None)
    }

    fn complete_words(&self) {
        let Some(lines) = &self.lines else { return };
        let mut words = lines.words.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        words.clear();
        for view in self.runner.host.servers() {
            words.push(view.name.clone());
            words.extend(view.declared.tools.iter().flatten().cloned());
        }
    }

    fn print(&mut self, text: &str) -> Result<(), CommandError> {
        if let Some(lines) = &mut self.lines
            && lines.print(&format!("{text}\n"))
        {
            return Ok(());
        }
        self.context.printer.line(text)
    }

    fn show(&mut self, told: &Told) -> Result<(), CommandError> {
        let (at, palette) = (self.runner.now(), self.context.printer.palette);
        match (told, self.args.format) {
            (Told::Host(Output::Fact(fact)), Format::Human) => {
                self.print(&render::host::fact(fact, self.runner.host.servers(), &palette))
            }
            (Told::Host(Output::Fact(fact)), Format::Json) => {
                self.print(&render::host::fact_value(fact, self.runner.host.servers(), at).to_string())
            }
            (Told::Host(Output::Client { output, .. }), _) => {
                if !matches!(output, ClientOutput::Send(_)) {
                    peer::tell(output, self.context);
                }
                Ok(())
            }
            (Told::Stderr(server, bytes), _) => {
                if self.context.verbose > 0 {
                    let name = self.runner.host.servers().get(server.0).map_or("", |view| view.name.as_str());
                    let said = String::from_utf8_lossy(bytes).trim_end().to_owned();
                    self.context.printer.note(&format!("{name} said: {said}"));
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn show_prompt(&mut self, prompt: &Prompt) -> Result<(), CommandError> {
        let at = self.runner.now();
        match self.args.format {
            Format::Json => self.print(&render::host::prompt_value(prompt, at).to_string()),
            Format::Human if self.args.prompts => {
                let text = render::host::prompt(prompt, &self.context.printer.palette);
                self.print(text.trim_end())
            }
            Format::Human => Ok(()),
        }
    }

    fn show_done(&mut self, done: &Done) -> Result<(), CommandError> {
        self.failed |= match done {
            Done::Failed(_) | Done::Tool(Err(_)) => true,
            Done::Tool(Ok(result)) => result["isError"] == true,
            Done::Answer(message) => Envelope::scan(message).error.is_some(),
            _ => false,
        };
        let at = self.runner.now();
        let text = match self.args.format {
            Format::Json => render::host::done_value(done, at).to_string(),
            Format::Human => render::host::done(done, &self.context.printer.palette),
        };
        editor::flush();
        if text.is_empty() { Ok(()) } else { self.print(&text) }
    }
}

/// The pieces of a model's answer, as they come.
fn eprint_piece(piece: &str) {
    use std::io::Write;
    let _ = std::io::stderr().write_all(visible_text(piece).as_bytes());
}

async fn next_line(lines: &mut Option<Lines>) -> Option<String> {
    match lines {
        Some(lines) => lines.next().await,
        None => std::future::pending().await,
    }
}
