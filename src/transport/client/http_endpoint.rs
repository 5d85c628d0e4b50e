//! Exchanges with one HTTP endpoint: adds shared headers, reports exchanges to an observer, and reads responses within
//! limits.

use super::error_response::Refusal;
use super::http::{ClientConnection, ExchangeEvent, HttpClient, HttpError, NoObserver, SharedObserver, empty, full};
use super::login::{Attempts, Login, discard};
use super::plain_body::BodyDecoder;
use super::remote::{NoticeCallback, Remote, TransportNotice};
use crate::transport::coding::ACCEPTED;
use crate::wire::MessageLimit;
use crate::wire::json;
use crate::wire::sse::{Carried, SseFramer, carried};
use crate::wire::text::{BYTE_ORDER_MARK, error_chain};
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::http::{request, response};
use hyper::{Method, Request, Response, StatusCode, Uri, header};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// The maximum number of redirects of one request.
const MAX_REDIRECTS: usize = 5;

/// The connection for the observer: this is one client, however many connections it has.
const CONNECTION: ClientConnection = ClientConnection { number: 1, address: None };

/// One URL of a server, and how to send requests to it.
#[derive(Clone)]
pub(crate) struct Endpoint {
    client: HttpClient,
    url: url::Url,
    uri: Uri,
    /// The user's own headers; empty after a redirect to another origin.
    shared: HeaderMap,
    /// The user's login; none after a redirect to another origin.
    login: Option<Login>,
    watch: SharedObserver,
    report: NoticeCallback,
}

impl Endpoint {
    /// The endpoint at the remote's URL. `report` is called when a redirect is followed.
    ///
    /// # Errors
    /// The URL or a header is invalid.
    pub(crate) fn new(
        remote: &Remote,
        report: NoticeCallback,
        watch: Option<SharedObserver>,
    ) -> Result<Self, HttpError> {
        let (url, uri) = parse_url(&remote.url)?;
        Ok(Self {
            client: HttpClient::new(remote)?,
            url,
            uri,
            shared: shared_headers(remote)?,
            login: remote.login.clone(),
            watch: watch.unwrap_or_else(|| Arc::new(NoObserver)),
            report,
        })
    }

    /// Another endpoint of the same server; `reference` is resolved against this endpoint's URL. Another origin is
    /// refused, because it would receive this server's tokens (MCP 2024-11-05, HTTP with SSE).
    ///
    /// # Errors
    /// The reference is invalid, or has another origin.
    pub(crate) fn at(&self, reference: &str) -> Result<Self, HttpError> {
        let failed = |why: &str| HttpError::Url(reference.to_owned(), why.to_owned());
        let url = self.url.join(reference).map_err(|error| failed(&error.to_string()))?;
        if url.origin() != self.url.origin() {
            return Err(failed("its origin differs from that of the URL that named it"));
        }
        let (url, uri) = parse_url(url.as_str())?;
        Ok(Self { url, uri, ..self.clone() })
    }

    /// Whether requests have the token of a login.
    pub(crate) fn has_login(&self) -> bool {
        self.login.is_some()
    }

    /// Whether a request waits for a token of the login.
    pub(crate) fn waits_for_token(&self) -> bool {
        self.login.as_ref().is_some_and(|login| login.waiting().watch().0)
    }

    /// The URL.
    pub(crate) fn url(&self) -> &url::Url {
        &self.url
    }

    /// Sends one request and waits for the response's head. Follows redirects: without the user's headers once the
    /// origin changes, and never from https to http. The observer sees all of this as one exchange with several heads.
    /// A redirect that would change the request's method is returned as the response (RFC 9110 §15.4: only 307 and 308
    /// keep a POST).
    ///
    /// # Errors
    /// The exchange failed, or a redirect cannot be followed.
    pub(crate) async fn ask(
        &self,
        method: Method,
        headers: &HeaderMap,
        body: Option<Bytes>,
    ) -> Result<Answer, HttpError> {
        let mut exchange = Exchange::begin(&self.watch, &self.request(&method, headers));
        if let Some(body) = &body {
            exchange.see(ExchangeEvent::RequestBody(body));
        }
        exchange.see(ExchangeEvent::RequestEnd(None));
        match self.ask_on(&method, headers, body, &exchange).await {
            Ok((endpoint, head, body)) => {
                let decoder = BodyDecoder::of(&head.headers);
                Ok(Answer { head, endpoint, body, decoder, exchange })
            }
            Err(error) => {
                exchange.end(Some(&error.to_string()));
                Err(error)
            }
        }
    }

