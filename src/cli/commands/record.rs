//! `record`: records a session without changing it.

mod attach;
mod check;
mod followers;
mod listen;
mod otlp;
mod ui;

use crate::cli::client_session::Overwriting;
use crate::cli::listening::ListenOptions;
use crate::cli::packs::PackOptions;
use crate::cli::printer::note;
use crate::cli::redaction::KeyOptions;
use crate::cli::target::{Target, TargetKind, key_value};
use crate::cli::telemetry::{self, Place, TelemetryOptions};
use crate::cli::{Context, Outcome};
use crate::error::CommandError;
use crate::files::{places, private, reels};
use crate::record::queue::OnOverload;
use crate::record::recording::{self, Need, OnExisting, Plan, Recording};
use crate::record::stdio;
use crate::record::stdio::ToClient;
use crate::redact;
use crate::sessions::live;
use crate::sessions::recording_status::RecordingStatus;
use crate::trace::FileHeader;
use clap::{Args, ValueEnum};
use std::cell::Cell;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Record a session: start a server, relay every byte in both directions, and copy it to a reel.
///
/// Put this command in front of the server's command in a client's configuration. Stdin, stdout, signals, end of
/// input and the exit code are the same as without it.
///
/// With --listen and --url, mcpreel is a reverse proxy in front of an HTTP server: clients use its address instead of
/// the server's. You can also connect a stdio client to an HTTP server (--url without --listen), or HTTP clients to a
/// stdio server (--listen and a command).
#[derive(Debug, Args)]
#[command(mut_arg("session", |session| session.hide(true)))]
#[command(mut_arg("argv", |argv| {
    let help = "The server's command; `--` before it is needed only if it begins with a dash";
    argv.last(false).trailing_var_arg(true).help(help)
}))]
#[command(after_help = "\
Examples:
  mcpreel record -- npx -y @modelcontextprotocol/server-everything
  mcpreel record -o 'reels/{time}-{label}.reel' -- my-server
  mcpreel record -o session.reel --label ci --note build=1234 -- my-server
  mcpreel record --check -- my-server
  mcpreel record --ui --listen 8080 -- my-server
  mcpreel record --otlp http://localhost:4318 -- my-server
  mcpreel record -e API_KEY=… -- my-server   # the value is not recorded
  mcpreel record -o - -- my-server <requests.jsonl | mcpreel show -

Over HTTP:
  mcpreel record --listen 8080 --url https://host/mcp  # a reverse proxy
  mcpreel record --url https://host/mcp         # an HTTP server over stdio
  mcpreel record --listen 8080 -- my-server     # a stdio server over HTTP

The options of `record` must precede the server's command: everything from the first word that is no option of `record`, or after \
`--`, is the command. Other commands of mcpreel need the `--`.

Without -o, the reel is written to $MCPREEL_HOME/reels/, else $XDG_STATE_HOME/mcpreel/, else ~/.local/state/mcpreel/; \
`mcpreel show` finds the newest reel in any of them; with MCPREEL_HOME, in that folder only.

If the -o file exists, mcpreel exits with 2. When a client starts it (stdin is a pipe or a socket, and --listen is \
not given), it records to a free name (session-2.reel) instead and warns on stderr, because a client uses the same \
command every time.

If recording cannot start, the client gets the reason as a JSON-RPC error response to its first request.

Traffic comes first: if the reel cannot be written, is removed or reaches the maximum file size, the session \
continues, mcpreel reports the problem on stderr and in `mcpreel sessions`, and recording resumes in a new file if possible. \
With --require-recording, the server is not started or is stopped instead.

While the session runs, `mcpreel sessions` lists it, and `show`, `stats`, `call` and `fire` use it with --session.

mcpreel passes on lines and bodies of any length; the reel stores a message above 64 MiB in fragments. Where mcpreel \
itself receives the messages (--listen with a command, --url without --listen), --max-message limits them.

mcpreel writes only the server's output to stdout. With -o -, it writes the reel there instead; then no client can \
use the session, and the server's output is only in the reel.")]
pub(crate) struct RecordArgs {
    #[command(flatten)]
    keeping: Keeping,
    /// Keep reels, sockets and logins in this folder, as with MCPREEL_HOME, without a change of the server's environment.
    /// `mcpreel wrap` writes it if MCPREEL_HOME is set.
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,
    /// Check the session while it runs, and report findings on stderr, as `validate` does. The server's exit code stays.
    #[arg(long)]
    check: bool,
    /// Show the session in the terminal while it runs, as `mcpreel tui` does. It needs a terminal (/dev/tty) that neither
    /// the client nor the server uses. What is written to stderr appears there at the end.
    #[arg(long)]
    ui: bool,
    /// Send OpenTelemetry's spans and metrics to this collector while the session runs (OTLP/HTTP; /v1/traces and /v1/metrics
    /// are appended); `env` is the one of OTEL_EXPORTER_OTLP_ENDPOINT. The session never waits for it: what the collector
    /// does not take in time is dropped, and its number reported on stderr.
    #[arg(long, value_name = "URL", value_parser = telemetry::place)]
    otlp: Option<Place>,
    #[command(flatten)]
    telemetry: TelemetryOptions,
    #[command(flatten)]
    packs: PackOptions,
    #[command(flatten)]
    listening: ListenOptions,
    #[command(flatten)]
    target: Target,
}

