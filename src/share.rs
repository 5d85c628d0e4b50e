//! Prepares reels for others: replaces secrets by pseudonyms, cuts out a part, merges several reels into one.
//!
//! `redact` knows what a secret is; this module knows where one can be: in JSON, in JSON in strings, in base64, in events
//! of all kinds, divided between messages. This module must never open files, read clocks or print.

mod clean;
mod compressed;
mod cut;
mod event;
mod json_text;
mod known;
mod lanes;
mod layers;
mod mapped;
mod merge;
mod packed;
mod redaction;
mod report;
mod runs;
mod touched;
mod twin;

pub(crate) use cut::{Cut, Selection};
pub(crate) use merge::{Merge, Source};
pub(crate) use packed::Packed;
pub(crate) use redaction::LiveRedactor;
pub(crate) use redaction::NOTE;
pub use redaction::{Learner, Redactor};
pub(crate) use report::{Place, Report};
pub(crate) use twin::Twins;
