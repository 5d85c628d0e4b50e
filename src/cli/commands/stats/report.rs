//! The counts of `stats` as text and as JSON.

use super::counts::{Slowest, Stats};
use crate::render::findings::wrapped;
use crate::render::line;
use crate::render::table::{BLANK, cut, fitted, naming, narrowed};
use crate::wire::MessageKind;
use crate::wire::text::counted;
use crate::wire::units::millis_of;
use anstyle::Style as Colour;
use serde_json::{Value, json};
use tabled::settings::object::Columns;
use tabled::settings::{Alignment, Style};
use unicode_width::UnicodeWidthStr;

impl Stats {
    pub(super) fn to_json(&self, names: &[Box<str>], about: &str) -> Value {
        let methods: serde_json::Map<String, Value> = self
            .by_name(names)
            .into_iter()
            .map(|(name, method, unanswered)| {
                let latency = method.latencies.median().map(|median| {
                    json!({
                        "median": millis_of(median),
                        "mean": millis_of(method.latency_sum / method.answers.max(1) as i64),
                        "max": method.slowest.map(|slowest| millis_of(slowest.latency)),
                    })
                });
                let counts = json!({
                    "calls": method.calls, "answers": method.answers, "errors": method.errors,
                    "tool_errors": method.tool_errors, "unanswered": unanswered, "bytes": method.bytes,
                    "latency_ms": latency, "slowest_seq": method.slowest.map(|slowest| slowest.seq),
                });
                (name.to_owned(), counts)
            })
            .collect();
        let kinds: serde_json::Map<String, Value> = MessageKind::ALL
            .iter()
            .zip(self.kinds)
            .filter(|(_, count)| *count > 0)
            .map(|(kind, count)| (kind.name().to_owned(), count.into()))
            .collect();
        let slowest = self.slowest(names).map(|(method, Slowest { latency, seq })| {
            json!({"method": method, "about": about, "seq": seq, "latency_ms": millis_of(latency)})
        });
        json!({
            "events": self.events, "messages": self.messages, "bytes": self.bytes,
            "seconds": self.span() as f64 / 1e9,
            "kinds": kinds, "unanswered": self.unanswered().count(), "orphan_answers": self.orphans,
            "failed_exchanges": self.failures,
            "stderr_bytes": self.stderr_bytes, "gaps": self.gaps, "damages": self.damages, "slowest": slowest,
            "methods": methods,
        })
    }

    /// The counts as text: sentences, then a table. Nothing is wider than `width`.
    pub(super) fn to_text(&self, names: &[Box<str>], about: &str, width: Option<usize>) -> String {
        let mut text = String::new();
        for line in self.sentences() {
            // Writing to a string does not fail.
            let _ = wrapped(&line, "", width.unwrap_or(usize::MAX), Colour::new(), &mut text);
        }
        if let Some((method, slowest)) = self.slowest(names) {
            let what = line::visible_text(format!("{method} {about}").trim_end());
            text.push_str(&slowest_line(&what, slowest, width));
        }
        if !self.by_name(names).is_empty() {
            text.push_str(&format!("\n{}", self.table(names, width)));
        }
        text.trim_end().to_owned()
    }

    fn sentences(&self) -> Vec<String> {
        let kinds = MessageKind::ALL.iter().zip(self.kinds).filter(|(_, count)| *count > 0);
        let kinds: Vec<String> = kinds.map(|(kind, count)| kind_count(*kind, count)).collect();
        let (messages, span) = (counted(self.messages, "message"), line::duration(self.span()));
        let total = format!("{messages}, {}, over {span}", line::bytes(self.bytes));
        let extras = [
            (self.unanswered().count() as u64, "request", "unanswered"),
            (self.orphans, "response", "without a request"),
            (self.failures, "HTTP exchange", "failed"),
            (self.gaps, "gap", "in the recording"),
        ];
        let extras = extras.into_iter().filter(|extra| extra.0 > 0);
        let extras = extras.map(|(count, what, rest)| format!("{} {rest}", counted(count, what)));
        std::iter::once(total).chain((!kinds.is_empty()).then(|| kinds.join(", "))).chain(extras).collect()
    }

    fn table(&self, names: &[Box<str>], width: Option<usize>) -> String {
        let heading = ["method", "calls", "responses", "errors", "open", "size", "median", "slowest", "seq"];
        let mut rows = vec![heading.map(str::to_owned).to_vec()];
        for (name, method, waiting) in self.by_name(names) {
            let span = |value: Option<i64>| value.map(line::duration).unwrap_or_default();
            rows.push(vec![
                line::visible_text(name),
                method.calls.to_string(),
                blank_zero(method.answers),
                blank_zero(method.errors + method.tool_errors),
                blank_zero(waiting),
                line::bytes(method.bytes),
                span(method.latencies.median()),
                span(method.slowest.map(|slowest| slowest.latency)),
                method.slowest.map(|slowest| slowest.seq.to_string()).unwrap_or_default(),
            ]);
        }
        let removed = width.map(|width| narrowed(&mut rows, BLANK, &REMOVABLE, 0, width)).unwrap_or_default();
        let mut table = fitted(rows, BLANK, &[0], width);
        table.with(Style::empty()).modify(Columns::new(1..), Alignment::right());
        naming(&removed, table.to_string())
    }
}

/// The line about the slowest call. What it was about is shortened to the width.
fn slowest_line(what: &str, slowest: Slowest, width: Option<usize>) -> String {
    let (before, after) = ("slowest: ", format!(" took {}, seq {}", line::duration(slowest.latency), slowest.seq));
    let space = width.map_or(usize::MAX, |width| width.saturating_sub(before.width() + after.width()));
    format!("{before}{}{after}\n", cut(what, space))
}

/// The columns that a narrow terminal does without, in this order. Responses are the calls minus the open ones.
const REMOVABLE: [usize; 5] = [2, 8, 6, 5, 4];

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

fn blank_zero(count: u64) -> String {
    if count == 0 { String::new() } else { count.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_call_takes_one_line() {
        let slowest = Slowest { latency: 1_200_000_000, seq: 7 };
        assert_eq!(slowest_line("tools/call echo", slowest, None), "slowest: tools/call echo took 1.20 s, seq 7\n");
        assert_eq!(slowest_line("tools/call echo", slowest, Some(39)), "slowest: tools/call… took 1.20 s, seq 7\n");
    }

    #[test]
    fn counts_have_their_plurals() {
        assert_eq!(kind_count(MessageKind::Batch, 2), "2 batches");
        assert_eq!(kind_count(MessageKind::Request, 1), "1 request");
        let mut stats = Stats::default();
        (stats.orphans, stats.failures, stats.gaps) = (1, 2, 1);
        let expected = ["1 response without a request", "2 HTTP exchanges failed", "1 gap in the recording"];
        assert_eq!(stats.sentences()[1..], expected);
    }
}
