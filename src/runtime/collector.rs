//! Sends OpenTelemetry's data to a collector over OTLP/HTTP: compresses, tries again, and reads what was rejected.

use crate::error::{CommandError, ErrorKind, Warn};
use crate::redact::redact_url;
use crate::transport::Remote;
use crate::transport::client::error_response::in_words;
use crate::transport::client::http::HttpError;
use crate::transport::client::http_post::{Posted, Poster};
use crate::wire::text::excerpt;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceResponse;
use opentelemetry_proto::tonic::collector::trace::v1::{ExportTracePartialSuccess, ExportTraceServiceResponse};
use parking_lot::Mutex;
use prost::Message;
use serde_json::Value;
use std::io::Write;
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};

/// How much of a response is read. Unit: bytes.
const MAX_RESPONSE: usize = 64 << 10;
/// The first pause before a request is sent again; each one after that is twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The maximum length of a pause.
const MAX_PAUSE: Duration = Duration::from_secs(30);
/// The maximum length of a collector's own words, in characters.
const MAX_WORDS: usize = 300;
/// The statuses after which a request is sent again (OTLP/HTTP, Retryable Response Codes).
const AGAIN: [u16; 4] = [429, 502, 503, 504];

/// What a request contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Spans.
    Traces,
    /// Metrics.
    Metrics,
}

/// The URL for one signal, and how to send there.
#[derive(Clone, Debug)]
pub(crate) struct Destination {
    /// The complete URL, and the user's headers.
    pub remote: Remote,
    /// Whether bodies are compressed.
    pub compresses: bool,
    /// The time limit of one request.
    pub limit: Duration,
}

/// How long to try.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// No new attempt begins later than this after the first one.
    pub total: Duration,
    /// Whether a collector that cannot be reached may come later.
    pub awaits: bool,
    /// Reports the first failure after which the request is sent again.
    pub report: Option<Warn>,
}

/// What the collector made of a request that it accepted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accepted {
    /// The number of spans, or of data points, that it rejected.
    pub rejected: u64,
    /// What it says about that.
    pub words: String,
}

impl Accepted {
    /// What an accepted request's response says. An empty one says that everything was accepted.
    pub fn read(signal: Signal, is_json: bool, body: &[u8]) -> Self {
        let (rejected, words) = match (is_json, signal) {
            (true, _) => partial_success(&serde_json::from_slice(body).unwrap_or_default()),
            (false, Signal::Traces) => {
                let read = ExportTraceServiceResponse::decode(body).unwrap_or_default();
                read.partial_success.map(|partial| (partial.rejected_spans, partial.error_message))
            }
            (false, Signal::Metrics) => {
                let read = ExportMetricsServiceResponse::decode(body).unwrap_or_default();
                read.partial_success.map(|partial| (partial.rejected_data_points, partial.error_message))
            }
        }
        .unwrap_or_default();
        Self { rejected: u64::try_from(rejected).unwrap_or(0), words: excerpt(&words, MAX_WORDS) }
    }
}

/// A collector.
pub(crate) struct Collector {
    traces: Option<(Poster, Destination)>,
    metrics: Option<(Poster, Destination)>,
    is_json: bool,
    /// Why a request waits to be sent again.
    waits: Mutex<Option<String>>,
}

impl Collector {
    /// A collector that gets the signals for which there is a destination.
    ///
    /// # Errors
    /// A URL, a header or a certificate is not valid.
    pub(crate) fn new(
        traces: Option<Destination>,
        metrics: Option<Destination>,
        is_json: bool,
    ) -> Result<Self, CommandError> {
        let prepared = |destination: Option<Destination>| -> Result<_, CommandError> {
            let Some(destination) = destination else { return Ok(None) };
            let kind = if is_json { "application/json" } else { "application/x-protobuf" };
            let mut remote = destination.remote.clone();
            if destination.compresses {
                remote.headers.push(("content-encoding".to_owned(), "gzip".to_owned()));
            }
            let poster = Poster::new(&remote, kind, None).map_err(|error| unusable(&error))?;
            Ok(Some((poster, destination)))
        };
        let (traces, metrics) = (prepared(traces)?, prepared(metrics)?);
        Ok(Self { traces, metrics, is_json, waits: Mutex::default() })
    }

    fn destination(&self, signal: Signal) -> Option<&(Poster, Destination)> {
        match signal {
            Signal::Traces => self.traces.as_ref(),
            Signal::Metrics => self.metrics.as_ref(),
        }
    }

    /// Whether it gets this signal.
    pub(crate) fn takes(&self, signal: Signal) -> bool {
        self.destination(signal).is_some()
    }

