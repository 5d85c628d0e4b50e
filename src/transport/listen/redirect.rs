//! Receives the response to one login: a listener on this machine, to which the authorization server redirects the
//! user's browser (RFC 8252 §7.3). It closes after the response.
//!
//! Such a request comes from another site, so this is the only listener without a check of Origin and Sec-Fetch-Site.
//! Instead, `Host` must be this machine, and the request must know the login's `state`, which counts once.

use super::origin_check::is_for_loopback;
use super::proxy::serve_connection;
use crate::oauth::{Answer, AuthorizationRequest, OAuthError};
use crate::transport::client::http::{Body, full};
use hyper::body::Incoming;
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use oauth2::AuthorizationCode;
use std::borrow::Cow;
use std::convert::Infallible;
use std::future::pending;
use std::io;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::sleep;

/// The path of the redirect address.
const PATH: &str = "/callback";
/// The maximum number of connections.
const MAX_CONNECTIONS: usize = 64;
/// The delay after a connection could not be accepted, which is usually for lack of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The response to a login: its code, or why there is none.
pub(crate) type LoginResponse = Result<AuthorizationCode, OAuthError>;

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

    /// Waits for the response to this login.
    pub(crate) async fn receive(self, login: &Arc<AuthorizationRequest>) -> LoginResponse {
        let (sender, mut response) = oneshot::channel();
        let door = Arc::new(Door { login: Arc::clone(login), port: self.port, open: Mutex::new(Some(sender)) });
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
    open: Mutex<Option<oneshot::Sender<LoginResponse>>>,
}

impl Door {
    async fn serve(self: Arc<Self>, stream: TcpStream) {
        let service = service_fn(move |request: Request<Incoming>| {
            let answered = self.answer(&request.into_parts().0);
            async { Ok::<_, Infallible>(answered) }
        });
        serve_connection(stream, service, pending()).await;
    }

    fn answer(&self, request: &Parts) -> Response<Body> {
        match self.judge(request) {
            Err((status, why)) => page(status, &why),
            Ok(response) => {
                let shown = match response.is_ok() {
                    // The code may still be refused, which only the terminal shows.
                    true => page(StatusCode::OK, "mcpreel has received your login. You can close this page."),
                    // The reason may contain a stranger's words.
                    false => {
                        page(StatusCode::BAD_REQUEST, "The login failed. mcpreel shows the reason in its terminal.")
                    }
                };
                let sender = self.open.lock().unwrap_or_else(PoisonError::into_inner).take();
                match sender.map(|sender| sender.send(response)) {
                    Some(Ok(())) => shown,
                    _ => page(StatusCode::BAD_REQUEST, "This login is already over. Nothing was done."),
                }
            }
        }
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
