//! A reverse proxy that changes only what belongs to one hop: connection headers, framing and `Host`. Bodies pass
//! unchanged; an [`ExchangeObserver`](crate::transport::client::http::ExchangeObserver) sees everything first, and which
//! framing was mended.

use super::cors::Cors;
use super::head_gate::restore;
use super::heads::{AmbiguousLength, Asker, ConnectionFlags, Watched};
use super::origin_check::Access;
use super::outlet::Outbox;
use super::passing::{Announcement, ClientSide, TrailerSlot, asks_for_trailers};
use super::refusals::{self, Lent, Refusals};
use super::request_body::{self, BodyFault};
use super::spread::Spread;
use super::upstream::Upstream;
use crate::transport::budget::{Budget, IntakeLimits};
use crate::transport::client::http::{
    Body, BodyError, BodyFilter, ClientConnection, ExchangeEvent, ExchangeObserver, HttpClient, HttpError,
    MAX_HEAD_BYTES, SharedObserver, empty, full,
};
use crate::transport::client::http_endpoint::shared_headers;
use crate::transport::client::login::{Attempts, Login, body_of, discard};
use crate::transport::client::remote::Remote;
use crate::wire::text::error_chain;
use crate::wire::{Direction, MessageLimit};
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body as _, Frame, Incoming, SizeHint};
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::http::{request, uri};
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper::{Method, Request, Response, StatusCode, Uri, Version};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// How long to read the rest of a request that cannot be sent on, or not be served.
const UNSENT_TIMEOUT: Duration = Duration::from_secs(2);
/// The maximum number of client connections; a head of each may be in memory.
const MAX_CONNECTIONS: usize = 512;
/// The maximum number of connections beyond that which are answered at the same time; more are closed.
const MAX_TURNED_AWAY: usize = 64;
/// How long a connection may wait for its next request.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);
/// The time limit for a request's head.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// What to do about a server that requires a login.
const MISSING_LOGIN: &str = "the server requires a login (HTTP 401), and clients cannot log in through this address, because \
    the server's metadata names another one: start the tap with --login, so that mcpreel logs in itself, or give it a token \
    with -H 'Authorization: Bearer …'";
/// What to do about a server that does not accept the login.
const REFUSED_LOGIN: &str = "the server does not accept the token of your login (HTTP 401): forget it with `mcpreel logout URL`, \
    then log in again";

/// A proxy in front of one server.
pub(crate) struct Proxy {
    client: HttpClient,
    /// Scheme, host and port of the server.
    origin: Uri,
    host: HeaderValue,
    /// The endpoint's path and query.
    endpoint: uri::PathAndQuery,
    headers: HeaderMap,
    login: Option<Login>,
    access: Access,
    body_limit: u64,
    /// The memory for all requests that are held back.
    budget: Arc<Budget>,
    watch: SharedObserver,
    /// Tells the user what to do about a server that requires a login.
    advise: Box<dyn Fn(&str) + Send + Sync>,
}

impl Proxy {
    /// A proxy in front of `remote`. Request bodies longer than `body_limit` bytes are refused.
    ///
    /// # Errors
    /// The URL or a header is invalid, or TLS cannot be set up.
    pub(crate) fn new(
        remote: &Remote,
        access: Access,
        body_limit: u64,
        watch: SharedObserver,
        advise: impl Fn(&str) + Send + Sync + 'static,
    ) -> Result<Self, HttpError> {
        let wrong = |reason: &str| HttpError::Url(remote.url.clone(), reason.to_owned());
        let url: Uri = remote.http_url().parse().map_err(|error: uri::InvalidUri| wrong(&error.to_string()))?;
        let (Some("http" | "https"), Some(authority)) = (url.scheme_str(), url.authority()) else {
            return Err(wrong("--listen supports only http, https, ws and wss"));
        };
        // Without user information, which does not belong in `Host`.
        let host = authority.as_str().rsplit('@').next().unwrap_or_default();
        let host = HeaderValue::from_str(host).map_err(|error| wrong(&error.to_string()))?;
        let mut parts = url.clone().into_parts();
        parts.path_and_query = Some(uri::PathAndQuery::from_static("/"));
        let origin = Uri::from_parts(parts).map_err(|error| wrong(&error.to_string()))?;
        let endpoint = url.path_and_query().cloned().unwrap_or_else(|| uri::PathAndQuery::from_static("/"));
        let (client, headers) = (HttpClient::new(remote)?, shared_headers(remote)?);
        let budget = Budget::new(MessageLimit::of_bytes(usize::try_from(body_limit).unwrap_or(usize::MAX)));
        let (login, advise) = (remote.login.clone(), Box::new(advise));
        Ok(Self { client, origin, host, endpoint, headers, login, access, body_limit, budget, watch, advise })
    }