/// Where and how a session is recorded.
#[derive(Debug, Args)]
pub(crate) struct Keeping {
    /// Write the reel to this file; `-` writes it to stdout instead of the server's output. {time}, {label}, {pid} and
    /// {config-name} (the server's name in the configuration, else the session's name) are replaced; {{ is a brace.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    overwriting: Overwriting,
    /// If the reel cannot be created, do not start the server; if writing fails later, stop it and exit with 4.
    #[arg(long)]
    require_recording: bool,
    /// A name for the reel.
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,
    /// Store a note in the reel (repeatable).
    #[arg(long = "note", value_name = "KEY=VALUE", value_parser = key_value)]
    notes: Vec<(String, String)>,
    /// What to do if recording cannot keep up with the traffic.
    #[arg(long, value_enum, default_value_t = Overload::Block, value_name = "WHAT")]
    on_overload: Overload,
    /// Maximum number of bytes that may wait for the recorder (default: 131072).
    #[arg(long, value_name = "BYTES", default_value_t = 128 << 10, hide_default_value = true)]
    queue_bytes: usize,
    /// Replace secrets in messages and on standard error by pseudonyms before anything is written, as `mcpreel redact`
    /// does, but event by event: a secret that is divided between events stays, and so does one before the event that
    /// gives it away; a later `redact` cannot find it.
    #[arg(long)]
    redact: bool,
    #[command(flatten)]
    key: KeyOptions,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Overload {
    /// Slow the traffic down to the disk's speed; lose nothing.
    Block,
    /// Never slow the traffic down; count losses and note them in the reel.
    Drop,
}

/// Runs the command.
///
/// # Errors
///
/// The command failed; the error's kind decides the exit code.
pub(crate) fn run(args: &RecordArgs, context: &Context) -> Result<Outcome, CommandError> {
    if let Some(home) = &args.home {
        places::choose(home);
    }
    let has_stdin = args.listening.listen.is_none();
    let ui = args.ui.then(|| ui::Ui::start(has_stdin)).transpose()?;
    let outcome = record(args, context);
    ui.into_iter().for_each(ui::Ui::finish);
    outcome
}

fn record(args: &RecordArgs, context: &Context) -> Result<Outcome, CommandError> {
    let server = match args.target.resolve(context)? {
        TargetKind::Command(command) => command,
        TargetKind::Remote(remote) => {
            return match &args.listening.listen {
                Some(address) => listen::run(args, address, &listen::Upstream::Remote(&remote), context),
                None => attach::run(args, &remote, context),
            };
        }
        TargetKind::Session(_) => {
            return Err(CommandError::usage("a live session is already being recorded")
                .hint("watch it with `mcpreel show --follow --session NAME`"));
        }
    };
    if let Some(address) = &args.listening.listen {
        return listen::run(args, address, &listen::Upstream::Command(&server), context);
    }
    let words = server.words();
    // A server that cannot be started must not leave an empty reel, or overwrite one.
    server.prepare().map_err(CommandError::spawning)?;
    let name = args.keeping.session_name(&server_name(&words));
    let prepared = followers::Prepared::new(args)?;
    let recording = args.keeping.start(&name, args.target.configured_name(context), OnExisting::by_stdin())?;
    let followers = prepared.start(args, &recording, context)?;
    let path = recording.place();
    let to_client = if path == Path::new("-") { ToClient::Nowhere } else { ToClient::Stdout };
    if context.verbose > 0 {
        context.printer.note(&format!("recording to {}", path.display()));
    }
    let about = about(name, redact::redact_arguments(&words).join(" "), "stdio", recording.status());
    // The socket exists as long as the session.
    let (_bound, control) = live::open_socket(about, note).unzip();
    let (recorder, end) = recording.into_parts();
    let outcome = stdio::run(&server, recorder, to_client, control, stdio::described(&server));
    let outcome = outcome.map_err(|error| {
        // Nothing began, so there is nothing to keep.
        end.discard();
        CommandError::spawning(error)
    })?;
    followers.finish();
    end.report(&outcome.summary, reports_end(context), note)?;
    Ok(outcome.status.map_or(Outcome::Clean, Outcome::Server))
}

/// Whether the path of the reel is printed at the end: a client that starts the command reads stderr through a pipe.
fn reports_end(context: &Context) -> bool {
    context.verbose > 0 || io::stderr().is_terminal()
}

/// What the live session says about itself. `server` must not contain secrets.
pub(crate) fn about(
    name: String,
    server: String,
    transport: &'static str,
    recording: Arc<RecordingStatus>,
) -> live::About {
    live::About { name, role: "record", server, transport, listen: None, recording: Some(recording) }
}

impl Keeping {
    /// Starts recording to the file that the user named, or to a new reel with the server's name.
    ///
    /// # Errors
    ///
    /// The reel cannot be created.
    pub(crate) fn start(
        &self,
        name: &str,
        config_name: Option<String>,
        on_existing: OnExisting,
    ) -> Result<Recording, CommandError> {
        let output = self.output_path(name, config_name)?;
        let mut header = FileHeader {
            label: self.label.clone(),
            notes: self.notes.iter().cloned().collect(),
            ..recording::header()
        };
        let mut redaction = if self.redact { Some(self.key.learner()?.finish().live()) } else { None };
        if let Some(redaction) = &mut redaction {
            header = redaction.header(&header);
        }
        let (need, on_existing) = match self.require_recording {
            true => (Need::Always, OnExisting::Fail),
            false => (Need::Wanted, on_existing),
        };
        let plan = Plan {
            output: output.as_deref(),
            force: self.overwriting.force,
            name,
            on_existing,
            need,
            header,
            queue_bytes: self.queue_bytes,
            on_overload: match self.on_overload {
                Overload::Block => OnOverload::Block,
                Overload::Drop => OnOverload::Drop,
            },
            redaction: Cell::new(redaction),
        };
        Recording::start(&plan, note)
    }

