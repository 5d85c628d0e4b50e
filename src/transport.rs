//! The only home of processes and sockets.
//!
//! Never: reels, proposals, what a method means but for HTTP's own rules.

pub mod access;
mod body;
pub mod budget;
pub mod child;
pub mod control;
mod exchange;
pub mod gateway;
pub mod heads;
pub mod http;
pub mod keeper;
mod lines;
pub mod link;
pub mod plug;
pub mod post;
pub mod posts;
pub mod proxy;
mod reach;
mod refusal;
pub mod remote;
pub mod stdio;
mod streamable;
mod tls;
mod upstream;
pub mod websocket;

pub use budget::MessageLimit;
pub use link::{Incoming, Link, Undelivered};
pub use remote::{Onlookers, Remote, Tell, Told};
