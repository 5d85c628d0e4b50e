//! Counts the events of one reel, in order.

use super::report::{ErrorKey, Report, Rows};
use super::{Grouping, Tally};
use crate::proposals::Registry;
use crate::session::Pairing;
use crate::session::filter::tool_name;
use crate::session::selection::Selection;
use crate::trace::{AheadReader, Event, EventHeader, EventKind, Flags, Item, MessageHeader};
use crate::wire::{Direction, Envelope, MessageKind, json};
use foldhash::fast::RandomState;
use std::collections::{BTreeMap, HashMap};

/// The maximum number of streams that [`Counter::by_stream`] counts separately.
const MAX_STREAMS: usize = 1000;
/// The maximum number of tools and errors that are told apart.
const MAX_NAMES: usize = 1000;
/// The number of the method of an error that belongs to no known request.
const UNKNOWN_REQUEST: u32 = u32::MAX - 1;
/// The number of the first method that the reel does not number, because it occurs in batches only.
const FIRST_IN_BATCHES: u32 = 1 << 31;
/// The number of MCP itself among the proposals.
const MCP: u32 = u32::MAX;

/// A request without a response so far.
#[derive(Debug)]
struct Asked {
    keys: Keys,
    /// The event number and time of the request.
    seq: u64,
    time: i64,
    is_injected: bool,
    /// Whether it is selected.
    is_counted: bool,
    /// Whether its HTTP exchange failed.
    has_failed: bool,
}

/// The rows that a message belongs to.
#[derive(Clone, Copy, Debug)]
struct Keys {
    method: u32,
    /// The number of the tool that it calls.
    tool: Option<u32>,
    proposal: u32,
    stream: u32,
    direction: Direction,
}

impl Keys {
    /// The number of its row.
    fn row(&self, grouping: Grouping) -> Option<u32> {
        match grouping {
            Grouping::Method => Some(self.method),
            Grouping::Tool => self.tool,
            Grouping::Proposal => Some(self.proposal),
            Grouping::Session => Some(self.stream),
            Grouping::Direction => Some(self.direction as u32),
            Grouping::Error | Grouping::Reel => None,
        }
    }
}

/// What is known of a method.
#[derive(Clone, Copy, Debug)]
struct MethodFacts {
    proposal: u32,
    /// The time that its proposal leaves for the response, in nanoseconds.
    limit: Option<i64>,
    is_tool_call: bool,
}

/// The rows of one grouping, by number.
#[derive(Debug)]
struct Group {
    grouping: Grouping,
    rows: HashMap<u32, Tally, RandomState>,
    others: Tally,
}

impl Group {
    fn row(&mut self, number: u32) -> &mut Tally {
        if self.rows.len() >= Rows::MAX && !self.rows.contains_key(&number) {
            return &mut self.others;
        }
        self.rows.entry(number).or_default()
    }
}

/// The counts of a reel.
#[derive(Debug)]
pub(crate) struct Counter {
    registry: &'static Registry,
    totals: Report,
    first: Option<i64>,
    last: i64,
    methods: Vec<MethodFacts>,
    /// The methods of messages in batches.
    in_batches: Vec<(Box<str>, MethodFacts)>,
    groups: Vec<Group>,
    needs_payloads: bool,
    tools: HashMap<String, u32, RandomState>,
    errors: BTreeMap<(Option<i64>, u32), u64>,
    open: Pairing<Asked>,
    failed_exchange: u32,
    /// The method of its request.
    failed_method: Option<u32>,
}

impl Counter {
    /// Counts nothing yet. Counts are grouped by method and by these.
    pub(crate) fn new(registry: &'static Registry, groupings: &[Grouping]) -> Self {
        let is_rows = |grouping: &Grouping| !matches!(grouping, Grouping::Method | Grouping::Error | Grouping::Reel);
        let all = std::iter::once(Grouping::Method).chain(groupings.iter().copied().filter(is_rows));
        let group = |grouping| Group { grouping, rows: HashMap::default(), others: Tally::default() };
        Self {
            registry,
            totals: Report::default(),
            first: None,
            last: 0,
            methods: Vec::new(),
            in_batches: Vec::new(),
            groups: all.map(group).collect(),
            needs_payloads: groupings.iter().any(|grouping| grouping.needs_payloads()),
            tools: HashMap::default(),
            errors: BTreeMap::new(),
            open: Pairing::default(),
            failed_exchange: 0,
            failed_method: None,
        }
    }

