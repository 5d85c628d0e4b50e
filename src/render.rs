//! Text output for terminals: messages, reports, tables and colours.
//!
//! This module must never run an engine or read files.

pub(crate) mod checkpoint_tree;
pub(crate) mod diff;
pub(crate) mod findings;
pub(crate) mod host;
pub(crate) mod junit;
pub(crate) mod line;
pub(crate) mod output_buffer;
pub(crate) mod pretty;
pub(crate) mod progress;
pub(crate) mod rows;
pub mod scenario;
pub(crate) mod style;
pub(crate) mod table;
pub(crate) mod text;
pub(crate) mod unified;
pub(crate) mod volatile;
