//! The reel: mcpreel's file format for recordings. Events are read exactly as they were written, and the file is
//! readable at every moment.
//!
//! `docs/trace-format.md` defines the format; this module is its only implementation.
//!
//! This module must never use tokio or transports, or know what a method means.

pub mod ahead;
pub mod event;
pub mod format;
pub mod index;
mod input;
mod pieces;
pub mod reader;
pub mod rebuild;
mod record;
pub mod writer;

pub use ahead::{AheadReader, BlockPool, MAX_OUT};
pub use event::{Event, EventHeader, EventKind, Flags, MessageHeader, RecordedId};
pub use format::{FileHeader, FormatError};
pub use index::Index;
pub use reader::{Block, Damage, Item, ReelReader};
pub use writer::{NewEvent, ReelWriter, WriterOptions};

#[cfg(test)]
mod tests;
