//! Child processes: starts them, ends them together with everything they started, and connects to them.
//!
//! Knows nothing of reels, proposals or the meaning of methods.

pub(crate) mod child;
pub(crate) mod stand_in;
pub(crate) mod stdio_bridge;
pub(crate) mod supervisor;
pub(crate) mod threads;
