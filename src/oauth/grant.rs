//! What a login has brought: the tokens for one server, bound to the authorization server that issued them.

use super::client::{Client, refusal};
use super::discovery::ProtectedServer;
use super::error::quoted;
use super::{Exchanges, HttpRequest, LibraryClient, OAuthError, Unreachable};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use oauth2::basic::{BasicClient, BasicErrorResponse, BasicErrorResponseType, BasicTokenResponse, BasicTokenType};
use oauth2::{
    AccessToken, AuthType, ClientId, ClientSecret, EndpointNotSet, EndpointSet, RedirectUrl, RefreshToken,
    RequestTokenError, TokenResponse, TokenUrl,
};
use serde::{Deserialize, Serialize};
use url::Url;
use url::form_urlencoded::{Serializer, byte_serialize};

/// A token is renewed this many seconds before it expires, because a request takes some time; at most a quarter of its life.
const EARLY_SECONDS: u64 = 30;

/// The maximum number of earlier logins that are kept for the logout.
const MAX_REPLACED: usize = 8;

/// The tokens for one server.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Grant {
    /// The server's URL.
    pub server: String,
    /// The resource that the tokens are for.
    pub resource: String,
    /// The authorization server.
    pub issuer: String,
    /// Where tokens are refreshed.
    token_endpoint: Url,
    /// Where tokens are revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    revocation_endpoint: Option<Url>,
    /// The client that has logged in.
    pub client: Client,
    access_token: AccessToken,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refresh_token: Option<RefreshToken>,
    /// When the access token expires, in seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<u64>,
    /// When it is renewed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    renew_at: Option<u64>,
    /// The scopes of the access token.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// The server has refused the access token, and it could not be refreshed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_refused: bool,
    /// Earlier logins of the same client, whose tokens are revoked together with this one's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    replaced: Vec<Self>,
}

impl Grant {
    pub(super) fn of(
        server: ProtectedServer,
        client: Client,
        scopes: Vec<String>,
        response: &BasicTokenResponse,
        now: u64,
    ) -> Result<Self, OAuthError> {
        let ProtectedServer { server, resource, authorization, .. } = server;
        let grant = Self {
            server: server.into(),
            resource,
            issuer: authorization.issuer,
            token_endpoint: authorization.token_endpoint,
            revocation_endpoint: authorization.revocation_endpoint,
            client,
            access_token: response.access_token().clone(),
            refresh_token: None,
            expires_at: None,
            renew_at: None,
            scopes,
            is_refused: false,
            replaced: Vec::new(),
        };
        grant.with(response, now)
    }

    /// This grant with the tokens of a response.
    fn with(self, response: &BasicTokenResponse, now: u64) -> Result<Self, OAuthError> {
        if *response.token_type() != BasicTokenType::Bearer {
            return Err(OAuthError::Token("it is not a bearer token".to_owned()));
        }
        let granted = |scopes: &Vec<oauth2::Scope>| {
            let scopes = scopes.iter().map(|scope| scope.as_str()).filter(|scope| is_scope(scope));
            scopes.map(str::to_owned).collect()
        };
        let life = response.expires_in().map(|left| left.as_secs());
        let grant = Self {
            access_token: response.access_token().clone(),
            // A response without a refresh token leaves the old one valid (RFC 6749 §6).
            refresh_token: response.refresh_token().cloned().or(self.refresh_token),
            expires_at: life.map(|life| now.saturating_add(life)),
            renew_at: life.map(|life| now.saturating_add(life - EARLY_SECONDS.min(life / 4))),
            scopes: response.scopes().map_or(self.scopes, granted),
            is_refused: false,
            ..self
        };
        match wrong_with_token(grant.access_token.secret()) {
            Some(why) => Err(OAuthError::Token(why.to_owned())),
            None => Ok(grant),
        }
    }

