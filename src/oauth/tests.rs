//! Tests of whole logins with answers that the test makes.

use super::client::{Client, Registration, client};
use super::discovery::AuthorizationServer;
use super::*;
use oauth2::AuthorizationCode;
use parking_lot::Mutex;
use serde_json::{Value, json};
use url::Url;

/// Gives the answers of a list, in order, and remembers the requests.
#[derive(Default)]
struct Scripted {
    answers: Mutex<Vec<(u16, Value)>>,
    asked: Mutex<Vec<(String, String)>>,
}

impl Scripted {
    fn with(answers: Vec<(u16, Value)>) -> Self {
        Self { answers: Mutex::new(answers.into_iter().rev().collect()), ..Self::default() }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().iter().map(|(url, _)| url.clone()).collect()
    }

    /// A parameter of the last request.
    fn sent(&self, name: &str) -> Option<String> {
        let asked = self.asked.lock();
        let body = asked.last().expect("a request").1.clone();
        let found = url::form_urlencoded::parse(body.as_bytes()).find(|(known, _)| known == name);
        found.map(|(_, value)| value.into_owned())
    }
}

impl Exchanges for Scripted {
    fn send(&self, request: HttpRequest) -> ResponseFuture<'_> {
        let body = String::from_utf8_lossy(request.body()).into_owned();
        self.asked.lock().push((request.uri().to_string(), body));
        let (status, answer) = self.answers.lock().pop().unwrap_or((404, json!({})));
        if status == 302 {
            return Box::pin(async { Err(Unreachable("it redirects".to_owned())) });
        }
        let response = hyper::Response::builder().status(status).body(answer.to_string().into_bytes());
        Box::pin(async { Ok(response.expect("a response")) })
    }
}

const SERVER: &str = "https://mcp.example/mcp";
const ISSUER: &str = "https://auth.example/tenant";

fn url(text: &str) -> Url {
    Url::parse(text).expect("a URL")
}

fn resource() -> Value {
    json!({"resource": SERVER, "authorization_servers": ["https://first.example", ISSUER], "scopes_supported": ["a", "b"]})
}

fn issuer(identifier: &str) -> Value {
    json!({
        "issuer": identifier, "authorization_endpoint": format!("{identifier}/authorize?tenant=1"),
        "token_endpoint": format!("{identifier}/token"), "code_challenge_methods_supported": ["plain", "S256"],
        "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
        "registration_endpoint": format!("{identifier}/register"), "scopes_supported": ["offline_access"],
    })
}

async fn discovered(challenge: &Challenge, preferred: Option<&str>) -> (ProtectedServer, Vec<String>) {
    let wanted = preferred.unwrap_or("https://first.example");
    let scripted = Scripted::with(vec![(200, resource()), (404, json!({})), (200, issuer(wanted))]);
    let server = discover(&scripted, &url(SERVER), challenge, preferred).await.expect("discovered");
    (server, scripted.asked())
}

fn ours() -> Client {
    Client {
        id: "ours".to_owned(),
        secret: None,
        secret_variable: None,
        secret_in_body: false,
        registration: Registration::Dynamic,
        redirect_uri: "http://127.0.0.1:7/callback".to_owned(),
        scopes: vec!["a".to_owned()],
    }
}

async fn login() -> AuthorizationRequest {
    let (server, _) = discovered(&Challenge::default(), Some(ISSUER)).await;
    // The verifier and challenge of RFC 7636, Appendix B.
    let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk".to_owned();
    let secrets = Secrets { state: "st@te".to_owned(), verifier };
    AuthorizationRequest::new(server, ours(), vec!["a".to_owned(), "b".to_owned()], secrets).expect("a request")
}

