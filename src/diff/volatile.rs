//! Recognises values that differ in every run: times, durations, ids, random tokens, ports, process ids and temporary
//! paths, alone or inside prose. Knows their shapes, not who made them: see [`Origins`].
//!
//! Pure functions of text, which any comparison of two runs may use.

pub(crate) mod names;
mod origins;

pub(crate) use origins::{Lookup, Origins};

use crate::wire::random_words;
use regex_automata::meta::Regex;
use regex_automata::util::syntax;
use regex_automata::{Input, PatternID};
use std::hash::{BuildHasher, Hash};
use std::ops::Range;
use std::sync::LazyLock;

/// What a volatile value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// An id that the protocol keeps in a member of this purpose.
    Id,
    /// A UUID, with or without hyphens.
    Uuid,
    /// A random token: a key, a hash, an id with random characters.
    Token,
    /// The id of a process.
    Process,
    /// A port that the operating system chose.
    Port,
    /// A path below a folder for temporary files, up to the first name in it.
    Path,
    /// The folder in which the server runs, one that its command line names, or a root of the client.
    Folder,
    /// A time: RFC 3339, or as in logs.
    Time,
    /// A Unix time.
    Epoch,
    /// How long something took.
    Duration,
}

impl Kind {
    /// Every kind, in the order of reports.
    pub const ALL: [Self; 10] = [
        Self::Id,
        Self::Uuid,
        Self::Token,
        Self::Process,
        Self::Port,
        Self::Path,
        Self::Folder,
        Self::Time,
        Self::Epoch,
        Self::Duration,
    ];

    /// Returns the name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::Uuid => "uuid",
            Self::Token => "token",
            Self::Process => "process",
            Self::Port => "port",
            Self::Path => "path",
            Self::Folder => "folder",
            Self::Time => "time",
            Self::Epoch => "epoch",
            Self::Duration => "duration",
        }
    }

    /// Returns the name in reports for people.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Uuid => "UUID",
            Self::Process => "process id",
            Self::Path => "temporary path",
            Self::Epoch => "Unix time",
            _ => self.name(),
        }
    }

    /// Returns whether it was measured: any value may correspond to any other. The others identify something, so equal
    /// values must correspond to equal values.
    pub(crate) fn is_measured(self) -> bool {
        matches!(self, Self::Time | Self::Epoch | Self::Duration)
    }
}

/// A value's kind and hash, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ValueKey(u64);

impl ValueKey {
    const KIND_BITS: u64 = 0xf;

    /// Returns the key of a value, the same in every recording.
    pub(crate) fn new(kind: Kind, value: &str) -> Self {
        let hash = foldhash::quality::FixedState::default().hash_one(value);
        Self(hash & !Self::KIND_BITS | kind as u64)
    }

    /// Returns the kind of the value.
    pub(crate) fn kind(self) -> Kind {
        let place = usize::try_from(self.0 & Self::KIND_BITS).unwrap_or_default();
        Kind::ALL.get(place).copied().unwrap_or(Kind::Id)
    }
}

/// A volatile part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// Its first byte.
    pub start: usize,
    /// The byte after its last one.
    pub end: usize,
    /// Its kind.
    pub kind: Kind,
    /// Its notation: only values in the same one correspond.
    pub form: u8,
}

impl Span {
    /// Returns the value in its text.
    pub(crate) fn of(self, text: &str) -> &str {
        text.get(self.start..self.end).unwrap_or_default()
    }

    /// Returns the value's key.
    pub(crate) fn key(self, text: &str) -> ValueKey {
        ValueKey::new(self.kind, self.of(text))
    }
}

/// What a pattern finds. The first pattern that fits at a place counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// The match is the value.
    Whole(Kind),
    /// The digits at the end of the match are the value.
    Number(Kind),
    /// The match is a duration, unless the word before it says that it is a setting.
    Duration,
    /// A word, which may be random.
    Word,
}

