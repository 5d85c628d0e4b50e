//! `diff --surface`: compares what servers offer, and checks a server against a lock file.

use super::DiffFormat;
use crate::cli::client_session::{self, ClientOptions};
use crate::cli::printer::note;
use crate::cli::progress::SharedProgress;
use crate::cli::redaction::RedactOptions;
use crate::cli::target::Target;
use crate::cli::{Context, Outcome};
use crate::diff::surface::{self, Effect, Extractor, List, ListKind, Surface, SurfaceReport};
use crate::error::{CommandError, ErrorKind};
use crate::files::output;
use crate::host::client::{Handshake, Output, Params};
use crate::render::diff::surface as shown;
use crate::runtime::{self, Connection, Failure};
use crate::wire::Envelope;
use crate::wire::text::counted;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// At most this many pages of a list are requested.
const MAX_PAGES: usize = 1000;

/// How often the lists are requested if the server says that they changed meanwhile.
const MAX_LISTINGS: usize = 3;

/// The size limit of a lock file.
const MAX_LOCK_BYTES: u64 = 256 << 20;

/// The error with which a server refuses a method that it does not know.
const METHOD_NOT_FOUND: i64 = -32601;

/// The options of `diff --surface`.
#[derive(Debug, Args)]
pub(super) struct SurfaceArgs {
    /// Compare what the servers offer (tools, prompts, resources, capabilities), not what was said. A and B can be
    /// reels, JSON lines or lock files. Without B, compare A with what the server named by the target options offers.
    #[arg(long, help_heading = "Server surface")]
    pub surface: bool,
    /// Write the surface of B, or of the live server, to the lock file A.
    #[arg(long, requires = "surface", help_heading = "Server surface")]
    update: bool,
    /// Exit with 1 if a change is at least this severe.
    #[arg(long, value_enum, default_value_t = FailOn::Breaking, value_name = "SEVERITY", requires = "surface",
        help_heading = "Server surface")]
    fail_on: FailOn,
    /// List the rules by which surfaces are compared, and exit.
    #[arg(long, help_heading = "Server surface")]
    pub rules: bool,
    #[command(flatten, next_help_heading = "Live server")]
    client: ClientOptions,
    #[command(flatten)]
    target: Target,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailOn {
    /// Only breaking changes.
    Breaking,
    /// Breaking changes and risks.
    Risk,
    /// Any change.
    Any,
    /// Never: the exit code only says whether the surfaces could be read.
    Never,
}

impl FailOn {
    fn is_met(self, worst: Option<Effect>) -> bool {
        let least = match self {
            Self::Breaking => Effect::Breaking,
            Self::Risk => Effect::Risk,
            Self::Any => Effect::Harmless,
            Self::Never => return false,
        };
        worst.is_some_and(|worst| worst >= least)
    }
}

impl SurfaceArgs {
    /// Refuses options that say which server to start or reach: without `--surface`, nothing is started.
    pub(super) fn check_unused(&self) -> Result<(), CommandError> {
        if !self.target.is_given() {
            return Ok(());
        }
        Err(CommandError::usage("a live server can only be compared with --surface")
            .hint("to compare what it says, record it: mcpreel record -o b.reel -- SERVER-COMMAND"))
    }
}

/// Compares two surfaces, or writes a lock file.
pub(super) fn run(
    args: &SurfaceArgs,
    left: &Path,
    right: Option<&Path>,
    format: DiffFormat,
    redact: &RedactOptions,
    context: &Context,
) -> Result<Outcome, CommandError> {
    if redact.redact && args.target.is_given() {
        return Err(CommandError::usage("--redact cannot redact what a live server offers")
            .hint("record the server, and compare the recordings"));
    }
    let new = match (right, args.target.is_given()) {
        (Some(_), true) => {
            return Err(CommandError::usage("both B and a live server are given").hint("omit one of them"));
        }
        (Some(path), false) => read(path, redact, context)?,
        (None, true) => runtime::block_on(live(args, context))?,
        (None, false) => {
            return Err(CommandError::usage("nothing to compare with: neither B nor a server is given")
                .hint("name a second reel or lock file, or put a server's command after --"));
        }
    };
    if args.update && !left.exists() {
        return update(left, &new, context);
    }
    if !left.exists() {
        return Err(CommandError::new(ErrorKind::Input, format!("{} does not exist", left.display()))
            .hint("to create it as a lock file, add --update"));
    }
    let old = read(left, redact, context)?;
    if args.update {
        check_is_lock(left)?;
    }
    let report = surface::compare(&old, &new);
    print(&report, format, redact, context)?;
    if args.update {
        return update(left, &new, context);
    }
    Ok(if args.fail_on.is_met(report.worst()) { Outcome::Findings } else { Outcome::Clean })
}

