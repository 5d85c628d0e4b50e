//! The thin runners: they connect sans-IO engines to transports and to the clock, and know nothing else.

pub mod builtin;
pub mod client;
pub mod host;
pub mod server;
pub mod sessions;
pub mod simulate;
pub mod watch;

pub use client::{Connection, Failure};
