//! Reads reels: segment by segment, headers first, payloads on request. Damage is returned as data.
//!
//! The same reader handles files and pipes, complete and growing reels. It keeps one segment in memory.

mod footer;
mod joining;
mod recovery;

use super::ahead::BudgetPermit;
use super::event::{Event, EventHeader, Flags};
use super::format::{
    FileHeader, FormatError, PAYLOAD_STORED, SEGMENT_HEADER_LEN, SegmentHeader, SegmentKind, TRAILER_LEN, Version,
    decode_trailer,
};
use super::index::Index;
use super::input::{Input, InputCursor};
use super::record::{self, Methods, Piece, Position};
use joining::{Joining, NO_PART, Origin, Place};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;
use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation, OutBuffer};

/// A part of the reel that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Its start in the file.
    pub offset: u64,
    /// The number of bytes that were skipped.
    pub bytes: u64,
    /// The number of events that are known to be lost. There may be more if the reel ends here.
    pub events: u64,
    /// The reel ends here: an incomplete tail, as a killed writer leaves it.
    pub at_end: bool,
    /// Only the index is wrong; all events can be read.
    pub of_index: bool,
    /// What is wrong.
    pub reason: String,
}

impl Damage {
    /// Creates a damage for the bytes from `start` to `end`, which contain no events.
    fn passed_over(start: u64, end: u64, reason: String) -> Self {
        Self { offset: start, bytes: end.saturating_sub(start), events: 0, at_end: false, of_index: false, reason }
    }
}

impl std::fmt::Display for Damage {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { offset, bytes, events, reason, .. } = self;
        if self.of_index {
            return write!(out, "the index at byte {offset} is wrong, and ignored: {reason}");
        }
        let s = if *bytes == 1 { "" } else { "s" };
        write!(out, "damage at byte {offset}: {reason}; {bytes} byte{s} skipped")?;
        match (events, self.at_end) {
            (0, true) => write!(out, " at the end of the reel"),
            (0, false) => write!(out, ", no events lost"),
            (1, _) => write!(out, ", 1 event lost"),
            (events, _) => write!(out, ", {events} events lost"),
        }
    }
}

/// The next part of a reel.
#[derive(Debug)]
pub enum Item {
    /// Events.
    Block(Block),
    /// A part that could not be read.
    Damage(Damage),
}

/// The events of one segment.
#[derive(Debug, Default)]
pub struct Block {
    /// The event headers, in order.
    pub headers: Vec<EventHeader>,
    payload: Vec<u8>,
    loaded: bool,
    /// The number of its payload part in the current group.
    part: usize,
    /// Its events that are pieces of longer messages, until they are joined.
    pieces: Vec<Piece>,
    /// Its events that are joined from pieces, until they are loaded.
    joined: Vec<Origin>,
    /// The start of its segment in the file.
    pub offset: u64,
    /// Its part of the memory for reading ahead.
    pub(super) share: Option<BudgetPermit>,
}

impl Block {
    /// Returns the number of this segment in its group, from 0.
    pub fn part(&self) -> usize {
        self.part
    }

    /// Iterates over the events with their payloads; there are none before the payload is loaded.
    pub fn events(&self) -> impl Iterator<Item = Event<'_>> {
        let headers = if self.loaded { &self.headers[..] } else { &[] };
        headers.iter().map(|header| self.event(header))
    }

    /// Returns the event of a header of this block. Its payload is empty before the payload is loaded. If it is too
    /// long to be loaded, it has only the beginning.
    pub fn event<'a>(&'a self, header: &'a EventHeader) -> Event<'a> {
        let payload = if self.loaded { &self.payload[..] } else { &[] };
        let end = payload.len().min(header.offset.saturating_add(header.len as usize));
        Event { header, payload: payload.get(header.offset..end).unwrap_or_default() }
    }

    /// Returns the approximate memory use, in bytes.
    pub fn size(&self) -> usize {
        self.headers.len() * size_of::<EventHeader>() + self.payload.len()
    }

    /// Removes all events, and frees memory beyond what most blocks need.
    pub(super) fn shed(&mut self) {
        self.headers.clear();
        self.pieces.clear();
        self.joined.clear();
        self.payload.clear();
        if self.payload.capacity() > KEEP {
            // Shrinking would leave the buffer at its place and fragment the memory.
            self.payload = Vec::new();
        }
        self.loaded = false;
    }

    /// Returns whether the payloads are loaded.
    pub fn is_loaded(&self) -> bool {
        self.loaded
    }
}

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

