//! Connections to servers and clients. Network sockets are used only here.
//!
//! Knows nothing of reels, proposals or the meaning of methods, except for the rules of HTTP itself.

pub mod budget;
pub mod client;
pub mod link;
pub mod listen;
pub mod local;

pub use client::remote::{NoticeCallback, Observers, Remote, TransportNotice};
pub use link::{Incoming, Link, Undelivered};
