//! The text of MCP clients' configuration files: which servers it names, and edits that leave every other byte as it is.
//!
//! Never: files, printing, the environment (it comes in as an argument).

pub mod entry;
pub mod expand;
pub mod shown;
pub mod tree;
pub mod wrap;
