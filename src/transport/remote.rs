//! A server that runs elsewhere: where it is, and how to get through to it.

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
}
