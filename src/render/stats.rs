//! Statistics as text, tables, Markdown, CSV and JSON.

pub(crate) mod compared;
mod graph;
mod json;
mod sheet;

pub(crate) use graph::graphs;
pub(crate) use json::{compared as compared_json, context as context_json, value};
pub(crate) use sheet::Sheet;

use super::findings::wrapped;
use super::line;
use super::table::cut;
use crate::session::stats::latencies::{Latencies, bins};
use crate::session::stats::{ContextReport, Grouping, Report, Slowest, Tally};
use crate::wire::MessageKind;
use crate::wire::text::counted;
use crate::wire::units::millis_of;
use anstyle::Style as Colour;
use unicode_width::UnicodeWidthStr;

/// The percentiles in tables, Markdown, CSV and JSON, besides the median.
const PERCENTILES: [(&str, f64); 3] = [("p90", 90.0), ("p95", 95.0), ("p99", 99.0)];

/// The counts of all messages as sentences. `listing` is what lists the failures. Nothing is wider than `width`.
pub(crate) fn summary(report: &Report, about: &str, listing: Option<&str>, width: Option<usize>) -> String {
    let mut text = String::new();
    for line in sentences(report, listing) {
        // Writing to a string does not fail.
        let _ = wrapped(&line, "", width.unwrap_or(usize::MAX), Colour::new(), &mut text);
    }
    if let Some((method, slowest)) = report.slowest() {
        let what = line::visible_text(format!("{method} {about}").trim_end());
        text.push_str(&slowest_line(&what, slowest, width, report.is_merged));
    }
    text
}

fn sentences(report: &Report, listing: Option<&str>) -> Vec<String> {
    let kinds = MessageKind::ALL.iter().zip(report.kinds).filter(|(_, count)| *count > 0);
    let kinds: Vec<String> = kinds.map(|(kind, count)| kind_count(*kind, count)).collect();
    let (messages, span) = (counted(report.messages, "message"), line::duration(report.span));
    let total = format!("{messages}, {}, over {span}", line::bytes(report.message_bytes));
    let late = report.total().late;
    let listed = listing.map(|what| format!("({what} lists them)")).unwrap_or_default();
    let extras = [
        (report.failed, "failure", &*listed),
        (report.unanswered, "request", "unanswered"),
        (report.orphans, "response", "without a request"),
        (late, "response", "after the deadline of a proposal"),
        (report.failures, "HTTP exchange", "failed"),
        (report.gaps, "gap", "in the recording"),
    ];
    let extras = extras.into_iter().filter(|extra| extra.0 > 0);
    let extras = extras.map(|(count, what, rest)| format!("{} {rest}", counted(count, what)).trim_end().to_owned());
    std::iter::once(total).chain((!kinds.is_empty()).then(|| kinds.join(", "))).chain(extras).collect()
}

/// The line about the slowest call. What it was about is shortened to the width.
fn slowest_line(what: &str, slowest: Slowest, width: Option<usize>, is_merged: bool) -> String {
    let seq = if is_merged { String::new() } else { format!(", seq {}", slowest.seq) };
    let (before, after) = ("slowest: ", format!(" took {}{seq}", line::duration(slowest.latency)));
    let space = width.map_or(usize::MAX, |width| width.saturating_sub(before.width() + after.width()));
    format!("{before}{}{after}\n", cut(what, space))
}

/// The number of messages of a kind. Names that are not nouns have no plural.
fn kind_count(kind: MessageKind, count: u64) -> String {
    match kind {
        MessageKind::Request | MessageKind::Notification | MessageKind::Result | MessageKind::Error => {
            counted(count, kind.name())
        }
        MessageKind::Batch if count != 1 => format!("{count} batches"),
        _ => format!("{count} {}", kind.name()),
    }
}

/// The rows of a grouping as a table. With `is_graphic`, each has a small picture of its latencies.
pub(crate) fn sheet(report: &Report, grouping: Grouping, is_graphic: bool) -> Sheet {
    if grouping == Grouping::Error {
        return errors(report);
    }
    let rows = report.rows(grouping);
    let latencies: Vec<&Latencies> = rows.iter().map(|(_, row)| &row.latencies).collect();
    let pictures = if is_graphic { bins(&latencies) } else { Vec::new() };
    let picture = |at: usize| pictures.get(at).map(|bins| graph::sparkline(&graph::counts(bins)));
    let cells = |(at, (name, row)): (usize, &(&str, &Tally))| {
        let seq = row.slowest.filter(|_| !report.is_merged).map(|slowest| slowest.seq.to_string()).unwrap_or_default();
        let numbers = cells(row, rate_span(grouping, report, row));
        [vec![line::visible_text(name)], numbers, vec![seq], picture(at).into_iter().collect()].concat()
    };
    let rows = rows.iter().enumerate().map(cells).collect();
    let extra = is_graphic.then_some("latencies");
    let heading: Vec<&str> = std::iter::once(grouping.name()).chain(COLUMNS).chain(["seq"]).chain(extra).collect();
    // Responses are the calls minus the open ones.
    Sheet::new(&heading, rows).without(&["late", "seq"]).removing(&[
        "responses",
        "per s",
        "seq",
        "p95",
        "latencies",
        "p99",
        "median",
        "size",
        "open",
    ])
}

/// The time in which a row's notifications were sent: that of the whole recording, or of the session.
fn rate_span(grouping: Grouping, report: &Report, row: &Tally) -> i64 {
    if matches!(grouping, Grouping::Session | Grouping::Reel) { row.span() } else { report.span }
}

