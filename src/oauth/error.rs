//! Why a login failed, and what to do next. Texts of others are one visible line; secrets are never part of an error.

use crate::wire::text::excerpt;

/// The maximum length of a text of others in an error, in characters.
const MAX_CHARS: usize = 300;

/// Why a login failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OAuthError {
    /// No answer, or one that cannot be used.
    #[error("{0}")]
    Exchange(String),
    /// A URL that must not be used.
    #[error("{what} {url:?} cannot be used: {why}")]
    Address {
        /// What the URL is for.
        what: &'static str,
        /// The URL.
        url: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// There is no metadata.
    #[error("cannot find the metadata of {of}: {why}")]
    NoMetadata {
        /// The server or authorization server.
        of: String,
        /// The result of the last attempt.
        why: String,
    },
    /// The metadata is for another server.
    #[error("the server's metadata is for {named:?}, not for {server}")]
    WrongResource {
        /// The resource in the metadata.
        named: String,
        /// The server's URL.
        server: String,
    },
    /// The metadata names no authorization server.
    #[error("the server's metadata names no authorization server")]
    NoAuthorizationServer,
    /// The authorization server's metadata belongs to another one.
    #[error("the metadata of the authorization server {expected} names another issuer, {found:?}")]
    WrongIssuer {
        /// The issuer that was asked.
        expected: String,
        /// The issuer in its metadata.
        found: String,
    },
    /// The authorization server does not support PKCE with S256.
    #[error("the authorization server {0} does not support PKCE with S256, which MCP requires")]
    NoPkce(String),
    /// There is no way to become a client.
    #[error("the authorization server {0} does not register clients by itself")]
    NoRegistration(String),
    /// The authorization server does not accept a URL as a client id.
    #[error("the authorization server {0} does not support client id metadata documents")]
    NoDocuments(String),
    /// Clients cannot authenticate as mcpreel can.
    #[error("the authorization server {0} lets clients authenticate only by {1}, which mcpreel does not support")]
    NoAuthMethod(String, String),
    /// The client that the user named belongs to another authorization server.
    #[error(
        "the server names another authorization server, {named}, than the one where you registered the client {client}, {before}"
    )]
    OtherClient {
        /// The authorization server that the server names now.
        named: String,
        /// The client that the user named.
        client: String,
        /// Its authorization server.
        before: String,
    },
    /// The registration was refused.
    #[error("the authorization server refused to register mcpreel: {0}")]
    Registration(String),
    /// The response came from another authorization server than the one that was asked.
    #[error("the response to the login came from another authorization server than {0}")]
    MixUp(String),
    /// The response names no issuer.
    #[error(
        "the response to the login names no issuer (`iss`), although the metadata of {0} says that its responses always do"
    )]
    NoIssuer(String),
    /// The authorization server, or the user, refused the login.
    #[error("the authorization server refused the login: {0}")]
    Refused(String),
    /// The authorization server gave no token.
    #[error("the authorization server gave no token: {0}")]
    Token(String),
    /// The refresh token no longer counts.
    #[error("the login has ended: {0}")]
    Ended(String),
}

impl OAuthError {
    /// What to do next, if known.
    pub(crate) fn advice(&self) -> Option<&'static str> {
        Some(match self {
            Self::NoRegistration(_) | Self::NoDocuments(_) => {
                "register a client there yourself, then run `mcpreel login URL --client-id ID`"
            }
            Self::Registration(_) => "register a client there yourself, and name it with --client-id ID",
            Self::OtherClient { .. } => {
                "if you trust it, run `mcpreel login URL --client-id ID` with a client that you registered there, or \
                 `mcpreel logout URL` first, so that mcpreel registers one"
            }
            Self::WrongResource { .. } => {
                "mcpreel does not log in, because the token would be for another server; use the URL that the metadata \
                 names, if you trust it"
            }
            Self::MixUp(_) | Self::NoIssuer(_) => {
                "the code was sent to nobody; log in again, and tell the server's operator"
            }
            Self::Ended(_) => "log in again with `mcpreel login URL`",
            _ => return None,
        })
    }
}

/// A text of others for an error.
pub(super) fn quoted(text: &str) -> String {
    excerpt(text, MAX_CHARS)
}
