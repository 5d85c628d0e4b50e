//! The reel: mcpreel's file format for recordings. Events are read exactly as they were written, and the file is
//! readable at every moment.
//!
//! `docs/trace-format.md` defines the format; this module is its only implementation.
//!
//! This module must never use tokio or transports, or know what a method means.

pub(crate) mod ahead;
pub(crate) mod cbor;
pub(crate) mod described;
pub(crate) mod event;
pub(crate) mod format;
pub(crate) mod index;
mod input;
mod pieces;
pub(crate) mod reader;
pub(crate) mod rebuild;
mod record;
pub(crate) mod writer;

pub(crate) use ahead::{AheadReader, BlockPool, MAX_BORROWED_BYTES};
pub(crate) use cbor::{description, description_as};
pub(crate) use described::{Closed, Decision, ExchangeNews, ExchangeStep, Gap, Note, Opened, TransportEvent};
pub use event::{Event, EventHeader, EventKind, Flags};
pub(crate) use event::{MessageHeader, RecordedId};
pub(crate) use format::begins_reel;
pub use format::{FileHeader, FormatError};
pub use index::Index;
pub(crate) use pieces::OpenFrames;
pub(crate) use reader::{Block, Damage};
pub use reader::{Item, ReelReader};
pub use writer::{NewEvent, ReelWriter, WriterOptions};

#[cfg(test)]
mod tests;