/// Buffers that a large message made larger than this number of bytes are made smaller again.
const KEEP: usize = 320 << 10;

/// The maximum length of a decompressed record part in a valid reel, in bytes: half a MiB and one record.
const MAX_RECORDS_BYTES: u32 = 16 << 20;

/// The maximum number of events in a segment of a valid reel.
const MAX_EVENTS: u32 = 128 << 10;

/// Payloads of segments are loaded up to this length, in bytes (65 MiB: the longest message that transports accept by
/// default, and its frame).
pub(crate) const MAX_LOADED: usize = 65 << 20;

/// The number of bytes that are loaded of a longer payload.
const BEGINNING: usize = 64 << 10;

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

    /// Does the same, but blocks of more than [`MAX_LOADED`] bytes come without their payloads. Read these with
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
        let payload = match self.with_payloads || !self.input.is_seekable() {
            true if self.leaves_long && is_long(header) => Ok(()),
            true => self.load_payload_inner(&mut block)?,
            false if self.checks_payloads => read_pieces(&mut self.input, &mut self.scratch, offset, header, |_| ())?,
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

    /// Loads the payloads of the last block from [`ReelReader::next`], or of another one in the same group. The inner
    /// `Err` is damage.
    ///
    /// # Errors
    ///
    /// If reading fails.
    pub fn load_payload(&mut self, block: &mut Block) -> io::Result<Result<(), Damage>> {
        if block.loaded {
            return Ok(Ok(()));
        }
        let outcome = if block.part == NO_PART { Ok(()) } else { self.load_payload_inner(block)? };
        let (at, events) = (block.offset, block.headers.len() as u64);
        if let Err(reason) = outcome {
            return Ok(Err(Damage { events, ..Damage::passed_over(at, at, reason) }));
        }
        block.loaded = true;
        self.load_joined(block)
    }

    fn load_payload_inner(&mut self, block: &mut Block) -> io::Result<Result<(), String>> {
        if block.part < self.parts_taken {
            return Ok(Err("its payload was already skipped".into()));
        }
        while self.parts_taken <= block.part {
            // A part continues the compression of the one before it.
            if let Some(reason) = &self.parts_broken {
                return Ok(Err(reason.clone()));
            }
            let part = self.parts[self.parts_taken];
            // Payloads before the wanted one are dropped; of a long one, only the beginning is kept.
            let is_wanted = self.parts_taken == block.part;
            let loaded = match is_wanted && !is_long(&part.header) {
                true => self.load_part(part.offset, &part.header, &mut block.payload)?,
                false => {
                    let max = if is_wanted { BEGINNING } else { 0 };
                    block.payload.clear();
                    let keep = |piece: &[u8]| {
                        let rest = max - block.payload.len();
                        block.payload.extend_from_slice(&piece[..rest.min(piece.len())]);
                        Ok(())
                    };
                    self.pass_part(part.offset, &part.header, keep)?
                }
            };
            if let Err(reason) = loaded {
                self.parts_broken = Some(reason.clone());
                return Ok(Err(reason));
            }
            self.parts_taken += 1;
        }
        block.loaded = true;
        if is_long(&self.parts[block.part].header) {
            self.cut_short(block);
        }
        Ok(Ok(()))
    }

    /// Marks the events of a block whose payloads are incomplete, and reports that.
    fn cut_short(&mut self, block: &mut Block) {
        let loaded = block.payload.len();
        let is_cut = |header: &&mut EventHeader| header.offset.saturating_add(header.len as usize) > loaded;
        let mut longest = (0, 0);
        for header in block.headers.iter_mut().filter(is_cut) {
            header.flags = header.flags.with(Flags::TRUNCATED);
            longest = longest.max((header.len, header.seq));
        }
        let (len, seq) = longest;
        let reason = format!(
            "event {seq} has {} MiB; of events longer than {} MiB, only the beginning is read here (`reel cat` and \
             `export` output all of it)",
            len >> 20,
            MAX_LOADED >> 20
        );
        self.reported =
            Some(Damage { offset: block.offset, bytes: 0, events: 0, at_end: false, of_index: false, reason });
    }

    /// Returns whether the payload of a block must be read with [`ReelReader::pass_payload`].
    pub fn leaves_out(&self, block: &Block) -> bool {
        self.leaves_long && !block.is_loaded()
    }

    /// Reads the payloads of a block that came without them, piece by piece. Passes on each piece with the header of
    /// its event, and whether it is the last piece of the event. The inner `Err` is damage; the pieces before it may be
    /// damaged, too. An event that the damage cuts short gets a last piece that is empty.
    ///
    /// # Errors
    ///
    /// If reading fails.
    pub fn pass_payload(
        &mut self,
        block: &Block,
        mut take: impl FnMut(&EventHeader, &[u8], bool) -> io::Result<()>,
    ) -> io::Result<Result<(), Damage>> {
        let events = block.headers.len() as u64;
        let damage = |reason| Damage { offset: block.offset, bytes: 0, events, at_end: false, of_index: false, reason };
        while self.parts_taken < block.part && self.parts_broken.is_none() {
            let before = self.parts[self.parts_taken];
            self.parts_broken = self.pass_part(before.offset, &before.header, |_| Ok(()))?.err();
            self.parts_taken += 1;
        }
        if let Some(reason) = &self.parts_broken {
            return Ok(Err(damage(reason.clone())));
        }
        let part = self.parts[block.part];
        let mut headers = block.headers.iter();
        let mut open = headers.next();
        let mut left = open.map_or(0, |header| header.len as usize);
        let passed = self.pass_part(part.offset, &part.header, |mut piece: &[u8]| {
            while let Some(header) = open {
                let (now, rest) = piece.split_at(left.min(piece.len()));
                left -= now.len();
                piece = rest;
                if left == 0 || !now.is_empty() {
                    take(header, now, left == 0)?;
                }
                if left > 0 {
                    break;
                }
                open = headers.next();
                left = open.map_or(0, |header| header.len as usize);
            }
            Ok(())
        })?;
        self.parts_taken = block.part + 1;
        self.parts_broken = passed.as_ref().err().cloned();
        if let Some(cut_short) = open.filter(|header| left < header.len as usize) {
            take(cut_short, b"", true)?;
        }
        Ok(passed.map_err(damage))
    }

    /// Reads one part in constant memory, and passes it on in pieces.
    fn pass_part(
        &mut self,
        offset: u64,
        header: &SegmentHeader,
        mut take: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<Result<(), String>> {
        let (len, raw) = (header.payload_len as usize, header.payload_raw as usize);
        let is_stored = header.flags & PAYLOAD_STORED != 0;
        let (mut taken, mut given, mut crc) = (0, 0, 0);
        let mut out = Vec::with_capacity(if is_stored { 0 } else { KEEP });
        while taken < len {
            let wanted = (len - taken).min(KEEP);
            self.input.read_at(offset + taken as u64, wanted, &mut self.scratch)?;
            if self.scratch.len() < wanted {
                return Ok(Err("its payload is incomplete".into()));
            }
            taken += wanted;
            self.input.forget_before(offset + taken as u64);
            crc = crc32c::crc32c_append(crc, &self.scratch);
            if is_stored {
                given += wanted;
                take(&self.scratch)?;
                continue;
            }
            let mut input = InBuffer::around(&self.scratch[..]);
            loop {
                out.clear();
                let before = input.pos();
                if let Err(error) = self.payload_decoder.run(&mut input, &mut OutBuffer::around(&mut out)) {
                    return Ok(Err(format!("decompression failed: {error}")));
                }
                given += out.len();
                if given > raw {
                    return Ok(Err(OTHER_LENGTH.into()));
                }
                take(&out)?;
                if out.is_empty() && input.pos() == before {
                    break;
                }
            }
        }
        if crc != header.payload_crc {
            return Ok(Err("the checksum of its payload does not match".into()));
        }
        Ok(if given == raw { Ok(()) } else { Err(OTHER_LENGTH.into()) })
    }

    /// Reads one part. A file is read in pieces, so that a large payload is not in memory both compressed and
    /// decompressed. On `Err`, `out` must not be used.
    fn load_part(&mut self, offset: u64, header: &SegmentHeader, out: &mut Vec<u8>) -> io::Result<Result<(), String>> {
        let (len, raw) = (header.payload_len as usize, header.payload_raw as usize);
        let is_stored = header.flags & PAYLOAD_STORED != 0;
        if is_stored && len != raw {
            return Ok(Err("the length of its payload differs from its header".into()));
        }
        prepare(out, len, raw);
        let (decoder, mut unpacked) = (&mut self.payload_decoder, Ok(()));
        let read = read_pieces(&mut self.input, &mut self.scratch, offset, header, |piece| {
            if is_stored {
                out.extend_from_slice(piece);
            } else if unpacked.is_ok() {
                unpacked = decompress(decoder, piece, raw, out);
            }
        });
        Ok(read?.and(unpacked).and_then(|()| whole(out, raw)))
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

    /// Checks a segment of an unknown kind, which is skipped: returns what is wrong with its checksums. That of the
    /// payload is checked if payloads are read.
    fn foreign_fault(&mut self, start: u64, header: &SegmentHeader) -> io::Result<Option<String>> {
        if crc32c::crc32c(&self.scratch) != header.records_crc {
            return Ok(Some("the checksum of its records does not match".to_owned()));
        }
        if !self.with_payloads {
            return Ok(None);
        }
        let (mut at, mut crc) = (start + SEGMENT_HEADER_LEN as u64 + u64::from(header.records_len), 0);
        let mut left = header.payload_len as usize;
        while left > 0 {
            self.input.read_at(at, left.min(KEEP), &mut self.scratch)?;
            if self.scratch.is_empty() {
                break;
            }
            crc = crc32c::crc32c_append(crc, &self.scratch);
            at += self.scratch.len() as u64;
            left -= self.scratch.len();
        }
        let is_sound = crc == header.payload_crc;
        Ok((!is_sound).then(|| "the checksum of its payload does not match".to_owned()))
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

/// Reads the payload part at an offset in pieces, and compares it with its checksum. The error is what is wrong with it.
fn read_pieces(
    input: &mut Input,
    scratch: &mut Vec<u8>,
    offset: u64,
    header: &SegmentHeader,
    mut take: impl FnMut(&[u8]),
) -> io::Result<Result<(), String>> {
    let (len, mut taken, mut crc) = (header.payload_len as usize, 0, 0);
    while taken < len {
        let wanted = (len - taken).min(KEEP);
        input.read_at(offset + taken as u64, wanted, scratch)?;
        if scratch.len() < wanted {
            return Ok(Err("its payload is incomplete".into()));
        }
        crc = crc32c::crc32c_append(crc, scratch);
        take(scratch);
        taken += wanted;
    }
    Ok(if crc == header.payload_crc { Ok(()) } else { Err("the checksum of its payload does not match".into()) })
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

/// Prepares an empty buffer for `raw` bytes, decompressed from `len` bytes. The claimed length is trusted only as far
/// as it is possible: zstd makes at most 128 KiB of a block of three bytes.
fn prepare(out: &mut Vec<u8>, len: usize, raw: usize) {
    out.clear();
    out.reserve_exact(raw.min(len.saturating_mul(64 << 10)));
}

fn whole(out: &[u8], raw: usize) -> Result<(), String> {
    (out.len() == raw).then_some(()).ok_or_else(|| OTHER_LENGTH.to_owned())
}

pub(super) const OTHER_LENGTH: &str = "its decompressed length differs from its header";

/// Decompresses one piece of a flushed part. `out` must not get longer than `raw` bytes.
fn decompress(decoder: &mut Decoder<'_>, piece: &[u8], raw: usize, out: &mut Vec<u8>) -> Result<(), String> {
    let mut input = InBuffer::around(piece);
    loop {
        let (taken, given) = (input.pos(), out.len());
        if given == raw && taken == piece.len() {
            return Ok(());
        }
        if out.capacity() == given {
            out.reserve(raw.saturating_sub(given).clamp(1, 1 << 20));
        }
        decoder
            .run(&mut input, &mut OutBuffer::around_pos(out, given))
            .map_err(|error| format!("decompression failed: {error}"))?;
        if out.len() > raw {
            return Err(OTHER_LENGTH.into());
        }
        if input.pos() == taken && out.len() == given {
            // The next piece may continue.
            return if taken == piece.len() { Ok(()) } else { Err(OTHER_LENGTH.into()) };
        }
    }
}
