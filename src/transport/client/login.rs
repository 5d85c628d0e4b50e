//! The user's access token for one server: adds it to requests, and repeats a request when the server asks for another
//! token or for more scopes (MCP 2025-11-25, Access Token Usage and Scope Challenge Handling).

use super::http::{Body, HttpClient, HttpError, empty, full, place};
use super::waiting::Waiting;
use crate::oauth::Challenge;
use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use hyper::{Request, Response, StatusCode};
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::time::timeout;

/// How often one request may ask for another token: first an existing or refreshed one, then that of a new login.
const MAX_RENEWALS: u8 = 2;
/// How many bytes of a refusal's body are read so that its connection can be reused.
const MAX_REFUSAL_BYTES: usize = 64 << 10;

/// Why a request needs another token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// The token is missing or no longer valid. After the first time, only a new login can help.
    Token {
        /// What the server says about it.
        challenge: Challenge,
        /// Another token was refused before.
        is_second: bool,
    },
    /// The token does not have these scopes.
    Scopes(Challenge),
}

/// The value of `Authorization`, if there is a token.
pub(crate) type TokenFuture<'a> = Pin<Box<dyn Future<Output = Result<Option<HeaderValue>, HttpError>> + Send + 'a>>;

/// Keeps the tokens for one server, and gets new ones.
pub(crate) trait TokenSource: Send + Sync {
    /// The current token.
    fn current(&self) -> TokenFuture<'_>;
    /// Another token than `used`; `None` if there is none to try.
    fn renewed(&self, need: Need, used: Option<HeaderValue>) -> TokenFuture<'_>;
    /// The server has accepted or refused this token.
    fn note_use(&self, token: &HeaderValue, is_accepted: bool);
}

/// The user's login at one server.
#[derive(Clone)]
pub struct Login {
    source: Arc<dyn TokenSource>,
    waiting: Waiting,
}

impl Login {
    /// A login with the tokens of this source, which reports in `waiting` when it asks the user.
    pub(crate) fn new(source: Arc<dyn TokenSource>, waiting: Waiting) -> Self {
        Self { source, waiting }
    }

    /// Who waits for a token.
    pub(crate) fn waiting(&self) -> &Waiting {
        &self.waiting
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Login")
    }
}

impl PartialEq for Login {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.source, &other.source)
    }
}

impl Eq for Login {}

/// The attempts to send one request; without a login, there is only one.
pub(crate) struct Attempts<'a> {
    login: Option<&'a Login>,
    used: Option<HeaderValue>,
    renewals: u8,
    has_stepped_up: bool,
    has_waited: bool,
}

impl<'a> Attempts<'a> {
    /// Before the first attempt.
    ///
    /// # Errors
    /// The token cannot be read.
    pub(crate) async fn begin(login: Option<&'a Login>) -> Result<Self, HttpError> {
        let (used, has_waited) = match login {
            Some(login) => current(login).await?,
            None => (None, false),
        };
        Ok(Self { login, used, renewals: 0, has_stepped_up: false, has_waited })
    }

    /// Whether the first attempt had to wait for a token.
    pub(crate) fn has_waited(&self) -> bool {
        self.has_waited
    }

    /// Puts the token into a request, in place of any other.
    pub(crate) fn apply(&self, headers: &mut HeaderMap) {
        if self.login.is_none() {
            return;
        }
        headers.remove(AUTHORIZATION);
        if let Some(token) = &self.used {
            headers.insert(AUTHORIZATION, token.clone());
        }
    }

    /// Whether to send the request again after this response, with another token.
    ///
    /// # Errors
    /// The login failed.
    pub(crate) async fn again(&mut self, status: StatusCode, headers: &HeaderMap) -> Result<bool, HttpError> {
        if let (Some(login), Some(used)) = (self.login, &self.used) {
            login.source.note_use(used, status != StatusCode::UNAUTHORIZED);
        }
        let Some((login, need)) = self.login.zip(self.need(status, headers)) else { return Ok(false) };
        match &need {
            Need::Token { .. } => self.renewals += 1,
            Need::Scopes(_) => self.has_stepped_up = true,
        }
        let _waits = login.waiting.begin();
        let renewed = login.source.renewed(need, self.used.clone()).await?;
        let is_new = renewed.is_some() && renewed != self.used;
        self.used = renewed.or_else(|| self.used.take());
        Ok(is_new)
    }