#[tokio::test]
async fn the_authorization_server_is_the_known_one_if_it_is_still_listed() {
    let (server, asked) = discovered(&Challenge::default(), Some(ISSUER)).await;
    let expected = [
        "https://mcp.example/.well-known/oauth-protected-resource/mcp",
        "https://auth.example/.well-known/oauth-authorization-server/tenant",
        "https://auth.example/.well-known/openid-configuration/tenant",
    ];
    assert_eq!(asked, expected);
    assert_eq!((server.authorization.issuer.as_str(), server.resource.as_str()), (ISSUER, SERVER));
    assert_eq!(server.scopes, ["a", "b"]);
    assert!(server.authorization.offers_offline_access && !server.authorization.identifies_itself);
    let (server, _) = discovered(&Challenge::default(), None).await;
    assert_eq!(server.authorization.issuer, "https://first.example");
}

#[tokio::test]
async fn a_place_that_redirects_or_fails_is_passed_over() {
    let scripted = Scripted::with(vec![(302, json!({})), (200, resource()), (302, json!({})), (200, issuer(ISSUER))]);
    let server = discover(&scripted, &url(SERVER), &Challenge::default(), Some(ISSUER)).await.expect("discovered");
    assert_eq!((server.authorization.issuer.as_str(), scripted.asked().len()), (ISSUER, 4));
    let nowhere = Scripted::with(vec![(302, json!({})); 8]);
    let error = discover(&nowhere, &url(SERVER), &Challenge::default(), None).await.expect_err("nothing");
    assert_eq!(error.to_string(), "it redirects");
}

#[tokio::test]
async fn a_challenge_decides_where_the_metadata_is_and_which_scopes_count() {
    let place = "https://mcp.example/metadata";
    let challenge = Challenge {
        resource_metadata: Some(place.to_owned()),
        scopes: Some(vec!["c".to_owned()]),
        ..Challenge::default()
    };
    let (server, asked) = discovered(&challenge, None).await;
    assert_eq!((asked[0].as_str(), &server.scopes[..]), (place, &["c".to_owned()][..]));
    // A place on this machine is not asked for a server elsewhere.
    let inside = Challenge { resource_metadata: Some("http://127.0.0.1:80/admin".to_owned()), ..Challenge::default() };
    let scripted = Scripted::default();
    let refused = discover(&scripted, &url(SERVER), &inside, None).await.expect_err("refused");
    assert!(matches!(refused, OAuthError::Address { .. }) && scripted.asked().is_empty(), "{refused}");
}