    /// The file that the user named, with its patterns replaced. Folders whose names have patterns are created.
    fn output_path(&self, name: &str, config_name: Option<String>) -> Result<Option<PathBuf>, CommandError> {
        let Some(text) = self.output.as_deref().and_then(Path::to_str) else { return Ok(self.output.clone()) };
        let value = |pattern: &str| match pattern {
            "time" => Some(reels::name_time()),
            "pid" => Some(std::process::id().to_string()),
            "label" => Some(name.to_owned()),
            "config-name" => Some(plain_name(config_name.as_deref().unwrap_or(name))),
            _ => None,
        };
        let path = reels::with_patterns(text, value).map_err(|unknown| {
            CommandError::usage(format!("unknown pattern {unknown} in {text}"))
                .hint("patterns are {time}, {label}, {pid} and {config-name}; write {{ for a brace")
        })?;
        let path = PathBuf::from(path);
        let folders = Path::new(text).parent().zip(path.parent()).filter(|(before, after)| before != after);
        if let Some((_, folder)) = folders {
            private::create_named_folder(folder).map_err(|error| CommandError::writing(folder, &error))?;
        }
        Ok(Some(path))
    }

    /// Refuses to write the reel to stdout, which belongs to the client.
    ///
    /// # Errors
    ///
    /// The reel is `-`.
    pub(crate) fn check_free_output(&self) -> Result<(), CommandError> {
        if self.output.as_deref() == Some(Path::new("-")) {
            return Err(CommandError::usage("stdout belongs to the client, so the reel cannot be written to it")
                .hint("use another file descriptor: -o /dev/fd/3 3>session.reel"));
        }
        Ok(())
    }

    /// The session's name, for its socket and its reel: the label if there is one, else the server's name; without
    /// characters that are special in paths.
    pub(crate) fn session_name(&self, server: &str) -> String {
        let names = self.label.iter().map(String::as_str).chain([server, "session"]);
        names.map(plain_name).find(|name| !name.is_empty()).unwrap_or_default()
    }
}

/// A name without characters that are special in paths.
fn plain_name(name: &str) -> String {
    let plain = |found: char| if found.is_alphanumeric() || matches!(found, '-' | '_' | '.') { found } else { '-' };
    name.chars().map(plain).collect::<String>().trim_matches(['-', '.']).to_owned()
}

/// A short name for the server, from its command: the first word that is not an option or a launcher. A script with a
/// common name such as `index.js` is named after its package.
pub(crate) fn server_name(words: &[String]) -> String {
    let launchers =
        ["npx", "node", "python", "python3", "uvx", "uv", "run", "sh", "bash", "env", "deno", "bun", "bunx"];
    let plain =
        |word: &&String| !word.starts_with('-') && !word.contains(|found: char| found == '=' || found.is_whitespace());
    let mut names = words.iter().filter(plain).map(|word| reporting_part(word));
    let first = names.clone().next().unwrap_or_default();
    names.find(|name| !launchers.contains(name)).unwrap_or(first).to_owned()
}

/// The part of a path that identifies a program: the last one that is not a common name, else the last one.
fn reporting_part(path: &str) -> &str {
    const USUAL: [&str; 12] =
        ["index", "main", "server", "cli", "app", "__main__", "dist", "build", "src", "lib", "bin", "out"];
    let stem = |part: &str| part.split('.').next().unwrap_or_default().to_owned();
    let last = path.rsplit('/').next().unwrap_or(path);
    path.rsplit('/').find(|part| !part.is_empty() && !USUAL.contains(&&*stem(part))).unwrap_or(last)
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
