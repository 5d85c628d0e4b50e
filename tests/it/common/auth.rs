//! An authorization server and an MCP server that requires its tokens, in this process, written from the RFCs: 6749, 7009,
//! 7591, 7636, 8414, 8707, 9207 and 9728. A test chooses what is wrong with them.

use super::web::{Asked, Reply, Step, Web, answer, event, say};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use bytes::Bytes;
use parking_lot::{Mutex, MutexGuard};
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use url::form_urlencoded;

/// What is wrong, or different.
#[derive(Clone, Debug, Default)]
pub(crate) struct Faults {
    /// The resource in the MCP server's metadata.
    pub resource: Option<String>,
    /// Members of the authorization server's metadata; null removes one.
    pub metadata: Vec<(&'static str, Value)>,
    /// The path of the only metadata that the authorization server has.
    pub only_at: Option<&'static str>,
    /// The 401 response has no `resource_metadata`.
    pub is_silent_about_metadata: bool,
    /// The MCP server has no metadata at all (2025-03-26); its authorization server is at its own address.
    pub has_no_resource_metadata: bool,
    /// The query of the response to a login, instead of the right one; `{state}` and `{code}` are replaced.
    pub answer: Option<&'static str>,
    /// The response to each token request.
    pub token_reply: Option<Reply>,
    /// Members of successful token responses.
    pub token: Vec<(&'static str, Value)>,
    /// The lifetime of access tokens, which clients are not told.
    pub lifetime: Option<Duration>,
    /// Tokens are for this resource, whatever is requested.
    pub audience: Option<&'static str>,
    /// There are no refresh tokens.
    pub has_no_refresh: bool,
    /// Refresh tokens are refused.
    pub refuses_refresh: bool,
    /// `tools/call` needs the scope `write`; 403 responses ask for these scopes.
    pub asks_for: Option<&'static str>,
    /// The MCP server is at `/sse` and only supports HTTP+SSE. It checks tokens, except for POSTs to `/sse`, which it does
    /// not support.
    pub is_older: bool,
    /// Authorized requests are redirected there.
    pub redirects_to: Option<String>,
    /// Clients must authenticate like this.
    pub auth_method: Option<&'static str>,
}

/// A token, or what a code stands for.
#[derive(Clone, Debug)]
struct Issued {
    client: String,
    resource: String,
    scope: String,
    challenge: String,
    redirect_uri: String,
    until: Option<Instant>,
}

#[derive(Default)]
struct State {
    faults: Faults,
    clients: HashMap<String, Value>,
    codes: HashMap<String, Issued>,
    tokens: HashMap<String, Issued>,
    refresh: HashMap<String, Issued>,
    /// All secrets that were ever issued or received.
    secrets: HashSet<String>,
    counter: u32,
    /// Where messages of an HTTP+SSE server go.
    stream: Option<UnboundedSender<Bytes>>,
    /// What is known of other processes while requests arrive, if that is wanted.
    seen: Option<Seen>,
    server: String,
    issuer: String,
}

/// What can be seen of other processes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// The command lines and environments with a secret.
    pub leaks: Vec<String>,
    /// The programs, and the first argument of each.
    pub programs: HashSet<String>,
}

impl Seen {
    /// Looks for these secrets in all processes that this user can see.
    fn look(&mut self, secrets: &HashSet<String>) {
        for process in std::fs::read_dir("/proc").expect("processes").flatten() {
            for name in ["cmdline", "environ"] {
                // A process may end, and those of others cannot be read.
                let text = std::fs::read(process.path().join(name)).unwrap_or_default();
                let text = String::from_utf8_lossy(&text);
                if secrets.iter().any(|secret| text.contains(secret)) {
                    self.leaks.push(format!("{name}: {}", text.replace('\0', " ")));
                }
                if name == "cmdline" {
                    self.programs.extend(text.split('\0').take(2).map(str::to_owned));
                }
            }
        }
    }
}

/// Both servers.
pub(crate) struct Protected {
    pub server: Web,
    pub authorization: Web,
    state: Arc<Mutex<State>>,
}

impl Protected {
    pub(crate) fn start(faults: Faults) -> Self {
        let state = Arc::new(Mutex::new(State { faults: faults.clone(), ..State::default() }));
        let (for_authorization, for_server) = (Arc::clone(&state), Arc::clone(&state));
        let authorization = Web::start(move |asked| {
            let mut state = lock(&for_authorization);
            let reply = state.authorize(asked);
            state.look();
            reply
        });
        let is_one = faults.has_no_resource_metadata;
        let path = if faults.is_older { "/sse" } else { "/mcp" };
        let server = Web::start(move |asked| {
            let mut state = lock(&for_server);
            let is_mcp = asked.target.starts_with("/mcp") || asked.target.contains("oauth-protected-resource");
            state.look();
            if is_one && !is_mcp { state.authorize(asked) } else { state.serve(asked) }
        });
        {
            let mut state = lock(&state);
            state.server = server.url(path);
            state.issuer = if is_one { server.url("") } else { authorization.url("") };
        }
        Self { server, authorization, state }
    }

