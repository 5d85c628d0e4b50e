//! Logs in to servers that require OAuth: opens the user's browser, waits for the response, and keeps the tokens.

mod browser;
mod error;
mod probe;

pub(crate) use browser::Browser;

use crate::error::{CommandError, ErrorKind, Notices};
use crate::files::logins::{LoginClaim, Logins, LoginsLock};
use crate::oauth::client::{Client, Registration, client};
use crate::oauth::{self, AuthorizationRequest, Challenge, Grant, Identity, OAuthError, ProtectedServer, Secrets};
use crate::redact::redact_url;
use crate::transport::Remote;
use crate::transport::client::authorization_server::AuthorizationServers;
use crate::transport::client::http::HttpError;
use crate::transport::client::login::{self, Login, Need, TokenFuture, TokenSource};
use crate::transport::listen::redirect::RedirectListener;
use crate::wire::text::excerpt;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use error::LoginError;
use hyper::StatusCode;
use hyper::header::HeaderValue;
use oauth2::AuthorizationCode;
use probe::probe;
use ring::rand::{SecureRandom, SystemRandom};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::sync::Mutex;
use tokio::time::{sleep, timeout};
use url::Url;

/// How long the user may take to log in, unless another time is given.
pub(crate) const LOGIN_TIME: Duration = Duration::from_secs(300);
/// After a login failed, or brought a token that the server refuses, the user is not asked again for this long, however
/// many requests need a token.
const PAUSE: Duration = Duration::from_secs(60);
/// The maximum length of the scopes in a message, in characters.
const MAX_SCOPES: usize = 200;
/// How often to look whether another process has finished its login.
const POLL: Duration = Duration::from_millis(100);
/// How to log in.
#[derive(Clone, Debug)]
pub(crate) struct LoginSettings {
    /// How the user gets to the login page.
    pub browser: Browser,
    /// Who mcpreel is for the authorization server.
    pub identity: Identity,
    /// The environment variable with the client's secret, which no browser gets.
    pub secret_variable: Option<String>,
    /// The scopes to request instead of those that the server names.
    pub scopes: Vec<String>,
    /// The port of the redirect address; 0 for any.
    pub port: u16,
    /// How long the user may take.
    pub time: Duration,
}

impl Default for LoginSettings {
    fn default() -> Self {
        Self {
            browser: Browser::default(),
            identity: Identity::default(),
            secret_variable: None,
            scopes: Vec::new(),
            port: 0,
            time: LOGIN_TIME,
        }
    }
}

/// The login at one server, shared by all its requests.
struct Keeper {
    server: Url,
    logins: Logins,
    exchanges: AuthorizationServers,
    settings: LoginSettings,
    notices: Notices,
    /// Held while a token is renewed. Contains the end of the last login, and the result.
    last_login: Mutex<Option<(Instant, Result<(), LoginError>)>>,
}

/// The login at a remote server.
pub(crate) struct UserLogin {
    remote: Remote,
    keeper: Arc<Keeper>,
}

impl UserLogin {
    /// The user's login at this server; nothing is sent yet.
    ///
    /// # Errors
    ///
    /// The URL cannot have a login, or the folder of the tokens is unknown.
    pub(crate) fn new(remote: &Remote, settings: LoginSettings, notices: Notices) -> Result<Self, CommandError> {
        let server = server_url(&remote.url)?;
        let exchanges = AuthorizationServers::new(remote).map_err(LoginError::from)?;
        let exchanges = if notices.is_verbose { exchanges.reporting(notices.warn) } else { exchanges };
        let last_login = Mutex::default();
        let keeper = Keeper { server, logins: Logins::here()?, exchanges, settings, notices, last_login };
        Ok(Self { remote: remote.clone(), keeper: Arc::new(keeper) })
    }

    /// For the requests of a client.
    pub(crate) fn login(&self) -> Login {
        Login::new(Arc::new(Shared(Arc::clone(&self.keeper))))
    }

