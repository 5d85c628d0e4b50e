//! `stats`: counts and latencies, from the headers in a reel.

mod audit;

use crate::cli::packs::PackOptions;
use crate::cli::printer::Format;
use crate::cli::recordings;
use crate::cli::redaction::RedactOptions;
use crate::cli::secret_warning::SecretWarning;
use crate::cli::{Context, Outcome};
use crate::error::CommandError;
use crate::files::reels;
use crate::proposals::Registry;
use crate::render::line;
use crate::render::table::{BLANK, fitted, narrowed};
use crate::session::Pairing;
use crate::session::summary::Depth;
use crate::session::view::{Placed, Words};
use crate::sessions::live;
use crate::trace::{AheadReader, EventHeader, EventKind, Flags, Item, ReelReader};
use crate::wire::MessageKind;
use crate::wire::text::counted;
use crate::wire::units::millis_of;
use clap::Args;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use tabled::settings::object::Columns;
use tabled::settings::{Alignment, Style};

/// Count messages, bytes, errors, latencies and unanswered requests by method.
///
/// Only headers are read, so it is fast for any reel. `seq` is the number of the request with the slowest response;
/// `mcpreel show --seq N` starts there.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel stats                       # the newest reel
  mcpreel stats --session everything  # a live session so far
  mcpreel stats session.reel --format json | jq .slowest
  mcpreel stats session.reel --audit  # MCPL operations

--audit --format json prints one object per operation: time, seconds, seq, stream, server, operation (push, \
injection, response, inference, scope, rollback, publish), feature_set, inference_id, about, outcome (success, \
failure, timeout), reason, latency_ms.")]
pub(crate) struct StatsArgs {
    /// The reel; `-` for stdin (default: the newest).
    reel: Option<PathBuf>,
    /// Use the reel of a live session; `mcpreel sessions` lists them.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["reel", "redact"])]
    session: Option<String>,
    /// List the operations of MCPL: each push, injection, changed answer, inference, scope request, rollback and
    /// channel message, with its server, feature set, inference and outcome. Reads every message.
    #[arg(long)]
    audit: bool,
    /// Output format.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    #[command(flatten)]
    packs: PackOptions,
    #[command(flatten)]
    redact: RedactOptions,
}

/// Runs the command.
///
/// # Errors
///
/// The command failed; the error's kind decides the exit code.
pub(super) fn run(args: &StatsArgs, context: &Context) -> Result<Outcome, CommandError> {
    let (reader, path, redacted, stream) = match &args.session {
        None => {
            let (reader, path, redacted) = args.redact.open_twice(args.reel.as_deref())?;
            (reader, path, redacted, 0)
        }
        Some(name) => {
            let live = live::find(name)?;
            let (reader, path) = reels::open(Some(&live.reel()?))?;
            (reader.following(), path, None, live.stream)
        }
    };
    let failed = |error| CommandError::reading(&path, &error);
    if args.audit {
        let warning = SecretWarning::new(&args.redact)?.unless_seen(&context.printer);
        return audit::run(reader, (&path, stream), args.format, warning, context);
    }
    let mut reader = AheadReader::start(reader).map_err(failed)?;
    let stats = Stats::of_stream(stream, &mut reader).map_err(failed)?;
    let registry = args.packs.registry()?;
    // A pipe cannot be read again.
    let opened = || path.is_file().then(|| recordings::open(&path, None).ok()).flatten();
    let again = || redacted.or_else(|| opened().map(|opened| opened.reader));
    let about =
        stats.slowest(reader.methods()).map(|(_, slowest)| about(again(), slowest.seq, registry)).unwrap_or_default();
    match args.format {
        Format::Json => {
            let counts = stats.to_json(reader.methods(), &about);
            context.printer.json(&counts)?;
            args.redact.warn_of_report(&counts.to_string())?;
        }
        Format::Human => {
            context.printer.line(&format!("{}\n", reels::shown(&path)))?;
            let text = stats.to_text(reader.methods(), &about, context.printer.width);
            context.printer.line(&text)?;
            args.redact.warn_of_text(&text, &context.printer)?;
        }
    }
    for damage in &stats.damages {
        context.printer.note(damage);
    }
    Ok(if stats.damages.is_empty() { Outcome::Clean } else { Outcome::Findings })
}

/// The counts of one method.
#[derive(Debug, Default)]
struct MethodStats {
    calls: u64,
    bytes: u64,
    answers: u64,
    errors: u64,
    tool_errors: u64,
    latency_sum: i64,
    slowest: Option<Slowest>,
    latencies: Reservoir,
}

/// The slowest call.
#[derive(Clone, Copy, Debug)]
struct Slowest {
    /// Nanoseconds from the request to its response.
    latency: i64,
    /// The event number of the request.
    seq: u64,
}

