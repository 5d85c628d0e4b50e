//! Reads reels: segment by segment, headers first, payloads on request. Damage is returned as data.
//!
//! The same reader handles files and pipes, complete and growing reels. It keeps one segment in memory.

mod block;
mod footer;
mod joining;
pub(super) mod payload;
mod recovery;

use super::event::EventHeader;
use super::format::{
    FileHeader, FormatError, SEGMENT_HEADER_LEN, SegmentHeader, SegmentKind, TRAILER_LEN, Version, decode_trailer,
};
use super::index::Index;
use super::input::{Input, InputCursor};
use super::record::{self, Methods, Position};
pub use block::Item;
pub(crate) use block::{Block, Damage};
use joining::{Joining, Place};
use payload::{BEGINNING, decompress, prepare, whole};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;
use zstd::stream::raw::{DParameter, Decoder, Operation};

/// A payload part of the current group.
#[derive(Clone, Copy, Debug)]
struct PayloadPart {
    offset: u64,
    header: SegmentHeader,
}

/// Reads a reel; see the description of the module.
pub struct ReelReader {
    input: Input,
    header: FileHeader,
    version: Version,
    first_segment: u64,
    offset: u64,
    position: Position,
    methods: Methods,
    records_decoder: Decoder<'static>,
    payload_decoder: Decoder<'static>,
    parts: Vec<PayloadPart>,
    /// How many of `parts` were decompressed.
    parts_taken: usize,
    /// Why the next part cannot be read, if that was tried.
    parts_broken: Option<String>,
    /// The rest of the group cannot be read.
    group_broken: bool,
    group_seen: bool,
    /// The place of the current group.
    group_at: Place,
    joining: Joining,
    /// The damage in which the reel ended of which this one is a copy.
    of_original: Option<Damage>,
    /// The start of the footer, once it was reached.
    footer_at: Option<u64>,
    /// A wrong index was already reported.
    index_reported: bool,
    with_payloads: bool,
    /// Payloads that are not loaded are compared with their checksums.
    checks_payloads: bool,
    /// Loads the payloads of blocks with an event of which the header says too little.
    loads_undescribed: bool,
    /// Long payloads are left to [`ReelReader::pass_payload`].
    leaves_long: bool,
    /// The damage to return before the next item.
    reported: Option<Damage>,
    read_ahead: usize,
    /// The length of the file when it was last checked.
    known_len: u64,
    following: bool,
    ended: bool,
    /// What was read ahead: the segment header and its records.
    head: Vec<u8>,
    /// Its place in the file, if it belongs to the next segment.
    head_at: Option<u64>,
    scratch: Vec<u8>,
    records: Vec<u8>,
    spare: Option<Block>,
    index: Option<Index>,
}

/// The number of bytes read ahead for each segment: its header, and usually all its records.
const READ_AHEAD: usize = 4 << 10;

/// The maximum length of a decompressed record part in a valid reel, in bytes: half a MiB and one record.
const MAX_RECORDS_BYTES: u32 = 16 << 20;

/// The maximum number of events in a segment of a valid reel.
const MAX_EVENTS: u32 = 128 << 10;

/// Payloads of segments are loaded up to this length, in bytes (65 MiB: the longest message that transports accept by
/// default, and its frame).
pub(crate) const MAX_LOADED: usize = 65 << 20;

/// The maximum length of a decompressed payload part in a valid reel, in bytes.
const MAX_RAW_BYTES: u32 = 1 << 31;

impl ReelReader {
    /// Opens a reel file.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is not a reel that this version can read.
    pub fn open(path: &Path) -> Result<Self, FormatError> {
        let file = File::open(path)?;
        if file.metadata()?.is_dir() {
            return Err(FormatError::NotAReel("it is a directory"));
        }
        if file.metadata()?.is_file() {
            return Self::from_input(Input::File(file));
        }
        Self::from_stream(Box::new(file))
    }

    /// Reads a reel from a pipe.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is not a reel that this version can read.
    pub fn from_stream(source: Box<dyn Read + Send>) -> Result<Self, FormatError> {
        Self::from_input(Input::Stream { source, buffer: Vec::new(), start: 0, ended: false })
    }

