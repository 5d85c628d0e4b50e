//! Servers behind OAuth: the login, its token in every command, the tap that holds it, and attacks on both.

mod again;
mod older;
mod processes;
mod secrecy;
mod wrapping;

use crate::common::auth::{Faults, Protected};
use crate::common::socket::{Client, Tap, post};
use crate::common::web::{Asked, Reply, Web};
use crate::common::{Live, Output, Stage, finish, until};
use serde_json::{Value, json};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};
use url::Url;

/// A browser whose user agrees to everything, as soon as there is no file `hold`. It notes its command line and its
/// environment.
const BROWSER: &str = r#"
import os, sys, time, urllib.error, urllib.request
folder = os.path.dirname(__file__)
with open(os.path.join(folder, "environment"), "a") as file:
    file.write(repr(dict(os.environ)) + "\n")
with open(os.path.join(folder, "visited"), "a") as file:
    file.write(" ".join(sys.argv[1:]) + "\n")
while os.path.exists(os.path.join(folder, "hold")):
    time.sleep(0.01)
try:
    urllib.request.urlopen(sys.argv[1]).read()
except urllib.error.HTTPError:
    pass
"#;

/// A stage with a browser; returns the option that names it.
fn stage() -> (Stage, String) {
    let stage = Stage::new();
    let browser = stage.write("browser.py", BROWSER);
    let option = format!("--browser=python3 {}", browser.display());
    (stage, option)
}

fn call(stage: &Stage, method: &str, url: &str, options: &[&str]) -> Output {
    stage.run(&[&["call", method, "--format", "json", "--url", url], options].concat(), "")
}

#[track_caller]
fn succeeded(output: &Output) {
    assert_eq!(output.code(), 0, "{output:?}");
}

#[track_caller]
fn failed(output: &Output, code: i32, said: &[&str]) {
    assert_eq!(output.code(), code, "{output:?}");
    for said in said {
        assert!(output.err().contains(said), "no {said:?} in {output:?}");
    }
}

/// How often the user was asked.
fn visits(stage: &Stage) -> usize {
    std::fs::read_to_string(stage.path("visited")).unwrap_or_default().lines().count()
}

/// No secret is in any file of the stage except for the logins, nor in these outputs.
fn nothing_leaks(stage: &Stage, protected: &Protected, outputs: &[&Output]) {
    let secrets = protected.secrets();
    assert!(secrets.len() >= 3, "{secrets:?}");
    let check = |what: &str, bytes: &[u8]| {
        for secret in &secrets {
            let is_there = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!is_there, "{secret} is in {what}");
        }
    };
    let mut folders = vec![stage.path("")];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path.clone());
            } else if path.is_file() && path.file_name() != Some("logins.json".as_ref()) {
                check(&path.display().to_string(), &std::fs::read(&path).expect("a file"));
                seen += 1;
            }
            if path.extension().is_some_and(|extension| extension == "reel") {
                let events: String =
                    stage.events_of_any(&path.display().to_string()).iter().map(Value::to_string).collect();
                check(&format!("the events of {}", path.display()), events.as_bytes());
            }
        }
    }
    assert!(seen > 0);
    for output in outputs {
        check("an output", &output.stdout);
        check("an output", &output.stderr);
    }
}

#[test]
fn a_user_logs_in_once_and_every_call_has_the_token_until_the_logout() {
    let (stage, browser) = stage();
    let protected = Protected::start(Faults::default());
    let url = protected.url();
    let refused = call(&stage, "tools/list", &url, &[]);
    failed(&refused, 4, &["HTTP 401", "--login"]);

    let login = stage.run(&["login", &url, &browser], "");
    succeeded(&login);
    assert!(login.err().contains(&format!("logged in to {url} at {}", protected.authorization.url(""))), "{login:?}");
    assert!(login.stdout.is_empty());
    let story = ["/.well-known/oauth-authorization-server", "/register", "/authorize", "/token"];
    assert_eq!(protected.story(), story);
    // RFC 8707: in both requests; the authorization server has checked the verifier against its hash.
    for path in ["/authorize", "/token"] {
        let parameters = &protected.parameters(path)[0];
        assert_eq!(parameters["resource"], url, "{path}");
    }
    let asked = &protected.parameters("/authorize")[0];
    assert_eq!((asked["scope"].as_str(), asked["code_challenge_method"].as_str()), ("read", "S256"));
    assert!(asked["redirect_uri"].starts_with("http://127.0.0.1:"), "{asked:?}");
    let registered = protected.authorization.asked().into_iter().find(|asked| asked.target == "/register");
    let registered = registered.expect("registered").body;
    assert_eq!(registered["application_type"], "native");
    assert_eq!(registered["grant_types"], json!(["authorization_code", "refresh_token"]));

    let called = call(&stage, "tools/list", &url, &["--login"]);
    succeeded(&called);
    assert_eq!(called.out(), "{\"tools\":[]}\n");
    let mode = std::fs::metadata(stage.path("mcpreel/logins.json")).expect("the store").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let listed = stage.ok(&["logins"]);
    assert!(listed.out().contains(&url) && listed.out().contains("refreshed when it expires"), "{listed:?}");
    let json = stage.ok(&["logins", "-f", "json"]).json();
    assert_eq!(json["logins"][0]["resource"], url.as_str());
    assert_eq!(json["logins"][0]["registration"], "dynamic");
    assert_eq!((visits(&stage), protected.valid()), (1, (1, 1)));

    let logout = stage.run(&["logout", &url], "");
    succeeded(&logout);
    assert!(logout.err().contains("its tokens are revoked"), "{logout:?}");
    assert_eq!(protected.valid(), (0, 0));
    assert!(stage.ok(&["logins"]).out().is_empty());
    failed(&stage.run(&["logout", &url], ""), 2, &["you are not logged in"]);
    nothing_leaks(&stage, &protected, &[&refused, &login, &called, &listed, &logout]);
}

