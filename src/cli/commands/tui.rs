//! `tui`: the terminal interface.

mod choices;
mod fetch;
mod keyboard;
mod pages;
mod reel;
mod runtime;
mod scan;
mod send;
pub(in crate::cli) mod terminal;
#[cfg(test)]
mod tests;

use crate::cli::packs::PackOptions;
use crate::cli::recordings;
use crate::cli::selecting::{filter_of, parse_filter, split_words};
use crate::cli::{Context, Outcome};
use crate::error::{CommandError, ErrorKind};
use crate::files::reels;
use crate::sessions::live::{self, Live};
use crate::tui::effect::Target;
use crate::tui::keys::{KEYS, described};
use clap::Args;
use runtime::{Runtime, Settings};
use send::Recipient;
use std::ffi::OsString;
use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Look at a reel or a live session in the terminal: list, messages, diagrams, statistics, findings.
///
/// Without a reel and without --session, you choose among the live sessions, the reels in the current folder, and those that
/// were recorded without -o.
#[derive(Debug, Args)]
#[command(after_help = after_help())]
pub(crate) struct TuiArgs {
    /// The reel, followed by a filter, as in `mcpreel show`.
    #[arg(value_name = "REEL|FILTER")]
    words: Vec<OsString>,
    /// Follow a live session; the arguments are then only a filter. `mcpreel sessions` lists the sessions.
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
    /// Follow the session of this process, which may not have begun yet (for `record --ui`).
    #[arg(long, value_name = "PID", hide = true, conflicts_with_all = ["words", "session"])]
    of_process: Option<u32>,
    /// A server to which requests of a reel are sent again. It is started anew for each request.
    #[arg(last = true, value_name = "SERVER-COMMAND", conflicts_with = "session")]
    server: Vec<String>,
    #[command(flatten)]
    packs: PackOptions,
}

fn after_help() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| {
        let mut text = "\
Examples:
  mcpreel tui                              # choose a session or a reel
  mcpreel tui session.reel
  mcpreel tui session.reel 'tool:echo or error'
  mcpreel tui --session everything         # follow a live session
  mcpreel tui session.reel -- my-server    # send requests again to my-server

It needs a terminal of at least 40 columns and 10 rows, and uses /dev/tty. \
NO_COLOR or `--color never` turns colours off.
"
        .to_owned();
        for (title, keys) in KEYS {
            text.push_str(&format!("\n{title}:\n"));
            for (keys, meaning) in *keys {
                described(keys, meaning, 78).iter().for_each(|line| text.push_str(&format!("{line}\n")));
            }
        }
        text
    })
}

/// Runs the command.
///
/// # Errors
///
/// The command failed; the error's kind decides the exit code.
pub(super) fn run(args: &TuiArgs, context: &Context) -> Result<Outcome, CommandError> {
    let registry = args.packs.registry()?;
    let live = match args.of_process {
        Some(pid) => Some(session_of(pid)?),
        None => args.session.as_deref().map(live::find).transpose()?,
    };
    let (path, terms) = match &live {
        Some(_) => (None, filter_of(&args.words)?),
        None => split_words(&args.words)?,
    };
    let is_filtered = !terms.is_empty();
    let filter = super::show::of_stream(terms, live.as_ref());
    parse_filter(&filter, registry, path.is_some() || live.is_some())?;
    if path.is_none() && live.is_none() && is_filtered {
        return Err(CommandError::usage("a filter needs a reel or --session").hint("mcpreel tui session.reel FILTER"));
    }
    let target = match (&live, path) {
        (Some(live), _) => {
            live.reel()?;
            Some(Target::Session(live.socket.display().to_string()))
        }
        (None, Some(path)) => Some(Target::Reel(readable(path)?)),
        (None, None) => None,
    };
    let settings = Settings {
        registry,
        palette: context.printer.palette,
        packs: args.packs.clone(),
        server: (!args.server.is_empty()).then(|| Recipient::Command(args.server.clone())),
    };
    Runtime::run(settings, target, &filter).map(|()| Outcome::Clean)
}

/// How long a session may take to begin.
const MAX_WAIT: Duration = Duration::from_secs(60);
/// How often it is looked for.
const PAUSE: Duration = Duration::from_millis(30);

/// The session of a process, when it has begun and has a reel.
fn session_of(pid: u32) -> Result<Live, CommandError> {
    let began = Instant::now();
    let is_of = |live: &Live| live.info.get("pid").and_then(serde_json::Value::as_u64) == Some(pid.into());
    loop {
        let found = live::all()?.into_iter().find(is_of);
        match found {
            Some(live) if live.text("reel").is_some() => return Ok(live),
            _ if began.elapsed() > MAX_WAIT => {
                let error =
                    CommandError::new(ErrorKind::Timeout, format!("the session of process {pid} has not begun"));
                return Err(error.hint("`mcpreel sessions` lists live sessions"));
            }
            _ => std::thread::sleep(PAUSE),
        }
    }
}

/// The path of a reel, after checking that it is one and can be read in any order.
fn readable(path: &Path) -> Result<std::path::PathBuf, CommandError> {
    let path = reels::found(path);
    let opened = recordings::open(&path, None)?;
    if opened.format.is_some() || !path.is_file() {
        let error =
            CommandError::new(ErrorKind::Usage, format!("{}: the interface shows files of reels only", path.display()));
        return Err(error.hint("convert it: mcpreel import FILE -o session.reel"));
    }
    Ok(path)
}
