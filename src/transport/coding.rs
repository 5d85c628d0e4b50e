//! Decodes content codings (RFC 9110 §8.4) and transfer codings other than `chunked` (RFC 9112 §7), so that mcpreel can
//! read what peers compress. Forwarded bytes stay as they are.

use brotli_decompressor::DecompressorWriter;
use flate2::write::{DeflateDecoder, GzDecoder, ZlibDecoder};
use hyper::header::{CONTENT_ENCODING, HeaderMap, HeaderValue, TRANSFER_ENCODING};
use parking_lot::Mutex;
use std::io::{self, Write};
use std::sync::Arc;

/// The `Accept-Encoding` of mcpreel's own requests. Without the header, a server may use any coding. Compressing servers
/// often hold events back until their buffers are full, so we ask for none; we read what comes nevertheless.
pub(crate) const ACCEPTED: HeaderValue = HeaderValue::from_static("identity");

/// The decoded size that any body may have, however small it is (64 MiB).
const FREE_BYTES: usize = 64 << 20;
/// Beyond that, a body may decode to this many times its own length. Anything larger is probably a decompression bomb.
const MAX_RATIO: usize = 100;
/// How many codings a body may have. Each more multiplies what a few bytes decode to.
const MAX_CODINGS: usize = 3;

/// A coding that cannot be decoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("mcpreel cannot read the coding {0:?} of the body")]
pub struct UnknownCoding(pub String);

/// Decodes the codings of one body.
pub struct Decoder(Vec<Stage>);

/// One coding.
struct Stage {
    name: String,
    decoder: Box<dyn Coding + Send>,
    decoded: Decoded,
    is_begun: bool,
}

/// A writer that decodes what is written to it.
trait Coding: Write {
    /// # Errors
    /// The coded bytes are not complete.
    fn finish(&mut self) -> io::Result<()>;
}

impl Decoder {
    /// A decoder for the codings that a head states; `None` if the body is not coded.
    ///
    /// # Errors
    /// A coding is unknown, or there are too many.
    pub fn of_head(headers: &HeaderMap) -> Result<Option<Self>, UnknownCoding> {
        Self::of(&stated(headers))
    }

    /// A decoder for this list of codings, in the order in which they were applied; `None` if it has none.
    ///
    /// # Errors
    /// A coding is unknown, or there are too many.
    pub fn of(codings: &str) -> Result<Option<Self>, UnknownCoding> {
        let names = codings.split(',').map(|name| name.trim().to_ascii_lowercase());
        let names: Vec<String> = names.filter(|name| !matches!(&**name, "" | "identity" | "chunked")).collect();
        if names.len() > MAX_CODINGS {
            return Err(UnknownCoding(names.join(", ")));
        }
        let stages: Result<Vec<Stage>, _> = names.into_iter().rev().map(Stage::of).collect();
        stages.map(|stages| (!stages.is_empty()).then_some(Self(stages)))
    }

    /// Takes the next bytes and returns what they decode to.
    ///
    /// # Errors
    /// The bytes are invalid, or decode to too much.
    pub fn push(&mut self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        let (first, others) = self.0.split_first_mut().ok_or(io::ErrorKind::InvalidInput)?;
        others.iter_mut().try_fold(first.push(bytes)?, |bytes, stage| stage.push(&bytes))
    }

    /// Ends the body.
    ///
    /// # Errors
    /// The body ends too early. Browsers and others accept that, so what was decoded counts.
    pub fn finish(&mut self) -> io::Result<()> {
        self.0.iter_mut().try_for_each(Stage::finish)
    }
}

/// The codings of a body by its head, in the order in which they were applied, and without `chunked` and `identity`,
/// which change nothing.
pub(crate) fn stated(headers: &HeaderMap) -> String {
    let values = [CONTENT_ENCODING, TRANSFER_ENCODING].into_iter().flat_map(|name| headers.get_all(name));
    let texts = values.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let names: Vec<String> =
        texts.flat_map(|text| text.split(',').map(|name| name.trim().to_owned()).collect::<Vec<_>>()).collect();
    let is_coding = |name: &&str| !["", "chunked", "identity"].iter().any(|plain| name.eq_ignore_ascii_case(plain));
    names.iter().map(String::as_str).filter(is_coding).collect::<Vec<_>>().join(", ")
}

impl Stage {
    fn of(name: String) -> Result<Self, UnknownCoding> {
        let decoded = Decoded(Arc::new(Mutex::new((Vec::new(), FREE_BYTES))));
        let sink = decoded.clone();
        let decoder: Box<dyn Coding + Send> = match &*name {
            "gzip" | "x-gzip" => Box::new(Gzip { member: GzDecoder::new(sink.clone()), decoded: sink, is_over: false }),
            "deflate" => Box::new(Deflate::Begins(sink, Vec::new())),
            "br" => Box::new(DecompressorWriter::new(sink, 16 << 10)),
            "zstd" => match zstd::stream::write::Decoder::new(sink) {
                Ok(decoder) => Box::new(decoder),
                Err(_) => return Err(UnknownCoding(name)),
            },
            _ => return Err(UnknownCoding(name)),
        };
        Ok(Self { name, decoder, decoded, is_begun: false })
    }