fn check_is_lock(path: &Path) -> Result<(), CommandError> {
    if lock_text(path)?.is_some() {
        return Ok(());
    }
    Err(CommandError::usage(format!("{} is not a lock file, so --update does not replace it", path.display()))
        .hint("name a lock file, such as server.lock.json, as A"))
}

fn update(path: &Path, surface: &Surface, context: &Context) -> Result<Outcome, CommandError> {
    for kind in surface.incomplete() {
        context
            .printer
            .note(&format!("the last page of {} is missing, so the lock file has only a part", kind.method()));
    }
    output::write_whole(path, surface.to_lock().as_bytes())?;
    let counts = ListKind::ALL.iter().filter_map(|kind| {
        let list = surface.lists.get(kind)?;
        Some(counted(list.items.len() as u64, kind.noun()))
    });
    let counts: Vec<String> = counts.collect();
    let about = if counts.is_empty() { "no lists".to_owned() } else { counts.join(", ") };
    context.printer.note(&format!("wrote {}: {about}", path.display()));
    Ok(Outcome::Clean)
}

fn print(
    report: &SurfaceReport,
    format: DiffFormat,
    redact: &RedactOptions,
    context: &Context,
) -> Result<(), CommandError> {
    let printer = &context.printer;
    let mut out = String::new();
    match format {
        DiffFormat::Json => {
            let report = report.to_json();
            printer.json(&report)?;
            return redact.warn_of_report(&report.to_string());
        }
        DiffFormat::Markdown | DiffFormat::Html => shown::markdown(report, &mut out),
        DiffFormat::Human => shown::text(report, printer.width, &printer.palette, &mut out),
    }
    printer.text(&out)?;
    match format {
        DiffFormat::Human => redact.warn_of_text(&out, printer),
        _ => redact.warn_of_report(&out),
    }
}

/// Lists the rules.
pub(super) fn list_rules(format: DiffFormat, context: &Context) -> Result<Outcome, CommandError> {
    let printer = &context.printer;
    let rules = surface::rules::RULES;
    if format == DiffFormat::Json {
        let rules: Vec<Value> = rules
            .iter()
            .map(|rule| {
                json!({"rule": rule.id, "severity": rule.effect.name(), "text": rule.text, "source": rule.source})
            })
            .collect();
        printer.json(&Value::Array(rules))?;
        return Ok(Outcome::Clean);
    }
    let mut out = String::new();
    shown::rules(rules, printer.width, &printer.palette, &mut out);
    printer.text(&out)?;
    Ok(Outcome::Clean)
}

/// Reads a surface from a lock file, a reel or JSON lines.
fn read(path: &Path, redact: &RedactOptions, context: &Context) -> Result<Surface, CommandError> {
    if let Some(text) = lock_text(path)? {
        if redact.redact {
            return Err(CommandError::usage(format!(
                "{} is a lock file, which --redact cannot redact",
                path.display()
            ))
            .hint(
                "redact the recording, and make the lock file of that: mcpreel redact, then diff --surface --update",
            ));
        }
        return Surface::from_lock(&text)
            .map_err(|error| CommandError::new(ErrorKind::Input, format!("{}: {error}", path.display())));
    }
    let mut extractor = Extractor::default();
    let recorded = redact.open(path, Some(note))?;
    let progress = SharedProgress::new(context.printer.progress_through("reading", path));
    let damage = recorded.each_event(|bytes| progress.advance(bytes), |event| extractor.take(event))?;
    progress.finish();
    damage.iter().for_each(|damage| note(&format!("{}: {damage}", path.display())));
    let names = extractor.server_names();
    if names.len() > 1 {
        let names = names.iter().cloned().collect::<Vec<_>>().join(", ");
        note(&format!("{}: it has several servers ({names}); the last of each list counts", path.display()));
    }
    let surface = extractor.finish();
    if surface.is_empty() {
        let what = format!("{}: neither a handshake nor a list of tools, prompts or resources", path.display());
        return Err(CommandError::new(ErrorKind::Input, what)
            .hint("record a session whose client lists the tools, or list them live: mcpreel diff --surface A -- SERVER-COMMAND"));
    }
    Ok(surface)
}

fn open(path: &Path) -> Result<BufReader<File>, CommandError> {
    File::open(path).map(BufReader::new).map_err(|error| CommandError::reading(path, &error))
}

/// Returns whether a file begins like JSON. A pipe, which can be read only once, has no lock file.
fn starts_as_text(path: &Path) -> Result<bool, CommandError> {
    if !path.is_file() {
        return Ok(false);
    }
    let mut file = open(path)?;
    let start = file.fill_buf().map_err(|error| CommandError::reading(path, &error))?;
    Ok(start.trim_ascii_start().starts_with(b"{"))
}

