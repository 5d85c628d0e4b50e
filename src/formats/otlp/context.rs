//! Places in traces: W3C Trace Context, as `traceparent` and `tracestate` carry it.

use super::attributes::cut;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::trace::v1::span::Link;
use ring::digest::{SHA256, digest};

/// The flag that says that the next one is known.
const HAS_IS_REMOTE: u32 = 0x100;
/// The flag of a place in another process.
const IS_REMOTE: u32 = 0x200;
/// The W3C flag of a span that is exported.
pub(super) const SAMPLED: u32 = 1;

/// A span's place in its trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::formats) struct Place {
    pub trace: Vec<u8>,
    pub span: Vec<u8>,
    /// The W3C flags, and whether the span is in another process.
    pub flags: u32,
    pub state: String,
}

impl Place {
    /// A span of this recording.
    pub(super) fn here(trace: Vec<u8>, span: Vec<u8>) -> Self {
        Self { trace, span, flags: SAMPLED | HAS_IS_REMOTE, state: String::new() }
    }

    /// Reads `traceparent`; `None` if it is not valid.
    pub(in crate::formats) fn read(parent: &str, state: Option<&str>) -> Option<Self> {
        let mut parts = parent.split('-');
        let (version, trace, span, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let (version, flags) = (hex(version, 1)?, hex(flags, 1)?);
        let (trace, span) = (hex(trace, 16)?, hex(span, 8)?);
        let is_valid = version[0] != 0xff && (version[0] != 0 || parts.next().is_none());
        let is_known = is_valid && trace.iter().any(|byte| *byte != 0) && span.iter().any(|byte| *byte != 0);
        let flags = u32::from(flags[0]) | HAS_IS_REMOTE | IS_REMOTE;
        is_known.then(|| Self { trace, span, flags, state: state.map(cut).unwrap_or_default() })
    }

    /// A link to this place.
    pub(super) fn link(&self, attributes: Vec<KeyValue>) -> Link {
        Link {
            trace_id: self.trace.clone(),
            span_id: self.span.clone(),
            trace_state: self.state.clone(),
            attributes,
            flags: self.flags,
            ..Link::default()
        }
    }
}

/// Reads lower-case hexadecimal digits of this many bytes.
fn hex(text: &str, bytes: usize) -> Option<Vec<u8>> {
    let is_hex = text.len() == 2 * bytes && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let byte = |at: usize| u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok();
    is_hex.then(|| (0..bytes).map(byte).collect()).flatten()
}

/// Makes ids of what a recording contains: the same reel always has the same ones.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ids {
    /// The start of the recording, in Unix nanoseconds.
    pub created: i64,
}

impl Ids {
    /// The id of the trace of a stream's own spans.
    pub(super) fn trace(self, stream: u32) -> Vec<u8> {
        self.of(&format!("stream {stream}"), 16)
    }

    /// The id of the span of a message: the time and number of its event, and its number in that event.
    pub(super) fn span(self, time: i64, seq: u64, index: u32) -> Vec<u8> {
        self.of(&format!("event {time} {seq} {index}"), 8)
    }

    /// The id of this recording, as text like a UUID's.
    pub(super) fn instance(self) -> String {
        let hex: String = self.of("instance", 16).iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{}-{}-8{}-8{}-{}", &hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..])
    }

    fn of(self, what: &str, len: usize) -> Vec<u8> {
        digest(&SHA256, format!("mcpreel {} {what}", self.created).as_bytes()).as_ref()[..len].to_vec()
    }
}
