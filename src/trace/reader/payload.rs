//! Reads payload parts: loads them, passes them on in pieces, or only compares them with their checksums.

use super::block::{Block, Damage, KEEP};
use super::joining::NO_PART;
use super::{MAX_LOADED, ReelReader, is_long};
use crate::trace::event::{EventHeader, Flags};
use crate::trace::format::{PAYLOAD_STORED, SEGMENT_HEADER_LEN, SegmentHeader};
use crate::trace::input::Input;
use std::io;
use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};

/// The number of bytes that are loaded of a longer payload.
pub(super) const BEGINNING: usize = 64 << 10;

impl ReelReader {
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

    pub(super) fn load_payload_inner(&mut self, block: &mut Block) -> io::Result<Result<(), String>> {
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
        let (raw, is_stored) = (header.payload_raw as usize, header.flags & PAYLOAD_STORED != 0);
        let mut out = Vec::with_capacity(if is_stored { 0 } else { KEEP });
        let (decoder, mut given) = (&mut self.payload_decoder, 0);
        let read = read_pieces(&mut self.input, &mut self.scratch, offset, header, |piece| {
            if is_stored {
                given += piece.len();
                return take(piece).map(Ok);
            }
            let mut input = InBuffer::around(piece);
            loop {
                out.clear();
                let before = input.pos();
                if let Err(error) = decoder.run(&mut input, &mut OutBuffer::around(&mut out)) {
                    return Ok(Err(format!("decompression failed: {error}")));
                }
                given += out.len();
                if given > raw {
                    return Ok(Err(OTHER_LENGTH.into()));
                }
                take(&out)?;
                if out.is_empty() && input.pos() == before {
                    return Ok(Ok(()));
                }
            }
        })?;
        Ok(read.and_then(|()| if given == raw { Ok(()) } else { Err(OTHER_LENGTH.into()) }))
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
            Ok(Ok(()))
        });
        Ok(read?.and(unpacked).and_then(|()| whole(out, raw)))
    }

    /// Checks a segment of an unknown kind, which is skipped: returns what is wrong with its checksums. That of the
    /// payload is checked if those of events are.
    pub(super) fn foreign_fault(&mut self, start: u64, header: &SegmentHeader) -> io::Result<Option<String>> {
        if crc32c::crc32c(&self.scratch) != header.records_crc {
            return Ok(Some("the checksum of its records does not match".to_owned()));
        }
        if !self.with_payloads && !self.checks_payloads {
            return Ok(None);
        }
        let payload = start + SEGMENT_HEADER_LEN as u64 + u64::from(header.records_len);
        Ok(self.check_part(payload, header)?.err())
    }

    /// Compares one part with its checksum, without decompressing it.
    pub(super) fn check_part(&mut self, offset: u64, header: &SegmentHeader) -> io::Result<Result<(), String>> {
        read_pieces(&mut self.input, &mut self.scratch, offset, header, |_| Ok(Ok(())))
    }
}

/// Reads the payload part at an offset in pieces, and compares it with its checksum. Ends early if `take` finds something
/// wrong. The inner error is what is wrong.
fn read_pieces(
    input: &mut Input,
    scratch: &mut Vec<u8>,
    offset: u64,
    header: &SegmentHeader,
    mut take: impl FnMut(&[u8]) -> io::Result<Result<(), String>>,
) -> io::Result<Result<(), String>> {
    let (len, mut taken, mut crc) = (header.payload_len as usize, 0, 0);
    while taken < len {
        let wanted = (len - taken).min(KEEP);
        input.read_at(offset + taken as u64, wanted, scratch)?;
        if scratch.len() < wanted {
            return Ok(Err("its payload is incomplete".into()));
        }
        crc = crc32c::crc32c_append(crc, scratch);
        taken += wanted;
        if is_long(header) {
            // Of a pipe, bytes are kept until they are forgotten.
            input.forget_before(offset + taken as u64);
        }
        if let Err(reason) = take(scratch)? {
            return Ok(Err(reason));
        }
    }
    Ok(if crc == header.payload_crc { Ok(()) } else { Err("the checksum of its payload does not match".into()) })
}

/// Prepares an empty buffer for `raw` bytes, decompressed from `len` bytes. The claimed length is trusted only as far
/// as it is possible: zstd makes at most 128 KiB of a block of three bytes.
pub(super) fn prepare(out: &mut Vec<u8>, len: usize, raw: usize) {
    out.clear();
    out.reserve_exact(raw.min(len.saturating_mul(64 << 10)));
}

pub(super) fn whole(out: &[u8], raw: usize) -> Result<(), String> {
    (out.len() == raw).then_some(()).ok_or_else(|| OTHER_LENGTH.to_owned())
}

pub(in crate::trace) const OTHER_LENGTH: &str = "its decompressed length differs from its header";

/// Decompresses one piece of a flushed part. `out` must not get longer than `raw` bytes.
pub(super) fn decompress(decoder: &mut Decoder<'_>, piece: &[u8], raw: usize, out: &mut Vec<u8>) -> Result<(), String> {
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
