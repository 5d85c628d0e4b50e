//! What the names of members and words say about their values.

use super::Kind;
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
const TIMES: &[&str] = &[
    "time",
    "timestamp",
    "ts",
    "date",
    "datetime",
    "now",
    "created",
    "updated",
    "modified",
    "accessed",
    "expires",
    "mtime",
    "atime",
    "ctime",
    "birthtime",
    "iat",
    "exp",
    "nbf",
];

/// Suffixes of such members.
const TIME_ENDINGS: &[&str] =
    &["At", "_at", "Time", "_time", "Timestamp", "_timestamp", "_ts", "Date", "_date", "Modified", "_modified"];

/// Members that contain how long something took.
const DURATIONS: &[&str] = &["duration", "elapsed", "took", "latency", "uptime", "runtime"];

/// Suffixes of such members.
const DURATION_ENDINGS: &[&str] = &["Duration", "_duration", "Elapsed", "_elapsed", "Latency", "_latency"];

/// Suffixes that name the unit of a time or duration.
const UNITS: &[&str] = &["Ms", "_ms", "Millis", "_millis", "Seconds", "_seconds", "_s", "Secs", "_secs", "Ns", "_ns"];

/// Words before a duration that is a setting.
const SETTINGS: &[&str] = &[
    "timeout", "ttl", "interval", "limit", "deadline", "every", "max", "maximum", "min", "minimum", "within", "delay",
];

/// Members with schemas and other configuration.
const CONFIGURATION: &[&str] = &[
    "inputSchema",
    "outputSchema",
    "requestedSchema",
    "capabilities",
    "serverInfo",
    "clientInfo",
    "protocolVersion",
    "instructions",
];

/// Methods whose results are configuration.
const CONFIGURING: &[&str] =
    &["initialize", "server/discover", "tools/list", "prompts/list", "resources/templates/list"];

/// Returns whether the member `name` contains an id that is generated in each run.
pub(crate) fn is_made_up(name: &str) -> bool {
    MADE_UP.contains(&name)
}

/// Returns whether a call's subject has no meaning in other runs.
pub(crate) fn is_subject_volatile(spec: &MethodSpec, subject: &str) -> bool {
    let is_name = matches!(spec.about.last(), Some(&"name"));
    spec.about.last().is_some_and(|name| is_made_up(name)) || !is_name && !super::find(subject).is_empty()
}

/// Returns whether the member `name` is configuration.
pub(crate) fn is_configuration(name: &str) -> bool {
    CONFIGURATION.contains(&name)
}

/// Returns whether the results of a method are configuration.
pub(crate) fn is_configuring(method: &str) -> bool {
    CONFIGURING.contains(&method)
}

/// Returns whether a word says that the duration after it is a setting, or a member's name that its value is one.
pub(crate) fn names_a_setting(name: &str) -> bool {
    let stem = UNITS.iter().find_map(|unit| name.strip_suffix(unit)).unwrap_or(name).to_ascii_lowercase();
    SETTINGS.iter().any(|setting| stem == *setting || setting.len() > 3 && stem.ends_with(setting))
}

/// Returns what the number (or the number in a string) in the member `name` is, and its notation.
pub(crate) fn number_in(name: &str, number: &str) -> Option<(Kind, u8)> {
    let stem = UNITS.iter().find_map(|unit| name.strip_suffix(unit)).unwrap_or(name);
    let is = |names: &[&str], endings: &[&str]| {
        names.iter().any(|known| stem.eq_ignore_ascii_case(known)) || endings.iter().any(|end| stem.ends_with(end))
    };
    if is(TIMES, TIME_ENDINGS)
        && let Some(digits) = epoch_digits(number)
    {
        return Some((Kind::Epoch, digits));
    }
    let small = name.to_ascii_lowercase();
    if is(DURATIONS, DURATION_ENDINGS) {
        Some((Kind::Duration, 1))
    } else if matches!(small.as_str(), "pid" | "ppid" | "processid" | "process_id") {
        Some((Kind::Process, 0))
    } else if small.ends_with("port") && number.parse().is_ok_and(is_chosen_port) {
        Some((Kind::Port, 0))
    } else {
        None
    }
}

/// Returns whether the member `name` says something of a day, and its value follows from the time: its weekday, or
/// whether summer time applies.
pub(crate) fn follows_from_time(name: &str) -> bool {
    matches!(name, "day_of_week" | "dayOfWeek" | "weekday" | "is_dst" | "isDst")
}

/// Returns whether the operating system may have chosen a port: Linux begins at 32768.
pub(super) fn is_chosen_port(port: u32) -> bool {
    (32_768..65_536).contains(&port)
}

/// Returns the number of whole digits of an epoch time between 2001 and 2128, which shows its unit: seconds 10,
/// milliseconds 13, microseconds 16, nanoseconds 19. Any other number is not a time: `"time": 250` is a duration.
pub(crate) fn epoch_digits(number: &str) -> Option<u8> {
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
    fn names_say_what_a_number_is() {
        assert_eq!(number_in("createdAt", "1718700000"), Some((Kind::Epoch, 10)));
        assert_eq!(number_in("timestampMs", "1718700000000"), Some((Kind::Epoch, 13)));
        assert_eq!(number_in("time", "250"), None);
        assert_eq!(number_in("count", "1718700000"), None);
        assert_eq!(number_in("duration_ms", "12.5"), Some((Kind::Duration, 1)));
        assert_eq!(number_in("pid", "17"), Some((Kind::Process, 0)));
        assert_eq!(number_in("port", "8080"), None);
        assert_eq!(number_in("serverPort", "40001"), Some((Kind::Port, 0)));
        assert_eq!(number_in("timeout", "1718700000"), None);
        assert_eq!(epoch_digits("9718700000"), None);
    }

    #[test]
    fn settings_are_told_from_measurements() {
        assert!(names_a_setting("timeout") && names_a_setting("TTL") && names_a_setting("connectTimeoutMs"));
        assert!(!names_a_setting("took") && !names_a_setting("after") && !names_a_setting(""));
    }
}
