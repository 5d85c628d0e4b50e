//! The JSON-RPC 2.0 envelope of one message, as a view that borrows from the message's bytes.
//!
//! One structural scan finds the kind of the message, its id with its type, its method, and the places of params,
//! result and error. It skips payloads without parsing them. Faults of the envelope are listed, never refused.

use super::json::{self, Member};
use foldhash::quality::FixedState;
use serde_json::Value;
use std::borrow::Cow;
use std::hash::{BuildHasher, Hash};

/// The kind of a message, according to its envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum MessageKind {
    /// It has a method and an id (a `null` id counts, and is a fault).
    Request = 0,
    /// It has a method and no id.
    Notification = 1,
    /// It has a result.
    Result = 2,
    /// It has an error.
    Error = 3,
    /// An array of messages (legal in revision 2025-03-26 only).
    Batch = 4,
    /// A JSON value that is not a JSON-RPC message.
    Unclassified = 5,
    /// It begins like JSON, but is broken.
    Malformed = 6,
    /// Not JSON: a log line on the wrong stream, for example.
    Noise = 7,
    /// Nothing but white space.
    Blank = 8,
}

impl MessageKind {
    /// All kinds, in the order of their numbers in a reel.
    pub const ALL: [Self; 9] = [
        Self::Request,
        Self::Notification,
        Self::Result,
        Self::Error,
        Self::Batch,
        Self::Unclassified,
        Self::Malformed,
        Self::Noise,
        Self::Blank,
    ];

    /// Returns the name used in filters, tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Notification => "notification",
            Self::Result => "result",
            Self::Error => "error",
            Self::Batch => "batch",
            Self::Unclassified => "unclassified",
            Self::Malformed => "malformed",
            Self::Noise => "noise",
            Self::Blank => "blank",
        }
    }

    /// Returns the kind with this number.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }

    /// Returns whether the message is a response.
    pub fn is_response(self) -> bool {
        matches!(self, Self::Result | Self::Error)
    }
}

/// A fault of an envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Fault {
    /// No `jsonrpc` member.
    MissingVersion,
    /// A `jsonrpc` member that is not the string `2.0`.
    WrongVersion,
    /// `"id": null`.
    NullId,
    /// An id that is neither a string, an integer nor null.
    OddId,
    /// A member that occurs twice in the envelope; the last one counts.
    DuplicateMember,
    /// Both a result and an error.
    ResultAndError,
    /// A method together with a result or an error.
    MethodAndResponse,
    /// A method that is not a string.
    OddMethod,
    /// A response without an id.
    MissingId,
    /// Bytes after the message's closing bracket.
    TrailingBytes,
    /// The text ends early, or its brackets do not match.
    Broken,
    /// Params that are neither an object nor an array.
    OddParams,
}

impl Fault {
    /// All faults.
    pub const ALL: [Self; 12] = [
        Self::MissingVersion,
        Self::WrongVersion,
        Self::NullId,
        Self::OddId,
        Self::DuplicateMember,
        Self::ResultAndError,
        Self::MethodAndResponse,
        Self::OddMethod,
        Self::MissingId,
        Self::TrailingBytes,
        Self::Broken,
        Self::OddParams,
    ];

    /// Describes the fault in a few words.
    pub fn phrase(self) -> &'static str {
        match self {
            Self::MissingVersion => "the member \"jsonrpc\" is missing",
            Self::WrongVersion => "the member \"jsonrpc\" is not \"2.0\"",
            Self::NullId => "the id is null",
            Self::OddId => "the id is neither a string nor an integer",
            Self::DuplicateMember => "the envelope contains a member twice",
            Self::ResultAndError => "the message has both a result and an error",
            Self::MethodAndResponse => "the message has both a method and a result or error",
            Self::OddMethod => "the method is not a string",
            Self::MissingId => "the response has no id",
            Self::TrailingBytes => "more bytes follow the end of the message",
            Self::Broken => "the text ends early, or its brackets do not match",
            Self::OddParams => "params are neither an object nor an array",
        }
    }
}

/// A set of [`Fault`]s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults(u16);

