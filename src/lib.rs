//! mcpreel is a toolkit for Model Context Protocol traffic. It records sessions byte for byte in reels, shows,
//! validates, compares and injects messages, and implements five proposals that let servers take part in a
//! conversation.
//!
//! `ARCHITECTURE.md` describes the layers. Each module's documentation begins with what the module does and what it
//! must never do.

mod check;
mod cli;
mod clock;
mod config;
mod diff;
mod error;
mod explain;
mod files;
mod formats;
mod host;
mod oauth;
mod overlay;
mod pack;
mod page;
mod platform;
mod probe;
mod process;
mod proposals;
mod protocol;
mod record;
mod redact;
mod render;
mod replay;
mod runtime;
mod scenario;
mod server;
mod session;
mod sessions;
mod share;
#[doc(hidden)]
pub mod testing;
mod trace;
mod transport;
mod tui;
mod validate;
mod wire;

use std::process::ExitCode;

/// Runs the program: one of its helper processes, or the command line.
pub fn main() -> ExitCode {
    if let Some(failure) = process::child::become_if_asked() {
        return cli::trampoline_failed(&failure);
    }
    if let Some(stood_in) = process::stand_in::stand_in_if_asked() {
        return stood_in.unwrap_or_else(|failure| cli::trampoline_failed(&failure));
    }
    if let Some(code) = process::supervisor::supervise_if_asked() {
        return code;
    }
    if let Some(code) = process::stdio_bridge::bridge_if_asked() {
        return code;
    }
    if let Some(code) = cli::run_jq_if_asked() {
        return code;
    }
    cli::run()
}
