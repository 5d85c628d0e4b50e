//! `show`: prints, filters and follows reels.

mod as_call;
mod check;
mod forms;
mod print_worker;
mod prompts;
mod tree;
mod whole;

use crate::cli::following::{FOLLOW_PAUSE, GrowingReel};
use crate::cli::jq::Jq;
use crate::cli::packs::PackOptions;
use crate::cli::pager::PagerOptions;
use crate::cli::printer::note;
use crate::cli::progress::Progress;
use crate::cli::recordings;
use crate::cli::redaction::RedactOptions;
use crate::cli::secret_warning::SecretWarning;
use crate::cli::selecting::{filter_of, parse_filter, split_words};
use crate::cli::{Context, Outcome};
use crate::error::CommandError;
use crate::files::reels;
use crate::render::event::Clock;
use crate::runtime::parameters::time_in_reel;
use crate::session::filter::{Filter, FilterInput, TERMS};
use crate::session::selection::Selection;
use crate::session::steps::Steps;
use crate::session::view::{Viewer, Words, is_request, method_name};
use crate::sessions::live::{self, Live};
use crate::trace::{AheadReader, Block, EventHeader, Item, ReelReader};
use crate::wire::text::counted;
use check::Checking;
use clap::{Args, ValueEnum};
use forms::{Form, Picture, Shown};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Show recorded messages: one line per message, in full, as a table or as JSON.
#[derive(Debug, Args)]
#[command(after_help = after_help())]
pub(crate) struct ShowArgs {
    /// The reel (`-` for stdin; default: the newest), followed by a filter. The first word is a reel if it ends in
    /// .reel or the file exists.
    #[arg(value_name = "REEL|FILTER")]
    words: Vec<OsString>,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = Format::List)]
    format: Format,
    /// What to show. A filter, --from, --seq and --limit also apply to `sequence` and `timeline`, not to `tree` and
    /// `prompt`. `--format json` prints one object per arrow, row, connection or turn.
    #[arg(long, value_enum, default_value_t = View::Events, conflicts_with_all = ["full", "raw", "jq", "follow"])]
    view: View,
    /// Check the messages, and print findings below them, as `validate` does; `--view sequence` names the rules at the
    /// arrows. The counts go to stderr.
    #[arg(long, conflicts_with_all = ["raw", "jq"])]
    check: bool,
    /// Short for `--format full`.
    #[arg(long, conflicts_with = "format")]
    full: bool,
    /// Print the exact bytes of messages and stderr, each followed by a line break; also webhook secrets (whsec_…),
    /// which all other formats hide. Other events are printed only with event:KIND in the filter.
    #[arg(long, conflicts_with_all = ["format", "full"])]
    raw: bool,
    /// Do not shorten long strings in the full format.
    #[arg(long)]
    no_fold: bool,
    /// Run a jq program on each event's JSON object and print the results: strings as they are (on a terminal, with
    /// control characters made visible), everything else as JSON.
    #[arg(long, value_name = "EXPR", conflicts_with_all = ["format", "full", "raw"])]
    jq: Option<String>,
    /// Run the jq program without the message on events whose message has too many values, instead of skipping them (for
    /// `mcp`).
    #[arg(long, hide = true, requires = "jq")]
    without_large: bool,
    /// Keep reading while the reel grows.
    #[arg(long)]
    follow: bool,
    /// Show the reel of a live session; the arguments are then only a filter. `mcpreel sessions` lists the sessions.
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
    /// Print the `mcpreel call` command that repeats each request or notification of the client, except those of the handshake
    /// and about other requests.
    #[arg(long, conflicts_with_all = ["format", "full", "raw", "jq", "follow", "from", "session", "view"])]
    as_call: bool,
    /// Show the arguments of calls and the beginning of their results also if the output is not a terminal.
    #[arg(long, conflicts_with_all = ["full", "raw", "jq", "view"])]
    details: bool,
    /// How to show times.
    #[arg(long, value_enum, default_value_t = TimeForm::Offset, value_name = "FORM")]
    time: TimeForm,
    /// Start at this time: seconds since the start of the reel, or an RFC 3339 time.
    #[arg(long, value_name = "TIME")]
    from: Option<String>,
    /// Start at the event with this number.
    #[arg(long, value_name = "NUMBER", conflicts_with = "from")]
    seq: Option<u64>,
    /// Show at most this many events.
    #[arg(short = 'n', long, value_name = "COUNT")]
    limit: Option<u64>,
    /// Show only the last events; with --follow, also all that come after them.
    #[arg(long, value_name = "COUNT", conflicts_with_all = ["from", "seq", "limit", "as_call"],
        value_parser = clap::value_parser!(u64).range(1..))]
    last: Option<u64>,
    #[command(flatten)]
    pager: PagerOptions,
    #[command(flatten)]
    packs: PackOptions,
    #[command(flatten)]
    redact: RedactOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One line per event.
    List,
    /// Each event with its whole message, indented and coloured.
    Full,
    /// Tables of at most 1000 rows.
    Table,
    /// One JSON object per event, as written by `export --format jsonl`, plus computed members (kind, latency_ms, …).
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum View {
    /// Events, one after the other.
    Events,
    /// A sequence diagram: an arrow for each message, from and to the client and each server.
    Sequence,
    /// Who waited for what, and when: a bar for each request, with the sums.
    Timeline,
    /// The tree of MCPL checkpoints (states that a server saved), with branches and rollbacks.
    Tree,
    /// What the model would have seen at each turn, by source and bytes.
    Prompt,
}

