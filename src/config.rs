//! Configuration files of MCP clients: the servers in them, and edits that keep every other byte.
//!
//! This module must never open files, print or read the environment; all of that comes in as arguments.

pub(crate) mod entry;
pub(crate) mod expand;
pub(crate) mod project;
pub(crate) mod shown;
pub(crate) mod tree;
pub(crate) mod wrap;
