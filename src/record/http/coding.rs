//! Decodes content codings so that compressed bodies can be recorded in plain form (RFC 9110 §8.4). The forwarded bytes
//! stay as they are.

use brotli_decompressor::DecompressorWriter;
use flate2::write::{MultiGzDecoder, ZlibDecoder};
use parking_lot::Mutex;
use std::io::{self, Write};
use std::sync::Arc;

/// The decoded size that any body may have, however small it is (64 MiB).
const FREE_BYTES: usize = 64 << 20;
/// Beyond that, a body may decode to this many times its own length. Anything larger is probably a decompression bomb.
const MAX_RATIO: usize = 100;

/// Decodes one content coding.
pub struct Decoder {
    decoder: Box<dyn Write + Send>,
    decoded: Decoded,
}

impl Decoder {
    /// A decoder for this `Content-Encoding`; `None` if it is unknown.
    pub fn of(coding: &str) -> Option<Self> {
        let decoded = Decoded(Arc::new(Mutex::new((Vec::new(), FREE_BYTES))));
        let sink = decoded.clone();
        let decoder: Box<dyn Write + Send> = match coding.trim().to_ascii_lowercase().as_str() {
            "gzip" | "x-gzip" => Box::new(MultiGzDecoder::new(sink)),
            "deflate" => Box::new(ZlibDecoder::new(sink)),
            "br" => Box::new(DecompressorWriter::new(sink, 16 << 10)),
            "zstd" => Box::new(zstd::stream::write::Decoder::new(sink).ok()?),
            _ => return None,
        };
        Some(Self { decoder, decoded })
    }

    /// Takes the next bytes and returns what they decode to.
    ///
    /// # Errors
    /// The bytes are invalid, or decode to too much.
    pub fn push(&mut self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        self.decoded.0.lock().1 += bytes.len().saturating_mul(MAX_RATIO);
        self.decoder.write_all(bytes)?;
        self.decoder.flush()?;
        Ok(std::mem::take(&mut self.decoded.0.lock().0))
    }
}

/// The output of a decoder, and how many more bytes it may contain.
#[derive(Clone)]
struct Decoded(Arc<Mutex<(Vec<u8>, usize)>>);

impl Write for Decoded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut decoded = self.0.lock();
        let left = decoded.1.checked_sub(bytes.len());
        decoded.1 =
            left.ok_or_else(|| io::Error::other(format!("it decodes to more than {MAX_RATIO} times its size")))?;
        decoded.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::{GzEncoder, ZlibEncoder};

    const TEXT: &[u8] = b"data: {\"jsonrpc\":\"2.0\"}\n\n";

    fn decoded(coding: &str, body: &[u8], chunk: usize) -> Vec<u8> {
        let mut decoder = Decoder::of(coding).expect("known");
        body.chunks(chunk).flat_map(|chunk| decoder.push(chunk).expect("decodes")).collect()
    }

    #[test]
    fn every_coding_is_undone_in_pieces() {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(TEXT).expect("a Vec takes all");
        zlib.write_all(TEXT).expect("a Vec takes all");
        let zstd = zstd::encode_all(TEXT, 1).expect("encodes");
        // A brotli stream with one uncompressed block.
        let brotli = [&[0x0b, 0x0c, 0x80][..], TEXT, &[0x03]].concat();
        let bodies = [
            ("gzip", gzip.finish().expect("ends")),
            ("deflate", zlib.finish().expect("ends")),
            ("zstd", zstd),
            ("br", brotli),
        ];
        for (coding, body) in bodies {
            for chunk in [1, 5, 1000] {
                assert_eq!(decoded(coding, &body, chunk), TEXT, "{coding} in pieces of {chunk}");
            }
        }
        assert!(Decoder::of("compress").is_none());
        assert!(Decoder::of("gzip").expect("known").push(b"not gzip at all").is_err());
    }

    #[test]
    fn what_swells_without_measure_is_given_up() {
        let zeros = vec![0; 4 << 20];
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        let mut zstd = zstd::stream::write::Encoder::new(Vec::new(), 1).expect("an encoder");
        for _ in 0..40 {
            gzip.write_all(&zeros).expect("a Vec takes all");
            zstd.write_all(&zeros).expect("a Vec takes all");
        }
        for (coding, body) in [("gzip", gzip.finish().expect("ends")), ("zstd", zstd.finish().expect("ends"))] {
            let mut decoder = Decoder::of(coding).expect("known");
            let pushed: Result<Vec<usize>, _> =
                body.chunks(16 << 10).map(|chunk| decoder.push(chunk).map(|decoded| decoded.len())).collect();
            assert!(pushed.is_err_and(|error| error.to_string().contains("decodes to more")), "{coding}");
        }
    }

    #[test]
    fn an_event_comes_out_as_soon_as_it_is_flushed() {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(TEXT).expect("a Vec takes all");
        gzip.flush().expect("flushes");
        let mut decoder = Decoder::of("gzip").expect("known");
        assert_eq!(decoder.push(gzip.get_ref()).expect("decodes"), TEXT);
    }
}