    fn need(&self, status: StatusCode, headers: &HeaderMap) -> Option<Need> {
        let challenge = challenge(headers);
        match status {
            StatusCode::UNAUTHORIZED if self.renewals < MAX_RENEWALS => {
                Some(Need::Token { challenge: challenge.unwrap_or_default(), is_second: self.renewals > 0 })
            }
            StatusCode::FORBIDDEN if !self.has_stepped_up => {
                challenge.filter(|it| it.error.as_deref() == Some("insufficient_scope")).map(Need::Scopes)
            }
            _ => None,
        }
    }
}

/// The current token, and whether it had to be waited for.
async fn current(login: &Login) -> Result<(Option<HeaderValue>, bool), HttpError> {
    let mut current = login.source.current();
    let at_once = poll_fn(|context| match current.as_mut().poll(context) {
        Poll::Ready(token) => Poll::Ready(Some(token)),
        Poll::Pending => Poll::Ready(None),
    });
    if let Some(token) = at_once.await {
        return Ok((token?, false));
    }
    let _waits = login.waiting.begin();
    Ok((current.await?, true))
}

/// The Bearer challenge of a response.
pub(crate) fn challenge(headers: &HeaderMap) -> Option<Challenge> {
    Challenge::read(headers.get_all(WWW_AUTHENTICATE).iter().filter_map(|value| value.to_str().ok()))
}

/// Reads the body of a response that will not be used, so that its connection can be.
pub(crate) async fn discard(body: Incoming) {
    let _ = Limited::new(body, MAX_REFUSAL_BYTES).collect().await;
}

/// Sends a request with the token, if there is a login. `limit` is the time limit for each response, not for the user.
///
/// # Errors
/// The exchange or the login failed.
pub(crate) async fn send(
    client: &HttpClient,
    login: Option<&Login>,
    request: Request<Bytes>,
    limit: Duration,
) -> Result<Response<Incoming>, HttpError> {
    let (head, body) = request.into_parts();
    let mut attempts = Attempts::begin(login).await?;
    loop {
        let mut head = head.clone();
        attempts.apply(&mut head.headers);
        let at = place(&head.uri);
        let late = |_| HttpError::Exchange(format!("{at} did not answer within {limit:?}"));
        let response = timeout(limit, client.send(Request::from_parts(head, body_of(&body)))).await.map_err(late)??;
        if !attempts.again(response.status(), response.headers()).await? {
            return Ok(response);
        }
        discard(response.into_body()).await;
    }
}

