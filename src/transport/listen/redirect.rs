//! Receives the response to one login: a listener on this machine, to which the authorization server redirects the
//! user's browser (RFC 8252 §7.3). It closes after the response.
//!
//! Such a request comes from another site, so this is the only listener without a check of Origin and Sec-Fetch-Site.
//! Instead, `Host` must be this machine, and the request must know the login's `state`, which counts once.

use super::accept::serve_connection;
use super::origin_check::is_for_loopback;
use super::refusals::Refusals;
use crate::oauth::{Answer, AuthorizationRequest, OAuthError};
use crate::transport::client::http::{Body, full};
use hyper::body::Incoming;
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use oauth2::AuthorizationCode;
use parking_lot::Mutex;
use std::borrow::Cow;
use std::convert::Infallible;
use std::future::pending;
use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::{sleep, timeout};

/// The path of the redirect address.
const PATH: &str = "/callback";
/// The maximum number of connections.
const MAX_CONNECTIONS: usize = 64;
/// The delay after a connection could not be accepted, which is usually for lack of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// How long the user's page waits for the result of a login. The page of a login that takes longer refers to the terminal.
const RESULT_TIME: Duration = Duration::from_secs(5);
/// How long to wait until the browser has read the page.
const PAGE_TIME: Duration = Duration::from_secs(2);
/// The page of a login that failed.
const FAILED: &str = "The login failed. mcpreel shows the reason in its terminal.";
/// The page of a second response.
const OVER: &str = "This login is already over. Nothing was done.";
/// How many requests that do not belong to the login are reported.
const MAX_REPORTS: u32 = 3;

/// The response to a login: its code, or why there is none.
type LoginResponse = Result<AuthorizationCode, OAuthError>;
/// A response that was let in, with the page that waits for its result.
type Received = Result<(AuthorizationCode, WaitingPage), OAuthError>;

/// The user's page, which waits for the result of the login.
pub(crate) struct WaitingPage {
    result: oneshot::Sender<bool>,
    was_read: oneshot::Receiver<()>,
}

impl WaitingPage {
    /// Shows whether the login succeeded, and waits a little until the browser has read that.
    pub(crate) async fn show(self, succeeded: bool) {
        if self.result.send(succeeded).is_ok() {
            let _ = timeout(PAGE_TIME, self.was_read).await;
        }
    }
}

/// A listener for the response to one login.
pub(crate) struct RedirectListener {
    listener: TcpListener,
    port: u16,
}

impl RedirectListener {
    /// Binds to a port of this machine; 0 selects a free one.
    ///
    /// # Errors
    /// The port cannot be used.
    pub(crate) async fn bind(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let port = listener.local_addr()?.port();
        Ok(Self { listener, port })
    }

    /// The redirect address.
    pub(crate) fn url(&self) -> String {
        format!("http://{}:{}{PATH}", Ipv4Addr::LOCALHOST, self.port)
    }

    /// Waits for the response to this login. Returns its code, and the page that waits for what comes of it. `report` is
    /// called about requests that do not belong to the login.
    ///
    /// # Errors
    /// The login was refused, or its response is not the authorization server's.
    pub(crate) async fn receive(self, login: &Arc<AuthorizationRequest>, report: fn(&str)) -> Received {
        let (sender, mut response) = oneshot::channel();
        let door = Arc::new(Door {
            login: Arc::clone(login),
            port: self.port,
            open: Mutex::new(Some(sender)),
            report,
            reports: AtomicU32::new(0),
        });
        let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        loop {
            tokio::select! {
                response = &mut response => {
                    let ended = || OAuthError::Exchange("the redirect listener ended".to_owned());
                    return response.unwrap_or_else(|_| Err(ended()));
                }
                accepted = self.accept(&places) => if let Some((stream, place)) = accepted {
                    let door = Arc::clone(&door);
                    // Not ended with the listener: the user's browser still reads the page.
                    tokio::spawn(async move {
                        door.serve(stream).await;
                        drop(place);
                    });
                },
            }
        }
    }

