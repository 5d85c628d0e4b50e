//! Outlines a message that comes in pieces: keeps what an [`Envelope`](super::Envelope) needs, in bounded memory.
//!
//! The outline is text like the message itself. Long strings are shortened, and everything deeper than the members of
//! `params` and `result` is left out. Quotes and brackets stay, so the outline of a complete message is complete, too.
//! Scanning the outline gives the kind, the id, the method and the faults of the message.

/// The kept length of a string, in bytes: enough for 512 characters even if each of them is an escape.
const STRING: usize = 3200;
/// The kept length of a message, in bytes (128 KiB). A message with more members than fit looks malformed.
const MAX: usize = 128 << 10;
/// Only the brackets of containers nested deeper than this are kept. The message is level 1, its result level 2.
const MAX_DEPTH: usize = 2;

/// Builds an outline piece by piece.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    kept: Vec<u8>,
    depth: usize,
    /// The depth at which [`MAX`] bytes were reached. From then on, only the closing brackets of open containers are
    /// kept.
    full_at: Option<usize>,
    string: Option<StringPart>,
}

/// The string that the scan is in.
#[derive(Clone, Copy, Debug, Default)]
struct StringPart {
    length: usize,
    /// The quotes of the string are kept.
    is_kept: bool,
    /// The rest of the contents is left out.
    is_cut: bool,
    /// The number of bytes of an escape that are still to come.
    escape: u8,
}

impl Outline {
    /// Returns the outline so far.
    pub(crate) fn text(&self) -> &[u8] {
        &self.kept
    }

    /// Processes the next bytes of the message.
    pub(crate) fn push(&mut self, mut bytes: &[u8]) {
        while let Some((byte, rest)) = bytes.split_first() {
            match self.string {
                Some(string) if string.is_cut && string.escape == 0 => {
                    let end = memchr::memchr2(b'"', b'\\', bytes).unwrap_or(bytes.len());
                    if end > 0 {
                        bytes = &bytes[end..];
                        continue;
                    }
                    self.inside(string, *byte);
                }
                Some(string) => self.inside(string, *byte),
                None => self.outside(*byte),
            }
            bytes = rest;
        }
    }

    fn outside(&mut self, byte: u8) {
        if self.kept.len() >= MAX && self.full_at.is_none() {
            self.full_at = Some(self.depth);
        }
        let is_kept = self.full_at.is_none() && self.depth <= MAX_DEPTH;
        match byte {
            b'"' => {
                self.string = Some(StringPart { length: 0, is_kept, is_cut: !is_kept, escape: 0 });
                self.kept.extend(is_kept.then_some(byte));
            }
            b'{' | b'[' => {
                self.kept.extend(is_kept.then_some(byte));
                self.depth += 1;
            }
            b'}' | b']' => {
                let is_kept = self.depth <= self.full_at.unwrap_or(MAX_DEPTH + 1).min(MAX_DEPTH + 1);
                // Extra closing brackets must not grow the outline without bound.
                self.kept.extend((is_kept && self.kept.len() < MAX + 16).then_some(byte));
                self.depth = self.depth.saturating_sub(1);
                self.full_at = self.full_at.map(|depth| depth.min(self.depth));
            }
            b' ' | b'\t' | b'\r' | b'\n' if matches!(self.kept.last(), Some(b' ' | b'\t' | b'\r' | b'\n')) => {}
            _ => self.kept.extend(is_kept.then_some(byte)),
        }
    }

    fn inside(&mut self, mut string: StringPart, byte: u8) {
        string.length += 1;
        let is_end = byte == b'"' && (string.escape == 0 || string.escape < ESCAPE);
        if is_end {
            self.kept.extend(string.is_kept.then_some(byte));
            self.string = None;
            return;
        }
        match string.escape {
            // The byte after the backslash: only `u` is followed by more.
            ESCAPE => string.escape = if byte == b'u' { ESCAPE - 1 } else { 0 },
            escape if escape > 0 && byte != b'\\' => string.escape -= 1,
            _ => {
                // Split neither an escape nor a character.
                string.is_cut |= byte & 0xc0 != 0x80 && string.length > STRING;
                string.escape = if byte == b'\\' { ESCAPE } else { 0 };
            }
        }
        self.kept.extend((!string.is_cut).then_some(byte));
        self.string = Some(string);
    }
}

