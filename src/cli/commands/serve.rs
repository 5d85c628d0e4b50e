//! `serve`: be a server, the built-in live one.

use crate::cli::error::{CommandError, ErrorKind};
use crate::cli::target::span;
use crate::cli::{Context, Outcome, live};
use crate::drive::server::{Arrival, read_messages, serve};
use crate::extension::REGISTRY;
use crate::server::{Config, Fired, Plan, Report, Server};
use crate::tap::answers::Answers;
use crate::tap::control::{Heard, Session};
use crate::tap::inject::Sifted;
use crate::wire::Direction;
use clap::Args;
use serde_json::{Map, Value};
use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Be a server on standard input and output: the built-in live server, which declares all five proposals.
///
/// A host starts it as it would any server. It has tools, resources and prompts, a small memory, and sends events by
/// itself (`--plan`), when its tool `emit` is called, or when the process gets SIGUSR1.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel call tools/list -- mcpreel serve
  mcpreel serve --declare hooks --declare reminder
  mcpreel serve --plan '{\"after_ms\":500,\"fire\":{\"kind\":\"reminder\",\"body\":\"look at lib.rs\"}}'
  mcpreel serve --on-signal '{\"kind\":\"push\",\"text\":\"deploy done\"}' & kill -USR1 $!

Facts (pushes answered, refusals, late answers) go to standard error with -v, one JSON object a line, or to --report.")]
pub struct ServeArgs {
    /// Declare only this proposal (repeatable): conversation, reminder, mcpl, hooks, mcpe.
    #[arg(long, value_name = "PROPOSAL")]
    declare: Vec<String>,
    /// Send something by itself: {"after_ms":N,"every_ms":N,"times":N,"fire":{"kind":…}} (repeatable).
    #[arg(long = "plan", value_name = "JSON", value_parser = plan)]
    plans: Vec<Plan>,
    /// Send this whenever the process gets SIGUSR1 (repeatable).
    #[arg(long = "on-signal", value_name = "JSON", value_parser = fired)]
    on_signal: Vec<Fired>,
    #[command(flatten)]
    common: ServeCommon,
}

/// What every way to be a server shares.
#[derive(Debug, Args)]
pub struct ServeCommon {
    /// Write facts here, one JSON object a line.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// How long an answer of the host is waited for.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = span)]
    answer_timeout: Duration,
    /// Draw ids from this seed; the same seed and input give the same bytes.
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
}

fn plan(text: &str) -> Result<Plan, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

fn fired(text: &str) -> Result<Fired, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

pub fn run(args: &ServeArgs, context: &Context) -> Result<Outcome, CommandError> {
    let mut config = args.common.config();
    if !args.declare.is_empty() {
        for name in &args.declare {
            if crate::extension::by_name(name).is_none() {
                let known: Vec<_> = REGISTRY.iter().map(|room| room.descriptor().name).collect();
                return Err(CommandError::usage(format!("there is no proposal {name:?}"))
                    .hint(format!("the proposals are {}", known.join(", "))));
            }
        }
        config.declare = args.declare.iter().cloned().collect();
    }
    config.plans = args.plans.clone();
    run_server("serve", config, args.on_signal.clone(), &args.common, context, |_| false)?;
    Ok(Outcome::Clean)
}

impl ServeCommon {
    /// How long an answer of the host is waited for.
    pub fn answer_timeout(&self) -> Duration {
        self.answer_timeout
    }

    /// Writes a fact where facts are to be written.
    pub fn write_fact(&self, fact: &Value) -> Result<(), CommandError> {
        let Some(path) = &self.report else { return Ok(()) };
        std::fs::write(path, format!("{fact}\n")).map_err(|error| CommandError::writing(path, &error))
    }

    /// A server's settings; ids are drawn from the time where no seed is given.
    pub fn config(&self) -> Config {
        let wall = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let wall_base_ns = i64::try_from(wall.as_nanos()).unwrap_or(i64::MAX);
        Config {
            wall_base_ns,
            seed: self.seed.unwrap_or(wall_base_ns.unsigned_abs()),
            answer_deadline: self.answer_timeout,
            ..Config::default()
        }
    }
}

/// A running server, for its control socket.
struct Serving {
    arrivals: Sender<Arrival>,
    client: Arc<OnceLock<String>>,
}

