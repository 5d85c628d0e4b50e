//! The command line: arguments, context, printer, errors and exit codes. Each subcommand has a file below `commands`.

mod client_session;
mod commands;
mod comparing;
mod completing;
mod elsewhere;
mod following;
mod handlers;
mod jq;
mod lane;
mod listening;
mod login;
mod offers;
mod own_line;
mod packs;
mod pager;
mod printer;
mod progress;
mod project;
mod recordings;
mod redaction;
mod repeat;
mod secret_warning;
mod selecting;
mod target;
mod telemetry;
mod text;
mod verdict;

pub use commands::call::checks::Checks;
pub use commands::tui::terminal::with_screen;
pub(crate) use jq::run_if_asked as run_jq_if_asked;

use crate::error::{CommandError, ErrorKind, Notices};
use crate::render::text::printable;
use clap::{Args, CommandFactory, FromArgMatches, Parser, ValueEnum};
use printer::Printer;
use std::io::{self, IsTerminal, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{ExitCode, ExitStatus};
use std::sync::Arc;

/// Record, inspect, validate, compare and inject Model Context Protocol (MCP) traffic.
///
/// Put `mcpreel record --` in front of a server's command in your client's configuration and work as usual. Each
/// session is recorded to a file, a reel. `mcpreel show` prints the newest.
///
/// mcpreel also knows five proposals: drafts of additions to MCP that let servers take part in a conversation. `serve`
/// and `host` implement them, and `fire` sends single messages of them.
#[derive(Debug, Parser)]
#[command(name = "mcpreel", version, propagate_version = false, arg_required_else_help = true, max_term_width = 110)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(flatten)]
    everywhere: Everywhere,
    #[command(subcommand)]
    command: commands::Command,
}

/// The options of every command.
#[derive(Debug, Args)]
struct Everywhere {
    /// When to colour the output.
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = ColorChoice::Auto)]
    color: ColorChoice,
    /// Print more detail to stderr (-vv for even more).
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
}

const EXAMPLES: &str = "\
Examples:
  mcpreel demo                               # a tour with the built-in server
  mcpreel record -- npx -y some-mcp-server   # in place of the server
  mcpreel wrap --all --config .mcp.json      # record a client's servers
  mcpreel show                               # the newest reel
  mcpreel show session.reel 'method:tools/* slow:>500ms'
  mcpreel call tools/call name=echo arguments.message=hi -- some-mcp-server
  mcpreel fire user-message 'which schema?' -- some-memory-server
  mcpreel validate session.reel && mcpreel diff before.reel after.reel

The five proposals are conversation, reminder, mcpl, hooks and mcpe; docs/proposals.md explains them.

Exit codes:
  0    success
  1    findings, differences, failed expectations, error responses, damage
  2    wrong usage
  3    input cannot be read
  4    the other side or the transport failed, or mcpreel could not write
  5    a time limit was exceeded
  130  interrupted
  `record` and `overlay` return the server's exit code.";

/// When to colour the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ColorChoice {
    /// If the output is a terminal that is not dumb (TERM), and NO_COLOR is not set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// How a command ended, unless it failed.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// Exit code 0.
    Clean,
    /// Findings, differences or failed expectations: exit code 1.
    Findings,
    /// The recorded server's exit status, which becomes ours.
    Server(ExitStatus),
}

/// What every command receives.
struct Context {
    printer: Printer,
    verbose: u8,
}

impl Context {
    /// How much is reported while a command runs.
    fn notices(&self) -> Notices {
        Notices { warn: printer::note, is_verbose: self.verbose > 0 }
    }
}

/// Runs the program and returns its exit code.
pub(crate) fn run() -> ExitCode {
    if completing::answer() {
        return ExitCode::SUCCESS;
    }
    // A parent that ignores SIGCHLD passes that on, and then we could not learn how a child ended. Any handler, even
    // one that does nothing, prevents that here, and is not inherited by the children.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGCHLD, Arc::default());
    let Cli { everywhere, command } = match parse() {
        Ok(cli) => cli,
        Err(error) => return refuse(&error),
    };
    let context = Context { printer: Printer::new(everywhere.color), verbose: everywhere.verbose };
    let outcome = catch_unwind(AssertUnwindSafe(|| command.run(&context))).unwrap_or_else(|_| Err(crashed()));
    let outcome = outcome.and_then(|outcome| context.printer.close().map(|()| outcome).map_err(CommandError::output));
    match outcome {
        Ok(Outcome::Clean) => ExitCode::SUCCESS,
        Ok(Outcome::Findings) => ExitCode::from(1),
        Ok(Outcome::Server(status)) => mirror(status),
        Err(error) if error.kind == ErrorKind::Quiet => ExitCode::from(error.kind.exit_code()),
        Err(error) => complain(own_line::explained(error), &context.printer),
    }
}

/// The error for a command that panicked. What it panicked with is on stderr.
fn crashed() -> CommandError {
    CommandError::new(ErrorKind::Internal, "mcpreel crashed; this is a bug")
}

/// Reads the command line. Subcommands are built when they are named; for a help text or an error, all are built.
fn parse() -> Result<Cli, clap::Error> {
    Cli::try_parse().or_else(|error| match error.kind() {
        clap::error::ErrorKind::DisplayVersion => Err(error),
        _ => Cli::from_arg_matches(&command().try_get_matches().map_err(text::without_separator_tip)?),
    })
}

/// A short name for the server at a URL.
fn url_name(url: &str) -> String {
    let parsed = url::Url::parse(url).ok();
    let host = parsed.as_ref().and_then(url::Url::host_str).unwrap_or("server").replace(['[', ']', ':', '/'], "");
    match parsed.as_ref().and_then(url::Url::port) {
        Some(port) => format!("{host}-{port}"),
        None => host,
    }
}

