//! The bytes around the records: signature, version, file header, segment headers and trailer.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{self, Read, Write};

/// The first eight bytes of every reel. The high bit and the line breaks reveal a transfer that altered the file.
pub(crate) const SIGNATURE: [u8; 8] = *b"\x89REEL\r\n\x1a";

/// The version that this program writes.
pub(crate) const VERSION: Version = Version { major: 1, minor: 1 };

/// The first bytes of every segment, which a reader looks for after damage.
pub(crate) const SEGMENT_MAGIC: [u8; 4] = [0xd7, b'S', b'G', 0x8e];

/// The length of a segment header, in bytes.
pub(crate) const SEGMENT_HEADER_LEN: usize = 60;

/// The last bytes of a reel with an index.
pub(crate) const TRAILER_MAGIC: [u8; 8] = *b"\x89REELIX\x1a";

/// The length of the trailer, in bytes: the offset of the footer segment, a checksum, the magic.
pub(crate) const TRAILER_LEN: usize = 20;

/// The maximum length of a file header, in bytes.
const MAX_FILE_HEADER_BYTES: u32 = 1 << 20;

/// Feature bits that a reader must know to read a reel; none are defined yet.
pub(crate) const KNOWN_REQUIRED_FEATURES: u32 = 0;

/// A version of the format. A reader can read all minor versions of the major versions that it knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// Changes if older readers would misread the file.
    pub major: u16,
    /// Changes if something was added that older readers ignore.
    pub minor: u16,
}

impl std::fmt::Display for Version {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}.{}", self.major, self.minor)
    }
}

/// The reason why a file cannot be read as a reel at all.
#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    /// Reading failed.
    #[error("cannot read: {0}")]
    Io(#[from] io::Error),
    /// The file is empty.
    #[error("the file is empty")]
    Empty,
    /// The first bytes are not those of a reel.
    #[error("not a reel: {0}")]
    NotAReel(&'static str),
    /// The file header is incomplete or altered.
    #[error("the reel's file header is damaged: {0}")]
    DamagedHeader(String),
    /// The reel was written by a newer program.
    #[error("the reel has format version {0}; this program reads {VERSION} and older")]
    TooNew(Version),
    /// The reel needs features that this program does not know.
    #[error("the reel needs features that this program does not know (bits {0:#x})")]
    UnknownFeatures(u32),
}

/// The file header of a reel: a CBOR map.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileHeader {
    /// The clock base (event time 0), in nanoseconds since the Unix epoch.
    pub created: i64,
    /// The program that wrote the reel, and its version.
    #[serde(default)]
    pub tool: String,
    /// The user's name for the reel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The user's notes, and those of the writer.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<String, String>,
}

/// The note in the header of a reel that is a part of another one, with how much of it that is.
const CUT_NOTE: &str = "cut";

/// The note in the header of a reel whose events have no times, and its value.
const TIMES_NOTE: (&str, &str) = ("times", "none");

impl FileHeader {
    /// Notes that the events have no times: they came from a file without any. All are at the clock base.
    pub(crate) fn mark_without_times(&mut self) {
        self.notes.insert(TIMES_NOTE.0.to_owned(), TIMES_NOTE.1.to_owned());
    }

    /// Returns whether the events have times.
    pub(crate) fn has_times(&self) -> bool {
        self.notes.get(TIMES_NOTE.0).is_none_or(|value| value != TIMES_NOTE.1)
    }

    /// Notes that the reel is a part of another one.
    pub(crate) fn mark_as_cut(&mut self, about: String) {
        self.notes.insert(CUT_NOTE.to_owned(), about);
    }

    /// Returns whether the reel, or one that was merged into it, is a part of another one: what is not in it may have
    /// happened all the same.
    pub(crate) fn is_cut(&self) -> bool {
        // Merging puts a prefix before the names of notes.
        let is_it = |name: &String| match name.rsplit_once('.') {
            Some((merged, last)) => last == CUT_NOTE && merged.starts_with("merged."),
            None => name == CUT_NOTE,
        };
        self.notes.keys().any(is_it)
    }

