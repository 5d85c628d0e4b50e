//! Text output for terminals: messages, reports, tables and colours.
//!
//! This module must never run an engine or read files.

pub(crate) mod answer;
pub(crate) mod audit;
pub(crate) mod brackets;
pub(crate) mod checked;
pub(crate) mod checkpoint_tree;
pub(crate) mod diff;
pub(crate) mod event;
pub(crate) mod explain;
pub(crate) mod findings;
pub(crate) mod fired;
pub(crate) mod host;
pub(crate) mod jq;
pub(crate) mod line;
pub(crate) mod offers;
pub(crate) mod output_buffer;
pub(crate) mod pretty;
pub(crate) mod probe;
pub(crate) mod prompts;
pub(crate) mod quotation;
pub(crate) mod redaction;
pub(crate) mod replayed;
pub(crate) mod results;
pub mod scenario;
pub(crate) mod sequence;
pub(crate) mod spans;
pub(crate) mod stats;
pub(crate) mod style;
pub(crate) mod table;
pub(crate) mod text;
pub(crate) mod timeline;
pub(crate) mod volatile;
