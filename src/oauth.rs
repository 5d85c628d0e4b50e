//! OAuth 2.1 as MCP requires it of clients (MCP 2025-11-25 and 2026-07-28, Authorization): finds a server's authorization
//! server, registers as its client, and gets, refreshes and revokes tokens.
//!
//! Does no I/O: requests go through [`Exchanges`], and the time and random values are arguments. Errors contain no
//! token, code or verifier.

mod address;
pub(crate) mod challenge;
pub(crate) mod client;
pub(crate) mod discovery;
mod error;
pub(crate) mod grant;
pub(crate) mod request;
#[cfg(test)]
mod tests;

pub(crate) use address::is_loopback;
pub use challenge::Challenge;
pub(crate) use client::Identity;
pub(crate) use discovery::{ProtectedServer, discover};
pub(crate) use error::OAuthError;
pub(crate) use grant::Grant;
pub(crate) use request::{Answer, AuthorizationRequest, Secrets};

use oauth2::AsyncHttpClient;
pub(crate) use oauth2::{HttpRequest, HttpResponse};
use std::pin::Pin;

/// Why an exchange failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Unreachable(pub String);

/// Performs single HTTP requests. Must not follow redirects, and must limit the time and the length of answers.
pub(crate) trait Exchanges: Sync {
    /// Sends a request and returns the complete response.
    fn send(&self, request: HttpRequest) -> ResponseFuture<'_>;
}

/// The HTTP client of the library.
struct LibraryClient<'a>(&'a dyn Exchanges);

impl<'c> AsyncHttpClient<'c> for LibraryClient<'_> {
    type Error = Unreachable;
    type Future = ResponseFuture<'c>;

    fn call(&'c self, request: HttpRequest) -> Self::Future {
        self.0.send(request)
    }
}

/// The complete response to a request.
pub(crate) type ResponseFuture<'a> = Pin<Box<dyn Future<Output = Result<HttpResponse, Unreachable>> + Send + 'a>>;
