//! `serve --scenario`: the part that one built-in server of a scenario plays by itself, on standard input and output.

use crate::cli::error::CommandError;
use crate::cli::hosting::play;
use crate::cli::hosting::verdict::{self, Junit};
use crate::cli::{Context, Outcome, peer};
use crate::drive::builtin;
use crate::scenario::{Player, ServerKind};
use crate::server::Server;
use crate::transport::link::Served;
use crate::transport::{Incoming, Link};
use crate::wire::LineFramer;
use clap::{Args, ValueEnum};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// A scenario, and where its report goes.
#[derive(Debug, Args)]
#[command(next_help_heading = "A scenario's part")]
pub struct ScenarioArgs {
    /// Play one built-in server's part of this scenario: what it fires and when, the faults on its connection, and which
    /// messages are expected there. The host is whoever starts this; the report goes to standard error.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["declare", "era", "settings", "plans", "on_signal", "memory",
        "folders", "commands", "report", "answer_timeout", "seed", "listen", "allowed", "record",
        "webhook", "channel_socket", "feed"])]
    pub scenario: Option<PathBuf>,
    /// Which server of the scenario to be.
    #[arg(long = "as", value_name = "NAME", requires = "scenario")]
    part: Option<String>,
    /// Write the scenario's report as JUnit XML.
    #[arg(long, value_name = "FILE", requires = "scenario")]
    junit: Option<PathBuf>,
    /// How the scenario's report is told.
    #[arg(long, value_enum, default_value_t = Format::Human, requires = "scenario")]
    format: Format,
}

/// How a report is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// In words.
    Human,
    /// As one JSON object on one line.
    Json,
}

/// Serves one host; the report goes to standard error once it has gone.
pub fn run(path: &Path, args: &ScenarioArgs, context: &Context) -> Result<Outcome, CommandError> {
    let scenario = play::read(path)?;
    let name = args.part.as_deref();
    let junit = args.junit.as_deref().map(Junit::open).transpose()?;
    let built_in: Vec<&str> = scenario
        .servers
        .iter()
        .filter(|plan| matches!(plan.kind, ServerKind::BuiltIn(_)))
        .map(|plan| plan.name.as_str())
        .collect();
    let name = match (name, &built_in[..]) {
        (Some(name), _) => name,
        (None, [only]) => only,
        (None, names) => {
            return Err(CommandError::usage(format!("the scenario has {} built-in servers", names.len()))
                .hint(format!("name one with --as; there are: {}", names.join(", "))));
        }
    };
    let unknown = || {
        CommandError::usage(format!("the scenario has no built-in server {name:?}"))
            .hint(format!("there are: {}", built_in.join(", ")))
    };
    let (id, part) = scenario.played_by(name).ok_or_else(unknown)?;
    let ServerKind::BuiltIn(config) = &part.servers[id.0].kind else { return Err(unknown()) };
    let mut config = (**config).clone();
    config.wall_base_ns = i64::try_from(jiff::Timestamp::now().as_nanosecond()).unwrap_or(i64::MAX);
    let player = Player::new(&part);
    let report = peer::block_on(async {
        Ok(builtin::play(Server::new(config), id, player, standard_streams(), |_, _, _| {}).await)
    })?;
    let file = path.display().to_string();
    if let Some(junit) = junit {
        junit.write(&report, &file)?;
    }
    context.printer.report(|palette| match args.format {
        Format::Human => verdict::text(&report, &file, context.verbose > 0, palette),
        Format::Json => format!("{}\n", play::to_json(&report, None)),
    });
    Ok(verdict::outcome(&report))
}

/// This process's own standard input and output as a link.
fn standard_streams() -> Link {
    let (link, Served { mut outgoing, incoming }) = Link::served();
    std::thread::spawn(move || {
        let mut framer = LineFramer::default();
        let mut chunk = vec![0u8; 64 << 10];
        let mut stdin = std::io::stdin();
        while let Ok(got @ 1..) = stdin.read(&mut chunk) {
            framer.push(&chunk[..got], |frame| {
                let message = frame.framing.body(frame.payload);
                if !message.trim_ascii().is_empty() {
                    let _ = incoming.blocking_send(Incoming::Message(message.to_vec()));
                }
            });
        }
        let _ = incoming.blocking_send(Incoming::Closed);
    });
    tokio::spawn(async move {
        while let Some(mut message) = outgoing.recv().await {
            message.push(b'\n');
            let mut out = std::io::stdout().lock();
            if out.write_all(&message).and_then(|()| out.flush()).is_err() {
                return;
            }
        }
    });
    link
}
