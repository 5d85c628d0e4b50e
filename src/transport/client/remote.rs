//! A server that runs elsewhere, and how to connect to it.

use super::http::HttpError;
use super::login::Login;
use super::{http, streamable, websocket};
use crate::transport::link::Link;
use crate::transport::local::lines;
use crate::transport::local::stdio::ByteObserver;
use crate::wire::MessageLimit;
use std::path::PathBuf;
use std::sync::Arc;

/// A server to attach to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remote {
    /// `http(s)://…`, `ws(s)://…`, `unix:PATH` or `tcp:HOST:PORT`.
    pub url: String,
    /// Headers of every HTTP request, in order.
    pub headers: Vec<(String, String)>,
    /// A PEM file with certificates to trust in addition to the system's.
    pub cacert: Option<PathBuf>,
    /// Do not verify the server's certificate.
    pub insecure: bool,
    /// The user's login, if the server requires one.
    pub login: Option<Login>,
    /// The limit for its messages.
    pub limit: MessageLimit,
}

/// The transport of the messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// Streamable HTTP, or HTTP+SSE.
    Http,
    /// A WebSocket.
    WebSocket,
    /// Lines over a Unix socket at this path.
    Unix(PathBuf),
    /// Lines over TCP to this host and port.
    Tcp(String),
}

/// What a transport reports to the user while it works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransportNotice<'a> {
    /// A step of the connection.
    Step(&'a str),
    /// A problem that does not fail a request.
    Trouble(&'a str),
    /// What to do about a failure.
    Advice(&'a str),
}

/// Receives notices.
pub(crate) type NoticeCallback = Arc<dyn Fn(TransportNotice<'_>) + Send + Sync>;

/// Observers of a connection.
#[derive(Clone, Default)]
pub struct Observers {
    /// Observes HTTP exchanges.
    pub exchanges: Option<http::SharedObserver>,
    /// Observes the bytes of lines.
    pub bytes: Option<ByteObserver>,
    /// Observes the messages of a WebSocket.
    pub frames: Option<websocket::MessageObserver>,
}

impl Remote {
    /// Whether the URL requires TLS.
    pub fn speaks_tls(&self) -> bool {
        matches!(self.scheme().as_str(), "https" | "wss")
    }

    fn scheme(&self) -> String {
        self.url.split(':').next().unwrap_or_default().to_ascii_lowercase()
    }

    /// The transport for this URL.
    ///
    /// # Errors
    /// The URL is invalid.
    pub fn carrier(&self) -> Result<Carrier, HttpError> {
        let failed = |why: &str| HttpError::Url(self.url.clone(), why.to_owned());
        let rest = self.url.split_once(':').map_or("", |(_, rest)| rest);
        let rest = rest.strip_prefix("//").unwrap_or(rest);
        match self.scheme().as_str() {
            "http" | "https" => Ok(Carrier::Http),
            "ws" | "wss" => Ok(Carrier::WebSocket),
            "unix" if !rest.is_empty() => Ok(Carrier::Unix(rest.into())),
            "unix" => Err(failed("the path is missing")),
            "tcp" => match rest.rsplit_once(':') {
                Some((host, port)) if !host.is_empty() && port.parse::<u16>().is_ok() => Ok(Carrier::Tcp(rest.into())),
                _ => Err(failed("expected tcp:HOST:PORT")),
            },
            _ => Err(failed("unknown scheme; expected http, https, ws, wss, unix or tcp")),
        }
    }

    /// Attaches to the server. Must be called within a tokio runtime. Over HTTP, this does not connect yet; a failure
    /// appears with the first request.
    ///
    /// # Errors
    /// The URL is invalid, or the server cannot be reached.
    pub async fn attach(&self, report: NoticeCallback, observers: Observers) -> Result<Link, HttpError> {
        let link = match self.carrier()? {
            Carrier::Http => streamable::attach(self, report, observers.exchanges),
            Carrier::WebSocket => websocket::connect(self, report, observers.frames).await,
            Carrier::Unix(path) => lines::connect_unix(&path, self.limit, observers.bytes).await,
            Carrier::Tcp(address) => lines::connect_tcp(&address, self.limit, observers.bytes).await,
        };
        Ok(link?.with_login(self.login.as_ref().map(Login::waiting)))
    }

    /// The URL with an HTTP scheme: a WebSocket connection begins as HTTP.
    pub fn http_url(&self) -> String {
        match self.url.split_once(':') {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("ws") => format!("http:{rest}"),
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("wss") => format!("https:{rest}"),
            _ => self.url.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn carrier(url: &str) -> Option<Carrier> {
        Remote { url: url.to_owned(), ..Remote::default() }.carrier().ok()
    }

    #[test]
    fn a_url_names_its_carrier() {
        assert_eq!(carrier("HTTPS://host/mcp"), Some(Carrier::Http));
        assert_eq!(carrier("ws://host"), Some(Carrier::WebSocket));
        for unix in ["unix:/run/s", "unix:///run/s"] {
            assert_eq!(carrier(unix), Some(Carrier::Unix("/run/s".into())));
        }
        for tcp in ["tcp:[::1]:80", "tcp://[::1]:80"] {
            assert_eq!(carrier(tcp), Some(Carrier::Tcp("[::1]:80".into())));
        }
        for none in ["unix:", "tcp:host", "tcp:host:http", "ftp://host", "host", ""] {
            assert_eq!(carrier(none), None, "{none}");
        }
    }
}