    fn push(&mut self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        self.is_begun |= !bytes.is_empty();
        self.decoded.0.lock().1 += bytes.len().saturating_mul(MAX_RATIO);
        let pushed = self.decoder.write_all(bytes).and_then(|()| self.decoder.flush());
        pushed.map_err(|error| io::Error::new(error.kind(), format!("it is not valid {}: {error}", self.name)))?;
        Ok(std::mem::take(&mut self.decoded.0.lock().0))
    }

    fn finish(&mut self) -> io::Result<()> {
        // A body without a byte has no coding, whatever its head states.
        let finished = if self.is_begun { self.decoder.finish() } else { Ok(()) };
        finished.map_err(|error| io::Error::new(error.kind(), format!("it ends in the middle of its {}", self.name)))
    }
}

impl Coding for DecompressorWriter<Decoded> {
    fn finish(&mut self) -> io::Result<()> {
        self.close()
    }
}

impl Coding for zstd::stream::write::Decoder<'_, Decoded> {
    fn finish(&mut self) -> io::Result<()> {
        self.do_finish()
    }
}

/// The members of a gzip file. What follows the last one, such as padding, is skipped, as zlib's readers do.
struct Gzip {
    member: GzDecoder<Decoded>,
    decoded: Decoded,
    is_over: bool,
}

/// The first byte of each member (RFC 1952 §2.3.1).
const GZIP: u8 = 0x1f;

impl Write for Gzip {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_over || bytes.is_empty() {
            return Ok(bytes.len());
        }
        let taken = self.member.write(bytes)?;
        if taken > 0 {
            return Ok(taken);
        }
        self.member.try_finish()?;
        if bytes[0] == GZIP {
            self.member = GzDecoder::new(self.decoded.clone());
            return self.member.write(bytes);
        }
        self.is_over = true;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.member.flush()
    }
}

impl Coding for Gzip {
    fn finish(&mut self) -> io::Result<()> {
        if self.is_over { Ok(()) } else { self.member.try_finish() }
    }
}

/// `deflate` is the format of zlib (RFC 9110 §8.4.1.2), but some servers leave out its header.
enum Deflate {
    /// The first bytes, up to two, which tell both apart.
    Begins(Decoded, Vec<u8>),
    WithHeader(ZlibDecoder<Decoded>),
    Bare(DeflateDecoder<Decoded>),
}

impl Write for Deflate {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A decoder takes nothing after its end. As with gzip, that is skipped.
        let skipped = |taken: usize| if taken == 0 { bytes.len() } else { taken };
        match self {
            Self::Begins(sink, first) => {
                first.extend_from_slice(bytes);
                let [one, two, ..] = first[..] else { return Ok(bytes.len()) };
                let has_header = one & 0x0f == 8 && (u16::from(one) << 8 | u16::from(two)) % 31 == 0;
                let (sink, first) = (sink.clone(), std::mem::take(first));
                *self = match has_header {
                    true => Self::WithHeader(ZlibDecoder::new(sink)),
                    false => Self::Bare(DeflateDecoder::new(sink)),
                };
                self.write_all(&first)?;
                Ok(bytes.len())
            }
            Self::WithHeader(decoder) => decoder.write(bytes).map(skipped),
            Self::Bare(decoder) => decoder.write(bytes).map(skipped),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Begins(..) => Ok(()),
            Self::WithHeader(decoder) => decoder.flush(),
            Self::Bare(decoder) => decoder.flush(),
        }
    }
}

