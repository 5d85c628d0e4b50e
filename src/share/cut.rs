//! Cuts a part out of a reel: what a filter, a time and sessions select, with what is needed to understand it.

use crate::session::filter::{AnsweredRequest, Filter, FilterInput};
use crate::session::reading::{Reading, Request, Response, Role, Said};
use crate::trace::{Event, EventHeader, EventKind};
use crate::wire::{Direction, Envelope, MessageKind, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The most requests whose progress is followed.
const MAX_TOKENS: usize = 64 << 10;

/// What to cut out.
#[derive(Debug)]
pub(crate) struct Selection {
    /// Which events.
    pub filter: Filter,
    /// From this time on, in nanoseconds since the reel's clock base.
    pub from: Option<i64>,
    /// Up to this time, inclusive.
    pub to: Option<i64>,
    /// The streams; all if empty.
    pub streams: Vec<u32>,
    /// Whether to keep the handshake of each session.
    pub keeps_handshake: bool,
    /// Whether to keep both a request and its response.
    pub keeps_pairs: bool,
}

/// What is remembered of a request.
#[derive(Clone, Debug)]
struct Asked {
    method: String,
    tool: Option<String>,
}

/// The first pass over a reel: decides which events to keep.
#[derive(Debug)]
pub(crate) struct Cut {
    selection: Selection,
    reading: Reading<Asked>,
    tokens: HashMap<(u32, Direction, Vec<u8>), u64>,
    /// What each event needs: a response its request, and a request its response.
    needs: BTreeMap<u64, Vec<u64>>,
    selected: BTreeSet<u64>,
    /// The events of each stream that are kept if any other event of it is.
    context: BTreeMap<u32, Vec<u64>>,
    /// The HTTP heads of each exchange.
    heads: BTreeMap<u32, Vec<u64>>,
    streams: BTreeSet<u32>,
    exchanges: BTreeMap<u64, u32>,
}

impl Cut {
    /// Prepares a cut.
    pub(crate) fn new(selection: Selection) -> Self {
        Self {
            selection,
            reading: Reading::default(),
            tokens: HashMap::new(),
            needs: BTreeMap::new(),
            selected: BTreeSet::new(),
            context: BTreeMap::new(),
            heads: BTreeMap::new(),
            streams: BTreeSet::new(),
            exchanges: BTreeMap::new(),
        }
    }

    /// Takes the next event.
    pub(crate) fn take(&mut self, event: &Event<'_>) {
        match event.header.kind {
            EventKind::Message => self.message(event),
            _ => self.other(event),
        }
    }

    fn other(&mut self, event: &Event<'_>) {
        let header = event.header;
        self.reading.event(event, |_, _| {});
        match header.kind {
            EventKind::StreamOpened | EventKind::StreamClosed | EventKind::Gap => self.add_context(header),
            EventKind::Transport if header.exchange != 0 => {
                self.heads.entry(header.exchange).or_default().push(header.seq);
            }
            _ => {}
        }
        let is_wanted = self.selection.filter.is_empty() || self.selection.filter.names_events();
        let facts = FilterInput { body: Some(event.body()), ..FilterInput::of(header) };
        if is_wanted && self.is_inside(header) && self.selection.filter.decide(&facts).unwrap_or(false) {
            self.select(header);
        }
    }

    fn message(&mut self, event: &Event<'_>) {
        let (header, body) = (event.header, event.body());
        let envelope = Envelope::scan(body);
        let (mut asked, mut answered) = (None, Vec::new());
        match envelope.kind {
            MessageKind::Batch => {
                for item in json::items(body) {
                    let asked = self.pair(header, &Envelope::scan(item), item);
                    answered.push(asked.map(|Request { memory, .. }| AnsweredRequest {
                        method: memory.method.into(),
                        tool: memory.tool.map(Into::into),
                    }));
                }
            }
            _ => asked = self.pair(header, &envelope, body),
        }
        let method = asked.as_ref().map(|asked| asked.memory.method.as_str()).or(envelope.method.as_deref());
        let tool = asked.as_ref().and_then(|asked| asked.memory.tool.clone()).or_else(|| tool_of(body));
        let latency = asked.as_ref().map(|asked| header.time - asked.time);
        if method.is_some_and(is_handshake) {
            self.add_context(header);
        }
        let tool = tool.as_deref();
        let facts = FilterInput { header, method, latency, tool, body: Some(body), answered: &answered };
        if self.is_inside(header) && self.selection.filter.decide(&facts).unwrap_or(false) {
            self.select(header);
        }
    }

    /// Finds what a message belongs to. Returns the request that it answers.
    fn pair(&mut self, header: &EventHeader, envelope: &Envelope<'_>, text: &[u8]) -> Option<Request<Asked>> {
        let (stream, direction) = (header.stream, header.direction());
        let remember = || {
            let method = envelope.method.as_deref().unwrap_or_default().to_owned();
            Asked { method, tool: tool_of(text) }
        };
        match self.reading.message(&Said::of_envelope(header, envelope, Some(text)), remember) {
            Role::Request { .. } => {
                if let Some(token) = json::at_path(text, &["params", "_meta", "progressToken"])
                    && self.tokens.len() < MAX_TOKENS
                {
                    self.tokens.insert((stream, direction.reversed(), token.to_vec()), header.seq);
                }
                None
            }
            Role::Response(Response { request, .. }) => {
                let asked = request?;
                self.needs.entry(header.seq).or_default().push(asked.seq);
                self.needs.entry(asked.seq).or_default().push(header.seq);
                Some(asked)
            }
            Role::Notification { .. } => {
                let token = json::at_path(text, &["params", "progressToken"])?;
                let asked = self.tokens.get(&(stream, direction, token.to_vec()))?;
                self.needs.entry(header.seq).or_default().push(*asked);
                None
            }
            Role::Other => None,
        }
    }

    /// Returns whether an event is of the time and the sessions to cut out.
    pub(crate) fn is_inside(&self, header: &EventHeader) -> bool {
        let Selection { from, to, streams, .. } = &self.selection;
        from.is_none_or(|from| header.time >= from)
            && to.is_none_or(|to| header.time <= to)
            && (streams.is_empty() || streams.contains(&header.stream))
    }

    fn select(&mut self, header: &EventHeader) {
        self.selected.insert(header.seq);
        self.streams.insert(header.stream);
        if header.exchange != 0 {
            self.exchanges.insert(header.seq, header.exchange);
        }
    }

    fn add_context(&mut self, header: &EventHeader) {
        self.context.entry(header.stream).or_default().push(header.seq);
    }

    /// Returns whether whole sessions are kept, and nothing of them is left out.
    pub(crate) fn keeps_sessions_whole(&self) -> bool {
        let Selection { filter, from, to, .. } = &self.selection;
        filter.is_empty() && from.is_none() && to.is_none()
    }

    /// Ends the first pass. Returns the numbers of the events to keep.
    pub(crate) fn finish(mut self) -> BTreeSet<u64> {
        if self.selection.keeps_handshake {
            for stream in &self.streams {
                self.selected.extend(self.context.get(stream).into_iter().flatten());
            }
        }
        if self.selection.keeps_pairs {
            let needed = |seq: &u64| self.needs.get(seq).into_iter().flatten().copied().collect::<Vec<u64>>();
            // A notification needs a request, and a request its response.
            for _ in 0..2 {
                let more: Vec<u64> = self.selected.iter().flat_map(needed).collect();
                self.selected.extend(more);
            }
            let heads = |exchange: &u32| self.heads.get(exchange).into_iter().flatten().copied().collect::<Vec<u64>>();
            let more: Vec<u64> = self.exchanges.values().flat_map(heads).collect();
            self.selected.extend(more);
        }
        self.selected
    }
}

/// The tool that a call names.
fn tool_of(text: &[u8]) -> Option<String> {
    let is_call = json::first_member(text, "method") == Some(b"\"tools/call\"");
    let name = is_call.then(|| json::at_path(text, &["params", "name"]))??;
    json::as_str(name).map(std::borrow::Cow::into_owned)
}

/// Whether a method belongs to the beginning of a session: without it, the rest cannot be judged.
fn is_handshake(method: &str) -> bool {
    matches!(method, "initialize" | "notifications/initialized" | "server/discover" | "featureSets/update")
}
