//! Formats a validation report as text: findings grouped by rule, then a summary line.

use super::style::Palette;
use crate::proposals::{Rule, RuleGroup, Severity};
use crate::validate::{Finding, Report};
use crate::wire::text::counted;
use anstyle::Style;
use std::fmt::{self, Write};
use unicode_width::UnicodeWidthStr;

/// The maximum number of findings that are listed for each rule.
const MAX_PLACES: usize = 20;

/// Writes the report, the worst rules first. Lines are at most `width` columns wide, unless a word is wider.
///
/// # Errors
///
/// If writing fails.
pub(crate) fn text(report: &Report, width: usize, palette: &Palette, out: &mut impl Write) -> fmt::Result {
    let width = width.max(40);
    for (rule, findings) in by_rule(report) {
        let style = severity_style(palette, rule.severity);
        let name = palette.bold;
        writeln!(out, "{style}{}{style:#} {name}{}{name:#}", rule.severity.name(), rule.id)?;
        wrapped(rule.text, "  ", width, Style::new(), out)?;
        wrapped(rule.source, "  ", width, palette.faint, out)?;
        let several = report.connections.len() > 1;
        for finding in findings.iter().take(MAX_PLACES) {
            place(finding, several, width, out)?;
        }
        let not_kept = report.not_kept.get(rule.id).copied().unwrap_or(0);
        let more = findings.len().saturating_sub(MAX_PLACES) as u64 + not_kept;
        if more > 0 {
            writeln!(out, "    and {more} more")?;
        }
        writeln!(out)?;
    }
    summary(report, palette, out)
}

/// Writes all rules with their sources, and what mcpreel assumes where a source leaves a question open.
///
/// # Errors
///
/// If writing fails.
pub(crate) fn rules(groups: &[RuleGroup], width: usize, palette: &Palette, out: &mut impl Write) -> fmt::Result {
    let (bold, faint, plain) = (palette.bold, palette.faint, Style::new());
    let legend = "Each rule: its name, the severity if a session breaks it, its source, and the requirement. AMB-… is a place \
        where a proposal leaves a question open; the line with that number says what mcpreel assumes. docs/proposals.md \
        introduces the proposals.";
    wrapped(legend, "", width, faint, out)?;
    for group in groups {
        writeln!(
            out,
            "\n{bold}# {}{bold:#} {faint}({}){faint:#}\n",
            group.document,
            counted(group.rules.len() as u64, "rule")
        )?;
        for rule in group.rules {
            writeln!(out, "{bold}{}{bold:#}  {}  {faint}{}{faint:#}", rule.id, rule.severity.name(), rule.source)?;
            wrapped(rule.text, "    ", width, plain, out)?;
            if let (Some(decision), Some(code)) = (rule.decision, rule.source.find("AMB-")) {
                wrapped(&format!("{}: {decision}", &rule.source[code..]), "    ", width, faint, out)?;
            }
        }
    }
    Ok(())
}

