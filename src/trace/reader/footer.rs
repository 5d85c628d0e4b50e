//! The index at the end of a reel. It is checked against the reel before it is used; a wrong index is ignored.

use super::joining::Place;
use super::{Damage, Input, Item, ReelReader, segment_header};
use crate::trace::format::{SEGMENT_HEADER_LEN, SegmentHeader, SegmentKind, TRAILER_LEN, VERSION, decode_trailer};
use crate::trace::index::{GroupEntry, Groups, Index};
use serde::de::IgnoredAny;
use std::io;

/// A footer: its offset, its header, and the part of the index that is needed.
struct Footer<T> {
    at: u64,
    header: SegmentHeader,
    index: T,
}

impl ReelReader {
    /// Returns the index. In a file, it is read from the end and checked against the headers of all segments. In a
    /// pipe, it is known once the footer was reached. Returns `None` if there is no index, and a damage if it is wrong.
    ///
    /// # Errors
    ///
    /// If reading fails.
    pub fn index(&mut self) -> io::Result<Result<Option<&Index>, Damage>> {
        if self.index.is_none() {
            let footer = match self.read_footer::<Index>()? {
                Ok(Some(footer)) => footer,
                Ok(None) => return Ok(Ok(None)),
                Err(damage) => return Ok(Err(damage)),
            };
            let fault = match footer.index.fault(self.first_segment, footer.at, &footer.header) {
                None => self.fault_by_segments(&footer)?,
                fault => fault,
            };
            if let Some(reason) = fault {
                return Ok(Err(Damage::of_index(footer.at, reason)));
            }
            self.index = Some(footer.index);
        }
        Ok(Ok(self.index.as_ref()))
    }

    /// Returns the start of the footer, once it was reached.
    pub fn footer_offset(&self) -> Option<u64> {
        self.footer_at
    }

    /// Reads the footer from the end of the file. Without a trailer there is none.
    fn read_footer<T: Parse>(&mut self) -> io::Result<Result<Option<Footer<T>>, Damage>> {
        let Input::File(file) = &self.input else { return Ok(Ok(None)) };
        let Some(end) = file.metadata()?.len().checked_sub(TRAILER_LEN as u64) else { return Ok(Ok(None)) };
        let mut bytes = Vec::new();
        self.input.read_at(end, TRAILER_LEN, &mut bytes)?;
        let Some(at) = decode_trailer(&bytes) else { return Ok(Ok(None)) };
        let wrong = |reason: &str| Ok(Err(Damage::of_index(at, reason.to_owned())));
        // The offset is only a claim; the header at that place says how much to read.
        if at < self.first_segment || at > end {
            return wrong("the trailer points outside the file");
        }
        self.input.read_at(at, SEGMENT_HEADER_LEN, &mut bytes)?;
        let Some(header) = segment_header(&bytes).filter(|header| header.kind == SegmentKind::Footer) else {
            return wrong("no index begins where the trailer points");
        };
        if at.checked_add(SEGMENT_HEADER_LEN as u64 + header.body_len()) != Some(end) {
            return wrong("it does not end where the trailer begins");
        }
        self.input.read_at(at + SEGMENT_HEADER_LEN as u64, header.records_len as usize, &mut bytes)?;
        Ok(parse(&bytes, &header)
            .map(|index| Some(Footer { at, header, index }))
            .map_err(|why| Damage::of_index(at, why)))
    }

