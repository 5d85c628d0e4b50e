//! Times and sizes: as people write them, and as numbers in JSON without the noise of binary fractions.

use std::time::Duration;

/// Units of time, in seconds.
const TIMES: &[(&str, f64)] = &[
    ("ns", 1e-9),
    ("us", 1e-6),
    ("µs", 1e-6),
    ("ms", 1e-3),
    ("", 1.0),
    ("s", 1.0),
    ("m", 60.0),
    ("min", 60.0),
    ("h", 3600.0),
    ("d", 86400.0),
];

/// Reads a time: a number with `ns`, `us`, `ms`, `s`, `m`, `h` or `d`, as in `500ms` or `1.5m`; a bare number is seconds.
/// This is the only grammar for times in options, filters, scenarios and settings.
///
/// # Errors
/// The text is no such time; the error says what one looks like.
pub(crate) fn parse_time(text: &str) -> Result<Duration, String> {
    let wrong = || format!("invalid time {text:?}: expected a number with a unit, as in 500ms, 2s or 3m");
    let (number, unit) = split(text);
    let factor = TIMES.iter().find(|known| known.0 == unit).ok_or_else(wrong)?.1;
    let seconds = number.parse::<f64>().map_err(|_| wrong())? * factor;
    Duration::try_from_secs_f64(seconds).map_err(|_| wrong())
}

/// Reads a size in bytes: a number, alone or with `K`, `M` or `G` (powers of 1024), as in `64K`, `64KB` or `64KiB`. This is
/// the only grammar for sizes in options, filters and settings.
///
/// # Errors
/// The text is no such size; the error says what one looks like.
pub(crate) fn parse_size(text: &str) -> Result<u64, String> {
    let wrong = || format!("invalid size {text:?}: expected a number of bytes, or one with K, M or G, as in 64M");
    let (number, unit) = split(text);
    let shift = match unit.to_ascii_uppercase().as_str() {
        "" | "B" => 0,
        "K" | "KB" | "KIB" => 10,
        "M" | "MB" | "MIB" => 20,
        "G" | "GB" | "GIB" => 30,
        _ => return Err(wrong()),
    };
    let bytes = number.parse::<f64>().map_err(|_| wrong())? * (1u64 << shift) as f64;
    if bytes < 2f64.powi(63) { Ok(bytes.round() as u64) } else { Err(wrong()) }
}

/// A number and its unit.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|found: char| !found.is_ascii_digit() && found != '.').unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}

/// Returns whole microseconds, or `u64::MAX` if there are more.
pub(crate) fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// Returns milliseconds with three decimals.
pub(crate) fn millis(time: Duration) -> f64 {
    micros(time) as f64 / 1e3
}

/// Converts nanoseconds to milliseconds with three decimals. The value may be negative if a clock was set back.
pub(crate) fn millis_of(nanoseconds: i64) -> f64 {
    (nanoseconds / 1000) as f64 / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units_and_bare_numbers_are_seconds() {
        for (text, nanoseconds) in [
            ("500ms", Some(500_000_000)),
            ("2", Some(2_000_000_000)),
            ("1.5m", Some(90_000_000_000)),
            ("1 h", Some(3_600_000_000_000)),
            ("1d", Some(86_400_000_000_000)),
            ("3us", Some(3_000)),
            ("10ns", Some(10)),
            ("0", Some(0)),
            ("", None),
            ("ms", None),
            ("-1s", None),
            ("1.2.3s", None),
            ("5x", None),
            ("99999999999999999999d", None),
        ] {
            assert_eq!(parse_time(text).ok().map(|time| time.as_nanos()), nanoseconds, "{text}");
        }
        assert!(parse_time("soon").expect_err("no time").contains("as in 500ms"));
    }

    #[test]
    fn sizes_are_in_powers_of_1024() {
        for (text, bytes) in [
            ("0", Some(0)),
            ("65536", Some(1 << 16)),
            ("10k", Some(10_240)),
            ("10KB", Some(10_240)),
            ("1.5KiB", Some(1536)),
            ("64M", Some(64 << 20)),
            ("1g", Some(1 << 30)),
            ("", None),
            ("M", None),
            ("64X", None),
            ("-1", None),
            ("99999999999999999999G", None),
        ] {
            assert_eq!(parse_size(text).ok(), bytes, "{text}");
        }
    }

    #[test]
    fn three_decimals_and_no_noise() {
        let time = Duration::from_nanos(1_300_004_999);
        assert_eq!((micros(time), millis(time).to_string().as_str()), (1_300_004, "1300.004"));
        assert_eq!((millis_of(-1_234_567), micros(Duration::MAX)), (-1.234, u64::MAX));
    }
}