/// Groups findings by rule: errors, warnings, infos, then by the rule's id.
fn by_rule(report: &Report) -> Vec<(&'static Rule, Vec<&Finding>)> {
    let mut groups: Vec<(&'static Rule, Vec<&Finding>)> = Vec::new();
    let mut ordered: Vec<_> = report.findings.iter().collect();
    ordered.sort_by_key(|finding| (std::cmp::Reverse(finding.rule.severity), finding.rule.id));
    for finding in ordered {
        match groups.last_mut() {
            Some((rule, list)) if rule.id == finding.rule.id => list.push(finding),
            _ => groups.push((finding.rule, vec![finding])),
        }
    }
    groups
}

fn severity_style(palette: &Palette, severity: Severity) -> Style {
    match severity {
        Severity::Error => palette.error,
        Severity::Warning => palette.warning,
        Severity::Info => palette.key,
    }
}

fn place(finding: &Finding, several: bool, width: usize, out: &mut impl Write) -> fmt::Result {
    let mut line = match finding.seq {
        Some(seq) => format!("seq {seq}"),
        None => "session".to_owned(),
    };
    if several {
        let _ = write!(line, " #{}", finding.stream);
    }
    if let Some(direction) = finding.direction {
        let _ = write!(line, " {}", direction.short());
    }
    line.push_str(": ");
    line.extend(finding.seen.chars().map(|letter| if letter.is_control() { '\u{fffd}' } else { letter }));
    wrapped(&line, "    ", width, Style::new(), out)
}

/// Writes a text between an indent and the width. Lines after the first are indented by two more columns.
///
/// # Errors
///
/// If writing fails.
pub(crate) fn wrapped(text: &str, indent: &str, width: usize, style: Style, out: &mut impl Write) -> fmt::Result {
    let mut column = 0;
    for word in text.split(' ') {
        let wide = word.width();
        if column == 0 {
            write!(out, "{indent}{style}{word}")?;
            column = indent.len() + wide;
        } else if column + 1 + wide > width {
            write!(out, "{style:#}\n{indent}  {style}{word}")?;
            column = indent.len() + 2 + wide;
        } else {
            write!(out, " {word}")?;
            column += 1 + wide;
        }
    }
    writeln!(out, "{style:#}")
}

fn summary(report: &Report, palette: &Palette, out: &mut impl Write) -> fmt::Result {
    let style = match report.worst() {
        Some(severity) => severity_style(palette, severity),
        None => palette.good,
    };
    let connections = report.connections.len() as u64 + report.more.connections;
    writeln!(
        out,
        "{style}{}, {}, {}{style:#} in {} over {}",
        counted(report.errors, "error"),
        counted(report.warnings, "warning"),
        counted(report.infos, "info"),
        counted(report.messages(), "message"),
        counted(connections, "connection"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::report::ConnectionSummary;
    use crate::validate::rules;
    use crate::wire::Direction;

    fn report() -> Report {
        let finding = |rule, seq, seen: &str| Finding {
            stream: 0,
            rule,
            seq,
            direction: seq.map(|_| Direction::ServerToClient),
            seen: seen.to_owned(),
        };
        Report {
            findings: vec![
                finding(&rules::CRLF, Some(1), "the line ends with CR LF"),
                finding(&rules::NOISE, Some(2), "\"[server] started and it says a lot more than fits in one line\""),
                finding(&rules::UNANSWERED, None, "bell \u{7}"),
            ],
            not_kept: [("stream/crlf", 3)].into(),
            errors: 1,
            warnings: 1,
            infos: 4,
            connections: vec![ConnectionSummary { messages: 1, ..ConnectionSummary::default() }],
            more: crate::validate::report::More::default(),
        }
    }

    #[test]
    fn the_worst_comes_first_and_lines_keep_to_the_width() {
        let mut out = String::new();
        text(&report(), 60, &Palette::plain(), &mut out).expect("written");
        insta::assert_snapshot!(out, @r##"
    error stream/noise
      Every line on stdin and stdout is a JSON message, not log
        output or other text.
      MCP transports, stdio
        seq 2 s2c: "[server] started and it says a lot more than
          fits in one line"

    warning pairing/unanswered
      A side does not leave a request unanswered while it
        responds to later ones.
      JSON-RPC 2.0 §4
        session: bell �

    info stream/crlf
      Lines end with LF, not with CR LF.
      MCP transports, stdio
        seq 1 s2c: the line ends with CR LF
        and 3 more

    1 error, 1 warning, 4 infos in 1 message over 1 connection
    "##);
        assert!(out.lines().all(|line| line.width() <= 60));
    }

    #[test]
    fn colours_are_the_palettes() {
        let mut out = String::new();
        text(&report(), 80, &Palette::coloured(), &mut out).expect("written");
        assert!(out.contains("\u{1b}[1m\u{1b}[31merror\u{1b}[0m"));
    }
}
