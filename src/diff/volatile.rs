//! What every run of a conversation chooses anew: times, UUIDs, the ids of things that the protocol makes up.

use crate::protocol::MethodSpec;

/// Members in which the protocol or a proposal keeps an id that one side makes up. Only outside of a tool's own data.
const MADE_UP: &[&str] = &[
    "taskId",
    "eventId",
    "inferenceId",
    "elicitationId",
    "subscriptionId",
    "conversationId",
    "messageId",
    "threadId",
    "nextCursor",
    "cursor",
    "checkpoint",
];

/// Members that hold a time, whatever stands before or after.
const TIMES: &[&str] =
    &["time", "timestamp", "ts", "date", "datetime", "created", "updated", "modified", "expires", "iat", "exp", "nbf"];

/// How such members end.
const TIME_ENDINGS: &[&str] = &["At", "_at", "Time", "_time", "Timestamp", "_timestamp", "_ts", "Date", "_date"];

/// Whether the member `name` holds an id that is made up for each run.
pub(super) fn is_made_up(name: &str) -> bool {
    MADE_UP.contains(&name)
}

/// Whether a call's subject tells nothing across runs.
pub(super) fn is_subject_volatile(spec: &MethodSpec, subject: &str) -> bool {
    spec.about.last().is_some_and(|name| is_made_up(name)) || is_uuid(subject)
}

/// Whether the text is a UUID with its hyphens, with or without `urn:uuid:`.
pub(super) fn is_uuid(text: &str) -> bool {
    let text = text.strip_prefix("urn:uuid:").unwrap_or(text);
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// The first UUID in a text, with what stands before and after it.
pub(super) fn split_at_uuid(text: &str) -> Option<(&str, &str, &str)> {
    const FIRST_HYPHEN: usize = 8;
    const LENGTH: usize = 36;
    memchr::memchr_iter(b'-', text.as_bytes()).find_map(|hyphen| {
        let start = hyphen.checked_sub(FIRST_HYPHEN)?;
        let id = text.get(start..start + LENGTH).filter(|id| is_uuid(id))?;
        Some((&text[..start], id, &text[start + LENGTH..]))
    })
}

/// Whether the text is a date and a time as in RFC 3339. A date alone is none: `2025-06-18` is a protocol version.
pub(super) fn is_timestamp(text: &str) -> bool {
    let bytes = text.as_bytes();
    let Some((head, rest)) = bytes.split_at_checked(19) else { return false };
    let shaped = head.iter().enumerate().all(|(at, byte)| match at {
        4 | 7 => *byte == b'-',
        10 => matches!(byte, b'T' | b't' | b' '),
        13 | 16 => *byte == b':',
        _ => byte.is_ascii_digit(),
    });
    let zone = match rest.strip_prefix(b".") {
        Some(fraction) => {
            let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if digits == 0 {
                return false;
            }
            &fraction[digits..]
        }
        None => rest,
    };
    shaped && is_zone(zone)
}

fn is_zone(text: &[u8]) -> bool {
    match text {
        [b'Z' | b'z'] => true,
        [b'+' | b'-', hours @ .., b':', a, b] => hours.len() == 2 && hours.iter().chain([a, b]).all(u8::is_ascii_digit),
        _ => false,
    }
}

/// Whether the member `name` says that it holds a time.
pub(super) fn names_a_time(name: &str) -> bool {
    let stem = ["Ms", "_ms", "Seconds", "_seconds", "Ns", "_ns"].iter().find_map(|unit| name.strip_suffix(unit));
    let stem = stem.unwrap_or(name);
    TIMES.iter().any(|time| stem.eq_ignore_ascii_case(time)) || TIME_ENDINGS.iter().any(|end| stem.ends_with(end))
}

/// The unit of an epoch time between 2001 and 2128, by its number of whole digits: seconds 10, milliseconds 13,
/// microseconds 16, nanoseconds 19. Anything else is a plain number: `"time": 250` is a duration.
pub(super) fn epoch_digits(number: &str) -> Option<u8> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit());
    let plausible = digits && matches!(whole.as_bytes().first(), Some(b'1'..=b'4'));
    match whole.len() {
        length @ (10 | 13 | 16 | 19) if plausible => u8::try_from(length).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_ids_are_reported_by_their_shape() {
        assert!(is_timestamp("2025-06-18T10:00:00Z") && is_timestamp("2025-06-18T10:00:00.123456+02:00"));
        for other in ["2025-06-18", "2025-06-18T10:00:00", "2025-06-18T10:00:00.Z", "2025-06-18T10:00:00+2:00", ""] {
            assert!(!is_timestamp(other), "{other}");
        }
        assert!(is_uuid("123e4567-e89b-12d3-a456-426614174000"));
        assert!(!is_uuid("123e4567-e89b-12d3-a456-42661417400g") && !is_uuid("abc"));
        let (before, id, after) =
            split_at_uuid("event-x 123e4567-e89b-12d3-a456-426614174000 went").expect("there is one");
        assert_eq!((before, id.len(), after), ("event-x ", 36, " went"));
        assert!(split_at_uuid("no-such-thing é-").is_none());
        assert!(names_a_time("createdAt") && names_a_time("timestamp") && names_a_time("timestampMs"));
        assert!(!names_a_time("timeout") && !names_a_time("format") && !names_a_time("items"));
        assert_eq!(epoch_digits("1718700000"), Some(10));
        assert_eq!(epoch_digits("1718700000.25"), Some(10));
        assert_eq!(epoch_digits("1718700000000"), Some(13));
        assert_eq!(epoch_digits("250"), None);
        assert_eq!(epoch_digits("9718700000"), None);
    }
}