    /// Reads a reel to its end and counts each stream separately, up to [`MAX_STREAMS`].
    ///
    /// # Errors
    ///
    /// The reel cannot be read.
    pub(crate) fn by_stream(reader: &mut AheadReader) -> std::io::Result<BTreeMap<u32, Self>> {
        let mut streams: BTreeMap<u32, Self> = BTreeMap::new();
        while let Some(item) = reader.next()? {
            let Item::Block(block) = item else { continue };
            for header in &block.headers {
                if streams.len() >= MAX_STREAMS && !streams.contains_key(&header.stream) {
                    continue;
                }
                let counter = streams.entry(header.stream).or_insert_with(|| Self::new(Registry::built_in(), &[]));
                counter.know_methods(reader.methods());
                counter.add(&block.event(header), true);
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
    pub(crate) fn read(
        &mut self,
        stream: u32,
        selection: &mut Selection,
        reader: &mut AheadReader,
        mut reach: impl FnMut(u64),
    ) -> std::io::Result<()> {
        while let Some(item) = reader.next()? {
            match item {
                Item::Damage(damage) => self.totals.damages.push(damage.to_string()),
                Item::Block(block) => {
                    reach(block.offset);
                    self.know_methods(reader.methods());
                    for header in block.headers.iter().filter(|header| stream == 0 || header.stream == stream) {
                        let event = block.event(header);
                        self.totals.read += 1;
                        let is_counted = selection.selects(&event, reader.methods());
                        self.add(&event, is_counted);
                    }
                    reader.recycle(block);
                }
            }
        }
        Ok(())
    }

    /// Learns the names of methods that are new.
    fn know_methods(&mut self, names: &[Box<str>]) {
        for name in names.get(self.methods.len()..).unwrap_or_default() {
            self.methods.push(self.facts_of(name));
        }
    }

    fn facts_of(&self, name: &str) -> MethodFacts {
        let proposal = self.registry.of_method(name);
        let limit = proposal.and_then(|proposal| proposal.response_limit(name));
        MethodFacts {
            proposal: proposal.map_or(MCP, |proposal| self.number_of(proposal.descriptor().name)),
            limit: limit.and_then(|limit| i64::try_from(limit.as_nanos()).ok()),
            is_tool_call: name == "tools/call",
        }
    }

    /// What is known of the method with this number.
    fn facts(&self, number: u32) -> Option<MethodFacts> {
        match number.checked_sub(FIRST_IN_BATCHES) {
            Some(place) => self.in_batches.get(place as usize).map(|(_, facts)| *facts),
            None => self.methods.get(number as usize).copied(),
        }
    }

    /// The number of the method of a message in a batch; that of no method if there are too many.
    fn number_in_batches(&mut self, name: &str) -> u32 {
        let known = self.in_batches.iter().position(|(known, _)| **known == *name);
        let place = known.unwrap_or(self.in_batches.len());
        if place == self.in_batches.len() && place < MAX_NAMES {
            self.in_batches.push((name.into(), self.facts_of(name)));
        }
        FIRST_IN_BATCHES + place as u32
    }

    /// The number of a proposal.
    fn number_of(&self, name: &str) -> u32 {
        let place = self.registry.iter().position(|proposal| proposal.descriptor().name == name);
        place.and_then(|place| u32::try_from(place).ok()).unwrap_or(MCP)
    }

    /// The number of messages.
    pub(crate) fn messages(&self) -> u64 {
        self.totals.messages
    }

    /// The number of failures: the events that the filter term `error` selects.
    pub(crate) fn failed(&self) -> u64 {
        self.totals.failed
    }

    /// The number of requests without a response, not counting injected ones: only their sender knows whether it still
    /// waits.
    pub(crate) fn waiting(&self) -> usize {
        self.open.unanswered().filter(|asked| asked.is_counted && !asked.is_injected).count()
    }

    /// Pairs an event with others, and counts it if it is selected.
    fn add(&mut self, event: &Event<'_>, is_counted: bool) {
        let header = event.header;
        if is_counted {
            self.count(event);
        }
        match &header.message {
            Some(_) if header.is_batch() => self.add_batch(event, is_counted),
            Some(message) => self.add_message(event, message, is_counted),
            None => {
                if header.is_sent_again()
                    && let Some(asked) = self.open.of_exchange(header.exchange)
                {
                    asked.time = header.time;
                }
                if header.flags.has(Flags::FAILED) && header.kind == EventKind::Transport {
                    self.fail(header, is_counted);
                }
            }
        }
    }

    /// Pairs and counts each message of a batch, which has its payload.
    fn add_batch(&mut self, event: &Event<'_>, is_counted: bool) {
        for item in json::items(event.body()) {
            let envelope = Envelope::scan(item);
            let mut header = event.header.of_item(item, &envelope);
            // A batch in a batch is not a message.
            let Some(message) = header.message.as_mut().filter(|message| message.kind != MessageKind::Batch) else {
                continue;
            };
            message.method = envelope.method.as_deref().map(|name| self.number_in_batches(name));
            let message = message.clone();
            self.add_message(&Event { header: &header, payload: item }, &message, is_counted);
        }
    }

    /// Pairs a message with others, and counts it in its rows if it is selected.
    fn add_message(&mut self, event: &Event<'_>, message: &MessageHeader, is_counted: bool) {
        let header = event.header;
        let keys = self.keys(event);
        if let Some(keys) = keys.as_ref().filter(|_| is_counted) {
            let (len, is_notification) = (u64::from(header.len), message.kind == MessageKind::Notification);
            self.each_row(keys, |row| {
                row.calls += 1;
                row.notifications += u64::from(is_notification);
                row.bytes += len;
                row.reach(header.time);
            });
        }
        let Some(id) = &message.id else { return self.unattributed(event, None, is_counted) };
        match (message.kind, keys) {
            (MessageKind::Request, Some(keys)) => {
                let is_injected = header.flags.has(Flags::INJECTED);
                let (seq, time, has_failed) = (header.seq, header.time, false);
                let asked = Asked { keys, seq, time, is_injected, is_counted, has_failed };
                self.open.ask_in(header.exchange, header.stream, header.direction(), id.key(), asked);
            }
            (kind, _) if kind.is_response() => match self.open.answer(header.stream, header.direction(), id.key()) {
                // It was counted with its exchange: this response repeats that, perhaps in place of the server.
                Some(asked) if asked.has_failed => self.unattributed(event, Some(asked.keys.method), is_counted),
                Some(asked) if is_counted => self.answer(&asked, event),
                _ if !is_counted => {}
                // The error response repeats what the HTTP status said.
                _ if header.exchange != 0 && header.exchange == self.failed_exchange => {
                    self.unattributed(event, None, is_counted);
                }
                _ => {
                    self.totals.orphans += 1;
                    self.unattributed(event, None, is_counted);
                }
            },
            _ => {}
        }
    }

    /// The rows of a request or notification.
    fn keys(&mut self, event: &Event<'_>) -> Option<Keys> {
        let method = event.header.message.as_ref()?.method?;
        let facts = self.facts(method)?;
        let called = (self.needs_payloads && facts.is_tool_call).then(|| tool_name(event.body())).flatten();
        let of_tool = called.as_deref().and_then(|tool| self.registry.of_tool(tool));
        let proposal = of_tool.map_or(facts.proposal, |proposal| self.number_of(proposal.descriptor().name));
        let tool = called.map(|name| self.tool(name));
        Some(Keys { method, tool, proposal, stream: event.header.stream, direction: event.header.direction() })
    }

    fn tool(&mut self, name: String) -> u32 {
        match self.tools.get(&name) {
            Some(number) => *number,
            None if self.tools.len() >= MAX_NAMES => u32::MAX,
            None => {
                let number = self.tools.len() as u32;
                self.tools.insert(name, number);
                number
            }
        }
    }

    fn count(&mut self, event: &Event<'_>) {
        let header = event.header;
        let len = u64::from(header.len);
        self.totals.events += 1;
        self.totals.bytes += len;
        self.totals.failed += u64::from(event.is_failure());
        self.first = Some(self.first.map_or(header.time, |first| first.min(header.time)));
        self.last = self.last.max(header.time);
        match header.kind {
            EventKind::Stderr => self.totals.stderr_bytes += len,
            EventKind::Gap => self.totals.gaps += 1,
            _ => {}
        }
        let Some(message) = &header.message else { return };
        self.totals.messages += 1;
        self.totals.message_bytes += len;
        self.totals.kinds[message.kind as usize] += 1;
        self.totals.activity.add(header.time);
    }

    /// Changes all rows that a request belongs to.
    fn each_row(&mut self, keys: &Keys, mut change: impl FnMut(&mut Tally)) {
        for group in &mut self.groups {
            if let Some(number) = keys.row(group.grouping) {
                change(group.row(number));
            }
        }
    }

    /// Counts an HTTP exchange that failed, and with it its request.
    fn fail(&mut self, header: &EventHeader, is_counted: bool) {
        self.totals.failures += u64::from(is_counted);
        (self.failed_exchange, self.failed_method) = (header.exchange, None);
        let Some(asked) = self.open.of_exchange(header.exchange) else { return };
        self.failed_method = Some(asked.keys.method);
        asked.has_failed = true;
        let (keys, is_counted) = (asked.keys, asked.is_counted);
        self.open.give_up(header.exchange);
        if is_counted {
            self.each_row(&keys, |row| row.errors += 1);
        }
    }

    fn answer(&mut self, asked: &Asked, event: &Event<'_>) {
        let header = event.header;
        let latency = header.time.saturating_sub(asked.time);
        let limit = self.facts(asked.keys.method).and_then(|facts| facts.limit);
        let is_error = header.message.as_ref().is_some_and(|message| message.kind == MessageKind::Error);
        let is_tool_error = header.flags.has(Flags::TOOL_ERROR);
        self.each_row(&asked.keys, |row| {
            row.answer(latency, asked.seq);
            row.bytes += u64::from(header.len);
            row.errors += u64::from(is_error);
            row.tool_errors += u64::from(is_tool_error);
            row.late += u64::from(limit.is_some_and(|limit| latency > limit));
            row.reach(header.time);
        });
        if self.needs_payloads && (is_error || is_tool_error) {
            let code = Envelope::scan(event.body()).error_code();
            self.fault(code.filter(|_| is_error), asked.keys.method);
        }
    }

    /// Counts an error response that answers no open request: it has no id, or repeats that its HTTP exchange failed.
    fn unattributed(&mut self, event: &Event<'_>, method: Option<u32>, is_counted: bool) {
        let header = event.header;
        let is_error = header.message.as_ref().is_some_and(|message| message.kind == MessageKind::Error);
        if is_error && is_counted && self.needs_payloads {
            let of_exchange =
                self.failed_method.filter(|_| header.exchange != 0 && header.exchange == self.failed_exchange);
            let code = Envelope::scan(event.body()).error_code();
            self.fault(code, method.or(of_exchange).unwrap_or(UNKNOWN_REQUEST));
        }
    }

    fn fault(&mut self, code: Option<i64>, method: u32) {
        let key = (code, method);
        if self.errors.len() < MAX_NAMES || self.errors.contains_key(&key) {
            *self.errors.entry(key).or_default() += 1;
        }
    }

    /// The counts with their names.
    pub(crate) fn finish(mut self, methods: &[Box<str>]) -> Report {
        let open: Vec<Keys> = self.open.unanswered().filter(|asked| asked.is_counted).map(|asked| asked.keys).collect();
        for keys in &open {
            self.each_row(keys, |row| row.unanswered += 1);
        }
        let in_batches = |number: u32| {
            let place = number.checked_sub(FIRST_IN_BATCHES)?;
            self.in_batches.get(place as usize).map(|(name, _)| name)
        };
        let named = |number: u32| match methods.get(number as usize).or_else(|| in_batches(number)) {
            Some(name) => name.to_string(),
            None if number == UNKNOWN_REQUEST => "(no request)".to_owned(),
            None => "(others)".to_owned(),
        };
        let tools: HashMap<u32, &str> = self.tools.iter().map(|(name, number)| (*number, name.as_str())).collect();
        let proposal = |number: u32| {
            let found = self.registry.iter().nth(number as usize);
            found.map_or("MCP", |proposal| proposal.descriptor().name).to_owned()
        };
        let name = |grouping: Grouping, number: u32| match grouping {
            Grouping::Tool => tools.get(&number).map_or("(others)", |name| name).to_owned(),
            Grouping::Proposal => proposal(number),
            Grouping::Session => number.to_string(),
            Grouping::Direction if number == Direction::ServerToClient as u32 => {
                Direction::ServerToClient.short().to_owned()
            }
            Grouping::Direction => Direction::ClientToServer.short().to_owned(),
            Grouping::Method | Grouping::Error | Grouping::Reel => named(number),
        };
        let mut report = self.totals;
        report.span = self.last.saturating_sub(self.first.unwrap_or(self.last));
        report.unanswered = open.len() as u64;
        for group in self.groups {
            let mut rows = Rows::default();
            group.rows.into_iter().for_each(|(number, row)| rows.merge(name(group.grouping, number), &row));
            if group.others.calls > 0 {
                rows.merge("(others)".to_owned(), &group.others);
            }
            report.groups.insert(group.grouping, rows);
        }
        for ((code, method), count) in self.errors {
            *report.errors.entry(ErrorKey { code, method: named(method) }).or_default() += count;
        }
        report
    }
}
