//! `reel list`: the user's reels, newest first.

use crate::cli::commands::record::server_name;
use crate::cli::printer::Format;
use crate::cli::{Context, Outcome, elsewhere};
use crate::error::CommandError;
use crate::files::places::{self, Places};
use crate::files::pruning::ReelFile;
use crate::files::reels;
use crate::formats::jsonl;
use crate::render::line::{self, visible_text};
use crate::render::table::{BLANK, fitted, naming, narrowed};
use crate::sessions::live::RecordedHandshake;
use crate::trace::index::Index;
use crate::trace::rebuild::count;
use crate::trace::{Item, ReelReader};
use crate::wire::MessageKind;
use crate::wire::text::counted;
use crate::wire::units::parse_time;
use clap::Args;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tabled::settings::object::Columns;
use tabled::settings::{Alignment, Style};

/// List your reels, newest first: time, label, server, client, messages and size.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel reel list
  mcpreel reel list --server everything --newer-than 2d
  mcpreel reel list --folder . -n 5
  mcpreel reel list --format json | jq -r 'select(.errors > 0) | .path'

The usual folders are those where `record` writes without -o, also in other environments (see `mcpreel record --help`); with \
MCPREEL_HOME, only $MCPREEL_HOME/reels. \
`live` is a reel that is being written. The time is when the recording began; ages count from the last change of the file.")]
pub(crate) struct ListArgs {
    /// Only reels whose label contains this text, ignoring case.
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,
    /// Only reels whose server contains this text in its name, ignoring case.
    #[arg(long, value_name = "TEXT")]
    server: Option<String>,
    /// Only reels whose client contains this text in its name, ignoring case.
    #[arg(long, value_name = "TEXT")]
    client: Option<String>,
    /// Only reels that were written within this time, such as 2d; a number alone is in seconds.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    newer_than: Option<Duration>,
    /// Only reels that were not written within this time, such as 30d; a number alone is in seconds.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    older_than: Option<Duration>,
    /// List at most this many reels.
    #[arg(short = 'n', long, value_name = "COUNT")]
    limit: Option<usize>,
    #[command(flatten)]
    folders: Folders,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

/// Where to look for reels.
#[derive(Debug, Default, Args)]
pub(crate) struct Folders {
    /// Look in this folder instead of the usual ones (repeatable).
    #[arg(long = "folder", value_name = "FOLDER")]
    named: Vec<PathBuf>,
}

/// A reel's file.
pub(in crate::cli::commands) struct Found {
    pub path: PathBuf,
    pub file: ReelFile,
}

impl Found {
    /// What the reel says about itself, as `reel list --format json` prints it. The messages of a reel without an index are
    /// counted only up to this length.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub(in crate::cli::commands) fn describe(&self, max_counted_bytes: u64) -> Result<Value, CommandError> {
        Contents::within(&self.path, max_counted_bytes).map(|contents| contents.to_json(self))
    }
}

impl Folders {
    /// These folders.
    pub(in crate::cli::commands) fn of(named: Vec<PathBuf>) -> Self {
        Self { named }
    }

    /// The reels in these folders, newest first. Links and other special files are left out.
    ///
    /// # Errors
    ///
    /// A named folder cannot be read.
    pub(in crate::cli::commands) fn reels(&self) -> Result<Vec<Found>, CommandError> {
        self.reels_in(&self.all())
    }

    /// The reels in some of these folders, newest first.
    ///
    /// # Errors
    ///
    /// A named folder cannot be read.
    pub(super) fn reels_in(&self, folders: &[PathBuf]) -> Result<Vec<Found>, CommandError> {
        let mut found = Vec::new();
        for folder in folders {
            match std::fs::read_dir(folder) {
                Ok(entries) => found.extend(entries.flatten().filter_map(|entry| reel_at(entry.path()))),
                Err(error) if !self.named.is_empty() => return Err(CommandError::reading(folder, &error)),
                Err(_) => {}
            }
        }
        found.sort_by(|one, other| (other.file.modified, &other.path).cmp(&(one.file.modified, &one.path)));
        Ok(found)
    }

    /// Whether the user named none.
    pub(super) fn are_usual(&self) -> bool {
        self.named.is_empty()
    }

    /// The folders that the user named, else only the one where this process writes reels.
    ///
    /// # Errors
    ///
    /// Nothing determines that folder.
    pub(super) fn named_or_own(&self) -> Result<Vec<PathBuf>, CommandError> {
        if self.named.is_empty() { Ok(vec![reels::folder()?]) } else { Ok(self.named.clone()) }
    }

    fn all(&self) -> Vec<PathBuf> {
        if self.named.is_empty() { Places::here().all_reels() } else { self.named.clone() }
    }

    /// The folders as text.
    pub(super) fn listed(&self) -> String {
        places::listed(&self.all())
    }
}

