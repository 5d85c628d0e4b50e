//! Import and export of other formats, with one file per format.
//!
//! This module must never use tokio or print.

pub mod jsonl;
pub mod transcript;
