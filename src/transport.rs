//! The only home of sockets.
//!
//! Never: reels, proposals, what a method means but for HTTP's own rules.

pub mod budget;
pub mod client;
pub mod link;
pub mod listen;
pub mod local;

pub use client::remote::{NoticeCallback, Observers, Remote, TransportNotice};
pub use link::{Incoming, Link, Undelivered};
