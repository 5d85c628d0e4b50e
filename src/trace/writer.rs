//! Writes reels. Events are written in whole segments, so that a killed writer loses at most the last one.

use super::event::{EventKind, Flags};
use super::format::{
    FileHeader, PAYLOAD_STORED, SEGMENT_HEADER_LEN, STARTS_GROUP, SegmentHeader, SegmentKind, encode_trailer,
};
use super::index::{Index, Tallies};
use super::pieces::{OpenFrame, OpenFrames};
use super::record::{self, MethodTable, RecordInput};
use crate::wire::{Envelope, Framing};
use std::io::{self, Write};
use zstd::stream::raw::{CParameter, Encoder, InBuffer, Operation, OutBuffer};

/// How a reel is compressed.
#[derive(Clone, Copy, Debug)]
pub struct WriterOptions {
    /// The zstd level of payloads.
    pub level: i32,
    /// A group ends after this number of payload bytes. It is the unit of random access, and of loss by damage.
    pub group_bytes: u64,
    /// A segment is written after this number of payload bytes, or after 64 KiB of records. It is the unit of loss when
    /// the writer is killed.
    pub segment_bytes: usize,
    /// The zstd window, as a power of two.
    pub window_log: u32,
    /// The size of zstd's hash table, as a power of two; 0 for the default of the level.
    pub hash_log: u32,
    /// The number of positions that zstd tries, as a power of two; 0 for the default of the level.
    pub search_log: u32,
}

impl Default for WriterOptions {
    fn default() -> Self {
        // A quarter of the level's table and four times its search: less memory, and no larger files.
        Self { level: 5, group_bytes: 512 << 10, segment_bytes: 256 << 10, window_log: 19, hash_log: 17, search_log: 5 }
    }
}

impl WriterOptions {
    /// Returns options for smaller files, which are slower to write: for reels that are archived.
    pub fn compact() -> Self {
        Self { level: 9, group_bytes: 4 << 20, segment_bytes: 512 << 10, window_log: 22, hash_log: 0, search_log: 0 }
    }
}

/// An event to write.
#[derive(Clone, Copy, Debug)]
pub struct NewEvent<'a> {
    /// The time in nanoseconds since the reel's clock base.
    pub time: i64,
    /// The number of its stream.
    pub stream: u32,
    /// The number of the HTTP exchange that carried it; 0 if none did.
    pub exchange: u32,
    /// The kind of the event.
    pub kind: EventKind,
    /// Direction and marks. The writer sets [`Flags::TOOL_ERROR`] and [`Flags::FAULTY`].
    pub flags: Flags,
    /// How the payload was delimited in its stream.
    pub framing: Framing,
    /// The exact bytes.
    pub payload: &'a [u8],
}

/// A segment is written after this number of record bytes, since readers need memory for each of its events.
const RECORD_BYTES: usize = 64 << 10;

/// The zstd level of payloads while the writer must keep up with a burst.
const HURRIED_LEVEL: i32 = 1;

/// A hurried payload is larger than necessary by about one part in this many.
const HURRIED_EXCESS: u64 = 6;

/// Fragments of more bytes than this are stored uncompressed (8 MiB).
const STORED_FRAGMENT: usize = 8 << 20;

/// The maximum payload of an event, in bytes.
pub(crate) const MAX_PAYLOAD_BYTES: usize = 1 << 30;

/// Writes a reel to any byte sink.
pub struct ReelWriter<W: Write> {
    out: W,
    options: WriterOptions,
    /// The file header, until it is written.
    unwritten: Vec<u8>,
    offset: u64,
    seq: u64,
    records_encoder: Encoder<'static>,
    payload_encoder: Encoder<'static>,
    methods: MethodTable,
    frames: OpenFrames,
    segment: Pending,
    group_bytes: u64,
    group_open: bool,
    /// Whether the next group is compressed quickly.
    is_hurried: bool,
    /// Whether the current group is.
    group_hurried: bool,
    /// What rewriting the reel as a whole would probably save. Unit: bytes.
    avoidable: u64,
    store_payload: bool,
    index: Index,
    tallies: Tallies,
}

