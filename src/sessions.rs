//! Live sessions: finds them, talks to them, and injects messages into them.
//!
//! Knows nothing of the meaning of proposals, and never prints.

pub(crate) mod answers;
pub(crate) mod control;
pub(crate) mod follow;
pub(crate) mod injection;
pub(crate) mod live;
pub(crate) mod recording_status;
pub(crate) mod sockets;