const PATTERNS: &[(Shape, &str)] = &[
    // 2026-11-23T09:19:44.123Z, 2026-11-23 09:19:44,123, 2026/11/23 09:19:44
    (
        Shape::Whole(Kind::Time),
        r"\b\d{4}[-/]\d\d[-/]\d\d[Tt_ ]\d\d[:-]\d\d(?:[:-]\d\d(?:[.,]\d+)?)?(?: ?(?:[Zz]|UTC|GMT|[+-]\d\d:?\d\d)\b)?",
    ),
    // Mon Nov 23 09:19:44 2026 +0000, Mon, 23 Nov 2026 09:19:44 GMT, Mon Nov 23 2026 09:19:44 GMT+0000 (…), Nov 23 09:19:44
    (
        Shape::Whole(Kind::Time),
        r"\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? +)?(?:\d{1,2} )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]* +(?:\d{1,2},? +)?(?:\d{4},? +)?\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?[AP]M\b)?(?: \d{4}\b)?(?: (?:GMT|UTC|Z)?(?:[+-]\d{4})?(?: \([A-Z][A-Za-z ]+\))?)?",
    ),
    // 23/Nov/2026:09:19:44 +0000
    (Shape::Whole(Kind::Time), r"\b\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d(?: [+-]\d{4})?"),
    // 11/23/2026, 9:19:44 AM
    (Shape::Whole(Kind::Time), r"\b\d{1,2}[/.]\d{1,2}[/.]\d{4},? \d{1,2}:\d\d(?::\d\d)?(?: ?[AaPp]\.?[Mm]\b)?"),
    // 20261123T091944Z, 20261123-091944
    (Shape::Whole(Kind::Time), r"\b20\d{6}[T_-]\d{6}(?:\.\d+)?Z?\b"),
    // 09:19:44.123
    (Shape::Whole(Kind::Time), r"\b\d{1,2}:\d\d:\d\d(?:[.,]\d+)?(?: ?[AP]M)?\b"),
    (Shape::Whole(Kind::Uuid), r"(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"),
    (Shape::Number(Kind::Process), r"(?i)\b(?:pid|ppid|process(?:[ _]id)?)['\x22]?[ \t]*[:=#]?[ \t]*\d{1,7}\b"),
    (Shape::Number(Kind::Port), r"(?i)\bport['\x22]?[ \t]*[:=#]?[ \t]*\d{5}\b"),
    (Shape::Number(Kind::Port), r"(?i)(?:\blocalhost|\b\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:]*\]):\d{5}\b"),
    (
        Shape::Whole(Kind::Path),
        r#"/(?:private/)?(?:tmp|var/tmp|dev/shm|var/folders/[^/\s]+/[^/\s]+/T)/[^\s/"'`<>|,;:()\[\]{}]+"#,
    ),
    (Shape::Duration, r"\b(?:\d+h ?)?(?:\d+m ?)\d+(?:\.\d+)?s\b|\b\d+h ?\d+m\b"),
    (
        Shape::Duration,
        r"\b\d+(?:\.\d+)? ?(?:ns|us|\xC2\xB5s|\xCE\xBCs|ms|s|secs?|seconds?|msecs?|(?:milli|micro|nano)seconds?|mins?|minutes?|hrs?|hours?)\b",
    ),
    (Shape::Whole(Kind::Epoch), r"\b1[5-9]\d{8}(?:\d{3}|\d{6}|\d{9})?(?:\.\d+)?\b"),
    (Shape::Whole(Kind::Token), r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*"),
    // Words with a letter and a digit: those without are never random, and there are many of them.
    (Shape::Word, r"[A-Za-z][A-Za-z_]*[0-9][A-Za-z0-9_]*|[0-9]+[A-Za-z_][A-Za-z0-9_]*"),
];

/// The form of the first UUID without hyphens, after the forms of the patterns.
const PLAIN_UUID: u8 = 100;

static MATCHER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let patterns: Vec<&str> = PATTERNS.iter().map(|(_, pattern)| *pattern).collect();
    let bytes = syntax::Config::new().unicode(false).utf8(false);
    Regex::builder().syntax(bytes).build_many(&patterns).ok()
});

/// A text without white space that is longer is data, and has no volatile parts. Unit: bytes.
const LONGEST_WORD: usize = 512;

/// The beginnings of paths to temporary files: the only parts without a digit.
const TEMPORARY: [&str; 3] = ["/tmp/", "/dev/shm/", "/var/folders/"];

