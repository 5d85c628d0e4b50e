//! Writes items of CBOR (RFC 8949) that are too frequent to be described to a serializer first.

/// The major types.
pub(crate) mod major {
    pub(crate) const POSITIVE: u8 = 0;
    pub(crate) const NEGATIVE: u8 = 1;
    pub(crate) const BYTES: u8 = 2;
    pub(crate) const TEXT: u8 = 3;
    pub(crate) const ARRAY: u8 = 4;
    pub(crate) const MAP: u8 = 5;
    pub(crate) const TAG: u8 = 6;
    pub(crate) const OTHER: u8 = 7;
}

/// Appends the major type and the argument of an item in its shortest form (RFC 8949, section 3).
#[inline]
pub(crate) fn push_head(out: &mut Vec<u8>, major: u8, argument: u64) {
    let (info, width) = match argument {
        0..24 => (argument as u8, 0),
        24..=0xff => (24, 1),
        0x100..=0xffff => (25, 2),
        0x1_0000..=0xffff_ffff => (26, 4),
        _ => (27, 8),
    };
    out.push(major << 5 | info);
    out.extend_from_slice(&argument.to_be_bytes()[8 - width..]);
}

/// Appends a text.
pub(crate) fn push_text(out: &mut Vec<u8>, text: &str) {
    push_head(out, major::TEXT, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}
