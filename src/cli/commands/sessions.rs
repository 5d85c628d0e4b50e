//! `sessions`: the user's live sessions.

use crate::cli::{Context, Outcome, elsewhere};
use crate::error::CommandError;
use crate::render::line::visible_text;
use crate::render::table::{BLANK, fitted};
use crate::session::stats::Counter;
use crate::sessions::live::{self, HOW_TO_START, Live, RecordedHandshake, looked_in};
use crate::trace::{AheadReader, ReelReader};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use tabled::settings::object::Columns;
use tabled::settings::{Alignment, Style};

/// List your live sessions.
///
/// Each running `record`, `serve`, `overlay` and `host` is a live session. `show`, `stats`, `call` and `fire` use a
/// session with --session NAME. Counts are read from the session's reel; `waiting` is the number of requests
/// without a response. Sockets of killed sessions are removed. A recorder over HTTP has one stream per client
/// session, listed below it as NAME#2 (`streams` in JSON).
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel sessions
  mcpreel show --follow --session everything
  mcpreel show --follow --session gateway#2      # one stream
  mcpreel call tools/list --session everything
  mcpreel sessions --format json | jq -r 'select(.waiting > 0) | .name'

You can shorten a name to any unique prefix. If several sessions have the same name, use \
the path of the session's socket instead.

Sessions are found even if a client started them in another environment: mcpreel searches the folders of this environment, \
/run/user/UID/mcpreel and /tmp/mcpreel-UID, and the folders listed in ~/.local/state/mcpreel/places. With MCPREEL_HOME, it \
searches only $MCPREEL_HOME/run, and names the sockets of other live sessions. Problems with \
a session's recording are reported below the table (`recording` in JSON).")]
pub(crate) struct SessionsArgs {
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A table.
    Human,
    /// One JSON object per session, each on a line.
    Json,
}

/// What a session's reel contains.
struct SessionFacts {
    /// Counts by stream.
    streams: BTreeMap<u32, Counter>,
}

impl SessionFacts {
    fn of(reel: &Path) -> Option<Self> {
        let reader = ReelReader::open(reel).ok()?.following().loading_undescribed();
        Some(Self { streams: Counter::by_stream(&mut AheadReader::start(reader).ok()?).ok()? })
    }

    /// The numbers of messages, errors and unanswered requests of a stream, or of all if it is 0.
    fn counts(&self, stream: u32) -> [u64; 3] {
        let mut sums = [0; 3];
        for (_, stats) in self.streams.iter().filter(|(number, _)| stream == 0 || **number == stream) {
            let counts = [stats.messages(), stats.failed(), stats.waiting() as u64];
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        sums
    }
}

/// Runs the command.
///
/// # Errors
///
/// The command failed; the error's kind decides the exit code.
pub(super) fn run(args: &SessionsArgs, context: &Context) -> Result<Outcome, CommandError> {
    let sessions = live::all()?;
    if sessions.is_empty() && args.format == Format::Human {
        context.printer.note(&format!("no live sessions ({}); {HOW_TO_START}", looked_in()));
    }
    elsewhere::report_sessions();
    let reported: Vec<Value> = sessions.iter().map(to_json).collect();
    match args.format {
        Format::Json => reported.iter().try_for_each(|session| context.printer.json(session))?,
        Format::Human if sessions.is_empty() => {}
        Format::Human => {
            context.printer.line(&table(&reported, context.printer.width))?;
            problems(&reported).iter().try_for_each(|problem| context.printer.line(problem))?;
        }
    }
    Ok(Outcome::Clean)
}

/// The lines of the table, at most `width` columns wide, each with what `--session` takes for it. The first line has the
/// headings. Empty if there are no live sessions.
///
/// # Errors
///
/// The folder of the sessions cannot be used.
pub(super) fn listing(width: usize) -> Result<Vec<(String, Option<String>)>, CommandError> {
    let sessions = live::all()?;
    let reported: Vec<Value> = sessions.iter().map(to_json).collect();
    if reported.is_empty() {
        return Ok(Vec::new());
    }
    let mut names = vec![None];
    for session in &reported {
        let socket = session["socket"].as_str().unwrap_or_default();
        names.push(Some(socket.to_owned()));
        let streams = session["streams"].as_array().into_iter().flatten();
        names.extend(streams.map(|stream| Some(format!("{socket}#{}", stream["stream"]))));
    }
    let table = table(&reported, Some(width));
    Ok(table.lines().map(str::to_owned).zip(names).collect())
}

/// The session as an object, with its streams if it has several. Unknown members are `null`.
fn to_json(session: &Live) -> Value {
    let reel = session.text("reel").map(Path::new);
    let seen = reel.and_then(SessionFacts::of);
    let started = session.text("started").and_then(|text| text.parse::<jiff::Timestamp>().ok());
    let age = started.map(|started| jiff::Timestamp::now().duration_since(started).as_secs_f64().max(0.0));
    let member = |name: &str| session.info.get(name).cloned().unwrap_or_default();
    let mut reported = json!({
        "name": session.name, "role": member("role"), "server": member("server"),
        "transport": member("transport"), "pid": member("pid"), "started": member("started"),
        "age_seconds": age, "listen": member("listen"), "reel": member("reel"),
        "recording": member("recording"),
        "socket": session.socket.to_string_lossy(),
        "answers": !session.info.is_empty(),
    });
    let injected: Vec<u64> = session
        .info
        .get("injected_waiting")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_u64)
        .collect();
    let injected = |stream: u32| injected.iter().filter(|of| stream == 0 || **of == u64::from(stream)).count() as u64;
    add_traffic(&mut reported, reel, seen.as_ref(), 0, injected(0));
    if let Some(client) = session.text("client") {
        reported["client"] = client.into();
    }
    if let Some(streams) = session.streams() {
        let stream = |number: u32| {
            let mut reported = json!({"stream": number});
            add_traffic(&mut reported, reel, seen.as_ref(), number, injected(number));
            reported
        };
        reported["streams"] = streams.into_iter().map(stream).collect();
    }
    reported
}