    /// Writes signature, version, features and this header. Returns the number of bytes written.
    ///
    /// # Errors
    ///
    /// If the header is too long, or writing fails.
    pub fn write(&self, out: &mut impl Write) -> io::Result<u64> {
        let mut body = Vec::new();
        ciborium::into_writer(self, &mut body).map_err(io::Error::other)?;
        if body.len() > MAX_FILE_HEADER_BYTES as usize {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "label and notes are longer than 1 MiB together"));
        }
        let mut bytes = Vec::with_capacity(body.len() + 28);
        bytes.extend_from_slice(&SIGNATURE);
        bytes.extend_from_slice(&VERSION.major.to_le_bytes());
        bytes.extend_from_slice(&VERSION.minor.to_le_bytes());
        bytes.extend_from_slice(&0u32.to_le_bytes());
        bytes.extend_from_slice(&0u32.to_le_bytes());
        bytes.extend_from_slice(&u32::try_from(body.len()).map_err(io::Error::other)?.to_le_bytes());
        bytes.extend_from_slice(&crc32c::crc32c_append(crc32c::crc32c(&bytes), &body).to_le_bytes());
        bytes.extend_from_slice(&body);
        out.write_all(&bytes)?;
        Ok(bytes.len() as u64)
    }

    /// Reads a file header. Returns the header, the version, and the number of bytes read.
    ///
    /// # Errors
    ///
    /// If the file is not a reel, its header is damaged, or it needs a newer program.
    pub fn read(input: &mut impl Read) -> Result<(Self, Version, u64), FormatError> {
        let mut head = [0u8; 28];
        let got = read_up_to(input, &mut head)?;
        check_signature(&head[..got])?;
        if got < head.len() {
            return Err(FormatError::DamagedHeader("it is incomplete".into()));
        }
        let version = Version { major: le16(&head, 8), minor: le16(&head, 10) };
        if version.major > VERSION.major {
            return Err(FormatError::TooNew(version));
        }
        let length = le32(&head, 20);
        if length > MAX_FILE_HEADER_BYTES {
            return Err(FormatError::DamagedHeader(format!("its length of {length} bytes is not plausible")));
        }
        let mut body = vec![0u8; length as usize];
        if read_up_to(input, &mut body)? < body.len() {
            return Err(FormatError::DamagedHeader("it is incomplete".into()));
        }
        if crc32c::crc32c_append(crc32c::crc32c(&head[..24]), &body) != le32(&head, 24) {
            return Err(FormatError::DamagedHeader("its checksum does not match".into()));
        }
        let unknown = le32(&head, 12) & !KNOWN_REQUIRED_FEATURES;
        if unknown != 0 {
            return Err(FormatError::UnknownFeatures(unknown));
        }
        let header: Self =
            ciborium::from_reader(&body[..]).map_err(|error| FormatError::DamagedHeader(error.to_string()))?;
        Ok((header, version, 28 + u64::from(length)))
    }
}

/// Whether a file is a reel, from its first eight bytes. Also one with fewer, whose writer was killed at once.
pub(crate) fn begins_reel(head: &[u8]) -> bool {
    let len = head.len().min(SIGNATURE.len());
    head[..len] == SIGNATURE[..len]
}

fn check_signature(head: &[u8]) -> Result<(), FormatError> {
    if head.is_empty() {
        return Err(FormatError::Empty);
    }
    if head.starts_with(&SIGNATURE) {
        return Ok(());
    }
    Err(FormatError::NotAReel(if head.starts_with(b"\x89REEL\n\x1a") || head.starts_with(b"\tREEL") {
        "its signature was altered, for example by a transfer in text mode"
    } else if matches!(head.first(), Some(b'{' | b'[')) {
        "it looks like JSON; `mcpreel import` reads JSON lines"
    } else if head.len() < SIGNATURE.len() && SIGNATURE.starts_with(head) {
        "it ends within the signature"
    } else {
        "its first bytes are not a reel's"
    }))
}

/// The kind of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentKind {
    /// Events: a part with records and a part with payloads.
    Events,
    /// The index.
    Footer,
    /// A kind that this version does not know and skips.
    Unknown(u8),
}

impl SegmentKind {
    /// Returns the number in a reel.
    pub fn number(self) -> u8 {
        match self {
            Self::Events => 1,
            Self::Footer => 2,
            Self::Unknown(number) => number,
        }
    }

    fn from_number(number: u8) -> Self {
        match number {
            1 => Self::Events,
            2 => Self::Footer,
            other => Self::Unknown(other),
        }
    }
}

/// The segment starts a group, with new compression contexts and a new method table.
pub const STARTS_GROUP: u8 = 1;
/// The payload part is stored uncompressed, outside of the group's compression.
pub const PAYLOAD_STORED: u8 = 2;

