//! The maximum length of accepted messages, as a value with a unit.

use super::units::parse_size;
use std::fmt;
use std::str::FromStr;

/// The maximum length of a message from a peer, by default 64 MiB. A longer message ends its connection, or fails its
/// request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageLimit(usize);

impl Default for MessageLimit {
    fn default() -> Self {
        Self(64 << 20)
    }
}

impl MessageLimit {
    /// Creates a limit in bytes.
    pub const fn of_bytes(bytes: usize) -> Self {
        Self(bytes)
    }

    /// Returns the limit in bytes.
    pub fn bytes(self) -> usize {
        self.0
    }

    /// Says that `peer` exceeded the limit, and what to do about it.
    pub fn exceeded_by(self, peer: &str) -> String {
        format!("{peer} sent a message of more than {self}; set a higher limit with --max-message SIZE")
    }
}

impl fmt::Display for MessageLimit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            bytes if bytes % (1 << 20) == 0 => write!(out, "{} MiB", bytes >> 20),
            bytes if bytes % (1 << 10) == 0 => write!(out, "{} KiB", bytes >> 10),
            bytes => write!(out, "{bytes} bytes"),
        }
    }
}

impl FromStr for MessageLimit {
    type Err = String;

    /// Parses a number of bytes, or of units of powers of 1024 bytes: `65536`, `512K`, `64M`, `1G`.
    fn from_str(text: &str) -> Result<Self, String> {
        match parse_size(text)?.try_into() {
            Ok(bytes @ 1..=MAX_LIMIT_BYTES) => Ok(Self(bytes)),
            _ => Err("the limit must be between 1 byte and 1G, the maximum length of an event in a reel".to_owned()),
        }
    }
}

/// The largest possible limit, in bytes (1 GiB): the maximum length of an event in a reel.
const MAX_LIMIT_BYTES: usize = 1 << 30;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_a_number_with_a_unit() {
        let bytes = |text: &str| text.parse::<MessageLimit>().map(MessageLimit::bytes).ok();
        for (text, wanted) in [
            ("1", Some(1)),
            ("65536", Some(1 << 16)),
            ("512K", Some(1 << 19)),
            ("64MiB", Some(64 << 20)),
            ("1g", Some(1 << 30)),
            ("2G", None),
            ("0", None),
            ("", None),
            ("M", None),
            ("64X", None),
            ("99999999999999999999G", None),
        ] {
            assert_eq!(bytes(text), wanted, "{text}");
        }
        assert_eq!(MessageLimit::default().to_string(), "64 MiB");
        assert_eq!(
            ["4K", "1000"].map(|text| text.parse::<MessageLimit>().expect("a size").to_string()),
            ["4 KiB", "1000 bytes"]
        );
    }
}