    /// Checks an index against the headers of all segments, without reading their records. Returns what is wrong.
    fn fault_by_segments(&mut self, footer: &Footer<Index>) -> io::Result<Option<String>> {
        let index = &footer.index;
        let (mut offset, mut seq, mut bytes) = (self.first_segment, 0u64, 0u64);
        let (mut groups, mut group) = (index.groups.iter(), None::<&GroupEntry>);
        let mut buffer = Vec::new();
        while offset < footer.at {
            self.input.read_at(offset, SEGMENT_HEADER_LEN, &mut buffer)?;
            let Some(header) = segment_header(&buffer) else {
                return Ok(Some(format!("no segment begins at byte {offset}")));
            };
            if header.kind == SegmentKind::Events {
                if header.first_seq != seq {
                    return Ok(Some(format!("the segment at byte {offset} does not begin with event {seq}")));
                }
                if header.starts_group() {
                    group = groups.next();
                    if group.is_none_or(|group| (group.0, group.1) != (offset, seq)) {
                        return Ok(Some(format!("it does not list the group at byte {offset}")));
                    }
                }
                if group.is_none_or(|group| header.first_time < group.2 || header.first_time > group.3) {
                    return Ok(Some(format!(
                        "the times of the segment at byte {offset} are outside those of its group"
                    )));
                }
                seq = seq.saturating_add(u64::from(header.count));
                bytes = bytes.saturating_add(u64::from(header.payload_raw));
            }
            offset = offset.saturating_add(SEGMENT_HEADER_LEN as u64 + header.body_len());
        }
        if groups.next().is_some() {
            return Ok(Some("it lists a group that does not exist".to_owned()));
        }
        Ok(index.fault_in_sums(seq, bytes, self.version <= VERSION))
    }

    /// Takes the index when its segment is reached. Returns what is wrong with it.
    pub(super) fn meet_footer(&mut self, at: u64, header: &SegmentHeader) -> Option<Item> {
        self.footer_at = Some(at);
        let here = self.position.seq;
        let met = parse::<Index>(&self.scratch, header).and_then(|index| {
            let fault = match header.first_seq {
                seq if seq != here => Some(format!("it counts {seq} events, but there are {here} before it")),
                _ => index.fault(self.first_segment, at, header),
            };
            fault.map_or(Ok(index), Err)
        });
        match met {
            Ok(index) => {
                self.index = Some(index);
                None
            }
            Err(reason) => self.report_wrong_index(at, reason),
        }
    }

    /// Reports a wrong index, once.
    pub(super) fn report_wrong_index(&mut self, at: u64, reason: String) -> Option<Item> {
        let is_new = !std::mem::replace(&mut self.index_reported, true);
        is_new.then(|| Item::Damage(Damage::of_index(at, reason)))
    }

    /// Seeks to the group with the event numbered `seq`. Blocks before the event may be returned first. Returns what is
    /// wrong with the index, if it could not be used.
    ///
    /// # Errors
    ///
    /// If reading fails.
    pub fn seek_seq(&mut self, seq: u64) -> io::Result<Option<Damage>> {
        self.seek(|groups| groups.with_seq(seq), |reader| reader.scan_for_seq(seq))
    }

    /// Seeks to a group before the first event at `time` or later. Earlier events may be returned first. Returns what
    /// is wrong with the index, if it could not be used.
    ///
    /// # Errors
    ///
    /// If reading fails.
    pub fn seek_time(&mut self, time: i64) -> io::Result<Option<Damage>> {
        // Start one group earlier than the index says, in case that it gives too early an end for that group or hides a
        // group there.
        self.seek(|groups| groups.with_time(time).saturating_sub(1), |reader| reader.scan_for_time(time))
    }

    fn seek(
        &mut self,
        pick: impl FnOnce(&Groups) -> usize,
        scan: impl FnOnce(&mut Self) -> io::Result<Option<Place>>,
    ) -> io::Result<Option<Damage>> {
        if !self.input.is_seekable() {
            return Ok(None);
        }
        let found = match self.read_footer::<Groups>()? {
            Ok(Some(footer)) => self.place_of(pick(&footer.index), &footer)?.map(Some),
            Ok(None) => Ok(None),
            Err(damage) => Err(damage),
        };
        let (place, wrong) = match found {
            Ok(Some(place)) => (Some(place), None),
            Ok(None) => (scan(self)?, None),
            Err(damage) => (scan(self)?, Some(damage)),
        };
        if let Some(place) = place {
            self.go_to(place);
        }
        self.index_reported |= wrong.is_some();
        Ok(wrong)
    }

    /// Continues with a group.
    pub(super) fn go_to(&mut self, (offset, seq): Place) {
        self.offset = offset;
        self.position.seq = seq;
        self.ended = false;
        self.group_seen = false;
        self.footer_at = None;
        self.joining.start_at(seq);
    }