/// Runs a command of this program within another one.
fn run_words(words: &[&str], context: &Context) -> Result<Outcome, CommandError> {
    let words = std::iter::once("mcpreel").chain(words.iter().copied());
    let cli = Cli::try_parse_from(words).map_err(|error| CommandError::usage(error.to_string()))?;
    cli.command.run(context)
}

/// Reports that the trampoline could not become the server, with the exit code that a shell would use.
pub(crate) fn trampoline_failed(error: &io::Error) -> ExitCode {
    let is_denied = error.kind() == io::ErrorKind::PermissionDenied;
    let error = CommandError::new(ErrorKind::Peer, format!("cannot start the server: {error}"));
    Printer::new(ColorChoice::Auto).complain(&error);
    crate::record::startup_error::answer_client(&error.message);
    ExitCode::from(if is_denied { 126 } else { 127 })
}

/// The whole command line, with the description of each command.
pub(crate) fn command() -> clap::Command {
    let mut built = Cli::command();
    built.build();
    described(Cli::command(), &built)
}

/// The commands, still built only when they are named, each with the description that `built` has.
fn described(command: clap::Command, built: &clap::Command) -> clap::Command {
    command.mut_subcommands(|inner| match built.find_subcommand(inner.get_name()) {
        Some(built) => described(inner.about(built.get_about().cloned().unwrap_or_default()), built),
        None => inner,
    })
}

/// What is wrong with a command line, on one line.
fn usage_reason(error: &str) -> &str {
    let first = error.lines().next().unwrap_or_default();
    first.strip_prefix("error: ").unwrap_or(first)
}

/// Prints help, or reports an invalid command line.
fn refuse(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        return match error.print().and_then(|()| io::stdout().flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                complain(CommandError::output(error), &Printer::new(ColorChoice::Auto))
            }
            _ => ExitCode::SUCCESS,
        };
    }
    let reason = CommandError::usage(usage_reason(&error.to_string()));
    if error.kind() == clap::error::ErrorKind::UnknownArgument {
        let explained = own_line::explained(reason);
        if !explained.hints.is_empty() {
            return complain(explained, &Printer::new(ColorChoice::Auto));
        }
    }
    print_usage(error);
    let words = own_line::words_before_command();
    crate::record::startup_error::answer(&words, usage_reason(&error.to_string()));
    ExitCode::from(ErrorKind::Usage.exit_code())
}

/// Reports an error to the user, and to a client that started this process as its server.
fn complain(error: CommandError, printer: &Printer) -> ExitCode {
    printer.complain(&error);
    crate::record::startup_error::answer(&own_line::words_before_command(), &error.message);
    ExitCode::from(error.kind.exit_code())
}

/// Prints what is wrong with the command line, in the form of our other errors. An error may repeat words of the command
/// line and is therefore escaped.
fn print_usage(error: &clap::Error) {
    let text = error.render();
    let is_coloured = io::stderr().is_terminal() && printer::allows_colours();
    let text = if is_coloured { text.ansi().to_string() } else { text.to_string() };
    printer::write_lines(&format!("mcpreel: {}", printable(&text, is_coloured)));
}

/// Ends as the server ended: with its exit code, or by its signal.
fn mirror(status: ExitStatus) -> ExitCode {
    use std::os::unix::process::ExitStatusExt;
    if let Some(signal) = status.signal() {
        // If the server dumped core, it has done so already.
        let none = rustix::process::Rlimit { current: Some(0), maximum: Some(0) };
        let _ = rustix::process::setrlimit(rustix::process::Resource::Core, none);
        let _ = signal_hook::low_level::emulate_default_handler(signal);
        return ExitCode::from(u8::try_from(128 + signal).unwrap_or(255));
    }
    ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(255))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn each(command: &clap::Command, check: &mut impl FnMut(&clap::Command)) {
        check(command);
        command.get_subcommands().for_each(|inner| each(inner, check));
    }

    #[test]
    fn a_format_has_the_same_short_name_everywhere() {
        let (mut seen, mut others) = (0, Vec::new());
        let mut whole = command();
        whole.build();
        each(&whole, &mut |command| {
            for arg in command.get_arguments() {
                seen += usize::from(arg.get_short() == Some('f'));
                if (arg.get_long() == Some("format")) != (arg.get_short() == Some('f')) {
                    others.push(format!("{} {}", command.get_name(), arg.get_id()));
                }
            }
        });
        assert!(others.is_empty(), "{}", others.join("\n"));
        assert!(seen > 20, "{seen} commands have a format");
    }

    #[test]
    fn what_stands_below_a_help_text_fits_a_narrow_terminal() {
        let (mut wide, mut seen) = (Vec::new(), 0);
        let mut whole = command();
        whole.build();
        each(&whole, &mut |command| {
            seen += usize::from(command.get_after_help().is_some());
            let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let lines: Vec<&str> = text.lines().collect();
            // A paragraph of prose is one line, which clap wraps.
            let is_folded = |at: usize| {
                let is_prose = |at: usize| lines.get(at).is_some_and(|line| !line.is_empty() && !line.starts_with(' '));
                is_prose(at) && !is_prose(at + 1) && (at == 0 || !is_prose(at - 1))
            };
            let is_wide = |at: &usize| lines[*at].chars().count() > 80 && !is_folded(*at);
            wide.extend((0..lines.len()).filter(is_wide).map(|at| format!("{}: {}", command.get_name(), lines[at])));
        });
        assert!(wide.is_empty(), "{}", wide.join("\n"));
        assert!(seen > 40, "{seen} commands have such a text");
    }
}
