//! The way to a host: straight, or through the proxy that the environment names for it.

use super::http::HttpError;
use hyper::Uri;
use hyper::header::HeaderValue;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use hyper_util::rt::TokioIo;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::net::TcpStream;
use tower_service::Service;

/// Connects to hosts.
#[derive(Clone)]
pub struct Reach {
    tcp: HttpConnector,
    proxies: Arc<Matcher>,
    tunnel_always: bool,
}

impl Reach {
    /// With the proxies of the environment (`HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`); a connection may
    /// take so long to come about.
    pub fn new(limit: Duration) -> Self {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(limit));
        Self { tcp, proxies: Arc::new(Matcher::from_env()), tunnel_always: false }
    }

    /// The same, with a tunnel through every proxy: for what is not HTTP.
    #[must_use]
    pub fn tunnelling(&self) -> Self {
        Self { tunnel_always: true, ..self.clone() }
    }

    /// What a proxy that forwards plain HTTP wants to see on each request to this URL.
    pub fn plain_proxy_pass(&self, uri: &Uri) -> Option<HeaderValue> {
        let is_plain = uri.scheme_str() == Some("http");
        self.proxies.intercept(uri).filter(|_| is_plain)?.basic_auth().cloned()
    }
}

/// A connection to a host, or to a proxy on the way.
pub struct Reached {
    stream: TokioIo<TcpStream>,
    /// The other end is a proxy that wants whole URLs.
    forwards: bool,
}

type BoxError = Box<dyn std::error::Error + Send + Sync>;

impl Service<Uri> for Reach {
    type Response = Reached;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Reached, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.tcp.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let mut tcp = self.tcp.clone();
        let Some(proxy) = self.proxies.intercept(&uri) else {
            return Box::pin(async move { Ok(Reached { stream: tcp.call(uri).await?, forwards: false }) });
        };
        let forwards = uri.scheme_str() == Some("http") && !self.tunnel_always;
        Box::pin(async move { through(proxy, tcp, uri, forwards).await.map_err(Into::into) })
    }
}

async fn through(proxy: Intercept, mut tcp: HttpConnector, uri: Uri, forwards: bool) -> Result<Reached, HttpError> {
    let host = proxy.uri().authority().map(ToString::to_string).unwrap_or_default();
    if proxy.uri().scheme_str() != Some("http") {
        let scheme = proxy.uri().scheme_str().unwrap_or_default();
        return Err(HttpError::Proxy(format!("the proxy {scheme}://{host} is of a kind that is not spoken here")));
    }
    let failed = |error: &dyn std::error::Error| {
        HttpError::Proxy(format!("the proxy {host} does not let us through: {}", super::http::whole(error)))
    };
    let stream = if forwards {
        tcp.call(proxy.uri().clone()).await.map_err(|error| failed(&error))?
    } else {
        let mut tunnel = Tunnel::new(proxy.uri().clone(), tcp);
        if let Some(pass) = proxy.basic_auth() {
            tunnel = tunnel.with_auth(pass.clone());
        }
        tunnel.call(uri).await.map_err(|error| failed(&error))?
    };
    Ok(Reached { stream, forwards })
}

impl Connection for Reached {
    fn connected(&self) -> Connected {
        self.stream.connected().proxy(self.forwards)
    }
}

impl Read for Reached {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl Write for Reached {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, parts)
    }
}
