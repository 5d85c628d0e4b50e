//! Counts the events of one reel, in order.

use super::report::{ErrorKey, Report, Rows};
use super::{Grouping, Tally};
use crate::proposals::Registry;
use crate::session::Outcome;
use crate::session::filter::tool_name;
use crate::session::reading::{Reading, Response, Role, Said};
use crate::session::selection::Selection;
use crate::trace::{AheadReader, Event, EventKind, Flags, Item, MessageHeader};
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

/// What is remembered of a request.
#[derive(Debug)]
struct Asked {
    keys: Keys,
    is_injected: bool,
    /// Whether it is selected.
    is_counted: bool,
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
    methods: Vec<Method>,
    /// The methods of messages in batches.
    in_batches: Vec<Method>,
    groups: Vec<Group>,
    needs_payloads: bool,
    tools: HashMap<String, u32, RandomState>,
    errors: BTreeMap<(Option<i64>, u32), u64>,
    reading: Reading<Asked>,
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
            reading: Reading::default(),
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
            self.methods.push((name.clone(), self.facts_of(name)));
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
        known(&self.methods, &self.in_batches, number).map(|(_, facts)| *facts)
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
        self.pending().filter(|asked| !asked.is_injected).count()
    }

    /// The selected requests without a response.
    fn pending(&self) -> impl Iterator<Item = &Asked> {
        self.reading.pending().map(|request| &request.memory).filter(|asked| asked.is_counted)
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
            None => self.add_other(event, is_counted),
        }
    }

    /// Takes an event that is no message: an HTTP exchange may have failed, and with it its requests.
    fn add_other(&mut self, event: &Event<'_>, is_counted: bool) {
        let is_failure = event.header.kind == EventKind::Transport && event.header.flags.has(Flags::FAILED);
        self.totals.failures += u64::from(is_failure && is_counted);
        let mut changed = Vec::new();
        self.reading.event(event, |request, outcome| {
            if request.memory.is_counted {
                changed.push((request.memory.keys, has_failed(request.so_far), has_failed(Some(outcome))));
            }
        });
        for (keys, before, now) in &changed {
            self.each_row(keys, |row| row.errors = (row.errors + u64::from(*now)).saturating_sub(u64::from(*before)));
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
        let method = message.method.and_then(|number| known(&self.methods, &self.in_batches, number));
        let Some(said) = Said::of_event(event, method.map(|(name, _)| &**name)) else { return };
        let (stream, direction) = (header.stream, header.direction());
        let unnamed = Keys { method: UNKNOWN_REQUEST, tool: None, proposal: MCP, stream, direction };
        let is_injected = header.flags.has(Flags::INJECTED);
        let remember = || Asked { keys: keys.unwrap_or(unnamed), is_injected, is_counted };
        if let (Role::Response(response), true) = (self.reading.message(&said, remember), is_counted) {
            self.answer(response, event);
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

    fn answer(&mut self, response: Response<Asked>, event: &Event<'_>) {
        let header = event.header;
        let Response { request, outcome, latency, is_of_no_request } = response;
        let is_error = outcome.is_failure() && outcome != Outcome::ToolError;
        let (asked, latency) = (request.as_ref().map(|request| &request.memory), latency.unwrap_or_default());
        if let (Some(request), Some(asked)) = (&request, asked) {
            let limit = self.facts(asked.keys.method).and_then(|facts| facts.limit);
            // It was counted when its exchange failed.
            let was_counted = asked.is_counted && has_failed(request.so_far);
            self.each_row(&asked.keys, |row| {
                row.answer(latency, request.seq);
                row.bytes += u64::from(header.len);
                row.errors = (row.errors + u64::from(is_error)).saturating_sub(u64::from(was_counted));
                row.tool_errors += u64::from(outcome == Outcome::ToolError);
                row.late += u64::from(limit.is_some_and(|limit| latency > limit));
                row.reach(header.time);
            });
        } else if header.message.as_ref().is_some_and(|message| message.id.is_some()) && !is_of_no_request {
            self.totals.orphans += 1;
        }
        if self.needs_payloads && outcome.is_failure() {
            let code = Envelope::scan(event.body()).error_code().filter(|_| is_error);
            self.fault(code, asked.map_or(UNKNOWN_REQUEST, |asked| asked.keys.method));
        }
    }

    fn fault(&mut self, code: Option<i64>, method: u32) {
        let key = (code, method);
        if self.errors.len() < MAX_NAMES || self.errors.contains_key(&key) {
            *self.errors.entry(key).or_default() += 1;
        }
    }

    /// The counts with their names. `methods` are those of the reel.
    pub(crate) fn finish(mut self, methods: &[Box<str>]) -> Report {
        self.know_methods(methods);
        let open: Vec<Keys> = self.pending().map(|asked| asked.keys).collect();
        for keys in &open {
            self.each_row(keys, |row| row.unanswered += 1);
        }
        let named = |number: u32| match known(&self.methods, &self.in_batches, number) {
            Some((name, _)) => name.to_string(),
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

fn has_failed(outcome: Option<Outcome>) -> bool {
    outcome.is_some_and(Outcome::is_failure)
}

/// A method with what is known of it.
type Method = (Box<str>, MethodFacts);

/// Returns the method with this number.
fn known<'m>(methods: &'m [Method], in_batches: &'m [Method], number: u32) -> Option<&'m Method> {
    match number.checked_sub(FIRST_IN_BATCHES) {
        Some(place) => in_batches.get(place as usize),
        None => methods.get(number as usize),
    }
}
