//! Messages as bytes: how a byte stream is split into frames, and what a JSON-RPC envelope says.
//!
//! Everything here borrows from the bytes that crossed the wire; nothing is parsed into owned values and written back.
//! Bad input is data: functions return what they found and never fail because of it.
//!
//! This module must never use tokio, open a file, read a clock or know the names of MCP methods.

pub(crate) mod edit;
pub(crate) mod envelope;
pub(crate) mod escaping;
pub(crate) mod framing;
pub mod json;
mod limit;
pub(crate) mod log_lines;
pub(crate) mod mask;
pub(crate) mod outline;
pub mod pointer;
pub(crate) mod random_words;
pub(crate) mod sse;
pub(crate) mod text;
pub(crate) mod tree;
pub(crate) mod units;

pub use envelope::{Envelope, MessageKind};
pub(crate) use envelope::{Fault, Id, IdKey};
pub use framing::{Frame, Framing, LineFramer};
pub(crate) use framing::{MAX_MESSAGE_BYTES, Messages, PIECE, TooLong};
pub(crate) use limit::MessageLimit;
pub(crate) use outline::Outline;

/// The direction of a message on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// From the client (host) to the server.
    ClientToServer,
    /// From the server to the client (host).
    ServerToClient,
}

impl Direction {
    /// Returns the opposite direction.
    pub fn reversed(self) -> Self {
        match self {
            Self::ClientToServer => Self::ServerToClient,
            Self::ServerToClient => Self::ClientToServer,
        }
    }

    /// Returns the short name used in filters, JSON lines and tables: `c2s` or `s2c`.
    pub fn short(self) -> &'static str {
        match self {
            Self::ClientToServer => "c2s",
            Self::ServerToClient => "s2c",
        }
    }

    /// Parses the short name.
    pub fn from_short(name: &str) -> Option<Self> {
        match name {
            "c2s" => Some(Self::ClientToServer),
            "s2c" => Some(Self::ServerToClient),
            _ => None,
        }
    }
}
