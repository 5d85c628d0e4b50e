//! Merges reels: one order by time, and each session keeps a stream of its own.

use crate::trace::{EventHeader, FileHeader, NewEvent};
use std::collections::{BTreeMap, HashMap};

/// What is merged: the header of each reel, with a name for it.
#[derive(Debug)]
pub(crate) struct Source {
    /// The reel's name.
    pub name: String,
    /// The reel's header.
    pub header: FileHeader,
}

/// Puts the events of several reels into one.
#[derive(Debug)]
pub(crate) struct Merge {
    created: i64,
    sources: Vec<Source>,
    streams: HashMap<(usize, u32), u32>,
    exchanges: HashMap<(usize, u32), u32>,
}

impl Merge {
    /// Prepares the merging of reels. The clock base is that of the earliest one.
    pub(crate) fn new(sources: Vec<Source>) -> Self {
        let created = sources.iter().map(|source| source.header.created).min().unwrap_or_default();
        Self { created, sources, streams: HashMap::new(), exchanges: HashMap::new() }
    }

    /// Returns the header of the merged reel: labels and notes of the sources become notes.
    pub(crate) fn header(&self, tool: &str) -> FileHeader {
        let mut notes = BTreeMap::new();
        for (number, source) in (1..).zip(&self.sources) {
            notes.insert(format!("merged.{number}"), source.name.clone());
            notes.extend(source.header.label.iter().map(|label| (format!("merged.{number}.label"), label.clone())));
            let inner = source.header.notes.iter();
            notes.extend(inner.map(|(name, value)| (format!("merged.{number}.{name}"), value.clone())));
        }
        FileHeader { created: self.created, tool: tool.to_owned(), label: None, notes }
    }

    /// Returns the time of an event of a reel on the clock of the merged reel.
    pub(crate) fn time(&self, source: usize, time: i64) -> i64 {
        let created = self.sources.get(source).map_or(self.created, |source| source.header.created);
        created.saturating_sub(self.created).saturating_add(time)
    }

    /// Returns an event of a reel as it is written to the merged reel.
    pub(crate) fn event<'a>(&mut self, source: usize, header: &EventHeader, payload: &'a [u8]) -> NewEvent<'a> {
        let EventHeader { kind, flags, framing, .. } = *header;
        let streams = self.streams.len();
        let stream = *self.streams.entry((source, header.stream)).or_insert(u32::try_from(streams).unwrap_or(u32::MAX));
        let exchanges = self.exchanges.len() + 1;
        let exchange = match header.exchange {
            0 => 0,
            number => *self.exchanges.entry((source, number)).or_insert(u32::try_from(exchanges).unwrap_or(u32::MAX)),
        };
        NewEvent { time: self.time(source, header.time), stream, exchange, kind, flags, framing, payload }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{EventKind, Flags};
    use crate::wire::Framing;

    #[test]
    fn sessions_stay_apart_and_times_are_on_one_clock() {
        let source = |created, label: Option<&str>| Source {
            name: "a.reel".into(),
            header: FileHeader { created, label: label.map(str::to_owned), ..FileHeader::default() },
        };
        let mut merge = Merge::new(vec![source(1000, Some("x")), source(400, None)]);
        let header = |stream, exchange| EventHeader {
            seq: 0,
            time: 7,
            stream,
            exchange,
            kind: EventKind::Note,
            flags: Flags::default(),
            framing: Framing::Whole,
            len: 0,
            offset: 0,
            message: None,
        };
        let mut placed = |source, stream, exchange| {
            let event = merge.event(source, &header(stream, exchange), b"");
            (event.stream, event.exchange, event.time)
        };
        assert_eq!(placed(0, 0, 0), (0, 0, 607));
        assert_eq!(placed(1, 0, 1), (1, 1, 7));
        assert_eq!(placed(0, 0, 1), (0, 2, 607));
        assert_eq!(placed(0, 3, 1), (2, 2, 607));
        assert_eq!(merge.header("t").notes.get("merged.1.label").map(String::as_str), Some("x"));
    }
}
