//! The result of `survive` as text: the client, its declarations, the messages, and a summary.

use super::line::visible_text;
use super::style::Palette;
use super::table::{BLANK, fitted};
use crate::probe::{Client, Declared, ProbeReport, SentSample, TrialOutcome};
use crate::wire::text::counted;
use std::io::Write;
use tabled::settings::Style;

/// Appends the result as lines.
pub(crate) fn write(probe_report: &ProbeReport, palette: &Palette, width: Option<usize>, out: &mut Vec<u8>) {
    let _ = writeln!(out, "{}\n", about(&probe_report.client));
    if !probe_report.declarations.is_empty() {
        let head = ["declared", "at", "in stock SDKs", "outcome", "the client's reaction"];
        let rows = probe_report.declarations.iter().map(declared);
        rows_out(std::iter::once(head.map(str::to_owned).into()).chain(rows).collect(), &[4, 2, 3], width, out);
    }
    if !probe_report.messages.is_empty() {
        let head = ["sent", "method", "as", "outcome", ""];
        let rows = probe_report.messages.iter().map(sent);
        rows_out(std::iter::once(head.map(str::to_owned).into()).chain(rows).collect(), &[4], width, out);
    }
    let _ = writeln!(out, "{}", summary(probe_report, palette));
}

fn rows_out(rows: Vec<Vec<String>>, expendable: &[usize], width: Option<usize>, out: &mut Vec<u8>) {
    let mut table = fitted(rows, BLANK, expendable, width);
    let text = table.with(Style::empty()).to_string();
    for line in text.lines() {
        let _ = writeln!(out, "{}", line.trim_end());
    }
    let _ = writeln!(out);
}

fn about(client: &Client) -> String {
    let named = |part: &Option<String>, otherwise: &str| part.clone().unwrap_or_else(|| otherwise.to_owned());
    let mut text = format!("{} {}", named(&client.name, "an unnamed client"), named(&client.version, ""));
    text = format!("{}, MCP {}", text.trim(), named(&client.revision, "without a revision"));
    if !client.answers_ping {
        text.push_str("; it does not answer pings, so that it broke is known only if it exits");
    }
    visible_text(&text)
}

fn declared(one: &Declared) -> Vec<String> {
    let mut seen: Vec<String> = one.client_place.iter().map(|place| format!("declares it at {place}")).collect();
    seen.extend(one.used.iter().map(|(name, count)| format!("{name} ×{count}")));
    if seen.is_empty() && one.outcome == TrialOutcome::Taken {
        seen.push("nothing".to_owned());
    }
    let words = one.outcome.words();
    seen.extend((!words.is_empty()).then_some(words));
    if !one.only_with.is_empty() {
        seen.push(format!("only together with {}", one.only_with.join(", ")));
    }
    let cells = [one.proposal, &one.place, one.stock_sdks, one.outcome.name(), &seen.join("; ")];
    cells.map(visible_text).into()
}

fn sent(one: &SentSample) -> Vec<String> {
    let words = one.outcome.words();
    let cells = [one.proposal.unwrap_or("no proposal"), &one.method, one.form.name(), one.outcome.name(), &words];
    cells.map(visible_text).into()
}

fn summary(probe_report: &ProbeReport, palette: &Palette) -> String {
    let all: Vec<&TrialOutcome> = probe_report.messages.iter().map(|one| &one.outcome).collect();
    let names = ["answered", "refused", "ignored", "taken", "objected", "broke", "unclear", "untried"];
    let totals = names.map(|name| (name, all.iter().filter(|outcome| outcome.name() == name).count()));
    let counts: Vec<String> =
        totals.into_iter().filter(|(_, count)| *count > 0).map(|(name, count)| format!("{count} {name}")).collect();
    let starts = if probe_report.starts == 1 { "once".to_owned() } else { format!("{} times", probe_report.starts) };
    let verdict = match probe_report.broken() {
        0 => format!("{}nothing broke the client{:#}", palette.good, palette.good),
        1 => format!("{}1 thing broke the client{:#}", palette.error, palette.error),
        count => format!("{}{count} things broke the client{:#}", palette.error, palette.error),
    };
    let sent = if all.is_empty() {
        String::new()
    } else {
        format!("{}: {}; ", counted(all.len() as u64, "message"), counts.join(", "))
    };
    format!("{sent}the client was started {starts}; {verdict}")
}