/// Finds the volatile parts of a text by their shape, in order.
pub(crate) fn find(text: &str) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    let is_data = text.len() > LONGEST_WORD && !text.contains(char::is_whitespace) && !text.starts_with("eyJ");
    let Some(matcher) = MATCHER.as_ref().filter(|_| !is_data) else { return spans };
    let has_paths = text.contains('/') && TEMPORARY.iter().any(|beginning| text.contains(beginning));
    // No part goes beyond a line, and most lines contain none.
    let mut start = 0;
    while start < text.len() {
        let rest = &text.as_bytes()[start..];
        let end = start + memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        if has_paths || has_digit(&text.as_bytes()[start..end]) {
            find_in_line(matcher, text, start..end, &mut spans);
        }
        start = end + 1;
    }
    spans
}

/// Returns whether a text contains a digit.
fn has_digit(text: &[u8]) -> bool {
    const EACH: u64 = u64::MAX / 0xff;
    // Every string is searched, so it matters to look at eight bytes at a time.
    let (words, rest) = text.as_chunks::<8>();
    let is_in = |word: &[u8; 8]| {
        let word = u64::from_le_bytes(*word);
        // In the highest bit of each byte: whether it is ASCII, at least `0`, and not above `9`.
        let low = word & (EACH * 0x7f);
        (low + EACH * 0x50) & !(low + EACH * 0x46) & !word & (EACH * 0x80) != 0
    };
    words.iter().any(is_in) || rest.iter().any(u8::is_ascii_digit)
}

/// Finds the volatile parts of one line of a text.
fn find_in_line(matcher: &Regex, text: &str, line: Range<usize>, spans: &mut Vec<Span>) {
    let mut at = line.start;
    while let Some(found) = matcher.find(Input::new(text).range(at..line.end)) {
        let last = spans.last().map_or(0, |span| span.end);
        let span = describe(text, found.pattern(), found.start(), found.end(), last);
        at = span.map_or(found.end(), |span| span.end.max(found.end())).max(found.start() + 1);
        // The patterns are ASCII, but one begins and ends anywhere in bytes.
        spans.extend(span.filter(|span| text.is_char_boundary(span.start) && text.is_char_boundary(span.end)));
        while !text.is_char_boundary(at) {
            at += 1;
        }
        if at >= line.end {
            break;
        }
    }
}

fn describe(text: &str, pattern: PatternID, start: usize, end: usize, last: usize) -> Option<Span> {
    let shape = PATTERNS.get(pattern.as_usize())?.0;
    let form = u8::try_from(pattern.as_usize()).unwrap_or_default();
    match shape {
        Shape::Whole(Kind::Epoch) => {
            let form = names::epoch_digits(text.get(start..end)?)?;
            Some(Span { start, end, kind: Kind::Epoch, form })
        }
        Shape::Whole(kind) => Some(Span { start, end: end - trailing_dots(text, kind, start, end), kind, form }),
        Shape::Number(kind) => {
            let digits = text.get(start..end)?.bytes().rev().take_while(u8::is_ascii_digit).count();
            let is_it = kind != Kind::Port || text.get(end - digits..end)?.parse().is_ok_and(names::is_chosen_port);
            is_it.then_some(Span { start: end - digits, end, kind, form: 0 })
        }
        Shape::Duration => {
            let is_setting = names::names_a_setting(word_before(text.get(..start)?));
            (!is_setting).then_some(Span { start, end, kind: Kind::Duration, form: 0 })
        }
        Shape::Word => random_words::place(text, start, end, last).map(|(start, end, is_uuid)| {
            let (kind, form) = if is_uuid { (Kind::Uuid, PLAIN_UUID) } else { (Kind::Token, form) };
            Span { start, end, kind, form }
        }),
    }
}

/// Returns the number of full stops that end a path in a sentence.
fn trailing_dots(text: &str, kind: Kind, start: usize, end: usize) -> usize {
    let value = text.get(start..end).unwrap_or_default();
    if kind == Kind::Path { value.len() - value.trim_end_matches('.').len() } else { 0 }
}

