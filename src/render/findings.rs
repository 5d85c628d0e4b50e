//! Formats findings as text: for each session, the findings grouped by rule, each with its place in the message; then
//! the counts.

use super::style::Palette;
use super::text::visible_text;
use crate::check::baseline::{Exceeded, Identity};
use crate::check::{CheckedReel, Counts, Excerpt, Located, Run};
use crate::proposals::{Rule, RuleGroup, Severity};
use crate::wire::text::{counted, counted_as};
use anstyle::Style;
use std::collections::BTreeSet;
use std::fmt::{self, Write};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The maximum number of findings that are listed for each rule of a session.
const MAX_PLACES: usize = 20;
/// The space before the place of a finding.
const INDENT: &str = "    ";

/// Writes the report, the worst rules of each session first. Lines are at most `width` columns wide, unless a word is
/// wider.
///
/// # Errors
///
/// If writing fails.
pub(crate) fn text(run: &Run, width: usize, palette: &Palette, out: &mut impl Write) -> fmt::Result {
    let mut page = Page { width: width.max(40), palette, printed_rules: BTreeSet::new() };
    for reel in &run.reels {
        let streams = reel.streams();
        let has_headings = run.reels.len() > 1 || streams.len() > 1;
        for stream in streams {
            page.session(reel, stream, has_headings, out)?;
        }
    }
    page.baseline(run, out)?;
    let mut last = String::new();
    summary(run, palette, &mut last)?;
    last.lines().try_for_each(|line| wrapped(line, "", page.width, Style::new(), out))
}

/// Writes one finding on its own, as a live session shows it.
///
/// # Errors
///
/// If writing fails.
pub(crate) fn single(found: &Located, width: usize, palette: &Palette, out: &mut impl Write) -> fmt::Result {
    let style = severity_style(palette, found.severity);
    let (bold, severity) = (palette.bold, found.severity.name());
    writeln!(out, "{style}{severity}{style:#} {bold}{}{bold:#}", found.finding.rule.id)?;
    place(found, true, width.max(40), palette, out)
}

/// The layout, and what was written so far.
struct Page<'a> {
    width: usize,
    palette: &'a Palette,
    /// The rules whose text was written.
    printed_rules: BTreeSet<&'static str>,
}