impl Coding for Deflate {
    fn finish(&mut self) -> io::Result<()> {
        let taken = match self {
            Self::Begins(..) => 1,
            Self::WithHeader(decoder) => decoder.write(&[0])?,
            Self::Bare(decoder) => decoder.write(&[0])?,
        };
        if taken == 0 { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
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
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

    const TEXT: &[u8] = b"data: {\"jsonrpc\":\"2.0\"}\n\n";

    fn decoder(codings: &str) -> Decoder {
        Decoder::of(codings).expect("known").expect("a coding")
    }

    fn decoded(codings: &str, body: &[u8], chunk: usize) -> Vec<u8> {
        let mut decoder = decoder(codings);
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
        let unknown = |codings| Decoder::of(codings).err().map(|unknown| unknown.to_string()).expect("unknown");
        assert!(unknown("Compress").contains("\"compress\""));
        assert!(unknown("gzip, gzip, gzip, gzip").contains("gzip, gzip"));
        let error = decoder("gzip").push(b"not gzip at all").expect_err("refused").to_string();
        assert!(error.contains("not valid gzip"), "{error}");
        for none in ["", "identity", "Chunked", " , identity"] {
            assert!(Decoder::of(none).expect("known").is_none(), "{none}");
        }
    }

    fn gzipped(text: &[u8]) -> Vec<u8> {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(text).expect("a Vec takes all");
        gzip.finish().expect("ends")
    }

    #[test]
    fn several_codings_are_undone_in_reverse_order() {
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
        zlib.write_all(TEXT).expect("a Vec takes all");
        let both = gzipped(&zlib.finish().expect("ends"));
        for chunk in [1, 7, 1000] {
            assert_eq!(decoded("deflate, X-GZIP", &both, chunk), TEXT);
            assert_eq!(decoded("identity,deflate,gzip", &both, chunk), TEXT);
        }
    }

    #[test]
    fn deflate_may_lack_its_header() {
        let mut bare = DeflateEncoder::new(Vec::new(), Compression::fast());
        bare.write_all(TEXT).expect("a Vec takes all");
        let bare = bare.finish().expect("ends");
        for chunk in [1, 2, 1000] {
            assert_eq!(decoded("deflate", &bare, chunk), TEXT);
        }
    }

    #[test]
    fn a_head_states_codings_in_both_headers() {
        let mut headers = HeaderMap::new();
        for (name, value) in
            [(TRANSFER_ENCODING, "gzip, Chunked"), (CONTENT_ENCODING, "br"), (CONTENT_ENCODING, "identity, x")]
        {
            headers.append(name, HeaderValue::from_static(value));
        }
        assert_eq!(stated(&headers), "br, x, gzip");
        assert_eq!(Decoder::of_head(&headers).err(), Some(UnknownCoding("x".into())));
        assert!(Decoder::of_head(&HeaderMap::new()).expect("none").is_none());
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
            let mut decoder = decoder(coding);
            let pushed: Result<Vec<usize>, _> =
                body.chunks(16 << 10).map(|chunk| decoder.push(chunk).map(|decoded| decoded.len())).collect();
            assert!(pushed.is_err_and(|error| error.to_string().contains("decodes to more")), "{coding}");
        }
    }

    fn coded(coding: &str) -> Vec<u8> {
        fn written<W: Write>(mut encoder: W, finish: impl FnOnce(W) -> io::Result<Vec<u8>>) -> Vec<u8> {
            encoder.write_all(TEXT).and_then(|()| finish(encoder)).expect("a Vec takes all")
        }
        match coding {
            "gzip" => written(GzEncoder::new(Vec::new(), Compression::fast()), GzEncoder::finish),
            "deflate" => written(ZlibEncoder::new(Vec::new(), Compression::fast()), ZlibEncoder::finish),
            "bare" => written(DeflateEncoder::new(Vec::new(), Compression::fast()), DeflateEncoder::finish),
            "zstd" => {
                let encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).expect("an encoder");
                written(encoder, zstd::stream::write::Encoder::finish)
            }
            // An uncompressed meta-block (RFC 7932 §9.2), and an empty last one.
            _ => {
                let length = u32::try_from(TEXT.len() - 1).expect("short");
                let head = length << 4 | 1 << 20;
                [&(head).to_le_bytes()[..3], TEXT, &[3]].concat()
            }
        }
    }

    #[test]
    fn what_follows_the_end_is_skipped_and_an_early_end_is_known() {
        for coding in ["gzip", "deflate", "bare", "zstd", "br"] {
            let (body, name) = (coded(coding), if coding == "bare" { "deflate" } else { coding });
            for chunk in [1, 3, 1000] {
                let mut whole = decoder(name);
                let pushed: io::Result<Vec<_>> = body.chunks(chunk).map(|bytes| whole.push(bytes)).collect();
                assert_eq!(pushed.expect(coding).concat(), TEXT, "{coding}");
                whole.finish().expect(coding);
                let mut cut = decoder(name);
                body[..body.len() - 1].chunks(chunk).for_each(|bytes| drop(cut.push(bytes).expect(coding)));
                assert!(cut.finish().is_err(), "{coding} {chunk}");
                if !matches!(coding, "zstd" | "br") {
                    assert_eq!(decoded(name, &[&body[..], &[0; 600]].concat(), chunk), TEXT, "{coding}");
                }
            }
            decoder(name).finish().expect("a body without a byte");
        }
        let twice = [coded("gzip"), coded("gzip"), b"padding".to_vec()].concat();
        for chunk in [1, 5, 1000] {
            assert_eq!(decoded("gzip", &twice, chunk), [TEXT, TEXT].concat());
        }
        let mut wrong = coded("gzip");
        let crc = wrong.len() - 8;
        wrong[crc] ^= 1;
        assert!(decoder("gzip").push(&[&wrong[..], b"\0"].concat()).is_err(), "a checksum that is wrong");
    }

    #[test]
    fn an_event_comes_out_as_soon_as_it_is_flushed() {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(TEXT).expect("a Vec takes all");
        gzip.flush().expect("flushes");
        let mut decoder = decoder("gzip");
        assert_eq!(decoder.push(gzip.get_ref()).expect("decodes"), TEXT);
    }
}
