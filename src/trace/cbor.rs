//! CBOR (RFC 8949): writes items that are too frequent to be described to a serializer first, and reads what describes an
//! event, which in a stranger's reel may be anything.

use serde::de::DeserializeOwned;
use serde_json::Value;

/// The maximum number of items in a description. Those that mcpreel writes have at most a few hundred, for the headers of a
/// request; in memory, an item takes a hundred bytes.
const MAX_ITEMS: usize = 1 << 18;

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

/// Reads what describes an event, as JSON; `None` as for [`description_as`].
pub(crate) fn description(payload: &[u8]) -> Option<Value> {
    description_as(payload)
}

/// Reads what describes an event. `None` if it is no CBOR of this form, or has too many items to be held in memory.
pub(crate) fn description_as<T: DeserializeOwned>(payload: &[u8]) -> Option<T> {
    if payload.len() > MAX_ITEMS && items(payload).take(MAX_ITEMS + 1).count() > MAX_ITEMS {
        return None;
    }
    ciborium::from_reader(payload).ok()
}

/// The major types of the items, without what is behind the first one that is cut off.
fn items(mut rest: &[u8]) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let (head, after) = rest.split_first()?;
        let width = match head & 0x1f {
            info @ 24..=27 => 1 << (info - 24),
            _ => 0,
        };
        let (argument, after) = after.split_at_checked(width)?;
        let argument = match width {
            0 => u64::from(head & 0x1f),
            _ => argument.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte)),
        };
        let major = head >> 5;
        let has_text = matches!(major, major::BYTES | major::TEXT) && head & 0x1f != 31;
        let len = if has_text { usize::try_from(argument).unwrap_or(usize::MAX) } else { 0 };
        rest = after.get(len..).unwrap_or_default();
        Some(major)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn written(value: &Value) -> Vec<u8> {
        let mut out = Vec::new();
        ciborium::into_writer(value, &mut out).expect("written");
        out
    }

    #[test]
    fn a_description_of_too_many_items_is_not_read() {
        let zeros = |count: usize| written(&vec![json!(0); count].into());
        assert_eq!(description(&zeros(1 << 17)).and_then(|all| all.as_array().map(Vec::len)), Some(1 << 17));
        assert_eq!(description(&zeros(1 << 19)), None);
        // Also if its length is not given.
        let open = [&[0x9f][..], &[0x80; 1 << 19], &[0xff]].concat();
        assert_eq!(description(&open), None);
        let long = json!({"block": "x".repeat(1 << 20)});
        assert_eq!(description(&written(&long)), Some(long), "a long text is one item");
        assert_eq!((description(b""), description(&[0xa1])), (None, None));
    }

    #[test]
    fn items_are_counted_as_they_stand() {
        let value = json!({"a": [1, -300, "text", null, true, 1.5, 5_000_000_000_u64], "b": {}});
        assert_eq!(items(&written(&value)).count(), 1 + 2 + 7 + 2);
        for cut in 0..written(&value).len() {
            assert!(items(&written(&value)[..cut]).count() <= 12, "{cut}");
        }
        assert_eq!(items(&[0x7b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0]).count(), 1);
    }
}