    pub(crate) fn url(&self) -> String {
        lock(&self.state).server.clone()
    }

    /// Looks at all processes with each request from now on.
    pub(crate) fn watch_processes(&self) {
        lock(&self.state).seen = Some(Seen::default());
    }

    /// What was seen of processes, now and with each request.
    pub(crate) fn seen(&self) -> Seen {
        let mut state = lock(&self.state);
        state.look();
        state.seen.clone().expect("processes are watched")
    }

    /// Changes what is wrong.
    pub(crate) fn set(&self, change: impl FnOnce(&mut Faults)) {
        change(&mut lock(&self.state).faults);
    }

    /// Registers a client beforehand.
    pub(crate) fn register(&self, id: &str, secret: Option<&str>, redirect_uri: &str) {
        let client = json!({"client_secret": secret, "redirect_uris": [redirect_uri]});
        lock(&self.state).clients.insert(id.to_owned(), client);
    }

    /// Revokes all access tokens, and the refresh tokens, too, if wanted.
    pub(crate) fn revoke(&self, with_refresh: bool) {
        let mut state = lock(&self.state);
        state.tokens.clear();
        if with_refresh {
            state.refresh.clear();
        }
    }

    /// The numbers of valid access and refresh tokens.
    pub(crate) fn valid(&self) -> (usize, usize) {
        let state = lock(&self.state);
        (state.tokens.len(), state.refresh.len())
    }

    /// All secrets so far: tokens, codes, verifiers and client secrets.
    pub(crate) fn secrets(&self) -> Vec<String> {
        lock(&self.state).secrets.iter().cloned().collect()
    }

    /// The requests to the authorization server, each as its path without the query.
    pub(crate) fn story(&self) -> Vec<String> {
        let path = |asked: &Asked| asked.target.split('?').next().unwrap_or_default().to_owned();
        self.authorization.asked().iter().map(path).collect()
    }

    /// The parameters of the requests for this path of the authorization server.
    pub(crate) fn parameters(&self, path: &str) -> Vec<HashMap<String, String>> {
        let asked = self.authorization.asked().into_iter().chain(self.server.asked());
        asked.filter(|asked| asked.target.split('?').next() == Some(path)).map(|asked| parameters(&asked)).collect()
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock()
}

/// The parameters in the query and in the body.
fn parameters(asked: &Asked) -> HashMap<String, String> {
    let query = asked.target.split_once('?').map_or("", |(_, query)| query);
    let all = form_urlencoded::parse(query.as_bytes()).chain(form_urlencoded::parse(asked.text.as_bytes()));
    all.map(|(name, value)| (name.into_owned(), value.into_owned())).collect()
}

impl State {
    fn make(&mut self, kind: &str) -> String {
        self.counter += 1;
        let port = self.issuer.rsplit(':').next().unwrap_or_default();
        let made = format!("{kind}-{}-{port}-{}", self.counter, "s3cret".repeat(4));
        self.secrets.insert(made.clone());
        made
    }

    fn look(&mut self) {
        if let Some(seen) = &mut self.seen {
            seen.look(&self.secrets);
        }
    }

    fn authorize(&mut self, asked: &Asked) -> Reply {
        let path = asked.target.split('?').next().unwrap_or_default();
        let known = parameters(asked);
        for name in ["code_verifier", "client_secret"] {
            self.secrets.extend(known.get(name).cloned());
        }
        match path {
            "/authorize" => self.ask_user(&known),
            "/register" => self.register(&asked.body),
            "/token" => self.exchange(asked, &known),
            "/revoke" => {
                let token = &known["token"];
                self.tokens.remove(token);
                self.refresh.remove(token);
                Reply::empty(200)
            }
            _ if path.contains("/.well-known/") => self.metadata(path),
            _ => Reply::empty(404),
        }
    }