impl Faults {
    /// Adds a fault.
    pub fn insert(&mut self, fault: Fault) {
        self.0 |= 1 << fault as u8;
    }

    /// Returns whether the set contains this fault.
    pub fn contains(self, fault: Fault) -> bool {
        self.0 & (1 << fault as u8) != 0
    }

    /// Returns whether the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Iterates over the faults in the set.
    pub fn iter(self) -> impl Iterator<Item = Fault> {
        Fault::ALL.into_iter().filter(move |fault| self.contains(*fault))
    }
}

/// A request id as it is written in the message: its JSON text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Id<'a>(pub &'a [u8]);

/// A request id by type and value, for pairing. `1` and `"1"` differ; `"A"` and `"\u0041"` do not.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IdKey {
    /// An integer that fits 64 bits.
    Integer(i64),
    /// A string.
    Text(Box<str>),
    /// Anything else, by its text: `null`, a fraction, a huge number.
    Other(Box<[u8]>),
}

impl IdKey {
    /// Returns whether it is `null`, which is no id.
    pub(crate) fn is_null(&self) -> bool {
        matches!(self, Self::Other(text) if **text == *b"null")
    }

    /// Returns the id of the other type that looks the same: `"1"` for `1`, and `1` for `"1"`.
    pub(crate) fn lookalike(&self) -> Option<Self> {
        match self {
            Self::Integer(number) => Some(Self::Text(number.to_string().into())),
            Self::Text(text) => Id(text.as_bytes()).as_integer().map(Self::Integer),
            Self::Other(_) => None,
        }
    }

    /// Returns 64 bits that stand for the id and what it is unique in. Tables of many ids need much less memory with
    /// them, and in fewer than one of 10^12 sessions two ids have the same ones.
    pub(crate) fn fingerprint(&self, scope: impl Hash) -> u64 {
        FixedState::default().hash_one((scope, self))
    }
}

impl<'a> Id<'a> {
    /// Returns the id as an integer, if its text is the plain decimal form of one.
    pub fn as_integer(self) -> Option<i64> {
        let digits = self.0.strip_prefix(b"-").unwrap_or(self.0);
        let plain = match digits {
            [b'0'] => digits.len() == self.0.len(),
            [b'1'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
            _ => false,
        };
        if !plain {
            return None;
        }
        std::str::from_utf8(self.0).ok()?.parse().ok()
    }

    /// Returns the id as a response repeats it. This is `null` if the id is neither a string nor a number, so that the
    /// response is valid JSON.
    pub fn echoed(self) -> &'a [u8] {
        let may_be = matches!(self.0.first(), Some(b'"' | b'-' | b'0'..=b'9'));
        if may_be && json::check(self.0).is_ok() { self.0 } else { b"null" }
    }

    /// Returns the id by type and value.
    pub fn key(self) -> IdKey {
        match self.as_integer().or_else(|| self.as_integral_float()) {
            Some(number) => IdKey::Integer(number),
            None => match json::as_str(self.0) {
                Some(text) => IdKey::Text(text.into()),
                None => IdKey::Other(self.0.into()),
            },
        }
    }

    /// Returns whether the id is the literal `null`.
    pub fn is_null(self) -> bool {
        self.0 == b"null"
    }

    fn is_odd(self) -> bool {
        let is_integer = self.is_integer_like() || self.as_integral_float().is_some();
        !self.is_null() && self.0.first() != Some(&b'"') && !is_integer
    }

    /// Returns the id as an integer, if its text is another form of one, such as `7.0`.
    fn as_integral_float(self) -> Option<i64> {
        const EXACT: f64 = 9_007_199_254_740_991.0;
        let begins = matches!(self.0.first(), Some(b'-' | b'0'..=b'9'));
        let number: f64 = std::str::from_utf8(self.0).ok().filter(|_| begins)?.parse().ok()?;
        #[expect(clippy::cast_possible_truncation, reason = "checked: the number is integral and small")]
        let integer = number as i64;
        (number.fract().total_cmp(&0.0).is_eq() && number.abs() <= EXACT).then_some(integer)
    }

