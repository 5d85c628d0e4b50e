//! The tools `show_messages` and `get_message`.

use super::answer::{Answer, Problem, Rows, visible};
use super::child;
use super::cursor;
use super::library::Opened;
use super::tools::{Cx, count_of, text_of};
use crate::render::quotation::shown;
use crate::session::filter::Filter;
use crate::wire::json;
use crate::wire::mask::masked_bytes;
use crate::wire::text::counted;
use serde_json::{Value, json};
use std::ffi::OsString;

/// The default number of events on a page.
const PAGE: u64 = 50;
/// The maximum length of a text in a row, in characters.
const MAX_TEXT_CHARS: usize = 500;
/// The maximum length of a text that describes a whole message, in characters.
const MAX_SUMMARY_CHARS: usize = 80;
/// The space for what stands around the payloads of messages. Unit: bytes.
const RESERVED_BYTES: usize = 3500;
/// The maximum length of what `show` prints for a page. Unit: bytes.
const MAX_PAGE_BYTES: usize = 4 << 20;
/// What is known of an event, without its payload.
const SUMMARY: &str = "{seq, time, stream, event, dir, kind, method, id: (.message.id? // null), request_seq, outcome, \
latency_ms, about, summary, injected}";

/// Answers a call of `show_messages`.
///
/// # Errors
///
/// The recording cannot be read, or the filter or the cursor is not valid.
pub(super) fn show(arguments: &Value, cx: &Cx<'_>) -> Result<Answer, Problem> {
    let recording = text_of(arguments, "recording").unwrap_or_default();
    let terms = text_of(arguments, "filter").unwrap_or_default();
    check_filter(terms)?;
    let request = ("show_messages", recording, terms);
    let from = match text_of(arguments, "cursor") {
        Some(text) => cursor::number(&request, Some(text))?,
        None => count_of(arguments, "from_seq")?.unwrap_or_default(),
    };
    let limit = count_of(arguments, "limit")?.unwrap_or(PAGE);
    let opened = cx.open(recording)?;
    let (found, is_damaged) = page(&opened, &selected(terms, opened.stream, from), limit + 1, SUMMARY, cx)?;
    let (mut rows, mut next) = (Rows::within(cx.settings.max_bytes), None);
    for event in &found {
        let row = visible(event, MAX_TEXT_CHARS);
        if rows.values.len() as u64 == limit || !rows.take(&line(&row), row) {
            next = event["seq"].as_u64();
            break;
        }
    }
    let mut answer = Answer { what: "events", ..Answer::default() };
    answer = match (&rows.values[..], terms) {
        ([], "") => answer.say("No events from there on."),
        ([], _) => answer.say("No matches. Check the filter, or leave it out."),
        (values, _) => answer.say(&format!("{}, in order.", counted(values.len() as u64, "event"))),
    };
    if let Some(next) = next {
        let next = cursor::make(&request, &next.to_string());
        answer = answer.say(&format!("There are more: pass cursor \"{next}\".")).fact("next_cursor", next);
    }
    if is_damaged {
        answer = answer.say("Part of the recording cannot be read; `mcpreel reel verify` lists the damage.");
    }
    let answer = answer.say("get_message returns a whole message by its seq.");
    Ok(Answer { recorded: rows.text, data: json!({"events": rows.values}), ..answer })
}

/// Says what is wrong with a filter, before anything is read.
fn check_filter(terms: &str) -> Result<(), Problem> {
    match Filter::parse(terms) {
        Ok(_) => Ok(()),
        // It may name a pack of the project, which `show` knows.
        Err(_) if terms.contains("ext:") => Ok(()),
        Err(error) => Err(Problem::new("the filter is not valid").quoting(&error.to_string()).hint(
            "terms are method:tools/*, tool:NAME, dir:c2s or dir:s2c, kind:request, kind:error, id:7, stream:0, \
             seq:12..20, event:stderr, error, slow:>500ms, size:>10k, text:\"words\"; combine them with and, or, not and \
             parentheses",
        )),
    }
}

/// The filter of the events from this one on. What only carried messages is left out, unless it failed or is asked for.
fn selected(terms: &str, stream: u32, from: u64) -> String {
    let mut filter = format!("seq:{from}..{}", u64::MAX);
    if stream != 0 {
        filter.push_str(&format!(" stream:{stream}"));
    }
    if !terms.is_empty() {
        filter.push_str(&format!(" ({terms})"));
    }
    if !terms.contains("event:") {
        filter.push_str(" (not event:transport or error)");
    }
    filter
}