    fn metadata(&self, path: &str) -> Reply {
        if path != self.faults.only_at.unwrap_or("/.well-known/oauth-authorization-server") {
            return Reply::empty(404);
        }
        let issuer = &self.issuer;
        let mut metadata = json!({
            "issuer": issuer,
            "authorization_endpoint": format!("{issuer}/authorize"),
            "token_endpoint": format!("{issuer}/token"),
            "registration_endpoint": format!("{issuer}/register"),
            "revocation_endpoint": format!("{issuer}/revoke"),
            "code_challenge_methods_supported": ["S256"],
            "response_types_supported": ["code"],
            "token_endpoint_auth_methods_supported": [self.faults.auth_method.unwrap_or("none")],
            "authorization_response_iss_parameter_supported": true,
        });
        merge(&mut metadata, &self.faults.metadata);
        Reply::json(200, &metadata)
    }

    fn register(&mut self, about: &Value) -> Reply {
        let id = format!("client-{}", self.clients.len() + 1);
        let mut client = about.clone();
        client["client_id"] = id.clone().into();
        if self.faults.auth_method.is_some_and(|method| method != "none") {
            client["client_secret"] = self.make("client").into();
        }
        self.clients.insert(id, client.clone());
        Reply::json(201, &client)
    }

    /// The user agrees at once.
    fn ask_user(&mut self, asked: &HashMap<String, String>) -> Reply {
        let get = |name: &str| asked.get(name).cloned().unwrap_or_default();
        let redirect_uri = get("redirect_uri");
        let is_known = self.clients.get(&get("client_id")).is_some_and(|client| {
            client["redirect_uris"].as_array().is_some_and(|uris| uris.contains(&redirect_uri.as_str().into()))
        });
        let is_complete = get("response_type") == "code" && get("code_challenge_method") == "S256";
        if !is_known || !is_complete || get("code_challenge").len() != 43 {
            return Reply::text(400, "text/plain", "a bad authorization request");
        }
        let issued = Issued {
            client: get("client_id"),
            resource: get("resource"),
            scope: get("scope"),
            challenge: get("code_challenge"),
            redirect_uri: redirect_uri.clone(),
            until: None,
        };
        let (code, state) = (self.make("code"), get("state"));
        self.codes.insert(code.clone(), issued);
        let encoded = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
        let query = match self.faults.answer {
            Some(answer) => answer.replace("{state}", &state).replace("{code}", &code),
            None => format!("code={code}&state={state}&iss={}", encoded(&self.issuer)),
        };
        Reply::empty(302).with("Location", &format!("{redirect_uri}?{query}"))
    }

    fn exchange(&mut self, asked: &Asked, known: &HashMap<String, String>) -> Reply {
        if let Some(reply) = &self.faults.token_reply {
            return reply.clone();
        }
        let get = |name: &str| known.get(name).cloned().unwrap_or_default();
        let refused = |error: &str| Reply::json(400, &json!({"error": error, "error_description": "scripted"}));
        let Some(client) = self.client(asked, known) else { return refused("invalid_client") };
        let issued = match get("grant_type").as_str() {
            // A code counts once.
            "authorization_code" => self.codes.remove(&get("code")).filter(|issued| {
                let challenge = BASE64_URL_SAFE_NO_PAD.encode(digest(&SHA256, get("code_verifier").as_bytes()));
                issued.challenge == challenge && issued.redirect_uri == get("redirect_uri")
            }),
            // A refresh token counts once, too.
            "refresh_token" if !self.faults.refuses_refresh => self.refresh.remove(&get("refresh_token")),
            "refresh_token" => None,
            _ => return refused("unsupported_grant_type"),
        };
        let issued = issued.filter(|issued| issued.client == client && issued.resource == get("resource"));
        issued.map_or_else(|| refused("invalid_grant"), |issued| self.issue(issued))
    }

    /// The client that made a token request, if it has proved it.
    fn client(&self, asked: &Asked, known: &HashMap<String, String>) -> Option<String> {
        let basic = asked.header("authorization").and_then(|value| value.strip_prefix("Basic ")).map(|text| {
            let text = base64::prelude::BASE64_STANDARD.decode(text).expect("base64");
            let text = String::from_utf8(text).expect("text");
            let (id, secret) = text.split_once(':').expect("a colon");
            (id.to_owned(), Some(secret.to_owned()))
        });
        let method = if basic.is_some() { "client_secret_basic" } else { "client_secret_post" };
        let (id, secret) =
            basic.or_else(|| Some((known.get("client_id")?.clone(), known.get("client_secret").cloned())))?;
        let expected = self.clients.get(&id)?["client_secret"].as_str().map(str::to_owned);
        let is_right_method = secret.is_none() || self.faults.auth_method.is_none_or(|wanted| wanted == method);
        (secret == expected && is_right_method).then_some(id)
    }