    /// Where it is, for users.
    pub(crate) fn place(&self) -> String {
        let url = |it: &Option<(Poster, Destination)>| it.as_ref().map(|(_, to)| redact_url(&to.remote.url));
        match (url(&self.traces), url(&self.metrics)) {
            (Some(traces), Some(_)) => traces.strip_suffix("/v1/traces").unwrap_or(&traces).to_owned(),
            (one, other) => one.or(other).unwrap_or_default(),
        }
    }

    /// Why a request waits to be sent again, if one does.
    pub(crate) fn waits(&self) -> Option<String> {
        self.waits.lock().clone()
    }

    fn set_waits(&self, why: Option<String>) {
        *self.waits.lock() = why;
    }

    /// Sends a request, again if the collector is busy.
    ///
    /// # Errors
    /// The collector cannot be reached, or did not accept it.
    pub(crate) async fn send(&self, signal: Signal, body: &[u8], mut how: Patience) -> Result<Accepted, CommandError> {
        let Some((poster, destination)) = self.destination(signal) else { return Ok(Accepted::default()) };
        let body = if destination.compresses { compressed(body) } else { Bytes::copy_from_slice(body) };
        let (began, mut pause) = (Instant::now(), FIRST_PAUSE);
        loop {
            let posted = timeout(destination.limit, poster.post(body.clone(), MAX_RESPONSE)).await;
            let (wait, error) = match posted {
                Ok(Ok(posted)) if (200..300).contains(&posted.status) => {
                    return Ok(Accepted::read(signal, self.is_json, &posted.body));
                }
                Ok(Ok(posted)) => {
                    let wait = AGAIN.contains(&posted.status).then(|| retry_after(&posted).unwrap_or(pause));
                    (wait, self.refused(&posted, destination))
                }
                Ok(Err(error)) => (is_temporary(&error, how).then_some(pause), unreached(&error, destination)),
                // It may have arrived.
                Err(_) => (None, late(destination)),
            };
            let Some(wait) = wait.filter(|wait| fits(began.elapsed(), *wait, how.total)) else { return Err(error) };
            if let Some(report) = how.report.take() {
                report(&format!("{}; trying again", error.message));
            }
            self.set_waits(Some(in_a_line(&error)));
            sleep(wait).await;
            self.set_waits(None);
            pause = (pause * 2).min(MAX_PAUSE);
        }
    }

    fn refused(&self, posted: &Posted, destination: &Destination) -> CommandError {
        // The status in the body has the same fields as a partial success: a number and a text.
        let status = ExportTracePartialSuccess::decode(&posted.body[..]).ok().map(|status| status.error_message);
        let words = status.filter(|words| !self.is_json && !words.is_empty());
        let words = words.map_or_else(|| in_words(&posted.body), |words| excerpt(&words, MAX_WORDS));
        let named = hyper::StatusCode::from_u16(posted.status).map_or_else(|_| String::new(), |it| it.to_string());
        let separator = if words.is_empty() { "" } else { ": " };
        let error = failure(ErrorKind::Peer, destination, &format!("HTTP {named}{separator}{words}"));
        match posted.status {
            401 | 403 => error.hint(
                "set the collector's credentials with OTEL_EXPORTER_OTLP_HEADERS=NAME=VALUE or --otlp-header 'NAME: VALUE'",
            ),
            404 | 405 => error.hint(
                "is the path right? /v1/traces and /v1/metrics are appended to the URL, unless it ends in one of them",
            ),
            400 | 415 => error.hint(format!(
                "the collector may expect {}: set OTEL_EXPORTER_OTLP_PROTOCOL={}",
                if self.is_json { "protobuf" } else { "JSON" },
                if self.is_json { "http/protobuf" } else { "http/json" },
            )),
            300..=399 => error.hint("mcpreel does not follow redirects here; use the URL to which it leads"),
            status if AGAIN.contains(&status) => error.hint("the collector is busy; try again later"),
            _ => error,
        }
    }
}

/// An error with its hints, on one line.
pub(crate) fn in_a_line(error: &CommandError) -> String {
    std::iter::once(&error.message).chain(&error.hints).map(String::as_str).collect::<Vec<_>>().join("; ")
}

/// A partial success in JSON, where an integer of 64 bits may be a string.
fn partial_success(response: &Value) -> Option<(i64, String)> {
    let partial = response.get("partialSuccess")?;
    let count = partial.get("rejectedSpans").or(partial.get("rejectedDataPoints"));
    let count = count.and_then(|count| count.as_i64().or_else(|| count.as_str()?.parse().ok())).unwrap_or(0);
    Some((count, partial["errorMessage"].as_str().unwrap_or_default().to_owned()))
}