impl Page<'_> {
    fn session(&mut self, reel: &CheckedReel, stream: u32, has_heading: bool, out: &mut impl Write) -> fmt::Result {
        let found: Vec<&Located> = reel.checked.findings.iter().filter(|one| one.finding.stream == stream).collect();
        if found.is_empty() {
            return Ok(());
        }
        if has_heading {
            self.heading(reel, stream, out)?;
        }
        for (rule, places) in by_rule(found) {
            self.rule(rule, &places, reel, out)?;
        }
        Ok(())
    }

    fn heading(&self, reel: &CheckedReel, stream: u32, out: &mut impl Write) -> fmt::Result {
        let (bold, faint) = (self.palette.bold, self.palette.faint);
        let facts = reel.checked.connections.iter().find(|facts| facts.stream == stream);
        let peer = |peer: &Option<crate::validate::report::Peer>| peer.as_ref().map(|peer| peer.name.clone());
        let mut about = Vec::new();
        if let Some(facts) = facts {
            about.extend(peer(&facts.client).map(|name| format!("client {name}")));
            about.extend(peer(&facts.server).map(|name| format!("server {name}")));
            about.extend(facts.revision.iter().map(|revision| format!("revision {revision}")));
        }
        let counts = reel.checked.by_stream.get(&stream).copied().unwrap_or_default();
        about.push(counts_text(&counts));
        let about = visible_text(&about.join(", "));
        let number = if reel.streams().len() == 1 { String::new() } else { format!(" #{stream}") };
        writeln!(out, "{bold}{}{number}{bold:#}", visible_text(&reel.name))?;
        wrapped(&about, "  ", self.width, faint, out)?;
        writeln!(out)
    }

    fn rule(
        &mut self,
        rule: &'static Rule,
        places: &[&Located],
        reel: &CheckedReel,
        out: &mut impl Write,
    ) -> fmt::Result {
        let severity = places.first().map_or(rule.severity, |found| found.severity);
        let (style, name) = (severity_style(self.palette, severity), self.palette.bold);
        writeln!(out, "{style}{}{style:#} {name}{}{name:#}", severity.name(), rule.id)?;
        if self.printed_rules.insert(rule.id) {
            wrapped(rule.text, "  ", self.width, Style::new(), out)?;
            wrapped(rule.source, "  ", self.width, self.palette.faint, out)?;
            if let Some(fix) = rule.fix {
                wrapped(&format!("Fix: {fix}"), "  ", self.width, Style::new(), out)?;
            }
        }
        for found in places.iter().take(MAX_PLACES) {
            place(found, false, self.width, self.palette, out)?;
        }
        let is_only_stream = reel.streams().len() == 1;
        let not_kept = reel.checked.not_kept.get(rule.id).copied().filter(|_| is_only_stream).unwrap_or(0);
        let more = places.len().saturating_sub(MAX_PLACES) as u64 + not_kept;
        if more > 0 {
            writeln!(out, "{INDENT}and {more} more")?;
        }
        writeln!(out)
    }

    fn baseline(&self, run: &Run, out: &mut impl Write) -> fmt::Result {
        let text = "Nothing violates these rules any more: remove the entries, or run with --write-baseline.";
        self.entries("stale", text, run.stale.iter().map(Identity::text), out)?;
        let text = "There are more findings than the baseline has. The last ones are listed and count: fix them, or run \
                    with --write-baseline.";
        self.entries("exceeded", text, run.exceeded.iter().map(Exceeded::text), out)
    }

    fn entries(
        &self,
        what: &str,
        text: &str,
        entries: impl ExactSizeIterator<Item = String>,
        out: &mut impl Write,
    ) -> fmt::Result {
        if entries.len() == 0 {
            return Ok(());
        }
        let (style, bold) = (self.palette.error, self.palette.bold);
        writeln!(out, "{style}{what}{style:#} {bold}baseline{bold:#}")?;
        wrapped(text, "  ", self.width, Style::new(), out)?;
        for entry in entries {
            wrapped(&visible_text(&entry), INDENT, self.width, Style::new(), out)?;
        }
        writeln!(out)
    }
}

/// What a reader of the list of rules has to know.
const LEGEND: [&str; 5] = [
    "Each entry gives the rule's name, its severity, its source and, on the next line, what it requires. \
        `mcpreel explain RULE` says more about one rule.",
    "An error breaks the specification, a warning is likely to cause trouble, and an info is worth knowing. All three are \
        reported, and --fail-on decides which of them change the exit code. Only the severity says how serious a violation \
        is, whether the text says `must` or not. One message may break several rules.",
    "A host is the application with the model; it is the client's side of MCP, so its messages are the client's. A session \
        is one connection between a client and a server; a reel is a recorded file, which may contain several. Before \
        2026-07-28, a session begins with the handshake: `initialize`, its result, and `notifications/initialized`. A rule \
        that names no revision applies wherever the revision of the session has what it is about.",
    "To declare a capability is to send it in `capabilities`: the client in `initialize`, the server in the result. From \
        2026-07-28 on, the client sends it in `_meta` of each request, the server in the result of `server/discover`; if a \
        session has none, rules about the server's capabilities are not checked. A capability that is `false` or null is \
        not declared.",
    "A label such as AMB-C8 marks a question that the proposal leaves open; the line that begins with it says how mcpreel \
        reads it.",
];

/// Writes all rules with their sources, and what mcpreel assumes where a source leaves a question open.
///
/// # Errors
///
/// If writing fails.
pub(crate) fn rules(groups: &[RuleGroup], width: usize, palette: &Palette, out: &mut impl Write) -> fmt::Result {
    let (bold, faint, plain) = (palette.bold, palette.faint, Style::new());
    for paragraph in LEGEND {
        wrapped(paragraph, "", width, faint, out)?;
    }
    for group in groups {
        writeln!(
            out,
            "\n{bold}# {}{bold:#} {faint}({}){faint:#}\n",
            group.document,
            counted(group.rules.len() as u64, "rule")
        )?;
        if !group.glossary.is_empty() {
            wrapped(group.glossary, "", width, faint, out)?;
            writeln!(out)?;
        }
        for rule in &group.rules {
            writeln!(out, "{bold}{}{bold:#}  {}  {faint}{}{faint:#}", rule.id, rule.severity.name(), rule.source)?;
            wrapped(rule.text, "    ", width, plain, out)?;
            if let (Some(decision), Some(code)) = (rule.decision, rule.source.find("AMB-")) {
                wrapped(&format!("{}: {decision}", &rule.source[code..]), "    ", width, faint, out)?;
            }
            if let Some(fix) = rule.fix {
                wrapped(&format!("Fix: {fix}"), "    ", width, faint, out)?;
            }
        }
    }
    Ok(())
}

