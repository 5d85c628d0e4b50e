//! OpenTelemetry for all commands: the options, and the collector, with the environment variables that OpenTelemetry
//! defines for exporters.

use super::target::header;
use crate::config::expand::{Names, expand};
use crate::error::CommandError;
use crate::formats::otlp::{self, Encoding, Settings, Side};
use crate::runtime::collector::{Collector, Destination, Signal};
use crate::transport::Remote;
use clap::{Args, ValueEnum};
use std::path::Path;
use std::time::Duration;

/// The name that stands for the URLs in the environment.
const ENVIRONMENT: &str = "env";
/// The time limit of a request, unless the environment has another.
const LIMIT: Duration = Duration::from_secs(10);

/// What spans contain, and how to reach a collector.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct TelemetryOptions {
    /// Add the arguments and results of tools, and the arguments of prompts, to OpenTelemetry's spans. They may contain
    /// anything.
    #[arg(long)]
    otlp_content: bool,
    /// Whether OpenTelemetry's spans and metrics have the view of the client or of the server (default: of the server if
    /// the recording was made with --listen, else of the client).
    #[arg(long, value_enum, value_name = "SIDE")]
    otlp_side: Option<SideName>,
    /// Add a header to every request to the collector (repeatable). `${NAME}` is replaced by the value of the environment
    /// variable NAME. It overrides OTEL_EXPORTER_OTLP_HEADERS.
    #[arg(long = "otlp-header", value_name = "NAME: VALUE", value_parser = header)]
    otlp_headers: Vec<(String, String)>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum SideName {
    /// The client's: it sends requests (spans of the kind CLIENT).
    Client,
    /// The server's: it receives requests (spans of the kind SERVER).
    Server,
}

/// Where data goes: the URL of a collector, or those in the environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A URL.
    Url(url::Url),
    /// `OTEL_EXPORTER_OTLP_ENDPOINT` and its variants.
    Environment,
}

/// Parses a place.
///
/// # Errors
///
/// It is neither an HTTP URL nor `env`.
pub(crate) fn place(text: &str) -> Result<Place, String> {
    if text == ENVIRONMENT { Ok(Place::Environment) } else { http_url(text).map(Place::Url) }
}

fn http_url(text: &str) -> Result<url::Url, String> {
    let url = url::Url::parse(text).map_err(|error| format!("{error}; expected http://HOST:4318, for instance"))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err("user name and password belong into a header: --otlp-header 'Authorization: …'".to_owned());
    }
    match url.scheme() {
        "http" | "https" => Ok(url),
        _ => Err("expected http:// or https://".to_owned()),
    }
}

impl TelemetryOptions {
    /// What spans and metrics contain. The resource of `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` is that of a
    /// process that sends; files do not depend on the environment.
    pub(crate) fn settings(&self, sends: bool, is_live: bool) -> Settings {
        let side = self.otlp_side.map(|side| match side {
            SideName::Client => Side::Client,
            SideName::Server => Side::Server,
        });
        let resource = if sends { resource(variable) } else { Vec::new() };
        Settings { side, has_content: self.otlp_content, resource, is_live }
    }

    /// Prepares to send to a collector.
    ///
    /// # Errors
    ///
    /// A header or a setting in the environment is not valid.
    pub(crate) fn collector(&self, place: &Place, encoding: Encoding) -> Result<Collector, CommandError> {
        let [traces, metrics] = urls(place, &variable)?;
        let destination =
            |signal: &str, url: Option<String>| url.map(|url| self.destination(signal, url, &variable)).transpose();
        let (traces, metrics) = (destination("TRACES", traces)?, destination("METRICS", metrics)?);
        Collector::new(traces, metrics, encoding == Encoding::Json)
    }

