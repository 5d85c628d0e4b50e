//! Logs in to servers that require OAuth: opens the user's browser, waits for the response, and keeps the tokens.

mod browser;
mod error;
mod history;
mod page;
mod probe;

pub(crate) use browser::Browser;

use crate::error::{CommandError, ErrorKind, Notices};
use crate::files::logins::{LoginClaim, Logins, LoginsLock};
use crate::oauth::client::Registration;
use crate::oauth::{self, Challenge, Grant, Identity, OAuthError, Secrets};
use crate::process::threads;
use crate::redact::redact_url;
use crate::transport::Remote;
use crate::transport::client::authorization_server::AuthorizationServers;
use crate::transport::client::http::HttpError;
use crate::transport::client::login::{self, Login, Need, TokenFuture, TokenSource};
use crate::transport::client::waiting::Waiting;
use crate::wire::text::excerpt;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use error::LoginError;
use history::{FirstUse, History};
use hyper::StatusCode;
use hyper::header::HeaderValue;
use probe::probe;
use ring::rand::{SecureRandom, SystemRandom};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::sync::Mutex;
use tokio::time::sleep;
use url::Url;

/// How long the user may take to log in, unless another time is given.
pub(crate) const LOGIN_TIME: Duration = Duration::from_secs(300);
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
    /// The environment variables that the command line names, which no browser gets.
    pub secret_variables: Vec<String>,
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
            secret_variables: Vec::new(),
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
    /// Held while a token is renewed.
    history: Mutex<History>,
    first_use: parking_lot::Mutex<FirstUse>,
    waiting: Waiting,
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
        let logins = Logins::here()?;
        let (history, first_use, waiting) = Default::default();
        let keeper = Keeper { server, logins, exchanges, settings, notices, history, first_use, waiting };
        Ok(Self { remote: remote.clone(), keeper: Arc::new(keeper) })
    }

    /// For the requests of a client.
    pub(crate) fn login(&self) -> Login {
        Login::new(Arc::new(Shared(Arc::clone(&self.keeper))), self.keeper.waiting.clone())
    }

    /// Logs in, whether or not there is a token already. Returns the new login.
    ///
    /// # Errors
    ///
    /// The login failed.
    pub(crate) async fn log_in(&self) -> Result<Grant, CommandError> {
        let known = self.keeper.find()?;
        let before = known.as_ref().and_then(Grant::header);
        if let Some(Grant { client, .. }) = known
            && matches!(self.keeper.settings.identity, Identity::Dynamic)
            && client.registration != Registration::Dynamic
        {
            let text = "as the client that you named in your last login";
            let id = excerpt(&client.id, MAX_SCOPES);
            (self.keeper.notices.warn)(&format!("{text}, {id}; `mcpreel logout URL` forgets it"));
        }
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
        Ok(parsed) if !parsed.username().is_empty() || parsed.password().is_some() => {
            refused("it contains a user name or password")
        }
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

    fn note_use(&self, token: &HeaderValue, is_accepted: bool) {
        self.0.first_use.lock().note(token, is_accepted);
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
        let locked = threads::finish("lock", move || logins.lock()).await;
        let locked = locked.map_err(|error| LoginError::File(error.to_string()))?;
        locked.map_err(|error| LoginError::File(CommandError::writing(self.logins.path(), &error).message))
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
        let _one_at_a_time = self.history.lock().await;
        match self.refresh(header.as_ref()).await {
            Ok(Some(refreshed)) => Ok(Some(refreshed)),
            // The server says what it thinks of the old one.
            Ok(None) | Err(LoginError::OAuth(_)) => Ok(header),
            Err(error) => Err(error),
        }
    }

    async fn renew(&self, need: &Need, used: Option<&HeaderValue>) -> Result<Option<HeaderValue>, LoginError> {
        let mut history = self.history.lock().await;
        let serves = |grant: &Grant| serves(grant, need, used);
        // Another request or process was faster.
        if let Some(grant) = self.find()?.filter(serves) {
            return Ok(grant.header());
        }
        let (challenge, is_second) = match need {
            Need::Token { challenge, is_second } => (challenge, *is_second),
            Need::Scopes(challenge) => return Ok(self.step_up(&mut history, challenge, serves, used).await),
        };
        if !is_second && let Some(refreshed) = self.refresh(used).await? {
            return Ok(Some(refreshed));
        }
        let helped = !self.first_use.lock().is_refused();
        if let Some((left, failed)) = history.recent(helped) {
            self.report_step(&format!("no new login for {left} s, because the last one did not help"));
            // The server's own response says why it refuses the token.
            return failed.map_or_else(|| Ok(used.cloned()), |error| Err(LoginError::Recent(Box::new(error))));
        }
        self.note_refusal(used).await?;
        let logged_in = self.log_in(challenge, false, serves).await;
        history.note_login(logged_in.as_ref().map(|_| ()).map_err(LoginError::clone));
        let header = logged_in?.header();
        *self.first_use.lock() = FirstUse::of(header.clone());
        Ok(header)
    }

    /// Lets the user grant more scopes. If there are none, the token stays, and the server's response goes to the client.
    async fn step_up(
        &self,
        history: &mut History,
        challenge: &Challenge,
        serves: impl Fn(&Grant) -> bool,
        used: Option<&HeaderValue>,
    ) -> Option<HeaderValue> {
        let wanted = challenge.scopes.as_deref().unwrap_or_default();
        let shown = excerpt(&wanted.join(" "), MAX_SCOPES);
        if let Some(left) = history.has_asked_for(wanted) {
            self.report_step(&format!("no new login for {left} s, because the last one for these scopes did not help"));
            return used.cloned();
        }
        let logged_in = self.log_in(challenge, true, serves).await;
        history.note_scopes(wanted);
        match logged_in {
            Ok(grant) if grant.has_scopes(wanted) => grant.header(),
            Ok(grant) => {
                let granted = excerpt(&grant.scopes.join(" "), MAX_SCOPES);
                let granted = if granted.is_empty() { "none" } else { granted.as_str() };
                (self.notices.warn)(&format!("the server requires the scopes {shown}, but your login has: {granted}"));
                grant.header()
            }
            Err(error) => {
                (self.notices.warn)(&format!("the login with more scopes ({shown}) failed: {error}"));
                used.cloned()
            }
        }
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
        let _asked = self.waiting.ask_user();
        self.report_step(&format!("the server's challenge: {challenge}"));
        let _only_one = self.claim().await?;
        let known = self.find()?;
        match known {
            Some(known) if serves(&known) => Ok(known),
            known => self.ask_user(challenge, is_current, known).await,
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