/// Groups findings by rule: errors, warnings, infos, then by the rule's id.
fn by_rule(mut found: Vec<&Located>) -> Vec<(&'static Rule, Vec<&Located>)> {
    let mut groups: Vec<(&'static Rule, Vec<&Located>)> = Vec::new();
    found.sort_by_key(|one| (std::cmp::Reverse(one.severity), one.finding.rule.id));
    for one in found {
        match groups.last_mut() {
            Some((rule, list)) if rule.id == one.finding.rule.id => list.push(one),
            _ => groups.push((one.finding.rule, vec![one])),
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

fn place(found: &Located, names_stream: bool, width: usize, palette: &Palette, out: &mut impl Write) -> fmt::Result {
    let finding = &found.finding;
    let mut line = finding.seq.map_or_else(|| "session".to_owned(), |seq| format!("seq {seq}"));
    if names_stream && finding.stream != 0 {
        let _ = write!(line, " #{}", finding.stream);
    }
    if let Some(direction) = finding.direction {
        let _ = write!(line, " {}", direction.short());
    }
    if let Some(why) = found.standing.excuse() {
        let _ = write!(line, " ({})", visible_text(why));
    }
    line.push_str(": ");
    line.extend(finding.seen.chars().map(|letter| if letter.is_control() { '\u{fffd}' } else { letter }));
    wrapped(&line, INDENT, width, Style::new(), out)?;
    match &found.excerpt {
        Some(excerpt) => pointed(excerpt, finding.path.as_deref(), width, palette, out),
        None => Ok(()),
    }
}

/// Writes the part of the message, and below it a mark with the path.
fn pointed(
    excerpt: &Excerpt,
    path: Option<&str>,
    width: usize,
    palette: &Palette,
    out: &mut impl Write,
) -> fmt::Result {
    let space = width.saturating_sub(INDENT.len() + 2);
    let marked = super::table::cut(&excerpt.marked, space.saturating_sub(8));
    let left = space - marked.width();
    // What stands before says more than what comes after.
    let before = last(&excerpt.before, left.saturating_sub(excerpt.after.width().min(left / 3)));
    let after = super::table::cut(&excerpt.after, left - before.width());
    let (faint, style) = (palette.faint, palette.bold);
    writeln!(out, "{INDENT}  {faint}{before}{faint:#}{style}{marked}{style:#}{faint}{after}{faint:#}")?;
    let (indent, line) = (before.width(), "^".repeat(marked.width().max(1)));
    let style = palette.error;
    let path = visible_text(path.unwrap_or_default());
    let behind = indent + line.len() + 1 + path.width() <= space;
    match (path.is_empty(), behind) {
        (true, _) => writeln!(out, "{INDENT}  {:indent$}{style}{line}{style:#}", ""),
        (false, true) => writeln!(out, "{INDENT}  {:indent$}{style}{line}{style:#} {path}", ""),
        (false, false) => {
            writeln!(out, "{INDENT}  {:indent$}{style}{line}{style:#}", "")?;
            writeln!(out, "{INDENT}  at {path}")
        }
    }
}

/// Shortens a text to its last `width` columns, with an ellipsis.
fn last(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut space = width.saturating_sub(1);
    let fits = |found: &char| {
        let wide = found.width().unwrap_or(0);
        let fits = wide <= space;
        space = space.saturating_sub(wide);
        fits
    };
    let kept: Vec<char> = text.chars().rev().take_while(fits).collect();
    if width == 0 { String::new() } else { std::iter::once('…').chain(kept.into_iter().rev()).collect() }
}

/// Writes a text between an indent and the width. Lines after the first are indented by two more columns.
///
/// # Errors
///
/// If writing fails.
pub(crate) fn wrapped(text: &str, indent: &str, width: usize, style: Style, out: &mut impl Write) -> fmt::Result {
    let mut column = 0;
    for word in text.split(' ') {
        // Colour codes take no space.
        let wide = anstream::adapter::strip_str(word).map(UnicodeWidthStr::width).sum::<usize>();
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

/// Writes how to learn more, what does not count, and the counts as the last line.
///
/// # Errors
///
/// If writing fails.
pub(crate) fn summary(run: &Run, palette: &Palette, out: &mut impl Write) -> fmt::Result {
    let found = run.reels.iter().flat_map(|reel| &reel.checked.findings);
    if let Some(worst) = found.max_by_key(|found| found.severity) {
        let (faint, rule) = (palette.faint, worst.finding.rule.id);
        writeln!(out, "{faint}`mcpreel explain {rule}` says more about a rule{faint:#}")?;
    }
    let counts = run.counts();
    if let Some(excused) = excused(&counts) {
        writeln!(out, "not counted: {excused}")?;
    }
    let style = counts.worst().map_or(palette.good, |severity| severity_style(palette, severity));
    let (messages, connections) = (counted(run.messages(), "message"), counted(run.connections(), "connection"));
    let others = match run.not_messages() {
        0 => String::new(),
        others => format!(" and {}", counted_as(others, "line that is no message", "lines that are no messages")),
    };
    write!(out, "{style}{}{style:#} in {messages}{others} over {connections}", severities(&counts))?;
    match run.reels.len() {
        0 | 1 => writeln!(out),
        reels => writeln!(out, " in {}", counted(reels as u64, "reel")),
    }
}

fn severities(counts: &Counts) -> String {
    let Counts { errors, warnings, infos, .. } = *counts;
    [counted(errors, "error"), counted(warnings, "warning"), counted(infos, "info")].join(", ")
}

fn counts_text(counts: &Counts) -> String {
    let excused = excused(counts).map(|text| format!("; not counted: {text}"));
    format!("{}{}", severities(counts), excused.unwrap_or_default())
}

/// Returns what does not count in words: `2 injected, 1 in the baseline`.
pub(crate) fn excused(counts: &Counts) -> Option<String> {
    let kinds = [(counts.injected, "injected"), (counts.suppressed, "suppressed"), (counts.known, "in the baseline")];
    let said: Vec<String> =
        kinds.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    (!said.is_empty()).then(|| said.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{Checked, Standing};
    use crate::validate::Finding;
    use crate::validate::report::ConnectionSummary;
    use crate::validate::rules;
    use crate::wire::Direction;

    fn found(rule: &'static Rule, stream: u32, seq: Option<u64>, seen: &str) -> Located {
        let direction = seq.map(|_| Direction::ServerToClient);
        let (method, path, seen) = (None, None, seen.to_owned());
        let finding = Finding { stream, rule, seq, direction, seen, method, path };
        Located { finding, severity: rule.severity, standing: Standing::Counted, index: seq, excerpt: None }
    }

    fn run() -> Run {
        let mut wrong = found(&rules::PARAMS, 0, Some(3), "the params of x, at /params/name: 7 is not a string");
        wrong.finding.path = Some("/params/name".to_owned());
        let before = r#"…{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"#.to_owned();
        let (marked, after) = (r#""name":7"#.to_owned(), r#","arguments":{"a":1}}}"#.to_owned());
        wrong.excerpt = Some(Excerpt { before, marked, after, span: 60..68, columns: None });
        let noise = "\"[server] started and it says a lot more than fits in one line\"";
        let mut findings = vec![
            found(&rules::CRLF, 0, Some(1), "the line ends with CR LF"),
            found(&rules::NOISE, 0, Some(2), noise),
            wrong,
            found(&rules::UNANSWERED, 0, None, "bell \u{7}"),
        ];
        findings[0].standing = Standing::Known;
        let counts = Counts { errors: 2, warnings: 1, known: 4, ..Counts::default() };
        let checked = Checked {
            findings,
            not_kept: [("stream/crlf", 3)].into(),
            counts,
            by_stream: [(0, counts)].into(),
            messages: 1,
            connections: vec![ConnectionSummary { messages: 1, ..ConnectionSummary::default() }],
            ..Checked::default()
        };
        Run {
            reels: vec![CheckedReel { name: "a.reel".to_owned(), checked, ..CheckedReel::default() }],
            ..Run::default()
        }
    }

    fn written(run: &Run, palette: &Palette) -> String {
        let mut out = String::new();
        text(run, 60, palette, &mut out).expect("written");
        out
    }

    #[test]
    fn the_worst_comes_first_and_lines_keep_to_the_width() {
        let out = written(&run(), &Palette::plain());
        assert!(out.lines().all(|line| line.width() <= 60), "{out}");
        insta::assert_snapshot!(out, @r###"
        error schema/params
          Whoever sends a request or notification must send `params`
            that conform to the schema of the method.
          MCP schema; the proposals' schemas
          Fix: Compare the params with `mcpreel explain --schema
            METHOD`.
            seq 3 s2c: the params of x, at /params/name: 7 is not a
              string
              …ethod":"tools/call","params":{"name":7,"arguments":{…
                                             ^^^^^^^^ /params/name

        error stream/noise
          On stdin and stdout, client and server write only JSON
            messages, each on a line, and no log output or other
            text.
          MCP transports, stdio
          Fix: Write logs and other text to standard error.
            seq 2 s2c: "[server] started and it says a lot more than
              fits in one line"

        warning pairing/unanswered
          Whoever receives a request answers it. Checked at the end
            of the session: no request may be without a response for
            10 s, or while a later one was answered.
          JSON-RPC 2.0 §4
          Fix: Answer every request: with an error, if it failed.
            session: bell �

        info stream/crlf
          Client and server end each line with LF, not with CR LF.
          MCP transports, stdio
          Fix: Open the stream in binary mode, or set its line
            ending to LF.
            seq 1 s2c (in the baseline): the line ends with CR LF
            and 3 more

        `mcpreel explain schema/params` says more about a rule
        not counted: 4 in the baseline
        2 errors, 1 warning, 0 infos in 1 message over 1 connection
        "###);
    }

    #[test]
    fn sessions_stand_apart_and_a_rule_is_told_once() {
        let mut run = run();
        let mut second = found(&rules::NOISE, 2, Some(9), "log");
        second.severity = Severity::Warning;
        run.reels[0].checked.findings.push(second);
        run.reels[0].checked.by_stream.insert(2, Counts { warnings: 1, ..Counts::default() });
        run.stale.push(Identity { rule: "era/batch".to_owned(), method: None, path: None });
        let out = written(&run, &Palette::plain());
        assert_eq!(out.matches("On stdin and stdout").count(), 1, "{out}");
        let (first, second) = out.split_once("a.reel #2\n  0 errors, 1 warning, 0 infos\n").expect("two sessions");
        assert!(first.starts_with("a.reel #0\n") && first.contains("seq 2 s2c:"), "{first}");
        assert!(second.contains("warning stream/noise\n    seq 9 s2c: log\n"), "{second}");
        assert!(second.contains("stale baseline\n") && second.contains("    era/batch\n"), "{second}");
    }

    #[test]
    fn colours_are_the_palettes() {
        assert!(written(&run(), &Palette::coloured()).contains("\u{1b}[1m\u{1b}[38;5;161merror\u{1b}[0m"));
    }

    #[test]
    fn colour_codes_take_no_space() {
        let written = |text: &str| {
            let mut out = String::new();
            wrapped(text, "", 24, Style::new(), &mut out).expect("written");
            out
        };
        assert_eq!(written("\u{1b}[31m\u{1b}[1m1 error\u{1b}[0m in 15 messages").lines().count(), 1);
        assert_eq!(written("1 error in 15 messages over 1 connection").lines().count(), 2);
    }

    #[test]
    fn the_end_of_a_text_is_kept() {
        assert_eq!([last("abc", 3), last("abcd", 3), last("日本語", 5), last("abc", 0)], ["abc", "…cd", "…本語", ""]);
    }
}
