//! mcpreel: a toolkit for Model Context Protocol traffic. It taps sessions, keeps them exactly in reels, shows,
//! checks, compares and pokes them, and speaks five proposals that make servers part of a conversation.
//!
//! `ARCHITECTURE.md` draws the layers; each module opens with its duty and what it must never know.

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