    fn from_input(mut input: Input) -> Result<Self, FormatError> {
        let (header, version, taken) = {
            let mut at = InputCursor { input: &mut input, at: 0, chunk: Vec::new() };
            FileHeader::read(&mut at)?
        };
        let read_ahead = if input.is_seekable() { READ_AHEAD } else { SEGMENT_HEADER_LEN };
        let mut payload_decoder = Decoder::new()?;
        payload_decoder.set_parameter(DParameter::WindowLogMax(27))?;
        Ok(Self {
            input,
            header,
            version,
            first_segment: taken,
            offset: taken,
            position: Position::default(),
            methods: Methods::default(),
            records_decoder: Decoder::new()?,
            payload_decoder,
            parts: Vec::new(),
            parts_taken: 0,
            parts_broken: None,
            group_broken: false,
            group_seen: false,
            group_at: (taken, 0),
            joining: Joining::default(),
            of_original: None,
            footer_at: None,
            index_reported: false,
            with_payloads: false,
            checks_payloads: false,
            loads_undescribed: false,
            leaves_long: false,
            reported: None,
            read_ahead,
            known_len: 0,
            following: false,
            ended: false,
            head: Vec::new(),
            head_at: None,
            scratch: Vec::new(),
            records: Vec::new(),
            spare: None,
            index: None,
        })
    }

    /// Loads the payloads of every block, which also finds damage in them.
    #[must_use]
    pub fn with_payloads(mut self) -> Self {
        self.with_payloads = true;
        self
    }

    /// Compares the payloads of every block with their checksums, without loading them. A stream is always loaded.
    #[must_use]
    pub fn checking_payloads(mut self) -> Self {
        self.checks_payloads = true;
        self
    }

    /// Loads the payloads of blocks that contain batches, or events of HTTP exchanges: nothing else says what is in these.
    #[must_use]
    pub fn loading_undescribed(mut self) -> Self {
        self.loads_undescribed = true;
        self
    }

    /// Does the same as [`ReelReader::with_payloads`], but blocks of more than [`MAX_LOADED`] bytes come without their payloads. Read these with
    /// [`ReelReader::pass_payload`].
    #[must_use]
    pub fn leaving_long(mut self) -> Self {
        (self.with_payloads, self.leaves_long) = (true, true);
        self
    }

    /// Reports this damage at the end: the reel is a copy of one that ended in it.
    #[must_use]
    pub fn ending_in(mut self, damage: Option<Damage>) -> Self {
        self.of_original = damage;
        self
    }

    /// Waits at an incomplete tail instead of reporting it: [`ReelReader::next`] returns `None` and can be called
    /// again.
    #[must_use]
    pub fn following(mut self) -> Self {
        self.following = true;
        self
    }

    /// Returns the file header.
    pub fn header(&self) -> &FileHeader {
        &self.header
    }

    /// Returns the version of the format.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Returns the method names, by the numbers in event headers.
    pub fn methods(&self) -> &[Box<str>] {
        self.methods.names()
    }

    /// Returns the start of the next segment.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns whether the end was reached: the footer, or the last byte if the reader does not follow the reel.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// Returns whether the reel can be read in any order; a pipe cannot.
    pub(super) fn is_seekable(&self) -> bool {
        self.input.is_seekable()
    }

    /// Returns whether the writer finished the reel. A pipe is assumed to be finished.
    ///
    /// # Errors
    ///
    /// If reading fails.
    pub fn is_finished(&self) -> io::Result<bool> {
        let Input::File(file) = &self.input else { return Ok(true) };
        let mut trailer = [0u8; TRAILER_LEN];
        let Some(at) = file.metadata()?.len().checked_sub(TRAILER_LEN as u64) else { return Ok(false) };
        file.read_exact_at(&mut trailer, at)?;
        Ok(decode_trailer(&trailer).is_some())
    }