#[test]
fn a_call_logs_in_if_there_is_no_token_and_records_none() {
    let (stage, browser) = stage();
    let protected = Protected::start(Faults::default());
    let url = protected.url();
    let options = ["--login", &browser, "-v", "--record", "call.reel"];
    let called = call(&stage, "tools/list", &url, &options);
    succeeded(&called);
    let recorded: String = stage.events("call.reel").iter().map(Value::to_string).collect();
    assert!(recorded.contains("tools/list") && !recorded.to_lowercase().contains("bearer"), "{recorded}");
    succeeded(&call(&stage, "tools/call", &url, &["--login", &browser]));
    assert_eq!(visits(&stage), 1);
    // Every request has the token.
    let bare = |asked: &Asked| asked.header("authorization").is_none() && !asked.target.contains("well-known");
    assert_eq!(protected.server.asked().iter().filter(|asked| bare(asked)).count(), 1, "only the first one");
    nothing_leaks(&stage, &protected, &[&called]);
}

#[test]
fn tokens_are_refreshed_before_they_expire_and_after_they_were_revoked() {
    let (stage, browser) = stage();
    let protected = Protected::start(Faults { token: vec![("expires_in", 0.into())], ..Faults::default() });
    let url = protected.url();
    succeeded(&stage.run(&["login", &url, &browser], ""));
    // The token is about to expire.
    let called = call(&stage, "tools/list", &url, &["--login", "-v"]);
    succeeded(&called);
    assert!(called.err().contains("the token was refreshed"), "{called:?}");
    let grants: Vec<String> =
        protected.parameters("/token").iter().map(|parameters| parameters["grant_type"].clone()).collect();
    assert!(grants.len() > 1 && grants[1..].iter().all(|grant| grant == "refresh_token"), "{grants:?}");
    assert!(protected.parameters("/token").iter().all(|parameters| parameters["resource"] == url));
    protected.set(|faults| faults.token.clear());
    succeeded(&call(&stage, "tools/list", &url, &["--login"]));
    protected.revoke(false);
    succeeded(&call(&stage, "tools/list", &url, &["--login"]));
    assert_eq!(visits(&stage), 1);
    // Without its refresh token, the user logs in again, as the same client.
    protected.revoke(true);
    let again = call(&stage, "tools/list", &url, &["--login", &browser]);
    succeeded(&again);
    assert_eq!(visits(&stage), 2);
    nothing_leaks(&stage, &protected, &[&called, &again]);
}

#[test]
fn a_token_that_expires_without_notice_is_refreshed_once_it_is_refused() {
    let (stage, browser) = stage();
    let protected = Protected::start(Faults { lifetime: Some(Duration::ZERO), ..Faults::default() });
    let url = protected.url();
    succeeded(&stage.run(&["login", &url, &browser], ""));
    protected.set(|faults| faults.lifetime = None);
    succeeded(&call(&stage, "tools/list", &url, &["--login"]));
    assert_eq!(visits(&stage), 1);
}

#[test]
fn a_request_that_needs_more_scopes_gets_them_once() {
    let (stage, browser) = stage();
    let protected = Protected::start(Faults { asks_for: Some("write"), ..Faults::default() });
    let url = protected.url();
    succeeded(&call(&stage, "tools/list", &url, &["--login", &browser]));
    let called = call(&stage, "tools/call", &url, &["--login", &browser, "name=x"]);
    succeeded(&called);
    let scopes: Vec<String> =
        protected.parameters("/authorize").iter().map(|parameters| parameters["scope"].clone()).collect();
    assert_eq!(scopes, ["read", "read write"], "what was granted is not lost");
    succeeded(&call(&stage, "tools/call", &url, &["--login", &browser]));
    assert_eq!(visits(&stage), 2);
    // A server that is never satisfied.
    protected.revoke(true);
    protected.set(|faults| {
        faults.asks_for = Some("admin");
        faults.token = vec![("scope", "read".into())];
    });
    let refused = call(&stage, "tools/call", &url, &["--login", &browser]);
    let tokens = protected.parameters("/token").len();
    assert_eq!(refused.code(), 0, "the scope `write` was requested again, and is part of the token: {refused:?}");
    assert!(tokens <= 5, "{tokens} token requests");
    nothing_leaks(&stage, &protected, &[&called, &refused]);
}

#[test]
fn a_step_up_that_brings_nothing_is_not_repeated() {
    let (stage, browser) = stage();
    let protected = Protected::start(Faults { asks_for: Some("admin"), ..Faults::default() });
    let refused = call(&stage, "tools/call", &protected.url(), &["--login", &browser]);
    failed(&refused, 4, &["HTTP 403", "insufficient_scope"]);
    assert_eq!(visits(&stage), 2, "one login, one step");
}