fn reel_at(path: PathBuf) -> Option<Found> {
    let about = path.symlink_metadata().ok().filter(std::fs::Metadata::is_file)?;
    path.extension().filter(|extension| *extension == "reel")?;
    let is_live = reels::is_being_written(&path);
    let file = ReelFile { modified: about.modified().ok()?, bytes: about.len(), is_live };
    Some(Found { path, file })
}

/// What a reel says about itself.
struct Contents {
    created: i64,
    label: Option<String>,
    server: Option<String>,
    client: Option<String>,
    messages: Option<u64>,
    errors: Option<u64>,
}

/// Counts the failures in a reel: what the filter term `error` selects. The index counts messages, but no failed
/// tools, no failed HTTP exchanges, and nothing within batches.
fn failures(path: &Path, index: &Index) -> Result<u64, CommandError> {
    let has_batches = index.messages.contains_key(MessageKind::Batch.name());
    let may_hide = has_batches || index.methods.contains_key("tools/call") || index.kinds.contains_key("transport");
    if !may_hide {
        let kinds = [MessageKind::Error, MessageKind::Malformed, MessageKind::Noise];
        return Ok(kinds.iter().filter_map(|kind| index.messages.get(kind.name())).map(|tally| tally.0).sum());
    }
    let mut reader = ReelReader::open(path).map_err(|error| CommandError::reel(path, &error))?.loading_undescribed();
    let mut found = 0;
    while let Some(item) = reader.next().map_err(|error| CommandError::reading(path, &error))? {
        if let Item::Block(block) = item {
            found += block.headers.iter().filter(|header| block.event(header).is_failure()).count() as u64;
            reader.recycle(block);
        }
    }
    Ok(found)
}

impl Contents {
    fn of(path: &Path) -> Result<Self, CommandError> {
        Self::within(path, u64::MAX)
    }

    /// Does not count the messages of a reel without an index that is longer than this.
    fn within(path: &Path, max_counted_bytes: u64) -> Result<Self, CommandError> {
        let mut reader = ReelReader::open(path).map_err(|error| CommandError::reel(path, &error))?;
        let failed = |error| CommandError::reading(path, &error);
        let (created, label) = (reader.header().created, reader.header().label.clone());
        let indexed = reader.index().map_err(failed)?.ok().flatten().cloned();
        let is_short = || std::fs::metadata(path).is_ok_and(|about| about.len() <= max_counted_bytes);
        let index = match indexed {
            Some(index) => Some(index),
            None if is_short() => Some(count(&mut reader, |_| {}).map_err(failed)?.0),
            None => None,
        };
        let opening = RecordedHandshake::read(path, 0).unwrap_or_default();
        let server = opening.handshake.and_then(|handshake| handshake.server_info["name"].as_str().map(str::to_owned));
        let messages = index.as_ref().map(|index| index.kinds.get("message").map_or(0, |tally| tally.0));
        let errors = index.as_ref().map(|index| failures(path, index)).transpose()?;
        let server = server.or_else(|| recorded_command(path, index.as_ref()?));
        Ok(Self { created, label, server, client: opening.client, messages, errors })
    }

    fn to_json(&self, found: &Found) -> Value {
        json!({
            "path": found.path.to_string_lossy(), "created": jsonl::rfc3339(self.created),
            "modified": jiff::Timestamp::try_from(found.file.modified).ok().map(|time| time.to_string()),
            "label": self.label, "server": self.server, "client": self.client,
            "messages": self.messages, "errors": self.errors, "size": found.file.bytes, "live": found.file.is_live,
        })
    }
}

/// The name of the server in a reel without a handshake: from its command, or its URL.
fn recorded_command(path: &Path, index: &Index) -> Option<String> {
    index.kinds.get("stream-opened")?;
    let mut reader = ReelReader::open(path).ok()?.with_payloads();
    let Item::Block(block) = reader.next().ok()?? else { return None };
    let opened = block.events().find_map(|event| jsonl::described(&event))?;
    let words = opened["command"].as_array().into_iter().flatten();
    let words: Vec<String> = words.filter_map(|word| word.as_str().map(str::to_owned)).collect();
    match words.is_empty() {
        true => opened["server"].as_str().or(opened["url"].as_str()).map(str::to_owned),
        false => Some(server_name(&words)),
    }
}

