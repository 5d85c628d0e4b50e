//! Timestamps in the proposals: "ISO 8601", which implementations interpret in many ways.

use super::{Findings, Rule};
use jiff::Timestamp;
use jiff::civil::{DateTime, Time};
use jiff::fmt::temporal::Pieces;
use jiff::tz::Offset;
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
    if text.len() >= 10 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return Reading::Loose("a number since the epoch");
    }
    let Ok(pieces) = Pieces::parse(text) else { return Reading::Unreadable };
    match (pieces.time(), pieces.to_numeric_offset()) {
        (Some(_), Some(_)) => instant(text).map_or(Reading::Unreadable, Reading::Instant),
        (Some(_), None) => Reading::Loose("no time zone"),
        (None, _) if text.len() <= "2026-01-01".len() => Reading::Loose("a date without a time"),
        (None, _) => Reading::Unreadable,
    }
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

/// The instant of a complete timestamp (RFC 3339). What lies after the last instant that this program knows, two days
/// before the end of the year 9999, counts as that one: it means "never".
pub(crate) fn instant(text: &str) -> Option<Timestamp> {
    let pieces = Pieces::parse(text).ok()?;
    let (time, offset) = (pieces.time()?, pieces.to_numeric_offset().filter(is_offset)?);
    let end = if pieces.date().year() > 0 { Timestamp::MAX } else { Timestamp::MIN };
    Some(offset.to_timestamp(pieces.date().to_datetime(time)).unwrap_or(end))
}

/// The date and time of a timestamp without an offset.
pub(crate) fn local(text: &str) -> Option<DateTime> {
    let pieces = Pieces::parse(text).ok().filter(|pieces| pieces.offset().is_none())?;
    Some(pieces.date().to_datetime(pieces.time().unwrap_or(Time::midnight())))
}

/// An instant in Unix nanoseconds. From the year 2262 on, there is only the last one.
pub(crate) fn unix_ns(instant: Timestamp) -> i64 {
    let end = if instant > Timestamp::UNIX_EPOCH { i64::MAX } else { i64::MIN };
    i64::try_from(instant.as_nanosecond()).unwrap_or(end)
}

/// Hours from 00 to 23 (RFC 3339 §5.6).
fn is_offset(offset: &Offset) -> bool {
    offset.seconds().unsigned_abs() < 24 * 3600
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
        for text in ["yesterday", "", "2026-13-01T00:00:00Z", "2026-01-01T00:00:00+25:00", "2026-01-01T00:00:00-24:00"]
        {
            assert_eq!(read(text), Reading::Unreadable, "{text}");
        }
    }

    #[test]
    fn instants_have_no_end_and_offsets_do() {
        for text in ["9999-12-31T23:59:59Z", "9999-12-31T23:59:59.999-12:00"] {
            assert_eq!((instant(text), read(text)), (Some(Timestamp::MAX), Reading::Instant(Timestamp::MAX)), "{text}");
        }
        assert_eq!(instant("2026-01-01T00:00:00+23:59"), "2025-12-31T00:01:00Z".parse().ok());
        for text in ["2026-01-01T00:00:00+25:00", "2026-01-01T00:00:00+24:00", "2026-01-01T00:00:00"] {
            assert_eq!(instant(text), None, "{text}");
        }
        assert_eq!(local("2026-01-01T12:00:00"), "2026-01-01T12:00:00".parse().ok());
        assert_eq!((local("2026-01-01T12:00:00Z"), local("2026-01-01T12:00:00+25:00")), (None, None));
        let ns = |text: &str| instant(text).map(unix_ns);
        assert_eq!(ns("2262-04-11T23:47:16.854775807Z"), Some(i64::MAX));
        assert_eq!((ns("3000-01-01T00:00:00Z"), ns("1970-01-01T00:00:01Z")), (Some(i64::MAX), Some(1_000_000_000)));
        assert_eq!(ns("0001-01-01T00:00:00Z"), Some(i64::MIN));
    }
}