/// Returns the text of a lock file; `None` if the file is something else.
fn lock_text(path: &Path) -> Result<Option<Vec<u8>>, CommandError> {
    if !starts_as_text(path)? {
        return Ok(None);
    }
    let mut file = open(path)?;
    let start = file.fill_buf().map_err(|error| CommandError::reading(path, &error))?;
    if !Surface::is_lock(start) {
        return Ok(None);
    }
    let mut text = Vec::new();
    file.take(MAX_LOCK_BYTES).read_to_end(&mut text).map_err(|error| CommandError::reading(path, &error))?;
    Ok(Some(text))
}

/// The capabilities to declare: some servers offer tools only to clients that have them.
fn capabilities() -> Value {
    json!({"roots": {"listChanged": true}, "sampling": {}, "elicitation": {}})
}

/// Lists everything that a live server offers.
async fn live(args: &SurfaceArgs, context: &Context) -> Result<Surface, CommandError> {
    let (link, server) = client_session::start(&args.target, &args.client, context).await?;
    let (mut connection, handshake) =
        match client_session::open(&server, link, &args.client, capabilities(), context).await {
            Ok(opened) => opened,
            Err(error) => return Err(server.end_after(error, context.notices()).await),
        };
    let listed = list_all(&mut connection, handshake, context).await;
    let listed = listed.map_err(|failure| client_session::failed(failure, &connection.runner.said));
    connection.runner.close().await;
    match listed {
        Ok(surface) => {
            server.end(context.notices()).await;
            Ok(surface)
        }
        Err(error) => Err(server.end_after(error, context.notices()).await),
    }
}

async fn list_all(connection: &mut Connection, handshake: Handshake, context: &Context) -> Result<Surface, Failure> {
    let mut surface = Surface {
        server: handshake.server_info,
        revision: Some(handshake.version_text),
        capabilities: handshake.server_capabilities,
        instructions: handshake.instructions,
        ..Surface::default()
    };
    let declared = |kind: &ListKind| !surface.capabilities[kind.capability()].is_null();
    let kinds: Vec<ListKind> = ListKind::ALL.into_iter().filter(declared).collect();
    let mut progress = context.printer.progress_of("listing", kinds.len() as u64);
    // A server that has just begun may still be adding tools.
    for _ in 0..MAX_LISTINGS {
        let mut has_changed = false;
        for (done, kind) in kinds.iter().enumerate() {
            let on_page = || progress.reach(done as u64);
            let found = list(connection, *kind, &mut has_changed, on_page, context).await;
            let found = found.inspect_err(|_| progress.finish())?;
            surface.lists.extend(found.map(|list| (*kind, list)));
        }
        if !has_changed {
            break;
        }
    }
    progress.finish();
    Ok(surface)
}

fn is_list_change(output: &Output) -> bool {
    let Output::Notification { message } = output else { return false };
    Envelope::scan(message).method.is_some_and(|method| method.ends_with("/list_changed"))
}

/// Requests all pages of a list, and calls `on_page` before each; `None` if the server does not know the method.
async fn list(
    connection: &mut Connection,
    kind: ListKind,
    has_changed: &mut bool,
    mut on_page: impl FnMut(),
    context: &Context,
) -> Result<Option<List>, Failure> {
    let (mut list, mut cursor) = (List::default(), None);
    for _ in 0..MAX_PAGES {
        on_page();
        let params = cursor.as_ref().map_or(Params::Absent, |cursor| Params::Value(json!({ "cursor": cursor })));
        let report = |output: &Output| {
            *has_changed |= is_list_change(output);
            client_session::report(output, context);
        };
        let answer = connection.request(kind.method(), params, report).await?;
        let envelope = Envelope::scan(&answer.message);
        if envelope.error_code() == Some(METHOD_NOT_FOUND) && cursor.is_none() {
            return Ok(None);
        }
        let result = envelope.result.and_then(|result| serde_json::from_slice(result).ok());
        let Some(result): Option<Value> = result else {
            let error = String::from_utf8_lossy(envelope.error.unwrap_or(&answer.message)).into_owned();
            let error = crate::wire::text::excerpt(&error, 300);
            return Err(Failure::Failed(format!("the server returned no list for {}: {error}", kind.method()).into()));
        };
        let next = list.add_page(kind, &result);
        if next.is_none() || next == cursor {
            return Ok(Some(list));
        }
        cursor = next;
    }
    context.printer.note(&format!("{}: read only the first {MAX_PAGES} pages", kind.method()));
    Ok(Some(list))
}
