//! `survive`: what an MCP client does with the proposals' messages.

use crate::cli::client_session::Overwriting;
use crate::cli::own_line::check_words;
use crate::cli::printer::write_lines;
use crate::cli::printer::{Format, note};
use crate::cli::redaction::RedactOptions;
use crate::cli::secret_warning::Shared;
use crate::cli::target::Limits;
use crate::cli::{Context, Outcome};
use crate::error::CommandError;
use crate::probe::{Plan, Settings};
use crate::process::child::ServerCommand;
use crate::proposals::{REGISTRY, by_name};
use crate::record::recording::{Need, OnExisting};
use crate::render;
use crate::render::line::visible_text;
use crate::runtime;
use crate::runtime::client_probe::{self, ClientProbe};
use crate::runtime::shared_recorder::SharedRecorder;
use crate::wire::units::parse_time;
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// How long to wait for the effects of a notification.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(100);

/// Test how an MCP client handles the proposals' messages.
///
/// Shows what the client answers, refuses and ignores, and what breaks it.
///
/// Starts the client with a server that declares all five proposals, and sends one after another every message that
/// they let a server send, and two unknown ones. A ping after each message shows whether the client is still alive. A
/// client that broke is started again for the rest. If a client ends by itself, a run without messages shows that it
/// would have ended anyway. Responses to the client's own requests are delayed by 2 seconds, so that it stays
/// connected.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel survive -- python my_client.py       # appends the server's command
  mcpreel survive -- my-client -s {} --quiet   # or replaces {} with it
  mcpreel survive -- sh -c 'my-client --stdio \"$MCPREEL_SERVER\"'
  mcpreel survive -- my-client --url {url}     # Streamable HTTP
  mcpreel survive -- claude -p hi --strict-mcp-config --mcp-config \\
    '{\"mcpServers\":{\"mcpreel\":{json}}}'
  mcpreel survive --only mcpl --format json -- my-client | jq .messages

Placeholders for the server in the client's command: the word {} is replaced with the server's command and arguments; within words, {command} with its \
quoted command line, {json} with an object with command and args as in configurations, {url} with its URL. Without a placeholder, \
the command is appended. The client's environment contains the command line as MCPREEL_SERVER and the URL as MCPREEL_SERVER_URL.

Outcomes: answered (with deviations from the proposal), refused (an error response), ignored (no response to a request), \
taken (the client continued after a notification), objected (an error response to a notification), broke (the \
client exited, closed the connection or stopped answering pings), unclear (it exited, but also does so without messages), \
untried (not sent).

What an SDK does not pass on to its application cannot be seen from outside; the column \"in stock SDKs\" says what is known about that.

Exit codes: 0 nothing broke the client, 1 something did, 4 the client never connected or did not complete a handshake.")]
pub(crate) struct SurviveArgs {
    /// Test only this proposal's declarations and messages (repeatable): conversation, reminder, mcpl, hooks, mcpe.
    #[arg(long, value_name = "PROPOSAL")]
    only: Vec<String>,
    /// How long to wait for a response to a message or a ping.
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = parse_time)]
    wait: Duration,
    /// How long the client may take from its start to the end of the handshake.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_time)]
    connect: Duration,
    /// Maximum number of restarts of the client, not counting those that test declarations.
    #[arg(long, value_name = "NUMBER", default_value_t = 20)]
    restarts: usize,
    /// Write the reel to this file, one stream per session (default: a new file in the folder of reels).
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    overwriting: Overwriting,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Format::Human)]
    format: Format,
    #[command(flatten)]
    redact: RedactOptions,
    #[command(flatten)]
    limits: Limits,
    /// The client's command, with placeholders for the server.
    #[arg(last = true, required = true, value_name = "CLIENT-COMMAND")]
    argv: Vec<OsString>,
}

/// Runs the command.
///
/// # Errors
///
/// The command failed; the error's kind decides the exit code.
pub(super) fn run(args: &SurviveArgs, context: &Context) -> Result<Outcome, CommandError> {
    if let Some(name) = args.only.iter().find(|name| by_name(name).is_none()) {
        let known: Vec<_> = REGISTRY.iter().map(|proposal| proposal.descriptor().name).collect();
        return Err(CommandError::usage(format!("unknown proposal {name:?}"))
            .hint(format!("the proposals are {}", known.join(", "))));
    }
    check_words(&ServerCommand { argv: args.argv.clone(), ..ServerCommand::default() })?;
    let on_existing = if args.overwriting.force { OnExisting::Overwrite } else { OnExisting::Fail };
    let recorder = SharedRecorder::start("survive", args.output.as_deref(), Need::ToBegin, on_existing, note)?;
    let probed = runtime::block_on(client_probe::probe(
        ClientProbe {
            argv: args.argv.clone(),
            plan: Plan::of(&args.only),
            settings: Settings {
                wait: args.wait,
                settle: DRAIN_TIMEOUT,
                connect: args.connect,
                restarts: args.restarts,
            },
            limit: args.limits.max_message,
            copy_out: if context.verbose > 0 { copy_out } else { |_| {} },
            warn: note,
        },
        &recorder,
    ));
    recorder.finish(note);
    let mut probe_report = probed?;
    let is_only_seen = args.format == Format::Human && context.printer.is_terminal;
    let mut shared = Shared::new(&args.redact, is_only_seen)?;
    probe_report.texts_mut().for_each(|text| *text = shared.text(std::mem::take(text)));
    match args.format {
        Format::Json => context.printer.json(&serde_json::to_value(&probe_report).unwrap_or_default())?,
        Format::Human => {
            context.printer.append(|out| {
                render::probe::write(&probe_report, &context.printer.palette, context.printer.width, out.gathered())
            })?;
        }
    }
    shared.print();
    Ok(if probe_report.broken() > 0 { Outcome::Findings } else { Outcome::Clean })
}

/// Copies the client's output to stderr, line by line.
fn copy_out(bytes: &[u8]) {
    let shown: Vec<String> = String::from_utf8_lossy(bytes).split('\n').map(visible_text).collect();
    write_lines(&shown.join("\n"));
}
