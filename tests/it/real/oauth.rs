//! Logins at the authorization servers of the official SDKs, and their clients behind a tap that holds the token.

use super::{Stage as Peers, free_port, listens};
use crate::common::socket::{Client, Tap};
use crate::common::{Live, Output, Stage, until};
use serde_json::Value;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::time::{SystemTime, UNIX_EPOCH};

/// A user who agrees to everything.
const BROWSER: &str =
    "import sys, urllib.request; urllib.request.urlopen(sys.argv[1]).read(); open('visited', 'a').write('.')";

/// A protected server, and a stage with a browser.
struct Scene {
    stage: Stage,
    peers: Peers,
    port: u16,
    url: String,
    tool: &'static str,
    arguments: &'static str,
    browser: String,
    _server: Live,
}

impl Scene {
    /// The demonstration server of the TypeScript SDK, which accepts only tokens that are for it.
    fn typescript() -> Self {
        let peers = Peers::new();
        let (port, auth_port) = (free_port(), free_port());
        let program = "node_modules/@modelcontextprotocol/sdk/dist/esm/examples/server/simpleStreamableHttp.js";
        let words: Vec<OsString> = vec![
            "node".into(),
            "--import".into(),
            peers.peers.scripts.join("other_audience.mjs").into(),
            peers.peers.installed(program).into(),
            "--oauth".into(),
            "--oauth-strict".into(),
        ];
        let stage = Stage::new();
        let mut command = peers.command(&words);
        command.env("OTHER_AUDIENCE", stage.path("other-audience"));
        command.env("MCP_PORT", port.to_string()).env("MCP_AUTH_PORT", auth_port.to_string());
        let server = Live::start(command);
        until("the authorization server listens", || listens(auth_port).then_some(()));
        Self::with((peers, stage), server, &format!("http://localhost:{port}/mcp"), ("greet", r#"{"name":"Ann"}"#))
    }

    /// A server of the Python SDK of this generation.
    fn python(venv: &str, variables: &[(&str, &str)]) -> Self {
        let peers = Peers::new();
        let port = free_port();
        let script = peers.peers.scripts.join("auth_server.py");
        let path = if variables.contains(&("SSE", "yes")) { "sse" } else { "mcp" };
        let words = [peers.peers.python(venv).into(), script.into(), port.to_string().into()];
        let mut command = peers.command(&words);
        command.envs(variables.iter().copied());
        let server = Live::start(command);
        let url = format!("http://127.0.0.1:{port}/{path}");
        Self::with((peers, Stage::new()), server, &url, ("echo", r#"{"message":"hi"}"#))
    }

    fn with((peers, stage): (Peers, Stage), server: Live, url: &str, call: (&'static str, &'static str)) -> Self {
        let url = url.to_owned();
        let port = url::Url::parse(&url).expect("a URL").port().expect("a port");
        until("the server listens", || listens(port).then_some(()));
        let browser = stage.write("browser.py", BROWSER);
        let browser = format!("--browser=python3 {}", browser.display());
        Self { stage, peers, port, url, tool: call.0, arguments: call.1, browser, _server: server }
    }

    fn call(&self, options: &[&str]) -> Output {
        let (name, arguments) = (format!("name={}", self.tool), format!("arguments:={}", self.arguments));
        let words =
            ["call", "tools/call", &name, &arguments, "--url", &self.url, "--login", &self.browser, "--format", "json"];
        self.stage.run(&[&words[..], options].concat(), "")
    }

    #[track_caller]
    fn calls(&self, options: &[&str]) -> Output {
        let called = self.call(options);
        assert!(called.code() == 0 && called.out().contains("\"text\""), "{called:?}");
        called
    }

    /// How often the user was asked.
    fn visits(&self) -> usize {
        std::fs::read(self.stage.path("visited")).unwrap_or_default().len()
    }

    /// Has the server of the Python SDK do something to its tokens.
    fn order(&self, path: &str) {
        let address: SocketAddr = ([127, 0, 0, 1], self.port).into();
        let mut client = Client::connect(address);
        client.send(format!("POST /test/{path} HTTP/1.1\r\nHost: {address}\r\nContent-Length: 0\r\n\r\n"));
        assert_eq!(client.head().expect("a response").status(), 200);
    }

    /// The tokens in the store.
    fn tokens(&self) -> Vec<String> {
        let store: Value = serde_json::from_slice(&self.stage.read("mcpreel/logins.json")).expect("JSON");
        let logins = store["logins"].as_array().expect("logins").clone();
        let of = |name: &'static str| logins.iter().filter_map(move |login| login[name].as_str().map(str::to_owned));
        let tokens: Vec<String> = of("access_token").chain(of("refresh_token")).collect();
        assert!(!tokens.is_empty());
        tokens
    }

    /// The seconds until the token expires.
    fn expires(&self) -> i64 {
        let store: Value = serde_json::from_slice(&self.stage.read("mcpreel/logins.json")).expect("JSON");
        let at = store["logins"][0]["expires_at"].as_i64().expect("a time");
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
        at - i64::try_from(now).expect("a time")
    }

    /// A tap with the login, and a client of each SDK behind it.
    fn tapped(&self) {
        let tap = Tap::in_front_of(&self.stage, &self.url, &["--login", &self.browser]);
        let open = format!("http://{}/mcp", tap.address);
        let scripts = &self.peers.peers.scripts;
        for client in [
            vec![OsString::from("node"), scripts.join("list_tools.mjs").into()],
            vec![self.peers.peers.python("py1").into(), scripts.join("list_tools.py").into()],
        ] {
            let words = [&client[..], &[open.clone().into(), self.tool.into(), self.arguments.into()]].concat();
            let finished = self.peers.run(&words);
            assert_eq!(finished.code(), 0, "{}", finished.errors());
            let printed = String::from_utf8_lossy(&finished.stdout).into_owned();
            assert!(printed.starts_with("true "), "{printed}");
        }
        let recorded: String = tap.end().iter().map(Value::to_string).collect();
        assert!(recorded.contains("tools/call"));
        for token in self.tokens() {
            assert!(!recorded.contains(&token));
        }
    }
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn the_typescript_sdks_authorization_server() {
    let scene = Scene::typescript();
    scene.calls(&["--record", "call.reel"]);
    scene.calls(&[]);
    scene.tapped();
    assert_eq!(scene.visits(), 1);
    let recorded: String = scene.stage.events("call.reel").iter().map(Value::to_string).collect();
    assert!(scene.tokens().iter().all(|token| !recorded.contains(token)));
    // It issues no refresh tokens and cannot revoke.
    let logout = scene.stage.run(&["logout", &scene.url], "");
    assert!(logout.code() == 0 && logout.err().contains("cannot revoke its tokens"), "{logout:?}");
    scene.calls(&[]);
    assert_eq!(scene.visits(), 2);
    // Its authorization server says that the token is for another server.
    let token = scene.tokens().remove(0);
    scene.stage.write("other-audience", &token);
    let mut client = Client::connect(SocketAddr::from(([127, 0, 0, 1], scene.port)));
    client.post(&format!("Authorization: Bearer {token}\r\nAccept: application/json\r\n"), "{}");
    let refused = client.reply();
    assert!(refused.status == 401 && refused.body.contains("not issued for this resource"), "{refused:?}");
    scene.calls(&[]);
    assert_eq!((scene.visits(), scene.tokens().contains(&token)), (3, false));
    // So is every other one.
    scene.stage.write("other-audience", "*");
    let refused = scene.call(&[]);
    assert!(refused.code() == 4 && refused.err().contains("not issued for this resource"), "{refused:?}");
    assert_eq!(scene.visits(), 4);
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn the_python_1_sdks_authorization_server() {
    python("py1");
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn the_python_2_sdks_authorization_server() {
    python("py2");
}

fn python(venv: &str) {
    let scene = Scene::python(venv, &[("LIFETIME", "2")]);
    scene.calls(&[]);
    // The server's tokens expire while nothing is said about them.
    until("the token has expired", || (scene.expires() <= 0).then_some(()));
    let before = scene.tokens();
    let refreshed = scene.calls(&["-v"]);
    assert!(refreshed.err().contains("the token was refreshed"), "{refreshed:?}");
    assert!(scene.tokens().iter().all(|token| !before.contains(token)), "the refresh token is replaced, too");
    for order in ["revoke", "audience"] {
        scene.order(order);
        scene.calls(&[]);
    }
    scene.tapped();
    assert_eq!(scene.visits(), 1);
    scene.order("revoke?refresh=yes");
    scene.calls(&[]);
    assert_eq!(scene.visits(), 2);
    let logout = scene.stage.run(&["logout", &scene.url], "");
    assert!(logout.code() == 0 && logout.err().contains("its tokens are revoked"), "{logout:?}");
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn a_python_server_over_http_and_sse() {
    for venv in ["py1", "py2"] {
        let scene = Scene::python(venv, &[("SSE", "yes")]);
        let called = scene.calls(&["-v"]);
        assert!(called.err().contains("HTTP+SSE"), "{venv}: {called:?}");
        scene.order("revoke");
        scene.calls(&[]);
        assert_eq!(scene.visits(), 1, "{venv}");
    }
}

#[test]
#[ignore = "needs the real peers; run tests/full.sh"]
fn a_python_server_asks_for_more_scopes() {
    for venv in ["py1", "py2"] {
        let scene = Scene::python(venv, &[("STEP", "yes")]);
        let login = scene.stage.run(&["login", &scene.url, &scene.browser, "--scope", "read"], "");
        assert_eq!(login.code(), 0, "{venv}: {login:?}");
        scene.calls(&[]);
        assert_eq!(scene.visits(), 2, "{venv}");
        let listed = scene.stage.ok(&["logins", "-f", "json"]).json();
        assert_eq!(listed["logins"][0]["scopes"], serde_json::json!(["read", "write"]), "{venv}");
        scene.calls(&[]);
        assert_eq!(scene.visits(), 2, "{venv}");
    }
}