pub(super) fn run(args: &ListArgs, context: &Context) -> Result<Outcome, CommandError> {
    let now = SystemTime::now();
    let is_recent = |found: &Found| {
        let age = now.duration_since(found.file.modified).unwrap_or_default();
        args.newer_than.is_none_or(|most| age <= most) && args.older_than.is_none_or(|least| age > least)
    };
    let all = args.folders.reels()?;
    let total = all.len();
    let (mut rows, mut shown, mut bytes) = (vec![HEADINGS.map(str::to_owned).to_vec()], 0, 0);
    for found in all.iter().filter(|found| is_recent(found)) {
        if args.limit.is_some_and(|limit| shown >= limit) {
            break;
        }
        // A file that is no reel is not listed, but named.
        let contents = match Contents::of(&found.path) {
            Ok(contents) => contents,
            Err(error) => {
                context.printer.note(&error.message);
                continue;
            }
        };
        if !args.wants(&contents) {
            continue;
        }
        (shown, bytes) = (shown + 1, bytes + found.file.bytes);
        match args.format {
            Format::Json => context.printer.json(&contents.to_json(found))?,
            Format::Human => rows.push(row(found, &contents)),
        }
    }
    if args.format == Format::Human && shown > 0 {
        context.printer.line(&table(rows, context.printer.width))?;
        context.printer.line(&format!("\n{}, {}", counted(shown as u64, "reel"), line::bytes(bytes)))?;
    }
    if args.folders.are_usual() {
        elsewhere::report_folder();
    }
    if shown == 0 {
        let what = if total == 0 {
            "no reels".to_owned()
        } else {
            format!("no matches among {}", counted(total as u64, "reel"))
        };
        context.printer.note(&format!("{what} in {}", args.folders.listed()));
    }
    Ok(Outcome::Clean)
}

/// The lines of the table of the newest reels, at most `width` columns wide, each with its reel. The first line has the
/// headings. Empty if there are no reels.
///
/// # Errors
///
/// A named folder cannot be read.
pub(in crate::cli::commands) fn listing(
    folders: &Folders,
    limit: usize,
    width: usize,
) -> Result<Vec<(String, Option<PathBuf>)>, CommandError> {
    let (mut rows, mut paths) = (vec![HEADINGS.map(str::to_owned).to_vec()], vec![None]);
    for found in folders.reels()?.into_iter().take(limit) {
        if let Ok(contents) = Contents::of(&found.path) {
            rows.push(row(&found, &contents));
            paths.push(Some(found.path));
        }
    }
    if paths.len() == 1 {
        return Ok(Vec::new());
    }
    Ok(table(rows, Some(width)).lines().map(str::to_owned).zip(paths).collect())
}

impl ListArgs {
    fn wants(&self, contents: &Contents) -> bool {
        let filters =
            [(&self.label, &contents.label), (&self.server, &contents.server), (&self.client, &contents.client)];
        filters.into_iter().all(|(wanted, text)| {
            let has = |wanted: &String| {
                text.as_ref().is_some_and(|text| text.to_lowercase().contains(&wanted.to_lowercase()))
            };
            wanted.as_ref().is_none_or(has)
        })
    }
}

const HEADINGS: [&str; 7] = ["time", "label", "server", "client", "messages", "size", "reel"];

fn row(found: &Found, contents: &Contents) -> Vec<String> {
    let time = jiff::Timestamp::from_nanosecond(contents.created.into()).unwrap_or_default();
    let time = time.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string();
    let text = |text: &Option<String>| visible_text(text.as_deref().unwrap_or_default());
    let name = found.path.file_name().unwrap_or_default().to_string_lossy();
    let live = if found.file.is_live { " (live)" } else { "" };
    vec![
        time,
        text(&contents.label),
        text(&contents.server),
        text(&contents.client),
        contents.messages.unwrap_or_default().to_string(),
        line::bytes(found.file.bytes),
        format!("{}{live}", visible_text(&name)),
    ]
}

/// Below this width, the table has no columns for labels and clients: the reel's name is needed to open it.
const WIDE: usize = 100;

fn table(mut rows: Vec<Vec<String>>, width: Option<usize>) -> String {
    let has_labels = rows.iter().skip(1).any(|row| !row[1].is_empty());
    let is_narrow = width.is_some_and(|width| width < WIDE);
    let is_shown = |column: usize| match column {
        1 => has_labels && !is_narrow,
        3 => !is_narrow,
        _ => true,
    };
    // A column without labels is not missed.
    let is_missed = |at: &usize| !is_shown(*at) && (*at != 1 || has_labels);
    let mut removed: Vec<String> = (0..HEADINGS.len()).filter(is_missed).map(|at| HEADINGS[at].to_owned()).collect();
    for row in &mut rows {
        *row =
            std::mem::take(row).into_iter().enumerate().filter(|(at, _)| is_shown(*at)).map(|(_, cell)| cell).collect();
    }
    let count = rows[0].len();
    // The name of a reel usually begins with its time.
    let removable = [count - 3, 1, count - 2, 0].map(|at| vec![at]);
    removed.extend(width.map(|width| narrowed(&mut rows, BLANK, &removable, 1, width)).unwrap_or_default());
    let is_number = |at: &usize| ["messages", "size"].contains(&rows[0][*at].as_str());
    let (numbers, texts): (Vec<usize>, Vec<usize>) = (1..rows[0].len() - 1).rev().partition(is_number);
    let mut table = fitted(rows, BLANK, &texts, width);
    table.with(Style::empty());
    for column in numbers {
        table.modify(Columns::one(column), Alignment::right());
    }
    naming(&removed, table.to_string())
}