const COLUMNS: [&str; 11] =
    ["calls", "responses", "errors", "open", "late", "size", "per s", "median", "p95", "p99", "slowest"];

fn cells(row: &Tally, span: i64) -> Vec<String> {
    let time = |value: Option<i64>| value.map(line::duration).unwrap_or_default();
    vec![
        row.calls.to_string(),
        blank_zero(row.answers),
        blank_zero(row.errors + row.tool_errors),
        blank_zero(row.unanswered),
        blank_zero(row.late),
        line::bytes(row.bytes),
        row.notification_rate(span).map(rate).unwrap_or_default(),
        time(row.latencies.median()),
        time(row.latencies.percentile(95.0)),
        time(row.latencies.percentile(99.0)),
        time(row.latencies.max()),
    ]
}

/// A number per second with two significant digits or none after the point.
fn rate(rate: f64) -> String {
    match rate {
        rate if rate >= 10.0 => format!("{rate:.0}"),
        rate if rate >= 1.0 => format!("{rate:.1}"),
        rate => format!("{rate:.2}"),
    }
}

fn errors(report: &Report) -> Sheet {
    let mut rows: Vec<_> = report.errors.iter().collect();
    rows.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let cells = |(key, count): (&crate::session::stats::ErrorKey, &u64)| {
        let code = key.code.map_or("isError".to_owned(), |code| code.to_string());
        vec![code, line::visible_text(&key.method), count.to_string()]
    };
    Sheet::new(&["error", "method", "responses"], rows.into_iter().map(cells).collect()).shortening(&[0, 1])
}

/// All rows with exact numbers, for CSV.
pub(crate) fn exact(reports: &[(String, &Report)], groupings: &[Grouping]) -> Sheet {
    let mut rows = Vec::new();
    for (reel, report) in reports {
        for grouping in groupings.iter().filter(|grouping| **grouping != Grouping::Error) {
            for (name, row) in report.rows(*grouping) {
                let names = [reel.clone(), grouping.name().to_owned(), name.to_owned()];
                rows.push([&names[..], &exact_cells(row, rate_span(*grouping, report, row))].concat());
            }
        }
        if groupings.contains(&Grouping::Error) {
            for (key, count) in &report.errors {
                let code = key.code.map_or("isError".to_owned(), |code| code.to_string());
                let mut row = vec![reel.clone(), "error".to_owned(), format!("{code} {}", key.method)];
                row.resize(EXACT.len(), String::new());
                row[6] = count.to_string();
                rows.push(row);
            }
        }
    }
    Sheet::new(&EXACT, rows)
}

const EXACT: [&str; 18] = [
    "reel",
    "group",
    "name",
    "calls",
    "notifications",
    "responses",
    "errors",
    "tool_errors",
    "unanswered",
    "late",
    "bytes",
    "notifications_per_second",
    "median_ms",
    "mean_ms",
    "p90_ms",
    "p95_ms",
    "p99_ms",
    "max_ms",
];

fn exact_cells(row: &Tally, span: i64) -> Vec<String> {
    let counts =
        [row.calls, row.notifications, row.answers, row.errors, row.tool_errors, row.unanswered, row.late, row.bytes];
    let latencies = &row.latencies;
    let times = [latencies.median(), latencies.mean()]
        .into_iter()
        .chain(PERCENTILES.map(|(_, percent)| latencies.percentile(percent)))
        .chain([latencies.max()]);
    let times = times.map(|time| time.map(|time| millis_of(time).to_string()).unwrap_or_default());
    let per_second = row.notification_rate(span).map(|rate| format!("{rate:.3}")).unwrap_or_default();
    counts.iter().map(u64::to_string).chain([per_second]).chain(times).collect()
}

/// The texts that servers put into the prompts, as a table.
pub(crate) fn context(report: &ContextReport, is_exact: bool) -> Sheet {
    let bytes = |count: u64| if is_exact { count.to_string() } else { line::bytes(count) };
    let rows = report.rows.iter().map(|row| {
        vec![
            line::visible_text(&row.server),
            line::visible_text(&row.source),
            if row.is_in_every { "every".to_owned() } else { row.turns.to_string() },
            row.texts.to_string(),
            bytes(row.bytes),
            bytes(report.per_turn(row)),
            bytes(row.max),
        ]
    });
    let heading = ["server", "source", "turns", "texts", "bytes", "per turn", "most"];
    Sheet::new(&heading, rows.collect()).shortening(&[0, 1]).removing(&["texts", "bytes", "most"])
}

fn blank_zero(count: u64) -> String {
    if count == 0 { String::new() } else { count.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_call_takes_one_line() {
        let slowest = Slowest { latency: 1_200_000_000, seq: 7 };
        assert_eq!(
            slowest_line("tools/call echo", slowest, None, false),
            "slowest: tools/call echo took 1.20 s, seq 7\n"
        );
        assert_eq!(
            slowest_line("tools/call echo", slowest, Some(39), false),
            "slowest: tools/call… took 1.20 s, seq 7\n"
        );
    }

    #[test]
    fn counts_have_their_plurals() {
        assert_eq!(kind_count(MessageKind::Batch, 2), "2 batches");
        assert_eq!(kind_count(MessageKind::Request, 1), "1 request");
        let report = Report { orphans: 1, failures: 2, gaps: 1, ..Report::default() };
        let expected = ["1 response without a request", "2 HTTP exchanges failed", "1 gap in the recording"];
        assert_eq!(sentences(&report, None)[1..], expected);
    }

    #[test]
    fn rates_are_short() {
        assert_eq!([0.025, 3.162, 27.1, 1000.4].map(rate), ["0.03", "3.2", "27", "1000"]);
    }
}
