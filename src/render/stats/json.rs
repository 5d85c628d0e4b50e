//! Statistics as JSON. Members are added and never renamed.

use super::PERCENTILES;
use super::compared::Compared;
use super::rate_span;
use crate::session::stats::{ContextReport, Grouping, Report, Slowest, Tally};
use crate::wire::MessageKind;
use crate::wire::units::millis_of;
use serde_json::{Map, Value, json};

/// The counts as an object, with the rows of these groupings and of the methods.
pub(crate) fn value(report: &Report, groupings: &[Grouping], about: &str) -> Value {
    let kinds: Map<String, Value> = MessageKind::ALL
        .iter()
        .zip(report.kinds)
        .filter(|(_, count)| *count > 0)
        .map(|(kind, count)| (kind.name().to_owned(), count.into()))
        .collect();
    let slowest = report.slowest().map(|(method, Slowest { latency, seq })| {
        json!({"method": method, "about": about, "seq": seq, "latency_ms": millis_of(latency)})
    });
    let mut whole = json!({
        "events": report.events, "messages": report.messages, "bytes": report.bytes,
        "message_bytes": report.message_bytes,
        "seconds": report.span as f64 / 1e9,
        "kinds": kinds, "unanswered": report.unanswered, "orphan_answers": report.orphans,
        "late_answers": report.total().late, "failed_exchanges": report.failures,
        "stderr_bytes": report.stderr_bytes, "gaps": report.gaps, "damages": report.damages, "slowest": slowest,
        "failures": report.failed,
        "activity": {"step_ms": millis_of(report.activity.step()), "messages": report.activity.counts()},
        "methods": rows(report, Grouping::Method),
    });
    for grouping in groupings {
        match grouping {
            Grouping::Method => {}
            Grouping::Error => whole["errors"] = errors(report),
            other => whole[member(*other)] = rows(report, *other),
        }
    }
    whole
}

/// The member with the rows of a grouping.
fn member(grouping: Grouping) -> String {
    format!("{}s", grouping.name())
}

fn rows(report: &Report, grouping: Grouping) -> Value {
    let rows = report.rows(grouping).into_iter();
    rows.map(|(name, tally)| (name.to_owned(), row(tally, rate_span(grouping, report, tally)))).collect()
}

fn row(row: &Tally, span: i64) -> Value {
    json!({
        "calls": row.calls, "notifications": row.notifications, "answers": row.answers, "errors": row.errors,
        "tool_errors": row.tool_errors, "unanswered": row.unanswered, "late": row.late, "bytes": row.bytes,
        "notifications_per_second": row.notification_rate(span).map(|rate| (rate * 1e3).round() / 1e3),
        "latency_ms": latency(row), "slowest_seq": row.slowest.map(|slowest| slowest.seq),
    })
}

fn latency(row: &Tally) -> Option<Value> {
    let latencies = &row.latencies;
    let millis = |time: Option<i64>| Value::from(time.map(millis_of));
    let mut value = json!({"median": millis_of(latencies.median()?), "mean": millis(latencies.mean())});
    for (name, percent) in PERCENTILES {
        value[name] = millis(latencies.percentile(percent));
    }
    value["max"] = millis(latencies.max());
    Some(value)
}

fn errors(report: &Report) -> Value {
    let one = |(key, count): (&crate::session::stats::ErrorKey, &u64)| json!({"code": key.code, "method": key.method, "count": count});
    report.errors.iter().map(one).collect()
}

/// Two recordings side by side: each number of a row before and after.
pub(crate) fn compared(sides: &Compared<'_>, groupings: &[Grouping]) -> Value {
    let side = |(name, report): (&str, &Report)| {
        let mut whole = value(report, groupings, "");
        whole["reel"] = name.into();
        whole
    };
    let changes = groupings.iter().filter(|grouping| **grouping != Grouping::Error).map(|grouping| {
        let rows = sides.rows(*grouping).into_iter().map(|(name, rows)| {
            let pair = |of: &dyn Fn(&Tally) -> Value| Value::from(rows.map(|row| row.map_or(Value::Null, of)).to_vec());
            let time = |of: fn(&Tally) -> Option<i64>| pair(&|row| of(row).map(millis_of).into());
            let change = json!({
                "calls": pair(&|row| row.calls.into()),
                "bytes": pair(&|row| row.bytes.into()),
                "errors": pair(&|row| (row.errors + row.tool_errors).into()),
                "median_ms": time(|row| row.latencies.median()),
                "p99_ms": time(|row| row.latencies.percentile(99.0)),
            });
            (name.to_owned(), change)
        });
        (member(*grouping), rows.collect::<Value>())
    });
    json!({"before": side(sides.before), "after": side(sides.after), "changes": changes.collect::<Value>()})
}

/// The texts that servers put into the prompts.
pub(crate) fn context(report: &ContextReport) -> Value {
    let rows = report.rows.iter().map(|row| {
        json!({
            "server": row.server, "source": row.source, "in_every_prompt": row.is_in_every, "texts": row.texts,
            "turns": row.turns, "bytes": row.bytes, "bytes_per_turn": report.per_turn(row), "max_bytes": row.max,
        })
    });
    json!({"turns": report.turns, "context": rows.collect::<Value>()})
}
