//! The value of a payload in the form in which it is compared: with its hash, its parts for similarity, and its JSON
//! text.

use super::build::{Build, Digest, Hashing, Leaf, hash_of};
use super::volatile::{Kind, Span};
use std::borrow::Cow;

/// A value, prepared for comparison.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number: its text, and its normalised value.
    Number {
        /// The text as it was written.
        text: Box<str>,
        /// The same for all notations of a value; with [`Options::exact`](super::Options::exact), the text.
        value: Box<str>,
    },
    /// A string.
    Text(Box<str>),
    /// An array.
    List(Vec<Self>),
    /// An array whose order has no meaning.
    Set {
        /// The items.
        items: Vec<Self>,
        /// The member that identifies an item.
        key: Option<Box<str>>,
    },
    /// An object, with its members in the original order.
    Map(Vec<(Box<str>, Self)>),
    /// A string that contains an object or an array in JSON, or a text with volatile parts in base64.
    Json {
        /// The string.
        text: Box<str>,
        /// The value in it.
        inner: Box<Self>,
    },
    /// A string with volatile parts.
    Prose {
        /// The string.
        text: Box<str>,
        /// Its volatile parts, in order.
        spans: Box<[Span]>,
    },
    /// A volatile number or truth value.
    Volatile {
        /// The JSON text.
        text: Box<str>,
        /// Its kind.
        kind: Kind,
        /// Its notation.
        form: u8,
    },
    /// The id or token of a request, compared by the request that it refers to: its JSON text.
    Reference(Box<str>),
    /// Text that is not JSON, or is nested too deeply.
    Raw(Box<[u8]>),
    /// JSON with too many values, which is compared as its bytes.
    TooLarge {
        /// The number of bytes.
        bytes: usize,
        /// Their hash.
        hash: u64,
    },
    /// A place that is ignored.
    Ignored,
}

impl Node {
    /// Returns the hash that parsing directly gives.
    pub(super) fn digest(&self, by: &mut Hashing) -> Digest {
        match self {
            Self::List(items) => {
                let items = items.iter().map(|item| item.digest(by)).collect();
                by.list(items)
            }
            Self::Set { items, key } => {
                let items = items.iter().map(|item| item.digest(by)).collect();
                by.set(items, key.as_deref())
            }
            Self::Map(members) => {
                let members = members.iter().map(|(name, value)| ((&**name).into(), value.digest(by))).collect();
                by.map(members)
            }
            Self::Json { text, inner } => {
                let inner = inner.digest(by);
                by.json(text, inner)
            }
            Self::Null => by.leaf(Leaf::Null),
            Self::Bool(value) => by.leaf(Leaf::Bool(*value)),
            Self::Number { text, value } => by.leaf(Leaf::Number { text, value }),
            Self::Text(text) => by.leaf(Leaf::Text(text)),
            Self::Prose { text, spans } => by.leaf(Leaf::Prose { text, spans }),
            Self::Volatile { text, kind, form } => by.leaf(Leaf::Volatile { text, kind: *kind, form: *form }),
            Self::Reference(text) => by.leaf(Leaf::Reference(text)),
            Self::Raw(bytes) => by.leaf(Leaf::Raw(bytes)),
            Self::TooLarge { bytes, hash } => by.leaf(Leaf::TooLarge { bytes: *bytes, hash: *hash }),
            Self::Ignored => by.leaf(Leaf::Ignored),
        }
    }

    /// Returns the hash without volatile values.
    pub(super) fn fingerprint(&self, is_ordered: bool) -> u64 {
        self.digest(&mut Hashing::new(is_ordered)).hash
    }

    /// Returns hashes for measuring similarity: of the leaves with the names above them, of these names, and of the
    /// words in longer texts. They are sorted, and there are about `max` at max.
    pub(crate) fn leaves(&self, max: usize) -> Vec<u64> {
        let mut found = Vec::new();
        self.collect_leaves(0, max, &mut found);
        found.sort_unstable();
        found
    }