    /// Returns whether the id is an integer of any length.
    fn is_integer_like(self) -> bool {
        let digits = self.0.strip_prefix(b"-").unwrap_or(self.0);
        !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
    }
}

impl IdKey {
    /// Returns the key of an id that stands in a message's content; `None` if the value cannot be one.
    pub fn of_value(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Some(Self::Text(text.as_str().into())),
            Value::Number(number) => Some(Id(number.to_string().as_bytes()).key()),
            _ => None,
        }
    }
}

impl std::fmt::Display for IdKey {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Integer(number) => write!(out, "{number}"),
            Self::Text(text) => write!(out, "{text:?}"),
            Self::Other(text) => write!(out, "{}", String::from_utf8_lossy(text)),
        }
    }
}

/// The envelope of one message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope<'a> {
    /// The kind of the message.
    pub kind: MessageKind,
    /// The text of its id.
    pub id: Option<Id<'a>>,
    /// Its method, with escapes resolved.
    pub method: Option<Cow<'a, str>>,
    /// The text of its params.
    pub params: Option<&'a [u8]>,
    /// The text of its result.
    pub result: Option<&'a [u8]>,
    /// The text of its error.
    pub error: Option<&'a [u8]>,
    /// Whether the result contains `"isError": true` (a tool failed).
    pub tool_error: bool,
    /// What is wrong with the envelope.
    pub faults: Faults,
    /// Whether it has members that JSON-RPC does not define.
    pub has_other_members: bool,
}

const SEEN_VERSION: u8 = 1;
const SEEN_ID: u8 = 2;
const SEEN_METHOD: u8 = 4;
const SEEN_PARAMS: u8 = 8;
const SEEN_RESULT: u8 = 16;
const SEEN_ERROR: u8 = 32;

impl<'a> Envelope<'a> {
    /// Scans one message. Never fails: `kind` and `faults` say what could not be understood.
    pub fn scan(text: &'a [u8]) -> Self {
        let mut found = Self::bare(MessageKind::Blank);
        let start = json::value_start(text);
        match text.get(start) {
            None => {}
            Some(b'{') => found.scan_object(&text[start..]),
            Some(b'[') => found.scan_batch(&text[start..]),
            Some(_) => found.kind = other_kind(&text[start..]),
        }
        found
    }

    /// Creates an envelope of this kind with no members.
    pub fn bare(kind: MessageKind) -> Self {
        Self {
            kind,
            id: None,
            method: None,
            params: None,
            result: None,
            error: None,
            tool_error: false,
            faults: Faults::default(),
            has_other_members: false,
        }
    }

