//! Connections on this machine: lines over pipes, Unix sockets and TCP.

pub mod lines;
pub mod stdio;
