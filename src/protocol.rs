//! Facts about MCP: revisions and eras, methods, error codes, schemas, HTTP headers.
//!
//! What the proposals add is in `proposals`.
//!
//! This module must never use tokio, open a file or read a clock.

pub mod errors;
pub mod http;
pub mod methods;
pub mod revision;
pub mod schema;

pub use methods::{MethodKind, MethodSpec, Sender};
pub use revision::{Era, Revision};
