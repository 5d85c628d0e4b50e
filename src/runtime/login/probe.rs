//! Asks a server whether it accepts the user's token.

use super::LoginError;
use crate::protocol::http;
use crate::transport::Remote;
use crate::transport::client::http::{HttpClient, HttpError};
use crate::transport::client::login::{self, Login};
use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::{ACCEPT, CONTENT_TYPE, HOST, USER_AGENT};
use hyper::{Method, Request, Response, StatusCode};
use std::time::Duration;
use url::Url;

/// The time limit for asking the server whether it accepts the token.
const PROBE_TIME: Duration = Duration::from_secs(20);
/// The request that asks: any server must check the token before it reads the message.
const PROBE: &str = r#"{"jsonrpc":"2.0","id":"login","method":"ping"}"#;

/// Sends a request that needs a token and means nothing else. It is not recorded. A server that only supports HTTP+SSE
/// is asked for its event stream instead, because it may not check a token before.
pub(super) async fn probe(remote: &Remote, login: Option<&Login>) -> Result<Response<Incoming>, LoginError> {
    let posted = ask(remote, login, Method::POST, Bytes::from_static(PROBE.as_bytes())).await?;
    if !http::may_mean_sse(posted.status().as_u16()) {
        return Ok(posted);
    }
    match ask(remote, login, Method::GET, Bytes::new()).await {
        Ok(got) if got.status().is_success() || got.status() == StatusCode::UNAUTHORIZED => Ok(got),
        Err(error @ LoginError::Server(HttpError::Login(..))) => Err(error),
        Ok(_) | Err(_) => Ok(posted),
    }
}

/// Sends one request to a server, and returns the head of its response.
async fn ask(
    remote: &Remote,
    login: Option<&Login>,
    method: Method,
    body: Bytes,
) -> Result<Response<Incoming>, LoginError> {
    let wrong = |why: &dyn std::fmt::Display| HttpError::Url(remote.url.clone(), why.to_string());
    let server = Url::parse(&remote.url).map_err(|error| wrong(&error))?;
    let client = HttpClient::new(remote)?;
    let host = match server.port() {
        Some(port) => format!("{}:{port}", server.host_str().unwrap_or_default()),
        None => server.host_str().unwrap_or_default().to_owned(),
    };
    let accepted = if method == Method::GET { "text/event-stream" } else { "application/json, text/event-stream" };
    let mut request = Request::builder()
        .method(method)
        .uri(server.as_str())
        .header(HOST, host)
        .header(USER_AGENT, concat!("mcpreel/", env!("CARGO_PKG_VERSION")))
        .header(ACCEPT, accepted);
    if !body.is_empty() {
        request = request.header(CONTENT_TYPE, "application/json");
    }
    for (name, value) in &remote.headers {
        request = request.header(name, value.as_bytes());
    }
    let request = request.body(body).map_err(|error| wrong(&error))?;
    login::send(&client, login, request, PROBE_TIME).await.map_err(LoginError::from)
}
