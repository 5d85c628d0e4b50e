//! The host's engines: the client of one server, and what is composed from it and a room's host side.
//!
//! All are sans-IO: bytes and the time come in, messages to send and facts to report go out. A runner connects them to
//! a transport.
//!
//! Never: tokio, sockets, printing, clocks (`now` is the time since a start of the caller's choosing).

pub mod client;
pub mod engine;
pub mod fire_user_message;
pub mod prompt;
