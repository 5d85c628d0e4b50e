//! A server that runs elsewhere: where it is, and how to get through to it.

use super::http::HttpError;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use std::path::PathBuf;

/// A server to attach to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remote {
    /// `http(s)://…`, `ws(s)://…`, `unix:PATH` or `tcp:HOST:PORT`.
    pub url: String,
    /// Headers of every HTTP request, in order.
    pub headers: Vec<(String, String)>,
    /// A PEM file of certificates to trust beside those of the system.
    pub cacert: Option<PathBuf>,
    /// The server's certificate is not checked.
    pub insecure: bool,
}

impl Remote {
    /// Whether the URL asks for TLS.
    pub fn speaks_tls(&self) -> bool {
        let scheme = self.url.split(':').next().unwrap_or_default();
        scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("wss")
    }

    /// The URL with the scheme of HTTP that carries it: WebSocket begins as HTTP.
    pub fn http_url(&self) -> String {
        match self.url.split_once(':') {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("ws") => format!("http:{rest}"),
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("wss") => format!("https:{rest}"),
            _ => self.url.clone(),
        }
    }

    /// The headers as they are sent.
    pub fn header_map(&self) -> Result<HeaderMap, HttpError> {
        let mut map = HeaderMap::new();
        for (name, value) in &self.headers {
            let wrong = |reason: String| HttpError::Header(name.clone(), reason);
            let key = HeaderName::try_from(name).map_err(|error| wrong(error.to_string()))?;
            map.append(key, HeaderValue::try_from(value).map_err(|error| wrong(error.to_string()))?);
        }
        Ok(map)
    }
}
