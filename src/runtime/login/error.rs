//! Why a login failed, and what to do next.

use crate::error::{CommandError, ErrorKind};
use crate::oauth::OAuthError;
use crate::transport::client::http::HttpError;
use std::time::Duration;

/// Why there is no token.
#[derive(Clone, Debug, thiserror::Error)]
pub(super) enum LoginError {
    /// The authorization failed.
    #[error("{0}")]
    OAuth(#[from] OAuthError),
    /// The server cannot be asked.
    #[error("{0}")]
    Server(#[from] HttpError),
    /// The user did not log in in time.
    #[error("nobody logged in within {0:?}")]
    TimedOut(Duration),
    /// The last login failed for this reason, less than a minute ago.
    #[error("{0}; for a minute, mcpreel does not ask you again")]
    Recent(Box<LoginError>),
    /// No port for the redirect address.
    #[error("cannot wait for the login on port {0}: {1}")]
    Port(u16, String),
    /// The tokens cannot be read or written.
    #[error("{0}")]
    File(String),
    /// No random numbers.
    #[error("the system has no random numbers")]
    Random,
}

impl LoginError {
    fn advice(&self) -> Option<&'static str> {
        match self {
            Self::OAuth(error) => error.advice(),
            Self::Server(error) => error.advice(),
            Self::TimedOut(_) => Some("`mcpreel login URL --timeout 10m` waits longer"),
            Self::Recent(_) => Some("log in with `mcpreel login URL`"),
            Self::Port(..) => Some("choose another port with --port, which must be registered with the client"),
            Self::File(_) | Self::Random => None,
        }
    }
}

impl From<LoginError> for CommandError {
    fn from(error: LoginError) -> Self {
        let kind = match error {
            LoginError::TimedOut(_) => ErrorKind::Timeout,
            LoginError::Recent(ref before) if matches!(**before, LoginError::TimedOut(_)) => ErrorKind::Timeout,
            LoginError::File(_) => ErrorKind::Input,
            _ => ErrorKind::Peer,
        };
        error.advice().into_iter().fold(Self::new(kind, error.to_string()), Self::hint)
    }
}

impl From<LoginError> for HttpError {
    fn from(error: LoginError) -> Self {
        Self::Login(format!("the login failed: {error}"), error.advice())
    }
}
