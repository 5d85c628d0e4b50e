//! A login whose servers answer anything: requests go only where secrets may go, errors contain no secret, and a token
//! that was accepted can be sent, stored and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpreel::testing::oauth::client::client;
use mcpreel::testing::oauth::{
    Answer, AuthorizationRequest, Challenge, Exchanges, Grant, HttpRequest, HttpResponse, Identity, OAuthError,
    ResponseFuture, Secrets, Unreachable, discover,
};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};
use url::Url;

const STATE: &str = "state-0123456789";
const REDIRECT: &str = "http://127.0.0.1:4711/callback";
const NOW: u64 = 1_700_000_000;

/// Responses, each a status and a body; then nobody can be reached.
struct Servers<'a> {
    responses: Mutex<Vec<&'a [u8]>>,
    verifier: String,
}

impl Exchanges for Servers<'_> {
    fn send(&self, request: HttpRequest) -> ResponseFuture<'_> {
        let url = Url::parse(&request.uri().to_string()).expect("a URL");
        assert!(url.scheme() == "https" && url.username().is_empty() && url.password().is_none(), "{url}");
        assert!(!url.as_str().contains(&self.verifier), "{url}");
        let response = self.responses.lock().expect("one thread").pop();
        Box::pin(async move {
            let (status, body) =
                response.and_then(|text| text.split_at_checked(3)).ok_or(Unreachable("gone".to_owned()))?;
            let mut response = HttpResponse::new(body.to_vec());
            *response.status_mut() = status.try_into().map_err(|_| Unreachable("no HTTP".to_owned()))?;
            Ok(response)
        })
    }
}

/// Runs something that never waits.
fn now<T>(future: impl Future<Output = T>) -> T {
    match std::pin::pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("nothing waits here"),
    }
}

// The first line is the challenge, the second one the query of the response to the login.
fuzz_target!(|data: &[u8]| {
    // Servers may repeat what they know. They cannot know this, in no encoding, because it depends on all of the input.
    let mut hasher = DefaultHasher::new();
    data.hash(&mut hasher);
    let verifier = format!("verifier-{:020}-0123456789-0123456789", hasher.finish());
    let mut lines: Vec<&[u8]> = data.split(|byte| *byte == b'\n').collect();
    lines.reverse();
    let (Some(challenge), Some(query)) = (lines.pop(), lines.pop()) else { return };
    let challenge = String::from_utf8_lossy(challenge);
    let challenge = Challenge::read([&*challenge]).unwrap_or_default();
    let query = String::from_utf8_lossy(query).replace("STATE", STATE);
    let servers = Servers { responses: Mutex::new(lines), verifier };
    if let Err(error) = now(log_in(&servers, &challenge, &query)) {
        let text = error.to_string();
        assert!(!text.is_empty() && !text.contains(&servers.verifier), "{text}");
    }
});

async fn log_in(servers: &Servers<'_>, challenge: &Challenge, query: &str) -> Result<(), OAuthError> {
    let server = Url::parse("https://h.example/mcp").expect("a URL");
    let found = discover(servers, &server, challenge, None).await?;
    let identity = (&Identity::Dynamic, None);
    let client = client(servers, &found.authorization, identity, REDIRECT, &found.scopes, &found.supported).await?;
    let secrets = Secrets { state: STATE.to_owned(), verifier: servers.verifier.clone() };
    let login = AuthorizationRequest::new(found.clone(), client, found.scopes.clone(), secrets)?;
    assert!(login.url().scheme() == "https" && !login.url().as_str().contains(&servers.verifier));
    let Answer::Final(code) = login.read_answer(query) else { return Ok(()) };
    assert!(query.contains(STATE) || query.contains('%'), "{query}");
    let code = code?;
    let mut grant = login.redeem(servers, code, NOW).await?;
    for _ in 0..3 {
        assert!(grant.header().is_some(), "a token that cannot be sent");
        let text = serde_json::to_string(&grant).expect("JSON");
        let again: Grant = serde_json::from_str(&text).expect("what was written");
        assert_eq!(serde_json::to_string(&again).expect("JSON"), text);
        let _ = (grant.is_stale(NOW), grant.is_stale(u64::MAX), grant.has_scopes(&found.scopes));
        grant = grant.refresh(servers, NOW).await?;
    }
    let (grant, _) = grant.clone().replacing(grant);
    grant.revoke(servers).await.map(drop)
}