    /// Returns the next block or damage, without joining the pieces of long messages.
    fn next_in_pieces(&mut self) -> io::Result<Option<Item>> {
        if let Some(damage) = self.reported.take() {
            return Ok(Some(Item::Damage(damage)));
        }
        while !self.ended {
            self.input.forget_before(self.offset);
            let start = self.offset;
            if self.head_at.take() != Some(start) {
                self.input.read_at(start, self.read_ahead, &mut self.head)?;
            }
            if self.head.is_empty() {
                self.ended = !self.waits();
                let footer = self.footer_at.filter(|_| self.ended);
                let missing = "the trailer after it is missing";
                return Ok(footer.and_then(|footer| self.report_wrong_index(footer, missing.to_owned())));
            }
            if let Some(footer) = decode_trailer(&self.head) {
                self.ended = true;
                let is_right = self.footer_at == Some(footer);
                let reason = || format!("the trailer says that it begins at byte {footer}");
                return Ok(if is_right { None } else { self.report_wrong_index(start, reason()) });
            }
            let Some(header) = segment_header(&self.head) else {
                match self.footer_at {
                    Some(_) if self.head.len() < TRAILER_LEN => return Ok(self.tail("the trailer is incomplete")),
                    Some(footer) if self.head.len() == TRAILER_LEN => {
                        self.ended = true;
                        return Ok(self.report_wrong_index(footer, "the trailer after it is damaged".to_owned()));
                    }
                    _ => {}
                }
                if self.is_torn_tail(&self.head) {
                    return Ok(self.tail("the last segment is incomplete"));
                }
                return self.resync("no segment begins here").map(Some);
            };
            let records_len = header.records_len as usize;
            if !self.read_records(start, records_len)? {
                return Ok(self.tail("the last segment is incomplete"));
            }
            let next = start + SEGMENT_HEADER_LEN as u64 + header.body_len();
            // The payload must be complete, even if it is not requested; otherwise the reel ends within it.
            if !self.payload_is_there(start, &header)? {
                return Ok(self.tail("the last segment is incomplete"));
            }
            match header.kind {
                SegmentKind::Events => self.footer_at = None,
                SegmentKind::Footer => {
                    self.offset = next;
                    match self.meet_footer(start, &header) {
                        None => continue,
                        wrong => return Ok(wrong),
                    }
                }
                SegmentKind::Unknown(_) => {
                    self.offset = next;
                    match self.foreign_fault(start, &header)? {
                        None => continue,
                        Some(reason) => return Ok(Some(Item::Damage(Damage::passed_over(start, next, reason)))),
                    }
                }
            }
            return self.events_segment(start, next, &header).map(Some);
        }
        Ok(None)
    }

    /// Returns the approximate size of the next block in bytes; 0 if it is unknown.
    ///
    /// # Errors
    ///
    /// The reel cannot be read.
    pub(super) fn next_size(&mut self) -> io::Result<usize> {
        let waiting = self.joining.next_size();
        if waiting > 0 {
            return Ok(waiting);
        }
        self.input.read_at(self.offset, self.read_ahead, &mut self.head)?;
        self.head_at = Some(self.offset);
        let found = segment_header(&self.head).filter(|header| header.kind == SegmentKind::Events);
        let loaded = |header: &SegmentHeader| if is_long(header) { BEGINNING } else { header.payload_raw as usize };
        let payload = |header: &SegmentHeader| if self.with_payloads { loaded(header) } else { 0 };
        Ok(found.map_or(0, |header| header.count as usize * size_of::<EventHeader>() + payload(&header)))
    }

    /// Returns whether more may come at the end. It cannot after the end of a pipe.
    pub(super) fn waits(&self) -> bool {
        self.following && !self.input.has_ended()
    }