    async fn ask_on(
        &self,
        method: &Method,
        headers: &HeaderMap,
        body: Option<Bytes>,
        exchange: &Exchange,
    ) -> Result<(Self, response::Parts, Incoming), HttpError> {
        let mut here = self.clone();
        for _ in 0..=MAX_REDIRECTS {
            let (head, answered) = here.ask_here(method, headers, body.as_ref(), exchange).await?.into_parts();
            exchange.see(ExchangeEvent::Response(&head));
            let Some(location) = redirect(method, &head) else { return Ok((here, head, answered)) };
            let next = here.elsewhere(location)?;
            // The user should know who receives the tokens.
            let kept = if next.shared.len() == here.shared.len() { "" } else { ", without your headers" };
            (self.report)(TransportNotice::Step(&format!(
                "{method} → {}; following the redirect to {}{kept}",
                head.status, next.url
            )));
            discard(answered).await;
            here = next;
        }
        let place = super::http::place(&self.uri);
        Err(HttpError::Redirect(format!("{place} redirects more than {MAX_REDIRECTS} times, finally to {}", here.url)))
    }

    /// Sends a request with the login's token. If that has to be renewed, only the last response is returned, and the
    /// exchange's observer gets the status of the others.
    async fn ask_here(
        &self,
        method: &Method,
        headers: &HeaderMap,
        body: Option<&Bytes>,
        exchange: &Exchange,
    ) -> Result<Response<Incoming>, HttpError> {
        let mut attempts = Attempts::begin(self.login.as_ref()).await?;
        if attempts.has_waited() {
            exchange.see(ExchangeEvent::SentLater);
        }
        loop {
            let mut parts = self.request(method, headers);
            attempts.apply(&mut parts.headers);
            let sent = body.cloned().map_or_else(empty, full);
            let response = self.client.send(Request::from_parts(parts, sent)).await?;
            if !attempts.again(response.status(), response.headers()).await? {
                return Ok(response);
            }
            exchange.see(ExchangeEvent::SentAgain(response.status()));
            discard(response.into_body()).await;
        }
    }

    /// The endpoint to which this one redirects.
    fn elsewhere(&self, location: &str) -> Result<Self, HttpError> {
        let failed = |why: &str| {
            HttpError::Redirect(format!("{} redirects to {location:?}: {why}", super::http::place(&self.uri)))
        };
        let url = self.url.join(location).map_err(|error| failed(&error.to_string()))?;
        match (self.url.scheme(), url.scheme()) {
            ("https", "http") => return Err(failed("mcpreel does not follow redirects from https to http")),
            (_, "http" | "https") => {}
            _ => return Err(failed("it is not an HTTP URL")),
        }
        let is_same = url.origin() == self.url.origin();
        let shared = if is_same { self.shared.clone() } else { HeaderMap::new() };
        let login = self.login.clone().filter(|_| is_same);
        let (url, uri) = parse_url(url.as_str()).map_err(|error| failed(&error.to_string()))?;
        Ok(Self { url, uri, shared, login, ..self.clone() })
    }

    /// The head of a request.
    fn request(&self, method: &Method, headers: &HeaderMap) -> request::Parts {
        let mut request = Request::new(());
        *request.method_mut() = method.clone();
        *request.uri_mut() = self.uri.clone();
        *request.headers_mut() = self.headers(headers);
        request.into_parts().0
    }

    /// Reports to the observer that there will be no more exchanges.
    pub(crate) fn report_closed(&self) {
        self.watch.client_closed(CONNECTION.number);
    }

    /// The headers of one request: its own and the shared ones, which take precedence.
    fn headers(&self, own: &HeaderMap) -> HeaderMap {
        let mut all = HeaderMap::new();
        if let Some(host) = host(&self.url) {
            all.insert(header::HOST, host);
        }
        all.insert(header::USER_AGENT, HeaderValue::from_static(concat!("mcpreel/", env!("CARGO_PKG_VERSION"))));
        all.insert(header::ACCEPT_ENCODING, ACCEPTED);
        for (name, value) in own {
            all.insert(name, value.clone());
        }
        for name in self.shared.keys() {
            all.remove(name);
        }
        for (name, value) in &self.shared {
            all.append(name, value.clone());
        }
        all
    }
}

/// The URL to which a response redirects the same request.
fn redirect<'a>(method: &Method, head: &'a response::Parts) -> Option<&'a str> {
    let keeps = match head.status.as_u16() {
        307 | 308 => true,
        301..=303 => *method == Method::GET,
        _ => false,
    };
    head.headers.get(header::LOCATION)?.to_str().ok().filter(|_| keeps)
}

