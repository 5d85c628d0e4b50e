//! The metrics of OpenTelemetry's conventions for MCP: durations of operations and sessions.

use super::attributes::{Attribute, Simple, text, written};
use super::span::Made;
use super::stream::Stream;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::{AggregationTemporality, Histogram, HistogramDataPoint, Metric};
use std::collections::BTreeMap;

/// The bounds of the buckets that the conventions recommend, in seconds.
const BOUNDS: [f64; 14] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];
/// The maximum number of combinations of method, tool and error.
const MAX_POINTS: usize = 2000;

/// A combination of attributes.
type Key = Vec<Attribute>;
/// The points of one metric.
type Points = BTreeMap<Key, Durations>;

/// Durations so far.
#[derive(Debug, Default)]
pub(super) struct Metrics {
    /// Those that clients see, and those that servers see.
    operations: [Points; 2],
    sessions: [Points; 2],
    /// All durations since the beginning are in every export; otherwise there is only one.
    is_cumulative: bool,
    began: u64,
    has_news: bool,
}

/// Durations in seconds, in buckets.
#[derive(Clone, Debug, Default)]
struct Durations {
    counts: [u64; BOUNDS.len() + 1],
    sum: f64,
    range: Option<(f64, f64)>,
    /// The first begin and the last end, in Unix nanoseconds.
    began: u64,
    ended: u64,
}

impl Durations {
    fn add(&mut self, (began, ended): (u64, u64)) {
        let seconds = ended.saturating_sub(began) as f64 / 1e9;
        self.counts[BOUNDS.partition_point(|bound| *bound < seconds)] += 1;
        self.sum += seconds;
        let (min, max) = self.range.unwrap_or((seconds, seconds));
        self.range = Some((min.min(seconds), max.max(seconds)));
        self.began = if self.began == 0 { began } else { self.began.min(began) };
        self.ended = self.ended.max(ended);
    }
}

impl Metrics {
    pub(super) fn new(is_cumulative: bool) -> Self {
        Self { is_cumulative, ..Self::default() }
    }

    /// The recording began at this time, in Unix nanoseconds.
    pub(super) fn begin(&mut self, created: i64) {
        self.began = u64::try_from(created).unwrap_or(0);
    }

    /// Adds a request that has ended.
    pub(super) fn operation(&mut self, made: &Made) {
        self.has_news = true;
        add(&mut self.operations[usize::from(!made.is_client)], made.of_metrics(), made.times());
    }

    /// Adds a session.
    pub(super) fn session(&mut self, stream: &Stream, is_client: bool) {
        let failure = stream.failure.map(|failure| text("error.type", failure));
        let session = stream.session_attributes(None).filter(|(key, _)| *key != "mcp.session.id");
        let carried = stream.carrier.attributes(true, false).into_iter().filter(|(key, _)| {
            // The server sees these metrics without its own address.
            is_client || !key.starts_with("server.")
        });
        let key = failure.into_iter().chain(session).chain(carried).collect();
        let unix = |time: i64| u64::try_from(time).unwrap_or(0);
        self.has_news = true;
        add(&mut self.sessions[usize::from(!is_client)], key, (unix(stream.began), unix(stream.ended)));
    }

    /// All metrics; `None` without any, or if there is nothing new since the last time.
    pub(super) fn take(&mut self) -> Option<Vec<Metric>> {
        if !std::mem::take(&mut self.has_news) {
            return None;
        }
        let named = [
            ("mcp.client.operation.duration", &self.operations[0]),
            ("mcp.server.operation.duration", &self.operations[1]),
            ("mcp.client.session.duration", &self.sessions[0]),
            ("mcp.server.session.duration", &self.sessions[1]),
        ];
        let metrics: Vec<Metric> = named.into_iter().filter_map(|(name, points)| self.metric(name, points)).collect();
        (!metrics.is_empty()).then_some(metrics)
    }

    fn metric(&self, name: &str, points: &Points) -> Option<Metric> {
        let ended = points.values().map(|durations| durations.ended).max()?;
        let point = |(key, durations): (&Key, &Durations)| HistogramDataPoint {
            attributes: key.iter().map(written).collect(),
            start_time_unix_nano: if self.is_cumulative { self.began } else { durations.began },
            time_unix_nano: if self.is_cumulative { ended } else { durations.ended },
            count: durations.counts.iter().sum(),
            sum: Some(durations.sum),
            bucket_counts: durations.counts.to_vec(),
            explicit_bounds: BOUNDS.to_vec(),
            min: durations.range.map(|range| range.0),
            max: durations.range.map(|range| range.1),
            ..HistogramDataPoint::default()
        };
        let aggregation_temporality = match self.is_cumulative {
            true => AggregationTemporality::Cumulative,
            false => AggregationTemporality::Delta,
        } as i32;
        let histogram = Histogram { data_points: points.iter().map(point).collect(), aggregation_temporality };
        let (name, unit, data) = (name.to_owned(), "s".to_owned(), Some(Data::Histogram(histogram)));
        Some(Metric { name, unit, data, ..Metric::default() })
    }
}

fn add(into: &mut Points, key: Key, times: (u64, u64)) {
    // With too many combinations, all others are one, as in OpenTelemetry's SDKs.
    let has_space = into.len() < MAX_POINTS || into.contains_key(&key);
    let key = if has_space { key } else { vec![("otel.metric.overflow", Simple::Truth(true))] };
    into.entry(key).or_default().add(times);
}
