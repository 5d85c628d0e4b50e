//! The only home of processes and sockets.
//!
//! Never: reels, what a method means, proposals.

pub mod child;
pub mod control;
pub mod http;
pub mod link;
pub mod remote;
pub mod stdio;
mod tls;

pub use link::{Incoming, Link};
pub use remote::Remote;
