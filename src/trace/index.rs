//! The index: the places of groups, and counts of a reel's content. It is written as the footer, and a scan can rebuild
//! it.

use super::event::{EventHeader, EventKind};
use super::format::{SEGMENT_HEADER_LEN, SegmentHeader};
use crate::wire::MessageKind;
use serde::de::{Error, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// The place of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupEntry(
    /// The offset of its first segment in the file.
    pub u64,
    /// The number of its first event.
    pub u64,
    /// The earliest time in it, in nanoseconds since the clock base.
    pub i64,
    /// The latest time in it, in nanoseconds since the clock base.
    pub i64,
);

/// Groups as a byte string: offset, event number, earliest and latest time, each of eight bytes, little-endian.
mod packed {
    use super::GroupEntry;
    use serde::de::{Error, Visitor};
    use serde::{Deserializer, Serializer};

    /// Writes the groups as one byte string.
    ///
    /// # Errors
    ///
    /// The serializer failed.
    pub(super) fn serialize<S: Serializer>(groups: &[GroupEntry], to: S) -> Result<S::Ok, S::Error> {
        let mut bytes = Vec::with_capacity(groups.len() * 32);
        for GroupEntry(offset, seq, first, last) in groups {
            bytes.extend_from_slice(&offset.to_le_bytes());
            bytes.extend_from_slice(&seq.to_le_bytes());
            bytes.extend_from_slice(&first.to_le_bytes());
            bytes.extend_from_slice(&last.to_le_bytes());
        }
        to.serialize_bytes(&bytes)
    }

    /// Reads the groups back.
    ///
    /// # Errors
    ///
    /// There is no byte string, or its length is not a multiple of a group.
    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<GroupEntry>, D::Error> {
        struct Bytes;

        impl Visitor<'_> for Bytes {
            type Value = Vec<GroupEntry>;

            fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str("a byte string of 32 bytes per group")
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
                let (words, rest) = bytes.as_chunks::<8>();
                let (entries, more) = words.as_chunks::<4>();
                if !(rest.is_empty() && more.is_empty()) {
                    return Err(E::invalid_length(bytes.len(), &self));
                }
                let entry = |&[offset, seq, first, last]: &[[u8; 8]; 4]| {
                    let (first, last) = (i64::from_le_bytes(first), i64::from_le_bytes(last));
                    GroupEntry(u64::from_le_bytes(offset), u64::from_le_bytes(seq), first, last)
                };
                Ok(entries.iter().map(entry).collect())
            }
        }

        from.deserialize_byte_buf(Bytes)
    }
}

/// A count of events, and of their payload bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally(
    /// The number of events.
    pub u64,
    /// The number of payload bytes.
    pub u64,
);

/// Returns the sum; `None` if it overflows.
fn sum<'a>(mut tallies: impl Iterator<Item = &'a Tally>) -> Option<Tally> {
    tallies.try_fold(Tally::default(), |sum, more| Some(Tally(sum.0.checked_add(more.0)?, sum.1.checked_add(more.1)?)))
}

impl Tally {
    fn add(&mut self, bytes: u32) {
        self.0 += 1;
        self.1 += u64::from(bytes);
    }
}

/// The places of groups and the counts of a reel: a CBOR map in the footer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Index {
    /// All groups, in the order of the file: one byte string of 32 bytes per group, so that a seek need not parse it.
    #[serde(with = "packed")]
    pub groups: Vec<GroupEntry>,
    /// The number of events.
    pub events: u64,
    /// The number of payload bytes.
    pub bytes: u64,
    /// The earliest and the latest time, in nanoseconds since the clock base.
    pub times: Option<(i64, i64)>,
    /// Counts by the name of the event kind.
    pub kinds: BTreeMap<String, Tally>,
    /// Counts by the name of the message kind.
    pub messages: BTreeMap<String, Tally>,
    /// Counts by method, for messages with a method.
    pub methods: BTreeMap<String, Tally>,
    /// Counts by stream number.
    pub streams: BTreeMap<u32, Tally>,
}

impl Index {
    /// Adds a group.
    pub fn start_group(&mut self, offset: u64, first_seq: u64, time: i64) {
        self.groups.push(GroupEntry(offset, first_seq, time, time));
    }

    /// Returns an error in the index that is visible without reading the reel, which has segments from `first_segment`
    /// to its footer.
    pub fn fault(&self, first_segment: u64, footer_at: u64, footer: &SegmentHeader) -> Option<String> {
        if self.events != footer.first_seq {
            return Some("its number of events differs from its header".to_owned());
        }
        let earliest = self.groups.iter().map(|group| group.2).min();
        let latest = self.groups.iter().map(|group| group.3).max();
        if self.times != earliest.zip(latest) {
            return Some("its times differ from those of its groups".to_owned());
        }
        groups_fault(&self.groups, first_segment, footer_at, footer)
    }

