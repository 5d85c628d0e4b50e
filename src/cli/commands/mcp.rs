//! `mcp`: an MCP server over the recordings, for coding agents.
//!
//! The protocol is that of the built-in server's engine (`server`), which passes requests on. Each is answered by other
//! commands of mcpreel, which run as processes: so a request has limits and can be cancelled, whatever the recording is.

mod answer;
mod catalogue;
mod child;
mod copies;
mod cursor;
mod library;
mod listing;
mod messages;
mod prompts;
mod replay;
mod reports;
mod resources;
mod runner;
mod tools;

use crate::cli::packs::PackOptions;
use crate::cli::target::Limits;
use crate::cli::{Context, Outcome};
use crate::error::{CommandError, ErrorKind};
use crate::record::startup_error;
use crate::render::text;
use crate::runtime::server::{ServerInput, serve};
use crate::server::{Config, Report, Server};
use crate::transport::local::stdio::read_messages;
use crate::wire::units::{parse_size, parse_time};
use clap::Args;
use library::Library;
use runner::Runner;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;
use tools::{Replay, Settings};

/// The minimum and the maximum of `--max-bytes`.
const SIZES: std::ops::RangeInclusive<u64> = 8192..=(1 << 20);

/// Run an MCP server over your recordings, for coding agents (stdio, read-only).
///
/// Its tools list reels and live sessions, show and filter messages, count, check, compare and explain. Agents see only
/// reels in the usual folders and in those that --dir names. Text of recordings is quoted, because it may contain
/// instructions for a model. Answers are redacted. The server writes no files, except for redacted copies without a name in the
/// temporary folder, which are gone when it ends.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel call tools/list -- mcpreel mcp
  mcpreel call tools/call name=list_recordings -- mcpreel mcp --dir .
  mcpreel mcp --dir runs --max-bytes 16K
  mcpreel mcp --allow-replay -- my-server

For Claude Code: claude mcp add mcpreel -- mcpreel mcp

An answer has at most 32 KiB of text, and as much structured content (--max-bytes). What does not fit is on the next page, or \
the answer says how to get it. A request takes at most 60 seconds (--timeout), and clients can cancel it. If a long recording \
is not redacted by then, the work goes on, and the same request succeeds later.

docs/guide/agents.md describes the tools, other clients, and the risks.")]
pub(crate) struct McpArgs {
    /// Also allow reels in this folder and below it (repeatable; default: the current folder). Those in the usual folders
    /// are always allowed.
    #[arg(long, value_name = "FOLDER")]
    dir: Vec<PathBuf>,
    /// Do not replace secrets in answers. Agents, and whoever runs their models, then see them.
    #[arg(long)]
    no_redact: bool,
    /// A file with a key of at least 16 random bytes, which only you can read: the same secret gets the same pseudonym
    /// wherever this key is used (default: a new random key each time).
    #[arg(long, value_name = "FILE", conflicts_with = "no_redact")]
    key_file: Option<PathBuf>,
    /// The maximum length of an answer: of its text, and of its structured content. From 8K to 1M.
    #[arg(long, value_name = "SIZE", default_value = "32K", value_parser = size)]
    max_bytes: u64,
    /// How long a request may take.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_time)]
    timeout: Duration,
    /// Offer the tool `replay`, which sends recorded requests to the command after `--`: those that only read.
    #[arg(long, requires = "argv")]
    allow_replay: bool,
    /// Let `replay` send all recorded requests, also calls of tools that may change or destroy something.
    #[arg(long, requires = "allow_replay")]
    allow_destructive: bool,
    #[command(flatten)]
    limits: Limits,
    /// The server's command for --allow-replay.
    #[arg(last = true, value_name = "CMD", requires = "allow_replay")]
    argv: Vec<OsString>,
}

fn size(text: &str) -> Result<u64, String> {
    let size = parse_size(text)?;
    if SIZES.contains(&size) { Ok(size) } else { Err("expected a size from 8K to 1M".to_owned()) }
}

/// Runs the command.
///
/// # Errors
///
/// The command failed; the error's kind decides the exit code.
pub(super) fn run(args: &McpArgs, context: &Context) -> Result<Outcome, CommandError> {
    if io::stdin().is_terminal() {
        context.printer.note("this is an MCP server, to be started by a client: it reads messages from stdin");
    }
    let library = Library::new(&args.dir, !args.no_redact, args.key_file.clone())?;
    let replay =
        args.allow_replay.then(|| Replay { command: args.argv.clone(), allows_destructive: args.allow_destructive });
    let settings = Settings {
        max_bytes: usize::try_from(args.max_bytes).unwrap_or(usize::MAX),
        limit: args.timeout,
        replay,
        registry: PackOptions::default().registry()?,
    };
    let config = Config {
        name: "mcpreel".to_owned(),
        declare: Default::default(),
        memory: false,
        catalogue: Some(Arc::new(catalogue::of(&settings, &library))),
        ..Config::default()
    };
    let (sender, arrivals) = channel();
    let runner = Runner::start(library, settings, &sender).map_err(failed)?;
    read_messages(io::stdin(), args.limits.max_message, "the client", ServerInput::of_host(sender)).map_err(failed)?;
    startup_error::begin();
    let report = |report: &Report| {
        if context.verbose > 0 {
            let line = text::json(&serde_json::to_value(report).unwrap_or_default());
            let _ = writeln!(io::stderr(), "{line}");
        }
    };
    let served =
        serve(Server::new(config), &arrivals, io::stdout().lock(), report, Some, |request| runner.attend(request));
    match served {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Outcome::Clean),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            Err(CommandError::new(ErrorKind::Peer, error.to_string()))
        }
        other => other.map(|()| Outcome::Clean).map_err(failed),
    }
}

fn failed(error: io::Error) -> CommandError {
    CommandError::new(ErrorKind::Internal, format!("cannot serve: {error}"))
}
