//! The only home of processes and sockets.
//!
//! Never: reels, proposals, what a method means but for HTTP's own rules.

pub mod child;
mod exchange;
pub mod http;
mod lines;
pub mod link;
mod proxy;
pub mod remote;
pub mod stdio;
mod streamable;
mod tls;
pub mod websocket;

pub use link::{Incoming, Link, Undelivered};
pub use remote::{Onlookers, Remote, Tell, Told};
