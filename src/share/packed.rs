//! Finds gzip in base64 in a text, such as the data in pages that mcpreel writes, and decompresses it bit by bit.

use super::runs::is_base64;
use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use flate2::write::MultiGzDecoder;
use std::io::{self, Write as _};

/// What gzip begins with in base64.
const MAGIC: &[u8] = b"H4sI";
/// The shortest gzip file in base64, which contains nothing. Unit: bytes.
const SHORTEST: u64 = 24;
/// What is passed on at once. Unit: bytes.
const PIECE_BYTES: usize = 1 << 20;
/// The maximum length of what the data in a text may decompress to. Unit: bytes.
const MAX_BYTES: u64 = 4 << 30;

/// Base64 whose end may be missing.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Decompresses what is compressed in a text.
#[derive(Default)]
pub(crate) struct Packed {
    /// The data that is being read.
    run: Option<Run>,
    /// The end of the text so far, which may belong to a beginning.
    tail: Vec<u8>,
    /// How much was decompressed. Unit: bytes.
    opened: u64,
    /// The numbers of the lines with data that could not be decompressed.
    unread: Vec<u64>,
}

struct Run {
    line: u64,
    /// Characters that are not decoded yet.
    left: Vec<u8>,
    read: u64,
    decoder: MultiGzDecoder<Vec<u8>>,
    failed: bool,
}

impl Packed {
    /// Takes the next part of a text, in the line with this number, and passes on what is compressed in it.
    pub(crate) fn take(&mut self, line: u64, text: &[u8], take: &mut impl FnMut(u64, &[u8])) {
        // What the tail begins with was looked at, with the character before it.
        let from = usize::from(self.tail.len() == MAGIC.len());
        let mut rest = std::mem::take(&mut self.tail);
        rest.extend_from_slice(text);
        loop {
            if let Some(run) = &mut self.run {
                let end = rest.iter().position(|byte| !is_in_run(*byte)).unwrap_or(rest.len());
                run.push(&rest[..end], &mut self.opened, take);
                if end == rest.len() {
                    return;
                }
                self.end(take);
                rest.drain(..end);
            }
            let Some(start) = begins(&rest, from) else { break };
            rest.drain(..start);
            let decoder = MultiGzDecoder::new(Vec::new());
            self.run = Some(Run { line, left: Vec::new(), read: 0, decoder, failed: false });
        }
        self.tail = rest.split_off(rest.len().saturating_sub(MAGIC.len()));
    }

    /// Ends the text. Returns the numbers of the lines with data that could not be decompressed to its end.
    pub(crate) fn finish(mut self, take: &mut impl FnMut(u64, &[u8])) -> Vec<u64> {
        self.end(take);
        self.unread
    }

    fn end(&mut self, take: &mut impl FnMut(u64, &[u8])) {
        let Some(mut run) = self.run.take() else { return };
        let is_whole = run.finish(take);
        if !is_whole && run.read >= SHORTEST {
            self.unread.push(run.line);
        }
    }
}

impl Run {
    fn push(&mut self, characters: &[u8], opened: &mut u64, take: &mut impl FnMut(u64, &[u8])) {
        self.read += characters.len() as u64;
        // A step is small, so that what it decompresses to is, too.
        for step in characters.chunks(4 << 10) {
            let standard = step.iter().map(|byte| match byte {
                b'-' => b'+',
                b'_' => b'/',
                other => *other,
            });
            self.left.extend(standard);
            let whole = self.left.len() / 4 * 4;
            let characters: Vec<u8> = self.left.drain(..whole).collect();
            self.decode(&characters, opened, take);
        }
    }

    fn decode(&mut self, characters: &[u8], opened: &mut u64, take: &mut impl FnMut(u64, &[u8])) {
        if self.failed {
            return;
        }
        let before = self.decoder.get_ref().len() as u64;
        let decoded = BASE64.decode(characters).map_err(io::Error::other);
        self.failed = decoded.and_then(|bytes| self.decoder.write_all(&bytes)).is_err();
        *opened += self.decoder.get_ref().len() as u64 - before;
        self.failed |= *opened > MAX_BYTES;
        if self.decoder.get_ref().len() >= PIECE_BYTES {
            pass(self.line, &std::mem::take(self.decoder.get_mut()), take);
        }
    }

    /// Passes on the rest. Returns whether all of the data was read.
    fn finish(&mut self, take: &mut impl FnMut(u64, &[u8])) -> bool {
        let left = std::mem::take(&mut self.left);
        self.decode(&left, &mut 0, take);
        let is_whole = !self.failed && self.decoder.try_finish().is_ok();
        pass(self.line, &std::mem::take(self.decoder.get_mut()), take);
        is_whole
    }
}

/// Passes on a text in pieces.
fn pass(line: u64, text: &[u8], take: &mut impl FnMut(u64, &[u8])) {
    text.chunks(PIECE_BYTES).for_each(|piece| take(line, piece));
}

/// Whether a byte belongs to base64 or its padding.
fn is_in_run(byte: u8) -> bool {
    is_base64(byte) || byte == b'='
}

/// Returns where gzip begins in a text, at the beginning of a run of base64, from a place on.
fn begins(text: &[u8], from: usize) -> Option<usize> {
    let is_start = |at: &usize| *at >= from && at.checked_sub(1).is_none_or(|before| !is_in_run(text[before]));
    memchr::memmem::find_iter(text, MAGIC).find(is_start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::engine::general_purpose::STANDARD;
    use flate2::Compression;
    use flate2::write::GzEncoder;

    fn gzip(text: &[u8]) -> String {
        let mut out = GzEncoder::new(Vec::new(), Compression::default());
        out.write_all(text).expect("a Vec takes all");
        STANDARD.encode(out.finish().expect("a Vec takes all"))
    }

    /// What is found in a text that comes in pieces of this length.
    fn opened(text: &str, length: usize) -> (String, Vec<u64>) {
        let (mut packed, mut found) = (Packed::default(), String::new());
        let mut take = |_, text: &[u8]| found.push_str(&String::from_utf8_lossy(text));
        let mut line = 1;
        for piece in text.as_bytes().chunks(length) {
            packed.take(line, piece, &mut take);
            line += piece.iter().filter(|byte| **byte == b'\n').count() as u64;
        }
        let unread = packed.finish(&mut take);
        (found, unread)
    }

    #[test]
    fn data_is_found_and_decompressed_wherever_the_text_is_divided() {
        let text = format!("<a>{}</a>\n<b>{}</b> xH4sI \"{}", gzip(b"one, "), gzip(b"two"), gzip(b", three"));
        for length in [1, 2, 3, 5, 7, 64, 1000] {
            assert_eq!(opened(&text, length), ("one, two, three".to_owned(), Vec::new()), "{length}");
        }
        let long = "0123456789".repeat(400_000);
        assert!(opened(&gzip(long.as_bytes()), 1000) == (long, Vec::new()));
    }

    #[test]
    fn data_that_cannot_be_decompressed_is_reported() {
        let whole =
            gzip(&(0..2000u32).flat_map(|number| number.wrapping_mul(2_654_435_761).to_le_bytes()).collect::<Vec<_>>());
        let (text, unread) = opened(&format!("x {}", &whole[..whole.len() / 2]), 64);
        assert!(!text.is_empty() && unread == [1]);
        assert_eq!(opened("H4sI, H4sIs are no data", 5), (String::new(), Vec::new()));
    }
}