    /// The next connection, once there is a place for it; `None` if that failed.
    async fn accept(&self, places: &Arc<Semaphore>) -> Option<(TcpStream, OwnedSemaphorePermit)> {
        let place = Arc::clone(places).acquire_owned().await.ok()?;
        match self.listener.accept().await {
            Ok((stream, _)) => Some((stream, place)),
            Err(_) => {
                sleep(ACCEPT_PAUSE).await;
                None
            }
        }
    }
}

/// Lets one response in.
struct Door {
    login: Arc<AuthorizationRequest>,
    port: u16,
    /// Taken by the response.
    open: Mutex<Option<oneshot::Sender<Received>>>,
    report: fn(&str),
    /// The number of requests that did not belong to the login.
    reports: AtomicU32,
}

/// What a connection's last page was: for the one of the response, who waits for it to be read.
type PageReader = Mutex<Option<oneshot::Sender<()>>>;

impl Door {
    async fn serve(self: Arc<Self>, stream: TcpStream) {
        let reader = Arc::new(PageReader::default());
        let of_service = Arc::clone(&reader);
        let service = service_fn(move |request: Request<Incoming>| {
            let (door, reader) = (Arc::clone(&self), Arc::clone(&of_service));
            async move { Ok::<_, Infallible>(door.answer(&request.into_parts().0, &reader).await) }
        });
        serve_connection(stream, service, pending(), (None, &Refusals::silent())).await;
        let reader = reader.lock().take();
        reader.map(|reader| reader.send(()));
    }

    async fn answer(&self, request: &Parts, reader: &PageReader) -> Response<Body> {
        match self.judge(request) {
            Err((status, why)) => page(status, &why),
            // The reason may contain a stranger's words.
            Ok(Err(error)) => page(StatusCode::BAD_REQUEST, if self.let_in(Err(error)) { FAILED } else { OVER }),
            Ok(Ok(code)) => {
                let ((result, shown), (read, was_read)) = (oneshot::channel(), oneshot::channel());
                if !self.let_in(Ok((code, WaitingPage { result, was_read }))) {
                    return page(StatusCode::BAD_REQUEST, OVER);
                }
                *reader.lock() = Some(read);
                match timeout(RESULT_TIME, shown).await {
                    Ok(Ok(true)) => page(StatusCode::OK, "mcpreel has logged in. You can close this page."),
                    Ok(_) => page(StatusCode::BAD_REQUEST, FAILED),
                    Err(_) => page(StatusCode::OK, "mcpreel's terminal will show whether the login succeeded."),
                }
            }
        }
    }

    /// Passes the response on, unless there was one before.
    fn let_in(&self, response: Received) -> bool {
        let sender = self.open.lock().take();
        sender.is_some_and(|sender| sender.send(response).is_ok())
    }

    fn judge(&self, request: &Parts) -> Result<LoginResponse, (StatusCode, Cow<'static, str>)> {
        let Parts { uri, method, .. } = request;
        if !is_for_loopback(request, self.port) {
            return Err((StatusCode::FORBIDDEN, "The request names another host than this machine.".into()));
        }
        if uri.path() != PATH {
            return Err((StatusCode::NOT_FOUND, "There is nothing at this address.".into()));
        }
        if method != Method::GET {
            return Err((StatusCode::METHOD_NOT_ALLOWED, "Only GET requests are accepted here.".into()));
        }
        match self.login.read_answer(uri.query().unwrap_or_default()) {
            Answer::Foreign(why) => {
                if self.reports.fetch_add(1, Ordering::Relaxed) < MAX_REPORTS {
                    (self.report)(&format!(
                        "ignored a request to the redirect address that is not the response to this login: {why}"
                    ));
                }
                let text = format!("This is not the response to mcpreel's login. {why} mcpreel continues to wait.");
                Err((StatusCode::BAD_REQUEST, text.into()))
            }
            Answer::Final(response) => Ok(response),
        }
    }
}

/// A page for the user, which loads nothing and is not kept: its address contains the code.
fn page(status: StatusCode, text: &str) -> Response<Body> {
    let mut response = Response::new(full(format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>mcpreel</title><p>{text}</p></html>\n"
    )));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
        (header::CONNECTION, "close"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("x-content-type-options"), "nosniff"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if status == StatusCode::METHOD_NOT_ALLOWED {
        headers.insert(header::ALLOW, HeaderValue::from_static("GET"));
    }
    response
}