    /// Returns the place of a group, after checking that it is there.
    fn place_of(&mut self, number: usize, footer: &Footer<Groups>) -> io::Result<Result<Place, Damage>> {
        if let Some(reason) = footer.index.fault(self.first_segment, footer.at, &footer.header) {
            return Ok(Err(Damage::of_index(footer.at, reason)));
        }
        // The first group is always at the first segment.
        let Some(group) = footer.index.get(number).filter(|_| number > 0) else {
            return Ok(Ok((self.first_segment, 0)));
        };
        let mut bytes = Vec::new();
        self.input.read_at(group.0, SEGMENT_HEADER_LEN, &mut bytes)?;
        let is_there = segment_header(&bytes).is_some_and(|header| {
            header.kind == SegmentKind::Events
                && header.starts_group()
                && header.first_seq == group.1
                && (group.2..=group.3).contains(&header.first_time)
        });
        let reason = || format!("group {number} is not at byte {}, contrary to the index", group.0);
        Ok(if is_there { Ok((group.0, group.1)) } else { Err(Damage::of_index(footer.at, reason())) })
    }

    /// Finds the last group that begins with event `seq` or before, by segment headers only.
    fn scan_for_seq(&mut self, seq: u64) -> io::Result<Option<Place>> {
        let mut offset = self.first_segment;
        // If none is found, start at the beginning.
        let mut found = Some((offset, 0));
        let mut bytes = Vec::new();
        loop {
            self.input.read_at(offset, SEGMENT_HEADER_LEN, &mut bytes)?;
            let Some(header) = segment_header(&bytes) else { return Ok(found) };
            if header.kind == SegmentKind::Events && header.starts_group() {
                if header.first_seq > seq {
                    return Ok(found);
                }
                found = Some((offset, header.first_seq));
            }
            offset = offset.saturating_add(SEGMENT_HEADER_LEN as u64 + header.body_len());
        }
    }

    /// Finds the first group with an event at `time` or later, else the last one. This reads records, since segment
    /// headers contain the first time of a group only.
    fn scan_for_time(&mut self, time: i64) -> io::Result<Option<Place>> {
        let with_payloads = std::mem::take(&mut self.with_payloads);
        let mut found = Some((self.first_segment, 0));
        while let Some(item) = self.next_in_pieces()? {
            let Item::Block(block) = item else { continue };
            if let (0, Some(first)) = (block.part(), block.headers.first()) {
                found = Some((block.offset, first.seq));
            }
            let is_reached = block.headers.iter().any(|header| header.time >= time);
            self.recycle(block);
            if is_reached {
                break;
            }
        }
        self.with_payloads = with_payloads;
        Ok(found)
    }
}

fn parse<T: Parse>(body: &[u8], header: &SegmentHeader) -> Result<T, String> {
    if body.len() != header.records_len as usize || crc32c::crc32c(body) != header.records_crc {
        return Err("its checksum does not match".to_owned());
    }
    if header.payload_len != 0 {
        return Err("unexpected bytes follow it".to_owned());
    }
    T::parse(body).ok_or_else(|| "it does not conform to the format".to_owned())
}

/// The part of an index that is needed.
trait Parse: Sized {
    fn parse(body: &[u8]) -> Option<Self>;
}

impl Parse for Groups {
    fn parse(body: &[u8]) -> Option<Self> {
        ciborium::from_reader(body).ok()
    }
}

impl Parse for Index {
    fn parse(body: &[u8]) -> Option<Self> {
        // Require a single item up to the last byte: serde accepts the beginning of a longer list.
        let mut rest = body;
        ciborium::from_reader::<IgnoredAny, _>(&mut rest).ok().filter(|_| rest.is_empty())?;
        ciborium::from_reader(body).ok()
    }
}

impl Damage {
    /// Creates a damage for the index at `offset`.
    pub fn of_index(offset: u64, reason: String) -> Self {
        Self { offset, bytes: 0, events: 0, at_end: true, of_index: true, reason }
    }
}