    /// Returns the text of what the message carries: its params, result or error. An error response may, against the
    /// specification, also have a result.
    pub fn content(&self) -> Option<&'a [u8]> {
        let error = self.error.filter(|_| self.kind == MessageKind::Error);
        self.params.or(error).or(self.result).or(self.error)
    }

    /// Returns the text of the progress token that a request asks progress for.
    pub fn progress_token(&self) -> Option<&'a [u8]> {
        json::at_path(self.params?, &["_meta", "progressToken"])
    }

    /// Returns the code of an error that conforms to JSON-RPC 2.0: an object with an integer `code` and a string
    /// `message`, in an envelope of that version. Returns `None` for every other message.
    pub fn error_code(&self) -> Option<i64> {
        let has_version = !self.faults.contains(Fault::MissingVersion) && !self.faults.contains(Fault::WrongVersion);
        let error = self.error.filter(|_| self.kind == MessageKind::Error && has_version)?;
        json::as_str(json::member(error, "message")?)?;
        json::check(error).ok()?;
        Id(json::member(error, "code")?).as_integer()
    }

    /// Creates the envelope of an object with these members, whose text is valid JSON.
    pub fn of_members(members: impl IntoIterator<Item = Member<'a>>) -> Self {
        let mut found = Self::bare(MessageKind::Unclassified);
        let seen = found.take_all(members);
        found.classify(seen);
        found
    }

    /// Takes members. Returns the bits of those that belong to an envelope.
    fn take_all(&mut self, members: impl IntoIterator<Item = Member<'a>>) -> u8 {
        let mut seen = 0u8;
        for member in members {
            let Some(bit) = self.take(&member) else {
                self.has_other_members = true;
                continue;
            };
            if seen & bit != 0 {
                self.faults.insert(Fault::DuplicateMember);
            }
            seen |= bit;
        }
        seen
    }

    fn scan_object(&mut self, text: &'a [u8]) {
        let mut walk = json::members(text);
        let seen = self.take_all(walk.by_ref());
        match walk.end() {
            Some(end) if json::skip_space(text, end) < text.len() => {
                self.faults.insert(Fault::TrailingBytes);
                self.kind = MessageKind::Malformed;
            }
            Some(_) => self.classify(seen),
            None => {
                self.faults.insert(Fault::Broken);
                self.kind = MessageKind::Malformed;
            }
        }
    }

    /// Takes one member of the envelope. Returns the bit of the member.
    fn take(&mut self, member: &Member<'a>) -> Option<u8> {
        let known = match member.key {
            b"jsonrpc" | b"id" | b"method" | b"params" | b"result" | b"error" => member.key,
            key if key.contains(&b'\\') => {
                let key = json::unescape(key);
                ["jsonrpc", "id", "method", "params", "result", "error"]
                    .into_iter()
                    .find(|name| *name == key)?
                    .as_bytes()
            }
            _ => return None,
        };
        let value = member.value;
        Some(match known {
            b"jsonrpc" => {
                if value != b"\"2.0\"" && json::as_str(value).as_deref() != Some("2.0") {
                    self.faults.insert(Fault::WrongVersion);
                }
                SEEN_VERSION
            }
            b"id" => {
                self.id = Some(Id(value));
                SEEN_ID
            }
            b"method" => {
                self.method = json::as_str(value);
                if self.method.is_none() {
                    self.faults.insert(Fault::OddMethod);
                }
                SEEN_METHOD
            }
            b"params" => {
                self.params = Some(value);
                SEEN_PARAMS
            }
            b"result" => {
                self.result = Some(value);
                SEEN_RESULT
            }
            _ => {
                self.error = Some(value);
                SEEN_ERROR
            }
        })
    }

    fn classify(&mut self, seen: u8) {
        let has = |bit| seen & bit != 0;
        self.kind = match (self.method.is_some(), has(SEEN_ERROR), has(SEEN_RESULT)) {
            (true, ..) if has(SEEN_ID) => MessageKind::Request,
            (true, ..) => MessageKind::Notification,
            (false, true, _) => MessageKind::Error,
            (false, false, true) => MessageKind::Result,
            (false, false, false) => MessageKind::Unclassified,
        };
        self.tool_error = self.result.is_some_and(says_is_error);
        let mut fault = |fault, condition: bool| {
            if condition {
                self.faults.insert(fault);
            }
        };
        fault(Fault::MissingVersion, !has(SEEN_VERSION));
        fault(Fault::ResultAndError, has(SEEN_RESULT) && has(SEEN_ERROR));
        fault(Fault::MethodAndResponse, has(SEEN_METHOD) && (has(SEEN_RESULT) || has(SEEN_ERROR)));
        fault(Fault::MissingId, self.kind.is_response() && !has(SEEN_ID));
        fault(Fault::OddParams, self.params.is_some_and(|text| !matches!(text.first(), Some(b'{' | b'['))));
        if let Some(id) = self.id {
            // JSON-RPC allows a null id in the error response to an unreadable request.
            fault(Fault::NullId, id.is_null() && self.kind != MessageKind::Error);
            fault(Fault::OddId, id.is_odd());
        }
    }

    fn scan_batch(&mut self, text: &'a [u8]) {
        self.kind = MessageKind::Batch;
        match json::skip_value(text, 0) {
            Some(end) if json::skip_space(text, end) == text.len() => {}
            Some(_) => {
                self.faults.insert(Fault::TrailingBytes);
                self.kind = MessageKind::Malformed;
            }
            None => {
                self.faults.insert(Fault::Broken);
                self.kind = MessageKind::Malformed;
            }
        }
        // A log line such as `[server] started` begins like an array.
        if self.kind == MessageKind::Malformed || json::check(text).is_err() {
            self.kind = if looks_like_json_array(text) { MessageKind::Malformed } else { MessageKind::Noise };
        }
    }
}

