//! `sessions`: the live sessions of this user.

use super::stats::Stats;
use crate::cli::error::CommandError;
use crate::cli::live::{self, HOW_TO_START, Live, Opening};
use crate::cli::{Context, Outcome};
use crate::render::line::visible_text;
use crate::trace::{AheadReader, ReelReader};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::path::Path;
use tabled::builder::Builder;
use tabled::settings::object::Columns;
use tabled::settings::peaker::Priority;
use tabled::settings::{Alignment, Style, Width};

/// List the live sessions: every running `record` and `serve` of yours.
///
/// What a name stands for can be attached to: `show`, `stats`, `call` and `fire` take it with --session. Counts are
/// read from the session's reel. Sockets that a killed session left are removed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel sessions
  mcpreel show --follow --session everything
  mcpreel call tools/list --session everything
  mcpreel sessions --format json | jq -r 'select(.waiting > 0) | .name'

A name may be shortened to any beginning that no other session shares.")]
pub struct SessionsArgs {
    /// How to print.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A table.
    Human,
    /// One JSON object a session, each on a line.
    Json,
}

/// What a session's reel says.
struct Seen {
    stats: Stats,
    opening: Opening,
}

impl Seen {
    fn of(reel: &Path) -> Option<Self> {
        let reader = ReelReader::open(reel).ok()?.following();
        let stats = Stats::read(&mut AheadReader::start(reader).ok()?).ok()?;
        Some(Self { stats, opening: Opening::read(reel, 0).ok()? })
    }
}

pub fn run(args: &SessionsArgs, context: &Context) -> Result<Outcome, CommandError> {
    let sessions = live::all()?;
    if sessions.is_empty() && args.format == Format::Human {
        context.printer.note(&format!("no session lives; {HOW_TO_START}"));
    }
    let rows = sessions.iter().map(|session| {
        let seen = session.text("reel").and_then(|reel| Seen::of(Path::new(reel)));
        to_json(session, seen.as_ref())
    });
    match args.format {
        Format::Json => rows.into_iter().try_for_each(|row| context.printer.line(&row.to_string()))?,
        Format::Human if sessions.is_empty() => {}
        Format::Human => context.printer.line(&table(rows, context.printer.width))?,
    }
    Ok(Outcome::Clean)
}

/// The session as an object; what is not known is `null`.
fn to_json(session: &Live, seen: Option<&Seen>) -> Value {
    let started = session.text("started").and_then(|text| text.parse::<jiff::Timestamp>().ok());
    let age = started.map(|started| jiff::Timestamp::now().duration_since(started).as_secs_f64().max(0.0));
    let client = session.text("client").or_else(|| seen?.opening.client.as_deref());
    let version = seen.and_then(|seen| seen.opening.handshake.as_ref()).map(|handshake| &handshake.version_text);
    let member = |name: &str| session.info.get(name).cloned().unwrap_or_default();
    json!({
        "name": session.name, "role": member("role"), "server": member("server"), "client": client,
        "transport": member("transport"), "version": version, "pid": member("pid"), "started": member("started"),
        "age_seconds": age, "messages": seen.map(|seen| seen.stats.messages()),
        "errors": seen.map(|seen| seen.stats.errors()), "waiting": seen.map(|seen| seen.stats.waiting()),
        "reel": member("reel"), "socket": session.socket.to_string_lossy(), "answers": !session.info.is_empty(),
    })
}

/// A table narrower than this has no room for reels.
const ROOM_FOR_REELS: usize = 100;

fn table(rows: impl Iterator<Item = Value>, width: Option<usize>) -> String {
    let mut builder = Builder::default();
    let mut columns = vec!["name", "role", "client", "age", "messages", "errors", "waiting", "server", "reel"];
    columns.truncate(if width.is_some_and(|width| width < ROOM_FOR_REELS) { 8 } else { 9 });
    builder.push_record(columns.clone());
    for row in rows {
        builder.push_record(columns.iter().map(|column| cell(&row, column)));
    }
    let mut table = builder.build();
    table.with(Style::blank()).modify(Columns::new(3..7), Alignment::right());
    if let Some(width) = width {
        table.with(Width::truncate(width).suffix("…").priority(Priority::max(true)));
    }
    table.to_string()
}

/// What stands in a column, short enough for a table; `--format json` has all of it.
fn cell(row: &Value, column: &str) -> String {
    let last = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    match (column, &row[column]) {
        ("role", _) if row["answers"] == false => "does not answer".to_owned(),
        ("age", _) => row["age_seconds"].as_f64().map_or_else(|| "?".to_owned(), |age| age_text(age as i64)),
        ("reel", Value::String(path)) => visible_text(&last(path)),
        ("server", Value::String(command)) if !command.contains("://") => {
            let (program, arguments) = command.split_once(' ').unwrap_or((command, ""));
            visible_text(format!("{} {arguments}", last(program)).trim_end())
        }
        (_, Value::String(text)) => visible_text(text),
        (_, Value::Null) => "?".to_owned(),
        (_, other) => other.to_string(),
    }
}

fn age_text(seconds: i64) -> String {
    match seconds {
        ..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        _ => format!("{} h {:02} min", seconds / 3600, seconds / 60 % 60),
    }
}
