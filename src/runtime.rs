//! Thin runners that connect sans-IO engines to transports and to the clock, and decide nothing themselves.

pub mod builtin;
pub mod channel_socket;
pub mod client;
pub mod event_routes;
pub mod feed;
pub mod handler_runner;
pub mod host;
pub mod host_session;
pub mod inferences;
pub mod model;
pub mod overlay;
pub mod probe;
pub mod scenario_server;
pub mod scenario_sessions;
pub mod server;
pub mod sessions;
pub mod simulate;
pub mod watch;
pub mod webhook;

pub use client::{Connection, Failure};

/// Sleeps until `at`, or forever if it is `None`.
pub(crate) async fn sleep_until(at: Option<tokio::time::Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
