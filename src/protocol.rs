//! What the wire means: MCP's revisions and eras, the catalogue of methods, error codes, schemas,
//! HTTP headers.
//!
//! Facts about MCP itself stand here; what a proposal adds stands in its room under `extension`.
//!
//! Never: tokio, files, clocks.

pub mod errors;
pub mod http;
pub mod methods;
pub mod revision;
pub mod schema;

pub use methods::{MethodKind, MethodSpec, Sender};
pub use revision::{Era, Revision};