#[test]
fn metadata_is_found_wherever_the_specification_allows_it() {
    for faults in [
        Faults { is_silent_about_metadata: true, ..Faults::default() },
        Faults { only_at: Some("/.well-known/openid-configuration"), ..Faults::default() },
        Faults { has_no_resource_metadata: true, ..Faults::default() },
        // The server's whole origin is one resource.
        Faults { resource: Some("origin".to_owned()), ..Faults::default() },
    ] {
        let (stage, browser) = stage();
        let about = format!("{faults:?}");
        let is_origin = faults.resource.is_some();
        let protected = Protected::start(faults);
        if is_origin {
            let origin = protected.server.url("");
            protected.set(|faults| faults.resource = Some(origin));
            let login = stage.run(&["login", &protected.url(), &browser], "");
            succeeded(&login);
            assert_eq!(protected.parameters("/token")[0]["resource"], protected.server.url(""));
            continue;
        }
        let called = call(&stage, "tools/list", &protected.url(), &["--login", &browser]);
        assert_eq!(called.code(), 0, "{about}: {called:?}");
    }
}

/// What a login is refused for, and the last request that the authorization server gets.
fn refusals() -> Vec<(Faults, &'static str, &'static str)> {
    let with = |name, value| Faults { metadata: vec![(name, value)], ..Faults::default() };
    let answered = |answer| Faults { answer: Some(answer), ..Faults::default() };
    let token = |reply: Reply| Faults { token_reply: Some(reply), ..Faults::default() };
    let metadata = "/.well-known/oauth-authorization-server";
    vec![
        (Faults { resource: Some("https://other.example/mcp".into()), ..Faults::default() }, "other.example", ""),
        (Faults { resource: Some("http://127.0.0.1:1/mcp".into()), ..Faults::default() }, "is for", ""),
        (with("code_challenge_methods_supported", Value::Null), "does not support PKCE with S256", metadata),
        (with("code_challenge_methods_supported", json!(["plain"])), "does not support PKCE with S256", metadata),
        (with("issuer", "https://honest.example".into()), "names another issuer", metadata),
        (with("token_endpoint", "http://192.0.2.1/token".into()), "it must use https", metadata),
        (with("authorization_endpoint", "http://192.0.2.1/".into()), "it must use https", metadata),
        (with("authorization_endpoint", "javascript:alert(1)".into()), "not an HTTP URL", metadata),
        (with("registration_endpoint", "http://192.0.2.1/".into()), "it must use https", metadata),
        (with("registration_endpoint", Value::Null), "does not register clients", metadata),
        (with("x", "y".repeat(300 << 10).into()), "longer than 256 KiB", "/.well-known/openid-configuration"),
        (Faults { only_at: Some("/nowhere"), ..Faults::default() }, "HTTP 404", "/.well-known/openid-configuration"),
        // RFC 9207: another issuer, none although there always is one, and one in an error response.
        (answered("code={code}&state={state}&iss=https://evil.example"), "another authorization server", "/authorize"),
        (answered("code={code}&state={state}"), "names no issuer", "/authorize"),
        (answered("error=x&state={state}&iss=https://evil.example"), "another authorization server", "/authorize"),
        (token(Reply::empty(307).with("Location", "/elsewhere?stolen")), "does not follow redirects", "/token"),
        (token(Reply::json(200, &json!({"token_type": "Bearer"}))), "HTTP 200 OK without `access_token`", "/token"),
        (token(Reply::json(200, &json!({"access_token": "a"}))), "HTTP 200 OK without `token_type`", "/token"),
        (token(Reply::json(400, &json!({"error": 1}))), "HTTP 400 Bad Request without an `error`", "/token"),
        (token(Reply::json(400, &json!({"error": "invalid_grant"}))), "invalid_grant", "/token"),
        (
            token(Reply::text(500, "text/plain", "oops")),
            "HTTP 500 Internal Server Error without a JSON object",
            "/token",
        ),
        (token(Reply::text(200, "application/json", "x".repeat(300 << 10))), "longer than 256 KiB", "/token"),
        (Faults { token: vec![("token_type", "DPoP".into())], ..Faults::default() }, "not a bearer token", "/token"),
        (Faults { token: vec![("access_token", "a\nb".into())], ..Faults::default() }, "cannot have", "/token"),
        (Faults { token: vec![("access_token", "a b".into())], ..Faults::default() }, "cannot have", "/token"),
        (Faults { token: vec![("access_token", "".into())], ..Faults::default() }, "is empty", "/token"),
        (
            with("token_endpoint_auth_methods_supported", json!(["private_key_jwt"])),
            "only by private_key_jwt",
            metadata,
        ),
    ]
}

#[test]
fn what_is_not_safe_is_refused_before_anything_secret_is_sent() {
    for (faults, said, last) in refusals() {
        let (stage, browser) = stage();
        let about = format!("{said}: {faults:?}").chars().take(300).collect::<String>();
        let protected = Protected::start(faults);
        let login = stage.run(&["login", &protected.url(), &browser], "");
        assert_eq!(login.code(), 4, "{about}: {login:?}");
        assert!(login.err().contains(said), "{about}: {login:?}");
        assert!(!login.err().contains("stolen"), "{about}: {login:?}");
        assert_eq!(protected.story().last().map_or("", String::as_str), last, "{about}");
        assert!(!stage.path("mcpreel/logins.json").exists(), "{about}");
        for secret in protected.secrets() {
            assert!(!login.err().contains(&secret), "{about}: {secret}");
        }
    }
}

#[test]
fn a_user_who_refuses_is_reported_without_what_others_could_hide_in_it() {
    let (stage, browser) = stage();
    let answer = "error=access_denied&error_description=no%0Away%1b%5B31m&state={state}";
    let faults = Faults { answer: Some(answer), ..Faults::default() };
    let protected = Protected::start(faults);
    protected.set(|faults| faults.metadata = vec![("authorization_response_iss_parameter_supported", false.into())]);
    let login = stage.run(&["login", &protected.url(), &browser], "");
    failed(&login, 4, &["refused the login: access_denied (no way␛[31m)"]);
}

