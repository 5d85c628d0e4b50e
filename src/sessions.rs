//! Live sessions: finding them, speaking to them from outside, and putting messages into them.
//!
//! Never: what a proposal means, printing.

pub mod answers;
pub mod control;
pub mod follow;
pub mod injection;
pub mod live;
pub mod sockets;
