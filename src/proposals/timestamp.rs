//! Timestamps in the proposals: "ISO 8601", which implementations interpret in many ways.

use super::{Findings, Rule};
use jiff::Timestamp;
use jiff::civil;
use serde_json::Value;

/// How a text can be read as a timestamp.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// An instant: date, time and zone (RFC 3339).
    Instant(Timestamp),
    /// A date or a time that does not identify an instant; the phrase gives the reason.
    Loose(&'static str),
    /// Not a timestamp.
    Unreadable,
}

/// Reads a timestamp.
pub(crate) fn read(text: &str) -> Reading {
    if let Ok(instant) = text.parse() {
        return Reading::Instant(instant);
    }
    if text.len() <= "2026-01-01".len() && text.parse::<civil::Date>().is_ok() {
        return Reading::Loose("a date without a time");
    }
    if text.parse::<civil::DateTime>().is_ok() {
        return Reading::Loose("no time zone");
    }
    if text.len() >= 10 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return Reading::Loose("a number since the epoch");
    }
    Reading::Unreadable
}

/// Checks a member that must be a timestamp. Values that are not strings are left to the schema.
pub(crate) fn check(value: &Value, loose: &'static Rule, unreadable: &'static Rule, seq: u64, findings: &mut Findings) {
    let Some(text) = value.as_str() else { return };
    let reading = read(text);
    findings.check(unreadable, seq, reading != Reading::Unreadable, || format!("{:?}", super::clip(text, 60)));
    match reading {
        Reading::Loose(why) => findings.note(loose, seq, format!("{text:?}: {why}")),
        _ => findings.hold(loose),
    }
}

/// The instant of a complete timestamp.
pub(crate) fn instant(text: &str) -> Option<Timestamp> {
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_dates_and_nonsense_are_reported_apart() {
        for text in ["2026-01-23T10:30:00Z", "2026-01-23T10:30:00.123+02:00", "2026-01-23 10:30:00-05:00"] {
            assert!(matches!(read(text), Reading::Instant(_)), "{text}");
        }
        assert_eq!(read("2026-01-23T10:30:00"), Reading::Loose("no time zone"));
        assert_eq!(read("2026-01-23"), Reading::Loose("a date without a time"));
        assert_eq!(read("1795292489554"), Reading::Loose("a number since the epoch"));
        for text in ["yesterday", "", "2026-13-01T00:00:00Z"] {
            assert_eq!(read(text), Reading::Unreadable, "{text}");
        }
    }
}
