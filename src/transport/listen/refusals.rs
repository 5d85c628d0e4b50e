//! Answers requests that never reach a service: the HTTP library cannot read them, they come too slowly, or there is no
//! place for their connection. Reports them, but not each of many.

use super::cors::Cors;
use super::heads::Asker;
use super::origin_check::Access;
use crate::transport::client::http::MAX_HEAD_BYTES;
use crate::wire::text::error_chain;
use hyper::StatusCode;
use hyper::header::{HOST, HeaderMap, HeaderValue, ORIGIN};
use parking_lot::Mutex;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::time::{Instant, timeout};

/// How long to write an answer, and to read what its client still sends.
const TIME: Duration = Duration::from_secs(2);
/// How many refusals are reported at once; after that, one each second.
const AT_ONCE: u32 = 10;
const SECOND: Duration = Duration::from_secs(1);

/// A connection's number, if it got one, the status and the reason.
type Report = Box<dyn Fn(Option<u32>, StatusCode, &str) + Send + Sync>;

/// See the module.
pub(crate) struct Refusals {
    access: Access,
    report: Report,
    limit: Mutex<Limit>,
}

impl Refusals {
    /// Those of a listener that lets in the pages of these origins.
    pub(crate) fn new(
        access: Access,
        report: impl Fn(Option<u32>, StatusCode, &str) + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self { access, report: Box::new(report), limit: Mutex::new(Limit::default()) })
    }

    /// Those of a listener that reports none.
    pub(crate) fn silent() -> Arc<Self> {
        Self::new(Access::default(), |_, _, _| {})
    }

    /// Reports a refusal, unless there were too many.
    pub(crate) fn report(&self, connection: Option<u32>, status: StatusCode, reason: &str) {
        let Some(left_out) = self.limit.lock().take(Instant::now()) else { return };
        match left_out {
            0 => (self.report)(connection, status, reason),
            more => (self.report)(connection, status, &format!("{reason} ({more} more were refused before)")),
        }
    }

    /// Answers what cannot be served on this connection, and reports that.
    pub(super) async fn answer(
        &self,
        stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
        connection: Option<u32>,
        (status, reason): (StatusCode, &str),
        asker: &Asker,
    ) {
        self.report(connection, status, reason);
        let bytes = answer(status, reason, &self.cors(asker));
        let answered = async {
            stream.write_all(bytes.as_bytes()).await?;
            stream.shutdown().await?;
            // Unread bytes would reset the connection, and its client would lose the answer.
            tokio::io::copy(&mut stream.take(MAX_HEAD_BYTES as u64), &mut tokio::io::sink()).await
        };
        let _ = timeout(TIME, answered).await;
    }

    /// What the page behind such a request may learn.
    fn cors(&self, asker: &Asker) -> Cors {
        let mut headers = HeaderMap::new();
        for (name, value) in [(HOST, &asker.host), (ORIGIN, &asker.origin)] {
            if let Ok(value) = HeaderValue::from_bytes(value)
                && !value.is_empty()
            {
                headers.insert(name, value);
            }
        }
        Cors::of(&headers, self.access.admits_page(&headers))
    }
}