impl View {
    /// Whether it is drawn from the events that the filter selects.
    fn is_drawn(self) -> bool {
        matches!(self, Self::Sequence | Self::Timeline)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TimeForm {
    /// Seconds since the start of the reel.
    Offset,
    /// Local time.
    Clock,
    /// RFC 3339 in UTC.
    Utc,
}

/// The maximum width of the examples and terms.
const HELP_WIDTH: usize = 80;

fn after_help() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| {
        let mut text = "\
Examples:
  mcpreel show                                        # the newest reel
  mcpreel show session.reel --full 'tool:echo'
  mcpreel show session.reel 'method:tools/* (slow:>500ms or error)'
  mcpreel show session.reel --details | grep -i schema
  mcpreel show session.reel --last 20 error
  mcpreel show --follow 'dir:s2c kind:notification'
  mcpreel show --follow --session everything injected
  mcpreel show session.reel --view sequence
  mcpreel show session.reel --view timeline 'method:tools/call'
  mcpreel show session.reel --as-call 'tool:echo'
  mcpreel show session.reel --jq '.message.params.name // empty'

The columns of the list are: the event's number (for --seq), its time, → to the server or ← to the \
client (· neither), its size, the latency of a response, the request's id, the stream as #N if there are \
several (select one with stream:N or --session NAME#N), the method, details of the request, and the result after →. \
On a terminal, the details include the arguments and the beginning of the result, as far as the width allows; elsewhere, \
--details adds them. Output that is longer than the screen is shown in a pager: PAGER, or less.

Filter terms, combined with and (may be omitted), or, not and parentheses:
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
        text.push_str(
            "
Kinds of messages: a response is a result or an error; unclassified is JSON but not JSON-RPC, malformed is \
broken JSON, noise is not JSON at all (such as a log line on stdout), blank is an empty line. Kinds of events: a gap \
is traffic that is missing from the reel, transport is an event of HTTP or of another transport.",
        );
        text
    })
}

/// Runs the command.
///
/// # Errors
///
/// The command failed; the error's kind decides the exit code.
pub(super) fn run(args: &ShowArgs, context: &Context) -> Result<Outcome, CommandError> {
    let live = args.session.as_deref().map(live::find).transpose()?;
    let (path, terms) = match &live {
        Some(_) => (None, filter_of(&args.words)?),
        None => split_words(&args.words)?,
    };
    let live = live.as_ref();
    if !args.follow {
        context.printer.page(args.pager.paging());
    }
    if args.as_call {
        return as_call::run(args, path, &terms, context);
    }
    match args.view {
        View::Tree => tree::run(args, live, path, &terms, context),
        View::Prompt => prompts::run(args, live, path, &terms, context),
        View::Events | View::Sequence | View::Timeline => show(args, live, path, terms, context),
    }
}

/// Shows the events that a filter selects, or draws them.
fn show(
    args: &ShowArgs,
    live: Option<&Live>,
    path: Option<&Path>,
    terms: String,
    context: &Context,
) -> Result<Outcome, CommandError> {
    let registry = args.packs.registry()?;
    let filter = parse_filter(&of_stream(terms, live), registry, path.is_some() || live.is_some())?;
    let reel = live.map(Live::reel).transpose()?;
    let path = recordings::path_or_newest(reel.as_deref().or(path))?;
    let grows = args.follow || live.is_some();
    if grows && args.redact.redact {
        return Err(CommandError::usage("--redact needs a whole reel, because a secret may be recognised only later")
            .hint("redact the session's reel when it is over, or record it with `mcpreel record --redact`"));
    }
    let (mut reader, path, again) = open(args, &path, grows)?;
    let form = make_form(args, context, &reader)?;
    let last = again.map(|again| first_of_last(again, args.last.unwrap_or_default(), &filter, &form));
    let last = last.transpose().map_err(|error| CommandError::reading(&path, &error))?.flatten();
    let start = Start::of(args, last, &filter, &mut reader, &path, context)?;
    let warning = SecretWarning::of_printed_reel(&args.redact, reader.header(), &context.printer)?;
    refuse_formats(args)?;
    let progress = match args.follow {
        true => Progress::none(),
        false => context.printer.progress_beside_output("showing", &path),
    };
    let prepared = args.check.then(|| check::prepare(&args.packs)).transpose()?;
    let checking = prepared.as_ref().map(|prepared| Checking::new(prepared, &path, reader.header()));
    let mut show = Show {
        filter,
        viewer: Viewer::default(),
        words: Words::knowing(registry),
        form,
        checking,
        warning,
        start,
        progress,
        left: args.limit,
        read: 0,
        shown: 0,
    };
    let source = show.source(reader, &path, args, context)?;
    let (path, damaged) = show.run_all(source, path, live, args, context)?;
    show.finish(&path, damaged || start.after_wrong_index, args, context)
}

/// Limits a filter to the session that was named, if it is one of several.
pub(super) fn of_stream(terms: String, live: Option<&Live>) -> String {
    match live.map(|live| live.stream).filter(|stream| *stream != 0) {
        None => terms,
        Some(stream) if terms.is_empty() => format!("stream:{stream}"),
        Some(stream) => format!("({terms}) stream:{stream}"),
    }
}

/// Refuses formats that have no place for what is asked for.
fn refuse_formats(args: &ShowArgs) -> Result<(), CommandError> {
    if args.check && args.format == Format::Table {
        return Err(CommandError::usage("--check prints findings below messages, and a table has no space for them")
            .hint("use another format: list, full or json"));
    }
    if args.view.is_drawn() && matches!(args.format, Format::Full | Format::Table) {
        return Err(
            CommandError::usage("a picture has only two formats").hint("leave out --format, or use --format json")
        );
    }
    Ok(())
}

/// Opens a reel, a second time to find the last events.
fn open(args: &ShowArgs, path: &Path, grows: bool) -> Result<(ReelReader, PathBuf, Option<ReelReader>), CommandError> {
    let is_twice = args.last.is_some();
    if grows {
        let (reader, path) = reels::open(path)?;
        let again = is_twice.then(|| reels::open(&path)).transpose()?;
        return Ok((reader.following(), path, again.map(|(reader, _)| reader.following())));
    }
    if !is_twice {
        return args.redact.open_whole(Some(path)).map(|(reader, path)| (reader, path, None));
    }
    let twice = args.redact.twice(Some(path))?;
    let reader = reels::whole(twice.open()?.reader, &twice.shown, note)?;
    Ok((reader, twice.shown.clone(), Some(twice.open()?.reader)))
}

/// The number of the first of the last `count` events that are shown, as far as the reel has been written; `None` if none
/// is shown.
fn first_of_last(reader: ReelReader, count: u64, filter: &Filter, form: &Form) -> std::io::Result<Option<u64>> {
    let (mut selection, mut last) = (Selection::new(filter.clone()), VecDeque::new());
    let mut reader = reader.with_payloads();
    while let Some(item) = reader.next()? {
        let Item::Block(block) = item else { continue };
        for event in block.events() {
            let is_selected = selection.selects(&event, reader.methods());
            if is_selected && (filter.names_events() || form.takes(&event)) {
                if last.len() as u64 == count {
                    last.pop_front();
                }
                last.push_back(event.header.seq);
            }
        }
        reader.recycle(block);
    }
    Ok(last.front().copied())
}

fn make_form(args: &ShowArgs, context: &Context, reader: &ReelReader) -> Result<Form, CommandError> {
    let format = match (&args.jq, args.raw, args.full) {
        (Some(code), ..) => {
            let hint = "each event is an object, with its message in .message; for example: .message.params.name";
            let mut jq = Jq::new(context.printer.is_terminal);
            let program = jq.compile("--jq", code).map_err(|error| match error.hints.is_empty() {
                true => error.hint(hint),
                false => error,
            })?;
            // Scripts get strings as they are.
            context.printer.allow_commands();
            forms::Kind::Jq { jq: Box::new(jq), program, without_large: args.without_large }
        }
        (None, true, _) => {
            context.printer.be_exact();
            forms::Kind::Raw
        }
        (None, false, true) => forms::Kind::Full { fold: !args.no_fold },
        (None, false, false) if args.view.is_drawn() => {
            let is_json = args.format == Format::Json;
            forms::Kind::Picture(Box::new(Picture { steps: Steps::default(), view: args.view, is_json }))
        }
        (None, false, false) => match args.format {
            Format::List => forms::Kind::List,
            Format::Full => forms::Kind::Full { fold: !args.no_fold },
            Format::Table => forms::Kind::Table(Vec::new()),
            Format::Json => forms::Kind::Json,
        },
    };
    let time = match args.time {
        _ if !reader.header().has_times() => Clock::Missing,
        TimeForm::Offset => Clock::Offset,
        TimeForm::Clock => Clock::Local(jiff::tz::TimeZone::system()),
        TimeForm::Utc => Clock::Utc,
    };
    Ok(Form::new(format, time, reader.header().created, args.details, &context.printer))
}

/// Where to begin.
#[derive(Clone, Copy, Debug, Default)]
struct Start {
    time: Option<i64>,
    seq: Option<u64>,
    /// Whether the index is wrong, so that the place was found without it.
    after_wrong_index: bool,
}

impl Start {
    fn of(
        args: &ShowArgs,
        last: Option<u64>,
        filter: &Filter,
        reader: &mut ReelReader,
        path: &Path,
        context: &Context,
    ) -> Result<Self, CommandError> {
        let mut start = Self::default();
        let failed = |error| CommandError::reading(path, &error);
        // A response after this point may belong to a call before it, and only the call names the tool.
        // A check and a picture need all messages.
        let may_skip = !filter.needs_calls() && !args.check && !args.view.is_drawn();
        if let Some(seq) = args.seq.or(last) {
            start.seq = Some(seq);
            if may_skip && let Some(damage) = reader.seek_seq(seq).map_err(failed)? {
                start.after_wrong_index = true;
                context.printer.note(&damage.to_string());
            }
            return Ok(start);
        }
        let Some(text) = &args.from else { return Ok(start) };
        let time = time_in_reel(text, reader.header().created)?;
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

/// The source of blocks.
enum Source {
    /// One block after another, with payloads only if they are needed.
    AsAsked(Box<ReelReader>),
    /// All blocks, read ahead.
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

struct Show<'a> {
    filter: Filter,
    viewer: Viewer,
    words: Words,
    form: Form,
    checking: Option<Checking<'a>>,
    warning: SecretWarning,
    start: Start,
    progress: Progress,
    left: Option<u64>,
    /// The number of events that were read, and of those that were shown.
    read: u64,
    shown: u64,
}

impl Show<'_> {
    /// What passes on the events.
    fn source(
        &mut self,
        reader: ReelReader,
        path: &Path,
        args: &ShowArgs,
        context: &Context,
    ) -> Result<Source, CommandError> {
        // Formatting a whole reel needs every payload; a few events of it, or a growing one, are not worth a thread.
        let ahead = self.form.reports_words() && !args.follow && args.limit.is_none() && !args.check;
        if !ahead {
            return Ok(Source::AsAsked(Box::new(reader)));
        }
        let reader = AheadReader::within(reader.with_payloads(), self.form.reads_ahead())
            .map_err(|error| CommandError::reading(path, &error))?;
        self.form.print_on_thread(context, reader.returns())?;
        Ok(Source::Ahead(reader))
    }

    /// Shows a reel, and those in which its session continues. Returns the last one, and whether any is damaged.
    fn run_all(
        &mut self,
        mut source: Source,
        mut path: PathBuf,
        live: Option<&Live>,
        args: &ShowArgs,
        context: &Context,
    ) -> Result<(PathBuf, bool), CommandError> {
        let (mut growing, mut damaged) = (GrowingReel::new(live, &path), false);
        loop {
            damaged |= self.run(source, &path, context, || args.follow && growing.goes_on())?;
            let may_continue = args.follow && self.left != Some(0);
            let Some(next) = may_continue.then(|| growing.next_reel(|| false)).flatten() else { break };
            context.printer.note(&format!("recording continues in {}", next.display()));
            (source, path) = (Source::AsAsked(Box::new(reels::open(&next)?.0.following())), next);
        }
        growing.report_end(note);
        Ok((path, damaged))
    }

    /// Prints what comes at the end.
    fn finish(
        mut self,
        path: &Path,
        damaged: bool,
        args: &ShowArgs,
        context: &Context,
    ) -> Result<Outcome, CommandError> {
        if self.left != Some(0) {
            self.form.end(self.viewer.finish(true));
        }
        self.form.finish(context)?;
        self.progress.finish();
        self.warning.print_of_reel(path);
        // After a limited number of events, the rest of the sessions is unknown.
        let checking = self.checking.take().filter(|_| self.left != Some(0));
        let is_text = args.format != Format::Json && !args.view.is_drawn();
        let verdict = checking.map(|checking| checking.finish(is_text, context)).transpose()?;
        if let Some(why) = self.why_nothing().filter(|_| !damaged) {
            context.printer.note(&why);
        }
        let has_findings = matches!(verdict, Some(Outcome::Findings));
        Ok(if damaged || has_findings || self.form.has_failed() { Outcome::Findings } else { Outcome::Clean })
    }

    /// Shows everything. Returns whether the reel is damaged.
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
                self.form.release(context)?;
            }
            match source.next().map_err(failed)? {
                Some(Item::Damage(damage)) => {
                    damaged = true;
                    self.checking.iter_mut().for_each(|checking| checking.take_damage(&damage));
                    self.progress.aside(|| context.printer.note(&damage.to_string()));
                }
                Some(Item::Block(mut block)) => {
                    self.progress.reach(block.offset);
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
                    self.form.release(context)?;
                    // Events that were written before the session ended are still read.
                    is_last_look = !goes_on();
                    if !is_last_look {
                        std::thread::sleep(FOLLOW_PAUSE);
                    }
                }
            }
        }
        Ok(damaged)
    }

    /// The reason why nothing was shown, if nothing was.
    fn why_nothing(&self) -> Option<String> {
        if self.shown > 0 || self.left == Some(0) {
            return None;
        }
        let from = if self.start.seq.is_some() || self.start.time.is_some() { " from that point on" } else { "" };
        Some(match self.read {
            0 if from.is_empty() => "the reel is empty: nothing was recorded".to_owned(),
            0 => "the reel has no events from that point on".to_owned(),
            read if !self.filter.is_empty() => format!("no matches among {}{from}", counted(read, "event")),
            read => {
                format!("this format shows none of {}{from}; use --format json", counted(read, "event"))
            }
        })
    }

    /// Whether an event of a block may have to be shown, or is needed to describe one that may.
    fn needs_payload(&self, block: &Block, reader: &ReelReader) -> bool {
        if self.checking.is_some() || self.form.is_picture() {
            return true;
        }
        if self.filter.needs_calls() && block.headers.iter().any(|header| is_tool_call(header, reader.methods())) {
            return true;
        }
        if block.headers.iter().all(|header| self.start.is_before(header)) {
            return false;
        }
        let in_words = self.form.reports_words();
        block.headers.iter().any(|header| {
            if (is_request(header) || header.is_batch()) && in_words {
                return true;
            }
            // The method and latency of a response are not known yet here, so its payload is always needed.
            let paired = header.message.as_ref().is_some_and(|message| message.kind.is_response());
            let method = method_name(header.message.as_ref(), None, reader.methods());
            let input = FilterInput { method, ..FilterInput::of(header) };
            paired || self.filter.decide(&input) != Some(false)
        })
    }

    fn block(&mut self, block: &Block, methods: &[Box<str>], context: &Context) -> Result<(), CommandError> {
        for (place, header) in block.headers.iter().enumerate() {
            let event = block.event(header);
            self.checking.iter_mut().for_each(|checking| checking.observe(&event));
            let placed = self.viewer.place(&event, methods);
            let method = placed.method(header, methods);
            let input = placed.input(header, method, block.is_loaded().then(|| event.body()));
            let shown = !self.start.is_before(header)
                && (self.filter.names_events() || self.form.takes(&event))
                && self.filter.decide(&input).unwrap_or(false);
            let is_request = is_request(header);
            if (shown && self.form.reports_words()) || (is_request && block.is_loaded()) {
                self.words.report(&event, method, &placed, self.form.depth());
            } else {
                self.words.clear();
            }
            if is_request {
                self.viewer.remember(&self.words);
            }
            self.read += u64::from(!self.start.is_before(header));
            if !shown {
                self.form.pass(&event, method, (&placed, &self.words));
            } else {
                self.shown += 1;
                if block.is_loaded() {
                    self.warning.take(&event);
                }
                let findings = self.checking.as_ref().map(Checking::json).unwrap_or_default();
                let (placed, words) = (&placed, &self.words);
                self.form.show(&Shown { event, place, method, placed, words, findings }, context)?;
                if let Some(checking) = self.checking.as_ref().filter(|_| self.form.has_findings_below()) {
                    checking.print(context)?;
                }
                if let Some(left) = &mut self.left {
                    *left -= 1;
                    if *left == 0 {
                        self.form.cut();
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }
}

fn is_tool_call(header: &EventHeader, methods: &[Box<str>]) -> bool {
    is_request(header) && method_name(header.message.as_ref(), None, methods) == Some("tools/call")
}