/// The words of `show`.
fn show_words(opened: &Opened, options: &[&str], filter: &str) -> Vec<OsString> {
    let mut words = child::words(&[&["show"], options, &["--"]].concat());
    words.push(opened.readable().into());
    words.push(filter.into());
    words
}

/// The events that a filter selects, each through a jq program.
fn events(opened: &Opened, filter: &str, limit: u64, program: &str, cx: &Cx<'_>) -> Result<Vec<Value>, Problem> {
    page(opened, filter, limit, program, cx).map(|(events, _)| events)
}

/// Does the same, and also returns whether part of the recording cannot be read.
fn page(opened: &Opened, filter: &str, limit: u64, program: &str, cx: &Cx<'_>) -> Result<(Vec<Value>, bool), Problem> {
    let words = show_words(opened, &["--limit", &limit.to_string(), "--without-large", "--jq", program], filter);
    let (text, is_all, ran) = child::run_for_output(&words, cx.bounds, MAX_PAGE_BYTES)?;
    ran.check()?;
    let lines = text.split_inclusive(|byte| *byte == b'\n').filter(|line| is_all || line.ends_with(b"\n"));
    Ok((lines.map(json::value_of).collect(), ran.code == Some(1)))
}

/// The first event, through a jq program that selects one.
fn first(opened: &Opened, filter: &str, program: &str, cx: &Cx<'_>) -> Result<Option<Value>, Problem> {
    let mut kept = Vec::new();
    let words = show_words(opened, &["--without-large", "--jq", program], filter);
    let ran = child::run(&words, cx.bounds, |bytes| {
        kept.extend_from_slice(bytes);
        !kept.contains(&b'\n') && kept.len() < MAX_PAGE_BYTES
    })?;
    ran.check()?;
    Ok(kept.split(|byte| *byte == b'\n').next().filter(|line| !line.is_empty()).map(json::value_of))
}

/// The number of the last event that a filter selects.
///
/// # Errors
///
/// The recording cannot be read.
pub(super) fn last(opened: &Opened, filter: &str, cx: &Cx<'_>) -> Result<Option<u64>, Problem> {
    let filter = if opened.stream == 0 { filter.to_owned() } else { format!("({filter}) stream:{}", opened.stream) };
    let words = show_words(opened, &["--last", "1", "--jq", ".seq"], &filter);
    let (text, _, ran) = child::run_for_output(&words, cx.bounds, MAX_PAGE_BYTES)?;
    ran.check()?;
    Ok(serde_json::from_slice(&text).ok())
}

/// An event as a line.
fn line(event: &Value) -> String {
    let text = |name: &str| event[name].as_str().unwrap_or_default();
    let arrow = match text("dir") {
        _ if text("event") != "message" && text("event") != "stderr" => "·",
        "c2s" => "→",
        _ => "←",
    };
    let kind = if text("event") == "message" { text("kind") } else { text("event") };
    let mut out = format!("seq {} {} {arrow} {kind}", event["seq"], text("time").get(11..23).unwrap_or_default());
    for (label, value) in [("", &event["method"]), ("id ", &event["id"]), ("", &event["about"])] {
        match value {
            Value::Null => {}
            Value::String(text) => out.push_str(&format!(" {label}{text}")),
            other => out.push_str(&format!(" {label}{other}")),
        }
    }
    if !text("summary").is_empty() {
        out.push_str(&format!(" ⇒ {}", text("summary")));
    }
    if let Some(latency) = event["latency_ms"].as_f64() {
        out.push_str(&format!(" ({latency} ms)"));
    }
    if event["stream"] != 0 {
        out.push_str(&format!(" stream {}", event["stream"]));
    }
    if event["injected"] == true {
        out.push_str(" (injected by mcpreel)");
    }
    out
}

/// A message, or a part of it.
pub(super) struct Whole {
    /// What is known of the event.
    pub summary: Value,
    /// The part.
    pub text: String,
    /// Where the part begins, where it ends, and how long the whole is. Unit: bytes.
    pub range: (usize, usize, usize),
}

impl Whole {
    fn to_json(&self) -> Value {
        let (start, end, bytes) = self.range;
        let mut value = self.summary.clone();
        value["content"] = visible_lines(&self.text).into();
        value["content_start"] = start.into();
        value["content_end"] = end.into();
        value["content_bytes"] = bytes.into();
        value
    }

    /// The part below the line of its event.
    pub(super) fn to_text(&self) -> String {
        let (start, end, bytes) = self.range;
        let part = match (start, end) {
            (0, end) if end == bytes => counted(bytes as u64, "byte"),
            _ => format!("bytes {start} to {end} of {bytes}"),
        };
        format!("{}\n({part})\n{}\n", line(&self.summary), self.text)
    }
}