#[test]
fn an_error_does_not_repeat_a_code_or_verifier() {
    let (stage, _) = stage();
    let protected = Protected::start(Faults::default());
    // The authorization server repeats what it got.
    let browser = stage.write(
        "echo.py",
        "import sys, urllib.request as u, urllib.error as e\ntry:\n    u.urlopen(sys.argv[1])\nexcept e.HTTPError: pass\n",
    );
    let echo = Web::start(|asked| {
        let verifier = asked.text.split('&').find_map(|pair| pair.strip_prefix("code_verifier="));
        let code = asked.text.split('&').find_map(|pair| pair.strip_prefix("code="));
        let said = format!("bad {} for {}", code.unwrap_or("?"), verifier.unwrap_or("?"));
        Reply::json(400, &json!({"error": "invalid_request", "error_description": said}))
    });
    protected.set(|faults| faults.metadata = vec![("token_endpoint", echo.url("/token").into())]);
    let option = format!("--browser=python3 {}", browser.display());
    let login = stage.run(&["login", &protected.url(), &option], "");
    failed(&login, 4, &["invalid_request (bad [redacted] for [redacted])"]);
}

#[test]
fn a_token_for_another_audience_is_refused_and_the_user_is_not_asked_forever() {
    let (stage, browser) = stage();
    let protected = Protected::start(Faults { audience: Some("https://other.example/mcp"), ..Faults::default() });
    let refused = call(&stage, "tools/list", &protected.url(), &["--login", &browser]);
    failed(&refused, 4, &["HTTP 401", "does not accept the token of your login"]);
    assert_eq!(visits(&stage), 1);
    nothing_leaks(&stage, &protected, &[&refused]);
}

#[test]
fn clients_may_be_registered_beforehand_with_a_secret_or_a_document() {
    for (method, secret) in
        [("client_secret_basic", Some("p:a ss%")), ("client_secret_post", Some("p:a ss%")), ("none", None)]
    {
        let (stage, browser) = stage();
        let protected = Protected::start(Faults { auth_method: Some(method), ..Faults::default() });
        let port = free_port().to_string();
        protected.register(
            "my-client",
            secret.map(encoded_if_basic(method)),
            &format!("http://127.0.0.1:{port}/callback"),
        );
        let url = protected.url();
        let mut words = vec!["login", &url, &browser, "--client-id", "my-client", "--port", &port];
        words.extend(secret.iter().flat_map(|_| ["--client-secret-env", "MY_SECRET"]));
        let mut command = stage.mcpreel(&words);
        command.envs(secret.map(|secret| ("MY_SECRET", secret)));
        let login = finish(command, Vec::new());
        assert_eq!(login.code(), 0, "{method}: {login:?}");
        assert!(!protected.story().iter().any(|path| path == "/register"));
        // The client is used again for more scopes, at the same port.
        protected.set(|faults| faults.asks_for = Some("write"));
        succeeded(&call(&stage, "tools/call", &url, &["--login", &browser]));
        assert!(!protected.story().iter().any(|path| path == "/register"));
        nothing_leaks(&stage, &protected, &[&login]);
        let environment = String::from_utf8(stage.read("environment")).expect("text");
        assert!(environment.contains("XDG_STATE_HOME") && !environment.contains("MY_SECRET"), "{environment}");
    }
}

/// In Basic credentials, id and secret are encoded like form data (RFC 6749 §2.3.1).
fn encoded_if_basic(method: &str) -> impl Fn(&str) -> &str {
    let is_basic = method == "client_secret_basic";
    move |secret| if is_basic { "p%3Aa+ss%25" } else { secret }
}

#[test]
fn a_client_may_be_a_metadata_document_if_the_authorization_server_reads_it() {
    let (stage, browser) = stage();
    let protected = Protected::start(Faults::default());
    let (url, id) = (protected.url(), "https://app.example/client.json");
    let port = free_port().to_string();
    let words = ["login", &url, &browser, "--client-id", id, "--port", &port];
    failed(&stage.run(&words, ""), 4, &["does not support client id metadata documents"]);
    protected.set(|faults| faults.metadata = vec![("client_id_metadata_document_supported", true.into())]);
    protected.register(id, None, &format!("http://127.0.0.1:{port}/callback"));
    succeeded(&stage.run(&words, ""));
    assert_eq!(stage.ok(&["logins", "-f", "json"]).json()["logins"][0]["registration"], "document");
}

fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port()
}

/// A login that waits for its response.
struct Waiting {
    live: Live,
    /// The address of the login page.
    page: Url,
    /// The redirect address.
    address: SocketAddr,
    state: String,
}

fn waiting(stage: &Stage, url: &str, options: &[&str]) -> Waiting {
    let live = stage.start(&[&["login", url, "--no-browser"], options].concat());
    let printed = until("the URL is printed", || {
        let said = live.stderr_so_far();
        let (_, rest) = said.split_once(", open ")?;
        rest.split_once('\n').map(|(url, _)| url.to_owned())
    });
    let page = Url::parse(&printed).expect("a URL");
    let of = |wanted: &str| {
        let found = page.query_pairs().find(|(name, _)| name == wanted);
        found.unwrap_or_else(|| panic!("no {wanted} in {page}")).1.into_owned()
    };
    let redirect = Url::parse(&of("redirect_uri")).expect("a URL");
    assert_eq!(redirect.path(), "/callback");
    let address = format!("127.0.0.1:{}", redirect.port().expect("a port")).parse().expect("an address");
    let state = of("state");
    Waiting { live, page, address, state }
}