    fn events_segment(&mut self, start: u64, next: u64, header: &SegmentHeader) -> io::Result<Item> {
        let expected = self.position.seq;
        let goes_on = self.group_seen && !self.group_broken;
        if header.first_seq != expected && (header.starts_group() || goes_on) {
            // The segment itself is valid, but the ones before it are missing. It is read again after this.
            self.position.seq = header.first_seq;
            let events = header.first_seq.saturating_sub(expected);
            let reason =
                if events > 0 { "events are missing before this place" } else { "event numbers decrease here" };
            return Ok(Item::Damage(Damage { events, ..Damage::passed_over(start, start, reason.to_owned()) }));
        }
        if header.starts_group() {
            self.start_group()?;
            self.group_at = (start, header.first_seq);
        } else if self.group_broken || !self.group_seen {
            return self.skip_group(start, "the beginning of its group could not be read");
        }
        let mut block = self.spare.take().unwrap_or_default();
        block.offset = start;
        self.position = Position { seq: header.first_seq, time: header.first_time, offset: 0 };
        if let Err(reason) = self.decode_records(header, &mut block) {
            self.position.seq = expected;
            return self.broken_group(start, reason);
        }
        let offset = start + SEGMENT_HEADER_LEN as u64 + u64::from(header.records_len);
        self.parts.push(PayloadPart { offset, header: *header });
        block.part = self.parts.len() - 1;
        self.offset = next;
        let is_wanted =
            self.with_payloads || self.loads_undescribed && block.headers.iter().any(EventHeader::is_undescribed);
        let payload = match is_wanted || !self.input.is_seekable() {
            true if self.leaves_long && is_long(header) => Ok(()),
            true => self.load_payload_inner(&mut block)?,
            false if self.checks_payloads => self.check_part(offset, header)?,
            false => Ok(()),
        };
        if let Err(reason) = payload {
            self.position.seq = header.first_seq;
            return self.broken_group(start, reason);
        }
        Ok(Item::Block(block))
    }

    fn start_group(&mut self) -> io::Result<()> {
        self.methods.start_group();
        self.records_decoder.reinit()?;
        self.payload_decoder.reinit()?;
        self.parts.clear();
        self.parts_taken = 0;
        self.parts_broken = None;
        self.group_broken = false;
        self.group_seen = true;
        Ok(())
    }

    fn decode_records(&mut self, header: &SegmentHeader, block: &mut Block) -> Result<(), String> {
        if crc32c::crc32c(&self.scratch) != header.records_crc {
            return Err("the checksum of its records does not match".into());
        }
        let raw = header.records_raw as usize;
        prepare(&mut self.records, self.scratch.len(), raw);
        decompress(&mut self.records_decoder, &self.scratch, raw, &mut self.records)?;
        whole(&self.records, raw)?;
        let (out, pieces) = (&mut block.headers, &mut block.pieces);
        record::decode(&self.records, header.count, &mut self.position, &mut self.methods, out, pieces)
            .filter(|()| self.position.offset == header.payload_raw as usize)
            .ok_or_else(|| "its records do not conform to the format".to_owned())
    }

    /// Gives a block back, so that its memory is used again.
    pub fn recycle(&mut self, mut block: Block) {
        block.shed();
        self.spare = Some(block);
    }

    /// Reads the record part into `scratch`. Returns false if the file ends within it.
    fn read_records(&mut self, start: u64, len: usize) -> io::Result<bool> {
        let ahead = &self.head[SEGMENT_HEADER_LEN..];
        if ahead.len() >= len {
            self.scratch.clear();
            self.scratch.extend_from_slice(&ahead[..len]);
            return Ok(true);
        }
        self.input.read_at(start + SEGMENT_HEADER_LEN as u64, len, &mut self.scratch)?;
        Ok(self.scratch.len() == len)
    }

    fn payload_is_there(&mut self, start: u64, header: &SegmentHeader) -> io::Result<bool> {
        let end = start + SEGMENT_HEADER_LEN as u64 + header.body_len();
        if end <= start + self.head.len() as u64 {
            return Ok(true);
        }
        match &mut self.input {
            Input::File(_) if end <= self.known_len => Ok(true),
            Input::File(file) => {
                self.known_len = file.metadata()?.len();
                Ok(end <= self.known_len)
            }
            // A long payload is passed on in pieces.
            Input::Stream { .. } if is_long(header) => Ok(true),
            stream @ Input::Stream { .. } => {
                let mut last = Vec::new();
                stream.read_at(end - 1, 1, &mut last)?;
                Ok(last.len() == 1)
            }
        }
    }
}

fn segment_header(bytes: &[u8]) -> Option<SegmentHeader> {
    let header = SegmentHeader::decode(bytes.get(..SEGMENT_HEADER_LEN)?.try_into().ok()?)?;
    let is_sound =
        header.records_raw <= MAX_RECORDS_BYTES && header.payload_raw <= MAX_RAW_BYTES && header.count <= MAX_EVENTS;
    is_sound.then_some(header)
}

/// Returns whether a segment's payload is too long to be loaded. A long event has its own segment.
fn is_long(header: &SegmentHeader) -> bool {
    header.payload_raw as usize > MAX_LOADED
}
