//! The metrics of OpenTelemetry's conventions for MCP: durations of operations and sessions.

use super::span::Made;
use super::{Stream, attribute, resource, scope};
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Histogram, HistogramDataPoint, Metric, MetricsData, ResourceMetrics, ScopeMetrics,
};
use std::collections::BTreeMap;

/// The bounds of the buckets that the conventions recommend, in seconds.
const BOUNDS: [f64; 14] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];
/// The maximum number of combinations of method, tool and error.
const MAX_POINTS: usize = 2000;

/// A combination of attributes.
type Key = Vec<(&'static str, String)>;

/// Durations so far.
#[derive(Debug, Default)]
pub(super) struct Metrics {
    operations: BTreeMap<Key, Durations>,
    sessions: BTreeMap<Key, Durations>,
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
    fn add(&mut self, seconds: f64, (began, ended): (u64, u64)) {
        self.counts[BOUNDS.partition_point(|bound| *bound < seconds)] += 1;
        self.sum += seconds;
        let (min, max) = self.range.unwrap_or((seconds, seconds));
        self.range = Some((min.min(seconds), max.max(seconds)));
        self.began = if self.began == 0 { began } else { self.began.min(began) };
        self.ended = self.ended.max(ended);
    }
}

impl Metrics {
    /// Adds a request with its response.
    pub(super) fn operation(&mut self, made: &Made, latency: i64) {
        let key: Key = [
            ("mcp.method.name", Some(made.method.clone())),
            ("gen_ai.tool.name", made.tool.clone()),
            ("error.type", made.error.clone()),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect();
        let times = (made.span.start_time_unix_nano, made.span.end_time_unix_nano);
        add(&mut self.operations, key, latency, times);
    }

    /// Adds a session.
    pub(super) fn session(&mut self, stream: &Stream) {
        let key = stream.revision.iter().map(|revision| ("mcp.protocol.version", revision.clone())).collect();
        let unix = |time: i64| u64::try_from(time).unwrap_or(0);
        add(&mut self.sessions, key, stream.ended - stream.began, (unix(stream.began), unix(stream.ended)));
    }

    /// All metrics; `None` without any.
    pub(super) fn data(&self) -> Option<MetricsData> {
        let operations = metric("mcp.client.operation.duration", &self.operations);
        let sessions = metric("mcp.client.session.duration", &self.sessions);
        let metrics: Vec<Metric> = [operations, sessions].into_iter().flatten().collect();
        if metrics.is_empty() {
            return None;
        }
        let scope_metrics = vec![ScopeMetrics { scope: Some(scope()), metrics, ..ScopeMetrics::default() }];
        let of_resource = ResourceMetrics { resource: Some(resource()), scope_metrics, ..ResourceMetrics::default() };
        Some(MetricsData { resource_metrics: vec![of_resource] })
    }
}

fn add(into: &mut BTreeMap<Key, Durations>, key: Key, nanoseconds: i64, times: (u64, u64)) {
    if into.len() < MAX_POINTS || into.contains_key(&key) {
        into.entry(key).or_default().add(nanoseconds.max(0) as f64 / 1e9, times);
    }
}

fn metric(name: &str, all: &BTreeMap<Key, Durations>) -> Option<Metric> {
    let point = |(key, durations): (&Key, &Durations)| {
        let attributes: Vec<KeyValue> = key.iter().map(|(name, value)| attribute(name, value)).collect();
        HistogramDataPoint {
            attributes,
            start_time_unix_nano: durations.began,
            time_unix_nano: durations.ended,
            count: durations.counts.iter().sum(),
            sum: Some(durations.sum),
            bucket_counts: durations.counts.to_vec(),
            explicit_bounds: BOUNDS.to_vec(),
            min: durations.range.map(|range| range.0),
            max: durations.range.map(|range| range.1),
            ..HistogramDataPoint::default()
        }
    };
    let aggregation_temporality = AggregationTemporality::Delta as i32;
    let histogram = Histogram { data_points: all.iter().map(point).collect(), aggregation_temporality };
    let data = Some(Data::Histogram(histogram));
    (!all.is_empty()).then(|| Metric { name: name.to_owned(), unit: "s".to_owned(), data, ..Metric::default() })
}