    fn issue(&mut self, issued: Issued) -> Reply {
        let access = self.make("access");
        let until = self.faults.lifetime.map(|lifetime| Instant::now() + lifetime);
        let resource = self.faults.audience.map_or_else(|| issued.resource.clone(), str::to_owned);
        self.tokens.insert(access.clone(), Issued { until, resource, ..issued.clone() });
        let mut reply = json!({"access_token": access, "token_type": "Bearer", "scope": issued.scope});
        if !self.faults.has_no_refresh {
            let refresh = self.make("refresh");
            reply["refresh_token"] = refresh.clone().into();
            self.refresh.insert(refresh, issued);
        }
        merge(&mut reply, &self.faults.token);
        Reply::json(200, &reply)
    }

    /// The MCP server.
    fn serve(&mut self, asked: &Asked) -> Reply {
        if asked.target.contains("/.well-known/oauth-protected-resource") {
            if self.faults.has_no_resource_metadata || !self.metadata_place().ends_with(&asked.target) {
                return Reply::empty(404);
            }
            let resource = self.faults.resource.as_ref().unwrap_or(&self.server);
            let metadata = json!({
                "resource": resource, "authorization_servers": [self.issuer], "scopes_supported": ["read"],
            });
            return Reply::json(200, &metadata);
        }
        if self.faults.is_older && asked.verb == "POST" && asked.target == "/sse" {
            return Reply::empty(405);
        }
        let token = asked.header("authorization").and_then(|value| value.strip_prefix("Bearer "));
        let issued = token
            .and_then(|token| self.tokens.get(token))
            .filter(|issued| issued.until.is_none_or(|until| Instant::now() < until) && issued.resource == self.server);
        let place = self.metadata_place();
        let Some(issued) = issued else {
            let metadata = format!("resource_metadata=\"{place}\"");
            let is_silent = self.faults.is_silent_about_metadata || self.faults.has_no_resource_metadata;
            let challenge = if is_silent { "Bearer".to_owned() } else { format!("Bearer {metadata}") };
            return Reply::json(401, &json!({"error": "invalid_token"})).with("WWW-Authenticate", &challenge);
        };
        let can_write = issued.scope.split(' ').any(|scope| scope == "write");
        match (asked.what().as_str(), self.faults.asks_for) {
            ("tools/call", Some(scopes)) if !can_write => {
                let challenge =
                    format!("Bearer error=\"insufficient_scope\", scope=\"{scopes}\", resource_metadata=\"{place}\"");
                Reply::empty(403).with("WWW-Authenticate", &challenge)
            }
            (what, _) => match &self.faults.redirects_to {
                Some(target) => Reply::empty(307).with("Location", target),
                None if self.faults.is_older => self.stream(asked, what),
                None => mcp(asked, what),
            },
        }
    }

    /// Where the MCP server's metadata is.
    fn metadata_place(&self) -> String {
        let (origin, path) = self.server.rsplit_once('/').expect("a path");
        format!("{origin}/.well-known/oauth-protected-resource/{path}")
    }

    /// HTTP+SSE: the stream, or a message whose answer goes there.
    fn stream(&mut self, asked: &Asked, what: &str) -> Reply {
        if what == "GET" {
            let (sender, stream) = unbounded_channel();
            self.stream = Some(sender);
            let fed = Step::Fed(Arc::new(tokio::sync::Mutex::new(stream)));
            return Reply::events([say("event: endpoint\ndata: /messages\n\n"), fed]);
        }
        for step in mcp(asked, what).steps {
            let Step::Say(answer) = step else { continue };
            let answer: Value = serde_json::from_slice(&answer).expect("JSON");
            let (Step::Say(answer), Some(stream)) = (event(&answer), &self.stream) else { continue };
            let _ = stream.send(answer);
        }
        Reply::empty(202)
    }
}

/// What an open MCP server would answer.
fn mcp(asked: &Asked, what: &str) -> Reply {
    match what {
        "initialize" => {
            let server = json!({"name": "protected", "version": "1"});
            let result = json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": server});
            Reply::json(200, &answer(asked, result)).with("Mcp-Session-Id", "session-1")
        }
        "ping" => Reply::result(asked, json!({})),
        "tools/list" => Reply::result(asked, json!({"tools": []})),
        "tools/call" => Reply::result(asked, json!({"content": [{"type": "text", "text": "called"}]})),
        "DELETE" => Reply::empty(200),
        "GET" => Reply::empty(405),
        _ if asked.body["id"].is_null() => Reply::empty(202),
        _ => Reply::error(400, asked, -32601),
    }
}

fn merge(into: &mut Value, members: &[(&'static str, Value)]) {
    for (name, value) in members {
        match value {
            Value::Null => drop(into.as_object_mut().expect("an object").remove(*name)),
            value => into[*name] = value.clone(),
        }
    }
}
