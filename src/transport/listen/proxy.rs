//! A reverse proxy that changes only what belongs to one hop: connection headers, framing and `Host`. Bodies pass
//! unchanged; an [`ExchangeObserver`](crate::transport::client::http::ExchangeObserver) sees everything first, and which
//! framing was mended.

use super::accept::{accept_on, serve_connection, turn_away};
use super::cors::Cors;
use super::head_gate::{remove_hidden, restore};
use super::hop::{Codings, mend_length, strip};
use super::origin_check::Access;
use super::passing::{Announcement, ClientSide, TrailerSlot, asks_for_trailers};
use super::refusals::Refusals;
use super::request_body::{self, BodyFault};
use super::spread::Spread;
use super::tee::{Bounds, Tee};
use super::tunnel::tunnel;
use super::upstream::Upstream;
use super::watched::ConnectionFlags;
use crate::transport::budget::{Budget, IntakeLimits};
use crate::transport::client::http::{
    Body, BodyFilter, ClientConnection, ExchangeEvent, ExchangeObserver, GONE_BEFORE_RESPONSE, HttpClient, HttpError,
    SharedObserver, empty, full,
};
use crate::transport::client::http_endpoint::shared_headers;
use crate::transport::client::login::{Attempts, Login, body_of, discard};
use crate::transport::client::remote::Remote;
use crate::wire::{Direction, MessageLimit};
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::http::{request, uri};
use hyper::service::service_fn;
use hyper::upgrade::OnUpgrade;
use hyper::{Method, Request, Response, StatusCode, Uri, Version};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};

/// How long to read the rest of a request that cannot be sent on, or not be served.
const UNSENT_TIMEOUT: Duration = Duration::from_secs(2);

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
                    line.hold_end(&request);
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
        let mut client_side = ClientSide::of(&head);
        let connection = Arc::clone(&line.connection);
        let number = self.watch.begin(connection.client, &head);
        let admitted = self.admit(&head);
        let may_read = self.access.check(&head).is_ok() || self.access.admits_page(&head.headers);
        let cors = Cors::of(&head.headers, may_read);
        let mut passage = Passage { exchange: Exchange { connection, number }, answered: false, cors };
        if let Err((status, reason)) = admitted {
            return passage.refuse(status, &reason);
        }
        let from_client = client_side.flags().clone();
        let client_end = from_client.client_end();
        client_end.tell(&passage.exchange);
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
            let bounds = Bounds { limit: self.body_limit, body_filter: None, trailers, client: None };
            client_side.leave_continue();
            RequestBody::Passing(passage.tee(body, Direction::ClientToServer, bounds, from_client.clone()))
        };
        let mut response = match self.send(&passage, (&line.upstream, &client_side), head, body).await {
            Ok(response) => response,
            Err((error @ HttpError::TooLong(_), _)) => {
                return passage.refuse(StatusCode::PAYLOAD_TOO_LARGE, &error.to_string());
            }
            Err(_) if client_end.has_come() && line.upstream.has_hung_up() => {
                // The server takes it that the client is gone. So does the library now, and drops the exchange.
                client_end.release();
                return std::future::pending().await;
            }
            Err((error, unsent)) => {
                if let Some(unsent) = unsent.filter(|_| !client_side.expects()) {
                    // Read the unsent body so that the reel has the request.
                    let _ = tokio::time::timeout(UNSENT_TIMEOUT, unsent.into_body().collect()).await;
                }
                return passage.refuse(StatusCode::BAD_GATEWAY, &error.to_string());
            }
        };
        let to_server = hyper::upgrade::on(&mut response);
        let (mut head, body) = response.into_parts();
        let from_server = line.upstream.known();
        if from_server.take_hidden() {
            let mut as_it_came = head.clone();
            restore(&mut as_it_came.headers);
            passage.exchange.see(ExchangeEvent::Response(&as_it_came));
            remove_hidden(&mut head.headers);
        } else {
            passage.exchange.see(ExchangeEvent::Response(&head));
        }
        passage.exchange.see_repairs(Direction::ServerToClient, from_server);
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
        if is_event_stream(&head.headers) && !client_end.has_come() {
            // Closing an event stream cancels its request (MCP 2026-07-28), so the server is hung up on.
            client_end.release();
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
        let trailers = client_side.trailers();
        let bounds = Bounds { limit: u64::MAX, body_filter, trailers, client: Some(client_side) };
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

/// Whether a response is a stream of events, which lasts until someone closes it.
fn is_event_stream(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    let kind = kind.split(|byte| *byte == b';').next().unwrap_or_default();
    kind.trim_ascii().eq_ignore_ascii_case(b"text/event-stream")
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
pub(super) struct Line {
    connection: Arc<Connection>,
    upstream: Upstream,
}

impl Line {
    /// Lets the server see it if the client closes its side behind this request. The library looks for that before it asks
    /// for the answer, so this is said when the request arrives. With a login, the server may have to get a request twice.
    fn hold_end(&self, request: &Request<Incoming>) {
        if self.connection.proxy.login.is_none()
            && let Some(known) = request.extensions().get::<ConnectionFlags>()
        {
            known.client_end().hold(self.upstream.outbox());
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.connection.watch().client_closed(self.connection.client.number);
    }
}

/// One exchange, to report what happens in it.
#[derive(Clone)]
pub(super) struct Exchange {
    connection: Arc<Connection>,
    number: u32,
}

impl Exchange {
    pub(super) fn see(&self, seen: ExchangeEvent<'_>) {
        self.connection.watch().see(self.number, seen);
    }

    /// Reports that the client closed its side of the connection.
    pub(super) fn client_ended(&self) {
        self.connection.watch().client_ended(self.number);
    }

    /// Reports what had to be mended of the messages toward this side, since the last time.
    pub(super) fn see_repairs(&self, direction: Direction, known: &ConnectionFlags) {
        known.take_repairs().for_each(|repair| self.see(ExchangeEvent::Repaired(direction, repair.reported())));
    }

    pub(super) fn body_filter(&self, direction: Direction) -> Option<Box<dyn BodyFilter>> {
        self.connection.watch().body_filter(self.number, direction)
    }
}

/// An exchange that passes through. If it is dropped before a response, it reports that the client disconnected.
pub(super) struct Passage {
    pub(super) exchange: Exchange,
    pub(super) answered: bool,
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
        Tee::new(body, self.exchange.clone(), direction, bounds, known).boxed_unsync()
    }
}

impl Drop for Passage {
    fn drop(&mut self) {
        if !self.answered {
            self.exchange.see(ExchangeEvent::ClientGone(GONE_BEFORE_RESPONSE));
        }
    }
}
