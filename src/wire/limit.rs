//! The longest message that is accepted, as a value with a unit.

use super::units::parse_size;
use std::fmt;
use std::str::FromStr;

/// The longest message that is taken from a peer: 64 MiB where the user does not say otherwise. A longer one ends its
/// connection, or fails its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageLimit(usize);

impl Default for MessageLimit {
    fn default() -> Self {
        Self(64 << 20)
    }
}

impl MessageLimit {
    /// A limit of so many bytes.
    pub const fn of_bytes(bytes: usize) -> Self {
        Self(bytes)
    }

    /// The limit in bytes.
    pub fn bytes(self) -> usize {
        self.0
    }

    /// Why a message of `peer` is not taken, and what to do about it.
    pub fn exceeded_by(self, peer: &str) -> String {
        format!("{peer} sent a message of more than {self}, the limit; --max-message SIZE sets another")
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

    /// A number of bytes, or of units of 1024 bytes and its powers: `65536`, `512K`, `64M`, `1G`.
    fn from_str(text: &str) -> Result<Self, String> {
        match parse_size(text)?.try_into() {
            Ok(bytes @ 1..=LARGEST_LIMIT) => Ok(Self(bytes)),
            _ => Err("the limit must be from 1 byte to 1G, which is the longest event of a reel".to_owned()),
        }
    }
}

/// The largest limit: no event of a reel holds more (1 GiB).
const LARGEST_LIMIT: usize = 1 << 30;

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