/// A text with its line ends, in which everything is visible.
fn visible_lines(text: &str) -> String {
    text.split('\n').map(shown).collect::<Vec<_>>().join("\n")
}

/// Answers a call of `get_message`.
///
/// # Errors
///
/// The recording cannot be read or has no such event.
pub(super) fn get(arguments: &Value, cx: &Cx<'_>) -> Result<Answer, Problem> {
    let recording = text_of(arguments, "recording").unwrap_or_default();
    let number = |name| count_of(arguments, name).map(Option::unwrap_or_default);
    let (seq, offset) = (number("seq")?, number("offset")?);
    let with_other = arguments["with_counterpart"] != false && offset == 0;
    let opened = cx.open(recording)?;
    let space = space_for(if with_other { 2 } else { 1 }, cx.settings.max_bytes);
    let message = whole(&opened, seq, usize::try_from(offset).unwrap_or(usize::MAX), space, cx)?;
    let other = if with_other { counterpart(&opened, &message.summary, space, cx)? } else { None };
    let mut answer = Answer { what: "messages", ..Answer::default() };
    let (_, end, bytes) = message.range;
    answer = match message.summary["event"] == "message" {
        true => answer.say(&format!("The message with seq {seq}.")),
        false => answer.say(&format!("The event with seq {seq}, which is not a message.")),
    };
    answer = match &other {
        Some(other) if message.summary["kind"] == "request" => {
            answer.say(&format!("Its response has seq {} and follows.", other.summary["seq"]))
        }
        Some(other) => answer.say(&format!("Its request has seq {} and follows.", other.summary["seq"])),
        None if with_other && message.summary["kind"] == "request" => {
            answer.say("It has no response in the recording.")
        }
        None => answer,
    };
    if end < bytes {
        answer = answer.say(&format!("It has {bytes} bytes; pass offset {end} for the rest.")).fact("next_offset", end);
    }
    if let Some(rest) = other.as_ref().filter(|other| other.range.1 < other.range.2) {
        let (seq, (_, end, bytes)) = (&rest.summary["seq"], rest.range);
        answer = answer.say(&format!(
            "The other message has {bytes} bytes; get_message with seq {seq} and offset {end} returns the rest."
        ));
    }
    let recorded = message.to_text() + &other.as_ref().map(Whole::to_text).unwrap_or_default();
    let data = json!({"message": message.to_json(), "counterpart": other.as_ref().map(Whole::to_json)});
    Ok(Answer { recorded, data, ..answer })
}

/// The space for the payload of each of several messages in an answer of this size. Unit: bytes.
pub(super) fn space_for(messages: usize, max_bytes: usize) -> usize {
    max_bytes.saturating_sub(RESERVED_BYTES) / messages
}

/// Reads an event, and as much of its payload as takes at most `most` bytes when it is shown.
pub(super) fn whole(opened: &Opened, seq: u64, offset: usize, most: usize, cx: &Cx<'_>) -> Result<Whole, Problem> {
    let filter = format!("seq:{seq}..{seq}");
    let program = format!("{SUMMARY} + {{data: (.data? // null)}}");
    let Some(mut summary) = events(opened, &filter, 1, &program, cx)?.into_iter().next() else {
        return Err(Problem::new(format!("the recording has no event with seq {seq}"))
            .hint("call show_messages for the events that there are"));
    };
    // A batch or a broken line has no members of its own; its own data is its text.
    let data = summary.as_object_mut().and_then(|members| members.shift_remove("data")).unwrap_or_default();
    let summary = visible(&summary, MAX_SUMMARY_CHARS);
    let is_text = ["message", "stderr"].iter().any(|kind| summary["event"] == *kind);
    let mut part = Part { offset, most, ..Part::default() };
    if is_text {
        let words = show_words(opened, &["--raw", "--limit", "1"], &filter);
        child::run(&words, cx.bounds, |bytes| part.take(bytes))?.check()?;
        // The line break that follows the payload.
        part.bytes = part.bytes.saturating_sub(1);
    } else {
        part.take(data.to_string().as_bytes());
    }
    let (text, end) = part.text();
    Ok(Whole { summary, range: (offset.min(part.bytes), end, part.bytes), text })
}

/// The part of a text that is kept while it is read.
#[derive(Default)]
struct Part {
    offset: usize,
    most: usize,
    kept: Vec<u8>,
    /// How long the text is so far.
    bytes: usize,
}

