//! The thin runners: they connect sans-IO engines to transports and to the clock, and know nothing else.

pub mod builtin;
pub mod chores;
pub mod client;
pub mod connector;
pub mod feed;
pub mod host;
pub mod overlay;
pub mod part;
pub mod plays;
pub mod server;
pub mod sessions;
pub mod simulate;
pub mod survive;
pub mod watch;
pub mod webhook;

pub use client::{Connection, Failure};

/// Sleeps until then; for ever where there is no such time.
pub(crate) async fn sleep_until(at: Option<tokio::time::Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
