//! W3C Trace Context in messages.

use crate::wire::json;
use std::borrow::Cow;

/// The caller's span, from `traceparent` in `_meta` (W3C Trace Context, SEP-414).
pub(super) struct TraceParent {
    /// The trace, 16 bytes.
    pub trace: Vec<u8>,
    /// The span, 8 bytes.
    pub span: Vec<u8>,
    /// Its flags.
    pub flags: u32,
    /// `tracestate`, a text of any length.
    pub state: String,
}

impl TraceParent {
    /// Reads it from the text of `_meta`; `None` if it has none that is valid.
    pub(super) fn of(meta: &[u8]) -> Option<Self> {
        let text = json::str_member(meta, "traceparent")?;
        let mut parts = text.split('-');
        let (version, trace, span, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let (version, flags) = (hex(version, 1)?, hex(flags, 1)?);
        let (trace, span) = (hex(trace, 16)?, hex(span, 8)?);
        let is_valid = version[0] != 0xff && (version[0] != 0 || parts.next().is_none());
        let is_known = is_valid && trace.iter().any(|byte| *byte != 0) && span.iter().any(|byte| *byte != 0);
        let state = json::str_member(meta, "tracestate").map(Cow::into_owned).unwrap_or_default();
        is_known.then(|| Self { trace, span, flags: flags[0].into(), state })
    }
}

/// Reads lower-case hexadecimal digits of this many bytes.
fn hex(text: &str, bytes: usize) -> Option<Vec<u8>> {
    let is_hex = text.len() == 2 * bytes && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let byte = |at: usize| u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok();
    is_hex.then(|| (0..bytes).map(byte).collect()).flatten()
}