/// The bytes of a refusal.
fn answer(status: StatusCode, reason: &str, cors: &Cors) -> String {
    let mut response = hyper::Response::new(());
    cors.apply(&mut response);
    if status == StatusCode::SERVICE_UNAVAILABLE {
        response.headers_mut().insert(hyper::header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    let body = format!("mcpreel: {reason}\n");
    let headers = String::from_utf8_lossy(&super::outlet::lines(response.headers())).into_owned();
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n{headers}\
         Connection: close\r\n\r\n{body}",
        body.len()
    )
}

/// The answer to a connection that the library gave up for this reason, if it gets one. `kept` is the status that the library
/// would have answered; `is_late` says that a head took too long.
pub(super) fn of_failure(
    error: Option<&hyper::Error>,
    kept: Option<u16>,
    is_late: bool,
) -> Option<(StatusCode, String)> {
    if is_late {
        return Some((StatusCode::REQUEST_TIMEOUT, "the request's head came too slowly".into()));
    }
    let error = error?;
    let status = kept.and_then(|kept| StatusCode::from_u16(kept).ok());
    let status = status.or_else(|| error.is_parse().then_some(StatusCode::BAD_REQUEST))?;
    let reason = match status {
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => {
            format!("the request's head has more than {} KiB or more than 100 headers", MAX_HEAD_BYTES >> 10)
        }
        StatusCode::URI_TOO_LONG => "the request's target is too long".into(),
        _ => format!("cannot read the request: {}", error_chain(error)),
    };
    Some((status, reason))
}

/// How many more may be reported.
#[derive(Debug)]
struct Limit {
    left: u32,
    since: Option<Instant>,
    left_out: u32,
}

impl Default for Limit {
    fn default() -> Self {
        Self { left: AT_ONCE, since: None, left_out: 0 }
    }
}

impl Limit {
    /// Whether one may be reported now; if so, how many were not before.
    fn take(&mut self, now: Instant) -> Option<u32> {
        let since = *self.since.get_or_insert(now);
        let earned = u32::try_from(now.saturating_duration_since(since).as_secs()).unwrap_or(u32::MAX);
        if earned > 0 {
            self.left = self.left.saturating_add(earned).min(AT_ONCE);
            self.since = Some(since + SECOND * earned);
        }
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                Some(std::mem::take(&mut self.left_out))
            }
            None => {
                self.left_out += 1;
                None
            }
        }
    }
}

/// A stream that comes back when whoever has it drops it.
pub(super) struct Lent<S> {
    stream: Option<S>,
    place: Arc<Mutex<Option<S>>>,
}

impl<S> Lent<S> {
    /// Lends a stream. It comes back to the second result.
    pub(super) fn new(stream: S) -> (Self, Arc<Mutex<Option<S>>>) {
        let place = Arc::default();
        (Self { stream: Some(stream), place: Arc::clone(&place) }, place)
    }
}

impl<S> Drop for Lent<S> {
    fn drop(&mut self) {
        *self.place.lock() = self.stream.take();
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Lent<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Some(stream) => Pin::new(stream).poll_read(context, buffer),
            None => Poll::Ready(Ok(())),
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Lent<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match &mut self.stream {
            Some(stream) => Pin::new(stream).poll_write(context, bytes),
            None => Poll::Ready(Ok(0)),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match &mut self.stream {
            Some(stream) => Pin::new(stream).poll_write_vectored(context, slices),
            None => Poll::Ready(Ok(0)),
        }
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.as_ref().is_some_and(AsyncWrite::is_write_vectored)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.as_mut().map_or(Poll::Ready(Ok(())), |stream| Pin::new(stream).poll_flush(context))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.as_mut().map_or(Poll::Ready(Ok(())), |stream| Pin::new(stream).poll_shutdown(context))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_refusals_only_some_are_reported_and_the_others_counted() {
        let (began, mut limit) = (Instant::now(), Limit::default());
        let taken: Vec<_> = (0..30).filter_map(|_| limit.take(began)).collect();
        assert_eq!(taken, [0; 10]);
        assert_eq!(limit.take(began + SECOND / 2), None);
        assert_eq!(limit.take(began + SECOND), Some(21));
        assert_eq!(limit.take(began + SECOND), None);
        assert_eq!(limit.take(began + 60 * SECOND), Some(1));
        assert_eq!((0..30).filter_map(|_| limit.take(began + 60 * SECOND)).count(), 9);
    }

    #[test]
    fn only_an_allowed_page_may_read_such_an_answer() {
        let access = Access { origins: vec!["https://app.example".into()], ..Access::default() };
        let refusals = Refusals::new(access, |_, _, _| {});
        let learns = |host: &str, origin: &str| {
            let asker = Asker { host: host.into(), origin: origin.into() };
            let text = answer(StatusCode::BAD_REQUEST, "no", &refusals.cors(&asker)).to_ascii_lowercase();
            assert!(text.contains("vary: origin\r\n") && !text.contains('*'), "{text}");
            text.contains("access-control-allow-origin")
        };
        assert!(learns("localhost", "https://app.example"));
        assert!(learns("", "http://localhost:3000"));
        assert!(!learns("localhost", "https://evil.example"));
        // A name that leads here is no reason to trust its page.
        assert!(!learns("evil.example", "http://evil.example"));
        assert!(!learns("localhost", "https://app.example, https://app.example") && !learns("localhost", ""));
    }
}