    fn destination(&self, signal: &str, url: String, value: &Variables<'_>) -> Result<Destination, CommandError> {
        let setting = |name: &str| setting(signal, name, value);
        let mut headers = listed(&setting("HEADERS").unwrap_or_default(), "OTEL_EXPORTER_OTLP_HEADERS")?;
        for (name, text) in &self.otlp_headers {
            let names = Names { variable: value, workspace: Path::new(".") };
            let text = expand(text, &names);
            headers.push((name.clone(), text.map_err(|error| usage(&format!("--otlp-header {name}: {error}")))?));
        }
        let limit = match setting("TIMEOUT") {
            None => LIMIT,
            Some(text) => Duration::from_millis(
                text.trim()
                    .parse()
                    .map_err(|_| usage(&format!("OTEL_EXPORTER_OTLP_TIMEOUT is {text:?}; expected milliseconds")))?,
            ),
        };
        let compresses = match setting("COMPRESSION").as_deref() {
            None | Some("gzip") => true,
            Some("none") => false,
            Some(other) => {
                return Err(usage(&format!("OTEL_EXPORTER_OTLP_COMPRESSION is {other:?}; expected gzip or none")));
            }
        };
        let cacert = setting("CERTIFICATE").map(Into::into);
        Ok(Destination { remote: Remote { url, headers, cacert, ..Remote::default() }, compresses, limit })
    }
}

/// Values of environment variables.
type Variables<'a> = dyn Fn(&str) -> Option<String> + 'a;

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// A setting for a signal, else for all.
fn setting(signal: &str, name: &str, value: &Variables<'_>) -> Option<String> {
    value(&format!("OTEL_EXPORTER_OTLP_{signal}_{name}")).or_else(|| value(&format!("OTEL_EXPORTER_OTLP_{name}")))
}

/// The encoding that the environment asks for.
///
/// # Errors
///
/// It is not one of OTLP/HTTP.
pub(crate) fn encoding() -> Result<Encoding, CommandError> {
    match variable("OTEL_EXPORTER_OTLP_PROTOCOL").as_deref() {
        None | Some("http/protobuf") => Ok(Encoding::Protobuf),
        Some("http/json") => Ok(Encoding::Json),
        Some(other) => Err(usage(&format!("OTEL_EXPORTER_OTLP_PROTOCOL is {other:?}, which is not supported"))
            .hint("use http/protobuf or http/json; OTLP/HTTP usually has port 4318")),
    }
}

/// The URLs for spans and for metrics, as OpenTelemetry defines them: the paths of the signals are appended to a URL. A URL
/// that ends in one is for that signal only.
fn urls(place: &Place, value: &Variables<'_>) -> Result<[Option<String>; 2], CommandError> {
    let paths = [("TRACES", "/v1/traces"), ("METRICS", "/v1/metrics")];
    if let Place::Url(url) = place {
        let only = paths.iter().any(|(_, path)| url.path().trim_end_matches('/').ends_with(path));
        return Ok(paths.map(|(_, path)| match only {
            true => url.path().trim_end_matches('/').ends_with(path).then(|| url.to_string()),
            false => Some(below(url, path)),
        }));
    }
    let named = |name: &str| {
        let parsed = value(name).map(|text| http_url(&text).map_err(|error| usage(&format!("{name}: {error}"))));
        parsed.transpose()
    };
    let base = named("OTEL_EXPORTER_OTLP_ENDPOINT")?;
    let mut urls = [None, None];
    for (at, (signal, path)) in paths.into_iter().enumerate() {
        let own = named(&format!("OTEL_EXPORTER_OTLP_{signal}_ENDPOINT"))?;
        urls[at] = own.map(|url| url.to_string()).or_else(|| base.as_ref().map(|base| below(base, path)));
    }
    if urls == [None, None] {
        return Err(usage("OTEL_EXPORTER_OTLP_ENDPOINT is not set").hint("set it, or name the collector's URL"));
    }
    Ok(urls)
}

fn below(url: &url::Url, path: &str) -> String {
    let mut url = url.clone();
    let path = format!("{}{path}", url.path().trim_end_matches('/'));
    url.set_path(&path);
    url.to_string()
}

/// `NAME=VALUE,NAME=VALUE`, each percent-encoded. An error does not contain values.
fn listed(text: &str, of: &str) -> Result<Vec<(String, String)>, CommandError> {
    let pairs = text.split(',').map(str::trim).filter(|pair| !pair.is_empty());
    let no_sign = || usage(&format!("{of}: an entry has no equals sign; expected NAME=VALUE,NAME=VALUE"));
    pairs
        .map(|pair| pair.split_once('=').ok_or_else(no_sign))
        .map(|pair| pair.map(|(name, value)| (decoded(name.trim()), decoded(value.trim()))))
        .collect()
}

