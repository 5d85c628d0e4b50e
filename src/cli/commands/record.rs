//! `record`: the transparent tap.

mod attach;
mod listen;

use crate::cli::listening::ListenOptions;
use crate::cli::printer::note;
use crate::cli::target::{Target, TargetKind, key_value};
use crate::cli::{Context, Outcome};
use crate::error::{CommandError, ErrorKind};
use crate::process::child::{ServerCommand, SpawnError};
use crate::record::queue::OnOverload;
use crate::record::recording::{self, Need, OnExisting, Plan, Recording};
use crate::record::startup_error;
use crate::record::status::Status;
use crate::record::stdio;
use crate::record::stdio::ToClient;
use crate::redact;
use crate::sessions::live;
use crate::trace::FileHeader;
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Tap a session: start a server, relay every byte both ways, keep a copy in a reel.
///
/// This is what a client starts in place of its server. Standard input, output, signals, end of input and the exit
/// code are as without the tap; recording runs beside the traffic. With --listen it is a reverse proxy in front of a
/// server that is reached over HTTP: clients use its address in place of the server's. Either kind of server can be put
/// behind the other: --url alone speaks to the client on standard input and output, --listen before a command over
/// HTTP.
#[derive(Debug, Args)]
#[command(mut_arg("session", |session| session.hide(true)))]
#[command(after_help = "\
Examples:
  mcpreel record -- npx -y @modelcontextprotocol/server-everything
  mcpreel record -o session.reel --label ci --note build=1234 -- my-server
  mcpreel record -e API_KEY=… -- my-server    the reel never has the value
  mcpreel record -o - -- my-server <requests.jsonl | mcpreel show -

Over HTTP:
  mcpreel record --listen 8080 --url https://host/mcp   a reverse proxy
  mcpreel record --url https://host/mcp         for clients that start processes
  mcpreel record --listen 8080 -- my-server     a stdio server over HTTP

Without -o the reel goes to $MCPREEL_HOME/reels/, else $XDG_STATE_HOME/mcpreel/, else ~/.local/state/mcpreel/; \
`mcpreel show` finds the newest of all of them, whatever environment a client gave the tap.

Where the file of -o exists already, a script fails with exit code 2. A client names the same file at each start, so \
where standard input is a pipe or a socket the reel gets a free name (session-2.reel), and a warning on standard error \
says which. Standard input that is a terminal, a file or /dev/null, and --listen, mean a script.

A client that starts a tap which cannot start gets the reason as a JSON-RPC error to its first request.

Traffic comes first: where a reel cannot be written, is removed or reaches the limit of a file's size, the session goes \
on, standard error and `mcpreel sessions` report the problem, and recording resumes in a new file where possible. \
--require-recording makes all of this fatal: the server does not start, or is ended, and the exit code is 4.

While it runs, `mcpreel sessions` lists it, and `show`, `stats`, `call` and `fire` reach it with --session.

A line or body of any length passes. Where it is longer than 64 MiB, the reel shows it in fragments. Where a message ends here (--listen before a \
command, --url without --listen), --max-message is its limit.

Standard output carries the server's bytes and nothing else, but with -o -: then it is the reel's, and there is no \
client; the server's output is in the reel only.")]
pub struct RecordArgs {
    #[command(flatten)]
    keeping: Keeping,
    #[command(flatten)]
    listening: ListenOptions,
    #[command(flatten)]
    target: Target,
}

