//! The connection to the server that belongs to one client connection. What one side closes is closed on the other, and
//! no request goes into a connection that became stale during another client's pause.

use super::outlet::Outbox;
use super::watched::{ConnectionFlags, Watched};
use crate::transport::client::http::{Body, HttpClient, HttpError, MAX_HEAD_BYTES, place};
use hyper::body::Incoming;
use hyper::client::conn::http1::{Builder, SendRequest};
use hyper::{Method, Request, Response, Uri, header};
use hyper_util::rt::TokioIo;
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
    /// The connection may be upgraded.
    upgrades: Arc<AtomicBool>,
    /// The server has closed a connection instead of answering the last request.
    has_hung_up: AtomicBool,
    known: ConnectionFlags,
    outbox: Outbox,
}

impl Upstream {
    /// Connects later.
    pub(super) fn new(client: HttpClient, origin: Uri) -> Self {
        Self {
            client,
            origin,
            sender: Mutex::default(),
            closed: Arc::default(),
            upgrades: Arc::default(),
            has_hung_up: AtomicBool::default(),
            known: ConnectionFlags::default(),
            outbox: Outbox::default(),
        }
    }

    /// What is known of the server's responses.
    pub(super) fn known(&self) -> &ConnectionFlags {
        &self.known
    }

    /// What goes to the server besides heads and bodies.
    pub(super) fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    /// Notified when the server closes its connection.
    pub(super) fn closed(&self) -> Arc<Notify> {
        Arc::clone(&self.closed)
    }

    /// Whether the server has closed its connection instead of answering the last request.
    pub(super) fn has_hung_up(&self) -> bool {
        self.has_hung_up.load(Ordering::Acquire)
    }

    /// Sends a request and waits for the response's head.
    ///
    /// # Errors
    /// The exchange failed; a request of which nothing was sent is returned, too.
    pub(super) async fn send(
        &self,
        mut request: Request<Body>,
    ) -> Result<Response<Incoming>, (HttpError, Option<Request<Body>>)> {
        if request.headers().contains_key(header::UPGRADE) {
            // An upgraded connection ends for HTTP without being closed.
            self.upgrades.store(true, Ordering::Release);
        }
        self.has_hung_up.store(false, Ordering::Release);
        self.known.expect_response(request.method() == Method::HEAD);
        // A client connection carries one exchange at a time, so this never waits.
        let mut held = self.sender.lock().await;
        loop {
            let (mut sender, is_fresh) = match held.take().filter(|sender| !sender.is_closed()) {
                Some(sender) => (sender, false),
                None => match self.connect().await {
                    Ok(sender) => (sender, true),
                    Err(error) => return Err((error, Some(request))),
                },
            };
            if let Err(error) = sender.ready().await {
                match is_fresh {
                    true => return Err((self.failed(&error), Some(request))),
                    false => continue,
                }
            }
            self.outbox.begin();
            match sender.try_send_request(request).await {
                Ok(response) => {
                    if !self.known.is_last() {
                        *held = Some(sender);
                    }
                    return Ok(response);
                }
                Err(mut error) => match error.take_message().filter(|_| !is_fresh) {
                    // Nothing of it was sent, because the server closed the connection meanwhile.
                    Some(unsent) => request = unsent,
                    None => {
                        self.has_hung_up.store(!error.error().is_parse(), Ordering::Release);
                        return Err((self.failed(error.error()), None));
                    }
                },
            }
        }
    }

    async fn connect(&self) -> Result<SendRequest<Body>, HttpError> {
        let stream = self.client.connect(self.origin.clone()).await?;
        self.outbox.reset();
        let built = Builder::new()
            .preserve_header_case(true)
            .max_buf_size(MAX_HEAD_BYTES)
            .max_header_size(MAX_HEAD_BYTES)
            .handshake(TokioIo::new(Watched::of_server(TokioIo::new(stream), self.known.clone(), &self.outbox)))
            .await;
        let (sender, connection) = built.map_err(|error| self.failed(&error))?;
        let (closed, upgrades, outbox) = (Arc::clone(&self.closed), Arc::clone(&self.upgrades), self.outbox.clone());
        tokio::spawn(async move {
            let connection = connection.with_upgrades();
            tokio::pin!(connection);
            loop {
                tokio::select! {
                    biased;
                    _ = &mut connection => break,
                    // As on the client's side: the library flushes whenever it is asked.
                    () = outbox.changed() => {}
                }
            }
            if !upgrades.load(Ordering::Acquire) {
                closed.notify_one();
            }
        });
        Ok(sender)
    }

    fn failed(&self, error: &hyper::Error) -> HttpError {
        HttpError::of_exchange(&place(&self.origin), error)
    }
}
