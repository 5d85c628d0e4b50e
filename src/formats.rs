//! Other people's formats, in and out: one file a format.
//!
//! Never: tokio, printing.

pub mod jsonl;
pub mod transcript;
