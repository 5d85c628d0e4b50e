//! One login: opens its page, waits for the response, and keeps the tokens.

use super::{Keeper, LoginError, MAX_SCOPES, now, secrets};
use crate::oauth::client::{Client, Registration, client};
use crate::oauth::{self, AuthorizationRequest, Challenge, Grant, Identity, OAuthError, ProtectedServer};
use crate::transport::listen::redirect::RedirectListener;
use crate::wire::text::excerpt;
use oauth2::AuthorizationCode;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use url::Url;

/// How long the user waits until the tokens of an earlier login are revoked.
const REVOCATION_TIME: Duration = Duration::from_secs(5);

impl Keeper {
    /// Opens the login page, and keeps the tokens. A client that mcpreel has registered is used again only while its tokens
    /// are valid: the authorization server may have forgotten it since, which only its login page would say.
    pub(super) async fn ask_user(
        &self,
        challenge: &Challenge,
        is_current: bool,
        known: Option<Grant>,
    ) -> Result<Grant, LoginError> {
        let issuer = known.as_ref().map(|grant| grant.issuer.as_str());
        let server = oauth::discover(&self.exchanges, &self.server, challenge, issuer).await?;
        let named = &server.authorization.issuer;
        if let Some(before) = issuer.filter(|before| before != named) {
            let (before, named) = (excerpt(before, MAX_SCOPES), excerpt(named, MAX_SCOPES));
            (self.notices.warn)(&format!(
                "the server names another authorization server than at your last login: {named}, not {before}"
            ));
        }
        self.check_client(named, known.as_ref())?;
        // Clients and scopes belong to one authorization server.
        let of_same = known.as_ref().filter(|grant| grant.issuer == *named);
        let scopes = self.scopes(&server, of_same);
        let is_usable = |client: &&Client| is_current || client.registration != Registration::Dynamic;
        // Except for a client whose id is the address of its metadata, which any of them reads.
        let is_portable = |client: &&Client| {
            let accepts = server.authorization.accepts_documents;
            accepts && client.registration == Registration::Document && client.secret.is_none()
        };
        let portable = known.as_ref().map(|grant| &grant.client).filter(is_portable);
        let known = of_same.map(|grant| &grant.client).filter(is_usable).or(portable);
        let (listener, client) = self.client(&server, known, &scopes).await?;
        if is_current && let Some(wanted) = &challenge.scopes {
            let wanted = excerpt(&wanted.join(" "), MAX_SCOPES);
            (self.notices.warn)(&format!("the server requires a login with more scopes for this request: {wanted}"));
        }
        let hidden: Vec<String> =
            self.settings.secret_variables.iter().chain(&client.secret_variable).cloned().collect();
        let issuer = named.clone();
        let request = Arc::new(AuthorizationRequest::new(server, client, scopes, secrets()?)?);
        self.settings.browser.show((&issuer, request.url()), &hidden, self.notices);
        let time = self.settings.time;
        let receiving = listener.receive(&request, self.notices.warn);
        let (code, page) = timeout(time, receiving).await.map_err(|_| LoginError::TimedOut(time))??;
        let redeemed = self.redeem(&request, code, is_current).await;
        page.show(redeemed.is_ok()).await;
        redeemed
    }

    /// A client that the user named is not replaced in silence if the server names another authorization server (MCP
    /// 2026-07-28, Client Registration).
    fn check_client(&self, named: &str, known: Option<&Grant>) -> Result<(), LoginError> {
        let is_named = |grant: &&Grant| grant.client.registration == Registration::Registered;
        let known = known.filter(is_named).filter(|grant| grant.issuer != named);
        match (known, &self.settings.identity) {
            (Some(Grant { client, issuer, .. }), Identity::Dynamic) => {
                let short = |text: &str| excerpt(text, MAX_SCOPES);
                let (named, client, before) = (short(named), short(&client.id), short(issuer));
                Err(OAuthError::OtherClient { named, client, before }.into())
            }
            _ => Ok(()),
        }
    }

    /// The client for a login, and the listener at its redirect address.
    async fn client(
        &self,
        server: &ProtectedServer,
        known: Option<&Client>,
        scopes: &[String],
    ) -> Result<(RedirectListener, Client), LoginError> {
        let listener = self.listen(known).await?;
        let identity = (&self.settings.identity, known);
        let redirect = listener.url();
        let (authorization, supported) = (&server.authorization, &server.supported);
        let client = client(&self.exchanges, authorization, identity, &redirect, scopes, supported).await?;
        Ok((listener, client))
    }

    /// Gets the tokens, and keeps them in place of the earlier ones; a step-up login that grants no more scopes changes
    /// nothing.
    async fn redeem(
        &self,
        request: &AuthorizationRequest,
        code: AuthorizationCode,
        is_current: bool,
    ) -> Result<Grant, LoginError> {
        let grant = request.redeem(&self.exchanges, code, now()).await?;
        let lock = self.lock().await?;
        let earlier = self.find()?;
        let (kept, other) = match earlier {
            Some(earlier) if is_current && earlier.has_scopes(&grant.scopes) => earlier.replacing(grant),
            Some(earlier) => grant.replacing(earlier),
            None => (grant, None),
        };
        self.put(&lock, kept.clone())?;
        drop(lock);
        if let Some(other) = other {
            let why = match timeout(REVOCATION_TIME, other.revoke(&self.exchanges)).await {
                Ok(revoked) => revoked.err().map(|error| error.to_string()),
                Err(_) => Some(format!("{} did not answer within {REVOCATION_TIME:?}", other.issuer)),
            };
            if let Some(why) = why {
                self.report_step(&format!("other tokens of this login may still be valid: {why}"));
            }
        }
        Ok(kept)
    }

    /// The scopes to request: exactly those that the user names, else those that the server names, and those of the last
    /// login, which the new token must not lose (MCP 2026-07-28, Step-Up Authorization Flow).
    fn scopes(&self, server: &ProtectedServer, known: Option<&Grant>) -> Vec<String> {
        if !self.settings.scopes.is_empty() {
            return self.settings.scopes.clone();
        }
        let named = &server.scopes;
        let offline = "offline_access".to_owned();
        let offline = (server.authorization.offers_offline_access && !named.is_empty()).then_some(&offline);
        let mut scopes: Vec<String> = Vec::new();
        for scope in known.into_iter().flat_map(|grant| &grant.scopes).chain(named).chain(offline) {
            if !scopes.contains(scope) {
                scopes.push(scope.clone());
            }
        }
        scopes
    }

    /// Listens for the response: on the user's port, else on that of the known client, else on any.
    async fn listen(&self, known: Option<&Client>) -> Result<RedirectListener, LoginError> {
        let failed = |port, error: io::Error| LoginError::Port(port, error.to_string());
        if self.settings.port != 0 {
            let port = self.settings.port;
            return RedirectListener::bind(port).await.map_err(|error| failed(port, error));
        }
        let port = known.and_then(|client| Url::parse(&client.redirect_uri).ok()?.port());
        match (port, known.map(|client| client.registration)) {
            (Some(port), Some(registration)) => match RedirectListener::bind(port).await {
                Err(error) if registration == Registration::Registered => Err(failed(port, error)),
                Err(_) => RedirectListener::bind(0).await.map_err(|error| failed(0, error)),
                Ok(listener) => Ok(listener),
            },
            _ => RedirectListener::bind(0).await.map_err(|error| failed(0, error)),
        }
    }
}
