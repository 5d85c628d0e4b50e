//! Text output for terminals: messages, reports, tables and colours.
//!
//! This module must never run an engine or read files.

pub mod checkpoint_tree;
pub mod diff;
pub mod findings;
pub mod host;
pub mod junit;
pub mod line;
pub mod output_buffer;
pub mod pretty;
pub mod progress;
pub mod rows;
pub mod scenario;
pub mod style;
pub mod table;
pub mod text;
pub mod unified;
