//! Thin runners that connect sans-IO engines to transports and to the clock, and decide nothing themselves.

pub(crate) mod builtin;
pub(crate) mod channel_socket;
pub(crate) mod client;
pub(crate) mod client_probe;
pub(crate) mod collector;
pub(crate) mod event_routes;
pub(crate) mod feed;
pub(crate) mod handler_runner;
pub(crate) mod handler_secrets;
pub(crate) mod host;
mod host_notes;
pub(crate) mod host_servers;
pub(crate) mod host_session;
pub(crate) mod inferences;
pub(crate) mod interactive;
pub(crate) mod listening;
pub(crate) mod login;
pub(crate) mod mock;
pub(crate) mod model;
pub(crate) mod overlay;
pub(crate) mod parameters;
pub(crate) mod peer;
pub(crate) mod play;
pub(crate) mod probe;
pub(crate) mod replay;
pub(crate) mod server;
pub(crate) mod server_link;
pub(crate) mod sessions;
pub(crate) mod shared_recorder;
pub(crate) mod watch;
pub(crate) mod webhook;

pub(crate) use client::{Connection, Failure};

use crate::error::{CommandError, ErrorKind};
use tokio::signal::unix::{SignalKind, signal};

/// Runs an asynchronous command on this thread. SIGINT and SIGTERM end it, with exit code 130; what it records is
/// complete then, too.
pub(crate) fn block_on<T>(work: impl Future<Output = Result<T, CommandError>>) -> Result<T, CommandError> {
    block_on_to_the_end(unless_ended(work))
}

/// Like [`block_on`], for a command that handles SIGTERM itself.
pub(crate) fn block_on_until_interrupted<T>(
    work: impl Future<Output = Result<T, CommandError>>,
) -> Result<T, CommandError> {
    block_on_to_the_end(async {
        tokio::select! {
            done = work => done,
            _ = tokio::signal::ctrl_c() => Err(interrupted("interrupted")),
        }
    })
}

/// Like [`block_on`], for a command that handles both signals itself.
pub(crate) fn block_on_to_the_end<T>(work: impl Future<Output = Result<T, CommandError>>) -> Result<T, CommandError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CommandError::new(ErrorKind::Internal, format!("cannot start: {error}")))?;
    runtime.block_on(work)
}

/// Runs `work` until it is done or the process receives SIGINT or SIGTERM. From then on, these signals do not end the
/// process by themselves.
pub(crate) async fn unless_ended<T>(work: impl Future<Output = Result<T, CommandError>>) -> Result<T, CommandError> {
    tokio::select! {
        done = work => done,
        why = ended() => Err(why),
    }
}

/// Waits for SIGINT or SIGTERM. Returns the error of the command that it ends.
pub(crate) async fn ended() -> CommandError {
    tokio::select! {
        _ = tokio::signal::ctrl_c() => interrupted("interrupted"),
        () = terminated() => interrupted("terminated"),
    }
}

fn interrupted(how: &str) -> CommandError {
    CommandError::new(ErrorKind::Interrupted, how)
}

/// Waits for SIGTERM.
async fn terminated() {
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => {
            let _ = terminate.recv().await;
        }
        Err(_) => std::future::pending().await,
    }
}

/// Sleeps for so long, or forever if it is `None`.
pub(crate) async fn sleep_for(wait: Option<std::time::Duration>) {
    match wait {
        Some(wait) => tokio::time::sleep(wait).await,
        None => std::future::pending().await,
    }
}

/// Sleeps until `at`, or forever if it is `None`.
pub(crate) async fn sleep_until(at: Option<tokio::time::Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
