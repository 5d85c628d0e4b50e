//! Configuration files of MCP clients: where they are, the servers in them, and edits that keep every other byte.
//!
//! Only `clients` and `file` open files; the rest works on text, and the environment comes in as an argument. Nothing
//! here prints.

pub(crate) mod clients;
pub(crate) mod entry;
pub(crate) mod expand;
pub(crate) mod file;
pub(crate) mod project;
pub(crate) mod shown;
pub(crate) mod tree;
pub(crate) mod wrap;
pub(crate) mod yaml;
