//! Names what is mended of the framing of messages, and what is refused because of it.

/// Framing that a strict reader rejects, and that goes on in its usual form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// `Content-Length` beside `Transfer-Encoding` (RFC 9112 §6.3). In a request, it is refused.
    LengthBesideCoding,
    /// The same `Content-Length` several times (RFC 9110 §8.6).
    RepeatedLength,
    /// A line of a head that ends with LF alone (RFC 9112 §2.2).
    BareLineFeed,
    /// White space around the size of a chunk (RFC 9112 §7.1).
    SpaceInChunkSize,
    /// A `Content-Length` that is invalid, or differs from another, beside `Transfer-Encoding`. In a request, it is refused.
    WrongLengthBesideCoding,
    /// `Transfer-Encoding: identity`, which is no coding (RFC 9112 §7). In a request, it is refused.
    IdentityCoding,
    /// `Transfer-Encoding` in a response of HTTP/1.0 (RFC 9112 §6.1). In a request, it is refused.
    CodingInOldVersion,
    /// `chunked` several times (RFC 9112 §6.1). In a request, it is refused.
    RepeatedChunked,
    /// White space between a name and its colon in a response (RFC 9112 §5.1). In a request, it is refused.
    SpaceBeforeColon,
    /// Empty elements in a list that says where the body of a response ends (RFC 9110 §5.6.1). In a request, they are
    /// refused.
    EmptyElement,
}

impl Repair {
    pub(super) const ALL: [Self; 10] = [
        Self::LengthBesideCoding,
        Self::RepeatedLength,
        Self::BareLineFeed,
        Self::SpaceInChunkSize,
        Self::WrongLengthBesideCoding,
        Self::IdentityCoding,
        Self::CodingInOldVersion,
        Self::RepeatedChunked,
        Self::SpaceBeforeColon,
        Self::EmptyElement,
    ];

    /// What was wrong, and what went on.
    pub(crate) fn reported(self) -> &'static str {
        match self {
            Self::LengthBesideCoding => {
                "the head has Content-Length beside Transfer-Encoding, which takes precedence; the length did not go on"
            }
            Self::RepeatedLength => "the head has the same Content-Length several times; it went on once",
            Self::BareLineFeed => "a line of the head ends with LF alone; it went on with CR LF",
            Self::SpaceInChunkSize => "the size of a chunk has white space around it; it went on without",
            Self::WrongLengthBesideCoding => {
                "the head has a Content-Length that is invalid, or several that differ, beside Transfer-Encoding, which \
                 takes precedence; the length did not go on"
            }
            Self::IdentityCoding => {
                "the head has Transfer-Encoding: identity, which is no coding; it did not go on, and the length counts"
            }
            Self::RepeatedChunked => "the head has Transfer-Encoding: chunked several times; it went on once",
            Self::SpaceBeforeColon => {
                "a header of the head has white space between its name and the colon; it went on without"
            }
            Self::EmptyElement => {
                "the head has empty elements in Content-Length or Transfer-Encoding; it went on without them"
            }
            Self::CodingInOldVersion => {
                "the head has Transfer-Encoding, which HTTP/1.0 does not have; the body went on without it, and the \
                 connection was closed behind it"
            }
        }
    }

    pub(super) fn bit(self) -> u16 {
        1 << self as u8
    }
}

/// Why nothing on a connection can be trusted any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum FramingFault {
    /// `Content-Length` and `Transfer-Encoding`.
    Both = 1,
    /// A `Content-Length` that is invalid, or several that differ.
    Length,
    /// A `Transfer-Encoding` that does not end with its only `chunked`.
    Coding,
    /// `Transfer-Encoding` in HTTP/1.0.
    OldCoding,
    /// An invalid chunk.
    Chunk,
}

impl FramingFault {
    pub(super) const ALL: [Self; 5] = [Self::Both, Self::Length, Self::Coding, Self::OldCoding, Self::Chunk];

    /// The reason for a refusal.
    pub(super) fn reported(self) -> &'static str {
        match self {
            Self::Both => "the request has both Content-Length and Transfer-Encoding",
            Self::Length => "the request has an invalid Content-Length, or several that differ",
            Self::Coding => "the request has a Transfer-Encoding that does not end with its only chunked",
            Self::OldCoding => "the request has a Transfer-Encoding, which HTTP/1.0 does not have",
            Self::Chunk => "the request has an invalid chunk",
        }
    }
}
