//! Connects to a host, directly or through the proxy that the environment sets for it.

use super::http::HttpError;
use crate::process::threads;
use crate::wire::text::error_chain;
use hyper::Uri;
use hyper::header::HeaderValue;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_rustls::{HttpsConnector, MaybeHttpsStream};
use hyper_util::client::legacy::connect::dns::Name;
use hyper_util::client::legacy::connect::proxy::{SocksV4, SocksV5, Tunnel};
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use hyper_util::rt::TokioIo;
use std::io::{self, IoSlice};
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use std::vec::IntoIter;
use tokio::net::TcpStream;
use tower_service::Service;

/// The default port of a SOCKS proxy.
const SOCKS_PORT: u16 = 1080;

/// A host name that cannot be resolved.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(crate) struct UnknownName(pub io::Error);

/// Decides whether an address may be connected to.
pub(crate) type AddressFilter = fn(IpAddr) -> bool;

/// The system's resolver. Its errors have a type, by which the cause of a failed connection is found.
#[derive(Clone)]
struct NameLookup {
    /// A name with any address that this does not permit is refused.
    permits: Option<AddressFilter>,
}

impl Service<Name> for NameLookup {
    type Response = IntoIter<SocketAddr>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<IntoIter<SocketAddr>, BoxError>> + Send>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let permits = self.permits;
        Box::pin(async move {
            let host = name.to_string();
            // The connector sets the port.
            let lookup = move || (host.as_str(), 0).to_socket_addrs();
            let found: Vec<SocketAddr> = threads::finish("resolver", lookup).await?.map_err(UnknownName)?.collect();
            match found.iter().find(|at| permits.is_some_and(|permits| !permits(at.ip()))) {
                Some(at) => Err(HttpError::Address(name.to_string(), at.ip()).into()),
                None => Ok(found.into_iter()),
            }
        })
    }
}

/// Connects to hosts.
#[derive(Clone)]
pub(crate) struct ProxyConnector {
    tcp: HttpConnector<NameLookup>,
    /// For connections without a proxy.
    direct: HttpConnector<NameLookup>,
    /// For proxies with https URLs.
    tls: Arc<rustls::ClientConfig>,
    proxies: Arc<Matcher>,
    tunnel_always: bool,
}

impl ProxyConnector {
    /// With the proxies of the environment (`HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`). `limit` is the time
    /// limit for connecting. A proxy's certificate is verified like a server's.
    pub(crate) fn new(limit: Duration, tls: Arc<rustls::ClientConfig>) -> Self {
        Self::by(Matcher::from_env(), limit, tls)
    }

    /// Without proxies.
    pub(crate) fn straight(limit: Duration, tls: Arc<rustls::ClientConfig>) -> Self {
        Self::by(Matcher::builder().build(), limit, tls)
    }

    fn by(proxies: Matcher, limit: Duration, tls: Arc<rustls::ClientConfig>) -> Self {
        let tcp = tcp(None, limit);
        Self { direct: tcp.clone(), tcp, tls, proxies: Arc::new(proxies), tunnel_always: false }
    }

    /// A copy that connects only to permitted addresses. Behind a proxy, the proxy decides.
    #[must_use]
    pub(crate) fn only_to(self, permits: AddressFilter, limit: Duration) -> Self {
        Self { direct: tcp(Some(permits), limit), ..self }
    }

    /// A copy that uses tunnels through all proxies, for protocols other than HTTP.
    #[must_use]
    pub(crate) fn tunnelling(&self) -> Self {
        Self { tunnel_always: true, ..self.clone() }
    }

    /// The `Proxy-Authorization` header for each plain HTTP request to this URL.
    pub(crate) fn plain_proxy_pass(&self, uri: &Uri) -> Option<HeaderValue> {
        let is_plain = uri.scheme_str() == Some("http");
        self.proxies.intercept(uri).filter(|_| is_plain)?.basic_auth().cloned()
    }
}

fn tcp(permits: Option<AddressFilter>, limit: Duration) -> HttpConnector<NameLookup> {
    let mut tcp = HttpConnector::new_with_resolver(NameLookup { permits });
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_connect_timeout(Some(limit));
    tcp
}

/// A connection; with TLS only if the proxy itself requires it.
type ProxyStream = MaybeHttpsStream<TokioIo<TcpStream>>;

/// A connection to a host, or to a proxy in front of it.
pub(crate) struct ProxiedConnection {
    stream: ProxyStream,
    /// The other end is a proxy that expects complete URLs.
    forwards: bool,
}