/// The code that the authorization server gives if the user agrees. The redirect is not followed.
fn agreed(page: &Url) -> String {
    let mut client = Client::connect(page.socket_addrs(|| None).expect("an address")[0]);
    client.get(&page[url::Position::BeforePath..]);
    let head = client.head().expect("a response");
    let location = Url::parse(head.header("location").expect("a redirect")).expect("a URL");
    location.query_pairs().find(|(name, _)| name == "code").expect("a code").1.into_owned()
}

/// The status of a response to this request line and these headers.
fn status(address: SocketAddr, line: &str, headers: &[(&str, &str)]) -> u16 {
    asked(address, line, headers).0
}

/// The status and the text of a response to this request line and these headers.
fn asked(address: SocketAddr, line: &str, headers: &[(&str, &str)]) -> (u16, String) {
    let mut client = Client::connect(address);
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    client.send(format!("{line} HTTP/1.1\r\n{headers}\r\n"));
    let reply = client.reply();
    (reply.status, reply.body)
}

/// What the user reads on a page of the redirect address, which must consist of one paragraph.
#[track_caller]
fn paragraph(page: &str) -> &str {
    let text = page.split_once("<p>").and_then(|(_, rest)| rest.split_once("</p></html>\n"));
    text.filter(|(text, rest)| !text.contains('<') && rest.is_empty())
        .unwrap_or_else(|| panic!("not one paragraph: {page:?}"))
        .0
}

#[test]
fn the_redirect_address_takes_one_response_with_its_state_and_no_other() {
    let (stage, _) = stage();
    let protected = Protected::start(Faults::default());
    let Waiting { live, page, address, state } = waiting(&stage, &protected.url(), &[]);
    let host = address.to_string();
    let here = [("Host", host.as_str())];
    let iss = protected.authorization.url("");
    let right = format!("/callback?code=forged&state={state}&iss={iss}");
    let (none, other) = ("It has no state.", "Its state is that of another login.");
    let (nothing, host_only) = ("There is nothing at this address.", "The request names another host");
    for (line, headers, expected) in [
        ("GET /callback".to_owned(), &here[..], (400, none)),
        ("GET /callback?code=c".to_owned(), &here, (400, none)),
        ("GET /callback?code=c&state=wrong".to_owned(), &here, (400, other)),
        ("GET /callback?code=c&state=%3Cscript%3E&error_description=%3Cb%3E".to_owned(), &here, (400, other)),
        (format!("GET /callback?code=c&state={}", &state[1..]), &here, (400, other)),
        (format!("GET /callback?code=c&state={state}x"), &here, (400, other)),
        (format!("GET /callback?code=c&state={state}&state={state}"), &here, (400, other)),
        (format!("GET /callback?code=c&state={state}&state=other"), &here, (400, other)),
        (format!("GET /callback?error=access_denied&state=wrong&iss={iss}"), &here, (400, other)),
        (format!("POST {right}"), &here, (405, "Only GET requests are accepted here.")),
        (format!("GET /{}", &right[1 + "callback".len()..]), &here, (404, nothing)),
        ("GET /favicon.ico".to_owned(), &here, (404, nothing)),
        // A name that leads to this machine (DNS rebinding), another port, no name, two names.
        (format!("GET {right}"), &[("Host", "evil.example")], (403, host_only)),
        (format!("GET {right}"), &[("Host", "evil.example:80"), ("Origin", "http://127.0.0.1")], (403, host_only)),
        (format!("GET {right}"), &[("Host", "127.0.0.1:1")], (403, host_only)),
        (format!("GET {right}"), &[("Host", "127.0.0.1")], (403, host_only)),
        (format!("GET {right}"), &[("Host", "192.168.0.1")], (403, host_only)),
        (format!("GET {right}"), &[], (403, host_only)),
        (format!("GET {right}"), &[("Host", &host), ("Host", "evil.example")], (403, host_only)),
        (format!("GET http://evil.example{right}"), &here, (403, host_only)),
    ] {
        let (status, page) = asked(address, &line, headers);
        assert_eq!((status, page.is_empty()), (expected.0, false), "{line} {headers:?}");
        assert!(paragraph(&page).contains(expected.1), "{line} {headers:?}: {page}");
    }
    assert_eq!(status(address, &format!("HEAD {right}"), &here), 405);
    assert!(!protected.story().contains(&"/token".to_owned()), "nothing of it was believed");
    // What a browser sends after the login: a navigation that comes from the authorization server's page.
    let mut browser = Client::connect(address);
    let code = agreed(&page);
    browser.send(format!(
        "GET /callback?code={code}&state={state}&iss={iss} HTTP/1.1\r\nHost: {host}\r\nOrigin: null\r\n\
         Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n\r\n"
    ));
    let (head, reply) = browser.head_and_reply();
    assert_eq!((head.status(), head.header("cache-control")), (200, Some("no-store")));
    assert_eq!(paragraph(&reply.body), "mcpreel has logged in. You can close this page.");
    assert!(head.header("content-security-policy").is_some_and(|policy| policy.starts_with("default-src 'none'")));
    assert_eq!((head.header("referrer-policy"), head.header("connection")), (Some("no-referrer"), Some("close")));
    let login = live.end();
    succeeded(&login);
    assert!(TcpStream::connect(address).is_err(), "the listener is closed");
    nothing_leaks(&stage, &protected, &[&login]);
}