fn parse_url(text: &str) -> Result<(url::Url, Uri), HttpError> {
    let failed = |why: &dyn std::fmt::Display| HttpError::Url(text.to_owned(), why.to_string());
    let mut url = url::Url::parse(text).map_err(|error| failed(&error))?;
    if !url.username().is_empty() || url.password().is_some() {
        let hidden = "https://…@…".to_owned();
        return Err(HttpError::Url(hidden, "pass user name and password with -H 'Authorization: …'".to_owned()));
    }
    url.set_fragment(None);
    let uri = url.as_str().parse().map_err(|error: hyper::http::uri::InvalidUri| failed(&error))?;
    Ok((url, uri))
}

/// The value of `Host`, with the port if it is not the scheme's default.
fn host(url: &url::Url) -> Option<HeaderValue> {
    let host = url.host_str()?;
    let text = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    HeaderValue::from_str(&text).ok()
}

/// The user's own headers.
///
/// # Errors
/// A name or value is invalid.
pub(crate) fn shared_headers(remote: &Remote) -> Result<HeaderMap, HttpError> {
    let mut headers = HeaderMap::new();
    for (name, value) in &remote.headers {
        let failed = |why: &dyn std::fmt::Display| HttpError::Header(name.clone(), why.to_string());
        let key: HeaderName = name.parse().map_err(|error: header::InvalidHeaderName| failed(&error))?;
        // As bytes, because values that are not ASCII are sent as UTF-8.
        let value = HeaderValue::from_bytes(value.as_bytes()).map_err(|error| failed(&error))?;
        headers.append(key, value);
    }
    Ok(headers)
}

/// Reports one exchange to the observer, including its end if it is dropped.
struct Exchange {
    watch: SharedObserver,
    number: u32,
    is_over: bool,
}

impl Exchange {
    fn begin(watch: &SharedObserver, head: &request::Parts) -> Self {
        Self { number: watch.begin(CONNECTION, head), watch: Arc::clone(watch), is_over: false }
    }

    fn see(&self, seen: ExchangeEvent<'_>) {
        self.watch.see(self.number, seen);
    }

    fn end(&mut self, reason: Option<&str>) {
        if !std::mem::replace(&mut self.is_over, true) {
            self.see(ExchangeEvent::ResponseEnd(reason));
        }
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        if !std::mem::replace(&mut self.is_over, true) {
            self.see(ExchangeEvent::ClientGone("closed by the client"));
        }
    }
}

/// A server's response: its head, and its body as it arrives.
pub(crate) struct Answer {
    /// Status and headers.
    pub head: response::Parts,
    /// The endpoint that responded, after all redirects.
    pub endpoint: Endpoint,
    body: Incoming,
    decoder: BodyDecoder,
    exchange: Exchange,
}

impl Answer {
    /// The status.
    pub(crate) fn status(&self) -> StatusCode {
        self.head.status
    }

    /// A header's text; `None` if it is absent or not ASCII.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.headers.get(name)?.to_str().ok()
    }

    /// The body's media type in lower case, without parameters.
    pub(crate) fn media_type(&self) -> String {
        let text = self.header("content-type").unwrap_or_default();
        text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
    }

    /// Whether this is a successful response with an event stream.
    pub(crate) fn is_stream(&self) -> bool {
        self.status().is_success() && self.media_type() == "text/event-stream"
    }

    /// The next bytes of the body without its codings; `None` at its end. The observer sees them as they arrive.
    async fn chunk(&mut self) -> Result<Option<Bytes>, String> {
        loop {
            match self.body.frame().await {
                None => {
                    self.exchange.end(None);
                    return Ok(None);
                }
                Some(Err(error)) => {
                    let reason = error_chain(&error);
                    self.exchange.end(Some(&reason));
                    return Err(reason);
                }
                Some(Ok(frame)) => {
                    let Ok(bytes) = frame.into_data() else { continue };
                    self.exchange.see(ExchangeEvent::ResponseBody(&bytes));
                    let plain = self.decoder.push(bytes).inspect_err(|reason| self.exchange.end(Some(reason)))?;
                    return Ok(Some(plain));
                }
            }
        }
    }

    /// The complete body without a byte order mark, which readers may skip (RFC 8259 §8.1).
    ///
    /// # Errors
    /// The body breaks off, or is longer than `limit`.
    pub(crate) async fn whole(mut self, limit: MessageLimit) -> Result<Vec<u8>, String> {
        let mut all = Vec::new();
        while let Some(bytes) = self.chunk().await? {
            if all.len() + bytes.len() > limit.bytes() {
                return Err(limit.exceeded_by("the server"));
            }
            all.extend_from_slice(&bytes);
        }
        if all.starts_with(BYTE_ORDER_MARK) {
            all.drain(..BYTE_ORDER_MARK.len());
        }
        Ok(all)
    }

    /// Describes a response that is not the expected message, with as much of its body as arrives within the limits.
    pub(crate) async fn refusal(mut self, limit: MessageLimit, grace_period: Duration) -> (Refusal, Vec<u8>) {
        let mut body = Vec::new();
        let read = async {
            while body.len() < limit.bytes()
                && let Ok(Some(bytes)) = self.chunk().await
            {
                body.extend_from_slice(&bytes);
            }
        };
        let _ = timeout(grace_period, read).await;
        (Refusal::read(self.head.status, &self.head.headers, &body), body)
    }

    /// The body as events of at most `limit`.
    pub(crate) fn events(self, limit: MessageLimit) -> Events {
        Events { answer: self, limit, framer: SseFramer::default(), ready: VecDeque::new(), is_over: false }
    }
}

