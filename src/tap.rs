//! The transparent tap: bytes go through untouched and at once, a copy goes to a recorder that works beside them.
//!
//! Never: `render`, `cli`.

pub mod answers;
pub mod attached;
pub mod bridge;
pub mod control;
pub mod gate;
pub mod http;
pub mod inject;
pub mod queue;
pub mod recorder;
pub mod relay;
pub mod secrets;
pub mod sieve;
pub mod status;
pub mod stdio;
pub mod storage;