/// The segment that is being filled.
#[derive(Default)]
struct Pending {
    starts_group: bool,
    stored: bool,
    count: u32,
    first_time: i64,
    last_time: i64,
    times: Option<(i64, i64)>,
    records: Vec<u8>,
    payload_raw: u32,
    payload: Vec<u8>,
    /// The header and the records, as they will be in the file.
    assembled: Vec<u8>,
    tallies: Tallies,
}

impl Pending {
    /// Counts an event whose record and payload are stored.
    fn count_event(&mut self, event: &NewEvent<'_>, envelope: Option<&Envelope<'_>>) {
        let len = event.payload.len() as u32;
        self.last_time = event.time;
        self.times = Some(match self.times {
            None => (event.time, event.time),
            Some((first, last)) => (first.min(event.time), last.max(event.time)),
        });
        self.payload_raw += len;
        self.count += 1;
        let message = envelope.map(|envelope| (envelope.kind, record::kept_method(envelope)));
        self.tallies.add(event.kind, event.stream, len, message);
    }
}

impl<W: Write> ReelWriter<W> {
    /// Starts a reel: writes the file header.
    ///
    /// # Errors
    ///
    /// If the header is too long, or writing fails.
    pub fn create(out: W, header: &FileHeader, options: WriterOptions) -> io::Result<Self> {
        let mut writer = Self::unwritten(out, header, options)?;
        writer.write_header()?;
        Ok(writer)
    }

    /// Starts a reel without writing anything. [`ReelWriter::write_header`] writes the file header, or else the first
    /// segment does.
    ///
    /// # Errors
    ///
    /// If the header is too long.
    pub fn unwritten(out: W, header: &FileHeader, options: WriterOptions) -> io::Result<Self> {
        let mut unwritten = Vec::new();
        header.write(&mut unwritten)?;
        Ok(Self {
            out,
            options,
            unwritten,
            offset: 0,
            seq: 0,
            records_encoder: records_encoder(options.level)?,
            payload_encoder: payload_encoder(&options)?,
            methods: MethodTable::default(),
            frames: OpenFrames::default(),
            segment: Pending::default(),
            group_bytes: 0,
            group_open: false,
            is_hurried: false,
            group_hurried: false,
            avoidable: 0,
            store_payload: false,
            index: Index::default(),
            tallies: Tallies::default(),
        })
    }

    /// Writes the file header, if that was not done yet.
    ///
    /// # Errors
    ///
    /// If writing fails.
    pub fn write_header(&mut self) -> io::Result<()> {
        if !self.unwritten.is_empty() {
            write_parts(&mut self.out, &self.unwritten, b"")?;
            self.offset = self.unwritten.len() as u64;
            self.unwritten = Vec::new();
        }
        Ok(())
    }

    /// Returns the number of the next event.
    pub fn next_seq(&self) -> u64 {
        self.seq
    }

    /// Returns the number of bytes written so far, including the file header.
    pub fn written(&self) -> u64 {
        self.offset
    }

    /// Returns the number of payload bytes written so far.
    pub fn payload_bytes(&self) -> u64 {
        self.index.bytes
    }

    /// Returns an estimate of how much smaller the reel would be if it were written again as a whole. Unit: bytes.
    pub fn avoidable(&self) -> u64 {
        self.avoidable
    }

    /// Returns whether events wait for [`ReelWriter::flush`].
    pub fn has_pending(&self) -> bool {
        self.segment.count > 0
    }

    /// Sets whether what follows is compressed quickly, at zstd level 1: about five times as fast as the default, and
    /// on JSON lines hardly larger. Takes effect with the next segment.
    pub fn hurry(&mut self, is_hurried: bool) {
        self.is_hurried = is_hurried;
    }

