//! The terminal interface without a terminal: keys, rows and texts come in, effects go out, and `draw` shows the state.
//!
//! This module must never do I/O, read clocks or start threads.

pub(crate) mod ansi;
pub(crate) mod app;
pub(crate) mod draw;
pub(crate) mod effect;
pub(crate) mod keys;
mod list;
mod picker;
mod prompt;
#[cfg(test)]
mod tests;
pub(crate) mod text;
