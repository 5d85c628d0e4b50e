//! mcpreel is a toolkit for Model Context Protocol traffic. It records sessions byte for byte in reels, shows,
//! validates, compares and injects messages, and implements five proposals that let servers take part in a
//! conversation.
//!
//! `ARCHITECTURE.md` describes the layers. Each module's documentation begins with what the module does and what it
//! must never do.

pub mod cli;
pub mod config;
pub mod diff;
pub mod error;
pub mod formats;
pub mod host;
pub mod overlay;
pub mod probe;
pub mod process;
pub mod proposals;
pub mod protocol;
pub mod record;
pub mod redact;
pub mod render;
pub mod runtime;
pub mod scenario;
pub mod server;
pub mod session;
pub mod sessions;
pub mod trace;
pub mod transport;
pub mod validate;
pub mod wire;