    fn collect_leaves(&self, above: u64, max: usize, found: &mut Vec<u64>) {
        if found.len() >= max {
            return;
        }
        let below = |name: &str| hash_of(&(above, name));
        match self {
            Self::List(items) | Self::Set { items, .. } => {
                items.iter().for_each(|item| item.collect_leaves(above, max, found));
            }
            Self::Map(members) => {
                members.iter().for_each(|(name, value)| value.collect_leaves(below(name), max, found));
            }
            Self::Json { inner, .. } => inner.collect_leaves(above, max, found),
            leaf => {
                found.push(above);
                found.push(hash_of(&(above, leaf.fingerprint(false))));
                let text = leaf.words();
                let left = max.saturating_sub(found.len());
                found.extend(text.split_whitespace().take(left).map(below));
            }
        }
    }

    fn words(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Prose { text, spans } => Cow::Owned(masked(text, spans)),
            Self::Raw(bytes) => String::from_utf8_lossy(bytes),
            _ => Cow::Borrowed(""),
        }
    }

    /// Appends the value as JSON text, as it was written except for white space and ignored places. Bytes that are not
    /// JSON are written as a string, with escapes for bytes that are not UTF-8.
    pub(crate) fn write_json(&self, out: &mut String) {
        match self {
            Self::Null | Self::Ignored => out.push_str("null"),
            Self::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Self::Number { text, .. } | Self::Volatile { text, .. } | Self::Reference(text) => {
                out.push_str(text);
            }
            Self::Text(text) | Self::Json { text, .. } | Self::Prose { text, .. } => write_string(text, out),
            Self::Raw(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => write_string(text, out),
                Err(_) => write_string(&bytes.escape_ascii().to_string(), out),
            },
            Self::TooLarge { bytes, .. } => {
                write_string(&format!("{bytes} bytes of JSON, too many values to compare in detail"), out);
            }
            Self::List(items) | Self::Set { items, .. } => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    out.push_str(if at == 0 { "" } else { "," });
                    item.write_json(out);
                }
                out.push(']');
            }
            Self::Map(members) => {
                out.push('{');
                for (at, (name, value)) in members.iter().enumerate() {
                    out.push_str(if at == 0 { "" } else { "," });
                    write_string(name, out);
                    out.push(':');
                    value.write_json(out);
                }
                out.push('}');
            }
        }
    }

    /// Returns the value as JSON text; see [`Self::write_json`].
    pub(crate) fn to_json(&self) -> String {
        let mut out = String::new();
        self.write_json(&mut out);
        out
    }
}

/// A piece of a text with volatile parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Piece<'t> {
    /// Text that is compared as it is.
    Plain(&'t str),
    /// A volatile part.
    Volatile(Kind, u8),
}

/// Returns the pieces of a text.
pub(super) fn pieces<'t>(text: &'t str, spans: &[Span]) -> Vec<Piece<'t>> {
    let mut pieces = Vec::with_capacity(2 * spans.len() + 1);
    let mut last = 0;
    for span in spans {
        pieces.push(Piece::Plain(text.get(last..span.start).unwrap_or_default()));
        pieces.push(Piece::Volatile(span.kind, span.form));
        last = span.end;
    }
    pieces.push(Piece::Plain(text.get(last..).unwrap_or_default()));
    pieces
}

/// Returns a text with a placeholder for each volatile part. Parts that contain line ends keep them.
pub(super) fn masked(text: &str, spans: &[Span]) -> String {
    let name = |piece: &Piece<'_>| match piece {
        Piece::Plain(text) => (*text).to_owned(),
        Piece::Volatile(kind, form) => format!("\u{1a}{}{form}", kind.name()),
    };
    pieces(text, spans).iter().map(name).collect()
}

fn write_string(text: &str, out: &mut String) {
    out.push_str(&quote(text));
}

/// Returns a string as JSON text.
pub(super) fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
