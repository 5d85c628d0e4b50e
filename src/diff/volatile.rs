//! Recognises what differs in every run of a conversation: times, UUIDs, and the ids of things that the protocol
//! creates.

use crate::protocol::MethodSpec;

/// Members in which the protocol or a proposal keeps a generated id. They do not apply to a tool's own data.
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

/// Members that contain a time.
const TIMES: &[&str] =
    &["time", "timestamp", "ts", "date", "datetime", "created", "updated", "modified", "expires", "iat", "exp", "nbf"];

/// Suffixes of such members.
const TIME_ENDINGS: &[&str] = &["At", "_at", "Time", "_time", "Timestamp", "_timestamp", "_ts", "Date", "_date"];

/// Returns whether the member `name` contains an id that is generated in each run.
pub(super) fn is_made_up(name: &str) -> bool {
    MADE_UP.contains(&name)
}

/// Returns whether a call's subject has no meaning in other runs.
pub(super) fn is_subject_volatile(spec: &MethodSpec, subject: &str) -> bool {
    spec.about.last().is_some_and(|name| is_made_up(name)) || is_uuid(subject)
}

/// Returns whether the text is a UUID with its hyphens, with or without `urn:uuid:`.
pub(super) fn is_uuid(text: &str) -> bool {
    let text = text.strip_prefix("urn:uuid:").unwrap_or(text);
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// Finds the first UUID in a text. Returns the text before it, the UUID, and the text after it.
pub(super) fn split_at_uuid(text: &str) -> Option<(&str, &str, &str)> {
    const FIRST_HYPHEN: usize = 8;
    const LENGTH: usize = 36;
    memchr::memchr_iter(b'-', text.as_bytes()).find_map(|hyphen| {
        let start = hyphen.checked_sub(FIRST_HYPHEN)?;
        let id = text.get(start..start + LENGTH).filter(|id| is_uuid(id))?;
        Some((&text[..start], id, &text[start + LENGTH..]))
    })
}

/// Returns whether the text is a date with a time as in RFC 3339. A date alone is not: `2025-06-18` is a protocol
/// version.
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

/// Returns whether the member `name` contains a time, according to its name.
pub(super) fn names_a_time(name: &str) -> bool {
    let stem = ["Ms", "_ms", "Seconds", "_seconds", "Ns", "_ns"].iter().find_map(|unit| name.strip_suffix(unit));
    let stem = stem.unwrap_or(name);
    TIMES.iter().any(|time| stem.eq_ignore_ascii_case(time)) || TIME_ENDINGS.iter().any(|end| stem.ends_with(end))
}

/// Returns the number of whole digits of an epoch time between 2001 and 2128, which shows its unit: seconds 10,
/// milliseconds 13, microseconds 16, nanoseconds 19. Any other number is not a time: `"time": 250` is a duration.
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
