//! Changes the headers of a message that belong to one hop, and those that say where its body ends.

use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};

/// Whether a header belongs to one hop, whether `Connection` names it or not.
fn is_of_one_hop(name: &HeaderName) -> bool {
    matches!(
        name.as_str(),
        "connection"
            | "proxy-authenticate"
            | "proxy-authorization"
            | "te"
            | "trailer"
            | "transfer-encoding"
            | "upgrade"
            | "keep-alive"
            | "proxy-connection"
    )
}

/// Removes headers that belong to one hop (RFC 9110 §7.6.1).
pub(super) fn strip(headers: &mut HeaderMap) {
    // Most heads have none.
    let mut doomed: Vec<HeaderName> = headers.keys().filter(|name| is_of_one_hop(name)).cloned().collect();
    if doomed.contains(&header::CONNECTION) {
        let named = headers.get_all(header::CONNECTION).iter().filter_map(|value| value.to_str().ok());
        doomed.extend(named.flat_map(|value| value.split(',')).filter_map(|name| name.trim().parse().ok()));
    }
    for name in doomed {
        headers.remove(name);
    }
}

/// Leaves the one length that a message has (RFC 9112 §6.3): none if it has a transfer coding, which takes precedence, and
/// one if the same is stated several times.
pub(super) fn mend_length(headers: &mut HeaderMap) {
    if headers.contains_key(header::TRANSFER_ENCODING) {
        headers.remove(header::CONTENT_LENGTH);
        return;
    }
    // The library has refused lengths that differ.
    let stated = headers.get(header::CONTENT_LENGTH).map(|stated| stated.as_bytes());
    let first = stated.and_then(|stated| stated.split(|byte| *byte == b',').next()).map(<[u8]>::trim_ascii);
    if let Some(Ok(length)) = first.map(HeaderValue::from_bytes) {
        headers.insert(header::CONTENT_LENGTH, length);
    }
}

/// The transfer codings of a body. The library undoes `chunked` only, and applies it again; the others stay as they are,
/// so whoever gets the body must learn of them.
pub(super) struct Codings(Vec<HeaderValue>);

impl Codings {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        Self(headers.get_all(header::TRANSFER_ENCODING).iter().cloned().collect())
    }

    /// Puts them into a head whose body has no other framing.
    pub(super) fn put(self, headers: &mut HeaderMap) {
        for coding in self.0 {
            headers.append(header::TRANSFER_ENCODING, coding);
        }
    }

    /// Puts them into a head whose framing is up to the library, if there are any that it does not know.
    pub(super) fn put_unknown(self, headers: &mut HeaderMap) {
        let names: Vec<_> = self.0.iter().flat_map(|value| value.as_bytes().split(|byte| *byte == b',')).collect();
        let is_known = |name: &&[u8]| {
            ["chunked", "identity", ""].iter().any(|known| name.trim_ascii().eq_ignore_ascii_case(known.as_bytes()))
        };
        if names.iter().all(is_known) {
            return;
        }
        let ends_with_chunked = names.last().is_some_and(|name| name.trim_ascii().eq_ignore_ascii_case(b"chunked"));
        self.put(headers);
        // The library would add it to other headers, too.
        if !ends_with_chunked {
            headers.append(header::TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
        }
    }
}
