//! Configuration files of MCP clients: the servers in them, and edits that keep every other byte.
//!
//! This module must never open files, print or read the environment; all of that comes in as arguments.

pub mod entry;
pub mod expand;
pub mod shown;
pub mod tree;
pub mod wrap;