fn decoded(text: &str) -> String {
    let hex = |digits: &[u8]| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let [first, after @ ..] = rest {
        let escaped = after.get(..2).filter(|_| *first == b'%').and_then(hex);
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The attributes of the resource in the environment. Entries that are not valid are left out.
fn resource(value: impl Fn(&str) -> Option<String>) -> Vec<(String, String)> {
    let name = "OTEL_RESOURCE_ATTRIBUTES";
    let mut all = value(name).and_then(|text| listed(&text, name).ok()).unwrap_or_default();
    if let Some(service) = value("OTEL_SERVICE_NAME") {
        all.retain(|(key, _)| key != "service.name");
        all.push(("service.name".to_owned(), service));
    }
    all
}

fn usage(why: &str) -> CommandError {
    CommandError::usage(why)
}

/// The same signal for the collector.
pub(crate) fn signal(of: otlp::Signal) -> Signal {
    match of {
        otlp::Signal::Traces => Signal::Traces,
        otlp::Signal::Metrics => Signal::Metrics,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn urls_of(text: &str, variables: &[(&str, &str)]) -> Result<[Option<String>; 2], String> {
        let value =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        urls(&place(text)?, &value).map_err(|error| error.message)
    }

    #[test]
    fn paths_are_appended_unless_the_url_has_one() {
        let both = |traces: &str, metrics: &str| Ok([Some(traces.to_owned()), Some(metrics.to_owned())]);
        assert_eq!(urls_of("http://h:4318", &[]), both("http://h:4318/v1/traces", "http://h:4318/v1/metrics"));
        assert_eq!(
            urls_of("https://h/otlp/?a=b", &[]),
            both("https://h/otlp/v1/traces?a=b", "https://h/otlp/v1/metrics?a=b")
        );
        assert_eq!(urls_of("http://h/v1/traces", &[]), Ok([Some("http://h/v1/traces".to_owned()), None]));
        assert_eq!(urls_of("http://h/x/v1/metrics", &[]), Ok([None, Some("http://h/x/v1/metrics".to_owned())]));
        let general = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://h:4318/");
        let own = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://t/in");
        assert_eq!(urls_of("env", &[general, own]), both("http://t/in", "http://h:4318/v1/metrics"));
        assert_eq!(urls_of("env", &[own]), Ok([Some("http://t/in".to_owned()), None]));
        assert!(urls_of("env", &[]).is_err_and(|why| why.contains("OTEL_EXPORTER_OTLP_ENDPOINT is not set")));
        for wrong in ["h:4318", "ftp://h", "http://u:p@h", ""] {
            assert!(urls_of(wrong, &[]).is_err_and(|why| !why.contains("u:p")), "{wrong}");
        }
    }

    #[test]
    fn headers_and_resources_are_lists_with_percent_encoding() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let read = listed("api-key=a%20b%3D, x = y=z ,", "X").map_err(|error| error.message);
        assert_eq!(read, Ok(vec![pair("api-key", "a b="), pair("x", "y=z")]));
        let refused = listed("secret-without-name", "X").map_err(|error| error.message);
        assert!(refused.is_err_and(|why| !why.contains("secret")));
        let value = |name: &str| match name {
            "OTEL_SERVICE_NAME" => Some("tap".to_owned()),
            "OTEL_RESOURCE_ATTRIBUTES" => Some("service.name=x,deployment.environment.name=ci".to_owned()),
            _ => None,
        };
        assert_eq!(resource(value), [pair("deployment.environment.name", "ci"), pair("service.name", "tap")]);
    }

    #[test]
    fn a_signals_own_settings_come_first_and_options_come_last() {
        let options = TelemetryOptions {
            otlp_headers: vec![("X-Key".to_owned(), "${KEY}".to_owned())],
            ..TelemetryOptions::default()
        };
        let value = |name: &str| match name {
            "KEY" => Some("own".to_owned()),
            "OTEL_EXPORTER_OTLP_HEADERS" => Some("x-key=general".to_owned()),
            "OTEL_EXPORTER_OTLP_METRICS_TIMEOUT" => Some("250".to_owned()),
            "OTEL_EXPORTER_OTLP_COMPRESSION" => Some("none".to_owned()),
            _ => None,
        };
        let made = |signal: &str| options.destination(signal, "http://h/".to_owned(), &value).expect("valid");
        let (traces, metrics) = (made("TRACES"), made("METRICS"));
        assert_eq!((traces.limit, metrics.limit, traces.compresses), (LIMIT, Duration::from_millis(250), false));
        assert_eq!(traces.remote.headers.last(), Some(&("X-Key".to_owned(), "own".to_owned())));
    }
}