fn compressed(body: &[u8]) -> Bytes {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    // Writing to memory does not fail.
    let _ = gzip.write_all(body);
    gzip.finish().unwrap_or_default().into()
}

/// Whether a pause is over in time.
fn fits(elapsed: Duration, pause: Duration, total: Duration) -> bool {
    pause <= total.saturating_sub(elapsed)
}

/// The pause that the collector asks for: seconds, or a date.
fn retry_after(posted: &Posted) -> Option<Duration> {
    let text = posted.headers.get("retry-after")?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
    Some(Duration::try_from(date.duration_since(jiff::Timestamp::now())).unwrap_or_default())
}

fn is_temporary(error: &HttpError, how: Patience) -> bool {
    match error {
        HttpError::Exchange(_) => true,
        HttpError::Refused(_) | HttpError::UnknownHost(_) | HttpError::NoHttp(_) => how.awaits,
        _ => false,
    }
}

fn failure(kind: ErrorKind, destination: &Destination, why: &str) -> CommandError {
    CommandError::new(kind, format!("cannot send to {}: {why}", redact_url(&destination.remote.url)))
}

fn late(destination: &Destination) -> CommandError {
    let why = format!("no response within {} s", destination.limit.as_secs_f64());
    failure(ErrorKind::Timeout, destination, &why).hint("OTEL_EXPORTER_OTLP_TIMEOUT changes the limit (milliseconds)")
}

fn unreached(error: &HttpError, destination: &Destination) -> CommandError {
    let reported = failure(ErrorKind::Peer, destination, &error.to_string());
    match error {
        HttpError::Refused(_) => reported.hint("is the collector running? OTLP/HTTP usually has port 4318"),
        HttpError::NoHttp(_) => {
            reported.hint("OTLP over gRPC (usually port 4317) is not supported; OTLP/HTTP usually has port 4318")
        }
        HttpError::Certificate(_) | HttpError::Authority(_) => {
            reported.hint("OTEL_EXPORTER_OTLP_CERTIFICATE=FILE trusts another certificate authority")
        }
        error => match error.advice() {
            Some(advice) => reported.hint(advice),
            None => reported,
        },
    }
}

/// The error of settings that cannot be used.
fn unusable(error: &HttpError) -> CommandError {
    let kind = if matches!(error, HttpError::Certificates(..)) { ErrorKind::Input } else { ErrorKind::Usage };
    CommandError::new(kind, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderMap;

    fn posted(status: u16, body: &[u8]) -> Posted {
        Posted { status, headers: HeaderMap::new(), body: body.to_vec(), bytes: body.len() as u64 }
    }

    fn destination() -> Destination {
        let remote = Remote { url: "http://h:4318/v1/traces?key=abcdefgh12345678".to_owned(), ..Remote::default() };
        Destination { remote, compresses: false, limit: Duration::from_secs(1) }
    }

    fn collector(is_json: bool) -> Collector {
        Collector::new(Some(destination()), None, is_json).expect("a collector")
    }

    #[test]
    fn a_collector_says_why_it_refuses() {
        let status = ExportTracePartialSuccess { rejected_spans: 3, error_message: "bad span".to_owned() };
        let refused = collector(false).refused(&posted(400, &status.encode_to_vec()), &destination());
        assert!(refused.message.ends_with(": HTTP 400 Bad Request: bad span"), "{}", refused.message);
        assert!(!refused.message.contains("abcdefgh12345678"), "{}", refused.message);
        let refused = collector(true).refused(&posted(404, b"<html><body>no such page</body></html>"), &destination());
        assert!(refused.message.ends_with(": HTTP 404 Not Found: no such page"), "{}", refused.message);
        assert!(refused.hints[0].contains("/v1/traces"), "{:?}", refused.hints);
    }

    #[test]
    fn a_pause_is_in_seconds_or_until_a_date() {
        let after = |text: &str| {
            let mut posted = posted(503, b"");
            posted.headers.insert("retry-after", text.parse().expect("a value"));
            retry_after(&posted)
        };
        assert_eq!(after("7"), Some(Duration::from_secs(7)));
        assert_eq!(after("Fri, 01 Jan 1999 00:00:00 GMT"), Some(Duration::ZERO));
        assert!(after("Fri, 01 Jan 2100 00:00:00 GMT").is_some_and(|pause| pause > MAX_PAUSE));
        assert_eq!(after("soon"), None);
        let (second, minute) = (Duration::from_secs(1), Duration::from_secs(60));
        let longest = after(&u64::MAX.to_string()).expect("a pause");
        assert!(!fits(second, longest, minute) && !fits(second, minute, minute) && fits(second, second, minute));
    }
}
