//! The host's sans-IO engines: the client of one server, and the host, which combines clients with the host sides of
//! the proposals.
//!
//! Bytes and the time come in, messages to send and events to report go out. A runner connects an engine to a
//! transport. `now` is the time since a start that the caller chooses.
//!
//! Never: tokio, sockets, printing, clocks.

pub(crate) mod client;
pub(crate) mod engine;
pub(crate) mod fire_user_message;
pub(crate) mod prompt;