#[test]
fn a_response_counts_once() {
    let (stage, _) = stage();
    // The token endpoint does not answer, so that the login is still running.
    let faults = Faults { token_reply: Some(Reply::silent()), ..Faults::default() };
    let protected = Protected::start(faults);
    let Waiting { live, address, state, .. } = waiting(&stage, &protected.url(), &[]);
    let line = format!("GET /callback?code=c&state={state}&iss={}", protected.authorization.url(""));
    let host = address.to_string();
    // A connection that was open before, with the same response.
    let mut second = Client::connect(address);
    second.send(format!("{line} HTTP/1.1\r\n"));
    let mut first = Client::connect(address);
    first.send(format!("{line} HTTP/1.1\r\nHost: {host}\r\n\r\n"));
    until("the code is exchanged", || protected.story().contains(&"/token".to_owned()).then_some(()));
    second.send(format!("Host: {host}\r\n\r\n"));
    let replayed = second.reply();
    assert_eq!((replayed.status, paragraph(&replayed.body)), (400, "This login is already over. Nothing was done."));
    assert!(TcpStream::connect(address).is_err(), "the listener is closed");
    assert_eq!(protected.parameters("/token").len(), 1);
    let shown = first.reply();
    let unknown = "mcpreel's terminal will show whether the login succeeded.";
    assert_eq!((shown.status, paragraph(&shown.body)), (200, unknown));
    live.signal("KILL");
}

#[test]
fn a_page_says_that_the_login_failed_but_not_what_others_say_about_it() {
    let (stage, _) = stage();
    let protected = Protected::start(Faults::default());
    let iss = protected.authorization.url("");
    for (query, said) in [
        (format!("error=access_denied&error_description=%3Cb%3Eno&iss={iss}"), "access_denied (<b>no)"),
        ("code=c&iss=https://evil.example".to_owned(), "came from another authorization server"),
        ("code=c".to_owned(), "names no issuer"),
    ] {
        let Waiting { live, address, state, .. } = waiting(&stage, &protected.url(), &[]);
        let line = format!("GET /callback?state={state}&{query}");
        let (status, page) = asked(address, &line, &[("Host", &address.to_string())]);
        let expected = (400, "The login failed. mcpreel shows the reason in its terminal.");
        assert_eq!((status, paragraph(&page)), expected, "{query}");
        failed(&live.end(), 4, &[said]);
    }
    assert!(!protected.story().contains(&"/token".to_owned()), "nobody got a code");
}