    /// Logs in, whether or not there is a token already. Returns the new login.
    ///
    /// # Errors
    ///
    /// The login failed.
    pub(crate) async fn log_in(&self) -> Result<Grant, CommandError> {
        let before = self.keeper.find()?.and_then(|grant| grant.header());
        let response = probe(&self.remote, None).await?;
        let challenge = login::challenge(response.headers()).unwrap_or_default();
        if response.status() != StatusCode::UNAUTHORIZED {
            let status = response.status();
            let text = format!("the server does not ask for a login (it answered HTTP {status}); trying its metadata");
            self.keeper.report_step(&text);
        }
        let LoginSettings { identity, scopes, .. } = &self.keeper.settings;
        // Another process may log in at the same time; its login serves unless this one is to be different.
        let serves = |grant: &Grant| {
            let is_same = matches!(identity, Identity::Dynamic) && grant.has_scopes(scopes);
            is_same && grant.header() != before
        };
        Ok(self.keeper.log_in(&challenge, false, serves).await?)
    }
}

/// Makes sure that the server accepts the user's token, before requests with time limits need it. The user logs in if
/// necessary. Other problems are left to the first request, which reports them.
///
/// # Errors
///
/// The login failed.
pub(crate) async fn prepare(remote: &Remote) -> Result<(), CommandError> {
    let Some(login) = &remote.login else { return Ok(()) };
    match probe(remote, Some(login)).await {
        Err(LoginError::Server(HttpError::Login(message, advice))) => {
            let failed = CommandError::new(ErrorKind::Peer, message);
            Err(advice.into_iter().fold(failed, CommandError::hint))
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

/// The URL of a server at which users can log in.
///
/// # Errors
///
/// It is no such URL.
pub(crate) fn server_url(url: &str) -> Result<Url, CommandError> {
    let refused = |why: &str| {
        let error = CommandError::usage(format!("cannot log in at {}: {why}", redact_url(url)));
        Err(error.hint("OAuth needs a server at https://…, or at http://… on this machine"))
    };
    match Url::parse(url) {
        Ok(mut parsed) if parsed.scheme() == "https" || parsed.scheme() == "http" && oauth::is_loopback(&parsed) => {
            parsed.set_fragment(None);
            Ok(parsed)
        }
        Ok(parsed) if parsed.scheme() == "http" => refused("a token would be sent unencrypted"),
        Ok(_) => refused("it is not an HTTP URL"),
        Err(error) => refused(&error.to_string()),
    }
}

/// A keeper that tasks can hold on to.
struct Shared(Arc<Keeper>);

impl TokenSource for Shared {
    fn current(&self) -> TokenFuture<'_> {
        Box::pin(async { Ok(self.0.current().await?) })
    }

    fn renewed(&self, need: Need, used: Option<HeaderValue>) -> TokenFuture<'_> {
        let keeper = Arc::clone(&self.0);
        // The client may give up its request, but the user is already logging in.
        let renewing = tokio::spawn(async move { keeper.renew(&need, used.as_ref()).await });
        Box::pin(async {
            let renewed = renewing.await.map_err(|error| HttpError::Login(error.to_string(), None))?;
            Ok(renewed?)
        })
    }
}

impl Keeper {
    fn find(&self) -> Result<Option<Grant>, LoginError> {
        self.logins.find(self.server.as_str()).map_err(|error| self.failed_file(&error))
    }

    fn failed_file(&self, error: &io::Error) -> LoginError {
        LoginError::File(CommandError::reading(self.logins.path(), error).message)
    }

    fn report_step(&self, text: &str) {
        if self.notices.is_verbose {
            (self.notices.warn)(text);
        }
    }

    async fn lock(&self) -> Result<LoginsLock, LoginError> {
        let logins = self.logins.clone();
        let locked = tokio::task::spawn_blocking(move || logins.lock()).await;
        let locked = locked.map_err(|error| LoginError::File(error.to_string()))?;
        locked.map_err(|error| LoginError::File(CommandError::writing(self.logins.path(), &error).message))
    }

    async fn keep(&self, grant: Grant) -> Result<(), LoginError> {
        let lock = self.lock().await?;
        self.put(&lock, grant)
    }

    fn put(&self, lock: &LoginsLock, grant: Grant) -> Result<(), LoginError> {
        let kept = self.logins.put(lock, grant);
        kept.map_err(|error| LoginError::File(CommandError::writing(self.logins.path(), &error).message))
    }

    /// The token, refreshed if it is about to expire.
    async fn current(&self) -> Result<Option<HeaderValue>, LoginError> {
        let Some(grant) = self.find()? else { return Ok(None) };
        let header = grant.header();
        if !grant.is_stale(now()) {
            return Ok(header);
        }
        let _one_at_a_time = self.last_login.lock().await;
        match self.refresh(header.as_ref()).await {
            Ok(Some(refreshed)) => Ok(Some(refreshed)),
            // The server says what it thinks of the old one.
            Ok(None) | Err(LoginError::OAuth(_)) => Ok(header),
            Err(error) => Err(error),
        }
    }

    async fn renew(&self, need: &Need, used: Option<&HeaderValue>) -> Result<Option<HeaderValue>, LoginError> {
        let mut last_login = self.last_login.lock().await;
        let challenge = match need {
            Need::Token { challenge, .. } | Need::Scopes(challenge) => challenge,
        };
        let serves = |grant: &Grant| serves(grant, need, used);
        // Another request or process was faster.
        if let Some(grant) = self.find()?.filter(serves) {
            return Ok(grant.header());
        }
        if let Need::Token { is_second: false, .. } = need
            && let Some(refreshed) = self.refresh(used).await?
        {
            return Ok(Some(refreshed));
        }
        let recent = last_login.as_ref().filter(|(at, _)| at.elapsed() < PAUSE);
        if let Some((at, result)) = recent.filter(|(_, result)| result.is_err() || matches!(need, Need::Token { .. })) {
            let left = PAUSE.saturating_sub(at.elapsed()).as_secs();
            self.report_step(&format!("no new login for {left} s, because the last one did not help"));
            // The server's own response says why it refuses the token.
            return match result {
                Ok(()) => Ok(used.cloned()),
                Err(error) => Err(LoginError::Recent(Box::new(error.clone()))),
            };
        }
        if let Need::Token { .. } = need {
            self.note_refusal(used).await?;
        }
        let logged_in = self.log_in(challenge, matches!(need, Need::Scopes(_)), serves).await;
        *last_login = Some((Instant::now(), logged_in.as_ref().map(|_| ()).map_err(LoginError::clone)));
        Ok(logged_in?.header())
    }

    /// Remembers that the server refuses this token, which cannot be refreshed.
    async fn note_refusal(&self, used: Option<&HeaderValue>) -> Result<(), LoginError> {
        let lock = self.lock().await?;
        match self.find()?.filter(|grant| used.is_some() && grant.header().as_ref() == used) {
            Some(grant) => self.put(&lock, grant.refused()),
            None => Ok(()),
        }
    }

    /// A new token without the user; `None` if only the user can get one.
    async fn refresh(&self, used: Option<&HeaderValue>) -> Result<Option<HeaderValue>, LoginError> {
        let lock = self.lock().await?;
        let Some(grant) = self.find()? else { return Ok(None) };
        if grant.header().as_ref() != used && !grant.is_stale(now()) {
            return Ok(grant.header());
        }
        if !grant.can_refresh() {
            return Ok(None);
        }
        match grant.refresh(&self.exchanges, now()).await {
            Ok(refreshed) => {
                let header = refreshed.header();
                self.put(&lock, refreshed)?;
                self.report_step("the token was refreshed");
                Ok(header)
            }
            Err(error @ OAuthError::Ended(_)) => {
                self.report_step(&error.to_string());
                self.put(&lock, grant.without_refresh())?;
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Waits until no other process lets the user log in to this server, so that the user sees one page at a time.
    async fn claim(&self) -> Result<LoginClaim, LoginError> {
        let failed = |error| LoginError::File(CommandError::writing(self.logins.path(), &error).message);
        let mut waiting: Option<Instant> = None;
        loop {
            if let Some(claim) = self.logins.claim(self.server.as_str()).map_err(failed)? {
                return Ok(claim);
            }
            if waiting.is_none() {
                let server = redact_url(self.server.as_str());
                (self.notices.warn)(&format!("another mcpreel process is logging in to {server}; waiting for it"));
            }
            if waiting.get_or_insert_with(Instant::now).elapsed() > self.settings.time {
                return Err(LoginError::TimedOut(self.settings.time));
            }
            sleep(POLL).await;
        }
    }

    /// Lets the user log in, and keeps the tokens; returns the login of another process instead, if it serves.
    async fn log_in(
        &self,
        challenge: &Challenge,
        is_current: bool,
        serves: impl Fn(&Grant) -> bool,
    ) -> Result<Grant, LoginError> {
        let _only_one = self.claim().await?;
        let known = self.find()?;
        match known {
            Some(known) if serves(&known) => Ok(known),
            known => self.ask_user(challenge, is_current, known).await,
        }
    }

    /// Opens the login page, and keeps the tokens. A client that mcpreel has registered is used again only while its tokens
    /// are valid: the authorization server may have forgotten it since, which only its login page would say.
    async fn ask_user(
        &self,
        challenge: &Challenge,
        is_current: bool,
        known: Option<Grant>,
    ) -> Result<Grant, LoginError> {
        let issuer = known.as_ref().map(|grant| grant.issuer.as_str());
        let server = oauth::discover(&self.exchanges, &self.server, challenge, issuer).await?;
        // Clients and scopes belong to one authorization server.
        let known = known.filter(|grant| grant.issuer == server.authorization.issuer);
        let scopes = self.scopes(&server, known.as_ref());
        let is_usable = |client: &Client| is_current || client.registration != Registration::Dynamic;
        let known = known.map(|grant| grant.client).filter(is_usable);
        let listener = self.listen(known.as_ref()).await?;
        let identity = (&self.settings.identity, known.as_ref());
        let client = client(&self.exchanges, &server.authorization, identity, &listener.url(), &scopes).await?;
        if is_current && let Some(wanted) = &challenge.scopes {
            let wanted = excerpt(&wanted.join(" "), MAX_SCOPES);
            (self.notices.warn)(&format!("the server requires a login with more scopes for this request: {wanted}"));
        }
        let issuer = server.authorization.issuer.clone();
        let request = Arc::new(AuthorizationRequest::new(server, client, scopes, secrets()?)?);
        let hidden = self.settings.secret_variable.as_deref();
        self.settings.browser.show((&issuer, request.url()), hidden, self.notices);
        let time = self.settings.time;
        let receiving = listener.receive(&request, self.notices.warn);
        let (code, page) = timeout(time, receiving).await.map_err(|_| LoginError::TimedOut(time))??;
        let redeemed = self.redeem(&request, code).await;
        page.show(redeemed.is_ok()).await;
        redeemed
    }

    async fn redeem(&self, request: &AuthorizationRequest, code: AuthorizationCode) -> Result<Grant, LoginError> {
        let grant = request.redeem(&self.exchanges, code, now()).await?;
        self.keep(grant.clone()).await?;
        Ok(grant)
    }

    /// The scopes to request: those that the user or the server names, and those of the last login, which the new token
    /// must not lose (MCP 2026-07-28, Step-Up Authorization Flow).
    fn scopes(&self, server: &ProtectedServer, known: Option<&Grant>) -> Vec<String> {
        let named = if self.settings.scopes.is_empty() { &server.scopes } else { &self.settings.scopes };
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

/// Whether a login has what a request needs that was sent with this token.
fn serves(grant: &Grant, need: &Need, used: Option<&HeaderValue>) -> bool {
    match need {
        Need::Token { .. } => grant.header().as_ref() != used && !grant.is_stale(now()),
        Need::Scopes(challenge) => grant.has_scopes(challenge.scopes.as_deref().unwrap_or_default()),
    }
}

/// Revokes the tokens of a login, if the authorization server supports that. Returns whether it did.
///
/// # Errors
///
/// The authorization server cannot be reached, or refused.
pub(crate) async fn revoke(grant: &Grant, remote: &Remote) -> Result<bool, CommandError> {
    let exchanges = AuthorizationServers::new(remote).map_err(LoginError::from)?;
    grant.revoke(&exchanges).await.map_err(|error| LoginError::from(error).into())
}

/// The current time in seconds since 1970.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

fn secrets() -> Result<Secrets, LoginError> {
    Ok(Secrets { state: random()?, verifier: random()? })
}

/// 256 random bits as text.
fn random() -> Result<String, LoginError> {
    let mut bytes = [0; 32];
    SystemRandom::new().fill(&mut bytes).map_err(|_| LoginError::Random)?;
    Ok(BASE64_URL_SAFE_NO_PAD.encode(bytes))
}
