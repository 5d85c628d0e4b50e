//! Durations as numbers in JSON, without the noise of binary fractions.

use std::time::Duration;

/// Returns whole microseconds, or `u64::MAX` if there are more.
pub fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// Returns milliseconds with three decimals.
pub fn millis(time: Duration) -> f64 {
    micros(time) as f64 / 1e3
}

/// Converts nanoseconds to milliseconds with three decimals. The value may be negative if a clock was set back.
pub fn millis_of(nanoseconds: i64) -> f64 {
    (nanoseconds / 1000) as f64 / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_decimals_and_no_noise() {
        let time = Duration::from_nanos(1_300_004_999);
        assert_eq!((micros(time), millis(time).to_string().as_str()), (1_300_004, "1300.004"));
        assert_eq!((millis_of(-1_234_567), micros(Duration::MAX)), (-1.234, u64::MAX));
    }
}
