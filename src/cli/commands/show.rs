//! `show`: pretty-print, filter and follow reels.

mod forms;
mod print_worker;
mod tree;

use crate::cli::jq::Jq;
use crate::cli::printer::note;
use crate::cli::{Context, Outcome};
use crate::error::{CommandError, ErrorKind};
use crate::record::reels;
use crate::session::filter::{Facts, Filter, TERMS};
use crate::session::view::{Viewer, Words};
use crate::sessions::live::{self, Live};
use crate::trace::{AheadReader, Block, EventHeader, Item, MessageHeader, ReelReader};
use crate::wire::MessageKind;
use clap::{Args, ValueEnum};
use forms::{Form, Shown};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Show what crossed the wire: a line a message, in full, as a table or as JSON.
#[derive(Debug, Args)]
#[command(after_help = after_help())]
pub struct ShowArgs {
    /// The reel (`-` for standard input; the newest recording where none is named), then a filter.
    #[arg(value_name = "REEL|FILTER")]
    words: Vec<String>,
    /// How to print.
    #[arg(short, long, value_enum, default_value_t = Format::List)]
    format: Format,
    /// What to show: events, or the tree of checkpoints that servers handed out, with branches, rollbacks, what could
    /// not be undone and what is gone (`--format json` for one object a connection).
    #[arg(long, value_enum, default_value_t = View::Events, conflicts_with_all = ["full", "raw", "jq", "follow", "from", "seq",
        "limit"])]
    view: View,
    /// Short for `--format full`.
    #[arg(long, conflicts_with = "format")]
    full: bool,
    /// The exact bytes of messages and standard error (of other events where the filter names them), a line end after
    /// each.
    #[arg(long, conflicts_with_all = ["format", "full"])]
    raw: bool,
    /// Do not fold long strings in the full form.
    #[arg(long)]
    no_fold: bool,
    /// Run a jq program on each event's JSON object and print what it gives: strings as they are (on a terminal, with
    /// control characters made visible), anything else as JSON.
    #[arg(long, value_name = "EXPR", conflicts_with_all = ["format", "full", "raw"])]
    jq: Option<String>,
    /// Keep reading as the reel grows.
    #[arg(long)]
    follow: bool,
    /// The reel of a live session; every word is then a filter's. `mcpreel sessions` lists them.
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
    /// How times are shown.
    #[arg(long, value_enum, default_value_t = TimeForm::Offset, value_name = "FORM")]
    time: TimeForm,
    /// Begin at this time: seconds from the reel's beginning, or an RFC 3339 time.
    #[arg(long, value_name = "TIME")]
    from: Option<String>,
    /// Begin at this event.
    #[arg(long, value_name = "NUMBER", conflicts_with = "from")]
    seq: Option<u64>,
    /// Show at most so many events.
    #[arg(short = 'n', long, value_name = "COUNT")]
    limit: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One line an event.
    List,
    /// Each event with its whole message, laid out and coloured.
    Full,
    /// Tables of a thousand rows at most.
    Table,
    /// One JSON object an event, as `export --format jsonl` writes it, with what was derived added.
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum View {
    /// Events.
    Events,
    /// Checkpoints.
    Tree,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TimeForm {
    /// Seconds from the reel's beginning.
    Offset,
    /// The clock on the wall here.
    Clock,
    /// RFC 3339 in UTC.
    Utc,
}

/// No line of the examples and terms is wider.
const HELP_WIDTH: usize = 80;

fn after_help() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| {
        let mut text = "\
Examples:
  mcpreel show                                        the newest recording
  mcpreel show session.reel --full 'tool:echo'
  mcpreel show session.reel 'method:tools/* (slow:>500ms or error)'
  mcpreel show --follow 'dir:s2c kind:notification'
  mcpreel show --follow --session everything injected
  mcpreel show session.reel --view tree
  mcpreel show session.reel --jq '.message.params.name // empty'

A line of the list has, from the left: seq (the event's number, as in --seq), the time, → to the server or ← to the \
client (· is neither), the size, how long the answer took, the request's id, #N for stream N where there are several \
(as in stream:N and --session NAME#N), the method, what it is about, → what came of it.

Filter terms, joined by and (or nothing), or, not and parentheses:
"
        .to_owned();
        for (term, meaning) in TERMS {
            let mut column = HELP_WIDTH;
            text.push_str(&format!("  {term:<18}"));
            for word in meaning.split(' ') {
                if column + 1 + word.len() > HELP_WIDTH {
                    text.push_str(if column == HELP_WIDTH { "" } else { "\n                    " });
                    column = 20;
                }
                text.push_str(&format!(" {word}"));
                column += 1 + word.len();
            }
            text.push('\n');
        }
        text
    })
}

/// How long a follower waits before it looks again.
const FOLLOW_PAUSE: Duration = Duration::from_millis(40);
/// How often a follower of a live session looks whether that lives.
const LOOK_WHETHER_IT_LIVES: Duration = Duration::from_millis(500);

pub fn run(args: &ShowArgs, context: &Context) -> Result<Outcome, CommandError> {
    let live = args.session.as_deref().map(live::find).transpose()?;
    let (path, words) = match &live {
        Some(_) => (None, &args.words[..]),
        None => split_words(&args.words)?,
    };
    let mut terms = words.join(" ");
    if args.view == View::Tree {
        return tree::run(args, live.as_ref(), path, &terms, context);
    }
    if let Some(stream) = live.as_ref().map(|live| live.stream).filter(|stream| *stream != 0) {
        // One of several sessions was named.
        terms = if terms.is_empty() { format!("stream:{stream}") } else { format!("({terms}) stream:{stream}") };
    }
    let filter = parse_filter(&terms, path.is_some() || live.is_some())?;
    let reel = live.as_ref().map(Live::reel).transpose()?;
    let path = reels::named_or_newest(reel.as_deref().or(path), note)?;
    let grows = args.follow || live.is_some();
    let (mut reader, path) = if grows { reels::open(Some(&path))? } else { reels::open_whole(Some(&path), note)? };
    if grows {
        reader = reader.following();
    }
    let start = Start::of(args, &filter, &mut reader, &path, context)?;
    let form = make_form(args, context, &reader)?;
    let mut show = Show {
        filter,
        viewer: Viewer::default(),
        words: Words::default(),
        form,
        start,
        left: args.limit,
        read: 0,
        shown: 0,
    };
    // A whole reel in words needs every payload; a few events of it, or a growing one, do not pay for a thread.
    let ahead = show.form.reports_words() && !args.follow && args.limit.is_none();
    let mut source = if ahead {
        let reader = AheadReader::within(reader.with_payloads(), show.form.reads_ahead())
            .map_err(|error| CommandError::reading(&path, &error))?;
        show.form.work_aside(context, reader.returns())?;
        Source::Ahead(reader)
    } else {
        Source::AsAsked(Box::new(reader))
    };
    let (mut path, mut damaged) = (path, start.after_wrong_index);
    let mut followed = reels::identity(&path).unwrap_or_default();
    loop {
        // A session that was killed writes no end; whether it lives tells where its reel ends. One that lives may have
        // gone on in another reel.
        let mut looked = Instant::now();
        let goes_on = || {
            let is_due = live.is_some() && looked.elapsed() >= LOOK_WHETHER_IT_LIVES;
            if is_due {
                looked = Instant::now();
            }
            args.follow
                && (!is_due || live.as_ref().is_some_and(|live| live.lives() && live.other_reel(followed).is_none()))
        };
        damaged |= show.run(source, &path, context, goes_on)?;
        let session = live.as_ref().filter(|_| args.follow && show.left != Some(0));
        let Some(next) = session.and_then(|live| next_reel(live, followed)) else { break };
        context.printer.note(&format!("recording continues in {}", next.display()));
        followed = reels::identity(&next).unwrap_or_default();
        (source, path) = (Source::AsAsked(Box::new(reels::open(Some(&next))?.0.following())), next);
    }
    show.form.finish(context)?;
    if let Some(why) = show.why_nothing().filter(|_| !damaged) {
        context.printer.note(&why);
    }
    Ok(if damaged || show.form.has_failed() { Outcome::Findings } else { Outcome::Clean })
}

/// Waits while a session lives until it records to another file than this one, which has ended or is gone.
fn next_reel(live: &Live, followed: (u64, u64)) -> Option<PathBuf> {
    while live.lives() {
        if let Some(next) = live.other_reel(followed) {
            return Some(next);
        }
        std::thread::sleep(FOLLOW_PAUSE);
    }
    None
}

/// The first word names a reel unless it is a filter's: a file that is there, `-`, or something ending in `.reel`.
fn split_words(words: &[String]) -> Result<(Option<&Path>, &[String]), CommandError> {
    let (path, words) = match words.split_first() {
        Some((first, rest)) if first == "-" || first.ends_with(".reel") || Path::new(first).exists() => {
            (Some(Path::new(first.as_str())), rest)
        }
        Some((first, _)) if is_like_a_path(first) => {
            return Err(CommandError::new(ErrorKind::Input, format!("there is no such file: {first}")));
        }
        _ => (None, words),
    };
    if let Some(extra) = words.iter().find(|word| word.ends_with(".reel") && !word.contains([':', '"', ' '])) {
        return Err(CommandError::usage(format!("one reel only, and it comes first; {extra:?} is one too many"))
            .hint("two reels are compared with `mcpreel diff`"));
    }
    Ok((path, words))
}

/// Whether a word that is no file can only have been meant as one: a term with a slash has a colon before it.
fn is_like_a_path(word: &str) -> bool {
    word.starts_with(['.', '/']) || (word.contains('/') && !word.contains([':', '(', '"', ' ']))
}

fn parse_filter(text: &str, is_reel_named: bool) -> Result<Filter, CommandError> {
    Filter::parse(text).map_err(|error| {
        let error = CommandError::usage(error.to_string())
            .hint("a filter is like: method:tools/* slow:>500ms; `mcpreel show --help` lists every term");
        if is_reel_named { error } else { error.hint("a reel's name ends in .reel, or the file must exist") }
    })
}

fn make_form(args: &ShowArgs, context: &Context, reader: &ReelReader) -> Result<Form, CommandError> {
    let format = match (&args.jq, args.raw, args.full) {
        (Some(code), ..) => {
            let hint =
                "each event is an object; a message's own members are under .message, as in: .message.params.name";
            let jq = Jq::compile("--jq", code).map_err(|error| error.hint(hint))?;
            forms::Kind::Jq(jq.printing(context.printer.is_terminal))
        }
        (None, true, _) => forms::Kind::Raw,
        (None, false, true) => forms::Kind::Full { fold: !args.no_fold },
        (None, false, false) => match args.format {
            Format::List => forms::Kind::List,
            Format::Full => forms::Kind::Full { fold: !args.no_fold },
            Format::Table => forms::Kind::Table(Vec::new()),
            Format::Json => forms::Kind::Json,
        },
    };
    let time = match args.time {
        TimeForm::Offset => forms::Clock::Offset,
        TimeForm::Clock => forms::Clock::Local(jiff::tz::TimeZone::system()),
        TimeForm::Utc => forms::Clock::Utc,
    };
    Ok(Form::new(format, time, reader.header().created, &context.printer))
}

/// Where to begin.
#[derive(Clone, Copy, Debug, Default)]
struct Start {
    time: Option<i64>,
    seq: Option<u64>,
    /// The place was found without the index, which is wrong.
    after_wrong_index: bool,
}

impl Start {
    fn of(
        args: &ShowArgs,
        filter: &Filter,
        reader: &mut ReelReader,
        path: &Path,
        context: &Context,
    ) -> Result<Self, CommandError> {
        let mut start = Self::default();
        let failed = |error| CommandError::reading(path, &error);
        // An answer from here on may be to a call from before, which alone names the tool.
        let may_skip = !filter.needs_calls();
        if let Some(seq) = args.seq {
            start.seq = Some(seq);
            if may_skip && let Some(damage) = reader.seek_seq(seq).map_err(failed)? {
                start.after_wrong_index = true;
                context.printer.note(&damage.to_string());
            }
            return Ok(start);
        }
        let Some(text) = &args.from else { return Ok(start) };
        let time = match text.trim_end_matches('s').parse::<f64>() {
            Ok(seconds) => (seconds * 1e9) as i64,
            Err(_) => text
                .parse::<jiff::Timestamp>()
                .ok()
                .and_then(|time| i64::try_from(time.as_nanosecond()).ok())
                .and_then(|time| time.checked_sub(reader.header().created))
                .ok_or_else(|| {
                    CommandError::usage(format!("{text:?} is no time"))
                        .hint("a time is like 12.5 (seconds from the beginning) or 2026-11-21T20:00:00Z")
                })?,
        };
        start.time = Some(time);
        if may_skip && let Some(damage) = reader.seek_time(time).map_err(failed)? {
            start.after_wrong_index = true;
            context.printer.note(&damage.to_string());
        }
        Ok(start)
    }

    fn is_before(&self, header: &EventHeader) -> bool {
        self.seq.is_some_and(|seq| header.seq < seq) || self.time.is_some_and(|time| header.time < time)
    }
}

/// Where blocks come from.
enum Source {
    /// One after another, payloads only where they are needed.
    AsAsked(Box<ReelReader>),
    /// All of them, read ahead.
    Ahead(AheadReader),
}

impl Source {
    fn next(&mut self) -> std::io::Result<Option<Item>> {
        match self {
            Self::AsAsked(reader) => reader.next(),
            Self::Ahead(reader) => reader.next(),
        }
    }

    fn would_wait(&mut self) -> bool {
        match self {
            Self::AsAsked(_) => false,
            Self::Ahead(reader) => reader.would_wait(),
        }
    }

    fn methods(&self) -> &[Box<str>] {
        match self {
            Self::AsAsked(reader) => reader.methods(),
            Self::Ahead(reader) => reader.methods(),
        }
    }

    fn recycle(&mut self, block: Block) {
        match self {
            Self::AsAsked(reader) => reader.recycle(block),
            Self::Ahead(reader) => reader.recycle(block),
        }
    }

    fn has_ended(&self) -> bool {
        match self {
            Self::AsAsked(reader) => reader.has_ended(),
            Self::Ahead(_) => true,
        }
    }
}

struct Show {
    filter: Filter,
    viewer: Viewer,
    words: Words,
    form: Form,
    start: Start,
    left: Option<u64>,
    /// How many events were read, and how many of them shown.
    read: u64,
    shown: u64,
}

impl Show {
    /// Shows everything. Answers whether damage was met.
    fn run(
        &mut self,
        mut source: Source,
        path: &Path,
        context: &Context,
        mut goes_on: impl FnMut() -> bool,
    ) -> Result<bool, CommandError> {
        let mut is_last_look = false;
        let mut damaged = false;
        let failed = |error| CommandError::reading(path, &error);
        while self.left != Some(0) {
            if source.would_wait() {
                self.form.let_go(context)?;
            }
            match source.next().map_err(failed)? {
                Some(Item::Damage(damage)) => {
                    damaged = true;
                    context.printer.note(&damage.to_string());
                }
                Some(Item::Block(mut block)) => {
                    if let Source::AsAsked(reader) = &mut source
                        && self.needs_payload(&block, reader)
                        && let Err(damage) = reader.load_payload(&mut block).map_err(failed)?
                    {
                        damaged = true;
                        context.printer.note(&damage.to_string());
                    }
                    self.block(&block, source.methods(), context)?;
                    if let Some(block) = self.form.done_with(block)? {
                        source.recycle(block);
                    }
                }
                None if is_last_look || source.has_ended() => break,
                None => {
                    context.printer.flush().map_err(CommandError::output)?;
                    // What was written before the end is read still.
                    is_last_look = !goes_on();
                    if !is_last_look {
                        std::thread::sleep(FOLLOW_PAUSE);
                    }
                }
            }
        }
        Ok(damaged)
    }

    /// Why nothing was shown, where nothing was.
    fn why_nothing(&self) -> Option<String> {
        if self.shown > 0 || self.left == Some(0) {
            return None;
        }
        let from = if self.start.seq.is_some() || self.start.time.is_some() { " from there on" } else { "" };
        Some(match self.read {
            0 if from.is_empty() => "the reel is empty: nothing was recorded".to_owned(),
            0 => "the reel has nothing from there on".to_owned(),
            read if !self.filter.is_empty() => format!("the filter lets nothing through, of {read} events{from}"),
            read => format!("nothing is shown in this form, of {read} events{from}; --format json has them all"),
        })
    }

    /// Whether any event of a block could have to be shown, or tells something about one that will be.
    fn needs_payload(&self, block: &Block, reader: &ReelReader) -> bool {
        if self.filter.needs_calls() && block.headers.iter().any(|header| is_tool_call(header, reader.methods())) {
            return true;
        }
        if block.headers.iter().all(|header| self.start.is_before(header)) {
            return false;
        }
        let in_words = self.form.reports_words();
        block.headers.iter().any(|header| {
            let is_request = header.message.as_ref().is_some_and(|message| message.kind == MessageKind::Request);
            if (is_request || is_batch(header)) && in_words {
                return true;
            }
            // An answer's method and latency are not known yet here; whatever they decide needs the payload.
            let paired = header.message.as_ref().is_some_and(|message| message.kind.is_response());
            let method = method_name(header.message.as_ref(), None, reader.methods());
            let facts = Facts { header, method, latency: None, tool: None, body: None };
            paired || self.filter.decide(&facts) != Some(false)
        })
    }

    fn block(&mut self, block: &Block, methods: &[Box<str>], context: &Context) -> Result<(), CommandError> {
        for (place, header) in block.headers.iter().enumerate() {
            let event = block.event(header);
            let placed = match block.is_loaded() && is_batch(header) {
                true => self.viewer.place_batch(&event, methods),
                false => self.viewer.place(header),
            };
            let method = method_name(header.message.as_ref(), placed.method, methods).or(placed.batched.as_deref());
            let facts = Facts {
                header,
                method,
                latency: placed.latency,
                tool: placed.tool.as_deref(),
                body: block.is_loaded().then(|| event.body()),
            };
            let shown = !self.start.is_before(header)
                && (self.filter.names_events() || self.form.takes(&event))
                && self.filter.decide(&facts).unwrap_or(false);
            let is_request = header.message.as_ref().is_some_and(|message| message.kind == MessageKind::Request);
            if (shown && self.form.reports_words()) || (is_request && block.is_loaded()) {
                self.words.report(&event, method, &placed, self.form.reports_outcomes());
            } else {
                self.words.clear();
            }
            if is_request {
                self.viewer.remember(header, &self.words.about, self.words.tool.as_deref());
            }
            self.read += u64::from(!self.start.is_before(header));
            if shown {
                self.shown += 1;
                self.form.show(&Shown { event, place, method, placed: &placed, words: &self.words }, context)?;
                if let Some(left) = &mut self.left {
                    *left -= 1;
                    if *left == 0 {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }
}

fn is_batch(header: &EventHeader) -> bool {
    header.message.as_ref().is_some_and(|message| message.kind == MessageKind::Batch)
}

fn is_tool_call(header: &EventHeader, methods: &[Box<str>]) -> bool {
    let Some(message) = header.message.as_ref().filter(|message| message.kind == MessageKind::Request) else {
        return false;
    };
    method_name(Some(message), None, methods) == Some("tools/call")
}

fn method_name<'a>(message: Option<&MessageHeader>, placed: Option<u32>, methods: &'a [Box<str>]) -> Option<&'a str> {
    let number = placed.or(message?.method)?;
    methods.get(number as usize).map(|name| &**name)
}