type BoxError = Box<dyn std::error::Error + Send + Sync>;

impl Service<Uri> for ProxyConnector {
    type Response = ProxiedConnection;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<ProxiedConnection, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        ready!(self.tcp.poll_ready(context)?);
        self.direct.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let Some(proxy) = self.proxies.intercept(&uri) else {
            let mut tcp = self.direct.clone();
            return Box::pin(async move {
                Ok(ProxiedConnection { stream: MaybeHttpsStream::Http(tcp.call(uri).await?), forwards: false })
            });
        };
        let reach = self.clone();
        Box::pin(async move {
            let name = place(proxy.uri());
            let failed = |error: BoxError| {
                HttpError::Proxy(format!("cannot connect through the proxy {name}: {}", error_chain(&*error)))
            };
            reach.through(&proxy, uri).await.map_err(|error| failed(error).into())
        })
    }
}

/// A proxy as shown to users: without password, and with its scheme unless that is http.
fn place(proxy: &Uri) -> String {
    let host = proxy.authority().map(ToString::to_string).unwrap_or_default();
    match proxy.scheme_str() {
        Some("http") | None => host,
        Some(scheme) => format!("{scheme}://{host}"),
    }
}

impl ProxyConnector {
    async fn through(self, proxy: &Intercept, uri: Uri) -> Result<ProxiedConnection, BoxError> {
        let is_plain = uri.scheme_str() == Some("http");
        let uri = with_port(&uri, if is_plain { 80 } else { 443 })?;
        let scheme = proxy.uri().scheme_str().unwrap_or_default();
        if scheme.starts_with("socks") {
            return Ok(ProxiedConnection {
                stream: MaybeHttpsStream::Http(self.socks(proxy, scheme, uri).await?),
                forwards: false,
            });
        }
        let mut way = HttpsConnector::from((self.tcp, self.tls));
        let forwards = is_plain && !self.tunnel_always;
        let stream = if forwards {
            way.call(proxy.uri().clone()).await?
        } else {
            let mut tunnel = Tunnel::new(proxy.uri().clone(), way);
            if let Some(pass) = proxy.basic_auth() {
                tunnel = tunnel.with_auth(pass.clone());
            }
            tunnel.call(uri).await?
        };
        Ok(ProxiedConnection { stream, forwards })
    }

    /// Connects through a SOCKS proxy. With `socks5h` and `socks4a`, the proxy resolves the host name.
    async fn socks(self, proxy: &Intercept, scheme: &str, uri: Uri) -> Result<TokioIo<TcpStream>, BoxError> {
        let at = with_port(proxy.uri(), SOCKS_PORT)?;
        if scheme.starts_with("socks4") {
            return Ok(SocksV4::new(at, self.tcp).local_dns(scheme == "socks4").call(uri).await?);
        }
        let mut socks = SocksV5::new(at, self.tcp).local_dns(scheme == "socks5");
        if let Some((user, word)) = proxy.raw_auth() {
            socks = socks.with_auth(user.to_owned(), word.to_owned());
        }
        Ok(socks.call(uri).await?)
    }
}

/// The URI, with this port if it has none.
fn with_port(uri: &Uri, port: u16) -> Result<Uri, BoxError> {
    if uri.port().is_some() {
        return Ok(uri.clone());
    }
    let mut parts = uri.clone().into_parts();
    let host = uri.host().unwrap_or_default();
    parts.authority = Some(format!("{host}:{port}").parse()?);
    Ok(Uri::from_parts(parts)?)
}

impl Connection for ProxiedConnection {
    fn connected(&self) -> Connected {
        self.stream.connected().proxy(self.forwards)
    }
}

impl Read for ProxiedConnection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl Write for ProxiedConnection {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_added_where_there_is_none() {
        for (given, expected) in
            [("http://h/p?q", "http://h:80/p?q"), ("http://h:1/", "http://h:1/"), ("http://[::1]/", "http://[::1]:80/")]
        {
            let uri = with_port(&given.parse().expect("a URI"), 80).expect("a URI");
            assert_eq!(uri.to_string(), expected);
        }
    }

    #[test]
    fn a_proxy_is_reported_of_by_its_kind() {
        for (proxy, reported) in
            [("http://h:1/", "h:1"), ("socks5h://h:1/", "socks5h://h:1"), ("https://h/", "https://h")]
        {
            assert_eq!(place(&proxy.parse().expect("a URI")), reported);
        }
    }
}