    /// Sets whether the payloads of the next segments are stored uncompressed.
    pub(crate) fn store_payloads(&mut self, store: bool) {
        self.store_payload = store;
    }

    /// Returns the sink.
    pub fn get_ref(&self) -> &W {
        &self.out
    }

    /// Returns the sink for writing.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.out
    }

    /// Adds an event, and writes a segment if one is full.
    ///
    /// # Errors
    ///
    /// If the payload is too long, or writing fails.
    pub fn append(&mut self, event: NewEvent<'_>) -> io::Result<()> {
        if event.payload.len() > MAX_PAYLOAD_BYTES {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "an event's payload is longer than 1 GiB"));
        }
        let frame = self.frames.take(&event, self.seq);
        let envelope = match &frame {
            Some(frame) => Some(frame.envelope()),
            None if event.kind == EventKind::Message => Some(Envelope::scan(event.framing.body(event.payload))),
            None => None,
        };
        let kept_flags = frame.as_ref().map(OpenFrame::flags).unwrap_or_default();
        let flags = derived_flags(event.flags.with(kept_flags), envelope.as_ref());
        let is_large = event.payload.len() >= self.options.segment_bytes;
        self.prepare_segment(event.time, is_large)?;
        // Long fragments are not compressed: the compressed form would be in memory next to them.
        self.segment.stored |= event.framing == Framing::Fragment && event.payload.len() > STORED_FRAGMENT;
        let segment = &mut self.segment;
        let len = event.payload.len() as u32;
        let records_before = segment.records.len();
        record::encode(
            &RecordInput {
                kind: event.kind,
                time_delta: event.time - segment.last_time,
                stream: event.stream,
                exchange: event.exchange,
                flags,
                framing: event.framing,
                len,
                envelope: envelope.as_ref(),
                back: frame.as_ref().map(|frame| self.seq - frame.first),
            },
            &mut self.methods,
            &mut segment.records,
        );
        let record_len = segment.records.len() - records_before;
        // A payload that is both large and uncompressed is written without a copy.
        let as_it_is = (segment.stored && is_large).then_some(event.payload);
        match as_it_is {
            Some(_) => {}
            None if segment.stored => segment.payload.extend_from_slice(event.payload),
            None => compress(&mut self.payload_encoder, event.payload, &mut segment.payload)?,
        }
        segment.count_event(&event, envelope.as_ref());
        self.seq += 1;
        if let Some(frame) = frame {
            self.frames.keep(&event, frame);
        }
        // Records count, too: a group with many short payloads must not grow without limit.
        self.group_bytes += u64::from(len) + record_len as u64;
        if segment.payload_raw as usize >= self.options.segment_bytes
            || segment.records.len() >= self.options.segment_bytes.min(RECORD_BYTES)
        {
            self.write_segment(as_it_is)?;
        }
        Ok(())
    }

    /// Begins a segment for the next event, if it cannot go into the current one.
    fn prepare_segment(&mut self, time: i64, is_large: bool) -> io::Result<()> {
        // The time difference overflows: a new segment begins with its own time.
        let is_far = time.checked_sub(self.segment.last_time).is_none();
        // A large event gets its own segment; otherwise pending data would be in memory next to it.
        if (is_far || is_large) && self.has_pending() {
            self.flush()?;
        }
        if self.segment.count == 0 {
            self.begin_segment(time)?;
        }
        Ok(())
    }

    /// Writes the pending events as a segment, and flushes the sink.
    ///
    /// # Errors
    ///
    /// If writing fails. Continue with [`ReelWriter::restart_at`].
    pub fn flush(&mut self) -> io::Result<()> {
        self.write_segment(None)
    }

    /// Writes the pending events; the payload is taken from `as_it_is`, if given.
    fn write_segment(&mut self, as_it_is: Option<&[u8]>) -> io::Result<()> {
        self.write_header()?;
        if self.segment.count == 0 {
            return self.out.flush();
        }
        let mut records = Vec::with_capacity(self.segment.records.len() / 2 + 64);
        compress(&mut self.records_encoder, &self.segment.records, &mut records)?;
        flush_encoder(&mut self.records_encoder, &mut records)?;
        let segment = &mut self.segment;
        if !segment.stored {
            flush_encoder(&mut self.payload_encoder, &mut segment.payload)?;
        }
        let payload = as_it_is.unwrap_or(&segment.payload);
        let stored = if segment.stored { PAYLOAD_STORED } else { 0 };
        let header = SegmentHeader {
            kind: SegmentKind::Events,
            flags: stored | if segment.starts_group { STARTS_GROUP } else { 0 },
            first_seq: self.seq - u64::from(segment.count),
            first_time: segment.first_time,
            count: segment.count,
            records_raw: segment.records.len() as u32,
            records_len: records.len() as u32,
            payload_raw: segment.payload_raw,
            payload_len: payload.len() as u32,
            records_crc: crc32c::crc32c(&records),
            payload_crc: crc32c::crc32c(payload),
        };
        segment.assembled.clear();
        segment.assembled.extend_from_slice(&header.encode());
        segment.assembled.extend_from_slice(&records);
        write_parts(&mut self.out, &segment.assembled, payload)?;
        // Count only what was written.
        self.tallies.absorb(&mut segment.tallies);
        self.index.bytes += u64::from(segment.payload_raw);
        if segment.starts_group {
            self.index.start_group(self.offset, header.first_seq, segment.first_time);
        }
        if let (Some(group), Some((first, last))) = (self.index.groups.last_mut(), segment.times) {
            group.2 = group.2.min(first);
            group.3 = group.3.max(last);
            self.index.times =
                Some(self.index.times.map_or((first, last), |(from, to)| (from.min(first), to.max(last))));
        }
        self.offset += (segment.assembled.len() + payload.len()) as u64;
        self.avoidable += match self.group_hurried {
            true => payload.len() as u64 / HURRIED_EXCESS,
            false if (segment.payload_raw as usize) < self.options.segment_bytes => SEGMENT_HEADER_LEN as u64,
            false => 0,
        };
        segment.reset();
        if self.group_bytes >= self.options.group_bytes {
            self.group_open = false;
        }
        Ok(())
    }

    /// Continues after a failed write: the next segment starts a group at this offset of the sink, so that only the
    /// incomplete segment is lost. Returns the number of pending events and payload bytes that are lost.
    pub fn restart_at(&mut self, offset: u64) -> (u64, u64) {
        let given_up = (u64::from(self.segment.count), u64::from(self.segment.payload_raw));
        self.frames.clear();
        self.seq -= given_up.0;
        self.segment.reset();
        self.segment.tallies = Tallies::default();
        self.group_open = false;
        self.offset = offset;
        given_up
    }

    /// Ends the reel with its index, and flushes the sink.
    ///
    /// # Errors
    ///
    /// If writing fails.
    pub fn finish(mut self) -> io::Result<(W, Index)> {
        self.flush()?;
        self.index.events = self.seq;
        self.tallies.fill(&mut self.index);
        let footer = footer_bytes(&self.index, self.seq, self.offset)?;
        self.out.write_all(&footer)?;
        self.out.flush()?;
        Ok((self.out, self.index))
    }

    fn begin_segment(&mut self, time: i64) -> io::Result<()> {
        self.segment.first_time = time;
        self.segment.last_time = time;
        self.segment.stored = self.store_payload;
        // zstd changes its level between groups only.
        self.group_open &= self.is_hurried == self.group_hurried;
        self.segment.starts_group = !self.group_open;
        if !self.group_open {
            self.records_encoder.reinit()?;
            self.payload_encoder.reinit()?;
            if self.is_hurried != self.group_hurried {
                let level = if self.is_hurried { HURRIED_LEVEL } else { self.options.level };
                self.payload_encoder.set_parameter(CParameter::CompressionLevel(level))?;
                self.group_hurried = self.is_hurried;
            }
            self.methods.clear();
            self.group_bytes = 0;
            self.group_open = true;
        }
        Ok(())
    }
}