/// The maximum number of bytes of an escape after its backslash.
const ESCAPE: u8 = 5;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Envelope;
    use proptest::prelude::*;

    fn outline(text: &[u8], cut: usize) -> Outline {
        let mut outline = Outline::default();
        text.chunks(cut).for_each(|piece| outline.push(piece));
        outline
    }

    /// The parts of an envelope that event headers keep.
    fn kept(envelope: &Envelope<'_>) -> String {
        let id = envelope.id.filter(|id| !matches!(id.0.first(), Some(b'{' | b'['))).map(|id| id.key());
        format!("{:?} {id:?} {:?} {} {:?}", envelope.kind, envelope.method, envelope.tool_error, envelope.faults)
    }

    #[test]
    fn the_outline_of_a_long_message_is_short_and_says_the_same() {
        let long = "x\\u00e9\\\"é".repeat(100_000);
        let deep = format!("{}1{}", "[".repeat(1000), "]".repeat(1000));
        let items = (0..20_000).map(|n| format!(r#"{{"a":{n}}}"#)).collect::<Vec<_>>().join(",");
        for text in [
            format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"x":"{long}","y":{deep}}}}}"#),
            format!(r#"{{"jsonrpc":"2.0","result":{{"content":[{items}],"isError":true}},"id":"a\"b"}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":7,"method":"m","params":{{"x":"{long}"}}}} trailing"#),
            format!(r#"{{"jsonrpc":"2.0","id":7,"method":"m","params":{{"x":"{long}"#),
            format!(r#"[{{"jsonrpc":"2.0","id":7,"method":"{long}"}}]"#),
            format!("{long}{long}"),
            format!("{}{{\"jsonrpc\":\"2.0\",\"method\":\"m\"}}", " \n".repeat(200_000)),
        ] {
            for cut in [1, 1000, usize::MAX] {
                let outline = outline(text.as_bytes(), cut);
                assert!(outline.text().len() <= MAX + 64, "{}", outline.text().len());
                assert_eq!(kept(&Envelope::scan(outline.text())), kept(&Envelope::scan(text.as_bytes())));
            }
        }
    }

    #[test]
    fn nothing_makes_an_outline_grow() {
        for endless in ["x", "{", "}", "[]", "\"\"", "1,", "\"a\":1,", "\\", "é", " \t"] {
            for start in ["", "{\"a\":", "[", "\"", "{\"a\":{"] {
                let text = format!("{start}{}", endless.repeat(400_000));
                let outline = outline(text.as_bytes(), 1 << 16);
                assert!(outline.kept.len() <= MAX + 64, "{start}{endless}: {}", outline.kept.len());
            }
        }
    }

    fn any_object() -> impl Strategy<Value = String> {
        let value = prop_oneof![
            Just("1".to_owned()),
            Just("\"2.0\"".to_owned()),
            Just("true".to_owned()),
            Just("{\"isError\":true,\"a\":[{}]}".to_owned()),
            Just("[[[{\"]\":\"\\\\\"}]]]".to_owned()),
            r#"[\{\}\[\]":,a-c0-9\\ \n]{0,8}"#,
            r#""[a-c0-9\\u]{0,8}""#,
        ];
        let key = prop_oneof![
            Just("jsonrpc"),
            Just("id"),
            Just("method"),
            Just("params"),
            Just("result"),
            Just("error"),
            Just("x"),
            Just("m\\u0065thod"),
        ];
        let member = (key, value).prop_map(|(key, value)| format!("\"{key}\":{value}"));
        (prop::collection::vec(member, 0..6), r#"[\} \n]{0,3}"#)
            .prop_map(|(members, end)| format!("{{{}{end}", members.join(",")))
    }

    proptest! {
        #[test]
        fn the_outline_says_what_the_message_says(text in any_object(), cut in 1usize..9) {
            let outline = outline(text.as_bytes(), cut);
            prop_assert_eq!(kept(&Envelope::scan(outline.text())), kept(&Envelope::scan(text.as_bytes())));
        }
    }
}