    /// The client for the server, and the user's own headers.
    pub(crate) fn upstream(&self) -> (HttpClient, HeaderMap) {
        (self.client.clone(), self.headers.clone())
    }

    /// Serves connections forever. Must be called within a tokio runtime.
    pub(crate) async fn serve(self, listener: TcpListener) {
        let proxy = Arc::new(self);
        let mut spread = Spread::default();
        let watch = Arc::clone(&proxy.watch);
        let refusals = Refusals::new(proxy.access.clone(), move |connection, status, reason| {
            watch.refused_unread(connection, status, reason);
        });
        let at_the_door = Arc::clone(&refusals);
        accept_on(
            async || listener.accept().await?.0.into_std(),
            move |stream: std::net::TcpStream, connection| {
                let upstream = Upstream::new(proxy.client.clone(), proxy.origin.clone());
                let closed = upstream.closed();
                let client = ClientConnection { number: connection, address: stream.peer_addr().ok() };
                let refusals = Arc::clone(&refusals);
                let connection = Arc::new(Connection { proxy: Arc::clone(&proxy), client });
                let line = Arc::new(Line { connection, upstream });
                let service_line = Arc::clone(&line);
                let service = service_fn(move |request| {
                    let line = Arc::clone(&service_line);
                    async move { Ok::<_, Infallible>(line.connection.proxy.relay(&line, request).await) }
                });
                async move {
                    // The thread that serves a connection waits for its data, too.
                    if let Ok(stream) = TcpStream::from_std(stream) {
                        serve_connection(stream, service, closed.notified(), (Some(client.number), &refusals)).await;
                    }
                    drop(line);
                }
            },
            Some(Box::new(move |stream: std::net::TcpStream| {
                let refusals = Arc::clone(&at_the_door);
                Box::pin(async move {
                    if let Ok(stream) = TcpStream::from_std(stream) {
                        turn_away(stream, &refusals).await;
                    }
                })
            })),
            |served| spread.spawn(served),
        )
        .await;
    }

