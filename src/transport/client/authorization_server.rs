//! Requests to authorization servers: single exchanges within limits that follow no redirects.

use super::http::{HttpClient, HttpError, place};
use super::login::body_of;
use super::plain_body::PlainBody;
use super::remote::Remote;
use crate::oauth::{Exchanges, HttpRequest, HttpResponse, ResponseFuture, Unreachable};
use crate::wire::text::{BYTE_ORDER_MARK, excerpt};
use http_body_util::{BodyExt, Limited};
use hyper::header::{HOST, HeaderValue, LOCATION, USER_AGENT};
use hyper::{Request, Uri};
use std::time::Duration;
use tokio::time::timeout;

/// The maximum size of a response.
const MAX_BYTES: usize = 256 << 10;
/// The time limit for one exchange.
const TIME_LIMIT: Duration = Duration::from_secs(30);
/// The maximum length of a redirect's target in an error, in characters.
const MAX_LOCATION: usize = 200;

/// Sends the requests of a login.
pub(crate) struct AuthorizationServers {
    client: HttpClient,
    /// For this machine, without proxies.
    direct: HttpClient,
    /// Reports each request, if wanted.
    report: Option<fn(&str)>,
}

impl AuthorizationServers {
    /// Trusts the same additional certificates as for the server. Certificates are always verified.
    ///
    /// # Errors
    /// TLS cannot be set up.
    pub(crate) fn new(remote: &Remote) -> Result<Self, HttpError> {
        let remote = Remote { cacert: remote.cacert.clone(), ..Remote::default() };
        Ok(Self { client: HttpClient::new(&remote)?, direct: HttpClient::straight(&remote)?, report: None })
    }

    /// Reports the method, the address without its query, and the status of each request.
    pub(crate) fn reporting(self, report: fn(&str)) -> Self {
        Self { report: Some(report), ..self }
    }

    async fn exchange(&self, request: HttpRequest) -> Result<HttpResponse, Unreachable> {
        let (mut head, body) = request.into_parts();
        let at = place(&head.uri);
        let host = HeaderValue::from_str(host(&head.uri)).map_err(|error| Unreachable(format!("{at}: {error}")))?;
        head.headers.insert(HOST, host);
        head.headers.insert(USER_AGENT, HeaderValue::from_static(concat!("mcpreel/", env!("CARGO_PKG_VERSION"))));
        let client = if head.uri.scheme_str() == Some("http") { &self.direct } else { &self.client };
        let request = Request::from_parts(head, body_of(&body.into()));
        let response = client.send(request).await.map_err(|error| Unreachable(error.to_string()))?;
        let (head, body) = PlainBody::of(response).into_parts();
        if let Some(location) = head.headers.get(LOCATION).filter(|_| head.status.is_redirection()) {
            let target = excerpt(&String::from_utf8_lossy(location.as_bytes()), MAX_LOCATION);
            // Its query could repeat what was sent.
            let target = target.split(['?', '#']).next().unwrap_or_default();
            return Err(Unreachable(format!(
                "{at} redirects to {target}; mcpreel does not follow redirects during a login"
            )));
        }
        let body = Limited::new(body, MAX_BYTES).collect().await.map_err(|error| {
            let why = match error.is::<http_body_util::LengthLimitError>() {
                true => format!("it is longer than {} KiB", MAX_BYTES >> 10),
                false => error.to_string(),
            };
            Unreachable(format!("cannot read the response of {at}: {why}"))
        })?;
        let body = body.to_bytes();
        let body = body.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&body);
        Ok(HttpResponse::from_parts(head, body.to_vec()))
    }
}

impl Exchanges for AuthorizationServers {
    fn send(&self, request: HttpRequest) -> ResponseFuture<'_> {
        Box::pin(async {
            let (at, step) = (place(request.uri()), step(&request));
            let exchanged = match timeout(TIME_LIMIT, self.exchange(request)).await {
                Ok(exchanged) => exchanged,
                Err(_) => Err(Unreachable(format!("{at} did not answer within {TIME_LIMIT:?}"))),
            };
            if let Some(report) = self.report {
                match &exchanged {
                    Ok(response) => report(&format!("OAuth: {step} → {}", response.status().as_u16())),
                    Err(error) => report(&format!("OAuth: {step} failed: {}", error.0)),
                }
            }
            exchanged
        })
    }
}

/// The method and the address of a request, without its query.
fn step(request: &HttpRequest) -> String {
    format!("{} {}{}", request.method(), place(request.uri()), request.uri().path())
}

/// The value of `Host`.
fn host(uri: &Uri) -> &str {
    uri.authority().map_or("", |authority| authority.as_str())
}