/// Returns the last word of a text, without punctuation after it.
fn word_before(text: &str) -> &str {
    let text = text.trim_end_matches(|found: char| !found.is_alphanumeric() && found != '_');
    let start = text.rfind(|found: char| !found.is_alphanumeric() && found != '_');
    let start = start.map_or(0, |place| place + text[place..].chars().next().map_or(1, char::len_utf8));
    &text[start..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the volatile parts of a text as `kind value`.
    fn found(text: &str) -> Vec<String> {
        find(text).into_iter().map(|span| format!("{} {}", span.kind.name(), span.of(text))).collect()
    }

    #[test]
    fn a_digit_is_found_at_every_place_and_nothing_else_is_one() {
        for byte in 0..=255u8 {
            for place in 0..20 {
                let mut text = [b'x'; 20];
                text[place] = byte;
                assert_eq!(has_digit(&text), byte.is_ascii_digit(), "{byte} at {place}");
            }
        }
        assert!(!has_digit(b"") && has_digit(&[0xff, 0xff, 0xff, b'9', 0xff, 0xff, 0xff, 0xff]));
    }

    #[test]
    fn times_are_found_in_every_notation() {
        for time in [
            "2025-06-18T10:00:00Z",
            "2025-06-18T10:00:00.123456+02:00",
            "2026-11-23 09:19:44,123",
            "2026/11/23 09:19:44",
            "2026-11-23 09:19:44+00:00",
            "Mon Nov 23 09:19:44 2026 +0000",
            "Mon Nov  2 09:19:44 2026",
            "Mon, 23 Nov 2026 09:19:44 GMT",
            "Mon Nov 23 2026 09:19:44 GMT+0000 (Coordinated Universal Time)",
            "Nov 23 09:19:44",
            "23/Nov/2026:09:19:44 +0000",
            "11/23/2026, 9:19:44 AM",
            "20261123T091944Z",
            "09:19:44.123",
        ] {
            assert_eq!(found(&format!("at {time}")), [format!("time {time}")]);
            assert_eq!(found(&format!("[{time}] done")), [format!("time {time}")]);
        }
    }

    #[test]
    fn what_has_no_time_or_random_part_is_left_alone() {
        for text in [
            "2025-06-18",
            "version 1.2.3 of sha256 and utf8mb4_unicode_ci",
            "getHTTP2Response x86_64 base64url",
            "timeout 30s",
            "timeout: 30 seconds, interval=5s",
            "listening on port 8080 and localhost:5432",
            "17 of 250 items, 12.5 %",
            "my-long-tool-name-v2",
            "http://example.org/a/b?c=1",
            "",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn ids_tokens_ports_processes_and_paths_are_found_in_prose() {
        for (text, expected) in [
            ("event-x 123e4567-e89b-12d3-a456-426614174000 went", "uuid 123e4567-e89b-12d3-a456-426614174000"),
            ("job 123e4567e89b12d3a456426614174000.", "uuid 123e4567e89b12d3a456426614174000"),
            ("commit 8f3a9bc: first", "token 8f3a9bc"),
            ("hash da39a3ee5e6b4b0d3255bfef95601890afd80709", "token da39a3ee5e6b4b0d3255bfef95601890afd80709"),
            ("id V1StGXR8_Z5jdHi6B-myT!", "token V1StGXR8_Z5jdHi6B-myT"),
            ("session sess_8f3kd92mxk2", "token sess_8f3kd92mxk2"),
            ("started (pid 4711)", "process 4711"),
            ("listening on port 43127", "port 43127"),
            ("see http://127.0.0.1:53112/x", "port 53112"),
            ("wrote /tmp/tmp.AbCdEf/report.txt", "path /tmp/tmp.AbCdEf"),
            ("saved to /tmp/out.", "path /tmp/out"),
            ("took 12.5 ms", "duration 12.5 ms"),
            ("finished in 1h 2m 3s", "duration 1h 2m 3s"),
            ("at 1718700000", "epoch 1718700000"),
        ] {
            assert_eq!(found(text), [expected], "{text}");
        }
        assert_eq!(found("dauerte 12µs, 3 seconds – ok"), ["duration 12µs", "duration 3 seconds"]);
    }

    #[test]
    fn data_is_not_prose() {
        let image = "iVBORw0KGgoAAAANSUhEUgAA1".repeat(40);
        assert_eq!(find(&image), []);
    }

    #[test]
    fn a_key_keeps_its_kind() {
        for kind in Kind::ALL {
            assert_eq!(ValueKey::new(kind, "x").kind(), kind);
        }
    }

    proptest! {
        #[test]
        fn parts_are_in_order_and_on_characters(text in "(\\PC|[0-9a-f:T/-]|/tmp/|µs|pid | ){0,60}") {
            let mut last = 0;
            for span in find(&text) {
                prop_assert!(last <= span.start && span.start < span.end);
                prop_assert!(text.get(span.start..span.end).is_some());
                last = span.end;
            }
        }
    }
}
