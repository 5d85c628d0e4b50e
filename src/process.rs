//! Child processes: starting them, ending them with everything they started, and connecting to them.
//!
//! Never: reels, proposals, what a method means.

pub mod child;
pub mod stdio_bridge;
pub mod supervisor;