/// A call without a response so far.
#[derive(Debug)]
struct PendingRequest {
    /// The method's number.
    method: u32,
    /// The event number and time of the request.
    seq: u64,
    time: i64,
    is_injected: bool,
}

/// A bounded sample of latencies, for quantiles in constant memory.
#[derive(Debug, Default)]
struct Reservoir {
    sample: Vec<i64>,
    seen: u64,
    state: u64,
}

impl Reservoir {
    const SIZE: usize = 1024;

    fn add(&mut self, value: i64) {
        self.seen += 1;
        if self.sample.len() < Self::SIZE {
            return self.sample.push(value);
        }
        // A fixed generator: the same reel always gives the same figures.
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let place = ((self.state >> 33) % self.seen) as usize;
        if let Some(slot) = self.sample.get_mut(place) {
            *slot = value;
        }
    }

    fn median(&self) -> Option<i64> {
        let mut sorted = self.sample.clone();
        sorted.sort_unstable();
        let upper = sorted.get(sorted.len() / 2).copied()?;
        // With an even number of values, the mean of the two in the middle.
        let lower = sorted[(sorted.len() - 1) / 2];
        Some(lower + (upper - lower) / 2)
    }
}

/// The maximum number of streams that are counted separately.
const MAX_STREAMS: usize = 1000;

/// The counts of a reel.
#[derive(Debug, Default)]
pub(super) struct Stats {
    events: u64,
    bytes: u64,
    kinds: [u64; MessageKind::ALL.len()],
    messages: u64,
    stderr_bytes: u64,
    gaps: u64,
    first: Option<i64>,
    last: i64,
    /// By method number.
    methods: Vec<MethodStats>,
    open: Pairing<PendingRequest>,
    orphans: u64,
    /// Failed HTTP exchanges.
    failures: u64,
    failed_exchange: u32,
    damages: Vec<String>,
}

impl Stats {
    /// Reads a reel to its end and counts each stream separately, up to [`MAX_STREAMS`].
    ///
    /// # Errors
    ///
    /// The reel cannot be read.
    pub(super) fn by_stream(reader: &mut AheadReader) -> std::io::Result<BTreeMap<u32, Self>> {
        let mut streams: BTreeMap<u32, Self> = BTreeMap::new();
        while let Some(item) = reader.next()? {
            let Item::Block(block) = item else { continue };
            for header in &block.headers {
                if streams.len() >= MAX_STREAMS && !streams.contains_key(&header.stream) {
                    continue;
                }
                let stats = streams.entry(header.stream).or_default();
                stats.know_methods(reader.methods().len());
                stats.add(header);
            }
            reader.recycle(block);
        }
        Ok(streams)
    }

    /// Reads a reel to its end and counts one stream, or all if `stream` is 0.
    ///
    /// # Errors
    ///
    /// The reel cannot be read.
    pub(super) fn of_stream(stream: u32, reader: &mut AheadReader) -> std::io::Result<Self> {
        let mut stats = Self::default();
        while let Some(item) = reader.next()? {
            match item {
                Item::Damage(damage) => stats.damages.push(damage.to_string()),
                Item::Block(block) => {
                    stats.know_methods(reader.methods().len());
                    let is_meant = |header: &&EventHeader| stream == 0 || header.stream == stream;
                    block.headers.iter().filter(is_meant).for_each(|header| stats.add(header));
                    reader.recycle(block);
                }
            }
        }
        Ok(stats)
    }

    fn know_methods(&mut self, count: usize) {
        if self.methods.len() < count {
            self.methods.resize_with(count, MethodStats::default);
        }
    }

    /// The number of messages.
    pub(super) fn messages(&self) -> u64 {
        self.messages
    }

    /// The number of error responses and failed tools.
    pub(super) fn errors(&self) -> u64 {
        self.kinds[MessageKind::Error as usize] + self.methods.iter().map(|method| method.tool_errors).sum::<u64>()
    }

    /// The number of requests without a response, not counting injected ones: only their sender knows whether it still
    /// waits.
    pub(super) fn waiting(&self) -> usize {
        self.open.unanswered().filter(|asked| !asked.is_injected).count()
    }