/// Returns whether the first character inside the brackets could begin a JSON value.
fn looks_like_json_array(text: &[u8]) -> bool {
    let at = json::skip_space(text, 1);
    matches!(text.get(at), None | Some(b'{' | b'[' | b'"' | b']'))
}

fn says_is_error(result: &[u8]) -> bool {
    // Most results do not mention it, and reading all members takes ten times as long.
    memchr::memmem::find(result, b"\"isError\"").is_some()
        && json::members(result).any(|member| member.key == b"isError" && member.value == b"true")
}

/// Returns the kind of a text that is neither object nor array: a scalar is JSON, but not a message; anything else is
/// noise.
fn other_kind(text: &[u8]) -> MessageKind {
    if json::check(text).is_ok() { MessageKind::Unclassified } else { MessageKind::Noise }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn faults(text: &str) -> Vec<Fault> {
        Envelope::scan(text.as_bytes()).faults.iter().collect()
    }

    fn kind(text: &str) -> MessageKind {
        Envelope::scan(text.as_bytes()).kind
    }

    #[test]
    fn only_an_integer_code_and_a_text_make_an_error() {
        let code = |error: &str| {
            Envelope::scan(format!(r#"{{"jsonrpc":"2.0","id":1,"error":{error}}}"#).as_bytes()).error_code()
        };
        assert_eq!(code(r#"{"code":-32000,"message":"m","data":[]}"#), Some(-32000));
        assert_eq!(code(r#"{"message":"","co\u0064e":7}"#), Some(7));
        for none in [
            r#""invalid_token""#,
            "null",
            "1",
            "[]",
            "{}",
            r#"{"code":1}"#,
            r#"{"message":"m"}"#,
            r#"{"code":"1","message":"m"}"#,
            r#"{"code":1.5,"message":"m"}"#,
            r#"{"code":1.0,"message":"m"}"#,
            r#"{"code":null,"message":"m"}"#,
            r#"{"code":1,"message":null}"#,
            r#"{"code":1,"message":"m","data":tru}"#,
        ] {
            assert_eq!(code(none), None, "{none}");
        }
        for odd in [
            r#"{"id":1,"error":{"code":1,"message":"m"}}"#,
            r#"{"jsonrpc":2.0,"id":1,"error":{"code":1,"message":"m"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"m","error":{"code":1,"message":"m"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"code":1,"message":"m"}}"#,
        ] {
            assert_eq!(Envelope::scan(odd.as_bytes()).error_code(), None, "{odd}");
        }
    }

    #[test]
    fn kinds_are_reported_by_members() {
        use MessageKind::*;
        assert_eq!(kind(r#"{"jsonrpc":"2.0","id":0,"method":"ping"}"#), Request);
        assert_eq!(kind(r#"{"method":"x","jsonrpc":"2.0"}"#), Notification);
        assert_eq!(kind(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#), Result);
        assert_eq!(kind(r#"{"jsonrpc":"2.0","id":null,"error":{}}"#), Error);
        assert_eq!(kind(r#"[{"jsonrpc":"2.0","method":"x"}]"#), Batch);
        assert_eq!(kind(r#"{"a":1}"#), Unclassified);
        assert_eq!(kind("17"), Unclassified);
        assert_eq!(kind(r#"{"jsonrpc":"2.0","#), Malformed);
        assert_eq!(kind(r#"[{"jsonrpc":"2.0""#), Malformed);
        assert_eq!(kind("[EventScheduler] Started"), Noise);
        assert_eq!(kind("Starting server"), Noise);
        assert_eq!(kind(" \t"), Blank);
    }

    #[test]
    fn places_are_exact() {
        let text = br#"{"jsonrpc":"2.0", "id" : "a\u0041" ,"method":"tools\/call","params": {"x":1.0e400} }"#;
        let view = Envelope::scan(text);
        assert_eq!(view.id, Some(Id(br#""a\u0041""#)));
        assert_eq!(view.id.map(Id::key), Some(IdKey::Text("aA".into())));
        assert_eq!(view.method.as_deref(), Some("tools/call"));
        assert_eq!(view.params, Some(&br#"{"x":1.0e400}"#[..]));
        assert!(view.faults.is_empty());
    }

    #[test]
    fn oddities_are_listed() {
        assert_eq!(faults(r#"{"id":1,"method":"x"}"#), [Fault::MissingVersion]);
        assert_eq!(faults(r#"{"jsonrpc":2.0,"id":1,"method":"x"}"#), [Fault::WrongVersion]);
        assert_eq!(faults(r#"{"jsonrpc":"2.0","id":null,"method":"x"}"#), [Fault::NullId]);
        assert_eq!(faults(r#"{"jsonrpc":"2.0","id":1.5,"method":"x"}"#), [Fault::OddId]);
        assert_eq!(faults(r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}"#), [Fault::DuplicateMember]);
        assert_eq!(faults(r#"{"jsonrpc":"2.0","id":1,"result":1,"error":{}}"#), [Fault::ResultAndError]);
        let both = Envelope::scan(br#"{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":2}}"#);
        assert_eq!((both.kind, both.content()), (MessageKind::Error, Some(&br#"{"code":2}"#[..])));
        assert_eq!(faults(r#"{"jsonrpc":"2.0","id":1,"method":"x","result":1}"#), [Fault::MethodAndResponse]);
        assert_eq!(faults(r#"{"jsonrpc":"2.0","id":1,"method":7}"#), [Fault::OddMethod]);
        assert_eq!(faults(r#"{"jsonrpc":"2.0","result":1}"#), [Fault::MissingId]);
        assert_eq!(faults(r#"{"jsonrpc":"2.0","method":"x"} {}"#), [Fault::TrailingBytes]);
        assert_eq!(faults(r#"{"jsonrpc":"2.0","method":"x""#), [Fault::Broken]);
        assert_eq!(faults(r#"{"jsonrpc":"2.0","method":"x","params":3}"#), [Fault::OddParams]);
        assert_eq!(faults(r#"{"jsonrpc":"2.0","id":null,"error":{}}"#), []);
    }

    #[test]
    fn an_id_that_cannot_be_repeated_is_answered_as_null() {
        for id in ["1", "-0.5e3", "\"a\\u0041\"", "\"\""] {
            assert_eq!(Id(id.as_bytes()).echoed(), id.as_bytes());
        }
        for id in [&b""[..], b"null", b"\xff2", b"1x", b"\"\n\"", b"\"\xff\"", b"[\n1]", b"{}", b"true"] {
            assert_eq!(Id(id).echoed(), b"null", "{}", String::from_utf8_lossy(id));
        }
    }

    #[test]
    fn ids_compare_by_type_and_value() {
        let key = |text: &'static str| Id(text.as_bytes()).key();
        assert_eq!(key("0"), IdKey::Integer(0));
        assert_ne!(key("1"), key("\"1\""));
        assert_eq!(key("1"), key("1.0"));
        let huge = "1234567890123456789012345678901234567890";
        assert_eq!(key(huge), IdKey::Other(huge.as_bytes().into()));
        assert_eq!(Id(b"-0").as_integer(), None);
        assert!(faults(&format!(r#"{{"jsonrpc":"2.0","id":{huge},"method":"x"}}"#)).is_empty());
    }

    #[test]
    fn a_tools_own_failure_is_seen() {
        assert!(Envelope::scan(br#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true}}"#).tool_error);
        assert!(!Envelope::scan(br#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"isError":true}]}}"#).tool_error);
    }

    proptest! {
        #[test]
        fn any_bytes_are_scanned(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            Envelope::scan(&bytes);
        }

        #[test]
        fn any_json_like_text_is_scanned(text in r#"[\{\}\[\]":,a-c0-9\\ \n]{0,60}"#) {
            Envelope::scan(text.as_bytes());
        }
    }
}
