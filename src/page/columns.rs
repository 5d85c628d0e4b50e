//! The events of a page, column by column.

use crate::session::steps::Step;
use crate::trace::{EventHeader, Flags, RecordedId};
use crate::wire::Direction;
use crate::wire::mask::masked;
use serde::Serialize;
use std::collections::HashMap;

/// At most this many characters of what an event is about are in the list. The message has all of it.
const ABOUT_CHARS: usize = 300;

/// Each member has one value for each event.
#[derive(Debug, Default, Serialize)]
pub(super) struct Columns {
    pub seq: Vec<u64>,
    time: Vec<i64>,
    stream: Vec<u32>,
    /// 0 none, 1 to the server, 2 to the client.
    dir: Vec<u8>,
    /// Like `kind`, `method`, `title` and `tool`, places in the texts; -1 if there is none.
    event: Vec<i32>,
    kind: Vec<i32>,
    method: Vec<i32>,
    title: Vec<i32>,
    tool: Vec<i32>,
    id: Vec<String>,
    size: Vec<u32>,
    latency: Vec<Option<i64>>,
    /// The place of the request that a response answers; -1 if there is none.
    asked: Vec<i64>,
    about: Vec<String>,
    /// The length of the name with which `about` begins, in UTF-16 units.
    subject: Vec<usize>,
    outcome: Vec<String>,
    depth: Vec<usize>,
    /// 1 injected, 2 tool error, 4 failed exchange, 8 no message.
    flags: Vec<u8>,
    /// One bit for each name of a mark.
    marks: Vec<u32>,
    /// One bit for each proposal or pack.
    extensions: Vec<u32>,
    /// The block with the text, where it begins there, and its length in bytes; -1 if the page does not have it.
    pub block: Vec<i64>,
    pub start: Vec<u64>,
    pub length: Vec<u64>,
}

/// What a page has of an event beside its header and its step.
pub(super) struct Extra<'a> {
    pub method: Option<&'a str>,
    pub tool: Option<&'a str>,
    pub extensions: u32,
    /// The block, and the bytes in it.
    pub place: Option<(u64, std::ops::Range<u64>)>,
}

impl Columns {
    /// Appends an event. The marks of requests may still change: see [`Self::finish`].
    pub(super) fn push(&mut self, header: &EventHeader, extra: &Extra<'_>, texts: &mut Texts) {
        let message = header.message.as_ref();
        self.seq.push(header.seq);
        self.event.push(texts.place(&header.kind.name()));
        self.kind.push(message.map_or(-1, |message| texts.place(message.kind.name())));
        self.method.push(extra.method.map_or(-1, |method| texts.place(method)));
        self.tool.push(extra.tool.map_or(-1, |tool| texts.place(tool)));
        self.id.push(message.and_then(|message| message.id.as_ref()).map(id_text).unwrap_or_default());
        self.size.push(header.len);
        self.extensions.push(extra.extensions);
        self.flags.push(flags(header.flags));
        let (block, range) = extra.place.clone().map_or((-1, 0..0), |(block, range)| (block.cast_signed(), range));
        self.block.push(block);
        self.start.push(range.start);
        self.length.push(range.end - range.start);
    }

    /// Appends what the steps say, when all are known.
    pub(super) fn finish(&mut self, steps: &[Step], names: &[&str], texts: &mut Texts) {
        for (at, step) in steps.iter().enumerate() {
            self.time.push(step.time);
            self.stream.push(step.stream);
            self.dir.push(match step.direction {
                None => 0,
                Some(Direction::ClientToServer) => 1,
                Some(Direction::ServerToClient) => 2,
            });
            self.title.push(texts.place(&step.title));
            self.latency.push(step.latency);
            let asked = step.asked.and_then(|seq| self.seq.binary_search(&seq).ok());
            self.asked.push(asked.and_then(|at| i64::try_from(at).ok()).unwrap_or(-1));
            self.subject.push(step.about.get(..step.subject).map_or(0, |named| named.encode_utf16().count()));
            self.about.push(shortened(&step.about));
            self.outcome.push(shortened(&step.summary));
            self.depth.push(step.depth);
            let bit = |name: &str| names.iter().position(|known| *known == name).map_or(0, |bit| 1 << bit);
            self.marks.push(step.marks.iter().map(|mark| bit(mark.name())).sum());
            if step.is_broken() {
                self.flags[at] |= 8;
            }
        }
    }
}

/// The start of a text. Webhook secrets are hidden.
fn shortened(text: &str) -> String {
    masked(text).chars().take(ABOUT_CHARS).collect()
}

fn id_text(id: &RecordedId) -> String {
    match id {
        RecordedId::Integer(number) => number.to_string(),
        RecordedId::Text(text) => String::from_utf8_lossy(text).into_owned(),
    }
}

fn flags(flags: Flags) -> u8 {
    let bits = [(Flags::INJECTED, 1), (Flags::TOOL_ERROR, 2), (Flags::FAILED, 4)];
    bits.into_iter().filter(|(flag, _)| flags.has(*flag)).map(|(_, bit)| bit).sum()
}

/// Texts that many events share, each once.
#[derive(Debug, Default)]
pub(super) struct Texts {
    pub all: Vec<String>,
    places: HashMap<String, i32>,
}

impl Texts {
    /// Returns the place of a text.
    pub(super) fn place(&mut self, text: &str) -> i32 {
        if let Some(place) = self.places.get(text) {
            return *place;
        }
        let place = i32::try_from(self.all.len()).unwrap_or(-1);
        self.all.push(masked(text).into_owned());
        self.places.insert(text.to_owned(), place);
        place
    }
}