    fn add(&mut self, header: &EventHeader) {
        self.events += 1;
        self.bytes += u64::from(header.len);
        self.first = Some(self.first.map_or(header.time, |first| first.min(header.time)));
        self.last = self.last.max(header.time);
        match header.kind {
            EventKind::Stderr => self.stderr_bytes += u64::from(header.len),
            EventKind::Gap => self.gaps += 1,
            _ => {}
        }
        let Some(message) = &header.message else {
            if header.flags.has(Flags::FAILED) {
                self.fail(header);
            }
            return;
        };
        self.messages += 1;
        self.kinds[message.kind as usize] += 1;
        if let Some(method) = message.method.and_then(|number| self.methods.get_mut(number as usize)) {
            method.calls += 1;
            method.bytes += u64::from(header.len);
        }
        let Some(id) = &message.id else { return };
        match (message.kind, message.method) {
            (MessageKind::Request, Some(number)) => {
                let is_injected = header.flags.has(Flags::INJECTED);
                let asked = PendingRequest { method: number, seq: header.seq, time: header.time, is_injected };
                self.open.ask_in(header.exchange, header.stream, header.direction(), id.key(), asked);
            }
            (kind, _) if kind.is_response() => match self.open.answer(header.stream, header.direction(), id.key()) {
                Some(asked) => self.answer(&asked, header),
                // The error response repeats what the HTTP status said.
                None if header.exchange != 0 && header.exchange == self.failed_exchange => {}
                None => self.orphans += 1,
            },
            _ => {}
        }
    }

    /// Counts an HTTP exchange that failed, and with it its request.
    fn fail(&mut self, header: &EventHeader) {
        self.failures += 1;
        self.failed_exchange = header.exchange;
        let failed = self.open.fail(header.exchange);
        if let Some(method) = failed.and_then(|asked| self.methods.get_mut(asked.method as usize)) {
            method.errors += 1;
        }
    }

    fn answer(&mut self, asked: &PendingRequest, header: &EventHeader) {
        let Some(method) = self.methods.get_mut(asked.method as usize) else { return };
        let latency = header.time.saturating_sub(asked.time);
        method.answers += 1;
        method.bytes += u64::from(header.len);
        method.latency_sum = method.latency_sum.saturating_add(latency);
        if method.slowest.is_none_or(|slowest| latency > slowest.latency) {
            method.slowest = Some(Slowest { latency, seq: asked.seq });
        }
        method.latencies.add(latency);
        if header.message.as_ref().is_some_and(|message| message.kind == MessageKind::Error) {
            method.errors += 1;
        }
        if header.flags.has(Flags::TOOL_ERROR) {
            method.tool_errors += 1;
        }
    }