/// A segment header: 60 bytes, little-endian, with a checksum, so that lengths can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentHeader {
    /// The kind of the segment.
    pub kind: SegmentKind,
    /// [`STARTS_GROUP`] and [`PAYLOAD_STORED`].
    pub flags: u8,
    /// The number of its first event.
    pub first_seq: u64,
    /// The time of its first event, in nanoseconds since the clock base.
    pub first_time: i64,
    /// The number of its events.
    pub count: u32,
    /// The length of the record part before compression, in bytes.
    pub records_raw: u32,
    /// The length of the record part in the file, in bytes.
    pub records_len: u32,
    /// The length of the payload part before compression, in bytes.
    pub payload_raw: u32,
    /// The length of the payload part in the file, in bytes.
    pub payload_len: u32,
    /// The CRC-32C of the record part in the file.
    pub records_crc: u32,
    /// The CRC-32C of the payload part in the file.
    pub payload_crc: u32,
}

impl SegmentHeader {
    /// Returns whether a group starts here.
    pub fn starts_group(&self) -> bool {
        self.flags & STARTS_GROUP != 0
    }

    /// Returns the length of both parts in the file, in bytes.
    pub fn body_len(&self) -> u64 {
        u64::from(self.records_len) + u64::from(self.payload_len)
    }

    /// Returns the header as bytes.
    pub fn encode(&self) -> [u8; SEGMENT_HEADER_LEN] {
        let mut bytes = [0u8; SEGMENT_HEADER_LEN];
        bytes[0..4].copy_from_slice(&SEGMENT_MAGIC);
        bytes[4] = self.kind.number();
        bytes[5] = self.flags;
        bytes[8..16].copy_from_slice(&self.first_seq.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.first_time.to_le_bytes());
        let words = [
            self.count,
            self.records_raw,
            self.records_len,
            self.payload_raw,
            self.payload_len,
            self.records_crc,
            self.payload_crc,
        ];
        for (word, place) in words.iter().zip(bytes[24..52].chunks_exact_mut(4)) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        let crc = crc32c::crc32c(&bytes[..56]);
        bytes[56..60].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// Parses a header; `None` if the magic or the checksum does not match.
    pub fn decode(bytes: &[u8; SEGMENT_HEADER_LEN]) -> Option<Self> {
        if bytes[0..4] != SEGMENT_MAGIC || crc32c::crc32c(&bytes[..56]) != le32(bytes, 56) {
            return None;
        }
        Some(Self {
            kind: SegmentKind::from_number(bytes[4]),
            flags: bytes[5],
            first_seq: le64(bytes, 8),
            first_time: le64(bytes, 16) as i64,
            count: le32(bytes, 24),
            records_raw: le32(bytes, 28),
            records_len: le32(bytes, 32),
            payload_raw: le32(bytes, 36),
            payload_len: le32(bytes, 40),
            records_crc: le32(bytes, 44),
            payload_crc: le32(bytes, 48),
        })
    }
}

/// Returns the trailer of a reel with an index, which contains the offset of the footer segment.
pub(crate) fn encode_trailer(footer_offset: u64) -> [u8; TRAILER_LEN] {
    let mut bytes = [0u8; TRAILER_LEN];
    bytes[0..8].copy_from_slice(&footer_offset.to_le_bytes());
    let crc = crc32c::crc32c(&bytes[..8]);
    bytes[8..12].copy_from_slice(&crc.to_le_bytes());
    bytes[12..20].copy_from_slice(&TRAILER_MAGIC);
    bytes
}

/// Parses a trailer. Returns the offset of the footer segment; `None` if it is not a trailer.
pub(crate) fn decode_trailer(bytes: &[u8]) -> Option<u64> {
    if bytes.len() != TRAILER_LEN || bytes[12..20] != TRAILER_MAGIC || crc32c::crc32c(&bytes[..8]) != le32(bytes, 8) {
        return None;
    }
    Some(le64(bytes, 0))
}

/// Reads until `buffer` is full or the input ends. Returns the number of bytes read.
///
/// # Errors
///
/// If reading fails.
pub(crate) fn read_up_to(input: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut got = 0;
    while got < buffer.len() {
        match input.read(&mut buffer[got..]) {
            Ok(0) => break,
            Ok(more) => got += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(got)
}

fn le16(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn le32(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn le64(bytes: &[u8], at: usize) -> u64 {
    u64::from(le32(bytes, at)) | u64::from(le32(bytes, at + 4)) << 32
}
