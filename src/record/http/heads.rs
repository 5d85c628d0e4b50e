//! Heads as the reel has them, with secrets redacted. Nearly every header repeats one of an earlier request, so what is
//! recorded of it is remembered.

use crate::redact;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use serde::{Serialize, Serializer};
use std::collections::HashMap;
use std::sync::Arc;

/// The maximum number of header names to remember.
const MAX_NAMES: usize = 64;
/// The maximum number of values to remember for each name, such as those of different sessions.
const MAX_VALUES: usize = 16;
/// The maximum length of a value to remember, in bytes.
const MAX_VALUE_BYTES: usize = 512;

/// A head as recorded in the reel. Serialized directly because every exchange has two.
#[derive(Serialize)]
pub(super) struct Head<'a> {
    pub what: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    pub headers: Vec<(&'a str, RecordedValue)>,
}

/// What is recorded of a header's value.
#[derive(Clone)]
pub(super) struct RecordedValue(Arc<str>);

impl Serialize for RecordedValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// What is recorded of the headers seen so far.
#[derive(Default)]
pub(super) struct RecordedHeaders(HashMap<HeaderName, Vec<(HeaderValue, RecordedValue)>, foldhash::fast::RandomState>);

impl RecordedHeaders {
    /// The headers of a head as pairs of name and value, with secrets redacted.
    pub(super) fn of<'a>(&mut self, headers: &'a HeaderMap) -> Vec<(&'a str, RecordedValue)> {
        headers.iter().map(|(name, value)| (name.as_str(), self.value(name, value))).collect()
    }

    fn value(&mut self, name: &HeaderName, value: &HeaderValue) -> RecordedValue {
        let known = self.0.get(name).and_then(|values| values.iter().find(|(known, _)| known == value));
        if let Some((_, recorded)) = known {
            return recorded.clone();
        }
        let text = String::from_utf8_lossy(value.as_bytes());
        let recorded = RecordedValue(redact::redact_header(name.as_str(), &text).into());
        if value.len() <= MAX_VALUE_BYTES && (self.0.len() < MAX_NAMES || self.0.contains_key(name)) {
            let values = self.0.entry(name.clone()).or_default();
            if values.len() == MAX_VALUES {
                values.remove(0);
            }
            values.push((value.clone(), recorded.clone()));
        }
        recorded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(headers: &mut RecordedHeaders, name: &'static str, value: &str) -> String {
        let value = HeaderValue::from_str(value).expect("a value");
        let map: HeaderMap = [(HeaderName::from_static(name), value)].into_iter().collect();
        headers.of(&map)[0].1.0.to_string()
    }

    #[test]
    fn a_header_is_recorded_alike_whether_it_is_remembered_or_not() {
        let mut headers = RecordedHeaders::default();
        for _ in 0..2 {
            assert_eq!(recorded(&mut headers, "authorization", "Bearer abcdef"), "Bearer [redacted]");
            assert_eq!(recorded(&mut headers, "x-other", "Bearer abcdef"), "Bearer [redacted]");
            assert_eq!(recorded(&mut headers, "accept", "text/plain"), "text/plain");
            assert_eq!(recorded(&mut headers, "accept", "text/html"), "text/html");
        }
        assert_eq!(headers.0.len(), 3);
    }

    #[test]
    fn only_so_many_headers_are_remembered() {
        let mut headers = RecordedHeaders::default();
        for number in 0..3 * MAX_VALUES {
            assert_eq!(recorded(&mut headers, "content-length", &number.to_string()), number.to_string());
        }
        let long = "x".repeat(MAX_VALUE_BYTES + 1);
        assert_eq!(recorded(&mut headers, "accept", &long), long);
        assert_eq!(headers.0.len(), 1);
        assert_eq!(headers.0[&HeaderName::from_static("content-length")].len(), MAX_VALUES);
        for number in 0..3 * MAX_NAMES {
            let name = HeaderName::try_from(format!("x-{number}")).expect("a name");
            headers.of(&[(name, HeaderValue::from_static("1"))].into_iter().collect());
        }
        assert_eq!(headers.0.len(), MAX_NAMES);
    }
}
