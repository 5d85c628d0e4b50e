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
pub use client::Identity;
pub(crate) use discovery::ProtectedServer;
pub use discovery::discover;
pub use error::OAuthError;
pub use grant::Grant;
pub use request::{Answer, AuthorizationRequest, Secrets};

use oauth2::AsyncHttpClient;
pub use oauth2::{HttpRequest, HttpResponse};
use serde_json::Value;
use std::pin::Pin;

/// Why an exchange failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unreachable(pub String);

/// Performs single HTTP requests. Must not follow redirects, and must limit the time and the length of answers.
pub trait Exchanges: Sync {
    /// Sends a request and returns the complete response.
    fn send(&self, request: HttpRequest) -> ResponseFuture<'_>;
}

/// The HTTP client of the library.
struct LibraryClient<'a>(&'a dyn Exchanges);

impl<'c> AsyncHttpClient<'c> for LibraryClient<'_> {
    type Error = Unreachable;
    type Future = ResponseFuture<'c>;

    fn call(&'c self, request: HttpRequest) -> Self::Future {
        let endpoint = request.uri().to_string();
        Box::pin(async move { token_response(&endpoint, self.0.send(request).await?) })
    }
}

/// The response of a token endpoint for the library, which would not say what is wrong with it.
fn token_response(endpoint: &str, response: HttpResponse) -> Result<HttpResponse, Unreachable> {
    let (head, body) = response.into_parts();
    let parsed: Option<Value> = serde_json::from_slice(&body).ok().filter(Value::is_object);
    let said = |what: &str| Unreachable(format!("{endpoint} gave no token: it answered HTTP {} {what}", head.status));
    let Some(mut parsed) = parsed else { return Err(said("without a JSON object")) };
    if !head.status.is_success() {
        return match parsed["error"].is_string() {
            true => Ok(HttpResponse::from_parts(head, body)),
            false => Err(said("without an `error`")),
        };
    }
    for member in ["access_token", "token_type"] {
        if !parsed[member].is_string() {
            return Err(said(&format!("without `{member}`")));
        }
    }
    // Only recommended (RFC 6749 §5.1): a token with a wrong one is used until the server refuses it.
    if !parsed["expires_in"].is_u64() {
        parsed.as_object_mut().map(|members| members.remove("expires_in"));
    }
    Ok(HttpResponse::from_parts(head, parsed.to_string().into_bytes()))
}

/// The complete response to a request.
pub type ResponseFuture<'a> = Pin<Box<dyn Future<Output = Result<HttpResponse, Unreachable>> + Send + 'a>>;