/// A body that can be sent again.
pub(crate) fn body_of(bytes: &Bytes) -> Body {
    if bytes.is_empty() { empty() } else { full(bytes.clone()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parking_lot::Mutex;

    /// Gives the tokens of a list, one for each renewal, and remembers why.
    #[derive(Default)]
    struct Tokens {
        next: Mutex<Vec<&'static str>>,
        asked: Mutex<Vec<Need>>,
        uses: Mutex<Vec<(HeaderValue, bool)>>,
    }

    impl TokenSource for Tokens {
        fn current(&self) -> TokenFuture<'_> {
            Box::pin(async { Ok(Some(HeaderValue::from_static("Bearer 0"))) })
        }

        fn renewed(&self, need: Need, _: Option<HeaderValue>) -> TokenFuture<'_> {
            self.asked.lock().push(need);
            let next = self.next.lock().pop();
            Box::pin(async move { Ok(next.map(HeaderValue::from_static)) })
        }

        fn note_use(&self, token: &HeaderValue, is_accepted: bool) {
            self.uses.lock().push((token.clone(), is_accepted));
        }
    }

    /// A token that is there after the next turn of the runtime.
    struct Slow;

    impl TokenSource for Slow {
        fn current(&self) -> TokenFuture<'_> {
            Box::pin(async {
                tokio::time::sleep(Duration::from_secs(7)).await;
                Ok(None)
            })
        }

        fn renewed(&self, _: Need, _: Option<HeaderValue>) -> TokenFuture<'_> {
            Box::pin(async { Ok(None) })
        }

        fn note_use(&self, _: &HeaderValue, _: bool) {}
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_waits_for_its_token_before_it_is_sent_says_so() {
        let login = Login::new(Arc::new(Slow), Waiting::default());
        assert!(Attempts::begin(Some(&login)).await.expect("begun").has_waited());
        assert_eq!(login.waiting().total(tokio::time::Instant::now()), Duration::from_secs(7));
        let login = Login::new(Arc::new(Tokens::default()), Waiting::default());
        assert!(!Attempts::begin(Some(&login)).await.expect("begun").has_waited());
        assert_eq!(login.waiting().total(tokio::time::Instant::now()), Duration::ZERO);
    }

    fn challenged(text: &'static str) -> HeaderMap {
        [(WWW_AUTHENTICATE, HeaderValue::from_static(text))].into_iter().collect()
    }

    fn sent(attempts: &Attempts<'_>) -> String {
        let mut headers: HeaderMap =
            [(AUTHORIZATION, HeaderValue::from_static("Bearer client's"))].into_iter().collect();
        attempts.apply(&mut headers);
        headers[AUTHORIZATION].to_str().expect("text").to_owned()
    }

    #[tokio::test]
    async fn a_request_is_repeated_with_a_refreshed_token_then_with_that_of_a_login_and_once_with_more_scopes() {
        let tokens =
            Arc::new(Tokens { next: Mutex::new(vec!["Bearer 3", "Bearer 2", "Bearer 1"]), ..Tokens::default() });
        let login = Login::new(Arc::clone(&tokens) as Arc<dyn TokenSource>, Waiting::default());
        let mut attempts = Attempts::begin(Some(&login)).await.expect("begun");
        let (refused, scopes) = (challenged("Bearer"), challenged("Bearer error=insufficient_scope, scope=w"));
        assert_eq!(sent(&attempts), "Bearer 0");
        assert!(attempts.again(StatusCode::UNAUTHORIZED, &refused).await.expect("renewed"));
        assert_eq!(sent(&attempts), "Bearer 1");
        assert!(attempts.again(StatusCode::UNAUTHORIZED, &HeaderMap::new()).await.expect("renewed"));
        assert!(attempts.again(StatusCode::FORBIDDEN, &scopes).await.expect("renewed"));
        assert_eq!(sent(&attempts), "Bearer 3");
        for status in [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN] {
            assert!(!attempts.again(status, &scopes).await.expect("given up"), "{status}");
        }
        let none = |is_second| Need::Token { challenge: Challenge::default(), is_second };
        let more = Challenge {
            scopes: Some(vec!["w".into()]),
            error: Some("insufficient_scope".into()),
            ..Challenge::default()
        };
        assert_eq!(*tokens.asked.lock(), [none(false), none(true), Need::Scopes(more)]);
        let uses: Vec<String> = tokens
            .uses
            .lock()
            .iter()
            .map(|(token, is_accepted)| format!("{} {is_accepted}", token.to_str().expect("text")))
            .collect();
        let expected = ["Bearer 0 false", "Bearer 1 false", "Bearer 2 true", "Bearer 3 false", "Bearer 3 true"];
        assert_eq!(uses, expected);
    }

    #[tokio::test]
    async fn other_refusals_and_requests_without_a_login_are_left_alone() {
        let login = Login::new(Arc::new(Tokens::default()), Waiting::default());
        let mut attempts = Attempts::begin(Some(&login)).await.expect("begun");
        assert!(!attempts.again(StatusCode::FORBIDDEN, &challenged("Bearer error=other")).await.expect("left"));
        assert!(!attempts.again(StatusCode::UNAUTHORIZED, &HeaderMap::new()).await.expect("no other token"));
        let mut without = Attempts::begin(None).await.expect("begun");
        assert_eq!(sent(&without), "Bearer client's");
        assert!(!without.again(StatusCode::UNAUTHORIZED, &challenged("Bearer")).await.expect("left"));
    }
}