/// Adds what the reel says about a stream, or about all if it is 0. The session knows which injected requests still
/// wait; the reel also has those whose sender no longer does.
fn add_traffic(reported: &mut Value, reel: Option<&Path>, seen: Option<&SessionFacts>, stream: u32, injected: u64) {
    let opening =
        reel.filter(|_| seen.is_some()).and_then(|reel| RecordedHandshake::read(reel, stream).ok()).unwrap_or_default();
    let [messages, errors, waiting] = match seen {
        Some(seen) => {
            let [messages, errors, waiting] = seen.counts(stream);
            [messages, errors, waiting + injected].map(Value::from)
        }
        None => [Value::Null, Value::Null, Value::Null],
    };
    reported["client"] = opening.client.into();
    reported["version"] = opening.handshake.map(|handshake| handshake.version_text).into();
    (reported["messages"], reported["errors"], reported["waiting"]) = (messages, errors, waiting);
}

/// Problems with the recordings of sessions, one line each.
fn problems(sessions: &[Value]) -> Vec<String> {
    let problem = |session: &Value| {
        let recording = &session["recording"];
        let (name, problem) = (session["name"].as_str()?, recording["problem"].as_str()?);
        let state = if recording["active"] == true { "being recorded again" } else { "not being recorded" };
        Some(visible_text(&format!("{name} is {state}: {problem}")))
    };
    sessions.iter().filter_map(problem).collect()
}

/// A narrower table has no columns for the server and the reel.
const RESERVED_SERVERS: usize = 100;

fn table(sessions: &[Value], width: Option<usize>) -> String {
    let mut columns = vec!["name", "role", "client", "age", "messages", "errors", "waiting", "server", "reel"];
    if width.is_some_and(|width| width < RESERVED_SERVERS) {
        columns.truncate(7);
    }
    let mut rows = vec![columns.iter().map(|column| (*column).to_owned()).collect::<Vec<_>>()];
    for session in sessions {
        let is_twin = |other: &&Value| other["name"] == session["name"];
        let mut row: Vec<String> = columns.iter().map(|column| cell(session, column)).collect();
        if sessions.iter().filter(is_twin).count() > 1 {
            row[0] = cell(session, "socket");
        }
        rows.push(row);
        for stream in session["streams"].as_array().into_iter().flatten() {
            rows.push(columns.iter().map(|column| stream_cell(session, stream, column)).collect());
        }
    }
    let mut table = fitted(rows, BLANK, &[8, 7, 2, 1], width);
    table.with(Style::empty()).modify(Columns::new(3..7), Alignment::right());
    table.to_string()
}

/// A cell of one of a session's streams: with the name that --session takes, and empty where it would repeat the
/// session.
fn stream_cell(session: &Value, stream: &Value, column: &str) -> String {
    match column {
        "name" => format!("  {}#{}", session["name"].as_str().unwrap_or_default(), stream["stream"]),
        "client" | "messages" | "errors" | "waiting" => cell(stream, column),
        _ => String::new(),
    }
}

/// The text of a cell, short enough for a table; `--format json` has all of it.
fn cell(row: &Value, column: &str) -> String {
    let last = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    match (column, &row[column]) {
        ("role", _) if row["answers"] == false => "not responding".to_owned(),
        ("age", _) => row["age_seconds"].as_f64().map_or_else(|| "?".to_owned(), |age| age_text(age as i64)),
        ("reel", Value::String(path)) => visible_text(&last(path)),
        ("server", Value::String(server)) => {
            let (program, arguments) = server.split_once(' ').unwrap_or((server, ""));
            let program = if server.contains("://") { program.to_owned() } else { last(program) };
            let listen = row["listen"].as_str().map(|url| format!(" at {url}")).unwrap_or_default();
            visible_text(&format!("{}{listen}", format!("{program} {arguments}").trim_end()))
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
