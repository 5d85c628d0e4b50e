//! Facts about MCP: revisions and eras, methods, error codes, schemas, HTTP headers.
//!
//! What the proposals add is in `proposals`.
//!
//! This module must never use tokio, open a file or read a clock.

pub(crate) mod capabilities;
pub(crate) mod errors;
pub(crate) mod http;
pub(crate) mod methods;
pub(crate) mod revision;
pub(crate) mod schema;

pub(crate) use methods::{MethodKind, MethodSpec, Sender};
pub(crate) use revision::{Era, Revision};
