//! A recording's identity: the same whenever and wherever the recording is exported, and different for all others.

use crate::formats::messages::Message;
use crate::trace::FileHeader;
use ring::digest::{Context, SHA256};
use std::fmt::Write as _;

/// The messages that tell imported recordings apart: their times may be coarse or missing.
const IMPORTED_MESSAGES: u32 = 16;

/// What is known of a recording's identity.
pub(super) struct Identity {
    digest: Context,
    /// How many messages are still to be taken.
    missing: u32,
    is_imported: bool,
}

impl Identity {
    /// Begins with the header: when the recording began, and whether it is a part of others. A recorder's clock counts
    /// nanoseconds, so with the time of the first message that tells recordings apart.
    pub(super) fn of(header: &FileHeader) -> Self {
        let mut digest = Context::new(&SHA256);
        digest.update(b"mcpreel recording 1\0");
        digest.update(&header.created.to_le_bytes());
        let of_parts = header.notes.iter().filter(|(name, _)| *name == "cut" || name.starts_with("merged."));
        for (name, value) in of_parts {
            digest.update(format!("{name}\0{value}\0").as_bytes());
        }
        let is_imported = header.notes.contains_key("imported from") || !header.has_times();
        Self { digest, missing: if is_imported { IMPORTED_MESSAGES } else { 1 }, is_imported }
    }

    /// Takes a message, whether it is exported or not.
    pub(super) fn take(&mut self, message: &Message<'_>) {
        if self.missing == 0 {
            return;
        }
        self.missing -= 1;
        self.digest.update(&message.time.to_le_bytes());
        self.digest.update(&message.stream.to_le_bytes());
        if self.is_imported {
            self.digest.update(&message.len.to_le_bytes());
            self.digest.update(message.body.unwrap_or_default());
        }
    }

    /// The identity as 32 hexadecimal digits.
    pub(super) fn text(&self) -> String {
        let digest = self.digest.clone().finish();
        hex(&digest.as_ref()[..16])
    }
}

/// Bytes as lower-case hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