impl Part {
    fn take(&mut self, bytes: &[u8]) -> bool {
        let start = self.offset.saturating_sub(self.bytes).min(bytes.len());
        let left = self.most.saturating_sub(self.kept.len());
        self.kept.extend(bytes[start..].iter().take(left));
        self.bytes += bytes.len();
        true
    }

    /// The part, which ends with a whole character and is at most `most` bytes long when it is shown; and where it ends in
    /// the whole.
    fn text(&self) -> (String, usize) {
        let start = self.offset.min(self.bytes);
        let kept = &self.kept[..self.kept.len().min(self.bytes - start)];
        let (mut end, mut left) = (0, self.most);
        'chunks: for chunk in kept.utf8_chunks() {
            for found in chunk.valid().chars() {
                let Some(less) = left.checked_sub(shown_bytes(found)) else { break 'chunks };
                (left, end) = (less, end + found.len_utf8());
            }
            // What the end of `kept` has cut in two comes with the next part.
            let is_cut = end + chunk.invalid().len() == kept.len() && start + kept.len() < self.bytes;
            match left.checked_sub(shown_bytes(char::REPLACEMENT_CHARACTER)) {
                Some(less) if !(is_cut && end > 0) => (left, end) = (less, end + chunk.invalid().len()),
                _ => break,
            }
        }
        // --raw has the secrets of webhooks, which are hidden everywhere else.
        (String::from_utf8_lossy(&masked_bytes(&kept[..end])).into_owned(), start + end)
    }
}

/// The length of a character when it is shown, also in JSON. Unit: bytes.
fn shown_bytes(found: char) -> usize {
    match found {
        '"' | '\\' => 2,
        '\n' => 3,
        _ if found.is_alphanumeric() || found == ' ' => found.len_utf8(),
        // A backslash of its escape is escaped in JSON.
        _ => shown(found.encode_utf8(&mut [0; 4])).len() + 1,
    }
}

/// The response to a request, or the request of a response.
pub(super) fn counterpart(
    opened: &Opened,
    summary: &Value,
    most: usize,
    cx: &Cx<'_>,
) -> Result<Option<Whole>, Problem> {
    let (Some(seq), Some(stream)) = (summary["seq"].as_u64(), summary["stream"].as_u64()) else { return Ok(None) };
    let other_way = if summary["dir"] == "c2s" { "s2c" } else { "c2s" };
    let of_stream = format!("stream:{stream} dir:{other_way}");
    // The id as it was recorded, and not as it is shown.
    let ids = events(opened, &format!("seq:{seq}..{seq}"), 1, "[.message.id? // null]", cx)?;
    let Some(id) = ids.first().map(|ids| &ids[0]).filter(|id| !id.is_null()) else { return Ok(None) };
    let program = format!("select((.message | type) == \"object\" and .message.id == {id}) | .seq");
    let found = match summary["kind"].as_str() {
        Some("request") => {
            let later = format!("{of_stream} kind:response seq:{}..{}", seq + 1, u64::MAX);
            first(opened, &later, &program, cx)?
        }
        Some("result" | "error") => {
            let earlier = format!("{of_stream} kind:request seq:0..{seq}");
            events(opened, &earlier, u64::MAX, &program, cx)?.pop()
        }
        _ => None,
    };
    found.and_then(|found| found.as_u64()).map(|seq| whole(opened, seq, 0, most, cx)).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_text_together_are_the_text() {
        let text = "aé–日本\u{1f600}z".repeat(5) + "\n";
        for most in 6..14 {
            let (mut offset, mut together) = (0, String::new());
            while offset < text.len() - 1 {
                let mut part = Part { offset, most, ..Part::default() };
                text.as_bytes().chunks(3).for_each(|chunk| assert!(part.take(chunk)));
                part.bytes -= 1;
                let (kept, end) = part.text();
                assert!(end > offset && kept.len() <= most, "{most}: {offset} to {end}");
                together.push_str(&kept);
                offset = end;
            }
            assert_eq!(together, text.trim_end());
        }
    }

    #[test]
    fn a_line_says_what_an_event_is() {
        let event = json!({"seq": 4, "time": "2026-11-25T21:21:56.037342483Z", "stream": 0, "event": "message", "dir": "s2c",
            "kind": "error", "method": "m", "id": "a", "about": null, "outcome": "error", "summary": "error -1", "latency_ms": 1.5});
        assert_eq!(line(&event), "seq 4 21:21:56.037 ← error m id a ⇒ error -1 (1.5 ms)");
    }
}