#[tokio::test]
async fn a_request_has_everything_that_binds_its_response() {
    let login = login().await;
    let sent: Vec<(String, String)> = login.url().query_pairs().into_owned().collect();
    let expected = [
        ("tenant", "1"),
        ("response_type", "code"),
        ("client_id", "ours"),
        ("state", "st@te"),
        ("code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"),
        ("code_challenge_method", "S256"),
        ("redirect_uri", "http://127.0.0.1:7/callback"),
        ("scope", "a b"),
        ("resource", SERVER),
    ];
    assert_eq!(sent, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    assert!(!login.url().as_str().contains("dBjft"), "the verifier is not part of it");
}

/// What a response means, in a word.
fn meaning(answer: &Answer) -> String {
    match answer {
        Answer::Foreign(_) => "foreign".to_owned(),
        Answer::Final(Ok(code)) => code.secret().clone(),
        Answer::Final(Err(OAuthError::MixUp(_))) => "mix-up".to_owned(),
        Answer::Final(Err(OAuthError::NoIssuer(_))) => "no issuer".to_owned(),
        Answer::Final(Err(error)) => error.to_string(),
    }
}

#[tokio::test]
async fn identifiers_are_compared_as_texts_not_as_urls() {
    async fn error(resource: &str, named: &str, found: &str) -> Option<OAuthError> {
        let metadata = json!({"resource": resource, "authorization_servers": [named]});
        let about = json!({"issuer": found, "authorization_endpoint": "https://auth.example/a",
            "token_endpoint": "https://auth.example/t", "code_challenge_methods_supported": ["S256"]});
        let scripted = Scripted::with(vec![(200, metadata), (200, about)]);
        discover(&scripted, &url(SERVER), &Challenge::default(), None).await.err()
    }
    const BARE: &str = "https://auth.example";
    assert_eq!(error(SERVER, BARE, BARE).await, None);
    assert_eq!(error(SERVER, BARE, "https://auth.example/").await, None, "the slash of a bare host");
    for other in [
        "HTTPS://auth.example",
        "https://AUTH.example",
        "https://auth.example/x/..",
        "https://@auth.example",
        " https://auth.example",
        "https://auth.example//",
    ] {
        let refused = error(SERVER, BARE, other).await;
        assert!(matches!(refused, Some(OAuthError::WrongIssuer { .. })), "{other}: {refused:?}");
    }
    for other in ["https://mcp.example/x/../mcp", "https://mcp.example/%2e/mcp", "https://mcp.example/other"] {
        let refused = error(other, BARE, BARE).await;
        assert!(matches!(refused, Some(OAuthError::WrongResource { .. })), "{other}: {refused:?}");
    }
}

#[tokio::test]
async fn responses_are_checked_as_the_table_of_mcp_2026_07_28_says() {
    let login = login().await;
    let iss = "iss=https%3A%2F%2Fauth.example%2Ftenant";
    for (query, expected) in [
        ("code=c&state=st%40te".to_owned(), "c"),
        (format!("code=c&state=st%40te&{iss}"), "c"),
        ("code=c&state=st%40te&iss=https%3A%2F%2Fauth.example%2Ftenant%2F".to_owned(), "mix-up"),
        ("code=c&state=st%40te&iss=https://evil.example".to_owned(), "mix-up"),
        (format!("code=c&state=st%40te&{iss}&{iss}"), "mix-up"),
        ("error=access_denied&state=st%40te&iss=https://evil.example".to_owned(), "mix-up"),
        ("error=access_denied&state=st%40te".to_owned(), "the authorization server refused the login: access_denied"),
        (
            "state=st%40te".to_owned(),
            "the authorization server gave no token: the response to the login contains no code",
        ),
        (
            "code=c&code=d&state=st%40te".to_owned(),
            "the authorization server gave no token: the response to the login contains several codes",
        ),
        ("code=c&state=st@tE".to_owned(), "foreign"),
        ("code=c&state=".to_owned(), "foreign"),
        ("code=c".to_owned(), "foreign"),
        ("code=c&state=st%40te&state=st%40te".to_owned(), "foreign"),
        (String::new(), "foreign"),
    ] {
        assert_eq!(meaning(&login.read_answer(&query)), expected, "{query}");
    }
    let (mut server, _) = discovered(&Challenge::default(), Some(ISSUER)).await;
    server.authorization.identifies_itself = true;
    let secrets = Secrets { state: "s".to_owned(), verifier: "v".repeat(43) };
    let strict = AuthorizationRequest::new(server, ours(), Vec::new(), secrets).expect("a request");
    assert_eq!(meaning(&strict.read_answer("code=c&state=s")), "no issuer");
    assert_eq!(meaning(&strict.read_answer(&format!("code=c&state=s&{iss}"))), "c");
}

#[tokio::test]
async fn tokens_are_replaced_by_refreshing_and_end_with_the_refresh_token() {
    let token = |access: &str, more: Value| {
        let mut token = json!({"access_token": access, "token_type": "bearer"});
        token.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        (200, token)
    };
    let scripted = Scripted::with(vec![
        token("one", json!({"expires_in": 100, "refresh_token": "r1"})),
        token("two", json!({"expires_in": 100, "scope": "a"})),
        token("three", json!({"refresh_token": "r2"})),
        (400, json!({"error": "invalid_grant", "error_description": "r2 is gone"})),
    ]);
    let code = AuthorizationCode::new("c".to_owned());
    let grant = login().await.redeem(&scripted, code, 1000).await.expect("a grant");
    for (name, value) in [
        ("code", "c"),
        ("code_verifier", "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
        ("resource", SERVER),
        ("client_id", "ours"),
    ] {
        assert_eq!(scripted.sent(name).as_deref(), Some(value), "{name}");
    }
    assert_eq!((grant.expires_at, &grant.scopes[..]), (Some(1100), &["a".to_owned(), "b".to_owned()][..]));
    assert!(!grant.is_stale(1074) && grant.is_stale(1075), "a quarter of its life is left");
    assert_eq!(format!("{:?}", grant).matches("redacted").count(), 2, "debugging output shows no token");
    let grant = grant.refresh(&scripted, 2000).await.expect("refreshed");
    assert_eq!(
        (scripted.sent("refresh_token").as_deref(), scripted.sent("resource").as_deref()),
        (Some("r1"), Some(SERVER))
    );
    assert_eq!((grant.expires_at, &grant.scopes[..]), (Some(2100), &["a".to_owned()][..]));
    let grant = grant.refresh(&scripted, 3000).await.expect("refreshed");
    assert_eq!((grant.expires_at, grant.is_stale(u64::MAX)), (None, false));
    assert_eq!(grant.header().expect("a header"), "Bearer three");
    let ended = grant.refresh(&scripted, 4000).await.expect_err("ended");
    assert_eq!(ended, OAuthError::Ended("invalid_grant ([redacted] is gone)".to_owned()));
    assert!(!grant.without_refresh().can_refresh());
}

#[tokio::test]
async fn a_client_is_registered_unless_there_is_one_that_serves() {
    let (server, _) = discovered(&Challenge::default(), Some(ISSUER)).await;
    let scopes = ["a".to_owned()];
    let get = async |identity: &Identity, known: Option<&Client>, redirect: &str, scopes: &[String]| {
        let scripted = Scripted::with(vec![(201, json!({"client_id": "new", "client_secret": "s"}))]);
        let client = client(&scripted, &server.authorization, (identity, known), redirect, scopes, &[]).await;
        (client.expect("a client"), scripted.asked().len())
    };
    let (known, here) = (ours(), ours().redirect_uri);
    // It is registered with all scopes of the server, so that it can ask for them later.
    let scripted = Scripted::with(vec![(201, json!({"client_id": "new"}))]);
    let (supported, identity) = (["b".to_owned(), "a".to_owned()], (&Identity::Dynamic, None));
    let registered = client(&scripted, &server.authorization, identity, &here, &scopes, &supported).await;
    assert_eq!(registered.expect("a client").scopes, ["a", "b"]);
    let (client, requests) = get(&Identity::Dynamic, Some(&known), &here, &scopes).await;
    assert_eq!((client.id.as_str(), requests), ("ours", 0));
    for (redirect, scopes) in [("http://127.0.0.1:8/callback", &scopes[..]), (&here, &["a".to_owned(), "b".to_owned()])]
    {
        let (client, requests) = get(&Identity::Dynamic, Some(&known), redirect, scopes).await;
        assert_eq!((client.id.as_str(), requests, client.secret_in_body), ("new", 1, true));
        assert_eq!((client.redirect_uri.as_str(), &client.scopes[..]), (redirect, scopes));
    }
    let named = Identity::Registered("mine".to_owned(), None, None);
    let (client, requests) = get(&named, Some(&known), &here, &scopes).await;
    assert_eq!((client.id.as_str(), requests, client.registration), ("mine", 0, Registration::Registered));
}

#[tokio::test]
async fn a_registration_that_is_refused_says_why() {
    let refused = async |server: &AuthorizationServer, status, answer| {
        let scripted = Scripted::with(vec![(status, answer)]);
        let failed =
            client(&scripted, server, (&Identity::Dynamic, None), "http://127.0.0.1:1/callback", &[], &[]).await;
        failed.expect_err("refused").to_string()
    };
    let (server, _) = discovered(&Challenge::default(), Some(ISSUER)).await;
    let server = server.authorization;
    let answer = json!({"error": "invalid_redirect_uri", "error_description": "no\nloopback"});
    let said = refused(&server, 400, answer).await;
    assert!(said.ends_with("refused to register mcpreel: invalid_redirect_uri (no loopback)"), "{said}");
    assert!(refused(&server, 500, json!("x")).await.ends_with("HTTP 500 Internal Server Error"));
    assert!(refused(&server, 201, json!({})).await.ends_with("its response contains no client id"));
    let without = AuthorizationServer { registration_endpoint: None, ..server };
    assert!(refused(&without, 500, json!({})).await.contains("does not register clients by itself"));
}