    /// Returns an error in the counts, for a reel with these numbers of events and payload bytes. The index of a later
    /// version may count kinds that this version does not know.
    pub fn fault_in_sums(&self, events: u64, bytes: u64, is_known_version: bool) -> Option<String> {
        let whole = Tally(events, bytes);
        if (self.events, self.bytes) != (events, bytes) {
            return Some(format!(
                "it counts {} events with {} bytes, but the reel has {events} events with {bytes} bytes",
                self.events, self.bytes
            ));
        }
        let messages = self.kinds.get(&EventKind::Message.name()).copied().unwrap_or_default();
        let names = |map: &BTreeMap<String, Tally>, is_name: fn(&str) -> bool| map.keys().all(|name| is_name(name));
        let is_message = |name: &str| MessageKind::ALL.iter().any(|kind| kind.name() == name);
        let is_right = sum(self.streams.values()) == Some(whole)
            && sum(self.methods.values()).is_some_and(|sum| sum.0 <= messages.0 && sum.1 <= messages.1)
            && (!is_known_version
                || sum(self.kinds.values()) == Some(whole)
                    && sum(self.messages.values()) == Some(messages)
                    && names(&self.kinds, |name| EventKind::from_name(name).is_some())
                    && names(&self.messages, is_message));
        (!is_right).then(|| "its sums do not add up".to_owned())
    }

    /// Returns the names of the members that differ from an index that was counted by reading the reel. A later version
    /// may count kinds that this version does not know.
    pub fn differences(&self, counted: &Self, is_known_version: bool) -> Vec<&'static str> {
        let same_kinds = self.kinds.iter().all(|(name, tally)| match counted.kinds.get(name) {
            None => !is_known_version && EventKind::from_name(name).is_none(),
            Some(counted) => counted == tally,
        });
        // Kinds that the writer did not know may be missing.
        let all_kinds = counted.kinds.keys().all(|name| self.kinds.contains_key(name) || name.starts_with("unknown-"));
        // The methods that are counted together depend on the order of events.
        let together = [self, counted].iter().any(|index| index.methods.contains_key(OTHER_METHODS));
        let same_methods = match together {
            true => sum(self.methods.values()) == sum(counted.methods.values()),
            false => self.methods == counted.methods,
        };
        let compared = [
            ("events", self.events == counted.events),
            ("bytes", self.bytes == counted.bytes),
            ("times", self.times == counted.times),
            ("groups", self.groups == counted.groups),
            ("kinds", same_kinds && all_kinds),
            ("messages", self.messages == counted.messages),
            ("streams", self.streams == counted.streams),
            ("methods", same_methods),
        ];
        compared.into_iter().filter(|(_, is_same)| !is_same).map(|(what, _)| what).collect()
    }
}

/// The groups of an index without its counts, which can be large: a seek needs only these.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Groups(Vec<GroupEntry>);

impl Groups {
    /// Returns the place of the group with the event numbered `seq`, or of the last group before it.
    pub(crate) fn with_seq(&self, seq: u64) -> usize {
        self.0.partition_point(|group| group.1 <= seq).saturating_sub(1)
    }

    /// Returns the place of the first group with an event at `time` or later, else of the last group.
    pub(crate) fn with_time(&self, time: i64) -> usize {
        // No binary search: in a reel joined from several others, times need not be in order.
        let found = self.0.iter().position(|group| group.3 >= time);
        found.unwrap_or(self.0.len().saturating_sub(1))
    }

    /// Returns the group at a place.
    pub(crate) fn get(&self, place: usize) -> Option<GroupEntry> {
        self.0.get(place).copied()
    }

    /// Returns an error in the groups, for a reel with segments from `first_segment` to its footer.
    pub(crate) fn fault(&self, first_segment: u64, footer_at: u64, footer: &SegmentHeader) -> Option<String> {
        groups_fault(&self.0, first_segment, footer_at, footer)
    }
}

fn groups_fault(groups: &[GroupEntry], first_segment: u64, footer_at: u64, footer: &SegmentHeader) -> Option<String> {
    let (mut from, mut seq, mut last) = (first_segment, 0, None);
    for (number, group) in groups.iter().enumerate() {
        let is_inside = group.0 >= from && group.0.saturating_add(SEGMENT_HEADER_LEN as u64) <= footer_at;
        if !is_inside || group.1 < seq || group.1 >= footer.first_seq || group.2 > group.3 {
            return Some(format!("its entry for group {number} is not possible"));
        }
        (from, seq) = (group.0 + SEGMENT_HEADER_LEN as u64, group.1 + 1);
        last = last.max(Some(group.3));
    }
    if last.is_none() && footer.first_seq > 0 {
        return Some("it lists no groups".to_owned());
    }
    (last.unwrap_or(0) != footer.first_time).then(|| "its latest time is not that of a group".to_owned())
}

impl<'de> Deserialize<'de> for Groups {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Members;

