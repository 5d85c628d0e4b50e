//! One client connection's own connection to the server: what one side closes is closed on the other, and no request
//! goes into a connection that somebody else's pause let grow old.

use super::http::{Body, HttpClient, HttpError, place};
use hyper::body::Incoming;
use hyper::client::conn::http1::{Builder, SendRequest};
use hyper::{Request, Response, Uri, header};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::{Mutex, Notify};

/// See the module.
pub(super) struct Upstream {
    client: HttpClient,
    /// Scheme, host and port of the server.
    origin: Uri,
    sender: Mutex<Option<SendRequest<Body>>>,
    closed: Arc<Notify>,
    /// Another protocol takes the connection over: that is not its end.
    is_handed_over: Arc<AtomicBool>,
}

impl Upstream {
    /// Nothing is connected yet.
    pub fn new(client: HttpClient, origin: Uri) -> Self {
        Self { client, origin, sender: Mutex::default(), closed: Arc::default(), is_handed_over: Arc::default() }
    }

    /// Told when the server closes its connection.
    pub fn closed(&self) -> Arc<Notify> {
        Arc::clone(&self.closed)
    }

    /// Sends a request, waits for the response's head.
    pub async fn send(&self, mut request: Request<Body>) -> Result<Response<Incoming>, HttpError> {
        // A client's connection carries one exchange at a time, so nobody waits here.
        let mut held = self.sender.lock().await;
        self.is_handed_over.store(request.headers().contains_key(header::UPGRADE), Ordering::Release);
        loop {
            let (mut sender, is_fresh) = match held.take().filter(|sender| !sender.is_closed()) {
                Some(sender) => (sender, false),
                None => (self.connect().await?, true),
            };
            if let Err(error) = sender.ready().await {
                match is_fresh {
                    true => return Err(self.failed(&error)),
                    false => continue,
                }
            }
            match sender.try_send_request(request).await {
                Ok(response) => {
                    *held = Some(sender);
                    return Ok(response);
                }
                Err(mut error) => match error.take_message().filter(|_| !is_fresh) {
                    // Not a byte of it went out: the server closed meanwhile.
                    Some(unsent) => request = unsent,
                    None => return Err(self.failed(error.error())),
                },
            }
        }
    }

    async fn connect(&self) -> Result<SendRequest<Body>, HttpError> {
        let stream = self.client.connect(self.origin.clone()).await?;
        let built = Builder::new()
            .preserve_header_case(true)
            .max_headers(super::http::MOST_HEADERS)
            .max_buf_size(super::http::HEAD_LIMIT)
            .handshake(stream)
            .await;
        let (sender, connection) = built.map_err(|error| self.failed(&error))?;
        let (closed, is_handed_over) = (Arc::clone(&self.closed), Arc::clone(&self.is_handed_over));
        tokio::spawn(async move {
            let _ = connection.with_upgrades().await;
            if !is_handed_over.load(Ordering::Acquire) {
                closed.notify_one();
            }
        });
        Ok(sender)
    }

    fn failed(&self, error: &hyper::Error) -> HttpError {
        HttpError::of_exchange(&place(&self.origin), error)
    }
}
