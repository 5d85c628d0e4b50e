//! Finds what may be base64, or another run of bytes of a class.

use crate::redact::encoding::{SHORTEST_BASE64, decoded, may_be_text};
use crate::wire::json;
use std::ops::Range;

/// The characters of both alphabets of base64.
static BASE64: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = (byte as u8).is_ascii_alphanumeric() || matches!(byte as u8, b'+' | b'/' | b'_' | b'-');
        byte += 1;
    }
    table
};

pub(super) fn is_base64(byte: u8) -> bool {
    BASE64[usize::from(byte)]
}

/// Returns what may be base64: runs of its characters with their padding, or, if such a run looks like a path, the parts
/// between its slashes.
pub(super) fn base64_runs(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let divided = |range: Range<usize>| -> Vec<Range<usize>> {
        let run = &text[range.clone()];
        if !run.contains(&b'/') || may_be_text(run) && decoded(run).is_some_and(|inner| inner.is_text()) {
            return vec![range];
        }
        let start = range.start;
        runs(&text[range], |byte| byte != b'/').map(|part| part.start + start..part.end + start).collect()
    };
    let is_long = |range: &Range<usize>| range.len() >= SHORTEST_BASE64;
    runs(text, is_base64).map(|range| padded(text, range)).filter(is_long).flat_map(divided).filter(is_long)
}

/// Adds the padding after a run of base64.
pub(super) fn padded(text: &[u8], range: Range<usize>) -> Range<usize> {
    let padding = text[range.end..].iter().take(2).take_while(|byte| **byte == b'=').count();
    range.start..range.end + padding
}

/// The shortest line of base64 that is divided into lines, as MIME (76) and PEM (64) divide it.
const SHORTEST_LINE: usize = 60;

/// Returns the places of base64 that is divided into lines of the same length, of which the last may be shorter.
pub(super) fn wrapped_runs(text: &[u8]) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let last_word = |line: &[u8]| line.len() - memchr::memrchr(b' ', line).map_or(0, |at| at + 1);
    let has_break = memchr::memchr(b'\n', text).is_some();
    if !has_break || text.split(|byte| *byte == b'\n').all(|line| last_word(line) < SHORTEST_LINE) {
        return found;
    }
    let mut lines = runs(text, |byte| is_base64(byte) || byte == b'=').peekable();
    while let Some(first) = lines.next() {
        let is_line = first.len() >= SHORTEST_LINE && first.len() % 4 == 0;
        let mut whole = first.clone();
        while is_line
            && let Some(next) = lines
                .next_if(|next| matches!(&text[whole.end..next.start], b"\n" | b"\r\n") && next.len() <= first.len())
        {
            let is_last = next.len() < first.len();
            // The word in the line after base64 does not belong to it.
            if is_last && is_text(text, &whole) && !is_text(text, &(whole.start..next.end)) {
                break;
            }
            whole.end = next.end;
            if is_last {
                break;
            }
        }
        if whole.len() > first.len() {
            found.push(whole);
        }
    }
    found
}

/// Whether a part of a text is base64 of text, perhaps divided into lines.
fn is_text(text: &[u8], range: &Range<usize>) -> bool {
    let run: Vec<u8> = text[range.clone()].iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    decoded(&run).is_some_and(|inner| inner.is_text())
}

/// Divides base64 into lines where another one is divided.
pub(super) fn spaced(run: Vec<u8>, like: &[u8]) -> Vec<u8> {
    let mut left = run.into_iter();
    let mut out: Vec<u8> = Vec::with_capacity(like.len());
    for byte in like {
        match byte.is_ascii_whitespace() {
            true => out.push(*byte),
            false => out.extend(left.next()),
        }
    }
    out.extend(left);
    out
}

/// Returns the places of what may be JSON in a text: lines of their own, and blocks between fences.
pub(super) fn json_blocks(text: &[u8]) -> Vec<Range<usize>> {
    let (mut found, mut fence, mut at) = (Vec::new(), None, 0);
    if memchr::memchr(b'\n', text).is_none() {
        return found;
    }
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let place = at..at + line.len();
        at = place.end;
        match (fence, line.trim_ascii_start().starts_with(b"```")) {
            (None, true) => fence = Some(place.end),
            (Some(start), true) => {
                found.retain(|inner: &Range<usize>| inner.start < start || !may_be_json(&text[start..place.start]));
                found.push(start..place.start);
                fence = None;
            }
            (_, false) => found.push(place),
        }
    }
    found.retain(|block| may_be_json(&text[block.clone()]));
    found
}

/// The maximum number of places in a text where an object seems to begin, but is none.
const MAX_BROKEN: usize = 64;

/// Returns the places of JSON objects in a text, such as those in the lines of a log.
pub(super) fn json_objects(text: &[u8]) -> Vec<Range<usize>> {
    let (mut found, mut at, mut broken) = (Vec::new(), 0, 0);
    while broken < MAX_BROKEN
        && let Some(next) = memchr::memchr(b'{', text.get(at..).unwrap_or_default())
    {
        at += next;
        if text.get(json::skip_space(text, at + 1)) != Some(&b'"') {
            at += 1;
            continue;
        }
        match json::skip_value(text, at).filter(|end| json::check(&text[at..*end]).is_ok()) {
            Some(end) => {
                found.push(at..end);
                at = end;
            }
            None => {
                broken += 1;
                at += 1;
            }
        }
    }
    found
}

fn may_be_json(text: &[u8]) -> bool {
    let inner = text.trim_ascii();
    matches!((inner.first(), inner.last()), (Some(b'{'), Some(b'}')) | (Some(b'['), Some(b']')))
}

/// Returns the runs of bytes of a class.
pub(super) fn runs(text: &[u8], is_in: fn(u8) -> bool) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while !is_in(*text.get(at)?) {
            at += 1;
        }
        let start = at;
        while text.get(at).is_some_and(|byte| is_in(*byte)) {
            at += 1;
        }
        Some(start..at)
    })
}