    /// This login in place of an earlier one. Returns that one if its tokens should be revoked now: some authorization
    /// servers revoke all tokens of a client at once, so those of the same client are kept until the logout.
    pub fn replacing(mut self, mut earlier: Self) -> (Self, Option<Self>) {
        self.replaced.append(&mut earlier.replaced);
        let mut now = Some(earlier);
        if let Some(earlier) = now.take_if(|it| it.issuer == self.issuer && it.client.id == self.client.id) {
            let is_same = earlier.access_token.secret() == self.access_token.secret();
            self.replaced.extend(Some(earlier).filter(|_| !is_same));
        }
        let forgotten = self.replaced.len().saturating_sub(MAX_REPLACED);
        self.replaced.drain(..forgotten);
        (self, now)
    }

    /// The value of `Authorization`.
    pub fn header(&self) -> Option<HeaderValue> {
        let mut value = HeaderValue::from_str(&format!("Bearer {}", self.access_token.secret())).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// Whether the access token has expired, or is about to.
    pub fn is_stale(&self, now: u64) -> bool {
        self.renew_at.is_some_and(|at| now >= at)
    }

    /// Whether the access token has all these scopes.
    pub fn has_scopes(&self, wanted: &[String]) -> bool {
        wanted.iter().all(|scope| self.scopes.contains(scope))
    }

    /// Whether a new access token can be had without the user.
    pub(crate) fn can_refresh(&self) -> bool {
        self.refresh_token.is_some()
    }

    /// This grant without its refresh token, which no longer counts.
    #[must_use]
    pub(crate) fn without_refresh(self) -> Self {
        Self { refresh_token: None, ..self }
    }

    /// This grant, whose access token the server has refused.
    #[must_use]
    pub(crate) fn refused(self) -> Self {
        Self { is_refused: true, ..self }
    }

    /// Gets a new access token (RFC 6749 §6). `now` is in seconds since 1970.
    ///
    /// # Errors
    /// [`OAuthError::Ended`] if the user has to log in again; else the authorization server gave no usable token.
    pub async fn refresh(&self, exchanges: &dyn Exchanges, now: u64) -> Result<Self, OAuthError> {
        let Some(refresh_token) = &self.refresh_token else {
            return Err(OAuthError::Ended("there is no refresh token".to_owned()));
        };
        let oauth: TokenClient = token_client(&self.client, &self.token_endpoint)?;
        let request = oauth.exchange_refresh_token(refresh_token).add_extra_param("resource", self.resource.as_str());
        let response = request.request_async(&LibraryClient(exchanges)).await;
        let response = response.map_err(|error| failed(error, &self.secrets()))?;
        self.clone().with(&response, now)
    }

    /// Revokes the tokens, and those of earlier logins of the same client (RFC 7009). Returns whether the authorization server supports that.
    ///
    /// # Errors
    /// The authorization server refused.
    pub async fn revoke(&self, exchanges: &dyn Exchanges) -> Result<bool, OAuthError> {
        for earlier in &self.replaced {
            earlier.revoke_own(exchanges).await?;
        }
        self.revoke_own(exchanges).await
    }

    async fn revoke_own(&self, exchanges: &dyn Exchanges) -> Result<bool, OAuthError> {
        let Some(endpoint) = &self.revocation_endpoint else { return Ok(false) };
        let refresh = self.refresh_token.as_ref().map(|token| (token.secret(), "refresh_token"));
        for (token, kind) in refresh.into_iter().chain([(self.access_token.secret(), "access_token")]) {
            let request = self.revocation(endpoint, token, kind)?;
            let response = exchanges.send(request).await.map_err(|error| OAuthError::Exchange(error.0))?;
            if !response.status().is_success() {
                let refused = without(&self.secrets(), refusal(&response));
                return Err(OAuthError::Exchange(format!("{endpoint} refused to revoke a token: {refused}")));
            }
        }
        Ok(true)
    }

    /// A request of our own, because the library accepts only https, even on this machine.
    fn revocation(&self, endpoint: &Url, token: &str, kind: &str) -> Result<HttpRequest, OAuthError> {
        let Client { id, secret, secret_in_body, .. } = &self.client;
        let mut form = Serializer::new(String::new());
        form.append_pair("token", token).append_pair("token_type_hint", kind);
        let mut request =
            hyper::Request::post(endpoint.as_str()).header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        match secret.as_ref().map(ClientSecret::secret) {
            Some(secret) if !secret_in_body => {
                let encoded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
                let credentials = BASE64_STANDARD.encode(format!("{}:{}", encoded(id), encoded(secret)));
                request = request.header(AUTHORIZATION, format!("Basic {credentials}"));
            }
            secret => {
                form.append_pair("client_id", id);
                if let Some(secret) = secret {
                    form.append_pair("client_secret", secret);
                }
            }
        }
        let failed = |_| OAuthError::Exchange(format!("cannot request {endpoint}"));
        request.body(form.finish().into_bytes()).map_err(failed)
    }

    fn secrets(&self) -> Vec<String> {
        let refresh = self.refresh_token.as_ref().map(|token| token.secret().clone());
        refresh.into_iter().chain([self.access_token.secret().clone()]).collect()
    }
}

/// Whether a text can be a scope (RFC 6749 §3.3, scope-token).
fn is_scope(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\')
}

/// What is wrong with an access token (RFC 6750 §2.1, b64token).
fn wrong_with_token(token: &str) -> Option<&'static str> {
    let letters = token.trim_end_matches('=');
    let is_allowed = |letter: u8| letter.is_ascii_alphanumeric() || b"-._~+/".contains(&letter);
    match letters.bytes().all(is_allowed) {
        _ if letters.is_empty() => Some("`access_token` is empty"),
        false => Some("`access_token` contains characters that a bearer token cannot have (RFC 6750 §2.1)"),
        true => None,
    }
}

