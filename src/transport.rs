//! Connections to servers and clients. Network sockets are used only here.
//!
//! Knows nothing of reels, proposals or the meaning of methods, except for the rules of HTTP itself.

pub(crate) mod budget;
pub(crate) mod client;
pub(crate) mod coding;
pub(crate) mod link;
pub(crate) mod listen;
pub(crate) mod local;

pub(crate) use client::remote::TransportNotice;
pub use client::remote::{Observers, Remote};
pub use link::Incoming;
pub(crate) use link::{Link, Undelivered};
