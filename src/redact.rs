//! Knows what a secret looks like, and what replaces it: one list of detectors, used at capture for command lines, URLs
//! and HTTP heads, and by `redact` for everything.
//!
//! This module must never open files, read clocks or print. It knows nothing of reels and messages.

mod capture;
mod checks;
mod cookies;
pub(crate) mod detectors;
pub(crate) mod encoding;
mod finder;
mod groups;
mod names;
mod pattern;
mod places;
mod pseudonym;
mod settings;
mod tables;
mod words;

pub use capture::{redact_arguments, redact_header};
pub(crate) use capture::{redact_header_keeping, redact_target, redact_url};
pub(crate) use encoding::decoded;
pub use finder::Finder;
pub(crate) use finder::{Lookalike, Match};
pub(crate) use names::is_reporting;
pub(crate) use pseudonym::Kind;
pub(crate) use pseudonym::{Pseudonyms, has_mark, is_pseudonym, marks};
pub use settings::Settings;
pub(crate) use words::is_ordinary;

/// The replacement for a secret at capture.
pub(crate) const REDACTED: &str = "[redacted]";

/// Returns whether a text in a list is a secret that the name before it gives away.
pub(crate) fn is_named_by(name: &str, text: &[u8]) -> bool {
    names::is_secret(name) && checks::is_convincing(text)
}

/// Returns whether nothing is left of a secret.
pub(crate) fn is_removed(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    text.is_empty() || text == REDACTED.as_bytes()
}