/// A client of the library with a token endpoint.
pub(super) type TokenClient = BasicClient<EndpointNotSet, EndpointNotSet, EndpointNotSet, EndpointNotSet, EndpointSet>;

/// The library's client for ours.
pub(super) fn token_client(client: &Client, token_endpoint: &Url) -> Result<TokenClient, OAuthError> {
    let redirect = RedirectUrl::new(client.redirect_uri.clone())
        .map_err(|_| OAuthError::Exchange("the redirect address is not a URL".to_owned()))?;
    let method = if client.secret_in_body { AuthType::RequestBody } else { AuthType::BasicAuth };
    let oauth = BasicClient::new(ClientId::new(client.id.clone()))
        .set_token_uri(TokenUrl::from_url(token_endpoint.clone()))
        .set_redirect_uri(redirect)
        .set_auth_type(method);
    Ok(match &client.secret {
        Some(secret) => oauth.set_client_secret(secret.clone()),
        None => oauth,
    })
}

/// A failed token request, without these secrets.
pub(super) fn failed(error: RequestTokenError<Unreachable, BasicErrorResponse>, secrets: &[String]) -> OAuthError {
    let said = match &error {
        RequestTokenError::Request(error) => return OAuthError::Exchange(error.0.clone()),
        RequestTokenError::ServerResponse(response) => {
            let description = response.error_description().map(|text| format!(" ({text})")).unwrap_or_default();
            format!("{}{description}", response.error().as_ref())
        }
        // Not the library's text, which could repeat the body.
        RequestTokenError::Parse(error, _) => match error.path().to_string().as_str() {
            "." => "its response is not valid".to_owned(),
            member => format!("its response is not valid (`{member}`)"),
        },
        RequestTokenError::Other(why) => why.clone(),
    };
    let said = without(secrets, said);
    match error {
        RequestTokenError::ServerResponse(response) if *response.error() == BasicErrorResponseType::InvalidGrant => {
            OAuthError::Ended(quoted(&said))
        }
        _ => OAuthError::Token(quoted(&said)),
    }
}

/// A text of others without these secrets.
fn without(secrets: &[String], text: String) -> String {
    let secrets = secrets.iter().filter(|secret| !secret.is_empty());
    secrets.fold(text, |text, secret| text.replace(secret.as_str(), "[redacted]"))
}