/// Where and how a session is kept.
#[derive(Debug, Args)]
pub struct Keeping {
    /// Write the reel here; `-` is standard output, where there is no client.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Overwrite the file.
    #[arg(long)]
    force: bool,
    /// Fail where the session cannot be recorded: before the server starts, or with exit code 4 as soon as writing fails.
    #[arg(long)]
    require_recording: bool,
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
    #[arg(long, value_name = "BYTES", default_value_t = 128 << 10, hide_default_value = true)]
    queue_bytes: usize,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Overload {
    /// Lose nothing; traffic may slow down to the disk's pace.
    Block,
    /// Never slow traffic; losses are counted and noted in the reel.
    Drop,
}

pub fn run(args: &RecordArgs, context: &Context) -> Result<Outcome, CommandError> {
    let server = match args.target.resolve(context)? {
        TargetKind::Command(command) => command,
        TargetKind::Remote(remote) => {
            return match &args.listening.listen {
                Some(address) => listen::run(args, address, &listen::Upstream::Remote(&remote), context),
                None => attach::run(args, &remote, context),
            };
        }
        TargetKind::Session(_) => {
            return Err(CommandError::usage("a live session is recorded already")
                .hint("watch it with `mcpreel show --follow --session NAME`"));
        }
    };
    if let Some(address) = &args.listening.listen {
        return listen::run(args, address, &listen::Upstream::Command(&server), context);
    }
    let words = server.words();
    // A server that cannot be started must not leave an empty reel, or overwrite one.
    server.prepare().map_err(spawn_error)?;
    let name = args.keeping.session_name(server_name(&words));
    let recording = args.keeping.start(&name, OnExisting::by_stdin())?;
    let path = recording.place();
    let to_client = if path == Path::new("-") { ToClient::Nowhere } else { ToClient::Stdout };
    if context.verbose > 0 {
        context.printer.note(&format!("recording to {}", path.display()));
    }
    let about = about(name, redact::redact_arguments(&words).join(" "), "stdio", recording.status());
    // The socket is there as long as the session.
    let (_bound, control) = live::open_socket(about, note).unzip();
    let (recorder, end) = recording.into_parts();
    startup_error::begin();
    let outcome = stdio::run(&server, recorder, to_client, control, describe(&server)).map_err(spawn_error)?;
    end.report(&outcome.summary, context.verbose > 0, note)?;
    Ok(Outcome::Server(outcome.status))
}

/// What the live session says about itself; `server` without its secrets.
pub fn about(name: String, server: String, transport: &'static str, recording: Arc<Status>) -> live::About {
    live::About { name, role: "record", server, transport, listen: None, recording: Some(recording) }
}

impl Keeping {
    /// Starts recording where the user wants it, or into a new reel with the server's name.
    pub fn start(&self, name: &str, on_existing: OnExisting) -> Result<Recording, CommandError> {
        let header = FileHeader {
            label: self.label.clone(),
            notes: self.notes.iter().cloned().collect(),
            ..recording::header()
        };
        let (need, on_existing) = match self.require_recording {
            true => (Need::Always, OnExisting::Fail),
            false => (Need::Wanted, on_existing),
        };
        let plan = Plan {
            output: self.output.as_deref(),
            force: self.force,
            name,
            on_existing,
            need,
            header,
            queue_bytes: self.queue_bytes,
            on_overload: match self.on_overload {
                Overload::Block => OnOverload::Block,
                Overload::Drop => OnOverload::Drop,
            },
        };
        Recording::start(&plan, note)
    }

    /// Refuses to write the reel where the client is.
    pub fn check_free_output(&self) -> Result<(), CommandError> {
        if self.output.as_deref() == Some(Path::new("-")) {
            return Err(CommandError::usage("standard output is the client's; the reel cannot go there too")
                .hint("write to another descriptor: -o /dev/fd/3 3>session.reel"));
        }
        Ok(())
    }

    /// The session's name, for its socket and its reel: the label where there is one, else what the server is called.
    pub fn session_name(&self, server: String) -> String {
        let plain = |found: char| if found.is_alphanumeric() || matches!(found, '-' | '_' | '.') { found } else { '-' };
        let name: String = self.label.as_ref().unwrap_or(&server).chars().map(plain).collect();
        let name = name.trim_matches(['-', '.']);
        if name.is_empty() { server } else { name.to_owned() }
    }
}

/// What the reel says about the server; secrets in its command line are taken out.
pub fn describe(server: &ServerCommand) -> serde_json::Map<String, serde_json::Value> {
    let mut reported = serde_json::Map::new();
    reported.insert("transport".into(), "stdio".into());
    reported.insert("command".into(), redact::redact_arguments(&server.words()).into());
    if !server.env_names().is_empty() {
        reported.insert("env".into(), server.env_names().into());
    }
    reported
}

/// A short name for the server, from its command: the last word that looks like one. A script that is called what all
/// are called has its package's name.
pub fn server_name(words: &[String]) -> String {
    let launchers =
        ["npx", "node", "python", "python3", "uvx", "uv", "run", "sh", "bash", "env", "deno", "bun", "bunx"];
    let plain =
        |word: &&String| !word.starts_with('-') && !word.contains(|found: char| found == '=' || found.is_whitespace());
    let mut names = words.iter().filter(plain).map(|word| reporting_part(word));
    let first = names.clone().next().unwrap_or_default();
    names.find(|name| !launchers.contains(name)).unwrap_or(first).to_owned()
}

/// The part of a path that tells what it is: its last, or where that is one of the usual, the first above it that is
/// not.
fn reporting_part(path: &str) -> &str {
    const USUAL: [&str; 12] =
        ["index", "main", "server", "cli", "app", "__main__", "dist", "build", "src", "lib", "bin", "out"];
    let stem = |part: &str| part.split('.').next().unwrap_or_default().to_owned();
    let last = path.rsplit('/').next().unwrap_or(path);
    path.rsplit('/').find(|part| !part.is_empty() && !USUAL.contains(&&*stem(part))).unwrap_or(last)
}

pub fn spawn_error(error: SpawnError) -> CommandError {
    let reported = CommandError::new(ErrorKind::Peer, format!("cannot start the server: {error}"));
    match error {
        SpawnError::NotFound(_) => reported.hint("give its full path, or check PATH"),
        _ => reported,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_called_what_reports_it_apart() {
        let name = |line: &str| server_name(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(name("npx -y @scope/server-everything stdio"), "server-everything");
        assert_eq!(name("node /x/node_modules/@scope/server-everything/dist/index.js stdio"), "server-everything");
        assert_eq!(name("python -m mcp_server_time"), "mcp_server_time");
        assert_eq!(name("/opt/tools/memory-server --port=1"), "memory-server");
        assert_eq!(name("node index.js"), "index.js");
    }
}