/// A body of server-sent events.
pub(crate) struct Events {
    answer: Answer,
    limit: MessageLimit,
    framer: SseFramer,
    ready: VecDeque<Vec<u8>>,
    is_over: bool,
}

/// Why there is no next event; completes a sentence about the stream.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoEvent {
    /// The stream ended.
    #[error("ended")]
    End,
    /// The stream broke off.
    #[error("broke off ({0})")]
    Broken(String),
    /// An event is longer than the limit.
    #[error("had an event larger than {0}, the limit (--max-message SIZE changes it),")]
    TooLarge(MessageLimit),
}

impl Events {
    /// The block of the next event. A last event without its blank line is returned if its message is complete.
    ///
    /// # Errors
    /// There is no next event.
    pub(crate) async fn next(&mut self) -> Result<Vec<u8>, NoEvent> {
        loop {
            if let Some(block) = self.ready.pop_front() {
                return Ok(block);
            }
            if self.is_over {
                return Err(NoEvent::End);
            }
            let ready = &mut self.ready;
            match self.answer.chunk().await {
                Ok(Some(bytes)) => self.framer.push(&bytes, |block| ready.push_back(block.into_owned())),
                Ok(None) => {
                    self.is_over = true;
                    self.framer.finish(|block| {
                        if is_whole(&block) {
                            ready.push_back(block.into_owned());
                        }
                    });
                }
                Err(reason) => {
                    self.is_over = true;
                    return Err(NoEvent::Broken(reason));
                }
            }
            if self.framer.pending() > self.limit.bytes() {
                self.is_over = true;
                self.framer = SseFramer::default();
                return Err(NoEvent::TooLarge(self.limit));
            }
        }
    }
}

/// Whether the message in an unterminated block is complete.
fn is_whole(block: &[u8]) -> bool {
    matches!(carried(block), Carried::Message(message) if json::check(message).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirect_keeps_headers_on_its_origin_and_tls_for_good() {
        let headers = vec![("X-Secret".to_owned(), "s".to_owned())];
        let remote = Remote { url: "https://h/mcp?a=b".to_owned(), headers, ..Remote::default() };
        let here = Endpoint::new(&remote, Arc::new(|_| {}), None).expect("an endpoint");
        let led = |from: &Endpoint, location: &str| {
            from.elsewhere(location).map(|next| (next.url.to_string(), next.shared.len())).map_err(|it| it.to_string())
        };
        assert_eq!(led(&here, "other"), Ok(("https://h/other".to_owned(), 1)));
        assert_eq!(led(&here, "https://h:443/x#y"), Ok(("https://h/x".to_owned(), 1)));
        for rejected in ["https://h:444/", "https://h.other/", "//other/"] {
            let next = here.elsewhere(rejected).expect("goes there");
            assert!(next.shared.is_empty());
            assert_eq!(led(&next, "https://h/mcp"), Ok(("https://h/mcp".to_owned(), 0)), "what is left out stays out");
        }
        for (refused, why) in
            [("http://h/mcp", "https to http"), ("ftp://h/", "not an HTTP URL"), ("https://u:p@h/", "password")]
        {
            assert!(led(&here, refused).expect_err("refused").contains(why), "{refused}");
        }
        let plain = Remote { url: "http://h/mcp".to_owned(), ..Remote::default() };
        let plain = Endpoint::new(&plain, Arc::new(|_| {}), None).expect("an endpoint");
        assert_eq!(led(&plain, "https://h/mcp"), Ok(("https://h/mcp".to_owned(), 0)));
    }

    #[test]
    fn only_what_keeps_the_request_is_followed() {
        let led = |method: &Method, status: u16| {
            let response = Response::builder().status(status).header("location", "/x").body(());
            redirect(method, &response.expect("a response").into_parts().0).is_some()
        };
        for status in [301, 302, 303, 307, 308] {
            assert!(led(&Method::GET, status));
            assert_eq!(led(&Method::POST, status), status > 303);
        }
        assert!(!led(&Method::GET, 300) && !led(&Method::GET, 304) && !led(&Method::GET, 200));
    }
}
