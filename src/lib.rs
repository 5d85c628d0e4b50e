//! mcpreel: a toolkit for Model Context Protocol traffic. It taps sessions, keeps them exactly in reels, shows,
//! checks, compares and pokes them, and speaks five proposals that make servers part of a conversation.
//!
//! `ARCHITECTURE.md` draws the layers; each module opens with its duty and what it must never know.

pub mod cli;
pub mod diff;
pub mod drive;
pub mod exchange;
pub mod extension;
pub mod host;
pub mod overlay;
pub mod protocol;
pub mod render;
pub mod scenario;
pub mod server;
pub mod session;
pub mod survive;
pub mod tap;
pub mod trace;
pub mod transport;
pub mod validate;
pub mod wire;
