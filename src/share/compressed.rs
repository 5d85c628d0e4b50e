//! Compressed payloads, such as the body of a request that was stored as it crossed the wire.

use flate2::write::{GzEncoder, MultiGzDecoder, ZlibDecoder, ZlibEncoder};
use std::io::{self, Write};

/// The maximum length of what a payload may decompress to. Unit: bytes.
const MAX_TEXT: usize = 64 << 20;

/// A text that was compressed, and how.
pub(super) struct Opened {
    /// The text.
    pub text: Vec<u8>,
    coding: Coding,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coding {
    Gzip,
    Zlib,
    Zstd,
}

impl Opened {
    /// Decompresses a payload; `None` if it is not compressed, or not text.
    pub(super) fn of(payload: &[u8]) -> Option<Self> {
        let coding = match payload {
            [0x1f, 0x8b, 8, ..] => Coding::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Coding::Zstd,
            [0x78, flags, ..] if (0x7800 + u16::from(*flags)) % 31 == 0 => Coding::Zlib,
            _ => return None,
        };
        let text = decompressed(coding, payload).ok()?;
        std::str::from_utf8(&text).is_ok().then_some(Self { text, coding })
    }

    /// Compresses another text in the same way.
    pub(super) fn compress(&self, text: &[u8]) -> io::Result<Vec<u8>> {
        let level = flate2::Compression::default();
        match self.coding {
            Coding::Gzip => written(GzEncoder::new(Vec::new(), level), text, GzEncoder::finish),
            Coding::Zlib => written(ZlibEncoder::new(Vec::new(), level), text, ZlibEncoder::finish),
            Coding::Zstd => zstd::encode_all(text, 0),
        }
    }
}

fn written<W: Write>(mut out: W, text: &[u8], finish: fn(W) -> io::Result<Vec<u8>>) -> io::Result<Vec<u8>> {
    out.write_all(text)?;
    finish(out)
}

fn decompressed(coding: Coding, payload: &[u8]) -> io::Result<Vec<u8>> {
    let mut out = Limited(Vec::new());
    match coding {
        Coding::Gzip => {
            let mut decoder = MultiGzDecoder::new(&mut out);
            decoder.write_all(payload)?;
            decoder.try_finish()?;
        }
        Coding::Zlib => {
            let mut decoder = ZlibDecoder::new(&mut out);
            decoder.write_all(payload)?;
            decoder.try_finish()?;
        }
        Coding::Zstd => zstd::stream::copy_decode(payload, &mut out)?,
    }
    Ok(out.0)
}

/// Takes at most [`MAX_TEXT`] bytes.
struct Limited(Vec<u8>);

impl Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MAX_TEXT {
            return Err(io::Error::other("too long"));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_opened_and_compressed_in_the_same_way() {
        for coding in [Coding::Gzip, Coding::Zlib, Coding::Zstd] {
            let payload = Opened { text: Vec::new(), coding }.compress(b"one text").expect("a Vec takes all");
            let opened = Opened::of(&payload).expect("it is compressed");
            assert_eq!((&opened.text[..], opened.coding), (&b"one text"[..], coding));
            assert!(Opened::of(&payload[..payload.len() - 5]).is_none_or(|opened| opened.text.len() <= 8));
        }
        assert!(Opened::of(b"x text").is_none() && Opened::of(b"").is_none());
    }

    #[test]
    fn a_bomb_is_not_opened() {
        let payload = Opened { text: Vec::new(), coding: Coding::Zstd }.compress(&vec![b'a'; MAX_TEXT + 1]);
        assert!(Opened::of(&payload.expect("a Vec takes all")).is_none());
    }
}