impl Session for Serving {
    fn put(&self, toward: Direction, stream: u32, message: &[u8], _: Instant) -> Result<(), String> {
        if toward == Direction::ClientToServer {
            return Err("this session is a server itself; messages go toward its client only".to_owned());
        }
        if stream != 0 {
            return Err(format!("there is no stream {stream}: this server has stream 0 only"));
        }
        self.arrivals.send(Arrival::Injected(message.to_vec())).map_err(|_| "the server has ended".to_owned())
    }

    fn fire(&self, fired: Value, heard: Heard) -> Result<(), String> {
        let fired = serde_json::from_value(fired).map_err(|error| format!("this cannot be fired: {error}"))?;
        let heard = move |fact: &Report, last| heard(serde_json::to_value(fact).unwrap_or_default(), last);
        self.arrivals.send(Arrival::Asked(fired, Box::new(heard))).map_err(|_| "the server has ended".to_owned())
    }

    fn facts(&self) -> Map<String, Value> {
        self.client.get().map(|client| ("client".to_owned(), client.clone().into())).into_iter().collect()
    }
}

/// Takes answers to injected requests out of what the host says.
fn sift(answers: &Answers, message: Vec<u8>) -> Option<Vec<u8>> {
    let (rest, taken) = match answers.sift(0, Direction::ClientToServer, &message) {
        Sifted::Pass => (None, Vec::new()),
        Sifted::Taken(taken) => (Some(None), taken),
        Sifted::Cut(rest, taken) => (Some(Some(rest)), taken),
    };
    Answers::deliver(taken);
    rest.unwrap_or(Some(message))
}

/// Runs a server until the host sends no more; `name` is its live session's. Every fact goes to `onlooker`, which may have it told on standard
/// error.
pub fn run_server(
    name: &str,
    config: Config,
    on_signal: Vec<Fired>,
    common: &ServeCommon,
    context: &Context,
    mut onlooker: impl FnMut(&Report) -> bool,
) -> Result<(), CommandError> {
    let failed = |error: io::Error| CommandError::new(ErrorKind::Internal, format!("cannot serve: {error}"));
    if io::stdin().is_terminal() {
        context.printer.note("this is a server: a host starts it and talks to it on standard input and output");
    }
    let mut report_file = match &common.report {
        Some(path) => Some(File::create(path).map_err(|error| CommandError::writing(path, &error))?),
        None => None,
    };
    let (sender, arrivals) = channel();
    read_messages(io::stdin(), sender.clone()).map_err(failed)?;
    let (answers, client) = (Arc::new(Answers::default()), Arc::new(OnceLock::new()));
    let about = live::About {
        name: name.to_owned(),
        role: "serve",
        server: format!("mcpreel {name}"),
        transport: "stdio",
        reel: None,
    };
    // The socket is there as long as the session.
    let (_bound, control) = live::open_socket(about, &context.printer).unzip();
    if let Some(control) = control {
        let serving = Serving { arrivals: sender.clone(), client: Arc::clone(&client) };
        control.start(Arc::new(serving), Arc::clone(&answers)).map_err(failed)?;
    }
    fire_on_signal(on_signal, sender).map_err(failed)?;
    let tell = |fact: &Report| {
        if let Report::Connected { client: name, .. } = fact {
            let _ = client.set(name.clone());
        }
        let line = serde_json::to_value(fact).unwrap_or(Value::Null).to_string();
        if let Some(file) = &mut report_file {
            let _ = writeln!(file, "{line}");
        }
        if onlooker(fact) || context.verbose > 0 {
            let _ = writeln!(io::stderr(), "{line}");
        }
    };
    let served = serve(Server::new(config), &arrivals, io::stdout().lock(), tell, |message| sift(&answers, message));
    match served {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(failed),
    }
}

fn fire_on_signal(fired: Vec<Fired>, arrivals: Sender<Arrival>) -> io::Result<()> {
    if fired.is_empty() {
        return Ok(());
    }
    let mut signals = signal_hook::iterator::Signals::new([signal_hook::consts::SIGUSR1])?;
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        for _ in signals.forever() {
            if arrivals.send(Arrival::Order(fired.clone())).is_err() {
                return;
            }
        }
    })?;
    Ok(())
}