#[test]
fn a_login_that_nobody_answers_ends_with_its_time() {
    let (stage, _) = stage();
    let protected = Protected::start(Faults::default());
    let Waiting { live, address, .. } = waiting(&stage, &protected.url(), &["--timeout", "1s"]);
    failed(&live.end(), 5, &["nobody logged in within 1s"]);
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn a_code_of_another_login_is_not_accepted_by_the_authorization_server() {
    // An attacker who knows the state brings in a code of his own: PKCE binds codes to the login.
    let (stage, _) = stage();
    let protected = Protected::start(Faults::default());
    let Waiting { live, page, address, state } = waiting(&stage, &protected.url(), &[]);
    let mut attackers = page.clone();
    let others = page.query_pairs().map(|(name, value)| {
        let value = if name == "code_challenge" { "A".repeat(43) } else { value.into_owned() };
        (name.into_owned(), value)
    });
    let others: Vec<(String, String)> = others.collect();
    attackers.query_pairs_mut().clear().extend_pairs(others);
    let stolen = agreed(&attackers);
    let line = format!("GET /callback?code={stolen}&state={state}&iss={}", protected.authorization.url(""));
    let (status, page) = asked(address, &line, &[("Host", &address.to_string())]);
    assert_eq!((status, paragraph(&page)), (400, "The login failed. mcpreel shows the reason in its terminal."));
    let login = live.end();
    failed(&login, 4, &["invalid_grant"]);
    assert!(!login.err().contains(&stolen));
}

#[test]
fn the_tap_holds_the_token_and_two_clients_see_an_open_server() {
    let (stage, browser) = stage();
    let protected = Protected::start(Faults::default());
    let url = protected.url();
    let tap = Tap::in_front_of(&stage, &url, &["--login", &browser]);
    assert_eq!(visits(&stage), 1, "the login is over before clients come");
    let open = format!("http://{}/mcp", tap.address);
    succeeded(&call(&stage, "tools/list", &open, &[]));
    // The token is revoked meanwhile; the next client does not notice. Its own credentials go nowhere.
    protected.revoke(false);
    succeeded(&call(&stage, "tools/call", &open, &["-H", "Authorization: Bearer of-the-client"]));
    assert!(protected.server.asked().iter().all(|asked| asked.header("authorization") != Some("Bearer of-the-client")));
    // Nothing tells clients to log in.
    for metadata in [
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-authorization-server/mcp",
        "/mcp/.well-known/openid-configuration",
    ] {
        assert_eq!(
            status(tap.address, &format!("GET {metadata}"), &[("Host", &tap.address.to_string())]),
            404,
            "{metadata}"
        );
    }
    // The checks of a listener stay.
    let list = format!("GET {}", "/mcp");
    assert_eq!(status(tap.address, &list, &[("Host", "evil.example")]), 403);
    assert_eq!(
        status(tap.address, &list, &[("Host", &tap.address.to_string()), ("Sec-Fetch-Site", "cross-site")]),
        403
    );
    let events = tap.end();
    let recorded: String = events.iter().map(Value::to_string).collect();
    assert!(recorded.contains("tools/call"), "{recorded}");
    let again: Vec<&Value> = events.iter().filter(|event| event["data"]["what"] == "sent again").collect();
    assert_eq!(again.len(), 1, "{again:?}");
    assert_eq!(again[0]["data"]["status"], 401);
    let authorizations: Vec<&Value> = events
        .iter()
        .flat_map(|event| event["data"]["headers"].as_array().into_iter().flatten())
        .filter(|header| header[0] == "authorization")
        .collect();
    assert!(authorizations.iter().all(|header| header[1] == "Bearer [redacted]"), "{authorizations:?}");
    assert_eq!(visits(&stage), 1);
    nothing_leaks(&stage, &protected, &[]);
}

#[test]
fn requests_of_the_tap_itself_have_the_token_too() {
    let (stage, browser) = stage();
    let protected = Protected::start(Faults::default());
    let tap = Tap::in_front_of(&stage, &protected.url(), &["--login", &browser, "--label", "door"]);
    let initialize = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
    assert_eq!(post(tap.address, "", initialize).status, 200);
    protected.revoke(false);
    // Injected by another process, without a request of the client.
    let injected =
        stage.run(&["fire", "raw", "--session", "door#1", r#"{"jsonrpc":"2.0","id":"i","method":"ping"}"#], "");
    succeeded(&injected);
    let pings =
        protected.server.asked().into_iter().filter(|asked| asked.body["id"] == "i" || asked.method() == "ping");
    assert!(pings.clone().all(|ping| ping.header("authorization").is_some()) || pings.count() > 1);
    tap.end();
    nothing_leaks(&stage, &protected, &[&injected]);
}

#[test]
fn without_a_login_the_tap_passes_401_on_and_reports_what_to_do() {
    let (stage, _) = stage();
    let protected = Protected::start(Faults::default());
    let tap = Tap::in_front_of(&stage, &protected.url(), &[]);
    let mut client = Client::connect(tap.address);
    client.post("", r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    let (head, reply) = client.head_and_reply();
    let metadata = protected.server.url("/.well-known/oauth-protected-resource/mcp");
    assert_eq!(head.status(), 401);
    assert_eq!(head.header("www-authenticate"), Some(&*format!("Bearer resource_metadata=\"{metadata}\"")));
    assert_eq!(reply.body, r#"{"error":"invalid_token"}"#);
    let said = until("it is reported", || {
        let said = String::from_utf8(stage.read("reported")).expect("text");
        said.contains("--login").then_some(said)
    });
    assert!(said.contains("clients cannot log in through this address"), "{said}");
    tap.end();
}

#[test]
fn a_stdio_client_is_logged_in_by_the_tap() {
    let (stage, browser) = stage();
    let protected = Protected::start(Faults::default());
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let answer = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}";
    let words = ["record", "--url", &protected.url(), "--login", &browser, "-o", "stdio.reel", "--force"];
    let mut live = stage.start(&words);
    live.write(format!("{ping}\n"));
    assert_eq!(live.line(), answer);
    let tapped = live.end();
    succeeded(&tapped);
    // A client that is logged in may close its input at once.
    let piped = stage.run(&words, format!("{ping}\n"));
    succeeded(&piped);
    assert_eq!(piped.out(), format!("{answer}\n"));
    nothing_leaks(&stage, &protected, &[&tapped, &piped]);
}

/// Waits for the end, which must come within five seconds.
#[track_caller]
fn ended_at_once(live: Live, is_stdin_open: bool) -> Output {
    let began = Instant::now();
    let ended = if is_stdin_open { live.end_with_open_stdin() } else { live.end() };
    assert!(began.elapsed() < Duration::from_secs(5), "{ended:?}");
    ended
}

#[test]
fn a_stdio_client_that_leaves_during_the_login_ends_the_tap_at_once() {
    let (stage, browser) = stage();
    stage.write("hold", "");
    let protected = Protected::start(Faults::default());
    let url = protected.url();
    let words = ["record", "--url", &url, "--login", &browser, "-o", "stdio.reel", "--force"];
    let begun = |visits_before: usize| {
        let live = stage.start(&words);
        until("the login page is open", || (visits(&stage) > visits_before).then_some(()));
        live
    };
    let terminated = begun(0);
    terminated.signal("TERM");
    succeeded(&ended_at_once(terminated, true));
    let left = begun(1);
    succeeded(&ended_at_once(left, false));
    let kinds: Vec<Value> = stage.events("stdio.reel").iter().map(|event| event["event"].clone()).collect();
    assert_eq!(kinds.last(), Some(&json!("stream-closed")), "{kinds:?}");
}

#[test]
fn a_login_that_fails_is_explained_and_not_tried_again_for_a_minute() {
    let (stage, browser) = stage();
    let protected = Protected::start(Faults::default());
    let url = protected.url();
    let steps = stage.run(&["login", &url, &browser, "-v"], "");
    succeeded(&steps);
    let issuer = protected.authorization.url("");
    for step in ["POST {issuer}/register → 201", "POST {issuer}/token → 200"] {
        assert!(steps.err().contains(&format!("OAuth: {}", step.replace("{issuer}", &issuer))), "{steps:?}");
    }
    failed(&stage.run(&["logout"], ""), 2, &["--all"]);
    // The server refuses all tokens from now on.
    protected.revoke(true);
    let call = stage.start(&["call", "tools/list", "--url", &url, "--login", "--no-browser"]);
    until("the login page is printed", || call.stderr_so_far().contains(", open ").then_some(()));
    let listed = stage.ok(&["logins"]);
    assert!(listed.out().contains("refused by the server; log in again"), "{listed:?}");
    assert_eq!(stage.ok(&["logins", "-f", "json"]).json()["logins"][0]["refused"], true);
    call.signal("KILL");
    nothing_leaks(&stage, &protected, &[&steps, &listed]);
}

#[test]
fn every_command_with_a_server_logs_in() {
    let (stage, browser) = stage();
    let protected = Protected::start(Faults::default());
    let url = protected.url();
    let recorded = call(&stage, "tools/list", &url, &["--login", &browser, "--record", "r.reel"]);
    succeeded(&recorded);
    let replayed = stage.run(&["replay", "r.reel", "--url", &url, "--login"], "");
    succeeded(&replayed);
    let raw = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;
    succeeded(&stage.run(&["fire", "raw", raw, "--url", &url, "--login"], ""));
    let local = json!({"command": crate::common::binary(), "args": ["serve"]});
    let servers = json!({"mcpServers": {"remote": {"type": "http", "url": url}, "local": local}});
    stage.write(".mcp.json", servers.to_string());
    // Several servers, of which one is started and needs no login.
    let words = ["host", "--config", ".mcp.json", "--server", "remote", "--server", "local", "--login"];
    let host = stage.run(&[&words[..], &["--record", "host.reel"]].concat(), "/quit\n");
    succeeded(&host);
    succeeded(&stage.run(&["call", "tools/list", "--config", ".mcp.json", "--server", "remote", "--login"], ""));
    assert_eq!(visits(&stage), 1);
    nothing_leaks(&stage, &protected, &[&recorded, &replayed, &host]);
}

#[test]
fn a_login_is_refused_where_a_token_would_be_in_danger() {
    let (stage, browser) = stage();
    let url = "https://host.example/mcp";
    for (words, said) in [
        (&["login", "http://host.example/mcp"][..], "would be sent unencrypted"),
        (&["login", "ws://127.0.0.1/mcp"], "not an HTTP URL"),
        (&["login", "nonsense"], "cannot log in at"),
        (&["call", "ping", "--login", "--url", "http://host.example/mcp"], "would be sent unencrypted"),
        (&["call", "ping", "--login", "--url", "wss://host.example/mcp"], "not an HTTP URL"),
        (&["call", "ping", "--login", "--url", "unix:/tmp/x"], "not an HTTP URL"),
        (&["call", "ping", "--login", "--insecure", "--url", url], "--login cannot be used with --insecure"),
        (&["call", "ping", "--login", "-H", "authorization: x", "--url", url], "cannot be used with a header"),
        (&["call", "ping", "--no-browser", "--url", url], "has no effect without --login"),
        (&["call", "ping", "--login", "--", "no-such-server"], "--login cannot be used with a server's command"),
        (
            &["record", "--login", "--listen", "0.0.0.0:0", "--url", "http://127.0.0.1:9/mcp"],
            "other machines could use",
        ),
        (&["login", url, "--client-id", "c", "--client-secret-env", "UNSET"], "UNSET is not set"),
        (&["login", url, "--client-id", "http://app.example/c"], "must use https"),
        (&["login", url, "--client-id", "https://app.example/"], "must have a path"),
        (&["login", url, "--client-id", "https://app.example/c#d"], "must not contain a fragment"),
        (&["login", url, "--client-id", "https://u:p@app.example/c"], "must not contain a user name"),
        (&["login", url, "--client-id", "https://app.example/a/../c"], "must not contain the path segments"),
    ] {
        failed(&stage.run(words, ""), 2, &[said]);
    }
    assert!(stage.run(&["login", url, &browser, "--no-browser"], "").code() == 2, "they contradict each other");
    // A file that others can read is not used.
    let protected = Protected::start(Faults::default());
    succeeded(&stage.run(&["login", &protected.url(), &browser], ""));
    let store = stage.path("mcpreel/logins.json");
    std::fs::set_permissions(&store, std::fs::Permissions::from_mode(0o644)).expect("set");
    failed(&call(&stage, "ping", &protected.url(), &["--login"]), 4, &["chmod 600"]);
    failed(&stage.run(&["logins"], ""), 3, &["chmod 600"]);
}

#[test]
fn a_token_is_not_sent_to_another_origin() {
    let (stage, browser) = stage();
    let protected = Protected::start(Faults::default());
    succeeded(&stage.run(&["login", &protected.url(), &browser], ""));
    let thief = Web::start(|asked| Reply::result(asked, json!({})));
    let target = thief.url("/mcp");
    // The server's own address, but a redirect to a stranger.
    protected.set(move |faults| faults.redirects_to = Some(target.clone()));
    call(&stage, "tools/list", &protected.url(), &["--login"]);
    assert!(!thief.asked().is_empty());
    assert!(thief.asked().iter().all(|asked| asked.header("authorization").is_none()), "{:?}", thief.asked());
}

#[test]
fn the_login_of_a_shell_is_found_in_a_clients_environment() {
    let (stage, browser) = stage();
    let protected = Protected::start(Faults::default());
    let url = protected.url();
    let run = |words: &[&str], with_state: bool| {
        let mut command = stage.mcpreel(words);
        command.env_remove("MCPREEL_HOME");
        if !with_state {
            command.env_remove("XDG_STATE_HOME");
        }
        finish(command, Vec::new())
    };
    // The shell has recorded something, so its folder of reels is known.
    succeeded(&run(&["call", "tools/list", "--url", &url, "--login", &browser, "--record", "x.reel"], true));
    succeeded(&run(&["demo"], true));
    assert!(Path::new(&stage.path("state/mcpreel/logins.json")).exists());
    succeeded(&run(&["call", "tools/list", "--url", &url, "--login"], false));
    assert_eq!(visits(&stage), 1);
}
