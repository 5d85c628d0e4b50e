//! One login: the authorization request, the response to it, and the exchange of its code for tokens (OAuth 2.1 §4.1).

use super::address::harmless;
use super::client::Client;
use super::discovery::ProtectedServer;
use super::error::quoted;
use super::grant::{TokenClient, failed, token_client};
use super::{Exchanges, Grant, LibraryClient, OAuthError};
use oauth2::{AuthorizationCode, CsrfToken, PkceCodeChallenge, PkceCodeVerifier, Scope};
use url::Url;
use url::form_urlencoded::parse;

/// The random values of one login, each with at least 256 bits in letters that URLs can contain.
pub struct Secrets {
    /// Binds the response to the request.
    pub state: String,
    /// Binds the code to this client (RFC 7636).
    pub verifier: String,
}

/// A login that waits for its response.
pub struct AuthorizationRequest {
    server: ProtectedServer,
    client: Client,
    scopes: Vec<String>,
    state: String,
    verifier: PkceCodeVerifier,
    url: Url,
}

/// What a request to the redirect address means for the login.
#[derive(Debug)]
pub enum Answer {
    /// It does not belong to this login, which continues to wait. Contains the reason as a sentence.
    Foreign(&'static str),
    /// The response: a code, or the reason why there is none.
    Final(Result<AuthorizationCode, OAuthError>),
}

impl AuthorizationRequest {
    /// Prepares a login for these scopes.
    ///
    /// # Errors
    /// The metadata contains an endpoint that cannot be used.
    pub fn new(
        server: ProtectedServer,
        client: Client,
        scopes: Vec<String>,
        secrets: Secrets,
    ) -> Result<Self, OAuthError> {
        let verifier = PkceCodeVerifier::new(secrets.verifier);
        let oauth = token_client(&client, &server.authorization.token_endpoint)?;
        let oauth = oauth.set_auth_uri(oauth2::AuthUrl::from_url(server.authorization.authorization_endpoint.clone()));
        let state = secrets.state.clone();
        let (url, _) = oauth
            .authorize_url(|| CsrfToken::new(state))
            .add_scopes(scopes.iter().cloned().map(Scope::new))
            .set_pkce_challenge(PkceCodeChallenge::from_code_verifier_sha256(&verifier))
            .add_extra_param("resource", server.resource.as_str())
            .url();
        Ok(Self { server, client, scopes, state: secrets.state, verifier, url: harmless(&url) })
    }

    /// The URL for the user's browser.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Reads the query of a request to the redirect address. Only a response with our `state` and from our
    /// authorization server counts (MCP 2026-07-28, Authorization Response Validation).
    pub fn read_answer(&self, query: &str) -> Answer {
        let all = |wanted: &str| -> Vec<String> {
            let pairs = parse(query.as_bytes()).filter(|(name, _)| name == wanted);
            pairs.map(|(_, value)| value.into_owned()).collect()
        };
        match all("state").as_slice() {
            [] => return Answer::Foreign("It has no state."),
            [state] if *state == self.state => {}
            _ => return Answer::Foreign("Its state is that of another login."),
        }
        Answer::Final(self.check_issuer(&all("iss")).and_then(|()| match (all("error").first(), &all("code")[..]) {
            (Some(error), _) => Err(OAuthError::Refused(described(error, all("error_description").first()))),
            (None, [code]) if !code.is_empty() => Ok(AuthorizationCode::new(code.clone())),
            (None, codes) => {
                let count = if codes.len() > 1 { "several codes" } else { "no code" };
                Err(OAuthError::Token(format!("the response to the login contains {count}")))
            }
        }))
    }

    /// Whether the response comes from the authorization server that was asked (RFC 9207 §2.4).
    fn check_issuer(&self, named: &[String]) -> Result<(), OAuthError> {
        let authorization = &self.server.authorization;
        match named {
            [issuer] if *issuer == authorization.issuer => Ok(()),
            [] if !authorization.identifies_itself => Ok(()),
            [] => Err(OAuthError::NoIssuer(quoted(&authorization.issuer))),
            _ => Err(OAuthError::MixUp(quoted(&authorization.issuer))),
        }
    }

    /// Exchanges the code for tokens. `now` is in seconds since 1970.
    ///
    /// # Errors
    /// The authorization server gave no usable token.
    pub async fn redeem(
        &self,
        exchanges: &dyn Exchanges,
        code: AuthorizationCode,
        now: u64,
    ) -> Result<Grant, OAuthError> {
        let Self { server, client, scopes, verifier, .. } = self;
        let secrets = [code.secret().clone(), verifier.secret().clone()];
        let oauth: TokenClient = token_client(client, &server.authorization.token_endpoint)?;
        let request = oauth
            .exchange_code(code)
            .set_pkce_verifier(PkceCodeVerifier::new(verifier.secret().clone()))
            .add_extra_param("resource", server.resource.as_str());
        let response = request.request_async(&LibraryClient(exchanges)).await;
        let response = response.map_err(|error| match failed(error, &secrets) {
            // Here, `invalid_grant` is about the code.
            OAuthError::Ended(why) => OAuthError::Token(why),
            other => other,
        })?;
        Grant::of(server.clone(), client.clone(), scopes.clone(), &response, now)
    }
}

/// An error response in words.
fn described(error: &str, description: Option<&String>) -> String {
    match description {
        Some(description) => format!("{} ({})", quoted(error), quoted(description)),
        None => quoted(error),
    }
}