    /// The methods with their names, most frequent first.
    fn by_name<'a>(&'a self, names: &'a [Box<str>]) -> Vec<(&'a str, &'a MethodStats, u64)> {
        let mut waiting = vec![0u64; self.methods.len()];
        for asked in self.open.unanswered() {
            waiting[asked.method as usize] += 1;
        }
        let mut rows: Vec<_> = names
            .iter()
            .zip(&self.methods)
            .zip(waiting)
            .map(|((name, method), waiting)| (&**name, method, waiting))
            .collect();
        rows.sort_by(|a, b| b.1.calls.cmp(&a.1.calls).then(a.0.cmp(b.0)));
        rows
    }

    /// The slowest call of all, with its method's name.
    fn slowest<'a>(&self, names: &'a [Box<str>]) -> Option<(&'a str, Slowest)> {
        let calls = names.iter().zip(&self.methods).filter_map(|(name, method)| Some((&**name, method.slowest?)));
        calls.max_by_key(|(_, slowest)| (slowest.latency, std::cmp::Reverse(slowest.seq)))
    }

    fn to_json(&self, names: &[Box<str>], about: &str) -> Value {
        let methods: serde_json::Map<String, Value> = self
            .by_name(names)
            .into_iter()
            .map(|(name, method, unanswered)| {
                let latency = method.latencies.median().map(|median| {
                    json!({
                        "median": millis_of(median),
                        "mean": millis_of(method.latency_sum / method.answers.max(1) as i64),
                        "max": method.slowest.map(|slowest| millis_of(slowest.latency)),
                    })
                });
                let counts = json!({
                    "calls": method.calls, "answers": method.answers, "errors": method.errors,
                    "tool_errors": method.tool_errors, "unanswered": unanswered, "bytes": method.bytes,
                    "latency_ms": latency, "slowest_seq": method.slowest.map(|slowest| slowest.seq),
                });
                (name.to_owned(), counts)
            })
            .collect();
        let kinds: serde_json::Map<String, Value> = MessageKind::ALL
            .iter()
            .zip(self.kinds)
            .filter(|(_, count)| *count > 0)
            .map(|(kind, count)| (kind.name().to_owned(), count.into()))
            .collect();
        let slowest = self.slowest(names).map(|(method, Slowest { latency, seq })| {
            json!({"method": method, "about": about, "seq": seq, "latency_ms": millis_of(latency)})
        });
        json!({
            "events": self.events, "messages": self.messages, "bytes": self.bytes,
            "seconds": self.last.saturating_sub(self.first.unwrap_or(self.last)) as f64 / 1e9,
            "kinds": kinds, "unanswered": self.open.len(), "orphan_answers": self.orphans,
            "failed_exchanges": self.failures,
            "stderr_bytes": self.stderr_bytes, "gaps": self.gaps, "damages": self.damages, "slowest": slowest,
            "methods": methods,
        })
    }

    fn to_text(&self, names: &[Box<str>], about: &str, width: Option<usize>) -> String {
        let kinds: Vec<String> = MessageKind::ALL
            .iter()
            .zip(self.kinds)
            .filter(|(_, count)| *count > 0)
            .map(|(kind, count)| kind_count(*kind, count))
            .collect();
        let span = line::duration(self.last.saturating_sub(self.first.unwrap_or(self.last)));
        let mut text = format!("{}, {}, over {span}", counted(self.messages, "message"), line::bytes(self.bytes));
        if !kinds.is_empty() {
            text.push_str(&format!("\n{}", kinds.join(", ")));
        }
        let extras = [
            (self.open.len() as u64, "request", "s", " unanswered"),
            (self.orphans, "response", "s", " without a request"),
            (self.failures, "HTTP exchange", "s", " failed"),
            (self.gaps, "gap", "s", " in the recording"),
        ];
        for (count, what, plural, rest) in extras.into_iter().filter(|extra| extra.0 > 0) {
            text.push_str(&format!("\n{count} {what}{}{rest}", if count == 1 { "" } else { plural }));
        }
        if let Some((method, Slowest { latency, seq })) = self.slowest(names) {
            let what = line::visible_text(format!("{method} {about}").trim_end());
            text.push_str(&format!("\nslowest: {what} took {}, seq {seq}", line::duration(latency)));
        }
        if !names.is_empty() {
            text.push_str(&format!("\n\n{}", self.table(names, width)));
        }
        text
    }

    fn table(&self, names: &[Box<str>], width: Option<usize>) -> String {
        let heading = ["method", "calls", "responses", "errors", "open", "size", "median", "slowest", "seq"];
        let mut rows = vec![heading.map(str::to_owned).to_vec()];
        for (name, method, waiting) in self.by_name(names) {
            let span = |value: Option<i64>| value.map(line::duration).unwrap_or_default();
            rows.push(vec![
                line::visible_text(name),
                method.calls.to_string(),
                blank_zero(method.answers),
                blank_zero(method.errors + method.tool_errors),
                blank_zero(waiting),
                line::bytes(method.bytes),
                span(method.latencies.median()),
                span(method.slowest.map(|slowest| slowest.latency)),
                method.slowest.map(|slowest| slowest.seq.to_string()).unwrap_or_default(),
            ]);
        }
        let removed = width.map(|width| narrowed(&mut rows, BLANK, &REMOVABLE, 0, width)).unwrap_or_default();
        let mut table = fitted(rows, BLANK, &[0], width);
        table.with(Style::empty()).modify(Columns::new(1..), Alignment::right());
        match removed.is_empty() {
            true => table.to_string(),
            false => format!("{table}\n\nno space for: {}", removed.join(", ")),
        }
    }
}

/// The columns that a narrow terminal does without, in this order. Responses are the calls minus the open ones.
const REMOVABLE: [usize; 5] = [2, 8, 6, 5, 4];

/// What the request with this number is about. Empty if the reel cannot be read again.
fn about(reader: Option<ReelReader>, seq: u64, registry: &'static Registry) -> String {
    let read = || {
        let mut reader = reader?.following().with_payloads();
        reader.seek_seq(seq).ok()?;
        while let Some(item) = reader.next().ok()? {
            let Item::Block(block) = item else { continue };
            if let Some(event) = block.events().find(|event| event.header.seq == seq) {
                let number = event.header.message.as_ref()?.method?;
                let mut words = Words::knowing(registry);
                words.report(
                    &event,
                    reader.methods().get(number as usize).map(|name| &**name),
                    &Placed::default(),
                    Depth::Subject,
                );
                return Some(words.about);
            }
        }
        None
    };
    read().unwrap_or_default()
}

/// The number of messages of a kind. Names that are not nouns have no plural.
fn kind_count(kind: MessageKind, count: u64) -> String {
    match kind {
        MessageKind::Request | MessageKind::Notification | MessageKind::Result | MessageKind::Error => {
            counted(count, kind.name())
        }
        MessageKind::Batch if count != 1 => format!("{count} batches"),
        _ => format!("{count} {}", kind.name()),
    }
}

fn blank_zero(count: u64) -> String {
    if count == 0 { String::new() } else { count.to_string() }
}