    async fn relay(&self, line: &Arc<Line>, request: Request<Incoming>) -> Response<Body> {
        let (mut head, body) = request.into_parts();
        let client_side = ClientSide::of(&head);
        let connection = Arc::clone(&line.connection);
        let number = self.watch.begin(connection.client, &head);
        let admitted = self.admit(&head);
        let may_read = self.access.check(&head).is_ok() || self.access.admits_page(&head.headers);
        let cors = Cors::of(&head.headers, may_read);
        let mut passage = Passage { exchange: Exchange { connection, number }, answered: false, cors };
        if let Err((status, reason)) = admitted {
            return passage.refuse(status, &reason);
        }
        let from_client = head.extensions.remove::<ConnectionFlags>().unwrap_or_default();
        passage.exchange.see_repairs(Direction::ClientToServer, &from_client);
        let upgrade = head.headers.get(header::UPGRADE).filter(|to| is_websocket(to)).cloned();
        let own_host = head.headers.get(header::HOST).cloned();
        let client_upgrade = head.extensions.remove::<OnUpgrade>();
        let (codings, announced) = (Codings::of(&head.headers), Announcement::of(&head.headers));
        self.turn_to_server(&mut head, upgrade.as_ref());
        let limit = MessageLimit::of_bytes(usize::try_from(self.body_limit).unwrap_or(usize::MAX));
        let mut intake = IntakeLimits::of_client(limit, &self.budget);
        let body = if self.login.is_some() || head.method == Method::POST && self.watch.sifts() {
            match passage.filter(body, &mut intake).await {
                Err(refused) => return refused,
                Ok(None) => return passage.keep(),
                Ok(Some(rest)) => {
                    passage.exchange.see_repairs(Direction::ClientToServer, &from_client);
                    codings.put_unknown(&mut head.headers);
                    if !rest.is_empty() || head.method == Method::POST {
                        head.headers.insert(header::CONTENT_LENGTH, rest.len().into());
                    }
                    RequestBody::Held(rest)
                }
            }
        } else {
            // Without it, the library leaves out the body of a GET.
            codings.put(&mut head.headers);
            announced.put(&mut head.headers);
            let trailers = Some(TrailerSlot::of_request(line.upstream.outbox()));
            let bounds = Bounds { limit: self.body_limit, body_filter: None, trailers };
            RequestBody::Passing(passage.tee(body, Direction::ClientToServer, bounds, from_client))
        };
        let mut response = match self.send(&passage, (&line.upstream, &client_side), head, body).await {
            Ok(response) => response,
            Err((error @ HttpError::TooLong(_), _)) => {
                return passage.refuse(StatusCode::PAYLOAD_TOO_LARGE, &error.to_string());
            }
            Err((error, unsent)) => {
                if let Some(unsent) = unsent {
                    // Read the unsent body so that the reel has the request.
                    let _ = tokio::time::timeout(UNSENT_TIMEOUT, unsent.into_body().collect()).await;
                }
                return passage.refuse(StatusCode::BAD_GATEWAY, &error.to_string());
            }
        };
        let to_server = hyper::upgrade::on(&mut response);
        let (mut head, body) = response.into_parts();
        let from_server = line.upstream.known();
        let has_hidden = from_server.take_hidden();
        if has_hidden {
            restore(&mut head.headers);
        }
        passage.exchange.see(ExchangeEvent::Response(&head));
        passage.exchange.see_repairs(Direction::ServerToClient, from_server);
        if has_hidden {
            // Only `identity` is hidden in a response.
            head.headers.remove(header::TRANSFER_ENCODING);
        }
        let (codings, announced) = (Codings::of(&head.headers), Announcement::of(&head.headers));
        mend_length(&mut head.headers);
        strip(&mut head.headers);
        codings.put_unknown(&mut head.headers);
        announced.put(&mut head.headers);
        if from_server.is_last() {
            head.headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        self.turn_to_client(&mut head.headers, own_host.as_ref());
        if head.status == StatusCode::UNAUTHORIZED {
            (self.advise)(if self.login.is_some() { REFUSED_LOGIN } else { MISSING_LOGIN });
        }
        if head.status == StatusCode::SWITCHING_PROTOCOLS {
            if let (Some(upgrade), Some(from_client)) = (upgrade, client_upgrade) {
                head.headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
                head.headers.insert(header::UPGRADE, upgrade);
                tokio::spawn(tunnel(from_client, to_server, passage, Arc::clone(line)));
            }
            return Response::from_parts(head, empty());
        }
        let is_open = !head.headers.contains_key(header::CONTENT_LENGTH);
        let body_filter = is_open.then(|| passage.exchange.body_filter(Direction::ServerToClient)).flatten();
        let bounds = Bounds { limit: u64::MAX, body_filter, trailers: client_side.trailers() };
        let body = passage.tee(body, Direction::ServerToClient, bounds, from_server.clone());
        passage.answered = true;
        Response::from_parts(head, body)
    }

    /// Sends a request, with the login's token if there is a login. If that has to be renewed, only the last response is
    /// returned, and the observer gets the status of the others.
    async fn send(
        &self,
        passage: &Passage,
        (upstream, client_side): (&Upstream, &ClientSide),
        head: request::Parts,
        body: RequestBody,
    ) -> Result<Response<Incoming>, (HttpError, Option<Request<Body>>)> {
        let send = async |mut request: Request<Body>| {
            let exchange = passage.exchange.clone();
            client_side.expect_early(&mut request, move |status, headers, goes_on| {
                exchange.see(ExchangeEvent::Informational(status, headers, goes_on));
            });
            upstream.send(request).await
        };
        let held = match body {
            RequestBody::Passing(body) => return send(Request::from_parts(head, body)).await,
            RequestBody::Held(held) => held,
        };
        let failed = |error| (error, None);
        let mut attempts = Attempts::begin(self.login.as_ref()).await.map_err(failed)?;
        if attempts.has_waited() {
            passage.exchange.see(ExchangeEvent::SentLater);
        }
        loop {
            let mut head = head.clone();
            attempts.apply(&mut head.headers);
            let response = send(Request::from_parts(head, body_of(&held))).await?;
            if !attempts.again(response.status(), response.headers()).await.map_err(failed)? {
                return Ok(response);
            }
            passage.exchange.see(ExchangeEvent::SentAgain(response.status()));
            discard(response.into_body()).await;
        }
    }

    /// Checks whether a request may be sent on.
    fn admit(&self, head: &request::Parts) -> Result<(), (StatusCode, String)> {
        self.access.check(head)?;
        if self.login.is_some() && is_metadata_of_login(head.uri.path()) {
            return Err((
                StatusCode::NOT_FOUND,
                "mcpreel logs in for its clients, so there is nothing to log in to".into(),
            ));
        }
        let length = head.headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        if length.is_some_and(|length: u64| length > self.body_limit) {
            return Err((StatusCode::PAYLOAD_TOO_LARGE, HttpError::TooLong(self.body_limit).to_string()));
        }
        Ok(())
    }

    /// Turns a client's request into one for the server.
    fn turn_to_server(&self, head: &mut request::Parts, upgrade: Option<&HeaderValue>) {
        let asked = head.uri.path_and_query();
        // A query in the server's URL is part of its address; clients know only the path.
        let path = match asked.filter(|asked| asked.query().is_some() || asked.path() != self.endpoint.path()) {
            Some(asked) => asked.clone(),
            None => self.endpoint.clone(),
        };
        head.uri = Uri::from(path);
        head.version = Version::HTTP_11;
        let asks_for_trailers = asks_for_trailers(&head.headers);
        strip(&mut head.headers);
        if asks_for_trailers && upgrade.is_none() {
            head.headers.insert(header::CONNECTION, HeaderValue::from_static("te"));
            head.headers.insert(header::TE, HeaderValue::from_static("trailers"));
        }
        if let Some(upgrade) = upgrade {
            head.headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
            head.headers.insert(header::UPGRADE, upgrade.clone());
            // Extensions are negotiated per hop, and the observer cannot read compressed messages.
            head.headers.remove(header::SEC_WEBSOCKET_EXTENSIONS);
        }
        head.headers.insert(header::HOST, self.host.clone());
        for (name, value) in &self.headers {
            head.headers.insert(name, value.clone());
        }
    }

    /// Rewrites redirects to the server itself, so that the client does not bypass mcpreel. With a login, clients see an
    /// open server, which has no challenges.
    fn turn_to_client(&self, headers: &mut HeaderMap, own_host: Option<&HeaderValue>) {
        if self.login.is_some() {
            headers.remove(header::WWW_AUTHENTICATE);
        }
        let to: Option<Uri> = headers.get(header::LOCATION).and_then(|to| to.to_str().ok()?.parse().ok());
        let (Some(to), Some(host)) = (to, own_host.and_then(|host| host.to_str().ok())) else { return };
        if to.scheme() == self.origin.scheme() && to.authority() == self.origin.authority() {
            let path = to.path_and_query().map_or("/", |path| path.as_str());
            if let Ok(here) = HeaderValue::try_from(format!("http://{host}{path}")) {
                headers.insert(header::LOCATION, here);
            }
        }
    }
}

/// A request's body.
enum RequestBody {
    /// It passes as it arrives.
    Passing(Body),
    /// It is complete, and can be sent again.
    Held(Bytes),
}

/// Whether a path belongs to the metadata by which clients find out how to log in (RFC 9728, RFC 8414).
fn is_metadata_of_login(path: &str) -> bool {
    const NAMES: [&str; 3] = ["oauth-protected-resource", "oauth-authorization-server", "openid-configuration"];
    path.split('/').skip_while(|part| *part != ".well-known").nth(1).is_some_and(|name| NAMES.contains(&name))
}

/// Whether a connection is to become a WebSocket. Other protocols (some clients always offer HTTP/2) could not be
/// observed, and a server need not switch.
pub(super) fn is_websocket(to: &HeaderValue) -> bool {
    to.as_bytes().eq_ignore_ascii_case(b"websocket")
}

/// Accepts connections forever, numbered from 1. If too many are open, the next ones wait.
pub(super) async fn accept<S, F>(next: impl AsyncFnMut() -> io::Result<S>, serve: impl FnMut(S, u32) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    accept_on(next, serve, None, |served| drop(tokio::spawn(served))).await;
}

/// Like [`accept`], for HTTP: if too many are open, the next ones are answered with 503 at once.
pub(super) async fn accept_http<F>(
    next: impl AsyncFnMut() -> io::Result<TcpStream>,
    serve: impl FnMut(TcpStream, u32) -> F,
    refusals: &Arc<Refusals>,
) where
    F: Future<Output = ()> + Send + 'static,
{
    let refusals = Arc::clone(refusals);
    let turn_away = move |stream: TcpStream| {
        let refusals = Arc::clone(&refusals);
        Box::pin(async move { turn_away(stream, &refusals).await }) as BoxedFuture
    };
    accept_on(next, serve, Some(Box::new(turn_away)), |served| drop(tokio::spawn(served))).await;
}

/// Like [`accept`]. With `turn_away`, connections do not wait. `spawn` chooses where each connection is served.
async fn accept_on<S, F>(
    next: impl AsyncFnMut() -> io::Result<S>,
    serve: impl FnMut(S, u32) -> F,
    turn_away: Option<TurnAway<S>>,
    spawn: impl FnMut(BoxedFuture),
) where
    F: Future<Output = ()> + Send + 'static,
{
    tokio::join!(accept_each(next, serve, turn_away, spawn), keep_a_timer());
}

type BoxedFuture = Pin<Box<dyn Future<Output = ()> + Send>>;
type TurnAway<S> = Box<dyn Fn(S) -> BoxedFuture + Send + Sync>;

/// Keeps a timer that is due before the time limit of any idle connection. The runtime wakes itself with a system call
/// for a timer that is due before all others, which would otherwise be that of each next request.
pub(super) async fn keep_a_timer() {
    loop {
        tokio::time::sleep(IDLE_TIMEOUT / 2).await;
    }
}

async fn accept_each<S, F>(
    mut next: impl AsyncFnMut() -> io::Result<S>,
    mut serve: impl FnMut(S, u32) -> F,
    turn_away: Option<TurnAway<S>>,
    mut spawn: impl FnMut(BoxedFuture),
) where
    F: Future<Output = ()> + Send + 'static,
{
    let mut connection = 0;
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let at_the_door = Arc::new(Semaphore::new(MAX_TURNED_AWAY));
    loop {
        if turn_away.is_none() {
            drop(places.acquire().await);
        }
        let stream = match next().await {
            Ok(stream) => stream,
            // Usually out of descriptors: wait and try again.
            Err(_) => {
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        if let Ok(place) = Arc::clone(&places).try_acquire_owned() {
            connection += 1;
            let served = serve(stream, connection);
            spawn(Box::pin(async move {
                served.await;
                drop(place);
            }));
        } else if let (Some(turn_away), Ok(place)) = (&turn_away, Arc::clone(&at_the_door).try_acquire_owned()) {
            let turned_away = turn_away(stream);
            spawn(Box::pin(async move {
                turned_away.await;
                drop(place);
            }));
        }
    }
}

/// Answers a connection for which there is no place, whatever it asks.
async fn turn_away(mut stream: TcpStream, refusals: &Refusals) {
    let reason = format!("{MAX_CONNECTIONS} connections are open, the maximum; try again once one of them has ended");
    let why = (StatusCode::SERVICE_UNAVAILABLE, &*reason);
    refusals.answer(&mut stream, None, why, &Asker::default()).await;
}

/// Serves one connection within the limits of all listeners. Once `closing` completes, only the current exchange is
/// finished. What is no request is refused in the name of the connection with this number.
pub(super) async fn serve_connection<S>(
    stream: TcpStream,
    service: S,
    closing: impl Future<Output = ()>,
    (number, refusals): (Option<u32>, &Refusals),
) where
    S: Service<Request<Incoming>, Response = Response<Body>>,
    S::Error: Into<BodyError>,
{
    let _ = stream.set_nodelay(true);
    let (stream, place) = Lent::new(stream);
    let outbox = Outbox::default();
    let (stream, known) = Watched::of_client(stream, HEAD_TIMEOUT, &outbox);
    let flags = known.clone();
    let ended = serve_requests(stream, service, closing, known, &outbox).await;
    let refused = refusals::of_failure(ended.err().as_ref(), outbox.kept(), flags.is_late());
    if let Some((status, reason)) = refused {
        let stream = place.lock().take();
        if let Some(mut stream) = stream {
            refusals.answer(&mut stream, number, (status, &reason), &flags.asker()).await;
        }
    }
}

/// # Errors
/// The connection broke, or what came is no request.
async fn serve_requests<S>(
    stream: Watched<Lent<TcpStream>>,
    service: S,
    closing: impl Future<Output = ()>,
    known: ConnectionFlags,
    outbox: &Outbox,
) -> Result<(), hyper::Error>
where
    S: Service<Request<Incoming>, Response = Response<Body>>,
    S::Error: Into<BodyError>,
{
    let service = service_fn(move |mut request: Request<Incoming>| {
        if known.take_hidden() {
            restore(request.headers_mut());
        }
        let fault = known.fault();
        if let Some(reason) = fault {
            request.extensions_mut().insert(AmbiguousLength(reason));
        }
        outbox.begin();
        request.extensions_mut().insert(known.clone());
        request.extensions_mut().insert(outbox.clone());
        let to_head = request.method() == Method::HEAD;
        let (answer, known) = (service.call(request), known.clone());
        async move {
            tokio::pin!(answer);
            let mut answer = loop {
                tokio::select! {
                    biased;
                    answer = &mut answer => break answer,
                    // The library flushes whenever it has asked for the answer, and with that what it does not know.
                    () = outbox.changed() => {}
                }
            };
            outbox.owe(to_head);
            if let Ok(answer) = &mut answer {
                if answer.status() == StatusCode::SWITCHING_PROTOCOLS {
                    known.end();
                }
                if fault.is_some() {
                    answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
                }
            }
            answer
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(IDLE_TIMEOUT)
        .max_buf_size(MAX_HEAD_BYTES)
        .max_header_size(MAX_HEAD_BYTES)
        .preserve_header_case(true)
        .auto_date_header(false)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    tokio::pin!(connection);
    tokio::select! {
        ended = connection.as_mut() => return ended,
        () = closing => connection.as_mut().graceful_shutdown(),
    }
    connection.await
}

/// Whether a header belongs to one hop, whether `Connection` names it or not.
fn is_of_one_hop(name: &HeaderName) -> bool {
    matches!(
        name.as_str(),
        "connection"
            | "proxy-authenticate"
            | "proxy-authorization"
            | "te"
            | "trailer"
            | "transfer-encoding"
            | "upgrade"
            | "keep-alive"
            | "proxy-connection"
    )
}

/// Removes headers that belong to one hop (RFC 9110 §7.6.1).
pub(super) fn strip(headers: &mut HeaderMap) {
    // Most heads have none.
    let mut doomed: Vec<HeaderName> = headers.keys().filter(|name| is_of_one_hop(name)).cloned().collect();
    if doomed.contains(&header::CONNECTION) {
        let named = headers.get_all(header::CONNECTION).iter().filter_map(|value| value.to_str().ok());
        doomed.extend(named.flat_map(|value| value.split(',')).filter_map(|name| name.trim().parse().ok()));
    }
    for name in doomed {
        headers.remove(name);
    }
}

/// Leaves the one length that a message has (RFC 9112 §6.3): none if it has a transfer coding, which takes precedence, and
/// one if the same is stated several times.
fn mend_length(headers: &mut HeaderMap) {
    if headers.contains_key(header::TRANSFER_ENCODING) {
        headers.remove(header::CONTENT_LENGTH);
        return;
    }
    // The library has refused lengths that differ.
    let stated = headers.get(header::CONTENT_LENGTH).map(|stated| stated.as_bytes());
    let first = stated.and_then(|stated| stated.split(|byte| *byte == b',').next()).map(<[u8]>::trim_ascii);
    if let Some(Ok(length)) = first.map(HeaderValue::from_bytes) {
        headers.insert(header::CONTENT_LENGTH, length);
    }
}

/// The transfer codings of a body. The library undoes `chunked` only, and applies it again; the others stay as they are,
/// so whoever gets the body must learn of them.
struct Codings(Vec<HeaderValue>);

impl Codings {
    fn of(headers: &HeaderMap) -> Self {
        Self(headers.get_all(header::TRANSFER_ENCODING).iter().cloned().collect())
    }

    /// Puts them into a head whose body has no other framing.
    fn put(self, headers: &mut HeaderMap) {
        for coding in self.0 {
            headers.append(header::TRANSFER_ENCODING, coding);
        }
    }

    /// Puts them into a head whose framing is up to the library, if there are any that it does not know.
    fn put_unknown(self, headers: &mut HeaderMap) {
        let names: Vec<_> = self.0.iter().flat_map(|value| value.as_bytes().split(|byte| *byte == b',')).collect();
        let is_known = |name: &&[u8]| {
            ["chunked", "identity", ""].iter().any(|known| name.trim_ascii().eq_ignore_ascii_case(known.as_bytes()))
        };
        if names.iter().all(is_known) {
            return;
        }
        let ends_with_chunked = names.last().is_some_and(|name| name.trim_ascii().eq_ignore_ascii_case(b"chunked"));
        self.put(headers);
        // The library would add it to other headers, too.
        if !ends_with_chunked {
            headers.append(header::TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
        }
    }
}

/// What the exchanges of one client's connection share. Only the thread of the connection counts the references to it:
/// those to the proxy are counted by several threads, which would wait for each other's caches.
struct Connection {
    proxy: Arc<Proxy>,
    client: ClientConnection,
}

impl Connection {
    fn watch(&self) -> &dyn ExchangeObserver {
        &*self.proxy.watch
    }
}

/// A client's connection, whatever its protocol. Reports its end when dropped.
struct Line {
    connection: Arc<Connection>,
    upstream: Upstream,
}

impl Drop for Line {
    fn drop(&mut self) {
        self.connection.watch().client_closed(self.connection.client.number);
    }
}

/// One exchange, to report what happens in it.
#[derive(Clone)]
struct Exchange {
    connection: Arc<Connection>,
    number: u32,
}

impl Exchange {
    fn see(&self, seen: ExchangeEvent<'_>) {
        self.connection.watch().see(self.number, seen);
    }

    /// Reports what had to be mended of the messages toward this side, since the last time.
    fn see_repairs(&self, direction: Direction, known: &ConnectionFlags) {
        known.take_repairs().for_each(|repair| self.see(ExchangeEvent::Repaired(direction, repair.reported())));
    }

    fn body_filter(&self, direction: Direction) -> Option<Box<dyn BodyFilter>> {
        self.connection.watch().body_filter(self.number, direction)
    }
}

/// An exchange that passes through. If it is dropped before a response, it reports that the client disconnected.
struct Passage {
    exchange: Exchange,
    answered: bool,
    /// What a page may learn of responses of the proxy's own. About the server's responses, the server decides.
    cors: Cors,
}

impl Passage {
    /// An error response of the proxy's own.
    fn refuse(mut self, status: StatusCode, reason: &str) -> Response<Body> {
        self.answer(status, reason)
    }

    fn answer(&mut self, status: StatusCode, reason: &str) -> Response<Body> {
        self.answered = true;
        self.exchange.see(ExchangeEvent::Refused(status, reason));
        let mut response = Response::new(full(format!("mcpreel: {reason}\n")));
        *response.status_mut() = status;
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        self.cors.apply(&mut response);
        response
    }

    /// Holds back a request's body for the observer. Returns the part to send on.
    async fn filter(&mut self, body: Incoming, intake: &mut IntakeLimits) -> Result<Option<Bytes>, Response<Body>> {
        let exchange = self.exchange.clone();
        let body = body.map_frame(|frame| {
            if let Some(trailers) = frame.trailers_ref() {
                exchange.see(ExchangeEvent::Trailers(Direction::ClientToServer, trailers, false));
            }
            frame
        });
        match request_body::read(body, intake).await {
            Ok(bytes) => {
                let bytes = Bytes::from(bytes);
                self.exchange.see(ExchangeEvent::RequestBody(&bytes));
                self.exchange.see(ExchangeEvent::RequestEnd(None));
                let watch = self.exchange.connection.watch();
                if watch.sifts() { Ok(watch.filter(self.exchange.number, bytes)) } else { Ok(Some(bytes)) }
            }
            Err(BodyFault::TooLong) => {
                let reason = HttpError::TooLong(intake.limit.bytes() as u64).to_string();
                Err(self.answer(StatusCode::PAYLOAD_TOO_LARGE, &reason))
            }
            Err(fault) => Err(self.answer(fault.status(), &fault.reported(intake))),
        }
    }

    /// The response to a message that was only for the observer.
    fn keep(mut self) -> Response<Body> {
        self.answered = true;
        // The recorded message is marked as injected, which explains this.
        self.exchange.see(ExchangeEvent::ResponseEnd(None));
        let mut response = Response::new(empty());
        *response.status_mut() = StatusCode::ACCEPTED;
        self.cors.apply(&mut response);
        response
    }

    fn tee(&self, body: Incoming, direction: Direction, bounds: Bounds, known: ConnectionFlags) -> Body {
        let exchange = self.exchange.clone();
        let Bounds { limit, body_filter, trailers } = bounds;
        let mut tee = Tee { body, exchange, direction, passed: 0, limit, ended: false, body_filter, trailers, known };
        if tee.body.is_end_stream() {
            tee.end(None);
        }
        tee.boxed_unsync()
    }
}

impl Drop for Passage {
    fn drop(&mut self) {
        if !self.answered {
            self.exchange.see(ExchangeEvent::ClientGone("the client hung up before the response"));
        }
    }
}

/// What may be in a body besides what comes.
struct Bounds {
    /// The maximum length.
    limit: u64,
    /// Inserts and removes messages.
    body_filter: Option<Box<dyn BodyFilter>>,
    /// Where its trailers go, if the other side can take any.
    trailers: Option<TrailerSlot>,
}

/// A body that is observed as it passes.
struct Tee {
    body: Incoming,
    exchange: Exchange,
    direction: Direction,
    passed: u64,
    limit: u64,
    ended: bool,
    /// Inserts and removes messages.
    body_filter: Option<Box<dyn BodyFilter>>,
    trailers: Option<TrailerSlot>,
    /// What is known of the connection that it comes from.
    known: ConnectionFlags,
}

impl Tee {
    fn end(&mut self, reason: Option<&str>) {
        if !std::mem::replace(&mut self.ended, true) {
            self.exchange.see_repairs(self.direction, &self.known);
            self.exchange.see(match self.direction {
                Direction::ClientToServer => ExchangeEvent::RequestEnd(reason),
                Direction::ServerToClient => ExchangeEvent::ResponseEnd(reason),
            });
        }
    }

    fn pass(&mut self, bytes: &Bytes) -> Result<(), BodyError> {
        self.passed += bytes.len() as u64;
        if self.passed > self.limit {
            return Err(HttpError::TooLong(self.limit).into());
        }
        self.exchange.see(seen(self.direction, bytes));
        Ok(())
    }
}

fn seen(direction: Direction, bytes: &[u8]) -> ExchangeEvent<'_> {
    match direction {
        Direction::ClientToServer => ExchangeEvent::RequestBody(bytes),
        Direction::ServerToClient => ExchangeEvent::ResponseBody(bytes),
    }
}

impl hyper::body::Body for Tee {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        loop {
            if let Some(body_filter) = &mut self.body_filter
                && let Poll::Ready(block) = body_filter.poll_insert(context)
            {
                return Poll::Ready(Some(Ok(Frame::data(block))));
            }
            let mut polled = ready!(Pin::new(&mut self.body).poll_frame(context));
            if let Some(Ok(frame)) = &polled
                && let Some(trailers) = frame.trailers_ref()
            {
                let slot = self.trailers.take();
                self.exchange.see(ExchangeEvent::Trailers(self.direction, trailers, slot.is_some()));
                slot.into_iter().for_each(|slot| slot.put(trailers));
                // Nothing follows them.
                polled = None;
            }
            let passed = match polled {
                None => {
                    self.end(None);
                    let held = self.body_filter.take().map(|mut body_filter| body_filter.finish()).unwrap_or_default();
                    return Poll::Ready((!held.is_empty()).then(|| Ok(Frame::data(held))));
                }
                Some(Ok(frame)) => match frame.data_ref().map(|bytes| self.pass(bytes)) {
                    Some(Err(error)) => Err(error),
                    _ => Ok(frame),
                },
                Some(Err(error)) => Err(error.into()),
            };
            if let Err(error) = &passed {
                let reason = error_chain(error.as_ref());
                self.end(Some(&reason));
            } else if self.body.is_end_stream() {
                self.end(None);
            }
            let Some(body_filter) = &mut self.body_filter else { return Poll::Ready(Some(passed)) };
            match passed.map(|frame| frame.into_data().map(|bytes| body_filter.pass(bytes))) {
                Ok(Ok(bytes)) if bytes.is_empty() => {}
                Ok(Ok(bytes)) => return Poll::Ready(Some(Ok(Frame::data(bytes)))),
                Ok(Err(trailers)) => return Poll::Ready(Some(Ok(trailers))),
                Err(error) => return Poll::Ready(Some(Err(error))),
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body_filter.is_none() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        // Insertions and removals change the length.
        if self.body_filter.is_some() { SizeHint::default() } else { self.body.size_hint() }
    }
}

impl Drop for Tee {
    fn drop(&mut self) {
        match self.direction {
            Direction::ClientToServer => self.end(Some("the rest was not taken")),
            Direction::ServerToClient if !std::mem::replace(&mut self.ended, true) => {
                self.exchange.see(ExchangeEvent::ClientGone("the client hung up"));
            }
            Direction::ServerToClient => {}
        }
    }
}

/// Carries bytes in both directions after a protocol switch.
async fn tunnel(from_client: OnUpgrade, to_server: OnUpgrade, mut passage: Passage, line: Arc<Line>) {
    passage.answered = true;
    let (client, server) = match tokio::try_join!(from_client, to_server) {
        Ok((client, server)) => (TokioIo::<Upgraded>::new(client), TokioIo::<Upgraded>::new(server)),
        Err(error) => return passage.exchange.see(ExchangeEvent::ResponseEnd(Some(&error_chain(&error)))),
    };
    let (client_read, client_write) = tokio::io::split(client);
    let (server_read, server_write) = tokio::io::split(server);
    let (up, down) = tokio::join!(
        carry(client_read, server_write, Direction::ClientToServer, &passage.exchange),
        carry(server_read, client_write, Direction::ServerToClient, &passage.exchange),
    );
    passage.exchange.see(ExchangeEvent::RequestEnd(up.as_deref()));
    passage.exchange.see(ExchangeEvent::ResponseEnd(down.as_deref()));
    drop(line);
}

/// Carries bytes until the end. Returns the reason if the connection broke.
async fn carry(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    direction: Direction,
    exchange: &Exchange,
) -> Option<String> {
    let mut body_filter = exchange.body_filter(direction);
    let mut chunk = vec![0u8; 16 << 10];
    let broke = loop {
        let passed = tokio::select! {
            inserted = inserted(&mut body_filter) => inserted,
            got = from.read(&mut chunk) => match got {
                Ok(0) => break None,
                Ok(got) => {
                    exchange.see(seen(direction, &chunk[..got]));
                    match &mut body_filter {
                        Some(body_filter) => body_filter.pass(Bytes::copy_from_slice(&chunk[..got])),
                        None => Bytes::copy_from_slice(&chunk[..got]),
                    }
                }
                Err(error) => break Some(error.to_string()),
            },
        };
        if let Err(error) = to.write_all(&passed).await {
            break Some(error.to_string());
        }
    };
    if let Some(mut body_filter) = body_filter {
        let _ = to.write_all(&body_filter.finish()).await;
    }
    let _ = to.shutdown().await;
    broke
}

/// The next inserted bytes.
async fn inserted(body_filter: &mut Option<Box<dyn BodyFilter>>) -> Bytes {
    match body_filter {
        Some(body_filter) => std::future::poll_fn(|context| body_filter.poll_insert(context)).await,
        None => std::future::pending().await,
    }
}
