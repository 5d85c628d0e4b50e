//! Thin runners that connect sans-IO engines to transports and to the clock, and decide nothing themselves.

pub(crate) mod builtin;
pub(crate) mod channel_socket;
pub(crate) mod client;
pub(crate) mod event_routes;
pub(crate) mod feed;
pub(crate) mod handler_runner;
pub(crate) mod host;
pub(crate) mod host_session;
pub(crate) mod inferences;
pub(crate) mod mock;
pub(crate) mod model;
pub(crate) mod overlay;
pub(crate) mod probe;
pub(crate) mod replay;
pub(crate) mod scenario_server;
pub(crate) mod scenario_sessions;
pub(crate) mod server;
pub(crate) mod sessions;
pub(crate) mod simulate;
pub(crate) mod watch;
pub(crate) mod webhook;

pub(crate) use client::{Connection, Failure};

/// Sleeps until `at`, or forever if it is `None`.
pub(crate) async fn sleep_until(at: Option<tokio::time::Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