        #[derive(Deserialize)]
        struct Packed(#[serde(with = "packed")] Vec<GroupEntry>);

        impl<'de> Visitor<'de> for Members {
            type Value = Groups;

            fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str("the map of an index")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Groups, A::Error> {
                while let Some(key) = members.next_key::<String>()? {
                    if key == "groups" {
                        // Skip the rest of the map.
                        return members.next_value().map(|Packed(groups)| Groups(groups));
                    }
                    members.next_value::<IgnoredAny>()?;
                }
                Err(A::Error::missing_field("groups"))
            }
        }

        from.deserialize_map(Members)
    }
}

/// Counts events cheaply while they are written: names are created only for the index.
#[derive(Debug, Default)]
pub(crate) struct Tallies {
    /// By kind number, up to the highest one seen.
    kinds: Vec<Tally>,
    messages: [Tally; MessageKind::ALL.len()],
    methods: std::collections::HashMap<Box<str>, Tally, foldhash::fast::RandomState>,
    streams: Vec<Tally>,
    many_streams: BTreeMap<u32, Tally>,
}

/// The maximum number of methods that are counted by name; further ones are counted together.
const MAX_METHODS: usize = 4096;
/// The name under which further methods are counted.
const OTHER_METHODS: &str = "(other methods)";

/// Streams with lower numbers are counted in an array.
const DENSE_STREAMS: usize = 256;

impl Tallies {
    /// Counts one event.
    pub(crate) fn add(&mut self, kind: EventKind, stream: u32, len: u32, message: Option<(MessageKind, Option<&str>)>) {
        let number = usize::from(kind.number());
        if self.kinds.len() <= number {
            self.kinds.resize(number + 1, Tally::default());
        }
        self.kinds[number].add(len);
        match self.streams.get_mut(stream as usize) {
            Some(tally) => tally.add(len),
            None if (stream as usize) < DENSE_STREAMS => {
                self.streams.resize(stream as usize + 1, Tally::default());
                self.streams[stream as usize].add(len);
            }
            None => self.many_streams.entry(stream).or_default().add(len),
        }
        let Some((kind, method)) = message else { return };
        self.messages[kind as usize].add(len);
        let Some(method) = method else { return };
        if let Some(tally) = self.methods.get_mut(method) {
            return tally.add(len);
        }
        let name = if self.methods.len() < MAX_METHODS { method } else { OTHER_METHODS };
        self.methods.entry(name.into()).or_default().add(len);
    }

    /// Counts an event that was read from a reel.
    pub(crate) fn add_header(&mut self, header: &EventHeader, methods: &[Box<str>]) {
        let message = header.message.as_ref().map(|message| {
            (message.kind, message.method.and_then(|number| methods.get(number as usize)).map(|name| &**name))
        });
        self.add(header.kind, header.stream, header.len, message);
    }

    /// Adds the counts of others to these, and resets them.
    pub(crate) fn absorb(&mut self, others: &mut Self) {
        let add = |sum: &mut Tally, more: &mut Tally| {
            let more = std::mem::take(more);
            *sum = Tally(sum.0 + more.0, sum.1 + more.1);
        };
        self.kinds.resize(self.kinds.len().max(others.kinds.len()), Tally::default());
        self.kinds.iter_mut().zip(&mut others.kinds).for_each(|(sum, more)| add(sum, more));
        self.messages.iter_mut().zip(&mut others.messages).for_each(|(sum, more)| add(sum, more));
        if self.streams.len() < others.streams.len() {
            self.streams.resize(others.streams.len(), Tally::default());
        }
        self.streams.iter_mut().zip(&mut others.streams).for_each(|(sum, more)| add(sum, more));
        while let Some((number, mut more)) = others.many_streams.pop_first() {
            add(self.many_streams.entry(number).or_default(), &mut more);
        }
        for (name, mut more) in others.methods.drain() {
            let is_counted = self.methods.len() < MAX_METHODS || self.methods.contains_key(&name);
            let name = if is_counted { name } else { OTHER_METHODS.into() };
            add(self.methods.entry(name).or_default(), &mut more);
        }
    }

    /// Fills in the counts of an index.
    pub(crate) fn fill(&self, index: &mut Index) {
        let named = |tally: &&Tally| tally.0 > 0;
        index.kinds = (0u8..=u8::MAX)
            .zip(&self.kinds)
            .filter(|(_, tally)| named(tally))
            .map(|(number, tally)| (EventKind::from_number(number).name(), *tally))
            .collect();
        index.messages = MessageKind::ALL
            .iter()
            .zip(&self.messages)
            .filter(|(_, tally)| named(tally))
            .map(|(kind, tally)| (kind.name().to_owned(), *tally))
            .collect();
        index.methods = self.methods.iter().map(|(name, tally)| (name.to_string(), *tally)).collect();
        index.streams = (0u32..).zip(&self.streams).filter(|(_, tally)| named(tally)).map(|(n, t)| (n, *t)).collect();
        index.streams.extend(self.many_streams.iter().map(|(number, tally)| (*number, *tally)));
    }
}
