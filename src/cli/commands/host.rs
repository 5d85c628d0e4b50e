//! `host`: be a host, over any number of servers.

use crate::cli::error::{CommandError, ErrorKind};
use crate::cli::hosting::editor::{self, Lines};
use crate::cli::hosting::lines::{self, COMMANDS, Line};
use crate::cli::hosting::model::Model;
use crate::cli::hosting::session::HostSession;
use crate::cli::hosting::{self, Named, Parties, Place};
use crate::cli::live::{self, About};
use crate::cli::peer::{self, ClientOptions};
use crate::cli::target::{Target, span};
use crate::cli::{Context, Outcome, values};
use crate::drive::host::{HostRunner, Told};
use crate::host::client::Output as ClientOutput;
use crate::host::engine::{self, Done, Host, HostConfig, ModelReply, Order, Output, ServerConfig};
use crate::host::prompt::{Layout, Prompt};
use crate::render::host as render;
use crate::render::line::visible_text;
use crate::tap::answers::Answers;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::path::PathBuf;
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
  mcpreel host --options                     what the proposals leave open

Exit codes: 0 all was done; 1 an order failed; 2 usage; 4 no server could be reached.")]
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
    let named = servers(args)?;
    let config = config(args, &named)?;
    let model = match (&args.model_command, args.model) {
        (Some(command), _) => Model::program(command, args.model_timeout)?,
        (None, ModelArg::Echo) => Model::Echo,
        (None, ModelArg::None) => Model::None,
    };
    let mut script: VecDeque<String> = args.say.iter().map(|text| format!("/turn {text}")).collect();
    script.extend(args.doing.iter().cloned());
    for line in &script {
        lines::parse(line)?;
    }
    let lines = if script.is_empty() { Some(Lines::open()?) } else { None };
    peer::block_on(async {
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
        let mut talk = Talk { args, context, runner, model, lines, last_prompt: None, failed: false, shown: false };
        let outcome = talk.run(script).await;
        let Talk { runner, failed, .. } = talk;
        let reached = runner.host.servers().iter().any(|view| view.declared.ready) || named.is_empty();
        runner.close().await;
        parties.end(&recorder).await;
        recorder.finish();
        outcome?;
        if args.format == Format::Json {
            context.printer.line(&json!({"event": "reel", "path": reel.display().to_string()}).to_string())?;
        } else {
            context.printer.note(&format!("the session is in {}", reel.display()));
        }
        if !reached {
            return Err(CommandError::new(ErrorKind::Peer, "no server could be reached"));
        }
        Ok(if failed { Outcome::Findings } else { Outcome::Clean })
    })
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
        let path = std::path::Path::new(program);
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

fn config(args: &HostArgs, named: &[Named]) -> Result<HostConfig, CommandError> {
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
}

/// What happened next.
enum Happened {
    Told(Told),
    Reply(Result<ModelReply, String>),
    Line(Option<String>),
    Waited,
}

impl Talk<'_> {
    async fn run(&mut self, mut script: VecDeque<String>) -> Result<(), CommandError> {
        let mut replying = None;
        let mut waiting: Option<tokio::time::Instant> = None;
        let mut is_asked = false;
        loop {
            // What was printed stands before whatever is typed next.
            self.context.printer.flush().map_err(CommandError::output)?;
            let is_free = self.runner.is_idle() && waiting.is_none() && replying.is_none();
            if is_free && self.lines.is_none() {
                let line = script.pop_front().unwrap_or_else(|| "/quit".to_owned());
                waiting = self.take_line(&line)?;
            }
            if is_free
                && !is_asked
                && let Some(lines) = &self.lines
            {
                self.complete_words();
                lines.ask();
                is_asked = true;
            }
            let may_read = is_free || self.lines.as_ref().is_some_and(Lines::is_interactive);
            let happened = tokio::select! {
                told = self.runner.next() => Happened::Told(told),
                reply = reply_of(&mut replying) => Happened::Reply(reply),
                line = next_line(&mut self.lines), if may_read => Happened::Line(line),
                () = until(waiting) => Happened::Waited,
            };
            match happened {
                Happened::Waited => waiting = None,
                Happened::Reply(reply) => {
                    replying = None;
                    self.failed |= reply.is_err();
                    self.runner.model(reply);
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
        let streams = self.args.format == Format::Human && matches!(model, Model::Program { .. });
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
            Line::Prompt => match &self.last_prompt {
                None => self.print("there was no prompt yet")?,
                Some(prompt) => self.print(render::prompt(prompt, &self.context.printer.palette).trim_end())?,
            },
            Line::State => self.print(&self.runner.host.state().to_string())?,
            Line::Servers => {
                for view in self.runner.host.servers().to_vec() {
                    let state = if view.is_open { "open" } else { "gone" };
                    let tools = view.declared.tools.iter().flatten().cloned().collect::<Vec<_>>().join(" ");
                    let text = format!("{} ({}) {state}; tools: {tools}", view.name, view.own_name);
                    self.print(&visible_text(&text))?;
                }
            }
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
                self.print(&render::fact(fact, self.runner.host.servers(), &palette))
            }
            (Told::Host(Output::Fact(fact)), Format::Json) => {
                self.print(&render::fact_value(fact, self.runner.host.servers(), at).to_string())
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
            Format::Json => self.print(&render::prompt_value(prompt, at).to_string()),
            Format::Human if self.args.prompts => {
                let text = render::prompt(prompt, &self.context.printer.palette);
                self.print(text.trim_end())
            }
            Format::Human => Ok(()),
        }
    }

    fn show_done(&mut self, done: &Done) -> Result<(), CommandError> {
        self.failed |= matches!(done, Done::Failed(_) | Done::Tool(Err(_)));
        let at = self.runner.now();
        let text = match self.args.format {
            Format::Json => render::done_value(done, at).to_string(),
            Format::Human => render::done(done, &self.context.printer.palette),
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

async fn reply_of(
    replying: &mut Option<tokio::task::JoinHandle<Result<ModelReply, String>>>,
) -> Result<ModelReply, String> {
    match replying {
        Some(task) => task.await.unwrap_or_else(|error| Err(error.to_string())),
        None => std::future::pending().await,
    }
}

async fn next_line(lines: &mut Option<Lines>) -> Option<String> {
    match lines {
        Some(lines) => lines.next().await,
        None => std::future::pending().await,
    }
}

async fn until(at: Option<tokio::time::Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
