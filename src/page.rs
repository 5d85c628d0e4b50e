//! HTML pages for people without mcpreel: one file with everything in it, which loads nothing from elsewhere.
//!
//! Texts of a session are never markup: they are compressed data, which the page's script turns into text nodes. The
//! script and the style sheet are the only ones that the page allows, by their hashes.

mod assets;
mod columns;
mod session;
pub(crate) mod shell;

pub use session::{SessionPage, Summary};

/// The name of the format, for `export`.
pub(crate) const NAME: &str = "html";
/// What it is, as a help line.
pub(crate) const ABOUT: &str = "A page for browsers, with a list, pictures and findings; redacted unless --no-redact";
