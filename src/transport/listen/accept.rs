//! Accepts connections within the limits of all listeners, and serves the requests that come on them.

use super::head_gate::restore;
use super::heads::Asker;
use super::outlet::Outbox;
use super::refusals::{self, Lent, Refusals};
use super::watched::{AmbiguousLength, ConnectionFlags, Watched};
use crate::transport::client::http::{Body, BodyError, MAX_HEAD_BYTES};
use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

/// The maximum number of client connections; a head of each may be in memory.
const MAX_CONNECTIONS: usize = 512;
/// The maximum number of connections beyond that which are answered at the same time; more are closed.
const MAX_TURNED_AWAY: usize = 64;
/// How long a connection may wait for its next request.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);
/// The time limit for a request's head.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

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
pub(super) async fn accept_on<S, F>(
    next: impl AsyncFnMut() -> io::Result<S>,
    serve: impl FnMut(S, u32) -> F,
    turn_away: Option<TurnAway<S>>,
    spawn: impl FnMut(BoxedFuture),
) where
    F: Future<Output = ()> + Send + 'static,
{
    tokio::join!(accept_each(next, serve, turn_away, spawn), keep_a_timer());
}

pub(super) type BoxedFuture = Pin<Box<dyn Future<Output = ()> + Send>>;
pub(super) type TurnAway<S> = Box<dyn Fn(S) -> BoxedFuture + Send + Sync>;

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
pub(super) async fn turn_away(mut stream: TcpStream, refusals: &Refusals) {
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