impl Pending {
    fn reset(&mut self) {
        // Shrink a buffer that one large event made larger than this.
        const KEEP: usize = 320 << 10;
        self.count = 0;
        self.starts_group = false;
        self.times = None;
        self.records.clear();
        self.payload_raw = 0;
        self.payload.clear();
        self.payload.shrink_to(KEEP);
    }
}

/// Returns the footer segment and the trailer.
///
/// # Errors
///
/// If the index cannot be encoded.
pub fn footer_bytes(index: &Index, next_seq: u64, offset: u64) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    ciborium::into_writer(index, &mut body).map_err(io::Error::other)?;
    let header = SegmentHeader {
        kind: SegmentKind::Footer,
        flags: 0,
        first_seq: next_seq,
        first_time: index.times.map_or(0, |times| times.1),
        count: 0,
        records_raw: body.len() as u32,
        records_len: body.len() as u32,
        payload_raw: 0,
        payload_len: 0,
        records_crc: crc32c::crc32c(&body),
        payload_crc: crc32c::crc32c(b""),
    };
    let mut bytes = header.encode().to_vec();
    bytes.extend_from_slice(&body);
    bytes.extend_from_slice(&encode_trailer(offset));
    Ok(bytes)
}

/// Writes in two parts. A writer that is killed between the two leaves an incomplete tail, as if it is killed within
/// one.
fn write_parts(out: &mut impl Write, head: &[u8], payload: &[u8]) -> io::Result<()> {
    out.write_all(head)?;
    out.write_all(payload)?;
    out.flush()
}

