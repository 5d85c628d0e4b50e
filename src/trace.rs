//! The reel: mcpreel's trace file. Events in, events out, exactly, and safe at every instant.
//!
//! `docs/trace-format.md` is the format's authority; this module is its one implementation.
//!
//! Never: tokio, transports, what a method means.

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
