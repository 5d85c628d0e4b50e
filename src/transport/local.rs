//! Connections on this machine: lines over pipes, Unix sockets and TCP.

pub(crate) mod lines;
pub(crate) mod stdio;
