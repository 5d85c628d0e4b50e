//! The value of a payload in the form in which it is compared: with its hash, its parts for similarity, and its JSON
//! text.

use std::borrow::Cow;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

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
    /// An object, with its members in the original order.
    Map(Vec<(Box<str>, Self)>),
    /// A string that contains an object or an array in JSON.
    Json {
        /// The string.
        text: Box<str>,
        /// The value in it.
        inner: Box<Self>,
    },
    /// A time, which equals any other in the same notation.
    Time {
        /// The JSON text.
        text: Box<str>,
        /// 0 for RFC 3339, else the number of digits of an epoch time.
        form: u8,
    },
    /// An id that may differ but must correspond: its JSON text.
    Id(Box<str>),
    /// The id or token of a request, compared by the request that it refers to: its JSON text.
    Reference(Box<str>),
    /// Text that is not JSON, or is nested too deeply.
    Raw(Box<[u8]>),
    /// A place that is ignored.
    Ignored,
}

impl Node {
    /// Returns a hash that is the same for equal trees. Unless `ordered`, the order of members does not matter. Ids and
    /// times are not part of the hash; ids are appended to `ids`, in the same order for trees with the same hash.
    pub(crate) fn fingerprint(&self, ordered: bool, ids: &mut Vec<Box<str>>) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.feed(ordered, &mut hasher, ids);
        hasher.finish()
    }

    fn feed(&self, ordered: bool, hasher: &mut DefaultHasher, ids: &mut Vec<Box<str>>) {
        // A string that contains JSON differs from that JSON, so that a change from one to the other is found.
        std::mem::discriminant(self).hash(hasher);
        match self {
            Self::Null | Self::Reference(_) | Self::Ignored => {}
            Self::Bool(value) => value.hash(hasher),
            Self::Number { value, .. } => value.hash(hasher),
            Self::Text(text) => text.hash(hasher),
            Self::List(items) => {
                items.len().hash(hasher);
                items.iter().for_each(|item| item.feed(ordered, hasher, ids));
            }
            Self::Map(members) => {
                members.len().hash(hasher);
                let mut members: Vec<_> = members.iter().collect();
                if !ordered {
                    members.sort_by(|one, other| one.0.cmp(&other.0));
                }
                for (name, value) in members {
                    name.hash(hasher);
                    value.feed(ordered, hasher, ids);
                }
            }
            Self::Json { inner, .. } => inner.feed(ordered, hasher, ids),
            Self::Time { form, .. } => form.hash(hasher),
            Self::Id(text) => ids.push(text.clone()),
            Self::Raw(bytes) => bytes.hash(hasher),
        }
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
            Self::List(items) => items.iter().for_each(|item| item.collect_leaves(above, max, found)),
            Self::Map(members) => {
                members.iter().for_each(|(name, value)| value.collect_leaves(below(name), max, found));
            }
            Self::Json { inner, .. } => inner.collect_leaves(above, max, found),
            leaf => {
                found.push(above);
                found.push(hash_of(&(above, leaf.fingerprint(false, &mut Vec::new()))));
                let text = leaf.words();
                let left = max.saturating_sub(found.len());
                found.extend(text.split_whitespace().take(left).map(below));
            }
        }
    }

    fn words(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
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
            Self::Number { text, .. } | Self::Time { text, .. } | Self::Id(text) | Self::Reference(text) => {
                out.push_str(text);
            }
            Self::Text(text) | Self::Json { text, .. } => write_string(text, out),
            Self::Raw(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => write_string(text, out),
                Err(_) => write_string(&bytes.escape_ascii().to_string(), out),
            },
            Self::List(items) => {
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

fn write_string(text: &str, out: &mut String) {
    out.push_str(&quote(text));
}

/// Returns a string as JSON text.
pub(super) fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn hash_of(what: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}
