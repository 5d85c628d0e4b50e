//! What `stats` counts: events, methods and latencies, from the headers in a reel.

use crate::session::Pairing;
use crate::session::selection::Selection;
use crate::trace::{AheadReader, EventHeader, EventKind, Flags, Item};
use crate::wire::MessageKind;
use std::collections::BTreeMap;

/// The counts of one method.
#[derive(Debug, Default)]
pub(super) struct MethodStats {
    pub calls: u64,
    pub bytes: u64,
    pub answers: u64,
    pub errors: u64,
    pub tool_errors: u64,
    pub latency_sum: i64,
    pub slowest: Option<Slowest>,
    pub latencies: Reservoir,
}

/// The slowest call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slowest {
    /// Nanoseconds from the request to its response.
    pub latency: i64,
    /// The event number of the request.
    pub seq: u64,
}

/// A call without a response so far.
#[derive(Debug)]
pub(super) struct PendingRequest {
    /// The method's number.
    method: u32,
    /// The event number and time of the request.
    seq: u64,
    time: i64,
    is_injected: bool,
    /// Whether it is selected.
    is_counted: bool,
}

/// A bounded sample of latencies, for quantiles in constant memory.
#[derive(Debug, Default)]
pub(super) struct Reservoir {
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

    pub(super) fn median(&self) -> Option<i64> {
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
pub(in crate::cli::commands) struct Stats {
    pub(super) events: u64,
    pub(super) bytes: u64,
    pub(super) kinds: [u64; MessageKind::ALL.len()],
    pub(super) messages: u64,
    pub(super) stderr_bytes: u64,
    pub(super) gaps: u64,
    first: Option<i64>,
    last: i64,
    /// By method number.
    methods: Vec<MethodStats>,
    open: Pairing<PendingRequest>,
    pub(super) orphans: u64,
    /// Failed HTTP exchanges.
    pub(super) failures: u64,
    failed_exchange: u32,
    /// The number of events that were read.
    pub(super) read: u64,
    pub(super) damages: Vec<String>,
}

impl Stats {
    /// Reads a reel to its end and counts each stream separately, up to [`MAX_STREAMS`].
    ///
    /// # Errors
    ///
    /// The reel cannot be read.
    pub(in crate::cli::commands) fn by_stream(reader: &mut AheadReader) -> std::io::Result<BTreeMap<u32, Self>> {
        let mut streams: BTreeMap<u32, Self> = BTreeMap::new();
        while let Some(item) = reader.next()? {
            let Item::Block(block) = item else { continue };
            for header in &block.headers {
                if streams.len() >= MAX_STREAMS && !streams.contains_key(&header.stream) {
                    continue;
                }
                let stats = streams.entry(header.stream).or_default();
                stats.know_methods(reader.methods().len());
                stats.add(header, true);
            }
            reader.recycle(block);
        }
        Ok(streams)
    }

    /// Reads a reel to its end and counts what is selected of one stream, or of all if `stream` is 0. Passes the position
    /// in the file to `reach`.
    ///
    /// # Errors
    ///
    /// The reel cannot be read.
    pub(super) fn of_stream(
        stream: u32,
        selection: &mut Selection,
        reader: &mut AheadReader,
        mut reach: impl FnMut(u64),
    ) -> std::io::Result<Self> {
        let mut stats = Self::default();
        while let Some(item) = reader.next()? {
            match item {
                Item::Damage(damage) => stats.damages.push(damage.to_string()),
                Item::Block(block) => {
                    reach(block.offset);
                    stats.know_methods(reader.methods().len());
                    for header in block.headers.iter().filter(|header| stream == 0 || header.stream == stream) {
                        stats.read += 1;
                        let is_counted = selection.selects(&block.event(header), reader.methods());
                        stats.add(header, is_counted);
                    }
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
    pub(in crate::cli::commands) fn messages(&self) -> u64 {
        self.messages
    }

    /// The number of error responses and failed tools.
    pub(in crate::cli::commands) fn errors(&self) -> u64 {
        self.kinds[MessageKind::Error as usize] + self.methods.iter().map(|method| method.tool_errors).sum::<u64>()
    }

    /// The number of requests without a response, not counting injected ones: only their sender knows whether it still
    /// waits.
    pub(in crate::cli::commands) fn waiting(&self) -> usize {
        self.unanswered().filter(|asked| !asked.is_injected).count()
    }

    /// The requests that were counted and have no response.
    pub(super) fn unanswered(&self) -> impl Iterator<Item = &PendingRequest> {
        self.open.unanswered().filter(|asked| asked.is_counted)
    }

    /// The time from the first event to the last, in nanoseconds.
    pub(super) fn span(&self) -> i64 {
        self.last.saturating_sub(self.first.unwrap_or(self.last))
    }

    /// Pairs an event with others, and counts it if it is selected.
    fn add(&mut self, header: &EventHeader, is_counted: bool) {
        if is_counted {
            self.count(header);
        }
        let Some(message) = &header.message else {
            if header.flags.has(Flags::FAILED) {
                self.fail(header, is_counted);
            }
            return;
        };
        let Some(id) = &message.id else { return };
        match (message.kind, message.method) {
            (MessageKind::Request, Some(number)) => {
                let is_injected = header.flags.has(Flags::INJECTED);
                let (method, seq, time) = (number, header.seq, header.time);
                let asked = PendingRequest { method, seq, time, is_injected, is_counted };
                self.open.ask_in(header.exchange, header.stream, header.direction(), id.key(), asked);
            }
            (kind, _) if kind.is_response() => match self.open.answer(header.stream, header.direction(), id.key()) {
                Some(asked) if is_counted => self.answer(&asked, header),
                _ if !is_counted => {}
                // The error response repeats what the HTTP status said.
                _ if header.exchange != 0 && header.exchange == self.failed_exchange => {}
                _ => self.orphans += 1,
            },
            _ => {}
        }
    }

    fn count(&mut self, header: &EventHeader) {
        let len = u64::from(header.len);
        self.events += 1;
        self.bytes += len;
        self.first = Some(self.first.map_or(header.time, |first| first.min(header.time)));
        self.last = self.last.max(header.time);
        match header.kind {
            EventKind::Stderr => self.stderr_bytes += len,
            EventKind::Gap => self.gaps += 1,
            _ => {}
        }
        let Some(message) = &header.message else { return };
        self.messages += 1;
        self.kinds[message.kind as usize] += 1;
        if let Some(method) = message.method.and_then(|number| self.methods.get_mut(number as usize)) {
            method.calls += 1;
            method.bytes += len;
        }
    }

    /// Counts an HTTP exchange that failed, and with it its request.
    fn fail(&mut self, header: &EventHeader, is_counted: bool) {
        self.failures += u64::from(is_counted);
        self.failed_exchange = header.exchange;
        let failed = self.open.fail(header.exchange).filter(|asked| asked.is_counted);
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

    /// The methods that were counted with their names and the number of their unanswered requests, most frequent first.
    pub(super) fn by_name<'a>(&'a self, names: &'a [Box<str>]) -> Vec<(&'a str, &'a MethodStats, u64)> {
        let mut waiting = vec![0u64; self.methods.len()];
        self.unanswered().for_each(|asked| waiting[asked.method as usize] += 1);
        let mut rows: Vec<_> = names
            .iter()
            .zip(&self.methods)
            .zip(waiting)
            .map(|((name, method), waiting)| (&**name, method, waiting))
            .filter(|(_, method, _)| method.calls + method.answers > 0)
            .collect();
        rows.sort_by(|a, b| b.1.calls.cmp(&a.1.calls).then(a.0.cmp(b.0)));
        rows
    }

    /// The slowest call of all, with its method's name.
    pub(super) fn slowest<'a>(&self, names: &'a [Box<str>]) -> Option<(&'a str, Slowest)> {
        let calls = names.iter().zip(&self.methods).filter_map(|(name, method)| Some((&**name, method.slowest?)));
        calls.max_by_key(|(_, slowest)| (slowest.latency, std::cmp::Reverse(slowest.seq)))
    }
}
