//! Live sessions: finds them, talks to them, and injects messages into them.
//!
//! Knows nothing of the meaning of proposals, and never prints.

pub mod answers;
pub mod control;
pub mod follow;
pub mod injection;
pub mod live;
pub mod sockets;