fn derived_flags(flags: Flags, envelope: Option<&Envelope<'_>>) -> Flags {
    let mut flags = flags.without(Flags::TOOL_ERROR).without(Flags::FAULTY);
    if let Some(envelope) = envelope {
        if envelope.tool_error {
            flags = flags.with(Flags::TOOL_ERROR);
        }
        if !envelope.faults.is_empty() {
            flags = flags.with(Flags::FAULTY);
        }
    }
    flags
}

fn encoder(level: i32, window_log: u32) -> io::Result<Encoder<'static>> {
    let mut encoder = Encoder::new(level)?;
    encoder.set_parameter(CParameter::WindowLog(window_log))?;
    encoder.set_parameter(CParameter::ContentSizeFlag(false))?;
    Ok(encoder)
}

fn payload_encoder(options: &WriterOptions) -> io::Result<Encoder<'static>> {
    let mut encoder = encoder(options.level, options.window_log)?;
    encoder.set_parameter(CParameter::HashLog(options.hash_log))?;
    encoder.set_parameter(CParameter::SearchLog(options.search_log))?;
    Ok(encoder)
}

/// Records are few and short: small tables find as much, and leave memory for the traffic.
fn records_encoder(level: i32) -> io::Result<Encoder<'static>> {
    let mut encoder = encoder(level, 14)?;
    encoder.set_parameter(CParameter::HashLog(14))?;
    encoder.set_parameter(CParameter::ChainLog(14))?;
    Ok(encoder)
}

/// Compresses `data` and appends the output to `out`.
fn compress(encoder: &mut Encoder<'_>, data: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
    let mut input = InBuffer::around(data);
    while input.pos() < data.len() {
        out.reserve((data.len() - input.pos()) / 2 + 4096);
        let at = out.len();
        encoder.run(&mut input, &mut OutBuffer::around_pos(out, at))?;
    }
    Ok(())
}

fn flush_encoder(encoder: &mut Encoder<'_>, out: &mut Vec<u8>) -> io::Result<()> {
    loop {
        out.reserve(16 << 10);
        let at = out.len();
        if encoder.flush(&mut OutBuffer::around_pos(out, at))? == 0 {
            return Ok(());
        }
    }
}
