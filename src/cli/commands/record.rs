//! `record`: the transparent tap.

use crate::cli::error::{CommandError, ErrorKind};
use crate::cli::target::{Target, TargetKind, key_value};
use crate::cli::{Context, Outcome, live, reels};
use crate::tap::queue::OnOverload;
use crate::tap::recorder::{ForwardOnly, Recorder, RecorderOptions};
use crate::tap::stdio::ToClient;
use crate::tap::{secrets, stdio};
use crate::trace::FileHeader;
use crate::transport::child::{ServerCommand, SpawnError};
use clap::{Args, ValueEnum};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Tap a session: start a server, relay every byte both ways, keep a copy in a reel.
///
/// This is what a client starts in place of its server. Standard input, output, signals, end of input and the exit
/// code are as without the tap; recording runs beside the traffic.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel record -- npx -y @modelcontextprotocol/server-everything
  mcpreel record -o session.reel --label ci --note build=1234 -- python -m my_server
  mcpreel record -e API_KEY=… -- my-server      the value goes to the server, never to the reel

Without -o the reel goes to $XDG_STATE_HOME/mcpreel/ (or $MCPREEL_HOME/reels/); `mcpreel show` finds the newest.
  mcpreel record -o - -- my-server <requests.jsonl | mcpreel show -

While it runs, `mcpreel sessions` lists it, and `show`, `stats`, `call` and `fire` reach it with --session.

Standard output carries the server's bytes and nothing else, but with -o -: then it is the reel's, and there is no
client; the server's output is in the reel only.")]
pub struct RecordArgs {
    /// Write the reel here; `-` is standard output, where there is no client.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Overwrite the file.
    #[arg(long)]
    force: bool,
    /// A name for the reel.
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,
    /// A note kept in the reel (repeatable).
    #[arg(long = "note", value_name = "KEY=VALUE", value_parser = key_value)]
    notes: Vec<(String, String)>,
    /// What to do when recording cannot keep up: hold the traffic back, or record less and say so.
    #[arg(long, value_enum, default_value_t = Overload::Block, value_name = "WHAT")]
    on_overload: Overload,
    /// How many bytes may wait for the recorder.
    #[arg(long, value_name = "BYTES", default_value_t = 768 << 10, hide_default_value = true)]
    queue_bytes: usize,
    #[command(flatten)]
    target: Target,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Overload {
    /// Lose nothing; traffic may slow down to the disk's pace.
    Block,
    /// Never slow traffic; losses are counted and noted in the reel.
    Drop,
}

pub fn run(args: &RecordArgs, context: &Context) -> Result<Outcome, CommandError> {
    let server = match args.target.resolve()? {
        TargetKind::Command(command) => command,
        TargetKind::Remote(_) => return Err(CommandError::usage("--url is not built yet")),
        TargetKind::Session(_) => return Err(CommandError::usage("a live session is recorded already")),
    };
    let words = server.words();
    // A server that cannot be started must not leave an empty reel, or overwrite one.
    server.prepare().map_err(spawn_error)?;
    let path = match &args.output {
        Some(path) => path.clone(),
        None => reels::new_path(&server_name(&words))?,
    };
    let failed = |error| CommandError::writing(&path, &error);
    let (recorder, to_client) = if path == Path::new("-") {
        let recorder = Recorder::start(ForwardOnly(std::io::stdout()), recorder_options(args)).map_err(failed)?;
        (recorder, ToClient::Nowhere)
    } else {
        let file = reels::create(&path, args.force)?;
        (Recorder::start(file, recorder_options(args)).map_err(failed)?, ToClient::Stdout)
    };
    if context.verbose > 0 {
        context.printer.note(&format!("recording to {}", path.display()));
    }
    let about = live::About {
        name: server_name(&words),
        role: "record",
        server: secrets::redact_arguments(&words).join(" "),
        transport: "stdio",
        reel: (path != Path::new("-")).then(|| path.clone()),
    };
    // The socket is there as long as the session.
    let (_bound, control) = live::open_socket(about, &context.printer).unzip();
    let outcome = stdio::run(&server, recorder, to_client, control, describe(&server)).map_err(spawn_error)?;
    let summary = &outcome.summary;
    if summary.lost_bytes > 0 {
        let lost = summary.lost_bytes;
        context.printer.note(&format!("{lost} bytes of traffic are not in {}", path.display()));
    }
    if context.verbose > 0 {
        context.printer.note(&format!("{} events in {}", summary.events, path.display()));
    }
    Ok(Outcome::Server(outcome.status))
}

fn recorder_options(args: &RecordArgs) -> RecorderOptions {
    RecorderOptions {
        header: FileHeader {
            created: 0,
            tool: concat!("mcpreel ", env!("CARGO_PKG_VERSION")).into(),
            label: args.label.clone(),
            notes: args.notes.iter().cloned().collect(),
        },
        queue_bytes: args.queue_bytes,
        on_overload: match args.on_overload {
            Overload::Block => OnOverload::Block,
            Overload::Drop => OnOverload::Drop,
        },
        complain: Box::new(|text| {
            let _ = writeln!(std::io::stderr(), "mcpreel: {text}");
        }),
    }
}

/// What the reel says about the server; secrets in its command line are taken out.
fn describe(server: &ServerCommand) -> serde_json::Map<String, serde_json::Value> {
    let mut told = serde_json::Map::new();
    told.insert("transport".into(), "stdio".into());
    told.insert("command".into(), secrets::redact_arguments(&server.words()).into());
    if !server.env_names().is_empty() {
        told.insert("env".into(), server.env_names().into());
    }
    told
}

/// A short name for the server, from its command: the last word that looks like one.
fn server_name(words: &[String]) -> String {
    let launchers =
        ["npx", "node", "python", "python3", "uvx", "uv", "run", "sh", "bash", "env", "deno", "bun", "bunx"];
    let plain =
        |word: &&String| !word.starts_with('-') && !word.contains(|found: char| found == '=' || found.is_whitespace());
    let mut names = words.iter().filter(plain).map(|word| word.rsplit('/').next().unwrap_or(word));
    let first = names.clone().next().unwrap_or_default();
    names.find(|name| !launchers.contains(name)).unwrap_or(first).to_owned()
}

pub fn spawn_error(error: SpawnError) -> CommandError {
    let told = CommandError::new(ErrorKind::Peer, format!("cannot start the server: {error}"));
    match error {
        SpawnError::NotFound(_) => told.hint("give its full path, or check PATH"),
        _ => told,
    }
}
